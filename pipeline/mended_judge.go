package pipeline

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"sheetlift/importers/source"
	"sheetlift/mappings"
	"sheetlift/pipeline/finding"
)

// wentOut says for which reasons the rows of a mended file were rejected when they went out.
type wentOut struct {
	byRow    map[int]*rejectedRow      // by number, of a workbook
	byDigest map[[32]byte]*rejectedRow // of a text file
}

// of finds what was said of a row; nil if it was not handed out.
func (w *wentOut) of(row *mappings.Row) *rejectedRow {
	if r := w.byRow[row.Num]; r != nil {
		return r
	}
	if len(w.byDigest) == 0 {
		return nil
	}
	return w.byDigest[row.Block.RowDigest(row.Index)]
}

// why are the faults of a row when it first went out.
func (r *rejectedRow) why() []rejectedBy {
	if r == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(r.Faults), func(f rejectedBy) bool { return f.Rule == "row.unmended" || f.Rule == "row.token_conflict" })
}

// forOthers reports whether a row was rejected only because of what other rows say: its key stood in them with other content, or they spoke
// against its consent. There is nothing in it to mend.
func (r *rejectedRow) forOthers() bool {
	faults := r.why()
	return len(faults) > 0 && !slices.ContainsFunc(faults, func(f rejectedBy) bool {
		return f.Rule != "key.multiple_match" && f.Rule != "consent.opposed_by_rejected"
	})
}

// wentOut learns for which reasons the rows that came back in mended files were rejected, before any of them is judged. Of a row that was
// rejected more than once, the newest rejection counts.
func (d *dryRunner) wentOut(ctx context.Context) error {
	if d.snap.kind != Mended {
		return nil
	}
	list, err := d.history(ctx)
	if err != nil {
		return err
	}
	from := origins(list)
	return d.decidedBefore(ctx, list, func(q *Pipeline, fr *FreezeResult, decided []recordedDryRun) error {
		for _, sh := range d.sheets {
			name, text := sh.src.Name, sh.view.rows == nil
			if !slices.ContainsFunc(q.batch.Sources, func(s Source) bool { return s.Name == name }) || !text && from.of(fr.Snapshot, name) != from.of(d.snap.name, name) {
				continue
			}
			wanted, err := outOf(decided, name)
			if err != nil {
				return err
			}
			sh.view.took(fr.Snapshot, wanted)
		}
		return nil
	})
}

// took notes why rows of a snapshot, by number, were rejected.
func (v *mendedView) took(snapshot string, rejected map[int]*rejectedRow) {
	w := &v.went
	if v.rows != nil {
		for n := range v.at {
			if r := rejected[n]; len(r.why()) > 0 {
				if w.byRow == nil {
					w.byRow = map[int]*rejectedRow{}
				}
				w.byRow[n] = r
			}
		}
		return
	}
	for digest, places := range v.still {
		var of *rejectedRow
		for _, at := range places {
			// Of rows that are alike, one that was wrong by itself speaks for all.
			if r := rejected[at.row]; at.snapshot == snapshot && len(r.why()) > 0 && (of == nil || of.forOthers()) {
				of = r
			}
		}
		if of != nil {
			if w.byDigest == nil {
				w.byDigest = map[[32]byte]*rejectedRow{}
			}
			w.byDigest[digest] = of
		}
	}
}

// staysOut reports whether a row is rejected because it came back as it went out. Not so a row that the register holds by now; nor one that was
// rejected only because of other rows, which is judged anew, for these may be mended. All sides must see such a row alike: what it
// says against consents stands if it comes in, and opposes them if it does not.
func (d *dryRunner) staysOut(sh *sheet, row *mappings.Row, records []identified) bool {
	v := sh.view
	if !v.untouched(row.Block, row.Index) {
		return false
	}
	return v.tornAt(row.Num) != nil || !d.facts.holds(records) && !v.went.of(row).forOthers()
}

// tornAt are the rows of the workbook that say different things under the token of a row; nil if none do.
func (v *mendedView) tornAt(num int) []int {
	if k, ok := v.at[num]; ok && v.rows != nil {
		return v.rows[k].torn
	}
	return nil
}

// unmended rejects a row that came back as it went out, and says why it was rejected in the first place.
func (s *settler) unmended(row *mappings.Row) error {
	faults := s.sh.view.went.of(row).why()
	s.faults = append(slices.Clone(faults), s.faults...)
	err := s.report(row, "row.unmended", "", nil, func(f *finding.Finding) {
		for _, x := range faults {
			f.Message += " It was rejected for " + x.Rule
			if x.Column != "" {
				f.Message += " (column " + x.Column + ")"
			}
			f.Message += ": " + strings.TrimSpace(x.Message)
		}
	})
	if err != nil {
		return err
	}
	return s.reject(row, "row.unmended")
}

// unsolved reports whether a key of a row that came back as it went out stands in other rows with other content.
func (s *settler) unsolved(records []identified) bool {
	return slices.ContainsFunc(records, func(x identified) bool { return s.facts.keyState(&x) == keyConflict })
}

// torn rejects a row of which the workbook says different things under its token; false if it does not. Each row of the
// workbook counts.
func (s *settler) torn(row *mappings.Row) (bool, error) {
	v := s.sh.view
	if v == nil {
		return false, nil
	}
	torn := v.tornAt(row.Num)
	if torn == nil {
		return false, nil
	}
	const rule = "row.token_conflict"
	s.faults = append(v.went.of(row).why(), s.faults...)
	places := make([]string, len(torn))
	for i, at := range torn {
		places[i] = fmt.Sprint(at)
	}
	for i, at := range torn {
		f := finding.New(rule)
		f.Source, f.File, f.Sheet, f.Row = s.sh.src.Name, s.part.File, s.part.Sheet, at
		f.Message = fmt.Sprintf("Rows %s bear the token of row %d of the source and say different things, so none of them is taken.", strings.Join(places, ", "), row.Num)
		if i == 0 {
			s.fault(f)
		}
		if err := s.rec.Add(f); err != nil {
			return true, err
		}
	}
	more := len(torn) - 1 // the row itself is counted by who asks
	s.out.Rows.Read += more
	s.out.Rows.Rejected += more
	s.out.Rejected[rule] += more
	return true, s.reject(row, rule)
}

// strays reports the rows of a mended workbook that no snapshot knows, which are rejected, and those that repeat another.
func (s *settler) strays() error {
	if s.sh.view == nil {
		return nil
	}
	say := func(rule string, row int, why string) error {
		f := finding.New(rule)
		f.Source, f.File, f.Sheet, f.Row = s.sh.src.Name, s.part.File, s.part.Sheet, row
		if why != "" {
			f.Message = why
		}
		s.out.Rows.Read++
		return s.rec.Add(f)
	}
	for _, row := range s.sh.view.again {
		if err := say("row.repeat", row, ""); err != nil {
			return err
		}
		s.skip("row.repeat")
	}
	for _, x := range s.sh.view.stray {
		if err := say("row.unknown_token", x.row, x.why); err != nil {
			return err
		}
		s.out.Rows.Rejected++
		s.out.Rejected["row.unknown_token"]++
	}
	return nil
}

// hear puts the rows of a mended workbook that can't be taken through the plan of their source, only for what they say against
// consents. f gets each, and what is known of where it stands.
func (v *mendedView) hear(ctx context.Context, plan *mappings.Plan, f func(row *mappings.Row, h *heardRow)) error {
	if v == nil || len(v.heard) == 0 {
		return nil
	}
	const apart = 1 << 30 // below any header
	var kept mappings.Rows
	rows := func(i int) *mendedRow { return &mendedRow{num: apart + i, cells: v.heard[i].cells} }
	return (&mendedView{}).blocks(ctx, source.NewBuilder(false), len(v.heard), rows, func(b *source.Block) error {
		plan.Keep(b, &kept)
		for k := range kept.List {
			row := &kept.List[k]
			f(row, &v.heard[row.Num-apart])
		}
		return nil
	})
}
