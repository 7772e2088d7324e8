// Package biff holds what the two binary formats of Excel have in common, .xls (MS-XLS) and .xlsb (MS-XLSB): how numbers, errors
// and text are encoded, where shared strings are kept, and how cells become the blocks of a sheet.
//
// It promises what package source does: a cell keeps what the file holds. A number is written with the fewest digits that give
// the same number again; text that can't be decoded and a cell that is there twice with different content are refused; limits
// hold before memory is spent.
package biff

import (
	"encoding/binary"
	"math"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"sheetlift/importers/source"
)

// Remedies that both readers give.
const (
	RemedyDamaged = "get the file again from its source; the copy is incomplete or was changed"
	RemedyLimit   = "if the file is genuine, raise the limit (limits in batch.yaml, --limit of cells)"
	RemedyResave  = "open it in Excel or LibreOffice and save it as Excel workbook (.xlsx)"
)

// RK decodes a number of four bytes (MS-XLS 2.5.217): an integer of 30 bits or the upper half of a double, perhaps as hundredths.
func RK(raw uint32) float64 {
	v := math.Float64frombits(uint64(raw&^3) << 32)
	if raw&2 != 0 {
		v = float64(int32(raw) >> 2)
	}
	if raw&1 != 0 {
		v /= 100
	}
	return v
}

// AppendNumber appends the shortest decimal that is the number; plain is false for what is no number, NaN and infinity.
func AppendNumber(dst []byte, v float64) (out []byte, plain bool) {
	if a := math.Abs(v); a != 0 && (a < 1e-4 || a >= 1e21) {
		return strconv.AppendFloat(dst, v, 'e', -1, 64), !math.IsInf(v, 0)
	}
	return strconv.AppendFloat(dst, v, 'f', -1, 64), !math.IsNaN(v)
}

// ErrorText gives the name of an error (MS-XLS 2.5.10), of one that has none its number.
func ErrorText(code byte) string {
	switch code {
	case 0x00:
		return "#NULL!"
	case 0x07:
		return "#DIV/0!"
	case 0x0f:
		return "#VALUE!"
	case 0x17:
		return "#REF!"
	case 0x1d:
		return "#NAME?"
	case 0x24:
		return "#NUM!"
	case 0x2a:
		return "#N/A"
	case 0x2b:
		return "#GETTING_DATA"
	}
	return "#ERROR(" + strconv.Itoa(int(code)) + ")"
}

// AppendUTF16 appends little-endian UTF-16 as UTF-8; ok is false where half of a pair of surrogates stands alone.
func AppendUTF16(dst, raw []byte) (out []byte, ok bool) {
	for ; len(raw) >= 2; raw = raw[2:] {
		c := rune(binary.LittleEndian.Uint16(raw))
		if c < utf8.RuneSelf {
			dst = append(dst, byte(c))
			continue
		}
		if utf16.IsSurrogate(c) {
			if len(raw) < 4 {
				return dst, false
			}
			if c = utf16.DecodeRune(c, rune(binary.LittleEndian.Uint16(raw[2:]))); c == utf8.RuneError {
				return dst, false
			}
			raw = raw[2:]
		}
		dst = utf8.AppendRune(dst, c)
	}
	return dst, len(raw) == 0
}

// Strings holds the shared strings: all texts one after the other, and where each ends.
type Strings struct {
	Text []byte
	ends []uint32
}

// Len is how many there are.
func (s *Strings) Len() int { return len(s.ends) }

// End ends a string whose text was appended to Text; it gives the limit that was passed, if any, by name.
func (s *Strings) End(lim *source.Limits) (limit string) {
	from := uint32(0)
	if n := len(s.ends); n > 0 {
		from = s.ends[n-1]
	}
	switch {
	case int64(len(s.Text)) > min(lim.StringBytes, math.MaxUint32):
		return "string_bytes"
	case len(s.ends) >= lim.Strings:
		return "strings"
	case len(s.Text)-int(from) > lim.CellBytes:
		return "cell_bytes"
	}
	s.ends = append(s.ends, uint32(len(s.Text)))
	return ""
}

// Span gives where string i stands in Text.
func (s *Strings) Span(i int) (off, length uint32) {
	if i > 0 {
		off = s.ends[i-1]
	}
	return off, s.ends[i] - off
}
