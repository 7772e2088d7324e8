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

// ErrVersion means that a record is no longer in the version that a correction was made against.
var ErrVersion = errors.New("the register holds another version of a record of this chunk")

// Correct gives the records of a group of corrections their new content, each with version + 1, and only if it still is in the
// version that the correction was made against (ErrVersion otherwise). Each leaves an event without values; all get a
// provenance row of the new snapshot, and keep those they had.
func (g *Group) Correct(ctx context.Context, tx *store.Tx) error {
	e, o := g.entity, g.o
	if e.Event {
		return fmt.Errorf("correct %s: an event is history and is never corrected", e.Name)
	}
	names := []string{"content_digest"}
	for _, col := range own(e) {
		names = append(names, col.Name)
	}
	var set strings.Builder
	for i, n := range names {
		fmt.Fprintf(&set, "%s = $%d, ", n, i+4)
	}
	now, err := tx.Now(ctx)
	if err != nil {
		return err
	}
	update := `UPDATE ` + e.Tables[0] + ` SET ` + set.String() + `version = version + 1 WHERE tenant = $1 AND id = $2 AND version = $3`
	for row := range g.rows {
		id := g.columns[g.at["id"]].text(row)
		args := []any{o.Tenant, id, g.columns[g.at[staged.BaseVersion.Name]].value(row).Int}
		for _, n := range names {
			switch v := g.columns[g.at[n]].value(row); v.Kind {
			case store.Null:
				args = append(args, nil)
			case store.Int:
				args = append(args, v.Int)
			default:
				args = append(args, v.Text)
			}
		}
		n, err := tx.Exec(ctx, update, args...)
		if err != nil {
			return fmt.Errorf("correct %s: %w", e.Tables[0], err)
		}
		if n != 1 {
			return fmt.Errorf("correct %s: %w", e.Tables[0], ErrVersion)
		}
		if _, err := tx.Exec(ctx, `
			INSERT INTO events (tenant, at, kind, entity, id, batch, snapshot, source, records, digest, operation, operator)
			VALUES ($1, $2, 'correct', $3, $4, $5, $6, $7, 1, $8, $9, $10)`,
			o.Tenant, now, e.Name, id, o.Batch, o.Snapshot, o.Source, o.StagedDigest, o.Operation, o.Operator); err != nil {
			return fmt.Errorf("record the correction: %w", err)
		}
	}
	if _, err := tx.Load(ctx, "provenance", provenanceColumns, newProvenanceSource(g)); err != nil {
		if errors.Is(err, store.ErrConflict) {
			return fmt.Errorf("load provenance: %w", ErrHeld)
		}
		return fmt.Errorf("load provenance: %w", err)
	}
	return advance(ctx, tx, o)
}

// advance counts one more change that the batch made to the register.
func advance(ctx context.Context, tx *store.Tx, o Origin) error {
	_, err := tx.Exec(ctx, `
		INSERT INTO revisions (tenant, batch, revision)
		VALUES ($1, $2, 1)
		ON CONFLICT (tenant, batch) DO UPDATE SET revision = revisions.revision + 1`,
		o.Tenant, o.Batch)
	if err != nil {
		return fmt.Errorf("advance the register's revision: %w", err)
	}
	return nil
}

// EachCorrection calls f with each correction of a tenant's records, oldest first.
func EachCorrection(ctx context.Context, tx *store.Tx, tenant string, f func(id, batch, snapshot string)) error {
	rows, err := tx.Query(ctx, `
		SELECT id, batch, snapshot
		FROM events
		WHERE tenant = $1 AND kind = 'correct' AND id IS NOT NULL
		ORDER BY seq`, tenant)
	if err != nil {
		return fmt.Errorf("read corrections: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var id, batch, snapshot string
		if err := rows.Scan(&id, &batch, &snapshot); err != nil {
			return fmt.Errorf("read corrections: %w", err)
		}
		f(id, batch, snapshot)
	}
	return rows.Err()
}

// EachFrom calls f with the id of each record that the register holds from a source of a batch, events by the record that they are
// of. A record of several events comes more than once.
func EachFrom(ctx context.Context, tx *store.Tx, tenant, batch, source string, f func(recordID string) error) error {
	for i := range importers.Entities {
		e := &importers.Entities[i]
		id := "r.id"
		if e.Event {
			id = "r.record_id"
		}
		for _, table := range e.Tables {
			err := func() error {
				rows, err := tx.Query(ctx, `
					SELECT `+id+`
					FROM provenance p
					JOIN `+table+` r ON r.id = p.id
					WHERE p.tenant = $1 AND p.batch = $2 AND p.source = $3 AND p.entity = $4 AND p.`+live, tenant, batch, source, e.Name)
				if err != nil {
					return err
				}
				defer rows.Close()
				for rows.Next() {
					var id string
					if err := rows.Scan(&id); err != nil {
						return err
					}
					if err := f(id); err != nil {
						return err
					}
				}
				return rows.Err()
			}()
			if err != nil {
				return fmt.Errorf("read what %s has from a source: %w", table, err)
			}
		}
	}
	return nil
}
