package pipeline_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"

	"sheetlift/pipeline"
	"sheetlift/pipeline/store"
	"sheetlift/pipeline/store/storetest"
)

// A refusal that was rejected stands against a consent. Leaving its row out of what comes back must not raise that consent.
func TestLeftOutRefusal(t *testing.T) {
	t.Parallel()
	const refusal = "K-1,S-20,k@example.com,news,email,N,2026-03-14T09:12:00Z,,,,,,\n"
	yes := "K-1,S-20,k@example.com,news,email,Y" + dated + "20\n"
	with := func(t *testing.T) *house {
		h := newHouse(t, storetest.SQLite(t), map[string]string{
			"consents.csv": consentHeader + "G-1,S-G,good@example.com,news,email,Y" + dated + "9\n" + yes + refusal,
		})
		h.mustRun(pipeline.Reconcile)
		if got := h.state("K-1"); got != "not in the register" {
			t.Fatal(got)
		}
		return h
	}
	opposed := func(t *testing.T, h *house, id, rule string) {
		t.Helper()
		r := h.mustRun(pipeline.Reconcile)["dryrun"].(*pipeline.DryRunResult)
		if r.Sources[0].Rejected[rule] != 1 || strings.HasPrefix(h.state(id), "given") {
			t.Errorf("%+v, %s is %s", r.Sources[0], id, h.state(id))
		}
	}
	t.Run("records", func(t *testing.T) {
		h := with(t)
		h.write("mended.csv", consentHeader+strings.Replace(yes, "Ada", "Adah", 1))
		h.snapshotOf("consents", "mended.csv")
		opposed(t, h, "K-1", "key.multiple_match")
	})
	t.Run("another key", func(t *testing.T) {
		h := with(t)
		h.write("mended.csv", consentHeader+strings.Replace(yes, "K-1,", "K-1b,", 1))
		h.snapshotOf("consents", "mended.csv")
		opposed(t, h, "K-1b", "consent.opposed_by_rejected")
	})
	t.Run("fresh export", func(t *testing.T) {
		h := with(t)
		h.write("consents.csv", consentHeader+yes)
		h.snapshot(pipeline.Delta, "consents.csv")
		opposed(t, h, "K-1", "consent.opposed_by_rejected")
	})
	t.Run("workbook", func(t *testing.T) {
		h := with(t)
		h.rejects("mend.xlsx")
		mend(t, filepath.Join(h.dir, "mend.xlsx"), func(book *excelize.File, header map[string]string, row, n int) {
			if n == 0 { // of two rows the first is changed, the second taken away
				if err := book.SetCellStr("consents", fmt.Sprint(header["Actor"], row), "Adah Agent"); err != nil {
					t.Fatal(err)
				}
			}
		})
		book, err := excelize.OpenFile(filepath.Join(h.dir, "mend.xlsx"))
		if err != nil {
			t.Fatal(err)
		}
		rows, err := book.GetRows("consents")
		if err != nil {
			t.Fatal(err)
		}
		if err := book.RemoveRow("consents", len(rows)); err != nil {
			t.Fatal(err)
		}
		if err := book.Save(); err != nil {
			t.Fatal(err)
		}
		if err := book.Close(); err != nil {
			t.Fatal(err)
		}
		h.snapshot(pipeline.Mended, "mend.xlsx")
		opposed(t, h, "K-1", "key.multiple_match")
	})
	// What comes back speaks for itself: a refusal that its owner corrects to a yes is one.
	t.Run("corrected", func(t *testing.T) {
		h := newHouse(t, storetest.SQLite(t), map[string]string{
			"consents.csv": consentHeader + "G-1,S-G,good@example.com,news,email,Y" + dated + "9\n" + "K-2,S-21,nobody,news,email,N,2026-03-14T09:12:00Z,,,,,,\n",
		})
		h.mustRun(pipeline.Reconcile)
		h.write("mended.csv", consentHeader+"K-2,S-21,k@example.com,news,email,Y"+dated+"21\n")
		h.snapshotOf("consents", "mended.csv")
		h.mustRun(pipeline.Reconcile)
		if got := h.state("K-2"); !strings.HasPrefix(got, "given") {
			t.Error(got)
		}
	})
}

// What was recorded of rejected rows is held to its digest: a list that was emptied or cut would raise the consent that a rejected
// withdrawal opposes.
func TestTamperedListOfRejectedRows(t *testing.T) {
	t.Parallel()
	yes := "K-1,S-20,k@example.com,news,email,Y" + dated + "20\n"
	for _, c := range []struct {
		name   string
		tamper func(data string) string
	}{
		{"emptied", func(string) string { return "" }},
		{"a line dropped", func(data string) string { return data[strings.Index(data, "\n")+1:] }},
		{"another row", func(data string) string { return strings.ReplaceAll(data, `"row":4`, `"row":2`) }},
		{"more after the end", func(data string) string { return data + "]" }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t, storetest.SQLite(t), map[string]string{
				"consents.csv": consentHeader + "G-1,S-G,good@example.com,news,email,Y" + dated + "9\n" + yes +
					"K-1,S-20,k@example.com,news,email,N,2026-03-14T09:12:00Z,,,,,,\n",
			})
			got := h.mustRun(pipeline.Reconcile)
			h.mustVerify()
			dry := got["dryrun"].(*pipeline.DryRunResult)
			path := filepath.Join(filepath.Dir(dry.FindingsFile), "rejected.ndjson")
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(c.tamper(string(data))), 0o600); err != nil {
				t.Fatal(err)
			}
			wantUnverified(t, h, "list of rejected rows")
			wantIntegrity(t, h.open().WriteRejects(t.Context(), dry, filepath.Join(h.dir, "mend.xlsx")), "rejected.ndjson")
			h.write("consents.csv", consentHeader+yes)
			h.snapshot(pipeline.Delta, "consents.csv")
			_, err = h.run(pipeline.Reconcile)
			wantIntegrity(t, err, "rejected.ndjson")
			if got := h.state("K-1"); got != "not in the register" {
				t.Errorf("K-1 is %s", got)
			}
			if err := os.WriteFile(path, data, 0o600); err != nil {
				t.Fatal(err)
			}
			h.mustRun(pipeline.Reconcile)
			if got := h.state("K-1"); strings.HasPrefix(got, "given") {
				t.Errorf("K-1 is %s", got)
			}
		})
	}
}

// wantUnverified holds verify to exactly one failed check, of that name.
func wantUnverified(t *testing.T, h *house, what string) {
	t.Helper()
	v, err := h.open().Verify(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var bad []string
	for _, c := range v.Checks {
		if !c.OK {
			bad = append(bad, c.What)
		}
	}
	if len(bad) != 1 || bad[0] != what {
		t.Errorf("verify faults %q, want %q", bad, what)
	}
}

// A findings file with as many lines as its result counts, but other ones, is not the one that was recorded.
func TestTamperedFindings(t *testing.T) {
	t.Parallel()
	h := newHouse(t, storetest.SQLite(t), nil)
	dry := h.mustRun(pipeline.DryRun)["dryrun"].(*pipeline.DryRunResult)
	data, err := os.ReadFile(dry.FindingsFile)
	if err != nil {
		t.Fatal(err)
	}
	other := bytes.Replace(data, []byte(`"row":`), []byte(`"row":1`), 1)
	if bytes.Equal(other, data) {
		t.Fatal("no finding has a row")
	}
	if err := os.WriteFile(dry.FindingsFile, other, 0o600); err != nil {
		t.Fatal(err)
	}
	wantUnverified(t, h, "findings of dryrun")
	_, err = h.open().Review(t.Context())
	wantIntegrity(t, err, "findings")
	if err := os.RemoveAll(filepath.Dir(dry.FindingsFile)); err != nil { // as the remedy says
		t.Fatal(err)
	}
	h.mustRun(pipeline.DryRun)
	h.mustVerify()
	if _, err := h.open().Review(t.Context()); err != nil {
		t.Error(err)
	}
}

// Results of versions that recorded no digests of their lists are taken as before, and lost lists of theirs are made again.
func TestListsOfEarlierVersions(t *testing.T) {
	t.Parallel()
	h := newHouse(t, storetest.SQLite(t), nil)
	dry := h.mustRun(pipeline.DryRun)["dryrun"].(*pipeline.DryRunResult)
	forget := strings.NewReplacer(`"findings_sha256":"`+dry.FindingsSum+`",`, "", `"rejected_sha256":"`+dry.Listed+`"`, `"rejects":null`)
	err := h.look().Update(t.Context(), func(tx *store.Tx) error {
		var text string
		if err := tx.QueryRow(t.Context(), `SELECT result FROM operations WHERE kind = 'dryrun'`).Scan(&text); err != nil {
			return err
		}
		older := forget.Replace(text)
		if strings.Contains(older, dry.FindingsSum) || strings.Contains(older, "rejected_sha256") {
			t.Errorf("still in %s", older)
		}
		_, err := tx.Exec(t.Context(), `UPDATE operations SET result = $1 WHERE kind = 'dryrun'`, older)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(filepath.Dir(dry.FindingsFile), "rejected.ndjson")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := h.open().Review(t.Context()); err != nil {
		t.Error(err)
	}
	if err := os.RemoveAll(filepath.Dir(path)); err != nil {
		t.Fatal(err)
	}
	if r := h.mustRun(pipeline.DryRun)["dryrun"].(*pipeline.DryRunResult); r.Digest != dry.Digest || !r.AlreadyDone {
		t.Errorf("made again: %+v", r.Outcome)
	}
}

// A no that was rejected beside a yes under its key is not replaced by that yes, which each export holds again.
func TestRuleARejectedNoIsNotReplacedByTheYesBesideIt(t *testing.T) {
	t.Parallel()
	history := strings.Replace(houseFiles["consents.yaml"], "    key: [external_id]\n", "    key: [external_id]\n    history: true\n", 1)
	given := receipt("G-1", "S-1,one@example.com", "Y", "2025-03-01T10:00:00Z") + "\n"
	no := func(at string) string { return assertion("G-1", "S-1,one@example.com", "N", at) + "\n" }
	h := small(t, with(rows([]string{strings.TrimSpace(given)}, nil, nil), "consents.yaml", history))
	h.write("consents.yaml", history)
	h.mustRun(pipeline.Reconcile)
	delta := func(text string) *pipeline.DryRunResult {
		h.write("consents.csv", consentHeader+text)
		h.snapshot(pipeline.Delta, "consents.csv")
		return h.mustRun(pipeline.Reconcile)["dryrun"].(*pipeline.DryRunResult)
	}
	wantStillGiven(t, h, delta(given+no("2025-13-01T10:00:00Z")), "delta-1", "consents.csv F3")
	dry := delta(given)
	wantStillGiven(t, h, dry, "delta-1", "consents.csv F3")
	for _, f := range findings(t, dry.FindingsFile) {
		if f.Rule == "consent.refusal_replaced" {
			t.Errorf("%+v", f)
		}
	}
	if dry = delta(given + no("2025-12-01T10:00:00Z")); dry.StillGiven > 0 {
		t.Errorf("%d still given", dry.StillGiven)
	}
	h.wantState("G-1", "withdrawn withdrawal")
	h.wantKinds(map[string]int{"-rejected event": 1})
	h.mustVerify()
}
