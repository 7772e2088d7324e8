package importers

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// streets are words for a street, joinedStreets those that German and Dutch join to its name.
var (
	streets = [...]string{"straße", "strasse", "str", "weg", "platz", "allee", "gasse", "chaussee", "street", "road", "avenue", "ave", "lane",
		"drive", "boulevard", "rue", "calle", "via", "viale", "plaza", "straat", "laan", "plein"}
	joinedStreets = [...]string{"straße", "strasse", "str", "weg", "platz", "allee", "gasse", "straat", "laan", "plein"}
)

// plainAddressWords stand beside a street word in a column's header, which then names no street.
var plainAddressWords = [...]string{"address", "adresse", "line", "name", "no", "nr", "number", "hausnummer", "postal", "home", "work"}

// StreetLike reports whether s is written as a street with its name and a house number: Musterstraße 12, Musterstr.12a, 221B
// Baker Street, Rue du Port 7; not so Street 1, which may head a column.
func StreetLike(s string) bool {
	if !strings.ContainsAny(s, "123456789") {
		return false
	}
	number, street, name := false, false, false
	for rest := s; rest != ""; {
		r, size := utf8.DecodeRuneInString(rest)
		end := size
		switch {
		case r >= '0' && r <= '9':
			for end < len(rest) && rest[end] >= '0' && rest[end] <= '9' {
				end++
			}
			number = number || r != '0' && end <= 4
		case unicode.IsLetter(r):
			for end < len(rest) {
				r, size := utf8.DecodeRuneInString(rest[end:])
				if !unicode.IsLetter(r) {
					break
				}
				end += size
			}
			is, joined := streetWord(rest[:end])
			street = street || is
			name = name || joined || !is && end >= 3 && !slices.ContainsFunc(plainAddressWords[:], func(w string) bool { return strings.EqualFold(w, rest[:end]) })
		}
		rest = rest[end:]
	}
	return number && street && name
}

// streetWord reports whether w is a street word, or ends in one that is joined to a name.
func streetWord(w string) (is, joined bool) {
	if len(w) < 3 {
		return false, false
	}
	for _, s := range streets {
		if w[0]|0x20 == s[0] && strings.EqualFold(w, s) {
			return true, false
		}
	}
	for _, s := range joinedStreets {
		if len(w) >= len(s)+3 && strings.EqualFold(w[len(w)-len(s):], s) {
			return true, true
		}
	}
	return false, false
}
