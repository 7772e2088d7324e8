package pipeline_test

import (
	"errors"
	"os"
	"testing"

	"sheetlift/pipeline"
	"sheetlift/pipeline/store"
	"sheetlift/pipeline/store/storetest"
)

// The last word on a batch is what was found last: a reconcile that fails is not hidden by one that passed before.
func TestStatusSaysLastReconcile(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, url string) {
		h := newHouse(t, url, nil)
		got := h.mustRun(pipeline.Reconcile)
		state := func(want, next string) {
			t.Helper()
			st, err := h.open().Status(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if last := st.Stages[len(st.Stages)-1]; last.State != want || st.Next != next {
				t.Errorf("reconcile is %s %s, next %s; want %s, next %s", last.State, last.Why, st.Next, want, next)
			}
		}
		set := func(actor string) {
			t.Helper()
			err := h.look().Update(t.Context(), func(tx *store.Tx) error {
				_, err := tx.Exec(t.Context(), `UPDATE receipts SET actor = $1 WHERE external_key = 'C-1'`, actor)
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		state("succeeded", "stages 1 to 6 are done")
		set("Somebody Else")
		for range 2 {
			var changed *pipeline.IntegrityError
			if r, err := h.open().Reconcile(t.Context()); !errors.As(err, &changed) || r == nil || r.Passed {
				t.Fatalf("%+v, %v", r, err)
			}
			state("did not pass", "sheetlift verify")
		}
		set("Ada Agent")
		if r, err := h.open().Reconcile(t.Context()); err != nil || !r.Passed || r.Digest != pipeline.Common(got["reconcile"]).Digest {
			t.Fatalf("%+v, %v", r, err)
		}
		state("succeeded", "stages 1 to 6 are done")
		h.mustVerify()

		// One that could not be made is no success either.
		staged := got["import"].(*pipeline.ImportResult).Staged[0].Path
		data, err := os.ReadFile(staged)
		if err == nil {
			err = os.WriteFile(staged, append([]byte("x"), data[1:]...), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, err := h.open().Reconcile(t.Context()); err == nil {
			t.Fatal("a changed staged file reconciled")
		}
		state("failed", "sheetlift reconcile")
		if err := os.WriteFile(staged, data, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := h.open().Reconcile(t.Context()); err != nil {
			t.Fatal(err)
		}
		state("succeeded", "stages 1 to 6 are done")
	})
}
