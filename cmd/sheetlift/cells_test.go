package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"

	"sheetlift/importers/source"
)

// cellsOf runs cells and gives its exit code and streams.
func cellsOf(args ...string) (code int, out, err string) {
	var o, e bytes.Buffer
	code = run(context.Background(), append([]string{"cells"}, args...), stdio{strings.NewReader(""), &o, &e})
	return code, o.String(), e.String()
}

func writeFile(t *testing.T, name, body string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(body), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// writeBook writes a workbook of two sheets, the second hidden.
func writeBook(t *testing.T, password string) string {
	t.Helper()
	f := excelize.NewFile()
	defer f.Close()
	style, err := f.NewStyle(&excelize.Style{NumFmt: 22})
	for _, e := range []error{
		err,
		f.SetCellStr("Sheet1", "A1", "tab\tline\nback\\slash"),
		f.SetCellValue("Sheet1", "B1", 1.5),
		f.SetCellBool("Sheet1", "C2", true),
		f.SetCellValue("Sheet1", "A3", 45000.25),
		f.SetCellStyle("Sheet1", "A3", "A3", style),
	} {
		if e != nil {
			t.Fatal(e)
		}
	}
	if _, err := f.NewSheet("Hidden one"); err != nil {
		t.Fatal(err)
	}
	if err := f.SetCellStr("Hidden one", "XFD7", "x"); err != nil {
		t.Fatal(err)
	}
	if err := f.SetSheetVisible("Hidden one", false); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "book.xlsx")
	if err := f.SaveAs(path, excelize.Options{Password: password}); err != nil {
		t.Fatal(err)
	}
	return path
}

const bookCells = "Sheet1\tA1\ttext\ttab\\tline\\nback\\\\slash\tgeneral\n" +
	"Sheet1\tB1\tnumber\t1.5\tgeneral\n" +
	"Sheet1\tC2\tbool\tTRUE\tgeneral\n" +
	"Sheet1\tA3\tnumber\t45000.25\tdatetime\n" +
	"Hidden one\tXFD7\ttext\tx\tgeneral\n"

func TestCellsOfWorkbook(t *testing.T) {
	path := writeBook(t, "")
	if code, out, err := cellsOf(path); code != exitClean || out != bookCells || err != "" {
		t.Errorf("exit %d, %q\n%s", code, err, out)
	}
	if code, out, err := cellsOf(path, "--sheet", "Hidden one"); code != exitClean || out != "Hidden one\tXFD7\ttext\tx\tgeneral\n" {
		t.Errorf("--sheet: exit %d, %q\n%s", code, err, out)
	}
	if code, out, err := cellsOf(path, "--sheet", "None"); code != exitUsage || out != "" || !strings.Contains(err, `"Hidden one"`) {
		t.Errorf("--sheet of another name: exit %d, %q\n%s", code, err, out)
	}
	if code, out, _ := cellsOf(path, "--output", "json", "--sheet", "Hidden one"); code != exitClean || out != `{"sheet":"Hidden one","ref":"XFD7","kind":"text","value":"x","class":"general"}`+"\n" {
		t.Errorf("--output json: exit %d\n%s", code, out)
	}
}

func TestCellsOfText(t *testing.T) {
	path := writeFile(t, "list.v2.csv", "a;\"b\nc\"\n\n1;\n")
	want := "list.v2\tA1\ttext\ta\tgeneral\nlist.v2\tB1\ttext\tb\\nc\tgeneral\nlist.v2\tA3\ttext\t1\tgeneral\n"
	if code, out, err := cellsOf(path); code != exitClean || out != want {
		t.Errorf("exit %d, %q\n%s", code, err, out)
	}
	if _, out, _ := cellsOf(path, "--delimiter", ","); !strings.HasPrefix(out, "list.v2\tA1\ttext\ta;\"b\tgeneral\n") {
		t.Errorf("--delimiter: %s", out)
	}
	latin := writeFile(t, "l.csv", "M\xfcller,1\n")
	if code, out, err := cellsOf(latin); code != exitIncomplete || out != "" || !strings.Contains(err, "UTF-8") {
		t.Errorf("undeclared charset: exit %d, %q\n%s", code, err, out)
	}
	if code, out, _ := cellsOf(latin, "--charset", "windows-1252"); code != exitClean || !strings.Contains(out, "Müller") {
		t.Errorf("--charset: exit %d\n%s", code, out)
	}
}

func TestCellsCount(t *testing.T) {
	path := writeBook(t, "")
	code, out, err := cellsOf(path, "--count")
	lines := strings.Split(out, "\n")
	if code != exitClean || len(lines) != 4 || lines[0] != "sheet\trows\ttext\tnumber\tbool\terror\tdigest" || !strings.HasPrefix(lines[1], "Sheet1\t3\t1\t2\t1\t0\t") || !strings.HasPrefix(lines[2], "Hidden one\t1\t1\t0\t0\t0\t") {
		t.Errorf("exit %d, %q\n%s", code, err, out)
	}
	if _, again, _ := cellsOf(path, "--count"); again != out {
		t.Errorf("a second count differs:\n%s%s", out, again)
	}
	if strings.Contains(out, "slash") {
		t.Error("--count prints values")
	}
}

func TestCellsRefusal(t *testing.T) {
	for name, body := range map[string]string{"empty.xlsx": "", "text.xlsx": "hello", "page.csv": "<html></html>", "cut.xlsx": "PK\x03\x04"} {
		path := writeFile(t, name, body)
		if code, out, err := cellsOf(path); code != exitIncomplete || out != "" || !strings.Contains(err, path) {
			t.Errorf("%s: exit %d, %q\n%s", name, code, err, out)
		}
	}
}

func TestCellsLimit(t *testing.T) {
	path := writeFile(t, "f.csv", "a,b,c\n")
	if code, out, err := cellsOf(path, "--limit", "columns=2"); code != exitIncomplete || out != "" || !strings.Contains(err, "(columns)") {
		t.Errorf("exit %d, %q\n%s", code, err, out)
	}
	for _, bad := range []string{"columns", "columns=x", "colums=2", "columns=0"} {
		if code, _, err := cellsOf(path, "--limit", bad); code != exitUsage {
			t.Errorf("--limit %s: exit %d, %q", bad, code, err)
		}
	}
}

// TestCellsLaterFault prints what stands before a fault and says that it is not all.
func TestCellsLaterFault(t *testing.T) {
	path := writeFile(t, "f.csv", strings.Repeat("a,b\n", 200_000)+"\"c\n")
	code, out, err := cellsOf(path)
	if code != exitIncomplete || !strings.HasPrefix(out, "f\tA1\ttext\ta\tgeneral\n") || !strings.Contains(err, "line 200001") {
		t.Errorf("exit %d, %q, %d bytes", code, err, len(out))
	}
}

func TestCellsPassword(t *testing.T) {
	path := writeBook(t, "pass word")
	if code, out, err := cellsOf(path); code != exitIncomplete || out != "" || !strings.Contains(err, "password") {
		t.Errorf("without password: exit %d, %q\n%s", code, err, out)
	}
	if code, out, _ := cellsOf(path, "--password-file", writeFile(t, "p", "pass word\r\nmore")); code != exitClean || out != bookCells {
		t.Errorf("--password-file: exit %d\n%s", code, out)
	}
	t.Setenv("SHEETLIFT_PASSWORD", "pass word")
	if code, out, _ := cellsOf(path); code != exitClean || out != bookCells {
		t.Errorf("environment: exit %d\n%s", code, out)
	}
	t.Setenv("SHEETLIFT_PASSWORD", "other")
	if code, _, err := cellsOf(path); code != exitIncomplete || strings.Contains(err, "other") {
		t.Errorf("wrong password: exit %d, %q", code, err)
	}
}

func TestAppendNumber(t *testing.T) {
	for in, want := range map[string]string{
		"1": "1", "-1": "-1", "0": "0", "007": "7", "1.50": "1.5", "1e3": "1000", "1E-5": "0.00001", "0.0000001": "1e-7", "1e21": "1e+21", "1.5e300": "1.5e+300",
		"123456789012345": "123456789012345", "1234567890123456789": "1234567890123456789", "-12345678901234567": "-12345678901234567",
		"3.1010119560823098E+17": "310101195608231000", "0.1": "0.1", "0.30000000000000004": "0.30000000000000004", "1e999": "1e999", ".5": "0.5", "+5": "5",
	} {
		if got := string(appendNumber(nil, []byte(in))); got != want {
			t.Errorf("%s: got %s, want %s", in, got, want)
		}
	}
}

func TestCellDigestTellsStreamsApart(t *testing.T) {
	type cell struct {
		row, col int
		c        source.Cell
		v        string
	}
	text := source.Cell{Kind: source.Text}
	streams := [][]cell{
		{},
		{{1, 0, text, "a"}},
		{{1, 0, text, "b"}},
		{{1, 1, text, "a"}},
		{{2, 0, text, "a"}},
		{{1, 0, source.Cell{Kind: source.Number}, "a"}},
		{{1, 0, source.Cell{Kind: source.Text, Class: source.Date}, "a"}},
		{{1, 0, text, "a\x00"}},
		{{1, 0, text, "0123456789abcdef"}},
		{{1, 0, text, "0123456789abcdeg"}},
		{{1, 0, text, "a"}, {1, 1, text, "b"}},
		{{1, 1, text, "b"}, {1, 0, text, "a"}},
		{{1, 0, text, "ab"}, {1, 1, text, ""}},
	}
	seen := map[string]int{}
	for i, s := range streams {
		var d cellDigest
		for _, c := range s {
			d.add(d.place(c.row), c.col, &c.c, []byte(c.v))
		}
		if j, ok := seen[d.String()]; ok {
			t.Errorf("streams %d and %d have one digest", j, i)
		}
		seen[d.String()] = i
	}
}

// Whatever the length of a value, every byte of it counts.
func TestCellDigestReadsEveryByte(t *testing.T) {
	of := func(v []byte) string {
		var d cellDigest
		d.add(d.place(1), 0, &source.Cell{Kind: source.Text}, v)
		return d.String()
	}
	seen := map[string]bool{}
	n := 0
	for length := range 70 {
		v := make([]byte, length)
		n++
		seen[of(v)] = true
		for i := range v {
			v[i] = 1
			n++
			seen[of(v)] = true
			v[i] = 0
		}
	}
	if len(seen) != n {
		t.Errorf("%d values have %d digests", n, len(seen))
	}
}
