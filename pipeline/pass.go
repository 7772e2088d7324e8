package pipeline

import (
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"runtime"

	"golang.org/x/sync/errgroup"

	"sheetlift/importers"
	"sheetlift/importers/source"
	"sheetlift/mappings"
)

// passed is what one block of a source came to when it was put through its plan.
type passed struct {
	held  source.Held
	block *source.Block
	rows  mappings.Rows

	x       []identified        // of the accepted rows that were identified
	from    []int               // by row: where its records begin in x; -1 of a row that was not identified
	keys    []importers.Key     // of all records
	subject [][]importers.Key   // of all records, row by row
	ends    []int               // by row: where its records end in subject
	digests [][sha256.Size]byte // by row, if asked for

	ready chan struct{}
	fault any // the panic of whoever worked on it
}

func (p *passed) reset() {
	p.x, p.from, p.keys, p.subject, p.ends, p.digests = p.x[:0], p.from[:0], p.keys[:0], p.subject[:0], p.ends[:0], p.digests[:0]
}

// records gives the records of row i, identified; nil if they were not.
func (p *passed) records(i int) []identified {
	if p.from[i] < 0 {
		return nil
	}
	return p.x[p.from[i]:][:len(p.rows.List[i].Records)]
}

// subjectKeys gives the keys of each record of row i that names a subject.
func (p *passed) subjectKeys(i int) [][]importers.Key {
	from := 0
	if i > 0 {
		from = p.ends[i-1]
	}
	return p.subject[from:p.ends[i]]
}

// addKeys works out the keys of a record and keeps them.
func (p *passed) addKeys(rec *importers.Record, system string) []importers.Key {
	from := len(p.keys)
	p.keys = importers.AppendSubjectKeys(p.keys, rec, system)
	return p.keys[from:len(p.keys):len(p.keys)]
}

// pass puts a source through its plan, block by block. prepare works on one block, beside the other blocks and emit, and must
// change nothing but the block; emit takes the blocks one by one in their order.
func (d *dryRunner) pass(ctx context.Context, sh *sheet, plan *mappings.Plan, prepare func(*passed), emit func(*passed) error) error {
	workers := runtime.GOMAXPROCS(0)
	if sh.kept == nil || sh.kept.Small() && !d.spread || workers == 1 { // what is small is done before others have begun
		var p passed
		return sh.each(ctx, func(b *source.Block) error {
			p.block = b
			p.reset()
			plan.Keep(b, &p.rows)
			prepare(&p)
			return emit(&p)
		})
	}
	g, ctx := errgroup.WithContext(ctx)
	flying := workers + 1
	free, work, order := make(chan *passed, flying), make(chan *passed, flying), make(chan *passed, flying)
	for range flying {
		free <- &passed{ready: make(chan struct{}, 1)}
	}
	g.Go(func() error {
		defer close(order)
		defer close(work)
		replay := sh.kept.Replay()
		for {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case p := <-free:
				if err := replay.Read(&p.held); errors.Is(err, io.EOF) {
					return nil
				} else if err != nil {
					return err
				}
				order <- p // neither blocks: there is room for all that fly
				work <- p
			}
		}
	})
	for range workers {
		own, err := plan.Clone()
		if err != nil {
			return err
		}
		g.Go(func() error {
			for p := range work {
				p.run(own, prepare)
				p.ready <- struct{}{}
			}
			return nil
		})
	}
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

// run puts the block that was read through a plan.
func (p *passed) run(plan *mappings.Plan, prepare func(*passed)) {
	defer func() { p.fault = recover() }()
	p.block = p.held.Block()
	p.reset()
	plan.Keep(p.block, &p.rows)
	prepare(p)
}
