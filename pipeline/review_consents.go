package pipeline

import (
	"cmp"
	"encoding/binary"
	"maps"
	"slices"
	"strings"
	"time"

	"sheetlift/importers"
	"sheetlift/importers/staged"
	"sheetlift/mappings"
	"sheetlift/pipeline/finding"
)

// consentReview counts consents by evidence and by time. Consents that say the same of their evidence are of one kind, and kinds are
// few: a row costs the look-up of its kind, and what follows from a kind is worked out once for all its rows.
type consentReview struct {
	asOf    string
	gaps    *gaps
	counts  map[[2]string]*EvidenceCount // source and purpose
	months  map[int]*MonthCount          // years times 12 and months
	undated int
	stamps  []*stampCount // one a source

	kinds map[string]*consentKind // of the source being read
	order []*consentKind          // as they came
	key   []byte

	zone string // of the record before
	loc  *time.Location
}

// consentKind is what some consents of a source have in common.
type consentKind struct {
	n     int
	texts [kindTexts]string
	held  uint64 // the fields of gaps.fields that have a value
}

// The texts of a kind.
const (
	kindPurpose = iota
	kindStatus
	kindClass
	kindConfidence
	kindMissing
	kindNotice
	kindVersion
	kindWording
	kindStated
	kindTexts
)

var kindColumns = [kindTexts]string{"purpose", "status", "class", "confidence", "missing", "notice_id", "notice_version", "notice_digest", "stated"}

// maxKinds is how many kinds are kept before they are counted and forgotten, maxPurposes how many purposes are told apart. Every
// consent's purpose is an imported one, so there are few.
const (
	maxKinds    = 1 << 15
	maxPurposes = 10_000
)

func (r *consentReview) source(name string) {
	r.settle()
	if len(r.stamps) == 0 || r.stamps[len(r.stamps)-1].source != name {
		r.stamps = append(r.stamps, &stampCount{source: name})
	}
	r.gaps.source(name)
}

func (r *consentReview) take(_ *StagedFile, at map[string]int, c *staged.Chunk) {
	var texts [kindTexts]int
	for i, name := range kindColumns {
		texts[i] = at[name]
	}
	when, zone, precision := at["occurred_at"], at["occurred_at_zone"], at["occurred_at_precision"]
	stamps := r.stamps[len(r.stamps)-1]
	r.gaps.columns(at)
	for row := range c.Rows() {
		k := r.kind(c, &texts, row)
		k.n++
		at := c.Cell(when, row)
		if at.Null {
			r.undated++
			continue
		}
		if z := c.Cell(zone, row).Text; r.loc == nil || z != r.zone {
			r.zone = strings.Clone(z)
			if r.loc = importers.Location(r.zone); r.loc == nil {
				r.loc = time.UTC
			}
		}
		year, month, _ := time.UnixMicro(at.Int).In(r.loc).Date()
		m := r.months[year*12+int(month)-1]
		if m == nil {
			m = &MonthCount{}
			r.months[year*12+int(month)-1] = m
		}
		m.add(k.texts[kindStatus], 1)
		stamps.add(at.Int, r.zone, c.Cell(precision, row).Text == "day")
	}
	if len(r.kinds) > maxKinds {
		r.settle()
	}
}

// kind finds the kind of a record.
func (r *consentReview) kind(c *staged.Chunk, texts *[kindTexts]int, row int) *consentKind {
	key := r.key[:0]
	for _, col := range texts {
		text := c.Cell(col, row).Text
		key = binary.AppendUvarint(key, uint64(len(text)))
		key = append(key, text...)
	}
	held := uint64(0)
	for i := range r.gaps.fields {
		if !c.Cell(r.gaps.fields[i].col, row).Null {
			held |= 1 << i
		}
	}
	key = binary.LittleEndian.AppendUint64(key, held)
	r.key = key
	k := r.kinds[string(key)]
	if k == nil {
		k = &consentKind{held: held}
		for i, col := range texts {
			k.texts[i] = strings.Clone(c.Cell(col, row).Text)
		}
		if r.kinds == nil {
			r.kinds = map[string]*consentKind{}
		}
		r.kinds[string(key)] = k
		r.order = append(r.order, k)
	}
	return k
}

// settle counts the kinds of the source that was read.
func (r *consentReview) settle() {
	for _, k := range r.order {
		source := r.stamps[len(r.stamps)-1].source
		key := [2]string{source, k.texts[kindPurpose]}
		n := r.counts[key]
		if n == nil && len(r.counts) >= maxPurposes {
			key[1] = OtherPurposes
			n = r.counts[key]
		}
		if n == nil {
			n = &EvidenceCount{Source: source, Purpose: key[1], EntityCount: EntityCount{ByConfidence: map[string]int{}, Missing: map[string]int{}}}
			r.counts[key] = n
		}
		n.Records += k.n
		if k.texts[kindClass] == string(importers.Receipt) {
			n.Receipts += k.n
		} else {
			n.LegacyAssertions += k.n
		}
		n.ByConfidence[k.texts[kindConfidence]] += k.n
		if missing := k.texts[kindMissing]; missing != "" {
			for word := range strings.SplitSeq(missing, ",") {
				n.Missing[word] += k.n
			}
		}
		r.gaps.consents(k)
	}
	clear(r.kinds)
	r.order = r.order[:0]
}

func (m *MonthCount) add(status string, n int) {
	switch status {
	case importers.StatusGiven:
		m.Given += n
	case "refused":
		m.Refused += n
	case "withdrawn":
		m.Withdrawn += n
	default:
		m.Expired += n
	}
}

func (m *MonthCount) merge(o *MonthCount) {
	m.Given += o.Given
	m.Refused += o.Refused
	m.Withdrawn += o.Withdrawn
	m.Expired += o.Expired
}

// evidence lists the counts by source, as they came, and by purpose, the commonest first. A code that must not be shown is one of
// the others.
func (r *consentReview) evidence() []EvidenceCount {
	all := map[string]int{}
	for k, n := range r.counts {
		all[k[1]] += n.Records
	}
	shown := map[string]bool{"": true}
	for _, p := range slices.SortedFunc(maps.Keys(all), func(a, b string) int { return cmp.Or(cmp.Compare(all[b], all[a]), cmp.Compare(a, b)) }) {
		if len(shown) <= finding.QuoteMax && finding.Quote(p) && !mappings.LooksPersonal(p) {
			shown[p] = true
		}
	}
	list := []EvidenceCount{}
	for _, s := range r.stamps {
		var of []EvidenceCount
		var others *EvidenceCount
		for _, k := range slices.SortedFunc(maps.Keys(r.counts), func(a, b [2]string) int { return cmp.Compare(a[1], b[1]) }) {
			switch n := r.counts[k]; {
			case k[0] != s.source:
			case shown[k[1]]:
				of = append(of, *n)
			case others == nil:
				others = n
				others.Purpose = OtherPurposes
			default:
				others.merge(&n.EntityCount)
			}
		}
		slices.SortStableFunc(of, func(a, b EvidenceCount) int { return cmp.Compare(b.Records, a.Records) })
		if others != nil {
			of = append(of, *others)
		}
		list = append(list, of...)
	}
	return list
}

func (c *EntityCount) merge(o *EntityCount) {
	c.Records += o.Records
	c.Receipts += o.Receipts
	c.LegacyAssertions += o.LegacyAssertions
	for k, n := range o.ByConfidence {
		c.ByConfidence[k] += n
	}
	for k, n := range o.Missing {
		c.Missing[k] += n
	}
}

// timelineMonths is how many months up to the newest export are told apart.
const timelineMonths = 120

func (r *consentReview) timeline() Timeline {
	t := Timeline{Months: []MonthCount{}, Undated: r.undated, Stamps: []Stamp{}}
	end := 0
	if day, err := time.Parse(time.DateOnly, r.asOf); err == nil {
		end = day.Year()*12 + int(day.Month()) - 1
	}
	for _, at := range slices.Sorted(maps.Keys(r.months)) {
		m := r.months[at]
		switch {
		case at > end:
			if t.Later == nil {
				t.Later = &MonthCount{}
			}
			t.Later.merge(m)
		case at <= end-timelineMonths:
			if t.Earlier == nil {
				t.Earlier = &MonthCount{}
			}
			t.Earlier.merge(m)
		default:
			m.Month = time.Date(at/12, time.Month(at%12+1), 1, 0, 0, 0, 0, time.UTC).Format("2006-01")
			t.Months = append(t.Months, *m)
		}
	}
	for _, s := range r.stamps {
		t.Stamps = append(t.Stamps, s.bulk()...)
	}
	return t
}
