// Package source turns a file into rows that know where they came from.
//
// Package open looks at the bytes, never at the name, and says in plain words what the file is. A Book has sheets (a text file is a
// book of one sheet); reading a sheet gives Blocks: columnar, some thousands of rows, cells as spans of shared memory, so
// that no cell costs an allocation.
//
// It promises: a cell keeps what the file holds (kind, raw value, number-format class); nothing is trimmed, converted,
// rounded or guessed; dates stay serial numbers until a mapping interprets them. Every fault is an *Error with the place and
// the remedy, never a panic, never a hang; limits hold before memory is spent. It refuses what it can't read right.
package source

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io"
	"strconv"

	"sheetlift/importers/digest"
)

// Kind is what a cell holds.
type Kind uint8

// The kinds. Empty text is Empty.
const (
	Empty Kind = iota
	Text
	Number
	Bool
	ErrorValue // #N/A and its like
)

// String gives the word that `sheetlift cells` prints.
func (k Kind) String() string {
	return [...]string{"empty", "text", "number", "bool", "error"}[k]
}

// Class is the class of a cell's number format.
type Class uint8

// The classes. Text files have only General.
const (
	General  Class = iota
	Date           // shows a day, no time
	DateTime       // shows a day and a time
	Time           // shows a time of day only
	Duration       // elapsed time, [h]:mm
	Percent
	Currency
	TextFormat // "@"
)

// String gives the word that `sheetlift cells` prints.
func (c Class) String() string {
	return [...]string{"general", "date", "datetime", "time", "duration", "percent", "currency", "text"}[c]
}

// Flags of a cell.
type Flags uint8

// A Formula cell's value is a cached result; NoCache means the formula has none (the cell is then Empty). ZeroPadded means
// the number format shows leading zeros that the value does not have. ISODate marks text of a t="d" cell. Shared tells that the
// span lies in the book's shared strings, not in the block.
const (
	Formula Flags = 1 << iota
	NoCache
	ZeroPadded
	ISODate
	Shared
)

// Cell is one cell as a span; Block.Bytes gives its raw value.
type Cell struct {
	Off, Len uint32
	Kind     Kind
	Class    Class
	Flags    Flags
}

// Block is some rows of one sheet, column by column. It is valid until the next call of Reader.Next.
// Rows that hold neither a value nor a formula without cached value are left out (their numbers are skipped), but text
// records are kept when they hold a delimiter or quotes.
type Block struct {
	RowNum  []int    // row number as the user sees it, from 1; for text files the record number, blank lines counted
	Line    []int    // physical line of the record's start, text files only, else nil
	Width   []int    // fields in the record, text files; highest used column, workbooks
	Cols    [][]Cell // [column][row in block]; every column has len(RowNum) cells
	Used    []int    // columns that have a cell in this block, ascending; the others are empty
	Records []Span   // the bytes of each record in the file, text files only, else nil
	Data    []byte   // what cells without Shared point into
	Strings []byte   // what cells with Shared point into
	Raw     []byte   // what Records point into
}

// Span is a part of Block.Raw.
type Span struct{ Off, Len uint32 }

// Rows is the number of rows in the block.
func (b *Block) Rows() int { return len(b.RowNum) }

// Cell returns the cell at column col (from 0) of row i of the block; a column that the block does not have is empty.
func (b *Block) Cell(col, i int) Cell {
	if col < 0 || col >= len(b.Cols) {
		return Cell{}
	}
	return b.Cols[col][i]
}

// Bytes returns the raw value of c: text as it is; a number as the file writes it; TRUE or FALSE; the error's code.
// The bytes are shared: copy them to keep them, never change them.
func (b *Block) Bytes(c Cell) []byte {
	data := b.Data
	if c.Flags&Shared != 0 {
		data = b.Strings
	}
	return data[c.Off : uint64(c.Off)+uint64(c.Len)]
}

// Record returns the bytes of record i in a text file, without its line end; nil for workbooks.
func (b *Block) Record(i int) []byte {
	if b.Records == nil {
		return nil
	}
	s := b.Records[i]
	return b.Raw[s.Off : uint64(s.Off)+uint64(s.Len)]
}

// RowDigest is SHA-256 over the typed, length-prefixed non-empty cells of row i. It tells two rows apart wherever they
// stand; the row number is no part of it.
func (b *Block) RowDigest(i int) [32]byte {
	var buf [1024]byte
	return sha256.Sum256(b.appendRow(buf[:0], i))
}

// AddRow adds to a batch what has RowDigest(i) for its SHA-256.
func (b *Block) AddRow(to *digest.Batch, i int) { to.Add(b.appendRow(to.Room(), i)) }

// appendRow appends what the digest of row i is taken of.
func (b *Block) appendRow(p []byte, i int) []byte {
	if b.Used == nil {
		for col := range b.Cols {
			p = b.appendCell(p, col, i)
		}
		return p
	}
	for _, col := range b.Used {
		p = b.appendCell(p, col, i)
	}
	return p
}

func (b *Block) appendCell(p []byte, col, i int) []byte {
	c := &b.Cols[col][i]
	if c.Kind == Empty {
		return p
	}
	v := b.Bytes(*c)
	if col < 0x80 && len(v) < 0x80 { // uvarints of one byte each
		p = append(p, byte(col), byte(c.Kind), byte(c.Class), byte(len(v)))
	} else {
		p = append(binary.AppendUvarint(p, uint64(col)), byte(c.Kind), byte(c.Class))
		p = binary.AppendUvarint(p, uint64(len(v)))
	}
	return append(p, v...)
}

// Visibility of a sheet.
type Visibility string

// The visibilities of ECMA-376 part 1, 18.18.68.
const (
	Visible    Visibility = "visible"
	Hidden     Visibility = "hidden"
	VeryHidden Visibility = "veryHidden"
)

// SheetInfo describes one sheet before it is read.
type SheetInfo struct {
	Name       string
	Visibility Visibility
	Kind       SheetKind
}

// SheetKind is what a sheet is. Only worksheets (and macro sheets) have cells; reading a chart sheet gives none.
type SheetKind string

// The kinds of sheets. A text file is a Worksheet.
const (
	Worksheet   SheetKind = "worksheet"
	ChartSheet  SheetKind = "chartsheet"
	DialogSheet SheetKind = "dialogsheet"
	MacroSheet  SheetKind = "macrosheet"
)

// Info describes a file.
type Info struct {
	Format    string // "xlsx", "csv"
	Said      string // in plain words: "Excel workbook (xlsx), 3 sheets", "text, semicolon-separated, UTF-8 with byte order mark"
	Charset   string // text files: "utf-8", "utf-16le", "utf-16be", "windows-1252"
	BOM       bool
	Delimiter string // text files: one of , ; TAB |
	Date1904  bool   // workbooks: day 0 is 1904-01-01
	LineEnds  string // text files: "LF", "CRLF", "CR", "mixed"
	SepLine   bool   // text files: the file begins with a sep= line
	SavedBy   string // workbooks: application named in docProps/app.xml, if any
	NotBy     string // workbooks: what speaks against it, in plain words, if anything

	Conversion *Conversion // nil unless another program converted the file
}

// Conversion says how a file in a format of another program became the workbook that was read. Both digests are SHA-256 in
// lower-case hex. A conversion is as good as its tool: the same version gives the same cells, another one need not.
type Conversion struct {
	Tool      string // "LibreOffice"
	Version   string // "7.4.7.2"
	Original  string // of the file
	Converted string // over the parts of the workbook that was read: each name and its packed bytes, without the zip's time stamps
}

// Options for Open.
type Options struct {
	Charset   string // declared charset of a text file; "" to detect (UTF-8 strictly, a byte order mark, UTF-16 by its NULs)
	Delimiter string // declared delimiter; "" to detect
	Password  string // of an encrypted workbook
	Limits    Limits // zero fields take the defaults
	// Parts, if not nil, is called with the name of each part of a workbook's package before the part is read, on whatever
	// goroutine. What it gives, if not nil, is written all decompressed bytes of the part as they come, and closed after the
	// last, when they have proved to be what the zip directory declares. An error of it ends reading.
	Parts func(part string) io.WriteCloser
}

// Book is an opened file.
type Book interface {
	Info() Info
	Sheets() []SheetInfo // in workbook order, hidden ones too
	// Read starts reading sheet i. Readers of one book may be used one after the other, not at once.
	Read(ctx context.Context, i int) (Reader, error)
	Close() error
}

// Converted is a Book that is read from other bytes than the file's.
type Converted interface {
	// Workbook gives those bytes, an xlsx package, for as long as the book is open.
	Workbook() (r io.ReaderAt, size int64)
}

// Reader gives the blocks of one sheet in the order of the file. That is row order in every workbook a spreadsheet program
// writes; rows that another producer put out of order keep their numbers, and a number that comes twice is refused.
type Reader interface {
	// Next returns the next block, or io.EOF after the last. The block is valid until the next call.
	Next() (*Block, error)
	// Facts is complete once Next has returned io.EOF.
	Facts() Facts
	Close() error
}

// Measured is a Reader that knows how much of its part or file was read.
type Measured interface {
	Reached() (done, whole int64)
}

// Expected is about how many rows a sheet has of which so many were read, in three digits; 0 if nothing tells.
func Expected(r Reader, rows int64) int64 {
	m, ok := r.(Measured)
	if !ok {
		return 0
	}
	done, whole := m.Reached()
	if done <= 0 || whole < done || rows <= 0 {
		return 0
	}
	all, unit := int64(float64(rows)*float64(whole)/float64(done)), int64(1)
	for all/unit >= 1000 {
		unit *= 10
	}
	return max(rows, (all+unit/2)/unit*unit)
}

// Facts are what reading a sheet found out besides its cells.
type Facts struct {
	Rows            int // rows that were given in blocks
	Cells           int // non-empty cells
	LastRow         int
	LastColumn      int
	Merged          int // merged ranges
	HiddenRows      int
	HiddenColumns   int
	Formulas        int
	FormulasNoCache int
	ErrorCells      int
	AutoFilter      bool
	Validations     int // data validations
	BlankLines      int // text files
	StrayQuotes     int // text files: quoted fields with text after the closing quote, which is kept as part of them
	StrayRow        int // of the first such field
	StrayColumn     int // of it, from 0
}

// What kind of fault an Error is; branch with errors.Is.
var (
	ErrEmpty       = errors.New("empty file")
	ErrEncrypted   = errors.New("encrypted workbook")
	ErrTruncated   = errors.New("truncated file")
	ErrMalformed   = errors.New("malformed file")
	ErrLimit       = errors.New("over a limit")
	ErrUnsupported = errors.New("unsupported format")
	ErrCharset     = errors.New("undecodable text")
	ErrUnreadable  = errors.New("unreadable file") // it isn't there, or the system refuses to read it
)

// Error is a fault of a file. Message says what happened, Remedy what to do next; neither holds a cell's value.
type Error struct {
	Kind    error // one of the sentinels above
	File    string
	Part    string // part of the package, if known
	Sheet   string
	Row     int
	Line    int
	Message string
	Remedy  string
	Err     error // cause, if any
}

// Error gives one sentence: place, what happened; the remedy is separate.
func (e *Error) Error() string {
	s := e.File
	if e.Sheet != "" {
		s += ", sheet " + strconv.Quote(e.Sheet)
	}
	if e.Row > 0 {
		s += ", row " + strconv.Itoa(e.Row)
	}
	if e.Line > 0 {
		s += ", line " + strconv.Itoa(e.Line)
	}
	if e.Part != "" {
		s += ", part " + strconv.Quote(e.Part)
	}
	return s + ": " + e.Message
}

// Unwrap makes errors.Is see the kind and the cause.
func (e *Error) Unwrap() []error {
	if e.Err != nil {
		return []error{e.Kind, e.Err}
	}
	return []error{e.Kind}
}

// Ref gives the A1 reference of column col (from 0) and row number row.
func Ref(col, row int) string { return Letters(col) + strconv.Itoa(row) }

// Letters gives the column letters of column col, from 0.
func Letters(col int) string {
	var a [8]byte
	i := len(a)
	for col++; col > 0; col = (col - 1) / 26 {
		i--
		a[i] = byte('A' + (col-1)%26)
	}
	return string(a[i:])
}
