package mappings

import (
	"math"
	"math/bits"
	"strconv"
)

// order of day and month in numeric dates of one column.
type order uint8

const (
	orderUnknown order = iota
	dayFirst
	monthFirst
	orderMixed // both are proven
)

// shape is how a text looks before any order of day and month is assumed.
type shape uint8

const (
	shapeOther    shape = iota
	shapeISO            // 2026-03-01, with or without a time
	shapeNumeric        // 1/3/2026, 01.03.2026, 1-3-2026
	shapeTimeOnly       // 9:46
)

// numericDate is a date of shapeNumeric: two numbers whose order is open, and the rest.
type numericDate struct {
	first, second int
	c             civil // year and time of day
}

// readShape reads a trimmed text that needs no declared layout.
func readShape(s []byte) (shape, civil, numericDate) {
	var c civil
	v, rest, n, ok := digits(s, 1, 4)
	if !ok || len(rest) == 0 {
		return shapeOther, c, numericDate{}
	}
	switch sep := rest[0]; {
	case n == 4 && sep == '-':
		c.year = v
		if c.month, rest, _, ok = digits(rest[1:], 2, 2); !ok || len(rest) == 0 || rest[0] != '-' {
			return shapeOther, c, numericDate{}
		}
		if c.day, rest, _, ok = digits(rest[1:], 2, 2); !ok || !c.readTime(rest) {
			return shapeOther, c, numericDate{}
		}
		return shapeISO, c, numericDate{}
	case n <= 2 && (sep == '.' || sep == '/' || sep == '-'):
		d := numericDate{first: v}
		if d.second, rest, _, ok = digits(rest[1:], 1, 2); !ok || len(rest) == 0 || rest[0] != sep {
			return shapeOther, c, numericDate{}
		}
		if d.c.year, rest, n, _ = digits(rest[1:], 4, 4); n != 4 || !d.c.readTime(rest) {
			return shapeOther, c, numericDate{}
		}
		return shapeNumeric, c, d
	case n <= 2 && sep == ':':
		if c.readClock(s) {
			return shapeTimeOnly, c, numericDate{}
		}
	}
	return shapeOther, c, numericDate{}
}

// readTime reads what follows a date: nothing, or T or a space and a time of day, perhaps with an offset.
func (c *civil) readTime(s []byte) bool {
	if len(s) == 0 {
		return true
	}
	if s[0] != 'T' && s[0] != 't' && s[0] != ' ' {
		return false
	}
	return c.readClock(s[1:])
}

// readClock reads H:mm, H:mm:ss or H:mm:ss.fff, perhaps with an offset.
func (c *civil) readClock(s []byte) bool {
	var ok bool
	if c.hour, s, _, ok = digits(s, 1, 2); !ok || len(s) == 0 || s[0] != ':' {
		return false
	}
	if c.minute, s, _, ok = digits(s[1:], 2, 2); !ok {
		return false
	}
	c.prec = byMinute
	if len(s) > 0 && s[0] == ':' {
		if c.sec, s, _, ok = digits(s[1:], 2, 2); !ok {
			return false
		}
		c.prec = bySecond
		if len(s) > 0 && (s[0] == '.' || s[0] == ',') {
			if c.micro, s, _, ok = fraction(s[1:]); !ok {
				return false
			}
			c.prec = byMicro
		}
	}
	if len(s) == 0 {
		return true
	}
	if s[0] == ' ' {
		s = s[1:]
	}
	c.offset, s, ok = offset(s)
	c.hasOffset = ok
	return ok && len(s) == 0
}

// proof is what one numeric date shows about the order of its column: dayFirst, monthFirst, or orderUnknown with same set if
// both orders give the same day.
func (d *numericDate) proof() (o order, same bool) {
	switch {
	case d.first > 12 && d.second <= 12:
		return dayFirst, false
	case d.second > 12 && d.first <= 12:
		return monthFirst, false
	}
	return orderUnknown, d.first == d.second
}

func (d *numericDate) in(o order) civil {
	c := d.c
	c.day, c.month = d.first, d.second
	if o == monthFirst {
		c.day, c.month = d.second, d.first
	}
	return c
}

// The last serials of year 9999 in the two date systems of ECMA-376 part 1, 18.17.4.
const (
	lastSerial1900 = 2958465
	lastSerial1904 = 2957003
)

// serialReading is what comes of a spreadsheet's serial number.
type serialReading uint8

const (
	serialRight serialReading = iota
	serialBad                 // no such day
	serialTime                // a time of day without a date
)

// readSerial turns a serial number into calendar parts: pure arithmetic, no zone. shows says whether the cell's format shows
// a time. In the 1900 system day 60 is the 29 February 1900 that never was, and everything before it is off by one.
func readSerial(text []byte, date1904, showsTime bool) (civil, serialReading) {
	days, ms, ok := splitSerial(text)
	if !ok {
		f, err := strconv.ParseFloat(string(text), 64)
		if err != nil || math.IsNaN(f) || f < 0 || f >= lastSerial1900+1 {
			return civil{}, serialBad
		}
		days = int(f)
		ms = int(math.Round((f - float64(days)) * 86400e3))
	}
	if ms == 86400e3 {
		days, ms = days+1, 0
	}
	var c civil
	switch {
	case date1904:
		if days > lastSerial1904 {
			return civil{}, serialBad
		}
		c.setDay(days + daysBefore1904)
	case days == 0:
		return civil{}, serialTime
	case days == 60 || days > lastSerial1900:
		return civil{}, serialBad
	case days < 60:
		c.setDay(days + daysBefore1900 + 1)
	default:
		c.setDay(days + daysBefore1900)
	}
	c.setClock(ms)
	if ms == 0 && !showsTime {
		c.prec = byDay
	}
	return c, serialRight
}

// splitSerial gives the days and milliseconds of a plain decimal number as the nearest float64 would, without it: that lies within
// 2^-32 of a number below 2^22, which is 0.02 ms. ok is false where so little may decide how milliseconds are rounded, and for
// other texts.
func splitSerial(text []byte) (days, ms int, ok bool) {
	n := leadingDigits(text)
	if n < 1 || n > 7 {
		return 0, 0, false
	}
	for _, c := range text[:n] {
		days = days*10 + int(c-'0')
	}
	if days > lastSerial1900 {
		return 0, 0, false
	}
	if n == len(text) {
		return days, 0, true
	}
	part := text[n+1:]
	if text[n] != '.' || len(part) < 1 || len(part) > 18 {
		return 0, 0, false
	}
	fraction, unit := uint64(0), uint64(1)
	for _, c := range part {
		if !digit(c) {
			return 0, 0, false
		}
		fraction, unit = fraction*10+uint64(c-'0'), unit*10
	}
	hi, lo := bits.Mul64(fraction, 86400e3)
	whole, rest := bits.Div64(hi, lo, unit) // fraction < unit, so the quotient is less than a day
	switch surely := unit / 100 * 45; {     // below 100 the rest is 0
	case rest <= surely:
		return days, int(whole), true
	case rest >= unit-surely:
		return days, int(whole) + 1, true
	}
	return 0, 0, false
}

// setClock sets the time of day. A serial does not say how exact it is, so a round one claims no more than it shows.
func (c *civil) setClock(ms int) {
	c.hour, c.minute, c.sec, c.micro = ms/3600e3, ms/60e3%60, ms/1000%60, ms%1000*1000
	switch {
	case c.micro != 0:
		c.prec = byMicro
	case c.sec != 0:
		c.prec = bySecond
	default:
		c.prec = byMinute
	}
}

// Days from 1970-01-01 to 1899-12-30 and to 1904-01-01.
const (
	daysBefore1900 = -25569
	daysBefore1904 = -24107
)

// setDay sets the date that lies n days after 1970-01-01 (the algorithm is Howard Hinnant's civil_from_days).
func (c *civil) setDay(n int) {
	n += 719468
	era := n / 146097
	if n < 0 {
		era = (n - 146096) / 146097
	}
	doe := n - era*146097
	yoe := (doe - doe/1460 + doe/36524 - doe/146096) / 365
	doy := doe - (365*yoe + yoe/4 - yoe/100)
	mp := (5*doy + 2) / 153
	c.day = doy - (153*mp+2)/5 + 1
	c.month = mp + 3
	if mp >= 10 {
		c.month = mp - 9
	}
	c.year = yoe + era*400
	if c.month <= 2 {
		c.year++
	}
}

// days since 1970-01-01.
func (c *civil) days() int64 {
	y, m := int64(c.year), int64(c.month)
	if m <= 2 {
		y--
		m += 12
	}
	era := y / 400
	if y < 0 {
		era = (y - 399) / 400
	}
	yoe := y - era*400
	doy := (153*(m-3)+2)/5 + int64(c.day) - 1
	doe := yoe*365 + yoe/4 - yoe/100 + doy
	return era*146097 + doe - 719468
}

// seconds since 1970-01-01 of the calendar parts as if they were UTC.
func (c *civil) seconds() int64 {
	return c.days()*86400 + int64(c.hour*3600+c.minute*60+c.sec)
}

func (c *civil) timeSet() bool { return c.hour != 0 || c.minute != 0 || c.sec != 0 || c.micro != 0 }

func (c *civil) appendDay(p []byte) []byte {
	p = appendPadded(p, c.year, 4)
	p = append(p, '-')
	p = appendPadded(p, c.month, 2)
	p = append(p, '-')
	return appendPadded(p, c.day, 2)
}

func (c *civil) appendClock(p []byte) []byte {
	p = appendPadded(p, c.hour, 2)
	p = append(p, ':')
	p = appendPadded(p, c.minute, 2)
	p = append(p, ':')
	p = appendPadded(p, c.sec, 2)
	if c.micro != 0 {
		p = append(p, '.')
		p = appendPadded(p, c.micro, 6)
	}
	return p
}

func appendPadded(p []byte, v, width int) []byte {
	var a [8]byte
	for i := width - 1; i >= 0; i-- {
		a[i] = byte('0' + v%10)
		v /= 10
	}
	return append(p, a[:width]...)
}

// plainDigits reports whether s is 1 to n ASCII digits and nothing else.
func plainDigits(s []byte, n int) bool {
	return len(s) >= 1 && len(s) <= n && leadingDigits(s) == len(s)
}
