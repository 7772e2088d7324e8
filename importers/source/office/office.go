// Package office reads .xls and .xlsb of kinds that packages xls and xlsb don't know through LibreOffice: it converts a private
// copy to .xlsx and reads that with the reader of package xlsx.
//
// It promises that a conversion leaves nothing behind and disturbs nothing: profile, copy and result lie in a new folder that
// only the user may enter, and which is gone when Open returns; two conversions share nothing; what LibreOffice starts ends
// with it, in a set time. The document gets no network (a name space without one where the system allows it), no macros, no
// links to other files, no recalculation. The book says in Info.Conversion what converted it, and both digests.
//
// It refuses what LibreOffice does not read, files protected with a password, and everything when LibreOffice is not there.
// The digests tie the result to a version of LibreOffice; what that version makes of a cell is beyond this package.
// docs/decisions/0006-old-formats-through-libreoffice.md and 0009-old-formats-by-ourselves.md tell what is known of it.
package office

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"sheetlift/importers/source"
	"sheetlift/importers/source/compound"
	"sheetlift/importers/source/xlsx"
)

// Format is a format that LibreOffice converts. Its value is the usual extension, without the dot.
type Format string

// The formats.
const (
	XLS  Format = "xls"  // BIFF, in a compound file or without
	XLSB Format = "xlsb" // MS-XLSB
)

// said is the format in plain words.
func (f Format) said() (article, words string) {
	if f == XLSB {
		return "a", "binary Excel workbook (.xlsb)"
	}
	return "an", "old Excel workbook (.xls)"
}

// filter is LibreOffice's name for the format. Told none, it looks at the bytes and takes what it doesn't know for text.
func (f Format) filter() string {
	if f == XLSB {
		return "Calc MS Excel 2007 Binary"
	}
	return "MS Excel 97" // reads the older ones too
}

// Book is a converted workbook.
type Book struct {
	*xlsx.Book
	info source.Info
	file *os.File // the converted workbook, which has no name any more
	size int64
}

// Open converts size bytes of r, which hold the format, and opens the result. The file's name is used in messages only.
func Open(ctx context.Context, name string, format Format, r io.ReaderAt, size int64, opt source.Options) (*Book, error) {
	lim := opt.Limits.WithDefaults()
	if format == XLSB {
		if err := checkPackage(name, r, size, lim); err != nil {
			return nil, err
		}
	}
	if format == XLS {
		if err := whole(r, size); err != nil {
			return nil, &source.Error{Kind: source.ErrTruncated, File: name, Message: "it is an old Excel workbook (.xls) of which a part is missing: it is damaged or was cut off", Remedy: "get the file again from its source", Err: err}
		}
	}
	f, done, err := convert(ctx, job{name: name, format: format, r: r, size: size, limits: lim})
	if err != nil {
		return nil, err
	}
	b, err := open(ctx, name, format, f, opt)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	b.info.Conversion = done
	_, words := format.said()
	sheets := "sheets"
	if len(b.Sheets()) == 1 {
		sheets = "sheet"
	}
	b.info.Said = fmt.Sprintf("%s, %d %s, converted by %s %s", words, len(b.Sheets()), sheets, done.Tool, done.Version)
	return b, nil
}

// whole gives an error unless all of the workbook's stream is there. LibreOffice takes what it gets of a cut one.
func whole(r io.ReaderAt, size int64) error {
	head := make([]byte, 4)
	if n, _ := r.ReadAt(head, 0); n == len(head) && string(head) != "\xd0\xcf\x11\xe0" {
		return nil // a stream without a container
	}
	f, err := compound.Open(r, size)
	if err != nil {
		return err
	}
	if _, err = f.Stream("Workbook"); errors.Is(err, compound.ErrNoStream) {
		_, err = f.Stream("Book")
	}
	return err
}

func open(ctx context.Context, name string, format Format, f *os.File, opt source.Options) (*Book, error) {
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	inner, err := xlsx.Open(ctx, name, f, st.Size(), opt)
	if err != nil {
		return nil, err
	}
	b := &Book{Book: inner, info: inner.Info(), file: f, size: st.Size()}
	b.info.Format = string(format)
	b.info.SavedBy = "" // what it says there now is LibreOffice
	return b, nil
}

// Info describes the file, and how it was converted.
func (b *Book) Info() source.Info { return b.info }

// Workbook gives the converted workbook, for as long as the book is open.
func (b *Book) Workbook() (io.ReaderAt, int64) { return b.file, b.size }

// Close lets go of the converted workbook.
func (b *Book) Close() error { return errors.Join(b.Book.Close(), b.file.Close()) }
