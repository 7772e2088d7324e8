package mappings

import (
	"fmt"
	"testing"

	"sheetlift/importers/source"
	"sheetlift/pipeline/finding"
)

const benchMapping = `
version: 1
mapping: bench
zone: Asia/Kolkata
records:
  - entity: consent
    key: [external_id]
    fields:
      external_id: Entry
      subject_id: Customer
      email: E-mail
      phone: { from: Mobile, region: IN }
      purpose: { from: Purpose, enum: { marketing: [Marketing], service: [Service] } }
      channel: { from: Channel }
      status: { from: Status, enum: { given: [Granted], refused: [Denied], withdrawn: [Withdrawn] } }
      occurred_at: { from: When }
      notice_version: Version
      collected_via: Source
      language: Language
      note: Note
`

func benchRows(n int) [][]cell {
	rows := sheet("Entry | Customer | E-mail | Mobile | Purpose | Channel | Status | When | Version | Source | Language | Note")
	for i := range n {
		rows = append(rows, []cell{
			txt(fmt.Sprintf("E%08d", i)), num(fmt.Sprint(100000 + i)), txt(fmt.Sprintf("person.%d@example.com", i)), txt(fmt.Sprintf("+9198%08d", i)),
			txt([]string{"Marketing", "Service"}[i%2]), txt([]string{"email", "sms"}[i%2]), txt([]string{"Granted", "Denied", "Withdrawn"}[i%3]),
			classed(fmt.Sprintf("%.9f", 44000+float64(i)/977), source.DateTime), txt("v3"), txt("web form"), txt("en-IN"), txt(""),
		})
	}
	return rows
}

// BenchmarkProfile and BenchmarkApply report the time for one row of twelve columns.
func BenchmarkProfile(b *testing.B) {
	list := blocks(benchRows(50_000), 4096, false)
	m, err := Parse("m.yaml", []byte(benchMapping))
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		p, err := NewProfiler(m, Env{})
		if err != nil {
			b.Fatal(err)
		}
		for _, blk := range list {
			if err := p.Add(blk); err != nil {
				b.Fatal(err)
			}
		}
		if _, err := p.Done(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/50_000, "ns/row")
}

func BenchmarkApply(b *testing.B) {
	list := blocks(benchRows(50_000), 4096, false)
	m, err := Parse("m.yaml", []byte(benchMapping))
	if err != nil {
		b.Fatal(err)
	}
	p, err := NewProfiler(m, Env{})
	if err != nil {
		b.Fatal(err)
	}
	for _, blk := range list {
		if err := p.Add(blk); err != nil {
			b.Fatal(err)
		}
	}
	prof, err := p.Done()
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		pl, _, err := Compile(m, prof, Env{})
		if err != nil {
			b.Fatal(err)
		}
		for _, blk := range list {
			if err := pl.Apply(blk, finding.SinkFunc(func(f finding.Finding) error { return fmt.Errorf("row %d: %s", f.Row, f.Rule) }), func(*Row) error { return nil }); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/50_000, "ns/row")
}
