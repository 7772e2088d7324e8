package pipeline

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"sheetlift/importers"
	"sheetlift/importers/staged"
)

// judged reads what the dry-run staged, once, chunk by chunk. What it keeps grows with purposes, notices and months, not with rows.
func (rv *reviewer) judged(ctx context.Context) error {
	j := &ReviewJudged{
		Complete: rv.dry.Complete, Passed: rv.dry.Passed, Imported: rv.imp != nil && rv.imp.DryRun == rv.dry.Digest,
		Rows: rv.dry.Rows, Entities: rv.dry.Entities, Cases: rv.dry.Cases, StillGiven: rv.dry.StillGiven, CaseList: []ReviewCase{}, Kinds: []CaseKind{},
	}
	rv.r.Judged = j
	gaps, err := rv.newGaps(ctx)
	if err != nil {
		return err
	}
	consents := &consentReview{asOf: rv.r.AsOf, gaps: gaps, counts: map[[2]string]*EvidenceCount{}, months: map[int]*MonthCount{}}
	cases := &caseReview{reviewer: rv, kinds: map[[2]string]*CaseKind{}}
	for _, config := range []bool{true, false} { // what consents point to must be known first
		for _, f := range rv.dry.Staged {
			e := importers.ByName(f.Entity)
			var take func(f *StagedFile, at map[string]int, c *staged.Chunk)
			switch {
			case e == nil || e.Config != config:
			case e.Config:
				take = func(f *StagedFile, at map[string]int, c *staged.Chunk) { gaps.configs(e, at, c) }
			case e.Name == "consent":
				consents.source(f.Source)
				take = consents.take
			case e.Name == "case":
				take = cases.take
			}
			if take == nil {
				continue
			}
			if err := eachChunk(ctx, &f, take); err != nil {
				return err
			}
		}
	}
	consents.settle()
	j.Evidence = consents.evidence()
	j.Timeline = consents.timeline()
	cases.finish(j)
	j.Gaps = gaps.table()
	return nil
}

// eachChunk calls f with each chunk of a staged file, after its bytes were checked.
func eachChunk(ctx context.Context, file *StagedFile, f func(*StagedFile, map[string]int, *staged.Chunk)) error {
	rd, err := openStaged(*file)
	if err != nil {
		return err
	}
	defer rd.Close()
	rd.Recycle()
	at := map[string]int{}
	for i, c := range rd.Columns() {
		at[c.Name] = i
	}
	for i := range rd.Chunks() {
		if err := ctx.Err(); err != nil {
			return err
		}
		c, err := rd.Chunk(i)
		if err != nil {
			return err
		}
		f(file, at, c)
		c.Release()
	}
	return nil
}

// caseReview counts cases by kind and keeps the most urgent ones.
type caseReview struct {
	*reviewer
	kinds map[[2]string]*CaseKind
	order [][2]string
	list  []ReviewCase
	left  int
}

func (r *caseReview) take(f *StagedFile, at map[string]int, c *staged.Chunk) {
	text := func(col string, row int) string { return strings.Clone(c.Cell(at[col], row).Text) }
	for row := range c.Rows() {
		key := [2]string{f.Source, text("request_type", row)}
		k := r.kinds[key]
		if k == nil {
			k = &CaseKind{Source: f.Source, Type: key[1]}
			r.kinds[key] = k
			r.order = append(r.order, key)
		}
		switch text("status", row) {
		case "closed_fulfilled":
			k.Fulfilled++
		case "closed_refused":
			k.Refused++
		case "withdrawn":
			k.Withdrawn++
		case "open":
			k.Open++
			received := ""
			if v := c.Cell(at["received_at"], row); !v.Null {
				received = importers.Day(importers.Value{Set: true, Int: v.Int, Zone: text("received_at_zone", row), Precision: text("received_at_precision", row)})
			}
			due, state := importers.Due(received, text("due_at", row), text("extended_to", row), r.r.AsOf, dueSoonDays)
			switch state {
			case importers.Overdue:
				k.Overdue++
			case importers.DueSoon:
				k.DueSoon++
			default:
				continue
			}
			file := ""
			if s := r.batch.source(f.Source); s != nil {
				file = s.File
			}
			r.list = append(r.list, ReviewCase{
				Source: f.Source, Place: r.names.place(file, text("sheet", row), int(c.Cell(at["row"], row).Int), 0, "", ""), Type: key[1],
				Received: received, Due: due, State: string(state),
			})
			if len(r.list) > 8*reviewCases {
				r.cut()
			}
		}
	}
}

// cut keeps the most urgent cases.
func (r *caseReview) cut() {
	slices.SortStableFunc(r.list, func(a, b ReviewCase) int { return cmp.Compare(a.Due, b.Due) })
	if more := len(r.list) - reviewCases; more > 0 {
		r.list, r.left = r.list[:reviewCases], r.left+more
	}
}

func (r *caseReview) finish(j *ReviewJudged) {
	r.cut()
	j.CaseList, j.CaseLeft = append(j.CaseList, r.list...), r.left
	for _, k := range r.order {
		j.Kinds = append(j.Kinds, *r.kinds[k])
	}
	slices.SortStableFunc(j.Kinds, func(a, b CaseKind) int { return cmp.Or(cmp.Compare(a.Source, b.Source), cmp.Compare(a.Type, b.Type)) })
}

// source is the source of that name, or nil.
func (b *Batch) source(name string) *Source {
	for i := range b.Sources {
		if b.Sources[i].Name == name {
			return &b.Sources[i]
		}
	}
	return nil
}
