package xls

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

// text16 is a text of .xls with its length in two bytes, label its tokens as a formula.
func text16(s string) []byte { return Bytes(uint16(len(s)), 0, s) }

// validate is a DV record for a list; the formula's tokens and the ranges, rows before columns.
func validate(formula []byte, ranges ...uint16) []byte {
	at := []byte{}
	for _, v := range ranges {
		at = append(at, Bytes(v)...)
	}
	return Record(0x1be, uint32(3|0x180), text16("\x00"), text16("\x00"), text16("a"), text16("\x00"), uint16(len(formula)), uint16(0), formula, uint16(0), uint16(0), uint16(len(ranges)/4), at)
}

func area8(token int, first, last, col, lastCol uint16) []byte {
	return Bytes(token, first, last, col, lastCol)
}

func font8(colour uint16, underline int) []byte {
	return Record(0x31, uint16(200), uint16(0), colour, uint16(400), uint16(0), underline, 0, 0, 0, 1, 0, "A")
}

func xf8(font uint16, pattern uint32, fore uint16) []byte {
	return Record(0xe0, font, uint16(0), uint16(0), uint32(0), uint32(0), pattern<<26, fore)
}

func markBook() []byte {
	abs := area8(0x25, 1, 3, 2, 2)
	globals := Bytes(
		font8(0x7fff, 0), font8(8, 0), font8(10, 0), font8(12, 1), font8(10, 0), // the fifth has the number 5
		xf8(0, 0, 64), xf8(0, 1, 13), xf8(5, 0, 64), xf8(3, 0, 64), xf8(1, 1, 9), xf8(0, 1, 13),
		Record(0x1ae, uint16(2), uint16(0x401)), Record(0x17, uint16(1), uint16(0), uint16(1), uint16(1)),
		Record(0x18, uint16(0), 0, 5, uint16(11), uint16(0), uint16(0), uint32(0), 0, "Stati", 0x3b, uint16(0), uint16(0), uint16(4), uint16(0), uint16(0)),
	)
	cell := func(row, col, xf int) []byte { return Record(0x203, cell8(row, col, xf), 1.0) }
	records := Bytes(
		Record(0x7d, uint16(1), uint16(2), uint16(2000), uint16(0), uint16(1), uint16(0)), Record(0x9d, uint16(3)),
		Record(0x208, uint16(1), uint16(0), uint16(6), uint16(300), uint32(0), uint32(0x20)), Record(0x208, uint16(2), uint16(0), uint16(0), uint16(300), uint32(0), uint32(0x20)),
		cell(0, 0, 0), cell(0, 1, 1), cell(0, 2, 2), cell(0, 3, 3), cell(0, 4, 4), cell(0, 5, 5), cell(1, 0, 0),
		Record(0x1c, uint16(1), uint16(0), uint16(0), uint16(1), text16("x")), Record(0x1c, uint16(7), uint16(3), uint16(0), uint16(2), text16("x")),
		Record(0xe5, uint16(2), uint16(0), uint16(0), uint16(0), uint16(2), uint16(3), uint16(4), uint16(1), uint16(1)),
		Record(0x9b), Record(0x1b2, make([]byte, 18)),
		validate(Bytes(0x17, 6, 0, "yes\x00no"), 1, 4, 0, 0, 1, 1, 2, 2),
		validate(Bytes(0x43, uint32(1)), 1, 4, 1, 1),
		validate(abs, 1, 4, 3, 3),
		validate(area8(0x25, 1, 3, 0x8002, 0x8002), 1, 4, 4, 4), // moves with the row
		validate(Bytes(0x21, uint16(1)), 1, 1, 5, 5),            // a function
		Record(0x1be, uint32(1), text16("")),                    // a whole number
		Record(0x1be, uint32(3), "cut"),
	)
	return Compound(Stream{Name: "Workbook", Data: Stream8(globals, Sheet{Name: "S", Records: records}, Sheet{Name: "Lists"})})
}

func TestMarks(t *testing.T) {
	m, looks, err := marksOf(t, markBook())
	if err != nil {
		t.Fatal(err)
	}
	cells := source.Range{FirstCol: 0, FirstRow: 1, LastCol: 0, LastRow: 5}
	want := source.Marks{
		HiddenRows: source.Places{N: 1, First: 2, Last: 2}, HiddenColumns: []source.Range{{FirstCol: 1, LastCol: 2}},
		Merged:   []source.Range{{FirstCol: 0, FirstRow: 1, LastCol: 2, LastRow: 1}, {FirstCol: 1, FirstRow: 4, LastCol: 1, LastRow: 5}},
		Filtered: true, Comments: source.Places{N: 2, First: 2, Last: 8}, Colours: true,
		Lists: []source.List{
			{Ranges: []source.Range{{FirstCol: 0, FirstRow: 2, LastCol: 0, LastRow: 5}, {FirstCol: 2, FirstRow: 2, LastCol: 2, LastRow: 2}}, Values: []string{"yes", "no"}},
			{Ranges: []source.Range{{FirstCol: 1, FirstRow: 2, LastCol: 1, LastRow: 5}}, Refers: true, Sheet: "Lists", Cells: cells},
			{Ranges: []source.Range{{FirstCol: 3, FirstRow: 2, LastCol: 3, LastRow: 5}}, Refers: true, Cells: source.Range{FirstCol: 2, FirstRow: 2, LastCol: 2, LastRow: 4}},
			{Ranges: []source.Range{{FirstCol: 4, FirstRow: 2, LastCol: 4, LastRow: 5}}, Opaque: true},
			{Ranges: []source.Range{{FirstCol: 5, FirstRow: 2, LastCol: 5, LastRow: 2}}, Opaque: true},
		},
	}
	if !reflect.DeepEqual(m, want) {
		t.Errorf("got  %+v\nwant %+v", m, want)
	}
	if want := map[string]int{"A1": 0, "B1": 1, "C1": 2, "D1": 0, "E1": 0, "F1": 1, "A2": 0}; !reflect.DeepEqual(looks, want) {
		t.Errorf("looks %v, want %v", looks, want)
	}
}

// FuzzMarks holds that what a sheet shows beside its cells never keeps its cells from being read, and is bounded.
func FuzzMarks(f *testing.F) {
	stream := func(records []byte) []byte {
		return Compound(Stream{Name: "Workbook", Data: Stream8(nil, Sheet{Name: "S", Records: Bytes(number8(0, 0, 1), records)})})
	}
	f.Add(markBook()[512:], true)
	f.Add(validate(Bytes(0x17, 3, 1, Wide("a,b")), 1, 4, 0, 0), false)
	f.Add(Record(0xe5, uint16(9), uint16(1)), false)
	f.Fuzz(func(t *testing.T, raw []byte, whole bool) {
		if whole {
			raw = append(markBook()[:512:512], raw...)
		} else {
			raw = stream(raw)
		}
		m, _, err := marksOf(t, raw)
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
