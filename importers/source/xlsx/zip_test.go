package xlsx

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"strings"
	"testing"

	"sheetlift/importers/source"
)

func ordinary(t testing.TB) []byte {
	return zipped(t, workbookParts(`<row r="1"><c r="A1"><v>1</v></c></row>`, "", ""))
}

// directoryOf gives the offsets of the directory entry of a name and of the end record.
func directoryOf(t testing.TB, raw []byte, name string) (entry, end int) {
	t.Helper()
	end = bytes.LastIndex(raw, []byte("PK\x05\x06"))
	for at := int(binary.LittleEndian.Uint32(raw[end+16:])); at < end; {
		n := int(binary.LittleEndian.Uint16(raw[at+28:]))
		if string(raw[at+46:at+46+n]) == name {
			return at, end
		}
		at += 46 + n + int(binary.LittleEndian.Uint16(raw[at+30:])) + int(binary.LittleEndian.Uint16(raw[at+32:]))
	}
	t.Fatalf("no entry %q", name)
	return 0, 0
}

func TestDamagedZip(t *testing.T) {
	const sheet = "xl/worksheets/sheet1.xml"
	put16, put32 := binary.LittleEndian.PutUint16, binary.LittleEndian.PutUint32
	tests := []struct {
		name   string
		damage func(raw []byte, entry, end int) []byte
		kind   error
		says   string
	}{
		{"cut in the middle", func(raw []byte, _, _ int) []byte { return raw[:len(raw)/2] }, source.ErrTruncated, "cut off"},
		{"cut in the directory", func(raw []byte, _, end int) []byte { return raw[:end] }, source.ErrTruncated, "cut off"},
		{"cut at the front", func(raw []byte, _, _ int) []byte { return append([]byte("PK\x03\x04"), raw[len(raw)/2:]...) }, nil, ""},
		{"declares a gigabyte", func(raw []byte, e, _ int) []byte { put32(raw[e+24:], 1<<30); return raw }, source.ErrMalformed, "more than its compressed data"},
		{"declares less", func(raw []byte, e, _ int) []byte { put32(raw[e+24:], 5); return raw }, source.ErrMalformed, "more bytes than the zip"},
		{"declares a little more", func(raw []byte, e, _ int) []byte {
			put32(raw[e+24:], binary.LittleEndian.Uint32(raw[e+24:])+1)
			return raw
		}, source.ErrTruncated, "fewer bytes"},
		{"checksum", func(raw []byte, e, _ int) []byte { raw[e+16] ^= 1; return raw }, source.ErrMalformed, "checksum"},
		{"compressed data", func(raw []byte, e, _ int) []byte {
			h := binary.LittleEndian.Uint32(raw[e+42:])
			raw[int(h)+30+len(sheet)+10] ^= 0xff
			return raw
		}, source.ErrMalformed, ""},
		{"compressed beyond the file", func(raw []byte, e, _ int) []byte { put32(raw[e+20:], 1<<30); return raw }, source.ErrTruncated, "beyond the end"},
		{"header beyond the file", func(raw []byte, e, _ int) []byte { put32(raw[e+42:], 1<<30); return raw }, source.ErrTruncated, "beyond the end"},
		{"header elsewhere", func(raw []byte, e, _ int) []byte {
			put32(raw[e+42:], binary.LittleEndian.Uint32(raw[e+42:])+3)
			return raw
		}, source.ErrMalformed, ""},
		{"encrypted entry", func(raw []byte, e, _ int) []byte { raw[e+8] |= 1; return raw }, source.ErrEncrypted, "encrypted"},
		{"unknown method", func(raw []byte, e, _ int) []byte { put16(raw[e+10:], 12); return raw }, source.ErrUnsupported, "method 12"},
		{"stored with two sizes", func(raw []byte, e, _ int) []byte { put16(raw[e+10:], 0); return raw }, source.ErrMalformed, "two sizes"},
		{"two entries share bytes", func(raw []byte, e, end int) []byte {
			other, _ := directoryOf(t, raw, "xl/workbook.xml")
			copy(raw[e+42:e+46], raw[other+42:other+46])
			return raw
		}, source.ErrMalformed, "share"},
		{"more entries declared", func(raw []byte, _, end int) []byte { put16(raw[end+10:], 200); return raw }, source.ErrMalformed, "too small"},
		{"one entry more declared", func(raw []byte, _, end int) []byte {
			put16(raw[end+10:], binary.LittleEndian.Uint16(raw[end+10:])+1)
			return raw
		}, source.ErrMalformed, "entries"},
		{"directory elsewhere", func(raw []byte, _, end int) []byte { put32(raw[end+16:], 1<<30); return raw }, source.ErrTruncated, ""},
		{"zip64 without its record", func(raw []byte, _, end int) []byte { put32(raw[end+16:], 0xffffffff); return raw }, source.ErrMalformed, "zip64"},
		{"zip64 sizes missing", func(raw []byte, e, _ int) []byte { put32(raw[e+24:], 0xffffffff); return raw }, source.ErrMalformed, "zip64"},
		{"split archive", func(raw []byte, _, end int) []byte { put16(raw[end+4:], 1); return raw }, source.ErrUnsupported, "split"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			raw := ordinary(t)
			entry, end := directoryOf(t, raw, sheet)
			_, _, err := read(tt.damage(raw, entry, end), source.Options{})
			var f *source.Error
			if !errors.As(err, &f) || tt.kind != nil && !errors.Is(err, tt.kind) || !strings.Contains(f.Message, tt.says) || f.Remedy == "" {
				t.Errorf("got %v (%v), want %v saying %q", err, sentinel(err), tt.kind, tt.says)
			}
		})
	}
}

func TestAcceptedZips(t *testing.T) {
	raw := ordinary(t)
	want, _, err := read(raw, source.Options{})
	if err != nil || want == "" {
		t.Fatal(want, err)
	}
	commented := bytes.Clone(raw)
	end := bytes.LastIndex(commented, []byte("PK\x05\x06"))
	binary.LittleEndian.PutUint16(commented[end+20:], 5)
	var stored bytes.Buffer
	w := zip.NewWriter(&stored)
	for _, p := range append(workbookParts(`<row r="1"><c r="A1"><v>1</v></c></row>`, "", ""), part{"folder/", ""}, part{"FOLDER/", ""}) {
		f, err := w.CreateHeader(&zip.FileHeader{Name: p.name, Method: zip.Store})
		if err == nil && p.body != "" {
			_, err = io.WriteString(f, p.body)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	w.Close()
	picture := zipped(t, append(workbookParts(`<row r="1"><c r="A1"><v>1</v></c></row>`, "", ""), part{"xl/media/white.bmp", string(make([]byte, 4<<20))}))
	for name, raw := range map[string][]byte{
		"a picture that compresses well": picture,
		"bytes before the zip":           append([]byte("#!/bin/sh\n"), raw...),
		"comment":                        append(commented, "hello"...),
		"stored, folders":                stored.Bytes(),
		"zip64":                          zip64(t, raw),
	} {
		if got, _, err := read(raw, source.Options{}); err != nil || got != want {
			t.Errorf("%s: got %q, %v; want %q", name, got, err, want)
		}
	}
}

// zip64 rewrites the end of a zip as zip64 writers do that don't know sizes before.
func zip64(t testing.TB, raw []byte) []byte {
	end := bytes.LastIndex(raw, []byte("PK\x05\x06"))
	le := binary.LittleEndian
	count, size, off := le.Uint16(raw[end+10:]), le.Uint32(raw[end+12:]), le.Uint32(raw[end+16:])
	out := bytes.Clone(raw[:end])
	at := uint64(len(out))
	out = le.AppendUint32(out, sigEnd64)
	out = le.AppendUint64(out, 44)
	out = append(out, make([]byte, 12)...)
	out = le.AppendUint64(out, uint64(count))
	out = le.AppendUint64(out, uint64(count))
	out = le.AppendUint64(out, uint64(size))
	out = le.AppendUint64(out, uint64(off))
	out = le.AppendUint32(out, sigLocator64)
	out = le.AppendUint32(out, 0)
	out = le.AppendUint64(out, at)
	out = le.AppendUint32(out, 1)
	tail := bytes.Clone(raw[end:])
	le.PutUint16(tail[8:], 0xffff)
	le.PutUint16(tail[10:], 0xffff)
	le.PutUint32(tail[12:], 0xffffffff)
	le.PutUint32(tail[16:], 0xffffffff)
	return append(out, tail...)
}

// TestEveryCut cuts a workbook at every length and flips every byte: always an answer, never other cells without an error.
func TestEveryCut(t *testing.T) {
	raw := ordinary(t)
	want, _, err := read(raw, source.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for n := range raw {
		if _, _, err := read(raw[:n], source.Options{}); err == nil {
			t.Errorf("cut after %d of %d bytes: no error", n, len(raw))
		}
		flipped := bytes.Clone(raw)
		flipped[n] ^= 0x10
		if got, _, err := read(flipped, source.Options{}); err == nil && got != want {
			t.Errorf("byte %d flipped: read %q without an error", n, got)
		}
	}
}

func TestLimits(t *testing.T) {
	rows := strings.Repeat(`<row><c><v>1</v></c><c t="s"><v>0</v></c></row>`, 100)
	raw := zipped(t, workbookParts(rows, "", `<si><t>0123456789</t></si><si><t>b</t></si>`))
	bomb := zipped(t, workbookParts(strings.Repeat(`<row><c><v>0</v></c></row>`, 200_000), "", ""))
	tests := []struct {
		name string
		raw  []byte
		lim  source.Limits
		says string
	}{
		{"parts", raw, source.Limits{Parts: 3}, "(parts)"},
		{"part bytes", raw, source.Limits{PartBytes: 1000}, "(part_bytes)"},
		{"total bytes", raw, source.Limits{TotalBytes: 2000}, "(total_bytes)"},
		{"ratio", bomb, source.Limits{Ratio: 100}, "(ratio)"},
		{"string bytes", raw, source.Limits{StringBytes: 5}, "(string_bytes)"},
		{"strings", raw, source.Limits{Strings: 1}, "(strings)"},
		{"cell bytes", raw, source.Limits{CellBytes: 5}, "(cell_bytes)"},
		{"cells", raw, source.Limits{Cells: 150}, "(cells)"},
		{"XML depth", raw, source.Limits{XMLDepth: 1}, "(xml_depth)"},
		{"rows", raw, source.Limits{Rows: 50}, "split"},
		{"columns", raw, source.Limits{Columns: 1}, "save it"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, _, err := read(tt.raw, source.Options{Limits: tt.lim})
			var f *source.Error
			if !errors.As(err, &f) || !errors.Is(err, source.ErrLimit) || !strings.Contains(f.Remedy, tt.says) {
				t.Errorf("got %v, want a limit whose remedy says %q", err, tt.says)
			}
		})
	}
}
