package xls

import (
	"context"
	"encoding/binary"
	"errors"
	"io"

	"sheetlift/importers/source"
	"sheetlift/importers/source/biff"
)

// Records (MS-XLS 2.3). The numbers of the older versions differ in their upper byte.
const (
	recBlank2     = 0x0001
	recInteger2   = 0x0002
	recNumber2    = 0x0003
	recLabel2     = 0x0004
	recBoolErr2   = 0x0005
	recFormula    = 0x0006 // of BIFF2 and of BIFF5 on
	recString2    = 0x0007
	recRow2       = 0x0008
	recBOF2       = 0x0009
	recEOF        = 0x000a
	recExternal   = 0x0017 // which sheets references to other sheets lead to
	recName       = 0x0018
	recNote       = 0x001c // a comment
	recFormat2    = 0x001e // and BIFF3
	recDateMode   = 0x0022
	recFilePass   = 0x002f
	recFont       = 0x0031
	recContinue   = 0x003c
	recCodePage   = 0x0042
	recXF2        = 0x0043
	recIXFE       = 0x0044 // BIFF2: the XF of the next cell, when it doesn't fit the cell
	recColInfo    = 0x007d
	recBoundSheet = 0x0085
	recSheetList4 = 0x008e // BIFF4 workbooks of several sheets
	recFilterMode = 0x009b // rows are hidden by a filter
	recAutoFilter = 0x009d
	recCriteria   = 0x009e // of a column of the filter
	recMulRK      = 0x00bd
	recMulBlank   = 0x00be
	recRString    = 0x00d6
	recXF         = 0x00e0
	recMerged     = 0x00e5
	recSST        = 0x00fc
	recLabelSST   = 0x00fd
	recSupBook    = 0x01ae
	recValidation = 0x01be
	recBlank      = 0x0201
	recNumber     = 0x0203
	recLabel      = 0x0204
	recBoolErr    = 0x0205
	recFormula3   = 0x0206
	recString     = 0x0207
	recRow        = 0x0208
	recBOF3       = 0x0209
	recXF3        = 0x0243
	recRK         = 0x027e
	recFormula4   = 0x0406
	recBOF4       = 0x0409
	recFormat     = 0x041e
	recXF4        = 0x0443
	recBOF        = 0x0809
	recCriteria12 = 0x087e
)

func isBOF(id uint16) bool {
	return id == recBOF || id == recBOF4 || id == recBOF3 || id == recBOF2
}

// record is one record; body is valid until the next one is read.
type record struct {
	at   int64 // where it begins in the stream
	id   uint16
	body []byte
}

const (
	recordHead = 4
	windowSize = 64 << 10
	seekSize   = 1 << 10 // what is read at a place that was jumped to
)

// records reads records of a stream, forward or at places.
type records struct {
	ctx    context.Context
	book   *Book
	window []byte
	at     int64 // where the window begins in the stream
	pos    int64 // where the next record begins
	n      int
	near   bool // the place was jumped to: read little
}

func (b *Book) records(ctx context.Context, pos int64) *records {
	return &records{ctx: ctx, book: b, pos: pos}
}

// jump makes the record at pos the next one.
func (r *records) jump(pos int64) { r.pos, r.near = pos, true }

// bytes gives n bytes at the next position, which stays.
func (r *records) bytes(n int) ([]byte, error) {
	if r.pos > r.book.size-int64(n) {
		return nil, io.ErrUnexpectedEOF
	}
	if from := r.pos - r.at; from >= 0 && from+int64(n) <= int64(len(r.window)) {
		return r.window[from : from+int64(n)], nil
	}
	want := windowSize
	if r.near {
		want = seekSize
	}
	want = int(min(int64(max(n, want)), r.book.size-r.pos))
	if cap(r.window) < want {
		r.window = make([]byte, want, max(want, min(windowSize, int(min(r.book.size, windowSize)))))
	}
	r.window = r.window[:want]
	r.at = r.pos
	if got, err := r.book.r.ReadAt(r.window, r.pos); got < want {
		r.window = r.window[:0]
		e := r.book.fault(source.ErrUnreadable, "reading failed", "check the disk or the share it lies on")
		e.Err = err
		return nil, e
	}
	return r.window[:n], nil
}

// next gives the next record; io.ErrUnexpectedEOF where the stream ends.
func (r *records) next() (record, error) {
	if r.n++; r.n%4096 == 0 {
		if err := r.ctx.Err(); err != nil {
			return record{}, err
		}
	}
	head, err := r.bytes(recordHead)
	if err != nil {
		return record{}, err
	}
	rec := record{at: r.pos, id: binary.LittleEndian.Uint16(head)}
	n := recordHead + int(binary.LittleEndian.Uint16(head[2:]))
	raw, err := r.bytes(n)
	if err != nil {
		return record{}, err
	}
	rec.body = raw[recordHead:]
	r.pos += int64(n)
	return rec, nil
}

// follows gives the next record if it is of this kind.
func (r *records) follows(ids ...uint16) (record, bool, error) {
	head, err := r.bytes(recordHead)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return record{}, false, nil
	}
	if err != nil {
		return record{}, false, err
	}
	for _, id := range ids {
		if binary.LittleEndian.Uint16(head) == id {
			rec, err := r.next()
			return rec, err == nil, err
		}
	}
	return record{}, false, nil
}

// cut turns the end of the stream, where more was promised, into what it is.
func (b *Book) cut(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return b.fault(source.ErrTruncated, "the workbook ends in the middle of its records: it was cut off", biff.RemedyDamaged)
	}
	return err
}
