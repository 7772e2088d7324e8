package suggest

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"sheetlift/importers"
	"sheetlift/importers/source"
	"sheetlift/mappings"
)

// firstTable gives the columns up to a blank one where contact points stand on both sides of it, and what stands beyond it: a row of the sheet is then a
// row of two tables, which speak of different people. beside says so.
func (l *Look) firstTable() (first, second *Look, beside string) {
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
		return &cut, &rest, "Attention: contact points stand on both sides of the blank " + l.Say(gap) + ", so the sheet holds two tables side by side. The records of the second, from " + l.Say(at) + " on, stand below those of the first: check whom they speak of. A row that is rejected is so for both: better give each table a sheet or a source of its own."
	}
	return l, nil, ""
}

// beside adds the records of a second table of the sheet. Where nothing says what it is, that is asked: it may list people who must not be contacted.
func (d *Draft) beside(second *Look, ctx *Context) {
	var list []Record
	kinds := slices.DeleteFunc(second.Kinds(), func(k Kind) bool { return k.Entity != "suppression" && k.Entity != "consent" })
	if len(kinds) > 0 {
		other := suggest(second, ctx, &kinds[0])
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

// table is a further table below the first.
type table struct {
	row    int // of its header
	optOut bool
}

// watch notes a row after blank ones that is the header of another table than the first.
func (l *Look) watch(b *source.Block, i int) {
	row, last := b.RowNum[i], l.last
	if l.last = row; last == 0 || row <= last+1 || len(l.after) > 0 {
		return
	}
	cells, known, other := 0, 0, false
	t := table{row: row}
	for col := range b.Cols {
		cell := b.Cols[col][i]
		raw := bytes.TrimSpace(b.Bytes(cell))
		if cell.Kind == source.Empty || len(raw) == 0 {
			continue
		}
		text := string(raw)
		asks := mappings.OptOutOf(text) != mappings.NoOptOut
		if cell.Kind != source.Text || len(text) > 60 || valueWord(text) && !asks || mappings.NumberOrDate(text) || strings.Contains(text, "@") {
			return
		}
		cells++
		if asks || soundsLikeHeader(text) || strings.EqualFold(text, l.Of(col).header()) {
			known++
		}
		t.optOut = t.optOut || asks
		other = other || plain(text) != plain(l.Of(col).header())
	}
	if other && cells > 1 && known > 1 {
		l.after = append(l.after, t)
	}
}

func (c *Column) header() string {
	if c == nil {
		return ""
	}
	return c.Header
}

// below says that another table begins below the first, and keeps the draft from being a mapping: its rows would be read as those of the first, a yes to an
// opt-out as one to a consent.
func (d *Draft) below(l *Look) {
	for _, t := range l.after {
		sounds := ""
		if t.optOut {
			sounds = ", and sounds like that of a list of opt-outs"
		}
		what := fmt.Sprintf("row %d, after blank ones, looks like the header of a second table%s", t.row, sounds)
		d.Head = append(d.Head, "Attention: "+what+". Its rows would be read as those of the first, and a yes to an opt-out as one to a consent: put the rows from there on into a sheet or file of their own before the export is frozen, and draft anew.")
		for i := range d.Records {
			r := &d.Records[i]
			r.Why = append(r.Why, what+": put its rows into a sheet or file of their own, and draft anew; or remove the condition in: [] if they belong to this table")
			r.When = append(r.When, mappings.Condition{Column: l.Name(0), In: mappings.Strings{}})
		}
	}
}
