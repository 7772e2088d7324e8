package pipeline

import (
	"context"
	"crypto/sha256"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

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
		dryRunner: d, sh: sh, plan: plan, writers: map[string]*staged.Writer{}, part: in.part(sh.src.Name),
		out: DryRunSource{Source: sh.src.Name, File: sh.src.File, Sheet: sh.env.Sheet, Rejected: map[string]int{}, Skipped: map[string]int{},
			Tolerance: sh.src.Tolerance.Rows, Reason: sh.src.Tolerance.Reason, Owner: sh.src.Tolerance.Owner},
	}
	defer s.abort()
	if err := s.expect(ctx); err != nil {
		return s.out, nil, err
	}
	prepare := func(p *passed) {
		for i := range p.rows.List {
			row := &p.rows.List[i]
			d.prepareRow(sh, p, row, false)
			var digest [sha256.Size]byte
			if row.Verdict == mappings.Accepted {
				digest = row.Block.RowDigest(row.Index)
			}
			p.digests = append(p.digests, digest)
		}
	}
	err := d.pass(ctx, sh, plan, prepare, func(p *passed) error {
		d.opt.Progress(DryRun, sh.src.Name, int64(s.out.Rows.Read), 0)
		for i := range p.rows.List {
			for _, f := range p.rows.Findings(i) {
				s.fault(f)
				if err := d.rec.Add(f); err != nil {
					return err
				}
			}
			if err := s.row(&p.rows.List[i], p.records(i), &p.digests[i]); err != nil {
				return err
			}
		}
		return nil
	})
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
			f.Message = fmt.Sprintf("%d rows are rejected, the tolerance is %d", s.out.Rows.Rejected, s.out.Tolerance)
		})
		if err != nil {
			return s.out, nil, err
		}
	}
	files, err := s.close()
	return s.out, files, err
}

// settler decides the rows of one source.
type settler struct {
	*dryRunner
	sh      *sheet
	plan    *mappings.Plan
	out     DryRunSource
	writers map[string]*staged.Writer // by name of the staged file
	part    *FrozenPart               // of a snapshot after the initial one
	faults  []rejectedBy              // of the row under way
	keep    []judged                  // its records that may be staged
	derived derivation
	last    struct { // what was staged last, and where
		e    *importers.Entity
		part string
		w    *staged.Writer
	}
	gone map[uuid.UUID]bool // delta: records of the register that no row has given so far
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
		for _, part := range stagedParts {
			name := stagedName(s.sh.src.Name, importers.Entities[i].Name, part)
			w := s.writers[name]
			if w == nil {
				continue
			}
			delete(s.writers, name)
			rows, digest, err := w.Close()
			if err != nil {
				return nil, &FileError{Path: s.dir, Message: "staged files can't be written: " + err.Error(), Remedy: "make room on the disk and run dryrun again", Err: err}
			}
			files = append(files, StagedFile{Entity: importers.Entities[i].Name, Source: s.sh.src.Name, Part: part, Rows: rows, SHA256: digest})
		}
	}
	return files, nil
}

func (s *settler) reject(row *mappings.Row, rule string) error {
	s.out.Rows.Rejected++
	s.out.Rejected[rule]++
	return s.rejected.add(&rejectedRow{Source: s.sh.src.Name, Row: row.Num, Rule: rule, Faults: s.faults})
}

func (s *settler) skip(rule string) {
	s.out.Rows.Skipped++
	s.out.Skipped[rule]++
}

// row decides one row: rejected if any of its records is, skipped if none brings anything new, accepted otherwise.
func (s *settler) row(row *mappings.Row, records []identified, digest *[sha256.Size]byte) error {
	defer func() { s.faults = s.faults[:0] }()
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
		return nil
	}
	if s.sh.view.untouched(row.Block, row.Index) && !s.held(records) && !s.solved(row, records) {
		return s.unmended(row)
	}
	keep := s.keep[:0]
	defer func() { s.keep = keep }()
	known, repeats := 0, 0
	first := ""
	for i := range records {
		x := &records[i]
		delete(s.gone, x.recordUID)
		j, rule, err := s.judge(row, x)
		if err != nil {
			return err
		}
		if rule == "" && !x.History && slices.ContainsFunc(keep, func(k judged) bool { return k.recordUID == x.recordUID && k.content != x.content }) {
			rule = "key.multiple_match" // two records of one row under one key
			if err := s.report(row, rule, "", x, nil); err != nil {
				return err
			}
		}
		switch rule {
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
				first = rule
			}
		}
	}
	switch {
	case first != "":
		return s.reject(row, first)
	case len(keep) > 0 && known == 0 && s.facts.imported[place{s.sh.src.Name, row.Num}]:
		if err := s.report(row, "row.rekeyed", "", nil, nil); err != nil {
			return err
		}
		return s.reject(row, "row.rekeyed")
	case len(keep) == 0 && known > 0:
		s.skip("row.known")
		return s.report(row, "row.known", "", nil, nil)
	case len(keep) == 0 && repeats > 0:
		s.skip("row.repeat")
		return s.report(row, "row.repeat", "", nil, nil)
	case len(keep) == 0:
		s.skip("row.no_record")
		return nil
	}
	s.out.Rows.Accepted++
	for i := range keep {
		if err := s.stage(row, &keep[i], digest); err != nil {
			return err
		}
	}
	return nil
}

// held reports whether the register holds all that a row gives: then it did not stay rejected.
func (s *settler) held(records []identified) bool {
	for i := range records {
		if s.facts.heldState(&records[i]) != heldSame {
			return false
		}
	}
	return len(records) > 0
}

// judged is a record that may be staged.
type judged struct {
	identified
	verdict importers.Verdict // consent only
	part    string            // of the staged file
	version int64             // correction: the version it is made against
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

// decision is what the rules that look beyond the row say of one record.
type decision struct {
	rule    string // why it is rejected, repeats, or is known; "" if it may be staged
	field   string // the field concerned, if one is
	message string // instead of the rule's own
	notes   []note // findings beside the verdict
	verdict importers.Verdict
	part    string // of the staged file
	version int64  // correction: the version it is made against
	err     error  // the register can't be asked
	subject importers.Subject
	about   []*against // what speaks against the subject
}

type note struct{ rule, field, message string }

// judge decides one record and reports why it is rejected, and what is doubtful about it.
func (s *settler) judge(row *mappings.Row, x *identified) (judged, string, error) {
	d := s.decide(s.sh.src, s.sh.statements[x.Spec], x)
	if d.err != nil {
		return judged{}, "", d.err
	}
	if d.rule == "" {
		s.opposed(x, &d)
	}
	for _, n := range d.notes {
		if err := s.report(row, n.rule, n.field, x, worded(n.message)); err != nil {
			return judged{}, "", err
		}
	}
	j := judged{identified: *x, verdict: d.verdict, part: d.part, version: d.version}
	if d.rule == "" || d.rule == "row.repeat" || d.rule == "row.known" { // a skipped row is reported once, whatever its records
		return j, d.rule, nil
	}
	return j, d.rule, s.report(row, d.rule, d.field, x, worded(d.message))
}

func worded(message string) func(*finding.Finding) {
	if message == "" {
		return nil
	}
	return func(f *finding.Finding) { f.Message = message }
}

// decide applies the rules to one record, whatever speaks against it. It changes nothing.
func (d *dryRunner) decide(src *Source, statements map[string]importers.Statement, x *identified) (out decision) {
	if x.KeyDup || d.facts.left[x.recordUID] {
		switch d.facts.keyState(x) {
		case keyConflict:
			out.rule = "key.multiple_match"
			return out
		case keyRepeat:
			out.rule = "row.repeat"
			return out
		}
	}
	switch d.facts.heldState(x) {
	case heldSame:
		out.rule, out.err = d.repeated(x)
		return out
	case heldOther:
		if d.corrects(src, x, &out); out.err != nil || out.rule != "" {
			return out
		}
	}
	if d.snap.kind == Delta && x.Entity.Event && x.Get("status").Text != importers.StatusGiven {
		out.part = partAgainst
	}
	for i := range x.Entity.Fields {
		f := &x.Entity.Fields[i]
		if f.Ref == "" || !x.Values[i].Set || d.facts.config(f.Ref, x.Values[i].Text) {
			continue
		}
		out.rule, out.field = "ref.not_found", f.Name
		out.message = fmt.Sprintf("The %s that %s.%s points to is neither in this batch nor in the register.", f.Ref, x.Entity.Name, f.Name)
		return out
	}
	if src.RetentionApproved == nil {
		if at, _, ok := importers.RetentionExpiry(&x.Record, d.facts.retention, src.obtained); ok && at <= src.obtained {
			out.rule = "retention.expired"
			return out
		}
	}
	if x.Entity.Event {
		d.decideConsent(src, statements, x, &out)
	}
	return out
}

// decideConsent applies the consent rule and the erasures.
func (d *dryRunner) decideConsent(src *Source, statements map[string]importers.Statement, x *identified, out *decision) {
	facts := importers.Facts{PurposeKnown: x.Get("purpose").Set, ObtainedAt: src.obtained, Statements: statements}
	id, ver, wording := x.Get("notice_id"), x.Get("notice_version"), x.Get("notice_digest")
	if id.Set && ver.Set || wording.Set {
		n := d.facts.notice(id.Text, ver.Text, wording.Text)
		if n == nil {
			out.rule, out.field = "ref.not_found", "notice_id"
			if !id.Set || !ver.Set {
				out.field = "notice_digest"
			}
			out.message = "The notice version that the row names is neither in this batch nor in the register."
			return
		}
		facts.NoticeFound = true
		if at := x.Get("occurred_at"); at.Set {
			facts.NoticeInForce = importers.InForce(n.from, n.to, *at)
			if !facts.NoticeInForce && id.Origin == importers.FromRow {
				out.notes = append(out.notes, note{rule: "notice.not_in_force", field: "notice_version"})
			}
		}
	}
	out.verdict = importers.Evaluate(importers.EvidenceOf(&x.Record, x.Columns, facts))
	if !d.facts.linked {
		return // the survey does not know yet who is one subject
	}
	out.subject = d.facts.links.Subject(x.keys)
	out.about = d.facts.about(out.subject)
	list := erasures(out.about)
	if len(list) == 0 {
		return
	}
	if erased, _ := importers.Erased(importers.EventOf(&x.Record, x.id(), out.verdict.Class, src.obtained), list); erased {
		out.rule, out.notes = "subject.erased", nil
	}
}

// opposed looks at what speaks against a given consent. What stands overrules it: it is kept as history. What lies in rejected
// rows rejects it: otherwise the register would show it as given while the source says otherwise. A consent that matches
// several subjects is rejected; what speaks against consents applies to all of them, which is said.
func (s *settler) opposed(x *identified, d *decision) {
	keys := x.keys
	if len(keys) == 0 {
		return
	}
	if !x.Entity.Event { // of a consent it is worked out already
		d.subject = s.facts.links.Subject(keys)
	}
	subject := d.subject
	if !x.Entity.Event || x.Get("status").Text != importers.StatusGiven {
		if subject.Several && s.speaksAgainst(x) {
			d.notes = append(d.notes, note{rule: "subject.applies_to_all", field: keys[0].Kind})
		}
		return
	}
	if subject.Several {
		d.rule, d.field, d.notes = "subject.multiple_match", keys[0].Kind, nil
		return
	}
	if len(d.about) == 0 {
		return
	}
	ev := importers.EventOf(&x.Record, x.id(), d.verdict.Class, s.sh.src.obtained)
	stands, all := s.facts.opposing(d.about, ev.Scope, keys)
	if len(all.events)+len(all.suppressions) == 0 {
		return
	}
	if over, why := stands.overrule(ev); over {
		n := note{rule: "consent.overruled", field: "status"}
		if strings.HasPrefix(why, "suppressed_") {
			n.rule = "suppression.overrules"
		}
		if rule, ok := finding.ByID(n.rule); ok {
			n.message = strings.TrimSuffix(rule.Meaning, ".") + " (" + why + ")."
		}
		d.notes = append(d.notes, n)
		return
	}
	if over, _ := all.overrule(ev); over {
		d.rule, d.field, d.notes = "consent.opposed_by_rejected", "status", nil
	}
}

// speaksAgainst reports whether a record can speak against consents or erases a subject.
func (s *settler) speaksAgainst(x *identified) bool {
	if opposes(&x.Record) {
		return true
	}
	_, erases := importers.ErasureOf(&x.Record, x.id(), s.sh.src.obtained)
	return x.Entity.Name == "case" && erases
}

// stage appends one record to its staged file and counts it.
func (s *settler) stage(row *mappings.Row, j *judged, rowDigest *[sha256.Size]byte) error {
	e := j.Entity
	w, err := s.writer(e, j.part)
	if err != nil {
		return err
	}
	derived, err := s.derived.of(j)
	if err != nil {
		return err
	}
	if j.part == partCorrect {
		derived = append(derived, staged.Cell{Int: j.version})
		s.out.Corrected++
	}
	o := staged.Origin{
		ID: j.uid, RecordID: j.recordUID, System: j.system, Key: j.Key, ContentDigest: j.content,
		FileDigest: s.sh.env.FileDigest, Sheet: s.sh.env.Sheet, Row: row.Num, Line: row.Line, RowDigest: *rowDigest,
	}
	if err := w.Append(&o, &j.Record, derived); err != nil {
		return &FileError{Path: s.dir, Message: "staged files can't be written: " + err.Error(), Remedy: "make room on the disk and run dryrun again", Err: err}
	}
	s.facts.taken(&j.identified)
	if e.Config {
		s.facts.accept(&j.Record)
	}
	n := s.res.Entities[e.Name]
	n.Records++
	if e.Event {
		n.ByConfidence[string(j.verdict.Confidence)]++
		if j.verdict.Class == importers.Receipt {
			n.Receipts++
		} else {
			n.LegacyAssertions++
		}
		for _, m := range j.verdict.Missing {
			n.Missing[m]++
		}
	}
	if e.Name == "case" {
		s.countCase(&j.Record)
	}
	return nil
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
			return nil, &FileError{Path: s.dir, Message: "staged files can't be written: " + err.Error(), Remedy: "make room on the disk and run dryrun again", Err: err}
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
