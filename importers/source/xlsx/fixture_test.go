package xlsx

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"sheetlift/importers/source"
)

// part is one part of a package made in a test.
type part struct{ name, body string }

const (
	nsMain  = `xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"`
	nsRel   = `xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"`
	relBase = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/"
	typBase = "application/vnd.openxmlformats-officedocument.spreadsheetml."
)

// workbookParts gives an ordinary package of one sheet whose rows, styles and strings are the given XML; "" leaves the part
// out.
func workbookParts(rows, styles, strings string) []part {
	types := `<Override PartName="/xl/workbook.xml" ContentType="` + typBase + `sheet.main+xml"/><Override PartName="/xl/worksheets/sheet1.xml" ContentType="` + typBase + `worksheet+xml"/>`
	rels := relXML("rId1", "worksheet", "worksheets/sheet1.xml")
	parts := []part{
		{"_rels/.rels", relsXML(relXML("rId1", "officeDocument", "xl/workbook.xml"))},
		{"xl/workbook.xml", `<workbook ` + nsMain + ` ` + nsRel + `><sheets><sheet name="S" sheetId="1" r:id="rId1"/></sheets></workbook>`},
		{"xl/worksheets/sheet1.xml", sheetXML(rows)},
	}
	if styles != "" {
		rels += relXML("rId2", "styles", "styles.xml")
		types += `<Override PartName="/xl/styles.xml" ContentType="` + typBase + `styles+xml"/>`
		parts = append(parts, part{"xl/styles.xml", `<styleSheet ` + nsMain + `>` + styles + `</styleSheet>`})
	}
	if strings != "" {
		rels += relXML("rId3", "sharedStrings", "sharedStrings.xml")
		types += `<Override PartName="/xl/sharedStrings.xml" ContentType="` + typBase + `sharedStrings+xml"/>`
		parts = append(parts, part{"xl/sharedStrings.xml", `<sst ` + nsMain + `>` + strings + `</sst>`})
	}
	return append(parts,
		part{"xl/_rels/workbook.xml.rels", relsXML(rels)},
		part{"[Content_Types].xml", typesXML(types)})
}

func sheetXML(rows string) string {
	return `<worksheet ` + nsMain + `><sheetData>` + rows + `</sheetData></worksheet>`
}

func relXML(id, kind, target string) string {
	return fmt.Sprintf(`<Relationship Id="%s" Type="%s%s" Target="%s"/>`, id, relBase, kind, target)
}

func relsXML(rels string) string {
	return `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">` + rels + `</Relationships>`
}

func typesXML(types string) string {
	return `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/>` + types + `</Types>`
}

// replace gives parts with one body changed by f.
func replace(parts []part, name string, f func(body string) string) []part {
	out := append([]part(nil), parts...)
	for i := range out {
		if out[i].name == name {
			out[i].body = f(out[i].body)
		}
	}
	return out
}

func rename(parts []part, from, to string) []part {
	out := append([]part(nil), parts...)
	for i := range out {
		if out[i].name == from {
			out[i].name = to
		}
	}
	return out
}

func zipped(t testing.TB, parts []part) []byte {
	t.Helper()
	var buf bytes.Buffer
	w := zip.NewWriter(&buf)
	for _, p := range parts {
		f, err := w.Create(p.name)
		if err == nil {
			_, err = io.WriteString(f, p.body)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// read renders every cell of a file as "Sheet!A1 kind value class", with flags where there are any.
func read(raw []byte, opt source.Options) (string, source.Facts, error) {
	var out strings.Builder
	var facts source.Facts
	b, err := Open(context.Background(), "f.xlsx", bytes.NewReader(raw), int64(len(raw)), opt)
	if err != nil {
		return "", facts, err
	}
	for i, s := range b.Sheets() {
		r, err := b.Read(context.Background(), i)
		if err != nil {
			return out.String(), facts, err
		}
		for {
			k, err := r.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				r.Close()
				return out.String(), facts, err
			}
			for j, row := range k.RowNum {
				for col := range k.Cols {
					c := k.Cell(col, j)
					if c.Kind == source.Empty && c.Flags == 0 {
						continue
					}
					fmt.Fprintf(&out, "%s!%s %s %q %s", s.Name, source.Ref(col, row), c.Kind, k.Bytes(c), c.Class)
					for _, f := range []struct {
						bit  source.Flags
						name string
					}{{source.Formula, "formula"}, {source.NoCache, "nocache"}, {source.ZeroPadded, "padded"}, {source.ISODate, "iso"}} {
						if c.Flags&f.bit != 0 {
							out.WriteString(" " + f.name)
						}
					}
					out.WriteByte('\n')
				}
			}
		}
		facts = r.Facts()
		r.Close()
	}
	return out.String(), facts, b.Close()
}

// sentinel names the kind of an error.
func sentinel(err error) error {
	var f *source.Error
	if errors.As(err, &f) {
		return f.Kind
	}
	return err
}
