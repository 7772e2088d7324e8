package mappings

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"unsafe"

	"sheetlift/importers/source"
	"sheetlift/pipeline/finding"
)

// Rows of a plan whose texts pass are what they are of any other, and stay so once they are retained, whatever the plan reads after them.
func TestRetainedRowsOutlastTheirTexts(t *testing.T) {
	m, err := Parse("m.yaml", []byte(`version: 1
mapping: x
records:
  - entity: consent
    key: [external_id, purpose]
    fields:
      external_id: ID
      email: Mail
      purpose: Purpose
      status: { from: OK, enum: { given: [Y], refused: [N] } }
      occurred_at: { from: Day, zone: Europe/Berlin, format: "YYYY-MM-DD HH:mm" }
`))
	if err != nil {
		t.Fatal(err)
	}
	lines := []string{"ID|Mail|Purpose|OK|Day"}
	for i := range 5000 { // so many that no memo keeps them
		lines = append(lines, fmt.Sprintf("r%d|p%d@example.org|news|%s|2026-01-%02d %02d:%02d", i, i, []string{"Y", "N", "?"}[i%3], i%28+1, i%24, i%60))
	}
	list := blocks(sheet(lines...), 1000, true)
	env := Env{Source: "s", File: "f.csv", System: "crm"}
	plan, passing := twoPlans(t, m, env, list)
	passing.Passing()
	said := func(list []RecordOut) string {
		var text strings.Builder
		for _, rec := range list {
			fmt.Fprintf(&text, "%s %d", rec.Key, rec.KeyRows)
			for _, v := range rec.Values {
				fmt.Fprintf(&text, " %+v", *v)
			}
		}
		return text.String()
	}
	var desk, retained, whole Rows
	var rows []*Row
	var want []string
	memory := map[string]bool{} // where the texts of a column lie
	for _, b := range list {
		for from := 0; from < b.Rows(); from += 64 {
			passing.KeepSome(b, from, min(from+64, b.Rows()), &desk)
			for i := range desk.List {
				rows = append(rows, retained.Retain(&desk.List[i]))
				for _, rec := range desk.List[i].Records {
					memory[fmt.Sprintf("%p", unsafe.StringData(rec.Get("email").Text))] = true
				}
			}
		}
		plan.Keep(b, &whole)
		for i := range whole.List {
			want = append(want, said(whole.List[i].Records)+said(whole.List[i].Partial))
		}
	}
	if len(rows) != 5000 || len(want) != len(rows) {
		t.Fatalf("%d and %d rows", len(rows), len(want))
	}
	for i, row := range rows {
		if got := said(row.Records) + said(row.Partial); got != want[i] {
			t.Fatalf("row %d: %s, want %s", row.Num, got, want[i])
		}
	}
	if len(memory) > 2000 {
		t.Errorf("the texts of 3,333 rows lie in %d places: their room is not used again", len(memory))
	}
}

// What is kept of a block is what Apply gives row by row, however often the memory is used again, and in a clone of the plan.
func TestKeepIsApply(t *testing.T) {
	m, err := Parse("m.yaml", []byte(`version: 1
mapping: x
records:
  - entity: consent
    key: [external_id]
    fields:
      external_id: ID
      email: Mail
      status: { from: OK, enum: { given: [Y], refused: [N] } }
      occurred_at: { from: [Day, Time], join: " ", zone: Europe/Berlin, format: "YYYY-MM-DD HH:mm" }
`))
	if err != nil {
		t.Fatal(err)
	}
	lines := []string{"ID|Mail|OK|Day|Time"}
	for i := range 300 {
		row := []string{fmt.Sprint("r", i%290), fmt.Sprintf("p%d@example.org", i), "Y", "2026-01-02", fmt.Sprintf("%02d:00", i%24)}
		switch i % 7 {
		case 3:
			row[1] = "nobody"
		case 4:
			row[2] = ""
		case 5:
			row[2], row[3] = "N", ""
		case 6:
			row[0], row[4] = "", "25:00"
		}
		lines = append(lines, strings.Join(row, "|"))
	}
	list := blocks(sheet(lines...), 37, true)
	env := Env{Source: "s", File: "f.csv", System: "crm", Token: func(kind, value string) string { return kind + "-" + value }}
	plan, clone := twoPlans(t, m, env, list)
	var kept, again Rows
	recall := NewRecall(clone)
	verdicts := map[Verdict]int{}
	for _, b := range list {
		clone.Keep(b, &kept)
		var laid []byte
		for i := range kept.List {
			for k := range kept.List[i].Records {
				laid = clone.AppendRecord(laid, &kept.List[i].Records[k])
			}
		}
		again.Reset()
		for i, read := 0, NewKept(laid); i < len(kept.List); i++ {
			for k := range kept.List[i].Records {
				got, want := recall.Record(&read, &again), kept.List[i].Records[k]
				if want.codes, want.stays = nil, 0; !reflect.DeepEqual(got, want) {
					t.Errorf("row %d: recalled %+v, want %+v", kept.List[i].Num, got, want)
				}
			}
		}
		i := 0
		var found []finding.Finding
		err := plan.Apply(b, finding.SinkFunc(func(f finding.Finding) error {
			found = append(found, f)
			return nil
		}), func(row *Row) error {
			verdicts[row.Verdict]++
			got := kept.List[i]
			if got.Num != row.Num || got.Verdict != row.Verdict || got.Rule != row.Rule || got.Reason != row.Reason || got.Index != row.Index {
				t.Errorf("row %d: %+v, want %+v", row.Num, got, row)
			}
			for what, pair := range map[string][2][]RecordOut{"records": {got.Records, row.Records}, "partial": {got.Partial, row.Partial}} {
				for _, list := range pair {
					for k := range list {
						list[k].codes, list[k].stays = nil, 0 // where the plan has its values is no part of them
					}
				}
				if len(pair[0])+len(pair[1]) > 0 && !reflect.DeepEqual(pair[0], pair[1]) {
					t.Errorf("row %d: %s %+v, want %+v", row.Num, what, pair[0], pair[1])
				}
			}
			if f := kept.Findings(i); len(f) != len(found) || len(f) > 0 && !reflect.DeepEqual(f, found) {
				t.Errorf("row %d: findings %v, want %v", row.Num, f, found)
			}
			found = found[:0]
			i++
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if i != len(kept.List) {
			t.Errorf("%d rows are kept of %d", len(kept.List), i)
		}
	}
	if len(verdicts) != 3 {
		t.Errorf("the rows are too much alike: %v", verdicts)
	}
}

// twoPlans compiles a mapping for a sheet, twice.
func twoPlans(t *testing.T, m *Mapping, env Env, sheet []*source.Block) (plan, clone *Plan) {
	t.Helper()
	plan, _, err := Compile(m, profileOf(t, m, sheet), env)
	if err != nil {
		t.Fatal(err)
	}
	if clone, err = plan.Clone(); err != nil {
		t.Fatal(err)
	}
	return plan, clone
}
