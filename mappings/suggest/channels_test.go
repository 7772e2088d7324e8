package suggest

import (
	"slices"
	"strings"
	"testing"
)

// A consent to one channel is none to another, in whatever language its header names it; where a word means letters in one language and e-mail in
// the next, it is asked which.
func TestChannelsOfHeaders(t *testing.T) {
	for header, want := range map[string]string{
		"Acepta marketing por correo electrónico": "email", "Aceita marketing por correio eletrónico": "email", "Accetta pubblicità via posta elettronica": "email", "Accepte la publicité par courriel": "email", "Courrier électronique": "email",
		"Werbung per Mail": "email", "E-mailmarketing": "email", "Correo postal": "post", "Pubblicità per posta": "post", "Courrier": "post", "Angebote per Post": "post", "Contact by mail": "post",
		"Messages texte": "sms", "Mensajes de texto": "sms", "Messaggi di testo": "sms", "Nicht anrufen": "phone", "WhatsApp": "whatsapp", "Consent": "", "Publicidad por correo": "",
	} {
		if got := channelOf(plain(header)); got != want {
			t.Errorf("%s: %q, want %q", header, got, want)
		}
	}
	for header, asks := range map[string]bool{"Mail opt-in": true, "Publicidad por correo": true, "Aceita publicidade por correio": true, "Correo electrónico": false, "Ne pas écrire par mail": false, "Newsletter": false} {
		_, text, asked := suggested(t, lookAt("kunden.csv", "Adresse|"+header+"|SMS opt-in", "a@example.com|sí|no", "b@example.com|no|sí"))
		if slices.Contains(asked, "records[0].fields.channel.const") != asks || asks != strings.Contains(text, "of e-mail or of letters?") {
			t.Errorf("%s: asks %v\n%s", header, asked, text)
		}
	}
}

// The day of a call or of a mail is no number and no address, whatever stands in its header.
func TestDaysAreNoContactPoints(t *testing.T) {
	for _, header := range []string{"Bestätigungsmail versendet am", "Datum Telefonat", "Date appel téléphone", "Fecha llamada teléfono", "Email sent on", "Kundennummer vergeben am"} {
		for _, sheet := range []string{"E-Mail|Newsletter", "Kundennummer|Newsletter"} {
			d, text, _ := suggested(t, lookAt("kontakte.csv", sheet+"|"+header, "a@x.example|ja|17.03.2024 10:00", "b@x.example|nein|18.03.2024 10:00", "c@x.example|ja|19.03.2024 10:00"))
			for _, r := range d.Records {
				for _, f := range r.Fields {
					if slices.Contains([]string{"email", "phone", "subject_id"}, f.Name) && f.Spec.From[0].Header == header {
						t.Errorf("%s is %s\n%s", header, f.Name, text)
					}
				}
			}
		}
	}
	// A word that holds three letters of one names no telephone, and a sheet without rows has nothing but headers.
	if got := Sounds("Bestätigungsmail", "phone"); got != "" {
		t.Error(got)
	}
	for _, header := range []string{"GSM", "GSM-nummer", "Numéro GSM", "N° GSM", "Tel/GSM"} {
		if Sounds(header, "phone") == "" {
			t.Error(header)
		}
	}
}

// The channel that somebody prefers is not that of an answer: a withdrawal would stand against that one alone.
func TestPreferredChannel(t *testing.T) {
	for _, header := range []string{"Preferred channel", "Preferred contact method", "Bevorzugter Kontaktweg", "Canal préféré", "Canal preferido", "Canale preferito", "Canal de preferência", "Voorkeurskanaal"} {
		d, text, _ := suggested(t, lookAt("kontakte.csv", "E-Mail|Consent status|"+header, "a@x|given|email", "b@x|withdrawn|sms", "c@x|given|email"))
		for i := range d.Records {
			if d.Records[i].field("channel") != nil {
				t.Errorf("%s\n%s", header, text)
			}
		}
	}
}

// A state of e-mail is of e-mail and an answer to text messages of those, and neither says yes where the other does. Where the header of the state names no
// channel, that is asked: one on any channel would be a consent to text messages too, beside their no or blank.
func TestStatesOfOtherChannels(t *testing.T) {
	for _, tc := range []struct{ named, bare, in, out, yes, no string }{
		{"Email status|Email subscription|Email subscription status", "Status|State|Subscription status", "subscribed", "unsubscribed", "Y", "N"},
		{"E-Mail-Status|E-Mail Status", "Status|Anmeldestatus", "angemeldet", "abgemeldet", "ja", "nein"},
		{"Statut e-mail|Statut courriel", "Statut", "abonné", "désabonné", "oui", "non"},
		{"Estado del correo electrónico|Estado email", "Estado", "suscrito", "dado de baja", "sí", "no"},
		{"Estado email|Estado del boletín", "", "alta", "baja", "sí", "no"},
		{"Stato e-mail|Stato email", "Stato", "iscritto", "disiscritto", "sì", "no"},
		{"Estado do e-mail|Estado email", "Estado", "inscrito", "cancelado", "sim", "não"},
		{"E-mailstatus|Status e-mail", "Status", "aangemeld", "afgemeld", "ja", "nee"},
	} {
		for _, other := range []string{"SMS", "SMS consent", "WhatsApp"} {
			for _, header := range strings.FieldsFunc(tc.named+"|"+tc.bare, func(r rune) bool { return r == '|' }) {
				named := strings.Contains("|"+tc.named+"|", "|"+header+"|")
				for _, order := range []string{other + "|" + header, header + "|" + other} {
					lines := []string{"E-Mail|" + order, "a@x.example|Y|out", "b@x.example|N|in", "c@x.example||", "d@x.example|Y|in", "e@x.example||in", "f@x.example|N|out", "g@x.example|Y|"}
					want := "a:given+withdrawn b:refused+given c:- d:given+given e:given f:refused+withdrawn g:given"
					for i, line := range lines[1:] {
						cells := strings.Split(strings.NewReplacer("|Y", "|"+tc.yes, "|N", "|"+tc.no, "out", tc.out, "in", tc.in).Replace(line), "|")
						if strings.HasPrefix(order, header) {
							cells[1], cells[2] = cells[2], cells[1]
							want = "a:withdrawn+given b:given+refused c:- d:given+given e:given f:withdrawn+refused g:given"
						}
						lines[i+1] = strings.Join(cells, "|")
					}
					_, text, asked := suggested(t, lookAt("kontakte.csv", lines...))
					asks := slices.ContainsFunc(asked, func(path string) bool { return strings.HasSuffix(path, "channel.const") })
					states, _, _ := judged(t, &ctx, "kontakte.csv", lines...)
					if got := said(states); got != want || asks == named || named && !strings.Contains(text, "const: email") || strings.Contains(text, "const: any") {
						t.Errorf("%s, %s: %s, asks %v\n%s", order, tc.in, got, asked, text)
					}
				}
			}
		}
	}
	// So it is for any answer whose header names no channel. Another question than theirs stands on any, and so does what only says no.
	for lines, asks := range map[string]bool{
		"E-Mail|Einwilligung|SMS-Einwilligung;a@x|ja|nein;b@x|nein|ja":         true,
		"E-Mail|Newsletter|Werbung;a@x|ja|nein;b@x|nein|ja":                    true,
		"E-Mail|Status|SMS;a@x|subscribed|N;b@x|unsubscribed|Y":                true,
		"E-Mail|Newsletter|Foto-Einwilligung;a@x|ja|nein;b@x|nein|ja":          false,
		"E-Mail|SMS|Opted out;a@x|Y|N;b@x|N|Y":                                 false,
		"E-Mail|Newsletter|SMS|Status;a@x|Y|N|subscribed;b@x|N|Y|unsubscribed": false,
		"E-Mail|Einwilligung;a@x|ja;b@x|nein":                                  false,
	} {
		_, text, asked := suggested(t, lookAt("kontakte.csv", strings.Split(lines, ";")...))
		if got := slices.ContainsFunc(asked, func(path string) bool { return strings.HasSuffix(path, "channel.const") }); got != asks {
			t.Errorf("%s: asks %v\n%s", lines, asked, text)
		}
	}
}
