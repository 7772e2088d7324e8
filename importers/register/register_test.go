package register_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/uuid"

	"sheetlift/importers"
	"sheetlift/importers/register"
	"sheetlift/importers/staged"
	"sheetlift/pipeline/store"
	"sheetlift/pipeline/store/storetest"
)

func TestMain(m *testing.M) { storetest.Main(m) }

var identity = register.Identity{Namespace: uuid.MustParse("5b0f6d0e-3f5d-4a2e-9a53-0c6f4d9a7e11"), Tenant: "acme"}

// consent makes a consent record of a subject.
func consent(subject, status string, at int64) importers.Record {
	e := importers.ByName("consent")
	rec := importers.NewRecord(e)
	rec.Key = subject
	set := func(name string, v importers.Value) { v.Set = true; rec.Values[e.Field(name)] = &v }
	set("subject_id", importers.Value{Text: subject})
	set("status", importers.Value{Text: status})
	set("purpose", importers.Value{Text: "news"})
	if at != 0 {
		set("occurred_at", importers.Value{Int: at, Raw: "45000.5", Zone: "Europe/Berlin", Precision: "second"})
	}
	return rec
}

// stage writes records to a staged file; class is the class of all.
func stage(t *testing.T, class string, recs ...importers.Record) (path, digest string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "crm.consent.arrow")
	w, err := staged.Create(path, recs[0].Entity)
	if err != nil {
		t.Fatal(err)
	}
	for i := range recs {
		r := &recs[i]
		content := register.ContentSum(r)
		o := staged.Origin{
			ID:       identity.Event("crm", "consent", r.Key, content),
			RecordID: identity.Record("crm", "consent", r.Key),
			System:   "crm", Key: r.Key, ContentDigest: content, FileDigest: strings.Repeat("a", 64), Sheet: "S", Row: i + 2,
		}
		binary.BigEndian.PutUint32(o.RowDigest[28:], uint32(i+1))
		derived := []staged.Cell{{Text: class}, {Text: "weak"}, {Text: "notice,proof"}, {Null: true}, {Null: true}}
		if err := w.Append(&o, r, derived); err != nil {
			t.Fatal(err)
		}
	}
	if _, digest, err = w.Close(); err != nil {
		t.Fatal(err)
	}
	return path, digest
}

func open(t *testing.T, url string) *store.DB {
	t.Helper()
	db, err := store.Open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	if err := db.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	return db
}

func load(ctx context.Context, db *store.DB, path, digest, batch string) error {
	e := importers.ByName("consent")
	rd, err := staged.Open(path, e, digest)
	if err != nil {
		return err
	}
	defer rd.Close()
	for i := range rd.Chunks() {
		c, err := rd.Chunk(i)
		if err != nil {
			return err
		}
		err = db.Update(ctx, func(tx *store.Tx) error {
			g := register.NewGroup(e, rd.Columns(), register.Origin{
				Identity: identity, Batch: batch, Snapshot: "initial", Source: "crm", StagedDigest: digest, ObtainedAt: 7, Operator: "tester", Operation: "op",
			})
			g.Add(c)
			return g.Load(ctx, tx)
		})
		c.Release()
		if err != nil {
			return err
		}
	}
	return nil
}

func TestLoadAndReadBack(t *testing.T) {
	storetest.Each(t, func(t *testing.T, url string) {
		db := open(t, url)
		ctx := t.Context()
		var recs []importers.Record
		for i := range 5000 { // more than one chunk
			recs = append(recs, consent(fmt.Sprintf("S-%d", i), "given", int64(1_700_000_000_000_000+i)))
		}
		recs = append(recs, consent("S-1", "withdrawn", 0)) // a second event of one record
		path, digest := stage(t, "legacy_assertion", recs...)
		if err := load(ctx, db, path, digest, "one"); err != nil {
			t.Fatal(err)
		}
		e := importers.ByName("consent")
		err := db.View(ctx, func(tx *store.Tx) error {
			var want, got, wantRows, gotRows register.Sum
			rd, err := staged.Open(path, e, digest)
			if err != nil {
				return err
			}
			defer rd.Close()
			a, b := map[int64]bool{}, map[int64]bool{}
			for i := range rd.Chunks() {
				c, err := rd.Chunk(i)
				if err != nil {
					return err
				}
				if err := register.SumStaged(e, rd.Columns(), c, &want, &wantRows, a, nil); err != nil {
					return err
				}
				c.Release()
			}
			o := register.Origin{Identity: identity, Batch: "one", Snapshot: "initial", Source: "crm", StagedDigest: digest}
			if err := register.SumRegister(ctx, tx, e, o, &got, &gotRows, b, nil); err != nil {
				return err
			}
			if want != got || wantRows != gotRows || got.Count != 5001 {
				t.Errorf("staged %d %s rows %s, register %d %s rows %s", want.Count, want.Hex(), wantRows.Hex(), got.Count, got.Hex(), gotRows.Hex())
			}
			id := identity.Record("crm", "consent", "S-1").String()
			var found []register.Stored
			if err := register.Each(ctx, tx, e, "acme", register.Filter{ID: id}, func(s *register.Stored) error {
				found = append(found, *s)
				return nil
			}); err != nil {
				return err
			}
			if len(found) != 2 {
				t.Fatalf("record S-1 has %d events, want 2", len(found))
			}
			for i := range found {
				if register.ContentDigest(&found[i].Record) != found[i].ContentDigest {
					t.Errorf("event %d read back has another content digest", i)
				}
			}
			undated, err := register.UndatedObtained(ctx, tx, e, "acme", register.Filter{})
			if err != nil {
				return err
			}
			if len(undated) != 1 || undated[identity.Event("crm", "consent", "S-1", register.ContentSum(&recs[5000])).String()] != 7 {
				t.Errorf("undated events: %v", undated)
			}
			n := 0
			if err := register.EachProvenance(ctx, tx, "acme", "one", "", func(register.Provenance) error { n++; return nil }); err != nil {
				return err
			}
			if n != 5001 {
				t.Errorf("%d provenance rows, want 5001", n)
			}
			for batch, want := range map[string]int64{"one": 0, "two": 2} {
				if rev, err := register.Revision(ctx, tx, "acme", batch); err != nil || rev != want {
					t.Errorf("revision seen by %s: %d, %v; want %d", batch, rev, err, want)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}

func TestLoadTwiceIsRefused(t *testing.T) {
	storetest.Each(t, func(t *testing.T, url string) {
		db := open(t, url)
		path, digest := stage(t, "receipt", consent("S-1", "given", 5))
		if err := load(t.Context(), db, path, digest, "one"); err != nil {
			t.Fatal(err)
		}
		if err := load(t.Context(), db, path, digest, "two"); !errors.Is(err, register.ErrHeld) {
			t.Fatalf("second load: %v, want ErrHeld", err)
		}
		err := db.View(t.Context(), func(tx *store.Tx) error {
			for table, want := range map[string]int{"receipts": 1, "legacy_assertions": 0, "provenance": 1, "events": 1, "id_map": 1, "revisions": 1} {
				var n int
				if err := tx.QueryRow(t.Context(), `SELECT COUNT(*) FROM `+table).Scan(&n); err != nil {
					return err
				}
				if n != want {
					t.Errorf("%s holds %d rows after a refused load, want %d", table, n, want)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}

// TestIdentityNeverChanges pins ids that registers in use depend on.
func TestIdentityNeverChanges(t *testing.T) {
	rec := consent("S-1", "given", 1_700_000_000_000_000)
	content := register.ContentDigest(&rec)
	for what, got := range map[string]string{
		"record":  identity.Record("crm", "consent", "S-1").String(),
		"event":   identity.Event("crm", "consent", "S-1", register.ContentSum(&rec)).String(),
		"content": content,
		"key":     identity.KeyDigest("crm", "consent", "S-1"),
	} {
		if want := pinned[what]; got != want {
			t.Errorf("%s is %s, was %s: ids must not change, registers in use depend on them", what, got, want)
		}
	}
}

var pinned = map[string]string{
	"record":  "eb9c1ab6-edc9-59a7-bd34-681adb73b0d9",
	"event":   "39be3edc-bab0-5c50-93c7-e43affbebae3",
	"content": "9f6a2023d87fc968ddb7d075a681092f05445fb7d81a33b781972309f4f34987",
	"key":     "031c6fc8f410e5d6fd126ada16a1eed3baec255f4612175480f7ced7f72721b5",
}

func TestSumIsOrderFreeAndCountsDuplicates(t *testing.T) {
	h := func(b byte) (x [32]byte) { x[0], x[31] = 0xff, b; return x }
	var ab, ba, aab register.Sum
	for _, x := range [][32]byte{h(1), h(2)} {
		ab.Add(x)
	}
	for _, x := range [][32]byte{h(2), h(1)} {
		ba.Add(x)
	}
	for _, x := range [][32]byte{h(1), h(1), h(2)} {
		aab.Add(x)
	}
	if ab != ba {
		t.Error("the order of rows changes the sum")
	}
	if ab == aab || ab.Hex() == aab.Hex() {
		t.Error("a duplicate does not change the sum")
	}
	if want := "fe" + strings.Repeat("00", 30) + "03"; ab.Hex() != want {
		t.Errorf("sum is %s, want %s", ab.Hex(), want)
	}
}
