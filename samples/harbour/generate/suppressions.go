package main

import (
	"fmt"
	"strings"
)

// suppression is one line of the mail service's block list.
type suppression struct {
	email, phone, channel, reason, date, note string
}

// suppressions writes the list as the mail service exports it: byte order mark, semicolons, CR LF, quotes where needed.
func (d *data) suppressions() []byte {
	list := []suppression{
		// These reach people of the consent register; see register.go.
		{email: subject(87).email, channel: "E-Mail", reason: "Widerspruch", date: "01.08.2025 09:30", note: "per Brief; an alle Systeme"},
		{email: subject(88).email, channel: "E-Mail", reason: "Abmeldung", date: "01.02.2024 18:05"},
		{email: subject(89).email, channel: "E-Mail", reason: "Hard Bounce", date: "11.11.2025 03:12", note: "550 user unknown"},
		{email: subject(90).email, channel: "alle", reason: "Widerspruch", note: "ohne Datum übernommen"},
		{email: shout(subject(91).email), channel: "E-Mail", reason: "Abmeldung", date: "20.06.2025 12:00"},
		// These reach people of the newsletter list; see newsletter.go.
		{email: subject(201).email, channel: "E-Mail", reason: "Hard Bounce", date: "05.01.2026 04:44"},
		{email: shout(subject(202).email), channel: "E-Mail", reason: "Abmeldung", date: "17.03.2026 20:15"},
		{email: subject(203).email, channel: "E-Mail", reason: "Beschwerde", date: "02.04.2026 08:01", note: "als Spam gemeldet"},
		// These reach nobody else in the batch.
		{email: subject(250).email, channel: "E-Mail", reason: "Abmeldung", date: "14.01.2025 07:59"},
		{email: shout(subject(251).email), channel: "E-Mail", reason: "Abmeldung", date: "15.01.2025 21:10"},
		{email: subject(252).email, channel: "E-Mail", reason: "Hard Bounce", date: "19.02.2025 02:30"},
		{email: subject(253).email, channel: "E-Mail", reason: "ungültig"},
		{email: subject(254).email, channel: "E-Mail", reason: "Hard Bounce", date: "01.03.2025 11:11", note: "Postfach voll;\nzweiter Versuch am Folgetag"},
		{email: subject(255).email, phone: subject(255).phone(), channel: "alle", reason: "Sperre (Recht)", date: "22.03.2025 10:00", note: "Az. der Rechtsabteilung liegt vor"},
		{phone: subject(256).phone(), channel: "Telefon", reason: "Widerspruch", date: "07.04.2025 16:20", note: "will nicht \"bequatscht\" werden"},
		{phone: subject(257).phone(), channel: "Telefon", reason: "Widerspruch"},
		{phone: subject(258).phone(), channel: "SMS", reason: "Abmeldung", date: "30.04.2025 13:37"},
		{email: subject(259).email, channel: "E-Mail", reason: "Abmeldung", date: "12.05.2025 06:45"},
		{email: subject(260).email, channel: "E-Mail", reason: "Abmeldung", date: "13.05.2025 06:45"},
		{email: shout(subject(261).email), channel: "E-Mail", reason: "Beschwerde", date: "03.07.2025 22:22"},
		{email: subject(262).email, channel: "E-Mail", reason: "ungültig", date: "09.09.2025 09:09"},
		{email: subject(263).email, channel: "E-Mail", reason: "Abmeldung", date: "24.12.2025 18:00"},
		{email: subject(264).email, channel: "E-Mail", reason: "Hard Bounce", date: "08.02.2026 05:15"},
		{email: subject(265).email, channel: "E-Mail", reason: "Abmeldung", date: "29.05.2026 17:17"},
		{email: subject(266).email, channel: "alle", reason: "Widerspruch", date: "14.08.2026 08:30", note: "telefonisch, bestätigt"},
	}
	var b strings.Builder
	b.WriteString("\ufeff")
	line := func(fields ...string) {
		for i, f := range fields {
			if strings.ContainsAny(f, ";\"\n") {
				f = `"` + strings.ReplaceAll(f, `"`, `""`) + `"`
			}
			fields[i] = f
		}
		b.WriteString(strings.Join(fields, ";") + "\r\n")
	}
	line("Nr", "E-Mail", "Telefon", "Kanal", "Grund", "Datum", "Bemerkung")
	t := d.source("suppressions")
	for i, s := range list {
		line(fmt.Sprintf("SP-%03d", i+1), s.email, s.phone, s.channel, s.reason, s.date, s.note)
		d.accept(t, i+2)
		d.record("suppression")
		d.private(s.email, strings.ToLower(s.email), s.phone, s.note)
	}
	for _, n := range []int{87, 88, 89, 90, 91, 201, 202, 203, 250, 251, 252, 253, 254, 255, 256, 257, 258, 259, 260, 261, 262, 263, 264, 265, 266} {
		p := subject(n)
		d.private(p.email)
		if n >= 255 && n <= 258 {
			d.private(p.phone(), "+49"+p.national, p.national)
		}
	}
	return []byte(b.String())
}

// shout writes an address as some mail programs do: Ada.Musterfrau@EXAMPLE.COM.
func shout(email string) string {
	local, domain, _ := strings.Cut(email, "@")
	words := strings.Split(local, ".")
	for i, w := range words {
		words[i] = strings.ToUpper(w[:1]) + w[1:]
	}
	return strings.Join(words, ".") + "@" + strings.ToUpper(domain)
}
