package suggest

import (
	"slices"
	"strings"
	"testing"
)

var twoPurposes = Context{Name: "s", By: ctx.By, Purposes: []Purpose{{"newsletter", "Newsletter"}, {"sms", "SMS"}}}

// A bare state beside a column of nothing but yes and no words says that something was confirmed, and not what was answered.
func TestBareStateBesideYesAndNo(t *testing.T) {
	for _, lines := range []string{
		"E-Mail|ID|Abo|Status;a@x.example|1|ja|bestätigt;b@x.example|2|nein|bestätigt;c@x.example|3|ja|offen;d@x.example|4|nein|bestätigt",
		"E-Mail|Status|Abo;a@x.example|bestätigt|ja;b@x.example|bestätigt|nein",
		"E-Mail|Abo|Status;a@x.example|x|bestätigt;b@x.example||bestätigt",
		"E-Mail|Quiere|Estado;a@x.example|sí|alta;b@x.example|no|alta",
		"E-Mail|Wants it|Status;a@x.example|yes|confirmed;b@x.example|no|confirmed",
		"E-Mail|Wants it|State|Unsubscribed;a@x.example|yes|active|no;b@x.example|no|active|yes",
		"E-Mail|Abo|Status;a@x.example|ja|bestätigt;b@x.example|nein|bestätigt;c@x.example|ja|abgemeldet",
	} {
		l := lookAt("newsletter.csv", strings.Split(lines, ";")...)
		_, text, asked := suggested(t, l)
		if !slices.ContainsFunc(asked, func(path string) bool { return strings.HasSuffix(path, "status.from") }) || !strings.Contains(text, "which column is the answer?") || strings.Contains(text, "given: [\"") {
			t.Errorf("%s: asks %v\n%s", lines, asked, text)
		}
	}
	// A status that says who left is the answer, and the column beside it is named.
	states, _, text := judged(t, &twoPurposes, "kontakte.csv", "E-Mail|VIP|Status", "a@x.example|yes|active", "b@x.example|no|unsubscribed", "c@x.example|no|active")
	if got := said(states); got != "a:given b:withdrawn c:given" || !strings.Contains(text, `Attention: column B "VIP" holds nothing but yes and no`) {
		t.Errorf("%s\n%s", got, text)
	}
}

// A status beside an answer says in which state that is: it bars, and gives no consent of its own.
func TestStateIsNoSecondConsent(t *testing.T) {
	for _, tc := range []struct{ want, lines string }{
		{"a:withdrawn b:refused c:- d:given", "E-Mail|SMS|Estado;a@x|sí|baja;b@x|no|alta;c@x||alta;d@x|sí|alta"},
		{"a:given b:refused c:given", "E-Mail|Newsletter|Status;a@x|Y|active;b@x|N|active;c@x|Y|active"},
		{"a:given b:refused c:given", "E-Mail|Status|Newsletter;a@x|active|Y;b@x|active|N;c@x|active|Y"},
		{"a:given b:refused c:-", "E-Mail|Newsletter|Status;a@x|Y|active;b@x|N|active;c@x|Y|inactive"},
		{"a:given b:refused c:-", "E-Mail|Mailing|Status;a@x|Y|confirmed;b@x|N|confirmed;c@x|Y|pending"},
		{"a:given b:refused c:-", "E-Mail|Status|Mailing;a@x|confirmed|Y;b@x|confirmed|N;c@x|pending|Y"},
		{"a:given b:refused c:-", "E-Mail|Infobrief|Anmeldestatus;a@x|ja|bestätigt;b@x|nein|bestätigt;c@x|ja|offen"},
		{"a:given b:withdrawn c:-", "E-Mail|Newsletter|Status;a@x|subscribed|confirmed;b@x|unsubscribed|confirmed;c@x|subscribed|pending"},
		{"a:given b:refused c:withdrawn", "E-Mail|Newsletter|Status;a@x|Y|subscribed;b@x|N|subscribed;c@x|Y|unsubscribed"},
		{"a:given b:refused c:refused", "E-Mail|SMS consent|Status;a@x|Y|verified;b@x|N|verified;c@x|N|pending"},
		{"a:given+given b:withdrawn c:given d:given", "E-Mail|Marketing status|SMS marketing status;a@x|subscribed|subscribed;b@x|unsubscribed|pending;c@x|subscribed|pending;d@x||subscribed"},
		{"a:given b:- c:- d:refused", "E-Mail|État|Newsletter;a@x|validé|oui;b@x|en attente|oui;c@x|bloqué|oui;d@x|validé|non"},
		{"a:given b:- c:- d:refused", "E-Mail|Zustand|Newsletter;a@x|aktiv|ja;b@x|offen|ja;c@x|gesperrt|ja;d@x|aktiv|nein"},
		{"a:given b:- c:- d:refused", "E-Mail|Situazione|Newsletter;a@x|attivo|sì;b@x|sospeso|sì;c@x|cessato|sì;d@x|attivo|no"},
		{"a:given b:- c:- d:refused", "E-Mail|Situação|Newsletter;a@x|ativo|sim;b@x|suspenso|sim;c@x|por confirmar|sim;d@x|ativo|não"},
		{"a:given+given b:refused c:-", "E-Mail|Consent|Email status;a@x|Y|subscribed;b@x|N|pending;c@x|Y|pending"},
		{"a:given b:- c:refused d:given", "E-Mail|I agree to receive the newsletter;a@x|Yes I agree;b@x|;c@x|No, thanks;d@x|yes, please!"},
		{"a:given+given b:refused+given c:-", "E-Mail|Rappel SMS|Lettre d'info;a@x|oui|oui;b@x|non|oui;c@x||"},
		{"a:given b:- c:refused", "E-Mail|Einwilligung Newsletter;a@x|liegt vor;b@x|noch nicht;c@x|liegt nicht vor"},
		{"a:given b:refused c:- d:withdrawn e:refused", "E-Mail|Newsletter|GDPR status;a@x|Y|opted in;b@x|N|opted in;c@x|Y|pending;d@x|Y|opted out;e@x|N|pending"},
		{"a:given+given b:refused+given c:- d:withdrawn", "E-Mail|DSGVO-Status|E-Mail ok|Post ok;a@x|eingewilligt|ja|ja;b@x|eingewilligt|nein|ja;c@x|ausstehend|ja|ja;d@x|widerrufen|ja|ja"},
		{"a:given b:refused c:refused", "E-Mail|Newsletter|Status;a@x|Y|1;b@x|N|1;c@x|Y|0"},
		{"a:given+refused b:refused+given c:withdrawn", "E-Mail|Newsletter|SMS|Status;a@x|Y|N|subscribed;b@x|N|Y|subscribed;c@x|Y|Y|unsubscribed"},
		{"a:given+given b:given+refused c:-", "E-Mail|Newsletter|SMS|Status;a@x|Y|Y|active;b@x|Y|N|active;c@x|Y|Y|pending"},
	} {
		states, rules, text := judged(t, &twoPurposes, "kontakte.csv", strings.Split(tc.lines, ";")...)
		if got := said(states); got != tc.want || len(rules) > 0 {
			t.Errorf("%s\n%s, want %s, warns %v\n%s", tc.lines, got, tc.want, rules, text)
		}
	}
}

// Headers of confirmations in other words than confirmed.
func TestMoreConfirmations(t *testing.T) {
	for _, header := range strings.Split("Newsletter|Freigeschaltet;Newsletter|E-Mail geprüft;SMS consent|Phone validated;Newsletter|Acknowledged;Newsletter|Approved;Newsletter|COI;Newsletter|2-step opt-in done;"+
		"Newsletter|Zweistufiges Opt-in;Newsletter|Telefon geprüft;Newsletter|Opt-in en deux étapes;Newsletter|Approuvé;Newsletter|Email contrôlé;Boletín|Opt-in en dos pasos;Boletín|Aprobado;Boletín|Correo comprobado;"+
		"Newsletter|Attivato;Newsletter|Approvato;Newsletter|Ativado;Newsletter|Aprovado;Nieuwsbrief|Geactiveerd;Nieuwsbrief|Goedgekeurd;Nieuwsbrief|E-mail gecontroleerd", ";") {
		if strings.Contains(header, "Telefon") {
			header = strings.Replace(header, "Newsletter", "SMS-Einwilligung", 1)
		}
		states, rules, text := judged(t, &twoPurposes, "kontakte.csv", "E-Mail|"+header, "a@x|Y|Y", "b@x|Y|N", "c@x|N|N", "d@x|N|Y")
		if got := said(states); got != "a:given b:- c:refused d:refused" || len(rules) > 0 {
			t.Errorf("%s: %s, warns %v\n%s", header, got, rules, text)
		}
	}
	for header, words := range map[string][2]string{"Infolettre|Double opt-in": {"validé", "à voir"}, "Newsletter|DOI": {"bestätigt", "unklar"}, "Newsletter|Double opt-in": {"verified", "sent"}, "Newsletter|Doppio opt-in": {"confermato", "boh"}} {
		states, rules, text := judged(t, &twoPurposes, "kontakte.csv", "E-Mail|"+header, "a@x|Y|"+words[0], "b@x|Y|"+words[1], "c@x|N|", "d@x|Y|", "e@x|N|"+words[1])
		if got := said(states); got != "a:given b:- c:refused d:- e:refused" || len(rules) > 0 {
			t.Errorf("%s: %s, warns %v\n%s", header, got, rules, text)
		}
	}
	for _, tc := range []struct{ header, is string }{
		{"Newsletter|Aktiviert am", "2024-03-14"}, {"Newsletter|Activated on", "2024-03-14"}, {"Newsletter|Activé le", "2024-03-14"}, {"Newsletter|Confirm time", "2024-03-14 10:00:00"},
		{"Newsletter|CONFIRM_IP", "192.0.2.1"}, {"Newsletter|Approved on", "2024-03-14"}, {"Newsletter|Freigeschaltet am", "2024-03-14"}, {"Nieuwsbrief|Geactiveerd op", "2024-03-14"},
	} {
		states, rules, text := judged(t, &twoPurposes, "kontakte.csv", "E-Mail|"+tc.header, "a@x|Y|"+tc.is, "b@x|Y|", "c@x|N|")
		if got := said(states); got != "a:given b:- c:refused" || len(rules) > 0 {
			t.Errorf("%s: %s, warns %v\n%s", tc.header, got, rules, text)
		}
	}
	l := lookAt("kontakte.csv", "E-Mail|Newsletter|Opt-in status", "a@x.example|Y|double", "b@x.example|Y|single", "c@x.example|N|single")
	if _, text, asked := suggested(t, l); !slices.Contains(asked, "records[0].when.in") {
		t.Errorf("asks %v\n%s", asked, text)
	}
}

// A ring beside a cross says no; as oui it stands beside n or non.
func TestRingBesideACross(t *testing.T) {
	for words, yes := range map[string]bool{"o|x": false, "O|X": false, "o|": false, "o|n": true, "O|N": true, "o|non": true} {
		one, other, _ := strings.Cut(words, "|")
		d, text, _ := suggested(t, lookAt("kontakte.csv", "ID|Email|Werbung", "1|a@x.example|"+one, "2|b@x.example|"+other, "3|c@x.example|"+one))
		read := slices.ContainsFunc(d.Records, func(r Record) bool {
			status := r.field("status")
			return status != nil && slices.ContainsFunc(slices.Concat(status.Spec.Enum["yes"], status.Spec.Enum["given"]), func(w string) bool { return strings.EqualFold(w, "o") })
		})
		if read != yes {
			t.Errorf("%s: read as yes: %v\n%s", words, read, text)
		}
	}
	_, text, _ := suggested(t, lookAt("kontakte.csv", "ID|Email|Werbung|Double-Opt-In", "1|a@x.example|ja|o", "2|b@x.example|ja|x", "3|c@x.example|nein|o"))
	if strings.Contains(text, "in: [o, x]") || strings.Contains(text, "in: [x, o]") {
		t.Errorf("a ring confirms\n%s", text)
	}
}
