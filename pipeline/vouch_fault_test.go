package pipeline_test

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sheetlift/pipeline"
	"sheetlift/pipeline/store"
	"sheetlift/pipeline/store/storetest"
)

// TestConcurrentVouching: several imports of a batch with known rows at once leave one set of marks.
func TestConcurrentVouching(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, url string) {
		h := newHouse(t, url, firstOf)
		h.imported()
		h.next("second", secondOf)
		h.mustRun(pipeline.DryRun)
		var pipes []*pipeline.Pipeline
		for range 3 {
			pipes = append(pipes, h.open())
		}
		var wg sync.WaitGroup
		for _, p := range pipes {
			wg.Go(func() {
				if r, err := p.Import(t.Context()); err != nil || r.Vouched != 5 {
					t.Errorf("import: %+v, %v", r, err)
				}
			})
		}
		wg.Wait()
		want := all("acme-2026 second?", sharedKeys...)
		want["consent C-2"] = "second"
		h.wantHeld(want)
		h.reconciles()
		if n := h.importedMarks(); n != 5 {
			t.Errorf("events of %d marks", n)
		}
	})
}

// importedMarks counts the marks that events of imports speak of.
func (h *house) importedMarks() (n int64) {
	h.t.Helper()
	err := h.look().View(h.t.Context(), func(tx *store.Tx) error {
		return tx.QueryRow(h.t.Context(), `SELECT CAST(COALESCE(SUM(records), 0) AS BIGINT) FROM events WHERE kind = 'import' AND entity LIKE '%.known'`).Scan(&n)
	})
	if err != nil {
		h.t.Fatal(err)
	}
	return n
}

// TestKilledVouching: kill -9 an import of known rows after each of its chunks, and the undo of the batch that brought their records after
// each of its own, and run them again: the same end as without, on both databases.
func TestKilledVouching(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, url string) {
		h := newHouse(t, url, firstOf)
		h.imported()
		h.next("second", secondOf)
		h.mustRun(pipeline.DryRun)
		before := h.events()
		for chunks := 1; chunks <= 4; chunks++ { // C-2, and marks of three entities
			h.killAfter(before, chunks)
			h.known(chunks-1, "second")
			if st := h.status(); st.Next != "sheetlift import" {
				t.Errorf("after %d chunks, status says next: %s", chunks, st.Next)
			}
		}
		h.mustRun(pipeline.Reconcile)
		want := all("acme-2026 second?", sharedKeys...)
		want["consent C-2"] = "second"
		h.wantHeld(want)
		if n := h.importedMarks(); n != 5 {
			t.Errorf("events of %d marks", n)
		}
		h.mustVerify()

		h.next("acme-2026", firstOf)
		before = h.events()
		kills := 0
		for chunks := 1; chunks <= 3; chunks++ {
			kills += h.killUndo(before, chunks)
			for key, by := range h.heldBy() {
				if !strings.Contains(by, "second") {
					t.Errorf("after %d chunks, %s is of %q", chunks, key, by)
				}
			}
		}
		if kills == 0 {
			t.Fatal("no undo was killed under way")
		}
		if r := h.undo(); r.Retracted != 0 || r.Kept != 5 || len(r.PassedOn) != 1 || r.PassedOn[0].Records != 5 {
			t.Errorf("after %d kills: %+v", kills, r)
		}
		want = all("second?", sharedKeys...)
		want["consent C-2"] = "second"
		h.wantHeld(want)
		h.mustVerify()
		h.next("second", secondOf)
		h.reconciles()
	})
}

// known looks whether there are marks of so many entities, all of the batch.
func (h *house) known(entities int, batch string) {
	h.t.Helper()
	of := map[string]bool{}
	for key, by := range h.heldBy() {
		if strings.Contains(by, batch+"?") {
			entity, _, _ := strings.Cut(key, " ")
			of[entity] = true
		}
	}
	if len(of) != entities {
		h.t.Errorf("marks of %v, want those of %d entities", slices.Sorted(maps.Keys(of)), entities)
	}
}

// killUndo starts an undo in a process of its own and kills it when so many of its chunks are committed; 0 if it had ended before.
func (h *house) killUndo(before, chunks int) int {
	h.t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run", "^TestUndoChild$", "-test.v")
	cmd.Env = append(os.Environ(), childVariable+"_UNDO="+h.dir, childVariable+"_DB="+h.url)
	if err := cmd.Start(); err != nil {
		h.t.Fatal(err)
	}
	for deadline := time.Now().Add(40 * time.Second); h.events() < before+chunks && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	var n int64
	err := h.look().Update(h.t.Context(), func(tx *store.Tx) (err error) {
		n, err = tx.Exec(h.t.Context(), `UPDATE operations SET lease_until = 0 WHERE kind = 'undo' AND state = 'running'`)
		return err
	})
	if err != nil {
		h.t.Fatal(err)
	}
	return int(n)
}

// TestPropertyUndoLeavesWhatOthersSay: whatever batches bring and in whatever order they are imported and undone, the register holds what
// those say that are not undone, each record once, and its provenance names all of them that have it and no other. Fresh exports correct a
// case: it is that of the batches that found it as it was, or corrected it, until the last of them is undone.
func TestPropertyUndoLeavesWhatOthersSay(t *testing.T) {
	passedOn, corrected := int64(0), 0
	check(t, 4, func(rt *rapid.T) {
		h := small(t, rows(nil, nil, nil))
		names := []string{"one", "two", "three"}
		files, has := map[string]map[string]string{}, map[string][]string{}
		for _, name := range names {
			var consents, suppressions, cases []string
			draw := func(key string, to *[]string, line string) {
				n := rapid.SampledFrom([]int{0, 1, 1, 2}).Draw(rt, name+" "+key)
				for range n {
					*to = append(*to, line)
				}
				if n > 0 {
					has[name] = append(has[name], key)
				}
			}
			for i := range 4 {
				draw(fmt.Sprintf("consent C-%d", i), &consents, receipt(fmt.Sprintf("C-%d", i), fmt.Sprintf("S-%d,c%d@example.com", i, i), "Y", "2025-03-01T10:00:00Z"))
				draw(fmt.Sprintf("consent A-%d", i), &consents, assertion(fmt.Sprintf("A-%d", i), fmt.Sprintf("T-%d,a%d@example.com", i, i), "N", ""))
			}
			draw("suppression x@example.com|email", &suppressions, "x@example.com,email,objection,")
			draw("case R-1", &cases, "R-1,access,open,,asks@example.com,2026-09-20,")
			files[name] = rows(consents, suppressions, cases)
			has[name] = append(has[name], "purpose news", "purpose ads", "notice PN|1", "notice PN|2")
		}
		const caseKey, caseDone = "case R-1", "R-1,access,done,,asks@example.com,2026-09-20,2026-09-25"
		in, fresh := map[string]bool{}, map[string]bool{}
		cased, brought := map[string]bool{}, map[string]bool{} // those that stand for the case; and whose newest snapshot brought it open
		done := false                                          // what the register holds of it
		at := func(name string) {
			h.write("batch.yaml", tolerantBatch(name))
			for file, text := range files[name] {
				h.write(file, text)
			}
		}
		turn := func(name string) {
			at(name)
			switch {
			case in[name] && !fresh[name] && rapid.Bool().Draw(rt, "fresh"):
				fresh[name] = true
				h.write("cases.csv", caseHeader+caseDone+"\n")
				h.snapshot(pipeline.Delta, "cases.csv")
				if err := h.open().Run(t.Context(), pipeline.Reconcile, func(any) {}); err != nil {
					rt.Fatalf("fresh export of %s: %v", name, err)
				}
				if len(cased) > 0 && !done {
					corrected++
				}
				cased[name], brought[name], done = true, false, true
			case in[name]:
				in[name], fresh[name], brought[name] = false, false, false
				if delete(cased, name); len(cased) == 0 {
					done = false
				}
				r, err := h.open().Undo(t.Context())
				if err != nil || !r.Passed || r.KnownElsewhere != nil {
					rt.Fatalf("undo of %s: %+v, %v", name, r, err)
				}
				passedOn += r.Kept
			default:
				in[name] = true
				if err := h.open().Run(t.Context(), pipeline.Reconcile, func(any) {}); err != nil {
					rt.Fatalf("import of %s: %v", name, err)
				}
				if slices.Contains(has[name], caseKey) && !done {
					brought[name] = len(cased) == 0
					cased[name] = true
				}
			}
			want := map[string][]string{}
			for _, name := range names {
				if cased[name] {
					want[caseKey] = append(want[caseKey], name)
				}
				if in[name] {
					for _, key := range has[name] {
						if key != caseKey {
							want[key] = append(want[key], name)
						}
					}
				}
			}
			got := h.heldBy()
			for key, by := range got {
				list := strings.Fields(strings.ReplaceAll(by, "?", ""))
				slices.Sort(want[key])
				if list = slices.Compact(list); !slices.Equal(list, want[key]) {
					rt.Fatalf("after %s (%v): %s is of %q, want %v", name, in, key, by, want[key])
				}
			}
			if len(got) != len(want) {
				rt.Fatalf("after %s (%v): the register holds %d records, want %d", name, in, len(got), len(want))
			}
			for _, name := range names {
				if at(name); in[name] {
					r, err := h.open().Reconcile(t.Context())
					switch {
					case err != nil, r.Passed == (brought[name] && done):
						rt.Fatalf("reconcile of %s, whose case was corrected: %v: %+v, %v", name, brought[name] && done, r, err)
					case !r.Passed:
						if list := findings(t, r.FindingsFile); len(list) != 1 || !strings.Contains(list[0].Message, "1 record was corrected since") {
							rt.Fatalf("reconcile of %s: %+v", name, list)
						}
					}
				}
			}
		}
		for range rapid.IntRange(3, 8).Draw(rt, "turns") {
			turn(rapid.SampledFrom(names).Draw(rt, "batch"))
		}
		for _, name := range rapid.Permutation(names).Draw(rt, "order") {
			for in[name] {
				turn(name)
			}
		}
		if got := h.heldBy(); len(got) != 0 {
			rt.Fatalf("all is undone, and the register holds %v", got)
		}
		for _, name := range names {
			if at(name); h.hasRun() {
				h.mustVerify()
			}
		}
	})
	if passedOn == 0 {
		t.Error("nothing was passed on")
	}
	if corrected == 0 {
		t.Error("nothing was corrected")
	}
}

// hasRun reports whether anything was done of the folder's batch.
func (h *house) hasRun() bool {
	h.t.Helper()
	return h.status().Stages[0].State != "not started"
}
