package source

import (
	"bytes"
	"errors"
	"io"
	"testing"
)

// A stash gives its pieces again, large ones and small ones, and as often as it is asked; drained, once.
func TestStash(t *testing.T) {
	piece := func(i int) []byte { return bytes.Repeat([]byte{byte(i)}, i*i*i%(3*stashLarge)) }
	for _, n := range []int{0, 1, 40, 400} { // of 40 MiB
		var s Stash
		defer s.Close()
		for i := range n {
			if err := s.Add(piece(i)); err != nil {
				t.Fatal(err)
			}
		}
		for _, r := range []*StashReader{s.Replay(), s.Replay(), s.Drain()} {
			var buf []byte
			for i := range n {
				var err error
				if buf, err = r.Next(buf); err != nil || !bytes.Equal(buf, piece(i)) {
					t.Fatalf("piece %d of %d: %d bytes, %v", i, n, len(buf), err)
				}
			}
			if _, err := r.Next(buf); !errors.Is(err, io.EOF) {
				t.Errorf("after the last of %d: %v", n, err)
			}
		}
	}
}
