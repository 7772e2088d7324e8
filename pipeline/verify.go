package pipeline

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sheetlift/importers"
	"sheetlift/importers/register"
	"sheetlift/pipeline/finding"
	"sheetlift/pipeline/ledger"
	"sheetlift/pipeline/store"
)

// Verify recomputes what can be recomputed of a batch: the bag and its signature, the ledger's chains, the digests of the recorded
// results, staged files, findings files and lists of rejected rows against what the results say, and the register's provenance against the import.
func (p *Pipeline) Verify(ctx context.Context) (*VerifyResult, error) {
	r := &VerifyResult{Schema: VerifySchema, Batch: p.batch.Name, Passed: true, Checks: []VerifyCheck{}}
	check := func(what string, err error, detail string) {
		c := VerifyCheck{What: what, OK: err == nil, Detail: detail}
		if err != nil {
			c.Detail = err.Error()
			r.Passed = false
			if errors.As(err, new(*FileError)) && errors.Is(err, fs.ErrNotExist) {
				c.Stage = makes(what)
				c.Detail += "; `sheetlift " + c.Stage + "` makes it anew"
			}
		}
		r.Checks = append(r.Checks, c)
	}
	ops, err := p.operations(ctx)
	if err != nil {
		return nil, err
	}
	if len(ops) == 0 {
		return nil, &GateError{Stage: "verify", Why: "nothing was done for this batch yet", Remedy: "run `sheetlift run` first"}
	}
	for _, op := range ops {
		err := p.db.View(ctx, func(tx *store.Tx) error { return ledger.VerifyChain(ctx, tx, op.ID) })
		if err != nil && !errors.Is(err, ledger.ErrChain) {
			return nil, err
		}
		check(fmt.Sprintf("checkpoint chain of %s %s", op.Stage, short(op.ID)), err, "")
	}
	inv, _, err := last[InventoryResult](ctx, p.initial(), Inventory)
	if err != nil {
		return nil, err
	}
	verifyResult(p, check, Inventory, inv)
	all, _, err := p.freezes(ctx)
	if err != nil {
		return nil, err
	}
	corrected := map[string][2]string{}
	if err := p.db.View(ctx, func(tx *store.Tx) error {
		return register.EachCorrection(ctx, tx, p.id.Tenant, func(id, batch, snapshot string) { corrected[id] = [2]string{batch, snapshot} })
	}); err != nil {
		return nil, err
	}
	for _, fr := range all {
		if err := p.verifySnapshot(ctx, check, fr, corrected, ops); err != nil {
			return nil, err
		}
	}
	var list []Copy
	if err := p.db.View(ctx, func(tx *store.Tx) (err error) {
		list, err = copies(ctx, tx, p.id.Tenant, p.batch.Name)
		return err
	}); err != nil {
		return nil, err
	}
	missing := 0
	for _, c := range list {
		if _, err := os.Stat(c.Place); err != nil {
			missing++
		}
	}
	check("known copies with personal data", nil, fmt.Sprintf("%d recorded, %d no longer there", len(list), missing))
	return r, nil
}

// verifySnapshot checks one snapshot of a batch and what the stages recorded of it. corrected is, by record, the batch and snapshot
// that corrected it last: what others brought before is no longer what the register holds.
func (p *Pipeline) verifySnapshot(ctx context.Context, check func(string, error, string), fr *FreezeResult, corrected map[string][2]string, ops []*ledger.Record) error {
	q, err := p.at(fr)
	if err != nil {
		return err
	}
	of := ""
	if fr.Number > 0 {
		of = " of snapshot " + fr.Snapshot
	}
	verifyResult(q, check, Freeze+of, fr)
	err = q.verifyBag(fr)
	check("frozen bag: bytes, completeness, signature"+of, err, fmt.Sprintf("%s, manifest %s", finding.Count(len(fr.Files), "file", "files"), short(fr.Manifest)))
	mapped, _, err := last[MapResult](ctx, q, Map)
	if err != nil {
		return err
	}
	verifyResult(q, check, Map+of, mapped)
	dry, _, err := last[DryRunResult](ctx, q, DryRun)
	if err != nil {
		return err
	}
	verifyResult(q, check, DryRun+of, dry)
	if dry != nil {
		for _, f := range slices.Concat(dry.Staged, dry.knownFiles()) {
			check("staged file "+stagedName(f.Source, f.Entity, f.Part)+of, checkStaged(f), finding.Count(f.Rows, "record", "records"))
		}
		if x := dry.Unrecorded; x != nil {
			err := checkUnrecorded(dry)
			check("list of what rows say that give no record"+of, err, finding.Count(x.Links+x.Against+x.Replaced, "entry", "entries"))
		}
		if dry.Listed != "" {
			n := 0
			err := readRejected(filepath.Dir(dry.FindingsFile), dry.Listed, func(*rejectedRow) error { n++; return nil })
			check("list of rejected rows"+of, err, finding.Count(n, "row", "rows"))
		}
	}
	u, err := p.lookUndos(ctx)
	if err != nil {
		return err
	}
	want, got, whole := 0, 0, true
	imports := 0
	for _, op := range ops {
		if op.Stage != Import || op.Snapshot != fr.Snapshot {
			continue
		}
		imports++
		if op.State != ledger.Succeeded {
			whole = false
			continue
		}
		imp := new(ImportResult)
		if err := json.Unmarshal(op.Result, imp); err != nil {
			return fmt.Errorf("recorded result of import: %w", err)
		}
		p.place(imp, true)
		verifyResult(q, check, Import+of, imp)
		for _, f := range imp.Staged {
			want += f.Rows
		}
		loaded, _, err := q.dryRunIn(ops, fr.Snapshot, imp.DryRun)
		if err != nil {
			return err
		}
		for _, f := range loaded.knownFiles() {
			want += f.Rows
		}
		if !u.open && !u.undone(op) {
			for _, f := range imp.Staged {
				n, err := q.checkRegister(ctx, f, corrected)
				if err != nil && !errors.As(err, new(*IntegrityError)) && !errors.As(err, new(*FileError)) {
					return err
				}
				check("register records of "+stagedName(f.Source, f.Entity, f.Part)+of, err, fmt.Sprintf("%s read back, contents equal; %d corrected since", finding.Count(n, "record", "records"), int64(f.Rows)-n))
			}
			if err := q.verifyUnrecorded(ctx, check, of, loaded); err != nil {
				return err
			}
			if err := q.verifyKnown(ctx, check, of, loaded); err != nil {
				return err
			}
		}
	}
	if imports > 0 {
		err := p.db.View(ctx, func(tx *store.Tx) error {
			return register.EachProvenance(ctx, tx, p.id.Tenant, p.batch.Name, "", func(pr register.Provenance) error {
				if name, _, _ := strings.Cut(pr.Snapshot, register.Retracted); name == fr.Snapshot {
					got++
				}
				return nil
			})
		})
		if err != nil {
			return err
		}
		if whole && got != want || got < want {
			err = fmt.Errorf("the register has provenance for %s, imported or vouched for: %d", finding.Count(got, "record", "records"), want)
		}
		check("provenance of the imported records"+of, err, finding.Count(got, "record", "records"))
	}
	rec, _, err := last[ReconcileResult](ctx, q, Reconcile)
	if err != nil {
		return err
	}
	verifyResult(q, check, Reconcile+of, rec)
	return nil
}

// verifyUnrecorded checks what the register has of rows that gave no record.
func (p *Pipeline) verifyUnrecorded(ctx context.Context, check func(string, error, string), of string, dry *DryRunResult) error {
	if dry == nil || dry.Unrecorded == nil {
		return nil
	}
	var n int64
	for _, s := range p.batch.Sources {
		staged, held, err := p.sumUnrecorded(ctx, dry, s.Name)
		if err != nil && !errors.As(err, new(*IntegrityError)) && !errors.As(err, new(*FileError)) {
			return err
		}
		if err == nil && staged != held {
			err = &IntegrityError{What: "register", Detail: fmt.Sprintf("of source %s %s brought in that rows say which gave no record, found there: %d, or their contents differ", s.Name, finding.Count(staged.Count, "entry was", "entries were"), held.Count),
				Remedy: "find out who changed the register since the import; restore it from a backup"}
		}
		if err != nil {
			check("what rows say that gave no record, in the register"+of, err, "")
			return nil
		}
		n += held.Count
	}
	check("what rows say that gave no record, in the register"+of, nil, finding.Count(n, "entry", "entries")+" read back, contents equal")
	return nil
}

// verifyKnown checks the marks of known rows, and that the records which they vouch for are there.
func (p *Pipeline) verifyKnown(ctx context.Context, check func(string, error, string), of string, dry *DryRunResult) error {
	if len(dry.knownFiles()) == 0 {
		return nil
	}
	var n int64
	for _, s := range p.batch.Sources {
		inFiles, held, err := p.sumKnown(ctx, dry, s.Name)
		if err != nil && !errors.As(err, new(*IntegrityError)) && !errors.As(err, new(*FileError)) {
			return err
		}
		if err == nil && inFiles != held {
			err = &IntegrityError{What: "register", Detail: "of source " + s.Name + " " + marksDiffer(&inFiles, &held), Remedy: "find out who changed the register since the import; restore it from a backup"}
		}
		if err != nil {
			check("records of other batches that rows vouch for"+of, err, "")
			return nil
		}
		n += held.Count
	}
	check("records of other batches that rows vouch for"+of, nil, finding.Count(n, "mark", "marks")+" read back, their records are there")
	return nil
}

// checkRegister compares what the register holds of a staged file with what was staged, but for records that were corrected since.
// It returns how many it compared.
func (p *Pipeline) checkRegister(ctx context.Context, f StagedFile, corrected map[string][2]string) (int64, error) {
	e := importers.ByName(f.Entity)
	skip := func(id string) bool {
		by, ok := corrected[id]
		return ok && (f.Part != partCorrect || by != [2]string{p.batch.Name, p.snap.name})
	}
	var want, got, rows register.Sum
	if _, err := p.sumStaged(f, e, nil, &want, &rows, map[int64]bool{}, skip); err != nil {
		return 0, err
	}
	o := register.Origin{Identity: p.id, Batch: p.batch.Name, Snapshot: p.snap.name, Source: f.Source, StagedDigest: f.SHA256}
	err := p.db.View(ctx, func(tx *store.Tx) error {
		return register.SumRegister(ctx, tx, e, o, &got, &rows, map[int64]bool{}, skip)
	})
	if err != nil {
		return 0, err
	}
	if want != got {
		return want.Count, &IntegrityError{What: "register", Detail: fmt.Sprintf("%s imported, found there: %d, or their contents differ", finding.Count(want.Count, "record was", "records were"), got.Count),
			Remedy: "find out who changed the register since the import; restore it from a backup"}
	}
	return want.Count, nil
}

func checkStaged(f StagedFile) error {
	rd, err := openStaged(f)
	if err != nil {
		return err
	}
	return rd.Close()
}

// verifyResult works a recorded result's digest out again, counts its findings file and holds its bytes to the result.
func verifyResult[R any](p *Pipeline, check func(string, error, string), stage string, r *R) {
	if r == nil {
		return
	}
	o := Common(r)
	want := o.Digest
	err := p.seal(r)
	if err == nil && o.Digest != want {
		err = fmt.Errorf("recorded digest %s, recomputed %s", short(want), short(o.Digest))
	}
	check("result of "+stage, err, short(want))
	if o.FindingsFile == "" {
		return
	}
	n, got, err := countLines(o.FindingsFile)
	if sum := o.Findings.Error + o.Findings.Warning + o.Findings.Info; err == nil && n != sum {
		err = fmt.Errorf("it has %s, the result counts %s", finding.Count(n, "line", "lines"), finding.Count(sum, "finding", "findings"))
	}
	if err == nil && o.FindingsSum != "" && got != o.FindingsSum {
		err = fmt.Errorf("%s: its bytes are not those that were recorded", o.FindingsFile)
	}
	check("findings of "+stage, err, finding.Count(n, "line", "lines"))
}

// makes is the stage that makes a file anew which a check found gone.
func makes(what string) string {
	for _, stage := range []string{Inventory, Map, Import, Reconcile} {
		if of, ok := strings.CutPrefix(what, "findings of "+stage); ok && (of == "" || of[0] == ' ') {
			return stage
		}
	}
	return DryRun
}

// countLines returns how many lines a file has, and the SHA-256 of its bytes.
func countLines(path string) (int, string, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, "", &FileError{Path: path, Message: pathless(err), Err: err}
	}
	defer f.Close()
	n := 0
	h := sha256.New()
	s := bufio.NewScanner(io.TeeReader(f, h))
	s.Buffer(nil, 1<<20)
	for s.Scan() {
		n++
	}
	return n, hex.EncodeToString(h.Sum(nil)), s.Err()
}

// short is a digest as people compare it.
func short(digest string) string {
	if _, err := hex.DecodeString(digest); err != nil || len(digest) < 12 {
		return digest
	}
	return digest[:12]
}
