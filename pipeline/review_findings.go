package pipeline

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"sheetlift/pipeline/finding"
)

// findings reads the stages' findings files: the first places of each rule, and every finding about a file, sheet or column. Each
// file must have exactly the lines that its result counts, and the bytes that it recorded.
func (rv *reviewer) findings(ctx context.Context) error {
	rv.r.Rules, rv.r.Hazards = []ReviewRule{}, []ReviewHazard{}
	for _, x := range rv.outcomes() {
		if x.FindingsFile == "" {
			continue
		}
		seen := map[string]int{} // rule and severity to index in Rules
		for _, c := range x.ByRule {
			seen[c.Rule+" "+string(c.Severity)] = len(rv.r.Rules)
			r := ReviewRule{Stage: x.stage, RuleCount: c, Places: []FindingsPlace{}}
			if known, ok := finding.ByID(c.Rule); ok {
				r.Meaning, r.Remedy = known.Meaning, known.Remedy
			}
			rv.r.Rules = append(rv.r.Rules, r)
		}
		lines := 0
		sum, err := eachLine(ctx, x.FindingsFile, func(line []byte) error {
			lines++
			return rv.finding(x, line, seen)
		})
		if errors.Is(err, os.ErrNotExist) {
			return &FileError{Path: x.FindingsFile, Message: "is gone", Remedy: "run `sheetlift " + x.stage + "` again, which makes the same list anew, or `sheetlift run`, which makes all anew that is gone", Err: err}
		}
		if err != nil {
			return err
		}
		if want := x.Findings.Error + x.Findings.Warning + x.Findings.Info; lines != want {
			return changedFindings(x.FindingsFile, fmt.Sprintf("it has %s, the result of %s counts %s", finding.Count(lines, "line", "lines"), x.stage, finding.Count(want, "finding", "findings")))
		}
		if x.FindingsSum != "" && sum != x.FindingsSum {
			return changedFindings(x.FindingsFile, "its bytes are not those that "+x.stage+" wrote")
		}
		rv.listed[x.stage] = sum
	}
	return nil
}

func changedFindings(path, detail string) *IntegrityError {
	return &IntegrityError{What: "findings file " + path, Detail: detail, Remedy: "remove the folder it lies in and run its stage again"}
}

var ruleFirst = []byte(`{"rule":"`)

// finding takes in one line. A rule that has its places already is only counted: a million lines are not taken apart for nothing.
func (rv *reviewer) finding(of stageOutcome, line []byte, seen map[string]int) error {
	if rest, ok := bytes.CutPrefix(line, ruleFirst); ok {
		if id, _, ok := bytes.Cut(rest, []byte{'"'}); ok {
			if rule, known := finding.ByID(string(id)); known && rule.Scope == finding.Row && rv.full(string(id), seen) {
				return nil
			}
		}
	}
	var f finding.Finding
	if err := json.Unmarshal(line, &f); err != nil {
		return changedFindings(of.FindingsFile, "a line is no finding")
	}
	i, ok := seen[f.Rule+" "+string(f.Severity)]
	if !ok {
		return changedFindings(of.FindingsFile, "it has a finding of rule "+f.Rule+", which the result does not count")
	}
	place := rv.names.place(f.File, f.Sheet, f.Row, f.LastRow, f.Column, f.Cell)
	if r := &rv.r.Rules[i]; len(r.Places) < reviewPlaces {
		r.Places = append(r.Places, FindingsPlace{Source: f.Source, Place: place, Message: f.Message})
	}
	if rule, known := finding.ByID(f.Rule); !known || rule.Scope != finding.Column {
		return nil
	}
	if len(rv.r.Hazards) == reviewHazards {
		rv.r.HazardsLeft++
		return nil
	}
	h := ReviewHazard{Rule: f.Rule, Severity: f.Severity, Source: f.Source, Place: place, Rows: f.Rows, Message: f.Message, Remedy: f.Remedy}
	for i := range rv.r.Hazards {
		if rv.r.Hazards[i] == h { // map and dry-run find the same hazards of columns
			return nil
		}
	}
	rv.r.Hazards = append(rv.r.Hazards, h)
	return nil
}

// full reports whether every severity of a rule has its places.
func (rv *reviewer) full(rule string, seen map[string]int) bool {
	found := false
	for _, s := range []finding.Severity{finding.Error, finding.Warning, finding.Info} {
		if i, ok := seen[rule+" "+string(s)]; ok {
			if found = true; len(rv.r.Rules[i].Places) < min(reviewPlaces, rv.r.Rules[i].Count) {
				return false
			}
		}
	}
	return found
}

// eachLine calls f with every line of a file and returns the SHA-256 of its bytes.
func eachLine(ctx context.Context, path string, f func([]byte) error) (string, error) {
	in, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("open findings: %w", err)
	}
	unreadable := func(err error) error {
		return &FileError{Path: path, Message: "can't be read: " + pathless(err), Remedy: "see to the disk, then run the command again", Err: err}
	}
	if err != nil {
		return "", unreadable(err)
	}
	defer in.Close()
	h := sha256.New()
	s := bufio.NewScanner(io.TeeReader(in, h))
	s.Buffer(make([]byte, 0, 1<<16), 1<<20)
	for n := 0; s.Scan(); n++ {
		if n%4096 == 0 && ctx.Err() != nil {
			return "", ctx.Err()
		}
		if err := f(s.Bytes()); err != nil {
			return "", err
		}
	}
	switch err := s.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return "", changedFindings(path, "a line is no finding")
	case err != nil:
		return "", unreadable(err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
