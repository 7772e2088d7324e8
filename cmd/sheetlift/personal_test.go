package main

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"

	"sheetlift/pipeline/store"
)

// registerTables hold the records themselves, and the raw keys of them: personal values belong there.
var registerTables = map[string]bool{
	"purposes": true, "notices": true, "activities": true, "retention_rules": true, "suppressions": true, "cases": true,
	"receipts": true, "legacy_assertions": true,
}

// TestNoPersonalValues runs the sample batch through every command in both output forms, and searches all that is printed,
// written beside the register, or kept as evidence for each personal value that the samples hold.
func TestNoPersonalValues(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("SHEETLIFT_KEY", filepath.Join(dir, "key"))
	t.Setenv("SHEETLIFT_OPERATOR", "tester")
	if err := os.CopyFS(filepath.Join(dir, "harbour"), os.DirFS("../../samples/harbour")); err != nil {
		t.Fatal(err)
	}
	list, err := exec.Command("go", "run", "../../samples/harbour/generate", "-personal").Output()
	if err != nil {
		t.Fatal(err)
	}
	values := personalValues(string(list))
	if len(values) < 500 {
		t.Fatalf("the generator names %d personal values only", len(values))
	}
	search := func(where string, data []byte) {
		t.Helper()
		for _, v := range values {
			if bytes.Contains(data, []byte(v)) {
				t.Errorf("%s holds a personal value of %d characters (%.3s…)", where, len(v), v)
			}
		}
	}
	var cells bytes.Buffer
	run(t.Context(), []string{"cells", filepath.Join(dir, "harbour", "exports", "consents.xlsx")}, stdio{strings.NewReader(""), &cells, &cells})
	found := 0
	for _, v := range values {
		if bytes.Contains(cells.Bytes(), []byte(v)) {
			found++
		}
	}
	if found < 300 { // cells prints values: if they are not found there, the search itself is broken
		t.Fatalf("only %d of the personal values are found in the cells", found)
	}
	batch := filepath.Join(dir, "harbour", "batch.yaml")
	reports := t.TempDir()
	for _, args := range [][]string{
		{"run", batch, "--until", "reconcile"}, {"inventory", batch}, {"freeze", batch}, {"map", batch}, {"dryrun", batch}, {"import", batch},
		{"reconcile", batch}, {"status", batch}, {"findings", batch}, {"findings", batch, "--count"},
		{"dryrun", batch, "--scratch", "--junit", filepath.Join(reports, "junit.xml"), "--sarif", filepath.Join(reports, "report.sarif"), "--ndjson", filepath.Join(reports, "findings.ndjson")},
		{"inventory", batch, "--junit", filepath.Join(reports, "inventory.xml")}, {"verify", batch}, {"trace", batch, "purpose", "NEWSLETTER"}, {"trace", batch, "consent", "CR-0002"},
		{"report", batch, "--html", filepath.Join(reports, "review.html"), "--xlsx", filepath.Join(reports, "review.xlsx")}, {"report", "gaps", batch},
	} {
		for _, form := range []string{"text", "json"} {
			var out, talk bytes.Buffer
			run(t.Context(), append(args, "--output", form), stdio{strings.NewReader(""), &out, &talk})
			what := strings.Join(append([]string{args[0]}, args[2:]...), " ") + " as " + form
			search("stdout of "+what, out.Bytes())
			search("stderr of "+what, talk.Bytes())
		}
	}
	page, err := os.ReadFile(filepath.Join(reports, "review.html"))
	if err != nil {
		t.Fatal(err)
	}
	search("the review's page", page)
	var workbook bytes.Buffer
	run(t.Context(), []string{"cells", filepath.Join(reports, "review.xlsx")}, stdio{strings.NewReader(""), &workbook, &workbook})
	if !strings.Contains(workbook.String(), "privacy_notice") {
		t.Fatalf("the review's workbook is not read: %.200s", workbook.String())
	}
	search("the review's workbook", workbook.Bytes())
	for _, name := range []string{"junit.xml", "report.sarif", "findings.ndjson", "inventory.xml"} {
		data, err := os.ReadFile(filepath.Join(reports, name))
		if err != nil {
			t.Fatal(err)
		}
		search(name, data)
	}
	files := 0
	err = filepath.WalkDir(filepath.Join(dir, "harbour", ".sheetlift", "work"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) == ".arrow" { // staged files hold the records, mode 0600, listed in copies
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		files++
		search(filepath.Base(filepath.Dir(path))+"/"+filepath.Base(path), data)
		return nil
	})
	if err != nil || files < 4 {
		t.Fatalf("searched %d files: %v", files, err)
	}
	db, err := store.Open(t.Context(), "sqlite:"+filepath.Join(dir, "harbour", ".sheetlift", "register.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	tables, err := db.Tables(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	searched := 0
	for _, table := range tables {
		if !registerTables[table] {
			searched++
			search("table "+table, dump(t, db, table))
		}
	}
	if searched < 7 {
		t.Errorf("searched %d evidence tables only: %v", searched, tables)
	}
}

// personalValues are the lines of the generator's list and, of telephone numbers, the stored form too. Values so short that they
// would be found by chance (fewer than five characters) are left out; the sample has none.
func personalValues(list string) []string {
	var values []string
	for _, v := range strings.Split(list, "\n") {
		if v = strings.TrimSpace(v); len(v) < 5 {
			continue
		}
		values = append(values, v)
		if strings.HasPrefix(v, "+") {
			values = append(values, strings.NewReplacer(" ", "", "-", "", "/", "", "(", "", ")", "").Replace(v))
		}
	}
	return values
}

// dump is every value of a table as text.
func dump(t *testing.T, db *store.DB, table string) []byte {
	t.Helper()
	columns, err := db.Columns(t.Context(), table)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	err = db.View(t.Context(), func(tx *store.Tx) error {
		for _, c := range columns {
			rows, err := tx.Query(t.Context(), `SELECT CAST(`+c.Name+` AS TEXT) FROM `+table+` WHERE `+c.Name+` IS NOT NULL`)
			if err != nil {
				return err
			}
			for rows.Next() {
				var s string
				if err := rows.Scan(&s); err != nil {
					rows.Close()
					return err
				}
				out.WriteString(s)
				out.WriteByte('\n')
			}
			rows.Close()
			if err := rows.Err(); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestNoPersonalNames gives a file the name of an e-mail address and a workbook's sheets that of a person's number: what is printed and
// reported names them by position.
func TestNoPersonalNames(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("SHEETLIFT_KEY", filepath.Join(dir, "key"))
	t.Setenv("SHEETLIFT_OPERATOR", "tester")
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("testdata", "batch"))); err != nil {
		t.Fatal(err)
	}
	const mail, number = "canary.person@shop.example", "310101195608231"
	exports := filepath.Join(dir, "exports")
	text, err := os.ReadFile(filepath.Join(exports, "consents.csv"))
	if err != nil {
		t.Fatal(err)
	}
	book := excelize.NewFile()
	defer book.Close()
	if err := book.SetSheetName("Sheet1", "Contents"); err != nil {
		t.Fatal(err)
	}
	for _, sheet := range []string{number, mail} { // the second is hidden and read by nobody
		if _, err := book.NewSheet(sheet); err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(strings.TrimSpace(strings.Replace(string(text), "ben@shop.example,news,email,yes", "ben@shop.example,news,email,yse", 1)), "\n") {
			for k, value := range strings.Split(line, ",") {
				cell, err := excelize.CoordinatesToCellName(k+1, i+1)
				if err == nil {
					err = book.SetCellStr(sheet, cell, value)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	if err := book.SetSheetVisible(mail, false); err != nil {
		t.Fatal(err)
	}
	if err := book.SaveAs(filepath.Join(exports, mail+".xlsx")); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "batch.yaml")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	data = bytes.Replace(data, []byte("file: exports/consents.csv"), []byte("file: exports/"+mail+".xlsx\n    sheet: \""+number+"\"\n    tolerance: { rows: 1, reason: known, owner: Marketing }"), 1)
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	reports := t.TempDir()
	named := false
	for _, args := range [][]string{
		{"dryrun", path, "--scratch", "--junit", filepath.Join(reports, "a.xml"), "--sarif", filepath.Join(reports, "a.sarif"), "--ndjson", filepath.Join(reports, "a.ndjson")},
		{"inventory", path}, {"freeze", path}, {"map", path}, {"map", path, "--explain"}, {"dryrun", path}, {"dryrun", path}, {"import", path}, {"reconcile", path},
		{"status", path}, {"findings", path}, {"findings", path, "--count"}, {"run", path}, {"trace", path, "consent", "E1"}, {"verify", path},
		{"report", path, "--html", filepath.Join(reports, "a.html"), "--xlsx", filepath.Join(reports, "a.xlsx")}, {"report", "gaps", path},
	} {
		for _, form := range []string{"text", "json"} {
			var out, talk bytes.Buffer
			if code := run(t.Context(), append(args, "--output", form), stdio{strings.NewReader(""), &out, &talk}); code > exitFindings {
				t.Fatalf("%v: exit code %d: %s", args[0], code, talk.String())
			}
			named = named || strings.Contains(out.String(), "file 4") && strings.Contains(out.String(), "#2")
			for _, secret := range []string{mail, number} {
				if strings.Contains(out.String()+talk.String(), secret) {
					t.Errorf("%v as %s shows a name", append(args[:1:1], args[2:]...), form)
				}
			}
		}
	}
	if !named {
		t.Error("no position is named")
	}
	written, err := filepath.Glob(filepath.Join(dir, ".sheetlift", "work", "*", "*", "findings.ndjson"))
	if err != nil || len(written) < 3 {
		t.Fatal(written, err)
	}
	for _, file := range append(written, filepath.Join(reports, "a.xml"), filepath.Join(reports, "a.sarif"), filepath.Join(reports, "a.ndjson"), filepath.Join(reports, "a.html")) {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(data, []byte(mail)) || bytes.Contains(data, []byte(number)) || bytes.Contains(data, []byte("canary")) {
			t.Errorf("%s shows a name", filepath.Base(file))
		}
	}
	// Faults: the frozen copy changed, the export changed, was cut off and is gone, the sheet is another one, batch.yaml is broken.
	export := filepath.Join(exports, mail+".xlsx")
	frozen, err := filepath.Glob(filepath.Join(dir, ".sheetlift", "vault", "*", "*", "data", "*", "*.xlsx"))
	if err != nil || len(frozen) != 1 {
		t.Fatal(frozen, err)
	}
	change := func(file, text string) {
		if err := errors.Join(os.Chmod(filepath.Dir(file), 0o700), os.Chmod(file, 0o600), os.WriteFile(file, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	cell := "exports/" + mail + ".xlsx!" + number + "!B2"
	inventory := []string{"inventory", path, "--junit", filepath.Join(reports, "b.xml"), "--sarif", filepath.Join(reports, "b.sarif")}
	for _, fault := range []struct {
		name     string
		make     func()
		commands [][]string
	}{
		{"a frozen file changed", func() { change(frozen[0], "other") }, [][]string{{"freeze", path}, {"map", path}, {"dryrun", path, "--output", "json"}, {"run", path}, {"verify", path}, {"verify", path, "--output", "json"}, {"report", path}}},
		{"an export changed", func() { change(export, "PK\x03\x04") }, [][]string{inventory, {"freeze", path}, {"dryrun", path, "--scratch"}, {"freeze", path, "--snapshot", "delta", export}}},
		{"an export is gone", func() { os.Remove(export) }, [][]string{inventory, {"freeze", path}, {"run", path}, {"freeze", path, "--snapshot", "delta", export}, {"trace", path, cell}}},
		{"no such sheet", func() { change(path, strings.Replace(string(data), number, number+"x", 1)) }, [][]string{inventory, {"map", path}, {"dryrun", path}}},
		{"broken YAML", func() { change(path, strings.Replace(string(data), "file: exports/"+mail, "file: [exports/"+mail, 1)) }, [][]string{inventory, {"status", path}}},
		{"outside", func() { change(path, strings.Replace(string(data), "file: exports/"+mail, "file: ../"+mail, 1)) }, [][]string{inventory}},
	} {
		fault.make()
		for _, args := range fault.commands {
			var out, talk bytes.Buffer
			run(t.Context(), args, stdio{strings.NewReader(""), &out, &talk})
			said := out.String() + talk.String()
			for _, name := range []string{"b.xml", "b.sarif"} {
				data, _ := os.ReadFile(filepath.Join(reports, name))
				said += string(data)
			}
			for _, secret := range []string{mail, number} {
				if i := strings.Index(said, secret); i >= 0 {
					t.Errorf("%s: %v shows a name: %q", fault.name, args[:1], said[max(0, i-120):min(len(said), i+60)])
				}
			}
		}
	}
}
