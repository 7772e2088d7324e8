package mappings

import (
	"fmt"
	"slices"

	"sheetlift/importers"
	"sheetlift/importers/source"
)

// KeyRows is what rows that a plan judged add to the keys of a profile, so that nobody reads their keys twice. It reuses its memory.
type KeyRows struct {
	keys   [][]keyEntry // by record of the mapping
	others []int        // rows, by their indexes in the block, that the profile must look at

	key, folded []byte // scratch
}

// Reset forgets all rows.
func (k *KeyRows) Reset() {
	for n := range k.keys {
		k.keys[n] = k.keys[n][:0]
	}
	k.others = k.others[:0]
}

// TakeKeys says that a plan judges the rows of each block after Add: Keys and AddKeys give the profile what it would read there itself.
func (p *Profiler) TakeKeys() { p.takesKeys = true }

// keysApart reports whether Add leaves the keys to AddKeys. It does not if the plan may read them in another way, as it does dates, or if
// Add reads more of the records.
func (p *Profiler) keysApart() bool {
	return p.takesKeys && p.found && len(p.drops) <= len(p.skips) && !slices.ContainsFunc(p.specs, func(s *profiledSpec) bool {
		return slices.ContainsFunc(s.key, func(field int) bool { return s.fields[s.byField[field]].isDate() })
	})
}

// Keys adds rows of the block that was given to Add last or before to k. It may be called beside Add.
func (p *Profiler) Keys(k *KeyRows, rows *Rows) {
	if len(rows.List) == 0 || !p.apart { // before the first row the header may still be looked for
		return
	}
	for len(k.keys) < len(p.specs) {
		k.keys = append(k.keys, nil)
	}
	for i := range rows.List {
		row := &rows.List[i]
		if row.Verdict != Accepted {
			if !wholeRowRules[row.Rule] {
				k.others = append(k.others, row.Index)
			}
			continue
		}
		for r := range row.Records {
			rec := &row.Records[r]
			k.key = append(k.key[:0], rec.Key...)
			k.keys[rec.Spec] = append(k.keys[rec.Spec], p.specs[rec.Spec].keys.entry(k.key, row.Num, &k.folded))
		}
	}
}

// wholeRowRules are those by which a row is judged before its records are read: they prove nothing.
var wholeRowRules = map[string]bool{"row.declared_skip": true, "row.repeated_header": true, "row.ragged": true}

// AddKeys takes in what Keys gathered of a block's rows. It may be called beside Add of other blocks.
func (p *Profiler) AddKeys(k *KeyRows, b *source.Block) error {
	if len(k.others) > 0 {
		for _, s := range p.specs {
			s.begin()
		}
	}
	for n, list := range k.keys {
		s := p.specs[n]
		for i := range list {
			if err := s.keys.insert(list[i]); err != nil {
				return fmt.Errorf("sorting the keys of %s: %w", p.env.File, err)
			}
		}
		for _, i := range k.others {
			if err := p.specRow(s, b, i); err != nil {
				return err
			}
		}
	}
	return nil
}

// specRow counts the key and the unknown words of one record of the mapping in row i.
func (p *Profiler) specRow(s *profiledSpec, b *source.Block, i int) error {
	if !s.applies(b, i) || s.unanswered(b, i) {
		return nil
	}
	for _, j := range s.listed {
		r := s.readers[j]
		if out := r.read(b, i); out.bad.rule == "enum.unmapped" || out.bad.rule == "bool.invalid" {
			cell := b.Cell(out.bad.col, i)
			s.words[j].add(b.Bytes(cell), r.folded(cell, b.Bytes(cell)), b.RowNum[i], out.bad.col)
		}
	}
	if key, ok := s.keyOf(b, i); ok {
		if err := s.keys.add(key, b.RowNum[i]); err != nil {
			return fmt.Errorf("sorting the keys of %s: %w", p.env.File, err)
		}
	}
	return nil
}

// keyOf gives the key of row i, valid until the next call; ok is false if a part of it is missing or wrong.
func (s *profiledSpec) keyOf(b *source.Block, i int) (key []byte, ok bool) {
	bad := false
	s.buf, ok = s.appendKey(s.buf[:0], func(field int) *importers.Value {
		out := s.readers[s.byField[field]].read(b, i)
		bad = bad || out.bad.rule != ""
		return &out.v
	})
	return s.buf, ok && !bad
}
