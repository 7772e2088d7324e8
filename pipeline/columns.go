package pipeline

import (
	"bytes"
	"hash/maphash"
	"math/bits"
	"strings"

	"sheetlift/importers/source"
	"sheetlift/mappings"
)

// distinctLimit is how many distinct values of a column are counted exactly; beyond it the count is a lower bound.
const distinctLimit = 1 << 16

// headerSearch is how many rows from the top may be the header where no mapping says.
const headerSearch = 20

// sheetProfile watches the rows of one sheet go by and counts what an inventory shows. It keeps hashes, never values: what
// it says of duplicates holds but for a chance of about rows squared in 2^65.
type sheetProfile struct {
	headerRow int  // fixed, or found; 0 while searching
	none      bool // the mapping says that there is no header; headerRow is then the last row of the titles, or 0
	header    []string
	outline   []mappings.Outline
	columns   []*columnProfile
	rows      int
	cells     int
	seed      maphash.Seed
	seen      repeats // of whole rows
	repeats   int     // set by finish
	keys      []*keyProfile
	export    *exportTime // what dates are compared with; nil if no source reads the sheet
	hazards   sheetHazards

	// Of the block being added:
	below  []int    // its rows below the header
	sums   []uint64 // hash of each row's cells
	filled []int    // non-empty cells of each row
	odd    []trait  // of each row: sample or totals in some cell; empty if there are none
}

type columnProfile struct {
	counts    [source.ErrorValue + 1][source.TextFormat + 1]int // by kind and class
	filled    int
	distinct  hashSet
	over      bool
	eNotation int
	long      int
	padded    int
	first     int // first row with a doubtful id
	last      int
	hazards   columnHazards
}

// keyProfile counts repeats of a combination of columns.
type keyProfile struct {
	label   string
	columns []int
	seen    repeats
	repeats int // set by finish, as first and last are
	first   int
	last    int
}

func newSheetProfile() *sheetProfile { return &sheetProfile{seed: maphash.MakeSeed()} }

// start finds the header in the first block: where the mapping says, else the first of the top rows that has the most text
// cells. With a mapping it also learns which columns make the keys.
func (s *sheetProfile) start(b *source.Block, m *mappings.Mapping) {
	at := -1
	if m != nil {
		s.headerRow, at = m.HeaderIn(b)
	}
	s.none = m != nil && m.Header.None
	if s.headerRow == 0 && !s.none && (m == nil || at < 0) {
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
	switch {
	case s.none:
	case at < 0:
		return
	default:
		s.header = mappings.HeaderNames(b, at)
	}
	if m == nil {
		return
	}
	for i, o := range m.Outlines(s.header) {
		if s.outline = append(s.outline, o); len(o.Key) == 0 || m.Records[i].History {
			continue
		}
		k := &keyProfile{columns: o.Key}
		var letters []string
		for _, c := range o.Key {
			letters = append(letters, source.Letters(c))
		}
		k.label = "columns " + strings.Join(letters, ", ")
		s.keys = append(s.keys, k)
	}
}

// add counts the rows of a block below the header, column by column.
func (s *sheetProfile) add(b *source.Block) {
	s.below = s.below[:0]
	for i, row := range b.RowNum {
		switch {
		case row > s.headerRow:
			s.below = append(s.below, i)
		case row == s.headerRow && !s.none:
			s.header = mappings.HeaderNames(b, i)
		}
	}
	n := b.Rows()
	s.odd = s.odd[:0]
	s.sums, s.filled = append(s.sums[:0], make([]uint64, n)...), append(s.filled[:0], make([]int, n)...)
	for _, col := range b.Used {
		s.column(b, col)
	}
	kept := s.below[:0]
	for _, i := range s.below {
		if s.filled[i] == 0 {
			continue // nothing but formulas without a value, or delimiters
		}
		kept = append(kept, i)
		s.cells += s.filled[i]
		s.seen.add(s.sums[i])
	}
	s.below = kept
	s.hazardRows(b)
	s.rows += len(kept)
	for _, k := range s.keys {
		s.key(b, k)
	}
}

// column adds a column of the block.
func (s *sheetProfile) column(b *source.Block, col int) {
	for len(s.columns) <= col {
		s.columns = append(s.columns, &columnProfile{})
	}
	p, cells := s.columns[col], b.Cols[col]
	all, same, before := source.Flags(0), ^source.Flags(0), p.filled
	for _, i := range s.below {
		c := &cells[i]
		if c.Kind == source.Empty {
			continue
		}
		v := b.Bytes(*c)
		h := maphash.Bytes(s.seed, v)
		p.filled++
		p.counts[c.Kind][c.Class]++
		all |= c.Flags
		same &= c.Flags
		fresh := false
		if !p.over {
			fresh = p.distinct.add(h)
			if p.distinct.n > distinctLimit {
				p.over, p.distinct = true, hashSet{}
			}
		}
		if c.Kind == source.Number {
			p.number(*c, v, b.RowNum[i])
			if c.Class == source.Date || c.Class == source.DateTime {
				p.hazards.take(s.export.ofSerial(v, c.Class == source.DateTime), b.RowNum[i])
			}
		} else if c.Kind == source.Text && (fresh || p.hazards.watch != nil) {
			if t := p.hazards.text(s.export, h, v, fresh, p.over); t != 0 {
				p.hazards.take(t, b.RowNum[i])
				s.mark(i, t)
			}
		}
		s.filled[i]++
		s.sums[i] = mix(s.sums[i]^h, uint64(col)<<8|uint64(c.Kind))
	}
	p.hazards.shown(b, cells, s.below, p.filled-before, all, same)
}

// key adds the block to a key. Rows whose key is blank have none.
func (s *sheetProfile) key(b *source.Block, k *keyProfile) {
	for _, i := range s.below {
		var h uint64
		blank := true
		for n, col := range k.columns {
			v := b.Bytes(b.Cell(col, i))
			blank = blank && len(v) == 0
			h = mix(h^maphash.Bytes(s.seed, v), uint64(n))
		}
		if !blank {
			k.seen.addAt(h, b.RowNum[i])
		}
	}
}

// finish works out what only the end tells.
func (s *sheetProfile) finish() {
	s.repeats, _, _ = s.seen.count()
	s.seen = repeats{}
	for _, k := range s.keys {
		k.repeats, k.first, k.last = k.seen.count()
		k.seen = repeats{}
	}
}

// mix spreads a hash and what it is about over 64 bits.
func mix(h, what uint64) uint64 {
	hi, lo := bits.Mul64(h^0x9e3779b97f4a7c15, what^0xd6e8feb86659fd93)
	return hi ^ lo
}

// number looks for what makes a number doubtful as an id.
func (c *columnProfile) number(cell source.Cell, v []byte, row int) {
	doubtful := false
	if cell.Flags&source.ZeroPadded != 0 {
		c.padded++
		doubtful = true
	}
	if len(v) > 15 || bytes.ContainsAny(v, "eE") {
		if bytes.ContainsAny(v, "eE") && wide(v) {
			c.eNotation++
			doubtful = true
		} else if digits(v) > 15 && !bytes.ContainsRune(v, '.') {
			c.long++
			doubtful = true
		}
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
	return c.distinct.n
}

// kinds names the kinds of the cells, numbers by the class of their format too.
func (c *columnProfile) kinds() map[string]int {
	out := map[string]int{}
	for kind, classes := range c.counts {
		for class, n := range classes {
			name := source.Kind(kind).String()
			if source.Kind(kind) == source.Number && source.Class(class) != source.General {
				name += ":" + source.Class(class).String()
			}
			if n > 0 {
				out[name] += n
			}
		}
	}
	return out
}

// of is the number of cells of a kind.
func (c *columnProfile) of(k source.Kind) (n int) {
	for _, m := range c.counts[k] {
		n += m
	}
	return n
}

// mixed reports whether a column holds both text and numbers (or booleans), or dates beside text.
func (c *columnProfile) mixed() bool {
	text := c.of(source.Text)
	return text > 0 && c.filled-text-c.of(source.ErrorValue) > 0
}
