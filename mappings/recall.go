package mappings

import (
	"encoding/binary"
	"unsafe"

	"sheetlift/importers"
)

// AppendRecord appends a record of a row that the plan kept, for a Recall of the plan to read:
//
//	spec, fields that are set, rows with the key (uvarint each)
//	the key: 1 and the position of the field whose text it is, or 0 and itself
//	the fields that are set, in the order of the mapping: the code of a value that the plan remembers, or 0 and the value
//	the columns behind each, if a field of the mapping's record has several: how many, and which
//
// Texts have their length before them, all numbers are uvarints but the Int of a value, which is a varint.
func (pl *Plan) AppendRecord(p []byte, rec *RecordOut) []byte {
	s := pl.specs[rec.Spec]
	p = binary.AppendUvarint(p, uint64(rec.Spec))
	p = binary.AppendUvarint(p, rec.set)
	p = binary.AppendUvarint(p, uint64(rec.KeyRows))
	if at := s.keyText(rec); at >= 0 {
		p = append(p, 1, byte(at))
	} else {
		p = appendText(append(p, 0), rec.Key)
	}
	for j := range s.fields {
		f := &s.fields[j]
		if rec.set>>f.index&1 == 0 {
			continue
		}
		p = binary.AppendUvarint(p, uint64(rec.codes[j]))
		if rec.codes[j] > 0 {
			continue
		}
		v := rec.Values[f.index]
		p = appendText(append(p, byte(v.Origin)), v.Text)
		p = binary.AppendVarint(p, v.Int)
		p = appendText(p, v.Raw)
		p = appendText(p, v.Zone)
		p = appendText(p, v.Precision)
	}
	if s.simple {
		return p
	}
	for j := range s.fields {
		columns := rec.Columns[s.fields[j].index]
		p = binary.AppendUvarint(p, uint64(len(columns)))
		for _, c := range columns {
			p = binary.AppendUvarint(p, uint64(c))
		}
	}
	return p
}

// keyText is the field whose text is the record's key; -1 if there is none.
func (s *boundSpec) keyText(rec *RecordOut) int {
	if len(s.key) == 1 && s.key[0] <= 0xff && rec.Values[s.key[0]].Text == rec.Key {
		return s.key[0]
	}
	return -1
}

func appendText(p []byte, s string) []byte {
	return append(binary.AppendUvarint(p, uint64(len(s))), s...)
}

// Recall reads the records that a plan kept. Several may read beside each other, once the plan keeps no more rows.
type Recall struct {
	plan  *Plan
	specs []recalled
	words map[string]string // zones and precisions
}

// recalled is a spec with a cache of its own.
type recalled struct {
	*boundSpec
	own boundSpec // only what columnsOf needs
}

// NewRecall returns a reader of what the plan kept.
func NewRecall(pl *Plan) *Recall {
	r := &Recall{plan: pl, words: map[string]string{}}
	for _, s := range pl.specs {
		r.specs = append(r.specs, recalled{s, boundSpec{specProgram: s.specProgram, readers: s.readers, shapes: map[uint64][][]int{}}})
	}
	return r
}

// Kept is bytes that AppendRecord wrote. Texts of the records that are read from it lie in it.
type Kept struct {
	text string
	at   int
}

// NewKept reads p, which nobody may change any more.
func NewKept(p []byte) Kept { return Kept{text: unsafe.String(unsafe.SliceData(p), len(p))} }

// Uvarint reads a number.
func (k *Kept) Uvarint() uint64 {
	if c := k.text[k.at]; c < 0x80 {
		k.at++
		return uint64(c)
	}
	var n uint64
	for shift := 0; ; shift += 7 {
		c := k.text[k.at]
		k.at++
		n |= uint64(c&0x7f) << shift
		if c < 0x80 {
			return n
		}
	}
}

// Bytes reads n bytes.
func (k *Kept) Bytes(n int) string {
	s := k.text[k.at : k.at+n]
	k.at += n
	return s
}

// Byte reads a byte.
func (k *Kept) Byte() byte {
	k.at++
	return k.text[k.at-1]
}

// Text reads a text with its length before it.
func (k *Kept) Text() string { return k.Bytes(int(k.Uvarint())) }

// At is how many bytes were read.
func (k *Kept) At() int { return k.at }

// Varint reads a signed number.
func (k *Kept) Varint() int64 {
	n := k.Uvarint()
	return int64(n>>1) ^ -int64(n&1)
}

// Record reads a record. It is valid until the rows are reset.
func (r *Recall) Record(k *Kept, to *Rows) RecordOut {
	spec := int(k.Uvarint())
	s := &r.specs[spec]
	rec := RecordOut{Record: importers.Record{Entity: s.entity, Values: to.fields(s.blank)}, Spec: spec, History: s.history, Alike: s.simple, set: k.Uvarint(), KeyRows: int(k.Uvarint())}
	rec.KeyDup = rec.KeyRows > 1
	key := -1
	if k.Byte() == 1 {
		key = int(k.Byte())
	} else {
		rec.Key = k.Text()
	}
	for j := range s.fields {
		f := s.fields[j].index
		if rec.set>>f&1 == 0 {
			continue
		}
		if code := k.Uvarint(); code > 0 {
			rec.Values[f] = s.readers[j].known[code-1]
			continue
		}
		v := to.NewValue()
		v.Set, v.Origin = true, importers.Origin(k.Byte())
		v.Text = k.Text()
		v.Int = k.Varint()
		v.Raw = k.Text()
		v.Zone = r.word(k.Text())
		v.Precision = r.word(k.Text())
		rec.Values[f] = v
	}
	if key >= 0 {
		rec.Key = rec.Values[key].Text
	}
	if s.simple {
		rec.Columns = s.own.columnsOf(rec.set)
		return rec
	}
	rec.Columns = make([][]int, len(rec.Values))
	for j := range s.fields {
		columns := make([]int, k.Uvarint())
		for i := range columns {
			columns[i] = int(k.Uvarint())
		}
		if len(columns) > 0 {
			rec.Columns[s.fields[j].index] = columns
		}
	}
	return rec
}

// word gives a word that repeats the same memory each time, which makes it quick to compare.
func (r *Recall) word(s string) string {
	if s == "" {
		return ""
	}
	w, ok := r.words[s]
	if !ok {
		w = string(append([]byte(nil), s...))
		r.words[w] = w
	}
	return w
}

// Reset makes room for other rows. What was kept before is lost.
func (r *Rows) Reset() {
	r.List, r.findings, r.ends = r.List[:0], r.findings[:0], r.ends[:0]
	r.records, r.values, r.own, r.codes = r.records[:0], r.values[:0], r.own[:0], r.codes[:0]
}

// NewRecord gives a record without any value, valid until the rows are reset.
func (r *Rows) NewRecord(e *importers.Entity) RecordOut {
	rec := RecordOut{Record: importers.Record{Entity: e, Values: r.fieldsOf(len(e.Fields))}, KeyRows: 1}
	for i := range rec.Values {
		rec.Values[i] = importers.NoValue()
	}
	return rec
}

// Add keeps an accepted row without findings. Its records must have been read into these rows.
func (r *Rows) Add(row Row, records []RecordOut) *Row {
	row.Records = r.keep(records)
	r.List = append(r.List, row)
	r.ends = append(r.ends, len(r.findings))
	return &r.List[len(r.List)-1]
}
