package pipeline_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"sheetlift/pipeline"
	"sheetlift/pipeline/store/storetest"
)

// TestDeltaIsOfItsOwnTime: the dates of a fresh export are compared with the time at which it was made, not with that of the first one. A
// findings file that is lost is made anew the same.
func TestDeltaIsOfItsOwnTime(t *testing.T) {
	t.Parallel()
	h := newHouse(t, storetest.SQLite(t), firstOf)
	h.imported()
	h.write("consents.csv", consentHeader+
		assertion("C-2", "S-2,two@example.com", "Y", "2026-10-20T10:00:00Z")+"\n"+ // after the first export
		assertion("C-3", "S-3,three@example.com", "Y", "2026-12-24T10:00:00Z")+"\n") // after this one
	fr := h.snapshot(pipeline.Delta, "consents.csv") // of the first of November
	var future []int
	for _, f := range findings(t, fr.FindingsFile) {
		if f.Rule == "date.future" {
			future = append(future, f.Row, f.Rows)
		}
	}
	if !slices.Equal(future, []int{3, 1}) {
		t.Errorf("date.future at %v", future)
	}
	h.mustRun(pipeline.DryRun)
	if err := os.Remove(fr.FindingsFile); err != nil {
		t.Fatal(err)
	}
	h.mustRun(pipeline.Import)
	h.write("consents.csv", consentHeader+assertion("C-4", "S-4,four@example.com", "Y", "2026-10-20T10:00:00Z")+"\n")
	h.snapshot(pipeline.Delta, "consents.csv")
	h.mustRun(pipeline.Reconcile)
	if _, err := os.Stat(fr.FindingsFile); err != nil {
		t.Errorf("%s was not made anew, said: %q", filepath.Base(fr.FindingsFile), h.said)
	}
	h.mustVerify()
}

// delta freezes a fresh export with a stated time, or that of the file.
func (h *house) delta(at, file string) (*pipeline.FreezeResult, error) {
	return h.open().FreezeSnapshot(h.t.Context(), pipeline.SnapshotSpec{Kind: pipeline.Delta, Files: []string{filepath.Join(h.dir, file)}, ObtainedAt: at})
}

// TestObtainedAtCounts: a stated time is never replaced without a word, and may be corrected until the import has begun.
func TestObtainedAtCounts(t *testing.T) {
	t.Parallel()
	h := newHouse(t, storetest.SQLite(t), firstOf)
	h.imported()
	h.write("consents.csv", consentHeader+assertion("C-1", "S-1,one@example.com", "Y", "")+"\n")
	_, err := h.delta("2026-09-30T23:59:59Z", "consents.csv")
	var cfg *pipeline.ConfigError
	if !errors.As(err, &cfg) || !strings.Contains(cfg.Message, "before 2026-10-01T00:00:00Z") {
		t.Fatalf("a time before the first export's: %v", err)
	}
	old := time.Date(2026, 9, 1, 0, 0, 0, 0, time.UTC)
	if err := os.Chtimes(filepath.Join(h.dir, "consents.csv"), old, old); err != nil {
		t.Fatal(err)
	}
	freeze := func(at, name, want, by string) {
		t.Helper()
		fr, err := h.delta(at, "consents.csv")
		if err != nil {
			t.Fatal(err)
		}
		if p := fr.Parts[0]; fr.Snapshot != name || p.ObtainedAt != want || p.ObtainedBy != by {
			t.Errorf("frozen as %s: %+v, want %s by %q", fr.Snapshot, p, want, by)
		}
	}
	freeze("", "delta-1", "2026-10-01T00:00:00Z", pipeline.ByFirstExport)
	freeze("2026-10-02T00:00:00Z", "delta-2", "2026-10-02T00:00:00Z", "")
	freeze("2026-10-02T02:00:00+02:00", "delta-2", "2026-10-02T00:00:00Z", "") // the same instant
	h.mustRun(pipeline.DryRun)
	freeze("2026-11-01T00:00:00Z", "delta-3", "2026-11-01T00:00:00Z", "")
	h.imported()
	freeze("2026-11-01T00:00:00Z", "delta-3", "2026-11-01T00:00:00Z", "")
	freeze("", "delta-3", "2026-11-01T00:00:00Z", "")
	_, err = h.delta("2026-11-02T00:00:00Z", "consents.csv")
	wantGate(t, err, "obtained at 2026-11-01T00:00:00Z")
	h.mustVerify()
}

// TestObtainedAtIsNeitherAheadNorBehind: a fresh export is made before now, and after those of its source that the batch holds.
func TestObtainedAtIsNeitherAheadNorBehind(t *testing.T) {
	t.Parallel()
	h := newHouse(t, storetest.SQLite(t), firstOf)
	h.imported()
	refused := func(at, file string, want ...string) {
		t.Helper()
		_, err := h.delta(at, file)
		var cfg *pipeline.ConfigError
		if !errors.As(err, &cfg) {
			t.Fatalf("at %q: %v", at, err)
		}
		for _, w := range want {
			if !strings.Contains(cfg.Message+" "+cfg.Remedy, w) {
				t.Errorf("%s; %s: it does not say %q", cfg.Message, cfg.Remedy, w)
			}
		}
	}
	export := func(file, text string, changed time.Time) {
		t.Helper()
		h.write(file, text)
		if err := os.Chtimes(filepath.Join(h.dir, file), changed, changed); err != nil {
			t.Fatal(err)
		}
	}
	given := func(id string) string { return consentHeader + assertion(id, "S-1,one@example.com", "Y", "") + "\n" }
	now, day := time.Now().UTC(), func(n int) time.Time { return time.Date(2026, 11, n, 0, 0, 0, 0, time.UTC) }
	export("consents.csv", given("C-2"), now.Add(48*time.Hour))
	refused("", "consents.csv", "was last changed at "+now.Add(48*time.Hour).Format(time.DateOnly), "it is "+now.Format(time.DateOnly), "--obtained-at TIME")
	tomorrow := now.Add(24 * time.Hour).Format(time.RFC3339)
	refused(tomorrow, "consents.csv", "obtained-at "+tomorrow+" lies in the future", "it is "+now.Format(time.DateOnly))
	if _, err := h.delta("2026-11-20T00:00:00Z", "consents.csv"); err != nil {
		t.Fatal(err)
	}
	if _, err := h.delta("2026-11-05T00:00:00Z", "consents.csv"); err != nil {
		t.Fatalf("a time is put right before the import: %v", err)
	}
	h.imported()
	if _, err := h.delta("2026-11-05T00:00:00Z", "consents.csv"); err != nil {
		t.Fatalf("the same file again: %v", err)
	}
	export("consents.csv", given("C-3"), day(3))
	refused("2026-11-04T00:00:00Z", "consents.csv", "obtained-at 2026-11-04T00:00:00Z is before 2026-11-05T00:00:00Z", "snapshot delta-2 of source consents", "leave it out")
	refused("", "consents.csv", "was last changed at 2026-11-03T00:00:00Z, before 2026-11-05T00:00:00Z", "--obtained-at TIME")
	h.write("suppressions.csv", suppressionHeader+"two@example.com,email,objection,\n")
	if _, err := h.delta("2026-11-04T00:00:00Z", "suppressions.csv"); err != nil {
		t.Fatalf("another source has its own times: %v", err)
	}
	h.imported()
	if _, err := h.delta("2026-11-05T00:00:00Z", "consents.csv"); err != nil {
		t.Fatalf("two exports of one time: %v", err)
	}
	h.imported()
	h.mustVerify()
}
