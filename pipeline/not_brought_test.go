package pipeline_test

import (
	"strings"
	"testing"

	"sheetlift/pipeline"
	"sheetlift/pipeline/store/storetest"
)

func (h *house) status() *pipeline.StatusResult {
	h.t.Helper()
	st, err := h.open().Status(h.t.Context())
	if err != nil {
		h.t.Fatal(err)
	}
	return st
}

func (h *house) dry() *pipeline.DryRunResult {
	h.t.Helper()
	r, err := h.open().DryRun(h.t.Context())
	if err != nil {
		h.t.Fatal(err)
	}
	return r
}

func (h *house) imp() *pipeline.ImportResult {
	h.t.Helper()
	r, err := h.open().Import(h.t.Context())
	if err != nil {
		h.t.Fatal(err)
	}
	return r
}

var (
	sharedNo = assertion("C-1", "S-1,one@example.com", "N", "2025-03-01T10:00:00Z")
	firstOf  = rows([]string{sharedNo}, nil, nil)
	secondOf = rows([]string{sharedNo, assertion("C-2", "S-1,one@example.com", "Y", "2025-02-01T10:00:00Z")}, nil, nil)
)

// TestNotBrought: in a register that an earlier version filled, a row that the import skipped as known is accepted by a dry-run after the batch
// that had brought it was undone. Import and status say that it is not in, and what they say to do brings it in.
func TestNotBrought(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, url string) {
		h := newHouse(t, url, firstOf)
		h.imported()
		h.next("second", secondOf)
		h.unmarked = true
		known := int64(0)
		for _, s := range h.imported().Sources {
			known += int64(s.Skipped["row.known"])
		}
		h.unmarked = false
		if st := h.status(); st.NotBrought != nil || !strings.Contains(st.Next, "done") {
			t.Errorf("before: %+v, next %s", st.NotBrought, st.Next)
		}
		h.next("acme-2026", firstOf)
		h.said = nil
		if r := h.undo(); len(r.KnownElsewhere) != 1 || r.KnownElsewhere[0] != (pipeline.KnownElsewhere{Batch: "second", Rows: known, Next: "sheetlift dryrun"}) {
			t.Errorf("undo: %+v", r.KnownElsewhere)
		}
		if len(h.said) != 1 || !strings.Contains(h.said[0], "batch second skipped") {
			t.Errorf("undo said %q", h.said)
		}
		h.next("second", secondOf)
		h.wantState("C-2", "given assertion")
		if st := h.status(); st.NotBrought == nil || st.NotBrought.Known != known || !strings.Contains(st.NotBrought.Why, "batch acme-2026 was undone") || st.Next != "sheetlift dryrun" {
			t.Errorf("status after the undo: %+v, next %s", st.NotBrought, st.Next)
		}
		if r := h.dry(); r.Rows.Accepted == 0 {
			t.Fatalf("dryrun: %+v", r.Rows)
		}
		for range 2 {
			r := h.imp()
			if n := r.NotBrought; !r.AlreadyDone || n == nil || n.Records == 0 || !strings.Contains(n.Why, "register changed") || n.Next != "sheetlift undo" {
				t.Errorf("import: %+v", n)
			}
			if st := h.status(); st.NotBrought == nil || *st.NotBrought != *r.NotBrought || st.Next != "sheetlift undo" {
				t.Errorf("status: %+v, next %s", st.NotBrought, st.Next)
			}
		}
		if got := h.mustRun(pipeline.Reconcile); got["import"].(*pipeline.ImportResult).NotBrought == nil {
			t.Error("run says nothing")
		}
		h.mustVerify()
		h.undo()
		h.dry()
		if r := h.imp(); r.AlreadyDone || r.NotBrought != nil {
			t.Errorf("import: %+v", r)
		}
		if r, err := h.open().Reconcile(t.Context()); err != nil || !r.Passed {
			t.Errorf("reconcile: %+v, %v", r, err)
		}
		if st := h.status(); st.NotBrought != nil || !strings.Contains(st.Next, "done") {
			t.Errorf("after: %+v, next %s", st.NotBrought, st.Next)
		}
		h.wantState("C-2", "withdrawn withdrawal")
		h.mustVerify()
		if r := h.undo(); r.KnownElsewhere != nil {
			t.Errorf("undo of what nobody else has: %+v", r.KnownElsewhere)
		}
	})
}

// TestNotBroughtEarlier: rows of an earlier snapshot that were skipped as known are spoken of too, though no dry-run judges them again.
func TestNotBroughtEarlier(t *testing.T) {
	t.Parallel()
	h := newHouse(t, storetest.SQLite(t), firstOf)
	h.imported()
	h.next("second", secondOf)
	h.unmarked = true
	h.imported()
	h.write("consents.csv", consentHeader+assertion("C-3", "S-3,three@example.com", "Y", "2025-02-01T10:00:00Z")+"\n")
	h.snapshot(pipeline.Delta, "consents.csv")
	h.imported()
	h.unmarked = false
	h.next("acme-2026", firstOf)
	h.undo()
	h.next("second", nil)
	st := h.status()
	if n := st.NotBrought; n == nil || n.Known == 0 || n.Next != "sheetlift undo" || !strings.Contains(st.Next, "done") {
		t.Errorf("status: %+v, next %s", n, st.Next)
	}
}

// TestNotBroughtByMapping: what a changed mapping accepts beyond what was imported is a further import away.
func TestNotBroughtByMapping(t *testing.T) {
	t.Parallel()
	h := newHouse(t, storetest.SQLite(t), rows([]string{sharedNo, assertion("C-2", "S-2,two@example.com", "perhaps", "2025-02-01T10:00:00Z")}, nil, nil))
	h.imported()
	h.write("consents.yaml", strings.Replace(houseFiles["consents.yaml"], "[Y, yes]", "[Y, yes, perhaps]", 1))
	if _, err := h.open().Map(t.Context()); err != nil {
		t.Fatal(err)
	}
	h.dry()
	st := h.status()
	if n := st.NotBrought; n == nil || n.Records != 1 || st.Next != "sheetlift import" {
		t.Errorf("status: %+v, next %s", n, st.Next)
	}
	if r := h.imp(); r.AlreadyDone || r.NotBrought != nil {
		t.Errorf("import: %+v", r)
	}
	if st := h.status(); st.NotBrought != nil {
		t.Errorf("after: %+v", st.NotBrought)
	}
	h.wantState("C-2", "given assertion")
}
