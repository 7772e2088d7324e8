package xlsb

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"

	"sheetlift/importers/source"
	. "sheetlift/importers/source/biff/bifftest"
	"sheetlift/importers/source/count"
)

func open(raw []byte, opt source.Options) (*Book, error) {
	return Open(context.Background(), "list.xlsb", bytes.NewReader(raw), int64(len(raw)), opt)
}

// dump reads all cells of a book; the facts are the first sheet's.
func dump(b *Book) (string, source.Facts, error) {
	var out strings.Builder
	var facts source.Facts
	for i, s := range b.Sheets() {
		if len(b.Sheets()) > 1 {
			fmt.Fprintf(&out, "[%s %s %s] ", s.Name, s.Visibility, s.Kind)
		}
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
					if c.Flags&source.ZeroPadded != 0 {
						out.WriteString(" padded")
					}
					out.WriteString("; ")
				}
			}
		}
		if i == 0 {
			facts = r.Facts()
		}
	}
	return out.String(), facts, nil
}

// The beginnings of the number of rows and cells are in package bifftest; these are whole cells.
func number(col int, v float64) []byte { return Record12(5, Cell12(col, 0), v) }

func formula(kind, col int, result ...any) []byte {
	return Record12(kind, Cell12(col, 0), Bytes(result...), uint16(0), uint32(0), uint32(0))
}

var (
	testStyles = Bytes(Record12(615), Record12(44, uint16(164), Text12("yyyy-mm-dd")), Record12(44, uint16(165), Text12("00000")),
		Record12(626), Record12(47, uint16(0), uint16(10)), Record12(627),
		Record12(617), Record12(47, uint16(0), uint16(0)), Record12(47, uint16(0), uint16(164)), Record12(47, uint16(0), uint16(22)), Record12(47, uint16(0), uint16(165)), Record12(618))
	testStrings = Bytes(Record12(159, uint32(4), uint32(4)), Record12(19, 0, Text12("ab")), Record12(19, 1, Text12("rich"), uint32(1), uint32(0)),
		Record12(19, 2, Text12("日"), Text12("にち"), uint32(1), uint32(0)), Record12(19, 0, Text12("")), Record12(160))
)

func book(t testing.TB, records ...any) []byte {
	return Zip(t, Parts12(nil, testStyles, testStrings, Sheet{Name: "S", Records: Bytes(records...)}))
}

var cellTests = []struct {
	name    string
	records []byte
	want    string
}{
	{"all digits", Bytes(Row12(0), number(0, 0.30000000000000004), number(1, 123456789012345680), number(2, 1e-7), number(3, math.Inf(1))),
		`A1 number "0.30000000000000004"; B1 number "123456789012345680"; C1 number "1e-07"; D1 text "+Inf"; `},
	{"compressed numbers", Bytes(Row12(4), Record12(2, Cell12(0, 0), uint32(0xfffffffe)), Record12(2, Cell12(1, 0), uint32(12345<<2|3)), Record12(2, Cell12(2, 0), uint32(0x3ff80000)), Record12(2, Cell12(3, 0), uint32(100<<2|1|2))),
		`A5 number "-1"; B5 number "123.45"; C5 number "1.5"; D5 number "1"; `},
	{"truth and errors", Bytes(Row12(0), Record12(4, Cell12(0, 0), 1), Record12(4, Cell12(1, 0), 0), Record12(3, Cell12(2, 0), 0x2b)), `A1 bool "TRUE"; B1 bool "FALSE"; C1 error "#GETTING_DATA"; `},
	{"stored results", Bytes(Row12(0), formula(9, 0, 44000.5), formula(10, 1, 0), formula(11, 2, 7), formula(8, 3, Text12("ü€")), formula(8, 4, Text12(""))),
		`A1 number "44000.5"; B1 bool "FALSE"; C1 error "#DIV/0!"; D1 text "ü€"; `},
	{"text", Bytes(Row12(0), Record12(6, Cell12(0, 0), Text12("😀 _x0041_\r\n")), Record12(62, Cell12(1, 0), 1, Text12("rich"), uint32(0)), Record12(6, Cell12(2, 0), Text12(""))), `A1 text "😀 _x0041_\r\n"; B1 text "rich"; `},
	{"shared strings", Bytes(Row12(0), Record12(7, Cell12(0, 0), uint32(2)), Record12(7, Cell12(1, 0), uint32(1)), Record12(7, Cell12(2, 0), uint32(3)), Record12(7, Cell12(3, 0), uint32(0))), `A1 text "日"; B1 text "rich"; D1 text "ab"; `},
	{"formats", Bytes(Row12(0), Record12(5, Cell12(0, 1), 44000.0), Record12(5, Cell12(1, 2), 44000.5), Record12(5, Cell12(2, 3), 123.0), Record12(5, Cell12(3, 99), 1.0)),
		`A1 number "44000" date; B1 number "44000.5" datetime; C1 number "123" padded; D1 number "1"; `},
	{"short cells", Bytes(Row12(0), Record12(12, uint32(0)), Record12(13, uint32(0), uint32(6)), Record12(16, uint32(1), 44000.0), Record12(15, uint32(0), 1), Record12(14, uint32(0), 0x2a), Record12(17, uint32(0), Text12("x")), Record12(18, uint32(0), uint32(0)), number(9, 1), Record12(13, uint32(0), uint32(10))),
		`B1 number "1"; C1 number "44000" date; D1 bool "TRUE"; E1 error "#N/A"; F1 text "x"; G1 text "ab"; J1 number "1"; K1 number "2"; `},
	{"no value", Bytes(Row12(0), Record12(1, Cell12(0, 0)), Row12(1)), ``},
	{"records of other kinds", Bytes(Row12(0), Record12(1024, 1, 2, 3), number(0, 1), Record12(500, make([]byte, 200_000)), number(1, 2)), `A1 number "1"; B1 number "2"; `},
	{"long text", Bytes(Row12(0), Record12(6, Cell12(0, 0), Text12(strings.Repeat("é", 50_000)))), fmt.Sprintf(`A1 text %q; `, strings.Repeat("é", 50_000))},
	{"the same cell again", Bytes(Row12(0), number(0, 1), number(0, 1)), `A1 number "1"; `},
	{"rows out of order", Bytes(Row12(9), number(0, 1), Row12(0), number(0, 2)), `A10 number "1"; A1 number "2"; `},
}

func TestCells(t *testing.T) {
	for _, tt := range cellTests {
		t.Run(tt.name, func(t *testing.T) {
			raw := book(t, tt.records)
			b, err := open(raw, source.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if got, _, err := dump(b); err != nil || got != tt.want {
				t.Errorf("got  %s %v\nwant %s", got, err, tt.want)
			}
			counted(t, b, raw)
		})
	}
}

func TestSheets(t *testing.T) {
	row := Record12(0, uint32(1), uint32(0), uint16(300), 0, 0x10, 0, uint32(0)) // hidden
	raw := Zip(t, Parts12(Record12(153, uint32(1), uint32(0), Text12("")), nil, nil,
		Sheet{Name: "One", Records: Bytes(Row12(0), number(2, 1), row, formula(11, 0, 7), Record12(146), Record12(161, uint32(0)), Record12(176, make([]byte, 16)), Record12(64, uint32(0)))},
		Sheet{Name: "Zwö", State: 1, Records: Bytes(Row12(0), number(0, 2))},
		Sheet{Name: "Three", State: 2, Records: Bytes(Row12(0), number(0, 3))},
		Sheet{Name: "Four", Kind: 2}))
	b, err := open(raw, source.Options{})
	if err != nil {
		t.Fatal(err)
	}
	got, facts, err := dump(b)
	want := `[One visible worksheet] C1 number "1"; A2 error "#DIV/0!"; [Zwö hidden worksheet] A1 number "2"; [Three veryHidden worksheet] A1 number "3"; [Four visible chartsheet] `
	if err != nil || got != want {
		t.Errorf("got  %s %v\nwant %s", got, err, want)
	}
	counted(t, b, raw)
	if i := b.Info(); i.Format != "xlsb" || !i.Date1904 || i.Conversion != nil || i.Said != "binary Excel workbook (xlsb), 4 sheets" {
		t.Errorf("got %+v", i)
	}
	wantFacts := source.Facts{Rows: 2, Cells: 2, LastRow: 2, LastColumn: 3, Merged: 1, HiddenRows: 1, Formulas: 1, ErrorCells: 1, AutoFilter: true, Validations: 1}
	if facts != wantFacts {
		t.Errorf("got  %+v\nwant %+v", facts, wantFacts)
	}
}

func TestHiddenColumns(t *testing.T) {
	parts := Parts12(nil, nil, nil, Sheet{Name: "S", Records: Bytes(Row12(0), number(0, 1))})
	parts[0].Data = Bytes(Record12(60, uint32(1), uint32(3), uint32(0), uint32(0), uint16(1)), Record12(60, uint32(5), uint32(0xffffffff), uint32(0), uint32(0), uint16(1)), Record12(60, uint32(9), uint32(9), uint32(0), uint32(0), uint16(0)), parts[0].Data)
	b, err := open(Zip(t, parts), source.Options{Limits: source.Limits{Columns: 100}})
	if err != nil {
		t.Fatal(err)
	}
	if _, facts, err := dump(b); err != nil || facts.HiddenColumns != 3+95 {
		t.Errorf("got %+v %v", facts, err)
	}
}

func TestManyRows(t *testing.T) {
	const rows = 3*source.BlockRows + 7
	var records []byte
	for i := range rows {
		records = append(records, Bytes(Row12(i), number(0, float64(i)), Record12(6, Cell12(1, 0), Text12("x")))...)
	}
	b, err := open(book(t, records), source.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := b.Read(context.Background(), 0)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for {
		k, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		for i := range k.Rows() {
			if k.RowNum[i] != n+1 || string(k.Bytes(k.Cell(0, i))) != fmt.Sprint(n) || string(k.Bytes(k.Cell(1, i))) != "x" {
				t.Fatalf("row %d is %d: %q", n+1, k.RowNum[i], k.Bytes(k.Cell(0, i)))
			}
			n++
		}
		if about := source.Expected(r, int64(n)); about < rows*98/100 || about > rows*102/100 {
			t.Errorf("after %d rows it expects %d of %d", n, about, rows)
		}
	}
	if n != rows || r.Facts().Cells != 2*rows {
		t.Errorf("%d rows, %+v", n, r.Facts())
	}
}

// without leaves a part out.
func without(name string, parts []Part) []Part {
	var out []Part
	for _, p := range parts {
		if p.Name != name {
			out = append(out, p)
		}
	}
	return out
}

func TestRefusals(t *testing.T) {
	ordinary := func() []Part { return Parts12(nil, testStyles, testStrings, Sheet{Name: "S", Records: Row12(0)}) }
	sheet := func(data []byte) []byte {
		parts := ordinary()
		parts[0].Data = data
		return Zip(t, parts)
	}
	for _, tt := range []struct {
		name string
		raw  []byte
		kind error
		says string
	}{
		{"no workbook", Zip(t, without("xl/workbook.bin", ordinary())), source.ErrMalformed, "no workbook part"},
		{"no part of a sheet", Zip(t, without("xl/worksheets/sheet1.bin", ordinary())), source.ErrMalformed, "is missing"},
		{"no relationships", Zip(t, without("xl/_rels/workbook.bin.rels", ordinary())), source.ErrMalformed, "belongs to this sheet"},
		{"no sheets", Zip(t, Parts12(Record12(153, uint32(0)), nil, nil)), source.ErrMalformed, "no sheets"},
		{"a cut zip", Zip(t, ordinary())[:500], source.ErrTruncated, "directory"},
		{"cells that don't end", sheet(Bytes(Record12(145), Row12(0), number(0, 1))), source.ErrTruncated, "before its cells do"},
		{"a record that is cut", sheet(Bytes(Record12(145), Row12(0), number(0, 1)[:9])), source.ErrMalformed, "middle of a record"},
		{"a record whose length is cut", sheet(Bytes(Record12(145), Row12(0), 5)), source.ErrMalformed, "middle of a record"},
		{"a record whose kind is cut", sheet(Bytes(Record12(145), Row12(0), 0x85)), source.ErrMalformed, "middle of a record"},
		{"a long record that is a lie", sheet(Bytes(Record12(145), Row12(0), 6, 0xff, 0xff, 0xff, 0x0f)), source.ErrMalformed, "middle of a record"},
		{"a longer one", sheet(Bytes(Record12(145), Row12(0), 6, 0xff, 0xff, 0xff, 0x7f)), source.ErrLimit, "record"},
		{"another record that is a lie", sheet(Bytes(Record12(145), Row12(0), 0x90, 0x7f, 0xff, 0xff, 0xff, 0x7f)), source.ErrMalformed, "middle of a record"},
		{"a second list of rows", book(t, Record12(146), Record12(145)), source.ErrMalformed, "two lists"},
		{"a cell without a row", book(t, number(0, 1)), source.ErrMalformed, "before the first row"},
		{"a row that comes twice", book(t, Row12(0), number(0, 1), Row12(0), number(1, 1)), source.ErrMalformed, "two rows"},
		{"another value in the same cell", book(t, Row12(0), number(0, 1), number(0, 2)), source.ErrMalformed, "twice"},
		{"a missing shared string", book(t, Row12(0), Record12(7, Cell12(0, 0), uint32(4))), source.ErrMalformed, "cell A1 points to a shared string"},
		{"a short cell", book(t, Row12(0), Record12(5, Cell12(0, 0), uint32(1))), source.ErrMalformed, "too short"},
		{"a text longer than its record", book(t, Row12(0), Record12(6, Cell12(0, 0), uint32(0x7fffffff), "a")), source.ErrMalformed, "too short"},
		{"half a pair of surrogates", book(t, Row12(0), Record12(6, Cell12(0, 0), uint32(1), uint16(0xd800))), source.ErrCharset, "cell A1 has undecodable"},
		{"a column beyond a limit", book(t, Row12(0), number(50, 1)), source.ErrLimit, "column"},
		{"a row beyond a limit", book(t, Row12(60000), number(0, 1)), source.ErrLimit, "60001"},
		{"a cell beyond a limit", book(t, Row12(0), Record12(6, Cell12(0, 0), Text12(strings.Repeat("x", 200)))), source.ErrLimit, "cell A1 is longer"},
		{"a string beyond a limit", Zip(t, Parts12(nil, nil, Record12(19, 0, Text12(strings.Repeat("x", 200))), Sheet{Name: "S"})), source.ErrLimit, "passes the limit"},
		{"cells beyond a limit", book(t, Row12(0), number(0, 1), number(1, 1), number(2, 1), number(3, 1)), source.ErrLimit, "cells"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b, err := open(tt.raw, source.Options{Limits: source.Limits{CellBytes: 100, Columns: 50, Rows: 50000, Cells: 3}})
			if err == nil {
				_, _, err = dump(b)
			}
			var f *source.Error
			if !errors.As(err, &f) || !errors.Is(err, tt.kind) || !strings.Contains(f.Message, tt.says) || f.Remedy == "" || f.File != "list.xlsb" {
				t.Errorf("got %v, want %v saying %q", err, tt.kind, tt.says)
			}
		})
	}
}

// counted holds the reader to the independent count.
func counted(t *testing.T, b *Book, raw []byte) {
	t.Helper()
	sheets, err := count.ReaderAt(context.Background(), bytes.NewReader(raw), int64(len(raw)), b.Info(), source.Options{})
	if err != nil || len(sheets) != len(b.Sheets()) {
		t.Fatalf("counted %d sheets of %d: %v", len(sheets), len(b.Sheets()), err)
	}
	for i := range sheets {
		r, err := b.Read(context.Background(), i)
		for err == nil {
			_, err = r.Next()
		}
		if !errors.Is(err, io.EOF) {
			t.Fatal(err)
		}
		if err := count.Compare(sheets[i], r.Facts()); err != nil {
			t.Error(err)
		}
	}
}

// FuzzWorkbook holds that parts of a workbook are read and counted alike, or refused with a remedy.
func FuzzWorkbook(f *testing.F) {
	list := Record12(156, uint32(0), uint32(1), Text12("rId1"), Text12("S"))
	for _, tt := range cellTests {
		f.Add(list, testStyles, testStrings, Bytes(Record12(145), tt.records, Record12(146)))
	}
	f.Add(Bytes(Record12(153, uint32(1)), list), []byte{0x80}, []byte{19, 0x80, 0x80}, Bytes(Record12(145), Row12(0), 6, 0xff, 0xff, 0xff, 0x0f))
	f.Add(list, testStyles, Bytes(testStrings, 0x9f, 0xde, 0), Record12(145)) // a kind takes two bytes at most
	limits := source.Limits{PartBytes: 1 << 20, TotalBytes: 8 << 20, StringBytes: 1 << 20, RecordBytes: 1 << 20}
	f.Fuzz(func(t *testing.T, workbook, styles, strings, sheet []byte) {
		parts := Parts12(nil, styles, strings, Sheet{Name: "S"})
		for i := range parts {
			switch parts[i].Name {
			case "xl/workbook.bin":
				parts[i].Data = workbook
			case "xl/worksheets/sheet1.bin":
				parts[i].Data = sheet
			}
		}
		raw := Zip(t, parts)
		b, err := open(raw, source.Options{Limits: limits})
		cells := ""
		if err == nil {
			cells, _, err = dump(b)
		}
		if err == nil {
			counted(t, b, raw)
		}
		var e *source.Error
		if err != nil && (!errors.As(err, &e) || e.Remedy == "" || e.Message == "" || e.File == "") {
			t.Fatalf("an error without message, file or remedy: %v", err)
		}
		if n := len(workbook) + len(strings) + len(sheet) + 100; len(cells) > 100*n*(len(strings)+10) {
			t.Fatalf("%d bytes of cells from %d", len(cells), n)
		}
	})
}
