package suggest

import (
	"slices"
	"strings"

	"sheetlift/mappings"
	"sheetlift/pipeline/finding"
)

// bareStates are words that say of an answer that it is in force or was confirmed, and not what it was.
var bareStates = sameWords("active|confirmed|verified|validated|activated|approved|aktiv|bestätigt|verifiziert|validiert|aktiviert|geprüft|freigeschaltet|actif|active|confirmé|confirmée|vérifié|vérifiée|validé|validée|activo|activa|alta|dado de alta|dada de alta|confirmado|confirmada|verificado|verificada|validado|activado|" +
	"attivo|attiva|confermato|confermata|verificato|verificata|convalidato|attivato|ativo|ativa|ativado|actief|bevestigd|geverifieerd|gevalideerd|geactiveerd")

// confirmedStates are those of them that speak of a confirmation alone.
var confirmedStates = slices.DeleteFunc(slices.Clone(bareStates), func(word string) bool {
	return slices.ContainsFunc([]string{"act", "akt", "att", "ati"}, func(of string) bool { return strings.HasPrefix(word, of) })
})

// isState reports whether a column is one of states by its header, and whether all its words for a consent are bare ones, or only such of a confirmation.
func (s *suggestion) isState(col int) (state, bare, confirmed bool) {
	c := &s.look.Columns[col]
	if s.confirms(col) || s.look.optsOut(col) != mappings.NoOptOut || fits("state", plain(c.Header)) == 0 && !s.general(col) {
		return false, false, false
	}
	bare, confirmed = true, true
	yes := s.look.yes(col)
	for _, word := range yes {
		says, _ := term(answers, word)
		if header := plain(c.Header); says == "yes" && (fits("state", header) < 100 || fits("asks", header) > 0) {
			return false, false, false // an answer
		}
		bare = bare && slices.Contains(bareStates, mappings.SameWord(word))
		confirmed = confirmed && slices.Contains(confirmedStates, mappings.SameWord(word))
	}
	return len(yes) > 0, bare, confirmed
}

// stateOf finds how a column of states bars the answers beside it; ok is false if it is an answer of its own. Who answered no stays so, whatever state the
// answer is in.
func (s *suggestion) stateOf(col int, list []Record) (g gate, ok bool) {
	state, bare, _ := s.isState(col)
	if !state {
		return g, false
	}
	of := channelOf(plain(s.look.Columns[col].Header))
	if !bare && (of != "" || fits("state", plain(s.look.Columns[col].Header)) == 0) {
		return g, false
	}
	for i, other := range s.answers {
		if other == col || s.confirms(other) || s.look.optsOut(other) != mappings.NoOptOut || !concerns(of, list[i].stated("channel")) {
			continue
		}
		if state, _, _ := s.isState(other); state && s.general(other) && !(bare && !s.barely(other)) {
			continue
		}
		if !bare && (!slices.Contains([]string{"", "any", "email"}, list[i].stated("channel")) || asksElse(s.look.Columns[other].Header)) {
			continue // it may be that of another channel, or of mailings
		}
		return s.stateGate(col), true
	}
	return g, false
}

// barely reports whether a column of states has bare ones alone.
func (s *suggestion) barely(col int) bool {
	state, bare, _ := s.isState(col)
	return state && bare
}

// stateGate bars what is neither a yes nor a reason or refusal, which have records of their own. A blank says nothing.
func (s *suggestion) stateGate(col int) (g gate) {
	l := s.look
	c := &l.Columns[col]
	var yes, hard, open mappings.Strings
	unshown := c.Hidden > 0 || c.Words == nil
	g.unshown = c.Hidden
	for _, word := range c.vocabulary() {
		says, known := term(answers, word)
		switch {
		case inForceNow(word):
			yes = append(yes, c.As(word))
		case says != "" || !known && s.ofContact(word):
			hard = append(hard, c.As(word))
		case !known || slices.Contains(waiting, mappings.SameWord(word)):
			open = append(open, c.As(word))
			if !shown(answers, word) {
				unshown = true
				g.unshown += c.Words[word]
			}
		}
	}
	name := l.Name(col)
	switch {
	case unshown: // words that may be anything, and stand in no draft
		g.lets = []mappings.Condition{{Column: name, In: yes}}
		g.bars = []mappings.Condition{{Column: name, NotIn: slices.Concat(yes, hard)}}
	case len(open)+len(hard) > 0:
		g.lets = []mappings.Condition{{Column: name, NotIn: slices.Concat(open, hard)}}
		g.bars = []mappings.Condition{{Column: name, In: slices.Concat(open, hard)}}
		if c.Filled < l.Rows && len(open) > 0 && slices.ContainsFunc(yes, func(word string) bool { return fits("double", plain(word)) > 0 }) { // beside confirmations, it does
			g.lets = append(g.lets, mappings.Condition{Column: name, NotBlank: true})
			g.bars = append(g.bars, mappings.Condition{Column: name, Blank: true})
		}
	}
	return g
}

// onlyNoes makes the record of a column of states one of its refusals alone; nil if it has none.
func (s *suggestion) onlyNoes(r Record, col int) *Record {
	for i := range r.Fields {
		f := &r.Fields[i]
		if f.Name != "status" {
			continue
		}
		enum, no := map[string]mappings.Strings{}, mappings.Strings(nil)
		for term, words := range f.Spec.Enum {
			if term != "given" && term != "yes" {
				enum[term] = words
				no = append(no, words...)
			}
		}
		if len(no) == 0 {
			return nil
		}
		slices.Sort(no)
		r.Fields = slices.Clone(r.Fields)
		r.Fields[i].Spec.Enum = enum
		if enum["no"] == nil {
			r.Fields[i].Spec.Polarity = ""
		}
		if _, named := s.at["purpose"]; !named && s.general(col) {
			s.everyPurpose(&r)
		}
		r.When = []mappings.Condition{{Column: s.look.Name(col), In: no}}
		r.Why = append(slices.Clone(r.Why), "its other words only say in which state the answer beside it is, and a no counts wherever it stands")
		return &r
	}
	return nil
}

// yesAndNo reports whether a column holds nothing but plain yes and no words.
func (l *Look) yesAndNo(col int) bool {
	c := &l.Columns[col]
	return c.Filled > 0 && l.yesOrNo(col) && !slices.ContainsFunc(c.sortedWords(), func(word string) bool {
		says, _ := term(answers, word)
		return says != "yes" && says != "no" && says != ""
	})
}

// unansweredStates takes columns of bare states out of the answers where nothing else answers and columns of yes and no words stand beside them: a no there
// would come out as given. It gives the first of them; ok is false if there is none.
func (s *suggestion) unansweredStates() (state int, beside []string, ok bool) {
	for _, col := range s.answers {
		is, bare, confirmed := s.isState(col)
		switch {
		case s.look.optsOut(col) != mappings.NoOptOut || s.confirms(col):
		case is && bare && (confirmed || len(s.look.against(col, false)) == 0):
			if !ok {
				state, ok = col, true
			}
		default:
			return -1, nil, false
		}
	}
	for col := range s.look.Columns {
		c := &s.look.Columns[col]
		if ok && !s.used[col] && !slices.Contains(s.answers, col) && s.look.optsOut(col) == mappings.NoOptOut && flagOf(plain(c.Header)) == "" && s.look.yesAndNo(col) &&
			!slices.Contains(testMarks, plain(c.Header)) && !s.confirms(col) && !asksElse(c.Header) && (c.Filled < s.look.Rows || len(s.look.against(col, false)) > 0) {
			beside = append(beside, s.look.Say(col))
		}
	}
	if len(beside) == 0 {
		return -1, nil, false
	}
	s.answers = slices.DeleteFunc(s.answers, func(col int) bool { is, bare, _ := s.isState(col); return is && bare })
	return state, beside, true
}

// whichAnswer drafts a list of people of whom a column says that something was confirmed or is in force, and asks which of the columns beside it is the answer.
func (s *suggestion) whichAnswer(state int, beside []string) Record {
	says := s.look.Say(state)
	status := Field{Name: "status", Confirm: true}
	status.why(says + " says that something is in force or was confirmed, and not what was answered")
	status.ask("from", "which column is the answer? "+strings.Join(beside, ", ")+" "+finding.Word(len(beside), "holds", "hold")+" nothing but yes and no: if "+finding.Word(len(beside), "it is", "one of them is")+
		" the answer, write its header here, with enum: { yes: [words], no: [words] } and polarity: normal. If none is, write that of "+says+", with enum: { given: [words] }")
	r := s.record(&status, s.look.File, s.look.Sheet)
	g := s.stateGate(state)
	if len(g.lets) > 0 {
		r.When = append(r.When, g.lets...)
		r.Why = append(r.Why, "unless "+says+" says that nobody confirmed")
	}
	s.used[state] = true
	return r
}

// optInKinds say of a consent how many times it was asked for.
var optInKinds = sameWords("single|double|simple|einfach|doppelt|zweifach|doble|sencillo|singolo|doppio|duplo|simples|dubbel|enkel|1|2|1x|2x|soi|doi|coi")

// tellsKind reports whether a column tells single opt-ins from double ones, in no other words: only a person knows which of them were confirmed.
func (l *Look) tellsKind(col int) bool {
	c := &l.Columns[col]
	return len(c.Words) > 0 && c.Hidden == 0 && holds(plain(c.Header), consenting) && !slices.ContainsFunc(c.sortedWords(), func(word string) bool {
		says, silent := term(answers, word)
		return !slices.Contains(optInKinds, mappings.SameWord(word)) && !(silent && says == "")
	}) && slices.ContainsFunc(c.sortedWords(), func(word string) bool { _, known := term(answers, word); return !known })
}

// plainAnswers says which columns of nothing but yes and no words the draft does not use: a no in one of them would stand beside a consent.
func (s *suggestion) plainAnswers() (list []string) {
	if !slices.ContainsFunc(s.draft.Records, func(r Record) bool { return r.Entity == "consent" }) {
		return nil
	}
	said := strings.Join(s.draft.Head, " ")
	for col := range s.look.Columns {
		if name := s.look.Say(col); !s.used[col] && s.look.yesAndNo(col) && !strings.Contains(said, name) {
			list = append(list, "Attention: "+name+" holds nothing but yes and no, and the draft does not use it: if it is an answer, map it as a consent with a purpose of its own; if it says whether one was confirmed, add to its record a condition on this column; else leave it.")
		}
	}
	return list
}
