package staged

import (
	"encoding/hex"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"sheetlift/importers"
)

// A writer is told whole records and looks only at what changes. What it wrote must be what it was told, however values come,
// stay and go, wherever batches end, and though the memory of values is used again from block to block.
func TestChangesAreWritten(t *testing.T) {
	dir := t.TempDir()
	files := 0
	rapid.Check(t, func(t *rapid.T) {
		e := &importers.Entities[rapid.IntRange(0, len(importers.Entities)-1).Draw(t, "entity")]
		rows := rapid.IntRange(0, 300).Draw(t, "rows")
		change := rapid.IntRange(1, 40).Draw(t, "rows to a change")
		blocks := rapid.IntRange(0, 90).Draw(t, "rows of a block") // 0: values may move at any row
		batches := rapid.IntRange(1, 120).Draw(t, "rows of a batch, about")
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		var more []importers.Column
		if rapid.Bool().Draw(t, "correction") {
			more = append(more, BaseVersion)
		}

		columns := append(Columns(e), more...)
		now := func() bool { return r.IntN(change) == 0 }
		word := func() string { return []string{"", "a", "b", "bb", "ä"}[r.IntN(5)] }
		rec := importers.NewRecord(e)
		memory := make([]importers.Value, len(rec.Values)*(rows+1)) // of a block
		used := 0
		value := func() *importers.Value {
			v := &memory[used]
			used++
			*v = importers.Value{Set: r.IntN(8) > 0, Text: word(), Int: r.Int64N(3), Raw: word(), Zone: word(), Precision: word()}
			return v
		}
		derived := make([]Cell, len(e.Derived)+len(more))
		o := Origin{System: "crm", FileDigest: "f"}

		files++
		path := filepath.Join(dir, strconv.Itoa(files))
		w, err := Create(path, e, more...)
		if err != nil {
			t.Fatal(err)
		}
		defer w.Abort()
		part, apart := NewPart(e, more...), false
		var origins []Origin // of what is gathered apart
		var records [][]importers.Value
		take := func() {
			part.Finish()
			for i := range part.rows {
				samePart(t, part, i, origins[len(origins)-part.rows+i], records[len(origins)-part.rows+i])
			}
			from := part
			if r.IntN(2) == 0 { // one that was laid aside
				before := make([]byte, r.IntN(20))
				other := &View{Part: *NewPart(e, more...)}
				other.See(part.AppendTo(before), len(before))
				from = &other.Part
			}
			for i := range part.rows {
				samePart(t, from, i, origins[len(origins)-part.rows+i], records[len(origins)-part.rows+i])
			}
			k := r.IntN(part.rows + 1)
			for _, rows := range [][2]int{{0, k}, {k, part.rows}} {
				if err := w.Take(from, rows[0], rows[1]); err != nil {
					t.Fatal(err)
				}
			}
			part.Reset()
		}
		var want [][]Cell
		for row := range rows {
			if blocks == 0 || row%blocks == 0 { // what stays is told once more, from other memory
				used = 0
				old := slices.Clone(rec.Values)
				held := make([]importers.Value, len(old))
				for i, v := range old {
					held[i] = *v
				}
				for i, v := range old {
					if v != importers.NoValue() {
						rec.Values[i] = value()
						*rec.Values[i] = held[i]
					}
				}
				if o.Block = 0; blocks > 0 {
					o.Block = row/blocks + 1
				}
			}
			for i := range rec.Values {
				switch {
				case !now():
				case r.IntN(3) == 0:
					rec.Values[i] = importers.NoValue()
				default:
					rec.Values[i] = value()
				}
			}
			for i := range derived {
				if !now() {
					continue
				}
				number := i >= len(e.Derived) || e.Derived[i].Storage == importers.AsInt
				switch {
				case i < len(e.Derived) && r.IntN(3) == 0:
					derived[i] = Cell{Null: true}
				case number:
					derived[i] = Cell{Int: r.Int64N(3)}
				default:
					derived[i] = Cell{Text: word()}
				}
			}
			for i := range o.ID {
				o.ID[i], o.RecordID[i] = byte(r.Uint32()), byte(r.Uint32())
			}
			o.RowDigest[r.IntN(32)]++
			o.ContentDigest[r.IntN(32)]++
			if o.Key, o.Row = word(), row; now() {
				o.Line, o.Sheet = r.IntN(3), word()
			}
			w.batch.full = r.IntN(batches) == 0
			if r.IntN(20) == 0 { // some are gathered apart
				take()
				apart = !apart
			}
			if apart {
				part.Append(&o, &rec, derived)
				origins = append(origins, o)
				var values []importers.Value
				for _, v := range rec.Values {
					values = append(values, *v)
				}
				records = append(records, values)
			} else if err := w.Append(&o, &rec, derived); err != nil {
				t.Fatal(err)
			}
			cells := []Cell{{Text: o.ID.String()}, {Text: o.RecordID.String()}, {Text: o.System}, {Text: o.Key}, {Text: hex.EncodeToString(o.ContentDigest[:])},
				{Text: o.FileDigest}, {Text: o.Sheet}, {Int: int64(o.Row)}, {Int: int64(o.Line)}, {Text: hex.EncodeToString(o.RowDigest[:])}}
			for _, c := range columns[envelope:] {
				if c.Field < 0 {
					continue
				}
				switch v := rec.Values[c.Field]; {
				case !v.Set:
					cells = append(cells, Cell{Null: true})
				case c.Storage == importers.AsInt:
					cells = append(cells, Cell{Int: v.Int})
				default:
					cells = append(cells, Cell{Text: [...]string{v.Text, v.Raw, v.Zone, v.Precision}[c.Part]})
				}
			}
			want = append(want, append(cells, derived...))
		}
		take()
		n, digest, err := w.Close()
		if err != nil || n != rows {
			t.Fatal(n, err)
		}
		in, err := Open(path, e, digest, more...)
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		at := 0
		for i := range in.Chunks() {
			chunk, err := in.Chunk(i)
			if err != nil {
				t.Fatal(err)
			}
			for row := range chunk.Rows() {
				for k, c := range columns {
					if got := chunk.Cell(k, row); got != want[at][k] {
						t.Fatalf("%s of record %d: %+v, want %+v", c.Name, at, got, want[at][k])
					}
				}
				at++
			}
			chunk.Release()
		}
		if at != rows {
			t.Fatalf("%d of %d records", at, rows)
		}
	})
}

// samePart checks what a part gives of record i.
func samePart(t *rapid.T, p *Part, i int, o Origin, values []importers.Value) {
	o.Block = 0
	if got := p.Origin(i); got != o {
		t.Fatalf("origin of record %d: %+v, want %+v", i, got, o)
	}
	for field, want := range values {
		var got importers.Value
		if set := p.Value(i, field, &got); set != want.Set {
			t.Fatalf("field %d of record %d is set: %v, want %v", field, i, set, want.Set)
		}
		for _, c := range p.fields[field].columns {
			if want.Set && (c.isInt && got.Int != want.Int || !c.isInt && *textIn(&got, c.part) != *textIn(&want, c.part)) {
				t.Fatalf("field %d of record %d: %+v, want %+v", field, i, got, want)
			}
		}
	}
}
