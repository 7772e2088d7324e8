package pipeline

import (
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"runtime"

	"golang.org/x/sync/errgroup"

	"sheetlift/importers"
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
	x    []identified
	keys []importers.Key

	decided  []decision // see ahead
	gathered gathered

	// Whoever works on the block names its rows and records with these:
	digests source.RowDigester
	names   []*register.Namer // by Spec

	laid laidRows // survey: what is laid aside of the block; decision: what was

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
	gathered bool              // its record is the next of those that are gathered
}

func (p *passed) reset() { p.list, p.x, p.keys = p.list[:0], p.x[:0], p.keys[:0] }

// addKeys works out the keys of a record and keeps them.
func (p *passed) addKeys(rec *importers.Record, system string) []importers.Key {
	from := len(p.keys)
	p.keys = importers.AppendSubjectKeys(p.keys, rec, system)
	return p.keys[from:len(p.keys):len(p.keys)]
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
	keys   []importers.Key // of its subject
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
	plan.Keep(p.block, &p.rows)
	for i := range p.rows.List {
		d.passRow(sh, p, &p.rows.List[i], p.rows.Findings(i))
	}
}

// passRow adds a row to the block's list.
func (d *dryRunner) passRow(sh *sheet, p *passed, row *mappings.Row, found []finding.Finding) {
	out := passedRow{row: row, findings: found}
	if row.Verdict != mappings.Accepted {
		p.list = append(p.list, out)
		return
	}
	out.digest = p.digests.Sum(row.Block, row.Index)
	d.passAccepted(sh, p, out, func(k int) recordIDs { return d.identify(sh, p, &row.Records[k]) })
}

// passAccepted adds an accepted row to the block's list; ids gives who its k-th record is.
func (d *dryRunner) passAccepted(sh *sheet, p *passed, out passedRow, ids func(k int) recordIDs) {
	from := len(p.x)
	for k := range out.row.Records {
		rec := &out.row.Records[k]
		if d.facts.shared[[2]string{sh.src.System, rec.Entity.Name}] {
			rec.KeyDup = true // another source may bring the same key
		}
		p.x = append(p.x, identified{rec, sh.src.System, p.addKeys(&rec.Record, sh.src.System), ids(k), nil})
	}
	out.records = p.x[from:len(p.x):len(p.x)]
	p.list = append(p.list, out)
}

// odd reports whether the cells of a row are laid aside instead of its records.
func (r *passedRow) odd() bool { return r.row.Verdict != mappings.Accepted || len(r.findings) > 0 }
