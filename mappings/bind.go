package mappings

import (
	"bytes"

	"sheetlift/importers"
	"sheetlift/importers/source"
)

// Env is what a mapping needs to know about the place it is used in.
type Env struct {
	Source     string // name of the source in batch.yaml
	File       string // path as written in batch.yaml
	FileDigest string // SHA-256 of the frozen file, hex
	Sheet      string // worksheet name; empty for text files
	System     string // name of the source system
	Zone       string // declared zone of the source; the mapping's zones go first
	Date1904   bool   // the workbook's date system

	// Token gives the token that findings show for a subject's identifier of a kind: subject_id, email, phone, device_id.
	// nil: findings have no token.
	Token func(kind, value string) string
}

// boundCondition is a condition with its column. It remembers the cells it has judged.
type boundCondition struct {
	*condition
	col  int
	memo memo[bool]
}

func bindCondition(c *condition, column func(Column) int) *boundCondition {
	return &boundCondition{condition: c, col: column(c.column)}
}

func (c *boundCondition) holds(b *source.Block, i int) bool {
	cell := b.Cell(c.col, i)
	raw := b.Bytes(cell)
	if c.blank {
		blank := cell.Kind == source.Empty || len(bytes.TrimSpace(raw)) == 0
		return blank != c.not
	}
	if cell.Kind == source.Empty || c.not && cell.Kind == source.Text && len(bytes.TrimSpace(raw)) == 0 {
		return c.not
	}
	if c.memo.off {
		return c.judge(cell, raw)
	}
	as := cellAs(cell, 0)
	if held, known := c.memo.get(cell, raw, as); known {
		return held
	}
	held := c.judge(cell, raw)
	if c.memo.room() {
		c.memo.put(cell, raw, as, held)
	}
	return held
}

func (c *boundCondition) judge(cell source.Cell, raw []byte) bool {
	text := raw
	if cell.Kind == source.Number {
		if p, ok := numberText(nil, raw); ok {
			text = p
		}
	}
	var held bool
	if c.expr != nil {
		held = c.expr.Match(text)
	} else {
		held = c.words[fold(string(text))]
	}
	return held != c.not
}

// boundSpec is a spec with its columns.
type boundSpec struct {
	*specProgram
	when    []*boundCondition
	readers []*fieldReader // by position in fields
	byField []int          // entity field index -> position in fields, or -1
	who     []int          // positions in fields of those that name the subject
	named   uint64         // a bit for each kind of identifier among them

	about     importers.Scope    // as far as the mapping states it for all rows
	blank     []*importers.Value // the fields of a record without any value
	keyIsText bool               // the first field of the key is a text in the key too
	simple    bool               // every field comes from one column at most
	shapes    map[uint64][][]int // of a simple spec: the columns behind the values, by which are set
	last      filled
}

// filled is which fields of a record are set, and the columns behind them.
type filled struct {
	set     uint64
	columns [][]int
}

// begin must be called before the rows of another block.
func (s *boundSpec) begin() {
	for _, c := range s.when {
		c.memo.begin()
	}
	for _, r := range s.readers {
		r.begin()
	}
}

// columnsOf gives the columns behind the values of a record of a simple spec.
func (s *boundSpec) columnsOf(set uint64) [][]int {
	if s.last.columns != nil && s.last.set == set {
		return s.last.columns
	}
	columns, ok := s.shapes[set]
	if !ok {
		columns = make([][]int, len(s.entity.Fields))
		for j := range s.fields {
			if f := &s.fields[j]; set>>f.index&1 == 1 {
				columns[f.index] = s.readers[j].cols
			}
		}
		s.shapes[set] = columns
	}
	s.last = filled{set, columns}
	return columns
}

func bindSpec(s *specProgram, env *Env, mappingZone string, column func(Column) int) (*boundSpec, error) {
	b := &boundSpec{specProgram: s, about: s.scope(), byField: make([]int, len(s.entity.Fields)), blank: importers.NewRecord(s.entity).Values, simple: true, shapes: map[uint64][][]int{}}
	b.who, b.named = s.whoOf()
	for i := range b.byField {
		b.byField[i] = -1
	}
	if len(s.key) > 0 {
		typ := s.entity.Fields[s.key[0]].Type
		b.keyIsText = typ != importers.DateTime && typ != importers.Bool && typ != importers.Integer
	}
	for i := range s.when {
		b.when = append(b.when, bindCondition(&s.when[i], column))
	}
	for i := range s.fields {
		f := &s.fields[i]
		b.byField[f.index] = i
		r := &fieldReader{p: f, date1904: env.Date1904, orders: make([]order, len(f.from))}
		for _, c := range f.from {
			r.cols = append(r.cols, column(c))
		}
		b.simple = b.simple && len(r.cols) <= 1
		if f.constant != nil {
			r.constant = &outcome{v: *f.constant, kept: true}
			r.remember(r.constant)
		}
		for k := range f.when {
			r.when = append(r.when, bindCondition(&f.when[k], column))
		}
		if name := firstZone(f.zone, mappingZone, env.Zone); name != "" && f.typ == importers.DateTime {
			z, err := loadZone(name)
			if err != nil {
				return nil, err
			}
			r.zone = z
		}
		b.readers = append(b.readers, r)
	}
	return b, nil
}

// applies reports whether the row gives this record at all.
func (s *boundSpec) applies(b *source.Block, i int) bool { return allHold(s.when, b, i) }

func allHold(list []*boundCondition, b *source.Block, i int) bool {
	for _, c := range list {
		if !c.holds(b, i) {
			return false
		}
	}
	return true
}

// plainKey gives the record's external key where it is the text of a single field as it is.
func (s *boundSpec) plainKey(values []*importers.Value) (key string, ok bool) {
	if len(s.key) != 1 || !s.keyIsText {
		return "", false
	}
	v := values[s.key[0]]
	if !v.Set || !plainKeyText(v.Text) {
		return "", false
	}
	return v.Text, true
}

// appendKey appends the record's external key: the key fields' values in the order of the mapping, "\" and "|" escaped by "\",
// joined by "|". value gives the value of an entity field; ok is false if one is not set.
func (s *boundSpec) appendKey(p []byte, value func(field int) *importers.Value) (key []byte, ok bool) {
	for n, field := range s.key {
		v := value(field)
		if v == nil || !v.Set {
			return p, false
		}
		if n > 0 {
			p = append(p, '|')
		}
		p = appendKeyPart(p, &s.entity.Fields[field], v)
	}
	return p, true
}
