package pipeline

import (
	"context"
	"fmt"
	"strings"

	"sheetlift/pipeline/finding"
	"sheetlift/pipeline/ledger"
	"sheetlift/pipeline/store"
)

// A row that is skipped as known vouches for its record, but not all do: those that an earlier version skipped leave no mark, nor do those
// whose record by themselves they would not give. To the register the record is that of the batch which brought it: if that is undone, it
// goes. Which rows of other batches these are, nobody can tell without their files; that there are such rows, and in which batches, the
// ledger knows.

// KnownElsewhere counts the rows of another batch that were skipped as known after the batch began to import, and that vouch for nothing.
type KnownElsewhere struct {
	Batch string `json:"batch"`
	Rows  int64  `json:"rows"`
	Next  string `json:"next"` // the command, on that batch, that says what of them is no longer in the register
}

// knownBefore says, before an undo, that rows of other batches go with it.
func knownBefore(list []KnownElsewhere) string {
	return "records that other batches skipped as known, without vouching for them, go too where only this batch brought them: " + KnownIn(list)
}

// KnownIn lists batches and their rows.
func KnownIn(list []KnownElsewhere) string {
	var words []string
	for _, k := range list {
		words = append(words, fmt.Sprintf("batch %s skipped %s", k.Batch, finding.Count(k.Rows, "row", "rows")))
	}
	return strings.Join(words, ", ")
}

// judgedKnown is an imported dry-run that skipped rows as known which vouch for nothing.
type judgedKnown struct {
	snapshot string
	at       int64 // when the dry-run ended
	rows     int64
}

// importsBegan is when the first import began that is among operations and was not undone by that time; 0 if there is none.
func importsBegan(ops []*ledger.Record, undone int64) (at int64) {
	for _, op := range ops {
		if op.Stage == Import && op.AskedAt > undone && (at == 0 || op.StartedAt < at) {
			at = op.StartedAt
		}
	}
	return at
}

// importedKnown gives what stands imported among a batch's operations and skipped rows as known which vouch for nothing, by snapshot: of
// several imports of one, the one that skipped most.
func (p *Pipeline) importedKnown(ops []*ledger.Record) (map[string]judgedKnown, error) {
	undone := lastUndone(ops)
	list := map[string]judgedKnown{}
	for _, op := range ops {
		if op.Stage != Import || op.AskedAt <= undone {
			continue
		}
		dry, rec, err := p.dryRunLoaded(op, ops)
		if err != nil {
			return nil, err
		}
		if dry == nil {
			continue
		}
		k := judgedKnown{snapshot: op.Snapshot, at: rec.FinishedAt}
		k.rows = dry.unvouched()
		if k.rows > list[op.Snapshot].rows {
			list[op.Snapshot] = k
		}
	}
	return list, nil
}

// unvouched is how many rows with known records leave nothing behind that keeps them in the register.
func (r *DryRunResult) unvouched() (n int64) {
	if r.Known != nil {
		return int64(r.Known.Unvouched)
	}
	for _, s := range r.Sources { // of an earlier version
		n += int64(s.Skipped["row.known"])
	}
	return n
}

// knownElsewhere lists the other batches of the tenant that skipped rows as known since this one began to import.
func (p *Pipeline) knownElsewhere(ctx context.Context, tx *store.Tx, own []*ledger.Record) (list []KnownElsewhere, err error) {
	began := importsBegan(own, lastUndone(own))
	batches, err := ledger.Batches(ctx, tx, p.id.Tenant, Import)
	if err != nil {
		return nil, err
	}
	for _, batch := range batches {
		if batch == p.batch.Name {
			continue
		}
		ops, err := ledger.List(ctx, tx, p.id.Tenant, batch)
		if err != nil {
			return nil, err
		}
		known, err := p.importedKnown(ops)
		if err != nil {
			return nil, err
		}
		k := KnownElsewhere{Batch: batch, Next: "sheetlift dryrun"}
		for _, j := range known {
			if j.at > began {
				k.Rows += j.rows
			}
		}
		if k.Rows > 0 {
			list = append(list, k)
		}
	}
	return list, nil
}

// undoneSince says which other batches were undone after rows of this one were skipped as known, and how many rows these are; of the
// newest snapshot only if no dry-run judged them since. rest are those of earlier snapshots, which no dry-run judges again.
func (p *Pipeline) undoneSince(ctx context.Context) (batches []string, rows, rest int64, err error) {
	err = p.db.View(ctx, func(tx *store.Tx) error {
		own, err := ledger.List(ctx, tx, p.id.Tenant, p.batch.Name)
		if err != nil {
			return err
		}
		known, err := p.importedKnown(own)
		if err != nil || len(known) == 0 {
			return err
		}
		judged := known[p.snap.name].at
		if rec := newest(own, DryRun, p.snap.name); rec != nil && rec.State == ledger.Succeeded {
			judged = max(judged, rec.FinishedAt)
		}
		undone, err := ledger.Batches(ctx, tx, p.id.Tenant, Undo)
		if err != nil {
			return err
		}
		counted := map[string]bool{}
		for _, batch := range undone {
			if batch == p.batch.Name {
				continue
			}
			ops, err := ledger.List(ctx, tx, p.id.Tenant, batch)
			if err != nil {
				return err
			}
			named := false
			for snapshot, k := range known {
				at := k.at
				if snapshot == p.snap.name {
					at = judged
				}
				if lastUndone(ops) <= at || !hadBegun(ops, k.at) {
					continue
				}
				if named = true; counted[snapshot] {
					continue
				}
				if counted[snapshot] = true; snapshot == p.snap.name {
					rows += k.rows
				} else {
					rest += k.rows
				}
			}
			if named {
				batches = append(batches, batch)
			}
		}
		return nil
	})
	return batches, rows, rest, err
}

// hadBegun reports whether an import among operations had begun by that time.
func hadBegun(ops []*ledger.Record, at int64) bool {
	began := importsBegan(ops, 0)
	return began > 0 && began < at
}
