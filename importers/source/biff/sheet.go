package biff

import (
	"bytes"
	"errors"
	"io"
	"strconv"

	"sheetlift/importers/source"
	"sheetlift/importers/source/numfmt"
)

// maxRowData keeps offsets of a block within 32 bits.
const maxRowData = 1 << 30

// Cell is one cell as a record holds it.
type Cell struct {
	Col     int // from 0
	Format  numfmt.Format
	Formula bool
	Kind    source.Kind
	Data    []byte // the value, unless Shared
	Shared  bool   // Text that stands at Index of the shared strings
	Index   int
	NoCache bool // a formula without stored result
	Look    source.Flags
}

// SetNumber makes the cell a number, whose digits are appended to scratch.
func (c *Cell) SetNumber(v float64, scratch []byte) {
	var plain bool
	// What is no number is kept as the text it would be in .xlsx.
	if c.Data, plain = AppendNumber(scratch[:0], v); plain {
		c.Kind = source.Number
	} else {
		c.Kind = source.Text
	}
}

var trueText, falseText = []byte("TRUE"), []byte("FALSE")

// SetBool makes the cell a truth value.
func (c *Cell) SetBool(v bool) {
	c.Kind, c.Data = source.Bool, falseText
	if v {
		c.Data = trueText
	}
}

// SetError makes the cell an error.
func (c *Cell) SetError(code byte) { c.Kind, c.Data = source.ErrorValue, []byte(ErrorText(code)) }

// Sheet collects the cells of one sheet into blocks.
type Sheet struct {
	Facts source.Facts
	Marks source.Marks

	hidden  []uint64 // rows
	b       *source.Builder
	lim     *source.Limits
	strings *Strings
	fault   func(kind error, message, remedy string) *source.Error
	row     int // from 1; 0 before the first
	cells   int // non-empty cells of the row
	seen    []uint64
}

// NewSheet begins a sheet. fault makes an error that names file, part and sheet.
func NewSheet(lim *source.Limits, strings *Strings, fault func(kind error, message, remedy string) *source.Error) *Sheet {
	return &Sheet{b: source.NewBuilder(false), lim: lim, strings: strings, fault: fault}
}

// Row is the number of the row that cells are put into, from 1; 0 before the first.
func (s *Sheet) Row() int { return s.row }

// Full reports whether the block should be handed out before another row is begun.
func (s *Sheet) Full() bool { return s.b.Full() }

// Reset begins a new block.
func (s *Sheet) Reset() { s.b.Reset() }

// Begin ends the row before and begins one.
func (s *Sheet) Begin(row int) error {
	if err := s.End(); err != nil {
		return err
	}
	if row > s.lim.Rows {
		return s.fault(source.ErrLimit, "there is a row "+strconv.Itoa(row)+", beyond the last row that a sheet can have, "+strconv.Itoa(s.lim.Rows), "split the sheet")
	}
	s.row = row
	return nil
}

// End ends the row, which is kept if it has a cell.
func (s *Sheet) End() error {
	if !s.b.Filled() {
		return nil
	}
	if mark(&s.seen, s.row) {
		return s.fault(source.ErrMalformed, "two rows of the sheet have this number", RemedyResave)
	}
	s.b.EndRow(s.row)
	s.Facts.Rows++
	s.Facts.Cells += s.cells
	s.Facts.LastRow = max(s.Facts.LastRow, s.row)
	s.cells = 0
	if word := s.row / 64; word < len(s.hidden) && s.hidden[word]&(1<<(s.row%64)) != 0 {
		s.Marks.HiddenRows.Add(s.row)
	}
	if int64(s.Facts.Cells) > s.lim.Cells {
		return s.fault(source.ErrLimit, "the sheet has more than "+strconv.FormatInt(s.lim.Cells, 10)+" cells", RemedyLimit+" (cells)")
	}
	return nil
}

// Hide notes that a row is hidden, before its cells are put.
func (s *Sheet) Hide(row int) {
	s.Facts.HiddenRows++
	if row <= s.lim.Rows {
		mark(&s.hidden, row)
	}
}

// mark sets the bit of a row, and reports whether it was set before.
func mark(bits *[]uint64, row int) bool {
	word, bit := row/64, uint64(1)<<(row%64)
	for len(*bits) <= word {
		*bits = append(*bits, make([]uint64, max(64, len(*bits)))...)
	}
	was := (*bits)[word]&bit != 0
	(*bits)[word] |= bit
	return was
}

// HideColumns notes that columns are hidden.
func (s *Sheet) HideColumns(first, last int) {
	last = min(last, s.lim.Columns-1)
	if last < first {
		return
	}
	s.Facts.HiddenColumns += last - first + 1
	if len(s.Marks.HiddenColumns) < source.MarksKept {
		s.Marks.HiddenColumns = append(s.Marks.HiddenColumns, source.Range{FirstCol: first, LastCol: last})
	}
}

// Merge notes a merged range.
func (s *Sheet) Merge(at source.Range) {
	s.Facts.Merged++
	if len(s.Marks.Merged) < source.MarksKept && at.FirstRow <= at.LastRow && at.FirstCol <= at.LastCol {
		s.Marks.Merged = append(s.Marks.Merged, at)
	}
}

// Block hands out the rows that were ended, io.EOF if there are none.
func (s *Sheet) Block() (*source.Block, error) {
	if s.b.Rows() == 0 {
		return nil, io.EOF
	}
	k := s.b.Block(s.strings.Text, nil)
	s.Facts.LastColumn = max(s.Facts.LastColumn, len(k.Cols))
	return k, nil
}

// Fault is an error about the cell in this column of the row.
func (s *Sheet) Fault(kind error, col int, what, remedy string) *source.Error {
	return s.fault(kind, "cell "+source.Ref(col, s.row)+" "+what, remedy)
}

// Put puts a cell into the row. Empty text is no cell.
func (s *Sheet) Put(c *Cell) error {
	if c.Formula {
		s.Facts.Formulas++
	}
	out := source.Cell{Kind: c.Kind, Class: c.Format.Class, Off: uint32(len(s.b.Data)), Len: uint32(len(c.Data))}
	if c.Formula {
		out.Flags = source.Formula
	}
	out.Flags |= c.Look
	switch {
	case c.Shared:
		if c.Index >= s.strings.Len() {
			return s.Fault(source.ErrMalformed, c.Col, "points to a shared string that the workbook doesn't have", RemedyResave)
		}
		out.Off, out.Len = s.strings.Span(c.Index)
		out.Flags |= source.Shared
	case c.Kind == source.Number && c.Format.Padded(c.Data):
		out.Flags |= source.ZeroPadded
	}
	if c.NoCache {
		out = source.Cell{Class: out.Class, Flags: source.Formula | source.NoCache}
	} else if out.Len == 0 {
		return nil
	}
	switch {
	case c.Col >= s.lim.Columns:
		return s.Fault(source.ErrLimit, c.Col, "lies beyond the last column that a sheet can have", RemedyResave)
	case int64(out.Len) > int64(s.lim.CellBytes):
		return s.Fault(source.ErrLimit, c.Col, "is longer than "+strconv.Itoa(s.lim.CellBytes)+" bytes", RemedyLimit+" (cell_bytes)")
	case len(s.b.Data)+len(c.Data) > maxRowData:
		return s.fault(source.ErrLimit, "the row holds more than a gigabyte", RemedyResave)
	}
	if !s.b.Put(c.Col, out) {
		if before := s.b.At(c.Col); before.Kind == out.Kind && bytes.Equal(s.bytes(before), s.value(c, out)) {
			return nil // written twice with the same content
		}
		return s.Fault(source.ErrMalformed, c.Col, "is there twice with different content", RemedyResave)
	}
	switch out.Kind {
	case source.Empty:
		s.Facts.FormulasNoCache++
		return nil
	case source.ErrorValue:
		s.Facts.ErrorCells++
	}
	s.cells++
	if !c.Shared {
		s.b.Data = append(s.b.Data, c.Data...)
	}
	return nil
}

// bytes gives the value of a cell that was put.
func (s *Sheet) bytes(c source.Cell) []byte {
	if c.Flags&source.Shared != 0 {
		return s.strings.Text[c.Off : c.Off+c.Len]
	}
	return s.b.Data[c.Off : c.Off+c.Len]
}

// value gives the value of a cell that is about to be put.
func (s *Sheet) value(c *Cell, out source.Cell) []byte {
	switch {
	case out.Kind == source.Empty:
		return nil
	case c.Shared:
		return s.bytes(out)
	}
	return c.Data
}

// Located adds sheet and row to a fault.
func (s *Sheet) Located(err error, sheet string) error {
	var f *source.Error
	if errors.As(err, &f) {
		f.Sheet = sheet
		if f.Row == 0 {
			f.Row = s.row
		}
	}
	return err
}
