package suggest

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"sheetlift/importers"
	"sheetlift/importers/source"
	"sheetlift/mappings"
)

// FirstTable gives the columns up to a blank one where contact points stand on both sides of it, and what stands beyond it: a row of the sheet is then a
// row of two tables, which speak of different people. beside says so.
func (l *Look) FirstTable() (first, second *Look, beside string) {
	reached := func(c Column) bool {
		return c.Emails*2 > c.Filled && c.Filled > 0 || c.Phones*2 > c.Filled && c.Filled > 0
	}
	for gap := range l.Columns {
		if c := &l.Columns[gap]; c.Header != "" || c.Filled > 0 || !slices.ContainsFunc(l.Columns[:gap], reached) || !slices.ContainsFunc(l.Columns[gap:], reached) {
			continue
		}
		cut, rest := *l, *l
		cut.Columns, cut.beyond, cut.shown = l.Columns[:gap:gap], l.Columns[gap:], nil
		rest.Columns, rest.shown, rest.Rows, rest.after = slices.Clone(l.Columns), make([]string, len(l.Columns)), 0, nil // named by their letters
		for i := range rest.Columns {
			if i < gap {
				rest.Columns[i] = Column{Index: i}
			}
			rest.Rows = max(rest.Rows, rest.Columns[i].Filled)
		}
		at := gap + slices.IndexFunc(l.Columns[gap:], func(c Column) bool { return c.Filled > 0 })
		return &cut, &rest, "Attention: contact points stand on both sides of the blank " + l.Say(gap) + ", so the sheet holds two tables side by side, the second from " + l.Say(at) + " on."
	}
	return l, nil, ""
}

// sideBySide is what to do with two tables side by side.
const sideBySide = "A row that is rejected is so for both: better give each table a sheet or a source of its own."

// Tables adds to a draft of rows of entity what other tables stand in its sheet: below the first, beside it, or under a title of their own. l is
// the first one, as FirstTable gave it with the others.
func (d *Draft) Tables(l, second *Look, beside, entity string, ctx *Context) {
	ours := len(d.Records)
	if second != nil {
		d.Head = append(d.Head, beside+" The records of the second stand below those of the first: check whom they speak of. "+sideBySide)
		d.beside(second, ctx)
		d.under(second, d.Records[ours:], slices.IndexFunc(second.Columns, func(c Column) bool { return c.Filled > 0 }), len(second.Columns), false)
	}
	d.under(l, d.Records[:ours], 0, len(l.Columns), second == nil)
	d.named(l)
	d.below(l, entity)
}

// named asks about consents in a sheet or file that is called as a list of opt-outs is, or as one of people who left or have not confirmed: what they joined by
// may still stand there.
func (d *Draft) named(l *Look) {
	file := strings.TrimSuffix(l.File, filepath.Ext(l.File))
	what, which := "the name of the file or sheet sounds like that of a list of opt-outs", "left"
	if !l.named("suppression") && mappings.OptOutOf(l.Sheet) != mappings.SureOptOut && mappings.OptOutOf(file) != mappings.SureOptOut {
		if !mappings.FormerOrPending(l.Sheet) && !mappings.FormerOrPending(file) && !mappings.PutAway(l.Sheet) && !mappings.PutAway(file) {
			return
		}
		what, which = "the name of the file or sheet sounds like that of a list of people who left, are out, or have not confirmed", "left, and leave them out if they have not confirmed"
	}
	called := ""
	if s := strings.TrimSpace(l.Sheet); s != "" && !mappings.LooksPersonal(s) {
		called = " (" + strconv.Quote(s) + ")"
	}
	told := false
	for i := range d.Records {
		if r := &d.Records[i]; r.mayGive() {
			if asks := r.field("status").Asks; len(asks) > 0 {
				asks[0].Text += ". And " + what + called + ": then hardly everybody said yes"
			}
			if r.Why = append(r.Why, what+": map its rows as suppressions, or remove the condition in: [] if a yes in it is a consent all the same"); !told {
				d.Head = append(d.Head, "Attention: "+what+", and its answers would be consents: map its rows as suppressions, or as consents that are withdrawn, if these people "+which+".")
			}
			r.When = append(r.When, mappings.Condition{Column: l.Name(0), In: mappings.Strings{}})
			told = true
		}
	}
}

// beside adds the records of a second table of the sheet. Where nothing says what it is, that is asked: it may list people who must not be contacted.
func (d *Draft) beside(second *Look, ctx *Context) {
	var list []Record
	kinds := slices.DeleteFunc(second.Kinds(), func(k Kind) bool { return k.Entity != "suppression" && k.Entity != "consent" })
	if len(kinds) > 0 {
		inner := *second
		inner.over = nil // asked about where the tables are told apart
		other := suggest(&inner, ctx, &kinds[0])
		list = other.Records
		d.Head = append(d.Head, other.Head...)
	} else {
		list = []Record{second.unknownTable(ctx)}
	}
	for _, r := range list {
		for _, f := range r.Fields {
			if slices.Contains(r.Key, f.Name) && len(f.Spec.From) == 1 {
				r.When = append(r.When, mappings.Condition{Column: f.Spec.From[0], NotBlank: true})
			}
		}
		r.Why = append([]string{"of the second table beside the first"}, r.Why...)
		d.Records = append(d.Records, r)
	}
}

// unknownTable asks what a table of contact points is.
func (l *Look) unknownTable(ctx *Context) Record {
	s := &suggestion{look: l, ctx: ctx, reading: l.read("suppression"), signs: l.signs(), draft: &Draft{}}
	r := Record{Entity: "suppression", Confirm: true, Why: []string{"nothing says what its rows are"}}
	e := importers.ByName("suppression")
	channel := Field{Name: "channel", Confirm: true}
	s.ctx.State(&channel, "suppression", "any")
	reason := Field{Name: "reason", Confirm: true}
	reason.ask("const", "opt_out or objection, if the people in this table must not be contacted. If it is something else, remove this record, and give the table a source of its own")
	r.Fields = []Field{channel, reason}
	for _, name := range []string{"email", "phone"} {
		if col, ok := s.at[name]; ok {
			r.Fields = append(r.Fields, s.field(&e.Fields[e.Field(name)], col))
			if len(r.Key) == 0 {
				r.Key = []string{name, "channel"}
			}
		}
	}
	order(&r)
	return r
}

// overhead notes the titles above the header that sound like a list of opt-outs.
func (l *Look) overhead(b *source.Block, i int) {
	if b.RowNum[i] >= max(l.HeaderRow, l.FirstRow) || len(l.over) >= titlesKept {
		return
	}
	for col := range b.Cols {
		text := strings.TrimSpace(string(b.Bytes(b.Cols[col][i])))
		t := table{row: b.RowNum[i], col: col}
		if b.Cols[col][i].Kind == source.Text && text != "" && len(text) <= 100 && !strings.Contains(text, "@") && t.says(text, false) && t.asks != mappings.NoOptOut && !t.erased {
			l.over = append(l.over, t)
		}
	}
}

// under asks about the consents of a table whose title sounds like a list of opt-outs: a yes below it may be one to an opt-out. Columns from first up to end
// are the table's; where it is the only one, its title is named.
func (d *Draft) under(l *Look, records []Record, first, end int, alone bool) {
	if !slices.ContainsFunc(records, func(r Record) bool { return r.Entity == "consent" }) {
		return
	}
	what := d.overhead(l, first, end)
	if what == "" {
		return
	}
	for i := range records {
		if r := &records[i]; !alone && r.Entity == "consent" {
			r.Why = append(r.Why, what+": map its rows as suppressions, or remove the condition in: [] if they are consents")
			r.When = append(r.When, mappings.Condition{Column: l.Name(first), In: mappings.Strings{}})
		}
	}
}

// overhead names the title above the columns from first up to end that sounds like a list of opt-outs, and says where it stands; "" if none does.
func (d *Draft) overhead(l *Look, first, end int) string {
	at := slices.IndexFunc(l.over, func(t table) bool { return t.col >= first && t.col < end })
	if at < 0 {
		return ""
	}
	what := fmt.Sprintf("the title in column %s of row %d sounds like that of a list of opt-outs", source.Letters(l.over[at].col), l.over[at].row)
	d.Head = append(d.Head, "Attention: "+what+". If what stands below is one, a yes in it is none to a consent: map its rows as suppressions.")
	return what
}
