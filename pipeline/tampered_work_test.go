package pipeline_test

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sheetlift/pipeline"
	"sheetlift/pipeline/store/storetest"
)

// spoilt are the ways in which a file of the work folder may be another one than was recorded.
var spoilt = map[string]func(data []byte) []byte{
	"a changed byte": func(data []byte) []byte {
		if len(data) == 0 {
			return []byte("{}\n")
		}
		data[len(data)/2] ^= 1
		return data
	},
	"cut short": func(data []byte) []byte { return data[:max(0, len(data)-1)] },
	"emptied":   func([]byte) []byte { return nil },
	"longer":    func(data []byte) []byte { return append(data, '\n') },
}

// filesIn gives the files of a folder with their bytes, by name.
func filesIn(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for _, e := range entries {
		if files[e.Name()], err = os.ReadFile(filepath.Join(dir, e.Name())); err != nil {
			t.Fatal(err)
		}
	}
	return files
}

// TestTamperedWork is TestTamper for every file that the dry-run wrote, whatever became of it, also where an import has begun: import refuses, says
// which, writes nothing, and what it says to do is a way out.
func TestTamperedWork(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, url string) {
		for _, begun := range []bool{false, true} {
			name := map[bool]string{false: "before the import", true: "after an import was killed"}[begun]
			t.Run(name, func(t *testing.T) {
				url := url
				if strings.HasPrefix(url, "postgres") {
					url = storetest.Postgres(t)
				} else {
					url = storetest.SQLite(t)
				}
				h := newHouse(t, url, nil)
				dry := h.mustRun(pipeline.DryRun)["dryrun"].(*pipeline.DryRunResult)
				if begun {
					h.kill(2)
				}
				dir := filepath.Dir(dry.FindingsFile)
				files, before := filesIn(t, dir), h.counts()
				for _, want := range []string{"findings.ndjson", "rejected.ndjson", "unrecorded.ndjson", "consents.consent.arrow"} {
					if files[want] == nil {
						t.Errorf("no %s among the files of the dry-run", want)
					}
				}
				for file, data := range files {
					for how, spoil := range spoilt {
						changed := spoil(append([]byte(nil), data...))
						if string(changed) == string(data) {
							continue
						}
						if err := os.WriteFile(filepath.Join(dir, file), changed, 0o600); err != nil {
							t.Fatal(err)
						}
						_, err := h.open().Import(t.Context())
						wantIntegrity(t, err, file)
						var fault *pipeline.IntegrityError
						if !errors.As(err, &fault) {
							t.Fatalf("%s %s: %v", file, how, err)
						}
						if begun != strings.Contains(fault.Remedy, "sheetlift import") {
							t.Errorf("%s %s: the way out is %q", file, how, fault.Remedy)
						}
						if after := h.counts(); !maps.Equal(before, after) {
							t.Errorf("%s %s: the refused import wrote: %v, before %v", file, how, after, before)
						}
					}
					if err := os.WriteFile(filepath.Join(dir, file), data, 0o600); err != nil {
						t.Fatal(err)
					}
				}
				if err := os.WriteFile(filepath.Join(dir, "rejected.ndjson"), nil, 0o600); err != nil {
					t.Fatal(err)
				}
				if err := os.Rename(dir, filepath.Join(t.TempDir(), "elsewhere")); err != nil { // as the remedy says
					t.Fatal(err)
				}
				if !begun {
					h.mustRun(pipeline.DryRun)
				}
				if _, err := h.open().Import(t.Context()); err != nil {
					t.Fatal(err)
				}
				if c := h.counts(); !maps.Equal(c, wantCounts) {
					t.Errorf("register: %v, want %v", c, wantCounts)
				}
				for file, data := range filesIn(t, dir) {
					if string(files[file]) != string(data) {
						t.Errorf("%s was made anew with other bytes", file)
					}
				}
				h.mustVerify()
			})
		}
	})
}
