package review

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"sheetlift/pipeline"
	"sheetlift/pipeline/finding"
	"sheetlift/reports"
)

const hostile = `=HYPERLINK("http://evil.example","x")<script>alert('1')</script>"&{{.}}` + "\x1b[2J\u202e"

// sample has a number of its own in every place, so that a test can look for each, and a hostile text wherever a text can stand.
func sample() *pipeline.ReviewResult {
	n := 1000
	next := func() int { n += 7; return n }
	sum := strings.Repeat("ab", 32)
	entity := func() *pipeline.EntityCount {
		return &pipeline.EntityCount{Records: next(), Receipts: next(), LegacyAssertions: next(),
			ByConfidence: map[string]int{"strong": next(), "partial": next(), "weak": next(), "none": next()},
			Missing:      map[string]int{"subject": next(), "purpose": next(), "notice": next(), "actor": next(), "proof": next(), "time": next(), "status": next()}}
	}
	month := func(name string) pipeline.MonthCount {
		return pipeline.MonthCount{Month: name, Given: next(), Refused: next(), Withdrawn: next(), Expired: next()}
	}
	earlier, later := month(""), month("")
	rule := func(stage string, severity finding.Severity) pipeline.ReviewRule {
		return pipeline.ReviewRule{Stage: stage, RuleCount: pipeline.RuleCount{Rule: "enum.unmapped", Class: finding.Validation, Severity: severity, Count: next()},
			Meaning: "Meaning.", Remedy: "Remedy.", Places: []pipeline.FindingsPlace{{Source: "s", Place: hostile + ", B7", Message: hostile}, {Place: hostile + ", B8", Message: hostile}}}
	}
	return &pipeline.ReviewResult{
		Schema: pipeline.ReviewSchema, Batch: "b" + hostile, Snapshot: "initial", Tenant: hostile, AsOf: "2026-10-01",
		Stages: []pipeline.StageStatus{{Stage: "dryrun", State: "succeeded", Operator: hostile, Finished: "2026-10-02T09:00:00Z", Why: hostile}},
		Files: []pipeline.ReviewFile{{File: hostile, SHA256: sum, Size: int64(next()), Type: hostile, ObtainedAt: "2026-10-01T09:00:00Z", Conversion: &pipeline.Conversion{Tool: hostile, Version: hostile},
			Sheets: []pipeline.ReviewSheet{{Sheet: hostile, Source: hostile, Visibility: "hidden", Rows: next(), Cells: next(), Columns: next(), Hidden: next(), Merged: next(), Formulas: next(), Errors: next(), Duplicates: next()}}}},
		Sources: []pipeline.ReviewSource{{Source: hostile, File: hostile, Sheet: hostile, System: hostile, Owner: hostile, Definition: hostile, ObtainedAt: "2026-10-01T09:00:00Z", Entities: []string{"consent"},
			Rows: pipeline.Rows{Read: next(), Accepted: next(), Rejected: next(), Skipped: next()}, Rejected: map[string]int{"enum.unmapped": next()}, Skipped: map[string]int{"row.known": next()},
			Tolerance: next(), Reason: hostile, By: hostile}},
		Judged: &pipeline.ReviewJudged{
			Complete: true, Passed: true, Rows: pipeline.Rows{Read: next(), Accepted: next(), Rejected: next(), Skipped: next()},
			Entities: map[string]*pipeline.EntityCount{"consent": entity(), "suppression": entity(), "case": entity(), "purpose": entity()},
			Cases:    pipeline.CaseCount{Open: next(), Overdue: next(), DueSoon: next()},
			Evidence: []pipeline.EvidenceCount{{Source: "a", Purpose: hostile, EntityCount: *entity()}, {Source: "a", Purpose: "", EntityCount: *entity()}, {Source: hostile, Purpose: "news", EntityCount: *entity()}},
			Timeline: pipeline.Timeline{Months: []pipeline.MonthCount{month("2023-11"), month("2024-01"), month("2025-06")}, Earlier: &earlier, Later: &later, Undated: next(),
				Stamps: []pipeline.Stamp{{Source: hostile, At: "2024-01-05 02:00:00 UTC", Records: next(), Of: next(), AtLeast: true}}},
			CaseList: []pipeline.ReviewCase{{Source: hostile, Place: hostile, Type: "access", Received: "2026-08-01", Due: "2026-09-01", State: "overdue"}}, CaseLeft: next(),
			Kinds: []pipeline.CaseKind{{Source: hostile, Type: "access", Open: next(), Overdue: next(), DueSoon: next(), Fulfilled: next(), Refused: next(), Withdrawn: next()}},
			Gaps: pipeline.GapTable{Sources: []pipeline.GapSource{{Source: hostile, Consents: next()}}, Fields: []pipeline.GapField{
				{Section: "header", Field: "record_id", Required: true, DPV: "dct:identifier, dpv:hasIdentifier", Where: "the register", State: pipeline.GapAssigned, Held: []pipeline.GapCount{{Held: next()}}},
				{Section: "processing", Field: "purpose", Required: true, DPV: "dpv:hasPurpose", Where: "consent.purpose", State: pipeline.GapPartly, Held: []pipeline.GapCount{{Held: next(), Stated: next()}}},
				{Section: "processing", Field: "service", DPV: "dpv:hasService", Where: "nothing", State: pipeline.GapNoPlace, Held: []pipeline.GapCount{{}}}}},
		},
		Rules:   []pipeline.ReviewRule{rule("inventory", finding.Warning), rule("dryrun", finding.Error)},
		Hazards: []pipeline.ReviewHazard{{Rule: "sheet.hidden", Severity: finding.Warning, Source: hostile, Place: hostile, Rows: 3, Message: hostile, Remedy: hostile}}, HazardsLeft: next(),
		Columns: []pipeline.ReviewColumn{{File: hostile, Sheet: hostile, Column: "A", Name: hostile, Kinds: map[string]int{"number:date": next(), "text:general": next()}, Blank: next(), Count: next(), AtLeast: true,
			Fields: []string{"status"}, Doubts: []string{hostile}}}, ColumnsLeft: next(),
		Decisions: []pipeline.Decision{{Source: hostile, Record: "consent", What: "purpose", How: hostile, By: hostile, At: "2026-09-28", Kind: "stated"}, {Source: hostile, What: "header", How: hostile, Kind: "rule", Draft: true}},
		Digests:   []pipeline.ReviewDigest{{What: "file", Of: hostile, SHA256: sum}},
	}
}

func render(t *testing.T, r *pipeline.ReviewResult) string {
	t.Helper()
	var b bytes.Buffer
	if err := HTML(&b, r); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// states are reviews at several points of a batch's life.
func states() map[string]*pipeline.ReviewResult {
	early := sample()
	early.Judged, early.Rules, early.Hazards = nil, nil, nil
	failed := sample()
	failed.Judged.Passed = false
	failed.Judged.StillGiven = 1
	incomplete := sample()
	incomplete.Judged.Complete = false
	none := sample()
	none.Judged.Evidence, none.Judged.Timeline, none.Judged.Gaps.Sources, none.Judged.Kinds, none.Judged.CaseList = nil, pipeline.Timeline{}, nil, nil, nil
	for i := range none.Judged.Gaps.Fields {
		none.Judged.Gaps.Fields[i].Held = nil
	}
	none.Judged.Rows, none.Judged.Entities = pipeline.Rows{}, map[string]*pipeline.EntityCount{}
	return map[string]*pipeline.ReviewResult{"all": sample(), "early": early, "failed": failed, "incomplete": incomplete, "no consents": none, "nothing": {Schema: pipeline.ReviewSchema}}
}

// The page is well-formed even as XML, so nothing in it closes what it did not open.
func TestPageIsWellFormed(t *testing.T) {
	for name, r := range states() {
		page := render(t, r)
		d := xml.NewDecoder(strings.NewReader(page))
		for {
			_, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		if strings.Contains(page, "ZgotmplZ") || strings.Contains(page, "<no value>") {
			t.Errorf("%s: the template refused a value", name)
		}
		if page != render(t, r) {
			t.Errorf("%s: two pages of one review differ", name)
		}
	}
}

func attr(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

func all(n *html.Node, f func(*html.Node)) {
	f(n)
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		all(c, f)
	}
}

func content(n *html.Node) string {
	var b strings.Builder
	all(n, func(n *html.Node) {
		if n.Type == html.TextNode {
			b.WriteString(n.Data)
		}
	})
	return b.String()
}

// A reader without eyes, mouse or scripts finds everything; a browser asks nobody for anything.
func TestPageCanBeUsed(t *testing.T) {
	for name, r := range states() {
		doc, err := html.Parse(strings.NewReader(render(t, r)))
		if err != nil {
			t.Fatal(err)
		}
		ids, refs, level, landmarks := map[string]bool{}, []string{}, 0, map[string]int{}
		all(doc, func(n *html.Node) {
			if n.Type != html.ElementNode {
				return
			}
			if id := attr(n, "id"); id != "" {
				if ids[id] {
					t.Errorf("%s: id %s stands there twice", name, id)
				}
				ids[id] = true
			}
			refs = append(refs, strings.Fields(attr(n, "aria-labelledby"))...)
			for _, a := range n.Attr {
				if strings.HasPrefix(a.Key, "on") || a.Key == "src" || a.Key == "srcset" || a.Key == "style" {
					t.Errorf("%s: <%s %s=%q>", name, n.Data, a.Key, a.Val)
				}
			}
			switch n.Data {
			case "script", "link", "img", "iframe", "object", "embed", "form", "base":
				t.Errorf("%s: the page has a <%s>", name, n.Data)
			case "a":
				href, ok := strings.CutPrefix(attr(n, "href"), "#")
				if !ok {
					t.Errorf("%s: a link leaves the page: %s", name, attr(n, "href"))
				}
				refs = append(refs, href)
			case "h1", "h2", "h3":
				now := int(n.Data[1] - '0')
				if now > level+1 {
					t.Errorf("%s: %s follows h%d", name, n.Data, level)
				}
				level = now
			case "main", "nav", "header", "footer":
				landmarks[n.Data]++
			case "table":
				captions, heads := 0, 0
				all(n, func(c *html.Node) {
					switch {
					case c.Data == "caption" && strings.TrimSpace(content(c)) != "":
						captions++
					case c.Data == "th":
						if heads++; attr(c, "scope") == "" {
							t.Errorf("%s: a head cell without a scope: %s", name, content(c))
						}
					}
				})
				if captions != 1 || heads == 0 {
					t.Errorf("%s: a table has %d captions and %d head cells", name, captions, heads)
				}
			case "svg":
				if attr(n, "aria-hidden") != "true" && (attr(n, "role") != "img" || attr(n, "aria-labelledby") == "") {
					t.Errorf("%s: a picture without words", name)
				}
			}
		})
		for _, id := range refs {
			if !ids[id] {
				t.Errorf("%s: nothing has the id %s", name, id)
			}
		}
		for _, l := range []string{"main", "nav", "header", "footer"} {
			if landmarks[l] != 1 {
				t.Errorf("%s: %d <%s>", name, landmarks[l], l)
			}
		}
	}
	if strings.Contains(styles, "url(") || strings.Contains(styles, "@import") {
		t.Error("the styles ask for something")
	}
}

// wanted are the numbers of a sample that both forms must show.
func wanted(r *pipeline.ReviewResult) []int {
	var list []int
	add := func(n ...int) { list = append(list, n...) }
	for _, f := range r.Files {
		add(int(f.Size))
		for _, s := range f.Sheets {
			add(s.Rows, s.Cells, s.Columns, s.Hidden, s.Merged, s.Formulas, s.Errors, s.Duplicates)
		}
	}
	for _, s := range r.Sources {
		add(s.Rows.Read, s.Rows.Accepted, s.Rows.Rejected, s.Rows.Skipped, s.Tolerance, s.Rejected["enum.unmapped"], s.Skipped["row.known"])
	}
	j := r.Judged
	add(j.Rows.Read, j.Rows.Accepted, j.Rows.Rejected, j.Rows.Skipped, j.Cases.Open, j.Cases.Overdue, j.Cases.DueSoon, j.Timeline.Undated, j.CaseLeft)
	add(j.Entities["consent"].Receipts, j.Entities["consent"].LegacyAssertions, j.Entities["suppression"].Records, j.Entities["case"].Records, j.Entities["purpose"].Records)
	for _, e := range j.Evidence {
		add(e.Records, e.Receipts, e.LegacyAssertions)
		for _, n := range e.Missing {
			add(n)
		}
		for _, n := range e.ByConfidence {
			add(n)
		}
	}
	for _, m := range append(j.Timeline.Months, *j.Timeline.Earlier, *j.Timeline.Later) {
		add(m.Given, m.Refused, m.Withdrawn, m.Expired, m.All())
	}
	for _, s := range j.Timeline.Stamps {
		add(s.Records, s.Of)
	}
	for _, k := range j.Kinds {
		add(k.Open, k.Overdue, k.DueSoon, k.Fulfilled, k.Refused, k.Withdrawn)
	}
	add(j.Gaps.Sources[0].Consents)
	for _, f := range j.Gaps.Fields[:2] {
		add(f.Held[0].Held)
		if f.Held[0].Stated > 0 {
			add(f.Held[0].Stated)
		}
	}
	for _, x := range r.Rules {
		add(x.Count)
	}
	for _, c := range r.Columns {
		add(c.Blank, c.Count)
		for _, n := range c.Kinds {
			add(n)
		}
	}
	add(r.HazardsLeft, r.ColumnsLeft)
	return list
}

func TestEveryNumberIsShown(t *testing.T) {
	r := sample()
	doc, err := html.Parse(strings.NewReader(render(t, r)))
	if err != nil {
		t.Fatal(err)
	}
	text := content(doc)
	list := wanted(r)
	if len(list) < 100 {
		t.Fatalf("only %d numbers are looked for", len(list))
	}
	for _, n := range list {
		if !strings.Contains(text, reports.Number(n)) {
			t.Errorf("the page does not show %d", n)
		}
	}
}

func TestHostileTextStaysText(t *testing.T) {
	page := render(t, sample())
	for _, s := range []string{"<script", "\x1b", "\u202e", "{{"} {
		if i := strings.Index(page, s); i >= 0 && !strings.HasPrefix(page[i:], "{{.}}") {
			t.Errorf("the page holds %q: %s", s, page[max(0, i-40):i+20])
		}
	}
	if !strings.Contains(page, "&lt;script&gt;") {
		t.Error("the hostile text is not there at all")
	}
}

// The page is bounded whatever the batch.
func TestPageStaysSmall(t *testing.T) {
	r := sample()
	long := func(n int) string { return strings.Repeat("word ", n) }
	for len(r.Columns) < 2000 {
		c := r.Columns[0]
		c.Name, c.File, c.Sheet, c.Doubts = long(24), "exports/"+long(10), long(6), nil
		r.Columns = append(r.Columns, c)
	}
	for len(r.Hazards) < 500 {
		h := r.Hazards[0]
		h.Message, h.Remedy = long(40), long(20)
		r.Hazards = append(r.Hazards, h)
	}
	for len(r.Rules) < 300 {
		x := r.Rules[0]
		x.Count = len(r.Rules)
		r.Rules = append(r.Rules, x)
	}
	for i := range 20 {
		for k := range 52 {
			e := r.Judged.Evidence[0]
			e.Source, e.Purpose = fmt.Sprintf("source %d", i), fmt.Sprintf("purpose %d", k)
			r.Judged.Evidence = append(r.Judged.Evidence, e)
		}
	}
	if n := len(render(t, r)); n > 5<<20 {
		t.Errorf("the page has %d bytes", n)
	}
}

var variable = regexp.MustCompile(`--([a-z-]+): (#[0-9a-f]{6})`)

// Text stands out from what is behind it by 4.5 to 1, pictures by 3 to 1 (WCAG 2.2, 1.4.3 and 1.4.11), in the light, in the dark and
// on paper.
func TestColoursStandOut(t *testing.T) {
	blocks := strings.Split(styles, ":root {")[1:]
	if len(blocks) != 3 {
		t.Fatalf("%d sets of colours", len(blocks))
	}
	for i, block := range blocks {
		block, _, _ = strings.Cut(block, "}")
		v := map[string]string{}
		for _, m := range variable.FindAllStringSubmatch(block, -1) {
			v[m[1]] = m[2]
		}
		check := func(a, b string, least float64) {
			t.Helper()
			if v[a] == "" || v[b] == "" {
				t.Fatalf("set %d has no colour %s or %s", i, a, b)
			}
			if c := contrast(v[a], v[b]); c < least {
				t.Errorf("set %d: %s on %s is %.2f to 1, not %.1f", i, a, b, c, least)
			}
		}
		for _, text := range []string{"ink", "quiet", "link", "bad", "good"} {
			check(text, "bg", 4.5)
			check(text, "panel", 4.5)
		}
		for _, chip := range []string{"good", "bad", "warn", "info"} {
			check(chip, chip+"-bg", 4.5)
		}
		check("ink", "soft", 4.5)
		check("quiet", "soft", 4.5)
		for _, mark := range []string{"accepted", "rejected", "skipped", "read", "receipts", "assertions", "suppressions", "cases", "configs", "focus"} {
			check(mark, "panel", 3)
		}
	}
}

func contrast(a, b string) float64 {
	x, y := luminance(a), luminance(b)
	return (math.Max(x, y) + 0.05) / (math.Min(x, y) + 0.05)
}

func luminance(colour string) float64 {
	var l float64
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		n, err := strconv.ParseUint(colour[1+2*i:3+2*i], 16, 8)
		if err != nil {
			return math.NaN()
		}
		c := float64(n) / 255
		if c <= 0.04045 {
			c /= 12.92
		} else {
			c = math.Pow((c+0.055)/1.055, 2.4)
		}
		l += weight * c
	}
	return l
}

func TestGapsOfTheTimelineAreNamed(t *testing.T) {
	var names []string
	for _, m := range months(&sample().Judged.Timeline) {
		names = append(names, m.Name)
	}
	want := []string{"earlier", "2023-11", "2023-12", "2024-01", "2024-02 to 2025-05", "2025-06", "after the export"}
	if !slices.Equal(names, want) {
		t.Errorf("months %q, want %q", names, want)
	}
}

func TestStepsOfAScale(t *testing.T) {
	for most, want := range map[int]int{1: 1, 5: 1, 7: 2, 12: 5, 30: 10, 99: 20, 101: 20, 119: 20, 120: 50, 123_456: 50_000} {
		if got := niceStep(most); got != want {
			t.Errorf("a scale up to %d has steps of %d, want %d", most, got, want)
		}
	}
}

// A consent that stays given against a rejected row is said at the top, whatever else the verdict says.
func TestVerdictNamesWhatStaysGiven(t *testing.T) {
	r := sample()
	if strings.Contains(render(t, r), "is given though a rejected row") {
		t.Error("said without a reason")
	}
	r.Judged.StillGiven = 1
	if v := judge(r); v.Class != "bad" || !strings.Contains(v.Sentence, "1 consent in the register is given though a rejected row speaks against it") {
		t.Errorf("%+v", v)
	}
	if v := judge(r); strings.Contains(v.Sentence, pipeline.RegisterChanged) {
		t.Errorf("said without a reason: %+v", v)
	}
	r.Judged.RegisterChanged = true
	if v := judge(r); v.Class != "bad" || !strings.Contains(v.Sentence, pipeline.RegisterChanged) || !strings.Contains(render(t, r), "other batches changed the register since") {
		t.Errorf("%+v", v)
	}
	r.Judged.RegisterChanged = false
	r.Judged.StillGiven, r.Judged.StillGivenElsewhere, r.Judged.StillGivenBatches = 0, 3, []string{"spring", "summer"}
	want := "3 consents of this batch are given in the register though rejected rows of other batches speak against them: spring, summer (trace of a consent names the rows)."
	if v := judge(r); v.Class != "bad" || !strings.Contains(v.Sentence, want) || !strings.Contains(render(t, r), want) {
		t.Errorf("%+v", v)
	}
}

// Names of files have no blanks, so the page says where they may be parted; otherwise one long name makes its table wider than the page.
func TestLongNamesArePartedOnThePage(t *testing.T) {
	r := sample()
	r.Files[0].File = "exports/quarterly_register.csv"
	if got := render(t, r); !strings.Contains(got, ">exports/<wbr/>quarterly_<wbr/>register<wbr/>.csv<") {
		t.Error("the name is in one piece")
	}
	if got := string(name(`a/<b>&"c.d`)); got != "a/<wbr/>&lt;b&gt;&amp;&#34;c<wbr/>.d" {
		t.Error(got)
	}
}

// The page does not say that nothing is in the register while an import or an undo has put or left something there.
func TestRuleTheVerdictKnowsWhatIsUnfinished(t *testing.T) {
	for _, c := range []struct{ state, why, word, not string }{
		{"not started", "", "Passed, not imported", ""},
		{"interrupted", "3 of 9 records are in the register", "Import not finished", "Nothing is in the register"},
		{"running", "", "Import not finished", "Nothing is in the register"},
		{"stale", "an undo has begun: sheetlift undo", "Undo not finished", "Nothing is in the register"},
		{"stale", "the import was undone", "Passed, not imported", ""},
	} {
		r := &pipeline.ReviewResult{Judged: &pipeline.ReviewJudged{Complete: true, Passed: true, Rows: pipeline.Rows{Read: 9, Accepted: 9}},
			Stages: []pipeline.StageStatus{{Stage: pipeline.Import, State: c.state, Why: c.why}}}
		if v := judge(r); v.Word != c.word || c.not != "" && strings.Contains(v.Sentence, c.not) || !strings.Contains(v.Sentence, c.why) {
			t.Errorf("%s %s: %+v", c.state, c.why, v)
		}
	}
}
