package suggest

import (
	"strings"
	"testing"
)

// Where a column leaves the order of day and month open, another of the sheet that is written alike is named, and the order asked for.
func TestDateOrderOfAColumnWrittenAlike(t *testing.T) {
	for name, tc := range map[string]struct {
		other []string
		named bool
	}{
		"proves its own":      {[]string{"13/04/2024", "05/06/2024"}, true},
		"written otherwise":   {[]string{"13.04.2024", "05.06.2024"}, false},
		"proves nothing":      {[]string{"03/04/2024", "05/06/2024"}, false},
		"contradicts itself":  {[]string{"13/04/2024", "04/13/2024"}, false},
		"is no column at all": {[]string{"", ""}, false},
	} {
		_, text, asked := suggested(t, lookAt("x.csv", "Email|Consent|Consent date|Last order", "a@example.com|yes|03/04/2024|"+tc.other[0], "b@example.com|no|05/06/2024|"+tc.other[1]))
		if asked == nil || strings.Contains(strings.Join(strings.Fields(strings.ReplaceAll(text, "#", "")), " "), "can only be day first") != tc.named {
			t.Errorf("%s: asked %v\n%s", name, asked, text)
		}
	}
}

// The day of a consent is known by what its header says in any language; a header that says more than that it is a day is that of something else.
func TestDaysOfConsents(t *testing.T) {
	for header, want := range map[string]string{
		"Zeitstempel der E-Mail-Marketing-Einwilligung": "known", "Marca de tiempo del consentimiento de marketing": "known", "Data e ora del consenso al marketing via e-mail": "known", "Tijdstempel toestemming e-mailmarketing": "known", "Horodatage du consentement": "known", "Data do consentimento": "known", "Opt-in timestamp": "known", "Datum": "known",
		"Date signed": "doubtful", "Datum Unterschrift": "doubtful", "Status date": "doubtful", "Date newsletter": "doubtful",
		"Datum toegevoegd": "", "Data di aggiunta": "", "Fecha de incorporación": "", "Hinzugefügt am": "", "Data de adição": "", "Date of last contact": "", "Datum Rechnung": "", "Date of event": "", "Consent expiry date": "", "Last marketing e-mail date": "", "Data wizyty": "",
	} {
		d, text, _ := suggested(t, lookAt("register.csv", "E-mail|Consent|"+header, "a@example.com|yes|2024-03-14 10:00", "b@example.com|no|2024-03-15 10:00"))
		got := ""
		for _, f := range d.Records[0].Fields {
			if f.Name == "occurred_at" {
				if got = "known"; strings.Contains(strings.Join(f.Why, " "), "does not say of what") {
					got = "doubtful"
				}
			}
		}
		if got != want {
			t.Errorf("%s: %q, want %q\n%s", header, got, want, text)
		}
	}
}
