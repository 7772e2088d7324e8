package importers

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// keysOf reads rows such as "C-1@crm a@x +1": an id with its system, addresses, phones, devices (d:1@web).
func keysOf(row string) []Key {
	var keys []Key
	for part := range strings.FieldsSeq(row) {
		value, system, _ := strings.Cut(part, "/")
		k := Key{Kind: "subject_id", System: system, Value: value}
		switch {
		case strings.HasPrefix(part, "+"):
			k.Kind = "phone"
		case strings.HasPrefix(part, "d:"):
			k.Kind = "device_id"
		case strings.Contains(part, "@"):
			k.Kind = "email"
		}
		keys = append(keys, k)
	}
	slices.SortStableFunc(keys, func(a, b Key) int { return slices.Index(kinds[:], a.Kind) - slices.Index(kinds[:], b.Kind) })
	return keys
}

func linked(rows []string, wanted ...string) *Links {
	return NewLinks().linked(nil, rows, wanted...)
}

// linked takes in rows, those that hidden holds for as pseudonyms.
func (l *Links) linked(hidden func(int) bool, rows []string, wanted ...string) *Links {
	for i, r := range rows {
		keys := keysOf(r)
		if hidden != nil && hidden(i) {
			keys = l.pseudonyms.Of(keys)
		}
		l.Add(keys)
	}
	for _, w := range wanted {
		l.Want(keysOf(w))
		if !slices.Contains(rows, w) {
			l.Count(keysOf(w))
		}
	}
	l.Build()
	return l
}

// reaches reports whether what a row says against consent reaches another row.
func (l *Links) reaches(from, to string) bool {
	said := l.Subject(keysOf(from))
	places, several := l.Reach(l.Subject(keysOf(to)))
	for i, p := range places {
		if (i < several || said.Several) && slices.Contains(said.Places, p) {
			return true
		}
	}
	return false
}

// opposes is reaches, in doubt too.
func (l *Links) opposes(from, to string) bool {
	said := l.Subject(keysOf(from))
	p := l.Perhaps(keysOf(to))
	if slices.ContainsFunc(said.Places, func(at int32) bool { return slices.Contains(p.Places, at) }) && l.Fits(p, keysOf(from), said.Several) {
		return true
	}
	return l.reaches(from, to)
}

func TestLinks(t *testing.T) {
	for _, c := range []struct {
		name     string
		rows     []string
		from, to string // something said against consent, and a consent
		reaches  bool
		same     bool // beyond doubt
	}{
		{"the same key", nil, "a@x", "a@x", true, true},
		{"nothing in common", []string{"C-1/crm b@x"}, "a@x", "C-1/crm", false, false},
		{"another row holds both", []string{"C-1/crm a@x"}, "a@x", "C-1/crm", true, true},
		{"and the other way round", []string{"C-1/crm a@x"}, "C-1/crm", "a@x", true, true},
		{"the id of another system", []string{"C-1/crm a@x"}, "a@x", "C-1/shop", false, false},
		{"over two rows", []string{"C-1/crm a@x", "C-1/crm +1"}, "a@x", "+1", true, true},
		{"over two systems", []string{"C-1/crm a@x", "S-9/shop a@x", "S-9/shop +1"}, "C-1/crm", "+1", true, true},
		{"a device", []string{"d:1/web a@x"}, "d:1/web", "a@x", true, true},
		{"a shared mailbox by one of its customers", []string{"C-1/crm info@x", "C-2/crm info@x"}, "C-1/crm", "C-2/crm", false, false},
		{"a customer of a shared mailbox, and the mailbox", []string{"C-1/crm info@x", "C-2/crm info@x"}, "C-1/crm info@x", "C-2/crm info@x", true, false},
		{"a shared mailbox applies to all its customers", []string{"C-1/crm info@x", "C-2/crm info@x", "C-2/crm c@x"}, "info@x", "c@x", true, false},
		{"but not to what these share with others", []string{"C-1/crm info@x", "C-2/crm info@x", "C-2/crm c@x", "C-3/crm c@x"}, "info@x", "C-3/crm", false, false},
		{"a customer reaches no more by a shared mailbox", []string{"C-1/crm info@x", "C-2/crm info@x", "C-2/crm c@x"}, "C-1/crm info@x", "c@x", false, false},
		{"a family's phone", []string{"a@x +1", "b@x +1"}, "a@x", "b@x", false, false},
		{"a family's phone applies to all", []string{"a@x +1", "b@x +1"}, "+1", "b@x", true, false},
		{"two addresses of one customer with one phone", []string{"C-1/crm a@x +1", "C-1/crm b@x +1"}, "a@x", "b@x", true, true},
		{"two accounts in two systems", []string{"C-1/crm a@x", "S-1/shop a@x"}, "C-1/crm", "S-1/shop", true, true},
		{"links that contradict each other", []string{"C-1/crm a@x", "S-1/shop a@x", "S-1/shop b@x", "C-2/crm b@x"}, "C-1/crm", "C-2/crm", false, false},
		{"and what is said by one of them", []string{"C-1/crm a@x", "S-1/shop a@x", "S-1/shop b@x", "C-2/crm b@x"}, "C-1/crm a@x", "S-1/shop a@x", true, true},
		{"one row with the keys of two customers applies to both", []string{"C-1/crm a@x", "C-2/crm +1", "a@x +1"}, "a@x +1", "C-2/crm", true, false},
		{"and does not link the customers", []string{"C-1/crm a@x", "C-2/crm +1", "a@x +1"}, "C-1/crm", "C-2/crm", false, false},
		{"two customers are never the same", nil, "C-1/crm info@x", "C-2/crm info@x", true, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			for range 2 {
				l := linked(append(c.rows, c.from, c.to), c.from, c.to)
				if got := l.reaches(c.from, c.to); got != c.reaches {
					t.Errorf("reaches %v, want %v", got, c.reaches)
				}
				if got := l.opposes(c.from, c.to); got != c.reaches {
					t.Errorf("in doubt reaches %v, want %v", got, c.reaches)
				}
				if got := l.Same(keysOf(c.from), keysOf(c.to)); got != c.same {
					t.Errorf("same %v, want %v", got, c.same)
				}
				slices.Reverse(c.rows)
			}
		})
	}
}

func TestSeveralSubjects(t *testing.T) {
	for _, c := range []struct {
		name, row string
		rows      []string
		want      bool
	}{
		{"a mailbox of two customers", "info@x", []string{"C-1/crm info@x", "C-2/crm info@x"}, true},
		{"a customer says who it is", "C-1/crm info@x", []string{"C-1/crm info@x", "C-2/crm info@x"}, false},
		{"customers of two systems", "a@x", []string{"C-1/crm a@x", "S-1/shop a@x"}, false},
		{"one customer again and again", "a@x", []string{"C-1/crm a@x", "C-1/crm a@x +1", "C-1/crm a@x"}, false},
		{"a phone beside two addresses", "+1", []string{"a@x +1", "b@x +1"}, true},
		{"one of these addresses", "a@x +1", []string{"a@x +1", "b@x +1"}, false},
		{"keys of two customers", "a@x +1", []string{"C-1/crm a@x", "C-2/crm +1"}, true},
		{"nothing known", "a@x", nil, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			// Nobody has to want it: a row without an id is in doubt by itself.
			if got := linked(append(c.rows, c.row)).Subject(keysOf(c.row)).Several; got != c.want {
				t.Errorf("several: %v, want %v", got, c.want)
			}
		})
	}
}

func TestRowKeys(t *testing.T) {
	if got, one := RowKeys(keysOf("a@x +1"), keysOf("C-1/crm a@x")); !one || !slices.Equal(got, keysOf("C-1/crm a@x +1")) {
		t.Errorf("%v %v", got, one)
	}
	if _, one := RowKeys(keysOf("C-1/crm a@x"), keysOf("C-1/crm b@x")); one {
		t.Error("a row with two addresses may be about two people")
	}
}

// A mailbox with very many customers stays cheap, and is no subject.
func TestSharedMailboxOfThousands(t *testing.T) {
	var rows []string
	for i := range 20_000 {
		rows = append(rows, fmt.Sprintf("C-%d/crm info@x", i))
	}
	l := linked(rows, "info@x")
	if !l.Subject(keysOf("info@x")).Several || l.reaches("C-7/crm", "C-8/crm") || !l.reaches("info@x", "C-19999/crm") {
		t.Error("a shared mailbox is several subjects")
	}
}

// Of keys that were counted once, few are taken for others: each costs a record being weighed by itself. One that was counted twice is never missed.
func TestKeysCountedOnceAreFewTakenForOthers(t *testing.T) {
	const once, twice = 2_000_000, 1000
	l := NewLinks()
	key := func(i int) []LinkKey { return l.Digests([]Key{{Kind: "phone", Value: strconv.Itoa(i)}}) }
	for i := range once {
		l.CountDigests(key(i))
	}
	for i := range twice {
		l.CountDigests(key(i))
	}
	may, so, taken := l.MayMeet(), make([]bool, 1), 0
	for i := range once {
		if may(key(i), so); so[0] && i >= twice {
			taken++
		} else if !so[0] && i < twice {
			t.Fatalf("key %d was counted twice and stands alone", i)
		}
	}
	if taken > once/40 {
		t.Errorf("%d of %d keys are taken for others", taken, once)
	}
}

// Rows that may match several subjects are found wherever they lie among others.
func TestSeveralSubjectsFarApart(t *testing.T) {
	rows := []string{"C-1/crm +1", "C-2/crm +1"}
	for i := range 1 << 14 { // more than a piece of rows
		rows = append(rows, fmt.Sprintf("F-%d/crm f%d@x", i, i))
	}
	for range 2 {
		l := linked(append(rows, "+1"))
		if !l.Subject(keysOf("+1")).Several || l.Subject(keysOf("C-1/crm")).Several {
			t.Error("who has the phone is several subjects, and nobody else is")
		}
		slices.Reverse(rows)
	}
}

// A chain longer than any real one is still followed to its end.
func TestLongChain(t *testing.T) {
	var rows []string
	for i := 100; i > 0; i-- { // against the direction in which rows are read
		rows = append(rows, fmt.Sprintf("S-%d/s%d m%d@x", i, i, i), fmt.Sprintf("S-%d/s%d m%d@x", i, i, i-1))
	}
	if l := linked(rows, "m0@x"); !l.reaches("m0@x", "S-100/s100") {
		t.Error("the chain breaks")
	}
}

// Rows that make a link doubtful take nothing back of what was said against consent by it.
func TestNoRowTakesAPrecautionBack(t *testing.T) {
	row := drawnRow()
	rapid.Check(t, func(t *rapid.T) {
		rows := rapid.SliceOfN(row, 0, 8).Draw(t, "rows")
		from, to := row.Draw(t, "from"), row.Draw(t, "to")
		rows = append(rows, from, to)
		before := linked(rows, from, to).opposes(from, to)
		rows = append(rows, rapid.SliceOfN(row, 1, 8).Draw(t, "more")...)
		if before && !linked(rows, from, to).opposes(from, to) {
			t.Fatalf("%q reached %q, and does no more", from, to)
		}
	})
}

// What Links says is what the definition says, for any rows, in any order.
func TestLinksAgreeWithTheirDefinition(t *testing.T) {
	row := drawnRow()
	rapid.Check(t, func(t *rapid.T) {
		rows := rapid.SliceOfN(row, 0, 8).Draw(t, "rows")
		from, to := row.Draw(t, "from"), row.Draw(t, "to")
		all := append(slices.Clone(rows), from, to)
		n := naive(all)
		if rapid.Bool().Draw(t, "each twice") {
			all = append(all, rows...)
		}
		shuffled := rapid.Permutation(all).Draw(t, "order")
		l := linked(shuffled, from)
		if rapid.Bool().Draw(t, "pseudonyms") {
			l = NewPseudonymousLinks(NewPseudonyms([]byte("tests"))).linked(func(i int) bool { return i%2 == 0 }, shuffled, from)
		}
		want := n.reaches(keysOf(from), keysOf(to))
		if got := l.reaches(from, to); got != want {
			t.Fatalf("%q reaches %q: %v, want %v", from, to, got, want)
		}
		if got, want := l.Subject(keysOf(from)).Several, n.several(keysOf(from)); got != want {
			t.Fatalf("%q several: %v, want %v", from, got, want)
		}
		if l.Same(keysOf(from), keysOf(to)) && !want {
			t.Fatalf("%q and %q are the same and do not reach each other", from, to)
		}
		if l.Same(keysOf(from), keysOf(to)) != l.Same(keysOf(to), keysOf(from)) {
			t.Fatalf("same is not mutual for %q and %q", from, to)
		}
	})
}

func drawnRow() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		var parts []string
		for _, options := range [][]string{{"1/crm", "2/crm", "3/crm", "1/shop", "2/shop"}, {"a@x", "b@x", "c@x"}, {"+1", "+2"}, {"d:1/web"}} {
			if rapid.Bool().Draw(t, "has") {
				parts = append(parts, rapid.SampledFrom(options).Draw(t, "key"))
			}
		}
		return strings.Join(parts, " ")
	})
}

// definition is Links without any cleverness.
type definition struct{ rows [][]Key }

func naive(rows []string) definition {
	var d definition
	for _, r := range rows {
		if keys := keysOf(r); len(keys) > 0 {
			d.rows = append(d.rows, keys)
		}
	}
	return d
}

func rank(k Key) int { return slices.Index(kinds[:], k.Kind) }

func (d definition) owners(k Key) (list []Key) {
	for _, r := range d.rows {
		if slices.Contains(r, k) && r[0] != k && !slices.Contains(list, r[0]) {
			list = append(list, r[0])
		}
	}
	return list
}

func two(list []Key) bool {
	for i, a := range list {
		for _, b := range list[:i] {
			if a != b && a.Kind == b.Kind && a.System == b.System {
				return true
			}
		}
	}
	return false
}

func (d definition) shared(k Key) bool { return two(d.owners(k)) }

func (d definition) several(row []Key) bool {
	var list []Key
	for _, k := range row {
		for _, o := range d.owners(k) {
			if rank(o) < rank(row[0]) {
				list = append(list, o)
			}
		}
	}
	return two(list)
}

// place is all that belongs together with k.
func (d definition) place(k Key) []Key {
	list := []Key{k}
	if d.shared(k) {
		return list
	}
	for grown := true; grown; {
		grown = false
		for _, r := range d.rows {
			if !slices.ContainsFunc(r, func(k Key) bool { return slices.Contains(list, k) }) {
				continue
			}
			for _, o := range r {
				if !d.shared(o) && !slices.Contains(list, o) {
					list, grown = append(list, o), true
				}
			}
		}
	}
	var ids []Key
	for _, o := range list {
		if rank(o) == 0 {
			ids = append(ids, o)
		}
	}
	if two(ids) {
		return []Key{k}
	}
	return list
}

func (d definition) reaches(from, to []Key) bool {
	for _, f := range from {
		for _, k := range to {
			if slices.Contains(d.place(k), f) {
				return true
			}
			if !d.several(from) {
				continue
			}
			for _, r := range d.rows { // f stands beside an owner that belongs to the consent's subject
				if slices.ContainsFunc(d.place(f), func(f Key) bool { return slices.Contains(r, f) && r[0] != f }) && slices.Contains(d.place(k), r[0]) {
					return true
				}
			}
		}
	}
	return false
}

// Whatever reaches a subject that will be asked for may concern it.
func TestMayConcernMissesNothing(t *testing.T) {
	row := drawnRow()
	rapid.Check(t, func(t *rapid.T) {
		rows := rapid.SliceOfN(row, 0, 8).Draw(t, "rows")
		from, to := row.Draw(t, "from"), row.Draw(t, "to")
		all := append(slices.Clone(rows), from, to)
		l := NewLinks()
		l.Asks(true)
		l.Add(keysOf(to))
		l.Asks(false)
		may := l.linked(nil, append(rows, from), from, to)
		concern := NewLinks()
		concern.Asks(true)
		concern.Add(keysOf(to))
		concern.Asks(false)
		for _, r := range append(rows, from) {
			concern.Add(keysOf(r))
		}
		if may.opposes(from, to) && !concern.MayConcern(concern.Digests(keysOf(from))) {
			t.Fatalf("%q reaches %q in %q, and may not concern it", from, to, all)
		}
	})
}

// Rows that lead nowhere near do not.
func TestMayConcernFollowsRows(t *testing.T) {
	l := NewLinks()
	for _, r := range []string{"S-1/crm a@x", "S-1/crm +1", "S-2/crm b@x", "S-3/crm c@x"} {
		l.Add(keysOf(r))
	}
	l.Asks(true)
	l.Count(keysOf("+1"))
	l.Asks(false)
	for key, want := range map[string]bool{"a@x": true, "S-1/crm": true, "+1": true, "b@x": false, "S-3/crm c@x": false} {
		if got := l.MayConcern(l.Digests(keysOf(key))); got != want {
			t.Errorf("%s may concern +1: %v, want %v", key, got, want)
		}
	}
}
