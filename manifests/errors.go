package manifests

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"
)

// What kind of fault an error of this package is; branch with errors.Is.
var (
	ErrIntegrity = errors.New("integrity fault")             // bytes, a bag or a signature are not what they should be
	ErrSignature = fmt.Errorf("signature: %w", ErrIntegrity) // a kind of ErrIntegrity
	ErrFull      = errors.New("no space left")
	ErrDenied    = errors.New("not allowed")    // permissions, or a read-only file system
	ErrExists    = errors.New("already exists") // WriteBag never writes over anything
	ErrName      = errors.New("unusable name")  // a file name that a bag can't carry safely
	ErrSpec      = errors.New("unusable input") // a BagSpec or value the caller has to mend
	ErrKey       = errors.New("unusable key")   // the installation's private key
	ErrIO        = errors.New("reading or writing failed")
)

// Error is a fault with its place and its remedy.
type Error struct {
	Kind    error  // one of the sentinels above
	Path    string // file, directory or name concerned; may be empty
	Message string // what happened
	Remedy  string // what to do next
	Err     error  // cause, if any
}

// Error gives place, what happened and the remedy in one line.
func (e *Error) Error() string {
	s := e.Message
	if e.Path != "" {
		s = e.Path + ": " + s
	}
	if e.Remedy != "" {
		s += "; " + e.Remedy
	}
	return s
}

// Unwrap makes errors.Is see the kind and the cause.
func (e *Error) Unwrap() []error {
	if e.Err != nil {
		return []error{e.Kind, e.Err}
	}
	return []error{e.Kind}
}

// IntegrityError says that a file's bytes are not those that its digest promises. Want and Got are lower-case hex SHA-256.
type IntegrityError struct {
	Path string
	Want string
	Got  string
}

// Error names the file and both digests.
func (e *IntegrityError) Error() string {
	return fmt.Sprintf("%s: its bytes have changed: SHA-256 should be %s and is %s; restore the file, or start again from a new freeze",
		e.Path, e.Want, e.Got)
}

// Unwrap makes errors.Is(err, ErrIntegrity) true.
func (e *IntegrityError) Unwrap() error { return ErrIntegrity }

// ioError gives a failed file operation its kind and a remedy, by error code and never by the system's wording.
func ioError(path, doing string, err error) error {
	if err == nil {
		return nil
	}
	var own *Error
	var integrity *IntegrityError
	if errors.As(err, &own) || errors.As(err, &integrity) {
		return err
	}
	e := &Error{Kind: ErrIO, Path: path, Message: doing + " failed: " + cause(err), Err: err,
		Remedy: "check the disk and its connection, then run the same command again"}
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		e.Kind = ErrFull
		e.Message = doing + " failed: no space left on the disk (or over the quota)"
		e.Remedy = "free space there or name another folder, then run the same command again"
	case errors.Is(err, syscall.EROFS):
		e.Kind = ErrDenied
		e.Message = doing + " failed: the file system is read-only"
		e.Remedy = "remount it writable or name another folder, then run the same command again"
	case errors.Is(err, fs.ErrPermission):
		e.Kind = ErrDenied
		e.Message = doing + " failed: permission denied"
		e.Remedy = "give this user access to it or name another folder, then run the same command again"
	case errors.Is(err, fs.ErrNotExist):
		e.Message = doing + " failed: no such file or folder"
		e.Remedy = "check the path"
	}
	return e
}

// cause is the innermost reason, without the path that PathError and LinkError put before it.
func cause(err error) string {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err.Error()
	}
	return err.Error()
}
