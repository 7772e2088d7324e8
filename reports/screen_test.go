package reports

import (
	"strings"
	"testing"

	"sheetlift/pipeline"
	"sheetlift/pipeline/finding"
)

// What is for a person fits a screen of 80 columns, whatever the names and places are.
func TestFitsAScreen(t *testing.T) {
	long := "exports/of/a/long/way/consents.xlsx"
	for name, result := range map[string]any{
		"explain": &pipeline.ExplainResult{Batch: "b", Sources: []pipeline.ExplainedSource{{Source: "consents", File: long, Sheet: "Consent register", Columns: []pipeline.ExplainedColumn{
			{Column: "B", Name: "Consent", Field: "consent.status", In: 100, Out: 90, How: "enum; words for given (4), refused (2), withdrawn (3)"}, {Column: "C", Name: "Id", Field: "consent.external_id", Key: true, How: "id"}}}}},
		"status": &pipeline.StatusResult{Batch: "b", Stages: []pipeline.StageStatus{{Stage: "dryrun", State: "stale", Operator: "someone", Finished: "2026-10-01T09:00:00Z", Digest: strings.Repeat("a", 64), Why: "the mapping of consents changed since, so it has to be done again"}}},
		"map": &pipeline.MapResult{Outcome: pipeline.Outcome{Batch: "b", Complete: true, Passed: true, Findings: pipeline.Counts{Error: 3}, ByRule: []pipeline.RuleCount{
			{Rule: "enum.unmapped", Class: finding.Validation, Severity: finding.Error, Count: 3, First: &pipeline.Place{Source: "consents", File: long, Sheet: "Consent register", Cell: "H78", Row: 78}}}}},
	} {
		var out strings.Builder
		if err := render(&page{w: &out, width: 80}, result); err != nil {
			t.Fatal(err)
		}
		for line := range strings.SplitSeq(out.String(), "\n") {
			if len([]rune(line)) > 80 {
				t.Errorf("%s: %d columns: %s", name, len([]rune(line)), line)
			}
		}
		var wide strings.Builder
		if err := Text(&wide, result); err != nil || strings.Count(wide.String(), "\n") > strings.Count(out.String(), "\n") {
			t.Errorf("%s: a file gets other lines than it got: %v\n%s", name, err, wide.String())
		}
	}
}
