package store

import (
	"errors"
	"fmt"
	"strconv"
)

// cursor walks the rows of one query. Columns count from 0.
type cursor interface {
	next() (bool, error)
	columns() int
	column(i int) string // name
	null(i int) bool
	text(i int) string
	integer(i int) (n int64, ok bool) // ok is false if the value is no integer of 64 bits
	blob(i int) []byte                // a copy
	close() error
}

// Rows are the rows of a query, read forward once.
type Rows struct {
	tx     *Tx
	c      cursor
	sql    string
	err    error
	onRow  bool
	closed bool
}

// Next goes to the next row. At the end, and after an error, it closes the rows and returns false.
func (r *Rows) Next() bool {
	if r.closed {
		return false
	}
	ok, err := r.c.next()
	if err != nil {
		r.err = r.tx.fail("query", r.sql, err)
	}
	r.onRow = ok && err == nil
	if !r.onRow {
		_ = r.Close()
	}
	return r.onRow
}

// Scan copies the row's columns. Destinations: *string, *int64, *int, *bool (an integer other than 0), *[]byte, and **string,
// **int64, **int, **bool for columns that may be NULL. A NULL for any other destination is an error.
func (r *Rows) Scan(dest ...any) error {
	if !r.onRow || r.closed {
		return fmt.Errorf("scan %s: not on a row", label(r.sql))
	}
	if len(dest) != r.c.columns() {
		return fmt.Errorf("scan %s: %d destinations for %d columns", label(r.sql), len(dest), r.c.columns())
	}
	for i, d := range dest {
		if err := scanColumn(r.c, i, d); err != nil {
			return fmt.Errorf("scan %s: column %s: %w", label(r.sql), r.c.column(i), err)
		}
	}
	return nil
}

// Err is the error that ended Next, if any.
func (r *Rows) Err() error { return r.err }

// Close ends the query. It may be called more than once.
func (r *Rows) Close() error {
	if r.closed {
		return nil
	}
	r.closed, r.onRow = true, false
	if r.tx.rows == r {
		r.tx.rows = nil
	}
	if err := r.c.close(); err != nil && r.err == nil {
		r.err = r.tx.fail("query", r.sql, err)
	}
	return r.err
}

// Row is the row of QueryRow.
type Row struct {
	rows *Rows
	err  error
}

// Scan copies the columns as Rows.Scan does, or returns ErrNoRows (which does not harm the transaction).
func (r *Row) Scan(dest ...any) error {
	if r.err != nil {
		return r.err
	}
	defer r.rows.Close()
	if !r.rows.Next() {
		if err := r.rows.Err(); err != nil {
			return err
		}
		return ErrNoRows
	}
	if err := r.rows.Scan(dest...); err != nil {
		return err
	}
	return r.rows.Close()
}

var (
	errNull       = errors.New("is NULL, but the destination cannot hold NULL")
	errNotInteger = errors.New("is not an integer that fits the destination")
)

func scanColumn(c cursor, i int, dest any) error {
	if c.null(i) {
		switch d := dest.(type) {
		case **string:
			*d = nil
		case **int64:
			*d = nil
		case **int:
			*d = nil
		case **bool:
			*d = nil
		case *[]byte:
			*d = nil
		case *string, *int64, *int, *bool:
			return errNull
		default:
			return fmt.Errorf("unsupported destination %T", dest)
		}
		return nil
	}
	switch d := dest.(type) {
	case *string:
		*d = c.text(i)
	case **string:
		s := c.text(i)
		*d = &s
	case *[]byte:
		*d = c.blob(i)
	case *int64:
		return scanInteger(c, i, d)
	case **int64:
		*d = new(int64)
		return scanInteger(c, i, *d)
	case *int:
		return scanInt(c, i, d)
	case **int:
		*d = new(int)
		return scanInt(c, i, *d)
	case *bool:
		return scanBool(c, i, d)
	case **bool:
		*d = new(bool)
		return scanBool(c, i, *d)
	default:
		return fmt.Errorf("unsupported destination %T", dest)
	}
	return nil
}

func scanInteger(c cursor, i int, d *int64) error {
	n, ok := c.integer(i)
	if !ok {
		return errNotInteger
	}
	*d = n
	return nil
}

func scanInt(c cursor, i int, d *int) error {
	n, ok := c.integer(i)
	if !ok || strconv.IntSize == 32 && int64(int32(n)) != n {
		return errNotInteger
	}
	*d = int(n)
	return nil
}

func scanBool(c cursor, i int, d *bool) error {
	n, ok := c.integer(i)
	if !ok {
		return errNotInteger
	}
	*d = n != 0
	return nil
}
