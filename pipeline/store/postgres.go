package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
)

type postgresEngine struct {
	pool   *pgxpool.Pool
	place  string // the address without the password
	closed atomic.Bool
}

const connectTimeout = 10 * time.Second

func openPostgres(ctx context.Context, cfg *pgxpool.Config) (*postgresEngine, error) {
	cc := cfg.ConnConfig
	if cc.ConnectTimeout == 0 {
		cc.ConnectTimeout = connectTimeout
	}
	if cc.RuntimeParams["application_name"] == "" {
		cc.RuntimeParams["application_name"] = "sheetlift"
	}
	//
	e := &postgresEngine{place: postgresPlace(cc)}
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return nil, e.placeError(ctx, err)
	}
	e.pool = pool
	if err := e.probe(ctx); err != nil {
		pool.Close()
		return nil, err
	}
	return e, nil
}

// probe connects and refuses what cannot work: an encoding that would change text, a server that only reads.
func (e *postgresEngine) probe(ctx context.Context) error {
	var encoding string
	var standby bool
	var readOnly string
	err := e.pool.QueryRow(ctx, `SELECT current_setting('server_encoding'), pg_is_in_recovery(), current_setting('default_transaction_read_only')`).
		Scan(&encoding, &standby, &readOnly)
	if err != nil {
		return e.placeError(ctx, err)
	}
	if encoding != "UTF8" {
		return &connectError{place: e.place, kinds: []error{ErrUnavailable}, reason: "its encoding is " + encoding,
			remedy: "create the database with ENCODING 'UTF8' TEMPLATE template0"}
	}
	if standby || readOnly == "on" {
		return &connectError{place: e.place, kinds: []error{ErrUnavailable, ErrReadOnly}, reason: "it may only be read",
			remedy: "give the address of the primary server, or lift default_transaction_read_only"}
	}
	return nil
}

func postgresPlace(cc *pgx.ConnConfig) string {
	user := ""
	if cc.User != "" {
		user = cc.User + "@"
	}
	host := cc.Host
	if network, _ := pgconn.NetworkAddress(cc.Host, cc.Port); network == "tcp" {
		host = net.JoinHostPort(cc.Host, strconv.Itoa(int(cc.Port)))
	}
	return "postgres://" + user + host + "/" + cc.Database
}

// placeError says in one sentence why there is no connection and what to do. Only codes are looked at; the driver's words
// are left out, they may quote the address.
func (e *postgresEngine) placeError(ctx context.Context, err error) error {
	if ctxErr := interrupted(ctx); ctxErr != nil {
		return ctxErr
	}
	c := &connectError{place: e.place, kinds: []error{ErrUnavailable}}
	var server *pgconn.PgError
	var dns *net.DNSError
	var timeout interface{ Timeout() bool }
	switch {
	case errors.As(err, &server):
		c.reason, c.remedy = connectReason(server.Code)
	case errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, syscall.ENOENT):
		c.reason, c.remedy = "no server answers there", "start it or correct host and port in --db"
	case errors.As(err, &dns):
		c.reason, c.remedy = "its host name is not known", "correct the host in --db"
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		c.reason, c.remedy = "its host cannot be reached", "check the network or correct the host in --db"
	case errors.As(err, &timeout) && timeout.Timeout():
		c.reason, c.remedy = "it did not answer in time", "check that it runs and that the network lets it through"
	default:
		c.reason, c.remedy = "connecting failed", "check the address, its TLS settings and the server's log"
	}
	return c
}

func connectReason(code string) (reason, remedy string) {
	switch code {
	case "28P01", "28000":
		return "the server refused this user or password", "correct the user, PGPASSWORD or the passfile, or the server's pg_hba.conf"
	case "3D000":
		return "the server has no database of this name", "create it with createdb or correct the name in --db"
	case "42501":
		return "this user may not connect to it", "GRANT CONNECT to the user"
	case "53300":
		return "the server has no connection left", "close other programs or raise max_connections"
	case "57P03":
		return "the server is starting up or shutting down", "try again shortly"
	}
	return "the server refused the connection (SQLSTATE " + code + ")", "look up the code and the server's log"
}

func (e *postgresEngine) name() string { return "postgres" }

func (e *postgresEngine) begin(ctx context.Context, write bool) (engineTx, error) {
	if e.closed.Load() {
		return nil, errClosed
	}
	conn, err := e.pool.Acquire(ctx)
	if err != nil {
		return nil, e.placeError(ctx, err)
	}
	// READ COMMITTED: a statement after a lock must see what the lock waited for. Reads get one snapshot, as on SQLite.
	options := pgx.TxOptions{IsoLevel: pgx.ReadCommitted, AccessMode: pgx.ReadWrite}
	if !write {
		options = pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}
	}
	tx, err := conn.BeginTx(ctx, options)
	if err != nil {
		err = mapPostgres(ctx, conn.Conn(), err)
		conn.Release()
		return nil, err
	}
	return &postgresTx{conn: conn, tx: tx, write: write}, nil
}

func (e *postgresEngine) close() error {
	if !e.closed.Swap(true) {
		e.pool.Close()
	}
	return nil
}

func (e *postgresEngine) goose() (*sql.DB, goose.Dialect, goose.ProviderOption, error) {
	// The first starter takes an advisory lock for its session, the others ask again every second.
	locker, err := lock.NewPostgresSessionLocker(lock.WithLockTimeout(1, 600))
	if err != nil {
		return nil, "", nil, err
	}
	return stdlib.OpenDB(*e.pool.Config().ConnConfig), goose.DialectPostgres, goose.WithSessionLocker(locker), nil
}

func (e *postgresEngine) mapError(ctx context.Context, err error) error {
	var server *pgconn.PgError
	var connect *pgconn.ConnectError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &connect):
		return e.placeError(ctx, err)
	case errors.As(err, &server):
		return mapPostgres(ctx, nil, err)
	}
	if ctxErr := interrupted(ctx); ctxErr != nil {
		return ctxErr
	}
	return err
}

// mapPostgres gives an error its sentinel by SQLSTATE. Without one it came from the driver: then a closed connection is an
// unavailable database, and anything else is a statement the driver could not send.
func mapPostgres(ctx context.Context, conn *pgx.Conn, err error) error {
	if err == nil {
		return nil
	}
	if ctxErr := interrupted(ctx); ctxErr != nil {
		return ctxErr
	}
	var server *pgconn.PgError
	if errors.As(err, &server) {
		return &Error{Kind: postgresKind(server.Code), Code: "SQLSTATE " + server.Code, Detail: postgresDetail(server)}
	}
	if conn != nil && conn.IsClosed() {
		return &Error{Kind: ErrUnavailable, Code: "connection lost", Detail: "the server ended or cannot be reached"}
	}
	// The driver's message may quote an argument.
	return &Error{Code: fmt.Sprintf("driver error %T", innermost(err)), Detail: "it could not be sent"}
}

func postgresKind(code string) error {
	switch code {
	case "23505", "23P01":
		return ErrConflict
	case "40001", "40P01":
		return ErrSerialization
	case "55P03":
		return ErrBusy
	case "53100":
		return ErrFull
	case "25006", "42501":
		return ErrReadOnly
	case "22021", "22P05":
		return ErrText
	case "57014":
		return ErrBusy // statement_timeout, or cancelled by an administrator; our own cancellation was found before
	}
	switch code[:min(2, len(code))] {
	case "23":
		return ErrConstraint
	case "08", "53", "57", "58", "28", "3D":
		return ErrUnavailable
	case "XX":
		return ErrCorrupt
	}
	return nil
}

// postgresDetail names what is concerned. The server's DETAIL line holds the row, and messages of class 22 (data exception)
// quote the value, so both stay out.
func postgresDetail(e *pgconn.PgError) string {
	switch {
	case e.ConstraintName != "":
		return "constraint " + e.ConstraintName
	case e.ColumnName != "":
		return "column " + e.TableName + "." + e.ColumnName
	case len(e.Code) >= 2 && (e.Code[:2] == "22" || e.Code[:2] == "23"):
		return ""
	}
	return e.Message
}
