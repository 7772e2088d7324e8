package reports

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"sheetlift/pipeline/finding"
)

func TestBaseline(t *testing.T) {
	row := func(n int) finding.Finding { return found("enum.unmapped", "consents", n) }
	of := func(token string, n int) finding.Finding {
		return found("enum.unmapped", "consents", n, func(f *finding.Finding) { f.SubjectToken = token })
	}
	field := func(name string, n int) finding.Finding {
		return found("enum.unmapped", "consents", n, func(f *finding.Finding) { f.Field, f.Column = name, "F" })
	}
	other := func(edit func(*finding.Finding)) finding.Finding { return found("enum.unmapped", "consents", 3, edit) }
	for _, test := range []struct {
		name           string
		earlier, later []finding.Finding
		want           string // rows that are new
		otherKey       bool
	}{
		{"the same", []finding.Finding{row(3), row(7)}, []finding.Finding{row(3), row(7)}, "", false},
		{"nothing before", nil, []finding.Finding{row(3)}, "3", false},
		{"nothing now", []finding.Finding{row(3)}, nil, "", false},
		{"rows moved down", []finding.Finding{row(3), row(7), row(9)}, []finding.Finding{row(5), row(9), row(11)}, "", false},
		{"one more, rows as they were", []finding.Finding{row(3), row(7), row(9)}, []finding.Finding{row(3), row(5), row(7), row(9)}, "5", false},
		{"one mended", []finding.Finding{row(3), row(7)}, []finding.Finding{row(7)}, "", false},
		{"one more, rows moved", []finding.Finding{row(3), row(7)}, []finding.Finding{row(4), row(8), row(12)}, "12", false},
		{"another source", []finding.Finding{row(3)}, []finding.Finding{other(func(f *finding.Finding) { f.Source = "lists" })}, "3", false},
		{"another rule", []finding.Finding{row(3)}, []finding.Finding{found("bool.invalid", "consents", 3)}, "3", false},
		{"graver than before", []finding.Finding{other(func(f *finding.Finding) { f.Severity = finding.Warning })}, []finding.Finding{row(3)}, "3", false},
		{"another file name of the source", []finding.Finding{row(3)}, []finding.Finding{other(func(f *finding.Finding) { f.File = "exports/october.csv" })}, "", false},
		{"other words", []finding.Finding{row(3)}, []finding.Finding{other(func(f *finding.Finding) { f.Message, f.Rows = "other", 9 })}, "", false},
		{"another field", []finding.Finding{field("consent.status", 3)}, []finding.Finding{field("consent.purpose", 3)}, "3", false},
		{"the column moved, the field is the same", []finding.Finding{field("consent.status", 3)},
			[]finding.Finding{found("enum.unmapped", "consents", 3, func(f *finding.Finding) { f.Field, f.Column = "consent.status", "G" })}, "", false},
		{"one mended, another person's is new", []finding.Finding{of("a", 3), of("b", 7)}, []finding.Finding{of("a", 3), of("c", 9)}, "9", false},
		{"a person's rows moved", []finding.Finding{of("a", 3), of("b", 7)}, []finding.Finding{of("b", 4), of("a", 8)}, "", false},
		{"made with another key", []finding.Finding{of("a", 3), of("b", 7)}, []finding.Finding{of("x", 3), of("y", 8), of("z", 9)}, "9", true},
		{"no token before", []finding.Finding{row(3)}, []finding.Finding{of("a", 3)}, "", false},
		{"twice in one row", []finding.Finding{row(3), row(3)}, []finding.Finding{row(3), row(3), row(3)}, "3", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			var file bytes.Buffer
			for _, f := range test.earlier {
				if err := Finding(&file, f); err != nil {
					t.Fatal(err)
				}
			}
			b, err := ReadBaseline(&file)
			if err != nil || b.Len() != len(test.earlier) {
				t.Fatal(err, b)
			}
			otherKey, err := b.Prepare(func(each func(finding.Finding) error) error {
				for _, f := range test.later {
					if err := each(f); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil || otherKey != test.otherKey {
				t.Errorf("another key: %v (%v)", otherKey, err)
			}
			var rows []string
			for _, f := range test.later {
				if b.New(&f) {
					rows = append(rows, fmt.Sprint(f.Row))
				}
			}
			if got := strings.Join(rows, " "); got != test.want {
				t.Errorf("new rows %q, want %q", got, test.want)
			}
		})
	}
	if _, err := ReadBaseline(strings.NewReader(`{"schema":"sheetlift/dryrun/v1"}` + "\n")); err == nil {
		t.Error("a result is taken for a list of findings")
	}
}
