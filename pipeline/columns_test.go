package pipeline

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"

	"sheetlift/importers/source"
)

// What the profile says of duplicates, distinct values and keys is what counting the values themselves says, over blocks of
// any size.
func TestProfileCountsWhatIsThere(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(1, 2))
	prof := newSheetProfile()
	prof.headerRow = 1
	prof.keys = []*keyProfile{{columns: []int{0, 2}}}
	rows, keys, distinct := map[string]int{}, map[string]int{}, map[string]bool{}
	var want struct{ rows, cells, repeats, keyRepeats, firstRepeat int }
	b := source.NewBuilder(false)
	row := 1
	for range 40 {
		b.Reset()
		for range 1 + rnd.IntN(90) {
			whole, key, cells := "", "", 0
			for col := range 4 {
				v := ""
				if col != 1 && rnd.IntN(4) > 0 {
					v = fmt.Sprint(rnd.IntN(8))
				}
				c := source.Cell{Off: uint32(len(b.Data)), Len: uint32(len(v)), Kind: source.Text}
				if rnd.IntN(5) == 0 {
					c.Kind, c.Class = source.Number, source.Class(rnd.IntN(2))
				}
				switch {
				case v == "" && col == 3:
					b.Put(col, source.Cell{Flags: source.Formula | source.NoCache})
				case v != "":
					b.Data = append(b.Data, v...)
					b.Put(col, c)
					cells++
					whole += fmt.Sprintf("%d %s %q,", col, c.Kind, v)
				}
				if col == 0 || col == 2 {
					key += fmt.Sprintf("%q,", v)
				}
				if row > 1 && col == 0 && v != "" {
					distinct[v] = true
				}
			}
			b.EndRow(row)
			if row++; row == 2 || cells == 0 {
				continue
			}
			want.rows++
			want.cells += cells
			if rows[whole]++; rows[whole] > 1 {
				want.repeats++
			}
			if key == `"","",` {
				continue
			}
			if keys[key]++; keys[key] > 1 {
				if want.keyRepeats++; want.firstRepeat == 0 {
					want.firstRepeat = row - 1
				}
			}
		}
		prof.add(b.Block(nil, nil))
	}
	prof.finish()
	if prof.rows != want.rows || prof.cells != want.cells || prof.repeats != want.repeats {
		t.Errorf("%d rows, %d cells, %d repeated; want %+v", prof.rows, prof.cells, prof.repeats, want)
	}
	if k := prof.keys[0]; k.repeats != want.keyRepeats || k.first != want.firstRepeat {
		t.Errorf("%d keys repeated, the first in row %d; want %+v", k.repeats, k.first, want)
	}
	if c := prof.columns[0]; c.count() != len(distinct) || c.over {
		t.Errorf("%d distinct values, want %d", c.count(), len(distinct))
	}
}

func TestDistinctIsExactUpToItsLimit(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		values int
		over   bool
	}{{distinctLimit, false}, {distinctLimit + 1, true}} {
		prof := newSheetProfile()
		b := source.NewBuilder(false)
		for i := 0; i < 2*tt.values; {
			for b.Reset(); i < 2*tt.values && !b.Full(); i++ {
				v := fmt.Sprint(i % tt.values)
				b.Put(0, source.Cell{Off: uint32(len(b.Data)), Len: uint32(len(v)), Kind: source.Text})
				b.Data = append(b.Data, v...)
				b.EndRow(i + 1)
			}
			prof.add(b.Block(nil, nil))
		}
		prof.finish()
		if c := prof.columns[0]; c.over != tt.over || c.count() != distinctLimit || prof.repeats != tt.values {
			t.Errorf("%d values: %d, over %v; %d rows repeated", tt.values, c.count(), c.over, prof.repeats)
		}
	}
}

func TestDoubtfulNumbers(t *testing.T) {
	t.Parallel()
	p := &columnProfile{}
	for i, v := range []string{"123456789012345", "1234567890123456", "0.1234567890123456", "1E+20", "1e2", "1.5e-30", "12"} {
		c := source.Cell{Kind: source.Number}
		if v == "12" {
			c.Flags = source.ZeroPadded
		}
		p.number(c, []byte(v), i+1)
	}
	if p.long != 1 || p.eNotation != 1 || p.padded != 1 || p.first != 2 || p.last != 7 {
		t.Errorf("%+v", p)
	}
}

func TestKindsNameTheClassOfNumbers(t *testing.T) {
	t.Parallel()
	p := &columnProfile{}
	p.counts[source.Text][source.TextFormat], p.counts[source.Text][source.General] = 2, 1
	p.counts[source.Number][source.General], p.counts[source.Number][source.Date] = 3, 4
	want := map[string]int{"text": 3, "number": 3, "number:date": 4}
	if got := p.kinds(); !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
