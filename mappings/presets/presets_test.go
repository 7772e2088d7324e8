package presets

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sheetlift/importers/source"
	"sheetlift/importers/source/open"
	"sheetlift/mappings"
	"sheetlift/mappings/suggest"
)

// look reads a text file as init does.
func look(t *testing.T, path string) *suggest.Look {
	t.Helper()
	book, err := open.File(t.Context(), path, source.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer book.Close()
	rd, err := book.Read(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	defer rd.Close()
	var l *suggest.Look
	for {
		b, err := rd.Next()
		if err != nil {
			return l
		}
		if l == nil {
			l = suggest.NewLook(filepath.Base(path), "", 1, b.RowNum[0], mappings.HeaderNames(b, 0))
		}
		l.Add(b)
	}
}

// The exports of the field that may be there to test with are recognised; those that no layout is documented for are not.
func TestRecognisesRealExports(t *testing.T) {
	dir := os.Getenv("SHEETLIFT_CORPUS")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "corpus") // beside the checkout
	}
	dir = filepath.Join(dir, "privacy-exports")
	if _, err := os.Stat(dir); err != nil {
		t.Skip("no corpus of real exports here: SHEETLIFT_CORPUS names its folder")
	}
	for file, want := range map[string]string{
		"mailchimp-full-header.csv":                  "mailchimp",
		"mailchimp-italian-header.csv":               "mailchimp",
		"mailchimp-subscribed.csv":                   "mailchimp",
		"unsubscribed_email_audience_export_abc.csv": "mailchimp",
		"klaviyo-export-states.csv":                  "klaviyo",
		"shopify-customers.csv":                      "shopify",
		"shopify-orders.csv":                         "",
		"brevo.csv":                                  "brevo",
		"hubspot-contacts.csv":                       "hubspot",
		"mailpoet-tracking-consent.csv":              "mailpoet",
		"fides-privacy-requests-header.csv":          "fides",
		"activecampaign.csv":                         "activecampaign",
		"kit-convertkit.csv":                         "kit",
		"wpeka-consent-log-header.csv":               "",
		"generic-dup-headers.csv":                    "",
		"duplicate-mixed-columns.csv":                "",
		"import-errors.csv":                          "",
	} {
		l := look(t, filepath.Join(dir, file))
		got := ""
		if f := Find(l); f != nil {
			got = f.Preset.Name
			text := string(f.Draft(&suggest.Context{Name: "x", Purposes: []suggest.Purpose{{Code: "news", Name: "News"}}, By: mappings.StatedBy{Name: "A role", At: "2026-10-01"}}).YAML())
			if strings.Contains(text, "@") {
				t.Errorf("%s: the draft holds an address:\n%s", file, text)
			}
			blank := strings.Contains(text, "const:\n") // what only a person knows, such as the status that the file's name should say
			if _, err := mappings.Parse(file, []byte(text)); (err != nil) != blank && file != "hubspot-contacts.csv" {
				t.Errorf("%s: blank %v, %v\n%s", file, blank, err, text)
			}
		}
		if got != want {
			t.Errorf("%s is taken for %q, want %q", file, got, want)
		}
	}
}
