package mappings

import (
	"strings"
	"testing"
)

func TestCountryCodes(t *testing.T) {
	n := 0
	for a := 'A'; a <= 'Z'; a++ {
		for b := 'A'; b <= 'Z'; b++ {
			if code, ok := countryCode(string(a) + string(b)); ok {
				n++
				if code != string(a)+string(b) {
					t.Errorf("%c%c became %s", a, b, code)
				}
			}
		}
	}
	if n != 250 { // the 249 codes of ISO 3166-1, and XK
		t.Errorf("%d countries", n)
	}
	for s, want := range map[string]string{"DE": "DE", "de": "DE", "DEU": "DE", "na": "NA", "NAM": "NA", "XK": "XK",
		"UK": "", "EU": "", "SU": "", "Germany": "", "276": "", "D": "", "ZZ": "", "DE ": "", "D€": ""} {
		if got, ok := countryCode(s); ok != (want != "") || ok && got != want {
			t.Errorf("%q: %q %v, want %q", s, got, ok, want)
		}
	}
}

func TestLanguageTags(t *testing.T) {
	for s, want := range map[string]string{"de": "de", "DE": "de", "en-us": "en-US", "zh-hant-TW": "zh-Hant-TW", "es-419": "es-419", "de-DE-1996": "de-DE-1996", "gsw": "gsw",
		"en_US": "", "deu": "", "German": "", "und": "", "xx": "", "en-UK": "", "en-XX": "", "x-foo": "", "": "", "de-": "", "e": ""} {
		if got, ok := languageTag(s); ok != (want != "") || ok && got != want {
			t.Errorf("%q: %q %v, want %q", s, got, ok, want)
		}
	}
	languageTag(strings.Repeat("a-", 1000)) // must not be slow or fail
}

func TestDecimalComma(t *testing.T) {
	for s, want := range map[string]string{"24,0": "24.0", "-3,50": "-3.50", "45292,25": "45292.25", "24": "", "1.000,5": "", "1,2,3": "", ",5": "", "5,": "", "a,b": ""} {
		if got, ok := decimalComma([]byte(s)); ok != (want != "") || ok && string(got) != want {
			t.Errorf("%q: %q %v, want %q", s, got, ok, want)
		}
	}
	for _, c := range []struct{ field, cell, rule string }{
		{"months: { from: M, decimal: comma }", "24,00", ""},
		{"months: { from: M, decimal: comma }", "24,50", "integer.invalid"},
		{"months: { from: M, decimal: comma }", "24.00", "integer.invalid"},
		{"months: M", "24,00", "integer.invalid"},
	} {
		r := run(t, strings.Replace(retention(), "months: M", c.field, 1), append(sheet("R | M"), []cell{txt("r1"), txt(c.cell)}), runOptions{})
		if got := r.row(t, 2); got.Rule != c.rule || c.rule == "" && got.Records[0].Get("months").Int != 24 {
			t.Errorf("%s with %q: %s by %q, want %q", c.field, c.cell, got.Verdict, got.Rule, c.rule)
		}
	}
}
