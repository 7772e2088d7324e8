package pipeline

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"golang.org/x/sync/errgroup"

	"sheetlift/importers/source"
	"sheetlift/importers/source/count"
	"sheetlift/importers/source/open"
	"sheetlift/manifests"
	"sheetlift/mappings"
	"sheetlift/pipeline/finding"
	"sheetlift/pipeline/ledger"
)

// Inventory looks at every file of the batch, every sheet, every column, and writes nothing but its findings.
func (p *Pipeline) Inventory(ctx context.Context) (*InventoryResult, error) {
	if err := p.holdFiles(ctx); err != nil {
		return nil, err
	}
	digests, err := p.fileDigests()
	if err != nil {
		return nil, err
	}
	key := p.key(Inventory, append([]string{p.batch.digest, p.mappingBytesDigest()}, digests...)...)
	dir := p.workDir(Inventory, key)
	return execute(ctx, p, task[InventoryResult]{
		stage: Inventory, key: key,
		pre: map[string]any{"config": p.batch.digest},
		check: func(_ context.Context, r *InventoryResult) error {
			return present(r.FindingsFile)
		},
		do: func(ctx context.Context, _ *ledger.Op, r *InventoryResult) error {
			rec, err := p.record(dir)
			if err != nil {
				return err
			}
			r.Outcome = p.begin(InventorySchema)
			r.Config = p.batch.digest
			for i, file := range p.batch.Files() {
				f, err := p.inventoryFile(ctx, p.batch.abs(file), file, digests[i], rec)
				if err != nil {
					rec.abandon()
					return err
				}
				r.Files = append(r.Files, *f)
			}
			r.Complete, r.Passed = true, !rec.fatal
			return rec.close(&r.Outcome, dir)
		},
	})
}

func (p *Pipeline) begin(schema string) Outcome {
	return Outcome{Schema: schema, Batch: p.batch.Name, Snapshot: p.snap.name}
}

// present is the check of a recorded result whose only product is its findings file.
func present(path string) error {
	if _, err := os.Stat(path); err != nil {
		return errRemake
	}
	return nil
}

// fileDigests hashes the batch's files as they lie there now.
func (p *Pipeline) fileDigests() ([]string, error) {
	var digests []string
	for _, file := range p.batch.Files() {
		if err := p.inside(file); err != nil {
			return nil, err
		}
		d, _, err := manifests.FileDigest(p.batch.abs(file))
		if err != nil {
			return nil, p.fileFault(file, err)
		}
		digests = append(digests, d)
	}
	return digests, nil
}

// inside refuses a file that lies outside the folder of batch.yaml behind a symbolic link.
func (p *Pipeline) inside(file string) error {
	real, err := filepath.EvalSymlinks(p.batch.abs(file))
	if err != nil {
		return p.fileFault(file, err)
	}
	dir, err := filepath.EvalSymlinks(p.batch.dir)
	if err != nil {
		return err
	}
	if rel, err := filepath.Rel(dir, real); err != nil || !filepath.IsLocal(rel) {
		return &ConfigError{File: p.batch.path, Message: fmt.Sprintf("file %q is a link to something outside the folder of batch.yaml", file), Remedy: "copy the export into the folder"}
	}
	return nil
}

// fileFault words a failure to read a file of the batch.
func (p *Pipeline) fileFault(file string, err error) error {
	if errors.Is(err, os.ErrNotExist) {
		return &ConfigError{File: p.batch.path, Message: fmt.Sprintf("file %q does not exist", file), Remedy: "put the export there or correct the path in batch.yaml"}
	}
	return &source.Error{Kind: source.ErrUnsupported, File: file, Message: "can't be read: " + pathless(err), Remedy: "give the operator read access to the file", Err: err}
}

// mappingBytesDigest covers the mapping files as they lie there, readable or not: the inventory uses them for hints only.
func (p *Pipeline) mappingBytesDigest() string {
	var all []string
	for _, s := range p.batch.Sources {
		d, _, err := manifests.FileDigest(p.batch.abs(s.Mapping))
		if err != nil {
			d = "absent"
		}
		all = append(all, d)
	}
	d, err := manifests.Digest(all)
	if err != nil {
		panic(err) // strings always have a canonical form
	}
	return d
}

func (p *Pipeline) inventoryFile(ctx context.Context, path, file, digest string, rec *recorder) (*InventoryFile, error) {
	var sources []*Source
	for i := range p.batch.Sources {
		if p.batch.Sources[i].File == file {
			sources = append(sources, &p.batch.Sources[i])
		}
	}
	fd, err := manifests.OpenVerified(path, digest)
	if err != nil {
		return nil, &GateError{Stage: Inventory, Why: fmt.Sprintf("%s changed while it was read", file), Remedy: "wait until nobody writes to it, then run inventory again"}
	}
	defer fd.Close()
	st, err := fd.Stat()
	if err != nil {
		return nil, p.fileFault(file, err)
	}
	opt := source.Options{Charset: sources[0].Charset, Delimiter: sources[0].Delimiter, Password: password(), Limits: p.batch.Limits}
	// The second count is shown the parts of a workbook as the reader inflates them.
	var counter *count.Counter
	opt.Parts = func(part string) io.WriteCloser {
		if counter == nil {
			return nil
		}
		return counter.Part(part)
	}
	book, err := open.ReaderAt(ctx, file, fd, st.Size(), opt)
	if err != nil {
		return nil, err
	}
	defer book.Close()
	info := book.Info()
	if counter, err = countOf(book, fd, st.Size(), opt); err != nil {
		return nil, err
	}
	// A text file is read by both at the same time.
	halt, cancel := context.WithCancel(ctx)
	counting, stop := errgroup.WithContext(halt)
	var counted []count.Sheet
	if info.Format == "csv" {
		counting.Go(func() (err error) {
			counted, err = counter.Sheets(stop)
			return err
		})
	}
	defer func() {
		cancel()
		_ = counting.Wait() // fd must stay open as long as it is read
	}()
	f := &InventoryFile{
		File: file, SHA256: digest, Size: st.Size(), Type: info.Said, Format: info.Format,
		Charset: info.Charset, Delimiter: info.Delimiter, Date1904: info.Date1904,
	}
	if c := info.Conversion; c != nil {
		f.Conversion = &Conversion{Tool: c.Tool, Version: c.Version, SHA256: c.Converted}
	}
	for _, s := range sources {
		if s.Owner == "" {
			err = add(rec, "file.owner_missing", s, file, "", nil)
		}
		if err == nil && s.Definition == "" {
			err = add(rec, "file.definition_missing", s, file, "", nil)
		}
		if err != nil {
			return nil, err
		}
	}
	var maps []*mappings.Mapping
	for _, s := range sources {
		m, err := p.loadMapping(s)
		if err != nil {
			m = nil // faults of a mapping are told by map; the inventory takes only hints from it
		}
		maps = append(maps, m)
	}
	p.sheets.remember(file, book.Sheets())
	dates := false
	lists := &listReader{book: book}
	for i, sheet := range book.Sheets() {
		var src *Source
		var m *mappings.Mapping
		for k, s := range sources {
			if want := sheetOf(s, maps[k]); want == sheet.Name || want == sheetNumber(i+1) || want == "" && len(book.Sheets()) == 1 {
				src, m = s, maps[k]
			}
		}
		inv, dated, err := p.inventorySheet(ctx, lists, i, sheet, src, m, file, rec)
		if err != nil {
			return nil, err
		}
		dates = dates || dated
		f.Sheets = append(f.Sheets, *inv)
	}
	if err := reportHazards(rec, fileHazards(file, info, dates), "", sources[0], file); err != nil {
		return nil, err
	}
	if err := counting.Wait(); err != nil {
		return nil, err
	}
	if info.Format != "csv" {
		if counted, err = counter.Sheets(ctx); err != nil {
			return nil, err
		}
	}
	return f, compareCounts(f, counted)
}

// countOf begins the second count of a book; of a converted one it counts what it was converted to.
func countOf(book source.Book, r io.ReaderAt, size int64, opt source.Options) (*count.Counter, error) {
	if converted, ok := book.(interface {
		Workbook() (io.ReaderAt, int64)
	}); ok {
		r, size = converted.Workbook()
	}
	return count.Open(r, size, book.Info(), opt)
}

// compareCounts refuses a file in which the second, independent count finds other rows or cells than the reader.
func compareCounts(f *InventoryFile, counted []count.Sheet) error {
	if len(counted) != len(f.Sheets) {
		return &source.Error{Kind: source.ErrMalformed, File: f.File, Message: fmt.Sprintf("the reader finds %s, an independent count %d", finding.Count(len(f.Sheets), "sheet", "sheets"), len(counted)), Remedy: countRemedy}
	}
	for i := range f.Sheets {
		s, c := &f.Sheets[i], counted[i]
		if err := count.Compare(c, source.Facts{Rows: s.Rows, Cells: s.Cells}); err != nil {
			return &source.Error{Kind: source.ErrMalformed, File: f.File, Sheet: s.Sheet, Message: err.Error(), Remedy: countRemedy, Err: err}
		}
		s.CountedRows, s.CountedCells = c.Rows, c.Cells
	}
	return nil
}

const countRemedy = "one of the two is wrong, so neither is trusted: save the file anew with the program it comes from and report this as a fault of sheetlift"

// password of encrypted workbooks, from the environment; never an argument, never in batch.yaml.
func password() string { return os.Getenv("SHEETLIFT_PASSWORD") }

// add makes a finding of the rule about a source, file and sheet; edit completes it.
func add(sink finding.Sink, rule string, s *Source, file, sheet string, edit func(*finding.Finding)) error {
	f := finding.New(rule)
	if s != nil {
		f.Source = s.Name
	}
	f.File, f.Sheet = file, sheet
	if edit != nil {
		edit(&f)
	}
	return sink.Add(f)
}

// inventorySheet looks at one sheet, and says whether it has cells that are dates.
func (p *Pipeline) inventorySheet(ctx context.Context, lists *listReader, i int, sheet source.SheetInfo, src *Source, m *mappings.Mapping, file string, rec finding.Sink) (*InventorySheet, bool, error) {
	book := lists.book
	prof, err := p.profileSheet(ctx, book, i, src, m)
	if err != nil {
		return nil, false, err
	}
	inv := &InventorySheet{
		Sheet: sheet.Name, Visibility: string(sheet.Visibility), Rows: prof.facts.Rows, Cells: prof.facts.Cells,
		LastRow: prof.facts.LastRow, HeaderRow: prof.headerRow, Duplicates: prof.repeats,
		Merged: prof.facts.Merged, HiddenRows: prof.facts.HiddenRows, Formulas: prof.facts.Formulas,
		NoCache: prof.facts.FormulasNoCache, Errors: prof.facts.ErrorCells,
	}
	if prof.none {
		inv.HeaderRow = 0
	}
	if book.Info().Format == "csv" {
		inv.Visibility = string(source.Visible)
	}
	if prof.facts.LastColumn > 0 {
		inv.LastColumn = source.Letters(prof.facts.LastColumn - 1)
	}
	if src != nil {
		inv.Source, inv.Owner = src.Name, src.Owner
	}
	for col, c := range prof.columns {
		inv.Columns = append(inv.Columns, InventoryColumn{
			Column: source.Letters(col), Name: prof.name(col), Kinds: c.kinds(), Blank: prof.rows - c.filled,
			Distinct: c.count(), DistinctAtLeast: c.over, ENotation: c.eNotation, LongNumbers: c.long, ZeroPadded: c.padded,
		})
		if c.filled == prof.rows && prof.rows > 1 && !c.over && c.count() == prof.rows {
			inv.Keys = append(inv.Keys, source.Letters(col))
		}
	}
	dates := false
	for _, c := range prof.columns {
		dates = dates || c.counts[source.Number][source.Date]+c.counts[source.Number][source.DateTime] > 0
	}
	if err := p.sheetFindings(rec, prof, sheet, src, file); err != nil {
		return nil, false, err
	}
	found := prof.sheetHazards(book.Info().Format != "csv")
	outside, err := prof.outsideLists(ctx, lists, i)
	if err != nil {
		return nil, false, err
	}
	return inv, dates, reportHazards(rec, append(found, outside...), sheet.Name, src, file)
}

// sheetFindings reports the hazards of one sheet.
func (p *Pipeline) sheetFindings(rec finding.Sink, prof *readProfile, sheet source.SheetInfo, src *Source, file string) error {
	var err error
	report := func(rule string, edit func(*finding.Finding)) {
		if err == nil {
			err = add(rec, rule, src, file, sheet.Name, edit)
		}
	}
	hazard := func(rows, first, last int, message string, args ...any) func(*finding.Finding) {
		return func(f *finding.Finding) {
			f.Rows, f.Row, f.LastRow = rows, first, last
			f.Severity = finding.Warning
			f.Message = fmt.Sprintf(message, args...)
		}
	}
	if sheet.Visibility != source.Visible && sheet.Visibility != "" {
		report("sheet.hidden", func(f *finding.Finding) {
			if src == nil {
				f.Severity = finding.Info
			}
			f.Rows = prof.facts.Rows
			f.Message = "the sheet is hidden and has " + finding.Count(prof.facts.Rows, "row", "rows")
		})
	}
	if n := prof.facts.FormulasNoCache; n > 0 {
		report("cell.formula_no_cache", hazard(n, 0, 0, "%s no stored result; nothing is read there", finding.Count(n, "formula has", "formulas have")))
	}
	if n := prof.facts.ErrorCells; n > 0 {
		report("cell.error", hazard(n, 0, 0, "%s an error such as #N/A", finding.Count(n, "cell holds", "cells hold")))
	}
	if n := prof.facts.StrayQuotes; n > 0 {
		report("cell.stray_quote", func(f *finding.Finding) {
			f.Rows, f.Row, f.Column, f.Cell = n, prof.facts.StrayRow, source.Letters(prof.facts.StrayColumn), source.Ref(prof.facts.StrayColumn, prof.facts.StrayRow)
			f.Message = finding.Count(n, "cell has", "cells have") + " text after a closing quote; it is read as part of the value, without that quote"
		})
	}
	if prof.repeats > 0 {
		report("row.duplicate", hazard(prof.repeats, 0, 0, "%s another row cell by cell", finding.Count(prof.repeats, "row repeats", "rows repeat")))
	}
	for _, k := range prof.keys {
		if k.repeats > 0 {
			report("key.duplicate", hazard(k.repeats, k.first, k.last, "%s the key of another row (%s)", finding.Count(k.repeats, "row repeats", "rows repeat"), k.label))
		}
	}
	for col, c := range prof.columns {
		at := func(edit func(*finding.Finding)) func(*finding.Finding) {
			return func(f *finding.Finding) {
				edit(f)
				f.Column = source.Letters(col)
			}
		}
		if c.mixed() {
			report("column.mixed_types", at(hazard(c.filled, 0, 0, "column %s (%s) mixes text with numbers or dates: %d of %s text",
				source.Letters(col), prof.name(col), c.of(source.Text), finding.Count(c.filled, "cell is", "cells are"))))
		}
		if c.padded > 0 {
			report("id.zeros_lost", at(hazard(c.padded, c.first, c.last, "column %s (%s): %s leading zeros that exist only in the number format",
				source.Letters(col), prof.name(col), finding.Count(c.padded, "number shows", "numbers show"))))
		}
		if n := c.eNotation + c.long; n > 0 {
			report("id.precision_lost", at(hazard(n, c.first, c.last, "column %s (%s): %s more than 15 digits; a spreadsheet keeps 15, the others are lost",
				source.Letters(col), prof.name(col), finding.Count(n, "number has", "numbers have"))))
		}
	}
	for _, o := range prof.outline {
		for _, col := range o.Fields["status"] {
			if o.Entity != "consent" || col >= len(prof.columns) || prof.rows < constantMin {
				continue
			}
			if c := prof.columns[col]; !c.over && c.count() == 1 {
				report("consent.constant_column", func(f *finding.Finding) {
					f.Rows, f.Column = c.filled, source.Letters(col)
					f.Message = fmt.Sprintf("column %s (%s) holds one value in all of its %s; a real register has some of each", source.Letters(col), prof.name(col), finding.Count(c.filled, "cell", "cells"))
				})
			}
		}
	}
	return err
}

// constantMin is the number of rows from which a constant consent column is worth a warning.
const constantMin = 10

// readProfile is a profile of a sheet that was read to its end.
type readProfile struct {
	*sheetProfile
	shown []string // headers as they may be shown
	facts source.Facts
	marks source.Marks
}

// name is the header of column col as it may be shown: by position when it is blank or looks like a personal value.
func (r *readProfile) name(col int) string {
	if r.shown == nil {
		r.shown = mappings.ShownHeaders(r.header)
	}
	if col < len(r.shown) {
		return r.shown[col]
	}
	return "column " + source.Letters(col)
}

// profileSheet reads one sheet to its end.
func (p *Pipeline) profileSheet(ctx context.Context, book source.Book, i int, src *Source, m *mappings.Mapping) (*readProfile, error) {
	rd, err := book.Read(ctx, i)
	if err != nil {
		return nil, err
	}
	defer rd.Close()
	name := ""
	if src != nil {
		name = src.Name
	}
	prof := newSheetProfile()
	prof.export = exportTimeOf(src, book.Info().Date1904)
	first := true
	var rows int64
	for {
		b, err := rd.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		if first {
			prof.start(b, m)
			first = false
		}
		prof.add(b)
		rows += int64(b.Rows())
		p.opt.Progress(Inventory, name, rows, source.Expected(rd, rows))
	}
	prof.finish()
	return &readProfile{sheetProfile: prof, facts: rd.Facts(), marks: source.MarksOf(ctx, rd)}, nil
}
