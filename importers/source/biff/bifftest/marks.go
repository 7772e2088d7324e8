package bifftest

import (
	"context"
	"errors"
	"io"

	"sheetlift/importers/source"
)

// MarksOf reads the first sheet of a workbook and gives its marks, and the look of each cell.
func MarksOf(b source.Book) (source.Marks, map[string]int, error) {
	r, err := b.Read(context.Background(), 0)
	if err != nil {
		return source.Marks{}, nil, err
	}
	looks := map[string]int{}
	for {
		k, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return source.Marks{}, nil, err
		}
		for i, row := range k.RowNum {
			for col := range k.Cols {
				if c := k.Cell(col, i); c.Kind != source.Empty {
					looks[source.Ref(col, row)] = c.Flags.Look()
				}
			}
		}
	}
	return source.MarksOf(context.Background(), r), looks, nil
}
