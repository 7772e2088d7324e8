package staged

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/uuid"

	"sheetlift/importers"
)

// writeConsents stages n records whose cells say which they are.
func writeConsents(t *testing.T, path string, n int) string {
	t.Helper()
	e := importers.ByName("consent")
	w, err := Create(path, e)
	if err != nil {
		t.Fatal(err)
	}
	email, at := e.Field("email"), e.Field("occurred_at")
	for i := range n {
		rec := importers.NewRecord(e)
		if i%3 > 0 {
			rec.Values[email] = &importers.Value{Set: true, Text: fmt.Sprint("é", i)}
		}
		if i%5 > 0 {
			rec.Values[at] = &importers.Value{Set: true, Int: int64(-i), Raw: "x", Precision: "day"}
		}
		o := Origin{ID: uuid.NewSHA1(uuid.Nil, []byte{byte(i)}), Row: i, Line: 2 * i, RowDigest: sha256.Sum256([]byte{byte(i)})}
		derived := []Cell{{Text: "receipt"}, {Text: "none"}, {Text: ""}, {Null: true}, {Null: true}}
		if err := w.Append(&o, &rec, derived); err != nil {
			t.Fatal(err)
		}
	}
	rows, digest, err := w.Close()
	if err != nil || rows != n {
		t.Fatal(rows, err)
	}
	return digest
}

func TestWhatIsStagedIsRead(t *testing.T) {
	e := importers.ByName("consent")
	columns := map[string]int{}
	for i, c := range Columns(e) {
		columns[c.Name] = i
	}
	for _, n := range []int{0, 1, 7, ChunkRows - 1, ChunkRows, 2*ChunkRows + 9} {
		path := filepath.Join(t.TempDir(), "x.arrow")
		r, err := Open(path, e, writeConsents(t, path, n))
		if err != nil {
			t.Fatal(err)
		}
		i := 0
		for k := range r.Chunks() {
			c, err := r.Chunk(k)
			if err != nil {
				t.Fatal(err)
			}
			for row := range c.Rows() {
				for column, want := range map[string]Cell{
					"id": {Text: uuid.NewSHA1(uuid.Nil, []byte{byte(i)}).String()}, "row": {Int: int64(i)}, "line": {Int: int64(2 * i)}, "row_digest": {Text: fmt.Sprintf("%x", sha256.Sum256([]byte{byte(i)}))},
					"email": {Text: fmt.Sprint("é", i), Null: i%3 == 0}, "occurred_at": {Int: int64(-i), Null: i%5 == 0},
					"occurred_at_precision": {Text: "day", Null: i%5 == 0}, "phone": {Null: true}, "class": {Text: "receipt"}, "missing": {}, "stated": {Null: true},
				} {
					if want.Null {
						want = Cell{Null: true}
					}
					if got := c.Cell(columns[column], row); got != want {
						t.Errorf("%d records: record %d, %s: %+v, want %+v", n, i, column, got, want)
					}
				}
				i++
			}
			c.Release()
		}
		if i != n {
			t.Errorf("%d of %d records", i, n)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A column that says nothing in the first record batch is written as runs, whatever comes in later ones.
func TestWhatBeginsLateIsRead(t *testing.T) {
	e := importers.ByName("consent")
	path := filepath.Join(t.TempDir(), "x.arrow")
	w, err := Create(path, e)
	if err != nil {
		t.Fatal(err)
	}
	note, expires := e.Field("note"), e.Field("expires_at")
	derived := make([]Cell, len(e.Derived))
	said := func(i int) bool { return i > ChunkRows && i%3 == 0 }
	const n = 3 * ChunkRows
	for i := range n {
		rec := importers.NewRecord(e)
		if said(i) {
			rec.Values[note] = &importers.Value{Set: true, Text: fmt.Sprint("n", i/9)}
			rec.Values[expires] = &importers.Value{Set: true, Int: int64(i / 9), Raw: "x", Precision: "day"}
		}
		if err := w.Append(&Origin{Row: i}, &rec, derived); err != nil {
			t.Fatal(err)
		}
	}
	_, digest, err := w.Close()
	if err != nil {
		t.Fatal(err)
	}
	r, err := Open(path, e, digest)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	at := map[string]int{}
	for i, c := range r.Columns() {
		at[c.Name] = i
	}
	for k := range r.Chunks() {
		c, err := r.Chunk(k)
		if err != nil {
			t.Fatal(err)
		}
		for row := range c.Rows() {
			i := k*ChunkRows + row
			text, when := Cell{Null: true}, Cell{Null: true}
			if said(i) {
				text, when = Cell{Text: fmt.Sprint("n", i/9)}, Cell{Int: int64(i / 9)}
			}
			if got := c.Cell(at["note"], row); got != text {
				t.Fatalf("record %d, note: %+v, want %+v", i, got, text)
			}
			if got := c.Cell(at["expires_at"], row); got != when {
				t.Fatalf("record %d, expires_at: %+v, want %+v", i, got, when)
			}
		}
		c.Release()
	}
}

func TestSameRecordsSameBytes(t *testing.T) {
	dir := t.TempDir()
	if a, b := writeConsents(t, filepath.Join(dir, "a"), 5000), writeConsents(t, filepath.Join(dir, "b"), 5000); a != b {
		t.Errorf("%s and %s", a, b)
	}
}

func TestChangedFileIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.arrow")
	digest := writeConsents(t, path, 10)
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	raw[len(raw)/2] ^= 1
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(path, importers.ByName("consent"), digest); !errors.Is(err, ErrChanged) {
		t.Errorf("got %v", err)
	}
}

// A batch never grows beyond what 32-bit offsets can say.
func TestFullColumn(t *testing.T) {
	c := newColumn(form{}, importers.Main)
	if c.full() {
		t.Error("an empty column is full")
	}
	c.text = make([]byte, 1<<30+1)
	if !c.full() {
		t.Error("a column of 1 GiB is not full")
	}
}
