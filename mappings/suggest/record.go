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

// Complete adds to a drafted enum the words of the column that our lists know and the enum does not. Rows with the skipped words are
// left out.
func (l *Look) Complete(f *Field, col int, skipped []string) {
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
	for _, w := range slices.Concat(f.Spec.NullTokens, skipped) {
		known[mappings.FoldWord(w)] = true
	}
	unknown, hidden := 0, c.Hidden
	for _, word := range c.vocabulary() {
		if known[word] {
			continue
		}
		if t, ok := meaning(list, word); ok && t != "" && shown(list, word) {
			enum[t] = append(enum[t], c.As(word))
		} else if ok && t != "" && c.Words[word] > 0 {
			hidden += c.Words[word]
		} else if !l.skipped(c, word) {
			unknown++
		}
	}
	if f.Spec.Enum = enum; unknown > 0 {
		f.why(finding.Count(unknown, "word of it is", "words of it are") + " known in no language and would be rejected: sheetlift cells shows them")
	}
	f.hidden(hidden)
	if list == "case.status" {
		f.ended()
	}
}

// hidden says of rows whose words may be values about people that the draft does not show them.
func (f *Field) hidden(rows int) {
	if rows > 0 {
		f.why(finding.Count(rows, "row has a word", "rows have words") + " that no draft shows, since it may be a value about a person; unless enum gets " + finding.Word(rows, "it", "them") + ", " + finding.Word(rows, "the row is", "the rows are") + " rejected: sheetlift cells shows " + finding.Word(rows, "it", "them"))
	}
}

// enum maps the words of a column that our lists know. Others are only counted: a word nobody knows may be anything.
func (s *suggestion) enum(f *Field, col int, list string) {
	c := &s.look.Columns[col]
	unknown, open, hidden := 0, 0, c.Hidden
	enum := map[string]mappings.Strings{}
	several := list == "lawful_basis" && f.severalBases(c)
	coded := c.coded()
	for _, word := range c.vocabulary() {
		if several && strings.Contains(word, basesParted) {
			for _, one := range basesIn(c.As(word)) {
				if t, _ := meaning(list, one); !shown(list, one) {
					hidden += c.Words[word]
				} else if !slices.ContainsFunc(enum[t], func(w string) bool { return mappings.SameWord(w) == mappings.SameWord(one) }) && c.Words[mappings.FoldWord(one)] == 0 {
					enum[t] = append(enum[t], one)
				}
			}
			continue
		}
		t, ok := meaning(list, word)
		if list == answers && coded && number(word) {
			ok = false
		}
		if list == answers && c.ring(word) {
			ok = false
			f.why(strconv.Quote(c.As(word)) + " stands for oui, and as a ring for no: no n or non beside it says which, so its rows are rejected until it is mapped")
		}
		if list == "lawful_basis" && !ok { // not applicable
			says, silent := term(answers, word)
			ok = silent && says == ""
		}
		if list == answers && ok && t == "" && leavesOpen(word) && s.look.optsOut(col) != mappings.NoOptOut {
			f.why(strconv.Quote(c.As(word)) + " leaves open whether somebody opted out, and is never taken for nothing said: its rows are rejected until it is mapped")
			open++
			continue
		}
		switch {
		case !ok && (s.look.skipped(c, word) || list == answers && s.ofContact(word)):
		case ok && !shown(list, word) && !shown(answers, word) && c.Words[word] > 0:
			hidden += c.Words[word]
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
	f.hidden(hidden)
	switch {
	case len(enum) == 0 && unknown+open+hidden == 0 && len(f.Spec.NullTokens) > 0 && list != "lawful_basis":
		f.why("all of its words say that there is no answer")
	case len(enum) == 0 && c.Filled == 0 && c.had == 0:
		f.ask("enum", "the column holds nothing yet: which words does it have, as term: [words]?")
	case len(enum) == 0 && list == answers && coded:
		f.ask("enum", "its words are numbers, and what they stand for only the system's documentation says: map them, as given: [1]")
	case len(enum) == 0:
		f.ask("enum", "none of its words is known in seven languages: map them, as term: [words]")
	case unknown > 0:
		f.Spec.Enum = enum
		f.why(strconv.Itoa(unknown) + " of its words are known in no language and would be rejected: sheetlift cells shows them")
	case hidden+open > 0:
		f.Spec.Enum = enum
	default:
		f.Spec.Enum = enum
		f.why("all of its words are known")
	}
	if list == "case.status" {
		f.ended()
	}
}

// coded reports whether a column holds other numbers than 0 and 1: then these are codes too, and say neither yes nor no.
func (c *Column) coded() bool {
	return slices.ContainsFunc(c.vocabulary(), func(word string) bool {
		return number(word) && strings.TrimLeft(word, "0") != "" && strings.TrimLeft(word, "0") != "1"
	})
}

// number reports whether a word is a whole number. A minus before it is of the number: it says yes in some databases, and no in other exports.
func number(word string) bool {
	return strings.Trim(word, "0123456789") == "" || negative(word)
}

// negative reports whether a word is a whole number with a minus.
func negative(word string) bool {
	rest := strings.Trim(word, "-−– ")
	return rest != "" && len(rest) < len(word) && strings.Trim(rest, "0123456789") == ""
}

// ring reports whether a word of the column may be a ring, which stands for no beside a cross, rather than the o of oui.
func (c *Column) ring(word string) bool {
	return mappings.SameWord(word) == "o" && !slices.ContainsFunc(c.vocabulary(), func(w string) bool { return w == "n" || w == "non" })
}

// ended says of words such as Closed that they leave open how a request ended: an erasure that is taken for done ends the person's consents.
func (f *Field) ended() {
	var list []string
	for _, word := range f.Spec.Enum["closed_fulfilled"] {
		if slices.Contains(endings, mappings.SameWord(word)) {
			list = append(list, strconv.Quote(word))
		}
	}
	if len(list) > 0 {
		f.why(strings.Join(list, ", ") + finding.Word(len(list), " says", " say") + " that a request ended, and not how: closed_refused, if such requests were refused; after a fulfilled erasure no earlier consent of the person counts")
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
	for _, name := range r.Key {
		if _, found := there[name]; !found && e.Field(name) >= 0 && !slices.ContainsFunc(r.Fields, func(f Field) bool { return f.Name == name }) {
			r.Fields = append(r.Fields, s.keyField(&e.Fields[e.Field(name)]))
		}
	}
	s.look.DeclareDays(&r)
	return r
}

// keyField asks for what tells records apart, where no column is known to.
func (s *suggestion) keyField(f *importers.Field) Field {
	out := Field{Name: f.Name, Confirm: true}
	ask := "which column tells these rows apart, such as a number of the record? Or put other fields into the key"
	if left := s.unused(f); left != "" {
		ask += ". Not taken yet: " + left
	}
	out.ask("from", ask)
	return out
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
	if !ok || s.entity != "suppression" {
		return
	}
	if c := &s.look.Columns[col]; c.Filled == 0 && c.had == 0 && s.look.Rows > 0 { // it gives none
		delete(s.at, "reason")
		delete(s.used, col)
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
		if day := f.Type == importers.Date || f.Type == importers.DateTime; !s.used[col] && (c.Header != "" || s.look.HeaderRow == 0 && c.Filled > 0) && (!day || c.Dates.All() > 0) {
			list = append(list, s.look.Say(col))
		}
	}
	return strings.Join(list[:min(len(list), 8)], ", ")
}

// cases drafts requests. Where no column names a status, those with a day of closing are closed: an erasure that was done must not be
// taken for one that is still to do.
func (s *suggestion) cases() []Record {
	open := s.record(nil)
	i := slices.IndexFunc(open.Fields, func(f Field) bool { return f.Name == "status" && f.Spec.Const != nil })
	col, ok := s.at["closed_at"]
	if i < 0 || !ok || s.look.Columns[col].Filled == 0 {
		return []Record{open}
	}
	closed := open
	closed.Fields = slices.Clone(open.Fields)
	done := Field{Name: "status", Confirm: true}
	s.ctx.State(&done, s.entity, "closed_fulfilled")
	done.why("no column names a status, and these rows have a day in " + s.look.Say(col) + "; whether one was refused, no column says")
	closed.Fields[i] = done
	closed.When = []mappings.Condition{{Column: s.look.Name(col), NotBlank: true}}
	open.When = []mappings.Condition{{Column: s.look.Name(col), Blank: true}}
	return []Record{closed, open}
}

// closed drafts the status of a case from a column that says yes or no to whether it is closed.
func (s *suggestion) closed() (Field, bool) {
	for col := range s.look.Columns {
		c := &s.look.Columns[col]
		if s.used[col] || fits("closed_at", plain(c.Header)) == 0 || c.Filled == 0 || len(c.Words) == 0 || c.Hidden > 0 {
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

// nationalNumbers asks for the country of numbers.
func nationalNumbers(n int) string {
	return fmt.Sprintf("%s no country code: which country, as DE or FR?", finding.Count(n, "number has", "numbers have"))
}

// field drafts how a column is read.
func (s *suggestion) field(f *importers.Field, col int) Field {
	out := Field{Name: f.Name, Confirm: true, Spec: mappings.FieldSpec{From: mappings.Columns{s.look.Name(col)}}}
	out.why(s.counts(col))
	c := &s.look.Columns[col]
	trim := mappings.Strings{"trim"}
	if c.marked > 0 {
		trim = mappings.Strings{"apostrophe", "trim"}
	}
	switch f.Type {
	case importers.Email:
		out.Spec.Normalize = trim
	case importers.Phone:
		out.Spec.Normalize = trim
		switch _, email := s.at["email"]; {
		case c.Filled == c.Phones:
		case email && s.entity == "consent":
			out.Spec.When = mappings.Conditions{{Column: s.look.Name(col), Matches: `^\s*'?\s*(\+|00)`}}
			out.why(fmt.Sprintf("the e-mail address says who is meant, so the %s out; to take more, declare region: and remove when:", finding.Count(c.Filled-c.Phones, "number without country code is left", "numbers without country code are left")))
		default:
			out.ask("region", nationalNumbers(c.Filled-c.Phones))
		}
	case importers.Date, importers.DateTime:
		s.look.Date(&out, col)
		if f.Name == "expires_at" {
			out.why("by its header the day on which the consent ends: take this field away if something else does")
		}
		if _, consent := dayOf(c.Header); f.Name == "occurred_at" && !consent && fits("occurred_at", plain(c.Header)) == 0 && !s.look.leaves(col) {
			out.why("its header does not say of what it is the time: take this field away unless it is that of the answer")
		}
	case importers.ID:
		out.Spec.Normalize = trim
	case importers.Enum, importers.Bool:
		list := f.Name
		if list == "status" {
			list = "case.status"
		}
		if fieldWords[list] == nil || s.entity == "retention_rule" && c.ownTerms(f) {
			break // its own terms
		}
		s.enum(&out, col, list)
	}
	return out
}

// ownTerms reports whether the words of a column are the terms of the field.
func (c *Column) ownTerms(f *importers.Field) bool {
	return !slices.ContainsFunc(c.vocabulary(), func(word string) bool {
		return !slices.ContainsFunc(f.Terms, func(t importers.Term) bool { return t.Name == word })
	}) && c.Hidden == 0 && c.Words != nil
}

// basesParted stands between the bases of one cell.
const basesParted = ";"

func basesIn(cell string) (list []string) {
	for one := range strings.SplitSeq(cell, basesParted) {
		if one = strings.TrimSpace(one); one != "" {
			list = append(list, one)
		}
	}
	return list
}

// severalBases reports whether some cells of a column name several lawful bases, each of which is known, and drafts how they are parted.
func (f *Field) severalBases(c *Column) bool {
	for word := range c.Words {
		if list := basesIn(word); len(list) > 1 && !slices.ContainsFunc(list, func(one string) bool { _, ok := meaning("lawful_basis", one); return !ok }) {
			f.Spec.Split = basesParted
		}
	}
	return f.Spec.Split != ""
}
