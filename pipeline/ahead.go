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

	entity *importers.Entity
	part   *staged.Part // of a block
	rows   int          // in it
	turn   int          // counts the rows that are decided together: see staged.Origin.Block

	last  gatheredKind
	at    int // of the last kind
	seen  map[gatheredKind]int
	kinds []gatheredKind
}

// gathered are the records of a block that are staged as they are, unless something speaks against their subjects.
type gathered struct {
	entity   *importers.Entity
	part     *staged.Part
	kinds    []int                // of each: see ahead.kinds
	verdicts []*importers.Verdict // of each
}

// gatheredKind is what is the same of many records that are gathered.
type gatheredKind struct {
	entity  *importers.Entity
	spec    int
	history bool
	columns *[]int // the first of as many as there are fields: records with the same have the same fields set, from the same origins
	fields  *gatheredFields
	verdict *importers.Verdict
}

type gatheredFields struct {
	columns [][]int
	origins []importers.Origin
}

func (d *dryRunner) newAhead(sh *sheet) *ahead {
	return &ahead{decider: d.newDecider(sh), seen: map[gatheredKind]int{}}
}

// kind gives the number of the kind of a record.
func (d *ahead) kind(x *identified) int {
	k := gatheredKind{entity: x.Entity, spec: x.Spec, history: x.History, columns: &x.Columns[0], verdict: x.decided.verdict}
	if len(d.kinds) > 0 && k == d.last {
		return d.at
	}
	at, ok := d.seen[k]
	if !ok {
		at = len(d.kinds)
		d.seen[k] = at
		of := k
		of.fields = &gatheredFields{columns: x.Columns}
		for _, v := range x.Values {
			of.fields.origins = append(of.fields.origins, v.Origin)
		}
		d.kinds = append(d.kinds, of)
	}
	d.last, d.at = k, at
	return at
}

// begin begins a block.
func (d *ahead) begin() {
	if d.rows = 0; d.part != nil {
		d.part.Reset()
	}
}

// some decides the consents of some rows of the block whose keys no other row has, and gathers what can be.
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
		if !row.plain() {
			continue
		}
		x := &row.records[0]
		if d.part == nil {
			d.entity, d.part = x.Entity, staged.NewPart(x.Entity)
		}
		if d.entity != x.Entity || d.part.Full() {
			continue
		}
		j := judged{identified: *x, verdict: x.decided.verdict}
		derived, err := d.derived.of(&j)
		if err != nil {
			return err
		}
		o := d.origin(d.sh, row.row, &j, &row.digest)
		o.Block = d.turn
		d.part.Append(&o, &j.Record, derived)
		d.rows++
		row.gathered, row.kind = d.rows, d.kind(x)
	}
	return nil
}

// end appends what was gathered of the block.
func (d *ahead) end(p []byte) []byte {
	if d.rows == 0 {
		return p
	}
	d.part.Finish()
	return d.part.AppendTo(p)
}

func (g *gathered) reset() { g.kinds, g.verdicts = g.kinds[:0], g.verdicts[:0] }

// plain reports whether a row is one consent that is staged without another word, unless something speaks against its subject.
func (r *passedRow) plain() bool {
	if r.odd() || len(r.records) != 1 || r.records[0].decided == nil || !r.records[0].Alike {
		return false
	}
	d := r.records[0].decided
	return d.err == nil && d.rule == "" && len(d.notes) == 0 && d.part == ""
}

// recall puts a row together again whose record is gathered. It is valid until to is reset, or the part.
func (g *gathered) recall(i int, k *gatheredKind, to *mappings.Rows) (row mappings.Row, rec mappings.RecordOut, ids recordIDs, digest [32]byte) {
	o := g.part.Origin(i)
	rec = to.NewRecord(k.entity)
	rec.Key, rec.Spec, rec.History, rec.Alike, rec.Columns = o.Key, k.spec, k.history, true, k.fields.columns
	for f, origin := range k.fields.origins {
		if v := to.NewValue(); g.part.Value(i, f, v) {
			v.Origin = origin
			rec.Values[f] = v
		}
	}
	return mappings.Row{Num: o.Row, Line: o.Line}, rec, recordIDs{o.ID, o.RecordID, o.ContentDigest}, o.RowDigest
}

// take stages the gathered records from index from to before index to.
func (s *settler) take(g *gathered, from, to int) error {
	if from == to {
		return nil
	}
	w, err := s.writer(g.entity, "")
	if err != nil {
		return err
	}
	if err := w.Take(g.part, from, to); err != nil {
		return s.unstaged(err)
	}
	n := s.res.Entities[g.entity.Name]
	n.Records += to - from
	for _, v := range g.verdicts[from:to] {
		s.tally.add(n, v)
	}
	return nil
}

// takeRows stages the rows whose gathered records lie between the indexes: nothing concerns them.
func (s *settler) takeRows(g *gathered, from, to int) error {
	s.out.Rows.Read += to - from
	s.out.Rows.Accepted += to - from
	return s.take(g, from, to)
}

// origin is where a record came from and who it is.
func (d *dryRunner) origin(sh *sheet, row *mappings.Row, j *judged, digest *[32]byte) staged.Origin {
	return staged.Origin{
		ID: j.uid, RecordID: j.recordUID, System: j.system, Key: j.Key, ContentDigest: j.content,
		FileDigest: sh.env.FileDigest, Sheet: sh.env.Sheet, Row: row.Num, Line: row.Line, RowDigest: *digest,
	}
}
