package suggest

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"sheetlift/mappings"
)

// drawn is a record of a draft in short: its entity, what it is read from, and its words.
func drawn(r *Record) string {
	out := r.Entity
	for _, w := range r.When {
		out += " when " + strings.Join(condition(&w), " ")
	}
	for _, f := range r.Fields {
		switch {
		case f.Name == "status" || f.Name == "reason" || f.Name == "request_type":
			out += " " + f.Name
			for _, c := range f.Spec.From {
				out += " " + c.Header
			}
			if f.Spec.Const != nil {
				out += " " + *f.Spec.Const
			}
			for _, t := range slices.Sorted(maps.Keys(f.Spec.Enum)) {
				out += " " + t + strings.ReplaceAll(flow(f.Spec.Enum[t]), `"`, "")
			}
			if f.Spec.Polarity == "inverted" {
				out += " inverted"
			}
		case f.Name == "expires_at":
			out += " until " + f.Spec.From[0].Header
		case f.Name == "occurred_at" || f.Name == "received_at" || f.Name == "lawful_basis":
			out += " " + f.Name + " " + f.Spec.From[0].Header
		case f.Name == "channel" && f.Spec.Const != nil:
			out += " on " + *f.Spec.Const
		case f.Name == "purpose" && len(f.Asks) > 0:
			out += " purpose asked"
		case f.Name == "actor":
			out += " actor"
		}
	}
	return out
}

// What rows of known and unknown systems become; a line of the draft is a record, or what it says at the top.
func TestExportsOfTheField(t *testing.T) {
	for name, tc := range map[string]struct {
		file  string
		lines []string
		want  []string
	}{
		"a day of creation, of a visit or of expiry is no time of consent": {"x.csv", []string{"E-Mail|Einwilligung|Erstellungsdatum|First Visit|Date de création|Fecha de creación|Data di creazione|Data de criação|expiry", "a@example.com|ja|2024-03-14|2024-03-14|2024-03-14|2024-03-14|2024-03-14|2024-03-14|2025-03-14"},
			[]string{"consent status Einwilligung yes[ja]"}},
		"what speaks of the address is no answer": {"leads.csv", []string{"Email|Unsubscribed|Email Invalid|Marked email as spam|Email verified|Email bounced", "a@example.com|false|false|false|true|false", "b@example.com|true|false|true|true|false", "c@example.com|false|true|false|false|false"},
			[]string{"consent status Unsubscribed no[false] yes[true] inverted", "suppression when column: Email Invalid in: [\"true\"] on email reason invalid", "suppression when column: Marked email as spam in: [\"true\"] on email reason complaint"}},
		"addresses that bounced on a day": {"x.csv", []string{"Email|Newsletter|Bounced at", "a@example.com|yes|", "b@example.com|yes|2024-03-14"},
			[]string{"consent on email status Newsletter yes[yes]", "suppression when column: Bounced at not_blank: true on email reason bounce occurred_at Bounced at"}},
		"states in capitals are no names": {"contacts.csv", []string{"Contact point|Consent|Reason", "a@example.com|Opted In|", "b@example.com|Opted Out|too many", "c@example.com|Not Set|"},
			[]string{"consent status Consent given[Opted In] withdrawn[Opted Out]"}},
		"one cell that may be a name hides no other": {"contacts.csv", []string{"Email|Email status", "a@example.com|Active", "b@example.com|Unsubscribed", "c@example.com|Erika Mustermann"},
			[]string{"consent on email status Email status given[Active] withdrawn[Unsubscribed]"}},
		"a state that is not read is named": {"subscribers.csv", []string{"email|state of list|note", "a@example.com|enabled|", "b@example.com|blocklisted|"},
			[]string{"consent when column: state of list in: [] status", "Attention: in column B \"state of list\" 1 row holds a word that speaks against consent"}},
		"words of an export for its editors": {"contacts.csv", []string{"(Do Not Modify) Contact|(Do Not Modify) Modified On|Email|Do not allow Emails", "1|3/14/2024 10:00|a@example.com|Allow", "2|3/15/2024 10:00|b@example.com|Do Not Allow"},
			[]string{"consent on email status Do not allow Emails refused[Do Not Allow]"}},
		"a day of leaving without a reason": {"x.csv", []string{"email|unsubscription_date|unsubscription_reason", "a@example.com||", "b@example.com|2024-05-14|", "c@example.com|2024-05-15|spam"},
			[]string{"suppression when column: unsubscription_date not_blank: true when column: unsubscription_reason blank: true on email reason opt_out occurred_at unsubscription_date",
				"suppression when column: unsubscription_reason not_blank: true on email reason unsubscription_reason complaint[spam] occurred_at unsubscription_date"}},
		"a list of those who left, some without a day": {"unsubscribes.csv", []string{"email|Unsubscribed at", "a@example.com|2024-05-14", "b@example.com|"},
			[]string{"suppression on email reason opt_out occurred_at Unsubscribed at"}},
		"leaving one channel says nothing of another": {"x.csv", []string{"Email|Email status|SMS status|Email opt-out date", "a@example.com|unsubscribed|unsubscribed|2024-05-14", "b@example.com|subscribed|subscribed|"},
			[]string{"consent when column: Email opt-out date blank: true on email status Email status given[subscribed] withdrawn[unsubscribed]", "consent on sms status SMS status given[subscribed] withdrawn[unsubscribed]",
				"consent when column: Email opt-out date not_blank: true on email status withdrawn occurred_at Email opt-out date"}},
		"an opt-out counts on whatever basis": {"x.csv", []string{"E-Mail|Rechtsgrundlage für die Verarbeitung|Von allen E-Mails abgemeldet", "a@example.com|Freiwillige Zustimmung des Kontakts|", "b@example.com|Berechtigtes Interesse – potenzieller Kunde|ja"},
			[]string{"consent on email status Von allen E-Mails abgemeldet yes[ja] inverted", "consent when column: Von allen E-Mails abgemeldet not_in: [ja] status Rechtsgrundlage für die Verarbeitung given[Freiwillige Zustimmung des Kontakts] lawful_basis"}},
		"each answer has the channel of its header": {"x.csv", []string{"Record Id|Email|Consent Through|Email Opt Out|Contact Through Phone", "1|a@example.com|Email|false|true", "2|b@example.com|Email|true|false"},
			[]string{"consent on email status Email Opt Out no[false] yes[true] inverted", "consent on phone status Contact Through Phone no[false] yes[true]"}},
		"a channel a column, under the names of contact points": {"supporters.csv", []string{"Supporter ID|Email address|Email|Post|Phone", "1|a@example.com|Y|N|Y", "2|b@example.com|N|N|"},
			[]string{"consent on email status Email no[N] yes[Y]", "consent on post status Post no[N]", "consent on phone status Phone yes[Y]"}},
		"under which law somebody was asked is no answer": {"records of consent.csv", []string{"ID|Consenttype|Statistics|User agent|Consent text", "1|optin|1|Mozilla|", "2|optin|0|Mozilla|"},
			[]string{"consent purpose asked status Statistics no[0] yes[1]"}},
		"who only ever said no to one question said nothing of the others": {"cookie log.csv", []string{"Consent ID|MARKETING|PERSONALIZATION", "c1|ACCEPT|DENY", "c2|DENY|DENY"},
			[]string{"consent on any status MARKETING given[ACCEPT] refused[DENY]", "consent purpose asked on any status PERSONALIZATION refused[DENY]"}},
		"tracking is another question than mailings": {"x.csv", []string{"Email|List|Status|Tracking consent", "a@example.com|Newsletter|Subscribed|denied", "b@example.com|Newsletter|Unsubscribed|granted"},
			[]string{"consent on any status Status given[Subscribed] withdrawn[Unsubscribed]", "consent purpose asked on any status Tracking consent given[granted] refused[denied]"}},
		"entered in a register of opt-outs": {"bloctel.csv", []string{"telephone|statut", "+33612345678|inscrit", "+33612345679|non inscrit"},
			[]string{"suppression when column: statut not_in: [non inscrit] on any reason opt_out"}},
		"answers inside of JSON are named": {"x.csv", []string{"subject.email|preferences|Newsletter", "a@example.com|{\"profiling\":false}|yes"},
			[]string{"consent on email status Newsletter yes[yes]", "Attention: column B \"preferences\" holds lists or JSON"}},
		"whoever ticked a box": {"entries.csv", []string{"Entry Id|Email|Consent (Consent)", "1|a@example.com|Checked", "2|b@example.com|Not Checked"},
			[]string{"consent status Consent (Consent) no[Not Checked] yes[Checked]"}},
		"requests that are closed by their day alone": {"SAR log.csv", []string{"Ref|Date received|Type|Statutory deadline|Date responded", "1|2024-03-14|Erasure|2024-04-14|2024-04-02", "2|2024-03-15|Access|2024-04-15|"},
			[]string{"case when column: Date responded not_blank: true request_type Type access[Access] erasure[Erasure] status closed_fulfilled", "case when column: Date responded blank: true request_type Type access[Access] erasure[Erasure] status open"}},
		"reasons beside the answers count whatever was answered": {"list.csv", []string{"E-Mail|Telefon|E-Mail-Marketing-Zustimmung|E-Mail-Unterdrückungen", "a@example.com||SUBSCRIBED|", "b@example.com||SUBSCRIBED|['UNSUBSCRIBED', 'HARD_BOUNCE']", "c@example.com||SUBSCRIBED|USER_SUPPRESSED", "d@example.com||SUBSCRIBED|HARD_BOUNCE", "e@example.com||SUBSCRIBED|[]"},
			[]string{"consent on email status E-Mail-Marketing-Zustimmung given[SUBSCRIBED]", "suppression when column: \"E-Mail-Unterdrückungen\" not_blank: true when column: \"E-Mail-Unterdrückungen\" not_in: [\"[]\"] on email reason E-Mail-Unterdrückungen bounce[HARD_BOUNCE] objection[USER_SUPPRESSED] opt_out[['UNSUBSCRIBED', 'HARD_BOUNCE']]"}},
		"reasons in the sheet of a system in French": {"list.csv", []string{"E-mail|Consentement au marketing par e-mail|Suppressions d'e-mails", "a@example.com|SUBSCRIBED|USER_SUPPRESSED", "b@example.com|SUBSCRIBED|"},
			[]string{"consent on email status Consentement au marketing par e-mail given[SUBSCRIBED]", "suppression when column: \"Suppressions d'e-mails\" not_blank: true on email reason Suppressions d'e-mails objection[USER_SUPPRESSED]"}},
		"an answer to another question": {"crm.csv", []string{"Kd.-Nr.|E-Mail|Newsletter|Weitergabe an Dritte", "1|a@example.com|nein|ja", "2|b@example.com|ja|nein"},
			[]string{"consent on email status Newsletter", "Attention: column D \"Weitergabe an Dritte\" holds answers, and no record is drafted from it"}},
		"a day of consent that some have not": {"einwilligungen.csv", []string{"E-Mail|Zweck|Einwilligung erteilt am", "a@example.com|Newsletter|14.03.2024 10:15", "b@example.com|Newsletter|"},
			[]string{"consent when column: Einwilligung erteilt am not_blank: true status occurred_at Einwilligung erteilt am"}},
		"two tables side by side": {"x.csv", []string{"E-Mail|Newsletter||E-Mail|Grund", "a@example.com|ja||c@example.com|Widerspruch", "b@example.com|nein"},
			[]string{"consent on email status Newsletter no[nein] yes[ja]", "suppression when column: { letter: D } not_blank: true on email reason  objection[Widerspruch]", "Attention: contact points stand on both sides of the blank column C"}},
		"may be reached by each channel": {"x.csv", []string{"Name|E-Mail|E-Mail|Telefon|SMS", "E|a@example.com|ja|nein|", "M|b@example.com|nein|ja|ja"},
			[]string{"consent on email status E-Mail no[nein] yes[ja]", "consent on phone status Telefon no[nein] yes[ja]", "consent on sms status SMS yes[ja]"}},
		"days of consents, and a no among them": {"kunden.csv", []string{"Kundennummer|E-Mail|Newsletter-Einwilligung", "1|a@example.com|14.03.2024", "2|b@example.com|", "3|c@example.com|nein", "4|d@example.com|15.03.2024"},
			[]string{"consent when column: Newsletter-Einwilligung matches: \"[0-9]\" status occurred_at Newsletter-Einwilligung", "consent when column: Newsletter-Einwilligung not_blank: true when column: Newsletter-Einwilligung not_matches: \"[0-9]\" status Newsletter-Einwilligung no[nein]"}},
		"codes are neither yes nor no": {"contacts.csv", []string{"id|email|consent_status", "1|a@example.com|1", "2|b@example.com|2", "3|c@example.com|0"},
			[]string{"consent status consent_status"}},
		"a day on which something ended": {"inscritos_newsletter.csv", []string{"E-mail|Subscrito|Data de cancelamento", "a@example.com|sim|", "b@example.com|sim|15/03/2024"},
			[]string{"consent when column: Data de cancelamento blank: true status Subscrito yes[sim]", "consent when column: Data de cancelamento not_blank: true status occurred_at Data de cancelamento"}},
		"whose answer it is": {"events.csv", []string{"Order|Buyer Email|Attendee Email|Email me about events", "1|x@example.com|a@example.com|True", "2|y@example.com|b@example.com|False"},
			[]string{"consent on email status Email me about events no[False] yes[True]", "Attention: column C \"Attendee Email\" holds addresses as well as column B \"Buyer Email\""}},
		"a consent that ends by itself": {"x.csv", []string{"E-Mail|Einwilligung|Einwilligung am|Gültig bis", "a@example.com|ja|2024-03-14|2026-03-14", "b@example.com|nein|2024-03-14|"},
			[]string{"consent status Einwilligung no[nein] yes[ja] occurred_at Einwilligung am until Gültig bis"}},
		"whoever withdrew": {"widerrufe.xlsx", []string{"Datum|Name|E-Mail-Adresse|Wogegen?", "2024-03-14|E|a@example.com|Newsletter", "2024-03-15|M|b@example.com|alle Werbung"},
			[]string{"suppression on email reason opt_out occurred_at Datum"}},
		"national numbers alone are the key": {"robinson.csv", []string{"Telefon", "0171 1234567", "+49 171 7654321"},
			[]string{"suppression on any reason objection"}},
		"whether a request is dealt with": {"verzoeken.csv", []string{"Zaaknummer|Ontvangen|E-mail|Soort verzoek|Uiterlijk|Afgehandeld", "1|14-03-2024|a@example.com|Inzage|14-04-2024|ja", "2|15-03-2024|b@example.com|Verwijdering|15-04-2024|nee"},
			[]string{"case request_type Soort verzoek access[Inzage] erasure[Verwijdering] status Afgehandeld closed_fulfilled[ja] open[nee] received_at Ontvangen"}},
		"the day of a bounce": {"hard_bounces.csv", []string{"Email|Bounced at", "a@example.com|2024-03-14"},
			[]string{"suppression on email reason bounce occurred_at Bounced at"}},
		"an answer that waits to be confirmed": {"kunden.csv", []string{"E-Mail|Abonniert|Bestätigt", "a@example.com|ja|ja", "b@example.com|ja|pending", "c@example.com|nein|pending", "d@example.com|ja|"},
			[]string{"consent when column: \"Bestätigt\" in: [ja] status Abonniert no[nein] yes[ja]", "consent when column: \"Bestätigt\" not_in: [ja] when column: Abonniert not_in: [ja] status Abonniert no[nein] yes[ja]"}},
		"a double opt-in in words": {"subs.csv", []string{"email|subscribed|Double Opt-In", "a@example.com|yes|confirmed", "b@example.com|yes|pending", "c@example.com|no|unsubscribed"},
			[]string{"consent when column: Double Opt-In in: [confirmed] on any status subscribed", "consent when column: Double Opt-In not_in: [confirmed, unsubscribed] when column: subscribed not_in: [\"yes\"] on any status subscribed",
				"consent when column: Double Opt-In in: [unsubscribed] on any status Double Opt-In given[confirmed] withdrawn[unsubscribed]"}},
		"a state beside the answer that waits": {"subs.csv", []string{"email|opt_in|opt_in_status", "a@example.com|1|confirmed", "b@example.com|1|pending"},
			[]string{"consent when column: opt_in_status not_in: [pending] on any status opt_in yes[1]", "consent when column: opt_in_status in: [pending] when column: opt_in not_in: [\"1\"] on any status opt_in yes[1]"}},
		"a state that only waits": {"subs.csv", []string{"email|subscribed|status", "b@example.com|yes|pending", "c@example.com|no|pending"},
			[]string{"consent when column: status not_in: [pending] status subscribed", "consent when column: status in: [pending] when column: subscribed not_in: [\"yes\"] status subscribed"}},
		"a day of confirmation that some have not": {"subs.csv", []string{"email|subscribed|confirmed_at", "a@example.com|yes|2024-03-14", "b@example.com|yes|", "c@example.com|no|"},
			[]string{"consent when column: confirmed_at not_blank: true status subscribed no[no] yes[yes] occurred_at confirmed_at", "consent when column: confirmed_at blank: true when column: subscribed not_in: [\"yes\"] status subscribed"}},
		"kinds of request, not their subject lines": {"tickets.csv", []string{"Ticket ID|Subject|Requester email|Status|Request type [list]|Created at|Due date", "1|Access request|a@example.com|Solved|Access|2024-03-14|2024-04-14", "2|Please delete me|b@example.com|Pending|Erasure|2024-03-15|2024-04-15", "3|Data|c@example.com|On-hold|Access|2024-03-15|2024-04-15"},
			[]string{"case request_type Request type [list] access[Access] erasure[Erasure] status Status closed_fulfilled[Solved] open[On-hold, Pending] received_at Created at"}},
	} {
		t.Run(name, func(t *testing.T) {
			d := Suggest(lookAt(tc.file, tc.lines...), &ctx)
			if d == nil {
				t.Fatal("nothing is suggested")
			}
			var got []string
			for i := range d.Records {
				got = append(got, drawn(&d.Records[i]))
			}
			for _, want := range tc.want {
				if !slices.ContainsFunc(slices.Concat(got, d.Head), func(line string) bool { return strings.HasPrefix(line, want) }) {
					t.Errorf("no %s", want)
				}
			}
			if records := len(tc.want) - len(slices.DeleteFunc(slices.Clone(tc.want), func(w string) bool { return !strings.HasPrefix(w, "Attention") })); len(got) != records || t.Failed() {
				t.Errorf("%d records, want %d:\n%s\n%s", len(got), records, strings.Join(got, "\n"), d.YAML())
			}
			if strings.Contains(string(d.YAML()), "Mustermann") {
				t.Error("the draft holds a value")
			}
		})
	}
}

// A list without a header is read from its first row on, and a row of totals is nobody's.
func TestRowsThatAreNoRecords(t *testing.T) {
	l := lookAt("register.csv", "Customer ID|E-mail|Newsletter", "1|a@example.com|1", "2|b@example.com|0", "Total:||1")
	d, text, _ := suggested(t, l)
	if len(d.Skips) != 1 || !slices.Equal(d.Skips[0].In, mappings.Strings{"Total:"}) || d.Skips[0].Column.Header != "Customer ID" || !d.Skips[0].Confirm {
		t.Error(text)
	}
	l = lookAt("optouts.csv", "Customer No|Email Address|Opted Out of Email", "C1|a@example.com|No", "C2|b@example.com|Yes", "Total|2|1")
	if _, text, _ := suggested(t, l); strings.Contains(text, "would be rejected") || !strings.Contains(text, "all of its words are known") {
		t.Errorf("words of the totals are counted, which the draft skips\n%s", text)
	}
	l = lookAt("topics.csv", "Topic|E-mail|Newsletter", "Total|a@example.com|yes", "Count|b@example.com|yes")
	if d, text, _ := suggested(t, l); len(d.Skips) > 0 {
		t.Errorf("people are taken for totals\n%s", text)
	}
	l = lookAt("unsubscribed.csv", "|", "a@example.com|x", "b@example.com|y")
	l.HeaderRow = 0
	if d, text, asked := suggested(t, l); len(asked) > 0 || d.Records[0].Entity != "suppression" || !strings.Contains(text, "header: { none: true }") || !strings.Contains(text, "from: { letter: A }") || !strings.Contains(text, "The first row holds values") {
		t.Errorf("asks %v\n%s", asked, text)
	}
	for header, row := range map[string]bool{"a@example.com": true, "+49 151 12345678|x": true, "212|5550101": true, "E-Mail|2024": false, "questions to a@example.com": false, "Kundennr|Mail": false, "": false} {
		if mappings.LooksLikeRow(strings.Split(header, "|")) != row {
			t.Errorf("%s: a row of values? %v expected", header, row)
		}
	}
}

// An apostrophe with which a spreadsheet program marks text belongs to no number.
func TestMarkedNumbers(t *testing.T) {
	_, text, _ := suggested(t, lookAt("kunden.csv", "Kunden-ID|E-Mail|Telefon|Newsletter", "'1|a@example.com|'+4915112345678|ja", "'2|b@example.com|'+4915112345679|nein"))
	if strings.Count(text, "normalize: [apostrophe, trim]") != 2 {
		t.Error(text)
	}
}

// Where no column is known to tell the rows of a draft apart, it is asked for.
func TestKeysOfNoColumnAreAskedFor(t *testing.T) {
	_, text, asked := suggested(t, lookAt("requests.csv", "case label|request_type|received|state", "a|Access|2024-03-14|Open", "b|Erasure|2024-03-15|Open"))
	if !slices.Equal(asked, []string{"records[0].fields.external_id.from"}) || !strings.Contains(text, "which column tells these rows apart") {
		t.Errorf("asks %v\n%s", asked, text)
	}
}

// Rows that say that they are tests are nobody's.
func TestTestRowsAreLeftOut(t *testing.T) {
	d, text, _ := suggested(t, lookAt("requests.csv", "Request ID|Type|Status|Created At|Is Test", "1|ERASURE|COMPLETED|2024-03-14|false", "2|ACCESS|COMPLETED|2024-03-15|true"))
	if len(d.Skips) != 1 || !slices.Equal(d.Skips[0].In, mappings.Strings{"true"}) || !d.Skips[0].Confirm {
		t.Error(text)
	}
}

// Dates that name their month need no proof of an order, in whatever language they do.
func TestDatesThatNameTheirMonth(t *testing.T) {
	for want, dates := range map[string][]string{
		"D/MMM/YY h:mm A":       {"14/Mär/24 9:12 AM", "15/Mai/24 11:12 PM"},
		"MMMM D, YYYY":          {"March 4, 2024", "December 13, 2024"},
		"D 'de' MMMM 'de' YYYY": {"4 de marzo de 2024", "13 de diciembre de 2024"},
		"D. MMMM YYYY":          {"4. März 2024", "13. Oktober 2024"},
		"D-MMM-YYYY H:mm:ss":    {"14-Mar-2024 09:12:31", "15-Oct-2024 10:00:00"},
		"MMM D, YYYY h:mm A":    {"Mar 4, 2024 9:12 am"},
		"D MMM YYYY, H:mm Z":    {"4 févr. 2024, 10:00 UTC"},
		"iso8601":               {"2024-03-14 10:00:00 UTC", "2024-03-15 10:00:00 GMT"},
	} {
		lines := []string{"Email|Consent|Consent date"}
		for i, d := range dates {
			lines = append(lines, string(rune('a'+i))+"@example.com|yes|"+d)
		}
		d, text, asked := suggested(t, lookAt("x.csv", lines...))
		if len(asked) > 0 || !slices.ContainsFunc(d.Records[0].Fields, func(f Field) bool {
			return f.Name == "occurred_at" && slices.Equal(f.Spec.Format, mappings.Strings{want})
		}) {
			t.Errorf("%s: asks %v\n%s", want, asked, text)
		}
	}
}
