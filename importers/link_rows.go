package importers

import (
	"iter"
	"runtime"
	"sync"
	"sync/atomic"
)

// each calls f with the keys of each row.
func (l *Links) each(f func(keys []LinkKey)) {
	l.wholeRows()
	for i := range l.chunks {
		c := &l.chunks[i]
		for from, to := 0, 0; to < len(c.keys); {
			from, to = c.rowAt(to)
			f(c.keys[from:to])
		}
	}
}

// linkRows are the keys of rows, one after the other.
type linkRows struct {
	keys  []LinkKey // once all rows are there: see wholeRows
	first int       // how many keys come before them
	size  int       // how many keys they have
	pairs linkPairs
}

// linkPairs tells which kinds of keys rows have, and of which kind their owners are.
type linkPairs uint16

// pairOf is a row whose owner and one of whose keys are of these kinds.
func pairOf(owner, kind int) linkPairs { return 1 << (owner*len(kinds) + kind) }

// wholeRows gives the chunks their keys. No row may be added after it.
func (l *Links) wholeRows() {
	all := l.rows.Whole()
	for i := range l.chunks {
		c := &l.chunks[i]
		c.keys = all[c.first : c.first+c.size]
	}
}

// rowAt gives the row that the key with this index is of.
func (c *linkRows) rowAt(i int) (from, to int) {
	for from = i; from > 0 && !c.keys[from-1].last(); from-- {
	}
	for to = i + 1; !c.keys[to-1].last(); to++ {
	}
	return from, to
}

// rowsThat gives the rows with a key that is so, in their order, and where each begins among all keys. next gives the index of the first such key
// from an index on, or how many keys there are. Many are looked through at once, before the first row is given.
func (l *Links) rowsThat(next func(c *linkRows, from int) int) iter.Seq2[int, []LinkKey] {
	type found struct {
		at   int
		keys []LinkKey
	}
	l.wholeRows()
	lists := make([][]found, len(l.chunks))
	var turn atomic.Int64
	var asked sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(l.chunks)) {
		asked.Go(func() {
			for i := int(turn.Add(1)) - 1; i < len(l.chunks); i = int(turn.Add(1)) - 1 {
				c := &l.chunks[i]
				for at := next(c, 0); at < len(c.keys); {
					from, to := c.rowAt(at)
					lists[i] = append(lists[i], found{c.first + from, c.keys[from:to]})
					at = next(c, to)
				}
			}
		})
	}
	asked.Wait()
	return func(yield func(int, []LinkKey) bool) {
		for _, list := range lists {
			for _, x := range list {
				if !yield(x.at, x.keys) {
					return
				}
			}
		}
	}
}
