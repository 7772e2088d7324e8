package mappings

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// lookalikes are letters of other scripts that people can't tell from a Latin one, each with that letter in lower case. They are
// the plain letters among the confusables of Unicode Technical Standard 39, in both cases.
var lookalikes = map[rune]rune{
	'а': 'a', 'в': 'b', 'с': 'c', 'ԁ': 'd', 'е': 'e', 'һ': 'h', 'н': 'h', 'і': 'i', 'ј': 'j', 'к': 'k', 'ӏ': 'l', 'м': 'm', 'о': 'o', 'р': 'p', 'ԛ': 'q',
	'ѕ': 's', 'т': 't', 'ѵ': 'v', 'ԝ': 'w', 'х': 'x', 'у': 'y', 'ү': 'y',
	'α': 'a', 'β': 'b', 'ε': 'e', 'η': 'h', 'ι': 'i', 'κ': 'k', 'μ': 'm', 'ν': 'n', 'ο': 'o', 'ρ': 'p', 'τ': 't', 'υ': 'y', 'χ': 'x', 'ζ': 'z',
}

// lookalike appends the form in which two keys are one to a reader: without case, full-width forms as plain ones, letters of
// other scripts as the Latin letter they look like.
func lookalike(dst, text []byte) []byte {
	for i, c := range text {
		if c >= 0x80 {
			return lookalikeSlow(dst, text[i:])
		}
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		dst = append(dst, c)
	}
	return dst
}

func lookalikeSlow(dst, text []byte) []byte {
	for _, r := range string(norm.NFKC.Bytes(text)) {
		r = foldedRune(r)
		if latin, ok := lookalikes[r]; ok {
			r = latin
		}
		dst = utf8.AppendRune(dst, r)
	}
	return dst
}

// foldedRune is the lower case of a letter, the same for all that differ only in case.
func foldedRune(r rune) rune { return unicode.ToLower(unicode.ToUpper(r)) }

// mixedScripts reports whether some word of text has Latin letters beside Cyrillic or Greek ones, one of which looks Latin: what a
// reader sees is then not what is there.
func mixedScripts(text []byte) bool {
	for i, c := range text {
		if c >= 0x80 {
			return mixedScriptsSlow(text[:i], text[i:])
		}
	}
	return false
}

func mixedScriptsSlow(plain, rest []byte) bool {
	latin, other := false, false
	word := func(r rune) {
		switch {
		case unicode.Is(unicode.Latin, r):
			latin = true
		case lookalikes[foldedRune(r)] != 0 && r != 'µ': // the sign of a millionth stands beside units
			other = true
		case !unicode.IsLetter(r) && !unicode.IsMark(r):
			latin, other = false, false
		}
	}
	for _, c := range plain {
		word(rune(c))
	}
	for _, r := range string(rest) {
		if word(r); latin && other {
			return true
		}
	}
	return false
}
