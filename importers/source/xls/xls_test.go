package xls

import (
	"bytes"
	"context"
	"encoding/hex"
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
	return Open(context.Background(), "list.xls", bytes.NewReader(raw), int64(len(raw)), opt)
}

// dump reads all cells of a book; the facts are the last sheet's.
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
					for flag, word := range map[source.Flags]string{source.ZeroPadded: "padded", source.NoCache: "nocache"} {
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

// cell8 is the beginning of a cell.
func cell8(row, col, xf int) []byte { return Bytes(uint16(row), uint16(col), uint16(xf)) }

func number8(row, col int, v float64) []byte { return Record(0x203, cell8(row, col, 0), v) }

// label8 is a cell with text of one byte a character.
func label8(row, col int, s string) []byte {
	return Record(0x204, cell8(row, col, 0), uint16(len(s)), 0, s)
}

func formula8(row, col int, result ...any) []byte {
	return Record(0x06, cell8(row, col, 0), Bytes(result...), uint16(0), uint32(0), uint16(0))
}

func special(kind, v int) []byte { return Bytes(kind, 0, v, 0, 0, 0, uint16(0xffff)) }

var formats8 = Bytes(
	Record(0x41e, uint16(164), uint16(10), 0, "yyyy-mm-dd"), Record(0x41e, uint16(165), uint16(5), 1, Wide("00000")),
	Record(0xe0, uint16(0), uint16(0)), Record(0xe0, uint16(0), uint16(164)), Record(0xe0, uint16(0), uint16(22)), Record(0xe0, uint16(0), uint16(165)))

func sst(count int, body ...any) []byte {
	return Record(0xfc, uint32(count), uint32(count), Bytes(body...))
}

func sstCell(row, col, i int) []byte { return Record(0xfd, cell8(row, col, 0), uint32(i)) }

func workbook8(globals, records []byte) []byte {
	return Compound(Stream{Name: "Workbook", Data: Stream8(globals, Sheet{Name: "S", Records: records})})
}

var cellTests = []struct {
	name    string
	globals []byte
	records []byte
	want    string
}{
	{"all digits", nil, Bytes(number8(0, 0, 0.30000000000000004), number8(0, 1, 123456789012345680), number8(0, 2, 1e-7), number8(0, 3, 1e21), number8(0, 4, -0.5)),
		`A1 number "0.30000000000000004"; B1 number "123456789012345680"; C1 number "1e-07"; D1 number "1e+21"; E1 number "-0.5"; `},
	{"no number", nil, Bytes(number8(0, 0, math.NaN()), number8(0, 1, math.Inf(1)), number8(0, 2, math.Inf(-1))), `A1 text "NaN"; B1 text "+Inf"; C1 text "-Inf"; `},
	{"compressed numbers", nil, Bytes(Record(0x27e, cell8(2, 0, 0), uint32(1<<2|2)), Record(0xbd, uint16(2), uint16(1), uint16(0), uint32(0xfffffffe), uint16(0), uint32(12345<<2|3), uint16(0), uint32(0x3ff80000), uint16(3))),
		`A3 number "1"; B3 number "-1"; C3 number "123.45"; D3 number "1.5"; `},
	{"truth and errors", nil, Bytes(Record(0x205, cell8(0, 0, 0), 1, 0), Record(0x205, cell8(0, 1, 0), 0, 0), Record(0x205, cell8(0, 2, 0), 0x2a, 1), Record(0x205, cell8(0, 3, 0), 0x99, 1)),
		`A1 bool "TRUE"; B1 bool "FALSE"; C1 error "#N/A"; D1 error "#ERROR(153)"; `},
	{"stored results", nil, Bytes(formula8(0, 0, 44000.5), formula8(0, 1, special(1, 0)), formula8(0, 2, special(2, 7)), formula8(0, 3, special(3, 0)),
		formula8(0, 4, special(0, 0)), Record(0x207, uint16(2), 1, Wide("ü€"))),
		`A1 number "44000.5"; B1 bool "FALSE"; C1 error "#DIV/0!"; E1 text "ü€"; `},
	{"a text after a shared formula", nil, Bytes(formula8(0, 0, special(0, 0)), Record(0x4bc, uint32(0), uint32(0)), Record(0x207, uint16(1), 0, "x"), number8(0, 1, 1)), `A1 text "x"; B1 number "1"; `},
	{"a long text of a formula", nil, Bytes(formula8(0, 0, special(0, 0)), Record(0x207, uint16(6), 0, "abc"), Record(0x3c, 1, Wide("déf"))), `A1 text "abcdéf"; `},
	{"no stored result", nil, Bytes(formula8(0, 0, special(0, 0)), number8(0, 1, 1)), `A1 empty "" nocache; B1 number "1"; `},
	{"text in the cell", nil, Bytes(label8(0, 0, "caf\xe9"), Record(0x204, cell8(0, 1, 0), uint16(2), 1, Wide("😀")), label8(0, 2, ""), Record(0xd6, cell8(0, 3, 0), uint16(4), 0, "rich", uint16(1), uint32(0))),
		`A1 text "café"; B1 text "😀"; D1 text "rich"; `},
	{"no value", nil, Bytes(Record(0x201, cell8(0, 0, 0)), Record(0xbe, uint16(0), uint16(1), uint16(0), uint16(0), uint16(2))), ``},
	{"formats", formats8, Bytes(Record(0x203, cell8(0, 0, 1), 44000.0), Record(0x203, cell8(0, 1, 2), 44000.5), Record(0x203, cell8(0, 2, 3), 123.0), Record(0x203, cell8(0, 3, 99), 1.0)),
		`A1 number "44000" date; B1 number "44000.5" datetime; C1 number "123" padded; D1 number "1"; `},
	{"shared strings", sst(3, uint16(2), 0, "ab", uint16(1), 1, Wide("ß"), uint16(0), 0), Bytes(sstCell(0, 0, 1), sstCell(0, 1, 0), sstCell(0, 2, 2)), `A1 text "ß"; B1 text "ab"; `},
	{"runs and phonetic text", sst(2, uint16(2), 8, uint16(2), "ab", uint32(1), uint32(2), uint16(1), 1|4|8, uint16(1), uint32(3), Wide("日"), uint32(9), "???", uint16(1), 0, "z"), Bytes(sstCell(0, 0, 0), sstCell(0, 1, 1)), `A1 text "ab"; B1 text "日"; `},
	{"strings that change their width on the way", Bytes(sst(3, uint16(6), 0, "ab"), Record(0x3c, 1, Wide("cé")), Record(0x3c, 0, "ef", uint16(2), 1, Wide("x")), Record(0x3c, 0, "y"), Record(0x3c, uint16(1), 0, "q")),
		Bytes(sstCell(0, 0, 0), sstCell(0, 1, 1), sstCell(0, 2, 2)), `A1 text "abcéef"; B1 text "xy"; C1 text "q"; `},
	{"a pair of surrogates in two records", Bytes(sst(1, uint16(2), 1, Wide("😀")[:2]), Record(0x3c, 1, Wide("😀")[2:])), sstCell(0, 0, 0), `A1 text "😀"; `},
	{"runs in two records, and a head in two", Bytes(sst(2, uint16(1), 8, uint16(2), "a", uint32(1)), Record(0x3c, uint32(2), 1), Record(0x3c, 0, 0, "b")), Bytes(sstCell(0, 0, 0), sstCell(0, 1, 1)), `A1 text "a"; B1 text "b"; `},
	{"rows and columns out of order", nil, Bytes(number8(5, 1, 1), label8(0, 0, "late"), formula8(3, 2, special(0, 0)), Record(0x207, uint16(1), 0, "f"), number8(5, 0, 2)), `A1 text "late"; C4 text "f"; A6 number "2"; B6 number "1"; `},
	{"the same cell again", nil, Bytes(number8(0, 0, 1), number8(0, 0, 1)), `A1 number "1"; `},
	{"what is no password", Bytes(BOF8(0x20), Record(0x2f, uint32(0)), EOF()), number8(0, 0, 1), `A1 number "1"; `},
	{"a chart in the sheet", nil, Bytes(number8(0, 0, 1), BOF8(0x20), number8(0, 9, 9), BOF8(0x20), EOF(), EOF(), number8(1, 0, 2)), `A1 number "1"; A2 number "2"; `},
}

func TestCells(t *testing.T) {
	for _, tt := range cellTests {
		t.Run(tt.name, func(t *testing.T) {
			raw := workbook8(tt.globals, tt.records)
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
	raw := Compound(
		Stream{Name: "Book", Data: []byte("the older version beside it")},
		Stream{Name: "WORKBOOK", Data: Stream8(Record(0x22, uint16(1)),
			Sheet{Name: "One", Records: Bytes(
				Record(0x208, uint16(0), uint16(0), uint16(3), uint16(300), uint32(0), uint32(0x20)),
				Record(0x208, uint16(1), uint16(0), uint16(3), uint16(300), uint32(0), uint32(0)),
				Record(0x7d, uint16(2), uint16(4), uint16(0), uint16(0), uint16(1), uint16(0)),
				number8(0, 0, 1), number8(1, 2, 2), formula8(2, 0, special(2, 7)),
				Record(0xe5, uint16(2), make([]byte, 16)), Record(0x9d, uint16(1)), Record(0x1be, uint32(0)))},
			Sheet{Name: "Two", State: 1, Records: number8(0, 0, 2)},
			Sheet{Name: "Three", State: 2, Kind: 1, Records: number8(0, 0, 3)},
			Sheet{Name: "Four", Kind: 2, Records: number8(0, 0, 4)},
			Sheet{Name: "Five", Kind: 6, Records: number8(0, 0, 4)})})
	b, err := open(raw, source.Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := `[One visible worksheet] A1 number "1"; C2 number "2"; A3 error "#DIV/0!"; [Two hidden worksheet] A1 number "2"; [Three veryHidden macrosheet] A1 number "3"; [Four visible chartsheet] [Five visible macrosheet] `
	if got, _, err := dump(b); err != nil || got != want {
		t.Errorf("got  %s %v\nwant %s", got, err, want)
	}
	counted(t, b, raw)
	if i := b.Info(); i.Format != "xls" || !i.Date1904 || i.Conversion != nil || i.Said != "Excel 97 workbook (xls, BIFF8), 5 sheets" {
		t.Errorf("got %+v", i)
	}
	r, err := b.Read(context.Background(), 0)
	if err != nil {
		t.Fatal(err)
	}
	for err == nil {
		_, err = r.Next()
	}
	wantFacts := source.Facts{Rows: 3, Cells: 3, LastRow: 3, LastColumn: 3, Merged: 2, HiddenRows: 1, HiddenColumns: 3, Formulas: 1, ErrorCells: 1, AutoFilter: true, Validations: 1}
	if got := r.Facts(); got != wantFacts {
		t.Errorf("got  %+v\nwant %+v", got, wantFacts)
	}
}

// TestManyRows goes beyond one block, in order and not.
func TestManyRows(t *testing.T) {
	const rows = 3*source.BlockRows + 7
	for _, backwards := range []bool{false, true} {
		var records []byte
		for i := range rows {
			if backwards {
				i = rows - 1 - i
			}
			records = append(records, Bytes(number8(i, 0, float64(i)), label8(i, 1, "x"))...)
		}
		b, err := open(workbook8(nil, records), source.Options{})
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
			if about := source.Expected(r, int64(n)); about < rows*99/100 || about > rows*101/100 {
				t.Errorf("after %d rows it expects %d of %d, backwards %v", n, about, rows, backwards)
			}
		}
		if n != rows || r.Facts().Cells != 2*rows {
			t.Errorf("%d rows, %+v", n, r.Facts())
		}
	}
}

// old is a sheet of an earlier version that lies in a file without a container.
func old(bof uint16, records ...any) []byte {
	return Bytes(Record(bof, uint16(0), uint16(0x10)), Bytes(records...), EOF())
}

func TestOldVersions(t *testing.T) {
	attr := []byte{0, 1, 0} // BIFF2: the second format
	at := func(row, col int) []byte { return Bytes(uint16(row), uint16(col), attr) }
	for _, tt := range []struct {
		name string
		raw  []byte
		said string
		want string
	}{
		{"BIFF2", old(0x09, Record(0x42, uint16(1250)), Record(0x1e, 7, "General"), Record(0x1e, 10, "yyyy-mm-dd"),
			Record(0x02, at(0, 0), uint16(44000)), Record(0x03, at(0, 1), 0.5), Record(0x04, at(0, 2), 3, "\x9d\xe8a"), Record(0x05, at(0, 3), 1, 0),
			Record(0x06, at(1, 0), special(0, 0), 0, 0), Record(0x07, 2, "ab"), Record(0x06, at(1, 1), 7.0, 0, 0)), "Excel 2.0 worksheet (xls, BIFF2), 1 sheet",
			`A1 number "44000" date; B1 number "0.5" date; C1 text "ťča" date; D1 bool "TRUE" date; A2 text "ab" date; B2 number "7" date; `},
		{"BIFF3", old(0x209, Record(0x1e, 7, "General"), Record(0x1e, 5, "h:mm "), Record(0x243, 0, 1), Record(0x204, cell8(0, 0, 0), uint16(2), "ab"), Record(0x206, cell8(0, 1, 0), 2.0, uint16(0)), Record(0x27e, cell8(0, 2, 0), uint32(6))), "Excel 3.0 worksheet (xls, BIFF3), 1 sheet",
			`A1 text "ab" time; B1 number "2" time; C1 number "1" time; `},
		{"BIFF4", old(0x409, Record(0x41e, uint16(0), 7, "General"), Record(0x41e, uint16(0), 2, "0%"), Record(0x443, 0, 0), Record(0x443, 0, 1), Record(0x406, cell8(0, 1, 1), 2.0, uint16(0))), "Excel 4.0 worksheet (xls, BIFF4), 1 sheet",
			`B1 number "2" percent; `},
		{"a simple export", old(0x809, Record(0x203, cell8(0, 0, 0), 1.0), Record(0x204, cell8(0, 1, 0), uint16(2), "ab")), "Excel 5.0 workbook (xls, BIFF5), 1 sheet", `A1 number "1"; B1 text "ab"; `},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b, err := open(tt.raw, source.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if got, _, err := dump(b); err != nil || got != tt.want {
				t.Errorf("got  %s %v\nwant %s", got, err, tt.want)
			}
			counted(t, b, tt.raw)
			if got := b.Info().Said; got != tt.said {
				t.Errorf("got %q", got)
			}
			if b.Sheets()[0].Name != "Sheet1" {
				t.Error(b.Sheets())
			}
		})
	}
}

// book5 is a workbook in BIFF5 with one sheet.
func book5(globals []byte, name string, records ...any) []byte {
	bof := func(kind uint16) []byte { return Record(0x809, uint16(0x500), kind, uint32(0)) }
	size := len(bof(5)) + len(globals) + len(EOF()) + 11 + len(name)
	return Compound(Stream{Name: "Book", Data: Bytes(bof(5), globals, Record(0x85, uint32(size), 0, 0, len(name), name), EOF(), bof(0x10), Bytes(records...), EOF())})
}

func TestCodePages(t *testing.T) {
	text := func(s string) []byte { return Record(0x204, cell8(0, 0, 0), uint16(len(s)), s) }
	for _, tt := range []struct {
		page uint16
		raw  string
		want string
	}{{1252, "\x80", "€"}, {1251, "\xc4\xe0", "Да"}, {932, "\x93\xfa\x96{", "日本"}, {936, "\xc4\xe3", "你"}, {949, "\xb0\xa1", "가"}, {950, "\xa4@", "一"}, {0x8000, "\x8e", "é"}, {850, "\x82", "é"}, {65001, "é", "é"}} {
		b, err := open(book5(Record(0x42, tt.page), tt.raw, text(tt.raw)), source.Options{})
		if err != nil {
			t.Errorf("%d: %v", tt.page, err)
			continue
		}
		if got, _, err := dump(b); err != nil || got != fmt.Sprintf("A1 text %q; ", tt.want) || b.Sheets()[0].Name != tt.want {
			t.Errorf("%d: got %s in sheet %s, %v", tt.page, got, b.Sheets()[0].Name, err)
		}
	}
	// A file that doesn't say is not guessed about.
	raw := book5(nil, "S", text("\xe9"))
	b, err := open(raw, source.Options{})
	if err == nil {
		_, _, err = dump(b)
	}
	if !errors.Is(err, source.ErrCharset) || !strings.Contains(err.Error(), "code page") {
		t.Errorf("got %v", err)
	}
	b, err = open(raw, source.Options{Charset: "windows-1250"})
	if err != nil {
		t.Fatal(err)
	}
	if got, _, err := dump(b); err != nil || got != `A1 text "é"; ` || b.Info().Charset != "windows-1250" {
		t.Errorf("got %s %v", got, err)
	}
}

func TestRefusals(t *testing.T) {
	one := func(records ...any) []byte { return workbook8(nil, Bytes(records...)) }
	elsewhere := Stream8(nil, Sheet{Name: "S"})
	elsewhere[len(BOF8(5))+4]++
	for _, tt := range []struct {
		name string
		raw  []byte
		kind error
		says string
	}{
		{"an unknown encryption", workbook8(Record(0x2f, uint16(9)), nil), source.ErrEncrypted, "isn't read"},
		{"an unknown version", Compound(Stream{Name: "Workbook", Data: Record(0x809, uint16(0x700), uint16(5))}), source.ErrUnsupported, "version"},
		{"several sheets of Excel 4.0", Bytes(Record(0x409, uint16(0), uint16(0x100)), EOF()), source.ErrUnsupported, "kind"},
		{"an unknown code page", book5(Record(0x42, uint16(12345)), "S"), source.ErrUnsupported, "12345"},
		{"no workbook", Compound(Stream{Name: "WordDocument"}), source.ErrUnsupported, "without a workbook"},
		{"no records", Compound(Stream{Name: "Workbook", Data: make([]byte, 5000)}), source.ErrMalformed, "begin"},
		{"an empty stream", Compound(Stream{Name: "Workbook"}), source.ErrTruncated, "cut off"},
		{"no sheets", Compound(Stream{Name: "Workbook", Data: Stream8(nil)}), source.ErrMalformed, "no sheets"},
		{"a sheet that lists sheets", old(0x809, Record(0x85, uint32(0), 0, 0, 1, "S")), source.ErrMalformed, "lists sheets"},
		{"sheets without a list", Bytes(old(0x409), old(0x409)), source.ErrUnsupported, "no list"},
		{"a sheet and the beginning of another", Bytes(old(0x809), Record(0x809, uint32(0), uint32(0))[:6]), source.ErrTruncated, "cut off"},
		{"a short cell out of order", one(number8(1, 0, 1), number8(0, 0, 1), Record(0x203, uint16(5))), source.ErrMalformed, "too short"},
		{"a sheet elsewhere", Compound(Stream{Name: "Workbook", Data: elsewhere}), source.ErrMalformed, "no records of a sheet"},
		{"a sheet without end", Compound(Stream{Name: "Workbook", Data: bytes.TrimSuffix(Stream8(nil, Sheet{Name: "S", Records: number8(0, 0, 1)}), EOF())}), source.ErrTruncated, "cut off"},
		{"a stream that is cut", one(make([]byte, 9000))[:6000], source.ErrTruncated, "missing"},
		{"a missing shared string", one(sstCell(0, 0, 0)), source.ErrMalformed, "cell A1 points to a shared string"},
		{"half a pair of surrogates", one(Record(0x204, cell8(0, 0, 0), uint16(1), 1, uint16(0xd800))), source.ErrCharset, "cell A1 has undecodable"},
		{"another value in the same cell", one(number8(0, 0, 1), number8(0, 0, 2)), source.ErrMalformed, "twice"},
		{"a short cell", one(Record(0x203, cell8(0, 0, 0))), source.ErrMalformed, "too short"},
		{"a text that is not there", one(Record(0x204, cell8(0, 0, 0), uint16(9), 0, "a")), source.ErrTruncated, "cut off"},
		{"a result of another kind", one(formula8(0, 0, special(9, 0))), source.ErrMalformed, "kind"},
		{"a string beyond a limit", workbook8(sst(1, uint16(200), 0, strings.Repeat("x", 200)), sstCell(0, 0, 0)), source.ErrLimit, "limit"},
		{"a cell beyond a limit", one(label8(0, 0, strings.Repeat("x", 200))), source.ErrLimit, "cell A1 is longer"},
		{"a column beyond a limit", one(number8(0, 50, 1)), source.ErrLimit, "column"},
		{"a row beyond a limit", one(number8(60000, 0, 1)), source.ErrLimit, "60001"},
		{"cells beyond a limit", one(bytes.Join([][]byte{number8(0, 0, 1), number8(0, 1, 1), number8(0, 2, 1), number8(0, 3, 1)}, nil)), source.ErrLimit, "cells"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b, err := open(tt.raw, source.Options{Limits: source.Limits{CellBytes: 100, Columns: 50, Rows: 50000, Cells: 3}})
			if err == nil {
				_, _, err = dump(b)
			}
			var f *source.Error
			if !errors.As(err, &f) || !errors.Is(err, tt.kind) || !strings.Contains(f.Message, tt.says) || f.Remedy == "" || f.File != "list.xls" {
				t.Errorf("got %v, want %v saying %q", err, tt.kind, tt.says)
			}
		})
	}
}

// TestPasswords reads streams that were encrypted by another implementation: one with the password that Excel uses where only
// the structure is protected, one with a password of its own.
func TestPasswords(t *testing.T) {
	const byDefault = "09081000000605000000000000000000000000002f003600010001000100000102030405060708090a0b0c0d0e0f01fd4e05dc6e0e72fcc4b72175686883ded643a3b989170bc6e163b5debaf714850009005f00000040e6fbcd4a0a000000090810000006100000000000000000000000000003020e0025c9d466173528dc98b21e6a05b703020e00c180802213f9710b65550354d9ee0a000000"
	const own = "09081000000605000000000000000000000000002f006e00010002000200040000002400000004000000000000000168000004800000800000000100000000000000000000007800000010000000000102030405060708090a0b0c0d0e0fdeafb3d007938cd6bc61d2160aa47bdd140000008e7ef570b4fff940cb4ef1fb6531d2a3f42a1f2d850009009700000053371b9b3a0a000000090810000006100000000000000000000000000003020e00271f20ad57bb57e8af2343ed57ab03020e009153c5d9912a4676d6323843020c0a000000"
	want := `A1 number "1.5"; A2 number "2.5"; `
	for _, tt := range []struct {
		stream, password string
		says             string
	}{{byDefault, "", ""}, {byDefault, "other", ""}, {own, "sésame", ""}, {own, "", "is protected"}, {own, "other", "does not open"}} {
		stream, err := hex.DecodeString(tt.stream)
		if err != nil {
			t.Fatal(err)
		}
		raw := Compound(Stream{Name: "Workbook", Data: stream})
		b, err := open(raw, source.Options{Password: tt.password})
		if tt.says != "" {
			if !errors.Is(err, source.ErrEncrypted) || !strings.Contains(err.Error(), tt.says) || strings.Contains(err.Error(), "other") {
				t.Errorf("got %v", err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if got, _, err := dump(b); err != nil || got != want {
			t.Errorf("got %s %v", got, err)
		}
		sheets, err := count.ReaderAt(context.Background(), bytes.NewReader(raw), int64(len(raw)), b.Info(), source.Options{Password: tt.password})
		if err != nil || len(sheets) != 1 || sheets[0] != (count.Sheet{Name: "S", Rows: 2, Cells: 2}) {
			t.Errorf("counted %v %v", sheets, err)
		}
	}
}

func TestCancelled(t *testing.T) {
	var records []byte
	for i := range 10000 {
		records = append(records, number8(i, 0, 1)...)
	}
	b, err := open(workbook8(nil, records), source.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	r, err := b.Read(ctx, 0)
	if err == nil {
		_, err = r.Next()
	}
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
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

// FuzzWorkbook holds that a stream of records, and any file, is read and counted alike, or refused with a remedy.
func FuzzWorkbook(f *testing.F) {
	for _, tt := range cellTests {
		f.Add(false, Stream8(tt.globals, Sheet{Name: "S", Records: tt.records}))
	}
	f.Add(true, workbook8(formats8, number8(0, 0, 1)))
	f.Add(true, workbook8(nil, bytes.Repeat(number8(0, 0, 1), 400)))
	f.Add(true, book5(Record(0x42, uint16(1252)), "S", number8(0, 0, 1)))
	f.Add(true, old(0x09, Record(0x1e, 7, "General"), Record(0x03, make([]byte, 7), 0.5), Record(0x06, make([]byte, 7), special(0, 0)), Record(0x07, 2, "ab")))
	listed := Stream8(nil, Sheet{Name: "S", Records: number8(0, 0, 1)})
	listed[len(BOF8(5))+9] = 2 // the list says chart
	f.Add(true, listed)
	f.Add(true, old(0x409, Record(0x204, cell8(0, 0, 0), uint16(2), "ab")))
	limits := source.Limits{StringBytes: 1 << 20, CellBytes: 1 << 20}
	f.Fuzz(func(t *testing.T, whole bool, raw []byte) {
		if !whole { // the container is built around it, so that its checks don't keep everything away
			raw = Compound(Stream{Name: "Workbook", Data: raw})
		}
		b, err := open(raw, source.Options{Limits: limits})
		cells, facts := "", source.Facts{}
		if err == nil {
			cells, facts, err = dump(b)
		}
		if err == nil {
			counted(t, b, raw)
		}
		var e *source.Error
		if err != nil && (!errors.As(err, &e) || e.Remedy == "" || e.Message == "" || e.File == "") {
			t.Fatalf("an error without message, file or remedy: %v", err)
		}
		if len(cells) > 1000*(len(raw)+100) {
			t.Fatalf("%d bytes of cells from %d bytes: %+v", len(cells), len(raw), facts)
		}
	})
}
