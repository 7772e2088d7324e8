package mappings

import (
	"bytes"

	"sheetlift/importers/source"
)

// rowHolds reports whether some cell of row i has a value that is more than white space.
func rowHolds(b *source.Block, i int) bool {
	for col := range b.Cols {
		c := b.Cols[col][i]
		if c.Kind != source.Empty && (c.Kind != source.Text || len(bytes.TrimSpace(b.Bytes(c))) > 0) {
			return true
		}
	}
	return false
}

// blankRow reports whether row i is no row at all: nothing but empty cells and white space. A formula without a stored result is
// something: its value is lost.
func blankRow(b *source.Block, i int) bool {
	if rowHolds(b, i) {
		return false
	}
	for col := range b.Cols {
		if b.Cols[col][i].Flags&source.NoCache != 0 {
			return false
		}
	}
	return true
}
