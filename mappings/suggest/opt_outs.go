package suggest

import (
	"regexp"
	"slices"
	"strings"

	"sheetlift/mappings"
	"sheetlift/pipeline/finding"
)

// optsOut says whether a header asks whether somebody does not want something. What is no more may be what the header asks for.
func optsOut(header string) mappings.OptOut {
	asks := mappings.OptOutOf(header)
	if asks != mappings.EndedOptOut {
		return asks
	}
	if fits("asks", plain(header)) > 0 {
		return mappings.MaybeOptOut
	}
	return mappings.NoOptOut
}

// optsOut says whether a column asks whether somebody does not want something.
func (l *Look) optsOut(col int) mappings.OptOut {
	c := &l.Columns[col]
	asks := optsOut(c.Header)
	if asks == mappings.NoOptOut && mappings.MayAnswerNo(c.Header) && fits("asks", plain(c.Header)) > 0 && slices.ContainsFunc(c.sortedWords(), saysYes) && !slices.ContainsFunc(c.sortedWords(), func(word string) bool { _, ok := term(answers, word); return !ok }) {
		return mappings.MaybeOptOut // a column for each answer
	}
	if asks == mappings.NoOptOut || c.Filled == 0 {
		return asks
	}
	if asks != mappings.SureOptOut && c.Dates.All()*2 > c.Filled && fits("expires_at", plain(c.Header)) > 0 { // the day on which a consent ends by itself
		return mappings.NoOptOut
	}
	if fits("subject_id", plain(c.Header)) >= 100 { // NIE
		return mappings.NoOptOut
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
func (l *Look) optout(col int) bool { return l.optsOut(col) == mappings.SureOptOut }

// standing are words by which a subscription is called, and never an opt-out that stands: in a column of opt-outs, active says
// that it is in force.
var standing = strings.Fields("subscri opt abonn angemeldet inscri suscri iscri aangemeld allow consent einwilli")

// overlooked says which columns sound like an opt-out and are read by no record: a refusal in them would be lost in silence.
func (s *suggestion) overlooked() (list []string) {
	for col := range s.look.Columns {
		if !s.used[col] && s.look.optsOut(col) != mappings.NoOptOut {
			list = append(list, s.look.Say(col))
		}
	}
	return list
}

// UnreadOptOuts asks about the consents of a sheet in which a column that sounds like an opt-out or speaks of an end holds days, answers or texts, and is read by
// no record: one of days, yes and no words and others at once is no answer and no day, and whoever left by it would come in as given. used tells the columns that
// are read.
func (d *Draft) UnreadOptOuts(l *Look, used func(col int) bool) {
	for col := range l.Columns {
		c := &l.Columns[col]
		if used(col) || c.Filled == 0 || c.Emails > 0 {
			continue
		}
		why, opposes := "", false
		switch {
		case l.optsOut(col) != mappings.NoOptOut:
			if l.MayOptOut(col) && c.saysSomething() {
				why = " sounds like an opt-out and holds days, answers or texts, which nothing reads, so these consents may be those of people who left: map it as a suppression or a consent that is withdrawn, or remove the condition in: [] if nobody opted out by it"
			}
		case c.tells() && l.speaksOfEnds(col):
			why = " speaks of leaving, an end or what came back, and nothing reads it, so these consents may be those of people who are out: map it as a suppression or a consent that is withdrawn, or write a condition on it, such as not_in: [words]; or remove the condition in: [] if it says nothing of them"
		case l.opposesSomebody(col) && !mappings.OfOrders(c.Header):
			opposes = true
			why = " holds words that speak against consent, and nothing reads them: map it as a suppression or a consent that is withdrawn, or write a condition on it, such as not_in: [words]; or remove the condition in: [] if they say nothing of these consents"
		default:
			if n := c.endedStates(); n > 0 {
				why = " holds states by its header, of which " + finding.Count(n, "row has one", "rows have ones") + " that may say that something ended or waits, or that somebody left, and nothing reads it: write a condition on it, such as not_in: [words]; sheetlift cells shows them; or remove the condition in: [] if they say nothing of these consents"
			}
		}
		of := channelOf(plain(c.Header))
		for i := range d.Records {
			r := &d.Records[i]
			if why == "" || !r.mayGive() || r.asksAbout(l.Say(col)) && !opposes || of != "" && !slices.Contains([]string{"", "any", of}, r.stated("channel")) {
				continue
			}
			r.Why = append(r.Why, l.Say(col)+why)
			r.When = append(r.When, mappings.Condition{Column: l.Name(col), In: mappings.Strings{}})
		}
	}
}

// MayOptOut reports whether a column sounds like an opt-out and may say so of somebody: not all of its words are noes.
func (l *Look) MayOptOut(col int) bool {
	c := &l.Columns[col]
	switch l.optsOut(col) {
	case mappings.NoOptOut:
		return false
	case mappings.SureOptOut:
		return c.Dates.All() > 0 || c.Hidden > 0 || len(c.Words) == 0 || slices.ContainsFunc(c.sortedWords(), func(word string) bool { return beyondNo(word) || leavesOpen(word) })
	}
	return true
}

// speaksOfEnds reports whether a column speaks by its header of leaving, of an end, or of what came back.
func (l *Look) speaksOfEnds(col int) bool {
	c := &l.Columns[col]
	header := plain(c.Header)
	return fits("terms", header) == 0 && !mappings.OfOrders(c.Header) && (mappings.Leaving(c.Header) || mappings.Until(c.Header) || fits("expires_at", header) > 0)
}

// asksAbout reports whether the question for the status of a record names a column.
func (r *Record) asksAbout(column string) bool {
	return slices.ContainsFunc(r.field("status").Asks, func(a Ask) bool { return strings.Contains(a.Text, column) })
}

// endedStates counts the rows of a column of states that say that something ended.
func (c *Column) endedStates() (rows int) {
	if !c.states || c.Dates.All() > 0 {
		return 0
	}
	rows = c.ended
	for _, word := range c.sortedWords() {
		if says, known := term(answers, word); known && (says == "refused" || says == "withdrawn" || says == "expired") || !(known && says != "") && mappings.EndedState(word) {
			rows += c.Words[word]
		}
	}
	return rows
}

// tells reports whether a column holds more than words for no and nothing.
func (c *Column) tells() bool {
	if c.Dates.All() > 0 || c.Hidden > 0 {
		return true
	}
	if c.Words == nil {
		return c.links*2 <= c.Filled
	}
	return slices.ContainsFunc(c.sortedWords(), func(word string) bool { return beyondNo(word) && strings.Trim(word, "0.,-") != "" })
}

// beyondNo reports whether a word says something other than no or nothing.
func beyondNo(word string) bool {
	says, known := term(answers, word)
	return !known || says != "no" && says != ""
}

// saysSomething reports whether a column may say something of people: it holds days, an answer, a word that is neither no nor nothing, or texts; links and codes
// say nothing, unless they are reasons.
func (c *Column) saysSomething() bool {
	if c.Dates.All() > 0 || slices.ContainsFunc(c.sortedWords(), func(word string) bool { return saysMore(word) || leavesOpen(word) || someMonth.MatchString(word) }) {
		return true
	}
	header := plain(c.Header)
	if c.codes(0) && fits("reason", header) == 0 || c.links*2 > c.Filled {
		return false
	}
	return c.Words == nil || c.Hidden > 0 || !holds(header, ofLinks) && slices.ContainsFunc(c.sortedWords(), beyondNo)
}

// opposesSomebody reports whether a column holds words that speak against the consent of a person. A title that stands in it among records is asked about as
// that.
func (l *Look) opposesSomebody(col int) bool {
	if slices.Contains(ofNames, plain(l.Columns[col].Header)) {
		return false
	}
	rows := 0
	for _, word := range l.opposing(col) {
		if ofSomebody(word) {
			rows += l.Columns[col].Words[word]
		}
	}
	for _, t := range l.after {
		if t.title && t.col == col {
			rows--
		}
	}
	return rows > 0
}

// noneOf are words for none of something: under a header that asks for no consent, they say nothing of one.
var noneOf = strings.Fields("kein keine keiner keines keins keinen none aucun aucune nessuno nessuna ninguno ninguna ningun geen nenhum nenhuma")

// ofNames are headers, as plain gives them, of names, which may be any word: Mr Stop, a block of flats, a colour.
var ofNames = strings.Fields("name names fullname lastname firstname surname familyname givenname middlename nickname nachname vorname familienname rufname vollername " +
	"nom prenom nomdefamille nomcomplet apellido apellidos nombre nombres nombrecompleto cognome nome nomecompleto sobrenome apelido naam achternaam voornaam " +
	"city town ort stadt wohnort ville ciudad citta cidade stad plaats woonplaats color colour farbe couleur colore cor kleur")

// ofSomebody reports whether a word that speaks against consent says so of a person, and not of an address that takes no mail.
func ofSomebody(word string) bool {
	reason, ok := meaning("reason", word)
	return !slices.Contains(noneOf, mappings.SameWord(word)) && (!ok || reason != "bounce" && reason != "invalid") && !slices.Contains(cleaned, mappings.SameWord(word))
}

// someMonth is a day of which only the month is known.
var someMonth = regexp.MustCompile(`^(\d{1,2} ?[-./] ?(19|20)\d\d|(19|20)\d\d[-./]\d{1,2})$`)

// leavesOpen reports whether a word says that an answer is not known, or waits: in a column of opt-outs, somebody may have left.
func leavesOpen(word string) bool {
	return strings.Trim(word, "? ") == "" && word != "" || slices.ContainsFunc(wordsOf(word), func(w string) bool {
		return slices.ContainsFunc(unknowns, func(u string) bool { return strings.HasPrefix(w, u) })
	})
}

// unknowns begin words for what is not known, or waits.
var unknowns = strings.Fields("unknown unclear unsure uncertain unbekannt unklar ungewiss unsicher inconnu incert desconoc descon sconosciut incognit inciert onbekend onduidelijk onzeker pending waiting awaiting ausstehend wartet attente attesa pendien penden aguard afwachting")

// saysMore reports whether a word is an answer that says something.
func saysMore(word string) bool {
	says, _ := term(answers, word)
	return says != ""
}
