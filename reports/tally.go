package reports

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"sheetlift/pipeline"
	"sheetlift/pipeline/finding"
)

// firstPlaces is how many places of one rule and source a report names; the findings file has them all.
const firstPlaces = 10

// Group is what is wrong by one rule, in one source, with one severity.
type Group struct {
	Rule     string
	Class    finding.Class
	Severity finding.Severity
	Source   string // "" for what belongs to no source
	Count    int
	New      int // not in the baseline; all of them if there is none
	First    []finding.Finding
	// FirstNew are the first that are new. It is empty where all are, or none is.
	FirstNew []finding.Finding
}

// Places are the places to name: of the new findings if only some are new, otherwise of the first ones.
func (g *Group) Places() []finding.Finding {
	if len(g.FirstNew) > 0 && g.New < g.Count {
		return g.FirstNew
	}
	return g.First
}

// Tally gathers findings by rule, source and severity. Its size depends on how many rules and sources there are, not on how many
// findings.
type Tally struct {
	Known, New pipeline.Counts
	groups     map[groupKey]*Group
}

type groupKey struct {
	rule, source string
	severity     finding.Severity
}

// Add takes one finding; isNew says that no earlier run had it.
func (t *Tally) Add(f finding.Finding, isNew bool) {
	if t.groups == nil {
		t.groups = map[groupKey]*Group{}
	}
	k := groupKey{f.Rule, f.Source, f.Severity}
	g := t.groups[k]
	if g == nil {
		g = &Group{Rule: f.Rule, Class: f.Class, Severity: f.Severity, Source: f.Source}
		t.groups[k] = g
	}
	g.Count++
	if len(g.First) < firstPlaces {
		g.First = append(g.First, f)
	}
	counts := &t.Known
	if isNew {
		g.New++
		counts = &t.New
		if len(g.FirstNew) < firstPlaces {
			g.FirstNew = append(g.FirstNew, f)
		}
	}
	switch f.Severity {
	case finding.Error:
		counts.Error++
	case finding.Warning:
		counts.Warning++
	default:
		counts.Info++
	}
}

// Groups are the groups, the gravest first, then the largest.
func (t *Tally) Groups() []*Group {
	var list []*Group
	for _, g := range t.groups {
		list = append(list, g)
	}
	slices.SortFunc(list, func(a, b *Group) int {
		return cmp.Or(cmp.Compare(grade(b.Severity), grade(a.Severity)), cmp.Compare(b.Count, a.Count),
			strings.Compare(a.Rule, b.Rule), strings.Compare(a.Source, b.Source))
	})
	return list
}

// grade orders severities.
func grade(s finding.Severity) int {
	switch s {
	case finding.Error:
		return 2
	case finding.Warning:
		return 1
	}
	return 0
}

// Check is what a CI job asks of a batch: the findings of the stages that ran, and whether they came to their end.
type Check struct {
	Batch   string
	Sources []string // in the order of batch.yaml
	Asked   []string // the stages that were to run, in order
	Done    []string // those that came to their end
	Why     string   // why not all of them did; "" if they did
	Remedy  string
	Fault   bool // Why is a failure of the program or of what it works with, not of the data
	Tally
	FailOn   string // lowest severity that fails: error, warning; never
	Baseline bool   // only what is new fails
	Folder   string // of batch.yaml, slash-separated and relative to where the command runs: file names begin there
	Version  string // of the program
}

// Complete reports whether nothing kept the stages from doing their work, so that the list of findings is all that those of Done
// have. A stage that is refused its turn because one before it did not pass is no fault.
func (c *Check) Complete() bool { return !c.Fault && len(c.Done) > 0 }

// Fails reports whether a group makes the check fail. An error of a column or of the batch does so whatever --fail-on says, because
// the stage did not pass; what an earlier run had does not, if there is a baseline.
func (c *Check) Fails(g *Group) bool {
	if c.Baseline && g.New == 0 {
		return false
	}
	if rule, ok := finding.ByID(g.Rule); ok && g.Severity == finding.Error && rule.Scope != finding.Row {
		return true
	}
	return c.FailOn != "never" && grade(g.Severity) >= grade(finding.Severity(c.FailOn))
}

// Failed reports whether any group fails.
func (c *Check) Failed() bool {
	for _, g := range c.groups {
		if c.Fails(g) {
			return true
		}
	}
	return false
}

// longestFinding bounds a line of a findings file. Ours are under a thousand bytes.
const longestFinding = 1 << 20

// ReadFindings reads a findings file, line by line. A line that is none is an error with its number.
func ReadFindings(r io.Reader, each func(f finding.Finding) error) error {
	lines := bufio.NewReaderSize(r, 1<<16)
	var long []byte
	for n := 1; ; n++ {
		line, err := lines.ReadSlice('\n')
		for long = long[:0]; errors.Is(err, bufio.ErrBufferFull) && len(long) < longestFinding; {
			long = append(long, line...)
			line, err = lines.ReadSlice('\n')
		}
		if len(long) > 0 {
			long = append(long, line...)
			line = long
		}
		switch {
		case errors.Is(err, io.EOF) && len(line) == 0:
			return nil
		case errors.Is(err, io.EOF):
			return fmt.Errorf("line %d: the line has no end, so the list may be cut off", n)
		case errors.Is(err, bufio.ErrBufferFull):
			return fmt.Errorf("line %d: longer than a finding is", n)
		case err != nil:
			return err
		}
		var f finding.Finding
		if err := json.Unmarshal(line, &f); err != nil {
			return fmt.Errorf("line %d: no finding: it is not JSON as sheetlift writes it", n)
		}
		if f.Rule == "" || f.Severity != finding.Error && f.Severity != finding.Warning && f.Severity != finding.Info {
			return fmt.Errorf("line %d: no finding: it has no rule or no severity", n)
		}
		if err := each(f); err != nil {
			return err
		}
	}
}

// Place says where a finding is, as a person looks for it: file, sheet, cell or row, line.
func Place(f *finding.Finding) string {
	var parts []string
	if f.File != "" {
		parts = append(parts, f.File)
	}
	if f.Sheet != "" {
		parts = append(parts, fmt.Sprintf("sheet %q", f.Sheet))
	}
	switch {
	case f.Cell != "":
		parts = append(parts, "cell "+f.Cell)
	case f.Row > 0 && f.LastRow > f.Row:
		parts = append(parts, fmt.Sprintf("rows %d to %d", f.Row, f.LastRow))
	case f.Row > 0:
		parts = append(parts, fmt.Sprintf("row %d", f.Row))
	}
	if f.Cell == "" && f.Column != "" {
		parts = append(parts, "column "+f.Column)
	}
	if f.Line > 0 {
		parts = append(parts, fmt.Sprintf("line %d", f.Line))
	}
	if len(parts) == 0 {
		return cmp.Or(f.Source, "the batch")
	}
	return clean(strings.Join(parts, ", "))
}
