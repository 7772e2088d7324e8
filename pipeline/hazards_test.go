package pipeline_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"

	"sheetlift/importers/source/biff/bifftest"
	"sheetlift/pipeline"
	"sheetlift/pipeline/finding"
	"sheetlift/pipeline/store/storetest"
)

// hazardsOf takes an inventory of a batch with one source, contacts.xlsx or the file named, and gives its findings by rule.
func hazardsOf(t *testing.T, file, data string) map[string][]finding.Finding {
	t.Helper()
	h := &house{t: t, dir: t.TempDir(), url: storetest.SQLite(t)}
	h.write(file, data)
	sheet := "    sheet: Sheet1\n"
	if strings.HasSuffix(file, ".csv") {
		sheet = ""
	}
	h.write("batch.yaml", `version: 1
batch: hazards
tenant: { name: T, namespace: 0f8b9d0e-94f2-4c0c-9d55-3a8a3f2c7b61 }
sources:
  - name: contacts
    file: `+file+`
`+sheet+`    system: crm
    owner: o
    definition: d
    mapping: contacts.yaml
    obtained_at: 2026-10-01T09:30:00+02:00
    zone: Europe/Berlin
`)
	h.write("contacts.yaml", `version: 1
mapping: contacts
header: { row: 1 }
records:
  - entity: consent
    key: [email]
    fields:
      email: Email
      phone: { from: Phone, region: DE }
      purpose: Purpose
      status: { from: Status, enum: { given: [Y, G], withdrawn: [N] } }
      occurred_at: { from: At, format: iso8601 }
      expires_at: { from: Until, format: iso8601 }
`)
	r, err := h.run(pipeline.Inventory)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string][]finding.Finding{}
	for _, f := range findings(t, r["inventory"].(*pipeline.InventoryResult).FindingsFile) {
		got[f.Rule] = append(got[f.Rule], f)
	}
	return got
}

// register is a clean sheet of n rows; edit changes the rows before they are written.
func cleanRows(n int, edit func(rows [][]any)) [][]any {
	rows := [][]any{{"Email", "Phone", "Purpose", "Status", "At", "Until", "Shop"}}
	for i := range n {
		rows = append(rows, []any{fmt.Sprintf("p%d@shop.invalid", i), fmt.Sprintf("+49 30 90182%03d", i), "news", []string{"Y", "N"}[i%2], fmt.Sprintf("2025-03-%02dT10:%02d:00Z", i%28+1, i%60), "2030-01-01", "Bonn"})
	}
	if edit != nil {
		edit(rows)
	}
	return rows
}

var hazardRules = []string{
	"sheet.hidden_rows", "sheet.hidden_columns", "sheet.filter_active", "sheet.merged_cells", "sheet.comments", "column.colours_vary", "column.formula_decides",
	"column.numbers_as_text", "column.text_as_numbers", "value.outside_list", "row.sample", "row.totals", "sheet.several_tables", "date.all_equal", "date.all_midnight",
	"date.future", "consent.time_of_export", "file.old_date_system", "file.other_program",
}

// Each hazard is found in a workbook of its own, once, at its place, with nothing else; a clean sheet has none.
func TestHazards(t *testing.T) {
	t.Parallel()
	style := func(f *excelize.File, s *excelize.Style, from, to string) error {
		id, err := f.NewStyle(s)
		if err != nil {
			return err
		}
		return f.SetCellStyle("Sheet1", from, to, id)
	}
	yellow := &excelize.Style{Fill: excelize.Fill{Type: "pattern", Pattern: 1, Color: []string{"FFFF00"}}}
	for _, tc := range []struct {
		name, rule      string
		rows            [][]any
		edit            func(f *excelize.File) error
		n, first, last  int
		column, message string
		file, data      string
	}{
		{name: "clean", rows: cleanRows(24, nil)},
		{name: "hidden rows", rule: "sheet.hidden_rows", n: 2, first: 4, last: 9, edit: func(f *excelize.File) error {
			_ = f.SetRowVisible("Sheet1", 200, false) // holds nothing
			_ = f.SetRowVisible("Sheet1", 9, false)
			return f.SetRowVisible("Sheet1", 4, false)
		}},
		{name: "hidden columns", rule: "sheet.hidden_columns", column: "D", n: 24, message: "D", edit: func(f *excelize.File) error {
			_ = f.SetColVisible("Sheet1", "J", false) // holds nothing
			return f.SetColVisible("Sheet1", "D", false)
		}},
		{name: "filter", rule: "sheet.filter_active", n: 1, first: 3, last: 3, edit: func(f *excelize.File) error {
			_ = f.SetRowVisible("Sheet1", 3, false)
			return f.AutoFilter("Sheet1", "A1:G25", []excelize.AutoFilterOptions{{Column: "D", Expression: "x == Y"}})
		}},
		{name: "a filter without criteria", edit: func(f *excelize.File) error { return f.AutoFilter("Sheet1", "A1:G25", nil) }},
		{name: "merged", rule: "sheet.merged_cells", n: 1, first: 5, last: 5, edit: func(f *excelize.File) error { return f.MergeCell("Sheet1", "C5", "C7") }},
		{name: "a merged header", edit: func(f *excelize.File) error { return f.MergeCell("Sheet1", "G1", "H1") }},
		{name: "comments", rule: "sheet.comments", n: 2, first: 2, last: 6, edit: func(f *excelize.File) error {
			_ = f.AddComment("Sheet1", excelize.Comment{Cell: "A2", Text: "withdrew by phone"})
			return f.AddComment("Sheet1", excelize.Comment{Cell: "B6", Text: "x"})
		}},
		{name: "fill", rule: "column.colours_vary", column: "D", n: 3, first: 4, last: 6, edit: func(f *excelize.File) error { return style(f, yellow, "D4", "D6") }},
		{name: "font", rule: "column.colours_vary", column: "A", n: 1, first: 4, last: 4, edit: func(f *excelize.File) error {
			return style(f, &excelize.Style{Font: &excelize.Font{Color: "FF0000"}}, "A4", "A4")
		}},
		{name: "a link is no colour", edit: func(f *excelize.File) error {
			return style(f, &excelize.Style{Font: &excelize.Font{Color: "0563C1", Underline: "single"}}, "A4", "A4")
		}},
		{name: "a coloured header and a coloured column", edit: func(f *excelize.File) error {
			_ = style(f, yellow, "A1", "G1")
			return style(f, yellow, "C2", "C25")
		}},
		{name: "stripes", edit: func(f *excelize.File) error {
			for row := 2; row <= 25; row += 2 {
				if err := style(f, yellow, fmt.Sprintf("A%d", row), fmt.Sprintf("G%d", row)); err != nil {
					return err
				}
			}
			return nil
		}},
		{name: "formula", rule: "column.formula_decides", column: "D", n: 2, first: 3, last: 8, edit: func(f *excelize.File) error {
			_ = f.SetCellFormula("Sheet1", "D3", `IF(1=1,"Y","N")`)
			return f.SetCellFormula("Sheet1", "D8", `IF(1=1,"Y","N")`)
		}},
		{name: "numbers as text", rule: "column.numbers_as_text", column: "G", n: 24, first: 2, last: 25, rows: cleanRows(24, func(rows [][]any) {
			for i, r := range rows[1:] {
				r[6] = fmt.Sprint(100 + i)
			}
		})},
		{name: "text as numbers", rule: "column.text_as_numbers", column: "B", n: 2, rows: cleanRows(24, func(rows [][]any) { rows[3][1], rows[9][1] = 3090182000, 3090182001 })},
		{name: "outside a list", rule: "value.outside_list", column: "G", n: 1, first: 7, last: 7, rows: cleanRows(24, func(rows [][]any) { rows[6][6] = "Bnon" }), edit: func(f *excelize.File) error {
			return listOn(f, "Sheet1", "G2:G100", "Bonn", "Ulm")
		}},
		{name: "outside a list in cells", rule: "value.outside_list", column: "G", n: 1, first: 7, last: 7, rows: cleanRows(24, func(rows [][]any) { rows[6][6] = "Bnon" }), edit: func(f *excelize.File) error {
			if _, err := f.NewSheet("Lists"); err != nil {
				return err
			}
			_ = f.SetCellStr("Lists", "B3", "bonn ")
			_ = f.SetCellStr("Lists", "B4", "Ulm")
			return listOn(f, "Sheet1", "G2:G100", "=Lists!$B$3:$B$9")
		}},
		{name: "sample", rule: "row.sample", n: 2, first: 2, last: 12, rows: cleanRows(24, func(rows [][]any) { rows[1][6] = "EXAMPLE"; rows[1][0] = "test@shop.invalid"; rows[11][6] = "Beispiel" })},
		{name: "totals", rule: "row.totals", n: 1, first: 26, last: 26, rows: append(cleanRows(24, nil), []any{"Total:", nil, nil, nil, nil, nil, nil})},
		{name: "a word that stands for totals elsewhere", rows: cleanRows(24, func(rows [][]any) { rows[4][6] = "Total" })},
		{name: "tables below", rule: "sheet.several_tables", n: 1, first: 28, last: 28, rows: append(cleanRows(24, nil), nil, nil, []any{"Name", "Since"}, []any{"Ulm", "2020-01-01"})},
		{name: "title below", rule: "sheet.several_tables", n: 1, first: 26, last: 26, rows: slices.Concat(cleanRows(24, nil), [][]any{{"Do not contact"}}, cleanRows(1, nil)[1:])},
		{name: "title and header below", rule: "sheet.several_tables", n: 2, first: 27, last: 28, rows: append(cleanRows(24, nil), nil, []any{"Abmeldungen"}, []any{"Name", "Since"}, []any{"Ulm", "2020-01-01"})},
		{name: "a title of another kind", rows: slices.Concat(cleanRows(24, nil), [][]any{{"Sales North"}}, cleanRows(1, nil)[1:])},
		{name: "notes at the end", rows: append(cleanRows(24, nil), nil, []any{"* N: opted out by phone"}, []any{"Do not contact"})},
		{name: "a blank row", rows: append(cleanRows(24, nil), nil, cleanRows(1, nil)[1])},
		{name: "tables beside", rule: "sheet.several_tables", column: "I", rows: cleanRows(24, func(rows [][]any) {
			for i := range rows {
				rows[i] = append(rows[i], nil, fmt.Sprintf("k%c", 'a'+i), "x")
			}
			rows[0][8], rows[0][9] = "Code", "Label"
		})},
		{name: "all equal", rule: "date.all_equal", column: "E", n: 24, rows: cleanRows(24, func(rows [][]any) {
			for _, r := range rows[1:] {
				r[4] = "2025-03-01T10:11:12Z"
			}
		})},
		{name: "all midnight", rule: "date.all_midnight", column: "E", n: 24, rows: cleanRows(24, func(rows [][]any) {
			for i, r := range rows[1:] {
				r[4] = fmt.Sprintf("2025-03-%02d 00:00:00", i+1)
			}
		})},
		{name: "future", rule: "date.future", column: "E", n: 2, first: 3, last: 20, rows: cleanRows(24, func(rows [][]any) { rows[2][4], rows[19][4] = "2062-01-01T10:00:00Z", "03/04/2027" })},
		{name: "future serial", rule: "date.future", column: "E", n: 1, first: 3, last: 3, edit: func(f *excelize.File) error {
			format := "yyyy-mm-dd hh:mm"
			_ = f.SetCellValue("Sheet1", "E3", 60000.25)
			return style(f, &excelize.Style{CustomNumFmt: &format}, "E3", "E3")
		}},
		{name: "not later than the export", rows: cleanRows(24, func(rows [][]any) { rows[2][4], rows[3][4] = "2026-10-01T09:00:00Z", "2026-10-01" })},
		{name: "time of the export", rule: "consent.time_of_export", column: "E", n: 2, first: 3, last: 5, rows: cleanRows(24, func(rows [][]any) { rows[2][4], rows[4][4] = "2026-10-01T07:30:12Z", "2026-10-01 09:30" })},
		{name: "time of the export as a number", rule: "consent.time_of_export", column: "E", n: 1, first: 3, last: 3, edit: func(f *excelize.File) error {
			format := "yyyy-mm-dd hh:mm"
			_ = f.SetCellValue("Sheet1", "E3", 46296.395833333336)
			return style(f, &excelize.Style{CustomNumFmt: &format}, "E3", "E3")
		}},
		{name: "1904", rule: "file.old_date_system", edit: func(f *excelize.File) error {
			yes := true
			return f.SetWorkbookProps(&excelize.WorkbookPropsOptions{Date1904: &yes})
		}},
		{name: "another program", rule: "file.other_program", edit: func(f *excelize.File) error {
			return f.SetAppProps(&excelize.AppProperties{Application: "Microsoft Excel", AppVersion: "3.1"})
		}},
		{name: "Excel itself", edit: func(f *excelize.File) error {
			return f.SetAppProps(&excelize.AppProperties{Application: "Microsoft Excel", AppVersion: "16.0300"})
		}},
		{name: "another format", rule: "file.other_program", file: "contacts.xlsb"},
		{name: "midnights of a text file", rule: "date.all_midnight", column: "E", n: 12, file: "contacts.csv", data: func() string {
			text := "Email,Phone,Purpose,Status,At,Until,Shop\n"
			for i := range 12 {
				text += fmt.Sprintf("p%d@shop.invalid,,news,%s,%02d.03.2025 00:00,,1\n", i, []string{"Y", "N"}[i%2], i+1)
			}
			return text
		}()},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			if tc.rows == nil {
				tc.rows = cleanRows(24, nil)
			}
			if tc.file == "" {
				tc.file = "contacts.xlsx"
			}
			if tc.data == "" {
				tc.data = workbook(t, tc.rows, tc.edit)
			}
			got := hazardsOf(t, tc.file, tc.data)
			for _, rule := range hazardRules {
				list := got[rule]
				if rule != tc.rule {
					if len(list) > 0 {
						t.Errorf("false alarm: %+v", list)
					}
					continue
				}
				if len(list) != 1 {
					t.Fatalf("%s: %d findings, want one; all: %v", rule, len(list), got)
				}
				f := list[0]
				if f.Rows != tc.n || f.Row != tc.first || f.LastRow != tc.last || f.Column != tc.column || f.Severity != finding.Warning || f.File != tc.file || f.Source != "contacts" || !strings.Contains(f.Message, tc.message) {
					t.Errorf("got %+v", f)
				}
			}
		})
	}
}

// What an .xls shows beside its cells is found like that of an .xlsx.
func TestHazardsOfOldWorkbooks(t *testing.T) {
	t.Parallel()
	cell := func(row, col, xf int) []byte { return bifftest.Bytes(uint16(row), uint16(col), uint16(xf)) }
	var records []byte
	add := func(id uint16, parts ...any) { records = append(records, bifftest.Record(id, parts...)...) }
	add(0x7d, uint16(4), uint16(4), uint16(2000), uint16(0), uint16(1), uint16(0)) // column E is hidden
	add(0x208, uint16(2), uint16(0), uint16(7), uint16(300), uint32(0), uint32(0x20))
	for i, row := range cleanRows(24, func(rows [][]any) { rows[6][6] = "Bnon" }) {
		for col, v := range row {
			xf := 0
			if col == 0 && i == 4 {
				xf = 1 // yellow
			}
			s := v.(string)
			add(0x204, cell(i, col, xf), uint16(len(s)), 0, s)
		}
	}
	add(0x1c, uint16(5), uint16(1), uint16(0), uint16(1), uint16(1), 0, "x") // a comment
	add(0xe5, uint16(1), uint16(4), uint16(6), uint16(2), uint16(2))         // C5:C7 are merged
	empty := []byte{1, 0, 0, 0}
	list := bifftest.Bytes(0x17, 8, 0, "Bonn\x00Ulm")
	add(0x1be, uint32(3|0x180), empty, empty, empty, empty, uint16(len(list)), uint16(0), list, uint16(0), uint16(0), uint16(1), uint16(1), uint16(99), uint16(6), uint16(6))
	xf := func(pattern uint32, fore uint16) []byte {
		return bifftest.Record(0xe0, uint16(0), uint16(0), uint16(0), uint32(0), uint32(0), pattern<<26, fore)
	}
	book := bifftest.Compound(bifftest.Stream{Name: "Workbook", Data: bifftest.Stream8(bifftest.Bytes(xf(0, 64), xf(1, 13)), bifftest.Sheet{Name: "Sheet1", Records: records})})
	got := hazardsOf(t, "contacts.xls", string(book))
	for rule, at := range map[string][2]int{"sheet.hidden_rows": {3, 3}, "sheet.hidden_columns": {0, 0}, "sheet.merged_cells": {5, 5}, "sheet.comments": {6, 6}, "column.colours_vary": {5, 5}, "value.outside_list": {7, 7}} {
		if list := got[rule]; len(list) != 1 || list[0].Row != at[0] || list[0].LastRow != at[1] {
			t.Errorf("%s: %+v", rule, list)
		}
	}
}

// Text after a closing quote is read as part of the value; that is said, with the first such cell.
func TestHazardOfStrayQuotes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		row  string
		n    int
		cell string
	}{
		"none":             {"\"C-9\";\"a \"\"b\"\" c\";x\n", 0, ""},
		"inside":           {"C-9;a \"b\" c;x\n", 0, ""},
		"after":            {"C-9;\"a\"b;x\n", 1, "B3"},
		"two in a row":     {"C-9;\"a\" ;\"x\"y\n", 2, "B3"},
		"in the last cell": {"C-9;\"a\";\"x\"y", 1, "C3"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			list := hazardsOf(t, "contacts.csv", "Id;Name;Mail\nC-1;a;b\n"+c.row)["cell.stray_quote"]
			if c.n == 0 && len(list) == 0 {
				return
			}
			if len(list) != 1 || list[0].Rows != c.n || list[0].Cell != c.cell || list[0].Row != 3 || list[0].Severity != finding.Warning {
				t.Errorf("%+v", list)
			}
		})
	}
}
