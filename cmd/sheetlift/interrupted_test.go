package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sheetlift/pipeline"
	"sheetlift/pipeline/store"
	"sheetlift/reports"
)

// sheetliftIn runs a command on a batch and gives its exit code and streams.
func sheetliftIn(dir, verb string, args ...string) (code int, out, talk string) {
	return sheetliftPlain(append([]string{verb, filepath.Join(dir, "batch.yaml")}, args...)...)
}

func sheetliftPlain(args ...string) (code int, out, talk string) {
	var o, e bytes.Buffer
	code = run(context.Background(), args, stdio{strings.NewReader(""), &o, &e})
	return code, o.String(), e.String()
}

// interrupted lays the small batch, and has an import of it end when so many chunks are in the register; all of them if that is 0.
func interrupted(t *testing.T, chunks int) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := lay(filepath.Join("testdata", "batch"), dir); err != nil {
		t.Fatal(err)
	}
	if code, _, talk := sheetliftIn(dir, "run", "--until", "dryrun"); code != exitClean {
		t.Fatalf("dry-run: exit code %d, %s", code, talk)
	}
	b, err := pipeline.LoadBatch(filepath.Join(dir, "batch.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	db, err := store.Open(t.Context(), pipeline.DefaultDatabase(b))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	p, err := pipeline.New(pipeline.Options{Batch: b, DB: db, Operator: "tester", Findings: reports.OpenFindings, Encode: reports.Finding,
		Progress: func(stage, _ string, _, _ int64) {
			if chunks--; stage == pipeline.Import && chunks == 0 {
				stop()
			}
		}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err = p.Import(ctx); chunks <= 0 && !errors.Is(err, context.Canceled) {
		t.Fatalf("the import was not interrupted: %v", err)
	}
	return dir
}

// died makes of the interrupted import one whose process was killed, with seconds left of its lease.
func died(t *testing.T, dir string, seconds int64) {
	t.Helper()
	db, err := store.Open(t.Context(), "sqlite:"+filepath.Join(dir, ".sheetlift", "register.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	err = db.Update(t.Context(), func(tx *store.Tx) error {
		now, err := tx.Now(t.Context())
		if err != nil {
			return err
		}
		n, err := tx.Exec(t.Context(), `
			UPDATE operations SET state = 'running', reason = NULL, finished_at = NULL, lease_until = $1
			WHERE kind = 'import'`, now+seconds*1_000_000)
		if err == nil && n != 1 {
			t.Errorf("%d imports", n)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestAfterAnInterruptedImport: what the commands say until the import is finished, and that it then is what it would have been.
func TestAfterAnInterruptedImport(t *testing.T) {
	t.Setenv("SHEETLIFT_KEY", filepath.Join(t.TempDir(), "key"))
	t.Setenv("SHEETLIFT_OPERATOR", "tester")
	says := func(what, text string, patterns ...string) {
		t.Helper()
		for _, p := range patterns {
			if !regexp.MustCompile("(?m)" + p).MatchString(text) {
				t.Errorf("%s does not say %q:\n%s", what, p, text)
			}
		}
	}
	whole := t.TempDir()
	if err := lay(filepath.Join("testdata", "batch"), whole); err != nil {
		t.Fatal(err)
	}
	if code, _, talk := sheetliftIn(whole, "run", "--until", "import"); code != exitClean {
		t.Fatalf("run: exit code %d, %s", code, talk)
	}
	for chunks := 1; chunks <= 4; chunks++ {
		dir := interrupted(t, chunks)
		code, _, talk := sheetliftIn(dir, "dryrun")
		if code != exitGate {
			t.Errorf("dryrun: exit code %d", code)
		}
		says("dryrun", talk, `an import of the batch is not finished \(\d+ of 6 records are in the register\)`, "finish it: `sheetlift import`")
		died(t, dir, -1)
		_, out, _ := sheetliftIn(dir, "status")
		says("status", out, `import +interrupted +tester .*of 6 records are in the register`, `^next: sheetlift import `)
		_, out, _ = sheetliftIn(dir, "status", "--output", "json")
		says("status", out, `"state": "interrupted"`, `its process has gone without a word, its lease ran out at 20`)

		if chunks == 4 { // consents come last
			for _, at := range [][]string{{"consent", "E1"}, {"exports/consents.csv!A2"}} {
				code, out, _ := sheetliftIn(dir, "trace", at...)
				if code != exitIncomplete {
					t.Errorf("trace %v: exit code %d", at, code)
				}
				says("trace", out, `^not final: the import of batch small, snapshot initial, is not finished: 6 of 6 records are in the register$`,
					`^  state so far, not final: given, because of`, `^next: sheetlift import `)
				_, out, _ = sheetliftIn(dir, "trace", append(at, "--output", "json")...)
				says("trace", out, `"state_so_far": "given"`, `"next": "sheetlift import"`)
				if strings.Contains(out, `"state":`) {
					t.Error("trace gives a state")
				}
			}
		} else {
			for _, at := range [][]string{{"consent", "E1"}, {"exports/consents.csv!A2"}} {
				code, _, talk := sheetliftIn(dir, "trace", at...)
				if code != exitIncomplete {
					t.Errorf("trace %v: exit code %d", at, code)
				}
				says("trace", talk, `the import of batch small is not finished \(\d of 6 records are in the register\): ask again when it is`)
			}
		}

		if code, _, _ := sheetliftIn(dir, "trace", "purpose", "none such"); code != exitIncomplete {
			t.Errorf("trace of a key that nothing has, while an import is unfinished: exit code %d", code)
		}
		died(t, dir, 2)
		_, out, _ = sheetliftIn(dir, "status", "--output", "json")
		says("status", out, `"state": "running"`, `"lease_seconds": [12],?$`)
		_, out, talk = sheetliftIn(dir, "import", "--output", "json", "--progress", "json")
		var n struct {
			Event   string
			Seconds int
		}
		if first, _, _ := strings.Cut(talk, "\n"); json.Unmarshal([]byte(first), &n) != nil || n.Event != "waiting" || n.Seconds < 1 || n.Seconds > 2 {
			t.Errorf("import waits by saying %q", talk)
		}
		says("import", talk, `"event":"taken_over"`)
		digest := func(text string) string {
			var r struct{ Digest string }
			if err := json.Unmarshal([]byte(text), &r); err != nil {
				t.Fatalf("%v: %s", err, text)
			}
			return r.Digest
		}
		_, want, _ := sheetliftIn(whole, "import", "--output", "json")
		if digest(out) != digest(want) {
			t.Errorf("after %d chunks and a dry-run that was refused, import gives\n%s\nwant\n%s", chunks, out, want)
		}
		_, got, _ := sheetliftIn(dir, "reconcile", "--output", "json")
		_, want, _ = sheetliftIn(whole, "reconcile", "--output", "json")
		if digest(got) != digest(want) {
			t.Errorf("reconcile gives\n%s\nwant\n%s", got, want)
		}
	}
}
