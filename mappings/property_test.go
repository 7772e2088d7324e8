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
