package store

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Tx is one transaction. It belongs to the goroutine that runs the closure and is dead when the closure returns.
type Tx struct {
	engine engineTx
	write  bool
	rows   *Rows // open rows, if any
	failed error // the first failed statement; nothing runs after it
	ended  bool
}

// Exec runs a statement and returns how many rows an INSERT, UPDATE or DELETE touched (0 for other statements).
func (tx *Tx) Exec(ctx context.Context, sql string, args ...any) (int64, error) {
	params, err := tx.start(ctx, args)
	if err != nil {
		return 0, tx.fail("exec", sql, err)
	}
	n, err := tx.engine.exec(ctx, trimSQL(sql), params)
	if err != nil {
		return 0, tx.fail("exec", sql, err)
	}
	return n, nil
}

// Query runs a statement that returns rows. The rows must be read to the end or closed before the next statement.
func (tx *Tx) Query(ctx context.Context, sql string, args ...any) (*Rows, error) {
	params, err := tx.start(ctx, args)
	if err != nil {
		return nil, tx.fail("query", sql, err)
	}
	c, err := tx.engine.query(ctx, trimSQL(sql), params)
	if err != nil {
		return nil, tx.fail("query", sql, err)
	}
	tx.rows = &Rows{tx: tx, c: c, sql: sql}
	return tx.rows, nil
}

// QueryRow runs a statement that returns at most one row; further rows are ignored. Errors come from Row.Scan.
func (tx *Tx) QueryRow(ctx context.Context, sql string, args ...any) *Row {
	rows, err := tx.Query(ctx, sql, args...)
	return &Row{rows: rows, err: err}
}

// Load puts the rows of src into table, as fast as the engine can, and returns how many there were. It is a statement
// like any other: part of the transaction, and lost with it. An error of src poisons the transaction too. Rows in the order of
// the table's keys load much faster than others.
func (tx *Tx) Load(ctx context.Context, table string, columns []string, src Source) (int64, error) {
	return tx.load(ctx, table, columns, "", src)
}

// LoadNew is Load but for the rows whose value of the column key, which is unique in the table, is there already: these are left
// out. Any other conflict is an error as ever. It returns how many rows went in. The rows of src must differ in key.
func (tx *Tx) LoadNew(ctx context.Context, table string, columns []string, key string, src Source) (int64, error) {
	if !slices.Contains(columns, key) {
		return 0, tx.fail("load", "into "+table, fmt.Errorf("the key %s is none of the columns", key))
	}
	return tx.load(ctx, table, columns, key, src)
}

func (tx *Tx) load(ctx context.Context, table string, columns []string, key string, src Source) (int64, error) {
	what := "into " + table
	if _, err := tx.start(ctx, nil); err != nil {
		return 0, tx.fail("load", what, err)
	}
	if len(columns) == 0 {
		return 0, tx.fail("load", what, errors.New("no columns named"))
	}
	n, err := tx.engine.load(ctx, table, columns, key, src)
	if err != nil {
		return 0, tx.fail("load", what, err)
	}
	return n, nil
}

// Now is the database's clock in microseconds since 1970 UTC. It moves on inside a transaction. On SQLite, which lives in
// this process, it is the host's clock.
func (tx *Tx) Now(ctx context.Context) (int64, error) {
	if _, err := tx.start(ctx, nil); err != nil {
		return 0, tx.fail("read", "the clock", err)
	}
	now, err := tx.engine.now(ctx)
	if err != nil {
		return 0, tx.fail("read", "the clock", err)
	}
	return now, nil
}

// Lock takes the exclusive lock called name until the transaction ends, waiting for it as long as ctx allows. Statements
// after it see everything its earlier holders committed. On SQLite Update is exclusive already. Locking in a View is an error.
func (tx *Tx) Lock(ctx context.Context, name string) error {
	_, err := tx.start(ctx, nil)
	if err == nil && !tx.write {
		err = fmt.Errorf("%w: a lock needs Update", ErrReadOnly)
	}
	if err == nil {
		sum := sha256.Sum256([]byte("sheetlift lock\n" + name))
		err = tx.engine.lock(ctx, int64(binary.BigEndian.Uint64(sum[:])))
	}
	if err != nil {
		return tx.fail("lock", name, err)
	}
	return nil
}

// ForUpdate is the clause that locks the rows of a SELECT until the transaction ends: " FOR UPDATE", or "" where Update is
// exclusive already. It goes at the end of the statement.
func (tx *Tx) ForUpdate() string { return tx.engine.forUpdate() }

// Fail makes the transaction one that cannot be committed, as a failed statement does, and returns err. It is for a concept that
// finds out that the caller's other statements must not stand either.
func (tx *Tx) Fail(err error) error {
	if tx.failed == nil && !tx.ended {
		tx.failed = err
	}
	return err
}

// start checks that a statement may run now and prepares its arguments.
func (tx *Tx) start(ctx context.Context, args []any) ([]param, error) {
	if tx.ended {
		return nil, errEnded
	}
	if tx.failed != nil {
		return nil, tx.failed
	}
	if tx.rows != nil {
		return nil, fmt.Errorf("the rows of %s are still open: read them to the end or close them first", label(tx.rows.sql))
	}
	if err := interrupted(ctx); err != nil {
		return nil, err
	}
	return toParams(args)
}

func (tx *Tx) fail(verb, what string, err error) error {
	if tx.failed != nil && err == tx.failed {
		return fmt.Errorf("transaction failed before: %w", err)
	}
	err = fmt.Errorf("%s %s: %w", verb, label(what), err)
	if tx.failed == nil && !tx.ended {
		tx.failed = err
	}
	return err
}

func (tx *Tx) end() {
	if tx.rows != nil {
		_ = tx.rows.Close()
	}
	tx.ended = true
}

// label shortens a statement for a message. Statements hold no values, those are bound.
func label(sql string) string {
	s := strings.Join(strings.Fields(sql), " ")
	if r := []rune(s); len(r) > 60 {
		s = string(r[:60]) + "…"
	}
	return s
}

// trimSQL drops the white space and the semicolon that raw strings end with; SQLite's prepare takes them for a second
// statement.
func trimSQL(sql string) string {
	return strings.TrimRight(strings.TrimSpace(sql), "; \t\r\n")
}
