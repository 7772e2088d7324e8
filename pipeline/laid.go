package pipeline

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"os"

	"github.com/google/uuid"

	"sheetlift/importers/source"
	"sheetlift/mappings"
)

// laidAside is what the survey of a source keeps for the decision, so that no value is read twice: of an accepted row that says
// nothing odd its records with their ids and digests, of any other row its cells. Memory does not grow with it.
type laidAside struct {
	rows  source.Stash     // a piece for each block, see laidRows
	odd   source.Spill     // the other rows, a block for each piece that has some
	plans []*mappings.Plan // that put blocks through
}

func (l *laidAside) close() {
	_ = l.rows.Close() // unlinked files: nothing is lost with them
	_ = l.odd.Close()
}

// laidRows is a block of rows that is laid aside:
//
//	the plan that put the rows through, by its number, the number of other rows, and of rows
//	of each row: twice the distance of its number to that of the row before, 1 more if it is another row; its line
//	of an accepted row: its digest, the number of its records, then each record as its plan has it, and its ids
//
// Numbers are uvarints, the first of a row a varint: rows need not be in order.
type laidRows struct {
	plan  int
	piece []byte
	odd   []int // other rows: indexes in the block
	again mappings.Rows
	recs  []mappings.RecordOut
}

// recordIDs are who a record is.
type recordIDs struct {
	uid, recordUID uuid.UUID
	content        [sha256.Size]byte
}

// lay puts what is kept of a block into its piece.
func (p *passed) lay(number int, plan *mappings.Plan) {
	l := &p.laid
	l.odd = l.odd[:0]
	for i := range p.list {
		if x := &p.list[i]; x.odd() {
			l.odd = append(l.odd, x.row.Index)
		}
	}
	put := binary.AppendUvarint
	out := put(put(put(l.piece[:0], uint64(number)), uint64(len(l.odd))), uint64(len(p.list)))
	last := 0
	for i := range p.list {
		x := &p.list[i]
		n := int64(x.row.Num-last) * 2
		last = x.row.Num
		if x.odd() {
			out = binary.AppendVarint(out, n+1)
			continue
		}
		out = binary.AppendVarint(out, n)
		out = append(put(out, uint64(x.row.Line)), x.digest[:]...)
		out = put(out, uint64(len(x.records)))
		for k := range x.records {
			rec := &x.records[k]
			out = plan.AppendRecord(out, rec.RecordOut)
			out = append(append(out, rec.content[:]...), rec.recordUID[:]...)
			if rec.Entity.Event {
				out = append(out, rec.uid[:]...)
			}
		}
	}
	l.piece = out
}

// take lays a block aside. Blocks come in their order.
func (l *laidAside) take(p *passed) error {
	err := l.rows.Add(p.laid.piece)
	if err == nil && len(p.laid.odd) > 0 {
		err = l.odd.Add(p.block.Pick(p.laid.odd))
	}
	if err != nil {
		return noRoomForRows(err)
	}
	return nil
}

func noRoomForRows(err error) error {
	return &FileError{Path: os.TempDir(), Message: pathless(err), Remedy: "make room there, or set TMPDIR to a folder with room", Err: err}
}

// feed hands over what was laid aside.
func (l *laidAside) feed() feed {
	return func(_ context.Context, to hand) error {
		rows, odd := l.rows.Replay(), l.odd.Replay()
		return untilEOF(func() error {
			return to(func(p *passed) (err error) {
				if p.laid.piece, err = rows.Next(p.laid.piece); err != nil { // texts of the records lie in it until the block is done
					return err
				}
				head := mappings.NewKept(p.laid.piece)
				if p.laid.plan = int(head.Uvarint()); head.Uvarint() > 0 {
					return odd.Read(&p.held)
				}
				return nil
			})
		})
	}
}

// recaller reads back what was laid aside, on one goroutine.
type recaller struct {
	*dryRunner
	sh    *sheet
	laid  *laidAside
	plan  *mappings.Plan // what the others are judged by once more
	reads []*mappings.Recall
}

// block reads a block.
func (r *recaller) block(p *passed) error {
	for len(r.reads) <= p.laid.plan {
		r.reads = append(r.reads, mappings.NewRecall(r.laid.plans[len(r.reads)]))
	}
	read := r.reads[p.laid.plan]
	k := mappings.NewKept(p.laid.piece)
	_ = k.Uvarint()
	if k.Uvarint() > 0 {
		if r.plan == nil { // its own: the others' are read from
			var err error
			if r.plan, err = r.laid.plans[0].Clone(); err != nil {
				return err
			}
		}
		p.block = p.held.Block()
		r.plan.Keep(p.block, &p.rows)
	}
	l := &p.laid
	l.again.Reset()
	odd, num, rows := 0, 0, int(k.Uvarint())
	var ids []recordIDs
	for range rows {
		n := k.Varint()
		num += int(n >> 1)
		if n&1 == 1 {
			r.passRow(r.sh, p, &p.rows.List[odd], p.rows.Findings(odd))
			odd++
			continue
		}
		row := mappings.Row{Num: num, Line: int(k.Uvarint())}
		digest := [sha256.Size]byte([]byte(k.Bytes(sha256.Size)))
		l.recs, ids = l.recs[:0], ids[:0]
		for range k.Uvarint() {
			rec := read.Record(&k, &l.again)
			l.recs = append(l.recs, rec)
			id := recordIDs{content: [sha256.Size]byte([]byte(k.Bytes(sha256.Size))), recordUID: uuid.UUID([]byte(k.Bytes(len(uuid.UUID{}))))}
			if id.uid = id.recordUID; rec.Entity.Event {
				id.uid = uuid.UUID([]byte(k.Bytes(len(uuid.UUID{}))))
			}
			ids = append(ids, id)
		}
		r.passAccepted(r.sh, p, passedRow{row: l.again.Add(row, l.recs), digest: digest}, func(k int) recordIDs { return ids[k] })
	}
	return nil
}
