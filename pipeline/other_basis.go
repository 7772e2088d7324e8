package pipeline

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"sheetlift/importers"
	"sheetlift/mappings"
	"sheetlift/pipeline/finding"
)

// A row that rests on another lawful basis is no consent, and a no in it takes none back. But it may be an objection, and it stands beside a
// consent that is given: whoever answers for the register has to know.

const otherBasis = "consent.refusal_on_other_basis"

// setAside is a no on another lawful basis, and the given consents beside it.
type setAside struct {
	spoken
	basis    string
	consents []string
	first    string // where the first of the snapshot's stands; empty if none is of the snapshot
	held     int    // of them, those that the register holds
}

// newestNumber is a number above that of every earlier snapshot.
const newestNumber = math.MaxInt32

// knowAside takes in what a row of the survey says on another lawful basis.
func (d *dryRunner) knowAside(sh *sheet, row *mappings.Row) {
	if len(row.Aside) == 0 { // as of nearly all
		return
	}
	d.aside(sh.src, row, fmt.Sprintf("%s row %d", sh.src.Name, row.Num), spoken{number: newestNumber, file: sh.src.File, sheet: sh.env.Sheet, row: row.Num, line: row.Line})
}

func (d *dryRunner) aside(src *Source, row *mappings.Row, of string, at spoken) {
	for k := range row.Aside {
		rec := &row.Aside[k]
		x := &setAside{spoken: newSpoken("", src, rec, at), basis: rec.Get("lawful_basis").Text}
		d.facts.know(&rec.Record, fmt.Sprintf("%s aside %d", of, k), src.System, src.obtained, standing{aside: x})
	}
}

// mayRestElsewhere reports whether dry-runs of a source passed over rows or records that rest on another lawful basis.
func mayRestElsewhere(s *Source, m *mappings.Mapping, decided []recordedDryRun) bool {
	if !slices.ContainsFunc(m.Records, func(r mappings.RecordSpec) bool {
		_, mapped := r.Fields["lawful_basis"]
		return mapped && r.Entity == "consent"
	}) {
		return false
	}
	return len(m.Records) > 1 || slices.ContainsFunc(decided, func(x recordedDryRun) bool {
		return slices.ContainsFunc(x.dry.Sources, func(of DryRunSource) bool { return of.Source == s.Name && of.Skipped["consent.not_consent"] > 0 })
	})
}

// beside notes a given consent that would not stand if the no were one against consent; where is empty if the register holds it.
func (x *setAside) beside(id, where string) {
	if slices.Contains(x.consents, id) {
		return
	}
	x.consents = append(x.consents, id)
	switch {
	case where == "":
		x.held++
	case x.first == "":
		x.first = where
	}
}

// besides lists what stands beside a consent that is not overruled.
func (f *facts) besides(about []*against, given importers.Event, keys []importers.Key) (list []*setAside) {
	for _, a := range about {
		if a.aside != nil && f.overrules(a, given, keys) {
			list = append(list, a.aside)
		}
	}
	return list
}

// tellAside reports the noes on other bases, once all rows are decided, those of the newest snapshot first. One that stands in an older
// snapshot says nothing new of consents that a row of a newer one was named for: it is the same entry, exported again.
func (d *dryRunner) tellAside() error {
	var list []*against
	for _, a := range d.facts.against {
		if a.aside != nil && len(a.aside.consents) > 0 {
			list = append(list, a)
		}
	}
	slices.SortStableFunc(list, func(a, b *against) int { return b.aside.number - a.aside.number })
	told := map[string]int{} // by consent: the number of the snapshot whose row was named
	for _, a := range list {
		x := a.aside
		if !slices.ContainsFunc(x.consents, func(id string) bool { n, ok := told[id]; return !ok || n == x.number }) {
			continue
		}
		for _, id := range x.consents {
			told[id] = max(told[id], x.number)
		}
		if err := d.rec.Add(d.asideFinding(x, a.keys)); err != nil {
			return err
		}
	}
	return nil
}

func (d *dryRunner) asideFinding(x *setAside, keys []importers.Key) finding.Finding {
	slices.Sort(x.consents)
	x.first = strings.TrimSpace(x.first)
	f := x.finding(otherBasis)
	f.Records = finding.IDs(strings.Join(x.consents, " "))
	if len(keys) > 0 {
		f.SubjectToken = d.token(keys[0].Kind, keys[0].Value)
	}
	in := len(x.consents) - x.held
	var beside []string
	if in > 0 {
		beside = append(beside, finding.Count(in, "consent", "consents")+" of the same subject "+oneOf(in, "comes", "come")+" in ("+x.first+oneOf(in, "", " is the first")+")")
	}
	if x.held > 0 {
		beside = append(beside, finding.Count(x.held, "consent", "consents")+" of it "+oneOf(x.held, "stands", "stand")+" as given in the register")
	}
	f.Message = fmt.Sprintf("The row says no and rests on another lawful basis (%s), so it takes no consent back; for the same purpose %s.", strings.ReplaceAll(x.basis, "_", " "), strings.Join(beside, ", and "))
	if x.basis == "legitimate_interest" || x.basis == "public_task" {
		f.Message += " On this basis a no is in effect an objection (GDPR Article 21)."
	}
	if x.snapshot != "" {
		f.Message += fmt.Sprintf(" The row is one of snapshot %s and has not come back.", x.snapshot)
	}
	return f
}

func oneOf(n int, one, several string) string {
	if n == 1 {
		return one
	}
	return several
}
