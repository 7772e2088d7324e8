package reports

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"sheetlift/pipeline/finding"
)

// RuleAnchor is where docs/rules.md explains a rule, relative to the root of the repository.
func RuleAnchor(id string) string { return "docs/rules.md#" + anchor(id) }

// RuleLink says where a rule is explained, in a line for a report.
func RuleLink(id string) string {
	return fmt.Sprintf("The rule is explained in %s and by: sheetlift rules %s", RuleAnchor(id), id)
}

// anchor is the anchor that Markdown viewers make of a heading that is a rule's id.
func anchor(id string) string { return strings.ReplaceAll(id, ".", "") }

// scopeWords say what a finding of a scope is about.
var scopeWords = map[finding.Scope]string{finding.Row: "one row", finding.Column: "a column, sheet or file", finding.Batch: "the batch"}

// Rules lists the rules as a table, by topic.
func Rules(w io.Writer, rules []finding.Rule) error {
	p := newPage(w)
	t := table{head: []string{"rule", "severity", "meaning"}}
	for _, r := range rules {
		t.add(r.ID, string(r.Severity), r.Meaning)
	}
	p.table("", t)
	return p.err
}

// Rule explains one rule.
func Rule(w io.Writer, r finding.Rule) error {
	p := newPage(w)
	p.line("%s: %s", r.ID, r.Meaning)
	p.line("  class     %s, %s", r.Class, retries(r.Class))
	p.line("  severity  %s: %s", r.Severity, effect(r))
	p.line("  about     %s", scopeWords[r.Scope])
	p.line("  example   %s", r.Example)
	p.line("  remedy    %s", r.Remedy)
	return p.err
}

func retries(c finding.Class) string {
	if c.Retries() {
		return "may be tried again"
	}
	return "trying again changes nothing"
}

// effect is what a finding of the rule does to the dry-run.
func effect(r finding.Rule) string {
	switch {
	case r.Severity == finding.Error && r.Scope == finding.Row:
		return "the row is rejected"
	case r.Severity == finding.Error:
		return "the dry-run does not pass"
	case r.Severity == finding.Warning:
		return "doubtful; nothing is rejected"
	}
	return "counted; nothing is wrong"
}

// RulesPage writes docs/rules.md.
func RulesPage(w io.Writer) error {
	p := newPage(w)
	p.line("# Rules")
	p.line("")
	p.line("Every finding names the rule that it is about. This page is made from the program's own table (`go generate ./reports` writes it);")
	p.line("`sheetlift rules` lists the same on a terminal and `sheetlift rules RULE` explains one. Ids are stable.")
	p.line("")
	p.line("An **error** about a row rejects the row; an error about a column, sheet, file or the batch fails the dry-run. A **warning** is doubtful,")
	p.line("an **info** is counted and changes nothing. The class is one of the fourteen of the error taxonomy. Examples are made up.")
	topic := ""
	rules := slices.Clone(finding.Rules)
	slices.SortFunc(rules, func(a, b finding.Rule) int { return cmp.Compare(a.ID, b.ID) })
	for _, r := range rules {
		if t, _, _ := strings.Cut(r.ID, "."); t != topic {
			topic = t
			p.line("")
			p.line("## %s", topic)
		}
		p.line("")
		p.line("### %s", r.ID)
		p.line("")
		p.line("%s", r.Meaning)
		p.line("")
		p.line("| class | severity | about | example | remedy |")
		p.line("|---|---|---|---|---|")
		p.line("| %s | %s: %s | %s | %s | %s |", r.Class, r.Severity, effect(r), scopeWords[r.Scope], cell(r.Example), cell(r.Remedy))
	}
	return p.err
}

// cell escapes what would end a cell of a Markdown table.
func cell(s string) string { return strings.ReplaceAll(s, "|", `\|`) }
