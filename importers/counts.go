package importers

import "sheetlift/importers/hugepage"

// Counts knows of each of many hashes whether it was counted twice, or more often. It may say so of one that was counted once: of two in a
// hundred if there are two for each word. What is so must be looked at anew; what is not is settled.
type Counts struct {
	words   uint64   // how many there are
	counts  []uint64 // two bits a place, which stop at 2
	pending []uint64 // to be counted: many at once, so that one need not wait for the memory of the other
}

const countsPending = 4096

// NewCounts makes counts of so many words of 8 bytes: a power of two, at most 1 << 20. They take memory once something is counted.
func NewCounts(words int) Counts { return Counts{words: uint64(words)} }

// places are where a hash is counted: two places of one word, so that memory is waited for once.
func (c *Counts) places(hash uint64) (word *uint64, places uint64) {
	return &c.counts[hash&(c.words-1)], 1<<(hash>>20%32*2) | 1<<(hash>>25%32*2)
}

// Add counts a hash, of which 30 bits tell it from others.
func (c *Counts) Add(hash uint64) {
	if c.pending = append(c.pending, hash); len(c.pending) == countsPending {
		c.Settle()
	}
}

// Settle must be called before Several is.
func (c *Counts) Settle() {
	if len(c.pending) == 0 { // nothing is written: others may be reading
		return
	}
	if c.counts == nil {
		c.counts = make([]uint64, c.words)
		hugepage.Advise(c.counts)
	}
	for _, h := range c.pending {
		word, places := c.places(h)
		*word += places &^ (*word >> 1)
	}
	c.pending = c.pending[:0]
}

// Several reports whether a hash was counted twice. It may be asked from many goroutines.
func (c *Counts) Several(hash uint64) bool {
	if c.counts == nil {
		return false
	}
	word, places := c.places(hash)
	return *word>>1&places == places
}
