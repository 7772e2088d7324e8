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
