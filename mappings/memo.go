package mappings

import (
	"hash/maphash"

	"sheetlift/importers/source"
)

// memo keeps what cells came to that were read before. It is bounded, and it switches itself off where values hardly repeat;
// neither changes any outcome. The text decides what is the same cell. Only within one block, whose shared strings stand still,
// the same place in them is the same text without a look at it.
type memo[T any] struct {
	off       bool
	slots     []remembered[T] // by hash, as many as a power of two
	held      int
	hit, miss int
	seed      maphash.Seed
	hash      uint64 // of the cell that was asked for last
	block     uint64 // counts blocks
	places    [memoPlaces]place[T]
}

type remembered[T any] struct {
	hash uint64
	text string
	as   uint64
	is   T
	used bool
}

type place[T any] struct {
	off, len uint32
	as       uint64 // with the number of the block
	is       T
}

const (
	memoSize   = 8192
	memoTrial  = 1024 // so many values must show that some repeat
	memoProbes = 8    // so that no choice of values makes it slow
	memoPlaces = 64
	blockShift = 32
)

// cellAs is what the outcome of a cell depends on beside its text: how it is marked, and which of the field's columns it is in.
func cellAs(c source.Cell, k int) uint64 {
	return uint64(c.Kind) | uint64(c.Class)<<4 | uint64(c.Flags&(source.ZeroPadded|source.ISODate))<<8 | uint64(k&0xffff)<<16
}

// begin must be called before the cells of another block.
func (m *memo[T]) begin() { m.block++ }

// at is where the cell's place in the shared strings is kept.
func (m *memo[T]) at(c source.Cell) *place[T] { return &m.places[c.Off*0x9E3779B1>>26%memoPlaces] }

// get gives what a cell that is not empty came to before, if it is known.
func (m *memo[T]) get(c source.Cell, raw []byte, as uint64) (is T, known bool) {
	here := as | m.block<<blockShift
	p := m.at(c)
	if c.Flags&source.Shared != 0 && p.off == c.Off && p.len == c.Len && p.as == here {
		m.hit++
		return p.is, true
	}
	return m.find(c, raw, as)
}

// say gives what the cell's text comes to by says, which is asked if that is not known. A number is a text as it is shown.
func (m *memo[T]) say(b *source.Block, c source.Cell, says func(text []byte) T) T {
	raw := b.Bytes(c)
	as := cellAs(c, 0)
	if !m.off {
		if said, known := m.get(c, raw, as); known {
			return said
		}
	}
	text := raw
	if c.Kind == source.Number {
		if t, ok := numberText(nil, raw); ok {
			text = t
		}
	}
	said := says(text)
	if !m.off && m.room() {
		m.put(c, raw, as, said)
	}
	return said
}

func (m *memo[T]) find(c source.Cell, raw []byte, as uint64) (is T, known bool) {
	if m.slots == nil {
		m.seed, m.slots = maphash.MakeSeed(), make([]remembered[T], 64)
	}
	m.hash = maphash.Bytes(m.seed, raw)
	for n := range memoProbes {
		s := &m.slots[(int(m.hash)+n)&(len(m.slots)-1)]
		if !s.used {
			break
		}
		if s.hash == m.hash && s.as == as && s.text == string(raw) {
			m.hit++
			m.place(c, as, s.is)
			return s.is, true
		}
	}
	m.miss++
	return is, false
}

func (m *memo[T]) place(c source.Cell, as uint64, is T) {
	if c.Flags&source.Shared != 0 {
		*m.at(c) = place[T]{c.Off, c.Len, as | m.block<<blockShift, is}
	}
}

// room makes room for what the cell that was just asked for comes to. There is none if it is not worth it.
func (m *memo[T]) room() bool {
	switch {
	case m.held == memoTrial && m.hit < (m.hit+m.miss)/16, m.held >= memoSize && m.hit < (m.hit+m.miss)/2:
		m.off, m.slots = true, nil
		return false
	case m.held >= memoSize:
		clear(m.slots)
		m.held, m.hit, m.miss = 0, 0, 0
	case m.held > len(m.slots)/2:
		before := m.slots
		m.slots, m.held = make([]remembered[T], 4*len(before)), 0
		for _, s := range before {
			if s.used {
				m.insert(s)
			}
		}
	}
	return true
}

// put keeps what the cell that was just asked for came to.
func (m *memo[T]) put(c source.Cell, raw []byte, as uint64, is T) {
	m.insert(remembered[T]{m.hash, string(raw), as, is, true})
	m.place(c, as, is)
}

func (m *memo[T]) insert(s remembered[T]) {
	home := int(s.hash)
	for n := range memoProbes {
		if to := &m.slots[(home+n)&(len(m.slots)-1)]; !to.used {
			*to = s
			m.held++
			return
		}
	}
	m.slots[home&(len(m.slots)-1)] = s // another one makes way
}
