package source

// BlockRows is the most rows a Builder puts into a block.
const BlockRows = 4096

// maxSlots bounds rows times used columns of a block (12 bytes a slot), so that one cell in column XFD costs nothing and a
// sheet that uses all columns gets blocks of few rows.
const maxSlots = 1 << 18

// maxBlockData is the size of a block's Data after which the block ends.
const maxBlockData = 4 * mib

// Builder fills one block row by row and reuses its memory for the next one. The readers of formats use it; a Builder
// belongs to one Reader.
//
// A column costs memory only in blocks where it has a cell; all other columns share one run of empty cells.
type Builder struct {
	Data []byte // append values here, then Put a cell that points to them

	block Block
	row   int      // index of the row being filled
	width int      // highest used column + 1 in the row being filled
	any   bool     // the row being filled has a cell
	cols  [][]Cell // by column; nil where the column has no cell in this block
	used  []int    // columns that have a cell in this block, in order of appearance
	free  [][]Cell // storage of columns of earlier blocks
	empty []Cell   // the shared empty column
	text  bool     // records of a text file: Line and Records are filled too
}

// NewBuilder makes a Builder for rows of a sheet, or of a text file.
func NewBuilder(text bool) *Builder {
	return &Builder{text: text, empty: make([]Cell, BlockRows)}
}

// Reset begins a new block; what the last one handed out is invalid from now on.
func (b *Builder) Reset() {
	for _, col := range b.used {
		clear(b.cols[col])
		b.free = append(b.free, b.cols[col])
		b.cols[col] = nil
	}
	if kept := 0; len(b.free) > 128 {
		// Alternating narrow and wide blocks would leave each of 16,384 columns with room for 2,048 rows.
		for i, column := range b.free {
			if kept += len(column); kept > 4*maxSlots {
				clear(b.free[i:])
				b.free = b.free[:i]
				break
			}
		}
	}
	b.used = b.used[:0]
	b.row, b.width, b.any = 0, 0, false
	b.Data = b.Data[:0]
	k := &b.block
	k.RowNum, k.Line, k.Width, k.Records = k.RowNum[:0], k.Line[:0], k.Width[:0], k.Records[:0]
}

// Put puts a cell into column col (from 0) of the row being filled and reports whether the place was free.
func (b *Builder) Put(col int, c Cell) bool {
	return b.PutSpan(col, c.Off, c.Len, c.Kind, c.Class, c.Flags)
}

// PutSpan is Put, with the cell in parts: a struct of five fields is passed through memory, written in parts and read as a
// whole, which costs more than all the rest of Put.
func (b *Builder) PutSpan(col int, off, length uint32, kind Kind, class Class, flags Flags) bool {
	if uint(col) >= uint(len(b.cols)) || uint(b.row) >= uint(len(b.cols[col])) {
		b.room(col)
	}
	at := &b.cols[col][b.row]
	if at.Kind|Kind(at.Flags) != 0 {
		return false
	}
	at.Off, at.Len, at.Kind, at.Class, at.Flags = off, length, kind, class, flags
	b.any = true
	b.width = max(b.width, col+1)
	return true
}

// Row gives the columns that have room, and the index of the row being filled in them, for a reader that writes cells into
// free places itself; what has no place there it Puts. EndRecord then ends the row. Both hold until the next Put or end of a row.
func (b *Builder) Row() (cols [][]Cell, row int) { return b.cols, b.row }

// room makes the place of column col in the row being filled.
func (b *Builder) room(col int) {
	for len(b.cols) <= col {
		b.cols = append(b.cols, nil)
	}
	column := b.cols[col]
	if column == nil {
		if n := len(b.free); n > 0 {
			column, b.free = b.free[n-1], b.free[:n-1]
		}
		b.used = append(b.used, col)
	}
	if b.row >= len(column) {
		grown := make([]Cell, min(BlockRows, max(16, 2*len(column), b.row+1)))
		copy(grown, column)
		column = grown
	}
	b.cols[col] = column
}

// At gives the cell in column col of the row being filled.
func (b *Builder) At(col int) Cell {
	if col >= len(b.cols) || b.row >= len(b.cols[col]) {
		return Cell{}
	}
	return b.cols[col][b.row]
}

// Filled reports whether the row being filled has a cell.
func (b *Builder) Filled() bool { return b.any }

// EndRow ends the row being filled and keeps it.
func (b *Builder) EndRow(num int) {
	b.block.RowNum = append(b.block.RowNum, num)
	b.block.Width = append(b.block.Width, b.width)
	b.row++
	b.width, b.any = 0, false
}

// EndRecord ends the row being filled as a record of a text file: it begins on a physical line, has so many fields, and
// stands at raw in the block's Raw.
func (b *Builder) EndRecord(num, line, fields int, raw Span) {
	b.width = fields
	b.EndRow(num)
	b.block.Line = append(b.block.Line, line)
	b.block.Records = append(b.block.Records, raw)
}

// DropRow forgets the cells of the row being filled.
func (b *Builder) DropRow() {
	for _, col := range b.used {
		if b.row < len(b.cols[col]) {
			b.cols[col][b.row] = Cell{}
		}
	}
	b.width, b.any = 0, false
}

// Rows is the number of rows ended so far.
func (b *Builder) Rows() int { return b.row }

// Full reports whether the block should be handed out before another row is begun.
func (b *Builder) Full() bool {
	return b.row >= BlockRows || len(b.Data) >= maxBlockData || (b.row+1)*len(b.used) > maxSlots && b.row > 0
}

// Block hands out what was filled. Strings and Raw are what the format keeps outside the block.
func (b *Builder) Block(strings, raw []byte) *Block {
	k := &b.block
	k.Data, k.Strings, k.Raw = b.Data, strings, raw
	if !b.text {
		k.Line, k.Records = nil, nil
	}
	width := 0
	for _, col := range b.used {
		width = max(width, col+1)
	}
	k.Used = k.Used[:0]
	if cap(k.Cols) < width {
		k.Cols = make([][]Cell, width)
	}
	k.Cols = k.Cols[:width]
	for col := range k.Cols {
		column := b.cols[col]
		if column == nil {
			k.Cols[col] = b.empty[:b.row]
			continue
		}
		if len(column) < b.row {
			grown := make([]Cell, b.row)
			copy(grown, column)
			b.cols[col], column = grown, grown
		}
		k.Cols[col] = column[:b.row]
		k.Used = append(k.Used, col)
	}
	return k
}
