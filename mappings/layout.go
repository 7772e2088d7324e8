package mappings

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// precision of a time, from coarse to fine.
type precision uint8

const (
	byDay precision = iota
	byMinute
	bySecond
	byMicro
)

func (p precision) String() string { return [...]string{"day", "minute", "second", "micro"}[p] }

// civil is a date, perhaps with a time of day and an offset, as written: no zone has been applied.
type civil struct {
	year, month, day  int
	hour, minute, sec int
	micro             int
	prec              precision
	hasOffset         bool
	offset            int // seconds east of UTC
}

// valid reports whether the day and time exist in the calendar.
func (c *civil) valid() bool {
	return c.year >= 1 && c.year <= 9999 && c.month >= 1 && c.month <= 12 && c.day >= 1 && c.day <= daysIn(c.year, c.month) &&
		c.hour <= 23 && c.minute <= 59 && c.sec <= 59 && c.offset > -24*3600 && c.offset < 24*3600
}

func daysIn(year, month int) int {
	switch month {
	case 4, 6, 9, 11:
		return 30
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	}
	return 31
}

// reading is what comes of reading a text by a layout.
type reading uint8

const (
	noMatch   reading = iota // another shape
	badDay                   // the shape fits, the day or time does not exist
	readRight                // a date
)

// layout is a compiled date format: tokens and literal text.
type layout struct {
	source string
	steps  []step
	zoned  bool // an offset is part of it
}

type step struct {
	token string // "" for literal text
	text  string
}

// tokens, the longest of a letter first. Every run of letters in a layout must be one of them.
var layoutTokens = []string{"YYYY", "YY", "MMMM", "MMM", "MM", "M", "DD", "D", "HH", "H", "hh", "h", "mm", "m", "ss", "SSS", "A", "Z"}

// parts of a time that tokens fill; each may stand once.
var tokenPart = map[string]string{
	"YYYY": "year", "YY": "year", "MMMM": "month", "MMM": "month", "MM": "month", "M": "month", "DD": "day", "D": "day",
	"HH": "hour", "H": "hour", "hh": "hour", "h": "hour", "mm": "minute", "m": "minute", "ss": "second", "SSS": "fraction",
	"A": "half of the day", "Z": "offset",
}

// compileLayout reads a date format such as "DD.MM.YYYY HH:mm". The error says what to write instead.
func compileLayout(source string) (*layout, error) {
	l := &layout{source: source}
	seen := map[string]string{}
	for rest := source; rest != ""; {
		r, size := utf8.DecodeRuneInString(rest)
		switch {
		case r == '\'':
			text, after, err := quoted(rest)
			if err != nil {
				return nil, err
			}
			l.literal(text)
			rest = after
		case unicode.IsLetter(r):
			run := rest[:len(rest)-len(strings.TrimLeft(rest, string(r)))]
			if run == "T" && len(l.steps) > 0 {
				l.literal(run) // the T of ISO 8601
				rest = rest[1:]
				continue
			}
			part, known := tokenPart[run]
			if !known {
				return nil, fmt.Errorf("%q is no part of a date layout%s", run, layoutHint(run))
			}
			if before, twice := seen[part]; twice {
				return nil, fmt.Errorf("%s and %s both stand for the %s", before, run, part)
			}
			seen[part] = run
			l.steps = append(l.steps, step{token: run})
			rest = rest[len(run):]
		case unicode.IsDigit(r):
			return nil, fmt.Errorf("the digit %c stands in the layout; write letters, such as YYYY-MM-DD, or quote literal digits", r)
		default:
			l.literal(rest[:size])
			rest = rest[size:]
		}
	}
	return l, l.check(seen)
}

func (l *layout) literal(text string) {
	if n := len(l.steps); n > 0 && l.steps[n-1].token == "" {
		l.steps[n-1].text += text
		return
	}
	l.steps = append(l.steps, step{text: text})
}

// quoted reads 'text' at the start of s; two quotes in it are one.
func quoted(s string) (text, rest string, err error) {
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		if s[i] != '\'' {
			b.WriteByte(s[i])
			continue
		}
		if i+1 < len(s) && s[i+1] == '\'' {
			b.WriteByte('\'')
			i++
			continue
		}
		if b.Len() == 0 {
			return "'", s[i+1:], nil
		}
		return b.String(), s[i+1:], nil
	}
	return "", "", fmt.Errorf("a quote is opened and not closed")
}

func layoutHint(run string) string {
	switch {
	case strings.Trim(run, "y") == "":
		return "; write the year as " + strings.ToUpper(run)
	case strings.Trim(run, "d") == "":
		return "; write the day as DD or D"
	case strings.Trim(run, "S") == "":
		return "; write the fraction of a second as SSS"
	case strings.Trim(run, "s") == "":
		return "; write seconds as ss"
	case strings.Trim(run, "aA") == "":
		return "; write AM and PM as A"
	}
	return "; the parts are " + strings.Join(layoutTokens, " ") + ", and literal letters stand in quotes: 'Uhr'"
}

func (l *layout) check(seen map[string]string) error {
	has := func(part string) bool { return seen[part] != "" }
	l.zoned = has("offset")
	hour := seen["hour"]
	switch {
	case len(seen) == 0:
		return fmt.Errorf("the layout is empty")
	case !has("year") || !has("month") || !has("day"):
		return fmt.Errorf("the layout %q has no full date; it needs year (YYYY), month (MM) and day (DD)", l.source)
	case (hour == "hh" || hour == "h") && !has("half of the day"):
		return fmt.Errorf("%s is the hour of a 12-hour clock and needs A (AM or PM); the 24-hour clock is HH", hour)
	case has("half of the day") && hour != "hh" && hour != "h":
		return fmt.Errorf("the half of the day, A, needs the hour as hh or h")
	case has("minute") && hour == "":
		return fmt.Errorf("the layout has minutes without hours; the month is MM")
	case has("second") && !has("minute"), has("fraction") && !has("second"):
		return fmt.Errorf("the layout leaves out a part between the hour and the smallest part")
	}
	for i := 1; i < len(l.steps); i++ {
		switch l.steps[i-1].token {
		case "M", "D", "H", "h", "m", "SSS":
			if t := l.steps[i].token; t != "" && t != "A" && t != "Z" && t != "MMM" && t != "MMMM" {
				return fmt.Errorf("%s may have one or two digits and so can't be followed by %s at once; use two letters", l.steps[i-1].token, t)
			}
		}
	}
	return nil
}

// read reads the whole of s, which is trimmed.
func (l *layout) read(s []byte) (civil, reading) {
	var c civil
	half := -1
	for i, st := range l.steps {
		var n int
		ok := true
		switch st.token {
		case "":
			ok = len(s) >= len(st.text) && string(s[:len(st.text)]) == st.text
			if ok {
				s = s[len(st.text):]
			}
		case "YYYY":
			c.year, s, _, ok = digits(s, 4, 4)
		case "YY":
			c.year, s, _, ok = digits(s, 2, 2)
			// POSIX strptime: 69 to 99 are 1969 to 1999.
			if c.year < 69 {
				c.year += 2000
			} else {
				c.year += 1900
			}
		case "MMMM", "MMM":
			c.month, s, ok = monthName(s, st.token == "MMMM", i+1 < len(l.steps) && strings.HasPrefix(l.steps[i+1].text, "."))
		case "MM":
			c.month, s, _, ok = digits(s, 2, 2)
		case "M":
			c.month, s, _, ok = digits(s, 1, 2)
		case "DD":
			c.day, s, _, ok = digits(s, 2, 2)
		case "D":
			c.day, s, _, ok = digits(s, 1, 2)
		case "HH", "hh":
			c.hour, s, _, ok = digits(s, 2, 2)
		case "H", "h":
			c.hour, s, _, ok = digits(s, 1, 2)
		case "mm":
			c.minute, s, _, ok = digits(s, 2, 2)
			c.prec = max(c.prec, byMinute)
		case "m":
			c.minute, s, _, ok = digits(s, 1, 2)
			c.prec = max(c.prec, byMinute)
		case "ss":
			c.sec, s, _, ok = digits(s, 2, 2)
			c.prec = max(c.prec, bySecond)
		case "SSS":
			c.micro, s, n, ok = fraction(s)
			if n > 0 {
				c.prec = byMicro
			}
		case "A":
			half, s, ok = halfOfDay(s)
		case "Z":
			c.offset, s, ok = offset(s)
			c.hasOffset = ok
		}
		if !ok {
			return civil{}, noMatch
		}
	}
	if len(s) > 0 {
		return civil{}, noMatch
	}
	if half >= 0 {
		if c.hour < 1 || c.hour > 12 {
			return c, badDay
		}
		c.hour = c.hour%12 + 12*half
	}
	if !c.valid() {
		return c, badDay
	}
	return c, readRight
}

// digits reads lo to hi ASCII digits, as many as there are; n is how many it read.
func digits(s []byte, lo, hi int) (v int, rest []byte, n int, ok bool) {
	for n < len(s) && n < hi && s[n] >= '0' && s[n] <= '9' {
		v = v*10 + int(s[n]-'0')
		n++
	}
	return v, s[n:], n, n >= lo
}

// fraction reads 1 to 9 digits of a second as microseconds; what is finer stays in the original text.
func fraction(s []byte) (micro int, rest []byte, n int, ok bool) {
	for n < len(s) && n < 9 && s[n] >= '0' && s[n] <= '9' {
		if n < 6 {
			micro = micro*10 + int(s[n]-'0')
		}
		n++
	}
	for i := n; i < 6; i++ {
		micro *= 10
	}
	return micro, s[n:], n, n >= 1
}

// offset reads Z, UTC, GMT, +02, +0200 or +02:00 as seconds east of UTC. Other letters name zones in one country and others in the next.
func offset(s []byte) (seconds int, rest []byte, ok bool) {
	if len(s) > 0 && (s[0] == 'Z' || s[0] == 'z') {
		return 0, s[1:], true
	}
	if len(s) == 3 && (string(s) == "UTC" || string(s) == "GMT") {
		return 0, s[3:], true
	}
	if len(s) < 3 || (s[0] != '+' && s[0] != '-') {
		return 0, s, false
	}
	sign := 1
	if s[0] == '-' {
		sign = -1
	}
	h, rest, _, ok := digits(s[1:], 2, 2)
	if !ok || h > 14 {
		return 0, s, false
	}
	m := 0
	if len(rest) > 0 && rest[0] == ':' {
		m, rest, _, ok = digits(rest[1:], 2, 2)
	} else if len(rest) > 0 && rest[0] >= '0' && rest[0] <= '9' {
		m, rest, _, ok = digits(rest, 2, 2)
	}
	if !ok || m > 59 {
		return 0, s, false
	}
	return sign * (h*3600 + m*60), rest, true
}

func halfOfDay(s []byte) (half int, rest []byte, ok bool) {
	for _, f := range [...]struct {
		text string
		half int
	}{{"a.m.", 0}, {"p.m.", 1}, {"am", 0}, {"pm", 1}} {
		if len(s) >= len(f.text) && strings.EqualFold(string(s[:len(f.text)]), f.text) {
			return f.half, s[len(f.text):], true
		}
	}
	return 0, s, false
}
