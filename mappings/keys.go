package mappings

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"io"
	"os"
	"slices"
	"strconv"

	"golang.org/x/text/unicode/norm"

	"sheetlift/importers"
)

// appendKeyPart appends one value as it stands in a key: texts in NFC, instants as UTC to the microsecond.
func appendKeyPart(p []byte, f *importers.Field, v *importers.Value) []byte {
	switch f.Type {
	case importers.DateTime:
		var c civil
		seconds := floorDiv(v.Int, 1e6)
		c.setDay(int(floorDiv(seconds, 86400)))
		clock := int(seconds - floorDiv(seconds, 86400)*86400)
		c.hour, c.minute, c.sec, c.micro = clock/3600, clock/60%60, clock%60, int(v.Int-seconds*1e6)
		p = append(c.appendDay(p), 'T')
		return append(c.appendClock(p), 'Z')
	case importers.Bool:
		return strconv.AppendBool(p, v.Int != 0)
	case importers.Integer:
		return strconv.AppendInt(p, v.Int, 10)
	}
	text := v.Text
	if !ascii(text) { // which is in NFC
		text = norm.NFC.String(text)
	}
	for i := range len(text) {
		if text[i] == '\\' || text[i] == '|' {
			p = append(p, '\\')
		}
		p = append(p, text[i])
	}
	return p
}

func ascii(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b != 0 && (a < 0) != (b < 0) {
		q--
	}
	return q
}

// keySet finds the keys that occur in more than one row. It keeps a digest and a row number a key; above keysInMemory it
// sorts what it has into a run of an unlinked temporary file, so that memory does not grow with the sheet.
type keySet struct {
	entries []keyEntry
	limit   int
	file    *os.File
	runs    []int // entries in each run
	rows    int
}

type keyEntry struct {
	digest [16]byte
	row    uint32
}

const (
	keysInMemory = 2 << 20
	keyEntrySize = 20
)

func (s *keySet) add(key []byte, row int) error {
	sum := sha256.Sum256(key)
	s.entries = append(s.entries, keyEntry{digest: [16]byte(sum[:16]), row: uint32(row)})
	s.rows++
	if len(s.entries) >= s.limit {
		return s.spill()
	}
	return nil
}

func (s *keySet) sort() {
	slices.SortFunc(s.entries, compareKeys)
}

func compareKeys(a, b keyEntry) int {
	if x, y := binary.BigEndian.Uint64(a.digest[:]), binary.BigEndian.Uint64(b.digest[:]); x != y {
		if x < y {
			return -1
		}
		return 1
	}
	if c := bytes.Compare(a.digest[8:], b.digest[8:]); c != 0 {
		return c
	}
	return int(int64(a.row) - int64(b.row))
}

func (s *keySet) spill() error {
	if s.file == nil {
		f, err := os.CreateTemp("", "sheetlift-keys-*")
		if err != nil {
			return err
		}
		if err := os.Remove(f.Name()); err != nil { // nobody else opens it, and it is gone however we end
			return err
		}
		s.file = f
	}
	s.sort()
	w := bufio.NewWriterSize(s.file, 1<<16)
	var buf [keyEntrySize]byte
	for _, e := range s.entries {
		copy(buf[:], e.digest[:])
		binary.LittleEndian.PutUint32(buf[16:], e.row)
		if _, err := w.Write(buf[:]); err != nil {
			return err
		}
	}
	s.runs = append(s.runs, len(s.entries))
	s.entries = s.entries[:0]
	return w.Flush()
}

// groups gives the rows of each key that occurs more than once, ordered by their first rows, and the number of distinct keys.
func (s *keySet) groups() (groups [][]int, distinct int, err error) {
	next, err := s.sorted()
	if err != nil {
		return nil, 0, err
	}
	var group []int
	var last [16]byte
	end := func() {
		if len(group) > 1 {
			groups = append(groups, slices.Clone(group))
		}
		group = group[:0]
	}
	for {
		e, ok, err := next()
		if err != nil {
			return nil, 0, err
		}
		if !ok {
			break
		}
		if e.digest != last || len(group) == 0 {
			end()
			last = e.digest
			distinct++
		}
		group = append(group, int(e.row))
	}
	end()
	slices.SortFunc(groups, func(a, b []int) int { return a[0] - b[0] })
	return groups, distinct, nil
}

// sorted gives all entries in order, merged from the runs.
func (s *keySet) sorted() (next func() (keyEntry, bool, error), err error) {
	s.sort()
	memory := s.entries
	sources := []func() (keyEntry, bool, error){func() (keyEntry, bool, error) {
		if len(memory) == 0 {
			return keyEntry{}, false, nil
		}
		e := memory[0]
		memory = memory[1:]
		return e, true, nil
	}}
	var from int64
	for _, n := range s.runs {
		r := bufio.NewReaderSize(io.NewSectionReader(s.file, from, int64(n)*keyEntrySize), 1<<16)
		from += int64(n) * keyEntrySize
		sources = append(sources, func() (keyEntry, bool, error) {
			var buf [keyEntrySize]byte
			if _, err := io.ReadFull(r, buf[:]); err == io.EOF {
				return keyEntry{}, false, nil
			} else if err != nil {
				return keyEntry{}, false, err
			}
			return keyEntry{digest: [16]byte(buf[:16]), row: binary.LittleEndian.Uint32(buf[16:])}, true, nil
		})
	}
	heads := make([]keyEntry, len(sources))
	live := make([]bool, len(sources))
	for i, f := range sources {
		if heads[i], live[i], err = f(); err != nil {
			return nil, err
		}
	}
	return func() (keyEntry, bool, error) {
		best := -1
		for i := range heads {
			if live[i] && (best < 0 || compareKeys(heads[i], heads[best]) < 0) {
				best = i
			}
		}
		if best < 0 {
			return keyEntry{}, false, nil
		}
		e := heads[best]
		var err error
		heads[best], live[best], err = sources[best]()
		return e, true, err
	}, nil
}

func (s *keySet) close() {
	if s.file != nil {
		s.file.Close()
	}
	s.entries, s.file, s.runs = nil, nil, nil
}
