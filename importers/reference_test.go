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
	{"call-000123", true, "a recording's number"},
	{"9f86d081884c7d65", true, "sixteen letters and digits, mixed"},
	{"CPXxRfAPXxRfAAfKABENB-CgAAAAAAAAAAYgAAAAAAAA", true, "a consent string"},
	{"https://sign.example/proof/000123", true, "an address that names one thing"},
	{"scans/consent-000123.pdf", true, "a file's name and number"},
	{"00881234", true, "a number of seven to nine digits"},
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
	{"2024-W09", false, "a week"},
	{"2024/03", false, "a month"},
	{"März2024", false, "a month"},
	{"1.3.2024-10:00", false, "a day and a time"},
	{"yes-2024-03-01", false, "a word and a date"},
	{"20240301T101500.123+0100", false, "a time"},
	{"1709287200", false, "may be a time stamp"},
	{"45352.41666", false, "a decimal number, such as a spreadsheet's time"},
	{"000000", false, "one digit again and again"},
	{"240301", false, "a number of six digits may be a day"},
	{"website1", false, "a word with less than three digits"},
	{"website2019", false, "a word and a year"},
	{"Musterstr.112", false, "a street says where"},
	{"01512345678", false, "a phone number says who"},
	{"0151-2345678", false, "a phone number says who"},
	{"tel:0151/2345678", false, "a phone number says who"},
	{"493023125127", false, "a number of ten to fifteen digits may be a phone number"},
	{"212-555-0123", false, "may be a phone number"},
	{"mia.42@shop.example", false, "an e-mail address says who"},
	{"+4915112345678", false, "a phone number says who"},
	{"192.0.2.17", false, "an IP address says where from"},
	{"192.0.2.117:443", false, "an IP address and port say where from"},
	{"2001:db8::17", false, "an IP address says where from"},
	{"https://shop.example/", false, "a site"},
	{"https://shop.example/newsletter", false, "a form"},
	{"https://shop24.example/newsletter", false, "a form; the digit is in the host"},
	{"shop124.example/form2", false, "a form; the digits are in the host"},
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
	for _, s := range []string{"ftp://%zz/8841", "://8841aa", "   DOC-1 2  ", "\u00a0\u00a0", "https:///8841",
		"192.0.2.7:443", "Musterstr.12", "shop.example/form2", "+49-151-2345678", "(0151)2345678", "https://shop.example/+4915112345678",
		"https://shop.example/01512345678", "https://shop.example/2024/03/01/form", "[2001:db8::17]:8443", "fe80::1%eth100", "ip=192.0.2.117",
		"Sent:2024-03-01T10:00:00,123456+0200", "1709287200000", "1709287200000000", "1709287200000000000", "01.03.2024,10:15:00",
		"newsletter-signup-form-2019", "www.shop2019.example", "shop123.example", "Rue-du-Port-117", "20190501101500", "x-20190501", "2019.2020", "form-000"} {
		if IsReference(s) {
			t.Errorf("IsReference(%q) = true", s)
		}
	}
	for _, s := range []string{"DOC-2025-0001", "DOI-88412", "2019/004711", "DOI-2024-03-01-88412", "0Xk3j9xz1q8mnbv2ab", "{7F1C6A52-3D9E-4B57-9A64-0F6A3C1D2E90}",
		"urn:uuid:7f1c6a52-3d9e-4b57-9a64-0f6a3c1d2e90", "phone-call-000123", "mail-000123", "consent-000123.pdf", "F7-AB-00101", "123456789012345678",
		"CPXxRfAPXxRfAAfKABENB-CgAAAAAAAAAAYgAAAAAAAA.YAAAAAAAAAAA", "CALL-2021-11-30-0042", "https://sign.example/?envelope=9f86d081884c7d659a2feaa0"} {
		if !IsReference(s) {
			t.Errorf("IsReference(%q) = false", s)
		}
	}
	if !IsReference("  DOC-2019-0042 ") {
		t.Error("blanks around a reference do not matter")
	}
}

func TestIsReferenceAllocatesNothing(t *testing.T) {
	for _, s := range []string{"DOC-2019-0042", "9f86d081884c7d65", "01512345678", "192.0.2.117:443", "2019-05-01T10:00:00Z", "7f1c6a52-3d9e-4b57-9a64-0f6a3c1d2e90"} {
		if n := testing.AllocsPerRun(100, func() { IsReference(s) }); n != 0 {
			t.Errorf("%v allocations for %s", n, s)
		}
	}
}

func TestStreetLike(t *testing.T) {
	for s, want := range map[string]bool{
		"Musterstraße 12": true, "Musterstr.12a": true, "221B Baker Street": true, "Rue du Port 7": true, "Lindenweg 3": true, "Kerkstraat 9": true,
		"Street 1": false, "Straße Nr. 2": false, "Address Street 2": false, "Musterstraße": false, "DOI-88412": false, "call-000123": false, "E-mail 2": false, "": false, "\xff 1": false,
	} {
		if got := StreetLike(s); got != want {
			t.Errorf("StreetLike(%q) = %v", s, got)
		}
	}
}

func FuzzIsReference(f *testing.F) {
	for _, tt := range referenceExamples {
		f.Add(tt.text)
	}
	f.Fuzz(func(t *testing.T, s string) { IsReference(s) })
}
