package mappings

import (
	"slices"
	"strings"
	"testing"

	"sheetlift/importers/source"
	"sheetlift/pipeline/finding"
)

// cell is a cell of a test sheet. A string is text, or a number if made by num.
type cell struct {
	kind  source.Kind
	class source.Class
	flags source.Flags
	text  string
}

func txt(s string) cell {
	if s == "" {
		return cell{}
	}
	return cell{kind: source.Text, text: s}
}
func num(s string) cell { return cell{kind: source.Number, text: s} }
func classed(s string, class source.Class) cell {
	return cell{kind: source.Number, class: class, text: s}
}
func flagged(c cell, f source.Flags) cell { c.flags |= f; return c }
func boolean(s string) cell               { return cell{kind: source.Bool, text: s} }

// sheet makes rows of texts; cells divided by "|".
func sheet(lines ...string) [][]cell {
	var rows [][]cell
	for _, l := range lines {
		var row []cell
		for s := range strings.SplitSeq(l, "|") {
			row = append(row, txt(strings.TrimSpace(s)))
		}
		rows = append(rows, row)
	}
	return rows
}

// blocks cuts rows into blocks of size rows. Rows are numbered from 1; rows without any cell are left out, as a workbook's are.
func blocks(rows [][]cell, size int, textFile bool) []*source.Block {
	var list []*source.Block
	var b *source.Block
	for n, row := range rows {
		holds := false
		for _, c := range row {
			holds = holds || c.kind != source.Empty || c.flags != 0
		}
		if !holds && !textFile {
			continue
		}
		if b == nil || b.Rows() == size {
			b = &source.Block{}
			list = append(list, b)
		}
		b.RowNum = append(b.RowNum, n+1)
		b.Width = append(b.Width, len(row))
		if textFile {
			b.Line = append(b.Line, n+1)
		}
		for len(b.Cols) < len(row) {
			b.Cols = append(b.Cols, make([]source.Cell, b.Rows()-1))
		}
		for col := range b.Cols {
			c := cell{}
			if col < len(row) {
				c = row[col]
			}
			b.Cols[col] = append(b.Cols[col], source.Cell{Off: uint32(len(b.Data)), Len: uint32(len(c.text)), Kind: c.kind, Class: c.class, Flags: c.flags})
			b.Data = append(b.Data, c.text...)
		}
	}
	return list
}

// result is what a sheet came to.
type result struct {
	profile  *Profile
	columns  []finding.Finding
	rows     []Row // Records deep enough to keep
	findings []finding.Finding
	err      error
}

func (r *result) rules(row int) []string {
	var list []string
	for _, f := range r.findings {
		if f.Row == row {
			list = append(list, f.Rule)
		}
	}
	return list
}

func (r *result) columnRules() []string {
	var list []string
	for _, f := range r.columns {
		list = append(list, f.Rule)
	}
	return list
}

func (r *result) row(t *testing.T, num int) *Row {
	t.Helper()
	for i := range r.rows {
		if r.rows[i].Num == num {
			return &r.rows[i]
		}
	}
	t.Fatalf("row %d was not emitted", num)
	return nil
}

type runOptions struct {
	size     int
	textFile bool
	env      Env
}

// run takes rows through profile, compile and apply.
func run(t testing.TB, mapping string, rows [][]cell, o runOptions) *result {
	t.Helper()
	m, err := Parse("m.yaml", []byte(mapping))
	if err != nil {
		t.Fatal(err)
	}
	if o.size == 0 {
		o.size = 4096
	}
	o.env.Source, o.env.File = "src", "exports/x.xlsx"
	list := blocks(rows, o.size, o.textFile)
	r := &result{}
	p, err := NewProfiler(m, o.env)
	if err != nil {
		r.err = err
		return r
	}
	for _, b := range list {
		if r.err = p.Add(b); r.err != nil {
			return r
		}
	}
	if r.profile, r.err = p.Done(); r.err != nil {
		return r
	}
	pl, columns, err := Compile(m, r.profile, o.env)
	if err != nil {
		r.err = err
		return r
	}
	r.columns = columns
	sink := finding.SinkFunc(func(f finding.Finding) error { r.findings = append(r.findings, f); return nil })
	for _, b := range list {
		if err := pl.Apply(b, sink, func(row *Row) error {
			kept := *row
			kept.Records = nil
			for _, rec := range row.Records {
				rec.Values = slices.Clone(rec.Values)
				for i, v := range rec.Values {
					own := *v
					rec.Values[i] = &own
				}
				cols := make([][]int, len(rec.Columns))
				for i, c := range rec.Columns {
					cols[i] = append([]int(nil), c...)
				}
				rec.Columns = cols
				kept.Records = append(kept.Records, rec)
			}
			r.rows = append(r.rows, kept)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	return r
}
