package suggest

import (
	"slices"

	"sheetlift/mappings"
)

// oneVerdict makes columns that answer the same question give one record a row: the first answers, unless another says no.
func (s *suggestion) oneVerdict(list []Record) (out []Record) {
	about := func(r *Record) string {
		text := ""
		for i := range r.Fields {
			if f := &r.Fields[i]; f.Spec.Const != nil && (f.Name == "purpose" || f.Name == "channel") {
				text += f.Name + "=" + *f.Spec.Const + " "
			} else if f.Name == "purpose" && len(f.Asks) > 0 {
				text += "asked about " + r.about
			} else if f.Name == "purpose" {
				text += "purpose "
			}
		}
		return text
	}
	var confirming []int
	for i := range list {
		col := s.answers[i]
		same := func(j int) bool {
			return j != i && about(&list[j]) == about(&list[i]) && s.look.optsOut(col) != mappings.MaybeOptOut && s.look.optsOut(s.answers[j]) != mappings.MaybeOptOut && (s.general(s.answers[j]) || s.general(col))
		}
		if s.confirms(col, &list[i]) && slices.ContainsFunc(s.answers, func(other int) bool {
			j := slices.Index(s.answers, other)
			return same(j) && !s.confirms(other, &list[j])
		}) {
			confirming = append(confirming, i)
			continue
		}
		first, again := i, false
		for j := range i {
			if same(j) && !slices.Contains(confirming, j) {
				first, again = min(first, j), true
			}
		}
		no := s.look.against(col, s.look.optout(col))
		if !again {
			out = append(out, list[i])
			continue
		}
		if len(no) == 0 {
			delete(s.used, col) // it can't say more than the first
			continue
		}
		for k := range out {
			if about(&out[k]) == about(&list[first]) {
				out[k].When = append(out[k].When, mappings.Condition{Column: s.look.Name(col), NotIn: no})
				out[k].Why = append(out[k].Why, "unless "+s.look.Say(col)+" says no")
			}
		}
		if s.confirms(col, &list[i]) {
			if no = opposed(&list[i]); len(no) == 0 {
				continue
			}
			list[i].When = slices.DeleteFunc(list[i].When, func(c mappings.Condition) bool { return c.In != nil && c.Column == s.look.Name(col) })
		}
		list[i].When = append(list[i].When, mappings.Condition{Column: s.look.Name(col), In: no})
		list[i].Why = append(list[i].Why, s.look.Say(col)+" answers the same question as "+s.look.Say(s.answers[first])+", and a no counts wherever it stands")
		out = append(out, list[i])
	}
	for _, i := range confirming {
		out = s.confirmed(out, s.answers[i], &list[i], func(r *Record) bool { return about(r) == about(&list[i]) })
	}
	return out
}

// confirms reports whether a column only says whether an answer was confirmed: a no there is none.
func (s *suggestion) confirms(col int, r *Record) bool {
	return fits("double", plain(s.look.Columns[col].Header)) > 0 && slices.ContainsFunc(r.When, func(c mappings.Condition) bool { return c.In != nil && c.Column == s.look.Name(col) })
}

// opposed are the words by which the status of a record speaks against consent.
func opposed(r *Record) (list mappings.Strings) {
	for i := range r.Fields {
		if f := &r.Fields[i]; f.Name == "status" {
			list = slices.Concat(list, f.Spec.Enum["refused"], f.Spec.Enum["withdrawn"])
		}
	}
	return list
}

// confirmed leaves out of the records the consents that a column says nobody confirmed. What speaks against consent there needs no confirmation,
// and has a record of its own.
func (s *suggestion) confirmed(list []Record, col int, own *Record, same func(*Record) bool) (out []Record) {
	name := s.look.Name(col)
	against, hard := s.look.against(col, false), opposed(own)
	no := slices.DeleteFunc(slices.Clone(against), func(w string) bool { return slices.Contains(hard, w) })
	if len(against) == 0 {
		delete(s.used, col) // it can't say more than the first
		return list
	}
	for _, r := range list {
		i := slices.IndexFunc(r.Fields, func(f Field) bool { return f.Name == "status" && len(f.Spec.From) == 1 })
		if !same(&r) || i < 0 {
			out = append(out, r)
			continue
		}
		status := &r.Fields[i]
		given := slices.Clone(status.Spec.Enum["given"])
		if status.Spec.Polarity != "inverted" {
			given = append(given, status.Spec.Enum["yes"]...)
		}
		if len(given) == 0 || slices.ContainsFunc(r.When, func(c mappings.Condition) bool { // rows that say no alone
			return c.Column == status.Spec.From[0] && (c.In != nil || slices.Equal(c.NotIn, given))
		}) {
			out = append(out, r)
			continue
		}
		when := slices.Clone(r.When)
		unconfirmed := r
		unconfirmed.Why = append(slices.Clone(r.Why), "where "+s.look.Say(col)+" says that nobody confirmed, what is no consent counts all the same")
		r.When = append(slices.Clone(when), mappings.Condition{Column: name, NotIn: against})
		r.Why = append(slices.Clone(r.Why), "unless "+s.look.Say(col)+" says that nobody confirmed")
		if out = append(out, r); len(no) > 0 {
			unconfirmed.Fields = slices.Clone(r.Fields)
			unconfirmed.When = append(when, mappings.Condition{Column: name, In: no}, mappings.Condition{Column: status.Spec.From[0], NotIn: given})
			out = append(out, unconfirmed)
		}
	}
	if len(hard) > 0 {
		own.When = []mappings.Condition{{Column: name, In: hard}}
		own.Why = append(own.Why, "a no counts wherever it stands")
		out = append(out, *own)
	}
	return out
}
