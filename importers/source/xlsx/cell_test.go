package xlsx

import (
	"errors"
	"strings"
	"testing"

	"sheetlift/importers/source"
)

const testStyles = `<numFmts count="2"><numFmt numFmtId="164" formatCode="00000"/><numFmt numFmtId="165" formatCode="yyyy\-mm\-dd"/></numFmts>` +
	`<cellStyleXfs><xf numFmtId="9"/></cellStyleXfs>` +
	`<cellXfs><xf numFmtId="0"/><xf numFmtId="164"/><xf numFmtId="165"/><xf numFmtId="49"/></cellXfs>` +
	`<dxfs><dxf><numFmt numFmtId="165" formatCode="0%"/></dxf></dxfs>`

const testStrings = `<si><t>plain</t></si>` +
	`<si><t xml:space="preserve"> kept </t></si>` +
	`<si><r><rPr><b/></rPr><t>ri</t></r><r><t xml:space="preserve">ch </t></r><rPh sb="0" eb="1"><t>furigana</t></rPh><phoneticPr fontId="1"/></si>` +
	`<si><t>a_x000D_b_x005F_x000D_</t></si>` +
	`<si><t/></si><si/>` +
	"<si><t>one\r\ntwo\rthree&#13;</t></si>" +
	`<si><t>&lt;&amp;&gt;&quot;&apos;&#x1F600;&#8364;</t></si>` +
	`<si><t>t</t><r><t>+run</t></r></si>` +
	`<si><t><![CDATA[<c&d>]]><!-- no --> e</t></si>` +
	`<si><t>_xD83D__xDE00_ _xD83D_</t></si>`

func TestCells(t *testing.T) {
	tests := []struct {
		name, rows, want string
	}{
		{"number", `<row r="2"><c r="B2"><v>1.50</v></c></row>`, `S!B2 number "1.50" general`},
		{"number in white space", `<row r="1"><c r="A1"><v> 7 </v></c></row>`, `S!A1 number "7" general`},
		{"number that is none", `<row r="1"><c r="A1"><v>1,5</v></c></row>`, `S!A1 text "1,5" general`},
		{"exponent", `<row r="1"><c r="A1"><v>3.1010119560823098E+17</v></c></row>`, `S!A1 number "3.1010119560823098E+17" general`},
		{"no references", `<row><c><v>1</v></c><c><v>2</v></c></row><row><c/><c><v>3</v></c></row>`, "S!A1 number \"1\" general\nS!B1 number \"2\" general\nS!B2 number \"3\" general"},
		{"rows skip", `<row r="5"><c r="A5"><v>1</v></c></row><row><c><v>2</v></c></row>`, "S!A5 number \"1\" general\nS!A6 number \"2\" general"},
		{"row number from its cells", `<row><c r="C9"><v>1</v></c></row><row><c r="A10"><v>2</v></c></row>`, "S!C9 number \"1\" general\nS!A10 number \"2\" general"},
		{"lower case", `<row r="1"><c r="ab1"><v>1</v></c></row>`, `S!AB1 number "1" general`},
		{"cells out of order", `<row r="1"><c r="C1"><v>3</v></c><c r="A1"><v>1</v></c></row>`, "S!A1 number \"1\" general\nS!C1 number \"3\" general"},
		{"rows out of order", `<row r="3"><c r="A3"><v>3</v></c></row><row r="1"><c r="A1"><v>1</v></c></row>`, "S!A3 number \"3\" general\nS!A1 number \"1\" general"},
		{"single quotes and spaces", `<row r='1' ><c  r = 'A1'  t='n' ><v>1</v ></c ></row >`, `S!A1 number "1" general`},
		{"empty style", `<row r="1"><c r="A1" s="" t="s"><v>0</v></c></row>`, `S!A1 text "plain" general`},
		{"style beyond the list", `<row r="1"><c r="A1" s="99"><v>1</v></c></row>`, `S!A1 number "1" general`},
		{"date class", `<row r="1"><c r="A1" s="2"><v>44927</v></c></row>`, `S!A1 number "44927" date`},
		{"class of text", `<row r="1"><c r="A1" s="3" t="s"><v>0</v></c></row>`, `S!A1 text "plain" text`},
		{"zeros of the format", `<row r="1"><c r="A1" s="1"><v>123</v></c><c r="B1" s="1"><v>12345</v></c></row>`, "S!A1 number \"123\" general padded\nS!B1 number \"12345\" general"},
		{"shared: preserved", `<row r="1"><c r="A1" t="s"><v>1</v></c></row>`, `S!A1 text " kept " general`},
		{"shared: rich without phonetic", `<row r="1"><c r="A1" t="s"><v>2</v></c></row>`, `S!A1 text "rich " general`},
		{"shared: escapes", `<row r="1"><c r="A1" t="s"><v>3</v></c></row>`, `S!A1 text "a\rb_x000D_" general`},
		{"shared: empty is no cell", `<row r="1"><c r="A1" t="s"><v>4</v></c><c r="B1" t="s"><v>5</v></c></row>`, ``},
		{"shared: line ends", `<row r="1"><c r="A1" t="s"><v>6</v></c></row>`, `S!A1 text "one\ntwo\nthree\r" general`},
		{"shared: references", `<row r="1"><c r="A1" t="s"><v>7</v></c></row>`, `S!A1 text "<&>\"'😀€" general`},
		{"shared: text and runs", `<row r="1"><c r="A1" t="s"><v>8</v></c></row>`, `S!A1 text "t+run" general`},
		{"shared: CDATA", `<row r="1"><c r="A1" t="s"><v>9</v></c></row>`, `S!A1 text "<c&d> e" general`},
		{"shared: surrogates", `<row r="1"><c r="A1" t="s"><v>10</v></c></row>`, `S!A1 text "😀 _xD83D_" general`},
		{"shared: no index", `<row r="1"><c r="A1" t="s"/><c r="B1" t="s"><v></v></c></row>`, ``},
		{"inline", `<row r="1"><c r="A1" t="inlineStr"><is><t>in &amp; out</t></is></c></row>`, `S!A1 text "in & out" general`},
		{"inline rich", `<row r="1"><c r="A1" t="inlineStr"><is><r><t>a</t></r><r><t>b</t></r><rPh><t>x</t></rPh></is></c></row>`, `S!A1 text "ab" general`},
		{"inline preserved", `<row r="1"><c r="A1" t="inlineStr"><is><t xml:space="preserve"> a </t></is></c></row>`, `S!A1 text " a " general`},
		{"inline with _x", `<row r="1"><c r="A1" t="inlineStr"><is><t>a_x000d_b_c</t></is></c></row>`, `S!A1 text "a\rb_c" general`},
		{"inline text in v", `<row r="1"><c r="A1" t="inlineStr"><v>abc</v></c></row>`, `S!A1 text "abc" general`},
		{"inline without type", `<row r="1"><c r="A1"><is><t>abc</t></is></c></row>`, `S!A1 text "abc" general`},
		{"bool", `<row r="1"><c r="A1" t="b"><v>1</v></c><c r="B1" t="b"><v>0</v></c><c r="C1" t="b"><v>true</v></c></row>`, "S!A1 bool \"TRUE\" general\nS!B1 bool \"FALSE\" general\nS!C1 bool \"TRUE\" general"},
		{"error", `<row r="1"><c r="A1" t="e"><v>#N/A</v></c></row>`, `S!A1 error "#N/A" general`},
		{"ISO date", `<row r="1"><c r="A1" t="d"><v>2020-01-02T03:04:05</v></c></row>`, `S!A1 text "2020-01-02T03:04:05" datetime iso`},
		{"formula, number", `<row r="1"><c r="A1"><f>1+1</f><v>2</v></c></row>`, `S!A1 number "2" general formula`},
		{"formula, text", `<row r="1"><c r="A1" t="str"><f>"a"&amp;"&gt;"</f><v>a_x0041_</v></c></row>`, `S!A1 text "aA" general formula`},
		{"formula without cache", `<row r="1"><c r="A1"><f>NOW()</f></c><c r="B1"><f>1</f><v></v></c></row>`, "S!A1 empty \"\" general formula nocache\nS!B1 empty \"\" general formula nocache"},
		{"formula whose result is empty text", `<row r="1"><c r="A1" t="str"><f>""</f><v></v></c></row>`, ``},
		{"text of t=str without formula", `<row r="1"><c r="A1" t="str"><v>x</v></c></row>`, `S!A1 text "x" general`},
		{"same cell twice, same content", `<row r="1"><c r="A1"><v>1</v></c><c r="A1"><v>1</v></c></row>`, `S!A1 number "1" general`},
		{"extension in a cell", `<row r="1"><c r="A1"><v>1</v><extLst><ext><v>9</v></ext></extLst></c></row>`, `S!A1 number "1" general`},
		{"comment between cells", `<row r="1"><!-- </row> --><c r="A1"><v>1</v></c><?pi x?></row>`, `S!A1 number "1" general`},
		{"unknown attributes", `<row r="1"><c r="A1" cm="1" ph="1" t="s" x:y="z"><v>0</v></c></row>`, `S!A1 text "plain" general`},
		{"unknown element among rows", `<x><row r="7"/></x><row r="1"><y/><c r="A1"><v>1</v></c></row>`, `S!A1 number "1" general`},
		{"last place of a sheet", `<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>`, `S!XFD1048576 number "1" general`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, _, err := read(zipped(t, workbookParts(tt.rows, testStyles, testStrings)), source.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if got = strings.TrimSuffix(got, "\n"); got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

func TestPrefixedSheet(t *testing.T) {
	parts := replace(workbookParts("", "", `<si><t>a</t></si>`), "xl/worksheets/sheet1.xml", func(string) string {
		return `<?xml version="1.0"?><x:worksheet xmlns:x="http://purl.oclc.org/ooxml/spreadsheetml/main"><x:sheetData><x:row r="1"><x:c r="A1" t="s"><x:v>0</x:v></x:c><x:c r="B1" t="inlineStr"><x:is><x:t>b</x:t></x:is></x:c></x:row></x:sheetData></x:worksheet>`
	})
	got, _, err := read(zipped(t, parts), source.Options{})
	if want := "S!A1 text \"a\" general\nS!B1 text \"b\" general\n"; err != nil || got != want {
		t.Errorf("got %q, %v; want %q", got, err, want)
	}
}

func TestRefusedCells(t *testing.T) {
	tests := []struct {
		name, rows string
		kind       error
		row        int
		says       string
	}{
		{"shared string that isn't there", `<row r="3"><c r="A3" t="s"><v>99</v></c></row>`, source.ErrMalformed, 3, "cell A3"},
		{"shared string index that is none", `<row r="3"><c r="A3" t="s"><v>x</v></c></row>`, source.ErrMalformed, 3, "cell A3"},
		{"type that is none", `<row r="1"><c r="A1" t="n"><v>1</v></c><c r="B1" t="zz"/><c r="C1" t="zz"><v>1</v></c></row>`, source.ErrMalformed, 1, "cell C1"},
		{"type of one letter that is none", `<row r="1"><c r="A1"><v>1</v></c></row><row r="2"><c r="A2" t="z"><v>1</v></c></row>`, source.ErrMalformed, 2, "cell A2"},
		{"type that is none of an inline text", `<row r="1"><c r="A1" t="zz"><is><t>x</t></is></c></row>`, source.ErrMalformed, 1, "cell A1"},
		{"boolean that is none", `<row r="1"><c r="A1" t="b"><v>maybe</v></c></row>`, source.ErrMalformed, 1, "cell A1"},
		{"twice with other content", `<row r="1"><c r="A1"><v>1</v></c><c r="A1"><v>2</v></c></row>`, source.ErrMalformed, 1, "twice"},
		{"row twice", `<row r="1"><c r="A1"><v>1</v></c></row><row r="1"><c r="B1"><v>2</v></c></row>`, source.ErrMalformed, 1, "two rows"},
		{"reference of another row", `<row r="1"><c r="A2"><v>1</v></c></row>`, source.ErrMalformed, 1, "row 1"},
		{"reference that is none", `<row r="1"><c r="1A"><v>1</v></c></row>`, source.ErrMalformed, 1, "reference"},
		{"row number that is none", `<row r="x"/>`, source.ErrMalformed, 0, "number"},
		{"beyond the last row", `<row r="1048577"><c><v>1</v></c></row>`, source.ErrLimit, 0, "1048577"},
		{"beyond the last column", `<row r="1"><c r="XFE1"><v>1</v></c></row>`, source.ErrLimit, 1, "column"},
		{"lone ampersand", `<row r="1"><c r="A1" t="str"><v>a & b</v></c></row>`, source.ErrMalformed, 1, "undecodable"},
		{"unknown entity", `<row r="1"><c r="A1" t="str"><v>&nbsp;</v></c></row>`, source.ErrMalformed, 1, "undecodable"},
		{"invalid UTF-8", "<row r=\"1\"><c r=\"A1\" t=\"inlineStr\"><is><t>\xff</t></is></c></row>", source.ErrMalformed, 1, "undecodable"},
		{"wrong end tag", `<row r="1"><c r="A1"><v>1</v></row>`, source.ErrMalformed, 1, "well-formed"},
		{"cut in a cell", `<row r="1"><c r="A1"><v>1`, source.ErrMalformed, 1, "well-formed"},
		{"two lists of rows", `</sheetData><sheetData>`, source.ErrMalformed, 0, "two lists"},
		{"deep", `<row r="1"><c r="A1">` + strings.Repeat("<x>", 100) + strings.Repeat("</x>", 100) + `</c></row>`, source.ErrLimit, 1, "nested"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, _, err := read(zipped(t, workbookParts(tt.rows, testStyles, testStrings)), source.Options{})
			var f *source.Error
			if !errors.As(err, &f) || !errors.Is(err, tt.kind) {
				t.Fatalf("got %v, want %v", err, tt.kind)
			}
			if f.Sheet != "S" || f.Row != tt.row || f.Part == "" || f.Remedy == "" || !strings.Contains(f.Message, tt.says) {
				t.Errorf("fault %+v does not name sheet, row %d, part, remedy, or say %q", f, tt.row, tt.says)
			}
		})
	}
}

func TestFacts(t *testing.T) {
	parts := replace(workbookParts("", testStyles, ""), "xl/worksheets/sheet1.xml", func(string) string {
		return `<worksheet ` + nsMain + `><cols><col min="2" max="4" hidden="1"/></cols><sheetData>` +
			`<row r="1" hidden="1"><c r="A1"><v>1</v></c><c r="C1"><f>A1</f></c></row><row r="2" hidden="true"/><row r="4"><c r="B4" t="e"><f>1/0</f><v>#DIV/0!</v></c></row>` +
			`</sheetData><autoFilter ref="A1:B4"/><mergeCells><mergeCell ref="A1:B1"/><mergeCell ref="A2:B2"/></mergeCells><dataValidations><dataValidation/></dataValidations></worksheet>`
	})
	_, got, err := read(zipped(t, parts), source.Options{})
	want := source.Facts{Rows: 2, Cells: 2, LastRow: 4, LastColumn: 3, Merged: 2, HiddenRows: 2, HiddenColumns: 3, Formulas: 2, FormulasNoCache: 1, ErrorCells: 1, AutoFilter: true, Validations: 1}
	if err != nil || got != want {
		t.Errorf("got  %+v, %v\nwant %+v", got, err, want)
	}
}

func TestStylesOverrideBuiltin(t *testing.T) {
	styles := `<cellXfs><xf numFmtId="14"/></cellXfs><numFmts><numFmt numFmtId="14" formatCode="0.0"/></numFmts>`
	got, _, err := read(zipped(t, workbookParts(`<row><c s="0"><v>1</v></c></row>`, styles, "")), source.Options{})
	if want := "S!A1 number \"1\" general\n"; err != nil || got != want {
		t.Errorf("got %q, %v; want %q", got, err, want)
	}
}
