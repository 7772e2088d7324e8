package pipeline_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"

	"sheetlift/pipeline"
	"sheetlift/pipeline/store/storetest"
)

// Whatever is said of a row that was mended in a text file names that file, whose numbers its rows have; so does a workbook that went out of it.
func TestPlacesOfMendedRecords(t *testing.T) {
	t.Parallel()
	nowhere := strings.Replace(assertion("C-2", "S-2,two@example.com", "Y", "2025-03-01"), ",news,", ",nosuch,", 1)
	h := newHouse(t, storetest.SQLite(t), rows([]string{
		assertion("C-1", "S-1,one@example.com", "Y", "2025-03-01"),
		nowhere,
		assertion("C-3", "S-3,three@example.com", "perhaps", "2025-03-01"),
	}, nil, nil))
	h.imported()
	h.write("back.csv", consentHeader+strings.Join([]string{
		nowhere,
		assertion("C-4", "S-4,four@example.com", "unsure", "2025-03-01"),
		assertion("C-3", "S-3,three@example.com", "N", "2025-03-01"),
	}, "\n")+"\n")
	named := func(dry *pipeline.DryRunResult, rules ...string) {
		t.Helper()
		var seen []string
		for _, f := range findings(t, dry.FindingsFile) {
			seen = append(seen, f.Rule)
			if f.Source == "consents" && f.Row > 0 && f.File != "back.csv" {
				t.Errorf("%s names %s, row %d", f.Rule, f.File, f.Row)
			}
			if f.Rule == "row.unmended" {
				if text, _ := h.noRecord(fmt.Sprintf("%s!A%d", f.File, f.Row), ""); !strings.Contains(text, "row.unmended") {
					t.Errorf("at %s, row %d: %s", f.File, f.Row, text)
				}
			}
		}
		for _, rule := range rules {
			if !slices.Contains(seen, rule) {
				t.Errorf("no %s in %q", rule, seen)
			}
		}
	}
	h.snapshotOf("consents", "back.csv")
	mapped := h.mustRun(pipeline.Map)["map"].(*pipeline.MapResult)
	for _, f := range findings(t, mapped.FindingsFile) { // of columns that are the export's as well
		if f.Source == "consents" && f.Row > 1 {
			t.Errorf("%s names row %d of %s", f.Rule, f.Row, f.File)
		}
	}
	got := h.mustRun(pipeline.Reconcile)
	named(got["dryrun"].(*pipeline.DryRunResult), "row.unmended", "enum.unmapped")
	for _, s := range got["reconcile"].(*pipeline.ReconcileResult).Sample {
		if s.Source == "consents" && s.Place != "back.csv row 4" {
			t.Errorf("sample at %s", s.Place)
		}
	}
	h.rejects("again.xlsx")
	mend(t, filepath.Join(h.dir, "again.xlsx"), func(book *excelize.File, header map[string]string, row, n int) {
		if n == 0 {
			if err := book.SetCellStr("consents", fmt.Sprintf("%s%d", header["Status"], row), "never"); err != nil {
				t.Fatal(err)
			}
		}
	})
	h.snapshot(pipeline.Mended, "again.xlsx")
	if err := os.Remove(filepath.Join(h.dir, "again.xlsx")); err != nil {
		t.Fatal(err)
	}
	named(h.mustRun(pipeline.DryRun)["dryrun"].(*pipeline.DryRunResult), "row.unmended", "enum.unmapped")
}
