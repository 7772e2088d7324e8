package office

import (
	"archive/zip"
	"bytes"
	"errors"
	"io"
	"strconv"
	"strings"

	"sheetlift/importers/source"
)

// maxPeek bounds what is read of the part that says what a package is.
const maxPeek = 1 << 20

// IsXLSB reports whether a zip is a binary workbook, by its parts.
func IsXLSB(r io.ReaderAt, size int64) bool {
	z, err := zip.NewReader(r, size)
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		return false
	}
	return bytes.Contains(peek(z, "[Content_Types].xml", maxPeek), []byte("application/vnd.ms-excel.sheet.binary.macroEnabled.main")) || peek(z, "xl/workbook.bin", 1) != nil
}

// peek gives the beginning of a part, nil if it isn't there.
func peek(z *zip.Reader, name string, n int64) []byte {
	for _, f := range z.File {
		if !strings.EqualFold(strings.ReplaceAll(f.Name, `\`, "/"), name) {
			continue
		}
		r, err := f.Open()
		if err != nil {
			return nil
		}
		defer r.Close()
		b, err := io.ReadAll(io.LimitReader(r, n))
		if err != nil {
			return nil
		}
		return b
	}
	return nil
}

// checkPackage holds a package to the limits before LibreOffice unpacks it.
func checkPackage(name string, r io.ReaderAt, size int64, lim source.Limits) error {
	refuse := func(kind error, part, message, remedy string) error {
		return &source.Error{Kind: kind, File: name, Part: part, Message: message, Remedy: remedy}
	}
	const raise = "if the file is genuine, raise the limit (limits in batch.yaml, --limit of cells)"
	z, err := zip.NewReader(r, size)
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		return &source.Error{Kind: source.ErrTruncated, File: name, Message: "its zip directory can't be read", Remedy: "get the file again from its source", Err: err}
	}
	if len(z.File) > lim.Parts {
		return refuse(source.ErrLimit, "", "the zip has "+strconv.Itoa(len(z.File))+" entries, more than the limit of "+strconv.Itoa(lim.Parts), raise+" (parts)")
	}
	var total uint64
	for _, f := range z.File {
		n, packed := f.UncompressedSize64, max(f.CompressedSize64, 1)
		switch {
		case n > uint64(lim.PartBytes):
			return refuse(source.ErrLimit, f.Name, "it declares "+strconv.FormatUint(n, 10)+" bytes, more than the limit of "+strconv.FormatInt(lim.PartBytes, 10), raise+" (part_bytes)")
		case n > 1<<20 && n/packed > uint64(lim.Ratio):
			return refuse(source.ErrLimit, f.Name, "it expands "+strconv.FormatUint(n/packed, 10)+" times, more than the limit of "+strconv.FormatInt(lim.Ratio, 10)+": so do decompression bombs", raise+" (ratio)")
		}
		if total += n; total > uint64(lim.TotalBytes) {
			return refuse(source.ErrLimit, "", "its parts declare more than "+strconv.FormatInt(lim.TotalBytes, 10)+" bytes together", raise+" (total_bytes)")
		}
	}
	return nil
}
