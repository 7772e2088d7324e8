package xlsx

import (
	"bytes"
	"context"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"

	"sheetlift/importers/source"
)

// marked reads the first sheet of a package and gives its marks, and the look of each cell.
func marked(t *testing.T, parts []part) (source.Marks, map[string]int) {
	t.Helper()
	raw := zipped(t, parts)
	b, err := Open(context.Background(), "f.xlsx", bytes.NewReader(raw), int64(len(raw)), source.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	r, err := b.Read(context.Background(), 0)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	looks := map[string]int{}
	for {
		k, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		for i, row := range k.RowNum {
			for col := range k.Cols {
				if c := k.Cell(col, i); c.Kind != source.Empty {
					looks[source.Ref(col, row)] = c.Flags.Look()
				}
			}
		}
	}
	return source.MarksOf(context.Background(), r), looks
}

func TestMarks(t *testing.T) {
	parts := replace(workbookParts("", "", ""), "xl/worksheets/sheet1.xml", func(string) string {
		return `<worksheet ` + nsMain + `><cols><col min="2" max="3" hidden="1"/></cols><sheetData>` +
			`<row r="1"><c r="A1"><v>1</v></c></row><row r="2" hidden="1"><c r="A2"><v>1</v></c></row><row r="3" hidden="1"/><row r="5" hidden="1"><c r="A5"><v>1</v></c></row>` +
			`</sheetData><autoFilter ref="A1:C5"><filterColumn colId="0"><filters><filter val="x"/></filters></filterColumn></autoFilter>` +
			`<customSheetViews><customSheetView><autoFilter ref="A9:B9"><filterColumn colId="0"><filters/></filterColumn></autoFilter></customSheetView></customSheetViews>` +
			`<mergeCells><mergeCell ref="A1:C1"/><mergeCell ref="B4:B5"/></mergeCells>` +
			`<dataValidations count="4"><dataValidation type="list" sqref="A2:A5 C2"><formula1>"yes, no,""maybe"""</formula1></dataValidation>` +
			`<dataValidation type="list" sqref="B2:B5"><formula1>Stati</formula1></dataValidation>` +
			`<dataValidation type="list" sqref="D2"><formula1>INDIRECT(A1)</formula1></dataValidation>` +
			`<dataValidation type="whole" sqref="E2"><formula1>1</formula1></dataValidation></dataValidations>` +
			`<extLst><ext><x14:dataValidations xmlns:x14="x" xmlns:xm="y"><x14:dataValidation type="list"><x14:formula1><xm:f>'It''s a list'!$A$1:$A$3</xm:f></x14:formula1><xm:sqref>F2:F9</xm:sqref></x14:dataValidation></x14:dataValidations></ext></extLst></worksheet>`
	})
	parts = replace(parts, "xl/workbook.xml", func(s string) string {
		return strings.Replace(s, "</sheets>", `</sheets><definedNames><definedName name="STATI">S!$H$1:$H$2</definedName></definedNames>`, 1)
	})
	parts = append(parts,
		part{"xl/worksheets/_rels/sheet1.xml.rels", relsXML(relXML("rId1", "comments", "../comments1.xml") + relXML("rId2", "threadedComment", "../threaded1.xml"))},
		part{"xl/comments1.xml", `<comments ` + nsMain + `><commentList><comment ref="A2"/><comment ref="B7"/></commentList></comments>`},
		part{"xl/threaded1.xml", `<ThreadedComments><threadedComment ref="A2"/><threadedComment ref="A2"/><threadedComment ref="A9"/></ThreadedComments>`})
	got, _ := marked(t, parts)
	want := source.Marks{
		HiddenRows: source.Places{N: 2, First: 2, Last: 5}, HiddenColumns: []source.Range{{FirstCol: 1, LastCol: 2}},
		Merged: []source.Range{{FirstCol: 0, FirstRow: 1, LastCol: 2, LastRow: 1}, {FirstCol: 1, FirstRow: 4, LastCol: 1, LastRow: 5}},
		Filter: source.Range{FirstRow: 1, LastCol: 2, LastRow: 5}, Filtered: true, Comments: source.Places{N: 3, First: 2, Last: 9}, Colours: true,
		Lists: []source.List{
			{Ranges: []source.Range{{FirstCol: 0, FirstRow: 2, LastCol: 0, LastRow: 5}, {FirstCol: 2, FirstRow: 2, LastCol: 2, LastRow: 2}}, Values: []string{"yes", "no", `"maybe"`}},
			{Ranges: []source.Range{{FirstCol: 1, FirstRow: 2, LastCol: 1, LastRow: 5}}, Refers: true, Sheet: "S", Cells: source.Range{FirstCol: 7, FirstRow: 1, LastCol: 7, LastRow: 2}},
			{Ranges: []source.Range{{FirstCol: 3, FirstRow: 2, LastCol: 3, LastRow: 2}}, Opaque: true},
			{Ranges: []source.Range{{FirstCol: 5, FirstRow: 2, LastCol: 5, LastRow: 9}}, Refers: true, Sheet: "It's a list", Cells: source.Range{FirstRow: 1, LastRow: 3}},
		},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

// A button without criteria hides nothing; the filter of a table does as the sheet's own.
func TestFiltersOfTables(t *testing.T) {
	for body, want := range map[string]bool{
		`<table><autoFilter ref="A1:B3"/></table>`:                                                                            false,
		`<table><autoFilter ref="A1:B3"><filterColumn colId="0" hiddenButton="1"/></autoFilter></table>`:                      false,
		`<table><autoFilter ref="A1:B3"><filterColumn colId="0"><filters blank="1"/></filterColumn></autoFilter></table>`:     true,
		`<table><autoFilter ref="A1:B3"><filterColumn colId="0"><filters blank="1"/></filterColumn></autoFilter></table></x>`: true, // damaged after it
	} {
		got, _ := marked(t, append(workbookParts(`<row r="1"><c r="A1"><v>1</v></c></row>`, "", ""),
			part{"xl/worksheets/_rels/sheet1.xml.rels", relsXML(relXML("rId1", "table", "../tables/table1.xml"))}, part{"xl/tables/table1.xml", body}))
		if got.Filtered != want {
			t.Errorf("%s: filtered %v", body, got.Filtered)
		}
	}
}

func TestLooks(t *testing.T) {
	styles := `<fonts><font><color theme="1"/></font><font><color rgb="FFFF0000"/></font><font><u/><color theme="4"/></font></fonts>` +
		`<fills><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill><fill><patternFill patternType="solid"><fgColor rgb="FFFFFF00"/><bgColor indexed="64"/></patternFill></fill>` +
		`<fill><patternFill patternType="solid"><fgColor rgb="FFFFFFFF"/></patternFill></fill><fill><patternFill patternType="none"><fgColor rgb="FFFFFF00"/></patternFill></fill></fills>` +
		`<cellXfs><xf fontId="0" fillId="0"/><xf fontId="1" fillId="0"/><xf fontId="0" fillId="2"/><xf fontId="2" fillId="0"/><xf fontId="0" fillId="3"/><xf fontId="0" fillId="4"/><xf fontId="0" fillId="2" numFmtId="14"/><xf fontId="9" fillId="-1"/></cellXfs>`
	row := `<row r="1">`
	for i, c := range "ABCDEFGH" {
		row += `<c r="` + string(c) + `1" s="` + string(rune('0'+i)) + `"><v>1</v></c>`
	}
	_, got := marked(t, workbookParts(row+`</row><row r="2"><c r="A2" t="str" s="1"><f>A1</f><v>x</v></c></row>`, styles, ""))
	want := map[string]int{"A1": 0, "B1": 1, "C1": 2, "D1": 0, "E1": 0, "F1": 0, "G1": 2, "H1": 0, "A2": 1}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
