// Generate writes the exports of the harbour sample: a made-up retailer's registers with the mess of real ones.
//
//	go run ./samples/harbour/generate -out samples/harbour/exports
//
// It writes config.xlsx, consents.xlsx, requests.xlsx and suppressions.csv into -out, and expected.json, what a run of the
// batch must count, beside that folder. The bytes are the same on every machine: nothing here reads a clock or draws a
// number. With -personal it writes nothing and prints every personal value of the exports instead, one a line, so that a
// test can search what the program puts out for them.
//
// Each row is written down together with what must become of it, so expected.json is stated here and not computed by the
// code that it judges.
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

func run(args []string, stdout io.Writer) error {
	flags := flag.NewFlagSet("generate", flag.ContinueOnError)
	out := flags.String("out", "samples/harbour/exports", "folder to write the exports to")
	personal := flags.Bool("personal", false, "print every personal value instead of writing, one a line")
	if err := flags.Parse(args); err != nil {
		return err
	}
	s, err := build()
	if err != nil {
		return err
	}
	if *personal {
		_, err := fmt.Fprintln(stdout, strings.Join(s.personal, "\n"))
		return err
	}
	if err := os.MkdirAll(*out, 0o755); err != nil {
		return err
	}
	for name, data := range s.files {
		if err := os.WriteFile(filepath.Join(*out, name), data, 0o644); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(filepath.Dir(filepath.Clean(*out)), "expected.json"), s.expected, 0o644)
}

// sample is all that the generator makes.
type sample struct {
	files    map[string][]byte // by name, in exports/
	expected []byte            // expected.json
	personal []string          // sorted, each once
}

func build() (*sample, error) {
	d := &data{personal: map[string]bool{}}
	config := d.config() // in the order of batch.yaml
	suppressions := d.suppressions()
	requests := d.requests()
	consents := d.consents()
	s := &sample{files: map[string][]byte{"suppressions.csv": suppressions}}
	for name, sheets := range map[string][]*sheet{"config.xlsx": config, "consents.xlsx": consents, "requests.xlsx": requests} {
		data, err := workbook(sheets)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		s.files[name] = data
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(d.expected()); err != nil {
		return nil, err
	}
	s.expected = buf.Bytes()
	for v := range d.personal {
		s.personal = append(s.personal, v)
	}
	slices.Sort(s.personal)
	return s, nil
}

// data collects, while the sheets are made, what must come of them and which personal values they hold.
type data struct {
	tallies  []*tally
	records  map[string]*entityTally
	findings map[string]int
	cases    caseTally
	personal map[string]bool
}

// private notes personal values.
func (d *data) private(values ...string) {
	for _, v := range values {
		if v != "" {
			d.personal[v] = true
		}
	}
}
