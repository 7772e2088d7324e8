// Package numfmt says what the number format of a cell means for its value: whether a number is shown as a date, a time, a
// percentage, an amount of money, and whether leading zeros are shown that the value does not have. All formats of Excel
// share its ids and codes.
//
// It promises an answer for any id and code, however damaged; what says nothing is General.
package numfmt

import (
	"strings"
	"unicode"

	"sheetlift/importers/source"
)

// Format is what a number format says about the cells that carry it.
type Format struct {
	Class source.Class
	Pad   uint8 // digits shown at least before the decimal point; above 1 the format shows leading zeros
}

// Builtin gives the format of the ids that need no format code (ECMA-376 part 1, 18.8.30, with its tables for languages).
// Ids 34, 35, 55 and 56 show a date in some languages and a time in others, and the workbook doesn't say which: DateTime.
func Builtin(id int) Format {
	c := source.General
	switch {
	case id >= 5 && id <= 8, id == 42, id == 44:
		c = source.Currency
	case id == 9, id == 10, id == 67, id == 68:
		c = source.Percent
	case id >= 14 && id <= 17, id >= 27 && id <= 31, id == 36, id >= 50 && id <= 54, id == 57, id == 58, id >= 71 && id <= 74, id == 81:
		c = source.Date
	case id >= 18 && id <= 21, id == 32, id == 33, id == 45, id == 47, id == 75, id == 76, id == 78, id == 80:
		c = source.Time
	case id == 22, id == 34, id == 35, id == 55, id == 56, id == 77:
		c = source.DateTime
	case id == 46, id == 79:
		c = source.Duration
	case id == 49:
		c = source.TextFormat
	}
	return Format{Class: c}
}

// Padded reports whether the format shows leading zeros that the number, in decimal digits, does not have.
func (f Format) Padded(number []byte) bool {
	return f.Pad > 1 && integerDigits(number) < int(f.Pad)
}

// integerDigits counts the digits before the decimal point; a number with an exponent has them all.
func integerDigits(b []byte) int {
	n := 0
	for _, c := range b {
		switch {
		case c-'0' <= 9:
			n++
		case c == '.':
			return n
		case c|0x20 == 'e':
			return 255
		}
	}
	return n
}

// section is what one section of a format code holds.
type section struct {
	day, clock, elapsed     bool
	percent, currency, text bool
	digits                  bool
	pad                     int
}

func (s section) says() bool {
	return s.day || s.clock || s.elapsed || s.percent || s.currency || s.text || s.digits
}

// Parse reads a format code (ECMA-376 part 1, 18.8.31). The first section that shows the value decides.
func Parse(code string) Format {
	for rest := []rune(code); ; {
		s, after, more := parseSection(rest)
		if s.says() || !more {
			return s.format()
		}
		rest = after
	}
}

func (s section) format() Format {
	switch {
	case s.elapsed && !s.day:
		return Format{Class: source.Duration}
	case s.day && (s.clock || s.elapsed):
		return Format{Class: source.DateTime}
	case s.day:
		return Format{Class: source.Date}
	case s.clock:
		return Format{Class: source.Time}
	case s.percent:
		return Format{Class: source.Percent}
	case s.currency && s.digits:
		return Format{Class: source.Currency}
	case s.text && !s.digits:
		return Format{Class: source.TextFormat}
	}
	f := Format{Class: source.General}
	if s.pad > 1 {
		f.Pad = uint8(min(s.pad, 255))
	}
	return f
}

// parseSection reads up to the next semicolon outside quotes; more says that there was one.
func parseSection(r []rune) (s section, rest []rune, more bool) {
	last := rune(0) // last date or time letter, for m: month, or minute beside h and s
	pendingM := false
	point := false
	settle := func(minute bool) {
		if pendingM {
			if minute {
				s.clock = true
			} else {
				s.day = true
			}
			pendingM = false
		}
	}
	for i := 0; i < len(r); i++ {
		c := unicode.ToLower(r[i])
		switch c {
		case ';':
			settle(false)
			return s, r[i+1:], true
		case '"':
			for i++; i < len(r) && r[i] != '"'; i++ {
				if unicode.Is(unicode.Sc, r[i]) {
					s.currency = true
				}
			}
		case '\\':
			if i++; i < len(r) && unicode.Is(unicode.Sc, r[i]) {
				s.currency = true
			}
		case '_', '*':
			i++
		case '[':
			end := i + 1
			for end < len(r) && r[end] != ']' {
				end++
			}
			inside := r[i+1 : min(end, len(r))]
			if elapsedUnit(inside) {
				settle(true)
				s.elapsed, last = true, unicode.ToLower(inside[0])
			} else if len(inside) > 1 && inside[0] == '$' && inside[1] != '-' {
				s.currency = true
			}
			i = end
		case 'g':
			if hasFold(r[i:], "general") {
				s.digits = true
				i += len("general") - 1
				continue
			}
			s.day = true // era
		case 'e':
			if i+1 < len(r) && (r[i+1] == '+' || r[i+1] == '-') {
				i++
				continue // exponent
			}
			s.day = true // year of the era
		case 'y', 'd', 'b':
			settle(false)
			s.day, last = true, c
		case 'm':
			if last == 'h' {
				s.clock = true
				last = 'n' // minute
			} else if last != 'm' && last != 'n' {
				pendingM, last = true, 'm'
			}
		case 'h':
			settle(false)
			s.clock, last = true, 'h'
		case 's':
			settle(true)
			s.clock, last = true, 's'
		case 'a':
			switch {
			case hasFold(r[i:], "am/pm"):
				s.clock = true
				i += len("am/pm") - 1
			case hasFold(r[i:], "a/p"):
				s.clock = true
				i += len("a/p") - 1
			case hasFold(r[i:], "aaa"):
				settle(false)
				s.day, last = true, 'd' // weekday
				i += 2
			}
		case '0', '#', '?':
			s.digits = true
			if c == '0' && !point {
				s.pad++
			}
		case '.':
			point = true
		case '/':
			if s.digits {
				point = true // a fraction: digits after it are a denominator
			}
		case '%':
			s.percent = true
		case '@':
			s.text = true
		default:
			if unicode.Is(unicode.Sc, r[i]) {
				s.currency = true
			}
		}
	}
	settle(false)
	return s, nil, false
}

// elapsedUnit recognises [h], [mm], [ss]: hours, minutes or seconds counted on beyond a day.
func elapsedUnit(r []rune) bool {
	if len(r) == 0 {
		return false
	}
	first := unicode.ToLower(r[0])
	if first != 'h' && first != 'm' && first != 's' {
		return false
	}
	for _, c := range r {
		if unicode.ToLower(c) != first {
			return false
		}
	}
	return true
}

func hasFold(r []rune, word string) bool {
	return len(r) >= len(word) && strings.EqualFold(string(r[:len(word)]), word)
}
