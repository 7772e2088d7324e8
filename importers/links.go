package importers

import (
	"hash/maphash"
	"slices"

	"sheetlift/importers/memfile"
)

// Links knows which identifiers belong to one subject, because some row holds both. Give it the keys of every row (Add), say
// whose subjects will be asked for (Want), then Build, then ask (Subject, Same).
//
// A row's subject goes by its strongest key, its owner: the subject id, else the e-mail address, the phone, the device. Keys
// of one row belong together, but for two cases in which linking would be a guess:
//
//   - a key is shared if rows give it two different owners of one kind (and system): a mailbox info@ of three customers, a
//     family's phone. A shared key links nobody. A row that names its subject by nothing stronger matches several subjects.
//   - links contradict each other if they join two subject ids of one system. None of them is used then.
//
// Rows that share a key speak of one subject in any case, as far as precautions go (see Reach). So do rows that may speak of
// one: a link that a further row makes doubtful is good for no consent any more, but holds for what speaks against (see Perhaps).
//
// A key that one record alone has joins nothing, so whoever gives Links a record counts its keys: Add does, and Count for records that
// are not added.
//
// What comes out does not depend on the order of rows, nor on repeats. A key is kept as a digest of 16 bytes; above that,
// memory grows only with the keys that are wanted and what they are linked to.
type Links struct {
	pseudonyms *Pseudonyms // nil if no key is a pseudonym

	seeds   [2]maphash.Seed
	systems map[string]linkSystem
	rows    memfile.List[LinkKey] // the keys of row after row
	row     []LinkKey             // scratch
	chunks  []linkChunk           // by piece of rows
	counted Counts                // of what tells keys apart
	asks    bool                  // see Asks
	near    *linkFilter           // of the keys of whoever will be asked for; once closed, with all that rows lead to from there. nil if there is none
	closed  bool

	asked  []LinkKey         // by Want
	wanted map[LinkKey]int32 // node numbers
	keys   []LinkKey         // by node
	filter *linkFilter       // of keys
	nodes  []linkNode
	hubs   [][]int32         // by place: the places of keys that stand beside it and are not one with it
	owned  map[int32][]int32 // nodes by their owner, where links are in doubt
}

type linkNode struct {
	place   int32
	shared  bool
	doubt   bool             // a link that it hangs together with is in doubt
	several [len(kinds)]bool // by kind: two owners of this kind
	owners  []int32          // in the order of their tags
}

// kinds are the kinds of keys, the strongest first.
var kinds = [...]string{"subject_id", "email", "phone", "device_id"}

// SubjectFields are the names of the fields that name a subject, the strongest first.
func SubjectFields() []string { return kinds[:] }

// linkPasses is how often the rows are gone over for what the wanted keys are linked to. Chains of links are short; should
// one be longer, all rows are taken in.
const linkPasses = 24

// NewLinks starts without any row.
func NewLinks() *Links {
	return &Links{seeds: [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}, systems: map[string]linkSystem{}, wanted: map[LinkKey]int32{},
		counted: NewCounts(1 << 20)}
}

// NewPseudonymousLinks is NewLinks for rows of which some name their subjects by pseudonyms only. Each key is digested as these are, which
// takes longer.
func NewPseudonymousLinks(p *Pseudonyms) *Links {
	l := NewLinks()
	l.pseudonyms = p
	return l
}

// As gives keys to be compared with others: as pseudonyms, if those are.
func (l *Links) As(others, keys []Key) []Key {
	if l.pseudonyms == nil || !slices.ContainsFunc(others, func(k Key) bool { return k.pseudonymous() }) {
		return keys
	}
	return l.pseudonyms.Of(keys)
}

// Add takes in the keys of one row, as SubjectKeys orders them.
func (l *Links) Add(keys []Key) { l.add(l.Digests(keys), true) }

// AddDigests is Add of keys that a Linker digested.
func (l *Links) AddDigests(keys []LinkKey) { l.add(keys, true) }

// AddRow takes in the keys of the records of one row. They are of one subject, unless they name two.
func (l *Links) AddRow(records ...[]Key) {
	if len(records) > 1 {
		if keys, one := RowKeys(records...); one {
			for _, rec := range records {
				l.Count(rec)
			}
			l.add(l.Digests(keys), false)
			return
		}
	}
	for _, keys := range records {
		l.Add(keys)
	}
}

// Count counts the keys of a record that is not added, but whose subject may be that of another one.
func (l *Links) Count(keys []Key) { l.CountDigests(l.Digests(keys)) }

// CountDigests is Count of keys that a Linker digested.
func (l *Links) CountDigests(keys []LinkKey) {
	if l.asks && l.near == nil && len(keys) > 0 {
		l.near = newWideFilter()
	}
	for _, k := range keys {
		l.counted.Add(k.lo)
		if l.asks {
			l.near.add(k)
		}
	}
}

// Asks says that the records which are added or counted from now on are those whose subjects will be asked for, or that they were.
func (l *Links) Asks(on bool) { l.asks = on }

// MayConcern reports whether what is said of these keys may concern one of those whose subjects will be asked for (see Asks): whether rows lead
// from there to one of the keys, over however many others. It may say so of keys that do not, which costs time and changes nothing. All rows
// must have been added; if nobody said who will be asked for, it may be anybody.
func (l *Links) MayConcern(keys []LinkKey) bool {
	if l.near == nil {
		return true
	}
	for pass := 0; !l.closed; pass++ {
		l.closed = true
		if pass == linkPasses {
			l.near.fill()
			break
		}
		l.each(func(keys []LinkKey) {
			near := 0
			for _, k := range keys {
				if l.near.may(k) {
					near++
				}
			}
			if near == 0 || near == len(keys) {
				return
			}
			l.closed = false
			for _, k := range keys {
				l.near.add(k)
			}
		})
	}
	return slices.ContainsFunc(keys, l.near.may)
}

// MayMeet gives what tells of each of the keys that a Linker digested whether another record may have it. All records must have been
// counted. It may be asked from many goroutines.
func (l *Links) MayMeet() func(keys []LinkKey, so []bool) {
	l.counted.Settle()
	return func(keys []LinkKey, so []bool) {
		for i, k := range keys {
			so[i] = l.counted.Several(k.lo)
		}
	}
}

func (l *Links) add(keys []LinkKey, count bool) {
	if len(keys) == 0 {
		return
	}
	if count {
		l.CountDigests(keys)
	}
	owner := keys[0].kind()
	if len(keys) == 1 && owner == 0 { // an id by itself links nothing and is never in doubt
		return
	}
	l.row = append(l.row[:0], keys...)
	l.row[len(keys)-1].hi |= linkLast
	n := l.rows.Append(l.row...)
	if n == len(l.chunks) {
		l.chunks = append(l.chunks, linkChunk{first: l.rows.Len() - len(keys)})
	}
	for _, k := range keys {
		l.chunks[n].pairs |= pairOf(owner, k.kind())
	}
}

// RowKeys joins the keys of the records of one row, and reports whether they can be those of one subject: no two different
// values of one kind.
func RowKeys(records ...[]Key) (keys []Key, one bool) {
	for _, kind := range kinds {
		var first *Key
		for _, rec := range records {
			for i := range rec {
				k := &rec[i]
				switch {
				case k.Kind != kind:
				case first == nil:
					first = k
					keys = append(keys, *k)
				case *first != *k:
					return nil, false
				}
			}
		}
	}
	return keys, true
}

// Want says that the subject of these keys will be asked for. Keys that nobody wanted belong to no subject, nor do those that were
// counted once.
func (l *Links) Want(keys []Key) {
	for i := range keys {
		l.asked = append(l.asked, l.digest(&keys[i]))
	}
}

func (l *Links) want(k LinkKey) bool {
	k = k.plain()
	if _, ok := l.wanted[k]; ok {
		return false
	}
	l.wanted[k] = int32(len(l.keys))
	l.keys = append(l.keys, k)
	return true
}

// Build works out the links. No row may be added after it.
func (l *Links) Build() {
	l.counted.Settle()
	for _, k := range l.asked {
		if l.counted.Several(k.lo) {
			l.want(k)
		}
	}
	l.asked = nil
	l.wantDoubtful()
	taken := make([]uint64, (l.rows.Len()+63)/64) // by where a row begins
	var rows []int32                              // nodes of the rows that matter; ^node ends a row
	sought := slices.Clone(l.keys)                // what other rows may have that are not taken
	for pass := 0; len(sought) > 0; pass++ {
		filter := newLinkFilter(sought)
		next := func(rows []LinkKey, from int) int {
			for i := from; i < len(rows); i++ {
				if k := rows[i]; filter.may(k) && l.has(k) {
					return i
				}
			}
			return len(rows)
		}
		if pass == linkPasses {
			next = func(_ []LinkKey, from int) int { return from }
		}
		sought = sought[:0]
		for at, keys := range l.rowsThat(allPairs, next) {
			if taken[at/64]>>(at%64)&1 == 1 {
				continue
			}
			taken[at/64] |= 1 << (at % 64)
			for i, k := range keys {
				if l.want(k) && l.counted.Several(k.lo) {
					sought = append(sought, k)
				}
				n := l.wanted[k.plain()]
				if i == len(keys)-1 {
					n = ^n
				}
				rows = append(rows, n)
			}
		}
		if pass == linkPasses {
			break
		}
	}
	l.chunks = nil
	l.rows.Close()
	l.join(rows)
	l.filter = newLinkFilter(l.keys)
}

// wantDoubtful wants the keys of rows that may match several subjects: those without a subject id that hold a kind of key
// which stands beside a stronger one elsewhere.
func (l *Links) wantDoubtful() {
	var all, doubtful linkPairs
	for i := range l.chunks {
		all |= l.chunks[i].pairs
	}
	for owner := range kinds {
		for kind := range kinds {
			for stronger := range owner {
				if all&pairOf(stronger, kind) != 0 {
					doubtful |= pairOf(owner, kind)
				}
			}
		}
	}
	if all&doubtful == 0 {
		return
	}
	next := func(rows []LinkKey, from int) int {
		owner := 0
		for i := from; i < len(rows); i++ {
			k := rows[i]
			if i == from || rows[i-1].last() {
				owner = k.kind()
			}
			if doubtful&pairOf(owner, k.kind()) != 0 && l.counted.Several(k.lo) {
				return i
			}
		}
		return len(rows)
	}
	for _, keys := range l.rowsThat(doubtful, next) {
		for _, k := range keys {
			if doubtful&pairOf(keys[0].kind(), k.kind()) != 0 && l.counted.Several(k.lo) {
				l.want(k)
			}
		}
	}
}

func (l *Links) has(k LinkKey) bool {
	_, ok := l.wanted[k.plain()]
	return ok
}

// join finds owners, shared keys, and what belongs together.
func (l *Links) join(rows []int32) {
	l.nodes = make([]linkNode, len(l.keys))
	l.hubs = make([][]int32, len(l.keys))
	var nodes []int32
	each := func(f func(nodes []int32)) {
		nodes = nodes[:0]
		for _, n := range rows {
			if n >= 0 {
				nodes = append(nodes, n)
				continue
			}
			f(append(nodes, ^n))
			nodes = nodes[:0]
		}
	}
	each(func(row []int32) {
		for _, n := range row[1:] {
			x := &l.nodes[n]
			if last := len(x.owners) - 1; last < 0 || x.owners[last] != row[0] {
				x.owners = append(x.owners, row[0])
			}
		}
	})
	for n := range l.nodes {
		x := &l.nodes[n]
		slices.SortFunc(x.owners, func(a, b int32) int {
			if c := l.keys[a].kind() - l.keys[b].kind(); c != 0 {
				return c
			}
			if s, t := l.keys[a].tag(), l.keys[b].tag(); s != t {
				if s < t {
					return -1
				}
				return 1
			}
			return int(a - b)
		})
		x.owners = slices.Compact(x.owners)
		for i := 1; i < len(x.owners); i++ {
			if k := l.keys[x.owners[i]]; k.tag() == l.keys[x.owners[i-1]].tag() {
				x.several[k.kind()], x.shared = true, true
			}
		}
	}
	parent := make([]int32, len(l.nodes))
	for n := range parent {
		parent[n] = int32(n)
	}
	root := func(n int32) int32 {
		for parent[n] != n {
			parent[n] = parent[parent[n]]
			n = parent[n]
		}
		return n
	}
	each(func(row []int32) {
		first := int32(-1)
		for _, n := range row {
			switch {
			case l.nodes[n].shared:
			case first < 0:
				first = root(n)
			default:
				parent[root(n)] = first
			}
		}
	})
	type idOf struct {
		root int32
		tag  uint64
	}
	ids, contradicts := map[idOf]bool{}, map[int32]bool{}
	for n := range l.nodes {
		if k := l.keys[n]; k.kind() == 0 {
			id := idOf{root(int32(n)), k.tag()}
			contradicts[id.root] = contradicts[id.root] || ids[id]
			ids[id] = true
		}
	}
	for n := range l.nodes {
		l.nodes[n].place = int32(n)
		if r := root(int32(n)); !l.nodes[n].shared && !contradicts[r] {
			l.nodes[n].place = r
		}
	}
	each(func(row []int32) {
		owner := l.nodes[row[0]].place
		for _, n := range row[1:] {
			if p := l.nodes[n].place; p != owner && !slices.Contains(lastFew(l.hubs[owner]), p) {
				l.hubs[owner] = append(l.hubs[owner], p)
			}
		}
	})
	for i, h := range l.hubs {
		slices.Sort(h)
		l.hubs[i] = slices.Compact(h)
	}
	for n := range l.nodes {
		l.nodes[n].doubt = l.nodes[n].shared || contradicts[root(int32(n))]
	}
	each(func(row []int32) {
		for _, n := range row[1:] {
			parent[root(n)] = root(row[0])
		}
	})
	for n := range l.nodes {
		if l.nodes[n].doubt {
			l.nodes[root(int32(n))].doubt = true
		}
	}
	for n := range l.nodes {
		l.nodes[n].doubt = l.nodes[root(int32(n))].doubt
	}
	l.owned = map[int32][]int32{}
	each(func(row []int32) {
		for _, n := range row[1:] {
			if l.nodes[n].doubt && !slices.Contains(lastFew(l.owned[row[0]]), n) {
				l.owned[row[0]] = append(l.owned[row[0]], n)
			}
		}
	})
	for n, owned := range l.owned {
		slices.Sort(owned)
		l.owned[n] = slices.Compact(owned)
	}
}

// lastFew bounds the search for a repeat; the rest go when the list is compacted.
func lastFew(list []int32) []int32 { return list[max(0, len(list)-8):] }

// Subject is whom the keys of a row stand for. Two rows speak of one subject if they have a place in common.
type Subject struct {
	Places  []int32 // where what is known of the subject is filed
	Several bool    // the row names its subject only by keys that rows give to several
	Doubt   bool    // it may be somebody else as well: see Links.Perhaps
}

// Subject says whom keys, as SubjectKeys orders them, stand for. Build must have been called.
func (l *Links) Subject(keys []Key) (s Subject) {
	return l.SubjectOf(l.Digests(keys))
}

// SubjectOf is Subject of keys that a Linker digested.
func (l *Links) SubjectOf(keys []LinkKey) (s Subject) {
	if len(l.keys) == 0 {
		return s
	}
	var own []int32 // owners stronger than the row's own, the first of each kind and system
	for _, k := range keys {
		if !l.filter.may(k) { // most keys are not wanted
			continue
		}
		n, ok := l.wanted[k]
		if !ok {
			continue
		}
		x := &l.nodes[n]
		s.Doubt = s.Doubt || x.doubt
		if !slices.Contains(s.Places, x.place) {
			s.Places = append(s.Places, x.place)
		}
		stronger := keys[0].kind()
		for kind := range stronger {
			s.Several = s.Several || x.several[kind]
		}
		if s.Several {
			continue
		}
		for _, o := range x.owners {
			if l.keys[o].kind() >= stronger {
				break
			}
			own = append(own, o)
		}
	}
	for i, a := range own {
		for _, b := range own[:i] {
			s.Several = s.Several || a != b && l.keys[a].tag() == l.keys[b].tag()
		}
	}
	return s
}

// Reach lists the places where to look for what speaks against the subject: what was said of it, and what was said of
// several subjects (see Subject.Several) by a key that stands beside one of its own. The latter begin at index several.
func (l *Links) Reach(s Subject) (places []int32, several int) {
	places = append(places, s.Places...)
	for _, p := range s.Places {
		for _, h := range l.hubs[p] {
			if !slices.Contains(places, h) {
				places = append(places, h)
			}
		}
	}
	return places, len(s.Places)
}

// Same reports whether two rows speak of one subject beyond doubt: they have a key or a link in common that is not shared,
// neither matches several subjects, and no system gives them different ids.
func (l *Links) Same(a, b []Key) bool {
	for _, x := range a {
		for _, y := range b {
			if x.Kind == kinds[0] && y.Kind == x.Kind && x.System == y.System && x.Value != y.Value {
				return false
			}
		}
	}
	s, t := l.Subject(a), l.Subject(b)
	if s.Several || t.Several {
		return false
	}
	return slices.ContainsFunc(s.Places, func(p int32) bool { return !l.nodes[p].shared && slices.Contains(t.Places, p) })
}
