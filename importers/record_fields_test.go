package importers

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Each place that is to answer a field of the standard is a field of its entity, and none is named twice.
func TestRecordFieldsNameFieldsOfTheirEntities(t *testing.T) {
	seen := map[string]bool{}
	for i := range RecordFields {
		f := &RecordFields[i]
		if seen[f.Name] {
			t.Errorf("%s stands there twice", f.Name)
		}
		seen[f.Name] = true
		if f.DPV == "" {
			t.Errorf("%s has no term", f.Name)
		}
		for entity, names := range map[string][]string{"consent": f.Consent, "notice": f.Notice, "purpose": f.Purpose, "activity": f.Activity} {
			for _, name := range names {
				if ByName(entity).Field(name) < 0 {
					t.Errorf("%s: %s has no field %s", f.Name, entity, name)
				}
			}
		}
	}
	if len(RecordFields) > 64 {
		t.Error("a set of fields no longer fits 64 bits")
	}
}

// The page shows the table as it is here.
func TestReportPageShowsTheRecordFields(t *testing.T) {
	path := filepath.Join("..", "docs", "report.md")
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var rows [][]string
	for i := range RecordFields {
		f := &RecordFields[i]
		required := "optional"
		if f.Required {
			required = "required"
		}
		rows = append(rows, []string{f.Section, code(f.Name), required, f.GDPR, f.DPV, f.Where()})
	}
	block := regexp.MustCompile(`(?s)<!-- generated: record fields -->\n.*?<!-- end -->`)
	if !block.Match(page) {
		t.Fatal("docs/report.md has no table of record fields")
	}
	table := table("section|field|TS 27560|GDPR|DPV|answered by", rows...)
	want := block.ReplaceAllLiteralString(string(page), "<!-- generated: record fields -->\n"+strings.ReplaceAll(table, "|  |", "| |")+"<!-- end -->")
	if want == string(page) {
		return
	}
	if !*update {
		t.Fatal("docs/report.md differs from RecordFields; run: go test ./importers -run ReportPage -update")
	}
	if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}
