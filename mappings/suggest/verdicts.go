package suggest

import (
	"slices"
	"strings"
	"unicode"

	"sheetlift/mappings"
	"sheetlift/pipeline/finding"
)

// oneVerdict makes columns that answer the same question give one record a row: the first answers, unless another says no.
func (s *suggestion) oneVerdict(list []Record) (out []Record) {
	about := func(r *Record) string {
		text := ""
		for i := range r.Fields {
			if f := &r.Fields[i]; f.Spec.Const != nil && (f.Name == "purpose" || f.Name == "channel") {
				text += f.Name + "=" + *f.Spec.Const + " "
			} else if f.Name == "purpose" && len(f.Asks) > 0 {
				text += "asked about " + r.about
			} else if f.Name == "purpose" {
				text += "purpose "
			}
		}
		return text
	}
	var confirming []int
	states := map[int]gate{}
	for i := range list {
		col := s.answers[i]
		if g, ok := s.stateOf(col, list); ok {
			states[col] = g
			if no := s.onlyNoes(list[i], col); no != nil {
				out = append(out, *no)
			}
			continue
		}
		same := func(j int) bool {
			return j != i && about(&list[j]) == about(&list[i]) && s.look.optsOut(col) != mappings.MaybeOptOut && s.look.optsOut(s.answers[j]) != mappings.MaybeOptOut && (s.general(s.answers[j]) || s.general(col))
		}
		if s.confirms(col) && slices.ContainsFunc(s.answers, func(other int) bool {
			j := slices.Index(s.answers, other)
			return !s.confirms(other) && (same(j) || s.look.optsOut(other) == mappings.NoOptOut && s.confirmsOf(col, s.answers[j], &list[j]))
		}) {
			confirming = append(confirming, i)
			continue
		}
		first, again := i, false
		for j := range i {
			if _, state := states[s.answers[j]]; !state && same(j) && !slices.Contains(confirming, j) {
				first, again = min(first, j), true
			}
		}
		no := s.look.against(col, s.look.optout(col))
		if !again {
			out = append(out, list[i])
			continue
		}
		g, gates := s.look.gate(col, false, nil)
		if gates {
			out = s.onlyConfirmed(out, col, g, func(r *Record) bool { return about(r) == about(&list[first]) })
		}
		if len(no) == 0 {
			if !gates {
				delete(s.used, col) // it can't say more than the first
			}
			continue
		}
		for k := range out {
			if about(&out[k]) == about(&list[first]) {
				out[k].When = append(out[k].When, mappings.Condition{Column: s.look.Name(col), NotIn: no})
				out[k].Why = append(out[k].Why, "unless "+s.look.Say(col)+" says no")
			}
		}
		if s.confirms(col) {
			if no = opposed(&list[i]); len(no) == 0 {
				continue
			}
			list[i].When = slices.DeleteFunc(list[i].When, func(c mappings.Condition) bool { return c.In != nil && c.Column == s.look.Name(col) })
		}
		list[i].When = append(list[i].When, mappings.Condition{Column: s.look.Name(col), In: no})
		list[i].Why = append(list[i].Why, s.look.Say(col)+" answers the same question as "+s.look.Say(s.answers[first])+", and a no counts wherever it stands")
		out = append(out, list[i])
	}
	out = s.statesBeside(out, states)
	for _, i := range confirming {
		out = s.confirmed(out, s.answers[i], &list[i], func(r *Record) bool {
			return about(r) == about(&list[i]) || slices.ContainsFunc(s.answers, func(other int) bool { return s.reads(r, other) && s.confirmsOf(s.answers[i], other, r) })
		})
	}
	return out
}

// statesBeside makes consents depend on the columns of states beside them, some of which wait to be confirmed.
func (s *suggestion) statesBeside(list []Record, states map[int]gate) []Record {
	for _, col := range s.answers {
		g, ok := s.look.gate(col, false, nil)
		if own, state := states[col]; state {
			if g, ok = own, len(own.lets) > 0; !ok {
				delete(s.used, col) // it tells no rows apart
			}
		}
		name, header := s.look.Name(col), plain(s.look.Columns[col].Header)
		if !ok || s.confirms(col) || s.look.optsOut(col) != mappings.NoOptOut || !s.general(col) && fits("state", header) == 0 {
			continue
		}
		_, state := states[col]
		of := channelOf(header)
		list = s.onlyConfirmed(list, col, g, func(r *Record) bool {
			if of != "" && of != "email" && !state && of != r.stated("channel") {
				return false // it answers for its own channel, and for which the other does is asked: by e-mail most likely
			}
			return !s.reads(r, col) && slices.ContainsFunc(s.answers, func(answer int) bool { return s.reads(r, answer) && s.confirmsOf(col, answer, r) }) &&
				!slices.ContainsFunc(r.When, func(c mappings.Condition) bool { return c.Column == name })
		})
	}
	return list
}

// confirms reports whether a column only says whether an answer was confirmed: a no there is none.
func (s *suggestion) confirms(col int) bool { return confirming(s.look.Columns[col].Header) }

// confirmsOf reports whether a column of confirmations may speak of an answer. A topic in other words than the answer's is no other one: a yes that
// nobody confirmed must not pass for a consent. It speaks of something else where it names another channel, asks for something else than mailings, or names
// what another answer is asked for.
func (s *suggestion) confirmsOf(col, answer int, r *Record) bool {
	if !concerns(channelOf(plain(s.look.Columns[col].Header)), r.stated("channel")) {
		return false
	}
	topic := s.topicBeyond(col, answer)
	if len(topic) == 0 {
		return true
	}
	return !slices.ContainsFunc(topic, asksElse) && !slices.ContainsFunc(s.answers, func(other int) bool {
		return other != answer && other != col && !s.confirms(other) && s.look.optsOut(other) == mappings.NoOptOut && len(s.topicBeyond(col, other)) == 0
	})
}

// concerns reports whether what a header says of a channel is about one of another name: who has a number that nobody checked gets no text messages either.
func concerns(of, channel string) bool {
	numbers := []string{"phone", "sms", "whatsapp"}
	return of == "" || slices.Contains([]string{"", "any", of}, channel) || of == "phone" && slices.Contains(numbers, channel)
}

// topicBeyond are the words by which a column of confirmations names a topic that the header of an answer does not.
func (s *suggestion) topicBeyond(col, answer int) (list []string) {
	header := plain(s.look.Columns[answer].Header)
	return slices.DeleteFunc(beyondConfirming(s.look.Columns[col].Header), func(word string) bool { return strings.Contains(header, word) })
}

// confirming reports whether a header asks whether an answer was confirmed.
func confirming(header string) bool {
	return mappings.AsksConfirmed(header) && fits("expires_at", plain(header)) == 0
}

// beyondConfirming are the words of a header by which it asks something else than whether an answer was confirmed.
func beyondConfirming(header string) (list []string) {
	for _, word := range wordsOf(header) {
		if !holds(word, consenting) && !holds(word, joining) && !slices.Contains(dayWords, word) && !slices.Contains(confirmingWords, word) && !mappings.AsksConfirmed(word) &&
			fits("double", word) == 0 && fits("email", word) == 0 && fits("state", word) == 0 && channelOf(word) == "" && strings.Trim(word, "0123456789") != "" {
			list = append(list, word)
		}
	}
	return list
}

// joining are pieces of words for what people join, which say no more than that they answered.
var joining = strings.Fields("subscri abonn suscri iscri inscri anmeld angemeldet aanmeld newsletter nieuwsbrief infolettre boletin mailing")

// confirmingWords stand in headers of confirmations, and ask nothing.
var confirmingWords = strings.Fields("coi confirm ip 2 step two zwei stufig 2stufig zweistufig done fertig doi doppel doppeltes doppelte doble doppio doppia duplo dupla dubbele dubbel opt in optin ins user nutzer contact kontakt subscriber adresse address link click clicked klick geklickt angeklickt clique geklikt received erhalten completed is ist est es e was wurde yes no ja nein oui non si sim nao nee y n j o s true false")

// opposed are the words by which the status of a record speaks against consent.
func opposed(r *Record) (list mappings.Strings) {
	for i := range r.Fields {
		if f := &r.Fields[i]; f.Name == "status" {
			list = slices.Concat(list, f.Spec.Enum["refused"], f.Spec.Enum["withdrawn"])
		}
	}
	return list
}

// confirmed leaves out of the records the consents that a column says nobody confirmed. What speaks against consent there needs no confirmation,
// and has a record of its own.
func (s *suggestion) confirmed(list []Record, col int, own *Record, same func(*Record) bool) (out []Record) {
	hard := opposed(own)
	g, ok := s.look.gate(col, true, hard)
	if !ok {
		delete(s.used, col) // it can't say more than the first
		return list
	}
	out = s.onlyConfirmed(list, col, g, same)
	if len(hard) > 0 {
		own.When = []mappings.Condition{{Column: s.look.Name(col), In: hard}}
		own.Why = append(own.Why, "a no counts wherever it stands")
		out = append(out, *own)
	}
	return out
}

// gate is what a column of confirmations has where an answer was confirmed, and what where nobody did. Each of the latter is a condition by itself.
// Where only a person knows the words, both list none, which no mapping takes.
type gate struct {
	lets, bars []mappings.Condition
	asks       bool
	unshown    int // rows whose words may be anything, and stand in no draft
}

// gate finds how a column tells what was confirmed from what was not; ok is false if it says no of nobody. double is whether its header asks
// for nothing else, hard are words that have a record of their own. Where a column shows what a confirmation looks like, a blank is none.
func (l *Look) gate(col int, double bool, hard []string) (g gate, ok bool) {
	c := &l.Columns[col]
	on := func(cond mappings.Condition) mappings.Condition { cond.Column = l.Name(col); return cond }
	lets := func(cond mappings.Condition) { g.lets = append(g.lets, on(cond)) }
	bars := func(cond mappings.Condition) { g.bars = append(g.bars, on(cond)) }
	var yes, unknown mappings.Strings
	for _, word := range c.vocabulary() {
		if says, known := term(answers, word); c.ring(word) {
			continue
		} else if says == "yes" || says == "given" || double && !known && slices.Contains(bareStates, mappings.SameWord(word)) {
			yes = append(yes, c.As(word))
		} else if !known && strings.IndexFunc(word, unicode.IsDigit) < 0 {
			unknown = append(unknown, c.As(word))
		}
	}
	days := c.Dates.All() + c.Epochs
	open := l.pending(col)
	if double {
		open = l.notYes(col)
	}
	switch {
	case c.Filled == 0:
	case double && slices.ContainsFunc(c.vocabulary(), negative): // a code
		g.asks = true
		lets(mappings.Condition{In: mappings.Strings{}})
		bars(mappings.Condition{NotIn: mappings.Strings{}})
	case double && waits(c.Header): // a yes says that nobody confirmed
		if len(yes) > 0 && days == 0 {
			lets(mappings.Condition{NotIn: yes})
			bars(mappings.Condition{In: yes})
		} else if days > 0 || len(open) == 0 {
			lets(mappings.Condition{Blank: true})
			bars(mappings.Condition{NotBlank: true})
		} else if len(unknown) > 0 || c.Hidden > 0 {
			g.asks = true
			lets(mappings.Condition{In: mappings.Strings{}})
			bars(mappings.Condition{NotIn: mappings.Strings{}})
		}
	case double && days > 0 && days < c.Filled: // words among the days are none
		lets(mappings.Condition{Matches: "[1-9]"})
		bars(mappings.Condition{NotMatches: "[1-9]"})
	case double && len(yes) > 0:
		if len(open) > 0 || c.Hidden > 0 || c.Filled < l.Rows {
			lets(mappings.Condition{In: yes})
			bars(mappings.Condition{NotIn: slices.Concat(yes, hard)})
		}
	case double && days == 0 && len(unknown) > 0:
		g.asks = true
		lets(mappings.Condition{In: mappings.Strings{}})
		bars(mappings.Condition{NotIn: mappings.Strings{}})
	default: // words that say no, or what was confirmed by or from where
		open = slices.DeleteFunc(open, func(word string) bool { _, known := term(answers, word); return !known })
		if len(open) > 0 {
			lets(mappings.Condition{NotIn: open})
		}
		if soft := slices.DeleteFunc(slices.Clone(open), func(w string) bool { return slices.Contains(hard, w) }); len(soft) > 0 {
			bars(mappings.Condition{In: soft})
		}
		if c.Filled < l.Rows && (double || len(open) > 0 && slices.ContainsFunc(yes, func(word string) bool { return fits("double", plain(word)) > 0 })) {
			lets(mappings.Condition{NotBlank: true})
			bars(mappings.Condition{Blank: true})
		}
	}
	return g, len(g.lets) > 0
}

// question asks for the words of a column of confirmations that no language knows.
func (g *gate) question(column string) string {
	switch {
	case g.unshown > 0:
		return "; " + finding.Count(g.unshown, "row has a word there", "rows have words there") + " that no draft shows, since it may be a value about a person, and no consent until the conditions on " + column + " name it, nor is one where it is blank: sheetlift cells shows " + finding.Word(g.unshown, "it", "them")
	case !g.asks:
		return ""
	}
	return "; which words of " + column + " say that it was confirmed? No list has them: write them after in:, and after not_in: wherever that is empty"
}

// waits reports whether a header of confirmations asks whether one is not there, or not yet.
func waits(header string) bool {
	if mappings.Failing(header) {
		return true
	}
	words := wordsOf(header)
	for i, word := range words {
		if slices.Contains(denying, word) && (i+1 < len(words) || len(word) > len("non")) || slices.ContainsFunc(awaited, func(w string) bool { return strings.HasPrefix(word, w) }) {
			return true
		}
	}
	return false
}

// denying deny what follows them. The last word may be that for a number.
var denying = strings.Fields("not no non nicht noch kein keine pas sans ohne sin senza sem sans nao niet geen zonder without never nie")

// awaited begin words of headers of confirmations that are not there.
var awaited = strings.Fields("unconfirm unbestatig onbevestig unverif unvalid ungepruft pending outstanding awaiting waiting missing lacking ausstehend offen fehlt fehlend wartet attente attend manqu pendient pendent espera falta attesa mancant manca aguard afwachting openstaand ontbreek wacht")

// onlyConfirmed makes the consents of the records depend on a column that says whether they were confirmed. What is no consent counts where nobody
// did all the same.
func (s *suggestion) onlyConfirmed(list []Record, col int, g gate, same func(*Record) bool) (out []Record) {
	for _, r := range list {
		i := slices.IndexFunc(r.Fields, func(f Field) bool { return f.Name == "status" && (len(f.Spec.From) == 1 || f.Spec.Const != nil) })
		if !same(&r) || i < 0 || r.Entity != "consent" {
			out = append(out, r)
			continue
		}
		status := &r.Fields[i]
		given := slices.Clone(status.Spec.Enum["given"])
		if status.Spec.Polarity != "inverted" {
			given = append(given, status.Spec.Enum["yes"]...)
		}
		if len(given) == 0 || slices.ContainsFunc(r.When, func(c mappings.Condition) bool { // rows that say no alone
			return c.Column == status.Spec.From[0] && (c.In != nil || slices.Equal(c.NotIn, given))
		}) {
			out = append(out, r)
			continue
		}
		s.used[col] = true
		when, why := slices.Clone(r.When), slices.Clone(r.Why)
		r.When = append(slices.Clone(when), g.lets...)
		r.Why = append(slices.Clone(why), "unless "+s.look.Say(col)+" says that nobody confirmed"+s.doubtful(col, status)+g.question(s.look.Say(col)))
		out = append(out, r)
		for _, bars := range g.bars {
			unconfirmed := r
			unconfirmed.Why = append(slices.Clone(why), "where "+s.look.Say(col)+" says that nobody confirmed, what is no consent counts all the same")
			unconfirmed.Fields = slices.Clone(r.Fields)
			unconfirmed.When = append(slices.Clone(when), bars, mappings.Condition{Column: status.Spec.From[0], NotIn: given})
			out = append(out, unconfirmed)
		}
	}
	return out
}

// doubtful says of a column of confirmations that speaks of a topic in other words than the answer that it may confirm something else.
func (s *suggestion) doubtful(col int, status *Field) string {
	answer := slices.IndexFunc(s.look.Columns, func(c Column) bool { return slices.Contains(status.Spec.From, s.look.Name(c.Index)) })
	if answer < 0 || len(s.topicBeyond(col, answer)) == 0 {
		return ""
	}
	return ", for by its header it is not sure that this is what it confirms: if it confirms something else, remove its conditions"
}

// confirmations makes consents depend on the columns beside the answers that say whether they were confirmed.
func (s *suggestion) confirmations(list []Record) []Record {
	for col := range s.look.Columns {
		g, ok := s.asksConfirmed(col)
		at, dated := s.at["occurred_at"]
		if !ok || s.used[col] && !(dated && at == col) || slices.Contains(s.answers, col) || slices.Contains(s.left, col) {
			continue
		}
		of := channelOf(plain(s.look.Columns[col].Header))
		list = s.onlyConfirmed(list, col, g, func(r *Record) bool {
			answered := slices.ContainsFunc(s.answers, func(answer int) bool { return s.reads(r, answer) })
			return !answered && concerns(of, r.stated("channel")) ||
				slices.ContainsFunc(s.answers, func(answer int) bool { return s.reads(r, answer) && s.confirmsOf(col, answer, r) })
		})
	}
	return list
}

// reads reports whether the status of a record is read from a column.
func (s *suggestion) reads(r *Record, col int) bool {
	return slices.ContainsFunc(r.Fields, func(f Field) bool { return f.Name == "status" && slices.Contains(f.Spec.From, s.look.Name(col)) })
}

// asksConfirmed finds how a column that is no answer says whether one was confirmed, or in which state it is.
func (s *suggestion) asksConfirmed(col int) (g gate, ok bool) {
	l := s.look
	c := &l.Columns[col]
	header := plain(c.Header)
	double := confirming(c.Header)
	if l.tellsKind(col) && l.optsOut(col) == mappings.NoOptOut {
		name := l.Name(col)
		return gate{asks: true, lets: []mappings.Condition{{Column: name, In: mappings.Strings{}}}, bars: []mappings.Condition{{Column: name, NotIn: mappings.Strings{}}}}, true
	}
	if c.Filled == 0 || c.Emails > 0 || fits("notoccurred", header) > 0 && !double || !double && fits("state", header) == 0 && fits("asks", header) == 0 || l.optsOut(col) != mappings.NoOptOut {
		return g, false
	}
	if !double {
		known := 0
		for word, rows := range c.Words {
			if _, answer := term(answers, word); answer {
				known += rows
			}
		}
		if known*2 < c.Filled && l.ofState(col) && slices.ContainsFunc(c.sortedWords(), inForceNow) && len(l.against(col, false)) == 0 {
			g = s.stateGate(col)
			return g, len(g.lets) > 0
		}
		if known*2 < c.Filled || c.Dates.All() > 0 {
			return g, false
		}
	}
	return l.gate(col, double, nil)
}

// inForceNow reports whether a word says that an answer is in force or was confirmed.
func inForceNow(word string) bool {
	says, _ := term(answers, word)
	return says == "given" || says == "yes" || slices.Contains(bareStates, mappings.SameWord(word))
}

// ofState reports whether a column holds states in words by a header that says no more.
func (l *Look) ofState(col int) bool {
	c := &l.Columns[col]
	return fits("state", plain(c.Header)) > 0 && len(beyondConfirming(c.Header)) == 0 && c.Filled > 0 && c.Dates.All() == 0 && c.Emails == 0 && l.optsOut(col) == mappings.NoOptOut
}

// statesLeft names the columns of states that no consent depends on, in words that no list knows: one of them may say that somebody must not be written to.
func (s *suggestion) statesLeft() (list []string) {
	if len(s.answers) == 0 {
		return nil // then it is asked whether they are the answers
	}
	for col := range s.look.Columns {
		if s.used[col] || s.entity != "consent" || !s.look.ofState(col) || len(s.look.opposing(col)) > 0 { // that is said already
			continue
		}
		unknown := s.look.Columns[col].Filled
		for word, rows := range s.look.Columns[col].Words {
			if says, known := term(answers, word); known && says != "" {
				unknown -= rows
			}
		}
		if unknown > 0 {
			list = append(list, "Attention: "+s.look.Say(col)+" holds states by its header, of which "+finding.Count(unknown, "row has one", "rows have ones")+" that no list knows, and no consent depends on it: if one says that somebody left, is barred or waits, add to the records of the consents a condition on this column, such as not_in: [words]; sheetlift cells shows them.")
		}
	}
	return list
}

// unheeded names the columns of confirmations that no consent depends on, as far as they tell rows apart.
func (s *suggestion) unheeded() (list []string) {
	for col := range s.look.Columns {
		c := &s.look.Columns[col]
		if s.used[col] || !confirming(c.Header) || s.look.optsOut(col) != mappings.NoOptOut {
			continue
		}
		if _, ok := s.look.gate(col, true, nil); ok {
			list = append(list, "Attention: "+s.look.Say(col)+" says by its header whether something was confirmed, and no consent depends on it: if one does, add to its record a condition on this column that holds where it was confirmed, as when: { column: …, in: [ja] }.")
		}
	}
	return list
}

// notYes lists the words of a column that say anything but yes.
func (l *Look) notYes(col int) (list mappings.Strings) {
	c := &l.Columns[col]
	for _, word := range c.vocabulary() {
		if says, _ := term(answers, word); says != "yes" && says != "given" || c.ring(word) {
			list = append(list, c.As(word))
		}
	}
	return list
}

// pending lists the words of a column by which an answer waits to be confirmed.
func (l *Look) pending(col int) (list mappings.Strings) {
	c := &l.Columns[col]
	for _, word := range c.vocabulary() {
		if slices.Contains(waiting, mappings.SameWord(word)) {
			list = append(list, c.As(word))
		}
	}
	return list
}
