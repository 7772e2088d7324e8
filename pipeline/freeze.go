package pipeline

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"golang.org/x/crypto/ssh"

	"sheetlift/manifests"
	"sheetlift/pipeline/ledger"
	"sheetlift/pipeline/store"
)

// provenanceTag is the tag file that keeps what the payload alone does not say.
const provenanceTag = "sheetlift.json"

// frozenProvenance is the content of the tag file: the file's own name is evidence, and so is when it was obtained.
type frozenProvenance struct {
	Schema   string         `json:"schema"`
	Tenant   string         `json:"tenant"`
	Batch    string         `json:"batch"`
	Snapshot string         `json:"snapshot"`
	Previous string         `json:"previous"` // manifest digest of the snapshot before; empty for the first
	Files    []frozenSource `json:"files"`
}

type frozenSource struct {
	FrozenFile
	Sources []frozenOwner `json:"sources"`
}

type frozenOwner struct {
	Source     string `json:"source"`
	Sheet      string `json:"sheet,omitempty"`
	System     string `json:"system"`
	Owner      string `json:"owner,omitempty"`
	ObtainedAt string `json:"obtained_at"`
	Base       string `json:"base,omitempty"` // mended rows: the snapshot whose rows they are
}

// Freeze copies the inventoried bytes into the vault as a BagIt bag, signs its tag manifest with the installation's key and
// verifies what it wrote. Bytes that differ from the inventory's are refused.
func (p *Pipeline) Freeze(ctx context.Context) (*FreezeResult, error) {
	if err := p.holdFiles(ctx); err != nil {
		return nil, err
	}
	inv, rec, err := last[InventoryResult](ctx, p, Inventory)
	if err != nil {
		return nil, err
	}
	if rec == nil {
		return nil, &GateError{Stage: Freeze, Why: "the batch has no inventory yet", Remedy: "run `sheetlift inventory` first"}
	}
	if err := p.batch.Unconfirmed(); err != nil {
		return nil, err
	}
	if frozen, frec, err := last[FreezeResult](ctx, p, Freeze); err != nil {
		return nil, err
	} else if frec != nil && !p.sameFiles(frozen, inv) {
		return nil, &GateError{Stage: Freeze, Why: "the batch is frozen already, from other bytes than the newest inventory saw",
			Remedy: "put the frozen files back, or go on with what is frozen: `sheetlift map`, `dryrun` and `import` don't look at the files; the new export comes in after that, with `sheetlift freeze --snapshot delta FILE`, or as a new batch (another name in batch.yaml)"}
	}
	if err := p.unchangedSince(inv); err != nil {
		return nil, err
	}
	key := p.key(Freeze, rec.ResultDigest)
	return execute(ctx, p, task[FreezeResult]{
		stage: Freeze, key: key,
		pre: map[string]any{"inventory": rec.ResultDigest},
		check: func(_ context.Context, r *FreezeResult) error {
			return p.verifyBag(r)
		},
		do: func(ctx context.Context, _ *ledger.Op, r *FreezeResult) error {
			r.Outcome = p.begin(FreezeSchema)
			r.ByRule = []RuleCount{}
			return p.freeze(ctx, inv, r)
		},
	})
}

// sameFiles reports whether a freeze holds the bytes of an inventory.
func (p *Pipeline) sameFiles(f *FreezeResult, inv *InventoryResult) bool {
	var a, b []string
	for _, x := range f.Files {
		a = append(a, x.File, x.SHA256)
	}
	for _, x := range inv.Files {
		b = append(b, x.File, x.SHA256)
	}
	return slices.Equal(a, b)
}

// unchangedSince refuses files that are not as the inventory saw them.
func (p *Pipeline) unchangedSince(inv *InventoryResult) error {
	if inv.Config != p.batch.digest {
		return &GateError{Stage: Freeze, Why: "batch.yaml changed since the inventory", Remedy: "run `sheetlift inventory` again"}
	}
	for _, f := range inv.Files {
		d, _, err := manifests.FileDigest(p.batch.abs(f.File))
		if err != nil {
			return p.fileFault(f.File, err)
		}
		if d != f.SHA256 {
			return &GateError{Stage: Freeze, Why: fmt.Sprintf("%s changed since the inventory", f.File), Remedy: "run `sheetlift inventory` again, and look at what changed"}
		}
	}
	return nil
}

func (p *Pipeline) freeze(ctx context.Context, inv *InventoryResult, r *FreezeResult) error {
	prov := frozenProvenance{Schema: "sheetlift/frozen/v1", Tenant: p.id.Tenant, Batch: p.batch.Name, Snapshot: p.snap.name}
	var payload []manifests.PayloadFile
	for _, f := range inv.Files {
		ff := FrozenFile{File: f.File, Payload: manifests.PayloadName(f.File), SHA256: f.SHA256, Size: f.Size}
		fs := frozenSource{}
		newest := int64(math.MinInt64)
		for _, s := range p.batch.Sources {
			if s.File == f.File {
				fs.Sources = append(fs.Sources, frozenOwner{s.Name, s.Sheet, s.System, s.Owner, s.ObtainedAt, ""})
				if s.obtained > newest {
					newest, ff.ObtainedAt = s.obtained, s.ObtainedAt
				}
			}
		}
		fs.FrozenFile = ff
		prov.Files = append(prov.Files, fs)
		r.Files = append(r.Files, ff)
		r.Bytes += f.Size
		payload = append(payload, manifests.PayloadFile{Source: p.batch.abs(f.File), Name: ff.Payload, SHA256: f.SHA256})
	}
	tag, err := json.MarshalIndent(prov, "", "  ")
	if err != nil {
		return err
	}
	err = p.writeBag(ctx, append(tag, '\n'), payload, p.batch.newestObtained(), r)
	var changed *manifests.IntegrityError
	if errors.As(err, &changed) {
		return &GateError{Stage: Freeze, Why: "a file changed while it was copied", Remedy: "run `sheetlift inventory` again"}
	}
	return err
}

// writeBag writes, signs and verifies the bag of the pipeline's snapshot, and records it.
func (p *Pipeline) writeBag(ctx context.Context, tag []byte, payload []manifests.PayloadFile, date time.Time, r *FreezeResult) error {
	key, _, err := manifests.LoadOrCreateKey(p.opt.KeyPath)
	if err != nil {
		return err
	}
	spec := manifests.BagSpec{
		Payload: payload,
		Tags:    map[string][]byte{provenanceTag: tag},
		Sign:    func(tagManifest []byte) ([]byte, error) { return key.Sign(manifests.Namespace, tagManifest) },
		Info: []manifests.Pair{
			{Label: "Source-Organization", Value: p.id.Tenant},
			{Label: "External-Identifier", Value: p.batch.Name + "/" + p.snap.name},
			{Label: "Bagging-Date", Value: date.Format("2006-01-02")},
		},
	}
	dir := p.bagDir()
	if err := makeDir(filepath.Dir(dir)); err != nil {
		return err
	}
	partials, err := manifests.Partials(dir)
	if err != nil {
		return err
	}
	for _, half := range partials { // an earlier freeze died here; what it wrote was never a bag
		if err := os.RemoveAll(half); err != nil {
			return &FileError{Path: half, Message: "a half-written bag can't be removed: " + pathless(err), Remedy: "remove it and run freeze again", Err: err}
		}
	}
	bag, err := manifests.WriteBag(ctx, dir, spec)
	if errors.Is(err, manifests.ErrExists) {
		bag, err = p.adoptBag(dir, spec)
	}
	if err != nil {
		return err
	}
	if err := manifests.VerifySignature([]ssh.PublicKey{key.Public()}, manifests.Namespace, bag.TagManifest, bag.Signature); err != nil {
		return err
	}
	r.Manifest, r.Bag, r.SignedBy = bag.Digest, dir, key.PublicLine()
	r.Complete, r.Passed = true, true
	return p.db.Update(ctx, func(tx *store.Tx) error {
		return recordCopy(ctx, tx, p.id.Tenant, p.batch.Name, Copy{Kind: "bag", Digest: bag.Digest, Place: dir})
	})
}

// adoptBag takes the bag that lies under the name already, if it is byte for byte the one to be written: a freeze died after the
// rename, or the same batch was frozen for another database.
func (p *Pipeline) adoptBag(dir string, spec manifests.BagSpec) (*manifests.Bag, error) {
	bag, err := manifests.VerifyBag(dir, nil)
	if err != nil {
		return nil, err
	}
	want := map[string]string{}
	for _, f := range spec.Payload {
		want["data/"+f.Name] = f.SHA256
	}
	same := len(bag.Payload) == len(want)
	for _, f := range bag.Payload {
		same = same && want[f.Path] == f.SHA256
	}
	tag, err := os.ReadFile(bag.Path(provenanceTag))
	if err != nil || !same || string(tag) != string(spec.Tags[provenanceTag]) {
		return nil, &GateError{Stage: Freeze, Why: "the vault holds another freeze under this batch's name", Remedy: "give this batch another name or another vault; a bag is never overwritten"}
	}
	return bag, nil
}

// verifyBag checks the frozen bag: bytes, completeness, that it is the one the database knows, and that the key which the
// database recorded at the freeze signed it.
func (p *Pipeline) verifyBag(fr *FreezeResult) error {
	bag, err := manifests.VerifyBag(p.bagDir(), p.digests)
	if err != nil {
		return err
	}
	if bag.Digest != fr.Manifest {
		return &IntegrityError{What: "frozen bag", Detail: fmt.Sprintf("its manifest digest is %s, the database recorded %s", bag.Digest, fr.Manifest), Remedy: "restore the bag from a copy"}
	}
	pub, err := manifests.ParsePublicKey([]byte(fr.SignedBy))
	if err != nil {
		return &IntegrityError{What: "frozen bag", Detail: "the database's record of who signed it is unreadable", Remedy: "restore the database from a backup", Err: err}
	}
	err = manifests.VerifySignature([]ssh.PublicKey{pub}, manifests.Namespace, bag.TagManifest, bag.Signature)
	var fault *manifests.Error
	if errors.As(err, &fault) {
		if fault.Path = filepath.Join(p.bagDir(), manifests.SignatureFile); len(bag.Signature) == 0 {
			fault.Message = "there is no signature"
		}
	}
	return err
}

// verifyBags verifies the bags of snapshots up to one.
func (p *Pipeline) verifyBags(all []*FreezeResult, last *FreezeResult) error {
	for _, fr := range all {
		if fr.Number > last.Number {
			continue
		}
		q := *p
		q.snap = snapshot{name: fr.Snapshot, kind: fr.Kind}
		if err := q.verifyBag(fr); err != nil {
			return err
		}
	}
	return nil
}

// frozen returns the newest freeze after its bag was verified.
func (p *Pipeline) frozen(ctx context.Context, stage string) (*FreezeResult, error) {
	fr, bag, err := p.frozenAhead(ctx, stage)
	if err == nil {
		err = bag()
	}
	if err != nil {
		return nil, err
	}
	return fr, nil
}

// frozenAhead is frozen that verifies the bag beside what comes next; bag waits for it.
func (p *Pipeline) frozenAhead(ctx context.Context, stage string) (fr *FreezeResult, bag func() error, err error) {
	fr, rec, err := last[FreezeResult](ctx, p, Freeze)
	if err != nil {
		return nil, nil, err
	}
	if rec == nil {
		return nil, nil, &GateError{Stage: stage, Why: "the batch is not frozen yet", Remedy: "run `sheetlift freeze` first"}
	}
	all := []*FreezeResult{fr}
	if p.snap.kind != "" { // what earlier snapshots froze still counts
		if all, err = p.history(ctx); err != nil {
			return nil, nil, err
		}
	}
	p.digests = &manifests.Digests{} // each stage looks anew
	verified := make(chan error, 1)
	go func() { verified <- p.verifyBags(all, fr) }()
	return fr, sync.OnceValue(func() error { return <-verified }), nil
}

// openFrozen opens the frozen bytes of a source's file, checked on the same descriptor.
func (p *Pipeline) openFrozen(fr *FreezeResult, file string) (*os.File, string, error) {
	fd, check, digest, err := p.openFrozenAhead(fr, file)
	if err != nil {
		return nil, "", err
	}
	if err := check.Wait(); err != nil {
		fd.Close()
		return nil, "", err
	}
	return fd, digest, nil
}

// openFrozenAhead is openFrozen that checks while the file is read.
func (p *Pipeline) openFrozenAhead(fr *FreezeResult, file string) (*os.File, *manifests.Check, string, error) {
	for _, f := range fr.Files {
		if f.File == file {
			fd, check, err := manifests.OpenChecked(filepath.Join(p.bagDir(), "data", filepath.FromSlash(f.Payload)), f.SHA256, p.digests)
			if err != nil {
				err = &IntegrityError{What: "frozen file " + file, Detail: "it can't be read from the bag of snapshot " + p.snap.name + ": " + pathless(err), Remedy: "restore the bag from a copy", Err: err}
			}
			return fd, check, f.SHA256, err
		}
	}
	return nil, nil, "", &GateError{Stage: Map, Why: fmt.Sprintf("%s is not in the frozen bag", file), Remedy: "start a new batch for a changed set of files"}
}
