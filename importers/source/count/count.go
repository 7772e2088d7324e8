// Package count counts the rows and non-empty cells of a file a second time, by a deliberately simple method that shares no
// parsing code with the readers: workbooks are cut at each "<", binary ones walked from record to record, text is read
// character by character. A reader that loses cells without an error is found out by the difference.
//
// It promises the readers' meaning of a row and a cell: a cell is non-empty when it has text, a number, a truth value or an
// error; a row counts when it has such a cell, or a formula without a cached value; in text files a record counts unless its
// line is blank. It judges nothing and repairs nothing: it is run on files that a reader has accepted.
package count

import (
	"bytes"
	"context"
	"errors"
	"io"

	"github.com/xuri/excelize/v2"

	"sheetlift/importers/source"
)

// Sheet is what was counted in one sheet.
type Sheet struct {
	Name  string
	Rows  int
	Cells int
}

// Counter counts the sheets of one file.
type Counter struct {
	whole func(ctx context.Context) ([]Sheet, error) // formats that are counted from one end to the other
	book  *workbook                                  // nil for them
}

// Open begins to count size bytes of r, of which a reader has said what they are. It finds the sheets of a workbook by
// itself. Options need the password only.
func Open(r io.ReaderAt, size int64, info source.Info, opt source.Options) (*Counter, error) {
	if info.Format == "csv" {
		return &Counter{whole: func(ctx context.Context) ([]Sheet, error) {
			s, err := text(ctx, io.NewSectionReader(r, 0, size), info)
			return []Sheet{s}, err
		}}, nil
	}
	if info.Format == "ods" {
		return &Counter{whole: func(ctx context.Context) ([]Sheet, error) { return spreadsheets(ctx, r, size) }}, nil
	}
	if info.Format == "xls" && info.Conversion == nil {
		return &Counter{whole: func(ctx context.Context) ([]Sheet, error) { return oldWorkbook(ctx, r, size, opt.Password) }}, nil
	}
	head := make([]byte, 4)
	if _, err := r.ReadAt(head, 0); err != nil {
		return nil, err
	}
	if bytes.Equal(head, []byte{0xd0, 0xcf, 0x11, 0xe0}) {
		raw := make([]byte, size)
		if n, err := r.ReadAt(raw, 0); int64(n) < size {
			return nil, err
		}
		plain, err := excelize.Decrypt(raw, &excelize.Options{Password: opt.Password})
		if err != nil {
			return nil, err
		}
		r, size = bytes.NewReader(plain), int64(len(plain))
	}
	if info.Format == "xlsb" && info.Conversion == nil {
		return &Counter{whole: func(ctx context.Context) ([]Sheet, error) { return binaries(ctx, r, size) }}, nil
	}
	book, err := openWorkbook(r, size)
	return &Counter{book: book}, err
}

// Part takes the bytes of a part of the workbook as somebody else inflates them, so that it need not be inflated twice; its
// end is told by Close. It gives nil for parts that are not counted. It is the source.Options.Parts of the reader.
//
// The bytes are all that the two share, and who inflates them holds them to the size and checksum of the zip directory.
func (c *Counter) Part(name string) io.WriteCloser {
	if c.book == nil {
		return nil
	}
	p := c.book.byName[name]
	if p == nil || p.shown || p != c.book.strings && c.book.strings != nil && !c.book.strings.done {
		return nil // a sheet can't be counted before the shared strings
	}
	return newBehind(c.book.begin(p))
}

// Sheets counts the sheets that Part was not given to their ends, and gives all in workbook order. Part must not be in use.
func (c *Counter) Sheets(ctx context.Context) ([]Sheet, error) {
	if c.book == nil {
		return c.whole(ctx)
	}
	return c.book.count(ctx)
}

// ReaderAt counts the sheets of a file with nobody's help.
func ReaderAt(ctx context.Context, r io.ReaderAt, size int64, info source.Info, opt source.Options) ([]Sheet, error) {
	c, err := Open(r, size, info, opt)
	if err != nil {
		return nil, err
	}
	return c.Sheets(ctx)
}

// Compare gives an error that names the first sheet whose count differs from what its reader found.
func Compare(counted Sheet, facts source.Facts) error {
	if counted.Rows == facts.Rows && counted.Cells == facts.Cells {
		return nil
	}
	return &DifferenceError{Sheet: counted, Rows: facts.Rows, Cells: facts.Cells}
}

// DifferenceError says that the count and the reader don't agree: one of them is wrong, so neither is trusted.
type DifferenceError struct {
	Sheet       Sheet // as counted
	Rows, Cells int   // as read
}

func (e *DifferenceError) Error() string {
	return "sheet " + quote(e.Sheet.Name) + " was read as " + many(e.Rows, "row") + " and " + many(e.Cells, "cell") + ", but counted as " +
		many(e.Sheet.Rows, "row") + " and " + many(e.Sheet.Cells, "cell")
}

func many(n int, word string) string {
	if n != 1 {
		word += "s"
	}
	return number(n) + " " + word
}

var errNotFound = errors.New("a part of the workbook was not found")
