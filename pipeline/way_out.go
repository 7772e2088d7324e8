package pipeline

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"sheetlift/importers/register"
	"sheetlift/pipeline/finding"
	"sheetlift/pipeline/store"
)

// What a batch corrected that was undone stays in the register as it is while another batch has it too: nobody has the content before. That
// batch's reconcile says so; a row that comes with other content then is told as well, and what to do.

// leftAny reports whether undos left records in the register.
func (p *Pipeline) leftAny(ctx context.Context) (some bool, err error) {
	err = p.db.View(ctx, func(tx *store.Tx) error {
		some, err = register.AnyLeft(ctx, tx, p.id.Tenant)
		return err
	})
	return some, err
}

// wayOut is what is said of a row in whose place the register holds other content: "" if no undo left that there.
func (p *Pipeline) wayOut(ctx context.Context, x *identified, left func() (bool, error)) (string, error) {
	if x.Entity.Event { // no undo leaves a further event
		return "", nil
	}
	if some, err := left(); err != nil || !some {
		return "", err
	}
	var undone, stand []string
	add := func(list []string, batch string) []string {
		if slices.Contains(list, batch) {
			return list
		}
		return append(list, batch)
	}
	err := p.db.View(ctx, func(tx *store.Tx) error {
		return register.EachProvenance(ctx, tx, p.id.Tenant, "", x.id(), func(pr register.Provenance) error {
			switch {
			case pr.Live():
				stand = add(stand, pr.Batch)
			case pr.Left():
				undone = add(undone, pr.Batch)
			}
			return nil
		})
	})
	if err != nil || len(undone) == 0 || len(stand) == 0 {
		return "", err
	}
	slices.Sort(undone)
	slices.Sort(stand)
	rule, _ := finding.ByID("register.conflict")
	named := func(list []string) string { return "batch " + strings.Join(list, " and batch ") }
	return fmt.Sprintf("%s It was corrected, and the undo of %s could not bring the content before back, since %s %s the record too: if this row is right, undo %s, then import each of them anew.",
		rule.Meaning, named(undone), named(stand), map[bool]string{true: "has", false: "have"}[len(stand) == 1], named(stand)), nil
}
