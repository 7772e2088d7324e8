package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"sheetlift/pipeline"
	"sheetlift/pipeline/finding"
	"sheetlift/pipeline/store"
	"sheetlift/reports"
)

// fullDisk is an output on a disk without room.
func fullDisk(t *testing.T, path string) *outFile {
	t.Helper()
	o, err := beginOut(path, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(o.abandon)
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("this system has no /dev/full")
	}
	t.Cleanup(func() { full.Close() })
	o.Reset(full)
	return o
}

// A disk that is full is exit code 3, whichever file was to lie there and whenever it fills up.
func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	lines, err := reports.OpenFindings(filepath.Join(dir, "findings.ndjson"))
	if err != nil {
		t.Fatal(err)
	}
	const many = 2000 // more than a buffer holds
	o := pipeline.Outcome{Schema: pipeline.DryRunSchema, Batch: "b", Complete: true, Passed: true, FindingsFile: filepath.Join(dir, "findings.ndjson")}
	for range many {
		o.Findings.Error++
		if err := reports.Finding(lines, finding.New("enum.unmapped")); err != nil {
			t.Fatal(err)
		}
	}
	if err := lines.Close(); err != nil {
		t.Fatal(err)
	}
	for _, flag := range []string{"ndjson", "junit", "sarif"} {
		k := &checker{flags: &checkFlags{fail: "error"}, asked: []string{pipeline.DryRun}, talk: io.Discard}
		out := fullDisk(t, filepath.Join(dir, "out."+flag))
		switch flag {
		case "ndjson":
			k.lines = out
		case "junit":
			k.junit = out
		default:
			k.sarif = out
		}
		k.add(pipeline.DryRun, &pipeline.DryRunResult{Outcome: o})
		_, err := k.judge(context.Background())
		k.close(&err)
		message, remedy := explain(err)
		if exitCode(err) != exitIncomplete || !strings.Contains(message, "no space left") || !strings.Contains(remedy, "make room") || strings.Contains(message, "\n") {
			t.Errorf("--%s: exit %d, %s / %s", flag, exitCode(err), message, remedy)
		}
	}
	// What is read of the list is told from what is done with it.
	err = eachFinding(context.Background(), pipeline.DryRun, &o, func(finding.Finding) error { return io.ErrShortWrite })
	if !errors.Is(err, io.ErrShortWrite) || exitCode(err) == exitIntegrity {
		t.Errorf("a callback's fault: %v", err)
	}
	o.FindingsFile = dir
	if err := eachFinding(context.Background(), pipeline.DryRun, &o, func(finding.Finding) error { return nil }); exitCode(err) != exitIncomplete {
		t.Errorf("a list that can't be read: %v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".out*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

type brokenWriter struct{ err error }

func (b brokenWriter) Write([]byte) (int, error) { return 0, b.err }

// A stdout that takes nothing is exit code 3, said once, whatever the command was.
func TestStdoutThatTakesNothing(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("SHEETLIFT_KEY", filepath.Join(dir, "key"))
	if err := lay(filepath.Join("testdata", "batch"), dir); err != nil {
		t.Fatal(err)
	}
	batch := filepath.Join(dir, "batch.yaml")
	many := filepath.Join(dir, "many.csv")
	if err := os.WriteFile(many, []byte(strings.Repeat("a,b,c\n", 100_000)), 0o600); err != nil {
		t.Fatal(err)
	}
	full := &fs.PathError{Op: "write", Path: "/dev/stdout", Err: errors.New("no space left on device")}
	for _, args := range [][]string{
		{"run", batch}, {"run", batch, "--output", "json"}, {"dryrun", batch, "--scratch"}, {"status", batch}, {"findings", batch}, {"verify", batch}, {"report", batch},
		{"map", batch, "--explain"}, {"cells", many}, {"rules"}, {"schema", "batch"}, {"undo", batch}, {"--version"}, {"help"}, {"help", "run"},
	} {
		var talk bytes.Buffer
		code := run(context.Background(), args, stdio{strings.NewReader(""), brokenWriter{full}, &talk})
		if n := strings.Count(talk.String(), "standard output: can't be written"); code != exitIncomplete || n != 1 {
			t.Errorf("%v: exit %d\n%s", args, code, talk.String())
		}
	}
}

// A reader that has seen enough ends nothing that is not tidied up, and needs no message.
func TestClosedStdout(t *testing.T) {
	dir := t.TempDir()
	if err := lay(filepath.Join("testdata", "batch"), dir); err != nil {
		t.Fatal(err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	r.Close()
	cmd := exec.Command("sheetlift", "run", "batch.yaml", "--junit", "junit.xml", "--ndjson", "findings.ndjson")
	cmd.Dir, cmd.Stdout = dir, w
	cmd.Env = append(os.Environ(), "SHEETLIFT_KEY="+filepath.Join(dir, "key"))
	var talk bytes.Buffer
	cmd.Stderr = &talk
	err = cmd.Run()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != exitIncomplete || talk.Len() > 0 {
		t.Errorf("%v: %s", err, talk.String())
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".*.partial")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	for _, name := range []string{"junit.xml", "findings.ndjson"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
}

// Beside a batch.yaml in a folder that may not be written to, the way out is named.
func TestReadOnlyFolder(t *testing.T) {
	dir := t.TempDir()
	if err := lay(filepath.Join("testdata", "batch"), dir); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "batch.yaml")
	batch, err := pipeline.LoadBatch(path)
	if err != nil {
		t.Fatal(err)
	}
	fault := fmt.Errorf("cannot use database: %w", store.ErrReadOnly)
	err = (&batchFlags{}).unwritable(batch, path, fault)
	if _, remedy := explain(err); exitCode(err) != exitIncomplete || !strings.Contains(remedy, "--home") || !strings.Contains(remedy, "--scratch") {
		t.Errorf("exit %d: %v", exitCode(err), err)
	}
	if err := (&batchFlags{home: dir}).unwritable(batch, path, fault); err != fault {
		t.Errorf("with --home: %v", err)
	}
	if os.Geteuid() == 0 {
		t.Skip("nothing is read-only for this user")
	}
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(dir, 0o700) })
	var out, talk bytes.Buffer
	if code := run(context.Background(), []string{"inventory", path}, stdio{strings.NewReader(""), &out, &talk}); code != exitIncomplete || !strings.Contains(talk.String(), "--home") {
		t.Errorf("exit %d: %s", code, talk.String())
	}
}
