package reports

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/url"
	"path"
	"slices"
	"strings"

	"sheetlift/pipeline"
	"sheetlift/pipeline/finding"
)

// What GitHub takes of a SARIF file: 25,000 results a run (it shows 5,000, the gravest first), 25,000 rules, 1,000 locations a
// result, 20 tags a rule, 20 runs, 10 MB compressed. Results are of a rule and a source, with the first places, so only a batch
// of dozens of sources can come near; the number is held all the same, and what is left out is said.
const sarifResults = 5000

const (
	sarifVersion = "2.1.0"
	// The schema's name in the standard. It is never fetched.
	sarifSchema = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)

type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool        sarifTool         `json:"tool"`
		Automation  sarifID           `json:"automationDetails"`
		Invocations []sarifInvocation `json:"invocations"`
		ColumnKind  string            `json:"columnKind"`
		Results     []sarifResult     `json:"results"`
		Properties  sarifRunBag       `json:"properties"`
	}
	sarifID struct {
		ID string `json:"id"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name    string      `json:"name"`
		Version string      `json:"version,omitempty"`
		Rules   []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID         string       `json:"id"`
		Short      sarifText    `json:"shortDescription"`
		Full       sarifText    `json:"fullDescription"`
		Help       sarifText    `json:"help"`
		Default    sarifDefault `json:"defaultConfiguration"`
		Properties sarifRuleBag `json:"properties"`
	}
	sarifDefault struct {
		Level string `json:"level"`
	}
	sarifRuleBag struct {
		Tags  []string      `json:"tags"`
		Class finding.Class `json:"class"`
		Scope finding.Scope `json:"scope"`
	}
	sarifText struct {
		Text     string `json:"text"`
		Markdown string `json:"markdown,omitempty"`
	}
	sarifInvocation struct {
		Successful    bool                `json:"executionSuccessful"`
		Notifications []sarifNotification `json:"toolExecutionNotifications,omitempty"`
	}
	sarifNotification struct {
		Level   string    `json:"level"`
		Message sarifText `json:"message"`
	}
	sarifResult struct {
		RuleID       string            `json:"ruleId"`
		RuleIndex    int               `json:"ruleIndex"`
		Level        string            `json:"level"`
		Message      sarifText         `json:"message"`
		Locations    []sarifLocation   `json:"locations,omitempty"`
		Fingerprints map[string]string `json:"partialFingerprints"`
		Baseline     string            `json:"baselineState,omitempty"`
		Properties   sarifResultBag    `json:"properties"`
	}
	sarifResultBag struct {
		Source string `json:"source,omitempty"`
		Count  int    `json:"count"`
		New    *int   `json:"new,omitempty"`
		Shown  int    `json:"locationsShown"`
	}
	sarifLocation struct {
		Physical   *sarifPhysical   `json:"physicalLocation,omitempty"`
		Message    sarifText        `json:"message"`
		Properties sarifLocationBag `json:"properties"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   *sarifRegion  `json:"region,omitempty"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	sarifRegion struct {
		StartLine int `json:"startLine"`
	}
	sarifLocationBag struct {
		Sheet   string `json:"sheet,omitempty"`
		Cell    string `json:"cell,omitempty"`
		Column  string `json:"column,omitempty"`
		Row     int    `json:"row,omitempty"`
		LastRow int    `json:"lastRow,omitempty"`
		Rows    int    `json:"rows,omitempty"`
		Field   string `json:"field,omitempty"`
	}
	sarifRunBag struct {
		Complete bool             `json:"complete"`
		Why      string           `json:"incompleteBecause,omitempty"`
		Batch    string           `json:"batch"`
		Stages   []string         `json:"stages"`
		Findings pipeline.Counts  `json:"findings"`
		New      *pipeline.Counts `json:"new,omitempty"`
		Results  int              `json:"resultsLeftOut"`
	}
)

// SARIF writes a check as SARIF 2.1.0: one run, a result for each rule and source that has findings, with its first places. The
// properties of the run say whether it is complete.
func SARIF(w io.Writer, c *Check) error {
	groups := c.Groups()
	left := 0
	if len(groups) > sarifResults {
		left = len(groups) - sarifResults
		groups = groups[:sarifResults]
	}
	run := sarifRun{
		Tool:       sarifTool{sarifDriver{Name: "sheetlift", Version: c.Version, Rules: make([]sarifRule, 0, len(finding.Rules))}},
		Automation: sarifID{"sheetlift/" + clean(c.Batch)}, ColumnKind: "unicodeCodePoints", Results: make([]sarifResult, 0, len(groups)),
		Properties: sarifRunBag{Complete: c.Complete(), Why: clean(c.Why), Batch: clean(c.Batch), Stages: append([]string{}, c.Done...), Results: left,
			Findings: pipeline.Counts{Error: c.Known.Error + c.New.Error, Warning: c.Known.Warning + c.New.Warning, Info: c.Known.Info + c.New.Info}},
	}
	if c.Baseline {
		run.Properties.New = &c.New
	}
	invocation := sarifInvocation{Successful: c.Complete()}
	if c.Why != "" {
		invocation.Notifications = append(invocation.Notifications, sarifNotification{"error", sarifText{Text: strings.TrimSpace(clean(c.Why) + ". " + clean(c.Remedy))}})
	}
	if left > 0 {
		invocation.Notifications = append(invocation.Notifications, sarifNotification{"warning", sarifText{Text: fmt.Sprintf("%s of the least severity not given here; the findings file has all.", finding.Count(left, "result", "results"))}})
	}
	run.Invocations = []sarifInvocation{invocation}
	index := map[string]int{}
	for _, r := range finding.Rules {
		index[r.ID] = len(run.Tool.Driver.Rules)
		run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRule{
			ID: r.ID, Short: sarifText{Text: r.Meaning}, Full: sarifText{Text: fmt.Sprintf("%s A finding of it is about %s. Effect: %s.", r.Meaning, scopeWords[r.Scope], effect(r))},
			Help:       sarifText{Text: r.Remedy + " " + RuleLink(r.ID), Markdown: fmt.Sprintf("%s\n\n[%s](%s), or `sheetlift rules %s`", r.Remedy, r.ID, RuleAnchor(r.ID), r.ID)},
			Default:    sarifDefault{level(r.Severity)},
			Properties: sarifRuleBag{Tags: []string{string(r.Class), string(r.Scope)}, Class: r.Class, Scope: r.Scope},
		})
	}
	for _, g := range groups {
		if i, ok := index[g.Rule]; ok {
			run.Results = append(run.Results, c.sarifResult(g, i))
		}
	}
	return JSON(w, sarifLog{sarifSchema, sarifVersion, []sarifRun{run}})
}

func (c *Check) sarifResult(g *Group, index int) sarifResult {
	places := g.Places()
	text := fmt.Sprintf("%s: %s %s", heading(c, g), meaning(g), g.First[0].Remedy)
	if n := g.shownOf(c) - len(places); n > 0 {
		text += fmt.Sprintf(" Given here: the first %s.", finding.Count(len(places), "place", "places"))
	}
	r := sarifResult{
		RuleID: g.Rule, RuleIndex: index, Level: level(g.Severity), Message: sarifText{Text: clean(text)},
		Fingerprints: map[string]string{"primaryLocationLineHash": fingerprint(g)},
		Properties:   sarifResultBag{Source: g.Source, Count: g.Count, Shown: len(places)},
	}
	if c.Baseline {
		r.Properties.New = &g.New
		r.Baseline = "unchanged"
		if g.New > 0 {
			r.Baseline = "new"
		}
	}
	for i := range places {
		f := &places[i]
		at := sarifLocation{Message: sarifText{Text: Place(f) + ": " + clean(f.Message)},
			Properties: sarifLocationBag{Sheet: clean(f.Sheet), Cell: f.Cell, Column: f.Column, Row: f.Row, LastRow: f.LastRow, Rows: f.Rows, Field: f.Field}}
		if f.File != "" {
			at.Physical = &sarifPhysical{Artifact: sarifArtifact{c.uri(f.File)}}
			if f.Line > 0 {
				at.Physical.Region = &sarifRegion{f.Line}
			}
		}
		r.Locations = append(r.Locations, at)
	}
	return r
}

// uri is a file as a relative reference (RFC 3986), from the folder in which the command runs.
func (c *Check) uri(file string) string {
	// A name from a Windows machine may have backslashes, and batch.yaml may name a file elsewhere.
	parts := strings.Split(path.Join(c.Folder, strings.ReplaceAll(file, `\`, "/")), "/")
	for i, p := range parts {
		parts[i] = url.PathEscape(strings.ToValidUTF8(p, "\uFFFD"))
	}
	if strings.Contains(parts[0], ":") { // would read as a scheme
		parts = slices.Insert(parts, 0, ".")
	}
	return strings.Join(parts, "/")
}

// fingerprint is the identity of a result over runs: its rule, source and severity, whatever the rows.
func fingerprint(g *Group) string {
	sum := sha256.Sum256([]byte(g.Rule + "\x00" + g.Source + "\x00" + string(g.Severity)))
	return hex.EncodeToString(sum[:8]) + ":1"
}

func level(s finding.Severity) string {
	switch s {
	case finding.Error:
		return "error"
	case finding.Warning:
		return "warning"
	}
	return "note"
}
