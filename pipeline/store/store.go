package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/pressly/goose/v3"
)

// busyTimeout bounds how long a transaction waits for another one's write lock on SQLite, and how long Close waits.
const busyTimeout = 60 * time.Second

// DB is an open database. It is safe for use by many goroutines.
type DB struct {
	engine engine
}

// engine is what differs between the databases. All errors it returns are mapped already.
type engine interface {
	name() string
	begin(ctx context.Context, write bool) (engineTx, error)
	// goose opens what the migrations need: an own *sql.DB, the dialect and a lock against other starters.
	goose() (*sql.DB, goose.Dialect, goose.ProviderOption, error)
	mapError(ctx context.Context, err error) error
	columns(ctx context.Context, tx *Tx, table string) ([]ColumnInfo, error)
	tables(ctx context.Context, tx *Tx) ([]string, error)
	close() error
}

type engineTx interface {
	exec(ctx context.Context, query string, args []param) (int64, error)
	query(ctx context.Context, query string, args []param) (cursor, error)
	// load leaves out rows whose value of the column key is in the table already, unless key is "".
	load(ctx context.Context, table string, columns []string, key string, src Source) (int64, error)
	now(ctx context.Context) (int64, error)
	lock(ctx context.Context, key int64) error
	forUpdate() string
	commit(ctx context.Context) error
	rollback()
}

// Open opens "sqlite:PATH", "postgres://…" or "postgresql://…" and makes sure that it can be written. It does not migrate.
//
// On SQLite the file is made (mode 0600) with its folder (0700) if it is not there. Errors: ErrURL; ErrUnavailable with the
// reason and a remedy in one sentence, also ErrReadOnly if it is there but may not be written; ErrCorrupt if the file is no
// database. No error holds the URL's password.
func Open(ctx context.Context, url string) (*DB, error) {
	u, err := parseURL(url)
	if err != nil {
		return nil, err
	}
	if err := interrupted(ctx); err != nil {
		return nil, err
	}
	var e engine
	if u.postgres != nil {
		e, err = openPostgres(ctx, u.postgres)
	} else {
		e, err = openSQLite(ctx, u.path, busyTimeout)
	}
	if err != nil {
		return nil, err
	}
	return &DB{engine: e}, nil
}

// Engine is "sqlite" or "postgres".
func (db *DB) Engine() string { return db.engine.name() }

// Close waits for running transactions (at most a minute) and closes the database.
func (db *DB) Close() error { return db.engine.close() }

// Update runs fn in one write transaction and commits it. An error or a panic of fn, a cancelled context, or any statement
// that failed inside (even if fn swallowed its error) rolls everything back. fn runs exactly once; see the package comment
// on isolation. Do not call Update inside fn: on SQLite it would wait for itself until ErrBusy.
func (db *DB) Update(ctx context.Context, fn func(tx *Tx) error) error {
	return db.run(ctx, true, fn)
}

// View runs fn in one read-only transaction: all its queries see the same snapshot, a write is ErrReadOnly.
func (db *DB) View(ctx context.Context, fn func(tx *Tx) error) error {
	return db.run(ctx, false, fn)
}

func (db *DB) run(ctx context.Context, write bool, fn func(tx *Tx) error) error {
	etx, err := db.engine.begin(ctx, write)
	if err != nil {
		return fmt.Errorf("begin transaction: %w", err)
	}
	tx := &Tx{engine: etx, write: write}
	ended := false
	defer func() {
		// Reached without ended when fn panics or ends its goroutine (testing.T.FailNow).
		if !ended {
			tx.end()
			etx.rollback()
		}
	}()
	err = fn(tx)
	tx.end()
	ended = true
	if err == nil {
		// fn may have swallowed the error of a statement; the transaction is lost all the same.
		err = tx.failed
	}
	if err == nil {
		err = interrupted(ctx)
	}
	if err != nil || !write {
		etx.rollback()
		return err
	}
	// From here on the caller's cancellation no longer counts: a commit cut in the middle has an unknown outcome.
	cctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), busyTimeout)
	defer cancel()
	if err := etx.commit(cctx); err != nil {
		etx.rollback()
		return fmt.Errorf("commit transaction: %w", err)
	}
	return nil
}

var errClosed = &connectError{place: "handle", reason: "it is closed already", remedy: "open it again", kinds: []error{ErrUnavailable}}

var errEnded = errors.New("the transaction has ended; use it only inside its Update or View")
