package main

import (
	"context"
	"errors"

	"sheetlift/importers/source"
	"sheetlift/importers/staged"
	"sheetlift/manifests"
	"sheetlift/mappings"
	"sheetlift/mappings/strictyaml"
	"sheetlift/pipeline"
	"sheetlift/pipeline/ledger"
	"sheetlift/pipeline/store"
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

// finished ends a command that did its work and shown its result with another code than 0. It is never printed.
type finished struct{ code int }

func (f finished) Error() string { return "finished with findings" }

// exitCode maps an error to the exit code: the worst that any error in it asks for.
func exitCode(err error) int {
	switch {
	case err == nil:
		return exitClean
	case isIntegrity(err):
		return exitIntegrity
	case errors.Is(err, context.Canceled):
		return exitInterrupted // what a cancelled read or statement calls itself is no fault of its own
	case isIncomplete(err):
		return exitIncomplete
	}
	var (
		gate *pipeline.GateError
		done finished
	)
	switch {
	case errors.As(err, &gate):
		return exitGate
	case isUsage(err):
		return exitUsage
	case errors.As(err, &done):
		return done.code
	}
	return exitInternal
}

func isIntegrity(err error) bool {
	var (
		changed *pipeline.IntegrityError
		bag     *manifests.BagError
	)
	return errors.As(err, &changed) || errors.As(err, &bag) || errors.Is(err, manifests.ErrIntegrity) ||
		errors.Is(err, staged.ErrChanged) || errors.Is(err, ledger.ErrChain)
}

// isIncomplete tells that something outside failed, or that an input can't be read: the same command may succeed later.
func isIncomplete(err error) bool {
	var (
		src      *source.Error
		file     *pipeline.FileError
		database *store.Error
		record   *pipeline.ErrNoSuchRecord
	)
	if errors.As(err, &record) && record.NotYet {
		return true
	}
	if errors.As(err, &src) || errors.As(err, &file) || errors.As(err, &database) || errors.Is(err, context.DeadlineExceeded) {
		return true
	}
	for _, kind := range []error{
		store.ErrUnavailable, store.ErrBusy, store.ErrFull, store.ErrReadOnly, store.ErrCorrupt, store.ErrSerialization,
		store.ErrSchema, store.ErrCommitUnknown, ledger.ErrFenced,
		manifests.ErrFull, manifests.ErrDenied, manifests.ErrIO, manifests.ErrExists,
	} {
		if errors.Is(err, kind) {
			return true
		}
	}
	return false
}

func isUsage(err error) bool {
	var (
		usage  usageError
		yaml   *strictyaml.Errors
		config *pipeline.ConfigError
		sheet  *mappings.SheetError
		record *pipeline.ErrNoSuchRecord
	)
	return errors.As(err, &usage) || errors.As(err, &yaml) || errors.As(err, &config) || errors.As(err, &sheet) || errors.As(err, &record) ||
		errors.Is(err, store.ErrURL) || errors.Is(err, manifests.ErrKey) || errors.Is(err, manifests.ErrName) || errors.Is(err, manifests.ErrSpec)
}

// worse returns the code that goes before the other.
func worse(a, b int) int {
	for _, code := range []int{exitInternal, exitIntegrity, exitUnknown, exitIncomplete, exitGate, exitUsage, exitFindings, exitInterrupted} {
		if a == code || b == code {
			return code
		}
	}
	return exitClean
}
