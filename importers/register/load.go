package register

import (
	"context"
	"errors"
	"fmt"
	"strings"

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

// LoadChunk puts the records of one chunk into the register, with id map, provenance, one event and a new revision, inside the
// caller's transaction. It returns ErrHeld if one of the ids is already there.
func LoadChunk(ctx context.Context, tx *store.Tx, e *importers.Entity, cols []importers.Column, c *staged.Chunk, o Origin) error {
	at := positions(cols)
	for _, table := range e.Tables {
		src := newRecordSource(e, cols, c, o.Tenant)
		if e.Event {
			class := at["class"]
			src.skip = func(row int) bool { return tableFor(e, c.Cell(class, row).Text) != table }
		}
		if _, err := tx.Load(ctx, table, tableColumns(e), src); err != nil {
			if errors.Is(err, store.ErrConflict) {
				return fmt.Errorf("load %s: %w", table, ErrHeld)
			}
			return fmt.Errorf("load %s: %w", table, err)
		}
	}
	if err := loadIDMap(ctx, tx, e, c, at, o); err != nil {
		return err
	}
	prov := &provenanceSource{c: c, at: at, o: o, entity: e.Name, row: -1}
	if _, err := tx.Load(ctx, "provenance", provenanceColumns, prov); err != nil {
		return fmt.Errorf("load provenance: %w", err)
	}
	now, err := tx.Now(ctx)
	if err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, `
		INSERT INTO events (tenant, at, kind, entity, batch, snapshot, source, records, digest, operation, operator)
		VALUES ($1, $2, 'import', $3, $4, $5, $6, $7, $8, $9, $10)`,
		o.Tenant, now, e.Name, o.Batch, o.Snapshot, o.Source, int64(c.Rows()), o.StagedDigest, o.Operation, o.Operator); err != nil {
		return fmt.Errorf("record the import event: %w", err)
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
	c      *staged.Chunk
	tenant string
	cols   []int // staged column of each table column after tenant; -1 for version
	skip   func(row int) bool
	row    int
}

func newRecordSource(e *importers.Entity, cols []importers.Column, c *staged.Chunk, tenant string) *recordSource {
	at := positions(cols)
	s := &recordSource{c: c, tenant: tenant, row: -1}
	for _, n := range tableColumns(e)[1:] {
		if n == "version" {
			s.cols = append(s.cols, -1)
			continue
		}
		s.cols = append(s.cols, at[n])
	}
	return s
}

func (s *recordSource) Next() bool {
	for s.row++; s.row < s.c.Rows(); s.row++ {
		if s.skip == nil || !s.skip(s.row) {
			return true
		}
	}
	return false
}

func (s *recordSource) Values(dst []store.Value) {
	dst[0] = textValue(s.tenant)
	for i, col := range s.cols {
		if col < 0 {
			dst[i+1] = store.Value{Kind: store.Int, Int: 1}
			continue
		}
		dst[i+1] = cellValue(s.c, col, s.row)
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

type provenanceSource struct {
	c      *staged.Chunk
	at     map[string]int
	o      Origin
	entity string
	row    int
}

func (s *provenanceSource) Next() bool { s.row++; return s.row < s.c.Rows() }
func (s *provenanceSource) Err() error { return nil }
func (s *provenanceSource) Values(dst []store.Value) {
	get := func(n string) store.Value { return cellValue(s.c, s.at[n], s.row) }
	dst[0], dst[1], dst[2] = textValue(s.o.Tenant), get("id"), textValue(s.entity)
	dst[3], dst[4], dst[5] = textValue(s.o.Batch), textValue(s.o.Snapshot), textValue(s.o.Source)
	dst[6], dst[7], dst[8], dst[9], dst[10] = get("file_digest"), get("sheet"), get("row"), get("line"), get("row_digest")
	dst[11], dst[12] = textValue(s.o.MappingDigest), textValue(s.o.StagedDigest)
	dst[13] = store.Value{Kind: store.Int, Int: s.o.ObtainedAt}
}

// loadIDMap adds the chunk's keys. Events of one key share one row, and a retracted record leaves its row, so keys already held
// are left out; that no record is held twice, the record tables have seen to.
func loadIDMap(ctx context.Context, tx *store.Tx, e *importers.Entity, c *staged.Chunk, at map[string]int, o Origin) error {
	idCol, sysCol, keyCol := at["record_id"], at["system"], at["external_key"]
	src := &idMapSource{entity: e.Name, o: o, row: -1}
	seen := make(map[string]bool)
	for row := range c.Rows() {
		id := c.Cell(idCol, row).Text
		if e.Event && seen[id] {
			continue
		}
		seen[id] = true
		system := c.Cell(sysCol, row).Text
		src.rows = append(src.rows, idMapRow{id: id, system: system, digest: o.KeyDigest(system, e.Name, c.Cell(keyCol, row).Text)})
	}
	filter := e.Event
	if !filter {
		var err error
		if filter, err = retractedBefore(ctx, tx, o.Tenant); err != nil {
			return err
		}
	}
	if filter {
		held, err := heldIDs(ctx, tx, src.rows)
		if err != nil {
			return err
		}
		kept := src.rows[:0]
		for _, r := range src.rows {
			if !held[r.id] {
				kept = append(kept, r)
			}
		}
		src.rows = kept
	}
	if _, err := tx.Load(ctx, "id_map", []string{"tenant", "system", "entity", "key_digest", "id"}, src); err != nil {
		if errors.Is(err, store.ErrConflict) {
			return fmt.Errorf("load id map: %w", ErrHeld)
		}
		return fmt.Errorf("load id map: %w", err)
	}
	return nil
}

type idMapRow struct{ id, system, digest string }

type idMapSource struct {
	entity string
	o      Origin
	rows   []idMapRow
	row    int
}

func (s *idMapSource) Next() bool { s.row++; return s.row < len(s.rows) }
func (s *idMapSource) Err() error { return nil }
func (s *idMapSource) Values(dst []store.Value) {
	r := s.rows[s.row]
	dst[0], dst[1], dst[2], dst[3], dst[4] = textValue(s.o.Tenant), textValue(r.system), textValue(s.entity), textValue(r.digest), textValue(r.id)
}

// heldIDs tells which of the ids the id map holds.
func heldIDs(ctx context.Context, tx *store.Tx, rows []idMapRow) (map[string]bool, error) {
	held := make(map[string]bool)
	const some = 500
	for len(rows) > 0 {
		n := min(some, len(rows))
		args := make([]any, n)
		var in strings.Builder
		for i := range n {
			if i > 0 {
				in.WriteByte(',')
			}
			fmt.Fprintf(&in, "$%d", i+1)
			args[i] = rows[i].id
		}
		got, err := tx.Query(ctx, `SELECT id FROM id_map WHERE id IN (`+in.String()+`)`, args...)
		if err != nil {
			return nil, fmt.Errorf("look up the id map: %w", err)
		}
		for got.Next() {
			var id string
			if err := got.Scan(&id); err != nil {
				got.Close()
				return nil, fmt.Errorf("look up the id map: %w", err)
			}
			held[id] = true
		}
		got.Close()
		if err := got.Err(); err != nil {
			return nil, fmt.Errorf("look up the id map: %w", err)
		}
		rows = rows[n:]
	}
	return held, nil
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
