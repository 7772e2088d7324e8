package store

import (
	"context"
	"strings"
)

// ColumnInfo is one column of a table. Type is "INTEGER" (64 bits), "TEXT" or "BLOB" on both engines, or the engine's own name
// of any other type.
type ColumnInfo struct {
	Name    string
	Type    string
	NotNull bool
}

// Tables lists the tables of the default schema, by name, without the one that keeps the migration versions.
func (db *DB) Tables(ctx context.Context) (tables []string, err error) {
	err = db.View(ctx, func(tx *Tx) error {
		tables, err = db.engine.tables(ctx, tx)
		return err
	})
	return tables, err
}

// Columns lists the columns of a table in order; none if there is no such table.
func (db *DB) Columns(ctx context.Context, table string) (columns []ColumnInfo, err error) {
	err = db.View(ctx, func(tx *Tx) error {
		columns, err = db.engine.columns(ctx, tx, table)
		return err
	})
	return columns, err
}

func (e *sqliteEngine) tables(ctx context.Context, tx *Tx) ([]string, error) {
	return scanNames(ctx, tx, `
		SELECT name FROM sqlite_schema
		WHERE type = 'table' AND name NOT LIKE 'sqlite\_%' ESCAPE '\' AND name <> 'goose_db_version'
		ORDER BY name`)
}

func (e *postgresEngine) tables(ctx context.Context, tx *Tx) ([]string, error) {
	return scanNames(ctx, tx, `
		SELECT table_name FROM information_schema.tables
		WHERE table_schema = current_schema() AND table_type = 'BASE TABLE' AND table_name <> 'goose_db_version'
		ORDER BY table_name COLLATE "C"`)
}

func (e *sqliteEngine) columns(ctx context.Context, tx *Tx, table string) ([]ColumnInfo, error) {
	// INTEGER PRIMARY KEY alone is the row id, which is never NULL; any other key column may be if it does not say otherwise.
	return scanColumns(ctx, tx, `
		SELECT name, type, "notnull" = 1 OR (type = 'INTEGER' AND pk = 1 AND (SELECT MAX(pk) FROM pragma_table_info($1)) = 1)
		FROM pragma_table_info($1)
		ORDER BY cid`, table)
}

func (e *postgresEngine) columns(ctx context.Context, tx *Tx, table string) ([]ColumnInfo, error) {
	return scanColumns(ctx, tx, `
		SELECT column_name, CASE data_type WHEN 'integer' THEN 'integer:32' ELSE data_type END, CASE is_nullable WHEN 'NO' THEN 1 ELSE 0 END
		FROM information_schema.columns
		WHERE table_schema = current_schema() AND table_name = $1
		ORDER BY ordinal_position`, table)
}

func scanNames(ctx context.Context, tx *Tx, query string) ([]string, error) {
	rows, err := tx.Query(ctx, query)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var names []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	return names, rows.Err()
}

func scanColumns(ctx context.Context, tx *Tx, query, table string) ([]ColumnInfo, error) {
	rows, err := tx.Query(ctx, query, table)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var columns []ColumnInfo
	for rows.Next() {
		var c ColumnInfo
		if err := rows.Scan(&c.Name, &c.Type, &c.NotNull); err != nil {
			return nil, err
		}
		c.Type = portableType(c.Type)
		columns = append(columns, c)
	}
	return columns, rows.Err()
}

// portableType gives one name to what the two engines call differently. A 32-bit integer of PostgreSQL keeps a name of its
// own: SQLite has none, and the contract is BIGINT.
func portableType(t string) string {
	switch t := strings.ToUpper(t); t {
	case "BIGINT":
		return "INTEGER"
	case "BYTEA":
		return "BLOB"
	case "INTEGER:32":
		return "INT4"
	default:
		return t
	}
}
