package pipeline

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/google/uuid"

	"sheetlift/importers"
	"sheetlift/importers/register"
	"sheetlift/pipeline/store"
)

// circle is the part of the register that the state of a subject can depend on: the records that share a key with it, those that
// share one with these, and so on. No link leads out of it, so whoever knows it alone comes to what the whole register says.
type circle struct {
	whole      bool // no part: all of the register
	keys       map[importers.Key]bool
	rows       [][]importers.Key
	ids        map[string]map[string]bool      // by entity
	said       map[string]bool                 // ids of what rows said that gave no record
	meant      map[uuid.UUID][][]importers.Key // by record id: the subjects that such rows mean by their keys
	purposes   map[string]bool                 // that the register has, if there are such rows
	pseudonyms *importers.Pseudonyms           // keys are pseudonyms, since those of such rows are; nil if there are no such rows
}

// circlePasses is how often the register is gone over for a circle, circleRows how many records it may have. Chains of links are short,
// and few share a key; should it be otherwise (none@none.example), the whole register is taken.
const (
	circlePasses = 8
	circleRows   = 20_000
)

// speaking are the entities whose records name a subject, and say something about a consent or link its keys.
var speaking = []string{"suppression", "case", "consent"}

// around finds the circle of keys.
func (p *Pipeline) around(ctx context.Context, tx *store.Tx, keys []importers.Key) (*circle, error) {
	c := &circle{whole: p.wholeStates, keys: map[importers.Key]bool{}, ids: map[string]map[string]bool{}}
	some, err := register.HasUnrecorded(ctx, tx, p.id.Tenant)
	if err != nil {
		return nil, err
	}
	if some {
		c.pseudonyms, c.meant, c.said, c.purposes = p.id.Pseudonyms(), map[uuid.UUID][][]importers.Key{}, map[string]bool{}, map[string]bool{}
		err := register.Each(ctx, tx, importers.ByName("purpose"), p.id.Tenant, register.Filter{}, func(st *register.Stored) error {
			c.purposes[configKey(&st.Record)] = true
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	asked := map[uuid.UUID]bool{} // records that such rows mean; true: in the circle
	for _, k := range c.as(keys) {
		c.keys[k] = true
	}
	for _, name := range speaking {
		c.ids[name] = map[string]bool{}
	}
	has := func(keys []importers.Key) bool {
		return slices.ContainsFunc(keys, func(k importers.Key) bool { return c.keys[k] })
	}
	if some && len(keys) > 0 && !c.whole {
		err := register.EachMention(ctx, tx, p.id.Tenant, func(m *register.Mention) error {
			if m.RecordID != "" && !m.Names() {
				asked[recordOf(m.RecordID)] = false
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	var row []importers.Key
	for pass, grown := 1, len(keys) > 0; grown && !c.whole; pass++ {
		grown = false
		add := func(record uuid.UUID, keys []importers.Key) {
			for _, k := range keys {
				grown = grown || !c.keys[k]
				c.keys[k] = true
			}
			if in, ok := asked[record]; ok && !in {
				grown, asked[record] = true, true
			}
		}
		for _, name := range speaking {
			ids := c.ids[name]
			err := register.EachSubjectOf(ctx, tx, importers.ByName(name), p.id.Tenant, nil, func(id, recordID, system string, rec *importers.Record) error {
				row = importers.AppendSubjectKeys(row[:0], rec, system)
				keys, record := c.as(row), uuid.Nil
				if len(asked) > 0 {
					record = recordOf(recordID)
				}
				if ids[id] || len(keys) == 0 || !has(keys) && !asked[record] {
					return nil
				}
				ids[id] = true
				c.rows = append(c.rows, slices.Clone(keys))
				if _, ok := asked[record]; ok {
					c.meant[record] = addKeys(c.meant[record], row)
				}
				add(record, keys)
				return nil
			})
			if err != nil {
				return nil, err
			}
		}
		if some {
			err := register.EachMention(ctx, tx, p.id.Tenant, func(m *register.Mention) error {
				record := recordOf(m.RecordID)
				var err error
				if row, err = m.AppendKeys(row[:0]); err != nil {
					return unreadable(m.ID, err)
				}
				if c.said[m.ID] || !has(row) && !asked[record] {
					return nil
				}
				c.said[m.ID] = true
				if m.Names() {
					c.meant[record] = addKeys(c.meant[record], row)
				}
				add(record, row)
				return nil
			})
			if err != nil {
				return nil, err
			}
		}
		c.whole = len(c.rows)+len(c.said) > circleRows || grown && pass == circlePasses
	}
	if c.whole && some {
		if c.meant, err = p.allMeant(ctx, tx); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// holds reports whether the circle is also that of other keys.
func (c *circle) holds(keys []importers.Key) bool {
	return c != nil && (c.whole || !slices.ContainsFunc(c.as(keys), func(k importers.Key) bool { return !c.keys[k] }))
}

// as gives keys in the form of the circle's.
func (c *circle) as(keys []importers.Key) []importers.Key {
	if c.pseudonyms == nil {
		return keys
	}
	return c.pseudonyms.Of(keys)
}

// hear takes in what rows say that gave no record. What one that is rejected holds beside each other ties nobody; what it says against
// consents changes no state.
func (p *Pipeline) hear(ctx context.Context, tx *store.Tx, c *circle, f *facts) error {
	know := func(u *register.Unrecorded, keys []importers.Key) {
		if u.Kind != register.UnrecordedLink || !u.Rejected {
			f.knowUnrecorded(u, keys)
		}
	}
	if c.whole {
		return eachStanding(ctx, tx, p.id.Tenant, func(u *register.Unrecorded, keys []importers.Key) error {
			know(u, keys)
			return nil
		})
	}
	for list := range slices.Chunk(slices.Sorted(maps.Keys(c.said)), register.MaxIDs) {
		err := register.UnrecordedByID(ctx, tx, p.id.Tenant, list, func(u *register.Unrecorded) error {
			keys, err := unrecordedKeys(u)
			if err != nil {
				return err
			}
			know(u, keys)
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// link takes in who is one subject as far as a circle's rows say so.
func (p *Pipeline) link(ctx context.Context, tx *store.Tx, c *circle, links *importers.Links) error {
	if !c.whole {
		for _, keys := range c.rows {
			links.Add(keys)
		}
		return nil
	}
	for _, name := range speaking {
		if err := p.linkRegister(ctx, tx, importers.ByName(name), links); err != nil {
			return err
		}
	}
	return nil
}

// each calls f with the records of an entity that cond lets through, and with when the export that holds an undated one was obtained.
// It gives one more record whether it is in the circle or not: one that names no subject is in none.
func (c *circle) each(ctx context.Context, tx *store.Tx, e *importers.Entity, tenant, cond, more string, f func(st *register.Stored, obtained int64)) error {
	some := func(filter register.Filter) error {
		obtained, err := register.UndatedObtained(ctx, tx, e, tenant, filter)
		if err != nil {
			return err
		}
		return register.Each(ctx, tx, e, tenant, filter, func(st *register.Stored) error {
			f(st, obtained[st.ID])
			return nil
		})
	}
	if c.whole {
		return some(register.Filter{Cond: cond})
	}
	ids := slices.Sorted(maps.Keys(c.ids[e.Name]))
	if more != "" && !c.ids[e.Name][more] {
		ids = append(ids, more)
	}
	for list := range slices.Chunk(ids, register.MaxIDs) {
		if err := some(register.Filter{Cond: cond, IDs: list}); err != nil {
			return err
		}
	}
	return nil
}

// state works out the effective state of a consent's subject, purpose and channel from all that the register holds of it, and which rejected
// rows of other batches speak against the consent, if it is given.
func (p *tracer) state(ctx context.Context, tx *store.Tx, st *register.Stored) (s importers.Effective, opposed []OpposedBy, err error) {
	keys := importers.SubjectKeys(&st.Record, st.System)
	if !p.near.holds(keys) {
		near, err := p.around(ctx, tx, keys)
		if err != nil {
			return s, nil, err
		}
		p.near = near
	}
	f, err := p.factsOf(ctx, tx, p.near, keys)
	if err != nil {
		return s, nil, err
	}
	scope := importers.Scope{Purpose: st.Get("purpose").Text, Channel: st.Get("channel").Text}
	subject := f.links.Subject(keys)
	about := f.about(subject)
	doubted := f.doubted(about, subject, keys)
	against, _ := f.opposing(doubted, scope, keys)
	events := against.events
	err = p.near.each(ctx, tx, importers.ByName("consent"), p.id.Tenant, "status = 'given'", st.ID, func(o *register.Stored, obtained int64) {
		if o.ID == st.ID && o.Get("status").Text == importers.StatusGiven {
			opposed = p.foreignAgainst(f, doubted, importers.EventOf(&o.Record, o.ID, importers.Class(o.Class), obtained), keys)
		}
		if o.ID == st.ID || f.links.Same(keys, importers.SubjectKeys(&o.Record, o.System)) {
			events = append(events, importers.EventOf(&o.Record, o.ID, importers.Class(o.Class), obtained))
		}
	})
	if err != nil {
		return s, nil, err
	}
	now, err := tx.Now(ctx)
	if err != nil {
		return s, nil, err
	}
	return importers.StateAfter(erasures(about), scope, events, against.suppressions, now), opposed, nil
}

// factsOf gives what a circle's records say, and rows that gave none; keys are of whom somebody asks.
func (p *Pipeline) factsOf(ctx context.Context, tx *store.Tx, c *circle, keys []importers.Key) (*facts, error) {
	f := newFacts()
	if c.pseudonyms != nil {
		f.links = importers.NewPseudonymousLinks(c.pseudonyms)
	}
	f.links.Want(keys)
	f.links.Count(keys) // who asks is another one than the record that is found
	for _, name := range speaking {
		err := c.each(ctx, tx, importers.ByName(name), p.id.Tenant, opposingFilter[name], "", func(o *register.Stored, obtained int64) {
			f.know(&o.Record, o.ID, o.System, obtained, standing{linked: true})
		})
		if err != nil {
			return nil, err
		}
	}
	if err := p.link(ctx, tx, c, f.links); err != nil {
		return nil, err
	}
	if c.pseudonyms != nil {
		f.configs["purpose"] = c.purposes
		if err := p.hear(ctx, tx, c, f); err != nil {
			return nil, err
		}
		if err := f.followKeys(func(of map[uuid.UUID][][]importers.Key) error {
			for record := range of {
				of[record] = c.meant[record]
			}
			return nil
		}); err != nil {
			return nil, err
		}
	}
	return f, f.link()
}

// opposedElsewhere counts the consents that this batch brought, and that the register holds as given though rejected rows of other batches speak
// against them, and names these batches. It says what trace says of each.
func (p *Pipeline) opposedElsewhere(ctx context.Context) (n int, batches []string, err error) {
	err = p.db.View(ctx, func(tx *store.Tx) error {
		who, err := p.mayOppose(ctx, tx)
		if err != nil || len(who) == 0 {
			return err
		}
		near, err := p.around(ctx, tx, who)
		if err != nil {
			return err
		}
		f, err := p.factsOf(ctx, tx, near, nil)
		if err != nil {
			return err
		}
		now, err := tx.Now(ctx)
		if err != nil {
			return err
		}
		opposed := map[string][]OpposedBy{}
		err = near.each(ctx, tx, importers.ByName("consent"), p.id.Tenant, "status = 'given'", "", func(st *register.Stored, obtained int64) {
			keys := importers.SubjectKeys(&st.Record, st.System)
			subject := f.links.Subject(keys)
			about := f.about(subject)
			doubted := f.doubted(about, subject, keys)
			given := importers.EventOf(&st.Record, st.ID, importers.Class(st.Class), obtained)
			by := p.foreignAgainst(f, doubted, given, keys)
			if given.ExpiresAt != 0 && given.ExpiresAt <= now || len(by) == 0 {
				return
			}
			stands, _ := f.opposing(doubted, given.Scope, keys)
			if over, _ := stands.overrule(given); over {
				return
			}
			if erased, _ := importers.Erased(given, erasures(about)); !erased {
				opposed[st.ID] = by
			}
		})
		if err != nil {
			return err
		}
		for id, by := range opposed {
			own := false
			err := register.EachProvenance(ctx, tx, p.id.Tenant, p.batch.Name, id, func(pr register.Provenance) error {
				own = own || pr.Batch == p.batch.Name && !strings.Contains(pr.Snapshot, register.Retracted)
				return nil
			})
			if err != nil {
				return err
			}
			if own {
				n++
				for _, at := range by {
					if !slices.Contains(batches, at.Batch) {
						batches = append(batches, at.Batch)
					}
				}
			}
		}
		return nil
	})
	slices.Sort(batches)
	return n, batches, err
}

// mayOppose gives the keys around which to look for given consents of this batch that rejected rows of other batches speak against: those of
// the consents, or those of the rows if these are fewer. It gives none if there are none of either.
func (p *Pipeline) mayOppose(ctx context.Context, tx *store.Tx) (who []importers.Key, err error) {
	spoken, err := register.SpokenElsewhere(ctx, tx, p.id.Tenant, p.batch.Name)
	if err != nil || spoken == 0 {
		return nil, err
	}
	own := 0
	err = register.EachSubjectFrom(ctx, tx, importers.ByName("consent"), p.id.Tenant, p.batch.Name, "status = 'given'", func(_, system string, rec *importers.Record) error {
		if own++; own > spoken {
			return errEnough
		}
		for _, k := range importers.SubjectKeys(rec, system) {
			who = append(who, ownKey(k))
		}
		return nil
	})
	if !errors.Is(err, errEnough) {
		return who, err
	}
	meant, err := p.allMeant(ctx, tx)
	if err != nil {
		return nil, err
	}
	who = nil
	err = register.EachMention(ctx, tx, p.id.Tenant, func(m *register.Mention) (err error) {
		if !m.Speaks() || m.Batch == p.batch.Name {
			return nil
		}
		for _, of := range meant[recordOf(m.RecordID)] {
			who = append(who, of...)
		}
		if who, err = m.AppendKeys(who); err != nil {
			err = unreadable(m.ID, err)
		}
		return err
	})
	return who, err
}

// foreignAgainst lists the rejected rows of other batches that overrule a given consent.
func (p *Pipeline) foreignAgainst(f *facts, about []*against, given importers.Event, keys []importers.Key) (list []OpposedBy) {
	for _, a := range about {
		if r := a.foreign; r != nil && r.batch != p.batch.Name && f.overrules(a, given, keys) {
			at := OpposedBy{Batch: r.batch, Snapshot: r.snapshot, SHA256: r.digest, Place: Place{Source: r.source, Sheet: r.sheet, Row: int(r.row), Line: int(r.line)}}
			if !slices.Contains(list, at) {
				list = append(list, at)
			}
		}
	}
	slices.SortFunc(list, func(a, b OpposedBy) int {
		return cmp.Or(cmp.Compare(a.Batch, b.Batch), cmp.Compare(a.Snapshot, b.Snapshot), cmp.Compare(a.Source, b.Source), a.Row-b.Row)
	})
	return list
}
