package mappings

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"sheetlift/importers/source"
)

func TestHeaderFaults(t *testing.T) {
	match := "header: { match: [Mail, S] }\n"
	far := append(slices.Repeat([]string{"x | y"}, 51), "Mail | S")
	for _, tc := range []struct {
		name, mapping string
		rows          [][]cell
		want, remedy  string
	}{
		{"no such header", match + withField(), sheet("Email | S", "a | Y"), `exports/x.xlsx, sheet "Register": none of the first 50 rows holds all of "Mail", "S"`, "correct header"},
		{"header too far down", match + withField(), sheet(far...), "none of the first 50 rows", "correct header"},
		{"header twice", match + withField(), sheet("Mail | S", "a@example.com | Y", "s | MAIL"), `row 3: the header is in row 1 and again here`, "header: { row: 1 }"},
		{"header row blank", "header: { row: 2 }\n" + withField(), sheet("Title", "", "Mail | S"), "row 2: the header row is blank", "set header"},
		{"header row below the sheet", "header: { row: 9 }\n" + withField(), sheet("Mail | S"), "row 9: the sheet ends before the header row", "set header"},
		{"empty sheet", withField(), nil, "the sheet is empty", "name another sheet"},
		{"absent columns", withField("note: Remarks", "phone: Fon"), sheet("Mail | S | Phone | | a@example.com"), `row 1: there is no column "Fon"; there is no column "Remarks"; the sheet has Mail, S, Phone, column E`, "name a column"},
		{"near column", withField("note: Remarcs"), sheet("Mail | S | Remarks"), `there is no column "Remarcs"`, `did you mean "Remarks"?`},
		{"column twice", withField("note: X"), sheet("Mail | S | X | x"), `column "X" occurs 2 times (C, D)`, `{ header: "X", nth: 1 }`},
		{"nth too many", withField("note: { from: { header: X, nth: 3 } }"), sheet("Mail | S | X | x"), `occurs 2 times, so there is no nth: 3`, "count from the left"},
		{"letter beyond the sheet", withField("note: { from: { letter: Z } }"), sheet("Mail | S", "a@example.com | Y"), "the sheet has no column Z", "its last column is B"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := run(t, tc.mapping, tc.rows, runOptions{env: Env{Sheet: "Register"}})
			var fault *SheetError
			if !errors.As(r.err, &fault) {
				t.Fatalf("error %v", r.err)
			}
			if !strings.Contains(r.err.Error(), tc.want) || !strings.Contains(fault.Remedy, tc.remedy) {
				t.Errorf("got  %s | %s\nwant %s | %s", r.err, fault.Remedy, tc.want, tc.remedy)
			}
			if strings.Contains(r.err.Error(), "a@example.com") {
				t.Error("the error shows a value")
			}
		})
	}
}

func TestColumnsAreFound(t *testing.T) {
	rows := sheet("Mail | S | X | First\nline | x", "a@example.com | Y | one | two | three")
	for field, want := range map[string]string{
		"note: { from: { header: X, nth: 2 } }": "three",
		"note: { from: { letter: c } }":         "one",
		"note: { from: { index: 4 } }":          "two",
		"note: FIRST  LINE":                     "two",
	} {
		r := run(t, withField(field), rows, runOptions{})
		if r.err != nil {
			t.Errorf("%s: %v", field, r.err)
			continue
		}
		if got := r.row(t, 2).Records[0].Get("note").Text; got != want {
			t.Errorf("%s: %q, want %q", field, got, want)
		}
	}
	r := run(t, "header: { none: true }\n"+one("purpose", "purpose_id", "purpose_id: a", "name: B"), sheet("p1 | Newsletter", "p2 | Service"), runOptions{})
	if r.err != nil || len(r.rows) != 2 || r.rows[0].Records[0].Get("name").Text != "Newsletter" {
		t.Errorf("without header: %v %+v", r.err, r.rows)
	}
}

func TestProfile(t *testing.T) {
	rows := sheet("Register", "Mail | S | Code | When | Sort | someone@example.com")
	add := func(cells ...cell) { rows = append(rows, cells) }
	add(txt("a@example.com"), txt("Y"), num("42"), txt("13/04/2026"), txt(" x"), txt("secret"))
	add(txt("b@example.com"), txt("Y"), flagged(num("42"), source.ZeroPadded), txt("03/04/2026"), txt(""), txt("secret"))
	add(txt("a@example.com"), txt("perhaps"), num("1E+17"), classed("45292", source.Date), txt("  "), txt("secret"))
	add(txt("c@example.com"), txt("Erika Mustermann"), num("1234567890123456"), txt("x"), boolean("TRUE"), cell{kind: source.ErrorValue, text: "#N/A"})
	add(txt("a@example.com"), txt("Y"), txt("T"), txt("31/12/2026"), txt(""), txt(""))
	r := run(t, "header: { row: 2 }\nskip: [{ column: Code, equals: T, reason: r }]\n"+withField("occurred_at: { from: When, zone: UTC }"), rows, runOptions{})
	if r.err != nil {
		t.Fatal(r.err)
	}
	p := r.profile
	if p.HeaderRow != 2 || p.Above != 1 || p.Rows != 5 || p.Skipped != 1 || p.FirstRow != 3 || p.LastRow != 7 {
		t.Errorf("rows: %+v", p)
	}
	if got := p.Unmapped; !reflect.DeepEqual(got, []string{"Sort", "column F"}) {
		t.Errorf("unmapped %v", got)
	}
	code := p.Columns[2]
	if code.Numbers != 4 || code.Text != 1 || code.LostZeros != 1 || code.ENotation != 2 || code.Distinct != 4 || code.MaxLength != 16 {
		t.Errorf("code: %+v", code)
	}
	if s := p.Columns[4]; s.Blank != 3 || s.Padded != 1 || s.Bools != 1 || s.Distinct != 2 {
		t.Errorf("sort: %+v", s)
	}
	if e := p.Columns[3].DateShapes; e.DayFirst != 1 || e.Either != 1 || e.Cells != 1 || e.Other != 1 || e.FirstDayFirst != 3 || e.FirstEither != 4 {
		t.Errorf("dates: %+v", *e)
	}
	if k := p.Keys[0]; k.Rows != 4 || k.Distinct != 3 || !reflect.DeepEqual(k.Groups, [][]int{{3, 5}}) {
		t.Errorf("keys: %+v", k)
	}
	if w := p.Words[0]; w.Rows != 2 || w.Distinct != 2 || len(w.Words) != 0 {
		t.Errorf("words: %+v", w)
	}
	data, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	for _, value := range []string{"@example.com", "secret", "ustermann", "1234567890123456"} {
		if strings.Contains(string(data), value) {
			t.Errorf("the profile holds %q", value)
		}
	}
	var back Profile
	if err := json.Unmarshal(data, &back); err != nil || back.Digest() != p.Digest() {
		t.Errorf("the profile changes on its way through JSON: %v", err)
	}
}

// A word of a closed list is shown only if three rows hold it and it has not the shape of a name.
func TestShownWords(t *testing.T) {
	words := map[string]bool{ // word and whether three rows of it may be shown
		"grnated": true, "Not sure": true, "opted out": true, "Opt-In": true, "E-Mail": true, "vielleicht": true, "v2.1": true,
		"jane.doe": false, "J.Doe": false, "J. Doe": false, "Doe J": false, "doe, jane": false, "O'Brien": false, "Schmidt-Meier": false, "李小龙": false, "김민수": false, "محمد": false,
		"anna berg": false, "maria de la cruz": false, "jan van dijk": false, "muster-meier": false, "anna_berg": false, "per hansen": false, "o'neill berg": false, "on hold": true, "hard bounce": true, "bitte warten": true, "en attente": true, "sin respuesta": true, "no sabe": true,
		"in attesa": true, "não sabe": true, "nog onbekend": true, "wants_more": true, "double-opt-in": true,
		"meier mag nicht": false, "ruft meier an": false, "keine mails an meier": false, "nicht bestätigt": true, "not meier": false, "meier nein": false, "wants more from anna berg": false, "no interest": true, "step 2 pending meier": false, "ja 2": true,
		"Erika Mustermann": false, "mia@shop.example": false, "192.0.2.7": false, "Musterstraße 12": false, "frau schmidt": false, "Herr K.": false, "K-1001": false, "geb. 1.2.1980": false, "mr": true, "v2.10": true, "0151 2345678": false,
	}
	rare := []string{"Müller", "Meier", "novák"}
	rows := sheet("Mail | S")
	for range shownFrom {
		for w := range words {
			rows = append(rows, []cell{txt("a@example.com"), txt(w)})
		}
	}
	for _, w := range rare {
		rows = append(rows, []cell{txt("a@example.com"), txt(w)})
	}
	rows = append(rows, []cell{txt("a@example.com"), txt(rare[0])})
	r := run(t, withField(), rows, runOptions{})
	if r.err != nil {
		t.Fatal(r.err)
	}
	gaps := r.columns[0]
	if gaps.Rule != "enum.gaps" || gaps.Rows != len(rows)-1 || !strings.HasPrefix(gaps.Message, fmt.Sprintf("%d words are not known", len(words)+len(rare))) {
		t.Errorf("gaps: %+v", gaps)
	}
	data, err := json.Marshal(r.profile)
	if err != nil {
		t.Fatal(err)
	}
	text := gaps.Message + string(data)
	for _, f := range r.findings {
		text += f.Message
	}
	for w, show := range words {
		if got := strings.Contains(text, fmt.Sprintf("The value %q is none", w)); got != show {
			t.Errorf("%s: shown %v, want %v", w, got, show)
		}
		if !show && (strings.Contains(text, w) || strings.Contains(text, fold(w))) {
			t.Errorf("%s is shown", w)
		}
	}
	for _, w := range rare {
		if strings.Contains(text, w) || strings.Contains(text, fold(w)) {
			t.Errorf("%s is shown, though few rows hold it", w)
		}
	}
}

// A header that looks like a value is shown by its position, and so is every header of a row that looks like data.
func TestShownHeaders(t *testing.T) {
	for name, tc := range map[string]struct{ header, want []string }{
		"names":       {[]string{"E-mail", "Consent date", "", "Notice", "Street 1", "v2"}, []string{"E-mail", "Consent date", "column C", "Notice", "Street 1", "v2"}},
		"one value":   {[]string{"Name", "mia@shop.example", "Consent"}, []string{"Name", "column B", "Consent"}},
		"street":      {[]string{"Name", "Musterstraße 12", "Consent"}, []string{"Name", "column B", "Consent"}},
		"ip":          {[]string{"192.0.2.7", "Consent"}, []string{"column A", "Consent"}},
		"ip and port": {[]string{"Consent", "192.0.2.7:443"}, []string{"Consent", "column B"}},
		"ipv6":        {[]string{"2001:db8::17", "Consent"}, []string{"column A", "Consent"}},
		"data":        {[]string{"Müller", "mia@shop.example", "0151 2345678", "Y"}, []string{"column A", "column B", "column C", "column D"}},
		"date and id": {[]string{"Müller", "1.3.1985", "K-10042"}, []string{"column A", "column B", "column C"}},
		"numbers":     {[]string{"Müller", "7", "45352.4"}, []string{"column A", "column B", "column C"}},
		"one number":  {[]string{"Kunde", "2024"}, []string{"Kunde", "2024"}},
		"nothing":     {nil, []string{}},
	} {
		if got := ShownHeaders(tc.header); !slices.Equal(got, tc.want) {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
	r := run(t, one("consent", "email", "email: { from: { letter: B } }", "status: { from: { letter: D }, enum: { given: [Y] } }"), sheet("Müller | mia@shop.example | 0151 2345678 | Y", "Meier | leo@shop.example | 0151 2345679 | Y"), runOptions{})
	data, err := json.Marshal(r.profile)
	if err != nil || r.err != nil {
		t.Fatal(err, r.err)
	}
	for _, f := range r.columns {
		data = append(data, f.Message...)
	}
	if strings.Contains(string(data), "Müller") || !strings.Contains(string(data), "column A") {
		t.Errorf("%s", data)
	}
	if d := string(Draft("x", []string{"Müller", "mia@shop.example", "0151 2345678", "Y"}, "", 1)); strings.Contains(d, "Müller") {
		t.Error("a draft shows a name")
	}
}

// The key groups are the same whether keys fit in memory or not, and no file is left.
func TestKeysSpill(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	rapid.Check(t, func(rt *rapid.T) {
		keys := rapid.SliceOfN(rapid.IntRange(0, 20), 0, 60).Draw(rt, "keys")
		limit := rapid.IntRange(1, 70).Draw(rt, "limit")
		s := newKeySet(limit)
		s.few = rapid.IntRange(1, 70).Draw(rt, "few")
		rows := map[int][]int{}
		for i, k := range keys {
			if err := s.add([]byte(spelt(k)), i+1); err != nil {
				rt.Fatal(err)
			}
			rows[k] = append(rows[k], i+1)
		}
		got, distinct, like, err := s.groups()
		s.close()
		if err != nil {
			rt.Fatal(err)
		}
		var want [][]int
		for _, r := range rows {
			if len(r) > 1 {
				want = append(want, r)
			}
		}
		slices.SortFunc(want, func(a, b []int) int { return a[0] - b[0] })
		if !reflect.DeepEqual(got, want) || distinct != len(rows) {
			rt.Fatalf("groups %v (%d distinct), want %v (%d)", got, distinct, want, len(rows))
		}
		var wantLike alike
		for k, r := range rows {
			for other := range rows {
				if other != k && other/3 == k/3 {
					wantLike.add(r[0])
					break
				}
			}
		}
		if like != wantLike {
			rt.Fatalf("alike %+v, want %+v", like, wantLike)
		}
	})
}

// spelt gives keys of which three each look alike.
func spelt(k int) string {
	return fmt.Sprint([]string{"key", "Key", "k\u0435y"}[k%3], k/3)
}

func TestDistinctIsBounded(t *testing.T) {
	rows := sheet("Mail | S | X")
	for i := range distinctPerColumn + 5 {
		rows = append(rows, []cell{txt("a@example.com"), txt("Y"), num(fmt.Sprint(i))})
	}
	r := run(t, withField("note: X"), rows, runOptions{})
	if c := r.profile.Columns[2]; !c.AtLeast || c.Distinct != distinctPerColumn+1 {
		t.Errorf("distinct %d, at least %v", c.Distinct, c.AtLeast)
	}
	if c := r.profile.Columns[0]; c.AtLeast || c.Distinct != 1 {
		t.Errorf("distinct %d, at least %v", c.Distinct, c.AtLeast)
	}
}

func TestProfileWithoutMapping(t *testing.T) {
	p, err := NewProfiler(nil, Env{File: "x.csv"})
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range blocks(sheet("A | B", "1 | 2", "1 | "), 1, false) {
		if err := p.Add(b); err != nil {
			t.Fatal(err)
		}
	}
	prof, err := p.Done()
	if err != nil || prof.Rows != 2 || len(prof.Columns) != 2 || prof.Columns[1].Blank != 1 || prof.Columns[0].Name != "A" {
		t.Errorf("%v %+v", err, prof)
	}
	if _, err := p.Done(); err == nil {
		t.Error("a profile ends twice")
	}
}

func TestCompileWantsItsProfile(t *testing.T) {
	a, err := Parse("m.yaml", []byte(withField()))
	if err != nil {
		t.Fatal(err)
	}
	r := run(t, withField("note: X"), sheet("Mail | S | X", "a@example.com | Y | z"), runOptions{})
	if _, _, err := Compile(a, r.profile, Env{}); err == nil || !strings.Contains(err.Error(), "another mapping") {
		t.Errorf("error %v", err)
	}
}
