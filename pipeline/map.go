package pipeline

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"sheetlift/importers"
	"sheetlift/importers/source"
	"sheetlift/importers/source/open"
	"sheetlift/manifests"
	"sheetlift/mappings"
	"sheetlift/pipeline/finding"
	"sheetlift/pipeline/ledger"
)

// Map profiles the columns of every source in the frozen bag and compiles its mapping against the profile.
func (p *Pipeline) Map(ctx context.Context) (*MapResult, error) {
	p, err := p.newest(ctx)
	if err != nil {
		return nil, err
	}
	fr, err := p.frozen(ctx, Map)
	if err != nil {
		return nil, err
	}
	maps, err := p.loadMappings()
	if err != nil {
		return nil, err
	}
	unconfirmed := []error{p.batch.Unconfirmed()} // of all sources at once: the compiler would stop at the first
	for _, m := range maps {
		unconfirmed = append(unconfirmed, m.Unconfirmed())
	}
	if err := errors.Join(unconfirmed...); err != nil {
		return nil, err
	}
	return p.mapFrozen(ctx, fr, maps)
}

func (p *Pipeline) mapKey(fr *FreezeResult, maps []*mappings.Mapping) string {
	inputs := []string{fr.Manifest, p.batch.digest}
	for _, m := range maps {
		inputs = append(inputs, m.Digest())
	}
	return p.key(Map, inputs...)
}

func (p *Pipeline) mapFrozen(ctx context.Context, fr *FreezeResult, maps []*mappings.Mapping) (*MapResult, error) {
	key := p.mapKey(fr, maps)
	dir := p.workDir(Map, key)
	return execute(ctx, p, task[MapResult]{
		stage: Map, key: key,
		pre: map[string]any{"manifest": fr.Manifest},
		check: func(_ context.Context, r *MapResult) error {
			return present(r.FindingsFile)
		},
		do: func(ctx context.Context, _ *ledger.Op, r *MapResult) error {
			r.Outcome = p.begin(MapSchema)
			r.Manifest = fr.Manifest
			rec, err := p.record(dir)
			if err != nil {
				return err
			}
			for i := range p.batch.Sources {
				s, err := p.mapSource(ctx, fr, &p.batch.Sources[i], maps[i], rec, dir)
				if err != nil {
					rec.abandon()
					return err
				}
				r.Sources = append(r.Sources, *s)
			}
			r.Complete, r.Passed = true, !rec.fatal
			return rec.close(&r.Outcome, dir)
		},
	})
}

// loadMapping parses the mapping of a source.
func (p *Pipeline) loadMapping(s *Source) (*mappings.Mapping, error) { return mappingOf(p.batch, s) }

func mappingOf(b *Batch, s *Source) (*mappings.Mapping, error) {
	data, err := os.ReadFile(b.abs(s.Mapping))
	if err != nil {
		return nil, &ConfigError{File: s.Mapping, Message: "can't be read: " + pathless(err), Remedy: fmt.Sprintf("write the mapping of source %s, or correct its path in batch.yaml", s.Name)}
	}
	return mappings.Parse(s.Mapping, data)
}

// loadMappings parses all mappings, by source.
func (p *Pipeline) loadMappings() ([]*mappings.Mapping, error) {
	var maps []*mappings.Mapping
	var faults []error
	for i := range p.batch.Sources {
		m, err := p.loadMapping(&p.batch.Sources[i])
		if err != nil {
			faults = append(faults, err)
		}
		maps = append(maps, m)
	}
	return maps, errors.Join(faults...)
}

// sheet is one frozen sheet, opened.
type sheet struct {
	file  *os.File
	check *manifests.Check // of the bytes of the file; nil if they were checked when it was opened
	book  source.Book
	index int
	env   mappings.Env
	src   *Source
	view  *mendedView   // rows that came back mended; nil of a sheet as it was exported
	most  int           // rows of a block, if not as the reader gives it
	keep  bool          // the rows will be gone over again
	kept  *source.Spill // they, once they were read to their end, cut as they were given

	profiled string             // digest of the profile that map recorded
	profiler *mappings.Profiler // makes it again while the rows are surveyed; nil if they were profiled before
	laid     *laidAside         // what the survey made of the rows; nil if it laid nothing aside

	linker importers.Linker // dry-run: of its system

	statements []map[string]importers.Statement // by record of the mapping
	configs    bool                             // the mapping gives config records
}

func (s *sheet) close() {
	if s.kept != nil {
		_ = s.kept.Close() // an unlinked file: nothing is lost with it
	}
	if s.laid != nil {
		s.laid.going.Wait()
		s.laid.close()
	}
	if s.view != nil {
		s.view.base.close()
	}
	if s.book != nil {
		s.book.Close()
	}
	if s.check != nil {
		s.check.Stop()
	}
	s.file.Close()
}

// checked gives the fault of a file that is not the frozen one, else err: what was read of another file, or why it can't be, tells nothing.
func (s *sheet) checked(err error) error {
	if s.check == nil || errors.Is(err, context.Canceled) {
		return err
	}
	if other := s.check.Wait(); other != nil {
		return other
	}
	return err
}

// openSheet opens the frozen bytes of a source at its sheet.
func (p *Pipeline) openSheet(ctx context.Context, fr *FreezeResult, s *Source, m *mappings.Mapping, token func(kind, value string) string) (*sheet, error) {
	sh, err := p.openSheetAhead(ctx, fr, s, m, token)
	if err != nil {
		return nil, err
	}
	if err := sh.checked(nil); err != nil {
		sh.close()
		return nil, err
	}
	return sh, nil
}

// openSheetAhead is openSheet that checks the bytes while they are read: see sheet.checked.
func (p *Pipeline) openSheetAhead(ctx context.Context, fr *FreezeResult, s *Source, m *mappings.Mapping, token func(kind, value string) string) (_ *sheet, err error) {
	if part := fr.part(s.Name); part != nil && part.Base != "" {
		return p.openMended(ctx, fr, part, s, m, token)
	}
	sh := &sheet{index: -1, src: s, most: p.blockRows}
	var digest string
	if sh.file, sh.check, digest, err = p.openFrozenAhead(fr, s.File); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = sh.checked(err)
			sh.close()
		}
	}()
	st, err := sh.file.Stat()
	if err != nil {
		return nil, err
	}
	if sh.book, err = open.ReaderAt(ctx, s.File, sh.file, st.Size(), source.Options{Charset: s.Charset, Delimiter: s.Delimiter, Password: password(), Limits: p.batch.Limits}); err != nil {
		return nil, err
	}
	book := sh.book
	for i := range m.Records {
		sh.statements = append(sh.statements, m.Records[i].Statements())
		if e := importers.ByName(m.Records[i].Entity); e != nil && e.Config {
			sh.configs = true
		}
	}
	want := sheetOf(s, m)
	list := book.Sheets()
	p.sheets.remember(s.File, list)
	for i, info := range list {
		if info.Name == want || want == sheetNumber(i+1) || want == "" && len(list) == 1 {
			sh.index = i
		}
	}
	if sh.index < 0 {
		var names []string
		for i, info := range list {
			n := fmt.Sprintf("%q", info.Name)
			if mappings.LooksPersonal(info.Name) {
				n = fmt.Sprintf("sheet %d", i+1)
			}
			names = append(names, n)
		}
		what := fmt.Sprintf("has no sheet %q", want)
		if want == "" {
			what = "has several sheets and none is named"
		}
		return nil, &ConfigError{File: s.File, Message: what, Remedy: fmt.Sprintf("name one of its sheets in source %s: %s", s.Name, strings.Join(names, ", "))}
	}
	name := list[sh.index].Name
	if book.Info().Format == "csv" {
		name = ""
	}
	sh.env = mappings.Env{
		Source: s.Name, File: s.File, FileDigest: digest, Sheet: name, System: s.System, Zone: s.Zone,
		Date1904: book.Info().Date1904, Token: token,
	}
	return sh, nil
}

// sheetOf is the sheet that a source reads: batch.yaml's word goes before the mapping's; "" for the only one.
func sheetOf(s *Source, m *mappings.Mapping) string {
	if s.Sheet == "" && m != nil {
		return m.Sheet
	}
	return s.Sheet
}

// sheetNumber is how a sheet is named by its position, where its name looks like a value about a person.
func sheetNumber(n int) string { return "#" + strconv.Itoa(n) }

// openSource opens a source of the pipeline's snapshot by its name.
func (p *Pipeline) openSource(ctx context.Context, fr *FreezeResult, name string, m *mappings.Mapping, token func(kind, value string) string) (*sheet, error) {
	for i := range p.batch.Sources {
		if p.batch.Sources[i].Name == name {
			return p.openSheet(ctx, fr, &p.batch.Sources[i], m, token)
		}
	}
	return nil, &IntegrityError{What: "snapshot " + fr.Snapshot, Detail: "it does not hold source " + name, Remedy: "restore the database from a backup"}
}

// whole reads what the sheet's columns are profiled by, block by block.
func (s *sheet) whole(ctx context.Context, f func(*source.Block) error) error {
	switch {
	case s.view == nil:
		return s.each(ctx, f)
	case s.view.rows != nil:
		return s.view.whole(ctx, f)
	}
	if err := s.view.base.whole(ctx, f); err != nil {
		return err
	}
	b := source.NewBuilder(s.view.text)
	return s.each(ctx, func(in *source.Block) error {
		b.Reset()
		for i, n := range in.RowNum {
			if n > s.view.header { // the base has given it
				s.view.put(b, &mendedRow{num: n, line: lineAt(in, i), cells: rowCells(in, i)})
			}
		}
		return f(b.Block(nil, nil))
	})
}

// records reports whether the rows are records of a text file that have bytes of their own.
func (s *sheet) records() bool { return s.text() && (s.view == nil || s.view.rows == nil) }

// text reports whether the rows were records of a text file when they were exported.
func (s *sheet) text() bool {
	if s.view != nil && s.view.rows != nil {
		return s.view.base.text()
	}
	return s.book.Info().Format == "csv"
}

// each reads the rows to be judged to their end, block by block.
func (s *sheet) each(ctx context.Context, f func(*source.Block) error) error {
	if s.view != nil && s.view.rows != nil {
		return s.view.each(ctx, f)
	}
	if s.kept != nil {
		return eachBlock(ctx, s.kept.Replay(), f)
	}
	rd, err := s.book.Read(ctx, s.index)
	if err != nil {
		return err
	}
	defer rd.Close()
	var kept *source.Spill
	if s.keep {
		kept = &source.Spill{}
	}
	err = eachBlock(ctx, rd, func(b *source.Block) error {
		most := s.most
		if most == 0 {
			most = max(1, b.Rows())
		}
		for n := 0; n < b.Rows(); n += most {
			part := b
			if most < b.Rows() {
				part = rowsOf(b, n, min(n+most, b.Rows()))
			}
			if kept != nil {
				if err := kept.Add(part); err != nil {
					return noRoomForRows(err)
				}
			}
			if err := f(part); err != nil {
				return err
			}
		}
		return nil
	})
	switch {
	case kept == nil:
		return err
	case err != nil:
		_ = kept.Close() // what failed first is told
		return err
	}
	s.kept = kept
	return s.book.Close() // its shared strings may be the larger part of the file
}

func eachBlock(ctx context.Context, r interface{ Next() (*source.Block, error) }, f func(*source.Block) error) error {
	for {
		b, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = ctx.Err()
		}
		if err == nil {
			err = f(b)
		}
		if err != nil {
			return err
		}
	}
}

// rowsOf is a part of a block's rows.
func rowsOf(b *source.Block, from, to int) *source.Block {
	part := *b
	part.RowNum = b.RowNum[from:to]
	part.Cols = make([][]source.Cell, len(b.Cols))
	for i, c := range b.Cols {
		part.Cols[i] = c[from:to]
	}
	if b.Line != nil {
		part.Line = b.Line[from:to]
	}
	if b.Width != nil {
		part.Width = b.Width[from:to]
	}
	if b.Records != nil {
		part.Records = b.Records[from:to]
	}
	return &part
}

// compile profiles a sheet and compiles its mapping. Findings of the compilation are returned, not sunk.
func (p *Pipeline) compile(ctx context.Context, stage string, sh *sheet, m *mappings.Mapping) (*mappings.Plan, *mappings.Profile, []finding.Finding, error) {
	prof, err := mappings.NewProfiler(m, sh.env)
	if err != nil {
		return nil, nil, nil, err
	}
	var rows int64
	if err := sh.whole(ctx, func(b *source.Block) error {
		rows += int64(b.Rows())
		p.opt.Progress(stage, sh.src.Name, rows, 0)
		return prof.Add(b)
	}); err != nil {
		return nil, nil, nil, err
	}
	profile, err := prof.Done()
	if err != nil {
		return nil, nil, nil, err
	}
	plan, found, err := mappings.Compile(m, profile, sh.env)
	if v := sh.view; v != nil && v.rows == nil { // the columns are those of the base as well, whose rows have other numbers
		for i := range found {
			if f := &found[i]; f.Row > v.header || f.LastRow > v.header {
				f.Row, f.LastRow, f.Line, f.Cell = 0, 0, 0, ""
			}
		}
	}
	return plan, profile, found, err
}

func (p *Pipeline) mapSource(ctx context.Context, fr *FreezeResult, s *Source, m *mappings.Mapping, rec *recorder, dir string) (*MappedSource, error) {
	sh, err := p.openSheet(ctx, fr, s, m, nil)
	if err != nil {
		return nil, err
	}
	defer sh.close()
	plan, profile, found, err := p.compile(ctx, Map, sh, m)
	if err != nil {
		return nil, err
	}
	for _, f := range found {
		if err := rec.Add(f); err != nil {
			return nil, err
		}
	}
	if err := keepProfile(profilePath(dir, s.Name), profile); err != nil {
		return nil, err
	}
	ms := &MappedSource{
		Source: s.Name, File: s.File, Sheet: sh.env.Sheet, Mapping: m.Digest(), Profile: profile.Digest(), Plan: plan.Digest(),
		HeaderRow: profile.HeaderRow, Rows: profile.Rows, Columns: len(profile.Header), Unmapped: profile.Unmapped,
	}
	for _, r := range m.Records {
		ms.Entities = append(ms.Entities, r.Entity)
	}
	return ms, nil
}
