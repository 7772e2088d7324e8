package reports

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"net/url"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"sheetlift/pipeline/finding"
)

func sarifSchemaOf(t *testing.T) *jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	s, err := c.Compile(filepath.Join("testdata", "schema", "sarif-schema-2.1.0.json"))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func readSARIF(t *testing.T, c *Check) (doc any, log sarifLog) {
	t.Helper()
	var b bytes.Buffer
	if err := SARIF(&b, c); err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(b.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b.Bytes(), &log); err != nil {
		t.Fatal(err)
	}
	return doc, log
}

func TestSARIFIsValid(t *testing.T) {
	schema := sarifSchemaOf(t)
	for name, c := range checks() {
		doc, _ := readSARIF(t, c)
		if err := schema.Validate(doc); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	doc, _ := readSARIF(t, checks()["mixed"])
	doc.(map[string]any)["runs"].([]any)[0].(map[string]any)["results"].([]any)[0].(map[string]any)["level"] = "grave"
	if schema.Validate(doc) == nil {
		t.Error("the schema accepts a level that there is none")
	}
}

func TestSARIFTellsAll(t *testing.T) {
	_, log := readSARIF(t, checks()["mixed"])
	run := log.Runs[0]
	if !run.Properties.Complete || !run.Invocations[0].Successful || run.Properties.Findings.Error != 26 {
		t.Errorf("%+v %+v", run.Properties, run.Invocations)
	}
	if len(run.Results) != 5 || run.Results[0].Level != "error" || run.Results[4].Level != "note" {
		t.Fatalf("%d results", len(run.Results))
	}
	first := run.Results[0]
	if first.RuleID != "enum.unmapped" || run.Tool.Driver.Rules[first.RuleIndex].ID != "enum.unmapped" || first.Properties.Count != 25 || len(first.Locations) != firstPlaces {
		t.Errorf("%+v", first)
	}
	at := first.Locations[0]
	if at.Physical.Artifact.URI != "data/exports/consents.csv" || at.Physical.Region == nil || at.Physical.Region.StartLine != 2 || at.Properties.Row != 2 {
		t.Errorf("%+v", at)
	}
	for _, r := range run.Results {
		if r.RuleID == "sheet.hidden" && (r.Locations[0].Properties.Sheet != "old" || r.Locations[0].Physical.Region != nil) {
			t.Errorf("%+v", r.Locations[0])
		}
		if r.Fingerprints["primaryLocationLineHash"] == "" {
			t.Errorf("%s has no fingerprint", r.RuleID)
		}
	}
	for _, r := range run.Tool.Driver.Rules {
		if !strings.Contains(r.Help.Markdown, RuleAnchor(r.ID)) || !strings.Contains(r.Help.Text, "sheetlift rules "+r.ID) {
			t.Errorf("%s does not lead to its page", r.ID)
		}
	}
	_, log = readSARIF(t, checks()["fault"])
	if run = log.Runs[0]; run.Properties.Complete || run.Invocations[0].Successful || len(run.Invocations[0].Notifications) != 1 {
		t.Errorf("a failed run reads %+v %+v", run.Properties, run.Invocations)
	}
	_, log = readSARIF(t, checks()["baseline"])
	for _, r := range log.Runs[0].Results {
		want := "unchanged"
		if r.RuleID == "enum.unmapped" {
			want = "new"
		}
		if r.Baseline != want {
			t.Errorf("%s is %s", r.RuleID, r.Baseline)
		}
	}
}

// A result is recognised in the next run whatever the rows.
func TestSARIFFingerprintSurvivesShifts(t *testing.T) {
	_, a := readSARIF(t, checked(found("enum.unmapped", "consents", 2)))
	_, b := readSARIF(t, checked(found("enum.unmapped", "consents", 7), found("enum.unmapped", "consents", 8)))
	_, c := readSARIF(t, checked(found("enum.unmapped", "lists", 2)))
	of := func(l sarifLog) string { return l.Runs[0].Results[0].Fingerprints["primaryLocationLineHash"] }
	if of(a) != of(b) || of(a) == of(c) {
		t.Error(of(a), of(b), of(c))
	}
}

func TestSARIFURIs(t *testing.T) {
	for _, test := range []struct{ folder, file, want string }{
		{"", "a b.csv", "a%20b.csv"},
		{".", "exports/a.csv", "exports/a.csv"},
		{"x/y", "exports/50 %#?.csv", "x/y/exports/50%20%25%23%3F.csv"},
		{"", "c:d.csv", "./c:d.csv"},
		{"..", "../up.csv", "../../up.csv"},
		{"", `exports\a.csv`, "exports/a.csv"},
		{"", "Zoë.csv", "Zo%C3%AB.csv"},
	} {
		c := &Check{Folder: test.folder}
		got := c.uri(test.file)
		if u, err := url.Parse(got); got != test.want || err != nil || u.Scheme != "" {
			t.Errorf("%s in %s is %s (%v), want %s", test.file, test.folder, got, err, test.want)
		}
	}
}

// A hundred thousand findings, and then as many rules by sources as no batch has: within what GitHub takes, in bounded memory, and
// at a fraction of the time that judging a million rows takes.
func TestManyFindings(t *testing.T) {
	const many = 100_000
	var file bytes.Buffer
	for i := range many {
		rule := finding.Rules[i%7]
		f := found(rule.ID, fmt.Sprintf("source-%d", i%5), i+2, func(f *finding.Finding) {
			f.Column, f.Cell, f.Field, f.SubjectToken = "F", fmt.Sprintf("F%d", i+2), "consent.status", fmt.Sprintf("%032x", i)
		})
		if err := Finding(&file, f); err != nil {
			t.Fatal(err)
		}
	}
	start := cpu(t)
	c := checked()
	for i := range 5 {
		c.Sources = append(c.Sources, fmt.Sprintf("source-%d", i))
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	if err := ReadFindings(&file, func(f finding.Finding) error { c.Add(f, true); return nil }); err != nil {
		t.Fatal(err)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	var junit, sarif bytes.Buffer
	if err := JUnit(&junit, c); err != nil {
		t.Fatal(err)
	}
	if err := SARIF(&sarif, c); err != nil {
		t.Fatal(err)
	}
	took := cpu(t) - start
	if n := c.New.Error + c.New.Warning + c.New.Info; n != many {
		t.Errorf("%d findings counted", n)
	}
	// Judging a million rows takes fifteen seconds of processor time and more, wherever this runs.
	if limit := time.Duration(slow) * time.Second; took > limit {
		t.Errorf("reports of %d findings took %v", many, took)
	}
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 4<<20 {
		t.Errorf("the tally holds %d bytes", grown)
	}
	t.Logf("%v, JUnit %d bytes, SARIF %d bytes", took, junit.Len(), sarif.Len())
	within(t, sarif.Bytes())

	c = checked()
	for s := range 200 {
		for _, r := range finding.Rules {
			for range 12 {
				c.Add(found(r.ID, fmt.Sprintf("source-%d", s), 2), true)
			}
		}
	}
	sarif.Reset()
	if err := SARIF(&sarif, c); err != nil {
		t.Fatal(err)
	}
	within(t, sarif.Bytes())
	var log sarifLog
	if err := json.Unmarshal(sarif.Bytes(), &log); err != nil {
		t.Fatal(err)
	}
	run := log.Runs[0]
	if len(run.Results) != sarifResults || run.Properties.Results != 200*len(finding.Rules)-sarifResults || run.Results[0].Level != "error" || len(run.Invocations[0].Notifications) != 1 {
		t.Errorf("%d results, %d said to be left out", len(run.Results), run.Properties.Results)
	}
}

// cpu is the processor time of this process: other work on the machine does not lengthen it.
func cpu(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// within holds a SARIF file to GitHub's limits.
func within(t *testing.T, data []byte) {
	t.Helper()
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	z.Write(data)
	z.Close()
	if packed.Len() > 10<<20 {
		t.Errorf("%d bytes compressed", packed.Len())
	}
	var log sarifLog
	if err := json.Unmarshal(data, &log); err != nil {
		t.Fatal(err)
	}
	if len(log.Runs) > 20 {
		t.Errorf("%d runs", len(log.Runs))
	}
	for _, run := range log.Runs {
		if len(run.Results) > 25_000 || len(run.Tool.Driver.Rules) > 25_000 {
			t.Errorf("%d results, %d rules", len(run.Results), len(run.Tool.Driver.Rules))
		}
		for _, r := range run.Tool.Driver.Rules {
			if len(r.Properties.Tags) > 20 {
				t.Errorf("%s has %d tags", r.ID, len(r.Properties.Tags))
			}
		}
		for _, r := range run.Results {
			if len(r.Locations) > 1000 {
				t.Errorf("%s has %d locations", r.RuleID, len(r.Locations))
			}
		}
	}
}
