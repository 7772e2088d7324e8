package suggest

import (
	"slices"
	"strings"
	"testing"

	"sheetlift/mappings"
)

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

// What speaks against consent needs no confirmation: a row that nobody confirmed gives no consent, and its refusal counts.
func TestUnconfirmedRefusalCounts(t *testing.T) {
	rows := []string{"a@x.example|subscribed|yes", "b@x.example|unsubscribed|yes", "c@x.example|unsubscribed|no", "d@x.example|subscribed|no"}
	turned := []string{"a@x.example|yes|subscribed", "b@x.example|yes|unsubscribed", "c@x.example|no|unsubscribed", "d@x.example|no|subscribed"}
	for name, tc := range map[string]struct {
		lines []string
		want  []string
	}{
		"after the status": {append([]string{"email|status|double_opt_in"}, rows...), []string{
			`consent when column: double_opt_in in: ["yes"] on any status status given[subscribed] withdrawn[unsubscribed]`,
			`consent when column: double_opt_in not_in: ["yes"] when column: status not_in: [subscribed] on any status status given[subscribed] withdrawn[unsubscribed]`}},
		"before the status": {append([]string{"email|double_opt_in|status"}, turned...), []string{
			`consent when column: double_opt_in in: ["yes"] on any status status given[subscribed] withdrawn[unsubscribed]`,
			`consent when column: double_opt_in not_in: ["yes"] when column: status not_in: [subscribed] on any status status given[subscribed] withdrawn[unsubscribed]`}},
		"a refusal to confirm": {append([]string{"email|status|double_opt_in"}, append(slices.Clone(rows), "e@x.example|subscribed|refused")...), []string{
			`consent when column: double_opt_in in: ["yes"] on any status status given[subscribed] withdrawn[unsubscribed]`,
			`consent when column: double_opt_in not_in: ["yes", refused] when column: status not_in: [subscribed] on any status status given[subscribed] withdrawn[unsubscribed]`,
			`consent when column: double_opt_in in: [refused] on any status double_opt_in given[yes] refused[refused]`}},
	} {
		d, text, _ := suggested(t, lookAt("subs.csv", tc.lines...))
		var got []string
		for i := range d.Records {
			got = append(got, strings.Replace(drawn(&d.Records[i]), " purpose asked", "", 1))
		}
		if !slices.Equal(got, tc.want) {
			t.Errorf("%s:\n%s\n%s", name, strings.Join(got, "\n"), text)
		}
	}
}

// The day of a consent is not that of an opt-out beside it: a receipt between the two would lift it.
func TestOptOutIsNotDatedByTheConsent(t *testing.T) {
	for _, tc := range []struct {
		file, header string
		rows         []string
		dated        map[string]string // the column of a status, or the entity, to that of its time
	}{
		{"crm.csv", "Contact ID|Email|Marketing Consent|Consent Date|Unsubscribed|Unsubscribe Date", []string{"1|a@x.example|TRUE|Jan 3 2024|TRUE|", "2|b@x.example|TRUE|Feb 3 2024|FALSE|", "3|c@x.example|TRUE|Feb 4 2024|TRUE|Mar 3 2024"},
			map[string]string{"Marketing Consent": "Consent Date", "Unsubscribed": ""}},
		{"kontakte.csv", "Kundennr|E-Mail|Newsletter|Werbesperre|Einwilligung vom", []string{"1|a@x.example|J|J|03.01.2024", "2|b@x.example|J||13.01.2024"}, map[string]string{"Newsletter": "Einwilligung vom", "Werbesperre": ""}},
		{"prefs.csv", "Member|Email|SMS Opt Out|Opt-out date|Email consent|Consent date", []string{"1|a@x.example|Yes||Yes|2024-01-03", "2|b@x.example|No||Yes|2024-01-04", "3|c@x.example|Yes|2024-05-03|No|2024-01-05"}, map[string]string{"SMS Opt Out": "", "Email consent": "Consent date"}},
		{"a.csv", "Email|Email opt out|SMS opt in|Email consent date|SMS consent date", []string{"a@x.example|yes|yes|2024-01-03|2024-01-04"}, map[string]string{"Email opt out": "", "SMS opt in": "SMS consent date"}},
		{"b.csv", "Email|Unsubscribed|Consent date", []string{"a@x.example|yes|2024-01-03", "b@x.example|no|2024-01-04"}, map[string]string{"Unsubscribed": ""}},
		{"c.csv", "Email|Désabonné|Date du consentement", []string{"a@x.example|oui|2024-01-03", "b@x.example|non|2024-01-04"}, map[string]string{"Désabonné": ""}},
		{"d.csv", "Email|Status|Signup date", []string{"a@x.example|unsubscribed|2024-01-03"}, map[string]string{"Status": ""}},
		{"e.csv", "Email|Unsubscribed|Customer since", []string{"a@x.example|yes|2024-01-03", "b@x.example|no|2024-01-04"}, map[string]string{"Unsubscribed": ""}},
		{"suppression.csv", "Email|Reason|Consent date", []string{"a@x.example|unsubscribed|2024-01-03", "b@x.example|complaint|2024-01-04"}, map[string]string{"suppression": ""}},
		// What is neutral, or is that of the opt-out, counts.
		{"f.csv", "Email|Unsubscribed|Date", []string{"a@x.example|yes|2024-01-03", "b@x.example|no|2024-01-04"}, map[string]string{"Unsubscribed": "Date"}},
		{"robinson.csv", "Email|Reason|Eingetragen am", []string{"a@x.example|objection|2024-01-03", "b@x.example|complaint|2024-01-04"}, map[string]string{"suppression": "Eingetragen am"}},
		{"log.csv", "Email|Consent|Consent date", []string{"a@x.example|yes|2024-01-03", "b@x.example|no|2024-01-04"}, map[string]string{"Consent": "Consent date"}},
	} {
		d, text, _ := suggested(t, lookAt(tc.file, append([]string{tc.header}, tc.rows...)...))
		found := map[string]string{}
		for _, r := range d.Records {
			name, at := r.Entity, ""
			for _, f := range r.Fields {
				if f.Name == "status" && len(f.Spec.From) == 1 {
					name = f.Spec.From[0].Header
				} else if f.Name == "occurred_at" {
					at = f.Spec.From[0].Header
				}
			}
			found[name] = at
		}
		for name, want := range tc.dated {
			if got, ok := found[name]; !ok || got != want {
				t.Errorf("%s: %s is dated by %q, want %q\n%s", tc.header, name, got, want, text)
			}
		}
	}
	// Of a status that says both, only the consent.
	d, text, _ := suggested(t, lookAt("x.csv", "Email|Status|Consent date", "a@x.example|subscribed|2024-01-03", "b@x.example|unsubscribed|2024-01-04"))
	for _, f := range d.Records[0].Fields {
		if f.Name == "occurred_at" && (len(f.Spec.When) != 1 || !slices.Equal(f.Spec.When[0].In, mappings.Strings{"subscribed"})) {
			t.Error(text)
		}
	}
}

// The lawful basis of a system in another language is read as in English: only consent is one, several in a cell are parted, and a column of opt-outs beside
// it hides none of them.
func TestLawfulBasisInOtherLanguages(t *testing.T) {
	for basis, tc := range map[string]struct {
		optOut, yes, consent, legitimate, contract, none string
		asks                                             bool
	}{
		"Rechtliche Grundlage für die Verarbeitung von Kontaktdaten": {"Von allen E-Mails abgemeldet", "Ja", "Freiwillige Einwilligung des Kontakts", "Berechtigtes Interesse – bestehender Kunde", "Erfüllung eines Vertrags", "Nicht zutreffend", false},
		"Base légale de traitement des données de contact":           {"Désabonné de tous les e-mails", "Oui", "Consentement donné librement par le contact", "Intérêt légitime - client existant", "Exécution d'un contrat", "Sans objet", false},
		"Base legal para procesar los datos del contacto":            {"Cancelación de la suscripción a todo el correo electrónico", "Sí", "Consentimiento otorgado libremente por el contacto", "Interés legítimo: cliente potencial/lead", "Cumplimiento de un contrato", "No aplica", true},
		"Base giuridica per il trattamento dei dati del contatto":    {"Iscrizione annullata da tutte le e-mail", "Sì", "Consenso fornito liberamente dal contatto", "Interesse legittimo - cliente esistente", "Esecuzione di un contratto", "Non applicabile", true},
		"Base legal para processamento de dados do contato":          {"Inscrição cancelada de todos os e-mails", "Sim", "Consentimento livremente fornecido pelo contato", "Interesse legítimo - cliente existente", "Execução de um contrato", "Não aplicável", true},
		"Wettelijke basis voor verwerking van gegevens van contact":  {"Uitgeschreven voor alle e-mail", "Ja", "Vrijelijk gegeven toestemming van contact", "Gerechtvaardigd belang - bestaande klant", "Uitvoering van een contract", "Niet van toepassing", false},
	} {
		for _, optOut := range []string{"", tc.optOut} {
			header, yes := "Record|E-mail|"+basis, ""
			if optOut != "" {
				header, yes = header+"|"+optOut, "|"+tc.yes
			}
			l := lookAt("contacts.csv", header, "1|a@example.com|"+tc.consent, "2|b@example.com|"+tc.legitimate+yes, "3|c@example.com|"+tc.contract, "4|d@example.com|"+tc.none, "5|e@example.com|"+tc.consent+";"+tc.contract)
			d, text, asked := suggested(t, l)
			r := d.Records[len(d.Records)-1]
			if i := slices.IndexFunc(r.Fields, func(f Field) bool { return f.Name == "status" }); i < 0 || !slices.Equal(r.Fields[i].Spec.Enum["given"], mappings.Strings{tc.consent}) || len(r.Fields[i].Spec.NullTokens) != 3 || r.Fields[i].Spec.Split != ";" {
				t.Errorf("%s\n%s", basis, text)
			}
			if optOut != "" && (len(d.Records) != 2 || (len(asked) > 0) != tc.asks || tc.asks != strings.Contains(text, "inverted, if yes is a refusal: then remove") || len(r.When) != 1 || !slices.Equal(r.When[0].NotIn, mappings.Strings{tc.yes})) {
				t.Errorf("%s: asks %v\n%s", optOut, asked, text)
			}
		}
	}
}

// A yes that nobody confirmed is no consent, whatever the column that says so is called.
func TestUnconfirmedYesGivesNothing(t *testing.T) {
	for _, header := range []string{
		"DOI", "Bestätigt", "Confirmed", "Double-Opt-In", "Double Opt-in", "double_opt_in", "Double opt-in confirmation", "Confirmation double opt-in", "Double-Opt-In Bestätigung", "Double opt-in (oui/non)", "Opt-in validé", "Doble opt-in", "Doppio opt-in", "Duplo opt-in", "Dubbele opt-in", "Doppeltes Opt-In", "Double-Opt-In Newsletter",
		"Confirmation status", "Confirmation", "Bestätigung", "Bestätigungsstatus", "Confirmación", "Conferma", "Confirmação", "Bevestiging", "Email verified", "E-Mail verifiziert", "E-Mail-Adresse bestätigt", "Email vérifié", "Correo verificado", "Validated", "Validado", "Validato", "Gevalideerd", "Geverifieerd", "Newsletter bestätigt", "Opt-in confirmed",
	} {
		for name, lines := range map[string][]string{
			"after":   {"E-Mail|Newsletter|" + header, "a@x.example|ja|nein", "b@x.example|ja|ja", "c@x.example|nein|nein"},
			"before":  {"E-Mail|" + header + "|Newsletter", "a@x.example|nein|ja", "b@x.example|ja|ja", "c@x.example|nein|nein"},
			"a blank": {"E-Mail|Newsletter|" + header, "a@x.example|ja|", "b@x.example|ja|x", "c@x.example|nein|"},
			"a day":   {"E-Mail|Newsletter|" + header + "|Bestätigt am", "a@x.example|ja|nein|17.03.2024 10:00", "b@x.example|ja|ja|18.03.2024 10:00", "c@x.example|ja|ja|"},
		} {
			want := map[string]string{"a day": "a:- b:given c:-"}[name]
			if want == "" {
				want = "a:- b:given c:refused"
			}
			if states, rules, text := judged(t, &ctx, "kontakte.csv", lines...); said(states) != want || len(rules) > 0 {
				t.Errorf("%s, %s: %s, warns %v\n%s", header, name, said(states), rules, text)
			}
		}
	}
	// It is the answer where nothing else answers of what it speaks, and speaks of no other channel or question.
	for header, answer := range map[string]string{
		"E-Mail|Double-Opt-In": "Double-Opt-In", "E-Mail|Double-Opt-In|Abgemeldet": "Double-Opt-In", "E-Mail|SMS opt-in|Double-Opt-In Newsletter": "SMS opt-in", "E-Mail|Newsletter|Double opt-in Partner": "Newsletter",
		"E-Mail|Newsletter|Auftrag bestätigt": "Newsletter", "E-Mail|Newsletter|Bestätigungsmail versendet": "Newsletter", "E-Mail|Newsletter|Identity verified": "Newsletter", "E-Mail|Newsletter|SMS double opt-in": "Newsletter",
	} {
		d, text, _ := suggested(t, lookAt("kontakte.csv", header, "a@x.example|ja|nein", "b@x.example|nein|ja", "c@x.example|ja|ja"))
		if !slices.ContainsFunc(d.Records, func(r Record) bool {
			return slices.ContainsFunc(r.Fields, func(f Field) bool { return f.Name == "status" && f.Spec.From[0].Header == answer }) &&
				!slices.ContainsFunc(r.When, func(c mappings.Condition) bool { return c.Column.Header != answer })
		}) {
			t.Errorf("%s\n%s", header, text)
		}
	}
}

// What leaves open whether somebody opted out is never taken for nothing said, wherever the column says it: nobody with such a word is given.
func TestUnknownOptOutGivesNothing(t *testing.T) {
	for _, tc := range []struct{ lines, want string }{
		{"E-Mail|Newsletter|Anmeldung|Abmeldung;a@x.example|ja|13.01.2023|;b@x.example|ja|14.01.2023|03/2024;c@x.example|ja|14.01.2023|unbekannt", "asked"},
		{"E-Mail|Newsletter|Abmeldung;a@x.example|ja|;b@x.example|ja|unbekannt", "asked"},
		{"E-Mail|Newsletter|Abmeldung;a@x.example|ja|;b@x.example|ja|03/2024", "asked"},
		{"E-Mail|Newsletter|Abgemeldet;a@x.example|ja|nein;b@x.example|ja|ja;c@x.example|ja|unbekannt", "a"},
		{"Email|Newsletter|Unsubscribed;a@x.example|yes|;b@x.example|yes|yes;c@x.example|yes|unknown;d@x.example|yes|pending", "a"},
		{"Email|Newsletter|Désabonné;a@x.example|oui|non;b@x.example|oui|oui;c@x.example|oui|inconnu", "a"},
		{"Email|Newsletter|Unsubscribed;a@x.example|yes|n/a;b@x.example|yes|yes", "a"},
	} {
		given, text := careless(t, "kontakte.csv", strings.Split(tc.lines, ";")...)
		if given != tc.want || strings.Contains(text, "null_tokens: [un") || strings.Count(text, "const: news") != 1 || strings.Count(text, "from: Anmeldung") > 1 {
			t.Errorf("%s: %s, want %s\n%s", tc.lines, given, tc.want, text)
		}
	}
}
