package pipeline

import (
	"sheetlift/importers"
	"sheetlift/importers/register"
	"sheetlift/importers/staged"
)

// A commit takes this many records, or bytes of them, and the rest of a chunk. The indexes of ids and digests grow at random places,
// so a commit writes nearly all of their pages anew, however little it brings: few large ones are several times faster. What bounds
// them is memory, of which two groups are held, and how long others wait for the database.
const (
	groupRows  = 16 * staged.ChunkRows
	groupBytes = 48 << 20
)

// chunkGroup is the chunks that are committed together.
type chunkGroup struct {
	records *register.Group
	numbers []int
	rows    []int64 // of each chunk
	until   int64   // rows of the file up to the last of them
}

// groupReader reads a staged file in groups of those chunks that are not in the register yet. While one is written to the database,
// the next is read and sorted.
type groupReader struct {
	entity *importers.Entity
	reader *staged.Reader
	done   map[int]bool
	rows   int // a group holds at least, unless it is the last
	start  func() *register.Group
	count  func(table string) // called for each record of the file
}

// each calls f with one group after the other. One that is empty stands for chunks that were in the register.
func (r *groupReader) each(f func(*chunkGroup) error) (err error) {
	groups, stop, ended := make(chan *chunkGroup), make(chan struct{}), make(chan struct{})
	var failed error
	var panicked any
	go func() {
		defer close(ended)
		defer close(groups)
		defer func() { panicked = recover() }() // it must unwind the caller, not end the process from here
		failed = r.read(func(g *chunkGroup) bool {
			select {
			case groups <- g:
				return true
			case <-stop:
				return false
			}
		})
	}()
	defer func() {
		close(stop)
		<-ended
		if panicked != nil {
			panic(panicked)
		}
		if err == nil {
			err = failed
		}
	}()
	for g := range groups {
		if err := f(g); err != nil {
			return err
		}
	}
	return nil
}

// read calls give with each group until it says no.
func (r *groupReader) read(give func(*chunkGroup) bool) error {
	g := &chunkGroup{records: r.start()}
	var until, given int64
	for i := range r.reader.Chunks() {
		c, err := r.reader.Chunk(i)
		if err != nil {
			return err
		}
		register.CountTables(r.entity, r.reader.Columns(), c, r.count)
		n := int64(c.Rows())
		until += n
		if !r.done[i] {
			g.records.Add(c)
			g.numbers, g.rows = append(g.numbers, i), append(g.rows, n)
		}
		c.Release()
		g.until = until
		if g.records.Rows() >= r.rows || g.records.Size() >= groupBytes {
			g.records.Sort()
			if !give(g) {
				return nil
			}
			g, given = &chunkGroup{records: r.start()}, until
		}
	}
	if until > given {
		g.records.Sort()
		give(g)
	}
	return nil
}
