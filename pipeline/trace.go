package pipeline

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"sheetlift/importers"
	"sheetlift/importers/register"
	"sheetlift/importers/source"
	"sheetlift/mappings"
	"sheetlift/pipeline/finding"
	"sheetlift/pipeline/store"
)

// ErrNoSuchRecord says that the register holds no record under an external id, or from a row.
type ErrNoSuchRecord struct {
	Entity string
	Row    int64  // 0 if an external id was asked for
	NotYet bool   // an import is unfinished: the record may be one that is not in yet
	Why    string // if it is known of the row, or of rows that have the key
	Remedy string

	Rejected []RejectedBy // by what the row was rejected
}

// Error says so without the id, which may be personal.
func (e *ErrNoSuchRecord) Error() string {
	text := fmt.Sprintf("the register holds no %s under that external id from this batch's systems", e.Entity)
	if e.Row > 0 {
		text = fmt.Sprintf("the register holds no record from row %d of that sheet in this batch", e.Row)
	}
	if e.Why != "" {
		text += ": " + e.Why
	}
	return text
}

// Trace leads from an external id to the records under it, the cells they came from and, for consent, the effective state with
// its reason: the state so far while an import or undo that may change it is unfinished. Values of personal fields are masked unless reveal is set, which leaves an event with the operator's name.
func (p *Pipeline) Trace(ctx context.Context, entity, externalID string, reveal bool) (*TraceResult, error) {
	e := importers.ByName(entity)
	if e == nil {
		var names []string
		for i := range importers.Entities {
			names = append(names, importers.Entities[i].Name)
		}
		return nil, &ConfigError{File: p.batch.path, Message: fmt.Sprintf("there is no entity %q", entity), Remedy: "use one of " + strings.Join(names, ", ")}
	}
	r := &TraceResult{Schema: TraceSchema, Batch: p.batch.Name, Entity: e.Name, Records: []TraceRecord{}}
	cells, changed := p.fieldColumns(ctx)
	show := &tracer{Pipeline: p, cells: cells, reveal: reveal}
	if reveal {
		if err := p.auditReveal(ctx, e, externalID); err != nil {
			return nil, err
		}
	}
	err := p.db.View(ctx, func(tx *store.Tx) (err error) {
		if r.Unfinished, err = p.unfinishedAll(ctx, tx); err != nil {
			return err
		}
		for _, system := range p.systems() {
			id := p.id.Record(system, e.Name, externalID).String()
			if known, err := register.Known(ctx, tx, id); err != nil || !known {
				if err != nil {
					return err
				}
				continue
			}
			var found []*register.Stored
			if err := register.Each(ctx, tx, e, p.id.Tenant, register.Filter{ID: id}, func(st *register.Stored) error {
				found = append(found, st)
				return nil
			}); err != nil {
				return err
			}
			for _, st := range found {
				t, err := show.record(ctx, tx, e, st)
				if err != nil {
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
	if len(r.Records) == 0 {
		if changed != nil { // nobody can tell whether a row had that key
			return nil, changed
		}
		none := &ErrNoSuchRecord{Entity: e.Name, Remedy: "give the key as the source has it, its parts joined by | in the mapping's order"}
		if err := p.noRecordOf(ctx, e, externalID, none); err != nil {
			return nil, err
		}
		if none.Why != "" { // whatever is not in yet
			return nil, none
		}
		return nil, none.asOf(r.Unfinished)
	}
	if err := p.addOpposed(ctx, r); err != nil {
		return nil, err
	}
	r.settle()
	return r, nil
}

// settle takes the name of a state from what is none yet.
func (r *TraceResult) settle() {
	if len(r.Unfinished) == 0 {
		return
	}
	for i := range r.Records {
		t := &r.Records[i]
		t.StateSoFar, t.StateSoFarCause, t.State, t.StateCause = t.State, t.StateCause, "", ""
	}
}

// Final reports whether every state that the trace gives is the last word.
func (r *TraceResult) Final() bool {
	return !slices.ContainsFunc(r.Records, func(t TraceRecord) bool { return t.StateSoFar != "" })
}

// auditReveal leaves the event before anything is shown, for every record that will be.
func (p *Pipeline) auditReveal(ctx context.Context, e *importers.Entity, externalID string) error {
	return p.db.Update(ctx, func(tx *store.Tx) error {
		for _, system := range p.systems() {
			id := p.id.Record(system, e.Name, externalID).String()
			held := 0
			if err := register.Each(ctx, tx, e, p.id.Tenant, register.Filter{ID: id}, func(*register.Stored) error { held++; return nil }); err != nil {
				return err
			}
			if held == 0 {
				continue
			}
			if err := register.RecordReveal(ctx, tx, e, id, register.Origin{Identity: p.id, Batch: p.batch.Name, Snapshot: Initial, Operator: p.opt.Operator}, held); err != nil {
				return err
			}
		}
		return nil
	})
}

// tracer shows records.
type tracer struct {
	*Pipeline
	cells  map[[2]string]layout
	reveal bool
	near   *circle // of the subject that was asked for last
}

func (p *tracer) record(ctx context.Context, tx *store.Tx, e *importers.Entity, st *register.Stored) (*TraceRecord, error) {
	t := &TraceRecord{ID: st.ID, RecordID: st.RecordID, System: st.System, Class: st.Class, Version: st.Version, Values: map[string]string{}}
	for i := range e.Fields {
		f, v := &e.Fields[i], st.Values[i]
		if !v.Set {
			continue
		}
		t.Values[f.Name] = shown(f, v, p.reveal)
	}
	for k, v := range st.Derived {
		t.Values[k] = v
	}
	err := register.EachProvenance(ctx, tx, p.id.Tenant, p.batch.Name, st.ID, func(pr register.Provenance) error {
		place := TracePlace{Batch: pr.Batch, Snapshot: pr.Snapshot, Source: pr.Source, SHA256: pr.FileDigest, Sheet: pr.Sheet,
			Row: pr.Row, Line: pr.Line, Mapping: pr.MappingDigest, Staged: pr.StagedDigest, Known: pr.Vouched > 0}
		if pr.Batch == p.batch.Name {
			name, _, _ := strings.Cut(pr.Snapshot, register.Retracted)
			at := p.cells[[2]string{name, pr.Source}]
			if place.File = at.file; place.File == "" {
				place.File = p.fileOf(pr.Source)
			}
			for field, cols := range cellsOf(at.records, st) {
				if !st.Values[e.Field(field)].Set { // its cell gave nothing
					continue
				}
				var refs []string
				for _, c := range cols {
					refs = append(refs, source.Ref(c, int(pr.Row)))
				}
				if place.Cells == nil {
					place.Cells = map[string]string{}
				}
				place.Cells[field] = strings.Join(refs, " ")
			}
		}
		t.Places = append(t.Places, place)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if e.Event {
		s, opposed, err := p.state(ctx, tx, st)
		if err != nil {
			return nil, err
		}
		t.State, t.StateCause = s.Status, s.Because
		if t.State == importers.StatusGiven {
			t.Opposed = opposed
		}
	}
	return t, nil
}

// shown is a value as a trace shows it: personal fields masked to their class and length unless revealed, others as they are.
func shown(f *importers.Field, v *importers.Value, reveal bool) string {
	var s string
	switch f.Type {
	case importers.DateTime:
		at := time.UnixMicro(v.Int).UTC()
		loc := importers.Location(v.Zone)
		if loc != nil {
			at = at.In(loc)
		}
		switch {
		case v.Precision == "day":
			s = at.Format(time.DateOnly)
		case loc == nil:
			s = at.Format("2006-01-02T15:04:05.999999") + " (no zone)"
		default:
			s = at.Format("2006-01-02T15:04:05.999999Z07:00")
		}
		return s + fmt.Sprintf(" (%s)", v.Precision)
	case importers.Bool:
		return fmt.Sprint(v.Int == 1)
	case importers.Integer:
		return fmt.Sprint(v.Int)
	}
	if f.Data != importers.None && !reveal {
		return fmt.Sprintf("(%s, %s)", strings.ReplaceAll(string(f.Data), "_", " "), finding.Count(utf8.RuneCountInString(v.Text), "character", "characters"))
	}
	return v.Text
}

// outlined is one record of a mapping with its columns and constants.
type outlined struct {
	mappings.Outline
	spec *mappings.RecordSpec
}

// cellsOf finds the cells of the record of the mapping that a stored record came from. Where two fit alike and have other columns, none is named: a wrong
// cell is worse than none.
func cellsOf(list []outlined, st *register.Stored) map[string][]int {
	var found map[string][]int
	for n, k := range fitting(list, st) {
		if n > 0 && !maps.EqualFunc(found, list[k].Fields, slices.Equal) {
			return nil
		}
		found = list[k].Fields
	}
	return found
}

// fitting lists the records of the mapping that a stored record may have come from: they have the columns of every field that is set, and its
// constants, and as few others as can be.
func fitting(list []outlined, st *register.Stored) (found []int) {
	least := len(st.Values) + 1
	for k, o := range list {
		if o.Entity != st.Entity.Name {
			continue
		}
		fits, unset := true, 0
		for i := range st.Values {
			f := &st.Entity.Fields[i]
			spec, mapped := o.spec.Fields[f.Name]
			switch v := st.Values[i]; {
			case v.Set && !mapped:
				fits = false
			case mapped && spec.Const != nil && (!v.Set || f.Type != importers.DateTime && f.Type != importers.Date && v.Text != "" && v.Text != *spec.Const):
				fits = false
			case mapped && !v.Set:
				unset++
			}
		}
		switch {
		case !fits || unset > least:
		case unset == least:
			found = append(found, k)
		default:
			found, least = []int{k}, unset
		}
	}
	return found
}

// fileOf is the file of a source, as batch.yaml names it; empty if it names that source no more.
func (p *Pipeline) fileOf(source string) string {
	for _, s := range p.batch.Sources {
		if s.Name == source {
			return s.File
		}
	}
	return ""
}

// layout is where a source's fields stand in one snapshot.
type layout struct {
	file    string // that its rows are numbered by
	records []outlined
	header  []string // that the columns are named by
}

// fieldColumns gives, by snapshot and source, the records of its mapping with their columns in the frozen sheet. What can't be
// read any more is left out: a trace shows what there is. changed says of a frozen file that it is not what was recorded.
func (p *Pipeline) fieldColumns(ctx context.Context) (out map[[2]string]layout, changed error) {
	out = map[[2]string]layout{}
	all, _, err := p.freezes(ctx)
	if err != nil {
		all = nil
	}
	for _, fr := range all { // oldest first
		if q, err := p.at(fr); err == nil {
			changed = cmp.Or(changed, q.snapshotColumns(ctx, fr, out))
		}
	}
	return out, changed
}

// snapshotColumns adds the columns of one snapshot's sheets. Mended rows stand in the columns of the rows that they were.
func (p *Pipeline) snapshotColumns(ctx context.Context, fr *FreezeResult, out map[[2]string]layout) (changed error) {
	for i := range p.batch.Sources {
		s := &p.batch.Sources[i]
		at := layout{file: s.File}
		if part := fr.part(s.Name); part != nil && part.Base != "" {
			base := out[[2]string{part.Base, s.Name}]
			at.file, at.records, at.header = base.file, base.records, base.header
			if part.Sheet == "" { // records of a text file have numbers of their own
				at.file = part.File
			}
			out[[2]string{fr.Snapshot, s.Name}] = at
			continue
		}
		data, err := os.ReadFile(p.batch.abs(s.Mapping))
		if err != nil {
			continue
		}
		m, err := mappings.Parse(s.Mapping, data)
		if err != nil {
			continue
		}
		header, err := p.readHeader(ctx, fr, s, m)
		if err != nil {
			p.remark(fmt.Sprintf("the cells of source %s, snapshot %s, can't be told: its frozen file can't be read as it was; `sheetlift verify` says why", s.Name, fr.Snapshot))
			if changed == nil && notAsRecorded(err) {
				changed = err
			}
			continue
		}
		at.header = header
		for k, o := range m.Outlines(header) {
			at.records = append(at.records, outlined{o, &m.Records[k]})
		}
		out[[2]string{fr.Snapshot, s.Name}] = at
	}
	return changed
}

// readHeader reads the header of a frozen sheet.
func (p *Pipeline) readHeader(ctx context.Context, fr *FreezeResult, s *Source, m *mappings.Mapping) ([]string, error) {
	sh, err := p.openSheet(ctx, fr, s, m, nil)
	if err != nil {
		return nil, err
	}
	defer sh.close()
	header, _, err := sh.header(ctx, m)
	return header, err
}

// Undone says what an undo of the place's batch did; "" if the batch stands for the record.
func (p *TracePlace) Undone() string {
	pr := register.Provenance{Snapshot: p.Snapshot}
	switch {
	case pr.Live():
		return ""
	case pr.Left():
		return "the batch was undone since, and the undo kept the record"
	case strings.HasSuffix(p.Snapshot, register.Passed):
		return "the batch was undone since, and the record left to another batch that has it"
	}
	return "the batch was undone, and the record taken back before it came in anew"
}
