package pipeline

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/uuid"

	"sheetlift/importers/register"
	"sheetlift/pipeline/ledger"
	"sheetlift/pipeline/store"
)

// dryRunFiles tells whether the files of a dry-run are there: errRemake if one is gone.
func dryRunFiles(r *DryRunResult, dir string) error {
	paths := []string{r.FindingsFile, filepath.Join(dir, rejectedFile)}
	for _, f := range slices.Concat(r.Staged, r.knownFiles()) {
		paths = append(paths, f.Path)
	}
	if r.Unrecorded != nil {
		paths = append(paths, filepath.Join(dir, unrecordedFile))
	}
	for _, path := range paths {
		if err := present(path); err != nil {
			return err
		}
	}
	return nil
}

// restage makes the files of a dry-run anew if some are gone, and those of the earlier snapshots that verify looks at. What is gone of these
// and can't be made anew is only said where nothing rests on it.
func (p *Pipeline) restage(ctx context.Context, stage string, dry *DryRunResult, rec *ledger.Record) error {
	lost := p.restageEarlier(ctx, stage)
	if err := p.restageOwn(ctx, stage, dry, rec, lost); err != nil {
		return err
	}
	return p.onlySaid(lost)
}

// onlySaid makes a remark of files that can't be made anew, where nothing rests on them.
func (p *Pipeline) onlySaid(lost error) error {
	var gate *GateError
	var other *IntegrityError
	if errors.As(lost, &gate) || errors.As(lost, &other) {
		p.remark(lost.Error())
		return nil
	}
	return lost
}

// restageOwn makes the files of a dry-run anew if some are gone, though its records are in the register by now: it reads the frozen
// bytes again and leaves out of account what only imports have brought that began after it. What comes out must be what was recorded, to the byte, or
// nothing is put in the place of what is left. It rests on the files of earlier snapshots; lost says why some of them are gone.
func (p *Pipeline) restageOwn(ctx context.Context, stage string, dry *DryRunResult, rec *ledger.Record, lost error) error {
	dir := p.workDir(DryRun, rec.ID)
	if err := dryRunFiles(dry, dir); !errors.Is(err, errRemake) {
		return err
	}
	in, err := p.inputsOf(ctx, stage, dry)
	if err != nil {
		return err
	}
	if lost != nil {
		return lost
	}
	since, err := p.importedSince(ctx, rec)
	if err != nil {
		return err
	}
	p.remark(fmt.Sprintf("files of the dry-run of snapshot %s are gone; they are made anew from the frozen files", p.snap.name))
	q := *p
	q.asBefore, q.without, q.unmarked, q.stubborn, q.literal = since, map[uuid.UUID]bool{}, dry.Known == nil, dry.Anew == nil, !dry.Slips
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
		if err = q.othersSince(ctx, rec, dir); err == nil {
			err = &IntegrityError{What: "dry-run that was imported", Detail: "its files are gone, and from the frozen files and the register as it is now others come out: the register was changed since, by another batch or by corrections",
				Remedy: "restore " + dir + " from a backup; or " + startedOver}
		}
	}
	if err != nil {
		return errors.Join(err, os.RemoveAll(beside))
	}
	return putInPlace(beside, dir)
}

// othersSince is the fault of a dry-run whose files come out otherwise since other batches were undone; nil if none was. It may have named
// records of theirs (consent.still_given). To import these anew is no way: what this batch's rejected rows say keeps them out.
func (p *Pipeline) othersSince(ctx context.Context, rec *ledger.Record, dir string) error {
	var undone []string
	err := p.db.View(ctx, func(tx *store.Tx) error {
		list, err := ledger.Batches(ctx, tx, p.id.Tenant, Undo)
		if err != nil {
			return err
		}
		for _, batch := range list {
			if batch == p.batch.Name {
				continue
			}
			ops, err := ledger.List(ctx, tx, p.id.Tenant, batch)
			if err != nil {
				return err
			}
			at := lastUndone(ops)
			if began := importsBegan(ops, 0); at > rec.StartedAt && began > 0 && began < rec.StartedAt && importsBegan(ops, at) == 0 {
				undone = append(undone, batch)
			}
		}
		return nil
	})
	if err != nil || len(undone) == 0 {
		return err
	}
	named := "batch " + strings.Join(undone, " and batch ")
	return &IntegrityError{What: "dry-run that was imported", Detail: "its files are gone, and from the frozen files and the register as it is now others come out: " + named + " was undone since, and what rows said of its records can't be told without them",
		Remedy: "restore " + dir + " from a backup; or, as importing " + named + " again need not bring the same records, " + startedOver + " and import: this batch's rows stand in the frozen files"}
}

// inputsOf gives what a dry-run rested on, if it is still there: the mappings may have been compiled again, by others, since.
func (p *Pipeline) inputsOf(ctx context.Context, stage string, dry *DryRunResult) (*dryRunInputs, error) {
	in := &dryRunInputs{bag: func() error { return nil }}
	var err error
	if in.frozen, err = p.frozen(ctx, stage); err != nil {
		return nil, err
	}
	if in.maps, err = p.loadMappings(); err != nil {
		return nil, err
	}
	ops, err := p.operations(ctx)
	if err != nil {
		return nil, err
	}
	changed := "the mappings were compiled anew"
	for _, op := range ops {
		if op.Stage != Map || op.Snapshot != p.snap.name || op.State != ledger.Succeeded || op.ResultDigest != dry.Map {
			continue
		}
		in.mapped = new(MapResult)
		if err := json.Unmarshal(op.Result, in.mapped); err != nil {
			return nil, fmt.Errorf("recorded result of %s: %w", Map, err)
		}
		p.place(in.mapped, true)
		if changed = p.mappingDrift(in.mapped, in.maps); changed == "" {
			break
		}
	}
	switch {
	case in.frozen.Manifest != dry.Manifest:
		return nil, &GateError{Stage: stage, Why: fmt.Sprintf("files of a dry-run of snapshot %s are gone, and it was of another frozen manifest", p.snap.name), Remedy: "restore " + filepath.Dir(dry.FindingsFile) + " from a backup"}
	case p.batch.digest != dry.Config:
		changed = "batch.yaml changed"
	case changed == "":
		return in, nil
	}
	return nil, &GateError{Stage: stage, Why: fmt.Sprintf("files of a dry-run of snapshot %s are gone, and %s since it", p.snap.name, changed),
		Remedy: "put back what changed, then `sheetlift run --until dryrun`: it makes the files anew, and what was put back may change again; or " + startedOver}
}

// importedSince lists the snapshots whose import began after a dry-run.
func (p *Pipeline) importedSince(ctx context.Context, dry *ledger.Record) (since []string, err error) {
	list, err := p.history(ctx)
	if err != nil {
		return nil, err
	}
	ops, err := p.operations(ctx)
	if err != nil {
		return nil, err
	}
	for _, fr := range list {
		after := func(op *ledger.Record) bool {
			return op.Stage == Import && op.Snapshot == fr.Snapshot && op.StartedAt > dry.StartedAt
		}
		if slices.ContainsFunc(ops, after) {
			since = append(since, fr.Snapshot)
		}
	}
	return since, nil
}

// restageEarlier restages the dry-runs of the snapshots before the pipeline's whose lists of rejected rows a dry-run of it reads. It
// goes on after one that can't be made anew: by what it rests on now, another perhaps can.
func (p *Pipeline) restageEarlier(ctx context.Context, stage string) error {
	list, err := p.history(ctx)
	if err != nil {
		return err
	}
	var faults []error
	for _, fr := range list {
		if p.snap.kind != "" { // else its own stages make them
			if err := p.relist(ctx, fr); err != nil {
				return err
			}
		}
		if fr.Snapshot == p.snap.name {
			break
		}
		q, err := p.at(fr)
		if err != nil {
			return err
		}
		decided, err := q.decidedBy(ctx)
		if err != nil {
			return err
		}
		before := first(faults)
		for _, x := range decided {
			if x.dry.Manifest != fr.Manifest {
				continue
			}
			if err := q.restageOwn(ctx, stage, x.dry, x.rec, before); err != nil {
				faults = append(faults, err)
			}
		}
		if err := q.restageLast(ctx, stage, decided, before); err != nil {
			return err
		}
	}
	return first(faults) // the others say the same, or are said next
}

func first(faults []error) error {
	if len(faults) == 0 {
		return nil
	}
	return faults[0]
}

// restageLast restages the newest dry-run of a snapshot, which verify looks at, if none of those that decided its rows is it. Nothing
// rests on it, so it hinders nothing.
func (p *Pipeline) restageLast(ctx context.Context, stage string, decided []recordedDryRun, lost error) error {
	dry, rec, err := last[DryRunResult](ctx, p, DryRun)
	if err != nil || dry == nil || slices.ContainsFunc(decided, func(x recordedDryRun) bool { return x.rec.ID == rec.ID }) {
		return err
	}
	return p.onlySaid(p.restageOwn(ctx, stage, dry, rec, lost))
}

// recordedDryRun is a dry-run that rows of a snapshot were decided by.
type recordedDryRun struct {
	dry *DryRunResult
	rec *ledger.Record
}

// decidedBy finds the dry-runs whose rejected rows are those of the pipeline's snapshot: the one that was imported, because what a later
// one accepts is not in; and the newest, if it judged by another configuration or other mappings, because it may hear what the first
// passed over.
func (p *Pipeline) decidedBy(ctx context.Context) (list []recordedDryRun, err error) {
	imp, _, err := p.currentImport(ctx)
	if err != nil {
		return nil, err
	}
	if imp != nil {
		dry, rec, err := p.importedDryRun(ctx, imp)
		if err != nil {
			return nil, err
		}
		if dry != nil {
			list = append(list, recordedDryRun{dry, rec})
		}
	}
	dry, rec, err := last[DryRunResult](ctx, p, DryRun)
	if err != nil || dry == nil {
		return list, err
	}
	if len(list) == 0 || dry.Map != list[0].dry.Map || dry.Config != list[0].dry.Config {
		list = append(list, recordedDryRun{dry, rec})
	}
	return list, nil
}

// importedDryRun finds the dry-run of the pipeline's snapshot that an import has loaded; nil if the ledger has none.
func (p *Pipeline) importedDryRun(ctx context.Context, imp *ImportResult) (*DryRunResult, *ledger.Record, error) {
	ops, err := p.operations(ctx)
	if err != nil {
		return nil, nil, err
	}
	return p.dryRunIn(ops, p.snap.name, imp.DryRun)
}

// dryRunIn finds the dry-run of a snapshot among operations by the digest of its result; nil if there is none. Of two with the same
// result, import took that which was asked for last.
func (p *Pipeline) dryRunIn(ops []*ledger.Record, snapshot, digest string) (*DryRunResult, *ledger.Record, error) {
	var rec *ledger.Record
	for _, op := range ops {
		if op.Stage == DryRun && op.Snapshot == snapshot && op.State == ledger.Succeeded && op.ResultDigest == digest && (rec == nil || op.AskedAt > rec.AskedAt) {
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

// dryRunLoaded finds the dry-run that an import among operations loads, finished or not; nil if there is none of that digest.
func (p *Pipeline) dryRunLoaded(imp *ledger.Record, ops []*ledger.Record) (*DryRunResult, *ledger.Record, error) {
	var pre struct {
		DryRun string `json:"dryrun"`
	}
	if err := json.Unmarshal(imp.Preconditions(), &pre); err != nil {
		return nil, nil, fmt.Errorf("preconditions of import: %w", err)
	}
	return p.dryRunIn(ops, imp.Snapshot, pre.DryRun)
}

// restageImported is restage of the dry-run that an import has loaded.
func (p *Pipeline) restageImported(ctx context.Context, stage string, imp *ImportResult) error {
	dry, rec, err := p.importedDryRun(ctx, imp)
	if err != nil || dry == nil {
		return err
	}
	return p.restage(ctx, stage, dry, rec)
}
