package pipeline

import (
	"sheetlift/importers"
	"sheetlift/importers/staged"
	"sheetlift/mappings"
)

// decidesAhead reports whether all that a consent of the source is decided by is known before the source is read, but for what speaks
// against its subject.
func (d *dryRunner) decidesAhead(sh *sheet) bool {
	return !d.late && sh.laid != nil && d.snap.kind == "" && len(d.facts.held) == 0 && len(d.facts.imported) == 0 && !sh.configs && len(d.facts.pending) == 0
}

// ahead decides the consents of a source while it is read, and gathers the records of those that are good unless something speaks
// against their subject, as they will be staged. It belongs to one goroutine.
type ahead struct {
	*decider
	derived derivation
	decided []decision
	part    *staged.Part // of a block
	turn    int          // counts the rows that are decided together: see staged.Origin.Block
	kinds   []*gatheredKind
	known   map[gatheredKey]*gatheredKind
}

// gathered are the records of a block that are staged as they are, unless something speaks against their subjects.
type gathered struct {
	part  *staged.View    // nil until some were
	kinds []*gatheredKind // of each
}

// gatheredEntity is the entity whose records are gathered.
var gatheredEntity = importers.ByName("consent")

// gatheredKey tells kinds apart: records whose columns begin at the same place are of one spec and have the same fields set, from the same
// origins.
type gatheredKey struct {
	columns *[]int
	verdict *importers.Verdict
}

// gatheredKind is what is the same of many records that are gathered.
type gatheredKind struct {
	number  int // among the kinds of one goroutine
	spec    int
	history bool
	columns [][]int
	origins []importers.Origin // by field
	verdict *importers.Verdict
}

func (d *dryRunner) newAhead(sh *sheet) *ahead {
	return &ahead{decider: d.newDecider(sh), part: staged.NewPart(gatheredEntity), known: map[gatheredKey]*gatheredKind{}}
}

// kind gives the kind of a record.
func (d *ahead) kind(x *identified) *gatheredKind {
	key := gatheredKey{&x.Columns[0], x.decided.verdict}
	k := d.known[key]
	if k == nil {
		k = &gatheredKind{number: len(d.kinds), spec: x.Spec, history: x.History, columns: x.Columns, verdict: x.decided.verdict}
		for _, v := range x.Values {
			k.origins = append(k.origins, v.Origin)
		}
		d.known[key] = k
		d.kinds = append(d.kinds, k)
	}
	return k
}

// some decides the consents of some rows of a block whose keys no other row has, and gathers what can be.
func (d *ahead) some(list []passedRow) error {
	d.turn++
	d.decided = d.decided[:0]
	for i := range list {
		row := &list[i]
		for k := range row.records {
			if x := &row.records[k]; x.Entity.Event && !x.KeyDup {
				d.decided = append(d.decided, d.decide(x))
				x.decided = &d.decided[len(d.decided)-1] // there it stays, should the list move
			}
		}
		if !row.plain() || d.part.Full() {
			continue
		}
		x := &row.records[0]
		derived, err := d.derived.of(&x.Record, x.decided.verdict)
		if err != nil {
			return err
		}
		o := d.origin(d.sh, row.row, x, &row.digest)
		o.Block = d.turn
		d.part.Append(&o, &x.Record, derived)
		row.gathered, row.kind = d.part.Rows(), d.kind(x).number
	}
	return nil
}

// end appends what was gathered of the block, and makes room for the next.
func (d *ahead) end(p []byte) []byte {
	if d.part.Rows() > 0 {
		d.part.Finish()
		p = d.part.AppendTo(p)
	}
	d.part.Reset()
	return p
}

// plain reports whether a row is one consent that is staged without another word, unless something speaks against its subject.
func (r *passedRow) plain() bool {
	if r.odd() || len(r.records) != 1 || r.records[0].decided == nil || !r.records[0].Alike {
		return false
	}
	d := r.records[0].decided
	return d.err == nil && d.rule == "" && len(d.notes) == 0 && d.part == ""
}

// unconcerned reports whether nothing that is said about the subject of a row concerns its gathered record.
func (g *gathered) unconcerned(x *passedRow) bool {
	text := func(field int) string {
		var v importers.Value
		g.part.Value(x.gathered-1, field, &v)
		return v.Text
	}
	at := importers.Consent()
	return unconcerned(x.subject, x.about, text(at.Status), importers.Scope{Purpose: text(at.Purpose), Channel: text(at.Channel)})
}

// recall puts a row together again whose record is gathered. It is valid until to is reset, or the part.
func (g *gathered) recall(i int, to *mappings.Rows) (row mappings.Row, rec mappings.RecordOut, ids recordIDs, digest [32]byte) {
	o, k := g.part.Origin(i), g.kinds[i]
	rec = to.NewRecord(gatheredEntity)
	rec.Key, rec.Spec, rec.History, rec.Alike, rec.Columns = o.Key, k.spec, k.history, true, k.columns
	for f, origin := range k.origins {
		if v := to.NewValue(); g.part.Value(i, f, v) {
			v.Origin = origin
			rec.Values[f] = v
		}
	}
	return mappings.Row{Num: o.Row, Line: o.Line}, rec, recordIDs{o.ID, o.RecordID, o.ContentDigest}, o.RowDigest
}

// span are gathered records from one index to before another.
type span struct{ from, to int }

// take stages gathered records from index from to before index to, once what follows does not follow on.
func (s *settler) take(from, to int) error {
	if s.due.to == from {
		s.due.to = to
		return nil
	}
	err := s.takeDue()
	s.due = span{from, to}
	return err
}

// takeDue stages what take was told of.
func (s *settler) takeDue() error {
	from, to := s.due.from, s.due.to
	s.due = span{}
	if from == to {
		return nil
	}
	w, err := s.writer(gatheredEntity, "")
	if err != nil {
		return err
	}
	if err := w.Take(&s.gathered.part.Part, from, to); err != nil {
		return s.unstaged(err)
	}
	n := s.res.Entities[gatheredEntity.Name]
	n.Records += to - from
	for _, k := range s.gathered.kinds[from:to] {
		s.tally.add(n, k.verdict)
	}
	return nil
}

// takeRows stages the rows whose gathered records lie between the indexes: nothing concerns them.
func (s *settler) takeRows(from, to int) error {
	if from == to {
		return nil
	}
	s.out.Rows.Read += to - from
	s.out.Rows.Accepted += to - from
	return s.take(from, to)
}

// origin is where a record came from and who it is.
func (d *dryRunner) origin(sh *sheet, row *mappings.Row, x *identified, digest *[32]byte) staged.Origin {
	return staged.Origin{
		ID: x.uid, RecordID: x.recordUID, System: x.system, Key: x.Key, ContentDigest: x.content,
		FileDigest: sh.env.FileDigest, Sheet: sh.env.Sheet, Row: row.Num, Line: row.Line, RowDigest: *digest,
	}
}
