package pipeline

import (
	"context"
	"fmt"
	"strings"

	"sheetlift/importers"
	"sheetlift/pipeline/finding"
	"sheetlift/pipeline/ledger"
	"sheetlift/pipeline/store"
)

// unfinished is an import that has put something into the register and has not come to its end, or an undo that has not.
type unfinished struct {
	op   *ledger.Record
	live bool           // a process holds it
	dry  *DryRunResult  // what the import loads; nil of an undo
	rec  *ledger.Record // the operation of that dry-run
	done int64          // records in the register; of an undo, taken out of it
	of   int64          // records that the import brings
}

// unfinishedOf finds what is unfinished of a batch of the tenant; nil if nothing is.
func (p *Pipeline) unfinishedOf(ctx context.Context, tx *store.Tx, batch string) (*unfinished, error) {
	ops, err := ledger.List(ctx, tx, p.id.Tenant, batch)
	if err != nil {
		return nil, err
	}
	now, err := tx.Now(ctx)
	if err != nil {
		return nil, err
	}
	undone := lastUndone(ops)
	var u *unfinished
	for _, op := range ops {
		if op.State == ledger.Succeeded || op.Stage != Undo && (op.Stage != Import || op.AskedAt <= undone) {
			continue
		}
		chunks, err := ledger.Checkpoints(ctx, tx, op.ID, "chunk")
		if err != nil {
			return nil, err
		}
		x := &unfinished{op: op, live: op.State == ledger.Running && op.LeaseUntil > now}
		for _, c := range chunks {
			if importers.ByName(c.Text("entity")) != nil { // else what is counted are no records
				x.done += c.Int("rows") + c.Int("records")
			}
		}
		if op.Stage == Undo { // nothing of the batch stands until it ends
			return x, nil
		}
		if len(chunks) > 0 && (u == nil || op.AskedAt > u.op.AskedAt) {
			u = x
		}
	}
	if u == nil {
		return nil, nil
	}
	return u, p.dryRunOf(u, ops)
}

// dryRunOf finds the dry-run that an import loads.
func (p *Pipeline) dryRunOf(u *unfinished, ops []*ledger.Record) error {
	var err error
	if u.dry, u.rec, err = p.dryRunLoaded(u.op, ops); err != nil {
		return err
	}
	if u.dry == nil {
		return &IntegrityError{What: "dry-run of an import", Detail: "the import is not finished, and the ledger has no dry-run of the digest that it loads", Remedy: "restore the database from a backup"}
	}
	for _, f := range u.dry.Staged {
		u.of += int64(f.Rows)
	}
	return nil
}

// begun is the import of the pipeline's snapshot that has put something into the register and is not finished; nil if there is none,
// or if an undo is taking it back.
func (p *Pipeline) begun(ctx context.Context) (u *unfinished, err error) {
	err = p.db.View(ctx, func(tx *store.Tx) error {
		u, err = p.unfinishedOf(ctx, tx, p.batch.Name)
		return err
	})
	if u != nil && (u.dry == nil || u.op.Snapshot != p.snap.name) {
		u = nil
	}
	return u, err
}

// far says how far an import is.
func (u *unfinished) far() string {
	return fmt.Sprintf("%d of %s in the register", u.done, finding.Count(u.of, "record is", "records are"))
}

// startedOver is the way out for an import that can't go on by the dry-run that it began with.
const startedOver = "take back what is in the register with `sheetlift undo`, then dry-run anew"

// refuse is the gate of a stage that would work by the part of the batch that is in the register.
func (u *unfinished) refuse(stage, why string) *GateError {
	g := &GateError{Stage: stage, Why: fmt.Sprintf("an import of the batch is not finished (%s)%s", u.far(), why),
		Remedy: "finish it: `sheetlift import`; or " + startedOver}
	if u.live {
		g.Why = strings.Replace(g.Why, "is not finished", "is running", 1)
		g.Remedy = "wait until it ends (`sheetlift status`); if its process has died, `sheetlift import` goes on where it stopped"
	}
	return g
}

// unfinishedAll lists what is unfinished of all batches of the tenant: a state that the register gives is not final until it is.
func (p *Pipeline) unfinishedAll(ctx context.Context, tx *store.Tx) ([]Unfinished, error) {
	batches, err := ledger.Unfinished(ctx, tx, p.id.Tenant, Import, Undo)
	if err != nil {
		return nil, err
	}
	var list []Unfinished
	for _, batch := range batches {
		u, err := p.unfinishedOf(ctx, tx, batch)
		if err != nil {
			return nil, err
		}
		if u == nil {
			continue
		}
		out := Unfinished{Stage: u.op.Stage, Batch: batch, Snapshot: u.op.Snapshot, Running: u.live, Records: u.done, Of: u.of}
		if !u.live {
			out.Next = "sheetlift " + u.op.Stage
		}
		list = append(list, out)
	}
	return list, nil
}

// asOf says of a record that was not found what is not in the register yet.
func (e *ErrNoSuchRecord) asOf(open []Unfinished) error {
	for _, u := range open {
		if u.Stage == Import {
			e.NotYet = true
			e.Remedy = fmt.Sprintf("the import of batch %s is not finished (%d of %s in the register): ask again when it is; or %s", u.Batch, u.Records, finding.Count(u.Of, "record is", "records are"), e.Remedy)
			break
		}
	}
	return e
}
