package pipeline

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/xuri/excelize/v2"
)

func TestPersonalFile(t *testing.T) {
	for name, want := range map[string]bool{
		"contacts.xlsx": false, "export-2026-10-01.csv": false, "export_20261001.csv": false, "x/export 2026.10.01 12-30-05.csv": false, "export_20261001123005.csv": false,
		"members_export_a1b2c3.csv": false, "Q3 2026.ods": false, "v1.2.3.csv": false,
		"erika@shop.invalid.xlsx": true, "+49 170 1234567.csv": true, "0170-1234567.csv": true, "case 4711000815.csv": true, "exports/erika@shop.invalid": true,
	} {
		if got := personalFile(name); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// A file that is named by its position is found again, whatever else lies in the folder.
func TestShownFileIsFoundAgain(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a.csv", "e@x.invalid.csv", "batch.yaml", "notes.md"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got := fileByNumber(dir, "a.csv"); got != "a.csv" {
		t.Errorf("a.csv is shown as %s", got)
	}
	shown := fileByNumber(dir, "e@x.invalid.csv")
	if shown != "#2" || namedFile(dir, shown) != "e@x.invalid.csv" {
		t.Errorf("shown as %s, found as %s", shown, namedFile(dir, shown))
	}
	if got := fileByNumber(dir, "gone@x.invalid.csv"); got != "#0" || namedFile(dir, got) != "#0" || namedFile(dir, "#9") != "#9" {
		t.Errorf("a file that isn't there is shown as %s", got)
	}
}

// What sheetlift writes beside the exports, and what a spreadsheet program leaves there for a while, has no position.
func TestOwnFilesHaveNoPosition(t *testing.T) {
	dir := t.TempDir()
	book := func(name, by string) {
		f := excelize.NewFile()
		defer f.Close()
		if err := f.SetDocProps(&excelize.DocProperties{Creator: by}); err != nil {
			t.Fatal(err)
		}
		if err := f.SaveAs(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	book("a-review.xlsx", "sheetlift")
	book("b-export.xlsx", "Somebody")
	for _, name := range []string{"e@x.invalid.csv", "~$b-export.xlsx", ".hidden.csv"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if shown := fileByNumber(dir, "e@x.invalid.csv"); shown != "#2" || namedFile(dir, shown) != "e@x.invalid.csv" {
		t.Errorf("shown as %s", shown)
	}
}
