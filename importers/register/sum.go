package register

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/bits"
	"strings"

	"sheetlift/importers"
	"sheetlift/importers/staged"
	"sheetlift/pipeline/finding"
	"sheetlift/pipeline/store"
)

// Sum is an order-free, duplicate-aware digest of a set of rows: the sum modulo 2^256 of the rows' SHA-256, and how many there
// were. Sums of parts add up to the sum of the whole. It catches accidents, not forgery.
type Sum struct {
	Count int64
	limbs [4]uint64 // little-endian limbs
}

// Add adds one row's SHA-256.
func (s *Sum) Add(h [32]byte) {
	var carry uint64
	for i := range s.limbs {
		s.limbs[i], carry = bits.Add64(s.limbs[i], binary.BigEndian.Uint64(h[24-8*i:]), carry)
	}
	s.Count++
}

// AddHex adds one row's SHA-256 given in hex.
func (s *Sum) AddHex(digest string) error {
	var h [32]byte
	if n, err := hex.Decode(h[:], []byte(digest)); err != nil || n != 32 {
		return fmt.Errorf("not a SHA-256: %s", finding.Count(len(digest), "character", "characters"))
	}
	s.Add(h)
	return nil
}

// Hex gives the sum as 64 hex digits.
func (s *Sum) Hex() string {
	var b [32]byte
	for i, l := range s.limbs {
		binary.BigEndian.PutUint64(b[24-8*i:], l)
	}
	return hex.EncodeToString(b[:])
}

// hashed are the columns that a record's hash covers, in order: who it is, then its content. The version is none of them.
func hashed(e *importers.Entity) []string {
	names := []string{"id"}
	if e.Event {
		names = append(names, "record_id")
	}
	names = append(names, "system", "external_key", "content_digest")
	for _, c := range own(e) {
		names = append(names, c.Name)
	}
	return names
}

// recordHash hashes typed, length-prefixed cells: class first, then each column in order.
type recordHash struct{ buf []byte }

func (r *recordHash) start(class string) {
	r.buf = appendText(r.buf[:0], class)
}

func (r *recordHash) null()         { r.buf = append(r.buf, 'n') }
func (r *recordHash) text(s string) { r.buf = appendText(append(r.buf, 's'), s) }
func (r *recordHash) int(i int64) {
	r.buf = binary.BigEndian.AppendUint64(append(r.buf, 'i'), uint64(i))
}
func (r *recordHash) done() [32]byte { return sha256.Sum256(r.buf) }

// SumStaged adds up the records and the source rows of a chunk. A row that gave several records counts once: seen holds the
// rows already counted of this source.
func SumStaged(e *importers.Entity, cols []importers.Column, c *staged.Chunk, records *Sum, rows *Sum, seen map[int64]bool, skip func(id string) bool) error {
	at := positions(cols)
	names := hashed(e)
	var h recordHash
	for row := range c.Rows() {
		if skip != nil && skip(c.Cell(at["id"], row).Text) {
			continue
		}
		class := e.Name
		if e.Event {
			class = c.Cell(at["class"], row).Text
		}
		h.start(class)
		for _, n := range names {
			col := at[n]
			v := c.Cell(col, row)
			switch {
			case v.Null:
				h.null()
			case c.IsInt(col):
				h.int(v.Int)
			default:
				h.text(v.Text)
			}
		}
		records.Add(h.done())
		if n := c.Cell(at["row"], row).Int; !seen[n] {
			seen[n] = true
			if err := rows.AddHex(c.Cell(at["row_digest"], row).Text); err != nil {
				return fmt.Errorf("staged row digest: %w", err)
			}
		}
	}
	return nil
}

// SumRegister adds up what the register holds of one staged file: its records, and the source rows they came from, but for those
// that skip holds for.
func SumRegister(ctx context.Context, tx *store.Tx, e *importers.Entity, o Origin, records *Sum, rows *Sum, seen map[int64]bool, skip func(id string) bool) error {
	names := hashed(e)
	ints := map[string]bool{}
	for _, c := range own(e) {
		ints[c.Name] = c.Storage == importers.AsInt
	}
	var h recordHash
	for _, table := range e.Tables {
		class := e.Name
		if e.Event {
			class = strings.TrimSuffix(table, "s")
		}
		err := func() error {
			q := `
				SELECT p.row, p.row_digest, p.id, r.` + strings.Join(names, ", r.") + `
				FROM provenance p
				JOIN ` + table + ` r ON r.id = p.id
				WHERE p.tenant = $1 AND p.batch = $2 AND p.snapshot = $3 AND p.source = $4 AND p.entity = $5 AND p.staged_digest = $6`
			got, err := tx.Query(ctx, q, o.Tenant, o.Batch, o.Snapshot, o.Source, e.Name, o.StagedDigest)
			if err != nil {
				return err
			}
			defer got.Close()
			var row int64
			var rowDigest, id string
			dest := []any{&row, &rowDigest, &id}
			texts := make([]*string, len(names))
			nums := make([]*int64, len(names))
			for i, n := range names {
				if ints[n] {
					dest = append(dest, &nums[i])
				} else {
					dest = append(dest, &texts[i])
				}
			}
			for got.Next() {
				if err := got.Scan(dest...); err != nil {
					return err
				}
				if skip != nil && skip(id) {
					continue
				}
				h.start(class)
				for i := range names {
					switch {
					case nums[i] != nil:
						h.int(*nums[i])
					case texts[i] != nil:
						h.text(*texts[i])
					default:
						h.null()
					}
				}
				records.Add(h.done())
				if !seen[row] {
					seen[row] = true
					if err := rows.AddHex(rowDigest); err != nil {
						return err
					}
				}
			}
			return got.Err()
		}()
		if err != nil {
			return fmt.Errorf("read back %s: %w", table, err)
		}
	}
	return nil
}
