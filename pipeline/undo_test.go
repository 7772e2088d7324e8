package pipeline_test

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"sheetlift/pipeline"
	"sheetlift/pipeline/store"
	"sheetlift/pipeline/store/storetest"
)

// registerTables are the tables that an undo empties.
var registerTables = []string{"purposes", "notices", "suppressions", "cases", "receipts", "legacy_assertions"}

func (h *house) undo() *pipeline.UndoResult {
	h.t.Helper()
	r, err := h.open().Undo(h.t.Context())
	if err != nil {
		h.t.Fatal(err)
	}
	return r
}

func TestUndo(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, url string) {
		h := newHouse(t, url, nil)
		_, err := h.open().Undo(t.Context())
		wantGate(t, err, "imported nothing")
		first := h.mustRun(pipeline.Reconcile)
		full := h.counts()
		r := h.undo()
		if r.Retracted != 18 || r.Kept != 0 || !r.Passed {
			t.Errorf("undo: %+v", r)
		}
		got := h.counts()
		for _, table := range registerTables {
			if got[table] != 0 {
				t.Errorf("%s holds %d rows after the undo", table, got[table])
			}
		}
		if got["provenance"] != full["provenance"] || got["id_map"] != full["id_map"] || got["events"] <= full["events"] {
			t.Errorf("after the undo: %v, before: %v", got, full)
		}
		if again := h.undo(); !again.AlreadyDone || again.Digest != r.Digest {
			t.Errorf("undone again: %+v", again)
		}
		h.mustVerify()
		// The import needs a new dry-run, which somebody looks at.
		_, err = h.open().Import(t.Context())
		wantGate(t, err, "undone since the dry-run")
		_, err = h.open().Reconcile(t.Context())
		wantGate(t, err, "nothing was imported")
		st, err := h.open().Status(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range st.Stages {
			if undone := s.Stage == pipeline.DryRun || s.Stage == pipeline.Import || s.Stage == pipeline.Reconcile; undone != (s.State == "stale") {
				t.Errorf("status of %s: %s %s", s.Stage, s.State, s.Why)
			}
		}
		second := h.mustRun(pipeline.Reconcile)
		got = h.counts()
		for _, table := range registerTables {
			if got[table] != full[table] {
				t.Errorf("%s holds %d rows after the second import, %d after the first", table, got[table], full[table])
			}
		}
		if a, b := pipeline.Common(second["dryrun"]).Digest, pipeline.Common(first["dryrun"]).Digest; a != b {
			t.Error("the dry-run after the undo is another one")
		}
		h.mustVerify()
		if r := h.undo(); r.AlreadyDone || r.Retracted != 18 {
			t.Errorf("the second import undone: %+v", r)
		}
		h.mustVerify()
	})
}

// TestUndoKeeps: what is no longer only the batch's stays, with what it points to, and is named. What the batch itself corrected goes.
func TestUndoKeeps(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, url string) {
		h := newHouse(t, url, nil)
		h.mustRun(pipeline.Reconcile)
		h.write("purposes.csv", "Code,Name\nnews,Newsletter\nads,Advertisements\n")
		h.snapshot(pipeline.Delta, "purposes.csv")
		if r := h.mustRun(pipeline.Reconcile)["dryrun"].(*pipeline.DryRunResult); r.Sources[0].Corrected != 1 {
			t.Fatalf("%+v", r.Sources[0])
		}
		err := h.look().Update(t.Context(), func(tx *store.Tx) error {
			_, err := tx.Exec(t.Context(), `
				INSERT INTO provenance (tenant, id, entity, batch, snapshot, source, file_digest, sheet, row, line, row_digest, mapping_digest, staged_digest, obtained_at)
				SELECT tenant, id, entity, 'another', snapshot, source, file_digest, sheet, row, line, row_digest, mapping_digest, staged_digest, obtained_at
				FROM provenance
				WHERE entity = 'suppression' OR id IN (SELECT id FROM receipts WHERE external_key = 'C-1')`)
			if err == nil {
				_, err = tx.Exec(t.Context(), `UPDATE cases SET version = version + 1 WHERE external_key = 'R-2'`)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		r := h.undo()
		if r.Retracted != 13 || r.Kept != 5 || r.Number != 1 {
			t.Errorf("undo: %+v", r)
		}
		want := map[string]pipeline.Retracted{
			"purpose":     {Entity: "purpose", Retracted: 1, InUse: 1},
			"notice":      {Entity: "notice", Retracted: 1, InUse: 1},
			"suppression": {Entity: "suppression", PassedOn: 1},
			"case":        {Entity: "case", Retracted: 1, Changed: 1},
			"consent":     {Entity: "consent", Retracted: 10, PassedOn: 1},
		}
		for _, e := range r.Entities {
			if w, ok := want[e.Entity]; ok && e != w {
				t.Errorf("%+v, want %+v", e, w)
			}
		}
		list := findings(t, r.FindingsFile)
		if len(list) != 5 || list[0].Rule != "undo.kept" || list[0].File != "purposes.csv" || list[0].Row != 2 {
			t.Fatalf("findings: %+v", list)
		}
		for i, why := range []string{"points to it", "points to it", "batch another has it", "corrected", "batch another has it"} {
			if !strings.Contains(list[i].Message, why) {
				t.Errorf("%d: %s", i, list[i].Message)
			}
		}
		if n := h.counts(); n["purposes"] != 1 || n["notices"] != 1 || n["suppressions"] != 1 || n["cases"] != 1 || n["receipts"] != 1 || n["legacy_assertions"] != 0 {
			t.Errorf("register: %v", n)
		}
		h.mustVerify()
		if st, err := h.open().Status(t.Context()); err != nil || st.Snapshot != pipeline.Initial {
			t.Errorf("the newest snapshot is %v, %v", st, err)
		}
	})
}

// TestUndoChild is no test of its own: TestKilledUndo starts it as a process.
func TestUndoChild(t *testing.T) {
	dir := os.Getenv(childVariable + "_UNDO")
	if dir == "" {
		t.SkipNow()
	}
	h := &house{t: t, dir: dir, url: os.Getenv(childVariable + "_DB")}
	if _, err := h.open().Undo(context.Background()); err != nil {
		t.Fatal(err)
	}
}

// TestKilledUndo: kill -9 an undo under way, run it again: the same end as without, and an import in between is refused.
func TestKilledUndo(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, url string) {
		other := newHouse(t, storetest.SQLite(t), nil)
		other.mustRun(pipeline.Reconcile)
		want := other.undo()
		h := newHouse(t, url, nil)
		h.mustRun(pipeline.Reconcile)
		before := h.events()
		kills := 0
		for chunks := 1; chunks <= 3; chunks++ {
			cmd := exec.Command(os.Args[0], "-test.run", "^TestUndoChild$", "-test.v")
			cmd.Env = append(os.Environ(), childVariable+"_UNDO="+h.dir, childVariable+"_DB="+url)
			var out bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &out
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			deadline := time.Now().Add(40 * time.Second)
			for h.events() < before+chunks && time.Now().Before(deadline) {
				time.Sleep(time.Millisecond)
			}
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			if err := cmd.Wait(); err != nil {
				kills++
			}
			var n int64
			err := h.look().Update(t.Context(), func(tx *store.Tx) (err error) {
				n, err = tx.Exec(t.Context(), `UPDATE operations SET lease_until = 0 WHERE kind = 'undo' AND state = 'running'`)
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			if n == 0 {
				break // it had finished before the kill
			}
			_, err = h.open().Import(t.Context())
			wantGate(t, err, "an undo of the batch has begun")
			_, err = h.open().DryRun(t.Context()) // it would judge by what will go
			wantGate(t, err, "an undo of the batch has begun")
			_, err = h.open().Reconcile(t.Context())
			wantGate(t, err, "an undo of the batch has begun")
			_, err = h.open().FreezeSnapshot(t.Context(), pipeline.SnapshotSpec{Kind: pipeline.Delta, Files: []string{filepath.Join(h.dir, "consents.csv")}})
			wantGate(t, err, "an undo of the batch has begun")
			if st := h.status(); st.Next != "sheetlift undo" {
				t.Errorf("status says next: %s", st.Next)
			}
			tr, err := h.open().Trace(t.Context(), "purpose", "news", false)
			if err != nil {
				continue // taken back already
			}
			if len(tr.Unfinished) != 1 || tr.Unfinished[0].Stage != pipeline.Undo || tr.Unfinished[0].Records == 0 || tr.Unfinished[0].Next != "sheetlift undo" {
				t.Errorf("a trace within the undo says %+v", tr.Unfinished)
			}
		}
		if kills == 0 {
			t.Fatal("no undo was killed under way")
		}
		r := h.undo()
		if r.Digest != want.Digest {
			t.Errorf("after %d kills: %+v, want %+v", kills, r, want)
		}
		got := h.counts()
		for _, table := range registerTables {
			if got[table] != 0 {
				t.Errorf("%s holds %d rows", table, got[table])
			}
		}
		h.mustVerify()
		if maps.Equal(got, wantCounts) {
			t.Error("nothing was retracted")
		}
	})
}

// TestStatusAfterUndo: snapshots after the initial one are listed until their files are frozen again, by the command that is said.
func TestStatusAfterUndo(t *testing.T) {
	t.Parallel()
	h := newHouse(t, storetest.SQLite(t), firstOf)
	h.imported()
	h.write("consents.csv", consentHeader+assertion("C-2", "S-2,two@example.com", "Y", "2026-10-20T10:00:00Z")+"\n")
	h.snapshot(pipeline.Delta, "consents.csv") // replaced before its import
	h.write("consents.csv", consentHeader+assertion("C-3", "S-3,three@example.com", "Y", "2026-10-20T10:00:00Z")+"\n")
	bag := h.snapshot(pipeline.Delta, "consents.csv").Bag
	h.imported()
	if st := h.status(); st.Retracted != nil {
		t.Errorf("before the undo: %+v", st.Retracted)
	}
	h.undo()
	if err := os.Remove(filepath.Join(h.dir, "consents.csv")); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(bag, "data", "consents.csv")
	want := pipeline.RetractedSnapshot{Snapshot: "delta-2", Next: "sheetlift freeze --snapshot delta --source consents=" + file + " --obtained-at 2026-11-01T00:00:00Z"}
	check := func() {
		t.Helper()
		if st := h.status(); len(st.Retracted) != 1 || st.Retracted[0] != want {
			t.Errorf("status: %+v, want %+v", st.Retracted, want)
		}
	}
	check()
	h.dry()
	h.imp()
	check()
	fr, err := h.open().FreezeSnapshot(t.Context(), pipeline.SnapshotSpec{Kind: pipeline.Delta, Sources: map[string]string{"consents": file}, ObtainedAt: "2026-11-01T00:00:00Z"})
	if err != nil || fr.Snapshot != "delta-3" {
		t.Fatalf("%+v, %v", fr, err)
	}
	if st := h.status(); st.Retracted != nil {
		t.Errorf("frozen again: %+v", st.Retracted)
	}
	h.mustRun(pipeline.Reconcile)
	h.wantState("C-3", "given assertion")
	h.mustVerify()
}

// TestStatusAfterUndoKeepsTwins: the same file frozen twice is to be frozen again twice, for what lies in between rests on the first.
func TestStatusAfterUndoKeepsTwins(t *testing.T) {
	t.Parallel()
	h := newHouse(t, storetest.SQLite(t), firstOf)
	h.imported()
	file := filepath.Join(h.dir, "consents.csv")
	freeze := func(key, at string) {
		t.Helper()
		h.write("consents.csv", consentHeader+assertion(key, "S-3,three@example.com", "Y", "2026-10-20T10:00:00Z")+"\n")
		spec := pipeline.SnapshotSpec{Kind: pipeline.Delta, Sources: map[string]string{"consents": file}, ObtainedAt: at}
		if _, err := h.open().FreezeSnapshot(t.Context(), spec); err != nil {
			t.Fatal(err)
		}
		h.imported()
	}
	want := func(names ...string) {
		t.Helper()
		var got []string
		for _, r := range h.status().Retracted {
			got = append(got, r.Snapshot)
		}
		if !slices.Equal(got, names) {
			t.Errorf("retracted: %v, want %v", got, names)
		}
	}
	freeze("C-3", "2026-11-01T00:00:00Z")
	freeze("C-4", "2026-11-02T00:00:00Z")
	freeze("C-3", "2026-11-03T00:00:00Z")
	want()
	h.undo()
	want("delta-1", "delta-2", "delta-3")
	h.dry()
	h.imp()
	freeze("C-3", "2026-11-01T00:00:00Z")
	want("delta-2", "delta-3")
	freeze("C-4", "2026-11-02T00:00:00Z")
	freeze("C-3", "2026-11-03T00:00:00Z")
	want()
	h.undo()
	want("delta-4", "delta-5", "delta-6")
	h.mustVerify()
}

// A file name that looks like a person's address is not shown as part of a command either.
func TestStatusAfterUndoShowsNoName(t *testing.T) {
	t.Parallel()
	h := newHouse(t, storetest.SQLite(t), firstOf)
	const name = "ada.byron@example.com.csv"
	h.write(name, firstOf["consents.csv"])
	h.write("batch.yaml", strings.Replace(houseFiles["batch.yaml"], "file: consents.csv", "file: "+name, 1))
	h.imported()
	h.write(name, consentHeader+assertion("C-3", "S-3,three@example.com", "Y", "2026-10-20T10:00:00Z")+"\n")
	h.snapshot(pipeline.Delta, name)
	h.imported()
	h.undo()
	if st := h.status(); len(st.Retracted) != 1 || strings.Contains(st.Retracted[0].Next, "ada") || !strings.Contains(st.Retracted[0].Next, "/data/FILE ") {
		t.Errorf("status: %+v", st.Retracted)
	}
}

// An undo that was killed names the batches that have to look again once it is finished, whatever they looked at meanwhile.
func TestKilledUndoNamesWhoHasToLookAgain(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, url string) {
		h := newHouse(t, url, rows([]string{receipt("G-1", "S-1,one@example.com", "Y", "2025-03-01T10:00:00Z")}, []string{"supp@example.com,email,objection,"}, nil))
		h.imported()
		second := rows([]string{receipt("H-1", "S-7,seven@example.com", "Y", "2025-03-01T10:00:00Z"), assertion("H-2", ",one@example.com", "N", "2025-13-01")}, nil, nil)
		h.next("second", second)
		if dry := h.imported(); dry.StillGiven != 1 {
			t.Fatal(dry.StillGiven)
		}
		h.next("acme-2026", nil)
		before := h.events()
		if h.killUndo(before, 1) == 0 {
			t.Fatal("the undo was not killed under way")
		}
		h.next("second", second)
		if dry, err := h.open().DryRun(t.Context()); err != nil || dry.StillGiven != 0 { // the consent went first
			t.Fatal(dry, err)
		}
		h.next("acme-2026", nil)
		if r := h.undo(); len(r.JudgeAgain) != 1 || r.JudgeAgain[0].Batch != "second" {
			t.Errorf("%+v", r.JudgeAgain)
		}
		h.next("second", second)
		if _, err := h.open().DryRun(t.Context()); err != nil {
			t.Fatal(err)
		}
		h.next("acme-2026", nil)
		if r := h.undo(); len(r.JudgeAgain) != 0 {
			t.Errorf("it has looked: %+v", r.JudgeAgain)
		}
	})
}

// An undo that could not say what it kept takes nothing back.
func TestUndoWithoutAFolderTakesNothingBack(t *testing.T) {
	t.Parallel()
	h := newHouse(t, storetest.SQLite(t), nil)
	h.mustRun(pipeline.Import)
	before := h.counts()
	work := filepath.Join(h.dir, ".sheetlift", "work", "acme-2026")
	if err := os.Rename(work, work+".away"); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(work, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var file *pipeline.FileError
	if _, err := h.open().Undo(t.Context()); !errors.As(err, &file) {
		t.Errorf("got %v", err)
	}
	if after := h.counts(); !maps.Equal(before, after) {
		t.Errorf("before %v, after %v", before, after)
	}
	if st := h.status(); st.Next == "sheetlift undo" {
		t.Error("an undo is called begun that took nothing back")
	}
	if err := os.Remove(work); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(work+".away", work); err != nil {
		t.Fatal(err)
	}
	if r := h.undo(); r.Retracted == 0 {
		t.Errorf("%+v", r)
	}
	h.mustRun(pipeline.Reconcile)
}
