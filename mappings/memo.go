package mappings

import (
	"strings"

	"sheetlift/importers/source"
)

// memo keeps the outcomes of cells that were read before. It is bounded, and it switches itself off where values hardly
// repeat; neither changes any outcome.
type memo struct {
	off        bool
	seen       map[string]*outcome
	buf        []byte
	asked, hit int
}

const memoSize = 8192

func (m *memo) key(k int, c source.Cell, raw []byte) []byte {
	m.buf = append(m.buf[:0], byte(k), byte(c.Kind), byte(c.Class), byte(c.Flags&(source.ZeroPadded|source.ISODate)))
	m.buf = append(m.buf, raw...)
	return m.buf
}

func (m *memo) get(key []byte) *outcome {
	m.asked++
	out := m.seen[string(key)]
	if out != nil {
		m.hit++
	}
	return out
}

// put keeps an outcome. It is nil if it is not worth it.
func (m *memo) put(key []byte, out *outcome) *outcome {
	switch {
	case m.seen == nil:
		m.seen = make(map[string]*outcome)
	case len(m.seen) >= memoSize:
		if m.hit < m.asked/2 {
			m.off, m.seen = true, nil
			return nil
		}
		clear(m.seen)
		m.asked, m.hit = 0, 0
	}
	kept := new(outcome)
	*kept = *out
	kept.kept = true
	m.seen[string(key)] = kept
	return kept
}

// arena makes strings that may be kept, many from one allocation.
type arena struct{ b strings.Builder }

const arenaChunk = 64 << 10

func (a *arena) string(p []byte) string {
	if len(p) > arenaChunk/4 {
		return string(p)
	}
	if a.b.Cap()-a.b.Len() < len(p) {
		a.b = strings.Builder{}
		a.b.Grow(arenaChunk)
	}
	from := a.b.Len()
	a.b.Write(p)
	return a.b.String()[from:]
}
