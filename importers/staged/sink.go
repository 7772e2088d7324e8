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

// sink hashes a file, writes it, and makes it durable bit by bit, each on a goroutine of its own, so that the sync of the whole has
// little left to do: a disk may keep what it was handed to itself until it is told. end stops them.
type sink struct {
	f    *os.File
	hash hash.Hash
	off  int64
	buf  []byte
	full chan []byte
	sums chan []byte // hashed
	free chan []byte
	due  chan struct{} // much was written since the last sync began
	done sync.WaitGroup

	ended bool
	err   atomic.Pointer[error] // of writing or a sync
}

const (
	sinkBytes = 256 << 10
	sinkBufs  = 5
	sinkSync  = 8 << 20 // after so many bytes a sync is due
)

func newSink(f *os.File) *sink {
	s := &sink{f: f, hash: sha256.New(), full: make(chan []byte, sinkBufs), sums: make(chan []byte, sinkBufs), free: make(chan []byte, sinkBufs), due: make(chan struct{}, 1)}
	for range sinkBufs {
		s.free <- nil
	}
	s.done.Go(s.sum)
	s.done.Go(s.write)
	s.done.Go(s.sync)
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
	defer close(s.due)
	fresh := 0
	for b := range s.sums {
		if s.failed() == nil {
			n, err := s.f.Write(b)
			if err != nil {
				s.err.Store(&err)
			}
			if fresh += n; fresh >= sinkSync {
				select {
				case s.due <- struct{}{}:
					fresh = 0
				default: // one is due already
				}
			}
		}
		s.free <- b
	}
}

// sync keeps a fault: the system tells it once.
func (s *sink) sync() {
	for range s.due {
		if err := s.f.Sync(); err != nil {
			s.err.CompareAndSwap(nil, &err)
		}
	}
}

// failed gives the first fault so far.
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

// end writes what is left and gives the first fault. The hash is complete after it. Nothing may be written after it.
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
