package suggest

import (
	"slices"
	"strings"
	"testing"

	"sheetlift/mappings"
)

// A second table beside the first gives records of its own, which a person confirms: the people who left stood in it, and in no record.
func TestSecondTableBeside(t *testing.T) {
	for _, tc := range []struct {
		lines []string
		want  []string // the records, in short
	}{
		{[]string{"E-Mail|Newsletter||E-Mail|Grund", "a@example.com|ja||c@example.com|Widerspruch", "b@example.com|nein"},
			[]string{"consent on email status Newsletter no[nein] yes[ja]", "suppression when column: { letter: D } not_blank: true on email reason  objection[Widerspruch]"}},
		{[]string{"E-Mail|Newsletter||E-Mail|Abgemeldet am", "a@example.com|ja||c@example.com|14.03.2024", "b@example.com|ja||d@example.com|"},
			[]string{"consent on email status Newsletter yes[ja]", "suppression when column: { letter: E } not_blank: true when column: { letter: D } not_blank: true on email reason opt_out occurred_at "}},
		{[]string{"E-Mail|Newsletter||Mail|Abgemeldet", "a@example.com|ja||c@example.com|ja", "b@example.com|ja||d@example.com|nein", "e@example.com|ja||"},
			[]string{"consent on email status Newsletter yes[ja]", "consent when column: { letter: D } not_blank: true status  no[nein] yes[ja] inverted"}},
		{[]string{"E-Mail|Newsletter||Mail|Bemerkung", "a@example.com|ja||c@example.com|weg", "b@example.com|ja||d@example.com|raus"},
			[]string{"consent on email status Newsletter yes[ja]", "suppression when column: { letter: D } not_blank: true on any reason"}},
	} {
		d, text, asked := suggested(t, lookAt("x.csv", tc.lines...))
		var got []string
		for i := range d.Records {
			got = append(got, drawn(&d.Records[i]))
		}
		if !slices.Equal(got, tc.want) || strings.Contains(tc.lines[0], "Bemerkung") != slices.Contains(asked, "records[1].fields.reason.const") || !strings.Contains(text, "two tables") {
			t.Errorf("%s asks %v\n%q\n%s", tc.lines[0], asked, got, text)
		}
	}
}

// A second table below the first is told with its row, and the draft is no mapping: a yes to its opt-out would be read as one to a consent.
func TestSecondTableBelow(t *testing.T) {
	look := func(gap int, lines ...string) *Look {
		l := NewLook("x.csv", "", 1, 1, strings.Split(lines[0], "|"))
		b := blockOf(lines)
		for i := range b.RowNum {
			if i >= 3 {
				b.RowNum[i] += gap
			}
		}
		l.Add(b)
		return l
	}
	for _, tc := range []struct {
		gap   int
		lines []string
		row   string
	}{
		{1, []string{"E-Mail|Newsletter", "a@example.com|ja", "b@example.com|nein", "E-Mail|Abgemeldet", "c@example.com|ja"}, "row 5"},
		{2, []string{"E-Mail|Newsletter|Datum", "a@example.com|ja|14.03.2024", "b@example.com|nein|", "Correo|Baja", "c@example.com|sí"}, "row 6"},
		{0, []string{"E-Mail|Newsletter", "a@example.com|ja", "b@example.com|nein", "c@example.com|ja"}, ""},
		{1, []string{"E-Mail|Newsletter", "a@example.com|ja", "b@example.com|nein", "c@example.com|ja"}, ""},
		{1, []string{"E-Mail|Newsletter", "a@example.com|ja", "b@example.com|nein", "E-Mail|Newsletter", "c@example.com|ja"}, ""}, // the same table once more
		{1, []string{"E-Mail|Status", "a@example.com|abgemeldet", "b@example.com|angemeldet", "Gesamt|2"}, ""},
	} {
		_, text, asked := suggested(t, look(tc.gap, tc.lines...))
		text = strings.Join(strings.Fields(strings.ReplaceAll(text, "#", "")), " ")
		if told := strings.Contains(text, "looks like the header of a second table"); told != (tc.row != "") || !strings.Contains(text, tc.row) || slices.Contains(asked, "records[0].when.in") != told {
			t.Errorf("%v: asks %v\n%s", tc.lines, asked, text)
		}
	}
}

// A list of opt-outs below a title, or below a header without blank rows, is told with its row, and the draft is no mapping: its answers came in as given.
func TestTitleOrHeaderBelow(t *testing.T) {
	// A line of nothing but - is a blank row.
	look := func(lines ...string) *Look {
		l := NewLook("x.csv", "", 1, 1, strings.Split(lines[0], "|"))
		b := blockOf(slices.DeleteFunc(slices.Clone(lines), func(line string) bool { return line == "-" }))
		b.RowNum = nil
		for i, line := range lines {
			if line != "-" {
				b.RowNum = append(b.RowNum, i+1)
			}
		}
		l.Add(b)
		return l
	}
	codes := []string{"ID|E-mail|Newsletter", "K1|a@example.org|Y", "K2|b@example.org|N", "K3|c@example.org|Y"}
	names := []string{"Name|E-mail|Newsletter", "Anna Berg|a@example.org|Y", "Bea Tal|b@example.org|N", "Cem Ort|c@example.org|Y"}
	const attention, nothing = "Attention", ""
	type variant struct {
		top   []string
		below []string
		want  string
	}
	var list []variant
	for _, title := range strings.Split("Do not contact|Unsubscribed|Opt-outs|Suppression list|Withdrawn|Complaints|=== OPTED OUT ===|Opt-outs 2023|Abmeldungen|Nicht kontaktieren|Widersprüche|Einsprüche|Sperrliste|Gekündigt|Désabonnés|Ne pas contacter|"+
		"Liste d'opposition|Retraits|Bajas|No contactar|Cancelaciones|Oposiciones|Disiscritti|Non contattare|Revoche|Cancellati|Descadastrados|Não contactar|Cancelamentos|Revogações|Afmeldingen|Uitgeschreven|Niet benaderen|Bezwaren|Uitschrijvingen", "|") {
		list = append(list, variant{codes, []string{title, "K9|d@example.org|Y"}, "row 5 looks like the title of a second table, and sounds"},
			variant{codes, []string{"-", title, "K9|d@example.org|Y"}, "row 6 looks like the title of a second table, and sounds"},
			variant{codes, []string{"|" + title, "K9|d@example.org|Y"}, "row 5 looks like the title of a second table, and sounds"})
	}
	list = append(list, []variant{
		{codes, []string{"-", "Do not contact", "ID|E-mail|Opted out", "K9|d@example.org|Y"}, "row 6 looks like the title of a second table, whose header is row 7, and sounds"},
		{codes, []string{"Do not contact", "-", "ID|E-mail|Opted out", "K9|d@example.org|Y"}, "row 5 looks like the title of a second table, whose header is row 7, and sounds"},
		{codes, []string{"Do not contact", "ID|E-mail|Newsletter", "K9|d@example.org|Y"}, "row 5 looks like the title of a second table, whose header is row 6, and sounds"},
		{codes, []string{"Former customers", "ID|E-mail|Newsletter", "K9|d@example.org|Y"}, "row 5 looks like the title of a second table, whose header is row 6."},
		{codes, []string{"ID|E-mail|Opted out", "K9|d@example.org|Y"}, "row 5 looks like the header of a second table, and sounds"},
		{codes, []string{"Nr|Adresse|Abgemeldet", "K9|d@example.org|Y"}, "row 5 looks like the header of a second table, and sounds"},
		{codes[:1], []string{"Unsubscribed", "K9|d@example.org|Y", "Subscribed", "K1|a@example.org|Y"}, "row 2 looks like the title of a second table, and sounds"},
		{names, []string{"Abmeldungen", "Dora Eck|d@example.org|Y"}, "row 5 looks like the title of a second table, and sounds"},
		{names, []string{"-", "Do not contact", "Dora Eck|d@example.org|Y"}, "row 6 looks like the title of a second table, and sounds"},
		{names, []string{"Name|E-mail|Opted out", "Dora Eck|d@example.org|Y"}, "row 5 looks like the header of a second table, and sounds"},
		{[]string{"E-mail|Newsletter", "a@example.org|Y", "b@example.org|N"}, []string{"Unsubscribed", "d@example.org|Y"}, "row 4 looks like the title of a second table, and sounds"},

		{codes, []string{"Total: 3"}, nothing},
		{codes, []string{"Total|3"}, nothing},
		{codes, []string{"-", "Total||3"}, nothing},
		{codes, []string{"Stand: 2026-01-01"}, nothing},
		{codes, []string{"* N means opted out by phone", "** see CRM"}, nothing},
		{codes, []string{"-", "Summary", "Opt-ins|2", "Opt-outs|1"}, nothing},
		{codes, []string{"Opt-outs: 1", "Total: 3"}, nothing},
		{codes, []string{"Do not contact"}, nothing},
		{codes, []string{"-", "Example Ltd", "Confidential"}, nothing},
		{codes, []string{"Sales North", "K4|d@example.org|N", "Marketing", "K5|e@example.org|Y"}, "rows 5, 7 look like titles"},
		{codes, []string{"Acme Limitada", "K4|d@example.org|N"}, attention},
		{codes, []string{"deleted", "K4|d@example.org|N"}, attention},
		{codes, []string{"Page 1 of 2", "K4|d@example.org|N"}, attention},
		{codes, []string{"ID|E-mail|Newsletter", "K4|d@example.org|N"}, "row 5 repeats the header"},
		{codes, []string{"K4||", "|d@example.org|Y", "K6|unknown|N"}, nothing},
		{codes, []string{"||Unsubscribed", "K4|d@example.org|N"}, nothing},
		{codes, []string{"Subtotal|2", "K4|d@example.org|N", "Total|3"}, nothing},
		{names, []string{"Peter Block", "Dora Eck|d@example.org|Y"}, attention},
		{names, []string{"Karl Robinson", "Dora Eck|d@example.org|Y"}, attention},
		{[]string{"ID|E-mail|Newsletter|Comment", "K1|a@example.org|Y|called", "K2|b@example.org|N|none wanted"}, []string{"|||unsubscribed by phone", "K4|d@example.org|N|Opt-out"}, nothing},
		{[]string{"Code|Name", "newsletter|Newsletter", "partner|Partner offers"}, []string{"Marketing", "optin|Subscription"}, nothing},
	}...)
	for _, tc := range list {
		lines := slices.Concat(tc.top, tc.below)
		_, text, asked := suggested(t, look(lines...))
		text = strings.Join(strings.Fields(strings.ReplaceAll(text, "#", "")), " ")
		further := strings.Contains(tc.want, "second table")
		if slices.Contains(asked, "records[0].when.in") != further || !strings.Contains(text, tc.want) || tc.want == nothing && (strings.Contains(text, "like a title") || strings.Contains(text, "like titles") || strings.Contains(text, "repeats")) {
			t.Errorf("%q: want %q, asks %v\n%s", lines, tc.want, asked, text)
		}
	}
}

// A title above one of two tables side by side that sounds like a list of opt-outs asks about the consents below it; above the only table it is named.
func TestTitlesAboveTheHeader(t *testing.T) {
	for _, tc := range []struct {
		lines    []string
		asks     string // the record
		attended bool
	}{
		{[]string{"Opt-outs|||Newsletter|", "E-mail|Consent||E-mail|Consent", "a@example.org|Y||b@example.org|N", "c@example.org|N||d@example.org|Y"}, "records[0].when.in", true},
		{[]string{"Newsletter|||Abmeldungen|", "E-mail|Consent||E-mail|Consent", "a@example.org|Y||b@example.org|N", "c@example.org|N||d@example.org|Y"}, "records[1].when[1].in", true},
		{[]string{"Newsletter|||Partner|", "E-mail|Consent||E-mail|Consent", "a@example.org|Y||b@example.org|N", "c@example.org|N||d@example.org|Y"}, "", false},
		{[]string{"Bajas||", "ID|E-mail|Newsletter", "K1|a@example.org|Y", "K2|b@example.org|N"}, "", true},
		{[]string{"Newsletter 2026||", "ID|E-mail|Newsletter", "K1|a@example.org|Y", "K2|b@example.org|N"}, "", false},
	} {
		l := NewLook("x.csv", "", 1, 2, strings.Split(tc.lines[1], "|"))
		l.Add(blockOf(tc.lines))
		_, text, asked := suggested(t, l)
		text = strings.Join(strings.Fields(strings.ReplaceAll(text, "#", "")), " ")
		var in []string
		for _, path := range asked {
			if strings.HasSuffix(path, ".in") {
				in = append(in, path)
			}
		}
		if strings.Join(in, " ") != tc.asks || strings.Contains(text, "sounds like that of a list of opt-outs. If") != tc.attended {
			t.Errorf("%q: asks %v\n%s", tc.lines, asked, text)
		}
	}
}

// A sheet of which nothing is recognised is looked at for other tables too: whoever fills the draft in would read them as the first.
func TestOtherTablesOfABareDraft(t *testing.T) {
	for _, tc := range []struct {
		lines []string
		want  string
		kept  bool // from being a mapping
	}{
		{[]string{"Kennung|Kontakt|Klasse", "K1|a@example.org|gold", "K2|b@example.org|rot", "K3|c@example.org|gold", "Abmeldungen", "K9|d@example.org|gold"}, "row 5 looks like the title of a second table, and sounds", true},
		{[]string{"Kennung|Kontakt|Klasse", "K1|a@example.org|gold", "K2|b@example.org|rot", "K3|c@example.org|gold", "Nr|E-Mail|Abgemeldet", "K9|d@example.org|ja"}, "row 5 looks like the header of a second table, and sounds", true},
		{[]string{"Kennung|Kontakt|Klasse||Kontakt|Notiz", "K1|a@example.org|gold||c@example.org|weg", "K2|b@example.org|rot||d@example.org|weg"}, "two tables side by side, the second from column E", false},
		{[]string{"Kennung|Kontakt|Klasse", "K1|a@example.org|gold", "K2|b@example.org|rot", "K3|c@example.org|gold"}, "", false},
	} {
		l := lookAt("x.csv", tc.lines...)
		if d := Suggest(l, &ctx); d != nil {
			t.Fatalf("%q is drafted: %s", tc.lines[0], d.YAML())
		}
		text := string(Bare(l, &ctx))
		filled := strings.NewReplacer("entity: TODO", "entity: consent", "key: [TODO]", "key: [external_id]", "    fields:\n", "    fields:\n      external_id: Kennung\n      email: { from: { letter: B } }\n      status: { from: Klasse, enum: { given: [gold], refused: [rot] } }\n").Replace(text)
		_, err := mappings.Parse("s.yaml", []byte(filled))
		said := strings.Join(strings.Fields(strings.ReplaceAll(text, "#", "")), " ")
		if !strings.Contains(said, tc.want) || (err != nil) != tc.kept || err != nil && !strings.Contains(err.Error(), "when") || tc.want == "" && strings.Contains(said, "table") {
			t.Errorf("%q: want %q, %v\n%s", tc.lines, tc.want, err, filled)
		}
	}
}

// Consents in a sheet or file that is called as a list of opt-outs is are asked about: a yes to what these people joined by came in as given.
func TestNamesOfListsOfOptOuts(t *testing.T) {
	answer := []string{"Email|Name|Opt-in", "a@example.org|A|Y", "b@example.org|B|Y"}
	for _, tc := range []struct {
		file, sheet string
		lines       []string
		asks        bool
	}{
		{"contacts.xlsx", "Unsubscribed", answer, true},
		{"contacts.xlsx", "Abgemeldet", answer, true},
		{"contacts.xlsx", "Widerrufe", answer, true},
		{"contacts.xlsx", "Désabonnés", answer, true},
		{"contacts.xlsx", "Bajas", answer, true},
		{"contacts.xlsx", "Disiscritti", answer, true},
		{"contacts.xlsx", "Descadastrados", answer, true},
		{"contacts.xlsx", "Afgemeld", answer, true},
		{"contacts.xlsx", "Do not contact", answer, false}, // suppressions
		{"newsletter_abmeldungen.csv", "", answer, true},
		{"unsubscribed.csv", "", []string{"Email|Newsletter|SMS", "a@example.org|yes|yes", "b@example.org|yes|no"}, true},
		{"contacts.xlsx", "Active", answer, false},
		{"newsletter.csv", "", answer, false},
		{"subscribed.csv", "", answer, false},
		{"abmeldungen.csv", "", []string{"Email|Abgemeldet", "a@example.org|ja", "b@example.org|ja"}, false},
		{"unsubscribed.csv", "", []string{"Email|Status", "a@example.org|unsubscribed", "b@example.org|unsubscribed"}, false},
	} {
		l := lookAt(tc.file, tc.lines...)
		l.Sheet = tc.sheet
		_, text, asked := suggested(t, l)
		if got := slices.ContainsFunc(asked, func(path string) bool { return strings.HasSuffix(path, "when.in") }); got != tc.asks || strings.Contains(text, "Attention: the name of the file or sheet") != tc.asks {
			t.Errorf("%s %s: asks %v\n%s", tc.file, tc.sheet, asked, text)
		}
	}
}
