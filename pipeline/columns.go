package pipeline

import (
	"bytes"
	"hash/maphash"
	"strings"

	"sheetlift/importers/source"
	"sheetlift/mappings"
)

// distinctLimit is how many distinct values of a column are counted exactly; beyond it the count is a lower bound.
const distinctLimit = 1 << 16

// headerSearch is how many rows from the top may be the header where no mapping says.
const headerSearch = 20

// sheetProfile watches the rows of one sheet go by and counts what an inventory shows. It keeps hashes, never values.
type sheetProfile struct {
	headerRow int // fixed, or found; 0 while searching
	header    []string
	outline   []mappings.Outline
	columns   []*columnProfile
	rows      int
	cells     int
	seed      maphash.Seed
	seen      map[uint64]struct{}
	repeats   int
	keys      []*keyProfile
	buf       []byte
}

type columnProfile struct {
	kinds     map[string]int
	filled    int
	distinct  map[uint64]struct{}
	over      bool
	eNotation int
	long      int
	padded    int
	first     int // first row with a doubtful id
	last      int
}

// keyProfile counts repeats of a combination of columns.
type keyProfile struct {
	label   string
	columns []int
	seen    map[uint64]struct{}
	repeats int
	first   int
	last    int
}

func newSheetProfile() *sheetProfile {
	return &sheetProfile{seed: maphash.MakeSeed(), seen: map[uint64]struct{}{}}
}

// start finds the header in the first block: where the mapping says, else the first of the top rows that has the most text
// cells. With a mapping it also learns which columns make the keys.
func (s *sheetProfile) start(b *source.Block, m *mappings.Mapping) {
	at := -1
	if m != nil {
		s.headerRow, at = m.HeaderIn(b)
	}
	if s.headerRow == 0 && (m == nil || at < 0) {
		most := 0
		for i := range min(b.Rows(), headerSearch) {
			n := 0
			for col := range b.Cols {
				if b.Cols[col][i].Kind == source.Text {
					n++
				}
			}
			if n > most {
				most, at, s.headerRow = n, i, b.RowNum[i]
			}
		}
	}
	if at < 0 {
		return
	}
	s.header = mappings.HeaderNames(b, at)
	if m == nil {
		return
	}
	for i, o := range m.Outlines(s.header) {
		if s.outline = append(s.outline, o); len(o.Key) == 0 || m.Records[i].History {
			continue
		}
		k := &keyProfile{columns: o.Key, seen: map[uint64]struct{}{}}
		var letters []string
		for _, c := range o.Key {
			letters = append(letters, source.Letters(c))
		}
		k.label = "columns " + strings.Join(letters, ", ")
		s.keys = append(s.keys, k)
	}
}

// add counts the rows of a block below the header.
func (s *sheetProfile) add(b *source.Block) {
	for i := range b.Rows() {
		if b.RowNum[i] <= s.headerRow {
			if b.RowNum[i] == s.headerRow {
				s.header = mappings.HeaderNames(b, i)
			}
			continue
		}
		s.row(b, i)
	}
}

func (s *sheetProfile) row(b *source.Block, i int) {
	p := s.buf[:0]
	cells := 0
	for col := range b.Cols {
		c := b.Cols[col][i]
		if c.Kind == source.Empty {
			continue
		}
		cells++
		for len(s.columns) <= col {
			s.columns = append(s.columns, &columnProfile{kinds: map[string]int{}, distinct: map[uint64]struct{}{}})
		}
		v := b.Bytes(c)
		s.columns[col].add(s.seed, c, v, b.RowNum[i])
		p = append(p, byte(col), byte(col>>8), byte(c.Kind))
		p = append(p, v...)
		p = append(p, 0xff)
	}
	if cells == 0 {
		s.buf = p
		return
	}
	s.rows++
	s.cells += cells
	h := maphash.Bytes(s.seed, p)
	if _, dup := s.seen[h]; dup {
		s.repeats++
	} else {
		s.seen[h] = struct{}{}
	}
	for _, k := range s.keys {
		p = p[:0]
		blank := true
		for _, col := range k.columns {
			v := b.Bytes(b.Cell(col, i))
			blank = blank && len(v) == 0
			p = append(p, v...)
			p = append(p, 0xff)
		}
		if blank {
			continue
		}
		h := maphash.Bytes(s.seed, p)
		if _, dup := k.seen[h]; dup {
			if k.repeats++; k.first == 0 {
				k.first = b.RowNum[i]
			}
			k.last = b.RowNum[i]
		} else {
			k.seen[h] = struct{}{}
		}
	}
	s.buf = p
}

func (c *columnProfile) add(seed maphash.Seed, cell source.Cell, v []byte, row int) {
	c.filled++
	kind := cell.Kind.String()
	if cell.Kind == source.Number && cell.Class != source.General {
		kind += ":" + cell.Class.String()
	}
	c.kinds[kind]++
	if !c.over {
		c.distinct[maphash.Bytes(seed, v)] = struct{}{}
		if len(c.distinct) > distinctLimit {
			c.over, c.distinct = true, map[uint64]struct{}{0: {}}
		}
	}
	if cell.Kind != source.Number {
		return
	}
	doubtful := false
	if cell.Flags&source.ZeroPadded != 0 {
		c.padded++
		doubtful = true
	}
	if bytes.ContainsAny(v, "eE") && wide(v) {
		c.eNotation++
		doubtful = true
	} else if digits(v) > 15 && !bytes.ContainsRune(v, '.') {
		c.long++
		doubtful = true
	}
	if doubtful {
		if c.first == 0 {
			c.first = row
		}
		c.last = row
	}
}

// wide reports whether a number in E-notation stands for a whole number of more than 15 digits.
func wide(v []byte) bool {
	i := bytes.IndexAny(v, "eE")
	exp := v[i+1:]
	if len(exp) > 0 && exp[0] == '+' {
		exp = exp[1:]
	}
	return len(exp) > 0 && exp[0] != '-' && (len(exp) > 2 || len(exp) == 2 && string(exp) >= "11")
}

func digits(v []byte) int {
	n := 0
	for _, c := range v {
		if c >= '0' && c <= '9' {
			n++
		}
	}
	return n
}

func (c *columnProfile) count() int {
	if c.over {
		return distinctLimit
	}
	return len(c.distinct)
}

// mixed reports whether a column holds both text and numbers (or booleans), or dates beside text.
func (c *columnProfile) mixed() bool {
	text := c.kinds["text"]
	return text > 0 && c.filled-text-c.kinds["error"] > 0
}
