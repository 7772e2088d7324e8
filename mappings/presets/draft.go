package presets

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"sheetlift/importers"
	"sheetlift/importers/source"
	"sheetlift/mappings"
	"sheetlift/mappings/suggest"
	"sheetlift/pipeline/finding"
)

// certain are fields of a known layout that need no confirmation: they say who is meant and prove nothing about what was said.
var certain = []string{"external_id", "subject_id", "email", "phone", "device_id", "status_text", "requester_name", "language", "jurisdiction", "note", "details"}

// Draft writes the mapping of the sheet as the preset knows it.
func (f *Found) Draft(ctx *suggest.Context) *suggest.Draft {
	p, l := f.Preset, f.look
	d := &suggest.Draft{
		Name: ctx.Name, Preset: p.Name, Sheet: l.Sheet, HeaderRow: l.HeaderRow,
		Head: []string{"Drafted from the preset " + p.Name + ": " + p.Title + ".", f.Evidence + ".", "What its rows can prove: " + p.Proves},
	}
	if mappings.LooksPersonal(d.Sheet) {
		d.Sheet = "" // batch.yaml says which sheet it is
	}
	used := map[string]bool{}
	for _, s := range p.Skip {
		cond, keep, _ := f.condition(&s.Condition, used)
		if !keep || s.Class != "" && s.Class != f.class {
			continue
		}
		var why []string
		col := f.roles[s.Column.Header]
		if s.Seen {
			rows := f.look.Holding(col, s.In)
			if rows == 0 {
				continue
			}
			why = append(why, fmt.Sprintf("%s: %d of %s such a word", f.look.Say(col), rows, finding.Count(f.look.Rows, "row holds", "rows hold")))
		}
		f.skipped[col] = append(f.skipped[col], s.In...)
		d.Skips = append(d.Skips, suggest.Skip{Skip: mappings.Skip{Condition: cond, Reason: s.Reason, Confirm: true}, Why: append(why, s.Evidence)})
	}
	d.Skips = append(d.Skips, l.Totals()...)
	for i := range p.Records {
		if r, ok := f.record(&p.Records[i], ctx, used, false); ok {
			d.Records = append(d.Records, r)
		}
	}
	if len(d.Records) == 0 { // nothing in the sheet says yes or no: ask for it at the first record
		r, _ := f.record(&p.Records[0], ctx, used, true)
		d.Records = append(d.Records, r)
	}
	reads := func(col int) bool { return used[source.Letters(col)] }
	if email, ok := f.roles["email"]; ok && f.asks() {
		for _, col := range d.Addresses(l, ctx, email, reads) {
			used[source.Letters(col)] = true
		}
	}
	for i := range l.Columns {
		if !used[source.Letters(i)] && l.Columns[i].Header != "" {
			left := strings.TrimPrefix(l.Say(i), "column ")
			switch {
			case l.Answers(i) && l.MayOptOut(i):
				d.Head = append(d.Head, "Attention: "+l.Say(i)+" seems to answer about consent, and the preset does not know it: it sounds like an opt-out, and where it is one, a yes in it counts; add a record for it.")
			case l.Answers(i):
				d.Head = append(d.Head, "Attention: "+l.Say(i)+" seems to answer about consent, and the preset does not know it: where it does, a no in it counts; add a record for it.")
			case l.MayOptOut(i) && f.asks() && l.Columns[i].Filled > 0 && !f.Preset.documents(l.Columns[i].Header):
				d.Head = append(d.Head, "Attention: "+l.Say(i)+" sounds like an opt-out, and no record is drafted from it: if it says who must not be contacted, map it as a suppression or a consent that is withdrawn.")
			case l.Opposes(i) && f.asks():
				d.Head = append(d.Head, "Attention: "+l.Say(i)+" holds words that speak against consent, and the preset does not know it: where it says who must not be contacted, add a record for it.")
			case l.Flagged(i) && f.asks():
				d.Head = append(d.Head, "Attention: "+l.Say(i)+" speaks of addresses that must not be used by its header, and no record is drafted from it: if it does, map it as a suppression.")
			}
			d.Left = append(d.Left, left)
		}
	}
	if d.Entity() == "consent" {
		d.Head = append(d.Head, d.Remarks(l)...)
	}
	d.UnreadOptOuts(l, reads)
	d.Tables(l, f.second, f.beside, d.Entity(), ctx)
	return d
}

// documents reports whether the layout that the preset knows has a column of this header.
func (p *Preset) documents(header string) bool {
	for _, headers := range p.Columns {
		if slices.ContainsFunc(headers, func(h string) bool { return loose(h) == loose(header) }) {
			return true
		}
	}
	return false
}

// asks reports whether the preset's rows are about consent.
func (f *Found) asks() bool {
	return slices.ContainsFunc(f.Preset.Records, func(r record) bool { return (r.Entity == "consent" || r.Entity == "suppression") && f.gives(&r) })
}

// instead is the role that stands in for a field's own; "" if there is none.
func (f *Found) instead(spec *fieldSpec) string {
	for _, role := range spec.Else {
		if f.has(role) {
			return role
		}
	}
	return ""
}

func (f *Found) has(role string) bool {
	_, ok := f.roles[role]
	return ok
}

// column resolves a role of the preset.
func (f *Found) column(role string, used map[string]bool) (mappings.Column, bool) {
	i, ok := f.roles[role]
	if !ok {
		return mappings.Column{}, false
	}
	used[source.Letters(i)] = true
	return f.look.Name(i), true
}

// condition resolves a condition. keep is false where it holds without the column; possible is false where it can't hold.
func (f *Found) condition(c *mappings.Condition, used map[string]bool) (out mappings.Condition, keep, possible bool) {
	out = *c
	col, ok := f.column(c.Column.Header, used)
	if !ok {
		return out, false, c.Blank || len(c.NotIn) > 0 || c.NotMatches != ""
	}
	out.Column = col
	return out, true, true
}

func (f *Found) conditions(list mappings.Conditions, used map[string]bool) (out []mappings.Condition, possible bool) {
	for i := range list {
		c, keep, can := f.condition(&list[i], used)
		if !can {
			return nil, false
		}
		if keep {
			out = append(out, c)
		}
	}
	return out, true
}

// record drafts one record; ok is false where the sheet can't give it. With force it is drafted anyway, and what is missing is
// asked for.
func (f *Found) record(r *record, ctx *suggest.Context, used map[string]bool, force bool) (out suggest.Record, ok bool) {
	if !force {
		if !f.gives(r) {
			return out, false
		}
	}
	when, possible := f.conditions(r.When, used)
	if !possible && !force {
		return out, false
	}
	e := importers.ByName(r.Entity)
	out = suggest.Record{Entity: r.Entity, When: when, History: r.History, Confirm: true, Why: []string{r.Evidence}}
	there := map[string]bool{}
	for i := range e.Fields {
		name := e.Fields[i].Name
		spec, declared := r.Fields[name]
		if !declared {
			continue
		}
		if field, ok := f.field(r, &e.Fields[i], &spec, ctx, used); ok {
			out.Fields = append(out.Fields, field)
			there[name] = true
		}
	}
	f.key(r, &out, there)
	for _, name := range out.Key {
		if i := e.Field(name); i >= 0 && !there[name] {
			ask := "which column tells these rows apart? Or put other fields into the key"
			if spec, declared := r.Fields[name]; declared && len(spec.From) > 0 {
				ask = "no column is called " + f.wanted(&spec) + ": " + ask
			}
			out.Fields = append(out.Fields, suggest.Field{Name: name, Confirm: true, Asks: []suggest.Ask{{Key: "from", Text: ask}}})
		}
	}
	f.look.DeclareDays(&out)
	return out, true
}

// key chooses the first of the preset's keys that the rows prove. Where they prove none, the first whose fields are all there is drafted,
// with what narrows it down.
func (f *Found) key(r *record, out *suggest.Record, there map[string]bool) {
	at := map[string][]int{}
	for name, spec := range r.Fields {
		for _, c := range spec.From {
			if i, ok := f.roles[c.Header]; ok && there[name] {
				at[name] = append(at[name], i)
			}
		}
		if role := f.instead(&spec); role != "" && there[name] && len(at[name]) == 0 {
			at[name] = []int{f.roles[role]}
		}
	}
	columns := func(key []string) (cols []int) {
		for _, name := range key {
			cols = append(cols, at[name]...)
		}
		return cols
	}
	var whole [][]string
	for _, key := range r.Keys {
		out.Key = key
		if !slices.ContainsFunc(key, func(name string) bool { return !there[name] }) {
			whole = append(whole, key)
		}
	}
	if len(whole) == 0 {
		return
	}
	if out.Key = whole[0]; r.History || f.look.Rows == 0 {
		return
	}
	for _, key := range append(whole, whole[0]) { // the first again where none is proven
		narrower, why := f.look.Narrow(r.Entity, key, at)
		if out.Key = narrower; f.look.Unique(columns(narrower)...) {
			if why != "" {
				out.Why = append(out.Why, "key: "+why)
			}
			return
		}
	}
	if _, why := f.look.Narrow(r.Entity, whole[0], at); why != "" {
		out.Why = append(out.Why, "key: "+why)
	}
}

// gives reports whether the sheet has the columns of a record, and the file the name.
func (f *Found) gives(r *record) bool {
	return (len(r.Classes) == 0 || slices.Contains(r.Classes, cmpClass(f.class))) &&
		!slices.ContainsFunc(r.Needs, func(role string) bool { return !f.has(role) }) && !slices.ContainsFunc(r.Without, f.has)
}

// cmpClass names files whose name says nothing.
func cmpClass(class string) string {
	if class == "" {
		return "unknown"
	}
	return class
}

func (f *Found) field(r *record, e *importers.Field, spec *fieldSpec, ctx *suggest.Context, used map[string]bool) (suggest.Field, bool) {
	field := suggest.Field{Name: e.Name, Spec: spec.FieldSpec, Confirm: !slices.Contains(certain, e.Name)}
	field.Spec.From = nil
	var at []int
	for _, c := range spec.From {
		if col, ok := f.column(c.Header, used); ok {
			field.Spec.From = append(field.Spec.From, col)
			at = append(at, f.roles[c.Header])
		}
	}
	if role := f.instead(spec); role != "" && len(at) == 0 {
		if col, ok := f.column(role, used); ok {
			field.Spec.From = append(field.Spec.From, col)
			at = append(at, f.roles[role])
			field.Why = append(field.Why, "no column of its own holds it")
		}
	}
	if spec.Notice && !ctx.Notices {
		return field, false // a row that points to a notice which is not imported would be rejected
	}
	when, possible := f.conditions(spec.When, used)
	if field.Spec.When = when; !possible {
		return field, false
	}
	for i := range spec.When {
		if role := spec.When[i].Column.Header; !f.has(role) {
			field.Why = append(field.Why, "there is no column "+f.wantedRole(role)+" to tell apart where it does not count")
		}
	}
	switch {
	case spec.Purpose:
		index := -1
		if len(at) > 0 {
			index = at[0]
		}
		p := ctx.PurposeField(f.look, index, f.about(), f.look.File, f.look.Sheet)
		if spec.Evidence != "" {
			p.Why = append(p.Why, spec.Evidence)
		}
		return p, true
	case spec.Const != nil:
		ctx.State(&field, r.Entity, *spec.Const)
	case len(spec.From) == 0 && spec.Ask != "":
		ctx.State(&field, r.Entity, "")
		field.Asks = append(field.Asks, suggest.Ask{Key: "const", Text: spec.Ask})
	case len(at) == 0 && spec.Absent != "":
		field.Spec = mappings.FieldSpec{}
		ctx.State(&field, r.Entity, spec.Absent)
		field.Why = append(field.Why, "no column says; "+spec.Absent+" is the reading that loses nothing")
		return field, true
	case len(at) == 0 && (spec.Ask != "" || e.Required):
		ask := spec.Ask
		if ask == "" {
			ask = "no column of this export says it: which column is it, or export again with " + f.wanted(spec)
		}
		field.Spec.Polarity, field.Spec.Enum = spec.Polarity, spec.Enum
		field.Asks = append(field.Asks, suggest.Ask{Key: "from", Text: ask})
	case len(at) == 0:
		return field, false
	}
	if len(field.Spec.From) < 2 {
		field.Spec.First = false
		field.Spec.Join = nil
	}
	for _, i := range at {
		field.Why = append(field.Why, f.says(i, e.Type))
	}
	if len(at) > 0 && (e.Type == importers.Date || e.Type == importers.DateTime) && len(spec.Format) == 0 {
		f.look.Date(&field, at[0])
	}
	if spec.Evidence != "" {
		field.Why = append(field.Why, spec.Evidence)
	}
	if len(at) > 0 && len(spec.Enum) > 0 && r.Entity != "consent" && r.Entity != "suppression" {
		f.look.Complete(&field, at[0], f.skipped[at[0]]) // what a case or an activity is called is no answer of anybody
	}
	return field, true
}

// about are the words that a fitting purpose has; without any of its own, a preset is that of a system that sends mailings.
func (f *Found) about() []string {
	if len(f.Preset.About) > 0 {
		return f.Preset.About
	}
	return suggest.Marketing
}

// says counts what a column holds.
func (f *Found) says(i int, typ importers.Type) string {
	c, rows := f.look.Of(i), f.look.Rows
	s := f.look.Say(i)
	switch {
	case rows == 0:
		return s
	case typ == importers.Email:
		return fmt.Sprintf("%s: %d of %s an e-mail address", s, c.Emails, finding.Count(rows, "row holds", "rows hold"))
	}
	return s + ": filled in " + strconv.Itoa(c.Filled) + " of " + finding.Count(rows, "row", "rows")
}

// wanted names the headers that would hold a field.
func (f *Found) wanted(spec *fieldSpec) string {
	var list []string
	for _, c := range spec.From {
		list = append(list, f.wantedRole(c.Header))
	}
	if len(list) == 0 {
		return "it"
	}
	return strings.Join(list, " or ")
}

func (f *Found) wantedRole(role string) string {
	if headers := f.Preset.Columns[role]; len(headers) > 0 {
		role = headers[0]
	}
	return strconv.Quote(role)
}
