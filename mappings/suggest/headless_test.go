package suggest

import (
	"strings"
	"testing"
)

// Where a list without a header begins, below its titles or at once; a header is found where there is one, though a row below it has more texts.
func TestFirstOfList(t *testing.T) {
	for name, tc := range map[string]struct {
		rows          []string
		taken         int
		first, header int
		ok            bool
	}{
		"below titles":             {[]string{"Sperrliste", "Stand 01.10.2026", "a@example.com|Abmeldung|14.03.2024", "b@example.com|Bounce|15.03.2024"}, 2, 2, 0, true},
		"words and a day":          {[]string{"Requests", "Erika Mustermann|Access|Closed|2024-03-14"}, 1, 1, 0, true},
		"a shorter row before it":  {[]string{"Sperrliste", "a@example.com|Abmeldung", "b@example.com|Bounce|15.03.2024"}, 2, 1, 0, true},
		"a word that is a header":  {[]string{"a@example.com|unsubscribed", "b@example.com|unsubscribed"}, 0, 0, 0, true},
		"a header that is shorter": {[]string{"E-Mail|Grund", "a@example.com|Abmeldung|angerufen"}, 1, 0, 0, false},
		"a header of other words":  {[]string{"Kontakt|Anlass|Bem", "a@example.com|Abmeldung|angerufen"}, 1, 0, 0, false},
		"a header":                 {[]string{"E-Mail|Status|Datum", "a@example.com|active|14.03.2024"}, 0, 0, 0, false},
		"a header with a sum":      {[]string{"Open|12", "Ref|Type|Status", "1|Access|Open"}, 1, 0, 1, false},
	} {
		var rows [][]string
		for _, row := range tc.rows {
			rows = append(rows, strings.Split(row, "|"))
		}
		if first, header, ok := FirstOfList(rows, tc.taken); first != tc.first || header != tc.header || ok != tc.ok {
			t.Errorf("%s: %d, %d, %v", name, first, header, ok)
		}
	}
}

// What nothing but its header bars is a list of contact points that must not be used.
func TestContactPointsUnderAnOptOut(t *testing.T) {
	d, text, asked := suggested(t, lookAt("calls.csv", "Do not call", "+4915112345678", "+4915112345679"))
	if len(asked) > 0 || len(d.Records) != 1 || d.Records[0].Entity != "suppression" {
		t.Errorf("asks %v\n%s", asked, text)
	}
}
