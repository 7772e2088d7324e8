package suggest

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"sheetlift/mappings"
)

// answers is the list of the words of a consent status; the other lists are called as in fieldWords.
const answers = "answers"

// terms finds the term of a word, by list. Spaces, _ and - are one.
var terms = sync.OnceValue(func() map[string]map[string]string {
	all := map[string]map[string]string{}
	index := func(list string, w words) {
		m := map[string]string{}
		for term, line := range w {
			for word := range strings.SplitSeq(line, "|") {
				m[mappings.SameWord(word)] = term
			}
			if term != "" {
				m[mappings.SameWord(term)] = term
			}
		}
		for term, line := range w {
			for word := range strings.SplitSeq(line, "|") {
				if _, taken := m[unpointed(word)]; !taken && strings.ContainsAny(word, ",!") {
					m[unpointed(word)] = term
				}
			}
		}
		all[list] = m
	}
	index(answers, statusWords)
	for list, w := range fieldWords {
		index(list, w)
	}
	return all
})

// term finds the term of a word; ok is false if no language has it.
func term(list, word string) (string, bool) {
	t, ok := terms()[list][mappings.SameWord(word)]
	if !ok && strings.ContainsAny(word, " ,!") { // yes, I agree
		t, ok = terms()[list][unpointed(word)]
	}
	return t, ok
}

// unpointed is the form of a word without the commas and exclamation marks that some write it with. One before a word may deny it, and stays.
func unpointed(word string) string {
	return mappings.SameWord(points.ReplaceAllString(word, "$1"))
}

var points = regexp.MustCompile(`,|!($|[^\pL\pN])`)

// endings are words for a request that ended, one way or the other.
var endings = sameWords("closed|done|finished|completed|complete|resolved|closed complete|geschlossen|abgeschlossen|erledigt|fertig|clos|close|clôturé|clôturée|terminé|terminée|cerrado|cerrada|finalizado|finalizada|concluido|concluida|chiuso|chiusa|concluso|conclusa|fechado|fechada|encerrado|encerrada|concluído|concluída|gesloten|afgesloten|afgerond|afgehandeld|afgedaan")

// waiting are words for an answer that was given and not confirmed.
var waiting = sameWords(mappings.WaitingWords)

func sameWords(lines string) (list []string) {
	for word := range strings.SplitSeq(lines, "|") {
		list = append(list, mappings.SameWord(word))
	}
	return list
}

// stems are pieces of words, letters and digits only, that name a right in a longer text, such as "Right of access (Art. 15)".
var stems = map[string]map[string][]string{
	"request_type": {
		"access":             {"access", "auskunft", "acceso", "acces", "acesso", "inzage", "art15", "article15", "artikel15"},
		"erasure":            {"erasure", "delet", "forgotten", "losch", "loesch", "effacement", "oubli", "supresion", "borrado", "olvido", "cancellazion", "oblio", "apagamento", "eliminac", "esquecimento", "verwijder", "vergetel", "art17", "article17", "artikel17"},
		"rectification":      {"rectif", "correction", "correctie", "berichtig", "rettific", "retific", "art16", "article16", "artikel16"},
		"restriction":        {"restriction", "einschrank", "limitation", "limitacion", "limitazion", "limitacao", "beperk", "art18", "article18", "artikel18"},
		"portability":        {"portab", "ubertragbar", "uebertragbar", "overdraagb", "art20", "article20", "artikel20"},
		"objection":          {"objection", "widerspruch", "opposition", "oposic", "opposizion", "bezwaar", "optout", "donotsell", "donotshare", "donotcontact", "art21", "article21", "artikel21"},
		"withdraw_consent":   {"withdrawconsent", "withdrawalofconsent", "consentwithdraw", "widerruf", "retraitduconsent", "retraitdeconsent", "retiradadelconsent", "revocadelconsens", "intrekk"},
		"automated_decision": {"automat", "art22", "article22", "artikel22"},
		"complaint":          {"complaint", "beschwerde", "plainte", "queja", "reclamo", "reclamac", "klacht"},
	},
	"reason": {
		"opt_out":   {"unsub", "optout", "optedout", "abmeld", "abgemeldet", "desabonn", "desinscri", "disiscri", "descadastr", "afmeld", "afgemeld", "uitgeschreven"},
		"objection": {"widerspr", "objection", "donotcontact", "usersuppressed"},
		"complaint": {"spam", "complain", "beschwerde", "plainte", "klacht"},
		"bounce":    {"bounce", "unzustellbar", "rebond", "rimbalz"},
		"invalid":   {"invalid", "ungultig", "nonvalid", "ongeldig"},
	},
	"lawful_basis": {
		"consent":             {"art61a", "art6ia", "art6abs1lita", "art6abs1a", "art61lita", "article61a", "art6par1a", "art6lid1a", "art6comma1letta", "consent", "einwillig", "zustimm", "consens", "toestemming"},
		"contract":            {"art61b", "art6ib", "art6abs1litb", "art6abs1b", "art61litb", "article61b", "art6par1b", "art6lid1b", "art6comma1lettb", "contract", "vertrag", "contrat", "overeenkomst"},
		"legal_obligation":    {"art61c", "art6ic", "art6abs1litc", "art6abs1c", "art61litc", "article61c", "art6par1c", "art6lid1c", "art6comma1lettc", "legalobligation", "rechtlicheverpflichtung", "obligationlegale", "obligacionlegal", "obbligolegale", "obrigacaolegal", "wettelijkeverplichting", "wettelijkeplicht"},
		"vital_interest":      {"art61d", "art6abs1litd", "art6abs1d", "article61d", "vitalinterest", "lebenswichtig", "interetsvitaux", "interesesvitales", "interessivitali"},
		"public_task":         {"art61e", "art6abs1lite", "art6abs1e", "article61e", "publictask", "publicinterest", "offentlich", "interetpublic", "interespublico", "interessepubblico", "algemeenbelang"},
		"legitimate_interest": {"art61f", "art6if", "art6abs1litf", "art6abs1f", "art61litf", "article61f", "art6par1f", "art6lid1f", "art6comma1lettf", "legitimateinterest", "berechtigt", "interetlegitime", "intereslegitimo", "interesselegitt", "legittimointeresse", "interesselegitimo", "gerechtvaardigd"},
	},
}

// meaning finds the term that a word stands for: by the list, else by the one right that a longer text names. A text that
// names two of them, or denies one, means neither.
func meaning(list, word string) (string, bool) {
	if t, ok := term(list, word); ok {
		return t, true
	}
	found := ""
	text := plain(word)
	for t, pieces := range stems[list] {
		if !slices.ContainsFunc(pieces, func(stem string) bool { return strings.Contains(text, stem) }) {
			continue
		}
		if found != "" {
			return "", false
		}
		found = t
	}
	return found, found != ""
}

// around are words that stand beside those of the lists.
const around = "abs lit buchst lid lett par comma basis rechtsgrundlage right rights of to the a an request requests data subject personal art article artikel articolo artículo artigo gdpr dsgvo rgpd avg ccpa and recht auf droit de du d' derecho diritto direito op del di al à l' " +
	"not no is do does don't allow allowed set seen sell share sold shared my information any never sent send awaiting waiting confirmation confirmed permission permissions implied express explicit obtained responded responding applicable " +
	"existing user suppressed sale sales selling sharing ads advertising targeted profiling automated decision decisions portability port copy correct restrict restriction limit sensitive use usage categories specific pieces customer prospect lead performance freely given consent contact identity verified unverified fulfilled in progress work closed complete completed incomplete activated partially partly all none marketable only via by from through for with without and/or other " +
	"bdsg ttdsg tdddg hgb ao sgb vvg uwg lopdgdd lopd ejecución misión obligación cumplimiento esecuzione adempimento execução cumprimento exécution mission obligation respect uitvoering des der den dem del della dello degli delle dei het een legitimate interest interests public vital legal obligation nicht kein keine freiwillige freiwillig zustimmung einwilligung kontakts kontakt berechtigtes potenzieller bestehender kunde interessent erfüllung vertrags vertrag gesetzt bestätigt abonniert zulassen erlaubt " +
	"consentement donné librement par contact intérêt légitime client exécution pas non ne interés cliente consentimiento dado libremente por el ejecución interesse cliente consenso espresso liberamente esecuzione livremente dado pelo niet geen toestemming vrij gegeven vrijelijk van bestaande klant potentiële " +
	"nach gem gemäß laut telefonisch schriftlich mündlich durch wegen link footer form formular website webseite kampagne campaign letter phone telefon sms newsletter téléphone lien formulaire teléfono enlace formulario telefono modulo sito tramite telefone ligação site telefoon formulier vía pour per op bij " +
	"kundin mitglied mitgliedschaft member membership membre adhésion adhérent socio socia sócio sócia lid lidmaatschap abonnent abonnement subscriber user nutzer campagne campaña campagna campanha due because request requested wish wunsch demande solicitud richiesta pedido verzoek " +
	"einwilligung freiwillig erfüllung eines einer vertrages zutreffend anwendbar le la les um uma un una une d'un d'une existant prospect sans objet applicable potentiel otorgado otorgada dada cliente potencial existente no aplica aplicable contacto fornito fornita dal contatto concesso esistente potenziale non applicabile fornecido fornecida pelo pela contato existente potencial não aplicável lead leads"

// vocabulary is every part of a word of the lists.
var vocabulary = sync.OnceValue(func() map[string]bool {
	m := map[string]bool{}
	add := func(text string) {
		for _, part := range parts(text) {
			m[part] = true
		}
	}
	add(around)
	for _, list := range fieldWords {
		for _, line := range list {
			add(line)
		}
	}
	for _, line := range statusWords {
		add(line)
	}
	return m
})

func parts(text string) (list []string) {
	for part := range strings.FieldsFuncSeq(mappings.FoldWord(text), func(r rune) bool { return !unicode.IsLetter(r) && r != '\'' }) {
		if part = strings.Trim(part, "'"); part != "" {
			list = append(list, part)
		}
	}
	return list
}

// listed reports whether a text is made of words of our lists alone: whatever its shape, it is then nobody's name.
func listed(text string) bool {
	list := parts(text)
	digits := 0
	for _, r := range text {
		if unicode.IsDigit(r) {
			digits++
		}
	}
	return len(list) > 0 && digits <= 4 && !strings.ContainsAny(text, "@＠") && len(text) <= 80 && !slices.ContainsFunc(list, func(part string) bool { return !vocabulary()[part] })
}

// shown reports whether a draft may show a word of a cell that a list knows: by itself, or by a piece of it where all of it is made of words of our lists. A
// longer text in which one stands may name somebody, whatever its letters.
func shown(list, word string) bool {
	_, ok := term(list, word)
	return ok || listed(word)
}

// share counts the rows of a column whose words a list knows, and how many of them none of the others knows.
func (c *Column) share(list string, others ...string) (known, own int) {
	for word, rows := range c.Words {
		if _, ok := meaning(list, word); !ok {
			continue
		}
		known += rows
		if !slices.ContainsFunc(others, func(o string) bool { t, too := term(o, word); return too && t != "" }) {
			own += rows
		}
	}
	return known, own
}
