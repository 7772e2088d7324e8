package pipeline

import (
	"context"

	"github.com/google/uuid"

	"sheetlift/importers"
	"sheetlift/importers/register"
	"sheetlift/importers/staged"
	"sheetlift/pipeline/finding"
	"sheetlift/pipeline/store"
)

// A delta is a fresh export of what the register has already. Rows with the content that it holds are known, and nothing of them
// changes, no time either. Of other content, a record that is no event gets a new version, and a consent a further event. What
// no row gives any more is counted and stays: that somebody is missing from an export says nothing.
//
// A correction must not take back what somebody said against a consent: one that would is refused as a conflict.

// The parts in which the records that a later snapshot has of one entity are staged, in the order in which they are imported.
const (
	partAgainst = "against" // events that end or refuse a consent
	partCorrect = "correct" // new versions of records
)

var stagedParts = []string{partAgainst, "", partCorrect}

// moreColumns are the columns that a part has beyond its entity's.
func moreColumns(part string) []importers.Column {
	if part == partCorrect || part == partKnown {
		return []importers.Column{staged.BaseVersion}
	}
	return nil
}

// corrects decides about a record that the register holds with other content: whether a delta may change it, and how.
func (d *dryRunner) corrects(src *Source, x *identified, out *decision) {
	if d.snap.kind != Delta {
		out.rule = "register.conflict"
		return
	}
	if x.Entity.Event {
		return // a further event of its record
	}
	held, err := d.stored(x.Entity, x.id())
	switch {
	case err != nil:
		out.err = err
	case len(held) != 1 || weakens(held[0], x, d.firstObtained(x.id()), src.obtained):
		out.rule = "register.conflict"
	default:
		out.part, out.version = partCorrect, held[0].Version
	}
}

// weakens reports whether new content of a suppression or case would stand against less than what the register holds.
func weakens(held *register.Stored, x *identified, heldAt, nowAt int64) bool {
	covered := func() bool {
		now := map[importers.Key]bool{}
		for _, k := range importers.SubjectKeys(&x.Record, x.system) {
			now[k] = true
		}
		for _, k := range importers.SubjectKeys(&held.Record, held.System) {
			if !now[k] {
				return false
			}
		}
		return true
	}
	wider := func(old, now importers.Scope) bool {
		return (old.Purpose == now.Purpose || now.Purpose == "") && (old.Channel == now.Channel || now.Channel == "" || now.Channel == "any")
	}
	switch held.Entity.Name {
	case "suppression":
		a, b := importers.SuppressionOf(&held.Record, held.ID, heldAt), importers.SuppressionOf(&x.Record, x.id(), nowAt)
		return !covered() || !wider(a.Scope, b.Scope) || !importers.AsStrong(a.Reason, b.Reason) || earlier(a.Dated, b.Dated, a.Latest, b.Latest, heldAt)
	case "case":
		now := &x.Record // an open erasure that loses its subject would be fulfilled of nobody
		if now.Get("request_type").Text == "erasure" && now.Get("status").Text == "open" && len(x.keys) == 0 && len(importers.SubjectKeys(&held.Record, held.System)) > 0 {
			return true
		}
		if a, ok := importers.ErasureOf(&held.Record, held.ID, heldAt); ok {
			b, still := importers.ErasureOf(&x.Record, x.id(), nowAt)
			if !still || !covered() || earlier(a.Dated, b.Dated, a.Latest, b.Latest, heldAt) {
				return true
			}
		}
		if a, ok := importers.CaseEvent(&held.Record, held.ID, heldAt); ok {
			b, still := importers.CaseEvent(&x.Record, x.id(), nowAt)
			return !still || !covered() || !wider(a.Scope, b.Scope) || earlier(a.Dated, b.Dated, a.Latest, b.Latest, heldAt)
		}
	}
	return false
}

// earlier reports whether the new time ends what the old one covered, or may: an undated record counts as of its first export, and
// a date that is gone is no longer known.
func earlier(oldDated, nowDated bool, oldLatest, nowLatest, heldAt int64) bool {
	switch {
	case !nowDated:
		return oldDated
	case oldDated:
		return nowLatest < oldLatest
	}
	return nowLatest < heldAt
}

// firstObtained is when the first export that holds something undated against a consent was obtained, as the register says; 0 if it
// holds nothing of that id. The survey meets it again with a later time, which does not count.
func (d *dryRunner) firstObtained(id string) int64 {
	if d.obtained == nil {
		d.obtained = map[string]int64{}
		for _, a := range d.facts.against {
			id, at := "", int64(0)
			switch {
			case a.suppression != nil:
				id, at = a.suppression.ID, a.suppression.ObtainedAt
			case a.event != nil:
				id, at = a.event.ID, a.event.ObtainedAt
			case a.erasure != nil:
				id, at = a.erasure.ID, a.erasure.ObtainedAt
			}
			if _, known := d.obtained[id]; !known {
				d.obtained[id] = at
			}
		}
	}
	return d.obtained[id]
}

// repeated decides about a record that the register holds with this content: it is known, unless it is an undated withdrawal or
// refusal that the register has from before a consent which stands against it. Then the source says it anew, and without a
// date it can't be told from the old one; to pass over it would keep a consent alive that was withdrawn.
func (d *dryRunner) repeated(x *identified) (string, error) {
	status := x.Get("status")
	if d.snap.kind != Delta || !x.Entity.Event || status.Text == importers.StatusGiven || x.Get("occurred_at").Set {
		return "row.known", nil
	}
	held, err := d.stored(x.Entity, x.recordID())
	if err != nil {
		return "", err
	}
	for _, st := range held {
		if st.Get("status").Text != importers.StatusGiven {
			continue
		}
		given := importers.EventOf(&st.Record, st.ID, importers.Class(st.Class), 0)
		old := importers.EventOf(&x.Record, x.id(), importers.LegacyAssertion, d.firstObtained(x.id()))
		if over, _ := importers.Overruled(given, []importers.Event{old}, nil); !over {
			return "consent.returned", nil
		}
	}
	return "row.known", nil
}

// expect notes, for a delta, which records the register has from this source.
func (s *settler) expect(ctx context.Context) error {
	if s.snap.kind != Delta {
		return nil
	}
	s.gone = map[uuid.UUID]bool{}
	return s.db.View(ctx, func(tx *store.Tx) error {
		return register.EachFrom(ctx, tx, s.id.Tenant, s.batch.Name, s.sh.src.Name, func(recordID string) error {
			id, err := uuid.Parse(recordID)
			if err == nil {
				s.gone[id] = true
			}
			return err
		})
	})
}

// vanished counts the records that no row of a delta has given. They stay as they are.
func (s *settler) vanished() error {
	s.out.Vanished = len(s.gone)
	if len(s.gone) == 0 {
		return nil
	}
	return add(s.rec, "record.vanished", s.sh.src, s.sh.src.File, s.sh.env.Sheet, func(f *finding.Finding) { f.Rows = len(s.gone) })
}
