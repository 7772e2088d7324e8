package pipeline_test

import (
	"fmt"
	"strings"
	"testing"

	"sheetlift/pipeline"
	"sheetlift/pipeline/store/storetest"
)

// wantNotBack holds what the dry-run, status and review say of rows that did not come back to SNAPSHOT FILE ROWS.
func (h *house) wantNotBack(want ...string) {
	h.t.Helper()
	words := func(list []pipeline.NotBack) string {
		var out []string
		for _, n := range list {
			if n.Rows != len(n.First) {
				h.t.Errorf("%+v", n)
			}
			out = append(out, fmt.Sprint(n.Snapshot, " ", n.File, " ", n.First))
		}
		return strings.Join(out, "; ")
	}
	rv, err := h.open().Review(h.t.Context())
	if err != nil {
		h.t.Fatal(err)
	}
	for of, got := range map[string]string{"dryrun": words(h.dry().NotBack), "status": words(h.status().NotBack), "review": words(rv.Judged.NotBack)} {
		if got != strings.Join(want, "; ") {
			h.t.Errorf("%s: %q, want %q", of, got, want)
		}
	}
}

// Rejected rows that do not come back with a later snapshot stay counted, until they do: of a text file, of a workbook and of a fresh export.
func TestRejectedRowsThatDidNotComeBack(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, url string) {
		good := assertion("C-1", "S-1,one@example.com", "Y", "2025-03-01")
		bad := func(n int, status string) string {
			return assertion(fmt.Sprintf("C-%d", n), fmt.Sprintf("S-%d,p%d@example.com", n, n), status, "2025-03-01")
		}
		file := func(lines ...string) string { return consentHeader + strings.Join(lines, "\n") + "\n" }
		h := newHouse(t, url, rows([]string{good, bad(2, "perhaps"), bad(3, "perhaps"), bad(4, "perhaps"), strings.Replace(bad(5, "N"), "C-5", "", 1)}, nil, nil))
		h.imported()
		h.wantNotBack()
		// One is mended, one comes back as bad, two are left out.
		h.write("back.csv", file(bad(2, "Y"), bad(4, "never")))
		h.snapshotOf("consents", "back.csv")
		h.mustRun(pipeline.Reconcile)
		h.wantNotBack("initial consents.csv [4 6]")
		// Of what was mended then, the row that was still bad is left out as well.
		h.write("third.csv", file(bad(3, "N")))
		h.snapshotOf("consents", "third.csv")
		h.mustRun(pipeline.Reconcile)
		h.wantNotBack("initial consents.csv [6]", "mended-1 back.csv [3]")
		// A fresh export has all of them, one still bad.
		h.write("consents.csv", file(good, bad(2, "Y"), bad(3, "N"), bad(4, "N"), strings.Replace(bad(5, "N"), "C-5", "", 1)))
		h.snapshot(pipeline.Delta, "consents.csv")
		h.mustRun(pipeline.Reconcile)
		h.wantNotBack()
		h.mustVerify()
	})
}

// The same of rejects that come back in a workbook, under their tokens.
func TestRejectedRowsThatLeftTheWorkbook(t *testing.T) {
	t.Parallel()
	h := newHouse(t, storetest.SQLite(t), rows([]string{
		assertion("C-1", "S-1,one@example.com", "Y", "2025-03-01"),
		assertion("C-2", "S-2,two@example.com", "perhaps", "2025-03-01"),
		assertion("C-3", "S-3,three@example.com", "perhaps", "2025-03-01"),
	}, nil, nil))
	h.imported()
	h.edit("mend.xlsx", func(w *inHand) { w.set(2, map[string]string{"Status": "never"}); w.remove(3) })
	h.snapshot(pipeline.Mended, "mend.xlsx")
	h.mustRun(pipeline.Reconcile)
	h.wantNotBack("initial consents.csv [4]")
	h.edit("more.xlsx", func(w *inHand) { w.set(2, map[string]string{"Status": "N"}) })
	h.snapshot(pipeline.Mended, "more.xlsx")
	h.mustRun(pipeline.Reconcile)
	h.wantNotBack("initial consents.csv [4]")
}
