package mappings

import (
	"unsafe"

	"sheetlift/importers"
	"sheetlift/importers/source"
	"sheetlift/pipeline/finding"
)

// Rows is what a plan makes of one block, kept as long as the block is. It reuses its memory.
type Rows struct {
	List []Row

	findings []finding.Finding
	ends     []int // by row: where its findings end
	records  []RecordOut
	values   []*importers.Value
	own      []importers.Value // those that no reader keeps
	codes    []int
	texts    texts // of rows that are retained
}

// Keep is Apply that keeps the rows. What was kept before is lost.
func (pl *Plan) Keep(b *source.Block, to *Rows) { pl.KeepSome(b, 0, b.Rows(), to) }

// KeepSome is Keep of the rows from index from to before index until. Those of one block come in their order.
func (pl *Plan) KeepSome(b *source.Block, from, until int, to *Rows) {
	to.Reset()
	pl.forget()
	pl.into = to
	defer func() { pl.into, pl.row.Block = nil, nil }() // a plan outlives blocks and the strings of their book
	if from == 0 {
		pl.begin()
	}
	for i := from; i < until; i++ {
		if b.RowNum[i] <= pl.headerRow || blankRow(b, i) {
			continue
		}
		pl.judge(b, i)
		to.List = append(to.List, pl.row)
		row := &to.List[len(to.List)-1]
		row.Records, row.Partial, row.Aside, row.Silent = to.keep(row.Records), to.keep(row.Partial), to.keep(row.Aside), to.keep(row.Silent)
		to.findings = append(to.findings, pl.findings...)
		to.ends = append(to.ends, len(to.findings))
	}
}

// Retain keeps a row of other rows, without its findings, beyond their next reset and that of their plan's texts.
func (r *Rows) Retain(row *Row) *Row {
	own := *row
	own.Records, own.Partial, own.Aside, own.Silent = r.keep(row.Records), r.keep(row.Partial), r.keep(row.Aside), r.keep(row.Silent)
	for _, list := range [][]RecordOut{own.Records, own.Partial, own.Aside, own.Silent} {
		for i := range list {
			rec := &list[i]
			values := r.fieldsOf(len(rec.Values))
			for k, v := range rec.Values {
				if values[k] = v; v.Set && rec.stays>>k&1 == 0 {
					own := r.keepValue(v)
					own.Text, own.Raw = r.text(v.Text), r.text(v.Raw)
					values[k] = own
				}
			}
			rec.Values, rec.Key, rec.codes = values, r.text(rec.Key), nil
		}
	}
	r.List = append(r.List, own)
	r.ends = append(r.ends, len(r.findings))
	return &r.List[len(r.List)-1]
}

// Findings are those of row i of the list.
func (r *Rows) Findings(i int) []finding.Finding {
	from := 0
	if i > 0 {
		from = r.ends[i-1]
	}
	return r.findings[from:r.ends[i]]
}

func (r *Rows) keep(list []RecordOut) []RecordOut {
	if len(list) == 0 {
		return nil
	}
	from := len(r.records)
	r.records = append(r.records, list...)
	return r.records[from:len(r.records):len(r.records)]
}

// fields gives room for the fields of one record, as blank holds them. What was given before stays as it is.
func (r *Rows) fields(blank []*importers.Value) []*importers.Value {
	fields := r.fieldsOf(len(blank))
	copy(fields, blank)
	return fields
}

func (r *Rows) fieldsOf(n int) []*importers.Value {
	if len(r.values)+n > cap(r.values) {
		r.values = make([]*importers.Value, 0, max(n, 2*cap(r.values)))
	}
	from := len(r.values)
	r.values = r.values[:from+n]
	return r.values[from : from+n : from+n]
}

// codesFor gives room for the codes of one record.
func (r *Rows) codesFor(n int) []int {
	if len(r.codes)+n > cap(r.codes) {
		r.codes = make([]int, 0, max(n, 2*cap(r.codes)))
	}
	from := len(r.codes)
	r.codes = r.codes[:from+n]
	codes := r.codes[from : from+n : from+n]
	clear(codes)
	return codes
}

// text makes a string of its own, which may be kept.
func (r *Rows) text(s string) string {
	if s == "" {
		return s
	}
	return r.texts.of(unsafe.Slice(unsafe.StringData(s), len(s)))
}

// keepValue gives a value memory of its own.
func (r *Rows) keepValue(v *importers.Value) *importers.Value {
	own := r.NewValue()
	*own = *v
	return own
}

// NewValue gives room for a value, which may hold one of rows before the last reset.
func (r *Rows) NewValue() *importers.Value {
	if len(r.own) == cap(r.own) {
		r.own = make([]importers.Value, 0, max(64, 2*cap(r.own)))
	}
	r.own = r.own[:len(r.own)+1]
	return &r.own[len(r.own)-1]
}
