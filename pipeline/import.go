package pipeline

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"sheetlift/importers"
	"sheetlift/importers/register"
	"sheetlift/importers/staged"
	"sheetlift/manifests"
	"sheetlift/pipeline/ledger"
	"sheetlift/pipeline/store"
)

// importable is a passed dry-run and what it rests on, all of it checked just now.
type importable struct {
	frozen *FreezeResult
	mapped *MapResult
	dry    *DryRunResult
	rec    *ledger.Record
	undos  undos // that were done before
	begun  bool  // something of it is in the register
}

// importInputs holds import's gate: frozen bytes, mappings, configuration and staged bytes are those of the newest dry-run, or of the
// one that an unfinished import began with; it passed, and no other batch changed the register since.
func (p *Pipeline) importInputs(ctx context.Context, stage string) (*importable, error) {
	in := &importable{}
	var err error
	if in.frozen, err = p.frozen(ctx, stage); err != nil {
		return nil, err
	}
	begun, err := p.begun(ctx)
	if err != nil {
		return nil, err
	}
	again := "run `sheetlift map` and `sheetlift dryrun` again, and look at what changed"
	if begun != nil {
		in.dry, in.rec, in.begun = begun.dry, begun.rec, true
		again = "an import of it has begun (" + begun.far() + "): put back what changed, run `sheetlift map` if that was a mapping, then `sheetlift import`; or " + startedOver
	} else if in.dry, in.rec, err = last[DryRunResult](ctx, p, DryRun); err != nil {
		return nil, err
	}
	if in.rec == nil {
		return nil, &GateError{Stage: stage, Why: "there is no dry-run yet", Remedy: "run `sheetlift dryrun` first"}
	}
	if in.undos, err = p.lookUndos(ctx); err != nil {
		return nil, err
	}
	if in.undos.open {
		return nil, undoUnderWay(stage)
	}
	if in.undos.count > 0 && in.rec.AskedAt <= in.undos.finished {
		return nil, &GateError{Stage: stage, Why: "the batch was undone since the dry-run", Remedy: "run `sheetlift dryrun` again, and look at it before you import"}
	}
	if in.dry.Manifest != in.frozen.Manifest {
		return nil, &GateError{Stage: stage, Why: "the dry-run was of another frozen manifest", Remedy: again}
	}
	if in.dry.Config != p.batch.digest {
		return nil, &GateError{Stage: stage, Why: "batch.yaml changed since the dry-run", Remedy: again}
	}
	maps, err := p.loadMappings()
	if err != nil {
		return nil, err
	}
	mapped, mrec, err := last[MapResult](ctx, p, Map)
	if err != nil {
		return nil, err
	}
	if mrec == nil || mapped.Digest != in.dry.Map {
		remedy := "run `sheetlift dryrun` again"
		if in.begun {
			remedy = again
		}
		return nil, &GateError{Stage: stage, Why: "the mappings were compiled anew since the dry-run", Remedy: remedy}
	}
	if why := p.mappingDrift(mapped, maps); why != "" {
		return nil, &GateError{Stage: stage, Why: why + " since the dry-run", Remedy: again}
	}
	in.mapped = mapped
	if !in.dry.Complete || !in.dry.Passed {
		return nil, &GateError{Stage: stage, Why: "the dry-run did not pass", Remedy: "mend what its findings say (" + in.dry.FindingsFile + "), then run map and dryrun again"}
	}
	return in, nil
}

// revisionUnmoved refuses when another batch changed the register after the dry-run.
func (p *Pipeline) revisionUnmoved(ctx context.Context, tx *store.Tx, in *importable) error {
	now, err := register.Revision(ctx, tx, p.id.Tenant, p.batch.Name)
	if err != nil {
		return err
	}
	seen, err := in.rec.Precondition("revision")
	if err != nil {
		return err
	}
	if now != seen {
		return in.changed("another batch imported into it")
	}
	return nil
}

// changed refuses because the register is no longer what the rows were judged by.
func (in *importable) changed(how string) *GateError {
	g := &GateError{Stage: Import, Why: "the register changed since the dry-run: " + how, Remedy: "run `sheetlift dryrun` again; it judges the rows by what the register holds now"}
	if in.begun {
		g.Remedy = startedOver + "; that judges the rows by what the register holds now"
	}
	return g
}

// Import loads exactly the staged bytes that were dry-run: configs first, then suppressions and cases, then consent. What is in
// already is left as it is.
func (p *Pipeline) Import(ctx context.Context) (*ImportResult, error) {
	p, err := p.newest(ctx)
	if err != nil {
		return nil, err
	}
	in, err := p.importInputs(ctx, Import)
	if err != nil {
		return nil, err
	}
	key := p.importKey(in.mapped, in.undos)
	r, err := execute(ctx, p, task[ImportResult]{
		stage: Import, key: key,
		pre:   map[string]any{"dryrun": in.dry.Digest},
		check: func(context.Context, *ImportResult) error { return nil },
		do: func(ctx context.Context, op *ledger.Op, r *ImportResult) error {
			if err := p.restage(ctx, Import, in.dry, in.rec); err != nil {
				return err
			}
			if err := p.filesUnchanged(in.dry); err != nil {
				return in.changedFile(err)
			}
			r.Outcome = p.begin(ImportSchema)
			r.ByRule = []RuleCount{}
			r.Manifest, r.DryRun, r.Staged = in.dry.Manifest, in.dry.Digest, in.dry.Staged
			return p.importStaged(ctx, op, in, r)
		},
	})
	if err == nil && r.AlreadyDone {
		r.NotBrought, err = p.notBrought(ctx)
	}
	return r, err
}

// importKey: the same frozen bytes under the same mappings are imported once, whichever dry-run came last; once more after each
// undo.
func (p *Pipeline) importKey(mapped *MapResult, u undos) string {
	if u.count == 0 {
		return p.key(Import, mapped.Digest)
	}
	return p.key(Import, mapped.Digest, fmt.Sprintf("after undo %d", u.count))
}

// filesUnchanged holds all that a dry-run wrote to the digests that it recorded, before anything is written: what is imported from, and
// what says which rows are not.
func (p *Pipeline) filesUnchanged(dry *DryRunResult) error {
	for _, f := range slices.Concat(dry.Staged, dry.knownFiles()) {
		rd, err := openStaged(f)
		if err != nil {
			return err
		}
		if err := rd.Close(); err != nil {
			return err
		}
	}
	if err := checkUnrecorded(dry); err != nil {
		return err
	}
	if err := sameBytes(filepath.Join(filepath.Dir(dry.FindingsFile), rejectedFile), dry.Listed, changedRejected); err != nil {
		return err
	}
	return sameBytes(dry.FindingsFile, dry.FindingsSum, func(path string) *IntegrityError {
		return changedFindings(path, "its bytes are not those that "+DryRun+" wrote")
	})
}

// sameBytes holds a list of a dry-run to its SHA-256; want is empty in results of earlier versions.
func sameBytes(path, want string, changed func(path string) *IntegrityError) error {
	if want == "" {
		return nil
	}
	sum, _, err := manifests.FileDigest(path)
	if err != nil {
		return &FileError{Path: path, Message: "can't be read: " + strings.TrimPrefix(err.Error(), path+": "), Remedy: "see to the disk, then run the command again", Err: err}
	}
	if sum != want {
		return changed(path)
	}
	return nil
}

// changedFile words the way out for an import that has begun: no dry-run is made then, but the import makes lost files anew.
func (in *importable) changedFile(err error) error {
	var changed *IntegrityError
	if in.begun && errors.As(err, &changed) {
		changed.Remedy = "restore it from a backup; or move the folder it lies in to another place and run `sheetlift import`, which makes the same files anew from the frozen ones"
	}
	return err
}

func openStaged(f StagedFile) (*staged.Reader, error) {
	e, err := stagedEntity(f)
	if err != nil {
		return nil, err
	}
	rd, err := staged.Open(f.Path, e, f.SHA256, moreColumns(f.Part)...)
	if errors.Is(err, staged.ErrChanged) {
		return nil, &IntegrityError{What: "staged file " + f.Path, Detail: "its bytes are not those that were dry-run", Remedy: "remove the folder it lies in and run `sheetlift dryrun` again, which makes the same bytes from the frozen ones", Err: err}
	}
	if err != nil {
		return nil, &FileError{Path: f.Path, Message: "can't be read: " + err.Error(), Remedy: "run `sheetlift dryrun` again; it makes lost staged files anew", Err: err}
	}
	return rd, nil
}

func (p *Pipeline) importStaged(ctx context.Context, op *ledger.Op, in *importable, r *ImportResult) error {
	if err := p.importUnrecorded(ctx, op, in, unrecordedSaid); err != nil {
		return err
	}
	counts := map[string]*ImportedCount{}
	var order []*ImportedCount
	for i := range importers.Entities {
		e := &importers.Entities[i]
		for _, t := range e.Tables {
			c := &ImportedCount{Entity: e.Name, Table: t}
			counts[t] = c
			order = append(order, c)
		}
		for _, part := range stagedParts { // what speaks against a consent first, of all sources
			for _, f := range in.dry.Staged {
				if f.Entity != e.Name || f.Part != part {
					continue
				}
				err := p.importFile(ctx, op, in, e, f, func(table string) {
					counts[table].Records++
					if f.Part == partCorrect {
						counts[table].Corrected++
					}
				})
				if err != nil {
					return err
				}
			}
		}
	}
	for _, f := range in.dry.knownFiles() {
		e, err := stagedEntity(f)
		if err == nil {
			err = p.importFile(ctx, op, in, e, f, func(string) { r.Vouched++ })
		}
		if err != nil {
			return err
		}
	}
	if err := p.importUnrecorded(ctx, op, in, unrecordedReplaced); err != nil {
		return err
	}
	for _, c := range order {
		r.Entities = append(r.Entities, *c)
	}
	r.Complete, r.Passed = true, true
	return nil
}

func (p *Pipeline) importFile(ctx context.Context, op *ledger.Op, in *importable, e *importers.Entity, f StagedFile, count func(table string)) error {
	rd, err := openStaged(f)
	if err != nil {
		return err
	}
	defer rd.Close()
	o := register.Origin{
		Identity: p.id, Batch: p.batch.Name, Snapshot: p.snap.name, Source: f.Source, StagedDigest: f.SHA256,
		Operation: op.ID(), Operator: p.opt.Operator,
	}
	for i := range p.batch.Sources {
		if p.batch.Sources[i].Name == f.Source {
			o.MappingDigest, o.ObtainedAt = in.mapped.Sources[i].Mapping, p.batch.Sources[i].obtained
		}
	}
	done, err := p.doneChunks(ctx, op, f)
	if err != nil {
		return err
	}
	read := &groupReader{
		entity: e, reader: rd, done: done, rows: groupRows,
		start: func() *register.Group { return register.NewGroup(e, rd.Columns(), o) },
		count: count,
	}
	if p.groupRows > 0 {
		read.rows = p.groupRows
	}
	return read.each(func(g *chunkGroup) error {
		if err := p.importGroup(ctx, op, in, f, g); err != nil {
			return err
		}
		p.opt.Progress(Import, f.Source, g.until, int64(f.Rows))
		return nil
	})
}

// importGroup commits the chunks of a group together with their checkpoints.
func (p *Pipeline) importGroup(ctx context.Context, op *ledger.Op, in *importable, f StagedFile, g *chunkGroup) error {
	if len(g.numbers) == 0 {
		return nil
	}
	return p.importChunks(ctx, op, in, func(tx *store.Tx) error {
		load := g.records.Load
		switch f.Part {
		case partCorrect:
			load = g.records.Correct
		case partKnown:
			load = g.records.Vouch
		}
		err := load(ctx, tx)
		if errors.Is(err, register.ErrVersion) {
			return in.changed("a record that this batch corrects has another version")
		}
		if errors.Is(err, register.ErrHeld) {
			return in.changed("it holds a record that this batch brings")
		}
		if err != nil {
			return err
		}
		// The checkpoints come last: until then the row is free for the heartbeat, and the lease that they extend runs from the commit.
		for i, n := range g.numbers {
			if err := op.Checkpoint(ctx, tx, "chunk", map[string]any{"entity": chunkEntity(f), "staged": f.SHA256, "chunk": int64(n), "rows": g.rows[i]}); err != nil {
				return err
			}
		}
		return nil
	})
}

// importChunks commits what load puts into the register, unless something of what the dry-run saw has changed.
func (p *Pipeline) importChunks(ctx context.Context, op *ledger.Op, in *importable, load func(tx *store.Tx) error) error {
	err := p.db.Update(ctx, func(tx *store.Tx) error {
		if err := tx.Lock(ctx, "register:"+p.id.Tenant); err != nil { // the revision that is compared must not move before the commit
			return err
		}
		if err := p.notUndone(ctx, tx, in.undos); err != nil {
			return err
		}
		if err := p.revisionUnmoved(ctx, tx, in); err != nil {
			return err
		}
		// A process that was taken over from is to learn that, not that the rows are there already.
		if err := op.Holds(ctx, tx); err != nil {
			return err
		}
		return load(tx)
	})
	in.begun = in.begun || err == nil
	return err
}

// doneChunks are the chunks of a staged file that an earlier attempt committed.
func (p *Pipeline) doneChunks(ctx context.Context, op *ledger.Op, f StagedFile) (map[int]bool, error) {
	done := map[int]bool{}
	err := p.db.View(ctx, func(tx *store.Tx) error {
		list, err := op.Checkpoints(ctx, tx, "chunk")
		if err != nil {
			return err
		}
		for _, c := range list {
			if c.Text("staged") == f.SHA256 && c.Text("entity") == chunkEntity(f) {
				done[int(c.Int("chunk"))] = true
			}
		}
		return nil
	})
	return done, err
}
