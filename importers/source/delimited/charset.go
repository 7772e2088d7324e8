package delimited

import (
	"bytes"
	"encoding/binary"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// charset is an encoding of text files.
type charset string

const (
	utf8Text    charset = "utf-8"
	utf16LE     charset = "utf-16le"
	utf16BE     charset = "utf-16be"
	windows1252 charset = "windows-1252"
	utf32Text   charset = "utf-32" // recognised, not read
)

// parseCharset takes a declared charset. ISO-8859-1 and ASCII are read as windows-1252, as the WHATWG Encoding Standard does:
// files so declared are nearly always that, and it gives the same characters for everything ISO-8859-1 prints.
func parseCharset(name string) (charset, bool) {
	switch strings.ToLower(strings.NewReplacer("_", "-", " ", "").Replace(name)) {
	case "utf-8", "utf8", "utf-8-sig":
		return utf8Text, true
	case "utf-16le", "utf16le":
		return utf16LE, true
	case "utf-16be", "utf16be":
		return utf16BE, true
	case "windows-1252", "cp1252", "1252", "iso-8859-1", "iso8859-1", "latin1", "latin-1", "ascii", "us-ascii":
		return windows1252, true
	}
	return "", false
}

// sniffCharset decides from the first bytes: a byte order mark, else the NULs that ASCII characters have in UTF-16, else
// UTF-8, which the reader then holds the whole file to. skip is the length of the mark.
func sniffCharset(head []byte) (c charset, skip int) {
	switch {
	case bytes.HasPrefix(head, []byte{0xef, 0xbb, 0xbf}):
		return utf8Text, 3
	case bytes.HasPrefix(head, []byte{0xff, 0xfe, 0, 0}), bytes.HasPrefix(head, []byte{0, 0, 0xfe, 0xff}):
		return utf32Text, 4
	case bytes.HasPrefix(head, []byte{0xff, 0xfe}):
		return utf16LE, 2
	case bytes.HasPrefix(head, []byte{0xfe, 0xff}):
		return utf16BE, 2
	}
	var nul [2]int
	for i, b := range head {
		if b == 0 {
			nul[i%2]++
		}
	}
	half := max(len(head)/2, 1)
	switch {
	case nul[0]+nul[1] > half*5/4:
		return utf32Text, 0
	case nul[1] > half/2 && nul[0] < half/16+1:
		return utf16LE, 0
	case nul[0] > half/2 && nul[1] < half/16+1:
		return utf16BE, 0
	}
	return utf8Text, 0
}

// high1252 are the characters of bytes 0x80 to 0x9f; the five bytes that windows-1252 leaves open are control characters, so
// that every byte comes back as it was.
var high1252 = [32]rune{
	0x20ac, 0x81, 0x201a, 0x0192, 0x201e, 0x2026, 0x2020, 0x2021, 0x02c6, 0x2030, 0x0160, 0x2039, 0x0152, 0x8d, 0x017d, 0x8f,
	0x90, 0x2018, 0x2019, 0x201c, 0x201d, 0x2022, 0x2013, 0x2014, 0x02dc, 0x2122, 0x0161, 0x203a, 0x0153, 0x9d, 0x017e, 0x0178,
}

// invalid stands in decoded text for what is no character; it is no valid UTF-8, so the reader finds its line.
const invalid = 0xff

// decode appends text as UTF-8 and gives the bytes used; last says that no more follows.
func (c charset) decode(dst, src []byte, last bool) ([]byte, int) {
	switch c {
	case windows1252:
		for _, b := range src {
			switch {
			case b < 0x80:
				dst = append(dst, b)
			case b < 0xa0:
				dst = utf8.AppendRune(dst, high1252[b-0x80])
			default:
				dst = utf8.AppendRune(dst, rune(b))
			}
		}
		return dst, len(src)
	case utf16LE:
		return decode16(dst, src, last, binary.LittleEndian)
	case utf16BE:
		return decode16(dst, src, last, binary.BigEndian)
	}
	return append(dst, src...), len(src)
}

func decode16(dst, src []byte, last bool, order binary.ByteOrder) ([]byte, int) {
	i := 0
	for ; i+2 <= len(src); i += 2 {
		r := rune(order.Uint16(src[i:]))
		if !utf16.IsSurrogate(r) {
			dst = utf8.AppendRune(dst, r)
			continue
		}
		if i+4 > len(src) && !last {
			return dst, i
		}
		pair := utf8.RuneError
		if i+4 <= len(src) {
			pair = utf16.DecodeRune(r, rune(order.Uint16(src[i+2:])))
		}
		if pair == utf8.RuneError {
			dst = append(dst, invalid)
			continue
		}
		dst = utf8.AppendRune(dst, pair)
		i += 2
	}
	if last && i < len(src) {
		dst, i = append(dst, invalid), len(src)
	}
	return dst, i
}

// encode appends the file's own bytes of decoded, valid text: the inverse of decode.
func (c charset) encode(dst, text []byte) []byte {
	for len(text) > 0 {
		r, n := utf8.DecodeRune(text)
		text = text[n:]
		switch c {
		case windows1252:
			b := byte(r)
			if r >= 0x80 && r < 0xa0 || r > 0xff {
				for i, h := range high1252 {
					if h == r {
						b = byte(0x80 + i)
					}
				}
			}
			dst = append(dst, b)
		case utf16LE:
			for _, u := range utf16.AppendRune(nil, r) {
				dst = binary.LittleEndian.AppendUint16(dst, u)
			}
		case utf16BE:
			for _, u := range utf16.AppendRune(nil, r) {
				dst = binary.BigEndian.AppendUint16(dst, u)
			}
		}
	}
	return dst
}
