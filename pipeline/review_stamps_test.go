package pipeline

import (
	"testing"

	"pgregory.net/rapid"
)

// A time's count is never more than the consents that carry it, at most lost too low, and exact while nothing was lost.
func TestStampCounts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := &stampCount{}
		exact := map[int64]int{}
		n := rapid.IntRange(0, 3*stampCounters).Draw(t, "consents")
		heavy := rapid.IntRange(1, 9).Draw(t, "heavy")
		for i := range n {
			at := int64(i)
			if i%heavy == 0 {
				at = -1
			}
			s.add(at, "UTC", false)
			exact[at]++
		}
		s.merge()
		if len(s.counts) > stampCounters || s.dated != n {
			t.Fatalf("%d counters, %d dated", len(s.counts), s.dated)
		}
		counted := map[int64]int{}
		for _, x := range s.counts {
			counted[x.at] += x.n
		}
		for at, want := range exact {
			if got := counted[at]; got > want || got < want-s.lost {
				t.Fatalf("%d counted as %d, lost %d", want, got, s.lost)
			}
		}
	})
}
