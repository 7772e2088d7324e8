package pipeline

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"sheetlift/importers"
	"sheetlift/importers/register"
	"sheetlift/importers/source"
	"sheetlift/mappings"
	"sheetlift/pipeline/store"
)

// cellRef is FILE!SHEET!B17 taken apart, for one source of the batch.
type cellRef struct {
	source, sheet string
	snapshot      string // records that were mended in a text file: the snapshot that holds the file
	row           int64
	cell          string // B17
}

var cellName = regexp.MustCompile(`^[A-Za-z]{1,3}[1-9][0-9]{0,8}$`)

// parseCell finds the sources that a cell reference means. The file is named as in batch.yaml, or by its last part. A sheet name
// may hold an exclamation mark, a file name too: the cell is what follows the last, the file what batch.yaml knows.
func (p *Pipeline) parseCell(text string, all []*FreezeResult) ([]cellRef, error) {
	fault := func(format string, args ...any) error {
		return &ConfigError{File: p.batch.path, Message: fmt.Sprintf(format, args...), Remedy: "write FILE!SHEET!B17, or FILE!B17 for a text file; the file as batch.yaml names it"}
	}
	i := strings.LastIndex(text, "!")
	if i < 0 {
		return nil, fault("that is no cell of a file")
	}
	where, cell := text[:i], strings.ToUpper(text[i+1:])
	if !cellName.MatchString(cell) {
		return nil, fault("what follows the last ! is no cell")
	}
	row, err := strconv.ParseInt(strings.TrimLeft(cell, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"), 10, 64)
	if err != nil {
		return nil, err
	}
	var refs []cellRef
	for _, s := range p.batch.Sources {
		for _, file := range []string{s.File, path.Base(s.File)} {
			rest, ok := strings.CutPrefix(where, file)
			if !ok || rest != "" && rest[0] != '!' {
				continue
			}
			refs = append(refs, cellRef{s.Name, strings.TrimPrefix(rest, "!"), "", row, cell})
			break
		}
	}
	for _, fr := range all {
		for _, part := range fr.Parts {
			if part.Base != "" && part.Sheet == "" && part.File == where {
				refs = append(refs, cellRef{part.Source, "", fr.Snapshot, row, cell})
			}
		}
	}
	if len(refs) == 0 {
		var files []string
		for _, f := range p.batch.Files() {
			files = append(files, p.batch.ShownFile(f))
		}
		return nil, &ConfigError{File: p.batch.path, Message: "no source of the batch has that file", Remedy: "write FILE!SHEET!B17, or FILE!B17 for a text file; the batch's files are " + firstOf(files)}
	}
	return refs, nil
}

// TraceCell leads from a cell of a source (FILE!SHEET!B17; FILE!B17 for a text file) to the records that this batch took from
// its row, each with the fields that the cell gave. A file that came in more than once has that cell more than once: snapshot says
// which is meant (mended rows are in the file that they went out of), and must if several gave records. Masking and reveal are as
// in Trace.
func (p *Pipeline) TraceCell(ctx context.Context, text, snapshot string, reveal bool) (*TraceResult, error) {
	all, _, err := p.freezes(ctx)
	if err != nil {
		return nil, err
	}
	refs, err := p.parseCell(text, all)
	if err != nil {
		return nil, err
	}
	if snapshot != "" && !slices.ContainsFunc(all, func(fr *FreezeResult) bool { return fr.Snapshot == snapshot }) {
		return nil, &ConfigError{File: p.batch.path, Message: fmt.Sprintf("the batch has no snapshot %q", snapshot), Remedy: "name one that `sheetlift verify` lists"}
	}
	p.byPosition(ctx, refs, all)
	origin := origins(all)
	r := &TraceResult{Schema: TraceSchema, Batch: p.batch.Name, Cell: refs[0].cell, Records: []TraceRecord{}}
	type at struct{ entity, id string }
	var found []at
	sheets, snapshots := map[string]bool{}, map[string]bool{}
	undone := false
	err = p.db.View(ctx, func(tx *store.Tx) (err error) {
		if r.Unfinished, err = p.unfinishedAll(ctx, tx); err != nil {
			return err
		}
		for _, ref := range refs {
			err := register.EachOfRow(ctx, tx, p.id.Tenant, p.batch.Name, ref.source, ref.row, func(pr register.Provenance) error {
				name, _, retracted := strings.Cut(pr.Snapshot, register.Retracted)
				of := origin.of(name, pr.Source)
				switch {
				case ref.sheet != "" && ref.sheet != pr.Sheet, ref.snapshot == "" && origin.text[[2]string{of, pr.Source}], ref.snapshot != "" && ref.snapshot != of:
					return nil
				case snapshot != "" && of != origin.of(snapshot, pr.Source):
					return nil
				case retracted && !pr.Left():
					undone = true
					return nil
				}
				sheets[pr.Sheet], snapshots[of] = true, true
				if a := (at{pr.Entity, pr.ID}); !slices.Contains(found, a) {
					found = append(found, a)
				}
				return nil
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil && len(found) == 0 {
		var list []twin
		list, err = p.twins(ctx, refs, all, origin, snapshot)
		for _, of := range list {
			sheets[of.Sheet], snapshots[origin.of(of.Snapshot, of.Source)] = true, true
			if a := (at{of.Entity, of.ID}); !slices.Contains(found, a) {
				found = append(found, a)
			}
			refs, r.Repeats = append(refs, of.ref), of.Row
		}
	}
	if err != nil {
		return nil, err
	}
	switch {
	case len(sheets) > 1:
		return nil, &ConfigError{File: p.batch.path, Message: "several sheets of that file gave records from that row", Remedy: "name the sheet: FILE!SHEET!" + refs[0].cell}
	case len(snapshots) > 1:
		return nil, &ConfigError{File: p.batch.path, Message: "that row gave records in several snapshots: " + strings.Join(slices.Sorted(maps.Keys(snapshots)), ", "), Remedy: "name the one whose file you mean with --snapshot"}
	case len(found) == 0 && undone:
		return nil, &ErrNoSuchRecord{Row: refs[0].row, Remedy: "what the row gave was taken back by an undo"}
	case len(found) == 0:
		return nil, p.noRecord(ctx, refs, all, origin, snapshot, r.Unfinished)
	}
	if reveal {
		err := p.db.Update(ctx, func(tx *store.Tx) error {
			for _, a := range found {
				o := register.Origin{Identity: p.id, Batch: p.batch.Name, Snapshot: Initial, Operator: p.opt.Operator}
				if err := register.RecordReveal(ctx, tx, importers.ByName(a.entity), a.id, o, 1); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	cells, _ := p.fieldColumns(ctx)
	show := &tracer{Pipeline: p, cells: cells, reveal: reveal}
	err = p.db.View(ctx, func(tx *store.Tx) (err error) {
		if r.Unfinished, err = p.unfinishedAll(ctx, tx); err != nil { // as of what is shown
			return err
		}
		for _, a := range found {
			e := importers.ByName(a.entity)
			var stored []*register.Stored
			if err := register.Each(ctx, tx, e, p.id.Tenant, register.Filter{ID: a.id}, func(st *register.Stored) error {
				stored = append(stored, st)
				return nil
			}); err != nil {
				return err
			}
			for _, st := range stored {
				t, err := show.record(ctx, tx, e, st)
				if err != nil {
					return err
				}
				t.Entity = e.Name
				if err := show.cell(ctx, t, st, refs, all, func(at *TracePlace) bool { return snapshots[origin.of(at.Snapshot, at.Source)] }); err != nil {
					return err
				}
				r.Records = append(r.Records, *t)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if err := p.addOpposed(ctx, r); err != nil {
		return nil, err
	}
	r.settle()
	return r, nil
}

// cell says which fields of a record the cell gave, of places that are meant, and which not although its column is mapped to them; untold if of some
// place it is not known. The row itself decides: a blank cell gave nothing.
func (p *tracer) cell(ctx context.Context, t *TraceRecord, st *register.Stored, refs []cellRef, all []*FreezeResult, meant func(*TracePlace) bool) error {
	for i := range t.Places {
		at := &t.Places[i]
		k := slices.IndexFunc(refs, func(r cellRef) bool { return r.source == at.Source && r.row == at.Row })
		if k < 0 || !meant(at) {
			continue
		}
		name, _, _ := strings.Cut(at.Snapshot, register.Retracted)
		read, err := p.readRow(ctx, name, at, st, all)
		if err != nil {
			return err
		}
		if read == nil {
			t.Untold = true
			continue
		}
		of := func(col int) bool { return source.Ref(col, int(at.Row)) == refs[k].cell }
		for field, cells := range read.fields {
			v := st.Values[st.Entity.Field(field)]
			n := slices.IndexFunc(read.mapped[field], of)
			switch {
			case n < 0:
			case v.Set && slices.ContainsFunc(cells.From, of):
				if !slices.Contains(t.FromCell, field) {
					t.FromCell = append(t.FromCell, field)
				}
			default:
				not := NotGiven{Field: field, Because: "no_value"}
				if cells.LeftOut {
					not.Because = "when"
				} else if read.blank[read.mapped[field][n]] {
					not.Because = "blank"
				}
				if v.Set {
					var from []string
					for _, c := range cells.From {
						from = append(from, source.Ref(c, int(at.Row)))
					}
					not.From = strings.Join(from, " ")
				}
				if !slices.Contains(t.NotGiven, not) {
					t.NotGiven = append(t.NotGiven, not)
				}
			}
		}
	}
	slices.Sort(t.FromCell)
	t.NotGiven = slices.DeleteFunc(t.NotGiven, func(n NotGiven) bool { return slices.Contains(t.FromCell, n.Field) })
	slices.SortFunc(t.NotGiven, func(a, b NotGiven) int { return strings.Compare(a.Field, b.Field) })
	return nil
}

// rowRead is a row of a frozen sheet, and what its cells are to the fields of a record.
type rowRead struct {
	fields map[string]mappings.FieldCells
	blank  map[int]bool     // the columns whose cells hold nothing
	mapped map[string][]int // the columns that each field is mapped to
}

// readRow reads the row of a place; nil if it can't be told which record of the mapping gave the stored one, or the frozen file is not what it was.
func (p *tracer) readRow(ctx context.Context, snapshot string, at *TracePlace, st *register.Stored, all []*FreezeResult) (read *rowRead, err error) {
	lay := p.cells[[2]string{snapshot, at.Source}]
	i := slices.IndexFunc(all, func(fr *FreezeResult) bool { return fr.Snapshot == snapshot })
	candidates := fitting(lay.records, st)
	if i < 0 || len(candidates) == 0 {
		return nil, nil
	}
	q, err := p.at(all[i])
	if err != nil {
		return nil, nil
	}
	k := slices.IndexFunc(q.batch.Sources, func(s Source) bool { return s.Name == at.Source })
	if k < 0 {
		return nil, nil
	}
	m, err := q.loadMapping(&q.batch.Sources[k])
	if err != nil {
		return nil, nil
	}
	sh, err := q.openSheet(ctx, all[i], &q.batch.Sources[k], m, nil)
	if err != nil {
		return nil, nil
	}
	defer sh.close()
	several := false
	err = sh.each(ctx, func(b *source.Block) error {
		n := slices.Index(b.RowNum, int(at.Row))
		if n < 0 {
			return nil
		}
		for _, c := range candidates {
			fields, ok := m.RowCells(lay.header, c, b, n)
			if !ok {
				continue
			}
			several = several || read != nil && !maps.EqualFunc(read.mapped, lay.records[c].Fields, slices.Equal)
			read = &rowRead{fields, map[int]bool{}, lay.records[c].Fields}
			for _, cols := range read.mapped {
				for _, col := range cols {
					read.blank[col] = mappings.Blank(b, col, n)
				}
			}
		}
		return errEnough
	})
	switch {
	case errors.Is(err, errEnough) && !several:
		return read, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	}
	return nil, nil
}
