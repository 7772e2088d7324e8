package pipeline

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"sheetlift/importers"
	"sheetlift/importers/register"
	"sheetlift/pipeline/ledger"
	"sheetlift/pipeline/store"
)

// Status says how far the batch is and what comes next. It changes nothing.
func (p *Pipeline) Status(ctx context.Context) (*StatusResult, error) {
	p, err := p.newest(ctx)
	if err != nil {
		return nil, err
	}
	r := &StatusResult{Schema: StatusSchema, Batch: p.batch.Name, Snapshot: p.snap.name}
	var ops []*ledger.Record
	var open *unfinished
	var now int64
	err = p.db.View(ctx, func(tx *store.Tx) (err error) {
		if now, err = tx.Now(ctx); err != nil {
			return err
		}
		if open, err = p.unfinishedOf(ctx, tx, p.batch.Name); err != nil {
			return err
		}
		ops, err = ledger.List(ctx, tx, p.id.Tenant, p.batch.Name)
		return err
	})
	if err != nil {
		return nil, err
	}
	for _, stage := range Stages {
		st := StageStatus{Stage: stage, State: "not started"}
		of := p.snap.name
		if stage == Inventory {
			of = Initial
		}
		if rec := newest(ops, stage, of); rec != nil {
			st.State, st.Operator, st.Digest = string(rec.State), rec.Operator, rec.ResultDigest
			if rec.FinishedAt > 0 {
				st.Finished = time.UnixMicro(rec.FinishedAt).UTC().Format(time.RFC3339)
			}
			st.held(rec, now)
			if open != nil && open.op.ID == rec.ID {
				st.Why = strings.TrimSuffix(open.far()+"; "+st.Why, "; ")
			}
		}
		r.Stages = append(r.Stages, st)
	}
	if err := p.stale(ctx, r); err != nil {
		return nil, err
	}
	r.Next = nextOf(r.Stages)
	if open != nil { // every other stage is refused until it is finished, or says what else there is to do
		r.Next = "sheetlift " + open.op.Stage
	}
	if r.Retracted, err = p.retractedSnapshots(ctx, ops); err != nil {
		return nil, err
	}
	if r.NotBrought, err = p.notBrought(ctx); err != nil {
		return nil, err
	}
	if n := r.NotBrought; n != nil && r.Next == allDone && (n.Records > 0 || n.Next == DryRunAgain) {
		r.Next = r.NotBrought.Next
	}
	dry, err := p.lastJudged(ctx)
	if err != nil {
		return nil, err
	}
	if dry != nil {
		r.StillGiven = dry.StillGiven
	}
	mine, _, err := last[DryRunResult](ctx, p, DryRun)
	if err != nil {
		return nil, err
	}
	if mine != nil {
		r.NotBack = mine.NotBack
	}
	stage, o, err := p.Found(ctx, "")
	if err != nil {
		return nil, err
	}
	if o != nil {
		r.Found = &Found{Stage: stage, Findings: o.Findings, ByRule: o.ByRule, FindingsFile: o.FindingsFile}
	}
	if err := p.openCases(ctx, r, now); err != nil {
		return nil, err
	}
	return r, nil
}

// held says of a stage that the ledger calls running whether somebody still holds it.
func (st *StageStatus) held(rec *ledger.Record, now int64) {
	if rec.State != ledger.Running {
		return
	}
	if rec.LeaseUntil > now {
		st.LeaseSeconds = ledger.Seconds(rec.LeaseUntil - now)
		st.Why = fmt.Sprintf("if its process has died, its lease runs out in %d s and the same command goes on", st.LeaseSeconds)
		return
	}
	st.State = string(ledger.Interrupted)
	st.Why = "its process has gone without a word, its lease ran out at " + time.UnixMicro(rec.LeaseUntil).UTC().Format(time.RFC3339)
}

// nextOf is the command that comes next. What is frozen goes on by its own stages: run would look at the files that it was frozen from
// again, which may have been changed since, or be gone.
func nextOf(stages []StageStatus) string {
	frozen := false
	for _, st := range stages {
		switch {
		case st.State == "succeeded":
			frozen = frozen || st.Stage == Freeze
		case st.Stage == Reconcile && st.State == notPassed:
			return "sheetlift verify"
		case frozen:
			return "sheetlift " + st.Stage
		default:
			return "sheetlift run --until " + st.Stage
		}
	}
	return allDone
}

const allDone = "stages 1 to 6 are done"

// notPassed is the state of a stage that came to its end and did not pass.
const notPassed = "did not pass"

// newest is the operation of a stage that was asked for last, whatever its state.
func newest(ops []*ledger.Record, stage, snapshot string) *ledger.Record {
	var n *ledger.Record
	for _, op := range ops {
		if op.Stage == stage && op.Snapshot == snapshot && (n == nil || op.AskedAt > n.AskedAt) {
			n = op
		}
	}
	return n
}

// stale marks succeeded stages whose inputs are no longer what they were.
func (p *Pipeline) stale(ctx context.Context, r *StatusResult) error {
	mark := func(stage, why string) {
		for i := range r.Stages {
			if r.Stages[i].Stage == stage && r.Stages[i].State == "succeeded" {
				r.Stages[i].State, r.Stages[i].Why = "stale", why
			}
		}
	}
	inv, _, err := last[InventoryResult](ctx, p.initial(), Inventory)
	if err != nil {
		return err
	}
	if inv != nil && inv.Config != p.batch.digest && p.snap.kind == "" {
		mark(Inventory, "batch.yaml changed")
	}
	mapped, _, err := last[MapResult](ctx, p, Map)
	if err != nil {
		return err
	}
	dry, _, err := last[DryRunResult](ctx, p, DryRun)
	if err != nil {
		return err
	}
	if mapped != nil {
		maps, err := p.loadMappings()
		why := "a mapping can't be read"
		if err == nil {
			why = p.mappingDrift(mapped, maps)
		}
		if why != "" {
			mark(Map, why)
			mark(DryRun, why)
		}
	}
	u, err := p.lookUndos(ctx)
	if err != nil {
		return err
	}
	for _, stage := range []string{DryRun, Import, Reconcile} {
		var rec *ledger.Record
		err := p.db.View(ctx, func(tx *store.Tx) (err error) {
			rec, err = ledger.Last(ctx, tx, p.id.Tenant, p.batch.Name, p.snap.name, stage)
			return err
		})
		if err != nil {
			return err
		}
		switch {
		case u.open:
			mark(stage, "an undo has begun: sheetlift undo")
		case u.undone(rec):
			mark(stage, "the import was undone")
		}
	}
	if dry != nil {
		if dryRunFiles(dry, filepath.Dir(dry.FindingsFile)) != nil {
			for i := range r.Stages {
				if r.Stages[i].Stage == DryRun && r.Stages[i].Why == "" {
					r.Stages[i].Why = "files of it are gone; dryrun, import and reconcile make them anew"
				}
			}
		}
		switch {
		case dry.Config != p.batch.digest:
			mark(DryRun, "batch.yaml changed")
		case mapped != nil && dry.Map != mapped.Digest:
			mark(DryRun, "the mappings were compiled anew")
		case !dry.Passed:
			for i := range r.Stages {
				if r.Stages[i].Stage == DryRun && r.Stages[i].State == "succeeded" {
					r.Stages[i].State, r.Stages[i].Why = notPassed, "see "+dry.FindingsFile
				}
			}
		}
	}
	rec, _, err := last[ReconcileResult](ctx, p, Reconcile)
	if err != nil || rec == nil || rec.Passed {
		return err
	}
	for i := range r.Stages {
		if r.Stages[i].Stage == Reconcile && r.Stages[i].State == "succeeded" {
			r.Stages[i].State, r.Stages[i].Why = notPassed, "see "+rec.FindingsFile
		}
	}
	return nil
}

// openCases counts the open cases in the register as of today, by the database's clock.
func (p *Pipeline) openCases(ctx context.Context, r *StatusResult, now int64) error {
	today := time.UnixMicro(now).UTC().Format(time.DateOnly)
	r.Cases.AsOf = today
	return p.db.View(ctx, func(tx *store.Tx) error {
		return register.Each(ctx, tx, importers.ByName("case"), p.id.Tenant, register.Filter{Statuses: []string{"open"}}, func(st *register.Stored) error {
			r.Cases.Open++
			switch caseDue(&st.Record, today) {
			case importers.Overdue:
				r.Cases.Overdue++
			case importers.DueSoon:
				r.Cases.DueSoon++
			}
			return nil
		})
	})
}
