package xlsb

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"math"

	"sheetlift/importers/source"
	"sheetlift/importers/source/biff"
)

// reader reads the cells of one sheet.
type reader struct {
	b       *Book
	r       *records
	part    int
	out     *biff.Sheet
	sheet   string
	err     error // what the last Next ended with
	data    state
	col     int // column of the last cell
	cell    biff.Cell
	scratch [32]byte
	text    []byte
}

type state uint8

const (
	beforeData state = iota
	inData
	afterData
)

func (b *Book) newReader(ctx context.Context, s sheet) (*reader, error) {
	r := &reader{b: b, sheet: s.info.Name, part: s.part}
	name := b.pkg.Name(s.part)
	r.out = biff.NewSheet(&b.lim, b.strings, func(kind error, message, remedy string) *source.Error { return b.fault(kind, name, message, remedy) })
	if s.info.Kind == source.ChartSheet || s.info.Kind == source.DialogSheet {
		r.err = io.EOF
		return r, nil
	}
	var err error
	r.r, err = b.records(ctx, s.part)
	if err != nil {
		return nil, r.out.Located(err, r.sheet)
	}
	return r, nil
}

// Close has nothing to let go of.
func (r *reader) Close() error { return nil }

// Facts of the sheet.
func (r *reader) Facts() source.Facts { return r.out.Facts }

// Reached tells how much of the sheet's part was read.
func (r *reader) Reached() (done, whole int64) {
	return r.r.came.n - int64(r.r.r.Buffered()), r.b.pkg.Size(r.part)
}

// Next gives the next block.
func (r *reader) Next() (*source.Block, error) {
	if r.err != nil {
		return nil, r.err
	}
	r.out.Reset()
	for r.err == nil && !r.out.Full() {
		r.err = r.step()
	}
	if r.err != nil && !errors.Is(r.err, io.EOF) {
		r.err = r.out.Located(r.err, r.sheet)
		return nil, r.err
	}
	k, err := r.out.Block()
	if err != nil {
		r.err = err
	}
	return k, err
}

// wanted are the records of a sheet that are looked at.
func wanted(kind int) bool {
	return kind <= brtShortIsst || kind == brtCellRString || kind == brtColInfo || kind == brtDVal || kind == brtMergeCell ||
		kind >= brtBeginAFilter && kind <= brtCustom || kind == brtBeginData || kind == brtEndData
}

// step reads the next record. The part is read to its end, since only there its checksum is compared.
func (r *reader) step() error {
	kind, p, err := r.r.next(wanted)
	if err != nil {
		if errors.Is(err, io.EOF) && r.data == inData {
			return r.r.fault(source.ErrTruncated, "it ends before its cells do", biff.RemedyDamaged)
		}
		return err
	}
	switch kind {
	case brtBeginData:
		if r.data != beforeData {
			return r.r.fault(source.ErrMalformed, "the sheet has two lists of rows", biff.RemedyResave)
		}
		r.data = inData
	case brtEndData:
		r.data = afterData
		return r.out.End()
	case brtRowHdr:
		return r.beginRow(p)
	case brtColInfo:
		if len(p) >= 18 && p[16]&1 != 0 {
			lo, hi := binary.LittleEndian.Uint32(p), binary.LittleEndian.Uint32(p[4:])
			r.out.HideColumns(int(lo), int(hi))
		}
	case brtDVal:
		r.out.Facts.Validations++
		r.validation(p)
	case brtMergeCell:
		if at, ok := area(p); ok {
			r.out.Merge(at)
		}
	case brtBeginAFilter:
		r.out.Facts.AutoFilter = true
	default:
		if kind >= brtFilters && kind <= brtCustom {
			r.out.Marks.Filtered = true
			return nil
		}
		if kind <= brtShortIsst || kind == brtCellRString {
			return r.put(kind, p)
		}
	}
	return nil
}

// beginRow takes the record that cells of a row come after (MS-XLSB 2.4.741).
func (r *reader) beginRow(p []byte) error {
	if r.data != inData {
		return nil
	}
	if len(p) < 12 {
		return r.r.short()
	}
	row := int(binary.LittleEndian.Uint32(p)) + 1
	if p[11]&0x10 != 0 {
		r.out.Hide(row)
	}
	r.col = -1
	return r.out.Begin(row)
}

// put puts a cell. It begins with its column, which the short forms leave out, and the number of its style (MS-XLSB 2.5.9).
func (r *reader) put(kind int, p []byte) error {
	if r.data != inData {
		return nil
	}
	if r.out.Row() == 0 {
		return r.r.fault(source.ErrMalformed, "a cell stands before the first row", biff.RemedyDamaged)
	}
	head := 8
	if kind >= brtShortBlank && kind <= brtShortIsst {
		head = 4
	}
	if len(p) < head {
		return r.r.short()
	}
	if head == 4 {
		r.col++
	} else {
		r.col = int(binary.LittleEndian.Uint32(p))
	}
	c := &r.cell
	*c = biff.Cell{Col: r.col}
	if style := int(binary.LittleEndian.Uint32(p[head-4:]) & 0xffffff); style < len(r.b.formats) {
		c.Format = r.b.formats[style]
		c.Look = r.b.looks[style]
	}
	p = p[head:]
	if need := valueLen[kind]; len(p) < need {
		return r.r.short()
	}
	switch kind {
	case brtCellBlank, brtShortBlank:
		return nil
	case brtCellRk, brtShortRk:
		c.SetNumber(biff.RK(binary.LittleEndian.Uint32(p)), r.scratch[:])
	case brtCellReal, brtShortReal, brtFmlaNum:
		c.SetNumber(math.Float64frombits(binary.LittleEndian.Uint64(p)), r.scratch[:])
	case brtCellBool, brtShortBool, brtFmlaBool:
		c.SetBool(p[0] != 0)
	case brtCellError, brtShortError, brtFmlaError:
		c.SetError(p[0])
	case brtCellIsst, brtShortIsst:
		c.Kind, c.Shared, c.Index = source.Text, true, int(binary.LittleEndian.Uint32(p))
	case brtCellRString:
		if err := r.setText(p[1:]); err != nil {
			return err
		}
	case brtCellSt, brtShortSt, brtFmlaString:
		if err := r.setText(p); err != nil {
			return err
		}
	}
	c.Formula = kind >= brtFmlaString && kind <= brtFmlaError
	return r.out.Put(c)
}

// valueLen is how many bytes a value has at least.
var valueLen = map[int]int{
	brtCellRk: 4, brtShortRk: 4, brtCellReal: 8, brtShortReal: 8, brtFmlaNum: 8, brtCellBool: 1, brtShortBool: 1, brtFmlaBool: 1,
	brtCellError: 1, brtShortError: 1, brtFmlaError: 1, brtCellIsst: 4, brtShortIsst: 4, brtCellRString: 1,
}

func (r *reader) setText(p []byte) error {
	raw, _, ok := wide(p)
	if !ok {
		return r.r.short()
	}
	c := &r.cell
	c.Kind = source.Text
	if r.text, ok = biff.AppendUTF16(r.text[:0], raw); !ok {
		return r.r.fault(source.ErrCharset, "cell "+source.Ref(c.Col, r.out.Row())+" has undecodable characters", biff.RemedyResave)
	}
	c.Data = r.text
	return nil
}
