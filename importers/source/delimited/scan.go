package delimited

import "bytes"

// scanner splits text into records and fields (RFC 4180). CR, LF and CR LF end a record; inside quotes they are kept as they
// are. A quote inside an unquoted field is a character.
type scanner struct {
	delimiter byte
	stop      [256]bool // delimiter and line ends, filled on first use
	ready     bool
}

type recordState uint8

const (
	recordWhole    recordState = iota
	recordCut                  // more text is needed to see its end
	recordUnclosed             // a quoted field has no end
)

// record is where one record lies and what it is.
type record struct {
	end    int // after its last byte, line end excluded
	next   int // begin of the next record
	fields int
	lines  int  // physical lines it spans
	stray  int  // quoted fields with text after the closing quote
	first  int  // of them, which field the first is
	blank  bool // no byte at all
}

// field is one field of a record, given to a callback: text[from:to], with doubled quotes if doubled.
type field struct {
	from, to int
	doubled  bool
	tail     int // end of text that follows the closing quote, 0 if none
}

// scan reads the record at text[at:]. last says that nothing follows text. put, if not nil, takes the fields.
func (s *scanner) scan(text []byte, at int, last bool, put func(i int, f field)) (rec record, st recordState) {
	if !s.ready {
		s.stop[s.delimiter], s.stop['\n'], s.stop['\r'] = true, true, true
		s.ready = true
	}
	rec.lines = 1
	p := at
	for {
		f := field{from: p, to: p}
		if p < len(text) && text[p] == '"' {
			var ok bool
			if f, p, ok = s.quoted(text, p, &rec); !ok {
				if last {
					return rec, recordUnclosed
				}
				return rec, recordCut
			}
			if p >= len(text) && !last {
				return rec, recordCut // a second quote may follow
			}
		}
		begin := p
		for p < len(text) && !s.stop[text[p]] {
			p++
		}
		if p >= len(text) && !last {
			return rec, recordCut
		}
		if p > begin {
			if begin > f.from {
				f.tail = p
				if rec.stray == 0 {
					rec.first = rec.fields
				}
				rec.stray++
			} else {
				f.to = p
			}
		}
		if put != nil {
			put(rec.fields, f)
		}
		rec.fields++
		if p < len(text) && text[p] == s.delimiter {
			p++
			continue
		}
		rec.end, rec.next = p, p
		if p < len(text) {
			rec.next = p + 1
			if text[p] == '\r' {
				if p+1 == len(text) && !last {
					return rec, recordCut // a line feed may follow
				}
				if p+1 < len(text) && text[p+1] == '\n' {
					rec.next = p + 2
				}
			}
		}
		rec.blank = rec.end == at
		return rec, recordWhole
	}
}

// quoted reads a quoted field at text[p] and gives the place after its closing quote.
func (s *scanner) quoted(text []byte, p int, rec *record) (f field, after int, ok bool) {
	p++
	f.from = p
	for {
		n := bytes.IndexByte(text[p:], '"')
		if n < 0 {
			return f, p, false
		}
		if p += n; p+1 < len(text) && text[p+1] == '"' {
			f.doubled = true
			p += 2
			continue
		}
		f.to = p
		rec.lines += countLines(text[f.from:f.to])
		return f, p + 1, true
	}
}

// countLines counts line ends: CR LF is one.
func countLines(b []byte) int {
	n := bytes.Count(b, []byte{'\n'})
	for {
		i := bytes.IndexByte(b, '\r')
		if i < 0 {
			return n
		}
		if i+1 == len(b) || b[i+1] != '\n' {
			n++
		}
		b = b[i+1:]
	}
}
