package pipeline

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"

	"sheetlift/importers"
	"sheetlift/importers/register"
	"sheetlift/pipeline/finding"
	"sheetlift/pipeline/ledger"
	"sheetlift/pipeline/store"
)

// unrecordedFacts reads what the register has of rows that gave no record: of this batch which identifiers stood beside each other in rows
// that were skipped, for its rejected rows are heard from the frozen bytes; of others all that stands.
func (p *Pipeline) unrecordedFacts(ctx context.Context, tx *store.Tx, f *facts) error {
	some, err := register.HasUnrecorded(ctx, tx, p.id.Tenant)
	if err != nil || !some {
		return err
	}
	f.links = importers.NewPseudonymousLinks(p.id.Pseudonyms())
	err = register.EachUnrecorded(ctx, tx, p.id.Tenant, func(u *register.Unrecorded) error {
		if own := u.Batch == p.batch.Name; own {
			if slices.Contains(p.asBefore, u.ReplacedBy) {
				u.ReplacedBy = ""
			}
			if u.Kept && u.ReplacedBy == "" {
				keys, err := unrecordedKeys(u)
				if err != nil {
					return err
				}
				f.kept[meantOf(u)] = append(f.kept[meantOf(u)], keys)
			}
			if slices.Contains(p.asBefore, u.Snapshot) {
				return nil
			}
			id, err := uuid.Parse(u.ID)
			if err != nil {
				return err
			}
			f.unrecorded[id] = true
			if u.Rejected {
				if u.ReplacedBy == "" {
					f.standsUnrecorded[register.RowOf{Snapshot: u.Snapshot, Source: u.Source, Row: u.Row, Stray: u.Stray}] = true
				}
				return nil
			}
		}
		if u.ReplacedBy != "" {
			return nil
		}
		f.elsewhere = f.elsewhere || u.Rejected
		keys, err := unrecordedKeys(u)
		if err == nil {
			f.knowUnrecorded(u, keys)
		}
		return err
	})
	for id := range f.meant {
		f.asked[id] = true
	}
	return err
}

// eachStanding calls f for what rows said that gave no record, unless it was replaced.
func eachStanding(ctx context.Context, tx *store.Tx, tenant string, f func(u *register.Unrecorded, keys []importers.Key) error) error {
	return register.EachUnrecorded(ctx, tx, tenant, func(u *register.Unrecorded) error {
		if u.ReplacedBy != "" {
			return nil
		}
		keys, err := unrecordedKeys(u)
		if err != nil {
			return err
		}
		return f(u, keys)
	})
}

// knowUnrecorded takes in what a row of another batch said that gave no record. Until it is mended, a rejected one is a precaution: it keeps
// consents out. So its erasure is no more than a withdrawal, for an erasure would take refusals away too.
func (f *facts) knowUnrecorded(u *register.Unrecorded, keys []importers.Key) {
	by := f.links.Linker(u.System)
	links := by.Append(nil, keys)
	at := &foreignRow{u.Batch, u.Snapshot, u.Source, u.Sheet, u.FileDigest, u.Row, u.Line}
	a := &against{standing: standing{rejected: true, foreign: at}}
	ev := importers.Event{ID: u.ID, Status: u.Status, Class: importers.LegacyAssertion, Scope: importers.Scope{Purpose: u.Purpose, Channel: u.Channel},
		Dated: u.Dated, Earliest: u.Earliest, Latest: u.Latest, ObtainedAt: u.ObtainedAt}
	switch u.Kind {
	case register.UnrecordedLink:
		if u.Names() { // see addNamed
			return
		}
		f.links.AddDigests(links)
		if u.Rejected {
			f.unsureThere.add(&against{standing: standing{foreign: at}, keys: keys, erasure: &importers.Erasure{}}, links)
		}
		return
	case register.UnrecordedErasure:
		ev.Status, ev.Scope = importers.StatusWithdrawn, importers.Scope{}
		a.event = &ev
	case register.UnrecordedEvent:
		a.event = &ev
	case register.UnrecordedSuppression:
		a.suppression = &importers.Suppression{ID: u.ID, Reason: u.Status, Scope: ev.Scope, Dated: u.Dated, Earliest: u.Earliest, Latest: u.Latest, ObtainedAt: u.ObtainedAt}
	}
	a.meant = meantOf(u)
	f.say(a, keys, links)
}

// namedPlaces is how many places of rows a message names at most.
const namedPlaces = 5

// elsewhereMessage is what a consent is told that is rejected because of rejected rows, if they are rows of other batches; else it is "".
func (d *decider) elsewhereMessage(rule string, given importers.Event, about []*against, subject importers.Subject, keys []importers.Key) string {
	f := d.facts
	var at []string
	add := func(place string) {
		if place != "" && !slices.Contains(at, place) {
			at = append(at, place)
		}
	}
	for _, a := range about {
		if r := a.foreign; r != nil && f.overrules(a, given, keys) {
			add(r.String())
		}
	}
	if len(at) == 0 {
		places, _ := f.links.Reach(subject)
		if subject.Doubt {
			places = append(places, f.links.Perhaps(keys).Places...)
		}
		for _, p := range places {
			add(f.unsureAt[p].String())
		}
	}
	slices.Sort(at)
	r, ok := finding.ByID(rule)
	if len(at) == 0 || !ok {
		return ""
	}
	more := ""
	if n := len(at) - namedPlaces; n > 0 {
		at, more = at[:namedPlaces], fmt.Sprintf("; and %d more", n)
	}
	return fmt.Sprintf("%s The rejected row is one of another batch (%s%s).", r.Meaning, strings.Join(at, "; "), more)
}

func unrecordedKeys(u *register.Unrecorded) ([]importers.Key, error) {
	keys, err := u.Keys()
	if err != nil {
		return nil, unreadable(u.ID, err)
	}
	return keys, nil
}

func unreadable(id string, err error) error {
	return &IntegrityError{What: "register", Detail: "what a row said that gave no record (" + id + ") can't be read", Remedy: "restore the database from a backup", Err: err}
}

// The words by which the ledger knows the two parts of the list of a dry-run.
const (
	unrecordedSaid     = "unrecorded"
	unrecordedReplaced = "unrecorded.replaced"
)

// importUnrecorded brings in a part of what rows say that give no record: what they say before any record, and that a row of an earlier
// snapshot is replaced once all that takes its place is in.
func (p *Pipeline) importUnrecorded(ctx context.Context, op *ledger.Op, in *importable, part string) error {
	if x := in.dry.Unrecorded; x == nil || part == unrecordedReplaced && x.Replaced == 0 {
		return nil
	}
	o := register.Origin{Identity: p.id, Batch: p.batch.Name, Snapshot: p.snap.name, StagedDigest: in.dry.Unrecorded.SHA256, Operation: op.ID(), Operator: p.opt.Operator}
	done, err := p.doneChunks(ctx, op, StagedFile{Entity: part, SHA256: o.StagedDigest})
	if err != nil {
		return err
	}
	var said []register.Unrecorded
	var replaced []register.RowOf
	chunk := 0
	commit := func() error {
		n := len(said) + len(replaced)
		if n == 0 {
			return nil
		}
		slices.SortFunc(said, func(a, b register.Unrecorded) int { return strings.Compare(a.ID, b.ID) }) // see register.Group.Sort
		if !done[chunk] {
			err := p.importChunks(ctx, op, in, func(tx *store.Tx) error {
				var err error
				if part == unrecordedSaid {
					err = register.LoadUnrecorded(ctx, tx, said, o)
				} else {
					err = register.ReplaceUnrecorded(ctx, tx, replaced, o)
				}
				if errors.Is(err, register.ErrHeld) {
					return in.changed("it has what a row of this batch says that gives no record")
				}
				if err != nil {
					return err
				}
				return op.Checkpoint(ctx, tx, "chunk", map[string]any{"entity": part, "staged": o.StagedDigest, "chunk": int64(chunk), "rows": int64(n)})
			})
			if err != nil {
				return err
			}
		}
		said, replaced = said[:0], replaced[:0]
		chunk++
		return nil
	}
	most := groupRows
	if p.groupRows > 0 {
		most = p.groupRows
	}
	err = eachUnrecorded(in.dry, func(line *unrecordedLine) error {
		switch {
		case line.Said != nil && part == unrecordedSaid:
			said = append(said, *line.Said)
		case line.Replaced != nil && part == unrecordedReplaced:
			replaced = append(replaced, *line.Replaced)
		case line.Replaced != nil: // they come last
			return errEnough
		}
		if len(said)+len(replaced) < most {
			return nil
		}
		return commit()
	})
	if err != nil {
		return err
	}
	return commit()
}

// sumUnrecorded adds up what rows of a source say that give no record, as staged and as the register has it.
func (p *Pipeline) sumUnrecorded(ctx context.Context, dry *DryRunResult, source string) (staged, held register.Sum, err error) {
	if dry == nil || dry.Unrecorded == nil {
		return staged, held, nil
	}
	add := func(sum *register.Sum, u *register.Unrecorded) error {
		if u.Source != source {
			return nil
		}
		h, err := u.Hash()
		sum.Add(h)
		return err
	}
	err = eachUnrecorded(dry, func(line *unrecordedLine) error {
		if line.Said == nil {
			return errEnough
		}
		return add(&staged, line.Said)
	})
	if err != nil {
		return staged, held, err
	}
	o := register.Origin{Identity: p.id, Batch: p.batch.Name, Snapshot: p.snap.name, StagedDigest: dry.Unrecorded.SHA256}
	err = p.db.View(ctx, func(tx *store.Tx) error {
		return register.EachUnrecordedOf(ctx, tx, o, func(u *register.Unrecorded) error { return add(&held, u) })
	})
	return staged, held, err
}
