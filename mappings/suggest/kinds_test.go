package suggest

import (
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
	d, text, asked := suggested(t, lookAt("nieuwsbrief.csv", "E-mail|Nieuwsbrief|Aanmelddatum|Afmelddatum", "a@example.com|ja|14-03-2024|", "b@example.com|ja|15-03-2024|01-05-2024"))
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
