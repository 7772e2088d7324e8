package open

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/xuri/excelize/v2"

	"sheetlift/importers/source"
	"sheetlift/importers/source/biff/bifftest"
)

// workbook makes a workbook with one text cell; a password encrypts it.
func workbook(t *testing.T, password string) []byte {
	t.Helper()
	f := excelize.NewFile()
	defer f.Close()
	if err := f.SetCellStr("Sheet1", "B2", "secret"); err != nil {
		t.Fatal(err)
	}
	var buf bytes.Buffer
	if err := f.Write(&buf, excelize.Options{Password: password}); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// compoundFile makes a compound file whose directory has one stream of this name.
func compoundFile(stream string) []byte {
	b := make([]byte, 3*512)
	copy(b, "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1")
	binary.LittleEndian.PutUint16(b[30:], 9)
	binary.LittleEndian.PutUint32(b[48:], 1) // directory in sector 1
	binary.LittleEndian.PutUint32(b[76:], 0) // allocation table in sector 0
	for i := range 128 {
		binary.LittleEndian.PutUint32(b[512+4*i:], 0xfffffffe)
	}
	for n, name := range []string{"Root Entry", stream} {
		e := b[1024+128*n:]
		u := utf16.Encode([]rune(name))
		for i, c := range u {
			binary.LittleEndian.PutUint16(e[2*i:], c)
		}
		binary.LittleEndian.PutUint16(e[64:], uint16(2*len(u)+2))
		e[66] = 2
		binary.LittleEndian.PutUint32(e[76:], uint32(1-n)) // the root leads to the stream
		binary.LittleEndian.PutUint32(e[68:], 0xffffffff)
		binary.LittleEndian.PutUint32(e[72:], 0xffffffff)
	}
	return b
}

func lockFile() string {
	return "\x05Alice" + strings.Repeat(" ", 49) + "\x05\x00" + string(make([]byte, 108))
}

func openBytes(name string, raw []byte, opt source.Options) (source.Book, error) {
	return ReaderAt(context.Background(), name, bytes.NewReader(raw), int64(len(raw)), opt)
}

func TestRefusals(t *testing.T) {
	wide := func(s string) string {
		out := "\xff\xfe"
		for _, u := range utf16.Encode([]rune(s)) {
			out += string([]byte{byte(u), byte(u >> 8)})
		}
		return out
	}
	loop := compoundFile("x")
	binary.LittleEndian.PutUint32(loop[512+4:], 1) // the directory follows itself
	tests := []struct {
		name, file string
		raw        string
		kind       error
		says       string
	}{
		{"empty", "a.xlsx", "", source.ErrEmpty, "empty"},
		{"zeros", "a.csv", string(make([]byte, 1000)), source.ErrEmpty, "zero bytes"},
		{"text under a workbook's name", "a.xlsx", "name,email\n", source.ErrUnsupported, "plain text"},
		{"HTML under a workbook's name", "a.xls", "\n <!DOCTYPE html><html><table>", source.ErrUnsupported, "HTML"},
		{"HTML under a CSV's name", "a.csv", "<html><body>Sign in</body>", source.ErrUnsupported, "HTML"},
		{"HTML table", "a.csv", "<table><tr>", source.ErrUnsupported, "HTML"},
		{"HTML in UTF-16", "a.xls", wide("<html><table>"), source.ErrUnsupported, "HTML"},
		{"XHTML", "a.xls", "<?xml version=\"1.0\"?><!DOCTYPE html><html>", source.ErrUnsupported, "HTML"},
		{"XML spreadsheet", "a.xml", "<?xml version=\"1.0\"?><Workbook xmlns=\"urn:schemas-microsoft-com:office:spreadsheet\">", source.ErrUnsupported, "2003"},
		{"XML", "a.csv", "<?xml version=\"1.0\"?><x/>", source.ErrUnsupported, "XML"},
		{"JSON list", "a.csv", ` [{"a": 1}]`, source.ErrUnsupported, "JSON"},
		{"JSON object", "a.csv", `{"a": {"b": 1}}`, source.ErrUnsupported, "JSON"},
		{"lock file of Excel", "~$a.xlsx", lockFile(), source.ErrUnsupported, "lock file"},
		{"lock file of Excel under another name", "b.xlsx", lockFile(), source.ErrUnsupported, "lock file"},
		{"lock file of an unknown program", "~$b.xlsx", "x", source.ErrUnsupported, "lock file"},
		{"lock file of LibreOffice", ".~lock.a.xlsx#", ",alice,host,01.01.2025 10:00,file:///x;", source.ErrUnsupported, "lock file"},
		{"PDF", "a.xlsx", "%PDF-1.7", source.ErrUnsupported, "PDF"},
		{"RTF", "a.csv", `{\rtf1`, source.ErrUnsupported, "RTF"},
		{"gzip", "a.csv.gz", "\x1f\x8b\x08\x00", source.ErrUnsupported, "gzip"},
		{"cut records without container", "a.xls", "\x09\x08\x10\x00\x00\x06\x05\x00", source.ErrTruncated, "cut off"},
		{"records of another kind", "a.xls", "\x09\x08\x99\x00\x00\x06\x05\x00", source.ErrUnsupported, ".xls"},
		{"an unknown version", "a.xls", string(bifftest.Compound(bifftest.Stream{Name: "Workbook", Data: bifftest.Record(0x809, uint16(0x900), uint16(5))})), source.ErrUnsupported, "no soffice"},
		{"binary", "a.csv", "\x01\x02\x03\x04\x05\x06\x07\x08abc\x0e\x0f", source.ErrUnsupported, "neither"},
		{"zip of other things", "a.xlsx", "PK\x05\x06" + string(make([]byte, 18)), source.ErrEmpty, "nothing in it"},
		{"cut zip", "a.xlsx", "PK\x03\x04abcdef", source.ErrTruncated, "cut off"},
		{"old workbook", "a.xlsx", string(compoundFile("Workbook")), source.ErrTruncated, "cut off"},
		{"old workbook, lower case", "a.xls", string(compoundFile("book")), source.ErrTruncated, "cut off"},
		{"old document", "a.xls", string(compoundFile("WordDocument")), source.ErrUnsupported, "Word"},
		{"old office file", "a.xls", string(compoundFile("x")), source.ErrUnsupported, "old Office"},
		{"encrypted", "a.csv", string(compoundFile("EncryptedPackage")), source.ErrEncrypted, "password"},
		{"cut old file", "a.xls", string(compoundFile("Workbook")[:600]), source.ErrTruncated, "damaged"},
		{"endless directory", "a.xls", string(loop), source.ErrTruncated, "damaged"},
	}
	t.Setenv("PATH", "") // what is said where LibreOffice is not installed
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := openBytes(tt.file, []byte(tt.raw), source.Options{})
			var f *source.Error
			if !errors.As(err, &f) || !errors.Is(err, tt.kind) || !strings.Contains(f.Message, tt.says) || f.Remedy == "" || f.File != tt.file {
				t.Errorf("got %v, want %v saying %q with a remedy", err, tt.kind, tt.says)
			}
		})
	}
}

// TestTextIsText holds what looks like something else and is CSV.
func TestTextIsText(t *testing.T) {
	for _, raw := range []string{
		"a,b\n1,2\n", "a", "[note],b\n", "{x},y\n", "<a href=''>,b\n", "id,name\nPK,x\n", "\"\t\v\f\r start\",b\n", "key,val\n1,\"{\"\"a\"\":1}\"\n", "\x1b[0m,x\nplain text that goes on\n",
	} {
		b, err := openBytes("a.csv", []byte(raw), source.Options{})
		if err != nil || b.Info().Format != "csv" {
			t.Errorf("%q: %v", raw, err)
		}
	}
}

func TestWorkbookUnderAnyName(t *testing.T) {
	b, err := openBytes("a.csv", workbook(t, ""), source.Options{})
	if err != nil || b.Info().Format != "xlsx" {
		t.Fatal(b, err)
	}
}

// TestOtherFormats holds that spreadsheets of other formats come to those who read them, whatever their names say.
func TestOtherFormats(t *testing.T) {
	t.Setenv("PATH", "")
	pack := func(parts ...string) []byte {
		var buf bytes.Buffer
		z := zip.NewWriter(&buf)
		for i := 0; i < len(parts); i += 2 {
			w, err := z.Create(parts[i])
			if err == nil {
				_, err = io.WriteString(w, parts[i+1])
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		return buf.Bytes()
	}
	const office = "urn:oasis:names:tc:opendocument:xmlns:office:1.0"
	b, err := openBytes("a.xlsx", pack("mimetype", "application/vnd.oasis.opendocument.spreadsheet", "content.xml",
		`<o:document-content xmlns:o="`+office+`" xmlns:t="urn:oasis:names:tc:opendocument:xmlns:table:1.0"><o:body><o:spreadsheet><t:table t:name="S"/></o:spreadsheet></o:body></o:document-content>`), source.Options{})
	if err != nil || b.Info().Format != "ods" || len(b.Sheets()) != 1 {
		t.Errorf("got %v %v", b, err)
	}
	sheet := bifftest.Sheet{Name: "S", Records: bifftest.Bytes(bifftest.Row12(0), bifftest.Record12(5, bifftest.Cell12(0, 0), 1.5))}
	parts := bifftest.Parts12(nil, nil, nil, sheet)
	unnamed := slices.Clone(parts)
	for i, p := range unnamed {
		if p.Name == "_rels/.rels" || p.Name == "[Content_Types].xml" {
			unnamed[i].Data = []byte("<x/>")
		}
	}
	stream := bifftest.Stream8(nil, bifftest.Sheet{Name: "S", Records: bifftest.Record(0x203, uint16(0), uint16(0), uint16(0), 1.5)})
	for _, tt := range []struct {
		format string
		raw    []byte
	}{
		{"xlsb", bifftest.Zip(t, parts)},
		{"xlsb", bifftest.Zip(t, unnamed)},
		{"xls", bifftest.Compound(bifftest.Stream{Name: "Workbook", Data: stream})},
		{"xls", stream},
	} {
		b, err := openBytes("a.csv", tt.raw, source.Options{})
		if err != nil || b.Info().Format != tt.format || b.Info().Conversion != nil {
			t.Errorf("%s: got %v", tt.format, err)
			continue
		}
		r, err := b.Read(context.Background(), 0)
		if err != nil {
			t.Fatal(err)
		}
		if k, err := r.Next(); err != nil || string(k.Bytes(k.Cell(0, 0))) != "1.5" {
			t.Errorf("%s: got %v", tt.format, err)
		}
	}
	_, err = openBytes("a.ods", pack("mimetype", "application/vnd.oasis.opendocument.text", "content.xml", "x", "META-INF/manifest.xml", "x"), source.Options{})
	if !errors.Is(err, source.ErrUnsupported) {
		t.Errorf("got %v", err)
	}
}

func TestPassword(t *testing.T) {
	raw := workbook(t, "open sesame")
	for _, tt := range []struct {
		password string
		want     error
	}{{"", source.ErrEncrypted}, {"wrong", source.ErrEncrypted}, {"open sesame", nil}} {
		b, err := openBytes("a.xlsx", raw, source.Options{Password: tt.password})
		if !errors.Is(err, tt.want) {
			t.Fatalf("password %q: got %v, want %v", tt.password, err, tt.want)
		}
		if tt.want != nil {
			if strings.Contains(err.Error(), "sesame") || tt.password != "" && strings.Contains(err.Error(), tt.password) && tt.password != "wrong" {
				t.Errorf("the error shows a password: %v", err)
			}
			continue
		}
		r, err := b.Read(context.Background(), 0)
		if err != nil {
			t.Fatal(err)
		}
		k, err := r.Next()
		if err != nil || string(k.Bytes(k.Cell(1, 0))) != "secret" {
			t.Errorf("got %v", err)
		}
		r.Close()
	}
	if _, err := openBytes("a.xlsx", raw[:len(raw)/2], source.Options{Password: "open sesame"}); err == nil {
		t.Error("half an encrypted workbook was opened")
	}
}

func TestFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "list.csv")
	if err := os.WriteFile(path, []byte("a;b\n1;2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	b, err := File(context.Background(), path, source.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if name := b.Sheets()[0].Name; name != "list" {
		t.Errorf("sheet %q", name)
	}
	for range 2 { // a file is read several times
		r, err := b.Read(context.Background(), 0)
		if err != nil {
			t.Fatal(err)
		}
		k, err := r.Next()
		if err != nil || k.Rows() != 2 {
			t.Fatal(k, err)
		}
		if _, err := r.Next(); !errors.Is(err, io.EOF) {
			t.Errorf("got %v, want the end", err)
		}
		r.Close()
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
	for _, p := range []string{dir, filepath.Join(dir, "none.xlsx")} {
		var f *source.Error
		if _, err := File(context.Background(), p, source.Options{}); !errors.As(err, &f) || f.Remedy == "" {
			t.Errorf("%s: got %v", p, err)
		}
	}
	if _, err := File(context.Background(), path, source.Options{Limits: source.Limits{FileBytes: 3}}); !errors.Is(err, source.ErrLimit) {
		t.Errorf("got %v, want a limit", err)
	}
}

// FuzzOpen holds that any file is opened or refused with a remedy.
func FuzzOpen(f *testing.F) {
	f.Setenv("PATH", "") // without LibreOffice
	f.Add("a.csv", []byte("a,b\n"))
	f.Add("a.xls", compoundFile("Workbook"))
	f.Add("~$a.xlsx", []byte(lockFile()))
	f.Add("a.xlsx", []byte("PK\x03\x04"))
	f.Add("a.csv", []byte("6"+strings.Repeat("0", 161))) // as long as a lock file, and its first byte almost a name's length
	f.Add("a.json", []byte(`[{"a":1}]`))
	f.Add("a.csv", []byte("\xff\xfea\x00,\x00"))
	f.Fuzz(func(t *testing.T, name string, raw []byte) {
		_, err := openBytes(name, raw, source.Options{})
		var e *source.Error
		if err != nil && (!errors.As(err, &e) || e.Remedy == "" || e.Message == "") {
			t.Fatalf("an error without a remedy: %v", err)
		}
	})
}

// A pipe that nobody writes to is refused at once; opening it would wait for ever.
func TestPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe.csv")
	if err := exec.Command("mkfifo", path).Run(); err != nil {
		t.Skip("this system has no mkfifo")
	}
	if _, err := File(context.Background(), path, source.Options{}); !errors.Is(err, source.ErrUnsupported) {
		t.Errorf("got %v", err)
	}
}
