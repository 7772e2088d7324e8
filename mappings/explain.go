package mappings

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"sheetlift/importers"
	"sheetlift/importers/source"
)

// Explanation says of each column what a plan does with it, and counts what came of it. It holds no value of a row.
type Explanation struct {
	Read, Accepted, Rejected, Skipped int // rows
	Columns                           []ExplainedColumn

	bySpec  [][][]int // spec, field of it, column of that field → index into Columns
	byConst [][]int   // spec, field of it → index into Columns, or -1
	plain   map[int]int
}

// ExplainedColumn is one column and one field it gives: In = Out + Rejected + Null + Left. A column that gives several fields
// comes several times; a constant has no column.
type ExplainedColumn struct {
	Column   string // letters; empty for a constant
	Name     string // header, by position when it looks like a personal value
	Record   int    // number of the record in the mapping, from 1; 0 for a column that is not mapped
	Field    string // entity.field
	How      string // how the cell is read, in words
	Key      bool   // the field is part of the record's key
	In       int    // cells that hold something
	Out      int    // of them, those that became the value of a record, or a part of it
	Rejected int    // those that could not be read
	Null     int    // declared null tokens
	Left     int    // those of rows that were skipped, or rejected for another cell, or give no such record
}

// Explain begins the explanation of a plan.
func (pl *Plan) Explain() *Explanation {
	x := &Explanation{plain: map[int]int{}}
	mapped := map[int]bool{}
	for n, s := range pl.specs {
		var fields [][]int
		var consts []int
		for j := range s.fields {
			f, r := &s.fields[j], s.readers[j]
			c := ExplainedColumn{Record: n + 1, Field: f.path, Key: slices.Contains(s.key, f.index), How: r.how()}
			var at []int
			constant := -1
			if len(r.cols) == 0 {
				constant = len(x.Columns)
				x.Columns = append(x.Columns, c)
			}
			for _, col := range r.cols {
				mapped[col] = true
				c.Column, c.Name = source.Letters(col), pl.columnName(col)
				at = append(at, len(x.Columns))
				x.Columns = append(x.Columns, c)
			}
			fields, consts = append(fields, at), append(consts, constant)
		}
		x.bySpec, x.byConst = append(x.bySpec, fields), append(x.byConst, consts)
	}
	for i := range pl.profile.Columns {
		if col := columnIndex(pl.profile.Columns[i].Letter); !mapped[col] {
			x.plain[col] = len(x.Columns)
			x.Columns = append(x.Columns, ExplainedColumn{Column: source.Letters(col), Name: pl.columnName(col), How: "not mapped"})
		}
	}
	return x
}

func (pl *Plan) columnName(col int) string {
	if col < len(pl.profile.Header) && pl.profile.Header[col] != "" {
		return pl.profile.Header[col]
	}
	return "column " + source.Letters(col)
}

// Count takes the rows of a block into an explanation, as Apply would judge them.
func (pl *Plan) Count(b *source.Block, x *Explanation) {
	pl.begin()
	for i := range b.Rows() {
		if b.RowNum[i] <= pl.headerRow || blankRow(b, i) {
			continue
		}
		pl.judge(b, i)
		x.Read++
		switch pl.row.Verdict {
		case Accepted:
			x.Accepted++
		case Rejected:
			x.Rejected++
		default:
			x.Skipped++
		}
		for n, s := range pl.specs {
			given := slices.IndexFunc(pl.row.Records, func(r RecordOut) bool { return r.Spec == n })
			for j := range s.fields {
				if at := x.byConst[n][j]; at >= 0 {
					if given >= 0 && pl.row.Records[given].Values[s.fields[j].index].Set {
						x.Columns[at].In++
						x.Columns[at].Out++
					}
					continue
				}
				for k, col := range s.readers[j].cols {
					if b.Cell(col, i).Kind == source.Empty {
						continue
					}
					c := &x.Columns[x.bySpec[n][j][k]]
					c.In++
					switch out := s.readers[j].read(b, i); {
					case given >= 0 && slices.Contains(pl.row.Records[given].Columns[s.fields[j].index], col):
						c.Out++
					case pl.row.Verdict == Rejected && s.applies(b, i) && out.bad.rule != "" && out.bad.col == col:
						c.Rejected++
					case given >= 0 && out.null:
						c.Null++
					default:
						c.Left++
					}
				}
			}
		}
		for col, at := range x.plain {
			if b.Cell(col, i).Kind != source.Empty {
				x.Columns[at].In++
				x.Columns[at].Left++
			}
		}
	}
}

// how says in words how a field is read.
func (r *fieldReader) how() string {
	f := r.p
	if f.constant != nil {
		return "constant"
	}
	words := []string{string(f.typ)}
	if len(f.from) > 1 {
		if f.joins() {
			words = append(words, "joined of several columns")
		} else {
			words = append(words, "the first column that is not blank")
		}
	}
	if f.isDate() {
		var formats []string
		for _, l := range f.layouts {
			formats = append(formats, l.source)
		}
		if f.iso {
			formats = append(formats, "iso8601")
		}
		if f.serial {
			formats = append(formats, "serial")
		}
		switch {
		case f.declared:
			words = append(words, "declared as "+strings.Join(formats, ", "))
		case len(r.orders) > 0 && r.orders[0] == dayFirst:
			words = append(words, "day first, as the column proves")
		case len(r.orders) > 0 && r.orders[0] == monthFirst:
			words = append(words, "month first, as the column proves")
		}
		if f.typ == importers.DateTime {
			if r.zone == nil {
				words = append(words, "no zone")
			} else {
				words = append(words, "zone "+r.zone.name)
			}
		}
	}
	if f.region != "" {
		words = append(words, "region "+f.region)
	}
	if len(f.words) > 0 {
		terms := map[string]int{}
		for _, w := range f.words {
			term := w.term
			if w.noAnswer {
				term = "no answer"
			} else if f.typ == importers.Bool {
				term = fmt.Sprint(w.value == 1)
			}
			terms[term]++
		}
		var list []string
		for _, term := range slices.Sorted(maps.Keys(terms)) {
			list = append(list, fmt.Sprintf("%s (%d)", term, terms[term]))
		}
		words = append(words, "words for "+strings.Join(list, ", "))
	}
	if n := len(f.nulls); n > 0 {
		words = append(words, fmt.Sprintf("null tokens (%d)", n))
	}
	for _, n := range []struct {
		on   bool
		word string
	}{{f.norm.trim, "trim"}, {f.norm.nfc, "nfc"}, {f.norm.collapse, "collapse"}, {f.norm.lower, "lower"}, {f.norm.upper, "upper"}} {
		if n.on {
			words = append(words, n.word)
		}
	}
	if f.rules != nil {
		words = append(words, "rules")
	}
	return strings.Join(words, "; ")
}
