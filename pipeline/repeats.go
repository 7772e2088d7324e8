package pipeline

// repeats finds out, at the end, how often a hash came more than once. Hashes are laid aside by their first byte and
// compared bucket by bucket: a million lookups in one table would each miss the processor's caches. It holds 8 bytes a hash,
// 16 with rows.
type repeats struct {
	hashes [256][]uint64
	rows   [256][]int // where each hash came, if anybody wants to know
}

// add lays a hash aside.
func (r *repeats) add(h uint64) { r.hashes[h>>56] = append(r.hashes[h>>56], h) }

// addAt lays a hash aside and keeps its row.
func (r *repeats) addAt(h uint64, row int) {
	r.add(h)
	r.rows[h>>56] = append(r.rows[h>>56], row)
}

// count gives how many hashes had come before, and the lowest and highest row of those.
func (r *repeats) count() (n, first, last int) {
	var seen hashSet
	for i, bucket := range r.hashes {
		seen.clear()
		for k, h := range bucket {
			if seen.add(h) {
				continue
			}
			n++
			if k < len(r.rows[i]) {
				row := r.rows[i][k]
				if first == 0 || row < first {
					first = row
				}
				last = max(last, row)
			}
		}
	}
	return n, first, last
}

// hashSet is a set of hashes, which are evenly spread already: open addressing, at most half full.
type hashSet struct {
	slots []uint64 // 0 is free
	n     int
}

// add puts h into the set and reports whether it is new. 0 stands for 1.
func (s *hashSet) add(h uint64) bool {
	if 2*s.n >= len(s.slots) {
		old := s.slots
		s.slots, s.n = make([]uint64, max(64, 2*len(old))), 0
		for _, h := range old {
			if h != 0 {
				s.add(h)
			}
		}
	}
	if h == 0 {
		h = 1
	}
	mask := uint64(len(s.slots) - 1)
	for i := h & mask; ; i = (i + 1) & mask {
		switch s.slots[i] {
		case h:
			return false
		case 0:
			s.slots[i] = h
			s.n++
			return true
		}
	}
}

// clear empties the set and keeps its room.
func (s *hashSet) clear() {
	clear(s.slots)
	s.n = 0
}
