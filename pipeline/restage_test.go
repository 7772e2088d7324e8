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

// filesOf reads the files of all dry-runs.
func (h *house) filesOf() map[string]string {
	h.t.Helper()
	paths, err := filepath.Glob(filepath.Join(h.dir, ".sheetlift", "work", "*", "dryrun-*", "*"))
	if err != nil || len(paths) == 0 {
		h.t.Fatalf("no files of a dry-run: %v", err)
	}
	files := map[string]string{}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			h.t.Fatal(err)
		}
		files[path] = string(data)
	}
	return files
}

func (h *house) loseWork() {
	h.t.Helper()
	if err := os.RemoveAll(filepath.Join(h.dir, ".sheetlift", "work")); err != nil {
		h.t.Fatal(err)
	}
}

// survivesLoss has a batch that is imported lose its work folder: reconcile makes the dry-runs' files anew, and they are the same.
func (h *house) survivesLoss() {
	h.t.Helper()
	files := h.filesOf()
	before, err := h.open().Reconcile(h.t.Context())
	if err != nil {
		h.t.Fatal(err)
	}
	h.loseWork()
	if st, err := h.open().Status(h.t.Context()); err != nil || !strings.Contains(st.Stages[3].Why, "files of it are gone") {
		h.t.Errorf("status: %+v, %v", st, err)
	}
	after, err := h.open().Reconcile(h.t.Context())
	if err != nil {
		h.t.Fatal(err)
	}
	if after.Digest != before.Digest || !after.Passed {
		h.t.Errorf("reconcile: %+v", after)
	}
	if again := h.filesOf(); !maps.Equal(again, files) {
		h.t.Errorf("the files that were made anew are others: %d, there were %d", len(again), len(files))
	}
	h.mustRun(pipeline.Reconcile)
	if left, err := filepath.Glob(filepath.Join(h.dir, ".sheetlift", "work", "*", "*.anew*")); err != nil || len(left) > 0 {
		h.t.Errorf("left behind: %v %v", left, err)
	}
}

func TestLostWorkFolder(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, url string) {
		fresh := storetest.SQLite
		if strings.HasPrefix(url, "postgres") {
			fresh = storetest.Postgres
		}
		t.Run("after an import", func(t *testing.T) {
			h := newHouse(t, fresh(t), nil)
			h.mustRun(pipeline.Reconcile)
			h.survivesLoss()
			h.mustVerify()
			h.loseWork()
			for _, stage := range []string{pipeline.Inventory, pipeline.Map, pipeline.DryRun, pipeline.Reconcile} { // as report says
				if _, err := h.open().Stage(t.Context(), stage); err != nil {
					t.Fatal(err)
				}
			}
			if r, err := h.open().Review(t.Context()); err != nil || !r.Judged.Imported {
				t.Errorf("report: %v", err)
			}
		})
		t.Run("within an import", func(t *testing.T) {
			want := newHouse(t, fresh(t), nil).mustRun(pipeline.Reconcile)
			h := newHouse(t, fresh(t), nil)
			h.mustRun(pipeline.DryRun)
			files := h.filesOf()
			h.kill(4)
			h.loseWork()
			imp, err := h.open().Import(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if imp.Digest != pipeline.Common(want["import"]).Digest || !maps.Equal(h.filesOf(), files) {
				t.Errorf("import: %+v", imp.Entities)
			}
			h.survivesLoss()
		})
		t.Run("after a delta", func(t *testing.T) {
			h := newHouse(t, fresh(t), liveFiles)
			h.mustRun(pipeline.Reconcile)
			h.write("consents.csv", strings.Replace(freshFiles["consents.csv"], ",more,", ",ads,", 1))
			h.snapshot(pipeline.Delta, "consents.csv")
			h.mustRun(pipeline.Reconcile)
			h.survivesLoss()
		})
		t.Run("another batch was undone since", func(t *testing.T) {
			given := rows([]string{receipt("G-1", "S-1,one@example.com", "Y", "2025-03-01T10:00:00Z")}, nil, nil)
			said := rows([]string{assertion("W-1", "S-1,one@example.com", "N", "2025-13-01T10:00:00Z")}, nil, nil)
			h := newHouse(t, fresh(t), given)
			h.imported()
			h.next("acme-2027", said)
			if dry := h.imported(); dry.StillGiven != 1 {
				t.Fatalf("%+v", dry)
			}
			h.next("acme-2026", given)
			h.undo()
			h.loseWork()
			h.next("acme-2027", said)
			_, err := h.open().Reconcile(t.Context())
			var other *pipeline.IntegrityError
			if !errors.As(err, &other) || !strings.Contains(other.Detail, "batch acme-2026 was undone since") || !strings.Contains(other.Remedy, "sheetlift undo") {
				t.Fatalf("reconcile: %v", err)
			}
			h.undo() // as the remedy says
			if dry := h.imported(); dry.StillGiven != 0 {
				t.Errorf("%+v", dry)
			}
			h.mustVerify()
		})
		t.Run("another batch was imported since", func(t *testing.T) {
			h := newHouse(t, fresh(t), nil)
			h.mustRun(pipeline.Reconcile)
			h.write("batch.yaml", strings.Replace(houseFiles["batch.yaml"], "acme-2026", "acme-2027", 1))
			h.write("suppressions.csv", "Mail,Channel,Reason,At\none@example.com,email,objection,\n")
			h.mustRun(pipeline.Reconcile)
			h.write("batch.yaml", houseFiles["batch.yaml"])
			h.loseWork()
			_, err := h.open().Reconcile(t.Context())
			var other *pipeline.IntegrityError
			if !errors.As(err, &other) || !strings.Contains(other.Remedy, "sheetlift undo") {
				t.Errorf("reconcile: %v", err)
			}
		})
	})
}

// The lists of rejected rows that a further snapshot needs are made anew, also after a second dry-run of the snapshot before.
func TestLostListsOfEarlierSnapshots(t *testing.T) {
	t.Parallel()
	const twice = "L-8,S-8,eight@example.com,news,email,N,,,,,,,\nL-8,S-8,eight@example.com,news,email,N,,,,,,,\n" // a finding of inventory and freeze
	start := func(t *testing.T) *house {
		h := newHouse(t, storetest.SQLite(t), liveFiles)
		h.write("consents.csv", liveFiles["consents.csv"]+twice+"L-9,S-1,one@example.com,news,email,N,2025-31-01 10:00,,,,,,\n") // rejected, and L-1 with it
		h.mustRun(pipeline.Reconcile)
		return h
	}
	again := func(h *house) {
		h.t.Helper()
		if _, err := h.open().DryRun(h.t.Context()); err != nil {
			h.t.Fatal(err)
		}
	}
	further := func(h *house) {
		h.t.Helper()
		h.write("consents.csv", freshFiles["consents.csv"]+twice) // over the one before, which only the vault has now
		if fr := h.snapshot(pipeline.Delta, "consents.csv"); fr.Findings == (pipeline.Counts{}) {
			h.t.Errorf("freeze found nothing: %+v", fr)
		}
	}
	for _, second := range []bool{false, true} {
		t.Run(map[bool]string{false: "a delta", true: "a delta after a second dry-run"}[second], func(t *testing.T) {
			t.Parallel()
			var want *pipeline.DryRunResult
			for _, lost := range []bool{false, true} {
				h := start(t)
				if second {
					again(h)
				}
				if lost {
					h.loseWork()
				}
				further(h)
				dry := h.mustRun(pipeline.Reconcile)["dryrun"].(*pipeline.DryRunResult)
				if !lost {
					want = dry
				} else if dry.Digest != want.Digest || dry.Listed == "" {
					t.Errorf("digest %s, want %s", dry.Digest, want.Digest)
				}
				h.wantState("L-1", "not in the register")
				h.survivesLoss()
				h.mustRun(pipeline.Reconcile)
				h.mustVerify()
			}
		})
	}
	for name, look := range map[string]func(*house){
		"dryrun": again, // as the message of verify says
		"run":    func(h *house) { h.mustRun(pipeline.Reconcile) },
		"reconcile": func(h *house) {
			if _, err := h.open().Reconcile(h.t.Context()); err != nil {
				h.t.Error(err)
			}
		},
	} {
		t.Run("only the earlier ones are gone: "+name, func(t *testing.T) {
			t.Parallel()
			h := start(t)
			again(h)
			old, err := filepath.Glob(filepath.Join(h.dir, ".sheetlift", "work", "*", "dryrun-*"))
			if err != nil || len(old) != 2 {
				t.Fatal(old, err)
			}
			further(h)
			h.mustRun(pipeline.Reconcile)
			files := h.filesOf()
			for _, dir := range old {
				if err := os.RemoveAll(dir); err != nil {
					t.Fatal(err)
				}
			}
			h.said = nil
			look(h)
			if len(h.said) != 1 || !strings.Contains(h.said[0], "files of the dry-run of snapshot initial are gone; they are made anew") {
				t.Errorf("said %q", h.said)
			}
			now := h.filesOf()
			for path, data := range files {
				if now[path] != data {
					t.Errorf("%s is another", filepath.Base(path))
				}
			}
			h.mustVerify()
		})
	}
	t.Run("other mappings were tried since the import", func(t *testing.T) {
		t.Parallel()
		other := strings.Replace(houseFiles["consents.yaml"], "occurred_at: { from: At, format: iso8601 }", `occurred_at: { from: At, format: "YYYY-DD-MM HH:mm" }`, 1)
		if other == houseFiles["consents.yaml"] {
			t.Fatal("the mapping is the same")
		}
		for _, lost := range []bool{false, true} {
			h := start(t)
			h.write("consents.yaml", other)
			h.mustRun(pipeline.DryRun) // imports nothing
			h.write("consents.yaml", houseFiles["consents.yaml"])
			further(h)
			if lost {
				h.loseWork()
				_, err := h.run(pipeline.Reconcile)
				var gate *pipeline.GateError // of the dry-run by the other mapping
				if !errors.As(err, &gate) || !strings.Contains(gate.Remedy, "run --until dryrun") {
					t.Fatalf("run: %v", err)
				}
				h.write("consents.yaml", other)
				if _, err := h.run(pipeline.DryRun); err != nil {
					t.Fatalf("the way that the message names: %v", err)
				}
				h.write("consents.yaml", houseFiles["consents.yaml"])
			}
			h.mustRun(pipeline.Reconcile)
			h.wantState("L-1", "not in the register") // else the refusal of a row that never came in were forgotten
		}
	})
}
