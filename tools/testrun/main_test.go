package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestReport(t *testing.T) {
	events := []event{
		{Action: "run", Package: "a", Test: "TestOne"},
		{Action: "output", Package: "a", Test: "TestOne", Output: "quiet\n"},
		{Action: "pass", Package: "a", Test: "TestOne"},
		{Action: "output", Package: "a", Test: "TestTwo", Output: "=== RUN   TestTwo\n"},
		{Action: "output", Package: "a", Test: "TestTwo", Output: "    two_test.go:1: broken\n"},
		{Action: "fail", Package: "a", Test: "TestTwo"},
		{Action: "output", Package: "a", Test: "TestThree", Output: "    three_test.go:1: no server\n"},
		{Action: "skip", Package: "a", Test: "TestThree"},
		{Action: "fail", Package: "a", Elapsed: 1.5},
		{Action: "pass", Package: "b", Elapsed: 0.25},
		{Action: "skip", Package: "c"},
		{Action: "build-output", ImportPath: "d", Output: "d.go:1: undefined: x\n"},
		{Action: "fail", Package: "d", FailedBuild: "d"},
		{Action: "output", Package: "e", Test: "TestDies", Output: "panic: gone\n"},
		{Action: "fail", Package: "e"},
	}
	var in, out strings.Builder
	for _, e := range events {
		b, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		in.Write(append(b, '\n'))
	}
	in.WriteString("go: plain words")
	r := newReport(&out)
	if err := r.read(strings.NewReader(in.String())); err != nil {
		t.Fatal(err)
	}
	if r.passed != 1 || r.failed != 3 || r.skipped != 1 {
		t.Errorf("%d passed, %d failed, %d skipped; want 1, 3 (a test, a build, a panic), 1", r.passed, r.failed, r.skipped)
	}
	for _, want := range []string{"broken", "no server", "undefined: x", "panic: gone", "go: plain words",
		"FAIL\ta\t1.500s\n", "ok  \tb\t0.250s\n", "?   \tc\t[no test files]\n", "FAIL\td", "FAIL\te"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("output lacks %q:\n%s", want, out.String())
		}
	}
	if strings.Contains(out.String(), "quiet") || strings.Contains(out.String(), "=== RUN") {
		t.Errorf("output holds noise:\n%s", out.String())
	}
}

// The exit code and the last line must be right whatever go test meets.
func TestRun(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("no go command")
	}
	tests := []struct {
		name   string
		source string
		code   int
		line   string
	}{
		{"passes", "func TestA(t *testing.T) {}", 0, "probe: 1 passed, 0 failed, 0 skipped"},
		{"fails", "func TestA(t *testing.T) { t.Run(\"b\", func(t *testing.T) { t.Fail() }) }", 1, "probe: 0 passed, 2 failed, 0 skipped"},
		{"panics", "func TestA(t *testing.T) { panic(1) }", 1, "probe: 0 passed, 1 failed, 0 skipped"},
		{"does not build", "func TestA(t *testing.T) { x }", 1, "probe: 0 passed, 1 failed, 0 skipped"},
		{"exits", "func TestA(t *testing.T) { os.Exit(3) }\nvar _ = os.Exit", 1, "probe: 0 passed, 1 failed, 0 skipped"},
		{"has no tests", "", 1, "probe: 0 passed, 0 failed, 0 skipped (no test ran)"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			imports := "import \"testing\"\n"
			if strings.Contains(tt.source, "os.") {
				imports += "import \"os\"\n"
			}
			if tt.source == "" {
				imports = ""
			}
			write(t, filepath.Join(dir, "go.mod"), "module probe\n\ngo 1.26\n")
			write(t, filepath.Join(dir, "a_test.go"), "package probe\n"+imports+tt.source+"\n")
			t.Chdir(dir)
			summary := filepath.Join(dir, "out", "summary")
			if code := run("probe", summary, []string{"-vet=off", "./..."}); code != tt.code {
				t.Errorf("exit code %d, want %d", code, tt.code)
			}
			got, err := os.ReadFile(summary)
			if err != nil {
				t.Fatal(err)
			}
			if strings.TrimSpace(string(got)) != tt.line {
				t.Errorf("last line %q, want %q", got, tt.line)
			}
		})
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
