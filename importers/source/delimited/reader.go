package delimited

import (
	"context"
	"errors"
	"io"
	"strconv"

	"sheetlift/importers/source"
)

// windowSize is what is read from the file at a time.
const windowSize = 256 << 10

// reader cuts the text into blocks. buf holds decoded text up to end and, after it, the fields of the block that had doubled
// quotes; cells point into both.
type reader struct {
	ctx   context.Context
	book  *Book
	b     *source.Builder
	s     scanner
	pat   patterns
	putf  func(int, field) // put, bound once
	slow  bool             // tests: read every record by record
	facts source.Facts
	err   error

	off  int64 // next byte of the file
	in   []byte
	held int // bytes in in that are not decoded yet
	eof  bool

	buf   []byte
	from  int // first record of the block
	pos   int // next record
	end   int // end of decoded text
	raw   []byte
	num   int // records so far, blank ones counted
	line  int // physical line of the next record
	wide  int // a field beyond the column limit
	cells int
}

func newReader(ctx context.Context, b *Book) *reader {
	r := &reader{ctx: ctx, book: b, b: source.NewBuilder(true), s: scanner{delimiter: b.delimiter}, pat: newPatterns(b.delimiter), off: b.skip, line: 1}
	r.putf = r.put
	return r
}

// Facts of the file.
func (r *reader) Facts() source.Facts { return r.facts }

// Next gives the next block.
func (r *reader) Next() (*source.Block, error) {
	if r.err != nil {
		return nil, r.err
	}
	k := r.scanBlock()
	if r.err = r.book.check(k); r.err != nil {
		return nil, r.err
	}
	return k.block, nil
}

// scanned is what scanning came to.
type scanned struct {
	block *source.Block
	err   error
	facts source.Facts
	text  []byte // what was scanned, which is still to be checked
	line  int    // of what follows it
	off   int64  // how far the file was read
	lane  lane   // where all of it lies
}

// scanBlock scans the next block.
func (r *reader) scanBlock() scanned {
	k, err := r.next()
	s := scanned{block: k, err: err, facts: r.facts, line: r.line, off: r.off}
	if err == nil || errors.Is(err, io.EOF) {
		s.text = r.buf[r.from:r.pos]
	}
	return s
}

// check holds the text of a block to its charset, and gives the error that the block came with.
func (b *Book) check(s scanned) error {
	if at := invalidAt(s.text); at >= 0 {
		return b.undecodable(s.line - countLines(s.text) + countLines(s.text[:at]))
	}
	return s.err
}

func (r *reader) next() (*source.Block, error) {
	r.b.Reset()
	r.buf = r.buf[:r.end]
	r.from = r.pos
	for !r.b.Full() {
		if !r.slow {
			r.records()
		}
		if r.b.Full() || r.pos >= r.end && r.eof {
			break
		}
		if err := r.record(); errors.Is(err, errCut) {
			if r.b.Rows() > 0 {
				break
			}
			if err := r.more(); err != nil {
				return nil, err
			}
			r.from = r.pos
		} else if err != nil {
			return nil, err
		}
	}
	if r.b.Rows() == 0 {
		return nil, io.EOF
	}
	if int64(r.facts.Cells) > r.book.lim.Cells {
		return nil, r.fault(source.ErrLimit, "there are more than "+strconv.FormatInt(r.book.lim.Cells, 10)+" cells", "if the file is genuine, raise the limit (limits in batch.yaml, --limit of cells) (cells)")
	}
	k := r.b.Block(nil, r.buf[:r.end])
	k.Data = r.buf
	if r.book.charset != utf8Text {
		r.encodeRaw(k)
	}
	return k, nil
}

// encodeRaw puts the file's own bytes of the records into the block's Raw, where the text was transcoded.
func (r *reader) encodeRaw(k *source.Block) {
	r.raw = r.raw[:0]
	for i, s := range k.Records {
		from := len(r.raw)
		r.raw = r.book.charset.encode(r.raw, r.buf[s.Off:s.Off+s.Len])
		k.Records[i] = source.Span{Off: uint32(from), Len: uint32(len(r.raw) - from)}
	}
	k.Raw = r.raw
}

var errCut = errors.New("the record is cut by the window's end")

func (r *reader) fault(kind error, message, remedy string) error {
	f := fault(kind, r.book.name, message, remedy)
	f.Line = r.line
	return f
}

// record reads one record into the block.
func (r *reader) record() error {
	before := len(r.buf)
	r.cells, r.wide = 0, 0
	rec, st := r.s.scan(r.buf[:r.end], r.pos, r.eof, r.putf)
	switch st {
	case recordCut:
		r.b.DropRow()
		r.buf = r.buf[:before]
		return errCut
	case recordUnclosed:
		return r.fault(source.ErrMalformed, "a quoted field that begins in this record is never closed", "close the quote, or double it if it is part of the text, and export again")
	}
	if rec.end-r.pos > r.book.lim.RecordBytes {
		return r.tooLong()
	}
	if r.wide > 0 {
		return r.fault(source.ErrLimit, "the record has more than "+strconv.Itoa(r.book.lim.Columns)+" fields", "if the delimiter is right and the file genuine, raise the limit (limits in batch.yaml, --limit of cells) (columns)")
	}
	r.keep(rec, r.cells)
	return nil
}

func (r *reader) tooLong() error {
	return r.fault(source.ErrLimit, "a record is longer than "+strconv.Itoa(r.book.lim.RecordBytes)+" bytes", "if the quotes are right and the file genuine, raise the limit (limits in batch.yaml, --limit of cells) (record_bytes)")
}

// put takes one field of the record being scanned.
func (r *reader) put(i int, f field) {
	from, to := f.from, f.to
	if f.doubled || f.tail > 0 {
		from = len(r.buf)
		r.buf = appendUnquoted(r.buf, f)
		to = len(r.buf)
	}
	if to == from {
		return
	}
	if i >= r.book.lim.Columns {
		r.wide = i
		return
	}
	r.cells++
	r.b.Put(i, source.Cell{Off: uint32(from), Len: uint32(to - from), Kind: source.Text})
}

// appendUnquoted appends the value of a quoted field: doubled quotes once, text after the closing quote as it is.
func appendUnquoted(buf []byte, f field) []byte {
	for i := f.from; i < f.to; i++ {
		c := buf[i]
		buf = append(buf, c)
		if c == '"' {
			i++
		}
	}
	if f.tail > 0 {
		buf = append(buf, buf[f.to+1:f.tail]...)
	}
	return buf
}

// more moves what is left of the text to the front and reads on. Only an empty block may be moved under.
func (r *reader) more() error {
	if err := r.ctx.Err(); err != nil {
		return err
	}
	left := copy(r.buf, r.buf[r.pos:r.end])
	r.buf, r.pos, r.end = r.buf[:left], 0, left
	if left > r.book.lim.RecordBytes {
		return r.tooLong()
	}
	// A long record is read in doubling steps, so that scanning it again each time stays linear.
	for want := max(windowSize, left); want > 0 && !r.eof; {
		n, err := r.fill()
		if err != nil {
			return err
		}
		want -= n
	}
	r.end = len(r.buf)
	if r.book.sep > 0 && r.num == 0 && r.line == 1 && r.pos == 0 {
		r.pos = min(r.book.sep, r.end)
		r.line = 2
	}
	return nil
}

// fill reads and decodes one piece of the file.
func (r *reader) fill() (int, error) {
	if r.book.charset == utf8Text {
		from := len(r.buf)
		want := int(min(windowSize, r.book.size-r.off))
		if cap(r.buf)-from < want {
			grown := make([]byte, from, 2*(from+want))
			copy(grown, r.buf)
			r.buf = grown
		}
		r.buf = r.buf[:from+want]
		if err := r.read(r.buf[from:]); err != nil {
			return 0, err
		}
		return want, nil
	}
	if r.in == nil {
		r.in = make([]byte, 64<<10)
	}
	want := int(min(int64(len(r.in)-r.held), r.book.size-r.off))
	if err := r.read(r.in[r.held : r.held+want]); err != nil {
		return 0, err
	}
	from := len(r.buf)
	var used int
	r.buf, used = r.book.charset.decode(r.buf, r.in[:r.held+want], r.eof)
	r.held = copy(r.in, r.in[used:r.held+want])
	return len(r.buf) - from, nil
}

func (r *reader) read(p []byte) error {
	n, err := r.book.r.ReadAt(p, r.off)
	if n < len(p) {
		f := fault(source.ErrTruncated, r.book.name, "the file became shorter while it was read", "read it again when nothing writes to it")
		f.Err = err
		return f
	}
	r.off += int64(n)
	r.eof = r.off >= r.book.size
	return nil
}
