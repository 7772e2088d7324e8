package pipeline

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	"sheetlift/importers/register"
	"sheetlift/manifests"
	"sheetlift/pipeline/finding"
	"sheetlift/pipeline/ledger"
	"sheetlift/pipeline/store"

	"github.com/google/uuid"
)

// Stage names, in order.
const (
	Inventory = "inventory"
	Freeze    = "freeze"
	Map       = "map"
	DryRun    = "dryrun"
	Import    = "import"
	Reconcile = "reconcile"
)

// Stages are the stages in order.
var Stages = []string{Inventory, Freeze, Map, DryRun, Import, Reconcile}

// classes are the stages' operation classes of the ledger.
var classes = map[string]string{
	Inventory: "atomic",
	Freeze:    "compensation",
	Map:       "atomic",
	DryRun:    "compensation",
	Import:    "forward_recovery",
	Reconcile: "atomic",
	Undo:      "compensation",
}

// Initial is the snapshot that a batch begins with.
const Initial = "initial"

// Options wire a Pipeline.
type Options struct {
	Batch    *Batch
	DB       *store.DB
	Operator string                                      // who runs the stage
	Home     string                                      // folder for vault and work files; default .sheetlift beside batch.yaml
	KeyPath  string                                      // installation key; default that of manifests.KeyPath
	Vault    string                                      // instead of the batch's vault
	Findings func(path string) (io.WriteCloser, error)   // opens a findings file for writing, mode 0600
	Encode   func(w io.Writer, f finding.Finding) error  // writes one finding
	Progress func(stage, source string, done, all int64) // rows or bytes; all is 0 when unknown
	Notify   func(ledger.Notice)                         // things a person should see at once
}

// Pipeline runs the stages of one batch.
type Pipeline struct {
	opt    Options
	batch  *Batch
	db     *store.DB
	ledger *ledger.Ledger
	id     register.Identity
	home   string
	snap   snapshot // what the stages work on; see snapshot.go

	digests *manifests.Digests // of the files of the bag, while a stage looks at them

	sheets   *sheetPositions
	expected *expected
	said     *saidOnce

	spread    bool // over all processors, however few rows there are
	blockRows int  // most rows handed on at once; 0 for what the reader gives. Nothing may depend on it, which a test shows
	together  int  // of them, how many the survey works on at once; 0 for rowsTogether. Nor on this
	late      bool // no row is decided before all are read. Nor on this
	groupRows int  // rows with which an import commits; 0 for as many as is fast

	// A dry-run that is made anew takes these records for not being in the register, and these snapshots for not imported; see restage.
	without  map[uuid.UUID]bool
	unmarked bool // the dry-run lists no marks of known rows, as those of earlier versions
	literal  bool // a no to a purpose that is in no list is one to another purpose, as in dry-runs of earlier versions
	stubborn bool // of rows that came back as they went out none stands against consents, as in dry-runs of earlier versions; see staysOut
	asBefore []string

	wholeStates bool // states are worked out from all of the register, which gives the same
}

// New returns a pipeline over an opened and migrated database.
func New(opt Options) (*Pipeline, error) {
	ns, err := uuid.Parse(opt.Batch.Tenant.Namespace)
	if err != nil {
		return nil, err
	}
	if opt.Progress == nil {
		opt.Progress = func(string, string, int64, int64) {}
	}
	if opt.Notify == nil {
		opt.Notify = func(ledger.Notice) {}
	}
	p := &Pipeline{
		opt: opt, batch: opt.Batch, db: opt.DB, home: opt.Home,
		ledger: ledger.New(opt.DB, ledger.Options{Notify: opt.Notify}),
		id:     register.Identity{Namespace: ns, Tenant: opt.Batch.Tenant.Name},
		snap:   snapshot{name: Initial},
		sheets: &sheetPositions{at: map[[2]string]int{}}, expected: &expected{},
		said: &saidOnce{texts: map[string]bool{}},
	}
	p.opt.Progress = p.expecting(opt.Progress)
	if p.home == "" {
		p.home = Home(opt.Batch)
	}
	if p.home, err = filepath.Abs(p.home); err != nil {
		return nil, err
	}
	return p, nil
}

// saidOnce is what was remarked upon: stages of one run look at the same things.
type saidOnce struct {
	sync.Mutex
	texts map[string]bool
}

// remark says something that a person should see, once.
func (p *Pipeline) remark(text string) {
	p.said.Lock()
	again := p.said.texts[text]
	p.said.texts[text] = true
	p.said.Unlock()
	if !again {
		p.opt.Notify(ledger.Remark(text))
	}
}

// Home is the default folder for what a run makes: .sheetlift beside batch.yaml.
func Home(b *Batch) string { return filepath.Join(b.dir, ".sheetlift") }

// DefaultDatabase is the URL of the embedded database of a batch.
func DefaultDatabase(b *Batch) string { return "sqlite:" + filepath.Join(Home(b), "register.db") }

func (p *Pipeline) vault() string {
	if p.opt.Vault != "" {
		return p.opt.Vault
	}
	if p.batch.Vault != "" {
		return p.batch.abs(p.batch.Vault)
	}
	return filepath.Join(p.home, "vault")
}

func (p *Pipeline) bagDir() string { return filepath.Join(p.vault(), p.batch.Name, p.snap.name) }

// workDir is the folder of one operation's files.
func (p *Pipeline) workDir(stage, key string) string {
	return filepath.Join(p.home, "work", p.batch.Name, stage+"-"+key[:12])
}

// key is an operation's idempotency key: (tenant, batch, stage, snapshot, input digests).
func (p *Pipeline) key(stage string, inputs ...string) string {
	b, err := json.Marshal(append([]string{p.id.Tenant, p.id.Namespace.String(), p.batch.Name, stage, p.snap.name}, inputs...))
	if err != nil {
		panic(err) // strings always marshal
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// result is a stage result.
type result interface{ outcome() *Outcome }

// task is one stage as an operation.
type task[R any] struct {
	stage string
	key   string
	pre   map[string]any // preconditions, recorded before any effect
	// check looks whether what a recorded result points to is still there and unchanged; an error wrapping errRemake makes it again
	check func(ctx context.Context, r *R) error
	// do does the work. op is nil when a lost product is made again.
	do func(ctx context.Context, op *ledger.Op, r *R) error
}

// errRemake means that files of a recorded result are gone and can be made again from the same inputs.
var errRemake = errors.New("to be made again")

// execute runs a task under its operation row.
func execute[R any](ctx context.Context, p *Pipeline, t task[R]) (*R, error) {
	r := new(R)
	out := any(r).(result).outcome()
	op, err := p.ledger.Begin(ctx, ledger.Request{
		Tenant: p.id.Tenant, Batch: p.batch.Name, Stage: t.stage, Snapshot: p.snap.name, Class: classes[t.stage],
		Operator: p.opt.Operator, Key: t.key, RequestDigest: t.key, Preconditions: t.pre,
	})
	if err != nil {
		return nil, err
	}
	if op.Done() {
		if err := json.Unmarshal(op.Result(), r); err != nil {
			return nil, fmt.Errorf("recorded result of %s: %w", t.stage, err)
		}
		p.place(r, true)
		err := t.check(ctx, r)
		if errors.Is(err, errRemake) {
			want, old := out.Digest, r
			r = new(R)
			out = any(r).(result).outcome()
			if err = t.do(ctx, nil, r); err == nil {
				err = p.seal(r)
			}
			if err == nil && out.Digest != want {
				err = &IntegrityError{What: "result of " + t.stage, Detail: "made again from the same inputs it has another digest than recorded", Remedy: "run `sheetlift verify` and restore the inputs"}
			} else if err == nil && otherLists(r, old) {
				err = &IntegrityError{What: "findings of " + t.stage, Detail: "made again from the same inputs they are not those that were recorded",
					Remedy: "restore " + filepath.Dir(out.FindingsFile) + " from a backup, or remove it and run `sheetlift " + t.stage + "` with the version of sheetlift that recorded them"}
			}
		}
		var drift *IntegrityError
		if errors.As(err, &drift) {
			return r, err // what was found now is worth seeing
		}
		if err != nil {
			return nil, err
		}
		out.AlreadyDone = true
		return r, nil
	}
	work, stop := op.KeepAlive(ctx)
	err = t.do(work, op, r)
	if err != nil && work.Err() != nil && ctx.Err() == nil {
		err = context.Cause(work) // the lease was lost: say that, not that something was cancelled
	}
	if err == nil {
		err = p.seal(r)
	}
	if err == nil {
		var data []byte
		p.place(r, false)
		data, err = json.Marshal(r)
		p.place(r, true)
		if err == nil {
			err = p.db.Update(work, func(tx *store.Tx) error { return op.Succeed(work, tx, data, out.Digest) })
		}
	}
	stop()
	if err != nil {
		bg := context.WithoutCancel(ctx)
		if ctx.Err() != nil {
			_ = op.Release(bg)
			return nil, ctx.Err()
		}
		if ferr := op.Fail(bg, failCode(err)); ferr != nil && !errors.Is(ferr, ledger.ErrFenced) {
			return nil, errors.Join(err, ferr)
		}
		return nil, err
	}
	return r, nil
}

// otherLists reports whether lists that were made again are not those that were recorded. A result of an earlier version recorded none.
func otherLists(r, recorded any) bool {
	other := func(sum, recorded string) bool { return recorded != "" && sum != recorded }
	if dry, ok := r.(*DryRunResult); ok && other(dry.Listed, recorded.(*DryRunResult).Listed) {
		return true
	}
	return other(r.(result).outcome().FindingsSum, recorded.(result).outcome().FindingsSum)
}

// seal sets the digest of a result: over everything but paths and how it came about. The digests of the lists are no part of it: what
// they say of a row may hold a token of it, which each database makes with a key of its own. The ledger's chain guards them.
func (p *Pipeline) seal(r any) error {
	o := r.(result).outcome()
	file, sum := o.FindingsFile, o.FindingsSum
	o.FindingsFile, o.FindingsSum, o.Digest, o.AlreadyDone = "", "", "", false
	restore := hideVolatile(r)
	d, err := manifests.Digest(r)
	restore()
	o.FindingsFile, o.FindingsSum, o.Digest = file, sum, d
	return err
}

// hideVolatile blanks the parts of a result that are no part of its digest, and returns how to put them back.
func hideVolatile(r any) func() {
	hideStaged := func(files []StagedFile) func() {
		paths := make([]string, len(files))
		for i := range files {
			paths[i], files[i].Path = files[i].Path, ""
		}
		return func() {
			for i := range files {
				files[i].Path = paths[i]
			}
		}
	}
	switch r := r.(type) {
	case *InventoryResult:
		converted := make([]string, len(r.Files))
		for i := range r.Files {
			if c := r.Files[i].Conversion; c != nil {
				converted[i], c.SHA256 = c.SHA256, ""
			}
		}
		return func() {
			for i := range r.Files {
				if c := r.Files[i].Conversion; c != nil {
					c.SHA256 = converted[i]
				}
			}
		}
	case *FreezeResult:
		bag, by := r.Bag, r.SignedBy
		r.Bag, r.SignedBy = "", ""
		return func() { r.Bag, r.SignedBy = bag, by }
	case *DryRunResult:
		restore, known, listed, rejects, values, back, asOf := hideStaged(r.Staged), hideStaged(r.knownFiles()), r.Listed, r.Rejects, r.Values, r.NotBack, r.Cases.AsOf
		r.Listed, r.Rejects, r.Values, r.NotBack, r.Cases.AsOf = "", nil, nil, nil, ""
		return func() {
			restore()
			known()
			r.Listed, r.Rejects, r.Values, r.NotBack, r.Cases.AsOf = listed, rejects, values, back, asOf
		}
	case *ImportResult:
		return hideStaged(r.Staged)
	}
	return func() {}
}

// place makes the paths of a result absolute, or relative to the home folder: so they are recorded, and a batch that was copied
// or moved is looked for where it is now. A bag outside the home keeps its absolute path.
func (p *Pipeline) place(r any, absolute bool) {
	move := func(path *string) {
		switch {
		case *path == "" || filepath.IsAbs(*path) == absolute:
		case absolute:
			*path = filepath.Join(p.home, filepath.FromSlash(*path))
		default:
			if rel, err := filepath.Rel(p.home, *path); err == nil && filepath.IsLocal(rel) {
				*path = filepath.ToSlash(rel)
			}
		}
	}
	move(&r.(result).outcome().FindingsFile)
	var staged []StagedFile
	switch r := r.(type) {
	case *FreezeResult:
		move(&r.Bag)
	case *DryRunResult:
		staged = r.Staged
		for i := range r.knownFiles() {
			move(&r.Known.Files[i].Path)
		}
	case *ImportResult:
		staged = r.Staged
	}
	for i := range staged {
		move(&staged[i].Path)
	}
}

// last returns the recorded result of the newest succeeded operation of a stage, or nil.
func last[R any](ctx context.Context, p *Pipeline, stage string) (*R, *ledger.Record, error) {
	var rec *ledger.Record
	err := p.db.View(ctx, func(tx *store.Tx) (err error) {
		rec, err = ledger.Last(ctx, tx, p.id.Tenant, p.batch.Name, p.snap.name, stage)
		return err
	})
	if err != nil || rec == nil {
		return nil, nil, err
	}
	r := new(R)
	if err := json.Unmarshal(rec.Result, r); err != nil {
		return nil, nil, fmt.Errorf("recorded result of %s: %w", stage, err)
	}
	p.place(r, true)
	return r, rec, nil
}

// makeDir makes a folder, readable by its owner only.
func makeDir(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return &FileError{Path: dir, Message: "can't be made: " + pathless(err), Remedy: "give sheetlift a folder that it may write to (vault: in batch.yaml, or --home)"}
	}
	return nil
}
