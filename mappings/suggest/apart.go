package suggest

import (
	"slices"
	"strings"

	"sheetlift/mappings"
)

// tellApart puts what tells the records of one row apart into their keys: two answers under one key would be one record.
func tellApart(list []Record) {
	if len(list) < 2 {
		return
	}
	const asked, column = "asked about ", "from a column"
	value := func(r *Record, name string) string {
		for i := range r.Fields {
			if f := &r.Fields[i]; f.Name == name && f.Spec.Const != nil {
				return *f.Spec.Const
			} else if f.Name == name && len(f.Asks) > 0 {
				return asked + r.about
			} else if f.Name == name {
				return column
			}
		}
		return ""
	}
	open := func(v string) bool { return v == column || strings.HasPrefix(v, asked) } // it may be that of the other
	for i := range list {
		differs := func(name string, o *Record) bool {
			v, other := value(&list[i], name), value(o, name)
			return v != other || strings.HasPrefix(v, asked) // each is asked for by itself
		}
		for _, name := range []string{"channel", "purpose"} {
			v := value(&list[i], name)
			if v == "" || v == column {
				continue
			}
			for k := range list {
				o := &list[k]
				if k != i && differs(name, o) && (name == "channel" || !differs("channel", o) || open(value(o, "channel")) || open(value(&list[i], "channel"))) {
					list[i].keyedBy(name)
					break
				}
			}
		}
	}
}

// reasonsApart puts the reason into the keys of suppressions that are read from several columns: one contact point may have several in a row.
func reasonsApart(list []Record) {
	var columns []mappings.Column
	for i := range list {
		if r := &list[i]; r.Entity == "suppression" && len(r.When) > 0 && !slices.Contains(columns, r.When[0].Column) {
			columns = append(columns, r.When[0].Column)
		}
	}
	for i := range list {
		if r := &list[i]; r.Entity == "suppression" && len(columns) > 1 {
			r.keyedBy("reason")
		}
	}
}

// keyedBy puts a field into the key of a record, if it is not there.
func (r *Record) keyedBy(name string) {
	if !slices.Contains(r.Key, name) {
		r.Key = append(slices.Clone(r.Key), name)
	}
}
