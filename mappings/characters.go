package mappings

import (
	"bytes"
	"math"
	"strconv"
	"unicode"
	"unicode/utf8"
)

// numberText appends the number as plain decimal text: whole numbers of at most 15 digits as they are, others in the shortest
// form that reads back as the same number. ok is false if the file no longer holds the digits.
func numberText(dst, raw []byte) (text []byte, ok bool) {
	digits := bytes.TrimPrefix(raw, []byte("-"))
	if plainDigits(digits, 15) {
		return append(dst, raw...), true
	}
	f, err := strconv.ParseFloat(string(raw), 64)
	if err != nil || math.IsInf(f, 0) || math.IsNaN(f) || math.Abs(f) >= 1e15 {
		return dst, false
	}
	return strconv.AppendFloat(dst, f, 'f', -1, 64), true
}

// eNotation reports whether text looks like a number in E-notation with a large exponent: an identifier that a spreadsheet
// program has rounded before the export. The first character tells most texts from one.
func eNotation(text []byte) bool {
	if len(text) < 4 || text[0] != '-' && !digit(text[0]) {
		return false
	}
	if text[0] == '-' {
		text = text[1:]
	}
	n := leadingDigits(text)
	if n < 1 || n > 3 || n == len(text) {
		return false
	}
	if text[n] == '.' || text[n] == ',' {
		part := leadingDigits(text[n+1:])
		if part < 1 || part > 20 {
			return false
		}
		n += 1 + part
	}
	text = text[n:]
	return len(text) > 2 && text[0]|0x20 == 'e' && text[1] == '+' && len(text) <= 5 && leadingDigits(text[2:]) == len(text)-2
}

func digit(c byte) bool { return c-'0' <= 9 }

// leadingDigits counts the digits that s begins with.
func leadingDigits(s []byte) int {
	for i, c := range s {
		if !digit(c) {
			return i
		}
	}
	return len(s)
}

// printable reports whether all of text is printable ASCII, spaces included: then nothing in it is hidden, unseen or of another
// script, and it is valid UTF-8 in NFC.
func printable(text []byte) bool {
	for _, c := range text {
		if c-' ' > '~'-' ' {
			return false
		}
	}
	return true
}

// hidden reports whether text holds a control character, a format character such as a zero-width space or a direction mark,
// or a space that is not the plain one.
func hidden(text []byte) bool {
	for i := 0; i < len(text); i++ {
		if text[i] < ' ' || text[i] >= 0x7f {
			return hiddenSlow(text[i:])
		}
	}
	return false
}

func hiddenSlow(text []byte) bool {
	for len(text) > 0 {
		c, size := utf8.DecodeRune(text)
		if c < ' ' || c == 0x7f || (c > 0x7f && (unicode.In(c, unicode.Cc, unicode.Cf, unicode.Zs, unicode.Zl, unicode.Zp) || c == utf8.RuneError)) {
			return true
		}
		text = text[size:]
	}
	return false
}

// unseen reports whether a text holds characters that have no place in prose: controls other than tab and line ends, direction
// overrides, zero-width spaces.
func unseen(text []byte) bool {
	for i := 0; i < len(text); i++ {
		if c := text[i]; c >= 0x7f || (c < ' ' && c != '\t' && c != '\n' && c != '\r') {
			return unseenSlow(text[i:])
		}
	}
	return false
}

func unseenSlow(text []byte) bool {
	for len(text) > 0 {
		c, size := utf8.DecodeRune(text)
		switch {
		case c == '\t' || c == '\n' || c == '\r':
		case unicode.Is(unicode.Cc, c), c == 0x200B, c == 0xFEFF, c >= 0x202A && c <= 0x202E, c >= 0x2066 && c <= 0x2069, c == 0x2060:
			return true
		}
		text = text[size:]
	}
	return false
}
