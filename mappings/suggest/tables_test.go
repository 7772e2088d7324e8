package suggest

import (
	"slices"
	"strings"
	"testing"
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
