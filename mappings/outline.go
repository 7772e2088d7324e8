package mappings

import (
	"bytes"
	"slices"

	"sheetlift/importers"
	"sheetlift/importers/source"
)

// Outline is where one record of a mapping finds its fields in a sheet: for hints and traces, not for applying. Columns that
// the sheet does not have are left out.
type Outline struct {
	Entity string
	Fields map[string][]int // field to column indexes from 0, in the mapping's order
	Key    []int            // columns behind the key
}

// HeaderIn finds the header in the first block of a sheet: its row number and its index in the block; 0 and -1 if there is
// none or it lies further down. Of a list without a header it finds the last row of its titles.
func (m *Mapping) HeaderIn(b *source.Block) (row, index int) {
	if m.Header.None {
		index = -1
		for i := range b.Rows() {
			if b.RowNum[i] < m.Header.First && rowHolds(b, i) {
				row, index = b.RowNum[i], i
			}
		}
		return row, index
	}
	for i := range b.Rows() {
		switch {
		case m.Header.Row > 0 && b.RowNum[i] != m.Header.Row:
		case len(m.Header.Match) > 0 && (b.RowNum[i] > headerWithin || !headerMatches(b, i, m.Header.Match)):
		case rowHolds(b, i):
			return b.RowNum[i], i
		}
	}
	return 0, -1
}

// HeaderNames are the header texts of row i of a block, one a column, as they stand there: they may look like personal
// values, see ShownHeaders.
func HeaderNames(b *source.Block, i int) []string {
	var names []string
	for col := range b.Cols {
		names = append(names, headerText(b, col, i))
	}
	return names
}

// Outlines resolves the mapping's columns against header texts.
func (m *Mapping) Outlines(header []string) []Outline {
	folded := make([]string, len(header))
	for i, h := range header {
		folded[i] = headerFold(h)
	}
	var list []Outline
	for _, r := range m.Records {
		o := Outline{Entity: r.Entity, Fields: map[string][]int{}}
		for name, f := range r.Fields {
			for _, c := range f.From {
				if col, message, _ := c.resolve(folded, nil); message == "" {
					o.Fields[name] = append(o.Fields[name], col)
				}
			}
		}
		for _, name := range r.Key {
			o.Key = append(o.Key, o.Fields[name]...)
		}
		list = append(list, o)
	}
	return list
}

// FieldCells is what the cells of a row are to one field of a record.
type FieldCells struct {
	From    []int // the columns that the value is read from: none if there is no value
	LeftOut bool  // the field's own when leaves its cells out
}

// RowCells says, by field, which cells of row i a record of the mapping is read from; ok is false if the row gives no such record. header are the texts that
// the columns are named by. It reads no order of days and months, which needs the whole column.
func (m *Mapping) RowCells(header []string, record int, b *source.Block, i int) (cells map[string]FieldCells, ok bool) {
	folded := make([]string, len(header))
	for n, h := range header {
		folded[n] = headerFold(h)
	}
	spec := &m.program.specs[record]
	bound, err := bindSpec(spec, &Env{}, m.Zone, func(c Column) int {
		col, message, _ := c.resolve(folded, nil)
		if message != "" {
			return len(b.Cols) // which no row has
		}
		return col
	})
	if err != nil || !bound.applies(b, i) {
		return nil, false
	}
	cells = map[string]FieldCells{}
	for j := range bound.fields {
		r := bound.readers[j]
		if len(r.cols) == 0 {
			continue
		}
		c := FieldCells{LeftOut: len(r.when) > 0 && !allHold(r.when, b, i)}
		if out := r.read(b, i); !out.null {
			c.From = slices.Clone(out.used)
		}
		cells[bound.fields[j].field.Name] = c
	}
	return cells, true
}

// Blank reports whether a cell of row i holds nothing but white space.
func Blank(b *source.Block, col, i int) bool {
	return len(bytes.TrimSpace(b.Bytes(b.Cell(col, i)))) == 0
}

// BlankRow reports whether a row counts as none, because nothing is in it.
func BlankRow(b *source.Block, i int) bool { return blankRow(b, i) }

// Statements are who stated the constant fields of a record of the mapping, by field.
func (r *RecordSpec) Statements() map[string]importers.Statement {
	var stated map[string]importers.Statement
	for name, f := range r.Fields {
		if f.StatedBy != nil {
			if stated == nil {
				stated = map[string]importers.Statement{}
			}
			stated[name] = importers.Statement{By: f.StatedBy.Name, At: f.StatedBy.At}
		}
	}
	return stated
}

// LooksPersonal reports whether a header, sheet or file name looks like a value about a person, so that it is only ever shown
// by position.
func LooksPersonal(name string) bool { return !showable(name) }
