package suggest

import (
	"slices"

	"sheetlift/mappings"
)

// suppressions drafts a list of contact points that must not be used. Where a column says since when, a row without that day is none.
func (s *suggestion) suppressions() {
	r := s.record(nil)
	if col, ok := s.at["occurred_at"]; ok && s.look.leaves(col) && s.look.Columns[col].Filled < s.look.Rows {
		r.When = append(r.When, mappings.Condition{Column: s.look.Name(col), NotBlank: true})
		r.Why = append(r.Why, "rows without "+s.look.Say(col)+" say nothing")
	}
	if col, ok := s.at["reason"]; ok && s.look.Columns[col].Filled < s.look.Rows {
		r.When = append(r.When, mappings.Condition{Column: s.look.Name(col), NotBlank: true})
		if s.look.named("suppression") { // whoever is in it is in it, with or without a reason
			blank := r
			blank.When = append(slices.Clone(r.When[:len(r.When)-1]), mappings.Condition{Column: s.look.Name(col), Blank: true})
			blank.Fields = slices.Clone(r.Fields)
			for i := range blank.Fields {
				if blank.Fields[i].Name == "reason" {
					f := Field{Name: "reason", Confirm: true}
					s.ctx.State(&f, "suppression", "opt_out")
					f.why("rows without a reason in " + s.look.Say(col) + " stand in a list of contact points that must not be used")
					blank.Fields[i] = f
				}
			}
			s.draft.Records = append(s.draft.Records, blank)
		} else {
			r.Why = append(r.Why, "rows without "+s.look.Say(col)+" say nothing")
		}
	}
	for _, col := range s.optouts {
		if yes := s.look.against(col, true); len(yes) > 0 {
			r.When = append(r.When, mappings.Condition{Column: s.look.Name(col), In: yes})
			r.Why = append(r.Why, "only rows that say so in "+s.look.Say(col))
			s.used[col] = true
		}
	}
	s.draft.Records = append(s.draft.Records, r)
}
