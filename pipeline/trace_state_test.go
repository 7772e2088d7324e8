package pipeline_test

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"sheetlift/pipeline"
	"sheetlift/pipeline/store/storetest"
)

// sameStates holds the states that are worked out from a subject's circle to those that all of the register gives. It returns them.
func (h *house) sameStates(fatalf func(string, ...any), ids []string) map[string]int {
	quick, whole := h.open(), h.open()
	whole.WholeStates()
	got := map[string]int{}
	for _, id := range ids {
		a, err := quick.Trace(h.t.Context(), "consent", id, false)
		b, other := whole.Trace(h.t.Context(), "consent", id, false)
		if err != nil || other != nil {
			if fmt.Sprint(err) != fmt.Sprint(other) {
				fatalf("%s: %v, of the whole register %v", id, err, other)
			}
			continue
		}
		same := func(x, y pipeline.TraceRecord) bool {
			return x.ID == y.ID && x.State == y.State && x.StateCause == y.StateCause && slices.Equal(x.Opposed, y.Opposed)
		}
		if !slices.EqualFunc(a.Records, b.Records, same) {
			fatalf("%s: %+v, of the whole register %+v", id, a.Records, b.Records)
		}
		for _, r := range a.Records {
			got[r.State+" "+r.StateCause]++
		}
	}
	return got
}

// What a subject's circle says is what the whole register says, however people and batches meet in it.
func TestPropertyStateOfTheCircle(t *testing.T) {
	storetest.Each(t, func(t *testing.T, url string) {
		seen := map[string]int{}
		check(t, 2, func(rt *rapid.T) {
			fresh := storetest.SQLite
			if url[0] == 'p' {
				fresh = storetest.Postgres
			}
			files, first := drawBatch(rt, "a")
			h := newHouse(t, fresh(t), files)
			h.write("batch.yaml", tolerantBatch("acme-2026"))
			h.mustRun(pipeline.Import)
			files, second := drawBatch(rt, "b")
			h.write("batch.yaml", tolerantBatch("acme-2027"))
			for name, text := range files {
				h.write(name, text)
			}
			h.mustRun(pipeline.Import)
			var ids []string
			for _, c := range slices.Concat(first, second) {
				ids = append(ids, c.id)
			}
			for state, n := range h.sameStates(rt.Fatalf, ids) {
				seen[state] += n
			}
		})
		if len(seen) < 4 {
			t.Errorf("only the states %v came up", seen)
		}
	})
}

// A chain of links that is longer than the circle is gone over for says the same as well.
func TestStateOfALongChain(t *testing.T) {
	t.Parallel()
	const links = 60
	var list, ids []string
	for i := range links {
		list = append(list, assertion(fmt.Sprintf("a-%d", i), fmt.Sprintf("S-%d,m%d@example.com", i, i), "Y", days[1]),
			assertion(fmt.Sprintf("b-%d", i), fmt.Sprintf("S-%d,m%d@example.com", i+1, i), []string{"Y", "N"}[i/(links-1)], days[1]))
		ids = append(ids, fmt.Sprintf("a-%d", i), fmt.Sprintf("b-%d", i))
	}
	h := small(t, rows(list, nil, nil))
	h.mustRun(pipeline.Import)
	if got := h.sameStates(t.Fatalf, ids); len(got) == 0 {
		t.Error("nothing was imported")
	}
}
