package staged

import (
	"encoding/hex"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/google/uuid"

	"sheetlift/importers"
)

// column gathers the values of one column for a record batch and keeps its memory for the next. A builder of the Arrow library
// costs several calls a value, and a record has some fifty values.
type column struct {
	isInt bool
	ints  []int64
	ends  []int32 // of texts: where each begins, and where the last ends
	text  []byte
	valid []byte // bitmap, lowest bit first
	n     int
	nulls int
}

func newColumn(c importers.Column) column {
	return column{isInt: c.Storage == importers.AsInt, ends: make([]int32, 1, ChunkRows+1)}
}

func (c *column) appendText(s string) {
	c.text = append(c.text, s...)
	c.ends = append(c.ends, int32(len(c.text)))
	c.mark(1)
}

// appendHex appends bytes as lower-case hex.
func (c *column) appendHex(b []byte) {
	c.text = hex.AppendEncode(c.text, b)
	c.ends = append(c.ends, int32(len(c.text)))
	c.mark(1)
}

// appendUUID appends the text form of RFC 9562, section 4.
func (c *column) appendUUID(u *uuid.UUID) {
	for i, part := range [...][]byte{u[:4], u[4:6], u[6:8], u[8:10], u[10:]} {
		if i > 0 {
			c.text = append(c.text, '-')
		}
		c.text = hex.AppendEncode(c.text, part)
	}
	c.ends = append(c.ends, int32(len(c.text)))
	c.mark(1)
}

func (c *column) appendInt(v int64) {
	c.ints = append(c.ints, v)
	c.mark(1)
}

func (c *column) appendNull() {
	if c.isInt {
		c.ints = append(c.ints, 0)
	} else {
		c.ends = append(c.ends, int32(len(c.text)))
	}
	c.nulls++
	c.mark(0)
}

func (c *column) mark(valid byte) {
	if c.n&7 == 0 {
		c.valid = append(c.valid, 0)
	}
	c.valid[c.n>>3] |= valid << (c.n & 7)
	c.n++
}

// full reports whether the texts leave no room for another of any length that a field can have: offsets are 32 bits.
func (c *column) full() bool { return len(c.text) > 1<<30 }

// array gives the values as an Arrow array, which is valid until reset.
func (c *column) array() arrow.Array {
	buffers := []*memory.Buffer{nil}
	if c.nulls > 0 {
		buffers[0] = memory.NewBufferBytes(c.valid)
	}
	typ := arrow.DataType(arrow.BinaryTypes.String)
	if c.isInt {
		typ = arrow.PrimitiveTypes.Int64
		buffers = append(buffers, memory.NewBufferBytes(arrow.Int64Traits.CastToBytes(c.ints)))
	} else {
		buffers = append(buffers, memory.NewBufferBytes(arrow.Int32Traits.CastToBytes(c.ends)), memory.NewBufferBytes(c.text))
	}
	data := array.NewData(typ, c.n, buffers, nil, c.nulls, 0)
	defer data.Release()
	return array.MakeFromData(data)
}

func (c *column) reset() {
	c.ints, c.ends, c.text, c.valid = c.ints[:0], c.ends[:1], c.text[:0], c.valid[:0]
	c.n, c.nulls = 0, 0
}
