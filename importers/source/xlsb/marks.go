package xlsb

import (
	"context"
	"encoding/binary"
	"strings"

	"sheetlift/importers/source"
	"sheetlift/importers/source/biff"
)

// bookMarks is what the workbook says about looks and lists.
type bookMarks struct {
	looks biff.Looks
	names [][]byte // formulas of defined names
	own   []bool   // by link: it leads to this workbook
	refs  [][3]int // link, first and last sheet
}

// What is kept of defined names and references.
const (
	namesKept = 1 << 16
	nameKept  = 64 // bytes of a formula; one that is cells is shorter
)

func isMark(kind int) bool {
	switch kind {
	case brtName, brtSupSelf, brtSupSame, brtSupBookSrc, brtSupAddin, brtSupPlaceHold, brtExternSheet:
		return true
	}
	return false
}

// mark takes a record of the workbook. One that is damaged is left out.
func (b *Book) mark(kind int, p []byte) {
	m := &b.marks
	switch kind {
	case brtName: // MS-XLSB 2.4.711: flags, shortcut, scope, name, formula
		if len(m.names) >= namesKept {
			return
		}
		m.names = append(m.names, nil)
		if len(p) < 9 {
			return
		}
		if _, rest, ok := wide(p[9:]); ok {
			if f, ok := formulaOf(rest); ok && len(f) <= nameKept {
				m.names[len(m.names)-1] = append([]byte{}, f...)
			}
		}
	case brtExternSheet: // MS-XLSB 2.4.667
		for i := 4; i+12 <= len(p) && len(m.refs) < namesKept; i += 12 {
			u32 := func(k int) int { return int(int32(binary.LittleEndian.Uint32(p[i+k:]))) }
			m.refs = append(m.refs, [3]int{u32(0), u32(4), u32(8)})
		}
	default:
		if len(m.own) < namesKept {
			m.own = append(m.own, kind == brtSupSelf)
		}
	}
}

// formulaOf gives the tokens of a formula, which stand after their length.
func formulaOf(p []byte) (tokens []byte, ok bool) {
	if len(p) < 4 {
		return nil, false
	}
	n := int64(binary.LittleEndian.Uint32(p))
	if p = p[4:]; n > int64(len(p)) {
		return nil, false
	}
	return p[:n], true
}

// colour reads a colour (MS-XLSB 2.5.9).
func colour(p []byte) biff.Colour {
	return biff.Colour{Kind: biff.ColourKind(p[0] >> 1), Index: int(p[1]), Tint: int(int16(binary.LittleEndian.Uint16(p[2:]))), RGB: [3]byte(p[4:7])}
}

// font takes a font (MS-XLSB 2.4.157).
func (b *Book) font(p []byte) {
	if len(p) < 20 {
		b.marks.looks.Font(biff.Colour{}, false)
		return
	}
	b.marks.looks.Font(colour(p[12:]), p[8] != 0)
}

// fill takes a fill (MS-XLSB 2.4.150).
func (b *Book) fill(p []byte) {
	if len(p) < 12 {
		b.marks.looks.Fill(0, biff.Colour{})
		return
	}
	b.marks.looks.Fill(int(binary.LittleEndian.Uint32(p)), colour(p[4:]))
}

// look takes the look of a cell style (MS-XLSB 2.4.861).
func (b *Book) look(p []byte) {
	look := source.Flags(0)
	if len(p) >= 8 {
		look = b.marks.looks.Of(int(binary.LittleEndian.Uint16(p[4:])), int(binary.LittleEndian.Uint16(p[6:])))
	}
	b.looks = append(b.looks, look)
}

// area reads a range (MS-XLSB 2.5.160).
func area(p []byte) (at source.Range, ok bool) {
	if len(p) < 16 {
		return at, false
	}
	u32 := func(i int) int { return int(binary.LittleEndian.Uint32(p[4*i:])) }
	at = source.Range{FirstRow: u32(0) + 1, LastRow: u32(1) + 1, FirstCol: u32(2), LastCol: u32(3)}
	return at, at.FirstRow <= at.LastRow && at.FirstCol <= at.LastCol && at.LastRow <= 1<<20 && at.LastCol < 1<<14
}

// validation takes a data validation (MS-XLSB 2.4.352). One that is damaged is left out.
func (r *reader) validation(p []byte) {
	const list = 3
	if len(p) < 8 || p[0]&0x0f != list || len(r.out.Marks.Lists) >= source.MarksKept {
		return
	}
	n := int64(binary.LittleEndian.Uint32(p[4:]))
	if p = p[8:]; 16*n > int64(len(p)) {
		return
	}
	var ranges []source.Range
	for range n {
		if at, ok := area(p); ok && len(ranges) < source.MarksKept {
			ranges = append(ranges, at)
		}
		p = p[16:]
	}
	for range 4 { // titles and texts of the prompt and of the error
		_, rest, ok := wide(p)
		if !ok {
			return
		}
		p = rest
	}
	if formula, ok := formulaOf(p); ok && len(ranges) > 0 {
		r.out.Marks.Lists = append(r.out.Marks.Lists, r.b.formulas().List(formula, ranges))
	}
}

// formulas reads the formulas of lists.
func (b *Book) formulas() *biff.Formulas {
	m := &b.marks
	return &biff.Formulas{
		Wide: true,
		Name: func(i int) []byte {
			if i < 1 || i > len(m.names) {
				return nil
			}
			return m.names[i-1]
		},
		Sheet: func(i int) (string, bool) {
			if i >= len(m.refs) {
				return "", false
			}
			ref := m.refs[i]
			if ref[0] < 0 || ref[0] >= len(m.own) || !m.own[ref[0]] || ref[1] != ref[2] || ref[1] < 0 || ref[1] >= len(b.sheets) {
				return "", false
			}
			return b.sheets[ref[1]].info.Name, true
		},
	}
}

// Marks gives what the sheet shows beside its cells. Comments and the filters of tables lie in parts of their own, which are read now.
func (r *reader) Marks(ctx context.Context) source.Marks {
	m := r.out.Marks
	m.Colours = true
	rels, err := r.b.pkg.Relations(ctx, r.part)
	if err != nil {
		return m
	}
	for _, rel := range rels {
		kind := strings.ToLower(rel.Kind)
		if rel.Part < 0 || kind != "comments" && kind != "table" {
			continue
		}
		want := func(k int) bool {
			return kind == "comments" && k == brtBeginComment || kind == "table" && k >= brtFilters && k <= brtCustom
		}
		_ = r.b.each(ctx, rel.Part, want, func(_ *records, k int, p []byte) error {
			if k != brtBeginComment {
				m.Filtered = true
			} else if len(p) >= 4+16 {
				if at, ok := area(p[4:]); ok {
					m.Comments.Add(at.FirstRow)
				}
			}
			return nil
		})
	}
	return m
}
