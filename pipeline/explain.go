package pipeline

import (
	"context"

	"sheetlift/importers/source"
	"sheetlift/mappings"
)

// ExplainResult is what the compiled mappings do with each column of the newest snapshot. It holds no value of a row.
type ExplainResult struct {
	Schema   string            `json:"schema"`
	Batch    string            `json:"batch"`
	Snapshot string            `json:"snapshot"`
	Map      string            `json:"map"` // digest of the map result
	Sources  []ExplainedSource `json:"sources"`
}

// ExplainedSource is one source. The rows are counted as the mapping alone judges them; the dry-run may reject or skip more.
type ExplainedSource struct {
	Source  string            `json:"source"`
	File    string            `json:"file"`
	Sheet   string            `json:"sheet"`
	Plan    string            `json:"plan"` // digest
	Rows    Rows              `json:"rows"`
	Columns []ExplainedColumn `json:"columns"`
}

// ExplainedColumn is one column and one field that it gives: in = out + rejected + null + left.
type ExplainedColumn struct {
	Column   string `json:"column,omitempty"`
	Name     string `json:"name,omitempty"`
	Record   int    `json:"record,omitempty"`
	Field    string `json:"field,omitempty"`
	How      string `json:"how"`
	Key      bool   `json:"key,omitempty"`
	In       int    `json:"in"`
	Out      int    `json:"out"`
	Rejected int    `json:"rejected"`
	Null     int    `json:"null"`
	Left     int    `json:"left"`
}

// Explain reads the frozen sheets once more through their compiled mappings, and says what becomes of each column. mapped is the
// result of Map.
func (p *Pipeline) Explain(ctx context.Context, mapped *MapResult) (*ExplainResult, error) {
	p, err := p.newest(ctx)
	if err != nil {
		return nil, err
	}
	fr, err := p.frozen(ctx, Map)
	if err != nil {
		return nil, err
	}
	if mapped.Manifest != fr.Manifest {
		return nil, &GateError{Stage: Map, Why: "the mappings were compiled for another frozen manifest", Remedy: "run `sheetlift map` again"}
	}
	maps, err := p.loadMappings()
	if err != nil {
		return nil, err
	}
	r := &ExplainResult{Schema: ExplainSchema, Batch: p.batch.Name, Snapshot: p.snap.name, Map: mapped.Digest}
	for i := range p.batch.Sources {
		s, err := p.explain(ctx, fr, &p.batch.Sources[i], maps[i])
		if err != nil {
			return nil, err
		}
		r.Sources = append(r.Sources, *s)
	}
	return r, nil
}

func (p *Pipeline) explain(ctx context.Context, fr *FreezeResult, s *Source, m *mappings.Mapping) (*ExplainedSource, error) {
	sh, err := p.openSheet(ctx, fr, s, m, nil)
	if err != nil {
		return nil, err
	}
	defer sh.close()
	plan, _, _, err := p.compile(ctx, Map, sh, m)
	if err != nil {
		return nil, err
	}
	x := plan.Explain()
	if err := sh.each(ctx, func(b *source.Block) error { plan.Count(b, x); return nil }); err != nil {
		return nil, err
	}
	out := &ExplainedSource{Source: s.Name, File: s.File, Sheet: sh.env.Sheet, Plan: plan.Digest(),
		Rows: Rows{Read: x.Read, Accepted: x.Accepted, Rejected: x.Rejected, Skipped: x.Skipped}, Columns: []ExplainedColumn{}}
	for _, c := range x.Columns {
		out.Columns = append(out.Columns, ExplainedColumn(c))
	}
	return out, nil
}
