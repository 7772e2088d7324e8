package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"sheetlift": func() {
			os.Exit(run(context.Background(), os.Args[1:], stdio{os.Stdin, os.Stdout, os.Stderr}))
		},
	})
}

// Each script holds one behaviour. It starts in a copy of testdata/batch, a small batch that is clean, with what the script
// itself brings laid over it. Besides testscript's commands it has:
//
//	exits CODE PROGRAM ARG…     the program must end with exactly this code
//	json PATH VALUE             stdout must be one JSON document, and the value at the path (a.0.b) must print as VALUE
//	lines FILE PATH             FILE (may hold *) has as many lines as the number at the path of the JSON on stdout
//	edit FILE OLD NEW           replaces the first OLD, which must be there, in the one file that FILE (may hold *) names
//	flip FILE                   changes the last byte of the one file that FILE (may hold *) names
//	cut FILE                    takes the last line off the one file that FILE (may hold *) names
//	hides WORD…                 neither stdout, stderr nor any findings file holds the word
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "script"),
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("SHEETLIFT_KEY", filepath.Join(env.WorkDir, "key"))
			env.Setenv("SHEETLIFT_OPERATOR", "tester")
			return lay(filepath.Join("testdata", "batch"), env.WorkDir)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits,
			"json":  jsonValue,
			"lines": lines,
			"edit":  edit,
			"flip":  flip,
			"cut":   cut,
			"hides": hides,
		},
	})
}

// lay copies a folder into another, leaving what is there.
func lay(from, to string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, rel)
		if d.IsDir() {
			return os.MkdirAll(target, 0o777)
		}
		if _, err := os.Lstat(target); err == nil {
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(target, data, 0o666)
	})
}

func plain(ts *testscript.TestScript, neg bool, args []string, least int, usage string) {
	if neg || len(args) < least {
		ts.Fatalf("usage: %s", usage)
	}
}

func exits(ts *testscript.TestScript, neg bool, args []string) {
	plain(ts, neg, args, 2, "exits CODE PROGRAM ARG…")
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		got = exit.ExitCode()
	case err != nil:
		ts.Fatalf("%v", err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

func jsonAt(ts *testscript.TestScript, path string) string {
	d := json.NewDecoder(strings.NewReader(ts.ReadFile("stdout")))
	d.UseNumber()
	var v any
	ts.Check(d.Decode(&v))
	if d.More() {
		ts.Fatalf("stdout holds more than one document")
	}
	for key := range strings.SplitSeq(path, ".") {
		switch at := v.(type) {
		case map[string]any:
			v = at[key]
		case []any:
			i, err := strconv.Atoi(key)
			ts.Check(err)
			if i >= len(at) {
				ts.Fatalf("%s: there is no element %d", path, i)
			}
			v = at[i]
		default:
			ts.Fatalf("%s: nothing below %v", path, v)
		}
	}
	return fmt.Sprint(v)
}

func jsonValue(ts *testscript.TestScript, neg bool, args []string) {
	plain(ts, neg, args, 2, "json PATH VALUE")
	if got := jsonAt(ts, args[0]); got != args[1] {
		ts.Fatalf("%s is %s, want %s", args[0], got, args[1])
	}
}

func glob(ts *testscript.TestScript, pattern string) string {
	found, err := filepath.Glob(ts.MkAbs(pattern))
	ts.Check(err)
	if len(found) != 1 {
		ts.Fatalf("%s names %d files, not one", pattern, len(found))
	}
	return found[0]
}

func lines(ts *testscript.TestScript, neg bool, args []string) {
	plain(ts, neg, args, 2, "lines FILE PATH…")
	data, err := os.ReadFile(glob(ts, args[0]))
	ts.Check(err)
	want := 0
	for _, path := range args[1:] {
		n, err := strconv.Atoi(jsonAt(ts, path))
		ts.Check(err)
		want += n
	}
	if got := strings.Count(string(data), "\n"); got != want {
		ts.Fatalf("%s has %d lines, the result counts %d", args[0], got, want)
	}
}

func edit(ts *testscript.TestScript, neg bool, args []string) {
	plain(ts, neg, args, 3, "edit FILE OLD NEW")
	path := args[0]
	if strings.Contains(path, "*") {
		path = glob(ts, path)
	}
	data := ts.ReadFile(path)
	if !strings.Contains(data, args[1]) {
		ts.Fatalf("%s does not hold %q", args[0], args[1])
	}
	ts.Check(os.WriteFile(ts.MkAbs(path), []byte(strings.Replace(data, args[1], args[2], 1)), 0o666))
}

func flip(ts *testscript.TestScript, neg bool, args []string) {
	plain(ts, neg, args, 1, "flip FILE")
	path := glob(ts, args[0])
	data, err := os.ReadFile(path)
	ts.Check(err)
	data[len(data)-1] ^= 1
	ts.Check(os.Chmod(path, 0o600))
	ts.Check(os.WriteFile(path, data, 0o600))
}

func cut(ts *testscript.TestScript, neg bool, args []string) {
	plain(ts, neg, args, 1, "cut FILE")
	path := glob(ts, args[0])
	data, err := os.ReadFile(path)
	ts.Check(err)
	lines := strings.SplitAfter(strings.TrimSuffix(string(data), "\n"), "\n")
	ts.Check(os.WriteFile(path, []byte(strings.Join(lines[:len(lines)-1], "")), 0o600))
}

func hides(ts *testscript.TestScript, neg bool, args []string) {
	plain(ts, neg, args, 1, "hides WORD…")
	texts := map[string]string{"stdout": ts.ReadFile("stdout"), "stderr": ts.ReadFile("stderr")}
	found, err := filepath.Glob(ts.MkAbs(".sheetlift/work/*/*/findings.ndjson"))
	ts.Check(err)
	for _, path := range found {
		data, err := os.ReadFile(path)
		ts.Check(err)
		texts[path] = string(data)
	}
	for where, text := range texts {
		for _, word := range args {
			if strings.Contains(strings.ToLower(text), strings.ToLower(word)) {
				ts.Fatalf("%s holds %q", where, word)
			}
		}
	}
}
