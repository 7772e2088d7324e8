package biff

import (
	"encoding/binary"
	"strings"

	"sheetlift/importers/source"
)

// Formulas reads the formula of a data validation whose values are a list. The two formats have the same tokens, with numbers of other
// lengths (MS-XLS 2.5.198, MS-XLSB 2.5.97).
type Formulas struct {
	Wide  bool                               // as .xlsb has them
	Name  func(i int) []byte                 // the formula of the ith defined name, from 1; nil if there is none
	Sheet func(i int) (name string, ok bool) // the sheet that the ith reference to sheets leads to
}

// The tokens that such a formula may be.
const (
	tokenText   = 0x17
	tokenName   = 0x23
	tokenRef    = 0x24
	tokenArea   = 0x25
	tokenRef3d  = 0x3a
	tokenArea3d = 0x3b
)

// List gives the values, or where they are. ranges are the cells of the validation: a reference that moves with the cell gives each
// its own list, which is not followed.
func (f *Formulas) List(formula []byte, ranges []source.Range) source.List {
	l := f.list(formula, ranges, true)
	l.Ranges = ranges
	return l
}

func (f *Formulas) list(p []byte, ranges []source.Range, named bool) source.List {
	opaque := source.List{Opaque: true}
	if len(p) == 0 {
		return opaque
	}
	token := p[0]
	p = p[1:]
	if token >= 0x20 { // the class of a token does not matter
		token = token&0x1f | 0x20
	}
	sheet := ""
	switch token {
	case tokenText:
		text, ok := f.text(p)
		if !ok {
			return opaque
		}
		return source.List{Values: source.ListValues(text)}
	case tokenName:
		if len(p) < 4 || f.Name == nil || !named {
			return opaque
		}
		return f.list(f.Name(int(binary.LittleEndian.Uint32(p))), ranges, false)
	case tokenRef3d, tokenArea3d:
		if len(p) < 2 || f.Sheet == nil {
			return opaque
		}
		var ok bool
		if sheet, ok = f.Sheet(int(binary.LittleEndian.Uint16(p))); !ok {
			return opaque
		}
		token, p = token-tokenRef3d+tokenRef, p[2:]
	case tokenRef, tokenArea:
	default:
		return opaque
	}
	at, moves, ok := f.area(p, token == tokenArea)
	if !ok || moves.FollowsMoving(ranges) {
		return opaque
	}
	return source.List{Refers: true, Sheet: sheet, Cells: at}
}

// text gives a text that is the whole formula.
func (f *Formulas) text(p []byte) (string, bool) {
	if f.Wide {
		if len(p) < 2 || len(p) != 2+2*int(binary.LittleEndian.Uint16(p)) {
			return "", false
		}
		out, ok := AppendUTF16(nil, p[2:])
		return string(out), ok
	}
	if len(p) < 2 {
		return "", false
	}
	n, wide := int(p[0]), p[1]&1 != 0
	p = p[2:]
	if wide {
		if len(p) != 2*n {
			return "", false
		}
		out, ok := AppendUTF16(nil, p)
		return string(out), ok
	}
	if len(p) != n {
		return "", false
	}
	var b strings.Builder
	for _, c := range p {
		b.WriteRune(rune(c))
	}
	return b.String(), true
}

// area gives the cells of a reference that is the whole formula, and which parts of it move with the cell it stands in.
func (f *Formulas) area(p []byte, two bool) (at source.Range, moves source.Moves, ok bool) {
	numbers := 2 // rows, then columns
	if two {
		numbers = 4
	}
	size := 2
	if f.Wide {
		size = 4
	}
	if len(p) != numbers/2*size+numbers/2*2 {
		return at, moves, false
	}
	rows := make([]int, numbers/2)
	for i := range rows {
		if f.Wide {
			rows[i] = int(binary.LittleEndian.Uint32(p)) + 1
		} else {
			rows[i] = int(binary.LittleEndian.Uint16(p)) + 1
		}
		p = p[size:]
	}
	cols := make([]int, numbers/2)
	for i := range cols {
		raw := binary.LittleEndian.Uint16(p)
		cols[i] = int(raw & 0x3fff)
		moves.Cols = moves.Cols || raw&0x4000 != 0
		moves.Rows = moves.Rows || raw&0x8000 != 0
		p = p[2:]
	}
	last := len(rows) - 1
	if rows[0] > rows[last] || cols[0] > cols[last] || rows[last] < 1 {
		return at, moves, false
	}
	return source.Range{FirstCol: cols[0], FirstRow: rows[0], LastCol: cols[last], LastRow: rows[last]}, moves, true
}
