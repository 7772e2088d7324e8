package delimited

import (
	"bytes"
	"encoding/binary"
	"math/bits"

	"sheetlift/importers/source"
)

const (
	lowBits  = 0x0101010101010101
	highBits = 0x8080808080808080
)

// patterns are the bytes that end something, spread over a word each.
type patterns struct{ delimiter, control uint64 }

func newPatterns(delimiter byte) patterns {
	return patterns{lowBits * uint64(delimiter), lowBits * 0x10}
}

// stops marks the delimiters and the bytes below 0x10, which line ends are among, in their highest bit. Others may be marked
// too, such as the byte above a marked one: who looks must look at the byte.
func (s *patterns) stops(w uint64) uint64 {
	d := w ^ s.delimiter
	return ((d-lowBits)&^d | (w-s.control)&^w) & highBits
}

// mask64 has a bit for each byte of b[:64] that stops marks. Going over the bits of 64 bytes costs one surprise for the
// processor's branch prediction, going over those of 8 bytes one every time.
func (s *patterns) mask64(b []byte) uint64 {
	_ = b[63]
	return s.mask(b[0:]) | s.mask(b[8:])<<8 | s.mask(b[16:])<<16 | s.mask(b[24:])<<24 |
		s.mask(b[32:])<<32 | s.mask(b[40:])<<40 | s.mask(b[48:])<<48 | s.mask(b[56:])<<56
}

// mask has a bit for each of eight bytes that stops marks: the product gathers the highest bits of all bytes in the highest one.
func (s *patterns) mask(b []byte) uint64 {
	return s.stops(binary.LittleEndian.Uint64(b)) * 0x0002040810204081 >> 56
}

// records reads plain records, 64 bytes at a time, until the block is full, the window ends, or one is not plain: it has
// doubled quotes, text after a closing quote, too many fields, or too many bytes. record reads that one. It gives the same
// records as record in every case (TestFastAndSlow, FuzzRecords).
func (r *reader) records() {
	text, start := r.buf[:r.end], r.pos
	from, at, col, cells := start, start, 0, 0
	lines := 1
	quoted := -1 // end of the quoted field being read
	cols, row := r.b.Row()
	pat, delimiter, columns, longest := r.pat, r.book.delimiter, r.book.lim.Columns, r.book.lim.RecordBytes
field:
	for from < len(text) {
		mask, base := uint64(0), 0 // bytes that may end a field, and where the first of them is
		if text[from] == '"' {
			n := bytes.IndexByte(text[from+1:], '"')
			if n < 0 || from+n+2 >= len(text) || text[from+n+2] == '"' {
				break
			}
			from, quoted = from+1, from+1+n
			lines += countLines(text[from:quoted])
			mask, base, at = 1, quoted+1, quoted+2 // the field must end there
		}
		for {
			for mask == 0 {
				switch {
				case at+64 <= len(text):
					mask, base, at = pat.mask64(text[at:]), at, at+64
				case at+8 <= len(text):
					mask, base, at = pat.mask(text[at:]), at, at+8
				default:
					break field
				}
			}
			p := base + bits.TrailingZeros64(mask)
			mask &= mask - 1
			c := text[p]
			if c != delimiter && c != '\n' && c != '\r' || p < from {
				if quoted >= 0 {
					break field // text after the closing quote
				}
				continue // a character, or the LF of a CR LF
			}
			to := p
			if quoted >= 0 {
				to, quoted = quoted, -1
			}
			if to > from {
				if col < len(cols) && row < len(cols[col]) {
					// A call for each cell would cost more than finding it.
					cell := &cols[col][row]
					cell.Off, cell.Len, cell.Kind = uint32(from), uint32(to-from), source.Text
				} else {
					if col >= columns {
						break field
					}
					r.b.PutSpan(col, uint32(from), uint32(to-from), source.Text, source.General, 0)
					cols, row = r.b.Row()
				}
				cells++
			}
			col++
			from = p + 1
			if c != delimiter {
				if col > columns || p-start > longest {
					break field
				}
				if c == '\r' {
					if from >= len(text) {
						break field // a line feed may follow
					}
					if text[from] == '\n' {
						from++
					}
				}
				r.keep(record{end: p, next: from, fields: col, lines: lines, blank: p == start}, cells)
				if r.b.Full() {
					return
				}
				start, col, cells, lines = from, 0, 0, 1
				cols, row = r.b.Row()
			}
			if from < len(text) && text[from] == '"' {
				at = from
				continue field
			}
		}
	}
	r.b.DropRow()
}

// keep ends the row being filled as a record and moves on.
func (r *reader) keep(rec record, cells int) {
	r.num++
	if rec.blank {
		r.facts.BlankLines++
	} else {
		r.b.EndRecord(r.num, r.line, rec.fields, source.Span{Off: uint32(r.pos), Len: uint32(rec.end - r.pos)})
		r.facts.Rows++
		r.facts.Cells += cells
		if rec.stray > 0 && r.facts.StrayQuotes == 0 {
			r.facts.StrayRow, r.facts.StrayColumn = r.num, rec.first
		}
		r.facts.StrayQuotes += rec.stray
		r.facts.LastRow = r.num
		r.facts.LastColumn = max(r.facts.LastColumn, rec.fields)
	}
	r.line += rec.lines
	r.pos = rec.next
}
