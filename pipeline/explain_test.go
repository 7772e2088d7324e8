package pipeline_test

import (
	"encoding/json"
	"strings"
	"testing"

	"sheetlift/pipeline"
	"sheetlift/pipeline/store/storetest"
)

func TestExplain(t *testing.T) {
	t.Parallel()
	h := newHouse(t, storetest.SQLite(t), map[string]string{"consents.csv": houseFiles["consents.csv"] + ",,,,,,,,,,,,\n"}) // a blank row is none
	mapped := h.mustRun(pipeline.Map)["map"].(*pipeline.MapResult)
	r, err := h.open().Explain(t.Context(), mapped)
	if err != nil {
		t.Fatal(err)
	}
	s := r.Sources[4]
	if s.Source != "consents" || s.Rows != (pipeline.Rows{Read: 18, Accepted: 16, Rejected: 1, Skipped: 1}) || s.Plan != mapped.Sources[4].Plan {
		t.Errorf("%+v", s)
	}
	got := map[string]pipeline.ExplainedColumn{}
	for _, src := range r.Sources {
		for _, c := range src.Columns {
			if c.In != c.Out+c.Rejected+c.Null+c.Left {
				t.Errorf("%s %s: %+v does not add up", src.Source, c.Column, c)
			}
			if src.Source == "consents" {
				got[c.Field] = c
			}
		}
	}
	if c := got["consent.status"]; c.Column != "F" || c.In != 17 || c.Out != 16 || c.Rejected != 1 || !strings.Contains(c.How, "given (2), refused (1), withdrawn (1)") {
		t.Errorf("status: %+v", c)
	}
	if c := got["consent.proof_kind"]; c.In != 9 || c.Out != 8 || c.Null != 1 {
		t.Errorf("proof_kind: %+v", c)
	}
	if c := got["consent.external_id"]; !c.Key || c.In != 18 || c.Out != 16 || c.Left != 2 {
		t.Errorf("external_id: %+v", c)
	}
	if c := got["consent.occurred_at"]; !strings.Contains(c.How, "declared as iso8601") || !strings.Contains(c.How, "zone UTC") {
		t.Errorf("occurred_at: %+v", c)
	}
	data, err := json.Marshal(r)
	if err != nil || strings.Contains(string(data), "example.com") || strings.Contains(string(data), "perhaps") {
		t.Errorf("the explanation shows a value: %v", err)
	}
}
