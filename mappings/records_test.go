package mappings

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"sheetlift/importers"
	"sheetlift/pipeline/finding"
)

// three consents and a suppression in one row.
const manyRecords = `
version: 1
mapping: shop
records:
  - entity: consent
    key: [external_id, channel]
    fields:
      external_id: Id
      email: Mail
      channel: { const: email, stated_by: { name: Owner, at: 2026-10-01 } }
      status: { from: ByMail, enum: { yes: [yes], no: [no] }, polarity: normal }
  - entity: consent
    key: [external_id, channel]
    fields:
      external_id: Id
      email: Mail
      channel: { const: sms, stated_by: { name: Owner, at: 2026-10-01 } }
      status: { from: BySMS, enum: { yes: [yes], no: [no] }, polarity: normal }
      lawful_basis: { from: Basis }
  - entity: suppression
    key: [email]
    when: { column: Blocked, equals: x }
    fields:
      email: Mail
      channel: { const: any }
      reason: { const: opt_out }
`

func TestOneRowGivesSeveralRecords(t *testing.T) {
	r := run(t, manyRecords, sheet(
		"Id | Mail | ByMail | BySMS | Basis | Blocked",
		"1 | a@example.com | yes | no | | x",
		"2 | b@example.com | | yes | consent | ",
		"3 | c@example.com | yes | yes | contract | ",
		"4 | d@example.com | | | | ",
		"5 | e@example.com | | yes | contract | ",
		"6 | f@example.com | yes | perhaps | | x",
		"7 | not an address | yes | yes | | ",
	), runOptions{env: Env{Token: func(kind, value string) string { return kind + "=" + value }}})
	if r.err != nil {
		t.Fatal(r.err)
	}
	for row, want := range map[int]struct {
		verdict Verdict
		rule    string
		records []string
	}{
		2: {Accepted, "", []string{"consent 1|email given", "consent 1|sms refused", "suppression a@example.com "}},
		3: {Accepted, "", []string{"consent 2|sms given"}},
		4: {Accepted, "", []string{"consent 3|email given"}},
		5: {Skipped, "consent.no_answer", nil},
		6: {Skipped, "consent.not_consent", nil},
		7: {Rejected, "enum.unmapped", nil},
		8: {Rejected, "email.invalid", nil},
	} {
		got := r.row(t, row)
		var records []string
		for i := range got.Records {
			records = append(records, got.Records[i].Entity.Name+" "+got.Records[i].Key+" "+got.Records[i].Get("status").Text)
		}
		if got.Verdict != want.verdict || got.Rule != want.rule || !reflect.DeepEqual(records, want.records) {
			t.Errorf("row %d: %s by %q, %q, want %s by %q, %q", row, got.Verdict, got.Rule, records, want.verdict, want.rule, want.records)
		}
	}
	if specs := []int{r.row(t, 2).Records[0].Spec, r.row(t, 2).Records[2].Spec}; !reflect.DeepEqual(specs, []int{0, 2}) {
		t.Errorf("specs %v", specs)
	}
	for _, f := range r.findings {
		switch {
		case f.Row == 7 && f.SubjectToken != "email=f@example.com":
			t.Errorf("row 7 has the token %q", f.SubjectToken)
		case f.Row == 8 && (f.SubjectToken != "" || len(r.rules(8)) != 1):
			t.Errorf("row 8 has the token %q and %v: one cell is one finding", f.SubjectToken, r.rules(8))
		}
	}
}

func TestPolarity(t *testing.T) {
	for _, tc := range []struct{ enum, word, want string }{
		{"{ yes: [Y], no: [N] }, polarity: normal", "Y", "given"},
		{"{ yes: [Y], no: [N] }, polarity: normal", "N", "refused"},
		{"{ yes: [Y], no: [N] }, polarity: inverted", "Y", "withdrawn"},
		{"{ yes: [Y], no: [N] }, polarity: inverted", "N", "consent.no_answer"},
		{"{ yes: [Y], withdrawn: [gone], given: [back] }, polarity: inverted", "gone", "withdrawn"},
		{"{ yes: [Y], withdrawn: [gone], given: [back] }, polarity: inverted", "back", "given"}, // a term means what it says
		{"{ given: [Y] }", "given", "enum.unmapped"},
	} {
		r := run(t, one("consent", "email", "email: Mail", "status: { from: S, enum: "+tc.enum+" }"), sheet("Mail | S", "a@example.com | "+tc.word), runOptions{})
		got := r.row(t, 2)
		result := got.Rule
		if got.Verdict == Accepted {
			result = got.Records[0].Get("status").Text
		}
		if result != tc.want {
			t.Errorf("%s, %s: %s, want %s", tc.enum, tc.word, result, tc.want)
		}
	}
	// A bool column may be inverted as well, and true and false need no declaration.
	for field, want := range map[string]int64{
		"identity_verified: V":                                                     1,
		"identity_verified: { from: V, polarity: inverted }":                       0,
		"identity_verified: { from: V, enum: { no: [TRUE] }, polarity: normal }":   0,
		"identity_verified: { from: V, enum: { no: [TRUE] }, polarity: inverted }": 1,
	} {
		r := run(t, caseOf(field), append(sheet("I | T | S | R | V"), []cell{txt("1"), txt("access"), txt("open"), txt("2026-03-01"), boolean("TRUE")}), runOptions{})
		if got := r.row(t, 2); got.Verdict != Accepted || got.Records[0].Get("identity_verified").Int != want {
			t.Errorf("%s: %s %v", field, got.Verdict, got.Records)
		}
	}
}

// The columns behind each value let the consent rule see that one cell answers two questions.
func TestColumnsBehindValues(t *testing.T) {
	r := run(t, withField("notice_id: X", "proof_ref: { from: [Z, X] }", "occurred_at: { from: [X, Z], format: \"YYYY-MM-DD HH:mm\" }"),
		sheet("Mail | S | X | Z", "a@example.com | Y | 2026-03-01 | 10:15"), runOptions{})
	rec := r.row(t, 2).Records[0]
	for field, want := range map[string][]int{"notice_id": {2}, "proof_ref": {3}, "occurred_at": {2, 3}, "email": {0}, "note": nil} {
		if got := rec.Columns[rec.Entity.Field(field)]; !reflect.DeepEqual(got, want) {
			t.Errorf("%s comes from %v, want %v", field, got, want)
		}
	}
}

func TestKeys(t *testing.T) {
	rows := sheet("I | T | S | R")
	rows = append(rows, []cell{txt(`a\b|c`), txt("access"), txt("open"), txt("2026-03-01T10:15:30.25+02:00")}, []cell{txt("e\u0301"), txt("access"), txt("open"), txt("1969-12-31T23:59:59Z")})
	r := run(t, one("case", "external_id, received_at", "external_id: I", "request_type: T", "status: S", "received_at: { from: R, format: iso8601 }"), rows, runOptions{})
	for row, want := range map[int]string{2: `a\\b\|c|2026-03-01T08:15:30.250000Z`, 3: "é|1969-12-31T23:59:59Z"} {
		if got := r.row(t, row).Records[0].Key; got != want {
			t.Errorf("key %q, want %q", got, want)
		}
	}
}

// Const values are marked as stated, in the mapping's zone.
func TestConst(t *testing.T) {
	r := run(t, "zone: Europe/Berlin\n"+withField("occurred_at: { const: 2026-03-01T10:15, stated_by: { name: A, at: 2026-10-01 } }"), sheet("Mail | S", "a@example.com | Y"), runOptions{})
	want := importers.Value{Set: true, Origin: importers.Stated, Int: 1772356500e6, Raw: "2026-03-01T10:15", Zone: "Europe/Berlin", Precision: "minute"}
	if got := *r.row(t, 2).Records[0].Get("occurred_at"); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestApplyStopsAtErrors(t *testing.T) {
	m, err := Parse("m.yaml", []byte(withField()))
	if err != nil {
		t.Fatal(err)
	}
	list := blocks(sheet("Mail | S", "a@example.com | bad", "b@example.com | Y"), 10, false)
	p, err := NewProfiler(m, Env{})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Add(list[0]); err != nil {
		t.Fatal(err)
	}
	prof, err := p.Done()
	if err != nil {
		t.Fatal(err)
	}
	pl, _, err := Compile(m, prof, Env{})
	if err != nil {
		t.Fatal(err)
	}
	full := errors.New("full")
	emitted := 0
	emit := func(*Row) error { emitted++; return nil }
	if err := pl.Apply(list[0], finding.SinkFunc(func(finding.Finding) error { return full }), emit); !errors.Is(err, full) || emitted != 0 {
		t.Errorf("a full sink: %v after %d rows", err, emitted)
	}
	quiet := finding.SinkFunc(func(finding.Finding) error { return nil })
	if err := pl.Apply(list[0], quiet, func(*Row) error { return full }); !errors.Is(err, full) {
		t.Errorf("a failing emit: %v", err)
	}
	if len(pl.Digest()) != 64 || strings.Trim(pl.Digest(), "0123456789abcdef") != "" {
		t.Errorf("digest %q", pl.Digest())
	}
}

// A plan's digest follows mapping, evidence, zone, system and date system, and nothing else.
func TestPlanDigest(t *testing.T) {
	m, err := Parse("m.yaml", []byte(withField()))
	if err != nil {
		t.Fatal(err)
	}
	digest := func(e Env, lines ...string) string {
		p, err := NewProfiler(m, e)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range blocks(sheet(lines...), 10, false) {
			if err := p.Add(b); err != nil {
				t.Fatal(err)
			}
		}
		prof, err := p.Done()
		if err != nil {
			t.Fatal(err)
		}
		pl, _, err := Compile(m, prof, e)
		if err != nil {
			t.Fatal(err)
		}
		return pl.Digest()
	}
	base := digest(Env{System: "crm", Zone: "UTC"}, "Mail | S", "a@example.com | Y")
	if digest(Env{System: "crm", Zone: "UTC", Source: "s", File: "f", FileDigest: "d", Token: func(string, string) string { return "" }}, "Mail | S", "a@example.com | Y") != base {
		t.Error("the place changes the digest")
	}
	for name, other := range map[string]string{
		"zone":   digest(Env{System: "crm", Zone: "Asia/Kolkata"}, "Mail | S", "a@example.com | Y"),
		"system": digest(Env{System: "erp", Zone: "UTC"}, "Mail | S", "a@example.com | Y"),
		"1904":   digest(Env{System: "crm", Zone: "UTC", Date1904: true}, "Mail | S", "a@example.com | Y"),
		"rows":   digest(Env{System: "crm", Zone: "UTC"}, "Mail | S", "a@example.com | Y", "b@example.com | Y"),
		"sheet":  digest(Env{System: "crm", Zone: "UTC", Sheet: "T"}, "Mail | S", "a@example.com | Y"),
	} {
		if other == base {
			t.Errorf("another %s gives the same digest", name)
		}
	}
}
