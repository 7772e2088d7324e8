package pipeline

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"sheetlift/importers/source"
	"sheetlift/importers/source/open"
	"sheetlift/pipeline/finding"
)

// TestHazardsOfCorpus counts in how many real files each hazard is found, and prints the table of docs/hazards.md.
func TestHazardsOfCorpus(t *testing.T) {
	dir := os.Getenv("SHEETLIFT_CORPUS")
	if dir == "" {
		t.Skip("no corpus of real files here: SHEETLIFT_CORPUS names its folder")
	}
	p := &Pipeline{opt: Options{Progress: func(string, string, int64, int64) {}}}
	books, texts, refused := 0, 0, 0
	inBooks, inTexts := map[string]int{}, map[string]int{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || extensions[strings.ToLower(filepath.Ext(path))] == "" {
			return err
		}
		rules, format, err := p.hazardRules(t.Context(), path)
		if os.Getenv("SHEETLIFT_CORPUS_FILES") != "" {
			t.Log(path, rules, err)
		}
		switch {
		case err != nil:
			refused++ // what isn't read has no hazards
		case format == "csv":
			texts++
			for r := range rules {
				inTexts[r]++
			}
		default:
			books++
			for r := range rules {
				inBooks[r]++
			}
		}
		return nil
	})
	if err != nil || books == 0 || texts == 0 {
		t.Fatalf("%d workbooks, %d text files: %v", books, texts, err)
	}
	var out strings.Builder
	fmt.Fprintf(&out, "%d workbooks, %d text files, %d refused\n\n| Hazard | Workbooks | Share | Text files | Share |\n|---|---:|---:|---:|---:|\n", books, texts, refused)
	var rules []string
	for _, r := range finding.Rules {
		if inBooks[r.ID]+inTexts[r.ID] > 0 || slices.ContainsFunc(hazardsBesides, func(id string) bool { return id == r.ID }) || strings.HasPrefix(r.ID, "sheet.") {
			rules = append(rules, r.ID)
		}
	}
	slices.SortStableFunc(rules, func(a, b string) int { return inBooks[b] - inBooks[a] })
	for _, r := range rules {
		fmt.Fprintf(&out, "| `%s` | %d | %.1f %% | %d | %.1f %% |\n", r, inBooks[r], float64(inBooks[r])*100/float64(books), inTexts[r], float64(inTexts[r])*100/float64(texts))
	}
	t.Log(out.String())
}

// hazardsBesides are listed though no file may have them.
var hazardsBesides = []string{"column.formula_decides", "column.text_as_numbers", "value.outside_list", "row.sample", "row.totals", "date.all_equal", "date.all_midnight", "date.future",
	"consent.time_of_export", "file.old_date_system", "file.other_program"}

// hazardRules takes an inventory of a file as if a source without a mapping, obtained today, read each of its sheets.
func (p *Pipeline) hazardRules(ctx context.Context, path string) (rules map[string]bool, format string, err error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	book, err := open.File(ctx, path, source.Options{})
	if err != nil {
		return nil, "", err
	}
	defer book.Close()
	rules = map[string]bool{}
	sink := finding.SinkFunc(func(f finding.Finding) error {
		rules[f.Rule] = true
		return nil
	})
	now := time.Now()
	src := &Source{Name: "s", ObtainedAt: now.Format(time.RFC3339), obtained: now.UnixMicro()}
	lists := &listReader{book: book}
	dates := false
	for i, sheet := range book.Sheets() {
		_, dated, err := p.inventorySheet(ctx, lists, i, sheet, src, nil, "f", sink)
		if err != nil {
			return nil, "", err
		}
		dates = dates || dated
	}
	return rules, book.Info().Format, reportHazards(sink, fileHazards(path, book.Info(), dates), "", src, "f")
}
