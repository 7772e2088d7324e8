package ods

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"sheetlift/importers/source"
)

// reader reads one sheet.
type reader struct {
	b     *Book
	w     *walker
	sheet string
	from  int64 // where it begins in the content
	until int64
	out   *source.Builder
	facts source.Facts
	marks marks
	err   error // what the last Next ended with

	row      int        // number of the last row read
	cells    []cellAt   // of the row that is being given
	values   []byte     // what they hold
	again    int        // how often the row is still to be given
	given    int64      // cells given so far, with those that are empty for want of a stored result
	columns  []colStyle // default styles of the columns
	rowStyle string
	text     []byte // scratch of a cell
}

// cellAt is a run of equal cells of a row.
type cellAt struct {
	col, n int
	cell   source.Cell // its span lies in reader.values
}

// colStyle is the default cell style of the columns before end that come after those of the entry before it.
type colStyle struct {
	end   int
	style string
}

// Read starts reading sheet i.
func (b *Book) Read(ctx context.Context, i int) (source.Reader, error) {
	if i < 0 || i >= len(b.sheets) {
		return nil, fmt.Errorf("sheet %d of %d", i, len(b.sheets))
	}
	w, err := b.walk(ctx, contentPart)
	if err != nil {
		return nil, err
	}
	r := &reader{b: b, w: w, sheet: b.sheets[i].Name, out: source.NewBuilder(false)}
	for n := -1; n < i; {
		t, err := w.next()
		if err != nil {
			w.close()
			return nil, unexpected(err)
		}
		if _, ok := t.(xml.StartElement); ok && w.path("document-content", "body", "spreadsheet", "table") {
			n++
		}
	}
	r.from, r.until = w.dec.InputOffset(), b.ends[i]
	return r, nil
}

// Close ends reading.
func (r *reader) Close() error {
	r.w.close()
	return nil
}

// Facts of the sheet.
func (r *reader) Facts() source.Facts { return r.facts }

// Reached tells how much of the sheet's content was read.
func (r *reader) Reached() (done, whole int64) {
	return r.w.dec.InputOffset() - r.from, r.until - r.from
}

// Next gives the next block.
func (r *reader) Next() (*source.Block, error) {
	if r.err != nil {
		return nil, r.err
	}
	r.out.Reset()
	for !r.out.Full() && r.err == nil {
		if r.again > 0 {
			r.again--
			r.err = r.located(r.give())
			continue
		}
		r.err = r.located(r.step())
	}
	if r.err != nil && !errors.Is(r.err, io.EOF) {
		return nil, r.err
	}
	if r.out.Rows() == 0 {
		r.err = io.EOF
		return nil, io.EOF
	}
	k := r.out.Block(nil, nil)
	r.facts.LastColumn = max(r.facts.LastColumn, len(k.Cols))
	return k, nil
}

// located adds sheet and row to a fault.
func (r *reader) located(err error) error {
	var f *source.Error
	if errors.As(err, &f) {
		f.Sheet = r.sheet
		if f.Row == 0 {
			f.Row = r.row
		}
	}
	return err
}

// depth of the elements that stand directly in the sheet.
const depth = 5

// step reads the next element of the sheet; io.EOF is its end. Groups, header rows and the like are gone through, everything
// else that is no row is passed over.
func (r *reader) step() error {
	t, err := r.w.next()
	if err != nil {
		return unexpected(err)
	}
	switch t := t.(type) {
	case xml.EndElement:
		if len(r.w.stack) < depth-1 {
			return io.EOF
		}
	case xml.StartElement:
		if t.Name.Space != nsTable {
			return r.w.skip()
		}
		switch t.Name.Local {
		case "table-row":
			return r.readRow(&t)
		case "table-column":
			return r.column(&t)
		case "table-rows", "table-row-group", "table-header-rows", "table-columns", "table-column-group", "table-header-columns":
		default:
			return r.w.skip()
		}
	}
	return nil
}

func (r *reader) column(e *xml.StartElement) error {
	n, from := times(e, "number-columns-repeated"), 0
	if len(r.columns) > 0 {
		from = r.columns[len(r.columns)-1].end
	}
	n = min(n, r.b.lim.Columns-min(from, r.b.lim.Columns))
	if n > 0 {
		r.columns = append(r.columns, colStyle{from + n, attr(e, nsTable, "default-cell-style-name")})
		if v := attr(e, nsTable, "visibility"); v == "collapse" || v == "filter" {
			r.facts.HiddenColumns += n
			if len(r.marks.HiddenColumns) < source.MarksKept {
				r.marks.HiddenColumns = append(r.marks.HiddenColumns, source.Range{FirstCol: from, LastCol: from + n - 1})
			}
		}
	}
	return r.w.skip()
}

// readRow reads a row, to be given as often as it is repeated.
func (r *reader) readRow(e *xml.StartElement) error {
	n := times(e, "number-rows-repeated")
	v := attr(e, nsTable, "visibility")
	r.marks.hidden = v == "collapse" || v == "filter"
	r.marks.Filtered = r.marks.Filtered || v == "filter"
	r.marks.rows = min(n, r.b.lim.Rows)
	if r.marks.hidden {
		r.facts.HiddenRows += min(n, r.b.lim.Rows)
	}
	r.rowStyle = attr(e, nsTable, "default-cell-style-name")
	r.cells, r.values = r.cells[:0], r.values[:0]
	r.row++ // for faults
	end := len(r.w.stack)
	for col := 0; ; {
		t, err := r.w.next()
		if err != nil {
			return unexpected(err)
		}
		if e, ok := t.(xml.StartElement); ok {
			if e.Name.Space != nsTable || e.Name.Local != "table-cell" && e.Name.Local != "covered-table-cell" {
				if err := r.w.skip(); err != nil {
					return err
				}
				continue
			}
			if col, err = r.readCell(&e, col); err != nil {
				return err
			}
			continue
		}
		if len(r.w.stack) < end {
			break
		}
	}
	r.row--
	if len(r.cells) == 0 {
		r.row += min(n, math.MaxInt-r.row) // the last row of a sheet often stands for all that follow
		return nil
	}
	if n > r.b.lim.Rows || r.row > r.b.lim.Rows-n {
		return r.b.fault(source.ErrLimit, contentPart, "there are cells beyond the last row that a sheet can have, "+strconv.Itoa(r.b.lim.Rows), "split the sheet")
	}
	r.again = n
	return nil
}

// give puts the row into the block.
func (r *reader) give() error {
	r.row++
	base := len(r.out.Data)
	if base+len(r.values) > math.MaxUint32/2 {
		return r.b.fault(source.ErrLimit, contentPart, "the row holds more than a gigabyte", remedyResave)
	}
	r.out.Data = append(r.out.Data, r.values...)
	for _, c := range r.cells {
		c.cell.Off += uint32(base)
		for i := range c.n {
			r.out.Put(c.col+i, c.cell)
		}
		r.given += int64(c.n)
		if c.cell.Kind != source.Empty {
			r.facts.Cells += c.n
		}
		if c.cell.Kind == source.ErrorValue {
			r.facts.ErrorCells += c.n
		}
		if c.cell.Flags&source.Formula != 0 {
			r.facts.Formulas += c.n
		}
		if c.cell.Flags&source.NoCache != 0 {
			r.facts.FormulasNoCache += c.n
		}
	}
	// A row that is repeated a million times takes no more room in the file than one, and as long to read as a million.
	if size := int64(min(r.b.parts[contentPart].UncompressedSize64, 1<<40)); r.given > 1<<20 && r.given/size > r.b.lim.Ratio {
		return r.b.fault(source.ErrLimit, contentPart, "repeated cells expand it to more than "+strconv.FormatInt(r.b.lim.Ratio, 10)+" cells a byte: so do decompression bombs", remedyLimit+" (ratio)")
	}
	if int64(r.facts.Cells) > r.b.lim.Cells {
		return r.b.fault(source.ErrLimit, contentPart, "the sheet has more than "+strconv.FormatInt(r.b.lim.Cells, 10)+" cells", remedyLimit+" (cells)")
	}
	r.out.EndRow(r.row)
	if r.marks.hidden {
		r.marks.HiddenRows.Add(r.row)
	}
	r.facts.Rows++
	r.facts.LastRow = r.row
	return nil
}

// readCell reads a cell or a run of equal ones, and gives the column after it.
func (r *reader) readCell(e *xml.StartElement, col int) (int, error) {
	n := times(e, "number-columns-repeated")
	if times(e, "number-columns-spanned") > 1 || times(e, "number-rows-spanned") > 1 {
		r.facts.Merged++
		r.marks.merge(col, r.row, times(e, "number-columns-spanned"), times(e, "number-rows-spanned"))
	}
	if name := attr(e, nsTable, "content-validation-name"); name != "" {
		r.marks.valid(name, r.b.lists, source.Range{FirstCol: col, LastCol: min(col+min(n, r.b.lim.Columns), r.b.lim.Columns) - 1, FirstRow: r.row, LastRow: r.row + r.marks.rows - 1})
	}
	v := valueOf(e)
	shown, paragraphs, err := r.readText()
	if err != nil {
		return 0, err
	}
	cell, value, ok := v.cell(shown, paragraphs)
	if !ok {
		return 0, r.bad(col, "holds a "+v.kind+" that is none")
	}
	next := col + min(n, math.MaxInt-col)
	if len(value) == 0 {
		cell.Kind, cell.Class = source.Empty, source.General
		if v.formula && v.kind == "" {
			cell.Flags |= source.NoCache
		} else {
			return next, nil
		}
	}
	if next > r.b.lim.Columns {
		return 0, r.b.fault(source.ErrLimit, contentPart, "the row has cells beyond column "+strconv.Itoa(r.b.lim.Columns), remedyLimit+" (columns)")
	}
	if len(value) > r.b.lim.CellBytes {
		return 0, r.b.fault(source.ErrLimit, contentPart, "cell "+source.Ref(col, r.row)+" is longer than "+strconv.Itoa(r.b.lim.CellBytes)+" bytes", remedyLimit+" (cell_bytes)")
	}
	if len(r.values)+len(value) > 1<<30 {
		return 0, r.b.fault(source.ErrLimit, contentPart, "the row holds more than a gigabyte", remedyResave)
	}
	style := r.style(attr(e, nsTable, "style-name"), col)
	r.format(&cell, style, value)
	if cell.Kind != source.Empty {
		cell.Flags |= r.b.styles.look(style)
	}
	cell.Off, cell.Len = uint32(len(r.values)), uint32(len(value))
	r.values = append(r.values, value...)
	r.cells = append(r.cells, cellAt{col, n, cell})
	return next, nil
}

// style is the cell style that counts: the cell's own, else that of its row or column.
func (r *reader) style(own string, col int) string {
	if own != "" {
		return own
	}
	if r.rowStyle != "" {
		return r.rowStyle
	}
	for _, c := range r.columns {
		if col < c.end {
			return c.style
		}
	}
	return ""
}

// format adds what the number format of a cell says.
func (r *reader) format(cell *source.Cell, style string, value []byte) {
	if cell.Class != source.General || cell.Kind == source.Bool {
		return
	}
	zeros, text := r.b.styles.of(style)
	if text {
		cell.Class = source.TextFormat
	}
	if cell.Kind == source.Number && zeros > 1 && digits(value) < zeros {
		cell.Flags |= source.ZeroPadded
	}
}

// digits counts the digits of a number before its point.
func digits(value []byte) int {
	n := 0
	for _, c := range value {
		switch {
		case c >= '0' && c <= '9':
			n++
		case c == '.':
			return n
		case c != '-' && c != '+':
			return math.MaxInt // an exponent: no telling by counting
		}
	}
	return n
}

func (r *reader) bad(col int, what string) error {
	return r.b.fault(source.ErrMalformed, contentPart, "cell "+source.Ref(col, r.row)+" "+what, remedyResave)
}

// readText reads to the end of a cell and gives the text of its paragraphs, and whether it has any. Comments, shapes and what
// else may stand in a cell are passed over.
func (r *reader) readText() ([]byte, bool, error) {
	r.text = r.text[:0]
	cell := len(r.w.stack)
	paragraphs := 0
	for {
		t, err := r.w.next()
		if err != nil {
			return nil, false, unexpected(err)
		}
		depth := len(r.w.stack)
		switch t := t.(type) {
		case xml.EndElement:
			if depth < cell {
				return r.text, paragraphs > 0, nil
			}
		case xml.CharData:
			if depth > cell { // space between paragraphs is none of the cell's
				r.text = append(r.text, t...)
			}
		case xml.StartElement:
			if depth == cell+1 {
				if t.Name == (xml.Name{Space: nsOffice, Local: "annotation"}) {
					r.marks.Comments.Add(r.row)
				}
				if t.Name.Space != nsText || t.Name.Local != "p" && t.Name.Local != "h" {
					err = r.w.skip()
				} else if paragraphs++; paragraphs > 1 {
					r.text = append(r.text, '\n')
				}
			} else {
				err = r.inline(&t)
			}
			if err != nil {
				return nil, false, err
			}
		}
		if len(r.text) > r.b.lim.RecordBytes {
			return nil, false, r.b.fault(source.ErrLimit, contentPart, "a cell is longer than "+strconv.Itoa(r.b.lim.RecordBytes)+" bytes", remedyLimit+" (record_bytes)")
		}
	}
}

// inline takes an element inside a paragraph (ODF 1.2 part 1, 6.1).
func (r *reader) inline(e *xml.StartElement) error {
	if e.Name.Space != nsText {
		return r.w.skip()
	}
	switch e.Name.Local {
	case "s":
		n, err := strconv.Atoi(attr(e, nsText, "c"))
		if err != nil || n < 1 {
			n = 1
		}
		if n > r.b.lim.CellBytes {
			return r.b.fault(source.ErrLimit, contentPart, "a cell is longer than "+strconv.Itoa(r.b.lim.CellBytes)+" bytes", remedyLimit+" (cell_bytes)")
		}
		r.text = append(r.text, strings.Repeat(" ", n)...)
	case "tab":
		r.text = append(r.text, '\t')
	case "line-break":
		r.text = append(r.text, '\n')
	case "note", "ruby-text":
		return r.w.skip()
	}
	return nil
}
