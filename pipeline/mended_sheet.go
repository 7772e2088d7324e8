package pipeline

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"sheetlift/importers/source"
	"sheetlift/mappings"
)

// strayRow is a row of a mended workbook that no snapshot knows.
type strayRow struct {
	row int
	why string
}

// heardRow is a row of a mended workbook that can't be taken as the row of the source that it says it is.
type heardRow struct {
	row   int // of the workbook
	num   int // of the source, if its token is known; else 0
	cells []mendedCell
}

// workbookRow is a row of a mended workbook.
type workbookRow struct {
	row   int
	cells []mendedCell // by column of the workbook
}

// mendedSheet is a sheet of a mended workbook, read.
type mendedSheet struct {
	name    string
	headers []string
	token   int // column of the tokens
	rows    map[string][]*workbookRow
	bare    []*workbookRow // without a token
	date04  bool
}

// readMendedSheet reads a sheet that has a column of tokens; nil if it has none.
func readMendedSheet(ctx context.Context, book source.Book, i int) (*mendedSheet, error) {
	rd, err := book.Read(ctx, i)
	if err != nil {
		return nil, err
	}
	defer rd.Close()
	s := &mendedSheet{name: book.Sheets()[i].Name, token: -1, rows: map[string][]*workbookRow{}, date04: book.Info().Date1904}
	if mappings.LooksPersonal(s.name) {
		s.name = sheetNumber(i + 1)
	}
	sh := &sheet{book: book, index: i}
	err = sh.each(ctx, func(b *source.Block) error {
		for k, n := range b.RowNum {
			if s.token < 0 {
				for col := range b.Cols {
					if strings.TrimSpace(string(b.Bytes(b.Cols[col][k]))) == tokenHeader {
						s.token, s.headers = col, mappings.HeaderNames(b, k)
						for n := len(s.headers); n > 0 && s.headers[n-1] == ""; n-- {
							s.headers = s.headers[:n-1]
						}
					}
				}
				continue
			}
			r := &workbookRow{row: n, cells: rowCells(b, k)}
			if token := strings.TrimSpace(string(b.Bytes(b.Cell(s.token, k)))); token != "" {
				s.rows[token] = append(s.rows[token], r)
			} else if slices.ContainsFunc(r.cells, func(c mendedCell) bool { return strings.TrimSpace(c.text) != "" }) {
				s.bare = append(s.bare, r)
			}
		}
		return nil
	})
	if err != nil || s.token < 0 {
		return nil, err
	}
	return s, nil
}

// columns finds the source's columns by their headers: the n-th of a name is the n-th of that name. A column that is not there
// is a fault, because its cells would read as cleared.
func (s *mendedSheet) columns(want []string) (map[int]int, string) {
	at := map[int]int{}
	taken := map[int]bool{}
	for col, name := range want {
		found := -1
		for k, have := range s.headers {
			if !taken[k] && have == name && k != s.token {
				found = k
				break
			}
		}
		if found < 0 {
			return nil, fmt.Sprintf("its column %s of the source has no header that says so any more", source.Letters(col))
		}
		taken[found] = true
		at[found] = col
	}
	return at, ""
}

// placed gives the cells of a row of the workbook by the columns of the source; at says which is which. Other columns are left out.
func (s *mendedSheet) placed(w *workbookRow, at map[int]int) map[int]mendedCell {
	cells := map[int]mendedCell{}
	for _, c := range w.cells {
		col, ok := at[c.col]
		if beyond := c.col - len(s.headers); beyond >= 0 { // what stood beyond the header stands there again
			col, ok = len(at)+beyond, true
		}
		if ok {
			cells[col] = c
		}
	}
	return cells
}

// cell is a changed cell as the source would hold it.
func (s *mendedSheet) cell(c mendedCell, col int, old1904 bool) mendedCell {
	c.col = col
	if c.kind == source.Number && c.class != source.General && s.date04 != old1904 {
		c.kind, c.class = source.Text, source.General // the same number is another day in the other calendar
	}
	return c
}

// merge makes the row as it is now of the row as it was and what stands in the workbook.
func (s *mendedSheet) merge(b *source.Block, i int, w *workbookRow, at map[int]int, old1904 bool) mendedRow {
	r := mendedRow{num: b.RowNum[i], line: lineAt(b, i), untouched: true}
	seen := s.placed(w, at)
	width := max(len(b.Cols), len(at))
	for col := range seen {
		width = max(width, col+1)
	}
	for col := range width {
		old := b.Cell(col, i)
		was := cellForm(string(b.Bytes(old)))
		now, there := seen[col]
		if was == now.text {
			if old.Kind != source.Empty || old.Flags != 0 {
				r.cells = append(r.cells, mendedCell{col, old.Kind, old.Class, old.Flags &^ source.Shared, string(b.Bytes(old))})
			}
			continue
		}
		r.untouched = false
		if !there || now.kind == source.Empty {
			continue // cleared
		}
		r.cells = append(r.cells, s.cell(now, col, old1904))
	}
	return r
}

// alone gives a row of the workbook that is no row of the source which is known.
func (s *mendedSheet) alone(w *workbookRow, at map[int]int, old1904 bool) heardRow {
	h := heardRow{row: w.row}
	seen := s.placed(w, at)
	for _, col := range slices.Sorted(maps.Keys(seen)) {
		if c := seen[col]; c.kind != source.Empty {
			h.cells = append(h.cells, s.cell(c, col, old1904))
		}
	}
	return h
}

// sameCells reports whether two rows say the same. How a text is formatted says nothing.
func sameCells(a, b []mendedCell) bool {
	return slices.EqualFunc(a, b, func(x, y mendedCell) bool {
		return x.col == y.col && x.kind == y.kind && x.text == y.text && (x.kind != source.Number || x.class == y.class)
	})
}

// takeMended joins the rows of the workbook with those of the base.
func (p *Pipeline) takeMended(ctx context.Context, sh *sheet, ms *mendedSheet, part *FrozenPart, m *mappings.Mapping) error {
	v := sh.view
	key, err := tokenKey(ctx, p.db, p.id.Tenant, p.batch.Name)
	if err != nil {
		return err
	}
	header, _, err := v.base.header(ctx, m)
	if err != nil {
		return err
	}
	at, why := ms.columns(sourceHeaders(header, len(header)))
	if why != "" {
		return &ConfigError{File: part.File, Message: fmt.Sprintf("sheet %q: %s", part.Sheet, why), Remedy: "put the header back as `sheetlift dryrun --rejects` wrote it, and freeze the workbook again"}
	}
	v.at, v.rows = map[int]int{}, []mendedRow{}
	v.text, v.width = v.base.text(), len(header)
	old1904 := v.base.env.Date1904
	err = v.base.each(ctx, func(b *source.Block) error {
		for i, n := range b.RowNum {
			token := rowToken(key, part.Base, part.Source, n, b.RowDigest(i))
			list := ms.rows[token]
			if list == nil {
				continue
			}
			delete(ms.rows, token)
			v.at[n] = len(v.rows)
			v.rows = append(v.rows, v.one(ms, b, i, list, at))
		}
		return nil
	})
	for _, list := range ms.rows {
		for _, w := range list {
			v.stray = append(v.stray, strayRow{w.row, fmt.Sprintf("The token of the row is of no row of source %s in snapshot %s.", part.Source, part.Base)})
			v.heard = append(v.heard, ms.alone(w, at, old1904))
		}
	}
	for _, w := range ms.bare {
		v.stray = append(v.stray, strayRow{w.row, "The row has no token, so it is not known which row of the source it is."})
		v.heard = append(v.heard, ms.alone(w, at, old1904))
	}
	slices.SortFunc(v.stray, func(a, b strayRow) int { return a.row - b.row })
	slices.SortFunc(v.heard, func(a, b heardRow) int { return a.row - b.row })
	return err
}

// one makes one row of those that the workbook has under its token. If they say different things, nobody can tell which is meant:
// the row stays as it was, and all that they say is only heard.
func (v *mendedView) one(ms *mendedSheet, b *source.Block, i int, list []*workbookRow, at map[int]int) mendedRow {
	first := ms.merge(b, i, list[0], at, v.base.env.Date1904)
	heard := []heardRow{{list[0].row, first.num, first.cells}}
	torn := []int{list[0].row}
	var again []int
	for _, w := range list[1:] {
		r := ms.merge(b, i, w, at, v.base.env.Date1904)
		torn = append(torn, w.row)
		if slices.ContainsFunc(heard, func(h heardRow) bool { return sameCells(h.cells, r.cells) }) {
			again = append(again, w.row)
			continue
		}
		heard = append(heard, heardRow{w.row, r.num, r.cells})
	}
	if len(heard) == 1 {
		v.again = append(v.again, again...)
		return first
	}
	v.heard = append(v.heard, heard...)
	return mendedRow{num: first.num, line: first.line, cells: rowCells(b, i), untouched: true, torn: torn}
}
