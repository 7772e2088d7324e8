package suggest

import (
	"slices"

	"sheetlift/importers"
	"sheetlift/mappings"
	"sheetlift/pipeline/finding"
)

// cleaned are words for an address that bounced which are said of data and rooms too, and so of an address only beside other words of a state.
var cleaned = sameWords(cleanedWords)

const cleanedWords = "cleaned|bereinigt|nettoyé|nettoyée|limpiado|limpiada|ripulito|ripulita|limpo|limpa|opgeschoond"

// Addresses drafts suppressions for the columns of a known export that the preset does not read and that say of the address in column email that it must not be
// used: bounced, or cleaned. used tells the columns that are read; those that it reads come back. Where a consent is stated for all rows and such a column has a
// state of each, only rows in which it says nothing else are stated to be one.
func (d *Draft) Addresses(l *Look, ctx *Context, email int, used func(col int) bool) (read []int) {
	if !slices.ContainsFunc(d.Records, func(r Record) bool { return r.mayGive() }) {
		return nil // the rows are of people who left, or of such addresses
	}
	s := &suggestion{reading: &reading{entity: "consent", at: map[string]int{"email": email}, used: map[int]bool{}}, signs: l.signs(), look: l, ctx: ctx, draft: d}
	for col := range l.Columns {
		s.used[col] = used(col) || l.optsOut(col) != mappings.NoOptOut // those are asked about
	}
	s.answers = slices.DeleteFunc(s.answers, func(col int) bool { return slices.ContainsFunc(l.Columns[col].sortedWords(), s.ofContact) })
	list := slices.Concat(s.reasons(), s.flags())
	others := slices.ContainsFunc(d.Records, func(r Record) bool { return r.Entity == "suppression" })
	for i := range list {
		if others || len(list) > 1 {
			list[i].keyedBy("reason")
		}
		order(&list[i])
	}
	for col := range l.Columns {
		if name := l.Name(col); slices.ContainsFunc(list, func(r Record) bool { return r.When[0].Column == name }) {
			read = append(read, col)
			d.notStated(l, col)
		}
	}
	d.Records = append(d.Records, list...)
	return read
}

// notStated keeps consents that are stated for all rows from those of which a column of states says something else.
func (d *Draft) notStated(l *Look, col int) {
	if !l.answers(col) {
		return
	}
	c := &l.Columns[col]
	var other mappings.Strings
	rows := 0
	for _, word := range c.sortedWords() {
		says, answer := term(answers, word)
		if reason, _ := meaning("reason", word); answer && says != importers.StatusGiven && says != "yes" || !answer && slices.Contains(ofContact, reason) && shown("reason", word) {
			other = append(other, c.As(word))
			rows += c.Words[word]
		}
	}
	for i := range d.Records {
		r := &d.Records[i]
		if status := r.field("status"); len(other) > 0 && r.mayGive() && len(status.Spec.From) == 0 {
			r.When = append(r.When, mappings.Condition{Column: l.Name(col), NotIn: other})
			r.Why = append(r.Why, "unless "+l.Say(col)+" says something else of the row, as in "+finding.Count(rows, "row", "rows"))
		}
	}
}
