package pipeline_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"sheetlift/pipeline"
	"sheetlift/pipeline/finding"
	"sheetlift/pipeline/store/storetest"
)

// The tests of this file are named after the rule they hold, from the rows of an export to the register.

const (
	suppressionHeader = "Mail,Channel,Reason,At\n"
	caseHeader        = "Case,Type,Status,Subject,Mail,Received,Closed\n"
)

// assertion and receipt are consent rows for the newsletter by e-mail; who is "subject,address".
func assertion(id, who, status, at string) string {
	return fmt.Sprintf("%s,%s,news,email,%s,%s,,,,,,", id, who, status, at)
}

func receipt(id, who, status, at string) string {
	return fmt.Sprintf("%s,%s,news,email,%s,%s,PN,2,Ada Agent,shop clerk,signed_document,DOC-2025-731%s", id, who, status, at, id)
}

// rows are the files of a batch that has nothing else.
func rows(consents, suppressions, cases []string) map[string]string {
	file := func(header string, rows []string) string {
		if len(rows) == 0 {
			return header
		}
		return header + strings.Join(rows, "\n") + "\n"
	}
	return map[string]string{
		"consents.csv": file(consentHeader, consents), "suppressions.csv": file(suppressionHeader, suppressions), "cases.csv": file(caseHeader, cases),
	}
}

// next makes the folder another batch into the same register.
func (h *house) next(name string, files map[string]string) {
	h.t.Helper()
	h.write("batch.yaml", strings.Replace(houseFiles["batch.yaml"], "acme-2026", name, 1))
	for file, text := range files {
		h.write(file, text)
	}
}

// imported runs the batch into the register and gives its dry-run.
func (h *house) imported() *pipeline.DryRunResult {
	h.t.Helper()
	got := h.mustRun(pipeline.Reconcile)
	dry := got["dryrun"].(*pipeline.DryRunResult)
	if !dry.Passed || got["reconcile"] == nil || !got["reconcile"].(*pipeline.ReconcileResult).Passed {
		h.t.Fatalf("the batch did not get into the register: %v", dry.ByRule)
	}
	return dry
}

// state is the effective state of a consent and its reason, as trace says them.
func (h *house) state(id string) string {
	h.t.Helper()
	r, err := h.open().Trace(h.t.Context(), "consent", id, false)
	if err != nil {
		return "not in the register"
	}
	return r.Records[0].State + " " + r.Records[0].StateCause
}

func (h *house) wantState(id, want string) {
	h.t.Helper()
	if got := h.state(id); got != want {
		h.t.Errorf("%s is %s, want %s", id, got, want)
	}
}

// found are the findings of a source by row (0: the whole sheet).
func found(t *testing.T, r *pipeline.DryRunResult, source string) map[int][]string {
	t.Helper()
	got := map[int][]string{}
	for _, f := range findings(t, r.FindingsFile) {
		if f.Source == source {
			got[f.Row] = append(got[f.Row], f.Rule)
		}
	}
	return got
}

func sourceOf(t *testing.T, r *pipeline.DryRunResult, name string) pipeline.DryRunSource {
	t.Helper()
	i := slices.IndexFunc(r.Sources, func(s pipeline.DryRunSource) bool { return s.Source == name })
	if i < 0 {
		t.Fatalf("there is no source %s", name)
	}
	s := r.Sources[i]
	if s.Rows.Read != s.Rows.Accepted+s.Rows.Rejected+s.Rows.Skipped {
		t.Errorf("%s: %+v does not add up", name, s.Rows)
	}
	return s
}

func wantRules(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: findings %v, want %v", what, got, want)
	}
}

// A re-export in which a consent became blank, and another vanished, changes neither.
func TestRuleBlankNeverErases(t *testing.T) {
	t.Parallel()
	h := newHouse(t, storetest.SQLite(t), rows([]string{
		receipt("C-1", "S-1,one@example.com", "Y", "2025-03-01T10:00:00Z"),
		assertion("C-2", "S-2,two@example.com", "N", "2025-03-01T10:00:00Z"),
		receipt("C-3", "S-3,three@example.com", "Y", "2025-03-01T10:00:00Z"),
	}, nil, nil))
	h.imported()
	before := h.counts()
	h.next("acme-2027", rows([]string{
		assertion("C-1", "S-1,one@example.com", "", ""),
		assertion("C-2", "S-2,two@example.com", " ", "2026-03-01T10:00:00Z"),
	}, nil, nil))
	dry := h.imported()
	if got := sourceOf(t, dry, "consents"); got.Skipped["consent.no_answer"] != 2 || got.Rows.Accepted != 0 {
		t.Errorf("%+v", got)
	}
	after := h.counts()
	if before["receipts"] != after["receipts"] || before["legacy_assertions"] != after["legacy_assertions"] {
		t.Errorf("before %v, after %v", before, after)
	}
	h.wantState("C-1", "given receipt")
	h.wantState("C-2", "withdrawn withdrawal")
	h.wantState("C-3", "given receipt")
}

// The same answer again, in the file and in a later export, changes no date; with another date under the same key it is a conflict.
func TestRuleRepeatNeverRestamps(t *testing.T) {
	t.Parallel()
	row := assertion("C-1", "S-1,one@example.com", "Y", "2025-03-01T10:00:00Z")
	h := newHouse(t, storetest.SQLite(t), rows([]string{row, row}, nil, nil))
	if got := sourceOf(t, h.imported(), "consents"); got.Skipped["row.repeat"] != 1 {
		t.Errorf("%+v", got)
	}
	at := func() string {
		r, err := h.open().Trace(t.Context(), "consent", "C-1", false)
		if err != nil || len(r.Records) != 1 {
			t.Fatal(r, err)
		}
		return r.Records[0].Values["occurred_at"]
	}
	stamp := at()
	h.next("acme-2027", rows([]string{row, assertion("C-1", "S-1,one@example.com", "Y", "2026-08-01T10:00:00Z")}, nil, nil))
	wantRules(t, "two dates under one key", found(t, h.imported(), "consents")[2], "key.multiple_match")
	h.next("acme-2028", rows([]string{row}, nil, nil))
	wantRules(t, "known", found(t, h.imported(), "consents")[2], "row.known")
	h.next("acme-2029", rows([]string{assertion("C-1", "S-1,one@example.com", "Y", "2026-08-01T10:00:00Z")}, nil, nil))
	wantRules(t, "restamped", found(t, h.imported(), "consents")[2], "register.conflict")
	if got := at(); got != stamp {
		t.Errorf("%s became %s", stamp, got)
	}
}

// One wrong letter is no answer: the row is rejected, and what was known stays.
func TestRuleTypoRejectsAndIsNotUnknown(t *testing.T) {
	t.Parallel()
	h := newHouse(t, storetest.SQLite(t), rows([]string{receipt("C-1", "S-1,one@example.com", "Y", "2025-03-01T10:00:00Z")}, nil, nil))
	h.imported()
	h.next("acme-2027", rows([]string{receipt("C-1", "S-1,one@example.com", "yess", "2025-03-01T10:00:00Z")}, nil, nil))
	dry := h.imported()
	if got := sourceOf(t, dry, "consents"); !maps.Equal(got.Rejected, map[string]int{"enum.unmapped": 1}) || len(got.Skipped) != 0 {
		t.Errorf("%+v", got)
	}
	h.wantState("C-1", "given receipt")
}

func TestRuleAllYesColumnIsAWarning(t *testing.T) {
	t.Parallel()
	var all, most []string
	for i := range 12 {
		all = append(all, assertion(fmt.Sprintf("C-%d", i), fmt.Sprintf("S-%d,a%d@example.com", i, i), "Y", ""))
	}
	most = append(append(most, all[1:]...), assertion("C-0", "S-0,a0@example.com", "N", ""))
	for _, c := range []struct {
		name string
		rows []string
		want bool
	}{{"all yes", all, true}, {"one no", most, false}} {
		h := newHouse(t, storetest.SQLite(t), rows(c.rows, nil, nil))
		inv := h.mustRun(pipeline.Inventory)["inventory"].(*pipeline.InventoryResult)
		got := slices.ContainsFunc(findings(t, inv.FindingsFile), func(f finding.Finding) bool {
			return f.Rule == "consent.constant_column" && f.Severity == finding.Warning && f.Source == "consents"
		})
		if got != c.want {
			t.Errorf("%s: warned %v", c.name, got)
		}
	}
}

// TestRuleWhatWins has the rules of precedence, one pair of rows each.
func TestRuleWhatWins(t *testing.T) {
	t.Parallel()
	const mar, aug = "2025-03-01T10:00:00Z", "2026-08-01T10:00:00Z"
	h := newHouse(t, storetest.SQLite(t), rows([]string{
		assertion("subscribed", "S-1,subscribed@example.com", "Y", aug),
		assertion("optout", "S-2,undated@example.com", "N", ""), assertion("dated", "S-2,undated@example.com", "Y", aug),
		receipt("bounced", "S-3,bounced@example.com", "Y", mar), receipt("other", "S-3,other@example.com", "Y", mar),
		receipt("case", "S-4,Case.Matters@Example.COM", "Y", mar),
		receipt("erased", "S-5,erased@example.com", "Y", mar), receipt("number", "S-5,", "Y", mar),
		receipt("returned", "S-6,returned@example.com", "Y", aug),
	}, []string{
		"subscribed@example.com,email,opt_out,", "bounced@example.com,email,bounce,2026-08-02", "cASE.mATTERS@example.com,email,complaint,2026-08-02",
	}, []string{
		"R-1,erasure,done,,erased@example.com,2025-04-02,2025-04-20", "R-2,erasure,done,,returned@example.com,2025-04-02,2025-04-20",
	}))
	dry := h.imported()
	rules := found(t, dry, "consents")
	t.Run("suppressed but subscribed", func(t *testing.T) {
		wantRules(t, "row", rules[2], "suppression.overrules")
		h.wantState("subscribed", "suppressed suppressed_opt_out")
	})
	t.Run("undated opt-out beats dated assertion", func(t *testing.T) {
		wantRules(t, "row", rules[4], "consent.overruled")
		h.wantState("dated", "withdrawn withdrawal_undated")
	})
	t.Run("bounce is no withdrawal", func(t *testing.T) {
		h.wantState("bounced", "suppressed suppressed_bounce")
		h.wantState("other", "given receipt") // another address of the same person
	})
	t.Run("e-mail case in suppression", func(t *testing.T) {
		h.wantState("case", "suppressed suppressed_complaint")
	})
	t.Run("erased subject isn't brought back", func(t *testing.T) {
		wantRules(t, "row", rules[8], "subject.erased")
		wantRules(t, "under the customer number alone", rules[9], "subject.erased")
		h.wantState("erased", "not in the register")
		h.wantState("returned", "given receipt") // a receipt from after the erasure
	})
	t.Run("nor by a later export", func(t *testing.T) {
		h.next("acme-2027", rows([]string{assertion("again", "S-5,", "Y", aug), assertion("again2", "S-9,Erased@example.com", "Y", aug)}, nil, nil))
		got := found(t, h.imported(), "consents")
		// The register holds no row any more that says whose number S-5 is; the address is enough by itself.
		wantRules(t, "by address", got[3], "subject.erased")
	})
}

// Who left stays out, whatever a later export of another system says.
func TestRuleReimportNeverResubscribes(t *testing.T) {
	t.Parallel()
	h := newHouse(t, storetest.SQLite(t), rows([]string{
		assertion("C-1", "S-1,left@example.com", "N", "2025-03-01T10:00:00Z"),
		assertion("C-2", "S-2,never@example.com", "no", "2025-03-01T10:00:00Z"),
	}, []string{"listed@example.com,email,objection,2025-03-01"}, nil))
	h.imported()
	h.next("acme-2027", map[string]string{"consents.csv": consentHeader +
		assertion("N-1", "S-1,left@example.com", "Y", "2026-08-01T10:00:00Z") + "\n" +
		assertion("N-2", "S-2,never@example.com", "Y", "") + "\n" +
		assertion("N-3", "S-3,listed@example.com", "Y", "2026-08-01T10:00:00Z") + "\n" +
		receipt("N-4", "S-1,left@example.com", "Y", "2025-02-01T10:00:00Z") + "\n" +
		receipt("N-5", "S-2,never@example.com", "Y", "2026-08-01T10:00:00Z") + "\n", "suppressions.csv": suppressionHeader, "cases.csv": caseHeader})
	dry := h.imported()
	got := found(t, dry, "consents")
	wantRules(t, "N-1", got[2], "consent.overruled")
	wantRules(t, "N-2", got[3], "consent.overruled")
	wantRules(t, "N-3", got[4], "suppression.overrules")
	wantRules(t, "N-4", got[5], "consent.overruled")
	h.wantState("N-1", "withdrawn withdrawal")
	h.wantState("N-3", "suppressed suppressed_objection")
	h.wantState("N-4", "withdrawn withdrawal")
	h.wantState("N-5", "given receipt_later") // the one thing that brings somebody back
}

// TestRuleSubjects: identifiers that one row holds belong together; shared ones are nobody's.
func TestRuleSubjects(t *testing.T) {
	t.Parallel()
	const mar, aug = "2025-03-01T10:00:00Z", "2026-08-01T10:00:00Z"
	h := newHouse(t, storetest.SQLite(t), rows([]string{
		assertion("link", "S-1,one@example.com", "N", ""), receipt("linked", "S-1,", "Y", mar), receipt("old", ",one@example.com", "Y", mar),
		assertion("a", "S-2,info@example.com", "N", "2025-05-01"), receipt("b", "S-3,info@example.com", "Y", aug), receipt("b2", "S-3,", "Y", mar),
		receipt("whose", ",info@example.com", "Y", mar),
		receipt("d", "S-4,desk@example.com", "Y", mar), receipt("e", "S-5,desk@example.com", "Y", mar), receipt("f", "S-5,", "Y", mar),
		assertion("all", ",desk@example.com", "N", "2026-01-01"),
	}, nil, nil))
	dry := h.imported()
	got := found(t, dry, "consents")
	t.Run("linked by another row", func(t *testing.T) {
		h.wantState("linked", "withdrawn withdrawal_undated")
		h.wantState("old", "withdrawn withdrawal_undated")
	})
	t.Run("a customer of a shared mailbox speaks for no other", func(t *testing.T) {
		h.wantState("b2", "given receipt")
	})
	t.Run("a receipt of another customer lifts nothing", func(t *testing.T) {
		h.wantState("a", "withdrawn withdrawal")
	})
	t.Run("several matches are MULTIPLE_MATCH", func(t *testing.T) {
		wantRules(t, "row", got[8], "subject.multiple_match")
		for _, f := range findings(t, dry.FindingsFile) {
			if f.Rule == "subject.multiple_match" && (f.Class != finding.MultipleMatch || f.Cell != "C8" || f.Severity != finding.Error) {
				t.Errorf("%+v", f)
			}
		}
	})
	t.Run("but a withdrawal applies to all of them", func(t *testing.T) {
		wantRules(t, "row", got[12], "subject.applies_to_all")
		for _, id := range []string{"d", "e", "f"} {
			h.wantState(id, "withdrawn withdrawal")
		}
	})
	t.Run("over what the register holds", func(t *testing.T) {
		h.next("acme-2027", rows([]string{receipt("next", "S-1,", "Y", mar), receipt("next2", ",desk@example.com", "Y", aug)}, nil, nil))
		got := found(t, h.imported(), "consents")
		wantRules(t, "linked in the register", got[2], "consent.overruled")
		wantRules(t, "shared in the register", got[3], "subject.multiple_match")
	})
}

// TestRuleDoubtRaisesNothing: a later row that makes a link doubtful takes nothing back of what was said against consent by it. A link
// that comes later than a receipt tells whose it is.
func TestRuleDoubtRaisesNothing(t *testing.T) {
	t.Parallel()
	const mar, aug = "2025-03-01T10:00:00Z", "2026-08-01T10:00:00Z"
	h := newHouse(t, storetest.SQLite(t), rows([]string{
		assertion("no", "S-1,", "N", mar), assertion("link", "S-1,one@example.com", "Y", mar), receipt("yes", ",one@example.com", "Y", mar),
		assertion("no2", ",two@example.com", "N", mar), assertion("link2", "S-2,two@example.com", "Y", mar),
		assertion("link3", "S-2,too@example.com", "Y", mar), assertion("yes2", ",too@example.com", "Y", mar),
		assertion("left", ",old@example.com", "N", mar), receipt("back", "S-3,new@example.com", "Y", aug),
	}, nil, nil))
	h.imported()
	h.wantState("yes", "withdrawn withdrawal")
	h.wantState("yes2", "withdrawn withdrawal")
	h.wantState("left", "withdrawn withdrawal")
	h.next("acme-2027", rows([]string{
		assertion("other", "S-4,one@example.com", "Y", mar), assertion("other2", "S-4,too@example.com", "Y", mar),
		assertion("same", "S-3,old@example.com", "Y", mar),
	}, nil, nil))
	h.imported()
	h.wantState("yes", "withdrawn withdrawal")
	h.wantState("yes2", "withdrawn withdrawal")
	h.wantState("other", "given assertion")
	h.wantState("left", "given receipt_later")
}

// A withdrawal is heard whose identifier is refused for a space around it or a character that can't be seen; so is one of a later export.
func TestRulePaddedIdentifiersAreHeard(t *testing.T) {
	t.Parallel()
	for name, who := range map[string]string{
		"space":            ",one@example.com ",
		"no-break space":   ",\u00a0one@example.com",
		"zero-width space": ",one@exam\u200bple.com",
		"soft hyphen":      ",one\u00ad@example.com",
		"byte order mark":  "\ufeffS-1,",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t, storetest.SQLite(t), rows([]string{
				assertion("K-1", "S-1,one@example.com", "Y", "2025-01-01T10:00:00Z"),
				assertion("K-2", "S-2,two@example.com", "Y", "2025-01-01T10:00:00Z"),
				assertion("W-1", who, "N", "2025-02-01T10:00:00Z"),
			}, nil, nil))
			h.write("batch.yaml", tolerantBatch("acme-2026"))
			dry := h.mustRun(pipeline.DryRun)["dryrun"].(*pipeline.DryRunResult)
			if got := found(t, dry, "consents"); !slices.Equal(got[2], []string{"consent.opposed_by_rejected"}) || len(got[3]) > 0 || len(got[4]) != 1 {
				t.Errorf("%v", got)
			}
		})
	}
}

// A no to a purpose that is written in other letters' case than that of the list can't come in, and takes no consent back by itself; but it is
// no no to another purpose.
func TestRuleANoToAPurposeInOtherCase(t *testing.T) {
	t.Parallel()
	h := newHouse(t, storetest.SQLite(t), rows([]string{
		strings.Replace(assertion("A-1", "S-1,one@example.com", "N", "2025-01-01T10:00:00Z"), ",news,", ",News,", 1),
		assertion("A-2", "S-1,one@example.com", "Y", "2024-03-01T10:00:00Z"),
		assertion("B-1", "S-2,two@example.com", "Y", "2024-03-01T10:00:00Z"),
	}, nil, nil))
	h.write("batch.yaml", tolerantBatch("acme-2026"))
	dry := h.mustRun(pipeline.DryRun)["dryrun"].(*pipeline.DryRunResult)
	got := found(t, dry, "consents")
	if !slices.Equal(got[2], []string{"ref.not_found"}) || !slices.Equal(got[3], []string{"consent.opposed_by_rejected"}) || len(got[4]) > 0 {
		t.Errorf("%v", got)
	}
}

// A purpose that the mapping states and nobody holds rejects each row, and it is the mapping that is told to be mended.
func TestRuleAStatedPurposeThatIsNone(t *testing.T) {
	t.Parallel()
	files := rows([]string{assertion("A-1", "S-1,one@example.com", "Y", "2024-03-01T10:00:00Z")}, nil, nil)
	files["consents.yaml"] = strings.Replace(houseFiles["consents.yaml"], "      purpose: Purpose\n", "      purpose: { const: weekly, stated_by: { name: Marketing, at: 2026-01-05 } }\n", 1)
	h := newHouse(t, storetest.SQLite(t), files)
	h.write("batch.yaml", tolerantBatch("acme-2026"))
	dry := h.mustRun(pipeline.DryRun)["dryrun"].(*pipeline.DryRunResult)
	told := 0
	for _, f := range findings(t, dry.FindingsFile) {
		if f.Rule == "ref.not_found" && strings.Contains(f.Message, "mapping states it") {
			told++
		}
	}
	if told != 1 {
		t.Errorf("told of the mapping %d times: %v", told, found(t, dry, "consents"))
	}
}

// What reaches a consent only by way of a row that is rejected rejects it: the register could not follow. By a row that comes in, it overrules.
func TestRuleARejectedRowTiesNobody(t *testing.T) {
	t.Parallel()
	for purpose, want := range map[string]string{"gone": "consent.opposed_by_rejected", "news": "suppression.overrules"} {
		t.Run(purpose, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t, storetest.SQLite(t), rows([]string{
				strings.Replace(assertion("A-1", "S-1,one@example.com", "N", "2025-01-01T10:00:00Z"), ",news,", ","+purpose+",", 1),
				strings.Replace(assertion("B-1", "S-1,", "Y", "2025-03-01T10:00:00Z"), ",email,", ",sms,", 1),
			}, []string{"one@example.com,sms,objection,2025-02-01"}, nil))
			h.write("batch.yaml", tolerantBatch("acme-2026"))
			dry := h.mustRun(pipeline.DryRun)["dryrun"].(*pipeline.DryRunResult)
			if got := found(t, dry, "consents")[3]; !slices.Equal(got, []string{want}) {
				t.Errorf("%v, want %s", got, want)
			}
		})
	}
}
