package mappings

import (
	"slices"

	"sheetlift/importers"
	"sheetlift/importers/source"
)

// silent puts the records that the row would give if it had an answer to them, or rested on consent, into the row: only the fields that
// name their subject. What can't be read names nobody. Of a row that gives records it does so if they have not all kinds of identifiers.
func (pl *Plan) silent(b *source.Block, i int) {
	var given, named uint64
	for k := range pl.row.Records {
		n := pl.row.Records[k].Spec
		given, named = given|1<<n, named|pl.specs[n].named
	}
	for n, s := range pl.specs {
		if given>>n&1 == 1 || s.named&^named == 0 || len(s.who) < 2 && len(pl.specs) == 1 || !s.applies(b, i) {
			continue
		}
		rec := &pl.records[n]
		if pl.into != nil {
			rec.Values = pl.into.fields(s.blank)
		} else {
			copy(rec.Values, s.blank)
		}
		rec.Key, rec.KeyDup, rec.KeyRows, rec.set, rec.stays, rec.codes = "", false, 1, 0, 0, nil
		some := false
		for _, j := range s.who {
			out := s.readers[j].read(b, i)
			if out.bad.rule != "" || out.null {
				continue
			}
			field := s.fields[j].index
			if rec.Values[field] = &out.v; !out.kept {
				rec.Values[field] = pl.own(&out.v)
			}
			some = true
		}
		if some {
			pl.row.Silent = append(pl.row.Silent, *rec)
		}
	}
}

// whoOf lists the fields of a spec that name its subject, by position in fields, and gives a bit for the kind of each.
func (s *specProgram) whoOf() (list []int, kinds uint64) {
	for j := range s.fields {
		if kind := slices.Index(importers.SubjectFields(), s.fields[j].field.Name); kind >= 0 {
			list, kinds = append(list, j), kinds|1<<kind
		}
	}
	return list, kinds
}
