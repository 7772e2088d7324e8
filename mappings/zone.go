package mappings

import (
	"fmt"
	"strings"
	"time"
	_ "time/tzdata" // so that zones are known on machines without a zone database
)

// zone turns calendar parts into instants. It keeps the last stretch between two changes of clocks, so that most values cost
// an addition. A zone is not safe for concurrent use.
type zone struct {
	name       string
	loc        *time.Location
	start, end int64 // the stretch, seconds since 1970 UTC, a day and a half inside the changes of clocks
	off        int64
}

// loadZone knows IANA names and fixed offsets such as +02:00. The machine's own zone is refused.
func loadZone(name string) (*zone, error) {
	if off, rest, ok := offset([]byte(name)); ok && len(rest) == 0 && (name == "Z" || name[0] < 'A') { // UTC and GMT are names
		return &zone{name: offsetName(off), loc: time.FixedZone(offsetName(off), off)}, nil
	}
	if name == "Local" || name == "" || strings.HasPrefix(name, "posix/") || strings.HasPrefix(name, "right/") {
		return nil, fmt.Errorf("%q is no time zone", name)
	}
	loc, err := time.LoadLocation(name)
	if err != nil {
		return nil, fmt.Errorf("%q is no time zone", name)
	}
	return &zone{name: name, loc: loc}, nil
}

func offsetName(seconds int) string {
	sign := byte('+')
	if seconds < 0 {
		sign, seconds = '-', -seconds
	}
	p := appendPadded([]byte{sign}, seconds/3600, 2)
	p = append(p, ':')
	return string(appendPadded(p, seconds/60%60, 2))
}

// localTime is what comes of a local time.
type localTime uint8

const (
	localOnce localTime = iota
	localGap
	localFold
)

// instant gives seconds since 1970 UTC. A day is its first instant, which always exists.
func (z *zone) instant(c *civil) (int64, localTime) {
	wall := c.seconds()
	if u := wall - z.off; u >= z.start && u < z.end {
		return u, localOnce
	}
	// The instants that show this wall time are among those under the offsets in force a day before and a day after.
	_, before := time.Unix(wall-86400, 0).In(z.loc).Zone()
	_, after := time.Unix(wall+86400, 0).In(z.loc).Zone()
	early, late := wall-int64(max(before, after)), wall-int64(min(before, after))
	earlyShows, lateShows := z.shows(early, wall), z.shows(late, wall)
	switch {
	case earlyShows && (!lateShows || early == late):
		z.keep(early)
		return early, localOnce
	case lateShows && !earlyShows:
		z.keep(late)
		return late, localOnce
	case earlyShows && c.prec == byDay:
		return early, localOnce
	case earlyShows:
		return early, localFold
	case c.prec == byDay:
		// Clocks were put forward over midnight: the day begins when they were.
		start, _ := time.Unix(late, 0).In(z.loc).ZoneBounds()
		if start.Day() == c.day {
			return start.Unix(), localOnce
		}
	}
	return late, localGap
}

// shows reports whether clocks in the zone show wall at instant u.
func (z *zone) shows(u, wall int64) bool {
	_, off := time.Unix(u, 0).In(z.loc).Zone()
	return u+int64(off) == wall
}

func (z *zone) keep(u int64) {
	t := time.Unix(u, 0).In(z.loc)
	_, off := t.Zone()
	start, end := t.ZoneBounds()
	z.off, z.start, z.end = int64(off), -1<<62, 1<<62
	if !start.IsZero() {
		z.start = start.Unix() + 36*3600
	}
	if !end.IsZero() {
		z.end = end.Unix() - 36*3600
	}
}
