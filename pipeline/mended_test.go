package pipeline_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"

	"sheetlift/pipeline"
	"sheetlift/pipeline/store"
	"sheetlift/pipeline/store/storetest"
)

// TestMendedKeepsCells: of a workbook with real dates and numbers, what nobody touched keeps its kind, though the rejects hold text; the
// columns and rows may be moved; strangers are findings.
func TestMendedKeepsCells(t *testing.T) {
	t.Parallel()
	h := newHouse(t, storetest.SQLite(t), map[string]string{
		"batch.yaml":    strings.Replace(houseFiles["batch.yaml"], "file: consents.csv", "file: consents.xlsx", 1),
		"consents.yaml": strings.Replace(houseFiles["consents.yaml"], "format: iso8601", "format: serial", 1),
	})
	source := excelize.NewFile()
	defer source.Close()
	date, err := source.NewStyle(&excelize.Style{NumFmt: 22})
	if err != nil {
		t.Fatal(err)
	}
	head := strings.Split(strings.TrimSpace(consentHeader), ",")
	if err := source.SetSheetRow("Sheet1", "A1", &head); err != nil {
		t.Fatal(err)
	}
	for i, mail := range []string{"one@example.com", "two", "three", "four"} {
		row := []any{fmt.Sprintf("X-%d", i), 1000 + i, mail, "news", "email", "Y", 45717.4375 + float64(i), "PN", "2", "Ada Agent", "shop clerk", "signed_document", fmt.Sprintf("DOC-2025-%04d", i+1)}
		if err := source.SetSheetRow("Sheet1", fmt.Sprintf("A%d", i+2), &row); err != nil {
			t.Fatal(err)
		}
		if err := source.SetCellStyle("Sheet1", fmt.Sprintf("G%d", i+2), fmt.Sprintf("G%d", i+2), date); err != nil {
			t.Fatal(err)
		}
	}
	if err := source.SaveAs(filepath.Join(h.dir, "consents.xlsx")); err != nil {
		t.Fatal(err)
	}
	h.mustRun(pipeline.Reconcile)
	if n := h.counts(); n["receipts"] != 1 {
		t.Fatalf("register: %v", n)
	}
	h.rejects("mend.xlsx")

	// The owner's program: another sheet name, the columns in reverse order, the rows in another order, one row copied, one added.
	in, err := excelize.OpenFile(filepath.Join(h.dir, "mend.xlsx"))
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	lines, err := in.GetRows("consents")
	if err != nil {
		t.Fatal(err)
	}
	out := excelize.NewFile()
	defer out.Close()
	lines = [][]string{lines[0], lines[3], lines[2], lines[1], lines[3], {"", "", "", "X-9", "9", "nine@example.com"}}
	for i, line := range lines {
		for col, v := range line {
			if i > 0 && lines[0][col] == "Mail" && v != "nine@example.com" && v != "four" {
				v += "@example.com"
			}
			to, _ := excelize.CoordinatesToCellName(len(lines[0])-col, i+1)
			if err := out.SetCellStr("Sheet1", to, v); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := out.SaveAs(filepath.Join(h.dir, "mended.xlsx")); err != nil {
		t.Fatal(err)
	}
	h.snapshot(pipeline.Mended, "mended.xlsx")
	got := h.mustRun(pipeline.Reconcile)
	r := got["dryrun"].(*pipeline.DryRunResult)
	if s := r.Sources[0]; s.Rows != (pipeline.Rows{Read: 5, Accepted: 2, Rejected: 2, Skipped: 1}) || s.Rejected["row.unknown_token"] != 1 || s.Rejected["email.invalid"] != 1 || s.Skipped["row.repeat"] != 1 {
		t.Errorf("%+v", s)
	}
	for _, f := range findings(t, r.FindingsFile) {
		if f.Rule == "row.unknown_token" && (f.File != "mended.xlsx" || f.Sheet != "Sheet1" || f.Row < 5) {
			t.Errorf("stranger at %+v", f)
		}
	}
	if n := h.counts(); n["receipts"] != 3 {
		t.Errorf("register: %v", n)
	}
	tr, err := h.open().Trace(t.Context(), "consent", "X-1", false)
	if err != nil {
		t.Fatal(err)
	}
	if x := tr.Records[0]; x.Values["occurred_at"] != "2025-03-02T10:30:00Z (second)" && !strings.HasPrefix(x.Values["occurred_at"], "2025-03-02T10:30:00Z") {
		t.Errorf("occurred_at is %s", x.Values["occurred_at"])
	} else if p := x.Places[0]; p.Snapshot != "mended-1" || p.Row != 3 || p.Cells["email"] != "C3" {
		t.Errorf("place %+v", p)
	}
	h.mustVerify()
}

// snapshotOf freezes records of a source that were mended in a text file.
func (h *house) snapshotOf(source, name string) *pipeline.FreezeResult {
	h.t.Helper()
	fr, err := h.open().FreezeSnapshot(h.t.Context(), pipeline.SnapshotSpec{Kind: pipeline.Mended, Sources: map[string]string{source: filepath.Join(h.dir, name)}})
	if err != nil {
		h.t.Fatal(err)
	}
	return fr
}

// TestMendedRecords: the original records of a text file, corrected in an editor.
func TestMendedRecords(t *testing.T) {
	t.Parallel()
	h := newHouse(t, storetest.SQLite(t), nil)
	h.mustRun(pipeline.Reconcile)
	before := h.counts()
	h.rejects("mend.csv")
	data, err := os.ReadFile(filepath.Join(h.dir, "mend.csv"))
	if err != nil {
		t.Fatal(err)
	}
	h.write("mend-consents.csv", strings.Replace(string(data), "perhaps", "Y", 1))
	fr := h.snapshot(pipeline.Mended, "mend-consents.csv")
	if fr.Parts[0].Source != "consents" || fr.Parts[0].Sheet != "" {
		t.Errorf("%+v", fr.Parts)
	}
	got := h.mustRun(pipeline.Reconcile)
	r := got["dryrun"].(*pipeline.DryRunResult)
	if s := r.Sources[0]; s.Rows != (pipeline.Rows{Read: 5, Accepted: 1, Rejected: 4}) || s.Rejected["row.unmended"] != 4 {
		t.Errorf("%+v", s)
	}
	if n := h.counts(); n["legacy_assertions"] != before["legacy_assertions"]+1 || !got["reconcile"].(*pipeline.ReconcileResult).Passed {
		t.Errorf("register: %v, %v before", n, before)
	}
	h.mustVerify()
	tr, err := h.open().TraceCell(t.Context(), "mend-consents.csv!B6", "", false)
	if err != nil || len(tr.Records) != 1 || tr.Records[0].Places[0].File != "mend-consents.csv" || !slices.Equal(tr.Records[0].FromCell, []string{"subject_id"}) {
		t.Errorf("from the cell: %+v, %v", tr, err)
	}
	// The whole export with one more row mended: what is in is known, what is as it was ever handed out stays rejected.
	whole := strings.Replace(houseFiles["consents.csv"], "b@example.com,nosuch", "b@example.com,news", 1)
	h.write("all.csv", strings.Replace(whole, "perhaps", "Y", 1))
	fr = h.snapshotOf("consents", "all.csv")
	r = h.mustRun(pipeline.Reconcile)["dryrun"].(*pipeline.DryRunResult)
	if s := r.Sources[0]; s.Rows != (pipeline.Rows{Read: 18, Accepted: 1, Rejected: 3, Skipped: 14}) || s.Skipped["row.known"] < 12 {
		t.Errorf("%s: %+v", fr.Snapshot, s)
	}
	// Without its header the first record would be taken for one.
	h.write("headless.csv", "C-14,S-14,a@example.com,news,email,Y,,,,,,,\n")
	var refused *pipeline.ConfigError
	h.snapshotOf("consents", "headless.csv")
	if _, err := h.run(pipeline.Map); !errors.As(err, &refused) || !strings.Contains(refused.Message, "header") {
		t.Errorf("without header: %v", err)
	}
	// It was never imported, so a better one may take its place.
	h.write("headed.csv", consentHeader+"C-14,S-14,a@example.com,news,email,Y,,,,,,,\nC-18,S-18,new@example.com,news,email,Y,,,,,,,\n")
	if fr := h.snapshotOf("consents", "headed.csv"); fr.Snapshot != "mended-4" || fr.Parts[0].Base != "mended-2" {
		t.Errorf("%+v", fr)
	}
	r = h.mustRun(pipeline.Reconcile)["dryrun"].(*pipeline.DryRunResult)
	if s := r.Sources[0]; s.Rows != (pipeline.Rows{Read: 2, Accepted: 1, Rejected: 1}) || s.Rejected["row.unmended"] != 1 {
		t.Errorf("%+v", s)
	}
	// A sheet of the workbook that was saved as text has lost what its cells were.
	h.write("saved.csv", "sheetlift row token,row in the source,what is wrong,"+consentHeader+"r-0,1,x,C-14,S-14,a@example.com,news,email,Y,,,,,,,\n")
	if _, err := h.open().FreezeSnapshot(t.Context(), pipeline.SnapshotSpec{Kind: pipeline.Mended, Sources: map[string]string{"consents": filepath.Join(h.dir, "saved.csv")}}); !errors.As(err, &refused) {
		t.Errorf("a saved sheet: %v", err)
	}
	// The same file for another source is another snapshot.
	if _, err := h.open().FreezeSnapshot(t.Context(), pipeline.SnapshotSpec{Kind: pipeline.Mended, Sources: map[string]string{"purposes": filepath.Join(h.dir, "all.csv")}}); err != nil {
		t.Error(err)
	} else if st, err := h.open().Status(t.Context()); err != nil || st.Snapshot != "mended-5" {
		t.Errorf("%+v, %v", st, err)
	}
}

// TestMendedOnce: a row that came in mended does not come in again under another key, however often the workbook comes back.
func TestMendedOnce(t *testing.T) {
	t.Parallel()
	h := newHouse(t, storetest.SQLite(t), nil)
	h.mustRun(pipeline.Reconcile)
	h.rejects("mend.xlsx")
	set := func(name, id, word string) {
		t.Helper()
		mend(t, filepath.Join(h.dir, "mend.xlsx"), func(book *excelize.File, header map[string]string, row, _ int) {
			if was, err := book.GetCellValue("consents", fmt.Sprintf("%s%d", header["Subject"], row)); err != nil || was != "S-16" {
				return
			}
			for column, v := range map[string]string{"Id": id, "Status": word} {
				if err := book.SetCellStr("consents", fmt.Sprintf("%s%d", header[column], row), v); err != nil {
					t.Fatal(err)
				}
			}
		})
		data, err := os.ReadFile(filepath.Join(h.dir, "mend.xlsx"))
		if err != nil {
			t.Fatal(err)
		}
		h.write(name, string(data))
	}
	set("first.xlsx", "C-16", "Y")
	h.snapshot(pipeline.Mended, "first.xlsx")
	h.mustRun(pipeline.Reconcile)
	before := h.counts()
	set("second.xlsx", "C-17", "Y")
	h.snapshot(pipeline.Mended, "second.xlsx")
	r := h.mustRun(pipeline.Reconcile)["dryrun"].(*pipeline.DryRunResult)
	if r.Sources[0].Rejected["row.rekeyed"] != 1 || r.Rows.Accepted != 0 {
		t.Errorf("%+v", r.Sources[0])
	}
	// As it came in the first time, it is known.
	h.snapshot(pipeline.Mended, "first.xlsx")
	r = h.mustRun(pipeline.Reconcile)["dryrun"].(*pipeline.DryRunResult)
	if r.Sources[0].Skipped["row.known"] != 1 || r.Rows.Accepted != 0 {
		t.Errorf("%+v", r.Sources[0])
	}
	if after := h.counts(); after["provenance"] != before["provenance"] || after["legacy_assertions"] != before["legacy_assertions"] {
		t.Errorf("register %v, %v before", after, before)
	}
}

// TestReplacedSnapshot: a snapshot that was never imported may be replaced by one that brings all that it would have brought, and by
// no other.
func TestReplacedSnapshot(t *testing.T) {
	t.Parallel()
	h := newHouse(t, storetest.SQLite(t), liveFiles)
	h.mustRun(pipeline.Reconcile)
	for name, text := range freshFiles {
		h.write(name, text)
	}
	h.snapshot(pipeline.Delta, "consents.csv", "suppressions.csv", "purposes.csv")
	h.write("consents.csv", freshFiles["consents.csv"]+"L-9,S-9,nine@example.com,more,email,Y,,,,,,,\n")
	spec := pipeline.SnapshotSpec{Kind: pipeline.Delta, Files: []string{filepath.Join(h.dir, "consents.csv")}}
	_, err := h.open().FreezeSnapshot(t.Context(), spec)
	wantGate(t, err, "delta-1 is not imported")
	if fr := h.snapshot(pipeline.Delta, "consents.csv", "suppressions.csv", "purposes.csv"); fr.Snapshot != "delta-2" {
		t.Errorf("%+v", fr)
	}
	got := h.mustRun(pipeline.Reconcile)
	if r := got["dryrun"].(*pipeline.DryRunResult); got["import"] == nil || r.Snapshot != "delta-2" || r.Rows.Accepted != 9 {
		t.Errorf("%+v", r)
	}
	h.mustVerify()
	// Rows in the export of before and of now: which is meant must be said.
	var config *pipeline.ConfigError
	if _, err := h.open().TraceCell(t.Context(), "consents.csv!A3", "", false); !errors.As(err, &config) || !strings.Contains(config.Message, "delta-2, initial") {
		t.Errorf("got %v", err)
	}
	for snapshot, version := range map[string]string{"initial": "given", "delta-2": "withdrawn"} {
		tr, err := h.open().TraceCell(t.Context(), "consents.csv!A3", snapshot, false)
		if err != nil || len(tr.Records) != 1 || tr.Records[0].Values["status"] != version || !slices.Equal(tr.Records[0].FromCell, []string{"external_id"}) {
			t.Errorf("%s: %+v %v", snapshot, tr, err)
		}
	}
	if _, err := h.open().TraceCell(t.Context(), "consents.csv!A3", "delta-9", false); !errors.As(err, &config) {
		t.Errorf("got %v", err)
	}
	// Mended rows that went out from a snapshot can't take its place.
	h.rejects("mend.xlsx")
	fix := func(to string) {
		mend(t, filepath.Join(h.dir, "mend.xlsx"), func(book *excelize.File, header map[string]string, row, _ int) {
			if err := book.SetCellStr("consents", fmt.Sprintf("%s%d", header["Mail"], row), to); err != nil {
				t.Fatal(err)
			}
		})
	}
	fix("still bad")
	h.snapshot(pipeline.Mended, "mend.xlsx")
	if err := os.Remove(filepath.Join(h.dir, "mend.xlsx")); err != nil {
		t.Fatal(err)
	}
	h.mustRun(pipeline.DryRun)
	h.write("batch.yaml", strings.Replace(liveFiles["batch.yaml"], "rows: 5", "rows: 0", 1))
	h.mustRun(pipeline.DryRun)
	h.rejects("mend.xlsx")
	fix("eight@example.com")
	_, err = h.open().FreezeSnapshot(t.Context(), pipeline.SnapshotSpec{Kind: pipeline.Mended, Files: []string{filepath.Join(h.dir, "mend.xlsx")}})
	wantGate(t, err, "mended-3 is not imported")
}

// TestKilledDelta: kill -9 the import of a delta with corrections, run again: the same end as without.
func TestKilledDelta(t *testing.T) {
	t.Parallel()
	prepare := func(h *house) {
		h.mustRun(pipeline.Reconcile)
		for name, text := range freshFiles {
			h.write(name, text)
		}
		h.snapshot(pipeline.Delta, "consents.csv", "suppressions.csv", "purposes.csv")
	}
	storetest.Each(t, func(t *testing.T, url string) {
		other := newHouse(t, storetest.SQLite(t), liveFiles)
		prepare(other)
		want := other.mustRun(pipeline.Reconcile)
		h := newHouse(t, url, liveFiles)
		prepare(h)
		h.mustRun(pipeline.DryRun)
		before := h.events()
		for chunks := 1; chunks <= 3; chunks++ {
			h.killAfter(before, chunks)
		}
		got := h.mustRun(pipeline.Reconcile)
		if a, b := h.counts(), other.counts(); !maps.Equal(a, b) {
			t.Errorf("register after the kills: %v, want %v", a, b)
		}
		for _, stage := range []string{pipeline.Import, pipeline.Reconcile} {
			if a, b := pipeline.Common(got[stage]).Digest, pipeline.Common(want[stage]).Digest; a != b {
				t.Errorf("%s after the kills has digest %s, %s without", stage, a, b)
			}
		}
		h.mustVerify()
	})
}

// TestCorrectionIsComparedAndSet: a correction against a version that is gone is refused, whole.
func TestCorrectionIsComparedAndSet(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, url string) {
		h := newHouse(t, url, liveFiles)
		h.mustRun(pipeline.Reconcile)
		h.write("purposes.csv", freshFiles["purposes.csv"])
		h.snapshot(pipeline.Delta, "purposes.csv")
		h.mustRun(pipeline.DryRun)
		err := h.look().Update(context.Background(), func(tx *store.Tx) error {
			_, err := tx.Exec(context.Background(), `UPDATE purposes SET version = 7 WHERE purpose_id = 'news'`)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		_, err = h.open().Import(t.Context())
		wantGate(t, err, "another version")
		var name string
		err = h.look().View(t.Context(), func(tx *store.Tx) error {
			return tx.QueryRow(t.Context(), `SELECT name FROM purposes WHERE purpose_id = 'news'`).Scan(&name)
		})
		if err != nil || name != "Newsletter" {
			t.Errorf("name %q, %v", name, err)
		}
	})
}

// A row that came in mended says something else when an older copy of the workbook comes back: it is told apart from one under another key, and
// what the finding says to do brings the right one in.
func TestMendedRowThatChangedSince(t *testing.T) {
	t.Parallel()
	no, other := assertion("W-1", "S-1,one@example.com", "N", "2025-13-01T10:00:00Z"), receipt("K-1", "S-2,two@example.com", "Y", "2025-03-01T10:00:00Z")
	at := func(day string) string { return strings.Replace(no, "2025-13-01", day, 1) }
	start := func(t *testing.T) *house {
		h := small(t, rows([]string{no, other}, nil, nil))
		h.imported()
		h.edit("first.xlsx", func(w *inHand) { w.mend(cells{"Id": "W-1"}, cells{"At": "2025-01-13T10:00:00Z"}) })
		h.snapshot(pipeline.Mended, "first.xlsx")
		h.imported()
		h.editAgain("first.xlsx", func(w *inHand) { w.mend(cells{"Id": "W-1"}, cells{"At": "2025-06-01T10:00:00Z"}) })
		h.snapshot(pipeline.Mended, "first.xlsx")
		dry := h.imported()
		wantRules(t, "the row that changed", found(t, dry, "consents")[2], "row.changed")
		h.wantState("W-1", "withdrawn withdrawal")
		h.mustVerify()
		return h
	}
	for _, day := range []string{"2025-01-13", "2025-06-01"} { // either may be the right one
		t.Run(day+", a fresh export", func(t *testing.T) {
			t.Parallel()
			h := start(t)
			h.write("consents.csv", consentHeader+at(day)+"\n"+other+"\n")
			h.snapshot(pipeline.Delta, "consents.csv")
			s := sourceOf(t, h.imported(), "consents")
			if want := map[string]int{"2025-01-13": 0, "2025-06-01": 1}[day]; len(s.Rejected) > 0 || s.Rows.Accepted != want {
				t.Errorf("%+v", s)
			}
			if r, err := h.open().Trace(t.Context(), "consent", "W-1", false); err != nil || !slices.ContainsFunc(r.Records, func(rec pipeline.TraceRecord) bool {
				return strings.HasPrefix(rec.Values["occurred_at"], day)
			}) {
				t.Errorf("%+v, %v", r, err)
			}
			h.mustVerify()
		})
	}
	t.Run("undo", func(t *testing.T) {
		t.Parallel()
		h := start(t)
		h.undo()
		h.mustRun(pipeline.DryRun)
		h.imported()
		h.snapshot(pipeline.Mended, "first.xlsx")
		if s := sourceOf(t, h.imported(), "consents"); s.Rows.Accepted != 1 || len(s.Rejected) > 0 {
			t.Errorf("%+v", s)
		}
	})
}
