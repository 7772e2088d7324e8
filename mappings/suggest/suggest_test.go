package suggest

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"sheetlift/importers"
	"sheetlift/importers/source"
	"sheetlift/mappings"
)

// lookAt looks at a sheet of texts; the first line is the header, cells are divided by "|".
func lookAt(file string, lines ...string) *Look {
	var rows [][]string
	for _, l := range lines {
		rows = append(rows, strings.Split(l, "|"))
	}
	l := NewLook(file, "", 1, 1, rows[0])
	b := &source.Block{Cols: make([][]source.Cell, len(rows[0]))}
	for n, row := range rows[1:] {
		b.RowNum = append(b.RowNum, n+2)
		for col := range b.Cols {
			c := source.Cell{}
			if col < len(row) && row[col] != "" {
				c = source.Cell{Kind: source.Text, Off: uint32(len(b.Data)), Len: uint32(len(row[col]))}
				b.Data = append(b.Data, row[col]...)
			}
			b.Cols[col] = append(b.Cols[col], c)
		}
	}
	l.Add(b)
	return l
}

var ctx = Context{Name: "s", Purposes: []Purpose{{"news", "Newsletter"}}, By: mappings.StatedBy{Name: "Somebody", At: "2026-10-01"}}

// suggested drafts and, with every guess confirmed, parses; the faults are what is left to be asked.
func suggested(t *testing.T, l *Look) (*Draft, string, []string) {
	t.Helper()
	d := Suggest(l, &ctx)
	if d == nil {
		t.Fatal("nothing is suggested: " + l.Unknown())
	}
	text := string(d.YAML())
	var asked []string
	if _, err := mappings.Parse("s.yaml", []byte(text)); err != nil {
		for _, f := range err.(*mappings.ParseErrors).Faults {
			asked = append(asked, f.Path)
		}
	}
	return d, text, asked
}

// A list of consents is understood in seven languages: who, what was answered, when, and which words mean what.
func TestConsentListsInSevenLanguages(t *testing.T) {
	for name, tc := range map[string]struct {
		lines  []string
		status string // term: words of the source
	}{
		"English":    {[]string{"Customer ID|Email address|Opt-in|Consent date|Source", "1|a@example.com|yes|2024-03-14|form", "2|b@example.com|no|2024-03-15|form"}, "no: [no] yes: [yes]"},
		"German":     {[]string{"Kundennummer|E-Mail-Adresse|Einwilligung|Einwilligungsdatum|Quelle", "1|a@example.com|ja|14.03.2024|web", "2|b@example.com|widerrufen|02.03.2024|web"}, "withdrawn: [widerrufen] yes: [ja]"},
		"French":     {[]string{"Numéro client|Courriel|Consentement|Date de consentement|Origine", "1|a@example.com|oui|14/03/2024|web", "2|b@example.com|désabonné|02/03/2024|web"}, "withdrawn: [désabonné] yes: [oui]"},
		"Spanish":    {[]string{"Número de cliente|Correo electrónico|Consentimiento|Fecha de consentimiento|Origen", "1|a@example.com|sí|14/03/2024|web", "2|b@example.com|baja|02/03/2024|web"}, "withdrawn: [baja] yes: [sí]"},
		"Italian":    {[]string{"Codice cliente|Indirizzo email|Consenso|Data del consenso|Fonte", "1|a@example.com|sì|14/03/2024|web", "2|b@example.com|disiscritto|02/03/2024|web"}, "withdrawn: [disiscritto] yes: [sì]"},
		"Portuguese": {[]string{"Código cliente|Endereço de e-mail|Consentimento|Data do consentimento|Origem", "1|a@example.com|sim|14/03/2024|web", "2|b@example.com|revogado|02/03/2024|web"}, "withdrawn: [revogado] yes: [sim]"},
		"Dutch":      {[]string{"Klantnummer|E-mailadres|Toestemming|Datum toestemming|Bron", "1|a@example.com|ja|14-03-2024|web", "2|b@example.com|ingetrokken|02-03-2024|web"}, "withdrawn: [ingetrokken] yes: [ja]"},
	} {
		t.Run(name, func(t *testing.T) {
			d, text, asked := suggested(t, lookAt("list.csv", tc.lines...))
			if asked != nil || len(d.Records) != 1 || d.Records[0].Entity != "consent" {
				t.Fatalf("asks %v\n%s", asked, text)
			}
			header := strings.Split(tc.lines[0], "|")
			from := map[string]string{}
			status := ""
			for _, f := range d.Records[0].Fields {
				if !f.Confirm || len(f.Why) == 0 {
					t.Errorf("%s has no evidence, or is taken for granted", f.Name)
				}
				if len(f.Spec.From) == 1 {
					from[f.Name] = f.Spec.From[0].Header
				}
				if f.Name == "status" {
					for _, term := range slices.Sorted(maps.Keys(f.Spec.Enum)) {
						status += " " + term + ": [" + strings.Join(f.Spec.Enum[term], " ") + "]"
					}
				}
			}
			want := map[string]string{"subject_id": header[0], "email": header[1], "status": header[2], "occurred_at": header[3], "collected_via": header[4]}
			if !maps.Equal(from, want) {
				t.Errorf("columns %v, want %v", from, want)
			}
			if strings.TrimSpace(status) != tc.status {
				t.Errorf("words %s, want %s", status, tc.status)
			}
			if strings.Contains(text, "example.com") {
				t.Error("the draft holds a value")
			}
		})
	}
}

// The order of day and month is proven by a row of the column, or asked; never guessed.
func TestDateOrderIsProvenOrAsked(t *testing.T) {
	for name, tc := range map[string]struct {
		dates  []string
		format string // "" if asked
	}{
		"a 13th month proves day first":    {[]string{"03/04/2024", "13/04/2024"}, "DD/MM/YYYY"},
		"a 13th day in the second place":   {[]string{"03/04/2024", "04/13/2024"}, "MM/DD/YYYY"},
		"with a time":                      {[]string{"03.04.2024 09:15", "31.12.2024 10:00"}, "DD.MM.YYYY HH:mm"},
		"of one or two digits":             {[]string{"3.4.2024", "31.12.2024"}, "D.M.YYYY"},
		"twelve hours":                     {[]string{"1/31/2024 5:00 PM", "2/3/2024 11:05 AM"}, "M/D/YYYY h:mm A"},
		"ISO":                              {[]string{"2024-03-14T09:12:31Z", "2024-03-15 10:00"}, "iso8601"},
		"nothing proves it":                {[]string{"03/04/2024", "05/06/2024"}, ""},
		"the same day read either way":     {[]string{"03/03/2024", "05/05/2024"}, ""},
		"words that are no dates we know":  {[]string{"next week", "soon"}, ""},
		"two orders contradict each other": {[]string{"13/04/2024", "04/13/2024"}, "none"},
	} {
		t.Run(name, func(t *testing.T) {
			lines := []string{"Email|Consent|Consent date"}
			for i, d := range tc.dates {
				lines = append(lines, string(rune('a'+i))+"@example.com|yes|"+d)
			}
			d, text, asked := suggested(t, lookAt("x.csv", lines...))
			got := "none"
			for _, f := range d.Records[0].Fields {
				if f.Name == "occurred_at" {
					if len(f.Spec.Format) > 0 {
						got = f.Spec.Format[0]
					}
					for _, a := range f.Asks {
						if a.Key == "format" {
							got = ""
						}
					}
				}
			}
			if got != tc.format || (tc.format == "") != (len(asked) > 0) {
				t.Errorf("format %q, asked %v, want %q\n%s", got, asked, tc.format, text)
			}
		})
	}
}

// An opt-out column is inverted, whatever its language.
func TestPolarityByHeader(t *testing.T) {
	for header, want := range map[string]string{
		"Newsletter": "normal", "Opt-in": "normal", "Do not email": "inverted", "Opted out": "inverted", "EMAIL_BLACKLISTED": "inverted",
		"Abgemeldet": "inverted", "Désabonné": "inverted", "Disiscritto": "inverted", "Afgemeld": "inverted",
	} {
		d, text, asked := suggested(t, lookAt("contacts.csv", "Email|"+header, "a@example.com|yes", "b@example.com|no"))
		got := ""
		for _, f := range d.Records[0].Fields {
			if f.Name == "status" {
				got = f.Spec.Polarity
			}
			if f.Name == "purpose" && want == "inverted" {
				t.Errorf("%s: a stated purpose narrows the opt-out", header)
			}
		}
		if d.Records[0].Entity == "suppression" {
			got = "inverted" // a list of nothing but opt-outs
		}
		if got != want || asked != nil {
			t.Errorf("%s: %s, want %s; asked %v\n%s", header, got, want, asked, text)
		}
	}
}

// Each column that answers gives a record of its own, on the channel that its header names.
func TestOneRecordAColumn(t *testing.T) {
	d, text, asked := suggested(t, lookAt("x.csv", "Email|Newsletter|SMS opt-in|Consent by post", "a@example.com|yes|no|x", "b@example.com|no|no|"))
	if asked != nil || len(d.Records) != 3 {
		t.Fatalf("%d records, asked %v\n%s", len(d.Records), asked, text)
	}
	var channels []string
	for _, r := range d.Records {
		for _, f := range r.Fields {
			if f.Name == "channel" {
				channels = append(channels, *f.Spec.Const)
			}
		}
		if !slices.Contains(r.Key, "channel") {
			t.Errorf("key %v: two answers of one row would be one record", r.Key)
		}
	}
	if !slices.Equal(channels, []string{"email", "sms", "post"}) {
		t.Errorf("channels %v", channels)
	}
}

func TestOtherLists(t *testing.T) {
	for name, tc := range map[string]struct {
		file   string
		lines  []string
		entity string
		asks   bool
	}{
		"purposes":            {"purposes.csv", []string{"Code|Name", "news|Newsletter"}, "purpose", false},
		"Zwecke":              {"zwecke.csv", []string{"Zweck|Bezeichnung", "news|Newsletter"}, "purpose", false},
		"notices":             {"notices.csv", []string{"Notice|Version|Valid from|Valid to", "PN|1|2020-01-01|"}, "notice", false},
		"suppressions":        {"sperrliste.csv", []string{"E-Mail|Grund|Datum", "a@example.com|Widerspruch|14.03.2024"}, "suppression", false},
		"requests":            {"requests.csv", []string{"Case ID|Request type|Received|Due date|Status", "1|access|2024-03-14|2024-04-14|closed"}, "case", false},
		"Anfragen":            {"anfragen.csv", []string{"Vorgang|Art der Anfrage|Eingang|Frist|Status", "1|Auskunft|14.03.2024|14.04.2024|erledigt"}, "case", false},
		"Verfahren":           {"vvt.csv", []string{"Nr|Verarbeitung|Betroffene|Datenkategorien|Empfänger|Löschfrist", "1|Lohn|Beschäftigte|Stammdaten|Bank|10 Jahre"}, "activity", false},
		"retention":           {"retention.csv", []string{"Rule|Entity|Months|Starts", "R1|consent|24|withdrawn"}, "retention_rule", false},
		"national numbers":    {"sperrliste.csv", []string{"Telefon|Grund", "030 123456|Beschwerde"}, "suppression", true},
		"words nobody knows":  {"requests.csv", []string{"Case ID|Request type|Received", "1|zorp|2024-03-14"}, "case", true},
		"a list of birthdays": {"people.csv", []string{"Email|Geburtsdatum", "a@example.com|1990-02-03"}, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			l := lookAt(tc.file, tc.lines...)
			got, why := l.Entity()
			if got != tc.entity {
				t.Fatalf("taken for %q (%s), want %q", got, why, tc.entity)
			}
			if tc.entity == "" {
				if Suggest(l, &ctx) != nil || l.Unknown() == "" || !strings.Contains(string(Bare(l, &ctx)), "Nothing is suggested: ") {
					t.Error("something is suggested, or no reason given")
				}
				return
			}
			if _, text, asked := suggested(t, l); (asked != nil) != tc.asks {
				t.Errorf("asks %v\n%s", asked, text)
			}
		})
	}
}

// A time of creation, change or import is never suggested as the time of consent.
func TestOtherTimesAreNoTimeOfConsent(t *testing.T) {
	for _, header := range []string{"Created at", "Date added", "Last modified", "Imported on", "Angelegt am", "Date de naissance", "Geburtsdatum"} {
		d, text, _ := suggested(t, lookAt("x.csv", "Email|Opt-in|"+header, "a@example.com|yes|2024-03-14"))
		for _, f := range d.Records[0].Fields {
			if f.Name == "occurred_at" {
				t.Errorf("%s is taken for the time of consent\n%s", header, text)
			}
		}
	}
}

// No value of a cell, and no header or sheet name that looks like one, gets into a draft.
func TestNoPersonalValueIsCopied(t *testing.T) {
	l := lookAt("x.csv", "Email|Opt-in|anna@example.com|Comment by|+49 151 12345678", "a@example.com|yes|x|Erika Mustermann|1", "b@example.com|vielleicht|x|Max Muster|2")
	l.Sheet = "ben@example.com"
	_, text, _ := suggested(t, l)
	for _, word := range []string{"example.com", "Mustermann", "Muster", "vielleicht", "12345678"} {
		if strings.Contains(text, word) {
			t.Errorf("the draft holds %q\n%s", word, text)
		}
	}
}

// A name in small letters looks like any other word, so a draft shows no text that holds another word than our lists, and a row with one gives nothing.
func TestNoTextIsCopied(t *testing.T) {
	for _, tc := range []struct{ file, lines string }{
		{"kontakte.csv", "E-Mail|Newsletter|Status;a@x.example|Y|active;b@x.example|Y|anna berg;c@x.example|Y|anna berg;d@x.example|Y|anna berg;e@x.example|N|active"},
		{"kontakte.csv", "E-Mail|Newsletter|Status;a@x.example|Y|active;b@x.example|Y|bounced laut anna berg;c@x.example|Y|spam anna;e@x.example|N|active"},
		{"kontakte.csv", "E-Mail|Newsletter|Anmeldestatus;a@x.example|ja|bestätigt;b@x.example|ja|wartet auf anna berg;e@x.example|nein|bestätigt"},
		{"kontakte.csv", "E-Mail|Status;a@x.example|subscribed;b@x.example|spam von anna berg;c@x.example|abgemeldet durch berg;d@x.example|subscribed;e@x.example|unsubscribed"},
		{"kontakte.csv", "E-Mail|Rechtsgrundlage;a@x.example|Einwilligung;b@x.example|einwilligung von anna berg;c@x.example|vertrag mit berg;e@x.example|Vertrag"},
		{"kontakte.csv", "E-Mail|Newsletter|Sperrgrund;a@x.example|ja|;b@x.example|ja|abgemeldet von anna berg;c@x.example|ja|bounce berg;e@x.example|nein|bounce"},
		{"sperrliste.csv", "E-Mail|Grund;a@x.example|bounce;b@x.example|widerspruch anna berg;c@x.example|spam berg"},
		{"anfragen.csv", "Nr|E-Mail|Art der Anfrage|Eingang|Status;1|a@x.example|Auskunft|2026-01-02|offen;2|b@x.example|löschung für anna berg|2026-01-02|bei berg;3|c@x.example|Löschung|2026-01-03|offen"},
	} {
		_, text, _ := suggested(t, lookAt(tc.file, strings.Split(tc.lines, ";")...))
		if lower := strings.ToLower(text); strings.Contains(lower, "anna") || strings.Contains(lower, "berg") || !strings.Contains(text, "no draft shows") && !strings.Contains(text, "known in no language") {
			t.Errorf("%s\n%s", tc.lines, text)
		}
	}
	states, _, text := judged(t, &ctx, "kontakte.csv", "E-Mail|Newsletter|Status", "a@x|Y|active", "b@x|Y|anna berg", "c@x|Y|on hold", "d@x|N|anna berg", "e@x|N|active")
	if got := said(states); got != "a:given b:- c:- d:refused e:refused" {
		t.Errorf("%s\n%s", got, text)
	}
	// Texts of our own words stand in the draft.
	_, text, _ = suggested(t, lookAt("anfragen.csv", "Nr|E-Mail|Art der Anfrage|Eingang|Status", "1|a@x.example|Auskunft nach Art. 15 DSGVO|2026-01-02|offen", "2|b@x.example|löschung auf wunsch|2026-01-02|offen"))
	if !strings.Contains(text, "Auskunft nach Art. 15 DSGVO") || !strings.Contains(text, "löschung auf wunsch") {
		t.Error(text)
	}
}

// The lists of words are sound: terms exist, and no word stands for two terms of a field.
func TestWordLists(t *testing.T) {
	all := maps.Clone(fieldWords)
	all["status"] = statusWords
	for field, list := range all {
		seen := map[string]string{}
		for term, line := range list {
			for w := range strings.SplitSeq(line, "|") {
				if before, twice := seen[mappings.SameWord(w)]; twice && before != term {
					t.Errorf("%s: %q stands for %s and %s", field, w, before, term)
				}
				seen[mappings.SameWord(w)] = term
			}
		}
	}
	for entity, fields := range fieldsOf {
		for _, f := range fields {
			if importers.ByName(entity).Field(f) < 0 || pieces[f] == nil {
				t.Errorf("%s.%s is no field, or has no words", entity, f)
			}
		}
	}
}
