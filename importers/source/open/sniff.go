package open

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"unicode/utf16"

	"sheetlift/importers/source"
	"sheetlift/importers/source/xls"
)

// headBytes is what sniffing looks at.
const headBytes = 8 << 10

// what a file can be opened as.
type container uint8

const (
	text       container = iota
	packageZip           // a zip: the reader of workbooks says if it is none
	ole                  // a compound file: an encrypted workbook, or an old document
	stream               // the records of an old workbook without a container
)

const (
	remedyExport = "export the table as Excel workbook (.xlsx) or CSV"
	remedySave   = "open it in Excel or LibreOffice and save it as Excel workbook (.xlsx)"
)

// magics are formats known by their first bytes.
var magics = []struct{ prefix, what, remedy string }{
	{"%PDF", "a PDF document", remedyExport},
	{"{\\rtf", "a rich text document (RTF)", remedyExport},
	{"\x09\x08", "an old Excel workbook (.xls)", remedySave},
	{"\x09\x04\x06\x00", "an old Excel workbook (.xls)", remedySave},
	{"\x09\x02\x06\x00", "an old Excel workbook (.xls)", remedySave},
	{"\x09\x00\x04\x00", "an old Excel workbook (.xls)", remedySave},
	{"\x1f\x8b", "a gzip archive", "unpack it and name the file inside"},
	{"7z\xbc\xaf\x27\x1c", "a 7z archive", "unpack it and name the file inside"},
	{"Rar!\x1a\x07", "a RAR archive", "unpack it and name the file inside"},
	{"\x28\xb5\x2f\xfd", "a zstd archive", "unpack it and name the file inside"},
	{"BZh", "a bzip2 archive", "unpack it and name the file inside"},
	{"SQLite format 3\x00", "an SQLite database", remedyExport},
	{"PAR1", "a Parquet file", remedyExport},
	{"\x89PNG", "a picture", remedyExport},
	{"\xff\xd8\xff", "a picture", remedyExport},
	{"GIF8", "a picture", remedyExport},
	{"\x00\x01\x00\x00Standard ", "an Access database", remedyExport},
	{"-----BEGIN PGP", "an encrypted file (PGP)", "decrypt it first"},
}

// workbookExtensions are names that promise a workbook, so that text under them is refused instead of being read as CSV.
var workbookExtensions = map[string]bool{".xlsx": true, ".xlsm": true, ".xltx": true, ".xltm": true, ".xls": true, ".xlsb": true, ".ods": true}

// sniff says how to open a file by its first bytes, or why not to.
func sniff(name string, head []byte, size int64) (container, error) {
	unsupported := func(what, remedy string) (container, error) {
		return text, refuse(source.ErrUnsupported, name, "it is "+what, remedy)
	}
	switch {
	case size == 0:
		return text, refuse(source.ErrEmpty, name, "the file is empty (0 bytes)", "export it again; the export or the copy failed")
	case isLockFile(name, head, size):
		return unsupported("the lock file that an office program leaves while a workbook is open, not the workbook", "name the workbook itself, without the leading ~$ or .~lock")
	case bytes.HasPrefix(head, []byte("PK\x03\x04")), bytes.HasPrefix(head, []byte("PK\x05\x06")), bytes.HasPrefix(head, []byte("PK\x07\x08")):
		return packageZip, nil
	case bytes.HasPrefix(head, []byte("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1")):
		return ole, nil
	case xls.IsStream(head):
		return stream, nil
	case allZero(head):
		return text, refuse(source.ErrEmpty, name, "the file holds nothing but zero bytes", "export it again; the export or the copy failed")
	}
	for _, m := range magics {
		if bytes.HasPrefix(head, []byte(m.prefix)) {
			return unsupported(m.what, m.remedy)
		}
	}
	workbook := workbookExtensions[strings.ToLower(filepath.Ext(name))]
	begin := strings.ToLower(string(begin(head)))
	switch {
	case isHTML(begin):
		return unsupported("a web page (HTML), whatever its name says", "open it in Excel or LibreOffice and save it as .xlsx or CSV; if it is a login or error page, download the export again")
	case strings.HasPrefix(begin, "<?xml") && strings.Contains(begin, "urn:schemas-microsoft-com:office:spreadsheet"):
		return unsupported("an XML spreadsheet of Excel 2003", remedySave)
	case strings.HasPrefix(begin, "<?xml") && strings.Contains(begin, "opendocument"):
		return unsupported("a flat OpenDocument file", remedySave)
	case strings.HasPrefix(begin, "<?xml"):
		return unsupported("an XML document", remedyExport)
	case isJSON(head):
		return unsupported("JSON", remedyExport)
	case strings.HasPrefix(begin, "id;p"):
		return unsupported("a SYLK file (.slk)", remedySave)
	case isBinary(head):
		return unsupported("neither a workbook nor text", remedyExport)
	case workbook:
		return unsupported("plain text under the name of a workbook", "if it is CSV, rename it to .csv; otherwise ask for the workbook again")
	}
	return text, nil
}

// begin gives the first characters as UTF-8, without byte order mark and white space.
func begin(head []byte) []byte {
	head = bytes.TrimPrefix(head, []byte{0xef, 0xbb, 0xbf})
	if len(head) >= 2 && (head[0] == 0xff && head[1] == 0xfe || head[0] == 0xfe && head[1] == 0xff) {
		var u []uint16
		for i := 2; i+1 < len(head); i += 2 {
			lo, hi := head[i], head[i+1]
			if head[0] == 0xfe {
				lo, hi = hi, lo
			}
			u = append(u, uint16(hi)<<8|uint16(lo))
		}
		head = []byte(string(utf16.Decode(u)))
	}
	return bytes.TrimLeft(head, " \t\r\n")
}

func isHTML(begin string) bool {
	for _, tag := range []string{"<!doctype html", "<html", "<head", "<body", "<table", "<meta", "<script", "<style", "<div", "<title"} {
		if rest, ok := strings.CutPrefix(begin, tag); ok && (rest == "" || strings.ContainsRune(" \t\r\n>/", rune(rest[0]))) {
			return true
		}
	}
	if rest, ok := strings.CutPrefix(begin, "<!--"); ok {
		return strings.Contains(rest, "<html") || strings.Contains(rest, "<table")
	}
	return strings.HasPrefix(begin, "<?xml") && strings.Contains(begin, "<html")
}

// isJSON is careful: a CSV may begin with a bracket.
func isJSON(head []byte) bool {
	b := begin(head)
	if len(b) == 0 || b[0] != '{' && b[0] != '[' {
		return false
	}
	d := json.NewDecoder(bytes.NewReader(b))
	first, err := d.Token()
	if err != nil {
		return false
	}
	second, err := d.Token()
	if err != nil {
		return false
	}
	if first == json.Delim('[') {
		return second == json.Delim('{') || second == json.Delim('[') || second == json.Delim(']')
	}
	if second == json.Delim('}') {
		return true
	}
	_, err = d.Token() // the value after the first name and its colon
	return err == nil
}

// isLockFile knows the owner files of Word and Excel (~$name: a length, the user's name padded, then again in UTF-16) and
// of LibreOffice (.~lock.name#: commas).
func isLockFile(name string, head []byte, size int64) bool {
	base := filepath.Base(name)
	if size < 1024 && (strings.HasPrefix(base, ".~lock.") || strings.HasPrefix(base, "~$") && !bytes.HasPrefix(head, []byte("PK"))) {
		return true
	}
	if size != 162 && size != 165 || int64(len(head)) < size {
		return false
	}
	n := int(head[0])
	if n == 0 || n > 53 {
		return false
	}
	for _, c := range head[1+n : 54] {
		if c != ' ' && c != 0 {
			return false
		}
	}
	return true
}

func allZero(b []byte) bool {
	return len(bytes.Trim(b, "\x00")) == 0
}

// isBinary finds bytes that no text has. UTF-16 and UTF-32 have NULs, which are not counted when they come in their pattern.
func isBinary(head []byte) bool {
	control, nul := 0, 0
	for _, c := range head {
		switch {
		case c == 0:
			nul++
		case c < 0x20 && (c < '\t' || c > '\r') && c != 0x1b && c != 0x1a: // tab to CR, ESC and the end mark of DOS are text
			control++
		}
	}
	if control*20 > len(head) {
		return true
	}
	if nul*50 < len(head) {
		return false
	}
	// NULs at even or at odd places only, or three of four, are wide characters.
	var at [4]int
	for i, c := range head {
		if c == 0 {
			at[i%4]++
		}
	}
	even, odd := at[0]+at[2], at[1]+at[3]
	wide := even > 8*odd || odd > 8*even || nul*4 > len(head)*5/2
	return !wide
}
