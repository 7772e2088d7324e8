package main

import (
	"fmt"
	"slices"
	"strings"
)

// tally is what must become of the rows of one source. The names are those of the dry-run's JSON.
type tally struct {
	Source   string         `json:"source"`
	Rows     rowTally       `json:"rows"`
	Rejected map[string]int `json:"rejected_by"`
	Skipped  map[string]int `json:"skipped_by"`
	Planted  []planted      `json:"planted"`
}

type rowTally struct {
	Read     int `json:"read"`
	Accepted int `json:"accepted"`
	Rejected int `json:"rejected"`
	Skipped  int `json:"skipped"`
}

// planted is one row that must not be accepted, or of which a finding must tell.
type planted struct {
	Row     int    `json:"row"` // as the spreadsheet program shows it; record number of a text file
	Rule    string `json:"rule"`
	Outcome string `json:"outcome"` // accepted, rejected, skipped
}

type entityTally struct {
	Records          int            `json:"records"`
	Receipts         int            `json:"receipts"`
	LegacyAssertions int            `json:"legacy_assertions"`
	ByConfidence     map[string]int `json:"by_confidence"`
	Missing          map[string]int `json:"missing"`
}

type caseTally struct {
	AsOf    string `json:"as_of"`
	Open    int    `json:"open"`
	Overdue int    `json:"overdue"`
	DueSoon int    `json:"due_soon"`
}

type expectation struct {
	Sources  []*tally                `json:"sources"`
	Entities map[string]*entityTally `json:"entities"`
	Cases    caseTally               `json:"cases"`
	Findings map[string]int          `json:"findings"` // of rules about rows that the sample plants on purpose
}

func (d *data) expected() expectation {
	return expectation{Sources: d.tallies, Entities: d.records, Cases: d.cases, Findings: d.findings}
}

func (d *data) source(name string) *tally {
	t := &tally{Source: name, Rejected: map[string]int{}, Skipped: map[string]int{}, Planted: []planted{}}
	d.tallies = append(d.tallies, t)
	return t
}

// accept counts an accepted row and the findings that tell of it.
func (d *data) accept(t *tally, row int, rules ...string) {
	t.Rows.Read++
	t.Rows.Accepted++
	for _, rule := range rules {
		t.Planted = append(t.Planted, planted{row, rule, "accepted"})
		d.found(rule)
	}
}

func (d *data) reject(t *tally, row int, rule string) {
	t.Rows.Read++
	t.Rows.Rejected++
	t.Rejected[rule]++
	t.Planted = append(t.Planted, planted{row, rule, "rejected"})
	d.found(rule)
}

func (d *data) skip(t *tally, row int, rule string) {
	t.Rows.Read++
	t.Rows.Skipped++
	t.Skipped[rule]++
	t.Planted = append(t.Planted, planted{row, rule, "skipped"})
	d.found(rule)
}

func (d *data) found(rule string) {
	if d.findings == nil {
		d.findings = map[string]int{}
	}
	d.findings[rule]++
}

func (d *data) entity(name string) *entityTally {
	if d.records == nil {
		d.records = map[string]*entityTally{}
	}
	t := d.records[name]
	if t == nil {
		t = &entityTally{ByConfidence: map[string]int{}, Missing: map[string]int{}}
		d.records[name] = t
	}
	return t
}

// record counts one record of an entity other than consent.
func (d *data) record(entity string) { d.entity(entity).Records++ }

// consent counts one consent record by the questions that its row leaves open.
func (d *data) consent(missing string) {
	t := d.entity("consent")
	t.Records++
	open := strings.Fields(missing)
	for _, q := range open {
		if !slices.Contains([]string{"subject", "purpose", "notice", "actor", "proof", "time"}, q) {
			panic(fmt.Sprintf("there is no question %q", q))
		}
		t.Missing[q]++
	}
	if len(open) == 0 {
		t.Receipts++
	} else {
		t.LegacyAssertions++
	}
	has := func(q string) bool { return !slices.Contains(open, q) }
	switch {
	case len(open) >= 5 || !has("subject"):
		t.ByConfidence["none"]++
	case has("purpose") && has("proof") && has("time"):
		t.ByConfidence["strong"]++
	case has("purpose") && (has("proof") || has("time")):
		t.ByConfidence["partial"]++
	default:
		t.ByConfidence["weak"]++
	}
}
