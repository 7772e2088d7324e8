package importers

import (
	"math"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	microSecond = int64(1_000_000)
	microMinute = 60 * microSecond
	microHour   = 60 * microMinute
	microDay    = 24 * microHour

	// A wall clock without a zone can be as early as that of UTC+14 and as late as that of UTC-12.
	slackBefore = 14 * microHour
	slackAfter  = 12 * microHour
)

// never is the earliest possible instant of something undated: nothing can be proved to be before it.
const never = math.MinInt64

// Window returns the earliest and the latest instant (microseconds since 1970 UTC, both inclusive) that a date or date-time
// can stand for, given its precision and zone. A day lasts from its first to its last instant in its zone, 23 or 25 hours
// on the days when clocks change. Without a zone, or with one that is unknown, the Int of a date-time is its wall clock read
// as UTC, and the window grows by 14 hours before and 12 hours after. An unknown precision counts as a day. An unset value
// could be any instant: the least and the greatest int64.
func Window(v Value) (earliest, latest int64) {
	if !v.Set {
		return never, math.MaxInt64
	}
	loc := Location(v.Zone)
	at := v.Int
	if v.Precision == "" && v.Text != "" { // a Date field: a calendar day without a zone
		d, err := time.Parse(time.DateOnly, v.Text)
		if err != nil {
			return never, math.MaxInt64
		}
		at, loc = d.UnixMicro(), nil
	}
	var span int64
	switch v.Precision {
	case "micro":
		span = 1
	case "second":
		span = microSecond
	case "minute":
		span = microMinute
	default:
		if loc != nil {
			if first, last, ok := dayIn(loc, at); ok {
				return first, last
			}
		}
		at = floor(at, microDay)
		span = microDay
	}
	earliest, latest = at, at+span-1
	if loc == nil {
		earliest -= slackBefore
		latest += slackAfter
	}
	return earliest, latest
}

// Day returns the calendar day (YYYY-MM-DD) of a date or date-time on the wall clock it was written by; "" when unset.
func Day(v Value) string {
	switch {
	case !v.Set:
		return ""
	case v.Precision == "" && v.Text != "":
		return v.Text
	}
	loc := Location(v.Zone)
	if loc == nil {
		loc = time.UTC
	}
	return time.UnixMicro(v.Int).In(loc).Format(time.DateOnly)
}

// InForce reports whether a notice that was valid from and to these days (YYYY-MM-DD, both inclusive; to may be empty) was
// in force at the whole of the time v can stand for. The days are those of v's zone, since a notice names none. Without a
// zone both ends of the window must fall into the notice's days.
func InForce(validFrom, validTo string, v Value) bool {
	if !v.Set || validFrom == "" {
		return false
	}
	loc := Location(v.Zone)
	if loc != nil && v.Precision != "" { // what follows, without making strings
		var buf [16]byte
		day := time.UnixMicro(v.Int).In(loc).AppendFormat(buf[:0], time.DateOnly)
		return validFrom <= string(day) && (validTo == "" || string(day) <= validTo)
	}
	first := Day(v)
	last := first
	if loc == nil {
		earliest, latest := Window(v)
		first = time.UnixMicro(earliest).UTC().Format(time.DateOnly)
		last = time.UnixMicro(latest).UTC().Format(time.DateOnly)
	}
	return validFrom <= first && (validTo == "" || last <= validTo)
}

// Period is the days on which a notice was in force.
type Period struct {
	From, To string // days, both inclusive; To may be empty

	surely [2]int64 // the instants between which no zone and no precision make a doubt
}

// NewPeriod returns the period of these days (YYYY-MM-DD).
func NewPeriod(from, to string) Period {
	const doubt = 3 * microDay // more than a zone, a precision and a change of clocks can shift a day
	p := Period{From: from, To: to, surely: [2]int64{math.MaxInt64, math.MinInt64}}
	first, err := time.Parse(time.DateOnly, from)
	if err != nil {
		return p
	}
	p.surely = [2]int64{first.UnixMicro() + doubt, math.MaxInt64}
	if to != "" {
		last, err := time.Parse(time.DateOnly, to)
		if err != nil {
			p.surely = [2]int64{math.MaxInt64, math.MinInt64}
			return p
		}
		p.surely[1] = last.UnixMicro() - doubt
	}
	return p
}

// InForce is InForce of the period's days.
func (p *Period) InForce(v *Value) bool {
	return v.Set && v.Precision != "" && p.surely[0] <= v.Int && v.Int <= p.surely[1] || InForce(p.From, p.To, *v)
}

// dayIn returns the first and the last instant of the calendar day that at falls into in loc. The day is looked for in each
// stretch of constant offset around it, because clocks may change at midnight (then it has no 00:00, or two).
func dayIn(loc *time.Location, at int64) (first, last int64, ok bool) {
	t := time.UnixMicro(at).In(loc)
	y, m, d := t.Date()
	wall := time.Date(y, m, d, 0, 0, 0, 0, time.UTC).UnixMicro()
	for s := t.Add(-48 * time.Hour); s.Before(t.Add(48 * time.Hour)); {
		_, offset := s.Zone()
		start, end := s.ZoneBounds()
		lo := wall - int64(offset)*microSecond
		hi := lo + microDay - 1
		if !start.IsZero() {
			lo = max(lo, start.UnixMicro())
		}
		if !end.IsZero() {
			hi = min(hi, end.UnixMicro()-1)
		}
		if lo <= hi {
			if !ok {
				first = lo
			}
			last, ok = hi, true
		}
		if end.IsZero() {
			break
		}
		s = end
	}
	return first, last, ok
}

func floor(n, unit int64) int64 {
	r := n % unit
	if r < 0 {
		r += unit
	}
	return n - r
}

var (
	locations sync.Map             // zone name -> *time.Location; only known names are kept
	lastZone  atomic.Pointer[zone] // that was kept last
)

type zone struct {
	name string
	at   *time.Location
}

// Location returns the zone of that name: an IANA name, "UTC", "Z" or a fixed offset such as "+05:30"; nil when empty or
// unknown. "Local" is unknown: a result must not depend on the machine.
func Location(name string) *time.Location {
	switch name {
	case "", "Local", "local":
		return nil
	case "UTC", "Z":
		return time.UTC
	}
	if z := lastZone.Load(); z != nil && z.name == name { // as for most of a batch's rows
		return z.at
	}
	if l, ok := locations.Load(name); ok {
		return l.(*time.Location)
	}
	loc := fixedOffset(name)
	if loc == nil {
		var err error
		if loc, err = time.LoadLocation(name); err != nil {
			return nil
		}
	}
	locations.Store(name, loc)
	lastZone.Store(&zone{name, loc})
	return loc
}

// fixedOffset reads +hh:mm, -hh:mm, +hhmm or +hh; nil for anything else.
func fixedOffset(s string) *time.Location {
	if len(s) < 3 || s[0] != '+' && s[0] != '-' {
		return nil
	}
	digits := strings.Replace(s[1:], ":", "", 1)
	if len(digits) == 2 {
		digits += "00"
	}
	if len(digits) != 4 || strings.ContainsFunc(digits, func(r rune) bool { return r < '0' || r > '9' }) {
		return nil
	}
	h, _ := strconv.Atoi(digits[:2])
	m, _ := strconv.Atoi(digits[2:])
	if h > 14 || m > 59 {
		return nil
	}
	offset := h*3600 + m*60
	if s[0] == '-' {
		offset = -offset
	}
	return time.FixedZone(s, offset)
}
