package pipeline_test

import (
	"maps"
	"strings"
	"testing"

	"sheetlift/pipeline"
	"sheetlift/pipeline/store/storetest"
)

// A no that names nobody opposes nothing. Under the key of a record about somebody it is rejected; else it comes in with a warning.
func TestRuleANoThatNamesNobodyIsShown(t *testing.T) {
	t.Parallel()
	given := receipt("G-1", "S-1,one@example.com", "Y", "2025-03-01T10:00:00Z") + "\n"
	const at = "2025-12-01T10:00:00Z"
	no := func(id, who, status string) string { return assertion(id, who, status, at) + "\n" }
	history := map[string]string{"consents.yaml": strings.Replace(houseFiles["consents.yaml"], "    key: [external_id]\n", "    key: [external_id]\n    history: true\n", 1)}
	suppressions := map[string]string{"suppressions.yaml": strings.Replace(strings.Replace(houseFiles["suppressions.yaml"], "key: [email, channel]", "key: [external_id]", 1),
		"      email: Mail\n", "      external_id: Id\n      email: Mail\n", 1)}
	const named, first = "Id,Mail,Channel,Reason,At\n", "L-1,one@example.com,email,bounce,\n"
	const asked = "E-1,erasure,open,,one@example.com,2026-09-01,\n"
	for name, c := range map[string]struct {
		files   map[string]string // beside the given consent
		delta   string            // file
		text    string
		want    string // rule of the delta's row 2, and where; of the first snapshot's if there is no delta
		removed bool
		state   string // of G-1
	}{
		"under the key of the consent": {nil, "consents.csv", consentHeader + no("G-1", ",", "N"), "subject.removed F2", true, "given receipt"},
		"a refusal there":              {nil, "consents.csv", consentHeader + no("G-1", ",", "no"), "subject.removed F2", true, "given receipt"},
		"in a history":                 {history, "consents.csv", consentHeader + no("G-1", ",", "N"), "subject.removed F2", true, "given receipt"},
		"under a key of its own":       {nil, "consents.csv", consentHeader + no("W-1", ",", "N"), "subject.unnamed F2", false, "given receipt"},
		"that names the subject":       {nil, "consents.csv", consentHeader + no("G-1", "S-1,", "N"), "", false, "withdrawn withdrawal"},
		"a yes":                        {nil, "consents.csv", consentHeader + no("W-1", ",", "Y"), "", false, "given receipt"},
		"no answer":                    {nil, "consents.csv", consentHeader + no("G-1", ",", ""), "", false, "given receipt"},
		"a fulfilled erasure of a case that is new": {nil, "cases.csv", caseHeader + "E-1,erasure,done,,,2026-09-01,2026-09-20\n", "subject.unnamed B2", false, "given receipt"},
		"a case that was about somebody": {map[string]string{"cases.csv": caseHeader + asked}, "cases.csv", caseHeader + "E-1,erasure,done,,,2026-09-01,2026-09-20\n",
			"subject.removed B2", true, "given receipt"},
		"an open case": {nil, "cases.csv", caseHeader + "E-1,erasure,open,,,2026-09-01,\n", "", false, "given receipt"},
		"an open erasure that was about somebody": {map[string]string{"cases.csv": caseHeader + asked}, "cases.csv", caseHeader + "E-1,erasure,open,,,2026-09-01,\n", "", true, "given receipt"},
		"an objection":                   {nil, "cases.csv", caseHeader + "E-1,objection,open,,,2026-09-01,\n", "subject.unnamed B2", false, "given receipt"},
		"a suppression":                  {with(suppressions, "suppressions.csv", named+first), "suppressions.csv", named + "L-2,,email,objection,\n", "subject.unnamed D2", false, "suppressed suppressed_bounce"},
		"a suppression of somebody":      {with(suppressions, "suppressions.csv", named+first), "suppressions.csv", named + "L-1,,email,objection,\n", "subject.removed D2", true, "suppressed suppressed_bounce"},
		"in the first export, a history": {with(history, "consents.csv", consentHeader+no("G-1", ",", "N")+given), "", "", "subject.removed F2", true, "not in the register"},
		"in the first export, alone":     {with(nil, "consents.csv", consentHeader+no("W-1", ",", "N")+given), "", "", "subject.unnamed F2", false, "given receipt"},
		"in the first export, twice":     {with(history, "consents.csv", consentHeader+no("W-1", ",", "N")+no("W-1", ",", "no")+given), "", "", "subject.unnamed F2", false, "given receipt"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := rows([]string{strings.TrimSpace(given)}, nil, nil)
			maps.Copy(files, c.files)
			h := newHouse(t, storetest.SQLite(t), files)
			dry := h.mustRun(pipeline.Reconcile)["dryrun"].(*pipeline.DryRunResult)
			if c.delta != "" {
				h.write(c.delta, c.text)
				h.snapshot(pipeline.Delta, c.delta)
				dry = h.mustRun(pipeline.Reconcile)["dryrun"].(*pipeline.DryRunResult)
			}
			got := ""
			for _, f := range findings(t, dry.FindingsFile) {
				if strings.HasPrefix(f.Rule, "subject.") && f.Row == 2 {
					got = strings.TrimSpace(got + " " + f.Rule + " " + f.Cell)
				}
			}
			if got != c.want || (dry.Rows.Rejected > 0) != c.removed {
				t.Errorf("%q, rows %+v; want %q", got, dry.Rows, c.want)
			}
			h.wantState("G-1", c.state)
			h.mustVerify()
		})
	}
	t.Run("mended", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t, storetest.SQLite(t), rows([]string{strings.TrimSpace(given)}, nil, nil))
		h.mustRun(pipeline.Reconcile)
		h.write("consents.csv", consentHeader+no("G-1", ",", "N"))
		h.snapshot(pipeline.Delta, "consents.csv")
		h.mustRun(pipeline.Reconcile)
		h.edit("mend.xlsx", func(w *inHand) { w.set(2, map[string]string{"Mail": "one@example.com"}) })
		h.snapshot(pipeline.Mended, "mend.xlsx")
		h.mustRun(pipeline.Reconcile)
		h.wantState("G-1", "withdrawn withdrawal")
		h.mustVerify()
	})
}

// with gives the files with one more.
func with(files map[string]string, name, text string) map[string]string {
	all := map[string]string{name: text}
	maps.Copy(all, files)
	return all
}
