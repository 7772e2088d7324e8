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
//   - Errors carry what a caller may branch on (ErrUnavailable, ErrConflict, ErrBusy, ErrFull, ErrReadOnly and the rest
//     of errors.go), found by SQLSTATE or SQLite extended code, never by message text. No message holds a bound value,
//     a row or a password.
//   - Text is UTF-8 without NUL bytes on both engines (ErrText otherwise), because PostgreSQL takes nothing else.
//
// It refuses to hand out a raw driver connection: nothing outside this package names a database driver.
// Each concept owns its tables; the first line of each migration names the owner.
//
// # Isolation
//
// Update on SQLite is exclusive: BEGIN IMMEDIATE, one writer in all processes. On PostgreSQL it is READ COMMITTED, so that
// a statement after Lock or a row lock sees what the lock waited for; a read-modify-write therefore names its lock
// (Tx.Lock, or SELECT with Tx.ForUpdate) or is a compare-and-set whose row count decides. View is one snapshot on both.
// Update never runs its closure twice: a bulk load's Source cannot be rewound, and a closure may have effects outside.
// Deadlocks and serialization failures come back as ErrSerialization, and the caller that knows its work may repeat it.
//
// # Traps of portable SQL
//
//   - Text sorts by bytes on SQLite, by locale on PostgreSQL unless the column says COLLATE "C": every TEXT column of a
//     PostgreSQL migration says so, then ORDER BY gives the same order on both (a test holds it).
//   - SUM of BIGINT is numeric on PostgreSQL; it still scans into *int64. AVG and division are not portable.
//   - One placeholder has one type: do not use $1 for a TEXT and a BIGINT column in one statement. $1::text is not portable,
//     CAST($1 AS TEXT) is.
//   - PRIMARY KEY does not imply NOT NULL on SQLite: say NOT NULL.
//   - One statement at a time: while Rows are open no other statement of the same transaction may run, on either engine.
package store
