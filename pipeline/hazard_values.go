package pipeline

import (
	"strings"
	"time"

	"sheetlift/mappings/suggest"
)

// trait is something about a value that an inventory counts.
type trait uint8

const (
	numeral  trait = 1 << iota // text that is a plain number
	dated                      // a date
	clocked                    // with a time of day
	midnight                   // which is midnight
	future                     // after the export was obtained
	exported                   // the minute, or of a bare date the day, at which it was obtained
	sample                     // a word that stands in samples and tests
	totals                     // a word that stands before totals
)

// exportTime is when the export was obtained, in the forms in which cells may say it. Without a source nothing is after it.
type exportTime struct {
	lastDay    int      // yyyymmdd that was begun anywhere on earth
	lastSerial int      // the same as a serial number
	walls      [][2]int // yyyymmdd and minute of the day, by the clocks that the export may go by
	serials    [][2]int // the same with serial numbers
}

// dayZero is serial number 0 of workbooks that count from 1900; those that count from 1904 begin later.
var dayZero = time.Date(1899, 12, 30, 0, 0, 0, 0, time.UTC)

const days1904 = 1462

func exportTimeOf(src *Source, date1904 bool) *exportTime {
	if src == nil || src.obtained == 0 {
		return nil
	}
	at := time.UnixMicro(src.obtained).UTC()
	serial := func(t time.Time) int {
		y, m, d := t.Date()
		n := int(time.Date(y, m, d, 0, 0, 0, 0, time.UTC).Sub(dayZero).Hours() / 24)
		if date1904 {
			n -= days1904
		}
		return n
	}
	last := at.Add(14 * time.Hour)
	e := &exportTime{lastDay: dayOf(last), lastSerial: serial(last)}
	clocks := []*time.Location{time.UTC}
	if t, err := time.Parse(time.RFC3339, src.ObtainedAt); err == nil {
		clocks = append(clocks, t.Location())
	}
	if zone, err := time.LoadLocation(src.Zone); err == nil && src.Zone != "" {
		clocks = append(clocks, zone)
	}
	for _, c := range clocks {
		t := at.In(c)
		minute := t.Hour()*60 + t.Minute()
		e.walls = append(e.walls, [2]int{dayOf(t), minute})
		e.serials = append(e.serials, [2]int{serial(t), minute})
	}
	return e
}

func dayOf(t time.Time) int { return t.Year()*10000 + int(t.Month())*100 + t.Day() }

// Instead of a minute of the day: there is none, or it is not known yet.
const (
	dayOnly = -1
	unknown = -2
)

// at reports whether a day and minute are those of one of the clocks; without a minute the day counts.
func at(walls [][2]int, day, minute int) bool {
	for _, w := range walls {
		if w[0] == day && (minute == dayOnly || w[1] == minute) {
			return true
		}
	}
	return false
}

// ofText finds the traits of a text.
func (e *exportTime) ofText(v []byte) (t trait) {
	if len(v) == 0 || len(v) > 64 {
		return 0
	}
	if c := v[0]; c >= '0' && c <= '9' || c == '-' {
		if plainNumber(v) {
			return numeral
		}
		day, minute, atMidnight, ok := textDate(v)
		if !ok {
			return 0
		}
		t = dated
		if minute >= 0 {
			t |= clocked
		}
		if minute == 0 && atMidnight {
			t |= midnight
		}
		if e != nil && day > e.lastDay {
			t |= future
		}
		if e != nil && at(e.walls, day, minute) {
			t |= exported
		}
		return t
	}
	return wordTraits(v)
}

// ofSerial finds the traits of a number that is shown as a date.
func (e *exportTime) ofSerial(v []byte, clock bool) trait {
	day, i := 0, 0
	for ; i < len(v) && v[i]-'0' <= 9; i++ {
		day = day*10 + int(v[i]-'0')
	}
	if i == 0 || i > 7 || i < len(v) && v[i] != '.' {
		return 0
	}
	t, minute := dated, dayOnly
	if clock {
		t |= clocked
		minute = 0
		if i < len(v) && strings.Trim(string(v[i+1:]), "0") != "" {
			minute = unknown // worked out only when it matters
		} else {
			t |= midnight
		}
	}
	if e == nil {
		return t
	}
	if day > e.lastSerial {
		t |= future
	}
	if at(e.serials, day, dayOnly) {
		if minute == unknown {
			minute = minuteOf(v[i:])
		}
		if at(e.serials, day, minute) {
			t |= exported
		}
	}
	return t
}

// minuteOf is the minute of the day of a fraction such as .4375.
func minuteOf(fraction []byte) int {
	part, unit := 0.0, 0.1
	for _, c := range fraction[1:] {
		if c-'0' > 9 {
			return unknown
		}
		part += float64(c-'0') * unit
		unit /= 10
	}
	return int(part*1440 + 1e-6)
}

// plainNumber knows what a number cell could hold without losing anything: at most 15 digits, no zero that would vanish.
func plainNumber(v []byte) bool {
	if v[0] == '-' {
		v = v[1:]
	}
	digits, points := 0, 0
	for _, c := range v {
		switch {
		case c-'0' <= 9:
			digits++
		case c == '.':
			points++
		default:
			return false
		}
	}
	return digits > 0 && digits <= 15 && points <= 1 && v[len(v)-1] != '.' && (v[0] != '0' || len(v) == 1 || v[1] == '.')
}

// textDate reads 2026-03-01, 2026/03/01, 01.03.2026, 1/3/2026 and their like, alone or before a time of day: the day as yyyymmdd, of
// two possible orders the earlier, and the minute of the day, or dayOnly.
func textDate(v []byte) (day, minute int, atMidnight, ok bool) {
	a, la, rest := digitsAt(v)
	if len(rest) == 0 || la > 4 {
		return 0, 0, false, false
	}
	sep := rest[0]
	if sep != '-' && sep != '/' && sep != '.' {
		return 0, 0, false, false
	}
	b, lb, rest := digitsAt(rest[1:])
	if lb < 1 || lb > 2 || len(rest) == 0 || rest[0] != sep {
		return 0, 0, false, false
	}
	c, lc, rest := digitsAt(rest[1:])
	real := func(y, m, d int) int {
		if y < 1900 || y > 9999 || m < 1 || m > 12 || d < 1 || d > 31 {
			return 0
		}
		return y*10000 + m*100 + d
	}
	switch {
	case la == 4 && lc >= 1 && lc <= 2:
		day = real(a, b, c)
	case lc == 4 && la <= 2:
		day = real(c, b, a)
		if other := real(c, a, b); sep != '.' && other > 0 && (day == 0 || other < day) {
			day = other
		}
	}
	if day == 0 {
		return 0, 0, false, false
	}
	if len(rest) == 0 {
		return day, dayOnly, false, true
	}
	if rest[0] != 'T' && rest[0] != ' ' && rest[0] != ',' {
		return 0, 0, false, false
	}
	h, lh, rest := digitsAt([]byte(strings.TrimLeft(string(rest[1:]), " ")))
	if lh < 1 || lh > 2 || len(rest) == 0 || rest[0] != ':' {
		return day, dayOnly, false, lh == 0 // a weekday or the like
	}
	m, lm, rest := digitsAt(rest[1:])
	if lm != 2 || h > 23 || m > 59 {
		return 0, 0, false, false
	}
	s, _, _ := digitsAt([]byte(strings.TrimPrefix(string(rest), ":")))
	return day, h*60 + m, h+m+s == 0, true
}

func digitsAt(v []byte) (n, length int, rest []byte) {
	for length < len(v) && length < 9 && v[length]-'0' <= 9 {
		n = n*10 + int(v[length]-'0')
		length++
	}
	return n, length, v[length:]
}

// Words of samples, tests and totals in seven languages. Names are those that stand for nobody.
var traitWords = func() map[string]trait {
	m := map[string]trait{}
	for _, w := range strings.Split("example|sample|sample data|sample row|example row|test|tests|test data|testdata|test user|testuser|test row|dummy|dummy data|lorem ipsum|foo bar|john doe|jane doe|john smith test|"+
		"beispiel|beispielzeile|muster|mustermann|max mustermann|erika mustermann|testdaten|testperson|testeintrag|échantillon|essai|donnée de test|jean dupont|ejemplo|muestra|prueba|juan pérez|"+
		"esempio|prova|campione|exemplo|amostra|teste|fulano de tal|voorbeeld|proef|testgegevens|jan modaal|e.g.|z. b.|z.b.|(example)|(sample)|(test)", "|") {
		m[w] |= sample
	}
	m["exemple"] |= sample //nolint:misspell // French
	for _, w := range suggest.TotalsWords {
		m[w] |= totals
	}
	return m
}()

// wordTraits finds whether a text is one of the words, alone or before a colon, or the address of a test.
func wordTraits(v []byte) trait {
	if len(v) > 32 {
		return 0
	}
	if i := strings.IndexByte(string(v), '@'); i > 0 {
		switch strings.ToLower(string(v[:i])) {
		case "test", "tester", "testing", "testuser", "test.user", "example", "sample", "dummy", "foo":
			return sample
		}
		return 0
	}
	s := strings.TrimSpace(strings.ToLower(string(v)))
	if i := strings.IndexByte(s, ':'); i > 0 {
		s = s[:i]
	}
	return traitWords[s]
}
