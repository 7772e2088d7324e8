package suggest

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sheetlift/importers/source"
	"sheetlift/mappings"
	"sheetlift/pipeline/finding"
)

// judged says what each row of a sheet becomes under its draft, every guess confirmed: the local part of its address and the states of its consents,
// "-" for none. The columns whose rules warn are given as well.
func judged(t *testing.T, ctx *Context, file string, lines ...string) (states map[string]string, rules []string, text string) {
	t.Helper()
	d := Suggest(lookAt(file, lines...), ctx)
	if d == nil {
		t.Fatalf("nothing is suggested: %s", lines[0])
	}
	text = string(d.YAML())
	plan := regexp.MustCompile(`(?m)^ *confirm: true\n`).ReplaceAllString(text, "")
	plan = regexp.MustCompile(`(?m)^( +channel:\n(?: +#.*\n)*(?: +\w+: .*\n)* +const:)\n`).ReplaceAllString(plan, "$1 email\n") // an asked channel
	plan = regexp.MustCompile(`(?m)^( +const:)\n`).ReplaceAllString(plan, "$1 news\n")                                          // an asked purpose
	m, err := mappings.Parse("m.yaml", []byte(plan))
	if err != nil {
		t.Fatalf("%s: %v\n%s", lines[0], err, text)
	}
	b, compiled, columns := compiledFor(t, m, file, lines, text)
	for _, f := range columns {
		if strings.HasPrefix(f.Rule, "consent.") {
			rules = append(rules, f.Rule)
		}
	}
	states = map[string]string{}
	sink := finding.SinkFunc(func(finding.Finding) error { return nil })
	if err := compiled.Apply(b, sink, func(row *mappings.Row) error {
		name, _, _ := strings.Cut(strings.Split(lines[row.Num-1], "|")[0], "@")
		list := []string{}
		for _, rec := range row.Records {
			if rec.Entity.Name == "consent" {
				list = append(list, rec.Get("status").Text)
			}
		}
		states[name] = strings.Join(list, "+")
		if row.Verdict == mappings.Rejected {
			states[name] = "rejected " + row.Rule
		} else if len(list) == 0 {
			states[name] = "-"
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return states, rules, text
}

// blockOf are the lines as a sheet, with the header.
func blockOf(lines []string) *source.Block {
	width := len(strings.Split(lines[0], "|"))
	b := &source.Block{Cols: make([][]source.Cell, width)}
	for n, line := range lines {
		b.RowNum = append(b.RowNum, n+1)
		cells := strings.Split(line, "|")
		for col := range b.Cols {
			c := source.Cell{}
			if col < len(cells) && cells[col] != "" {
				c = source.Cell{Kind: source.Text, Off: uint32(len(b.Data)), Len: uint32(len(cells[col]))}
				b.Data = append(b.Data, cells[col]...)
			}
			b.Cols[col] = append(b.Cols[col], c)
		}
	}
	return b
}

// said writes states in the order of the rows' names.
func said(states map[string]string) string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(states)) {
		list = append(list, name+":"+states[name])
	}
	return strings.Join(list, " ")
}

// A yes that nobody confirmed is no consent, in whatever words the column of confirmations names its topic; and a blank beside confirmations is none.
func TestConfirmationsInOtherWords(t *testing.T) {
	for _, tc := range []struct{ header, yes, no string }{
		{"Newsletter|Double-Opt-In Werbung", "ja", "nein"},
		{"Werbeeinwilligung|DOI Mailing", "ja", "nein"},
		{"Marketing ok|Newsletter bestätigt", "ja", "nein"},
		{"Newsletter|DOI Kampagne", "ja", "nein"},
		{"Newsletter|Doppelte Einwilligung Werbung", "ja", "nein"},
		{"Newsletter|Marketing bestätigt", "ja", "nein"},
		{"Marketing consent|Double opt-in newsletter", "yes", "no"},
		{"Newsletter|Consent confirmed", "yes", "no"},
		{"Newsletter|Verified address", "yes", "no"},
		{"Newsletter|doiMarketing", "yes", "no"},
		{"Marketing emails|Subscription confirmed", "yes", "no"},
		{"Newsletter|Publicité double opt-in", "oui", "non"},
		{"Newsletter|Prospection confirmée", "oui", "non"},
		{"Infolettre|Consentement publicité confirmé", "oui", "non"},
		{"Boletín|Doble opt-in publicidad", "sí", "no"},
		{"Boletín|Novedades confirmadas", "sí", "no"},
		{"Publicidad|Suscripción confirmada", "sí", "no"},
		{"Newsletter|Doppio opt-in pubblicità", "sì", "no"},
		{"Marketing|Iscrizione confermata", "sì", "no"},
		{"Newsletter|Duplo opt-in publicidade", "sim", "não"},
		{"Publicidade|Subscrição confirmada", "sim", "não"},
		{"Nieuwsbrief|Dubbele opt-in reclame", "ja", "nee"},
		{"Reclame|Aanmelding bevestigd", "ja", "nee"},
	} {
		first, second, _ := strings.Cut(tc.header, "|")
		for name, lines := range map[string][]string{
			"after":    {"E-Mail|" + tc.header, "a@x.example|Y|Y", "b@x.example|Y|N", "c@x.example|N|N", "d@x.example|Y|", "e@x.example|N|", "f@x.example|N|Y", "g@x.example||Y"},
			"before":   {"E-Mail|" + second + "|" + first, "a@x.example|Y|Y", "b@x.example|N|Y", "c@x.example|N|N", "d@x.example||Y", "e@x.example||N", "f@x.example|Y|N", "g@x.example|Y|"},
			"days":     {"E-Mail|" + tc.header, "a@x.example|Y|14.03.2024", "b@x.example|Y|N", "c@x.example|N|N", "d@x.example|Y|", "e@x.example|N|", "f@x.example|N|15.03.2024", "g@x.example||16.03.2024"},
			"few days": {"E-Mail|" + tc.header, "a@x.example|Y|14.03.2024", "b@x.example|Y|N", "c@x.example|N|N", "d@x.example|Y|", "e@x.example|N|", "f@x.example|N|N", "g@x.example||N"},
		} {
			for i := range lines[1:] {
				lines[i+1] = strings.NewReplacer("Y", tc.yes, "N", tc.no).Replace(lines[i+1])
			}
			states, rules, text := judged(t, &ctx, "kontakte.csv", lines...)
			if got := said(states); got != "a:given b:- c:refused d:- e:refused f:refused g:-" || len(rules) > 0 {
				t.Errorf("%s, %s: %s, warns %v\n%s", tc.header, name, got, rules, text)
			}
		}
	}
}

// Exports of different sorts: which consents depend on a confirmation, and which do not.
func TestWhatIsConfirmed(t *testing.T) {
	for _, tc := range []struct{ want, lines string }{
		// One column for several answers, or for that which it names; where that is not sure, for all of them.
		{"a:given+given b:- c:refused d:refused+given", "E-Mail|Newsletter|SMS-Infos|DOI;a@x.example|ja|ja|ja;b@x.example|ja|ja|nein;c@x.example|ja|nein|;d@x.example|nein|ja|ja"},
		{"a:given+given b:- c:refused d:refused+given", "E-Mail|Newsletter|Werbung|DOI Kampagne;a@x.example|ja|ja|ja;b@x.example|ja|ja|nein;c@x.example|ja|nein|;d@x.example|nein|ja|ja"},
		{"a:given+given b:given c:given+refused d:refused+given", "E-Mail|Newsletter|Werbung|DOI Werbung;a@x.example|ja|ja|ja;b@x.example|ja|ja|nein;c@x.example|ja|nein|;d@x.example|nein|ja|ja"},
		{"a:given b:- c:- d:-", "E-Mail|Newsletter|Opt-in confirmed|Opt-in confirmed at;a@x.example|yes|yes|2024-03-14;b@x.example|yes|no|;c@x.example|yes||;d@x.example|yes|yes|"},
		{"a:given b:-", "E-Mail|Newsletter abonniert|Aktivierungslink geklickt;a@x.example|ja|ja;b@x.example|ja|nein"},
		{"a:given b:- c:-", "E-Mail|Rechtsgrundlage|DOI Werbung;a@x.example|Einwilligung|ja;b@x.example|Einwilligung|nein;c@x.example|Einwilligung|"},
		// Something else.
		{"a:given b:given c:refused", "E-Mail|Newsletter|Order confirmed;a@x.example|yes|no;b@x.example|yes|;c@x.example|no|yes"},
		{"a:given b:given c:refused", "E-Mail|Newsletter|Phone confirmed for delivery;a@x.example|yes|no;b@x.example|yes|;c@x.example|no|yes"},
		{"a:given b:given c:refused", "E-Mail|Marketing ok|Teilnahme bestätigt;a@x.example|ja|nein;b@x.example|ja|;c@x.example|nein|ja"},
		{"a:given b:given c:refused", "E-Mail|Marketing ok|IBAN verifiziert;a@x.example|ja|nein;b@x.example|ja|;c@x.example|nein|ja"},
		{"a:given b:given c:refused", "E-Mail|Newsletter|Zahlung bestätigt am;a@x.example|ja|2024-03-14;b@x.example|ja|;c@x.example|nein|"},
		{"a:given b:given c:given", "E-Mail|Newsletter|Confirmation ID;a@x.example|ja|x1;b@x.example|ja|x2;c@x.example|ja|x3"},
		// A yes to whether it is still to come.
		{"a:given b:- c:refused d:given", "E-Mail|Newsletter|Unconfirmed;a@x.example|yes|no;b@x.example|yes|yes;c@x.example|no|no;d@x.example|yes|"},
		{"a:given b:- c:refused", "E-Mail|Newsletter|Bestätigung ausstehend;a@x.example|ja|;b@x.example|ja|x;c@x.example|nein|"},
		{"a:given b:- c:refused", "E-Mail|Newsletter|En attente de confirmation;a@x.example|oui|non;b@x.example|oui|oui;c@x.example|non|"},
		{"a:given b:- c:refused", "E-Mail|Nicht bestätigt|Newsletter;a@x.example|nein|ja;b@x.example|ja|ja;c@x.example||nein"},
		// What is no yes: marks, other words, a blank beside noes alone, a word among days, days that are none.
		{"a:given b:- c:- d:- e:-", "E-Mail|Newsletter|DOI;a@x.example|ja|ja;b@x.example|ja|-;c@x.example|ja|0;d@x.example|ja|k.A.;e@x.example|ja|"},
		{"a:- b:- c:refused", "E-Mail|Newsletter|DOI Werbung;a@x.example|ja|nein;b@x.example|ja|;c@x.example|nein|"},
		{"a:given b:- c:- d:-", "E-Mail|Newsletter|DOI Werbung;a@x.example|ja|bestätigt;b@x.example|ja|Erika Mustermann;c@x.example|ja|;d@x.example|ja|nein"},
		{"a:given b:- c:- d:-", "E-Mail|Newsletter|DOI-Datum;a@x.example|ja|14.03.2024;b@x.example|ja|00.00.0000;c@x.example|ja|nein;d@x.example|ja|"},
		{"a:given b:- c:refused", "E-Mail|Newsletter|DOI IP;a@x.example|ja|192.0.2.1;b@x.example|ja|;c@x.example|nein|"},
		{"a:given b:- c:refused", "E-Mail|Newsletter|Bestätigt von;a@x.example|ja|Anna Muster;b@x.example|ja|;c@x.example|nein|Bea Muster"},
		// States: one that waits bars, and a blank does where others say that they are confirmed.
		{"a:given b:- c:given", "E-Mail|Newsletter|Status;a@x.example|yes|active;b@x.example|yes|pending;c@x.example|yes|"},
		{"a:given b:- c:-", "E-Mail|Newsletter|Opt-in status;a@x.example|yes|confirmed;b@x.example|yes|pending;c@x.example|yes|"},
		{"a:given b:- c:-", "E-Mail|Werbung|Consent status;a@x.example|yes|confirmed;b@x.example|yes|pending;c@x.example|yes|"},
		{"a:given b:-", "E-Mail|Werbung|Newsletter status;a@x.example|yes|confirmed;b@x.example|yes|pending"},
		{"a:given+given b:given", "E-Mail|SMS opt-in|E-Mail status;a@x.example|yes|active;b@x.example|yes|pending"},
		// A mail that was sent is neither an answer nor its confirmation.
		{"a:given b:- c:-", "E-Mail|Newsletter|Double-Opt-In gesendet|Double-Opt-In bestätigt;a@x.example|ja|ja|ja;b@x.example|ja|ja|nein;c@x.example|ja|ja|"},
		{"a:given b:given", "E-Mail|Newsletter|Double-Opt-In-Mail gesendet am;a@x.example|ja|2024-03-14;b@x.example|ja|"},
	} {
		states, rules, text := judged(t, &ctx, "kontakte.csv", strings.Split(tc.lines, ";")...)
		if got := said(states); got != tc.want || len(rules) > 0 {
			t.Errorf("%s\n%s, want %s, warns %v\n%s", tc.lines, got, tc.want, rules, text)
		}
	}
	for _, header := range []string{"Newsletter gesendet", "Double-Opt-In gesendet", "Newsletter opened", "Boletín enviado"} {
		if d := Suggest(lookAt("kontakte.csv", "E-Mail|"+header, "a@x.example|ja", "b@x.example|nein"), &ctx); d != nil {
			t.Errorf("%s: what became of a message is taken for an answer\n%s", header, d.YAML())
		}
	}
	// Words of confirmations that no list knows are asked for, and a column that confirms something else is named.
	for _, lines := range [][]string{{"E-Mail|Newsletter|Status DOI", "a@x.example|ja|abgehakt", "b@x.example|ja|gestartet", "c@x.example|ja|"}, {"E-Mail|Newsletter|DOI", "a@x.example|ja|durch", "b@x.example|ja|raus", "c@x.example|ja|durch"}} {
		if _, text, asked := suggested(t, lookAt("kontakte.csv", lines...)); !slices.Equal(asked, []string{"records[0].when.in", "records[1].when[0].not_in"}) || !strings.Contains(text, "No list has them") {
			t.Errorf("asks %v\n%s", asked, text)
		}
	}
	_, text, _ := suggested(t, lookAt("kontakte.csv", "E-Mail|Newsletter|Marketing bestätigt", "a@x.example|ja|ja", "b@x.example|ja|nein"))
	if !strings.Contains(strings.Join(strings.Fields(strings.ReplaceAll(text, "#", "")), " "), "by its header it is not sure that this is what it confirms") {
		t.Error(text)
	}
	if _, text, _ := suggested(t, lookAt("kontakte.csv", "E-Mail|Newsletter|Partner bestätigt", "a@x.example|ja|ja", "b@x.example|ja|nein")); !strings.Contains(text, `Attention: column C "Partner bestätigt" says by its header whether something was confirmed`) {
		t.Error(text)
	}
}

// compiledFor compiles a mapping of that text for a sheet of these lines.
func compiledFor(t *testing.T, m *mappings.Mapping, file string, lines []string, text string) (*source.Block, *mappings.Plan, []finding.Finding) {
	t.Helper()
	env := mappings.Env{Source: "s", File: file}
	b := blockOf(lines)
	p, err := mappings.NewProfiler(m, env)
	if err == nil {
		err = p.Add(b)
	}
	if err != nil {
		t.Fatal(err)
	}
	profile, err := p.Done()
	if err != nil {
		t.Fatal(err)
	}
	plan, columns, err := mappings.Compile(m, profile, env)
	if err != nil {
		t.Fatalf("%s: %v\n%s", lines[0], err, text)
	}
	return b, plan, columns
}
