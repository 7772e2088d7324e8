package pipeline

import (
	"slices"

	"sheetlift/importers"
)

// A purpose that is in no list is a slip, as a status is that the mapping does not know; but that shows only beside the lists, after the mapping
// has read the row. What such a row says no to may be any purpose, and until it names one of a list, it does not say what it means.

// purposes are those that are known while nothing is taken in, in the form in which Opposes compares them.
type purposes map[string]bool

func (f *facts) purposes() purposes {
	p := purposes{}
	for _, m := range []map[string]bool{f.configs["purpose"], f.pending["purpose"]} {
		for code := range m {
			p[importers.FoldPurpose(code)] = true
		}
	}
	return p
}

// read gives the purpose that a rejected row says no to, as far as it can be read: "" if it is none that is known. One that is written in another
// case is no other purpose there.
func (p purposes) read(code string) string {
	if code != "" && !p[importers.FoldPurpose(code)] {
		return ""
	}
	return code
}

// widen leaves out of what a rejected row says no to what can't be read of it, and reports whether that is anything.
func (p purposes) widen(a *against) bool {
	if a.event == nil || a.aside != nil || !a.rejected && a.foreign == nil && len(a.records) == 0 {
		return false
	}
	s := &a.event.Scope
	was := s.Purpose
	s.Purpose = p.read(was)
	return s.Purpose != was
}

// dangles reports whether a record points to a config that is neither there nor given by its own row, so that the row is rejected again when it
// comes back. It is for surveys: configs are surveyed first.
func (d *decider) dangles(x *identified, row []identified) bool {
	if i := d.pointless(x); i >= 0 {
		f := &x.Entity.Fields[i]
		return d.facts.heldState(x) != heldSame && !slices.ContainsFunc(row, func(of identified) bool {
			return of.Entity.Name == f.Ref && configKey(&of.Record) == x.Values[i].Text
		})
	}
	if !x.Entity.Event {
		return false
	}
	at := importers.Consent()
	named := x.Values[at.NoticeID].Set && x.Values[at.NoticeVersion].Set || x.Values[at.NoticeDigest].Set
	return named && d.notice(x) == nil && d.facts.heldState(x) != heldSame && !slices.ContainsFunc(row, func(of identified) bool { return of.Entity.Name == "notice" })
}
