package pipeline

import (
	"context"
	"fmt"
	"os"
	"slices"

	"sheetlift/importers/source"
	"sheetlift/importers/source/open"
	"sheetlift/mappings"
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
	again  []int                  // rows of the workbook that repeat another under its token
	heard  []heardRow             // what is not taken, but may speak against consents
	still  map[[32]byte][]stillAt // text file: digests of rows that earlier snapshots hold, and where, newest first
	header int                    // text file: row of the header
	went   wentOut
}

// stillAt is where an earlier snapshot holds a row of a text file as it is.
type stillAt struct {
	snapshot string
	row      int
}

// mendedRow is one row as it is now.
type mendedRow struct {
	num, line int
	cells     []mendedCell
	untouched bool
	torn      []int // rows of the workbook that say different things under its token: none is taken, and it stays as it was
}

type mendedCell struct {
	col   int
	kind  source.Kind
	class source.Class
	flags source.Flags
	text  string
}

// untouched reports whether a row came back as it went out.
func (v *mendedView) untouched(b *source.Block, i int) bool {
	if v == nil {
		return false
	}
	if v.rows == nil {
		return v.still[b.RowDigest(i)] != nil
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
	return v.blocks(ctx, source.NewBuilder(v.text), len(v.rows), func(i int) *mendedRow { return &v.rows[i] }, f)
}

// blocks gives n rows in blocks.
func (v *mendedView) blocks(ctx context.Context, b *source.Builder, n int, row func(int) *mendedRow, f func(*source.Block) error) error {
	for i := range n {
		v.put(b, row(i))
		if !b.Full() && i < n-1 {
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
	src := *s
	src.File = base.src.File // which the rows are numbered by: the base may be a file of mended records itself
	sh := &sheet{file: fd, book: book, env: base.env, src: &src, statements: base.statements, configs: base.configs, view: &mendedView{base: base}}
	sh.env.FileDigest = digest
	if part.Sheet == "" {
		src.File, sh.env.File = part.File, part.File
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

// openMendedText learns which records of a text file the earlier snapshots hold as they are.
func (p *Pipeline) openMendedText(ctx context.Context, fr *FreezeResult, sh *sheet, m *mappings.Mapping) error {
	v := sh.view
	v.text, v.still = true, map[[32]byte][]stillAt{}
	mine := map[[32]byte]bool{}
	var names []string
	if err := sh.each(ctx, func(b *source.Block) error {
		if n, i := m.HeaderIn(b); v.header == 0 && i >= 0 {
			if v.header = n; !m.Header.None {
				names = mappings.HeaderNames(b, i)
			}
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
	return p.earlier(ctx, all, fr, sh.src.Name, m, func(snapshot string, old *sheet) error {
		return old.each(ctx, func(b *source.Block) error {
			for i, n := range b.RowNum {
				if d := b.RowDigest(i); mine[d] {
					v.still[d] = append(v.still[d], stillAt{snapshot, n})
				}
			}
			return nil
		})
	})
}

// earlier calls f with a source as each imported snapshot before one holds it, newest first.
func (p *Pipeline) earlier(ctx context.Context, all []*FreezeResult, fr *FreezeResult, name string, m *mappings.Mapping, f func(snapshot string, old *sheet) error) error {
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
		err = f(fr.Snapshot, old)
		old.close()
		if err != nil {
			return err
		}
	}
	return nil
}
