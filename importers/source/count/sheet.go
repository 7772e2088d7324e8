package count

import "bytes"

// stringCounter tells of each shared string whether it has text.
type stringCounter struct {
	filled   []bool
	p        piece
	phonetic int
	inText   bool
}

func (s *stringCounter) take(raw []byte) {
	p := &s.p
	p.read(raw)
	switch string(p.name) {
	case "si":
		if !p.end {
			s.filled = append(s.filled, false)
		}
	case "rPh":
		s.phonetic += p.depth()
	case "t":
		s.inText = !p.end && !p.empty && s.phonetic == 0
	}
	if s.inText && len(p.text) > 0 && len(s.filled) > 0 {
		s.filled[len(s.filled)-1] = true
	}
}

// depth is what the piece adds to the depth of elements.
func (p *piece) depth() int {
	switch {
	case p.end:
		return -1
	case p.empty:
		return 0
	}
	return 1
}

// sheetCounter counts the rows and cells of a sheet.
type sheetCounter struct {
	filled      []bool // of the shared strings
	rows, cells int

	p                     piece
	inData, inRow, inCell bool
	holds                 bool   // the row has what makes it count
	begun                 int    // rows begun
	column                int    // of the cell, from 0
	counted               []int  // column → last row, by begun, in which a cell of it counted
	kind                  []byte // the cell's attribute t
	formula               bool
	hasValue, inValue     bool
	value                 []byte
	inText, inline        bool
	phonetic              int
}

func (s *sheetCounter) take(raw []byte) {
	p := &s.p
	// Nearly all pieces of nearly all sheets are these, and need no look at what else a tag may be.
	if p.within == "" && s.inCell {
		switch {
		case len(raw) >= 2 && raw[0] == 'v' && raw[1] == '>':
			s.hasValue, s.inValue = true, true
			s.text(raw[2:])
			return
		case string(raw) == "/v>":
			s.inValue = false
			return
		case string(raw) == "/c>":
			s.endCell()
			return
		}
	}
	p.read(raw)
	switch string(p.name) {
	case "sheetData":
		s.inData = !p.end && !p.empty
	case "row":
		switch {
		case !p.end:
			s.inRow, s.holds, s.column = s.inData && !p.empty, false, -1
			s.begun++
		case s.inRow:
			if s.holds {
				s.rows++
			}
			s.inRow = false
		}
	case "c":
		switch {
		case p.end && s.inCell:
			s.endCell()
		case !p.end && s.inRow && !s.inCell:
			s.beginCell(p)
		}
	case "f":
		s.formula = s.formula || !p.end
	case "v":
		if s.inValue = !p.end && !p.empty; !p.end {
			s.hasValue = true
		}
	case "rPh":
		s.phonetic += p.depth()
	case "t":
		s.inText = s.inCell && !p.end && !p.empty && s.phonetic == 0
	}
	if len(p.text) > 0 {
		s.text(p.text)
	}
}

// text takes text that follows a tag.
func (s *sheetCounter) text(text []byte) {
	if s.inValue && s.inCell {
		s.value = append(s.value, text...)
	}
	s.inline = s.inline || s.inText && len(text) > 0
}

func (s *sheetCounter) beginCell(p *piece) {
	s.inCell = !p.empty
	s.formula, s.hasValue, s.inline = false, false, false
	s.kind, s.value = s.kind[:0], s.value[:0]
	s.column++
	for a := p.attrs; ; {
		name, value, rest := attribute(a)
		if len(name) == 0 {
			return
		}
		switch string(name) {
		case "r":
			column := 0
			for _, c := range bytes.TrimSpace(value) {
				if c |= 0x20; c < 'a' || c > 'z' || column > 1<<16 {
					break
				}
				column = column*26 + int(c-'a') + 1
			}
			if column > 0 {
				s.column = column - 1
			}
		case "t":
			s.kind = append(s.kind, bytes.TrimSpace(value)...)
		}
		a = rest
	}
}

func (s *sheetCounter) endCell() {
	s.inCell = false
	full := s.inline
	if s.hasValue {
		switch string(s.kind) {
		case "s":
			i, ok := index(bytes.TrimSpace(s.value))
			full = ok && i < len(s.filled) && s.filled[i]
		case "inlineStr":
			full = full || len(s.value) > 0
		case "str", "d":
			full = len(s.value) > 0
		default:
			full = len(bytes.TrimSpace(s.value)) > 0
		}
	}
	switch {
	case full:
		s.holds = true
		s.countCell()
	case s.formula && !(s.hasValue && string(s.kind) == "str"):
		s.holds = true
	}
}

// countCell counts the cell, unless the row has one in this column already: what is written twice is one cell. (That both
// have the same content is for the reader to say.)
func (s *sheetCounter) countCell() {
	for len(s.counted) <= s.column {
		s.counted = append(s.counted, 0)
	}
	if s.counted[s.column] != s.begun {
		s.counted[s.column] = s.begun
		s.cells++
	}
}

// index reads the number of a shared string.
func index(b []byte) (n int, ok bool) {
	for _, c := range b {
		if c < '0' || c > '9' || n > 1<<32 {
			return 0, false
		}
		n = n*10 + int(c-'0')
	}
	return n, len(b) > 0
}
