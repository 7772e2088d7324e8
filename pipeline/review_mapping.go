package pipeline

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"sheetlift/importers"
	"sheetlift/importers/source"
	"sheetlift/mappings"
	"sheetlift/pipeline/finding"
)

// decisions says in words what the mapping of a source decides, and who answers for what is not in the rows. Words of a mapping
// are shown as values of a finding are: none that looks like a value about a person.
func (rv *reviewer) decisions(ctx context.Context, s *Source, m *mappings.Mapping) {
	w := &wording{rv: rv, ctx: ctx, s: s, m: m}
	add := func(d Decision) {
		d.Source, d.Kind = s.Name, cmp.Or(d.Kind, "rule")
		rv.r.Decisions = append(rv.r.Decisions, d)
	}
	if s.Tolerance.Rows > 0 {
		add(Decision{What: "tolerance", How: fmt.Sprintf("up to %s: %s", finding.Count(s.Tolerance.Rows, "rejected row", "rejected rows"), s.Tolerance.Reason), By: s.Tolerance.Owner, Kind: "tolerance"})
	}
	if a := s.RetentionApproved; a != nil {
		add(Decision{What: "retention", How: "records past their retention rule come in: " + a.Reason, By: a.Owner, Kind: "tolerance"})
	}
	switch h := m.Header; {
	case h.None:
		how := "there is none; columns are named by letter"
		if h.First > 0 {
			how += fmt.Sprintf("; the list begins in row %d", h.First)
		}
		add(Decision{What: "header", How: how})
	case h.Row > 0:
		add(Decision{What: "header", How: fmt.Sprintf("row %d", h.Row)})
	case len(h.Match) > 0:
		add(Decision{What: "header", How: "the row that holds " + w.words(h.Match)})
	}
	if m.Preset != "" {
		add(Decision{What: "preset", How: m.Preset})
	}
	if zone := cmp.Or(m.Zone, s.Zone); zone != "" {
		add(Decision{What: "zone", How: "times without an offset are in " + zone})
	}
	for _, k := range m.Skip {
		add(Decision{What: "skip", How: "rows where " + w.condition(k.Condition) + " are left out: " + k.Reason, Draft: k.Confirm})
	}
	several := map[string]int{}
	for _, r := range m.Records {
		several[r.Entity]++
	}
	number := map[string]int{}
	for i := range m.Records {
		spec := &m.Records[i]
		name := spec.Entity
		if number[name]++; several[name] > 1 {
			name = fmt.Sprintf("%s (%d)", name, number[spec.Entity])
		}
		how := "told apart by " + strings.Join(spec.Key, ", ")
		if spec.History {
			how += "; repeats of a key are events"
		}
		if len(spec.When) > 0 {
			how = "a row gives one if " + w.conditions(spec.When) + "; " + how
		}
		add(Decision{Record: name, What: "record", How: how, Draft: spec.Confirm})
		e := importers.ByName(spec.Entity)
		if e == nil {
			continue
		}
		for k := range e.Fields {
			f := &e.Fields[k]
			fs, ok := spec.Fields[f.Name]
			if !ok {
				continue
			}
			d := w.field(i, f, &fs)
			d.Record, d.What = name, f.Name
			add(d)
		}
	}
}

// wording words one mapping.
type wording struct {
	rv  *reviewer
	ctx context.Context
	s   *Source
	m   *mappings.Mapping

	outlines []mappings.Outline // of the frozen sheet, if a header must not be shown
	tried    bool
}

func (w *wording) field(record int, f *importers.Field, fs *mappings.FieldSpec) Decision {
	d := Decision{Kind: "row", Draft: fs.Confirm}
	if fs.Const != nil {
		d.How = "one value for every row"
		if f.Data == importers.None && shownWord(*fs.Const) {
			d.How = fmt.Sprintf("%q for every row", *fs.Const)
		}
		d.Kind = "rule"
		if fs.StatedBy != nil {
			d.Kind, d.By, d.At = "stated", fs.StatedBy.Name, fs.StatedBy.At
		}
		return d
	}
	var from []string
	for _, c := range fs.From {
		from = append(from, w.column(c, record, f))
		w.take(c, f)
	}
	parts := []string{"from " + strings.Join(from, ", ")}
	add := func(cond bool, format string, args ...any) {
		if cond {
			parts = append(parts, fmt.Sprintf(format, args...))
		}
	}
	add(fs.First, "the first that is not blank")
	add(len(fs.When) > 0, "only if %s", w.conditions(fs.When))
	add(fs.Type != "" && fs.Type != f.Type, "read as %s", fs.Type)
	add(len(fs.Format) > 0, "written as %s", strings.Join(fs.Format, " or "))
	add(fs.Zone != "", "in %s", fs.Zone)
	add(fs.Region != "", "numbers of %s", fs.Region)
	add(fs.Decimal != "", "decimal %s", fs.Decimal)
	add(fs.Polarity == "inverted", "yes means no: an opt-out")
	for _, term := range slices.Sorted(maps.Keys(fs.Enum)) {
		add(true, "%s is %s", w.words(fs.Enum[term]), term)
	}
	add(fs.Filled != "", "any filled cell is %s", fs.Filled)
	add(len(fs.NullTokens) > 0, "no answer: %s", w.words(fs.NullTokens))
	add(fs.Digest != "", "kept as its SHA-256")
	if fs.Inferred != "" {
		d.Kind, d.By = "inferred", "inferred"
		add(true, "inferred: %s", fs.Inferred)
	}
	if fs.StatedBy != nil {
		d.By, d.At = fs.StatedBy.Name, fs.StatedBy.At
	}
	d.How = strings.Join(parts, "; ")
	return d
}

// column names a column: by its header, or by position if the header looks like a value about a person.
func (w *wording) column(c mappings.Column, record int, f *importers.Field) string {
	if c.Header == "" || !mappings.LooksPersonal(c.Header) {
		return c.String()
	}
	if !w.tried && w.rv.fr != nil {
		w.tried = true
		if header, err := w.rv.readHeader(w.ctx, w.rv.fr, w.s, w.m); err == nil {
			w.outlines = w.m.Outlines(header)
		}
	}
	if f != nil && record < len(w.outlines) {
		if at := w.outlines[record].Fields[f.Name]; len(at) == 1 {
			return "column " + source.Letters(at[0])
		}
	}
	return "a column whose header is not shown"
}

// take notes that a field comes from a column, for the column's profile.
func (w *wording) take(c mappings.Column, f *importers.Field) {
	if w.rv.inv == nil {
		return
	}
	for i := range w.rv.inv.Files {
		file := &w.rv.inv.Files[i]
		for k := range file.Sheets {
			sheet := &file.Sheets[k]
			if sheet.Source != w.s.Name {
				continue
			}
			nth := 0
			for n := range sheet.Columns {
				col := &sheet.Columns[n]
				found := c.Letter == col.Column || c.Index == n+1
				if c.Header != "" && strings.EqualFold(strings.TrimSpace(c.Header), strings.TrimSpace(col.Name)) {
					nth++
					found = nth == max(c.Nth, 1)
				}
				key := [3]string{file.File, sheet.Sheet, col.Column}
				if found && !slices.Contains(w.rv.taken[key], f.Name) {
					w.rv.taken[key] = append(w.rv.taken[key], f.Name)
				}
			}
		}
	}
}

func (w *wording) conditions(list mappings.Conditions) string {
	var out []string
	for _, c := range list {
		out = append(out, w.condition(c))
	}
	return strings.Join(out, " and ")
}

func (w *wording) condition(c mappings.Condition) string {
	col := w.column(c.Column, 0, nil)
	pattern := func(p string) string {
		if shownWord(p) {
			return fmt.Sprintf("%q", p)
		}
		return "a pattern"
	}
	switch {
	case c.Equals != nil:
		return col + " is " + w.words([]string{*c.Equals})
	case len(c.In) > 0:
		return col + " is one of " + w.words(c.In)
	case len(c.NotIn) > 0:
		return col + " is none of " + w.words(c.NotIn)
	case c.Matches != "":
		return col + " matches " + pattern(c.Matches)
	case c.NotMatches != "":
		return col + " does not match " + pattern(c.NotMatches)
	case c.Blank:
		return col + " is blank"
	}
	return col + " is filled"
}

// words lists words of a mapping.
func (w *wording) words(list []string) string {
	var out []string
	hidden := 0
	for i, word := range list {
		if i < finding.QuoteMax && shownWord(word) {
			out = append(out, fmt.Sprintf("%q", word))
		} else {
			hidden++
		}
	}
	if hidden > 0 {
		out = append(out, fmt.Sprintf("%d not shown", hidden))
	}
	return strings.Join(out, ", ")
}

func shownWord(word string) bool { return finding.Quote(word) && !mappings.LooksPersonal(word) }
