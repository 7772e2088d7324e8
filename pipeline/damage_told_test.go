package pipeline_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"sheetlift/pipeline"
	"sheetlift/pipeline/store/storetest"
)

// A trace of a rejected row says that the frozen file is not the one that was frozen: nothing that it holds tells what became of the row.
func TestTraceOfADamagedFile(t *testing.T) {
	t.Parallel()
	h := newHouse(t, storetest.SQLite(t), rows([]string{assertion("C-1", "S-1,one@example.com", "Y", "2025-03-01"), assertion("C-2", "S-2,two@example.com", "perhaps", "2025-03-01")}, nil, nil))
	h.imported()
	path := filepath.Join(h.dir, ".sheetlift", "vault", "acme-2026", "initial", "data", "consents.csv")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	data[len(data)-3] ^= 1
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = h.open().TraceCell(t.Context(), "consents.csv!A3", "", false)
	wantIntegrity(t, err, "consents.csv")
}

// Verify says of files of the work folder that are gone which stages make them anew, and they do.
func TestVerifySaysWhatMakesFilesAnew(t *testing.T) {
	t.Parallel()
	h := newHouse(t, storetest.SQLite(t), rows([]string{assertion("C-1", "S-1,one@example.com", "Y", "2025-03-01"), assertion("C-2", "S-2,two@example.com", "perhaps", "2025-03-01")}, nil, nil))
	h.imported()
	h.loseWork()
	r, err := h.open().Verify(t.Context())
	if err != nil || r.Passed {
		t.Fatal(r, err)
	}
	var stages []string
	for _, c := range r.Checks {
		if !c.OK {
			stages = append(stages, c.Stage)
		}
	}
	for _, stage := range pipeline.Stages {
		if slices.Contains(stages, stage) {
			if _, err := h.open().Stage(t.Context(), stage); err != nil {
				t.Error(err)
			}
			stages = slices.DeleteFunc(stages, func(s string) bool { return s == stage })
		}
	}
	if len(stages) > 0 {
		t.Errorf("of files that are gone it names %q", stages)
	}
	h.mustVerify()
	if err := os.RemoveAll(filepath.Join(h.dir, ".sheetlift", "vault")); err != nil {
		t.Fatal(err)
	}
	r, err = h.open().Verify(t.Context())
	if err != nil || r.Passed || slices.ContainsFunc(r.Checks, func(c pipeline.VerifyCheck) bool { return c.Stage != "" }) {
		t.Error("a vault that is gone is made anew by nothing", r, err)
	}
}
