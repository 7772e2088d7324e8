package xlsb

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"io"

	"sheetlift/importers/source"
	"sheetlift/importers/source/biff"
)

// Records (MS-XLSB 2.3).
const (
	brtRowHdr       = 0
	brtCellBlank    = 1
	brtCellRk       = 2
	brtCellError    = 3
	brtCellBool     = 4
	brtCellReal     = 5
	brtCellSt       = 6
	brtCellIsst     = 7
	brtFmlaString   = 8
	brtFmlaNum      = 9
	brtFmlaBool     = 10
	brtFmlaError    = 11
	brtShortBlank   = 12
	brtShortRk      = 13
	brtShortError   = 14
	brtShortBool    = 15
	brtShortReal    = 16
	brtShortSt      = 17
	brtShortIsst    = 18
	brtSSTItem      = 19
	brtName         = 39
	brtFont         = 43
	brtFmt          = 44
	brtFill         = 45
	brtXF           = 47
	brtColInfo      = 60
	brtCellRString  = 62
	brtDVal         = 64
	brtBeginData    = 145
	brtEndData      = 146
	brtWbProp       = 153
	brtBundleSh     = 156
	brtBeginAFilter = 161
	brtFilters      = 165 // and brtFilters to brtCustom are what a column of a filter is filtered by
	brtCustom       = 174
	brtMergeCell    = 176
	brtSupSelf      = 357
	brtSupSame      = 358
	brtSupBookSrc   = 355
	brtSupAddin     = 667
	brtSupPlaceHold = 361
	brtExternSheet  = 362
	brtBeginComment = 635
	brtBeginCellXFs = 617
	brtEndCellXFs   = 618
	windowSize      = 64 << 10
)

// records reads the records of one part.
type records struct {
	ctx  context.Context
	b    *Book
	part string
	r    *bufio.Reader
	came *came
	held int    // bytes of the last record that are still in r
	long []byte // body of a record that doesn't fit r
	n    int
}

func (b *Book) records(ctx context.Context, part int) (*records, error) {
	r, err := b.pkg.Open(part)
	if err != nil {
		return nil, err
	}
	c := &came{r: r}
	return &records{ctx: ctx, b: b, part: b.pkg.Name(part), r: bufio.NewReaderSize(c, windowSize), came: c}, nil
}

// came counts the bytes that came of a part.
type came struct {
	r io.Reader
	n int64
}

func (c *came) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

func (r *records) fault(kind error, message, remedy string) *source.Error {
	return r.b.fault(kind, r.part, message, remedy)
}

// varint reads a number of at most n bytes, seven bits each.
func (r *records) varint(n int) (v int, err error) {
	for i := range n {
		c, err := r.r.ReadByte()
		if err != nil {
			if i > 0 {
				err = cut(err)
			}
			return 0, err
		}
		v |= int(c&0x7f) << (7 * i)
		if c&0x80 == 0 {
			break
		}
	}
	return v, nil
}

func cut(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// next gives the next record, io.EOF after the last. The body is valid until the next call; it is nil for kinds that want
// doesn't ask for.
func (r *records) next(want func(kind int) bool) (kind int, body []byte, err error) {
	if r.n++; r.n%4096 == 0 {
		if err := r.ctx.Err(); err != nil {
			return 0, nil, err
		}
	}
	if r.held > 0 {
		if _, err := r.r.Discard(r.held); err != nil {
			return 0, nil, r.bad(err)
		}
		r.held = 0
	}
	kind, err = r.varint(2)
	if errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return 0, nil, io.EOF
	}
	if err != nil {
		return 0, nil, r.bad(err)
	}
	n, err := r.varint(4)
	if err != nil {
		return 0, nil, r.bad(cut(err))
	}
	switch {
	case !want(kind):
		if _, err := r.r.Discard(n); err != nil {
			return 0, nil, r.bad(cut(err))
		}
		return kind, nil, nil
	case n > r.b.lim.RecordBytes:
		return 0, nil, r.fault(source.ErrLimit, "one of its records is longer than the limit", biff.RemedyLimit+" (record_bytes)")
	case n <= windowSize:
		if body, err = r.r.Peek(n); err != nil {
			return 0, nil, r.bad(cut(err))
		}
		r.held = n
		return kind, body, nil
	}
	// Read as it comes: the length may be a lie.
	for r.long = r.long[:0]; len(r.long) < n; {
		part, err := r.r.Peek(min(n-len(r.long), windowSize))
		if err != nil {
			return 0, nil, r.bad(cut(err))
		}
		r.long = append(r.long, part...)
		if _, err := r.r.Discard(len(part)); err != nil {
			return 0, nil, r.bad(err)
		}
	}
	return kind, r.long, nil
}

// bad says what is wrong with a part.
func (r *records) bad(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		var f *source.Error
		if !errors.As(err, &f) {
			return r.fault(source.ErrMalformed, "it ends in the middle of a record", biff.RemedyDamaged)
		}
	}
	return err
}

func (r *records) short() error {
	return r.fault(source.ErrMalformed, "one of its records is too short", biff.RemedyDamaged)
}

// wide gives the UTF-16 of a string (MS-XLSB 2.5.169) and what follows it; ok is false where it doesn't fit. None at all is "".
func wide(p []byte) (text, rest []byte, ok bool) {
	if len(p) < 4 {
		return nil, nil, false
	}
	n := int64(binary.LittleEndian.Uint32(p))
	p = p[4:]
	if n == 0xffffffff {
		return nil, p, true
	}
	if 2*n > int64(len(p)) {
		return nil, nil, false
	}
	return p[:2*n], p[2*n:], true
}

// each calls f for all records of a part that want asks for.
func (b *Book) each(ctx context.Context, part int, want func(kind int) bool, f func(r *records, kind int, body []byte) error) error {
	r, err := b.records(ctx, part)
	if err != nil {
		return err
	}
	for {
		kind, body, err := r.next(want)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil && body != nil {
			err = f(r, kind, body)
		}
		if err != nil {
			return err
		}
	}
}
