package pipeline

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"sheetlift/pipeline/ledger"
	"sheetlift/pipeline/store"
)

// The kinds of snapshots after the initial one.
const (
	Mended = "mended" // rejected rows that came back corrected
	Delta  = "delta"  // fresh exports of some sources
)

// snapshot is one freeze of a batch: what the stages after freeze work on.
type snapshot struct {
	name string // initial, mended-1, delta-2: kind and number
	kind string // empty for the initial one
}

// newest is the pipeline over the batch's newest snapshot; over the initial one if nothing is frozen yet.
func (p *Pipeline) newest(ctx context.Context) (*Pipeline, error) {
	list, err := p.history(ctx)
	if err != nil || len(list) == 0 {
		return p.initial(), err
	}
	return p.at(list[len(list)-1])
}

// initial is the pipeline over the initial snapshot.
func (p *Pipeline) initial() *Pipeline {
	q := *p
	q.batch, q.snap = p.opt.Batch, snapshot{name: Initial}
	return &q
}

// history lists the batch's snapshots, oldest first. Those that an undo retracted are left out, all but the initial one.
func (p *Pipeline) history(ctx context.Context) ([]*FreezeResult, error) {
	all, undone, err := p.freezes(ctx)
	if err != nil {
		return nil, err
	}
	var live []*FreezeResult
	for _, fr := range all {
		if fr.Number == 0 || fr.Number > undone.newest() {
			live = append(live, fr)
		}
	}
	return live, nil
}

// operations lists those of the batch.
func (p *Pipeline) operations(ctx context.Context) (ops []*ledger.Record, err error) {
	err = p.db.View(ctx, func(tx *store.Tx) (err error) {
		ops, err = ledger.List(ctx, tx, p.id.Tenant, p.batch.Name)
		return err
	})
	return ops, err
}

// retractions are the numbers of the newest snapshots that undos retracted, each with all before it.
type retractions []int

// newest is the number of the newest snapshot that was retracted, 0 if only the initial one was, or none.
func (u retractions) newest() int { return slices.Max(append(retractions{0}, u...)) }

// freezes lists all snapshots that were ever frozen, oldest first, and what was undone.
func (p *Pipeline) freezes(ctx context.Context) (all []*FreezeResult, undone retractions, err error) {
	ops, err := p.operations(ctx)
	if err != nil {
		return nil, nil, err
	}
	initial, _, err := last[FreezeResult](ctx, p.initial(), Freeze)
	if err != nil {
		return nil, nil, err
	}
	if initial == nil {
		return nil, nil, nil
	}
	all = append(all, initial)
	for _, op := range ops {
		switch {
		case op.State != ledger.Succeeded:
		case op.Stage == Freeze && op.Snapshot != Initial:
			fr := new(FreezeResult)
			if err := json.Unmarshal(op.Result, fr); err != nil {
				return nil, nil, fmt.Errorf("recorded result of freeze: %w", err)
			}
			p.place(fr, true)
			all = append(all, fr)
		case op.Stage == Undo:
			u, err := decodeUndo(op)
			if err != nil {
				return nil, nil, err
			}
			undone = append(undone, u.Number)
		}
	}
	slices.SortFunc(all, func(a, b *FreezeResult) int { return a.Number - b.Number })
	return all, undone, nil
}

// at is the pipeline over a snapshot: its sources only, as of when their bytes were obtained.
func (p *Pipeline) at(fr *FreezeResult) (*Pipeline, error) {
	q := p.initial()
	if fr.Number == 0 {
		return q, nil
	}
	q.snap = snapshot{name: fr.Snapshot, kind: fr.Kind}
	b := *p.opt.Batch
	b.Sources = nil
	for _, part := range fr.Parts {
		i := slices.IndexFunc(p.opt.Batch.Sources, func(s Source) bool { return s.Name == part.Source })
		if i < 0 {
			return nil, &ConfigError{File: p.batch.path, Message: fmt.Sprintf("source %s of snapshot %s is no more in it", part.Source, fr.Snapshot), Remedy: "put the source back; what is frozen can't be forgotten"}
		}
		s := p.opt.Batch.Sources[i]
		if err := s.dated(fr, &part); err != nil {
			return nil, err
		}
		b.Sources = append(b.Sources, s)
	}
	q.batch = &b
	return q, nil
}

// dated is the pipeline over all sources of the batch, those of a snapshot as of when its bytes were obtained.
func (p *Pipeline) dated(fr *FreezeResult) (*Pipeline, error) {
	q, b := *p, *p.batch
	q.batch, b.Sources = &b, slices.Clone(b.Sources)
	for i := range b.Sources {
		if part := fr.part(b.Sources[i].Name); part != nil {
			if err := b.Sources[i].dated(fr, part); err != nil {
				return nil, err
			}
		}
	}
	return &q, nil
}

// dated makes the source that of a snapshot's bytes.
func (s *Source) dated(fr *FreezeResult, part *FrozenPart) error {
	at, err := time.Parse(time.RFC3339, part.ObtainedAt)
	if err != nil {
		return &IntegrityError{What: "record of snapshot " + fr.Snapshot, Detail: "it has no time at which its bytes were obtained", Remedy: "restore the database from a backup"}
	}
	s.ObtainedAt, s.obtained = part.ObtainedAt, at.UnixMicro()
	return nil
}

// part is the share of a source in a snapshot.
func (f *FreezeResult) part(source string) *FrozenPart {
	for i := range f.Parts {
		if f.Parts[i].Source == source {
			return &f.Parts[i]
		}
	}
	return nil
}

// rowOrigins says, by snapshot and source, of which snapshot the rows are that it holds: its own, or those of the export out of which
// mended rows went. Such rows keep their numbers; records that were mended in a text file have numbers of their own.
type rowOrigins struct {
	from map[[2]string]string
	text map[[2]string]bool // snapshots of records that were mended in a text file
}

func origins(all []*FreezeResult) rowOrigins {
	o := rowOrigins{map[[2]string]string{}, map[[2]string]bool{}}
	for _, fr := range all { // oldest first: a base comes before what rests on it
		for _, part := range fr.Parts {
			at := [2]string{fr.Snapshot, part.Source}
			if part.Base != "" && part.Sheet != "" {
				o.from[at] = o.of(part.Base, part.Source)
			}
			o.text[at] = part.Base != "" && part.Sheet == ""
		}
	}
	return o
}

// of is the snapshot whose rows those of a source in a snapshot are.
func (o rowOrigins) of(snapshot, source string) string {
	if from, ok := o.from[[2]string{snapshot, source}]; ok {
		return from
	}
	return snapshot
}

// rowFiles gives, by snapshot and source, the file that its rows are numbered by.
func (p *Pipeline) rowFiles(all []*FreezeResult) map[[2]string]string {
	files := map[[2]string]string{}
	for _, fr := range all { // oldest first: a base comes before what rests on it
		for _, part := range fr.Parts {
			file := files[[2]string{part.Base, part.Source}]
			switch {
			case part.Base != "" && part.Sheet == "":
				file = part.File
			case part.Base == "" || file == "":
				file = p.fileOf(part.Source)
			}
			files[[2]string{fr.Snapshot, part.Source}] = file
		}
	}
	return files
}

// frozenAs gives a live snapshot by its name.
func (p *Pipeline) frozenAs(ctx context.Context, name string) (*FreezeResult, error) {
	all, _, err := p.freezes(ctx)
	if err != nil {
		return nil, err
	}
	for _, fr := range all {
		if fr.Snapshot == name {
			return fr, nil
		}
	}
	return nil, &IntegrityError{What: "snapshot " + name, Detail: "the database does not know it", Remedy: "restore the database from a backup"}
}
