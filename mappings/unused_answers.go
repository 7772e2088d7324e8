package mappings

import (
	"fmt"
	"slices"
	"strings"

	"sheetlift/pipeline/finding"
)

// answers looks whether a value of the column says yes or no.
func (c *columnStats) answers(raw []byte) {
	if c.other || len(raw) > wordBytes {
		c.other = true
		return
	}
	switch word := fold(string(raw)); {
	case saysOf(word, "no"):
		c.no = true
	case !nothing[word] && !saysOf(word, "yes"):
		c.other = true
	}
}

// ordinaryWords begin words of headers of yes and no that ask nothing about consent, in the seven languages. A word of them is the whole header, or
// stands beside a word such as is.
var ordinaryWords = strings.Fields("vip customer kunde client cliente klant member mitglied membre miembro socio membro lid company firma business gewerblich admin employee mitarbeiter test deleted geloscht archived archiviert primary main premium guest gast tax vat paid bezahlt student staff locked")

// ordinary reports whether a header asks something that is no consent, such as whether somebody is a customer or an order was confirmed, or for an opt-out, to
// which a no says nothing.
func ordinary(header string) bool {
	words := HeaderWords(header)
	if OptOutOf(header) == SureOptOut || slices.ContainsFunc(words, func(word string) bool {
		return slices.Contains(otherWhole, word) || holdsOne(strings.ReplaceAll(word, "consent", ""), otherConfirmed) || holdsOne(word, otherAsWell)
	}) {
		return true
	}
	words = slices.DeleteFunc(words, func(word string) bool {
		return slices.Contains([]string{"is", "ist", "est", "es", "e", "yes", "no", "ja", "nein", "j", "n", "y"}, word)
	})
	return len(words) == 1 && slices.Contains(ordinaryWords, strings.TrimPrefix(words[0], "is"))
}

// unusedNoes warns of a column of yes and no words that the mapping does not use, beside a consent.
func (pl *Plan) unusedNoes(col int, c *ColumnProfile) finding.Finding {
	f := pl.at("consent.refusal_left_out", col, "")
	f.Message = fmt.Sprintf("%s holds nothing but yes and no, and the mapping, which takes consents from this sheet, does not use it: if a no there is an answer, or says that nobody confirmed one, such consents come in as given.", quoteName(c.Name))
	return f
}
