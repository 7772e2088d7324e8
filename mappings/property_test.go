package mappings

import (
	"net/mail"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"sheetlift/importers/source"
)

// Findings, records and profile don't depend on how the sheet is cut into blocks, nor on what was remembered from other rows.
func TestBlockSizeDoesNotMatter(t *testing.T) {
	mapping := strings.Replace(consents, "from: When, format: [\"DD.MM.YYYY HH:mm\", iso8601]", "from: When", 1)
	some := func(values ...cell) *rapid.Generator[cell] { return rapid.SampledFrom(values) }
	columns := []*rapid.Generator[cell]{
		some(txt("e1"), txt("e2"), txt("e3"), num("4"), num("1E+17"), txt("")),
		some(txt("live"), txt("test"), txt("")),
		some(txt("a@example.com"), txt("b@example.com"), txt("bad"), txt("")),
		some(txt("0151 23456789"), num("15123456789"), txt("+49 30 1234567"), txt("")),
		some(txt("News"), txt("NL"), txt("Other"), txt("")),
		some(txt("13/04/2026"), txt("03/04/2026 10:15"), txt("2026-03-29 02:30"), classed("45292.5", source.DateTime), txt("soon"), txt("")),
		some(txt("Y"), txt("nein"), txt("✓"), txt("n/a"), txt("grnated"), boolean("TRUE"), txt("")),
	}
	rapid.Check(t, func(rt *rapid.T) {
		rows := sheet("Title", "Entry | Status | E-mail | Mobile | Topic | When | Newsletter")
		for range rapid.IntRange(0, 30).Draw(rt, "rows") {
			var row []cell
			for _, c := range columns {
				row = append(row, c.Draw(rt, "cell"))
			}
			rows = append(rows, row)
		}
		whole := run(t, mapping, rows, runOptions{size: 1000})
		cut := run(t, mapping, rows, runOptions{size: rapid.IntRange(1, 8).Draw(rt, "size")})
		if whole.err != nil || cut.err != nil {
			rt.Fatal(whole.err, cut.err)
		}
		if !reflect.DeepEqual(whole.profile, cut.profile) || !reflect.DeepEqual(whole.columns, cut.columns) || !reflect.DeepEqual(whole.findings, cut.findings) {
			rt.Fatalf("profile or findings differ:\n%+v\n%+v", whole.findings, cut.findings)
		}
		if len(whole.rows) != len(cut.rows) {
			rt.Fatalf("%d rows, %d rows", len(whole.rows), len(cut.rows))
		}
		for i := range whole.rows {
			a, b := whole.rows[i], cut.rows[i]
			a.Block, b.Block, a.Index, b.Index = nil, nil, 0, 0
			if !reflect.DeepEqual(a, b) {
				rt.Fatalf("row %d:\n%+v\n%+v", a.Num, a, b)
			}
			// Nothing is lost: a rejected row says why, an accepted one has records.
			if (a.Verdict == Accepted) != (len(a.Records) > 0) || (a.Rule == "") != (a.Verdict == Accepted) {
				rt.Fatalf("row %d: %s by %q with %d records", a.Num, a.Verdict, a.Rule, len(a.Records))
			}
		}
	})
}

// Blank rows are no rows: rows of empty cells or white space change no count, no finding and no record.
func TestBlankRowsAreNoRows(t *testing.T) {
	blanks := rapid.SampledFrom([][]cell{
		{}, {txt("")}, make([]cell, 7), make([]cell, 12), {txt(" ")}, {{}, txt("\t\u00a0"), {}, txt("  ")}, {{}, {}, {}, {}, {}, {}, {}, {}, {}, txt(" ")},
	})
	data := rapid.SampledFrom([]string{
		"e1 | live | a@example.com | 0151 23456789 | News | 13/04/2026 10:15 | Y", "e2 | test | b@example.com | | NL | | Y", "e3 | | bad | 12 | Nws | soon | maybe",
		"e1 | live | a@example.com | | NL | 03/04/2026 10:15 | nein", "| | | | | | Y", "e4 | live", "Entry | Status | E-mail | Mobile | Topic | When | Newsletter",
		"e5 | live | c@example.com | | NL | | Y | beyond", "e6 | live | d@example.com | | NL | | ",
	})
	mapping := strings.Replace(consents, "from: When, format: [\"DD.MM.YYYY HH:mm\", iso8601]", "from: When", 1)
	mapping = strings.Replace(mapping, "header: { match: [Entry, Newsletter] }\n", "", 1)
	rapid.Check(t, func(rt *rapid.T) {
		rows := sheet("Entry | Status | E-mail | Mobile | Topic | When | Newsletter")
		numbers := map[int]int{1: 1} // row with blank rows -> row without
		with := append([][]cell{}, rows...)
		if rapid.Bool().Draw(rt, "blank above") {
			with = append([][]cell{blanks.Draw(rt, "blank")}, with...)
			numbers = map[int]int{2: 1}
		}
		for range rapid.IntRange(1, 12).Draw(rt, "rows") {
			for range rapid.IntRange(0, 2).Draw(rt, "blanks") {
				with = append(with, blanks.Draw(rt, "blank"))
			}
			row := sheet(data.Draw(rt, "row"))[0]
			rows, with = append(rows, row), append(with, row)
			numbers[len(with)] = len(rows)
		}
		with = append(with, blanks.Draw(rt, "blank"))
		o := runOptions{textFile: rapid.Bool().Draw(rt, "text file"), size: rapid.IntRange(1, 9).Draw(rt, "size")}
		a, b := run(t, mapping, rows, o), run(t, mapping, with, o)
		if a.err != nil || b.err != nil {
			rt.Fatal(a.err, b.err)
		}
		if len(a.rows) != len(b.rows) {
			rt.Fatalf("%d rows, with blank rows %d", len(a.rows), len(b.rows))
		}
		for i := range a.rows {
			x, y := a.rows[i], b.rows[i]
			if y.Num = numbers[y.Num]; x.Num != y.Num || x.Verdict != y.Verdict || x.Rule != y.Rule || !reflect.DeepEqual(x.Records, y.Records) {
				rt.Fatalf("row %d: %+v\nwith blank rows %+v", x.Num, x, y)
			}
		}
		rules := func(r *result) (list []string) {
			for _, f := range append(append(r.findings[:0:0], r.columns...), r.findings...) {
				list = append(list, f.Rule+" "+f.Column+" "+f.Message)
			}
			return list
		}
		shape := func(p Profile) Profile {
			p.HeaderRow, p.FirstRow, p.LastRow, p.Words, p.Keys = 0, 0, 0, nil, nil
			columns := append([]ColumnProfile{}, p.Columns...)
			for i := range columns {
				if e := columns[i].DateShapes; e != nil {
					e := *e
					e.FirstDayFirst, e.FirstMonthFirst, e.FirstEither, e.LastNumeric, e.FirstCell = 0, 0, 0, 0, 0
					columns[i].DateShapes = &e
				}
			}
			p.Columns = columns
			return p
		}
		if x, y := rules(a), rules(b); !reflect.DeepEqual(x, y) && !strings.Contains(strings.Join(x, ""), "mixed_order") {
			rt.Fatalf("findings %q\nwith blank rows %q", x, y)
		}
		if x, y := shape(*a.profile), shape(*b.profile); !reflect.DeepEqual(x, y) {
			rt.Fatalf("profile %+v\nwith blank rows %+v", x, y)
		}
		if len(a.profile.Keys) != 1 || a.profile.Keys[0].Rows != b.profile.Keys[0].Rows || len(a.profile.Keys[0].Groups) != len(b.profile.Keys[0].Groups) {
			rt.Fatalf("keys %+v\nwith blank rows %+v", a.profile.Keys, b.profile.Keys)
		}
	})
}

// A formula without a stored result is no blank cell: what it held is lost, so its row is read.
func TestLostFormulasAreNoBlankRows(t *testing.T) {
	r := run(t, withField(), append(sheet("Mail | S"), []cell{flagged(cell{}, source.NoCache), {}}), runOptions{})
	if len(r.rows) != 1 || r.profile.Rows != 1 {
		t.Errorf("%d rows, profile %d", len(r.rows), r.profile.Rows)
	}
}

// Whatever a cell holds, the outcome is the same with and without memory.
func TestMemoChangesNothing(t *testing.T) {
	m, err := Parse("m.yaml", []byte(withField("note: X", "phone: { from: X, region: DE }", "occurred_at: { from: X, zone: Europe/Berlin }", "channel: X", "external_id: X")))
	if err != nil {
		t.Fatal(err)
	}
	kinds := rapid.SampledFrom([]source.Kind{source.Text, source.Number, source.Bool, source.ErrorValue})
	texts := rapid.OneOf(rapid.String(), rapid.StringMatching(`[0-9]{1,2}[./-][0-9]{1,2}[./-][0-9]{4}( [0-9]{1,2}:[0-9]{2})?`), rapid.StringMatching(`-?[0-9]{1,17}(\.[0-9]{1,6})?(E\+[0-9]{1,2})?`), rapid.StringMatching(`[+0][0-9 /()-]{5,15}`))
	rapid.Check(t, func(rt *rapid.T) {
		c := cell{kind: kinds.Draw(rt, "kind"), class: source.Class(rapid.IntRange(0, 7).Draw(rt, "class")), flags: rapid.SampledFrom([]source.Flags{0, source.ZeroPadded, source.ISODate}).Draw(rt, "flags"), text: texts.Draw(rt, "text")}
		if c.text == "" {
			return
		}
		b := blocks([][]cell{{c}}, 1, false)[0]
		for i := range m.program.specs[0].fields {
			f := &m.program.specs[0].fields[i]
			with := &fieldReader{p: f, cols: []int{0}, orders: []order{dayFirst}}
			without := &fieldReader{p: f, cols: []int{0}, orders: []order{dayFirst}}
			without.memo.off = true
			with.read(b, 0)
			x, y := *with.read(b, 0), *without.read(b, 0)
			x.kept, x.code = false, 0 // where it lies is no part of it
			if !reflect.DeepEqual(x, y) {
				rt.Fatalf("%s: %+v with, %+v without", f.path, x, y)
			}
		}
	})
}

// The fast answer for e-mail addresses is net/mail's.
func TestPlainAddressAgreesWithNetMail(t *testing.T) {
	yes := 0
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.OneOf(rapid.StringMatching(`[a-zA-Z0-9._+-]{1,12}@[a-zA-Z0-9.-]{1,12}`), rapid.String()).Draw(t, "address")
		if !plainAddress([]byte(s)) {
			return
		}
		yes++
		if a, err := mail.ParseAddress(s); err != nil || a.Name != "" || a.Address != s {
			t.Fatalf("%q is plain, but net/mail says %v %v", s, a, err)
		}
	})
	if yes == 0 {
		t.Error("the fast way is not in use")
	}
}
