package suggest

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"sheetlift/mappings"
)

// Whether a header asks for an opt-out.
const (
	noOptOut    = iota
	maybeOptOut // what yes means there, only a person knows
	sureOptOut
)

// The words below are without case and marks, in the seven languages. A word of a header fits if it begins with one.
var (
	// barring are what a contact point must not be used is called by, wherever in a word they stand: sperr in Werbesperre.
	barring = strings.Fields("sperr verbot abgemeld abmeld abbestell optout optedout unsub widerspr widerruf suppress withdr objection objected blacklist blocklist geblock geblokk gebann")
	// barred are the beginnings of words that say the same.
	barred = strings.Fields("robinson block bloq blocc blokk bloctel exclu esclu ausschl ausgeschl uitgeslo uitsluit escluid refus rifiut recusa recuso recuse rechaz abgelehnt ablehn weiger verweiger geweiger declin " +
		"reject rejet denied deny interdi prohib proib vietat verbod forbid banned untersag unerwunscht unwanted ongewenst indesider oppos opos objecion objecao objecoes obiez bezwaar verzet " +
		"baja desabonn desinscri disiscri descadast afmeld afgemeld uitgeschr austrag ausgetrag ingetrokk intrekk revoc revok dnc")
	// harmless begin like those, and bar nothing.
	harmless = strings.Fields("blockchain exclusiv exclusief esclusiv opposite oposiciones")
	// lists are names of lists of people that must not be contacted.
	lists = strings.Fields("listerouge listenoire listaroja listanera listanegra listavermelha schwarzeliste zwartelijst negativliste belmeniet")
	// ended say that what the header names is no more.
	ended = strings.Fields("deaktiv desactiv disattiv desativ gedeactiv uitgeschakeld deactiv disabled inaktiv inactiv inattiv inativ cancel annul annull gekundigt storn opgezegd geannuleerd gestopp stopped gestopt arrete suspend " +
		"sospes suspens beendet removed entfernt supprim eliminad rimoss removid verwijderd restricted eingeschrankt restreint limitad abgeschaltet ausgeschaltet muted silenc")
	// negations deny what stands in the header, wherever they stand.
	negations = strings.Fields("not never dont cannot nicht nie niemals nichts kein keine keinen keiner keines keinerlei pas jamais aucun aucune nunca jamas ningun ninguna ninguno nessun nessuna nessuno niente nao nenhum nenhuma niet nooit geen nimmer")
	// without deny what follows them.
	without = strings.Fields("without no ohne sans sin senza sem zonder")
	// fillers may stand between a negation and what it denies.
	fillers = strings.Fields("e more further direct any me se mi le la les lo los las il gli el al alla ai all a au aux de del di do da to be want wants wish any mehr weitere plus mas piu mais meer")
	// denied are what people do not want, or do not do.
	denied = strings.Fields("mail email sms mms whatsapp telef phone tel call anruf newsletter news market werb pub publi pubbli promo contact kontakt contatt contat envi envoi envoy invi mand chiam llam lig receb recib ricev recev desea deseo " +
		"quier vuol desider vogl quer accept acept accett aceit acconsent consent consen autoriz autoris author permi allow agree subscri suscri abonn iscri inscri interes souhait merci spam post brief courrier " +
		"correo lettre letter offer offre ofert advert ads solicit share sell sale profil track reclame boletin nieuwsbrief infolettre comunic communic commerc comerc push fax catal katal prospect sollicit gradit usar usare used benader versand zusend")
	// refusing are verbs and their kin: only they make a non a negation, and not the Non-profit news, or non-essential cookies.
	refusing = strings.Fields("contact contatt envoy invi chiam ricev recev vuol vogl desider accett accept acconsent consent autoriz autoris author permes permett souhait interes iscri inscri abonn gradi sollicit subscri usar demarch")
	// profits are what follows a non that denies nothing a person is asked about.
	profits = strings.Fields("profit lucr gov gouv essen eu ue member")
)

// optsOut says whether a header asks whether somebody does not want something.
func optsOut(header string) int {
	header = bothAnswers.ReplaceAllString(remark.ReplaceAllString(header, " "), " ")
	words := wordsOf(uncamel(header))
	text := plain(header)
	begins := func(word string, list []string) bool {
		return slices.ContainsFunc(list, func(w string) bool { return strings.HasPrefix(word, w) })
	}
	bars := slices.ContainsFunc(words, func(word string) bool {
		return !begins(word, harmless) && (begins(word, barred) || holds(word, barring))
	})
	// follows finds what a negation denies: the next word that is no filler.
	follows := func(i int) string {
		for _, word := range words[i+1:] {
			if !slices.Contains(fillers, word) {
				return word
			}
		}
		return ""
	}
	denies, doubtful, stops, ends, named := false, false, false, false, false
	for i, word := range words {
		switch {
		case i > 0 && slices.Contains([]string{"yes", "ja", "oui", "sim"}, words[i-1]): // Newsletter sim não
		case slices.Contains(negations, word), word == "don" && i+1 < len(words) && words[i+1] == "t",
			word == "non" && (begins(follows(i), refusing) || i+1 < len(words) && slices.Contains([]string{"a", "alla", "aux", "au"}, words[i+1])),
			word == "ne" && i+1 < len(words) && words[i+1] == "plus":
			denies = true
		case word == "no" && i+1 < len(words) && slices.Contains([]string{"de", "del", "du"}, words[i+1]): // a number
		case slices.Contains(without, word) && begins(follows(i), denied):
			denies, doubtful = denies || !named, doubtful || named // a newsletter without advertising
		case (word == "no" || word == "non") && named && follows(i) != "" && !begins(follows(i), profits):
			doubtful = true
		}
		switch {
		case i > 0 && (words[i-1] == "non" || words[i-1] == "one"): // one-stop
		case (word == "stop" || word == "stopp") && (len(words) == 1 || begins(follows(i), denied) || i > 0 && i+1 == len(words) && begins(words[i-1], denied)),
			strings.HasSuffix(word, "stopp") && len(word) > len("stopp"), strings.HasSuffix(word, "stop") && begins(word, denied):
			stops = true
		}
		ends = ends || word == "off" || begins(word, ended)
		named = named || begins(word, denied)
	}
	switch {
	case bars && denies: // not blocked
		return maybeOptOut
	case bars, denies, stops, mappings.SoundsLikeOptOut(header), fits("optout", text) > 0, holds(text, lists):
		return sureOptOut
	case doubtful, ends && (fits("asks", text) > 0 || named):
		return maybeOptOut
	}
	return noOptOut
}

// bothAnswers is how headers offer them, as in Newsletter (ja/nein): that denies nothing.
var bothAnswers = regexp.MustCompile(`(?i)\b(yes|y|ja|j|oui|o|si|sí|sì|sim|s)\s*[/|]\s*(no|n|nein|non|nee|não|nao)($|[^\pL])`)

// uncamel parts the words of a header such as doNotMail.
func uncamel(header string) string {
	var b strings.Builder
	lower := false
	for _, r := range header {
		if lower && unicode.IsUpper(r) {
			b.WriteByte(' ')
		}
		lower = unicode.IsLower(r)
		b.WriteRune(r)
	}
	return b.String()
}

// optsOut says whether a column asks whether somebody does not want something.
func (l *Look) optsOut(col int) int {
	c := &l.Columns[col]
	asks := optsOut(c.Header)
	if asks == noOptOut || c.Filled == 0 {
		return asks
	}
	if fits("subject_id", plain(c.Header)) >= 100 { // NIE
		return noOptOut
	}
	for word := range c.Words {
		if _, ok := term(answers, word); ok {
			return asks
		}
	}
	// No. abonné, or No teléfono, over numbers: the no is one.
	return optsOut(numberSign.ReplaceAllString(c.Header, " "))
}

var numberSign = regexp.MustCompile(`(?i)\bno\b\.?`)

// optout reports whether a column asks whether somebody does not want something.
func (l *Look) optout(col int) bool { return l.optsOut(col) == sureOptOut }

// standing are words by which a subscription is called, and never an opt-out that stands: in a column of opt-outs, active says
// that it is in force.
var standing = strings.Fields("subscri opt abonn angemeldet inscri suscri iscri aangemeld allow consent einwilli")

// overlooked says which columns sound like an opt-out and are read by no record: a refusal in them would be lost in silence.
func (s *suggestion) overlooked() (list []string) {
	for col := range s.look.Columns {
		if !s.used[col] && s.look.optsOut(col) != noOptOut {
			list = append(list, s.look.Say(col))
		}
	}
	return list
}
