package xlsx

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/bits"
	"unicode/utf16"
	"unicode/utf8"
)

// errText says that a text has characters that can't be decoded.
var errText = errors.New("undecodable characters")

// special marks the bytes that keep a text from being taken as it is: references, line ends, a possible _xHHHH_, and
// non-ASCII bytes, which must be valid UTF-8.
var special = func() (t [256]bool) {
	t['&'], t['\r'], t['_'] = true, true, true
	for i := 0x80; i < 0x100; i++ {
		t[i] = true
	}
	return t
}()

// appendText appends the characters of raw XML text: references resolved, CR LF and CR as LF (XML 1.0, 2.11), and then
// _xHHHH_ as the character it stands for (ST_Xstring, ECMA-376 part 1, 22.9.2.19).
func appendText(dst, raw []byte) ([]byte, error) {
	for i, c := range raw {
		if special[c] && (c != '_' || i+1 == len(raw) || raw[i+1] == 'x' || raw[i+1] == '&') {
			return appendSpecial(dst, raw)
		}
	}
	return append(dst, raw...), nil
}

// appendPlain appends the text that stands before the first tag in b, of n bytes, if it stands for itself, as appendText would. It looks at
// eight bytes at once, and declines near the end of b or of the room that dst has.
func appendPlain(dst, b []byte) (text []byte, n int, ok bool) {
	from, room := len(dst), dst[:cap(dst)]
	high := uint64(0)
	for n+8 < len(b) && from+n+8 <= len(room) {
		x := binary.LittleEndian.Uint64(b[n:])
		binary.LittleEndian.PutUint64(room[from+n:], x)
		high |= x
		found := zeroByte(x^'<'*each) | zeroByte(x^'&'*each) | zeroByte(x^'\r'*each) | zeroByte(x^'_'*each)
		if found == 0 {
			n += 8
			continue
		}
		n += bits.TrailingZeros64(found) / 8
		switch {
		case b[n] == '<':
			text = room[:from+n]
			return text, n, high&(0x80*each) == 0 || utf8.Valid(text[from:])
		case b[n] == '_' && b[n+1] != 'x':
			n++
		default:
			return dst, 0, false
		}
	}
	return dst, 0, false
}

// each has 1 for every byte.
const each = 0x0101010101010101

// zeroByte has the highest bit of the lowest byte of x that is 0, none below it, and 0 if no byte is.
func zeroByte(x uint64) uint64 { return (x - each) &^ x & (0x80 * each) }

func appendSpecial(dst, raw []byte) ([]byte, error) {
	if !utf8.Valid(raw) {
		return dst, errText
	}
	from := len(dst)
	dst, err := appendXML(dst, raw)
	if err != nil {
		return dst, err
	}
	return dst[:from+len(unescape(dst[from:]))], nil
}

// appendXML resolves references and line ends.
func appendXML(dst, raw []byte) ([]byte, error) {
	for len(raw) > 0 {
		i := bytes.IndexAny(raw, "&\r")
		if i < 0 {
			return append(dst, raw...), nil
		}
		dst = append(dst, raw[:i]...)
		if raw[i] == '\r' {
			dst = append(dst, '\n')
			if raw = raw[i+1:]; len(raw) > 0 && raw[0] == '\n' {
				raw = raw[1:]
			}
			continue
		}
		end := bytes.IndexByte(raw[i:], ';')
		if end < 0 {
			return dst, errText
		}
		var ok bool
		if dst, ok = appendReference(dst, raw[i+1:i+end]); !ok {
			return dst, errText
		}
		raw = raw[i+end+1:]
	}
	return dst, nil
}

// appendReference appends what &name; stands for: the five names of XML and characters by number.
func appendReference(dst, name []byte) ([]byte, bool) {
	switch string(name) {
	case "amp":
		return append(dst, '&'), true
	case "lt":
		return append(dst, '<'), true
	case "gt":
		return append(dst, '>'), true
	case "quot":
		return append(dst, '"'), true
	case "apos":
		return append(dst, '\''), true
	}
	if len(name) < 2 || name[0] != '#' {
		return dst, false
	}
	base, digits := rune(10), name[1:]
	if digits[0] == 'x' || digits[0] == 'X' {
		base, digits = 16, digits[1:]
	}
	if len(digits) == 0 {
		return dst, false
	}
	var r rune
	for _, c := range digits {
		d := hexDigit(c)
		if d < 0 || d >= base {
			return dst, false
		}
		if r = r*base + d; r > utf8.MaxRune {
			return dst, false
		}
	}
	if !utf8.ValidRune(r) {
		return dst, false
	}
	return utf8.AppendRune(dst, r), true
}

func hexDigit(c byte) rune {
	switch {
	case c >= '0' && c <= '9':
		return rune(c - '0')
	case c >= 'a' && c <= 'f':
		return rune(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return rune(c-'A') + 10
	}
	return -1
}

// unescape decodes _xHHHH_ in place. Two that make a surrogate pair are one character; half a pair stays as written.
func unescape(b []byte) []byte {
	i := bytes.Index(b, []byte("_x"))
	if i < 0 {
		return b
	}
	out := i
	for i < len(b) {
		r, ok := escaped(b[i:])
		if !ok {
			b[out] = b[i]
			out++
			i++
			continue
		}
		n := escapeLen
		if utf16.IsSurrogate(r) {
			low, ok := escaped(b[i+n:])
			if r = utf16.DecodeRune(r, low); !ok || r == utf8.RuneError {
				out += copy(b[out:], b[i:i+n])
				i += n
				continue
			}
			n += escapeLen
		}
		out += utf8.EncodeRune(b[out:], r)
		i += n
	}
	return b[:out]
}

const escapeLen = len("_xHHHH_")

func escaped(b []byte) (rune, bool) {
	if len(b) < escapeLen || b[0] != '_' || b[1] != 'x' || b[6] != '_' {
		return 0, false
	}
	var r rune
	for _, c := range b[2:6] {
		d := hexDigit(c)
		if d < 0 {
			return 0, false
		}
		r = r<<4 | d
	}
	return r, true
}

// attrText gives an attribute's value (XML 1.0, 3.3.3); a reference that stands for nothing known stays as written.
func attrText(raw []byte) (dst []byte) {
	for len(raw) > 0 {
		c := raw[0]
		if c == '&' {
			if end := bytes.IndexByte(raw, ';'); end > 0 {
				if d, ok := appendReference(dst, raw[1:end]); ok {
					dst, raw = d, raw[end+1:]
					continue
				}
			}
		}
		if c == '\n' || c == '\r' || c == '\t' {
			c = ' '
		}
		dst, raw = append(dst, c), raw[1:]
	}
	return dst
}
