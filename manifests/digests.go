package manifests

import (
	"io"
	"os"
	"sync"
)

// Digests works out the digests of files once for all that ask for them at about the same time, as the check of a bag and that of a file in it
// do. A file that was written to in between, by its size and time of change, is another one. A nil Digests shares nothing.
type Digests struct {
	mu sync.Mutex
	by map[string]*digesting
}

type digesting struct {
	file os.FileInfo
	done chan struct{}
	sha  string
	size int64
	err  error
}

// file is FileDigest.
func (d *Digests) file(path string) (sha string, size int64, err error) {
	f, err := OpenRegular(path)
	if err != nil {
		return "", 0, err
	}
	defer f.Close() // read only: nothing to lose
	is, err := f.Stat()
	if err != nil {
		return "", 0, ioError(path, "opening the file", err)
	}
	return d.reader(path, is, f)
}

// reader gives the digest of what r reads of the file, or what somebody else has worked out or is about to.
func (d *Digests) reader(path string, is os.FileInfo, r io.Reader) (sha string, size int64, err error) {
	if d == nil {
		return hashReader(path, r)
	}
	d.mu.Lock()
	other := d.by[path]
	if other == nil || !unchanged(other.file, is) {
		own := &digesting{file: is, done: make(chan struct{})}
		if d.by == nil {
			d.by = map[string]*digesting{}
		}
		d.by[path] = own
		d.mu.Unlock()
		defer close(own.done)
		own.sha, own.size, own.err = hashReader(path, r)
		return own.sha, own.size, own.err
	}
	d.mu.Unlock()
	if <-other.done; other.err != nil { // it may have been stopped
		return hashReader(path, r)
	}
	return other.sha, other.size, nil
}

// unchanged reports whether two looks at a file saw the same one, which nobody has written to in between.
func unchanged(a, b os.FileInfo) bool {
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}
