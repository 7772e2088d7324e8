package mappings

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/runes"
	"golang.org/x/text/transform"
	"golang.org/x/text/unicode/norm"
)

// OptOut is whether a header asks for an opt-out. Drafts and warnings go by the same words.
type OptOut int

// The answers.
const (
	NoOptOut    OptOut = iota
	EndedOptOut        // it says that something is no more: an opt-out, perhaps, if that is what people are asked for
	MaybeOptOut        // what yes means there, only a person knows
	SureOptOut
)

// The words below are without case and marks, in the seven languages. A word of a header fits if it begins with one.
var (
	// barring are what a contact point must not be used is called by, wherever in a word they stand: sperr in Werbesperre.
	barring = strings.Fields("sperr verbot abgemeld abmeld abbestell optout optedout unsub widerspr widerruf suppress withdr objection objected blacklist blocklist geblock geblokk gebann unterdruck onderdruk")
	// barred are the beginnings of words that say the same.
	barred = strings.Fields("robinson block bloq blocc blokk bloctel exclu esclu ausschl ausgeschl uitgeslo uitsluit escluid refus rifiut recusa recuso recuse rechaz abgelehnt ablehn weiger verweiger geweiger declin " +
		"reject rejet denied deny interdi prohib proib vietat verbod forbid banned untersag unerwunscht unwanted ongewenst indesider oppos opos objecion objecao objecoes obiez bezwaar bezwaren verzet " +
		"baja desabonn desinscri disiscri descadast afmeld afgemeld uitgeschr austrag ausgetrag ingetrokk intrekk revoc revog revok revoqu dnc supres soppress " +
		"negato negata negado negada denegad rejeit respint afgewez afgekeur zuruckgewies zurueckgewies verwehrt versagt disapprov disagree dissent dissens")
	// harmless begin like those, and bar nothing.
	harmless = strings.Fields("blockchain exclusiv exclusief esclusiv opposite oposiciones")
	// optOut are pieces of headers that ask for an opt-out, as PlainHeader has them: several words, or names of lists of people that must not be
	// contacted.
	optOut = strings.Fields("optout optedout unsub blacklist blocklist donot dont noemail nomail suppress withdr objection objected abgemeldet abmeld austrag ausgetragen " +
		"zuruckgezogen zurueckgezogen desinscri afmeld ingetrokken intrekk uitschrijf revok revoc ritirat dnc blocked geblockt keinewerb keinemail " +
		"keinenewsletter keinkontakt keineanruf nocall nosms nocontact nodesea noquiere noautoriza noacepta nepas nonricevere nonautorizz nonaccett naoaceita " +
		"naodeseja nietbenaderen geenmail geenreclame geennieuwsbrief widerspr widerruf gesperrt desabonn opposition baja disiscri descadastr afgemeld " +
		"uitgeschreven sperre sperrvermerk werbeverbot kontaktverbot nichterlaubt nichterwunscht unerwunscht robinson listerouge stoppub pasdenewsletter " +
		"pasdepub bloque bloccato geblokkeerd sinpublicidad excludefrom marketingblock mailblock noncontatt excluirde naocontatar semcontato nietcontact " +
		"nietmailen removefrom removemefrom entfernenaus retirerde quitarde eliminarde rimuoverda removerd verwijderenuit retraitdu retraitle dateretrait datederetrait listenoire listaroja listanera listanegra listavermelha schwarzeliste zwartelijst negativliste " +
		"belmeniet")
	// whole are headers that ask for one by themselves: lists of numbers not to be called, and an account that is no more.
	whole = strings.Fields("tps ctps mps fps deactivated deaktiviert")
	// ended say that what the header names is no more.
	ended = strings.Fields("anul arret stoppen deaktiv desactiv disattiv desativ gedeactiv uitgeschakeld deactiv disabled inaktiv inactiv inattiv inativ cancel annul annull gekundigt kundigung storn opgezegd opzeg resilia disdett geannuleerd gestopp stopped gestopt arrete suspend " +
		"sospes suspens beendet remov entfern supprim eliminad eliminat rimoss verwijderd restricted eingeschrankt restreint limitad abgeschaltet ausgeschaltet muted silenc " +
		"beendigt beeindigd ended finish finit finalizad terminat terminad afgelopen stopgezet ausgelaufen abgelaufen expired expirad lapsed caducad vencid scadut verlopen verfallen verjahrt verstrichen verstreken vervallen erloschen perime " +
		"paus gepauz resili ruht ruhend opgeschort geschorst ausgesetzt aufgehoben opgeheven aufgelost deleted gelosch geloesch gewist borrad apagad cancell rescind rescis zuruckgenomm zurueckgenomm")
	// endedWhole say so as whole words only: expires is no end that was, and a Termin none at all.
	endedWhole = strings.Fields("ende expire expiree termine terminee fini finie echu echue suspendu lost verloren perdu perdue left")
	// taken say that somebody took back what the header names, which is an opt-out if that is a consent.
	taken = strings.Fields("entzog entzug retirad zuruckgezog zurueckgezog ritirat teruggetrok takenback withheld")
	// takenWhole say so as whole words only: a retired person took nothing back.
	takenWhole = strings.Fields("retire retiree retires retirees retrait")
	// lacking say that what the header names is not there, or not yet.
	lacking = strings.Fields("missing lacking absent ausent fehlt fehlen mancant manca manqu falta faltan ontbrek ontbreek pending outstanding ausstehend awaiting pendient pendent afwachting attente attesa asked needs invited eingeladen gefragt invite invitad invitat convidad uitgenodigd gevraagd required erforderlich needed notig benotigt vereist requis requerid richiest requested angefragt aangevraagd demande " +
		"solicitad")
	// agreed are what a consent is called by.
	agreed = strings.Fields("consen einwillig zustimm toestemm erlaubn permission permis permess permiso autoriz autoris authoris authoriz optin subscri abonn suscri iscri inscri newsletter nieuwsbrief infolettre boletin werbung marketing")
	// negations deny what stands in the header, wherever they stand.
	negations = strings.Fields("not never dont doesnt didnt wont wouldnt isnt arent hasnt havent cant cannot nicht nie niemals nichts kein keine keinen keiner keines keinerlei pas jamais aucun aucune nunca jamas ningun ninguna ninguno nessun nessuna nessuno niente nao nenhum nenhuma niet nooit geen nimmer")
	// apart are what an apostrophe leaves of don't, doesn't and their kin, before the t.
	apart = strings.Fields("don doesn didn won wouldn isn aren hasn haven can shouldn")
	// declining say that somebody does without what the header names.
	declining = strings.Fields("verzicht renonc renunci rinunci prescind dispensa unterbind ungewollt ungewuenscht ungewunscht evitar hates hasst deteste")
	// decliningWhole say so as whole words only.
	decliningWhole = strings.Fields("nega niega hate")
	// without deny what follows them.
	without = strings.Fields("without no ohne sans sin senza sem zonder")
	// fillers may stand between a negation and what it denies.
	fillers = strings.Fields("e more further direct any me se mi le la les lo los las il gli el al alla ai all a au aux de del di do da to be want wants wish any mehr weitere plus mas piu mais meer")
	// denied are what people do not want, or do not do.
	denied = strings.Fields("mail email sms mms whatsapp telef phone tel call anruf newsletter news market werb pub publi pubbli promo contact kontakt contatt contat envi envoi envoy invi mand chiam llam lig receb recib ricev recev desea deseo " +
		"quier vuol desider vogl quer accept acept accett aceit acconsent consent consen autoriz autoris author permi allow agree subscri suscri abonn iscri inscri interes souhait merci spam post brief courrier " +
		"einwillig zustimm toestemm erlaub optin correo lettre letter offer offre ofert advert ads solicit share sell sale profil track reclame boletin nieuwsbrief infolettre comunic communic commerc comerc push fax catal katal prospect sollicit gradit usar usare used benader versand zusend")
	// refusing are verbs and their kin: only they make a non a negation, and not the Non-profit news, or non-essential cookies.
	refusing = strings.Fields("contact contatt envoy invi chiam ricev recev vuol vogl desider accett accept acconsent consent autoriz autoris author permes permett souhait interes iscri inscri abonn gradi sollicit subscri usar demarch")
	// profits are what follows a non that denies nothing a person is asked about.
	profits = strings.Fields("profit lucr gov gouv essen eu ue member")
)

// OptOutOf says whether a header asks whether somebody does not want something.
func OptOutOf(header string) OptOut {
	header = bothAnswers.ReplaceAllString(remark.ReplaceAllString(mandatory.ReplaceAllString(header, " "), " "), " ")
	words := oneOptIn(HeaderWords(uncamel(header)))
	text := strings.ReplaceAll(PlainHeader(header), "trabaj", "") // which has a baja in it
	begins := func(word string, list []string) bool {
		return slices.ContainsFunc(list, func(w string) bool { return strings.HasPrefix(word, w) })
	}
	bars := slices.ContainsFunc(words, func(word string) bool {
		return !begins(word, harmless) && (begins(word, barred) || holdsOne(word, barring))
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
	takes, lacks, agrees, declines, leaves := false, false, false, false, false
	for i, word := range words {
		switch {
		case i > 0 && slices.Contains([]string{"yes", "ja", "oui", "sim"}, words[i-1]): // Newsletter sim não
		case slices.Contains(negations, word), slices.Contains(apart, word) && i+1 < len(words) && words[i+1] == "t",
			word == "non" && (begins(follows(i), refusing) || i+1 < len(words) && slices.Contains([]string{"a", "alla", "aux", "au"}, words[i+1])),
			word == "ne" && slices.Contains(words[i+1:], "plus"), word == "no" && i+1 < len(words) && words[i+1] == "longer",
			(word == "no" || word == "non") && i+1 < len(words) && slices.Contains([]string{"more", "mas", "piu"}, words[i+1]):
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
		takes = takes || begins(word, taken) || slices.Contains(takenWhole, word)
		declines = declines || begins(word, declining) || slices.Contains(decliningWhole, word)
		ends = ends || word == "off" || word == "uit" && i > 0 && i+1 == len(words) || begins(word, ended) || slices.Contains(endedWhole, word)
		lacks = lacks || begins(word, lacking)
		leaves = leaves || quits(words, i)
		named = named || begins(word, denied)
		agrees = agrees || begins(word, agreed)
	}
	if no := answeredNo(words); len(no) > len("no") && (agrees || named) && !denies && !bars {
		return SureOptOut
	}
	switch {
	case bars && denies: // not blocked
		return MaybeOptOut
	case bars, denies, stops, takes && agrees, declines && (named || agrees), holdsOne(text, optOut), slices.Contains(whole, text):
		return SureOptOut
	case doubtful, (ends || takes) && named, lacks && agrees, leaves && (named || agrees):
		return MaybeOptOut
	case ends, takes:
		return EndedOptOut
	}
	return NoOptOut
}

// answeredNo gives the no with which a header ends that has a column for each answer, as Newsletter nein beside Newsletter ja; "" for any other.
func answeredNo(words []string) string {
	n := len(words)
	if n < 2 || !slices.Contains([]string{"nein", "nee", "non", "nao", "no", "n"}, words[n-1]) || slices.Contains([]string{"yes", "y", "ja", "j", "oui", "o", "si", "s", "sim"}, words[n-2]) {
		return ""
	}
	return words[n-1]
}

// MayAnswerNo reports whether a header ends with a no that may be an answer, or stand for a number, as in Newsletter no.
func MayAnswerNo(header string) bool {
	no := answeredNo(HeaderWords(bothAnswers.ReplaceAllString(header, " ")))
	return no == "no" || no == "n"
}

// oneOptIn takes the words of Opt-In for one.
func oneOptIn(words []string) (list []string) {
	for _, word := range words {
		if n := len(list); n > 0 && list[n-1] == "opt" && (word == "in" || word == "ins") {
			list[n-1] = "optin"
			continue
		}
		list = append(list, word)
	}
	return list
}

// remark is what an export says about a column to whoever edits it, as in (Do Not Modify) Contact: that denies nothing.
var remark = regexp.MustCompile(`(?i)\((do not|don't|nicht|bitte nicht|ne pas|no|non|não|nao|niet) ?(modify|edit|change|delete|use|ändern|bearbeiten|löschen|verändern|modifier|supprimer|modificar|editar|cambiar|modificare|alterar|eliminar|wijzigen|bewerken)\)`)

// mandatory is how forms mark a field that has to be filled: that lacks nothing.
var mandatory = regexp.MustCompile(`(?i)\((required|mandatory|erforderlich|requise?|requerid[oa]|richiest[oa]|vereist)\)`)

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

// PlainHeader is the form in which header texts are compared with words of the field: letters and digits only, without case and marks, so
// that "Opt-In am" and "opt_in AM", "Größe" and "grosse" are one.
func PlainHeader(s string) string {
	out := headerFold(numero.Replace(s))
	if !ascii(out) {
		t := transform.Chain(norm.NFD, runes.Remove(runes.In(unicode.Mn)), norm.NFC)
		if plain, _, err := transform.String(t, out); err == nil {
			out = plain
		}
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return -1
	}, out)
}

// ascii reports whether a text has no mark that could be taken off.
func ascii(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// numero are the signs that are letters of their own in Nº and №.
var numero = strings.NewReplacer("º", "o", "ª", "a", "№", "no")

// HeaderWords are the words of a text as PlainHeader gives them.
func HeaderWords(text string) (words []string) {
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		words = append(words, PlainHeader(word))
	}
	return words
}

// holdsOne reports whether one of the pieces stands in a text.
func holdsOne(text string, pieces []string) bool {
	return slices.ContainsFunc(pieces, func(p string) bool { return strings.Contains(text, p) })
}
