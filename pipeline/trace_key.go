package pipeline

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"sheetlift/importers"
	"sheetlift/importers/source"
	"sheetlift/mappings"
	"sheetlift/pipeline/finding"
)

// A key that leads to no record is told why, as a cell is: a row that has the key was rejected or skipped, by which rule and at which cell. The rows are
// looked for in the frozen sheets of the sources that give such records, and what the dry-run made of them in its lists.

// keyRowsNamed is how many rows of a key are told apart.
const keyRowsNamed = 5

// noRecordOf says into none what became of the rows that have a key which the register holds no record under, newest snapshot first.
func (p *Pipeline) noRecordOf(ctx context.Context, e *importers.Entity, key string, none *ErrNoSuchRecord) error {
	all, _, err := p.freezes(ctx)
	if err != nil {
		return err
	}
	settled := map[string]bool{} // sources of which a newer snapshot has rows of the key
	for _, fr := range slices.Backward(all) {
		q, err := p.at(fr)
		if errors.As(err, new(*ConfigError)) { // batch.yaml has not all its sources any more
			continue
		}
		if err != nil {
			return err
		}
		decided, err := q.decidedBy(ctx)
		if err != nil {
			return err
		}
		if len(decided) == 0 {
			continue
		}
		dry := decided[0].dry
		for i := range q.batch.Sources {
			s := &q.batch.Sources[i]
			if fr.Number > 0 && fr.part(s.Name) == nil || settled[s.Name] || !slices.ContainsFunc(dry.Sources, func(d DryRunSource) bool { return d.Source == s.Name && d.Rows.Rejected+d.Rows.Skipped > 0 }) {
				continue
			}
			rows, err := q.rowsOfKey(ctx, fr, s, e, key)
			if err != nil {
				return err
			}
			settled[s.Name] = len(rows) > 0
			if err := none.judged(ctx, dry, fr, s, rows); err != nil {
				return err
			}
		}
		if none.Why != "" {
			return nil
		}
	}
	return nil
}

// judged says into none why rows of a source were rejected or skipped. Of rows one of which was accepted it says nothing: the record is not in yet, or was
// taken back.
func (e *ErrNoSuchRecord) judged(ctx context.Context, dry *DryRunResult, fr *FreezeResult, s *Source, rows []int) error {
	var why, ways []string
	var rejected []RejectedBy
	for _, row := range rows[:min(len(rows), keyRowsNamed)] {
		said := &ErrNoSuchRecord{}
		err := rejectedAt(ctx, dry, fr, rowLook{fr: fr, src: s, row: int64(row)}, said)
		if errors.As(err, new(*FileError)) || err == nil && said.Why == "" { // the list is gone, and dryrun makes it anew; or the row was accepted
			return nil
		}
		if err != nil {
			return err
		}
		why = append(why, fmt.Sprintf("row %d of source %s has that key, and %s", row, s.Name, said.Why))
		rejected = append(rejected, said.Rejected...)
		for line := range strings.SplitSeq(said.Remedy, "\n") {
			if !slices.Contains(ways, line) {
				ways = append(ways, line)
			}
		}
	}
	if len(why) == 0 {
		return nil
	}
	if more := len(rows) - len(why); more > 0 {
		why = append(why, finding.Count(more, "more row has it", "more rows have it"))
	}
	if e.Why == "" {
		e.Remedy = ""
	} else {
		e.Why, e.Remedy = e.Why+"; ", e.Remedy+"\n"
	}
	e.Why, e.Remedy, e.Rejected = e.Why+strings.Join(why, "; "), e.Remedy+strings.Join(ways, "\n"), append(e.Rejected, rejected...)
	return nil
}

// rowsOfKey finds the rows of a source's frozen sheet that have the key of a record in them, whatever else is wrong with them. A sheet that can't be read any
// more has none.
func (p *Pipeline) rowsOfKey(ctx context.Context, fr *FreezeResult, s *Source, e *importers.Entity, key string) (rows []int, err error) {
	m, err := p.loadMapping(s)
	if err != nil || !slices.ContainsFunc(m.Records, func(r mappings.RecordSpec) bool { return r.Entity == e.Name }) {
		return nil, nil
	}
	sh, err := p.openSheet(ctx, fr, s, m, nil)
	if notAsRecorded(err) || ctx.Err() != nil {
		return nil, err
	}
	if err != nil {
		return nil, nil
	}
	defer sh.close()
	plan, profile, _, err := p.compile(ctx, DryRun, sh, m)
	if ctx.Err() != nil {
		return nil, err
	}
	if err != nil { // under which the dry-run was not made
		return nil, nil
	}
	id := p.id.Record(s.System, e.Name, key)
	err = sh.each(ctx, func(b *source.Block) error {
		for i, n := range b.RowNum {
			if n <= max(profile.HeaderRow, profile.Titles) || mappings.BlankRow(b, i) {
				continue
			}
			for _, named := range plan.Named(&mappings.Row{Block: b, Index: i, Num: n}) {
				if named.Entity.Name == e.Name && p.id.Record(s.System, e.Name, named.Key) == id && !slices.Contains(rows, n) {
					rows = append(rows, n)
				}
			}
		}
		return nil
	})
	return rows, err
}
