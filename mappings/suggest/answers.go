package suggest

import (
	"slices"
	"strings"

	"sheetlift/importers"
	"sheetlift/mappings"
)

// Answers reports whether a column seems to answer a question about consent.
func (l *Look) Answers(col int) bool { return l.answers(col) }

// answers reports whether a column answers a question about consent: its header asks one and its words are answers, or its words can be
// nothing else.
func (l *Look) answers(col int) bool {
	c := &l.Columns[col]
	header := plain(c.Header)
	named := channelOf(header) != ""
	channel := named && (fits("phone", header) < 100 && fits("email", header) < 100 || l.yesOrNo(col))
	if flagOf(header) != "" || channel && fits("asks", header) == 0 && holds(header, ofAddress) {
		return false // it speaks of the address, and not of what somebody wants
	}
	optsOut := l.optsOut(col) != mappings.NoOptOut
	if !optsOut && ofMessage(c.Header) {
		return false // what became of a message, such as the one that asks for a confirmation
	}
	asks := fits("asks", header) > 0 || optsOut || channel
	if c.Dates.All() > 0 || c.Emails > 0 || c.Phones > 0 || fits("needful", header) > 0 || fits("terms", header) > 0 && !optsOut {
		return false
	}
	if holds(header, regimes) && len(l.against(col, false)) == 0 {
		return false // under which law or by which means somebody was asked, and not what the answer was
	}
	known, working, plainly, total := 0, 0, 0, c.Hidden
	for word, rows := range c.Words {
		total += rows
		says, ok := term(answers, word)
		if !ok {
			if _, state := term("case.status", word); state {
				working += rows
			}
			continue
		}
		if optsOut && leavesOpen(word) {
			continue // that alone makes no column of answers
		}
		known += rows
		if _, state := term("case.status", word); state {
			working += rows
		} else if (says == "given" || says == "refused" || says == "withdrawn") && !slices.Contains(ranks, mappings.SameWord(word)) {
			plainly += rows
		}
	}
	allowed := 0
	for _, word := range c.list {
		if _, ok := term(answers, word); ok {
			allowed++
		}
	}
	switch {
	case asks && allowed > 0 && allowed*2 >= len(c.list):
		return true
	case asks && total > 0:
		return known > 0 && known*2 >= total || fits("asks", header) >= 100 && len(c.Words) <= 12 && c.Hidden*2 <= total // then the words are asked for
	case fits("category", header) > 0 && total > 0:
		return known == total
	case asks: // a sheet without rows: the header alone
		return l.Rows == 0 && fits("asks", header) > 0 && fits("occurred_at", header) < 100
	case fits("state", header) > 0 && total > 0:
		return known*2 >= total && known > working // a status of work is none of consent
	}
	return total > 0 && plainly*10 >= c.Filled*8 && len(c.Words) <= 12
}

// ranks are words of answers that rank things as well: alta and baja are high and low.
var ranks = sameWords("alta|baja")

// regimes are headers that ask how consent is asked for; a column of one that never says no answers nothing.
var regimes = strings.Fields("consenttype typeofconsent consentmodel consentmode consentmethod consentlevel artdereinwilligung einwilligungsart typedeconsentement tipodeconsentimiento tipodiconsenso tipodeconsentimento soorttoestemming optintype typedoptin")

// yesOrNo reports whether all cells of a column say yes or no: under a header such as Phone they are no contact points.
func (l *Look) yesOrNo(col int) bool {
	c := &l.Columns[col]
	return len(c.Words) > 0 && c.Hidden == 0 && !slices.ContainsFunc(c.sortedWords(), func(word string) bool {
		says, ok := term(answers, word)
		return !ok || says == "" && c.Filled == c.Words[word]
	})
}

// flagOf says which suppression a header asks about that speaks of the address, and of no answer: Email bounced, Marked as spam.
func flagOf(header string) string {
	for _, reason := range []string{"bounce", "invalid", "complaint"} {
		if holds(header, stems["reason"][reason]) && !holds(header, []string{"antispam", "spamscore", "spamcheck"}) {
			return reason
		}
	}
	return ""
}

// Flagged reports whether a column holds something under a header that asks whether an address bounced, does not exist, or complained.
func (l *Look) Flagged(col int) bool {
	c := &l.Columns[col]
	return flagOf(plain(c.Header)) != "" && c.tells()
}

// ofAddress are pieces of headers that say what an address is like, or what became of a message.
var ofAddress = strings.Fields("verif gepruft geprueft checked controle comprobad controllat gecontroleerd valid deliver zustell undeliv hash domain format exist sent gesendet envoye enviad inviat verzonden open click klick count anzahl nombre numero")

// ofMessage reports whether a header says what became of a message.
func ofMessage(header string) bool {
	return slices.ContainsFunc(wordsOf(header), func(word string) bool { return slices.Contains(ofMessages, word) })
}

// ofMessages are words of headers that say what became of a message.
var ofMessages = strings.Fields("sent gesendet versendet versandt verschickt zugestellt envoye envoyee envoyes enviado enviada enviados inviato inviata inviati verzonden verstuurd gestuurd opened geoffnet ouvert ouverte abierto abierta aperto aperta aberto aberta geopend clicked geklickt clique pinchado cliccato clicado geklikt")

// flags drafts suppressions for the columns that say that an address bounced, does not exist, or complained: that is no withdrawal, and
// never an answer.
func (s *suggestion) flags() (list []Record) {
	email, ok := s.at["email"]
	for col := range s.look.Columns {
		c := &s.look.Columns[col]
		reason := flagOf(plain(c.Header))
		if !ok || reason == "" || s.used[col] || c.Filled == 0 {
			continue
		}
		when := mappings.Condition{Column: s.look.Name(col)}
		if when.In = s.look.yes(col); c.Dates.All()*2 > c.Filled {
			when.In, when.NotBlank = nil, true
		} else if len(c.Words) == 0 || c.Hidden > 0 || slices.ContainsFunc(c.sortedWords(), func(word string) bool { says, _ := term(answers, word); return says != "yes" && says != "no" }) {
			continue
		}
		s.used[col] = true
		if !when.NotBlank && len(when.In) == 0 {
			continue // it says so of nobody
		}
		r := Record{Entity: "suppression", Confirm: true, Key: []string{"email", "channel"}, When: []mappings.Condition{when},
			Why: []string{s.look.Say(col) + " speaks of the address by its header, and of no answer"}}
		for _, name := range []string{"channel", "reason"} {
			value := map[string]string{"channel": "email", "reason": reason}[name]
			f := Field{Name: name, Confirm: true}
			s.ctx.State(&f, "suppression", value)
			r.Fields = append(r.Fields, f)
		}
		e := importers.ByName("suppression")
		r.Fields = append(r.Fields, s.field(&e.Fields[e.Field("email")], email))
		if when.NotBlank {
			r.Fields = append(r.Fields, s.field(&e.Fields[e.Field("occurred_at")], col))
		}
		list = append(list, r)
	}
	if len(list) > 1 { // one address may have both
		for i := range list {
			list[i].Key = append(list[i].Key, "reason")
		}
	}
	return list
}

// channelOf finds a channel that a header names.
func channelOf(header string) string {
	for _, c := range channelWords {
		if holds(header, c.words) {
			return c.channel
		}
	}
	switch {
	case holds(header, calling) || slices.Contains(called, header):
		return "phone"
	case holds(header, texting):
		return "sms"
	}
	return ""
}

// channelWords are pieces of headers that name a channel; the first that fits decides, so that posta elettronica is no letter.
var channelWords = []struct {
	channel string
	words   []string
}{
	{"whatsapp", []string{"whatsapp"}},
	{"sms", append([]string{"sms"}, texting...)},
	{"email", strings.Fields("email mailing rundmail infomail newsletter nieuwsbrief infolettre boletin correoelec correioelec correioelet postaelet courriel courrierelec mailmarketing mailwerbung permail parmail viamail electronicmail elektronischepost elektronischpost")},
	{"phone", strings.Fields("telefon phone telefo anruf")},
	{"post", strings.Fields("brief postal post courrier correoordinario correocertificado correotradicional directmail bymail")},
	{"push", []string{"push"}},
}

// calling are pieces of headers that speak of calls, called are headers that are no more than that, and texting speak of text messages.
var (
	calling = strings.Fields("donotcall dontcall nocall nevercall notcall notbecalled stopcall outofcall coldcall callsopt callopt callconsent callpermission calling telemarket anzurufen kaltakquise llamar llamad appeler appelez parappel appels chiamare chiamate chiamata chiamarmi " +
		"nietbellen belmeniet nooitbellen meerbellen magbellen gebeld telefonisch naoligar nuncaligar naomeligue ligacoes ligacao chamadas chamada bloctel")
	called  = strings.Fields("call calls appel bellen ligar chamar")
	texting = strings.Fields("textok oktotext textconsent textopt textpermission bytext viatext donottext donttext notext nevertext textmessag messagestexte messagetexte mensajesdetexto mensajedetexto messaggiditesto messaggiodit mensagensdetexto mensagemdetexto tekstbericht kurznachricht textnachricht")
)

// against lists the words of a column that speak against consent.
func (l *Look) against(col int, inverted bool) (list mappings.Strings) {
	c := &l.Columns[col]
	for _, word := range c.vocabulary() {
		switch says, _ := term(answers, word); {
		case says == "withdrawn" || says == "refused" || inverted && (says == "yes" || says == "given" && !holds(plain(word), standing)) || !inverted && says == "no":
			list = append(list, c.As(word))
		}
	}
	return list
}

// silent lists the words of a column that say no or nothing.
func (l *Look) silent(col int) (list mappings.Strings) {
	c := &l.Columns[col]
	for _, word := range c.sortedWords() {
		if says, ok := term(answers, word); ok && (says == "no" || says == "") {
			list = append(list, c.As(word))
		}
	}
	return list
}

// yes lists the words of a column that say yes.
func (l *Look) yes(col int) (list mappings.Strings) {
	c := &l.Columns[col]
	for _, word := range c.sortedWords() {
		if says, _ := term(answers, word); (says == "yes" || says == "given") && !c.ring(word) {
			list = append(list, c.As(word))
		}
	}
	return list
}
