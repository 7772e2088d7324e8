package pipeline

import (
	"context"
	"errors"
	"io"
	"strings"

	"sheetlift/importers/source"
)

// listReader finds the values that data validations allow. They may be about people: who asks for them must not show them.
type listReader struct {
	book source.Book
	kept map[listCells][]string
}

type listCells struct {
	sheet int
	cells source.Range
}

// values gives the values of a list of sheet i; ok is false if the file doesn't tell them all. No reader of the book may be open.
func (r *listReader) values(ctx context.Context, i int, l *source.List) (values []string, ok bool, err error) {
	switch {
	case l.Opaque:
		return nil, false, nil
	case !l.Refers:
		return l.Values, len(l.Values) > 0 && len(l.Values) < source.ListKept, nil
	}
	at := listCells{i, l.Cells}
	if l.Sheet != "" {
		at.sheet = -1
		for n, s := range r.book.Sheets() {
			if strings.EqualFold(s.Name, l.Sheet) {
				at.sheet = n
			}
		}
		if at.sheet < 0 {
			return nil, false, nil // of another file, or gone
		}
	}
	values, read := r.kept[at]
	if !read {
		if values, err = r.read(ctx, at); err != nil {
			return nil, false, err
		}
		if r.kept == nil {
			r.kept = map[listCells][]string{}
		}
		r.kept[at] = values
	}
	return values, len(values) > 0 && len(values) < source.ListKept, nil
}

func (r *listReader) read(ctx context.Context, at listCells) ([]string, error) {
	rd, err := r.book.Read(ctx, at.sheet)
	if err != nil {
		return nil, err
	}
	defer rd.Close()
	var values []string
	for {
		b, err := rd.Next()
		if errors.Is(err, io.EOF) {
			return values, nil
		}
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, err
		}
		for i, row := range b.RowNum {
			if row < at.cells.FirstRow || row > at.cells.LastRow {
				continue
			}
			for col := at.cells.FirstCol; col <= min(at.cells.LastCol, len(b.Cols)-1); col++ {
				if v := cellText(b, col, i); v != "" {
					values = append(values, v)
				}
			}
		}
		if b.RowNum[0] > at.cells.LastRow || len(values) >= source.ListKept {
			return values, nil
		}
	}
}
