package store

import (
	"context"
	"errors"
	"fmt"
)

// What a caller may branch on with errors.Is.
var (
	ErrURL           = errors.New("not a database URL")
	ErrNoRows        = errors.New("no such row")
	ErrConflict      = errors.New("conflict with a unique key")
	ErrConstraint    = errors.New("refused by a constraint of the table")
	ErrBusy          = errors.New("database is busy")
	ErrUnavailable   = errors.New("database is not available")
	ErrFull          = errors.New("no space left for the database")
	ErrReadOnly      = errors.New("database may not be written")
	ErrCorrupt       = errors.New("database is damaged")
	ErrSerialization = errors.New("transaction collided with another one")
	ErrText          = errors.New("text is not UTF-8 or holds a NUL byte")
	ErrSchema        = errors.New("database schema does not fit this program")
	// ErrCommitUnknown: the connection broke while COMMIT was under way. The transaction may or may not stand; the
	// caller must look before it does anything again. It always comes together with ErrUnavailable.
	ErrCommitUnknown = errors.New("whether the transaction was committed is not known")
)

// Error is a failure reported by an engine. Kind is one of the sentinels above, or nil for a fault of the statement itself
// (a syntax error, an unknown table).
type Error struct {
	Kind   error
	Code   string // SQLSTATE, or "SQLITE_…" extended result code
	Detail string // names of constraints, tables, columns; never a value
}

func (e *Error) Error() string {
	what := "statement refused by the database"
	if e.Kind != nil {
		what = e.Kind.Error()
	}
	if e.Detail == "" {
		return fmt.Sprintf("%s (%s)", what, e.Code)
	}
	return fmt.Sprintf("%s: %s (%s)", what, e.Detail, e.Code)
}

// Unwrap gives the sentinel.
func (e *Error) Unwrap() error { return e.Kind }

// connectError says why a database cannot be used and what to do about it; kinds are the sentinels it matches.
type connectError struct {
	place, reason, remedy string
	kinds                 []error
}

func (e *connectError) Error() string {
	return fmt.Sprintf("cannot use database %s: %s; %s", e.place, e.reason, e.remedy)
}

func (e *connectError) Unwrap() []error { return e.kinds }

// interrupted returns the context's error if the context ended, so that a cancelled statement is seen as cancelled and not
// as whatever code the engine gives an interrupted statement.
func interrupted(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("interrupted: %w", err)
	}
	return nil
}
