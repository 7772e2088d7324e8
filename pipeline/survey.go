package pipeline

import (
	"context"
	"runtime"
	"slices"

	"sheetlift/importers"
	"sheetlift/importers/source"
	"sheetlift/mappings"
)

// survey reads a source once to learn what its own and other sources' rows are judged by: configs, suppressions, erasures,
// decisions against, and the contents of keys that occur more than once. Of a rejected row it learns what speaks against others.
// What the rows come to is laid aside for the decision. A sheet that was not profiled before is profiled beside.
func (d *dryRunner) survey(ctx context.Context, sh *sheet, plan *mappings.Plan) error {
	d.freeing.Wait()
	var read feed
	var rows int64
	switch {
	case sh.kept != nil:
		read = keptRows(sh.kept)
	case sh.profiler != nil:
		sh.profiler.TakeKeys()
		read = rowsOfSheet(sh, func(b *source.Block) error {
			rows += int64(b.Rows())
			d.opt.Progress(DryRun, sh.src.Name, rows, 0)
			return sh.profiler.Add(b)
		})
	default:
		read = rowsOfSheet(sh, nil)
	}
	sh.linker = d.facts.links.Linker(sh.src.System)
	laid := &laidAside{}
	if sh.view == nil { // rows that came back mended are judged with their cells at hand
		sh.laid = laid
	}
	worker := func() (func(*passed) error, error) {
		own, err := plan.Clone()
		if err != nil {
			return nil, err
		}
		own.Passing()
		s := &surveyor{dryRunner: d, sh: sh, number: len(laid.plans), plan: own, profiler: sh.profiler}
		if d.decidesAhead(sh) {
			s.decides = d.newAhead(sh)
		}
		laid.plans, laid.aheads = append(laid.plans, own), append(laid.aheads, s.decides)
		return s.block, nil
	}
	if err := d.hear(ctx, sh, plan); err != nil {
		return err
	}
	surveyed := d.newDecider(sh)
	err := d.pass(ctx, d.alone(sh), read, worker, func(p *passed) error {
		noes, from := p.noes, 0
		hear := func(before int) { // in the order of rows, wherever blocks end
			for ; len(noes) > 0 && noes[0].row <= before; noes = noes[1:] {
				d.facts.heard.addHeard(p.heard[from:noes[0].end])
				from = noes[0].end
			}
		}
		for i := range p.list {
			hear(i)
			x := &p.list[i]
			d.cameBack(surveyed, plan, x)
			for k := range x.row.Partial {
				rec := &x.row.Partial[k].Record
				if speaks(rec) {
					d.facts.know(rec, partialID(sh.src, x.row, k), sh.src.System, sh.src.obtained, standing{rejected: true, meant: d.meant(plan, sh.src.System, x.row, &x.row.Partial[k])})
				}
			}
			d.knowAside(sh, x.row)
			if x.row.Verdict != mappings.Accepted {
				continue
			}
			if d.rowTeaches(x) {
				d.learnRow(surveyed, x.row, x.records)
			}
			silent := silentOf(x.row, sh.src.System)
			d.linkUnsure(surveyed, x.row, x.records, silent)
			d.facts.linkRow(x.records, silent)
		}
		hear(len(p.list))
		next := 0
		for _, end := range p.ends {
			d.facts.links.AddDigests(p.linked[next:end])
			next = end
		}
		if sh.profiler != nil {
			if err := sh.profiler.AddKeys(&p.keyed, p.block); err != nil {
				return err
			}
		}
		if sh.laid == nil {
			return nil
		}
		return sh.laid.take(p)
	})
	if err = sh.checked(err); err != nil || sh.profiler == nil {
		return err
	}
	profile, err := sh.profiler.Done()
	if err != nil {
		return err
	}
	sh.profiler = nil
	if err := sameProfile(sh.src, profile, sh.profiled); err != nil {
		return err
	}
	if err := sh.book.Close(); err != nil || d.alone(sh) {
		return err
	}
	d.freeing.Go(runtime.GC) // the shared strings are the larger part of it; what is decided later needs as much once more
	return nil
}

// rowsTogether is how many rows of a block a surveyor works on at once: what comes of them stays in the processor's nearest caches until
// the next step wants it.
const rowsTogether = 64

// surveyor works on the blocks of a source while it is surveyed. It belongs to one goroutine.
type surveyor struct {
	*dryRunner
	sh      *sheet
	number  int // of the worker
	plan    *mappings.Plan
	decides *ahead // nil if the rows are decided later
	desk    passed // some rows of the block

	profiler *mappings.Profiler // nil if the rows were profiled before
}

// block works on a block. Of its rows p keeps those that others are judged by, and of the rest the keys.
func (s *surveyor) block(p *passed) error {
	p.block = p.held.Block()
	p.rows.Reset()
	p.keyed.Reset()
	p.laid.begin(s.number)
	together := s.together
	if together == 0 {
		together = rowsTogether
	}
	for from := 0; from < p.block.Rows(); from += together {
		s.desk.reset()
		s.putSome(s.sh, s.plan, &s.desk, p.block, from, min(from+together, p.block.Rows()))
		if s.profiler != nil {
			s.profiler.Keys(&p.keyed, &s.desk.rows)
		}
		if s.decides != nil {
			if err := s.decides.some(s.desk.list); err != nil {
				return err
			}
		}
		if s.sh.laid != nil {
			p.laid.lay(s.desk.list, s.plan)
		}
		for i := range s.desk.list {
			s.distil(p, &s.desk.list[i])
		}
	}
	p.laid.end(s.decides)
	return nil
}

// distil keeps of a row what the survey wants of it.
func (s *surveyor) distil(p *passed, x *passedRow) {
	s.silent(p, x.row)
	switch {
	case s.snap.kind != "", len(x.row.Aside) > 0:
	case x.row.Verdict != mappings.Accepted:
		if !slices.ContainsFunc(x.row.Partial, func(rec mappings.RecordOut) bool { return speaks(&rec.Record) }) {
			return
		}
	case len(x.records) == 1 && len(x.row.Silent) == 0 && x.sure():
		no := s.plainNo(x)
		if !no && s.rowTeaches(x) {
			break
		}
		p.linked = append(p.linked, x.records[0].links...)
		p.ends = append(p.ends, len(p.linked))
		if no {
			s.hearPlain(p, &x.records[0])
		}
		return
	}
	own := passedRow{row: p.rows.Retain(x.row)}
	from := len(p.x)
	for k := range x.records {
		id := x.records[k]
		id.RecordOut = &own.row.Records[k]
		links := len(p.links)
		p.links = append(p.links, id.links...)
		id.keys, id.links = p.addKeys(&id.Record, id.system), p.links[links:len(p.links):len(p.links)]
		if id.decided != nil {
			p.decided = append(p.decided, *id.decided)
			id.decided = &p.decided[len(p.decided)-1] // there it stays, should the list move
		}
		p.x = append(p.x, id)
	}
	own.records = p.x[from:len(p.x):len(p.x)]
	p.list = append(p.list, own)
}

// plainNo reports whether all that other rows may be judged by in a row of one record is that it says no: then its words are enough.
func (s *surveyor) plainNo(x *passedRow) bool {
	rec := &x.records[0]
	return rec.decided != nil && rec.Entity.Event && !rec.KeyDup && len(rec.keys) > 0 && !s.facts.keepAll && !s.facts.asked[rec.recordUID] && opposes(&rec.Record)
}

// hearPlain keeps what a plain no says, as facts.learn would.
func (s *surveyor) hearPlain(p *passed, rec *identified) {
	ev := importers.EventOf(&rec.Record, rec.id(), importers.LegacyAssertion, s.sh.src.obtained)
	a := against{standing: standing{rejected: !comesIn(rec.decided.rule), consent: true, linked: true}, keys: rec.keys, event: &ev}
	p.heard = a.appendHeard(p.heard, rec.links)
	if n := len(p.noes); n > 0 && p.noes[n-1].row == len(p.list) {
		p.noes[n-1].end = len(p.heard)
	} else {
		p.noes = append(p.noes, heardBefore{len(p.list), len(p.heard)})
	}
}

// rowTeaches reports whether other rows may be judged by one of the row's records.
func (d *dryRunner) rowTeaches(x *passedRow) bool {
	for k := range x.records {
		if d.teaches(x.records[k].RecordOut) || d.facts.asked[x.records[k].recordUID] {
			return true
		}
	}
	return false
}

// teaches reports whether other rows may be judged by a record, beyond whom it speaks of.
func (d *dryRunner) teaches(rec *mappings.RecordOut) bool {
	return rec.KeyDup || d.snap.kind == Mended || !rec.Entity.Event || opposes(&rec.Record)
}

// learnRow takes in an accepted row of the survey.
func (d *dryRunner) learnRow(surveyed *decider, row *mappings.Row, records []identified) {
	sh := surveyed.sh
	st := d.standing(surveyed, row, records)
	st.linked = true // as all accepted rows are
	out := d.staysOut(sh, row, records) || d.stubborn && sh.view.untouched(row.Block, row.Index)
	if out { // but what it says against a consent is said
		st.rejected = true
	}
	if len(records) > 1 && !st.rejected && slices.ContainsFunc(records, func(x identified) bool { return speaks(&x.Record) }) {
		st.row = d.facts.mix(surveyed, records)
	}
	for k := range records {
		x := &records[k]
		st.consent, st.meant = x.Entity.Event, d.meantNameless(records, k, st.rejected)
		if d.snap.kind == Mended && d.facts.heldState(x) != heldSame { // its key may be that of a row that is not here
			d.facts.group(x)
		}
		if out {
			d.facts.know(&x.Record, x.id(), x.system, sh.src.obtained, st)
		} else {
			d.facts.learn(*x, sh.src.obtained, st)
		}
	}
}

// standing tells whether an accepted row that speaks against others comes into the register, as far as the survey can know.
// Sources are surveyed configs first, so what the rules rest on is known by then, but for keys that occur more than once.
func (d *dryRunner) standing(surveyed *decider, row *mappings.Row, records []identified) (st standing) {
	if !slices.ContainsFunc(records, func(x identified) bool { return speaks(&x.Record) }) {
		return st
	}
	st.rejected = d.rekeyed(surveyed, row, records)
	for k := range records {
		x := &records[k]
		if x.KeyDup || d.snap.kind == Mended { // which may meet the key of a row that was left out
			st.records = append(st.records, x.recordUID)
		}
		st.rejected = st.rejected || !comesIn(surveyed.decided(x).rule)
	}
	return st
}

// rekeyed reports whether a row may be rejected because the batch has brought it in before, under another key or with other content, as far as the survey can know.
func (d *dryRunner) rekeyed(surveyed *decider, row *mappings.Row, records []identified) bool {
	return d.facts.imported[place{surveyed.sh.src.Name, row.Num}] &&
		!slices.ContainsFunc(records, func(x identified) bool { return surveyed.decided(&x).rule == "row.known" })
}
