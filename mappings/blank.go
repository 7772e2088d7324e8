package mappings

import (
	"bytes"

	"sheetlift/importers/source"
)

// rowHolds reports whether some cell of row i has a value that is more than white space.
func rowHolds(b *source.Block, i int) bool {
	for col := range b.Cols {
		c := b.Cols[col][i]
		if c.Kind == source.Empty {
			continue
		}
		if c.Kind != source.Text {
			return true
		}
		if raw := b.Bytes(c); inked(raw) || len(bytes.TrimSpace(raw)) > 0 {
			return true
		}
	}
	return false
}

// inked reports whether a text surely begins with a character that is seen, as nearly every text does.
func inked(text []byte) bool { return len(text) > 0 && text[0] > ' ' && text[0] < 0x80 }

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
