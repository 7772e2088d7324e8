package pipeline

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"sync"

	"github.com/google/uuid"

	"sheetlift/importers"
	"sheetlift/importers/source"
	"sheetlift/importers/staged"
	"sheetlift/mappings"
	"sheetlift/pipeline/finding"
)

// settle decides every row of a source and stages the records of the accepted ones.
func (d *dryRunner) settle(ctx context.Context, in *FreezeResult, sh *sheet, plan *mappings.Plan) (DryRunSource, []StagedFile, error) {
	s := &settler{
		dryRunner: d, decider: d.newDecider(sh), sh: sh, plan: plan, writers: map[string]*staged.Writer{}, part: in.part(sh.src.Name),
		out: DryRunSource{Source: sh.src.Name, File: sh.src.File, Sheet: sh.env.Sheet, Rejected: map[string]int{}, Skipped: map[string]int{},
			Tolerance: sh.src.Tolerance.Rows, Reason: sh.src.Tolerance.Reason, Owner: sh.src.Tolerance.Owner},
	}
	defer s.abort()
	left := sync.OnceValues(func() (bool, error) { return d.leftAny(ctx) })
	s.wayOut = func(x *identified) (string, error) { return d.Pipeline.wayOut(ctx, x, left) }
	if err := s.expect(ctx); err != nil {
		return s.out, nil, err
	}
	var worker func() (func(*passed) error, error)
	var read feed
	switch {
	case sh.laid != nil:
		read = sh.laid.feed()
		worker = func() (func(*passed) error, error) {
			r := &recaller{dryRunner: d, sh: sh, laid: sh.laid, decider: d.newDecider(sh)}
			return r.block, nil
		}
	default:
		read = rowsOfSheet(sh, nil)
		worker = func() (func(*passed) error, error) {
			own, err := plan.Clone()
			return func(p *passed) error {
				d.put(sh, own, p)
				return nil
			}, err
		}
	}
	err := d.pass(ctx, d.alone(sh), read, worker, func(p *passed) error {
		d.opt.Progress(DryRun, sh.src.Name, int64(s.out.Rows.Read), 0)
		s.block++
		s.gathered = &p.gathered
		from := 0 // of the gathered records, the next
		for i := range p.list {
			x := &p.list[i]
			if err := s.takeRows(from, x.after); err != nil {
				return err
			}
			if from = x.after; x.gathered > 0 {
				from++
			}
			for _, f := range x.findings {
				s.fault(f)
				if err := d.rec.Add(f); err != nil {
					return err
				}
			}
			if err := s.row(x); err != nil {
				return err
			}
		}
		if err := s.takeRows(from, len(p.gathered.kinds)); err != nil {
			return err
		}
		return s.takeDue() // the memory of the block is used again
	})
	if sh.laid != nil {
		sh.laid.letGo()
	}
	if err == nil {
		err = s.strays()
	}
	if err == nil {
		err = s.vanished()
	}
	if err != nil {
		return s.out, nil, err
	}
	if s.out.Rows.Rejected > s.out.Tolerance {
		err := add(d.rec, "source.over_tolerance", sh.src, sh.src.File, sh.env.Sheet, func(f *finding.Finding) {
			f.Rows = s.out.Rows.Rejected
			f.Message = fmt.Sprintf("%s rejected, the tolerance is %d", finding.Count(s.out.Rows.Rejected, "row is", "rows are"), s.out.Tolerance)
		})
		if err != nil {
			return s.out, nil, err
		}
	}
	s.tally.flush()
	files, err := s.close()
	return s.out, files, err
}

// settler decides the rows of one source.
type settler struct {
	*dryRunner
	decider  *decider
	sh       *sheet
	plan     *mappings.Plan
	out      DryRunSource
	writers  map[string]*staged.Writer // by name of the staged file
	part     *FrozenPart               // of a snapshot after the initial one
	records  []identified              // of the row under way
	faults   []rejectedBy              // of the row under way
	keep     []judged                  // its records that may be staged
	decided  []*decision               // of its records
	derived  derivation
	tally    verdictTally
	block    int       // under way
	gathered *gathered // of the block
	due      span      // of what is gathered: to be staged next
	last     struct {  // what was staged last, and where
		e    *importers.Entity
		part string
		w    *staged.Writer
	}
	wayOut func(x *identified) (string, error) // see wayOut of Pipeline
	gone   map[uuid.UUID]bool                  // delta: records of the register that no row has given so far
}

func (s *settler) abort() {
	for _, w := range s.writers {
		w.Abort()
	}
}

// close finishes the staged files, in the order of entities.
func (s *settler) close() ([]StagedFile, error) {
	var files []StagedFile
	for i := range importers.Entities {
		for _, part := range append(slices.Clone(stagedParts), partKnown) {
			name := stagedName(s.sh.src.Name, importers.Entities[i].Name, part)
			w := s.writers[name]
			if w == nil {
				continue
			}
			delete(s.writers, name)
			rows, digest, err := w.Close()
			if err != nil {
				return nil, s.unstaged(err)
			}
			files = append(files, StagedFile{Entity: importers.Entities[i].Name, Source: s.sh.src.Name, Part: part, Rows: rows, SHA256: digest})
		}
	}
	return files, nil
}

func (s *settler) reject(row *mappings.Row, rule string) error {
	s.out.Rows.Rejected++
	s.out.Rejected[rule]++
	if err := s.againstHeld(row); err != nil {
		return err
	}
	if err := s.unrecordedOf(row); err != nil {
		return err
	}
	if rule == "consent.opposed_by_rejected" {
		if err := s.named(row); err != nil {
			return err
		}
	}
	return s.rejected.add(&rejectedRow{Source: s.sh.src.Name, Row: row.Num, Rule: rule, Faults: s.faults})
}

func (s *settler) skip(rule string) {
	s.out.Rows.Skipped++
	s.out.Skipped[rule]++
}

// row decides one row: rejected if any of its records is, skipped if none brings anything new, accepted otherwise.
func (s *settler) row(x *passedRow) error {
	row, records := x.row, x.records
	defer func() { s.faults = s.faults[:0] }()
	s.records = records
	s.out.Rows.Read++
	if torn, err := s.torn(row); torn || err != nil {
		return err
	}
	if len(s.gone) > 0 && row.Verdict != mappings.Accepted {
		for _, x := range s.plan.Named(row) {
			delete(s.gone, s.id.Record(s.sh.src.System, x.Entity.Name, x.Key))
		}
	}
	switch row.Verdict {
	case mappings.Rejected:
		return s.reject(row, row.Rule)
	case mappings.Skipped:
		s.skip(row.Rule)
		return s.silent(row)
	}
	anew := false
	if s.sh.view.untouched(row.Block, row.Index) && !s.facts.holds(records) {
		if anew = !s.staysOut(s.sh, row, records); anew && s.res.Anew != nil {
			s.res.Anew.Rows++
		}
		if !anew || s.unsolved(records) {
			return s.unmended(row)
		}
	}
	keep, decided := s.keep[:0], s.decided[:0]
	defer func() { s.keep, s.decided = keep, decided }()
	known, repeats := 0, 0
	first := ""
	for i := range records {
		x := &records[i]
		delete(s.gone, x.recordUID)
		j, d := s.judge(x)
		if d.err != nil {
			return d.err
		}
		if d.rule == "" && !x.History && slices.ContainsFunc(keep, func(k judged) bool { return k.recordUID == x.recordUID && k.content != x.content }) {
			d.rule, d.field, d.message = "key.multiple_match", "", "" // two records of one row under one key
		}
		decided = append(decided, d)
		switch d.rule {
		case "":
			if !slices.ContainsFunc(keep, func(k judged) bool { return k.uid == j.uid }) { // one row may say a thing twice
				keep = append(keep, j)
			}
		case "row.repeat":
			repeats++
		case "row.known":
			known++
		default:
			if first == "" {
				first = d.rule
			}
		}
	}
	rekeyed := ""
	if first == "" && len(keep) > 0 && known == 0 && s.facts.imported[place{s.sh.src.Name, row.Num}] {
		rekeyed = "row.rekeyed"
		if slices.ContainsFunc(keep, func(k judged) bool { return s.facts.heldRecords[k.recordUID] }) {
			rekeyed = "row.changed"
		}
	}
	for i, d := range decided {
		if err := s.tell(row, &records[i], d, first != "" || rekeyed != ""); err != nil {
			return err
		}
	}
	switch {
	case first != "":
		return s.reject(row, first)
	case rekeyed != "":
		if err := s.report(row, rekeyed, "", nil, nil); err != nil {
			return err
		}
		return s.reject(row, rekeyed)
	case len(keep) == 0 && known > 0:
		s.skip("row.known")
		why, err := s.vouchKnown(x, records, decided)
		if err != nil {
			return err
		}
		return s.report(row, "row.known", "", nil, worded(knownMessage(why)))
	case len(keep) == 0 && repeats > 0:
		s.skip("row.repeat")
		return s.report(row, "row.repeat", "", nil, nil)
	case len(keep) == 0:
		s.skip("row.no_record")
		return nil
	}
	s.out.Rows.Accepted++
	if anew && s.res.Anew != nil {
		s.res.Anew.Accepted++
	}
	if known > 0 {
		if _, err := s.vouchKnown(x, records, decided); err != nil {
			return err
		}
	}
	for i, d := range decided {
		for _, x := range d.beside {
			x.beside(records[i].id(), fmt.Sprintf("row %d of source %s", row.Num, s.sh.src.Name))
		}
	}
	if err := s.joint(row, records); err != nil {
		return err
	}
	for i := range keep {
		if err := s.stillHeld(row, &keep[i].identified); err != nil {
			return err
		}
		if err := s.stage(x, &keep[i]); err != nil {
			return err
		}
	}
	return nil
}

// judged is a record that may be staged.
type judged struct {
	identified
	verdict *importers.Verdict // consent only
	part    string             // of the staged file
	version int64              // correction: the version it is made against
}

// report adds a finding about a row, or about one field of one of its records.
func (s *settler) report(row *mappings.Row, rule, field string, x *identified, edit func(*finding.Finding)) error {
	f := finding.New(rule)
	f.Source, f.File, f.Sheet = s.sh.src.Name, s.sh.src.File, s.sh.env.Sheet
	f.Row, f.Line = row.Num, row.Line
	if x != nil {
		f.SubjectToken = s.subjectToken(x)
		if field != "" {
			f.Field = x.Entity.Name + "." + field
			if i := x.Entity.Field(field); i >= 0 && i < len(x.Columns) && len(x.Columns[i]) > 0 {
				f.Column = source.Letters(x.Columns[i][0])
				f.Cell = source.Ref(x.Columns[i][0], row.Num)
			}
		}
	}
	if edit != nil {
		edit(&f)
	}
	s.fault(f)
	return s.rec.Add(f)
}

func (s *settler) subjectToken(x *identified) string {
	if len(x.keys) > 0 && s.sh.env.Token != nil {
		return s.sh.env.Token(x.keys[0].Kind, x.keys[0].Value)
	}
	return ""
}

// judge decides one record.
func (s *settler) judge(x *identified) (judged, *decision) {
	d := s.decider.decided(x)
	if d.rule == "" && d.err == nil && !d.weighed {
		s.decider.weigh(x, d, s.records)
	}
	return judged{identified: *x, verdict: d.verdict, part: d.part, version: d.version}, d
}

// ofTheRecord are the notes that say what becomes of a record. None of a rejected row comes in, whichever of them was at fault.
var ofTheRecord = set("consent.overruled", "suppression.overrules", "subject.applies_to_all")

// tell reports why a record is rejected, and what is doubtful about it.
func (s *settler) tell(row *mappings.Row, x *identified, d *decision, rejected bool) error {
	for _, n := range d.notes {
		if rejected && ofTheRecord[n.rule] {
			continue
		}
		if err := s.report(row, n.rule, n.field, x, worded(n.message)); err != nil {
			return err
		}
	}
	if d.rule == "" || d.rule == "row.repeat" || d.rule == "row.known" { // a skipped row is reported once, whatever its records
		return nil
	}
	if d.rule == "register.conflict" && d.message == "" {
		message, err := s.wayOut(x)
		if err != nil {
			return err
		}
		return s.report(row, d.rule, d.field, x, worded(message))
	}
	return s.report(row, d.rule, d.field, x, worded(d.message))
}

func worded(message string) func(*finding.Finding) {
	if message == "" {
		return nil
	}
	return func(f *finding.Finding) { f.Message = message }
}

// stage appends one record to its staged file and counts it.
func (s *settler) stage(x *passedRow, j *judged) error {
	if x.gathered > 0 {
		return s.take(x.gathered-1, x.gathered)
	}
	if err := s.takeDue(); err != nil {
		return err
	}
	e := j.Entity
	w, err := s.writer(e, j.part)
	if err != nil {
		return err
	}
	derived, err := s.derived.of(&j.Record, j.verdict)
	if err != nil {
		return err
	}
	if j.part == partCorrect {
		derived = append(derived, staged.Cell{Int: j.version})
		s.out.Corrected++
	}
	o := s.origin(s.sh, x.row, &j.identified, &x.digest)
	o.Block = s.block
	if err := w.Append(&o, &j.Record, derived); err != nil {
		return s.unstaged(err)
	}
	s.facts.taken(&j.identified)
	if e.Config {
		s.facts.accept(&j.Record)
	}
	n := s.res.Entities[e.Name]
	n.Records++
	if e.Event {
		s.tally.add(n, j.verdict)
	}
	if e.Name == "case" {
		s.countCase(&j.Record)
	}
	return nil
}

func (d *dryRunner) unstaged(err error) error {
	return &FileError{Path: d.dir, Message: "staged files can't be written: " + err.Error(), Remedy: "make room on the disk and run dryrun again", Err: err}
}

// verdictTally counts records by their verdict, those with the verdict of the record before at once.
type verdictTally struct {
	count   *EntityCount
	verdict *importers.Verdict
	records int
}

func (t *verdictTally) add(n *EntityCount, v *importers.Verdict) {
	if t.count != n || t.verdict != v {
		t.flush()
		t.count, t.verdict = n, v
	}
	t.records++
}

// flush counts what has gathered.
func (t *verdictTally) flush() {
	if t.records == 0 {
		return
	}
	t.count.ByConfidence[string(t.verdict.Confidence)] += t.records
	if t.verdict.Class == importers.Receipt {
		t.count.Receipts += t.records
	} else {
		t.count.LegacyAssertions += t.records
	}
	for _, m := range t.verdict.Missing {
		t.count.Missing[m] += t.records
	}
	t.records = 0
}

// writer gives the staged file of an entity.
func (s *settler) writer(e *importers.Entity, part string) (*staged.Writer, error) {
	if s.last.w != nil && s.last.e == e && s.last.part == part {
		return s.last.w, nil
	}
	name := stagedName(s.sh.src.Name, e.Name, part)
	w := s.writers[name]
	if w == nil {
		var err error
		if w, err = staged.Create(filepath.Join(s.dir, name), e, moreColumns(part)...); err != nil {
			return nil, s.unstaged(err)
		}
		s.writers[name] = w
	}
	s.last.e, s.last.part, s.last.w = e, part, w
	return w, nil
}

// countCase counts an open case by how it stands on the day of the newest export.
func (d *dryRunner) countCase(rec *importers.Record) {
	if rec.Get("status").Text != "open" {
		return
	}
	d.res.Cases.Open++
	switch caseDue(rec, d.today) {
	case importers.Overdue:
		d.res.Cases.Overdue++
	case importers.DueSoon:
		d.res.Cases.DueSoon++
	}
}

// dueSoonDays is how many days ahead an open case is called due soon.
const dueSoonDays = 7

func caseDue(rec *importers.Record, today string) importers.DueState {
	_, state := importers.Due(importers.Day(*rec.Get("received_at")), rec.Get("due_at").Text, rec.Get("extended_to").Text, today, dueSoonDays)
	return state
}
