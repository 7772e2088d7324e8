package mappings

import (
	"strings"
	"testing"

	"sheetlift/importers"
	"sheetlift/pipeline/finding"
)

// A row says whose the records are that it does not give for want of an answer or of consent, and no more; not those that the mapping leaves out.
func TestSilentRecords(t *testing.T) {
	mail := record("consent", "", "subject_id: Id", yesAndNo)
	phone := strings.Replace(record("consent", "", "phone: Tel", "status: { from: T, enum: { yes: [Y], no: [N] }, polarity: normal }"), "email: Mail\n      ", "", 1)
	phone = strings.Replace(phone, "key: [email]", "key: [phone]", 1)
	for name, c := range map[string]struct {
		mapping, row string
		verdict      Verdict
		want         string
	}{
		"no answer":                  {mappingOf("[]", mail), "7 | a@example.com | | +4915112345678 | ", Skipped, "subject_id=7 email=a@example.com"},
		"an identifier that is none": {mappingOf("[]", mail), "7 | bad | | | ", Skipped, "subject_id=7"},
		"an answer":                  {mappingOf("[]", mail), "7 | a@example.com | Y | | ", Accepted, ""},
		"one of two":                 {mappingOf("[]", mail, phone), "7 | a@example.com | Y | +4915112345678 | ", Accepted, "phone=+4915112345678"},
		"neither of two":             {mappingOf("[]", mail, phone), "7 | a@example.com | | +4915112345678 | ", Skipped, "subject_id=7 email=a@example.com phone=+4915112345678"},
		"rejected":                   {mappingOf("[]", mail, phone), "7 | a@example.com | what | +4915112345678 | ", Rejected, ""},
		"left out by a when":         {mappingOf("[]", record("consent", "{ column: T, not_blank: true }", "subject_id: Id", yesAndNo)), "7 | a@example.com | | | ", Skipped, ""},
		"left out by a skip":         {mappingOf("[{ column: T, blank: true, reason: none }]", mail), "7 | a@example.com | | | ", Skipped, ""},
	} {
		t.Run(name, func(t *testing.T) {
			m, err := Parse("m.yaml", []byte(c.mapping))
			if err != nil {
				t.Fatal(err)
			}
			rows := sheet("Id | Mail | S | Tel | T", c.row, "8 | b@example.com | Y | +4915112345679 | Y")
			list := blocks(rows, 10, false)
			env := Env{Source: "src", File: "x.xlsx"}
			pl, _, err := Compile(m, profileOf(t, m, list), env)
			if err != nil {
				t.Fatal(err)
			}
			check := func(row *Row) {
				var got []string
				for i := range row.Silent {
					for _, k := range importers.SubjectKeys(&row.Silent[i].Record, "crm") {
						got = append(got, k.Kind+"="+k.Value)
					}
				}
				if text := strings.Join(got, " "); row.Num == 2 && (text != c.want || row.Verdict != c.verdict) {
					t.Errorf("%v, %q; want %v, %q", row.Verdict, text, c.verdict, c.want)
				}
			}
			sink := finding.SinkFunc(func(finding.Finding) error { return nil })
			for _, b := range list {
				if err := pl.Apply(b, sink, func(row *Row) error { check(row); return nil }); err != nil {
					t.Fatal(err)
				}
				var kept Rows
				pl.Keep(b, &kept)
				for i := range kept.List {
					check(&kept.List[i])
				}
			}
		})
	}
}
