// Command testrun runs `go test -json` and says what came of it, in the words of go test and with an honest count:
//
//	testrun [-name NAME] [-summary FILE] -- [GO TEST FLAGS] PACKAGE…
//
// It prints one line a package (ok, FAIL or no test files), the output of what failed and of what was skipped, and last
// "NAME: N passed, N failed, N skipped". Tests and subtests count alike; a package that fails without a failed test (it does
// not build, panics, runs out of time) counts as one failure. The same line is appended to FILE. It exits with 0 only if go
// test did and nothing failed, and at least one test ran.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

func main() {
	name := flag.String("name", "test", "name of the run in the last line")
	summary := flag.String("summary", "", "file to append the last line to")
	flag.Parse()
	os.Exit(run(*name, *summary, flag.Args()))
}

func run(name, summary string, args []string) int {
	cmd := exec.Command("go", append([]string{"test", "-json"}, args...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "testrun: %v\n", err)
		return 1
	}
	r := newReport(os.Stdout)
	readErr := r.read(out)
	waitErr := cmd.Wait()
	line := fmt.Sprintf("%s: %d passed, %d failed, %d skipped", name, r.passed, r.failed, r.skipped)
	code := 0
	var exit *exec.ExitError
	switch {
	case readErr != nil:
		line += fmt.Sprintf(" (stopped reading: %v)", readErr)
		code = 1
	case errors.As(waitErr, &exit):
		code = 1
		if r.failed == 0 {
			line += " (go test failed outside the tests)"
		}
	case waitErr != nil:
		line += fmt.Sprintf(" (go test: %v)", waitErr)
		code = 1
	case r.failed > 0:
		code = 1
	case r.passed == 0:
		line += " (no test ran)"
		code = 1
	}
	fmt.Println(line)
	if summary != "" {
		if err := appendLine(summary, line); err != nil {
			fmt.Fprintf(os.Stderr, "testrun: %v\n", err)
			return 1
		}
	}
	return code
}

func appendLine(path, line string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(f, line)
	return errors.Join(err, f.Close())
}

// event is one line of `go test -json` (see `go doc test2json`).
type event struct {
	Action      string
	Package     string
	ImportPath  string // of build output
	Test        string
	Output      string
	Elapsed     float64
	FailedBuild string
}

type key struct{ pkg, test string }

// report counts events and prints what a person wants to read.
type report struct {
	out     io.Writer
	output  map[key][]string
	failing map[string]bool // packages with a failed test
	passed  int
	failed  int
	skipped int
}

func newReport(out io.Writer) *report {
	return &report{out: out, output: map[key][]string{}, failing: map[string]bool{}}
}

func (r *report) read(in io.Reader) error {
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadString('\n')
		if line != "" {
			var e event
			if json.Unmarshal([]byte(line), &e) == nil {
				r.add(e)
			} else { // go itself speaks plainly when it can't load a package
				fmt.Fprint(r.out, line)
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (r *report) add(e event) {
	k := key{e.Package, e.Test}
	switch e.Action {
	case "output":
		r.output[k] = append(r.output[k], e.Output)
	case "build-output":
		fmt.Fprint(r.out, e.Output)
	case "pass", "fail", "skip":
		if e.Test == "" {
			r.endPackage(e)
		} else {
			r.endTest(e)
		}
		delete(r.output, k)
	}
}

func (r *report) endTest(e event) {
	k := key{e.Package, e.Test}
	switch e.Action {
	case "pass":
		r.passed++
		return
	case "skip":
		r.skipped++
	case "fail":
		r.failed++
		r.failing[e.Package] = true
	}
	for _, s := range r.output[k] {
		if !strings.HasPrefix(s, "=== ") {
			fmt.Fprint(r.out, s)
		}
	}
}

func (r *report) endPackage(e event) {
	switch {
	case e.Action == "skip":
		fmt.Fprintf(r.out, "?   \t%s\t[no test files]\n", e.Package)
		return
	case e.Action == "pass":
		fmt.Fprintf(r.out, "ok  \t%s\t%.3fs\n", e.Package, e.Elapsed)
		return
	case !r.failing[e.Package]:
		r.failed++
		// A test that was running when the package died has no end of its own; what it wrote is the only trace.
		for k, lines := range r.output {
			if k.pkg == e.Package {
				fmt.Fprint(r.out, strings.Join(lines, ""))
			}
		}
	}
	fmt.Fprintf(r.out, "FAIL\t%s\t%.3fs\n", e.Package, e.Elapsed)
}
