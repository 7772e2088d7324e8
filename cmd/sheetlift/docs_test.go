package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"sheetlift/importers/source"
	"sheetlift/pipeline"
	"sheetlift/pipeline/finding"
)

// TestDocuments runs every console block of the README and of docs/, in order, one shell a command, in a folder that holds a
// copy of samples/, and compares what is printed. In the expected output … stands for anything on one line, a line of … for any lines,
// and [exit N] at the end for the exit code, 0 if absent.
func TestDocuments(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	if out, err := exec.Command("go", "build", "-o", filepath.Join(bin, "sheetlift"), ".").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	pages, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range append([]string{filepath.Join(root, "README.md")}, pages...) {
		blocks := consoleBlocks(t, page)
		if len(blocks) == 0 {
			continue
		}
		t.Run(filepath.Base(page), func(t *testing.T) {
			dir := t.TempDir()
			if err := os.CopyFS(filepath.Join(dir, "samples"), os.DirFS(filepath.Join(root, "samples"))); err != nil {
				t.Fatal(err)
			}
			for _, b := range blocks {
				cmd := exec.Command("sh", "-c", b.command)
				cmd.Dir = dir
				cmd.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "SHEETLIFT_KEY="+filepath.Join(dir, "key"), "SHEETLIFT_OPERATOR=reader")
				out, err := cmd.CombinedOutput()
				code := 0
				var exit *exec.ExitError
				if errors.As(err, &exit) {
					code = exit.ExitCode()
				} else if err != nil {
					t.Fatal(err)
				}
				if code != b.code {
					t.Errorf("line %d: $ %s\nexit code %d, the page says %d\n%s", b.line, b.command, code, b.code, out)
				}
				if got := strings.TrimRight(string(out), "\n"); !b.pattern.MatchString(got) {
					t.Errorf("line %d: $ %s\nprints\n%s\n\nthe page says\n%s", b.line, b.command, got, b.output)
				}
			}
		})
	}
}

type consoleBlock struct {
	line    int
	command string
	output  string
	pattern *regexp.Regexp
	code    int
}

var exitLine = regexp.MustCompile(`^\[exit (\d+)\]$`)

// consoleBlocks finds the commands of a page's ```console blocks. A block may hold several, each beginning with "$ ".
func consoleBlocks(t *testing.T, page string) []consoleBlock {
	t.Helper()
	data, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	var blocks []consoleBlock
	inside := false
	for n, line := range strings.Split(string(data), "\n") {
		switch {
		case strings.HasPrefix(line, "```"):
			inside = line == "```console"
		case !inside:
		case strings.HasPrefix(line, "$ "):
			blocks = append(blocks, consoleBlock{line: n + 1, command: line[2:]})
		case len(blocks) == 0:
			t.Fatalf("%s:%d: output before a command", page, n+1)
		default:
			b := &blocks[len(blocks)-1]
			if m := exitLine.FindStringSubmatch(line); m != nil {
				fmt.Sscan(m[1], &b.code)
				continue
			}
			b.output += line + "\n"
		}
	}
	for i := range blocks {
		b := &blocks[i]
		b.output = strings.TrimRight(b.output, "\n")
		var p strings.Builder
		p.WriteString(`\A`)
		between := ""
		for _, line := range strings.Split(b.output, "\n") {
			if line == "…" {
				p.WriteString(`(?s:.*)`)
				between = `(?:\A|\n|\b)`
				continue
			}
			p.WriteString(between)
			between = `\n`
			for k, part := range strings.Split(line, "…") {
				if k > 0 {
					p.WriteString(`.*`)
				}
				p.WriteString(regexp.QuoteMeta(part))
			}
		}
		p.WriteString(`\z`)
		b.pattern = regexp.MustCompile(p.String())
	}
	return blocks
}

var shownFile = regexp.MustCompile("(?s)<!-- file: (\\S+) -->\n```\\w*\n(.*?)```")

// TestShownFiles holds the files that a page shows to those in the repository.
func TestShownFiles(t *testing.T) {
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	shown := 0
	for _, page := range append(pages, "../../README.md") {
		data, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range shownFile.FindAllStringSubmatch(string(data), -1) {
			shown++
			if want, err := os.ReadFile(filepath.Join("../..", m[1])); err != nil || string(want) != m[2] {
				t.Errorf("%s shows another %s than there is (%v)", page, m[1], err)
			}
		}
	}
	if shown == 0 {
		t.Error("no page shows a file")
	}
}

// TestResultsPage holds docs/results.md to the results: every JSON name is described.
func TestResultsPage(t *testing.T) {
	page, err := os.ReadFile("../../docs/results.md")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[reflect.Type]bool{}
	var walk func(typ reflect.Type)
	walk = func(typ reflect.Type) {
		for typ.Kind() == reflect.Pointer || typ.Kind() == reflect.Slice || typ.Kind() == reflect.Map {
			typ = typ.Elem()
		}
		if typ.Kind() != reflect.Struct || seen[typ] {
			return
		}
		seen[typ] = true
		for i := range typ.NumField() {
			f := typ.Field(i)
			walk(f.Type)
			if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" && !strings.Contains(string(page), "`"+name+"`") {
				t.Errorf("docs/results.md does not describe `%s` of %s", name, typ.Name())
			}
		}
	}
	for _, r := range []any{
		pipeline.InventoryResult{}, pipeline.FreezeResult{}, pipeline.MapResult{}, pipeline.DryRunResult{}, pipeline.ImportResult{},
		pipeline.ReconcileResult{}, pipeline.StatusResult{}, pipeline.RunResult{}, pipeline.TraceResult{}, pipeline.VerifyResult{}, pipeline.UndoResult{}, pipeline.ExplainResult{}, pipeline.ReviewResult{}, pipeline.GapsResult{}, finding.Finding{},
	} {
		walk(reflect.TypeOf(r))
	}
}

// TestLimitsPage holds docs/limits.md to the limits and their defaults.
func TestLimitsPage(t *testing.T) {
	page, err := os.ReadFile("../../docs/limits.md")
	if err != nil {
		t.Fatal(err)
	}
	v := reflect.ValueOf(source.DefaultLimits())
	for i := range v.NumField() {
		name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
		if want := fmt.Sprintf("| `%s` | %d |", name, v.Field(i).Int()); !strings.Contains(string(page), want) {
			t.Errorf("docs/limits.md has no row %s", want)
		}
	}
}
