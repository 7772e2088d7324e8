package mappings

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"

	"sheetlift/importers/source"
)

// registerMapping is samples/bench's.
const registerMapping = `
version: 1
mapping: bench-register
records:
  - entity: consent
    key: [external_id]
    fields:
      external_id: record_id
      email: email
      phone: { from: mobile, region: IN }
      purpose: purpose
      channel: { from: channel, enum: { web: [web, app], post: paper, phone: [call_centre], any: branch, whatsapp: whatsapp } }
      status: { from: answer, enum: { given: Y, refused: N } }
      occurred_at: { from: answered_at, format: serial }
      notice_id: { const: privacy, stated_by: { name: Data Protection Office, at: 2026-01-01 } }
      notice_version: notice
      collected_via: collected_by
      actor: entered_by
`

// registerRow is a row such as a consent register of some age holds; some are wrong.
func registerRow(i int) []cell {
	rnd := rand.New(rand.NewPCG(7, uint64(i)))
	pick := func(from ...string) string { return from[rnd.IntN(len(from))] }
	row := []cell{
		txt(fmt.Sprintf("REG-%08d", 10_000_000+i)),
		txt(pick("Anil", "Beatriz", "Élodie", "Jūratė", "Zdeněk", "Pooja") + " " + pick("Abreu", "Ćosić", "Menon", "Türk", "Rao", "Zhang", "Verma")),
		txt(fmt.Sprintf("person%d.%c@%s", i*7+rnd.IntN(7), 'a'+rnd.IntN(26), pick("example.com", "example.org", "mail.example.net", "post.example.in"))),
		txt(fmt.Sprintf("+91 9%09d", i*387_420_489%1_000_000_000)),
		txt(pick("newsletter", "offers_by_sms", "product_updates", "profiling", "partners", "surveys", "loan_service", "onboarding")),
		txt(pick("web", "branch", "call_centre", "app", "paper", "whatsapp")),
		txt(pick("Y", "Y", "Y", "Y", "N")),
		classed(strconv.FormatFloat(float64(1577836800+rnd.Int64N(5*365*86_400))/86_400+25_569, 'g', 16, 64), source.DateTime),
		txt(pick("crm_export", "branch_ledger", "access_db", "web_form", "partner_feed")),
		txt("v" + pick("1.0", "1.1", "2.0", "2.2", "3.0", "3.1")),
		txt(pick("system", "meera.k", "j.rao", "t.banerjee", "import-job", "privacy.office", "n.dutta", "s.khan")),
		txt(""),
	}
	if rnd.IntN(3) == 0 {
		row[11] = txt(fmt.Sprintf(pick("Case %d: withdrew & agreed again", "फ़ॉर्म संख्या %d संलग्न", "同意書 %d 確認済", "same as row %d ✓"), rnd.IntN(100_000)))
	}
	if i%400 == 0 {
		switch i / 400 % 8 {
		case 0:
			row[2] = txt("person at example.com")
		case 1:
			row[3] = txt("9.19877E+11")
		case 2:
			row[6] = txt("maybe")
		case 3:
			row[0] = txt("")
		case 4:
			row[2].text += " "
		case 5:
			row[5] = txt("carrier pigeon")
		case 6:
			row[3] = txt("+91 12")
		case 7:
			row[0] = txt(fmt.Sprintf("reg-%08d", 10_000_000+i-200))
		}
	}
	return row
}

func registerRows(n int) [][]cell {
	rows := sheet("record_id|full_name|email|mobile|purpose|channel|answer|answered_at|collected_by|notice|entered_by|note")
	for i := range n {
		rows = append(rows, registerRow(i+1))
	}
	return rows
}

// share gives the blocks as a workbook with shared strings has them: each text of the book once, after a text of so many bytes.
func share(list []*source.Block, before int) []*source.Block {
	arena, at := make([]byte, before), map[string]uint32{}
	var shared []*source.Block
	for _, b := range list {
		s := *b
		s.Cols = make([][]source.Cell, len(b.Cols))
		for col, cells := range b.Cols {
			for _, c := range cells {
				if c.Kind == source.Text {
					text := string(b.Bytes(c))
					off, known := at[text]
					if !known {
						off = uint32(len(arena))
						arena = append(arena, text...)
						at[text] = off
					}
					c.Off, c.Flags = off, c.Flags|source.Shared
				}
				s.Cols[col] = append(s.Cols[col], c)
			}
		}
		shared = append(shared, &s)
	}
	for _, b := range shared {
		b.Strings = arena
	}
	return shared
}

// BenchmarkRegister reports the time for one row of samples/bench.
func BenchmarkRegister(b *testing.B) {
	m, err := Parse("m.yaml", []byte(registerMapping))
	if err != nil {
		b.Fatal(err)
	}
	const rows = 60_000
	inline := blocks(registerRows(rows), source.BlockRows, false)
	for _, tt := range []struct {
		name string
		list []*source.Block
	}{{"shared", share(inline, 0)}, {"inline", inline}} {
		var profile *Profile
		b.Run("Add/"+tt.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				p, err := NewProfiler(m, Env{})
				if err != nil {
					b.Fatal(err)
				}
				for _, blk := range tt.list {
					if err := p.Add(blk); err != nil {
						b.Fatal(err)
					}
				}
				if profile, err = p.Done(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/rows, "ns/row")
		})
		if profile == nil {
			profile = profileOf(b, m, tt.list)
		}
		b.Run("Keep/"+tt.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				pl, _, err := Compile(m, profile, Env{})
				if err != nil {
					b.Fatal(err)
				}
				var to Rows
				for _, blk := range tt.list {
					pl.Keep(blk, &to)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/rows, "ns/row")
		})
	}
}

func profileOf(t testing.TB, m *Mapping, list []*source.Block) *Profile {
	t.Helper()
	p, err := NewProfiler(m, Env{})
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range list {
		if err := p.Add(b); err != nil {
			t.Fatal(err)
		}
	}
	profile, err := p.Done()
	if err != nil {
		t.Fatal(err)
	}
	return profile
}
