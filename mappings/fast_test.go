package mappings

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"

	"sheetlift/importers/source"
)

// The short ways say what the long ones would.

func TestENotationIsTheLongWays(t *testing.T) {
	long := func(text []byte) bool {
		i := bytes.IndexAny(text, "eE")
		if i < 1 || i+2 >= len(text) || text[i+1] != '+' || !plainDigits(text[i+2:], 3) {
			return false
		}
		whole, part, dot := bytes.Cut(bytes.TrimPrefix(text[:i], []byte("-")), []byte("."))
		if !dot {
			whole, part, dot = bytes.Cut(whole, []byte(","))
		}
		return plainDigits(whole, 3) && (!dot || plainDigits(part, 20))
	}
	lost := func(raw []byte) bool {
		if i := bytes.IndexAny(raw, "eE"); i >= 0 {
			return i+1 < len(raw) && raw[i+1] != '-'
		}
		whole, _, _ := bytes.Cut(raw, []byte("."))
		return len(bytes.TrimPrefix(whole, []byte("-"))) > 15
	}
	yes := 0
	rapid.Check(t, func(t *rapid.T) {
		s := []byte(rapid.OneOf(rapid.StringMatching(`-?[0-9]{1,3}([.,][0-9]{1,21})?[eE]\+[0-9]{1,4}`), rapid.StringMatching(`-?[0-9]{0,4}([.,][0-9]{0,21}[.,]?)?([eE][+-]?[0-9]{0,4})?`), rapid.StringMatching(`[-0-9.,eE+]{0,12}`), rapid.String()).Draw(t, "text"))
		if long(s) {
			yes++
		}
		if got := eNotation(s); got != long(s) {
			t.Fatalf("%q: E-notation %v", s, got)
		}
		if got := lostDigits(s); got != lost(s) {
			t.Fatalf("%q: lost digits %v", s, got)
		}
	})
	if yes == 0 {
		t.Error("there was no E-notation")
	}
}

func TestSplitSerialIsTheNearestFloats(t *testing.T) {
	yes := 0
	check := func(t interface{ Fatalf(string, ...any) }, s string) {
		days, ms, ok := splitSerial([]byte(s))
		if !ok {
			return
		}
		yes++
		f, err := strconv.ParseFloat(s, 64)
		if err != nil {
			t.Fatalf("%q: %v", s, err)
		}
		wantDays, wantMS := int(f), int(math.Round((f-math.Floor(f))*86400e3))
		if days, ms = days+ms/86400e3, ms%86400e3; days != wantDays+wantMS/86400e3 || ms != wantMS%86400e3 {
			t.Fatalf("%q: %d days and %d ms, want %d and %d", s, days, ms, wantDays, wantMS)
		}
	}
	rnd := rand.New(rand.NewPCG(3, 4))
	for range 20_000 {
		f := rnd.Float64() * (lastSerial1900 + 1)
		half := float64(int(f)) + (float64(rnd.IntN(86400e3))+0.5)/86400e3 // where rounding tips
		for _, f := range []float64{f, half, f / 65, math.Nextafter(half, 0), math.Nextafter(half, 1e9), math.Nextafter(math.Floor(f), 0)} {
			for _, digits := range []int{-1, 15, 16, 17} {
				check(t, strconv.FormatFloat(f, 'g', digits, 64))
			}
			check(t, strconv.FormatFloat(f, 'f', 18, 64))
		}
	}
	if yes < 100_000 {
		t.Errorf("the short way went %d times", yes)
	}
	rapid.Check(t, func(t *rapid.T) {
		check(t, rapid.OneOf(rapid.StringMatching(`[0-9]{1,8}(\.[0-9]{0,20})?`), rapid.StringMatching(`[0-9]{1,7}\.(0{9,17}|9{9,18})[0-9]?`), rapid.String()).Draw(t, "serial"))
	})
}

// A check that printable text is spared would have passed it.
func TestPrintableTextHidesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := []byte(rapid.OneOf(rapid.StringMatching(`[ -~]{0,9}`), rapid.StringMatching(`[ -~]{0,9}[\x00-\xff][ -~]{0,9}`), rapid.String()).Draw(t, "text"))
		if printable(s) && (!utf8.Valid(s) || bytes.IndexByte(s, 0) >= 0 || hidden(s) || unseen(s) || mixedScripts(s) || !norm.NFC.IsNormal(s) || len(bytes.TrimSpace(s)) != len(bytes.Trim(s, " "))) {
			t.Fatalf("%q is taken for printable", s)
		}
	})
}

// What is ruled out as a repeated header is none.
func TestMayFoldRulesOutRightly(t *testing.T) {
	yes := 0
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[ \tabAB\x{301}\x{c9}\x{e9}\x{df}sSkK\x{212a}\x{a0}\x{feff}|.]{0,5}`)
		raw, folded := text.Draw(t, "cell"), headerFold(text.Draw(t, "header"))
		if rapid.Bool().Draw(t, "again") {
			folded = headerFold(raw)
		}
		header := headerFold(strings.Join(strings.Fields(strings.TrimPrefix(raw, "\ufeff")), " "))
		if header == folded && folded != "" {
			yes++
			if !mayFold([]byte(raw), folded) {
				t.Fatalf("%q is ruled out as %q", raw, folded)
			}
		}
	})
	if yes == 0 {
		t.Error("there was no repeated header")
	}
}

// Two files of one source have the same row numbers; what was found must not depend on the seeds.
func TestKeysOfRowsThatShareANumber(t *testing.T) {
	want := [][]int{{2, 2, 9}, {2, 3}, {2, 9}, {3, 3}}
	for range 50 {
		s := newKeySet(keysInMemory)
		for _, k := range []struct {
			key string
			row int
		}{{"a", 2}, {"b", 2}, {"c", 2}, {"d", 3}, {"c", 2}, {"a", 9}, {"b", 3}, {"d", 3}, {"c", 9}, {"e", 2}} {
			if err := s.add([]byte(k.key), k.row); err != nil {
				t.Fatal(err)
			}
		}
		got, distinct, _, err := s.groups()
		if err != nil || distinct != 5 || !reflect.DeepEqual(got, want) {
			t.Fatalf("groups %v (%d distinct, %v), want %v", got, distinct, err, want)
		}
	}
}

func TestValueSetIsASet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s valueSet
		want := map[string]bool{}
		for range rapid.IntRange(0, 200).Draw(t, "values") {
			kind := source.Kind(rapid.IntRange(1, 2).Draw(t, "kind"))
			value := rapid.StringMatching(`[ab]{0,6}`).Draw(t, "value")
			key := fmt.Sprint(kind, value)
			if got := s.has(kind, []byte(value)); got != want[key] {
				t.Fatalf("%s: %v", key, got)
			}
			if !want[key] {
				s.add()
				want[key] = true
			}
		}
	})
}

// Where a text lies changes nothing: in its block, or in the shared strings of one book or another.
func TestSharedStringsChangeNothing(t *testing.T) {
	m, err := Parse("m.yaml", []byte(strings.Replace(registerMapping, "records:\n", "skip:\n  - { column: note, equals: skip this, reason: so }\nrecords:\n", 1)))
	if err != nil {
		t.Fatal(err)
	}
	rows := registerRows(3_000)
	for i := 1; i < len(rows); i += 50 {
		row := rows[i]
		switch i / 50 % 6 {
		case 0:
			row[11] = txt("skip this")
		case 1:
			row[10] = txt(" padded ")
		case 2:
			row[8] = txt("\u00a0")
		case 3:
			row[9] = txt("1.5E+10")
		case 4:
			row[10] = flagged(txt("2026-01-01"), source.ISODate)
		case 5:
			row[10] = num("17")
		}
	}
	inline := blocks(rows, 256, false)
	// Two books of the same texts in other places, block by block in turn.
	one, two := share(inline, 0), share(inline[3:], 1)
	mixed := append([]*source.Block{}, one...)
	for i := 3; i < len(mixed); i += 2 {
		mixed[i] = two[i-3]
	}
	want := everything(t, m, inline)
	for name, list := range map[string][]*source.Block{"shared": one, "two books": mixed} {
		if got := everything(t, m, list); !reflect.DeepEqual(got, want) {
			for i := range got {
				if got[i] != want[i] {
					t.Fatalf("%s: %s\nwant %s", name, got[i], want[i])
				}
			}
		}
	}
}

// everything is a profile and what its plan makes of each row, in words.
func everything(t *testing.T, m *Mapping, list []*source.Block) []string {
	t.Helper()
	p := profileOf(t, m, list)
	all := []string{p.Digest()}
	for _, c := range p.Columns {
		column, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, string(column))
	}
	pl, found, err := Compile(m, p, Env{})
	if err != nil {
		t.Fatal(err)
	}
	all = append(all, fmt.Sprint(found))
	var to Rows
	for _, b := range list {
		pl.Keep(b, &to)
		for i, r := range to.List {
			line := fmt.Sprint(r.Num, r.Verdict, r.Rule, to.Findings(i))
			for _, rec := range append(r.Records, r.Partial...) {
				line += fmt.Sprint(rec.Key, rec.KeyRows, rec.Columns, rec.set)
				for _, v := range rec.Values {
					line += fmt.Sprint(*v)
				}
			}
			all = append(all, line)
		}
	}
	return all
}
