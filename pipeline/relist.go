package pipeline

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"sheetlift/pipeline/ledger"
	"sheetlift/pipeline/store"
)

// relist makes findings files of a snapshot anew that are gone and that its stages don't make any more, because they work on later
// snapshots: nothing rests on them, but verify looks at them. One that comes out as another is not kept, and said.
func (p *Pipeline) relist(ctx context.Context, fr *FreezeResult) error {
	q := p.initial() // freeze looks through files for all sources
	q.snap = snapshot{name: fr.Snapshot, kind: fr.Kind}
	if fr.Number == 0 {
		inv, _, err := last[InventoryResult](ctx, q, Inventory)
		if err != nil {
			return err
		}
		if inv != nil {
			if err := q.relistFrozen(ctx, Inventory, &inv.Outcome, fr); err != nil {
				return err
			}
		}
	} else {
		q, err := q.dated(fr)
		if err != nil {
			return err
		}
		if err := q.relistFrozen(ctx, Freeze, &fr.Outcome, fr); err != nil {
			return err
		}
	}
	q, err := p.at(fr)
	if err != nil {
		return err
	}
	rec, _, err := last[ReconcileResult](ctx, q, Reconcile)
	if err != nil {
		return err
	}
	if rec != nil && rec.Findings == (Counts{}) { // what else it said was of the register as it was then
		if err := q.relistFrozen(ctx, Reconcile, &rec.Outcome, &FreezeResult{}); err != nil {
			return err
		}
	}
	mapped, _, err := last[MapResult](ctx, q, Map)
	if err != nil || mapped == nil || present(mapped.FindingsFile) == nil {
		return err
	}
	return q.stillGone(Map, q.remap(ctx))
}

// relistFrozen makes the findings file of a stage anew that looks through the files of a bag.
func (p *Pipeline) relistFrozen(ctx context.Context, stage string, o *Outcome, fr *FreezeResult) error {
	if o.FindingsFile == "" || present(o.FindingsFile) == nil {
		return nil
	}
	dir := filepath.Dir(o.FindingsFile)
	rec, err := p.record(dir)
	if err != nil {
		return err
	}
	for _, f := range fr.Files {
		if _, err := p.inventoryFile(ctx, filepath.Join(p.bagDir(), "data", filepath.FromSlash(f.Payload)), f.File, f.SHA256, rec); err != nil {
			rec.abandon()
			return p.stillGone(stage, err)
		}
	}
	var made Outcome
	if err := rec.close(&made, dir); err != nil {
		return err
	}
	if o.FindingsSum != "" && made.FindingsSum != o.FindingsSum || made.Findings != o.Findings {
		err := &IntegrityError{What: "findings of " + stage, Detail: "made again from the frozen files they are not those that were recorded", Remedy: "restore " + dir + " from a backup, or put back batch.yaml and the mappings as they were"}
		return errors.Join(os.Remove(o.FindingsFile), p.stillGone(stage, err))
	}
	return nil
}

// stillGone says of a findings file that could not be made anew that it is still missing.
func (p *Pipeline) stillGone(stage string, err error) error {
	if err != nil && !errors.Is(err, context.Canceled) {
		p.remark(fmt.Sprintf("the findings file of %s of snapshot %s is gone, and was not made anew: %v", stage, p.snap.name, err))
		return nil
	}
	return err
}

// remap makes anew what map wrote for the pipeline's snapshot, if it compiled the mappings as they are now.
func (p *Pipeline) remap(ctx context.Context) error {
	fr, err := p.frozen(ctx, Map)
	if err != nil {
		return err
	}
	maps, err := p.loadMappings()
	if err != nil {
		return err
	}
	var rec *ledger.Record
	if err := p.db.View(ctx, func(tx *store.Tx) (err error) {
		rec, err = ledger.Last(ctx, tx, p.id.Tenant, p.batch.Name, p.snap.name, Map)
		return err
	}); err != nil {
		return err
	}
	if rec == nil || rec.ID != p.mapKey(fr, maps) {
		return errors.New("batch.yaml or a mapping changed since")
	}
	_, err = p.mapFrozen(ctx, fr, maps)
	return err
}
