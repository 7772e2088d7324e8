package pipeline_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"sheetlift/pipeline"
	"sheetlift/pipeline/store/storetest"
)

// A cell leads to every record of its row, and says which fields it gave.
func TestTraceCell(t *testing.T) {
	t.Parallel()
	const two = `version: 1
mapping: consents
records:
  - { entity: consent, key: [external_id, purpose], fields: { external_id: Id, email: Mail, purpose: { const: news, stated_by: { name: O, at: 2026-10-01 } }, status: { from: News, enum: { given: [Y], refused: [N] } } } }
  - { entity: consent, key: [external_id, purpose], fields: { external_id: Id, email: Mail, purpose: { const: ads, stated_by: { name: O, at: 2026-10-01 } }, status: { from: Ads, enum: { given: [Y], refused: [N] } } } }
`
	storetest.Each(t, func(t *testing.T, url string) {
		h := newHouse(t, url, map[string]string{"consents.yaml": two, "consents.csv": "Id,Mail,News,Ads\nC-1,one@example.com,Y,N\nC-2,two@example.com,Y,\nC-3,three@example.com,maybe,N\n"})
		h.imported()
		trace := func(cell string, reveal bool) *pipeline.TraceResult {
			r, err := h.open().TraceCell(t.Context(), cell, "", reveal)
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		r := trace("consents.csv!B2", false)
		if len(r.Records) != 2 || !slices.Equal(r.Records[0].FromCell, []string{"email"}) || r.Records[0].Entity != "consent" || r.Cell != "B2" {
			t.Errorf("%+v", r)
		}
		for _, rec := range r.Records {
			if rec.Values["email"] == "one@example.com" {
				t.Error("a personal value is shown")
			}
		}
		if r := trace("consents.csv!A3", false); len(r.Records) != 1 || r.Records[0].Values["purpose"] != "news" {
			t.Errorf("%+v", r)
		}
		before := h.counts()["events"]
		if r := trace("consents.csv!B2", true); r.Records[1].Values["email"] != "one@example.com" {
			t.Errorf("%+v", r)
		}
		if n := h.counts()["events"] - before; n != 2 {
			t.Errorf("%d events of two records that were shown", n)
		}
		var none *pipeline.ErrNoSuchRecord
		if _, err := h.open().TraceCell(t.Context(), "consents.csv!B4", "", false); !errors.As(err, &none) || none.Row != 4 || none.Rejected[0].Cell != "C4" {
			t.Errorf("got %v", err)
		}
		var config *pipeline.ConfigError
		for _, cell := range []string{"", "!", "B2", "consents.csv", "consents.csv!", "consents.csv!2", "consents.csv!B0", "other.csv!B2", "consents.csvx!B2", "consents.csv!B99999999999999999999"} {
			if _, err := h.open().TraceCell(t.Context(), cell, "", false); !errors.As(err, &config) {
				t.Errorf("%q: got %v", cell, err)
			}
		}
	})
}

// The cell of a row that repeats another one leads to the record that the other gave, or vouches for.
func TestTraceCellOfARepeat(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, url string) {
		one, two := receipt("C-1", "S-1,one@example.com", "Y", "2025-03-01T10:00:00Z"), receipt("C-2", "S-2,two@example.com", "Y", "2025-03-01T10:00:00Z")
		bad := receipt("C-3", "S-3,three@example.com", "perhaps", "2025-03-01T10:00:00Z")
		h := newHouse(t, url, rows([]string{one}, nil, nil))
		h.imported()
		h.next("second", rows([]string{one, one, two, two, bad, bad}, nil, nil))
		h.imported()
		for cell, want := range map[string]int64{"consents.csv!F2": 0, "consents.csv!f3": 2, "consents.csv!F4": 0, "consents.csv!F5": 4} {
			r, err := h.open().TraceCell(t.Context(), cell, "", false)
			if err != nil || len(r.Records) != 1 || r.Repeats != want || !slices.Equal(r.Records[0].FromCell, []string{"status"}) {
				t.Errorf("%s: %+v, %v", cell, r, err)
			}
		}
		for _, cell := range []string{"consents.csv!F7", "consents.csv!F1", "consents.csv!F99"} {
			var none *pipeline.ErrNoSuchRecord
			if r, err := h.open().TraceCell(t.Context(), cell, "", false); !errors.As(err, &none) {
				t.Errorf("%s: %+v, %v", cell, r, err)
			}
		}
		h.write("consents.csv", consentHeader+one+"\n"+two+"\n"+bad+"\n"+strings.Repeat(receipt("C-4", "S-4,four@example.com", "Y", "2025-03-01T10:00:00Z")+"\n", 2))
		h.snapshot(pipeline.Delta, "consents.csv")
		h.imported()
		for cell, want := range map[string]int64{"consents.csv!F5": 0, "consents.csv!F6": 5} {
			if r, err := h.open().TraceCell(t.Context(), cell, "delta-1", false); err != nil || len(r.Records) != 1 || r.Repeats != want {
				t.Errorf("a fresh export, %s: %+v, %v", cell, r, err)
			}
		}
	})
}

// A cell that is blank, left out by a field's when, or passed over for another one gave nothing, and is not named as if it had.
func TestTraceOfACellThatGaveNothing(t *testing.T) {
	t.Parallel()
	const mapping = `version: 1
mapping: consents
records:
  - entity: consent
    key: [external_id]
    when: { column: News, in: [Y] }
    fields: &fields
      external_id: Id
      email: { from: Mail }
      note: { from: Remark, null_tokens: ["-"] }
      purpose: { const: news, stated_by: { name: O, at: 2026-10-01 } }
      status: { from: News, enum: { given: [Y], refused: [N] } }
      occurred_at: { from: [Confirmed, Signed], first: true, format: iso8601, zone: UTC, when: { column: News, in: [Y] } }
  - entity: consent
    key: [external_id]
    when: { column: News, not_in: [Y] }
    fields:
      external_id: Id
      email: { from: Mail }
      note: { from: Remark, null_tokens: ["-"] }
      purpose: { const: news, stated_by: { name: O, at: 2026-10-01 } }
      status: { from: News, enum: { given: [Y], refused: [N] } }
      occurred_at: { from: [Confirmed, Signed], first: true, format: iso8601, zone: UTC, when: { column: News, in: [Y] } }
`
	storetest.Each(t, func(t *testing.T, url string) {
		h := newHouse(t, url, map[string]string{"consents.yaml": strings.ReplaceAll(mapping, " &fields", ""),
			"consents.csv": "Id,Mail,News,Confirmed,Signed,Remark\nC-1,one@example.com,Y,,2025-03-01,\nC-2,two@example.com,Y,2025-03-03,2025-03-01,-\nC-3,three@example.com,N,2025-03-03,,seen\n"})
		h.imported()
		for cell, want := range map[string]string{
			"D2": "[] occurred_at blank E2", "E2": "[occurred_at]", "F2": "[] note blank", "D3": "[occurred_at]", "E3": "[] occurred_at no_value D3", "F3": "[] note no_value",
			"D4": "[] occurred_at when", "E4": "[] occurred_at when", "F4": "[note]", "C4": "[status]", "B4": "[email]",
		} {
			r, err := h.open().TraceCell(t.Context(), "consents.csv!"+cell, "", false)
			if err != nil || len(r.Records) != 1 || r.Records[0].Untold {
				t.Errorf("%s: %+v, %v", cell, r, err)
				continue
			}
			got := fmt.Sprint(r.Records[0].FromCell)
			for _, not := range r.Records[0].NotGiven {
				got += strings.TrimRight(fmt.Sprintf(" %s %s %s", not.Field, not.Because, not.From), " ")
			}
			if got != want {
				t.Errorf("%s: %s, want %s", cell, got, want)
			}
		}
		r, err := h.open().Trace(t.Context(), "consent", "C-1", false)
		if err != nil || r.Records[0].Places[0].Cells["note"] != "" {
			t.Errorf("a blank cell is named as that of a field: %+v, %v", r, err)
		}
	})
}

// Before the import nothing is in the register, whatever the row.
func TestTraceOfACellBeforeTheImport(t *testing.T) {
	t.Parallel()
	h := newHouse(t, storetest.SQLite(t), nil)
	var none *pipeline.ErrNoSuchRecord
	for _, stage := range []string{pipeline.Inventory, pipeline.Map} {
		want := map[string]string{pipeline.Inventory: "nothing of the batch is frozen yet", pipeline.Map: "no dry-run has judged the row"}[stage]
		h.mustRun(stage)
		if _, err := h.open().TraceCell(t.Context(), "consents.csv!A2", "", false); !errors.As(err, &none) || !strings.Contains(none.Why, want) {
			t.Errorf("after %s: %v", stage, err)
		}
	}
	h.mustRun(pipeline.DryRun)
	if _, err := h.open().TraceCell(t.Context(), "consents.csv!A2", "", false); !errors.As(err, &none) || !strings.Contains(none.Why, "not imported yet") {
		t.Errorf("%v", err)
	}
	h.mustRun(pipeline.Import)
	if _, err := h.open().TraceCell(t.Context(), "consents.csv!A2", "", false); err != nil {
		t.Error(err)
	}
}
