package suggest

import (
	"slices"
	"strings"
	"testing"

	"sheetlift/mappings"
)

// A yes in a column that says who must not be contacted is no consent, whatever its language: the column is drafted inverted, as a
// suppression, with a question, or is named at the head of the draft.
func TestYesToAnOptOutGivesNothing(t *testing.T) {
	headers := []string{
		"Werbesperre", "Kontaktsperre", "Mailsperre", "Sperre Werbung", "Werbung nicht erlaubt", "Werbeverbot", "Sperrvermerk", "Keine Werbung", "Nicht anschreiben", "Werbestopp", "Newsletter abbestellt", "Von Werbung ausgeschlossen", "Werbung untersagt", "Kein Kontakt per Telefon", "Newsletter nicht gewünscht", "Schwarze Liste", "Gesperrt", "Ohne Werbung", "Werbung abgelehnt", "Anruf unerwünscht",
		"Marketing block", "Exclude from marketing", "Blocked", "No marketing", "No newsletter", "No phone calls", "Never contact", "Don't call", "doNotMail", "Stop", "Stop SMS", "Refused marketing", "Not interested in newsletter", "Without marketing", "Marketing prohibited", "Robinson", "Marketing not allowed", "Can not be contacted",
		"Pas de newsletter", "Bloqué", "Stop pub", "Liste rouge", "Ne pas contacter", "Ne souhaite pas de courrier", "Ne plus contacter", "Sans publicité", "Aucun contact", "Refus prospection", "Exclu des envois", "Non à la pub", "Liste noire", "Opposé au démarchage", "Bloctel", "Non souhaité", "Publicité interdite",
		"Sin publicidad", "Excluir de envíos", "Lista Robinson", "No enviar", "No desea publicidad", "Si no desea recibir publicidad", "No quiero publicidad y ofertas", "Bloqueado", "Rechaza publicidad", "Nunca llamar", "Excluido", "Oposición", "No me envíen correo", "Lista negra", "Publicidad prohibida",
		"Non contattare", "Senza pubblicità", "No pubblicità", "Bloccato", "Escluso da invii", "Non desidera newsletter", "Nessuna pubblicità", "Rifiuta marketing", "Opposizione al marketing", "Lista nera", "Registro Opposizioni", "Pubblicità vietata",
		"Não contactar", "Sem publicidade", "Excluído de envios", "Não enviar newsletter", "Recusa marketing", "Oposição", "Bloqueado para marketing", "Nunca ligar", "Publicidade proibida", "Nenhum contacto",
		"Geen reclame", "Niet bellen", "Geblokkeerd", "Zonder reclame", "Uitgesloten van mailing", "Bel-me-niet", "Recht van verzet", "Bezwaar", "Weigert reclame", "Nooit mailen", "Reclame verboden", "Nieuwsbrief niet gewenst", "Zwarte lijst",
		// What was withdrawn, removed or refused.
		"Remove from newsletter", "Einwilligung entzogen", "Consentement retiré", "Consentimento retirado", "Consentimiento retirado", "Consenso ritirato", "Consentimiento denegado", "Consenso negato", "Consentimento negado", "Einwilligung verweigert", "Einwilligung abgelehnt", "Consent denied", "Consent refused", "Consent rejected", "Consent declined", "Consentement refusé",
		"Consentimiento rechazado", "Consenso rifiutato", "Consenso revocato", "Consentimento recusado", "Consentimento rejeitado", "Consentimento revogado", "Consentement révoqué", "Toestemming geweigerd", "Toestemming ingetrokken", "Toestemming afgewezen", "Ohne Einwilligung", "Without consent", "Sans consentement", "Sin consentimiento", "Senza consenso", "Sem consentimento", "Zonder toestemming", "No opt-in", "Kein Opt-In", "Consent revoked", "Consent blocked",
		// What these mean is asked.
		"Consent removed", "Consent missing", "Consent expired", "Consent lapsed", "Consent ended", "Consent terminated", "Consent pending", "Consent suspended", "Consent cancelled", "Opt-in expired", "Opt-in missing", "Newsletter ended", "Newsletter lapsed", "Newsletter paused", "Newsletter removed", "Newsletter terminated", "Subscription expired", "Consent requested",
		"Einwilligung fehlt", "Fehlende Einwilligung", "Einwilligung abgelaufen", "Einwilligung beendet", "Einwilligung erloschen", "Einwilligung gelöscht", "Einwilligung ausstehend", "Zustimmung ausgesetzt", "Newsletter pausiert", "Newsletter beendet", "Newsletter ruht", "Opt-In fehlt",
		"Newsletter résilié", "Consentement expiré", "Consentement manquant", "Consentement suspendu", "Abonnement terminé", "Newsletter suspendue", "Consentement supprimé", "Consentimiento vencido", "Consentimiento caducado", "Boletín cancelado", "Falta consentimiento", "Suscripción pausada", "Suscripción finalizada",
		"Consenso scaduto", "Consenso sospeso", "Consenso mancante", "Newsletter cancellata", "Iscrizione terminata", "Consentimento expirado", "Consentimento suspenso", "Consentimento em falta", "Newsletter pausada", "Subscrição terminada", "Toestemming verlopen", "Toestemming ontbreekt", "Nieuwsbrief beëindigd", "Nieuwsbrief gepauzeerd", "Nieuwsbrief opgeschort", "Toestemming vervallen",
		"Newsletter disabled", "Newsletter inaktiv", "Newsletter gekündigt", "Consenso non dato", "Consentimiento no otorgado", "Newsletter ohne Werbung", "Kein Widerspruch", "Not blocked",
	}
	for _, header := range headers {
		for _, beside := range []string{"", "|Newsletter"} {
			l := lookAt("kontakte.csv", "Kundennummer|E-Mail|"+header+beside, "1|a@example.com|ja|ja", "2|b@example.com|nein|nein", "3|c@example.com||")
			d := Suggest(l, &ctx)
			if d == nil {
				t.Errorf("%s: nothing is suggested", header)
				continue
			}
			drafted := strings.Contains(strings.Join(d.Head, " "), "sound like an opt-out") || strings.Contains(strings.Join(d.Head, " "), "sounds like an opt-out")
			for i := range d.Records {
				if d.Records[i].Entity == "suppression" {
					drafted = true
				}
				for _, f := range d.Records[i].Fields {
					if f.Name != "status" || len(f.Spec.From) != 1 || f.Spec.From[0].Header != header {
						continue
					}
					drafted = true
					if f.Spec.Polarity != "inverted" && (len(f.Asks) == 0 || f.Asks[0].Key != "polarity") || len(f.Spec.Enum["given"]) > 0 {
						t.Errorf("%s%s: yes is a consent\n%s", header, beside, d.YAML())
					}
				}
			}
			if !drafted {
				t.Errorf("%s%s: not drafted, and nothing says so\n%s", header, beside, d.YAML())
			}
		}
	}
}

// A consent stays one though its header holds a part of such a word.
func TestConsentsAreNoOptOuts(t *testing.T) {
	for _, header := range []string{
		"Newsletter", "Marketing erlaubt", "Non-profit news", "Stop date", "Blog newsletter", "Exclusive offers", "Exclusivité", "Exklusive Angebote", "Blockchain news", "Newsletter (ja/nein)", "Newsletter sí/no", "Newsletter Si/No", "Yes/No newsletter", "Newsletter sim/não", "Consenso (sì/no)",
		"Consentement oui/non", "Newsletter no", "Newsletter No.", "Contact no", "No. of contacts", "N° client", "Nº de contacto", "No de contact", "Notice", "Notes", "Noticias", "Note", "Nonna", "Passport", "Passwort", "Passé", "Sinnvoll", "Single", "Semester", "Sonntag", "Kontakt", "Niveau", "Non-essential cookies",
		"Objekt", "Objective", "Objet", "Reçus le", "Bloc", "One-stop newsletter", "Non-stop news", "Office", "Offers", "Opt-in", "Double opt-in", "Werbung", "Toestemming", "Consentimiento", "Suscrito", "Iscritto", "Accepts marketing", "Einwilligung Telefon", "Angebote per Post",
		"Consent expires", "Consent expiry", "Einwilligung Ablaufdatum", "Opt-In Option", "Marketing consent (required)", "Newsletter (erforderlich)", "Termin", "Retirement", "Manchester", "Vencimiento", "Extended", "Attended", "Recommended",
	} {
		if got := optsOut(header); got != mappings.NoOptOut {
			t.Errorf("%s: %d", header, got)
		}
	}
	for _, header := range []string{"Newsletter", "Marketing erlaubt", "Non-profit newsletter", "Blog newsletter", "Newsletter (ja/nein)", "Newsletter sí/no"} {
		d, text, _ := suggested(t, lookAt("kontakte.csv", "E-Mail|"+header, "a@example.com|ja", "b@example.com|nein"))
		if d.Records[0].Entity != "consent" || !strings.Contains(text, "polarity: normal") || strings.Contains(text, "Attention") {
			t.Errorf("%s\n%s", header, text)
		}
	}
	// The day on which a consent ended by itself is no opt-out.
	for _, header := range []string{"Consent expired on", "Consentement expiré le", "Expired"} {
		_, text, _ := suggested(t, lookAt("kontakte.csv", "E-Mail|Newsletter|"+header, "a@example.com|ja|2024-05-17", "b@example.com|nein|2024-05-18"))
		if strings.Contains(text, "Attention") || !strings.Contains(text, "expires_at:") {
			t.Errorf("%s\n%s", header, text)
		}
	}
	// The no over telephone numbers is one.
	_, text, _ := suggested(t, lookAt("kontakte.csv", "E-Mail|Newsletter|No teléfono", "a@example.com|ja|+34 600 000 001", "b@example.com|nein|+34 600 000 002"))
	if strings.Contains(text, "Attention") || !strings.Contains(text, "phone:") {
		t.Error(text)
	}
}

// An opt-out that is in force is no consent by the word that says so.
func TestOptOutInForce(t *testing.T) {
	for _, word := range []string{"aktiv", "active", "vorhanden", "erteilt", "bestätigt"} {
		d, text, _ := suggested(t, lookAt("kontakte.csv", "E-Mail|Newsletter|Werbesperre", "a@example.com|ja|"+word, "b@example.com|nein|nein"))
		for _, r := range d.Records {
			for _, f := range r.Fields {
				if f.Name == "status" && f.Spec.From[0].Header == "Werbesperre" && (f.Spec.Polarity != "inverted" || len(f.Spec.Enum["given"]) > 0) {
					t.Errorf("%s\n%s", word, text)
				}
			}
		}
	}
}

// Neither is it left out where only rows that say so are taken.
func TestOptOutInForceIsTaken(t *testing.T) {
	for name, l := range map[string]*Look{
		"a suppression":      lookAt("sperrliste.csv", "E-Mail|Werbesperre", "a@example.com|aktiv", "b@example.com|nein"),
		"the second opt-out": lookAt("kontakte.csv", "E-Mail|Newsletter|Bloqué|Robinson", "a@example.com|ja|nein|aktiv", "b@example.com|nein|ja|ja"),
	} {
		d, text, _ := suggested(t, l)
		last := d.Records[len(d.Records)-1]
		if len(last.When) != 1 || !slices.Contains(last.When[0].In, "aktiv") {
			t.Errorf("%s: %+v\n%s", name, last.When, text)
		}
	}
}

// What sounds like an opt-out and no word of which is known is asked about; what leads to one stands at the head of the draft.
func TestOverlookedOptOutIsNamed(t *testing.T) {
	d, text, asked := suggested(t, lookAt("kontakte.csv", "E-Mail|Newsletter|Sperrvermerk", "a@example.com|ja|Gläubiger droht mit Anwalt", "b@example.com|nein|wie besprochen"))
	if !slices.Equal(asked, []string{"records[1].fields.reason.enum"}) || len(d.Records) != 2 || d.Records[1].Entity != "suppression" || strings.Contains(text, "Anwalt") {
		t.Errorf("asks %v\n%s", asked, text)
	}
	_, text, asked = suggested(t, lookAt("kontakte.csv", "E-Mail|Newsletter|Unsubscribe URL", "a@example.com|ja|https://x.example/1", "b@example.com|nein|https://x.example/2"))
	if head, _, _ := strings.Cut(text, "version: 1"); !strings.Contains(head, `column C "Unsubscribe URL" sounds like an opt-out`) || len(asked) > 0 {
		t.Errorf("asks %v\n%s", asked, text)
	}
}

// A no counts on the telephone number too: none is left out of what speaks against consent, and its country is asked for.
func TestOptOutKeepsEveryNumber(t *testing.T) {
	for _, tc := range []struct {
		header string
		rows   []string
		asks   map[string]bool // the column of a status to whether the region is asked for; else national numbers are left out
	}{
		{"Customer No|Email Address|Mobile|Opted Out of SMS|Do Not Call", []string{"C1|a@x.example|07911 123456|No|Yes", "C2|b@x.example|07911 123457|Yes|No"}, map[string]bool{"Opted Out of SMS": true, "Do Not Call": true}},
		{"Email|Telefon|Newsletter|Keine Anrufe", []string{"a@x.example|0151 23456789|ja|x", "b@x.example|0151 23456788|nein|"}, map[string]bool{"Newsletter": false, "Keine Anrufe": true}},
		{"Email|Telefon|Einwilligung SMS", []string{"a@x.example|0151 23456789|ja", "b@x.example|0151 23456788|nein"}, map[string]bool{"Einwilligung SMS": true}},
		{"Email|Phone|Status", []string{"a@x.example|07911 123456|subscribed", "b@x.example|07911 123457|unsubscribed"}, map[string]bool{"Status": true}},
		{"Email|Phone|Status|Unsubscribed at", []string{"a@x.example|07911 123456|subscribed|", "b@x.example|07911 123457|subscribed|2024-05-03"}, map[string]bool{"Status": false, "": true}},
	} {
		d, text, _ := suggested(t, lookAt("contacts.csv", append([]string{tc.header}, tc.rows...)...))
		found := map[string]bool{}
		for _, r := range d.Records {
			name, asks := "", false
			for _, f := range r.Fields {
				if f.Name == "status" && len(f.Spec.From) == 1 {
					name = f.Spec.From[0].Header
				} else if f.Name == "phone" {
					if asks = len(f.Asks) == 1 && f.Asks[0].Key == "region"; asks != (f.Spec.When == nil) || !f.Confirm {
						t.Errorf("%s: neither asked for nor left out\n%s", tc.header, text)
					}
				}
			}
			found[name] = asks
		}
		for name, want := range tc.asks {
			if got, ok := found[name]; !ok || got != want {
				t.Errorf("%s: %s asks for the region: %v, want %v\n%s", tc.header, name, got, want, text)
			}
		}
	}
}

// Whoever must not be called said nothing of mailings.
func TestNoCallsAreOfThePhone(t *testing.T) {
	for _, header := range []string{
		"Do Not Call", "Don't call", "No calls", "Never call", "Opt out of calls", "No llamar", "No llamar más", "Nunca llamar", "Keine Anrufe", "Nicht anrufen", "Ne pas appeler", "Ne plus appeler", "Pas d'appels", "Non chiamare", "Niet bellen", "Niet meer bellen", "Bel-me-niet", "Não ligar", "Nunca ligar",
	} {
		d, text, _ := suggested(t, lookAt("contacts.csv", "Email|Phone|Newsletter|"+header, "a@example.com|+34600000001|yes|yes", "b@example.com|+34600000002|no|no"))
		if !slices.ContainsFunc(d.Records, func(r Record) bool {
			return r.stated("channel") == "phone" && slices.ContainsFunc(r.Fields, func(f Field) bool { return f.Name == "status" && f.Spec.From[0].Header == header })
		}) {
			t.Errorf("%s\n%s", header, text)
		}
	}
	for _, header := range []string{"Do not contact", "Do not mail", "Robinson", "Werbesperre", "Recall", "Local", "Obligar", "Rappel", "Locally"} {
		if got := channelOf(plain(header)); got == "phone" {
			t.Errorf("%s: %s", header, got)
		}
	}
}

// Remarks are read by no record, so those that may say that somebody left are named with their rows, and none of their text stands in the draft.
func TestRemarksOfLeaving(t *testing.T) {
	for _, tc := range []struct {
		lines string
		want  string
	}{
		{"E-Mail|Nieuwsbrief|Opmerking;a@x|ja|komt op dinsdag;b@x|ja|heeft zich afgemeld;c@x|nee|", `Attention: column C "Opmerking" holds remarks in 2 rows, which no record reads. By words that are known, 1 of them says perhaps that somebody wants no more or left (row 3); the others may say so in words that are not: read them all`},
		{"E-Mail|Newsletter|Bemerkungen;a@x|ja|zahlt bar;b@x|ja|will keine Mails von anna berg;c@x|ja|Widerruf am Telefon", "By words that are known, 2 of them say perhaps that somebody wants no more or left (rows 3, 4); the others"},
		{"E-Mail|Newsletter|Notes;a@x|Y|asked to be removed;b@x|N|", "(row 2)"},
		{"E-Mail|Newsletter|Notes;a@x|Y|pays in cash;b@x|N|", ""},
		{"E-Mail|Newsletter|Bemerkung;a@x|ja|Widerruf;b@x|ja|nett;c@x|ja|abgemeldet;d@x|ja|verstorben;e@x|ja|gelöscht am 3.5.2024;f@x|ja|nicht mehr anschreiben;g@x|nein|", "5 of them say perhaps that somebody wants no more or left (rows 2, 4, 5, 6, 7)"},
		{"E-Mail|Newsletter|Notes;a@x|Y|STOP;b@x|N|", "(row 2)"},
		{"E-Mail|Newsletter|Feedback;a@x|Y|please remove me;b@x|N|", "(row 2)"},
		{"E-Mail|Newsletter|Motivo;a@x|Y|asked to be removed from the list;b@x|N|", "(row 2)"},
		{"E-Mail|Infolettre|Remarques;a@x|oui|ne souhaite plus recevoir;b@x|non|", "(row 2)"},
		{"E-Mail|Boletín|Observaciones;a@x|sí|pidió la baja;b@x|no|", "(row 2)"},
		{"E-Mail|Newsletter|Annotazioni;a@x|sì|non vuole più ricevere;b@x|no|", "(row 2)"},
		{"E-Mail|Newsletter|Observações;a@x|sim|não quer mais receber;b@x|não|", "(row 2)"},
	} {
		_, text, _ := suggested(t, lookAt("kontakte.csv", strings.Split(tc.lines, ";")...))
		said := strings.Join(strings.Fields(strings.ReplaceAll(text, "#", "")), " ")
		if !strings.Contains(said, tc.want) || strings.Contains(said, "holds remarks") != (tc.want != "") || strings.Contains(said, "berg") {
			t.Errorf("%s\n%s", tc.lines, text)
		}
	}
}

// A column for each answer: a mark under the no is one.
func TestAColumnForEachAnswer(t *testing.T) {
	for _, header := range []string{"Newsletter ja|Newsletter nein", "Newsletter: ja|Newsletter: nein", "Werbung per E-Mail ja|Werbung per E-Mail nein", "Infolettre oui|Infolettre non", "Newsletter sim|Newsletter não", "Nieuwsbrief ja|Nieuwsbrief nee",
		"Boletín sí|Boletín no", "Newsletter yes|Newsletter no", "Newsletter J|Newsletter N"} {
		d, text, asked := suggested(t, lookAt("kontakte.csv", "E-Mail|"+header, "a@x.example|x|", "b@x.example||x", "c@x.example||", "d@x.example|x|x"))
		_, no, _ := strings.Cut(header, "|")
		asks := slices.ContainsFunc(asked, func(path string) bool { return strings.HasSuffix(path, "polarity") })
		if strings.HasSuffix(no, " no") || strings.HasSuffix(no, " N") { // or a number
			if !asks {
				t.Errorf("%s: asks %v\n%s", header, asked, text)
			}
			continue
		}
		if len(d.Records) != 2 || d.Records[1].field("status").Spec.Polarity != "inverted" || asks {
			t.Errorf("%s: asks %v\n%s", header, asked, text)
		}
	}
	for _, header := range []string{"Newsletter (ja/nein)", "Newsletter ja nein", "Newsletter Y/N", "Contact No", "Telefon Nr", "Numéro", "Customer no", "Newsletter"} {
		if asks := mappings.OptOutOf(header); asks != mappings.NoOptOut {
			t.Errorf("%s: %d", header, asks)
		}
	}
}

// A column of opt-outs that holds days, answers and other words at once is read by no record: until a person decides, no consent it may speak of is drafted
// as a mapping that compiles.
func TestMixedOptOutsAreAskedAbout(t *testing.T) {
	texts := "" // more words than are kept, the answers among them
	for i := range 60 {
		texts += ";a@x|ja|gesagt von " + strings.Repeat("x", i)
	}
	for _, tc := range []struct {
		lines string
		want  []string // records whose consents are asked about
	}{
		{"E-Mail|Newsletter|Abgemeldet;a@x|ja|;b@x|ja|13.05.2023;c@x|ja|ja;d@x|ja|nein;e@x|ja|vermutlich;f@x|ja|am Telefon abgemeldet", []string{"records[0].when.in"}},
		{"Email|Consent|Consent withdrawn;a@x|Yes|;b@x|Yes|14/05/2023;c@x|Yes|Yes;d@x|Yes|No;e@x|Yes|maybe;f@x|Yes|by phone", []string{"records[0].when.in"}},
		{"E-mail|Toestemming e-mail|Uitgeschreven;a@x|Ja|;b@x|Ja|13-05-2023;c@x|Ja|ja;d@x|Ja|nee", []string{"records[0].when.in"}},
		{"E-Mail|Einwilligung E-Mail|Einwilligung Telefon|Widerruf E-Mail|Widerruf Telefon;a@x|ja|ja||;b@x|ja|ja|15.02.2021|;c@x|ja|ja||16.02.2021;d@x|nein|ja||;e@x|ja|ja|ja|", []string{"records[0].when.in"}},
		{"E-Mail|Newsletter|Unsubscribe campaign;a@x|ja|Spring news;b@x|nein|Autumn news", nil},
		{"E-Mail|Newsletter|Unsubscribe URL;a@x|ja|https://x.example/1;b@x|nein|https://x.example/2", nil},
		{"E-Mail|Newsletter|Abgemeldet;a@x|ja|;b@x|ja|13.05.2023;c@x|ja|14.06.2023", nil},
		{"E-Mail|Newsletter|Abgemeldet;a@x|ja|nein;b@x|ja|ja;c@x|ja|nein", nil},
		{"E-Mail|Newsletter|Unsubscribe link" + strings.Repeat(";a@x|ja|https://x.example/u", 50), nil},
		{"E-Mail|Newsletter|Abgemeldet;a@x|ja|13.05.2023" + texts, []string{"records[0].when.in"}},
	} {
		l := lookAt("kontakte.csv", strings.Split(tc.lines, ";")...)
		_, text, asked := suggested(t, l)
		asked = slices.DeleteFunc(asked, func(path string) bool { return !strings.Contains(path, ".when") })
		if !slices.Equal(asked, tc.want) {
			t.Errorf("%s\nasks %v, want %v\n%s", tc.lines, asked, tc.want, text)
		}
		if len(tc.want) > 0 && !strings.Contains(text, "Attention:") {
			t.Errorf("%s\n%s", tc.lines, text)
		}
	}
}
