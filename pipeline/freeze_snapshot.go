package pipeline

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"sheetlift/manifests"
	"sheetlift/pipeline/finding"
	"sheetlift/pipeline/ledger"
)

// SnapshotSpec asks for a further snapshot of a batch.
type SnapshotSpec struct {
	Kind       string            // Mended or Delta
	Files      []string          // paths; of a delta, each named as a file of batch.yaml is
	Sources    map[string]string // source name to path, for files of other names
	ObtainedAt string            // RFC 3339: when a delta's exports were made; default the files' modification time
}

// given is a file that a snapshot takes in.
type given struct {
	path, label string // label is what it is called from now on: in the bag, in findings
	source      string // named with it, if any
	digest      string
	size        int64
	obtained    time.Time
	stated      bool // the time is
}

// FreezeSnapshot takes further files into the batch as a bag of their own that names the digest of the one before: mended rejects,
// or fresh exports. batch.yaml stays as it is. The snapshot before must be imported, because from now on the gates look at this one;
// a further one that turned out wrong before its import began may be replaced (see replaces). The same files again are the same
// snapshot.
func (p *Pipeline) FreezeSnapshot(ctx context.Context, spec SnapshotSpec) (*FreezeResult, error) {
	if spec.Kind != Mended && spec.Kind != Delta {
		return nil, &ConfigError{File: p.batch.path, Message: fmt.Sprintf("there is no snapshot of kind %q", spec.Kind), Remedy: "use --snapshot mended or --snapshot delta"}
	}
	if err := p.refuseUndo(ctx, Freeze); err != nil {
		return nil, err
	}
	if err := p.holdFiles(ctx); err != nil {
		return nil, err
	}
	all, undone, err := p.freezes(ctx)
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, &GateError{Stage: Freeze, Why: "the batch has no initial snapshot yet", Remedy: "run `sheetlift run` first; mended rows and deltas come after it"}
	}
	files, err := p.givenFiles(spec)
	if err != nil {
		return nil, err
	}
	highest := all[len(all)-1].Number
	live := slices.DeleteFunc(slices.Clone(all), func(f *FreezeResult) bool { return f.Number > 0 && f.Number <= undone.newest() })
	before := live[len(live)-1]
	again := before.Kind == spec.Kind && sameGiven(before, files)
	otherTime := ""
	if again && spec.Kind == Delta {
		otherTime = p.otherTime(before, files)
	}
	q := p.initial()
	q.snap = snapshot{name: fmt.Sprintf("%s-%d", spec.Kind, highest+1), kind: spec.Kind}
	previous := before.Manifest
	var pending *GateError // the one before is not imported
	if again && otherTime == "" {
		q.snap.name, previous = before.Snapshot, before.Previous
		highest = before.Number - 1
	} else if wait, err := p.imported(ctx, before); err != nil {
		return nil, err
	} else if otherTime != "" && (wait == nil || wait.begun) {
		return nil, &GateError{Stage: Freeze, Why: fmt.Sprintf("snapshot %s has this file, obtained at %s, and its import has begun", before.Snapshot, otherTime),
			Remedy: "leave --obtained-at out if that time is right; else take the batch back with `sheetlift undo`, import it anew, and freeze the file again with the right one"}
	} else if wait != nil {
		if before.Number == 0 || before.Kind != spec.Kind || wait.begun {
			return nil, wait.gate
		}
		pending, live = wait.gate, live[:len(live)-1]
	}
	if err := p.newerThan(ctx, slices.DeleteFunc(slices.Clone(live), func(f *FreezeResult) bool { return again && f == before }), files); err != nil {
		return nil, err
	}
	for q.snap.name != before.Snapshot && q.occupied(files, previous) { // by a freeze that died and was given up
		highest++
		q.snap.name = fmt.Sprintf("%s-%d", spec.Kind, highest+1)
	}
	inputs := []string{spec.Kind, previous}
	for _, f := range files {
		inputs = append(inputs, f.label, f.source, f.digest)
	}
	key := q.key(Freeze, inputs...)
	return execute(ctx, q, task[FreezeResult]{
		stage: Freeze, key: key,
		pre:   map[string]any{"manifest": previous},
		check: func(_ context.Context, r *FreezeResult) error { return q.verifyBag(r) },
		do: func(ctx context.Context, _ *ledger.Op, r *FreezeResult) error {
			r.Outcome = q.begin(FreezeSchema)
			r.ByRule = []RuleCount{}
			r.Kind, r.Number, r.Previous = spec.Kind, highest+1, previous
			if spec.Kind == Mended {
				r.Parts, err = q.mendedParts(ctx, live, files)
				if pending != nil && errors.As(err, new(*ConfigError)) {
					return pending // its rows went out from the very snapshot that is waiting
				}
			} else {
				err = q.deltaParts(ctx, files, q.workDir(Freeze, key), r)
			}
			if err != nil {
				return err
			}
			if pending != nil && !replaces(r, before) {
				return pending
			}
			return q.freezeGiven(ctx, files, r)
		},
	})
}

// waiting says that a snapshot is not imported.
type waiting struct {
	gate  *GateError
	begun bool // its import has begun
}

// imported holds the gate of a further snapshot: the one before is in the register.
func (p *Pipeline) imported(ctx context.Context, before *FreezeResult) (*waiting, error) {
	q, err := p.at(before)
	if err != nil {
		return nil, err
	}
	imp, _, err := q.currentImport(ctx)
	if err != nil || imp != nil {
		return nil, err
	}
	w := &waiting{gate: &GateError{Stage: Freeze, Why: fmt.Sprintf("snapshot %s is not imported yet, and a further one would take its place", before.Snapshot),
		Remedy: "run `sheetlift run` first, or `sheetlift map`, `dryrun` and `import` if the files that were frozen have changed since"}}
	dry, _, err := last[DryRunResult](ctx, q, DryRun)
	if err != nil {
		return nil, err
	}
	if dry != nil && !dry.Passed {
		w.gate.Why = fmt.Sprintf("snapshot %s is not imported yet, because its dry-run did not pass; a further one would take its place, and what it brings would never come in", before.Snapshot)
		w.gate.Remedy = "mend what the findings of its dry-run say (" + dry.FindingsFile + "), then `sheetlift map`, `sheetlift dryrun` and `sheetlift import`; then freeze this again"
		if over := q.overTolerance(dry); over != "" {
			w.gate.Remedy = over + ", then `sheetlift map`, `sheetlift dryrun` and `sheetlift import`: what it brings comes in, its rejected rows stay out; then freeze this again"
			switch before.Kind {
			case Delta:
				w.gate.Remedy += "\nor correct the rows in the export itself, and freeze that with --snapshot delta: it takes the place of " + before.Snapshot
			case Mended:
				w.gate.Remedy += "\nor correct more rows in the file that was frozen as " + before.Snapshot + ", and freeze that with --snapshot mended: it takes its place"
			}
		}
	}
	ops, err := p.operations(ctx)
	w.begun = slices.ContainsFunc(ops, func(op *ledger.Record) bool { return op.Stage == Import && op.Snapshot == before.Snapshot })
	return w, err
}

// overTolerance says what to write into batch.yaml so that a dry-run passes which rejected more rows than are tolerated; "" if none did.
func (p *Pipeline) overTolerance(dry *DryRunResult) string {
	var words []string
	for _, d := range dry.Sources {
		i := slices.IndexFunc(p.batch.Sources, func(s Source) bool { return s.Name == d.Source })
		if n := d.Rows.Rejected; n > d.Tolerance && i >= 0 {
			words = append(words, fmt.Sprintf("`tolerance: { rows: %d, reason: …, owner: … }` of source %s (%s rejected, %d tolerated)", n, d.Source, finding.Count(n, "row is", "rows are"), d.Tolerance))
		}
	}
	if len(words) == 0 {
		return ""
	}
	return "state in batch.yaml " + strings.Join(words, " and ")
}

// replaces reports whether a snapshot brings what one that was never imported would have brought, so that nothing of that is lost: each of
// its sources, and of mended rows those that were handed out at the same time.
func replaces(r, before *FreezeResult) bool {
	for _, old := range before.Parts {
		if part := r.part(old.Source); part == nil || part.Base != old.Base {
			return false
		}
	}
	return true
}

// sameGiven reports whether a snapshot was made from these files, for these sources.
func sameGiven(f *FreezeResult, files []given) bool {
	for _, x := range files {
		if x.source != "" && f.part(x.source) == nil {
			return false
		}
	}
	var a, b []string
	for _, x := range f.Files {
		a = append(a, x.File, x.SHA256)
	}
	for _, x := range files {
		b = append(b, x.label, x.digest)
	}
	return slices.Equal(a, b)
}

// otherTime is the time of a snapshot of the same files if another one is stated now; "" if none is.
func (p *Pipeline) otherTime(f *FreezeResult, files []given) string {
	for i := range files {
		for _, part := range f.Parts {
			s := p.sourceIndex(part.Source)
			if part.File != files[i].label || !files[i].stated || s < 0 {
				continue
			}
			old, err := time.Parse(time.RFC3339, part.ObtainedAt)
			if err != nil || !old.Equal(files[i].obtained.Truncate(time.Second)) {
				return part.ObtainedAt
			}
		}
	}
	return ""
}

// occupied reports whether a bag lies under the snapshot's name that is not the one to be written: of other files, after another
// snapshot, or of exports made at other times. One that is the same is taken as it is.
func (p *Pipeline) occupied(files []given, previous string) bool {
	if _, err := os.Lstat(p.bagDir()); err != nil {
		return false
	}
	bag, err := manifests.VerifyBag(p.bagDir(), nil)
	if err != nil || len(bag.Payload) != len(files) {
		return true
	}
	data, err := os.ReadFile(bag.Path(provenanceTag))
	var was frozenProvenance
	if err != nil || json.Unmarshal(data, &was) != nil || was.Previous != previous {
		return true
	}
	for _, f := range bag.Payload {
		if !slices.ContainsFunc(files, func(g given) bool { return "data/"+manifests.PayloadName(g.label) == f.Path && g.digest == f.SHA256 }) {
			return true
		}
	}
	if p.snap.kind == Mended {
		return false
	}
	for _, f := range was.Files {
		for _, old := range f.Sources {
			s, g := p.sourceIndex(old.Source), slices.IndexFunc(files, func(g given) bool { return g.label == f.File })
			if s < 0 || g < 0 || obtainedOf(&files[g], &p.opt.Batch.Sources[s]) != old.ObtainedAt {
				return true
			}
		}
	}
	return false
}

// obtainedOf is when a fresh export of a source was obtained: never before what batch.yaml says of the first, because an undated
// withdrawal counts as of then.
func obtainedOf(g *given, s *Source) string {
	at := g.obtained
	if old := time.UnixMicro(s.obtained).UTC(); at.Before(old) {
		at = old
	}
	return at.Format(time.RFC3339)
}

// givenFiles looks at the files of a request, in a fixed order.
func (p *Pipeline) givenFiles(spec SnapshotSpec) ([]given, error) {
	var list []given
	for _, path := range spec.Files {
		g := given{path: path, label: filepath.Base(path)}
		if spec.Kind == Delta {
			var err error
			if g.label, err = p.batchFile(path); err != nil {
				return nil, err
			}
		}
		list = append(list, g)
	}
	for _, name := range slices.Sorted(maps.Keys(spec.Sources)) {
		i := slices.IndexFunc(p.batch.Sources, func(s Source) bool { return s.Name == name })
		if i < 0 {
			return nil, &ConfigError{File: p.batch.path, Message: fmt.Sprintf("there is no source %q", name), Remedy: "name a source of batch.yaml: --source NAME=FILE"}
		}
		g := given{path: spec.Sources[name], label: filepath.Base(spec.Sources[name]), source: name}
		if spec.Kind == Delta {
			g.label = p.batch.Sources[i].File
		}
		list = append(list, g)
	}
	if len(list) == 0 {
		return nil, &ConfigError{File: p.batch.path, Message: "no file is named", Remedy: "give the mended workbook, or the fresh exports: sheetlift freeze BATCH --snapshot " + spec.Kind + " FILE…"}
	}
	var at time.Time
	if spec.ObtainedAt != "" {
		var err error
		if at, err = time.Parse(time.RFC3339, spec.ObtainedAt); err != nil {
			return nil, &ConfigError{File: p.batch.path, Message: fmt.Sprintf("obtained-at %q is not a time with a zone", spec.ObtainedAt), Remedy: "write it like 2026-10-01T09:00:00+02:00"}
		}
	}
	seen := map[string]bool{}
	for i := range list {
		g := &list[i]
		if seen[g.label] {
			return nil, &ConfigError{File: p.batch.path, Message: fmt.Sprintf("two files are given for %s", g.label), Remedy: "give one file each; freeze the second as a snapshot of its own"}
		}
		seen[g.label] = true
		st, err := os.Stat(g.path)
		if err == nil {
			g.digest, g.size, err = manifests.FileDigest(g.path)
		}
		if err != nil {
			return nil, &ConfigError{File: g.path, Message: "can't be read: " + pathless(err), Remedy: "give the path of the mended workbook or of the fresh export"}
		}
		if g.obtained, g.stated = at, !at.IsZero(); !g.stated {
			g.obtained = st.ModTime().UTC().Truncate(time.Second)
		}
	}
	slices.SortFunc(list, func(a, b given) int { return strings.Compare(a.label, b.label) })
	if spec.Kind != Delta {
		return list, nil
	}
	for i := range list {
		if err := p.notAhead(&list[i], time.Now()); err != nil {
			return nil, err
		}
	}
	if at.IsZero() {
		return list, nil
	}
	for _, s := range p.opt.Batch.Sources {
		if at.Before(time.UnixMicro(s.obtained)) && slices.ContainsFunc(list, func(g given) bool { return g.label == s.File }) {
			return nil, &ConfigError{File: p.batch.path, Message: fmt.Sprintf("obtained-at %s is before %s, when the first export of source %s was obtained", spec.ObtainedAt, s.ObtainedAt, s.Name),
				Remedy: "state when this export was made; one that is older than the first brings nothing newer"}
		}
	}
	return list, nil
}

// clockSkew is how far the clocks of two machines may be apart.
const clockSkew = 5 * time.Minute

// notAhead refuses an export that was made when no clock says it is yet.
func (p *Pipeline) notAhead(g *given, now time.Time) error {
	if !g.obtained.After(now.Add(clockSkew)) {
		return nil
	}
	at, now := g.obtained.Format(time.RFC3339), now.UTC().Truncate(time.Second)
	if !g.stated {
		return &ConfigError{File: g.path, Message: fmt.Sprintf("was last changed at %s, by its file system; it is %s now", at, now.Format(time.RFC3339)), Remedy: "say when the export was made: --obtained-at TIME"}
	}
	return &ConfigError{File: p.batch.path, Message: fmt.Sprintf("obtained-at %s lies in the future; it is %s now", at, now.Format(time.RFC3339)),
		Remedy: "write when the export was made, not when it will be used, and mind its zone"}
}

// newerThan refuses a fresh export of a source that is older than one which the batch holds: what it says would count as the newest word.
// One that was replaced before its import is none of these.
func (p *Pipeline) newerThan(ctx context.Context, live []*FreezeResult, files []given) error {
	for i := range files {
		g := &files[i]
		for _, fr := range live {
			for _, part := range fr.Parts {
				at, err := time.Parse(time.RFC3339, part.ObtainedAt)
				if fr.Kind != Delta || part.File != g.label || err != nil || !g.obtained.Before(at) {
					continue
				}
				if wait, err := p.imported(ctx, fr); err != nil {
					return err
				} else if wait != nil && !wait.begun {
					continue
				}
				was := g.obtained.Format(time.RFC3339)
				if g.stated {
					return &ConfigError{File: p.batch.path, Message: fmt.Sprintf("obtained-at %s is before %s, when snapshot %s of source %s was obtained", was, part.ObtainedAt, fr.Snapshot, part.Source),
						Remedy: "state when this export was made; one that is older than what the batch holds brings nothing newer, so leave it out. If the time of " + fr.Snapshot + " is wrong, take the batch back with `sheetlift undo` and freeze its exports again"}
				}
				return &ConfigError{File: g.path, Message: fmt.Sprintf("was last changed at %s, before %s, when snapshot %s of source %s was obtained", was, part.ObtainedAt, fr.Snapshot, part.Source),
					Remedy: "if it is a newer export, say when it was made: --obtained-at TIME; else leave it out, for it brings nothing newer"}
			}
		}
	}
	return nil
}

// batchFile is the file of batch.yaml that a path stands for: by its place, else by its name.
func (p *Pipeline) batchFile(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	var named []string
	for _, file := range p.batch.Files() {
		if p.batch.abs(file) == abs {
			return file, nil
		}
		if filepath.Base(filepath.FromSlash(file)) == filepath.Base(path) {
			named = append(named, file)
		}
	}
	if len(named) == 1 {
		return named[0], nil
	}
	why := "no source of the batch reads a file of this name"
	if len(named) > 1 {
		why = "several sources of the batch read a file of this name"
	}
	return "", &ConfigError{File: path, Message: why, Remedy: "say which source it is of: --source NAME=" + path}
}

// deltaParts looks through the fresh exports as an inventory does, and says which sources they are of.
func (p *Pipeline) deltaParts(ctx context.Context, files []given, dir string, r *FreezeResult) error {
	for i := range files {
		g := &files[i]
		for _, s := range p.batch.Sources {
			if s.File != g.label {
				continue
			}
			part := FrozenPart{Source: s.Name, File: g.label, ObtainedAt: obtainedOf(g, &s)}
			if !g.stated {
				if part.ObtainedBy = ByFile; g.obtained.Before(time.UnixMicro(s.obtained)) {
					part.ObtainedBy = ByFirstExport
				}
			}
			r.Parts = append(r.Parts, part)
		}
	}
	// In the order of batch.yaml, as everywhere.
	slices.SortStableFunc(r.Parts, func(a, b FrozenPart) int { return p.sourceIndex(a.Source) - p.sourceIndex(b.Source) })
	q, err := p.dated(r)
	if err != nil {
		return err
	}
	rec, err := p.record(dir)
	if err != nil {
		return err
	}
	for i := range files {
		g := &files[i]
		if _, err = q.inventoryFile(ctx, g.path, g.label, g.digest, rec); err != nil {
			rec.abandon()
			return err
		}
	}
	return rec.close(&r.Outcome, dir)
}

func (p *Pipeline) sourceIndex(name string) int {
	return slices.IndexFunc(p.opt.Batch.Sources, func(s Source) bool { return s.Name == name })
}

// freezeGiven writes the bag of a further snapshot.
func (p *Pipeline) freezeGiven(ctx context.Context, files []given, r *FreezeResult) error {
	prov := frozenProvenance{Schema: "sheetlift/frozen/v1", Tenant: p.id.Tenant, Batch: p.batch.Name, Snapshot: p.snap.name, Previous: r.Previous}
	var payload []manifests.PayloadFile
	newest := time.Time{}
	for i := range files {
		g := &files[i]
		ff := FrozenFile{File: g.label, Payload: manifests.PayloadName(g.label), SHA256: g.digest, Size: g.size}
		for _, part := range r.Parts {
			if part.File == g.label && part.ObtainedAt > ff.ObtainedAt {
				ff.ObtainedAt = part.ObtainedAt
			}
		}
		fs := frozenSource{FrozenFile: ff}
		for _, part := range r.Parts {
			if part.File != g.label {
				continue
			}
			s := p.opt.Batch.Sources[p.sourceIndex(part.Source)]
			sheet := s.Sheet
			if part.Base != "" {
				sheet = part.Sheet
			}
			fs.Sources = append(fs.Sources, frozenOwner{s.Name, sheet, s.System, s.Owner, part.ObtainedAt, part.Base})
			if at, err := time.Parse(time.RFC3339, part.ObtainedAt); err == nil && at.After(newest) {
				newest = at
			}
		}
		prov.Files = append(prov.Files, fs)
		r.Files = append(r.Files, ff)
		r.Bytes += g.size
		payload = append(payload, manifests.PayloadFile{Source: g.path, Name: ff.Payload, SHA256: g.digest})
	}
	tag, err := json.MarshalIndent(prov, "", "  ")
	if err != nil {
		return err
	}
	err = p.writeBag(ctx, append(tag, '\n'), payload, newest, r)
	var changed *manifests.IntegrityError
	if errors.As(err, &changed) {
		return &GateError{Stage: Freeze, Why: "a file changed while it was copied", Remedy: "wait until nobody writes to it, then run the command again"}
	}
	return err
}
