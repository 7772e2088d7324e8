package pipeline

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"sheetlift/importers"
	"sheetlift/importers/register"
	"sheetlift/mappings"
	"sheetlift/pipeline/finding"
	"sheetlift/pipeline/ledger"
	"sheetlift/pipeline/store"
)

// DryRun puts every row of every source through the code that decides what is imported, and stages the accepted records. It
// writes nothing to the register and may be run at any time but while an import of the snapshot is unfinished; rows that the register
// knows already are skipped then.
func (p *Pipeline) DryRun(ctx context.Context) (*DryRunResult, error) {
	p, err := p.newest(ctx)
	if err != nil {
		return nil, err
	}
	in, err := p.dryRunInputs(ctx)
	if err != nil {
		return nil, err
	}
	r, err := p.judge(ctx, in)
	if other := in.bag(); other != nil { // before all that was found in it
		return nil, other
	}
	return r, err
}

// judge is the dry-run of what is frozen and mapped.
func (p *Pipeline) judge(ctx context.Context, in *dryRunInputs) (*DryRunResult, error) {
	if err := p.refuseUndo(ctx, DryRun); err != nil {
		return nil, err
	}
	begun, err := p.begun(ctx)
	if err != nil {
		return nil, err
	}
	if begun != nil {
		return nil, begun.refuse(DryRun, ", and a dry-run would take what is in for known and judge the rest alone")
	}
	lost := p.restageEarlier(ctx, DryRun) // of no matter if this dry-run is done already
	if imp, _, err := p.currentImport(ctx); err != nil {
		return nil, err
	} else if imp != nil {
		dry, rec, err := p.importedDryRun(ctx, imp)
		if err == nil && dry != nil && dry.Map == in.mapped.Digest && dry.Config == p.batch.digest { // what changed is judged anew
			err = p.restageOwn(ctx, DryRun, dry, rec, lost)
		}
		var other *IntegrityError
		if errors.As(err, &other) { // reconcile will say so again; rows can be judged all the same
			p.remark(err.Error())
		} else if err != nil {
			return nil, err
		}
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
	inputs := []string{in.mapped.Digest, p.batch.digest, fmt.Sprint(own), fmt.Sprint(others)}
	if p.snap.kind == Mended && !p.stubborn {
		inputs = append(inputs, "anew") // what an earlier version judged is not done
	}
	if !p.literal {
		inputs = append(inputs, "slips")
	}
	key := p.key(DryRun, inputs...)
	dir := p.workDir(DryRun, key)
	r, err := execute(ctx, p, task[DryRunResult]{
		stage: DryRun, key: key,
		pre:   map[string]any{"map": in.mapped.Digest, "config": p.batch.digest, "revision": others},
		check: func(_ context.Context, r *DryRunResult) error { return dryRunFiles(r, dir) },
		do: func(ctx context.Context, op *ledger.Op, r *DryRunResult) error {
			if lost != nil {
				return lost
			}
			p := p
			if op == nil { // its files are made anew
				if p, err = p.listingAs(ctx, key); err != nil {
					return err
				}
			}
			r.Outcome = p.begin(DryRunSchema)
			r.Manifest, r.Map, r.Config = in.frozen.Manifest, in.mapped.Digest, p.batch.digest
			return p.dryRun(ctx, in, dir, r)
		},
	})
	if err == nil {
		err = p.onlySaid(lost)
	}
	return r, err
}

// listingAs gives a pipeline that judges as the recorded dry-run did: those of earlier versions list no marks of known rows, say.
func (p *Pipeline) listingAs(ctx context.Context, id string) (*Pipeline, error) {
	ops, err := p.operations(ctx)
	if err != nil {
		return nil, err
	}
	q := *p
	for _, op := range ops {
		if op.ID != id || op.State != ledger.Succeeded {
			continue
		}
		r := new(DryRunResult)
		if err := json.Unmarshal(op.Result, r); err != nil {
			return nil, fmt.Errorf("recorded result of %s: %w", DryRun, err)
		}
		q.unmarked, q.stubborn, q.literal = r.Known == nil, r.Anew == nil, !r.Slips
	}
	return &q, nil
}

// dryRunInputs are what a dry-run rests on, after its gate held.
type dryRunInputs struct {
	frozen *FreezeResult
	bag    func() error // waits until the bag is verified, and gives what is wrong with it
	mapped *MapResult
	maps   []*mappings.Mapping
}

func (p *Pipeline) dryRunInputs(ctx context.Context) (*dryRunInputs, error) {
	in := &dryRunInputs{}
	var err error
	if in.frozen, in.bag, err = p.frozenAhead(ctx, DryRun); err != nil {
		return nil, err
	}
	if err := p.mappedInputs(ctx, in); err != nil {
		return nil, cmp.Or(in.bag(), err)
	}
	return in, nil
}

// mappedInputs puts in what map left.
func (p *Pipeline) mappedInputs(ctx context.Context, in *dryRunInputs) error {
	mapped, rec, err := last[MapResult](ctx, p, Map)
	if err != nil {
		return err
	}
	if rec == nil {
		return &GateError{Stage: DryRun, Why: "the mappings are not compiled yet", Remedy: "run `sheetlift map` first"}
	}
	if mapped.Manifest != in.frozen.Manifest {
		return &GateError{Stage: DryRun, Why: "the mappings were compiled for another frozen manifest", Remedy: "run `sheetlift map` again"}
	}
	in.mapped = mapped
	if in.maps, err = p.loadMappings(); err != nil {
		return err
	}
	if why := p.mappingDrift(mapped, in.maps); why != "" {
		return &GateError{Stage: DryRun, Why: why + " since map", Remedy: "run `sheetlift map` again"}
	}
	return nil
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

// dryRunner is one dry-run under way.
type dryRunner struct {
	*Pipeline
	rec       *recorder
	rejected  *rejectedWriter
	unsaid    *unrecordedWriter
	dir       string
	facts     *facts
	res       *DryRunResult
	today     string
	sheets    []*sheet         // of the batch's sources
	plans     []*mappings.Plan // of theirs
	came      map[string]*came // by source: see leftOut
	token     func(kind, value string) string
	given     heldGiven
	tookBack  []finding.Finding                                                // see tookPlace
	elsewhere []spoken                                                         // what speaks against consents in rows that are none of the snapshot's
	stored    func(e *importers.Entity, id string) ([]*register.Stored, error) // what the register holds under an id
	obtained  map[string]int64                                                 // see firstObtained
	marked    map[uuid.UUID]bool                                               // records that known rows vouch for
	freeing   sync.WaitGroup                                                   // gives the memory back that a source took to be read
}

func (p *Pipeline) dryRun(ctx context.Context, in *dryRunInputs, dir string, r *DryRunResult) (err error) {
	defer func() {
		if err != nil { // a bag that is another one is why
			err = cmp.Or(in.bag(), err)
		}
	}()
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
	d := &dryRunner{Pipeline: p, rec: rec, rejected: rejected, came: map[string]*came{}, marked: map[uuid.UUID]bool{}, dir: partial, res: r, facts: newFacts(), token: token(key), today: p.batch.newestObtained().Format(time.DateOnly)}
	r.Cases.AsOf = d.today
	if p.snap.kind == Mended && !p.stubborn {
		r.Anew = &AnewRows{}
	}
	d.unsaid = newUnrecordedWriter(d)
	defer d.unsaid.abort()
	r.Entities = map[string]*EntityCount{}
	for i := range importers.Entities {
		r.Entities[importers.Entities[i].Name] = &EntityCount{ByConfidence: map[string]int{}, Missing: map[string]int{}}
	}
	d.stored = func(e *importers.Entity, id string) (list []*register.Stored, err error) {
		err = p.db.View(ctx, func(tx *store.Tx) error {
			return register.Each(ctx, tx, e, p.id.Tenant, register.Filter{ID: id}, func(st *register.Stored) error {
				if out, err := p.leftAside(st.ID); err != nil || out {
					return err
				}
				list = append(list, st)
				return nil
			})
		})
		return list, err
	}
	defer d.facts.close()
	d.facts.keepAll = p.snap.kind == Delta // what the register has of a withdrawal that comes again is asked for by its id
	if err := p.registerFacts(ctx, d.facts); err != nil {
		return err
	}
	defer func() {
		for _, s := range d.sheets {
			s.close()
		}
	}()
	if err := d.openSources(ctx, in); err != nil {
		return err
	}
	if err := d.judgeSources(ctx, in); err != nil {
		return err
	}
	if err := in.bag(); err != nil { // nothing is made that rests on another
		return err
	}
	r.StillGiven = len(d.given.shown)
	r.Complete, r.Passed = true, !rec.fatal
	if err := rec.close(&r.Outcome, dir); err != nil {
		return err
	}
	if r.Listed, err = rejected.close(); err != nil {
		return err
	}
	if r.Unrecorded, err = d.unsaid.close(); err != nil {
		return err
	}
	if err := putInPlace(partial, dir); err != nil {
		return err
	}
	if p.without != nil { // made anew: what they are, and where, is recorded
		return nil
	}
	return p.db.Update(ctx, func(tx *store.Tx) error {
		for _, files := range [][]StagedFile{r.Staged, r.knownFiles()} {
			for i := range files {
				f := &files[i]
				f.Path = filepath.Join(dir, stagedName(f.Source, f.Entity, f.Part))
				if err := recordCopy(ctx, tx, p.id.Tenant, p.batch.Name, Copy{Kind: "staged", Digest: f.SHA256, Place: f.Path}); err != nil {
					return err
				}
			}
		}
		if r.Unrecorded == nil {
			return nil
		}
		return recordCopy(ctx, tx, p.id.Tenant, p.batch.Name, Copy{Kind: "staged", Digest: r.Unrecorded.SHA256, Place: filepath.Join(dir, unrecordedFile)})
	})
}

// openSources opens the sheets of all sources and compiles their mappings.
func (d *dryRunner) openSources(ctx context.Context, in *dryRunInputs) error {
	for i := range d.batch.Sources {
		sh, err := d.openSheetAhead(ctx, in.frozen, &d.batch.Sources[i], in.maps[i], d.token)
		if err != nil {
			return err
		}
		d.sheets = append(d.sheets, sh)
		if sh.most == 0 {
			sh.most = rowsAtOnce
		}
		sh.profiled = in.mapped.Sources[i].Profile
		plan, found, err := d.plan(ctx, sh, in.maps[i], in.mapped)
		if err != nil {
			return sh.checked(err)
		}
		for _, f := range found {
			if err := d.rec.Add(f); err != nil {
				return err
			}
		}
		d.plans = append(d.plans, plan)
	}
	d.facts.shared = sharedEntities(d.batch, in.maps)
	return nil
}

// judgeSources surveys all sources, then decides their rows.
func (d *dryRunner) judgeSources(ctx context.Context, in *dryRunInputs) error {
	// Configs first: what points to them must know which rows of theirs were accepted.
	order := make([]int, len(d.sheets))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return rank(in.maps[a]) - rank(in.maps[b]) })
	left := map[string]int{} // record rules by entity that are not decided yet
	for _, m := range in.maps {
		for _, rec := range m.Records {
			left[rec.Entity]++
		}
	}
	sources := make([]DryRunSource, len(d.sheets))
	files := make([][]StagedFile, len(d.sheets))
	settle := func(list []int) (err error) {
		for _, i := range list {
			if sources[i], files[i], err = d.settle(ctx, in.frozen, d.sheets[i], d.plans[i]); err != nil {
				return err
			}
			for _, rec := range in.maps[i].Records {
				if left[rec.Entity]--; left[rec.Entity] == 0 {
					d.facts.settled(rec.Entity)
				}
			}
		}
		return nil
	}
	if err := d.wentOut(ctx); err != nil {
		return err
	}
	early := d.configsOnly(in.maps, order)
	d.facts.links.Asks(d.facts.elsewhere) // all that is linked from here on is this batch's
	for n, i := range order {
		if n == early {
			if err := settle(order[:early]); err != nil {
				return err
			}
		}
		if err := d.survey(ctx, d.sheets[i], d.plans[i]); err != nil {
			return err
		}
	}
	if early == len(order) {
		early = 0 // all are left to be settled
	}
	if err := d.leftOut(ctx); err != nil {
		return err
	}
	d.facts.links.Asks(false)
	if err := d.followKeys(ctx); err != nil {
		return err
	}
	d.facts.literal = d.literal
	if err := d.facts.link(); err != nil {
		return err
	}
	d.res.Slips = d.res.Slips || d.facts.slips
	d.facts.settleMixed()
	if d.snap.kind == "" { // in a later snapshot keys may come to conflict while rows are decided
		d.facts.judgeAgainst()
	}
	if err := d.findHeldGiven(ctx, in.frozen.Number); err != nil {
		return err
	}
	d.freeing.Wait()
	if err := settle(order[early:]); err != nil {
		return err
	}
	d.res.Sources = sources
	for i := range sources {
		d.res.Rows.add(sources[i].Rows)
		for _, f := range files[i] {
			if f.Part == partKnown {
				d.res.Known.Files = append(d.res.Known.Files, f)
			} else {
				d.res.Staged = append(d.res.Staged, f)
			}
		}
	}
	if err := d.againstElsewhere(in.frozen); err != nil {
		return err
	}
	for _, f := range d.tookBack {
		if err := d.rec.Add(f); err != nil {
			return err
		}
	}
	return d.tellAside()
}

// plan compiles the mapping of a sheet by the profile that map made, if it is at hand; the survey then makes it anew and compares.
func (d *dryRunner) plan(ctx context.Context, sh *sheet, m *mappings.Mapping, mapped *MapResult) (*mappings.Plan, []finding.Finding, error) {
	if profile := recallProfile(profilePath(filepath.Dir(mapped.FindingsFile), sh.src.Name), sh.profiled); profile != nil && sh.view == nil {
		plan, found, err := mappings.Compile(m, profile, sh.env)
		if err == nil {
			sh.profiler, err = mappings.NewProfiler(m, sh.env)
		}
		if err == nil {
			sh.profiler.TakeRemarks(profile)
		}
		return plan, found, err
	}
	sh.keep = true
	plan, profile, found, err := d.compile(ctx, DryRun, sh, m)
	if err == nil {
		err = sameProfile(sh.src, profile, sh.profiled)
	}
	return plan, found, err
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

// configsOnly is how many sources, in their order, may be settled before the others are surveyed: those that bring configs, if they
// bring nothing else. All that they are decided by is known then: an export after the first may bring back rows of any source.
func (d *dryRunner) configsOnly(maps []*mappings.Mapping, order []int) int {
	config := func(r mappings.RecordSpec) bool { return importers.ByName(r.Entity).Config }
	n := 0
	for n < len(order) && slices.ContainsFunc(maps[order[n]].Records, config) {
		if d.snap.kind != "" || slices.ContainsFunc(maps[order[n]].Records, func(r mappings.RecordSpec) bool { return !config(r) }) {
			return 0
		}
		n++
	}
	return n
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

// alone reports whether a source is so small that it is read before others have begun.
func (d *dryRunner) alone(sh *sheet) bool {
	if d.spread {
		return false
	}
	st, err := sh.file.Stat()
	return sh.view != nil || err == nil && st.Size() < smallFile
}

const smallFile = 256 << 10

// rowsAtOnce is how many rows are worked on at once: what comes of them stays in the processor's caches until the next step wants it.
// With thousands a dry-run takes a third longer.
const rowsAtOnce = 512

func sameProfile(s *Source, got *mappings.Profile, want string) error {
	if got.Digest() == want {
		return nil
	}
	return &IntegrityError{What: "profile of source " + s.Name, Detail: "is not the one that map recorded", Remedy: "run `sheetlift map` again with this version"}
}

func (r *recordIDs) id() string       { return r.uid.String() }
func (r *recordIDs) recordID() string { return r.recordUID.String() }

// putInPlace gives a finished folder its name. It does not wait for the disk: see docs/decisions/0015.
func putInPlace(from, to string) error {
	if err := os.RemoveAll(to); err != nil {
		return &FileError{Path: to, Message: "can't be replaced: " + pathless(err), Remedy: "remove it and run dryrun again", Err: err}
	}
	if err := os.Rename(from, to); err != nil {
		return &FileError{Path: to, Message: "can't be written: " + err.Error(), Remedy: "check the folder's permissions and run dryrun again", Err: err}
	}
	return nil
}
