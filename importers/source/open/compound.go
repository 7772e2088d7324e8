package open

import (
	"encoding/binary"
	"errors"
	"io"
	"strings"
	"unicode/utf16"

	"sheetlift/importers/source"
)

// maxDirectory bounds the sectors of a compound file's directory that are looked at.
const maxDirectory = 4096

// errOldWorkbook says that a compound file is a workbook of its own kind, which another program may convert.
var errOldWorkbook = errors.New("old workbook (.xls)")

// sniffCompound says what a compound file (MS-CFB) is: a refusal, or errOldWorkbook.
func sniffCompound(name string, r io.ReaderAt, size int64) error {
	names, err := streamNames(r, size)
	if err != nil {
		e := refuse(source.ErrTruncated, name, "it begins as an old Office file, but its directory can't be read: it is damaged or was cut off", "get the file again from its source")
		e.Err = err
		return e
	}
	has := func(s string) bool { return names[strings.ToLower(s)] }
	switch {
	case has("EncryptedPackage") || has("EncryptionInfo"):
		return refuse(source.ErrEncrypted, name, "the workbook is protected with a password", "give the password in the environment variable SHEETLIFT_PASSWORD (cells also takes --password-file FILE), or save the workbook without one")
	case has("Workbook"), has("Book"):
		return errOldWorkbook
	case has("WordDocument"):
		return refuse(source.ErrUnsupported, name, "it is an old Word document (.doc)", remedyExport)
	case has("PowerPoint Document"):
		return refuse(source.ErrUnsupported, name, "it is an old PowerPoint presentation (.ppt)", remedyExport)
	case has("__properties_version1.0"):
		return refuse(source.ErrUnsupported, name, "it is an Outlook message (.msg)", "save its attachment")
	}
	return refuse(source.ErrUnsupported, name, "it is an old Office file without a workbook in it", remedyExport)
}

// streamNames reads the names in a compound file's directory (MS-CFB 2.6), in lower case.
func streamNames(r io.ReaderAt, size int64) (map[string]bool, error) {
	var head [512]byte
	if _, err := r.ReadAt(head[:], 0); err != nil {
		return nil, err
	}
	shift := binary.LittleEndian.Uint16(head[30:])
	if shift != 9 && shift != 12 {
		return nil, errors.New("unknown sector size")
	}
	sector := int64(1) << shift
	buf := make([]byte, sector)
	read := func(id uint32) error {
		off := (int64(id) + 1) << shift
		if off >= size {
			return io.ErrUnexpectedEOF
		}
		n, err := r.ReadAt(buf, off)
		clear(buf[n:])
		if n > 0 {
			return nil // the last sector may be short
		}
		return err
	}
	names := map[string]bool{}
	id := binary.LittleEndian.Uint32(head[48:])
	for n := 0; id < 0xfffffffa; n++ {
		if n == maxDirectory {
			return nil, errors.New("the directory does not end")
		}
		if err := read(id); err != nil {
			return nil, err
		}
		for e := buf; len(e) >= 128; e = e[128:] {
			if length := int(binary.LittleEndian.Uint16(e[64:])); length >= 2 && length <= 64 && e[66] != 0 {
				u := make([]uint16, length/2-1)
				for i := range u {
					u[i] = binary.LittleEndian.Uint16(e[2*i:])
				}
				names[strings.ToLower(string(utf16.Decode(u)))] = true
			}
		}
		next, err := nextSector(r, head[:], id, sector)
		if err != nil {
			return nil, err
		}
		id = next
	}
	return names, nil
}

// nextSector follows the allocation table. Directories lie in the first part of it, which the header lists; one that goes
// on beyond is taken to end there.
func nextSector(r io.ReaderAt, head []byte, id uint32, sector int64) (uint32, error) {
	per := uint32(sector / 4)
	index := id / per
	if index >= 109 {
		return 0xfffffffe, nil
	}
	table := binary.LittleEndian.Uint32(head[76+4*index:])
	if table >= 0xfffffffa {
		return 0, errors.New("the allocation table is cut")
	}
	var b [4]byte
	if _, err := r.ReadAt(b[:], (int64(table)+1)*sector+int64(id%per)*4); err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint32(b[:]), nil
}
