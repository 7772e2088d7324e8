package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
)

// ciScripts are the shell commands of a job file, in order.
func ciScripts(t *testing.T, path string) []string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var file map[string]any
	if err := yaml.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	var scripts []string
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			if run, ok := v["run"].(string); ok {
				scripts = append(scripts, run)
			}
			if list, ok := v["script"].([]any); ok {
				for _, line := range list {
					scripts = append(scripts, fmt.Sprint(line))
				}
			}
			for _, inner := range v {
				walk(inner)
			}
		case []any:
			for _, inner := range v {
				walk(inner)
			}
		}
	}
	walk(file)
	if len(scripts) == 0 {
		t.Fatalf("%s runs nothing", path)
	}
	return scripts
}

// program makes this test binary answer to the program's name, in a folder for PATH.
func program(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.Symlink(self, filepath.Join(dir, "sheetlift")); err != nil {
		t.Fatal(err)
	}
	return dir
}

func exitOf(t *testing.T, err error) int {
	t.Helper()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		return exit.ExitCode()
	}
	t.Fatal(err)
	return 0
}

// TestCIJobs runs the jobs of docs/ci.md as a runner would, from a shell at the root of a repository: green on clean exports, red on
// dirty ones, with the reports there for the steps after.
func TestCIJobs(t *testing.T) {
	bin := program(t)
	for _, job := range []struct {
		file    string
		shell   []string // as the runner calls it
		reports []string
	}{
		{"github-actions.yml", []string{"bash", "--noprofile", "--norc", "-eo", "pipefail", "-c"}, []string{"sheetlift.xml", "sheetlift.sarif", "findings.ndjson"}},
		{"gitlab-ci.yml", []string{"sh", "-eu", "-c"}, []string{"sheetlift.xml", "findings.ndjson"}},
	} {
		for _, state := range []struct {
			name, row string
			want      int
		}{
			{"clean", "", 0}, {"dirty", "E9,C9,eve@shop.example,news,email,yse,2024-03-15 10:00,,,,,,\n", 1},
		} {
			t.Run(job.file+" "+state.name, func(t *testing.T) {
				dir := t.TempDir()
				if err := os.CopyFS(filepath.Join(dir, "register"), os.DirFS(filepath.Join("testdata", "batch"))); err != nil {
					t.Fatal(err)
				}
				consents := filepath.Join(dir, "register", "exports", "consents.csv")
				data, err := os.ReadFile(consents)
				if err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(consents, append(data, state.row...), 0o600); err != nil {
					t.Fatal(err)
				}
				code := 0
				for _, script := range ciScripts(t, filepath.Join("..", "..", "samples", "ci", job.file)) {
					cmd := exec.Command(job.shell[0], append(job.shell[1:len(job.shell):len(job.shell)], script)...)
					cmd.Dir = dir
					cmd.Env = append(os.Environ(), "CI=true", "PATH="+bin+":"+os.Getenv("PATH"), "HOME="+filepath.Join(dir, "nowhere"))
					out, err := cmd.CombinedOutput()
					if code = max(code, exitOf(t, err)); code > 1 {
						t.Fatalf("%s: exit code %d\n%s", script, code, out)
					}
				}
				if code != state.want {
					t.Errorf("exit code %d, want %d", code, state.want)
				}
				for _, report := range job.reports {
					if st, err := os.Stat(filepath.Join(dir, report)); err != nil || st.Size() == 0 {
						t.Errorf("%s: %v", report, err)
					}
				}
				left, err := os.ReadDir(dir)
				if err != nil || len(left) != len(job.reports)+1 {
					t.Errorf("left %v (%v)", left, err)
				}
			})
		}
	}
}

// TestScratchLeavesNothing stops a dry-run in the middle, by each signal that a person or a runner sends: the folder with the
// copies of personal data is gone, and the report says that it is not complete.
func TestScratchLeavesNothing(t *testing.T) {
	bin := program(t)
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("testdata", "batch"))); err != nil {
		t.Fatal(err)
	}
	var rows strings.Builder
	rows.WriteString("id,customer,mail,purpose,channel,consent,at,notice,version,actor,role,proof kind,proof\n")
	for i := range 150_000 {
		fmt.Fprintf(&rows, "E%d,C%d,c%d@shop.example,news,email,yes,2024-03-14 09:12,PN,3,Web form 12,processor,DOI log,DOI-%d\n", i, i, i, i)
	}
	if err := os.WriteFile(filepath.Join(dir, "exports", "consents.csv"), []byte(rows.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		t.Run(sig.String(), func(t *testing.T) {
			tmp := t.TempDir()
			report := filepath.Join(t.TempDir(), "report.xml")
			cmd := exec.Command(filepath.Join(bin, "sheetlift"), "dryrun", "batch.yaml", "--scratch", "--junit", report)
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), "TMPDIR="+tmp)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			for { // until it has copied the exports
				bags, err := filepath.Glob(filepath.Join(tmp, "sheetlift-scratch-*", "vault", "*", "*", "data", "*"))
				if err != nil {
					t.Fatal(err)
				}
				if len(bags) > 0 {
					break
				}
				if err := cmd.Process.Signal(syscall.Signal(0)); err != nil {
					t.Fatal("it ended before it was signalled")
				}
				time.Sleep(time.Millisecond)
			}
			if err := cmd.Process.Signal(sig); err != nil {
				t.Fatal(err)
			}
			if code := exitOf(t, cmd.Wait()); code != exitInterrupted {
				t.Errorf("exit code %d", code)
			}
			if left, err := os.ReadDir(tmp); err != nil || len(left) > 0 {
				t.Errorf("left behind: %v (%v)", left, err)
			}
			data, err := os.ReadFile(report)
			if err != nil || !strings.Contains(string(data), `<error type="incomplete" message="interrupted`) {
				t.Errorf("the report does not say so (%v)", err)
			}
		})
	}
}
