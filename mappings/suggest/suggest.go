// Package suggest drafts the mapping of an export that nobody knows: it matches headers in seven languages, looks at what the
// cells of a column are like, and writes down for each guess what speaks for it.
//
// It promises: a draft holds headers (by position where one looks like a value about a person), counts, and words of its own
// lists and of the list of purposes, never a value of a cell otherwise; each guess carries confirm: true until a person removes
// it; what nothing speaks for is asked, and a draft with an open question is no mapping. It refuses to guess a time from a column
// that says when something was created, changed or imported, and the order of day and month where no row proves it.
package suggest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"sheetlift/importers"
	"sheetlift/mappings"
	"sheetlift/pipeline/finding"
)

// reading is how the headers of a sheet are understood for one entity.
type reading struct {
	entity string
	at     map[string]int // field to column
	used   map[int]bool
}

// fieldsOf lists the fields that are looked for, by entity.
var fieldsOf = map[string][]string{
	"purpose":        {"purpose_id", "name", "description", "lawful_basis", "owner"},
	"notice":         {"notice_id", "notice_version", "valid_from", "valid_to", "title", "language", "wording", "wording_digest", "url"},
	"activity":       {"activity_id", "name", "controller", "subject_categories", "data_categories", "recipients", "transfers", "retention", "security", "lawful_basis", "owner"},
	"retention_rule": {"rule_id", "entity", "months", "starts", "action", "authority"},
	"suppression":    {"email", "phone", "channel", "reason", "occurred_at", "external_id", "subject_id", "note"},
	"case":           {"request_type", "status", "received_at", "due_at", "extended_to", "closed_at", "identity_verified", "refusal_reason", "email", "phone", "handler", "requester_name", "external_id", "subject_id", "details"},
	"consent":        {"email", "phone", "purpose", "notice_version", "notice_id", "proof_kind", "proof_ref", "actor", "actor_role", "method", "collected_via", "language", "lawful_basis", "note", "occurred_at", "channel", "subject_id", "device_id", "external_id"},
}

// read assigns columns to the fields of an entity: the best fit first, a column to one field only.
func (l *Look) read(entity string) *reading {
	r := &reading{entity: entity, at: map[string]int{}, used: map[int]bool{}}
	type fit struct{ field, col, score int }
	var list []fit
	fields := fieldsOf[entity]
	for col := range l.Columns {
		header := plain(l.Columns[col].Header)
		if header == "" {
			continue
		}
		if entity == "consent" && (fits("optout", header) > 0 || l.answers(col)) {
			continue
		}
		for n, field := range fields {
			if score := max(l.fits(entity, field, col, header), l.holds(entity, field, col)); score > 0 {
				list = append(list, fit{n, col, score})
			}
		}
	}
	slices.SortStableFunc(list, func(a, b fit) int {
		if a.score != b.score {
			return b.score - a.score
		}
		return a.field - b.field
	})
	for _, f := range list {
		if _, taken := r.at[fields[f.field]]; !taken && !r.used[f.col] {
			r.at[fields[f.field]] = f.col
			r.used[f.col] = true
		}
	}
	return r
}

// fits says how well the header of a column fits a field, as far as its cells don't belie it.
func (l *Look) fits(entity, field string, col int, header string) int {
	c := &l.Columns[col]
	score := fits(field, header)
	dated := c.Dates.All() > 0
	switch entity + "." + field {
	case "case.status":
		score = max(fits("state", header), fits("progress", header))
	case "consent.occurred_at", "suppression.occurred_at":
		if not := fits("notoccurred", header); not > 0 && score > 0 && score < not+100 {
			score = 0
		}
		if score == 0 && c.Dates.All()*2 > c.Filled && c.Filled > 0 && fits("notoccurred", header) == 0 {
			score = 1 // nothing but dates, under a header that says nothing against it
		}
		if entity == "suppression" && l.leaves(col) {
			score = 200
		}
	case "case.received_at":
		if score == 0 && c.Dates.All()*2 > c.Filled && c.Filled > 0 && (fits("occurred_at", header) >= 100 || fits("created", header) > 0) {
			score = 1 // a day that says no more than that it is one, or when the case was opened
		}
	case "suppression.external_id", "case.external_id", "consent.external_id":
		if dated {
			score = 0
		}
	}
	switch field {
	case "occurred_at", "received_at", "due_at", "closed_at", "extended_to", "valid_from", "valid_to":
		if c.Epochs*2 > c.Filled {
			return 0
		}
	}
	switch field {
	case "received_at", "due_at", "closed_at", "extended_to", "valid_from", "valid_to":
		// Words of other lists are no days.
		if !dated && c.Filled > 0 && c.knownWords()*2 > c.Filled {
			return 0
		}
	case "request_type", "reason", "handler", "requester_name", "purpose", "channel", "method":
		if c.Dates.All()*2 > c.Filled && c.Filled > 0 {
			return 0
		}
	}
	return score
}

// holds says how well the cells of a column fit a field, whatever its header is.
func (l *Look) holds(entity, field string, col int) int {
	c := &l.Columns[col]
	if c.Filled == 0 {
		return 0
	}
	most := func(known int) bool { return known*2 > c.Filled }
	switch {
	case field == "email" && most(c.Emails):
		return 500
	case field == "phone" && most(c.Phones):
		return 400
	case entity == "case" && field == "request_type":
		if known, own := c.share(field, answers, "case.status", "reason"); most(own) {
			return 300
		} else if most(known) {
			return 50
		}
	case entity == "case" && field == "status":
		if known, own := c.share("case.status", answers); most(own) {
			return 250
		} else if most(known) && fits("asks", plain(c.Header)) == 0 {
			return 40
		}
	case entity == "suppression" && field == "reason":
		if known, own := c.share(field, "request_type"); most(own) {
			return 250
		} else if most(known) {
			return 50
		}
	case field == "channel" && (entity == "consent" || entity == "suppression"):
		if known, own := c.share(field, answers, "proof_kind"); own > 0 && known*10 >= c.Filled*8 {
			return 90
		}
	}
	return 0
}

// knownWords counts the rows whose words some list knows.
func (c *Column) knownWords() (n int) {
	for word, rows := range c.Words {
		known := false
		for _, list := range []string{answers, "request_type", "case.status", "reason"} {
			if _, ok := term(list, word); ok {
				known = true
			}
		}
		if known {
			n += rows
		}
	}
	return n
}

// Answers reports whether a column seems to answer a question about consent.
func (l *Look) Answers(col int) bool { return l.answers(col) }

// answers reports whether a column answers a question about consent: its header asks one and its words are answers, or its words can be
// nothing else.
func (l *Look) answers(col int) bool {
	c := &l.Columns[col]
	header := plain(c.Header)
	channel := channelOf(header) != "" && fits("phone", header) < 100 && fits("email", header) < 100
	asks := fits("asks", header) > 0 || fits("optout", header) > 0 || channel
	if c.Dates.All() > 0 || c.Emails > 0 || c.Phones > 0 || fits("needful", header) > 0 || fits("terms", header) > 0 && fits("optout", header) == 0 {
		return false
	}
	known, working, plainly, total := 0, 0, 0, 0
	for word, rows := range c.Words {
		total += rows
		says, ok := term(answers, word)
		if !ok {
			if _, state := term("case.status", word); state {
				working += rows
			}
			continue
		}
		known += rows
		if _, state := term("case.status", word); state {
			working += rows
		} else if says == "given" || says == "refused" || says == "withdrawn" {
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
		return known*2 >= total || fits("asks", header) >= 100 && len(c.Words) <= 12 // then the words are asked for
	case fits("category", header) > 0 && total > 0:
		return known == total
	case asks: // a sheet without rows: the header alone
		return c.Filled == 0 && fits("asks", header) > 0 && fits("occurred_at", header) < 100
	case fits("state", header) > 0 && total > 0:
		return known*2 >= total && known > working // a status of work is none of consent
	}
	return total > 0 && plainly*10 >= c.Filled*8 && len(c.Words) <= 12
}

// channelOf finds a channel that a header names.
func channelOf(header string) string {
	for _, c := range [][2]string{{"whatsapp", "whatsapp"}, {"sms", "sms"}, {"email", "email"}, {"mailing", "email"}, {"newsletter", "email"}, {"nieuwsbrief", "email"}, {"infolettre", "email"}, {"boletin", "email"}, {"telefon", "phone"}, {"phone", "phone"}, {"telefo", "phone"}, {"anruf", "phone"}, {"brief", "post"}, {"postal", "post"}, {"post", "post"}, {"courrier", "post"}, {"push", "push"}} {
		if strings.Contains(header, c[0]) {
			return c[1]
		}
	}
	return ""
}

// Suggest drafts the mapping of a sheet. Where nothing says what its rows are, it returns nil. What they may be as well stands below as
// a comment, with the evidence of both.
func Suggest(l *Look, ctx *Context) *Draft {
	kinds := l.Kinds()
	if len(kinds) == 0 {
		return nil
	}
	rivals := Rivals(kinds)
	d := suggest(l, ctx, &kinds[0])
	if len(rivals) == 0 {
		d.Head = []string{"Suggested from headers and values: rows of " + kinds[0].Entity + ", because of " + strings.Join(kinds[0].Why, "; ") + "."}
		return d
	}
	d.Head = []string{"It is not clear what the rows of this sheet are. Drafted as rows of " + kinds[0].Entity + ", because of " + strings.Join(kinds[0].Why, "; ") + "."}
	for i := range rivals {
		d.Head = append(d.Head, "They may be rows of "+rivals[i].Entity+" instead, because of "+strings.Join(rivals[i].Why, "; ")+": a draft for that stands at the end, as a comment.")
		other := suggest(l, ctx, &rivals[i])
		d.Others = append(d.Others, other.Records)
		for j := range d.Records {
			d.Records[j].Why = append(d.Records[j].Why, "or are these rows of "+rivals[i].Entity+"? See the top: decide, and remove the next line only then")
		}
	}
	return d
}

func suggest(l *Look, ctx *Context, kind *Kind) *Draft {
	d := &Draft{Name: ctx.Name, Sheet: l.Sheet, HeaderRow: l.HeaderRow}
	if mappings.LooksPersonal(d.Sheet) {
		d.Sheet = "" // batch.yaml says which sheet it is
	}
	s := &suggestion{look: l, ctx: ctx, reading: l.read(kind.Entity), signs: l.signs(), draft: d, why: strings.Join(kind.Why, "; ")}
	switch kind.Entity {
	case "consent":
		s.consents()
	case "suppression":
		s.suppressions()
	default:
		d.Records = append(d.Records, s.record(nil))
	}
	for i := range l.Columns {
		if !s.used[i] && l.Columns[i].Header != "" {
			left := strings.TrimPrefix(l.Say(i), "column ")
			if kind.Entity == "consent" && fits("notoccurred", plain(l.Columns[i].Header)) > 0 && l.Columns[i].Dates.All() > 0 {
				left += " (no time of consent by its header)"
			}
			if c := &l.Columns[i]; c.Epochs*2 > c.Filled {
				left += " (seconds or milliseconds since 1970, which no layout of dates reads: write dates there and map it, or the records stay undated)"
			}
			d.Left = append(d.Left, left)
		}
	}
	return d
}

type suggestion struct {
	*reading
	signs
	look  *Look
	ctx   *Context
	draft *Draft
	why   string
}

// suppressions drafts a list of contact points that must not be used. Where a column says since when, a row without that day is none.
func (s *suggestion) suppressions() {
	r := s.record(nil)
	if col, ok := s.at["occurred_at"]; ok && s.look.leaves(col) && s.look.Columns[col].Filled < s.look.Rows {
		r.When = append(r.When, mappings.Condition{Column: s.look.Name(col), NotBlank: true})
		r.Why = append(r.Why, "rows without "+s.look.Say(col)+" say nothing")
	}
	if col, ok := s.at["reason"]; ok && s.look.Columns[col].Filled < s.look.Rows {
		r.When = append(r.When, mappings.Condition{Column: s.look.Name(col), NotBlank: true})
		if s.look.named("suppression") { // whoever is in it is in it, with or without a reason
			blank := r
			blank.When = append(slices.Clone(r.When[:len(r.When)-1]), mappings.Condition{Column: s.look.Name(col), Blank: true})
			blank.Fields = slices.Clone(r.Fields)
			for i := range blank.Fields {
				if blank.Fields[i].Name == "reason" {
					f := Field{Name: "reason", Confirm: true}
					s.ctx.State(&f, "suppression", "opt_out")
					f.why("rows without a reason in " + s.look.Say(col) + " stand in a list of contact points that must not be used")
					blank.Fields[i] = f
				}
			}
			s.draft.Records = append(s.draft.Records, blank)
		} else {
			r.Why = append(r.Why, "rows without "+s.look.Say(col)+" say nothing")
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

// against lists the words of a column that speak against consent.
func (l *Look) against(col int, inverted bool) (list mappings.Strings) {
	c := &l.Columns[col]
	for _, word := range c.vocabulary() {
		switch says, _ := term(answers, word); {
		case says == "withdrawn" || says == "refused" || inverted && says == "yes" || !inverted && says == "no":
			list = append(list, c.As(word))
		}
	}
	return list
}

// yes lists the words of a column that say yes.
func (l *Look) yes(col int) (list mappings.Strings) {
	c := &l.Columns[col]
	for _, word := range c.sortedWords() {
		if says, _ := term(answers, word); says == "yes" || says == "given" {
			list = append(list, c.As(word))
		}
	}
	return list
}

// consents drafts one record for each column that answers about consent, and one for the days on which people left: who left has
// withdrawn, whatever the other columns still say.
func (s *suggestion) consents() {
	s.topics()
	s.device()
	var list, dead []Record
	for _, col := range s.answers {
		r := s.answer(col)
		dead = append(dead, s.undeliverable(col, &r)...)
		list = append(list, r)
	}
	s.ownPurposes(list)
	list = s.oneVerdict(list)
	if len(s.answers) == 0 {
		list = append(list, s.joined())
	}
	for _, col := range s.left {
		s.used[col] = true
		for i := range list {
			list[i].When = append(list[i].When, mappings.Condition{Column: s.look.Name(col), Blank: true})
			list[i].Why = append(list[i].Why, "who has a day in "+s.look.Say(col)+" left, and has a record of that instead")
		}
	}
	tellApart(list)
	var left []Record
	for _, col := range s.left {
		left = append(left, s.leaving(col))
	}
	tellApart(left)
	list = slices.Concat(list, left, dead)
	for i := range list {
		order(&list[i])
	}
	s.draft.Records = append(s.draft.Records, list...)
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
	r := s.record(&status, header)
	r.Why = append(r.Why, "the answers of "+s.look.Say(col))
	r.When = when
	if fits("category", plain(header)) > 0 {
		r.about = header // a purpose of its own, whichever that is
	}
	if _, named := s.at["purpose"]; !named && (status.Spec.Polarity == "inverted" || s.onlyAgainst(&status)) {
		s.everyPurpose(&r)
	}
	s.channel(&r, header, len(s.answers) > 1)
	s.joinedOn(&r, &status)
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
		if c.Dates.All() > 0 && !slices.Contains(s.left, col) && fits("notoccurred", plain(c.Header)) == 0 && belongs(col, answer) {
			return col, false
		}
	}
	general, ok := s.at["occurred_at"]
	return -1, ok && slices.ContainsFunc(s.answers, func(o int) bool { return o != answer && belongs(general, o) })
}

// joinedOn keeps the day on which somebody joined from being that of a withdrawal.
func (s *suggestion) joinedOn(r *Record, status *Field) {
	at, ok := s.at["occurred_at"]
	yes := append(slices.Clone(status.Spec.Enum["given"]), status.Spec.Enum["yes"]...)
	others := false
	for term := range status.Spec.Enum {
		others = others || term != "given" && term != "yes"
	}
	if !ok || !others || len(yes) == 0 || status.Spec.Polarity == "inverted" || fits("joined", plain(s.look.Columns[at].Header)) == 0 {
		return
	}
	for i := range r.Fields {
		if f := &r.Fields[i]; f.Name == "occurred_at" {
			f.Spec.When = mappings.Conditions{{Column: status.Spec.From[0], In: yes}}
			f.why("by its header the day on which somebody joined, which is not that of a withdrawal")
		}
	}
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
		if reason, ok := meaning("reason", word); ok && (reason == "bounce" || reason == "complaint" || reason == "invalid") {
			by[reason] = append(by[reason], c.As(word))
			all = append(all, c.As(word))
		}
	}
	email, ok := s.at["email"]
	if len(all) == 0 || !ok {
		return nil
	}
	r.When = append(r.When, mappings.Condition{Column: s.look.Name(col), NotIn: all})
	for _, reason := range []string{"bounce", "complaint", "invalid"} {
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
	return s.look.optout(col) || fits("asks", header) == 0 && fits("category", header) == 0
}

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
			if j == i || o == nil || *o.Spec.Const != *f.Spec.Const || channel(i) != channel(j) || s.general(s.answers[j]) {
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
	for i := range list {
		col := s.answers[i]
		first, again := i, false
		for j := range i {
			if about(&list[j]) == about(&list[i]) && (s.general(s.answers[j]) || s.general(col)) {
				first, again = min(first, j), true
			}
		}
		no := s.look.against(col, s.look.optout(col))
		if !again {
			out = append(out, list[i])
			continue
		}
		if len(no) == 0 {
			delete(s.used, col) // it can't say more than the first
			continue
		}
		for k := range out {
			if about(&out[k]) == about(&list[first]) {
				out[k].When = append(out[k].When, mappings.Condition{Column: s.look.Name(col), NotIn: no})
				out[k].Why = append(out[k].Why, "unless "+s.look.Say(col)+" says no")
			}
		}
		list[i].When = append(list[i].When, mappings.Condition{Column: s.look.Name(col), In: no})
		list[i].Why = append(list[i].Why, s.look.Say(col)+" answers the same question as "+s.look.Say(s.answers[first])+", and a no counts wherever it stands")
		out = append(out, list[i])
	}
	return out
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

func (s *suggestion) channel(r *Record, header string, several bool) {
	channel := channelOf(plain(header))
	if _, mapped := s.at["channel"]; mapped || channel == "" && !several {
		return
	}
	f := Field{Name: "channel", Confirm: true}
	if channel != "" {
		s.ctx.State(&f, "consent", channel)
		f.why("the header names it")
	} else {
		s.ctx.State(&f, "consent", "any")
		f.why("the header names no channel, and several columns answer")
	}
	r.Fields = append(r.Fields, f)
}

// joined drafts a list of people that has no column that answers: only a person knows whether all of them consented.
func (s *suggestion) joined() Record {
	if col, ok := s.at["lawful_basis"]; ok {
		return s.byBasis(col)
	}
	status := Field{Name: "status", Confirm: true, Spec: mappings.FieldSpec{StatedBy: &mappings.StatedBy{Name: s.ctx.By.Name, At: s.ctx.By.At}}}
	status.why("no column says whether these people consented")
	status.ask("const", "given, if everybody in this sheet said yes; withdrawn or refused, if everybody said no. If it is neither, remove this record")
	r := s.record(&status, s.look.File, s.look.Sheet)
	for col := range s.look.Columns {
		c := &s.look.Columns[col]
		if header := plain(c.Header); fits("double", header) > 0 && c.Dates.All() > 0 && c.Filled < s.look.Rows {
			r.When = append(r.When, mappings.Condition{Column: s.look.Name(col), NotBlank: true})
			r.Why = append(r.Why, "a row without "+s.look.Say(col)+" was never confirmed, which is no answer")
			s.used[col] = true
		} else if yes := s.look.yes(col); fits("double", header) > 0 && len(yes) > 0 {
			r.When = append(r.When, mappings.Condition{Column: s.look.Name(col), In: yes})
			r.Why = append(r.Why, "any other word in "+s.look.Say(col)+" means that nobody confirmed, which is no answer")
			s.used[col] = true
		}
	}
	return r
}

// byBasis drafts a list that says on which basis each person is written to: consent, or something that is none.
func (s *suggestion) byBasis(col int) Record {
	c := &s.look.Columns[col]
	status := Field{Name: "status", Confirm: true, Spec: mappings.FieldSpec{From: mappings.Columns{s.look.Name(col)}, Enum: map[string]mappings.Strings{}}}
	status.why(s.counts(col))
	status.why("only a basis that is consent is one; other bases are no consent, and such rows are skipped")
	for _, word := range c.vocabulary() {
		switch basis, ok := meaning("lawful_basis", word); {
		case ok && basis == "consent":
			status.Spec.Enum["given"] = append(status.Spec.Enum["given"], c.As(word))
		case ok:
			status.Spec.NullTokens = append(status.Spec.NullTokens, c.As(word))
		}
	}
	if len(status.Spec.Enum) == 0 {
		status.Spec.Enum = nil
		status.ask("enum", "none of its words is known as consent: map them, as given: [words]")
	}
	return s.record(&status, s.look.File, s.look.Sheet)
}

// leaving drafts the withdrawals of a column of days on which people left.
func (s *suggestion) leaving(col int) Record {
	status := Field{Name: "status", Confirm: true}
	s.ctx.State(&status, "consent", "withdrawn")
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
	s.channel(&r, s.look.Columns[col].Header, len(s.answers) > 1)
	return r
}

// tellApart puts what tells the records of one row apart into their keys: two answers under one key would be one record.
func tellApart(list []Record) {
	if len(list) < 2 {
		return
	}
	value := func(r *Record, name string) string {
		for i := range r.Fields {
			if f := &r.Fields[i]; f.Name == name && f.Spec.Const != nil {
				return *f.Spec.Const
			} else if f.Name == name && len(f.Asks) > 0 {
				return "asked about " + r.about
			} else if f.Name == name {
				return "from a column"
			}
		}
		return ""
	}
	for i := range list {
		channel, purpose := value(&list[i], "channel"), value(&list[i], "purpose")
		add := func(name, v string, other func(o *Record) bool) {
			if v != "" && v != "from a column" && !slices.Contains(list[i].Key, name) && slices.ContainsFunc(list, func(o Record) bool { return other(&o) }) {
				list[i].Key = append(slices.Clone(list[i].Key), name)
			}
		}
		add("channel", channel, func(o *Record) bool { return value(o, "channel") != channel })
		add("purpose", purpose, func(o *Record) bool { return value(o, "channel") == channel && value(o, "purpose") != purpose })
	}
}

// order puts the fields of a record into the entity's order.
func order(r *Record) {
	e := importers.ByName(r.Entity)
	slices.SortStableFunc(r.Fields, func(a, b Field) int { return e.Field(a.Name) - e.Field(b.Name) })
}

// status drafts how an answer is read, and which rows answer.
func (s *suggestion) status(col int) (Field, []mappings.Condition) {
	f := Field{Name: "status", Confirm: true, Spec: mappings.FieldSpec{From: mappings.Columns{s.look.Name(col)}}}
	f.why(s.counts(col))
	s.enum(&f, col, answers)
	if _, yes := f.Spec.Enum["yes"]; yes || f.Spec.Enum["no"] != nil {
		switch {
		case s.look.optout(col):
			f.Spec.Polarity = "inverted"
			f.why("the header sounds like an opt-out, so yes means withdrawn and no says nothing")
		case yes && fits("double", plain(s.look.Columns[col].Header)) > 0:
			f.Spec.Enum = map[string]mappings.Strings{"given": append(f.Spec.Enum["yes"], f.Spec.Enum["given"]...)}
			f.why("the header speaks of a confirmation: a no means that nobody confirmed, which is no answer")
			return f, []mappings.Condition{{Column: s.look.Name(col), In: f.Spec.Enum["given"]}}
		default:
			f.Spec.Polarity = "normal"
			f.why("yes is taken for consent by the header")
		}
	}
	return f, nil
}

// Complete adds to a drafted enum the words of the column that our lists know and the enum does not.
func (l *Look) Complete(f *Field, col int) {
	list := f.Name
	if list == "status" {
		list = "case.status"
	}
	c := l.Of(col)
	enum := map[string]mappings.Strings{}
	known := map[string]bool{}
	for t, ws := range f.Spec.Enum {
		enum[t] = slices.Clone(ws)
		known[mappings.FoldWord(t)] = true
		for _, w := range ws {
			known[mappings.FoldWord(w)] = true
		}
	}
	for _, w := range f.Spec.NullTokens {
		known[mappings.FoldWord(w)] = true
	}
	unknown := 0
	for _, word := range c.vocabulary() {
		if known[word] {
			continue
		}
		if t, ok := meaning(list, word); ok && t != "" {
			enum[t] = append(enum[t], c.As(word))
		} else {
			unknown++
		}
	}
	if f.Spec.Enum = enum; unknown > 0 {
		f.why(finding.Count(unknown, "word of it is", "words of it are") + " known in no language and would be rejected: sheetlift cells shows them")
	}
}

// enum maps the words of a column that our lists know. Others are only counted: a word nobody knows may be anything.
func (s *suggestion) enum(f *Field, col int, list string) {
	c := &s.look.Columns[col]
	unknown := 0
	enum := map[string]mappings.Strings{}
	for _, word := range c.vocabulary() {
		t, ok := meaning(list, word)
		switch {
		case !ok:
			unknown++
		case t == "":
			f.Spec.NullTokens = append(f.Spec.NullTokens, c.As(word))
		default:
			enum[t] = append(enum[t], c.As(word))
		}
	}
	if c.had > 0 {
		f.why(fmt.Sprintf("the data-validation list of its cells has %s, of which %s in no row", finding.Count(c.had, "word", "words"), finding.Count(len(c.list), "stands", "stand")))
	}
	switch {
	case len(enum) == 0 && c.Filled == 0 && c.had == 0:
		f.ask("enum", "the column holds nothing yet: which words does it have, as term: [words]?")
	case len(enum) == 0:
		f.ask("enum", "none of its words is known in seven languages: map them, as term: [words]")
	case unknown > 0:
		f.Spec.Enum = enum
		f.why(strconv.Itoa(unknown) + " of its words are known in no language and would be rejected: sheetlift cells shows them")
	default:
		f.Spec.Enum = enum
		f.why("all of its words are known")
	}
}

func (s *suggestion) counts(col int) string {
	c := &s.look.Columns[col]
	out := s.look.Say(col) + ": filled in " + strconv.Itoa(c.Filled) + " of " + finding.Count(s.look.Rows, "row", "rows")
	switch {
	case c.Emails > 0:
		out += fmt.Sprintf(", %d e-mail addresses", c.Emails)
	case c.Phones > 0:
		out += fmt.Sprintf(", %d international telephone numbers", c.Phones)
	case s.look.once(col):
		out += ", no value twice"
	}
	return out
}

// record drafts a record from the fields that were found.
func (s *suggestion) record(status *Field, about ...string) Record {
	e := importers.ByName(s.entity)
	r := Record{Entity: s.entity, Confirm: true, Why: []string{s.why}}
	there := map[string]int{}
	s.ownWords()
	for i := range e.Fields {
		name := e.Fields[i].Name
		col, found := s.at[name]
		switch {
		case status != nil && name == "status":
			r.Fields = append(r.Fields, *status)
			continue
		case s.entity == "consent" && name == "purpose":
			if !found {
				col = -1
			}
			r.Fields = append(r.Fields, s.ctx.PurposeField(s.look, col, s.mailings(about), append(about, s.look.File, s.look.Sheet)...))
			if found {
				there[name] = col
			}
			continue
		case s.entity == "consent" && strings.HasPrefix(name, "notice_") && (!s.ctx.Notices || !s.pair("notice_id", "notice_version")),
			s.entity == "consent" && strings.HasPrefix(name, "proof_") && !s.pair("proof_kind", "proof_ref"):
			if found {
				delete(s.used, col) // named as left over, so that a person sees it
			}
			continue
		}
		if !found {
			if f, ok := s.absent(&e.Fields[i]); ok {
				r.Fields = append(r.Fields, f)
			}
			continue
		}
		there[name] = col
		r.Fields = append(r.Fields, s.field(&e.Fields[i], col))
		if name == "status" {
			r.Fields = append(r.Fields, Field{Name: "status_text", Spec: mappings.FieldSpec{From: mappings.Columns{s.look.Name(col)}}, Why: []string{"the source's status word for word"}, Confirm: true})
		}
	}
	why := ""
	if r.Key, r.History, why = s.key(e, there); why != "" {
		r.Why = append(r.Why, "key: "+why)
	}
	s.look.DeclareDays(&r)
	return r
}

// DeclareDays says of a day in the key that it is a real date where all of its cells are: what is in a key must not depend on other rows.
func (l *Look) DeclareDays(r *Record) {
	for i := range r.Fields {
		f := &r.Fields[i]
		dates := func(c Column) bool {
			return c.Dates.Cells > 0 && c.Dates.All() == c.Dates.Cells && l.Name(c.Index) == f.Spec.From[0]
		}
		if f.Name == "received_at" && slices.Contains(r.Key, f.Name) && len(f.Spec.Format) == 0 && len(f.Asks) == 0 && len(f.Spec.From) == 1 && slices.ContainsFunc(l.Columns, dates) {
			f.Spec.Format = mappings.Strings{"serial"}
			f.why("a date in a key is declared")
		}
	}
}

// ownWords takes a reason in words that no list knows for a note: what matters is that the contact point must not be used.
func (s *suggestion) ownWords() {
	col, ok := s.at["reason"]
	if !ok || s.entity != "suppression" || s.look.Columns[col].Filled == 0 {
		return
	}
	if known, _ := s.look.Columns[col].share("reason"); known > 0 || s.look.Columns[col].had > 0 {
		return
	}
	delete(s.at, "reason")
	if _, taken := s.at["note"]; !taken {
		s.at["note"] = col
	} else {
		delete(s.used, col)
	}
}

// mailings are the words that the purpose of a list of contact points has, as far as the header names no other channel.
func (s *suggestion) mailings(about []string) []string {
	if !s.contact || len(about) > 0 && !slices.Contains([]string{"", "email"}, channelOf(plain(about[0]))) {
		return nil
	}
	return Marketing
}

// pair reports whether both halves of an answer have columns.
func (s *suggestion) pair(a, b string) bool {
	_, one := s.at[a]
	_, two := s.at[b]
	return one && two
}

// absent drafts a required field that no column holds.
func (s *suggestion) absent(f *importers.Field) (Field, bool) {
	if !f.Required {
		return Field{}, false
	}
	out := Field{Name: f.Name, Confirm: true}
	state := func(value, why string) (Field, bool) {
		s.ctx.State(&out, s.entity, value)
		out.why(why)
		return out, true
	}
	switch s.entity + "." + f.Name {
	case "suppression.channel":
		if _, phone := s.at["phone"]; phone {
			return state("any", "no column names a channel, and there are telephone numbers; any covers all")
		}
		return state("email", "no column names a channel, and the contact points are e-mail addresses")
	case "suppression.reason":
		name := plain(s.look.File + " " + s.look.Sheet)
		for _, r := range [][2]string{{"bounce", "bounce"}, {"unzustellbar", "bounce"}, {"complain", "complaint"}, {"beschwerde", "complaint"}, {"spam", "complaint"}, {"widerspr", "objection"}, {"objection", "objection"}, {"opposition", "objection"}, {"robinson", "objection"}} {
			if strings.Contains(name, r[0]) {
				return state(r[1], "no column names a reason by a word that is known; the name says "+r[1])
			}
		}
		return state("opt_out", "no column names a reason by a word that is known; an opt-out is lifted only by a provably later receipt. A list of bounces needs bounce")
	case "case.status":
		if f, ok := s.closed(); ok {
			return f, true
		}
		return state("open", "no column names a status; an open case loses no due date")
	case "case.request_type":
		if right, ok := s.look.rightInName(); ok {
			return state(right, "no column names the right that was exercised; the name does")
		}
		return state("other", "no column names the right that was exercised; other keeps the case and its due date")
	case "purpose.name", "activity.name":
		for _, other := range []string{"purpose_id", "activity_id"} {
			if col, ok := s.at[other]; ok {
				out.Spec.From = mappings.Columns{s.look.Name(col)}
				out.why("no column holds a name of its own")
				return out, true
			}
		}
	case "activity.activity_id":
		if col, ok := s.at["name"]; ok {
			out.Spec.From = mappings.Columns{s.look.Name(col)}
			out.why("no column holds a number of the record, so its name tells it apart")
			return out, true
		}
	}
	ask := "which column is it? " + f.Doc
	if left := s.unused(f); left != "" {
		ask += ". Not taken yet: " + left
	}
	out.ask("from", ask)
	return out, true
}

// unused names the columns that no field is read from, those of days for a day.
func (s *suggestion) unused(f *importers.Field) string {
	var list []string
	for col := range s.look.Columns {
		c := &s.look.Columns[col]
		if day := f.Type == importers.Date || f.Type == importers.DateTime; !s.used[col] && c.Header != "" && (!day || c.Dates.All() > 0) {
			list = append(list, s.look.Say(col))
		}
	}
	return strings.Join(list[:min(len(list), 8)], ", ")
}

// closed drafts the status of a case from a column that says yes or no to whether it is closed.
func (s *suggestion) closed() (Field, bool) {
	for col := range s.look.Columns {
		c := &s.look.Columns[col]
		if s.used[col] || fits("closed_at", plain(c.Header)) == 0 || c.Filled == 0 || len(c.Words) == 0 {
			continue
		}
		f := Field{Name: "status", Confirm: true, Spec: mappings.FieldSpec{From: mappings.Columns{s.look.Name(col)}, Enum: map[string]mappings.Strings{}}}
		for _, word := range c.sortedWords() {
			switch says, _ := term(answers, word); says {
			case "yes":
				f.Spec.Enum["closed_fulfilled"] = append(f.Spec.Enum["closed_fulfilled"], c.As(word))
			case "no":
				f.Spec.Enum["open"] = append(f.Spec.Enum["open"], c.As(word))
			default:
				return f, false
			}
		}
		s.used[col] = true
		f.why(s.counts(col))
		f.why("its header asks whether the case is closed; whether it was refused, no column says")
		return f, true
	}
	return Field{}, false
}

// field drafts how a column is read.
func (s *suggestion) field(f *importers.Field, col int) Field {
	out := Field{Name: f.Name, Confirm: true, Spec: mappings.FieldSpec{From: mappings.Columns{s.look.Name(col)}}}
	out.why(s.counts(col))
	c := &s.look.Columns[col]
	switch f.Type {
	case importers.Email:
		out.Spec.Normalize = mappings.Strings{"trim"}
	case importers.Phone:
		out.Spec.Normalize = mappings.Strings{"trim"}
		switch _, email := s.at["email"]; {
		case c.Filled == c.Phones:
		case email && s.entity == "consent":
			out.Spec.When = mappings.Conditions{{Column: s.look.Name(col), Matches: `^\s*(\+|00)`}}
			out.why(fmt.Sprintf("the e-mail address says who is meant, so the %s out; to take more, declare region: and remove when:", finding.Count(c.Filled-c.Phones, "number without country code is left", "numbers without country code are left")))
		default:
			out.ask("region", fmt.Sprintf("%s no country code: which country, as DE or FR?", finding.Count(c.Filled-c.Phones, "number has", "numbers have")))
		}
	case importers.Date, importers.DateTime:
		s.look.Date(&out, col)
	case importers.ID:
		out.Spec.Normalize = mappings.Strings{"trim"}
	case importers.Enum, importers.Bool:
		list := f.Name
		if list == "status" {
			list = "case.status"
		}
		if fieldWords[list] == nil {
			break // its own terms
		}
		s.enum(&out, col, list)
	}
	return out
}

// Unknown says why nothing is suggested for a sheet.
func (l *Look) Unknown() string {
	r := l.read("suppression")
	_, email := r.at["email"]
	_, phone := r.at["phone"]
	switch {
	case l.HeaderRow == 0:
		return "the sheet has no header"
	case email || phone:
		return "it has contact points, and no column that answers about consent, gives a reason not to use them, or names a request"
	}
	return "no preset fits its header, and no column of it is known to hold a contact point, a purpose, a notice, a request or a record of processing"
}

// Bare is what is written for a sheet of which nothing is known: its columns to choose from, and TODO where a person decides.
func Bare(l *Look, ctx *Context) []byte {
	header := make([]string, len(l.Columns))
	for i := range l.Columns {
		header[i] = l.Columns[i].Header
	}
	sheet := l.Sheet
	if mappings.LooksPersonal(sheet) {
		sheet = ""
	}
	w := &writer{}
	w.comment(0, "Nothing is suggested: "+l.Unknown()+".")
	return append([]byte(w.String()), mappings.Draft(ctx.Name, header, sheet, l.HeaderRow)...)
}

// PurposeRows says where a list of purposes has its codes and names; ok is false for any other sheet.
func (l *Look) PurposeRows() (code, name int, ok bool) {
	entity, _ := l.Entity()
	if entity != "purpose" {
		return 0, 0, false
	}
	r := l.read("purpose")
	code = r.at["purpose_id"]
	name, named := r.at["name"]
	if !named {
		name = code
	}
	return code, name, true
}
