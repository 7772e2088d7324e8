package pipeline

import (
	"context"
	"slices"
	"strings"

	"github.com/google/uuid"

	"sheetlift/importers"
	"sheetlift/importers/register"
	"sheetlift/mappings"
	"sheetlift/pipeline/store"
)

// A row that says no may name its subject so that nobody can read it, or not at all. Its key still says which record it is about. Until the
// row is mended, it is heard as if it named whom that record names: the one that the register holds, or that this batch brings. When an undo takes
// that record out, the register keeps whom it named beside what the row said (register.Unrecorded.Kept).

// meant gives the record whose subject a record of a row is about by its key; uuid.Nil if the row names its subject so that it can be read, or
// no key. It is for rows that are rejected, or that name nobody.
func (d *dryRunner) meant(plan *mappings.Plan, system string, row *mappings.Row, rec *mappings.RecordOut) uuid.UUID {
	nameless := len(importers.SubjectKeys(&rec.Record, system)) == 0
	if row.Verdict == mappings.Accepted {
		if !nameless {
			return uuid.Nil
		}
		return d.id.Record(system, rec.Entity.Name, rec.Key)
	}
	for _, n := range plan.Named(row) {
		if n.Spec == rec.Spec && (nameless || n.Unread) {
			return d.id.Record(system, n.Entity.Name, n.Key)
		}
	}
	return uuid.Nil
}

// meantNameless is meant of the k-th record of an accepted row. One that comes in beside a record that names somebody is heard as that one.
func (d *dryRunner) meantNameless(records []identified, k int, rejected bool) uuid.UUID {
	x := &records[k]
	if len(x.keys) > 0 || !speaks(&x.Record) || !rejected && slices.ContainsFunc(records, func(x identified) bool { return len(x.keys) > 0 }) {
		return uuid.Nil
	}
	return x.recordUID
}

// meantOf is the record that a row which gave no record means by its key.
func meantOf(u *register.Unrecorded) uuid.UUID { return recordOf(u.RecordID) }

// recordOf reads a record id; uuid.Nil if there is none.
func recordOf(text string) uuid.UUID {
	if text == "" {
		return uuid.Nil
	}
	id, err := uuid.Parse(text)
	if err != nil { // there is none
		return uuid.Nil
	}
	return id
}

// sayByKey takes in what is said of whom a record names. If that is anybody, the row is rejected, whether it is known yet or not.
func (f *facts) sayByKey(a against) {
	f.meant[a.meant] = nil
	a.standing = standing{rejected: true, foreign: a.foreign, records: []uuid.UUID{a.meant}}
	a.keys = nil
	f.byKey.add(&a, nil)
}

// name takes in whom a record of this batch names.
func (f *facts) name(x *identified) {
	if len(x.keys) > 0 {
		f.named.add(&against{standing: standing{records: []uuid.UUID{x.recordUID}}, keys: x.keys, erasure: &importers.Erasure{}}, nil)
	}
}

// followKeys hears what was said of whom records name, once all of them are known. held adds the subjects that the register's records name.
func (f *facts) followKeys(held func(of map[uuid.UUID][][]importers.Key) error) error {
	if len(f.meant) == 0 {
		return nil
	}
	if err := held(f.meant); err != nil {
		return err
	}
	for id, list := range f.meant {
		for _, keys := range f.kept[id] {
			list = addKeys(list, keys)
		}
		f.meant[id] = list
	}
	err := f.named.each(nil, func(a *against, _ []importers.LinkKey) {
		if list, ok := f.meant[a.records[0]]; ok {
			f.meant[a.records[0]] = addKeys(list, a.keys)
		}
	})
	if err != nil {
		return err
	}
	return f.byKey.each(nil, func(a *against, _ []importers.LinkKey) {
		for _, keys := range f.meant[a.records[0]] {
			said := *a
			said.records = nil
			by := f.links.Linker(systemOf(keys))
			f.say(&said, keys, by.Append(nil, keys))
		}
	})
}

// addKeys adds the keys of a subject to a list that may have them.
func addKeys(list [][]importers.Key, keys []importers.Key) [][]importers.Key {
	if len(keys) == 0 || slices.ContainsFunc(list, func(of []importers.Key) bool { return slices.Equal(of, keys) }) {
		return list
	}
	own := importers.OwnKeys(keys)
	for i := range own {
		own[i].Kind, own[i].System = strings.Clone(own[i].Kind), strings.Clone(own[i].System)
	}
	return append(list, own)
}

// systemOf is the system of the keys of one record; empty if they are contact points.
func systemOf(keys []importers.Key) string {
	for _, k := range keys {
		if k.System != "" {
			return k.System
		}
	}
	return ""
}

// followKeys is that of the facts of a dry-run.
func (d *dryRunner) followKeys(ctx context.Context) error {
	return d.facts.followKeys(func(of map[uuid.UUID][][]importers.Key) error {
		return d.db.View(ctx, func(tx *store.Tx) error { return d.addNamed(ctx, tx, of) })
	})
}

// addNamed adds the keys of each subject that the register's records under the record ids name, or would name if they had come in.
func (p *Pipeline) addNamed(ctx context.Context, tx *store.Tx, of map[uuid.UUID][][]importers.Key) error {
	if len(of) == 0 {
		return nil
	}
	var records []string
	if len(of) <= register.MaxIDs {
		records = make([]string, 0, len(of))
		for id := range of {
			records = append(records, id.String())
		}
		slices.Sort(records)
	}
	for _, name := range speaking {
		err := register.EachSubjectOf(ctx, tx, importers.ByName(name), p.id.Tenant, records, func(id, recordID, system string, rec *importers.Record) error {
			record, err := uuid.Parse(recordID)
			if err != nil {
				return err
			}
			list, ok := of[record]
			if !ok {
				return nil
			}
			out, err := p.leftAside(id)
			if err == nil && !out {
				of[record] = addKeys(list, importers.SubjectKeys(rec, system))
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return register.EachNamed(ctx, tx, p.id.Tenant, func(u *register.Unrecorded) error {
		list, ok := of[meantOf(u)]
		own := u.Batch == p.batch.Name
		if !ok || own && slices.Contains(p.asBefore, u.Snapshot) || u.ReplacedBy != "" && !(own && slices.Contains(p.asBefore, u.ReplacedBy)) {
			return nil
		}
		keys, err := unrecordedKeys(u)
		of[meantOf(u)] = addKeys(list, keys)
		return err
	})
}

// named lists whom the records of a row name that was just rejected because of a no which means them by their key: the no is about them for
// other batches too, though no such record comes in.
func (s *settler) named(row *mappings.Row) error {
	for k := range s.records {
		x := &s.records[k]
		if _, ok := s.facts.meant[x.recordUID]; !ok || len(x.keys) == 0 {
			continue
		}
		u := s.unrecorded(row, true, register.UnrecordedLink)
		u.RecordID = x.recordID()
		if err := s.unsaid.say(u, x.keys, -1-k); err != nil { // beside its links
			return err
		}
	}
	return nil
}

// allMeant gives, by record, the subjects that rows which gave no record mean by their keys.
func (p *Pipeline) allMeant(ctx context.Context, tx *store.Tx) (map[uuid.UUID][][]importers.Key, error) {
	meant := map[uuid.UUID][][]importers.Key{}
	err := register.EachMention(ctx, tx, p.id.Tenant, func(m *register.Mention) error {
		if m.RecordID != "" && !m.Names() {
			meant[recordOf(m.RecordID)] = nil
		}
		return nil
	})
	if err == nil {
		err = p.addNamed(ctx, tx, meant)
	}
	return meant, err
}
