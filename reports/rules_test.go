package reports

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sheetlift/pipeline/finding"
)

//go:generate go test -run ^TestRulesPage$ -update .

// TestRulesPage holds docs/rules.md to the rule table; with -update it writes the page.
func TestRulesPage(t *testing.T) {
	var want bytes.Buffer
	if err := RulesPage(&want); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join("..", "docs", "rules.md")
	if *update {
		if err := os.WriteFile(path, want.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(got, want.Bytes()) {
		t.Errorf("docs/rules.md is not what the rule table says (%v); run go generate ./reports", err)
	}
	anchors := map[string]bool{}
	for _, r := range finding.Rules {
		if anchors[anchor(r.ID)] {
			t.Errorf("%s: two rules have this anchor", r.ID)
		}
		anchors[anchor(r.ID)] = true
		if !strings.Contains(want.String(), "\n### "+r.ID+"\n\n"+r.Meaning+"\n") {
			t.Errorf("the page does not explain %s", r.ID)
		}
	}
}
