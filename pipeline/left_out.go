package pipeline

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"sheetlift/importers"
	"sheetlift/importers/source"
	"sheetlift/mappings"
)

// came is what a snapshot after the initial one brings of a source.
type came struct {
	keys map[string]int // by entity and key: rows that name it
	view *mendedView    // of rows that came back in a workbook
}

// cameBack notes the keys that a row names, whatever becomes of it.
func (d *dryRunner) cameBack(sh *sheet, plan *mappings.Plan, row *mappings.Row) {
	if d.snap.kind == "" {
		return
	}
	c := d.came[sh.src.Name]
	if c == nil {
		c = &came{keys: map[string]int{}, view: sh.view}
		d.came[sh.src.Name] = c
	}
	for _, key := range namedKeys(plan, row) {
		c.keys[key]++
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

// leftOut takes in what the rejected rows of earlier snapshots say against consents, if they did not come back. Otherwise a refusal
// that was rejected, and that stood against a consent therefore, would be forgotten with the row: leaving it out would raise the
// consent. A row came back if the workbook of rejects holds it; elsewhere, if the snapshot brings as many rows of its key as were
// rejected. One whose record the register holds by now came in.
func (d *dryRunner) leftOut(ctx context.Context) error {
	if d.snap.kind == "" {
		return nil
	}
	list, err := d.history(ctx)
	if err != nil {
		return err
	}
	from := origins(list)
	for _, fr := range list {
		if fr.Snapshot == d.snap.name {
			break
		}
		q, err := d.at(fr)
		if err != nil {
			return err
		}
		dry, _, err := last[DryRunResult](ctx, q, DryRun)
		if err != nil {
			return err
		}
		if dry == nil || dry.Manifest != fr.Manifest {
			continue // nothing was decided about its rows
		}
		maps, err := q.loadMappings()
		if err != nil {
			return err
		}
		for i := range q.batch.Sources {
			same := from.of(fr.Snapshot, q.batch.Sources[i].Name) == from.of(d.snap.name, q.batch.Sources[i].Name)
			if err := d.leftOutOf(ctx, q, fr, i, maps[i], filepath.Dir(dry.FindingsFile), same); err != nil {
				return err
			}
		}
	}
	return nil
}

// leftOutOf is leftOut for one source of one earlier snapshot. sameRows: mended rows of this snapshot have the numbers of its rows.
func (d *dryRunner) leftOutOf(ctx context.Context, q *Pipeline, fr *FreezeResult, i int, m *mappings.Mapping, dir string, sameRows bool) error {
	s := &q.batch.Sources[i]
	wanted := map[int]bool{}
	err := readRejected(dir, func(r *rejectedRow) error {
		if r.Source == s.Name {
			wanted[r.Row] = true
		}
		return nil
	})
	if err != nil || len(wanted) == 0 {
		return err
	}
	sh, err := q.openSheet(ctx, fr, s, m, nil)
	if err != nil {
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
				if row := &kept.List[k]; wanted[row.Num] {
					f(row)
				}
			}
			return nil
		})
	}
	rejected := map[string]int{} // by key: rows
	if err := rows(func(row *mappings.Row) {
		for _, key := range namedKeys(plan, row) {
			rejected[key]++
		}
	}); err != nil {
		return err
	}
	now := d.came[s.Name]
	return rows(func(row *mappings.Row) {
		if sameRows && now != nil && now.view != nil && now.view.rows != nil {
			if _, ok := now.view.at[row.Num]; ok {
				return
			}
		}
		keys := namedKeys(plan, row)
		for k, rec := range append(slices.Clone(row.Partial), row.Records...) {
			if !opposes(&rec.Record) || d.cameIn(s, keys, now, rejected) {
				continue
			}
			d.facts.know(&rec.Record, fmt.Sprintf("%s of %s row %d record %d", s.Name, fr.Snapshot, row.Num, k), s.System, s.obtained, standing{rejected: true})
		}
	})
}

// cameIn reports whether all keys of a row came back, or are in the register by now.
func (d *dryRunner) cameIn(s *Source, keys []string, now *came, rejected map[string]int) bool {
	if len(keys) == 0 {
		return false
	}
	for _, key := range keys {
		entity, name, _ := strings.Cut(key, "\x00")
		id := d.id.Record(s.System, entity, name)
		if _, held := d.facts.held[id]; held || d.facts.heldRecords[id] {
			continue
		}
		if now == nil || now.keys[key] < rejected[key] {
			return false
		}
	}
	return true
}
