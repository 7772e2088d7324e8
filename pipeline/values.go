package pipeline

import (
	"bufio"
	"context"
	"encoding/json"
	"path/filepath"
	"strings"

	"sheetlift/importers/source"
)

// Findings name places and hold no value. Who has to mend a cell at its source, or to tell a program what stands there, may ask for the
// values of rejected rows in a file of its own.

// RejectedValue is one line of the file: a fault of a rejected row, and the original value of the cell that it is about.
type RejectedValue struct {
	Source string `json:"source"`
	File   string `json:"file"`
	Sheet  string `json:"sheet,omitempty"`
	Row    int    `json:"row"`
	Line   int    `json:"line,omitempty"`
	Column string `json:"column,omitempty"`
	Cell   string `json:"cell,omitempty"` // empty, with kind and value, if the fault is one of the row as a whole
	Rule   string `json:"rule"`
	Kind   string `json:"kind,omitempty"`  // of the cell: empty, text, number, bool or error
	Value  string `json:"value,omitempty"` // as it stands in the file
}

// ValuesFile is the file that WriteValues wrote.
type ValuesFile struct {
	File   string `json:"file"`
	Values int    `json:"values"` // lines
	SHA256 string `json:"sha256"`
}

// CheckValues refuses a place that WriteValues must not write to, before the work begins: where a file is, or in the folders that the
// batch keeps, whose files are guarded by digests and made anew.
func (p *Pipeline) CheckValues(path string) error {
	if err := unoccupied(path); err != nil {
		return err
	}
	at, err := realFolder(path)
	if err != nil {
		return &ConfigError{File: path, Message: "can't be written: " + pathless(err), Remedy: "give a folder that is there and that you may write to"}
	}
	for _, dir := range []string{p.home, p.vault()} {
		within, err := filepath.EvalSymlinks(dir)
		if err != nil {
			continue // it is not there
		}
		if within, err = filepath.Abs(within); err != nil {
			return err
		}
		if rel, err := filepath.Rel(within, at); err == nil && filepath.IsLocal(rel) {
			return &ConfigError{File: path, Message: "lies among what sheetlift keeps of the batch", Remedy: "give a place outside " + dir + ", from which the file can be deleted when its work is done"}
		}
	}
	return nil
}

// realFolder is the folder that a file would lie in, links resolved.
func realFolder(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(filepath.Dir(abs))
}

// WriteValues writes the faults of the rejected rows of a dry-run with the values of their cells, one JSON object a line, in the order of
// sources and rows. The file holds personal data: it is 0600 and recorded as a copy. It is there whole or not at all.
func (p *Pipeline) WriteValues(ctx context.Context, dry *DryRunResult, path string) error {
	if err := p.CheckValues(path); err != nil {
		return err
	}
	w, path, err := p.rejectsWriter(ctx, dry, path, "values")
	if err != nil || w == nil {
		return err
	}
	return unwritten(path, w.values(ctx, dry, path))
}

func (w *rejectsWriter) values(ctx context.Context, dry *DryRunResult, path string) error {
	f, err := partialOf(path)
	if err != nil {
		return err
	}
	buf := bufio.NewWriter(f)
	enc := json.NewEncoder(buf)
	enc.SetEscapeHTML(false)
	out := &ValuesFile{}
	for i := range w.batch.Sources {
		if err = w.valuesOf(ctx, i, func(v *RejectedValue) error { out.Values++; return enc.Encode(v) }); err != nil {
			break
		}
	}
	if err == nil {
		err = buf.Flush()
	}
	if err = ended(f, err); err != nil {
		return err
	}
	if out.SHA256, err = w.place(ctx, f.Name(), path, "values"); err != nil {
		return err
	}
	out.File, dry.Values = path, out
	return nil
}

// valuesOf gives the lines of one source.
func (w *rejectsWriter) valuesOf(ctx context.Context, i int, f func(*RejectedValue) error) error {
	head := func(*sheet, *source.Block, []string, int) error { return nil }
	return w.rows(ctx, i, head, func(sh *sheet, b *source.Block, k int, r *rejectedRow) error {
		faults := r.Faults
		if len(faults) == 0 { // the finding is about the column
			faults = []rejectedBy{{Rule: r.Rule}}
		}
		for _, x := range faults {
			v := &RejectedValue{Source: sh.src.Name, File: sh.src.File, Sheet: sh.env.Sheet, Row: r.Row, Line: lineAt(b, k), Column: x.Column, Rule: x.Rule}
			if x.Column != "" {
				col := columnNumber(x.Column)
				c := b.Cell(col, k)
				v.Cell, v.Kind, v.Value = source.Ref(col, r.Row), c.Kind.String(), strings.ToValidUTF8(string(b.Bytes(c)), "\uFFFD")
			}
			if err := f(v); err != nil {
				return err
			}
		}
		return nil
	})
}
