package count

import (
	"archive/zip"
	"bytes"
	"context"
	"io"
	"testing"

	"sheetlift/importers/source"
	"sheetlift/importers/source/ods"
)

// TestSpreadsheet counts what the reader reads, and knows the numbers by itself.
func TestSpreadsheet(t *testing.T) {
	const (
		row   = "<table:table-row>"
		end   = "</table:table-row>"
		one   = `<table:table-cell office:value-type="float" office:value="1" calcext:value-type="float"><text:p>1</text:p></table:table-cell>`
		frame = `<draw:frame><text:p>no</text:p></draw:frame>`
	)
	cell := func(attrs, inner string) string {
		return row + `<table:table-cell ` + attrs + `>` + inner + `</table:table-cell>` + end
	}
	for _, tt := range []struct {
		name, rows  string
		rown, cells int
	}{
		{"nothing", "", 0, 0},
		{"a cell", row + one + end, 1, 1},
		{"repeats", `<table:table-row table:number-rows-repeated="3"><table:table-cell table:number-columns-repeated="9"/><table:table-cell office:value-type="boolean" office:boolean-value="true" table:number-columns-repeated="2"/></table:table-row>`, 3, 6},
		{"empty rows", `<table:table-row table:number-rows-repeated="1048576"><table:table-cell table:number-columns-repeated="16384"/></table:table-row>`, 0, 0},
		{"text", cell(`office:value-type="string"`, `<text:p>a</text:p>`), 1, 1},
		{"text in a span", cell(``, `<text:p><text:span>a</text:span></text:p>`), 1, 1},
		{"text in CDATA", cell(``, `<text:p><![CDATA[<a>]]></text:p>`), 1, 1},
		{"a tab", cell(``, `<text:p><text:tab/></text:p>`), 1, 1},
		{"two paragraphs", cell(``, `<text:p/><text:p/>`), 1, 1},
		{"one empty paragraph", cell(`office:value-type="string"`, "\n <text:p></text:p>\n "), 0, 0},
		{"stored text", cell(`office:value-type="string" office:string-value="a"`, ``), 1, 1},
		{"an error", cell(`table:formula="of:=1/0" office:value-type="string" office:string-value="" calcext:value-type="error"`, `<text:p>#DIV/0!</text:p>`), 1, 1},
		{"no stored result", cell(`table:formula="of:=A1"`, ``), 1, 0},
		{"a formula that gives nothing", cell(`table:formula="of:=A1" office:value-type="string" office:string-value=""`, `<text:p/>`), 0, 0},
		{"a comment", cell(``, `<office:annotation><text:p>no</text:p></office:annotation>`), 0, 0},
		{"a shape", cell(``, frame) + cell(``, `<text:p/>`+frame), 0, 0},
		{"phonetic text", cell(``, `<text:p><text:ruby><text:ruby-base/><text:ruby-text>no</text:ruby-text></text:ruby></text:p>`), 0, 0},
		{"under a merge", row + one + `<table:covered-table-cell office:value-type="float" office:value="2"/>` + end, 1, 2},
		{"groups", `<table:table-row-group><table:table-header-rows>` + row + one + end + `</table:table-header-rows>` + row + one + end + `</table:table-row-group>`, 2, 2},
		{"shapes beside the rows", `<table:shapes><draw:frame><table:table table:name="no">` + row + one + end + `</table:table></draw:frame></table:shapes>`, 0, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var buf bytes.Buffer
			z := zip.NewWriter(&buf)
			w, err := z.Create("content.xml")
			if err == nil {
				_, err = io.WriteString(w, `<?xml version="1.0"?><!-- <x> --><office:document-content xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" `+
					`xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" xmlns:draw="urn:oasis:names:tc:opendocument:xmlns:drawing:1.0" xmlns:calcext="urn:org:documentfoundation:names:experimental:calc:xmlns:calcext:1.0">`+
					`<office:automatic-styles/><office:body><office:spreadsheet><table:table table:name="S">`+tt.rows+`</table:table><table:table table:name="T">`+row+one+end+`</table:table>`+
					`<table:dde-links><table:dde-link><table:table>`+row+one+end+`</table:table></table:dde-link></table:dde-links></office:spreadsheet></office:body></office:document-content>`)
			}
			if err == nil {
				err = z.Close()
			}
			if err != nil {
				t.Fatal(err)
			}
			r, size := bytes.NewReader(buf.Bytes()), int64(buf.Len())
			b, err := ods.Open(context.Background(), "a.ods", r, size, source.Options{})
			if err != nil {
				t.Fatal(err)
			}
			got, err := ReaderAt(context.Background(), r, size, b.Info(), source.Options{})
			want := []Sheet{{"S", tt.rown, tt.cells}, {"T", 1, 1}}
			if err != nil || len(got) != 2 || got[0] != want[0] || got[1] != want[1] {
				t.Fatalf("got %v %v, want %v", got, err, want)
			}
			if err := Compare(got[0], facts(t, b)); err != nil {
				t.Error(err)
			}
		})
	}
}
