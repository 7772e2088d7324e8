package store

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5/pgtype"
)

func (tx *postgresTx) load(ctx context.Context, table string, columns []string, key string, src Source) (int64, error) {
	if key != "" {
		kept, err := tx.unheld(ctx, table, columns, key, src)
		if err != nil {
			return 0, err
		}
		if len(kept.values) == 0 {
			return 0, nil
		}
		src = kept
	}
	quoted := make([]string, len(columns))
	for i, c := range columns {
		quoted[i] = quoteName(c)
	}
	list := strings.Join(quoted, ", ")
	conn := tx.conn.Conn().PgConn()
	desc, err := conn.Prepare(ctx, "", "SELECT "+list+" FROM "+quoteName(table)+" LIMIT 0", nil)
	if err != nil {
		return 0, tx.mapError(ctx, err)
	}
	enc := &copyEncoder{src: src, columns: columns, row: make([]Value, len(columns))}
	for i, f := range desc.Fields {
		switch f.DataTypeOID {
		case pgtype.Int8OID, pgtype.Int4OID, pgtype.Int2OID, pgtype.TextOID, pgtype.VarcharOID, pgtype.ByteaOID:
			enc.types = append(enc.types, f.DataTypeOID)
		default:
			return 0, fmt.Errorf("column %s: bulk load knows BIGINT, INTEGER, SMALLINT, TEXT and BYTEA only", columns[i])
		}
	}
	tag, err := conn.CopyFrom(ctx, enc, "COPY "+quoteName(table)+" ("+list+") FROM STDIN (FORMAT binary)")
	if err := enc.stop(); err != nil {
		return 0, err
	}
	if err != nil {
		return 0, tx.mapError(ctx, err)
	}
	return tag.RowsAffected(), nil
}

// copyEncoder writes a Source in the binary COPY format (PostgreSQL manual, "COPY", Binary Format). The driver reads it on
// a goroutine of its own, which may outlive a broken CopyFrom; stop fences it off from the source.
type copyEncoder struct {
	mu       sync.Mutex
	src      Source
	columns  []string
	types    []uint32
	row      []Value
	buf      []byte // encoded, not yet read
	off      int
	started  bool
	ended    bool
	err      error
	panicked any
}

// copyBuffer is how much is encoded ahead: what the driver sends in one message.
const copyBuffer = 64 << 10

// errCopyStopped is all that the server's log gets to see of a failed load.
var errCopyStopped = errors.New("load stopped")

// Read implements io.Reader.
func (c *copyEncoder) Read(p []byte) (n int, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	defer func() {
		// A panic of the source must unwind the caller of Load, not end the process from the driver's goroutine.
		if r := recover(); r != nil {
			c.panicked = r
			c.ended, err = true, errCopyStopped
		}
	}()
	if c.off == len(c.buf) {
		c.fill()
	}
	if c.err != nil {
		return 0, errCopyStopped
	}
	if c.off == len(c.buf) {
		return 0, io.EOF
	}
	n = copy(p, c.buf[c.off:])
	c.off += n
	return n, nil
}

// stop ends reading from the source and tells why it ended early, if it did.
func (c *copyEncoder) stop() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = true
	if c.panicked != nil {
		panic(c.panicked)
	}
	return c.err
}

func (c *copyEncoder) fill() {
	c.buf, c.off = c.buf[:0], 0
	if c.ended {
		return
	}
	if !c.started {
		c.started = true
		c.buf = append(c.buf, "PGCOPY\n\xff\r\n\x00\x00\x00\x00\x00\x00\x00\x00\x00"...)
	}
	for len(c.buf) < copyBuffer {
		if !c.src.Next() {
			c.ended = true
			if err := c.src.Err(); err != nil {
				c.err = fmt.Errorf("read the rows to load: %w", err)
				return
			}
			c.buf = binary.BigEndian.AppendUint16(c.buf, 0xffff)
			return
		}
		c.src.Values(c.row)
		c.buf = binary.BigEndian.AppendUint16(c.buf, uint16(len(c.row)))
		for i := range c.row {
			if err := c.encode(i); err != nil {
				c.ended, c.err = true, fmt.Errorf("column %s: %w", c.columns[i], err)
				return
			}
		}
	}
}

func (c *copyEncoder) encode(i int) error {
	v := &c.row[i]
	if v.Kind == Null {
		c.buf = binary.BigEndian.AppendUint32(c.buf, math.MaxUint32) // length -1
		return nil
	}
	isText := c.types[i] == pgtype.TextOID || c.types[i] == pgtype.VarcharOID || c.types[i] == pgtype.ByteaOID
	switch {
	case v.Kind == Text && isText:
		if err := checkText(v.Text); err != nil {
			return err
		}
		c.buf = binary.BigEndian.AppendUint32(c.buf, uint32(len(v.Text)))
		c.buf = append(c.buf, v.Text...)
	case v.Kind == Int && isText:
		at := len(c.buf)
		c.buf = append(c.buf, 0, 0, 0, 0)
		c.buf = strconv.AppendInt(c.buf, v.Int, 10)
		binary.BigEndian.PutUint32(c.buf[at:], uint32(len(c.buf)-at-4))
	case v.Kind == Int:
		return c.encodeInt(i, v.Int)
	case v.Kind == Text:
		n, ok := parseInteger(v.Text)
		if !ok {
			return fmt.Errorf("%w: text for an integer column", ErrConstraint)
		}
		return c.encodeInt(i, n)
	default:
		return fmt.Errorf("value of unknown kind %d", v.Kind)
	}
	return nil
}

func (c *copyEncoder) encodeInt(i int, n int64) error {
	switch {
	case c.types[i] == pgtype.Int8OID:
		c.buf = binary.BigEndian.AppendUint32(c.buf, 8)
		c.buf = binary.BigEndian.AppendUint64(c.buf, uint64(n))
	case c.types[i] == pgtype.Int4OID && int64(int32(n)) == n:
		c.buf = binary.BigEndian.AppendUint32(c.buf, 4)
		c.buf = binary.BigEndian.AppendUint32(c.buf, uint32(int32(n)))
	case c.types[i] == pgtype.Int2OID && int64(int16(n)) == n:
		c.buf = binary.BigEndian.AppendUint32(c.buf, 2)
		c.buf = binary.BigEndian.AppendUint16(c.buf, uint16(int16(n)))
	default:
		return fmt.Errorf("%w: a number too large for the column", ErrConstraint)
	}
	return nil
}

// unheld gives the rows of src whose key the table does not hold. COPY itself can't leave rows out.
func (tx *postgresTx) unheld(ctx context.Context, table string, columns []string, key string, src Source) (*heldBack, error) {
	at := slices.Index(columns, key)
	all := &heldBack{width: len(columns)}
	var keys []string
	for src.Next() {
		n := len(all.values)
		all.values = append(all.values, make([]Value, len(columns))...)
		src.Values(all.values[n:])
		v := &all.values[n+at]
		if v.Kind != Text {
			return nil, fmt.Errorf("column %s: the key is no text", key)
		}
		if err := checkText(v.Text); err != nil {
			return nil, fmt.Errorf("column %s: %w", key, err)
		}
		keys = append(keys, v.Text)
	}
	if err := src.Err(); err != nil {
		return nil, fmt.Errorf("read the rows to load: %w", err)
	}
	rows, err := tx.tx.Query(ctx, "SELECT "+quoteName(key)+" FROM "+quoteName(table)+" WHERE "+quoteName(key)+" = ANY($1)", keys)
	if err != nil {
		return nil, tx.mapError(ctx, err)
	}
	defer rows.Close()
	held := map[string]bool{}
	for rows.Next() {
		held[string(rows.RawValues()[0])] = true
	}
	if err := rows.Err(); err != nil {
		return nil, tx.mapError(ctx, err)
	}
	if len(held) > 0 {
		kept := all.values[:0]
		for ; len(all.values) > 0; all.values = all.values[all.width:] {
			if !held[all.values[at].Text] {
				kept = append(kept, all.values[:all.width]...)
			}
		}
		all.values = kept
	}
	return all, nil
}

// heldBack is a Source of rows that were read before.
type heldBack struct {
	width  int
	values []Value
	begun  bool
}

func (s *heldBack) Next() bool {
	if s.begun {
		s.values = s.values[s.width:]
	}
	s.begun = true
	return len(s.values) > 0
}

func (s *heldBack) Values(dst []Value) { copy(dst, s.values[:s.width]) }
func (s *heldBack) Err() error         { return nil }
