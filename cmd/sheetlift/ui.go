package main

// The rules of what a person sees. Every command keeps them.
//
//  1. stdout is data: the result, as text or (--output json) as one JSON document, and nothing else. Asked for a document, a command that
//     has no result gives its fault as one. stderr is talk: progress, waiting, faults. The exit code is the verdict (docs/exit-codes.md).
//  2. The first line of a result says what was done, to which batch, and how it ended. The last line is the next command.
//  3. A fault is one sentence that says what happened and where, after "sheetlift: ", then one indented line that says what to
//     do next. Never a stack, never "error:", never a question without an answer.
//  4. No personal value, ever: places, headers, counts, rules. Only cells prints values.
//  5. Silence means work is quick. Work that takes longer shows a bar on a terminal and a plain line every ten seconds
//     elsewhere; what is waited for is said before waiting.
//  6. Nothing asks. What is missing is an argument, a flag, an environment variable or a line of batch.yaml.
//  7. A refusal changes nothing and says so by its exit code, 5.

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"sheetlift/importers/source"
	"sheetlift/mappings"
	"sheetlift/mappings/strictyaml"
	"sheetlift/pipeline"
	"sheetlift/pipeline/store"
	"sheetlift/reports"
)

// output formats of every command.
const (
	asText = "text"
	asJSON = "json"
)

// show writes a result to stdout. In text a last line says what comes next, if anything does.
func show(w io.Writer, output string, result any, next string) error {
	var err error
	if output == asJSON {
		err = reports.JSON(w, result)
	} else if err = reports.Text(w, result); err == nil && next != "" {
		_, err = fmt.Fprintln(w, next)
	}
	return written(err)
}

// standardOutput is what stdout is called where files are named.
const standardOutput = "standard output"

// written tells a fault of stdout from one of the work.
func written(err error) error {
	var told *pipeline.FileError
	if err == nil || errors.As(err, &told) && told.Path == standardOutput {
		return err
	}
	return &pipeline.FileError{Path: standardOutput, Message: "can't be written", Remedy: "give it room or a reader; the work itself was done, run the command again to see it", Err: err}
}

// flushed ends a list on stdout: with the fault that ended it, and that of stdout, each once.
func flushed(w *bufio.Writer, err error) error {
	full := w.Flush()
	if full != nil && errors.Is(err, full) {
		err = nil
	}
	return join(err, written(full))
}

// join is errors.Join that leaves a single error as it is.
func join(a, b error) error {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	return errors.Join(a, b)
}

// watched is stdout, and knows whether it took all.
type watched struct {
	io.Writer
	wrote bool
	err   error
}

func (w *watched) Write(p []byte) (int, error) {
	n, err := w.Writer.Write(p)
	w.wrote = w.wrote || n > 0
	if err != nil && w.err == nil {
		w.err = err
	}
	return n, err
}

// heard is the error of a command with that of stdout, which no command may pass over: what was not written was not said.
func (w *watched) heard(err error) error {
	var told *pipeline.FileError
	switch {
	case w.err == nil, errors.As(err, &told) && told.Path == standardOutput:
		return err
	case err == nil, errors.Is(err, w.err):
		return written(w.err)
	}
	var done finished
	if errors.As(err, &done) {
		return written(w.err)
	}
	return errors.Join(err, written(w.err))
}

// closedOutput reports whether all that is wrong is that nobody reads stdout any more: who closed it knows that.
func closedOutput(err error) bool {
	var file *pipeline.FileError
	return errors.Is(err, syscall.EPIPE) && errors.As(err, &file) && file.Path == standardOutput && err.Error() == file.Error()
}

// complain says what went wrong, and what to do next.
func complain(w io.Writer, err error) {
	var done finished
	if err == nil || errors.As(err, &done) || closedOutput(err) {
		return
	}
	message, remedy := explain(err)
	fmt.Fprintf(w, "sheetlift: %s\n", message)
	for line := range strings.SplitSeq(remedy, "\n") {
		if line != "" {
			fmt.Fprintf(w, "  %s\n", line)
		}
	}
}

// named is an error in whose words names of files and sheets may stand that are shown by position only.
type named struct {
	error
	hide func(string) string
}

// Error gives the words with positions.
func (n named) Error() string { return n.hide(n.error.Error()) }

// Unwrap gives the error as it came.
func (n named) Unwrap() error { return n.error }

// hideArguments puts their position in the place of arguments of a command line that name a file and look like a value about a
// person. The folders that lead there are no names of an export's.
func hideArguments(args []string) func(string) string {
	var pairs []string
	for i, a := range args {
		if _, value, ok := strings.Cut(a, "="); ok && strings.HasPrefix(a, "-") {
			a = value
		}
		base := filepath.Base(a)
		if strings.HasPrefix(a, "-") || !pipeline.PersonalPath(base) || i > 0 && (args[i-1] == "--as" || args[i-1] == "--db") {
			continue
		}
		instead := fmt.Sprintf("(argument %d)", i+1)
		for _, name := range []string{a, filepath.Clean(a), base} {
			pairs = append(pairs, strconv.Quote(name), instead, name, instead)
		}
	}
	return strings.NewReplacer(pairs...).Replace
}

var (
	excerptLine = regexp.MustCompile(`(?m)^ *\d+ \| .*$`)
	excerptWord = regexp.MustCompile(`[^\s"'\[\]{},:|]+`)
)

// hideExcerpts takes what looks like a value about a person out of the lines of a file that a fault quotes.
func hideExcerpts(text string) string {
	return excerptLine.ReplaceAllStringFunc(text, func(line string) string {
		return excerptWord.ReplaceAllStringFunc(line, func(word string) string {
			if pipeline.PersonalPath(word) {
				return strings.Repeat("x", len([]rune(word)))
			}
			return word
		})
	})
}

// explain takes an error apart into what happened and what to do next.
func explain(err error) (message, remedy string) {
	message, remedy = words(err)
	for n := (named{}); errors.As(err, &n); err = n.error {
		message, remedy = n.hide(message), n.hide(remedy)
	}
	if yaml := (*strictyaml.Errors)(nil); !errors.As(err, &yaml) {
		message = eachOnce(message)
	}
	return hideAddresses(message), hideAddresses(remedy)
}

// eachOnce leaves out lines that were said: errors that are joined may be one.
func eachOnce(text string) string {
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		if !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}

var addressLike = regexp.MustCompile(`[^\s"'(),;:/=<>]+[@＠][^\s"'(),;:/=<>]+`)

// hideAddresses takes e-mail addresses out of the words of an error: of a name that nobody could place, or a line of a file that is
// quoted. URLs have their users taken out before.
func hideAddresses(text string) string {
	var b strings.Builder
	at := 0
	for _, m := range addressLike.FindAllStringIndex(text, -1) {
		word := text[strings.LastIndexAny(text[:m[0]], " \t\n\"'(")+1 : m[0]]
		if strings.Contains(word, "://") {
			continue
		}
		b.WriteString(text[at:m[0]] + "(not shown)")
		at = m[1]
	}
	return b.String() + text[at:]
}

func words(err error) (message, remedy string) {
	if errors.Is(err, context.Canceled) {
		return "interrupted; what was finished is kept", "run the same command again, it goes on from there"
	}
	message = err.Error()
	var (
		yaml      *strictyaml.Errors
		config    *pipeline.ConfigError
		gate      *pipeline.GateError
		integrity *pipeline.IntegrityError
		file      *pipeline.FileError
		record    *pipeline.ErrNoSuchRecord
		src       *source.Error
		sheet     *mappings.SheetError
		usage     usageError
		database  *store.Error
	)
	switch {
	case errors.As(err, &yaml): // says it all, fault by fault
		message = hideExcerpts(message)
	case errors.As(err, &config):
		remedy = config.Remedy
	case errors.As(err, &gate):
		remedy = gate.Remedy
	case errors.As(err, &integrity):
		remedy = integrity.Remedy
	case errors.As(err, &file):
		remedy = file.Remedy
	case errors.As(err, &record):
		remedy = record.Remedy
	case errors.As(err, &src):
		remedy = src.Remedy
		if src.Sheet != "" && mappings.LooksPersonal(src.Sheet) {
			message = strings.ReplaceAll(message, strconv.Quote(src.Sheet), "(its name is not shown)")
		}
	case errors.As(err, &sheet):
		remedy = sheet.Remedy
	case errors.Is(err, store.ErrFull):
		remedy = "free space where the database lies, then run the same command again; nothing was left half-written"
	case errors.Is(err, store.ErrReadOnly):
		remedy = "give this user write access to the database, or name another with --db"
	case errors.Is(err, store.ErrBusy):
		remedy = "wait until the other process is done, then run the same command again"
	case errors.As(err, &database) && strings.HasPrefix(database.Code, "SQLITE_IOERR"):
		remedy = "look at the disk that the database lies on: it may be full, over a quota or damaged; then run the same command again"
	case errors.Is(err, store.ErrUnavailable):
		remedy = "see that the database runs and can be reached, then run the same command again; a stage goes on from where it was"
	case errors.As(err, &usage):
		remedy = "`sheetlift help` lists the commands, `sheetlift COMMAND --help` explains one"
	}
	return message, remedy
}
