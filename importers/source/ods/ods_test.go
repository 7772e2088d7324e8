package ods

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"

	"sheetlift/importers/source"
)

const (
	spaces = `xmlns:office="` + nsOffice + `" xmlns:table="` + nsTable + `" xmlns:text="` + nsText + `" xmlns:style="` + nsStyle + `" xmlns:number="` + nsNumber + `" xmlns:calcext="` + nsCalc + `" xmlns:fo="` + nsFO + `" xmlns:draw="urn:oasis:names:tc:opendocument:xmlns:drawing:1.0"`
	root   = `<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"><manifest:file-entry manifest:full-path="/" manifest:media-type="` + mediaType + `"/></manifest:manifest>`
)

type part struct{ name, body string }

// content is the part that holds the sheets.
func content(styles, sheets string) part {
	return part{contentPart, `<?xml version="1.0" encoding="UTF-8"?><office:document-content ` + spaces + ` office:version="1.2"><office:automatic-styles>` + styles +
		`</office:automatic-styles><office:body><office:spreadsheet>` + sheets + `</office:spreadsheet></office:body></office:document-content>`}
}

func sheet(name, rows string) string {
	return `<table:table table:name="` + name + `">` + rows + `</table:table>`
}

func pack(t testing.TB, parts ...part) []byte {
	t.Helper()
	var buf bytes.Buffer
	z := zip.NewWriter(&buf)
	for _, p := range parts {
		w, err := z.Create(p.name)
		if err == nil {
			_, err = io.WriteString(w, p.body)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func open(raw []byte, limits source.Limits) (*Book, error) {
	return Open(context.Background(), "list.ods", bytes.NewReader(raw), int64(len(raw)), source.Options{Limits: limits})
}

// dump reads all cells of a book.
func dump(b *Book) (string, source.Facts, error) {
	var out strings.Builder
	var facts source.Facts
	for i, s := range b.Sheets() {
		if len(b.Sheets()) > 1 {
			fmt.Fprintf(&out, "[%s %s]", s.Name, s.Visibility)
		}
		r, err := b.Read(context.Background(), i)
		if err != nil {
			return "", facts, err
		}
		defer r.Close()
		for {
			k, err := r.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return out.String(), facts, err
			}
			for row := range k.Rows() {
				for col := range k.Cols {
					c := k.Cell(col, row)
					if c.Kind == source.Empty && c.Flags == 0 {
						continue
					}
					fmt.Fprintf(&out, "%s %s %q", source.Ref(col, k.RowNum[row]), c.Kind, k.Bytes(c))
					if c.Class != source.General {
						fmt.Fprintf(&out, " %s", c.Class)
					}
					for flag, word := range map[source.Flags]string{source.ISODate: "iso", source.ZeroPadded: "padded", source.NoCache: "nocache"} {
						if c.Flags&flag != 0 {
							out.WriteString(" " + word)
						}
					}
					out.WriteString("; ")
				}
			}
		}
		facts = r.Facts()
	}
	return out.String(), facts, nil
}

func TestCells(t *testing.T) {
	cell := func(attrs, inner string) string {
		return "<table:table-row><table:table-cell " + attrs + ">" + inner + "</table:table-cell></table:table-row>"
	}
	for _, tt := range []struct{ name, rows, want string }{
		{"all digits", cell(`office:value-type="float" office:value="0.30000000000000004"`, `<text:p>0.3</text:p>`), `A1 number "0.30000000000000004"; `},
		{"percentage", cell(`office:value-type="percentage" office:value="0.5"`, ``), `A1 number "0.5" percent; `},
		{"currency", cell(`office:value-type="currency" office:value="-1e3"`, ``), `A1 number "-1e3" currency; `},
		{"boolean", cell(`office:value-type="boolean" office:boolean-value="false"`, `<text:p>FALSCH</text:p>`), `A1 bool "FALSE"; `},
		{"date before 1900", cell(`office:value-type="date" office:date-value="1850-06-01"`, `<text:p>1.6.50</text:p>`), `A1 text "1850-06-01" date iso; `},
		{"instant", cell(`office:value-type="date" office:date-value="2021-03-04T05:06:07.5"`, ``), `A1 text "2021-03-04T05:06:07.5" datetime iso; `},
		{"duration", cell(`office:value-type="time" office:time-value="PT25H30M15S"`, ``), `A1 text "PT25H30M15S" duration iso; `},
		{"text with spaces", cell(`office:value-type="string"`, `<text:p>a<text:s text:c="3"/>b<text:s/>c<text:tab/>d<text:line-break/>e</text:p>`), `A1 text "a   b c\td\ne"; `},
		{"paragraphs, spans, links", cell(`office:value-type="string"`, "\n<text:p>x<text:span>y<text:span>z</text:span></text:span></text:p>\n<text:p><text:a>u</text:a></text:p>\n"), `A1 text "xyz\nu"; `},
		{"what is no text of the cell", cell(`office:value-type="string"`, `<office:annotation><text:p>no</text:p></office:annotation><text:p>b<text:ruby><text:ruby-base>c</text:ruby-base><text:ruby-text>no</text:ruby-text></text:ruby></text:p><draw:frame><text:p>no</text:p></draw:frame>`), `A1 text "bc"; `},
		{"stored text", cell(`office:value-type="string" office:string-value="held"`, `<text:p>shown</text:p>`), `A1 text "held"; `},
		{"text without a type", cell(``, `<text:p>t</text:p>`), `A1 text "t"; `},
		{"references and CDATA", cell(`office:value-type="string"`, `<text:p>&lt;&#x1F600;<![CDATA[<b>]]></text:p>`), `A1 text "<😀<b>"; `},
		{"an escape of another format", cell(`office:value-type="string"`, `<text:p>_x0041_</text:p>`), `A1 text "_x0041_"; `},
		{"stored results", cell(`table:formula="of:=NOW()" office:value-type="float" office:value="44000.5"`, ``), `A1 number "44000.5"; `},
		{"no stored result", cell(`table:formula="of:=A2"`, ``), `A1 empty "" nocache; `},
		{"error", cell(`table:formula="of:=1/0" office:value-type="string" office:string-value="" calcext:value-type="error"`, `<text:p>#DIV/0!</text:p>`), `A1 error "#DIV/0!"; `},
		{"error without a mark", cell(`table:formula="of:=X()" office:value-type="string" office:string-value=""`, `<text:p>Err:508</text:p>`), `A1 error "Err:508"; `},
		{"text that looks like an error", cell(`office:value-type="string"`, `<text:p>#N/A</text:p>`), `A1 text "#N/A"; `},
		{"empty text", cell(`office:value-type="string"`, `<text:p/>`), ``},
		{"repeats", `<table:table-row table:number-rows-repeated="3"/><table:table-row table:number-rows-repeated="2"><table:table-cell table:number-columns-repeated="2"/><table:table-cell office:value-type="float" office:value="1" table:number-columns-repeated="2"/></table:table-row><table:table-row table:number-rows-repeated="1048571"><table:table-cell table:number-columns-repeated="16384"/></table:table-row>`,
			`C4 number "1"; D4 number "1"; C5 number "1"; D5 number "1"; `},
		{"under a merge", `<table:table-row><table:table-cell table:number-columns-spanned="2"><text:p>a</text:p></table:table-cell><table:covered-table-cell><text:p>b</text:p></table:covered-table-cell></table:table-row>`, `A1 text "a"; B1 text "b"; `},
		{"groups and headers", `<table:table-header-rows><table:table-row><table:table-cell><text:p>h</text:p></table:table-cell></table:table-row></table:table-header-rows><table:table-row-group><table:table-row-group><table:table-row><table:table-cell><text:p>a</text:p></table:table-cell></table:table-row></table:table-row-group></table:table-row-group>`, `A1 text "h"; A2 text "a"; `},
		{"a shape beside the rows", `<table:shapes><draw:frame><table:table table:name="no"><table:table-row><table:table-cell><text:p>no</text:p></table:table-cell></table:table-row></table:table></draw:frame></table:shapes>` + cell(``, `<text:p>a</text:p>`), `A1 text "a"; `},
		{"zeros of the format", `<table:table-column table:default-cell-style-name="z"/><table:table-row><table:table-cell office:value-type="float" office:value="7"/><table:table-cell table:style-name="z" office:value-type="float" office:value="1234"/><table:table-cell table:style-name="d" office:value-type="float" office:value="8"/></table:table-row>` + cell(`table:style-name="t"`, `<text:p>007</text:p>`),
			`A1 number "7" padded; B1 number "1234"; C1 number "8" padded; A2 text "007" text; `},
	} {
		t.Run(tt.name, func(t *testing.T) {
			styles := `<number:number-style style:name="N1"><number:number number:decimal-places="0" number:min-integer-digits="4"/></number:number-style><number:text-style style:name="N2"><number:text-content/></number:text-style>` +
				`<style:style style:name="z" style:family="table-cell" style:data-style-name="N1"/><style:style style:name="d" style:family="table-cell" style:parent-style-name="z"/><style:style style:name="t" style:family="table-cell" style:data-style-name="N2"/>`
			b, err := open(pack(t, part{"mimetype", mediaType}, content(styles, sheet("S", tt.rows)), part{manifestPart, root}), source.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			if got, _, err := dump(b); err != nil || got != tt.want {
				t.Errorf("got  %s %v\nwant %s", got, err, tt.want)
			}
		})
	}
}

func TestBook(t *testing.T) {
	rows := `<table:table-column table:visibility="collapse" table:number-columns-repeated="2"/><table:table-row table:visibility="collapse"><table:table-cell table:number-columns-spanned="2"><text:p>a</text:p></table:table-cell><table:covered-table-cell/></table:table-row>` +
		`<table:table-row><table:table-cell table:formula="of:=1/0" office:value-type="string" calcext:value-type="error"><text:p>#DIV/0!</text:p></table:table-cell><table:table-cell table:formula="of:=A1"/></table:table-row>`
	raw := pack(t, part{contentPart, strings.Replace(content(`<style:style style:name="h" style:family="table"><style:table-properties table:display="false"/></style:style>`,
		`<table:tracked-changes><table:table-row/></table:tracked-changes>`+sheet("A sheet whose name is longer than Excel allows / x", "")+`<table:table table:name="Aside" table:style-name="h">`+rows+`</table:table>`).body, "<office:body>", "<!-- note --><office:body>", 1)},
		part{manifestPart, root}, part{"meta.xml", `<office:document-meta ` + spaces + ` xmlns:meta="urn:oasis:names:tc:opendocument:xmlns:meta:1.0"><office:meta><meta:generator>Some Office/1.0</meta:generator></office:meta></office:document-meta>`})
	if !Recognize(bytes.NewReader(raw), int64(len(raw))) {
		t.Error("not recognised by its manifest")
	}
	b, err := open(raw, source.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	got, facts, err := dump(b)
	const want = `[A sheet whose name is longer than Excel allows / x visible][Aside hidden]A1 text "a"; A2 error "#DIV/0!"; B2 empty "" nocache; `
	if err != nil || got != want {
		t.Errorf("got  %s %v\nwant %s", got, err, want)
	}
	if want := (source.Facts{Rows: 2, Cells: 2, LastRow: 2, LastColumn: 2, Merged: 1, HiddenRows: 1, HiddenColumns: 2, Formulas: 2, FormulasNoCache: 1, ErrorCells: 1}); facts != want {
		t.Errorf("got  %+v\nwant %+v", facts, want)
	}
	if i := b.Info(); i.Format != "ods" || i.Said != "OpenDocument spreadsheet (ods), 2 sheets" || i.SavedBy != "Some Office/1.0" || i.Conversion != nil {
		t.Errorf("got %+v", i)
	}
}

func TestRefusals(t *testing.T) {
	row := func(cell string) []part {
		return []part{content("", sheet("S", "<table:table-row>"+cell+"</table:table-row>"))}
	}
	for _, tt := range []struct {
		name   string
		parts  []part
		limits source.Limits
		want   error
		says   string
	}{
		{"a password", []part{{contentPart, "x"}, {manifestPart, strings.Replace(root, `"/>`, `"><manifest:encryption-data/></manifest:file-entry>`, 1)}}, source.Limits{}, source.ErrEncrypted, "password"},
		{"a password, wrapped", []part{{contentPart, "x"}, {"encrypted-package", "x"}}, source.Limits{}, source.ErrEncrypted, "password"},
		{"no content", []part{{manifestPart, root}}, source.Limits{}, source.ErrMalformed, "missing"},
		{"content twice", append(row(""), row("")...), source.Limits{}, source.ErrMalformed, "two entries"},
		{"no spreadsheet", []part{{contentPart, `<office:document-content ` + spaces + `><office:body/></office:document-content>`}}, source.Limits{}, source.ErrMalformed, "no spreadsheet"},
		{"two sheets of one name", []part{content("", sheet("S", "")+sheet("S", ""))}, source.Limits{}, source.ErrMalformed, "same name"},
		{"not well-formed", []part{{contentPart, `<a><b></a>`}}, source.Limits{}, source.ErrMalformed, "well-formed: line 1"},
		{"cut", []part{{contentPart, content("", "").body[:300]}}, source.Limits{}, source.ErrMalformed, "well-formed"},
		{"an entity", []part{{contentPart, `<!DOCTYPE a [<!ENTITY x "y">]><a>&x;</a>`}}, source.Limits{}, source.ErrMalformed, "document type"},
		{"an undeclared entity", row(`<table:table-cell><text:p>&x;</text:p></table:table-cell>`), source.Limits{}, source.ErrMalformed, "well-formed"},
		{"another charset", []part{{contentPart, `<?xml version="1.0" encoding="ISO-8859-1"?><a/>`}}, source.Limits{}, source.ErrCharset, "UTF-8"},
		{"deep", []part{{contentPart, strings.Repeat("<a>", 100)}}, source.Limits{}, source.ErrLimit, "deeper"},
		{"no number", row(`<table:table-cell office:value-type="float" office:value="1,5"/>`), source.Limits{}, source.ErrMalformed, "A1 holds a float"},
		{"infinity", row(`<table:table-cell office:value-type="float" office:value="inf"/>`), source.Limits{}, source.ErrMalformed, "A1"},
		{"no date", row(`<table:table-cell/><table:table-cell office:value-type="date" office:date-value="1.2.2020"/>`), source.Limits{}, source.ErrMalformed, "B1 holds a date"},
		{"no boolean", row(`<table:table-cell office:value-type="boolean"/>`), source.Limits{}, source.ErrMalformed, "A1 holds a boolean"},
		{"beyond the last column", row(`<table:table-cell table:number-columns-repeated="16384"/><table:table-cell><text:p>a</text:p></table:table-cell>`), source.Limits{}, source.ErrLimit, "column 16384"},
		{"columns without end", row(`<table:table-cell table:number-columns-repeated="9223372036854775807"><text:p>a</text:p></table:table-cell>`), source.Limits{}, source.ErrLimit, "column"},
		{"beyond the last row", []part{content("", sheet("S", `<table:table-row table:number-rows-repeated="9223372036854775807"/><table:table-row/><table:table-row><table:table-cell><text:p>a</text:p></table:table-cell></table:table-row>`))}, source.Limits{}, source.ErrLimit, "last row"},
		{"cells", []part{content("", sheet("S", `<table:table-row table:number-rows-repeated="1000000"><table:table-cell table:number-columns-repeated="1000"><text:p>a</text:p></table:table-cell></table:table-row>`))}, source.Limits{Cells: 10_000}, source.ErrLimit, "(cells)"},
		{"a long cell", row(`<table:table-cell><text:p><text:s text:c="2000000000"/></text:p></table:table-cell>`), source.Limits{}, source.ErrLimit, "(cell_bytes)"},
		{"a long element", row(`<table:table-cell><text:p>` + strings.Repeat("ab", 200_000) + `</text:p></table:table-cell>`), source.Limits{RecordBytes: 100_000}, source.ErrLimit, "(record_bytes)"},
		{"ratio", row(`<table:table-cell><text:p>` + strings.Repeat("a", 2<<20) + `</text:p></table:table-cell>`), source.Limits{}, source.ErrLimit, "(ratio)"},
		{"repeated formulas", []part{content("", sheet("S", `<table:table-row table:number-rows-repeated="1000000"><table:table-cell table:formula="of:=A1" table:number-columns-repeated="10000"/></table:table-row>`))}, source.Limits{}, source.ErrLimit, "repeated cells"},
		{"a large part", row(""), source.Limits{PartBytes: 100}, source.ErrLimit, "(part_bytes)"},
		{"all parts", row(""), source.Limits{TotalBytes: 100}, source.ErrLimit, "(total_bytes)"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b, err := open(pack(t, tt.parts...), tt.limits)
			if err == nil {
				_, _, err = dump(b)
			}
			var f *source.Error
			if !errors.As(err, &f) || !errors.Is(err, tt.want) || !strings.Contains(f.Message+f.Remedy, tt.says) || f.Remedy == "" || f.File != "list.ods" {
				t.Errorf("got %v (%+v), want %v saying %q", err, f, tt.want, tt.says)
			}
		})
	}
}

// TestNotSpreadsheets are packages of the same family that hold something else.
func TestNotSpreadsheets(t *testing.T) {
	const text = "application/vnd.oasis.opendocument.text"
	for _, parts := range [][]part{
		{{"mimetype", text}, {contentPart, "x"}},
		{{contentPart, "x"}, {manifestPart, strings.Replace(root, mediaType, text, 1) + root[strings.Index(root, "<manifest:file-entry"):]}},
		{{"mimetype", mediaType}},
	} {
		if raw := pack(t, parts...); Recognize(bytes.NewReader(raw), int64(len(raw))) {
			t.Errorf("%v was recognised", parts)
		}
	}
	if Recognize(strings.NewReader("PK"), 2) {
		t.Error("a cut zip was recognised")
	}
}

// FuzzContent holds that any content is read or refused with a remedy, in bounded time.
func FuzzContent(f *testing.F) {
	f.Add(content("", sheet("S", `<table:table-row table:number-rows-repeated="2"><table:table-cell office:value-type="float" office:value="1"><text:p>a<text:s/></text:p></table:table-cell></table:table-row>`)).body)
	f.Add(content(`<number:number-style style:name="N"><number:number number:min-integer-digits="3"/></number:number-style>`, sheet("S", `<table:table-column/>`)).body)
	f.Fuzz(func(t *testing.T, body string) {
		b, err := open(pack(t, part{contentPart, body}), source.Limits{Cells: 100_000, Rows: 10_000})
		if err == nil {
			_, _, err = dump(b)
		}
		var e *source.Error
		if err != nil && (!errors.As(err, &e) || e.Remedy == "" || e.Message == "") {
			t.Fatalf("an error without a remedy: %v", err)
		}
	})
}

func TestMarks(t *testing.T) {
	styles := `<style:style style:name="red" style:family="table-cell"><style:table-cell-properties fo:background-color="#FF0000"/></style:style>` +
		`<style:style style:name="white" style:family="table-cell"><style:table-cell-properties fo:background-color="#ffffff"/></style:style>` +
		`<style:style style:name="child" style:family="table-cell" style:parent-style-name="red"/>`
	lists := `<table:content-validations><table:content-validation table:name="v1" table:condition="of:cell-content-is-in-list(&quot;yes&quot;;&quot;it is &quot;&quot;no&quot;&quot;&quot;)"/>` +
		`<table:content-validation table:name="v2" table:condition="of:cell-content-is-in-list([$'A.b'.$C$1:.$C$4])"/></table:content-validations>`
	cell := func(attrs, inside string) string {
		return `<table:table-cell office:value-type="string"` + attrs + `>` + inside + `<text:p>x</text:p></table:table-cell>`
	}
	rows := `<table:table-column/><table:table-column table:visibility="collapse"/>` +
		`<table:table-row>` + cell(` table:style-name="child" table:content-validation-name="v1"`, "") + cell(` table:number-columns-spanned="2"`, `<office:annotation><text:p>note</text:p></office:annotation>`) + `</table:table-row>` +
		`<table:table-row table:visibility="filter">` + cell(` table:style-name="white" table:content-validation-name="v1"`, "") + `</table:table-row>` +
		`<table:table-row table:number-rows-repeated="3"><table:table-cell table:content-validation-name="v2"/></table:table-row>`
	raw := pack(t, part{"mimetype", mediaType}, content(styles, lists+sheet("S", rows)))
	b, err := open(raw, source.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := b.Read(context.Background(), 0)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	k, err := r.Next()
	if err != nil {
		t.Fatal(err)
	}
	if a, b := k.Cell(0, 0).Flags.Look(), k.Cell(0, 1).Flags.Look(); a == 0 || b != 0 {
		t.Errorf("looks %d and %d", a, b)
	}
	if _, err := r.Next(); !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	want := source.Marks{
		HiddenRows: source.Places{N: 1, First: 2, Last: 2}, HiddenColumns: []source.Range{{FirstCol: 1, LastCol: 1}}, Filtered: true, Colours: true,
		Merged: []source.Range{{FirstCol: 1, FirstRow: 1, LastCol: 2, LastRow: 1}}, Comments: source.Places{N: 1, First: 1, Last: 1},
		Lists: []source.List{
			{Ranges: []source.Range{{FirstRow: 1, LastRow: 2}}, Values: []string{"yes", `it is "no"`}},
			{Ranges: []source.Range{{FirstRow: 3, LastRow: 5}}, Refers: true, Sheet: "A.b", Cells: source.Range{FirstCol: 2, FirstRow: 1, LastCol: 2, LastRow: 4}},
		},
	}
	if got := source.MarksOf(context.Background(), r); !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

// How many rows a sheet has is known about while it is read, whichever of several it is.
func TestExpectsRows(t *testing.T) {
	rows := func(n int) string {
		return strings.Repeat(`<table:table-row><table:table-cell office:value-type="string"><text:p>some text</text:p></table:table-cell></table:table-row>`, n)
	}
	b, err := open(pack(t, content("", sheet("a", rows(1000))+sheet("b", rows(9000))+sheet("c", rows(5000)))), source.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []int64{1000, 9000, 5000} {
		r, err := b.Read(context.Background(), i)
		if err != nil {
			t.Fatal(err)
		}
		var n int64
		for {
			k, err := r.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			n += int64(k.Rows())
			if about := source.Expected(r, n); about < want*99/100 || about > want*101/100 {
				t.Errorf("sheet %d: after %d rows it expects %d of %d", i, n, about, want)
			}
		}
		if n != want {
			t.Errorf("sheet %d: %d rows", i, n)
		}
	}
}
