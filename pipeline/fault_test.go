package pipeline_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"sheetlift/importers/staged"
	"sheetlift/manifests"
	"sheetlift/pipeline"
	"sheetlift/pipeline/store"
	"sheetlift/pipeline/store/storetest"
)

// TestTamper is must-show 6: one changed byte, or a register changed since, and import refuses and says which.
func TestTamper(t *testing.T) {
	t.Parallel()
	flip := func(t *testing.T, path string) {
		t.Helper()
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		data[len(data)/2] ^= 1
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	storetest.Each(t, func(t *testing.T, url string) {
		for _, c := range []struct {
			name   string
			tamper func(t *testing.T, h *house)
			check  func(t *testing.T, err error)
		}{
			{"frozen file", func(t *testing.T, h *house) {
				flip(t, find(t, filepath.Join(h.dir, ".sheetlift", "vault"), "consents.csv"))
			},
				func(t *testing.T, err error) { wantIntegrity(t, err, "consents.csv") }},
			{"file added to the bag", func(t *testing.T, h *house) {
				if err := os.WriteFile(filepath.Join(h.dir, ".sheetlift", "vault", "acme-2026", "initial", "data", "more.csv"), []byte("x"), 0o600); err != nil {
					t.Fatal(err)
				}
			}, func(t *testing.T, err error) { wantIntegrity(t, err, "more.csv") }},
			{"staged file", func(t *testing.T, h *house) {
				flip(t, find(t, filepath.Join(h.dir, ".sheetlift", "work"), "consents.consent.arrow"))
			},
				func(t *testing.T, err error) { wantIntegrity(t, err, "consents.consent.arrow") }},
			{"mapping", func(t *testing.T, h *house) {
				h.write("consents.yaml", strings.Replace(houseFiles["consents.yaml"], "given: [Y, yes]", "given: [Y, yes, perhaps]", 1))
			}, func(t *testing.T, err error) { wantGate(t, err, "consents.yaml") }},
			{"batch.yaml", func(t *testing.T, h *house) { h.write("batch.yaml", strings.Replace(batchYAML, "TOLERANCE", "50", 1)) },
				func(t *testing.T, err error) { wantGate(t, err, "batch.yaml") }},
			{"register", func(t *testing.T, h *house) {
				err := h.db().Update(t.Context(), func(tx *store.Tx) error {
					_, err := tx.Exec(t.Context(), `INSERT INTO revisions (tenant, batch, revision) VALUES ('acme', 'another', 1)`)
					return err
				})
				if err != nil {
					t.Fatal(err)
				}
			}, func(t *testing.T, err error) { wantGate(t, err, "register changed") }},
		} {
			t.Run(c.name, func(t *testing.T) {
				url := url
				if strings.HasPrefix(url, "postgres") {
					url = storetest.Postgres(t)
				} else {
					url = storetest.SQLite(t)
				}
				h := newHouse(t, url, nil)
				h.mustRun(pipeline.DryRun)
				c.tamper(t, h)
				_, err := h.open().Import(t.Context())
				c.check(t, err)
				if n := h.counts(); n["receipts"] != 0 || n["purposes"] != 0 || n["provenance"] != 0 {
					t.Errorf("the refused import wrote: %v", n)
				}
			})
		}
	})
}

// A machine that stops may keep a staged file cut short, empty, or not at all, since nothing waits for the disk. None of it is imported, and the same
// bytes can be made again.
func TestStagedFileThatDidNotReachTheDisk(t *testing.T) {
	t.Parallel()
	staged := func(h *house) string {
		return find(t, filepath.Join(h.dir, ".sheetlift", "work"), "consents.consent.arrow")
	}
	for name, lose := range map[string]func(t *testing.T, path string){
		"empty":     func(t *testing.T, path string) { cutTo(t, path, 0) },
		"cut short": func(t *testing.T, path string) { cutTo(t, path, 1000) },
		"zeros": func(t *testing.T, path string) {
			if err := os.WriteFile(path, make([]byte, size(t, path)), 0o600); err != nil {
				t.Fatal(err)
			}
		},
		"gone": func(t *testing.T, path string) {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
		},
		"with its folder": func(t *testing.T, path string) {
			if err := os.RemoveAll(filepath.Dir(path)); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t, storetest.SQLite(t), nil)
			h.mustRun(pipeline.DryRun)
			path := staged(h)
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			lose(t, path)
			if _, err := os.Stat(path); err == nil {
				_, err := h.open().Import(t.Context())
				wantIntegrity(t, err, "consents.consent.arrow")
				var other *pipeline.IntegrityError
				if !errors.As(err, &other) || !strings.Contains(other.Remedy, "remove the folder") {
					t.Errorf("no way out: %v", err)
				}
				if n := h.counts(); n["receipts"] != 0 || n["purposes"] != 0 || n["provenance"] != 0 {
					t.Errorf("the refused import wrote: %v", n)
				}
				if err := os.RemoveAll(filepath.Dir(path)); err != nil {
					t.Fatal(err)
				}
				h.mustRun(pipeline.DryRun)
			}
			h.mustRun(pipeline.Import)
			if got, err := os.ReadFile(staged(h)); err != nil || !bytes.Equal(got, want) {
				t.Errorf("other bytes than before, %v", err)
			}
		})
	}
}

// find gives the file of a name below a folder.
func find(t *testing.T, dir, name string) string {
	t.Helper()
	found := ""
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Name() == name {
			found = path
		}
		return err
	})
	if err != nil || found == "" {
		t.Fatalf("no %s in %s: %v", name, dir, err)
	}
	return found
}

func size(t *testing.T, path string) int64 {
	t.Helper()
	st, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return st.Size()
}

func cutTo(t *testing.T, path string, n int64) {
	t.Helper()
	if err := os.Truncate(path, n); err != nil {
		t.Fatal(err)
	}
}

func wantIntegrity(t *testing.T, err error, word string) {
	t.Helper()
	var own *pipeline.IntegrityError
	if !errors.Is(err, manifests.ErrIntegrity) && !errors.As(err, &own) && !errors.Is(err, staged.ErrChanged) {
		t.Fatalf("got %v, want an integrity fault", err)
	}
	if !strings.Contains(err.Error(), word) {
		t.Errorf("%v does not name %q", err, word)
	}
}

// TestConcurrentImports is must-show 5 within one process: several imports at once, one set of records.
func TestConcurrentImports(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, url string) {
		h := newHouse(t, url, nil)
		h.mustRun(pipeline.DryRun)
		const workers = 3
		var pipes []*pipeline.Pipeline
		for range workers {
			pipes = append(pipes, h.open())
		}
		var wg sync.WaitGroup
		var mu sync.Mutex
		worked := 0
		for _, p := range pipes {
			wg.Go(func() {
				r, err := p.Import(t.Context())
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				defer mu.Unlock()
				if !r.AlreadyDone {
					worked++
				}
			})
		}
		wg.Wait()
		if worked != 1 {
			t.Errorf("%d of %d imports did the work, want 1", worked, workers)
		}
		if c := h.counts(); !maps.Equal(c, wantCounts) {
			t.Errorf("register: %v, want %v", c, wantCounts)
		}
	})
}

// childVariable makes the test binary a process that imports the batch in that folder and dies when told to.
const childVariable = "SHEETLIFT_TEST_IMPORT"

// TestImportChild is no test of its own: TestKilledImport starts it as a process.
func TestImportChild(t *testing.T) {
	dir := os.Getenv(childVariable)
	if dir == "" {
		t.SkipNow()
	}
	h := &house{t: t, dir: dir, url: os.Getenv(childVariable + "_DB")}
	chunks, _ := strconv.Atoi(os.Getenv(childVariable + "_CHUNKS"))
	h.progress = func(stage, _ string, _, _ int64) {
		if chunks--; stage == pipeline.Import && chunks == 0 {
			select {} // the chunk is committed; wait to be killed
		}
	}
	p := h.open()
	if n, err := strconv.Atoi(os.Getenv(childVariable + "_GROUP")); err == nil {
		p.CutGroups(n)
	}
	if _, err := p.Import(context.Background()); err != nil {
		t.Fatal(err)
	}
}

// TestKilledWithinAFile: an import that committed every chunk of a large file on its own dies after the second; one that commits
// several together goes on from there, and nothing shows it but the events.
func TestKilledWithinAFile(t *testing.T) {
	t.Parallel()
	const rows = 3*staged.ChunkRows + 100
	text := bytes.NewBufferString(consentHeader)
	for i := range rows {
		fmt.Fprintf(text, "C-%d,S-%d,p%d@example.com,news,email,Y,,,,,,,\n", i, i, i)
	}
	large := map[string]string{"consents.csv": text.String()}
	storetest.Each(t, func(t *testing.T, url string) {
		want := newHouse(t, storetest.SQLite(t), large).mustRun(pipeline.Reconcile)
		h := newHouse(t, url, large)
		h.mustRun(pipeline.DryRun)
		const before, alone = 4, 2 // files that are imported before, and chunks that are committed alone
		cmd := exec.Command(os.Args[0], "-test.run", "^TestImportChild$", "-test.v")
		cmd.Env = append(os.Environ(), childVariable+"="+h.dir, childVariable+"_DB="+url, childVariable+"_GROUP=1", fmt.Sprintf("%s_CHUNKS=%d", childVariable, before+alone))
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		for deadline := time.Now().Add(2 * time.Minute); h.events() < before+alone && time.Now().Before(deadline); {
			time.Sleep(time.Millisecond)
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Wait(); err == nil {
			t.Fatal("the import was not killed under way")
		}
		if n := h.counts()["legacy_assertions"]; n != alone*staged.ChunkRows {
			t.Fatalf("%d records when it was killed, want %d", n, alone*staged.ChunkRows)
		}
		if !h.expireLease() {
			t.Fatal("no import is running")
		}
		got := h.mustRun(pipeline.Reconcile)
		c := h.counts()
		if c["legacy_assertions"] != rows || c["provenance"] != c["id_map"] || c["events"] != before+alone+1 {
			t.Errorf("register: %v", c)
		}
		for _, stage := range []string{pipeline.Import, pipeline.Reconcile} {
			if a, b := pipeline.Common(got[stage]).Digest, pipeline.Common(want[stage]).Digest; a != b {
				t.Errorf("%s has digest %s, %s without a kill", stage, a, b)
			}
		}
	})
}

// TestKilledImport is must-show 5: kill -9 after each chunk and at other moments, run again: the same end state as without, on
// both databases.
func TestKilledImport(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, url string) {
		want := newHouse(t, storetest.SQLite(t), nil).mustRun(pipeline.Reconcile)
		h := newHouse(t, url, nil)
		h.mustRun(pipeline.DryRun)
		kills := 0
		for chunks := 1; chunks <= 4; chunks++ {
			cmd := exec.Command(os.Args[0], "-test.run", "^TestImportChild$", "-test.v")
			cmd.Env = append(os.Environ(), childVariable+"="+h.dir, childVariable+"_DB="+url, fmt.Sprintf("%s_CHUNKS=%d", childVariable, chunks))
			var out bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &out
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			// It stands still when that many chunks are in the database.
			deadline := time.Now().Add(40 * time.Second)
			for h.events() < chunks && time.Now().Before(deadline) {
				time.Sleep(time.Millisecond)
			}
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			if err := cmd.Wait(); err != nil {
				kills++
			}
			if h.expireLease() {
				continue
			}
			break // it had finished before the kill
		}
		if kills < 4 {
			t.Fatalf("%d of 4 imports were killed under way", kills)
		}
		got := h.mustRun(pipeline.Reconcile)
		if c := h.counts(); !maps.Equal(c, wantCounts) {
			t.Errorf("register after %d kills: %v, want %v", kills, c, wantCounts)
		}
		for _, stage := range []string{pipeline.Import, pipeline.Reconcile} {
			if a, b := pipeline.Common(got[stage]).Digest, pipeline.Common(want[stage]).Digest; a != b {
				t.Errorf("%s after %d kills has digest %s, %s without", stage, kills, a, b)
			}
		}
	})
}

// kill starts an import in a process of its own and kills it when so many chunks of records are in the register. Its lease has run out then.
func (h *house) kill(chunks int) {
	h.t.Helper()
	h.killAfter(0, chunks)
}

// killAfter is kill of an import that finds the chunks of earlier ones in the register.
func (h *house) killAfter(before, chunks int) {
	h.t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run", "^TestImportChild$", "-test.v")
	cmd.Env = append(os.Environ(), childVariable+"="+h.dir, childVariable+"_DB="+h.url, fmt.Sprintf("%s_CHUNKS=%d", childVariable, chunks))
	if err := cmd.Start(); err != nil {
		h.t.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); h.events() < before+chunks && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond)
	}
	if err := cmd.Process.Kill(); err != nil {
		h.t.Fatal(err)
	}
	if err := cmd.Wait(); err == nil {
		h.t.Fatal("the import was not killed under way")
	}
	if !h.expireLease() {
		h.t.Fatal("no import is running")
	}
}

func (h *house) events() (n int) {
	h.t.Helper()
	err := h.look().View(h.t.Context(), func(tx *store.Tx) error {
		return tx.QueryRow(h.t.Context(), `SELECT COUNT(*) FROM events WHERE entity <> 'unrecorded'`).Scan(&n)
	})
	if err != nil {
		h.t.Fatal(err)
	}
	return n
}

// expireLease makes a dead import's lease run out at once; false when no import is running.
func (h *house) expireLease() bool {
	h.t.Helper()
	var n int64
	err := h.look().Update(h.t.Context(), func(tx *store.Tx) (err error) {
		n, err = tx.Exec(h.t.Context(), `UPDATE operations SET lease_until = 0 WHERE kind = 'import' AND state = 'running'`)
		return err
	})
	if err != nil {
		h.t.Fatal(fmt.Errorf("expire the lease: %w", err))
	}
	return n > 0
}
