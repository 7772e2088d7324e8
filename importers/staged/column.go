package staged

import (
	"encoding/binary"
	"encoding/hex"
	"sort"
	"sync"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/google/uuid"

	"sheetlift/importers"
)

// form is how a column lies in a file. Most columns say the same in row after row (a purpose, a class, what is missing, nothing at
// all), so they are kept as runs; ids and digests are bytes; only what differs from row to row has a value of its own each.
type form struct {
	isInt bool
	runs  bool
	width int // bytes of an id or a digest; 0 of other columns
}

func formOf(e *importers.Entity, c importers.Column) form {
	f := form{isInt: c.Storage == importers.AsInt, runs: true}
	switch {
	case c.Field >= 0:
		field := &e.Fields[c.Field]
		each := field.Data != importers.None || field.Type == importers.DateTime
		f.runs = c.Part == importers.Zone || c.Part == importers.Precision || c.Part == importers.Main && !each
	case c.Name == "external_key", c.Name == "row":
		f.runs = false
	case c.Name == "id", c.Name == "record_id":
		f.runs, f.width = false, len(uuid.UUID{})
	case c.Name == "content_digest", c.Name == "row_digest":
		f.runs, f.width = false, 32
	}
	return f
}

// runEnds is the type of the rows after each run: a record batch has few enough of them.
var runEnds = arrow.PrimitiveTypes.Int16

// arrow is the Arrow type of the column, written as runs or not.
func (f form) arrow(runs bool) arrow.DataType {
	t := arrow.DataType(arrow.BinaryTypes.String)
	switch {
	case f.width > 0:
		return &arrow.FixedSizeBinaryType{ByteWidth: f.width}
	case f.isInt:
		t = arrow.PrimitiveTypes.Int64
	}
	if runs {
		return arrow.RunEndEncodedOf(runEnds, t)
	}
	return t
}

// column gathers the values of one column for a record batch and keeps its memory for the next. A builder of the Arrow library
// costs several calls a value, and a record has some fifty values.
//
// It is told only what a row changes: a run goes on until a row says something else, and rows that are passed over in a column
// without runs are null. finish brings it up to the last row.
type column struct {
	form
	part importers.Part // of a field's value

	// The open run, which no row has ended yet. Its text lies after the end of the last value.
	from int // its first row
	null bool
	int  int64

	until []int32 // of runs: the row after each

	// The values: of every row, or of every run.
	n     int
	nulls int
	ints  []int64
	ends  []int32 // of texts: where each begins, and where the last ends
	text  []byte  // of texts; of ids and digests their bytes
	valid []byte  // bitmap, lowest bit first; only if there are nulls

	short []int16 // scratch of array
}

func newColumn(f form, part importers.Part) column {
	return column{form: f, part: part, null: true, ends: []int32{0}}
}

// another ends a value. Its bytes are there already.
func (c *column) another(valid bool) {
	if !valid || c.nulls > 0 {
		c.mark(valid)
	}
	c.n++
}

func (c *column) mark(valid bool) {
	if c.nulls == 0 { // all before it are valid
		for range c.n / 8 {
			c.valid = append(c.valid, 0xff)
		}
		if c.n&7 > 0 {
			c.valid = append(c.valid, 1<<(c.n&7)-1)
		}
	}
	if c.n&7 == 0 {
		c.valid = append(c.valid, 0)
	}
	if valid {
		c.valid[c.n>>3] |= 1 << (c.n & 7)
	} else {
		c.nulls++
	}
}

// end ends the open run before the row.
func (c *column) end(row int) {
	if row > c.from { // it has rows: the first of a batch need not
		c.until = append(c.until, int32(row))
		if c.isInt {
			c.ints = append(c.ints, c.int)
		} else {
			c.ends = append(c.ends, int32(len(c.text)))
		}
		c.another(!c.null)
	}
	c.from, c.null, c.int = row, true, 0
}

// fill makes the rows before the row null that no value came for.
func (c *column) fill(row int) {
	if c.n >= row {
		return
	}
	if c.isInt {
		c.ints = append(c.ints, make([]int64, row-c.n)...)
	} else {
		end := int32(len(c.text))
		for range row - c.n {
			c.ends = append(c.ends, end)
		}
	}
	if c.nulls < c.n { // of bits that are all 0 there are just more
		for c.n < row {
			c.another(false)
		}
		return
	}
	c.n, c.nulls = row, row
	for len(c.valid) < (row+7)/8 {
		c.valid = append(c.valid, 0)
	}
}

// putText says that the row has a text.
func (c *column) putText(row int, s string) {
	if c.runs {
		if !c.null && string(c.text[c.ends[len(c.ends)-1]:]) == s {
			return
		}
		c.end(row)
		c.text = append(c.text, s...)
		c.null = false
		return
	}
	if c.n < row {
		c.fill(row)
	}
	c.text = append(c.text, s...)
	c.ends = append(c.ends, int32(len(c.text)))
	c.another(true)
}

// putBytes says that the row, which follows the last, has an id or a digest.
func (c *column) putBytes(b []byte) {
	c.text = append(c.text, b...)
	c.n++
}

// putInt says that the row has a number.
func (c *column) putInt(row int, v int64) {
	if c.runs {
		if !c.null && c.int == v {
			return
		}
		c.end(row)
		c.int, c.null = v, false
		return
	}
	if c.n < row {
		c.fill(row)
	}
	c.ints = append(c.ints, v)
	c.another(true)
}

// putNull says that the row has nothing, if the row before has a value.
func (c *column) putNull(row int) {
	if c.runs && !c.null {
		c.end(row)
	}
}

// finish takes in all rows before the row.
func (c *column) finish(row int) {
	switch {
	case c.runs:
		c.end(row)
	case !c.blank(): // else it needs no word on each row
		c.fill(row)
	}
}

// take takes in the rows from first to before end of a finished column, which come at the row.
func (c *column) take(from *column, row, first, end int) {
	switch {
	case c.runs:
		c.takeRuns(from, row, first, end)
	case c.width > 0:
		c.text = append(c.text, from.text[first*c.width:end*c.width]...)
		c.n += end - first
	case from.blank():
	case from.nulls > 0:
		for ; first < end; row, first = row+1, first+1 {
			switch {
			case !from.isValid(first):
			case c.isInt:
				c.putInt(row, from.ints[first])
			default:
				c.putText(row, from.textAt(first))
			}
		}
	default:
		c.fill(row)
		c.takeValues(from, first, end)
	}
}

// takeRuns is take of runs: the first may go on with the open one, the last is open after it.
func (c *column) takeRuns(from *column, row, first, end int) {
	k := from.at(first)
	c.takeRun(from, k, row)
	row -= first // what a row of from is here, less that row
	if last := from.at(end - 1); k < last {
		c.end(row + int(from.until[k]))
		if from.nulls > 0 {
			for k++; k < last; k++ {
				c.takeRun(from, k, row+int(from.until[k-1]))
			}
		} else if k++; k < last {
			for _, u := range from.until[k:last] {
				c.until = append(c.until, int32(row)+u)
			}
			c.takeValues(from, k, last)
			c.from = int(c.until[len(c.until)-1])
		}
		c.takeRun(from, last, row+int(from.until[last-1]))
	}
}

// takeRun says of the row what the k-th run says.
func (c *column) takeRun(from *column, k, row int) {
	switch {
	case !from.isValid(k):
		c.putNull(row)
	case c.isInt:
		c.putInt(row, from.ints[k])
	default:
		c.putText(row, from.textAt(k))
	}
}

// takeValues takes in values of which none is null.
func (c *column) takeValues(from *column, first, end int) {
	if c.isInt {
		c.ints = append(c.ints, from.ints[first:end]...)
	} else {
		shift := int32(len(c.text)) - from.ends[first]
		c.text = append(c.text, from.text[from.ends[first]:from.ends[end]]...)
		at := len(c.ends)
		c.ends = append(c.ends, from.ends[first+1:end+1]...)
		for i := range c.ends[at:] {
			c.ends[at+i] += shift
		}
	}
	if c.nulls == 0 {
		c.n += end - first
		return
	}
	for range end - first {
		c.another(true)
	}
}

// isValid reports whether the k-th value is one.
func (c *column) isValid(k int) bool {
	return k < c.n && (c.nulls == 0 || c.valid[k>>3]>>(k&7)&1 == 1)
}

// blank reports whether no row of a column without runs has a value.
func (c *column) blank() bool { return c.nulls == c.n }

// full reports whether the texts leave no room for another of any length that a field can have: offsets are 32 bits.
func (c *column) full() bool { return len(c.text) > 1<<30 }

// array gives the values of so many rows as an Arrow array of the type that form.arrow gives, which is valid until reset. Of a column
// without runs that is written as runs every row is one, or all are if none has a value.
func (c *column) array(rows int, runs bool) arrow.Array {
	var values int
	switch {
	case c.runs:
		c.end(rows)
		values = c.n
		c.short = c.short[:0]
		for _, u := range c.until {
			c.short = append(c.short, int16(u))
		}
	case runs && c.blank():
		c.fill(1)
		values, c.short = 1, append(c.short[:0], int16(rows))
	default:
		c.fill(rows)
		values = rows
		for c.short = c.short[:0]; runs && len(c.short) < rows; {
			c.short = append(c.short, int16(len(c.short)+1))
		}
	}
	buffers := []*memory.Buffer{nil}
	if c.nulls > 0 {
		buffers[0] = memory.NewBufferBytes(c.valid)
	}
	switch {
	case c.width > 0:
		buffers = append(buffers, memory.NewBufferBytes(c.text))
	case c.isInt:
		buffers = append(buffers, memory.NewBufferBytes(arrow.Int64Traits.CastToBytes(c.ints)))
	default:
		buffers = append(buffers, memory.NewBufferBytes(arrow.Int32Traits.CastToBytes(c.ends)), memory.NewBufferBytes(c.text))
	}
	data := array.NewData(c.arrow(false), values, buffers, nil, c.nulls, 0)
	defer data.Release()
	out := array.MakeFromData(data)
	if !runs {
		return out
	}
	defer out.Release()
	ends := array.NewData(runEnds, len(c.short), []*memory.Buffer{nil, memory.NewBufferBytes(arrow.Int16Traits.CastToBytes(c.short))}, nil, 0, 0)
	defer ends.Release()
	until := array.MakeFromData(ends)
	defer until.Release()
	return array.NewRunEndEncodedArray(until, out, rows, 0)
}

func (c *column) reset() {
	c.until, c.ints, c.ends, c.text, c.valid = c.until[:0], c.ints[:0], c.ends[:1], c.text[:0], c.valid[:0]
	c.from, c.null, c.int, c.n, c.nulls = 0, true, 0, 0, 0
}

// at is where the value of a row is, of a column that is finished.
func (c *column) at(row int) int {
	if !c.runs {
		return row
	}
	return sort.Search(len(c.until), func(k int) bool { return int(c.until[k]) > row })
}

func (c *column) textAt(k int) string  { return view(c.text[c.ends[k]:c.ends[k+1]]) }
func (c *column) bytesAt(k int) []byte { return c.text[k*c.width : (k+1)*c.width] }

// appendTo appends a column that is finished: how many values, runs, nulls and bytes of text, then, from the next multiple of eight on,
// what there is of them, the widest first.
func (c *column) appendTo(b []byte) []byte {
	for _, n := range [...]int{c.n, len(c.until), c.nulls, len(c.text)} {
		b = binary.AppendUvarint(b, uint64(n))
	}
	b = pad(b)
	b = append(b, arrow.Int64Traits.CastToBytes(c.ints)...)
	b = append(b, arrow.Int32Traits.CastToBytes(c.until)...)
	if c.hasEnds() {
		b = append(b, arrow.Int32Traits.CastToBytes(c.ends)...)
	}
	if b = append(b, c.text...); c.nulls > 0 {
		b = append(b, c.valid...)
	}
	return b
}

// pad appends zeros up to the next multiple of eight.
func pad(b []byte) []byte { return append(b, make([]byte, -len(b)&7)...) }

func (c *column) hasEnds() bool { return !c.isInt && c.width == 0 }

// view makes the column one that appendTo appended to b before the index at, and gives the index after it. It lies in b, which must begin
// at a multiple of eight, and takes in nothing more.
func (c *column) view(b []byte, at int) int {
	var head [4]int
	for i := range head {
		v, n := binary.Uvarint(b[at:])
		head[i], at = int(v), at+n
	}
	at += -at & 7
	bytes := func(n int) []byte {
		p := b[at : at+n : at+n]
		at += n
		return p
	}
	runs, text := head[1], head[3]
	c.n, c.nulls = head[0], head[2]
	c.ints, c.ends, c.valid = nil, nil, nil
	if c.isInt {
		c.ints = arrow.Int64Traits.CastFromBytes(bytes(8 * c.n))
	}
	c.until = arrow.Int32Traits.CastFromBytes(bytes(4 * runs))
	if c.hasEnds() {
		c.ends = arrow.Int32Traits.CastFromBytes(bytes(4 * (c.n + 1)))
	}
	if c.text = bytes(text); c.nulls > 0 {
		c.valid = bytes((c.n + 7) / 8)
	}
	return at
}

// stored is a column of a chunk as it was read. What is worked out for it is worked out when a cell is asked for: most readers ask
// for few columns.
type stored struct {
	ints  *array.Int64
	text  *array.String
	bytes *array.FixedSizeBinary // ids and digests
	until []int16                // the row after each run; nil if every row has a value of its own
	rows  int

	once sync.Once
	at   []int32 // by row: its run
	hex  []byte  // of bytes, as text, one after the other
}

// read takes in a column of a record batch; ok is false if it is of no type that a column has.
func (s *stored) read(a arrow.Array) (ok bool) {
	s.rows = a.Len()
	if r, is := a.(*array.RunEndEncoded); is {
		until, is := r.RunEndsArr().(*array.Int16)
		if !is || a.Len() > 0 && (until.Len() == 0 || int(until.Value(until.Len()-1)) < a.Len()) || until.Len() > r.Values().Len() {
			return false
		}
		s.until = until.Int16Values()
		a = r.Values()
	}
	switch v := a.(type) {
	case *array.String:
		s.text = v
	case *array.Int64:
		s.ints = v
	case *array.FixedSizeBinary:
		s.bytes = v
	default:
		return false
	}
	return true
}

// workOut finds the run of every row, or the text of every id or digest.
func (s *stored) workOut() {
	if s.until != nil {
		s.at = make([]int32, 0, s.rows)
		for run, end := range s.until {
			for len(s.at) < min(int(end), s.rows) {
				s.at = append(s.at, int32(run))
			}
		}
		return
	}
	for i := range s.bytes.Len() {
		if v := s.bytes.Value(i); len(v) == len(uuid.UUID{}) {
			s.hex = appendUUID(s.hex, v)
		} else {
			s.hex = hex.AppendEncode(s.hex, v)
		}
	}
}

// appendUUID appends the text form of RFC 9562, section 4.
func appendUUID(p []byte, u []byte) []byte {
	for i, part := range [...][]byte{u[:4], u[4:6], u[6:8], u[8:10], u[10:]} {
		if i > 0 {
			p = append(p, '-')
		}
		p = hex.AppendEncode(p, part)
	}
	return p
}

func (s *stored) cell(row int) Cell {
	switch {
	case s.bytes != nil:
		s.once.Do(s.workOut)
		width := len(s.hex) / s.bytes.Len()
		return Cell{Text: view(s.hex[row*width:][:width])}
	case len(s.until) == 1:
		row = 0
	case s.until != nil:
		s.once.Do(s.workOut)
		row = int(s.at[row])
	}
	if s.ints != nil {
		if s.ints.IsNull(row) {
			return Cell{Null: true}
		}
		return Cell{Int: s.ints.Value(row)}
	}
	if s.text.IsNull(row) {
		return Cell{Null: true}
	}
	return Cell{Text: s.text.Value(row)}
}
