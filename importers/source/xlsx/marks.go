package xlsx

import (
	"context"
	"strings"

	"sheetlift/importers/source"
)

// Marks gives what the sheet shows beside its cells. Comments and the filters of tables lie in parts of their own, which are
// read now.
func (r *sheetReader) Marks(ctx context.Context) source.Marks {
	m := r.marks
	m.Colours = true
	a := r.book.a
	rels, err := a.relations(ctx, a.entries[r.book.workbook.sheets[r.index].part].name)
	if err != nil {
		return m
	}
	seen := map[string]bool{} // a threaded comment has a plain one for older programs, and answers
	for _, rel := range rels {
		kind := strings.ToLower(rel.kind)
		if rel.part < 0 || kind != "comments" && kind != "threadedcomment" && kind != "table" {
			continue
		}
		_ = a.walk(ctx, rel.part, func(w *walker, t token) error {
			switch {
			case t.is("comment"), t.is("threadedComment"):
				ref, _ := t.plainAttr("ref")
				if _, row, ok := parseRef([]byte(ref)); ok && !seen[ref] && len(seen) < 1<<20 {
					seen[ref] = true
					m.Comments.Add(row)
				}
			case kind == "table" && t.is("autoFilter"):
				return filter(&m, w, t)
			}
			return nil
		})
	}
	return m
}

// filter takes an autoFilter: it hides rows if it has criteria for a column.
func filter(m *source.Marks, w *walker, t token) error {
	at, ok := source.ParseRange(attrOr(t, "ref"))
	active := false
	err := w.children(t, "filterColumn", func(t token) {
		active = active || !t.empty // without criteria it only hides a button
	})
	if ok && active && !m.Filtered {
		m.Filtered, m.Filter = true, at
	}
	return err
}

// validation takes a dataValidation. Those that refer to another sheet stand in an extension, where formula and cells are
// elements of their own ([MS-XLSX] 2.4.4).
func (r *sheetReader) validation(t token) error {
	r.facts.Validations++
	kind, cells := attrOr(t, "type"), attrOr(t, "sqref")
	if t.empty {
		return nil
	}
	w := r.w
	var formula, sqref []byte
	var within *[]byte
	odd := false
	for depth := len(w.ends); len(w.ends) >= depth; {
		t, err := w.next()
		if err != nil {
			return err
		}
		switch t.kind {
		case tokStart:
			switch {
			case t.empty:
			case t.is("formula1"):
				within = &formula
			case t.is("sqref"):
				within = &sqref
			}
		case tokEnd:
			if t.is("formula1") || t.is("sqref") {
				within = nil
			}
		case tokText, tokCDATA:
			if within != nil && len(*within) < w.a.lim.CellBytes {
				if *within, err = appendToken(*within, t); err != nil {
					odd = true
				}
			}
		}
	}
	if kind != "list" || odd || len(r.marks.Lists) >= source.MarksKept {
		return nil
	}
	l := r.book.list(strings.TrimSpace(string(formula)))
	for ref := range strings.FieldsSeq(cells + " " + string(sqref)) {
		if at, ok := source.ParseRange(ref); ok && len(l.Ranges) < source.MarksKept {
			l.Ranges = append(l.Ranges, at)
		}
	}
	if l.moves.FollowsMoving(l.Ranges) {
		l.List = source.List{Ranges: l.Ranges, Opaque: true}
	}
	if len(l.Ranges) > 0 {
		r.marks.Lists = append(r.marks.Lists, l.List)
	}
	return nil
}

// list is a list before it is known whether the cells that hold its values are the same for every cell of the validation.
type list struct {
	source.List
	moves source.Moves
}

// list reads the formula of a list: "a,b,c", cells, or the name of cells.
func (b *Book) list(formula string) (l list) {
	formula = strings.TrimSpace(strings.TrimPrefix(formula, "="))
	if inner, ok := strings.CutPrefix(formula, `"`); ok {
		if inner, ok = strings.CutSuffix(inner, `"`); ok {
			l.Values = source.ListValues(strings.ReplaceAll(inner, `""`, `"`))
			return l
		}
	}
	if named, ok := b.workbook.names[strings.ToLower(formula)]; ok {
		formula = named
	}
	sheet, cells := "", formula
	if i := strings.LastIndexByte(formula, '!'); i >= 0 {
		sheet, cells = formula[:i], formula[i+1:]
		if inner, ok := strings.CutPrefix(sheet, "'"); ok {
			sheet = strings.ReplaceAll(strings.TrimSuffix(inner, "'"), "''", "'")
		}
	}
	if at, ok := source.ParseRange(cells); ok {
		return list{source.List{Refers: true, Sheet: sheet, Cells: at}, source.MovesOf(cells)}
	}
	return list{List: source.List{Opaque: true}}
}
