package pipeline

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"sheetlift/importers"
	"sheetlift/importers/staged"
	"sheetlift/mappings"
	"sheetlift/pipeline/finding"
)

// judged reads what the dry-run staged, once, chunk by chunk. What it keeps grows with purposes, notices and months, not with rows.
func (rv *reviewer) judged(ctx context.Context) error {
	j := &ReviewJudged{
		Complete: rv.dry.Complete, Passed: rv.dry.Passed, Imported: rv.imp != nil && rv.imp.DryRun == rv.dry.Digest,
		Rows: rv.dry.Rows, Entities: rv.dry.Entities, Cases: rv.dry.Cases, CaseList: []ReviewCase{}, Kinds: []CaseKind{},
	}
	rv.r.Judged = j
	gaps, err := rv.newGaps(ctx)
	if err != nil {
		return err
	}
	consents := &consentReview{asOf: rv.r.AsOf, gaps: gaps, counts: map[[2]string]*EvidenceCount{}, months: map[int]*MonthCount{}}
	cases := &caseReview{reviewer: rv, kinds: map[[2]string]*CaseKind{}}
	for _, config := range []bool{true, false} { // what consents point to must be known first
		for _, f := range rv.dry.Staged {
			e := importers.ByName(f.Entity)
			var take func(f *StagedFile, at map[string]int, c *staged.Chunk)
			switch {
			case e == nil || e.Config != config:
			case e.Config:
				take = func(f *StagedFile, at map[string]int, c *staged.Chunk) { gaps.configs(e, at, c) }
			case e.Name == "consent":
				consents.source(f.Source)
				take = consents.take
			case e.Name == "case":
				take = cases.take
			}
			if take == nil {
				continue
			}
			if err := eachChunk(ctx, &f, take); err != nil {
				return err
			}
		}
	}
	j.Evidence = consents.evidence()
	j.Timeline = consents.timeline()
	cases.finish(j)
	j.Gaps = gaps.table()
	return nil
}

// eachChunk calls f with each chunk of a staged file, after its bytes were checked.
func eachChunk(ctx context.Context, file *StagedFile, f func(*StagedFile, map[string]int, *staged.Chunk)) error {
	rd, err := openStaged(*file)
	if err != nil {
		return err
	}
	defer rd.Close()
	at := map[string]int{}
	for i, c := range rd.Columns() {
		at[c.Name] = i
	}
	for i := range rd.Chunks() {
		if err := ctx.Err(); err != nil {
			return err
		}
		c, err := rd.Chunk(i)
		if err != nil {
			return err
		}
		f(file, at, c)
		c.Release()
	}
	return nil
}

// consentReview counts consents by evidence and by time.
type consentReview struct {
	asOf    string
	gaps    *gaps
	counts  map[[2]string]*EvidenceCount // source and purpose
	months  map[int]*MonthCount          // years times 12 and months
	undated int
	stamps  []*stampCount // one a source

	zone string // of the record before
	loc  *time.Location
}

// maxPurposes is how many purposes are told apart while counting. Every consent's purpose is an imported one, so there are few.
const maxPurposes = 10_000

func (r *consentReview) source(name string) {
	if len(r.stamps) == 0 || r.stamps[len(r.stamps)-1].source != name {
		r.stamps = append(r.stamps, &stampCount{source: name, counts: map[stampKey]int{}})
	}
	r.gaps.source(name)
}

func (r *consentReview) take(f *StagedFile, at map[string]int, c *staged.Chunk) {
	purpose, status, class, confidence, missing := at["purpose"], at["status"], at["class"], at["confidence"], at["missing"]
	when, zone, precision := at["occurred_at"], at["occurred_at_zone"], at["occurred_at_precision"]
	stamps := r.stamps[len(r.stamps)-1]
	r.gaps.columns(at)
	for row := range c.Rows() {
		key := [2]string{f.Source, c.Cell(purpose, row).Text}
		n := r.counts[key]
		if n == nil {
			if len(r.counts) >= maxPurposes {
				key[1] = OtherPurposes
				n = r.counts[key]
			}
			if n == nil {
				key[1] = strings.Clone(key[1])
				n = &EvidenceCount{Source: f.Source, Purpose: key[1], EntityCount: EntityCount{ByConfidence: map[string]int{}, Missing: map[string]int{}}}
				r.counts[key] = n
			}
		}
		n.Records++
		if c.Cell(class, row).Text == string(importers.Receipt) {
			n.Receipts++
		} else {
			n.LegacyAssertions++
		}
		bump(n.ByConfidence, c.Cell(confidence, row).Text)
		for rest := c.Cell(missing, row).Text; rest != ""; {
			var word string
			word, rest, _ = strings.Cut(rest, ",")
			bump(n.Missing, word)
		}
		r.gaps.consent(c, row)
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
		m.add(c.Cell(status, row).Text, 1)
		stamps.add(stampKey{at: at.Int, zone: r.zone, day: c.Cell(precision, row).Text == "day"})
	}
}

// bump adds one to a word that may lie in memory that is given back.
func bump(m map[string]int, word string) {
	if _, ok := m[word]; !ok {
		word = strings.Clone(word)
	}
	m[word]++
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

// stampCount finds the times that many consents of one source carry, in bounded memory: the counters of Misra and Gries (1982). A
// time that more than one in stampCounters consents carries keeps a counter, which is at most lost too low.
type stampCount struct {
	source string
	counts map[stampKey]int
	dated  int
	lost   int
}

type stampKey struct {
	at   int64
	zone string
	day  bool
}

const (
	stampCounters = 4096
	stampLeast    = 10 // from how many consents on one time is worth showing
	stampShare    = 20 // and it must be one in so many of the source's dated ones
	stampsShown   = 10 // of one source
)

func (s *stampCount) add(k stampKey) {
	s.dated++
	if n, ok := s.counts[k]; ok || len(s.counts) < stampCounters {
		s.counts[k] = n + 1
		return
	}
	s.lost++
	for k, n := range s.counts {
		if n == 1 {
			delete(s.counts, k)
		} else {
			s.counts[k] = n - 1
		}
	}
}

// bulk lists the times that stand out, the commonest first.
func (s *stampCount) bulk() []Stamp {
	keys := slices.SortedFunc(maps.Keys(s.counts), func(a, b stampKey) int {
		return cmp.Or(cmp.Compare(s.counts[b], s.counts[a]), cmp.Compare(a.at, b.at), cmp.Compare(a.zone, b.zone))
	})
	var out []Stamp
	for _, k := range keys {
		n := s.counts[k]
		if n < stampLeast || n*stampShare < s.dated || len(out) == stampsShown {
			break
		}
		loc := importers.Location(k.zone)
		if loc == nil {
			loc = time.UTC
		}
		at := time.UnixMicro(k.at).In(loc)
		word := at.Format(time.DateOnly)
		if !k.day {
			word = strings.TrimSpace(at.Format("2006-01-02 15:04:05") + " " + cmp.Or(k.zone, "(no zone)"))
		}
		out = append(out, Stamp{Source: s.source, At: word, Records: n, AtLeast: s.lost > 0, Of: s.dated})
	}
	return out
}

// caseReview counts cases by kind and keeps the most urgent ones.
type caseReview struct {
	*reviewer
	kinds map[[2]string]*CaseKind
	order [][2]string
	list  []ReviewCase
	left  int
}

func (r *caseReview) take(f *StagedFile, at map[string]int, c *staged.Chunk) {
	text := func(col string, row int) string { return strings.Clone(c.Cell(at[col], row).Text) }
	for row := range c.Rows() {
		key := [2]string{f.Source, text("request_type", row)}
		k := r.kinds[key]
		if k == nil {
			k = &CaseKind{Source: f.Source, Type: key[1]}
			r.kinds[key] = k
			r.order = append(r.order, key)
		}
		switch text("status", row) {
		case "closed_fulfilled":
			k.Fulfilled++
		case "closed_refused":
			k.Refused++
		case "withdrawn":
			k.Withdrawn++
		case "open":
			k.Open++
			received := ""
			if v := c.Cell(at["received_at"], row); !v.Null {
				received = importers.Day(importers.Value{Set: true, Int: v.Int, Zone: text("received_at_zone", row), Precision: text("received_at_precision", row)})
			}
			due, state := importers.Due(received, text("due_at", row), text("extended_to", row), r.r.AsOf, dueSoonDays)
			switch state {
			case importers.Overdue:
				k.Overdue++
			case importers.DueSoon:
				k.DueSoon++
			default:
				continue
			}
			file := ""
			if s := r.batch.source(f.Source); s != nil {
				file = s.File
			}
			r.list = append(r.list, ReviewCase{
				Source: f.Source, Place: r.names.place(file, text("sheet", row), int(c.Cell(at["row"], row).Int), 0, "", ""), Type: key[1],
				Received: received, Due: due, State: string(state),
			})
			if len(r.list) > 8*reviewCases {
				r.cut()
			}
		}
	}
}

// cut keeps the most urgent cases.
func (r *caseReview) cut() {
	slices.SortStableFunc(r.list, func(a, b ReviewCase) int { return cmp.Compare(a.Due, b.Due) })
	if more := len(r.list) - reviewCases; more > 0 {
		r.list, r.left = r.list[:reviewCases], r.left+more
	}
}

func (r *caseReview) finish(j *ReviewJudged) {
	r.cut()
	j.CaseList, j.CaseLeft = append(j.CaseList, r.list...), r.left
	for _, k := range r.order {
		j.Kinds = append(j.Kinds, *r.kinds[k])
	}
	slices.SortStableFunc(j.Kinds, func(a, b CaseKind) int { return cmp.Or(cmp.Compare(a.Source, b.Source), cmp.Compare(a.Type, b.Type)) })
}

// source is the source of that name, or nil.
func (b *Batch) source(name string) *Source {
	for i := range b.Sources {
		if b.Sources[i].Name == name {
			return &b.Sources[i]
		}
	}
	return nil
}
