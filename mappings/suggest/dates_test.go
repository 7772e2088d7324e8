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
