package suggest

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"sheetlift/mappings"
)

// Somebody who left has left every purpose: a list of such people, and a column of days on which people left, states none.
func TestUnsubscribedStateNoPurpose(t *testing.T) {
	two := Context{Name: "s", Purposes: []Purpose{{"news", "Newsletter"}, {"ads", "Advertising"}}, By: ctx.By}
	for name, lines := range map[string][]string{
		"a status that is always a no": {"Email|Status", "a@example.com|unsubscribed", "b@example.com|unsubscribed"},
		"an opt-out":                   {"Email|Unsubscribed", "a@example.com|TRUE", "b@example.com|TRUE"},
		"a day, under a name":          {"E-Mail|Abgemeldet am", "a@example.com|14.03.2024", "b@example.com|13.03.2024"},
		"a day beside a reason":        {"E-mail|Date de désinscription|Motif", "a@example.com|14/03/2024|trop de messages", "b@example.com|15/03/2024|autre chose"},
	} {
		for _, file := range []string{"unsubscribed.csv", "export.csv"} {
			d := Suggest(lookAt(file, lines...), &two)
			if d == nil {
				t.Errorf("%s: nothing is suggested", name)
				continue
			}
			for _, r := range d.Records {
				for _, f := range r.Fields {
					if f.Name == "purpose" {
						t.Errorf("%s in %s: a purpose is stated\n%s", name, file, d.YAML())
					}
				}
			}
		}
	}
	d, text, asked := suggested(t, lookAt("nieuwsbrief.csv", "E-mail|Nieuwsbrief|Aanmelddatum|Afmelddatum", "a@example.com|ja|14-03-2024|", "b@example.com|ja|15-03-2024|21-05-2024"))
	if asked != nil || len(d.Records) != 2 || !d.Records[0].When[0].Blank || !d.Records[1].When[0].NotBlank || strings.Count(text, "purpose:") != 1 {
		t.Errorf("who left is still subscribed: asked %v\n%s", asked, text)
	}
}

// A purpose is stated only where something speaks for it: the header, the file's name, or that it alone sounds like mailings; what there is to
// choose from stands beside it. Else it is asked, with the list.
func TestStatedPurposeHasEvidence(t *testing.T) {
	for header, want := range map[string]string{"Newsletter": "news", "Marketing newsletter": "news", "Advertising consent": "ads", "Opt-in": "news", "SMS opt-in": "", "Consent by phone": ""} {
		two := Context{Name: "s", Purposes: []Purpose{{"ads", "Advertising"}, {"news", "Newsletter"}}, By: ctx.By}
		d := Suggest(lookAt("export.csv", "Email|"+header, "a@example.com|yes", "b@example.com|no"), &two)
		got := ""
		for _, f := range d.Records[0].Fields {
			if f.Name == "purpose" && f.Spec.Const != nil {
				got = *f.Spec.Const
			}
		}
		if got != want || want == "" && !strings.Contains(string(d.YAML()), "which purpose? ads, news") || header == "Opt-in" && !strings.Contains(string(d.YAML()), "(ads, news)") {
			t.Errorf("%s: purpose %q, want %q\n%s", header, got, want, d.YAML())
		}
	}
}

// A short code of a purpose is named where a word is the code, not where a word holds it.
func TestShortCodesOfPurposes(t *testing.T) {
	two := Context{Name: "s", Purposes: []Purpose{{"sms", "Offers on the phone"}, {"ews", "Letters"}}, By: ctx.By}
	for header, want := range map[string]string{"SMS erlaubt": "sms", "Consent (EWS)": "ews", "Consent to news": ""} {
		d := Suggest(lookAt("export.csv", "Email|"+header, "a@example.com|yes", "b@example.com|no"), &two)
		got := ""
		for _, f := range d.Records[0].Fields {
			if f.Name == "purpose" && f.Spec.Const != nil {
				got = *f.Spec.Const
			}
		}
		if got != want {
			t.Errorf("%s: purpose %q, want %q\n%s", header, got, want, d.YAML())
		}
	}
}

// Two questions have two purposes: the one whose header names none is asked about, and both are told apart by it.
func TestOtherQuestionsHaveOtherPurposes(t *testing.T) {
	d, text, asked := suggested(t, lookAt("clienti.csv", "Email|Consenso marketing|Consenso profilazione", "a@example.com|sì|no", "b@example.com|no|no"))
	if !slices.Equal(asked, []string{"records[1].fields.purpose.const"}) || len(d.Records) != 2 {
		t.Fatalf("asked %v\n%s", asked, text)
	}
	for _, r := range d.Records {
		if !slices.Equal(r.Key, []string{"email", "purpose"}) || len(r.When) > 0 {
			t.Errorf("key %v when %v", r.Key, r.When)
		}
	}
}

// A code is looked up letter for letter: where some row spells one otherwise, the draft maps every spelling, and never says that each is a code.
func TestCodesInAnotherSpelling(t *testing.T) {
	for name, tc := range map[string]struct {
		purposes []Purpose
		words    []string
		enum     map[string]mappings.Strings
		says     string
	}{
		"the codes":             {[]Purpose{{"Newsletter", "N"}, {"Ads", "A"}}, []string{"Newsletter", "Ads"}, nil, "each of its words is a code"},
		"the first as the list": {[]Purpose{{"Newsletter", "N"}, {"Ads", "A"}}, []string{"Newsletter", "newsletter", "Ads"}, map[string]mappings.Strings{"Newsletter": {"Newsletter"}, "Ads": {"Ads"}}, "enum takes every spelling"},
		"the second":            {[]Purpose{{"Newsletter", "N"}}, []string{"newsletter", "Newsletter"}, map[string]mappings.Strings{"Newsletter": {"newsletter"}}, "enum takes every spelling"},
		"none as the list":      {[]Purpose{{"Newsletter", "N"}}, []string{"NEWSLETTER", "NEWSLETTER"}, map[string]mappings.Strings{"Newsletter": {"NEWSLETTER"}}, "enum takes every spelling"},
		"with blanks":           {[]Purpose{{"Newsletter", "N"}}, []string{"Newsletter", "Newsletter "}, map[string]mappings.Strings{"Newsletter": {"Newsletter"}}, "enum takes every spelling"},
		"names":                 {[]Purpose{{"p1", "Newsletter"}}, []string{"Newsletter", "newsletter"}, map[string]mappings.Strings{"p1": {"Newsletter"}}, "its words are names"},
		"a code before a name":  {[]Purpose{{"ads", "News"}, {"news", "Letters"}}, []string{"news", "ads"}, nil, "each of its words is a code"},
		"one that is missing":   {[]Purpose{{"Newsletter", "N"}}, []string{"newsletter", "zorp"}, map[string]mappings.Strings{"Newsletter": {"newsletter"}}, "but for 1 word that the list lacks"},
		"codes that are twins":  {[]Purpose{{"Newsletter", "N"}, {"newsletter", "M"}}, []string{"Newsletter", "newsletter"}, nil, "more than one purpose of the list"},
	} {
		lines := []string{"ID|E-Mail|Zweck|Einwilligung"}
		for i, w := range tc.words {
			lines = append(lines, string(rune('1'+i))+"|a@example.com|"+w+"|ja")
		}
		d := Suggest(lookAt("x.csv", lines...), &Context{Name: "s", Purposes: tc.purposes, By: ctx.By})
		for _, f := range d.Records[0].Fields {
			if why := strings.Join(f.Why, "; "); f.Name == "purpose" && (!maps.EqualFunc(f.Spec.Enum, tc.enum, func(a, b mappings.Strings) bool { return slices.Equal(a, b) }) || !strings.Contains(why, tc.says) || tc.enum != nil && strings.Contains(why, "each of its words")) {
				t.Errorf("%s: %v, %s", name, f.Spec.Enum, why)
			}
		}
	}
}

// A column of answers under the name or the code of a purpose answers for that purpose, though no list of words knows it.
func TestAnswersUnderPurposes(t *testing.T) {
	own := ctx
	own.Purposes = []Purpose{{"news", "Newsletter"}, {"PRF", "Profilbildung"}}
	for _, header := range []string{"Profilbildung", "PRF"} {
		d := Suggest(lookAt("crm.csv", "Kd.-Nr.|E-Mail|Newsletter|"+header, "1|a@example.com|nein|ja", "2|b@example.com|ja|nein"), &own)
		if len(d.Records) != 2 || d.Records[0].stated("purpose") != "news" || d.Records[1].stated("purpose") != "PRF" {
			t.Errorf("%s\n%s", header, d.YAML())
		}
	}
}
