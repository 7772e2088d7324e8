package pipeline_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

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
