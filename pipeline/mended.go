package pipeline

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"sheetlift/importers/source"
	"sheetlift/importers/source/open"
	"sheetlift/mappings"
	"sheetlift/pipeline/finding"
)

// A mended snapshot holds rejects that came back. Of a workbook, each row is named by its token: the row of an earlier snapshot
// that it is. Its cells are those of that row, but for the ones that somebody changed; the columns are found by their headers.
// So the row keeps its number, and what nobody touched keeps its kind, whatever the workbook's program made of it. Of a text
// file, the records are read as those of the export are, and those that an earlier snapshot holds unchanged are untouched.
//
// Untouched rows stay rejected. The columns are profiled as the earlier snapshot with the mended rows in their places, because a
// handful of rows does not show whether a date is day first.
type mendedView struct {
	base   *sheet
	text   bool        // the base is a text file, whose records have a width of their own
	width  int         // of the header
	rows   []mendedRow // in the order of the base; nil of a text file of mended records
	at     map[int]int // row number to its index in rows
	stray  []strayRow
	still  map[[32]byte]bool // text file: digests of rows that earlier snapshots hold
	header int               // text file: row of the header
}

// mendedRow is one row as it is now.
type mendedRow struct {
	num, line int
	cells     []mendedCell
	untouched bool
}

type mendedCell struct {
	col   int
	kind  source.Kind
	class source.Class
	flags source.Flags
	text  string
}

// strayRow is a row of a mended workbook that no snapshot knows.
type strayRow struct {
	row int
	why string
}

// untouched reports whether a row came back as it went out.
func (v *mendedView) untouched(b *source.Block, i int) bool {
	if v == nil {
		return false
	}
	if v.rows == nil {
		return v.still[b.RowDigest(i)]
	}
	k, ok := v.at[b.RowNum[i]]
	return ok && v.rows[k].untouched
}

// put appends a row to a block being built.
func (v *mendedView) put(b *source.Builder, r *mendedRow) {
	for i := range r.cells {
		c := &r.cells[i]
		b.Put(c.col, source.Cell{Off: uint32(len(b.Data)), Len: uint32(len(c.text)), Kind: c.kind, Class: c.class, Flags: c.flags})
		b.Data = append(b.Data, c.text...)
	}
	if !v.text {
		b.EndRow(r.num)
		return
	}
	fields := v.width
	if n := len(r.cells); n > 0 {
		fields = max(fields, r.cells[n-1].col+1)
	}
	b.EndRecord(r.num, r.line, fields, source.Span{})
}

// each gives the mended rows in blocks.
func (v *mendedView) each(ctx context.Context, f func(*source.Block) error) error {
	b := source.NewBuilder(v.text)
	for i := range v.rows {
		v.put(b, &v.rows[i])
		if !b.Full() && i < len(v.rows)-1 {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := f(b.Block(nil, nil)); err != nil {
			return err
		}
		b.Reset()
	}
	return nil
}

// whole gives the rows of the base with the mended ones in their places.
func (v *mendedView) whole(ctx context.Context, f func(*source.Block) error) error {
	b := source.NewBuilder(v.text)
	return v.base.whole(ctx, func(in *source.Block) error {
		if !slices.ContainsFunc(in.RowNum, func(n int) bool { _, ok := v.at[n]; return ok }) {
			return f(in)
		}
		b.Reset()
		for i, n := range in.RowNum {
			if k, ok := v.at[n]; ok {
				v.put(b, &v.rows[k])
			} else {
				v.put(b, &mendedRow{num: n, line: lineAt(in, i), cells: rowCells(in, i)})
			}
			if b.Full() && i < len(in.RowNum)-1 {
				if err := f(b.Block(nil, nil)); err != nil {
					return err
				}
				b.Reset()
			}
		}
		return f(b.Block(nil, nil))
	})
}

func lineAt(b *source.Block, i int) int {
	if b.Line == nil {
		return 0
	}
	return b.Line[i]
}

// rowCells copies the cells of a row.
func rowCells(b *source.Block, i int) []mendedCell {
	var cells []mendedCell
	for col := range b.Cols {
		c := b.Cols[col][i]
		if c.Kind == source.Empty && c.Flags == 0 {
			continue
		}
		cells = append(cells, mendedCell{col, c.Kind, c.Class, c.Flags &^ source.Shared, string(b.Bytes(c))})
	}
	return cells
}

// workbookRow is a row of a mended workbook.
type workbookRow struct {
	row   int
	cells []mendedCell // by column of the workbook
	used  bool
}

// mendedSheet is a sheet of a mended workbook, read.
type mendedSheet struct {
	name    string
	headers []string
	token   int // column of the tokens
	rows    map[string]*workbookRow
	stray   []strayRow
	date04  bool
}

// readMendedSheet reads a sheet that has a column of tokens; nil if it has none.
func readMendedSheet(ctx context.Context, book source.Book, i int) (*mendedSheet, error) {
	rd, err := book.Read(ctx, i)
	if err != nil {
		return nil, err
	}
	defer rd.Close()
	s := &mendedSheet{name: book.Sheets()[i].Name, token: -1, rows: map[string]*workbookRow{}, date04: book.Info().Date1904}
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
			token := strings.TrimSpace(string(b.Bytes(b.Cell(s.token, k))))
			switch {
			case token == "":
				s.stray = append(s.stray, strayRow{n, "The row has no token, so it is not known which row of the source it is."})
			case s.rows[token] != nil:
				s.stray = append(s.stray, strayRow{n, fmt.Sprintf("The row has the same token as row %d.", s.rows[token].row)})
			default:
				s.rows[token] = r
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

// merge makes the row as it is now of the row as it was and what stands in the workbook.
func (s *mendedSheet) merge(b *source.Block, i int, w *workbookRow, at map[int]int, old1904 bool) mendedRow {
	r := mendedRow{num: b.RowNum[i], line: lineAt(b, i), untouched: true}
	seen := map[int]mendedCell{}
	width := max(len(b.Cols), len(at))
	for _, c := range w.cells {
		col, ok := at[c.col]
		if beyond := c.col - len(s.headers); beyond >= 0 { // what stood beyond the header stands there again
			col, ok = len(at)+beyond, true
			width = max(width, col+1)
		}
		if ok {
			seen[col] = c
		}
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
		now.col = col
		if now.kind == source.Number && now.class != source.General && s.date04 != old1904 {
			now.kind, now.class = source.Text, source.General // the same number is another day in the other calendar
		}
		r.cells = append(r.cells, now)
	}
	return r
}

// openMended opens the mended rows of a source.
func (p *Pipeline) openMended(ctx context.Context, fr *FreezeResult, part *FrozenPart, s *Source, m *mappings.Mapping, token func(kind, value string) string) (_ *sheet, err error) {
	bfr, err := p.frozenAs(ctx, part.Base)
	if err != nil {
		return nil, err
	}
	q, err := p.at(bfr)
	if err != nil {
		return nil, err
	}
	base, err := q.openSource(ctx, bfr, s.Name, m, token)
	if err != nil {
		return nil, err
	}
	var fd *os.File
	var book source.Book
	defer func() {
		if err == nil {
			return
		}
		base.close()
		if book != nil {
			book.Close()
		}
		if fd != nil {
			fd.Close()
		}
	}()
	var digest string
	if fd, digest, err = p.openFrozen(fr, part.File); err != nil {
		return nil, err
	}
	st, err := fd.Stat()
	if err != nil {
		return nil, err
	}
	opt := source.Options{Limits: p.batch.Limits}
	if part.Sheet == "" {
		opt.Charset, opt.Delimiter = base.book.Info().Charset, base.book.Info().Delimiter
	}
	if book, err = open.ReaderAt(ctx, part.File, fd, st.Size(), opt); err != nil {
		return nil, err
	}
	sh := &sheet{file: fd, book: book, env: base.env, src: s, statements: base.statements, configs: base.configs, view: &mendedView{base: base}}
	sh.env.FileDigest = digest
	if part.Sheet == "" {
		sh.env.File = part.File
		return sh, p.openMendedText(ctx, fr, sh, m)
	}
	for i, info := range book.Sheets() {
		if info.Name != part.Sheet && sheetNumber(i+1) != part.Sheet {
			continue
		}
		ms, err := readMendedSheet(ctx, book, i)
		if err != nil {
			return nil, err
		}
		return sh, p.takeMended(ctx, sh, ms, part, m)
	}
	return nil, &IntegrityError{What: "mended workbook " + part.File, Detail: "the sheet that was frozen is not in it", Remedy: "restore the bag from a copy"}
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
	v.at, v.rows, v.stray = map[int]int{}, []mendedRow{}, ms.stray
	v.text, v.width = v.base.text(), len(header)
	err = v.base.each(ctx, func(b *source.Block) error {
		for i, n := range b.RowNum {
			w := ms.rows[rowToken(key, part.Base, part.Source, n, b.RowDigest(i))]
			if w == nil {
				continue
			}
			w.used = true
			v.at[n] = len(v.rows)
			v.rows = append(v.rows, ms.merge(b, i, w, at, v.base.env.Date1904))
		}
		return nil
	})
	for _, w := range ms.rows {
		if !w.used {
			v.stray = append(v.stray, strayRow{w.row, fmt.Sprintf("The token of the row is of no row of source %s in snapshot %s.", part.Source, part.Base)})
		}
	}
	slices.SortFunc(v.stray, func(a, b strayRow) int { return a.row - b.row })
	return err
}

// openMendedText learns which records of a text file the earlier snapshots hold as they are.
func (p *Pipeline) openMendedText(ctx context.Context, fr *FreezeResult, sh *sheet, m *mappings.Mapping) error {
	v := sh.view
	v.text, v.still = true, map[[32]byte]bool{}
	mine := map[[32]byte]bool{}
	var names []string
	if err := sh.each(ctx, func(b *source.Block) error {
		if n, i := m.HeaderIn(b); v.header == 0 && i >= 0 {
			v.header, names = n, mappings.HeaderNames(b, i)
		}
		for i := range b.RowNum {
			mine[b.RowDigest(i)] = true
		}
		return nil
	}); err != nil {
		return err
	}
	// The records are read as those of the source are, so they must stand in its columns, below its header.
	if want, row, err := v.base.header(ctx, m); err != nil {
		return err
	} else if row != v.header || !slices.Equal(want, names) {
		return &ConfigError{File: sh.env.File, Message: fmt.Sprintf("its header is not the header of source %s, so its records can't be read as that source's are", sh.src.Name),
			Remedy: "leave what stands above the records as `sheetlift dryrun --rejects` wrote it, and freeze the file again"}
	}
	all, _, err := p.freezes(ctx)
	if err != nil {
		return err
	}
	return p.earlier(ctx, all, fr, sh.src.Name, m, func(old *sheet) error {
		return old.each(ctx, func(b *source.Block) error {
			for i := range b.RowNum {
				if d := b.RowDigest(i); mine[d] {
					v.still[d] = true
				}
			}
			return nil
		})
	})
}

// earlier calls f with a source as each imported snapshot before one holds it, newest first.
func (p *Pipeline) earlier(ctx context.Context, all []*FreezeResult, fr *FreezeResult, name string, m *mappings.Mapping, f func(*sheet) error) error {
	for fr.Previous != "" {
		k := slices.IndexFunc(all, func(x *FreezeResult) bool { return x.Manifest == fr.Previous && x.Number < fr.Number })
		if k < 0 {
			return &IntegrityError{What: "snapshot " + fr.Snapshot, Detail: "the database does not know the one before it", Remedy: "restore the database from a backup"}
		}
		fr = all[k]
		q, err := p.at(fr)
		if err != nil {
			return err
		}
		_, imported, err := last[ImportResult](ctx, q, Import)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(q.batch.Sources, func(s Source) bool { return s.Name == name })
		if i < 0 || imported == nil { // another one took its place
			continue
		}
		old, err := q.openSheet(ctx, fr, &q.batch.Sources[i], m, nil)
		if err != nil {
			return err
		}
		err = f(old)
		old.close()
		if err != nil {
			return err
		}
	}
	return nil
}

// strays reports the rows of a mended workbook that no snapshot knows. They are rejected.
func (s *settler) strays() error {
	if s.sh.view == nil {
		return nil
	}
	part := s.part
	for _, x := range s.sh.view.stray {
		f := finding.New("row.unknown_token")
		f.Source, f.File, f.Sheet, f.Row, f.Message = s.sh.src.Name, part.File, part.Sheet, x.row, x.why
		s.out.Rows.Read++
		s.out.Rows.Rejected++
		s.out.Rejected[f.Rule]++
		if err := s.rec.Add(f); err != nil {
			return err
		}
	}
	return nil
}
