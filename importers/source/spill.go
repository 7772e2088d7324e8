package source

import "encoding/binary"

// Spill keeps the blocks of a sheet, so that going over them again costs little more than copying them: no inflating, no XML. It
// keeps cells, row numbers, lines and widths, not the bytes of a text file's records.
type Spill struct {
	stash Stash
	buf   []byte
}

// spillHead is the length of a block's head.
const spillHead = 4 * 4

// Add keeps a block.
func (s *Spill) Add(b *Block) error {
	s.buf = appendBlock(s.buf[:0], b)
	return s.stash.Add(s.buf)
}

// Close gives all back.
func (s *Spill) Close() error {
	s.buf = nil
	return s.stash.Close()
}

// Replay gives the blocks in the order in which they were added. Nothing may be added once it is called. Several may be in use.
func (s *Spill) Replay() *Replay { return &Replay{in: s.stash.Replay()} }

// appendBlock appends what is kept of a block:
//
//	head     bytes of text, rows, columns, 1 if there are lines (4 × uint32, little endian, as all numbers)
//	rows     row number, width and line of each (3 × uint32)
//	columns  number of used columns, then each: its index (uint32), then of each row kind and flags (1 byte each), the class (1
//	         byte) and the length (uvarint) if there is a cell
//	text     the values, column by column
func appendBlock(p []byte, b *Block) []byte {
	head := len(p)
	p = append(p, make([]byte, spillHead)...)
	put := binary.LittleEndian.AppendUint32
	for i, row := range b.RowNum {
		p = put(p, uint32(row))
		width, line := 0, 0
		if i < len(b.Width) {
			width = b.Width[i]
		}
		if b.Line != nil {
			line = b.Line[i]
		}
		p = put(put(p, uint32(width)), uint32(line))
	}
	p = put(p, uint32(len(b.Used)))
	text := 0
	for _, col := range b.Used {
		p = put(p, uint32(col))
		for i := range b.Cols[col] {
			c := &b.Cols[col][i]
			p = append(p, byte(c.Kind), byte(c.Flags&^Shared))
			if c.Kind != Empty {
				p = append(p, byte(c.Class))
				p = binary.AppendUvarint(p, uint64(c.Len))
				text += int(c.Len)
			}
		}
	}
	for _, col := range b.Used {
		for i := range b.Cols[col] {
			if c := &b.Cols[col][i]; c.Kind != Empty {
				p = append(p, b.Bytes(*c)...)
			}
		}
	}
	lines := 0
	if b.Line != nil {
		lines = 1
	}
	for i, n := range [...]int{text, b.Rows(), len(b.Cols), lines} {
		binary.LittleEndian.PutUint32(p[head+4*i:], uint32(n))
	}
	return p
}

// Replay reads a Spill.
type Replay struct {
	in  *StashReader
	own Held
}

// Next gives the next block, or io.EOF after the last. It is valid until the next call.
func (r *Replay) Next() (*Block, error) {
	if err := r.Read(&r.own); err != nil {
		return nil, err
	}
	return r.own.Block(), nil
}

// Held is a block in memory of its own, which the next use reuses.
type Held struct {
	buf    []byte // own memory for raw
	raw    []byte // as it was kept
	block  Block
	copied bool     // the block is there as it is
	cols   [][]Cell // storage, by position in Used
	lines  []int
	empty  []Cell
}

// Read reads the next block into h, or returns io.EOF after the last. It is little work; h.Block is the rest.
func (r *Replay) Read(h *Held) (err error) {
	h.copied = false
	h.raw, err = r.in.Next(h.buf)
	if r.in.file != nil {
		h.buf = h.raw
	}
	return err
}

// Copy takes in a block of a reader, or some rows of one; the reader may go on. Shared strings are not copied: they stay with the book.
func (h *Held) Copy(b *Block) {
	k := &h.block
	k.RowNum, k.Width, k.Used = append(k.RowNum[:0], b.RowNum...), append(k.Width[:0], b.Width...), append(k.Used[:0], b.Used...)
	h.lines = append(h.lines[:0], b.Line...)
	if k.Line = nil; b.Line != nil {
		k.Line = h.lines
	}
	h.columns(len(b.Cols), b.Rows())
	from, to := uint32(len(b.Data)), uint32(0) // what the rows have of the block's own text
	for i, col := range b.Used {
		cells := h.column(i, b.Rows())
		k.Cols[col] = cells
		copy(cells, b.Cols[col])
		for n := range cells {
			c := &cells[n]
			if c.Kind != Empty && c.Flags&Shared == 0 {
				from, to = min(from, c.Off), max(to, c.Off+c.Len)
			}
		}
	}
	h.buf = h.buf[:0]
	if from < to {
		h.buf = append(h.buf, b.Data[from:to]...)
		for _, col := range b.Used {
			for n := range k.Cols[col] {
				if c := &k.Cols[col][n]; c.Kind != Empty && c.Flags&Shared == 0 {
					c.Off -= from
				}
			}
		}
	}
	k.Data, k.Strings = h.buf, b.Strings
	h.copied = true
}

// Pick gives the block of some rows of b, in their order. It shares the memory of b.
func (b *Block) Pick(rows []int) *Block {
	k := &Block{Cols: make([][]Cell, len(b.Cols)), Used: b.Used, Data: b.Data, Strings: b.Strings}
	empty := make([]Cell, len(rows))
	for col := range k.Cols {
		k.Cols[col] = empty
	}
	for _, col := range b.Used {
		k.Cols[col] = make([]Cell, len(rows))
		for i, row := range rows {
			k.Cols[col][i] = b.Cols[col][row]
		}
	}
	for _, row := range rows {
		k.RowNum = append(k.RowNum, b.RowNum[row])
		if row < len(b.Width) {
			k.Width = append(k.Width, b.Width[row])
		}
		if b.Line != nil {
			k.Line = append(k.Line, b.Line[row])
		}
	}
	return k
}

// columns makes columns without any cell.
func (h *Held) columns(n, rows int) {
	for len(h.empty) < rows {
		h.empty = append(h.empty, Cell{})
	}
	h.block.Cols = h.block.Cols[:0]
	for range n {
		h.block.Cols = append(h.block.Cols, h.empty[:rows])
	}
}

// column gives room for the cells of the k-th used column.
func (h *Held) column(k, rows int) []Cell {
	if k == len(h.cols) {
		h.cols = append(h.cols, nil)
	}
	if cap(h.cols[k]) < rows {
		h.cols[k] = make([]Cell, rows, max(rows, BlockRows))
	}
	return h.cols[k][:rows]
}

func (h *Held) number(i int) int { return int(binary.LittleEndian.Uint32(h.raw[4*i:])) }

// Block gives the block that was read. It is valid until h is read into again.
func (h *Held) Block() *Block {
	if h.copied {
		return &h.block
	}
	raw := h.raw[spillHead:]
	get := func(at int) int { return int(binary.LittleEndian.Uint32(raw[at:])) }
	text, rows, columns := h.number(0), h.number(1), h.number(2)
	b := &h.block
	b.RowNum, b.Width, b.Used, h.lines = b.RowNum[:0], b.Width[:0], b.Used[:0], h.lines[:0]
	at := 0
	for range rows {
		b.RowNum = append(b.RowNum, get(at))
		b.Width = append(b.Width, get(at+4))
		h.lines = append(h.lines, get(at+8))
		at += 12
	}
	if b.Line = nil; h.number(3) == 1 {
		b.Line = h.lines
	}
	used := get(at)
	at += 4
	h.columns(columns, rows)
	off := uint32(0)
	for k := range used {
		col := get(at)
		at += 4
		cells := h.column(k, rows)
		for i := range cells {
			c := Cell{Kind: Kind(raw[at]), Flags: Flags(raw[at+1])}
			at += 2
			if c.Kind != Empty {
				c.Class = Class(raw[at])
				n := uint64(raw[at+1])
				at += 2
				if n >= 0x80 {
					long, size := binary.Uvarint(raw[at-1:])
					n = long
					at += size - 1
				}
				c.Off, c.Len = off, uint32(n)
				off += uint32(n)
			}
			cells[i] = c
		}
		b.Cols[col] = cells
		b.Used = append(b.Used, col)
	}
	b.Data, b.Strings = raw[at:at+text], nil
	return b
}
