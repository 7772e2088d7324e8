package mappings

import (
	"sheetlift/importers"
	"sheetlift/importers/source"
)

// NamedRecord is a record that a row speaks of, whether the row gives it or not.
type NamedRecord struct {
	Entity *importers.Entity
	Key    string
	Spec   int  // index of the record in the mapping
	Unread bool // an identifier of its subject is there and can't be read
	Rows   int  // of the sheet, with the key
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
			list = append(list, NamedRecord{s.entity, string(key), n, s.unread(row.Block, row.Index), max(1, pl.groups[n][row.Num])})
		}
	}
	return list
}

// unread reports whether an identifier of the subject can't be read, not even as what it means (see bare).
func (s *boundSpec) unread(b *source.Block, i int) bool {
	for _, j := range s.who {
		if s.readers[j].read(b, i).bad.rule == "" {
			continue
		}
		if _, meant := s.readers[j].bare(b, i); !meant {
			return true
		}
	}
	return false
}
