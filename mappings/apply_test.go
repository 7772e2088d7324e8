package mappings

import (
	"reflect"
	"testing"

	"sheetlift/importers"
)

const consents = `
version: 1
mapping: shop-consents
header: { match: [Entry, Newsletter] }
zone: Europe/Berlin
skip:
  - { column: Status, equals: test, reason: sample rows }
records:
  - entity: consent
    key: [external_id]
    history: true
    fields:
      external_id: Entry
      email: { from: E-mail }
      phone: { from: Mobile, region: DE }
      purpose: { from: Topic, enum: { newsletter: [News, NL] } }
      channel: { const: email, stated_by: { name: "CRM team lead", at: 2026-10-01 } }
      occurred_at: { from: When, format: ["DD.MM.YYYY HH:mm", iso8601] }
      status: { from: Newsletter, enum: { yes: [Y, ja, "✓"], no: [N, nein] }, polarity: normal, null_tokens: ["n/a"] }
`

func TestApplyPlainSheet(t *testing.T) {
	r := run(t, consents, sheet(
		"Consent register of the shop",
		"Entry | Status | E-mail | Mobile | Topic | When | Newsletter | Sort",
		"e1 | live | a@example.com | 0151 23456789 | News | 01.03.2026 10:15 | Y | 1",
		"e2 | TEST | b@example.com | | NL | 01.03.2026 10:15 | Y | 2",
		"e3 | live | c@example.com | | NL | 2026-03-01T10:15:30+05:30 | nein | 3",
		"e4 | live | d@example.com | | NL | | n/a | 4",
		"e5 | live | not an address | 12 | Nws | 31.02.2026 10:15 | maybe | 5",
		"e1 | live | f@example.com | | NL | 02.03.2026 10:15 | ja | 6",
	), runOptions{env: Env{Token: func(kind, value string) string { return kind + ":" + value }}})
	if r.err != nil {
		t.Fatal(r.err)
	}
	for row, want := range map[int]struct {
		verdict Verdict
		rule    string
		rules   []string
	}{
		3: {Accepted, "", nil},
		4: {Skipped, "row.declared_skip", []string{"row.declared_skip"}},
		5: {Accepted, "", nil},
		6: {Skipped, "consent.no_answer", []string{"consent.no_answer"}},
		7: {Rejected, "email.invalid", []string{"email.invalid", "phone.invalid", "enum.unmapped", "enum.unmapped", "date.invalid"}},
		8: {Accepted, "", nil},
	} {
		got := r.row(t, row)
		if got.Verdict != want.verdict || got.Rule != want.rule || !reflect.DeepEqual(r.rules(row), want.rules) {
			t.Errorf("row %d: %s %q %v, want %s %q %v", row, got.Verdict, got.Rule, r.rules(row), want.verdict, want.rule, want.rules)
		}
	}
	if got := r.row(t, 4).Reason; got != "sample rows" {
		t.Errorf("reason %q", got)
	}
	rec := r.row(t, 3).Records[0]
	for field, want := range map[string]importers.Value{
		"external_id": {Set: true, Text: "e1"},
		"email":       {Set: true, Text: "a@example.com"},
		"phone":       {Set: true, Text: "+4915123456789"},
		"purpose":     {Set: true, Text: "newsletter"},
		"channel":     {Set: true, Text: "email", Origin: importers.Stated},
		"status":      {Set: true, Text: "given"},
		"occurred_at": {Set: true, Int: 1772356500e6, Raw: "01.03.2026 10:15", Zone: "Europe/Berlin", Precision: "minute"},
		"notice_id":   {},
	} {
		if got := *rec.Get(field); got != want {
			t.Errorf("%s: %+v, want %+v", field, got, want)
		}
	}
	if rec.Key != "e1" || !rec.KeyDup || rec.KeyRows != 2 || !rec.History {
		t.Errorf("key %q dup %v rows %d history %v", rec.Key, rec.KeyDup, rec.KeyRows, rec.History)
	}
	if got := rec.Columns[rec.Entity.Field("status")]; !reflect.DeepEqual(got, []int{6}) {
		t.Errorf("status comes from columns %v", got)
	}
	other := r.row(t, 5).Records[0]
	if got := *other.Get("occurred_at"); got.Zone != "+05:30" || got.Int != (1772360130-19800)*1e6 || got.Precision != "second" {
		t.Errorf("explicit offset: %+v", got)
	}
	if got := other.Get("status").Text; got != "refused" {
		t.Errorf("nein is %q", got)
	}
	if got := r.columnRules(); !reflect.DeepEqual(got, []string{"header.rows_above", "column.unmapped", "enum.gaps", "enum.gaps"}) {
		t.Errorf("column findings %v", got)
	}
	for _, f := range r.findings {
		if f.Row == 7 && f.Rule == "phone.invalid" {
			if f.Cell != "D7" || f.Column != "D" || f.Field != "consent.phone" || f.File != "exports/x.xlsx" || f.Source != "src" || f.SubjectToken != "" {
				t.Errorf("place: %+v", f)
			}
		}
	}
}
