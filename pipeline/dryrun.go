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
	"strings"
	"time"

	"github.com/google/uuid"

	"sheetlift/importers"
	"sheetlift/importers/register"
	"sheetlift/importers/source"
	"sheetlift/importers/staged"
	"sheetlift/mappings"
	"sheetlift/pipeline/finding"
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
	stored   func(e *importers.Entity, id string) ([]*register.Stored, error) // what the register holds under an id
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
	d := &dryRunner{Pipeline: p, rec: rec, rejected: rejected, dir: partial, res: r, facts: newFacts(), today: p.batch.newestObtained().Format(time.DateOnly)}
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
	for i, sh := range sheets {
		if err := d.survey(ctx, sh, plans[i]); err != nil {
			return err
		}
	}
	// Configs first: what points to them must know which rows of theirs were accepted.
	order := make([]int, len(sheets))
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
// decisions against, and the contents of keys that occur more than once.
func (d *dryRunner) survey(ctx context.Context, sh *sheet, plan *mappings.Plan) error {
	return sh.each(ctx, func(b *source.Block) error {
		return plan.Apply(b, finding.SinkFunc(func(finding.Finding) error { return nil }), func(row *mappings.Row) error {
			if row.Verdict != mappings.Accepted {
				return nil
			}
			untouched := sh.view.untouched(row.Block, row.Index)
			for i := range row.Records {
				x := d.identify(sh, &row.Records[i])
				if untouched { // it stays rejected, but what it says against a consent is said
					d.facts.know(&x.Record, x.id, x.system, sh.src.obtained)
				} else {
					d.facts.learn(x, sh.src.obtained)
				}
			}
			return nil
		})
	})
}

// identified is a record with its ids.
type identified struct {
	*mappings.RecordOut
	system         string
	uid, recordUID uuid.UUID
	id, recordID   string
	content        string
}

func (d *dryRunner) identify(sh *sheet, rec *mappings.RecordOut) identified {
	e := rec.Entity
	x := identified{RecordOut: rec, system: sh.src.System, content: register.ContentDigest(&rec.Record)}
	x.recordUID = d.id.Record(sh.src.System, e.Name, rec.Key)
	x.recordID = x.recordUID.String()
	x.uid, x.id = x.recordUID, x.recordID
	if e.Event {
		x.uid = d.id.Event(sh.src.System, e.Name, rec.Key, x.content)
		x.id = x.uid.String()
	}
	if d.facts.shared[[2]string{sh.src.System, e.Name}] {
		rec.KeyDup = true // another source may bring the same key
	}
	return x
}

// settle decides every row of a source and stages the records of the accepted ones.
func (d *dryRunner) settle(ctx context.Context, in *FreezeResult, sh *sheet, plan *mappings.Plan) (DryRunSource, []StagedFile, error) {
	s := &settler{
		dryRunner: d, sh: sh, plan: plan, writers: map[string]*staged.Writer{}, part: in.part(sh.src.Name),
		out: DryRunSource{Source: sh.src.Name, File: sh.src.File, Sheet: sh.env.Sheet, Rejected: map[string]int{}, Skipped: map[string]int{},
			Tolerance: sh.src.Tolerance.Rows, Reason: sh.src.Tolerance.Reason, Owner: sh.src.Tolerance.Owner},
	}
	defer s.abort()
	if err := s.expect(ctx); err != nil {
		return s.out, nil, err
	}
	sink := finding.SinkFunc(func(f finding.Finding) error {
		s.fault(f)
		return d.rec.Add(f)
	})
	err := sh.each(ctx, func(b *source.Block) error {
		d.opt.Progress(DryRun, sh.src.Name, int64(s.out.Rows.Read), 0)
		return plan.Apply(b, sink, s.row)
	})
	if err == nil {
		err = s.strays()
	}
	if err == nil {
		err = s.vanished()
	}
	if err != nil {
		return s.out, nil, err
	}
	if s.out.Rows.Rejected > s.out.Tolerance {
		err := add(d.rec, "source.over_tolerance", sh.src, sh.src.File, sh.env.Sheet, func(f *finding.Finding) {
			f.Rows = s.out.Rows.Rejected
			f.Message = fmt.Sprintf("%d rows are rejected, the tolerance is %d", s.out.Rows.Rejected, s.out.Tolerance)
		})
		if err != nil {
			return s.out, nil, err
		}
	}
	files, err := s.close()
	return s.out, files, err
}

// settler decides the rows of one source.
type settler struct {
	*dryRunner
	sh      *sheet
	plan    *mappings.Plan
	out     DryRunSource
	writers map[string]*staged.Writer // by name of the staged file
	part    *FrozenPart               // of a snapshot after the initial one
	faults  []rejectedBy              // of the row under way
	gone    map[uuid.UUID]bool        // delta: records of the register that no row has given so far
}

func (s *settler) abort() {
	for _, w := range s.writers {
		w.Abort()
	}
}

// close finishes the staged files, in the order of entities.
func (s *settler) close() ([]StagedFile, error) {
	var files []StagedFile
	for i := range importers.Entities {
		for _, part := range stagedParts {
			name := stagedName(s.sh.src.Name, importers.Entities[i].Name, part)
			w := s.writers[name]
			if w == nil {
				continue
			}
			delete(s.writers, name)
			rows, digest, err := w.Close()
			if err != nil {
				return nil, &FileError{Path: s.dir, Message: "staged files can't be written: " + err.Error(), Remedy: "make room on the disk and run dryrun again", Err: err}
			}
			files = append(files, StagedFile{Entity: importers.Entities[i].Name, Source: s.sh.src.Name, Part: part, Rows: rows, SHA256: digest})
		}
	}
	return files, nil
}

func (s *settler) reject(row *mappings.Row, rule string) error {
	s.out.Rows.Rejected++
	s.out.Rejected[rule]++
	return s.rejected.add(&rejectedRow{Source: s.sh.src.Name, Row: row.Num, Rule: rule, Faults: s.faults})
}

func (s *settler) skip(rule string) {
	s.out.Rows.Skipped++
	s.out.Skipped[rule]++
}

// row decides one row: rejected if any of its records is, skipped if none brings anything new, accepted otherwise.
func (s *settler) row(row *mappings.Row) error {
	defer func() { s.faults = s.faults[:0] }()
	s.out.Rows.Read++
	if len(s.gone) > 0 && row.Verdict != mappings.Accepted {
		for _, x := range s.plan.Named(row) {
			delete(s.gone, s.id.Record(s.sh.src.System, x.Entity.Name, x.Key))
		}
	}
	switch row.Verdict {
	case mappings.Rejected:
		return s.reject(row, row.Rule)
	case mappings.Skipped:
		s.skip(row.Rule)
		return nil
	}
	if s.sh.view.untouched(row.Block, row.Index) {
		if err := s.report(row, "row.unmended", "", nil, nil); err != nil {
			return err
		}
		return s.reject(row, "row.unmended")
	}
	var keep []judged
	known, repeats := 0, 0
	first := ""
	for i := range row.Records {
		x := s.identify(s.sh, &row.Records[i])
		delete(s.gone, x.recordUID)
		j, rule, err := s.judge(row, x)
		if err != nil {
			return err
		}
		switch rule {
		case "":
			if !slices.ContainsFunc(keep, func(k judged) bool { return k.id == j.id }) { // one row may say a thing twice
				keep = append(keep, j)
			}
		case "row.repeat":
			repeats++
		case "row.known":
			known++
		default:
			if first == "" {
				first = rule
			}
		}
	}
	switch {
	case first != "":
		return s.reject(row, first)
	case len(keep) == 0 && known > 0:
		s.skip("row.known")
		return s.report(row, "row.known", "", nil, nil)
	case len(keep) == 0 && repeats > 0:
		s.skip("row.repeat")
		return s.report(row, "row.repeat", "", nil, nil)
	case len(keep) == 0:
		s.skip("row.no_record")
		return nil
	}
	s.out.Rows.Accepted++
	rowDigest := row.Block.RowDigest(row.Index)
	hexDigest := hex.EncodeToString(rowDigest[:])
	for i := range keep {
		if err := s.stage(row, &keep[i], hexDigest); err != nil {
			return err
		}
	}
	return nil
}

// judged is a record that may be staged.
type judged struct {
	identified
	verdict importers.Verdict // consent only
	part    string            // of the staged file
	version int64             // correction: the version it is made against
}

// report adds a finding about a row, or about one field of one of its records.
func (s *settler) report(row *mappings.Row, rule, field string, x *identified, edit func(*finding.Finding)) error {
	f := finding.New(rule)
	f.Source, f.File, f.Sheet = s.sh.src.Name, s.sh.src.File, s.sh.env.Sheet
	f.Row, f.Line = row.Num, row.Line
	if x != nil {
		f.SubjectToken = s.subjectToken(x)
		if field != "" {
			f.Field = x.Entity.Name + "." + field
			if i := x.Entity.Field(field); i >= 0 && i < len(x.Columns) && len(x.Columns[i]) > 0 {
				f.Column = source.Letters(x.Columns[i][0])
				f.Cell = source.Ref(x.Columns[i][0], row.Num)
			}
		}
	}
	if edit != nil {
		edit(&f)
	}
	s.fault(f)
	return s.rec.Add(f)
}

func (s *settler) subjectToken(x *identified) string {
	if keys := importers.SubjectKeys(&x.Record, x.system); len(keys) > 0 && s.sh.env.Token != nil {
		return s.sh.env.Token(keys[0].Kind, keys[0].Value)
	}
	return ""
}

// judge applies the rules that look beyond the row. It returns the rule that rejects or skips the record, or "".
func (s *settler) judge(row *mappings.Row, x identified) (judged, string, error) {
	j := judged{identified: x}
	refuse := func(rule, field string, edit func(*finding.Finding)) (judged, string, error) {
		return j, rule, s.report(row, rule, field, &x, edit)
	}
	if x.KeyDup {
		switch s.facts.keyState(&x) {
		case keyConflict:
			return refuse("key.multiple_match", "", nil)
		case keyRepeat:
			return j, "row.repeat", nil
		}
	}
	switch s.facts.heldState(&x) {
	case heldSame:
		rule, err := s.repeated(&x)
		if err == nil && rule != "row.known" {
			err = s.report(row, rule, "", &x, nil)
		}
		return j, rule, err
	case heldOther:
		ok, err := s.corrects(&j)
		if err != nil {
			return j, "", err
		}
		if !ok {
			return refuse("register.conflict", "", nil)
		}
	}
	if s.snap.kind == Delta && x.Entity.Event && x.Get("status").Text != importers.StatusGiven {
		j.part = partAgainst
	}
	for i := range x.Entity.Fields {
		f := &x.Entity.Fields[i]
		if f.Ref == "" || !x.Values[i].Set || s.facts.config(f.Ref, x.Values[i].Text) {
			continue
		}
		return refuse("ref.not_found", f.Name, func(fd *finding.Finding) {
			fd.Message = fmt.Sprintf("the %s that %s.%s points to is neither in this batch nor in the register", f.Ref, x.Entity.Name, f.Name)
		})
	}
	if s.sh.src.RetentionApproved == nil {
		if at, _, ok := importers.RetentionExpiry(&x.Record, s.facts.retention, s.sh.src.obtained); ok && at <= s.sh.src.obtained {
			return refuse("retention.expired", "", nil)
		}
	}
	if !x.Entity.Event {
		return j, "", nil
	}
	return s.judgeConsent(row, j)
}

// judgeConsent applies the consent rule and the precedence of what speaks against it.
func (s *settler) judgeConsent(row *mappings.Row, j judged) (judged, string, error) {
	x := &j.identified
	facts := importers.Facts{PurposeKnown: x.Get("purpose").Set, ObtainedAt: s.sh.src.obtained, Statements: s.sh.statements[x.Spec]}
	id, ver, wording := x.Get("notice_id"), x.Get("notice_version"), x.Get("notice_digest")
	switch {
	case id.Set && ver.Set || wording.Set:
		n := s.facts.notice(id.Text, ver.Text, wording.Text)
		if n == nil {
			field := "notice_id"
			if !id.Set || !ver.Set {
				field = "notice_digest"
			}
			return j, "ref.not_found", s.report(row, "ref.not_found", field, x, func(f *finding.Finding) {
				f.Message = "the notice version that the row names is neither in this batch nor in the register"
			})
		}
		facts.NoticeFound = true
		if at := x.Get("occurred_at"); at.Set {
			facts.NoticeInForce = importers.InForce(n.from, n.to, *at)
			if !facts.NoticeInForce && id.Origin == importers.FromRow {
				if err := s.report(row, "notice.not_in_force", "notice_version", x, nil); err != nil {
					return j, "", err
				}
			}
		}
	}
	j.verdict = importers.Evaluate(importers.EvidenceOf(&x.Record, x.Columns, facts))
	ev := importers.EventOf(&x.Record, x.id, j.verdict.Class, s.sh.src.obtained)
	keys := importers.SubjectKeys(&x.Record, x.system)
	if erased, _ := importers.Erased(ev, s.facts.erasuresOf(keys)); erased {
		return j, "subject.erased", s.report(row, "subject.erased", "", x, nil)
	}
	if ev.Status != importers.StatusGiven {
		return j, "", nil
	}
	against, suppressions := s.facts.against(ev.Scope, keys)
	if over, why := importers.Overruled(ev, against, suppressions); over {
		rule := "consent.overruled"
		if strings.HasPrefix(why, "suppressed_") {
			rule = "suppression.overrules"
		}
		return j, "", s.report(row, rule, "status", x, func(f *finding.Finding) {
			f.Message = strings.TrimSuffix(f.Message, ".") + " (" + why + ")."
		})
	}
	return j, "", nil
}

// stage appends one record to its staged file and counts it.
func (s *settler) stage(row *mappings.Row, j *judged, rowDigest string) error {
	e := j.Entity
	name := stagedName(s.sh.src.Name, e.Name, j.part)
	w := s.writers[name]
	if w == nil {
		var err error
		if w, err = staged.Create(filepath.Join(s.dir, name), e, moreColumns(j.part)...); err != nil {
			return &FileError{Path: s.dir, Message: "staged files can't be written: " + err.Error(), Remedy: "make room on the disk and run dryrun again", Err: err}
		}
		s.writers[name] = w
	}
	derived, err := derive(j)
	if err != nil {
		return err
	}
	if j.part == partCorrect {
		derived = append(derived, staged.Cell{Int: j.version})
		s.out.Corrected++
	}
	o := staged.Origin{
		ID: j.id, RecordID: j.recordID, System: j.system, Key: j.Key, ContentDigest: j.content,
		FileDigest: s.sh.env.FileDigest, Sheet: s.sh.env.Sheet, Row: row.Num, Line: row.Line, RowDigest: rowDigest,
	}
	if err := w.Append(&o, &j.Record, derived); err != nil {
		return &FileError{Path: s.dir, Message: "staged files can't be written: " + err.Error(), Remedy: "make room on the disk and run dryrun again", Err: err}
	}
	s.facts.taken(&j.identified)
	if e.Config {
		s.facts.accept(&j.Record)
	}
	n := s.res.Entities[e.Name]
	n.Records++
	if e.Event {
		n.ByConfidence[string(j.verdict.Confidence)]++
		if j.verdict.Class == importers.Receipt {
			n.Receipts++
		} else {
			n.LegacyAssertions++
		}
		for _, m := range j.verdict.Missing {
			n.Missing[m]++
		}
	}
	if e.Name == "case" {
		s.countCase(&j.Record)
	}
	return nil
}

// countCase counts an open case by how it stands on the day of the newest export.
func (d *dryRunner) countCase(rec *importers.Record) {
	if rec.Get("status").Text != "open" {
		return
	}
	d.res.Cases.Open++
	switch caseDue(rec, d.today) {
	case importers.Overdue:
		d.res.Cases.Overdue++
	case importers.DueSoon:
		d.res.Cases.DueSoon++
	}
}

// dueSoonDays is how many days ahead an open case is called due soon.
const dueSoonDays = 7

func caseDue(rec *importers.Record, today string) importers.DueState {
	_, state := importers.Due(importers.Day(*rec.Get("received_at")), rec.Get("due_at").Text, rec.Get("extended_to").Text, today, dueSoonDays)
	return state
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
