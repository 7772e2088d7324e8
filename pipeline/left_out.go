package pipeline

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/uuid"

	"sheetlift/importers"
	"sheetlift/importers/register"
	"sheetlift/importers/source"
	"sheetlift/mappings"
	"sheetlift/pipeline/store"
)

// came is what a snapshot after the initial one brings of a source: rows that can be read. One that can't, or that says nothing any
// more, takes back nothing of what it said before.
type came struct {
	keys     map[string]cameKey           // by entity and key
	rows     map[int]map[string][]refusal // of a workbook: by number and entity, what a row says against consents
	dangling map[int]bool                 // of them, rows that point to what is not there
	view     *mendedView                  // of rows that came back in a workbook

	out     map[[32]byte]bool // digests of rows that the mapping rejects
	outKeys map[string]int    // the same, by entity and key: how many rows

	seed  maphash.Seed      // of what refusals are compared by
	words map[string]string // of refusals, each once
}

// cameKey is what came under one key.
type cameKey struct {
	rows     int
	dangling int       // of them, rows that point to what is not there
	first    int       // number of the first row
	against  []refusal // what the rows say against consents, each once
}

// cameBack notes the keys that a row gives.
func (d *dryRunner) cameBack(surveyed *decider, plan *mappings.Plan, x *passedRow) {
	sh := surveyed.sh
	row := x.row
	if d.snap.kind == "" {
		return
	}
	c := d.came[sh.src.Name]
	if c == nil {
		c = &came{keys: map[string]cameKey{}, rows: map[int]map[string][]refusal{}, dangling: map[int]bool{}, view: sh.view, out: map[[32]byte]bool{}, outKeys: map[string]int{}, seed: maphash.MakeSeed(), words: map[string]string{}}
		d.came[sh.src.Name] = c
	}
	if row.Verdict == mappings.Rejected {
		c.out[row.Block.RowDigest(row.Index)] = true
		for _, key := range namedKeys(plan, row) {
			c.outKeys[key]++
		}
	}
	if row.Verdict != mappings.Accepted {
		return
	}
	dangles := !d.literal && slices.ContainsFunc(x.records, func(rec identified) bool { return surveyed.dangles(&rec, x.records) })
	d.res.Slips = d.res.Slips || dangles
	for _, key := range namedKeys(plan, row) {
		k := c.keys[key]
		if k.rows++; k.first == 0 {
			k.first = row.Num
		}
		if dangles {
			k.dangling++
		}
		c.keys[key] = k
	}
	if c.view != nil && c.view.rows != nil {
		c.rows[row.Num] = map[string][]refusal{}
		if dangles {
			c.dangling[row.Num] = true
		}
	}
	for i := range x.records {
		d.cameAgainst(c, row.Num, &x.records[i])
		d.facts.name(&x.records[i])
	}
}

// namedKeys are the keys that a row names, each once.
func namedKeys(plan *mappings.Plan, row *mappings.Row) []string {
	var keys []string
	add := func(e *importers.Entity, key string) {
		if key = e.Name + "\x00" + key; !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	if row.Verdict == mappings.Accepted {
		for i := range row.Records {
			add(row.Records[i].Entity, row.Records[i].Key)
		}
		return keys
	}
	for _, n := range plan.Named(row) {
		add(n.Entity, n.Key)
	}
	return keys
}

// keyRows gives, by key that a row names, how many rows of the sheet have it.
func keyRows(plan *mappings.Plan, row *mappings.Row) map[string]int {
	rows := map[string]int{}
	for i := range row.Records {
		rows[row.Records[i].Entity.Name+"\x00"+row.Records[i].Key] = row.Records[i].KeyRows
	}
	if row.Verdict == mappings.Accepted {
		return rows
	}
	for _, n := range plan.Named(row) {
		rows[n.Entity.Name+"\x00"+n.Key] = n.Rows
	}
	return rows
}

// speaks reports whether a record speaks against consents though its row is rejected: it opposes them, or says that its subject
// was erased.
func speaks(rec *importers.Record) bool {
	if rec.Entity.Name != "case" || opposes(rec) {
		return opposes(rec)
	}
	_, erases := importers.ErasureOf(rec, "", 0)
	return erases
}

// said are the records of a row that speak against consents, whatever becomes of the row.
func said(row *mappings.Row, f func(k int, rec *mappings.RecordOut)) {
	for k, rec := range append(slices.Clone(row.Partial), row.Records...) {
		if speaks(&rec.Record) {
			f(k, &rec)
		}
	}
}

// hear takes in what rows of a mended workbook say against consents that can't be taken: nobody knows which rows they are, but
// somebody said it.
func (d *dryRunner) hear(ctx context.Context, sh *sheet, plan *mappings.Plan) error {
	var fault error
	err := sh.view.hear(ctx, plan, func(row *mappings.Row, h *heardRow) {
		said(row, func(k int, rec *mappings.RecordOut) {
			id := fmt.Sprintf("%s heard %d record %d", sh.src.Name, row.Num, k)
			d.facts.know(&rec.Record, id, sh.src.System, sh.src.obtained, standing{rejected: true, meant: d.meant(plan, sh.src.System, row, rec)})
			d.elsewhere = append(d.elsewhere, newSpoken(id, sh.src, rec, spoken{row: h.row, heard: true}))
		})
		at := &register.Unrecorded{Source: sh.src.Name, System: sh.src.System, FileDigest: sh.env.FileDigest, Sheet: sh.env.Sheet, Row: int64(h.row), Stray: true, Rejected: true}
		if fault == nil {
			fault = d.unsaid.sayAgainst(row, plan, sh.src, at)
		}
	})
	return errors.Join(err, fault)
}

// leftOut takes in what the rejected rows of earlier snapshots say against consents, if they did not come back. Otherwise a refusal
// that was rejected, and that stood against a consent therefore, would be forgotten with the row: leaving it out would raise the
// consent. Of a mended snapshot it also takes in which content such rows have under their keys: a conflict is mended when all its
// rows agree, not when one is left out. It learns which identifiers stand beside each other in such rows.
//
// A row came back if the workbook of rejects holds it; elsewhere, if the snapshot brings as many rows of its key as were rejected, and a
// fresh export as many as there were with it: else the yes beside a no would stand in its place. It came in if the register has the row, or its record, from a later snapshot than the one that rejected it.
func (d *dryRunner) leftOut(ctx context.Context) error {
	if d.snap.kind == "" {
		return nil
	}
	list, err := d.history(ctx)
	if err != nil {
		return err
	}
	l := &leavings{dryRunner: d, from: origins(list), contents: map[place][]identified{}, awaited: awaited{names: map[string][]int{}}}
	if err := l.since(ctx, list); err != nil {
		return err
	}
	err = d.decidedBefore(ctx, list, func(q *Pipeline, fr *FreezeResult, decided []recordedDryRun) error {
		maps, err := q.loadMappings()
		if err != nil {
			return err
		}
		for i := range q.batch.Sources {
			if err := l.of(ctx, q, fr, i, maps[i], decided); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	l.keys()
	d.res.NotBack = l.awaited.counted()
	return nil
}

// decidedBefore calls f with each snapshot before that of the dry-run about whose rows something was decided, and the dry-runs that did, oldest first.
func (d *dryRunner) decidedBefore(ctx context.Context, list []*FreezeResult, f func(q *Pipeline, fr *FreezeResult, decided []recordedDryRun) error) error {
	for _, fr := range list {
		if fr.Snapshot == d.snap.name {
			return nil
		}
		q, err := d.at(fr)
		if err != nil {
			return err
		}
		decided, err := q.decidedBy(ctx)
		if err != nil {
			return err
		}
		decided = slices.DeleteFunc(decided, func(x recordedDryRun) bool { return x.dry.Manifest != fr.Manifest })
		if len(decided) == 0 {
			continue
		}
		if err := f(q, fr, decided); err != nil {
			return err
		}
	}
	return nil
}

// outOf gives the rows of a source that dry-runs rejected, by number, as the first of them that did lists them.
func outOf(decided []recordedDryRun, source string) (map[int]*rejectedRow, error) {
	rejected := map[int]*rejectedRow{}
	for _, x := range decided {
		err := readRejected(filepath.Dir(x.dry.FindingsFile), x.dry.Listed, func(r *rejectedRow) error {
			if r.Source == source && rejected[r.Row] == nil {
				rejected[r.Row] = r
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return rejected, nil
}

// leavings are the rejected rows of earlier snapshots, as a later one finds them.
type leavings struct {
	*dryRunner
	from     rowOrigins
	rows     map[place]int          // number of the newest snapshot that brought a row in; place.source is the snapshot it is a row of, and the source
	records  map[uuid.UUID]int      // the same of a record
	contents map[place][]identified // by row: what it has under its keys
	awaited  awaited
}

// rowPlace is where a row is, whichever snapshot holds it.
func (l *leavings) rowPlace(snapshot, source string, row int) place {
	return place{l.from.of(snapshot, source) + "\x00" + source, row}
}

// since learns when rows and records came in.
func (l *leavings) since(ctx context.Context, list []*FreezeResult) error {
	l.rows, l.records = map[place]int{}, map[uuid.UUID]int{}
	number := map[string]int{}
	for _, fr := range list {
		number[fr.Snapshot] = fr.Number
	}
	ids := map[uuid.UUID]int{}
	return l.db.View(ctx, func(tx *store.Tx) error {
		err := register.EachProvenance(ctx, tx, l.id.Tenant, l.batch.Name, "", func(pr register.Provenance) error {
			n, live := number[pr.Snapshot]
			id, err := uuid.Parse(pr.ID)
			if err != nil || !live || n == 0 || slices.Contains(l.asBefore, pr.Snapshot) { // nothing is rejected before the initial snapshot
				return err
			}
			at := l.rowPlace(pr.Snapshot, pr.Source, int(pr.Row))
			l.rows[at], ids[id] = max(l.rows[at], n), max(ids[id], n)
			return nil
		})
		if err != nil || len(ids) == 0 {
			return err
		}
		for i := range importers.Entities {
			e := &importers.Entities[i]
			for _, system := range l.initial().systems() {
				err := register.EachHeld(ctx, tx, e, l.id.Tenant, system, func(h register.Held) error {
					id, err := uuid.Parse(h.ID)
					if err != nil || l.without[id] {
						return err
					}
					n, ok := ids[id]
					if e.Event && ok {
						if id, err = uuid.Parse(h.RecordID); err != nil {
							return err
						}
					}
					if ok {
						l.records[id] = max(l.records[id], n)
					}
					return nil
				})
				if err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// of takes in what one source of one earlier snapshot leaves.
func (l *leavings) of(ctx context.Context, q *Pipeline, fr *FreezeResult, i int, m *mappings.Mapping, decided []recordedDryRun) error {
	s := &q.batch.Sources[i]
	wanted, err := outOf(decided, s.Name)
	if err != nil {
		return err
	}
	part := fr.part(s.Name)
	aside := mayRestElsewhere(s, m, decided) // rows that rest on another lawful basis were skipped and are on no list
	if len(wanted) == 0 && !aside && (part == nil || part.Sheet == "") {
		return nil
	}
	sh, err := q.openSheet(ctx, fr, s, m, nil)
	if err != nil || len(wanted) == 0 && !aside && len(sh.view.heard) == 0 {
		if err == nil {
			sh.close()
		}
		return err
	}
	defer sh.close()
	sh.keep = true
	plan, _, _, err := q.compile(ctx, DryRun, sh, m)
	if err != nil {
		return err
	}
	rows := func(f func(*mappings.Row)) error {
		var kept mappings.Rows
		return sh.each(ctx, func(b *source.Block) error {
			plan.Keep(b, &kept)
			for k := range kept.List {
				if row := &kept.List[k]; wanted[row.Num] != nil || len(row.Aside) > 0 {
					f(row)
				}
			}
			return nil
		})
	}
	rejected := map[string]int{} // by key: rows that have to be there again
	out := map[string]int{}      // by key: rejected rows
	if err := rows(func(row *mappings.Row) {
		for _, key := range namedKeys(plan, row) {
			rejected[key]++
			if wanted[row.Num] != nil {
				out[key]++
			}
		}
		if l.snap.kind != Delta { // what comes back mended is the rejected rows alone
			return
		}
		for key, n := range keyRows(plan, row) {
			rejected[key] = max(rejected[key], n)
		}
	}); err != nil {
		return err
	}
	now := l.came[s.Name]
	// came reports whether a row came later, so that the mapping can read it. num is its number; 0 of one that is only heard. If sound, it must
	// point to nothing that is not there.
	came := func(row *mappings.Row, num int, sound bool) bool {
		at := l.rowPlace(fr.Snapshot, s.Name, num)
		if num > 0 && l.rows[at] > fr.Number {
			return true
		}
		if num > 0 && now != nil && now.view != nil && now.view.rows != nil && l.from.of(fr.Snapshot, s.Name) == l.from.of(l.snap.name, s.Name) {
			if _, ok := now.view.at[num]; ok {
				return now.rows[num] != nil && !(sound && now.dangling[num])
			}
			return l.cameIn(s, namedKeys(plan, row), nil, rejected, fr.Number, sound) // another row of the workbook that has its key now is another row
		}
		return l.cameIn(s, namedKeys(plan, row), now, rejected, fr.Number, sound)
	}
	// back reports whether what a row said is superseded by what came later: not by what says nobody knows what.
	back := func(row *mappings.Row, num int) bool { return came(row, num, true) }
	say := func(row *mappings.Row, num int, at spoken) {
		if back(row, num) {
			if num == 0 || l.rows[l.rowPlace(fr.Snapshot, s.Name, num)] <= fr.Number {
				l.tookPlace(fr, s, plan, row, now, at)
			}
			l.replaced(register.RowOf{Snapshot: fr.Snapshot, Source: s.Name, Row: int64(at.row), Stray: at.heard}, wanted[row.Num])
			return
		}
		said(row, func(k int, rec *mappings.RecordOut) {
			id := fmt.Sprintf("%s of %s row %d record %d", s.Name, fr.Snapshot, row.Num, k)
			l.facts.know(&rec.Record, id, s.System, s.obtained, standing{rejected: true, meant: l.meant(plan, s.System, row, rec)})
			at.snapshot, at.number = fr.Snapshot, fr.Number
			l.elsewhere = append(l.elsewhere, newSpoken(id, s, rec, at))
		})
	}
	if err := rows(func(row *mappings.Row) {
		if len(row.Aside) > 0 && !back(row, row.Num) {
			l.aside(s, row, fmt.Sprintf("%s of %s row %d", s.Name, fr.Snapshot, row.Num),
				spoken{snapshot: fr.Snapshot, number: fr.Number, file: sh.src.File, sheet: sh.env.Sheet, row: row.Num, line: row.Line})
		}
		if wanted[row.Num] == nil {
			return
		}
		l.await(fr, sh, plan, row, now, out, came(row, row.Num, false))
		say(row, row.Num, spoken{file: sh.src.File, sheet: sh.env.Sheet, row: row.Num, line: row.Line})
		l.link(s, row, wanted[row.Num], back(row, row.Num))
		l.content(sh, row, l.rowPlace(fr.Snapshot, s.Name, row.Num), came(row, row.Num, false))
	}); err != nil {
		return err
	}
	return sh.view.hear(ctx, plan, func(row *mappings.Row, h *heardRow) {
		say(row, h.num, spoken{file: part.File, sheet: part.Sheet, row: h.row, heard: true})
	})
}

// link takes in who is one subject as far as a rejected row says so, which the register does not know. Of one that was rejected because
// its subject was erased that stands whatever came later: else the subject came back under its other identifier.
func (l *leavings) link(s *Source, row *mappings.Row, r *rejectedRow, back bool) {
	if row.Verdict != mappings.Accepted || back && !r.erased() {
		return
	}
	var records [][]importers.Key
	for k := range row.Records {
		if keys := importers.SubjectKeys(&row.Records[k].Record, s.System); len(keys) > 0 {
			records = append(records, keys)
		}
	}
	records = append(records, silentOf(row, s.System)...)
	l.facts.links.AddRow(records...)
	by := l.facts.links.Linker(s.System)
	var u unsureLink
	for _, keys := range records {
		u.keys = by.Append(u.keys, keys)
	}
	l.facts.unsure = append(l.facts.unsure, u)
}

// replaced notes that a row came back which the register knows of. Of one that was rejected because its subject was erased it keeps the links.
func (l *leavings) replaced(at register.RowOf, r *rejectedRow) {
	if l.facts.standsUnrecorded[at] {
		at.Erased = r.erased()
		l.unsaid.replaced = append(l.unsaid.replaced, at)
	}
}

// erased reports whether the row was rejected because its subject was erased.
func (r *rejectedRow) erased() bool {
	return r != nil && slices.ContainsFunc(r.Faults, func(f rejectedBy) bool { return f.Rule == "subject.erased" })
}

// content notes what a row has under its keys, for a mended snapshot. Of a row that was rejected more than once, the newest counts.
func (l *leavings) content(sh *sheet, row *mappings.Row, at place, back bool) {
	if l.snap.kind != Mended {
		return
	}
	if back {
		delete(l.contents, at)
		return
	}
	if row.Verdict != mappings.Accepted {
		return // it can't be read, so what it had before stands
	}
	var list []identified
	for k := range row.Records {
		rec := row.Records[k]
		ids := recordIDs{content: register.ContentSum(&rec.Record), recordUID: l.id.Record(sh.src.System, rec.Entity.Name, rec.Key)}
		list = append(list, identified{RecordOut: &mappings.RecordOut{History: rec.History}, recordIDs: ids, keys: importers.OwnKeys(importers.SubjectKeys(&rec.Record, sh.src.System))})
	}
	l.contents[at] = list
}

// keys puts what was left out beside what came back under the same keys.
func (l *leavings) keys() {
	for _, list := range l.contents {
		for i := range list {
			l.facts.group(&list[i])
			l.facts.left[list[i].recordUID] = true
		}
	}
}

// cameIn reports whether all keys of a row came back, or are in the register since; if sound, in rows that point to nothing that is not there.
func (l *leavings) cameIn(s *Source, keys []string, now *came, rejected map[string]int, number int, sound bool) bool {
	if len(keys) == 0 {
		return false
	}
	for _, key := range keys {
		entity, name, _ := strings.Cut(key, "\x00")
		if l.records[l.id.Record(s.System, entity, name)] > number {
			continue
		}
		if now == nil {
			return false
		}
		rows := now.keys[key].rows
		if sound {
			rows -= now.keys[key].dangling
		}
		if rows < max(1, rejected[key]) {
			return false
		}
	}
	return true
}
