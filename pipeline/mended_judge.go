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

// solved reports whether a row that came back as it went out may come in all the same: it was rejected only because of other rows.
// Either its key stood in them with other content, and no such row is left; or what they say stood against it, which is looked at anew.
func (s *settler) solved(row *mappings.Row, records []identified) bool {
	faults := s.sh.view.went.of(row).why()
	if len(faults) == 0 || slices.ContainsFunc(faults, func(f rejectedBy) bool {
		return f.Rule != "key.multiple_match" && f.Rule != "consent.opposed_by_rejected"
	}) {
		return false
	}
	return !slices.ContainsFunc(records, func(x identified) bool { return s.facts.keyState(&x) == keyConflict })
}

// torn rejects a row of which the workbook says different things under its token; false if it does not. Each row of the
// workbook counts.
func (s *settler) torn(row *mappings.Row) (bool, error) {
	v := s.sh.view
	if v == nil || v.rows == nil {
		return false, nil
	}
	k, ok := v.at[row.Num]
	if !ok || v.rows[k].torn == nil {
		return false, nil
	}
	const rule = "row.token_conflict"
	s.faults = append(v.went.of(row).why(), s.faults...)
	places := make([]string, len(v.rows[k].torn))
	for i, at := range v.rows[k].torn {
		places[i] = fmt.Sprint(at)
	}
	for i, at := range v.rows[k].torn {
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
	more := len(v.rows[k].torn) - 1 // the row itself is counted by who asks
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
