package xlsb

import (
	"errors"
	"reflect"
	"testing"

	"sheetlift/importers/source"
	. "sheetlift/importers/source/biff/bifftest"
)

// marksOf reads the first sheet of a workbook and gives its marks, and the look of each cell.
func marksOf(t testing.TB, raw []byte) (source.Marks, map[string]int, error) {
	t.Helper()
	b, err := open(raw, source.Options{})
	if err != nil {
		return source.Marks{}, nil, err
	}
	return MarksOf(b)
}

// range12 is a range: rows, then columns.
func range12(v ...uint32) []byte {
	var b []byte
	for _, x := range v {
		b = append(b, Bytes(x)...)
	}
	return b
}

var none12 = Bytes(uint32(0xffffffff)) // no text

// validate is a data validation for a list.
func validate(formula []byte, ranges ...[]byte) []byte {
	return Record12(64, uint32(3|0x100), uint32(len(ranges)), Bytes(toAny(ranges)...), none12, Text12("e"), none12, none12, uint32(len(formula)), formula, uint32(0), uint32(0), uint32(0))
}

func toAny(list [][]byte) (out []any) {
	for _, b := range list {
		out = append(out, b)
	}
	return out
}

func colour12(kind, index int, tint uint16, rgb string) []byte {
	return Bytes(kind<<1, index, tint, rgb, 0xff)
}

func font12(colour []byte, underline int) []byte {
	return Record12(43, uint16(220), uint16(0), uint16(400), uint16(0), underline, 0, 0, 0, colour, 0, Text12("A"))
}

func fill12(pattern uint32, colour []byte) []byte {
	return Record12(45, pattern, colour, colour12(1, 65, 0, "\x00\x00\x00"), uint32(0))
}

func xf12(font, fill uint16) []byte {
	return Record12(47, uint16(0), uint16(0), font, fill, uint16(0), uint32(0), uint16(0))
}

// markParts is a workbook that shows all of it, with the records of its comments.
func markParts(records, comments []byte) []Part {
	black := "\x00\x00\x00"
	styles := Bytes(font12(colour12(3, 1, 0, black), 0), font12(colour12(2, 0, 0, "\xff\x00\x00"), 0), font12(colour12(3, 10, 0, black), 1),
		fill12(0, colour12(0, 0, 0, black)), fill12(1, colour12(2, 0, 0, "\xff\xff\x00")), fill12(1, colour12(3, 0, 0, black)), fill12(1, colour12(3, 0, 9, black)),
		Record12(617), xf12(0, 0), xf12(1, 0), xf12(2, 0), xf12(0, 1), xf12(0, 2), xf12(0, 3), Record12(618))
	name := Bytes(0x3b, uint16(0), uint32(0), uint32(4), uint16(0), uint16(0))
	workbook := Bytes(Record12(39, uint32(0), 0, uint32(0xffffffff), Text12("Stati"), uint32(len(name)), name, uint32(0), none12), Record12(357), Record12(362, uint32(1), uint32(0), uint32(1), uint32(1)))
	parts := Parts12(workbook, styles, nil, Sheet{Name: "S", Records: records}, Sheet{Name: "Lists"})
	return append(parts, Part{Name: "xl/worksheets/_rels/sheet1.bin.rels", Data: []byte(`<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/comments" Target="../comments1.bin"/></Relationships>`)},
		Part{Name: "xl/comments1.bin", Data: comments})
}

func markRecords() (records, comments []byte) {
	cell := func(col, style int) []byte { return Record12(5, Cell12(col, style), 1.0) }
	area := func(token int, col uint16) []byte { return Bytes(token, uint32(1), uint32(3), col, col) }
	hidden := func(row int) []byte {
		return Record12(0, uint32(row), uint32(0), uint16(300), 0, 0x10, 0, uint32(0))
	}
	records = Bytes(Record12(60, uint32(1), uint32(2), uint32(2000), uint32(0), uint16(1)),
		Row12(0), cell(0, 0), cell(1, 1), cell(2, 2), cell(3, 3), cell(4, 4), cell(5, 5), cell(6, 3),
		hidden(1), cell(0, 0), hidden(2),
		Record12(176, range12(0, 0, 0, 2)), Record12(176, range12(3, 4, 1, 1)), Record12(176, range12(9, 4, 1, 1)),
		Record12(161, range12(0, 4, 0, 2)), Record12(163, uint32(0), uint16(0)), Record12(165, uint32(0)), Record12(167, Text12("x")), Record12(166), Record12(164), Record12(162),
		validate(Bytes(0x17, uint16(6), Wide("yes,no")), range12(1, 4, 0, 0), range12(1, 1, 2, 2)),
		validate(Bytes(0x23, uint32(1)), range12(1, 4, 1, 1)),
		validate(area(0x25, 2), range12(1, 4, 3, 3)),
		validate(area(0x25, 0x8002), range12(1, 4, 4, 4)),
		validate(area(0x25, 0x8002), range12(1, 1, 4, 4)),
		validate(Bytes(0x21, uint16(1)), range12(1, 1, 5, 5)),
		Record12(64, uint32(1), uint32(0)), Record12(64, uint32(3), uint32(1<<31), "cut"))
	comments = Bytes(Record12(628), Record12(635, uint32(0), range12(1, 1, 0, 0), make([]byte, 16)), Record12(636), Record12(635, uint32(0), range12(7, 7, 3, 3), make([]byte, 16)), Record12(635, "cut"))
	return records, comments
}

func TestMarks(t *testing.T) {
	m, looks, err := marksOf(t, Zip(t, markParts(markRecords())))
	if err != nil {
		t.Fatal(err)
	}
	third := source.Range{FirstCol: 2, FirstRow: 2, LastCol: 2, LastRow: 4}
	want := source.Marks{
		HiddenRows: source.Places{N: 1, First: 2, Last: 2}, HiddenColumns: []source.Range{{FirstCol: 1, LastCol: 2}},
		Merged:   []source.Range{{FirstCol: 0, FirstRow: 1, LastCol: 2, LastRow: 1}, {FirstCol: 1, FirstRow: 4, LastCol: 1, LastRow: 5}},
		Filtered: true, Comments: source.Places{N: 2, First: 2, Last: 8}, Colours: true,
		Lists: []source.List{
			{Ranges: []source.Range{{FirstCol: 0, FirstRow: 2, LastCol: 0, LastRow: 5}, {FirstCol: 2, FirstRow: 2, LastCol: 2, LastRow: 2}}, Values: []string{"yes", "no"}},
			{Ranges: []source.Range{{FirstCol: 1, FirstRow: 2, LastCol: 1, LastRow: 5}}, Refers: true, Sheet: "Lists", Cells: source.Range{FirstCol: 0, FirstRow: 1, LastCol: 0, LastRow: 5}},
			{Ranges: []source.Range{{FirstCol: 3, FirstRow: 2, LastCol: 3, LastRow: 5}}, Refers: true, Cells: third},
			{Ranges: []source.Range{{FirstCol: 4, FirstRow: 2, LastCol: 4, LastRow: 5}}, Opaque: true}, // moves with the row
			{Ranges: []source.Range{{FirstCol: 4, FirstRow: 2, LastCol: 4, LastRow: 2}}, Refers: true, Cells: third},
			{Ranges: []source.Range{{FirstCol: 5, FirstRow: 2, LastCol: 5, LastRow: 2}}, Opaque: true}, // a function
		},
	}
	if !reflect.DeepEqual(m, want) {
		t.Errorf("got  %+v\nwant %+v", m, want)
	}
	if want := map[string]int{"A1": 0, "B1": 1, "C1": 0, "D1": 2, "E1": 0, "F1": 3, "G1": 2, "A2": 0}; !reflect.DeepEqual(looks, want) {
		t.Errorf("looks %v, want %v", looks, want)
	}
}

// FuzzMarks holds that what a sheet shows beside its cells never keeps its cells from being read, and is bounded.
func FuzzMarks(f *testing.F) {
	records, comments := markRecords()
	f.Add(records, comments)
	f.Add(validate(Bytes(0x17, uint16(3), Wide("a,b")), range12(1, 4, 0, 0)), []byte{})
	f.Add(Record12(176, "short"), Record12(635))
	f.Fuzz(func(t *testing.T, records, comments []byte) {
		m, _, err := marksOf(t, Zip(t, markParts(records, comments)))
		var e *source.Error
		if err != nil && (!errors.As(err, &e) || e.Remedy == "") {
			t.Fatalf("an error without remedy: %v", err)
		}
		if len(m.Lists) > source.MarksKept || len(m.Merged) > source.MarksKept {
			t.Fatalf("%d lists, %d merged ranges", len(m.Lists), len(m.Merged))
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
