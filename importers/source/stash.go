package source

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
)

// Stash keeps pieces of bytes to be gone over again. Up to a few MiB stay in memory; above that they lie in a file that was unlinked
// before its first byte and is gone however the process ends.
type Stash struct {
	file *os.File // nil: all of it is in held
	held []byte   // each piece with its length before it (uint32)
	size int64
}

const (
	stashInMemory = 256 << 10 // what stays in memory
	stashLarge    = 128 << 10 // a piece of so many bytes goes into the file as it is
	stashGiven    = 8 * mib   // is given back at once
	stashRead     = 16 << 10  // is read at once: of a large piece the rest goes to where it is wanted
)

// Add keeps a piece, which is copied.
func (s *Stash) Add(p []byte) error {
	if len(p) > math.MaxInt32 {
		return errors.New("a block is too large to be kept")
	}
	s.held = binary.LittleEndian.AppendUint32(s.held, uint32(len(p)))
	s.size += int64(4 + len(p))
	large := s.file != nil && len(p) >= stashLarge
	if !large {
		if s.held = append(s.held, p...); len(s.held) < stashInMemory {
			return nil
		}
	}
	if s.file == nil {
		f, err := os.CreateTemp("", "sheetlift-rows-*") // mode 0600
		if err != nil {
			return fmt.Errorf("keep rows in a temporary file: %w", err)
		}
		s.file = f
		if err := os.Remove(f.Name()); err != nil {
			return fmt.Errorf("keep rows in a temporary file: %w", err)
		}
	}
	if _, err := s.file.Write(s.held); err != nil {
		return fmt.Errorf("keep rows in a temporary file: %w", err)
	}
	s.held = s.held[:0]
	if !large {
		return nil
	}
	if _, err := s.file.Write(p); err != nil {
		return fmt.Errorf("keep rows in a temporary file: %w", err)
	}
	return nil
}

// Close gives all back.
func (s *Stash) Close() error {
	s.held = nil
	if s.file == nil {
		return nil
	}
	return s.file.Close()
}

// Replay gives the pieces in the order in which they were added. Nothing may be added once it is called. Several may be in use.
func (s *Stash) Replay() *StashReader {
	r := &StashReader{held: s.held}
	if s.file != nil {
		r.file = bufio.NewReaderSize(io.NewSectionReader(s.file, 0, s.size-int64(len(s.held))), stashRead)
	}
	return r
}

// Drain is Replay of a stash that nobody reads once more: the file's room is given back on the way. A system takes its time for that, and
// at the end something would wait for it.
func (s *Stash) Drain() *StashReader {
	r := s.Replay()
	r.drains = s.file
	return r
}

// StashReader reads a Stash.
type StashReader struct {
	file *bufio.Reader // first, if not nil
	held []byte

	drains      *os.File // whose room is given back; nil if it stays
	read, given int64    // up to where
}

// Next gives the next piece, or io.EOF after the last. It lies in buf, if buf is large enough, or in memory that nobody changes.
func (r *StashReader) Next(buf []byte) ([]byte, error) {
	if r.file != nil {
		var head [4]byte
		switch _, err := io.ReadFull(r.file, head[:]); {
		case errors.Is(err, io.EOF):
			r.file = nil
		case err != nil:
			return nil, fmt.Errorf("read kept rows: %w", err)
		default:
			n := int(binary.LittleEndian.Uint32(head[:]))
			if cap(buf) < n {
				buf = make([]byte, n, n+min(len(buf), n/4))
			}
			buf = buf[:n]
			if _, err := io.ReadFull(r.file, buf); err != nil {
				return nil, fmt.Errorf("read kept rows: %w", err)
			}
			if r.read += int64(len(head) + n); r.drains != nil && r.read-r.given >= stashGiven {
				giveBack(r.drains, r.given, r.read-r.given)
				r.given = r.read
			}
			return buf, nil
		}
	}
	if len(r.held) == 0 {
		return nil, io.EOF
	}
	end := 4 + int(binary.LittleEndian.Uint32(r.held))
	p := r.held[4:end:end]
	r.held = r.held[end:]
	return p, nil
}
