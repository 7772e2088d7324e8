package importers

import "slices"

// Perhaps is whom a subject may be as well, see Links.Perhaps.
type Perhaps struct {
	Places []int32
	met    map[int32][]linkMet // by node
}

// linkMet is what every way to a key goes by: the owner of a key, or an id (then there is no key).
type linkMet struct{ key, owner int32 }

const (
	noKey = -1
	// linkMany bounds the work: a key of more owners (none@none.example) leads nowhere but from rows that go by it.
	linkMany = 1000
)

// Perhaps says whom the subject of a row may be as well, where links are in doubt. A row leads to all others with a key of its
// own, and so on, but from no id to another one of that system, and by no key from one of its owners to another of that kind:
// those are different subjects. So it finds all that a link, since in doubt, once led to, and further rows only add to it.
func (l *Links) Perhaps(keys []Key) (p Perhaps) {
	nodes := l.nodesOf(keys)
	if !slices.ContainsFunc(nodes, func(n int32) bool { return l.nodes[n].doubt }) {
		return p
	}
	met := map[int32][]linkMet{}
	p.met = met
	var next []int32
	visit := func(n int32, by []linkMet) {
		before, seen := met[n]
		switch {
		case !seen:
			if at := l.nodes[n].place; !slices.Contains(lastFew(p.Places), at) {
				p.Places = append(p.Places, at)
			}
		case !slices.ContainsFunc(before, func(m linkMet) bool { return !slices.Contains(by, m) }):
			return
		default:
			by = common(before, by)
		}
		met[n] = by
		next = append(next, n)
	}
	for _, n := range nodes {
		visit(n, l.says(nodes))
	}
	for len(next) > 0 {
		from := next[0]
		next = next[1:]
		by := met[from]
		lead := func(to int32, m linkMet) {
			id := linkMet{noKey, to}
			switch {
			case !l.fits(by, m):
			case l.keys[to].kind() != 0:
				visit(to, addMet(by, m))
			case l.fits(by, id):
				visit(to, addMet(addMet(by, m), id))
			}
		}
		if owners := l.nodes[from].owners; len(owners) <= linkMany || from == nodes[0] {
			for _, o := range owners {
				lead(o, linkMet{from, o})
			}
		}
		for _, k := range l.owned[from] {
			lead(k, linkMet{k, from})
		}
	}
	slices.Sort(p.Places)
	p.Places = slices.Compact(p.Places)
	return p
}

// common is what both of two ways go by.
func common(a, b []linkMet) []linkMet {
	return slices.DeleteFunc(slices.Clone(a), func(m linkMet) bool { return !slices.Contains(b, m) })
}

// Fits reports whether a row with these keys, filed at one of the places, may speak of the subject; several is as Subject says.
func (l *Links) Fits(p Perhaps, keys []Key, several bool) bool {
	nodes := l.nodesOf(keys)
	says := l.says(nodes)
	return slices.ContainsFunc(nodes, func(n int32) bool {
		by, ok := p.met[n]
		return ok && !slices.ContainsFunc(says, func(m linkMet) bool { return (m.key == noKey || !several) && !l.fits(by, m) })
	})
}

// says is what a row itself says of its keys: its id, and the owner of each.
func (l *Links) says(nodes []int32) (met []linkMet) {
	for i, n := range nodes {
		if i > 0 {
			met = append(met, linkMet{n, nodes[0]})
		}
		if l.keys[n].kind() == 0 {
			met = append(met, linkMet{noKey, n})
		}
	}
	return met
}

func (l *Links) fits(by []linkMet, m linkMet) bool {
	return !slices.ContainsFunc(by, func(b linkMet) bool {
		return b.key == m.key && b.owner != m.owner && l.keys[b.owner].tag() == l.keys[m.owner].tag()
	})
}

func addMet(list []linkMet, m linkMet) []linkMet {
	if slices.Contains(list, m) {
		return list
	}
	return append(slices.Clip(list), m)
}

// nodesOf are the nodes of those keys that are wanted.
func (l *Links) nodesOf(keys []Key) (nodes []int32) {
	if len(l.keys) == 0 {
		return nil
	}
	for i := range keys {
		if k := l.digest(&keys[i]); l.filter.may(k) {
			if n, ok := l.wanted[k]; ok {
				nodes = append(nodes, n)
			}
		}
	}
	return nodes
}
