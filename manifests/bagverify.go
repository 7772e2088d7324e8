package manifests

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// FaultKind says what is wrong with one file of a bag.
type FaultKind string

// The faults of a bag.
const (
	Missing    FaultKind = "missing"    // listed, and not there
	Changed    FaultKind = "changed"    // its bytes are not those of its digest
	Added      FaultKind = "added"      // there, and listed nowhere
	Unsafe     FaultKind = "unsafe"     // a link, a device, or a path that may not stand in a bag
	Malformed  FaultKind = "malformed"  // a manifest, bagit.txt or bag-info.txt that is not as it should be
	Total      FaultKind = "total"      // Payload-Oxum does not agree with the payload
	Unreadable FaultKind = "unreadable" // it could not be read, so nothing can be said
)

// Fault is one thing wrong with a bag.
type Fault struct {
	Kind    FaultKind
	Path    string // slash-separated, within the bag
	Message string
}

// BagError lists everything that is wrong with a bag, by path.
type BagError struct {
	Dir    string
	Faults []Fault
}

// Error names the bag and its first faults.
func (e *BagError) Error() string {
	const shown = 5
	var b strings.Builder
	fmt.Fprintf(&b, "bag %s is not intact, %d fault(s): ", e.Dir, len(e.Faults))
	for i, f := range e.Faults {
		if i == shown {
			fmt.Fprintf(&b, "; and %d more", len(e.Faults)-shown)
			break
		}
		if i > 0 {
			b.WriteString("; ")
		}
		fmt.Fprintf(&b, "%s %q (%s)", f.Kind, f.Path, f.Message)
	}
	b.WriteString("; restore the bag from a copy; without one, start a new batch under another name")
	return b.String()
}

// Unwrap makes errors.Is(err, ErrIntegrity) true.
func (e *BagError) Unwrap() error { return ErrIntegrity }

// maxTagBytes bounds what is read into memory of a bag's manifests: some 500,000 files.
const maxTagBytes = 64 << 20

// VerifyBag reads the whole bag at dir and gives what it holds, or a *BagError with every fault. A bag that is not there at
// all is a *BagError too: what was frozen must not vanish.
//
// The signature, if there is one, is returned and not judged: see VerifySignature. Digests that are worked out anyway are shared.
func VerifyBag(dir string, shared *Digests) (*Bag, error) {
	v := verifier{dir: filepath.Clean(dir), digests: shared, files: make(map[string]int64), dirs: make(map[string]bool), known: make(map[[2]string]bool)}
	bag := v.verify()
	if len(v.faults) > 0 {
		slices.SortStableFunc(v.faults, func(a, b Fault) int { return cmp.Or(strings.Compare(a.Path, b.Path), cmp.Compare(a.Kind, b.Kind)) })
		return nil, &BagError{Dir: v.dir, Faults: v.faults}
	}
	return bag, nil
}

type verifier struct {
	dir     string
	digests *Digests
	files   map[string]int64 // regular files found, and their sizes
	dirs    map[string]bool
	faults  []Fault
	known   map[[2]string]bool // kind and path of the faults so far
}

func (v *verifier) fault(kind FaultKind, path, format string, args ...any) {
	v.add(Fault{Kind: kind, Path: path, Message: fmt.Sprintf(format, args...)})
}

func (v *verifier) add(faults ...Fault) {
	for _, f := range faults {
		v.faults = append(v.faults, f)
		v.known[[2]string{string(f.Kind), f.Path}] = true
	}
}

func (v *verifier) has(kind FaultKind, path string) bool {
	return v.known[[2]string{string(kind), path}]
}

func (v *verifier) verify() *Bag {
	if st, err := os.Stat(v.dir); err != nil || !st.IsDir() {
		v.fault(Missing, ".", "there is no such folder")
		return nil
	}
	v.walk()
	bag := &Bag{Dir: v.dir}
	if d, ok := v.read(declarationFile); ok && string(d) != declaration {
		v.fault(Malformed, declarationFile, "it does not say BagIt-Version 1.0 and UTF-8 as ours do")
	}
	if _, there := v.files[fetchFile]; there {
		v.fault(Malformed, fetchFile, "a frozen bag holds all of its files; this one asks to fetch some")
	}
	listed := map[string]bool{tagManifestFile: true, SignatureFile: true}

	// Each manifest's own bytes are read once, digested and parsed from the same memory.
	var parsed []Fault
	if data, ok := v.read(tagManifestFile); ok {
		bag.TagManifest = data
		bag.Digest = hexSum(data)
		bag.Tags, parsed = parseManifest(tagManifestFile, data)
		v.add(parsed...)
		v.checkTagManifest(bag.Tags)
		v.checkFiles(bag.Tags, listed)
	}
	if data, ok := v.read(manifestFile); ok {
		bag.Payload, parsed = parseManifest(manifestFile, data)
		v.add(parsed...)
		v.differs(bag.Tags, manifestFile, data)
		bag.Payload = slices.DeleteFunc(bag.Payload, func(f File) bool {
			outside := !strings.HasPrefix(f.Path, payloadDir)
			if outside {
				v.fault(Unsafe, f.Path, "%s lists it, and it does not lie under data/", manifestFile)
			}
			return outside
		})
		v.checkFiles(bag.Payload, listed)
	}
	if data, ok := v.read(infoFile); ok {
		bag.Info, parsed = parseInfo(data)
		v.add(parsed...)
		v.differs(bag.Tags, infoFile, data)
		v.checkOxum(bag.Info)
	}
	v.checkAdded(listed)
	if _, there := v.files[SignatureFile]; there {
		bag.Signature, _ = v.read(SignatureFile)
	}
	return bag
}

// walk lists what is in the bag, without following or opening anything.
func (v *verifier) walk() {
	err := filepath.WalkDir(v.dir, func(p string, d fs.DirEntry, err error) error {
		rel, rerr := filepath.Rel(v.dir, p)
		if rerr != nil {
			return rerr
		}
		rel = filepath.ToSlash(rel)
		switch {
		case err != nil:
			v.fault(Unreadable, rel, "%s", cause(err))
			if d != nil && d.IsDir() {
				return fs.SkipDir
			}
		case rel == ".":
		case d.IsDir():
			v.dirs[rel] = true
		case d.Type()&fs.ModeSymlink != 0:
			v.fault(Unsafe, rel, "it is a symbolic link; a bag holds files only")
		case !d.Type().IsRegular():
			v.fault(Unsafe, rel, "it is neither a file nor a folder")
		default:
			st, err := d.Info()
			if err != nil {
				v.fault(Unreadable, rel, "%s", cause(err))
				return nil
			}
			v.files[rel] = st.Size()
		}
		return nil
	})
	if err != nil {
		v.fault(Unreadable, ".", "%s", cause(err))
	}
}

// read gives the bytes of one of BagIt's own files, which must be there.
func (v *verifier) read(name string) ([]byte, bool) {
	if _, there := v.files[name]; !there {
		v.fault(Missing, name, "every bag has one")
		return nil, false
	}
	data, err := readAll(filepath.Join(v.dir, name), maxTagBytes)
	if err != nil {
		v.unreadable(name, err)
		return nil, false
	}
	return data, true
}

func (v *verifier) unreadable(name string, err error) {
	var e *Error
	if errors.As(err, &e) {
		v.fault(Unreadable, name, "%s", e.Message)
		return
	}
	v.fault(Unreadable, name, "%s", cause(err))
}

// checkTagManifest: the files that make the bag's meaning must be under the digest that is signed, and the payload is not
// the tag manifest's business.
func (v *verifier) checkTagManifest(tags []File) {
	for _, must := range []string{declarationFile, infoFile, manifestFile} {
		if !slices.ContainsFunc(tags, func(f File) bool { return f.Path == must }) {
			v.fault(Malformed, tagManifestFile, "it does not list %s", must)
		}
	}
	for _, f := range tags {
		if strings.HasPrefix(f.Path, payloadDir) || f.Path == tagManifestFile || f.Path == SignatureFile {
			v.fault(Malformed, tagManifestFile, "it lists %s, which does not belong there", f.Path)
		}
	}
}

// checkFiles hashes the listed files and sets their sizes.
func (v *verifier) checkFiles(files []File, listed map[string]bool) {
	for i := range files {
		f := &files[i]
		listed[f.Path] = true
		if _, there := v.files[f.Path]; !there {
			if !v.has(Unsafe, f.Path) && !v.has(Missing, f.Path) {
				v.fault(Missing, f.Path, "it is listed and not there")
			}
			continue
		}
		sha, size, err := v.digests.file(filepath.Join(v.dir, filepath.FromSlash(f.Path)))
		if err != nil {
			v.unreadable(f.Path, err)
			continue
		}
		f.Size = size
		if sha != f.SHA256 {
			v.fault(Changed, f.Path, "SHA-256 should be %s and is %s", f.SHA256, sha)
		}
	}
}

// differs: the bytes that were parsed must be those that the tag manifest names, even if the file changed between two reads.
func (v *verifier) differs(tags []File, name string, data []byte) {
	for _, f := range tags {
		if f.Path == name && f.SHA256 != hexSum(data) && !v.has(Changed, name) {
			v.fault(Changed, name, "SHA-256 should be %s and is %s", f.SHA256, hexSum(data))
		}
	}
}

func (v *verifier) checkOxum(info []Pair) {
	var total int64
	var count int
	for p, size := range v.files {
		if strings.HasPrefix(p, payloadDir) {
			total += size
			count++
		}
	}
	is := fmt.Sprintf("%d.%d", total, count)
	said := 0
	for _, p := range info {
		if !strings.EqualFold(p.Label, oxumLabel) {
			continue
		}
		said++
		if p.Value != is {
			v.fault(Total, infoFile, "%s says %s and the payload has %s (bytes.files)", oxumLabel, p.Value, is)
		}
	}
	if said != 1 {
		v.fault(Malformed, infoFile, "%s must stand there once and stands there %d times", oxumLabel, said)
	}
}

// checkAdded finds what is listed nowhere: files, and folders that hold nothing listed.
func (v *verifier) checkAdded(listed map[string]bool) {
	needed := map[string]bool{"data": true}
	for p := range listed {
		for i := range len(p) {
			if p[i] == '/' {
				needed[p[:i]] = true
			}
		}
	}
	for p := range v.files {
		if !listed[p] {
			v.fault(Added, p, "it is in the bag and no manifest lists it")
		}
	}
	for p := range v.dirs {
		if !needed[p] && !v.has(Unreadable, p) {
			v.fault(Added, p, "the folder is in the bag and no manifest lists a file in it")
		}
	}
}
