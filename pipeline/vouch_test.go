package pipeline_test

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sheetlift/importers"
	"sheetlift/importers/register"
	"sheetlift/pipeline"
	"sheetlift/pipeline/finding"
	"sheetlift/pipeline/store"
	"sheetlift/pipeline/store/storetest"
)

// heldBy gives, by the key of each record that the register holds, the batches of its live provenance: those that brought it plain, those
// that vouch for it with a question mark.
func (h *house) heldBy() map[string]string {
	h.t.Helper()
	by, keys := map[string]string{}, map[string]string{}
	err := h.look().View(context.Background(), func(tx *store.Tx) error {
		for i := range importers.Entities {
			e := &importers.Entities[i]
			err := register.Each(context.Background(), tx, e, "acme", register.Filter{}, func(st *register.Stored) error {
				key := e.Name + " " + st.Key
				if _, twice := by[key]; twice {
					h.t.Errorf("%s is held twice", key)
				}
				by[key], keys[st.ID] = "", key
				return nil
			})
			if err != nil {
				return err
			}
		}
		for id, key := range keys {
			var batches []string
			err := register.EachProvenance(context.Background(), tx, "acme", "", id, func(pr register.Provenance) error {
				switch {
				case !pr.Live():
				case pr.Vouched > 0:
					batches = append(batches, pr.Batch+"?")
				default:
					batches = append(batches, pr.Batch)
				}
				return nil
			})
			if err != nil {
				return err
			}
			slices.Sort(batches)
			by[key] = strings.Join(batches, " ")
		}
		return nil
	})
	if err != nil {
		h.t.Fatal(err)
	}
	return by
}

func (h *house) wantHeld(want map[string]string) {
	h.t.Helper()
	got := h.heldBy()
	for key, by := range got {
		if want[key] != by {
			h.t.Errorf("%s is of %q, want %q", key, by, want[key])
		}
	}
	for key := range want {
		if _, held := got[key]; !held {
			h.t.Errorf("%s is gone", key)
		}
	}
}

// all gives every key of a list the same batches.
func all(by string, keys ...string) map[string]string {
	m := map[string]string{}
	for _, k := range keys {
		m[k] = by
	}
	return m
}

// sharedKeys are the records of firstOf, which secondOf has too.
var sharedKeys = []string{"purpose news", "purpose ads", "notice PN|1", "notice PN|2", "consent C-1"}

func (h *house) reconciles() {
	h.t.Helper()
	if r, err := h.open().Reconcile(h.t.Context()); err != nil || !r.Passed {
		h.t.Fatalf("reconcile: %+v, %v", r, err)
	}
	h.mustVerify()
}

// retracted counts the events of retractions by what they are about.
func (h *house) retracted(batch string) map[string]int64 {
	h.t.Helper()
	got := map[string]int64{}
	err := h.look().View(h.t.Context(), func(tx *store.Tx) error {
		rows, err := tx.Query(h.t.Context(), `SELECT entity, records FROM events WHERE kind = 'retract' AND batch = $1`, batch)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var entity string
			var n int64
			if err := rows.Scan(&entity, &n); err != nil {
				return err
			}
			got[entity] += n
		}
		return rows.Err()
	})
	if err != nil {
		h.t.Fatal(err)
	}
	return got
}

// TestVouched: a row that is skipped as known vouches for its record: it is led to and counted, and the record outlives the undo of the batch
// that brought it. When both batches are undone it is gone, whichever goes first.
func TestVouched(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, url string) {
		h := newHouse(t, url, firstOf)
		h.imported()
		h.next("second", secondOf)
		dry := h.imported()
		if k := dry.Known; k == nil || k.Vouched != 5 || k.Own+k.Unvouched != 0 || dry.Rows.Accepted != 1 || dry.Rows.Skipped != 5 {
			t.Fatalf("dryrun: %+v of %+v", k, dry.Rows)
		}
		if r := h.imp(); !r.AlreadyDone || r.Vouched != 5 {
			t.Errorf("import: %+v", r)
		}
		both := all("acme-2026 second?", sharedKeys...)
		both["consent C-2"] = "second"
		h.wantHeld(both)
		h.reconciles()
		if r := h.dry(); r.Known == nil || r.Known.Own != 6 || r.Known.Vouched != 0 || r.Rows.Accepted != 0 {
			t.Errorf("dryrun again: %+v", r.Known)
		}

		// The cell of the known row leads to the record, the record to the cells of both batches.
		tr, err := h.open().TraceCell(t.Context(), "consents.csv!F2", "", false)
		if err != nil || len(tr.Records) != 1 || !slices.Equal(tr.Records[0].FromCell, []string{"status"}) {
			t.Fatalf("trace of the known row: %+v, %v", tr, err)
		}
		places := tr.Records[0].Places
		if len(places) != 2 || places[0].Batch != "acme-2026" || places[0].Known || places[1].Batch != "second" || !places[1].Known || places[1].Row != 2 || places[1].Cells["status"] != "F2" {
			t.Errorf("places: %+v", places)
		}

		// Undone, the first leaves all to the second.
		h.next("acme-2026", firstOf)
		h.said = nil
		r := h.undo()
		if r.Retracted != 0 || r.Kept != 5 || r.Released != 0 || len(r.PassedOn) != 1 || r.PassedOn[0] != (pipeline.PassedOn{Batch: "second", Records: 5}) || r.KnownElsewhere != nil || h.said != nil {
			t.Errorf("undo: %+v, said %q", r, h.said)
		}
		list := findings(t, r.FindingsFile)
		if len(list) != 5 || list[4].Rule != "undo.kept" || list[4].File != "consents.csv" || list[4].Row != 2 || !strings.Contains(list[4].Message, "batch second has it as well") {
			t.Errorf("findings: %+v", list)
		}
		if got := h.retracted("acme-2026"); got["consent.provenance"] != 1 || got["purpose.provenance"] != 2 || got["notice.provenance"] != 2 || got["consent"] != 0 {
			t.Errorf("events: %v", got)
		}
		h.mustVerify()
		h.next("second", secondOf)
		owned := all("second?", sharedKeys...)
		owned["consent C-2"] = "second"
		h.wantHeld(owned)
		h.wantState("C-2", "withdrawn withdrawal")
		if st := h.status(); st.NotBrought != nil || st.Next == "sheetlift dryrun" {
			t.Errorf("status: %+v, next %s", st.NotBrought, st.Next)
		}
		if r := h.dry(); r.Rows.Accepted != 0 || r.Rows.Rejected != 0 {
			t.Errorf("dryrun: %+v", r.Rows)
		}
		h.reconciles()

		// Imported again, the first finds them there; the second hands them back.
		h.next("acme-2026", firstOf)
		if k := h.imported().Known; k == nil || k.Vouched != 5 {
			t.Errorf("dryrun: %+v", k)
		}
		h.next("second", secondOf)
		if r := h.undo(); r.Retracted != 1 || r.Kept != 0 || r.Released != 5 || r.PassedOn != nil {
			t.Errorf("undo: %+v", r)
		}
		h.mustVerify()
		h.wantHeld(all("acme-2026?", sharedKeys...))
		if _, err := h.open().TraceCell(t.Context(), "consents.csv!F2", "", false); err == nil || !strings.Contains(err.Error(), "no record from row") {
			t.Errorf("trace of the undone row: %v", err)
		}
		h.next("acme-2026", firstOf)
		h.reconciles()
		if r := h.undo(); r.Retracted != 5 || r.Kept+r.Released != 0 {
			t.Errorf("undo: %+v", r)
		}
		h.wantHeld(nil)
		h.mustVerify()
	})
}

// TestUndoOfWhatWasOnlyKnown: the undo of a batch that brought nothing takes its marks, and the records stay those of the other.
func TestUndoOfWhatWasOnlyKnown(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, url string) {
		h := newHouse(t, url, firstOf)
		h.imported()
		h.next("second", firstOf)
		if r := h.mustRun(pipeline.Reconcile)["import"].(*pipeline.ImportResult); r.Vouched != 5 || r.Entities[0].Records != 0 {
			t.Errorf("import: %+v", r)
		}
		h.next("acme-2026", firstOf)
		h.reconciles() // it is none of its business
		h.next("second", firstOf)
		r := h.undo()
		if r.Retracted+r.Kept != 0 || r.Released != 5 || len(findings(t, r.FindingsFile)) != 0 {
			t.Errorf("undo: %+v", r)
		}
		h.wantHeld(all("acme-2026", sharedKeys...))
		if got := h.retracted("second"); got["consent.provenance"] != 1 || got["consent"] != 0 {
			t.Errorf("events: %v", got)
		}
		h.mustVerify()
		h.next("acme-2026", firstOf)
		h.reconciles()
		if r := h.undo(); r.Retracted != 5 || r.Kept != 0 {
			t.Errorf("undo: %+v", r)
		}
		h.wantHeld(nil)
	})
}

// TestVouchesForNoMoreThanItProves: a row with worse evidence than the record, or one that would be rejected by itself, does not keep it.
func TestVouchesForNoMoreThanItProves(t *testing.T) {
	t.Parallel()
	proven := rows([]string{receipt("C-1", "S-1,one@example.com", "Y", "2025-03-01T10:00:00Z"), assertion("C-2", "S-2,two@example.com", "Y", "2025-03-01T10:00:00Z")}, nil, nil)
	for _, c := range []struct {
		name, file, text string // that the second batch has instead
		unvouched        int
		left             []string // of the consents, after the undo
		why              string
	}{
		{"as good", "consents.yaml", houseFiles["consents.yaml"], 0, []string{"C-1", "C-2"}, ""},
		{"stated for the file", "consents.yaml", strings.Replace(houseFiles["consents.yaml"], "purpose: Purpose", "purpose: { const: news, stated_by: { name: Shop manager, at: 2026-10-01 } }", 1), 2, nil, "leaves open what the record answers (purpose)"},
		{"notice no more in force", "notices.csv", strings.Replace(houseFiles["notices.csv"], "PN,2,2024-01-01,", "PN,2,2024-01-01,2025-01-31", 1), 1, []string{"C-2"}, "answers (notice)"},
		{"erased", "cases.csv", caseHeader + "R-9,erasure,done,S-1,one@example.com,2026-01-02,2026-01-20\n", 1, []string{"C-2"}, "rejected (subject.erased)"},
		{"with a rejected withdrawal", "suppressions.csv", suppressionHeader + "one@example.com,email,objection,soon\n", 1, []string{"C-2"}, "rejected (consent.opposed_by_rejected)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := newHouse(t, storetest.SQLite(t), proven)
			h.write("batch.yaml", tolerantBatch("acme-2026"))
			h.imported()
			h.write("batch.yaml", tolerantBatch("second"))
			before := h.text(c.file)
			h.write(c.file, c.text)
			dry := h.imported()
			told := 0
			for _, f := range findings(t, dry.FindingsFile) {
				if f.Rule == "row.known" && strings.Contains(f.Message, "does not vouch") {
					if told++; !strings.Contains(f.Message, c.why) {
						t.Errorf("row %d: %s", f.Row, f.Message)
					}
				}
			}
			if dry.Known.Unvouched != c.unvouched || told != c.unvouched {
				t.Errorf("dryrun: %+v, told of %d", dry.Known, told)
			}
			h.write(c.file, before)
			h.write("batch.yaml", tolerantBatch("acme-2026"))
			r := h.undo()
			if n := int64(c.unvouched); n > 0 && (len(r.KnownElsewhere) != 1 || r.KnownElsewhere[0].Rows != n || r.KnownElsewhere[0].Batch != "second") || n == 0 && r.KnownElsewhere != nil {
				t.Errorf("undo: %+v", r.KnownElsewhere)
			}
			held := h.heldBy()
			for _, id := range []string{"C-1", "C-2"} {
				if got := held["consent "+id]; (got == "second?") != slices.Contains(c.left, id) {
					t.Errorf("%s is of %q", id, got)
				}
			}
			h.write(c.file, c.text)
			h.write("batch.yaml", tolerantBatch("second"))
			st := h.status()
			if (st.NotBrought != nil) != (c.unvouched > 0) || st.NotBrought != nil && st.NotBrought.Known != int64(c.unvouched) {
				t.Errorf("status: %+v", st.NotBrought)
			}
		})
	}
}

// TestVouchedThenCorrected: what a mark vouches for is a version. Of a record that was corrected since, the register has no longer what the
// known row says: it is kept and named, as any that was corrected since.
func TestVouchedThenCorrected(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, url string) {
		h := newHouse(t, url, firstOf)
		h.imported()
		h.next("second", firstOf)
		h.imported()
		renamed := "Code,Name\nnews,Newsletter\nads,Advertisements\n"
		h.next("acme-2026", map[string]string{"purposes.csv": renamed})
		h.snapshot(pipeline.Delta, "purposes.csv")
		if r := h.mustRun(pipeline.Reconcile)["dryrun"].(*pipeline.DryRunResult); r.Sources[0].Corrected != 1 {
			t.Fatalf("%+v", r.Sources[0])
		}
		r := h.undo()
		if r.Retracted != 0 || r.Kept != 5 || len(r.PassedOn) != 1 || r.PassedOn[0].Records != 4 || r.Entities[0].OtherBatch != 1 {
			t.Errorf("undo: %+v", r)
		}
		list := findings(t, r.FindingsFile)
		if i := slices.IndexFunc(list, func(f finding.Finding) bool { return strings.Contains(f.Message, "corrected since") }); i < 0 || list[i].Row != 3 {
			t.Errorf("findings: %+v", list)
		}
		want := all("second?", sharedKeys...)
		h.wantHeld(want)
		h.mustVerify()

		// A third batch that says what it was corrected to vouches for that version.
		h.next("third", map[string]string{"purposes.csv": renamed})
		h.imported()
		h.wantHeld(all("second? third?", sharedKeys...))
		h.next("second", map[string]string{"purposes.csv": houseFiles["purposes.csv"]})
		if r := h.undo(); r.Released != 5 || r.Kept+r.Retracted != 0 {
			t.Errorf("undo of the second: %+v", r)
		}
		h.mustVerify()
		h.next("third", map[string]string{"purposes.csv": renamed})
		h.reconciles()
		if r := h.undo(); r.Retracted != 5 || r.Released+r.Kept != 0 {
			t.Errorf("undo of the third: %+v", r)
		}
		h.wantHeld(nil)
		h.mustVerify()
	})
}

// TestUndoneCorrection: a batch that corrected a record and was undone has it no more, whether it had vouched for the record before or never
// met it. The last undo takes the record out, whatever version it is, and all can be imported anew; but not what was corrected by hand.
func TestUndoneCorrection(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, url string) {
		first := map[string]string{"purposes.csv": houseFiles["purposes.csv"]}
		for _, name := range []string{"vouched", "unmet"} {
			corrects := first
			if name == "unmet" {
				corrects = map[string]string{"purposes.csv": "Code,Name\nnews,Newsletter\n"}
			}
			h := newHouse(t, url, firstOf)
			h.next("one-"+name, first)
			corrected := func() {
				h.next("two-"+name, corrects)
				h.imported()
				h.write("purposes.csv", "Code,Name\nnews,Newsletter\nads,Promotion\n")
				h.snapshot(pipeline.Delta, "purposes.csv")
				if r := h.imported(); r.Sources[0].Corrected != 1 {
					t.Fatalf("%s: %+v", name, r.Sources[0])
				}
			}
			h.imported()
			corrected()
			h.next("two-"+name, corrects)
			if r := h.undo(); r.Kept != 1 || r.Retracted != 0 || r.PassedOn != nil || r.Entities[0].OtherBatch != 1 {
				t.Errorf("%s: undo of the second: %+v", name, r)
			}
			h.wantHeld(all("one-"+name, sharedKeys...))
			h.mustVerify()

			// The first is told that it was not its doing.
			h.next("one-"+name, first)
			r, err := h.open().Reconcile(t.Context())
			if err != nil || r.Passed {
				t.Fatalf("%s: reconcile: %+v, %v", name, r, err)
			}
			if list := findings(t, r.FindingsFile); len(list) != 1 || !strings.Contains(list[0].Message, "1 record was corrected since, with a fresh export of batch two-"+name) {
				t.Errorf("%s: reconcile: %+v", name, list)
			}
			tr, err := h.open().Trace(t.Context(), "purpose", "ads", false)
			if err != nil {
				t.Fatal(err)
			}
			for _, at := range tr.Records[0].Places {
				if undone := strings.Contains(at.Undone(), "the undo kept the record"); undone != (at.Batch == "two-"+name) {
					t.Errorf("%s: %s of %s: %q", name, at.Snapshot, at.Batch, at.Undone())
				}
			}
			if name == "vouched" { // come again, the second is told the way out, which is taken below
				h.next("two-vouched", first)
				again := h.mustRun(pipeline.DryRun)["dryrun"].(*pipeline.DryRunResult)
				told := slices.DeleteFunc(findings(t, again.FindingsFile), func(f finding.Finding) bool { return f.Rule != "register.conflict" })
				want := "the undo of batch two-vouched could not bring the content before back, since batch one-vouched has the record too: if this row is right, undo batch one-vouched, then import each of them anew."
				if len(told) != 1 || !strings.Contains(told[0].Message, want) {
					t.Errorf("the second again: %+v", told)
				}
				h.next("one-vouched", first)
			}
			if r := h.undo(); r.Retracted != 5 || r.Kept != 0 {
				t.Errorf("%s: undo of the first: %+v", name, r)
			}
			h.wantHeld(nil)
			h.mustVerify()

			// Again, and undone the other way round.
			h.imported()
			corrected()
			h.next("one-"+name, first)
			h.undo()
			h.next("two-"+name, corrects)
			h.undo()
			h.wantHeld(nil)
			h.mustVerify()

			if name == "vouched" {
				continue
			}
			// By hand is by nobody's batch.
			h.next("one-"+name, first)
			h.imported()
			corrected()
			err = h.look().Update(t.Context(), func(tx *store.Tx) error {
				_, err := tx.Exec(t.Context(), `UPDATE purposes SET version = version + 1 WHERE purpose_id = 'ads'`)
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			h.next("two-"+name, corrects)
			h.undo()
			h.next("one-"+name, first)
			if r := h.undo(); r.Retracted != 4 || r.Entities[0].Changed != 1 {
				t.Errorf("%s: undo of what was corrected by hand: %+v", name, r)
			}
			h.wantHeld(all("", "purpose ads"))
		}
	})
}

// TestKeptPurposeGoes: configuration that an undo kept because a record pointed to it goes with the last such record, and comes in anew.
func TestKeptPurposeGoes(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, url string) {
		h := newHouse(t, url, firstOf)
		h.imported()
		none := map[string]string{"purposes.csv": "Code,Name\n", "notices.csv": "Code,Version,From,To\n"}
		h.next("second", none)
		h.imported()
		h.next("acme-2026", firstOf)
		h.next("acme-2026", map[string]string{"purposes.csv": houseFiles["purposes.csv"], "notices.csv": houseFiles["notices.csv"]})
		kept := h.undo()
		if kept.Entities[0].InUse == 0 {
			t.Fatalf("undo of the first: %+v", kept)
		}
		tr, err := h.open().Trace(t.Context(), "purpose", "news", false)
		if err != nil || len(tr.Records[0].Places) != 1 || !strings.Contains(tr.Records[0].Places[0].Undone(), "kept") {
			t.Errorf("trace: %+v, %v", tr, err)
		}
		if by := h.heldBy(); by["purpose news"] != "" || by["consent C-1"] != "second?" {
			t.Errorf("held: %v", by)
		}
		h.next("second", none)
		if r := h.undo(); r.Kept != 0 || r.Retracted != kept.Kept {
			t.Errorf("undo of the second: %+v", r)
		}
		h.wantHeld(nil)
		h.mustVerify()
		h.next("acme-2026", map[string]string{"purposes.csv": houseFiles["purposes.csv"], "notices.csv": houseFiles["notices.csv"]})
		h.imported()
		h.wantHeld(all("acme-2026", sharedKeys...))
		h.mustVerify()
	})
}

// TestCorrectionPassedOn: who vouches for a corrected record gets it, and corrects and undoes it as one of its own.
func TestCorrectionPassedOn(t *testing.T) {
	t.Parallel()
	h := newHouse(t, storetest.SQLite(t), firstOf)
	h.imported()
	renamed := "Code,Name\nnews,Newsletter\nads,Advertisements\n"
	h.write("purposes.csv", renamed)
	h.snapshot(pipeline.Delta, "purposes.csv")
	h.imported()
	h.next("second", map[string]string{"purposes.csv": renamed})
	h.imported()
	h.next("acme-2026", nil)
	if r := h.undo(); r.Kept != 5 || len(r.PassedOn) != 1 || r.PassedOn[0].Records != 5 {
		t.Errorf("undo: %+v", r)
	}
	h.wantHeld(all("second?", sharedKeys...))
	h.next("second", map[string]string{"purposes.csv": "Code,Name\nnews,Newsletter\nads,Promotion\n"})
	h.snapshot(pipeline.Delta, "purposes.csv")
	if r := h.imported(); r.Sources[0].Corrected != 1 || r.Sources[0].Vanished != 0 {
		t.Fatalf("%+v", r.Sources[0])
	}
	want := all("second?", sharedKeys...)
	want["purpose ads"] = "second second?"
	h.wantHeld(want)
	h.mustVerify()
	if r := h.undo(); r.Retracted != 5 || r.Kept+r.Released != 0 {
		t.Errorf("undo: %+v", r)
	}
	h.wantHeld(nil)
	h.mustVerify()
}

// TestVouchedInDelta: a fresh export vouches too, and a record that it found there counts as one of its source when the next export lacks it.
func TestVouchedInDelta(t *testing.T) {
	t.Parallel()
	h := newHouse(t, storetest.SQLite(t), firstOf)
	h.imported()
	h.next("second", rows([]string{assertion("C-2", "S-2,two@example.com", "Y", "2025-02-01T10:00:00Z")}, nil, nil))
	h.imported()
	h.write("consents.csv", secondOf["consents.csv"])
	h.write("consents.csv", consentHeader+sharedNo+"\n"+sharedNo+"\n"+assertion("C-2", "S-2,two@example.com", "Y", "2025-02-01T10:00:00Z")+"\n")
	h.snapshot(pipeline.Delta, "consents.csv")
	if k := h.imported().Known; k.Vouched != 2 || k.Own != 1 || len(k.Files) != 1 || k.Files[0].Rows != 1 { // the row that comes twice leaves one mark
		t.Errorf("dryrun: %+v", k)
	}
	h.mustVerify()
	tr, err := h.open().TraceCell(t.Context(), "consents.csv!A2", "delta-1", false)
	if err != nil || len(tr.Records) != 1 || len(tr.Records[0].Places) != 2 {
		t.Errorf("trace: %+v, %v", tr, err)
	}
	h.write("consents.csv", consentHeader+assertion("C-2", "S-2,two@example.com", "Y", "2025-02-01T10:00:00Z")+"\n")
	h.snapshot(pipeline.Delta, "consents.csv")
	if s := sourceOf(t, h.imported(), "consents"); s.Vanished != 1 {
		t.Errorf("the next export: %+v", s)
	}
	h.next("acme-2026", firstOf)
	h.undo()
	if got := h.heldBy()["consent C-1"]; got != "second?" {
		t.Errorf("C-1 is of %q", got)
	}
}

// TestUndatedKeepsItsTime: that another export has an undated withdrawal too changes no time of it, while the batch that brought it stands.
// Passed on, it counts as of the export that has it.
func TestUndatedKeepsItsTime(t *testing.T) {
	t.Parallel()
	h := newHouse(t, storetest.SQLite(t), nil)
	files := rows([]string{assertion("C-1", "S-1,one@example.com", "N", "")}, nil, nil)
	of := func(batch, obtained string, files map[string]string) {
		h.next(batch, files)
		h.write("batch.yaml", strings.NewReplacer("acme-2026", batch, "2026-10-01T00", obtained+"T00").Replace(houseFiles["batch.yaml"]))
	}
	of("late", "2026-10-01", files)
	h.imported()
	given := rows([]string{receipt("C-2", "S-1,one@example.com", "Y", "2026-07-01T10:00:00Z")}, nil, nil)
	of("receipts", "2026-10-01", given)
	h.imported()
	h.wantState("C-2", "withdrawn withdrawal_undated")
	of("early", "2026-05-01", files)
	h.imported()
	of("receipts", "2026-10-01", given)
	h.wantState("C-2", "withdrawn withdrawal_undated")
	of("late", "2026-10-01", files)
	h.undo()
	of("receipts", "2026-10-01", given)
	h.wantState("C-2", "given receipt_later")
	of("again", "2026-09-01", files)
	h.imported()
	of("receipts", "2026-10-01", given)
	h.wantState("C-2", "withdrawn withdrawal_undated") // of several that only found it, the latest
}

// TestFilesOfKnownRowsLost: the files of marks are made anew as the others are, those of an earlier version's dry-run without; after the undo
// of the other batch too.
func TestFilesOfKnownRowsLost(t *testing.T) {
	t.Parallel()
	for _, unmarked := range []bool{false, true} {
		h := newHouse(t, storetest.SQLite(t), firstOf)
		h.imported()
		h.next("second", secondOf)
		h.unmarked = unmarked
		h.imported()
		h.unmarked = false
		files := h.filesOf()
		lost := func(batch string) {
			h.next(batch, nil)
			if err := os.RemoveAll(filepath.Join(h.dir, ".sheetlift", "work", batch)); err != nil {
				t.Fatal(err)
			}
			if r, err := h.open().Reconcile(t.Context()); err != nil || !r.Passed {
				t.Errorf("reconcile of %s: %+v, %v", batch, r, err)
			}
			if again := h.filesOf(); !maps.Equal(again, files) {
				t.Errorf("unmarked %v: the files of %s that were made anew are others: %d, there were %d", unmarked, batch, len(again), len(files))
			}
		}
		lost("acme-2026")
		lost("second")
		h.next("acme-2026", nil)
		if r := h.undo(); (r.PassedOn == nil) != unmarked {
			t.Errorf("unmarked %v: %+v", unmarked, r)
		}
		if !unmarked {
			lost("second")
		}
	}
}
