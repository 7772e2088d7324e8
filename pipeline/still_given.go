package pipeline

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"sheetlift/importers"
	"sheetlift/importers/register"
	"sheetlift/importers/source"
	"sheetlift/mappings"
	"sheetlift/pipeline/finding"
	"sheetlift/pipeline/ledger"
	"sheetlift/pipeline/store"
)

// A rejected row changes nothing in the register, but it may say that a consent which the register holds as given is withdrawn. That is
// shown, on the row and of the consent, in every dry-run until the row is mended or something that stands overrules the consent.

const stillGiven = "consent.still_given"

// heldGiven is which given consents of the register are spoken against by rejected rows only.
type heldGiven struct {
	number int                 // of the snapshot under way
	by     map[string][]string // by id of what speaks against them: ids of consents
	erased map[string][]string // by id of a fulfilled erasure: ids of consents that it leaves there
	shown  map[string]int      // consents of findings so far, and the number of the newest snapshot whose rows they are about
}

// spoken is something that speaks against consents in a row that is none of the snapshot's: it was left out, or is only heard.
type spoken struct {
	id, source  string
	snapshot    string // that the row is of; empty for the one under way
	number      int    // of it
	file, sheet string // empty for those of the snapshot under way
	row, line   int
	heard       bool // its columns are those of another sheet
	field       string
	column      int // -1 if it is not known
	first       importers.Key
}

// decidingField is the field that makes a record speak against consents.
func decidingField(e *importers.Entity) string {
	switch e.Name {
	case "suppression":
		return "reason"
	case "case":
		return "request_type"
	}
	return "status"
}

func newSpoken(id string, src *Source, rec *mappings.RecordOut, at spoken) spoken {
	at.id, at.source = id, src.Name
	name := decidingField(rec.Entity)
	at.field, at.column = rec.Entity.Name+"."+name, -1
	if i := rec.Entity.Field(name); !at.heard && i < len(rec.Columns) && len(rec.Columns[i]) > 0 {
		at.column = rec.Columns[i][0]
	}
	if keys := importers.SubjectKeys(&rec.Record, src.System); len(keys) > 0 {
		at.first = ownKey(keys[0])
	}
	return at
}

func ownKey(k importers.Key) importers.Key { return importers.OwnKeys([]importers.Key{k})[0] }

// id is the id of the record, or what it was given instead.
func (a *against) id() string {
	switch {
	case a.suppression != nil:
		return a.suppression.ID
	case a.event != nil:
		return a.event.ID
	}
	return a.erasure.ID
}

// overrules reports whether a alone overrules a given consent of those keys. An erasure does as a withdrawal of everything would.
func (f *facts) overrules(a *against, given importers.Event, keys []importers.Key) bool {
	var by opponents
	switch {
	case a.event != nil && a.event.Scope.Opposes(given.Scope):
		by.events = []importers.Event{*a.event}
	case a.suppression != nil && a.suppression.Scope.Opposes(given.Scope) && f.reaches(a, keys):
		by.suppressions = []importers.Suppression{*a.suppression}
	case a.erasure != nil:
		over, _ := importers.Erased(given, []importers.Erasure{*a.erasure})
		return over
	default:
		return false
	}
	over, _ := by.overrule(given)
	return over
}

// findHeldGiven looks through the given consents of the register, of whatever batch, for those that rejected rows speak against, and for
// those of erased subjects. It wants to be asked once all that makes a row rejected is known.
func (d *dryRunner) findHeldGiven(ctx context.Context, number int) error {
	d.given = heldGiven{number: number, by: map[string][]string{}, erased: map[string][]string{}, shown: map[string]int{}}
	if !slices.ContainsFunc(d.facts.against, func(a *against) bool {
		return a.foreign == nil && (a.aside != nil || a.erasure != nil || d.facts.rejects(a))
	}) {
		return nil
	}
	consent, given := importers.ByName("consent"), "status = 'given'"
	today := d.batch.newestObtained().UnixMicro()
	return d.db.View(ctx, func(tx *store.Tx) error {
		obtained, err := register.UndatedObtained(ctx, tx, consent, d.id.Tenant, register.Filter{Cond: given})
		if err != nil {
			return err
		}
		return register.Each(ctx, tx, consent, d.id.Tenant, register.Filter{Cond: given}, func(st *register.Stored) error {
			if out, err := d.leftAside(st.ID); err != nil || out {
				return err
			}
			keys := importers.SubjectKeys(&st.Record, st.System)
			subject := d.facts.links.Subject(keys)
			about := d.facts.about(subject)
			fulfilled := erasures(slices.DeleteFunc(slices.Clone(about), d.facts.rejects))
			if about = d.facts.doubted(about, subject, keys); len(about) == 0 {
				return nil
			}
			ev := importers.EventOf(&st.Record, st.ID, importers.Class(st.Class), obtained[st.ID])
			if ev.ExpiresAt != 0 && ev.ExpiresAt <= today {
				return nil // it has ended by itself
			}
			stands, _ := d.facts.opposing(about, ev.Scope, keys)
			if over, _ := stands.overrule(ev); over {
				return nil
			}
			if erased, by := importers.Erased(ev, fulfilled); erased {
				d.given.erased[by] = append(d.given.erased[by], st.ID)
			} else {
				for _, x := range d.facts.besides(about, ev, keys) {
					x.beside(st.ID, "")
				}
			}
			for _, a := range about {
				if a.foreign == nil && d.facts.rejects(a) && d.facts.overrules(a, ev, keys) && !slices.Contains(d.given.by[a.id()], st.ID) {
					d.given.by[a.id()] = append(d.given.by[a.id()], st.ID)
				}
			}
			return nil
		})
	})
}

// againstHeld reports which given consents of the register a row that was just rejected speaks against.
func (s *settler) againstHeld(row *mappings.Row) error {
	if len(s.given.by) == 0 {
		return nil
	}
	var all []string
	var first *mappings.RecordOut
	hear := func(id string, rec *mappings.RecordOut) {
		for _, held := range s.given.by[id] {
			if first == nil {
				first = rec
			}
			if !slices.Contains(all, held) {
				all = append(all, held)
			}
		}
	}
	for k := range row.Partial {
		hear(partialID(s.sh.src, row, k), &row.Partial[k])
	}
	if row.Verdict == mappings.Accepted {
		for i := range s.records {
			hear(s.records[i].id(), s.records[i].RecordOut)
		}
	}
	if first == nil {
		return nil
	}
	at := newSpoken("", s.sh.src, first, spoken{number: s.given.number, file: s.sh.src.File, sheet: s.sh.env.Sheet, row: row.Num, line: row.Line})
	return s.stillGiven(&at, all)
}

// stillHeld reports which given consents of the register are of a subject whose fulfilled erasure a row brings. An import erases nothing.
func (s *settler) stillHeld(row *mappings.Row, x *identified) error {
	held := s.given.erased[x.id()]
	if x.Entity.Name != "case" || len(held) == 0 {
		return nil
	}
	slices.Sort(held)
	return s.report(row, "subject.still_held", "request_type", x, func(f *finding.Finding) {
		f.Records = finding.IDs(strings.Join(held, " "))
		if len(held) > 1 {
			f.Message = fmt.Sprintf("The subject's erasure is fulfilled, and the register still holds %s of it as given: an import erases nothing.", finding.Count(len(held), "consent", "consents"))
		}
	})
}

// partialID stands for the id of a record of a row that could be read only in part.
func partialID(src *Source, row *mappings.Row, k int) string {
	return fmt.Sprintf("%s row %d record %d", src.Name, row.Num, k)
}

// againstElsewhere reports the same of rows that are none of the snapshot's, the newest first, once all its own are decided. One that
// stands in an older snapshot says nothing new of consents that a row of a newer one was named for: it is the same entry, exported again.
func (d *dryRunner) againstElsewhere(fr *FreezeResult) error {
	for i := range d.elsewhere {
		if at := &d.elsewhere[i]; at.snapshot == "" {
			part := fr.part(at.source)
			at.number, at.file, at.sheet = fr.Number, part.File, part.Sheet
		}
	}
	slices.SortStableFunc(d.elsewhere, func(a, b spoken) int { return b.number - a.number })
	for _, at := range d.elsewhere {
		all := d.given.by[at.id]
		if len(all) == 0 {
			continue
		}
		if at.snapshot != "" && !slices.ContainsFunc(all, func(id string) bool { n, ok := d.given.shown[id]; return !ok || n <= at.number }) {
			continue
		}
		if err := d.stillGiven(&at, all); err != nil {
			return err
		}
	}
	return nil
}

// finding is one about the row.
func (at *spoken) finding(rule string) finding.Finding {
	f := finding.New(rule)
	f.Source, f.File, f.Sheet, f.Row, f.Line, f.Snapshot, f.Field = at.source, at.file, at.sheet, at.row, at.line, at.snapshot, at.field
	if at.column >= 0 {
		f.Column, f.Cell = source.Letters(at.column), source.Ref(at.column, at.row)
	}
	return f
}

// stillGiven adds the finding. It is no fault of the row by itself: mended for what it was rejected for, the row comes in.
func (d *dryRunner) stillGiven(at *spoken, all []string) error {
	for _, id := range all {
		d.given.shown[id] = max(d.given.shown[id], at.number)
	}
	slices.Sort(all)
	f := at.finding(stillGiven)
	f.Records = finding.IDs(strings.Join(all, " "))
	if at.first.Value != "" {
		f.SubjectToken = d.token(at.first.Kind, at.first.Value)
	}
	if len(all) > 1 {
		f.Message = fmt.Sprintf("The rejected row speaks against %s that the register holds as given; they stay given, because a rejected row changes nothing.", finding.Count(len(all), "consent", "consents"))
	}
	if at.snapshot != "" {
		f.Message += fmt.Sprintf(" The row is one of snapshot %s and has not come back.", at.snapshot)
	}
	return d.rec.Add(f)
}

// RegisterChanged is said wherever a number of consents is given that rejected rows speak against, once it may be another one.
const RegisterChanged = "other batches changed the register since the last dry-run of this one: which consents its rejected rows speak against may have changed; run `sheetlift dryrun` to look again"

// lastJudged is the dry-run of the newest snapshot that has one; nil if none has. What it says of consents that rejected rows speak against is
// what it found then: if other batches changed the register since, that is said.
func (p *Pipeline) lastJudged(ctx context.Context) (*DryRunResult, error) {
	dry, changed, err := p.judgedLast(ctx)
	if changed {
		p.remark(RegisterChanged)
	}
	return dry, err
}

// judgedLast is lastJudged, and whether other batches changed the register since so that it may matter.
func (p *Pipeline) judgedLast(ctx context.Context) (dry *DryRunResult, changed bool, err error) {
	list, err := p.history(ctx)
	if err != nil {
		return nil, false, err
	}
	for _, fr := range slices.Backward(list) {
		q, err := p.at(fr)
		if err != nil {
			return nil, false, err
		}
		dry, rec, err := last[DryRunResult](ctx, q, DryRun)
		if err != nil || dry == nil {
			if err != nil {
				return nil, false, err
			}
			continue
		}
		err = p.db.View(ctx, func(tx *store.Tx) error {
			changed, err = dry.passed(ctx, tx, rec, p.id.Tenant, p.batch.Name)
			return err
		})
		return dry, changed, err
	}
	return nil, false, nil
}

// passed reports whether rejected rows of the dry-run speak against consents, and others than its batch changed the register since, if it says
// which register it saw.
func (r *DryRunResult) passed(ctx context.Context, tx *store.Tx, rec *ledger.Record, tenant, batch string) (bool, error) {
	if r.StillGiven == 0 && (r.Unrecorded == nil || r.Unrecorded.Against == 0) { // what was imported is listed no more
		if speaks, err := register.Speaks(ctx, tx, tenant, batch); err != nil || !speaks {
			return false, err
		}
	}
	then, unsaid := rec.Precondition("revision")
	now, err := register.Revision(ctx, tx, tenant, batch)
	return err == nil && unsaid == nil && now != then, err
}

// JudgeAgain is another batch whose rejected rows speak against consents, and whose last dry-run saw the register as it was before an undo.
type JudgeAgain struct {
	Batch      string `json:"batch"`
	StillGiven int    `json:"still_given"` // as its last dry-run found
	Next       string `json:"next"`        // the command, on that batch, that looks again
}

// judgeAgain lists the other batches of the tenant whose number of consents that rejected rows speak against the last undo of this one may
// have changed, and that have not looked since: what it took back may have been such a consent, or what overruled one.
func (p *Pipeline) judgeAgain(ctx context.Context) (list []JudgeAgain, err error) {
	err = p.db.View(ctx, func(tx *store.Tx) error {
		own, err := ledger.List(ctx, tx, p.id.Tenant, p.batch.Name)
		if err != nil {
			return err
		}
		undone := lastUndone(own)
		batches, err := ledger.Batches(ctx, tx, p.id.Tenant, DryRun)
		if err != nil {
			return err
		}
		for _, batch := range batches {
			if batch == p.batch.Name {
				continue
			}
			ops, err := ledger.List(ctx, tx, p.id.Tenant, batch)
			if err != nil {
				return err
			}
			var rec *ledger.Record
			for _, op := range ops {
				if op.Stage == DryRun && op.State == ledger.Succeeded && (rec == nil || op.AskedAt > rec.AskedAt) {
					rec = op
				}
			}
			if rec == nil || rec.AskedAt <= lastUndone(ops) || rec.StartedAt > undone {
				continue // its rows say nothing any more, or it has looked
			}
			dry := new(DryRunResult)
			if err := json.Unmarshal(rec.Result, dry); err != nil {
				return fmt.Errorf("recorded result of %s: %w", DryRun, err)
			}
			changed, err := dry.passed(ctx, tx, rec, p.id.Tenant, batch)
			if err != nil {
				return err
			}
			if changed {
				list = append(list, JudgeAgain{Batch: batch, StillGiven: dry.StillGiven, Next: "sheetlift dryrun"})
			}
		}
		return nil
	})
	return list, err
}

// addOpposed adds to traced consents the rejected rows that speak against them.
func (p *Pipeline) addOpposed(ctx context.Context, r *TraceResult) error {
	if !slices.ContainsFunc(r.Records, func(t TraceRecord) bool { return t.State == importers.StatusGiven }) {
		return nil
	}
	by, err := p.opposedBy(ctx)
	for i := range r.Records {
		r.Records[i].Opposed = slices.Concat(by[r.Records[i].ID], r.Records[i].Opposed)
	}
	return err
}

// opposedBy gives, by id of a consent in the register, the rejected rows that speak against it.
func (p *Pipeline) opposedBy(ctx context.Context) (map[string][]OpposedBy, error) {
	dry, err := p.lastJudged(ctx)
	if err != nil || dry == nil || dry.StillGiven == 0 {
		return nil, err
	}
	by := map[string][]OpposedBy{}
	err = eachFinding(ctx, dry, []byte(`{"rule":"`+stillGiven+`"`), func(f *finding.Finding) error {
		at := OpposedBy{Snapshot: cmp.Or(f.Snapshot, dry.Snapshot), Place: Place{Source: f.Source, File: f.File, Sheet: f.Sheet, Row: f.Row, Line: f.Line, Column: f.Column, Cell: f.Cell}}
		for _, id := range f.Records.List() {
			by[id] = append(by[id], at)
		}
		return nil
	})
	return by, err
}
