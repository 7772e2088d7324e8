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
type patterns struct{ delimiter, lf, cr, quote uint64 }

func newPatterns(delimiter byte) patterns {
	return patterns{lowBits * uint64(delimiter), lowBits * '\n', lowBits * '\r', lowBits * '"'}
}

// stops marks the bytes of w that end something in their highest bit. A byte right above a marked one may be marked too
// without being one: who looks must look at the byte.
func (s *patterns) stops(w uint64) uint64 {
	a, b, c, d := w^s.delimiter, w^s.lf, w^s.cr, w^s.quote
	return ((a-lowBits)&^a | (b-lowBits)&^b | (c-lowBits)&^c | (d-lowBits)&^d) & highBits
}

// records reads plain records, eight bytes at a time, until the block is full, the window ends, or one is not plain: it has
// doubled quotes, text after a closing quote, too many fields, or too many bytes. record reads that one. It gives the same records as
// record in every case (TestFastAndSlow, FuzzRecords).
func (r *reader) records() {
	text, start := r.buf[:r.end], r.pos
	from, col, cells := start, 0, 0
	lines := 1
	quoted := -1 // end of the quoted field being read
	delimiter, columns, longest := r.book.delimiter, r.book.lim.Columns, r.book.lim.RecordBytes
	for at := start; at+8 <= len(text); at += 8 {
		stops := r.pat.stops(binary.LittleEndian.Uint64(text[at:]))
	word:
		for ; stops != 0; stops &= stops - 1 {
			p := at + bits.TrailingZeros64(stops)/8
			switch c := text[p]; c {
			case delimiter, '\n', '\r':
				if p < from {
					continue // the LF of a CR LF
				}
				to := p
				if quoted >= 0 {
					if quoted+1 != p {
						r.b.DropRow()
						return
					}
					to, quoted = quoted, -1
				}
				if col >= columns || p-start > longest {
					r.b.DropRow()
					return
				}
				if to > from {
					r.b.Set(col, source.Cell{Off: uint32(from), Len: uint32(to - from), Kind: source.Text})
					cells++
				}
				col++
				from = p + 1
				if c == delimiter {
					continue
				}
				if c == '\r' {
					if p+1 >= len(text) {
						r.b.DropRow()
						return // a line feed may follow
					}
					if text[p+1] == '\n' {
						from++
					}
				}
				r.keep(record{end: p, next: from, fields: col, lines: lines, blank: p == start}, cells)
				if r.b.Full() {
					return
				}
				start, col, cells, lines = from, 0, 0, 1
			case '"':
				if p != from {
					continue // a character, or seen already
				}
				n := bytes.IndexByte(text[p+1:], '"')
				if n < 0 || p+n+2 >= len(text) || text[p+n+2] == '"' {
					r.b.DropRow()
					return
				}
				from, quoted = p+1, p+1+n
				lines += countLines(text[from:quoted])
				at = quoted + 1 - 8 // go on behind the closing quote
				break word
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
		r.facts.StrayQuotes += rec.stray
		r.facts.LastRow = r.num
		r.facts.LastColumn = max(r.facts.LastColumn, rec.fields)
	}
	r.line += rec.lines
	r.pos = rec.next
}
