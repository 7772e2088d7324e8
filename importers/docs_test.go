package importers

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "rewrite the generated tables of docs/consent.md")

// The page that people read says what the code does: each generated block is compared with the rules.
func TestConsentPageAgreesWithTheRules(t *testing.T) {
	path := filepath.Join("..", "docs", "consent.md")
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	tables := map[string]string{
		"questions":    questionsTable(),
		"proof kinds":  proofKindsList(),
		"references":   referencesTable(),
		"reasons":      reasonsTable(),
		"confidence":   confidenceTable(),
		"precedence":   precedenceTable(),
		"because":      becauseTable(),
		"suppressions": suppressionsTable(),
	}
	block := regexp.MustCompile(`(?s)<!-- generated: ([a-z ]+) -->\n.*?<!-- end -->`)
	seen := map[string]bool{}
	want := block.ReplaceAllStringFunc(string(page), func(s string) string {
		name := block.FindStringSubmatch(s)[1]
		seen[name] = true
		table, ok := tables[name]
		if !ok {
			t.Errorf("the page asks for a table %q that does not exist", name)
		}
		return "<!-- generated: " + name + " -->\n" + table + "<!-- end -->"
	})
	for name := range tables {
		if !seen[name] {
			t.Errorf("the page does not show the table %q", name)
		}
	}
	if want == string(page) {
		return
	}
	if !*update {
		t.Fatal("docs/consent.md differs from the rules; run: go test ./importers -run ConsentPage -update")
	}
	if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}

func table(head string, rows ...[]string) string {
	columns := strings.Split(head, "|")
	var b strings.Builder
	fmt.Fprintf(&b, "| %s |\n|%s\n", strings.Join(columns, " | "), strings.Repeat("---|", len(columns)))
	for _, r := range rows {
		for i := range r {
			r[i] = strings.ReplaceAll(r[i], "|", `\|`)
		}
		fmt.Fprintf(&b, "| %s |\n", strings.Join(r, " | "))
	}
	return b.String()
}

func code(s string) string {
	if s == "" {
		return "(blank)"
	}
	return "`" + s + "`"
}

func questionsTable() string {
	var rows [][]string
	for i, q := range Questions {
		rows = append(rows, []string{fmt.Sprint(i + 1), code(q.Name), q.Asks, q.Counts, q.Remedy})
	}
	return table("|question|asks|what counts|if missing", rows...)
}

func proofKindsList() string {
	var b strings.Builder
	for _, k := range proofKind {
		fmt.Fprintf(&b, "- %s\n", code(k.Name))
	}
	return b.String()
}

func referencesTable() string {
	var rows [][]string
	for _, r := range referenceExamples {
		counts := "no"
		if IsReference(r.text) {
			counts = "yes"
		}
		rows = append(rows, []string{code(r.text), counts, r.why})
	}
	return table("reference|counts|because", rows...)
}

func reasonsTable() string {
	var rows [][]string
	for r := Absent; int(r) < len(reasons); r++ {
		rows = append(rows, []string{r.String()})
	}
	return table("reason", rows...)
}

func confidenceTable() string {
	var rows [][]string
	for _, r := range ConfidenceRules {
		rows = append(rows, []string{code(string(r.Confidence)), r.When})
	}
	return table("confidence|when", rows...)
}

func precedenceTable() string {
	var rows [][]string
	for _, tt := range precedenceCases {
		var in []string
		for _, e := range tt.events {
			s := e.Status
			if e.Status == StatusGiven {
				s = map[Class]string{Receipt: "receipt", LegacyAssertion: "assertion"}[e.Class] + ", given"
			}
			s += " " + dated(e.Dated, e.Earliest, e.ObtainedAt)
			if e.ExpiresAt != 0 {
				s += ", until " + time.UnixMicro(e.ExpiresAt).UTC().Format(time.DateOnly)
			}
			in = append(in, s)
		}
		for _, s := range tt.suppressions {
			in = append(in, "suppression, "+s.Reason+" "+dated(s.Dated, s.Earliest, s.ObtainedAt))
		}
		got := State(tt.events, tt.suppressions, stateAt)
		rows = append(rows, []string{tt.name, strings.Join(in, "; "), got.Consent, "**" + got.Status + "**", code(got.Because)})
	}
	return table("case|records|consent|state|because", rows...)
}

func dated(isDated bool, earliest, obtainedAt int64) string {
	if isDated {
		return time.UnixMicro(earliest).UTC().Format(time.DateOnly)
	}
	if obtainedAt != at("2024-09-01T00:00:00Z") {
		return "undated, exported " + time.UnixMicro(obtainedAt).UTC().Format(time.DateOnly)
	}
	return "undated"
}

func becauseTable() string {
	var rows [][]string
	for _, b := range Because {
		rows = append(rows, []string{code(b.Word), b.Meaning})
	}
	return table("because|meaning", rows...)
}

func suppressionsTable() string {
	var rows [][]string
	for _, r := range suppressionReason {
		concerns, lifted := "the subject", "no consent lifts it"
		if deliveryOnly(r.Name) {
			concerns = "that contact point only"
		}
		if Lifts(r.Name) {
			lifted = "lifted by a provably later receipt"
		}
		rows = append(rows, []string{code(r.Name), concerns, lifted})
	}
	return table("reason|concerns|and", rows...)
}
