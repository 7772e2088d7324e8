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
	unreadOptOut unreadKind = "opt_out" // its header asks for an opt-out, so whatever is no no says something
	unreadWords  unreadKind = "words"   // it holds states or answers
)

const (
	unreadRowsNamed = 5
	unreadWordsMost = 40 // a column of more distinct values holds no states
)

// unreadColumn is a column that the mapping does not use, beside consents.
type unreadColumn struct {
	Unread
	col  int
	memo memo[bool]
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
	for ; p.looked < len(p.columns); p.looked++ {
		if p.used[p.looked] {
			continue
		}
		u := &unreadColumn{Unread: Unread{Kind: unreadWords}, col: p.looked}
		if p.looked < len(p.p.Header) {
			if OptOutOf(p.p.Header[p.looked]) == SureOptOut {
				u.Kind = unreadOptOut
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
		if u.col >= len(b.Cols) || u.Kind == unreadWords && p.columns[u.col].Distinct > unreadWordsMost {
			continue
		}
		u.memo.begin()
		cells := b.Cols[u.col]
		for i := from; i < len(cells); i++ {
			if c := cells[i]; c.Kind == source.Empty || c.Kind == source.ErrorValue || p.skip[i] || !u.against(b, c) || !p.gives(b, i) {
				continue
			}
			row := b.RowNum[i]
			if u.Rows++; u.FirstRow == 0 {
				u.FirstRow = row
			}
			if u.LastRow = row; len(u.First) < unreadRowsNamed {
				u.First = append(u.First, row)
			}
		}
	}
}

// gives reports whether some record of the row is a consent that nothing else in the row speaks against.
func (p *Profiler) gives(b *source.Block, i int) bool {
	return slices.ContainsFunc(p.beside, func(s *boundSpec) bool {
		if s.entity.Name != "consent" || !s.grants() || !s.applies(b, i) || s.unanswered(b, i) {
			return false
		}
		out := s.readers[s.status].read(b, i)
		return out.bad.rule == "" && out.v.Set && out.v.Text == importers.StatusGiven && !opposedIn(p.beside, s.about, b, i)
	})
}

// against reports whether a cell of the column speaks against consent.
func (u *unreadColumn) against(b *source.Block, c source.Cell) bool {
	return u.memo.say(b, c, u.says)
}

func (u *unreadColumn) says(text []byte) bool {
	text = bytes.TrimSpace(text)
	switch {
	case len(text) == 0:
		return false
	case u.Kind == unreadOptOut:
		if len(text) > wordBytes || bytes.IndexByte(text, '@') > 0 || bytes.HasPrefix(text, []byte("http")) || bytes.HasPrefix(text, []byte("www.")) {
			return len(text) > wordBytes
		}
		word := fold(string(text))
		return !nothing[word] && !saysOf(word, "no")
	case len(text) > 60 || bytes.IndexByte(text, '@') >= 0 || bytes.Contains(text, []byte("://")):
		return false
	}
	word := fold(string(text))
	if ofOrders[SameWord(word)] || saysOf(word, "yes", "no") {
		return false
	}
	return saysOf(word, "refused", "withdrawn", "opt_out", "objection") || OptOutOf(string(text)) == SureOptOut
}

// unreadRefusals warns of a column that the mapping does not use and that speaks against consents which its rows give.
func (pl *Plan) unreadRefusals(col int, c *ColumnProfile) finding.Finding {
	u := c.Unread
	f := pl.at("consent.refusal_left_out", col, "")
	f.Row, f.LastRow, f.Rows = u.FirstRow, u.LastRow, u.Rows
	var cells []string
	for _, row := range u.First {
		cells = append(cells, fmt.Sprintf("%s%d", c.Letter, row))
	}
	if more := u.Rows - len(cells); more > 0 {
		cells = append(cells, fmt.Sprintf("and %d more", more))
	}
	rows := finding.Count(u.Rows, "row", "rows")
	what := map[unreadKind]string{
		unreadOptOut: "sounds like an opt-out, and %s of it %s something other than no",
		unreadWords:  "has, in %s, a word that speaks against consent%.0s",
	}[u.Kind]
	f.Message = fmt.Sprintf("%s "+what+" (%s). The mapping does not use the column, and takes consents from these rows: they come in as given.", quoteName(c.Name), rows, finding.Word(u.Rows, "says", "say"), strings.Join(cells, ", "))
	return f
}
