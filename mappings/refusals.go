package mappings

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"sheetlift/importers"
	"sheetlift/pipeline/finding"
)

// AnswerWords lists, by what they say, the words of cells that answer whether somebody consents, in English, German, French, Spanish,
// Italian, Portuguese and Dutch, parted by |.
var AnswerWords = map[string]string{
	"yes":       "y|yes|ja|j|oui|o|si|sí|sì|s|sim|true|wahr|vrai|verdadero|vero|1|x|✓|✔",
	"no":        "n|no|nein|non|nee|não|nao|false|falsch|faux|falso|0|-|✗",
	"refused":   "refused|denied|declined|rejected|abgelehnt|verweigert|refusé|rechazado|denegado|rifiutato|negato|recusado|negado|geweigerd|afgewezen",
	"withdrawn": "withdrawn|revoked|unsubscribed|opt-out|opt out|optout|opted out|opted-out|cancelled|canceled|widerrufen|abgemeldet|zurückgezogen|retiré|révoqué|désinscrit|désabonné|retirado|revocado|dado de baja|baja|revocato|ritirato|disiscritto|cancellato|revogado|cancelado|ingetrokken|afgemeld|uitgeschreven|consent withdrawn|consent revoked|einwilligung widerrufen|consentement retiré|consentimiento retirado|consentimiento revocado|consenso revocato|consentimento revogado|toestemming ingetrokken",
	"opt_out":   "unsubscribed|opt-out|opt out|opt_out|optout|abgemeldet|abmeldung|désabonné|désinscrit|baja|disiscritto|descadastrado|afgemeld|customer request|widerruf",
	"objection": "objection|objected|widerspruch|opposition|oposición|opposizione|oposição|bezwaar|do not contact",
}

// WaitingWords are words for an answer that was given and not confirmed, in the seven languages, parted by |.
const WaitingWords = "not yet|noch nicht|pas encore|todavía no|aún no|non ancora|ainda não|nog niet|pending|waiting|unconfirmed|not confirmed|not activated|unactivated|validating|awaiting confirmation|pending confirmation|confirmation pending|confirmation sent|ausstehend|offen|nicht bestätigt|unbestätigt|bestätigung ausstehend|" +
	"non confirmé|non confirmée|en attente|en attente de confirmation|no confirmado|no confirmada|sin confirmar|pendiente|pendiente de confirmación|non confermato|non confermata|in attesa|in attesa di conferma|" +
	"não confirmado|não confirmada|pendente|aguardando confirmação|niet bevestigd|onbevestigd|in afwachting|wacht op bevestiging"

// SameWord is the form in which words of cells are compared: without case, and blanks, _ and - are one. A sign makes another word: -1 is not 1, and !ja not ja.
func SameWord(s string) string {
	s = fold(s)
	if s == "-" || signed(s) {
		return s
	}
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == ' ' || r == '_' || r == '-' }), " ")
}

// signed reports whether a sign stands right before a word, which may deny it, before or behind a number with nothing but blanks between, or behind a word.
func signed(s string) bool {
	rest := strings.TrimLeft(s, "-−–!¬~")
	if first, _ := utf8.DecodeRuneInString(rest); len(rest) < len(s) && (unicode.IsLetter(first) || unicode.IsDigit(first)) {
		return true
	}
	rest = strings.Trim(s, "-−– ")
	return len(rest) < len(s) && rest != "" && (strings.HasSuffix(s, "-") || strings.Trim(rest, "0123456789") == "")
}

// nothing are words for no that are as often as not how a blank is written.
var nothing = map[string]bool{"-": true, "none": true, "n/a": true}

// ofOrders are words of refusals that speak as often of orders, contracts and tickets.
var ofOrders = map[string]bool{"cancelled": true, "canceled": true, "cancellato": true, "cancelado": true, "customer request": true}

// saying are the words by what they say, as SameWord has them.
var saying = func() map[string][]string {
	m := map[string][]string{"yes": bareYes}
	for _, w := range bareNo {
		if !nothing[w] {
			m["no"] = append(m["no"], SameWord(w))
		}
	}
	for says, list := range AnswerWords {
		for w := range strings.SplitSeq(list, "|") {
			if !nothing[w] {
				m[says] = append(m[says], SameWord(w))
			}
		}
	}
	return m
}()

// refuses reports whether a word of a consent status says no; in a column that asks for an opt-out, yes is such a word.
func refuses(word string, inverted bool) bool {
	if inverted {
		return saysOf(word, "yes", "refused", "withdrawn", "opt_out", "objection")
	}
	return saysOf(word, "no", "refused", "withdrawn", "opt_out", "objection")
}

// saysOf reports whether a word says one of these, whatever marks stand around it.
func saysOf(word string, as ...string) bool {
	bare := strings.TrimFunc(word, func(r rune) bool { return unicode.IsPunct(r) || unicode.IsSpace(r) })
	if signed(fold(word)) && slices.Contains(as, "yes") {
		bare = "" // a yes with a sign before it is none; a no may be meant all the same
	}
	for _, w := range []string{SameWord(word), SameWord(bare)} {
		if w != "" && slices.ContainsFunc(as, func(says string) bool { return slices.Contains(saying[says], w) }) {
			return true
		}
	}
	return false
}

// waiting are the words for an answer that nobody confirmed, as SameWord has them.
var waiting = func() map[string]bool {
	m := map[string]bool{}
	for w := range strings.SplitSeq(WaitingWords, "|") {
		m[SameWord(w)] = true
	}
	return m
}()

// saysWaiting reports whether a word says that nobody confirmed yet, whatever marks stand around it.
func saysWaiting(word string) bool {
	bare := strings.TrimFunc(word, func(r rune) bool { return unicode.IsPunct(r) || unicode.IsSpace(r) })
	return waiting[SameWord(word)] || waiting[SameWord(bare)]
}

// lostRefusal is a null token that says no.
type lostRefusal struct {
	word string
	line int // of the mapping
}

// refusals notes the null tokens of a consent status that say no, by themselves or by the mapping's own enum.
func (c *checker) refusals(path string, e *importers.Entity, fs *FieldSpec, p *fieldProgram) {
	if e.Name != "consent" || p.field.Name != "status" {
		return
	}
	for i, word := range fs.NullTokens {
		term := p.words[fold(word)].term
		if !refuses(word, fs.Polarity == "inverted") && (term == "" || term == importers.StatusGiven) {
			continue
		}
		at := path + ".null_tokens"
		if c.doc.Has(index(at, i)) {
			at = index(at, i)
		}
		p.lost = append(p.lost, lostRefusal{strings.TrimSpace(word), c.doc.Place(at, "", "").Line})
	}
}

// decideRefusals warns of them.
func (pl *Plan) decideRefusals(f *fieldProgram, cols []int) (list []finding.Finding) {
	col := -1
	if len(cols) > 0 {
		col = cols[0]
	}
	for _, x := range f.lost {
		w := pl.at("consent.refusal_is_null", col, f.path)
		w.Message = fmt.Sprintf("The mapping (line %d) has %q among its null_tokens; the word says no, and a refusal would be read as no answer.", x.line, x.word)
		list = append(list, w)
	}
	return list
}
