package source

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
)

// Spill keeps the blocks of a sheet, so that going over them again costs little more than copying them: no inflating, no XML.
// Up to a few MiB stay in memory; above that they lie in a file that was unlinked before its first byte and is gone however
// the process ends. It keeps cells, row numbers, lines and widths, not the bytes of a text file's records.
type Spill struct {
	file *os.File // nil: all of it is in held
	held []byte
	size int64
}

// spillInMemory is what stays in memory.
const spillInMemory = 4 * mib

// spillHead is the length of a block's head.
const spillHead = 5 * 4

// Add keeps a block.
func (s *Spill) Add(b *Block) error {
	from := len(s.held)
	s.held = appendBlock(s.held, b)
	if len(s.held)-from > math.MaxInt32 {
		return errors.New("a block is too large to be kept")
	}
	s.size += int64(len(s.held) - from)
	if len(s.held) < spillInMemory {
		return nil
	}
	if s.file == nil {
		f, err := os.CreateTemp("", "sheetlift-rows-*") // mode 0600
		if err != nil {
			return fmt.Errorf("keep rows in a temporary file: %w", err)
		}
		s.file = f
		if err := os.Remove(f.Name()); err != nil {
			return fmt.Errorf("keep rows in a temporary file: %w", err)
		}
	}
	if _, err := s.file.Write(s.held); err != nil {
		return fmt.Errorf("keep rows in a temporary file: %w", err)
	}
	s.held = s.held[:0]
	return nil
}

// Small reports whether all of it lies in memory.
func (s *Spill) Small() bool { return s.file == nil }

// Close gives all back.
func (s *Spill) Close() error {
	s.held = nil
	if s.file == nil {
		return nil
	}
	return s.file.Close()
}

// Replay gives the blocks in the order in which they were added. Nothing may be added once it is called. Several may be in use.
func (s *Spill) Replay() *Replay {
	r := &Replay{held: s.held}
	if s.file != nil {
		r.file = bufio.NewReaderSize(io.NewSectionReader(s.file, 0, s.size-int64(len(s.held))), 256<<10)
	}
	return r
}

// appendBlock appends what is kept of a block:
//
//	head     bytes after the head, bytes of text, rows, columns, 1 if there are lines (5 × uint32, little endian, as all numbers)
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
	for i, n := range [...]int{len(p) - head - spillHead, text, b.Rows(), len(b.Cols), lines} {
		binary.LittleEndian.PutUint32(p[head+4*i:], uint32(n))
	}
	return p
}

// Replay reads a Spill.
type Replay struct {
	file *bufio.Reader // first, if not nil
	held []byte
	own  Held
}

// Next gives the next block, or io.EOF after the last. It is valid until the next call.
func (r *Replay) Next() (*Block, error) {
	if err := r.Read(&r.own); err != nil {
		return nil, err
	}
	return r.own.Block(), nil
}

// Held is a kept block in memory of its own, which the next use reuses.
type Held struct {
	head  [spillHead]byte
	buf   []byte // own memory for raw
	raw   []byte // what follows the head
	block Block
	cols  [][]Cell // storage, by position in Used
	lines []int
	empty []Cell
}

// Read reads the next block into h, or returns io.EOF after the last. It is little work; h.Block is the rest.
func (r *Replay) Read(h *Held) error {
	if r.file != nil {
		switch _, err := io.ReadFull(r.file, h.head[:]); {
		case errors.Is(err, io.EOF):
			r.file = nil
		case err != nil:
			return fmt.Errorf("read kept rows: %w", err)
		}
	}
	if r.file == nil {
		if len(r.held) == 0 {
			return io.EOF
		}
		copy(h.head[:], r.held)
		end := spillHead + h.number(0)
		h.raw, r.held = r.held[spillHead:end], r.held[end:]
		return nil
	}
	n := h.number(0)
	if cap(h.buf) < n {
		h.buf = make([]byte, n+n/4)
	}
	h.raw = h.buf[:n]
	if _, err := io.ReadFull(r.file, h.raw); err != nil {
		return fmt.Errorf("read kept rows: %w", err)
	}
	return nil
}

func (h *Held) number(i int) int { return int(binary.LittleEndian.Uint32(h.head[4*i:])) }

// Block gives the block that was read. It is valid until h is read into again.
func (h *Held) Block() *Block {
	raw := h.raw
	get := func(at int) int { return int(binary.LittleEndian.Uint32(raw[at:])) }
	text, rows, columns := h.number(1), h.number(2), h.number(3)
	b := &h.block
	b.RowNum, b.Width, b.Used, h.lines = b.RowNum[:0], b.Width[:0], b.Used[:0], h.lines[:0]
	at := 0
	for range rows {
		b.RowNum = append(b.RowNum, get(at))
		b.Width = append(b.Width, get(at+4))
		h.lines = append(h.lines, get(at+8))
		at += 12
	}
	if b.Line = nil; h.number(4) == 1 {
		b.Line = h.lines
	}
	used := get(at)
	at += 4
	for len(h.empty) < rows {
		h.empty = append(h.empty, Cell{})
	}
	b.Cols = b.Cols[:0]
	for range columns {
		b.Cols = append(b.Cols, h.empty[:rows])
	}
	off := uint32(0)
	for k := range used {
		col := get(at)
		at += 4
		if k == len(h.cols) {
			h.cols = append(h.cols, nil)
		}
		if cap(h.cols[k]) < rows {
			h.cols[k] = make([]Cell, rows, max(rows, BlockRows))
		}
		cells := h.cols[k][:rows]
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
	b.Data = raw[at : at+text]
	return b
}
