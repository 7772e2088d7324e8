package register

import (
	"encoding/binary"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"sheetlift/importers"
	"sheetlift/importers/staged"
	"sheetlift/pipeline/store"
)

// A group must give what its chunks hold, in the order of the ids: columns of few values, of many, of none, and those that turn
// from the one into the other.
func TestGroupHoldsWhatItsChunksHold(t *testing.T) {
	e := importers.ByName("consent")
	path := filepath.Join(t.TempDir(), "x.arrow")
	w, err := staged.Create(path, e)
	if err != nil {
		t.Fatal(err)
	}
	email, purpose, at, note := e.Field("email"), e.Field("purpose"), e.Field("occurred_at"), e.Field("note")
	const n = staged.ChunkRows + 2000
	number := func(i int) (u uuid.UUID) {
		binary.BigEndian.PutUint64(u[:], uint64(i)<<32)
		return u
	}
	for i := range n {
		rec := importers.NewRecord(e)
		if i%3 > 0 {
			rec.Values[email] = &importers.Value{Set: true, Text: fmt.Sprint("é", i)}
		}
		if i > 1500 {
			rec.Values[note] = &importers.Value{Set: true, Text: fmt.Sprint(i % 1000)}
		}
		rec.Values[purpose] = &importers.Value{Set: true, Text: fmt.Sprint(i % fewValues)}
		if i%5 > 0 {
			rec.Values[at] = &importers.Value{Set: true, Int: int64(-i), Raw: "x", Precision: "day"}
		}
		o := staged.Origin{ID: number(i * 7919 % n), RecordID: number(i / 2 * 7919 % n), System: "crm", Key: fmt.Sprint(i / 2), Row: i}
		if err := w.Append(&o, &rec, []staged.Cell{{Text: "receipt"}, {Text: "none"}, {Text: ""}, {Null: true}, {Null: true}}); err != nil {
			t.Fatal(err)
		}
	}
	_, digest, err := w.Close()
	if err != nil {
		t.Fatal(err)
	}
	rd, err := staged.Open(path, e, digest)
	if err != nil {
		t.Fatal(err)
	}
	defer rd.Close()
	g := NewGroup(e, rd.Columns(), Origin{})
	want := map[string][]store.Value{}
	for i := range rd.Chunks() {
		c, err := rd.Chunk(i)
		if err != nil {
			t.Fatal(err)
		}
		for row := range c.Rows() {
			var values []store.Value
			for k := range rd.Columns() {
				v := cellValue(c, k, row)
				v.Text = string([]byte(v.Text))
				values = append(values, v)
			}
			want[values[0].Text] = values
		}
		g.Add(c)
		c.Release()
	}
	g.Sort()
	if g.Rows() != n || len(want) != n {
		t.Fatalf("%d records of %d", g.Rows(), len(want))
	}
	if many := g.columns[g.at["note"]].many; !many || g.columns[g.at["purpose"]].many {
		t.Fatal("the columns are not those that this test is about")
	}
	last := ""
	for row := range g.Rows() {
		id := g.columns[0].text(row)
		if id <= last {
			t.Fatalf("%s comes after %s", id, last)
		}
		last = id
		var got []store.Value
		for k := range g.columns {
			got = append(got, g.columns[k].value(row))
		}
		if !slices.Equal(got, want[id]) {
			t.Fatalf("record %s: %v, want %v", id, got, want[id])
		}
	}
	if len(g.keys) != n/2 || !slices.IsSortedFunc(g.keys, func(a, b idMapRow) int { return strings.Compare(a.id, b.id) }) {
		t.Errorf("%d keys, want %d in order", len(g.keys), n/2)
	}
	for _, k := range g.keys[:3] {
		for _, v := range want {
			if v[1].Text == k.id && k.digest != (Identity{}).KeyDigest("crm", "consent", v[3].Text) {
				t.Errorf("record %s has not the digest of its key", k.id)
			}
		}
	}
}
