package mappings

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// remarkHeaders are pieces of headers of remarks, as PlainHeader has them; = is before those that are a whole header.
var remarkHeaders = strings.Fields("note notes notiz notas =nota annotazion anotac remark bemerkung kommentar comment coment remarque observ opmerking anmerkung hinweis memo sonstiges besonderheit =info =infos information =details detail =text =texto =testo =texte aantekening bijzonderhed altro autre divers varie " +
	"reason =grund =grunde =motiv motivo motivi motif =reden =redenen =raison =razon =razao =razones =raisons =ragione =cause =causa feedback ruckmeldung begrundung riscontro retroalimentacion terugkoppeling")

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
	optingOut = strings.Fields("baja desabonn desinscri disiscri descadast afmeld afgemeld uitgeschr uitschr austrag ausgetrag ingetrokk intrekk revoc revog revok revoqu dnc robinson refus rifiut recus rechaz abgelehnt ablehn weiger verweiger geweiger declin rejet opposi oposic bezwaar verzet " +
		"austritt austret ausgetret kundigung gekundigt opzegg opgezegd resili disdett dimissi dimess resign verstorb gestorben deceas deced fallec decedut decesso overled defunt difunt falecid")
	stopping  = strings.Fields("stop kundig gekundig cancel annul resili")
	wishing   = strings.Fields("want wish wunsch mocht will wil veut quer vuole")
	asksFor   = strings.Fields("ask request please bitte wunsch gewunsch will mocht demand souhait veut pidio pide solicit quier chiest chied vuole pediu pede quer verzo vroeg wil graag")
	takingOff = strings.Fields("remov delet eras entfern gestrich streich losch gelosch elimin quitar quitad suprim supprim retir enlev effac rimuov rimoss cancell apag remoc verwijder schrap")
	onLists   = strings.Fields("list lijst verteil mailing newsletter nieuwsbrief infolettre boletin rundbrief")
)

// The words below say it as they stand.
var (
	nothingMore = strings.Fields("no non ne longer doesnt ohne sans sin senza sem zonder nix niks nada rien nothing")
	died        = strings.Fields("died dead")
	offList     = strings.Fields("off out took taken genommen raus heraus eruit gehaald tolto tolta tolti sacado sacada tirado tirada ote otee")
	leavingIt   = strings.Fields("sair salir salirse uscire uscita sortir sortie quitter raus heraus eruit out leave leaving quit weg salida saida")
	oneself     = strings.Fields("si se sich sest himself herself themselves zich")
	toBe        = strings.Fields("a da zu te to per por para zum")
	pickedUp    = strings.Fields("retir enlev quitar quitad") // what is to be fetched is called so as well
	between     = strings.Fields("to para di de a da per aus of zu om the von")
	writing     = strings.Fields("anschreib angeschrieb write writing written ecrire ecrivez escrib escrev scriv aanschrijv benader beliefer bothering disturb moleste derang disturb import storen")
	outAlone    = strings.Fields("stop stopp stopped gestoppt gestopt stoppen arret arrete stoppato raus out weg eruit fuori fora dehors sorti sortie parti partie salido salida saida tot morto morta muerto muerta mort morte dood")
	complaining = strings.Fields("complain beschwerde beschwert plainte queja reclamo reclamac klacht spam")
	ofHouses    = strings.Fields("block bloc bloque blok blocco bloco")
	whenAlone   = strings.Fields("on at since am im ab zum seit wurde hat ist schon bereits already was has is le en depuis el desde il dal op sinds is em e per bitte please")
)

// remarkWord is what a word of a remark may say, a bit each.
type remarkWord uint16

const (
	saysOptOut remarkWord = 1 << iota // by itself
	saysPart                          // of an opt-out, with the word beside it
	saysNot
	saysWish // a wish, or a message
	saysAsk
	saysOff     // taken off
	saysOffList // taken off, of a list
	saysList
	saysLeave
	saysSelf
	saysToBe
	saysAlone // somebody left, if nothing else stands there
)

// remarkWordOf tells what a word says, as HeaderWords has it.
func remarkWordOf(word string) (says remarkWord) {
	mark := func(is bool, bit remarkWord) {
		if is {
			says |= bit
		}
	}
	mark(!beginsOne(word, harmless) && (beginsOne(word, optingOut) || holdsOne(word, barring)) || slices.Contains(died, word), saysOptOut)
	mark(strings.Contains(word, "opt"), saysPart)
	mark(slices.Contains(negations, word) || slices.Contains(nothingMore, word) || beginsOne(word, stopping), saysNot)
	mark(beginsOne(word, denied) || beginsOne(word, wishing) || beginsOne(word, writing), saysWish)
	mark(beginsOne(word, asksFor), saysAsk)
	mark(beginsOne(word, takingOff), saysOff)
	mark(beginsOne(word, takingOff) || slices.Contains(offList, word), saysOffList)
	mark(beginsOne(word, onLists), saysList)
	mark(slices.Contains(leavingIt, word), saysLeave)
	mark(slices.Contains(oneself, word), saysSelf)
	mark(slices.Contains(toBe, word), saysToBe)
	mark(!beginsOne(word, harmless) && !beginsOne(word, staying) && (beginsOne(word, takingOff) || beginsOne(word, leaving) || beginsOne(word, barred) && !slices.Contains(ofHouses, word) || beginsOne(word, complaining)) || slices.Contains(outAlone, word) || slices.Contains(leavingWhole, word), saysAlone)
	return says
}

// stops reports whether words that say so may say together that somebody wants no more.
func (says remarkWord) stops() bool {
	for _, all := range []remarkWord{saysOptOut, saysNot | saysWish, saysAsk | saysOff, saysOffList | saysList, saysOff | saysSelf} {
		if says&all == all {
			return true
		}
	}
	return false
}

// mayStop reports whether words that say so may, as they stand beside each other.
func (says remarkWord) mayStop() bool {
	return says.stops() || says&saysPart > 0 || says&saysLeave > 0 && says&(saysAsk|saysWish) > 0 || says&(saysOff|saysToBe) == saysOff|saysToBe || says&saysAlone > 0
}

var apostrophes = strings.NewReplacer("'", "", "’", "")

// SaysToStop reports whether a remark about somebody may say that they do not want to hear any more: it speaks of an opt-out, a death, or a list that somebody
// was taken off, denies a wish or a message, asks that somebody be taken off, or is a word of leaving and no more. That it says something else is possible, and that another says so in words
// that are not known.
func SaysToStop(remark string) bool {
	var all remarkWord
	words := oneOptIn(HeaderWords(apostrophes.Replace(remark)))
	if leavesAlone(words) {
		return true
	}
	for i, word := range words {
		says := remarkWordOf(word)
		all |= says
		if i == 0 {
			continue
		}
		switch before := words[i-1]; {
		case holdsOne(before+word, []string{"optout", "optedout"}),
			says&saysOff > 0 && slices.Contains(toBe, before) && (len(words) == 2 || !beginsOne(word, pickedUp)), // to be taken off
			says&saysLeave > 0 && wishesBefore(words, i):
			return true
		}
	}
	return all.stops()
}

// leavesAlone reports whether a remark is one word of leaving, a deletion or a complaint, with a day or without, as in gelöscht am 3.5.2024: beside others it
// may be said of anything.
func leavesAlone(words []string) bool {
	alone := ""
	for _, word := range words {
		switch {
		case strings.Trim(word, "0123456789") == "" || slices.Contains(whenAlone, word):
		case alone != "":
			return false
		default:
			alone = word
		}
	}
	return alone != "" && remarkWordOf(alone)&saysAlone > 0
}

// articles are those of the GDPR by which somebody withdraws a consent, has data erased, or objects.
var articles = regexp.MustCompile(`(?i)^(right|recht|droit|derecho|diritto|direito)?[^\pL]*(art|article|artikel|articulo|artículo|articolo|artigo)\.? *(17|21|7 *(abs\.?|\(|par\.?)? *3)($|\D)`)

// claiming are the beginnings of words for an erasure and a request, and others that stand beside them.
var (
	erasing  = strings.Fields("losch gelosch loesch geloesch delet eras effac supprim supres borrad elimin cancellaz oblio oubli olvido vergess vergetel esqueci apaga verwijder gewist forgot anonymi anonimi rtbf")
	claiming = strings.Fields("bitte please veuillez request right recht auf droit a l to be of on the derecho de del al diritto alla all direito ao antrag beantragt angefragt verlangt gefordert wunsch gewunscht demand solicit pedid richiest verzoek verzocht op data account daten konto dsgvo gdpr rgpd avg wurde is has been dello della dati dados datos donnees gegevens um")
)

// MayClaim reports whether what ClaimsRight finds under a header is said of somebody: not under those of orders, and of what becomes of data in the end.
func MayClaim(header string) bool {
	return !OfOrders(header) && !holdsOne(PlainHeader(header), retaining)
}

// retaining are pieces of headers of what becomes of data in the end.
var retaining = strings.Fields("frist retention aufbewahr conservat conservac conservaz bewaar action aktion massnahm purpose zweck finalit finalid doel")

// ClaimsRight reports whether a word of a cell says that somebody objected, took a consent back, or had or wants data erased: Art. 21, gelöscht, requested
// deletion.
func ClaimsRight(word string) bool {
	if articles.MatchString(strings.TrimSpace(word)) {
		return true
	}
	erases := false
	for _, w := range HeaderWords(word) {
		switch {
		case beginsOne(w, staying), slices.Contains(negations, w):
			return false
		case beginsOne(w, erasing):
			erases = true
		case !beginsOne(w, claiming) && strings.Trim(w, "0123456789") != "":
			return false
		}
	}
	return erases
}

// wishesBefore reports whether the words before that at i wish or ask for it. The will of English is no wish.
func wishesBefore(words []string, i int) bool {
	leave := words[i]
	for i--; i > 0 && slices.Contains(between, words[i]); i-- {
	}
	english := slices.Contains([]string{"out", "leave", "leaving", "quit"}, leave)
	return (beginsOne(words[i], wishing) || beginsOne(words[i], asksFor)) && !(english && words[i] == "will")
}

// Remarks looks for remarks by which somebody may want no more, and remembers what their words may say: there are many remarks, of few words.
type Remarks struct{ words map[string]remarkWord }

// remarkWordsMost is how many words are remembered.
const remarkWordsMost = 1 << 15

// Stop is SaysToStop of the beginning of a remark, but for one word that is hardly more than a number, such as K-10042: there may be as many of them as rows.
func (r *Remarks) Stop(remark []byte) bool {
	remark = bytes.TrimSpace(remark)
	if bytes.IndexByte(remark, ' ') < 0 {
		begins := 0
		for begins < len(remark) && (remark[begins] >= utf8.RuneSelf || remark[begins]|0x20 >= 'a' && remark[begins]|0x20 <= 'z') {
			begins++
		}
		if begins < 5 && bytes.ContainsAny(remark, "0123456789") {
			return false
		}
	}
	return r.SayToStop(remark[:min(len(remark), remarkBytes)])
}

// remarkBytes is how much of a remark is looked at.
const remarkBytes = 1000

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
	return all.mayStop() && SaysToStop(string(remark))
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
