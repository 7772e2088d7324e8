package importers

import "testing"

// referenceExamples also stand in docs/consent.md.
var referenceExamples = []struct {
	text string
	want bool
	why  string
}{
	{"DOC-2019-0042", true, "a document number"},
	{"doi-log-88412", true, "a log entry"},
	{"CALL/2021/004711", true, "a recording's number"},
	{"sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", true, "a digest"},
	{"https://sign.example/r/8841", true, "an address that names one thing"},
	{"eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiI0MiJ9.c2lnbmF0dXJl", true, "a signed token"},
	{"7f1c6a52-3d9e-4b57-9a64-0f6a3c1d2e90", true, "a UUID"},
	{"00881234", true, "a number of six digits or more"},
	{"Y", false, "a bare word"},
	{"yes", false, "a bare word"},
	{"✓", false, "a bare mark"},
	{"website", false, "a bare word"},
	{"form", false, "a bare word"},
	{"newsletter-signup", false, "a word without a digit"},
	{"n/a", false, "nothing"},
	{"form 2", false, "words, not one reference"},
	{"signed on paper 2019", false, "words, not one reference"},
	{"2019", false, "too short"},
	{"2019-05-01", false, "a date"},
	{"01.05.2019", false, "a date"},
	{"20190501", false, "a date"},
	{"2019-05-01T10:00:00Z", false, "a time"},
	{"12:30:15", false, "a time"},
	{"000000", false, "one digit again and again"},
	{"mia.42@shop.example", false, "an e-mail address says who"},
	{"+4915112345678", false, "a phone number says who"},
	{"192.0.2.17", false, "an IP address says where from"},
	{"2001:db8::17", false, "an IP address says where from"},
	{"https://shop.example/", false, "a site"},
	{"https://shop.example/newsletter", false, "a form"},
	{"https://shop24.example/newsletter", false, "a form; the digit is in the host"},
	{"", false, "nothing"},
}

func TestIsReference(t *testing.T) {
	for _, tt := range referenceExamples {
		t.Run(tt.text, func(t *testing.T) {
			if got := IsReference(tt.text); got != tt.want {
				t.Errorf("IsReference(%q) = %v, want %v: %s", tt.text, got, tt.want, tt.why)
			}
		})
	}
	for _, s := range []string{"ftp://%zz/8841", "://8841aa", "   DOC-1 2  ", "\u00a0\u00a0", "https:///8841"} {
		if IsReference(s) {
			t.Errorf("IsReference(%q) = true", s)
		}
	}
	if !IsReference("  DOC-2019-0042 ") {
		t.Error("blanks around a reference do not matter")
	}
}

func FuzzIsReference(f *testing.F) {
	for _, tt := range referenceExamples {
		f.Add(tt.text)
	}
	f.Fuzz(func(t *testing.T, s string) { IsReference(s) })
}
