package reports

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"sheetlift/importers"
	"sheetlift/pipeline"
	"sheetlift/pipeline/finding"
)

func inventory(p *page, r *pipeline.InventoryResult) {
	var sheets, rows, cells int
	for _, f := range r.Files {
		sheets += len(f.Sheets)
		for _, s := range f.Sheets {
			rows += s.Rows
			cells += s.Cells
		}
	}
	p.head("inventory", &r.Outcome, fmt.Sprintf("%s, %s, %s, %s",
		counted(len(r.Files), "file"), counted(sheets, "sheet"), counted(rows, "row"), counted(cells, "non-empty cell")))
	if p.brief {
		p.findings(&r.Outcome)
		return
	}
	for _, f := range r.Files {
		p.line("  %s: %s", clean(f.File), clean(f.Type))
	}
	t := table{head: []string{"file", "sheet", "source", "header", "rows", "cells", "columns", "candidate keys", "remarks"}}
	for _, f := range r.Files {
		for _, s := range f.Sheets {
			t.add(f.File, s.Sheet, cmp.Or(s.Source, "(not read)"), s.HeaderRow, s.Rows, s.Cells, len(s.Columns), strings.Join(s.Keys, " "), remarks(&s))
		}
	}
	p.table("  ", t)
	p.findings(&r.Outcome)
}

func remarks(s *pipeline.InventorySheet) string {
	var out []string
	if s.Visibility != "visible" && s.Visibility != "" {
		out = append(out, s.Visibility)
	}
	for _, x := range []struct {
		n    int
		word string
	}{
		{s.Duplicates, "duplicate row"}, {s.HiddenRows, "hidden row"}, {s.Merged, "merged range"},
		{s.Formulas, "formula"}, {s.NoCache, "formula without value"}, {s.Errors, "error cell"},
	} {
		if x.n > 0 {
			// "formulas without value", not "formula without values"
			first, rest, _ := strings.Cut(x.word, " without")
			word := counted(x.n, first)
			if rest != "" {
				word += " without" + rest
			}
			out = append(out, word)
		}
	}
	return strings.Join(out, ", ")
}

func freeze(p *page, r *pipeline.FreezeResult) {
	frozen := fmt.Sprintf("%s, %s, frozen", counted(len(r.Files), "file"), counted(r.Bytes, "byte"))
	if r.Number > 0 {
		frozen += " as snapshot " + r.Snapshot
	}
	p.head("freeze", &r.Outcome, frozen)
	if !p.brief {
		t := table{head: []string{"file", "bytes", "obtained at", "SHA-256"}}
		for _, f := range r.Files {
			t.add(f.File, f.Size, f.ObtainedAt, short(f.SHA256)+"…")
		}
		p.table("  ", t)
	}
	for _, s := range r.Parts {
		if s.Base != "" {
			p.line("  mended rows of source %s, handed out from snapshot %s", clean(s.Source), clean(s.Base))
		} else {
			by := ""
			switch s.ObtainedBy {
			case pipeline.ByFile:
				by = " (the file was last changed then; --obtained-at states another time)"
			case pipeline.ByFirstExport:
				by = " (the time of the first export, for the file is older; --obtained-at states when it was made)"
			}
			p.line("  fresh export of source %s, obtained at %s%s", clean(s.Source), clean(s.ObtainedAt), by)
		}
	}
	p.line("  manifest %s", r.Manifest)
	if r.Bag != "" {
		p.line("  bag %s", clean(r.Bag))
	}
	if r.SignedBy != "" && !p.brief {
		p.line("  signed by %s", clean(r.SignedBy))
	}
	if len(r.ByRule) > 0 {
		p.findings(&r.Outcome)
	}
}

func mapped(p *page, r *pipeline.MapResult) {
	verdict := counted(len(r.Sources), "mapping") + " compiled"
	if !r.Passed {
		verdict = "the mappings don't fit the data yet"
	}
	p.head("map", &r.Outcome, verdict)
	if p.brief {
		p.findings(&r.Outcome)
		return
	}
	t := table{head: []string{"source", "rows", "columns", "entities", "unmapped columns"}}
	for _, s := range r.Sources {
		unmapped := make([]string, len(s.Unmapped))
		for i, u := range s.Unmapped {
			unmapped[i] = clean(u)
		}
		t.add(s.Source, s.Rows, s.Columns, records(s.Entities), cmp.Or(strings.Join(unmapped, ", "), "none"))
	}
	p.table("  ", t)
	p.findings(&r.Outcome)
}

// records names the entities of a row's records, each once with how many it gives.
func records(entities []string) string {
	times := map[string]int{}
	var out []string
	for _, e := range entities {
		times[e]++
	}
	for _, e := range entities {
		switch n := times[e]; {
		case n > 1:
			out = append(out, fmt.Sprintf("%s (%d a row)", e, n))
		case n == 1:
			out = append(out, e)
		}
		delete(times, e)
	}
	return strings.Join(out, ", ")
}

func dryRun(p *page, r *pipeline.DryRunResult) {
	verdict := "passed"
	if !r.Passed {
		verdict = "did NOT pass; nothing can be imported yet"
	}
	if r.Rows.Rejected > 0 {
		verdict += ", " + counted(r.Rows.Rejected, "row") + " rejected"
	}
	p.head("dryrun", &r.Outcome, verdict)
	cases(p, r.Cases, "", "the newest export")
	stillGiven(p, r.StillGiven)
	if !p.brief { // run says it at its end
		notBack(p, r.NotBack)
	}
	t := table{head: []string{"source", "rows read", "accepted", "rejected", "tolerance", "skipped"}}
	for _, s := range r.Sources {
		t.add(s.Source, s.Rows.Read, s.Rows.Accepted, s.Rows.Rejected, s.Tolerance, s.Rows.Skipped)
	}
	if len(r.Sources) > 1 {
		t.foot = []any{"all", r.Rows.Read, r.Rows.Accepted, r.Rows.Rejected, "", r.Rows.Skipped}
	}
	p.table("  ", t)
	for _, s := range r.Sources {
		if len(s.Rejected) > 0 {
			p.wrapped("  rejected from "+clean(s.Source)+": ", few(tally(s.Rejected)))
		}
		if len(s.Skipped) > 0 {
			p.wrapped("  skipped from "+clean(s.Source)+": ", tally(s.Skipped))
		}
	}
	if a := r.Anew; a != nil && a.Rows > 0 {
		p.prose("  ", fmt.Sprintf("unchanged rows that had been rejected only for what other rows say, judged anew: %s, of which %s accepted", number(a.Rows), number(a.Accepted)))
	}
	for _, s := range r.Sources {
		if s.Corrected+s.Vanished > 0 {
			p.line("  %s: %s corrected, %s no longer in the export (they stay as they are)", clean(s.Source), counted(s.Corrected, "record"), counted(s.Vanished, "record"))
		}
	}
	var records []string
	for i := range importers.Entities {
		if e, ok := r.Entities[importers.Entities[i].Name]; ok && e.Records > 0 {
			records = append(records, importers.Entities[i].Name+" "+number(e.Records))
		}
	}
	if len(records) > 0 {
		p.wrapped("  records: ", records)
	}
	if c := r.Entities["consent"]; c != nil && c.Records > 0 {
		p.line("  consent: %s, %s", counted(c.Receipts, "receipt"), counted(c.LegacyAssertions, "legacy assertion"))
		p.wrapped("    confidence: ", ordered(c.ByConfidence, string(importers.Strong), string(importers.Partial), string(importers.Weak), string(importers.NoConfidence)))
		if len(c.Missing) > 0 {
			var names []string
			for _, q := range importers.Questions {
				names = append(names, q.Name)
			}
			p.wrapped("    missing: ", ordered(c.Missing, names...))
		}
	}
	p.found("findings", &r.Outcome, true)
	for _, f := range r.Rejects {
		p.line("  %s to mend: %s (personal data)", counted(f.Rows, "row"), clean(f.File))
	}
	if f := r.Values; f != nil {
		p.line("  faults with their values: %s, %s (personal data)", number(f.Values), clean(f.File))
	}
}

// StillGiven words how many given consents of the register rejected rows speak against.
func StillGiven(n int) string {
	if n == 1 {
		return "1 consent in the register is given though a rejected row speaks against it"
	}
	return counted(n, "consent") + " in the register are given though rejected rows speak against them"
}

func stillGiven(p *page, n int) {
	if n > 0 {
		p.prose("  ", StillGiven(n)+" (consent.still_given)")
	}
}

// NotBack words how many rows that earlier snapshots rejected have not come back; empty if none.
func NotBack(list []pipeline.NotBack) string {
	all := 0
	var places []string
	for _, n := range list {
		all += n.Rows
		where := clean(n.File)
		if n.Sheet != "" {
			where += " sheet " + clean(n.Sheet)
		}
		var at []string
		for _, row := range n.First {
			at = append(at, number(row))
		}
		if more := n.Rows - len(n.First); more > 0 {
			at = append(at, "and "+number(more)+" more")
		}
		places = append(places, fmt.Sprintf("%s %s %s (snapshot %s)", where, finding.Word(n.Rows, "row", "rows"), strings.Join(at, ", "), clean(n.Snapshot)))
	}
	switch all {
	case 0:
		return ""
	case 1:
		return "1 row that an earlier snapshot rejected has not come back: " + strings.Join(places, "; ")
	}
	return counted(all, "row") + " that earlier snapshots rejected have not come back: " + strings.Join(places, "; ")
}

// NotBackRemedy says what to do about them.
const NotBackRemedy = "`sheetlift trace` of a cell says what is wrong with its row; mend such a row in the file of rejects of its snapshot, and freeze that with `--snapshot mended`"

// Awaited writes which rows that earlier snapshots rejected have not come back, if any.
func Awaited(w io.Writer, list []pipeline.NotBack) error {
	p := &page{w: w, width: screen(w)}
	notBack(p, list)
	return p.err
}

func notBack(p *page, list []pipeline.NotBack) {
	if text := NotBack(list); text != "" {
		p.prose("  ", text+". "+NotBackRemedy)
	}
}

func registerChanged(p *page, changed bool) {
	if changed {
		p.prose("  ", pipeline.RegisterChanged)
	}
}

// StillGivenElsewhere words the same of rejected rows of other batches, which have the findings. The batches need not be named.
func StillGivenElsewhere(n int, batches []string) string {
	where := ""
	if len(batches) > 0 {
		where = ": " + clean(strings.Join(batches, ", "))
	}
	if n == 1 {
		return "1 consent of this batch is given in the register though a rejected row of another batch speaks against it" + where + " (trace of the consent names the row)"
	}
	return counted(n, "consent") + " of this batch are given in the register though rejected rows of other batches speak against them" + where + " (trace of a consent names the rows)"
}

func stillGivenElsewhere(p *page, n int, batches []string) {
	if n > 0 {
		p.prose("  ", StillGivenElsewhere(n, batches))
	}
}

// cases says how many cases are open, and the day they are counted by: what that day is.
func cases(p *page, c pipeline.CaseCount, where, what string) {
	if c.Open > 0 {
		asOf := ""
		if c.AsOf != "" {
			asOf = " as of " + what + ", " + c.AsOf
		}
		p.line("  open cases"+where+asOf+": %s, %s overdue, %s due within seven days", number(c.Open), number(c.Overdue), number(c.DueSoon))
	}
}

// tally lists counts, the largest first.
func tally(m map[string]int) []string {
	keys := slices.SortedFunc(maps.Keys(m), func(a, b string) int {
		return cmp.Or(cmp.Compare(m[b], m[a]), strings.Compare(a, b))
	})
	return ordered(m, keys...)
}

// few shortens a list, and says so.
func few(items []string) []string {
	const most = 6
	if len(items) <= most+1 {
		return items
	}
	return append(items[:most:most], "and by "+counted(len(items)-most, "more rule"))
}

// ordered lists counts in the order of names, and whatever else there is after them.
func ordered(m map[string]int, names ...string) []string {
	for _, k := range slices.Sorted(maps.Keys(m)) {
		if !slices.Contains(names, k) {
			names = append(names, k)
		}
	}
	var out []string
	for _, k := range names {
		if m[k] > 0 {
			out = append(out, clean(k)+" "+number(m[k]))
		}
	}
	return out
}

func imported(p *page, r *pipeline.ImportResult) {
	var all int64
	for _, e := range r.Entities {
		all += e.Records
	}
	verdict := counted(all, "record") + " in the register"
	if r.AlreadyDone && r.Complete {
		p.line("import %s: already imported, nothing was changed; %s", clean(r.Batch), verdict)
	} else {
		p.head("import", &r.Outcome, verdict)
	}
	t := table{head: []string{"table", "records"}}
	for _, e := range r.Entities {
		t.add(e.Table, e.Records)
	}
	p.table("  ", t)
	if r.Vouched > 0 {
		p.prose("  ", counted(r.Vouched, "record")+" of other batches "+finding.Word(r.Vouched, "was", "were")+" there before: known rows vouch for "+finding.Word(r.Vouched, "it, and it stays", "them, and they stay")+" if those batches are undone")
	}
	p.line("  from the dry-run %s…", short(r.DryRun))
	notBrought(p, r.NotBrought)
	if len(r.ByRule) > 0 {
		p.findings(&r.Outcome)
	}
}

func notBrought(p *page, n *pipeline.NotBrought) {
	if n != nil {
		p.prose("  ", clean(n.How()+"; "+n.Remedy()))
	}
}

func reconcile(p *page, r *pipeline.ReconcileResult) {
	verdict := "frozen, staged and register agree"
	if !r.Passed {
		verdict = "frozen, staged and register do NOT agree"
	}
	p.head("reconcile", &r.Outcome, verdict)
	stillGiven(p, r.StillGiven)
	stillGivenElsewhere(p, r.StillGivenElsewhere, nil)
	if p.brief && r.Passed {
		return
	}
	t := table{head: []string{"source", "rows frozen", "staged", "register", "agree"}}
	for _, s := range r.Sources {
		t.add(s.Source, s.Frozen.Count, s.Staged.Count, s.Register.Count, yes(s.Agree))
	}
	p.table("  ", t)
	t = table{head: []string{"source", "entity", "records staged", "register", "agree"}}
	for _, e := range r.Entities {
		t.add(e.Source, e.Entity, e.Staged.Count, e.Register.Count, yes(e.Agree))
	}
	p.table("  ", t)
	if len(r.Sample) > 0 {
		p.line("  a sample to look at: cell and record")
		t = table{head: []string{"entity", "place", "record", "agree"}}
		for _, s := range r.Sample {
			t.add(s.Entity, s.Place, s.Record, yes(s.Agree))
		}
		p.table("    ", t)
	}
	if len(r.ByRule) > 0 {
		p.findings(&r.Outcome)
	}
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return "NO"
}

func undo(p *page, r *pipeline.UndoResult) {
	p.head("undo", &r.Outcome, fmt.Sprintf("%s taken back, %s kept", counted(r.Retracted, "record"), number(r.Kept)))
	t := table{head: []string{"entity", "taken back", "kept: corrected since", "kept: in another batch", "kept: in use"}}
	for _, e := range r.Entities {
		if e.Retracted+e.Changed+e.PassedOn+e.OtherBatch+e.InUse > 0 {
			t.add(e.Entity, e.Retracted, e.Changed, e.PassedOn+e.OtherBatch, e.InUse)
		}
	}
	p.table("  ", t)
	if len(r.PassedOn) > 0 {
		var all int64
		var words []string
		for _, to := range r.PassedOn {
			all += to.Records
			words = append(words, fmt.Sprintf("batch %s %s", clean(to.Batch), number(to.Records)))
		}
		p.prose("  ", counted(all, "kept record")+finding.Word(all, " is now that of another batch, which has it as well: ", " are now those of other batches, which have them as well: ")+strings.Join(words, ", "))
	}
	if r.Released > 0 {
		p.prose("  ", counted(r.Released, "record")+" that rows of this batch had only vouched for "+finding.Word(r.Released, "stays", "stay")+" with other batches")
	}
	if len(r.Snapshots) > 0 {
		p.line("  no longer part of the batch: %s; once the initial snapshot is imported again, freeze their files again: `sheetlift status` names the commands", strings.Join(r.Snapshots, ", "))
	}
	if len(r.KnownElsewhere) > 0 {
		p.prose("  ", clean(pipeline.KnownIn(r.KnownElsewhere))+" as known to the register that vouch for nothing; what only this batch had brought of their records is gone: on each of these batches, `sheetlift dryrun` says which rows it would accept now")
	}
	if len(r.JudgeAgain) > 0 {
		var words []string
		for _, b := range r.JudgeAgain {
			words = append(words, fmt.Sprintf("batch %s %s", clean(b.Batch), number(b.StillGiven)))
		}
		p.prose("  ", "rejected rows of other batches speak against consents, and how many of these the register holds as given may have changed with this undo; the last dry-run of each found: "+
			strings.Join(words, ", ")+"; `sheetlift dryrun` on each of these batches looks again")
	}
	p.findings(&r.Outcome)
}

func explain(p *page, r *pipeline.ExplainResult) {
	p.line("map %s: what becomes of each column", clean(r.Batch))
	for _, s := range r.Sources {
		place := s.File
		if s.Sheet != "" {
			place += fmt.Sprintf(", sheet %q", s.Sheet)
		}
		lead := fmt.Sprintf("%s (%s): %s read; the mapping accepts %s, rejects %s, skips %s", clean(s.Source), clean(place),
			counted(s.Rows.Read, "row"), number(s.Rows.Accepted), number(s.Rows.Rejected), number(s.Rows.Skipped))
		if p.width > 0 {
			p.prose("  ", lead)
		} else {
			p.line("  %s", lead)
		}
		t := table{head: []string{"column", "header", "field", "in", "out", "rejected", "null", "left", "read as"}}
		for _, c := range s.Columns {
			field := c.Field
			if c.Key {
				field += " (key)"
			}
			t.add(c.Column, c.Name, field, c.In, c.Out, c.Rejected, c.Null, c.Left, c.How)
		}
		if !p.tooWide("    ", &t) {
			p.table("    ", t)
			continue
		}
		// How a column is read stands behind its numbers where there is room, else below them.
		for i := range t.rows {
			t.rows[i] = t.rows[i][:len(t.rows[i])-1]
		}
		t.head = t.head[:len(t.head)-1]
		for i, line := range t.lines(0) {
			how := "read as"
			if i > 0 {
				how = clean(s.Columns[i-1].How)
			}
			if len("    ")+len(line)+len("  ")+len(how) <= p.width {
				p.line("    %s  %s", line, how)
				continue
			}
			p.line("    %s", line)
			p.prose("            ", how)
		}
	}
}
