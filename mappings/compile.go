package mappings

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"sheetlift/importers"
	"sheetlift/importers/source"
	"sheetlift/pipeline/finding"
)

// Plan is a mapping compiled for one sheet. Apply is pure per block, but a Plan keeps what it has worked out, so it is not safe
// for concurrent use: compile one for each goroutine.
type Plan struct {
	m         *Mapping
	env       Env
	profile   *Profile
	skips     []*boundCondition
	specs     []*boundSpec
	groups    []map[int]int // per spec: row number -> rows with the same key, where more than one
	header    namedHeader
	headerRow int
	digest    string

	row      Row
	records  []RecordOut
	findings []finding.Finding
	key      []byte
	text     texts
	into     *Rows // where rows are kept, if they are
	passing  bool  // see Passing
}

// Clone compiles the plan anew, for another goroutine.
func (pl *Plan) Clone() (*Plan, error) {
	c, _, err := compile(pl.m, pl.profile, pl.env, pl.groups)
	return c, err
}

// Passing gives the plan's memory for texts to the next rows that are kept: strings of a row, but for those that stay (see RecordOut.Stays),
// are good until then, and must be copied to last longer, as Rows.Retain does.
func (pl *Plan) Passing() { pl.passing = true }

// forget takes back the texts of rows, if they were passing.
func (pl *Plan) forget() {
	if !pl.passing {
		return
	}
	pl.text.forget()
	for _, s := range pl.specs {
		for _, r := range s.readers {
			r.text.forget()
		}
	}
}

// Compile joins a mapping and the profile of a sheet to a plan. The findings are about columns: those with severity Error fail
// the dry-run, but the plan still works and rejects the rows concerned. An error says that mapping and profile don't fit.
func Compile(m *Mapping, p *Profile, env Env) (*Plan, []finding.Finding, error) {
	return compile(m, p, env, nil)
}

// compile is Compile that takes the groups of keys of another plan, if there is one: nothing changes them, and they may be many.
func compile(m *Mapping, p *Profile, env Env, groups []map[int]int) (*Plan, []finding.Finding, error) {
	if p.Mapping != m.Digest() {
		return nil, nil, &SheetError{File: env.File, Sheet: env.Sheet, Message: "the profile was made with another mapping", Remedy: "profile the sheet again with this mapping"}
	}
	index := map[Column]int{}
	for _, r := range p.Refs {
		index[r.Column] = r.Index
	}
	for _, c := range m.program.columnsOf() {
		if _, ok := index[c]; !ok {
			return nil, nil, &SheetError{File: env.File, Sheet: env.Sheet, Message: "the profile does not know " + c.String(), Remedy: "profile the sheet again"}
		}
	}
	if err := m.Unconfirmed(); err != nil {
		return nil, nil, err
	}
	column := func(c Column) int { return index[c] }
	pl := &Plan{m: m, env: env, profile: p, headerRow: max(p.HeaderRow, p.Titles), header: newNamedHeader(p.Header)}
	for i := range m.program.skips {
		pl.skips = append(pl.skips, bindCondition(&m.program.skips[i], column))
	}
	for i := range m.program.specs {
		b, err := bindSpec(&m.program.specs[i], &env, m.Zone, column)
		if err != nil {
			return nil, nil, &SheetError{File: env.File, Sheet: env.Sheet, Message: "the zone of the source: " + err.Error(), Remedy: "give an IANA name, such as Europe/Berlin"}
		}
		if i == len(groups) {
			own := map[int]int{}
			if i < len(p.Keys) {
				for _, g := range p.Keys[i].Groups {
					for _, row := range g {
						own[row] = len(g)
					}
				}
			}
			groups = append(groups, own)
		}
		pl.specs = append(pl.specs, b)
		pl.records = append(pl.records, RecordOut{
			Record:  importers.NewRecord(b.entity),
			Spec:    i,
			History: b.history,
			Alike:   b.simple,
		})
	}
	pl.groups = groups
	findings := pl.decide()
	pl.digest = digestJSON(struct {
		Plan, Mapping, Profile, System, Zone string
		Date1904                             bool
	}{"sheetlift/plan/v1", m.Digest(), p.Digest(), env.System, env.Zone, env.Date1904})
	return pl, findings, nil
}

// Digest is the hex SHA-256 of what the plan was compiled from: the same digest gives the same records from the same rows.
func (pl *Plan) Digest() string { return pl.digest }

// at starts a finding about a column of the sheet; col is -1 for the sheet as a whole.
func (pl *Plan) at(rule string, col int, field string) finding.Finding {
	f := finding.New(rule)
	f.Source, f.File, f.Sheet, f.Field = pl.env.Source, pl.env.File, pl.env.Sheet, field
	if col >= 0 {
		f.Column = source.Letters(col)
	}
	return f
}

// decide takes the column decisions from the profile and says what it found.
func (pl *Plan) decide() []finding.Finding {
	var list []finding.Finding
	if n := pl.profile.Above; n > 0 {
		f := pl.at("header.rows_above", -1, "")
		f.Rows, f.LastRow = n, pl.headerRow-1
		above := fmt.Sprintf("the header (row %d)", pl.headerRow)
		if pl.m.Header.None {
			f.LastRow, above = pl.headerRow, fmt.Sprintf("the list (row %d)", pl.m.Header.First)
		}
		f.Message = fmt.Sprintf("%s above %s %s not read.", finding.Count(n, "row", "rows"), above, finding.Word(n, "is", "are"))
		list = append(list, f)
	}
	list = append(list, pl.unconfirmed()...)
	columns := map[int]*ColumnProfile{}
	for i := range pl.profile.Columns {
		c := &pl.profile.Columns[i]
		col := columnIndex(c.Letter)
		columns[col] = c
		if n := c.Text + c.Numbers + c.Bools + c.Errors; !c.Mapped && n > 0 {
			f := pl.at("column.unmapped", col, "")
			f.Rows = n
			f.Message = "The mapping takes nothing from " + quoteName(c.Name) + "."
			list = append(list, f)
			if c.Noes {
				list = append(list, pl.unusedNoes(col, c))
			}
			if c.Unread != nil {
				list = append(list, pl.unreadRefusals(col, c))
			}
			list = append(list, pl.unreadWaiting(col, c)...)
		}
		if c.Remarks != nil {
			list = append(list, pl.remarksOfLeaving(col, c))
		}
	}
	for _, s := range pl.specs {
		for j := range s.fields {
			list = append(list, pl.decideRefusals(&s.fields[j], s.readers[j].cols)...)
			for k, col := range s.readers[j].cols {
				c := columns[col]
				if c == nil {
					continue
				}
				list = append(list, pl.decideDate(s.readers[j], k, c)...)
				list = append(list, pl.decidePolarity(&s.fields[j], col, c)...)
			}
		}
	}
	for i, k := range pl.profile.Keys {
		if k.Alike == 0 || i >= len(pl.specs) {
			continue
		}
		col := -1
		if r := pl.specs[i].readers[pl.specs[i].byField[pl.specs[i].key[0]]]; len(r.cols) > 0 {
			col = r.cols[0]
		}
		f := pl.at("key.case_only", col, "")
		f.Row, f.LastRow, f.Rows = k.FirstAlike, k.LastAlike, k.Alike
		f.Message = fmt.Sprintf("%s of %s %s from another key only in case or in characters that look the same.", finding.Count(k.Alike, "key", "keys"), k.Entity, finding.Word(k.Alike, "differs", "differ"))
		list = append(list, f)
	}
	list = append(list, pl.gaps()...)
	list = append(list, pl.decideLeftOut()...)
	return unique(list)
}

// unique drops findings that several records of the mapping give for the same column and field.
func unique(list []finding.Finding) []finding.Finding {
	var out []finding.Finding
	seen := make(map[finding.Finding]bool, len(list))
	for _, f := range list {
		if !seen[f] {
			seen[f] = true
			out = append(out, f)
		}
	}
	return out
}

func quoteName(name string) string {
	if strings.HasPrefix(name, "column ") {
		return name
	}
	return "column " + strconv.Quote(name)
}

func (pl *Plan) decideDate(r *fieldReader, k int, c *ColumnProfile) (list []finding.Finding) {
	e := c.DateShapes
	if e == nil || !r.p.isDate() {
		return nil
	}
	col := r.cols[k]
	numeric := e.DayFirst + e.MonthFirst + e.Either + e.Same
	if !r.p.declared {
		r.orders[k] = e.order()
		switch {
		case r.orders[k] == orderMixed:
			f := pl.at("date.mixed_order", col, r.p.path)
			f.Row, f.LastRow, f.Rows = min(e.FirstDayFirst, e.FirstMonthFirst), e.LastNumeric, numeric
			f.Message = fmt.Sprintf("In %s row %d can only be day first and row %d only month first.", quoteName(c.Name), e.FirstDayFirst, e.FirstMonthFirst)
			list = append(list, f)
		case r.orders[k] == orderUnknown && e.Either > 0:
			f := pl.at("date.ambiguous", col, r.p.path)
			f.Row, f.LastRow, f.Rows = e.FirstEither, e.LastNumeric, e.Either
			f.Message = fmt.Sprintf("Nothing in %s shows whether the day or the month comes first, and the mapping declares no format.", quoteName(c.Name))
			list = append(list, f)
		}
	}
	if e.Cells > 0 && numeric > 0 {
		f := pl.at("date.mixed_cells", col, r.p.path)
		f.Row, f.Rows = e.FirstCell, e.Cells
		list = append(list, f)
	}
	if r.p.typ == importers.DateTime && r.zone == nil && k == 0 {
		bare := e.ISO + numeric + e.Cells - e.Zoned
		if r.p.declared && slices.ContainsFunc(r.p.layouts, func(l *layout) bool { return !l.zoned }) {
			bare += e.Other
		}
		if bare > 0 {
			f := pl.at("date.no_zone", col, r.p.path)
			f.Rows = bare
			list = append(list, f)
		}
	}
	return list
}

func (pl *Plan) decidePolarity(f *fieldProgram, col int, c *ColumnProfile) []finding.Finding {
	if !f.yesGiven {
		return nil
	}
	if OptOutOf(c.Name) != SureOptOut {
		return nil
	}
	w := pl.at("consent.polarity", col, f.path)
	w.Message = "The header of " + quoteName(c.Name) + " sounds like an opt-out, but yes is mapped as consent."
	return []finding.Finding{w}
}

// headerHolds reports whether one of the pieces stands in the letters of a header.
func headerHolds(header string, pieces ...string) bool {
	letters := strings.Map(func(r rune) rune {
		if strings.ContainsRune(" -_./'’\"", r) {
			return -1
		}
		return r
	}, headerFold(header))
	return slices.ContainsFunc(pieces, func(piece string) bool { return strings.Contains(letters, piece) })
}

// gaps lists the words that closed lists do not know, and lets row findings show those that may be shown.
func (pl *Plan) gaps() (list []finding.Finding) {
	for _, w := range pl.profile.Words {
		if w.Record >= len(pl.specs) {
			continue
		}
		s := pl.specs[w.Record]
		f := pl.at("enum.gaps", w.Column, w.Field)
		f.Row, f.LastRow, f.Rows = w.FirstRow, w.LastRow, w.Rows
		f.Message = finding.Count(w.Distinct, "word is", "words are") + " not known to the mapping; " + finding.Word(w.Distinct, "its", "their") + " rows will be rejected"
		if w.AtLeast {
			f.Message = "at least " + f.Message
		}
		var shown []string
		for j := range s.fields {
			if s.fields[j].path != w.Field {
				continue
			}
			s.readers[j].quotable = map[string]bool{}
			for _, word := range w.Words {
				s.readers[j].quotable[word.Word] = true
				shown = append(shown, strconv.Quote(word.Word))
			}
		}
		if len(shown) > 0 {
			f.Message += ": " + strings.Join(shown[:min(len(shown), 10)], ", ")
			if len(shown) > 10 {
				f.Message += ", …"
			}
		}
		f.Message += "."
		list = append(list, f)
	}
	return list
}
