package presets

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sheetlift/importers/source"
	"sheetlift/importers/source/open"
	"sheetlift/mappings"
	"sheetlift/mappings/suggest"
)

// look reads a text file as init does.
func look(t *testing.T, path string) *suggest.Look {
	t.Helper()
	book, err := open.File(t.Context(), path, source.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer book.Close()
	rd, err := book.Read(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	defer rd.Close()
	var l *suggest.Look
	for {
		b, err := rd.Next()
		if err != nil {
			return l
		}
		if l == nil {
			l = suggest.NewLook(filepath.Base(path), "", 1, b.RowNum[0], mappings.HeaderNames(b, 0))
		}
		l.Add(b)
	}
}

// The exports of the field that may be there to test with are recognised; those that no layout is documented for are not.
func TestRecognisesRealExports(t *testing.T) {
	dir := os.Getenv("SHEETLIFT_CORPUS")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "corpus") // beside the checkout
	}
	dir = filepath.Join(dir, "privacy-exports")
	if _, err := os.Stat(dir); err != nil {
		t.Skip("no corpus of real exports here: SHEETLIFT_CORPUS names its folder")
	}
	for file, want := range map[string]string{
		"mailchimp-full-header.csv":                  "mailchimp",
		"mailchimp-italian-header.csv":               "mailchimp",
		"mailchimp-subscribed.csv":                   "mailchimp",
		"unsubscribed_email_audience_export_abc.csv": "mailchimp",
		"klaviyo-export-states.csv":                  "klaviyo",
		"shopify-customers.csv":                      "shopify",
		"shopify-orders.csv":                         "",
		"brevo.csv":                                  "brevo",
		"hubspot-contacts.csv":                       "hubspot",
		"mailpoet-tracking-consent.csv":              "mailpoet",
		"fides-privacy-requests-header.csv":          "fides",
		"activecampaign.csv":                         "activecampaign",
		"kit-convertkit.csv":                         "kit",
		"wpeka-consent-log-header.csv":               "",
		"generic-dup-headers.csv":                    "",
		"duplicate-mixed-columns.csv":                "",
		"import-errors.csv":                          "",
	} {
		l := look(t, filepath.Join(dir, file))
		got := ""
		if f := Find(l); f != nil {
			got = f.Preset.Name
			text := string(f.Draft(&suggest.Context{Name: "x", Purposes: []suggest.Purpose{{Code: "news", Name: "News"}}, By: mappings.StatedBy{Name: "A role", At: "2026-10-01"}}).YAML())
			if strings.Contains(text, "@") {
				t.Errorf("%s: the draft holds an address:\n%s", file, text)
			}
			blank := strings.Contains(text, "const:\n") // what only a person knows, such as the status that the file's name should say
			if _, err := mappings.Parse(file, []byte(text)); (err != nil) != blank && file != "hubspot-contacts.csv" {
				t.Errorf("%s: blank %v, %v\n%s", file, blank, err, text)
			}
		}
		if got != want {
			t.Errorf("%s is taken for %q, want %q", file, got, want)
		}
	}
}

// sheet looks at rows of texts, the first of which is the header.
func sheet(t *testing.T, file string, lines ...string) *suggest.Look {
	t.Helper()
	path := filepath.Join(t.TempDir(), file)
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return look(t, path)
}

var two = suggest.Context{Name: "x", Purposes: []suggest.Purpose{{Code: "news", Name: "Newsletter"}, {Code: "ads", Name: "Advertising"}}, By: mappings.StatedBy{Name: "A role", At: "2026-10-01"}}

// Where the preset would ask whether all in the file are subscribed, a column that says so of each goes before it; where the file's name says it, the column is named.
func TestStatusOfEachBesideAKnownExport(t *testing.T) {
	lines := []string{"Email Address,First Name,OPTIN_TIME,CONFIRM_TIME,MEMBER_RATING,Status", "a@example.com,A,2024-01-02 10:00:00,2024-01-02 10:05:00,2,subscribed", "b@example.com,B,2024-01-02 10:00:00,2024-01-02 10:05:00,2,unsubscribed", "c@example.com,C,2024-01-02 10:00:00,,2,pending"}
	if f := Find(sheet(t, "members.csv", lines...)); f != nil {
		t.Errorf("taken for %s, which asks for the status of all", f.Preset.Name)
	}
	f := Find(sheet(t, "subscribed_members_export_1.csv", lines...))
	if f == nil || !strings.Contains(string(f.Draft(&two).YAML()), `Attention: column F "Status" seems to answer`) {
		t.Errorf("not taken, or nothing is said of the status: %+v", f)
	}
	if f := Find(sheet(t, "members.csv", "Email Address,First Name,OPTIN_TIME,CONFIRM_TIME,MEMBER_RATING,Country", "a@example.com,A,2024-01-02 10:00:00,2024-01-02 10:05:00,2,DE")); f == nil {
		t.Error("an export without such a column is not taken")
	}
}

// A file that only resembles a known export is not taken for one.
func TestForeignFilesAreNotTaken(t *testing.T) {
	for name, lines := range map[string][]string{
		"a customer system with an answer of its own": {"Record ID,First Name,Last Name,Email,Lead Status,Newsletter", "1,A,B,a@example.com,New,yes", "2,A,B,b@example.com,New,no"},
		"contacts with record ids":                    {"Record ID,First Name,Last Name,Email", "1,A,B,a@example.com"},
		"an id beside do not call":                    {"ID,Email,Do Not Call", "1,a@example.com,TRUE"},
		"accounts with a state":                       {"first_name,email,created_at,status", "A,a@example.com,2024-03-14,open", "B,b@example.com,2024-03-14,closed"},
		"subscribers in other words":                  {"Email,First Name,Last Name,Date Created,IP,Status", "a@example.com,A,B,2024-03-14,1.1.1.1,subscribed", "b@example.com,A,B,2024-03-14,1.1.1.1,unsubscribed"},
		"tickets of a help desk":                      {"Ticket ID,Request type,Received,Status", "1,Hardware,2024-03-14,open", "2,Password reset,2024-03-14,closed"},
		"orders":                                      {"Id,Email,Accepts Marketing,Total", "1,a@example.com,yes,10"},
	} {
		if f := Find(sheet(t, "export.csv", lines...)); f != nil {
			t.Errorf("%s: taken for %s, %s", name, f.Preset.Name, f.Evidence)
		}
	}
}

// Exports of other years, plans and languages of a known system are drafted by its preset; has and hasNot are what the draft says.
func TestLayoutsOfOtherYears(t *testing.T) {
	for name, tc := range map[string]struct {
		preset, file string
		lines        []string
		has, hasNot  []string
	}{
		"mailchimp, unsubscribed: no purpose is stated": {"mailchimp", "unsubscribed_email_audience_export_9f.csv", []string{"Email Address,MEMBER_RATING,OPTIN_TIME,CONFIRM_TIME,UNSUB_TIME,LEID,EUID", "a@example.com,2,2020-01-01 10:00:00,,2024-03-14 10:00:00,1,x"},
			[]string{"const: withdrawn", "from: UNSUB_TIME"}, []string{"purpose:"}},
		"mailchimp, an answer of its own": {"mailchimp", "subscribed_email_audience_export_9f.csv", []string{"Email Address,MEMBER_RATING,OPTIN_TIME,LEID,EUID,Email permission", "a@example.com,2,2020-01-01 10:00:00,1,x,yes", "b@example.com,2,2020-01-01 10:00:00,2,y,no"},
			[]string{`"Email permission" seems to answer about consent`}, nil},
		"klaviyo, text messages": {"klaviyo", "list.csv", []string{"Email,Klaviyo ID,Phone Number,Email Marketing Consent,SMS Marketing Consent,SMS Marketing Consent Timestamp,SMS Suppressions", "a@example.com,k1,+4915112345678,SUBSCRIBED,UNSUBSCRIBED,2024-03-14T10:00:00Z,"},
			[]string{"from: SMS Marketing Consent\n", "const: sms", "from: SMS Suppressions\n"}, nil},
		"shopify, before channels": {"shopify", "customers_export.csv", []string{"First Name,Last Name,Email,Phone,Accepts Marketing,Total Spent,Total Orders", "A,B,a@example.com,,yes,0,0"},
			[]string{"from: Accepts Marketing\n"}, nil},
		"brevo, a no beside the double opt-in": {"brevo", "brevo.csv", []string{"EMAIL;OPT_IN;DOUBLE_OPT-IN;EMAIL_BLACKLISTED", "a@example.com;No;;No", "b@example.com;Yes;Yes;No"},
			[]string{`refused: ["No", "0", "false"]`}, nil},
		"hubspot, opt-outs alone": {"hubspot", "contacts.csv", []string{"Record ID,Email,Unsubscribed from all email", "1,a@example.com,true"},
			[]string{"entity: suppression", "const: opt_out"}, []string{"entity: consent"}},
		"hubspot, an opt-out of marketing e-mails": {"hubspot", "contacts.csv", []string{"Record ID,Email,Lead Status,Opted out of email: Marketing Information,Unsubscribed from all email", "1,a@example.com,New,true,", "2,b@example.com,New,,true"},
			[]string{"entity: suppression", `status:
        from: "Opted out of email: Marketing Information"`, "polarity: inverted"}, nil},
		"salesforce, labels of a report": {"salesforce", "consents.csv", []string{"ContactPointTypeConsentId,PartyId,Contact Point Type,DataUsePurposeId,Privacy Consent Status,Capture Date", "0ZX1,0PK1,Email,0ZW1,Opt In,2024-03-14T10:00:00.000Z"},
			[]string{"external_id:\n        from: ContactPointTypeConsentId", "given: [OptIn, Opt In]", "withdrawn: [OptOut, Opt Out]"}, nil},
		"salesforce, consents without a number": {"salesforce", "consents.csv", []string{"PartyId,ContactPointType,DataUsePurposeId,PrivacyConsentStatus,CaptureDate", "0PK1,Email,0ZW1,OptIn,2024-03-14T10:00:00.000Z"},
			[]string{"key: [subject_id, purpose, channel]"}, []string{"external_id"}},
		"salesforce, consents to a subscription": {"salesforce", "CommSubscriptionConsent.csv", []string{"Id,ConsentCapturedDateTime,ConsentCapturedSource,PrivacyConsentStatus,PartyId,CommSubscriptionId", "0Xl1,2024-03-14T10:00:00.000Z,web,OptIn,0PK1,x"},
			[]string{"from: ConsentCapturedDateTime", "subject_id:\n        from: PartyId"}, nil},
		"salesforce, individuals": {"salesforce", "Individual.csv", []string{"ID,HASOPTEDOUTTRACKING,HASOPTEDOUTPROCESSING,HASOPTEDOUTSOLICIT", "0PK1,false,false,true", "0PK2,true,true,true"},
			[]string{"const: any", "from: HASOPTEDOUTSOLICIT", `"HASOPTEDOUTTRACKING" seems to answer about consent`}, []string{"purpose:"}},
		"onetrust, addresses without the number of a receipt": {"onetrust", "receipts.csv", []string{"Identifier,Purpose,Transaction Type,Consent Date", "a@example.com,news,CONFIRMED,2024-03-14T09:12:31Z", "cust-2,news,WITHDRAWN,2024-03-14T09:12:31Z"},
			[]string{"key: [external_id, purpose]", "external_id:\n        from: Identifier"}, nil},
		"shopify, words of a state beside it": {"shopify", "customers_export.csv", []string{"Customer ID,Email,Accepts Email Marketing,Mail state", "1,a@example.com,yes,blocklisted"},
			[]string{`{ column: Mail state, in: [] }`}, nil}, // nobody has decided yet
		"requests, rights in other words": {"dsar", "dsar.csv", []string{"Case No,Request type,Received,Due,Status", "1,Auskunft,2026-03-14,2026-04-14,erledigt", "2,Right to erasure (Art. 17),2026-03-14,2026-04-14,offen"},
			[]string{`access: [access, SAR, DSAR, "subject access", "subject access request", "right of access", Auskunft]`}, nil},
		"requests, two rights under one number": {"dsar", "dsar.csv", []string{"Case No,Request type,Received,Requester email", "1,access,2026-03-14,a@example.com", "1,erasure,2026-03-14,a@example.com"},
			[]string{"key: [external_id, request_type]"}, nil},
		"issues, kinds that are no right": {"dsar", "jira.csv", []string{"Summary,Issue key,Issue id,Issue Type,Status,Created", "a,P-1,1,Epic,Done,12/Mar/25 2:15 PM", "b,P-2,2,Task,Done,12/Mar/25 2:15 PM", "c,P-3,3,Sub-task,Done,12/Mar/25 2:15 PM", "d,P-4,4,Access,Done,12/Mar/25 2:15 PM"},
			[]string{"column: Issue Type", "2 of 4 rows hold such a word", "other: [other, task, story"}, []string{"would be rejected"}},
		"issues, rights alone": {"dsar", "jira.csv", []string{"Summary,Issue key,Issue id,Issue Type,Status,Created", "d,P-4,4,Access,Done,12/Mar/25 2:15 PM"},
			nil, []string{"column: Issue Type"}},
		"a register without numbers": {"ropa", "vvt.csv", []string{"Verarbeitungstätigkeit;Rechtsgrundlage;Kategorien betroffener Personen;Kategorien personenbezogener Daten;Empfänger", "Lohn;Art. 6 Abs. 1 lit. b DSGVO;Beschäftigte;Stammdaten;Bank"},
			[]string{"activity_id:\n        from: \"Verarbeitungstätigkeit\"", "Art. 6 Abs. 1 lit. b DSGVO"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			f := Find(sheet(t, tc.file, tc.lines...))
			if f == nil || f.Preset.Name != tc.preset {
				t.Fatalf("taken for %+v, want %s", f, tc.preset)
			}
			text := string(f.Draft(&two).YAML())
			_, err := mappings.Parse("x.yaml", []byte(text))
			if asks := strings.Contains(text, "in: []"); (err != nil) != asks || asks && !strings.Contains(err.Error(), "before somebody has decided") {
				t.Errorf("%v\n%s", err, text)
			}
			for _, want := range tc.has {
				if !strings.Contains(text, want) && !strings.Contains(strings.ReplaceAll(text, `"`, ""), strings.ReplaceAll(want, `"`, "")) {
					t.Errorf("does not say %q\n%s", want, text)
				}
			}
			for _, not := range tc.hasNot {
				if strings.Contains(text, not) {
					t.Errorf("says %q\n%s", not, text)
				}
			}
		})
	}
}

// The time of an upload is no time of consent, in whatever language the source says so.
func TestImportsInOtherLanguages(t *testing.T) {
	f := Find(sheet(t, "subscribed_email_audience_export_9f.csv", "Email Address,OPTIN_TIME,LEID,EUID,SOURCE", "a@example.com,2024-03-14 09:12:31,1,x,Listenimport aus Datei"))
	d := f.Draft(&two)
	for _, field := range d.Records[0].Fields {
		if field.Name != "occurred_at" {
			continue
		}
		expr := regexp.MustCompile(field.Spec.When[0].NotMatches)
		for _, source := range []string{"List Import from file", "Listenimport aus Datei", "Import depuis un fichier", "Importación de lista", "Importazione da file", "Importação de arquivo", "Geïmporteerde lijst", "Admin Add"} {
			if !expr.MatchString(source) {
				t.Errorf("%s counts", source)
			}
		}
		if expr.MatchString("Hosted Signup Form") {
			t.Error("a form does not count")
		}
	}
}

// A tracker whose status stands under a header that the preset does not know is left to suggestions, which read it: the preset would call every request open.
func TestTrackerOfOtherHeadersIsNotTaken(t *testing.T) {
	for lines, want := range map[string]string{
		"Ref No.,Date received,Email,Request type,Response due,Outcome\n1,2024-03-14,a@example.com,Access,2024-04-14,Closed\n2,2024-03-15,b@example.com,Erasure,2024-04-15,Open":               "",
		"Ref No.,Date received,Email,Request type,Response due,Status\n1,2024-03-14,a@example.com,Access,2024-04-14,Closed\n2,2024-03-15,b@example.com,Erasure,2024-04-15,Open":                "dsar",
		"Ref No.,Date received,Email,Request type,Response due,Remarks\n1,2024-03-14,a@example.com,Access,2024-04-14,Sent by post\n2,2024-03-15,b@example.com,Erasure,2024-04-15,Sent by mail": "dsar",
	} {
		got := ""
		if f := Find(sheet(t, "tracker.csv", strings.Split(lines, "\n")...)); f != nil {
			got = f.Preset.Name
		}
		if got != want {
			t.Errorf("%s\n%q, want %q", lines, got, want)
		}
	}
}

// A column that sounds like an opt-out and is none of the known layout keeps the draft from being a mapping where the preset gives consents, until a person
// decides: whoever left by it would come in as given. One that says it of nobody asks nothing, nor does the layout alone.
func TestOptOutBesideAKnownExport(t *testing.T) {
	for file, gives := range map[string]bool{
		"subscribed_members_export_abc.csv": true, "klaviyo.csv": true, "shopify.csv": true, "brevo.csv": true, "brevo-single.csv": true, "hubspot.csv": true, "mailpoet.csv": true, "fides-consent.csv": true,
		"activecampaign.csv": true, "kit.csv": true, "salesforce-consent.csv": true, "onetrust.csv": true, "cmp.csv": true,
		"salesforce-contacts.csv": false, "unsubscribed_members_export_abc.csv": false, "cleaned_members_export_abc.csv": false, // no consent can be given by them
	} {
		data, err := os.ReadFile(filepath.Join("testdata", file))
		if err != nil {
			t.Fatal(err)
		}
		plain := strings.Split(strings.TrimSpace(strings.ReplaceAll(strings.TrimPrefix(string(data), "\uFEFF"), "\"line one\n", "\"line one ")), "\n")
		for _, column := range [][]string{
			nil, {"Opt-out", "no", "No", ""}, {"Abgemeldet am", "", "", ""},
			{"Opt-out", "yes", "no", ""}, {"Unsubscribed at", "2024-05-05", "", ""}, {"Do not contact", "", "yes", "no"}, {"Abgemeldet am", "05.05.2024", "", ""}, {"Afgemeld", "ja", "05-05-2024", "misschien"},
			{"Désabonné le", "05/05/2024", "", ""}, {"Baja", "sí", "", "no"}, {"Keine Werbung", "x", "", ""},
			{"Opt Out Reason", "asked by phone", "", ""}, {"Unsubscribe reason", "too many mails", "", "moved"}, {"Abmeldegrund", "kein Bedarf", "", ""}, {"Opt-out code", "", "", ""},
		} {
			lines := slices.Clone(plain)
			for i := range lines {
				if column != nil {
					delimiter := ","
					if strings.HasPrefix(file, "brevo") {
						delimiter = ";"
					}
					cell := column[0]
					if i > 0 {
						cell = column[1+(i-1)%3]
					}
					lines[i] += delimiter + cell
				}
			}
			f := Find(sheet(t, file, lines...))
			if f == nil {
				t.Errorf("%s with %q is not taken", file, column)
				continue
			}
			text := string(f.Draft(&two).YAML())
			said := strings.Join(strings.Fields(strings.ReplaceAll(text, "#", "")), " ")
			_, err := mappings.Parse("x.yaml", []byte(text))
			asks := err != nil && strings.Contains(err.Error(), ".when")
			speaks := column != nil && slices.ContainsFunc(column[1:min(len(column), len(lines))], func(cell string) bool { return cell != "" && !strings.EqualFold(cell, "no") })
			if asks != (gives && speaks) || strings.Contains(text, "in: []") != asks {
				t.Errorf("%s with %q: asks %v\n%s", file, column, err, text)
			}
			if speaks && !strings.Contains(said, `"`+column[0]+`" sounds like an opt-out`) && !strings.Contains(said, `"`+column[0]+`" seems to answer about consent, and the preset does not know it: it sounds like an opt-out`) {
				t.Errorf("%s with %q: nothing says so\n%s", file, column, text)
			}
			if column == nil && gives && strings.Contains(said, "Attention") {
				t.Errorf("%s draws attention to its own layout\n%s", file, text)
			}
		}
	}
}

// A reason to have left that the layout documents for those who left keeps a draft of people who did not from being a mapping.
func TestReasonOfLeavingAmongSubscribers(t *testing.T) {
	for reason, asks := range map[string]bool{"NORMAL": true, "": false} {
		text := string(Find(sheet(t, "subscribed_members_export_abc.csv", "Email Address,MEMBER_RATING,OPTIN_TIME,CONFIRM_TIME,LEID,EUID,UNSUB_REASON", "a@x.example,2,2023-01-01 10:00:00,2023-01-01 10:00:00,1,a1,", "b@x.example,2,2023-01-01 10:00:00,2023-01-01 10:00:00,2,a2,"+reason)).Draft(&two).YAML())
		if strings.Contains(text, "{ column: UNSUB_REASON, in: [] }") != asks {
			t.Errorf("%q\n%s", reason, text)
		}
	}
}

// The day on which mail to a contact came back is that of a bounce, where its column has one.
func TestBouncedContacts(t *testing.T) {
	for _, day := range []string{"2024-03-14T10:00:00.000Z", ""} {
		text := string(Find(sheet(t, "contacts.csv", "Id,Email,HasOptedOutOfEmail,EmailBouncedDate,EmailBouncedReason", "003x0000000AbCdAAA,a@x.example,FALSE,"+day+",", "003x0000000AbCdAAB,b@x.example,TRUE,,")).Draft(&two).YAML())
		if !strings.Contains(text, "when: { column: EmailBouncedDate, not_blank: true }") || !strings.Contains(text, "const: bounce") || strings.Contains(text, "Attention") {
			t.Errorf("%q\n%s", day, text)
		}
	}
	for cell, want := range map[string]bool{"2024-03-14": true, "no": false, "": false} {
		text := string(Find(sheet(t, "kit.csv", "first_name,email,created_at,status,Bounced at", "A,a@x.example,2023-01-01,active,"+cell)).Draft(&two).YAML())
		if got := strings.Contains(text, `"Bounced at" speaks of addresses`) || strings.Contains(text, "column: Bounced at"); got != want {
			t.Errorf("%q\n%s", cell, text)
		}
	}
}

// What a column beside a known layout says of an address is a suppression: a bounce is no withdrawal, and no consent that is stated for all rows. Without a
// column that says so the draft is as it was.
func TestBouncesBesideAKnownExport(t *testing.T) {
	const members = "Email Address,First Name,MEMBER_RATING,OPTIN_TIME,LEID,EUID"
	row := func(n, more string) string {
		return n + "@example.com,A,2,2024-03-14 09:12:31,10" + n + ",x" + n + more
	}
	for name, tc := range map[string]struct {
		preset, file string
		lines        []string
		has, hasNot  []string
	}{
		"mailchimp, a status beside the file's name": {"mailchimp", "subscribed_members_export_1.csv", []string{members + ",Status", row("a", ",Subscribed"), row("b", ",Cleaned"), row("c", ",Pending")},
			[]string{"when: { column: Status, not_in: [Cleaned, Pending] }", "- entity: suppression", "bounce: [Cleaned]", "- { column: Status, not_in: [Pending, Subscribed] }"}, nil},
		"mailchimp, who left beside who bounced": {"mailchimp", "subscribed_members_export_1.csv", []string{members + ",Status", row("a", ",Subscribed"), row("b", ",Cleaned"), row("c", ",Unsubscribed")},
			[]string{"when: { column: Status, not_in: [Cleaned, Unsubscribed] }", "bounce: [Cleaned]", "opt_out: [Unsubscribed]"}, nil},
		"mailchimp, the time of the bounce": {"mailchimp", "subscribed_members_export_1.csv", []string{members + ",CLEAN_TIME", row("a", ","), row("b", ",2024-05-05 10:00:00")},
			[]string{"when: { column: CLEAN_TIME, blank: true }", "- entity: suppression", "when: { column: CLEAN_TIME, not_blank: true }", "const: bounce", "from: CLEAN_TIME"}, nil},
		"mailchimp, a file of bounces": {"mailchimp", "cleaned_members_export_1.csv", []string{members + ",Status,CLEAN_TIME", row("a", ",Cleaned,2024-05-05 10:00:00")},
			[]string{"- entity: suppression"}, []string{"column: Status", "column: CLEAN_TIME"}},
		"mailchimp, data that was cleaned": {"mailchimp", "subscribed_members_export_1.csv", []string{members + ",Data quality", row("a", ",cleaned"), row("b", ",")},
			nil, []string{"- entity: suppression", "when:"}},
		"mailchimp, the layout": {"mailchimp", "subscribed_members_export_1.csv", []string{members, row("a", "")},
			nil, []string{"- entity: suppression", "when:"}},
		"shopify, a state of the address": {"shopify", "customers_export.csv", []string{"Customer ID,Email,Accepts Email Marketing,Email status", "1,a@example.com,yes,", "2,b@example.com,yes,hard bounce"},
			[]string{"- entity: suppression", "bounce: [hard bounce]"}, []string{"not_in: [hard bounce]"}},
		"shopify, a flag": {"shopify", "customers_export.csv", []string{"Customer ID,Email,Accepts Email Marketing,Email bounced", "1,a@example.com,yes,no", "2,b@example.com,yes,yes"},
			[]string{"- entity: suppression", "const: bounce", "when: { column: Email bounced, in: [yes] }"}, nil},
		"shopify, a flag of nobody": {"shopify", "customers_export.csv", []string{"Customer ID,Email,Accepts Email Marketing,Email bounced", "1,a@example.com,yes,no", "2,b@example.com,yes,no"},
			[]string{`does not name: D Email bounced.`}, []string{"- entity: suppression"}},
		"kit, a flag beside bounces": {"kit", "kit.csv", []string{"first_name,email,created_at,status,Marked as spam", "A,a@example.com,2022-09-10T11:12:13Z,bounced,yes", "B,b@example.com,2022-09-10T11:12:13Z,active,no"},
			[]string{"const: complaint", "key: [email, channel, reason]"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			f := Find(sheet(t, tc.file, tc.lines...))
			if f == nil || f.Preset.Name != tc.preset {
				t.Fatalf("taken for %+v, want %s", f, tc.preset)
			}
			text := string(f.Draft(&two).YAML())
			_, err := mappings.Parse("x.yaml", []byte(text))
			if asks := strings.Contains(text, "in: []"); (err != nil) != asks || asks && !strings.Contains(err.Error(), "before somebody has decided") {
				t.Errorf("%v\n%s", err, text)
			}
			for _, want := range tc.has {
				if !strings.Contains(strings.ReplaceAll(text, `"`, ""), want) {
					t.Errorf("does not say %q\n%s", want, text)
				}
			}
			for _, not := range tc.hasNot {
				if strings.Contains(strings.ReplaceAll(text, `"`, ""), not) {
					t.Errorf("says %q\n%s", not, text)
				}
			}
		})
	}
}
