package hugepage

import (
	"bytes"
	"testing"
)

func TestRoomIsEmptyAndItsOwn(t *testing.T) {
	if got := Room(0); len(got) != 0 {
		t.Errorf("no room has %d bytes", len(got))
	}
	for _, n := range []int{1, 100, 5 * size} {
		a, b := Room(n), Room(n)
		if len(a) != 0 || cap(a) < n {
			t.Errorf("room for %d bytes: length %d, capacity %d", n, len(a), cap(a))
		}
		for range n {
			a, b = append(a, 'a'), append(b, 'b')
		}
		if !bytes.Equal(a, bytes.Repeat([]byte("a"), n)) || !bytes.Equal(b, bytes.Repeat([]byte("b"), n)) {
			t.Errorf("two rooms for %d bytes share memory", n)
		}
	}
}
