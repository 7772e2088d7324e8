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
