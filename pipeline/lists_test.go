package pipeline_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"
)

// workbook makes one whose first sheet has these rows, and lets edit change it.
func workbook(t *testing.T, rows [][]any, edit func(f *excelize.File) error) string {
	t.Helper()
	f := excelize.NewFile()
	defer f.Close()
	var buf bytes.Buffer
	var err error
	for i, row := range rows {
		cell, _ := excelize.CoordinatesToCellName(1, i+1)
		if err == nil {
			err = f.SetSheetRow("Sheet1", cell, &row)
		}
	}
	if err == nil && edit != nil {
		err = edit(f)
	}
	if err == nil {
		err = f.Write(&buf)
	}
	if err != nil {
		t.Fatal(err)
	}
	return buf.String()
}

// listOn puts a data-validation list on cells: values, or =cells.
func listOn(f *excelize.File, sheet, cells string, values ...string) error {
	dv := excelize.NewDataValidation(true)
	dv.Sqref = cells
	if len(values) == 1 && strings.HasPrefix(values[0], "=") {
		dv.SetSqrefDropList(values[0][1:])
	} else if err := dv.SetDropList(values); err != nil {
		return err
	}
	return f.AddDataValidation(sheet, dv)
}

// text reads a file of the house.
func (h *house) text(name string) string {
	h.t.Helper()
	data, err := os.ReadFile(filepath.Join(h.dir, filepath.FromSlash(name)))
	if err != nil {
		h.t.Fatal(err)
	}
	return string(data)
}

// The words of a data-validation list are drafted too, those that no row holds and those of a column without any; a value that is
// about a person is not.
func TestSuggestTakesWordsOfLists(t *testing.T) {
	t.Parallel()
	data := workbook(t, [][]any{
		{"Email", "Consent", "Channel", "Consent date"},
		{"a@x.example", "Granted", nil, "2026-01-02"},
		{"b@x.example", "Granted", nil, "2026-01-03"},
	}, func(f *excelize.File) error {
		if _, err := f.NewSheet("Lists"); err != nil {
			return err
		}
		for i, v := range []string{"E-Mail", "SMS", "Quirrelmann", "quirrelmann@x.example"} {
			cell, _ := excelize.CoordinatesToCellName(1, i+1)
			if err := f.SetCellStr("Lists", cell, v); err != nil {
				return err
			}
		}
		if err := listOn(f, "Sheet1", "B2:B100", "Granted", "Withdrawn", "Erika Quirrelmann", "zapfenstreich", "+49 170 1234567"); err != nil {
			return err
		}
		return listOn(f, "Sheet1", "C2:C100", "=Lists!$A$1:$A$4")
	})
	h := draftedOnly(t, map[string]string{"register.xlsx": data, "purposes.csv": purposesCSV})
	text := h.text("mappings/register-sheet1.yaml")
	if strings.Contains(text, "uirrelmann") || strings.Contains(text, "zapfenstreich") || strings.Contains(text, "1234567") {
		t.Errorf("the draft holds a value that nobody knows:\n%s", text)
	}
	for _, want := range []string{"withdrawn: [Withdrawn]", "given: [Granted]", "email: [E-Mail]", "sms: [SMS]", "data-validation list of its cells has", "confirm: true"} {
		if !strings.Contains(strings.ReplaceAll(text, "\n       #  ", ""), want) && !strings.Contains(text, want) {
			t.Errorf("%q is missing in:\n%s", want, text)
		}
	}
}
