package reports

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"sheetlift/pipeline"
	"sheetlift/pipeline/finding"
)

// found makes a finding of a rule at a row.
func found(rule, source string, row int, edit ...func(*finding.Finding)) finding.Finding {
	f := finding.New(rule)
	f.Source, f.File, f.Row = source, "exports/"+source+".csv", row
	if row > 0 {
		f.Line = row
	}
	for _, e := range edit {
		e(&f)
	}
	return f
}

// checked is a dry-run of two sources in which these were found.
func checked(findings ...finding.Finding) *Check {
	c := &Check{Batch: "small", Sources: []string{"consents", "lists"}, Asked: []string{pipeline.DryRun}, Done: []string{pipeline.DryRun},
		FailOn: "error", Folder: "data", Version: "v1"}
	for _, f := range findings {
		c.Add(f, true)
	}
	return c
}

// hostile has names that XML, URIs and terminals trip over.
func hostile(f *finding.Finding) {
	f.File = "exports/50 % <\"&'>\x00\x0b\ufffe\U0001F600\u202e#1?.csv"
	f.Sheet = "a\x1b[2J]]>\xff"
	f.Message = "cell \x01 <holds> & \"more\"\tthan\none line\ufffe"
}

// checks are the states of a check that a report must be able to tell.
func checks() map[string]*Check {
	rows := make([]finding.Finding, 0, 25)
	for i := range 25 {
		rows = append(rows, found("enum.unmapped", "consents", i+2))
	}
	mixed := append(rows, found("row.short", "consents", 3), found("consent.no_answer", "lists", 4),
		found("source.over_tolerance", "consents", 0), found("sheet.hidden", "", 0, func(f *finding.Finding) { f.Sheet = "old" }))
	fault := checked()
	fault.Asked, fault.Done = []string{pipeline.Inventory, pipeline.Freeze, pipeline.Map, pipeline.DryRun}, []string{pipeline.Inventory}
	fault.Fault, fault.Why, fault.Remedy = true, "exports/consents.csv: the file ends \x00 early", "export it again"
	bare := &Check{Asked: []string{pipeline.DryRun}, FailOn: "error", Fault: true, Why: "batch.yaml: can't be read", Remedy: "give its path"}
	warn := checked(found("row.short", "consents", 3))
	warn.FailOn = "warning"
	never := checked(rows...)
	never.FailOn = "never"
	baseline := checked()
	baseline.Baseline = true
	for i, f := range mixed {
		baseline.Add(f, i == 7)
	}
	stopped := checked(mixed...)
	stopped.Asked, stopped.Why = append([]string{}, pipeline.Stages...), "dryrun did not pass"
	all := checked()
	for _, r := range finding.Rules {
		all.Add(found(r.ID, "consents", 9), true)
	}
	return map[string]*Check{
		"clean": checked(), "mixed": checked(mixed...), "hostile": checked(found("enum.unmapped", "consents", 2, hostile)),
		"fault": fault, "bare": bare, "warn": warn, "never": never, "baseline": baseline, "stopped": stopped, "all": all,
	}
}

func TestReadFindings(t *testing.T) {
	var file bytes.Buffer
	want := []finding.Finding{found("enum.unmapped", "a", 1, hostile), found("row.short", "b", 2), found("consent.no_answer", "c", 3)}
	want[1].Message = strings.Repeat("long ", 40000) // longer than the reader's buffer
	for _, f := range want {
		if err := Finding(&file, f); err != nil {
			t.Fatal(err)
		}
	}
	whole := file.String()
	var got []finding.Finding
	if err := ReadFindings(&file, func(f finding.Finding) error { got = append(got, f); return nil }); err != nil {
		t.Fatal(err)
	}
	want[0].Sheet = strings.ToValidUTF8(want[0].Sheet, "\ufffd") // as JSON has it
	if len(got) != 3 || got[0] != want[0] || got[1] != want[1] || got[2] != want[2] {
		t.Errorf("got %d findings", len(got))
	}
	for name, text := range map[string]string{
		"cut off": whole[:len(whole)-1], "cut in a line": whole[:len(whole)-20], "no JSON": "{\n", "an array": "[]\n", "another object": "{}\n", "a value of a person": `{"rule":"a@b.example","severity":1}` + "\n",
		"no severity": `{"rule":"enum.unmapped"}` + "\n", "two on a line": strings.Replace(whole, "\n", "", 1), "a blank line": "\n" + whole,
		"without end": strings.Repeat("x", 3<<20),
	} {
		err := ReadFindings(strings.NewReader(text), func(finding.Finding) error { return nil })
		if err == nil || !strings.Contains(err.Error(), "line ") || strings.Contains(err.Error(), "example") {
			t.Errorf("%s: %v", name, err)
		}
	}
	full := fmt.Errorf("full")
	if err := ReadFindings(strings.NewReader(whole), func(finding.Finding) error { return full }); err != full {
		t.Errorf("the caller's error is not handed on: %v", err)
	}
}

// What fails: errors, warnings if asked for, and what keeps the stage from passing whatever is asked for.
func TestFails(t *testing.T) {
	for _, test := range []struct {
		rule, failOn    string
		baseline, isNew bool
		want            bool
	}{
		{"enum.unmapped", "error", false, true, true},
		{"enum.unmapped", "warning", false, true, true},
		{"enum.unmapped", "never", false, true, false},
		{"row.short", "error", false, true, false},
		{"row.short", "warning", false, true, true},
		{"consent.no_answer", "warning", false, true, false},
		{"source.over_tolerance", "never", false, true, true},
		{"enum.unmapped", "error", true, false, false},
		{"enum.unmapped", "error", true, true, true},
		{"source.over_tolerance", "never", true, false, false},
		{"source.over_tolerance", "never", true, true, true},
	} {
		c := &Check{FailOn: test.failOn, Baseline: test.baseline}
		c.Add(found(test.rule, "consents", 1), test.isNew)
		if got := c.Failed(); got != test.want {
			t.Errorf("%+v: %v", test, got)
		}
	}
}
