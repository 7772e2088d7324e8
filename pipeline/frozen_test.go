package pipeline_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sheetlift/manifests"
	"sheetlift/pipeline"
	"sheetlift/pipeline/store/storetest"
)

// What an earlier snapshot froze still counts: a bag of it that is not what it was stops what comes after.
func TestTamperedEarlierBag(t *testing.T) {
	t.Parallel()
	for name, tamper := range map[string]func(bag string) error{
		"purposes.csv": func(bag string) error { // a file that the later snapshot does not bring
			return os.WriteFile(filepath.Join(bag, "data", "purposes.csv"), []byte("purpose_id,name\n"), 0o600)
		},
		"consents.csv":                  func(bag string) error { return os.Remove(filepath.Join(bag, "data", "consents.csv")) },
		"tagmanifest-sha256.txt.sig":    func(bag string) error { return os.Remove(filepath.Join(bag, "tagmanifest-sha256.txt.sig")) },
		filepath.Join("vault", "x", ""): os.RemoveAll,
	} {
		t.Run(strings.ReplaceAll(name, "/", "_"), func(t *testing.T) {
			h := newHouse(t, storetest.SQLite(t), nil)
			h.imported()
			h.snapshot(pipeline.Delta, "consents.csv")
			h.mustRun(pipeline.Map)
			bag := filepath.Join(h.dir, ".sheetlift", "vault", "acme-2026", "initial")
			if err := tamper(bag); err != nil {
				t.Fatal(err)
			}
			word := name
			if strings.HasPrefix(name, "vault") {
				word = "initial"
			}
			_, err := h.open().DryRun(t.Context())
			wantIntegrity(t, err, word)
			_, err = h.open().Import(t.Context())
			wantIntegrity(t, err, word)
		})
	}
}

// A frozen file that is written to while it is read stops the dry-run, whatever it holds in the end.
func TestWrittenWhileJudged(t *testing.T) {
	t.Parallel()
	h := newHouse(t, storetest.SQLite(t), nil)
	h.mustRun(pipeline.Map)
	path := filepath.Join(h.dir, ".sheetlift", "vault", "acme-2026", "initial", "data", "consents.csv")
	frozen, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	h.progress = func(stage, source string, _, _ int64) {
		if source == "consents" {
			for _, data := range [][]byte{bytes.ReplaceAll(frozen, []byte(",Y"), []byte(",N")), frozen} {
				if err := os.WriteFile(path, data, 0o600); err != nil {
					t.Error(err)
				}
			}
		}
	}
	_, err = h.open().DryRun(t.Context())
	wantIntegrity(t, err, "consents.csv")
	h.progress = nil
	if _, err := h.open().DryRun(t.Context()); err != nil {
		t.Errorf("the frozen bytes are back: %v", err)
	}
}

// Where the frozen file is not what it was, nobody can tell what a cell gave.
func TestUntoldCell(t *testing.T) {
	t.Parallel()
	h := newHouse(t, storetest.SQLite(t), nil)
	h.imported()
	told, err := h.open().TraceCell(t.Context(), "consents.csv!A2", "", false)
	if err != nil || len(told.Records) == 0 || told.Records[0].Untold || len(told.Records[0].FromCell) == 0 {
		t.Fatalf("%+v, %v", told, err)
	}
	path := filepath.Join(h.dir, ".sheetlift", "vault", "acme-2026", "initial", "data", "consents.csv")
	frozen, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, append(frozen, '\n'), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := h.open().TraceCell(t.Context(), "consents.csv!A2", "", false)
	if err != nil || len(r.Records) == 0 || !r.Records[0].Untold {
		t.Fatalf("%+v, %v", r, err)
	}
	if said := strings.Join(h.said, "\n"); !strings.Contains(said, "can't be told") || !strings.Contains(said, "consents") {
		t.Errorf("said %q", said)
	}
	// A key under which nothing is in may be that of a row: nobody can tell, whichever way the file is another one.
	flipped := slices.Clone(frozen)
	flipped[len(frozen)/2] ^= 1
	for name, text := range map[string][]byte{"longer": append(slices.Clone(frozen), '\n'), "flipped": flipped, "gone": nil} {
		if err := os.RemoveAll(path); err != nil {
			t.Fatal(err)
		}
		if text != nil {
			if err := os.WriteFile(path, text, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if r, err := h.open().Trace(t.Context(), "consent", "C-15", false); !errors.Is(err, manifests.ErrIntegrity) && !errors.As(err, new(*pipeline.IntegrityError)) {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
		if r, err := h.open().Trace(t.Context(), "consent", "C-1", false); err != nil || len(r.Records) == 0 {
			t.Errorf("%s: what is in is not shown: %+v, %v", name, r, err)
		}
	}
}
