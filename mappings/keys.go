package mappings

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/binary"
	"hash/maphash"
	"io"
	"os"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"

	"golang.org/x/text/unicode/norm"

	"sheetlift/importers"
	"sheetlift/importers/memfile"
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
	if plainKeyText(text) {
		return append(p, text...)
	}
	if !importers.ASCII(text) { // which is in NFC
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

// plainKeyText reports whether a text stands in a key as it is.
func plainKeyText(s string) bool {
	for i := range len(s) {
		if c := s[i]; c >= 0x80 || c == '\\' || c == '|' {
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

// keySet finds the keys that occur in more than one row, and those that differ only in how they look. It keeps two hashes and a
// row number a key: of the key as people see it (see lookalike), and of its very bytes. The keys lie in parts by the first byte of
// their hashes once they are looked through, so that a part takes little memory, and what occurs once, as nearly all does, is never sorted. Of
// many keys only those are looked through of which importers.Counts says that they may occur twice. Above the limit it sorts what it has into
// a run of an unlinked temporary file, so that memory does not grow with the sheet.
//
// Nothing, no order either, may depend on a hash but whether two are equal, and 96 bits under seeds that nobody knows are as good for that as a digest.
type keySet struct {
	fresh  []keyEntry             // not laid aside yet; all of them if they are few
	aside  memfile.List[keyEntry] // the others
	counts importers.Counts       // of what is aside
	held   int                    // entries in fresh and aside
	few    int                    // fewer than these are not laid aside
	limit  int
	file   *os.File
	runs   []int // entries in each run
	rows   int
	folded []byte
	first  maphash.Seed
	second maphash.Seed
	exact  maphash.Seed
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

func (a *alike) join(o alike) {
	if a.first == 0 || o.first > 0 && o.first < a.first {
		a.first = o.first
	}
	a.rows, a.last = a.rows+o.rows, max(a.last, o.last)
}

type keyEntry struct {
	folded uint64 // of the folded key
	exact  uint64 // of the key; 0 if it is folded already
	more   uint32 // of the folded key
	row    uint32
}

func (e *keyEntry) looksLike(o *keyEntry) bool { return e.folded == o.folded && e.more == o.more }

const (
	keysInMemory = 2 << 20
	keyEntrySize = 24
	keysFew      = 32 << 10
	keysFresh    = 1024 // are laid aside at once
)

func newKeySet(limit int) keySet {
	return keySet{few: keysFew, limit: limit, first: maphash.MakeSeed(), second: maphash.MakeSeed(), exact: maphash.MakeSeed()}
}

func (s *keySet) add(key []byte, row int) error { return s.insert(s.entry(key, row, &s.folded)) }

// entry digests a key. It changes nothing but the scratch.
func (s *keySet) entry(key []byte, row int, scratch *[]byte) keyEntry {
	e := keyEntry{row: uint32(row)}
	folded := key
	if !foldedAlready(key) {
		*scratch = lookalike((*scratch)[:0], key)
		if folded = *scratch; !bytes.Equal(folded, key) {
			e.exact = maphash.Bytes(s.exact, key) | 1 // never 0
		}
	}
	e.folded, e.more = maphash.Bytes(s.first, folded), uint32(maphash.Bytes(s.second, folded))
	return e
}

func (s *keySet) insert(e keyEntry) error {
	s.fresh = append(s.fresh, e)
	s.held++
	s.rows++
	switch {
	case s.held >= s.limit:
		return s.spill()
	case len(s.fresh) >= s.few || s.aside.Len() > 0 && len(s.fresh) >= keysFresh:
		s.layAside()
	}
	return nil
}

// layAside counts the fresh entries and lays them aside.
func (s *keySet) layAside() {
	if s.aside.Len() == 0 {
		s.counts = importers.NewCounts(keysInMemory / 4)
	}
	for i := range s.fresh {
		s.counts.Add(s.fresh[i].folded)
	}
	s.aside.Append(s.fresh...)
	s.fresh = s.fresh[:0]
}

// forget forgets all entries but those of runs.
func (s *keySet) forget() {
	s.aside.Close()
	s.fresh, s.counts, s.held = s.fresh[:0], importers.Counts{}, 0
}

// foldedAlready reports whether lookalike surely gives the key as it is.
func foldedAlready(key []byte) bool {
	for _, c := range key {
		if c >= 0x80 || c-'A' <= 'Z'-'A' {
			return false
		}
	}
	return true
}

// keyParts are entries by the first byte of their hashes.
type keyParts [256][][]keyEntry

// keyChunk is how many entries a part grows by once it is no longer small.
const keyChunk = 512

func partOf(e *keyEntry) int { return int(e.folded >> 56) }

func (p *keyParts) put(e *keyEntry) {
	part := &p[partOf(e)]
	last := len(*part) - 1
	if last < 0 || len((*part)[last]) == cap((*part)[last]) {
		size := 8
		if last >= 0 {
			size = min(keyChunk, 4*cap((*part)[last]))
		}
		*part = append(*part, make([]keyEntry, 0, size))
		last++
	}
	(*part)[last] = append((*part)[last], *e)
}

// take appends the entries of part i, and forgets them.
func (p *keyParts) take(i int, to []keyEntry) []keyEntry {
	for _, chunk := range p[i] {
		to = append(to, chunk...)
	}
	p[i] = nil
	return to
}

func compareKeys(a, b keyEntry) int {
	switch {
	case a.folded != b.folded:
		return cmp.Compare(a.folded, b.folded)
	case a.more != b.more:
		return cmp.Compare(a.more, b.more)
	case a.exact != b.exact:
		return cmp.Compare(a.exact, b.exact)
	}
	return cmp.Compare(a.row, b.row)
}

// spill writes a run of all entries.
func (s *keySet) spill() error {
	s.aside.Append(s.fresh...)
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
	w := bufio.NewWriterSize(s.file, 1<<16)
	var parts keyParts
	var part, scratch []keyEntry
	var buf [keyEntrySize]byte
	const together = len(parts) / 8 // or all would be in memory once more
	for i := range parts {
		if i%together == 0 {
			for k := range s.aside.Pieces() {
				for _, e := range s.aside.Piece(k, &scratch) {
					if partOf(&e)/together == i/together {
						parts.put(&e)
					}
				}
			}
		}
		part = parts.take(i, part[:0])
		slices.SortFunc(part, compareKeys)
		for _, e := range part {
			binary.LittleEndian.PutUint64(buf[:], e.folded)
			binary.LittleEndian.PutUint64(buf[8:], e.exact)
			binary.LittleEndian.PutUint32(buf[16:], e.more)
			binary.LittleEndian.PutUint32(buf[20:], e.row)
			if _, err := w.Write(buf[:]); err != nil {
				return err
			}
		}
	}
	s.runs = append(s.runs, s.held)
	s.forget()
	return w.Flush()
}

// groups gives the rows of each key that occurs more than once, ordered by their rows, the number of distinct keys, and
// those that are alike.
func (s *keySet) groups() (groups [][]int, distinct int, like alike, err error) {
	var g keyGroups
	if len(s.runs) == 0 {
		s.collectAll(&g)
	} else {
		next, err := s.sorted()
		if err != nil {
			return nil, 0, like, err
		}
		for {
			e, ok, err := next()
			if err != nil {
				return nil, 0, like, err
			}
			if !ok {
				break
			}
			g.add(e)
		}
	}
	g.end()
	// Rows of several parts may have one number, and hashes differ from run to run: all the rows decide.
	slices.SortFunc(g.groups, slices.Compare[[]int])
	return g.groups, g.distinct, g.like, nil
}

// collectAll collects what may occur twice, several parts beside each other: no two have a key in common.
func (s *keySet) collectAll(g *keyGroups) {
	few := s.aside.Len() == 0
	if few {
		s.aside.Append(s.fresh...)
	} else {
		s.layAside()
		s.counts.Settle()
	}
	var sift, collect sync.WaitGroup
	var turn atomic.Int64
	sifted := make([]keyParts, runtime.GOMAXPROCS(0))
	for w := range sifted {
		sift.Go(func() {
			var scratch []keyEntry
			for i := int(turn.Add(1)) - 1; i < s.aside.Pieces(); i = int(turn.Add(1)) - 1 {
				for _, e := range s.aside.Piece(i, &scratch) {
					if few || s.counts.Several(e.folded) {
						sifted[w].put(&e)
					}
				}
			}
		})
	}
	sift.Wait()
	found := make([]keyGroups, len(sifted))
	turn.Store(0)
	for w := range found {
		collect.Go(func() {
			for i := int(turn.Add(1)) - 1; i < len(keyParts{}); i = int(turn.Add(1)) - 1 {
				found[w].part = found[w].part[:0]
				for k := range sifted {
					found[w].part = sifted[k].take(i, found[w].part)
				}
				found[w].collect()
			}
		})
	}
	collect.Wait()
	looked := 0
	for w := range found {
		looked += found[w].looked
		g.join(&found[w])
	}
	g.distinct += s.held - looked
}

// collect adds the keys of the part that look like others of it, in order, and counts the rest.
func (g *keyGroups) collect() {
	part := g.part
	g.looked += len(part)
	size := 64
	for size < 2*len(part) {
		size *= 2
	}
	if len(g.slots) < size {
		g.slots = make([]uint32, size)
	}
	slots := g.slots[:size]
	clear(slots)
	var several []keyEntry
	var moved map[uint32]bool // entries that joined the others like them, once there was a second one
	for n := range part {
		e := &part[n]
		at := int(e.folded) & (size - 1)
		for slots[at] != 0 && !part[slots[at]-1].looksLike(e) {
			at = (at + 1) & (size - 1)
		}
		first := slots[at]
		if first == 0 {
			slots[at] = uint32(n + 1)
			continue
		}
		if moved == nil {
			moved = map[uint32]bool{}
		}
		if !moved[first] {
			moved[first] = true
			several = append(several, part[first-1])
		}
		several = append(several, *e)
	}
	slices.SortFunc(several, compareKeys)
	for _, e := range several {
		g.add(e)
	}
	g.distinct += len(part) - len(several)
}

// keyGroups takes entries in order.
type keyGroups struct {
	groups   [][]int
	distinct int
	like     alike

	group   []int // rows of one key
	last    keyEntry
	pending int // row of the first key of those that may be alike

	part   []keyEntry // the entries of one part
	slots  []uint32   // scratch: entries of the part by hash, from 1
	looked int        // how many entries the parts had
}

// join adds what others found in other parts.
func (g *keyGroups) join(o *keyGroups) {
	g.end()
	o.end()
	g.groups = append(g.groups, o.groups...)
	g.distinct += o.distinct
	g.like.join(o.like)
}

func (g *keyGroups) add(e keyEntry) {
	if alike := e.looksLike(&g.last); !alike || e.exact != g.last.exact || len(g.group) == 0 {
		if len(g.group) > 0 && alike {
			if g.pending > 0 {
				g.like.add(g.pending)
			}
			g.pending = 0
			g.like.add(int(e.row))
		} else {
			g.pending = int(e.row)
		}
		g.end()
		g.last = e
		g.distinct++
	}
	g.group = append(g.group, int(e.row))
}

func (g *keyGroups) end() {
	if len(g.group) > 1 {
		g.groups = append(g.groups, slices.Clone(g.group))
	}
	g.group = g.group[:0]
}

// sorted gives all entries in order, merged from the runs and what is still in memory.
func (s *keySet) sorted() (next func() (keyEntry, bool, error), err error) {
	if s.held > 0 {
		if err := s.spill(); err != nil {
			return nil, err
		}
	}
	var sources []func() (keyEntry, bool, error)
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
			return keyEntry{folded: binary.LittleEndian.Uint64(buf[:]), exact: binary.LittleEndian.Uint64(buf[8:]), more: binary.LittleEndian.Uint32(buf[16:]), row: binary.LittleEndian.Uint32(buf[20:])}, true, nil
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
	s.forget()
	s.fresh, s.file, s.runs = nil, nil, nil
}
