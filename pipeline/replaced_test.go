package pipeline_test

import (
	"fmt"
	"strings"
	"testing"

	"sheetlift/pipeline"
	"sheetlift/pipeline/finding"
	"sheetlift/pipeline/store/storetest"
)

// wantReplaced holds a dry-run to one finding about a row of an earlier snapshot whose refusal never came in, or to none if where is "".
func wantReplaced(t *testing.T, dry *pipeline.DryRunResult, where, by string) {
	t.Helper()
	var list []finding.Finding
	for _, f := range findings(t, dry.FindingsFile) {
		if f.Rule == "consent.refusal_replaced" {
			list = append(list, f)
		}
	}
	if where == "" {
		if len(list) > 0 {
			t.Fatalf("%+v", list)
		}
		return
	}
	if len(list) != 1 || fmt.Sprint(list[0].Snapshot, " ", list[0].File, " ", list[0].Cell) != where || !strings.Contains(list[0].Message, by) || list[0].SubjectToken == "" {
		t.Fatalf("%+v, want one of %s by %s", list, where, by)
	}
}

// A rejected refusal is heard until its row comes back. If what comes back says yes, that is shown: the refusal never came in.
func TestRuleARefusalThatIsReplacedIsShown(t *testing.T) {
	t.Parallel()
	given := receipt("G-1", "S-1,one@example.com", "Y", "2025-03-01T10:00:00Z") + "\n"
	again := receipt("G-1", "S-1,one@example.com", "Y", "2026-03-01T10:00:00Z") + "\n"
	no := func(at string) string { return assertion("G-1", "S-1,one@example.com", "N", at) + "\n" }
	delta := func(h *house, name, text string) *pipeline.DryRunResult {
		h.write(name, text)
		h.snapshot(pipeline.Delta, name)
		return h.mustRun(pipeline.Reconcile)["dryrun"].(*pipeline.DryRunResult)
	}
	start := func(t *testing.T, files map[string]string) *house {
		h := newHouse(t, storetest.SQLite(t), files)
		h.mustRun(pipeline.Reconcile)
		return h
	}
	rejected := func(t *testing.T) *house {
		h := start(t, rows([]string{given + "X,S-9,nine@example.com,news,email,N,,,,,,,\n"}, nil, nil))
		dry := delta(h, "consents.csv", consentHeader+no("2025-13-01"))
		wantStillGiven(t, h, dry, "delta-1", "consents.csv F2")
		wantReplaced(t, dry, "", "")
		return h
	}
	for name, c := range map[string]struct{ row, where string }{
		"the yes that is known":      {given, "delta-1 consents.csv F2"},
		"a later yes":                {again, "delta-1 consents.csv F2"},
		"the no, mended":             {no("2025-12-01T10:00:00Z"), ""},
		"the no, as it was":          {no("2025-13-01"), ""},
		"the no of somebody else":    {assertion("G-1", "S-3,three@example.com", "N", "2025-12-01T10:00:00Z") + "\n", "delta-1 consents.csv F2"},
		"the no of another number":   {assertion("G-1", "S-3,one@example.com", "N", "2025-12-01T10:00:00Z") + "\n", "delta-1 consents.csv F2"},
		"the no of nobody":           {assertion("G-1", ",", "N", "2025-12-01T10:00:00Z") + "\n", "delta-1 consents.csv F2"},
		"the no to another purpose":  {strings.Replace(no("2025-12-01T10:00:00Z"), ",news,", ",ads,", 1), "delta-1 consents.csv F2"},
		"the no on another channel":  {strings.Replace(no("2025-12-01T10:00:00Z"), ",email,", ",phone,", 1), "delta-1 consents.csv F2"},
		"the no to everything":       {strings.Replace(no("2025-12-01T10:00:00Z"), ",news,email,", ",,any,", 1), ""},
		"the no by number alone":     {assertion("G-1", "S-1,", "N", "2025-12-01T10:00:00Z") + "\n", ""},
		"the no, its address mended": {assertion("G-1", "S-1,uno@example.com", "N", "2025-12-01T10:00:00Z") + "\n", ""},
		"nothing any more":           {assertion("G-1", "S-1,one@example.com", "", "") + "\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := rejected(t)
			dry := delta(h, "consents.csv", consentHeader+receipt("G-2", "S-2,", "Y", "2025-03-01T10:00:00Z")+"\n"+c.row)
			wantReplaced(t, dry, c.where, "row 3 of source consents")
			if c.where != "" && name != "the no of nobody" && name != "the no of another number" && (dry.StillGiven != 0 || !strings.HasPrefix(h.state("G-1"), "given")) {
				t.Errorf("%d, %s", dry.StillGiven, h.state("G-1"))
			}
			h.mustVerify()
		})
	}
	t.Run("in a workbook of rejects", func(t *testing.T) {
		t.Parallel()
		h := rejected(t)
		h.edit("mend.xlsx", func(w *inHand) { w.set(2, map[string]string{"Status": "Y", "At": "2026-03-01T10:00:00Z"}) })
		h.snapshot(pipeline.Mended, "mend.xlsx")
		wantReplaced(t, h.mustRun(pipeline.Reconcile)["dryrun"].(*pipeline.DryRunResult), "delta-1 consents.csv F2", "row 2 of source consents")
	})
	t.Run("an objection that became a bounce", func(t *testing.T) {
		t.Parallel()
		h := start(t, rows([]string{given}, nil, nil))
		delta(h, "suppressions.csv", suppressionHeader+"one@example.com,email,objection,2025-13-01\n")
		wantReplaced(t, delta(h, "suppressions.csv", suppressionHeader+"one@example.com,email,bounce,\n"), "delta-1 suppressions.csv C2", "(objection)")
	})
	t.Run("a history", func(t *testing.T) {
		t.Parallel()
		files := rows([]string{no("2024-01-01T10:00:00Z") + given}, nil, nil)
		files["consents.yaml"] = strings.Replace(houseFiles["consents.yaml"], "    key: [external_id]\n", "    key: [external_id]\n    history: true\n", 1)
		h := start(t, files)
		h.wantState("G-1", "given receipt_later")
		delta(h, "consents.csv", consentHeader+no("2024-01-01T10:00:00Z")+given+no("2025-13-01"))
		dry := delta(h, "consents.csv", consentHeader+no("2024-01-01T10:00:00Z")+given) // which were beside it
		wantReplaced(t, dry, "", "")
		if dry.StillGiven != 1 {
			t.Errorf("%d still given", dry.StillGiven)
		}
		wantReplaced(t, delta(h, "consents.csv", consentHeader+no("2024-01-01T10:00:00Z")+given+again), "delta-1 consents.csv F4", "row 2 of source consents")
	})
	t.Run("of two records in a row", func(t *testing.T) {
		t.Parallel()
		files := rows([]string{given}, nil, nil)
		files["consents.yaml"] = houseFiles["consents.yaml"] + `  - entity: consent
    key: [external_id]
    when: { column: Actor, not_in: [Ada Agent] }
    fields:
      external_id: Actor
      subject_id: Subject
      purpose: { const: ads, stated_by: { name: CRM, at: 2026-10-01 } }
      status: { from: Proof, enum: { given: [Y], withdrawn: [N] } }
      occurred_at: { from: At, format: iso8601 }
`
		h := start(t, files)
		row := func(news, at, ads string) string {
			return consentHeader + "G-1,S-1,one@example.com,news,email," + news + "," + at + ",,,H-1,,," + ads + "\n"
		}
		delta(h, "consents.csv", row("N", "2025-13-01", "Y"))
		wantReplaced(t, delta(h, "consents.csv", row("N", "2025-12-01", "Y")), "", "")
		delta(h, "consents.csv", row("Y", "2025-13-01", "N"))
		wantReplaced(t, delta(h, "consents.csv", row("N", "2025-12-01", "Y")), "delta-3 consents.csv M2", "row 2 of source consents")
	})
}
