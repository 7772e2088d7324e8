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
	"consent":        {"email", "phone", "purpose", "notice_version", "notice_id", "proof_kind", "proof_ref", "actor", "actor_role", "method", "collected_via", "language", "lawful_basis", "note", "occurred_at", "channel", "subject_id", "external_id"},
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
			score := fits(field, header)
			if field == "occurred_at" && score > 0 && score < fits("notoccurred", header)+100 && fits("notoccurred", header) > 0 {
				score = 0
			}
			if field == "occurred_at" && score == 0 && l.Columns[col].Dates.All()*2 > l.Columns[col].Filled && l.Columns[col].Filled > 0 && fits("notoccurred", header) == 0 {
				score = 1 // nothing but dates, under a header that says nothing against it
			}
			if score > 0 {
				list = append(list, fit{n, col, score})
			}
		}
		if c := &l.Columns[col]; c.Emails*2 > c.Filled && slices.Contains(fields, "email") {
			list = append(list, fit{slices.Index(fields, "email"), col, 500})
		}
		if c := &l.Columns[col]; c.Phones*2 > c.Filled && slices.Contains(fields, "phone") {
			list = append(list, fit{slices.Index(fields, "phone"), col, 400})
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

// answers reports whether a column answers a question about consent: its header asks one, and its words are answers.
func (l *Look) answers(col int) bool {
	c := &l.Columns[col]
	header := plain(c.Header)
	asks := fits("status", header) > 0 || fits("optout", header) > 0 || c.Dates.All() == 0 && channelOf(header) != "" && fits("phone", header) < 100 && fits("email", header) < 100
	if !asks || c.Dates.All() > 0 || c.Emails > 0 || c.Phones > 0 {
		return false
	}
	known, total := 0, 0
	for word, rows := range c.Words {
		total += rows
		if _, ok := statusWords.term(word); ok {
			known += rows
		}
	}
	allowed := 0
	for _, word := range c.list {
		if _, ok := statusWords.term(word); ok {
			allowed++
		}
	}
	switch {
	case allowed > 0 && allowed*2 >= len(c.list):
		return true
	case total > 0:
		return known*2 >= total || fits("status", header) >= 100 && len(c.Words) <= 12 // then the words are asked for
	case c.Filled == 0: // a sheet without rows: the header alone
		return fits("status", header) > 0 && fits("occurred_at", header) < 100
	}
	return false
}

// channelOf finds a channel that a header names.
func channelOf(header string) string {
	for _, c := range [][2]string{{"whatsapp", "whatsapp"}, {"sms", "sms"}, {"email", "email"}, {"mailing", "email"}, {"newsletter", "email"}, {"telefon", "phone"}, {"phone", "phone"}, {"telefo", "phone"}, {"anruf", "phone"}, {"brief", "post"}, {"postal", "post"}, {"post", "post"}, {"courrier", "post"}, {"push", "push"}} {
		if strings.Contains(header, c[0]) {
			return c[1]
		}
	}
	return ""
}

// Entity says what the rows of a sheet are, and what speaks for it; "" if nothing does.
func (l *Look) Entity() (entity, why string) {
	name := plain(l.File + " " + l.Sheet)
	named := func(entity string) bool {
		return slices.ContainsFunc(sheetWords[entity], func(w string) bool { return strings.Contains(name, w) })
	}
	consent, suppression, cases := l.read("consent"), l.read("suppression"), l.read("case")
	_, email := suppression.at["email"]
	_, phone := suppression.at["phone"]
	_, id := consent.at["subject_id"]
	contact := email || phone
	var answers, optouts []string
	for col := range l.Columns {
		if l.answers(col) {
			answers = append(answers, l.Say(col))
			if mappings.SoundsLikeOptOut(l.Columns[col].Header) {
				optouts = append(optouts, l.Say(col))
			}
		}
	}
	has := func(r *reading, fields ...string) int {
		n := 0
		for _, f := range fields {
			if _, ok := r.at[f]; ok {
				n++
			}
		}
		return n
	}
	activity, notice, rule, purpose := l.read("activity"), l.read("notice"), l.read("retention_rule"), l.read("purpose")
	switch {
	case named("purpose") && has(purpose, "purpose_id") > 0 && len(answers) == 0 && has(suppression, "reason") == 0 && has(cases, "request_type") == 0:
		return "purpose", "codes under a name that says purposes"
	case has(activity, "subject_categories", "data_categories", "recipients", "transfers", "retention", "security") >= 3:
		return "activity", "the headers are those of a record of processing (GDPR Article 30)"
	case has(cases, "request_type") > 0 && has(cases, "received_at", "due_at") > 0:
		return "case", "the headers name a kind of request and when it was received or is due"
	case has(rule, "months", "entity", "rule_id") == 3 && !contact:
		return "retention_rule", "the headers name a rule, what it governs, and months"
	case has(notice, "notice_version", "valid_from") == 2 && !contact:
		return "notice", "the headers name a version and since when it is in force"
	case contact && (named("suppression") || has(suppression, "reason") > 0) && len(answers) == len(optouts):
		return "suppression", "contact points with a reason, or under a name that says they must not be used"
	case (contact || id) && len(answers) > 0:
		return "consent", "contact points beside an answer: " + strings.Join(answers, ", ")
	case !contact && has(purpose, "purpose_id") > 0 && (named("purpose") || has(purpose, "name") > 0) && len(l.Columns) <= 8:
		return "purpose", "codes and names without any contact point" + map[bool]string{true: ", under a name that says purposes"}[named("purpose")]
	}
	return "", ""
}

// Suggest drafts the mapping of a sheet. Where nothing says what its rows are, it returns nil.
func Suggest(l *Look, ctx *Context) *Draft {
	entity, why := l.Entity()
	if entity == "" {
		return nil
	}
	d := &Draft{Name: ctx.Name, Sheet: l.Sheet, HeaderRow: l.HeaderRow, Head: []string{"Suggested from headers and values: rows of " + entity + ", because of " + why + "."}}
	if mappings.LooksPersonal(d.Sheet) {
		d.Sheet = "" // batch.yaml says which sheet it is
	}
	s := &suggestion{look: l, ctx: ctx, reading: l.read(entity), draft: d, why: why}
	if entity == "consent" {
		s.consents()
	} else {
		d.Records = append(d.Records, s.record(nil))
	}
	for i := range l.Columns {
		if !s.used[i] && l.Columns[i].Header != "" {
			left := strings.TrimPrefix(l.Say(i), "column ")
			if entity == "consent" && fits("notoccurred", plain(l.Columns[i].Header)) > 0 && l.Columns[i].Dates.All() > 0 {
				left += " (no time of consent by its header)"
			}
			d.Left = append(d.Left, left)
		}
	}
	return d
}

type suggestion struct {
	*reading
	look  *Look
	ctx   *Context
	draft *Draft
	why   string
}

// consents drafts one record for each column that answers about consent.
func (s *suggestion) consents() {
	var cols []int
	for col := range s.look.Columns {
		if s.look.answers(col) {
			cols = append(cols, col)
		}
	}
	for _, col := range cols {
		status := s.status(col)
		s.used[col] = true
		channel := channelOf(plain(s.look.Columns[col].Header))
		r := s.record(&status)
		r.Why = []string{"the answers of " + s.look.Say(col)}
		if _, named := s.at["purpose"]; !named && status.Spec.Polarity == "inverted" {
			// A purpose that somebody states would narrow the opt-out to it.
			r.Fields = slices.DeleteFunc(r.Fields, func(f Field) bool { return f.Name == "purpose" })
			r.Why = append(r.Why, "an opt-out that names no purpose covers every purpose")
		}
		if _, mapped := s.at["channel"]; !mapped && (channel != "" || len(cols) > 1) {
			f := Field{Name: "channel", Confirm: true}
			if channel != "" {
				s.ctx.State(&f, "consent", channel)
				f.why("the header names it")
			} else {
				s.ctx.State(&f, "consent", "any")
				f.why("the header names no channel, and several columns answer")
			}
			r.Fields = append(r.Fields, f)
			if len(cols) > 1 {
				r.Key = append(slices.Clone(r.Key), "channel")
			}
		}
		order(&r)
		s.draft.Records = append(s.draft.Records, r)
	}
}

// order puts the fields of a record into the entity's order.
func order(r *Record) {
	e := importers.ByName(r.Entity)
	slices.SortStableFunc(r.Fields, func(a, b Field) int { return e.Field(a.Name) - e.Field(b.Name) })
}

// status drafts how an answer is read.
func (s *suggestion) status(col int) Field {
	f := Field{Name: "status", Confirm: true, Spec: mappings.FieldSpec{From: mappings.Columns{s.look.Name(col)}}}
	f.why(s.counts(col))
	s.enum(&f, col, statusWords)
	if _, yes := f.Spec.Enum["yes"]; yes || f.Spec.Enum["no"] != nil {
		f.Spec.Polarity = "normal"
		if mappings.SoundsLikeOptOut(s.look.Columns[col].Header) {
			f.Spec.Polarity = "inverted"
			f.why("the header sounds like an opt-out, so yes means withdrawn and no says nothing")
		} else {
			f.why("yes is taken for consent by the header")
		}
	}
	return f
}

// enum maps the words of a column that our lists know. Others are only counted: a word nobody knows may be anything.
func (s *suggestion) enum(f *Field, col int, w words) {
	c := &s.look.Columns[col]
	unknown := 0
	enum := map[string]mappings.Strings{}
	for _, word := range c.vocabulary() {
		term, ok := w.term(word)
		switch {
		case !ok:
			unknown++
		case term == "":
			f.Spec.NullTokens = append(f.Spec.NullTokens, c.As(word))
		default:
			enum[term] = append(enum[term], c.As(word))
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
	case c.Key(s.look):
		out += ", no value twice"
	}
	return out
}

// record drafts a record from the fields that were found.
func (s *suggestion) record(status *Field) Record {
	e := importers.ByName(s.entity)
	r := Record{Entity: s.entity, Confirm: true, Why: []string{s.why}}
	there := map[string]int{}
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
			r.Fields = append(r.Fields, s.ctx.PurposeField(s.look, col))
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
	r.Key = s.key(e, there)
	return r
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
		return state("opt_out", "no column names a reason; an opt-out is lifted only by a provably later receipt. A list of bounces needs bounce")
	case "case.status":
		return state("open", "no column names a status; an open case loses no due date")
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
	out.ask("from", "which column is it? "+f.Doc)
	return out, true
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
		w := fieldWords[f.Name]
		if f.Name == "status" {
			w = fieldWords["case.status"]
		}
		if w == nil {
			break // its own terms
		}
		s.enum(&out, col, w)
	}
	return out
}

// key chooses what tells records apart: an id that is filled and never repeats, else what identifies a subject.
func (s *suggestion) key(e *importers.Entity, there map[string]int) []string {
	has := func(names ...string) bool {
		return !slices.ContainsFunc(names, func(n string) bool { _, ok := there[n]; return !ok })
	}
	for _, id := range []string{"external_id", "purpose_id", "activity_id", "rule_id"} {
		if col, ok := there[id]; ok && (s.look.Columns[col].Key(s.look) || s.look.Rows == 0) {
			return []string{id}
		}
	}
	switch {
	case e.Name == "notice":
		return []string{"notice_id", "notice_version"}
	case e.Name == "purpose":
		return []string{"purpose_id"}
	case e.Name == "activity":
		return []string{"activity_id"}
	case e.Name == "retention_rule":
		return []string{"rule_id"}
	case e.Name == "suppression" && has("email"):
		return []string{"email", "channel"}
	case e.Name == "suppression":
		return []string{"phone", "channel"}
	case has("subject_id") && s.look.Columns[there["subject_id"]].Key(s.look):
		return []string{"subject_id"}
	case has("external_id"):
		return []string{"external_id"}
	case has("email"):
		return []string{"email"}
	case has("subject_id"):
		return []string{"subject_id"}
	case has("phone"):
		return []string{"phone"}
	}
	return []string{"external_id"}
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
