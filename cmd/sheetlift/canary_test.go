package main

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"

	"sheetlift/pipeline"
)

// canaries are values about people that stand in every place of an export that may hold one. They must not come out anywhere.
var canaries = []string{
	"zilpzalp.one", "zilpzalp.two", "Zilpzalp", "90182444", "90182555", "K-7713099", "zilpzalp.file", "zilpzalp.sheet", "zilpzalp.head", "90182666", "zilpzalp.list", "zilpzalp.note", "zilpzalp.top", "Zaunkoenig",
}

// canaryBook has canaries in its cells, comments, validation lists, a header, the name of a sheet, and the first row of a sheet
// without a header.
func canaryBook(t *testing.T, path string) {
	t.Helper()
	f := excelize.NewFile()
	defer f.Close()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	put := func(sheet string, rows ...[]any) {
		for i, row := range rows {
			cell, _ := excelize.CoordinatesToCellName(1, i+1)
			must(f.SetSheetRow(sheet, cell, &row))
		}
	}
	person := "zilpzalp.sheet@x.invalid"
	must(f.SetSheetName("Sheet1", "consents"))
	for _, name := range []string{person, "top", "Lists"} {
		_, err := f.NewSheet(name)
		must(err)
	}
	header := []any{"Email", "Consent", "zilpzalp.head@x.invalid", "Consent date", "Name", "Number 030 90182666"}
	rows := [][]any{header,
		{"zilpzalp.one@x.invalid", "yes", "a", "2026-01-02", "Zilpzalp, Zora", "K-7713099"},
		{"zilpzalp.two@x.invalid", "no", "b", "2026-01-03", "Zora Zilpzalp", "+49 30 90182444"},
		{"zilpzalp.two@x.invalid", "zilpzalp.list@x.invalid", "b", "99.99.2026", "Zaunkoenig", "+49 30 90182555"}}
	put("consents", rows...)
	put(person, rows...)
	put("top", []any{"zilpzalp.top@x.invalid", "yes", "Zora Zilpzalp", "2026-01-02"}, []any{"zilpzalp.one@x.invalid", "no", "Zaunkoenig", "2026-01-02"})
	put("Lists", []any{"yes"}, []any{"zilpzalp.list@x.invalid"}, []any{"Zora Zilpzalp"}, []any{"Zaunkoenig"})
	for _, sheet := range []string{"consents", person} {
		must(f.AddComment(sheet, excelize.Comment{Cell: "B2", Author: "Zora Zilpzalp", Text: "zilpzalp.note@x.invalid called"}))
		dv := excelize.NewDataValidation(true)
		dv.Sqref = "B2:B50"
		must(dv.SetDropList([]string{"yes", "no", "zilpzalp.list@x.invalid", "Zora Zilpzalp", "Zaunkoenig"}))
		must(f.AddDataValidation(sheet, dv))
		dv = excelize.NewDataValidation(true)
		dv.Sqref = "E2:E50"
		dv.SetSqrefDropList("Lists!$A$1:$A$4")
		must(f.AddDataValidation(sheet, dv))
	}
	must(f.SetRowVisible("consents", 3, false))
	must(f.SaveAs(path))
}

// TestCanaries takes such an export from init to reconcile, and searches all that is printed, drafted and kept.
func TestCanaries(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("SHEETLIFT_KEY", filepath.Join(t.TempDir(), "key"))
	t.Setenv("SHEETLIFT_OPERATOR", "tester")
	t.Chdir(dir)
	search := func(where string, data []byte) {
		t.Helper()
		for _, c := range canaries {
			if bytes.Contains(data, []byte(c)) {
				t.Errorf("%s holds the canary %s", where, c)
			}
		}
	}
	canaryBook(t, "plain.xlsx")
	canaryBook(t, "zilpzalp.file@x.invalid.xlsx")
	write := func(name, text string) {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("purposes.csv", "Code,Name\nnews,Newsletter\n")
	write("top +49 30 90182444.csv", "zilpzalp.top@x.invalid,yes,Zora Zilpzalp\nzilpzalp.one@x.invalid,no,Zaunkoenig\n")
	sheetlift := func(args ...string) {
		var out, talk bytes.Buffer
		run(t.Context(), args, stdio{strings.NewReader(""), &out, &talk})
		search("stdout of "+args[0], out.Bytes())
		search("stderr of "+args[0], talk.Bytes())
	}
	sheetlift("init", "plain.xlsx", "zilpzalp.file@x.invalid.xlsx", "purposes.csv", "top +49 30 90182444.csv")
	drafted := 0
	for _, pattern := range []string{"batch.yaml", "mappings/*.yaml"} {
		list, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range list {
			data, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			drafted++
			search(name+" (its name)", []byte(name))
			search(name, data)
			write(name, string(regexp.MustCompile(`(?m)^ *confirm: true\n`).ReplaceAll(data, nil)))
		}
	}
	batch, err := os.ReadFile("batch.yaml")
	if err != nil || drafted < 5 {
		t.Fatalf("%d drafts: %v", drafted, err)
	}
	for _, want := range []string{`file: "#4"`, `sheet: "#2"`, `file: "plain.xlsx"`} {
		if !strings.Contains(string(batch), want) {
			t.Errorf("batch.yaml has no %s:\n%s", want, batch)
		}
	}
	for _, form := range []string{"text", "json"} {
		for _, command := range []string{"inventory", "freeze", "map", "dryrun", "import", "reconcile", "status", "verify"} {
			sheetlift(command, "batch.yaml", "--output", form)
		}
		sheetlift("map", "batch.yaml", "--explain", "--output", form)
	}
	kept := 0
	err = filepath.WalkDir(filepath.Join(".sheetlift", "work"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) == ".arrow" {
			return err
		}
		data, err := os.ReadFile(path)
		kept++
		search(path, data)
		return err
	})
	if err != nil || kept == 0 {
		t.Errorf("%d files are kept: %v", kept, err)
	}
	// The reports of a CI job and of a reviewer, and looking at one record.
	for _, command := range [][]string{
		{"dryrun", "batch.yaml", "--scratch", "--junit", "a.xml", "--sarif", "a.sarif", "--ndjson", "a.ndjson"},
		{"report", "batch.yaml", "--html", "a.html", "--xlsx", "a.xlsx"}, {"report", "gaps", "batch.yaml"}, {"findings", "batch.yaml"}, {"findings", "batch.yaml", "--count"},
		{"trace", "batch.yaml", "zilpzalp.file@x.invalid.xlsx!consents!B2"}, {"trace", "batch.yaml", "#4!#2!B2"},
	} {
		sheetlift(command...)
		sheetlift(append(command, "--output", "json")...)
	}
	for _, name := range []string{"a.xml", "a.sarif", "a.ndjson", "a.html"} {
		data, err := os.ReadFile(name)
		if err != nil && name != "a.ndjson" { // a list that is not complete is not kept
			t.Fatal(err)
		}
		search(name, data)
	}
	var cells bytes.Buffer
	run(t.Context(), []string{"cells", "a.xlsx"}, stdio{strings.NewReader(""), &cells, &cells})
	search("the review's workbook", cells.Bytes())
	// Faults name files and sheets too, whatever name batch.yaml has for them.
	write("zilpzalp.file@x.invalid.xlsx", "PK\x03\x04 no more")
	sheetlift("inventory", "batch.yaml", "--junit", "a.xml")
	if data, err := os.ReadFile("a.xml"); err != nil || !bytes.Contains(data, []byte("file 4")) && !bytes.Contains(data, []byte("#4")) {
		t.Errorf("the fault is not in the report, with a position: %v %s", err, data)
	} else {
		search("the report of a fault", data)
	}
	for _, broken := range []string{"", "PK\x03\x04 no more"} {
		sheetlift("freeze", "batch.yaml")
		if broken == "" {
			if err := os.Remove("zilpzalp.file@x.invalid.xlsx"); err != nil {
				t.Fatal(err)
			}
		} else {
			write("zilpzalp.file@x.invalid.xlsx", broken)
		}
		for _, command := range []string{"inventory", "freeze", "dryrun", "run", "verify"} {
			sheetlift(command, "batch.yaml")
		}
	}
	sheetlift("init", "zilpzalp.file@x.invalid.xlsx")
	sheetlift("init", "absent zilpzalp.file@x.invalid.xlsx")
	for _, command := range [][]string{{"inventory"}, {"run"}, {"freeze", "--snapshot", "delta"}, {"dryrun", "--scratch", "--junit", "a.xml"}} {
		raw := strings.Replace(string(batch), `file: "#4"`, `file: "zilpzalp.file@x.invalid.xlsx"`, 1)
		write("raw.yaml", regexp.MustCompile(`(?m)^ *confirm: true\n`).ReplaceAllString(raw, ""))
		args := append([]string{command[0], "raw.yaml"}, command[1:]...)
		if command[0] == "freeze" {
			args = append(args, "zilpzalp.file@x.invalid.xlsx")
		}
		sheetlift(args...)
	}
	write("raw.yaml", strings.Replace(string(batch), `file: "#4"`, "file: [zilpzalp.file@x.invalid.xlsx", 1))
	sheetlift("inventory", "raw.yaml") // faults of YAML quote its lines
}

// TestNamesInFaults holds the words of faults to positions.
func TestNamesInFaults(t *testing.T) {
	if got, want := hideAddresses(`open "ann@x.invalid.csv": postgres://ann@db.invalid/x (a@b.c)`), `open "(not shown)": postgres://ann@db.invalid/x ((not shown))`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	hide := hideArguments([]string{"trace", "batch.yaml", "exports/K-77130.xlsx!Sheet1!B2", "--as", "ann@x.invalid", "--junit=ann@x.invalid.xml"})
	if got, want := hide("exports/K-77130.xlsx!Sheet1!B2 and ann@x.invalid.xml by ann@x.invalid, batch.yaml"), "(argument 3) and (argument 6) by ann@x.invalid, batch.yaml"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestValuesAreInTheFileThatIsAskedFor takes a sample as far as dryrun with --values, and searches all that is printed and kept for what the
// file holds.
func TestValuesAreInTheFileThatIsAskedFor(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("../../samples/harbour")); err != nil {
		t.Fatal(err)
	}
	t.Setenv("SHEETLIFT_KEY", filepath.Join(t.TempDir(), "key"))
	t.Setenv("SHEETLIFT_OPERATOR", "tester")
	t.Chdir(dir)
	var printed bytes.Buffer
	sheetlift := func(want int, args ...string) {
		t.Helper()
		if got := run(t.Context(), args, stdio{strings.NewReader(""), &printed, &printed}); got != want {
			t.Errorf("%v: exit %d, want %d\n%s", args, got, want, printed.Bytes())
		}
	}
	sheetlift(exitFindings, "run", "batch.yaml", "--until", "dryrun")
	if list, err := filepath.Glob("*.ndjson"); err != nil || len(list) > 0 {
		t.Errorf("nobody asked for %v (%v)", list, err)
	}
	sheetlift(exitUsage, "dryrun", "batch.yaml", "--scratch", "--values", "values.ndjson")
	sheetlift(exitUsage, "dryrun", "batch.yaml", "--values", ".sheetlift/work/values.ndjson")
	sheetlift(exitFindings, "dryrun", "batch.yaml", "--values", "values.ndjson")
	sheetlift(exitUsage, "dryrun", "batch.yaml", "--values", "values.ndjson")
	data, err := os.ReadFile("values.ndjson")
	if err != nil {
		t.Fatal(err)
	}
	if st, err := os.Stat("values.ndjson"); err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", st.Mode(), err)
	}
	var personal []string
	for line := range bytes.Lines(data) {
		var v pipeline.RejectedValue
		if err := json.Unmarshal(line, &v); err != nil {
			t.Fatal(err)
		}
		if v.Rule == "email.invalid" || v.Rule == "phone.invalid" || strings.Contains(v.Value, "@") {
			personal = append(personal, v.Value)
		}
	}
	if len(personal) == 0 {
		t.Fatalf("no value of a person:\n%s", data)
	}
	search := func(where string, data []byte) {
		for _, v := range personal {
			if bytes.Contains(data, []byte(v)) {
				t.Errorf("%s holds a value", where)
			}
		}
	}
	search("what is printed", printed.Bytes())
	err = filepath.WalkDir(filepath.Join(".sheetlift", "work"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) == ".arrow" {
			return err
		}
		data, err := os.ReadFile(path)
		search(path, data)
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
