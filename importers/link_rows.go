package importers

import (
	"iter"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
)

// linkChunk is what is known of the rows whose keys lie in one piece of all.
type linkChunk struct {
	first int // how many keys come before them
	pairs linkPairs
}

// linkPairs tells which kinds of keys rows have, and of which kind their owners are.
type linkPairs uint16

const allPairs = ^linkPairs(0)

// pairOf is a row whose owner and one of whose keys are of these kinds.
func pairOf(owner, kind int) linkPairs { return 1 << (owner*len(kinds) + kind) }

// rowAt gives the row that the key with this index is of.
func rowAt(rows []LinkKey, i int) (from, to int) {
	for from = i; from > 0 && !rows[from-1].last(); from-- {
	}
	for to = i + 1; !rows[to-1].last(); to++ {
	}
	return from, to
}

// each calls f with the keys of each row, which it may not keep.
func (l *Links) each(f func(keys []LinkKey)) {
	var scratch []LinkKey
	for i := range l.chunks {
		rows := l.rows.Piece(i, &scratch)
		for from, to := 0, 0; to < len(rows); {
			from, to = rowAt(rows, to)
			f(rows[from:to])
		}
	}
}

// rowsThat gives the rows with a key that is so, in their order, and where each begins among all keys, of chunks in which there is one of the
// pairs. next gives the index of the first such key from an index on, or how many keys there are. Many are looked through at once, before
// the first row is given.
func (l *Links) rowsThat(pairs linkPairs, next func(rows []LinkKey, from int) int) iter.Seq2[int, []LinkKey] {
	type found struct {
		at   int
		keys []LinkKey
	}
	lists := make([][]found, len(l.chunks))
	var turn atomic.Int64
	var asked sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(l.chunks)) {
		asked.Go(func() {
			var scratch []LinkKey
			for i := int(turn.Add(1)) - 1; i < len(l.chunks); i = int(turn.Add(1)) - 1 {
				if l.chunks[i].pairs&pairs == 0 {
					continue
				}
				rows := l.rows.Piece(i, &scratch)
				for at := next(rows, 0); at < len(rows); {
					from, to := rowAt(rows, at)
					lists[i] = append(lists[i], found{l.chunks[i].first + from, slices.Clone(rows[from:to])})
					at = next(rows, to)
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
