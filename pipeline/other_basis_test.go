package pipeline_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"sheetlift/pipeline"
	"sheetlift/pipeline/finding"
	"sheetlift/pipeline/store/storetest"
)

// onBasis are the files of a batch whose consents have a lawful basis in a further column, and the rows of consents.
func onBasis(consents ...string) map[string]string {
	files := withMapping("      proof_ref: Proof\n", "      proof_ref: Proof\n      lawful_basis: { from: Basis, enum: { consent: [C], legitimate_interest: [LI], contract: [K] } }\n", basisRows(consents...))
	files["suppressions.csv"], files["cases.csv"] = suppressionHeader, caseHeader
	return files
}

func basisRows(consents ...string) string {
	return strings.TrimSpace(consentHeader) + ",Basis\n" + strings.Join(consents, "\n") + "\n"
}

// otherBasis are the findings of a dry-run about noes on other lawful bases: snapshot, row, cell, and how many consents stand beside it.
func otherBasis(t *testing.T, dry *pipeline.DryRunResult) (list []string, all []finding.Finding) {
	t.Helper()
	for _, f := range findings(t, dry.FindingsFile) {
		if f.Rule == "consent.refusal_on_other_basis" {
			list = append(list, strings.TrimSpace(fmt.Sprintf("%s %d %s %d", f.Snapshot, f.Row, f.Cell, len(f.Records.List()))))
			all = append(all, f)
		}
	}
	return list, all
}

// A no in a row that rests on another lawful basis takes no consent back, but a consent that stands beside it is shown.
func TestRuleARefusalOnAnotherBasisIsShownBesideAConsent(t *testing.T) {
	t.Parallel()
	given := receipt("G-1", "S-1,one@example.com", "Y", "2025-03-01T10:00:00Z") + ",C"
	no := func(who, basis, at string) string { return assertion("N-1", who, "N", at) + "," + basis }
	for name, c := range map[string]struct {
		rows []string
		want []string
		says string
	}{
		"an objection":               {[]string{no("S-1,one@example.com", "LI", "2025-12-01T10:00:00Z"), given}, []string{"2 F2 1"}, "objection"},
		"after the consent":          {[]string{given, no("S-1,one@example.com", "LI", "")}, []string{"3 F3 1"}, "row 2 of source consents"},
		"by another identifier":      {[]string{given, no(",ONE@example.com", "LI", "")}, []string{"3 F3 1"}, ""},
		"on a contract":              {[]string{given, no("S-1,one@example.com", "K", "")}, []string{"3 F3 1"}, "(contract), so it takes no consent back"},
		"a date that can't be read":  {[]string{given, no("S-1,one@example.com", "LI", "2025-13-01")}, []string{"3 F3 1"}, ""},
		"before a later receipt":     {[]string{given, no("S-1,one@example.com", "LI", "2025-01-01T10:00:00Z")}, nil, ""},
		"a yes":                      {[]string{given, assertion("N-1", "S-1,one@example.com", "Y", "") + ",LI"}, nil, ""},
		"no answer":                  {[]string{given, assertion("N-1", "S-1,one@example.com", "", "") + ",LI"}, nil, ""},
		"of another subject":         {[]string{given, no("S-2,two@example.com", "LI", "")}, nil, ""},
		"for another purpose":        {[]string{given, strings.Replace(no("S-1,one@example.com", "LI", ""), ",news,", ",ads,", 1)}, nil, ""},
		"for any purpose":            {[]string{given, strings.Replace(no("S-1,one@example.com", "LI", ""), ",news,", ",,", 1)}, []string{"3 F3 1"}, ""},
		"a consent that is rejected": {[]string{strings.Replace(given, ",PN,2", ",PN,9", 1), no("S-1,one@example.com", "LI", "")}, nil, ""},
		"a consent that is overruled": {[]string{given, assertion("W-1", "S-1,one@example.com", "N", "") + ",C",
			no("S-1,one@example.com", "LI", "")}, nil, ""},
		"several consents": {[]string{given, receipt("G-2", "S-1,", "Y", "2025-04-01T10:00:00Z") + ",C", no("S-1,", "LI", "")}, []string{"4 F4 2"}, "2 consents of the same subject come in (row 2 of source consents is the first)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t, storetest.SQLite(t), onBasis(c.rows...))
			dry := dryRun(h)
			list, all := otherBasis(t, dry)
			if !slices.Equal(list, c.want) {
				t.Fatalf("%v %+v, want %v", list, all, c.want)
			}
			for _, f := range all {
				if !strings.Contains(f.Message, c.says) || f.SubjectToken == "" || f.Field != "consent.status" || f.Severity != finding.Warning {
					t.Errorf("%+v", f)
				}
				if basis := strings.Contains(f.Message, "(contract)"); basis == strings.Contains(f.Message, "objection") {
					t.Errorf("%s", f.Message)
				}
			}
			if src := sourceOf(t, dry, "consents"); src.Skipped["consent.not_consent"] != len(c.rows)-src.Rows.Accepted-src.Rows.Rejected-src.Skipped["consent.no_answer"] {
				t.Errorf("%+v", src)
			}
		})
	}
	t.Run("beside what the register holds", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t, storetest.SQLite(t), onBasis(given))
		h.mustRun(pipeline.Reconcile)
		h.write("consents.csv", basisRows(given, no("S-1,one@example.com", "LI", "")))
		h.snapshot(pipeline.Delta, "consents.csv")
		dry := h.mustRun(pipeline.Reconcile)["dryrun"].(*pipeline.DryRunResult)
		list, all := otherBasis(t, dry)
		if !slices.Equal(list, []string{"3 F3 1"}) || !strings.Contains(all[0].Message, "stands as given in the register") || strings.Contains(all[0].Message, "come") {
			t.Fatalf("%+v", all)
		}
		tr, err := h.open().Trace(t.Context(), "consent", "G-1", false)
		if err != nil || tr.Records[0].ID != all[0].Records.List()[0] {
			t.Errorf("%+v %v", tr, err)
		}
		h.wantState("G-1", "given receipt")
	})
	t.Run("of an earlier snapshot", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t, storetest.SQLite(t), onBasis(no("S-1,one@example.com", "LI", "2025-12-01T10:00:00Z")))
		if list, _ := otherBasis(t, h.mustRun(pipeline.Reconcile)["dryrun"].(*pipeline.DryRunResult)); len(list) > 0 {
			t.Fatalf("%v", list)
		}
		h.write("consents.csv", basisRows(given))
		h.snapshot(pipeline.Delta, "consents.csv")
		if list, all := otherBasis(t, h.mustRun(pipeline.Reconcile)["dryrun"].(*pipeline.DryRunResult)); !slices.Equal(list, []string{"initial 2 F2 1"}) {
			t.Fatalf("%v %+v", list, all)
		}
		// Exported again it is the newer row that is named.
		h.write("consents.csv", basisRows(given, no("S-1,one@example.com", "LI", "2025-12-01T10:00:00Z")))
		h.snapshot(pipeline.Delta, "consents.csv")
		if list, all := otherBasis(t, h.mustRun(pipeline.Reconcile)["dryrun"].(*pipeline.DryRunResult)); !slices.Equal(list, []string{"3 F3 1"}) {
			t.Fatalf("%v %+v", list, all)
		}
	})
	t.Run("in a row of several records", func(t *testing.T) {
		t.Parallel()
		files := onBasis(given, "N-2,S-1,one@example.com,news,email,N,,,,,,,,LI")
		files["consents.yaml"] += `  - entity: suppression
    key: [phone, channel]
    fields: { phone: { const: "+493012345678" }, channel: { const: sms }, reason: { const: opt_out }, occurred_at: { from: At, format: iso8601 } }
    when: { column: Id, in: [N-2] }
`
		if list, all := otherBasis(t, dryRun(newHouse(t, storetest.SQLite(t), files))); !slices.Equal(list, []string{"3 F3 1"}) {
			t.Fatalf("%v %+v", list, all)
		}
	})
}
