package pipeline

import (
	"bytes"
	"slices"

	"sheetlift/importers/source"
	"sheetlift/mappings"
	"sheetlift/mappings/suggest"
)

// columnHazards counts what is doubtful about a column besides its kinds. Like the profile it keeps hashes, never values.
type columnHazards struct {
	watch    map[uint64]trait // hash of a text to its traits, if it has any
	numerals source.Places    // texts that are plain numbers
	dates    int
	clocks   int
	midnight int
	future   source.Places
	minute   source.Places // of the export
	day      source.Places // of the export, without a time of day
	samples  source.Places
	formulas source.Places

	looks [8]source.Places
	last  int  // look of the last cell
	plain bool // two cells after each other look the same
}

// text gives the traits of a text. Each distinct one is looked at once; when there are too many to be kept, only a column that has
// dates or numbers is looked at further.
func (c *columnHazards) text(e *exportTime, h uint64, v []byte, fresh, over bool) trait {
	switch {
	case fresh:
		t := e.ofText(v)
		if t != 0 {
			if c.watch == nil {
				c.watch = map[uint64]trait{}
			}
			c.watch[h] = t
		}
		return t
	case over && c.dates+c.numerals.N > 0:
		return e.ofText(v)
	case over:
		return 0
	}
	return c.watch[h]
}

// take counts a cell of some traits.
func (c *columnHazards) take(t trait, row int) {
	if t&numeral != 0 {
		c.numerals.Add(row)
	}
	if t&sample != 0 {
		c.samples.Add(row)
	}
	if t&dated == 0 {
		return
	}
	c.dates++
	if t&clocked != 0 {
		c.clocks++
	}
	if t&midnight != 0 {
		c.midnight++
	}
	if t&future != 0 {
		c.future.Add(row)
	}
	if t&exported != 0 && t&clocked != 0 {
		c.minute.Add(row)
	} else if t&exported != 0 {
		c.day.Add(row)
	}
}

// shown takes the looks and formulas of a column of a block: n cells of the rows, all and same are the flags that some and that
// all of them have.
func (c *columnHazards) shown(b *source.Block, cells []source.Cell, rows []int, n int, all, same source.Flags) {
	if n == 0 {
		return
	}
	if all&source.Formula != 0 {
		for _, i := range rows {
			if cells[i].Kind != source.Empty && cells[i].Flags&source.Formula != 0 {
				c.formulas.Add(b.RowNum[i])
			}
		}
	}
	begun := c.looks != [8]source.Places{}
	if look := all.Look(); look == same.Look() { // one look, as nearly always
		first, last := 0, len(rows)-1
		for cells[rows[first]].Kind == source.Empty {
			first++
		}
		for cells[rows[last]].Kind == source.Empty {
			last--
		}
		l := &c.looks[look]
		l.Add(b.RowNum[rows[first]])
		if n > 1 {
			l.Add(b.RowNum[rows[last]])
			l.N += n - 2
		}
		c.plain = c.plain || n > 1 || begun && look == c.last
		c.last = look
		return
	}
	for _, i := range rows {
		if cells[i].Kind == source.Empty {
			continue
		}
		look := cells[i].Flags.Look()
		c.looks[look].Add(b.RowNum[i])
		c.plain = c.plain || begun && look == c.last
		c.last, begun = look, true
	}
}

// differing are the cells that look otherwise than most of the column; none if every other row is striped.
func (c *columnHazards) differing() (p source.Places) {
	most, looks := 0, 0
	for i, l := range c.looks {
		if l.N > c.looks[most].N {
			most = i
		}
		if l.N > 0 {
			looks++
		}
	}
	if looks < 2 || looks == 2 && !c.plain && c.looks[most].N > 1 {
		return p
	}
	for i, l := range c.looks {
		if i == most || l.N == 0 {
			continue
		}
		p.N, p.Last = p.N+l.N, max(p.Last, l.Last)
		if p.First == 0 || l.First < p.First {
			p.First = l.First
		}
	}
	return p
}

// sheetHazards counts what is doubtful about the rows of a sheet.
type sheetHazards struct {
	samples source.Places
	totals  source.Places
	total   int           // last row that begins like a total, wherever it stands
	tables  source.Places // titles and headers of further tables below the first
	title   int           // row before that may be such a title, if more than notes follow
	lone    bool          // the row before holds one text alone
	row     int           // last row
}

// mark notes that row i of the block may be no record.
func (s *sheetProfile) mark(i int, t trait) {
	if t &= sample | totals; t == 0 {
		return
	}
	for len(s.odd) <= i {
		s.odd = append(s.odd, 0)
	}
	s.odd[i] |= t
}

// hazardRows looks at the rows of a block, after its columns.
func (s *sheetProfile) hazardRows(b *source.Block) {
	h := &s.hazards
	for n, i := range s.below {
		row := b.RowNum[i]
		if h.title > 0 && s.filled[i] > 1 {
			h.tables.Add(h.title)
		}
		if h.row > s.headerRow && (row > h.row+1 || h.lone) && n+1 < len(s.below) && headerAfterGap(b, i, s.below[n+1]) {
			h.tables.Add(row)
		}
		h.title, h.lone = 0, false
		if s.filled[i] == 1 && len(s.header) > 1 {
			var optOuts bool
			if h.lone, optOuts = s.title(b, i); optOuts {
				h.title = row
			}
		}
		h.row = row
		if i >= len(s.odd) || s.odd[i] == 0 {
			continue
		}
		if s.odd[i]&sample != 0 {
			h.samples.Add(row)
		}
		if s.odd[i]&totals != 0 {
			// The word may be a value like others: a row of totals has fewer cells than most, or is the last.
			if h.total = row; s.rows > 0 && s.filled[i]*4 < 3*s.cells/s.rows {
				h.totals.Add(row)
			}
		}
	}
}

// title reports whether the only cell of row i holds words, as a title does, and whether they sound like that of a list of opt-outs. A word in a column of
// answers is one of them.
func (s *sheetProfile) title(b *source.Block, i int) (words, optOuts bool) {
	for col := range b.Cols {
		c := &b.Cols[col][i]
		if c.Kind == source.Empty {
			continue
		}
		v := b.Bytes(*c)
		if c.Kind != source.Text || len(v) > 60 || bytes.IndexByte(v, '@') >= 0 {
			return false, false
		}
		first := !slices.ContainsFunc(s.columns[:col], func(p *columnProfile) bool { return p.filled > 0 })
		return true, first && suggest.OptOutTitle(string(v))
	}
	return false, false
}

// headerAfterGap reports whether row i, which comes after blank rows or a title, looks like the header of another table: nothing but short
// words, and below it, in one of their columns at least, something that is no word.
func headerAfterGap(b *source.Block, i, below int) bool {
	if b.RowNum[below] != b.RowNum[i]+1 {
		return false
	}
	words, other := 0, false
	seen := map[string]bool{}
	for col := range b.Cols {
		c := &b.Cols[col][i]
		if c.Kind == source.Empty {
			continue
		}
		v := b.Bytes(*c)
		if c.Kind != source.Text || len(v) > 60 || bytes.ContainsAny(v, "@0123456789") || seen[string(v)] {
			return false
		}
		seen[string(v)] = true
		words++
		under := b.Cols[col][below]
		other = other || under.Kind != source.Empty && (under.Kind != source.Text || bytes.ContainsAny(b.Bytes(under), "@0123456789"))
	}
	return words >= 2 && other
}

// besides finds a table beside the first: headers on both sides of a column that has neither header nor cells.
func (s *sheetProfile) besides() (col int, ok bool) {
	named := func(i int) bool {
		return i >= 0 && i < len(s.header) && mappings.FoldHeader(s.header[i]) != "" && i < len(s.columns) && s.columns[i].filled > 0
	}
	for i := 2; i < len(s.header); i++ {
		blank := mappings.FoldHeader(s.header[i]) == "" && (i >= len(s.columns) || s.columns[i].filled == 0)
		if blank && named(i-1) && named(i-2) && named(i+1) && named(i+2) {
			return i + 1, true
		}
	}
	return 0, false
}
