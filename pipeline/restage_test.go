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
