// Package suggest drafts the mapping of an export that nobody knows: it matches headers in seven languages, looks at what the
// cells of a column are like, and writes down for each guess what speaks for it.
//
// It promises: a draft holds headers (by position where one looks like a value about a person), counts, and words of its own
// lists and of the list of purposes, never a value of a cell otherwise; each guess carries confirm: true until a person removes
// it; what nothing speaks for is asked, and a draft with an open question is no mapping. It refuses to guess a time from a column
// that says when something was created, changed or imported, and the order of day and month where no row proves it.
package suggest

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"sheetlift/mappings"
	"sheetlift/pipeline/finding"
)

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
		d.Head = append([]string{"Suggested from headers and values: rows of " + kinds[0].Entity + ", because of " + strings.Join(kinds[0].Why, "; ") + "."}, d.Head...)
		return d
	}
	d.Head = append([]string{"It is not clear what the rows of this sheet are. Drafted as rows of " + kinds[0].Entity + ", because of " + strings.Join(kinds[0].Why, "; ") + "."}, d.Head...)
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
	l, second, beside := l.FirstTable()
	d := &Draft{Name: ctx.Name, Sheet: l.Sheet, HeaderRow: l.HeaderRow, FirstRow: l.FirstRow}
	if mappings.LooksPersonal(d.Sheet) {
		d.Sheet = "" // batch.yaml says which sheet it is
	}
	s := &suggestion{look: l, ctx: ctx, reading: l.read(kind.Entity), signs: l.signs(), draft: d, why: strings.Join(kind.Why, "; ")}
	switch kind.Entity {
	case "consent":
		s.consents()
	case "suppression":
		s.suppressions()
	case "case":
		d.Records = append(d.Records, s.cases()...)
	default:
		d.Records = append(d.Records, s.record(nil))
	}
	s.tests()
	d.Skips = append(d.Skips, l.Totals()...)
	if list := s.overlooked(); len(list) > 0 && slices.Contains([]string{"consent", "suppression", "case"}, kind.Entity) {
		d.Head = []string{"Attention: " + strings.Join(list, ", ") + " " + finding.Word(len(list), "sounds", "sound") + " like an opt-out, and no record is drafted from it: if it says who must not be contacted, map it as a suppression or a consent that is withdrawn."}
	}
	if slices.Contains([]string{"consent", "suppression"}, kind.Entity) {
		d.Head = append(d.Head, l.unread(s.used, kind.Entity)...)
		if kind.Entity == "consent" {
			d.Head = append(d.Head, d.Remarks(l)...)
		}
		d.Head = append(d.Head, s.otherAnswers()...)
		d.Head = append(d.Head, s.unheeded()...)
		d.Head = append(d.Head, s.statesLeft()...)
		d.Head = append(d.Head, s.plainAnswers()...)
	}
	if email, ok := s.at["email"]; ok && kind.Entity == "consent" {
		for col := range l.Columns {
			if c := &l.Columns[col]; col != email && !s.used[col] && c.Emails*2 > c.Filled && c.Filled > 0 {
				d.Head = append(d.Head, "Attention: "+l.Say(col)+" holds addresses as well as "+l.Say(email)+": whose answer is it? Where it is that of the other, change from:.")
			}
		}
	}
	if kind.Entity == "notice" {
		d.Head = append(d.Head, s.ends()...)
	}
	d.UnreadOptOuts(l, func(col int) bool { return s.used[col] })
	d.Tables(l, second, beside, kind.Entity, ctx)
	if l.HeaderRow == 0 {
		d.Head = append(d.Head, l.noHeader())
	}
	for i := range l.Columns {
		if !s.used[i] && (l.Columns[i].Header != "" || l.HeaderRow == 0 && l.Columns[i].Filled > 0) {
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

// testMarks are headers of columns that say whether a row is only a test, as plain gives them.
var testMarks = strings.Fields("test istest testrecord testrequest istestrequest testdata testrow testreceipt testuser istestuser testmode testcontact testdatensatz testeintrag testkontakt esprueba prueba enregistrementdetest ditest registrodeteste")

// tests leaves out rows that say of themselves that they are tests: they are nobody's.
func (s *suggestion) tests() {
	for col := range s.look.Columns {
		if s.used[col] || !slices.Contains(testMarks, plain(s.look.Columns[col].Header)) {
			continue
		}
		if yes := s.look.yes(col); len(yes) > 0 {
			s.used[col] = true
			s.draft.Skips = append(s.draft.Skips, Skip{Skip: mappings.Skip{Condition: mappings.Condition{Column: s.look.Name(col), In: yes}, Reason: "test record", Confirm: true},
				Why: []string{s.look.Say(col) + " says by its header that these rows are tests"}})
		}
	}
}

// Totals drafts skips for rows of totals: their first cell says so, and they name no contact point.
func (l *Look) Totals() (list []Skip) {
	for col := range l.Columns {
		for _, word := range slices.Sorted(maps.Keys(l.Columns[col].totals)) {
			if rows := l.Columns[col].totals[word]; rows > 0 {
				list = append(list, Skip{Skip: mappings.Skip{Condition: mappings.Condition{Column: l.Name(col), In: mappings.Strings{word}}, Reason: "totals", Confirm: true},
					Why: []string{finding.Count(rows, "row begins", "rows begin") + " with this word and " + finding.Word(rows, "names", "name") + " no contact point"}})
			}
		}
	}
	return list
}

// unread says which columns hold words that speak against consent, or say of an address that it must not be used, and are read by no record.
func (l *Look) unread(used map[int]bool, entity string) (list []string) {
	for col := range l.Columns {
		c := &l.Columns[col]
		if used[col] || c.Filled == 0 || l.optsOut(col) != mappings.NoOptOut { // that is said already
			continue
		}
		if words := l.opposing(col); len(words) > 0 {
			rows := 0
			for _, word := range words {
				rows += c.Words[word]
			}
			list = append(list, "Attention: in "+l.Say(col)+" "+finding.Count(rows, "row holds a word that speaks", "rows hold words that speak")+" against consent, and no record is drafted from it: if it says who must not be contacted, map it as a suppression or a consent that is withdrawn.")
		} else if c.objects*2 > c.Filled {
			list = append(list, "Attention: "+l.Say(col)+" holds lists or JSON in "+finding.Count(c.objects, "row", "rows")+", which no mapping reads into: if answers stand in there, give each a column of its own before the export is frozen.")
		} else if entity != "suppression" && flagOf(plain(c.Header)) != "" {
			list = append(list, "Attention: "+l.Say(col)+" speaks of addresses that must not be used by its header, and no record is drafted from it: if it does, map it as a suppression.")
		}
	}
	return list
}

// Remarks says in which rows remarks may speak against a consent, as far as their words are known: nothing reads them but as notes. What words say by
// themselves in a column that is not even that is said already.
func (d *Draft) Remarks(l *Look) (list []string) {
	for col := range l.Columns {
		c := &l.Columns[col]
		noted, decides := d.notes(l.Name(col))
		if decides {
			continue
		}
		stops, rows := c.stops[0], c.stopRows[0]
		if c.stops[1] > 0 && (noted || len(l.opposing(col)) == 0) {
			stops, rows = stops+c.stops[1], slices.Concat(rows, c.stopRows[1])
			slices.Sort(rows)
			rows = rows[:min(len(rows), 5)]
		}
		if stops > 0 {
			list = append(list, "Attention: "+l.Say(col)+" holds remarks in "+finding.Count(c.Filled, "row", "rows")+", which no record reads. By words that are known, "+finding.Count(stops, "of them says", "of them say")+" perhaps that somebody wants no more or left ("+rowsNamed(rows, stops)+
				"); the others may say so in words that are not: read them all, as sheetlift cells shows them. Where it is so, write it into the column of the answer, or into a list of its own, before the export is frozen.")
		}
	}
	return list
}

// notes reports whether a column is kept as a note, and whether something else is read from it.
func (d *Draft) notes(column mappings.Column) (noted, decides bool) {
	for i := range d.Records {
		r := &d.Records[i]
		on := func(c mappings.Condition) bool { return c.Column == column }
		decides = decides || slices.ContainsFunc(r.When, on)
		for j := range r.Fields {
			f := &r.Fields[j]
			read := slices.Contains(f.Spec.From, column)
			noted = noted || read && f.Name == "note"
			decides = decides || read && f.Name != "note" || slices.ContainsFunc(f.Spec.When, on)
		}
	}
	return noted, decides
}

// otherAnswers says which columns answer another question than whether somebody wants mailings, and are read by no record.
func (s *suggestion) otherAnswers() (list []string) {
	for col := range s.look.Columns {
		if c := &s.look.Columns[col]; !s.used[col] && s.entity == "consent" && s.look.yesOrNo(col) && (asksElse(c.Header) || ofMessage(c.Header) && fits("asks", plain(c.Header)) > 0) && flagOf(plain(c.Header)) == "" {
			list = append(list, "Attention: "+s.look.Say(col)+" holds answers, and no record is drafted from it: if it asks for a consent, map it as one with a purpose of its own.")
		}
	}
	return list
}

// ends says which columns of days of a list of notices are read by no field: a version that ended is no longer in force, and no consent rests on it.
func (s *suggestion) ends() (list []string) {
	_, ended := s.at["valid_to"]
	for col := range s.look.Columns {
		c := &s.look.Columns[col]
		if !s.used[col] && c.Dates.All()*2 > c.Filled && c.Filled > 0 && !ended {
			list = append(list, "Attention: "+s.look.Say(col)+" holds days that no field is read from: if a version ends then, map it as valid_to, or consents after that day rest on it.")
		}
	}
	return list
}

// Opposes reports whether a column holds words that speak against consent.
func (l *Look) Opposes(col int) bool { return l.Columns[col].Filled > 0 && len(l.opposing(col)) > 0 }

// opposing lists the words of a column that speak against consent or the use of an address, whatever the header asks: unsubscribed, blocklisted.
func (l *Look) opposing(col int) (list []string) {
	c := &l.Columns[col]
	if c.Dates.All() > 0 || fits("terms", plain(c.Header)) > 0 {
		return nil
	}
	claims := mappings.MayClaim(c.Header)
	for _, word := range c.sortedWords() {
		if opposes(word) || claims && mappings.ClaimsRight(word) {
			list = append(list, word)
		}
	}
	return list
}

// opposes reports whether a word speaks against consent or the use of an address.
func opposes(word string) bool {
	says, answer := term(answers, word)
	reason, _ := meaning("reason", word)
	switch {
	case slices.Contains(loose, mappings.SameWord(word)), answer && says != "refused" && says != "withdrawn":
		return false
	}
	return answer || reason != "" && reason != "legal" || optsOut(word) == mappings.SureOptOut
}

type suggestion struct {
	*reading
	signs
	look  *Look
	ctx   *Context
	draft *Draft
	why   string
}

// noHeader says of a sheet without a header what follows from it.
func (l *Look) noHeader() string {
	if l.FirstRow > 0 {
		return fmt.Sprintf("The list begins in row %d: that holds values, and what stands above are titles. Columns are named by their letters. If one of the titles is the header, write header: { row: N }.", l.FirstRow)
	}
	return "The first row holds values, and no headers: it is read like the others, and columns are named by their letters. If it is a header, write header: { row: N }."
}

// Unknown says why nothing is suggested for a sheet.
func (l *Look) Unknown() string {
	if l.calledOptOuts() {
		return l.unknown() + "; the name of the sheet sounds like that of a list of opt-outs, and then its rows are suppressions"
	}
	return l.unknown()
}

func (l *Look) unknown() string {
	switch {
	case l.HeaderRow == 0:
		return "it has no header, and its cells alone don't say what they are"
	case l.contacts():
		return "it has contact points, and no column that answers about consent, gives a reason not to use them, or names a request"
	}
	return "no preset fits its header, and no column of it is known to hold a contact point, a purpose, a notice, a request or a record of processing"
}

// contacts reports whether a sheet has contact points.
func (l *Look) contacts() bool {
	r := l.read("suppression")
	return r.has("email", "phone") > 0
}

// MayBeOfPeople reports whether a sheet of which nothing is known must not be passed over: it has contact points, or by its name or by a column it may
// be a list of opt-outs.
func (l *Look) MayBeOfPeople() bool {
	return l.contacts() || l.Rows > 0 && l.calledOptOuts() || slices.ContainsFunc(l.Columns, func(c Column) bool {
		return l.optsOut(c.Index) != mappings.NoOptOut && (c.Dates.All() > 0 || slices.ContainsFunc(c.sortedWords(), saysMore))
	})
}

// calledOptOuts reports whether the name of the sheet sounds like that of a list of opt-outs.
func (l *Look) calledOptOuts() bool {
	sheet := Look{Sheet: l.Sheet}
	return sheet.named("suppression") || OptOutTitle(l.Sheet)
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
	if l.HeaderRow == 0 {
		w.comment(0, l.noHeader())
	}
	for col := range l.Columns {
		if l.optsOut(col) != mappings.NoOptOut && l.Columns[col].Filled > 0 {
			w.comment(0, "Attention: "+l.Say(col)+" sounds like an opt-out: if it says who must not be contacted, map it as a suppression or a consent that is withdrawn.")
		}
	}
	if l.contacts() {
		for _, text := range slices.Concat(l.unread(nil, ""), (&Draft{}).Remarks(l)) {
			w.comment(0, text)
		}
	}
	_, second, beside := l.FirstTable()
	if second != nil {
		w.comment(0, beside+" "+sideBySide)
	}
	d := &Draft{}
	d.overhead(l, 0, len(l.Columns))
	why := d.below(l, "consent") // whatever its rows are, a title or header below must be looked at
	for _, text := range d.Head {
		w.comment(0, text)
	}
	bare := mappings.Draft(ctx.Name, header, sheet, l.HeaderRow)
	if why != "" {
		m := &writer{}
		m.evidence(4, []string{why})
		m.line(4, "when: { "+strings.Join(condition(&mappings.Condition{Column: l.Name(0), In: mappings.Strings{}}), ", ")+" }")
		bare = bytes.Replace(bare, []byte("    fields:\n"), []byte(m.String()+"    fields:\n"), 1)
	}
	if l.HeaderRow == 0 {
		bare = bytes.Replace(bare, []byte(headless(0)), []byte(headless(l.FirstRow)), 1)
	}
	return append([]byte(w.String()), bare...)
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
