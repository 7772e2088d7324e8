package staged

import (
	"encoding/binary"
	"unsafe"

	"github.com/google/uuid"

	"sheetlift/importers"
)

// Part is records gathered column by column: those of the next record batch of a Writer, or some that a Writer takes later at once.
// So several may be gathered beside each other.
type Part struct {
	values  []column
	fields  []fieldColumns
	derived []column // the columns after those of the fields
	// last is, by field, the value of the record before if it is enough to ask the next record whether it has the same: NoValue, or
	// one of the block that all columns took into a run. Otherwise it is nil.
	last  []*importers.Value
	block int // of the last record
	// same is what the record before had in the columns that hardly change; empty if it is not known.
	same []Cell
	full bool // there is no room for another record
	rows int
}

// fieldColumns are the columns of a field.
type fieldColumns struct {
	columns []column // of the part's
	runs    bool     // all of them
}

// NewPart returns an empty part of an entity's records, with more columns after the entity's own.
func NewPart(e *importers.Entity, more ...importers.Column) *Part {
	return newPart(e, append(Columns(e), more...))
}

func newPart(e *importers.Entity, columns []importers.Column) *Part {
	p := &Part{}
	for _, c := range columns {
		p.values = append(p.values, newColumn(formOf(e, c), c.Part))
	}
	p.derived = p.values[envelope:]
	for i := range e.Fields {
		f := fieldColumns{runs: true}
		n := 0
		for ; n < len(p.derived) && columns[len(columns)-len(p.derived)+n].Field == i; n++ {
			f.runs = f.runs && p.derived[n].runs
		}
		f.columns, p.derived = p.derived[:n], p.derived[n:]
		p.fields, p.last = append(p.fields, f), append(p.last, none)
	}
	return p
}

// Append adds one record, as Writer.Append does.
func (p *Part) Append(o *Origin, rec *importers.Record, derived []Cell) {
	row := p.rows
	v := p.values
	v[0].putBytes(o.ID[:])
	v[1].putBytes(o.RecordID[:])
	v[3].putText(row, o.Key)
	v[4].putBytes(o.ContentDigest[:])
	v[7].putInt(row, int64(o.Row))
	v[8].putInt(row, int64(o.Line))
	v[9].putBytes(o.RowDigest[:])
	if len(p.same) == 0 {
		p.same = append(p.same, make([]Cell, len(p.derived)+3)...)
		for i := range p.same {
			p.same[i] = unknown
		}
	}
	for i, place := range [...]struct {
		column int
		text   string
	}{{2, o.System}, {5, o.FileDigest}, {6, o.Sheet}} {
		if last := &p.same[i]; *last == unknown || last.Text != place.text {
			*last = Cell{Text: place.text}
			v[place.column].putText(row, place.text)
		}
	}
	if o.Block != p.block {
		p.block = o.Block
		for i, v := range p.last {
			if v != none {
				p.last[i] = nil
			}
		}
	}
	last := p.last
	for i, v := range rec.Values {
		if v != last[i] {
			p.put(i, row, v)
		}
	}
	for d := range p.derived {
		to, c, last := &p.derived[d], &derived[d], &p.same[d+3]
		if *c == *last {
			continue
		}
		*last = *c
		switch {
		case c.Null:
			to.putNull(row)
		case to.isInt:
			to.putInt(row, c.Int)
		default:
			to.putText(row, c.Text)
			p.full = p.full || to.full()
		}
	}
	p.rows++
}

// Finish ends the part, for a Writer to take its records.
func (p *Part) Finish() {
	for i := range p.values {
		p.values[i].finish(p.rows)
	}
}

// Full reports whether the part has no room for another record.
func (p *Part) Full() bool { return p.full }

// Reset forgets all records and keeps the memory.
func (p *Part) Reset() {
	for i := range p.values {
		p.values[i].reset()
	}
	for i := range p.last {
		p.last[i] = none // columns begin with a run of nulls
	}
	p.rows, p.full, p.same = 0, false, p.same[:0]
}

// Rows is the number of records.
func (p *Part) Rows() int { return p.rows }

// AppendTo appends the records to b, for a View of them. The part must be finished.
func (p *Part) AppendTo(b []byte) []byte {
	b = binary.AppendUvarint(b, uint64(p.rows))
	for i := range p.values {
		b = p.values[i].appendTo(b)
	}
	return b
}

// View is a part that is finished and lies in memory that AppendTo made.
type View struct {
	Part
	own []byte
}

// NewView returns a view of no records of an entity.
func NewView(e *importers.Entity) *View { return &View{Part: *NewPart(e)} }

// See makes the view one of the records that AppendTo appended to b when it ended before the index at. Nobody may change b as long as the
// view is in use.
func (v *View) See(b []byte, at int) {
	if uintptr(unsafe.Pointer(unsafe.SliceData(b)))&7 != 0 { // numbers must lie at their multiples
		v.own = append(v.own[:0], b...)
		b = v.own
	}
	rows, n := binary.Uvarint(b[at:])
	v.rows, at = int(rows), at+n
	for i := range v.values {
		at = v.values[i].view(b, at)
	}
}

// Origin gives the origin of record i, without Block. Its texts lie in the part.
func (p *Part) Origin(i int) Origin {
	v := p.values
	text := func(k int) string { return v[k].textAt(v[k].at(i)) }
	return Origin{
		ID: uuid.UUID(v[0].bytesAt(i)), RecordID: uuid.UUID(v[1].bytesAt(i)), System: text(2), Key: text(3), ContentDigest: [32]byte(v[4].bytesAt(i)),
		FileDigest: text(5), Sheet: text(6), Row: int(v[7].ints[v[7].at(i)]), Line: int(v[8].ints[v[8].at(i)]), RowDigest: [32]byte(v[9].bytesAt(i)),
	}
}

// Value puts the value of a field of record i into v, and reports whether it is set. Its texts lie in the part; its origin is not there.
func (p *Part) Value(i, field int, v *importers.Value) bool {
	*v = importers.Value{Set: true}
	f := &p.fields[field]
	for k := range f.columns {
		c := &f.columns[k]
		switch at := c.at(i); {
		case !c.isValid(at):
			return false
		case c.isInt:
			v.Int = c.ints[at]
		default:
			*textIn(v, c.part) = c.textAt(at)
		}
	}
	return true
}

// take adds records of another part, which is finished.
func (p *Part) take(from *Part, first, end int) {
	for i := range p.values {
		p.values[i].take(&from.values[i], p.rows, first, end)
		p.full = p.full || p.values[i].full()
	}
	for i := range p.last {
		p.last[i] = nil // the next record asks the columns
	}
	p.same = p.same[:0]
	p.rows += end - first
}

var none = importers.NoValue()

// unknown is no cell of any record.
var unknown = Cell{Null: true, Int: 1}

// put puts a value into the columns of its field.
func (p *Part) put(field, row int, v *importers.Value) {
	f := &p.fields[field]
	if !v.Set {
		for k := range f.columns {
			f.columns[k].putNull(row)
		}
		p.last[field] = none
		return
	}
	for k := range f.columns {
		c := &f.columns[k]
		if c.isInt {
			c.putInt(row, v.Int)
			continue
		}
		c.putText(row, *textIn(v, c.part))
		p.full = p.full || c.full()
	}
	switch {
	case f.runs && p.block > 0:
		p.last[field] = v
	case p.last[field] != nil:
		p.last[field] = nil
	}
}

// textIn is where a value has the text of a column.
func textIn(v *importers.Value, part importers.Part) *string {
	switch part {
	case importers.OriginalText:
		return &v.Raw
	case importers.Zone:
		return &v.Zone
	case importers.Precision:
		return &v.Precision
	}
	return &v.Text
}
