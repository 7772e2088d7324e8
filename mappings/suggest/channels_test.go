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
