package pipeline_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/xuri/excelize/v2"

	"sheetlift/importers/source"
	"sheetlift/pipeline"
)

// Of a workbook of which some sheets are understood, no sheet is passed over that has contact points or may be a list of opt-outs: it gets the mapping to fill
// in that a file of its own gets. What is left out is named.
func TestSheetsOfPeopleAreNotLeftOut(t *testing.T) {
	for _, tc := range []struct {
		sheet, rows string
		bare        bool
		said        string
	}{
		{"Left", "Email|Left on;a@x.example|2024-01-02;zz@x.example|2024-01-03", true, "sounds like that of a list of opt-outs"},
		{"Data", "Email|Since;a@x.example|2024-01-02", true, "it has contact points"},
		{"Mobil", "Mobil;+49 151 23456789", true, "it has contact points"},
		{"Abmeldungen", "Nr|Am;17|2024-01-02", true, "sounds like that of a list of opt-outs"},
		{"Tabelle2", "Nr|Widerruf;17|13.05.2023;18|ja", true, ""},
		{"Abmeldungen", "", false, ""}, // empty
		{"Instructions", "How to use;Fill in every row", false, ""},
		{"Help", "Do not change this sheet|Step;Ask the office|1", false, ""},
		{"Totals", "Year|Members;2024|17", false, ""},
		{"Hinweise", "Hinweise;Bitte nicht mehr anschreiben:;Frau Dora (d@x.example), Herr Cleo c@x.example", false, ""},
	} {
		t.Run(tc.sheet, func(t *testing.T) {
			dir := t.TempDir()
			f := excelize.NewFile()
			defer f.Close()
			for sheet, rows := range map[string]string{"Members": "Member|Email|Consent;1|a@x.example|Yes;2|b@x.example|No", tc.sheet: tc.rows} {
				if _, err := f.NewSheet(sheet); err != nil {
					t.Fatal(err)
				}
				for i, line := range strings.Split(rows, ";") {
					row := strings.Split(line, "|")
					if err := f.SetSheetRow(sheet, "A"+strconv.Itoa(i+1), &row); rows != "" && err != nil {
						t.Fatal(err)
					}
				}
			}
			path := filepath.Join(dir, "list.xlsx")
			if err := f.SaveAs(path); err != nil {
				t.Fatal(err)
			}
			drafts, err := pipeline.Draft(t.Context(), []string{path}, pipeline.DraftOptions{Dir: dir, Namespace: uuid.MustParse("0f8b9d0e-94f2-4c0c-9d55-3a8a3f2c7b61")})
			if err != nil {
				t.Fatal(err)
			}
			what := ""
			for _, d := range drafts.Files {
				if strings.HasPrefix(d.What, "bare mapping of list.xlsx, sheet \""+tc.sheet+"\"") {
					what = d.What
					if data, err := os.ReadFile(filepath.Join(dir, d.Path)); err != nil || !strings.Contains(string(data), "entity: TODO") {
						t.Errorf("%v\n%s", err, data)
					}
				}
			}
			if (what != "") != tc.bare || !strings.Contains(what, tc.said) {
				t.Errorf("drafted: %q", what)
			}
			if within := strings.Contains(strings.Join(drafts.LeftOut, "\n"), "1 text holds an address among other words"); within != (tc.sheet == "Hinweise") {
				t.Errorf("left out: %q", drafts.LeftOut)
			}
			if left := strings.Contains(strings.Join(drafts.LeftOut, "\n"), tc.sheet); left != (!tc.bare && tc.rows != "") {
				t.Errorf("left out: %q", drafts.LeftOut)
			}
		})
	}
}

// A pipe that nobody writes to is refused at once, wherever it lies; opening it would wait for ever.
func TestDraftOfAPipe(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"pipe.csv", "beside.xlsx"} {
		if err := exec.Command("mkfifo", filepath.Join(dir, name)).Run(); err != nil {
			t.Skip("this system has no mkfifo")
		}
	}
	_, err := pipeline.Draft(t.Context(), []string{filepath.Join(dir, "pipe.csv")}, pipeline.DraftOptions{Dir: dir, Namespace: uuid.MustParse("0f8b9d0e-94f2-4c0c-9d55-3a8a3f2c7b61")})
	if !errors.Is(err, source.ErrUnsupported) {
		t.Errorf("got %v", err)
	}
}
