package xlsx

import (
	"bytes"
	"encoding/binary"

	"sheetlift/importers/source"
)

// The fast path: nearly all cells of nearly all files. Whatever it declines, slowCell reads, with the same result (FuzzSheet).

// eight packs eight bytes as binary.LittleEndian.Uint64 reads them, so that a tag is one comparison.
func eight(s string) uint64 { return binary.LittleEndian.Uint64([]byte(s)) }

var endValue = eight("</v></c>")

// fastCell takes one cell in the shape that spreadsheet programs write nearly all of them: attributes r, s and t in double
// quotes; content one v without references, an inline string of one t, or nothing. It reports false, with nothing consumed, for any other shape, a
// cut one, or a fault: slowCell reads those.
func (r *sheetReader) fastCell() bool {
	b, p := r.w.buf, r.w.pos
	if r.col < len(r.shapes) && len(b)-p >= shapeRoom && len(r.b.Data) <= maxRowData {
		s := &r.shapes[r.col]
		if at, is := s.of(b[p:], &r.number); is {
			return r.fastValue(p+at, r.col, s.kind, s.format)
		}
	}
	number := 0 // where the row number ends
	if len(b)-p < 4 || b[p] != '<' || b[p+1] != 'c' || b[p+2] != ' ' && b[p+2] != '>' {
		return false
	}
	col := r.col
	style := 0
	kind := byte('n')
	for p += 2; ; {
		if p+4 >= len(b) {
			return false
		}
		c := b[p]
		if c == ' ' {
			p++
			continue
		}
		if c == '>' {
			p++
			break
		}
		if c == '/' {
			// A cell without content has a style only.
			if b[p+1] != '>' || col >= r.w.a.lim.Columns {
				return false
			}
			r.w.pos, r.col = p+2, col+1
			return true
		}
		if b[p+1] != '=' || b[p+2] != '"' {
			return false
		}
		p += 3
		switch c {
		case 'r':
			col = 0
			from := p
			for ; p < len(b) && b[p]|0x20 >= 'a' && b[p]|0x20 <= 'z'; p++ {
				col = col*26 + int(b[p]|0x20-'a') + 1
			}
			if n := p - from; n < 1 || n > 3 {
				return false
			}
			col--
			n := len(r.rowText)
			if p+n >= len(b) || b[p+n] != '"' || !bytes.Equal(b[p:p+n], r.rowText) {
				return false
			}
			number = p + n
			p += n + 1
		case 's':
			style = 0
			from := p
			for ; p < len(b) && b[p]-'0' <= 9; p++ {
				style = style*10 + int(b[p]-'0')
			}
			if p >= len(b) || b[p] != '"' || p-from > 9 {
				return false
			}
			p++
		case 't':
			if p+10 >= len(b) {
				return false
			}
			switch {
			case b[p+1] == '"' && (b[p] == 's' || b[p] == 'n'):
				kind = b[p]
				p += 2
			case string(b[p:p+10]) == `inlineStr"`:
				kind = 'i'
				p += 10
			default:
				return false
			}
		default:
			return false
		}
	}
	if col >= r.w.a.lim.Columns || len(r.b.Data) > maxRowData {
		return false
	}
	f := &plainFormat
	if style < len(r.book.styles) {
		if f = &r.book.styles[style]; f.Pad > 1 {
			return false
		}
	}
	if kind != 'i' {
		if p+3 > len(b) || b[p] != '<' || b[p+1] != 'v' || b[p+2] != '>' {
			return false
		}
		p += 3
	}
	r.learnShape(col, kind, f, number, p)
	return r.fastValue(p, col, kind, f)
}

// fastValue takes VALUE</v></c> at p, or what is in an inline string.
func (r *sheetReader) fastValue(p, col int, kind byte, f *format) bool {
	if kind == 'i' {
		return r.fastInline(p, col, f)
	}
	b := r.w.buf
	from := p
	if kind == 's' {
		i := 0
		for ; p < len(b) && b[p]-'0' <= 9; p++ {
			i = i*10 + int(b[p]-'0')
		}
		if p == from || p-from > 9 || i >= len(r.book.strings.ends) || p+8 > len(b) || binary.LittleEndian.Uint64(b[p:]) != endValue {
			return false
		}
		off, length := r.book.strings.span(i)
		if length > 0 {
			if !r.b.PutSpan(col, off, length, source.Text, f.Class, source.Shared|f.look) {
				return false
			}
			r.cells++
		}
		r.w.pos, r.col = p+8, col+1
		return true
	}
	for ; p < len(b) && numeral[b[p]]; p++ {
	}
	if p == from || p+8 > len(b) || binary.LittleEndian.Uint64(b[p:]) != endValue || !isNumber(b[from:p]) {
		return false
	}
	off := len(r.b.Data)
	if !r.b.PutSpan(col, uint32(off), uint32(p-from), source.Number, f.Class, f.look) {
		return false
	}
	r.b.Data = append(r.b.Data, b[from:p]...)
	r.cells++
	r.w.pos, r.col = p+8, col+1
	return true
}

// A shape is what stands around the row number in a cell of a column, up to the value: <c r="B and " s="1" t="s"><v>. Most often it is that
// of the cell above.
type shape struct {
	head   word
	tail   [3]word
	len    int // of tail; 0 if no shape is known
	kind   byte
	format *format
}

const (
	shapeColumns = 64 // so many columns have one
	shapeRoom    = 40 // bytes that are looked at: 8 of the head, 8 of the row number, the tail
)

// word is up to eight bytes, as eight packs them.
type word struct {
	bytes, mask uint64
	len         int
}

func (w *word) begins(b []byte) bool { return binary.LittleEndian.Uint64(b)&w.mask == w.bytes }

// wordOf packs the first eight bytes of b.
func wordOf(b []byte) word {
	var p [8]byte
	n := copy(p[:], b)
	return word{binary.LittleEndian.Uint64(p[:]), ^uint64(0) >> (64 - 8*n), n} // no byte: all is shifted out
}

// of gives the place in b where the value begins, if b begins with the shape around a row number.
func (s *shape) of(b []byte, number *word) (int, bool) {
	if s.len == 0 || !s.head.begins(b) || !number.begins(b[s.head.len:]) {
		return 0, false
	}
	at := s.head.len + number.len
	tail := b[at:]
	return at + s.len, s.tail[0].begins(tail) && s.tail[1].begins(tail[8:]) && s.tail[2].begins(tail[16:])
}

// learnShape takes the shape of a cell that begins where the reader is, whose row number ends at number and whose value begins at value.
func (r *sheetReader) learnShape(col int, kind byte, f *format, number, value int) {
	b := r.w.buf[r.w.pos:value]
	number -= r.w.pos
	head := number - len(r.rowText)
	if col >= len(r.shapes) || head < 0 || head > 8 || !bytes.HasPrefix(b, refFirst) {
		return
	}
	s := shape{head: wordOf(b[:head]), len: len(b) - number, kind: kind, format: f}
	for i := range s.tail {
		s.tail[i] = wordOf(b[min(number+8*i, len(b)):])
	}
	if s.len <= 8*len(s.tail) {
		r.shapes[col] = s
	}
}

var refFirst = []byte(`<c r="`)

// plainFormat is the format of cells without a style.
var plainFormat format

// maxRowData bounds the text of one block, whose offsets are 32 bits wide; a block ends much earlier at a row's end.
const maxRowData = 1 << 30

var (
	openInline     = []byte("<is><t>")
	openInlineKeep = []byte(`<is><t xml:space="preserve">`)
	endInline      = []byte("</t></is></c>")
)

// fastInline takes <is><t>TEXT</t></is></c> at p.
func (r *sheetReader) fastInline(p, col int, f *format) bool {
	b := r.w.buf
	switch {
	case bytes.HasPrefix(b[p:], openInline):
		p += len(openInline)
	case bytes.HasPrefix(b[p:], openInlineKeep):
		p += len(openInlineKeep)
	default:
		return false
	}
	off := len(r.b.Data)
	data, n, ok := appendPlain(r.b.Data, b[p:])
	if !ok {
		if n = bytes.IndexByte(b[p:], '<'); n < 0 {
			return false
		}
		var err error
		if data, err = appendText(r.b.Data, b[p:p+n]); err != nil {
			return false
		}
	}
	if n > r.w.a.lim.CellBytes || !bytes.HasPrefix(b[p+n:], endInline) {
		return false
	}
	if len(data) > off {
		if !r.b.PutSpan(col, uint32(off), uint32(len(data)-off), source.Text, f.Class, f.look) {
			return false
		}
		r.b.Data = data
		r.cells++
	}
	r.w.pos, r.col = p+n+len(endInline), col+1
	return true
}

// numeral marks the bytes that a number is written with.
var numeral = func() (t [256]bool) {
	for _, c := range []byte("0123456789+-.eE") {
		t[c] = true
	}
	return t
}()

// isNumber accepts a decimal number as xsd:double writes it, without INF and NaN.
func isNumber(b []byte) bool {
	i := 0
	if i < len(b) && (b[i] == '-' || b[i] == '+') {
		i++
	}
	digits := 0
	for ; i < len(b) && b[i]-'0' <= 9; i++ {
		digits++
	}
	if i < len(b) && b[i] == '.' {
		for i++; i < len(b) && b[i]-'0' <= 9; i++ {
			digits++
		}
	}
	if digits == 0 {
		return false
	}
	if i < len(b) && b[i]|0x20 == 'e' {
		if i++; i < len(b) && (b[i] == '-' || b[i] == '+') {
			i++
		}
		from := i
		for ; i < len(b) && b[i]-'0' <= 9; i++ {
		}
		if i == from {
			return false
		}
	}
	return i == len(b)
}
