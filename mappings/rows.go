package mappings

import (
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
}

// Keep is Apply that keeps the rows. What was kept before is lost.
func (pl *Plan) Keep(b *source.Block, to *Rows) {
	to.Reset()
	pl.into = to
	defer func() { pl.into, pl.row.Block = nil, nil }() // a plan outlives blocks and the strings of their book
	pl.begin()
	for i := range b.Rows() {
		if b.RowNum[i] <= pl.headerRow || blankRow(b, i) {
			continue
		}
		pl.judge(b, i)
		row := pl.row
		row.Records, row.Partial = to.keep(row.Records), to.keep(row.Partial)
		to.List = append(to.List, row)
		to.findings = append(to.findings, pl.findings...)
		to.ends = append(to.ends, len(to.findings))
	}
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
	n := len(blank)
	if len(r.values)+n > cap(r.values) {
		r.values = make([]*importers.Value, 0, max(n, 2*cap(r.values)))
	}
	from := len(r.values)
	r.values = append(r.values, blank...)
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

// keepValue gives a value memory of its own.
func (r *Rows) keepValue(v *importers.Value) *importers.Value {
	own := r.newValue()
	*own = *v
	return own
}

func (r *Rows) newValue() *importers.Value {
	if len(r.own) == cap(r.own) {
		r.own = make([]importers.Value, 0, max(64, 2*cap(r.own)))
	}
	r.own = r.own[:len(r.own)+1]
	return &r.own[len(r.own)-1]
}
