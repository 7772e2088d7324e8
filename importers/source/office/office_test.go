package office

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/xuri/excelize/v2"

	"sheetlift/importers/source"
	"sheetlift/importers/source/biff/bifftest"
)

// needOffice skips where LibreOffice is not installed; SHEETLIFT_REQUIRE_OFFICE makes that a failure.
func needOffice(t *testing.T) string {
	t.Helper()
	program, ok := find()
	if !ok {
		if os.Getenv("SHEETLIFT_REQUIRE_OFFICE") != "" {
			t.Fatal("soffice is not installed, and SHEETLIFT_REQUIRE_OFFICE is set")
		}
		t.Skip("SKIPPED: soffice is not installed (Debian: libreoffice-calc), so no conversion is tested")
	}
	return program
}

// private makes the folder for temporary files the test's own, and checks at its end that nothing was left there.
func private(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	t.Cleanup(func() {
		left, err := os.ReadDir(dir)
		if err != nil || len(left) > 0 {
			t.Errorf("left behind: %v %v", left, err)
		}
	})
	return dir
}

// workbook makes a small .xlsx and has LibreOffice save it as .xls.
func workbook(t *testing.T, program string, date1904 bool) []byte {
	t.Helper()
	f := excelize.NewFile()
	defer f.Close()
	set := func(sheet, ref string, v any) {
		if err := f.SetCellValue(sheet, ref, v); err != nil {
			t.Fatal(err)
		}
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(f.SetWorkbookProps(&excelize.WorkbookPropsOptions{Date1904: &date1904}))
	style, err := f.NewStyle(&excelize.Style{NumFmt: 14})
	must(err)
	set("Sheet1", "A1", "Grüße, \"x\"")
	set("Sheet1", "B1", 0.1)
	set("Sheet1", "C1", true)
	set("Sheet1", "D1", false)
	set("Sheet1", "E1", 44000)
	must(f.SetCellStyle("Sheet1", "E1", "E1", style))
	must(f.SetCellFormula("Sheet1", "A3", "1/0"))
	must(f.SetCellFormula("Sheet1", "B3", "NA()"))
	set("Sheet1", "C3", "007")
	_, err = f.NewSheet("Aside")
	must(err)
	set("Aside", "A1", "hidden")
	must(f.SetSheetVisible("Aside", false))
	d, err := newFolder()
	must(err)
	defer os.RemoveAll(d.root)
	must(f.SaveAs(d.at("in", "input.xlsx")))
	_, err = run(context.Background(), program, d, source.DefaultLimits(), "--convert-to", "xls:MS Excel 97", "--outdir", d.at("out"), d.at("in", "input.xlsx"))
	must(err)
	raw, err := os.ReadFile(d.at("out", "input.xls"))
	must(err)
	return raw
}

func openBytes(raw []byte, limits source.Limits) (*Book, error) {
	return Open(context.Background(), "list.xls", XLS, bytes.NewReader(raw), int64(len(raw)), source.Options{Limits: limits})
}

// dump reads all cells of a book.
func dump(b source.Book) (string, error) {
	var out strings.Builder
	for i, s := range b.Sheets() {
		fmt.Fprintf(&out, "[%s %s]", s.Name, s.Visibility)
		r, err := b.Read(context.Background(), i)
		if err != nil {
			return "", err
		}
		defer r.Close()
		for {
			k, err := r.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return "", err
			}
			for row := range k.Rows() {
				for col := range k.Cols {
					if c := k.Cell(col, row); c.Kind != source.Empty {
						fmt.Fprintf(&out, " %s=%s:%s:%s", source.Ref(col, k.RowNum[row]), c.Kind, c.Class, k.Bytes(c))
					}
				}
			}
		}
	}
	return out.String(), nil
}

const want = `[Sheet1 visible] A1=text:general:Grüße, "x" B1=number:general:0.1 C1=bool:general:TRUE D1=bool:general:FALSE E1=number:date:44000` +
	` A3=error:general:#DIV/0! B3=error:general:#N/A C3=text:general:007[Aside hidden] A1=text:general:hidden`

// TestConvert reads the same workbook twice and a damaged one, all at once.
func TestConvert(t *testing.T) {
	program := needOffice(t)
	private(t)
	raw := workbook(t, program, true)
	var wg sync.WaitGroup
	var made [2]*source.Conversion
	for i := range made {
		wg.Go(func() {
			b, err := openBytes(raw, source.Limits{})
			if err != nil {
				t.Error(err)
				return
			}
			defer b.Close()
			got, err := dump(b)
			if err != nil || got != want {
				t.Errorf("got  %s %v\nwant %s", got, err, want)
			}
			info := b.Info()
			if info.Format != "xls" || !info.Date1904 || info.SavedBy != "" {
				t.Errorf("got %+v", info)
			}
			made[i] = info.Conversion
			if c := made[i]; c.Tool != "LibreOffice" || c.Version[0] < '1' || c.Version[0] > '9' || len(c.Original) != 64 || len(c.Converted) != 64 || c.Original == c.Converted ||
				!strings.HasSuffix(info.Said, "2 sheets, converted by LibreOffice "+c.Version) {
				t.Errorf("got %+v, %q", c, info.Said)
			}
			if r, size := b.Workbook(); size < 1000 {
				t.Errorf("a workbook of %d bytes: %v", size, r)
			}
		})
	}
	wg.Go(func() {
		_, err := openBytes(bifftest.Compound(bifftest.Stream{Name: "Workbook", Data: []byte("no stream of a workbook begins so")}), source.Limits{})
		var f *source.Error
		if !errors.As(err, &f) || !errors.Is(err, source.ErrMalformed) || f.Remedy == "" || f.File != "list.xls" {
			t.Errorf("damaged: got %v", err)
		}
	})
	wg.Wait()
	if !t.Failed() && *made[0] != *made[1] {
		t.Errorf("the same file converts to %+v and to %+v", made[0], made[1])
	}
}

func TestWithoutOffice(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if _, ok := find(); ok {
		t.Skip("LibreOffice is where no path leads")
	}
	private(t)
	_, err := openBytes(plain(), source.Limits{})
	var f *source.Error
	if !errors.As(err, &f) || !errors.Is(err, source.ErrUnsupported) || !strings.Contains(f.Message, "an old Excel workbook (.xls)") || !strings.Contains(f.Remedy, "libreoffice-calc") {
		t.Errorf("got %v", err)
	}
}

// fake puts a soffice of ours first in the path. It answers --version and runs the script for everything else.
func fake(t *testing.T, script string) {
	t.Helper()
	dir := t.TempDir()
	body := "#!/bin/sh\ncase \"$*\" in *--version*) echo 'LibreOffice 1.2.3.4 50(Build:1)'; exit 0;; esac\n" + script + "\n"
	if err := os.WriteFile(filepath.Join(dir, "soffice"), []byte(body), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":/usr/bin:/bin")
}

// TestHang stops LibreOffice and what it has started.
func TestHang(t *testing.T) {
	pid := filepath.Join(t.TempDir(), "pid")
	fake(t, "sleep 60 & echo $! > "+pid+"; wait")
	private(t)
	begin := time.Now()
	_, err := openBytes(plain(), source.Limits{ConversionSeconds: 1})
	if !errors.Is(err, source.ErrLimit) || !strings.Contains(err.Error(), "within 1 seconds") {
		t.Errorf("got %v", err)
	}
	if d := time.Since(begin); d > 20*time.Second {
		t.Errorf("it took %v", d)
	}
	raw, err := os.ReadFile(pid)
	if err != nil {
		t.Fatal(err)
	}
	child, err := strconv.Atoi(strings.TrimSpace(string(raw)))
	if err != nil {
		t.Fatal(err)
	}
	for range 100 { // killed, and then taken up by whoever is the parent of orphans
		if err = syscall.Kill(child, 0); errors.Is(err, syscall.ESRCH) || zombie(child) {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Errorf("process %d outlived the conversion", child)
}

func zombie(pid int) bool {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, after, _ := bytes.Cut(raw, []byte(") "))
	return err == nil && bytes.HasPrefix(after, []byte("Z"))
}

func TestCancelled(t *testing.T) {
	fake(t, "sleep 60")
	private(t)
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(200*time.Millisecond, cancel)
	_, err := Open(ctx, "list.xls", XLS, bytes.NewReader(plain()), int64(len(plain())), source.Options{})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestFailures(t *testing.T) {
	leak := `d=""; for a in "$@"; do d="$a"; done; out=$(dirname "$(dirname "$d")")/out; `
	for _, tt := range []struct {
		name, script string
		raw          []byte
		want         error
		says         string
	}{
		{"crash", "kill -SEGV $$", plain(), source.ErrMalformed, "failed"},
		{"crash that leaves a result", leak + `echo PK > $out/input.xlsx; exit 3`, plain(), source.ErrMalformed, "exit status 3"},
		{"no result", "exit 0", plain(), source.ErrMalformed, "can't read it"},
		{"a result that is no workbook", leak + `echo hello > $out/input.xlsx`, plain(), source.ErrMalformed, "is no workbook"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			fake(t, tt.script)
			private(t)
			_, err := openBytes(tt.raw, source.Limits{})
			var f *source.Error
			if !errors.As(err, &f) || !errors.Is(err, tt.want) || !strings.Contains(f.Message, tt.says) || f.Remedy == "" {
				t.Errorf("got %v, want %v saying %q", err, tt.want, tt.says)
			}
		})
	}
}

// TestSurroundings looks at what a started LibreOffice sees: no secrets, no network, folders of its own only.
func TestSurroundings(t *testing.T) {
	t.Setenv("SHEETLIFT_PASSWORD", "open sesame")
	private(t)
	script := filepath.Join(t.TempDir(), "soffice")
	if err := os.WriteFile(script, []byte("#!/bin/sh\nenv\necho \"$*\"\npwd\nls -ld ../\ncat /proc/net/dev\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	d, err := newFolder()
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(d.root)
	out, err := run(context.Background(), script, d, source.DefaultLimits(), "--version")
	if err != nil {
		t.Fatal(err)
	}
	said := string(out)
	for _, s := range []string{"HOME=" + d.at("home"), "TMPDIR=" + d.at("tmp"), "-env:UserInstallation=file://" + d.at("profile"), "--headless", "drwx------"} {
		if !strings.Contains(said, s) {
			t.Errorf("no %q in\n%s", s, said)
		}
	}
	if strings.Contains(said, "sesame") {
		t.Error("the environment went along")
	}
	if exec.Command("unshare", "--user", "--net", "true").Run() != nil {
		t.Skip("SKIPPED: this system allows no name spaces")
	}
	if _, devices, _ := strings.Cut(said, "compressed\n"); strings.Count(devices, ":") != 1 || !strings.Contains(devices, "lo:") {
		t.Errorf("there is a network:\n%s", devices)
	}
}

// plain is a compound file with the stream of a workbook.
func plain() []byte {
	return bifftest.Compound(bifftest.Stream{Name: "Workbook", Data: bifftest.Stream8(nil, bifftest.Sheet{Name: "S", Records: make([]byte, 5000)})})
}

func TestWhole(t *testing.T) {
	raw := plain()
	check := func(raw []byte) error { return whole(bytes.NewReader(raw), int64(len(raw))) }
	if err := check(raw); err != nil {
		t.Error(err)
	}
	if err := check([]byte("\x09\x04\x06\x00 without a container")); err != nil {
		t.Error(err)
	}
	for n := range len(raw) {
		if n%512 == 0 && n < len(raw)-512 && check(raw[:n]) == nil {
			t.Errorf("%d of %d bytes were taken for whole", n, len(raw))
		}
	}
	if err := check(bifftest.Compound(bifftest.Stream{Name: "WordDocument"})); err == nil {
		t.Error("a file without a workbook was taken for whole")
	}
}

// TestSocket holds the form of the name that LibreOffice 7.4 gives its socket.
func TestSocket(t *testing.T) {
	if got := socketID("file:///tmp/profile"); got != "9f4e8ca69bb1778bedcc4bb640e4c345" {
		t.Error(got)
	}
}

func TestVersion(t *testing.T) {
	for said, want := range map[string]string{
		"LibreOffice 7.4.7.2 40(Build:2)\n\n": "LibreOffice/7.4.7.2", "LibreOfficeDev 24.2.0.0": "LibreOfficeDev/24.2.0.0",
		"Collabora Office 23.05.1": "Collabora Office/23.05.1", "": "LibreOffice/unknown",
	} {
		if tool, version := parseVersion([]byte(said)); tool+"/"+version != want {
			t.Errorf("%q: got %s %s", said, tool, version)
		}
	}
}
