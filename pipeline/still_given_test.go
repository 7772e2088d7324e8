package pipeline_test

import (
	"slices"
	"strings"
	"testing"

	"sheetlift/pipeline"
	"sheetlift/pipeline/finding"
	"sheetlift/pipeline/store/storetest"
)

// stillGiven are the findings of a dry-run that name consents which the register holds as given.
func stillGiven(t *testing.T, dry *pipeline.DryRunResult) (list []finding.Finding) {
	t.Helper()
	for _, f := range findings(t, dry.FindingsFile) {
		if f.Rule == "consent.still_given" {
			list = append(list, f)
		}
	}
	return list
}

// wantStillGiven holds a house to what is shown of the consent G-1 that a rejected row speaks against, or to nothing if where is "".
func wantStillGiven(t *testing.T, h *house, dry *pipeline.DryRunResult, snapshot, where string) {
	t.Helper()
	list := stillGiven(t, dry)
	tr, err := h.open().Trace(t.Context(), "consent", "G-1", false)
	if err != nil {
		t.Fatal(err)
	}
	st, err := h.open().Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	rv := review(t, h)
	opposed := tr.Records[0].Opposed
	if where == "" {
		if len(list)+dry.StillGiven+len(opposed)+st.StillGiven+rv.Judged.StillGiven > 0 {
			t.Errorf("%+v; dryrun %d, status %d, review %d, trace %v", list, dry.StillGiven, st.StillGiven, rv.Judged.StillGiven, opposed)
		}
		return
	}
	if len(list) != 1 || dry.StillGiven != 1 || st.StillGiven != 1 || rv.Judged.StillGiven != 1 || len(opposed) != 1 {
		t.Fatalf("%+v; dryrun %d, status %d, review %d, trace %v", list, dry.StillGiven, st.StillGiven, rv.Judged.StillGiven, opposed)
	}
	f := list[0]
	if ids := f.Records.List(); len(ids) != 1 || ids[0] != tr.Records[0].ID || f.SubjectToken == "" || f.Field == "" {
		t.Errorf("%+v", f)
	}
	if got := strings.TrimSpace(f.File + f.Sheet + " " + f.Cell); got != where || f.Row == 0 {
		t.Errorf("found at %q row %d, want %q", got, f.Row, where)
	}
	if o := opposed[0]; o.Snapshot != snapshot || o.File != f.File || o.Row != f.Row || o.Cell != f.Cell || o.Source != f.Source {
		t.Errorf("trace: %+v", o)
	}
	if h.wantState("G-1", "given receipt"); t.Failed() {
		t.FailNow()
	}
}

// A rejected row changes nothing in the register. If it speaks against a consent that an earlier snapshot brought in, that is shown.
func TestRuleARejectedRefusalShowsWhatStaysGiven(t *testing.T) {
	t.Parallel()
	given := receipt("G-1", "S-1,one@example.com", "Y", "2025-03-01T10:00:00Z") + "\n"
	other := receipt("G-2", "S-2,two@example.com", "Y", "2025-03-01T10:00:00Z") + "\n"
	withdrawn := func(at string) string { return assertion("W-1", "S-1,one@example.com", "N", at) + "\n" }
	start := func(t *testing.T) *house {
		h := newHouse(t, storetest.SQLite(t), rows([]string{given + other}, nil, nil))
		h.mustRun(pipeline.Reconcile)
		h.wantState("G-1", "given receipt")
		return h
	}
	delta := func(h *house, files map[string]string) *pipeline.DryRunResult {
		var names []string
		for name, text := range files {
			h.write(name, text)
			names = append(names, name)
		}
		h.snapshot(pipeline.Delta, names...)
		got := h.mustRun(pipeline.Reconcile)
		dry := got["dryrun"].(*pipeline.DryRunResult)
		if rec, ok := got["reconcile"].(*pipeline.ReconcileResult); ok && (rec.StillGiven != dry.StillGiven || !rec.Passed) {
			h.t.Errorf("reconcile: %+v", rec)
		}
		return dry
	}
	for name, c := range map[string]struct {
		files map[string]string
		where string
	}{
		"a misspelt date": {map[string]string{"consents.csv": consentHeader + given + other + withdrawn("2025-13-01T10:00:00Z")}, "consents.csv F4"},
		"an unknown purpose": {map[string]string{"consents.csv": consentHeader + other + strings.Replace(withdrawn("2025-12-01T10:00:00Z"), ",news,", ",,", 1) +
			"X-1,S-9,nine,news,email,N,,,,,,,\n"}, ""}, // the blank purpose covers everything, and comes in
		"a reference that is none":                         {map[string]string{"consents.csv": consentHeader + given + "W-1,S-1,one@example.com,news,email,N,2025-12-01T10:00:00Z,PN,9,,,,\n"}, "consents.csv F3"},
		"two contents under one key":                       {map[string]string{"consents.csv": consentHeader + given + withdrawn("2025-12-01T10:00:00Z") + withdrawn("2025-12-02T10:00:00Z")}, "twice"},
		"a suppression":                                    {map[string]string{"suppressions.csv": suppressionHeader + "one@example.com,email,objection,2025-13-01\n"}, "suppressions.csv C2"},
		"a fulfilled erasure":                              {map[string]string{"cases.csv": caseHeader + "E-1,erasure,done,,one@example.com,2025-09-01,2025-13-01\n"}, "cases.csv B2"},
		"an erasure whose date is wrong in another column": {map[string]string{"cases.csv": caseHeader + "E-1,erasure,done,S-9,one@example.com,2025-13-01,2025-09-20\n"}, "cases.csv B2"},
		"an erasure before the consent":                    {map[string]string{"cases.csv": caseHeader + "E-1,erasure,done,,one@example.com,2024-13-01,2024-09-20\n"}, ""},
		"an open erasure":                                  {map[string]string{"cases.csv": caseHeader + "E-1,erasure,open,,one@example.com,2025-13-01,\n"}, ""},
		"two erasures under one key":                       {map[string]string{"cases.csv": caseHeader + "E-1,erasure,done,,one@example.com,2025-09-01,2025-09-20\nE-1,erasure,done,,one@example.com,2025-09-01,2025-09-21\n"}, "twice"},
		"of another subject":                               {map[string]string{"consents.csv": consentHeader + given + strings.ReplaceAll(withdrawn("2025-13-01"), "S-1,one@", "S-3,three@")}, ""},
		"overruled by what stands": {map[string]string{"consents.csv": consentHeader + given + withdrawn("2025-13-01"),
			"suppressions.csv": suppressionHeader + "one@example.com,email,objection,\n"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := start(t)
			dry := delta(h, c.files)
			if c.where == "twice" {
				if list := stillGiven(t, dry); len(list) != 2 || dry.StillGiven != 1 {
					t.Errorf("%d, %+v", dry.StillGiven, list)
				}
				return
			}
			wantStillGiven(t, h, dry, "delta-1", c.where)
			h.mustVerify()
		})
	}
	t.Run("left out, then mended", func(t *testing.T) {
		t.Parallel()
		h := start(t)
		h.write("consents.csv", consentHeader+given+other+withdrawn("2025-13-01T10:00:00Z"))
		h.snapshot(pipeline.Delta, "consents.csv")
		h.mustRun(pipeline.Reconcile)
		h.write("suppressions.csv", suppressionHeader+"else@example.com,email,objection,\n")
		h.snapshot(pipeline.Delta, "suppressions.csv")
		dry := h.mustRun(pipeline.Reconcile)["dryrun"].(*pipeline.DryRunResult)
		if list := stillGiven(t, dry); len(list) != 1 || list[0].Snapshot != "delta-1" {
			t.Fatalf("%+v", list)
		}
		wantStillGiven(t, h, dry, "delta-1", "consents.csv F4")
		h.write("consents.csv", consentHeader+given+withdrawn("2025-13-02T10:00:00Z"))
		h.snapshot(pipeline.Delta, "consents.csv")
		dry = h.mustRun(pipeline.Reconcile)["dryrun"].(*pipeline.DryRunResult)
		wantStillGiven(t, h, dry, "delta-3", "consents.csv F3")
		h.write("mended.csv", consentHeader+withdrawn("2025-12-01T10:00:00Z"))
		h.snapshotOf("consents", "mended.csv")
		dry = h.mustRun(pipeline.Reconcile)["dryrun"].(*pipeline.DryRunResult)
		if list := stillGiven(t, dry); len(list)+dry.StillGiven > 0 {
			t.Errorf("%+v", list)
		}
		h.wantState("G-1", "withdrawn withdrawal")
	})
	t.Run("back without a token that is known", func(t *testing.T) {
		t.Parallel()
		h := start(t)
		h.write("consents.csv", consentHeader+given+other+withdrawn("2025-13-01T10:00:00Z"))
		h.snapshot(pipeline.Delta, "consents.csv")
		h.mustRun(pipeline.Reconcile)
		h.edit("mend.xlsx", func(w *inHand) {
			lines, err := w.book.GetRows("consents")
			if err != nil {
				t.Fatal(err)
			}
			w.copy(2) // so that one row of the workbook is known
			for header, letter := range w.column {
				if strings.HasPrefix(lines[1][len(lines[1])-1], "r-") && letter == w.column[lines[0][len(lines[0])-1]] || header == lines[0][0] && strings.HasPrefix(lines[1][0], "r-") {
					w.set(3, map[string]string{header: "r-unknown"})
				}
			}
			w.set(3, map[string]string{"At": "2025-12-01T10:00:00Z"})
		})
		h.snapshot(pipeline.Mended, "mend.xlsx")
		dry := dryRun(h)
		list := stillGiven(t, dry)
		if len(list) != 2 || list[0].File == list[1].File || dry.StillGiven != 1 {
			t.Fatalf("%+v", list)
		}
		for _, f := range list {
			if f.Snapshot != "" || f.File == "mend.xlsx" && f.Row != 3 {
				t.Errorf("%+v", f)
			}
		}
	})
	t.Run("another batch", func(t *testing.T) {
		t.Parallel()
		h := start(t)
		h.next("second", rows([]string{withdrawn("2025-13-01T10:00:00Z")}, nil, nil))
		got := dryRun(h)
		if list := stillGiven(t, got); len(list) != 1 || got.StillGiven != 1 {
			t.Errorf("%d, %+v", got.StillGiven, list)
		}
	})
}

// An import erases nothing. A fulfilled erasure that comes in after the consents of its subject says what the register still holds, and none
// of that stands.
func TestRuleAnErasureShowsWhatIsStillHeld(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, url string) {
		const asked, done = "E-1,erasure,open,,one@example.com,2026-09-01,", "E-1,erasure,done,,one@example.com,2026-09-01,2026-09-20"
		h := newHouse(t, url, rows([]string{
			receipt("G-1", "S-1,one@example.com", "Y", "2025-03-01T10:00:00Z"),
			receipt("G-2", "S-1,", "Y", "2025-04-01T10:00:00Z"), // of the same subject: G-1 has both
			receipt("G-3", "S-2,two@example.com", "Y", "2025-03-01T10:00:00Z"),
		}, nil, []string{asked}))
		h.mustRun(pipeline.Reconcile)
		h.write("cases.csv", caseHeader+done+"\n")
		h.snapshot(pipeline.Delta, "cases.csv")
		dry := h.mustRun(pipeline.Reconcile)["dryrun"].(*pipeline.DryRunResult)
		var list []finding.Finding
		for _, f := range findings(t, dry.FindingsFile) {
			if f.Rule == "subject.still_held" {
				list = append(list, f)
			}
		}
		if len(list) != 1 || len(list[0].Records.List()) != 2 || list[0].File != "cases.csv" || list[0].Row != 2 || !strings.Contains(list[0].Message, "2 consents") {
			t.Errorf("%+v", list)
		}
		if dry.Rows.Rejected > 0 {
			t.Errorf("%+v", dry.Rows)
		}
		h.wantState("G-1", "none erased")
		h.wantState("G-2", "none erased")
		h.wantState("G-3", "given receipt")
	})
}

// What another batch brings may overrule a consent that a rejected row speaks against. That the register is another one since is said until a dry-run
// looks again, and what reconcile found before is no word against what it finds then.
func TestRuleWhatStaysGivenIsLookedAtAnew(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, url string) {
		h := newHouse(t, url, rows([]string{receipt("G-1", "S-1,one@example.com", "Y", "2025-03-01T10:00:00Z")}, nil, nil))
		h.imported()
		second := rows([]string{receipt("H-1", "S-7,seven@example.com", "Y", "2025-03-01T10:00:00Z"), assertion("H-2", ",one@example.com", "N", "2025-13-01")}, nil, nil)
		h.next("acme-2027", second)
		still := func(want int) {
			t.Helper()
			got := h.mustRun(pipeline.Reconcile)
			if dry, rec := got["dryrun"].(*pipeline.DryRunResult), got["reconcile"].(*pipeline.ReconcileResult); dry.StillGiven != want || rec.StillGiven != want || !rec.Passed {
				t.Fatalf("dryrun %d, reconcile %d, want %d", dry.StillGiven, rec.StillGiven, want)
			}
		}
		remarked := func() bool {
			t.Helper()
			h.said = nil
			if _, err := h.open().Status(t.Context()); err != nil {
				t.Fatal(err)
			}
			return strings.Contains(strings.Join(h.said, " "), "run `sheetlift dryrun` to look again")
		}
		still(1)
		if remarked() {
			t.Error("the register is what it was")
		}
		h.next("acme-2028", rows([]string{assertion("K-1", ",one@example.com", "N", "2025-12-01T10:00:00Z")}, nil, nil))
		h.imported()
		h.next("acme-2027", second)
		if _, err := h.open().Reconcile(t.Context()); err != nil {
			t.Fatal(err)
		}
		reviewed := func(still int, changed bool) {
			t.Helper()
			r, err := h.open().Review(t.Context())
			if err != nil || r.Judged.StillGiven != still || r.Judged.RegisterChanged != changed {
				t.Errorf("the review says %+v, %v", r.Judged, err)
			}
		}
		if !remarked() {
			t.Error("nothing says that the register is another one since")
		}
		reviewed(1, true)
		if dry, err := h.open().DryRun(t.Context()); err != nil || dry.StillGiven != 0 {
			t.Fatal(dry, err)
		}
		for range 2 {
			if rec, err := h.open().Reconcile(t.Context()); err != nil || rec.StillGiven != 0 || !rec.Passed {
				t.Fatalf("%+v, %v", rec, err)
			}
		}
		if remarked() {
			t.Error("it was looked at again")
		}
		reviewed(0, false)

		// An undo names the batches whose rows it concerns, as long as they have not looked again.
		again := func(batch string, want ...pipeline.JudgeAgain) {
			t.Helper()
			h.next(batch, nil)
			r, err := h.open().Undo(t.Context())
			if err != nil || !slices.Equal(r.JudgeAgain, want) {
				t.Errorf("undo of %s: %+v, %v", batch, r, err)
			}
		}
		look := func(batch string, still int) {
			t.Helper()
			h.next(batch, second)
			if dry, err := h.open().DryRun(t.Context()); err != nil || dry.StillGiven != still {
				t.Fatal(dry, err)
			}
		}
		again("acme-2028", pipeline.JudgeAgain{Batch: "acme-2027", Next: "sheetlift dryrun"}) // the withdrawal goes, and with it what overruled the consent
		again("acme-2028", pipeline.JudgeAgain{Batch: "acme-2027", Next: "sheetlift dryrun"}) // asked once more
		h.next("acme-2027", second)
		if !remarked() {
			t.Error("nothing says that the register is another one since the undo")
		}
		reviewed(0, true)
		look("acme-2027", 1)
		again("acme-2028")
		again("acme-2026", pipeline.JudgeAgain{Batch: "acme-2027", StillGiven: 1, Next: "sheetlift dryrun"}) // the consent itself goes
		look("acme-2027", 0)
		again("acme-2026")
		again("acme-2027") // no other batch has such rows
	})
}
