// Package count counts the rows and non-empty cells of a file a second time, by a deliberately simple method that shares no
// parsing code with the readers: workbooks are cut at each "<", text is read character by character. A reader that loses
// cells without an error is found out by the difference.
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

// ReaderAt counts the sheets of size bytes of r, of which a reader has said what they are. The sheets come in workbook
// order. Options need the password only.
func ReaderAt(ctx context.Context, r io.ReaderAt, size int64, info source.Info, opt source.Options) ([]Sheet, error) {
	if info.Format != "xlsx" {
		s, err := text(ctx, io.NewSectionReader(r, 0, size), info)
		return []Sheet{s}, err
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
	return workbook(ctx, r, size)
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
	return "sheet " + quote(e.Sheet.Name) + " was read as " + number(e.Rows) + " rows and " + number(e.Cells) + " cells, but counted as " +
		number(e.Sheet.Rows) + " rows and " + number(e.Sheet.Cells) + " cells"
}

var errNotFound = errors.New("a part of the workbook was not found")
