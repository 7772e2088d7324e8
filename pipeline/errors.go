package pipeline

import (
	"errors"
	"fmt"

	"sheetlift/importers/source"
	"sheetlift/importers/staged"
	"sheetlift/manifests"
	"sheetlift/pipeline/store"
)

// GateError says why a stage may not run yet, or no more. Nothing was changed.
type GateError struct {
	Stage  string
	Why    string
	Remedy string
}

// Error gives stage and reason.
func (e *GateError) Error() string { return fmt.Sprintf("%s refused: %s", e.Stage, e.Why) }

// IntegrityError says that something kept as evidence is not what was recorded.
type IntegrityError struct {
	What   string
	Detail string
	Remedy string
	Err    error
}

// Error gives what and how.
func (e *IntegrityError) Error() string { return e.What + ": " + e.Detail }

// Unwrap gives the cause.
func (e *IntegrityError) Unwrap() error { return e.Err }

// notAsRecorded reports whether something that was recorded is there no more as it was.
func notAsRecorded(err error) bool {
	var integrity *IntegrityError
	var bag *manifests.BagError
	return errors.As(err, &integrity) || errors.As(err, &bag) || errors.Is(err, manifests.ErrIntegrity) || errors.Is(err, staged.ErrChanged)
}

// FileError is a fault of a file or folder that the tool itself writes.
type FileError struct {
	Path    string
	Message string
	Remedy  string
	Err     error
}

// Error gives path and fault.
func (e *FileError) Error() string { return e.Path + ": " + e.Message }

// Unwrap gives the cause.
func (e *FileError) Unwrap() error { return e.Err }

// failCode is the word that the ledger keeps of a failure.
func failCode(err error) string {
	var gate *GateError
	var src *source.Error
	switch {
	case notAsRecorded(err):
		return "integrity"
	case errors.As(err, &gate):
		return "gate"
	case errors.As(err, &src):
		return "source"
	case errors.Is(err, store.ErrUnavailable), errors.Is(err, store.ErrFull), errors.Is(err, store.ErrReadOnly):
		return "database"
	}
	return "error"
}
