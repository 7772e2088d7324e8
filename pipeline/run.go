package pipeline

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"sheetlift/pipeline/ledger"
)

// Run goes through the stages in order until the one named, as far as the gates allow. Each stage's result is handed to each as
// soon as it is there. A refused gate ends the run with a *GateError; a dry-run that did not pass ends it without one, because the
// result itself says so.
func (p *Pipeline) Run(ctx context.Context, until string, each func(result any)) error {
	if !slices.Contains(Stages, until) {
		return fmt.Errorf("unknown stage %q", until)
	}
	later, err := p.newest(ctx)
	if err != nil {
		return err
	}
	for _, stage := range Stages {
		if later.snap.kind != "" && stage == Inventory && until != Inventory {
			continue // the files of the initial snapshot may be gone; those of this one were looked through when they were frozen
		}
		var r any
		var err error
		if later.snap.kind != "" && stage == Freeze {
			r, err = later.refrozen(ctx)
		} else if stage == DryRun {
			later.expect(ctx)
			r, err = p.dryRunOnce(ctx)
		} else {
			r, err = p.Stage(ctx, stage)
		}
		if r != nil {
			each(r)
		}
		if err != nil {
			return err
		}
		if o := r.(result).outcome(); stage == until || !o.Passed && (stage == DryRun || stage == Reconcile) {
			return nil
		}
	}
	return nil
}

// refrozen is the freeze of a snapshot after the initial one, its bag verified: run takes no further files in.
func (p *Pipeline) refrozen(ctx context.Context) (any, error) {
	fr, err := p.frozen(ctx, Freeze)
	if err != nil {
		return nil, err
	}
	fr.AlreadyDone = true
	return fr, nil
}

// dryRunOnce is DryRun, unless an import of these frozen bytes under these mappings has begun: then the dry-run it rests on
// stands, so that an interrupted import goes on to the end it would have had, and a finished one is not looked for again.
func (p *Pipeline) dryRunOnce(ctx context.Context) (any, error) {
	p, err := p.newest(ctx)
	if err != nil {
		return nil, err
	}
	if begun, err := p.begun(ctx); err != nil {
		return nil, err
	} else if begun != nil {
		in, err := p.importInputs(ctx, DryRun)
		if err != nil {
			return nil, err
		}
		if err := p.restage(ctx, DryRun, in.dry, in.rec); err != nil {
			return nil, err
		}
		in.dry.AlreadyDone = true
		return in.dry, nil
	}
	in, err := p.dryRunInputs(ctx)
	if err == nil {
		err = in.bag()
	}
	if err != nil {
		return nil, err
	}
	ops, err := p.operations(ctx)
	if err != nil {
		return nil, err
	}
	u, err := p.lookUndos(ctx)
	if err != nil {
		return nil, err
	}
	key := p.importKey(in.mapped, u)
	for _, op := range ops {
		if op.ID != key || op.State != ledger.Succeeded {
			continue
		}
		var r DryRunResult
		for _, dry := range ops {
			if dry.Stage != DryRun || dry.State != ledger.Succeeded || !strings.Contains(string(op.Preconditions()), dry.ResultDigest) {
				continue
			}
			if err := json.Unmarshal(dry.Result, &r); err != nil {
				return nil, fmt.Errorf("recorded result of dryrun: %w", err)
			}
			if p.place(&r, true); r.Config == p.batch.digest {
				if err := p.restage(ctx, DryRun, &r, dry); err != nil {
					return nil, err
				}
				r.AlreadyDone = true
				return &r, nil
			}
		}
	}
	return orNil(p.DryRun(ctx))
}

// Stage runs one stage. The result is a *InventoryResult, *FreezeResult, and so on; it may be there beside an error.
func (p *Pipeline) Stage(ctx context.Context, stage string) (any, error) {
	if later, err := p.newest(ctx); err == nil {
		later.expect(ctx)
	}
	switch stage {
	case Inventory:
		return orNil(p.Inventory(ctx))
	case Freeze:
		return orNil(p.Freeze(ctx))
	case Map:
		return orNil(p.Map(ctx))
	case DryRun:
		return orNil(p.DryRun(ctx))
	case Import:
		return orNil(p.Import(ctx))
	case Reconcile:
		return orNil(p.Reconcile(ctx))
	}
	return nil, fmt.Errorf("unknown stage %q", stage)
}

// orNil keeps a nil pointer from becoming a non-nil interface.
func orNil[R any](r *R, err error) (any, error) {
	if r == nil {
		return nil, err
	}
	return r, err
}

// StageOf is the stage that a result is of.
func StageOf(r any) string {
	o := Common(r)
	if o == nil {
		return ""
	}
	_, rest, _ := strings.Cut(o.Schema, "/")
	stage, _, _ := strings.Cut(rest, "/")
	return stage
}

// Common returns the part that every stage result has.
func Common(r any) *Outcome {
	if x, ok := r.(result); ok {
		return x.outcome()
	}
	return nil
}
