package pipeline

import (
	"slices"

	"sheetlift/importers"
	"sheetlift/importers/register"
)

// A row that speaks against consents and names nobody opposes nothing, which is shown. Under the key of a record that names somebody it was
// meant for that one: taken as it is, it would pass for an answer that was heard.

const (
	namelessRefusal = "subject.unnamed"
	subjectRemoved  = "subject.removed"
)

// nameless decides about a record that speaks against consents and names nobody, by what the register holds under its key.
func (d *decider) nameless(x *identified, out *decision) {
	if len(x.keys) > 0 || !speaks(&x.Record) {
		return
	}
	if len(d.facts.kept[x.recordUID]) > 0 { // the batch said so before that record was taken out
		out.rule, out.field = subjectRemoved, decidingField(x.Entity)
		return
	}
	if _, held := d.facts.held[x.recordUID]; held || d.facts.heldRecords[x.recordUID] {
		list, err := d.stored(x.Entity, x.recordID())
		if err != nil {
			out.err = err
			return
		}
		if slices.ContainsFunc(list, func(st *register.Stored) bool { return len(importers.SubjectKeys(&st.Record, st.System)) > 0 }) {
			out.rule, out.field = subjectRemoved, decidingField(x.Entity)
			return
		}
	}
	out.notes = append(out.notes, note{rule: namelessRefusal, field: decidingField(x.Entity)})
}

// namelessHere is the same by what the snapshot has under the key, which the survey does not know yet. A row with another record that names
// somebody may oppose consents by that one, and was taken to stand; it is only shown.
func (d *decider) namelessHere(x *identified, out *decision, row []identified) {
	g := d.facts.keys[x.recordUID]
	if g == nil || !g.named || !speaks(&x.Record) || slices.ContainsFunc(row, func(x identified) bool { return len(x.keys) > 0 }) {
		return
	}
	out.rule, out.field = subjectRemoved, decidingField(x.Entity)
	out.notes = slices.DeleteFunc(out.notes, func(n note) bool { return n.rule == namelessRefusal })
}
