package pipeline_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"sheetlift/pipeline"
	"sheetlift/pipeline/store/storetest"
)

// What a batch costs does not grow with what other batches' rejected rows say about others, but for their being read. Each such row took more
// than three times as much of reconcile, and stayed in memory until its end.
func TestRejectedRowsOfOtherBatchesCostLittle(t *testing.T) {
	given := []string{receipt("A-1", "S-1,s1@example.com", "Y", "2025-03-01T10:00:00Z"), receipt("A-2", "T-2,t2@example.com", "Y", "2025-03-01T10:00:00Z")}
	beside := func(noes int) (*house, uint64) {
		h := newHouse(t, storetest.SQLite(t), rows(given, nil, nil))
		h.imported()
		var list []string
		for i := range noes {
			list = append(list, fmt.Sprintf("B-%d,,s%d at example.com,news,email,N,2025-03-01,,,,,,", i, i),
				fmt.Sprintf("B-%d,S-%d,s%d@example.com,news,email,Y,2025-03-01,,,,,,", i, i, i))
		}
		h.next("acme-2027", rows(list, nil, nil))
		h.write("batch.yaml", strings.Replace(h.text("batch.yaml"), "rows: 5", "rows: 100000", 1))
		h.imported()
		h.next("acme-2026", rows(given, nil, nil))
		p := h.open()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		r, err := p.Reconcile(t.Context())
		runtime.ReadMemStats(&after)
		if err != nil || r.StillGivenElsewhere != 1 {
			t.Fatalf("%d consents are given though rows of other batches speak against them, want 1: %v", r.StillGivenElsewhere, err)
		}
		return h, after.TotalAlloc - before.TotalAlloc
	}
	const noes = 2000
	_, few := beside(2)
	h, many := beside(noes)
	if each := (many - few) / (2*noes - 4); each > 2000 {
		t.Errorf("reconcile allocates %d bytes for each row of another batch", each)
	}
	var most []string // the consents are more than the rows
	for i := range 20 {
		most = append(most, receipt(fmt.Sprintf("C-%d", i), fmt.Sprintf("U-%d,u%d@example.com", i, i), "Y", "2025-03-01T10:00:00Z"))
	}
	h.next("acme-2028", rows(most, nil, nil))
	h.imported()
	h.next("acme-2029", rows([]string{assertion("D-1", "U-3,", "N", "2025-13-01"), assertion("D-2", ",u4@example.com", "N", "2025-13-01")}, nil, nil))
	h.imported()
	h.next("acme-2028", rows(most, nil, nil))
	if r := h.mustRun(pipeline.Reconcile)["reconcile"].(*pipeline.ReconcileResult); r.StillGivenElsewhere != 2 {
		t.Errorf("%d consents are given though rows of other batches speak against them, want 2", r.StillGivenElsewhere)
	}
}
