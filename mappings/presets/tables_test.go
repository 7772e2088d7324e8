package presets

import (
	"slices"
	"strings"
	"testing"

	"sheetlift/mappings"
)

// drafted gives the draft of a known export as one line of text, and what a mapping of it with every guess confirmed is refused for.
func drafted(t *testing.T, preset string, lines ...string) (text string, asked []string) {
	t.Helper()
	f := Find(sheet(t, "export.csv", lines...))
	if f == nil || f.Preset.Name != preset {
		t.Fatalf("%q is not taken for %s: %+v", lines[0], preset, f)
	}
	data := f.Draft(&two).YAML()
	if _, err := mappings.Parse("x.yaml", data); err != nil {
		for _, fault := range err.(*mappings.ParseErrors).Faults {
			asked = append(asked, fault.Path)
		}
	}
	return strings.Join(strings.Fields(strings.ReplaceAll(string(data), "#", "")), " "), asked
}

// A second table in an export of a known layout is told with its row, and the draft is no mapping until it stands by itself: the preset read its rows as
// those of the first, a yes to an opt-out as one to a consent.
func TestSecondTableBelowAKnownExport(t *testing.T) {
	shopify := []string{"Customer ID,First Name,Last Name,Email,Accepts Email Marketing,Accepts SMS Marketing,Phone", "7001,A,B,a@example.com,yes,no,", "7002,A,B,b@example.com,no,no,", "7003,A,B,c@example.com,yes,no,"}
	mailpoet := []string{"email,tracking_consent,tracking_consent_method,tracking_consent_copy,tracking_consent_updated_at", "a@example.com,granted,form,We follow,2026-01-02T10:00:00Z", "b@example.com,denied,form,We follow,2026-01-02T10:00:00Z"}
	dsar := []string{"case_id,request_type,identity_verified,requester_email,submitted_at,due_date", "C1,access,yes,a@example.com,2026-01-02,2026-02-02", "C2,erasure,yes,b@example.com,2026-01-03,2026-02-03", "C3,access,yes,c@example.com,2026-01-03,2026-02-03"}
	for _, tc := range []struct {
		preset     string
		top, below []string
		want       string
	}{
		{"shopify", shopify, []string{"", "Do not contact", "7009,A,B,d@example.com,yes,yes,"}, "row 6 looks like the title of a second table, and sounds"},
		{"shopify", shopify, []string{"Customer ID,First Name,Last Name,Email,Opted out", "7009,A,B,d@example.com,yes"}, "row 5 looks like the header of a second table, and sounds"},
		{"shopify", shopify, []string{"Customer ID,First Name,Last Name,Email,Accepts Email Marketing,Accepts SMS Marketing,Phone", "7009,A,B,d@example.com,yes,no,"}, "row 5 repeats the header"},
		{"mailpoet", mailpoet, []string{"Abmeldungen", "d@example.com,granted,form,We follow,2026-01-02T10:00:00Z"}, "row 4 looks like the title of a second table, and sounds"},
		{"dsar", dsar, []string{"", "ID,E-mail,Opted out", "C9,d@example.com,yes"}, "row 6, after blank ones, looks like the header of a second table"},
		{"shopify", shopify, []string{"7009,A,B,d@example.com,yes,no,"}, ""},
		{"dsar", dsar, []string{"Total,3"}, ""},
	} {
		text, asked := drafted(t, tc.preset, slices.Concat(tc.top, tc.below)...)
		further := strings.Contains(tc.want, "second table")
		if slices.Contains(asked, "records[0].when.in") != further && slices.Contains(asked, "records[0].when[1].in") != further || !strings.Contains(text, tc.want) || tc.want == "" && strings.Contains(text, "looks like the") {
			t.Errorf("%s, %q: want %q, asks %v\n%s", tc.preset, tc.below, tc.want, asked, text)
		}
	}
}

// A second table beside a known export gives records of its own, and its columns are none of the first.
func TestSecondTableBesideAKnownExport(t *testing.T) {
	text, asked := drafted(t, "shopify", "Customer ID,Email,Accepts Email Marketing,,E-mail,Reason,Accepts SMS Marketing", "7001,a@example.com,yes,,c@example.com,Unsubscribed,", "7002,b@example.com,no,,d@example.com,Complaint,")
	if !strings.Contains(text, "the sheet holds two tables side by side, the second from column E") || !strings.Contains(text, "entity: suppression") || !strings.Contains(text, "complaint: [Complaint]") || strings.Contains(text, "the header names SMS") || len(asked) > 0 {
		t.Errorf("asks %v\n%s", asked, text)
	}
	text, asked = drafted(t, "shopify", "Customer ID,Email,Accepts Email Marketing,,Mail,Remark", "7001,a@example.com,yes,,c@example.com,left", "7002,b@example.com,no,,d@example.com,left")
	if !slices.Contains(asked, "records[1].fields.reason.const") {
		t.Errorf("nothing says what the second table is: asks %v\n%s", asked, text)
	}
}
