package pipeline_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sheetlift/pipeline"
	"sheetlift/pipeline/finding"
)

// Which stage judges by a rule is what the sources say: a rule that a stage's file names is one of that stage's, and every rule is
// some stage's.
func TestJudges(t *testing.T) {
	named := regexp.MustCompile(`"([a-z]+\.[a-z_]+)"`)
	stageOf := func(file string) string {
		switch base := filepath.Base(file); {
		case strings.HasPrefix(base, "inventory"), strings.HasPrefix(base, "hazard"):
			return pipeline.Inventory
		case strings.HasPrefix(base, "reconcile"):
			return pipeline.Reconcile
		case strings.HasPrefix(base, "undo"), strings.HasPrefix(base, "judges"):
			return ""
		}
		return pipeline.DryRun
	}
	seen := map[string]bool{}
	for _, pattern := range []string{"*.go", "../mappings/*.go", "../importers/*.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			stage := stageOf(file)
			if stage == "" || strings.HasSuffix(file, "_test.go") {
				continue
			}
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range named.FindAllStringSubmatch(string(data), -1) {
				r, ok := finding.ByID(m[1])
				if !ok {
					continue
				}
				seen[r.ID] = true
				if !pipeline.Judges(stage, r) {
					t.Errorf("%s names %s, and Judges says that %s does not judge by it", file, r.ID, stage)
				}
			}
		}
	}
	if len(seen) < 60 {
		t.Fatalf("only %d rules found: this test looks in the wrong place", len(seen))
	}
	for _, r := range finding.Rules {
		judged := false
		for _, stage := range append([]string{pipeline.Undo}, pipeline.Stages...) {
			judged = judged || pipeline.Judges(stage, r)
		}
		if !judged {
			t.Errorf("no stage judges by %s", r.ID)
		}
	}
	zeros, _ := finding.ByID("id.zeros_lost")
	hidden, _ := finding.ByID("sheet.hidden")
	if pipeline.Judges(pipeline.DryRun, hidden) || !pipeline.Judges(pipeline.DryRun, zeros) || !pipeline.Judges(pipeline.Inventory, zeros) {
		t.Error("the inventory's rules are mixed up")
	}
}
