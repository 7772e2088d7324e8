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

// unreadKind is how a column that is not used may speak against consents.
type unreadKind string

// The kinds.
const (
	unreadOptOut  unreadKind = "opt_out" // its header asks for an opt-out, so whatever is no no says something
	unreadWords   unreadKind = "words"   // it holds states or answers
	unreadWaiting unreadKind = "waiting" // words say that nobody confirmed yet
	unreadBlank   unreadKind = "blank"   // its header asks whether an answer was confirmed, and the cell is blank
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
		if p.used[p.looked] {
			continue
		}
		u := &unreadColumn{Unread: Unread{Kind: unreadWords}, waiting: Unread{Kind: unreadWaiting}, blank: Unread{Kind: unreadBlank}, col: p.looked}
		if name := header(p.looked); OptOutOf(name) == SureOptOut {
			u.Kind = unreadOptOut
		} else if u.waits = !ordinary(name); u.waits && AsksConfirmed(name) {
			u.confirms = true
			for col := range p.used {
				u.confirms = u.confirms && !AsksConfirmed(header(col))
			}
		}
		p.unread = append(p.unread, u)
	}
}

// unreadRows looks at what the rows of a block from index from say in columns that the mapping does not use.
func (p *Profiler) unreadRows(b *source.Block, from int) {
	if len(p.beside) == 0 {
		return
	}
	for _, s := range p.beside {
		s.begin()
	}
	p.unreadColumns()
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
	return against(saysOf(word, "refused", "withdrawn", "opt_out", "objection") || OptOutOf(string(text)) == SureOptOut)
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
}

// unreadRefusals warns of a column that the mapping does not use and that speaks against consents which its rows give.
func (pl *Plan) unreadRefusals(col int, c *ColumnProfile) finding.Finding {
	what := map[unreadKind]string{
		unreadOptOut: "sounds like an opt-out, and %s of it %s something other than no",
		unreadWords:  "has, in %s, a word that speaks against consent%.0s",
	}
	return pl.unread("consent.refusal_left_out", col, c, c.Unread, what[c.Unread.Kind])
}

// unreadWaiting warns of a column that the mapping does not use and by which nobody confirmed consents that its rows give.
func (pl *Plan) unreadWaiting(col int, c *ColumnProfile) (list []finding.Finding) {
	what := map[unreadKind]string{
		unreadWaiting: "has, in %s, a word that says that nobody confirmed yet%.0s",
		unreadBlank:   "asks whether an answer was confirmed, and is blank in %s%.0s",
	}
	for i := range c.Waiting {
		list = append(list, pl.unread("consent.waiting_left_out", col, c, &c.Waiting[i], what[c.Waiting[i].Kind]))
	}
	return list
}

// unread is a finding about the rows in which a column that the mapping does not use says something of consents that they give.
func (pl *Plan) unread(rule string, col int, c *ColumnProfile, u *Unread, what string) finding.Finding {
	f := pl.at(rule, col, "")
	f.Row, f.LastRow, f.Rows = u.FirstRow, u.LastRow, u.Rows
	var cells []string
	for _, row := range u.First {
		cells = append(cells, fmt.Sprintf("%s%d", c.Letter, row))
	}
	if more := u.Rows - len(cells); more > 0 {
		cells = append(cells, fmt.Sprintf("and %d more", more))
	}
	rows := finding.Count(u.Rows, "row", "rows")
	f.Message = fmt.Sprintf("%s "+what+" (%s). The mapping does not use the column, and takes consents from these rows: they come in as given.", quoteName(c.Name), rows, finding.Word(u.Rows, "says", "say"), strings.Join(cells, ", "))
	return f
}
