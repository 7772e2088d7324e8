package suggest

import (
	"slices"

	"sheetlift/mappings"
)

// suppressions drafts a list of contact points that must not be used. Whoever is in a list that is called so is in it, with or without a day
// or a reason; in any other sheet, either says so.
func (s *suggestion) suppressions() {
	r := s.record(nil)
	var dated []mappings.Condition
	if col, ok := s.at["occurred_at"]; ok && s.look.leaves(col) && s.look.Columns[col].Filled < s.look.Rows && !s.look.named("suppression") {
		dated = []mappings.Condition{{Column: s.look.Name(col), NotBlank: true}}
	}
	col, ok := s.at["reason"]
	partly := ok && s.look.Columns[col].Filled < s.look.Rows
	switch {
	case partly && (len(dated) > 0 || s.look.named("suppression")):
		blank := r
		blank.When = append(dated, mappings.Condition{Column: s.look.Name(col), Blank: true})
		blank.Fields = slices.Clone(r.Fields)
		for i := range blank.Fields {
			if blank.Fields[i].Name == "reason" {
				f := Field{Name: "reason", Confirm: true}
				s.ctx.State(&f, "suppression", "opt_out")
				why := "stand in a list of contact points that must not be used"
				if len(dated) > 0 {
					why = "have a day in " + s.look.Say(s.at["occurred_at"])
				}
				f.why("rows without a reason in " + s.look.Say(col) + " " + why)
				blank.Fields[i] = f
			}
		}
		s.draft.Records = append(s.draft.Records, blank)
		r.When = append(r.When, mappings.Condition{Column: s.look.Name(col), NotBlank: true})
	case partly:
		r.When = append(r.When, mappings.Condition{Column: s.look.Name(col), NotBlank: true})
		r.Why = append(r.Why, "rows without "+s.look.Say(col)+" say nothing")
	case len(dated) > 0:
		r.When = dated
		r.Why = append(r.Why, "rows without "+s.look.Say(s.at["occurred_at"])+" say nothing")
	}
	for _, col := range s.answers {
		if no := s.look.silent(col); !slices.Contains(s.optouts, col) { // whoever is entered in a register, unless the answer is that nobody is
			s.used[col] = true
			if len(no) > 0 {
				r.When = append(r.When, mappings.Condition{Column: s.look.Name(col), NotIn: no})
				r.Why = append(r.Why, "unless "+s.look.Say(col)+" says that it is not entered")
			}
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
