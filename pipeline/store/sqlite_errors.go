package store

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"syscall"

	sqlitedriver "modernc.org/sqlite"
	"zombiezen.com/go/sqlite"
)

var (
	errIsFolder   = errors.New("the path is a folder")
	errNotRegular = errors.New("the path is no regular file")
	errNoWAL      = errors.New("its file system cannot keep a write-ahead log")
)

// mapError maps what the database/sql driver of the migrations returns.
func (e *sqliteEngine) mapError(ctx context.Context, err error) error {
	var driver *sqlitedriver.Error
	if !errors.As(err, &driver) {
		return err
	}
	return sqliteError(ctx, sqlite.ResultCode(driver.Code()), err)
}

// mapSQLite gives an error of the engine its sentinel by extended result code. Errors of our own pass.
func mapSQLite(ctx context.Context, err error) error {
	var mapped *Error
	if err == nil || errors.As(err, &mapped) || errors.Is(err, errNoWAL) || errors.Is(err, ErrBusy) {
		return err
	}
	return sqliteError(ctx, sqlite.ErrCode(err), err)
}

func sqliteError(ctx context.Context, code sqlite.ResultCode, err error) error {
	if code.ToPrimary() == sqlite.ResultInterrupt || code.ToPrimary() == sqlite.ResultBusy {
		if ctxErr := interrupted(ctx); ctxErr != nil {
			return ctxErr
		}
	}
	return &Error{Kind: sqliteKind(code), Code: code.String(), Detail: sqliteDetail(code, err)}
}

func sqliteKind(code sqlite.ResultCode) error {
	switch code {
	case sqlite.ResultConstraintUnique, sqlite.ResultConstraintPrimaryKey, sqlite.ResultConstraintRowID:
		return ErrConflict
	case sqlite.ResultBusySnapshot:
		return ErrSerialization
	}
	switch code.ToPrimary() {
	case sqlite.ResultConstraint:
		return ErrConstraint
	case sqlite.ResultBusy, sqlite.ResultLocked:
		return ErrBusy
	case sqlite.ResultFull:
		return ErrFull
	case sqlite.ResultReadOnly, sqlite.ResultPerm, sqlite.ResultAuth:
		return ErrReadOnly
	case sqlite.ResultCorrupt, sqlite.ResultNotADB, sqlite.ResultFormat:
		return ErrCorrupt
	case sqlite.ResultCantOpen, sqlite.ResultIOErr, sqlite.ResultNoMem, sqlite.ResultInterrupt, sqlite.ResultNoLFS:
		return ErrUnavailable
	}
	return nil
}

// sqliteDetail keeps the engine's own words where they name tables and columns; they never quote a bound value.
func sqliteDetail(code sqlite.ResultCode, err error) string {
	switch code.ToPrimary() {
	case sqlite.ResultConstraint, sqlite.ResultError, sqlite.ResultRange, sqlite.ResultMismatch:
		text := innermost(err).Error()
		return strings.TrimPrefix(text, code.Message()+": ")
	}
	return ""
}

func innermost(err error) error {
	for {
		next := errors.Unwrap(err)
		if next == nil {
			return err
		}
		err = next
	}
}

// sqlitePlaceError says in one sentence why the file cannot be used and what to do.
func sqlitePlaceError(path string, err error) error {
	c := &connectError{place: "sqlite:" + path, kinds: []error{ErrUnavailable}}
	switch {
	case errors.Is(err, errIsFolder), errors.Is(err, errNotRegular):
		c.reason, c.remedy = err.Error(), "give the path of a file in --db"
	case errors.Is(err, ErrCorrupt):
		c.kinds = []error{ErrCorrupt}
		c.reason, c.remedy = "the file is not a database, or a damaged one", "name another file in --db or restore this one from a backup"
	case errors.Is(err, errNoWAL):
		c.reason, c.remedy = err.Error(), "put the database on a local disk"
	case errors.Is(err, ErrFull), errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		c.kinds = append(c.kinds, ErrFull)
		c.reason, c.remedy = "the disk is full", "free some space or name another place in --db"
	case errors.Is(err, ErrReadOnly), errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		c.kinds = append(c.kinds, ErrReadOnly)
		c.reason, c.remedy = "it may not be written", "allow this user to write the file and its folder, or name another place in --db"
	case errors.Is(err, syscall.ENOTDIR):
		c.reason, c.remedy = "a part of its path is a file, not a folder", "name another place in --db"
	case errors.Is(err, ErrBusy):
		c.kinds = append(c.kinds, ErrBusy)
		c.reason, c.remedy = "another process keeps it locked", "wait for that process or end it, then try again"
	default:
		c.reason, c.remedy = err.Error(), "check that the file and its folder can be read and written"
	}
	return c
}
