package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/nyaruka/phonenumbers"
	"github.com/xuri/excelize/v2"
)

func mustBuild(t *testing.T) *sample {
	t.Helper()
	s, err := build()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// What is committed is what the generator writes, to the byte.
func TestCommittedBytes(t *testing.T) {
	out := filepath.Join(t.TempDir(), "exports")
	if err := run([]string{"-out", out}, os.Stdout); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"exports/config.xlsx", "exports/consents.xlsx", "exports/requests.xlsx", "exports/suppressions.csv", "expected.json"} {
		got, err := os.ReadFile(filepath.Join(filepath.Dir(out), name))
		if err != nil {
			t.Fatal(err)
		}
		committed, err := os.ReadFile(filepath.Join("..", name))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, committed) {
			t.Errorf("%s is not what the generator writes; run: go run ./samples/harbour/generate", name)
		}
	}
}

// Maps are walked in any order inside, and nothing of it may reach the bytes.
func TestSameBytesEveryTime(t *testing.T) {
	first := mustBuild(t)
	for range 5 {
		again := mustBuild(t)
		for name, data := range first.files {
			if !bytes.Equal(data, again.files[name]) {
				t.Fatalf("%s differs from one run to the next", name)
			}
		}
	}
}

// cells calls visit with every cell of every sheet of the sample's files as text; for the CSV file a line is a cell.
func cells(t *testing.T, s *sample, visit func(file, sheet, header, value string)) {
	t.Helper()
	for name, data := range s.files {
		if !strings.HasSuffix(name, ".xlsx") {
			for line := range strings.Lines(string(data)) {
				visit(name, "", "", line)
			}
			continue
		}
		f, err := excelize.OpenReader(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		for _, sheet := range f.GetSheetList() {
			rows, err := f.GetRows(sheet, excelize.Options{RawCellValue: true})
			if err != nil {
				t.Fatal(err)
			}
			header := map[int]string{}
			for _, row := range rows {
				if len(row) > 3 && len(header) == 0 {
					for i, h := range row {
						header[i] = h
					}
				}
				for i, v := range row {
					visit(name, sheet, header[i], v)
				}
			}
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

var address = regexp.MustCompile(`[A-Za-z0-9._]+@[A-Za-z0-9.]+`)

// Every address, number, name, remark and customer number that stands in the files is on the list of personal values.
func TestPersonalIsComplete(t *testing.T) {
	s := mustBuild(t)
	found := 0
	cells(t, s, func(file, sheet, header, value string) {
		values := address.FindAllString(value, -1)
		if slices.Contains([]string{"Customer No", "Name", "E-mail", "Phone", "Remarks", "Requester", "Details", "Reason of refusal"}, header) && value != header {
			values = append(values, strings.TrimSpace(value))
		}
		for _, v := range values {
			found++
			if _, ok := slices.BinarySearch(s.personal, v); v != "" && !ok && !slices.Contains(s.personal, strings.TrimSuffix(v, ">")) {
				if inner := address.FindString(v); inner == "" || !slices.Contains(s.personal, inner) {
					t.Errorf("%s %s, column %q: %q is personal and not on the list", file, sheet, header, v)
				}
			}
		}
	})
	if found < 500 {
		t.Errorf("only %d personal values were found in the files", found)
	}
	for _, v := range s.personal {
		if len([]rune(v)) < 8 {
			t.Errorf("%q is too short to be searched for", v)
		}
	}
}

// Digits that look like a telephone or account number stand only where identifiers and contact points belong.
func TestNoLongNumbersElsewhere(t *testing.T) {
	long := regexp.MustCompile(`\d{9,16}`)
	cells(t, mustBuild(t), func(file, sheet, header, value string) {
		allowed := slices.Contains([]string{"Customer No", "E-mail", "Phone"}, header) || file == "suppressions.csv"
		if !allowed && long.MatchString(value) && !strings.Contains(value, ".") { // a fraction of a day is no number of anybody
			t.Errorf("%s %s, column %q: %q", file, sheet, header, value)
		}
	})
}

// Nobody real can be reached: reserved domains, and numbers that are valid and kept free for fiction.
func TestPeopleAreMadeUp(t *testing.T) {
	reserved := regexp.MustCompile(`(?i)@(example\.(com|org|net)|mail\.example)$`)
	free := regexp.MustCompile(`^(4066969\d{3}|3023125\d{3}|176040690\d\d)$`)
	seen := map[string]int{}
	for n := 1; n < 300; n++ {
		p := subject(n)
		if !reserved.MatchString(p.email) || !free.MatchString(p.national) {
			t.Errorf("subject %d: %s, %s", n, p.email, p.national)
		}
		number, err := phonenumbers.Parse(p.phone(), "DE")
		if err != nil || !phonenumbers.IsValidNumber(number) || phonenumbers.Format(number, phonenumbers.E164) != "+49"+p.national {
			t.Errorf("subject %d: %s is not +49%s: %v", n, p.phone(), p.national, err)
		}
		for _, v := range []string{p.email, p.national, p.customer} {
			if before, twice := seen[v]; twice {
				t.Errorf("subjects %d and %d share %s", before, n, v)
			}
			seen[v] = n
		}
	}
	cells(t, mustBuild(t), func(file, sheet, header, value string) {
		for _, a := range address.FindAllString(value, -1) {
			if !reserved.MatchString(a) {
				t.Errorf("%s %s: %s is in no reserved domain", file, sheet, a)
			}
		}
	})
}

func TestPersonalWritesNothing(t *testing.T) {
	out := filepath.Join(t.TempDir(), "exports")
	var buf bytes.Buffer
	if err := run([]string{"-out", out, "-personal"}, &buf); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(out); !os.IsNotExist(err) {
		t.Errorf("%s exists: %v", out, err)
	}
	if n := bytes.Count(buf.Bytes(), []byte{'\n'}); n < 500 {
		t.Errorf("only %d lines", n)
	}
}
