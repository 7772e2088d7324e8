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
		case f.Name == "occurred_at" || f.Name == "received_at" || f.Name == "lawful_basis":
			out += " " + f.Name + " " + f.Spec.From[0].Header
		case f.Name == "channel" && f.Spec.Const != nil:
			out += " on " + *f.Spec.Const
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
			[]string{"consent status", "Attention: in column B \"state of list\" 1 row holds a word that speaks against consent"}},
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
