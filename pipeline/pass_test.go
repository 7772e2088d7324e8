package pipeline

import (
	"strings"
	"testing"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"sheetlift/importers"
	"sheetlift/importers/register"
	"sheetlift/importers/source"
	"sheetlift/mappings"
)

// However many rows are identified together, how large they are and how many records they give: each has its own digest, each record its own
// content and ids.
func TestIdentify(t *testing.T) {
	text := rapid.SampledFrom([]string{"a", "C-4711", "Zoë", "e\u0301", "\"quoted\"", strings.Repeat("sixty-four bytes", 4), strings.Repeat("long ", 80), strings.Repeat("large ", digestedAtOnce/5)})
	rapid.Check(t, func(t *rapid.T) {
		d := &dryRunner{Pipeline: &Pipeline{id: register.Identity{Namespace: uuid.NameSpaceDNS, Tenant: "acme"}}, facts: newFacts()}
		sh := &sheet{src: &Source{System: "crm"}, linker: d.facts.links.Linker("crm")}
		entities := []*importers.Entity{importers.ByName("consent"), importers.ByName("purpose")} // an event, and none
		b := source.NewBuilder(false)
		b.Reset()
		rows := make([]mappings.Row, rapid.IntRange(0, 20).Draw(t, "rows"))
		for i := range rows {
			for col := range rapid.IntRange(1, 3).Draw(t, "cells") {
				v := text.Draw(t, "cell")
				b.Put(col, source.Cell{Off: uint32(len(b.Data)), Len: uint32(len(v)), Kind: source.Text})
				b.Data = append(b.Data, v...)
			}
			b.EndRow(i + 1)
			row := &rows[i]
			*row = mappings.Row{Index: i, Num: i + 1, Verdict: rapid.SampledFrom([]mappings.Verdict{mappings.Accepted, mappings.Rejected, mappings.Skipped}).Draw(t, "verdict")}
			if row.Verdict != mappings.Accepted {
				continue
			}
			for range rapid.IntRange(0, 3).Draw(t, "records") {
				spec := rapid.IntRange(0, 1).Draw(t, "spec")
				rec := mappings.RecordOut{Record: importers.NewRecord(entities[spec]), Spec: spec}
				rec.Key = text.Draw(t, "key")
				rec.Values[rapid.IntRange(0, len(rec.Values)-1).Draw(t, "field")] = &importers.Value{Set: true, Text: text.Draw(t, "value")}
				row.Records = append(row.Records, rec)
			}
		}
		block := b.Block(nil, nil)
		var p passed
		for i := range rows {
			rows[i].Block = block
			p.list = append(p.list, passedRow{row: &rows[i]})
		}
		d.identify(sh, &p, p.list)
		for i := range p.list {
			x := &p.list[i]
			if x.row.Verdict != mappings.Accepted {
				if x.records != nil {
					t.Fatalf("row %d is %s and has records", i, x.row.Verdict)
				}
				continue
			}
			if x.digest != block.RowDigest(i) {
				t.Fatalf("row %d has another digest", i)
			}
			if len(x.records) != len(rows[i].Records) {
				t.Fatalf("row %d: %d records of %d", i, len(x.records), len(rows[i].Records))
			}
			for k := range x.records {
				rec := &rows[i].Records[k]
				want := recordIDs{content: register.ContentSum(&rec.Record), recordUID: d.id.Record("crm", rec.Entity.Name, rec.Key)}
				if want.uid = want.recordUID; rec.Entity.Event {
					want.uid = d.id.Event("crm", rec.Entity.Name, rec.Key, want.content)
				}
				if x.records[k].RecordOut != rec || x.records[k].recordIDs != want {
					t.Fatalf("row %d, record %d: %v, want %v", i, k, x.records[k].recordIDs, want)
				}
			}
		}
	})
}
