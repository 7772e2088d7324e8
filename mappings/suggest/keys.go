package suggest

import (
	"fmt"
	"slices"
	"strings"

	"sheetlift/importers"
	"sheetlift/pipeline/finding"
)

// Unique reports whether the columns together tell rows apart: each is filled in every row, and no two rows that differ have all of
// them alike. Rows that repeat another in every cell are none of their own.
func (l *Look) Unique(cols ...int) bool {
	return len(cols) > 0 && l.filled(cols) && l.clashes(cols, 1) == 0
}

// once reports whether a column is filled in every row and has no value twice.
func (l *Look) once(col int) bool {
	c := &l.Columns[col]
	seen := make(map[uint64]bool, len(c.rows))
	for _, digest := range c.rows {
		if seen[digest] {
			return false
		}
		seen[digest] = true
	}
	return c.Filled > 0 && c.Filled == l.Rows && l.told == l.Rows
}

func (l *Look) filled(cols []int) bool {
	return !slices.ContainsFunc(cols, func(col int) bool { c := &l.Columns[col]; return c.Filled == 0 || c.Filled < l.Rows })
}

// clashes counts rows that differ from an earlier one and have the columns alike with it, up to most.
func (l *Look) clashes(cols []int, most int) (n int) {
	seen := make(map[uint64]uint64, l.told)
	for row := range l.told {
		key := uint64(0)
		for _, col := range cols {
			key = mix(key, l.Columns[col].at(row))
		}
		whole := uint64(0)
		for col := range l.Columns {
			whole = mix(whole, l.Columns[col].at(row))
		}
		if before, again := seen[key]; !again {
			seen[key] = whole
		} else if before != whole {
			if n++; n >= most {
				break
			}
		}
	}
	return n
}

func (c *Column) at(row int) uint64 {
	if row < len(c.rows) {
		return c.rows[row]
	}
	return 0
}

// mix folds one digest into another; the order counts.
func mix(a, b uint64) uint64 {
	a = (a ^ b) * 0x9e3779b97f4a7c15
	return a ^ a>>29
}

// keyParts are fields by which records of an entity can be told apart: who or what they are about, then what else a row may be about.
// Each of the first alone is enough where it never repeats; the others only narrow one of them.
var keyParts = map[string]struct{ ids, more []string }{
	"consent":        {[]string{"external_id", "subject_id", "email", "phone", "device_id"}, []string{"purpose", "channel"}},
	"suppression":    {[]string{"external_id", "email", "phone", "subject_id"}, []string{"channel", "reason"}},
	"case":           {[]string{"external_id", "email", "subject_id", "phone", "requester_name"}, []string{"request_type", "received_at"}},
	"purpose":        {[]string{"purpose_id"}, nil},
	"activity":       {[]string{"activity_id"}, []string{"name", "owner"}},
	"notice":         {[]string{"notice_id"}, []string{"notice_version", "language"}},
	"retention_rule": {[]string{"rule_id"}, nil},
}

// needed are the parts without which a record of the entity is not found again, whatever the rows show.
var needed = map[string][]string{"suppression": {"channel"}, "notice": {"notice_version"}}

// key chooses what tells records apart: the smallest set of meaningful columns that the rows prove. Where only the time tells rows
// of consents apart, they are events. there says which column a field is read from.
func (s *suggestion) key(e *importers.Entity, there map[string]int) (key []string, history bool, why string) {
	parts := keyParts[e.Name]
	var ids, more []string
	must := needed[e.Name]
	for _, id := range parts.ids {
		// Numbers without country code are read only where a person says the country.
		if col, ok := there[id]; ok && (id != "phone" || s.look.Columns[col].Phones == s.look.Columns[col].Filled) {
			ids = append(ids, id)
		}
	}
	for _, m := range parts.more {
		// A date in a key is read by its layout alone.
		if col, ok := there[m]; ok && (m != "received_at" || s.look.Columns[col].Dates.layout()) {
			more = append(more, m)
		}
	}
	// Whoever asked once may ask again: without a number of the case, the day tells requests apart.
	if e.Name == "case" && !slices.Contains(ids, "external_id") && slices.Contains(more, "received_at") {
		must, more = []string{"received_at"}, slices.DeleteFunc(more, func(m string) bool { return m == "received_at" })
	}
	if _, ok := there["phone"]; ok && len(ids) == 0 && slices.Contains(parts.ids, "phone") {
		ids = []string{"phone"} // nothing else says who is meant, and the country is asked for
	}
	if len(ids) == 0 {
		return slices.Concat(parts.ids[:1], must), false, ""
	}
	columns := func(fields []string) (cols []int) {
		for _, f := range fields {
			if col, ok := there[f]; ok && !slices.Contains(cols, col) {
				cols = append(cols, col)
			}
		}
		return cols
	}
	with := func(fields []string) []string {
		out := slices.Concat(fields[:1], must)
		for _, f := range fields[1:] {
			if !slices.Contains(out, f) {
				out = append(out, f)
			}
		}
		return out
	}
	// Of two ids that are as good, the one that says less often nothing.
	best := ids[0]
	for _, id := range ids[1:] {
		if s.look.Columns[there[id]].Filled > s.look.Columns[there[best]].Filled {
			best = id
		}
	}
	if s.look.Rows == 0 {
		return with([]string{ids[0]}), false, ""
	}
	var sets [][]string
	for size := 0; size <= len(more); size++ {
		for _, id := range ids {
			for _, m := range choose(more, size) {
				sets = append(sets, with(append([]string{id}, m...)))
			}
		}
	}
	for _, set := range sets {
		if s.look.Unique(columns(set)...) {
			return set, false, s.proof(columns(set))
		}
	}
	if at, dated := there["occurred_at"]; dated && e.Event {
		set := []string{best}
		for _, m := range []string{"purpose", "channel"} {
			if _, ok := there[m]; ok {
				set = append(set, m)
			}
		}
		if cols := columns(set); s.clashes(append(slices.Clone(cols), at)) < s.clashes(cols) {
			return set, true, "rows with the same " + s.say(cols) + " have other times in " + s.look.Say(at) + ", so each row is an event"
		}
	}
	set := []string{best}
	for _, m := range more {
		wider := append(slices.Clone(set), m)
		if s.look.filled(columns([]string{m})) && s.clashes(columns(wider)) < s.clashes(columns(set)) {
			set = wider
		}
	}
	set = with(set)
	cols := columns(set)
	switch n := s.clashes(cols); {
	case n > 0:
		why = fmt.Sprintf("no set of columns that say who or what a row is about tells all rows apart: %s the same %s as another and %s otherwise; such rows are rejected as key.multiple_match, so check the key or the rows", finding.Count(n, "row has", "rows have"), s.say(cols), map[bool]string{true: "differs", false: "differ"}[n == 1])
	default:
		why = s.say(cols) + ": not filled in every row, and a row without it is rejected as key.incomplete"
	}
	return set, false, why + s.instead(cols)
}

// instead names the columns that no field is read from and that would tell persons apart in the rows where the key is blank: they are filled in every row,
// and where the key is filled they go with it, one value for one.
func (s *suggestion) instead(key []int) string {
	if s.look.filled(key[:1]) || !s.look.toldAll() {
		return ""
	}
	var list []string
	for col := range s.look.Columns {
		c := &s.look.Columns[col]
		if !s.used[col] && !slices.Contains(key, col) && c.Header != "" && c.Filled == s.look.Rows && c.Dates.All() == 0 && c.Emails == 0 && s.look.paired(col, key[0]) {
			list = append(list, s.look.Say(col))
		}
	}
	if len(list) == 0 {
		return ""
	}
	return ". " + strings.Join(list[:min(len(list), 3)], ", ") + finding.Word(len(list), " is", " are") + " filled in every row and " + finding.Word(len(list), "goes", "go") + " with " + s.look.Say(key[0]) + " one to one: a number of the person there belongs to subject_id and into the key, and no row would be lost"
}

// toldAll reports whether the digests of all rows are kept.
func (l *Look) toldAll() bool { return l.told == l.Rows }

// paired reports whether two columns go together one to one in the rows where both are filled.
func (l *Look) paired(a, b int) bool {
	there, back := map[uint64]uint64{}, map[uint64]uint64{}
	for row := range l.told {
		one, other := l.Columns[a].at(row), l.Columns[b].at(row)
		if one == 0 || other == 0 {
			continue
		}
		if o, seen := there[one]; seen && o != other {
			return false
		}
		if o, seen := back[other]; seen && o != one {
			return false
		}
		there[one], back[other] = other, one
	}
	return len(there) > 0
}

// Narrow adds to a key that the rows don't prove what else tells its rows apart, the fewest fields that do. at says which columns a field is
// read from.
func (l *Look) Narrow(entity string, key []string, at map[string][]int) (narrower []string, why string) {
	columns := func(fields []string) (cols []int) {
		for _, f := range fields {
			cols = append(cols, at[f]...)
		}
		return cols
	}
	base := columns(key)
	n := l.clashes(base, l.Rows)
	if n == 0 {
		if !l.filled(base) {
			why = l.say(base) + ": not filled in every row, and a row without it is rejected as key.incomplete"
		}
		return key, why
	}
	var more []string
	for _, f := range keyParts[entity].more {
		if cols := at[f]; len(cols) > 0 && !slices.Contains(key, f) && (f != "received_at" || l.Columns[cols[0]].Dates.layout()) {
			more = append(more, f)
		}
	}
	alike := fmt.Sprintf("%s the same %s as another and %s otherwise", finding.Count(n, "row has", "rows have"), l.say(base), map[bool]string{true: "differs", false: "differ"}[n == 1])
	for size := 1; size <= len(more); size++ {
		for _, m := range choose(more, size) {
			if cols := columns(m); l.filled(cols) && l.clashes(append(cols, base...), 1) == 0 {
				return append(slices.Clone(key), m...), alike + ", and no two rows the same " + l.say(cols) + " as well"
			}
		}
	}
	return key, alike + "; where both give such a record they are rejected as key.multiple_match"
}

func (s *suggestion) clashes(cols []int) int { return s.look.clashes(cols, s.look.Rows) }

func (s *suggestion) proof(cols []int) string {
	rows := "no two rows have the same " + s.say(cols)
	if s.look.told < s.look.Rows {
		rows = fmt.Sprintf("no two of the first %d rows have the same %s", s.look.told, s.say(cols))
	}
	return rows
}

func (s *suggestion) say(cols []int) string { return s.look.say(cols) }

func (l *Look) say(cols []int) string {
	var list []string
	for _, col := range cols {
		list = append(list, l.Say(col))
	}
	return strings.Join(list, ", ")
}

// choose lists the sets of n of the words, in their order.
func choose(list []string, n int) (sets [][]string) {
	if n == 0 {
		return [][]string{nil}
	}
	for i := range list {
		for _, rest := range choose(list[i+1:], n-1) {
			sets = append(sets, append([]string{list[i]}, rest...))
		}
	}
	return sets
}
