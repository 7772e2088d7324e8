package mappings

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// A profile that takes its keys from the rows that a plan judged is the one that reads them itself.
func TestPropertyTakenKeys(t *testing.T) {
	key := rapid.SampledFrom([]string{"r1", "r2", "R1", "r3", "r\u0435d", "red", "", "  ", "a|b", "a\\b", "007", "ｒ1", "ID"})
	words := rapid.SampledFrom([]string{"Y", "Y", "Y", "N", "", "maybe", "y", "?", "OK"})
	rapid.Check(t, func(rt *rapid.T) {
		extra := rapid.SampledFrom([]string{
			"", "    when: { column: Kind, in: [c] }\n",
		}).Draw(rt, "when")
		skip := rapid.SampledFrom([]string{"", "skip:\n  - { column: Kind, in: [total], reason: totals }\n"}).Draw(rt, "skip")
		keys := rapid.SampledFrom([]string{"external_id", "external_id, purpose", "external_id, occurred_at"}).Draw(rt, "key")
		m, err := Parse("m.yaml", []byte(`version: 1
mapping: x
`+skip+`records:
  - entity: consent
`+extra+`    key: [`+keys+`]
    fields:
      external_id: ID
      email: Mail
      purpose: { from: Kind, enum: { news: [c, d], ads: e } }
      status: { from: OK, enum: { given: [Y], refused: [N] } }
      occurred_at: { from: Day, format: [DD/MM/YYYY] }
  - entity: suppression
    key: [external_id]
    fields:
      external_id: ID
      email: Mail
      reason: { from: Why, enum: { opt_out: [o], bounce: [b] } }
      channel: { const: any }
`))
		if err != nil {
			rt.Fatal(err)
		}
		lines := []string{"ID|Mail|Kind|OK|Day|Why"}
		for range rapid.IntRange(1, 30).Draw(rt, "rows") {
			if rapid.IntRange(0, 15).Draw(rt, "again") == 0 {
				lines = append(lines, lines[0])
				continue
			}
			lines = append(lines, strings.Join([]string{key.Draw(rt, "key"), rapid.SampledFrom([]string{"p@example.org", "q@example.org", "nobody"}).Draw(rt, "mail"),
				rapid.SampledFrom([]string{"c", "d", "e", "total", "x"}).Draw(rt, "kind"), words.Draw(rt, "answer"), rapid.SampledFrom([]string{"03/04/2026", "30/04/2026", "2026", ""}).Draw(rt, "day"),
				rapid.SampledFrom([]string{"o", "b", "", "z"}).Draw(rt, "why")}, "|"))
		}
		list := blocks(sheet(lines...), rapid.IntRange(1, 40).Draw(rt, "block"), rapid.Bool().Draw(rt, "text"))
		env := Env{Source: "s", File: "f.csv", System: "crm", Zone: "UTC"}
		profiled := func(plan *Plan) (*Profile, error) {
			p, err := NewProfiler(m, env)
			if err != nil {
				return nil, err
			}
			var rows Rows
			var k KeyRows
			if plan != nil {
				p.TakeKeys()
			}
			for _, b := range list {
				if err := p.Add(b); err != nil {
					return nil, err
				}
				if plan == nil {
					continue
				}
				k.Reset()
				for from := 0; from < b.Rows(); from += 3 {
					plan.KeepSome(b, from, min(from+3, b.Rows()), &rows)
					p.Keys(&k, &rows)
				}
				if err := p.AddKeys(&k, b); err != nil {
					return nil, err
				}
			}
			return p.Done()
		}
		alone, err := profiled(nil)
		if err != nil {
			rt.Fatal(err)
		}
		plan, _, err := Compile(m, alone, env)
		if err != nil {
			rt.Skip(err)
		}
		beside, err := profiled(plan)
		if err != nil {
			rt.Fatal(err)
		}
		if alone.Digest() != beside.Digest() {
			rt.Fatalf("%s\nalone\n%+v\nbeside\n%+v", fmt.Sprint(lines), *alone, *beside)
		}
	})
}
