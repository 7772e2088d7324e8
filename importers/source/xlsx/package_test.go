package xlsx

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"strings"
	"testing"
	"unicode/utf16"

	"sheetlift/importers/source"
)

func utf16Bytes(s string, order binary.AppendByteOrder, mark bool) string {
	var b []byte
	if mark {
		b = order.AppendUint16(b, 0xfeff)
	}
	for _, u := range utf16.Encode([]rune(s)) {
		b = order.AppendUint16(b, u)
	}
	return string(b)
}

// TestPackages reads the same two cells from packages whose parts are found in odd ways.
func TestPackages(t *testing.T) {
	plain := workbookParts(`<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" s="1"><v>5</v></c></row>`, `<cellXfs><xf/><xf numFmtId="14"/></cellXfs>`, `<si><t>héllo 😀</t></si>`)
	const want = "S!A1 text \"héllo 😀\" general\nS!B1 number \"5\" date\n"
	target := func(from, to string) []part {
		return replace(plain, "xl/_rels/workbook.xml.rels", func(s string) string { return strings.Replace(s, `"`+from+`"`, `"`+to+`"`, 1) })
	}
	wide := func(name string, order binary.AppendByteOrder, mark bool) []part {
		return replace(plain, name, func(s string) string {
			return utf16Bytes(`<?xml version="1.0" encoding="UTF-16"?>`+s, order, mark)
		})
	}
	without := func(name string) []part {
		var out []part
		for _, p := range plain {
			if p.name != name {
				out = append(out, p)
			}
		}
		return out
	}
	moved := rename(rename(replace(plain, "_rels/.rels", func(s string) string { return strings.Replace(s, "xl/workbook.xml", "/book.xml", 1) }), "xl/workbook.xml", "book.xml"), "xl/_rels/workbook.xml.rels", "_rels/book.xml.rels")
	moved = replace(moved, "_rels/book.xml.rels", func(s string) string { return strings.ReplaceAll(s, `Target="`, `Target="xl/`) })
	tests := []struct {
		name  string
		parts []part
	}{
		{"plain", plain},
		{"absolute target", target("worksheets/sheet1.xml", "/xl/worksheets/sheet1.xml")},
		{"target from the root without slash", target("worksheets/sheet1.xml", "xl/worksheets/sheet1.xml")},
		{"backslashes in target", target("worksheets/sheet1.xml", `worksheets\sheet1.xml`)},
		{"dots in target", target("worksheets/sheet1.xml", "./x/../worksheets/sheet1.xml")},
		{"other case in target", target("worksheets/sheet1.xml", "Worksheets/SHEET1.xml")},
		{"percent signs in target", rename(target("worksheets/sheet1.xml", "worksheets/sheet%201.xml"), "xl/worksheets/sheet1.xml", "xl/worksheets/sheet 1.xml")},
		{"backslashes in zip names", rename(rename(plain, "xl/worksheets/sheet1.xml", `xl\worksheets\sheet1.xml`), "xl/styles.xml", `xl\styles.xml`)},
		{"other case in zip names", rename(rename(plain, "xl/sharedStrings.xml", "XL/SharedStrings.xml"), "[Content_Types].xml", "[content_types].xml")},
		{"leading slash in zip names", rename(plain, "xl/worksheets/sheet1.xml", "/xl/worksheets/sheet1.xml")},
		{"workbook at the root", moved},
		{"shared strings elsewhere", rename(target("sharedStrings.xml", "/words/w.xml"), "xl/sharedStrings.xml", "words/w.xml")},
		{"no content types", without("[Content_Types].xml")},
		{"no package relationships", without("_rels/.rels")},
		{"no relationship to the strings", replace(plain, "xl/_rels/workbook.xml.rels", func(s string) string {
			return strings.Replace(s, relXML("rId3", "sharedStrings", "sharedStrings.xml"), "", 1)
		})},
		{"strict", func() []part {
			var out []part
			for _, p := range plain {
				p.body = strings.ReplaceAll(p.body, "http://schemas.openxmlformats.org/spreadsheetml/2006/main", "http://purl.oclc.org/ooxml/spreadsheetml/main")
				p.body = strings.ReplaceAll(p.body, relBase, "http://purl.oclc.org/ooxml/officeDocument/relationships/")
				out = append(out, p)
			}
			return out
		}()},
		{"workbook in UTF-16 big endian", wide("xl/workbook.xml", binary.BigEndian, true)},
		{"sheet in UTF-16 little endian", wide("xl/worksheets/sheet1.xml", binary.LittleEndian, true)},
		{"strings in UTF-16 without mark", wide("xl/sharedStrings.xml", binary.LittleEndian, false)},
		{"UTF-8 with mark", replace(plain, "xl/worksheets/sheet1.xml", func(s string) string { return "\ufeff" + s })},
		{"strings in ISO-8859-1", replace(plain, "xl/sharedStrings.xml", func(string) string {
			return "<?xml version='1.0' encoding='ISO-8859-1'?><sst><si><t>h\xe9llo &#128512;</t></si></sst>"
		})},
		{"XML declarations and comments", replace(plain, "xl/workbook.xml", func(s string) string { return `<?xml version="1.0"?><!-- <sheets> --> ` + s + `<!-- end -->` })},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, _, err := read(zipped(t, tt.parts), source.Options{})
			if err != nil || got != want {
				t.Errorf("got %q, %v; want %q", got, err, want)
			}
		})
	}
}

func TestSheets(t *testing.T) {
	parts := workbookParts(`<row><c><v>1</v></c></row>`, "", "")
	parts = replace(parts, "xl/workbook.xml", func(string) string {
		return `<workbook ` + nsMain + ` ` + nsRel + `><workbookPr date1904="1"/><sheets><sheet name="Chart" sheetId="1" r:id="rId7"/><sheet name="A &amp; B" sheetId="2" state="hidden" r:id="rId1"/><sheet name="Old" state="veryHidden" sheetId="3" r:id="rId8"/></sheets></workbook>`
	})
	parts = replace(parts, "xl/_rels/workbook.xml.rels", func(s string) string {
		return relsXML(relXML("rId1", "worksheet", "worksheets/sheet1.xml") + relXML("rId7", "chartsheet", "chartsheets/sheet1.xml") + relXML("rId8", "xlMacrosheet", "macrosheets/sheet1.xml"))
	})
	parts = append(parts, part{"xl/chartsheets/sheet1.xml", `<chartsheet ` + nsMain + `/>`},
		part{"xl/macrosheets/sheet1.xml", `<xm:macrosheet xmlns="` + `http://schemas.openxmlformats.org/spreadsheetml/2006/main` + `" xmlns:xm="http://schemas.microsoft.com/office/excel/2006/main"><sheetData><row><c><v>2</v></c></row></sheetData></xm:macrosheet>`},
		part{"docProps/app.xml", `<Properties><Application>Some &amp; Office</Application></Properties>`})
	parts = replace(parts, "_rels/.rels", func(string) string {
		return relsXML(relXML("rId1", "officeDocument", "xl/workbook.xml") + relXML("rId2", "extended-properties", "docProps/app.xml"))
	})
	raw := zipped(t, parts)
	b, err := Open(context.Background(), "f.xlsx", bytes.NewReader(raw), int64(len(raw)), source.Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := []source.SheetInfo{{Name: "Chart", Visibility: source.Visible, Kind: source.ChartSheet}, {Name: "A & B", Visibility: source.Hidden, Kind: source.Worksheet}, {Name: "Old", Visibility: source.VeryHidden, Kind: source.MacroSheet}}
	for i, s := range b.Sheets() {
		if s != want[i] {
			t.Errorf("sheet %d: got %+v, want %+v", i, s, want[i])
		}
	}
	if info := b.Info(); !info.Date1904 || info.SavedBy != "Some & Office" || info.Said != "Excel workbook (xlsx), 3 sheets" {
		t.Errorf("info: %+v", info)
	}
	if got, _, err := read(raw, source.Options{}); err != nil || got != "A & B!A1 number \"1\" general\nOld!A1 number \"2\" general\n" {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestRefusedPackages(t *testing.T) {
	plain := workbookParts(`<row><c><v>1</v></c></row>`, "", "")
	doctype := `<!DOCTYPE sst [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]><sst><si><t>&b;</t></si></sst>`
	tests := []struct {
		name  string
		parts []part
		kind  error
		says  string
	}{
		{"entity declarations", replace(workbookParts(`<row><c t="s"><v>0</v></c></row>`, "", "x"), "xl/sharedStrings.xml", func(string) string { return doctype }), source.ErrMalformed, "document type"},
		{"entity declarations in the sheet", replace(plain, "xl/worksheets/sheet1.xml", func(s string) string { return `<!DOCTYPE x>` + s }), source.ErrMalformed, "document type"},
		{"no sheets", replace(plain, "xl/workbook.xml", func(string) string { return `<workbook/>` }), source.ErrMalformed, "no sheets"},
		{"sheet without relationship", replace(plain, "xl/workbook.xml", func(s string) string { return strings.Replace(s, `r:id="rId1"`, `r:id=""`, 1) }), source.ErrMalformed, "no part"},
		{"sheet part missing", rename(plain, "xl/worksheets/sheet1.xml", "xl/worksheets/other.xml"), source.ErrMalformed, "missing"},
		{"two sheets of one part", replace(plain, "xl/workbook.xml", func(s string) string {
			return strings.Replace(s, `<sheets>`, `<sheets><sheet name="T" sheetId="2" r:id="rId1"/>`, 1)
		}), source.ErrMalformed, "share one part"},
		{"relationships are no XML", replace(plain, "xl/_rels/workbook.xml.rels", func(string) string { return `<Relationships` }), source.ErrMalformed, "well-formed"},
		{"workbook cut", replace(plain, "xl/workbook.xml", func(s string) string { return s[:len(s)-5] }), source.ErrMalformed, "well-formed"},
		{"sheet ends early", replace(plain, "xl/worksheets/sheet1.xml", func(s string) string { return strings.TrimSuffix(s, "</worksheet>") }), source.ErrTruncated, "too early"},
		{"UTF-32", replace(plain, "xl/workbook.xml", func(string) string { return "\x00\x00\x00<\x00\x00\x00?" }), source.ErrUnsupported, "UTF-32"},
		{"unknown encoding", replace(plain, "xl/workbook.xml", func(s string) string { return `<?xml version="1.0" encoding="x-none"?>` + s }), source.ErrUnsupported, "encoding"},
		{"half a surrogate", replace(plain, "xl/worksheets/sheet1.xml", func(string) string {
			return utf16Bytes(`<worksheet><sheetData><row><c t="str"><v>`, binary.LittleEndian, true) + "\x00\xd8" + utf16Bytes(`</v></c></row></sheetData></worksheet>`, binary.LittleEndian, false)
		}), source.ErrMalformed, "undecodable"},
		{"name twice", append(plain[:len(plain):len(plain)], part{"xl/workbook.xml", "<workbook/>"}), source.ErrMalformed, "two entries"},
		{"name twice in another case", append(plain[:len(plain):len(plain)], part{`XL\Workbook.xml`, "<workbook/>"}), source.ErrMalformed, "two entries"},
		{"a Word document", []part{
			{"[Content_Types].xml", typesXML(`<Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/>`)},
			{"_rels/.rels", relsXML(relXML("rId1", "officeDocument", "word/document.xml"))}, {"word/document.xml", "<x/>"},
		}, source.ErrUnsupported, "Word"},
		{"a zip of other things", []part{{"a.csv", "x"}}, source.ErrUnsupported, "zip archive"},
		{"an OpenDocument file", []part{{"mimetype", "x"}, {"content.xml", "<x/>"}, {"META-INF/manifest.xml", "<x/>"}}, source.ErrUnsupported, "OpenDocument"},
		{"a binary workbook", []part{{"[Content_Types].xml", typesXML(`<Override PartName="/xl/workbook.bin" ContentType="application/vnd.ms-excel.sheet.binary.macroEnabled.main"/>`)}, {"_rels/.rels", relsXML(relXML("rId1", "officeDocument", "xl/workbook.bin"))}, {"xl/workbook.bin", "\x83"}}, source.ErrUnsupported, ".xlsb"},
		{"nothing in it", nil, source.ErrEmpty, "nothing"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, _, err := read(zipped(t, tt.parts), source.Options{})
			var f *source.Error
			if !errors.As(err, &f) || !errors.Is(err, tt.kind) || !strings.Contains(f.Message, tt.says) || f.Remedy == "" || f.File == "" {
				t.Errorf("got %q, %v (%v); want %v saying %q", got, err, sentinel(err), tt.kind, tt.says)
			}
		})
	}
}

func TestReadAgain(t *testing.T) {
	raw := zipped(t, workbookParts(`<row><c t="s"><v>0</v></c></row>`, "", `<si><t>a</t></si>`))
	b, err := Open(context.Background(), "f.xlsx", bytes.NewReader(raw), int64(len(raw)), source.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		r, err := b.Read(context.Background(), 0)
		if err != nil {
			t.Fatal(err)
		}
		k, err := r.Next()
		if err != nil || string(k.Bytes(k.Cell(0, 0))) != "a" {
			t.Fatalf("got %v, %v", k, err)
		}
		r.Close() // before the end
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	r, err := b.Read(ctx, 0)
	if err == nil {
		_, err = r.Next()
	}
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want canceled", err)
	}
}
