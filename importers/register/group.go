package register

import (
	"slices"
	"strings"

	"sheetlift/importers"
	"sheetlift/importers/staged"
	"sheetlift/pipeline/store"
)

// Group gathers the records of some chunks of one staged file, to go into the register in one transaction. It keeps what it needs
// of a chunk, and what most records have in common once, so that it holds many times more records than the chunks would in the
// same memory.
type Group struct {
	entity  *importers.Entity
	o       Origin
	at      map[string]int // column by name
	columns []column
	keys    []idMapRow // made by Sort
	rows    int
	size    int
	sorted  bool
}

// NewGroup makes an empty group of records of the entity with these staged columns.
func NewGroup(e *importers.Entity, cols []importers.Column, o Origin) *Group {
	return &Group{entity: e, o: o, at: positions(cols), columns: make([]column, len(cols))}
}

// Rows is how many records the group holds.
func (g *Group) Rows() int { return g.rows }

// Size is about how many bytes of memory the group holds.
func (g *Group) Size() int { return g.size }

// Add copies the records of a chunk, which may be released then.
func (g *Group) Add(c *staged.Chunk) {
	n := c.Rows()
	g.rows += n
	g.size = 0
	for i := range g.columns {
		col := &g.columns[i]
		for row := range n {
			col.add(cellValue(c, i, row))
		}
		g.size += col.size()
	}
	g.sorted = false
}

// Sort puts the records in the order of their ids and works out the rows of the id map. Ids are spread evenly over all that there
// are, and an index grows many times faster when neighbours come together. It needs no database, so that it can be done while
// another group is loaded; Load does it if it was not done.
func (g *Group) Sort() {
	if g.sorted {
		return
	}
	id := &g.columns[g.at["id"]]
	order := sortedBy(g.rows, func(row int) string { return id.text(row) })
	for i := range g.columns {
		g.columns[i].permute(order)
	}
	g.keys = g.idMap()
	g.sorted = true
}

// sortedBy gives the numbers from 0 to n-1 in the order of their texts.
func sortedBy(n int, text func(int) string) []uint32 {
	type keyed struct {
		text string
		row  uint32
	}
	list := make([]keyed, n)
	for i := range list {
		list[i] = keyed{text(i), uint32(i)}
	}
	slices.SortFunc(list, func(a, b keyed) int { return strings.Compare(a.text, b.text) })
	order := make([]uint32, n)
	for i := range list {
		order[i] = list[i].row
	}
	return order
}

type idMapRow struct{ id, system, digest string }

// idMap gives the group's keys in the order of their ids, each once: events of one key share a row.
func (g *Group) idMap() []idMapRow {
	id, system, key := &g.columns[g.at["record_id"]], &g.columns[g.at["system"]], &g.columns[g.at["external_key"]]
	keys := make([]idMapRow, 0, g.rows)
	for _, row := range sortedBy(g.rows, func(row int) string { return id.text(row) }) {
		r := idMapRow{id: id.text(int(row)), system: system.text(int(row))}
		if g.entity.Event && len(keys) > 0 && keys[len(keys)-1].id == r.id {
			continue
		}
		r.digest = g.o.KeyDigest(r.system, g.entity.Name, key.text(int(row)))
		keys = append(keys, r)
	}
	return keys
}

// fewValues is how many values a column may have for each to be kept once.
const fewValues = 256

// column is one column of a group: as a list of its few values and a code a row, or, once they are more, row after row.
type column struct {
	codes  []uint8
	values []store.Value
	known  map[store.Value]uint8

	many  bool
	kinds []store.ValueKind
	ints  []int64  // of integers
	ends  []uint32 // of texts: where each ends in all
	all   strings.Builder
}

func (c *column) add(v store.Value) {
	if c.many {
		c.append(v)
		return
	}
	if n := len(c.codes); n > 0 && c.values[c.codes[n-1]] == v {
		c.codes = append(c.codes, c.codes[n-1])
		return
	}
	code, ok := c.known[v]
	switch {
	case ok:
		c.codes = append(c.codes, code)
	case len(c.values) < fewValues:
		v.Text = strings.Clone(v.Text)
		if c.known == nil {
			c.known = map[store.Value]uint8{}
		}
		c.known[v] = uint8(len(c.values))
		c.codes = append(c.codes, uint8(len(c.values)))
		c.values = append(c.values, v)
	default:
		codes, values := c.codes, c.values
		*c = column{many: true}
		for _, code := range codes {
			c.append(values[code])
		}
		c.append(v)
	}
}

func (c *column) append(v store.Value) {
	c.kinds = append(c.kinds, v.Kind)
	if v.Kind == store.Int || c.ints != nil {
		if c.ints == nil { // only nulls came before
			c.ints = make([]int64, len(c.kinds)-1)
		}
		c.ints = append(c.ints, v.Int)
		return
	}
	c.all.WriteString(v.Text)
	c.ends = append(c.ends, uint32(c.all.Len()))
}

func (c *column) value(row int) store.Value {
	if !c.many {
		return c.values[c.codes[row]]
	}
	v := store.Value{Kind: c.kinds[row]}
	switch v.Kind {
	case store.Int:
		v.Int = c.ints[row]
	case store.Text:
		v.Text = part(c.all.String(), c.ends, row)
	}
	return v
}

func (c *column) text(row int) string {
	if !c.many {
		return c.values[c.codes[row]].Text
	}
	return part(c.all.String(), c.ends, row)
}

// part is the text of a row in a text of all.
func part(all string, ends []uint32, row int) string {
	start := uint32(0)
	if row > 0 {
		start = ends[row-1]
	}
	return all[start:ends[row]]
}

// permute puts the rows in another order.
func (c *column) permute(order []uint32) {
	if !c.many {
		c.codes = permuted(c.codes, order)
		return
	}
	c.kinds = permuted(c.kinds, order)
	if c.ints != nil {
		c.ints = permuted(c.ints, order)
		return
	}
	all, ends := c.all.String(), c.ends
	c.all, c.ends = strings.Builder{}, make([]uint32, 0, len(order))
	c.all.Grow(len(all))
	for _, row := range order {
		c.all.WriteString(part(all, ends, int(row)))
		c.ends = append(c.ends, uint32(c.all.Len()))
	}
}

func permuted[T any](list []T, order []uint32) []T {
	out := make([]T, len(order))
	for i, row := range order {
		out[i] = list[row]
	}
	return out
}

// size is about how many bytes the column holds.
func (c *column) size() int {
	n := len(c.codes) + len(c.kinds) + 8*len(c.ints) + 4*len(c.ends) + c.all.Len()
	for i := range c.values {
		n += len(c.values[i].Text)
	}
	return n
}
