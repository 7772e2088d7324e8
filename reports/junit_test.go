package reports

import (
	"bytes"
	"encoding/xml"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"sheetlift/pipeline/finding"
)

// needXMLLint skips where xmllint is not installed; in CI and with SHEETLIFT_REQUIRE_XMLLINT that is a failure.
func needXMLLint(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("xmllint")
	if err != nil {
		if os.Getenv("CI") != "" || os.Getenv("SHEETLIFT_REQUIRE_XMLLINT") != "" {
			t.Fatal("xmllint is required here and is not installed (Debian: libxml2-utils)")
		}
		t.Skip("SKIPPED: xmllint is not installed (Debian: libxml2-utils), so JUnit reports are NOT CHECKED against their schema")
	}
	return path
}

func lint(t *testing.T, xmllint, file string) error {
	t.Helper()
	out, err := exec.Command(xmllint, "--noout", "--nonet", "--schema", filepath.Join("testdata", "schema", "junit-10.xsd"), file).CombinedOutput()
	if err != nil {
		t.Logf("%s", out)
	}
	return err
}

func TestJUnitIsValid(t *testing.T) {
	xmllint := needXMLLint(t)
	for name, c := range checks() {
		file := filepath.Join(t.TempDir(), name+".xml")
		var b bytes.Buffer
		if err := JUnit(&b, c); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := lint(t, xmllint, file); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	// A check that finds nothing wrong with anything would find nothing.
	broken := filepath.Join(t.TempDir(), "broken.xml")
	if err := os.WriteFile(broken, []byte(`<testsuites><testsuite name="a"/></testsuites>`), 0o600); err != nil {
		t.Fatal(err)
	}
	if lint(t, xmllint, broken) == nil {
		t.Error("xmllint accepts a suite without its counts")
	}
}

type readSuites struct {
	Tests    int `xml:"tests,attr"`
	Failures int `xml:"failures,attr"`
	Errors   int `xml:"errors,attr"`
	Suites   []struct {
		Name     string `xml:"name,attr"`
		Tests    int    `xml:"tests,attr"`
		Failures int    `xml:"failures,attr"`
		Errors   int    `xml:"errors,attr"`
		Skipped  int    `xml:"skipped,attr"`
		Cases    []struct {
			Name    string    `xml:"name,attr"`
			Failure *readNote `xml:"failure"`
			Error   *readNote `xml:"error"`
			Skipped *readNote `xml:"skipped"`
			Out     string    `xml:"system-out"`
		} `xml:"testcase"`
	} `xml:"testsuite"`
}

type readNote struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

func readJUnit(t *testing.T, c *Check) (r readSuites, text string) {
	t.Helper()
	var b bytes.Buffer
	if err := JUnit(&b, c); err != nil {
		t.Fatal(err)
	}
	text = b.String()
	if err := xml.Unmarshal(b.Bytes(), &r); err != nil {
		t.Fatal(err)
	}
	return r, text
}

// A suite's numbers are those of its cases, and the report is red exactly when the check fails or did not come to its end.
func TestJUnitCounts(t *testing.T) {
	for name, c := range checks() {
		r, _ := readJUnit(t, c)
		var tests, failures, errors int
		for _, s := range r.Suites {
			var f, e, k int
			for _, x := range s.Cases {
				if x.Failure != nil {
					f++
				}
				if x.Error != nil {
					e++
				}
				if x.Skipped != nil {
					k++
				}
			}
			if len(s.Cases) != s.Tests || f != s.Failures || e != s.Errors || k != s.Skipped {
				t.Errorf("%s: suite %s says %d/%d/%d/%d, has %d/%d/%d/%d", name, s.Name, s.Tests, s.Failures, s.Errors, s.Skipped, len(s.Cases), f, e, k)
			}
			tests, failures, errors = tests+s.Tests, failures+f, errors+e
		}
		if tests != r.Tests || failures != r.Failures || errors != r.Errors {
			t.Errorf("%s: %d/%d/%d in all, %d/%d/%d counted", name, r.Tests, r.Failures, r.Errors, tests, failures, errors)
		}
		if (failures > 0) != c.Failed() || (errors > 0) != c.Fault {
			t.Errorf("%s: %d failures and %d errors; the check: failed %v, fault %v", name, failures, errors, c.Failed(), c.Fault)
		}
		if c.Fault && c.Complete() {
			t.Errorf("%s: complete", name)
		}
	}
}

func TestJUnitTellsAllStates(t *testing.T) {
	r, text := readJUnit(t, checks()["mixed"])
	perSource := len(finding.Rules)
	if got := r.Tests; got != 2*perSource+1+1 { // rules of two sources, a stage, a hidden sheet of no source
		t.Errorf("%d test cases for %d rules", got, perSource)
	}
	state := map[string]string{}
	for _, s := range r.Suites {
		for _, c := range s.Cases {
			word := "passed"
			switch {
			case c.Failure != nil:
				word = "failed"
				if !strings.Contains(c.Failure.Text, "docs/rules.md#") || !strings.Contains(c.Failure.Text, "sheetlift rules "+c.Name) {
					t.Errorf("%s does not lead to its rule: %s", c.Name, c.Failure.Text)
				}
			case c.Skipped != nil:
				word = "skipped"
			case c.Out != "":
				word = "noted"
			}
			state[s.Name+" "+c.Name] = word
		}
	}
	for which, want := range map[string]string{
		"stages dryrun": "passed", "consents enum.unmapped": "failed", "consents row.short": "noted", "consents source.over_tolerance": "failed",
		"lists enum.unmapped": "passed", "lists consent.no_answer": "noted", "lists reconcile.differs": "skipped", "lists file.owner_missing": "skipped",
		"no source sheet.hidden": "noted",
	} {
		if state[which] != want {
			t.Errorf("%s %s, want %s", which, state[which], want)
		}
	}
	for _, want := range []string{"25 errors", "and 15 more", "exports/consents.csv, row 2, line 2"} {
		if !strings.Contains(text, want) {
			t.Errorf("it does not say %q", want)
		}
	}
	r, _ = readJUnit(t, checks()["fault"])
	var told []string
	for _, c := range r.Suites[0].Cases {
		switch {
		case c.Error != nil:
			told = append(told, c.Name+" error "+c.Error.Message)
		case c.Skipped != nil:
			told = append(told, c.Name+" skipped")
		default:
			told = append(told, c.Name)
		}
	}
	if got := strings.Join(told, "; "); got != "inventory; freeze error exports/consents.csv: the file ends  early; map skipped; dryrun skipped" {
		t.Error(got)
	}
	// With a baseline the places are those of what is new.
	_, text = readJUnit(t, checks()["baseline"])
	if !strings.Contains(text, "1 new error (25 in all)") || !strings.Contains(text, "row 9,") || strings.Contains(text, "row 3, line 3: The value is none") {
		t.Error("the baseline report does not lead to the new finding")
	}
}

// XML 1.0 has no room for most control characters, not even escaped: they are left out.
func TestJUnitLeavesOutIllegalCharacters(t *testing.T) {
	_, text := readJUnit(t, checks()["hostile"])
	for _, r := range text {
		if r < 0x20 && r != '\n' && r != '\t' || r == 0xFFFE || r == 0xFFFD || r == '\u202e' {
			t.Errorf("the report holds %s", strconv.QuoteRuneToASCII(r))
		}
	}
	if strings.Contains(text, "&#x") && strings.Contains(text, "&#x0;") {
		t.Error("a NUL is written as a reference, which XML 1.0 does not allow")
	}
	if !strings.Contains(text, "😀") || !strings.Contains(text, "50 %") {
		t.Error("it leaves out what is legal")
	}
}
