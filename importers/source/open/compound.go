package open

import (
	"errors"
	"io"

	"sheetlift/importers/source"
	"sheetlift/importers/source/compound"
)

// errOldWorkbook says that a compound file is a workbook of its own kind, which package xls reads.
var errOldWorkbook = errors.New("old workbook (.xls)")

// sniffCompound says what a compound file (MS-CFB) is: a refusal, or errOldWorkbook.
func sniffCompound(name string, r io.ReaderAt, size int64) error {
	f, err := compound.Open(r, size)
	if err != nil {
		e := refuse(source.ErrTruncated, name, "it begins as an old Office file, but its directory can't be read: it is damaged or was cut off", "get the file again from its source")
		e.Err = err
		return e
	}
	switch {
	case f.Has("EncryptedPackage") || f.Has("EncryptionInfo"):
		return refuse(source.ErrEncrypted, name, "the workbook is protected with a password", "give the password in the environment variable SHEETLIFT_PASSWORD (cells also takes --password-file FILE), or save the workbook without one")
	case f.Has("Workbook"), f.Has("Book"):
		return errOldWorkbook
	case f.Has("WordDocument"):
		return refuse(source.ErrUnsupported, name, "it is an old Word document (.doc)", remedyExport)
	case f.Has("PowerPoint Document"):
		return refuse(source.ErrUnsupported, name, "it is an old PowerPoint presentation (.ppt)", remedyExport)
	case f.Has("__properties_version1.0"):
		return refuse(source.ErrUnsupported, name, "it is an Outlook message (.msg)", "save its attachment")
	}
	return refuse(source.ErrUnsupported, name, "it is an old Office file without a workbook in it", remedyExport)
}
