package finding

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// QuoteMax is how many distinct values of one field a report may show, QuoteLen how many characters each may have.
const (
	QuoteMax = 50
	QuoteLen = 64
)

// Quote reports whether a value of a field of personal-data class none may be shown: at most QuoteLen characters, printable,
// and shaped neither like an e-mail address, a telephone number or identifier, nor like a person's name.
func Quote(value string) bool {
	if value == "" || utf8.RuneCountInString(value) > QuoteLen || strings.ContainsAny(value, "@＠") {
		return false
	}
	digits := 0
	for _, r := range value {
		switch {
		case !unicode.IsPrint(r):
			return false
		case unicode.IsDigit(r):
			digits++
		}
	}
	if digits > 6 {
		return false
	}
	words := strings.FieldsFunc(value, func(r rune) bool { return unicode.IsSpace(r) || r == ',' || r == '.' })
	capital := 0
	for _, w := range words {
		first, n := utf8.DecodeRuneInString(w)
		if unicode.IsUpper(first) && n < len(w) && strings.ToUpper(w) != w {
			capital++
		}
	}
	return capital < 2
}
