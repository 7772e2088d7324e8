package pipeline

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"sheetlift/importers"
)

// stampCount finds the times that many consents of one source carry, in bounded memory: the counters of Misra and Gries (1982), to
// which a few thousand times are merged at once, as Agarwal et al. (2012, Mergeable Summaries) do. A time that more than one in
// stampCounters consents carries keeps a counter, which is at most lost too low.
type stampCount struct {
	source string
	dated  int
	lost   int
	counts []stamp // by key
	fresh  []stamp // not merged yet
	spare  []stamp
	zones  []string
	last   int // zone of the one before
}

type stamp struct {
	at   int64
	kind int // number of the zone, twice, and one for days
	n    int
}

func (s stamp) compare(o stamp) int {
	return cmp.Or(cmp.Compare(s.at, o.at), cmp.Compare(s.kind, o.kind))
}

const (
	stampCounters = 4096
	stampLeast    = 10 // from how many consents on one time is worth showing
	stampShare    = 20 // and it must be one in so many of the source's dated ones
	stampsShown   = 10 // of one source
)

func (s *stampCount) add(at int64, zone string, day bool) {
	s.dated++
	if s.last >= len(s.zones) || s.zones[s.last] != zone {
		if s.last = slices.Index(s.zones, zone); s.last < 0 {
			s.last = len(s.zones)
			s.zones = append(s.zones, zone)
		}
	}
	kind := 2 * s.last
	if day {
		kind++
	}
	if s.fresh = append(s.fresh, stamp{at, kind, 1}); len(s.fresh) == stampCounters {
		s.merge()
	}
}

// merge brings the fresh times to the counters; if there are too many by then, all lose as much as the first that must go.
func (s *stampCount) merge() {
	slices.SortFunc(s.fresh, stamp.compare)
	out := s.spare[:0]
	put := func(x stamp) {
		if n := len(out) - 1; n >= 0 && out[n].at == x.at && out[n].kind == x.kind {
			out[n].n += x.n
		} else {
			out = append(out, x)
		}
	}
	a, b := s.counts, s.fresh
	for len(a) > 0 && len(b) > 0 {
		if a[0].compare(b[0]) <= 0 {
			put(a[0])
			a = a[1:]
		} else {
			put(b[0])
			b = b[1:]
		}
	}
	for _, x := range a {
		put(x)
	}
	for _, x := range b {
		put(x)
	}
	s.counts, s.spare, s.fresh = out, s.counts, s.fresh[:0]
	if len(out) <= stampCounters {
		return
	}
	sizes := make([]int, len(out))
	for i, x := range out {
		sizes[i] = x.n
	}
	slices.Sort(sizes)
	less := sizes[len(sizes)-1-stampCounters]
	s.lost += less
	s.counts = out[:0]
	for _, x := range out {
		if x.n -= less; x.n > 0 {
			s.counts = append(s.counts, x)
		}
	}
}

// bulk lists the times that stand out, the commonest first.
func (s *stampCount) bulk() []Stamp {
	s.merge()
	slices.SortFunc(s.counts, func(a, b stamp) int {
		return cmp.Or(cmp.Compare(b.n, a.n), cmp.Compare(a.at, b.at), cmp.Compare(s.zones[a.kind/2], s.zones[b.kind/2]), cmp.Compare(a.kind, b.kind))
	})
	var out []Stamp
	for _, x := range s.counts {
		if x.n < stampLeast || x.n*stampShare < s.dated || len(out) == stampsShown {
			break
		}
		zone := s.zones[x.kind/2]
		loc := importers.Location(zone)
		if loc == nil {
			loc = time.UTC
		}
		at := time.UnixMicro(x.at).In(loc)
		word := at.Format(time.DateOnly)
		if x.kind%2 == 0 {
			word = strings.TrimSpace(at.Format("2006-01-02 15:04:05") + " " + cmp.Or(zone, "(no zone)"))
		}
		out = append(out, Stamp{Source: s.source, At: word, Records: x.n, AtLeast: s.lost > 0, Of: s.dated})
	}
	return out
}
