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

// keySet finds the keys that occur in more than one row, and those that differ only in how they look. It keeps two digests and a
// row number a key: of the key as people see it (see lookalike), and of its very bytes. Above keysInMemory it
// sorts what it has into a run of an unlinked temporary file, so that memory does not grow with the sheet.
type keySet struct {
	entries []keyEntry
	limit   int
	file    *os.File
	runs    []int // entries in each run
	rows    int
	folded  []byte
}

// alike counts the keys that differ from another only in case, width or look.
type alike struct{ rows, first, last int }

func (a *alike) add(row int) {
	a.rows++
	if a.first == 0 || row < a.first {
		a.first = row
	}
	a.last = max(a.last, row)
}

// fnv1a is the 64-bit FNV-1a hash, which tells apart what is one key when folded.
func fnv1a(p []byte) uint64 {
	h := uint64(14695981039346656037)
	for _, c := range p {
		h = (h ^ uint64(c)) * 1099511628211
	}
	return h | 1 // never 0
}

type keyEntry struct {
	digest [16]byte // of the folded key
	exact  uint64   // of the key; 0 if it is folded already
	row    uint32
}

const (
	keysInMemory = 2 << 20
	keyEntrySize = 28
)

func (s *keySet) add(key []byte, row int) error {
	s.folded = lookalike(s.folded[:0], key)
	sum := sha256.Sum256(s.folded)
	e := keyEntry{digest: [16]byte(sum[:16]), row: uint32(row)}
	if !bytes.Equal(s.folded, key) {
		e.exact = fnv1a(key)
	}
	s.entries = append(s.entries, e)
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
	if a.exact != b.exact {
		if a.exact < b.exact {
			return -1
		}
		return 1
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
		binary.LittleEndian.PutUint64(buf[16:], e.exact)
		binary.LittleEndian.PutUint32(buf[24:], e.row)
		if _, err := w.Write(buf[:]); err != nil {
			return err
		}
	}
	s.runs = append(s.runs, len(s.entries))
	s.entries = s.entries[:0]
	return w.Flush()
}

// groups gives the rows of each key that occurs more than once, ordered by their first rows, the number of distinct keys, and
// those that are alike.
func (s *keySet) groups() (groups [][]int, distinct int, like alike, err error) {
	next, err := s.sorted()
	if err != nil {
		return nil, 0, like, err
	}
	var group []int // rows of one key
	var last keyEntry
	pending := 0 // row of the first key of those that may be alike
	end := func() {
		if len(group) > 1 {
			groups = append(groups, slices.Clone(group))
		}
		group = group[:0]
	}
	for {
		e, ok, err := next()
		if err != nil {
			return nil, 0, like, err
		}
		if !ok {
			break
		}
		if e.digest != last.digest || e.exact != last.exact || len(group) == 0 {
			if len(group) > 0 && e.digest == last.digest {
				if pending > 0 {
					like.add(pending)
				}
				pending = 0
				like.add(int(e.row))
			} else {
				pending = int(e.row)
			}
			end()
			last = e
			distinct++
		}
		group = append(group, int(e.row))
	}
	end()
	slices.SortFunc(groups, func(a, b []int) int { return a[0] - b[0] })
	return groups, distinct, like, nil
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
			return keyEntry{digest: [16]byte(buf[:16]), exact: binary.LittleEndian.Uint64(buf[16:]), row: binary.LittleEndian.Uint32(buf[24:])}, true, nil
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
