package pipeline_test

import (
	"strings"
	"testing"
	"time"

	"sheetlift/pipeline"
	"sheetlift/pipeline/store"
	"sheetlift/pipeline/store/storetest"
)

// A case that was due soon when the export was made is overdue now: both counts say the day they are of.
func TestRuleCountsOfCasesSayTheirDay(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, url string) {
		h := newHouse(t, url, rows(nil, nil, []string{"R-1,access,open,,asks@example.com,2026-09-04,"}))
		h.write("batch.yaml", strings.ReplaceAll(houseFiles["batch.yaml"], "2026-10-01", "2025-10-01"))
		h.write("cases.csv", caseHeader+"R-1,access,open,,asks@example.com,2025-09-04,\n")
		dry := h.mustRun(pipeline.Reconcile)["dryrun"].(*pipeline.DryRunResult)
		if want := (pipeline.CaseCount{AsOf: "2025-10-01", Open: 1, DueSoon: 1}); dry.Cases != want {
			t.Errorf("dryrun: %+v, want %+v", dry.Cases, want)
		}
		st, err := h.open().Status(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var now int64
		if err := h.look().View(t.Context(), func(tx *store.Tx) (err error) { now, err = tx.Now(t.Context()); return err }); err != nil {
			t.Fatal(err)
		}
		today := time.UnixMicro(now).UTC()
		if midnight := today.Add(-time.Minute); today.Format(time.DateOnly) != midnight.Format(time.DateOnly) {
			t.Skip("the day changes")
		}
		if want := (pipeline.CaseCount{AsOf: today.Format(time.DateOnly), Open: 1, Overdue: 1}); st.Cases != want {
			t.Errorf("status: %+v, want %+v", st.Cases, want)
		}
		if rv := review(t, h); rv.Judged.Cases != dry.Cases {
			t.Errorf("review: %+v", rv.Judged.Cases)
		}
		h.mustVerify()
	})
}
