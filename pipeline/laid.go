package pipeline

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"os"
	"slices"
	"sync"

	"github.com/google/uuid"

	"sheetlift/importers"
	"sheetlift/importers/source"
	"sheetlift/importers/staged"
	"sheetlift/mappings"
)

// laidAside is what the survey of a source keeps for the decision, so that no value is read twice: of a row whose record is gathered
// what will be staged, of another accepted row that says nothing odd its records with their ids and digests, of any other row its
// cells. Memory does not grow with it.
type laidAside struct {
	rows   source.Stash     // a piece for each block, see laidRows
	odd    source.Spill     // the other rows, a block for each piece that has some
	plans  []*mappings.Plan // that put blocks through
	aheads []*ahead         // that decided them; nil if none did
	going  sync.WaitGroup
}

// letGo closes it beside what comes next: a system takes its time to give back a large file.
func (l *laidAside) letGo() { l.going.Go(l.close) }

func (l *laidAside) close() {
	_ = l.rows.Close() // unlinked files: nothing is lost with them
	_ = l.odd.Close()
}

// laidRows is a block of rows that is laid aside:
//
//	the worker that put the rows through, by its number, the number of other rows, and of rows (uint32 each)
//	of each row: what it is (see laidRecords), then
//	of a gathered one: its kind, the number of its keys, and their digests
//	of any other: the distance of its number to that of the last row that was not gathered
//	of one with its records: its line, its digest, the number of its records, then each record as its plan has it, and its ids
//	the gathered records, if there are any, as a part
//
// Numbers are uvarints, distances varints: rows need not be in order.
type laidRows struct {
	worker int
	piece  []byte
	odd    []int // other rows: indexes in the block
	rows   int
	last   int // the number of the last row that is not gathered
	again  mappings.Rows
	recs   []mappings.RecordOut
	ids    []recordIDs
	links  []importers.LinkKey
}

// What a laid row is.
const (
	laidRecords = iota
	laidOdd
	laidGathered
)

// recordIDs are who a record is.
type recordIDs struct {
	uid, recordUID uuid.UUID
	content        [sha256.Size]byte
}

const laidHead = 12

// begin begins the piece of a block.
func (l *laidRows) begin(worker int) {
	l.piece = append(binary.LittleEndian.AppendUint32(l.piece[:0], uint32(worker)), make([]byte, laidHead-4)...)
	l.odd, l.rows, l.last = l.odd[:0], 0, 0
}

// lay puts what is kept of some rows into the piece.
func (l *laidRows) lay(list []passedRow, plan *mappings.Plan) {
	put := binary.AppendUvarint
	out := l.piece
	l.rows += len(list)
	for i := range list {
		x := &list[i]
		if x.gathered > 0 {
			links := x.records[0].links
			out = append(put(append(out, laidGathered), uint64(x.kind)), byte(len(links)))
			for _, k := range links {
				out = k.AppendTo(out)
			}
			continue
		}
		away := int64(x.row.Num - l.last)
		l.last = x.row.Num
		if x.odd() {
			out = binary.AppendVarint(append(out, laidOdd), away)
			l.odd = append(l.odd, x.row.Index)
			continue
		}
		out = binary.AppendVarint(append(out, laidRecords), away)
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

// end ends the piece.
func (l *laidRows) end(decides *ahead) {
	binary.LittleEndian.PutUint32(l.piece[4:], uint32(len(l.odd)))
	binary.LittleEndian.PutUint32(l.piece[8:], uint32(l.rows))
	if decides != nil {
		l.piece = decides.end(l.piece)
	}
}

// open reads the head of a piece.
func (l *laidRows) open() (odd, rows int, k mappings.Kept) {
	l.worker = int(binary.LittleEndian.Uint32(l.piece))
	return int(binary.LittleEndian.Uint32(l.piece[4:])), int(binary.LittleEndian.Uint32(l.piece[8:])), mappings.NewKept(l.piece[laidHead:])
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
		rows, odd := l.rows.Drain(), l.odd.Replay()
		return untilEOF(func() error {
			return to(func(p *passed) (err error) {
				if p.laid.piece, err = rows.Next(p.laid.piece); err != nil { // texts of the records lie in it until the block is done
					return err
				}
				if odds, _, _ := p.laid.open(); odds > 0 {
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
	sh      *sheet
	laid    *laidAside
	decider *decider
	plan    *mappings.Plan // what the others are judged by once more
	reads   []*mappings.Recall
}

// block reads a block.
func (r *recaller) block(p *passed) error {
	odds, rows, k := p.laid.open()
	for len(r.reads) <= p.laid.worker {
		r.reads = append(r.reads, mappings.NewRecall(r.laid.plans[len(r.reads)]))
	}
	read := r.reads[p.laid.worker]
	if odds > 0 {
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
	g := &p.gathered
	g.kinds = g.kinds[:0]
	odd, num := 0, 0
	for range rows {
		what := k.Byte()
		if what == laidGathered {
			r.gathered(p, &k)
			continue
		}
		num += int(k.Varint())
		if what == laidOdd {
			r.passRow(r.sh, p, &p.rows.List[odd], p.rows.Findings(odd))
			odd++
		} else {
			r.records(p, read, mappings.Row{Num: num, Line: int(k.Uvarint())}, &k)
		}
		p.list[len(p.list)-1].after = len(g.kinds)
	}
	if len(g.kinds) > 0 {
		if g.part == nil {
			g.part = staged.NewView(gatheredEntity)
		}
		g.part.See(l.piece, laidHead+k.At())
		r.recall(p)
	}
	return nil
}

// records reads an accepted row with its records.
func (r *recaller) records(p *passed, read *mappings.Recall, row mappings.Row, k *mappings.Kept) {
	l := &p.laid
	digest := [sha256.Size]byte([]byte(k.Bytes(sha256.Size)))
	l.recs, l.ids = l.recs[:0], l.ids[:0]
	for range k.Uvarint() {
		rec := read.Record(k, &l.again)
		l.recs = append(l.recs, rec)
		id := recordIDs{content: [sha256.Size]byte([]byte(k.Bytes(sha256.Size))), recordUID: uuid.UUID([]byte(k.Bytes(len(uuid.UUID{}))))}
		if id.uid = id.recordUID; rec.Entity.Event {
			id.uid = uuid.UUID([]byte(k.Bytes(len(uuid.UUID{}))))
		}
		l.ids = append(l.ids, id)
	}
	p.list = append(p.list, passedRow{row: l.again.Add(row, l.recs), digest: digest})
	r.giveRecords(r.sh, p, &p.list[len(p.list)-1], func(k int) recordIDs { return l.ids[k] })
}

// gathered reads what a gathered row has beside its record. If something is said about its subject, it may have to be decided on its own.
func (r *recaller) gathered(p *passed, k *mappings.Kept) {
	l, g := &p.laid, &p.gathered
	g.kinds = append(g.kinds, r.laid.aheads[l.worker].kinds[k.Uvarint()])
	l.links = l.links[:0]
	for range k.Byte() {
		l.links = append(l.links, importers.ReadLinkKey([]byte(k.Bytes(importers.LinkKeyBytes))))
	}
	if subject := r.facts.links.SubjectOf(l.links); len(subject.Places) > 0 {
		p.list = append(p.list, passedRow{gathered: len(g.kinds), after: len(g.kinds) - 1, subject: subject, about: r.facts.about(subject)})
	}
}

// recall puts the gathered rows together again that something said about their subjects concerns, and decides by it.
func (r *recaller) recall(p *passed) {
	l, g := &p.laid, &p.gathered
	p.list = slices.DeleteFunc(p.list, func(x passedRow) bool { return x.gathered > 0 && g.unconcerned(&x) })
	p.decided = p.decided[:0]
	for i := range p.list {
		x := &p.list[i]
		if x.gathered == 0 {
			continue
		}
		at := x.gathered - 1
		row, rec, ids, digest := g.recall(at, &l.again)
		x.row, x.digest = l.again.Add(row, append(l.recs[:0], rec)), digest
		r.giveRecords(r.sh, p, x, func(int) recordIDs { return ids })
		p.decided = append(p.decided, decision{verdict: g.kinds[at].verdict})
		made := &p.decided[len(p.decided)-1] // there it stays, should the list move
		r.decider.heed(&x.records[0], made, x.subject, x.about)
		if made.rule == "" {
			r.decider.weigh(&x.records[0], made, x.records)
			made.weighed = true
		}
		x.records[0].decided = made
	}
}
