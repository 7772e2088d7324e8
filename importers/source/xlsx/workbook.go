package xlsx

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"unicode/utf8"

	"sheetlift/importers/source"
)

// sheetPart is one sheet of the workbook.
type sheetPart struct {
	info source.SheetInfo
	part int
}

// workbook is what workbook.xml and its relationships say.
type workbook struct {
	sheets   []sheetPart
	date1904 bool
	theme    bool
	styles   int // entry, -1 when there is none
	strings  int
	names    map[string]string // of cells, folded, to the formula that says which
}

func (a *archive) readWorkbook(ctx context.Context, part int, types contentTypes) (*workbook, error) {
	name := a.entries[part].name
	rels, err := a.relations(ctx, name)
	if err != nil {
		return nil, err
	}
	b := &workbook{styles: -1, strings: -1, names: map[string]string{}}
	byID := map[string]relation{}
	for _, r := range rels {
		byID[r.id] = r
		switch {
		case r.kind == "styles" && r.part >= 0:
			b.styles = r.part
		case r.kind == "theme" && r.part >= 0:
			b.theme = true
		case r.kind == "sharedStrings" && r.part >= 0:
			b.strings = r.part
		}
	}
	// Without the relationship a part is found by its type, as long as there is one of it only.
	if b.styles < 0 {
		b.styles = a.only(types, func(t string) bool { return strings.HasSuffix(t, "spreadsheetml.styles+xml") })
	}
	if b.strings < 0 {
		b.strings = a.only(types, func(t string) bool { return strings.HasSuffix(t, "spreadsheetml.sharedStrings+xml") })
	}
	var fault error
	err = a.walk(ctx, part, func(w *walker, t token) error {
		switch {
		case t.is("workbookPr"):
			v, _ := t.plainAttr("date1904")
			b.date1904 = xmlTrue(v)
		case t.is("definedName") && !t.empty:
			name := strings.ToLower(attrOr(t, "name"))
			t, err := w.next()
			if err == nil && t.kind == tokText && len(b.names) < source.MarksKept {
				b.names[name] = strings.TrimSpace(string(attrText(t.text)))
			}
			return err
		case t.is("sheets"):
			err := w.children(t, "sheet", func(t token) {
				if fault == nil {
					fault = a.addSheet(b, name, t, byID)
				}
			})
			return errors.Join(err, fault)
		}
		return nil
	})
	if fault != nil {
		return nil, fault
	}
	if err != nil {
		return nil, err
	}
	if len(b.sheets) == 0 {
		return nil, a.fault(source.ErrMalformed, name, "the workbook lists no sheets", remedyResave)
	}
	return b, nil
}

func (a *archive) addSheet(b *workbook, part string, t token, byID map[string]relation) error {
	s := sheetPart{part: -1}
	title, _ := t.plainAttr("name")
	if !utf8.ValidString(title) {
		return a.fault(source.ErrMalformed, part, "the name of sheet "+strconv.Itoa(len(b.sheets)+1)+" has undecodable characters", remedyResave)
	}
	s.info.Name = string(unescape([]byte(title)))
	state, _ := t.plainAttr("state")
	switch {
	case strings.EqualFold(state, "hidden"):
		s.info.Visibility = source.Hidden
	case strings.EqualFold(state, "veryHidden"):
		s.info.Visibility = source.VeryHidden
	default:
		s.info.Visibility = source.Visible
	}
	id, _ := t.attr("id")
	rel, ok := byID[id]
	if !ok || id == "" || rel.part < 0 {
		f := a.fault(source.ErrMalformed, part, "no part of the package belongs to this sheet", remedyResave)
		f.Sheet = s.info.Name
		if ok && rel.part < 0 {
			f.Message = "the part " + strconv.Quote(rel.name) + " that belongs to this sheet is missing from the package"
		}
		return f
	}
	for _, other := range b.sheets {
		if other.part == rel.part {
			f := a.fault(source.ErrMalformed, part, "this sheet and sheet "+strconv.Quote(other.info.Name)+" share one part", remedyResave)
			f.Sheet = s.info.Name
			return f
		}
	}
	s.part = rel.part
	switch strings.ToLower(rel.kind) {
	case "chartsheet":
		s.info.Kind = source.ChartSheet
	case "dialogsheet":
		s.info.Kind = source.DialogSheet
	case "xlmacrosheet", "xlintlmacrosheet":
		s.info.Kind = source.MacroSheet
	default:
		s.info.Kind = source.Worksheet
	}
	b.sheets = append(b.sheets, s)
	return nil
}

func attrOr(t token, name string) string {
	v, _ := t.plainAttr(name)
	return strings.TrimSpace(v)
}

// children calls f for the direct children of this name.
func (w *walker) children(t token, name string, f func(t token)) error {
	if t.empty {
		return nil
	}
	for depth := len(w.ends); len(w.ends) >= depth; {
		t, err := w.next()
		if err != nil {
			return err
		}
		level := len(w.ends)
		if t.empty {
			level++
		}
		if t.kind == tokStart && level == depth+1 && t.is(name) {
			f(t)
		}
	}
	return nil
}
