package mappings

import (
	"hash/maphash"

	"sheetlift/importers/source"
)

// valueSet is a set of values of at most 255 bytes. It is exact: hashes only say where to look. Kinds are told apart: the number 1
// is not the text 1.
type valueSet struct {
	seed  maphash.Seed
	slots []valueSlot // as many as a power of two, at most half of them taken
	held  int
	hash  uint64 // of the value that was asked for last
	bytes []byte // the values, one after the other
}

// valueSlot is where a value lies; a slot whose kind is Empty is free.
type valueSlot struct {
	hash uint32 // the upper half
	off  uint32
	len  uint8
	kind source.Kind
}

// has reports whether the value is in the set.
func (s *valueSet) has(kind source.Kind, value []byte) bool {
	if s.slots == nil {
		s.seed, s.slots = maphash.MakeSeed(), make([]valueSlot, 32)
	}
	s.hash = maphash.Bytes(s.seed, value)
	for at := s.hash; ; at++ {
		v := &s.slots[at&uint64(len(s.slots)-1)]
		if v.kind == source.Empty {
			return false
		}
		if v.hash == uint32(s.hash>>32) && v.kind == kind && int(v.len) == len(value) && string(s.bytes[v.off:v.off+uint32(v.len)]) == string(value) {
			return true
		}
	}
}

// add adds the value that has was just asked for and did not find.
func (s *valueSet) add(kind source.Kind, value []byte) {
	if s.held++; 2*s.held > len(s.slots) {
		before := s.slots
		s.slots = make([]valueSlot, 4*len(before))
		for _, v := range before {
			if v.kind != source.Empty {
				s.insert(maphash.Bytes(s.seed, s.bytes[v.off:v.off+uint32(v.len)]), v)
			}
		}
	}
	s.insert(s.hash, valueSlot{uint32(s.hash >> 32), uint32(len(s.bytes)), uint8(len(value)), kind})
	s.bytes = append(s.bytes, value...)
}

func (s *valueSet) insert(hash uint64, v valueSlot) {
	at := hash
	for s.slots[at&uint64(len(s.slots)-1)].kind != source.Empty {
		at++
	}
	s.slots[at&uint64(len(s.slots)-1)] = v
}
