package pipeline

import (
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"runtime"

	"golang.org/x/sync/errgroup"

	"sheetlift/importers"
	"sheetlift/importers/digest"
	"sheetlift/importers/register"
	"sheetlift/importers/source"
	"sheetlift/mappings"
	"sheetlift/pipeline/finding"
)

// passed is what one block of a source came to when it was put through its plan.
type passed struct {
	held  source.Held
	block *source.Block
	rows  mappings.Rows // what the plan made of the block
	list  []passedRow

	// What list points to:
	x     []identified
	keys  []importers.Key
	links []importers.LinkKey

	linked []importers.LinkKey // survey: the keys of rows that are not on the list
	ends   []int               // of them: where each row's end
	heard  []byte              // of them: what speaks against consents, see againstStash
	noes   []heardBefore       // of that: where it stands among the rows of the list

	decided  []decision // see recaller
	gathered gathered

	// Whoever works on the block names its rows and records with these:
	digests digest.Batch      // of rows and contents
	uuids   digest.Batch      // of records and events
	names   []*register.Namer // by Spec

	keyed mappings.KeyRows // survey: of the profile
	laid  laidRows         // survey: what is laid aside of the block; decision: what was

	ready chan struct{}
	err   error
	fault any // the panic of whoever worked on it
}

// passedRow is a row and its records, identified if the row is accepted.
type passedRow struct {
	row      *mappings.Row
	findings []finding.Finding // that the plan made of it
	records  []identified
	digest   [sha256.Size]byte // of an accepted row
	gathered int               // the place of its record among those that are gathered, from 1; 0 if it is not there
	kind     int               // see ahead.kinds
	after    int               // decision: how many gathered records come before it
	subject  importers.Subject // decision: of a gathered record, and what is said about it
	about    []*against
}

func (p *passed) reset() {
	p.list, p.x, p.keys, p.links, p.linked, p.ends, p.decided = p.list[:0], p.x[:0], p.keys[:0], p.links[:0], p.linked[:0], p.ends[:0], p.decided[:0]
	p.heard, p.noes = p.heard[:0], p.noes[:0]
}

// heardBefore tells up to where in passed.heard is what rows say that stand before a row of the list.
type heardBefore struct{ row, end int }

// addKeys works out the keys of a record and keeps them.
func (p *passed) addKeys(rec *importers.Record, system string) []importers.Key {
	from := len(p.keys)
	p.keys = importers.AppendSubjectKeys(p.keys, rec, system)
	return p.keys[from:len(p.keys):len(p.keys)]
}

// addLinks digests keys and keeps what comes of it.
func (p *passed) addLinks(l *importers.Linker, keys []importers.Key) []importers.LinkKey {
	from := len(p.links)
	p.links = l.Append(p.links, keys)
	return p.links[from:len(p.links):len(p.links)]
}

// namer gives the namer of a record.
func (p *passed) namer(id register.Identity, system string, rec *mappings.RecordOut) *register.Namer {
	for len(p.names) <= rec.Spec {
		p.names = append(p.names, nil)
	}
	if p.names[rec.Spec] == nil {
		p.names[rec.Spec] = id.Namer(system, rec.Entity)
	}
	return p.names[rec.Spec]
}

// identified is a record with its ids.
type identified struct {
	*mappings.RecordOut
	system string
	keys   []importers.Key     // of its subject
	links  []importers.LinkKey // they, digested
	recordIDs
	decided *decision // nil if it is not decided yet
}

// hand takes a block that fill puts in. An error of fill comes back, and the block is not passed on.
type hand func(fill func(*passed) error) error

// feed hands over the blocks of a source one by one.
type feed func(context.Context, hand) error

// pass puts the blocks that read hands over through work, beside each other unless alone, and emit, one by one in their order. worker
// makes a function that works on one block beside the others and changes nothing but the block.
func (d *dryRunner) pass(ctx context.Context, alone bool, read feed, worker func() (func(*passed) error, error), emit func(*passed) error) error {
	workers := runtime.GOMAXPROCS(0)
	if alone || workers == 1 {
		work, err := worker()
		if err != nil {
			return err
		}
		var p passed
		return read(ctx, func(fill func(*passed) error) error {
			p.reset()
			if err := fill(&p); err != nil {
				return err
			}
			if err := work(&p); err != nil {
				return err
			}
			return emit(&p)
		})
	}
	g, ctx := errgroup.WithContext(ctx)
	flying := workers + 1
	free, work, order := make(chan *passed, flying), make(chan *passed, flying), make(chan *passed, flying)
	for range flying {
		free <- &passed{ready: make(chan struct{}, 1)}
	}
	for range workers {
		own, err := worker()
		if err != nil {
			close(work)
			return errors.Join(err, g.Wait())
		}
		g.Go(func() error {
			for p := range work {
				p.run(own)
				p.ready <- struct{}{}
			}
			return nil
		})
	}
	g.Go(func() error {
		defer close(order)
		defer close(work)
		return read(ctx, func(fill func(*passed) error) error {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case p := <-free:
				p.reset()
				if err := fill(p); err != nil {
					return err
				}
				order <- p // neither blocks: there is room for all that fly
				work <- p
				return nil
			}
		})
	})
	var fault any
	g.Go(func() error {
		for p := range order {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-p.ready:
			}
			if fault = p.fault; fault != nil {
				return errFault
			}
			if p.err != nil {
				return p.err
			}
			if err := emit(p); err != nil {
				return err
			}
			free <- p
		}
		return nil
	})
	err := g.Wait()
	if fault != nil {
		panic(fault) // where a panic is told
	}
	return err
}

var errFault = errors.New("a block could not be worked on")

func (p *passed) run(work func(*passed) error) {
	defer func() { p.fault = recover() }()
	p.err = work(p)
}

// rowsOfSheet feeds the rows of a sheet as they are read. Shared strings of the book are not copied. seen, if not nil, sees each
// block first.
func rowsOfSheet(sh *sheet, seen func(*source.Block) error) feed {
	return func(ctx context.Context, to hand) error {
		return sh.each(ctx, func(b *source.Block) error {
			if seen != nil {
				if err := seen(b); err != nil {
					return err
				}
			}
			return to(func(p *passed) error {
				p.held.Copy(b)
				return nil
			})
		})
	}
}

// keptRows feeds the rows of a sheet that were kept when it was read before.
func keptRows(kept *source.Spill) feed {
	return func(_ context.Context, to hand) error {
		replay := kept.Replay()
		return untilEOF(func() error { return to(func(p *passed) error { return replay.Read(&p.held) }) })
	}
}

func untilEOF(f func() error) error {
	for {
		switch err := f(); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
	}
}

// put puts a block through a plan and identifies the records of the accepted rows.
func (d *dryRunner) put(sh *sheet, plan *mappings.Plan, p *passed) {
	p.block = p.held.Block()
	d.putSome(sh, plan, p, p.block, 0, p.block.Rows())
}

// putSome is put of some rows of a block.
func (d *dryRunner) putSome(sh *sheet, plan *mappings.Plan, p *passed, b *source.Block, from, until int) {
	plan.KeepSome(b, from, until, &p.rows)
	first := len(p.list)
	for i := range p.rows.List {
		p.list = append(p.list, passedRow{row: &p.rows.List[i], findings: p.rows.Findings(i)})
	}
	d.identify(sh, p, p.list[first:])
}

// passRow adds a row to the block's list.
func (d *dryRunner) passRow(sh *sheet, p *passed, row *mappings.Row, found []finding.Finding) {
	p.list = append(p.list, passedRow{row: row, findings: found})
	d.identify(sh, p, p.list[len(p.list)-1:])
}

// digestedAtOnce is how many bytes of rows and contents are digested together at least, if there are as many. More would not go quicker, and
// 64 rows may be large.
const digestedAtOnce = 16 << 10

// identify works out the digests of the accepted rows among some, and gives them their records with who they are.
func (d *dryRunner) identify(sh *sheet, p *passed, list []passedRow) {
	for len(list) > 0 {
		n := 0
		for p.digests.Reset(); n < len(list) && p.digests.Size() < digestedAtOnce; n++ {
			if row := list[n].row; row.Verdict == mappings.Accepted {
				row.Block.AddRow(&p.digests, row.Index)
				for k := range row.Records {
					rec := &row.Records[k]
					p.namer(d.id, sh.src.System, rec).AddContent(&p.digests, &rec.Record, rec.Stays())
				}
			}
		}
		digests := p.digests.SHA256()
		p.uuids.Reset()
		for i := range list[:n] {
			x := &list[i]
			if x.row.Verdict != mappings.Accepted {
				continue
			}
			x.digest, digests = digests[0], digests[1:]
			d.giveRecords(sh, p, x, func(k int) recordIDs { return recordIDs{content: digests[k]} })
			digests = digests[len(x.records):]
			for k := range x.records {
				rec := &x.records[k]
				name := p.namer(d.id, sh.src.System, rec.RecordOut)
				name.AddRecord(&p.uuids, rec.Key)
				if rec.Entity.Event {
					name.AddEvent(&p.uuids, rec.Key, &rec.content)
				}
			}
		}
		uuids := p.uuids.SHA1()
		for i := range list[:n] {
			for k := range list[i].records {
				rec := &list[i].records[k]
				rec.recordUID, uuids = register.UUID(uuids[0][:]), uuids[1:]
				if rec.uid = rec.recordUID; rec.Entity.Event {
					rec.uid, uuids = register.UUID(uuids[0][:]), uuids[1:]
				}
			}
		}
		list = list[n:]
	}
}

// giveRecords gives a row its records.
func (d *dryRunner) giveRecords(sh *sheet, p *passed, out *passedRow, ids func(k int) recordIDs) {
	from := len(p.x)
	for k := range out.row.Records {
		rec := &out.row.Records[k]
		if d.facts.shared[[2]string{sh.src.System, rec.Entity.Name}] {
			rec.KeyDup = true // another source may bring the same key
		}
		x := identified{RecordOut: rec, system: sh.src.System, keys: p.addKeys(&rec.Record, sh.src.System), recordIDs: ids(k)}
		x.links = p.addLinks(&sh.linker, x.keys)
		p.x = append(p.x, x)
	}
	out.records = p.x[from:len(p.x):len(p.x)]
}

// odd reports whether the cells of a row are laid aside instead of its records.
func (r *passedRow) odd() bool {
	return r.row.Verdict != mappings.Accepted || len(r.findings) > 0 || len(r.row.Silent) > 0
}
