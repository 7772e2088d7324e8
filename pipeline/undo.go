package pipeline

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"sheetlift/importers"
	"sheetlift/importers/register"
	"sheetlift/pipeline/finding"
	"sheetlift/pipeline/ledger"
	"sheetlift/pipeline/store"
)

// Undo is the operation that takes back what a batch put into the register.
const Undo = "undo"

// UndoResult is what an undo took back, and what it kept.
type UndoResult struct {
	Outcome
	Number    int         `json:"number"`              // of the newest snapshot that it covers
	Snapshots []string    `json:"snapshots,omitempty"` // those after the initial one that the batch no longer has: only the initial one is imported anew
	Entities  []Retracted `json:"entities"`
	Retracted int64       `json:"retracted"`
	Kept      int64       `json:"kept"`
	Released  int64       `json:"released"` // records of other batches that rows of this one vouched for

	PassedOn []PassedOn `json:"passed_on,omitempty"` // to which batches the kept ones that another batch has

	// KnownElsewhere are other batches with rows that were skipped because the register had their records, and that don't vouch for them:
	// these may be among those taken back.
	KnownElsewhere []KnownElsewhere `json:"known_elsewhere,omitempty"`

	// JudgeAgain are other batches that have to look again which consents their rejected rows speak against. It is as of now, and not recorded.
	JudgeAgain []JudgeAgain `json:"judge_again,omitempty"`

	next string // the stage that comes next
}

// Next is the stage with which the batch goes on: on the bytes of its initial freeze, whatever became of the files since.
func (r *UndoResult) Next() string { return r.next }

// Retracted counts what an undo took back of one entity, and what it kept because it is no longer only the batch's.
type Retracted struct {
	Entity     string `json:"entity"`
	Retracted  int64  `json:"retracted"`
	Changed    int64  `json:"kept_changed"`     // kept: somebody else corrected them since
	PassedOn   int64  `json:"kept_passed_on"`   // kept: another batch has them as well, and they are that batch's now
	OtherBatch int64  `json:"kept_other_batch"` // kept: another batch has them as well, and they were corrected since
	InUse      int64  `json:"kept_in_use"`      // kept: configuration that a record which stays points to
	Released   int64  `json:"released"`         // records of other batches that rows of this one vouched for
}

// PassedOn counts the records that an undo left to another batch.
type PassedOn struct {
	Batch   string `json:"batch"`
	Records int64  `json:"records"`
}

// undos is how often the batch was undone, when last, and whether an undo has begun that is not finished.
type undos struct {
	count    int
	finished int64 // of the last one
	open     bool
}

func (p *Pipeline) undos(ctx context.Context, tx *store.Tx) (u undos, err error) {
	states, err := ledger.Attempts(ctx, tx, p.id.Tenant, p.batch.Name, Undo)
	for _, a := range states {
		if a.State == ledger.Succeeded {
			u.count++
			u.finished = max(u.finished, a.FinishedAt)
		} else {
			u.open = true
		}
	}
	return u, err
}

func (p *Pipeline) lookUndos(ctx context.Context) (u undos, err error) {
	err = p.db.View(ctx, func(tx *store.Tx) error {
		u, err = p.undos(ctx, tx)
		return err
	})
	return u, err
}

// lastUndone is when the last of a batch's finished undos ended; 0 if there is none.
func lastUndone(ops []*ledger.Record) (at int64) {
	for _, op := range ops {
		if op.Stage == Undo && op.State == ledger.Succeeded {
			at = max(at, op.FinishedAt)
		}
	}
	return at
}

// undoUnderWay is the refusal of a stage while an undo is unfinished: the register holds a part of the batch that will go.
func undoUnderWay(stage string) *GateError {
	return &GateError{Stage: stage, Why: "an undo of the batch has begun and is not finished", Remedy: "finish it: `sheetlift undo`; then dry-run anew"}
}

// refuseUndo refuses a stage while an undo is unfinished.
func (p *Pipeline) refuseUndo(ctx context.Context, stage string) error {
	u, err := p.lookUndos(ctx)
	if err == nil && u.open {
		return undoUnderWay(stage)
	}
	return err
}

// notUndone refuses to import while an undo is under way, or when one has ended since the import began.
func (p *Pipeline) notUndone(ctx context.Context, tx *store.Tx, seen undos) error {
	now, err := p.undos(ctx, tx)
	if err != nil {
		return err
	}
	switch {
	case now.open:
		return undoUnderWay(Import)
	case now.count != seen.count:
		return &GateError{Stage: Import, Why: "the batch was undone meanwhile", Remedy: "run `sheetlift dryrun` again, and look at it before you import"}
	}
	return nil
}

// Undo takes back what the batch put into the register, all snapshots, by provenance. Records that somebody else changed since, that
// another batch has as well, or that something which stays points to, are kept and named in the findings. Provenance stays, marked, and the
// register's events say what was retracted. What grants goes before what stands against it, so that an interruption leaves nothing granted
// that was not. After it the batch is where it was after its initial freeze.
func (p *Pipeline) Undo(ctx context.Context) (*UndoResult, error) {
	p = p.initial()
	all, undone, err := p.freezes(ctx)
	if err != nil {
		return nil, err
	}
	var ops []*ledger.Record
	var known []KnownElsewhere
	var now int64
	err = p.db.View(ctx, func(tx *store.Tx) (err error) {
		if now, err = tx.Now(ctx); err != nil {
			return err
		}
		if ops, err = ledger.List(ctx, tx, p.id.Tenant, p.batch.Name); err != nil {
			return err
		}
		known, err = p.knownElsewhere(ctx, tx, ops)
		return err
	})
	if err != nil {
		return nil, err
	}
	var imports []string
	for _, op := range ops {
		switch {
		case op.Stage == "signoff" && op.State == ledger.Succeeded:
			return nil, &GateError{Stage: Undo, Why: "the batch is signed off", Remedy: "correct single records from now on; what two people signed is not taken back by one"}
		case op.Stage != Import:
		case op.State == ledger.Running && op.LeaseUntil > now:
			return nil, &GateError{Stage: Undo, Why: "an import of the batch is running",
				Remedy: fmt.Sprintf("stop it, or wait until it ends, then undo; if its process has died, its lease runs out in %d s", ledger.Seconds(op.LeaseUntil-now))}
		default:
			imports = append(imports, op.ID)
		}
	}
	if len(imports) == 0 {
		return nil, &GateError{Stage: Undo, Why: "the batch imported nothing", Remedy: "there is nothing to undo"}
	}
	key := p.key(Undo, imports...)
	dir := p.workDir(Undo, key)
	if err := makeDir(dir); err != nil { // before anything begins: what was kept could not be said
		return nil, err
	}
	r, err := execute(ctx, p, task[UndoResult]{
		stage: Undo, key: key,
		pre:   map[string]any{"records": int64(len(imports))},
		check: func(context.Context, *UndoResult) error { return nil },
		do: func(ctx context.Context, op *ledger.Op, r *UndoResult) error {
			r.Outcome = p.begin(UndoSchema)
			r.Number, r.KnownElsewhere = all[len(all)-1].Number, known
			if known != nil {
				p.remark(knownBefore(known))
			}
			for _, fr := range all {
				if fr.Number > undone.newest() {
					r.Snapshots = append(r.Snapshots, fr.Snapshot)
				}
			}
			before, err := p.lookUndos(ctx)
			if err != nil {
				return err
			}
			o := register.Origin{Identity: p.id, Batch: p.batch.Name, Snapshot: all[len(all)-1].Snapshot, Operation: op.ID(), Operator: p.opt.Operator}
			mark := fmt.Sprintf("%s%d", register.Retracted, before.count+1)
			for _, pass := range register.RetractOrder() {
				if err := p.retract(ctx, op, pass, mark, o); err != nil {
					return err
				}
			}
			if err := p.retractRest(ctx, op, abandonedConfig, o, register.RetractAbandoned); err != nil {
				return err
			}
			if err := p.retractRest(ctx, op, unrecordedSaid, o, register.RetractUnrecorded); err != nil {
				return err
			}
			rec, err := p.record(dir)
			if err != nil {
				return err
			}
			if err := p.kept(ctx, op, mark, rec, r); err != nil {
				rec.abandon()
				return err
			}
			r.Complete, r.Passed = true, true
			return rec.close(&r.Outcome, dir)
		},
	})
	if err == nil {
		r.next, err = p.afterUndo(ctx)
	}
	if err == nil {
		r.JudgeAgain, err = p.judgeAgain(ctx)
	}
	return r, err
}

// afterUndo is the stage with which the initial snapshot goes on: the dry-run, or map if the mappings changed since.
func (p *Pipeline) afterUndo(ctx context.Context) (string, error) {
	mapped, _, err := last[MapResult](ctx, p, Map)
	if err != nil {
		return "", err
	}
	if maps, err := p.loadMappings(); err == nil && mapped != nil && p.mappingDrift(mapped, maps) == "" {
		return DryRun, nil
	}
	return Map, nil // which says what is wrong with a mapping that can't be read
}

// retract takes back the records of one pass, a chunk a transaction with its checkpoint.
func (p *Pipeline) retract(ctx context.Context, op *ledger.Op, pass register.RetractPass, mark string, o register.Origin) error {
	after := ""
	for chunk := int64(0); ; chunk++ {
		last := ""
		err := p.db.Update(ctx, func(tx *store.Tx) error {
			if err := tx.Lock(ctx, "register:"+p.id.Tenant); err != nil {
				return err
			}
			var err error
			if last, err = register.NextRetract(ctx, tx, pass, after, o); err != nil || last == "" {
				return err
			}
			n, err := register.RetractChunk(ctx, tx, pass, after, last, mark, o)
			if err != nil {
				return err
			}
			return op.Checkpoint(ctx, tx, "chunk", map[string]any{"entity": pass.Entity.Name, "chunk": chunk, "records": n})
		})
		if err != nil {
			return err
		}
		if last == "" {
			return nil
		}
		after = last
		p.opt.Progress(Undo, pass.Entity.Name, chunk+1, 0)
	}
}

// abandonedConfig is what checkpoints call the configuration that earlier undos had left.
const abandonedConfig = "abandoned"

// retractRest takes back, once no record of the batch is left, what is none: what its rows said that gave no record, and the configuration
// of batches undone before that its records were the last to point to.
func (p *Pipeline) retractRest(ctx context.Context, op *ledger.Op, of string, o register.Origin, retract func(context.Context, *store.Tx, register.Origin) (int64, error)) error {
	return p.db.Update(ctx, func(tx *store.Tx) error {
		if err := tx.Lock(ctx, "register:"+p.id.Tenant); err != nil {
			return err
		}
		n, err := retract(ctx, tx, o)
		if err != nil || n == 0 {
			return err
		}
		return op.Checkpoint(ctx, tx, "chunk", map[string]any{"entity": of, "chunk": int64(0), "records": n})
	})
}

// kept counts what was retracted, by the register's events, and names what was kept.
func (p *Pipeline) kept(ctx context.Context, op *ledger.Op, mark string, rec *recorder, r *UndoResult) error {
	all, _, err := p.freezes(ctx)
	if err != nil {
		return err
	}
	files := p.rowFiles(all)
	return p.db.View(ctx, func(tx *store.Tx) error {
		done, err := register.RetractedBy(ctx, tx, op.ID())
		if err != nil {
			return err
		}
		to := map[string]int64{}
		for i := range importers.Entities {
			e := &importers.Entities[i]
			c := Retracted{Entity: e.Name, Retracted: done[e.Name]}
			count := func(k register.Kept) error {
				if k.Vouched {
					c.Released++
					return nil
				}
				return rec.Add(p.keptFinding(e, &k, &c, to, files))
			}
			if err := register.EachPassedOn(ctx, tx, e, p.id.Tenant, p.batch.Name, mark, count); err != nil {
				return err
			}
			if err := register.EachKept(ctx, tx, e, p.id.Tenant, p.batch.Name, mark, count); err != nil {
				return err
			}
			r.Retracted += c.Retracted
			r.Kept += c.Changed + c.PassedOn + c.OtherBatch + c.InUse
			r.Released += c.Released
			r.Entities = append(r.Entities, c)
		}
		for _, batch := range slices.Sorted(maps.Keys(to)) {
			r.PassedOn = append(r.PassedOn, PassedOn{Batch: batch, Records: to[batch]})
		}
		return nil
	})
}

// keptFinding counts a record that was kept, and names it.
func (p *Pipeline) keptFinding(e *importers.Entity, k *register.Kept, c *Retracted, to map[string]int64, files map[[2]string]string) finding.Finding {
	why := ""
	switch k.Why {
	case register.KeptPassedOn:
		c.PassedOn++
		to[k.By]++
		why = "batch " + k.By + " has it as well, and it is that batch's now"
	case register.KeptShared:
		c.OtherBatch++
		why = "another batch has it as well, and it was corrected since"
	case register.KeptChanged:
		c.Changed++
		why = "it was corrected since"
	default:
		c.InUse++
		why = "a record that stays points to it"
	}
	f := finding.New("undo.kept")
	f.Source, f.Sheet, f.Row, f.Line = k.Source, k.Sheet, int(k.Row), int(k.Line)
	f.Message = fmt.Sprintf("The %s of snapshot %s stays in the register: %s.", e.Name, k.Snapshot, why)
	at, _, _ := strings.Cut(k.Snapshot, register.Retracted)
	if f.File = files[[2]string{at, k.Source}]; f.File == "" {
		f.File = p.fileOf(k.Source)
	}
	return f
}

// undone reports whether an operation ended before the last undo did.
func (u undos) undone(rec *ledger.Record) bool {
	return rec != nil && u.count > 0 && rec.FinishedAt <= u.finished
}

// currentImport is the result of the import of the pipeline's snapshot; nil if there is none, or an undo took it back.
func (p *Pipeline) currentImport(ctx context.Context) (*ImportResult, *ledger.Record, error) {
	imp, rec, err := last[ImportResult](ctx, p, Import)
	if err != nil {
		return nil, nil, err
	}
	u, err := p.lookUndos(ctx)
	if err != nil || u.open || u.undone(rec) {
		return nil, nil, err
	}
	return imp, rec, nil
}

// decodeUndo reads a recorded result.
func decodeUndo(op *ledger.Record) (*UndoResult, error) {
	u := new(UndoResult)
	if err := json.Unmarshal(op.Result, u); err != nil {
		return nil, fmt.Errorf("recorded result of undo: %w", err)
	}
	return u, nil
}
