// Package review renders a pipeline.ReviewResult for the person who has to answer for a batch: as one web page, and as a workbook
// with the same parts.
//
// The page is self-contained: no script, no font, no image, no address that a browser would ask. A policy in its head forbids what it
// does not need. It reads without colour (every picture has a table with the same numbers), without a mouse, at the width of a phone,
// in the dark and on paper. The workbook holds text and numbers only, so that nothing in it is ever calculated.
//
// Both promise the same bytes for the same review, and refuse nothing. Neither adds a value of a row: they show what the review
// holds, with control characters escaped. Lists that are cut say so.
package review

import (
	"cmp"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"

	"sheetlift/importers"
	"sheetlift/pipeline"
	"sheetlift/pipeline/finding"
	"sheetlift/reports"
)

//go:embed page.html
var pageSource string

//go:embed page.css
var styles string

// page is parsed when it is first wanted, not whenever the program starts.
var page = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("page").Funcs(template.FuncMap{
		"clean": reports.Clean,
		"name":  name,
		"num":   func(n int) string { return reports.Number(n) },
		"count": func(n int, one string) string { return reports.Number(n) + " " + finding.Word(n, one, one+"s") },
		"big":   func(n int64) string { return reports.Number(n) },
		"pct":   percent,
		"bar":   bar,
		"join":  func(list []string) string { return reports.Clean(strings.Join(list, ", ")) },
		"kinds": kinds,
		"state": stateWord,
		"when":  when,
		"looks": looks,
		"terms": func(list string) []string { return strings.Split(list, ", ") },
		"scroll": func(id string) template.HTMLAttr {
			return template.HTMLAttr(`class="scroll" role="region" tabindex="0" aria-labelledby="cap-` + id + `"`)
		},
	}).Parse(pageSource))
})

// HTML writes the page.
func HTML(w io.Writer, r *pipeline.ReviewResult) error {
	return page().Execute(w, newView(r))
}

// view is a review with what is worked out for showing.
type view struct {
	*pipeline.ReviewResult
	Style     template.CSS
	Verdict   verdict
	Figures   []figure
	Questions []question
	Evidence  []sourceEvidence
	Flow      []flowRow
	FlowWide, FlowNarrow,
	TimeWide, TimeNarrow template.HTML
	Months       []monthRow
	Gaps         []gapSection // required fields
	GapsOptional []gapSection
	GapSums      []gapSum
	GapOf        []int // consents by source
	GapColumns   int
	Broken       []brokenRule // errors first
	ToKnow       []brokenRule // those that ask for nothing
	Dangers      []danger     // hazards, drawn together
	Decided      []sourceDecisions
	Answers      []pipeline.Decision // those that somebody answers for, or should
	Severity     map[string]int
}

type verdict struct {
	Word, Sentence, Class string
}

type figure struct {
	Name, Value, Note string
}

func newView(r *pipeline.ReviewResult) *view {
	v := &view{ReviewResult: r, Style: template.CSS(styles), Verdict: judge(r), Severity: map[string]int{}}
	for _, rule := range r.Rules {
		v.Severity[string(rule.Severity)] += rule.Count
	}
	for _, b := range broken(r) {
		if b.Severity == finding.Info {
			v.ToKnow = append(v.ToKnow, b)
		} else {
			v.Broken = append(v.Broken, b)
		}
	}
	v.Dangers = dangers(r.Hazards)
	v.Decided = bySource(r)
	for _, d := range r.Decisions {
		if d.Draft || d.Kind == "stated" || d.Kind == "inferred" || d.Kind == "tolerance" {
			v.Answers = append(v.Answers, d)
		}
	}
	if r.Judged == nil {
		return v
	}
	v.Figures = figures(r)
	v.Flow = flowRows(r.Judged)
	v.FlowWide, v.FlowNarrow = flowPicture(r.Judged, wide), flowPicture(r.Judged, narrow)
	v.Questions = questions(r.Judged)
	v.Evidence = evidence(r)
	v.Months = months(&r.Judged.Timeline)
	v.TimeWide, v.TimeNarrow = timePicture(&r.Judged.Timeline, wide), timePicture(&r.Judged.Timeline, narrow)
	v.Gaps, v.GapsOptional, v.GapSums = gapSections(&r.Judged.Gaps)
	for _, s := range r.Judged.Gaps.Sources {
		v.GapOf = append(v.GapOf, s.Consents)
	}
	v.GapColumns = 5 + len(v.GapOf)
	return v
}

// stage is the state of one stage.
func stage(r *pipeline.ReviewResult, name string) pipeline.StageStatus {
	for _, s := range r.Stages {
		if s.Stage == name {
			return s
		}
	}
	return pipeline.StageStatus{State: "not started"}
}

// judge says in a word and a sentence how the batch stands.
func judge(r *pipeline.ReviewResult) verdict {
	j := r.Judged
	if j == nil {
		return verdict{"Not judged yet", "No dry-run has looked at the rows, so this page shows what came in and nothing more.", "open"}
	}
	rows := fmt.Sprintf("%s of %s %s rejected", reports.Number(j.Rows.Rejected), reports.Number(j.Rows.Read), finding.Word(j.Rows.Read, "row is", "rows are"))
	v := judgeRows(r, j, rows)
	if j.StillGiven > 0 && j.Complete {
		v.Sentence += " " + reports.StillGiven(j.StillGiven)
		if slices.ContainsFunc(r.Rules, func(x pipeline.ReviewRule) bool { return x.Rule == "consent.still_given" }) {
			v.Sentence += ": see consent.still_given."
		} else { // a later dry-run than the one that is shown found them
			v.Sentence += ": the findings of the last dry-run name the rows (consent.still_given)."
		}
		v.Class = "bad"
	}
	if text := reports.NotBack(j.NotBack); text != "" && j.Complete {
		v.Sentence += " " + text + "."
		if v.Class == "good" {
			v.Class = "open"
		}
	}
	if j.RegisterChanged && j.Complete {
		v.Sentence += " But " + pipeline.RegisterChanged + "."
		if v.Class == "good" {
			v.Class = "open"
		}
	}
	if j.StillGivenElsewhere > 0 && j.Complete {
		v.Sentence += " " + reports.StillGivenElsewhere(j.StillGivenElsewhere, j.StillGivenBatches) + "."
		v.Class = "bad"
	}
	return v
}

func judgeRows(r *pipeline.ReviewResult, j *pipeline.ReviewJudged, rows string) verdict {
	stale := ""
	for _, s := range r.Stages {
		if s.State == "stale" && stale == "" {
			stale = fmt.Sprintf(" But %s is out of date: %s.", s.Stage, s.Why)
		}
	}
	switch {
	case !j.Complete:
		return verdict{"Incomplete", "The dry-run stopped early; what follows is not all.", "bad"}
	case !j.Passed:
		return verdict{"Did not pass", rows + ". The findings below say which rules the dry-run stops at." + stale, "bad"}
	case j.Imported && stage(r, pipeline.Reconcile).State == "succeeded" && stale == "":
		return verdict{"Imported and reconciled", rows + ", within the stated tolerances. What was frozen, what was staged and what the register holds agree.", "good"}
	case j.Imported:
		return verdict{"Imported", rows + ", within the stated tolerances. It is not reconciled yet." + stale, "good"}
	}
	switch imp := stage(r, pipeline.Import); {
	case imp.State == "stale" && strings.Contains(imp.Why, "undo has begun"):
		return verdict{"Undo not finished", rows + ", within the stated tolerances. A part of it is in the register still." + stale, "open"}
	case imp.State == "running", imp.State == "interrupted", imp.State == "failed":
		return verdict{"Import not finished", rows + ", within the stated tolerances. Its import is " + imp.State + strings.TrimSuffix(": "+imp.Why, ": ") + "." + stale, "open"}
	}
	return verdict{"Passed, not imported", rows + ", within the stated tolerances. Nothing is in the register yet." + stale, "good"}
}

func figures(r *pipeline.ReviewResult) []figure {
	j := r.Judged
	c := j.Entities["consent"]
	if c == nil {
		c = &pipeline.EntityCount{}
	}
	return []figure{
		{"rows read", reports.Number(j.Rows.Read), "from " + finding.Count(len(r.Sources), "source", "sources")},
		{"accepted", reports.Number(j.Rows.Accepted), percent(j.Rows.Accepted, j.Rows.Read)},
		{"rejected", reports.Number(j.Rows.Rejected), percent(j.Rows.Rejected, j.Rows.Read)},
		{"skipped", reports.Number(j.Rows.Skipped), percent(j.Rows.Skipped, j.Rows.Read)},
		{"receipts", reports.Number(c.Receipts), "of " + reports.Number(c.Records) + " " + finding.Word(c.Records, "consent", "consents")},
		{"legacy assertions", reports.Number(c.LegacyAssertions), "consents that lack evidence"},
		{"open cases", reports.Number(j.Cases.Open), fmt.Sprintf("%s overdue, %s due soon as of %s", reports.Number(j.Cases.Overdue), reports.Number(j.Cases.DueSoon), r.AsOf)},
	}
}

type question struct {
	Name, Asks       string
	Answered, Missed int
	Of               int
}

// questions sums over sources and purposes which answers are missing.
func questions(j *pipeline.ReviewJudged) []question {
	missing, of := map[string]int{}, 0
	for _, e := range j.Evidence {
		of += e.Records
		for k, n := range e.Missing {
			missing[k] += n
		}
	}
	var list []question
	for _, q := range importers.Questions {
		list = append(list, question{q.Name, q.Asks, of - missing[q.Name], missing[q.Name], of})
	}
	return append(list, question{importers.StatusMissing, "Does the row itself say what was decided?", of - missing[importers.StatusMissing], missing[importers.StatusMissing], of})
}

// questionNames are the columns of the evidence table.
func questionNames() (names []string) {
	for _, q := range importers.Questions {
		names = append(names, q.Name)
	}
	return append(names, importers.StatusMissing)
}

type sourceEvidence struct {
	Source string
	Rows   []evidenceRow
}

type evidenceRow struct {
	Purpose                       string
	Total                         bool
	Records, Receipts, Assertions int
	Confidence                    [4]int // strong, partial, weak, none
	Missing                       []int
}

func evidence(r *pipeline.ReviewResult) []sourceEvidence {
	names := questionNames()
	row := func(purpose string, e *pipeline.EntityCount) evidenceRow {
		x := evidenceRow{Purpose: purpose, Records: e.Records, Receipts: e.Receipts, Assertions: e.LegacyAssertions}
		for i, c := range []importers.Confidence{importers.Strong, importers.Partial, importers.Weak, importers.NoConfidence} {
			x.Confidence[i] = e.ByConfidence[string(c)]
		}
		for _, n := range names {
			x.Missing = append(x.Missing, e.Missing[n])
		}
		return x
	}
	var list []sourceEvidence
	for i := range r.Judged.Evidence {
		e := &r.Judged.Evidence[i]
		if len(list) == 0 || list[len(list)-1].Source != e.Source {
			list = append(list, sourceEvidence{Source: e.Source})
		}
		s := &list[len(list)-1]
		purpose := e.Purpose
		if purpose == "" {
			purpose = "(none named)"
		}
		s.Rows = append(s.Rows, row(purpose, &e.EntityCount))
	}
	for i := range list {
		s := &list[i]
		sum := evidenceRow{Purpose: "all", Total: true, Missing: make([]int, len(names))}
		for _, x := range s.Rows {
			sum.Records += x.Records
			sum.Receipts += x.Receipts
			sum.Assertions += x.Assertions
			for k := range x.Confidence {
				sum.Confidence[k] += x.Confidence[k]
			}
			for k := range x.Missing {
				sum.Missing[k] += x.Missing[k]
			}
		}
		s.Rows = append(s.Rows, sum)
	}
	return list
}

type gapSection struct {
	Name   string
	Fields []pipeline.GapField
}

type gapSum struct {
	State    pipeline.GapState
	Required int
	Optional int
}

var sectionNames = map[string]string{
	"header": "About the record", "processing": "About the processing", "pii": "About the personal data", "party": "About the parties", "event": "About the event",
}

func gapSections(t *pipeline.GapTable) (required, optional []gapSection, sums []gapSum) {
	at := map[pipeline.GapState]int{}
	for i, s := range []pipeline.GapState{pipeline.GapHeld, pipeline.GapAssigned, pipeline.GapStated, pipeline.GapPartly, pipeline.GapMissing, pipeline.GapNoPlace} {
		at[s] = i
		sums = append(sums, gapSum{State: s})
	}
	for _, f := range t.Fields {
		list := &optional
		if f.Required {
			list = &required
			sums[at[f.State]].Required++
		} else {
			sums[at[f.State]].Optional++
		}
		if name := sectionNames[f.Section]; len(*list) == 0 || (*list)[len(*list)-1].Name != name {
			*list = append(*list, gapSection{Name: name})
		}
		of := &(*list)[len(*list)-1]
		of.Fields = append(of.Fields, f)
	}
	return required, optional, sums
}

// stateWord gives the state of a field as people read it.
func stateWord(s pipeline.GapState) string {
	switch s {
	case pipeline.GapAssigned:
		return "by the register"
	case pipeline.GapStated:
		return "partly by statement"
	case pipeline.GapNoPlace:
		return "no place yet"
	}
	return string(s)
}

type sourceDecisions struct {
	Source    string
	Decisions []pipeline.Decision
	Stated    int
	Draft     int
}

func bySource(r *pipeline.ReviewResult) (list []sourceDecisions) {
	for _, d := range r.Decisions {
		if len(list) == 0 || list[len(list)-1].Source != d.Source {
			list = append(list, sourceDecisions{Source: d.Source})
		}
		s := &list[len(list)-1]
		s.Decisions = append(s.Decisions, d)
		if d.Kind == "stated" || d.Kind == "inferred" {
			s.Stated++
		}
		if d.Draft {
			s.Draft++
		}
	}
	return list
}

// brokenRule is a rule as the page lists it.
type brokenRule struct {
	pipeline.ReviewRule
	Stages string // those that found the same
	At     []pipeline.FindingsPlace
}

// broken lists the rules, errors first, then the commonest. What map and dry-run both say of a column is listed once.
func broken(r *pipeline.ReviewResult) []brokenRule {
	rank := map[finding.Severity]int{finding.Error: 0, finding.Warning: 1, finding.Info: 2}
	var list []brokenRule
	for _, rule := range r.Rules {
		same := slices.IndexFunc(list, func(b brokenRule) bool {
			a, c := b.RuleCount, rule.RuleCount
			a.First, c.First = nil, nil // it is the first of the places
			return a == c && slices.Equal(b.Places, rule.Places)
		})
		if same >= 0 {
			list[same].Stages += ", " + rule.Stage
			continue
		}
		list = append(list, brokenRule{rule, rule.Stage, joinPlaces(&rule)})
	}
	slices.SortStableFunc(list, func(a, b brokenRule) int {
		return cmp.Or(cmp.Compare(rank[a.Severity], rank[b.Severity]), cmp.Compare(b.Count, a.Count))
	})
	return list
}

// joinPlaces draws together places that differ in their last part only, and leaves out messages that say what the rule means.
func joinPlaces(rule *pipeline.ReviewRule) (list []pipeline.FindingsPlace) {
	where := ""
	for _, p := range rule.Places {
		if p.Message == rule.Meaning {
			p.Message = ""
		}
		p.Place = cmp.Or(p.Place, p.Source)
		sheet, cell := p.Place, ""
		if i := strings.LastIndex(p.Place, ", "); i >= 0 {
			sheet, cell = p.Place[:i], p.Place[i+2:]
		}
		if n := len(list) - 1; n >= 0 && cell != "" && sheet == where && list[n].Message == p.Message {
			if !strings.HasSuffix(list[n].Place, ", "+cell) {
				list[n].Place += ", " + cell
			}
			continue
		}
		where = sheet
		list = append(list, p)
	}
	return list
}

// name lets a name be parted where a browser would not: paths and names of files have no blanks.
func name(s string) template.HTML {
	return template.HTML(nameParts.Replace(template.HTMLEscapeString(reports.Clean(s))))
}

var nameParts = strings.NewReplacer("/", "/<wbr/>", "_", "_<wbr/>", ".", "<wbr/>.")

// percent words a share; a part never reads as nothing, and never as all.
func percent(n, of int) string {
	switch {
	case of == 0:
		return "–"
	case n == 0:
		return "0 %"
	case n == of:
		return "100 %"
	case n*1000 < of*5:
		return "< 0.5 %"
	case n*1000 > of*995:
		return "> 99.5 %"
	}
	return fmt.Sprintf("%.0f %%", float64(n)*100/float64(of))
}

// bar is a share as a small bar. It says nothing that does not stand beside it as a number.
func bar(n, of int, class string) template.HTML {
	part := 0.0
	if of > 0 {
		part = float64(n) * 100 / float64(of)
		if n > 0 {
			part = max(part, 1)
		}
	}
	return template.HTML(fmt.Sprintf(`<svg class="bar" viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true" focusable="false">`+
		`<rect class="track" width="100" height="6"/><rect class="%s" width="%.2f" height="6"/></svg>`, class, part))
}

// kinds lists the kinds of a column's cells, the commonest first.
func kinds(m map[string]int) string {
	names := slices.SortedFunc(maps.Keys(m), func(a, b string) int {
		if m[a] != m[b] {
			return m[b] - m[a]
		}
		return strings.Compare(a, b)
	})
	var out []string
	for _, k := range names {
		kind, class, _ := strings.Cut(k, ":")
		if class != "" && class != "general" {
			kind += " (" + class + ")"
		}
		out = append(out, reports.Number(m[k])+" "+kind)
	}
	return reports.Clean(strings.Join(out, ", "))
}
