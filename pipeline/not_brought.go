package pipeline

import (
	"context"
	"strings"

	"sheetlift/pipeline/finding"
	"sheetlift/pipeline/ledger"
)

// NotBrought says that a snapshot is imported, and that its newest dry-run accepts records which the import did not bring; or that some
// may be missing, because the batch that had brought them was undone.
type NotBrought struct {
	Records int64  `json:"records"`
	Known   int64  `json:"known,omitempty"` // instead of records: rows that were skipped as known, and vouch for nothing, before another batch was undone
	Why     string `json:"why"`             // what changed since
	Next    string `json:"next"`            // the command that begins to bring them in
}

// How gives what is not brought, in words.
func (n *NotBrought) How() string {
	if n.Known > 0 {
		return finding.Count(n.Known, "row", "rows") + " of the batch had been skipped as known, without vouching for the records, before " + n.Why + ", and these may be gone with it"
	}
	return "the newest dry-run accepts " + finding.Count(n.Records, "record", "records") + " that the import did not bring, because " + n.Why
}

// Remedy says how they come in.
func (n *NotBrought) Remedy() string {
	switch n.Next {
	case "sheetlift import":
		return "bring them in with `sheetlift import`"
	case DryRunAgain:
		return "`sheetlift dryrun` says which it would accept now"
	}
	if n.Known > 0 {
		return "they are of earlier snapshots, which no dry-run judges again: `sheetlift trace` shows whether a record is there; `sheetlift undo`, and an import anew, brings them in"
	}
	return "a snapshot is imported once: to bring them in, take the batch back with `sheetlift undo`, then dry-run and import it anew"
}

// notBrought compares the newest dry-run of the pipeline's snapshot with the one that was imported; nil if it asks for nothing more.
// After an import its own records are known, so whatever a dry-run stages then is not in the register.
func (p *Pipeline) notBrought(ctx context.Context) (*NotBrought, error) {
	imp, rec, err := p.currentImport(ctx)
	if err != nil || imp == nil {
		return nil, err
	}
	if n, err := p.newlyAccepted(ctx, imp, rec); n != nil || err != nil {
		return n, err
	}
	batches, rows, rest, err := p.undoneSince(ctx)
	if err != nil || rows+rest == 0 {
		return nil, err
	}
	were := " was undone"
	if len(batches) > 1 {
		were = " were undone"
	}
	n := &NotBrought{Known: rows, Why: "batch " + strings.Join(batches, " and batch ") + were, Next: DryRunAgain}
	if rows == 0 {
		n.Known, n.Next = rest, "sheetlift undo"
	}
	return n, nil
}

// DryRunAgain is the command that judges rows anew.
const DryRunAgain = "sheetlift dryrun"

// newlyAccepted is notBrought as far as a dry-run has seen it.
func (p *Pipeline) newlyAccepted(ctx context.Context, imp *ImportResult, rec *ledger.Record) (*NotBrought, error) {
	dry, _, err := last[DryRunResult](ctx, p, DryRun)
	if err != nil || dry == nil || dry.Digest == imp.DryRun || !dry.Passed {
		return nil, err
	}
	mapped, _, err := last[MapResult](ctx, p, Map)
	if err != nil || mapped == nil || dry.Map != mapped.Digest || dry.Config != p.batch.digest { // it is stale itself
		return nil, err
	}
	n := &NotBrought{}
	for _, f := range dry.Staged {
		n.Records += int64(f.Rows)
	}
	if n.Records == 0 {
		return nil, nil
	}
	u, err := p.lookUndos(ctx)
	if err != nil {
		return nil, err
	}
	if p.importKey(mapped, u) != rec.ID {
		n.Why, n.Next = "the mappings changed since", "sheetlift import"
		return n, nil
	}
	loaded, _, err := p.importedDryRun(ctx, imp)
	if err != nil {
		return nil, err
	}
	n.Why, n.Next = "the register changed since", "sheetlift undo"
	if loaded != nil && loaded.Config != dry.Config {
		n.Why = "batch.yaml changed since"
	}
	return n, nil
}
