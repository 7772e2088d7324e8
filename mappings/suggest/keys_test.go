package suggest

import (
	"slices"
	"strings"
	"testing"
)

// A key is the smallest set of meaningful columns that the rows prove; where only the time tells rows of consents apart, they are events.
func TestKeysAreProven(t *testing.T) {
	for name, tc := range map[string]struct {
		file    string
		lines   []string
		key     []string
		history bool
	}{
		"a row a person":      {"x.csv", []string{"Customer ID|Email|Purpose|Consent", "1|a@example.com|news|yes", "2|b@example.com|news|no"}, []string{"subject_id"}, false},
		"a row a purpose":     {"x.csv", []string{"Customer ID|Email|Purpose|Consent", "1|a@example.com|news|yes", "1|a@example.com|ads|no", "2|b@example.com|news|no"}, []string{"subject_id", "purpose"}, false},
		"a row a channel":     {"x.csv", []string{"Email|Channel|Consent", "a@example.com|email|yes", "a@example.com|sms|no"}, []string{"email", "channel"}, false},
		"a row for both":      {"x.csv", []string{"Email|Zweck|Kanal|Einwilligung", "a@example.com|news|E-Mail|ja", "a@example.com|news|SMS|ja", "a@example.com|ads|E-Mail|ja"}, []string{"email", "purpose", "channel"}, false},
		"an id of the entry":  {"x.csv", []string{"Consent ID|Email|Purpose|Consent", "7|a@example.com|news|yes", "8|a@example.com|ads|no"}, []string{"external_id"}, false},
		"a row twice":         {"x.csv", []string{"Email|Consent", "a@example.com|yes", "a@example.com|yes", "b@example.com|no"}, []string{"email"}, false},
		"events":              {"x.csv", []string{"Email|Purpose|Consent|Timestamp", "a@example.com|news|yes|2024-03-14", "a@example.com|news|no|2024-04-14", "a@example.com|ads|no|2024-04-14"}, []string{"email", "purpose"}, true},
		"events by two ways":  {"x.csv", []string{"Customer ID|Email|Consent|Consent date|Source", "1|a@example.com|yes|2024-03-14|web", "1|a@example.com|no|2024-04-14|phone"}, []string{"subject_id"}, true},
		"blanks in an id":     {"x.csv", []string{"Customer ID|Email|Consent", "1|a@example.com|yes", "|b@example.com|no"}, []string{"email"}, false},
		"two reasons":         {"suppression.csv", []string{"Email|Reason", "a@example.com|bounce", "a@example.com|unsubscribed"}, []string{"email", "channel", "reason"}, false},
		"two rights":          {"x.csv", []string{"Ticket|Email|Request type|Received", "1|a@example.com|access|2026-03-12", "1|a@example.com|erasure|2026-03-12"}, []string{"external_id", "request_type"}, false},
		"two requests, no id": {"x.csv", []string{"Email|Request type|Received", "a@example.com|access|2026-03-12", "a@example.com|access|2026-05-12"}, []string{"email", "received_at"}, false},
		"languages":           {"notices.csv", []string{"Notice|Version|Valid from|Language", "PN|1|2020-01-01|en", "PN|1|2020-01-01|de"}, []string{"notice_id", "notice_version", "language"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			d, text, _ := suggested(t, lookAt(tc.file, tc.lines...))
			if r := d.Records[0]; !slices.Equal(r.Key, tc.key) || r.History != tc.history {
				t.Errorf("key %v, history %v, want %v, %v\n%s", r.Key, r.History, tc.key, tc.history, text)
			}
		})
	}
}

// A day that is part of a key is read in one way: by the layout that is asked for, or as the dates that they are.
func TestDaysInKeys(t *testing.T) {
	l := lookAt("dsr.csv", "Email|Type|Date", "a@example.com|Access|03/04/2026", "a@example.com|Access|05/06/2026")
	d, text, asked := suggested(t, l)
	if !slices.Equal(d.Records[0].Key, []string{"email", "received_at"}) || !slices.Equal(asked, []string{"records[0].fields.received_at.format"}) {
		t.Errorf("asked %v\n%s", asked, text)
	}
	l.Columns[2].Dates = Dates{Cells: 2}
	if _, text, asked = suggested(t, l); asked != nil || !strings.Contains(text, "format: serial") {
		t.Errorf("asked %v\n%s", asked, text)
	}
}

// A number of persons is found by its abbreviations and in seven languages, so that a row without an address keeps its no.
func TestNumbersOfPersons(t *testing.T) {
	for _, header := range strings.Split("KdNr|Kd-Nr.|Kdnr.|Kd.-Nr.|Kunden-Nr.|Cust. No.|Customer #ID|Client ref|N° client|Nº cliente|№ client|Client n°|N. cliente|Cód. cliente|DNI|NIE|Pers.-Nr.|Partner-ID|Debitor|Debitoren-Nr.|GP-Nummer|N° adhérent|Numéro de client|Numero utente|Número de socio|Lid nr.|Klant-nr|Relatie-ID|Account No.|Kundenkennung", "|") {
		d, text, _ := suggested(t, lookAt("kontakte.csv", header+"|E-Mail|Newsletter", "1|a@example.com|ja", "2||nein", "3|c@example.com|nein"))
		if !slices.Equal(d.Records[0].Key, []string{"subject_id"}) {
			t.Errorf("%s: key %v\n%s", header, d.Records[0].Key, text)
		}
	}
	for _, header := range []string{"Nein", "Kunde seit", "Partner", "Personal", "Lead source", "Contact", "Contact number", "Member since", "Notiz", "Kundengruppe"} {
		if n := fits("subject_id", plain(header)); n >= 100 {
			t.Errorf("%s is taken for the number of a person", header)
		}
	}
}

// Where the key has gaps, a column that is filled in every row and goes with it is named as evidence.
func TestGapsInTheKeyNameWhatWouldFillThem(t *testing.T) {
	_, text, _ := suggested(t, lookAt("kontakte.csv", "Zorp|Ort|E-Mail|Zweck|Newsletter", "K1|Bonn|a@example.com|news|ja", "K1|Bonn|a@example.com|ads|nein", "K2|Bonn||news|nein", "K3|Ulm|c@example.com|news|ja", "K4|Bonn|d@example.com|news|ja"))
	said := strings.Join(strings.Fields(strings.ReplaceAll(text, "#", "")), " ")
	if !strings.Contains(said, `. column A "Zorp" is filled in every row and goes with column C "E-Mail" one to one`) {
		t.Error(text)
	}
}

// Two records of one row are told apart by their keys: two answers of one channel, or of one that is asked for, by their purposes, and suppressions of several
// columns by their reasons. A row would clash with itself.
func TestRecordsOfARowAreToldApart(t *testing.T) {
	list := Context{Name: "s", Purposes: []Purpose{{Code: "news", Name: "Newsletter"}, {Code: "ads", Name: "Marketing"}, {Code: "prof", Name: "Profiling"}}, By: ctx.By}
	for _, tc := range []struct {
		lines []string
		keys  []string // of the records, in their order
	}{
		{[]string{"Email|Phone|Newsletter|Marketing consent", "a@x.example|+4915112345001|yes|no", "b@x.example|+4915112345002|no|yes"}, []string{"email channel purpose", "email channel purpose"}},
		{[]string{"Email|Phone|Consent|Email marketing", "a@x.example|+4915112345001|yes|yes", "b@x.example|+4915112345002|no|yes"}, []string{"email channel purpose", "email channel purpose"}},
		{[]string{"Email|Phone|Email marketing|Subscribed", "a@x.example|+4915112345001|yes|no", "b@x.example|+4915112345002|yes|yes"}, []string{"email channel purpose", "email channel purpose"}},
		{[]string{"Email|Newsletter|Third party consent", "a@x.example|yes|no", "b@x.example|no|yes"}, []string{"email channel", "email channel"}},
		{[]string{"Email|Newsletter|SMS", "a@x.example|yes|no", "b@x.example|no|yes"}, []string{"email channel", "email channel"}},
		{[]string{"Email|Newsletter|Reason|Bounced", "a@x.example|yes|spam complaint|yes", "b@x.example|no||no"}, []string{"email", "email channel reason", "email channel reason"}},
	} {
		d := Suggest(lookAt("contacts.csv", tc.lines...), &list)
		var keys []string
		for i := range d.Records {
			keys = append(keys, strings.Join(d.Records[i].Key, " "))
		}
		if !slices.Equal(keys, tc.keys) {
			t.Errorf("%q: keys %q, want %q\n%s", tc.lines, keys, tc.keys, d.YAML())
		}
	}
}
