package pipeline

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/google/uuid"

	"sheetlift/importers"
	"sheetlift/importers/register"
	"sheetlift/mappings"
	"sheetlift/pipeline/ledger"
	"sheetlift/pipeline/store"
)

// DryRun puts every row of every source through the code that decides what is imported, and stages the accepted records. It
// writes nothing to the register and may be run at any time; rows that the register knows already are skipped then.
func (p *Pipeline) DryRun(ctx context.Context) (*DryRunResult, error) {
	p, err := p.newest(ctx)
	if err != nil {
		return nil, err
	}
	in, err := p.dryRunInputs(ctx)
	if err != nil {
		return nil, err
	}
	var own, others int64
	err = p.db.View(ctx, func(tx *store.Tx) (err error) {
		if own, err = register.OwnRevision(ctx, tx, p.id.Tenant, p.batch.Name); err != nil {
			return err
		}
		others, err = register.Revision(ctx, tx, p.id.Tenant, p.batch.Name)
		return err
	})
	if err != nil {
		return nil, err
	}
	key := p.key(DryRun, in.mapped.Digest, p.batch.digest, fmt.Sprint(own), fmt.Sprint(others))
	dir := p.workDir(DryRun, key)
	return execute(ctx, p, task[DryRunResult]{
		stage: DryRun, key: key,
		pre: map[string]any{"map": in.mapped.Digest, "config": p.batch.digest, "revision": others},
		check: func(_ context.Context, r *DryRunResult) error {
			if err := present(r.FindingsFile); err != nil {
				return err
			}
			if err := present(filepath.Join(dir, rejectedFile)); err != nil {
				return err
			}
			for _, f := range r.Staged {
				if err := present(f.Path); err != nil {
					return err
				}
			}
			return nil
		},
		do: func(ctx context.Context, _ *ledger.Op, r *DryRunResult) error {
			r.Outcome = p.begin(DryRunSchema)
			r.Manifest, r.Map, r.Config = in.frozen.Manifest, in.mapped.Digest, p.batch.digest
			return p.dryRun(ctx, in, dir, r)
		},
	})
}

// dryRunInputs are what a dry-run rests on, after its gate held.
type dryRunInputs struct {
	frozen *FreezeResult
	mapped *MapResult
	maps   []*mappings.Mapping
}

func (p *Pipeline) dryRunInputs(ctx context.Context) (*dryRunInputs, error) {
	in := &dryRunInputs{}
	var err error
	if in.frozen, err = p.frozen(ctx, DryRun); err != nil {
		return nil, err
	}
	mapped, rec, err := last[MapResult](ctx, p, Map)
	if err != nil {
		return nil, err
	}
	if rec == nil {
		return nil, &GateError{Stage: DryRun, Why: "the mappings are not compiled yet", Remedy: "run `sheetlift map` first"}
	}
	if mapped.Manifest != in.frozen.Manifest {
		return nil, &GateError{Stage: DryRun, Why: "the mappings were compiled for another frozen manifest", Remedy: "run `sheetlift map` again"}
	}
	in.mapped = mapped
	if in.maps, err = p.loadMappings(); err != nil {
		return nil, err
	}
	if why := p.mappingDrift(mapped, in.maps); why != "" {
		return nil, &GateError{Stage: DryRun, Why: why + " since map", Remedy: "run `sheetlift map` again"}
	}
	return in, nil
}

// mappingDrift names what differs between the recorded map result and the files as they lie there now; "" if nothing does.
func (p *Pipeline) mappingDrift(mapped *MapResult, maps []*mappings.Mapping) string {
	if len(mapped.Sources) != len(p.batch.Sources) {
		return "the sources of batch.yaml changed"
	}
	for i := range p.batch.Sources {
		s := &p.batch.Sources[i]
		if mapped.Sources[i].Source != s.Name {
			return "the sources of batch.yaml changed"
		}
		if mapped.Sources[i].Mapping != maps[i].Digest() {
			return fmt.Sprintf("%s (source %s) changed", s.Mapping, s.Name)
		}
	}
	return ""
}

// run is one dry-run under way.
type dryRunner struct {
	*Pipeline
	rec      *recorder
	rejected *rejectedWriter
	dir      string
	facts    *facts
	res      *DryRunResult
	today    string
	came     map[string]*came                                                 // by source: see leftOut
	stored   func(e *importers.Entity, id string) ([]*register.Stored, error) // what the register holds under an id
	obtained map[string]int64                                                 // see firstObtained
}

func (p *Pipeline) dryRun(ctx context.Context, in *dryRunInputs, dir string, r *DryRunResult) (err error) {
	partial := dir + ".partial"
	if err := os.RemoveAll(partial); err != nil { // an earlier dry-run died here
		return &FileError{Path: partial, Message: "what an interrupted dry-run left can't be removed: " + pathless(err), Remedy: "remove it and run dryrun again", Err: err}
	}
	rec, err := p.record(partial)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			rec.abandon()
			if rerr := os.RemoveAll(partial); rerr != nil {
				err = errors.Join(err, rerr)
			}
		}
	}()
	key, err := tokenKey(ctx, p.db, p.id.Tenant, p.batch.Name)
	if err != nil {
		return err
	}
	rejected, err := newRejectedWriter(partial)
	if err != nil {
		return err
	}
	defer rejected.file.Close() // again after close: for the ways out before it
	d := &dryRunner{Pipeline: p, rec: rec, rejected: rejected, came: map[string]*came{}, dir: partial, res: r, facts: newFacts(), today: p.batch.newestObtained().Format(time.DateOnly)}
	r.Entities = map[string]*EntityCount{}
	for i := range importers.Entities {
		r.Entities[importers.Entities[i].Name] = &EntityCount{ByConfidence: map[string]int{}, Missing: map[string]int{}}
	}
	d.stored = func(e *importers.Entity, id string) (list []*register.Stored, err error) {
		err = p.db.View(ctx, func(tx *store.Tx) error {
			return register.Each(ctx, tx, e, p.id.Tenant, register.Filter{ID: id}, func(st *register.Stored) error {
				list = append(list, st)
				return nil
			})
		})
		return list, err
	}
	if err := p.registerFacts(ctx, d.facts); err != nil {
		return err
	}
	var sheets []*sheet
	var plans []*mappings.Plan
	defer func() {
		for _, s := range sheets {
			s.close()
		}
	}()
	for i := range p.batch.Sources {
		sh, err := p.openSheet(ctx, in.frozen, &p.batch.Sources[i], in.maps[i], token(key))
		if err != nil {
			return err
		}
		sheets = append(sheets, sh)
		sh.keep = true
		plan, profile, found, err := p.compile(ctx, DryRun, sh, in.maps[i])
		if err != nil {
			return err
		}
		if got := profile.Digest(); got != in.mapped.Sources[i].Profile {
			return &IntegrityError{What: "profile of source " + sh.src.Name, Detail: "is not the one that map recorded", Remedy: "run `sheetlift map` again with this version"}
		}
		for _, f := range found {
			if err := rec.Add(f); err != nil {
				return err
			}
		}
		plans = append(plans, plan)
	}
	d.facts.shared = sharedEntities(p.batch, in.maps)
	// Configs first: what points to them must know which rows of theirs were accepted.
	order := make([]int, len(sheets))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return rank(in.maps[a]) - rank(in.maps[b]) })
	for _, i := range order {
		if err := d.survey(ctx, sheets[i], plans[i]); err != nil {
			return err
		}
	}
	if err := d.leftOut(ctx); err != nil {
		return err
	}
	d.facts.link()
	left := map[string]int{} // record rules by entity that are not decided yet
	for _, m := range in.maps {
		for _, rec := range m.Records {
			left[rec.Entity]++
		}
	}
	results := make([]DryRunSource, len(sheets))
	files := make([][]StagedFile, len(sheets))
	for _, i := range order {
		if results[i], files[i], err = d.settle(ctx, in.frozen, sheets[i], plans[i]); err != nil {
			return err
		}
		for _, rec := range in.maps[i].Records {
			if left[rec.Entity]--; left[rec.Entity] == 0 {
				d.facts.settled(rec.Entity)
			}
		}
	}
	r.Sources = results
	for i := range results {
		r.Rows.add(results[i].Rows)
		r.Staged = append(r.Staged, files[i]...)
	}
	r.Complete, r.Passed = true, !rec.fatal
	if err := rec.close(&r.Outcome, dir); err != nil {
		return err
	}
	if err := rejected.close(); err != nil {
		return err
	}
	if err := syncRename(partial, dir); err != nil {
		return err
	}
	return p.db.Update(ctx, func(tx *store.Tx) error {
		for i := range r.Staged {
			f := &r.Staged[i]
			f.Path = filepath.Join(dir, stagedName(f.Source, f.Entity, f.Part))
			if err := recordCopy(ctx, tx, p.id.Tenant, p.batch.Name, Copy{Kind: "staged", Digest: f.SHA256, Place: f.Path}); err != nil {
				return err
			}
		}
		return nil
	})
}

// sharedEntities are the (system, entity) pairs that more than one source of the batch brings: their keys may meet.
func sharedEntities(b *Batch, maps []*mappings.Mapping) map[[2]string]bool {
	count := map[[2]string]int{}
	for i, m := range maps {
		seen := map[string]bool{}
		for _, r := range m.Records {
			if !seen[r.Entity] {
				seen[r.Entity] = true
				count[[2]string{b.Sources[i].System, r.Entity}]++
			}
		}
	}
	shared := map[[2]string]bool{}
	for k, n := range count {
		if n > 1 {
			shared[k] = true
		}
	}
	return shared
}

// rank orders sources: those that bring configs come first.
func rank(m *mappings.Mapping) int {
	least := len(importers.Entities)
	for _, r := range m.Records {
		least = min(least, slices.IndexFunc(importers.Entities, func(e importers.Entity) bool { return e.Name == r.Entity }))
	}
	return least
}

func stagedName(source, entity, part string) string {
	if part != "" {
		entity += "." + part
	}
	return source + "." + entity + ".arrow"
}

// token makes subject tokens: an HMAC under the batch's key, truncated to 128 bits.
func token(key []byte) func(kind, value string) string {
	return func(kind, value string) string {
		h := hmac.New(sha256.New, key)
		h.Write([]byte(kind))
		h.Write([]byte{0})
		h.Write([]byte(value))
		return hex.EncodeToString(h.Sum(nil)[:16])
	}
}

// survey reads a source once to learn what its own and other sources' rows are judged by: configs, suppressions, erasures,
// decisions against, and the contents of keys that occur more than once. Of a rejected row it learns what speaks against others.
func (d *dryRunner) survey(ctx context.Context, sh *sheet, plan *mappings.Plan) error {
	prepare := func(p *passed) {
		for i := range p.rows.List {
			row := &p.rows.List[i]
			d.prepareRow(sh, p, row, !slices.ContainsFunc(row.Records, func(r mappings.RecordOut) bool { return d.teaches(sh, &r) }))
		}
	}
	if err := d.hear(ctx, sh, plan); err != nil {
		return err
	}
	return d.pass(ctx, sh, plan, prepare, func(p *passed) error {
		for i := range p.rows.List {
			row := &p.rows.List[i]
			d.cameBack(sh, plan, row)
			for k := range row.Partial {
				rec := &row.Partial[k].Record
				if speaks(rec) {
					d.facts.know(rec, fmt.Sprintf("%s row %d record %d", sh.src.Name, row.Num, k), sh.src.System, sh.src.obtained, standing{rejected: true})
				}
			}
			if row.Verdict != mappings.Accepted {
				continue
			}
			if records := p.records(i); records != nil {
				d.learnRow(sh, row, records)
			}
			d.facts.linkRow(p.subjectKeys(i))
		}
		return nil
	})
}

// teaches reports whether other rows may be judged by a record, beyond whom it speaks of.
func (d *dryRunner) teaches(sh *sheet, rec *mappings.RecordOut) bool {
	return rec.KeyDup || d.snap.kind == Mended || !rec.Entity.Event || opposes(&rec.Record) || d.facts.shared[[2]string{sh.src.System, rec.Entity.Name}]
}

// learnRow takes in an accepted row of the survey.
func (d *dryRunner) learnRow(sh *sheet, row *mappings.Row, records []identified) {
	st := d.standing(sh, records)
	untouched := sh.view.untouched(row.Block, row.Index)
	if untouched { // it stays rejected, but what it says against a consent is said
		st.rejected = true
	}
	for k := range records {
		x := &records[k]
		st.consent = x.Entity.Event
		if d.snap.kind == Mended && d.facts.heldState(x) != heldSame { // its key may be that of a row that is not here
			d.facts.group(x)
		}
		if untouched {
			d.facts.know(&x.Record, x.id(), x.system, sh.src.obtained, st)
		} else {
			d.facts.learn(*x, sh.src.obtained, st)
		}
	}
}

// standing tells whether an accepted row that speaks against others comes into the register, as far as the survey can know.
// Sources are surveyed configs first, so what the rules rest on is known by then, but for keys that occur more than once.
func (d *dryRunner) standing(sh *sheet, records []identified) (st standing) {
	if !slices.ContainsFunc(records, func(x identified) bool { return opposes(&x.Record) }) {
		return st
	}
	for k := range records {
		x := &records[k]
		if x.KeyDup || d.snap.kind == Mended { // which may meet the key of a row that was left out
			st.records = append(st.records, x.recordUID)
		}
		switch rule := d.decide(sh.src, sh.statements[x.Spec], x).rule; rule {
		case "", "row.known", "row.repeat", "key.multiple_match": // keys are judged when all are known
		default:
			st.rejected = true
		}
	}
	return st
}

// prepareRow works out what a row's records are called and whom they speak of; of a plain row only the latter.
func (d *dryRunner) prepareRow(sh *sheet, p *passed, row *mappings.Row, plain bool) {
	from := -1
	if row.Verdict == mappings.Accepted {
		if !plain {
			from = len(p.x)
		}
		for k := range row.Records {
			rec := &row.Records[k]
			keys := p.addKeys(&rec.Record, sh.src.System)
			if len(keys) > 0 {
				p.subject = append(p.subject, keys)
			}
			if !plain {
				p.x = append(p.x, d.identify(sh, rec, keys))
			}
		}
	}
	p.from = append(p.from, from)
	p.ends = append(p.ends, len(p.subject))
}

// identified is a record with its ids.
type identified struct {
	*mappings.RecordOut
	system         string
	keys           []importers.Key // of its subject
	uid, recordUID uuid.UUID
	content        [sha256.Size]byte
}

func (x *identified) id() string       { return x.uid.String() }
func (x *identified) recordID() string { return x.recordUID.String() }

func (d *dryRunner) identify(sh *sheet, rec *mappings.RecordOut, keys []importers.Key) identified {
	e := rec.Entity
	x := identified{RecordOut: rec, system: sh.src.System, keys: keys, content: register.ContentSum(&rec.Record)}
	x.recordUID = d.id.Record(sh.src.System, e.Name, rec.Key)
	x.uid = x.recordUID
	if e.Event {
		x.uid = d.id.Event(sh.src.System, e.Name, rec.Key, x.content)
	}
	if d.facts.shared[[2]string{sh.src.System, e.Name}] {
		rec.KeyDup = true // another source may bring the same key
	}
	return x
}

// syncRename gives a finished folder its name and makes both durable.
func syncRename(from, to string) error {
	if err := os.RemoveAll(to); err != nil {
		return &FileError{Path: to, Message: "can't be replaced: " + pathless(err), Remedy: "remove it and run dryrun again", Err: err}
	}
	if err := os.Rename(from, to); err != nil {
		return &FileError{Path: to, Message: "can't be written: " + err.Error(), Remedy: "check the folder's permissions and run dryrun again", Err: err}
	}
	for _, dir := range []string{to, filepath.Dir(to)} {
		f, err := os.Open(dir)
		if err != nil {
			return &FileError{Path: dir, Message: pathless(err), Remedy: "check the folder's permissions", Err: err}
		}
		err = f.Sync()
		f.Close()
		if err != nil {
			return &FileError{Path: dir, Message: pathless(err), Remedy: "check the disk", Err: err}
		}
	}
	return nil
}
