package reports

import (
	"cmp"
	"io"
	"slices"
	"strings"

	"sheetlift/pipeline"
	"sheetlift/pipeline/finding"
)

// FindingLine writes one finding as a line of text: severity, rule, place, what happened.
func FindingLine(w io.Writer, f *finding.Finding) error {
	p := newPage(w)
	field := ""
	if f.Field != "" {
		field = ", " + f.Field
	}
	p.line("%-7s  %-*s  %s%s: %s", f.Severity, longestRule, f.Rule, Place(f), clean(field), clean(f.Message))
	return p.err
}

var longestRule = func() (n int) {
	for _, r := range finding.Rules {
		n = max(n, len(r.ID))
	}
	return n
}()

// CountsSchema names the JSON of counted findings.
const CountsSchema = "sheetlift/findings/v1"

// FindingCounts counts findings by rule, source and severity.
type FindingCounts struct {
	Schema   string          `json:"schema"`
	Batch    string          `json:"batch"`
	Stage    string          `json:"stage"`
	Complete bool            `json:"complete"`
	Findings pipeline.Counts `json:"findings"` // those that match
	Counts   []FindingCount  `json:"counts"`
}

// FindingCount is one line of FindingCounts.
type FindingCount struct {
	Rule     string           `json:"rule"`
	Source   string           `json:"source,omitempty"`
	Severity finding.Severity `json:"severity"`
	Count    int              `json:"count"`
	First    string           `json:"place"` // of the first
}

// Count makes the counts of a tally, the commonest first.
func (t *Tally) Count() []FindingCount {
	list := []FindingCount{}
	for _, g := range t.Groups() {
		list = append(list, FindingCount{g.Rule, g.Source, g.Severity, g.Count, Place(&g.First[0])})
	}
	slices.SortStableFunc(list, func(a, b FindingCount) int { return cmp.Compare(b.Count, a.Count) })
	return list
}

func findingCounts(p *page, c *FindingCounts) {
	p.line("findings %s: of %s %s, %s, %s info", clean(c.Batch), c.Stage, counted(c.Findings.Error, "error"), counted(c.Findings.Warning, "warning"), number(c.Findings.Info))
	t := table{head: []string{"count", "severity", "rule", "source", "first at"}}
	for _, n := range c.Counts {
		t.add(n.Count, string(n.Severity), n.Rule, cmp.Or(n.Source, "(none)"), n.First)
	}
	p.table("  ", t)
}

// Filter chooses findings. What is empty chooses all.
type Filter struct {
	Rules, Sources, Fields, Severities []string
	From, To                           int // rows; 0 for no end
}

// Takes reports whether a finding is chosen. A field may be written with its entity or without. A finding about several rows is
// taken if any of them is meant, one without rows only if rows are not asked for.
func (f *Filter) Takes(x *finding.Finding) bool {
	one := func(list []string, value string) bool { return len(list) == 0 || slices.Contains(list, value) }
	if !one(f.Rules, x.Rule) || !one(f.Sources, x.Source) || !one(f.Severities, string(x.Severity)) {
		return false
	}
	_, field, _ := strings.Cut(x.Field, ".")
	if !one(f.Fields, x.Field) && (field == "" || !slices.Contains(f.Fields, field)) {
		return false
	}
	if f.From == 0 && f.To == 0 {
		return true
	}
	last := max(x.Row, x.LastRow)
	return x.Row > 0 && last >= f.From && (f.To == 0 || x.Row <= f.To)
}
