package suggest

import (
	"slices"
	"strings"

	"sheetlift/importers"
	"sheetlift/mappings"
)

// consents drafts one record for each column that answers about consent, and one for the days on which people left: who left has
// withdrawn, whatever the other columns still say.
func (s *suggestion) consents() {
	s.topics()
	s.byName()
	s.device()
	state, beside, asked := s.unansweredStates()
	var list, dead []Record
	for _, col := range s.answers {
		r := s.answer(col)
		dead = append(dead, s.undeliverable(col, &r)...)
		list = append(list, r)
	}
	s.undated(list)
	s.ownPurposes(list)
	list = s.oneVerdict(list)
	switch col, named := s.at["lawful_basis"]; {
	case asked:
		r := s.whichAnswer(state, beside)
		dead = append(dead, s.undeliverable(state, &r)...)
		list = append(list, r)
	case len(s.answers) == 0:
		list = append(list, s.daysOrWords(s.joined())...)
	case named && !slices.ContainsFunc(s.answers, func(col int) bool { return s.look.optsOut(col) == mappings.NoOptOut }): // nothing but the basis says who consented
		if r := s.byBasis(col); !s.look.noConsent(col) {
			for _, col := range s.answers {
				if yes := s.look.against(col, true); len(yes) > 0 {
					r.When = append(r.When, mappings.Condition{Column: s.look.Name(col), NotIn: yes})
					r.Why = append(r.Why, "unless "+s.look.Say(col)+" says no")
				}
			}
			list = append(list, r)
		}
	}
	list = s.confirmations(list)
	s.whichChannels(list)
	for _, col := range slices.Concat(s.left, s.ended) {
		s.used[col] = true
		for i := range list {
			if of := channelOf(plain(s.look.Columns[col].Header)); of != "" && !slices.Contains([]string{"", "any", of}, list[i].stated("channel")) {
				continue // it says nothing of this channel
			}
			list[i].When = append(list[i].When, mappings.Condition{Column: s.look.Name(col), Blank: true})
			list[i].Why = append(list[i].Why, "who has a day in "+s.look.Say(col)+" left, and has a record of that instead")
		}
	}
	tellApart(list)
	var left []Record
	for _, col := range slices.Concat(s.left, s.ended) {
		left = append(left, s.leaving(col))
	}
	tellApart(left)
	list = slices.Concat(list, left, dead, s.reasons(), s.flags())
	reasonsApart(list)
	for i := range list {
		s.everyNumber(&list[i])
		order(&list[i])
	}
	s.draft.Records = append(s.draft.Records, list...)
}

// undated gives a column of days back that no answer is dated by, so that the draft names it.
func (s *suggestion) undated(list []Record) {
	at, ok := s.at["occurred_at"]
	if ok && len(list) > 0 && !slices.ContainsFunc(list, func(r Record) bool {
		return slices.ContainsFunc(r.Fields, func(f Field) bool { return f.Name == "occurred_at" && slices.Contains(f.Spec.From, s.look.Name(at)) })
	}) {
		delete(s.used, at)
	}
}

// stated is the value that a record has for a field in every row; "" if it has none.
func (r *Record) stated(name string) string {
	for i := range r.Fields {
		if f := &r.Fields[i]; f.Name == name && f.Spec.Const != nil {
			return *f.Spec.Const
		}
	}
	return ""
}

// topics takes a column whose words are codes or names of the list of purposes for that of the purpose.
func (s *suggestion) topics() {
	if _, named := s.at["purpose"]; named {
		return
	}
	for col := range s.look.Columns {
		c := &s.look.Columns[col]
		header := plain(c.Header)
		known := s.ctx.purposesIn(c)
		channel, taken := s.at["channel"]
		if taken = taken && channel == col; (taken || !s.used[col]) && !slices.Contains(s.answers, col) && known > 0 && (known*2 > c.Filled || fits("topic", header) > 0) {
			if taken { // by a word that is a purpose here
				delete(s.at, "channel")
			}
			s.at["purpose"] = col
			s.used[col] = true
			return
		}
	}
}

// byName takes the columns of answers whose headers are codes or names of the list of purposes for answers.
func (s *suggestion) byName() {
	for col := range s.look.Columns {
		if !s.used[col] && !slices.Contains(s.answers, col) && s.look.yesOrNo(col) && flagOf(plain(s.look.Columns[col].Header)) == "" && slices.ContainsFunc(s.ctx.Purposes, func(p Purpose) bool {
			header := plain(s.look.Columns[col].Header)
			return header != "" && (header == plain(p.Code) || header == plain(p.Name))
		}) {
			s.answers = append(s.answers, col)
		}
	}
	slices.Sort(s.answers)
}

// device takes the id of an entry for that of a device where nothing else says who is meant: a log of a web site knows no persons.
func (s *suggestion) device() {
	if col, ok := s.at["external_id"]; ok && !s.contact && !s.id {
		delete(s.at, "external_id")
		s.at["device_id"] = col
	}
}

// answer drafts the record of one column that answers.
func (s *suggestion) answer(col int) Record {
	status, when := s.status(col)
	s.used[col] = true
	header := s.look.Columns[col].Header
	general, dated := s.at["occurred_at"]
	if own, other := s.dayOf(col); own >= 0 {
		s.at["occurred_at"] = own
		s.used[own] = true
	} else if other {
		delete(s.at, "occurred_at")
	}
	undated := ""
	if at, ok := s.at["occurred_at"]; ok && s.look.joined(at) && s.notGiven(col, &status) {
		delete(s.at, "occurred_at")
		undated = s.look.Say(at) + " has the day of a consent by its header, which is not that of a withdrawal"
	}
	lists, listed := s.at["purpose"]
	if listed && len(s.answers) > 1 && asksElse(header) { // the lists are those of mailings
		delete(s.at, "purpose")
	}
	channels, mapped := s.at["channel"]
	if mapped && len(s.answers) > 1 && channelOf(plain(header)) != "" { // each has its own
		delete(s.at, "channel")
		delete(s.used, channels)
	}
	r := s.record(&status, header)
	r.Why = append(r.Why, "the answers of "+s.look.Say(col))
	if undated != "" {
		r.Why = append(r.Why, undated)
	}
	r.When = when
	if fits("category", plain(header)) > 0 {
		r.about = header // a purpose of its own, whichever that is
	}
	if against := status.Spec.Polarity == "inverted" || s.onlyAgainst(&status) && (len(s.answers) == 1 || s.general(col)) || len(status.Spec.Enum) == 0 && s.look.optout(col); against {
		s.anyBasis(&r)
		if _, named := s.at["purpose"]; !named {
			s.everyPurpose(&r)
		}
	}
	s.channel(&r, header, len(s.answers) > 1)
	if mapped {
		if _, there := s.at["channel"]; there {
			s.used[channels] = true
		}
		s.at["channel"] = channels
	}
	s.joinedOn(&r, &status)
	if listed {
		s.at["purpose"] = lists
	}
	if delete(s.at, "occurred_at"); dated {
		s.at["occurred_at"] = general
	}
	return r
}

// dayOf finds the column of days that belongs to one of several answers by its header, and whether the general one is that of another.
func (s *suggestion) dayOf(answer int) (own int, other bool) {
	if len(s.answers) < 2 {
		return -1, false
	}
	belongs := func(day, answer int) bool {
		d, a := plain(s.look.Columns[day].Header), plain(s.look.Columns[answer].Header)
		return strings.Contains(d, a) || channelOf(d) != "" && channelOf(d) == channelOf(a)
	}
	for col := range s.look.Columns {
		c := &s.look.Columns[col]
		if c.Dates.All() > 0 && !slices.Contains(s.left, col) && fits("notoccurred", plain(c.Header)) == 0 && belongs(col, answer) &&
			!(s.look.optsOut(answer) != mappings.NoOptOut && s.look.joined(col)) && !(s.look.optsOut(answer) == mappings.NoOptOut && s.look.optsOut(col) != mappings.NoOptOut) { // the day of an opt-out is that of no consent
			return col, false
		}
	}
	general, ok := s.at["occurred_at"]
	return -1, ok && slices.ContainsFunc(s.answers, func(o int) bool { return o != answer && belongs(general, o) })
}

// joined reports whether a column has the days of consents by its header.
func (l *Look) joined(col int) bool {
	header := plain(l.Columns[col].Header)
	return l.optsOut(col) == mappings.NoOptOut && (fits("joined", header) > 0 || fits("consented", header) > 0)
}

// notGiven reports whether an answer can only speak against consent, or asks for an opt-out.
func (s *suggestion) notGiven(col int, status *Field) bool {
	enum := status.Spec.Enum
	return s.look.optsOut(col) != mappings.NoOptOut || status.Spec.Polarity == "inverted" || len(enum["withdrawn"]) > 0 && len(enum["given"]) == 0 && len(enum["yes"]) == 0
}

// joinedOn keeps the day on which somebody joined from being that of a withdrawal.
func (s *suggestion) joinedOn(r *Record, status *Field) {
	at, ok := s.at["occurred_at"]
	yes := append(slices.Clone(status.Spec.Enum["given"]), status.Spec.Enum["yes"]...)
	others := false
	for term := range status.Spec.Enum {
		others = others || term != "given" && term != "yes"
	}
	joined := ok && (fits("joined", plain(s.look.Columns[at].Header)) > 0 || !r.History && len(status.Spec.Enum["withdrawn"]) > 0 && s.look.joined(at))
	if !joined || !others || len(yes) == 0 || status.Spec.Polarity == "inverted" {
		return
	}
	for i := range r.Fields {
		if f := &r.Fields[i]; f.Name == "occurred_at" {
			f.Spec.When = mappings.Conditions{{Column: status.Spec.From[0], In: yes}}
			f.why("by its header the day on which somebody joined, which is not that of a withdrawal")
		}
	}
}

// ofContact are reasons that words beside the answers give not to use a contact point.
var ofContact = []string{"objection", "complaint", "bounce", "invalid"}

// ofContact reports whether a word beside the answers gives a reason not to use a contact point, which has a record of its own.
func (s *suggestion) ofContact(word string) bool {
	reason, ok := meaning("reason", word)
	ok = ok && shown("reason", word)
	_, email := s.at["email"]
	return ok && email && slices.Contains(ofContact, reason)
}

// undeliverable drafts suppressions for the words of a status that say something of the address and nothing of the person: a bounce is no
// withdrawal.
func (s *suggestion) undeliverable(col int, r *Record) (list []Record) {
	c := &s.look.Columns[col]
	by := map[string]mappings.Strings{}
	var all mappings.Strings
	for _, word := range c.sortedWords() {
		if _, answer := term(answers, word); answer {
			continue
		}
		if reason, ok := meaning("reason", word); ok && shown("reason", word) && slices.Contains(ofContact, reason) {
			by[reason] = append(by[reason], c.As(word))
			all = append(all, c.As(word))
		}
	}
	email, ok := s.at["email"]
	if len(all) == 0 || !ok {
		return nil
	}
	r.When = append(r.When, mappings.Condition{Column: s.look.Name(col), NotIn: all})
	for _, reason := range ofContact {
		if len(by[reason]) == 0 {
			continue
		}
		out := Record{Entity: "suppression", Confirm: true, Key: []string{"email", "channel"}, When: []mappings.Condition{{Column: s.look.Name(col), In: by[reason]}},
			Why: []string{"in " + s.look.Say(col) + " these words speak of the address, and are no answer of the person"}}
		for _, f := range []Field{{Name: "channel"}, {Name: "reason"}} {
			value := map[string]string{"channel": "email", "reason": reason}[f.Name]
			f.Confirm = true
			s.ctx.State(&f, "suppression", value)
			out.Fields = append(out.Fields, f)
		}
		e := importers.ByName("suppression")
		out.Fields = append(out.Fields, s.field(&e.Fields[e.Field("email")], email))
		list = append(list, out)
	}
	return list
}

// general reports whether a header asks no question of its own: a status, or an opt-out.
func (s *suggestion) general(col int) bool {
	header := plain(s.look.Columns[col].Header)
	return s.look.optout(col) || slices.Contains(states, header) || s.confirms(col) && len(beyondConfirming(s.look.Columns[col].Header)) == 0 || fits("asks", header) == 0 && fits("category", header) == 0
}

// states are headers of states of the answer beside them, which ask nothing else.
var states = strings.Fields("doubleoptin doubleoptinstatus doppeloptin doppeloptinstatus doistatus doubleoptinconfirmed optinstatus optinconfirmed optinbestatigt subscriptionstatus subscriberstatus")

// ownPurposes asks for the purpose of an answer whose header is another question than that of an answer with the same one.
func (s *suggestion) ownPurposes(list []Record) {
	purpose := func(r *Record) *Field {
		for i := range r.Fields {
			if r.Fields[i].Name == "purpose" && r.Fields[i].Spec.Const != nil {
				return &r.Fields[i]
			}
		}
		return nil
	}
	channel := func(i int) string { return channelOf(plain(s.look.Columns[s.answers[i]].Header)) }
	for i := range list {
		f := purpose(&list[i])
		if f == nil || s.general(s.answers[i]) {
			continue
		}
		for j := range list {
			o := purpose(&list[j])
			if j == i || o == nil || s.confirms(s.answers[j]) && !s.confirms(s.answers[i]) || *o.Spec.Const != *f.Spec.Const || channel(i) != channel(j) || s.general(s.answers[j]) {
				continue
			}
			named := func(k int) bool { return holds(plain(s.look.Columns[s.answers[k]].Header), Marketing) }
			if named(i) && (!named(j) || i < j) {
				continue // this one is likelier to be meant
			}
			f.Spec.Const = nil
			f.Why = []string{"the header asks another question than " + s.look.Say(s.answers[j]) + ", so it hardly has the same purpose"}
			f.ask("const", "which purpose? "+s.ctx.codes()+". If it is none of them, add it to the list of purposes")
			list[i].about = s.look.Columns[s.answers[i]].Header
			break
		}
	}
}

// onlyAgainst reports whether no word of a status is a consent: the sheet is a list of people who left.
func (s *suggestion) onlyAgainst(f *Field) bool {
	return len(f.Spec.Enum) > 0 && f.Spec.Enum["given"] == nil && f.Spec.Enum["yes"] == nil && f.Spec.Enum["no"] == nil
}

// everyPurpose takes a stated purpose away: it would narrow the record to it, and nothing in the row says so.
func (s *suggestion) everyPurpose(r *Record) {
	r.Fields = slices.DeleteFunc(r.Fields, func(f Field) bool { return f.Name == "purpose" })
	r.Why = append(r.Why, "what speaks against consent and names no purpose covers every purpose")
}

// everyNumber asks for the country of the telephone numbers of a record that may say no of them: a number left out would leave the consents on it
// given.
func (s *suggestion) everyNumber(r *Record) {
	at, ok := s.at["phone"]
	if !ok || !s.maySayNo(r) {
		return
	}
	for i := range r.Fields {
		if f := &r.Fields[i]; f.Name == "phone" && f.Spec.When != nil {
			c := &s.look.Columns[at]
			f.Spec.When = nil
			f.Why = []string{s.counts(at), "a no counts on the number too, so none is left out"}
			f.ask("region", nationalNumbers(c.Filled-c.Phones))
		}
	}
}

// maySayNo reports whether a record is that of an opt-out, or may refuse on a channel that goes by numbers.
func (s *suggestion) maySayNo(r *Record) bool {
	status := slices.IndexFunc(r.Fields, func(f Field) bool { return f.Name == "status" })
	if r.Entity != "consent" || status < 0 {
		return false
	}
	spec := &r.Fields[status].Spec
	if spec.Const != nil {
		return *spec.Const != importers.StatusGiven
	}
	for col := range s.look.Columns {
		if slices.Contains(spec.From, s.look.Name(col)) && s.look.optsOut(col) != mappings.NoOptOut {
			return true
		}
	}
	against := len(spec.Enum["refused"])+len(spec.Enum["withdrawn"])+len(spec.Enum["no"]) > 0
	return against && !slices.Contains([]string{"email", "post", "push"}, r.stated("channel"))
}

// anyBasis takes the lawful basis out of what speaks against consent: an opt-out counts whatever the rest of the row rests on, and a row on
// another basis is no consent and would be skipped with it.
func (s *suggestion) anyBasis(r *Record) {
	n := len(r.Fields)
	if r.Fields = slices.DeleteFunc(r.Fields, func(f Field) bool { return f.Name == "lawful_basis" }); len(r.Fields) < n {
		r.Why = append(r.Why, "an opt-out counts on whatever lawful basis the row rests")
	}
}

func (r *Record) field(name string) *Field {
	for i := range r.Fields {
		if r.Fields[i].Name == name {
			return &r.Fields[i]
		}
	}
	return nil
}

// mayGive reports whether a record has rows that are consents.
func (r *Record) mayGive() bool {
	status := r.field("status")
	if r.Entity != "consent" || status == nil {
		return false
	}
	given := status.gives()
	if status.Spec.Const != nil {
		return *status.Spec.Const == importers.StatusGiven
	}
	return (len(given) > 0 || len(status.Asks) > 0) && !slices.ContainsFunc(r.When, func(c mappings.Condition) bool {
		return len(given) > 0 && slices.Contains(status.Spec.From, c.Column) && (c.In != nil && !slices.ContainsFunc(c.In, func(word string) bool { return slices.Contains(given, word) }) || slices.Equal(c.NotIn, given))
	})
}

// gives lists the words by which a status is a consent.
func (f *Field) gives() mappings.Strings {
	given := slices.Clone(f.Spec.Enum["given"])
	if f.Spec.Polarity != "inverted" {
		given = append(given, f.Spec.Enum["yes"]...)
	}
	return given
}

// joined drafts a list of people that has no column that answers: only a person knows whether all of them consented.
func (s *suggestion) joined() Record {
	if col, ok := s.at["lawful_basis"]; ok {
		return s.byBasis(col)
	}
	status := Field{Name: "status", Confirm: true, Spec: mappings.FieldSpec{StatedBy: &mappings.StatedBy{Name: s.ctx.By.Name, At: s.ctx.By.At}}}
	status.why("no column says whether these people consented")
	ask := "given, if everybody in this sheet said yes; withdrawn or refused, if everybody said no. If it is neither, remove this record"
	if list := s.states(); len(list) > 0 {
		ask += ". " + strings.Join(list, ", ") + " may tell for each row: then read the status from there instead, from: with enum:"
	}
	status.ask("const", ask)
	r := s.record(&status, s.look.File, s.look.Sheet)
	if at, ok := s.at["occurred_at"]; ok && s.look.Columns[at].Filled < s.look.Rows {
		if _, consent := dayOf(s.look.Columns[at].Header); consent && !confirming(s.look.Columns[at].Header) {
			r.When = append(r.When, mappings.Condition{Column: s.look.Name(at), NotBlank: true})
			r.Why = append(r.Why, "a row without a day in "+s.look.Say(at)+" does not say that anybody consented")
		}
	}
	for col := range s.look.Columns {
		if g, ok := s.look.gate(col, true, nil); ok && confirming(s.look.Columns[col].Header) {
			r.When = append(r.When, g.lets...)
			r.Why = append(r.Why, "where "+s.look.Say(col)+" does not say that it was confirmed, nobody did, which is no answer"+g.question(s.look.Say(col)))
			s.used[col] = true
		}
	}
	return r
}

// daysOrWords reads a column that has the day of a consent in some rows and words in others, such as a no: the rows with a day are those of the list.
func (s *suggestion) daysOrWords(r Record) []Record {
	for col := range s.look.Columns {
		c := &s.look.Columns[col]
		_, consent := dayOf(c.Header)
		at, dated := s.at["occurred_at"]
		if !consent || s.used[col] && !(dated && at == col) || s.look.optsOut(col) != mappings.NoOptOut || c.Dates.All() == 0 || c.Dates.All() >= c.Filled {
			continue
		}
		name := s.look.Name(col)
		s.used[col] = true
		r.When = slices.DeleteFunc(slices.Clone(r.When), func(c mappings.Condition) bool { return c.NotBlank && c.Column == name })
		words := r
		words.Fields = slices.DeleteFunc(slices.Clone(r.Fields), func(f Field) bool { return f.Name == "occurred_at" || f.Name == "status" })
		words.When = append(slices.Clone(r.When), mappings.Condition{Column: name, NotBlank: true}, mappings.Condition{Column: name, NotMatches: "[0-9]"})
		words.Why = append(slices.Clone(r.Why), "where "+s.look.Say(col)+" has a word and no day, the word answers")
		status := Field{Name: "status", Confirm: true, Spec: mappings.FieldSpec{From: mappings.Columns{name}}}
		if len(c.Words) > 0 {
			s.enum(&status, col, answers)
			status.Why = []string{s.counts(col)} // the days are no words
		} else {
			status.ask("enum", "which words stand there beside the days? Map them, as refused: [words]")
		}
		if status.Spec.Enum["yes"] != nil || status.Spec.Enum["no"] != nil {
			status.Spec.Polarity = "normal"
		}
		words.Fields = append(words.Fields, status)
		r.When = append(slices.Clone(r.When), mappings.Condition{Column: name, Matches: "[0-9]"})
		r.Why = append(slices.Clone(r.Why), "only rows with a day in "+s.look.Say(col))
		if !dated {
			e := importers.ByName("consent")
			r.Fields = append(slices.Clone(r.Fields), s.field(&e.Fields[e.Field("occurred_at")], col))
		}
		return []Record{r, words}
	}
	return []Record{r}
}

// states names the columns that no field is read from and that may hold a state of each row.
func (s *suggestion) states() (list []string) {
	for col := range s.look.Columns {
		c := &s.look.Columns[col]
		if header := plain(c.Header); !s.used[col] && c.Filled > 0 && c.Dates.All() == 0 && (max(fits("state", header), fits("progress", header)) > 0 || len(s.look.opposing(col)) > 0) {
			list = append(list, s.look.Say(col))
		}
	}
	return list
}

// byBasis drafts a list that says on which basis each person is written to: consent, or something that is none.
func (s *suggestion) byBasis(col int) Record {
	c := &s.look.Columns[col]
	status := Field{Name: "status", Confirm: true, Spec: mappings.FieldSpec{From: mappings.Columns{s.look.Name(col)}, Enum: map[string]mappings.Strings{}}}
	status.why(s.counts(col))
	status.why("only a basis that is consent is one; other bases are no consent, and such rows are skipped")
	several, hidden := status.severalBases(c), c.Hidden
	for _, word := range c.vocabulary() {
		ones := []string{c.As(word)}
		if several {
			ones = basesIn(c.As(word))
		}
		for _, one := range ones {
			if slices.Contains(status.Spec.Enum["given"], one) || slices.Contains(status.Spec.NullTokens, one) {
				continue
			}
			switch basis, ok := meaning("lawful_basis", one); {
			case ok && !shown("lawful_basis", one):
				hidden += c.Words[word]
			case ok && basis == "consent":
				status.Spec.Enum["given"] = append(status.Spec.Enum["given"], one)
			case ok, saysNothing(one) && !saysYes(one):
				status.Spec.NullTokens = append(status.Spec.NullTokens, one)
			}
		}
	}
	status.hidden(hidden)
	if len(status.Spec.Enum) == 0 {
		status.Spec.Enum = nil
		status.ask("enum", "none of its words is known as consent: map them, as given: [words]")
	}
	return s.record(&status, s.look.File, s.look.Sheet)
}

// noConsent reports whether each word of a column is a lawful basis other than consent.
func (l *Look) noConsent(col int) bool {
	c := &l.Columns[col]
	return c.Hidden == 0 && len(c.Words) > 0 && !slices.ContainsFunc(c.vocabulary(), func(word string) bool {
		return slices.ContainsFunc(basesIn(word), func(one string) bool {
			basis, ok := meaning("lawful_basis", one)
			if says, silent := term(answers, one); silent && says == "" {
				return false
			}
			return !ok || basis == "consent"
		})
	})
}

// leaving drafts the withdrawals of a column of days on which people left.
func (s *suggestion) leaving(col int) Record {
	status := Field{Name: "status", Confirm: true}
	if s.ctx.State(&status, "consent", "withdrawn"); slices.Contains(s.ended, col) {
		status.Spec.Const = nil
		status.ask("const", "withdrawn, if a day in "+s.look.Say(col)+" says that somebody left. If it is that of something else, remove this record, and the conditions on that column above")
	}
	status.why("the day on which somebody left stands in " + s.look.Say(col))
	before, dated := s.at["occurred_at"]
	s.at["occurred_at"] = col
	r := s.record(&status, "")
	if delete(s.at, "occurred_at"); dated {
		s.at["occurred_at"] = before
	}
	r.When = []mappings.Condition{{Column: s.look.Name(col), NotBlank: true}}
	r.Why = []string{s.look.Say(col) + " says when somebody left"}
	if _, named := s.at["purpose"]; !named {
		s.everyPurpose(&r)
	}
	s.anyBasis(&r)
	s.channel(&r, s.look.Columns[col].Header, len(s.answers) > 1)
	return r
}

// order puts the fields of a record into the entity's order.
func order(r *Record) {
	e := importers.ByName(r.Entity)
	slices.SortStableFunc(r.Fields, func(a, b Field) int { return e.Field(a.Name) - e.Field(b.Name) })
}
