// Package bifftest writes small binary workbooks for the tests of those who read them. It shares no code with them.
package bifftest

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"testing"
	"unicode/utf16"
)

// Bytes puts values one after the other, little-endian; an int is one byte.
func Bytes(parts ...any) []byte {
	var b []byte
	for _, p := range parts {
		switch p := p.(type) {
		case int:
			b = append(b, byte(p))
		case uint16:
			b = binary.LittleEndian.AppendUint16(b, p)
		case uint32:
			b = binary.LittleEndian.AppendUint32(b, p)
		case float64:
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(p))
		case string:
			b = append(b, p...)
		case []byte:
			b = append(b, p...)
		default:
			panic(fmt.Sprintf("a value of type %T", p))
		}
	}
	return b
}

// Wide is text in UTF-16.
func Wide(s string) []byte {
	var b []byte
	for _, u := range utf16.Encode([]rune(s)) {
		b = binary.LittleEndian.AppendUint16(b, u)
	}
	return b
}

// Record is a record of .xls.
func Record(id uint16, parts ...any) []byte {
	body := Bytes(parts...)
	return Bytes(id, uint16(len(body)), body)
}

// BOF8 and EOF frame the records of a sheet or of the workbook in BIFF8.
func BOF8(kind uint16) []byte {
	return Record(0x809, uint16(0x600), kind, uint32(0), uint32(0), uint32(0))
}

// EOF ends what a BOF record began.
func EOF() []byte { return Record(0x0a) }

// Sheet is one sheet of a workbook.
type Sheet struct {
	Name        string
	State, Kind int
	Records     []byte // between BOF and EOF
}

// Stream8 is the stream of a workbook in BIFF8, with records of the workbook before the list of sheets.
func Stream8(globals []byte, sheets ...Sheet) []byte {
	var list, bodies []byte
	size := len(BOF8(5)) + len(globals) + len(EOF())
	for _, s := range sheets {
		size += 12 + len(s.Name)
	}
	for _, s := range sheets {
		list = append(list, Record(0x85, uint32(size+len(bodies)), s.State, s.Kind, len(s.Name), 0, s.Name)...)
		kind := uint16(0x10)
		if s.Kind == 2 {
			kind = 0x20
		}
		bodies = append(bodies, Bytes(BOF8(kind), s.Records, EOF())...)
	}
	return Bytes(BOF8(5), globals, list, EOF(), bodies)
}

// Stream is a stream of a compound file.
type Stream struct {
	Name string
	Data []byte
}

const (
	sector     = 512
	endOfChain = 0xfffffffe
	cutoff     = 4096
)

// Compound is a compound file of these streams. Those shorter than 4,096 bytes share sectors, as the format wants it.
func Compound(streams ...Stream) []byte {
	var sectors []byte // all after the header, from the first one behind the allocation table
	var next []uint32
	tables := 1
	for total := 0; ; tables++ {
		total = 2*sector + len(streams)*128
		for _, s := range streams {
			total += len(s.Data) + 2*sector
		}
		if tables*128 > total/sector+tables+8 {
			break
		}
	}
	put := func(data []byte) uint32 {
		if len(data) == 0 {
			return endOfChain
		}
		first := uint32(tables + len(next))
		for n := 0; n < len(data); n += sector {
			next = append(next, uint32(tables+len(next)+1))
		}
		next[len(next)-1] = endOfChain
		sectors = append(sectors, data...)
		sectors = append(sectors, make([]byte, (sector-len(sectors)%sector)%sector)...)
		return first
	}
	var mini, miniNext []byte
	entry := func(name string, kind int, right, down, start uint32, size int) []byte {
		e := make([]byte, 128)
		copy(e, Wide(name))
		binary.LittleEndian.PutUint16(e[64:], uint16(2*len(name)+2))
		e[66] = byte(kind)
		for i, v := range []uint32{0xffffffff, right, down} {
			binary.LittleEndian.PutUint32(e[68+4*i:], v)
		}
		binary.LittleEndian.PutUint32(e[116:], start)
		binary.LittleEndian.PutUint32(e[120:], uint32(size))
		return e
	}
	var entries []byte
	for i, s := range streams {
		right, start := uint32(i+2), uint32(0)
		if i == len(streams)-1 {
			right = 0xffffffff
		}
		if len(s.Data) >= cutoff {
			start = put(s.Data)
		} else {
			start = uint32(len(mini) / 64)
			for n := 0; n < len(s.Data); n += 64 {
				link := uint32(len(mini)/64 + n/64 + 1)
				if n+64 >= len(s.Data) {
					link = endOfChain
				}
				miniNext = binary.LittleEndian.AppendUint32(miniNext, link)
			}
			mini = append(mini, s.Data...)
			mini = append(mini, make([]byte, (64-len(mini)%64)%64)...)
		}
		entries = append(entries, entry(s.Name, 2, right, 0xffffffff, start, len(s.Data))...)
	}
	root := entry("Root Entry", 5, 0xffffffff, 1, put(mini), len(mini))
	miniTable := put(miniNext)
	directory := put(append(root, entries...))
	head := make([]byte, sector)
	copy(head, "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1")
	binary.LittleEndian.PutUint16(head[30:], 9)
	binary.LittleEndian.PutUint16(head[32:], 6)
	binary.LittleEndian.PutUint32(head[44:], uint32(tables))
	binary.LittleEndian.PutUint32(head[48:], directory)
	binary.LittleEndian.PutUint32(head[56:], cutoff)
	binary.LittleEndian.PutUint32(head[60:], miniTable)
	binary.LittleEndian.PutUint32(head[68:], endOfChain)
	for i := range 109 {
		at := uint32(0xffffffff)
		if i < tables {
			at = uint32(i)
		}
		binary.LittleEndian.PutUint32(head[76+4*i:], at)
	}
	table := make([]byte, tables*sector)
	for i := range tables * 128 {
		v := uint32(0xffffffff)
		switch {
		case i < tables:
			v = 0xfffffffd
		case i-tables < len(next):
			v = next[i-tables]
		}
		binary.LittleEndian.PutUint32(table[4*i:], v)
	}
	return Bytes(head, table, sectors)
}

// Record12 is a record of .xlsb.
func Record12(kind int, parts ...any) []byte {
	body := Bytes(parts...)
	b := []byte{byte(kind)}
	if kind > 127 {
		b = []byte{byte(kind) | 0x80, byte(kind >> 7)}
	}
	for n := len(body); ; n >>= 7 {
		if n < 128 {
			return append(append(b, byte(n)), body...)
		}
		b = append(b, byte(n)|0x80)
	}
}

// Text12 is text of .xlsb, its length before it.
func Text12(s string) []byte {
	w := Wide(s)
	return Bytes(uint32(len(w)/2), w)
}

// Cell12 is the beginning of a cell of .xlsb.
func Cell12(col, style int) []byte { return Bytes(uint32(col), uint32(style)) }

// Row12 is the beginning of a row of .xlsb; num is from 0.
func Row12(num int) []byte {
	return Record12(0, uint32(num), uint32(0), uint16(300), 0, 0, 0, uint32(0))
}

// Part is a part of a package.
type Part struct {
	Name string
	Data []byte
}

const (
	relations = "http://schemas.openxmlformats.org/package/2006/relationships"
	kinds     = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/"
)

// Parts12 are the parts of a binary workbook; parts without a byte are left out. Each sheet's records stand between
// BrtBeginSheetData and BrtEndSheetData.
func Parts12(workbook, styles, strings []byte, sheets ...Sheet) []Part {
	var parts []Part
	list := workbook
	rels := ""
	add := func(kind, name string, data []byte) {
		if data == nil {
			return
		}
		id := fmt.Sprintf("rId%d", len(parts)+1)
		rels += fmt.Sprintf(`<Relationship Id="%s" Type="%s%s" Target="%s"/>`, id, kinds, kind, name)
		parts = append(parts, Part{"xl/" + name, data})
	}
	for i, s := range sheets {
		list = append(list, Record12(156, uint32(s.State), uint32(i+1), Text12(fmt.Sprintf("rId%d", len(parts)+1)), Text12(s.Name))...)
		kind := "worksheet"
		if s.Kind == 2 {
			kind = "chartsheet"
		}
		add(kind, fmt.Sprintf("worksheets/sheet%d.bin", i+1), Bytes(Record12(129), Record12(145), s.Records, Record12(146), Record12(130)))
	}
	add("styles", "styles.bin", styles)
	add("sharedStrings", "sharedStrings.bin", strings)
	return append(parts,
		Part{"xl/workbook.bin", list},
		Part{"xl/_rels/workbook.bin.rels", []byte(`<Relationships xmlns="` + relations + `">` + rels + `</Relationships>`)},
		Part{"_rels/.rels", []byte(`<Relationships xmlns="` + relations + `"><Relationship Id="rId1" Type="` + kinds + `officeDocument" Target="xl/workbook.bin"/></Relationships>`)},
		Part{"[Content_Types].xml", []byte(`<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="bin" ContentType="application/vnd.ms-excel.sheet.binary.macroEnabled.main"/><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/></Types>`)})
}

// Zip packs parts.
func Zip(t testing.TB, parts []Part) []byte {
	t.Helper()
	var buf bytes.Buffer
	z := zip.NewWriter(&buf)
	for _, p := range parts {
		w, err := z.Create(p.Name)
		if err == nil {
			_, err = io.Copy(w, bytes.NewReader(p.Data))
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
