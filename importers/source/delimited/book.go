// Package delimited reads CSV and its kin: text whose records are lines and whose fields are separated by one character.
//
// It promises that every field is what the file holds: nothing is trimmed, quoted line ends stay as they are, records may
// have any number of fields, and the bytes of each record are kept. Text is UTF-8, held to it strictly, or UTF-16; any
// other encoding must be declared, because a wrong guess changes names without an error. A quoted field without an end is
// refused with its line, because everything after it could belong to it.
package delimited

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"sheetlift/importers/source"
)

// sampleBytes is what detection looks at.
const sampleBytes = 256 << 10

// Book is an opened text file: a book of one sheet, named as the file without its extension.
type Book struct {
	name      string
	r         io.ReaderAt
	size      int64
	lim       source.Limits
	info      source.Info
	charset   charset
	skip      int64 // bytes of the byte order mark
	sep       int   // decoded bytes of a sep= line
	delimiter byte
}

func fault(kind error, file, message, remedy string) *source.Error {
	return &source.Error{Kind: kind, File: file, Message: message, Remedy: remedy}
}

const remedyCharset = "if it is windows-1252 (Western European), say so: --charset windows-1252, or charset: windows-1252 in batch.yaml; otherwise save it as UTF-8"

// Open opens the text in r; name is used for messages and the sheet's name only.
func Open(ctx context.Context, name string, r io.ReaderAt, size int64, opt source.Options) (*Book, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	b := &Book{name: name, r: r, size: size, lim: opt.Limits.WithDefaults()}
	head := make([]byte, min(size, sampleBytes))
	if n, err := r.ReadAt(head, 0); n < len(head) {
		f := fault(source.ErrTruncated, name, "reading failed", "check the disk or the share it lies on")
		f.Err = err
		return nil, f
	}
	if err := b.decide(head, opt.Charset); err != nil {
		return nil, err
	}
	whole := int64(len(head)) == size
	sample, _ := b.charset.decode(nil, head[b.skip:], whole)
	if len(sample) == 0 {
		return nil, fault(source.ErrEmpty, name, "the file holds nothing but a byte order mark", "export it again")
	}
	if err := b.checkSample(sample, whole); err != nil {
		return nil, err
	}
	sep, length, said := sepLine(sample)
	if said {
		b.sep = length
	}
	switch {
	case opt.Delimiter != "":
		d := opt.Delimiter
		if d == `\t` || strings.EqualFold(d, "tab") {
			d = "\t"
		}
		if len(d) != 1 || d[0] >= 0x80 || d == "\"" || d == "\n" || d == "\r" {
			return nil, fault(source.ErrUnsupported, name, "the declared delimiter is not one plain character", "declare one of , ; | or tab")
		}
		b.delimiter = d[0]
	case said:
		b.delimiter = sep
	default:
		b.delimiter = detectDelimiter(sample, whole)
	}
	b.describe(sample, said)
	return b, nil
}

// decide settles the charset.
func (b *Book) decide(head []byte, declared string) error {
	found, skip := sniffCharset(head)
	b.charset, b.skip = found, int64(skip)
	b.info.BOM = skip > 0
	if declared != "" {
		want, ok := parseCharset(declared)
		if strings.EqualFold(declared, "utf-16") && (found == utf16LE || found == utf16BE) {
			want, ok = found, true
		}
		if !ok {
			return fault(source.ErrCharset, b.name, "the declared charset is not one that is read", "declare utf-8, utf-16le, utf-16be or windows-1252, or save the file as UTF-8")
		}
		if skip > 0 && want != found {
			return fault(source.ErrCharset, b.name, "it is declared as "+string(want)+" but begins with the byte order mark of "+string(found), "declare "+string(found)+", or nothing")
		}
		b.charset = want
	}
	if b.charset == utf32Text {
		return fault(source.ErrCharset, b.name, "it is encoded as UTF-32", "save it as UTF-8")
	}
	return nil
}

// checkSample refuses undecodable text at once where it can be seen at once.
func (b *Book) checkSample(sample []byte, whole bool) error {
	at := invalidAt(sample)
	if at < 0 || !whole && at > len(sample)-utf8.UTFMax && b.charset == utf8Text {
		return nil // valid, or a character that the sample's end cuts
	}
	return b.undecodable(1 + countLines(sample[:at]))
}

func (b *Book) undecodable(line int) error {
	f := fault(source.ErrCharset, b.name, "the text is not valid "+strings.ToUpper(string(b.charset)), remedyCharset)
	if b.charset != utf8Text {
		f.Remedy = "get the file again from its source; it was cut or changed"
	}
	f.Line = line
	return f
}

// invalidAt gives the offset of the first byte that is no valid UTF-8, or -1.
func invalidAt(b []byte) int {
	if utf8.Valid(b) {
		return -1
	}
	for i := 0; i < len(b); {
		r, n := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return -1
}

func (b *Book) describe(sample []byte, said bool) {
	words := map[byte]string{',': "comma-separated", ';': "semicolon-separated", '\t': "tab-separated", '|': "bar-separated"}
	how, ok := words[b.delimiter]
	if !ok {
		how = fmt.Sprintf("separated by %q", b.delimiter)
	}
	b.info.Format = "csv"
	b.info.Charset = string(b.charset)
	b.info.Delimiter = string(rune(b.delimiter))
	b.info.LineEnds = lineEnds(sample)
	b.info.SepLine = said
	b.info.Said = "text, " + how + ", " + strings.ToUpper(string(b.charset))
	if b.charset == windows1252 {
		b.info.Said = "text, " + how + ", " + string(b.charset)
	}
	if b.info.BOM {
		b.info.Said += " with byte order mark"
	}
}

// Info describes the file.
func (b *Book) Info() source.Info { return b.info }

// Sheets gives the one sheet.
func (b *Book) Sheets() []source.SheetInfo {
	base := filepath.Base(b.name)
	return []source.SheetInfo{{Name: strings.TrimSuffix(base, filepath.Ext(base)), Visibility: source.Visible, Kind: source.Worksheet}}
}

// Read starts reading.
func (b *Book) Read(ctx context.Context, i int) (source.Reader, error) {
	if i != 0 {
		return nil, fmt.Errorf("sheet %d of 1", i)
	}
	return readAhead(newReader(ctx, b)), nil
}

// Close has nothing to do.
func (b *Book) Close() error { return nil }
