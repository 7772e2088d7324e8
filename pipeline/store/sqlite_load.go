package store

import (
	"context"
	"fmt"
	"strings"

	"zombiezen.com/go/sqlite"
)

// loadRows is how many rows one INSERT of a bulk load takes: half the time of one row a statement; more win little.
const loadRows = 32

func (tx *sqliteTx) load(ctx context.Context, table string, columns []string, key string, src Source) (int64, error) {
	tx.arm(ctx)
	width := len(columns)
	batch := max(1, min(loadRows, int(tx.conn.Limit(sqlite.LimitVariableNumber, -1))/width))
	values, bound := make([]Value, batch*width), make([]Value, batch*width)
	var full *sqlite.Stmt
	defer func() {
		if full != nil {
			_ = full.Finalize()
		}
	}()
	var total int64
	for {
		n := 0
		for n < batch && src.Next() {
			src.Values(values[n*width : (n+1)*width])
			n++
		}
		if n == 0 {
			break
		}
		stmt := full
		if stmt == nil || n < batch {
			var err error
			if stmt, _, err = tx.conn.PrepareTransient(insertSQL(table, columns, key, n)); err != nil {
				return total, mapSQLite(ctx, err)
			}
			clear(bound)
			if n == batch {
				full = stmt
			}
		}
		err := insertBatch(ctx, stmt, columns, values[:n*width], bound)
		if stmt != full {
			_ = stmt.Finalize()
		}
		if err != nil {
			return total, err
		}
		total += int64(tx.conn.Changes())
		if n < batch {
			break
		}
	}
	if err := src.Err(); err != nil {
		return total, fmt.Errorf("read the rows to load: %w", err)
	}
	return total, nil
}

// insertBatch runs the statement with these values. bound is what it was run with before: a parameter keeps its value, and most
// columns hold the same value row after row, so only what differs is checked and bound anew.
func insertBatch(ctx context.Context, stmt *sqlite.Stmt, columns []string, values, bound []Value) error {
	for i := range values {
		v, old := &values[i], &bound[i]
		switch v.Kind {
		case Null:
			if old.Kind != Null {
				stmt.BindNull(i + 1)
			}
		case Int:
			if old.Kind != Int || old.Int != v.Int {
				stmt.BindInt64(i+1, v.Int)
			}
		case Text:
			if old.Kind == Text && old.Text == v.Text {
				break
			}
			if err := checkText(v.Text); err != nil {
				return fmt.Errorf("column %s: %w", columns[i%len(columns)], err)
			}
			stmt.BindText(i+1, v.Text)
		default:
			return fmt.Errorf("column %s: value of unknown kind %d", columns[i%len(columns)], v.Kind)
		}
	}
	copy(bound, values)
	if _, err := stmt.Step(); err != nil {
		return mapSQLite(ctx, err)
	}
	return mapSQLite(ctx, stmt.Reset())
}

// insertSQL says OR ROLLBACK: a transaction with a failed statement is lost here anyway, and the engine then need not keep a
// journal from which it could undo this statement alone.
func insertSQL(table string, columns []string, key string, rows int) string {
	var b strings.Builder
	b.WriteString("INSERT OR ROLLBACK INTO " + quoteName(table) + " (")
	for i, c := range columns {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(quoteName(c))
	}
	b.WriteString(") VALUES ")
	tuple := "(" + strings.Repeat("?, ", len(columns)-1) + "?)"
	for i := range rows {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(tuple)
	}
	if key != "" {
		b.WriteString(" ON CONFLICT (" + quoteName(key) + ") DO NOTHING")
	}
	return b.String()
}

// quoteName quotes an identifier as the SQL standard does, which both engines read.
func quoteName(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }
