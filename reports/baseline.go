package reports

import (
	"hash/maphash"
	"io"
	"strconv"

	"sheetlift/pipeline/finding"
)

// Baseline is the findings of an earlier run, against which those of a later one are told known from new.
//
// What makes two findings the same: rule, severity, source, and the field concerned (the column where there is no field; file and
// sheet where there is no source). The subject token too, if both runs made it with the same key, so that one person's fault is not
// taken for another's. Not the row: rows move when an export is made again. Of several findings that are the same but for the row,
// those in the same row are matched first, then as many others as the baseline has left; what is beyond that number is new.
// Neither message nor counts make a difference, so a known hazard stays known when it concerns more rows.
//
// It keeps hashes, 20 bytes a finding.
type Baseline struct {
	seed    maphash.Seed
	entries []entry
	tokens  map[uint64]bool // hashes of subject tokens

	byToken bool // the two runs share the key of subject tokens
	matching
}

// matching counts, by identity and row. It holds nothing of the later run that the earlier one does not have.
type matching struct {
	earlier map[spot]int32
	inRow   map[spot]int32   // of them, those that the later run has in the same row
	spare   map[uint64]int32 // the others, by identity: what moved may take them
}

func newMatching() matching {
	return matching{map[spot]int32{}, map[spot]int32{}, map[uint64]int32{}}
}

func (m matching) match(at spot) {
	if m.inRow[at] < m.earlier[at] {
		m.inRow[at]++
	}
}

// entry is one finding of the earlier run: its identity without and with the subject token.
type entry struct {
	plain, exact uint64
	row          int32
}

type spot struct {
	identity uint64
	row      int32
}

// ReadBaseline reads a findings file of an earlier run.
func ReadBaseline(r io.Reader) (*Baseline, error) {
	b := &Baseline{seed: maphash.MakeSeed(), tokens: map[uint64]bool{}}
	err := ReadFindings(r, func(f finding.Finding) error {
		b.entries = append(b.entries, entry{b.identity(&f, false), b.identity(&f, true), int32(f.Row)})
		if f.SubjectToken != "" {
			b.tokens[maphash.String(b.seed, f.SubjectToken)] = true
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return b, nil
}

// Len is how many findings the baseline has.
func (b *Baseline) Len() int { return len(b.entries) }

func (b *Baseline) identity(f *finding.Finding, token bool) uint64 {
	var h maphash.Hash
	h.SetSeed(b.seed)
	add := func(s string) {
		h.WriteString(strconv.Itoa(len(s)))
		h.WriteByte(':')
		h.WriteString(s)
	}
	add(f.Rule)
	add(string(f.Severity))
	add(f.Source)
	if f.Source == "" {
		add(f.File)
		add(f.Sheet)
	}
	if f.Field != "" {
		add("field " + f.Field)
	} else {
		add("column " + f.Column)
	}
	if token {
		add(f.SubjectToken)
	}
	return h.Sum64()
}

// Prepare looks through the later run's findings once, before New is asked of each in turn. Of subject tokens it learns whether
// they can be compared: if both runs have some and none is in both, they were made with two keys, and otherKey is true.
func (b *Baseline) Prepare(read func(each func(finding.Finding) error) error) (otherKey bool, err error) {
	plain, exact := newMatching(), newMatching()
	for _, e := range b.entries {
		plain.earlier[spot{e.plain, e.row}]++
		exact.earlier[spot{e.exact, e.row}]++
	}
	shared, any := false, false
	err = read(func(f finding.Finding) error {
		if f.SubjectToken != "" {
			any = true
			shared = shared || b.tokens[maphash.String(b.seed, f.SubjectToken)]
		}
		plain.match(spot{b.identity(&f, false), int32(f.Row)})
		exact.match(spot{b.identity(&f, true), int32(f.Row)})
		return nil
	})
	if err != nil {
		return false, err
	}
	b.matching = plain
	if b.byToken = shared; shared {
		b.matching = exact
	}
	for at, n := range b.earlier {
		if rest := n - b.inRow[at]; rest > 0 {
			b.spare[at.identity] += rest
		}
	}
	return any && len(b.tokens) > 0 && !shared, nil
}

// New reports whether the earlier run did not have a finding. It is asked of each finding once, in order.
func (b *Baseline) New(f *finding.Finding) bool {
	id := b.identity(f, b.byToken)
	if at := (spot{id, int32(f.Row)}); b.inRow[at] > 0 {
		b.inRow[at]--
		return false
	}
	if b.spare[id] > 0 {
		b.spare[id]--
		return false
	}
	return true
}
