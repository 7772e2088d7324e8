package mappings

import (
	"net/netip"
	"slices"
	"strings"
	"sync"
	"unicode"

	"sheetlift/importers"
	"sheetlift/importers/source"
	"sheetlift/pipeline/finding"
)

// ShownHeaders gives the texts of a header row as messages and results may show them, one a column: by header, or by position
// ("column C") where the header is blank or looks like a value about a person. If two or more cells look like data, or one is an
// address and another may be a name, the whole row is hardly a header, and every column is shown by position: its other cells may be
// names, which nothing tells from headers.
func ShownHeaders(header []string) []string {
	shown := make([]string, len(header))
	data := looksLikeData(header)
	for col, h := range header {
		if shown[col] = h; h == "" || data || !showable(h) {
			shown[col] = "column " + source.Letters(col)
		}
	}
	return shown
}

func looksLikeData(header []string) bool {
	n, address, name := 0, false, false
	for _, h := range header {
		address = address || strings.Contains(h, "@")
		name = name || h != "" && !strings.Contains(h, "@") && !finding.Quote(h)
		if h = strings.TrimSpace(h); h != "" && (!showable(h) || numberOrDate(h) || idShaped(h)) {
			n++
		}
	}
	return n >= 2 || address && name
}

// LooksLikeRow reports whether the texts of a header row are values: an address or an international telephone number is no header, and a row
// of numbers, dates and addresses alone is none either. A list without a header would lose its first row by one.
func LooksLikeRow(header []string) bool {
	values, texts := 0, 0
	for _, h := range header {
		h = strings.TrimSpace(h)
		at := strings.IndexByte(h, '@')
		switch {
		case h == "":
		case at > 0 && !strings.ContainsFunc(h, unicode.IsSpace) && strings.LastIndexByte(h, '.') > at:
			return true
		case strings.HasPrefix(h, "+") && len(h) > 8 && strings.Trim(h, "+0123456789 -/().") == "":
			return true
		case numberOrDate(h):
			values++
		default:
			texts++
		}
	}
	return values > 0 && texts == 0
}

// NumberOrDate reports whether a text is a number or a date and nothing else.
func NumberOrDate(s string) bool { return numberOrDate(strings.TrimSpace(s)) }

func numberOrDate(s string) bool {
	if strings.ContainsAny(s, "0123456789") && strings.Trim(s, "0123456789.,'+- %€$£") == "" {
		return true
	}
	shape, _, _ := readShape([]byte(s))
	return shape != shapeOther
}

// idShaped knows a word of letters and at least four digits in a row, such as K-10042.
func idShaped(s string) bool {
	return !strings.ContainsFunc(s, unicode.IsSpace) && strings.ContainsFunc(s, unicode.IsLetter) && longest(s) >= 4
}

// longest is how many digits a text has in a row.
func longest(s string) (most int) {
	run := 0
	for _, r := range s {
		if run++; !unicode.IsDigit(r) {
			run = 0
		}
		most = max(most, run)
	}
	return most
}

// showable is finding.Quote for headers, which may be longer and have capital words like a name does.
func showable(header string) bool {
	if len([]rune(header)) > 120 || importers.StreetLike(header) {
		return false
	}
	for part := range strings.FieldsSeq(header) {
		if ipLike(part) {
			return false
		}
		part = strings.TrimFunc(part, unicode.IsPunct)
		if part != "" && (!finding.Quote(part) || ipLike(part)) || longest(part) >= 5 && strings.ContainsFunc(part, unicode.IsLetter) {
			return false // K-10042
		}
	}
	digits := 0
	for _, r := range header {
		if unicode.IsDigit(r) {
			digits++
		}
	}
	return digits <= 8 && !strings.Contains(header, "@")
}

// ipLike knows an IPv4 or IPv6 address by itself, with a port, or with a prefix length.
func ipLike(s string) bool {
	if !strings.ContainsAny(s, ".:") || strings.ContainsFunc(s, func(r rune) bool { return r > unicode.MaxASCII }) {
		return false
	}
	if _, err := netip.ParseAddr(s); err == nil {
		return s != "::"
	}
	if _, err := netip.ParseAddrPort(s); err == nil {
		return true
	}
	_, err := netip.ParsePrefix(s)
	return err == nil
}

// shownFrom is how many rows must hold a word before a finding may show it: what few rows hold may be about their people.
const shownFrom = 3

// showableWord reports whether a finding may show a word that stands in a column of a closed list and that nobody declared. A
// person's name may stand there by mistake, so what is shaped like one is not shown, nor is any word of a script without capitals,
// where names have no shape.
func showableWord(word string, rows int) bool {
	return rows >= shownFrom && finding.Quote(word) && !nameShaped(word) && !standsForSomebody(word) && !ipLike(word) && !importers.StreetLike(word) && !namesInSmall(word)
}

// answering are words that no name of two or three is made of alone: those of answers and states, and the small ones that join such words. What stands
// inside of names, such as van and de, is none of them, nor is what is a name in another language, such as per.
var answering = sync.OnceValue(func() map[string]bool {
	m := map[string]bool{}
	for _, list := range AnswerWords {
		for _, word := range strings.FieldsFunc(list, func(r rune) bool { return !unicode.IsLetter(r) }) {
			m[word] = len([]rune(word)) > 1
		}
	}
	for _, word := range strings.Fields("not never none yet only already again still sure all other others unknown pending waiting waits await review hold under out in on at by with without for from after before until since to and or the opt opted mail email sms phone call calls letter post web website online app form list newsletter " +
		"consent consents consented status hard soft bounce bounced spam active inactive closed open new old left moved deceased invalid blocked duplicate test wants want no yes maybe " +
		"e double single more less later again asked answer answered reply confirm confirmed confirmation approved progress received interest interested not set available applicable given progress do does did be been is are " +
		"warten später antwort geantwortet bestätigt unbestätigt bestätigung interesse erreichbar erreicht angefragt vorhanden möglich liegt gefragt doppelt einfach " +
		"réponse répondu confirmé confirmée confirmation intéressé intéressée en à demandé donné " +
		"sabe contesta respuesta responde confirmar confirmado confirmada confirmación interesado interesada en " +
		"risposta risponde confermato confermata conferma interessato interessata in " +
		"resposta responde confirmação interessado interessada em " +
		"antwoord bevestigd onbevestigd bevestiging geïnteresseerd in " +
		"nicht nie kein keine noch nur schon wieder auf aus bei mit ohne für nach vor bis seit und oder unklar unbekannt offen wartet bitte anfrage klärung prüfung einwilligung zustimmung gesperrt verstorben verzogen gelöscht ungültig telefon " +
		"ne pas jamais aucun aucune sans avec pour après avant depuis et ou inconnu inconnue attente cours traitement consentement téléphone courriel décédé " +
		"nunca ningún sin con para tras antes desde o desconocido espera revisión consentimiento teléfono correo fallecido " +
		"mai nessun senza dopo prima sconosciuto attesa corso consenso telefono posta deceduto " +
		"não nenhum sem com após antes desconhecido espera andamento consentimento telefone falecido " +
		"niet nooit geen nog alleen zonder met voor na sinds en of onbekend wacht behandeling toestemming telefoon overleden") {
		m[word] = true
	}
	delete(m, "de") // dado de baja
	return m
})

// namesInSmall reports whether a text of several words may hold a name written without capitals, alone or within a remark (meier mag nicht): one of them is no
// word of answers, and no number, which may have a letter before it as in v2.1.
func namesInSmall(word string) bool {
	tokens := strings.FieldsFunc(fold(word), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '\'' && r != '’' })
	return len(tokens) > 1 && slices.ContainsFunc(tokens, func(t string) bool { return !answering()[t] && letters(t) > min(1, len([]rune(t))-letters(t)) })
}

// letters counts the letters of a text.
func letters(text string) (n int) {
	for _, r := range text {
		if unicode.IsLetter(r) {
			n++
		}
	}
	return n
}

// titles stand before names of people.
var titles = strings.Fields("frau herr herrn frl fräulein familie mr mrs ms miss mme mlle madame monsieur sr sra srta señor señora señorita sig signor signora signorina senhor senhora dr dra prof mevr mevrouw dhr meneer")

// standsForSomebody reports whether a word is shaped like what stands for a person: a title before something, the number of a customer, a day
// of birth.
func standsForSomebody(word string) bool {
	digits := 0
	for _, r := range word {
		if digits++; !unicode.IsDigit(r) {
			digits = 0
		}
		if digits == 4 {
			return true
		}
	}
	tokens := strings.FieldsFunc(strings.ToLower(word), func(r rune) bool { return !unicode.IsLetter(r) })
	return len(tokens) > 1 && slices.ContainsFunc(tokens, func(t string) bool { return slices.Contains(titles, t) })
}

func nameShaped(word string) bool {
	runes := []rune(strings.TrimSpace(word))
	for i, r := range runes {
		if unicode.IsLetter(r) && !unicode.IsUpper(r) && !unicode.IsLower(r) && !unicode.IsTitle(r) {
			return true // 李小龙
		}
		if i == 0 || i == len(runes)-1 || !unicode.IsLetter(runes[i-1]) {
			continue
		}
		next := runes[i+1]
		if next == ' ' && i+2 < len(runes) {
			next = runes[i+2]
		}
		switch {
		case r == '.' && unicode.IsLetter(next): // jane.doe, J. Doe
			return true
		case r == ',' && unicode.IsLetter(next): // doe, jane
			return true
		case (r == '\'' || r == '’') && unicode.IsUpper(runes[i-1]) && unicode.IsUpper(next): // O'Brien
			return true
		}
	}
	// Schmidt-Meier, but not Opt-In; Doe J
	parts := strings.FieldsFunc(word, func(r rune) bool { return r == '-' || unicode.IsSpace(r) })
	if len(parts) != 2 {
		return false
	}
	a, b := []rune(parts[0]), []rune(parts[1])
	if !capital(a) || !capital(b) {
		return false
	}
	return strings.Contains(word, "-") && len(a) >= 4 && len(b) >= 4 || !strings.Contains(word, "-") && (len(a) == 1) != (len(b) == 1)
}

// capital reports whether a word begins with a capital and goes on in small letters, if it goes on.
func capital(word []rune) bool {
	for i, r := range word {
		if (i == 0) != unicode.IsUpper(r) || !unicode.IsLetter(r) {
			return false
		}
	}
	return len(word) > 0
}
