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

// The parts in which a delta's records of one entity are staged, in the order in which they are imported.
const (
	partAgainst = "against" // events that end or refuse a consent
	partCorrect = "correct" // new versions of records
)

var stagedParts = []string{partAgainst, "", partCorrect}

// moreColumns are the columns that a part has beyond its entity's.
func moreColumns(part string) []importers.Column {
	if part == partCorrect {
		return []importers.Column{staged.BaseVersion}
	}
	return nil
}

// corrects decides about a record that the register holds with other content: whether a delta may change it, and how.
func (s *settler) corrects(j *judged) (bool, error) {
	if s.snap.kind != Delta {
		return false, nil
	}
	if j.Entity.Event {
		return true, nil // a further event of its record
	}
	held, err := s.stored(j.Entity, j.id)
	if err != nil || len(held) != 1 {
		return false, err
	}
	if weakens(held[0], &j.identified, s.facts.obtainedOf(held[0]), s.sh.src.obtained) {
		return false, nil
	}
	j.part, j.version = partCorrect, held[0].Version
	return true, nil
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
		a, b := importers.SuppressionOf(&held.Record, held.ID, heldAt), importers.SuppressionOf(&x.Record, x.id, nowAt)
		return !covered() || !wider(a.Scope, b.Scope) || !importers.AsStrong(a.Reason, b.Reason) || earlier(a.Dated, b.Dated, a.Latest, b.Latest, heldAt)
	case "case":
		if a, ok := importers.ErasureOf(&held.Record, held.ID, heldAt); ok {
			b, still := importers.ErasureOf(&x.Record, x.id, nowAt)
			if !still || !covered() || earlier(a.Dated, b.Dated, a.Latest, b.Latest, heldAt) {
				return true
			}
		}
		if a, ok := importers.CaseEvent(&held.Record, held.ID, heldAt); ok {
			b, still := importers.CaseEvent(&x.Record, x.id, nowAt)
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

// obtainedOf is when the first export that holds an undated record was obtained, as the register's facts say.
func (f *facts) obtainedOf(st *register.Stored) int64 {
	for _, k := range importers.SubjectKeys(&st.Record, st.System) {
		for _, s := range f.suppressions[k] {
			if s.ID == st.ID {
				return s.ObtainedAt
			}
		}
		for _, e := range f.erasures[k] {
			if e.ID == st.ID {
				return e.ObtainedAt
			}
		}
		for _, e := range f.opposing[k] {
			if e.ID == st.ID {
				return e.ObtainedAt
			}
		}
	}
	return 0
}

// repeated decides about a record that the register holds with this content: it is known, unless it is an undated withdrawal or
// refusal that the register has from before a consent which stands against it. Then the source says it anew, and without a
// date it can't be told from the old one; to pass over it would keep a consent alive that was withdrawn.
func (s *settler) repeated(x *identified) (string, error) {
	status := x.Get("status")
	if s.snap.kind != Delta || !x.Entity.Event || status.Text == importers.StatusGiven || x.Get("occurred_at").Set {
		return "row.known", nil
	}
	held, err := s.stored(x.Entity, x.recordID)
	if err != nil {
		return "", err
	}
	for _, st := range held {
		if st.Get("status").Text != importers.StatusGiven {
			continue
		}
		given := importers.EventOf(&st.Record, st.ID, importers.Class(st.Class), 0)
		old := importers.EventOf(&x.Record, x.id, importers.LegacyAssertion, s.facts.obtainedOfEvent(x))
		if over, _ := importers.Overruled(given, []importers.Event{old}, nil); !over {
			return "consent.returned", nil
		}
	}
	return "row.known", nil
}

// obtainedOfEvent is when the first export that holds the event was obtained.
func (f *facts) obtainedOfEvent(x *identified) int64 {
	at := int64(0)
	for _, k := range importers.SubjectKeys(&x.Record, x.system) {
		for _, e := range f.opposing[k] {
			if e.ID == x.id && (at == 0 || e.ObtainedAt < at) {
				at = e.ObtainedAt // the survey has met it again, with the time of this export
			}
		}
	}
	return at
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
