package memfile

import (
	"math"
	"os"
	"runtime/debug"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

type pair struct {
	a uint64
	b uint32
}

// grown gives lists as they may come to be: in a file, in the heap, and in both, because a file takes no more.
func grown[T any](t *rapid.T, draw func(i int) T, fail bool) {
	var l List[T]
	defer l.Close()
	l.inHeap = rapid.Bool().Draw(t, "in the heap")
	var want []T
	where := map[int]int{} // by index of the first value appended at once: its piece
	for range rapid.IntRange(0, 12).Draw(t, "appended") {
		n := rapid.SampledFrom([]int{0, 1, 7, 1000, 10_000, 90_000}).Draw(t, "values")
		more := make([]T, n)
		for i := range more {
			more[i] = draw(len(want) + i)
		}
		where[len(want)] = l.Append(more...)
		want = append(want, more...)
		clear(more) // they were copied
		if l.Len() != len(want) {
			t.Fatalf("%d values, want %d", l.Len(), len(want))
		}
		if fail && l.file != nil && rapid.Bool().Draw(t, "fails") {
			readOnly(t, l.file, func(f *os.File) { l.file = f })
		}
	}
	for range 2 {
		var got, scratch []T
		for i := range l.Pieces() {
			if piece, begins := where[len(got)]; !begins || piece != i {
				t.Fatalf("piece %d begins amid what was appended at once, or in piece %d", i, piece)
			}
			got = append(got, l.Piece(i, &scratch)...)
			clear(scratch[:cap(scratch)]) // it is nobody else's
		}
		if len(got) != len(want) {
			t.Fatalf("%d values, want %d", len(got), len(want))
		} else if !same(got, want) {
			t.Fatal("other values")
		}
	}
	l.Close()
	if l.Append(draw(1)); l.Len() != 1 || l.Pieces() != 1 {
		t.Fatal("a closed list is not empty")
	}
}

func same[T any](a, b []T) bool { return slices.Equal(bytesOf(a), bytesOf(b)) }

func TestAListHoldsWhatWasAppended(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		fail := rapid.Bool().Draw(t, "may fail")
		switch rapid.IntRange(0, 2).Draw(t, "type") {
		case 0:
			grown(t, func(i int) byte { return byte(i * 7) }, fail)
		case 1:
			grown(t, func(i int) uint32 { return uint32(i * 7) }, fail)
		default:
			grown(t, func(i int) (p pair) { p.a, p.b = uint64(i)<<32, uint32(i); return p }, fail)
		}
	})
}

// Where memory is limited all stays in the heap, which Go counts.
func TestLimitedMemoryIsLeftAlone(t *testing.T) {
	debug.SetMemoryLimit(1 << 40)
	defer debug.SetMemoryLimit(math.MaxInt64)
	var l List[byte]
	defer l.Close()
	for range 3 {
		l.Append(make([]byte, pieceBytes)...)
	}
	if l.file != nil || l.Pieces() != 3 {
		t.Errorf("%d pieces, file %v", l.Pieces(), l.file)
	}
}
