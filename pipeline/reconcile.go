package pipeline

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"

	"sheetlift/importers"
	"sheetlift/importers/register"
	"sheetlift/importers/source"
	"sheetlift/pipeline/finding"
	"sheetlift/pipeline/ledger"
	"sheetlift/pipeline/store"
)

// sampleSize is how many cell ↔ record pairs of each source and entity are picked for people to look at.
const sampleSize = 5

// Reconcile compares what was frozen, what was staged and what the register holds, per source and entity: counts and typed,
// order-free, duplicate-aware hashes. The frozen side is read again from the bag's bytes.
func (p *Pipeline) Reconcile(ctx context.Context) (*ReconcileResult, error) {
	p, err := p.newest(ctx)
	if err != nil {
		return nil, err
	}
	if err := p.refuseUndo(ctx, Reconcile); err != nil {
		return nil, err
	}
	imp, rec, err := p.currentImport(ctx)
	if err != nil {
		return nil, err
	}
	if rec == nil {
		if begun, err := p.begun(ctx); err != nil || begun != nil {
			if err == nil {
				err = begun.refuse(Reconcile, "")
			}
			return nil, err
		}
		return nil, &GateError{Stage: Reconcile, Why: "nothing was imported yet", Remedy: "run `sheetlift import` first"}
	}
	fr, err := p.frozen(ctx, Reconcile)
	if err != nil {
		return nil, err
	}
	if imp.Manifest != fr.Manifest {
		return nil, &GateError{Stage: Reconcile, Why: "what was imported came from another frozen manifest", Remedy: "start a new batch for the new export"}
	}
	maps, err := p.loadMappings()
	if err != nil {
		return nil, err
	}
	if err := p.restageImported(ctx, Reconcile, imp); err != nil {
		return nil, err
	}
	// A result is recorded for the state of the register it was found in; asked again, everything is compared again.
	var own, others int64
	if err := p.db.View(ctx, func(tx *store.Tx) (err error) {
		if own, err = register.OwnRevision(ctx, tx, p.id.Tenant, p.batch.Name); err != nil {
			return err
		}
		others, err = register.Revision(ctx, tx, p.id.Tenant, p.batch.Name)
		return err
	}); err != nil {
		return nil, err
	}
	dry, err := p.lastJudged(ctx)
	if err != nil {
		return nil, err
	}
	state := []string{imp.Digest, fmt.Sprint(own), fmt.Sprint(others)}
	if dry != nil && dry.StillGiven > 0 { // which a later dry-run may find otherwise
		state = append(state, "still given "+fmt.Sprint(dry.StillGiven))
	}
	key := p.key(Reconcile, state...)
	dir := p.workDir(Reconcile, key)
	do := func(ctx context.Context, _ *ledger.Op, r *ReconcileResult) error {
		rec, err := p.record(dir)
		if err != nil {
			return err
		}
		r.Outcome = p.begin(ReconcileSchema)
		r.Manifest, r.DryRun, r.Passed = imp.Manifest, imp.DryRun, true
		loaded, _, err := p.importedDryRun(ctx, imp)
		if err != nil {
			rec.abandon()
			return err
		}
		for i := range p.batch.Sources {
			sh, err := p.openSheet(ctx, fr, &p.batch.Sources[i], maps[i], nil)
			if err == nil {
				err = p.reconcileSource(ctx, sh, imp, r, rec)
				if err == nil {
					err = p.reconcileUnrecorded(ctx, sh, loaded, r, rec)
				}
				if err == nil {
					err = p.reconcileKnown(ctx, sh, loaded, r, rec)
				}
				sh.close()
			}
			if err != nil {
				rec.abandon()
				return err
			}
		}
		if dry != nil {
			r.StillGiven = dry.StillGiven
		}
		r.Complete = true
		r.Passed = r.Passed && !rec.fatal
		return rec.close(&r.Outcome, dir)
	}
	pre := map[string]any{"import": imp.Digest}
	r, err := execute(ctx, p, task[ReconcileResult]{
		stage: Reconcile, key: key, pre: pre,
		check: func(context.Context, *ReconcileResult) error { return errRemake },
		do:    do,
	})
	if err != nil && ctx.Err() == nil { // of one that was interrupted nobody knows what it would have found
		if unsaid := p.notReconciled(ctx, key, pre, r, err); unsaid != nil {
			err = errors.Join(err, unsaid)
		}
	}
	if err == nil {
		r.StillGivenElsewhere, _, err = p.opposedElsewhere(ctx)
	}
	return r, err
}

// notReconciled keeps an earlier success from standing as the last word on a batch that was found otherwise since: r is what was
// found; nil, or not complete, if the comparison could not be made for the fault. Reconciled again with the earlier result, that one is the last word once more.
func (p *Pipeline) notReconciled(ctx context.Context, key string, pre map[string]any, r *ReconcileResult, fault error) error {
	if r != nil && r.Complete {
		_, err := execute(ctx, p, task[ReconcileResult]{
			stage: Reconcile, key: p.key(Reconcile, key, r.Digest), pre: pre,
			check: func(context.Context, *ReconcileResult) error { return nil },
			do: func(_ context.Context, _ *ledger.Op, found *ReconcileResult) error {
				*found = *r
				return nil
			},
		})
		return err
	}
	ops, err := p.operations(ctx)
	if rec := newest(ops, Reconcile, p.snap.name); err != nil || rec == nil || rec.State != ledger.Succeeded {
		return err // the failure stands in the operation itself
	}
	again := p.key(Reconcile, key, "failed")
	op, err := p.ledger.Begin(ctx, ledger.Request{
		Tenant: p.id.Tenant, Batch: p.batch.Name, Stage: Reconcile, Snapshot: p.snap.name, Class: classes[Reconcile],
		Operator: p.opt.Operator, Key: again, RequestDigest: again, Preconditions: pre,
	})
	if err != nil {
		return err
	}
	return op.Fail(ctx, failCode(fault))
}

func tally(s *register.Sum) Tally { return Tally{Count: s.Count, Hash: s.Hex()} }

func (p *Pipeline) reconcileSource(ctx context.Context, sh *sheet, imp *ImportResult, r *ReconcileResult, rec *recorder) error {
	var frozen, stagedRows, registerRows register.Sum
	inStaged, inRegister := map[int64]bool{}, map[int64]bool{}
	var picked []SamplePair
	for _, f := range imp.Staged {
		if f.Source != sh.src.Name {
			continue
		}
		e := importers.ByName(f.Entity)
		var a, b register.Sum
		sample, err := p.sumStaged(f, e, sh, &a, &stagedRows, inStaged, nil)
		if err != nil {
			return err
		}
		o := register.Origin{Identity: p.id, Batch: p.batch.Name, Snapshot: p.snap.name, Source: f.Source, StagedDigest: f.SHA256}
		err = p.db.View(ctx, func(tx *store.Tx) error {
			if err := register.SumRegister(ctx, tx, e, o, &b, &registerRows, inRegister, nil); err != nil {
				return err
			}
			return p.checkSample(ctx, tx, e, sample)
		})
		if err != nil {
			return err
		}
		re := ReconciledEntity{Source: f.Source, Entity: e.Name, Staged: tally(&a), Register: tally(&b), Agree: a == b}
		r.Entities = append(r.Entities, re)
		picked = append(picked, sample...)
		if !re.Agree {
			since, err := p.correctedSince(ctx, f)
			if err != nil {
				return err
			}
			if err := p.disagree(rec, sh, r, fmt.Sprintf("%s: %s staged, %d in the register, or their contents differ%s", e.Name, finding.Count(a.Count, "record", "records"), b.Count, since)); err != nil {
				return err
			}
		}
	}
	err := sh.each(ctx, func(blk *source.Block) error {
		p.opt.Progress(Reconcile, sh.src.Name, frozen.Count, 0)
		for i, n := range blk.RowNum {
			if inStaged[int64(n)] {
				frozen.Add(blk.RowDigest(i))
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	rs := ReconciledSource{
		Source: sh.src.Name, Frozen: tally(&frozen), Staged: tally(&stagedRows), Register: tally(&registerRows),
		Agree: frozen == stagedRows && stagedRows == registerRows,
	}
	r.Sources = append(r.Sources, rs)
	if !rs.Agree {
		if err := p.disagree(rec, sh, r, fmt.Sprintf("accepted rows differ: %d frozen, %d staged, %d in the register's provenance", frozen.Count, stagedRows.Count, registerRows.Count)); err != nil {
			return err
		}
	}
	for _, s := range picked {
		if !s.Agree {
			r.Passed = false
		}
	}
	r.Sample = append(r.Sample, picked...)
	return nil
}

// correctedSince says of a staged file that disagrees with the register how many of its records were corrected since and by which batches,
// if nothing else differs; else "".
func (p *Pipeline) correctedSince(ctx context.Context, f StagedFile) (string, error) {
	corrected := map[string][2]string{}
	err := p.db.View(ctx, func(tx *store.Tx) error {
		return register.EachCorrection(ctx, tx, p.id.Tenant, func(id, batch, snapshot string) { corrected[id] = [2]string{batch, snapshot} })
	})
	if err != nil {
		return "", err
	}
	same, err := p.checkRegister(ctx, f, corrected)
	if errors.As(err, new(*IntegrityError)) {
		return "", nil
	}
	if err != nil || uint64(same) >= uint64(f.Rows) {
		return "", err
	}
	var batches []string
	err = p.db.View(ctx, func(tx *store.Tx) error {
		return register.EachProvenance(ctx, tx, p.id.Tenant, p.batch.Name, "", func(pr register.Provenance) error {
			if by, ok := corrected[pr.ID]; ok && pr.Live() && pr.Snapshot == p.snap.name && pr.Source == f.Source && pr.Entity == f.Entity && !slices.Contains(batches, by[0]) {
				batches = append(batches, by[0])
			}
			return nil
		})
	})
	slices.Sort(batches)
	return fmt.Sprintf(". All others agree: %s corrected since, with a fresh export of batch %s. "+
		"Nothing to do if the corrections are right; a batch that corrected them and was undone could not bring the content before back: if this one's is right, undo it too, and import it anew",
		finding.Count(int64(f.Rows)-same, "record was", "records were"), strings.Join(batches, " and batch ")), err
}

// reconcileUnrecorded compares what rows of a source say that give no record.
func (p *Pipeline) reconcileUnrecorded(ctx context.Context, sh *sheet, dry *DryRunResult, r *ReconcileResult, rec *recorder) error {
	staged, held, err := p.sumUnrecorded(ctx, dry, sh.src.Name)
	if err != nil || staged == held {
		return err
	}
	return p.disagree(rec, sh, r, fmt.Sprintf("what rows say that give no record: %s staged, %d in the register, or their contents differ", finding.Count(staged.Count, "entry", "entries"), held.Count))
}

// reconcileKnown compares the marks of a source's known rows.
func (p *Pipeline) reconcileKnown(ctx context.Context, sh *sheet, dry *DryRunResult, r *ReconcileResult, rec *recorder) error {
	inFiles, held, err := p.sumKnown(ctx, dry, sh.src.Name)
	if err != nil || inFiles == held {
		return err
	}
	return p.disagree(rec, sh, r, marksDiffer(&inFiles, &held))
}

// marksDiffer says how the marks that were staged differ from those in the register.
func marksDiffer(inFiles, held *register.Sum) string {
	return fmt.Sprintf("rows vouch for %s of other batches, the register has marks of %d with their records, or other marks", finding.Count(inFiles.Count, "record", "records"), held.Count)
}

func (p *Pipeline) disagree(rec *recorder, sh *sheet, r *ReconcileResult, message string) error {
	r.Passed = false
	return add(rec, "reconcile.differs", sh.src, sh.src.File, sh.env.Sheet, func(f *finding.Finding) { f.Message = message })
}

// sumStaged adds up a staged file and picks the sample: the records whose hash with the staged digest is least, so that the
// same staged file always gives the same sample, and nobody can choose it. Without a sheet there is no sample.
func (p *Pipeline) sumStaged(f StagedFile, e *importers.Entity, sh *sheet, records, rows *register.Sum, seen map[int64]bool, skip func(id string) bool) ([]SamplePair, error) {
	rd, err := openStaged(f)
	if err != nil {
		return nil, err
	}
	defer rd.Close()
	type candidate struct {
		rank uint64
		pair SamplePair
	}
	var best []candidate
	at := map[string]int{}
	for i, c := range rd.Columns() {
		at[c.Name] = i
	}
	for i := range rd.Chunks() {
		c, err := rd.Chunk(i)
		if err != nil {
			return nil, err
		}
		if err := register.SumStaged(e, rd.Columns(), c, records, rows, seen, skip); err != nil {
			c.Release()
			return nil, err
		}
		for row := range c.Rows() {
			id := c.Cell(at["id"], row).Text
			h := sha256.Sum256([]byte(f.SHA256 + id))
			k := binary.BigEndian.Uint64(h[:])
			if len(best) == sampleSize && k >= best[sampleSize-1].rank {
				continue
			}
			if sh == nil {
				continue
			}
			file := sh.src.File
			if sh.view != nil { // no name that batch.yaml has, so nobody hides it later
				file = p.batch.ShownFile(file)
			}
			place := fmt.Sprintf("%s row %d", file, c.Cell(at["row"], row).Int)
			if sh.env.Sheet != "" {
				place = fmt.Sprintf("%s, sheet %q, row %d", file, sh.env.Sheet, c.Cell(at["row"], row).Int)
			}
			best = append(best, candidate{k, SamplePair{Source: f.Source, Entity: e.Name, Place: place, Record: string([]byte(id))}})
			slices.SortFunc(best, func(a, b candidate) int {
				if a.rank < b.rank {
					return -1
				}
				return 1
			})
			best = best[:min(len(best), sampleSize)]
		}
		c.Release()
	}
	var sample []SamplePair
	for _, b := range best {
		sample = append(sample, b.pair)
	}
	return sample, nil
}

// checkSample reads each sampled record back alone and works its content digest out again from the stored values.
func (p *Pipeline) checkSample(ctx context.Context, tx *store.Tx, e *importers.Entity, sample []SamplePair) error {
	for i := range sample {
		s := &sample[i]
		// By the key alone: Filter.ID would look through the whole table for events of a record of that id.
		one := register.Filter{Cond: fmt.Sprintf("id = $%d", register.FirstArg), Args: []any{s.Record}}
		err := register.Each(ctx, tx, e, p.id.Tenant, one, func(st *register.Stored) error {
			s.Agree = register.ContentDigest(&st.Record) == st.ContentDigest
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}
