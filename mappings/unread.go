package mappings

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"sheetlift/importers"
	"sheetlift/importers/source"
	"sheetlift/pipeline/finding"
)

// Unread counts the rows in which a column that the mapping does not use speaks against a consent that the row gives.
type Unread struct {
	Kind     unreadKind `json:"kind"`
	Rows     int        `json:"rows"`
	FirstRow int        `json:"first_row"`
	LastRow  int        `json:"last_row"`
	First    []int      `json:"first"` // rows, the first of them
}

// join adds the rows that another counted.
func (u *Unread) join(o *Unread) {
	if o.Rows == 0 {
		return
	}
	if u.Rows == 0 || o.FirstRow < u.FirstRow {
		u.FirstRow = o.FirstRow
	}
	u.Rows, u.LastRow = u.Rows+o.Rows, max(u.LastRow, o.LastRow)
	u.First = slices.Concat(u.First, o.First)
	slices.Sort(u.First)
	u.First = u.First[:min(len(u.First), unreadRowsNamed)]
}

// unreadKind is how a column that is not used may speak against consents.
type unreadKind string

// The kinds.
const (
	unreadOptOut  unreadKind = "opt_out" // its header asks for an opt-out, so whatever is no no says something
	unreadWords   unreadKind = "words"   // it holds states or answers
	unreadWaiting unreadKind = "waiting" // words say that nobody confirmed yet
	unreadBlank   unreadKind = "blank"   // its header asks whether an answer was confirmed, and the cell is blank
	unreadRemark  unreadKind = "remark"  // remarks may say that somebody wants no more or left
)

const (
	unreadRowsNamed = 5
	unreadWordsMost = 40 // a column of more distinct values holds no states
)

// unreadColumn is a column that the mapping does not use, beside consents.
type unreadColumn struct {
	Unread
	waiting  Unread // words by which nobody confirmed consents
	blank    Unread // blanks by which nobody did
	col      int
	waits    bool // its words may say so: it asks nothing ordinary
	rights   bool // an erasure or objection in it is one of somebody: its header speaks of no orders and retention
	confirms bool // its header asks whether an answer was confirmed, and no column that the mapping uses does
	memo     memo[unreadSays]
}

// unreadSays is what a cell of such a column says.
type unreadSays uint8

const (
	unreadNothing unreadSays = iota
	unreadAgainst
	unreadWaits
)

// remarkColumn is a column of remarks, which no answer is read from, beside consents.
type remarkColumn struct {
	Unread
	col    int
	unread *unreadColumn // nil if the mapping uses it, as a note
	known  Unread        // words that unread counts as well, as long as the column has few values
}

// add counts a row.
func (u *Unread) add(row int) {
	if u.Rows++; u.FirstRow == 0 {
		u.FirstRow = row
	}
	if u.LastRow = row; len(u.First) < unreadRowsNamed {
		u.First = append(u.First, row)
	}
}

// bindUnread prepares the columns that the mapping does not use, if its records can be given consents. It has specs of its own, for those of the
// profile may be in use beside it.
func (p *Profiler) bindUnread(column func(Column) int) error {
	if !slices.ContainsFunc(p.specs, func(s *profiledSpec) bool { return s.entity.Name == "consent" && s.grants() }) {
		return nil
	}
	p.used = map[int]bool{}
	for _, r := range p.p.Refs {
		p.used[r.Index] = true
	}
	p.decides = map[int]bool{}
	for _, c := range p.m.program.columnsBut("note") {
		p.decides[column(c)] = true
	}
	for i := range p.m.program.specs {
		s, err := bindSpec(&p.m.program.specs[i], &p.env, p.m.Zone, column)
		if err != nil {
			return err
		}
		p.beside = append(p.beside, s)
	}
	return nil
}

// unreadColumns takes in the columns that were not there before: a list without a header has as many as its rows have.
func (p *Profiler) unreadColumns() {
	header := func(col int) string {
		if col < len(p.p.Header) {
			return p.p.Header[col]
		}
		return ""
	}
	for ; p.looked < max(len(p.columns), len(p.p.Header)); p.looked++ {
		var r *remarkColumn
		if HoldsRemarks(header(p.looked)) && !p.decides[p.looked] {
			r = &remarkColumn{Unread: Unread{Kind: unreadRemark}, col: p.looked}
			p.remarks = append(p.remarks, r)
		}
		if p.used[p.looked] {
			continue
		}
		u := &unreadColumn{Unread: Unread{Kind: unreadWords}, waiting: Unread{Kind: unreadWaiting}, blank: Unread{Kind: unreadBlank}, col: p.looked}
		u.rights = MayClaim(header(p.looked))
		if name := header(p.looked); OptOutOf(name) == SureOptOut {
			u.Kind = unreadOptOut
		} else if u.waits = !ordinary(name); u.waits && AsksConfirmed(name) {
			u.confirms = true
			for col := range p.used {
				u.confirms = u.confirms && !AsksConfirmed(header(col))
			}
		}
		p.unread = append(p.unread, u)
		if r != nil {
			r.unread = u
		}
	}
}

// TakeRemarks says that what remarks say is that of a profile of the same sheet whose digest is known to be right: looking through them takes as
// long as reading some columns.
func (p *Profiler) TakeRemarks(recorded *Profile) { p.recorded = recorded }

// unreadRows looks at what the rows of a block from index from say in columns that the mapping does not use.
func (p *Profiler) unreadRows(b *source.Block, from int) {
	if len(p.beside) == 0 {
		return
	}
	for _, s := range p.beside {
		s.begin()
	}
	p.unreadColumns()
	if p.recorded == nil {
		for _, r := range p.remarks {
			p.remarkRows(r, b, from)
		}
	}
	for _, u := range p.unread {
		if u.confirms {
			p.unconfirmedRows(u, b, from)
		}
		if u.col >= len(b.Cols) || u.Kind == unreadWords && !u.confirms && p.columns[u.col].Distinct > unreadWordsMost {
			continue
		}
		u.memo.begin()
		cells := b.Cols[u.col]
		for i := from; i < len(cells); i++ {
			c := cells[i]
			if c.Kind == source.Empty || c.Kind == source.ErrorValue || p.skip[i] {
				continue
			}
			switch u.memo.say(b, c, u.says) {
			case unreadAgainst:
				if p.gives(b, i, false) {
					u.add(b.RowNum[i])
				}
			case unreadWaits:
				if p.gives(b, i, !u.confirms) {
					u.waiting.add(b.RowNum[i])
				}
			}
		}
	}
}

// unconfirmedRows counts rows that state a consent where a column of confirmations is blank.
func (p *Profiler) unconfirmedRows(u *unreadColumn, b *source.Block, from int) {
	for i := from; i < b.Rows(); i++ {
		if !p.skip[i] && (u.col >= len(b.Cols) || Blank(b, u.col, i)) && p.gives(b, i, true) {
			u.blank.add(b.RowNum[i])
		}
	}
}

// remarkRows counts rows that give a consent and whose remark may say that somebody wants no more or left.
func (p *Profiler) remarkRows(r *remarkColumn, b *source.Block, from int) {
	if r.col >= len(b.Cols) {
		return
	}
	cells := b.Cols[r.col]
	for i := from; i < len(cells); i++ {
		if cells[i].Kind != source.Text || p.skip[i] {
			continue
		}
		raw := b.Bytes(cells[i])
		switch {
		case !p.saying.Stop(raw) || !p.gives(b, i, false):
		case r.unread != nil && bytes.IndexByte(bytes.TrimSpace(raw), ' ') < 0 && r.unread.says(raw) == unreadAgainst:
			r.known.add(b.RowNum[i])
		default:
			r.add(b.RowNum[i])
		}
	}
}

// gives reports whether some record of the row is a consent that nothing else in the row speaks against; with stated, one that is stated for all rows.
func (p *Profiler) gives(b *source.Block, i int, stated bool) bool {
	return slices.ContainsFunc(p.beside, func(s *boundSpec) bool {
		if s.entity.Name != "consent" || !s.grants() || stated && s.readers[s.status].constant == nil || !s.applies(b, i) || s.unanswered(b, i) {
			return false
		}
		out := s.readers[s.status].read(b, i)
		return out.bad.rule == "" && out.v.Set && out.v.Text == importers.StatusGiven && !opposedIn(p.beside, s.about, b, i)
	})
}

// says tells what a cell of the column says of a consent beside it.
func (u *unreadColumn) says(text []byte) unreadSays {
	against := func(is bool) unreadSays {
		if is {
			return unreadAgainst
		}
		return unreadNothing
	}
	text = bytes.TrimSpace(text)
	switch {
	case len(text) == 0:
		return unreadNothing
	case u.Kind == unreadOptOut:
		if len(text) > wordBytes || bytes.IndexByte(text, '@') > 0 || bytes.HasPrefix(text, []byte("http")) || bytes.HasPrefix(text, []byte("www.")) {
			return against(len(text) > wordBytes)
		}
		word := fold(string(text))
		return against(!nothing[word] && !saysOf(word, "no"))
	case len(text) > 60 || bytes.IndexByte(text, '@') >= 0 || bytes.Contains(text, []byte("://")):
		return unreadNothing
	}
	word := fold(string(text))
	switch {
	case u.waits && saysWaiting(word):
		return unreadWaits
	case ofOrders[SameWord(word)] || saysOf(word, "yes", "no"):
		return unreadNothing
	}
	return against(saysOf(word, "refused", "withdrawn", "opt_out", "objection") || OptOutOf(string(text)) == SureOptOut || u.rights && ClaimsRight(word))
}

// unreadOf gives what the columns that the mapping does not use say against consents, and of consents that nobody confirmed, to their profiles.
func (p *Profiler) unreadOf() {
	for _, u := range p.unread {
		if u.col >= len(p.columns) {
			continue
		}
		c := p.columns[u.col]
		many := u.Kind == unreadWords && c.Distinct > unreadWordsMost
		if u.Rows > 0 && !many {
			c.Unread = &u.Unread
		}
		if u.waiting.Rows > 0 && (u.confirms || !many) {
			c.Waiting = append(c.Waiting, u.waiting)
		}
		if u.blank.Rows > 0 && c.Blank < p.p.Rows {
			c.Waiting = append(c.Waiting, u.blank)
		}
	}
	for _, r := range p.remarks {
		if r.unread != nil && r.unread.Kind == unreadWords && p.columns[r.col].Distinct > unreadWordsMost {
			r.join(&r.known)
		}
		switch {
		case p.recorded == nil && r.Rows > 0:
			p.columns[r.col].Remarks = &r.Unread
		case p.recorded != nil && r.col < len(p.recorded.Columns): // those that the header names stand in their order
			p.columns[r.col].Remarks = p.recorded.Columns[r.col].Remarks
		}
	}
}

// comeIn is what becomes of consents of rows in which a column that the mapping does not use says something else.
const comeIn = "The mapping does not use the column, and takes consents from these rows: they come in as given."

// unreadRefusals warns of a column that the mapping does not use and that speaks against consents which its rows give.
func (pl *Plan) unreadRefusals(col int, c *ColumnProfile) finding.Finding {
	n := c.Unread.Rows
	rows := finding.Count(n, "row", "rows")
	what := "has, in " + rows + ", a word that speaks against consent"
	if c.Unread.Kind == unreadOptOut {
		what = "sounds like an opt-out, and " + rows + " of it " + finding.Word(n, "says", "say") + " something other than no"
	}
	return pl.unread("consent.refusal_left_out", col, c, c.Unread, what, comeIn)
}

// unreadWaiting warns of a column that the mapping does not use and by which nobody confirmed consents that its rows give.
func (pl *Plan) unreadWaiting(col int, c *ColumnProfile) (list []finding.Finding) {
	for i := range c.Waiting {
		u := &c.Waiting[i]
		rows := finding.Count(u.Rows, "row", "rows")
		what := "has, in " + rows + ", a word that says that nobody confirmed yet"
		if u.Kind == unreadBlank {
			what = "asks whether an answer was confirmed, and is blank in " + rows
		}
		list = append(list, pl.unread("consent.waiting_left_out", col, c, u, what, comeIn))
	}
	return list
}

// remarksOfLeaving warns of a column of remarks some of which may say that somebody wants no more or left.
func (pl *Plan) remarksOfLeaving(col int, c *ColumnProfile) finding.Finding {
	return pl.unread("consent.remark_left_out", col, c, c.Remarks, "holds remarks, and in "+finding.Count(c.Remarks.Rows, "row one", "rows they")+" may say that somebody wants no more or left",
		"No answer is read from it, and the mapping takes consents from these rows: they come in as given.")
}

// unread is a finding about the rows in which a column says something of consents that they give, and that no answer is read from.
func (pl *Plan) unread(rule string, col int, c *ColumnProfile, u *Unread, what, so string) finding.Finding {
	f := pl.at(rule, col, "")
	f.Row, f.LastRow, f.Rows = u.FirstRow, u.LastRow, u.Rows
	var cells []string
	for _, row := range u.First {
		cells = append(cells, fmt.Sprintf("%s%d", c.Letter, row))
	}
	if more := u.Rows - len(cells); more > 0 {
		cells = append(cells, fmt.Sprintf("and %d more", more))
	}
	f.Message = quoteName(c.Name) + " " + what + " (" + strings.Join(cells, ", ") + "). " + so
	return f
}
