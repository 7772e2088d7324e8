package suggest

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"sheetlift/mappings"
)

// A list of requests is one of cases in each of the languages, by what its cells hold, though its headers be unusual; a status of work is
// none of consent, and neither is a column about consent beside the rights.
func TestRequestsAreNoConsents(t *testing.T) {
	for name, tc := range map[string]struct {
		file  string
		lines []string
	}{
		"English": {"gdpr_log.csv", []string{"Ref|Data subject|Contact|What they want|Logged|Respond by|Outcome",
			"R-1|a|a@example.com|Access|2026-03-12|2026-04-12|Closed", "R-2|b|b@example.com|Right to be forgotten|2026-03-14|2026-04-14|Open"}},
		"a question about consent beside it": {"tracker.csv", []string{"Email|Consent?|Subject right|Date in|Deadline date|Closed?",
			"a@example.com|yes|SAR|12/03/2026|12/04/2026|Y", "b@example.com|no|Deletion|14/03/2026|14/04/2026|N"}},
		"German": {"inbox.csv", []string{"Nr|Person|Mail|Anliegen|Kam rein am|Zu beantworten bis|Stand",
			"1|a|a@example.com|Auskunft|12.03.2026|12.04.2026|erledigt", "2|b|b@example.com|Löschung|14.03.2026|14.04.2026|offen"}},
		"French": {"demandes.csv", []string{"N°|Demandeur|Courriel|Objet|Reçue le|À traiter avant|Statut",
			"1|a|a@example.com|Droit d'accès|12/03/2026|12/04/2026|Traitée", "2|b|b@example.com|Effacement|14/03/2026|14/04/2026|En cours"}},
		"Spanish": {"lista.csv", []string{"Expediente|Interesado|Correo|Derecho ejercido|Fecha entrada|Fecha límite|Estado",
			"1|a|a@example.com|Acceso|13/03/2026|13/04/2026|Resuelto", "2|b|b@example.com|Supresión|14/03/2026|14/04/2026|Abierto"}},
		"Italian": {"elenco.csv", []string{"Protocollo|Interessato|Email|Oggetto|Pervenuta il|Scadenza|Esito",
			"1|a|a@example.com|Accesso|13/03/2026|13/04/2026|Evasa", "2|b|b@example.com|Cancellazione|14/03/2026|14/04/2026|In lavorazione"}},
		"Portuguese": {"lista.csv", []string{"Processo|Titular|E-mail|Tipo|Data de entrada|Prazo|Situação",
			"1|a|a@example.com|Acesso|13/03/2026|13/04/2026|Concluído", "2|b|b@example.com|Eliminação|14/03/2026|14/04/2026|Em aberto"}},
		"Dutch": {"avg.csv", []string{"Zaak|Naam|E-mail|Soort|Binnengekomen|Uiterlijk|Afhandeling",
			"1|a|a@example.com|Inzage|13-03-2026|13-04-2026|Afgehandeld", "2|b|b@example.com|Vergetelheid|14-03-2026|14-04-2026|In behandeling"}},
	} {
		t.Run(name, func(t *testing.T) {
			l := lookAt(tc.file, tc.lines...)
			if kinds := l.Kinds(); kinds[0].Entity != "case" || len(Rivals(kinds)) > 0 {
				t.Fatalf("%+v", kinds)
			}
			d, text, asked := suggested(t, l)
			if asked != nil {
				t.Fatalf("asks %v\n%s", asked, text)
			}
			there := map[string]bool{}
			for _, f := range d.Records[0].Fields {
				there[f.Name] = len(f.Spec.From) > 0
			}
			for _, want := range []string{"request_type", "status", "email", "received_at", "due_at"} {
				if !there[want] {
					t.Errorf("no column for %s\n%s", want, text)
				}
			}
		})
	}
}

// Where the rows may be two things, the draft says so with the evidence of both, and holds the other as a comment that is whole.
func TestUnclearRowsAreAskedAbout(t *testing.T) {
	l := lookAt("liste.csv", "Email|Art|Datum|Status", "a@example.com|Widerspruch|13.03.2026|erledigt", "b@example.com|Widerruf|14.03.2026|offen")
	d, text, _ := suggested(t, l)
	said := strings.Join(strings.Fields(strings.ReplaceAll(text, "\n  #  ", "")), " ")
	for _, want := range []string{"It is not clear what the rows", "They may be rows of suppression instead, because of", "or are these rows of suppression?", "# - entity: suppression # confirm: true"} {
		if !strings.Contains(said, want) {
			t.Errorf("does not say %q\n%s", want, text)
		}
	}
	if !d.Records[0].Confirm || len(d.Others) != 1 {
		t.Error("taken for granted")
	}
	var other []string
	head, rest, _ := strings.Cut(text, "records:\n")
	_, rest, _ = strings.Cut(rest, "Instead of the records above")
	for _, line := range strings.Split(rest, "\n")[1:] {
		if line, ok := strings.CutPrefix(line, "#"); ok && !strings.HasPrefix(line, " Columns") {
			other = append(other, line)
		}
	}
	if m, err := parse(head + "records:\n" + strings.Join(other, "\n") + "\n"); err != nil || m.Records[0].Entity != "suppression" {
		t.Errorf("the comment is no draft: %v", err)
	}
}

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

func parse(text string) (*mappings.Mapping, error) { return mappings.Parse("s.yaml", []byte(text)) }

// A state of an account, a booking or an order is no consent, and neither is an acceptance of terms.
func TestAccountStatesAreNoConsents(t *testing.T) {
	for name, lines := range map[string][]string{
		"employees": {"Nr|E-Mail|Status", "1|a@example.com|aktiv", "2|b@example.com|inaktiv"},
		"bookings":  {"Event|Email|Status", "x|a@example.com|confirmed", "x|b@example.com|cancelled"},
		"invoices":  {"Invoice|Email|Due date|Status", "1|a@example.com|2024-03-14|open", "2|b@example.com|2024-03-15|closed"},
		"terms":     {"Id|Email|Accepts terms", "1|a@example.com|yes", "2|b@example.com|yes"},
	} {
		if kinds := lookAt(name+".csv", lines...).Kinds(); len(kinds) > 0 {
			t.Errorf("%s: taken for %+v", name, kinds)
		}
	}
}

// One column may say of one row that the person answered, and of another that the address bounced: the one is a consent, the other a
// suppression, and a bounce is no withdrawal.
func TestBouncesBesideAnswers(t *testing.T) {
	d, text, asked := suggested(t, lookAt("subscribers.csv", "Email|Status", "a@example.com|subscribed", "b@example.com|unsubscribed", "c@example.com|bounced", "d@example.com|marked as spam"))
	if asked != nil || len(d.Records) != 3 || len(d.Records[0].When) != 1 || len(d.Records[0].When[0].NotIn) != 2 {
		t.Fatalf("asked %v\n%s", asked, text)
	}
	for i, reason := range []string{"bounce", "complaint"} {
		r := d.Records[i+1]
		if r.Entity != "suppression" || len(r.When) != 1 || !strings.Contains(text, "const: "+reason) {
			t.Errorf("no suppression for %s\n%s", reason, text)
		}
	}
}

// Two columns that answer one question give one record a row, and a no counts wherever it stands.
func TestOneVerdictARow(t *testing.T) {
	d, text, asked := suggested(t, lookAt("subscribers.csv", "Email|Global status|List status", "a@example.com|subscribed|subscribed", "b@example.com|subscribed|unsubscribed"))
	if asked != nil || len(d.Records) != 2 {
		t.Fatalf("asked %v\n%s", asked, text)
	}
	first, second := d.Records[0].When, d.Records[1].When
	if len(first) != 1 || !slices.Equal(first[0].NotIn, mappings.Strings{"unsubscribed"}) || len(second) != 1 || !slices.Equal(second[0].In, mappings.Strings{"unsubscribed"}) || first[0].Column.Header != "List status" {
		t.Errorf("%+v %+v\n%s", first, second, text)
	}
}

// The day on which somebody joined is not that of a withdrawal, and says nothing of a row that was never confirmed.
func TestDayOfJoining(t *testing.T) {
	d, text, _ := suggested(t, lookAt("abonnenten.csv", "E-Mail|Status|Angemeldet am", "a@example.com|angemeldet|13.03.2024", "b@example.com|abgemeldet|14.03.2024"))
	for _, f := range d.Records[0].Fields {
		if f.Name == "occurred_at" && (len(f.Spec.When) != 1 || !slices.Equal(f.Spec.When[0].In, mappings.Strings{"angemeldet"})) {
			t.Errorf("the withdrawal is dated\n%s", text)
		}
	}
	d, text, asked := suggested(t, lookAt("newsletter_empfaenger.csv", "E-Mail|Angemeldet am|Bestätigt am", "a@example.com|13.03.2024|14.03.2024", "b@example.com|13.03.2024|"))
	if !slices.Equal(asked, []string{"records[0].fields.status.const"}) || len(d.Records[0].When) != 1 || d.Records[0].When[0].Column.Header != "Bestätigt am" {
		t.Errorf("asked %v\n%s", asked, text)
	}
}

// A log of a web site knows devices, and its time in bare seconds is left out with a reason, not asked for: no layout reads it.
func TestConsentLogOfDevices(t *testing.T) {
	d, text, _ := suggested(t, lookAt("cookie_log.csv", "Consent ID|Timestamp|URL|Necessary|Statistics|Marketing", "x1|1710407551000|https://example.com|true|true|false", "x2|1710407552000|https://example.com|true|false|false"))
	if len(d.Records) != 2 || !strings.Contains(text, "since 1970") {
		t.Fatal(text)
	}
	for _, r := range d.Records {
		for _, f := range r.Fields {
			if f.Name == "external_id" || f.Name == "subject_id" || f.Name == "occurred_at" {
				t.Errorf("%s is read from a log of devices\n%s", f.Name, text)
			}
		}
		if !slices.Contains(r.Key, "device_id") || !slices.Contains(r.Key, "purpose") {
			t.Errorf("key %v", r.Key)
		}
	}
}

// Contact points beside a lawful basis are consents only where the basis is one.
func TestLawfulBasisIsNoAnswer(t *testing.T) {
	d, text, asked := suggested(t, lookAt("kontakte.csv", "E-Mail|Rechtsgrundlage", "a@example.com|Einwilligung", "b@example.com|berechtigtes Interesse"))
	if asked != nil {
		t.Fatalf("asked %v\n%s", asked, text)
	}
	for _, f := range d.Records[0].Fields {
		if f.Name == "status" && (len(f.Spec.Enum) != 1 || !slices.Equal(f.Spec.Enum["given"], mappings.Strings{"Einwilligung"})) {
			t.Error(text)
		}
	}
}

// A list of opt-outs whose column also says no suppresses only whom it says yes of, and a row without a reason in a list of
// suppressions is one all the same.
func TestOnlyThoseWhoOptedOut(t *testing.T) {
	d, text, _ := suggested(t, lookAt("blocklist.csv", "Email|Blocked|Reason", "a@example.com|yes|spam complaint", "b@example.com|no|"))
	if d.Records[0].Entity == "suppression" && !strings.Contains(text, "not_blank: true") {
		t.Error(text)
	}
	d, text, _ = suggested(t, lookAt("optouts.csv", "Email|Opted out of news|Opted out of all", "a@example.com|true|false", "b@example.com|false|false"))
	for _, r := range d.Records {
		if r.Entity != "consent" {
			t.Errorf("somebody who did not opt out is suppressed\n%s", text)
		}
	}
	d, text, asked := suggested(t, lookAt("suppression.csv", "Email|Reason", "a@example.com|hard bounce", "b@example.com|"))
	if asked != nil || len(d.Records) != 2 || !d.Records[0].When[0].Blank || !d.Records[1].When[0].NotBlank {
		t.Errorf("asked %v\n%s", asked, text)
	}
}

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

// A header that asks whether somebody does not want something is an opt-out, whatever it would ask without the not.
func TestNegatedHeaders(t *testing.T) {
	for _, header := range []string{"Keine Werbung", "Email DNC", "No desea publicidad", "Ne pas contacter (newsletter)", "Non ricevere newsletter", "Não deseja publicidade", "Geen reclame", "Newsletter blocked"} {
		l := lookAt("contacts.csv", "Email|"+header, "a@example.com|yes", "b@example.com|no")
		d := Suggest(l, &ctx)
		if d == nil {
			continue
		}
		for _, r := range d.Records {
			for _, f := range r.Fields {
				if f.Name == "status" && f.Spec.Polarity != "inverted" {
					t.Errorf("%s: a yes is taken for consent\n%s", header, d.YAML())
				}
			}
		}
	}
}

// Each answer has its own day, where the headers say so, and none has that of another.
func TestDaysOfSeveralAnswers(t *testing.T) {
	d, text, _ := suggested(t, lookAt("x.csv", "Email|Email opt-in|Email opt-in date|SMS opt-in|Consent by post", "a@example.com|yes|2024-03-14|yes|no", "b@example.com|no|2024-03-15|no|yes"))
	if len(d.Records) != 3 {
		t.Fatal(text)
	}
	for i, want := range []bool{true, false, false} {
		if got := slices.ContainsFunc(d.Records[i].Fields, func(f Field) bool { return f.Name == "occurred_at" }); got != want {
			t.Errorf("record %d is dated: %v, want %v\n%s", i, got, want, text)
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

// Where no column names the right, the name of the list may.
func TestRightInTheName(t *testing.T) {
	_, text, asked := suggested(t, lookAt("Löschanträge.csv", "Antrag|Mail|Eingegangen|Erledigt", "1|a@example.com|01.04.2026|20.04.2026", "2|b@example.com|13.04.2026|"))
	if asked != nil || !strings.Contains(text, "entity: case") || !strings.Contains(text, "const: erasure") {
		t.Errorf("asked %v\n%s", asked, text)
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

// The columns and states of a tracker of requests are known in each of the languages.
func TestTrackersOfRequests(t *testing.T) {
	for name, tc := range map[string]struct {
		lines []string
		enum  map[string]mappings.Strings
	}{
		"Spanish": {[]string{"Expediente|Correo|Derecho|Fecha de solicitud|Plazo|Fecha de cierre|Estado",
			"1|a@example.com|Acceso|13/03/2026|13/04/2026||En trámite", "2|b@example.com|Supresión|14/03/2026|14/04/2026|20/03/2026|Tramitado", "3|c@example.com|Supresión|14/03/2026|14/04/2026|21/03/2026|Baja voluntaria", "4|d@example.com|Acceso|15/03/2026|15/04/2026|22/03/2026|Inadmitida"},
			map[string]mappings.Strings{"open": {"En trámite"}, "closed_fulfilled": {"Tramitado"}, "closed_refused": {"Inadmitida"}, "withdrawn": {"Baja voluntaria"}}},
		"Portuguese": {[]string{"Processo|E-mail|Direito|Data do pedido|Prazo|Data de fecho|Estado",
			"1|a@example.com|Acesso|13/03/2026|13/04/2026||Em análise", "2|b@example.com|Apagamento|14/03/2026|14/04/2026|20/03/2026|Deferido", "3|c@example.com|Apagamento|14/03/2026|14/04/2026|21/03/2026|Desistência", "4|d@example.com|Acesso|15/03/2026|15/04/2026|22/03/2026|Indeferida"},
			map[string]mappings.Strings{"open": {"Em análise"}, "closed_fulfilled": {"Deferido"}, "closed_refused": {"Indeferida"}, "withdrawn": {"Desistência"}}},
		"Italian": {[]string{"Pratica|Email|Diritto|Data richiesta|Termine|Data di chiusura|Stato",
			"1|a@example.com|Accesso|13/03/2026|13/04/2026||In gestione", "2|b@example.com|Cancellazione|14/03/2026|14/04/2026|20/03/2026|Conclusa", "3|c@example.com|Cancellazione|14/03/2026|14/04/2026|21/03/2026|Rinuncia", "4|d@example.com|Accesso|15/03/2026|15/04/2026|22/03/2026|Non accolta"},
			map[string]mappings.Strings{"open": {"In gestione"}, "closed_fulfilled": {"Conclusa"}, "closed_refused": {"Non accolta"}, "withdrawn": {"Rinuncia"}}},
		"French": {[]string{"Dossier|Courriel|Droit|Date de demande|Délai|Date de réponse|Statut",
			"1|a@example.com|Accès|13/03/2026|13/04/2026||En cours d'instruction", "2|b@example.com|Effacement|14/03/2026|14/04/2026|20/03/2026|Soldée", "3|c@example.com|Effacement|14/03/2026|14/04/2026|21/03/2026|Désistement", "4|d@example.com|Accès|15/03/2026|15/04/2026|22/03/2026|Irrecevable"},
			map[string]mappings.Strings{"open": {"En cours d'instruction"}, "closed_fulfilled": {"Soldée"}, "closed_refused": {"Irrecevable"}, "withdrawn": {"Désistement"}}},
		"Dutch": {[]string{"Zaak|E-mail|Recht|Ontvangen op|Reactietermijn|Datum afhandeling|Status",
			"1|a@example.com|Inzage|13-03-2026|13-04-2026||Onder behandeling", "2|b@example.com|Vergetelheid|14-03-2026|14-04-2026|20-03-2026|Ingewilligd", "3|c@example.com|Vergetelheid|14-03-2026|14-04-2026|21-03-2026|Teruggetrokken", "4|d@example.com|Inzage|15-03-2026|15-04-2026|22-03-2026|Niet-ontvankelijk"},
			map[string]mappings.Strings{"open": {"Onder behandeling"}, "closed_fulfilled": {"Ingewilligd"}, "closed_refused": {"Niet-ontvankelijk"}, "withdrawn": {"Teruggetrokken"}}},
		"German": {[]string{"Vorgang|E-Mail|Anliegen|Gestellt am|Bis|Abschlussdatum|Stand",
			"1|a@example.com|Auskunft|13.03.2026|13.04.2026||In Arbeit", "2|b@example.com|Löschung|14.03.2026|14.04.2026|20.03.2026|Umgesetzt", "3|c@example.com|Löschung|14.03.2026|14.04.2026|21.03.2026|Zurückgenommen", "4|d@example.com|Auskunft|15.03.2026|15.04.2026|22.03.2026|Unbegründet"},
			map[string]mappings.Strings{"open": {"In Arbeit"}, "closed_fulfilled": {"Umgesetzt"}, "closed_refused": {"Unbegründet"}, "withdrawn": {"Zurückgenommen"}}},
	} {
		d, text, asked := suggested(t, lookAt("lista.csv", tc.lines...))
		if asked != nil || d.Records[0].Entity != "case" {
			t.Errorf("%s: asks %v\n%s", name, asked, text)
			continue
		}
		header := strings.Split(tc.lines[0], "|")
		want := map[string]string{"received_at": header[3], "due_at": header[4], "closed_at": header[5], "status": header[6]}
		for _, f := range d.Records[0].Fields {
			if h := want[f.Name]; h != "" && len(f.Spec.From) == 1 && f.Spec.From[0].Header == h {
				delete(want, f.Name)
			}
			if f.Name == "status" && !maps.EqualFunc(f.Spec.Enum, tc.enum, func(a, b mappings.Strings) bool { return slices.Equal(a, b) }) {
				t.Errorf("%s: %v, want %v", name, f.Spec.Enum, tc.enum)
			}
		}
		if len(want) > 0 {
			t.Errorf("%s: not read: %v\n%s", name, want, text)
		}
	}
	// A number of days is no day.
	_, text, _ := suggested(t, lookAt("solicitudes.csv", "Expediente|Correo|Derecho|Fecha de solicitud|Plazo (días)|Estado", "1|a@example.com|Acceso|13/03/2026|30|En trámite", "2|b@example.com|Acceso|13/03/2026|30|Tramitado"))
	if strings.Contains(text, "due_at") {
		t.Error(text)
	}
}
