package staged

import (
	"crypto/sha256"
	"errors"
	"hash"
	"io"
	"os"
	"sync"
	"sync/atomic"
)

// sink hashes a file and writes it, each on a goroutine of its own. end stops them.
type sink struct {
	f    *os.File
	hash hash.Hash
	off  int64
	buf  []byte
	full chan []byte
	sums chan []byte // hashed
	free chan []byte
	done sync.WaitGroup

	ended bool
	err   atomic.Pointer[error] // of writing
}

const (
	sinkBytes = 256 << 10
	sinkBufs  = 5
)

func newSink(f *os.File) *sink {
	s := &sink{f: f, hash: sha256.New(), full: make(chan []byte, sinkBufs), sums: make(chan []byte, sinkBufs), free: make(chan []byte, sinkBufs)}
	for range sinkBufs {
		s.free <- nil
	}
	s.done.Go(s.sum)
	s.done.Go(s.write)
	return s
}

func (s *sink) sum() {
	defer close(s.sums)
	for b := range s.full {
		s.hash.Write(b)
		s.sums <- b
	}
}

func (s *sink) write() {
	for b := range s.sums {
		if s.failed() == nil {
			if _, err := s.f.Write(b); err != nil {
				s.err.Store(&err)
			}
		}
		s.free <- b
	}
}

// failed gives the fault of writing, if there was one.
func (s *sink) failed() error {
	if err := s.err.Load(); err != nil {
		return *err
	}
	return nil
}

// Write takes p. A fault of the disk may show only at a later call.
func (s *sink) Write(p []byte) (int, error) {
	if err := s.failed(); err != nil {
		return 0, err
	}
	if s.buf == nil {
		if s.buf = <-s.free; s.buf == nil {
			s.buf = make([]byte, 0, sinkBytes)
		}
		s.buf = s.buf[:0]
	}
	s.buf = append(s.buf, p...)
	s.off += int64(len(p))
	if len(s.buf) >= sinkBytes {
		s.full <- s.buf
		s.buf = nil
	}
	return len(p), nil
}

// Seek tells where the file is; the IPC writer asks for nothing else.
func (s *sink) Seek(off int64, whence int) (int64, error) {
	if off != 0 || whence != io.SeekCurrent {
		return 0, errors.New("staged: writer went back")
	}
	return s.off, nil
}

// end writes what is left and gives the fault. The hash is complete after it. Nothing may be written after it.
func (s *sink) end() error {
	if !s.ended {
		s.ended = true
		if s.buf != nil {
			s.full <- s.buf
		}
		close(s.full)
	}
	s.done.Wait()
	return s.failed()
}
