package store

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"zombiezen.com/go/sqlite"

	"sheetlift/pipeline/store/storetest"
)

// Codes that a test cannot easily make a server give: PostgreSQL manual, appendix A.
func TestPostgresKinds(t *testing.T) {
	for code, want := range map[string]error{
		"23505": ErrConflict, "23P01": ErrConflict, "23514": ErrConstraint, "23503": ErrConstraint,
		"40001": ErrSerialization, "40P01": ErrSerialization, "55P03": ErrBusy, "57014": ErrBusy,
		"53100": ErrFull, "53200": ErrUnavailable, "53300": ErrUnavailable, "57P01": ErrUnavailable, "57P03": ErrUnavailable,
		"08006": ErrUnavailable, "28P01": ErrUnavailable, "3D000": ErrUnavailable, "58030": ErrUnavailable,
		"25006": ErrReadOnly, "42501": ErrReadOnly, "XX001": ErrCorrupt, "22021": ErrText, "22003": nil, "42601": nil, "": nil,
	} {
		err := mapPostgres(t.Context(), nil, &pgconn.PgError{Code: code, Message: "value secret", Detail: "Key (id)=(secret) already exists."})
		var mapped *Error
		if !errors.As(err, &mapped) || mapped.Kind != want {
			t.Errorf("%s: got %v, want %v", code, err, want)
		}
		if class := code[:min(2, len(code))]; (class == "22" || class == "23") && strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: the message holds the value: %v", code, err)
		}
	}
}

func TestSQLiteKinds(t *testing.T) {
	for code, want := range map[sqlite.ResultCode]error{
		sqlite.ResultConstraintUnique: ErrConflict, sqlite.ResultConstraintPrimaryKey: ErrConflict, sqlite.ResultConstraintRowID: ErrConflict,
		sqlite.ResultConstraintCheck: ErrConstraint, sqlite.ResultConstraintForeignKey: ErrConstraint, sqlite.ResultBusySnapshot: ErrSerialization,
		sqlite.ResultBusy: ErrBusy, sqlite.ResultBusyRecovery: ErrBusy, sqlite.ResultLocked: ErrBusy, sqlite.ResultFull: ErrFull,
		sqlite.ResultReadOnly: ErrReadOnly, sqlite.ResultReadOnlyDBMoved: ErrReadOnly, sqlite.ResultCorrupt: ErrCorrupt, sqlite.ResultNotADB: ErrCorrupt,
		sqlite.ResultIOErr: ErrUnavailable, sqlite.ResultIOErrFsync: ErrUnavailable,
		sqlite.ResultCantOpen: ErrUnavailable, sqlite.ResultError: nil, sqlite.ResultRange: nil,
	} {
		if got := sqliteKind(code); got != want {
			t.Errorf("%v: got %v, want %v", code, got, want)
		}
	}
}

// A full database: nothing of the load stands, and what was there can still be read.
func TestFull(t *testing.T) {
	db := opened(t, storetest.SQLite(t))
	ctx := t.Context()
	exec := func(sql string) error {
		return db.Update(ctx, func(tx *Tx) error { _, err := tx.Exec(ctx, sql); return err })
	}
	if err := errors.Join(exec(`CREATE TABLE things (n INTEGER NOT NULL, note TEXT) STRICT`), exec(`INSERT INTO things (n) VALUES (1)`),
		exec(`PRAGMA max_page_count=10`)); err != nil {
		t.Fatal(err)
	}
	err := exec(`WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 100000) INSERT INTO things SELECT x, 'note' FROM c`)
	if !errors.Is(err, ErrFull) {
		t.Errorf("got %v, want ErrFull", err)
	}
	var n int
	err = db.View(ctx, func(tx *Tx) error { return tx.QueryRow(ctx, `SELECT COUNT(*) FROM things`).Scan(&n) })
	if err != nil || n != 1 {
		t.Errorf("%d rows (%v), want 1", n, err)
	}
	if err := exec(`INSERT INTO things (n) VALUES (2)`); err != nil {
		t.Errorf("a row that still fits: %v", err)
	}
}

// Waiting for a writer that does not end is ErrBusy, not for ever.
func TestBusy(t *testing.T) {
	url := storetest.SQLite(t)
	holder := opened(t, url)
	ctx := t.Context()
	const wait = 20 * time.Millisecond
	err := holder.Update(ctx, func(tx *Tx) error {
		// Another transaction of this process, and another connection's.
		holder.engine.(*sqliteEngine).busy = wait
		if err := holder.Update(ctx, func(*Tx) error { return nil }); !errors.Is(err, ErrBusy) {
			t.Errorf("inside an Update: got %v, want ErrBusy", err)
		}
		other, err := openSQLite(ctx, strings.TrimPrefix(url, "sqlite:"), time.Minute) // opening may take longer than wait
		if err != nil {
			return err
		}
		defer other.close()
		other.busy = wait
		if err := (&DB{engine: other}).Update(ctx, func(*Tx) error { return nil }); !errors.Is(err, ErrBusy) {
			t.Errorf("beside an Update: got %v, want ErrBusy", err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
