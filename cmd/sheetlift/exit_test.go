package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"sheetlift/importers/source"
	"sheetlift/importers/staged"
	"sheetlift/manifests"
	"sheetlift/pipeline"
	"sheetlift/pipeline/ledger"
	"sheetlift/pipeline/store"
)

func TestExitCode(t *testing.T) {
	src := &source.Error{Kind: source.ErrUnreadable, File: "a.csv", Message: "unreadable", Err: context.Canceled}
	gate := &pipeline.GateError{Stage: "import", Why: "no dry-run"}
	tests := []struct {
		name string
		err  error
		want int
	}{
		{"nothing", nil, exitClean},
		{"findings", finished{exitFindings}, exitFindings},
		{"a verification that failed", finished{exitIntegrity}, exitIntegrity},
		{"the command line", usageError{errors.New("unknown flag")}, exitUsage},
		{"batch.yaml", fmt.Errorf("load: %w", &pipeline.ConfigError{File: "batch.yaml", Message: "no"}), exitUsage},
		{"a database URL", fmt.Errorf("open: %w", store.ErrURL), exitUsage},
		{"a record that there is not", &pipeline.ErrNoSuchRecord{Entity: "consent"}, exitUsage},
		{"a record that may not be in yet", &pipeline.ErrNoSuchRecord{Entity: "consent", NotYet: true}, exitIncomplete},
		{"a key", &manifests.Error{Kind: manifests.ErrKey}, exitUsage},
		{"an input", &source.Error{Kind: source.ErrEmpty}, exitIncomplete},
		{"a disk", &pipeline.FileError{Path: "x"}, exitIncomplete},
		{"a database", &store.Error{Kind: store.ErrUnavailable}, exitIncomplete},
		{"a commit of which nobody knows", errors.Join(store.ErrCommitUnknown, store.ErrUnavailable), exitIncomplete},
		{"a lease that was taken over", fmt.Errorf("import: %w", ledger.ErrFenced), exitIncomplete},
		{"a gate", fmt.Errorf("run: %w", gate), exitGate},
		{"a staged file", fmt.Errorf("x: %w", staged.ErrChanged), exitIntegrity},
		{"a bag", &manifests.BagError{Dir: "x"}, exitIntegrity},
		{"a chain", &ledger.ChainError{}, exitIntegrity},
		{"an interruption", fmt.Errorf("read: %w", context.Canceled), exitInterrupted},
		{"an interruption that a reader names its own way", src, exitInterrupted},
		{"integrity before an interruption", errors.Join(context.Canceled, staged.ErrChanged), exitIntegrity},
		{"incomplete before a gate", errors.Join(gate, &pipeline.FileError{}), exitIncomplete},
		{"a gate before findings", errors.Join(finished{exitFindings}, gate), exitGate},
		{"anything else is our fault", errors.New("surprise"), exitInternal},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := exitCode(tt.err); got != tt.want {
				t.Errorf("exitCode = %d, want %d", got, tt.want)
			}
		})
	}
}

func TestWorse(t *testing.T) {
	// The precedence of docs/exit-codes.md: 70 > 4 > 6 > 3 > 5 > 2 > 1, and 130 only if nothing worse.
	order := []int{exitInternal, exitIntegrity, exitUnknown, exitIncomplete, exitGate, exitUsage, exitFindings, exitInterrupted, exitClean}
	for i, a := range order {
		for _, b := range order[i:] {
			if worse(a, b) != a || worse(b, a) != a {
				t.Errorf("worse(%d, %d) = %d, worse(%d, %d) = %d, want %d", a, b, worse(a, b), b, a, worse(b, a), a)
			}
		}
	}
}

func TestExitCodesAreDocumented(t *testing.T) {
	page, err := os.ReadFile("../../docs/exit-codes.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, code := range []int{exitClean, exitFindings, exitUsage, exitIncomplete, exitIntegrity, exitGate, exitUnknown, exitInternal, exitInterrupted} {
		if !strings.Contains(string(page), "\n| "+strconv.Itoa(code)+" | ") {
			t.Errorf("docs/exit-codes.md does not explain %d", code)
		}
	}
}

// The value of a panic may quote a cell: only a runtime error's own words are shown.
func TestACrashShowsNoValue(t *testing.T) {
	crashing := func(f func()) string {
		var out bytes.Buffer
		func() {
			defer func() { crash(stdio{err: &out}, recover()) }()
			f()
		}()
		return out.String()
	}
	if got := crashing(func() { panic("anna@shop.example") }); strings.Contains(got, "anna") || !strings.Contains(got, "internal fault: string") {
		t.Errorf("crash says %q", got)
	}
	var list []int
	if got := crashing(func() { _ = list[len(os.Args)] }); !strings.Contains(got, "index out of range") || !strings.Contains(got, "TestACrashShowsNoValue") {
		t.Errorf("crash says %q", got)
	}
}

func TestQuote(t *testing.T) {
	for in, want := range map[string]string{"a/b.yaml": "a/b.yaml", "my batch.yaml": "'my batch.yaml'", "": "''", "it's": `'it'\''s'`, "$HOME": "'$HOME'"} {
		if got := quote(in); got != want {
			t.Errorf("quote(%q) = %s, want %s", in, got, want)
		}
	}
}

func TestShownURLHidesThePassword(t *testing.T) {
	for _, raw := range []string{"postgres://ann:secret@db/x", "postgres://db/x?password=secret", "postgres://%zz:secret@"} {
		if got := shownURL(raw); strings.Contains(got, "secret") {
			t.Errorf("shownURL(%q) = %q", raw, got)
		}
	}
}
