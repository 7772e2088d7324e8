// Package store is the database: opening, migrating, transactions and bulk load, on SQLite (inside the binary) and on
// PostgreSQL (in production).
//
// # What it promises
//
//   - One set of queries for both engines: SQL is portable ($1 placeholders, RETURNING, ON CONFLICT; times are
//     microseconds since 1970 UTC in BIGINT/INTEGER columns, JSON and ids are TEXT, booleans are INTEGER/BIGINT 0 or 1).
//     What differs (row locks, the clock, bulk load, error codes) is a method here.
//   - Update and View run a closure in one transaction and always roll back when the closure returns an error or panics.
//   - A failed statement inside Update can never be committed around: after the first error every later statement fails,
//     on SQLite too, where the engine itself would let COMMIT succeed.
//   - Load puts many rows in as fast as the engine can in the same transaction as the caller's other statements
//     (binary COPY on PostgreSQL, multi-row prepared INSERT on SQLite).
//   - Errors carry what a caller may branch on (ErrUnavailable, ErrConflict, ErrBusy, ErrFull, ErrReadOnly), found by SQLSTATE or
//     SQLite extended code, never by message text.
//
// It refuses to hand out a raw driver connection: nothing outside this package names a database driver.
// Each concept owns its tables; the first line of each migration names the owner.
package store
