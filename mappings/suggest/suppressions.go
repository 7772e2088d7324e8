package suggest

import (
	"slices"
	"strings"

	"sheetlift/importers"
	"sheetlift/mappings"
	"sheetlift/pipeline/finding"
)

// suppressions drafts a list of contact points that must not be used. Whoever is in a list that is called so is in it, with or without a day
// or a reason; in any other sheet, either says so.
func (s *suggestion) suppressions() {
	r := s.record(nil)
	var dated []mappings.Condition
	if col, ok := s.at["occurred_at"]; ok && s.look.leaves(col) && s.look.Columns[col].Filled < s.look.Rows && !s.look.named("suppression") {
		dated = []mappings.Condition{{Column: s.look.Name(col), NotBlank: true}}
	}
	col, ok := s.at["reason"]
	partly := ok && s.look.Columns[col].Filled < s.look.Rows
	switch {
	case partly && (len(dated) > 0 || s.look.named("suppression")):
		blank := r
		blank.When = append(dated, mappings.Condition{Column: s.look.Name(col), Blank: true})
		blank.Fields = slices.Clone(r.Fields)
		for i := range blank.Fields {
			if blank.Fields[i].Name == "reason" {
				f := Field{Name: "reason", Confirm: true}
				s.ctx.State(&f, "suppression", "opt_out")
				why := "stand in a list of contact points that must not be used"
				if len(dated) > 0 {
					why = "have a day in " + s.look.Say(s.at["occurred_at"])
				}
				f.why("rows without a reason in " + s.look.Say(col) + " " + why)
				blank.Fields[i] = f
			}
		}
		s.draft.Records = append(s.draft.Records, blank)
		r.When = append(r.When, mappings.Condition{Column: s.look.Name(col), NotBlank: true})
	case partly:
		r.When = append(r.When, mappings.Condition{Column: s.look.Name(col), NotBlank: true})
		r.Why = append(r.Why, "rows without "+s.look.Say(col)+" say nothing")
	case len(dated) > 0:
		r.When = dated
		r.Why = append(r.Why, "rows without "+s.look.Say(s.at["occurred_at"])+" say nothing")
	}
	for _, col := range s.answers {
		if no := s.look.silent(col); !slices.Contains(s.optouts, col) { // whoever is entered in a register, unless the answer is that nobody is
			s.used[col] = true
			if len(no) > 0 {
				r.When = append(r.When, mappings.Condition{Column: s.look.Name(col), NotIn: no})
				r.Why = append(r.Why, "unless "+s.look.Say(col)+" says that it is not entered")
			}
		}
	}
	for _, col := range s.optouts {
		if yes := s.look.against(col, true); len(yes) > 0 {
			r.When = append(r.When, mappings.Condition{Column: s.look.Name(col), In: yes})
			r.Why = append(r.Why, "only rows that say so in "+s.look.Say(col))
			s.used[col] = true
		}
	}
	s.draft.Records = append(s.draft.Records, r)
}

// reasons drafts suppressions for the columns beside the answers that give reasons not to use a contact point: whoever stands there must not be
// contacted, whatever the answer was.
func (s *suggestion) reasons() (list []Record) {
	for col := range s.look.Columns {
		c := &s.look.Columns[col]
		sure := s.look.optout(col)
		if s.used[col] || slices.Contains(s.answers, col) || slices.Contains(s.left, col) || c.Filled == 0 || c.Emails+c.Dates.All() > 0 || fits("terms", plain(c.Header)) > 0 {
			continue
		}
		enum, known, unknown, several, hidden := map[string]mappings.Strings{}, 0, 0, 0, c.Hidden
		var silent mappings.Strings
		for _, word := range c.sortedWords() {
			switch all := reasonsIn(word); {
			case len(all) > 0 && !shown("reason", word) && !shown(answers, word):
				hidden += c.Words[word]
				known += c.Words[word]
			case len(all) > 0:
				enum[all[0]] = append(enum[all[0]], c.As(word))
				if known += c.Words[word]; len(all) > 1 {
					several += c.Words[word]
				}
			case sure && saysYes(word):
				enum["opt_out"] = append(enum["opt_out"], c.As(word))
				known += c.Words[word]
			case saysNothing(word) && !(sure && leavesOpen(word)):
				silent = append(silent, c.As(word))
			default:
				unknown++
			}
		}
		if len(silent) == 0 && !slices.ContainsFunc(c.sortedWords(), func(word string) bool {
			return len(reasonsIn(word)) > 0 && !slices.Contains(cleaned, mappings.SameWord(word))
		}) && !sure {
			continue // nothing says that addresses are cleaned
		}
		told := c.Filled
		for _, word := range silent {
			told -= c.Words[mappings.FoldWord(word)]
		}
		if told == 0 || known*2 <= told && !(sure && (known > 0 || !holds(plain(c.Header), ofLinks))) {
			continue
		}
		r, ok := s.barred(col)
		if !ok {
			continue
		}
		r.When = []mappings.Condition{{Column: s.look.Name(col), NotBlank: true}}
		if len(silent) > 0 {
			r.When = append(r.When, mappings.Condition{Column: s.look.Name(col), NotIn: silent})
		}
		f := Field{Name: "reason", Confirm: true, Spec: mappings.FieldSpec{From: mappings.Columns{s.look.Name(col)}}}
		f.why(s.counts(col))
		if len(enum) > 0 {
			f.Spec.Enum = enum
		} else {
			f.ask("enum", "the header sounds like an opt-out: which of its words say so, as opt_out: [words]? If any text in it does, write const: opt_out instead of from: and enum:; if none does, remove this record")
		}
		if several > 0 {
			f.why("where it gives several reasons, the gravest counts")
		}
		if unknown > 0 && len(enum) > 0 {
			f.why(finding.Count(unknown, "word of it is", "words of it are") + " known in no language and would be rejected: sheetlift cells shows them")
		}
		f.hidden(hidden)
		r.Fields = append(r.Fields, f)
		list = append(list, r)
	}
	return list
}

// ofLinks are pieces of headers that sound like an opt-out and hold what one is done by, or what it came after.
var ofLinks = strings.Fields("link url lien enlace token hash campaign kampagne campagn campan title count anzahl")

// barred begins the suppression of the contact points of a row; ok is false if the sheet has none.
func (s *suggestion) barred(col int) (r Record, ok bool) {
	email, mails := s.at["email"]
	phone, calls := s.at["phone"]
	channel := channelOf(plain(s.look.Columns[col].Header))
	why := "the header names it"
	if channel == "" {
		if channel = "email"; calls {
			channel = "any"
		}
		why = "no column names a channel"
	}
	numbers := slices.Contains([]string{"sms", "phone", "whatsapp"}, channel)
	mails, calls = mails && (!numbers || !calls), calls && (numbers || channel == "any")
	if !mails && !calls {
		return r, false
	}
	r = Record{Entity: "suppression", Confirm: true, Key: []string{"email", "channel"}, Why: []string{s.look.Say(col) + " says why a contact point must not be used, and that counts whatever was answered"}}
	if !mails {
		r.Key[0] = "phone"
	}
	f := Field{Name: "channel", Confirm: true}
	s.ctx.State(&f, "suppression", channel)
	f.why(why)
	r.Fields = append(r.Fields, f)
	entity := s.entity
	defer func() { s.entity = entity }()
	s.entity = "suppression"
	e := importers.ByName("suppression")
	if mails {
		r.Fields = append(r.Fields, s.field(&e.Fields[e.Field("email")], email))
	}
	if calls {
		r.Fields = append(r.Fields, s.field(&e.Fields[e.Field("phone")], phone))
	}
	s.used[col] = true
	return r, true
}

// grave lists reasons, the gravest first: what somebody said goes before what became of a message.
var grave = []string{"opt_out", "objection", "complaint", "legal", "bounce", "invalid"}

// reasonsIn lists the reasons that a cell gives, the gravest first: one, or a list of them such as ['UNSUBSCRIBED', 'HARD_BOUNCE']. Where a part of it is
// none, it gives none.
func reasonsIn(word string) (list []string) {
	for part := range strings.FieldsFuncSeq(word, func(r rune) bool { return strings.ContainsRune(",;|/[]\"'+", r) }) {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		reason, ok := meaning("reason", part)
		if !ok {
			if says, _ := term(answers, part); says != "withdrawn" && says != "refused" {
				return nil
			}
			reason = "opt_out"
		}
		if !slices.Contains(list, reason) {
			list = append(list, reason)
		}
	}
	slices.SortFunc(list, func(a, b string) int { return slices.Index(grave, a) - slices.Index(grave, b) })
	return list
}

func saysYes(word string) bool {
	says, _ := term(answers, word)
	return says == "yes"
}

// saysNothing reports whether a word says that there is no reason.
func saysNothing(word string) bool {
	says, ok := term(answers, word)
	return ok && (says == "no" || says == "" || says == "given") || strings.Trim(word, "[]{} ") == ""
}
