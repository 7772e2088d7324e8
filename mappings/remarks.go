package mappings

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"
)

// remarkHeaders are pieces of headers of remarks, as PlainHeader has them; = is before those that are a whole header.
var remarkHeaders = strings.Fields("note notes notiz notas =nota annotazion anotac remark bemerkung kommentar comment coment remarque observ opmerking anmerkung hinweis memo sonstiges besonderheit =info =infos information =details detail =text =texto =testo =texte aantekening bijzonderhed altro autre divers varie")

// HoldsRemarks reports whether a column holds remarks by its header.
func HoldsRemarks(header string) bool {
	header = PlainHeader(header)
	return slices.ContainsFunc(remarkHeaders, func(p string) bool {
		whole, ok := strings.CutPrefix(p, "=")
		return ok && header == whole || !ok && strings.Contains(header, p)
	})
}

// What remarks say by, as beginnings of words.
var (
	optingOut = strings.Fields("baja desabonn desinscri disiscri descadast afmeld afgemeld uitgeschr uitschr austrag ausgetrag ingetrokk intrekk revoc revog revok revoqu dnc robinson refus rifiut recus rechaz abgelehnt ablehn weiger verweiger geweiger declin rejet opposi oposic bezwaar verzet")
	stopping  = strings.Fields("stop kundig gekundig cancel annul resili")
	wishing   = strings.Fields("want wish wunsch mocht will wil veut quer vuole")
	asksFor   = strings.Fields("ask request please bitte wunsch gewunsch will mocht demand souhait veut pidio pide solicit quier chiest chied vuole pediu pede quer verzo vroeg wil graag")
	takingOff = strings.Fields("remov delet eras entfern gestrich streich losch gelosch elimin quitar suprim supprim retir enlev effac rimuov rimoss cancell apag remoc verwijder schrap")
)

// remarkWord is what a word of a remark may say, a bit each.
type remarkWord uint8

const (
	saysOptOut remarkWord = 1 << iota // by itself
	saysPart                          // of an opt-out, with the word beside it
	saysNot
	saysWish // a wish, or a message
	saysAsk
	saysOff
)

// remarkWordOf tells what a word says, as HeaderWords has it.
func remarkWordOf(word string) (says remarkWord) {
	begins := func(list []string) bool {
		return slices.ContainsFunc(list, func(w string) bool { return strings.HasPrefix(word, w) })
	}
	mark := func(is bool, bit remarkWord) {
		if is {
			says |= bit
		}
	}
	mark(!begins(harmless) && (begins(optingOut) || holdsOne(word, barring)), saysOptOut)
	mark(strings.Contains(word, "opt"), saysPart)
	mark(slices.Contains(negations, word) || slices.Contains([]string{"no", "non", "ne", "longer", "doesnt", "ohne", "sans", "sin", "senza", "sem", "zonder"}, word) || begins(stopping), saysNot)
	mark(begins(denied) || begins(wishing), saysWish)
	mark(begins(asksFor), saysAsk)
	mark(begins(takingOff), saysOff)
	return says
}

// stops reports whether words that say so may say together that somebody wants no more.
func (says remarkWord) stops() bool {
	return says&saysOptOut > 0 || says&(saysNot|saysWish) == saysNot|saysWish || says&(saysAsk|saysOff) == saysAsk|saysOff
}

var apostrophes = strings.NewReplacer("'", "", "’", "")

// SaysToStop reports whether a remark about somebody may say that they do not want to hear any more: it speaks of an opt-out, denies a wish or a message, or
// asks that somebody be taken off. That it says something else is possible.
func SaysToStop(remark string) bool {
	var all remarkWord
	words := oneOptIn(HeaderWords(apostrophes.Replace(remark)))
	for i, word := range words {
		if all |= remarkWordOf(word); i > 0 && holdsOne(words[i-1]+word, []string{"optout", "optedout"}) {
			return true
		}
	}
	return all.stops()
}

// Remarks looks for remarks by which somebody may want no more, and remembers what their words may say: there are many remarks, of few words.
type Remarks struct{ words map[string]remarkWord }

// remarkWordsMost is how many words are remembered.
const remarkWordsMost = 1 << 15

// SayToStop is SaysToStop.
func (r *Remarks) SayToStop(remark []byte) bool {
	var all remarkWord
	for rest := remark; len(rest) > 0; {
		n, digits := 0, 0
		for n < len(rest) && inWord[rest[n]] {
			if rest[n] <= '9' && rest[n] >= '0' {
				digits++
			}
			n++
		}
		if n > digits { // a number says nothing
			all |= r.word(rest[:n])
		}
		rest = rest[min(n+1, len(rest)):]
	}
	return all.stops() || all&saysPart > 0 && SaysToStop(string(remark)) // opt in and opt out are one word
}

// word tells what a word may say. Other signs than those of ASCII may part words, so that it may be several.
func (r *Remarks) word(word []byte) remarkWord {
	says, known := r.words[string(word)]
	if known {
		return says
	}
	for _, w := range oneOptIn(HeaderWords(apostrophes.Replace(string(word)))) {
		says |= remarkWordOf(w)
	}
	if r.words == nil || len(r.words) >= remarkWordsMost {
		r.words = map[string]remarkWord{}
	}
	r.words[string(bytes.Clone(word))] = says
	return says
}

// inWord are the bytes of words: all but the signs and blanks of ASCII, without the apostrophe.
var inWord = func() (in [256]bool) {
	for b := range in {
		c := byte(b)
		in[b] = c >= utf8.RuneSelf || c == '\'' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
	}
	return in
}()
