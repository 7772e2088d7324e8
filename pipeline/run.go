package pipeline

import (
	"context"
	"fmt"
	"slices"
)

// Run goes through the stages in order until the one named, as far as the gates allow. Each stage's result is handed to each as
// soon as it is there. A refused gate ends the run with a *GateError; a dry-run that did not pass ends it without one, because the
// result itself says so.
func (p *Pipeline) Run(ctx context.Context, until string, each func(result any)) error {
	if !slices.Contains(Stages, until) {
		return fmt.Errorf("unknown stage %q", until)
	}
	for _, stage := range Stages {
		r, err := p.Stage(ctx, stage)
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

// Stage runs one stage. The result is a *InventoryResult, *FreezeResult, and so on; it may be there beside an error.
func (p *Pipeline) Stage(ctx context.Context, stage string) (any, error) {
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

// Common returns the part that every stage result has.
func Common(r any) *Outcome {
	if x, ok := r.(result); ok {
		return x.outcome()
	}
	return nil
}
