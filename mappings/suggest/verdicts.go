package suggest

import (
	"slices"
	"strings"

	"sheetlift/mappings"
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
	for i := range list {
		col := s.answers[i]
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
			if same(j) && !slices.Contains(confirming, j) {
				first, again = min(first, j), true
			}
		}
		no := s.look.against(col, s.look.optout(col))
		if !again {
			out = append(out, list[i])
			continue
		}
		pending := s.look.pending(col)
		if len(pending) > 0 {
			out = s.onlyConfirmed(out, col, pending, func(r *Record) bool { return about(r) == about(&list[first]) })
		}
		if len(no) == 0 {
			if len(pending) == 0 {
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
	for _, i := range confirming {
		out = s.confirmed(out, s.answers[i], &list[i], func(r *Record) bool {
			return about(r) == about(&list[i]) || slices.ContainsFunc(s.answers, func(other int) bool {
				return slices.ContainsFunc(r.Fields, func(f Field) bool {
					return f.Name == "status" && slices.Contains(f.Spec.From, s.look.Name(other)) && s.confirmsOf(s.answers[i], other, r)
				})
			})
		})
	}
	return out
}

// confirms reports whether a column only says whether an answer was confirmed: a no there is none.
func (s *suggestion) confirms(col int) bool { return confirming(plain(s.look.Columns[col].Header)) }

// confirmsOf reports whether a column of confirmations speaks of an answer: of its channel or of none, and of nothing else that the answer is not
// asked for.
func (s *suggestion) confirmsOf(col, answer int, r *Record) bool {
	of := channelOf(plain(s.look.Columns[col].Header))
	return (of == "" || slices.Contains([]string{"", "any", of}, r.stated("channel"))) &&
		!slices.ContainsFunc(beyondConfirming(s.look.Columns[col].Header), func(word string) bool {
			return !strings.Contains(plain(s.look.Columns[answer].Header), word)
		})
}

// confirming reports whether a header asks whether an answer was confirmed. Orders and payments are as well, and a mail that was sent is not yet.
func confirming(header string) bool {
	return fits("double", header) > 0 && fits("expires_at", header) == 0 && !holds(header, elseConfirmed)
}

// elseConfirmed are pieces of headers of confirmations of something else.
var elseConfirmed = strings.Fields("order bestell auftrag buchung booking reserv payment zahlung paiement pagamento betaling invoice rechnung factur fattur liefer delivery livraison termin appointment ident alters ageverif agevalid agecheck ageconfirm edad leeftijd " +
	"sent gesendet versendet versandt verschickt envoye enviad inviat verzonden verstuurd gestuurd")

// beyondConfirming are the words of a header by which it asks something else than whether an answer was confirmed.
func beyondConfirming(header string) (list []string) {
	for _, word := range wordsOf(header) {
		if !holds(word, consenting) && !holds(word, joining) && !slices.Contains(dayWords, word) && !slices.Contains(confirmingWords, word) &&
			fits("double", word) == 0 && fits("email", word) == 0 && fits("state", word) == 0 && channelOf(word) == "" && strings.Trim(word, "0123456789") != "" {
			list = append(list, word)
		}
	}
	return list
}

// joining are pieces of words for what people join, which say no more than that they answered.
var joining = strings.Fields("subscri abonn suscri iscri inscri anmeld angemeldet aanmeld newsletter nieuwsbrief infolettre boletin mailing")

// confirmingWords stand in headers of confirmations, and ask nothing.
var confirmingWords = strings.Fields("doi doppel doppeltes doppelte doble doppio doppia duplo dupla dubbele dubbel opt in optin ins user nutzer contact kontakt subscriber adresse address is ist est es e was wurde yes no ja nein oui non si sim nao nee y n j o s true false")

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
	open := s.look.notYes(col)
	if len(open) == 0 && !s.look.onlyYes(col) {
		delete(s.used, col) // it can't say more than the first
		return list
	}
	out = s.onlyConfirmed(list, col, open, same, hard...)
	if len(hard) > 0 {
		own.When = []mappings.Condition{{Column: s.look.Name(col), In: hard}}
		own.Why = append(own.Why, "a no counts wherever it stands")
		out = append(out, *own)
	}
	return out
}

// onlyConfirmed makes the consents of the records depend on a column that says whether they were confirmed: where it holds one of the open words,
// nobody did. What is no consent counts there all the same, unless it has a record of its own by one of the hard words.
func (s *suggestion) onlyConfirmed(list []Record, col int, open mappings.Strings, same func(*Record) bool, hard ...string) (out []Record) {
	name := s.look.Name(col)
	soft := slices.DeleteFunc(slices.Clone(open), func(w string) bool { return slices.Contains(hard, w) })
	lets, bars := mappings.Condition{Column: name, NotIn: open}, mappings.Condition{Column: name, In: soft}
	switch c := &s.look.Columns[col]; {
	case c.Dates.All() > 0, s.look.onlyYes(col):
		lets, bars = mappings.Condition{Column: name, NotBlank: true}, mappings.Condition{Column: name, Blank: true}
		soft = mappings.Strings{""}
	case c.Hidden > 0: // words that no draft shows are no yes
		lets = mappings.Condition{Column: name, In: s.look.yes(col)}
		bars = mappings.Condition{Column: name, NotIn: slices.Concat(lets.In, hard)}
		soft = mappings.Strings{""}
	}
	s.used[col] = true
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
		when := slices.Clone(r.When)
		unconfirmed := r
		unconfirmed.Why = append(slices.Clone(r.Why), "where "+s.look.Say(col)+" says that nobody confirmed, what is no consent counts all the same")
		r.When = append(slices.Clone(when), lets)
		r.Why = append(slices.Clone(r.Why), "unless "+s.look.Say(col)+" says that nobody confirmed")
		if out = append(out, r); len(soft) > 0 {
			unconfirmed.Fields = slices.Clone(r.Fields)
			unconfirmed.When = append(when, bars, mappings.Condition{Column: status.Spec.From[0], NotIn: given})
			out = append(out, unconfirmed)
		}
	}
	return out
}

// confirmations makes consents depend on the columns beside the answers that say whether they were confirmed.
func (s *suggestion) confirmations(list []Record) []Record {
	for col := range s.look.Columns {
		open, ok := s.look.asksConfirmed(col)
		at, dated := s.at["occurred_at"]
		if !ok || s.used[col] && !(dated && at == col) || slices.Contains(s.answers, col) || slices.Contains(s.left, col) {
			continue
		}
		of := channelOf(plain(s.look.Columns[col].Header))
		list = s.onlyConfirmed(list, col, open, func(r *Record) bool {
			return of == "" || slices.Contains([]string{"", "any", of}, r.stated("channel"))
		})
	}
	return list
}

// asksConfirmed reports whether a column that is no answer says whether one was confirmed, and lists its words by which it was not.
func (l *Look) asksConfirmed(col int) (open mappings.Strings, ok bool) {
	c := &l.Columns[col]
	header := plain(c.Header)
	double := confirming(header)
	if c.Filled == 0 || c.Emails > 0 || fits("notoccurred", header) > 0 || !double && fits("state", header) == 0 && fits("asks", header) == 0 || l.optsOut(col) != mappings.NoOptOut {
		return nil, false
	}
	if c.Dates.All() > 0 { // a day on which it was confirmed; who has none did not
		return nil, double && c.Dates.All()*2 > c.Filled && c.Filled < l.Rows
	}
	known := 0
	for word, rows := range c.Words {
		if _, answer := term(answers, word); answer {
			known += rows
		}
	}
	if known*2 < c.Filled {
		return nil, false
	}
	if open = l.notYes(col); !double {
		open = l.pending(col)
	}
	return open, len(open) > 0 || double && (c.Hidden > 0 || l.onlyYes(col))
}

// onlyYes reports whether a column says yes in some rows and nothing in the others: who has nothing did not confirm.
func (l *Look) onlyYes(col int) bool {
	c := &l.Columns[col]
	return c.Hidden == 0 && c.Filled > 0 && c.Filled < l.Rows && len(c.Words) > 0 && len(l.notYes(col)) == 0
}

// notYes lists the words of a column that say anything but yes.
func (l *Look) notYes(col int) (list mappings.Strings) {
	c := &l.Columns[col]
	for _, word := range c.vocabulary() {
		if says, _ := term(answers, word); says != "yes" && says != "given" {
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
