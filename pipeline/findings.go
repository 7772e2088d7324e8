package pipeline

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sheetlift/pipeline/finding"
)

// recorder is the sink of one stage: it counts findings and writes them to the stage's findings file.
type recorder struct {
	out    io.WriteCloser
	buf    *bufio.Writer
	sum    hash.Hash
	encode func(io.Writer, finding.Finding) error
	hide   func(*finding.Finding)
	hidden struct{ file, sheet, shownFile, shownSheet string } // the names of the last finding: the next has the same, as a rule
	path   string
	counts Counts
	rules  map[ruleKey]*RuleCount
	fatal  bool // a column- or batch-level error was found
}

// ruleKey is what findings are counted by.
type ruleKey struct {
	rule     string
	class    finding.Class
	severity finding.Severity
}

// record opens the findings file of a stage in dir.
func (p *Pipeline) record(dir string) (*recorder, error) {
	if err := makeDir(dir); err != nil {
		return nil, err
	}
	path := filepath.Join(dir, "findings.ndjson")
	out, err := p.opt.Findings(path)
	if err != nil {
		return nil, &FileError{Path: path, Message: "can't be written: " + pathless(err), Remedy: "make room or give another folder with --home", Err: err}
	}
	sum := sha256.New()
	return &recorder{out: out, buf: bufio.NewWriterSize(io.MultiWriter(out, sum), 1<<16), sum: sum, encode: p.opt.Encode, hide: p.hideNames, path: path, rules: map[ruleKey]*RuleCount{}}, nil
}

// Add counts and writes one finding, without names that look personal.
func (r *recorder) Add(f finding.Finding) error {
	r.hideNames(&f)
	switch f.Severity {
	case finding.Error:
		r.counts.Error++
	case finding.Warning:
		r.counts.Warning++
	default:
		r.counts.Info++
	}
	k := ruleKey{f.Rule, f.Class, f.Severity}
	if r.rules[k] == nil {
		r.rules[k] = &RuleCount{Rule: f.Rule, Class: f.Class, Severity: f.Severity,
			First: &Place{Source: f.Source, File: f.File, Sheet: f.Sheet, Row: f.Row, Line: f.Line, Column: f.Column, Cell: f.Cell}}
	}
	r.rules[k].Count++
	if rule, ok := finding.ByID(f.Rule); ok && f.Severity == finding.Error && rule.Scope != finding.Row {
		r.fatal = true
	}
	if err := r.encode(r.buf, f); err != nil {
		return &FileError{Path: r.path, Message: "can't be written: " + pathless(err), Remedy: "make room on the disk and run the stage again", Err: err}
	}
	return nil
}

func (r *recorder) hideNames(f *finding.Finding) {
	h := &r.hidden
	if h.file != f.File || h.sheet != f.Sheet || f.File == "" {
		h.file, h.sheet = f.File, f.Sheet
		r.hide(f)
		h.shownFile, h.shownSheet = f.File, f.Sheet
	}
	f.File, f.Sheet = h.shownFile, h.shownSheet
}

// close finishes the file and puts the counts and its digest into the outcome. With rename, the file lies in a folder that is renamed to final later.
func (r *recorder) close(o *Outcome, final string) error {
	err := r.buf.Flush()
	if cerr := r.out.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return &FileError{Path: r.path, Message: "can't be written: " + pathless(err), Remedy: "make room on the disk and run the stage again", Err: err}
	}
	o.Findings = r.counts
	o.ByRule = []RuleCount{}
	for _, n := range r.rules {
		o.ByRule = append(o.ByRule, *n)
	}
	slices.SortFunc(o.ByRule, func(a, b RuleCount) int {
		if a.Count != b.Count {
			return b.Count - a.Count
		}
		if c := strings.Compare(a.Rule, b.Rule); c != 0 {
			return c
		}
		return strings.Compare(string(a.Severity), string(b.Severity))
	})
	o.FindingsSum = hex.EncodeToString(r.sum.Sum(nil))
	o.FindingsFile = filepath.Join(final, filepath.Base(r.path))
	return nil
}

// abandon closes the file of a stage that failed.
func (r *recorder) abandon() {
	r.out.Close()
	os.Remove(r.path)
}
