package reports

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"sheetlift/importers"
	"sheetlift/pipeline"
	"sheetlift/pipeline/finding"
)

func status(p *page, r *pipeline.StatusResult) {
	of := ""
	if r.Snapshot != "" && r.Snapshot != pipeline.Initial {
		of = ", snapshot " + r.Snapshot
	}
	p.line("batch %s%s", clean(r.Batch), clean(of))
	cases(p, r.Cases, " in the register", "today")
	stillGiven(p, r.StillGiven)
	notBack(p, r.NotBack)
	notBrought(p, r.NotBrought)
	t := table{head: []string{"stage", "state", "by", "finished", "digest", "remark"}}
	for _, s := range r.Stages {
		digest := ""
		if s.Digest != "" {
			digest = short(s.Digest) + "…"
		}
		t.add(s.Stage, s.State, s.Operator, s.Finished, digest, s.Why)
	}
	if p.tooWide("  ", &t) { // digests are for comparing, which --output json is better for
		t.head = slices.Delete(slices.Clone(t.head), 4, 5)
		for i := range t.rows {
			t.rows[i] = slices.Delete(slices.Clone(t.rows[i]), 4, 5)
		}
	}
	p.table("  ", t)
	if len(r.Retracted) > 0 {
		p.prose("  ", "no longer part of the batch since it was undone; take their files in again from their bags, each once the snapshot before is imported:")
		for _, s := range r.Retracted {
			p.line("    %s: %s", clean(s.Snapshot), clean(strings.Replace(s.Next, "sheetlift freeze --", "sheetlift freeze BATCH --", 1)))
		}
	}
	if f := r.Found; f != nil {
		p.found(f.Stage+" found", &pipeline.Outcome{Findings: f.Findings, ByRule: f.ByRule, FindingsFile: f.FindingsFile}, true)
	}
}

// notGiven says why a cell gave nothing of a field.
var notGiven = map[string]string{
	"blank":    "it is blank",
	"when":     "the field's when leaves it out in this row",
	"no_value": "what it holds stands for no value, or another cell goes first",
}

func trace(p *page, r *pipeline.TraceResult) {
	if r.Cell != "" {
		p.line("row of cell %s: %s", clean(r.Cell), counted(len(r.Records), "record"))
		if r.Repeats > 0 {
			p.line("the row repeats row %s, which gave what is shown", number(r.Repeats))
		}
	} else {
		p.line("%s under that external id: %s", clean(r.Entity), counted(len(r.Records), "record"))
	}
	for _, u := range r.Unfinished {
		how, far := "is not finished", fmt.Sprintf("%s of %s are in the register", number(u.Records), counted(u.Of, "record"))
		if u.Running {
			how = "is running"
		}
		if u.Stage == pipeline.Undo {
			far = counted(u.Records, "record") + " taken out of the register"
		}
		p.line("not final: the %s of batch %s, snapshot %s, %s: %s", u.Stage, clean(u.Batch), clean(u.Snapshot), how, far)
	}
	for _, rec := range r.Records {
		p.line("")
		class := ""
		if rec.Class != "" {
			class = ", " + rec.Class
		}
		p.line("%s %s (system %s%s, version %d)", clean(cmp.Or(rec.Entity, "record")), rec.ID, clean(rec.System), clean(class), rec.Version)
		if len(rec.FromCell) > 0 {
			p.line("  the cell gave %s", clean(strings.Join(rec.FromCell, ", ")))
		} else if rec.Untold {
			p.line("  which of its fields the cell gave can't be told: the frozen file is not what it was, or two records of the mapping fit alike")
		} else if r.Cell != "" && len(rec.NotGiven) == 0 {
			p.line("  the cell gave none of its fields")
		}
		for _, not := range rec.NotGiven {
			from := ""
			if not.From != "" {
				from = "; its value is from " + clean(not.From)
			}
			p.line("  the cell gave no %s: %s%s", clean(not.Field), notGiven[not.Because], from)
		}
		if rec.State != "" {
			p.line("  state now: %s, because of %s", rec.State, because(rec.StateCause))
		}
		if rec.StateSoFar != "" {
			p.line("  state so far, not final: %s, because of %s", rec.StateSoFar, because(rec.StateSoFarCause))
		}
		for _, by := range rec.Opposed {
			if by.Batch != "" {
				at := fmt.Sprintf("row %d", by.Row)
				if by.Sheet != "" {
					at = fmt.Sprintf("sheet %q, %s", by.Sheet, at)
				}
				p.line("  but a rejected row of another batch speaks against it: %s (batch %s, snapshot %s, source %s, file %s…)", clean(at), clean(by.Batch), clean(by.Snapshot), clean(by.Source), short(by.SHA256))
				continue
			}
			p.line("  but a rejected row speaks against it: %s (source %s, snapshot %s)", Place(&finding.Finding{File: by.File, Sheet: by.Sheet, Row: by.Row, Line: by.Line, Cell: by.Cell}), clean(by.Source), clean(by.Snapshot))
		}
		// Fields in the order of the entity, then what the rules derived.
		names := slices.Sorted(maps.Keys(rec.Values))
		if e := importers.ByName(cmp.Or(rec.Entity, r.Entity)); e != nil {
			slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(place(e, a), place(e, b)) })
		}
		t := table{head: []string{"field", "value"}}
		for _, n := range names {
			t.add(n, rec.Values[n])
		}
		p.table("  ", t)
		for _, at := range rec.Places {
			p.line("  from %s", where(&at))
			p.line("    batch %s, snapshot %s, source %s; file %s…, mapping %s…, staged %s…",
				clean(at.Batch), clean(at.Snapshot), clean(at.Source), short(at.SHA256), short(at.Mapping), short(at.Staged))
			if why := at.Undone(); why != "" {
				p.line("    %s", why)
			}
			if at.Known {
				p.line("    the row was skipped as known: the register held the record, and the row vouches for it")
			}
			if len(at.Cells) > 0 {
				var cells []string
				for _, f := range slices.Sorted(maps.Keys(at.Cells)) {
					cells = append(cells, clean(f+" "+at.Cells[f]))
				}
				p.line("    cells: %s", strings.Join(cells, ", "))
			}
		}
	}
}

func place(e *importers.Entity, field string) int {
	if i := e.Field(field); i >= 0 {
		return i
	}
	return len(e.Fields)
}

// because turns a rule word into the sentence of docs/consent.md.
func because(word string) string {
	for _, b := range importers.Because {
		if b.Word == word {
			return fmt.Sprintf("%s: %s", word, b.Meaning)
		}
	}
	return clean(word)
}

func where(at *pipeline.TracePlace) string {
	s := cmp.Or(at.File, "a file")
	if at.Sheet != "" {
		s += fmt.Sprintf(", sheet %q", at.Sheet)
	}
	s += fmt.Sprintf(", row %d", at.Row)
	if at.Line > 0 {
		s += fmt.Sprintf(", line %d", at.Line)
	}
	return clean(s)
}

func verify(p *page, r *pipeline.VerifyResult) {
	failed := 0
	for _, c := range r.Checks {
		if !c.OK {
			failed++
		}
	}
	if r.Passed && failed == 0 {
		p.line("verify %s: %s, all right", clean(r.Batch), counted(len(r.Checks), "check"))
	} else {
		p.line("verify %s: %s of %s FAILED", clean(r.Batch), number(failed), counted(len(r.Checks), "check"))
	}
	t := table{head: []string{"check", "right", "detail"}}
	for _, c := range r.Checks {
		t.add(c.What, yes(c.OK), c.Detail)
	}
	p.table("  ", t)
}
