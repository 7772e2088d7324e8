// Package xlsx reads Office Open XML workbooks: a streaming reader of our own.
//
// It promises that a cell is what the file holds, or the file is refused. Parts are found as ECMA-376 says, through content
// types and relationships, and what Excel forgives in their names is forgiven here; a zip entry, row or cell that is there
// twice, a reference to what is missing, undecodable text, XML that is not well-formed are refused with their place, because
// any answer would be a guess. No document type declaration is accepted, so no entity is ever expanded.
//
// A sheet is inflated on one goroutine into recycled buffers and scanned on the caller's; no cell costs an allocation, and
// memory grows with the shared strings only. Limits hold before memory is spent.
package xlsx

import (
	"context"
	"fmt"
	"io"
	"strings"

	"sheetlift/importers/source"
)

// Book is an opened workbook.
type Book struct {
	a        *archive
	info     source.Info
	workbook *workbook
	styles   []format
	strings  *arena // nil until a sheet is read
}

// Open opens the workbook in r, whose name is used in messages only.
func Open(ctx context.Context, name string, r io.ReaderAt, size int64, opt source.Options) (*Book, error) {
	a, err := openArchive(name, r, size, opt.Limits.WithDefaults())
	if err != nil {
		return nil, err
	}
	a.parts = opt.Parts
	types, err := a.contentTypes(ctx)
	if err != nil {
		return nil, err
	}
	part, err := a.workbookPart(ctx, types)
	if err != nil {
		return nil, err
	}
	b := &Book{a: a}
	if b.workbook, err = a.readWorkbook(ctx, part, types); err != nil {
		return nil, err
	}
	// What the sheets declare is checked now, so that a file that can't be read to its end is refused before its first cell.
	for _, s := range b.workbook.sheets {
		if err := a.claim(s.part); err != nil {
			return nil, err
		}
	}
	if b.workbook.strings >= 0 {
		if err := a.claim(b.workbook.strings); err != nil {
			return nil, err
		}
	}
	if b.workbook.styles >= 0 {
		if b.styles, err = a.readStyles(ctx, b.workbook.styles); err != nil {
			return nil, err
		}
	}
	what := "Excel workbook (xlsx)"
	switch t := types.of(&a.entries[part]); {
	case strings.Contains(t, "macroEnabled"):
		what = "Excel workbook with macros (xlsm)"
	case strings.Contains(t, "template"):
		what = "Excel template (xltx)"
	}
	sheets := "sheets"
	if len(b.workbook.sheets) == 1 {
		sheets = "sheet"
	}
	b.info = source.Info{
		Format:   "xlsx",
		Said:     fmt.Sprintf("%s, %d %s", what, len(b.workbook.sheets), sheets),
		Date1904: b.workbook.date1904,
	}
	name, version := a.application(ctx)
	b.info.SavedBy, b.info.NotBy = name, notBy(name, version, b.workbook.theme)
	return b, nil
}

// Info describes the workbook.
func (b *Book) Info() source.Info { return b.info }

// Sheets lists the sheets in workbook order.
func (b *Book) Sheets() []source.SheetInfo {
	out := make([]source.SheetInfo, len(b.workbook.sheets))
	for i, s := range b.workbook.sheets {
		out[i] = s.info
	}
	return out
}

// Read starts reading sheet i. The shared strings are read before the first one.
func (b *Book) Read(ctx context.Context, i int) (source.Reader, error) {
	if i < 0 || i >= len(b.workbook.sheets) {
		return nil, fmt.Errorf("sheet %d of %d", i, len(b.workbook.sheets))
	}
	if b.strings == nil {
		s := &arena{}
		if b.workbook.strings >= 0 {
			var err error
			if s, err = b.a.readStrings(ctx, b.workbook.strings); err != nil {
				return nil, err
			}
		}
		b.strings = s
	}
	return b.newSheetReader(ctx, i)
}

// Close lets go of the shared strings.
func (b *Book) Close() error {
	b.strings = nil
	return nil
}
