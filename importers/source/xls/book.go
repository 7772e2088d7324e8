// Package xls reads the workbooks of Excel before 2007 (.xls): BIFF8 and BIFF5 in a compound file, and the single sheets of
// BIFF2 to BIFF5 that lie in a file without one, as early versions and simple exports wrote them (MS-XLS; for the older ones
// the documentation of the Excel file format by OpenOffice.org).
//
// It promises that a cell is what the file holds, or the file is refused: all digits of a number, stored results of formulas
// and never a calculated one, cells under a merge too, rows in order even where the file has them in another one. Charts and
// other streams inside a sheet are passed over, as are formatting runs and phonetic text. A version that it does not know is
// source.ErrUnsupported, so that another program can be asked.
//
// Memory grows with the shared strings only, with the number of cells where they are out of order, and with the whole of an
// encrypted file; all are bounded by the size of the file.
package xls

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strconv"

	"golang.org/x/text/encoding"

	"sheetlift/importers/source"
	"sheetlift/importers/source/biff"
	"sheetlift/importers/source/compound"
	"sheetlift/importers/source/numfmt"
)

// Book is an opened workbook.
type Book struct {
	name    string
	r       io.ReaderAt // the stream of records
	size    int64
	lim     source.Limits
	version int               // of BIFF: 2, 3, 4, 5 (7 too) or 8
	charset encoding.Encoding // of byte strings; nil until the file names it
	info    source.Info
	sheets  []sheet
	formats []numfmt.Format // by the number that cells give
	looks   []source.Flags  // the same way; nil before BIFF8
	marks   globalMarks
	sst     int64         // where the shared strings begin; 0 if there are none
	strings *biff.Strings // nil until a sheet is read

	password string
	plain    bool // the records were encrypted, and r holds them decrypted
}

// sheet is one sheet and where its records begin.
type sheet struct {
	info  source.SheetInfo
	pos   int64
	empty bool // a chart or a module: it has no cells
}

// IsStream reports whether a file is such records without a container, by its first bytes.
func IsStream(head []byte) bool {
	if len(head) < recordHead+4 {
		return false
	}
	n := binary.LittleEndian.Uint16(head[2:])
	if !isBOF(binary.LittleEndian.Uint16(head)) || n < 4 || n > 16 {
		return false
	}
	kind := binary.LittleEndian.Uint16(head[recordHead+2:])
	return kind == kindSheet || kind == kindMacro || kind == kindGlobals || kind == kindChart || kind == kindWorkspace
}

// What a BOF record begins.
const (
	kindGlobals   = 0x0005
	kindSheet     = 0x0010
	kindChart     = 0x0020
	kindMacro     = 0x0040
	kindWorkspace = 0x0100
)

// Open opens the workbook in r, whose name is used in messages only.
func Open(ctx context.Context, name string, r io.ReaderAt, size int64, opt source.Options) (*Book, error) {
	b := &Book{name: name, r: r, size: size, lim: opt.Limits.WithDefaults(), password: opt.Password}
	head := make([]byte, min(size, 8))
	if n, err := r.ReadAt(head, 0); n < len(head) {
		e := b.fault(source.ErrUnreadable, "reading failed", "check the disk or the share it lies on")
		e.Err = err
		return nil, e
	}
	if !IsStream(head) {
		if err := b.openContainer(); err != nil {
			return nil, err
		}
	}
	if err := b.readGlobals(ctx, opt.Charset); err != nil {
		return nil, err
	}
	what := "Excel 97 workbook (xls, BIFF8)"
	switch b.version {
	case 5:
		what = "Excel 5.0 workbook (xls, BIFF5)"
	case 2, 3, 4:
		v := strconv.Itoa(b.version)
		what = "Excel " + v + ".0 worksheet (xls, BIFF" + v + ")"
	}
	sheets := "sheets"
	if len(b.sheets) == 1 {
		sheets = "sheet"
	}
	b.info.Format = "xls"
	b.info.Said = fmt.Sprintf("%s, %d %s", what, len(b.sheets), sheets)
	return b, nil
}

// openContainer finds the stream of the workbook. Excel 97 could write two, the older version beside its own.
func (b *Book) openContainer() error {
	f, err := compound.Open(b.r, b.size)
	var s *compound.Stream
	if err == nil {
		s, err = f.Stream("Workbook")
		if errors.Is(err, compound.ErrNoStream) {
			s, err = f.Stream("Book")
		}
	}
	switch {
	case errors.Is(err, compound.ErrNoStream):
		return b.fault(source.ErrUnsupported, "it is an old Office file without a workbook in it", biff.RemedyResave)
	case err != nil:
		e := b.fault(source.ErrTruncated, "it is an old Excel workbook (.xls) of which a part is missing: it is damaged or was cut off", biff.RemedyDamaged)
		e.Err = err
		return e
	}
	b.r, b.size = s, s.Size()
	return nil
}

func (b *Book) fault(kind error, message, remedy string) *source.Error {
	return &source.Error{Kind: kind, File: b.name, Message: message, Remedy: remedy}
}

// Info describes the workbook.
func (b *Book) Info() source.Info { return b.info }

// Sheets lists the sheets in workbook order.
func (b *Book) Sheets() []source.SheetInfo {
	out := make([]source.SheetInfo, len(b.sheets))
	for i, s := range b.sheets {
		out[i] = s.info
	}
	return out
}

// Close lets go of the shared strings.
func (b *Book) Close() error {
	b.strings = nil
	return nil
}

// begin takes a BOF record and gives what begins there.
func (b *Book) begin(rec record) (version, kind int, err error) {
	if !isBOF(rec.id) || len(rec.body) < 4 {
		return 0, 0, b.fault(source.ErrMalformed, "its records don't begin where they should", biff.RemedyDamaged)
	}
	kind = int(binary.LittleEndian.Uint16(rec.body[2:]))
	switch rec.id {
	case recBOF2:
		return 2, kind, nil
	case recBOF3:
		return 3, kind, nil
	case recBOF4:
		return 4, kind, nil
	}
	switch v := binary.LittleEndian.Uint16(rec.body); v {
	case 0x0600:
		return 8, kind, nil
	case 0x0500, 0: // simple exports leave the version out
		return 5, kind, nil
	case 0x0200, 0x0300, 0x0400:
		return int(v >> 8), kind, nil
	}
	return 0, 0, b.fault(source.ErrUnsupported, "it is an Excel workbook (.xls) of a version that isn't known", biff.RemedyResave)
}
