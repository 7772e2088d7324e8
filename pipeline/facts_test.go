package pipeline

import (
	"crypto/sha256"
	"fmt"
	"testing"
)

// A key with few contents and one with many tell them apart alike.
func TestContentsOfAKey(t *testing.T) {
	for _, n := range []int{1, manyContents, manyContents + 1, 5 * manyContents} {
		g := &keyGroup{}
		sum := func(i int) *[sha256.Size]byte { s := sha256.Sum256(fmt.Append(nil, i)); return &s }
		for i := range 2 * n {
			g.add(sum(i % n))
		}
		g.content(sum(n - 1)).taken = true
		if len(g.contents) != n || g.content(sum(n)) != nil || !g.content(sum(n-1)).taken || n > 1 && g.content(sum(0)).taken {
			t.Errorf("%d contents: %+v", n, g)
		}
		if g.conflicts() != (n > 1) {
			t.Errorf("%d contents: conflict %v", n, g.conflicts())
		}
	}
}
