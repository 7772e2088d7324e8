package mappings

import (
	"hash/maphash"

	"sheetlift/importers/source"
)

// valueSet is a set of values. Kinds are told apart: the number 1 is not the text 1. It keeps a hash of 64 bits a value, under a seed that nobody
// knows: among the ten thousand values of a column two are taken for one once in 10^11 columns, and it counts one less then.
type valueSet struct {
	seed  maphash.Seed
	slots []uint64 // hashes; 0 is a free slot. As many as a power of two, at most three of four taken
	held  int
	hash  uint64 // of the value that was asked for last
}

// has reports whether the value is in the set.
func (s *valueSet) has(kind source.Kind, value []byte) bool {
	if s.slots == nil {
		s.seed, s.slots = maphash.MakeSeed(), make([]uint64, 32)
	}
	s.hash = maphash.Bytes(s.seed, value) ^ uint64(kind)<<56
	if s.hash == 0 {
		s.hash = 1
	}
	return s.slots[s.at(s.hash)] != 0
}

// at gives the slot of a hash, or the one that is free for it.
func (s *valueSet) at(hash uint64) int {
	at := int(hash) & (len(s.slots) - 1)
	for s.slots[at] != 0 && s.slots[at] != hash {
		at = (at + 1) & (len(s.slots) - 1)
	}
	return at
}

// add adds the value that has was just asked for and did not find.
func (s *valueSet) add() {
	if s.held++; 4*s.held > 3*len(s.slots) {
		before := s.slots
		s.slots = make([]uint64, 2*len(before))
		for _, hash := range before {
			if hash != 0 {
				s.slots[s.at(hash)] = hash
			}
		}
	}
	s.slots[s.at(s.hash)] = s.hash
}
