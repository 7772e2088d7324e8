package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/pressly/goose/v3"
	_ "modernc.org/sqlite" // the database/sql driver for goose; the same engine and file locks as zombiezen's
	"zombiezen.com/go/sqlite"
)

// sqliteEngine keeps one connection that writes and a few that only read, each opened when first needed. A connection is
// in its channel while nobody uses it; nil stands for one not opened yet.
type sqliteEngine struct {
	path    string
	busy    time.Duration
	writer  chan *sqlite.Conn
	readers chan *sqlite.Conn
	closing chan struct{}
	once    sync.Once
	closed  error
}

const sqliteReaders = 4

// Settings of every connection.
//   - synchronous FULL: a commit is on disk when it returns. NORMAL would lose the last commits in a power cut, and the
//     ledger's rule "committed before the effect outside" would be a lie. It costs one fsync a commit, not one a row.
//   - foreign_keys: off by default in SQLite.
//   - trusted_schema off: a doctored file must not run functions through its views and triggers.
//   - journal_size_limit: the write-ahead log of a large load is cut back after it.
const sqlitePragmas = `PRAGMA synchronous=FULL;
PRAGMA foreign_keys=ON;
PRAGMA trusted_schema=OFF;
PRAGMA journal_size_limit=67108864;
PRAGMA cache_size=-32768;`

func openSQLite(ctx context.Context, path string, busy time.Duration) (*sqliteEngine, error) {
	e := &sqliteEngine{
		path:    path,
		busy:    busy,
		writer:  make(chan *sqlite.Conn, 1),
		readers: make(chan *sqlite.Conn, sqliteReaders),
		closing: make(chan struct{}),
	}
	if err := makeSQLiteFile(path); err != nil {
		return nil, sqlitePlaceError(path, err)
	}
	conn, err := e.connect(ctx, true)
	if err == nil {
		err = probeWritable(conn)
		if err != nil {
			_ = conn.Close()
		}
	}
	if err != nil {
		if ctxErr := interrupted(ctx); ctxErr != nil {
			return nil, ctxErr
		}
		return nil, sqlitePlaceError(path, mapSQLite(ctx, err))
	}
	e.writer <- conn
	for range sqliteReaders {
		e.readers <- nil
	}
	return e, nil
}

// makeSQLiteFile makes the file if it is not there, empty and readable by its owner only; the engine gives the write-ahead
// log the same mode. It never opens an existing file: closing it would drop the locks this process holds on it.
func makeSQLiteFile(path string) error {
	info, err := os.Stat(path)
	if err == nil {
		if info.IsDir() {
			return errIsFolder
		}
		if !info.Mode().IsRegular() {
			return errNotRegular
		}
		return nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil // another starter made it
	}
	if err != nil {
		return err
	}
	return f.Close()
}

func (e *sqliteEngine) connect(ctx context.Context, write bool) (*sqlite.Conn, error) {
	conn, err := sqlite.OpenConn(e.path, sqlite.OpenReadWrite)
	if err != nil {
		return nil, err
	}
	wait, cancel := context.WithTimeout(ctx, e.busy)
	defer cancel()
	conn.SetInterrupt(wait.Done())
	err = script(conn, sqlitePragmas)
	if err == nil && write {
		err = useWAL(wait, conn)
	}
	if err == nil && !write {
		err = script(conn, "PRAGMA query_only=ON;")
	}
	conn.SetInterrupt(nil)
	if err != nil {
		_ = conn.Close()
		if wait.Err() != nil && ctx.Err() == nil {
			return nil, fmt.Errorf("%w: opening it took more than %v", ErrBusy, e.busy)
		}
		return nil, err
	}
	return conn, nil
}

// useWAL turns the write-ahead log on: readers go on while one writes. On a new file pages of 16 KiB come first, they load
// a fifth faster. Several starters may find the new file at once; the engine answers "busy" without waiting then.
func useWAL(ctx context.Context, conn *sqlite.Conn) error {
	pages, err := pragmaInt(conn, "PRAGMA page_count;")
	if err != nil {
		return err
	}
	if pages == 0 {
		if err := script(conn, "PRAGMA page_size=16384;"); err != nil {
			return err
		}
	}
	for {
		mode, err := pragmaText(conn, "PRAGMA journal_mode=WAL;")
		if err == nil {
			if mode != "wal" {
				return errNoWAL
			}
			return nil
		}
		if sqlite.ErrCode(err).ToPrimary() != sqlite.ResultBusy {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// probeWritable finds out whether the file may be written: the engine opens a write-protected one without a word, and even
// BEGIN IMMEDIATE only reads there. So something is written and rolled back. Another writer at work is proof enough.
func probeWritable(conn *sqlite.Conn) error {
	conn.SetBusyTimeout(0)
	defer conn.SetBlockOnBusy()
	err := script(conn, "BEGIN IMMEDIATE; PRAGMA user_version=1;")
	if !conn.AutocommitEnabled() {
		if rerr := script(conn, "ROLLBACK;"); err == nil {
			err = rerr
		}
	}
	if sqlite.ErrCode(err).ToPrimary() == sqlite.ResultBusy {
		return nil
	}
	return err
}

func (e *sqliteEngine) name() string { return "sqlite" }

// acquire takes a connection out of its channel, opening it if needed.
func (e *sqliteEngine) acquire(ctx context.Context, pool chan *sqlite.Conn) (*sqlite.Conn, error) {
	select {
	case <-e.closing:
		return nil, errClosed
	default:
	}
	timer := time.NewTimer(e.busy)
	defer timer.Stop()
	select {
	case conn := <-pool:
		if conn != nil {
			return conn, nil
		}
		conn, err := e.connect(ctx, pool == e.writer)
		if err != nil {
			pool <- nil
			return nil, mapSQLite(ctx, err)
		}
		return conn, nil
	case <-ctx.Done():
		return nil, interrupted(ctx)
	case <-e.closing:
		return nil, errClosed
	case <-timer.C:
		return nil, fmt.Errorf("%w: another transaction of this process has run for more than %v", ErrBusy, e.busy)
	}
}

func (e *sqliteEngine) begin(ctx context.Context, write bool) (engineTx, error) {
	pool, first := e.readers, "BEGIN; SELECT 1 FROM sqlite_schema LIMIT 1;" // the SELECT takes the snapshot
	if write {
		pool, first = e.writer, "BEGIN IMMEDIATE;"
	}
	conn, err := e.acquire(ctx, pool)
	if err != nil {
		return nil, err
	}
	tx := &sqliteTx{pool: pool, conn: conn}
	// The busy handler waits until the connection is interrupted: by the caller's context or after e.busy.
	wait, cancel := context.WithTimeout(ctx, e.busy)
	defer cancel()
	conn.SetInterrupt(wait.Done())
	err = script(conn, first)
	tx.arm(ctx)
	if err != nil {
		timedOut := wait.Err() != nil && ctx.Err() == nil
		tx.rollback()
		if timedOut {
			return nil, fmt.Errorf("%w: another process has been writing for more than %v", ErrBusy, e.busy)
		}
		return nil, mapSQLite(ctx, err)
	}
	return tx, nil
}

func (e *sqliteEngine) close() error {
	e.once.Do(func() {
		close(e.closing)
		timer := time.NewTimer(e.busy)
		defer timer.Stop()
		for _, pool := range []chan *sqlite.Conn{e.readers, e.writer} { // the writer last: it tidies the log away
			for range cap(pool) {
				select {
				case conn := <-pool:
					if conn != nil {
						e.closed = errors.Join(e.closed, mapSQLite(context.Background(), conn.Close()))
					}
				case <-timer.C:
					e.closed = errors.Join(e.closed, fmt.Errorf("%w: a transaction is still running", ErrBusy))
					return
				}
			}
		}
	})
	return e.closed
}

// goose opens a second way to the same file for the migrations.
func (e *sqliteEngine) goose() (*sql.DB, goose.Dialect, goose.ProviderOption, error) {
	q := url.Values{}
	q.Add("_pragma", fmt.Sprintf("busy_timeout(%d)", e.busy.Milliseconds()))
	q.Add("_pragma", "foreign_keys(1)")
	q.Add("_pragma", "synchronous(FULL)")
	q.Set("_txlock", "immediate")
	dsn := (&url.URL{Scheme: "file", Path: e.path, RawQuery: q.Encode()}).String()
	db, err := sql.Open("sqlite", dsn)
	if err != nil {
		return nil, "", nil, err
	}
	db.SetMaxOpenConns(1)
	return db, goose.DialectSQLite3, goose.WithLocker(&folderLock{folder: filepath.Dir(e.path)}), nil
}

// script runs statements without arguments and drops their rows.
func script(conn *sqlite.Conn, statements string) error {
	for statements != "" {
		stmt, trailing, err := conn.PrepareTransient(statements)
		if err != nil {
			return err
		}
		for row := true; row && err == nil; {
			row, err = stmt.Step()
		}
		if ferr := stmt.Finalize(); err == nil {
			err = ferr
		}
		if err != nil {
			return err
		}
		statements = trimSQL(statements[len(statements)-trailing:])
	}
	return nil
}

func pragmaText(conn *sqlite.Conn, pragma string) (string, error) {
	stmt, _, err := conn.PrepareTransient(pragma)
	if err != nil {
		return "", err
	}
	defer stmt.Finalize()
	row, err := stmt.Step()
	if err != nil || !row {
		return "", err
	}
	return stmt.ColumnText(0), nil
}

func pragmaInt(conn *sqlite.Conn, pragma string) (int64, error) {
	stmt, _, err := conn.PrepareTransient(pragma)
	if err != nil {
		return 0, err
	}
	defer stmt.Finalize()
	row, err := stmt.Step()
	if err != nil || !row {
		return 0, err
	}
	return stmt.ColumnInt64(0), nil
}
