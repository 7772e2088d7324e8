package pipeline

import (
	"sheetlift/importers"
	"sheetlift/importers/staged"
	"sheetlift/mappings"
)

// settledAhead reports whether nothing that a consent of the source is decided by changes while the source is settled: then its rows
// may be decided beside each other.
func (d *dryRunner) settledAhead(sh *sheet) bool {
	return d.snap.kind == "" && len(d.facts.held) == 0 && len(d.facts.imported) == 0 && !sh.configs
}

// ahead decides the consents of a block before it is its turn, and gathers the records that nothing else can concern, so that it is
// little work to stage them. It belongs to one goroutine.
type ahead struct {
	*decider
	derived derivation
}

// gathered are the records of a block that are staged as they are.
type gathered struct {
	entity   *importers.Entity
	part     *staged.Part
	verdicts []*importers.Verdict // of each
}

// block decides the consents whose keys no other row has.
func (d *ahead) block(p *passed) error {
	if cap(p.decided) < len(p.x) {
		p.decided = make([]decision, len(p.x))
	}
	p.decided = p.decided[:len(p.x)]
	n := 0
	g := &p.gathered
	if g.verdicts = g.verdicts[:0]; g.part != nil {
		g.part.Reset()
	}
	for i := range p.list {
		row := &p.list[i]
		for k := range row.records {
			if x := &row.records[k]; x.Entity.Event && !x.KeyDup {
				p.decided[n] = d.decide(x)
				x.decided = &p.decided[n]
				n++
			}
		}
		if !row.plain() {
			continue
		}
		j := judged{identified: row.records[0], verdict: row.records[0].decided.verdict}
		if g.part == nil {
			g.entity, g.part = j.Entity, staged.NewPart(j.Entity)
		}
		if g.entity != j.Entity || g.part.Full() {
			continue
		}
		derived, err := d.derived.of(&j)
		if err != nil {
			return err
		}
		o := d.origin(d.sh, row.row, &j, &row.digest)
		o.Block = 1 // the part is of this block alone
		g.part.Append(&o, &j.Record, derived)
		g.verdicts = append(g.verdicts, j.verdict)
		row.gathered = true
	}
	if g.part != nil {
		g.part.Finish()
	}
	return nil
}

// plain reports whether a row is one consent that is staged without another word, whatever other rows say.
func (r *passedRow) plain() bool {
	if r.odd() || len(r.records) != 1 || r.records[0].decided == nil {
		return false
	}
	d := r.records[0].decided
	return d.rule == "" && len(d.notes) == 0 && d.part == "" && len(d.subject.Places) == 0 && !d.subject.Several
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
	s.out.Rows.Read += to - from
	s.out.Rows.Accepted += to - from
	n := s.res.Entities[g.entity.Name]
	n.Records += to - from
	for _, v := range g.verdicts[from:to] {
		s.tally.add(n, v)
	}
	return nil
}

// origin is where a record came from and who it is.
func (d *dryRunner) origin(sh *sheet, row *mappings.Row, j *judged, digest *[32]byte) staged.Origin {
	return staged.Origin{
		ID: j.uid, RecordID: j.recordUID, System: j.system, Key: j.Key, ContentDigest: j.content,
		FileDigest: sh.env.FileDigest, Sheet: sh.env.Sheet, Row: row.Num, Line: row.Line, RowDigest: *digest,
	}
}
