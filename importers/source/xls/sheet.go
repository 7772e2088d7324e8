package xls

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"sheetlift/importers/source"
	"sheetlift/importers/source/biff"
	"sheetlift/importers/source/numfmt"
)

// reader reads the cells of one sheet. Their records are walked through twice: first for their order and everything that is
// no cell.
type reader struct {
	b       *Book
	r       *records
	out     *biff.Sheet
	sheet   sheet
	started bool
	depth   int
	places  []place // of the cells by row, where they are not in this order; nil otherwise
	sorted  bool
	until   int64 // where the records of the sheet end
	cells   int   // places there were
	err     error // what the last Next ended with
	cell    biff.Cell
	scratch [32]byte
	text    []byte
	long    text
}

// place is where the record of a cell stands.
type place struct {
	at       int64
	row, col uint16
}

// Read starts reading sheet i. The shared strings are read before the first one.
func (b *Book) Read(ctx context.Context, i int) (source.Reader, error) {
	if i < 0 || i >= len(b.sheets) {
		return nil, fmt.Errorf("sheet %d of %d", i, len(b.sheets))
	}
	if b.strings == nil {
		s, err := b.readStrings(ctx)
		if err != nil {
			return nil, err
		}
		b.strings = s
	}
	r := &reader{b: b, sheet: b.sheets[i], r: b.records(ctx, b.sheets[i].pos)}
	r.long.r = r.r
	r.out = biff.NewSheet(&b.lim, b.strings, b.fault)
	if r.sheet.empty {
		r.err = io.EOF
	}
	return r, nil
}

// Close has nothing to let go of.
func (r *reader) Close() error { return nil }

// Facts of the sheet.
func (r *reader) Facts() source.Facts { return r.out.Facts }

// Reached tells how much of the sheet's records was read.
func (r *reader) Reached() (done, whole int64) {
	if r.sorted {
		return int64(r.cells - len(r.places)), int64(r.cells)
	}
	return r.r.pos - r.sheet.pos, r.until - r.sheet.pos
}

// Next gives the next block.
func (r *reader) Next() (*source.Block, error) {
	if r.err != nil {
		return nil, r.err
	}
	r.out.Reset()
	if !r.started {
		r.started = true
		r.err = r.survey()
	}
	for r.err == nil && !r.out.Full() {
		r.err = r.step()
	}
	if r.err != nil && !errors.Is(r.err, io.EOF) {
		r.err = r.out.Located(r.b.cut(r.err), r.sheet.info.Name)
		return nil, r.err
	}
	k, err := r.out.Block()
	if err != nil {
		r.err = err
	}
	return k, err
}

// isCell reports whether a record holds one cell with a value, or several.
func isCell(id uint16) bool {
	switch id {
	case recInteger2, recNumber2, recLabel2, recBoolErr2, recNumber, recLabel, recBoolErr, recRK, recMulRK, recRString, recLabelSST,
		recFormula, recFormula3, recFormula4:
		return true
	}
	return false
}

// each calls f for the records of the sheet itself.
func (r *reader) each(f func(rec record)) error {
	r.r.pos = r.sheet.pos
	for depth := 0; ; {
		rec, err := r.r.next()
		if err != nil {
			return err
		}
		switch {
		case isBOF(rec.id):
			depth++
		case rec.id == recEOF:
			if depth--; depth <= 0 {
				return nil
			}
		case depth == 1:
			f(rec)
		}
	}
}

// survey walks through the sheet before its cells are read.
func (r *reader) survey() error {
	facts := &r.out.Facts
	last, ordered := 0, true
	err := r.each(func(rec record) {
		p := rec.body
		switch {
		case len(p) < 2:
			if rec.id == recFilterMode { // it says nothing further
				r.mark(rec)
			}
		case isCell(rec.id):
			row := int(binary.LittleEndian.Uint16(p))
			ordered = ordered && row >= last
			last = row
		case rec.id == recRow && len(p) >= 14 && p[12]&0x20 != 0:
			r.out.Hide(int(binary.LittleEndian.Uint16(p)) + 1)
		case rec.id == recColInfo && len(p) >= 10 && p[8]&1 != 0:
			r.out.HideColumns(int(binary.LittleEndian.Uint16(p)), int(binary.LittleEndian.Uint16(p[2:])))
		default:
			switch rec.id {
			case recAutoFilter:
				facts.AutoFilter = true
			case recValidation:
				facts.Validations++
			}
			r.mark(rec)
		}
	})
	if err == nil && !ordered {
		r.sorted = true
		cut := false
		err = r.each(func(rec record) {
			switch {
			case !isCell(rec.id):
			case len(rec.body) < 6:
				cut = true
			default:
				r.places = append(r.places, place{rec.at, binary.LittleEndian.Uint16(rec.body), binary.LittleEndian.Uint16(rec.body[2:])})
			}
		})
		if err == nil && cut {
			err = r.short()
		}
		slices.SortStableFunc(r.places, func(a, b place) int {
			return cmp.Or(cmp.Compare(a.row, b.row), cmp.Compare(a.col, b.col))
		})
	}
	r.until, r.cells = r.r.pos, len(r.places)
	r.r.pos = r.sheet.pos
	return err
}

// step reads the next record.
func (r *reader) step() error {
	if r.sorted {
		if len(r.places) == 0 {
			return r.end()
		}
		r.r.jump(r.places[0].at)
	}
	rec, err := r.r.next()
	if err != nil {
		return err
	}
	if !r.sorted {
		switch {
		case isBOF(rec.id):
			r.depth++
			return nil
		case rec.id == recEOF:
			if r.depth--; r.depth <= 0 {
				return r.end()
			}
			return nil
		case r.depth != 1 || !isCell(rec.id):
			return nil
		}
	}
	if len(rec.body) < 6 {
		return r.short()
	}
	if row := int(binary.LittleEndian.Uint16(rec.body)) + 1; row != r.out.Row() {
		if err := r.out.Begin(row); err != nil {
			return err
		}
		if r.out.Full() {
			r.r.pos = rec.at // the cell belongs to the next block
			return nil
		}
	}
	if r.sorted {
		r.places = r.places[1:]
	}
	return r.put(rec)
}

// end ends the sheet.
func (r *reader) end() error {
	if err := r.out.End(); err != nil {
		return err
	}
	return io.EOF
}

func (r *reader) short() error {
	return r.b.fault(source.ErrMalformed, "a record of a cell is too short", biff.RemedyDamaged)
}

// format gives the format that a cell names.
func (r *reader) format(i int) numfmt.Format {
	if i < len(r.b.formats) {
		return r.b.formats[i]
	}
	return numfmt.Format{}
}

// look gives the look of the cells that name an XF.
func (r *reader) look(xf int) source.Flags {
	if xf < len(r.b.looks) {
		return r.b.looks[xf]
	}
	return 0
}

// put puts the cell or cells of a record.
func (r *reader) put(rec record) error {
	p := rec.body
	c := &r.cell
	*c = biff.Cell{Col: int(binary.LittleEndian.Uint16(p[2:]))}
	// After row and column BIFF2 has three bytes of attributes; later versions have the number of an XF (MS-XLS 2.5.19).
	old := rec.id < recEOF && (rec.id != recFormula || r.b.version == 2)
	if old {
		if len(p) < 8 {
			return r.short()
		}
		c.Format = r.format(int(p[5] & 0x3f))
		p = p[7:]
	} else {
		xf := int(binary.LittleEndian.Uint16(p[4:]))
		c.Format, c.Look = r.format(xf), r.look(xf)
		p = p[6:]
	}
	switch rec.id {
	case recInteger2:
		if len(p) < 2 {
			return r.short()
		}
		c.SetNumber(float64(binary.LittleEndian.Uint16(p)), r.scratch[:])
	case recNumber, recNumber2:
		if len(p) < 8 {
			return r.short()
		}
		c.SetNumber(math.Float64frombits(binary.LittleEndian.Uint64(p)), r.scratch[:])
	case recRK:
		if len(p) < 4 {
			return r.short()
		}
		c.SetNumber(biff.RK(binary.LittleEndian.Uint32(p)), r.scratch[:])
	case recMulRK:
		return r.several(rec.body)
	case recBoolErr, recBoolErr2:
		if len(p) < 2 {
			return r.short()
		}
		if p[1] != 0 {
			c.SetError(p[0])
		} else {
			c.SetBool(p[0] != 0)
		}
	case recLabelSST:
		if len(p) < 4 {
			return r.short()
		}
		c.Kind, c.Shared, c.Index = source.Text, true, int(binary.LittleEndian.Uint32(p))
	case recLabel, recLabel2, recRString:
		if err := r.setText(p, old); err != nil {
			return err
		}
	default:
		if err := r.formula(p); err != nil {
			return err
		}
	}
	return r.out.Put(c)
}

// several puts the cells of a MULRK record.
func (r *reader) several(p []byte) error {
	n := (len(p) - 6) / 6
	for i := range n {
		at := p[4+6*i:]
		xf := int(binary.LittleEndian.Uint16(at))
		r.cell = biff.Cell{Col: int(binary.LittleEndian.Uint16(p[2:])) + i, Format: r.format(xf), Look: r.look(xf)}
		r.cell.SetNumber(biff.RK(binary.LittleEndian.Uint32(at[2:])), r.scratch[:])
		if err := r.out.Put(&r.cell); err != nil {
			return err
		}
	}
	return nil
}

// setText gives the cell a text with its length before it; short means that this takes one byte.
func (r *reader) setText(p []byte, short bool) (err error) {
	c := &r.cell
	c.Kind = source.Text
	n := 0
	switch {
	case short && len(p) >= 1:
		n, p = int(p[0]), p[1:]
	case !short && len(p) >= 2:
		n, p = int(binary.LittleEndian.Uint16(p)), p[2:]
	default:
		return r.short()
	}
	switch {
	case r.b.version == 8:
		r.long.body = p
		r.text, err = r.long.unicode(r.text[:0], n)
	case n > len(p):
		return r.short()
	default:
		r.text, err = r.b.appendBytes(r.text[:0], p[:n])
	}
	c.Data = r.text
	if err != nil {
		return r.b.textFault(err, "cell "+source.Ref(c.Col, r.out.Row()))
	}
	return nil
}

// What may stand between a formula and its text (MS-XLS 2.2.2).
const (
	recArray   = 0x0221
	recArray2  = 0x0021
	recShared  = 0x04bc
	recShared5 = 0x00bc
	recTable   = 0x0236
	recTable2  = 0x0036
	recTable23 = 0x0037
)

// formula gives the cell the stored result of a formula (MS-XLS 2.5.133).
func (r *reader) formula(p []byte) error {
	c := &r.cell
	c.Formula = true
	if len(p) < 8 {
		return r.short()
	}
	if binary.LittleEndian.Uint16(p[6:]) != 0xffff {
		c.SetNumber(math.Float64frombits(binary.LittleEndian.Uint64(p)), r.scratch[:])
		return nil
	}
	switch p[0] {
	case 0: // the text comes in a record of its own
		for {
			rec, ok, err := r.r.follows(recString, recString2, recArray, recArray2, recShared, recShared5, recTable, recTable2, recTable23, recContinue)
			if err != nil {
				return err
			}
			if !ok {
				c.NoCache = true
				return nil
			}
			if rec.id == recString || rec.id == recString2 {
				return r.setText(rec.body, rec.id == recString2)
			}
		}
	case 1:
		c.SetBool(p[2] != 0)
	case 2:
		c.SetError(p[2])
	case 3: // empty text
	default:
		return r.out.Fault(source.ErrMalformed, c.Col, "has a result of a kind that isn't known", biff.RemedyResave)
	}
	return nil
}
