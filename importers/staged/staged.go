// Package staged is the form in which checked records wait between the dry-run and the import: one Arrow IPC file per source
// and entity, columns as importers.Envelope followed by the entity's own.
//
// It promises that the same records in the same order give the same bytes (no clock, no random id, no path inside), so that a
// digest names them. It refuses to open a file whose SHA-256 is not the expected one, because a flipped byte in an IPC file can
// kill a reader or read as other data; bytes are checked and then read through one file descriptor.
package staged

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/google/uuid"

	"sheetlift/importers"
)

// ChunkRows is how many records one record batch of a staged file holds; it is also the unit that an import commits.
const ChunkRows = 4096

// envelope is how many columns importers.Envelope has; Append fills them by position.
const envelope = 10

// Columns returns the stored columns of a staged file of the entity.
func Columns(e *importers.Entity) []importers.Column {
	return append(importers.Envelope(), e.Columns()...)
}

// BaseVersion is the further column of a file of corrections: the version of the register's record that each was made against.
var BaseVersion = importers.Column{Name: "base_version", Storage: importers.AsInt, Field: -1, NotNull: true}

// Origin is where a record came from and who it is: the envelope of a staged record.
type Origin struct {
	ID, RecordID      uuid.UUID
	System, Key       string
	ContentDigest     [sha256.Size]byte
	FileDigest, Sheet string
	Row, Line         int
	RowDigest         [sha256.Size]byte

	// Block is the same of records in a row whose values lie in memory that none of them reuses: the same pointer is the same
	// value then. 0 if there is no telling.
	Block int
}

// Cell is one stored value: null, text or integer.
type Cell struct {
	Null bool
	Text string
	Int  int64
}

// Writer writes one staged file. Call Close to finish it, or Abort to remove it.
type Writer struct {
	file    *os.File
	path    string
	entity  *importers.Entity
	columns []importers.Column
	sink    *sink
	ipc     *ipc.FileWriter // nil before the first record batch
	schema  *arrow.Schema
	runs    []bool // by column: it is written as runs
	batch   *Part  // the records of the record batch
	rows    int
}

// Create makes a new staged file at path, mode 0600, with more columns after the entity's own. It fails if the file exists.
func Create(path string, e *importers.Entity, more ...importers.Column) (*Writer, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("create staged file: %w", err)
	}
	w := &Writer{file: f, path: path, entity: e, columns: append(Columns(e), more...), sink: newSink(f)}
	w.batch = newPart(e, w.columns)
	return w, nil
}

// begin writes the schema. A column in which the first record batch has no value is written as runs: most often none has.
func (w *Writer) begin() (err error) {
	var fields []arrow.Field
	for i, c := range w.columns {
		v := &w.batch.values[i]
		w.runs = append(w.runs, v.runs || v.width == 0 && v.blank())
		fields = append(fields, arrow.Field{Name: c.Name, Type: v.arrow(w.runs[i]), Nullable: !c.NotNull})
	}
	md := arrow.NewMetadata([]string{"sheetlift.entity", "sheetlift.version"}, []string{w.entity.Name, "3"})
	w.schema = arrow.NewSchema(fields, &md)
	w.ipc, err = ipc.NewFileWriter(w.sink, ipc.WithSchema(w.schema), ipc.WithAllocator(memory.DefaultAllocator))
	return err
}

// Append adds one record. derived holds the entity's derived columns in their order, then those that Create added. It copies what
// it takes, and keeps pointers to values only to know them again, see Origin.Block.
func (w *Writer) Append(o *Origin, rec *importers.Record, derived []Cell) error {
	w.batch.Append(o, rec, derived)
	w.rows++
	return w.flushFull()
}

// Take adds the records from index from to before index to of a part, as if each was appended. The part must be of the writer's
// entity and columns, and finished.
func (w *Writer) Take(p *Part, from, to int) error {
	for from < to {
		n := min(to-from, ChunkRows-w.batch.rows)
		w.batch.take(p, from, from+n)
		w.rows += n
		from += n
		if err := w.flushFull(); err != nil {
			return err
		}
	}
	return nil
}

func (w *Writer) flushFull() error {
	if w.batch.full || w.batch.rows == ChunkRows {
		return w.flush()
	}
	return nil
}

func (w *Writer) flush() error {
	n := w.batch.rows
	if w.ipc == nil {
		if err := w.begin(); err != nil {
			return fmt.Errorf("write staged file %s: %w", w.path, err)
		}
	}
	if n == 0 {
		return nil
	}
	arrays := make([]arrow.Array, len(w.batch.values))
	for i := range arrays {
		arrays[i] = w.batch.values[i].array(n, w.runs[i])
	}
	rec := array.NewRecord(w.schema, arrays, int64(n))
	err := w.ipc.Write(rec)
	rec.Release()
	for _, a := range arrays {
		a.Release()
	}
	w.batch.Reset()
	if err != nil {
		return fmt.Errorf("write staged file %s: %w", w.path, err)
	}
	return nil
}

// Close finishes the file and returns its rows and SHA-256. It does not wait for the disk: what is lost there, or cut short, is no file with that
// SHA-256 any more, and can be staged again to the byte.
func (w *Writer) Close() (rows int, digest string, err error) {
	if err = w.flush(); err == nil {
		err = w.ipc.Close()
	}
	if serr := w.sink.end(); err == nil {
		err = serr
	}
	if cerr := w.file.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return 0, "", fmt.Errorf("finish staged file %s: %w", w.path, err)
	}
	return w.rows, hex.EncodeToString(w.sink.hash.Sum(nil)), nil
}

// Abort closes and removes the file.
func (w *Writer) Abort() {
	_ = w.sink.end()
	w.file.Close()
	os.Remove(w.path)
}

// ErrChanged means that a staged file is not the one that was dry-run; branch with errors.Is.
var ErrChanged = errors.New("staged file changed since the dry-run")

// Reader reads a staged file chunk by chunk.
type Reader struct {
	file    *os.File
	ipc     *ipc.FileReader
	columns []importers.Column
	mem     *recycler
}

// Recycle makes every chunk take the memory of those that were released before it. Then nothing that a chunk gave, its texts least
// of all, may be used after its Release.
func (r *Reader) Recycle() { r.mem.on = true }

// Open opens the staged file at path after checking that its bytes have the SHA-256 want (hex). more are the columns that Create
// added.
func Open(path string, e *importers.Entity, want string, more ...importers.Column) (r *Reader, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open staged file: %w", err)
	}
	defer func() {
		if p := recover(); p != nil { // the Arrow reader panics on some corrupt input
			err = fmt.Errorf("staged file %s: %w: unreadable", path, ErrChanged)
		}
		if err != nil {
			f.Close()
		}
	}()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return nil, fmt.Errorf("read staged file: %w", err)
	}
	if got := hex.EncodeToString(h.Sum(nil)); got != want {
		return nil, fmt.Errorf("staged file %s: %w: SHA-256 is %s, the dry-run recorded %s", path, ErrChanged, got, want)
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, fmt.Errorf("read staged file: %w", err)
	}
	mem := &recycler{}
	in, err := ipc.NewFileReader(f, ipc.WithAllocator(mem))
	if err != nil {
		return nil, fmt.Errorf("read staged file %s: %w", path, err)
	}
	columns := append(Columns(e), more...)
	fields := in.Schema().Fields()
	if len(fields) != len(columns) {
		return nil, fmt.Errorf("staged file %s has %d columns, %s has %d: stage it again with this version (dryrun)", path, len(fields), e.Name, len(columns))
	}
	for i := range fields {
		if fields[i].Name != columns[i].Name {
			return nil, fmt.Errorf("staged file %s: column %d is %s, not %s: stage it again with this version (dryrun)", path, i+1, fields[i].Name, columns[i].Name)
		}
	}
	return &Reader{file: f, ipc: in, columns: columns, mem: mem}, nil
}

// Chunks is the number of chunks.
func (r *Reader) Chunks() int { return r.ipc.NumRecords() }

// Columns are the columns of the file.
func (r *Reader) Columns() []importers.Column { return r.columns }

// Chunk reads chunk i. Its values stay valid; call Release when done with it.
func (r *Reader) Chunk(i int) (*Chunk, error) {
	rec, err := r.ipc.RecordAt(i)
	if err != nil {
		return nil, fmt.Errorf("read staged file: %w", err)
	}
	c := &Chunk{rec: rec, columns: make([]stored, len(r.columns))}
	for k := range r.columns {
		if !c.columns[k].read(rec.Column(k)) {
			rec.Release()
			return nil, fmt.Errorf("staged file: column %s is %s: stage it again with this version (dryrun)", r.columns[k].Name, rec.Column(k).DataType())
		}
	}
	return c, nil
}

// Close closes the file.
func (r *Reader) Close() error {
	r.ipc.Close()
	return r.file.Close()
}

// Chunk is some records of a staged file.
type Chunk struct {
	rec     arrow.Record
	columns []stored
}

// Rows is the number of records.
func (c *Chunk) Rows() int { return int(c.rec.NumRows()) }

// Cell returns the value of column col of record row. Its text is valid until Release.
func (c *Chunk) Cell(col, row int) Cell { return c.columns[col].cell(row) }

// Release gives the memory back.
func (c *Chunk) Release() { c.rec.Release() }

// IsInt reports whether column col holds integers.
func (c *Chunk) IsInt(col int) bool { return c.columns[col].ints != nil }

// view is p as a string, without a copy: p does not change.
func view(p []byte) string { return unsafe.String(unsafe.SliceData(p), len(p)) }
