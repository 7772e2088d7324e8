package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"sheetlift/pipeline"
	"sheetlift/pipeline/finding"
	"sheetlift/reports"
)

// failOn are the words of --fail-on.
var failOn = []string{string(finding.Error), string(finding.Warning), "never"}

// checkFlags are what a CI job asks of a command that finds things.
type checkFlags struct {
	fail, baseline       string
	junit, sarif, ndjson string
}

func (c *checkFlags) register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&c.fail, "fail-on", string(finding.Error), "lowest severity of a finding that makes the exit code 1: `error|warning|never`")
	f.StringVar(&c.baseline, "baseline", "", "findings `FILE` of an earlier run: only what is new makes the exit code 1")
	f.StringVar(&c.junit, "junit", "", "write a JUnit report to `FILE`: a test case for each rule and source")
	f.StringVar(&c.sarif, "sarif", "", "write a SARIF 2.1.0 report to `FILE`: a result for each rule and source that has findings")
	f.StringVar(&c.ndjson, "ndjson", "", "write every finding to `FILE`, one JSON object a line; such a file can be a --baseline")
}

// checker gathers what stages found, judges it, and writes the reports that were asked for, whatever became of the stages.
type checker struct {
	flags               *checkFlags
	asked               []string
	batch               *pipeline.Batch // nil until it is read
	talk                io.Writer
	baseline            *reports.Baseline
	junit, sarif, lines *outFile
	stages              []string
	results             []any
	written             bool
}

// open checks the flags, reads the baseline and begins the files, so that nothing of that fails after the work. asked are the
// stages that are to run.
func (c *checkFlags) open(std stdio, asked []string) (*checker, error) {
	if err := oneOf("fail-on", c.fail, failOn...); err != nil {
		return nil, err
	}
	k := &checker{flags: c, asked: asked, talk: std.err}
	if c.baseline != "" {
		f, err := os.Open(c.baseline)
		if err != nil {
			return nil, usageError{fmt.Errorf("--baseline %s: can't be read: %w", c.baseline, withoutPath(err))}
		}
		k.baseline, err = reports.ReadBaseline(f)
		f.Close()
		if err != nil {
			return nil, usageError{fmt.Errorf("--baseline %s: %w", c.baseline, withoutPath(err))}
		}
	}
	paths := map[string]bool{}
	for _, out := range []struct {
		flag, path string
		file       **outFile
		mode       fs.FileMode
	}{
		{"junit", c.junit, &k.junit, 0o666}, {"sarif", c.sarif, &k.sarif, 0o666},
		{"ndjson", c.ndjson, &k.lines, 0o600}, // row by row it says much about an organisation's records
	} {
		if out.path == "" {
			continue
		}
		var err error
		if p := filepath.Clean(out.path); paths[p] {
			err = usageError{fmt.Errorf("--%s %s: another report goes to the same file", out.flag, out.path)}
		} else {
			paths[p] = true
			*out.file, err = createOut(out.flag, out.path, out.mode)
		}
		if err != nil {
			k.abandon()
			return nil, err
		}
	}
	return k, nil
}

func (k *checker) abandon() {
	for _, f := range []*outFile{k.junit, k.sarif, k.lines} {
		if f != nil {
			f.abandon()
		}
	}
	k.junit, k.sarif, k.lines = nil, nil, nil
}

// add takes the result of a stage that came to its end.
func (k *checker) add(stage string, result any) {
	k.stages = append(k.stages, stage)
	k.results = append(k.results, result)
}

// judge gives the exit code that the results ask for, and writes the reports. A baseline bears on findings only: a stage that
// stopped early is never excused by it.
func (k *checker) judge(ctx context.Context) (code int, err error) {
	for _, r := range k.results {
		code = worse(code, verdict(r, k.flags.fail))
	}
	if k.baseline == nil && k.junit == nil && k.sarif == nil && k.lines == nil {
		k.written = true
		return code, nil
	}
	check := k.check(nil)
	if k.baseline != nil {
		otherKey, err := k.baseline.Prepare(func(each func(finding.Finding) error) error { return k.each(ctx, each) })
		if err != nil {
			return code, err
		}
		if otherKey {
			fmt.Fprintf(k.talk, "sheetlift: the baseline's subject tokens were made with another key; its findings are told apart by rule, source, field and row only\n")
		}
	}
	err = k.each(ctx, func(f finding.Finding) error {
		check.Add(f, k.baseline == nil || k.baseline.New(&f))
		if k.lines != nil {
			if err := reports.Finding(k.lines, f); err != nil {
				return k.lines.fault(err)
			}
		}
		return nil
	})
	if err != nil {
		return code, err
	}
	if k.baseline != nil {
		if code == exitFindings && !check.Failed() {
			code = exitClean
		}
		if o := pipeline.Common(k.results[len(k.results)-1]); o != nil {
			o.Baseline = &pipeline.Baseline{Known: check.Known, New: check.New}
		}
	}
	return code, k.write(check)
}

// close writes the reports of a command that failed: they say what happened, and that they are not complete. Findings are left
// out then, because a part of the list is no list.
func (k *checker) close(err *error) {
	if k.written {
		return
	}
	fault := *err
	if fault == nil {
		fault = errors.New("internal fault") // a panic is on its way up
	}
	if k.lines != nil {
		path := k.lines.path
		k.lines.abandon()
		k.lines = nil
		// What an earlier run left there must not be taken for this one's.
		if rerr := os.Remove(path); rerr != nil && !errors.Is(rerr, fs.ErrNotExist) {
			*err = errors.Join(*err, &pipeline.FileError{Path: path, Message: "an earlier run's findings can't be removed", Remedy: "remove the file by hand; it is not of this run", Err: rerr})
		}
	}
	if werr := k.write(k.check(fault)); werr != nil {
		*err = errors.Join(*err, werr)
	}
}

func (k *checker) write(check *reports.Check) (err error) {
	k.written = true
	defer k.abandon()
	if f := k.junit; f != nil {
		k.junit = nil
		err = f.commit(func(w io.Writer) error { return reports.JUnit(w, check) })
	}
	if f := k.sarif; f != nil {
		k.sarif = nil
		err = errors.Join(err, f.commit(func(w io.Writer) error { return reports.SARIF(w, check) }))
	}
	if f := k.lines; f != nil {
		k.lines = nil
		err = errors.Join(err, f.commit(func(io.Writer) error { return nil })) // its lines are in its buffer
	}
	return err
}

// check describes the command for the reports. fault is why it did not do what it was asked to.
func (k *checker) check(fault error) *reports.Check {
	c := &reports.Check{Asked: k.asked, Done: k.stages, FailOn: k.flags.fail, Baseline: k.baseline != nil, Version: version()}
	if fault != nil {
		c.Fault = true
		c.Why, c.Remedy = explain(fault)
	} else if o := pipeline.Common(k.results[len(k.results)-1]); !o.Passed && len(k.stages) < len(k.asked) {
		c.Why = k.stages[len(k.stages)-1] + " did not pass"
	}
	if k.batch == nil {
		return c
	}
	c.Batch = k.batch.Name
	for i := range k.batch.Sources {
		c.Sources = append(c.Sources, k.batch.Sources[i].Name)
	}
	if here, err := os.Getwd(); err == nil {
		if rel, err := filepath.Rel(here, k.batch.Dir()); err == nil {
			c.Folder = filepath.ToSlash(rel)
		}
	}
	return c
}

// each reads the findings of all results, and holds their number to what each result counts. What map found the dry-run found
// again, so it is read once.
func (k *checker) each(ctx context.Context, each func(finding.Finding) error) error {
	for i, r := range k.results {
		o := pipeline.Common(r)
		if o == nil || k.stages[i] == pipeline.Map && slices.Contains(k.stages, pipeline.DryRun) {
			continue
		}
		if err := eachFinding(ctx, k.stages[i], o, each); err != nil {
			return err
		}
	}
	return nil
}

// eachFinding reads the findings file of a result, and says at its end if it is not the one that was recorded.
func eachFinding(ctx context.Context, stage string, o *pipeline.Outcome, each func(finding.Finding) error) error {
	if o.FindingsFile == "" {
		return nil
	}
	f, err := os.Open(o.FindingsFile)
	if err != nil {
		return &pipeline.FileError{Path: o.FindingsFile, Message: "can't be read: " + withoutPath(err).Error(), Remedy: "run `sheetlift " + stage + "` again, which makes it anew if it is gone", Err: err}
	}
	defer f.Close()
	var got pipeline.Counts
	n := 0
	var stopped error // by who takes them
	sum := sha256.New()
	err = reports.ReadFindings(io.TeeReader(f, sum), func(f finding.Finding) error {
		if n++; n%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		switch f.Severity {
		case finding.Error:
			got.Error++
		case finding.Warning:
			got.Warning++
		default:
			got.Info++
		}
		stopped = each(f)
		return stopped
	})
	changed := &pipeline.IntegrityError{What: "findings file of " + stage, Remedy: "find out who changed " + o.FindingsFile + "; with it gone, `sheetlift " + stage + "` makes it anew"}
	var disk *fs.PathError
	switch {
	case stopped != nil, ctx.Err() != nil:
		return err
	case errors.As(err, &disk):
		return &pipeline.FileError{Path: o.FindingsFile, Message: "can't be read: " + withoutPath(err).Error(), Remedy: "see to the disk, then run the command again", Err: err}
	case err != nil:
		changed.Detail, changed.Err = err.Error(), err
		return changed
	case got != o.Findings:
		changed.Detail = fmt.Sprintf("it has %s, %s and %d to know, the result counts %d, %d and %d",
			finding.Count(got.Error, "error", "errors"), finding.Count(got.Warning, "warning", "warnings"), got.Info, o.Findings.Error, o.Findings.Warning, o.Findings.Info)
		return changed
	case o.FindingsSum != "" && hex.EncodeToString(sum.Sum(nil)) != o.FindingsSum:
		changed.Detail = "its bytes are not those that " + stage + " wrote"
		return changed
	}
	return nil
}
