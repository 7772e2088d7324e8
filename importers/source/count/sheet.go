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
	// Nearly all pieces are these four, and need no look at what else a tag may be.
	if p.within == "" {
		switch {
		case len(raw) >= 2 && raw[0] == 't' && raw[1] == '>':
			s.inText = s.phonetic == 0
			s.text(raw[2:])
			return
		case string(raw) == "/t>":
			s.inText = false
			return
		case string(raw) == "si>":
			s.filled = append(s.filled, false)
			return
		case string(raw) == "/si>":
			return
		}
	}
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
	s.text(p.text)
}

func (s *stringCounter) text(text []byte) {
	if s.inText && len(text) > 0 && len(s.filled) > 0 {
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

// kind is what the attribute t of a cell says, as far as it matters.
type kind uint8

const (
	other kind = iota
	shared
	formulaText
	inlineText
	date
)

// sheetCounter counts the rows and cells of a sheet.
type sheetCounter struct {
	filled      []bool // of the shared strings
	rows, cells int

	p                     piece
	inData, inRow, inCell bool
	holds                 bool  // the row has what makes it count
	begun                 int   // rows begun
	column                int   // of the cell, from 0
	counted               []int // column → last row, by begun, in which a cell of it counted
	kind                  kind
	formula               bool
	hasValue, inValue     bool
	value                 []byte
	inText, inline        bool
	phonetic              int
}

func (s *sheetCounter) take(raw []byte) {
	p := &s.p
	// Nearly all pieces of nearly all sheets are these four, and need no look at what else a tag may be.
	if p.within == "" && s.inRow && len(raw) >= 2 {
		switch {
		case !s.inCell && raw[0] == 'c' && raw[1] == ' ':
			s.beginCell(raw[1:])
			return
		case s.inCell && raw[0] == 'v' && raw[1] == '>':
			s.hasValue, s.inValue = true, true
			s.text(raw[2:])
			return
		case s.inCell && string(raw) == "/v>":
			s.inValue = false
			return
		case s.inCell && string(raw) == "/c>":
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
			s.beginCell(p.attrs)
			s.inCell = !p.empty // the attributes end before the ">"
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

// beginCell reads the attributes r and t of a cell, up to the ">" that ends the tag.
func (s *sheetCounter) beginCell(attrs []byte) {
	s.inCell, s.kind = true, other
	s.formula, s.hasValue, s.inline = false, false, false
	s.value = s.value[:0]
	s.column++
	for i := 0; i < len(attrs); i++ {
		switch attrs[i] {
		case '>':
			return
		case '/':
			s.inCell = false
			return
		case ' ', '\t', '\n', '\r':
			continue
		}
		var name, value []byte
		if from := i + len(`r="`); from < len(attrs) && attrs[i+1] == '=' && attrs[i+2] == '"' {
			name = attrs[i : i+1]
			for i = from; i < len(attrs) && attrs[i] != '"'; i++ {
			}
			value = attrs[from:i]
		} else {
			var rest []byte
			name, value, rest = attribute(attrs[i:])
			i = len(attrs) - len(rest) - 1
		}
		switch {
		case len(name) == 0:
			return
		case len(name) > 1:
		case name[0] == 'r':
			s.place(value)
		case name[0] == 't':
			s.kind = kindOf(value)
		}
	}
}

func kindOf(t []byte) kind {
	switch string(trim(t)) {
	case "s":
		return shared
	case "str":
		return formulaText
	case "inlineStr":
		return inlineText
	case "d":
		return date
	}
	return other
}

// trim is bytes.TrimSpace for text that seldom has any.
func trim(b []byte) []byte {
	if len(b) > 0 && b[0] > ' ' && b[len(b)-1] > ' ' && b[len(b)-1] < 0x80 {
		return b
	}
	return bytes.TrimSpace(b)
}

// place takes the column from a reference such as AB12; without letters the cell follows the one before it.
func (s *sheetCounter) place(ref []byte) {
	column := 0
	for _, c := range trim(ref) {
		if c |= 0x20; c < 'a' || c > 'z' || column > 1<<16 {
			break
		}
		column = column*26 + int(c-'a') + 1
	}
	if column > 0 {
		s.column = column - 1
	}
}

func (s *sheetCounter) endCell() {
	s.inCell = false
	full := s.inline
	if s.hasValue {
		switch s.kind {
		case shared:
			i := index(s.value)
			full = i >= 0 && i < len(s.filled) && s.filled[i]
		case inlineText:
			full = full || len(s.value) > 0
		case formulaText, date:
			full = len(s.value) > 0
		default:
			full = len(trim(s.value)) > 0
		}
	}
	switch {
	case full:
		s.holds = true
		s.countCell()
	case s.formula && !(s.hasValue && s.kind == formulaText):
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

// index reads the number of a shared string, or gives -1.
func index(b []byte) int {
	b = trim(b)
	if len(b) == 0 {
		return -1
	}
	n := 0
	for _, c := range b {
		if c < '0' || c > '9' || n > 1<<32 {
			return -1
		}
		n = n*10 + int(c-'0')
	}
	return n
}
