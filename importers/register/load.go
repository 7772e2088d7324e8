package register

import (
	"context"
	"errors"
	"fmt"

	"sheetlift/importers"
	"sheetlift/importers/staged"
	"sheetlift/pipeline/store"
)

// ErrHeld means that the register already holds an id that a chunk brings: it changed after the dry-run.
var ErrHeld = errors.New("the register already holds a record of this chunk")

// Origin says on whose behalf records are loaded; it goes into provenance and events.
type Origin struct {
	Identity
	Batch, Snapshot string
	Source          string
	MappingDigest   string
	StagedDigest    string
	ObtainedAt      int64  // when the source's export was obtained, microseconds since 1970 UTC
	Operation       string // id of the ledger's operation
	Operator        string
}

// Load puts the records into the register, with id map, provenance, one event and a new revision, inside the caller's
// transaction. It returns ErrHeld if one of the ids is already there.
func (g *Group) Load(ctx context.Context, tx *store.Tx) error {
	g.Sort()
	e, o := g.entity, g.o
	for _, table := range e.Tables {
		src := newRecordSource(g)
		if e.Event {
			class := &g.columns[g.at["class"]]
			src.skip = func(row int) bool { return tableFor(e, class.text(row)) != table }
		}
		if _, err := tx.Load(ctx, table, tableColumns(e), src); err != nil {
			if errors.Is(err, store.ErrConflict) {
				return fmt.Errorf("load %s: %w", table, ErrHeld)
			}
			return fmt.Errorf("load %s: %w", table, err)
		}
	}
	if err := g.loadIDMap(ctx, tx); err != nil {
		return err
	}
	if _, err := tx.Load(ctx, "provenance", provenanceColumns, newProvenanceSource(g)); err != nil {
		return fmt.Errorf("load provenance: %w", err)
	}
	if err := recordChange(ctx, tx, "import", e.Name, int64(g.rows), o); err != nil {
		return err
	}
	return advance(ctx, tx, o)
}

func positions(cols []importers.Column) map[string]int {
	at := make(map[string]int, len(cols))
	for i, c := range cols {
		at[c.Name] = i
	}
	return at
}

// recordSource gives the rows of one entity table.
type recordSource struct {
	g    *Group
	cols []*column // of each table column after tenant; nil for version
	skip func(row int) bool
	row  int
}

func newRecordSource(g *Group) *recordSource {
	s := &recordSource{g: g, row: -1}
	for _, n := range tableColumns(g.entity)[1:] {
		if n == "version" {
			s.cols = append(s.cols, nil)
			continue
		}
		s.cols = append(s.cols, &g.columns[g.at[n]])
	}
	return s
}

func (s *recordSource) Next() bool {
	for s.row++; s.row < s.g.rows; s.row++ {
		if s.skip == nil || !s.skip(s.row) {
			return true
		}
	}
	return false
}

func (s *recordSource) Values(dst []store.Value) {
	dst[0] = textValue(s.g.o.Tenant)
	for i, col := range s.cols {
		if col == nil {
			dst[i+1] = store.Value{Kind: store.Int, Int: 1}
			continue
		}
		dst[i+1] = col.value(s.row)
	}
}

func (s *recordSource) Err() error { return nil }

func textValue(s string) store.Value { return store.Value{Kind: store.Text, Text: s} }

func cellValue(c *staged.Chunk, col, row int) store.Value {
	v := c.Cell(col, row)
	switch {
	case v.Null:
		return store.Value{Kind: store.Null}
	case c.IsInt(col):
		return store.Value{Kind: store.Int, Int: v.Int}
	}
	return textValue(v.Text)
}

var provenanceColumns = []string{
	"tenant", "id", "entity", "batch", "snapshot", "source", "file_digest", "sheet", "row", "line", "row_digest", "mapping_digest", "staged_digest", "obtained_at",
}

// provenanceSource gives the rows of the provenance table.
type provenanceSource struct {
	g    *Group
	cols [6]*column // id, file_digest, sheet, row, line, row_digest
	row  int
}

func newProvenanceSource(g *Group) *provenanceSource {
	s := &provenanceSource{g: g, row: -1}
	for i, n := range []string{"id", "file_digest", "sheet", "row", "line", "row_digest"} {
		s.cols[i] = &g.columns[g.at[n]]
	}
	return s
}

func (s *provenanceSource) Next() bool { s.row++; return s.row < s.g.rows }
func (s *provenanceSource) Err() error { return nil }
func (s *provenanceSource) Values(dst []store.Value) {
	o := &s.g.o
	dst[0], dst[1], dst[2] = textValue(o.Tenant), s.cols[0].value(s.row), textValue(s.g.entity.Name)
	dst[3], dst[4], dst[5] = textValue(o.Batch), textValue(o.Snapshot), textValue(o.Source)
	for i, col := range s.cols[1:] {
		dst[6+i] = col.value(s.row)
	}
	dst[11], dst[12] = textValue(o.MappingDigest), textValue(o.StagedDigest)
	dst[13] = store.Value{Kind: store.Int, Int: o.ObtainedAt}
}

// loadIDMap adds the group's keys. Events of one key share one row, and a retracted record leaves its row, so keys already held
// are left out; that no record is held twice, the record tables have seen to.
func (g *Group) loadIDMap(ctx context.Context, tx *store.Tx) error {
	held := g.entity.Event
	if !held {
		var err error
		if held, err = retractedBefore(ctx, tx, g.o.Tenant); err != nil {
			return err
		}
	}
	var err error
	src := &idMapSource{entity: g.entity.Name, tenant: g.o.Tenant, rows: g.keys, row: -1}
	columns := []string{"tenant", "system", "entity", "key_digest", "id"}
	if held {
		_, err = tx.LoadNew(ctx, "id_map", columns, "id", src)
	} else {
		_, err = tx.Load(ctx, "id_map", columns, src)
	}
	if errors.Is(err, store.ErrConflict) {
		return fmt.Errorf("load id map: %w", ErrHeld)
	}
	if err != nil {
		return fmt.Errorf("load id map: %w", err)
	}
	return nil
}

type idMapSource struct {
	entity, tenant string
	rows           []idMapRow
	row            int
}

func (s *idMapSource) Next() bool { s.row++; return s.row < len(s.rows) }
func (s *idMapSource) Err() error { return nil }
func (s *idMapSource) Values(dst []store.Value) {
	r := &s.rows[s.row]
	dst[0], dst[1], dst[2], dst[3], dst[4] = textValue(s.tenant), textValue(r.system), textValue(s.entity), textValue(r.digest), textValue(r.id)
}

// CountTables calls f with the table of each record of a chunk.
func CountTables(e *importers.Entity, cols []importers.Column, c *staged.Chunk, f func(table string)) {
	class := positions(cols)["class"]
	for row := range c.Rows() {
		if e.Event {
			f(tableFor(e, c.Cell(class, row).Text))
		} else {
			f(e.Tables[0])
		}
	}
}

// RecordReveal leaves an event that an operator looked at the values of a record. Nothing else changes.
func RecordReveal(ctx context.Context, tx *store.Tx, e *importers.Entity, id string, o Origin, records int) error {
	now, err := tx.Now(ctx)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `
		INSERT INTO events (tenant, at, kind, entity, id, batch, snapshot, source, records, digest, operation, operator)
		VALUES ($1, $2, 'reveal', $3, $4, $5, $6, '', $7, '', '', $8)`,
		o.Tenant, now, e.Name, id, o.Batch, o.Snapshot, int64(records), o.Operator)
	if err != nil {
		return fmt.Errorf("record the reveal event: %w", err)
	}
	return nil
}
