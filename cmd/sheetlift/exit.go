package main

import (
	"context"
	"errors"

	"sheetlift/importers/source"
)

// Exit codes, documented in docs/exit-codes.md. Where several apply the precedence is 70 > 4 > 6 > 3 > 5 > 2 > 1; 130 only if
// nothing worse.
const (
	exitClean       = 0
	exitFindings    = 1
	exitUsage       = 2
	exitIncomplete  = 3
	exitIntegrity   = 4
	exitGate        = 5
	exitUnknown     = 6
	exitInternal    = 70
	exitInterrupted = 130
)

// usageError marks a fault of the command line.
type usageError struct{ err error }

func (e usageError) Error() string { return e.err.Error() }
func (e usageError) Unwrap() error { return e.err }

// exitCode maps an error to the exit code.
func exitCode(err error) int {
	var src *source.Error
	var usage usageError
	switch {
	case err == nil:
		return exitClean
	case errors.As(err, &src):
		return exitIncomplete
	case errors.As(err, &usage):
		return exitUsage
	case errors.Is(err, context.Canceled):
		return exitInterrupted
	}
	return exitInternal
}
