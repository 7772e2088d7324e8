// Package harbour_test holds a real run of the sample batch against what its generator says must come of it.
package harbour_test

import (
	"encoding/json"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sheetlift/pipeline"
	"sheetlift/pipeline/finding"
	"sheetlift/pipeline/store"
	"sheetlift/pipeline/store/storetest"
)

func TestMain(m *testing.M) { storetest.Main(m) }

// expectation is expected.json, which the generator writes from what it planted.
type expectation struct {
	Sources []struct {
		Source   string         `json:"source"`
		Rows     pipeline.Rows  `json:"rows"`
		Rejected map[string]int `json:"rejected_by"`
		Skipped  map[string]int `json:"skipped_by"`
		Planted  []struct {
			Row     int    `json:"row"`
			Rule    string `json:"rule"`
			Outcome string `json:"outcome"`
		} `json:"planted"`
	} `json:"sources"`
	Entities map[string]pipeline.EntityCount `json:"entities"`
	Cases    pipeline.CaseCount              `json:"cases"`
	Findings map[string]int                  `json:"findings"`
}

func TestTheRunGivesWhatWasPlanted(t *testing.T) {
	var want expectation
	data, err := os.ReadFile("expected.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &want); err != nil {
		t.Fatal(err)
	}
	results, findings := runBatch(t, storetest.SQLite(t))
	dry, ok := results[pipeline.DryRun].(*pipeline.DryRunResult)
	if !ok || !dry.Complete || !dry.Passed {
		t.Fatalf("the dry-run did not pass: %+v", dry)
	}
	if len(dry.Sources) != len(want.Sources) {
		t.Fatalf("%d sources, want %d", len(dry.Sources), len(want.Sources))
	}
	for i, s := range dry.Sources {
		w := want.Sources[i]
		if s.Source != w.Source || s.Rows != w.Rows || !maps.Equal(s.Rejected, w.Rejected) || !maps.Equal(s.Skipped, w.Skipped) {
			t.Errorf("source %s: %+v rejected %v skipped %v\nwant %s: %+v rejected %v skipped %v",
				s.Source, s.Rows, s.Rejected, s.Skipped, w.Source, w.Rows, w.Rejected, w.Skipped)
		}
		if s.Rows.Rejected != s.Tolerance {
			t.Errorf("source %s rejects %d rows and tolerates %d", s.Source, s.Rows.Rejected, s.Tolerance)
		}
	}
	for name, w := range want.Entities {
		g := dry.Entities[name]
		if g.Records != w.Records || g.Receipts != w.Receipts || g.LegacyAssertions != w.LegacyAssertions ||
			!maps.Equal(g.ByConfidence, w.ByConfidence) || !maps.Equal(g.Missing, w.Missing) {
			t.Errorf("%s: %+v, want %+v", name, *g, w)
		}
	}
	if dry.Cases != want.Cases {
		t.Errorf("cases: %+v, want %+v", dry.Cases, want.Cases)
	}

	// Each planted row has its finding, and no other row has one.
	type place struct {
		source string
		row    int
		rule   string
	}
	var planted, found []place
	for _, s := range want.Sources {
		for _, p := range s.Planted {
			planted = append(planted, place{s.Source, p.Row, p.Rule})
		}
	}
	for _, line := range findings {
		var f finding.Finding
		if err := json.Unmarshal([]byte(line), &f); err != nil {
			t.Fatal(err)
		}
		if r, _ := finding.ByID(f.Rule); r.Scope == finding.Row {
			found = append(found, place{f.Source, f.Row, f.Rule})
		}
	}
	for _, p := range planted {
		if i := slices.Index(found, p); i >= 0 {
			found = slices.Delete(found, i, i+1)
		} else {
			t.Errorf("planted and not found: %+v", p)
		}
	}
	for _, p := range found {
		t.Errorf("found and not planted: %+v", p)
	}
	for _, c := range dry.ByRule {
		if strings.HasPrefix(c.Rule, "consent.refusal_") {
			t.Errorf("the sample is warned of %s", c.Rule)
		}
	}
	for rule, n := range want.Findings {
		i := slices.IndexFunc(dry.ByRule, func(c pipeline.RuleCount) bool { return c.Rule == rule })
		if i < 0 || dry.ByRule[i].Count != n {
			t.Errorf("rule %s is not counted %d times in %v", rule, n, dry.ByRule)
		}
	}
}

// No personal value of the sample stands in a stage's result or findings.
func TestNoPersonalValueComesOut(t *testing.T) {
	list, err := exec.Command("go", "run", "./generate", "-personal").Output()
	if err != nil {
		t.Fatal(err)
	}
	personal := strings.Split(strings.TrimSpace(string(list)), "\n")
	if len(personal) < 500 {
		t.Fatalf("only %d personal values to look for", len(personal))
	}
	results, findings := runBatch(t, storetest.SQLite(t))
	text := strings.Join(findings, "\n")
	for stage, r := range results {
		data, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		text += "\n" + stage + " " + string(data)
	}
	for i, v := range personal {
		if strings.Contains(text, v) {
			t.Errorf("personal value number %d of the list comes out", i+1)
		}
	}
}

// TestBothDatabasesGiveTheSame: the same counts and the same stage digests on SQLite and PostgreSQL.
func TestBothDatabasesGiveTheSame(t *testing.T) {
	embedded, _ := runBatch(t, storetest.SQLite(t))
	server, _ := runBatch(t, storetest.Postgres(t))
	for _, stage := range pipeline.Stages {
		a, b := pipeline.Common(embedded[stage]), pipeline.Common(server[stage])
		if a.Digest == "" || a.Digest != b.Digest {
			t.Errorf("%s has digest %s on SQLite, %s on PostgreSQL", stage, a.Digest, b.Digest)
		}
	}
}

// runBatch runs all stages on an empty database, in a folder of its own, and gives the results by stage and all lines of the
// dry-run's findings file.
func runBatch(t *testing.T, url string) (results map[string]any, findings []string) {
	t.Helper()
	home := t.TempDir()
	batch, err := pipeline.LoadBatch("batch.yaml")
	if err != nil {
		t.Fatal(err)
	}
	db, err := store.Open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := db.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	p, err := pipeline.New(pipeline.Options{
		Batch: batch, DB: db, Operator: "test", Home: home, KeyPath: filepath.Join(home, "id_ed25519"),
		Findings: func(path string) (io.WriteCloser, error) {
			return os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		},
		Encode: func(w io.Writer, f finding.Finding) error { return json.NewEncoder(w).Encode(f) },
	})
	if err != nil {
		t.Fatal(err)
	}
	results = map[string]any{}
	for _, stage := range pipeline.Stages {
		if results[stage], err = p.Stage(t.Context(), stage); err != nil {
			t.Fatalf("%s: %v", stage, err)
		}
	}
	data, err := os.ReadFile(results[pipeline.DryRun].(*pipeline.DryRunResult).FindingsFile)
	if err != nil {
		t.Fatal(err)
	}
	return results, strings.Split(strings.TrimSpace(string(data)), "\n")
}
