package xlsx

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strconv"

	"sheetlift/importers/source"
)

// sheetReader scans one sheet part. Elements are read where they lie in the window and their values copied into the block,
// so a window may end anywhere and a block may span many of them.
type sheetReader struct {
	w     *walker
	b     *source.Builder
	book  *Book
	sheet string
	state sheetState
	err   error // what the last Next ended with
	facts source.Facts
	marks source.Marks
	index int // of the sheet

	inRow   bool
	row     int      // number of the row being read, or of the last one
	rowText []byte   // its digits, as cell references repeat them
	number  word     // they
	hidden  bool     // the row being read is
	rowSaid bool     // the row has an r attribute, or a cell has told its number
	col     int      // column after the last cell, from 0
	cells   int      // non-empty cells of the row
	seen    []uint64 // bit set of the rows that were kept
	value   []byte   // scratch of slowCell, so that no cell costs an allocation
	inline  []byte
	shapes  [shapeColumns]shape // by column
}

type sheetState uint8

const (
	beforeData sheetState = iota
	inData
	afterData
	sheetDone
)

func (b *Book) newSheetReader(ctx context.Context, i int) (*sheetReader, error) {
	s := b.workbook.sheets[i]
	r := &sheetReader{book: b, index: i, sheet: s.info.Name, b: source.NewBuilder(false)}
	if s.info.Kind == source.ChartSheet || s.info.Kind == source.DialogSheet {
		r.state = sheetDone
		return r, nil
	}
	w, err := b.a.walker(ctx, s.part)
	if err != nil {
		return nil, r.located(err)
	}
	r.w = w
	return r, nil
}

// Close stops the goroutine that inflates.
func (r *sheetReader) Close() error {
	if r.w != nil {
		r.w.close()
		r.w = nil
	}
	r.state = sheetDone
	return nil
}

// Reached tells how much of the sheet's part was read.
func (r *sheetReader) Reached() (done, whole int64) {
	a := r.book.a
	return r.w.came - int64(len(r.w.buf)-r.w.pos), a.entries[r.book.workbook.sheets[r.index].part].size
}

// Facts of the sheet.
func (r *sheetReader) Facts() source.Facts { return r.facts }

// Next gives the next block.
func (r *sheetReader) Next() (*source.Block, error) {
	if r.err != nil {
		return nil, r.err
	}
	r.b.Reset()
	for r.state != sheetDone && !r.b.Full() {
		if err := r.step(); err != nil {
			r.err = r.located(err)
			return nil, r.err
		}
	}
	if r.b.Rows() == 0 {
		r.err = io.EOF
		return nil, io.EOF
	}
	if int64(r.facts.Cells) > r.w.a.lim.Cells {
		r.err = r.located(r.w.a.fault(source.ErrLimit, r.w.part, "the sheet has more than "+strconv.FormatInt(r.w.a.lim.Cells, 10)+" cells", remedyLimit+" (cells)"))
		return nil, r.err
	}
	k := r.b.Block(r.book.strings.text, nil)
	r.facts.LastColumn = max(r.facts.LastColumn, len(k.Cols))
	return k, nil
}

// located adds sheet and row to a fault.
func (r *sheetReader) located(err error) error {
	var f *source.Error
	if errors.As(err, &f) {
		f.Sheet = r.sheet
		if f.Row == 0 && r.state == inData {
			f.Row = r.row
		}
	}
	return err
}

func (r *sheetReader) step() error {
	switch r.state {
	case beforeData:
		return r.stepBefore()
	case inData:
		return r.stepData()
	default:
		return r.stepAfter()
	}
}

// stepBefore reads a token of what stands in front of the cells.
func (r *sheetReader) stepBefore() error {
	t, err := r.w.next()
	if err != nil {
		return err
	}
	switch {
	case t.kind == tokEOF:
		r.state = sheetDone
	case t.kind == tokStart && t.is("sheetData"):
		r.state = inData
		if t.empty {
			r.state = afterData
		}
	case t.kind == tokStart && t.is("col"):
		if xmlTrue(attrOr(t, "hidden")) {
			lo, err1 := strconv.Atoi(attrOr(t, "min"))
			hi, err2 := strconv.Atoi(attrOr(t, "max"))
			if err1 == nil && err2 == nil && lo >= 1 && hi >= lo {
				if len(r.marks.HiddenColumns) < source.MarksKept {
					r.marks.HiddenColumns = append(r.marks.HiddenColumns, source.Range{FirstCol: lo - 1, LastCol: hi - 1})
				}
				r.facts.HiddenColumns += min(hi, r.w.a.lim.Columns) - min(lo, r.w.a.lim.Columns) + 1
			}
		}
	}
	return nil
}

// stepAfter reads a token of what follows the cells.
func (r *sheetReader) stepAfter() error {
	t, err := r.w.next()
	if err != nil {
		return err
	}
	switch {
	case t.kind == tokEOF:
		r.state = sheetDone
	case t.kind != tokStart:
	case t.is("sheetData"):
		return r.w.a.fault(source.ErrMalformed, r.w.part, "the sheet has two lists of rows", remedyResave)
	case t.is("mergeCell"):
		if at, ok := source.ParseRange(attrOr(t, "ref")); ok && len(r.marks.Merged) < source.MarksKept {
			r.marks.Merged = append(r.marks.Merged, at)
		}
		r.facts.Merged++
	case t.is("autoFilter"):
		r.facts.AutoFilter = true
		if level := len(r.w.ends); level == 2 || level == 1 && t.empty { // deeper ones belong to somebody's own view
			return filter(&r.marks, r.w, t)
		}
	case t.is("dataValidation"):
		return r.validation(t)
	}
	return nil
}

// stepData reads rows until the block is full, the data ends, or more text is needed.
func (r *sheetReader) stepData() error {
	w := r.w
	for {
		if r.inRow {
			for r.fastCell() {
			}
			if bytes.HasPrefix(w.buf[w.pos:], endRowTag) {
				w.pos += len(endRowTag)
				if err := r.endRow(); err != nil {
					return err
				}
				if r.b.Full() {
					return nil
				}
				continue
			}
		} else if r.fastRow() {
			continue
		}
		t, err := scanToken(w.buf, w.pos, w.eof)
		switch {
		case errors.Is(err, errMore):
			err = w.more()
			if err == nil {
				continue
			}
			fallthrough
		case err != nil:
			return w.bad(err)
		}
		switch t.kind {
		case tokStart:
			switch {
			case t.is("row") && !r.inRow:
				w.pos = t.end
				if err := r.beginRow(t); err != nil {
					return err
				}
				if t.empty {
					r.inRow = false
				}
				continue
			case t.is("c") && r.inRow:
				if err := r.slowCell(t); err != nil {
					return err
				}
				continue
			}
			// Something that has no business here.
			if _, err := w.next(); err != nil {
				return err
			}
			if err := w.skip(t); err != nil {
				return err
			}
		case tokEnd:
			w.pos = t.end
			if r.inRow {
				if !t.is("row") {
					return w.bad(errBadXML)
				}
				if err := r.endRow(); err != nil {
					return err
				}
				if r.b.Full() {
					return nil
				}
				continue
			}
			if !t.is("sheetData") {
				return w.bad(errBadXML)
			}
			r.state = afterData
			return w.pop(t.name)
		case tokEOF:
			return w.bad(io.ErrUnexpectedEOF)
		default:
			w.pos = t.end
		}
	}
}

var (
	endRowTag  = []byte("</row>")
	rowTag     = []byte(`<row r="`)
	hiddenAttr = []byte("hidden")
	numberAttr = []byte("r=") // once more
)

// fastRow takes the start tag of a row in the shape that spreadsheet programs write: the number first, and not hidden. It
// reports false, with nothing consumed, for any other.
func (r *sheetReader) fastRow() bool {
	b, p := r.w.buf, r.w.pos
	if !bytes.HasPrefix(b[p:], rowTag) {
		return false
	}
	p += len(rowTag)
	from, num := p, 0
	for ; p < len(b) && b[p]-'0' <= 9; p++ {
		num = num*10 + int(b[p]-'0')
	}
	if p == from || p-from > 7 || num < 1 || num > r.w.a.lim.Rows || p >= len(b) || b[p] != '"' {
		return false
	}
	digits := b[from:p]
	end := bytes.IndexByte(b[p:], '>')
	if end < 0 {
		return false
	}
	attrs := b[p+1 : p+end]
	if len(attrs) > 0 && (attrs[len(attrs)-1] == '/' || bytes.Count(attrs, []byte{'"'})%2 != 0 || bytes.IndexByte(attrs, '\'') >= 0 ||
		bytes.IndexByte(attrs, '<') >= 0 || bytes.Contains(attrs, hiddenAttr) || bytes.Contains(attrs, numberAttr)) {
		return false
	}
	if digits[0] == '0' {
		return false
	}
	r.inRow, r.hidden, r.rowSaid, r.col, r.cells = true, false, true, 0, 0
	r.row = num
	r.rowText = append(r.rowText[:0], digits...)
	r.number = wordOf(r.rowText)
	r.w.pos = p + end + 1
	return true
}

func (r *sheetReader) beginRow(t token) error {
	r.inRow, r.hidden, r.rowSaid, r.col, r.cells = true, false, false, 0, 0
	num := r.row + 1
	for a := t.attrs; ; {
		name, value, rest, ok := nextAttr(a)
		if !ok {
			break
		}
		switch string(name) {
		case "r":
			n, err := strconv.Atoi(string(bytes.TrimSpace(value)))
			if err != nil || n < 1 {
				return r.w.a.fault(source.ErrMalformed, r.w.part, "the row after row "+strconv.Itoa(r.row)+" has a number that is none", remedyResave)
			}
			num, r.rowSaid = n, true
		case "hidden":
			if xmlTrue(string(bytes.TrimSpace(value))) {
				r.facts.HiddenRows++
				r.hidden = true
			}
		}
		a = rest
	}
	return r.setRow(num)
}

func (r *sheetReader) setRow(num int) error {
	if num > r.w.a.lim.Rows {
		return r.w.a.fault(source.ErrLimit, r.w.part, "there is a row "+strconv.Itoa(num)+", beyond the last row that a sheet can have, "+strconv.Itoa(r.w.a.lim.Rows), "split the sheet")
	}
	r.row = num
	r.rowText = strconv.AppendInt(r.rowText[:0], int64(num), 10)
	r.number = wordOf(r.rowText)
	return nil
}

func (r *sheetReader) endRow() error {
	r.inRow = false
	if !r.b.Filled() {
		return nil
	}
	word, bit := r.row/64, uint64(1)<<(r.row%64)
	for len(r.seen) <= word {
		r.seen = append(r.seen, make([]uint64, max(64, len(r.seen)))...)
	}
	if r.seen[word]&bit != 0 {
		return r.w.a.fault(source.ErrMalformed, r.w.part, "two rows of the sheet have this number", remedyResave)
	}
	r.seen[word] |= bit
	r.b.EndRow(r.row)
	if r.hidden {
		r.marks.HiddenRows.Add(r.row)
	}
	r.facts.Rows++
	r.facts.Cells += r.cells
	r.facts.LastRow = max(r.facts.LastRow, r.row)
	return nil
}
