package store

import (
	"context"
	"encoding/hex"
	"errors"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"
)

type postgresTx struct {
	conn  *pgxpool.Conn
	tx    pgx.Tx
	write bool
}

func (tx *postgresTx) exec(ctx context.Context, query string, args []param) (int64, error) {
	tag, err := tx.tx.Exec(ctx, query, postgresArgs(nil, args)...)
	if err != nil {
		return 0, tx.mapError(ctx, err)
	}
	if !changesRows(query) {
		return 0, nil
	}
	return tag.RowsAffected(), nil
}

func (tx *postgresTx) query(ctx context.Context, query string, args []param) (cursor, error) {
	// All results in text form: one way to read each of the server's types.
	options := []any{pgx.QueryResultFormats{pgx.TextFormatCode}}
	rows, err := tx.tx.Query(ctx, query, postgresArgs(options, args)...)
	if err != nil {
		return nil, tx.mapError(ctx, err)
	}
	return &postgresCursor{ctx: ctx, tx: tx, rows: rows}, nil
}

// postgresArgs gives numbers in text form too: the server then reads them as whatever the statement needs, a TEXT column
// included, as SQLite does.
func postgresArgs(out []any, args []param) []any {
	for _, p := range args {
		switch p.kind {
		case paramInt:
			out = append(out, strconv.FormatInt(p.i, 10))
		case paramText:
			out = append(out, p.s)
		case paramBlob:
			out = append(out, p.b)
		default:
			out = append(out, nil)
		}
	}
	return out
}

func (tx *postgresTx) now(ctx context.Context) (int64, error) {
	var now int64
	err := tx.tx.QueryRow(ctx, `SELECT (EXTRACT(EPOCH FROM clock_timestamp()) * 1000000)::bigint`).Scan(&now)
	return now, tx.mapError(ctx, err)
}

func (tx *postgresTx) lock(ctx context.Context, key int64) error {
	_, err := tx.tx.Exec(ctx, `SELECT pg_advisory_xact_lock($1)`, key)
	return tx.mapError(ctx, err)
}

func (tx *postgresTx) forUpdate() string {
	if !tx.write {
		return "" // a read-only transaction may not lock rows; its snapshot does not change anyway
	}
	return " FOR UPDATE"
}

func (tx *postgresTx) commit(ctx context.Context) error {
	err := tx.tx.Commit(ctx)
	var server *pgconn.PgError
	if err != nil && !errors.As(err, &server) && tx.conn.Conn().IsClosed() {
		return errors.Join(ErrCommitUnknown, &Error{Kind: ErrUnavailable, Code: "connection lost", Detail: "the server did not answer COMMIT"})
	}
	if err != nil {
		return tx.mapError(ctx, err)
	}
	tx.conn.Release()
	return nil
}

func (tx *postgresTx) rollback() {
	ctx, cancel := context.WithTimeout(context.Background(), connectTimeout)
	defer cancel()
	// If the connection is lost or busy, releasing it closes it, and the server rolls back.
	_ = tx.tx.Rollback(ctx)
	tx.conn.Release()
}

func (tx *postgresTx) mapError(ctx context.Context, err error) error {
	return mapPostgres(ctx, tx.conn.Conn(), err)
}

type postgresCursor struct {
	ctx  context.Context
	tx   *postgresTx
	rows pgx.Rows
	raw  [][]byte
}

func (c *postgresCursor) next() (bool, error) {
	if c.rows.Next() {
		c.raw = c.rows.RawValues()
		return true, nil
	}
	return false, c.tx.mapError(c.ctx, c.rows.Err())
}

func (c *postgresCursor) columns() int { return len(c.rows.FieldDescriptions()) }

func (c *postgresCursor) column(i int) string { return c.rows.FieldDescriptions()[i].Name }

func (c *postgresCursor) null(i int) bool { return c.raw[i] == nil }

func (c *postgresCursor) text(i int) string { return string(c.raw[i]) }

func (c *postgresCursor) integer(i int) (int64, bool) {
	s := string(c.raw[i])
	if c.rows.FieldDescriptions()[i].DataTypeOID == pgtype.BoolOID {
		return map[string]int64{"t": 1}[s], true
	}
	return parseInteger(s)
}

func (c *postgresCursor) blob(i int) []byte {
	s := string(c.raw[i])
	if c.rows.FieldDescriptions()[i].DataTypeOID == pgtype.ByteaOID {
		if b, err := hex.DecodeString(strings.TrimPrefix(s, `\x`)); err == nil {
			return b
		}
	}
	return []byte(s)
}

func (c *postgresCursor) close() error {
	c.rows.Close()
	return c.tx.mapError(c.ctx, c.rows.Err())
}
