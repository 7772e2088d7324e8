package mappings

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sheetlift/importers"
)

// one is a mapping with one record; its fields are given.
func one(entity, key string, fields ...string) string {
	return "version: 1\nmapping: m\nrecords:\n  - entity: " + entity + "\n    key: [" + key + "]\n    fields:\n      " + strings.Join(fields, "\n      ") + "\n"
}

func faults(t *testing.T, text string) []string {
	t.Helper()
	_, err := Parse("m.yaml", []byte(text))
	if err == nil {
		return nil
	}
	var errs *ParseErrors
	if !errors.As(err, &errs) {
		t.Fatalf("%T: %v", err, err)
	}
	var list []string
	for _, f := range errs.Faults {
		if f.Excerpt == "" || f.Line < 1 || f.Column < 1 {
			t.Errorf("fault without place: %+v", f)
		}
		list = append(list, fmt.Sprintf("%d: %s | %s", f.Line, f.Message, f.Remedy))
	}
	return list
}

func TestParseFaults(t *testing.T) {
	consent := func(fields ...string) string {
		return one("consent", "email", append([]string{"email: Mail", "status: { from: S, enum: { given: [Y] } }"}, fields...)...)
	}
	for _, tc := range []struct {
		name, text string
		want       []string // beginnings of the faults
	}{
		{"nothing needed", "x: 1\n", []string{
			`1: unknown key "x" | known keys: version, mapping`, `1: version is missing | write version: 1`, `1: the mapping has no name`, `1: records is missing or empty`,
		}},
		{"version", "version: 2\nmapping: m\nrecords: []\n", []string{`1: version 2 of the mapping language is not known`, `3: records is missing or empty`}},
		{"unknown key", strings.Replace(consent(), "key:", "keys:", 1), []string{`4: the record has no key`, `5: unknown key "keys" | did you mean "key"?`}},
		{"entity", one("consents", "email", "email: Mail"), []string{`4: there is no entity "consents" | did you mean "consent"?`}},
		{"field", consent("e_mail: M"), []string{`9: consent has no field "e_mail" | did you mean "email"?`}},
		{"missing required field", one("consent", "email", "email: Mail"), []string{`6: consent needs the field status (what was decided)`}},
		{"key of column", strings.Replace(consent(), "[email]", "[Mail]", 1), []string{`5: "Mail" is no mapped field of consent | a key names fields, not columns`}},
		{"key twice", strings.Replace(consent(), "[email]", "[email, email]", 1), []string{`5: email stands in the key twice`}},
		{"date key without format", strings.Replace(consent("occurred_at: When"), "[email]", "[email, occurred_at]", 1), []string{`5: a date in a key must not depend on other rows | declare format for occurred_at`}},
		{"history of a config", one("purpose", "purpose_id", "purpose_id: P", "name: N") + "    history: true\n", []string{`9: records of purpose have no history`}},
		{"type contradicts", consent("occurred_at: { from: W, type: text }"), []string{`9: consent.occurred_at is a field of type datetime and can't be read as "text" | remove type, or write one of: datetime, date`}},
		{"type unknown", consent("note: { from: W, type: txt }"), []string{`9: consent.note is a field of type text and can't be read as "txt"`}},
		{"format of text", consent("note: { from: W, format: YYYY }"), []string{`9: format is for dates; consent.note is read as text`}},
		{"format", consent("occurred_at: { from: W, format: [dd.MM.yyyy, DD.MM.YYYY, MM.YYYY] }"), []string{
			`9: "dd" is no part of a date layout; write the day as DD or D`, `9: the layout "MM.YYYY" has no full date`,
		}},
		{"zone", consent("occurred_at: { from: W, zone: Europe/Bonn }"), []string{`9: "Europe/Bonn" is no time zone | give an IANA name`}},
		{"local zone", "zone: Local\n" + consent(), []string{`1: "Local" is no time zone`}},
		{"zone of a day", one("notice", "notice_id", "notice_id: N", "notice_version: V", "valid_from: { from: F, zone: UTC }"), []string{`9: zone is for times; notice.valid_from is a field of type date`}},
		{"region", consent("phone: { from: P, region: XX }"), []string{`9: "XX" is no region`}},
		{"region of text", consent("note: { from: P, region: DE }"), []string{`9: region is for telephone numbers`}},
		{"enum term", consent("channel: { from: C, enum: { emial: [E] } }"), []string{`9: "emial" is no term of consent.channel | did you mean email?`}},
		{"enum the other way round", consent("channel: { from: C, enum: { Newsletter: email } }"), []string{`9: "Newsletter" is no term of consent.channel | the term comes first: email: [Newsletter]`}},
		{"enum word twice", consent("channel: { from: C, enum: { email: [A], sms: [\" a \"] } }"), []string{`9: the word "a" stands for two things`}},
		{"enum empty", consent("channel: { from: C, enum: { email: [] } }"), []string{`9: the term has no words`}},
		{"enum of a note with a type", consent("note: { from: C, type: text, enum: { a: [b] } }"), []string{`9: enum does not go with type text`}},
		{"type enum without words", consent("purpose: { from: C, type: enum }"), []string{`9: consent.purpose has no closed list of its own | add enum:`}},
		{"yes without polarity", one("consent", "email", "email: M", "status: { from: S, enum: { yes: [Y], no: [N] } }"), []string{`8: yes and no of a consent status need a polarity`}},
		{"polarity without yes", one("consent", "email", "email: M", "status: { from: S, enum: { given: [Y] }, polarity: normal }"), []string{`8: polarity has nothing to act on`}},
		{"polarity of a channel", consent("channel: { from: C, polarity: inverted }"), []string{`9: polarity has nothing to act on`}},
		{"polarity word", one("consent", "email", "email: M", "status: { from: S, enum: { yes: [Y] }, polarity: inverse }"), []string{`8: there is no polarity "inverse"`}},
		{"enum in place of a proof", consent("proof_ref: { from: D, enum: { doi-log-88412: [Y] } }"), []string{`9: words can't stand for consent.proof_ref: only the source says it | map the column`}},
		{"enum in place of an actor", consent("actor: { from: D, type: enum, enum: { Web form: [web] } }"), []string{`9: words can't stand for consent.actor`}},
		{"enum in place of a digest", consent("notice_digest: { from: D, enum: { abc: [Y] } }"), []string{`9: words can't stand for consent.notice_digest`}},
		{"enum in place of a subject", consent("subject_id: { from: D, enum: { C-1: [Y] } }"), []string{`9: words can't stand for consent.subject_id`}},
		{"enum in place of a device", consent("device_id: { from: D, enum: { C-1: [Y] } }"), []string{`9: words can't stand for consent.device_id`}},
		{"enum in place of a phone", consent("phone: { from: D, enum: { \"+4915112345678\": [Y] } }"), []string{`9: words can't stand for consent.phone`}},
		{"enum in place of a time", consent("occurred_at: { from: D, enum: { 2024-03-01: [Y] } }"), []string{`9: words can't stand for consent.occurred_at`}},
		{"enum in place of a requester", one("case", "email", "email: { from: M, enum: { a@example.com: [Y] } }", "request_type: T", "status: S", "received_at: R"), []string{`7: words can't stand for case.email`}},
		{"yes is no purpose", consent("purpose: { from: N, enum: { newsletter: [News, \" JA! \"] } }"), []string{`9: the word "JA!" says yes or no, and nothing about consent.purpose | use const with stated_by: it is recorded and never counts`}},
		{"a tick is no notice", consent("notice_id: { from: N, enum: { PN: \"✔\ufe0f\" } }", "notice_version: { from: N, enum: { v1: [1, v1] } }"), []string{`9: the word "✔️" says yes or no`, `10: the word "1" says yes or no`}},
		{"yes is no capacity", consent("actor_role: { from: N, enum: { processor: [oui, \"Sí\"] } }"), []string{`9: the word "oui" says`, `9: the word "Sí" says`}},
		{"yes is no kind of proof", consent("proof_kind: { from: N, enum: { double_opt_in_log: [wahr] } }"), []string{`9: the word "wahr" says yes or no, and nothing about consent.proof_kind`}},
		{"normalize", consent("note: { from: C, normalize: [trim, strip] }"), []string{`9: there is no normalization "strip" | known: trim`}},
		{"decimal", consent("occurred_at: { from: C, format: serial, decimal: dot }"), []string{`9: there is no decimal "dot" | write comma or point`}},
		{"decimal of a text", consent("note: { from: C, decimal: comma }"), []string{`9: decimal is for integers`}},
		{"country of an address", consent("phone: { from: C, type: country }"), []string{`9: consent.phone is a field of type phone and can't be read as "country"`}},
		{"lower and upper", consent("note: { from: C, normalize: [lower, upper] }"), []string{`9: lower and upper contradict each other`}},
		{"rules unknown", consent("note: { from: C, rules: \"maxx=200\" }"), []string{`9: the tag "maxx" is not known or looks beyond the value | the tags are listed in docs/mapping.md`}},
		{"rules parameter", consent("note: { from: C, rules: \"email,max=abc\" }"), []string{`9: the rules "max=abc" can't be evaluated`}},
		{"rules beyond the value", consent("note: { from: C, rules: \"required_with=Email\" }"), []string{`9: the tag "required_with" is not known or looks beyond the value`}},
		{"rules on files", consent("note: { from: C, rules: file }"), []string{`9: the tag "file" is not known or looks beyond the value`}},
		{"const without person", consent("channel: { const: email }"), []string{`9: a value for every consent needs somebody who states it`}},
		{"const without name", consent("channel: { const: email, stated_by: { name: \" \", at: 1.10.2026 } }"), []string{`9: stated_by has no name`, `9: stated_by does not say when`}},
		{"const no term", consent("channel: { const: mail, stated_by: { name: A, at: 2026-10-01 } }"), []string{`9: const breaks the rule enum.unmapped of consent.channel`}},
		{"const ambiguous date", consent("occurred_at: { const: 01/02/2026, stated_by: { name: A, at: 2026-10-01 } }"), []string{`9: const is no date that can be read for sure`}},
		{"const and from", consent("channel: { const: email, from: C, stated_by: { name: A, at: 2026-10-01 } }"), []string{`9: consent.channel has both from and const`}},
		{"const blank", consent("channel: { const: \"\", stated_by: { name: A, at: 2026-10-01 } }"), []string{`9: const is blank`}},
		{"stated_by alone", consent("channel: { from: C, stated_by: { name: A, at: 2026-10-01 } }"), []string{`9: stated_by goes with const`}},
		{"from nowhere", consent("channel: { null_tokens: [x] }"), []string{`9: consent.channel comes from nowhere`}},
		{"join of one", consent("note: { from: C, join: x }"), []string{`9: join is for several columns`}},
		{"column twice named", consent("note: { from: { header: C, letter: D } }"), []string{`9: the column is not named, or named in more than one way`}},
		{"letters", consent("note: { from: { letter: C1 } }"), []string{`9: "C1" are no column letters`}},
		{"nth", consent("note: { from: { letter: C, nth: 2 } }"), []string{`9: nth counts columns with the same header`}},
		{"index", consent("note: { from: { index: -1 } }"), []string{`9: there is no column number -1`}},
		{"a first row beside a header", "header: { row: 2, first: 3 }\n" + one("purpose", "purpose_id", "purpose_id: A", "name: B"), []string{`1: first says where a list without a header begins`}},
		{"a first row that needs none", "header: { none: true, first: 1 }\n" + one("purpose", "purpose_id", "purpose_id: A", "name: B"), []string{`1: the list must begin in one of the rows 2 to 50`}},
		{"no header but header text", "header: { none: true }\n" + one("purpose", "purpose_id", "purpose_id: A", "name: Purpose name"), []string{`9: the sheet has no header, so "Purpose name" names no column`}},
		{"header says two things", "header: { row: 1, match: [A] }\n" + consent(), []string{`1: header says more than one thing`}},
		{"header row", "header: { row: 0 }\n" + consent(), []string{`1: the header row must be 1 or more`}},
		{"header says nothing", "header: {}\n" + consent(), []string{`1: header says nothing`}},
		{"skip without reason", "skip: [{ column: S, equals: T }]\n" + consent(), []string{`1: the skip has no reason`}},
		{"skip tests nothing", "skip: [{ column: S, reason: r }]\n" + consent(), []string{`1: the condition tests nothing`}},
		{"skip tests two things", "skip: [{ column: S, reason: r, blank: true, equals: x }]\n" + consent(), []string{`1: the condition tests more than one thing`}},
		{"skip expression", "skip: [{ column: S, reason: r, matches: \"(\" }]\n" + consent(), []string{`1: the expression can't be read`}},
		{"skip blank word", "skip: [{ column: S, reason: r, equals: \" \" }]\n" + consent(), []string{`1: a blank word never matches`}},
		{"preset", "preset: Mail Chimp\n" + consent(), []string{`1: "Mail Chimp" is no name of a preset`}},
		{"when without condition", strings.Replace(consent(), "    fields:", "    when: []\n    fields:", 1), []string{`6: there is no condition`}},
		{"second when", strings.Replace(consent(), "    fields:", "    when:\n      - { column: A, blank: true }\n      - { column: B }\n    fields:", 1), []string{`8: the condition tests nothing`}},
		{"not_in and not_matches", strings.Replace(consent(), "    fields:", "    when: { column: A, not_in: [], not_matches: \"(\" }\n    fields:", 1), []string{`6: the condition tests more than one thing`, `6: the list is empty`, `6: the expression can't be read`}},
		{"first of one", consent("note: { from: C, first: true }"), []string{`9: first is for several columns`}},
		{"split of a text", consent("note: { from: C, split: \";\" }"), []string{`9: split is for several words of a closed list`}},
		{"when of a field", consent("note: { from: C, when: { column: D } }"), []string{`9: the condition tests nothing`}},
		{"confirm is no word", consent("note: { from: C, confirm: maybe }"), []string{`9: this is a word where true or false is expected`}},
		{"filled", consent("proof_kind: { from: C, filled: token }"), []string{`9: "token" is no term that a filled cell of consent.proof_kind could stand for`, `9: the cell that says the kind of proof is not the proof`}},
		{"filled status", one("consent", "email", "email: M", "status: { from: S, filled: given }"), []string{`8: a filled cell can't stand for one term here`}},
		{"filled beside the reference", consent("proof_kind: { from: C, filled: signed_token }", "proof_ref: D"), []string{`9: the cell that says the kind of proof is not the proof`}},
		{"filled with a word about elsewhere", consent("proof_kind: { from: C, filled: signed_document }", "proof_ref: C"), []string{`9: a filled cell can't stand for one term here`}},
		{"digest of an id", consent("subject_id: { from: C, digest: sha256 }"), []string{`9: there is no such digest of consent.subject_id`}},
		{"digest", consent("note: { from: C, digest: md5 }"), []string{`9: there is no such digest of consent.note`}},
		{"inferred", consent("notice_id: { from: C, inferred: \"\" }"), []string{`9: inferred goes with from and says how`}},
		{"plus", consent("note: { from: C, normalize: plus }"), []string{`9: plus is for telephone numbers`}},
		{"null token", consent("note: { from: C, null_tokens: [\"\"] }"), []string{`9: a null token is blank`}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := faults(t, tc.text)
			if len(got) != len(tc.want) {
				t.Fatalf("got %d faults, want %d:\n%s", len(got), len(tc.want), strings.Join(got, "\n"))
			}
			for i := range got {
				if !strings.HasPrefix(got[i], tc.want[i]) {
					t.Errorf("got  %s\nwant %s", got[i], tc.want[i])
				}
			}
		})
	}
}

func TestParseAccepts(t *testing.T) {
	for name, text := range map[string]string{
		"everything": "version: 1\nmapping: harbour\nsheet: Register\nheader: { row: 4 }\nzone: Europe/Berlin\n" +
			"skip:\n  - { column: Status, in: [TEST, Demo], reason: samples }\n  - { column: { letter: b }, matches: \"^x\", reason: r }\n" +
			"records:\n  - entity: consent\n    key: [external_id, occurred_at]\n    when: { column: Newsletter, not_blank: true }\n    history: true\n    fields:\n" +
			"      external_id: { from: { index: 1 }, type: id }\n      subject_id: { from: Mail, type: email }\n" +
			"      occurred_at: { from: [Date, Time], type: datetime, format: [\"YYYY-MM-DD HH:mm\", serial, iso8601], zone: \"+02:00\" }\n" +
			"      phone: { from: Mobile, region: DE }\n      status: { from: N, enum: { yes: [Y, 1, true], no: N }, polarity: inverted, null_tokens: [n/a, \"-\"] }\n" +
			"      purpose: { from: P, enum: { news: [\"a\"] } }\n      channel: { const: email, stated_by: { name: T, at: 2026-10-01T10:00:00Z } }\n" +
			"      notice_version: { from: { header: Version, nth: 2 } }\n      note: { from: [A, B], join: \"; \", normalize: trim, rules: \"max=200\" }\n",
		"letters without header": "version: 1\nmapping: m\nheader: { none: true }\n" + strings.TrimPrefix(one("purpose", "purpose_id", "purpose_id: a", "name: { from: { letter: B } }"), "version: 1\nmapping: m\n"),
		"translated answers":     one("consent", "email", "email: M", "status: { from: S, enum: { given: [Y] } }", "purpose: { from: P, enum: { news: [Newsletter, NL] } }", "proof_kind: { from: K, enum: { double_opt_in_log: [DOI log] } }", "notice_version: { from: V, enum: { v2: [\"2\", second] } }", "actor_role: { from: R, enum: { processor: [Agentur] } }"),
		"yes of a channel":       one("consent", "email", "email: M", "status: { from: S, enum: { given: [Y] } }", "channel: { from: C, enum: { email: [x] } }"),
		"config const":           one("notice", "notice_id", "notice_id: N", "notice_version: { const: 1.0 }", "valid_from: { const: 2026-01-01 }"),
		"bool words":             one("case", "external_id", "external_id: A", "request_type: T", "status: S", "received_at: R", "identity_verified: { from: I, enum: { yes: [x], no: [o] } }"),
	} {
		if got := faults(t, text); got != nil {
			t.Errorf("%s: %s", name, strings.Join(got, "\n"))
		}
	}
}

// docs/mapping.md lists the tags of rules, and each of them can be evaluated.
func TestRuleTagsArePublished(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "docs", "mapping.md"))
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Join(strings.Fields(string(page)), " ")
	parameters := map[string]string{"containsrune": "x", "excludesrune": "x", "datetime": "2006-01-02", "postcode_iso3166_alpha2": "DE"}
	for _, word := range []string{"len", "min", "max", "lt", "lte", "gt", "gte", "eq", "ne"} {
		parameters[word] = "3"
	}
	for _, word := range []string{"eq_ignore_case", "ne_ignore_case", "oneof", "oneofci", "noneof", "noneofci", "contains", "containsany", "excludes", "excludesall", "startswith", "endswith", "startsnotwith", "endsnotwith"} {
		parameters[word] = "a"
	}
	for _, group := range ruleTags {
		if line := "| " + group.about + " | `" + strings.Join(group.tags, "` `") + "` |"; !strings.Contains(text, line) {
			t.Errorf("docs/mapping.md does not list: %s", line)
		}
		for _, tag := range group.tags {
			if p, ok := parameters[tag]; ok {
				tag += "=" + p
			}
			if _, err := compileRules(tag, importers.Text); err != nil {
				t.Errorf("%s: %v", tag, err)
			}
		}
	}
	for _, tag := range []string{"file", "dir", "image", "filepath", "dirpath", "uds_exists", "tcp_addr", "ip_addr", "timezone", "unique", "eqfield=X", "required_with=X", "dive", "validateFn", "postcode_iso3166_alpha2_field=X"} {
		if _, err := compileRules(tag, importers.Text); err == nil {
			t.Errorf("%s is allowed", tag)
		}
	}
}

// docs/mapping.md publishes the words that answer nothing.
func TestBareWordsArePublished(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "docs", "mapping.md"))
	if err != nil {
		t.Fatal(err)
	}
	want := "`" + strings.Join(bareWords, "` `") + "`"
	if !strings.Contains(strings.Join(strings.Fields(string(page)), " "), want) {
		t.Errorf("docs/mapping.md does not list:\n%s", want)
	}
	for _, w := range []string{"Y", " yes ", "JA", "Sì", "(x)", "ok!", "TRUE", "✔\ufe0e", "Opt-In", "n/a"} {
		if !bareWord(w) {
			t.Errorf("%q is a bare word", w)
		}
	}
	for _, w := range []string{"news", "v1", "NL", "DOI log", "yes to all", "10"} {
		if bareWord(w) {
			t.Errorf("%q is no bare word", w)
		}
	}
}

// The digest follows the content: comments, layout, order of keys and short forms don't matter, a changed word does.
func TestDigest(t *testing.T) {
	digest := func(text string) string {
		m, err := Parse("m.yaml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return m.Digest()
	}
	a := digest(one("purpose", "purpose_id", "purpose_id: P", "name: { from: N, normalize: [trim] }"))
	b := digest("# comment\nmapping:   'm'\nversion: 1\nrecords: [{ key: purpose_id, entity: purpose, fields: { name: { normalize: trim, from: [{ header: N }] }, purpose_id: { from: P } } }]")
	if a != b {
		t.Error("layout changes the digest")
	}
	if c := digest(one("purpose", "purpose_id", "purpose_id: P", "name: { from: M, normalize: [trim] }")); c == a {
		t.Error("another column gives the same digest")
	}
	if len(a) != 64 {
		t.Errorf("digest %q", a)
	}
}

// A drafted mapping names every column and is refused until a person has decided.
func TestDraft(t *testing.T) {
	text := string(Draft("consent", []string{"E-mail", "Status", "Status", "", "someone@example.com", "a \"b\": #c", "yes"}, "Kunden & Co", 4))
	got := faults(t, text)
	if len(got) == 0 || !strings.Contains(got[0], "entity is still to be filled in") {
		t.Errorf("draft is accepted or refused for another reason:\n%s", strings.Join(got, "\n"))
	}
	if strings.Contains(text, "someone@") {
		t.Error("a value about a person is in the draft")
	}
	filled := strings.NewReplacer("entity: TODO", "entity: consent", "key: [TODO]", "key: [email]",
		`# TODO: "E-mail"`, "email: \"E-mail\"", `# TODO: { from: { header: Status, nth: 2 } }`, "status: { from: { header: Status, nth: 2 } }",
		`# TODO: { from: { letter: E } }`, "note: { from: { letter: E } }", `# TODO: "a \"b\": #c"`, `method: "a \"b\": #c"`, `# TODO: "yes"`, `language: "yes"`,
		`# TODO: E-mail`, "email: E-mail").Replace(text)
	m, err := Parse("m.yaml", []byte(filled))
	if err != nil {
		t.Fatalf("%v\n%s", err, filled)
	}
	f := m.Records[0].Fields
	if m.Sheet != "Kunden & Co" || m.Header.Row != 4 || f["method"].From[0].Header != `a "b": #c` || f["language"].From[0].Header != "yes" || f["status"].From[0].Nth != 2 {
		t.Errorf("%+v", m)
	}
	if got := faults(t, string(Draft("", []string{"x", "y"}, "", 0))); len(got) == 0 {
		t.Error("a bare draft is accepted")
	}
}

func FuzzParseMapping(f *testing.F) {
	f.Add([]byte(consents))
	f.Add([]byte(one("purpose", "purpose_id", "purpose_id: P", "name: { from: N, format: YYYY, enum: { a: b } }")))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 4096 {
			return
		}
		m, err := Parse("m.yaml", data)
		if err == nil {
			_ = m.Digest()
			return
		}
		var errs *ParseErrors
		if !errors.As(err, &errs) || len(errs.Faults) == 0 {
			t.Fatalf("%T", err)
		}
	})
}
