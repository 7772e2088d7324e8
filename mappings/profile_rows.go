package mappings

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"sheetlift/importers"
	"sheetlift/importers/source"
	"sheetlift/pipeline/finding"
)

// Add takes the next block of the sheet. An error is a *SheetError (or a failure to spill keys) and ends the profile.
func (p *Profiler) Add(b *source.Block) error {
	if p.err != nil {
		return p.err
	}
	from := 0
	if !p.found {
		var err error
		if from, err = p.findHeader(b); err != nil || from < 0 {
			return err
		}
	}
	for ; from < b.Rows() && b.RowNum[from] < p.m.Header.First; from++ {
		if rowHolds(b, from) {
			p.p.Above++
			p.p.Titles = b.RowNum[from]
		}
	}
	if err := p.headerTwice(b, from); err != nil {
		return err
	}
	if from < b.Rows() {
		return p.rows(b, from)
	}
	return nil
}

// findHeader looks for the header row; from is the row after it, or -1 if it lies in a later block.
func (p *Profiler) findHeader(b *source.Block) (from int, err error) {
	h := &p.m.Header
	for i := range b.Rows() {
		row := b.RowNum[i]
		var is bool
		switch {
		case h.Row > 0 && (row > h.Row || row == h.Row && blankRow(b, i)):
			return -1, p.fault(h.Row, "the header row is blank", "set header in the mapping to the row that holds the column names", nil)
		case h.Row > 0:
			is = row == h.Row
		case len(h.Match) > 0 && row > headerWithin:
			return -1, p.noHeader()
		case len(h.Match) > 0:
			is = headerMatches(b, i, h.Match)
		default:
			is = rowHolds(b, i)
		}
		if !is {
			if rowHolds(b, i) {
				p.p.Above++
			}
			continue
		}
		p.p.HeaderRow = row
		names := HeaderNames(b, i)
		for _, text := range names {
			p.folded = append(p.folded, headerFold(text))
		}
		p.p.Header = ShownHeaders(names)
		for n := len(p.folded); n > 0 && p.folded[n-1] == ""; n-- {
			p.folded, p.p.Header = p.folded[:n-1], p.p.Header[:n-1]
		}
		return i + 1, p.bind()
	}
	return -1, nil
}

func (p *Profiler) noHeader() error {
	quoted := make([]string, len(p.m.Header.Match))
	for i, text := range p.m.Header.Match {
		quoted[i] = fmt.Sprintf("%q", text)
	}
	return p.fault(0, fmt.Sprintf("none of the first %d rows holds all of %s", headerWithin, strings.Join(quoted, ", ")),
		"correct header in the mapping; `sheetlift cells` shows what the sheet holds", nil)
}

// headerTwice refuses a second match: which of them is the header is then a guess.
func (p *Profiler) headerTwice(b *source.Block, from int) error {
	if len(p.m.Header.Match) == 0 {
		return nil
	}
	for i := from; i < b.Rows() && b.RowNum[i] <= headerWithin; i++ {
		if headerMatches(b, i, p.m.Header.Match) {
			return p.fault(b.RowNum[i], fmt.Sprintf("the header is in row %d and again here", p.p.HeaderRow), fmt.Sprintf("write header: { row: %d } in the mapping, or match more columns", p.p.HeaderRow), nil)
		}
	}
	return nil
}

// rows profiles the rows of b from index from.
func (p *Profiler) rows(b *source.Block, from int) error {
	n := b.Rows()
	for _, s := range p.skips {
		s.memo.begin()
	}
	for _, s := range p.specs {
		if p.apart { // AddKeys may be at it
			break
		}
		s.begin()
	}
	for _, d := range p.drops {
		d.memo.begin()
	}
	p.skip = append(p.skip[:0], make([]bool, n)...)
	blank := 0
	for i := from; i < n; i++ {
		if blankRow(b, i) {
			p.skip[i] = true
			blank++
			continue
		}
		if p.p.FirstRow == 0 {
			p.p.FirstRow = b.RowNum[i]
		}
		p.p.LastRow = b.RowNum[i]
	}
	for len(p.columns) < max(len(b.Cols), len(p.p.Header)) {
		col := len(p.columns)
		c := &columnStats{ColumnProfile: ColumnProfile{Letter: source.Letters(col), Name: "column " + source.Letters(col)}}
		if col < len(p.p.Header) {
			c.Name = p.p.Header[col]
		}
		c.Blank = p.p.Rows // rows before the column began
		p.columns = append(p.columns, c)
	}
	p.p.Rows += n - from - blank
	for col, c := range p.columns {
		c.Blank -= blank // blank rows are no rows, so their cells don't count
		if col >= len(b.Cols) {
			c.Blank += n - from
			continue
		}
		p.column(c, b, b.Cols[col], from)
	}
	for i := from; i < n; i++ {
		if p.skip[i] {
			continue
		}
		for k, s := range p.skips {
			if s.holds(b, i) {
				p.skip[i] = true
				p.p.Skipped++
				p.skipped(k, b, i)
				break
			}
		}
		if p.skip[i] || p.named.repeats(b, i) {
			p.skip[i] = true
			continue
		}
		if b.Line != nil && p.p.HeaderRow > 0 && len(b.Width) > i {
			switch w := b.Width[i]; {
			case w > len(p.p.Header) && ragged(b, i, len(p.p.Header)):
				p.p.Ragged++
				p.skip[i] = true
			case w < len(p.p.Header):
				p.p.Short++
			}
		}
	}
	p.leftOut(b, from)
	p.unreadRows(b, from)
	slices.Sort(p.dates)
	p.dates = slices.Compact(p.dates)
	for _, col := range p.dates {
		p.dateEvidence(b, col, from)
	}
	if p.apart {
		return nil
	}
	for _, s := range p.specs {
		for i := from; i < n; i++ {
			if p.skip[i] {
				continue
			}
			if err := p.specRow(s, b, i); err != nil {
				p.err = err
				return err
			}
		}
	}
	return nil
}

// ragged reports whether a record holds something beyond the header's columns.
func ragged(b *source.Block, i, columns int) bool {
	for col := columns; col < len(b.Cols); col++ {
		if b.Cols[col][i].Kind != source.Empty {
			return true
		}
	}
	return false
}

func (p *Profiler) column(c *columnStats, b *source.Block, cells []source.Cell, from int) {
	c.places = [seenPlaces]place[struct{}]{} // the shared strings stand still within a block only
	for i := from; i < len(cells); i++ {
		cell := &cells[i]
		if cell.Kind == source.Empty {
			c.Blank++
			if cell.Flags&source.NoCache != 0 {
				c.NoCache++
			}
			continue
		}
		if cell.Kind == source.Text && cell.Flags&source.Shared != 0 {
			// What this text changes beside the count of texts was taken in when it stood here before.
			if at := c.at(cell); at.off == cell.Off && at.len == cell.Len && at.as == 1 {
				c.Text++
				continue
			}
		}
		raw := b.Bytes(*cell)
		plain := true
		switch cell.Kind {
		case source.Text:
			if !inked(raw) || raw[len(raw)-1] <= ' ' || raw[len(raw)-1] >= 0x80 {
				trimmed := bytes.TrimSpace(raw)
				if len(trimmed) == 0 {
					c.Blank++
					continue
				}
				if len(trimmed) < len(raw) {
					c.Padded++
					plain = false
				}
			}
			c.Text++
			if eNotation(raw) {
				c.ENotation++
				plain = false
			}
		case source.Number:
			c.Numbers++
			switch cell.Class {
			case source.Date, source.DateTime:
				c.Dates++
			case source.Time, source.Duration:
				c.Times++
			}
			if cell.Flags&source.ZeroPadded != 0 {
				c.LostZeros++
			}
			if lostDigits(raw) {
				c.ENotation++
			}
		case source.Bool:
			c.Bools++
		case source.ErrorValue:
			c.Errors++
		}
		c.MaxLength = max(c.MaxLength, len(raw))
		if !c.AtLeast {
			p.count(c, cell.Kind, raw)
		}
		if plain && cell.Kind == source.Text && cell.Flags&source.Shared != 0 {
			*c.at(cell) = place[struct{}]{off: cell.Off, len: cell.Len, as: 1} // 0 is no place
		}
	}
}

// at is where a text's place in the shared strings is kept.
func (c *columnStats) at(cell *source.Cell) *place[struct{}] {
	return &c.places[cell.Off*0x9E3779B1>>26%seenPlaces]
}

// lostDigits reports whether a number cell may no longer hold all digits of an identifier: E-notation, or more than 15 digits
// in front of the point.
func lostDigits(raw []byte) bool {
	point := len(raw)
	for i, c := range raw {
		if c|0x20 == 'e' {
			return i+1 < len(raw) && raw[i+1] != '-'
		}
		if c == '.' && point == len(raw) {
			point = i
		}
	}
	return len(bytes.TrimPrefix(raw[:point], []byte("-"))) > 15
}

// count keeps the distinct values of a column as long as there is room.
func (p *Profiler) count(c *columnStats, kind source.Kind, raw []byte) {
	if len(raw) > 64 { // long values count by their digests
		sum := sha256.Sum256(raw)
		raw = append(p.buf[:0], sum[:]...)
		p.buf = raw
	}
	if c.seen.has(kind, raw) {
		return
	}
	c.Distinct++
	c.answers(raw)
	if c.Distinct > distinctPerColumn || p.distinct >= distinctInAll {
		c.AtLeast, c.seen = true, valueSet{}
		return
	}
	p.distinct++
	c.seen.add()
}

func (p *Profiler) dateEvidence(b *source.Block, col, from int) {
	if col >= len(p.columns) {
		return
	}
	e := p.columns[col].DateShapes
	if e == nil { // even if this block does not have the column: the profile must not depend on how rows are cut into blocks
		e = &DateEvidence{}
		p.columns[col].DateShapes = e
	}
	if col >= len(b.Cols) {
		return
	}
	for i := from; i < b.Rows(); i++ {
		cell := b.Cols[col][i]
		if p.skip[i] || cell.Kind == source.Empty {
			continue
		}
		row := b.RowNum[i]
		if cell.Kind == source.Number {
			if cell.Class == source.Date || cell.Class == source.DateTime {
				e.cell(row)
				if cell.Class == source.DateTime {
					e.Clocks++
				}
			}
			continue
		}
		text := bytes.TrimSpace(b.Bytes(cell))
		if cell.Kind != source.Text || len(text) == 0 {
			continue
		}
		kind, day, numeric := readShape(text)
		switch {
		case cell.Flags&source.ISODate != 0:
			e.cell(row)
		case kind == shapeISO:
			e.ISO++
		case kind == shapeTimeOnly:
			e.TimeOnly++
		case kind == shapeNumeric:
			day = numeric.c
			e.numeric(&numeric, row)
		default:
			e.Other++
		}
		if day.hasOffset {
			e.Zoned++
		} else if day.prec != byDay {
			e.Clocks++
		}
	}
}

// cell counts a real date cell.
func (e *DateEvidence) cell(row int) {
	e.Cells++
	if e.FirstCell == 0 {
		e.FirstCell = row
	}
}

func (e *DateEvidence) numeric(d *numericDate, row int) {
	e.LastNumeric = row
	switch o, same := d.proof(); {
	case o == dayFirst:
		e.DayFirst++
		if e.FirstDayFirst == 0 {
			e.FirstDayFirst = row
		}
	case o == monthFirst:
		e.MonthFirst++
		if e.FirstMonthFirst == 0 {
			e.FirstMonthFirst = row
		}
	case same:
		e.Same++
	case d.first <= 12: // both above 12 is no date and no evidence
		e.Either++
		if e.FirstEither == 0 {
			e.FirstEither = row
		}
	}
}

// unanswered reports whether a consent row gives no record: it answers nothing, or rests on another lawful basis.
func (s *boundSpec) unanswered(b *source.Block, i int) bool {
	if s.status >= 0 {
		if out := s.readers[s.status].read(b, i); out.bad.rule == "" && (out.null || out.noAnswer) {
			return true
		}
	}
	if s.basis >= 0 {
		if out := s.readers[s.basis].read(b, i); out.bad.rule == "" && out.v.Set && out.v.Text != "consent" {
			return true
		}
	}
	return false
}

func (w *wordStats) add(raw []byte, word string, row, col int) {
	if w.Rows == 0 {
		w.FirstRow, w.Column = row, col
	}
	w.Rows++
	w.LastRow = row
	if _, known := w.counts[word]; !known && len(w.counts) >= wordsPerField {
		w.AtLeast = true
		return
	}
	w.counts[word]++
	if !w.hidden[word] && !showableWord(string(bytes.TrimSpace(raw)), shownFrom) {
		w.hidden[word] = true
	}
}

// Done ends the profile.
func (p *Profiler) Done() (*Profile, error) {
	if p.err != nil {
		return nil, p.err
	}
	if !p.found {
		switch {
		case p.m.Header.Row > 0:
			return nil, p.fault(p.m.Header.Row, "the sheet ends before the header row", "set header in the mapping to the row that holds the column names", nil)
		case len(p.m.Header.Match) > 0:
			return nil, p.noHeader()
		}
		return nil, p.fault(0, "the sheet is empty", "name another sheet in the mapping, or leave the source out", nil)
	}
	mapped := map[int]bool{}
	for _, r := range p.p.Refs {
		mapped[r.Index] = true
		if r.Index >= max(len(p.columns), len(p.p.Header)) && p.p.Rows > 0 {
			return nil, p.fault(0, "the sheet has no "+r.Column.String(), fmt.Sprintf("its last column is %s", source.Letters(max(len(p.columns), len(p.p.Header))-1)), p.have())
		}
	}
	p.unreadOf()
	p.p.Columns = make([]ColumnProfile, 0, len(p.columns))
	grants := slices.ContainsFunc(p.specs, func(s *profiledSpec) bool { return s.entity.Name == "consent" && s.grants() })
	for col, c := range p.columns {
		c.Mapped = mapped[col]
		holds := c.Text+c.Numbers+c.Bools+c.Errors > 0
		if col >= len(p.p.Header) && !holds {
			continue
		}
		c.Noes = grants && !c.Mapped && c.no && !c.other && !c.AtLeast && !ordinary(c.Name)
		if holds && !c.Mapped {
			p.p.Unmapped = append(p.p.Unmapped, c.Name)
		}
		p.p.Columns = append(p.p.Columns, c.ColumnProfile)
	}
	p.p.Keys = make([]KeyProfile, 0, len(p.specs))
	for _, s := range p.specs {
		groups, distinct, like, err := s.keys.groups()
		rows := s.keys.rows
		s.keys.close()
		if err != nil {
			return nil, fmt.Errorf("sorting the keys of %s: %w", p.env.File, err)
		}
		p.p.Keys = append(p.p.Keys, KeyProfile{Entity: s.entity.Name, Rows: rows, Distinct: distinct, Groups: groups, Alike: like.rows, FirstAlike: like.first, LastAlike: like.last})
		for j, w := range s.words {
			if w != nil && w.Rows > 0 {
				p.p.Words = append(p.p.Words, w.list(s.fields[j].field.Data == importers.None))
			}
		}
	}
	for _, d := range p.drops {
		if d.Rows > 0 {
			slices.Sort(d.Words)
			p.p.LeftOut = append(p.p.LeftOut, d.LeftOut)
		}
	}
	p.err = fmt.Errorf("the profile of %s is done", p.env.File)
	return &p.p, nil
}

// list names the words that may be shown.
func (w *wordStats) list(show bool) FieldWords {
	out := w.FieldWords
	out.Distinct = len(w.counts)
	for word, rows := range w.counts {
		if show && !w.hidden[word] && rows >= shownFrom {
			out.Words = append(out.Words, WordCount{word, rows})
		}
	}
	slices.SortFunc(out.Words, func(a, b WordCount) int {
		if a.Rows != b.Rows {
			return b.Rows - a.Rows
		}
		return strings.Compare(a.Word, b.Word)
	})
	out.Words = out.Words[:min(len(out.Words), finding.QuoteMax)]
	return out
}
