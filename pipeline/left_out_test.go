package pipeline_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"

	"sheetlift/pipeline"
	"sheetlift/pipeline/store/storetest"
)

// A refusal that was rejected stands against a consent. Leaving its row out of what comes back must not raise that consent.
func TestLeftOutRefusal(t *testing.T) {
	t.Parallel()
	const refusal = "K-1,S-20,k@example.com,news,email,N,2026-03-14T09:12:00Z,,,,,,\n"
	yes := "K-1,S-20,k@example.com,news,email,Y" + dated + "20\n"
	with := func(t *testing.T) *house {
		h := newHouse(t, storetest.SQLite(t), map[string]string{
			"consents.csv": consentHeader + "G-1,S-G,good@example.com,news,email,Y" + dated + "9\n" + yes + refusal,
		})
		h.mustRun(pipeline.Reconcile)
		if got := h.state("K-1"); got != "not in the register" {
			t.Fatal(got)
		}
		return h
	}
	opposed := func(t *testing.T, h *house, id, rule string) {
		t.Helper()
		r := h.mustRun(pipeline.Reconcile)["dryrun"].(*pipeline.DryRunResult)
		if r.Sources[0].Rejected[rule] != 1 || strings.HasPrefix(h.state(id), "given") {
			t.Errorf("%+v, %s is %s", r.Sources[0], id, h.state(id))
		}
	}
	t.Run("records", func(t *testing.T) {
		h := with(t)
		h.write("mended.csv", consentHeader+strings.Replace(yes, "Ada", "Adah", 1))
		h.snapshotOf("consents", "mended.csv")
		opposed(t, h, "K-1", "key.multiple_match")
	})
	t.Run("another key", func(t *testing.T) {
		h := with(t)
		h.write("mended.csv", consentHeader+strings.Replace(yes, "K-1,", "K-1b,", 1))
		h.snapshotOf("consents", "mended.csv")
		opposed(t, h, "K-1b", "consent.opposed_by_rejected")
	})
	t.Run("fresh export", func(t *testing.T) {
		h := with(t)
		h.write("consents.csv", consentHeader+yes)
		h.snapshot(pipeline.Delta, "consents.csv")
		opposed(t, h, "K-1", "consent.opposed_by_rejected")
	})
	t.Run("workbook", func(t *testing.T) {
		h := with(t)
		h.rejects("mend.xlsx")
		mend(t, filepath.Join(h.dir, "mend.xlsx"), func(book *excelize.File, header map[string]string, row, n int) {
			if n == 0 { // of two rows the first is changed, the second taken away
				if err := book.SetCellStr("consents", fmt.Sprint(header["Actor"], row), "Adah Agent"); err != nil {
					t.Fatal(err)
				}
			}
		})
		book, err := excelize.OpenFile(filepath.Join(h.dir, "mend.xlsx"))
		if err != nil {
			t.Fatal(err)
		}
		rows, err := book.GetRows("consents")
		if err != nil {
			t.Fatal(err)
		}
		if err := book.RemoveRow("consents", len(rows)); err != nil {
			t.Fatal(err)
		}
		if err := book.Save(); err != nil {
			t.Fatal(err)
		}
		if err := book.Close(); err != nil {
			t.Fatal(err)
		}
		h.snapshot(pipeline.Mended, "mend.xlsx")
		opposed(t, h, "K-1", "key.multiple_match")
	})
	// What comes back speaks for itself: a refusal that its owner corrects to a yes is one.
	t.Run("corrected", func(t *testing.T) {
		h := newHouse(t, storetest.SQLite(t), map[string]string{
			"consents.csv": consentHeader + "G-1,S-G,good@example.com,news,email,Y" + dated + "9\n" + "K-2,S-21,nobody,news,email,N,2026-03-14T09:12:00Z,,,,,,\n",
		})
		h.mustRun(pipeline.Reconcile)
		h.write("mended.csv", consentHeader+"K-2,S-21,k@example.com,news,email,Y"+dated+"21\n")
		h.snapshotOf("consents", "mended.csv")
		h.mustRun(pipeline.Reconcile)
		if got := h.state("K-2"); !strings.HasPrefix(got, "given") {
			t.Error(got)
		}
	})
}
