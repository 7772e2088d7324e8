package ods

import (
	"context"
	"strings"

	"sheetlift/importers/source"
)

// marks gathers what a sheet shows beside its cells.
type marks struct {
	source.Marks
	hidden bool           // the row being read is
	rows   int            // how often it is given
	known  map[string]int // validation to its place in Lists
}

// Marks gives them.
func (r *reader) Marks(context.Context) source.Marks {
	m := r.marks.Marks
	m.Colours = true
	return m
}

func (m *marks) merge(col, row, columns, rows int) {
	if len(m.Merged) < source.MarksKept {
		m.Merged = append(m.Merged, source.Range{FirstCol: col, FirstRow: row, LastCol: col + max(columns, 1) - 1, LastRow: row + max(rows, 1) - 1})
	}
}

// valid notes the cells of a validation; those of one row after the other become one range.
func (m *marks) valid(name string, lists map[string]source.List, at source.Range) {
	l, ok := lists[name]
	if !ok {
		return
	}
	i, known := m.known[name]
	if !known {
		if len(m.Lists) >= source.MarksKept {
			return
		}
		if m.known == nil {
			m.known = map[string]int{}
		}
		i = len(m.Lists)
		m.known[name] = i
		m.Lists = append(m.Lists, l)
	}
	ranges := m.Lists[i].Ranges
	for k := max(0, len(ranges)-16); k < len(ranges); k++ {
		if g := &ranges[k]; g.FirstCol == at.FirstCol && g.LastCol == at.LastCol && g.LastRow == at.FirstRow-1 {
			g.LastRow = at.LastRow
			return
		}
	}
	if len(ranges) < source.MarksKept {
		m.Lists[i].Ranges = append(ranges, at)
	}
}

// listOf reads the condition of a validation (ODF 1.2 part 1, 19.613): of:cell-content-is-in-list("a";"b"), or cells in brackets.
func listOf(condition string) (l source.List, ok bool) {
	_, inner, ok := strings.Cut(condition, "cell-content-is-in-list(")
	if !ok {
		return l, false
	}
	inner = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(inner), ")"))
	if !strings.HasPrefix(inner, `"`) {
		return cellsOf(inner), true
	}
	for inner != "" && len(l.Values) < source.ListKept {
		rest, found := strings.CutPrefix(inner, `"`)
		end := 0
		for found {
			n := strings.IndexByte(rest[end:], '"')
			if n < 0 {
				found = false
				break
			}
			if end += n; !strings.HasPrefix(rest[end+1:], `"`) {
				break
			}
			end += 2 // two quotes are one
		}
		if !found {
			return source.List{Opaque: true}, true
		}
		if v := strings.TrimSpace(strings.ReplaceAll(rest[:end], `""`, `"`)); v != "" {
			l.Values = append(l.Values, v)
		}
		inner = strings.TrimLeft(rest[end+1:], "; ")
	}
	return l, true
}

// cellsOf reads [$'A sheet'.$A$1:.$A$3], with or without brackets.
func cellsOf(ref string) source.List {
	ref = strings.TrimSuffix(strings.TrimPrefix(ref, "["), "]")
	first, last, two := strings.Cut(ref, ":")
	dot := strings.LastIndexByte(first, '.')
	if dot < 0 {
		return source.List{Opaque: true}
	}
	sheet, cells := strings.TrimPrefix(first[:dot], "$"), first[dot+1:]
	if two {
		cells += ":" + last[strings.LastIndexByte(last, '.')+1:]
	}
	if inner, quoted := strings.CutPrefix(sheet, "'"); quoted {
		sheet = strings.ReplaceAll(strings.TrimSuffix(inner, "'"), "''", "'")
	}
	at, ok := source.ParseRange(cells)
	if !ok {
		return source.List{Opaque: true}
	}
	return source.List{Refers: true, Sheet: sheet, Cells: at}
}
