// Package reports renders results: as text for a person, as JSON for a program, findings as NDJSON.
//
// It promises that a report says nothing the result does not: results are values, and nothing here reads a database, a file
// or a clock. Text begins with the verdict; a list is never cut without saying so. JSON is one document, keys as the result types declare
// them, and `complete` tells whether the stage came to its end.
//
// It refuses nothing and adds no value of a row. Control characters in names (a sheet can be called anything) are shown
// escaped, so that no name can move a terminal's cursor.
//
// Each form has a file of its own. A Tally gathers findings for those that show how many there are and where the first are.
package reports

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/term"

	"sheetlift/pipeline"
	"sheetlift/pipeline/finding"
)

// JSON writes v as one indented document.
func JSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// Text writes a result as a person reads it first: the verdict, a few lines, where the findings are.
func Text(w io.Writer, result any) error { return render(newPage(w), result) }

// Brief writes the verdict and the findings of a stage that others follow, and dry-run and import in full: what a run of many
// stages shows.
func Brief(w io.Writer, result any) error {
	return render(&page{w: w, brief: true, width: screen(w)}, result)
}

func render(p *page, result any) error {
	switch r := result.(type) {
	case *pipeline.InventoryResult:
		inventory(p, r)
	case *pipeline.FreezeResult:
		freeze(p, r)
	case *pipeline.MapResult:
		mapped(p, r)
	case *pipeline.DryRunResult:
		dryRun(p, r)
	case *pipeline.ImportResult:
		imported(p, r)
	case *pipeline.ReconcileResult:
		reconcile(p, r)
	case *pipeline.ExplainResult:
		explain(p, r)
	case *pipeline.UndoResult:
		undo(p, r)
	case *pipeline.StatusResult:
		status(p, r)
	case *pipeline.TraceResult:
		trace(p, r)
	case *pipeline.VerifyResult:
		verify(p, r)
	case *pipeline.ReviewResult:
		review(p, r)
	case *pipeline.GapsResult:
		gaps(p, r)
	case *FindingCounts:
		findingCounts(p, r)
	default:
		return fmt.Errorf("no text form for %T", result)
	}
	return p.err
}

// page writes lines and keeps the first error.
type page struct {
	w     io.Writer
	brief bool
	width int // of a screen; 0 where lines may be as long as they are
	err   error
}

func newPage(w io.Writer) *page { return &page{w: w, width: screen(w)} }

// screen is how wide the terminal is that w is; 0 if it is none.
func screen(w io.Writer) int {
	f, ok := w.(*os.File)
	if !ok {
		return 0
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil || width < narrowest {
		return 0
	}
	return width
}

// narrowest is the narrowest screen that text is fitted to.
const narrowest = 60

// fit is how wide lists and sentences are at most.
func (p *page) fit() int {
	if p.width > 0 {
		return min(p.width, textWidth)
	}
	return textWidth
}

func (p *page) line(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format+"\n", args...)
	}
}

// head is the first line of a stage's report.
func (p *page) head(stage string, o *pipeline.Outcome, verdict string) {
	switch {
	case !o.Complete:
		verdict = "INCOMPLETE: it stopped early, what follows is not all"
	case o.AlreadyDone:
		verdict += " (done before with the same inputs; nothing was changed)"
	}
	p.line("%s %s: %s", stage, clean(o.Batch), verdict)
}

// findings shows how many there are, the commonest with an example, the counts by rule, and where the list is.
func (p *page) findings(o *pipeline.Outcome) { p.found("findings", o, !p.brief) }

func (p *page) found(lead string, o *pipeline.Outcome, examples bool) {
	if len(o.ByRule) == 0 {
		p.line("  %s: none", lead)
	} else {
		p.line("  %s: %s, %s, %s", lead, counted(o.Findings.Error, "error"), counted(o.Findings.Warning, "warning"), number(o.Findings.Info)+" info")
	}
	shown := map[pipeline.RuleCount]bool{}
	if examples {
		shown = p.common(o.ByRule)
	}
	for _, severity := range []finding.Severity{finding.Error, finding.Warning, finding.Info} {
		var rules []string
		more := ""
		for _, r := range o.ByRule {
			switch {
			case r.Severity != severity:
			case shown[r]:
				more = "more "
			default:
				rules = append(rules, r.Rule+" "+number(r.Count))
			}
		}
		if word := string(severity); len(rules) > 0 {
			if more != "" {
				word += "s"
			}
			p.wrapped("    "+more+word+": ", rules)
		}
	}
	if o.FindingsFile != "" && len(o.ByRule) > 0 {
		p.line("  each with its place and remedy: %s", clean(o.FindingsFile))
	}
	if len(shown) > 0 {
		p.line("  what a rule means: sheetlift rules RULE, or docs/rules.md")
	}
	if o.Baseline != nil {
		p.line("  %s", against(o.Baseline))
	}
}

// Against says how findings compare with those of an earlier run.
func Against(w io.Writer, b *pipeline.Baseline) error {
	p := newPage(w)
	p.line("%s", against(b))
	return p.err
}

func against(b *pipeline.Baseline) string {
	return fmt.Sprintf("against the baseline: %s new (%s, %s, %s info), %s known",
		number(all(b.New)), counted(b.New.Error, "error"), counted(b.New.Warning, "warning"), number(b.New.Info), number(all(b.Known)))
}

func all(c pipeline.Counts) int { return c.Error + c.Warning + c.Info }

// commonMax is how many rules are shown with an example.
const commonMax = 3

// common shows the rules that are broken most often, errors before warnings, each with where it is first and what to do. It
// returns those it showed.
func (p *page) common(byRule []pipeline.RuleCount) map[pipeline.RuleCount]bool {
	shown := map[pipeline.RuleCount]bool{}
	gravest := slices.Clone(byRule)
	slices.SortStableFunc(gravest, func(a, b pipeline.RuleCount) int { return grade(b.Severity) - grade(a.Severity) })
	var texts []string
	t := table{}
	for _, r := range gravest[:min(commonMax, len(gravest))] {
		rule, ok := finding.ByID(r.Rule)
		if r.Severity == finding.Info || !ok {
			break
		}
		shown[r] = true
		at := ""
		if f := r.First; f != nil {
			at = Place(&finding.Finding{Source: f.Source, File: f.File, Sheet: f.Sheet, Row: f.Row, Line: f.Line, Column: f.Column, Cell: f.Cell})
			if r.Count > 1 {
				at = "first at " + at
			}
		}
		t.add(r.Rule, counted(r.Count, string(r.Severity)), at)
		texts = append(texts, rule.Meaning+" "+rule.Remedy)
	}
	lines := t.lines(0)
	narrow := p.width > 0 && slices.ContainsFunc(lines, func(l string) bool { return len("    ")+len(l) > p.width })
	if narrow { // the place gets a line of its own
		for i := range t.rows {
			texts[i] = t.rows[i][2].(string) + ": " + texts[i]
			t.rows[i] = t.rows[i][:2]
		}
		lines = t.lines(0)
	}
	for i, line := range lines {
		p.line("    %s", line)
		p.prose("      ", texts[i])
	}
	return shown
}

// prose writes sentences, wrapped.
func (p *page) prose(indent, text string) {
	line := ""
	for word := range strings.FieldsSeq(text) {
		if line != "" && len(indent)+len(line)+1+len(word) > p.fit() {
			p.line("%s%s", indent, line)
			line = ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	p.line("%s%s", indent, line)
}

// textWidth is how wide lists and sentences are at most where there is room.
const textWidth = 110

// wrapped writes a list after a lead, with the lines after the first indented below it.
func (p *page) wrapped(lead string, items []string) {
	line := lead
	for i, item := range items {
		if i < len(items)-1 {
			item += ","
		}
		if len(line) > len(lead) && len(line)+len(item) > p.fit() {
			p.line("%s", strings.TrimRight(line, " "))
			line = strings.Repeat(" ", len(lead))
		}
		line += item + " "
	}
	p.line("%s", strings.TrimRight(line, " "))
}

// counted is a number with its word.
func counted[N int | int64](n N, word string) string {
	return number(n) + " " + finding.Word(n, word, word+"s")
}

// number groups thousands, so that a million can be told from ten.
func number[N int | int64](n N) string {
	s := strconv.FormatInt(int64(n), 10)
	sign := ""
	if s[0] == '-' {
		sign, s = "-", s[1:]
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return sign + s
}

// clean makes a name safe to show.
func clean(s string) string {
	if !strings.ContainsFunc(s, hidden) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if hidden(r) {
			b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// hidden reports characters that show as nothing or change what stands around them.
func hidden(r rune) bool {
	return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == '\u2028' || r == '\u2029' || r == unicode.ReplacementChar
}

// short is the beginning of a digest, enough for a person to compare.
func short(digest string) string { return digest[:min(len(digest), 16)] }
