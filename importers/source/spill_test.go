package source

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// blocks makes blocks with gaps, wide columns, long values and formulas without a value, and what each holds as text.
func blocks(t *testing.T, n int, each func(*Block, string)) {
	t.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	b := NewBuilder(n%2 == 1)
	strings, filler := []byte("shared text"), make([]byte, 8_000)
	row := 0
	for k := range n {
		b.Reset()
		for !b.Full() && b.Rows() < 150 {
			row += 1 + random.IntN(3)
			for range 1 + random.IntN(4) {
				col := random.IntN(6)
				if k%20 == 0 && random.IntN(100) == 0 {
					col = 2_000
				}
				switch random.IntN(4) {
				case 0:
					b.Put(col, Cell{Off: 0, Len: uint32(1 + random.IntN(len(strings)-1)), Kind: Text, Flags: Shared, Class: TextFormat})
				case 1:
					b.Put(col, Cell{Flags: Formula | NoCache})
				default:
					from := len(b.Data)
					b.Data = append(fmt.Appendf(b.Data, "%d", random.Int()), filler[:random.IntN(8_000)]...)
					b.Put(col, Cell{Off: uint32(from), Len: uint32(len(b.Data) - from), Kind: Number, Class: Class(random.IntN(7)), Flags: ZeroPadded})
				}
			}
			if n%2 == 1 {
				b.EndRecord(row, 2*row, 7, Span{})
			} else {
				b.EndRow(row)
			}
		}
		k := b.Block(strings, nil)
		each(k, shown(k))
	}
}

// shown is all that a block holds.
func shown(b *Block) string {
	var s strings.Builder
	for i, row := range b.RowNum {
		fmt.Fprint(&s, row, b.Width[i], len(b.Cols), b.RowDigest(i))
		if b.Line != nil {
			fmt.Fprint(&s, " line ", b.Line[i])
		}
		for col := range b.Cols {
			if c := b.Cell(col, i); c.Kind != Empty || c.Flags != 0 {
				fmt.Fprintf(&s, " %d %d %d %d %d", col, c.Kind, c.Class, c.Flags&^Shared, c.Len)
			}
		}
		s.WriteByte('\n')
	}
	return s.String()
}

func TestSpill(t *testing.T) {
	for _, n := range []int{0, 1, 3, 12} {
		var s Spill
		var want []string
		blocks(t, n, func(b *Block, text string) {
			if err := s.Add(b); err != nil {
				t.Fatal(err)
			}
			want = append(want, text)
		})
		if n == 12 && s.stash.file == nil {
			t.Error("nothing was spilled: the test tests too little")
		}
		for range 2 {
			r := s.Replay()
			var got []string
			for {
				b, err := r.Next()
				if errors.Is(err, io.EOF) {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, shown(b))
			}
			if !slices.Equal(got, want) {
				t.Errorf("%d blocks: what comes back is not what went in", n)
			}
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestSpillOnABrokenDisk(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir()+"/none")
	var s Spill
	var err error
	blocks(t, 12, func(b *Block, _ string) {
		if err == nil {
			err = s.Add(b)
		}
	})
	if err == nil {
		t.Error("it spilled to nowhere")
	}
}

// A block that was copied is as it was, whatever the reader does next; rows that are picked are as they were.
func TestHeldCopy(t *testing.T) {
	var h Held
	var want string
	for _, n := range []int{3, 4} {
		blocks(t, n, func(b *Block, text string) {
			if want != "" && shown(h.Block()) != want {
				t.Fatal("the copy changed with the block")
			}
			h.Copy(b)
			if want = shown(h.Block()); want != text {
				t.Fatalf("copied\n%s, want\n%s", want, text)
			}
			var rows []int
			var lines strings.Builder
			for i, line := range strings.SplitAfter(text, "\n") {
				if i%3 == 1 && line != "" {
					rows = append(rows, i)
					lines.WriteString(line)
				}
			}
			var some Held
			some.Copy(b.Pick(rows))
			if got := shown(some.Block()); got != lines.String() {
				t.Fatalf("picked\n%s, want\n%s", got, lines.String())
			}
		})
	}
}
