// Package ods reads OpenDocument spreadsheets (ODF 1.0 to 1.3, part "content.xml").
//
// It promises that a cell is what the file holds, or the file is refused: numbers in the file's own digits, dates and times in
// the file's own ISO 8601 text, stored results of formulas and never a calculated one, repeated cells and rows as often as
// they are repeated, cells under a merge too. Comments, shapes and phonetic text are no part of a cell. No document type
// declaration is accepted, so no entity is ever expanded; a spreadsheet protected with a password is refused.
//
// All sheets lie in one part, which is read from its beginning for each of them. Memory does not grow with the file; limits
// hold before it is spent.
package ods

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"sheetlift/importers/source"
	"sheetlift/importers/source/inflate"
)

const (
	remedyDamaged = "get the file again from its source; the copy is incomplete or was changed"
	remedyLimit   = "if the file is genuine, raise the limit (limits in batch.yaml, --limit of cells)"
	remedyResave  = "open it in LibreOffice and save it as Excel workbook (.xlsx)"
	mediaType     = "application/vnd.oasis.opendocument.spreadsheet"
	contentPart   = "content.xml"
	manifestPart  = "META-INF/manifest.xml"
	maxPeek       = 1 << 20 // what is read of the parts that say what a package is
)

// Book is an opened spreadsheet.
type Book struct {
	name   string
	parts  map[string]*zip.File
	lim    source.Limits
	info   source.Info
	sheets []source.SheetInfo
	ends   []int64 // of the sheets: where each ends in the content, or soon after
	styles *styles
	lists  map[string]source.List // by the name of the validation
}

// Recognize reports whether a zip is an OpenDocument spreadsheet, by its mimetype or else its manifest.
func Recognize(r io.ReaderAt, size int64) bool {
	z, err := zip.NewReader(r, size)
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		return false
	}
	b := &Book{parts: map[string]*zip.File{}}
	for _, f := range z.File {
		b.parts[f.Name] = f
	}
	if b.parts[contentPart] == nil {
		return false
	}
	if strings.HasPrefix(string(b.peek("mimetype")), mediaType) {
		return true
	}
	// Tables inside a text have entries too, but only the package's own comes with the path "/".
	for _, entry := range bytes.Split(b.peek(manifestPart), []byte("<")) {
		if bytes.Contains(entry, []byte(`full-path="/"`)) {
			return bytes.Contains(entry, []byte(`media-type="`+mediaType))
		}
	}
	return false
}

// peek gives the beginning of a part, nothing if it isn't there or can't be read.
func (b *Book) peek(part string) []byte {
	f := b.parts[part]
	if f == nil {
		return nil
	}
	r, err := f.Open()
	if err != nil {
		return nil
	}
	defer r.Close()
	raw, err := io.ReadAll(io.LimitReader(r, maxPeek))
	if err != nil {
		return nil
	}
	return raw
}

// Open opens the spreadsheet in r, whose name is used in messages only.
func Open(ctx context.Context, name string, r io.ReaderAt, size int64, opt source.Options) (*Book, error) {
	b := &Book{name: name, lim: opt.Limits.WithDefaults(), lists: map[string]source.List{}, parts: map[string]*zip.File{}}
	z, err := zip.NewReader(r, size)
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		e := b.fault(source.ErrTruncated, "", "its zip directory can't be read", remedyDamaged)
		e.Err = err
		return nil, e
	}
	z.RegisterDecompressor(zip.Deflate, func(r io.Reader) io.ReadCloser { return io.NopCloser(inflate.NewReader(r, 0)) })
	if err := b.checkParts(z); err != nil {
		return nil, err
	}
	// ODF 1.2 part 3, 3.8.2 protects the parts one by one; later versions can wrap the whole package.
	if bytes.Contains(b.peek(manifestPart), []byte("encryption-data")) || b.parts["encrypted-package"] != nil {
		return nil, b.fault(source.ErrEncrypted, "", "the spreadsheet is protected with a password, and in this format passwords aren't read",
			"open it in LibreOffice and save it as .xlsx; that format is read with its password too")
	}
	b.styles = newStyles()
	if b.parts["styles.xml"] != nil {
		if err := b.scanStyles(ctx); err != nil {
			return nil, err
		}
	}
	if err := b.listSheets(ctx); err != nil {
		return nil, err
	}
	sheets := "sheets"
	if len(b.sheets) == 1 {
		sheets = "sheet"
	}
	b.info = source.Info{Format: "ods", Said: fmt.Sprintf("OpenDocument spreadsheet (ods), %d %s", len(b.sheets), sheets), SavedBy: b.generator()}
	return b, nil
}

// checkParts holds what the zip directory declares to the limits.
func (b *Book) checkParts(z *zip.Reader) error {
	if len(z.File) > b.lim.Parts {
		return b.fault(source.ErrLimit, "", "the zip has "+strconv.Itoa(len(z.File))+" entries, more than the limit of "+strconv.Itoa(b.lim.Parts), remedyLimit+" (parts)")
	}
	var total int64
	for _, f := range z.File {
		if strings.HasSuffix(f.Name, "/") {
			continue
		}
		if b.parts[f.Name] != nil {
			return b.fault(source.ErrMalformed, f.Name, "the zip has two entries of this name; which one counts would be a guess", remedyResave)
		}
		b.parts[f.Name] = f
		n := int64(min(f.UncompressedSize64, 1<<62))
		ratio := n / int64(max(min(f.CompressedSize64, 1<<62), 1))
		switch {
		case f.Flags&1 != 0:
			return b.fault(source.ErrEncrypted, f.Name, "the zip entry itself is encrypted", "unpack it with its password and pack it again, or ask for an unprotected export")
		case n > b.lim.PartBytes:
			return b.fault(source.ErrLimit, f.Name, "it declares "+strconv.FormatInt(n, 10)+" bytes, more than the limit of "+strconv.FormatInt(b.lim.PartBytes, 10), remedyLimit+" (part_bytes)")
		case n > 1<<20 && ratio > b.lim.Ratio:
			return b.fault(source.ErrLimit, f.Name, "it expands "+strconv.FormatInt(ratio, 10)+" times, more than the limit of "+strconv.FormatInt(b.lim.Ratio, 10)+": so do decompression bombs", remedyLimit+" (ratio)")
		case total > b.lim.TotalBytes-n:
			return b.fault(source.ErrLimit, "", "its parts declare more than "+strconv.FormatInt(b.lim.TotalBytes, 10)+" bytes together", remedyLimit+" (total_bytes)")
		}
		total += n
	}
	if b.parts[contentPart] == nil {
		return b.fault(source.ErrMalformed, contentPart, "the part that holds the sheets is missing", remedyDamaged)
	}
	return nil
}

// generator is the program named in meta.xml.
func (b *Book) generator() string {
	var meta struct {
		Generator string `xml:"meta>generator"`
	}
	if xml.Unmarshal(b.peek("meta.xml"), &meta) != nil {
		return ""
	}
	return strings.TrimSpace(meta.Generator)
}

// Info describes the spreadsheet.
func (b *Book) Info() source.Info { return b.info }

// Sheets lists the sheets in order.
func (b *Book) Sheets() []source.SheetInfo { return append([]source.SheetInfo(nil), b.sheets...) }

// Close has nothing to let go of.
func (b *Book) Close() error { return nil }

func (b *Book) fault(kind error, part, message, remedy string) *source.Error {
	return &source.Error{Kind: kind, File: b.name, Part: part, Message: message, Remedy: remedy}
}

// listSheets reads the whole of the content once, so that a file that can't be read to its end is refused before its first cell.
func (b *Book) listSheets(ctx context.Context) error {
	w, err := b.walk(ctx, contentPart)
	if err != nil {
		return err
	}
	defer w.close()
	names := map[string]bool{}
	found := false
	for {
		t, err := w.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		e, ok := t.(xml.StartElement)
		if !ok {
			continue
		}
		switch {
		case w.inStyles():
			b.styles.take(&e)
		case e.Name == xml.Name{Space: nsTable, Local: "content-validation"}:
			if l, ok := listOf(attr(&e, nsTable, "condition")); ok && len(b.lists) < source.MarksKept {
				b.lists[attr(&e, nsTable, "name")] = l
			}
		case w.path("document-content", "body", "spreadsheet"):
			found = true
		case w.path("document-content", "body", "spreadsheet", "table"):
			s := source.SheetInfo{Name: attr(&e, nsTable, "name"), Visibility: source.Visible, Kind: source.Worksheet}
			if b.styles.hidden[attr(&e, nsTable, "style-name")] {
				s.Visibility = source.Hidden
			}
			if names[s.Name] {
				return b.fault(source.ErrMalformed, contentPart, "two sheets have the same name", remedyResave)
			}
			names[s.Name] = true
			if len(b.sheets) > 0 {
				b.ends = append(b.ends, w.dec.InputOffset())
			}
			b.sheets = append(b.sheets, s)
		}
	}
	b.ends = append(b.ends, w.dec.InputOffset())
	if !found {
		return b.fault(source.ErrMalformed, contentPart, "it holds no spreadsheet", remedyDamaged)
	}
	return nil
}
