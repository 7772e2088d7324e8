package reports

import (
	"fmt"
	"strings"

	"sheetlift/pipeline"
)

// review is what fits a screen; the page and the workbook have the rest.
func review(p *page, r *pipeline.ReviewResult) {
	j := r.Judged
	if j == nil {
		p.line("review %s: no dry-run yet; %s came in", clean(r.Batch), counted(len(r.Files), "file"))
		return
	}
	verdict := "passed"
	switch {
	case !j.Complete:
		verdict = "INCOMPLETE: the dry-run stopped early, what follows is not all"
	case !j.Passed:
		verdict = "DID NOT PASS"
	case j.Imported:
		verdict = "imported"
	}
	p.line("review %s: %s, %s rejected", clean(r.Batch), verdict, counted(j.Rows.Rejected, "row"))
	cases(p, j.Cases, "", "the newest export")
	stillGiven(p, j.StillGiven)
	notBack(p, j.NotBack)
	registerChanged(p, j.RegisterChanged)
	stillGivenElsewhere(p, j.StillGivenElsewhere, j.StillGivenBatches)
	t := table{head: []string{"source", "purpose", "consents", "receipts", "missing most"}}
	for i := range j.Evidence {
		e := &j.Evidence[i]
		purpose := e.Purpose
		if purpose == "" {
			purpose = "(none named)"
		}
		most := ""
		for _, q := range []string{"subject", "purpose", "notice", "actor", "proof", "time", "status"} {
			if n := e.Missing[q]; n > 0 && (most == "" || n > e.Missing[most]) {
				most = q
			}
		}
		if most != "" {
			most = fmt.Sprintf("%s, in %s", most, number(e.Missing[most]))
		}
		t.add(e.Source, purpose, e.Records, e.Receipts, most)
	}
	p.table("  ", t)
	for _, s := range j.Timeline.Stamps {
		least := ""
		if s.AtLeast {
			least = "at least "
		}
		p.line("  bulk stamp in %s: %s%s of %s dated consents say %s", clean(s.Source), least, number(s.Records), number(s.Of), clean(s.At))
	}
	required, open := 0, 0
	for _, f := range j.Gaps.Fields {
		if f.Required {
			required++
			if f.State == pipeline.GapMissing || f.State == pipeline.GapPartly || f.State == pipeline.GapNoPlace {
				open++
			}
		}
	}
	p.line("  ISO/IEC TS 27560: %s of %s required fields are not answered for every consent", number(open), number(required))
}

// gaps is the whole table, for a terminal.
func gaps(p *page, r *pipeline.GapsResult) {
	consents := 0
	for _, s := range r.Sources {
		consents += s.Consents
	}
	open := map[pipeline.GapState]int{}
	for _, f := range r.Fields {
		if f.Required {
			open[f.State]++
		}
	}
	p.line("gaps of %s against ISO/IEC TS 27560: of the required fields %d are held, %d given by the register, %d held in part by statement, %d partly held, %d missing, %d without a place",
		clean(r.Batch), open[pipeline.GapHeld], open[pipeline.GapAssigned], open[pipeline.GapStated], open[pipeline.GapPartly], open[pipeline.GapMissing], open[pipeline.GapNoPlace])
	var names []string
	for _, s := range r.Sources {
		names = append(names, s.Source+" "+number(s.Consents))
	}
	if len(names) == 0 {
		p.line("  the batch brings no consents")
	} else {
		p.wrapped("  consents: ", cleaned(names))
	}
	head := []string{"field", "TS 27560", "state"}
	for _, s := range r.Sources {
		head = append(head, s.Source)
	}
	t := table{head: append(head, "DPV", "answered by")}
	for _, f := range r.Fields {
		required := "optional"
		if f.Required {
			required = "required"
		}
		row := []any{f.Field, required, strings.ReplaceAll(string(f.State), "_", " ")}
		for _, h := range f.Held {
			n := number(h.Held)
			switch {
			case f.State == pipeline.GapNoPlace:
				n = "-"
			case h.Stated > 0:
				n += fmt.Sprintf(" (%s stated)", number(h.Stated))
			}
			row = append(row, n)
		}
		where := f.Where
		if f.State == pipeline.GapNoPlace {
			where = "-"
		}
		t.add(append(row, f.DPV, where)...)
	}
	p.table("  ", t)
}

func cleaned(list []string) (out []string) {
	for _, s := range list {
		out = append(out, clean(s))
	}
	return out
}
