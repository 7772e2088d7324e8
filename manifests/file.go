package manifests

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"sync/atomic"
)

// copyBuffer is large enough that hashing, not system calls, is what a large file costs, and small enough to stay in a processor's caches.
const copyBuffer = 128 << 10

// FileDigest gives the lower-case hex SHA-256 and the size of the file at path.
func FileDigest(path string) (sha string, size int64, err error) {
	return (*Digests)(nil).file(path)
}

// OpenVerified opens the file at path and hashes it through the descriptor it returns. Another digest than
// sha256 (lower-case hex) gives an *IntegrityError and no file.
//
// The file may be replaced under its name meanwhile without harm: the descriptor still reads what was hashed. What is written into the
// very same file later cannot be noticed here; frozen and staged files are written once, under names that nothing reuses.
func OpenVerified(path, sha256 string) (*os.File, error) {
	f, check, err := OpenChecked(path, sha256, nil)
	if err != nil {
		return nil, err
	}
	if err := check.Wait(); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// Check hashes a file while it is read, see OpenChecked.
type Check struct {
	file *os.File
	was  os.FileInfo // of the file, when it was opened
	stop atomic.Bool
	done chan struct{}
	err  error
}

// OpenChecked is OpenVerified that hashes while the file is read. Nothing that was read may be believed, nor any fault of it told, before
// Wait said that the file is the right one. Wait or Stop must be called before the file is closed. A digest that is worked out anyway is shared.
func OpenChecked(path, sha256 string, shared *Digests) (*os.File, *Check, error) {
	f, err := OpenRegular(path)
	if err != nil {
		return nil, nil, err
	}
	was, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, nil, ioError(path, "opening the file", err)
	}
	c := &Check{file: f, was: was, done: make(chan struct{})}
	go func() {
		defer close(c.done)
		got, _, err := shared.reader(path, was, io.NewSectionReader(stoppable{f, &c.stop}, 0, math.MaxInt64))
		if err == nil && got != sha256 {
			err = &IntegrityError{Path: path, Want: sha256, Got: got}
		}
		c.err = err
	}()
	return f, c, nil
}

// Wait gives the *IntegrityError of a file that is another one. A file that was written to since it was opened is one too, whatever it holds
// by now: what was read meanwhile may have been neither.
func (c *Check) Wait() error {
	<-c.done
	if c.err != nil {
		return c.err
	}
	is, err := c.file.Stat()
	if err != nil {
		return ioError(c.file.Name(), "reading the file", err)
	}
	if !unchanged(is, c.was) {
		return &Error{Kind: ErrIntegrity, Path: c.file.Name(), Message: "it was written to while it was read", Remedy: "restore the file from a copy, find out what writes there, and try again"}
	}
	return nil
}

// Stop ends the check.
func (c *Check) Stop() {
	c.stop.Store(true)
	<-c.done
}

type stoppable struct {
	io.ReaderAt
	stop *atomic.Bool
}

func (r stoppable) ReadAt(p []byte, off int64) (int, error) {
	if r.stop.Load() {
		return 0, os.ErrClosed
	}
	return r.ReaderAt.ReadAt(p, off)
}

// OpenRegular opens a regular file for reading. It looks before it opens, because opening a named pipe waits for ever.
func OpenRegular(path string) (*os.File, error) {
	st, err := os.Stat(path)
	if err != nil {
		return nil, ioError(path, "opening the file", err)
	}
	if !st.Mode().IsRegular() {
		return nil, &Error{Kind: ErrIO, Path: path, Message: "it is not a regular file", Remedy: "name a file, not a folder, pipe or device"}
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, ioError(path, "opening the file", err)
	}
	return f, nil
}

func hashReader(path string, r io.Reader) (string, int64, error) {
	h := sha256.New()
	n, err := io.CopyBuffer(h, onlyReader{r}, make([]byte, copyBuffer))
	if err != nil {
		return "", 0, ioError(path, "reading the file", err)
	}
	return hex.EncodeToString(h.Sum(nil)), n, nil
}

// onlyReader hides WriterTo, so that io.CopyBuffer uses our buffer. Whoever waits for a processor goes first: a file is often hashed beside
// what does many small steps.
type onlyReader struct{ io.Reader }

func (r onlyReader) Read(p []byte) (int, error) {
	runtime.Gosched()
	return r.Reader.Read(p)
}

// writeNew creates the file at path (it must not exist), writes what r gives, and has it on disk when it returns.
// It gives digest and size of what it wrote. The mode is 0600.
func writeNew(ctx context.Context, path string, r io.Reader) (sha string, size int64, err error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", 0, ioError(path, "creating the file", err)
	}
	sha, size, err = copySync(ctx, path, f, r)
	if cerr := f.Close(); err == nil && cerr != nil {
		err = ioError(path, "writing the file", cerr)
	}
	return sha, size, err
}

// copySync copies r into f, syncs it, and digests what it wrote. It stops between chunks when ctx is done.
func copySync(ctx context.Context, path string, f *os.File, r io.Reader) (string, int64, error) {
	h := sha256.New()
	var size int64
	buf := make([]byte, copyBuffer)
	for {
		if err := ctx.Err(); err != nil {
			return "", size, err
		}
		n, rerr := r.Read(buf)
		if n > 0 {
			h.Write(buf[:n])
			size += int64(n)
			if _, err := f.Write(buf[:n]); err != nil {
				return "", size, ioError(path, "writing the file", err)
			}
		}
		if rerr == io.EOF {
			break
		}
		if rerr != nil {
			return "", size, ioError(path, "reading what to copy", rerr)
		}
	}
	if err := f.Sync(); err != nil {
		return "", size, ioError(path, "writing the file", err)
	}
	return hex.EncodeToString(h.Sum(nil)), size, nil
}

// syncDir puts a directory's entries on disk. Windows has no such call and needs none.
func syncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(dir)
	if err != nil {
		return ioError(dir, "opening the folder", err)
	}
	err = d.Sync()
	if cerr := d.Close(); err == nil {
		err = cerr
	}
	return ioError(dir, "writing the folder", err)
}

// syncTree syncs dir and every directory under it, innermost first.
func syncTree(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return ioError(dir, "reading the folder", err)
	}
	for _, e := range entries {
		if e.IsDir() {
			if err := syncTree(filepath.Join(dir, e.Name())); err != nil {
				return err
			}
		}
	}
	return syncDir(dir)
}
