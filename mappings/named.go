package mappings

import "sheetlift/importers"

// NamedRecord is a record that a row speaks of, whether the row gives it or not.
type NamedRecord struct {
	Entity *importers.Entity
	Key    string
	Spec   int // index of the record in the mapping
}

// Named lists the records whose keys can be read in a row that was rejected or skipped: the row does not give them, but it
// is there. It is for the row that emit was called with, until emit returns.
func (pl *Plan) Named(row *Row) []NamedRecord {
	var list []NamedRecord
	for n, s := range pl.specs {
		s.begin()
		if !s.applies(row.Block, row.Index) {
			continue
		}
		values := map[int]importers.Value{}
		for _, field := range s.key {
			if j := s.byField[field]; j >= 0 {
				if out := s.readers[j].read(row.Block, row.Index); out.bad.rule == "" && !out.null {
					values[field] = out.v
				}
			}
		}
		key, whole := s.appendKey(nil, func(field int) *importers.Value {
			if v, ok := values[field]; ok {
				return &v
			}
			return nil
		})
		if whole {
			list = append(list, NamedRecord{s.entity, string(key), n})
		}
	}
	return list
}
