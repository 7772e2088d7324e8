package mappings

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// monthNames are the names of the months in English, German, French, Spanish, Italian, Portuguese and Dutch, as CLDR and
// people write them, without case. Accents that are lost in capitals may be missing. No name stands for two months, whatever
// the language, so none has to be declared; a test holds that.
var monthNames = [12][]string{
	{"january", "januar", "jänner", "janvier", "enero", "gennaio", "janeiro", "januari"},
	{"february", "februar", "feber", "février", "fevrier", "febrero", "febbraio", "fevereiro", "februari"},
	{"march", "märz", "maerz", "mars", "marzo", "março", "marco", "maart"},
	{"april", "avril", "abril", "aprile"},
	{"may", "mai", "mayo", "maggio", "maio", "mei"},
	{"june", "juni", "juin", "junio", "giugno", "junho"},
	{"july", "juli", "juillet", "julio", "luglio", "julho"},
	{"august", "août", "aout", "agosto", "augustus"},
	{"september", "septembre", "septiembre", "setiembre", "settembre", "setembro"},
	{"october", "oktober", "octobre", "octubre", "ottobre", "outubro"},
	{"november", "novembre", "noviembre", "novembro"},
	{"december", "dezember", "décembre", "decembre", "diciembre", "dicembre", "dezembro"}, //nolint:misspell // French in capitals loses its accents
}

// monthShort are their short forms, without the dot that may follow. A name that a language's own rules don't shorten is its own
// short form: April stands beside Aug. in many a column.
var monthShort = [12][]string{
	{"jan", "jän", "janv", "ene", "gen", "genn"},
	{"feb", "febr", "févr", "fevr", "fév", "fev", "febbr"},
	{"mar", "mär", "märz", "mrz", "mars", "mrt", "maa", "maart", "march"},
	{"apr", "avr", "abr", "avril", "april"},
	{"may", "mai", "mag", "mei", "magg"},
	{"jun", "juni", "juin", "giu", "june"},
	{"jul", "juli", "juil", "lug", "july", "juill"},
	{"aug", "août", "aout", "ago"},
	{"sep", "sept", "set", "sett"},
	{"oct", "okt", "ott", "out"},
	{"nov"},
	{"dec", "dez", "déc", "dic"},
}

var monthByName, monthByShort = monthIndex(monthNames), monthIndex(monthShort)

func monthIndex(names [12][]string) map[string]int {
	index := map[string]int{}
	for i, list := range names {
		for _, name := range list {
			index[name] = i + 1
		}
	}
	return index
}

// IsMonth reports whether a word is the whole or the short name of a month, in one of the languages, which layouts read as MMMM and MMM.
func IsMonth(word string) (whole, short bool) {
	_, rest, whole := monthName([]byte(word), true, true)
	_, after, short := monthName([]byte(word), false, true)
	return whole && len(rest) == 0, short && len(after) == 0
}

// monthName reads the letters that s begins with as the name of a month, whole or short, and the dot after it unless the layout
// has one there itself.
func monthName(s []byte, whole, dotFollows bool) (month int, rest []byte, ok bool) {
	var buf [32]byte
	name := buf[:0]
	n := 0
	for n < len(s) && n < len(buf) { // no name is as long
		r, size := utf8.DecodeRune(s[n:])
		if !unicode.IsLetter(r) && !unicode.Is(unicode.Mn, r) {
			break
		}
		name = utf8.AppendRune(name, unicode.ToLower(r))
		n += size
	}
	if !norm.NFC.IsNormal(name) {
		name = norm.NFC.Bytes(name)
	}
	index := monthByShort
	if whole {
		index = monthByName
	}
	if month, ok = index[string(name)]; !ok {
		return 0, s, false
	}
	if n < len(s) && s[n] == '.' && !dotFollows {
		n++
	}
	return month, s[n:], true
}
