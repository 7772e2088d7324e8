package register

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strconv"

	"sheetlift/importers"
	"sheetlift/importers/staged"
	"sheetlift/pipeline/store"
)

// A row that is skipped as known brings nothing, but it says that its record is right. Its mark is a provenance row which names the version
// that the register held: with it the record outlives the undo of the batch that brought it (see RetractChunk).

// KnownPart is what events and checkpoints add to the name of an entity for marks of its records.
const KnownPart = ".known"

// markColumns are those of a provenance row that is a mark.
var markColumns = append(append([]string(nil), provenanceColumns...), "vouched")

// markSource gives the rows of marks.
type markSource struct {
	*provenanceSource
	version *column
}

func (s *markSource) Values(dst []store.Value) {
	s.provenanceSource.Values(dst)
	dst[len(provenanceColumns)] = s.version.value(s.row)
}

// MarkEntity is what marks are staged as that are of an entity's records: who they are, where the row stands, and nothing of the record.
func MarkEntity(e *importers.Entity) *importers.Entity {
	return &importers.Entity{Name: e.Name, Tables: e.Tables}
}

// Vouch puts marks into the register, with one event and a new revision, inside the caller's transaction. It returns ErrHeld if one of them
// is already there.
func (g *Group) Vouch(ctx context.Context, tx *store.Tx) error {
	g.Sort()
	src := &markSource{newProvenanceSource(g), &g.columns[g.at[staged.BaseVersion.Name]]}
	if _, err := tx.Load(ctx, "provenance", markColumns, src); err != nil {
		if errors.Is(err, store.ErrConflict) {
			err = ErrHeld
		}
		return fmt.Errorf("load marks: %w", err)
	}
	if err := recordChange(ctx, tx, "import", g.entity.Name+KnownPart, int64(g.rows), g.o); err != nil {
		return err
	}
	return advance(ctx, tx, g.o)
}

// recordChange leaves an event about some records or what is beside them.
func recordChange(ctx context.Context, tx *store.Tx, kind, entity string, n int64, o Origin) error {
	now, err := tx.Now(ctx)
	if err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, `
		INSERT INTO events (tenant, at, kind, entity, batch, snapshot, source, records, digest, operation, operator)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
		o.Tenant, now, kind, entity, o.Batch, o.Snapshot, o.Source, n, o.StagedDigest, o.Operation, o.Operator); err != nil {
		return fmt.Errorf("record the %s event: %w", kind, err)
	}
	return nil
}

// markHash is one mark, as staged and as the register has it.
func markHash(id, fileDigest, sheet, rowDigest string, row, line, version int64) [32]byte {
	p := make([]byte, 0, 256)
	for _, s := range []string{id, fileDigest, sheet, rowDigest, strconv.FormatInt(row, 10), strconv.FormatInt(line, 10), strconv.FormatInt(version, 10)} {
		p = appendText(p, s)
	}
	return sha256.Sum256(p)
}

// SumStagedMarks adds up the marks of a chunk.
func SumStagedMarks(cols []importers.Column, c *staged.Chunk, sum *Sum) {
	at := positions(cols)
	text := func(name string, row int) string { return c.Cell(at[name], row).Text }
	number := func(name string, row int) int64 { return c.Cell(at[name], row).Int }
	for row := range c.Rows() {
		sum.Add(markHash(text("id", row), text("file_digest", row), text("sheet", row), text("row_digest", row),
			number("row", row), number("line", row), number(staged.BaseVersion.Name, row)))
	}
}

// SumMarks adds up the marks that the register has of one staged file and whose records it holds.
func SumMarks(ctx context.Context, tx *store.Tx, e *importers.Entity, o Origin, sum *Sum) error {
	for _, table := range e.Tables {
		err := func() error {
			rows, err := tx.Query(ctx, `
				SELECT p.id, p.file_digest, p.sheet, p.row_digest, p.row, p.line, p.vouched
				FROM provenance p
				JOIN `+table+` r ON r.id = p.id
				WHERE p.tenant = $1 AND p.batch = $2 AND p.snapshot = $3 AND p.source = $4 AND p.entity = $5 AND p.staged_digest = $6`,
				o.Tenant, o.Batch, o.Snapshot, o.Source, e.Name, o.StagedDigest)
			if err != nil {
				return err
			}
			defer rows.Close()
			var id, file, sheet, digest string
			var row, line, version int64
			for rows.Next() {
				if err := rows.Scan(&id, &file, &sheet, &digest, &row, &line, &version); err != nil {
					return err
				}
				sum.Add(markHash(id, file, sheet, digest, row, line, version))
			}
			return rows.Err()
		}()
		if err != nil {
			return fmt.Errorf("read back marks of %s: %w", table, err)
		}
	}
	return nil
}
