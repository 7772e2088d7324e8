package pipeline

import (
	"context"
	"maps"
	"slices"

	"sheetlift/importers"
	"sheetlift/importers/register"
	"sheetlift/pipeline/store"
)

// circle is the part of the register that the state of a subject can depend on: the records that share a key with it, those that
// share one with these, and so on. No link leads out of it, so whoever knows it alone comes to what the whole register says.
type circle struct {
	whole bool // no part: all of the register
	keys  map[importers.Key]bool
	rows  [][]importers.Key
	ids   map[string]map[string]bool // by entity
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
	for _, k := range keys {
		c.keys[k] = true
	}
	for _, name := range speaking {
		c.ids[name] = map[string]bool{}
	}
	var row []importers.Key
	for pass, grown := 1, len(keys) > 0; grown && !c.whole; pass++ {
		grown = false
		for _, name := range speaking {
			ids := c.ids[name]
			err := register.EachSubject(ctx, tx, importers.ByName(name), p.id.Tenant, func(id, system string, rec *importers.Record) error {
				row = importers.AppendSubjectKeys(row[:0], rec, system)
				if !slices.ContainsFunc(row, func(k importers.Key) bool { return c.keys[k] }) || ids[id] {
					return nil
				}
				ids[id] = true
				c.rows = append(c.rows, slices.Clone(row))
				for _, k := range row {
					grown = grown || !c.keys[k]
					c.keys[k] = true
				}
				return nil
			})
			if err != nil {
				return nil, err
			}
		}
		c.whole = len(c.rows) > circleRows || grown && pass == circlePasses
	}
	return c, nil
}

// holds reports whether the circle is also that of other keys.
func (c *circle) holds(keys []importers.Key) bool {
	return c != nil && (c.whole || !slices.ContainsFunc(keys, func(k importers.Key) bool { return !c.keys[k] }))
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

// state works out the effective state of a consent's subject, purpose and channel from all that the register holds of it.
func (p *tracer) state(ctx context.Context, tx *store.Tx, st *register.Stored) (importers.Effective, error) {
	keys := importers.SubjectKeys(&st.Record, st.System)
	if !p.near.holds(keys) {
		near, err := p.around(ctx, tx, keys)
		if err != nil {
			return importers.Effective{}, err
		}
		p.near = near
	}
	f := newFacts()
	f.links.Want(keys)
	f.links.Count(keys) // who asks is another one than the record that is found
	for _, name := range speaking {
		err := p.near.each(ctx, tx, importers.ByName(name), p.id.Tenant, opposingFilter[name], "", func(o *register.Stored, obtained int64) {
			f.know(&o.Record, o.ID, o.System, obtained, standing{linked: true})
		})
		if err != nil {
			return importers.Effective{}, err
		}
	}
	if err := p.link(ctx, tx, p.near, f.links); err != nil {
		return importers.Effective{}, err
	}
	if err := f.link(); err != nil {
		return importers.Effective{}, err
	}
	scope := importers.Scope{Purpose: st.Get("purpose").Text, Channel: st.Get("channel").Text}
	about := f.about(f.links.Subject(keys))
	_, against := f.opposing(f.doubted(about, keys), scope, keys)
	events := against.events
	err := p.near.each(ctx, tx, importers.ByName("consent"), p.id.Tenant, "status = 'given'", st.ID, func(o *register.Stored, obtained int64) {
		if o.ID == st.ID || f.links.Same(keys, importers.SubjectKeys(&o.Record, o.System)) {
			events = append(events, importers.EventOf(&o.Record, o.ID, importers.Class(o.Class), obtained))
		}
	})
	if err != nil {
		return importers.Effective{}, err
	}
	now, err := tx.Now(ctx)
	if err != nil {
		return importers.Effective{}, err
	}
	return importers.StateAfter(erasures(about), scope, events, against.suppressions, now), nil
}
