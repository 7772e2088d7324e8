package pipeline

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/google/uuid"

	"sheetlift/importers/register"
	"sheetlift/pipeline/ledger"
	"sheetlift/pipeline/store"
)

// dryRunFiles tells whether the files of a dry-run are there: errRemake if one is gone.
func dryRunFiles(r *DryRunResult, dir string) error {
	paths := []string{r.FindingsFile, filepath.Join(dir, rejectedFile)}
	for _, f := range r.Staged {
		paths = append(paths, f.Path)
	}
	for _, path := range paths {
		if err := present(path); err != nil {
			return err
		}
	}
	return nil
}

// restage makes the files of a dry-run anew if some are gone, though its records are in the register by now: it reads the frozen
// bytes again and leaves out of account what only imports have brought that began after it. What comes out must be what was recorded, to the byte, or
// nothing is put in the place of what is left.
func (p *Pipeline) restage(ctx context.Context, stage string, dry *DryRunResult, rec *ledger.Record) error {
	dir := p.workDir(DryRun, rec.ID)
	if err := dryRunFiles(dry, dir); !errors.Is(err, errRemake) {
		return err
	}
	in, err := p.dryRunInputs(ctx)
	if err != nil {
		return err
	}
	if in.mapped.Digest != dry.Map || in.frozen.Manifest != dry.Manifest || p.batch.digest != dry.Config {
		return &GateError{Stage: stage, Why: "files of the dry-run that was imported are gone, and batch.yaml or a mapping changed since it",
			Remedy: "put back what changed, run `sheetlift map` if that was a mapping, then the same command: it makes the files anew; or " + startedOver}
	}
	since, err := p.restageBefore(ctx, stage, rec)
	if err != nil {
		return err
	}
	p.opt.Notify(ledger.Remark(fmt.Sprintf("files of the dry-run of snapshot %s are gone; they are made anew from the frozen files", p.snap.name)))
	q := *p
	q.asBefore, q.without = since, map[uuid.UUID]bool{}
	err = p.db.View(ctx, func(tx *store.Tx) error {
		return register.EachOnlyFrom(ctx, tx, p.id.Tenant, p.batch.Name, since, func(text string) error {
			id, err := uuid.Parse(text)
			q.without[id] = true
			return err
		})
	})
	if err != nil {
		return err
	}
	beside := dir + ".anew"
	r := new(DryRunResult)
	r.Outcome = q.begin(DryRunSchema)
	r.Manifest, r.Map, r.Config = in.frozen.Manifest, in.mapped.Digest, p.batch.digest
	if err = q.dryRun(ctx, in, beside, r); err == nil {
		err = q.seal(r)
	}
	if err == nil && (r.Digest != dry.Digest || otherLists(r, dry)) {
		err = &IntegrityError{What: "dry-run that was imported", Detail: "its files are gone, and from the frozen files and the register as it is now others come out: the register was changed since, by another batch or by corrections",
			Remedy: "restore " + dir + " from a backup; or " + startedOver}
	}
	if err != nil {
		return errors.Join(err, os.RemoveAll(beside))
	}
	return syncRename(beside, dir)
}

// restageBefore restages the dry-runs of the snapshots before this one, the newest, whose lists of rejected rows it needs, and those
// that were imported. It lists the snapshots whose import began after a dry-run of this one.
func (p *Pipeline) restageBefore(ctx context.Context, stage string, rec *ledger.Record) (since []string, err error) {
	list, err := p.history(ctx)
	if err != nil {
		return nil, err
	}
	ops, err := p.operations(ctx)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(list, func(fr *FreezeResult) bool { return fr.Snapshot == p.snap.name })
	for i, fr := range list {
		after := func(op *ledger.Record) bool {
			return op.Stage == Import && op.Snapshot == fr.Snapshot && op.StartedAt > rec.StartedAt
		}
		if slices.ContainsFunc(ops, after) {
			since = append(since, fr.Snapshot)
		}
		if i >= at {
			continue
		}
		q, err := p.at(fr)
		if err != nil {
			return nil, err
		}
		dry, rec, err := last[DryRunResult](ctx, q, DryRun)
		if err == nil && dry != nil {
			err = q.restage(ctx, stage, dry, rec)
		}
		if err != nil {
			return nil, err
		}
		imp, _, err := q.currentImport(ctx) // which verify holds to its staged files
		if err == nil && imp != nil {
			err = q.restageImported(ctx, stage, imp)
		}
		if err != nil {
			return nil, err
		}
	}
	return since, nil
}

// importedDryRun finds the dry-run of the pipeline's snapshot that an import has loaded; nil if the ledger has none.
func (p *Pipeline) importedDryRun(ctx context.Context, imp *ImportResult) (*DryRunResult, *ledger.Record, error) {
	ops, err := p.operations(ctx)
	if err != nil {
		return nil, nil, err
	}
	var rec *ledger.Record
	for _, op := range ops { // of two with the same result, import took that which was asked for last
		if op.Stage == DryRun && op.Snapshot == p.snap.name && op.State == ledger.Succeeded && op.ResultDigest == imp.DryRun && (rec == nil || op.AskedAt > rec.AskedAt) {
			rec = op
		}
	}
	if rec == nil {
		return nil, nil, nil
	}
	dry := new(DryRunResult)
	if err := json.Unmarshal(rec.Result, dry); err != nil {
		return nil, nil, fmt.Errorf("recorded result of %s: %w", DryRun, err)
	}
	p.place(dry, true)
	return dry, rec, nil
}

// restageImported is restage of the dry-run that an import has loaded.
func (p *Pipeline) restageImported(ctx context.Context, stage string, imp *ImportResult) error {
	dry, rec, err := p.importedDryRun(ctx, imp)
	if err != nil || dry == nil {
		return err
	}
	return p.restage(ctx, stage, dry, rec)
}
