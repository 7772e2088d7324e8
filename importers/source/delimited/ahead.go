package delimited

import (
	"io"
	"sync"

	"sheetlift/importers/source"
)

// lane is what one block lives in: its cells, and the text that they point into.
type lane struct {
	b   *source.Builder
	buf []byte
	raw []byte
}

// turn goes on in another lane, with the text that no record has been made of yet. What the block in this lane points to
// stays as it is.
func (r *reader) turn(to lane) {
	if to.b == nil {
		to.b = source.NewBuilder(true)
	}
	tail := r.buf[r.pos:r.end]
	r.b, r.buf, r.raw = to.b, append(to.buf[:0], tail...), to.raw
	r.pos, r.end = 0, len(tail)
}

// lanes is how many blocks there are: one in use, one being scanned, and some to wait, so that neither side waits for the other
// at every block.
const lanes = 6

// ahead scans blocks on a goroutine of its own while earlier ones are in use.
type ahead struct {
	book   *Book
	blocks chan scanned
	free   chan lane // that may be scanned into
	stop   chan struct{}
	once   sync.Once
	done   sync.WaitGroup
	last   scanned
}

func readAhead(r *reader) *ahead {
	a := &ahead{book: r.book, blocks: make(chan scanned, lanes), free: make(chan lane, lanes), stop: make(chan struct{})}
	for range lanes {
		a.free <- lane{}
	}
	a.done.Add(1)
	go a.run(r)
	return a
}

func (a *ahead) run(r *reader) {
	defer a.done.Done()
	for {
		select {
		case <-a.stop:
			return
		case to := <-a.free:
			r.turn(to)
		}
		s := r.scanBlock()
		s.lane = lane{r.b, r.buf, r.raw}
		a.blocks <- s // never blocks: there are no more lanes than places
		if s.err != nil {
			return
		}
	}
}

// Next gives the next block.
func (a *ahead) Next() (*source.Block, error) {
	if a.last.err != nil {
		return nil, a.last.err
	}
	if a.last.block != nil {
		a.free <- a.last.lane // the last block is in use no more
	}
	a.last = <-a.blocks
	if a.last.err = a.book.check(a.last); a.last.err != nil {
		return nil, a.last.err
	}
	return a.last.block, nil
}

// Facts of the file.
func (a *ahead) Facts() source.Facts { return a.last.facts }

// Reached tells how much of the file was read.
func (a *ahead) Reached() (done, whole int64) { return a.last.off, a.book.size }

// Close ends reading.
func (a *ahead) Close() error {
	a.once.Do(func() { close(a.stop) })
	a.done.Wait()
	if a.last.err == nil {
		a.last.err = io.EOF
	}
	return nil
}
