package count

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"sheetlift/importers/source"
	"sheetlift/importers/source/delimited"
	"sheetlift/importers/source/xlsx"
)

// book makes a workbook of one sheet.
func book(t *testing.T, rows, words string) []byte {
	t.Helper()
	const rel = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
	var buf bytes.Buffer
	w := zip.NewWriter(&buf)
	for _, p := range [][2]string{
		{"_rels/.rels", `<Relationships><Relationship Id="a" Type="` + rel + `/officeDocument" Target="xl/workbook.xml"/></Relationships>`},
		{"xl/workbook.xml", `<workbook xmlns:r="` + rel + `"><sheets><sheet name="S" sheetId="1" r:id="a"/></sheets></workbook>`},
		{"xl/_rels/workbook.xml.rels", `<Relationships><Relationship Id="a" Type="` + rel + `/worksheet" Target="/xl\Sheet1.xml"/><Relationship Id="b" Type="` + rel + `/sharedStrings" Target="s.xml"/></Relationships>`},
		{"xl/s.xml", `<sst>` + words + `</sst>`},
		{"XL/sheet1.xml", rows},
	} {
		f, err := w.Create(p[0])
		if err == nil {
			_, err = io.WriteString(f, p[1])
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	w.Close()
	return buf.Bytes()
}

// facts reads the one sheet with the reader.
func facts(t *testing.T, b source.Book) source.Facts {
	t.Helper()
	r, err := b.Read(context.Background(), 0)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for {
		if _, err := r.Next(); errors.Is(err, io.EOF) {
			return r.Facts()
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

func TestWorkbook(t *testing.T) {
	const words = `<si><t>a</t></si><si><t></t></si><si><rPh><t>x</t></rPh></si><si><r><t/></r><r><t>b</t></r></si><si><t><![CDATA[<c>]]></t></si>`
	tests := []struct {
		name, sheet string
		rows, cells int
	}{
		{"numbers", `<worksheet><sheetData><row><c><v>1</v></c><c s="1"/></row><row/><row><c><v/></c></row></sheetData></worksheet>`, 1, 1},
		{"shared strings", `<worksheet><sheetData><row><c t="s"><v>0</v></c><c t="s"><v>1</v></c><c t="s"><v>2</v></c><c t='s'><v>3</v></c><c t="s"><v>4</v></c></row></sheetData></worksheet>`, 1, 3},
		{"inline", `<worksheet><sheetData><row><c t="inlineStr"><is><t>a</t></is></c><c t="inlineStr"><is><t/></is></c><c t="inlineStr"><is><rPh><t>z</t></rPh></is></c></row></sheetData></worksheet>`, 1, 1},
		{"formulas", `<worksheet><sheetData><row><c><f>1</f></c></row><row><c><f>1</f><v>1</v></c></row><row><c t="str"><f>1</f><v></v></c></row></sheetData></worksheet>`, 2, 1},
		{"white space", "<worksheet><sheetData><row>\n<c><v> </v></c>\n<c t=\"str\"><v> </v></c></row></sheetData></worksheet>", 1, 1},
		{"prefixes", `<x:worksheet xmlns:x="m"><x:sheetData><x:row><x:c t="b"><x:v>0</x:v></x:c></x:row></x:sheetData></x:worksheet>`, 1, 1},
		{"comments", `<worksheet><!-- <c> --><sheetData><row><!-- <row> <c><v>1</v></c> --><c><v>1</v></c></row></sheetData></worksheet>`, 1, 1},
		{"a cell twice", `<worksheet><sheetData><row r="1"><c r="A1"><v>1</v></c><c r="B1"><v>2</v></c><c r="a1"><v>1</v></c></row><row r="2"><c r="A2"><v>1</v></c><c><v>2</v></c><c r="B2"><v>2</v></c></row></sheetData></worksheet>`, 2, 4},
		{"a blank cell, then one with a value", `<worksheet><sheetData><row r="1"><c r="A1" s="0"/><c r="A1"><v>1</v></c></row></sheetData></worksheet>`, 1, 1},
		{"a formula twice", `<worksheet><sheetData><row r="1"><c r="A1"><f>1</f></c><c r="A1"><f>1</f></c></row></sheetData></worksheet>`, 1, 0},
		{"signs in attributes", `<worksheet><sheetData><row x="a>b"><c r='A1' x="/>" t = 's'><v >0</v></c></row></sheetData></worksheet>`, 1, 1},
		{"after the data", `<worksheet><sheetData/><x><row><c><v>1</v></c></row></x></worksheet>`, 0, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			raw := book(t, tt.sheet, words)
			got, err := ReaderAt(context.Background(), bytes.NewReader(raw), int64(len(raw)), source.Info{Format: "xlsx"}, source.Options{})
			if err != nil || len(got) != 1 || got[0] != (Sheet{"S", tt.rows, tt.cells}) {
				t.Fatalf("got %+v, %v; want %d rows, %d cells", got, err, tt.rows, tt.cells)
			}
			b, err := xlsx.Open(context.Background(), "f", bytes.NewReader(raw), int64(len(raw)), source.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if err := Compare(got[0], facts(t, b)); err != nil {
				t.Error(err)
			}
		})
	}
}

// Shown the bytes that the reader inflates, the count comes to the same; and it makes up for what it was not shown to its end.
func TestShownParts(t *testing.T) {
	raw := book(t, `<worksheet><sheetData><row><c t="s"><v>0</v></c><c><v>1</v></c></row></sheetData></worksheet>`, `<si><t>a</t></si>`)
	in := bytes.NewReader(raw)
	for _, tt := range []struct {
		name        string
		shown, kept map[string]bool // parts that are shown; parts that the count took
		cut         bool
	}{
		{"all", map[string]bool{"xl/s.xml": true, "XL/sheet1.xml": true}, map[string]bool{"xl/s.xml": true, "XL/sheet1.xml": true}, false},
		{"no strings", map[string]bool{"XL/sheet1.xml": true}, nil, false},
		{"cut", map[string]bool{"xl/s.xml": true, "XL/sheet1.xml": true}, map[string]bool{"xl/s.xml": true}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, err := Open(in, in.Size(), source.Info{Format: "xlsx"}, source.Options{})
			if err != nil {
				t.Fatal(err)
			}
			var b *xlsx.Book
			taken := map[string]bool{}
			b, err = xlsx.Open(context.Background(), "f", in, in.Size(), source.Options{Parts: func(part string) io.WriteCloser {
				if !tt.shown[part] {
					return nil
				}
				if w := c.Part(part); w != nil {
					taken[part] = true
					if tt.cut {
						return cutShort{w}
					}
					return w
				}
				return nil
			}})
			if err != nil {
				t.Fatal(err)
			}
			f := facts(t, b)
			for part := range tt.kept {
				if !taken[part] {
					t.Errorf("%s was not taken", part)
				}
			}
			got, err := c.Sheets(context.Background())
			if err != nil || len(got) != 1 || got[0] != (Sheet{"S", 1, 2}) || Compare(got[0], f) != nil {
				t.Errorf("got %v, %v", got, err)
			}
		})
	}
}

// cutShort never tells the end.
type cutShort struct{ io.Writer }

func (cutShort) Close() error { return nil }

// The count is fed in pieces of any length.
func TestPiecesOfAnyLength(t *testing.T) {
	const sheet = "\ufeff<?xml version='1.0'?><worksheet><sheetData><row><c><v>1</v></c><!-- <c> --><c t=\"str\"><v><![CDATA[ ]]></v></c></row></sheetData></worksheet>"
	for n := 1; n < len(sheet); n++ {
		s := &sheetCounter{}
		d := decoded{to: &cutter{take: s.take}}
		for rest := []byte(sheet); len(rest) > 0; rest = rest[min(n, len(rest)):] {
			if _, err := d.Write(rest[:min(n, len(rest))]); err != nil {
				t.Fatal(err)
			}
		}
		if err := d.Close(); err != nil || s.rows != 1 || s.cells != 2 {
			t.Fatalf("in pieces of %d: %d rows, %d cells, %v", n, s.rows, s.cells, err)
		}
	}
}

func TestText(t *testing.T) {
	tests := []struct {
		name, text  string
		rows, cells int
	}{
		{"plain", "a,b\n1,2\n", 2, 4},
		{"no line end at the end", "a,b\n1,", 2, 3},
		{"blank lines", "a\n\n\r\n\rb", 2, 2},
		{"only delimiters and quotes", ",\n\"\"\n", 2, 0},
		{"quoted", "\"a,\n\"\"b\",c\r\nd\"e,\"f\"g\n", 2, 4},
		{"sep line", "sep=;\r\na;b\n", 1, 2},
		{"mark", "\ufeffa;b\nc;d", 2, 4},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b, err := delimited.Open(context.Background(), "f.csv", strings.NewReader(tt.text), int64(len(tt.text)), source.Options{})
			if err != nil {
				t.Fatal(err)
			}
			got, err := ReaderAt(context.Background(), strings.NewReader(tt.text), int64(len(tt.text)), b.Info(), source.Options{})
			if err != nil || got[0].Rows != tt.rows || got[0].Cells != tt.cells {
				t.Fatalf("got %+v, %v; want %d rows, %d cells", got, err, tt.rows, tt.cells)
			}
			if err := Compare(got[0], facts(t, b)); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestDifferenceIsNamed(t *testing.T) {
	err := Compare(Sheet{"S", 3, 9}, source.Facts{Rows: 3, Cells: 8})
	var d *DifferenceError
	if !errors.As(err, &d) || !strings.Contains(err.Error(), `"S"`) || !strings.Contains(err.Error(), "8 cells") {
		t.Errorf("got %v", err)
	}
}

// FuzzCount holds that any sheet gets an answer, and that the count agrees with the reader on every sheet the reader accepts.
func FuzzCount(f *testing.F) {
	f.Add(`<row><c t="s"><v>0</v></c><c><v>1</v></c></row>`, `<si><t>a</t></si>`)
	f.Add(`<row r="1"><c r="A1" t="inlineStr"><is><t>a</t></is></c></row><!-- <c> --><row/>`, `<si><r><t>b</t></r><rPh><t>c</t></rPh></si>`)
	f.Add(`<row><c t="str"><f>1</f><v><![CDATA[<c>]]></v></c></row>`, `<si/>`)
	f.Add(`<row><c t="s"><v>99999999999999999999</v></c></row>`, ``)
	f.Add(`<row r="1"><c x="a>b" r="A1" t="inlineStr"><is><t>a</t></is></c></row>`, ``)
	f.Add(`<row r="1"><c rCCCCCC="A1" t="inw>lineStr"><is><t>a</t></is></c></row><!-- <c> --><row/>`, ``)
	f.Fuzz(func(t *testing.T, rows, words string) {
		if !wellFormed(`<worksheet><sheetData>`+rows+`</sheetData></worksheet>`) || !wellFormed(`<sst>`+words+`</sst>`) {
			return // on what is no XML the two may differ: the inventory then stops, as it must
		}
		raw := book(t, `<worksheet><sheetData>`+rows+`</sheetData></worksheet>`, words+" ")
		got, err := ReaderAt(context.Background(), bytes.NewReader(raw), int64(len(raw)), source.Info{Format: "xlsx"}, source.Options{})
		b, openErr := xlsx.Open(context.Background(), "f", bytes.NewReader(raw), int64(len(raw)), source.Options{})
		if openErr != nil {
			return
		}
		r, readErr := b.Read(context.Background(), 0)
		if readErr != nil {
			return
		}
		defer r.Close()
		for readErr == nil {
			_, readErr = r.Next()
		}
		if !errors.Is(readErr, io.EOF) {
			return
		}
		if err != nil {
			t.Fatalf("the reader accepts what can't be counted: %v", err)
		}
		if err := Compare(got[0], r.Facts()); err != nil {
			t.Fatal(err)
		}
	})
}

func wellFormed(text string) bool {
	d := xml.NewDecoder(strings.NewReader(text))
	for {
		if _, err := d.Token(); err != nil {
			return errors.Is(err, io.EOF)
		}
	}
}
