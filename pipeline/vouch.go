package pipeline

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"sheetlift/importers"
	"sheetlift/importers/register"
	"sheetlift/importers/staged"
	"sheetlift/pipeline/finding"
	"sheetlift/pipeline/store"
)

// A row whose record the register has already is skipped as known. If another batch brought the record, the row vouches for it all the same:
// the import leaves a mark, by which the record outlives the undo of that batch. The dry-run lists the marks in staged files of their own.
//
// A row vouches for no more than it would give by itself: not if its record would be rejected, and not for a consent that is held with
// better evidence than the row has. Otherwise an undo would leave a receipt behind that nobody can prove.

// partKnown is the part in which the marks of known rows are staged.
const partKnown = "known"

// stagedEntity is what a staged file holds.
func stagedEntity(f StagedFile) (*importers.Entity, error) {
	e := importers.ByName(f.Entity)
	switch {
	case e == nil:
		return nil, fmt.Errorf("staged entity %q is unknown to this version", f.Entity)
	case f.Part == partKnown:
		return register.MarkEntity(e), nil
	}
	return e, nil
}

// chunkEntity is what checkpoints call the chunks of a staged file.
func chunkEntity(f StagedFile) string {
	if f.Part == partKnown {
		return f.Entity + register.KnownPart
	}
	return f.Entity
}

// answers are the questions that a consent leaves open, as bits.
type answers uint16

// unknownAnswer stands for a question that this version does not know.
const unknownAnswer answers = 1 << 15

// openAnswers reads the names of the questions that are open.
func openAnswers(missing []string) (a answers) {
	for _, name := range missing {
		a |= openAnswer(name)
	}
	return a
}

func openAnswer(name string) answers {
	for i := range importers.Questions {
		if importers.Questions[i].Name == name {
			return 1 << i
		}
	}
	if name == importers.StatusMissing {
		return 1 << len(importers.Questions)
	}
	return unknownAnswer
}

// answersRead remembers what openAnswers gave for the few texts that the register has.
type answersRead map[string]answers

func (m answersRead) of(missing string) answers {
	if missing == "" {
		return 0
	}
	a, ok := m[missing]
	if !ok {
		a = openAnswers(strings.Split(missing, ","))
		m[missing] = a
	}
	return a
}

// vouching is what the known records of a row come to.
type vouching struct {
	own, vouched, unvouched int
}

// vouchKnown lists the marks of a row that is not rejected, of whose records some are known. It says why the row does not vouch for one.
func (s *settler) vouchKnown(x *passedRow, records []identified, decided []*decision) (why string, err error) {
	if s.unmarked {
		return "", nil
	}
	var of vouching
	for i, d := range decided {
		if d.rule != "row.known" {
			continue
		}
		rec := &records[i]
		held := s.facts.held[rec.uid]
		if held.own {
			of.own++
			continue
		}
		short, err := s.fallsShort(rec, &held)
		if err != nil {
			return "", err
		}
		if short != "" {
			why = short
			of.unvouched++
			continue
		}
		of.vouched++
		if s.marked[rec.uid] { // the same row comes more than once
			continue
		}
		s.marked[rec.uid] = true
		if err := s.stageMark(x, rec, int64(held.version)); err != nil {
			return "", err
		}
	}
	if s.res.Known == nil {
		s.res.Known = &KnownRows{}
	}
	switch k := s.res.Known; {
	case of.unvouched > 0:
		k.Unvouched++
	case of.vouched > 0:
		k.Vouched++
	default:
		k.Own++
	}
	return why, nil
}

// fallsShort says why a record that is known would not come in if the register did not hold it, or not with evidence as good as is held; "" if
// it would.
func (s *settler) fallsShort(x *identified, held *heldRecord) (string, error) {
	var d decision
	s.decider.decideAlone(x, &d)
	if d.rule == "" && d.err == nil {
		s.decider.weigh(x, &d, s.records)
	}
	switch {
	case d.err != nil:
		return "", d.err
	case d.rule != "":
		return "by itself it would be rejected (" + d.rule + ")", nil
	case d.verdict == nil || openAnswers(d.verdict.Missing)&^held.open == 0:
		return "", nil
	}
	var list []string
	for _, name := range d.verdict.Missing {
		if openAnswer(name)&^held.open != 0 {
			list = append(list, name)
		}
	}
	return "it leaves open what the record answers (" + strings.Join(list, ", ") + ")", nil
}

// knownMessage is what the finding about a known row says if the row does not vouch for the record; else "".
func knownMessage(why string) string {
	rule, ok := finding.ByID("row.known")
	if why == "" || !ok {
		return ""
	}
	return rule.Meaning + " The row does not vouch for it: " + why + "."
}

// stageMark appends one mark to its staged file.
func (s *settler) stageMark(x *passedRow, rec *identified, version int64) error {
	name := stagedName(s.sh.src.Name, rec.Entity.Name, partKnown)
	w := s.writers[name]
	if w == nil {
		var err error
		if w, err = staged.Create(filepath.Join(s.dir, name), register.MarkEntity(rec.Entity), moreColumns(partKnown)...); err != nil {
			return s.unstaged(err)
		}
		s.writers[name] = w
	}
	o := s.origin(s.sh, x.row, rec, &x.digest)
	o.Key = "" // who it is, the id says
	if err := w.Append(&o, &importers.Record{}, []staged.Cell{{Int: version}}); err != nil {
		return s.unstaged(err)
	}
	return nil
}

// knownFiles are the staged files of marks, of a dry-run that has any.
func (r *DryRunResult) knownFiles() []StagedFile {
	if r == nil || r.Known == nil {
		return nil
	}
	return r.Known.Files
}

// sumKnown adds up the marks of a source, as staged and as the register has them.
func (p *Pipeline) sumKnown(ctx context.Context, dry *DryRunResult, source string) (inFiles, held register.Sum, err error) {
	for _, f := range dry.knownFiles() {
		if f.Source != source {
			continue
		}
		if err := sumMarks(f, &inFiles); err != nil {
			return inFiles, held, err
		}
		e := importers.ByName(f.Entity)
		o := register.Origin{Identity: p.id, Batch: p.batch.Name, Snapshot: p.snap.name, Source: f.Source, StagedDigest: f.SHA256}
		if err := p.db.View(ctx, func(tx *store.Tx) error { return register.SumMarks(ctx, tx, e, o, &held) }); err != nil {
			return inFiles, held, err
		}
	}
	return inFiles, held, nil
}

func sumMarks(f StagedFile, sum *register.Sum) error {
	rd, err := openStaged(f)
	if err != nil {
		return err
	}
	defer rd.Close()
	for i := range rd.Chunks() {
		c, err := rd.Chunk(i)
		if err != nil {
			return err
		}
		register.SumStagedMarks(rd.Columns(), c, sum)
		c.Release()
	}
	return nil
}
