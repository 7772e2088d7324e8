package pipeline

import (
	"context"
	"fmt"
)

// findingStages are the stages that find things, the one whose list says most first.
var findingStages = []string{DryRun, Map, Inventory}

// Found returns the recorded outcome of the newest run of a stage of the newest snapshot, with the place of its findings; of the dry-run if stage is "", or,
// as long as there is none, of the stage that came farthest. The outcome is nil if there is no such run.
func (p *Pipeline) Found(ctx context.Context, stage string) (of string, o *Outcome, err error) {
	if p, err = p.newest(ctx); err != nil {
		return stage, nil, err
	}
	stages := findingStages
	if stage != "" {
		stages = []string{stage}
	}
	for _, of = range stages {
		switch of {
		case Inventory:
			o, err = outcomeOf[InventoryResult](ctx, p.initial(), of)
		case Map:
			o, err = outcomeOf[MapResult](ctx, p, of)
		case DryRun:
			o, err = outcomeOf[DryRunResult](ctx, p, of)
		case Reconcile:
			o, err = outcomeOf[ReconcileResult](ctx, p, of)
		default:
			return of, nil, fmt.Errorf("stage %q finds nothing", of)
		}
		if o != nil || err != nil {
			return of, o, err
		}
	}
	return of, nil, nil
}

func outcomeOf[R any](ctx context.Context, p *Pipeline, stage string) (*Outcome, error) {
	r, _, err := last[R](ctx, p, stage)
	if r == nil || err != nil {
		return nil, err
	}
	return any(r).(result).outcome(), nil
}
