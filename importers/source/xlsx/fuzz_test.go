package xlsx

import (
	"encoding/binary"
	"errors"
	"strings"
	"testing"

	"sheetlift/importers/source"
)

// fuzzLimits keep an input from being slow for reasons that limits are there for.
var fuzzLimits = source.Options{Limits: source.Limits{PartBytes: 1 << 20, TotalBytes: 8 << 20, Parts: 100, StringBytes: 1 << 20}}

// answered holds that a file is read, or refused with a place and a remedy.
func answered(t *testing.T, raw []byte) (string, source.Facts, error) {
	t.Helper()
	got, facts, err := read(raw, fuzzLimits)
	var f *source.Error
	if err != nil && (!errors.As(err, &f) || f.Message == "" || f.Remedy == "" || f.File == "") {
		t.Fatalf("an error without message, file or remedy: %v", err)
	}
	return got, facts, err
}

func FuzzZip(f *testing.F) {
	raw := ordinary(f)
	f.Add(raw)
	f.Add(zip64(f, raw))
	f.Add(raw[:len(raw)/2])
	f.Add(append([]byte("x"), raw...))
	f.Add(zipped(f, nil))
	f.Add(zipped(f, []part{{"a", "b"}, {"A", "c"}}))
	f.Fuzz(func(t *testing.T, raw []byte) { answered(t, raw) })
}

func FuzzRelationships(f *testing.F) {
	rows := `<row><c><v>1</v></c></row>`
	for _, s := range []string{
		relsXML(relXML("rId1", "worksheet", "worksheets/sheet1.xml")),
		relsXML(relXML("rId1", "worksheet", "/xl/worksheets/sheet1.xml") + relXML("rId2", "styles", `..\styles.xml`)),
		relsXML(relXML("rId1", "worksheet", "../../../xl/worksheets/sheet%31.xml#x")),
		relsXML(relXML("rId1", "chartsheet", "_rels/workbook.xml.rels")),
		utf16Bytes(relsXML(relXML("rId1", "worksheet", "worksheets/sheet1.xml")), le, true),
		`<Relationships><Relationship Id="rId1" Target="%zz" TargetMode="External"/></Relationships>`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, rels string) {
		answered(t, zipped(t, replace(workbookParts(rows, "", ""), "xl/_rels/workbook.xml.rels", func(string) string { return rels })))
	})
}

func FuzzStyles(f *testing.F) {
	for _, s := range []string{testStyles, `<cellXfs><xf numFmtId="-1"/><xf/></cellXfs>`, `<numFmts><numFmt numFmtId="14" formatCode="[h]:mm;&quot;"/></numFmts><cellXfs><xf numFmtId="14"/></cellXfs>`, `<x><cellXfs/></x>`, `<cellXfs><xf`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, styles string) {
		answered(t, zipped(t, workbookParts(`<row><c s="0"><v>1</v></c><c s="1"><v>2</v></c></row>`, styles+" ", "")))
	})
}

func FuzzStrings(f *testing.F) {
	for _, s := range []string{testStrings, `<si><t>a</t></si></sst><!-- x -->`, `<si><r><t>a</t></r>`, `<si><t>&#xD800;</t></si>`, `<si><t>_xD83D_</t></si>`, "<si><t>\xff</t></si>", `<si><si><t>a</t></si></si>`, `<!DOCTYPE x>`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, items string) {
		answered(t, zipped(t, workbookParts(`<row><c t="s"><v>0</v></c><c t="s"><v>1</v></c></row>`, "", items+" ")))
	})
}

// FuzzMarks holds that what a sheet shows beside its cells never keeps them from being read, and is bounded: the end of a sheet, its
// comments, and a table.
func FuzzMarks(f *testing.F) {
	f.Add(`<autoFilter ref="A1:C5"><filterColumn colId="0"><filters><filter val="x"/></filters></filterColumn></autoFilter><mergeCells><mergeCell ref="A1:C1"/></mergeCells>`+
		`<dataValidations><dataValidation type="list" sqref="A2:A5 C2"><formula1>"yes, no,""maybe"""</formula1></dataValidation><dataValidation type="list" sqref="B2"><formula1>stati</formula1></dataValidation></dataValidations>`,
		`<comments><commentList><comment ref="A2"/><comment ref="B7"/></commentList></comments>`, `<table><autoFilter ref="A1:B3"><filterColumn colId="0"><filters blank="1"/></filterColumn></autoFilter></table>`)
	f.Add(`<extLst><ext><x14:dataValidations><x14:dataValidation type="list"><x14:formula1><xm:f>'It''s a list'!$A1:$A$3</xm:f></x14:formula1><xm:sqref>F2:F9</xm:sqref></x14:dataValidation></x14:dataValidations></ext></extLst>`,
		`<ThreadedComments><threadedComment ref="A2"/></ThreadedComments>`, `<table>`)
	f.Fuzz(func(t *testing.T, tail, comments, table string) {
		parts := append(replace(workbookParts(`<row r="1"><c r="A1"><v>1</v></c></row><row r="2" hidden="1"><c r="A2"><v>2</v></c></row>`, "", ""), "xl/worksheets/sheet1.xml", func(s string) string {
			return strings.Replace(s, "</sheetData>", "</sheetData>"+tail, 1)
		}), part{"xl/worksheets/_rels/sheet1.xml.rels", relsXML(relXML("rId1", "comments", "../comments1.xml") + relXML("rId2", "table", "../tables/table1.xml"))},
			part{"xl/comments1.xml", comments}, part{"xl/tables/table1.xml", table})
		raw := zipped(t, parts)
		if _, _, err := answered(t, raw); err != nil {
			return
		}
		m, _ := marked(t, parts)
		if len(m.Lists) > source.MarksKept || len(m.Merged) > source.MarksKept || m.HiddenRows.N != 1 {
			t.Fatalf("%d lists, %d merged ranges, hidden rows %+v", len(m.Lists), len(m.Merged), m.HiddenRows)
		}
		for _, l := range m.Lists {
			if len(l.Ranges) == 0 || len(l.Values) > source.ListKept {
				t.Fatalf("list %+v", l)
			}
			for _, r := range append(l.Ranges, l.Cells) {
				if r.FirstRow > r.LastRow || r.FirstCol > r.LastCol {
					t.Fatalf("range %+v", r)
				}
			}
		}
	})
}

var le = binary.LittleEndian

// spoil keeps rows and cells from being read by the fast paths: an attribute that means nothing is added where they begin
// as the fast paths expect it.
func spoil(sheet string) string {
	return strings.NewReplacer("<c ", "<c x='' ", "<c>", "<c x=''>", "<row ", "<row x='' ").Replace(sheet)
}

// FuzzSheet also holds that cells read by the fast path are what the slow path reads: spoilt rows take the
// slow one.
func FuzzSheet(f *testing.F) {
	for _, s := range []string{
		`<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" s="1"><v>1.5</v></c><c r="C1" t="inlineStr"><is><t>x</t></is></c></row>`,
		`<row><c t="str"><f>A1</f><v>a_x000D_</v></c><c t="b"><v>1</v></c><c t="e"><v>#N/A</v></c><c t="d"><v>2020-01-01</v></c></row>`,
		`<row r="9"><c r="a9" s=""><v> 1 </v></c></row><row r="3"/><row r="1048576"><c r="XFD1048576"><v>1</v></c></row>`,
		`<row><c><v><![CDATA[1]]></v></c><c t="inlineStr"><is><r><t>a</t></r><rPh><t>b</t></rPh></is></c></row>`,
		`<row><c><v>1</v></row>`, `<row r="x"/>`, `<row r="1"r="F"><c r="A1"><v>1</v></c></row>`, `<row r="1" r="2"><c><v>1</v></c></row>`, `</sheetData>`, `<row><c r="A1"><v>1</v></c><c r="A1"><v>2</v></c></row>`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, rows string) {
		got, facts, err := answered(t, zipped(t, workbookParts(rows, testStyles, testStrings)))
		slow, slowFacts, slowErr := answered(t, zipped(t, replace(workbookParts(rows, testStyles, testStrings), "xl/worksheets/sheet1.xml", spoil)))
		if got != slow || (err == nil) != (slowErr == nil) || err == nil && facts != slowFacts {
			t.Fatalf("fast\n%s%+v %v\nslow\n%s%+v %v", got, facts, err, slow, slowFacts, slowErr)
		}
	})
}
