package main

import (
	"fmt"
	"strings"
)

// The consent register: a sheet that three departments kept for eight years.

// registerHeader is the row above the entries. Name and Int. are mapped to nothing.
var registerHeader = []any{
	"Entry ID", "Customer No", "Name", "E-mail", "Phone", "Purpose", "Channel", "Consent", "Consent date", "Notice", "Version",
	"Recorded by", "Role", "Method", "Proof type", "Proof ref", "Legal basis", "Source", "Language", "Do not call", "Remarks", "Int.",
}

// headerRow: a title, an export line, a legend and a blank row stand above it.
const headerRow = 5

// entry is one row of the register and what must become of it.
type entry struct {
	who                       person
	id                        string // given to the entry when the rows are in order
	sameID                    *entry // the id is that of another entry
	customer, email, phone    any    // nil: the person's own
	purpose, channel, consent string
	date                      any
	notice, version           string
	actor, role, method       string
	proofType                 string
	proofRef                  any
	basis, source             string
	language                  any
	doNotCall, remarks        string
	noPhone, noEntryID        bool

	repeats  *entry   // an exact copy of another entry
	outcome  string   // "" accepted, else the rule
	skipped  bool     // the rule skips the row
	missing  string   // questions left open, accepted rows
	optOut   bool     // the row also gives an opt-out from calls
	noStatus bool     // and only that
	findings []string // rules that tell of an accepted row
}

// receipt is an entry that answers all six questions: online by a double opt-in, or on paper in a branch.
func receipt(n int, purpose, channel string, d day) *entry {
	e := &entry{who: subject(n), purpose: purpose, channel: channel, consent: "Y", basis: "consent", language: "de"}
	e.date = spell(n, d)
	if n%3 == 0 {
		e.notice, e.version = "DSE-STORE", storeNotice(d)
		e.actor, e.role, e.method = branches[n%len(branches)], "branch staff of the controller", "ticked on paper"
		e.proofType, e.proofRef = "signed form", fmt.Sprintf("F7-%s-%05d", strings.ToUpper(e.actor[7:9]), 100+n)
		e.source = "Form F-7"
		return e
	}
	e.notice, e.version = "DSE-SHOP", shopNotice(d)
	e.actor, e.role, e.method = "Web shop", "system of the controller", "box ticked, link confirmed"
	e.proofType, e.proofRef = "DOI log", fmt.Sprintf("DOI-%d-%05d", d.y, 4000+n)
	e.source = "Check-out page"
	return e
}

var branches = []string{"Branch Altona", "Branch Bergedorf", "Branch Eppendorf", "Branch Wandsbek"}

func shopNotice(d day) string {
	switch s := d.serial(); {
	case s <= (day{2020, 6, 30}).serial():
		return "v1"
	case s <= (day{2022, 12, 31}).serial():
		return "v2"
	case s <= (day{2024, 12, 31}).serial():
		return "v3"
	}
	return "v4"
}

func storeNotice(d day) string {
	if d.y <= 2023 {
		return "v1"
	}
	return "v2"
}

// spell writes a day as the register's keepers did: real dates, real times, and three kinds of text.
func spell(n int, d day) any {
	switch n % 5 {
	case 0:
		return d
	case 1:
		return fmt.Sprintf("%02d.%02d.%d", d.d, d.m, d.y)
	case 2:
		return moment{d.y, d.m, d.d, 8 + n%10, 5 * (n % 12)}
	case 3:
		return fmt.Sprintf("%d-%02d-%02d", d.y, d.m, d.d)
	}
	return fmt.Sprintf("%02d.%02d.%d %02d:%02d", d.d, d.m, d.y, 8+n%10, 5*(n%12))
}

var (
	purposes = []string{"NEWSLETTER", "OFFERS", "PROFILE", "SURVEY"}
	channels = []string{"E-Mail", "E-Mail", "SMS", "Post", "E-Mail"}
	yes      = []string{"Y", "yes", "ja", "✓", "JA", "x"}
)

// on is a day between 2019 and 2026; surveys begin late enough for their retention rule.
func on(n int, purpose string) day {
	d := day{2019 + n%7, 1 + n%12, 1 + (n*7)%28}
	if purpose == "SURVEY" && d.y < 2025 {
		d.y = 2025
	}
	return d
}

func (d *data) consents() []*sheet {
	register := d.register()
	archive := d.archive()
	lists := &sheet{name: "Lists", visibility: "veryHidden", rows: [][]any{{"Consent"}, {"Y"}, {"N"}, {"n/a"}}}
	return []*sheet{register, d.newsletter(), archive, lists}
}

func (d *data) register() *sheet {
	entries := mix(d.entries())
	n := 0
	for _, e := range entries {
		if e.id == "" && e.sameID == nil && e.repeats == nil && !e.noEntryID {
			n++
			e.id = fmt.Sprintf("CR-%04d", n)
		}
	}
	for _, e := range entries {
		if e.sameID != nil {
			e.id = e.sameID.id
		}
	}
	s := &sheet{
		name: "Consent register", header: headerRow,
		rows: [][]any{
			{"Harbour Retail: consent register"},
			{"Export of 01.10.2026, internal"},
			{"Y, yes, ja, ✓ = consent given; empty = never asked"},
			{},
			registerHeader,
		},
		merge:  []string{"A1:F1"},
		widths: map[string]float64{"A": 11, "B": 20, "C": 20, "D": 32, "E": 18, "I": 18, "L": 18, "P": 20, "U": 40},
	}
	t := d.source("consents")
	for i, e := range entries {
		row := headerRow + 1 + i
		s.rows = append(s.rows, d.line(e))
		switch {
		case e.skipped:
			d.skip(t, row, e.outcome)
		case e.outcome != "":
			d.reject(t, row, e.outcome)
		default:
			d.accept(t, row, e.findings...)
			if !e.noStatus {
				d.consent(e.missing)
			}
			if e.optOut {
				d.consent("purpose notice actor proof time")
			}
		}
	}
	s.list = map[string]string{fmt.Sprintf("H%d:H%d", headerRow+1, len(s.rows)): "Y,N,n/a"}
	return s
}

// line gives the cells of an entry, and notes what in them is personal.
func (d *data) line(e *entry) []any {
	if e.repeats != nil {
		return d.line(e.repeats)
	}
	p := e.who
	customer, email, phone := any(p.customer), any(p.email), any(p.phone())
	switch { // some numbers are of the old shop and were typed as numbers, some are of the marketplace and have 18 digits
	case p.n%9 == 4:
		customer = 7700000000 + p.n
	case p.n%9 == 7:
		customer = fmt.Sprintf("27600000000%07d", 3*p.n)
	}
	if e.customer != nil {
		customer = e.customer
	}
	if e.email != nil {
		email = e.email
	}
	if e.phone != nil {
		phone = e.phone
	}
	if e.noPhone {
		phone = nil
	}
	d.tell(p)
	for _, v := range []any{customer, email, phone} {
		if n, ok := v.(raw); ok {
			d.private(strings.TrimSuffix(strings.TrimPrefix(n.inner, "<v>"), "</v>"))
		} else if n, ok := v.(padded); ok {
			d.private(fmt.Sprint(n.value), fmt.Sprintf("%0*d", n.digits, n.value))
		} else if v != nil {
			d.private(strings.TrimSpace(fmt.Sprint(v)))
		}
	}
	d.private(e.remarks)
	id := any(e.id)
	if e.noEntryID {
		id = nil
	}
	return []any{
		id, customer, p.name(), email, phone, e.purpose, e.channel, e.consent, e.date, e.notice, e.version,
		e.actor, e.role, e.method, e.proofType, e.proofRef, e.basis, e.source, e.language, e.doNotCall, e.remarks, fmt.Sprintf("int-%d", p.n%7),
	}
}

// mix spreads the entries over the sheet as years of work do, always in the same way. Copies come after what they copy.
func mix(in []*entry) []*entry {
	const step = 37 // no divisor of any number of entries we have; checked below
	out := make([]*entry, 0, len(in))
	seen := make([]bool, len(in))
	for i := range in {
		k := i * step % len(in)
		if seen[k] {
			panic("the number of entries has a common divisor with the step")
		}
		seen[k] = true
		if in[k].repeats == nil {
			out = append(out, in[k])
		}
	}
	for _, e := range in {
		if e.repeats != nil {
			out = append(out, e)
		}
	}
	return out
}

// archive is the hidden sheet of old opt-outs that no source of the batch reads: inventory must tell of it.
func (d *data) archive() *sheet {
	s := &sheet{name: "Archive 2019", visibility: "hidden", header: 1, rows: [][]any{{"E-mail", "Opt-out", "Since"}}}
	for n := 240; n < 246; n++ {
		p := subject(n)
		d.private(p.email)
		s.rows = append(s.rows, []any{p.email, "ja", day{2019, n - 239, 3}})
	}
	return s
}
