package xls

import (
	"context"
	"encoding/binary"
	"errors"

	"sheetlift/importers/source"
	"sheetlift/importers/source/biff"
)

// globalMarks is what the records of the workbook say about looks and lists. Only BIFF8 is looked at.
type globalMarks struct {
	looks biff.Looks
	names [][]byte // formulas of defined names
	own   []bool   // by supporting book: it is this workbook
	refs  [][3]int // supporting book, first and last sheet
}

// What is kept of defined names and references.
const (
	namesKept = 1 << 16
	nameKept  = 64 // bytes of a formula; one that is cells is shorter
)

// Marks gives what the sheet shows beside its cells.
func (r *reader) Marks(context.Context) source.Marks {
	m := r.out.Marks
	m.Colours = r.b.version == 8
	return m
}

// font takes a FONT record (MS-XLS 2.4.122). The number 4 is left out where fonts are counted.
func (b *Book) font(p []byte) {
	if b.version != 8 || len(p) < 11 {
		return
	}
	b.marks.looks.Font(biff.Colour{Kind: biff.Indexed, Index: int(binary.LittleEndian.Uint16(p[4:]))}, p[10] != 0)
}

// look takes the looks of an XF record (MS-XLS 2.5.20).
func (b *Book) look(p []byte) {
	if b.version != 8 {
		return
	}
	look := source.Flags(0)
	if len(p) >= 20 {
		font := int(binary.LittleEndian.Uint16(p))
		if font > 4 {
			font--
		}
		pattern := binary.LittleEndian.Uint32(p[14:]) >> 26
		fore := binary.LittleEndian.Uint16(p[18:]) & 0x7f
		look = b.marks.looks.OfFill(font, int(pattern), biff.Colour{Kind: biff.Indexed, Index: int(fore)})
	}
	b.looks = append(b.looks, look)
}

// definedName keeps the formula of a defined name (MS-XLS 2.4.150).
func (b *Book) definedName(r *records, p []byte) error {
	if b.version != 8 || len(b.marks.names) >= namesKept {
		return nil
	}
	b.marks.names = append(b.marks.names, nil)
	if len(p) < 14 {
		return nil
	}
	size := int(binary.LittleEndian.Uint16(p[4:]))
	t := &text{r: r, body: p[14:]}
	_, err := t.unicode(nil, int(p[3]))
	if err == nil && size <= nameKept {
		b.marks.names[len(b.marks.names)-1], err = t.bytes(size)
	}
	return damaged(err)
}

// external takes the list of the sheets that references lead to (MS-XLS 2.4.105).
func (b *Book) external(r *records, p []byte) error {
	if b.version != 8 || len(p) < 2 {
		return nil
	}
	t := &text{r: r, body: p[2:]}
	for range min(int(binary.LittleEndian.Uint16(p)), namesKept-len(b.marks.refs)) {
		x, err := t.take(6)
		if err != nil {
			return damaged(err)
		}
		u16 := func(i int) int { return int(binary.LittleEndian.Uint16(x[i:])) }
		b.marks.refs = append(b.marks.refs, [3]int{u16(0), u16(2), u16(4)})
	}
	return nil
}

// damaged lets pass what is wrong with a record that has nothing to do with cells.
func damaged(err error) error {
	var f *source.Error
	if errors.As(err, &f) {
		return err // reading failed
	}
	return nil
}

// formulas reads the formulas of lists.
func (b *Book) formulas() *biff.Formulas {
	return &biff.Formulas{
		Name: func(i int) []byte {
			if i < 1 || i > len(b.marks.names) {
				return nil
			}
			return b.marks.names[i-1]
		},
		Sheet: func(i int) (string, bool) {
			if i >= len(b.marks.refs) {
				return "", false
			}
			ref := b.marks.refs[i]
			if ref[0] >= len(b.marks.own) || !b.marks.own[ref[0]] || ref[1] != ref[2] || ref[1] >= len(b.sheets) {
				return "", false
			}
			return b.sheets[ref[1]].info.Name, true
		},
	}
}

// mark takes a record of a sheet that shows something beside its cells.
func (r *reader) mark(rec record) {
	p := rec.body
	u16 := func(i int) int { return int(binary.LittleEndian.Uint16(p[i:])) }
	switch rec.id {
	case recNote:
		// Before BIFF8 a long comment goes on in further records, which name no row.
		if len(p) >= 4 && (r.b.version == 8 || u16(0) != 0xffff) {
			r.out.Marks.Comments.Add(u16(0) + 1)
		}
	case recMerged:
		for i := 2; i+8 <= len(p) && (i-2)/8 < u16(0); i += 8 {
			r.out.Merge(source.Range{FirstRow: u16(i) + 1, LastRow: u16(i+2) + 1, FirstCol: u16(i + 4), LastCol: u16(i + 6)})
		}
	case recFilterMode, recCriteria12:
		r.out.Marks.Filtered = true
	case recCriteria:
		// Of two conditions, each of ten bytes, the first says what it compares with: 0 is nothing.
		if len(p) >= 24 && (p[2]&0x10 != 0 || p[4] != 0 || p[14] != 0) {
			r.out.Marks.Filtered = true
		}
	case recValidation:
		r.validation(p)
	}
}

// validation takes a DV record (MS-XLS 2.4.92). One that is damaged is left out.
func (r *reader) validation(p []byte) {
	const list = 3
	if r.b.version != 8 || len(p) < 4 || p[0]&0x0f != list || len(r.out.Marks.Lists) >= source.MarksKept {
		return
	}
	t := &text{r: r.r, body: p[4:]}
	for range 4 { // titles and texts of the prompt and of the error
		n, err := t.take(2)
		if err == nil {
			_, err = t.unicode(nil, int(binary.LittleEndian.Uint16(n)))
		}
		if err != nil {
			return
		}
	}
	var formula []byte
	for i := range 2 {
		n, err := t.take(4)
		if err != nil {
			return
		}
		f, err := t.bytes(int(binary.LittleEndian.Uint16(n)))
		if err != nil {
			return
		}
		if i == 0 {
			formula = f
		}
	}
	n, err := t.take(2)
	if err != nil {
		return
	}
	var ranges []source.Range
	for range min(int(binary.LittleEndian.Uint16(n)), source.MarksKept) {
		x, err := t.take(8)
		if err != nil {
			return
		}
		u16 := func(i int) int { return int(binary.LittleEndian.Uint16(x[i:])) }
		if at := (source.Range{FirstRow: u16(0) + 1, LastRow: u16(2) + 1, FirstCol: u16(4), LastCol: u16(6)}); at.FirstRow <= at.LastRow && at.FirstCol <= at.LastCol {
			ranges = append(ranges, at)
		}
	}
	if len(ranges) > 0 {
		r.out.Marks.Lists = append(r.out.Marks.Lists, r.b.formulas().List(formula, ranges))
	}
}
