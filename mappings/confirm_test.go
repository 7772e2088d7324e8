package mappings

import (
	"errors"
	"strconv"
	"strings"
	"testing"

	"sheetlift/importers"
)

// A guess on what a record proves is refused with its line and what to check; any other guess is a warning.
func TestUnconfirmedGuessesAreRefused(t *testing.T) {
	for _, tc := range []struct {
		name, mapping string
		want          []string // line: path
	}{
		{"status", one("consent", "email", "email: Mail", "status: { from: S, enum: { given: [Y] }, confirm: true }"), []string{"8: consent.status is drafted"}},
		{"purpose, time, notice", withField("purpose: { from: X, confirm: true }", "occurred_at: { from: X, confirm: true }", "notice_id: { from: X, confirm: true }"),
			[]string{"9: consent.purpose", "10: consent.occurred_at", "11: consent.notice_id"}},
		{"actor and proof", withField("actor: { from: X, confirm: true }", "proof_ref: { from: X, confirm: true }"), []string{"9: consent.actor", "10: consent.proof_ref"}},
		{"the record", strings.Replace(withField(), "    key:", "    confirm: true\n    key:", 1), []string{"5: that such rows are records of consent"}},
		{"harmless", withField("note: { from: X, confirm: true }"), nil},
		{"confirmed", withField("purpose: { from: X }"), nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := run(t, tc.mapping, sheet("Mail | S | X", "a@example.com | Y | z"), runOptions{})
			var errs *ParseErrors
			if !errors.As(r.err, &errs) {
				if tc.want != nil || r.err != nil {
					t.Fatalf("%v, want %v", r.err, tc.want)
				}
				return
			}
			if len(errs.Faults) != len(tc.want) {
				t.Fatalf("%v, want %v", errs, tc.want)
			}
			for i, f := range errs.Faults {
				line, message, _ := strings.Cut(tc.want[i], ": ")
				if line != strconv.Itoa(f.Line) || !strings.HasPrefix(f.Message, message) || !strings.Contains(f.Remedy, "check ") || !strings.Contains(f.Remedy, "remove confirm: true") {
					t.Errorf("%d: %s | %s, want %s", f.Line, f.Message, f.Remedy, tc.want[i])
				}
			}
		})
	}
}

// The forms that presets need: several conditions, conditions of a field, the first of several times, words in one cell.
func TestPresetForms(t *testing.T) {
	const m = `
version: 1
mapping: m
preset: mailchimp
records:
  - entity: consent
    key: [email]
    when:
      - { column: Mail, not_blank: true }
      - { column: Kind, not_in: [test, sample] }
    fields:
      email: { from: Mail, normalize: [apostrophe] }
      lawful_basis: { from: Basis, split: ";", enum: { consent: [Freely given], legitimate_interest: [LI], contract: [Contract] }, null_tokens: [Not applicable] }
      status: { from: Basis, split: ";", enum: { given: [Freely given] }, null_tokens: [LI, Contract, Not applicable] }
      occurred_at: { from: [Confirmed, Opted], first: true, format: iso8601, zone: UTC, when: { column: Kind, not_matches: "^List Import" } }
`
	r := run(t, m, sheet(
		"Mail | Kind | Basis | Confirmed | Opted",
		"'a@example.com | form | Freely given | 2024-01-02 | 2024-01-01",
		"b@example.com | | LI;Freely given | | 2024-01-01",
		"c@example.com | List Import from File | freely given; Contract | 2024-01-02 | ",
		"d@example.com | TEST | Freely given | | ",
		"e@example.com | form | LI; Contract | | ",
		"f@example.com | form | Not applicable | | ",
		"g@example.com | form | Freely given; Other | | ",
		"| form | Freely given | | ",
	), runOptions{})
	if r.err != nil {
		t.Fatal(r.err)
	}
	for row, want := range map[int]struct {
		verdict    Verdict
		rule, when string
	}{
		2: {Accepted, "", "2024-01-02"},
		3: {Accepted, "", "2024-01-01"},
		4: {Accepted, "", ""},
		5: {Skipped, "row.no_record", ""},
		6: {Skipped, "consent.not_consent", ""},
		7: {Skipped, "consent.no_answer", ""},
		8: {Rejected, "enum.unmapped", ""},
		9: {Skipped, "row.no_record", ""},
	} {
		got := r.row(t, row)
		if got.Verdict != want.verdict || got.Rule != want.rule {
			t.Errorf("row %d: %s by %q, want %s by %q", row, got.Verdict, got.Rule, want.verdict, want.rule)
			continue
		}
		if got.Verdict != Accepted {
			continue
		}
		rec := got.Records[0]
		if rec.Get("occurred_at").Raw != want.when || rec.Get("status").Text != "given" || strings.HasPrefix(rec.Get("email").Text, "'") {
			t.Errorf("row %d: %q %q", row, rec.Get("occurred_at").Raw, rec.Get("status").Text)
		}
		if v := rec.Get("occurred_at"); v.Set && v.Origin != importers.FromRow {
			t.Errorf("row %d: origin %v", row, v.Origin)
		}
	}
}

// A filled column names the kind of proof, a wording is known by its digest, what a source inferred is kept as inferred.
func TestFilledDigestInferred(t *testing.T) {
	const token = "eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiI0MiJ9.c2lnbmF0dXJl"
	r := run(t, one("consent", "email", "email: M", "phone: { from: P, normalize: plus }", "status: { from: S, enum: { given: [Y] } }",
		"proof_kind: { from: T, filled: signed_token }", "proof_ref: { from: T, digest: sha256 }", "notice_digest: { from: W, digest: sha256 }",
		"notice_version: { from: V, inferred: by date }"),
		sheet("M | P | S | T | W | V", "a@example.com | 4915112345678 | Y | "+token+" | abc | 3", "b@example.com | | Y | yes | | ", "c@example.com | | Y | CPXxRfAPXxRfAAfKABENB-CgAAAAAAAAAAYgAAAAAAAA | | "), runOptions{})
	if r.err != nil {
		t.Fatal(r.err)
	}
	rec := r.row(t, 2).Records[0]
	for field, want := range map[string]importers.Value{
		"proof_kind":     {Set: true, Text: "signed_token"},
		"phone":          {Set: true, Text: "+4915112345678"},
		"notice_digest":  {Set: true, Text: "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
		"notice_version": {Set: true, Text: "3", Origin: importers.Inferred},
	} {
		if got := *rec.Get(field); got != want {
			t.Errorf("%s: %+v, want %+v", field, got, want)
		}
	}
	for row := 3; row <= 4; row++ {
		if rec := r.row(t, row).Records[0]; rec.Get("proof_kind").Set || rec.Get("proof_ref").Set {
			t.Errorf("row %d: what is no signed token is taken for a proof", row)
		}
	}
}

// One condition alone and in a list is the same mapping.
func TestWhenDigest(t *testing.T) {
	alone := strings.Replace(withField(), "    fields:", "    when: { column: S, not_blank: true }\n    fields:", 1)
	list := strings.Replace(alone, "{ column: S, not_blank: true }", "[{ column: S, not_blank: true }]", 1)
	a, errA := Parse("a", []byte(alone))
	b, errB := Parse("b", []byte(list))
	if errA != nil || errB != nil || a.Digest() != b.Digest() {
		t.Error("the form of when changes the digest", errA, errB)
	}
}
