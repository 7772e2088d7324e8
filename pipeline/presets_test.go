package pipeline_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/xuri/excelize/v2"

	"sheetlift/mappings"
	"sheetlift/pipeline"
	"sheetlift/pipeline/store/storetest"
)

// drafted lays files into a folder, runs init's draft over them, confirms every guess as a person would, and opens the batch.
// Nothing else is edited.
func drafted(t *testing.T, files map[string]string) *house {
	t.Helper()
	h := draftedOnly(t, files)
	h.confirm()
	return h
}

func draftedOnly(t *testing.T, files map[string]string) *house {
	t.Helper()
	h := &house{t: t, dir: t.TempDir(), url: storetest.SQLite(t)}
	var names []string
	for name, text := range files {
		h.write(name, text)
		path := filepath.Join(h.dir, name)
		at := time.Date(2026, 10, 1, 9, 0, 0, 0, time.UTC) // what obtained_at is drafted from
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
		names = append(names, path)
	}
	if _, err := pipeline.Draft(t.Context(), names, pipeline.DraftOptions{Dir: h.dir, Name: "presets", Namespace: uuid.MustParse("0f8b9d0e-94f2-4c0c-9d55-3a8a3f2c7b61")}); err != nil {
		t.Fatal(err)
	}
	return h
}

var confirmLine = regexp.MustCompile(`(?m)^ *confirm: true\n`)

// confirmed takes away what asks to be confirmed, and names who states what no row says.
func confirmed(data []byte) []byte {
	return bytes.ReplaceAll(confirmLine.ReplaceAll(data, nil), []byte(`stated_by: { name: "",`), []byte("stated_by: { name: Tester,"))
}

func (h *house) confirm() {
	h.t.Helper()
	list, err := filepath.Glob(filepath.Join(h.dir, "mappings", "*.yaml"))
	if err != nil {
		h.t.Fatal(err)
	}
	for _, path := range append(list, filepath.Join(h.dir, "batch.yaml")) {
		data, err := os.ReadFile(path)
		if err != nil {
			h.t.Fatal(err)
		}
		if err := os.WriteFile(path, confirmed(data), 0o600); err != nil {
			h.t.Fatal(err)
		}
	}
}

const purposesCSV = "Code,Name\nnews,Newsletter\n"

func fixture(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "mappings", "presets", "testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// Each preset's fixture goes from init to a dry-run by confirmations and a name for who states what no row says, and each row becomes what the preset's page says.
func TestPresetFixtures(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		file, preset      string
		rows              pipeline.Rows
		rejected, skipped map[string]int
		consents, cases   int
		suppressions      int
		activities        int
		receipts          int
		missing           map[string]int // of the consents
		beside            map[string]string
	}{
		{file: "subscribed_members_export_abc.csv", preset: "mailchimp", rows: pipeline.Rows{Read: 4, Accepted: 4}, consents: 4,
			missing: map[string]int{"purpose": 4, "notice": 4, "actor": 4, "proof": 4, "time": 2}}, // the time of an import is none
		{file: "unsubscribed_members_export_abc.csv", preset: "mailchimp", rows: pipeline.Rows{Read: 2, Accepted: 2}, consents: 2,
			missing: map[string]int{"purpose": 2, "notice": 2, "actor": 2, "proof": 2, "time": 1}},
		{file: "cleaned_members_export_abc.csv", preset: "mailchimp", rows: pipeline.Rows{Read: 1, Accepted: 1}, suppressions: 1},
		{file: "nonsubscribed_members_export_abc.csv", preset: "mailchimp", rows: pipeline.Rows{Read: 1, Skipped: 1}, skipped: map[string]int{"row.declared_skip": 1}},
		{file: "klaviyo.csv", preset: "klaviyo", rows: pipeline.Rows{Read: 5, Accepted: 4, Skipped: 1}, skipped: map[string]int{"consent.no_answer": 1}, consents: 3, suppressions: 4,
			missing: map[string]int{"purpose": 3, "notice": 3, "actor": 3, "proof": 3, "time": 1}},
		{file: "shopify.csv", preset: "shopify", rows: pipeline.Rows{Read: 3, Accepted: 3}, consents: 7,
			missing: map[string]int{"purpose": 7, "notice": 7, "actor": 7, "proof": 7, "time": 7}},
		{file: "brevo.csv", preset: "brevo", rows: pipeline.Rows{Read: 3, Accepted: 2, Skipped: 1}, skipped: map[string]int{"consent.no_answer": 1}, consents: 3,
			missing: map[string]int{"purpose": 3, "notice": 3, "actor": 3, "proof": 3, "time": 3}},
		{file: "brevo-single.csv", preset: "brevo", rows: pipeline.Rows{Read: 4, Accepted: 3, Skipped: 1}, skipped: map[string]int{"consent.no_answer": 1}, consents: 3,
			missing: map[string]int{"purpose": 3, "notice": 3, "actor": 3, "proof": 3, "time": 3}},
		{file: "hubspot.csv", preset: "hubspot", rows: pipeline.Rows{Read: 5, Accepted: 2, Skipped: 3}, skipped: map[string]int{"consent.not_consent": 2, "consent.no_answer": 1}, consents: 2,
			missing: map[string]int{"purpose": 2, "notice": 2, "actor": 2, "proof": 2, "time": 2}},
		{file: "mailpoet.csv", preset: "mailpoet", rows: pipeline.Rows{Read: 6, Accepted: 3, Rejected: 1, Skipped: 2}, rejected: map[string]int{"enum.unmapped": 1}, skipped: map[string]int{"consent.no_answer": 2}, consents: 3,
			missing: map[string]int{"purpose": 3, "notice": 3, "actor": 3, "proof": 3, "time": 1}},
		{file: "mailpoet.csv", preset: "mailpoet", rows: pipeline.Rows{Read: 6, Accepted: 3, Rejected: 1, Skipped: 2}, rejected: map[string]int{"enum.unmapped": 1}, skipped: map[string]int{"consent.no_answer": 2}, consents: 3,
			missing: map[string]int{"purpose": 3, "actor": 3, "proof": 3, "time": 1, "notice": 1}, // the wording is the notice where a time shows it in force, and never the proof too
			beside:  map[string]string{"notices.csv": "Notice,Version,Valid from,Digest\nPN,3,2024-01-01," + sha256Hex("Allow open and click tracking") + "\n"}},
		{file: "fides-consent.csv", preset: "fides", rows: pipeline.Rows{Read: 4, Accepted: 3, Skipped: 1}, skipped: map[string]int{"consent.no_answer": 1}, consents: 3,
			missing: map[string]int{"notice": 3, "proof": 1}},
		{file: "fides-consent.csv", preset: "fides", rows: pipeline.Rows{Read: 4, Accepted: 3, Skipped: 1}, skipped: map[string]int{"consent.no_answer": 1}, consents: 3, receipts: 2,
			missing: map[string]int{"notice": 1, "proof": 1},
			beside:  map[string]string{"notices.csv": "Notice,Version,Valid from,Title\npri_hist_7,pri_hist_7,2024-01-01,Newsletter\n"}},
		{file: "fides-requests.csv", preset: "fides", rows: pipeline.Rows{Read: 5, Accepted: 3, Rejected: 1, Skipped: 1}, rejected: map[string]int{"enum.unmapped": 1}, skipped: map[string]int{"row.declared_skip": 1}, cases: 4},
		{file: "activecampaign.csv", preset: "activecampaign", rows: pipeline.Rows{Read: 4, Accepted: 3, Skipped: 1}, skipped: map[string]int{"consent.no_answer": 1}, consents: 2, suppressions: 1,
			missing: map[string]int{"purpose": 2, "notice": 2, "actor": 2, "proof": 2, "time": 2}},
		{file: "kit.csv", preset: "kit", rows: pipeline.Rows{Read: 5, Accepted: 4, Skipped: 1}, skipped: map[string]int{"consent.no_answer": 1}, consents: 2, suppressions: 2,
			missing: map[string]int{"purpose": 2, "notice": 2, "actor": 2, "proof": 2, "time": 2}},
		{file: "salesforce-consent.csv", preset: "salesforce", rows: pipeline.Rows{Read: 3, Accepted: 2, Skipped: 1}, skipped: map[string]int{"consent.no_answer": 1}, consents: 2,
			missing: map[string]int{"notice": 2, "actor": 2, "proof": 2}},
		{file: "salesforce-contacts.csv", preset: "salesforce", rows: pipeline.Rows{Read: 2, Accepted: 1, Skipped: 1}, skipped: map[string]int{"consent.no_answer": 1}, consents: 2,
			missing: map[string]int{"purpose": 2, "notice": 2, "actor": 2, "proof": 2, "time": 2}},
		{file: "onetrust.csv", preset: "onetrust", rows: pipeline.Rows{Read: 4, Accepted: 2, Skipped: 2}, skipped: map[string]int{"row.declared_skip": 1, "consent.no_answer": 1}, consents: 2,
			missing: map[string]int{"notice": 2}},
		{file: "onetrust.csv", preset: "onetrust", rows: pipeline.Rows{Read: 4, Accepted: 2, Skipped: 2}, skipped: map[string]int{"row.declared_skip": 1, "consent.no_answer": 1}, consents: 2,
			missing: map[string]int{"notice": 2}, // imported, and still only inferred by date
			beside:  map[string]string{"notices.csv": "Notice,Version,Valid from,Title\nPN,3,2024-01-01,Newsletter\n"}},
		{file: "cmp.csv", preset: "cmp", rows: pipeline.Rows{Read: 4, Accepted: 3, Skipped: 1}, skipped: map[string]int{"consent.no_answer": 1}, consents: 3,
			missing: map[string]int{"notice": 3, "proof": 1}},
		{file: "cmp.csv", preset: "cmp", rows: pipeline.Rows{Read: 4, Accepted: 3, Skipped: 1}, skipped: map[string]int{"consent.no_answer": 1}, consents: 3, receipts: 2,
			missing: map[string]int{"proof": 1}, // an unsigned consent string is no proof
			beside:  map[string]string{"notices.csv": "Notice,Version,Valid from,Title\nPN,3,2024-01-01,Cookies\n"}},
		{file: "dsar.csv", preset: "dsar", rows: pipeline.Rows{Read: 4, Accepted: 3, Rejected: 1}, rejected: map[string]int{"enum.unmapped": 1}, cases: 3},
		{file: "jira.csv", preset: "dsar", rows: pipeline.Rows{Read: 2, Accepted: 2}, cases: 2},
		{file: "jira-kinds.csv", preset: "dsar", rows: pipeline.Rows{Read: 6, Accepted: 3, Rejected: 1, Skipped: 2}, skipped: map[string]int{"row.declared_skip": 2}, rejected: map[string]int{"enum.unmapped": 1}, cases: 3},
		{file: "ropa.csv", preset: "ropa", rows: pipeline.Rows{Read: 2, Accepted: 2}, activities: 2},
	} {
		name := tc.file
		for other := range tc.beside {
			name += " with " + other
		}
		t.Run(name, func(t *testing.T) {
			files := map[string]string{tc.file: fixture(t, tc.file), "purposes.csv": purposesCSV}
			maps.Copy(files, tc.beside)
			h := drafted(t, files)
			source := strings.ReplaceAll(strings.TrimSuffix(tc.file, ".csv"), "_", "-")
			text, err := os.ReadFile(filepath.Join(h.dir, "mappings", source+".yaml"))
			if err != nil || !strings.Contains(string(text), "\npreset: "+tc.preset+"\n") {
				t.Fatalf("no preset %s: %v\n%s", tc.preset, err, text)
			}
			if strings.Contains(string(text), "example.com") {
				t.Error("the draft holds a value")
			}
			all := h.mustRun(pipeline.DryRun)
			for _, f := range findings(t, all["map"].(*pipeline.MapResult).FindingsFile) {
				if strings.HasPrefix(f.Rule, "consent.refusal_") {
					t.Errorf("the preset warns of itself: %s", f.Message)
				}
			}
			r := all["dryrun"].(*pipeline.DryRunResult)
			for _, s := range r.Sources {
				if s.Source != source {
					if s.Rows.Accepted != s.Rows.Read {
						t.Errorf("%s: %+v", s.Source, s.Rows)
					}
					continue
				}
				if s.Rows != tc.rows || !same(s.Rejected, tc.rejected) || !same(s.Skipped, tc.skipped) {
					t.Errorf("%+v rejected %v skipped %v, want %+v %v %v", s.Rows, s.Rejected, s.Skipped, tc.rows, tc.rejected, tc.skipped)
					for _, f := range findings(t, r.FindingsFile) {
						t.Logf("%s row %d %s %s", f.Rule, f.Row, f.Field, f.Message)
					}
				}
			}
			c := r.Entities["consent"]
			if c == nil {
				c = &pipeline.EntityCount{}
			}
			if tc.preset == "mailchimp" {
				delete(c.Missing, "status") // it is stated by the file's name, which is no answer of the row
			}
			if c.Records != tc.consents || c.Receipts != tc.receipts || !same(c.Missing, tc.missing) {
				t.Errorf("consents %d, receipts %d, missing %v; want %d, %d, %v", c.Records, c.Receipts, c.Missing, tc.consents, tc.receipts, tc.missing)
			}
			for entity, want := range map[string]int{"suppression": tc.suppressions, "case": tc.cases, "activity": tc.activities} {
				got := 0
				if e := r.Entities[entity]; e != nil {
					got = e.Records
				}
				if got != want {
					t.Errorf("%d records of %s, want %d", got, entity, want)
				}
			}
		})
	}
}

// An export that no preset knows goes from init to a dry-run by confirmations alone where its headers and cells say enough, and each row becomes
// what it says: nothing is upgraded, and no two rows meet under one key.
func TestUnknownExports(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		file, text string
		rows       pipeline.Rows
		records    map[string]int
	}{
		"requests in German": {"Anfragen 2026.csv", "Lfd. Nr.;Eingangsdatum;E-Mail;Anliegen;Frist;Stand\n1;01.04.2026;a@example.com;Auskunft (Art. 15 DSGVO);01.05.2026;Erledigt\n2;13.04.2026;b@example.com;Löschung;13.05.2026;In Bearbeitung\n",
			pipeline.Rows{Read: 2, Accepted: 2}, map[string]int{"case": 2}},
		"two rows a person": {"consents.csv", "Customer ID,Email,Purpose,Channel,Consent,Consent date\n1,a@example.com,news,email,yes,2024-03-14\n1,a@example.com,news,sms,no,2024-03-14\n1,a@example.com,ads,email,yes,2024-03-14\n2,b@example.com,news,email,yes,2024-03-15\n",
			pipeline.Rows{Read: 4, Accepted: 4}, map[string]int{"consent": 4}},
		"a log of events": {"consent_log.csv", "Email,Purpose,Action,Timestamp\na@example.com,news,opt-in,2024-03-14T10:00:00Z\na@example.com,news,opt-out,2024-05-14T10:00:00Z\n",
			pipeline.Rows{Read: 2, Accepted: 2}, map[string]int{"consent": 2}},
		"subscribers in Dutch, one of whom left": {"nieuwsbrief.csv", "E-mail;Nieuwsbrief;Aanmelddatum;Ingetrokken op\na@example.com;ja;14-03-2024;\nb@example.com;ja;15-03-2024;20-04-2024\nc@example.com;;;\n",
			pipeline.Rows{Read: 3, Accepted: 2, Skipped: 1}, map[string]int{"consent": 2}},
		"a list of those who left": {"abmeldungen.csv", "E-Mail;Abgemeldet am;Grund\na@example.com;14.03.2024;zu viele Mails\nb@example.com;15.03.2024;\n",
			pipeline.Rows{Read: 2, Accepted: 2}, map[string]int{"suppression": 2}},
		"subscribers, bounces, and nobody yet": {"subscribers.csv", "email,status,list\na@example.com,subscribed,Newsletter\nb@example.com,hard bounce,Newsletter\nc@example.com,unconfirmed,Newsletter\n",
			pipeline.Rows{Read: 3, Accepted: 2, Skipped: 1}, map[string]int{"consent": 1, "suppression": 1}},
		"consents, and a state that says who was cleaned": {"contacts.csv", "Email,Consent,Status\na@example.com,yes,Subscribed\nb@example.com,no,Unsubscribed\nc@example.com,yes,Cleaned\n",
			pipeline.Rows{Read: 3, Accepted: 3}, map[string]int{"consent": 3, "suppression": 1}},
		"a known export, and a state that says who was cleaned": {"subscribed_members_export_1.csv", "Email Address,MEMBER_RATING,OPTIN_TIME,LEID,EUID,Status\na@example.com,2,2024-03-14 09:12:31,1,x1,Subscribed\nb@example.com,2,2024-03-14 09:12:31,2,x2,Cleaned\n",
			pipeline.Rows{Read: 2, Accepted: 2}, map[string]int{"consent": 1, "suppression": 1}},
		"a list of those who left, without a header": {"unsubscribed.csv", "a@example.com\nb@example.com\nc@example.com\n",
			pipeline.Rows{Read: 3, Accepted: 3}, map[string]int{"suppression": 3}},
		"a register of opt-outs": {"bloctel.csv", "telephone;statut;date\n+33612345678;inscrit;14/03/2024\n+33612345679;non inscrit;15/03/2024\n",
			pipeline.Rows{Read: 2, Accepted: 1, Skipped: 1}, map[string]int{"suppression": 1}},
		"contacts that may not be written to": {"Contacts.csv", "(Do Not Modify) Contact,(Do Not Modify) Modified On,Full Name,Email,Do not allow Emails\n1,3/14/2024 10:00,A B,a@example.com,Allow\n2,3/15/2024 10:00,A C,b@example.com,Do Not Allow\n",
			pipeline.Rows{Read: 2, Accepted: 1, Skipped: 1}, map[string]int{"consent": 1}},
		"flags of addresses": {"leads.csv", "Id,Email Address,Unsubscribed,Email Invalid,Marked email as spam,Created At\n1,a@example.com,false,false,false,2024-03-14T10:00:00Z\n2,b@example.com,true,false,true,2024-03-14T10:00:00Z\n3,c@example.com,false,true,false,2024-03-14T10:00:00Z\n",
			pipeline.Rows{Read: 3, Accepted: 2, Skipped: 1}, map[string]int{"consent": 1, "suppression": 2}},
		"a list with totals below": {"register.csv", "Customer ID,E-mail,Newsletter,Consent date\n1,a@example.com,1,4. März 2024\n2,b@example.com,0,15. Mai 2024\nTotal,,1,\n",
			pipeline.Rows{Read: 3, Accepted: 2, Skipped: 1}, map[string]int{"consent": 2}},
		"requests of a tracker, one of them a test": {"requests.csv", "Request ID,Type,Status,Email,Created At,Is Test\n1,ERASURE,COMPLETED,a@example.com,2024-03-14 10:00:00 UTC,false\n2,SALE_OPT_OUT,COMPILING,b@example.com,2024-03-15 10:00:00 UTC,false\n3,ACCESS,ENRICHING,c@example.com,2024-03-15 10:00:00 UTC,true\n",
			pipeline.Rows{Read: 3, Accepted: 2, Skipped: 1}, map[string]int{"case": 2}},
		"a register of an authority's template": {"ropa.csv", "Business function,Purpose of processing,Categories of individuals,Categories of personal data,Categories of recipients,Retention schedule (if possible),Article 6 lawful basis for processing personal data\nHR,Payroll,Employees,Bank details,Bank,6 years,Contract\nHR,Recruitment,Candidates,CVs,,6 months,Legitimate interests\n",
			pipeline.Rows{Read: 2, Accepted: 2}, map[string]int{"activity": 2}},
		"a log of cookies": {"cookies.csv", "Consent ID,Timestamp,URL,Necessary,Advertising\nx1,2024-03-14T10:00:00Z,https://example.com,true,true\nx2,2024-03-14T11:00:00Z,https://example.com,true,false\n",
			pipeline.Rows{Read: 2, Accepted: 2}, map[string]int{"consent": 2}},
		"policies": {"policies.csv", "Policy,Version,Published,Language\nprivacy,1,2018-05-25,en\nprivacy,1,2018-05-25,de\nprivacy,2,2021-01-01,en\n",
			pipeline.Rows{Read: 3, Accepted: 3}, map[string]int{"notice": 3}},
		"a register in German": {"vvt.csv", "Verarbeitungstätigkeit;Rechtsgrundlage;Kategorien betroffener Personen;Kategorien personenbezogener Daten;Löschfrist\nLohn;Art. 6 Abs. 1 lit. b DSGVO;Beschäftigte;Stammdaten;10 Jahre\n",
			pipeline.Rows{Read: 1, Accepted: 1}, map[string]int{"activity": 1}},
	} {
		t.Run(name, func(t *testing.T) {
			h := drafted(t, map[string]string{tc.file: tc.text, "purposes.csv": purposesCSV + "ads,Advertising\n"})
			r := h.mustRun(pipeline.DryRun)["dryrun"].(*pipeline.DryRunResult)
			for _, s := range r.Sources {
				if s.Source != "purposes" && s.Rows != tc.rows {
					t.Errorf("%+v rejected %v skipped %v, want %+v", s.Rows, s.Rejected, s.Skipped, tc.rows)
				}
			}
			for _, entity := range []string{"consent", "suppression", "case", "notice", "activity"} {
				got := 0
				if e := r.Entities[entity]; e != nil {
					got = e.Records
				}
				if got != tc.records[entity] {
					t.Errorf("%d records of %s, want %d", got, entity, tc.records[entity])
				}
			}
			if c := r.Entities["consent"]; c != nil && c.Receipts > 0 {
				t.Errorf("%d receipts", c.Receipts)
			}
		})
	}
}

func sha256Hex(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}

// suppressed but subscribed: a Klaviyo suppression beats SUBSCRIBED, and a withdrawal that Mailchimp names in the file's name alone
// is one in the register.
func TestPresetStates(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ file, id, state, cause string }{
		{"klaviyo.csv", "01HAAA0001|email", "given", "assertion"},
		{"klaviyo.csv", "01HAAA0002|email", "suppressed", "suppressed_opt_out"},
		{"klaviyo.csv", "01HAAA0003|email", "suppressed", "suppressed_complaint"},
		{"unsubscribed_members_export_abc.csv", "b1b2c3d4e1", "withdrawn", "withdrawal"},
		{"unsubscribed_members_export_abc.csv", "b1b2c3d4e2", "withdrawn", "withdrawal_undated"},
		{"brevo.csv", "one@example.com|email", "withdrawn", "withdrawal_undated"},
		{"brevo-single.csv", "two@example.com|email|news", "refused", "refusal_undated"},
	} {
		h := drafted(t, map[string]string{tc.file: fixture(t, tc.file), "purposes.csv": purposesCSV})
		h.mustRun(pipeline.Import)
		r, err := h.open().Trace(t.Context(), "consent", tc.id, false)
		if err != nil || len(r.Records) != 1 {
			t.Errorf("%s %s: %v", tc.file, tc.id, err)
			continue
		}
		if x := r.Records[0]; x.State != tc.state || x.StateCause != tc.cause {
			t.Errorf("%s %s: %s (%s), want %s (%s)", tc.file, tc.id, x.State, x.StateCause, tc.state, tc.cause)
		}
	}
}

// same compares counts; nil and empty are the same, and zeros don't count.
func same(a, b map[string]int) bool {
	for k, n := range a {
		if n != b[k] {
			return false
		}
	}
	for k, n := range b {
		if n != a[k] {
			return false
		}
	}
	return true
}

// What init drafted is refused until somebody has confirmed it: batch.yaml by freeze, the mappings by map.
func TestDraftsAreRefusedUntilConfirmed(t *testing.T) {
	t.Parallel()
	h := draftedOnly(t, map[string]string{"klaviyo.csv": fixture(t, "klaviyo.csv"), "purposes.csv": purposesCSV})
	var errs *mappings.ParseErrors
	if _, err := h.run(pipeline.Freeze); !errors.As(err, &errs) || len(errs.Faults) != 3 || !strings.Contains(err.Error(), "obtained_at") {
		t.Fatalf("freeze of a draft: %v", err)
	}
	path := filepath.Join(h.dir, "batch.yaml")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, confirmed(data), 0o600); err != nil {
		t.Fatal(err)
	}
	name := "mappings/klaviyo.yaml"
	h.write(name, strings.ReplaceAll(h.text(name), `stated_by: { name: "",`, "stated_by: { name: Tester,"))
	_, err = h.run(pipeline.Map)
	if !errors.As(err, &errs) {
		t.Fatalf("map of a draft: %v", err)
	}
	for _, want := range []string{"mappings/klaviyo.yaml:", "consent.status is drafted", "consent.purpose is drafted", "consent.occurred_at is drafted", "mappings/purposes.yaml:", "purpose.purpose_id is drafted", "remove confirm: true"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("map does not say %q:\n%v", want, err)
		}
	}
	if strings.Contains(err.Error(), "consent.email is drafted") {
		t.Error("a harmless guess is refused")
	}
}

// A workbook is recognised like a text file, below title rows; a sheet of instructions beside it is left out and named, and a
// sheet that is called like somebody is named by its position.
func TestPresetInAWorkbook(t *testing.T) {
	t.Parallel()
	h := &house{t: t, dir: t.TempDir(), url: storetest.SQLite(t)}
	f := excelize.NewFile()
	defer f.Close()
	if err := errors.Join(f.SetSheetName("Sheet1", "Instructions"), f.SetCellValue("Instructions", "A1", "Fill in one row a request."), f.SetCellValue("Instructions", "A3", "Ask the office if in doubt.")); err != nil {
		t.Fatal(err)
	}
	const sheet = "erika.mustermann@example.com"
	if _, err := f.NewSheet(sheet); err != nil {
		t.Fatal(err)
	}
	rows := [][]any{{"Request log of the office"}, nil}
	for line := range strings.Lines(fixture(t, "dsar.csv")) {
		var row []any
		for cell := range strings.SplitSeq(strings.TrimSpace(line), ",") {
			row = append(row, cell)
		}
		rows = append(rows, row)
	}
	for i, row := range rows {
		if err := f.SetSheetRow(sheet, "A"+strconv.Itoa(i+1), &row); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(h.dir, "tracker.xlsx")
	if err := f.SaveAs(path); err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 10, 1, 9, 0, 0, 0, time.UTC)
	if err := os.Chtimes(path, at, at); err != nil {
		t.Fatal(err)
	}
	written, err := pipeline.Draft(t.Context(), []string{path}, pipeline.DraftOptions{Dir: h.dir, Namespace: uuid.MustParse("0f8b9d0e-94f2-4c0c-9d55-3a8a3f2c7b61")})
	if err != nil || len(written.Files) != 2 || len(written.LeftOut) != 1 {
		t.Fatalf("%v %v", written, err)
	}
	all := ""
	for _, d := range written.Files {
		data, err := os.ReadFile(filepath.Join(h.dir, d.Path))
		if err != nil {
			t.Fatal(err)
		}
		all += string(data) + d.What
	}
	if strings.Contains(strings.ToLower(all), "mustermann") || !strings.Contains(all, `sheet: "#2"`) || !strings.Contains(all, "preset: dsar") || !strings.Contains(all, "left out: tracker.xlsx, sheet \"Instructions\"") {
		t.Fatal(all)
	}
	h.confirm()
	r := h.mustRun(pipeline.DryRun)["dryrun"].(*pipeline.DryRunResult)
	if want := (pipeline.Rows{Read: 4, Accepted: 3, Rejected: 1}); r.Rows != want || r.Entities["case"].Records != 3 {
		t.Errorf("%+v, want %+v", r.Rows, want)
	}
}

// Nobody is made to answer for an export, or for what no row says: the draft asks for them, and map refuses it as long as a statement
// has no name, confirmed or not.
func TestDraftNamesNobody(t *testing.T) {
	t.Parallel()
	h := draftedOnly(t, map[string]string{"kunden.csv": "Kundennr;Mail;Newsletter\n1;a@example.com;ja\n2;b@example.com;nein\n"})
	batch, mapping := h.text("batch.yaml"), h.text("mappings/kunden.yaml")
	if !strings.Contains(batch, "# owner: who answers") || strings.Contains(batch, "\n    owner:") || strings.Contains(batch+mapping, "administrator") {
		t.Errorf("%s\n%s", batch, mapping)
	}
	h.write("batch.yaml", confirmLine.ReplaceAllString(batch, ""))
	h.write("mappings/kunden.yaml", strings.Replace(confirmLine.ReplaceAllString(mapping, ""), "        const:\n", "        const: news\n", 1))
	if _, err := h.run(pipeline.Map); err == nil || strings.Count(err.Error(), "stated_by has no name") != 2 {
		t.Error(err)
	}
}

// A file that batch.yaml names by its position stays the same file when others come into the folder: what sheetlift wrote does not count, and
// whatever else came is told from it by the bytes that were seen before.
func TestPositionsHold(t *testing.T) {
	t.Parallel()
	h := drafted(t, map[string]string{"ben@shop.example.csv": "Kundennr;Mail;Newsletter\n1;a@example.com;ja\n2;b@example.com;nein\n3;c@example.com;vielleicht\n", "purposes.csv": purposesCSV})
	if !strings.Contains(h.text("batch.yaml"), `file: "#1"`) {
		t.Fatal(h.text("batch.yaml"))
	}
	batch := h.text("batch.yaml")
	h.write("batch.yaml", strings.ReplaceAll(batch, "tolerance: { rows: 0 }", "tolerance: { rows: 1, reason: known, owner: Tester }"))
	first := h.mustRun(pipeline.Inventory)["inventory"].(*pipeline.InventoryResult)
	h.write("a-new-export.csv", "Some,Thing\n1,2\n")
	second := h.mustRun(pipeline.Reconcile)
	if got := second["inventory"].(*pipeline.InventoryResult); got.Digest != first.Digest {
		t.Errorf("the inventory saw %s of %d bytes, before %d bytes", got.Files[0].File, got.Files[0].Size, first.Files[0].Size)
	}
	h.rejects("a-mend.xlsx")
	h.write("a-mend.csv", "Kundennr;Mail;Newsletter\n3;c@example.com;vielleicht\n")
	if again := h.mustRun(pipeline.Reconcile)["freeze"].(*pipeline.FreezeResult); !again.AlreadyDone {
		t.Errorf("frozen again: %+v", again.Files)
	}
	if _, err := os.Stat(filepath.Join(h.dir, "a-mend.xlsx")); err != nil {
		t.Fatal(err)
	}
}
