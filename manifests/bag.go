package manifests

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// The files of a bag that RFC 8493 names, and the signature that we add: SignatureFile lies beside what it signs, the tag manifest.
const (
	declarationFile = "bagit.txt"
	infoFile        = "bag-info.txt"
	manifestFile    = "manifest-sha256.txt"
	tagManifestFile = "tagmanifest-sha256.txt"
	SignatureFile   = "tagmanifest-sha256.txt.sig"
	fetchFile       = "fetch.txt"
	payloadDir      = "data/"
	oxumLabel       = "Payload-Oxum"

	declaration = "BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n"
)

// BagSpec is what a bag is to hold.
type BagSpec struct {
	Payload []PayloadFile
	// Info is bag-info.txt, in this order; Payload-Oxum is added by WriteBag. Values are one line each. Bagging-Date is the
	// caller's: nothing here reads a clock.
	Info []Pair
	// Tags are further files of the bag by path, outside data/.
	Tags map[string][]byte
	// Sign, if set, gets tagmanifest-sha256.txt and returns its armored signature, which is stored beside it before the bag
	// takes its final name.
	Sign func(tagManifest []byte) ([]byte, error)
}

// PayloadFile is one file to copy into the bag.
type PayloadFile struct {
	Source string // where it lies
	Name   string // path below data/, slash-separated; see PayloadName
	SHA256 string // what its bytes must be, lower-case hex
}

// Pair is one line of bag-info.txt.
type Pair struct{ Label, Value string }

// Bag is a verified bag.
type Bag struct {
	Dir         string
	Digest      string // lower-case hex SHA-256 of TagManifest
	Payload     []File // by path; paths begin with data/
	Tags        []File // the files that the tag manifest names, by path
	Info        []Pair // bag-info.txt, in its order
	TagManifest []byte // tagmanifest-sha256.txt, what the signature is over
	Signature   []byte // armored; nil when the bag is unsigned
}

// Path is where the bag's file p (as in File.Path) lies.
func (b *Bag) Path(p string) string { return filepath.Join(b.Dir, filepath.FromSlash(p)) }

// WriteBag makes the bag dir, which must not exist. Everything is written to a sibling ".NAME.partial-*", put on disk, read
// back and verified, and only then renamed; when anything fails that sibling is removed again and dir does not exist.
//
// A payload file whose bytes are not those of its digest gives an *IntegrityError naming the source; a bad spec an *Error of
// kind ErrSpec or ErrName; an occupied dir ErrExists; a full or read-only disk ErrFull or ErrDenied.
func WriteBag(ctx context.Context, dir string, spec BagSpec) (*Bag, error) {
	if err := spec.check(); err != nil {
		return nil, err
	}
	dir = filepath.Clean(dir)
	occupied := &Error{Kind: ErrExists, Path: dir, Message: "there is something under this name already",
		Remedy: "verify what is there; a bag is never written over"}
	if _, err := os.Lstat(dir); err == nil {
		return nil, occupied
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, ioError(dir, "looking for the folder", err)
	}
	parent, name := filepath.Split(dir)
	if parent == "" {
		parent = "."
	}
	if err := os.MkdirAll(parent, 0o700); err != nil {
		return nil, ioError(parent, "making the folder", err)
	}
	tmp, err := os.MkdirTemp(parent, partialPrefix(name)+"*")
	if err != nil {
		return nil, ioError(parent, "making a folder in it", err)
	}
	bag, err := fillBag(ctx, tmp, spec)
	if err == nil {
		if rerr := os.Rename(tmp, dir); errors.Is(rerr, fs.ErrExist) {
			err = occupied // somebody else was faster
		} else {
			err = ioError(dir, "giving the bag its final name", rerr)
		}
	}
	if err != nil {
		if rerr := os.RemoveAll(tmp); rerr != nil {
			err = errors.Join(err, ioError(tmp, "removing the half-written bag", rerr))
		}
		return nil, err
	}
	bag.Dir = dir
	if err := syncDir(parent); err != nil {
		return nil, err
	}
	return bag, nil
}

// Partials lists what interrupted WriteBag calls for the bag dir left beside it. Remove them (os.RemoveAll) only while
// nobody else can be writing that bag.
func Partials(dir string) ([]string, error) {
	parent, name := filepath.Split(filepath.Clean(dir))
	if parent == "" {
		parent = "."
	}
	entries, err := os.ReadDir(parent)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, ioError(parent, "reading the folder", err)
	}
	var out []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), partialPrefix(name)) {
			out = append(out, filepath.Join(parent, e.Name()))
		}
	}
	return out, nil
}

func partialPrefix(name string) string { return "." + name + ".partial-" }

// fillBag writes the whole bag into the empty directory tmp and verifies it there.
func fillBag(ctx context.Context, tmp string, spec BagSpec) (*Bag, error) {
	var payload []File
	var total int64
	if err := os.Mkdir(filepath.Join(tmp, "data"), 0o700); err != nil {
		return nil, ioError(tmp, "making a folder in it", err)
	}
	for _, p := range spec.Payload {
		f, err := copyPayload(ctx, tmp, p)
		if err != nil {
			return nil, err
		}
		payload = append(payload, f)
		total += f.Size
	}
	info := append(slices.Clone(spec.Info), Pair{oxumLabel, fmt.Sprintf("%d.%d", total, len(payload))})
	tagData := map[string][]byte{
		declarationFile: []byte(declaration),
		infoFile:        formatInfo(info),
		manifestFile:    formatManifest(payload),
	}
	for name, data := range spec.Tags {
		tagData[name] = data
	}
	var tags []File
	for name, data := range tagData {
		f, err := writeTag(ctx, tmp, name, data)
		if err != nil {
			return nil, err
		}
		tags = append(tags, f)
	}
	tagManifest := formatManifest(tags)
	if _, err := writeTag(ctx, tmp, tagManifestFile, tagManifest); err != nil {
		return nil, err
	}
	if spec.Sign != nil {
		sig, err := spec.Sign(bytes.Clone(tagManifest))
		if err != nil {
			return nil, err
		}
		if _, err := writeTag(ctx, tmp, SignatureFile, sig); err != nil {
			return nil, err
		}
	}
	if err := syncTree(tmp); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return VerifyBag(tmp, nil)
}

func copyPayload(ctx context.Context, tmp string, p PayloadFile) (File, error) {
	src, err := OpenRegular(p.Source)
	if err != nil {
		return File{}, err
	}
	defer src.Close() // read only: nothing to lose
	f := File{Path: payloadDir + p.Name}
	dst := filepath.Join(tmp, filepath.FromSlash(f.Path))
	if err := os.MkdirAll(filepath.Dir(dst), 0o700); err != nil {
		return File{}, ioError(tmp, "making a folder in it", err)
	}
	f.SHA256, f.Size, err = writeNew(ctx, dst, src)
	if err != nil {
		return File{}, err
	}
	if f.SHA256 != p.SHA256 {
		return File{}, &IntegrityError{Path: p.Source, Want: p.SHA256, Got: f.SHA256}
	}
	return f, nil
}

func writeTag(ctx context.Context, tmp, name string, data []byte) (File, error) {
	dst := filepath.Join(tmp, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(dst), 0o700); err != nil {
		return File{}, ioError(tmp, "making a folder in it", err)
	}
	sha, size, err := writeNew(ctx, dst, bytes.NewReader(data))
	return File{Path: name, SHA256: sha, Size: size}, err
}

// check refuses a spec that would not give a good bag, before anything is written.
func (spec *BagSpec) check() error {
	names := make(nameSet)
	for _, p := range spec.Payload {
		why := checkName(p.Name)
		if why == "" {
			why = names.add(payloadDir + p.Name)
		}
		if why != "" {
			return &Error{Kind: ErrName, Path: payloadDir + p.Name, Message: why, Remedy: "rename the file " + p.Source + " and run again"}
		}
		if !isDigest(p.SHA256) {
			return &Error{Kind: ErrSpec, Path: p.Source, Message: "no SHA-256 is given that its bytes must have"}
		}
	}
	for name := range spec.Tags {
		why := checkName(name)
		switch first, _, _ := strings.Cut(collisionKey(name), "/"); {
		case why != "":
		case first == "data":
			why = "a tag file can't lie under data/"
		case first == declarationFile, first == infoFile, first == fetchFile,
			strings.HasPrefix(first, "manifest-"), strings.HasPrefix(first, "tagmanifest-"):
			why = "the name is one of BagIt's own"
		default:
			why = names.add(name)
		}
		if why != "" {
			return &Error{Kind: ErrName, Path: name, Message: why, Remedy: "give the tag file another name"}
		}
	}
	for _, p := range spec.Info {
		if why := checkPair(p); why != "" {
			return &Error{Kind: ErrSpec, Path: infoFile, Message: fmt.Sprintf("label %q: %s", p.Label, why)}
		}
		if strings.EqualFold(p.Label, oxumLabel) {
			return &Error{Kind: ErrSpec, Path: infoFile, Message: oxumLabel + " is counted here and can't be given"}
		}
	}
	return nil
}

// readAll reads a small file of a bag; a bag can hold anything, so there is a limit.
func readAll(file string, limit int64) ([]byte, error) {
	f, err := OpenRegular(file)
	if err != nil {
		return nil, err
	}
	defer f.Close() // read only: nothing to lose
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, ioError(file, "reading the file", err)
	}
	if int64(len(data)) > limit {
		return nil, &Error{Kind: ErrIO, Path: file, Message: fmt.Sprintf("it is larger than %d bytes", limit)}
	}
	return data, nil
}
