package suggest

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sheetlift/mappings"
	"sheetlift/pipeline/finding"
)

// careless says who has a consent that nothing speaks against, by the local parts of the addresses, after somebody took every guess of the draft for granted and
// named the channels and purposes that it asks for; "asked" if the draft asks for more, and "nothing" where nothing is drafted.
func careless(t *testing.T, file string, lines ...string) (given, text string) {
	t.Helper()
	l := lookAt(file, lines...)
	if strings.HasPrefix(file, "sheet ") {
		l = lookAt("kontakte.xlsx", lines...)
		l.Sheet = strings.TrimPrefix(file, "sheet ")
	}
	d := Suggest(l, &ctx)
	if d == nil {
		return "nothing", ""
	}
	text = string(d.YAML())
	plan := regexp.MustCompile(`(?m)^ *confirm: true\n`).ReplaceAllString(text, "")
	plan = regexp.MustCompile(`(?m)^( +channel:\n(?: +#.*\n)*(?: +\w+: .*\n)* +const:)\n`).ReplaceAllString(plan, "$1 email\n")
	plan = regexp.MustCompile(`(?m)^( +purpose:\n(?: +#.*\n)*(?: +\w+: .*\n)* +const:)\n`).ReplaceAllString(plan, "$1 news\n")
	m, err := mappings.Parse("m.yaml", []byte(plan))
	if err != nil {
		return "asked", text
	}
	b, compiled, _ := compiledFor(t, m, file, lines, text)
	yes, no := map[string]bool{}, map[string]bool{}
	if err := compiled.Apply(b, finding.SinkFunc(func(finding.Finding) error { return nil }), func(row *mappings.Row) error {
		name, _, _ := strings.Cut(strings.Split(lines[row.Num-1], "|")[0], "@")
		for _, rec := range row.Records {
			switch {
			case rec.Entity.Name == "suppression", rec.Entity.Name == "consent" && rec.Get("status").Text != "given":
				no[name] = true
			case rec.Entity.Name == "consent":
				yes[name] = true
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	maps.DeleteFunc(yes, func(name string, _ bool) bool { return no[name] })
	return strings.Join(slices.Sorted(maps.Keys(yes)), ""), text
}

// A column that confirms the leaving, or says that an address takes no mail or that a confirmation failed, is no confirmation of an answer: who has a yes there
// is not given, and a true column of confirmations beside it counts.
func TestConfirmedLeavingGivesNothing(t *testing.T) {
	sure := "Unsubscribe confirmed|Unsubscribed (confirmed)|Widerruf bestätigt|Opt-out bestätigt|Opt-out verified|Désinscription confirmée|Suppression validée|Baja confirmada|Objection confirmed|Complaint verified|Hard bounce confirmed|Double opt-out|Email invalide|Invalid email|" +
		"Consentement invalidé|Invalidated|Correo inválido|E-Mail ungültig|Confirmation failed|Verification failed|Bestätigung fehlgeschlagen|Confirmation échouée|Confirmación fallida|Conferma fallita|Confirmação falhou|Bevestiging mislukt|DOI verweigert|DOI abgelaufen|Confirmation bounced|Sin confirmar|À confirmer|Da confermare|Noch zu bestätigen|Adresse verifiziert falsch"
	doubtful := "Kündigung bestätigt|Austritt bestätigt|Löschung bestätigt|Cancellazione confermata|Uitschrijving bevestigd|Opzegging bevestigd|Cancelamento confirmado|Cancellation confirmed|Deletion confirmed|Erasure verified|Résiliation confirmée|Eliminación confirmada|Verwijdering bevestigd|" +
		"Kündigung|Austritt|Deleted|Resignation"
	for header := range strings.SplitSeq(sure+"|"+doubtful, "|") {
		want := "a"
		if strings.Contains(doubtful, header) {
			want = "asked"
		}
		for beside, lines := range map[string][]string{
			"yes and no":          {"E-Mail|Newsletter|" + header, "a@x.example|yes|no", "b@x.example|yes|yes"},
			"a mark":              {"E-Mail|" + header + "|Newsletter", "a@x.example||yes", "b@x.example|x|yes"},
			"a true confirmation": {"E-Mail|Newsletter|" + header + "|Confirmed", "a@x.example|yes|no|yes", "b@x.example|yes|yes|yes", "c@x.example|yes|no|no"},
			"days":                {"E-Mail|Newsletter|" + header, "a@x.example|yes|", "b@x.example|yes|2024-03-14"},
		} {
			given, text := careless(t, "kontakte.csv", lines...)
			if given != want && (given != "asked" || beside != "days") {
				t.Errorf("%s beside %s: %s\n%s", header, beside, given, text)
			}
		}
	}
	// Words that no list knows are asked for.
	for _, header := range []string{"Confirmation failed", "Unsubscribe confirmed", "Kündigung bestätigt"} {
		if given, text := careless(t, "kontakte.csv", "E-Mail|Newsletter|"+header, "a@x.example|yes|", "b@x.example|yes|by post"); given != "asked" {
			t.Errorf("%s: %s\n%s", header, given, text)
		}
	}
	// What these say is that an answer was confirmed, or something else.
	for header := range strings.SplitSeq("Confirmed|Double opt-in|Doppelte Einwilligung|E-Mail validée|Email vérifié|Reclame bevestigd|Opt-in finalizado confirmado|Newsletter bestätigt", "|") {
		if given, text := careless(t, "kontakte.csv", "E-Mail|Newsletter|"+header, "a@x.example|yes|yes", "b@x.example|yes|no"); given != "a" {
			t.Errorf("%s: %s\n%s", header, given, text)
		}
	}
	for header := range strings.SplitSeq("Order cancelled|Erasmus|Entfernung|Spam score|Bezirk|Blockchain", "|") {
		if given, text := careless(t, "kontakte.csv", "E-Mail|Newsletter|"+header, "a@x.example|yes|yes", "b@x.example|yes|no"); given != "ab" {
			t.Errorf("%s: %s\n%s", header, given, text)
		}
	}
}

// A sign makes another word: -1 is a code that is asked for, and neither -ja nor !ja a yes.
func TestSignsMakeOtherWords(t *testing.T) {
	for lines, want := range map[string]string{
		"E-Mail|Newsletter;a@x.example|1;b@x.example|-1":                              "asked",
		"E-Mail|Newsletter;a@x.example|-1;b@x.example|0":                              "asked",
		"E-Mail|Newsletter;a@x.example|1;b@x.example|- 1":                             "asked",
		"E-Mail|Newsletter;a@x.example|1;b@x.example|1-":                              "asked",
		"E-Mail|Newsletter;a@x.example|ja;b@x.example|−1":                             "a",
		"E-Mail|Newsletter|Confirmed;a@x.example|yes|1;b@x.example|yes|-1":            "asked",
		"E-Mail|Newsletter|Confirmed;a@x.example|yes|-1;b@x.example|yes|0":            "asked",
		"E-Mail|Newsletter|Unsubscribed;a@x.example|yes|0;b@x.example|yes|-1":         "asked",
		"E-Mail|Newsletter|Unsubscribed;a@x.example|yes|;b@x.example|yes|-yes":        "asked",
		"E-Mail|Newsletter;a@x.example|ja;b@x.example|-ja;c@x.example|nein":           "a",
		"E-Mail|Newsletter;a@x.example|ja;b@x.example|!ja;c@x.example|nein":           "a",
		"E-Mail|Newsletter;a@x.example|x;b@x.example|-x":                              "a",
		"E-Mail|Newsletter;a@x.example|ja;b@x.example|ja-":                            "a",
		"E-Mail|Newsletter|Confirmed;a@x.example|yes|yes;b@x.example|yes|!yes":        "a",
		"E-Mail|Newsletter;a@x.example|Yes, please!;b@x.example|yes!;c@x.example|no!": "ab",
		"E-Mail|Newsletter;a@x.example|- ja;b@x.example|nein":                         "a",
		"E-Mail|Newsletter;a@x.example|opt-in;b@x.example|opted_in;c@x.example|-":     "ab",
	} {
		if given, text := careless(t, "kontakte.csv", strings.Split(lines, ";")...); given != want {
			t.Errorf("%s: %s, want %s\n%s", lines, given, want, text)
		}
	}
}

// A yes under a verb of leaving is no consent: the column is asked about, or taken for an opt-out.
func TestVerbsOfLeaving(t *testing.T) {
	for header := range strings.SplitSeq("Leave newsletter|Leave mailing list|Quit newsletter|Exit newsletter|Drop newsletter|Mute newsletter|Skip newsletter|Against newsletter|Take me off the newsletter|End subscription|Newsletter: leave|Newsletter: out|Newsletter (tick to leave)|Newsletter (x = stop)|Newsletter (tick to stop receiving)|"+
		"Newsletter (no more)|Newsletter / end subscription|Newsletter fatigue / end subscription|Delete from newsletter|Newsletter verlassen|Newsletter raus|Newsletter loswerden|Newsletter einstellen|Newsletter beenden|Newsletter kündigen|Newsletter löschen|Gegen Newsletter|Newsletter stummgeschaltet|"+
		"Quitter la newsletter|Abandonner l'infolettre|Fin abonnement newsletter|Contre la newsletter|Supprimer de la newsletter|Salir del boletín|Dejar de recibir boletín|Fin de suscripción|Terminar boletín|Lascia la newsletter|Esci dalla newsletter|Newsletter non più|Fine iscrizione newsletter|Eliminare dalla newsletter|"+
		"Sair da newsletter|Deixar de receber newsletter|Fim da subscrição|Nieuwsbrief verlaten|Nieuwsbrief stopzetten|Einde nieuwsbrief", "|") {
		for _, lines := range [][]string{
			{"E-Mail|" + header, "a@x.example|no", "b@x.example|yes"},
			{"E-Mail|" + header, "a@x.example|", "b@x.example|x"},
			{"E-Mail|Newsletter|" + header, "a@x.example|yes|no", "b@x.example|yes|yes"},
		} {
			if given, text := careless(t, "kontakte.csv", lines...); strings.Contains(given, "b") {
				t.Errorf("%s: %s\n%s", header, given, text)
			}
		}
	}
	for header := range strings.SplitSeq("Newsletter|Week-end newsletter|Weekend newsletter|Newsletter Einstellungen|One-stop newsletter|Non-stop newsletter|Dropbox newsletter|Finanz-Newsletter|Newsletter ab Herbst|Outdoor newsletter|Newsletter final", "|") {
		if given, text := careless(t, "kontakte.csv", "E-Mail|"+header, "a@x.example|ja", "b@x.example|nein"); given != "a" {
			t.Errorf("%s: %s\n%s", header, given, text)
		}
	}
}

// A sheet or file that is called unconfirmed, pending or former gives no consents until a person says so.
func TestFormerOrPendingNames(t *testing.T) {
	for name := range strings.SplitSeq("Unbestätigt|Nicht bestätigt|Ausstehend|Ehemalige|Ehemalige Mitglieder|Frühere Kunden|Gekündigt|Ausgetretene|Gelöscht|Offen|Verstorbene|Unconfirmed|Not confirmed|Pending|Former members|Ex-members|Cancelled members|Lapsed|Left|Deleted|Deceased|Invalid|Awaiting confirmation|"+
		"Ex-membres|Anciens adhérents|En attente|Non confirmés|Résiliés|Supprimés|Antiguos socios|Ex socios|Pendientes|Sin confirmar|Cancelados|Ex soci|Non confermati|In attesa|Cancellati|Ex-sócios|Antigos clientes|Pendentes|Não confirmados|Oud-leden|Alte Mitglieder|Old customers|Voormalige leden|Niet bevestigd|In afwachting|Opgezegd|"+
		"Non attivi|Não ativos|Niet actief|Stopzetting|Rücklauf|Papierkorb|Old|Old contacts|Kontakte alt|Trash|Black|Archiv|Archive 2019|Alt|Corbeille|Papelera|Cestino|Prullenbak|Oud", "|") {
		for _, file := range []string{"sheet " + name, strings.ToLower(strings.ReplaceAll(name, " ", "_")) + ".csv", "newsletter-" + strings.ToLower(name) + ".csv"} {
			if given, text := careless(t, file, "E-Mail|Newsletter", "a@x.example|ja", "b@x.example|ja"); given != "asked" {
				t.Errorf("%s: %s\n%s", file, given, text)
			}
		}
	}
	for name := range strings.SplitSeq("Mitglieder|Kunden 2024|Newsletter|Bestätigt|Confirmed|Attendees|Offenbach|Esperanza|Export|Extern|Exeter|Ex 2023|Members|Angebote|Entfernungen|Sociedad Limitada|Contacts export|Altona|Old Town Club|Bad Homburg|Total|Architekten|Black Forest", "|") {
		for _, file := range []string{"sheet " + name, strings.ToLower(strings.ReplaceAll(name, " ", "_")) + ".csv"} {
			if given, text := careless(t, file, "E-Mail|Newsletter", "a@x.example|ja", "b@x.example|nein"); given != "a" {
				t.Errorf("%s: %s\n%s", file, given, text)
			}
		}
	}
}

// Where it is asked whether all in a sheet said yes, the name that speaks against it stands in the question, and the draft is no mapping until it is decided.
func TestFormerWithoutAnAnswer(t *testing.T) {
	lines := []string{"Email|Name|Joined", "a@x.example|A|13.01.2023", "b@x.example|B|14.01.2023"}
	for name := range strings.SplitSeq("Left|Unconfirmed|Gone|Churned|Zu löschen|Former|Archiv", "|") {
		given, text := careless(t, "sheet "+name, lines...)
		said := strings.Join(strings.Fields(strings.ReplaceAll(text, "#", "")), " ")
		if given != "asked" || !strings.Contains(text, "in: []") || !strings.Contains(said, `have not confirmed ("`+name+`"): then hardly everybody said yes`) {
			t.Errorf("%s: %s\n%s", name, given, text)
		}
	}
	if given, text := careless(t, "sheet Members", lines...); given != "asked" || strings.Contains(text, "in: []") || strings.Contains(text, "hardly") {
		t.Errorf("%s\n%s", given, text)
	}
}

// States, days and ends beside an answer that nothing reads are asked about: whoever is out would come in as given.
func TestEndsBesideAnAnswer(t *testing.T) {
	for lines, names := range map[string]string{
		"Abo-Status;aktiv;gekündigt;ruhend":       `"Abo-Status"`,
		"Abo;;beendet":                            `"Abo"`,
		"Abo;aktiv;beendet":                       `"Abo"`,
		"Account status;;closed by user":          `"Account status"`,
		"Account status;open;closed by user":      `"Account status"`,
		"Mitgliedsstatus;Mitglied;ausgetreten":    `"Mitgliedsstatus"`,
		"Statut adhérent;à jour;radié":            `"Statut adhérent"`,
		"Kundenstatus;Stammkunde;ehemalig":        `"Kundenstatus"`,
		"Account;open;closed":                     `"Account"`,
		"Mail status;ok;opted out;ok;fine":        `"Mail status"`,
		"Tags;vip;vip, do-not-mail":               `"Tags"`,
		"Flags;VIP;NOMAIL":                        `"Flags"`,
		"Estado socio;activo;causó baja":          `"Estado socio"`,
		"Stato socio;attivo;dimesso, deceduto":    `"Stato socio"`,
		"Lidmaatschap;;opgezegd":                  `"Lidmaatschap"`,
		"Typ;Mitglied;verstorben":                 `"Typ"`,
		"Löschdatum;;13.04.2024":                  `"Löschdatum"`,
		"Löschvermerk;;x":                         `"Löschvermerk"`,
		"Austrittsdatum;;13.04.2024":              `"Austrittsdatum"`,
		"Ausgetreten;;2020":                       `"Ausgetreten"`,
		"Verstorben am;;13.04.2024":               `"Verstorben am"`,
		"Date de sortie;;13/04/2024":              `"Date de sortie"`,
		"Fecha de salida;;13/04/2024":             `"Fecha de salida"`,
		"Data uscita;;13/04/2024":                 `"Data uscita"`,
		"Data de saída;;13/04/2024":               `"Data de saída"`,
		"bis;;13.04.2024":                         `"bis"`,
		"Adhésion jusqu'au;;2020":                 `"Adhésion jusqu'au"`,
		"Subscription end date;;2024-04-13":       `"Subscription end date"`,
		"Lid tot;;2020":                           `"Lid tot"`,
		"Socio hasta;;2020":                       `"Socio hasta"`,
		"Retoure;;3":                              `"Retoure"`,
		"Kündigung;;bestätigt":                    `"Kündigung"`,
		"Removal date;;2024-04-13":                `"Removal date"`,
		"deleted_at;;2024-04-13":                  `"deleted_at"`,
		"Data cancellazione;;13/04/2024":          `"Data cancellazione"`,
		"Résilié le;;13/04/2024":                  `"Résilié le"`,
		"Member state;current;left the club 2019": `"Member state"`,
	} {
		cells := strings.Split(lines, ";")
		rows := []string{"E-Mail|Name|Newsletter|" + cells[0]}
		for i, cell := range cells[1:] {
			rows = append(rows, string(rune('a'+i))+"@x.example|N|ja|"+cell)
		}
		if given, text := careless(t, "kontakte.csv", rows...); given != "asked" || !strings.Contains(strings.Join(strings.Fields(strings.ReplaceAll(text, "#", "")), " "), names) || strings.Contains(text, "by user") {
			t.Errorf("%s: %s\n%s", lines, given, text)
		}
	}
	// Many states that no draft shows.
	rows := []string{"E-Mail|Newsletter|Account status"}
	for i := range 200 {
		rows = append(rows, string(rune('a'+i%26))+"@x.example|ja|reviewed by clerk number "+strings.Repeat("i", i%60+1))
	}
	if given, text := careless(t, "kontakte.csv", append(slices.Clone(rows), "z@x.example|ja|closed by customer")...); given != "asked" {
		t.Errorf("many states: %s\n%s", given, text)
	}
	if given, text := careless(t, "kontakte.csv", rows...); given == "asked" {
		t.Errorf("many states: %s\n%s", given, text)
	}
	// What ended is something else, or nothing did.
	for _, lines := range []string{"Bestellstatus;storniert;bezahlt", "Order status;cancelled;shipped", "Kundenstatus;Gold;Silber", "Kundentyp;Privat;Firma", "Hand;left;right", "Mitgliedsname;Hans Loesch;Anna Block", "Customer;Hans Loesch;Anna Block", "Kündigung;nein;", "Retoure;0;", "Deleted;0;0", "Left;no;no", "Abo;aktiv;", "Weekend;x;", "Erasmus;2020;"} {
		cells := strings.Split(lines, ";")
		if given, text := careless(t, "kontakte.csv", "E-Mail|Newsletter|"+cells[0], "a@x.example|ja|"+cells[1], "b@x.example|ja|"+cells[2]); given != "ab" {
			t.Errorf("%s: %s\n%s", lines, given, text)
		}
	}
}

// Words that speak against the consent of a person in a column that nothing reads keep a draft from being a mapping, among them the rights of the GDPR; those of an
// order, of an address and of something else do not.
func TestWordsAgainstConsentAreAskedAbout(t *testing.T) {
	for lines, want := range map[string]string{
		"E-Mail|Newsletter|Anmeldung|DSGVO;a@x.example|ja|13.01.2023|ok;b@x.example|ja|14.01.2023|Art. 21;c@x.example|ja|14.01.2023|gelöscht": "asked",
		"E-Mail|Newsletter|DSGVO;a@x.example|ja|ok;b@x.example|ja|Art. 17 DSGVO":                                                              "asked",
		"E-Mail|Newsletter|Datenschutz;a@x.example|ja|ok;b@x.example|ja|Art. 7 Abs. 3":                                                        "asked",
		"E-Mail|Newsletter|RGPD;a@x.example|oui|ok;b@x.example|oui|droit à l'oubli":                                                           "asked",
		"Email|GDPR consent date|GDPR status;a@x.example|2023-01-13|valid;b@x.example|2023-01-13|revoked":                                     "",
		"Email|GDPR consent date|GDPR status;a@x.example|2023-01-13|valid;b@x.example|2023-01-13|requested deletion":                          "asked",
		"Email|Newsletter|Last campaign activity;a@x.example|yes|opened;b@x.example|yes|opted out":                                            "asked",
		"Email|Newsletter|List;a@x.example|yes|Main;b@x.example|yes|Unsubscribed":                                                             "asked",
		"Email|Newsletter|List;a@x.example|yes|Main;b@x.example|yes|Blacklist":                                                                "asked",
		"Email|Newsletter|List;a@x.example|yes|Main;b@x.example|yes|Other":                                                                    "ab",
		"E-Mail|Newsletter|Rechtsgrundlage;a@x.example|ja|Art. 6 Abs. 1 a;b@x.example|ja|Art. 6 Abs. 1 a":                                     "ab",
		"E-Mail|Newsletter|Bestellstatus;a@x.example|ja|deleted;b@x.example|ja|ok":                                                            "ab",
		"E-Mail|Newsletter|Löschfrist;a@x.example|ja|Löschung;b@x.example|ja|Löschung":                                                        "ab",
		"E-Mail|Newsletter|Grund;a@x.example|ja|Umzug;b@x.example|ja|Löschung":                                                                "asked",
		"Email|Newsletter|Reason;a@x.example|yes|fair;b@x.example|yes|revoked":                                                                "asked",
		"E-Mail|Newsletter|Wunsch;a@x.example|ja|Termin;b@x.example|ja|bitte löschen":                                                         "asked",
		"E-Mail|Newsletter|Titel;a@x.example|ja|keine;b@x.example|ja|Dr.":                                                                     "ab",
		"Email|Newsletter|Civilité;a@x.example|oui|aucune;b@x.example|oui|Mme":                                                                "ab",
		"Email|Last name|Newsletter;a@x.example|Stop|yes;b@x.example|Miller|yes":                                                              "ab",
		"Email|Newsletter|Color;a@x.example|yes|Block;b@x.example|yes|Red":                                                                    "ab",
		"E-Mail|Newsletter|Data quality;a@x.example|ja|cleaned;b@x.example|ja|ok":                                                             "ab",
	} {
		file := "newsletter.csv"
		if given, text := careless(t, file, strings.Split(lines, ";")...); given != want || want == "asked" && !strings.Contains(text, "in: []") {
			t.Errorf("%s: %s, want %s\n%s", lines, given, want, text)
		}
	}
}

// What a list is called that is put away.
func TestPutAwayNames(t *testing.T) {
	for name, want := range map[string]bool{"Archiv": true, "Kundenarchiv": true, "zz_old": true, "Kunden_old": true, "x old": true, "inaktive Kontakte": true, "Kontakte inaktiv": true,
		"inactive contacts": true, "Inactifs": true, "Ehem. Kunden": true, "Old contacts": true, "Archivare": false, "Oldenburg": false, "Old price": false,
		"Aktive Kontakte": false, "Kunden": false} {
		if got := mappings.PutAway(name) || mappings.FormerOrPending(name); got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}
