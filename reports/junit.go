package reports

import (
	"encoding/xml"
	"fmt"
	"io"
	"slices"
	"strings"

	"sheetlift/pipeline"
	"sheetlift/pipeline/finding"
)

// The form is junit-10.xsd of Jenkins' xunit plugin, which Jenkins and GitLab read alike. No time is said: results hold no clock.
type (
	junitSuites struct {
		XMLName  xml.Name     `xml:"testsuites"`
		Name     string       `xml:"name,attr"`
		Tests    int          `xml:"tests,attr"`
		Failures int          `xml:"failures,attr"`
		Errors   int          `xml:"errors,attr"`
		Suites   []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name       string      `xml:"name,attr"`
		Tests      int         `xml:"tests,attr"`
		Failures   int         `xml:"failures,attr"`
		Errors     int         `xml:"errors,attr"`
		Skipped    int         `xml:"skipped,attr"`
		Properties *junitBag   `xml:"properties"`
		Cases      []junitCase `xml:"testcase"`
	}
	junitBag struct {
		Properties []junitProperty `xml:"property"`
	}
	junitProperty struct {
		Name  string `xml:"name,attr"`
		Value string `xml:"value,attr"`
	}
	junitCase struct {
		Name    string     `xml:"name,attr"`
		Class   string     `xml:"classname,attr"`
		Skipped *junitNote `xml:"skipped"`
		Error   *junitNote `xml:"error"`
		Failure *junitNote `xml:"failure"`
		Out     string     `xml:"system-out,omitempty"`
	}
	junitNote struct {
		Type    string `xml:"type,attr,omitempty"`
		Message string `xml:"message,attr,omitempty"`
		Text    string `xml:",chardata"`
	}
)

// JUnit writes a check as JUnit XML: a suite a source with one test case for each rule, and a suite with one for each stage. A
// case fails if it makes the check fail; what does not is in its output. A rule that no stage judged by is skipped. A stage that
// could not do its work is an error.
func JUnit(w io.Writer, c *Check) error {
	all := junitSuites{Name: xmlText(c.Batch), Suites: []junitSuite{stageSuite(c)}}
	bySource := map[string]map[string][]*Group{}
	for _, g := range c.Groups() {
		if bySource[g.Source] == nil {
			bySource[g.Source] = map[string][]*Group{}
		}
		bySource[g.Source][g.Rule] = append(bySource[g.Source][g.Rule], g)
	}
	for _, source := range c.Sources {
		all.Suites = append(all.Suites, ruleSuite(c, source, bySource[source]))
	}
	// What belongs to no source, such as a hidden sheet that none reads: only the rules that were broken.
	rest := junitSuite{Name: "no source"}
	for _, rule := range finding.Rules {
		if groups := bySource[""][rule.ID]; len(groups) > 0 {
			rest.add(ruleCase(c, rule, "", groups))
		}
	}
	if len(rest.Cases) > 0 {
		all.Suites = append(all.Suites, rest)
	}
	for _, s := range all.Suites {
		all.Tests += s.Tests
		all.Failures += s.Failures
		all.Errors += s.Errors
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", " ")
	if err := e.Encode(all); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

func (s *junitSuite) add(c junitCase) {
	s.Tests++
	switch {
	case c.Error != nil:
		s.Errors++
	case c.Failure != nil:
		s.Failures++
	case c.Skipped != nil:
		s.Skipped++
	}
	s.Cases = append(s.Cases, c)
}

// stageSuite tells how far it came. It says "complete", so that a report of a part is never taken for the whole.
func stageSuite(c *Check) junitSuite {
	s := junitSuite{Name: "stages", Properties: &junitBag{[]junitProperty{{"complete", fmt.Sprint(c.Complete())}, {"sheetlift", xmlText(c.Version)}}}}
	told := false
	for _, stage := range c.Asked {
		test := junitCase{Name: stage, Class: "stages"}
		switch {
		case slices.Contains(c.Done, stage):
		case c.Fault && !told:
			told = true
			test.Error = &junitNote{Type: "incomplete", Message: xmlText(c.Why), Text: xmlText(c.Why) + "\n" + xmlText(c.Remedy)}
		default:
			test.Skipped = &junitNote{Message: xmlText(c.Why)}
		}
		s.add(test)
	}
	if c.Fault && !told { // all stages are done, and something else went wrong
		s.add(junitCase{Name: "report", Class: "stages",
			Error: &junitNote{Type: "incomplete", Message: xmlText(c.Why), Text: xmlText(c.Why) + "\n" + xmlText(c.Remedy)}})
	}
	return s
}

func ruleSuite(c *Check, source string, groups map[string][]*Group) junitSuite {
	s := junitSuite{Name: xmlText(source)}
	for _, rule := range finding.Rules {
		s.add(ruleCase(c, rule, source, groups[rule.ID]))
	}
	return s
}

func ruleCase(c *Check, rule finding.Rule, source string, groups []*Group) junitCase {
	class := source
	if class == "" {
		class = "no source"
	}
	test := junitCase{Name: rule.ID, Class: xmlText(class)}
	var failing, others []*Group
	for _, g := range groups {
		if c.Fails(g) {
			failing = append(failing, g)
		} else {
			others = append(others, g)
		}
	}
	if len(failing) > 0 {
		text := groupText(c, failing)
		first, _, _ := strings.Cut(text, "\n")
		test.Failure = &junitNote{Type: string(failing[0].Class), Message: first, Text: text}
	}
	if len(others) > 0 {
		test.Out = groupText(c, others)
	}
	if len(groups) == 0 && !slices.ContainsFunc(c.Done, func(stage string) bool { return pipeline.Judges(stage, rule) }) {
		test.Skipped = &junitNote{Message: "no stage that ran judges by this rule"}
	}
	return test
}

// groupText says of groups of one rule how much there is, what it means, where the first are, and what to do.
func groupText(c *Check, groups []*Group) string {
	var b strings.Builder
	for _, g := range groups {
		fmt.Fprintf(&b, "%s: %s\n", heading(c, g), xmlText(meaning(g)))
		places := g.Places()
		for i := range places {
			fmt.Fprintf(&b, "  %s: %s\n", xmlText(Place(&places[i])), xmlText(places[i].Message))
		}
		if n := g.shownOf(c) - len(places); n > 0 {
			fmt.Fprintf(&b, "  and %s more\n", number(n))
		}
	}
	fmt.Fprintf(&b, "%s\n%s\n", xmlText(groups[0].First[0].Remedy), RuleLink(groups[0].Rule))
	return b.String()
}

// shownOf is how many findings the places of a group stand for.
func (g *Group) shownOf(c *Check) int {
	if c.Baseline && g.New > 0 {
		return g.New
	}
	return g.Count
}

// heading counts: "12 errors", with a baseline "3 new errors (12 in all)".
func heading(c *Check, g *Group) string {
	word := string(g.Severity)
	all := counted(g.Count, word)
	if g.Severity == finding.Info {
		all = number(g.Count) + " info"
	}
	switch {
	case !c.Baseline:
		return all
	case g.New == 0:
		return all + ", none new"
	case g.Severity == finding.Info:
		return fmt.Sprintf("%s new info (%s in all)", number(g.New), number(g.Count))
	}
	return fmt.Sprintf("%s (%s in all)", counted(g.New, "new "+word), number(g.Count))
}

func meaning(g *Group) string {
	if rule, ok := finding.ByID(g.Rule); ok {
		return rule.Meaning
	}
	return g.First[0].Message
}

// xmlText leaves out what XML 1.0 (section 2.2) has no room for, and shows what would move a viewer's cursor escaped.
func xmlText(s string) string {
	return clean(strings.Map(func(r rune) rune {
		if r == '\t' || r == '\n' || r == '\r' {
			return ' '
		}
		if r < 0x20 || r == 0xFFFE || r == 0xFFFF || r >= 0xD800 && r <= 0xDFFF {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "")))
}
