// Package open opens a file as a source.Book: it looks at the bytes, never trusts the name, and says in plain words what the
// file is.
//
// It promises a refusal with a remedy for everything that can't be read: empty files, web pages, lock files of office
// programs, documents, archives, encrypted workbooks without a password; old workbooks of kinds that only LibreOffice reads
// where it is not installed. It holds the file's size limit and leaves the other limits to the readers of the formats.
package open

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/xuri/excelize/v2"

	"sheetlift/importers/source"
	"sheetlift/importers/source/delimited"
	"sheetlift/importers/source/ods"
	"sheetlift/importers/source/office"
	"sheetlift/importers/source/xls"
	"sheetlift/importers/source/xlsb"
	"sheetlift/importers/source/xlsx"
)

// File opens the file at path. Closing the book closes the file.
func File(ctx context.Context, path string, opt source.Options) (source.Book, error) {
	// Opening a pipe waits for somebody to write to it, and nothing ends that.
	if st, err := os.Stat(path); err == nil && !st.Mode().IsRegular() && !st.IsDir() {
		return nil, refuse(source.ErrUnsupported, path, "it is no regular file", "copy its content to a file first")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, notOpened(path, err)
	}
	info, err := f.Stat()
	switch {
	case err != nil:
		err = notOpened(path, err)
	case info.IsDir():
		err = refuse(source.ErrUnsupported, path, "it is a folder", "name a file in it")
	case !info.Mode().IsRegular():
		err = refuse(source.ErrUnsupported, path, "it is no regular file", "copy its content to a file first")
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	b, err := ReaderAt(ctx, path, f, info.Size(), opt)
	if err != nil {
		f.Close()
		return nil, err
	}
	return &fileBook{Book: b, f: f}, nil
}

// notOpened keeps the operating system's words.
func notOpened(path string, err error) error {
	e := refuse(source.ErrUnreadable, path, "it can't be opened", "check the path and its permissions")
	var p *fs.PathError
	if errors.As(err, &p) {
		e.Message += ": " + p.Err.Error()
	}
	e.Err = err
	return e
}

// fileBook closes its file.
type fileBook struct {
	source.Book
	f *os.File
}

func (b *fileBook) Close() error { return errors.Join(b.Book.Close(), b.f.Close()) }

// ReaderAt opens size bytes of r, which must stay open as long as the book: so a frozen file can be read through the same
// descriptor that its digest was checked on. name is used in messages, as the sheet name of text files, and to tell text
// that was meant to be a workbook.
func ReaderAt(ctx context.Context, name string, r io.ReaderAt, size int64, opt source.Options) (source.Book, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	lim := opt.Limits.WithDefaults()
	if size > lim.FileBytes {
		return nil, refuse(source.ErrLimit, name, "the file is larger than the limit", "if it is genuine, raise the limit (limits in batch.yaml, --limit of cells) (file_bytes)")
	}
	head := make([]byte, min(size, headBytes))
	if n, err := r.ReadAt(head, 0); n < len(head) {
		e := refuse(source.ErrUnreadable, name, "reading failed", "check the disk or the share it lies on")
		e.Err = err
		return nil, e
	}
	switch kind, e := sniff(name, head, size); {
	case e != nil:
		return nil, e
	case kind == packageZip:
		return openPackage(ctx, name, r, size, opt)
	case kind == ole:
		return openCompound(ctx, name, r, size, opt)
	case kind == stream:
		return openOld(ctx, name, r, size, opt)
	}
	return book(delimited.Open(ctx, name, r, size, opt))
}

// book keeps a nil pointer from becoming a non-nil Book.
func book[B source.Book](b B, err error) (source.Book, error) {
	if err != nil {
		return nil, err
	}
	return b, nil
}

// openPackage opens a workbook of Office Open XML, an OpenDocument spreadsheet, or a binary workbook.
func openPackage(ctx context.Context, name string, r io.ReaderAt, size int64, opt source.Options) (source.Book, error) {
	b, err := xlsx.Open(ctx, name, r, size, opt)
	switch {
	case !errors.Is(err, source.ErrUnsupported):
		return book(b, err)
	case ods.Recognize(r, size):
		return book(ods.Open(ctx, name, r, size, opt))
	case office.IsXLSB(r, size):
		return openBinary(ctx, name, r, size, opt)
	}
	return nil, err
}

// openBinary opens a binary workbook, and has it converted if it is of a kind that we don't read.
func openBinary(ctx context.Context, name string, r io.ReaderAt, size int64, opt source.Options) (source.Book, error) {
	b, err := xlsb.Open(ctx, name, r, size, opt)
	if errors.Is(err, source.ErrUnsupported) {
		return book(office.Open(ctx, name, office.XLSB, r, size, opt))
	}
	return book(b, err)
}

// openOld opens an old workbook, and has it converted if it is of a version that we don't read.
func openOld(ctx context.Context, name string, r io.ReaderAt, size int64, opt source.Options) (source.Book, error) {
	b, err := xls.Open(ctx, name, r, size, opt)
	if errors.Is(err, source.ErrUnsupported) {
		return book(office.Open(ctx, name, office.XLS, r, size, opt))
	}
	return book(b, err)
}

// openCompound opens an encrypted workbook with its password, and an old one; every other compound file is
// refused.
func openCompound(ctx context.Context, name string, r io.ReaderAt, size int64, opt source.Options) (source.Book, error) {
	e := sniffCompound(name, r, size)
	if errors.Is(e, errOldWorkbook) {
		return openOld(ctx, name, r, size, opt)
	}
	if !errors.Is(e, source.ErrEncrypted) || opt.Password == "" {
		return nil, e
	}
	raw := make([]byte, size)
	if n, err := r.ReadAt(raw, 0); int64(n) < size {
		e := refuse(source.ErrUnreadable, name, "reading failed", "check the disk or the share it lies on")
		e.Err = err
		return nil, e
	}
	plain, err := decrypt(raw, opt.Password)
	if err != nil && !errors.Is(err, excelize.ErrWorkbookPassword) {
		e := refuse(source.ErrEncrypted, name, "the encrypted workbook can't be decrypted: it is damaged, or encrypted in a way that isn't read", "open it in Excel and save it without a password")
		e.Err = err
		return nil, e
	}
	if err != nil || !bytes.HasPrefix(plain, []byte("PK")) {
		e := refuse(source.ErrEncrypted, name, "the password does not open the workbook", "check the password, or ask for an export without one")
		e.Err = err
		return nil, e
	}
	return openPackage(ctx, name, bytes.NewReader(plain), int64(len(plain)), opt)
}

// decrypt opens the agile or standard encryption of ECMA-376 (MS-OFFCRYPTO). The library panics on some damaged files.
func decrypt(raw []byte, password string) (plain []byte, err error) {
	defer func() {
		if recover() != nil {
			err = errors.New("the encrypted package is damaged")
		}
	}()
	return excelize.Decrypt(raw, &excelize.Options{Password: password})
}

func refuse(kind error, file, message, remedy string) *source.Error {
	return &source.Error{Kind: kind, File: file, Message: message, Remedy: remedy}
}
