package reports

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sheetlift/pipeline"
	"sheetlift/pipeline/finding"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func outcome(passed bool) pipeline.Outcome {
	return pipeline.Outcome{
		Batch: "small", Snapshot: "initial", Complete: true, Passed: passed,
		Findings: pipeline.Counts{Error: 1, Warning: 1234, Info: 2},
		ByRule: []pipeline.RuleCount{
			{Rule: "row.duplicate", Class: finding.Validation, Severity: finding.Warning, Count: 1234},
			{Rule: "consent.no_answer", Class: finding.Validation, Severity: finding.Info, Count: 2},
			{Rule: "enum.unmapped", Class: finding.Validation, Severity: finding.Error, Count: 1},
		},
		FindingsFile: "work/findings.ndjson", Digest: strings.Repeat("ab", 32),
	}
}

func results() map[string]any {
	long := strings.Repeat("0123456789abcdef", 4)
	incomplete := outcome(true)
	incomplete.Complete = false
	again := outcome(true)
	again.AlreadyDone = true
	again.ByRule, again.FindingsFile = nil, ""
	return map[string]any{
		"inventory": &pipeline.InventoryResult{Outcome: outcome(true), Files: []pipeline.InventoryFile{
			{File: "a.xlsx", Type: "Excel workbook (xlsx), 2 sheets", Sheets: []pipeline.InventorySheet{
				{Sheet: "顧客一覧", Source: "customers", Visibility: "visible", HeaderRow: 3, Rows: 1_000_000, Cells: 12_000_000, Columns: make([]pipeline.InventoryColumn, 12), Keys: []string{"A", "C"}, Duplicates: 1, NoCache: 2, Formulas: 3},
				{Sheet: "evil\x1b[2Jname\u202e", Visibility: "veryHidden", Rows: 1, Cells: 1},
			}},
		}},
		"freeze": &pipeline.FreezeResult{Outcome: again, Manifest: long, Bytes: 1, Bag: "vault/small/initial", SignedBy: "ssh-ed25519 AAAA",
			Files: []pipeline.FrozenFile{{File: "a.csv", SHA256: long, Size: 1, ObtainedAt: "2026-10-01T09:00:00+02:00"}}},
		"map": &pipeline.MapResult{Outcome: outcome(false), Sources: []pipeline.MappedSource{
			{Source: "consents", Rows: 5, Columns: 3, Entities: []string{"consent", "suppression", "consent"}, Unmapped: []string{"Name", "Int."}}}},
		"dryrun": &pipeline.DryRunResult{Outcome: outcome(false), Rows: pipeline.Rows{Read: 1300, Accepted: 1200, Rejected: 60, Skipped: 40},
			Sources: []pipeline.DryRunSource{
				{Source: "consents", Rows: pipeline.Rows{Read: 1000, Accepted: 900, Rejected: 60, Skipped: 40}, Tolerance: 5, Rejected: map[string]int{"b": 1, "a": 1, "c": 58}, Skipped: map[string]int{"row.repeat": 40}},
				{Source: "lists", Rows: pipeline.Rows{Read: 300, Accepted: 300}},
			},
			Entities: map[string]*pipeline.EntityCount{
				"consent":     {Records: 1200, Receipts: 1, LegacyAssertions: 1199, ByConfidence: map[string]int{"none": 3, "strong": 1197}, Missing: map[string]int{"time": 2, "notice": 1199}},
				"suppression": {Records: 7},
			},
			Cases: pipeline.CaseCount{AsOf: "2026-10-01", Open: 3, Overdue: 1}, Anew: &pipeline.AnewRows{Rows: 1200, Accepted: 1}},
		"import": &pipeline.ImportResult{Outcome: again, DryRun: long, Entities: []pipeline.ImportedCount{{Entity: "consent", Table: "receipts", Records: 1}, {Entity: "consent", Table: "legacy_assertions", Records: 1199}}, Vouched: 12},
		"reconcile": &pipeline.ReconcileResult{Outcome: outcome(false),
			Sources:  []pipeline.ReconciledSource{{Source: "consents", Frozen: pipeline.Tally{Count: 5}, Staged: pipeline.Tally{Count: 5}, Register: pipeline.Tally{Count: 4}}},
			Entities: []pipeline.ReconciledEntity{{Source: "consents", Entity: "consent", Staged: pipeline.Tally{Count: 5}, Register: pipeline.Tally{Count: 5}, Agree: true}},
			Sample:   []pipeline.SamplePair{{Source: "consents", Entity: "consent", Place: "a.csv, row 2", Record: "id", Agree: true}}},
		"incomplete": &pipeline.ImportResult{Outcome: incomplete, DryRun: long},
		"undo": &pipeline.UndoResult{Outcome: outcome(true), Snapshots: []string{"delta-1"}, Retracted: 3, Kept: 2, Released: 1, Entities: []pipeline.Retracted{{Entity: "consent", Retracted: 3, PassedOn: 2, Released: 1}},
			PassedOn:       []pipeline.PassedOn{{Batch: "other", Records: 1}, {Batch: "third", Records: 1}},
			KnownElsewhere: []pipeline.KnownElsewhere{{Batch: "other", Rows: 1, Next: "sheetlift dryrun"}, {Batch: "third", Rows: 1200, Next: "sheetlift dryrun"}},
			JudgeAgain:     []pipeline.JudgeAgain{{Batch: "other", StillGiven: 1, Next: "sheetlift dryrun"}, {Batch: "fourth", Next: "sheetlift dryrun"}}},
		"status": &pipeline.StatusResult{Batch: "small", StillGiven: 2, NotBack: []pipeline.NotBack{{Snapshot: "initial", Source: "contacts", File: "contacts.csv", Rows: 1, First: []int{4}}, {Snapshot: "mended-1", Source: "people", File: "p.xlsx", Sheet: "Old", Rows: 12, First: []int{2, 3, 4, 5, 6, 7, 8, 9, 10, 1200}}},
			NotBrought: &pipeline.NotBrought{Known: 12, Why: "batch other was undone", Next: "sheetlift dryrun"},
			Retracted:  []pipeline.RetractedSnapshot{{Snapshot: "delta-1", Next: "sheetlift freeze --snapshot delta --source crm=/v/delta-1/data/crm.csv --obtained-at 2026-11-01T00:00:00Z"}}, Cases: pipeline.CaseCount{AsOf: "2026-11-02", Open: 1, DueSoon: 1}, Stages: []pipeline.StageStatus{
				{Stage: "inventory", State: "succeeded", Operator: "Ida", Finished: "2026-10-01T09:00:00Z", Digest: long}, {Stage: "freeze", State: "stale", Why: "batch.yaml changed"}}},
		"trace": &pipeline.TraceResult{Entity: "consent", Records: []pipeline.TraceRecord{{ID: "id", System: "crm", Class: "receipt", Version: 1, State: "given", StateCause: "receipt",
			Opposed: []pipeline.OpposedBy{{Snapshot: "delta-1", Place: pipeline.Place{Source: "consents", File: "a.csv", Row: 9, Line: 10, Column: "F", Cell: "F9"}},
				{Batch: "other", Snapshot: "initial", SHA256: long, Place: pipeline.Place{Source: "list", Sheet: "People", Row: 7}}},
			Values: map[string]string{"status": "given", "email": "(contact, 16 characters)", "missing": ""},
			Places: []pipeline.TracePlace{{Batch: "small", Snapshot: "initial", Source: "consents", File: "a.csv", SHA256: long, Row: 3, Line: 4, Mapping: long, Staged: long, Cells: map[string]string{"status": "F3", "email": "C3"}},
				{Batch: "other", Snapshot: "initial", Source: "list", SHA256: long, Sheet: "People", Row: 9, Mapping: long, Staged: long, Known: true}}}}},
		"verify": &pipeline.VerifyResult{Batch: "small", Checks: []pipeline.VerifyCheck{{What: "frozen bag", OK: true, Detail: "4 files"}, {What: "staged file", Detail: "changed"}}},
	}
}

func TestText(t *testing.T) {
	for name, r := range results() {
		for form, write := range map[string]func(*bytes.Buffer) error{
			"":       func(b *bytes.Buffer) error { return Text(b, r) },
			".brief": func(b *bytes.Buffer) error { return Brief(b, r) },
		} {
			t.Run(name+form, func(t *testing.T) {
				var got bytes.Buffer
				if err := write(&got); err != nil {
					t.Fatal(err)
				}
				for line := range strings.SplitSeq(got.String(), "\n") {
					if strings.TrimRight(line, " ") != line {
						t.Errorf("blanks at the end of %q", line)
					}
				}
				path := filepath.Join("testdata", name+form+".txt")
				if *update {
					if err := os.WriteFile(path, got.Bytes(), 0o644); err != nil {
						t.Fatal(err)
					}
				}
				want, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				if got.String() != string(want) {
					t.Errorf("got:\n%s\nwant:\n%s", got.String(), want)
				}
			})
		}
	}
	if err := Text(&bytes.Buffer{}, 1); err == nil {
		t.Error("a number has a text form")
	}
}

func TestNoNameMovesTheTerminal(t *testing.T) {
	var got bytes.Buffer
	if err := Text(&got, results()["inventory"]); err != nil {
		t.Fatal(err)
	}
	if strings.ContainsAny(got.String(), "\x1b\u202e") {
		t.Errorf("control characters of a sheet's name reach the terminal: %q", got.String())
	}
}

func TestTextReportsAFaultOfTheWriter(t *testing.T) {
	full := errors.New("full")
	if err := Text(failing{full}, results()["dryrun"]); !errors.Is(err, full) {
		t.Errorf("Text = %v", err)
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

func TestJSONIsTheResult(t *testing.T) {
	for name, r := range results() {
		var got bytes.Buffer
		if err := JSON(&got, r); err != nil {
			t.Fatal(err)
		}
		var back map[string]any
		if err := json.Unmarshal(got.Bytes(), &back); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if complete, ok := back["complete"]; ok && complete != (name != "incomplete") {
			t.Errorf("%s: complete is %v", name, complete)
		}
	}
}

func TestFindingsAreLines(t *testing.T) {
	path := filepath.Join(t.TempDir(), "findings.ndjson")
	for round, n := range []int{3, 2} { // a second run begins the file anew
		w, err := OpenFindings(path)
		if err != nil {
			t.Fatal(err)
		}
		for range n {
			if err := Finding(w, finding.Finding{Rule: "row.repeat", Message: "a <b>\nc"}); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
		if len(lines) != n {
			t.Fatalf("round %d: %d lines, want %d", round, len(lines), n)
		}
		var f finding.Finding
		if err := json.Unmarshal([]byte(lines[0]), &f); err != nil || f.Message != "a <b>\nc" {
			t.Errorf("line %q reads back as %+v, %v", lines[0], f, err)
		}
	}
	st, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if st.Mode().Perm() != 0o600 {
		t.Errorf("mode %o, want 600", st.Mode().Perm())
	}
}

func TestNumber(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", -1234567: "-1,234,567", 12_000_000: "12,000,000", -999: "-999"} {
		if got := number(n); got != want {
			t.Errorf("number(%d) = %s, want %s", n, got, want)
		}
	}
}
