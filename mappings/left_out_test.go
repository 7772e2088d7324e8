package mappings

import (
	"fmt"
	"strings"
	"testing"

	"sheetlift/pipeline/finding"
)

// mappingOf is a mapping whose skips stand in line 3 and whose first record begins in line 5.
func mappingOf(skip string, records ...string) string {
	return "version: 1\nmapping: m\nskip: " + skip + "\nrecords:\n" + strings.Join(records, "")
}

func record(entity, when string, fields ...string) string {
	s := "  - entity: " + entity + "\n    key: [email]\n"
	if when != "" {
		s += "    when: " + when + "\n"
	}
	return s + "    fields:\n      email: Mail\n      " + strings.Join(fields, "\n      ") + "\n"
}

const (
	yesOnly   = "status: { from: S, enum: { given: [Y] } }"
	yesAndNo  = "status: { from: S, enum: { yes: [Y], no: [N] }, polarity: normal }"
	optOutCol = "status: { from: S, enum: { yes: [Y], no: [N] }, polarity: inverted }"
	stated    = "status: { const: given, stated_by: { name: A, at: 2026-10-01 } }"
	blocked   = "reason: { const: opt_out }"
	byMail    = "channel: { const: email }"
	bySMS     = "channel: { const: sms }"
)

func statedAs(field, term string) string {
	return field + ": { const: " + term + ", stated_by: { name: A, at: 2026-10-01 } }"
}

// leftOutCases: want is one piece of each finding's message, in order; none for no warning.
var leftOutCases = []struct {
	name    string
	mapping string
	rows    [][]cell
	want    []string
	counted []int
}{
	// Skips.
	{"a skip of a word that says no", mappingOf("[{ column: S, in: [test, Unsubscribed], reason: r }]", record("consent", "", yesOnly)),
		sheet("Mail | S", "a@example.com | Y", "b@example.com | UNSUBSCRIBED", "c@example.com | unsubscribed", "d@example.com | test"), []string{`(line 3) skips rows with a refusal in column "S" ("unsubscribed"), and no other record takes the refusal: 2 rows of this sheet.`}, []int{2}},
	{"no such row yet", mappingOf("[{ column: S, equals: opt-out, reason: r }]", record("consent", "", yesOnly)), sheet("Mail | S", "a@example.com | Y"), []string{`("opt-out"), and no other record takes the refusal.`}, []int{0}},
	{"a skip of all but yes", mappingOf("[{ column: S, not_in: [Y], reason: r }]", record("consent", "", yesOnly)), sheet("Mail | S", "a@example.com | Y", "b@example.com | nein", "c@example.com | ?"), []string{`("nein")`}, []int{1}},
	{"a skip by an expression", mappingOf(`[{ column: S, matches: "(?i)^unsub", reason: r }]`, record("consent", "", yesOnly)), sheet("Mail | S", "b@example.com | Unsubscribed"), []string{`("unsubscribed")`}, []int{1}},
	{"a word that only the mapping knows is not shown", mappingOf("[{ column: S, equals: gone, reason: r }]", record("consent", "", "status: { from: S, enum: { given: [Y], withdrawn: [gone] } }")), sheet("Mail | S", "a@example.com | gone"), []string{`in column "S", and no`}, []int{1}},
	{"a skip before another", mappingOf("[{ column: T, equals: x, reason: r }, { column: S, equals: N, reason: r }]", record("consent", "", yesOnly)), sheet("Mail | S | T", "a@example.com | N | x"), []string{`("n"), and no other record takes the refusal.`}, []int{0}},
	{"a skip of another column's explicit word", mappingOf("[{ column: State, equals: unsubscribed, reason: r }]", record("consent", "", yesOnly)), sheet("Mail | S | State", "a@example.com | Y | unsubscribed"), []string{`column "State"`}, []int{1}},
	{"a skip of a suppression", mappingOf("[{ column: R, in: [unsub], reason: r }]", record("suppression", "", byMail, "reason: { from: R, enum: { opt_out: [unsub], bounce: [hard] } }")), sheet("Mail | R", "a@example.com | unsub"), []string{"skips rows"}, []int{1}},
	{"a skip of a yes to an opt-out", mappingOf("[{ column: Do Not Mail, equals: x, reason: r }]", record("consent", "", yesOnly)), sheet("Mail | S | Do not mail", "a@example.com | Y | x"), []string{`("x")`}, []int{1}},
	{"a skip of days of an opt-out", mappingOf("[{ column: Unsubscribed at, not_blank: true, reason: r }]", record("consent", "", yesOnly)), sheet("Mail | S | Unsubscribed at", "a@example.com | Y | 2024-01-01", "b@example.com | Y |"), []string{`in column "Unsubscribed at", and no`}, []int{1}},
	{"a skip of bounces", mappingOf("[{ column: S, in: [bounced, pending, unknown], reason: r }]", record("consent", "", yesOnly)), sheet("Mail | S", "a@example.com | bounced"), nil, nil},
	{"a skip of a no in another column", mappingOf("[{ column: Verified, equals: N, reason: r }]", record("consent", "", yesOnly)), sheet("Mail | S | Verified", "a@example.com | Y | N"), nil, nil},
	{"a skip of orders", mappingOf("[{ column: Order, equals: cancelled, reason: r }]", record("consent", "", yesOnly)), sheet("Mail | S | Order", "a@example.com | Y | cancelled"), nil, nil},
	{"a skip of a no to an opt-out", mappingOf("[{ column: S, equals: N, reason: r }]", record("consent", "", optOutCol)), sheet("Mail | S", "a@example.com | N"), nil, nil},
	{"a skip of blanks", mappingOf("[{ column: S, blank: true, reason: r }]", record("consent", "", yesAndNo)), sheet("Mail | S", "a@example.com |", "b@example.com | N"), nil, nil},
	{"a skip of a case", mappingOf("[{ column: S, equals: withdrawn, reason: r }]", "  - entity: case\n    key: [external_id]\n    fields: { external_id: I, request_type: T, status: S, received_at: { from: R, zone: UTC } }\n"), sheet("I | T | S | R", "1 | access | withdrawn | 2026-03-01"), nil, nil},

	// Conditions of records.
	{"only the yes", mappingOf("[]", record("consent", "{ column: S, in: [Y, ja] }", yesOnly)), sheet("Mail | S", "a@example.com | Y", "b@example.com | N", "c@example.com | Nein", "d@example.com |", "e@example.com | maybe"),
		[]string{`(line 7) takes no record of consent from rows with a refusal in column "S" ("n", "nein"), and no other record takes the refusal: 2 rows of this sheet.`}, []int{2}},
	{"only the yes, and none said no", mappingOf("[]", record("consent", "{ column: S, in: [Y] }", yesOnly)), sheet("Mail | S", "a@example.com | Y", "b@example.com | later"), nil, nil},
	{"the mapping itself knows the no", mappingOf("[]", record("consent", "{ column: S, in: [Y] }", yesAndNo)), sheet("Mail | S", "a@example.com | Y"), []string{`("n"), and no other record takes the refusal.`}, []int{0}},
	{"all but the no", mappingOf("[]", record("consent", "{ column: S, not_in: [N] }", yesOnly)), sheet("Mail | S", "a@example.com | N"), []string{`("n")`}, []int{1}},
	{"by expressions", mappingOf("[]", record("consent", `{ column: S, matches: "^[Yy]" }`, yesOnly), record("suppression", `{ column: S, not_matches: "^[YyNn]" }`, byMail, blocked)), sheet("Mail | S", "a@example.com | N"), []string{`record of consent from rows with a refusal in column "S" ("n")`}, []int{1}},
	{"a number and a truth value", mappingOf("[]", record("consent", "{ column: S, in: [1, TRUE] }", "status: { from: S, enum: { given: [1, TRUE] } }")), append(sheet("Mail | S"), []cell{txt("a@example.com"), num("0")}, []cell{txt("b@example.com"), boolean("FALSE")}), []string{`("0", "false")`}, []int{2}},
	{"a stated consent", mappingOf("[]", record("consent", "{ column: Answer, equals: yes }", stated)), sheet("Mail | Answer", "a@example.com | yes", "b@example.com | no"), []string{`("no")`}, []int{1}},
	{"a stated consent by its state", mappingOf("[]", record("consent", "{ column: State, equals: active }", stated)), sheet("Mail | State", "a@example.com | active", "b@example.com | cancelled"), []string{`("cancelled")`}, []int{1}},
	{"a column that asks", mappingOf("[]", record("consent", "{ column: Newsletter, in: [Y] }", yesOnly)), sheet("Mail | S | Newsletter", "a@example.com | Y | N"), []string{`column "Newsletter" ("n")`}, []int{1}},
	{"a column that asks something else", mappingOf("[]", record("consent", "{ column: Country, in: [DE] }", stated)), sheet("Mail | Country", "a@example.com | NO"), nil, nil},
	{"blank days of an opt-out", mappingOf("[]", record("consent", "{ column: Unsubscribed at, blank: true }", yesOnly)), sheet("Mail | S | Unsubscribed at", "a@example.com | Y | 2024-01-01", "b@example.com | Y |"), []string{"(line 7)"}, []int{1}},
	{"a null token has a warning of its own", mappingOf("[]", record("consent", "{ column: S, in: [Y] }", "status: { from: S, enum: { given: [Y] }, null_tokens: [N] }")), sheet("Mail | S", "a@example.com | N"), nil, nil},
	{"double opt-in: nobody confirmed", mappingOf("[]", record("consent", "{ column: Double opt-in, in: [Y] }", "status: { from: Double opt-in, enum: { given: [Y] } }")), sheet("Mail | Double opt-in", "a@example.com | N"), nil, nil},
	{"a condition of the status", mappingOf("[]", record("consent", "", "status: { from: S, enum: { given: [Y] }, when: { column: S, in: [Y] } }")), sheet("Mail | S", "a@example.com | N"), []string{`(line 9) takes no record of consent`}, []int{1}},
	{"a condition on what the row is about", mappingOf("[]", record("consent", "[{ column: T, equals: news }, { column: S, in: [Y] }]", yesOnly)), sheet("Mail | S | T", "a@example.com | N | news", "b@example.com | N | other"), []string{`("n")`}, []int{1}},
	{"two conditions that say no", mappingOf("[]", record("consent", "[{ column: Consent A, in: [Y] }, { column: Consent B, in: [Y] }]", stated)), sheet("Mail | Consent A | Consent B", "a@example.com | N | N"), []string{`"Consent A"`, `"Consent B"`}, []int{1, 1}},
	{"a suppression", mappingOf("[]", record("suppression", "{ column: Why, equals: bounced }", byMail, "reason: { const: bounce }")), sheet("Mail | Why", "a@example.com | bounced", "b@example.com | unsubscribed"), []string{"record of suppression"}, []int{1}},
	{"a refusal that nobody confirmed", mappingOf("[]", record("consent", "{ column: Double opt-in, not_in: [no] }", "status: { from: S, enum: { given: [subscribed], withdrawn: [unsubscribed] } }")), sheet("Mail | S | Double opt-in", "a@example.com | unsubscribed | yes", "b@example.com | unsubscribed | no", "c@example.com | subscribed | no"),
		[]string{`(line 7) takes no record of consent from rows with a refusal in column "S" ("unsubscribed"), and no other record takes the refusal: 1 row of this sheet.`}, []int{1}},
	{"and one that another record takes", mappingOf("[]", record("consent", "{ column: Double opt-in, not_in: [no] }", "status: { from: S, enum: { given: [subscribed], withdrawn: [unsubscribed] } }"), record("consent", "[{ column: Double opt-in, in: [no] }, { column: S, not_in: [subscribed] }]", "status: { from: S, enum: { given: [subscribed], withdrawn: [unsubscribed] } }")), sheet("Mail | S | Double opt-in", "b@example.com | unsubscribed | no", "c@example.com | subscribed | no"), nil, nil},
	{"a skip of what nobody confirmed", mappingOf("[{ column: Double opt-in, equals: no, reason: r }]", record("consent", "", "status: { from: S, enum: { given: [subscribed], withdrawn: [unsubscribed] } }")), sheet("Mail | S | Double opt-in", "a@example.com | unsubscribed | yes", "b@example.com | unsubscribed | no", "c@example.com | subscribed | no"),
		[]string{`(line 3) skips rows with a refusal in column "S" ("unsubscribed"), and no other record takes the refusal: 1 row of this sheet.`}, []int{1}},
	{"and of tests", mappingOf("[{ column: Is test, equals: yes, reason: r }]", record("consent", "", yesAndNo)), sheet("Mail | S | Is test", "a@example.com | N | yes"), nil, nil},
	{"what a row is about hides no refusal of it", mappingOf("[]", record("consent", "{ column: T, equals: news }", yesAndNo)), sheet("Mail | S | T", "a@example.com | N | other"), nil, nil},
	{"conditions that can never all hold", mappingOf("[]", record("consent", "[{ column: T, in: [yes, maybe] }, { column: T, in: [no] }]", yesAndNo)), sheet("Mail | S | T", "a@example.com | Y | yes"), []string{`The conditions on column "T" (line 7 of the mapping) can never all hold`}, []int{0}},
	{"nor with an expression", mappingOf("[]", record("suppression", "[{ column: T, matches: '^x' }, { column: T, in: [no] }]", byMail, blocked)), sheet("Mail | T", "a@example.com | x"), []string{"can never all hold"}, []int{0}},
	{"nor blank and not", mappingOf("[]", record("suppression", "[{ column: T, blank: true }, { column: T, not_blank: true }]", byMail, blocked)), sheet("Mail | T", "a@example.com | x"), []string{"can never all hold"}, []int{0}},
	{"those that can", mappingOf("[]", record("suppression", "[{ column: T, in: [x, y] }, { column: T, not_in: [y] }, { column: T, not_blank: true }]", byMail, blocked)), sheet("Mail | T", "a@example.com | x"), nil, nil},

	// What takes the refusal.
	{"a consent takes the no", mappingOf("[]", record("consent", "{ column: S, in: [Y] }", yesOnly), record("consent", "{ column: S, in: [N] }", "status: { from: S, enum: { refused: [N] } }")), sheet("Mail | S", "a@example.com | Y", "b@example.com | N"), nil, nil},
	{"a stated refusal takes the no", mappingOf("[]", record("consent", "{ column: S, in: [Y] }", stated), record("consent", "{ column: S, in: [N] }", statedAs("status", "refused"))), sheet("Mail | S", "a@example.com | Y", "b@example.com | N"), nil, nil},
	{"a suppression takes the no", mappingOf("[]", record("consent", "{ column: S, in: [Y] }", yesAndNo), record("suppression", "{ column: S, in: [N] }", byMail, blocked)), sheet("Mail | S", "a@example.com | Y", "b@example.com | N"), nil, nil},
	{"a suppression takes every row with a day", mappingOf("[]", record("consent", "{ column: S, in: [Y] }", yesOnly), record("suppression", "{ column: Left, not_blank: true }", byMail, blocked)), sheet("Mail | S | Left", "a@example.com | N | 2024-01-01"), nil, nil},
	{"and not the one without", mappingOf("[]", record("consent", "{ column: S, in: [Y] }", yesOnly), record("suppression", "{ column: Left, not_blank: true }", byMail, blocked)), sheet("Mail | S | Left", "a@example.com | N |", "b@example.com | N | 2024-01-01"), []string{"1 row of"}, []int{1}},
	{"a suppression takes one of two words", mappingOf("[]", record("consent", "{ column: S, in: [Y] }", yesOnly), record("suppression", "{ column: S, in: [N] }", byMail, blocked)), sheet("Mail | S", "b@example.com | N", "c@example.com | unsubscribed"), []string{`(line 7) takes no record of consent from rows with a refusal in column "S" ("unsubscribed")`}, []int{1}},
	{"a suppression of another channel", mappingOf("[]", record("consent", "{ column: S, in: [Y] }", yesOnly, statedAs("channel", "sms")), record("suppression", "{ column: S, in: [N] }", byMail, blocked)), sheet("Mail | S", "b@example.com | N"), []string{"record of consent"}, []int{1}},
	{"a consent of another purpose", mappingOf("[]", record("consent", "{ column: S, in: [Y] }", yesOnly, statedAs("purpose", "news")), record("consent", "", "status: { from: T, enum: { yes: [Y], no: [N] }, polarity: normal }", statedAs("purpose", "calls"))), sheet("Mail | S | T", "b@example.com | N | N"), []string{`column "S"`}, []int{1}},
	{"another yes takes no refusal", mappingOf("[]", record("consent", "{ column: S, in: [Y] }", yesOnly), record("consent", "", "status: { from: T, enum: { yes: [Y], no: [N] }, polarity: normal }")), sheet("Mail | S | T", "b@example.com | N | Y"), []string{`column "S"`}, []int{1}},
	{"a record that would be rejected is seen", mappingOf("[]", record("consent", "{ column: S, in: [Y] }", yesOnly), record("consent", "{ column: S, not_in: [Y] }", "status: { from: S, enum: { withdrawn: [gone] } }")), sheet("Mail | S", "b@example.com | N"), nil, nil},
	{"a case takes none", mappingOf("[]", record("consent", "{ column: S, in: [Y] }", yesOnly), "  - entity: case\n    key: [external_id]\n    when: { column: S, in: [N] }\n    fields: { external_id: Mail, request_type: { const: objection }, status: { const: open }, received_at: { from: R, zone: UTC } }\n"), sheet("Mail | S | R", "a@example.com | N | 2026-03-01"), []string{"record of consent"}, []int{1}},
}

func leftOutOf(r *result) (list []finding.Finding) {
	for _, f := range r.columns {
		if f.Rule == "consent.refusal_left_out" {
			list = append(list, f)
		}
	}
	return list
}

// A refusal that a condition leaves out and nothing else takes is told; one that is taken is not.
func TestRefusalsLeftOut(t *testing.T) {
	for _, tc := range leftOutCases {
		t.Run(tc.name, func(t *testing.T) {
			for _, size := range []int{1, 4096} {
				r := run(t, strings.Replace(tc.mapping, "skip: []\n", "\n", 1), tc.rows, runOptions{size: size})
				if r.err != nil {
					t.Fatal(r.err)
				}
				got := leftOutOf(r)
				if len(got) != len(tc.want) {
					t.Fatalf("%d findings, want %d: %+v", len(got), len(tc.want), got)
				}
				for i, f := range got {
					if !strings.Contains(f.Message, tc.want[i]) || f.Rows != tc.counted[i] || (f.Row > 0) != (f.Rows > 0) || strings.Contains(f.Message, "@") {
						t.Errorf("%d rows from %d: %s; want %d, %s", f.Rows, f.Row, f.Message, tc.counted[i], tc.want[i])
					}
				}
			}
		})
	}
}

// Every word that the suggestions read as a refusal is one for conditions too, in each of the languages.
func TestEveryWordForNoLeftOut(t *testing.T) {
	for _, says := range []string{"no", "refused", "withdrawn", "opt_out", "objection"} {
		for w := range strings.SplitSeq(AnswerWords[says], "|") {
			for name, m := range map[string]string{
				"skip": mappingOf(fmt.Sprintf("[{ column: S, equals: %q, reason: r }]", w), record("consent", "", yesOnly)),
				"when": mappingOf("[{ column: T, equals: x, reason: r }]", record("consent", "{ column: S, in: [Y] }", yesOnly)),
			} {
				got := leftOutOf(run(t, m, sheet("Mail | S | T", "a@example.com | Y", "b@example.com | "+strings.ToUpper(w)), runOptions{}))
				if want := w != "-"; len(got) > 0 != want || want && (got[0].Rows != 1 || got[0].Row != 3) {
					t.Errorf("%s of %q (%s): %+v", name, w, says, got)
				}
			}
		}
	}
}
