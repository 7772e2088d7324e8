package store

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"zombiezen.com/go/sqlite"
)

type sqliteTx struct {
	pool chan *sqlite.Conn
	conn *sqlite.Conn
	ctx  context.Context
}

// arm makes the connection stop when ctx ends.
func (tx *sqliteTx) arm(ctx context.Context) {
	if tx.ctx != nil && tx.ctx.Done() == ctx.Done() {
		tx.ctx = ctx
		return
	}
	tx.ctx = ctx
	tx.conn.SetInterrupt(ctx.Done())
}

func (tx *sqliteTx) prepare(ctx context.Context, query string, args []param) (*sqlite.Stmt, error) {
	tx.arm(ctx)
	stmt, err := tx.conn.Prepare(query)
	if err != nil {
		return nil, mapSQLite(ctx, err)
	}
	// $1 is a name to SQLite, numbered by its first appearance in the statement.
	most := 0
	for i := 1; i <= stmt.BindParamCount(); i++ {
		n, err := strconv.Atoi(strings.TrimPrefix(stmt.BindParamName(i), "$"))
		if err != nil || n < 1 {
			return nil, fmt.Errorf("parameter %q is not portable, write $1, $2, …", stmt.BindParamName(i))
		}
		if n > len(args) {
			return nil, fmt.Errorf("the statement has parameter $%d, but %d arguments were given", n, len(args))
		}
		most = max(most, n)
		bind(stmt, i, args[n-1])
	}
	if most != len(args) {
		return nil, fmt.Errorf("the statement has %d parameters, but %d arguments were given", most, len(args))
	}
	return stmt, nil
}

func bind(stmt *sqlite.Stmt, i int, p param) {
	switch p.kind {
	case paramInt:
		stmt.BindInt64(i, p.i)
	case paramText:
		stmt.BindText(i, p.s)
	case paramBlob:
		stmt.BindBytes(i, p.b)
	default:
		stmt.BindNull(i)
	}
}

func (tx *sqliteTx) exec(ctx context.Context, query string, args []param) (int64, error) {
	stmt, err := tx.prepare(ctx, query, args)
	if err != nil {
		return 0, err
	}
	defer release(stmt)
	for row := true; row; {
		if row, err = stmt.Step(); err != nil {
			return 0, mapSQLite(ctx, err)
		}
	}
	if !changesRows(query) {
		return 0, nil
	}
	return int64(tx.conn.Changes()), nil
}

// changesRows tells the statements that set the connection's counter of changed rows; others leave an old number there.
func changesRows(query string) bool {
	word := query
	if i := strings.IndexAny(query, " \t\r\n("); i >= 0 {
		word = query[:i]
	}
	switch strings.ToUpper(word) {
	case "INSERT", "UPDATE", "DELETE", "REPLACE", "WITH":
		return true
	}
	return false
}

// release lets go of the bound values; the statement stays prepared for the next time.
func release(stmt *sqlite.Stmt) {
	_ = stmt.Reset()
	_ = stmt.ClearBindings()
}

func (tx *sqliteTx) query(ctx context.Context, query string, args []param) (cursor, error) {
	stmt, err := tx.prepare(ctx, query, args)
	if err != nil {
		return nil, err
	}
	return &sqliteCursor{ctx: ctx, stmt: stmt, cols: stmt.ColumnCount()}, nil
}

func (tx *sqliteTx) now(context.Context) (int64, error) { return time.Now().UnixMicro(), nil }

func (tx *sqliteTx) lock(context.Context, int64) error { return nil }

func (tx *sqliteTx) forUpdate() string { return "" }

func (tx *sqliteTx) commit(ctx context.Context) error {
	tx.arm(ctx)
	if err := script(tx.conn, "COMMIT;"); err != nil {
		return mapSQLite(ctx, err)
	}
	tx.give(tx.conn)
	return nil
}

func (tx *sqliteTx) rollback() {
	// Without this the ended context would keep even ROLLBACK from running.
	tx.conn.SetInterrupt(nil)
	// After some errors (disk full, out of memory) the engine has rolled back by itself.
	if !tx.conn.AutocommitEnabled() {
		_ = script(tx.conn, "ROLLBACK;")
	}
	if !tx.conn.AutocommitEnabled() {
		_ = tx.conn.Close() // closing rolls back; the next transaction opens a new connection
		tx.give(nil)
		return
	}
	tx.give(tx.conn)
}

// give puts the connection back for the next transaction.
func (tx *sqliteTx) give(conn *sqlite.Conn) {
	if conn != nil {
		conn.SetInterrupt(nil)
	}
	tx.conn = nil
	tx.pool <- conn
}

type sqliteCursor struct {
	ctx  context.Context
	stmt *sqlite.Stmt
	cols int
}

func (c *sqliteCursor) next() (bool, error) {
	row, err := c.stmt.Step()
	return row, mapSQLite(c.ctx, err)
}

func (c *sqliteCursor) columns() int { return c.cols }

func (c *sqliteCursor) column(i int) string { return c.stmt.ColumnName(i) }

func (c *sqliteCursor) null(i int) bool { return c.stmt.ColumnIsNull(i) }

func (c *sqliteCursor) text(i int) string { return c.stmt.ColumnText(i) }

func (c *sqliteCursor) integer(i int) (int64, bool) {
	switch c.stmt.ColumnType(i) {
	case sqlite.TypeInteger:
		return c.stmt.ColumnInt64(i), true
	case sqlite.TypeText:
		return parseInteger(c.stmt.ColumnText(i))
	}
	return 0, false
}

func (c *sqliteCursor) blob(i int) []byte {
	b := make([]byte, c.stmt.ColumnLen(i))
	c.stmt.ColumnBytes(i, b)
	return b
}

func (c *sqliteCursor) close() error {
	release(c.stmt)
	return nil
}

func parseInteger(s string) (int64, bool) {
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil
}
