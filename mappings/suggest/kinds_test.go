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

func parse(text string) (*mappings.Mapping, error) { return mappings.Parse("s.yaml", []byte(text)) }

// A state of an account, a booking or an order is no consent, and neither is an acceptance of terms.
func TestAccountStatesAreNoConsents(t *testing.T) {
	for name, lines := range map[string][]string{
		"employees": {"Nr|E-Mail|Status", "1|a@example.com|aktiv", "2|b@example.com|inaktiv"},
		"bookings":  {"Event|Email|Status", "x|a@example.com|confirmed", "x|b@example.com|cancelled"},
		"invoices":  {"Invoice|Email|Due date|Status", "1|a@example.com|2024-03-14|open", "2|b@example.com|2024-03-15|closed"},
		"terms":     {"Id|Email|Accepts terms", "1|a@example.com|yes", "2|b@example.com|yes"},
		"ranks":     {"Id|Email|Prioridad", "1|a@example.com|alta", "2|b@example.com|baja", "3|b@example.com|alta"},
		"members":   {"Id|Email|Estado", "1|a@example.com|alta", "2|b@example.com|alta"},
	} {
		if kinds := lookAt(name+".csv", lines...).Kinds(); len(kinds) > 0 {
			t.Errorf("%s: taken for %+v", name, kinds)
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

// A word that says only that a request ended is a guess of how.
func TestHowARequestEndedIsSaidToBeOpen(t *testing.T) {
	for word, open := range map[string]bool{"Closed": true, "Clôturée": true, "Geschlossen": true, "Erfüllt": false, "Fulfilled": false} {
		_, text, _ := suggested(t, lookAt("requests.csv", "No.|Email|Request|Date received|Deadline|State|Date closed", "1|a@x.example|Erasure|2024-03-01|2024-04-01|"+word+"|2024-03-20", "2|b@x.example|Access|2024-03-02|2024-04-02|Open|"))
		if got := strings.Contains(strings.Join(strings.Fields(strings.ReplaceAll(text, "#", "")), " "), "that a request ended, and not how"); got != open {
			t.Errorf("%s: %v\n%s", word, got, text)
		}
	}
}

// Lists of notices and of periods of retention are known by their headers in each language, and the day on which a notice ended is not left out without a word.
func TestConfigurationInOtherLanguages(t *testing.T) {
	for header, entity := range map[string]string{
		"Notice|Version|Language|In force since|Until|Text": "notice", "Hinweis|Fassung|Sprache|Gültig ab|Gültig bis|Wortlaut": "notice", "Mention|Version|Langue|En vigueur depuis|Jusqu'au|Texte": "notice", "Aviso|Versión|Idioma|Vigente desde|Hasta|Texto": "notice",
		"Informativa|Versione|Lingua|In vigore dal|Fino al|Testo": "notice", "Verklaring|Versie|Taal|Geldig vanaf|Tot|Tekst": "notice", "Aviso|Versão|Idioma|Em vigor desde|Até|Texto": "notice",
		"Rule|Record type|Months|Starts with|Action|Authority": "retention_rule", "Regel|Datenart|Monate|Beginn|Aktion|Grundlage": "retention_rule", "Règle|Type de données|Durée (mois)|Point de départ|Action|Fondement": "retention_rule", "Regla|Tipo de datos|Plazo (meses)|Inicio|Acción|Base": "retention_rule",
		"Regola|Tipo di dati|Mesi|Inizio|Azione|Base": "retention_rule", "Regel|Datasoort|Bewaartermijn (maanden)|Begint bij|Actie|Grondslag": "retention_rule", "Regra|Tipo de dados|Meses|Início|Ação|Base": "retention_rule",
	} {
		rows := []string{"AP1|1.0|xx|13/01/2023|31/12/2023|text", "AP1|2.0|xx|14/01/2024||more"}
		if entity == "retention_rule" {
			rows = []string{"R1|consent|24|withdrawal|erase|GDPR", "R2|case|60|closure|archive|law"}
		}
		d, text, asked := suggested(t, lookAt("list.csv", append([]string{header}, rows...)...))
		if len(asked) > 0 || d.Records[0].Entity != entity || len(d.Records[0].Fields) != 6 {
			t.Errorf("%s: asks %v\n%s", header, asked, text)
		}
	}
	if _, text, _ := suggested(t, lookAt("list.csv", "Notice|Version|In force since|Zurückgenommen", "AP1|1.0|13/01/2023|31/12/2023", "AP1|2.0|14/01/2024|")); !strings.Contains(text, `Attention: column D "Zurückgenommen" holds days`) {
		t.Error(text)
	}
	if d := lookAt("rules.csv", "Regel|Thema|Ende", "R1|x|unsubscribed", "R2|y|unsubscribed"); Suggest(d, &ctx) != nil || strings.Contains(string(Bare(d, &ctx)), "Attention") {
		t.Errorf("%s", Bare(d, &ctx))
	}
}

// The words of a list of periods of retention are mapped in each language; one that is none of the terms is counted, and not guessed.
func TestWordsOfRetention(t *testing.T) {
	for _, lines := range [][]string{
		{"Rule|Record type|Months|Starts|Action", "R1|Consents|36|Consent withdrawn|Delete", "R2|Data subject requests|36|Case closed|Anonymise", "R3|Suppression list|12|Consent date|Review"},
		{"Regel|Datenart|Monate|Beginn|Aktion", "R1|Einwilligungen|36|Widerruf|Löschung", "R2|Betroffenenanfragen|36|Abschluss|Anonymisierung", "R3|Sperrliste|12|Erteilung|Prüfung"},
		{"Règle|Type de données|Durée (mois)|Point de départ|Action", "R1|Consentements|36|Retrait|Suppression", "R2|Demandes|36|Clôture|Anonymisation", "R3|Liste d'opposition|12|Date du consentement|Réexamen"},
		{"Regla|Tipo de datos|Plazo (meses)|Inicio|Acción", "R1|Consentimientos|36|Revocación|Borrado", "R2|Solicitudes|36|Cierre|Anonimización", "R3|Lista Robinson|12|Otorgamiento|Revisión"},
		{"Regola|Tipo di dati|Mesi|Inizio|Azione", "R1|Consensi|36|Revoca|Cancellazione", "R2|Richieste|36|Chiusura|Anonimizzazione", "R3|Lista di opposizione|12|Data del consenso|Revisione"},
		{"Regra|Tipo de dados|Meses|Início|Ação", "R1|Consentimentos|36|Revogação|Eliminação", "R2|Pedidos|36|Encerramento|Anonimização", "R3|Lista de oposição|12|Consentimento dado|Revisão"},
		{"Regel|Datasoort|Bewaartermijn (maanden)|Begint bij|Actie", "R1|Toestemmingen|36|Intrekking|Verwijderen", "R2|Verzoeken|36|Afsluiting|Anonimiseren", "R3|Blokkeerlijst|12|Toestemming gegeven|Beoordeling"},
		{"Rule|Record type|Months|Starts|Action", "R1|consent|36|withdrawn|delete", "R2|case|36|closed|anonymise", "R3|suppression|12|occurred|review"}, // the terms themselves
	} {
		d, text, asked := suggested(t, lookAt("retention.csv", lines...))
		r := &d.Records[0]
		if r.Entity != "retention_rule" || asked != nil {
			t.Errorf("%s: %s, asks %v\n%s", lines[0], r.Entity, asked, text)
			continue
		}
		for col, terms := range map[int][]string{1: {"consent", "case", "suppression"}, 3: {"withdrawn", "closed", "occurred"}, 4: {"delete", "anonymise", "review"}} {
			f := r.Fields[slices.IndexFunc(r.Fields, func(f Field) bool { return f.Name == map[int]string{1: "entity", 3: "starts", 4: "action"}[col] })]
			for n, term := range terms {
				if word := strings.Split(lines[n+1], "|")[col]; !strings.EqualFold(word, term) && !slices.Contains(f.Spec.Enum[term], word) || !f.Confirm {
					t.Errorf("%s: %s is not %s: %v", lines[0], word, term, f.Spec.Enum)
				}
			}
		}
	}
	_, text, _ := suggested(t, lookAt("retention.csv", "Rule|Record type|Months|Starts|Action", "R1|Consents|36|Last activity|Archive", "R2|Cases|36|Case closed|Delete"))
	if strings.Count(strings.Join(strings.Fields(strings.ReplaceAll(text, "#", "")), " "), "1 of its words are known in no language") != 2 {
		t.Error(text)
	}
}
