package pipeline_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sheetlift/pipeline"
)

// A list without a header is read from its first row on, titles above it or none, and rows of it that were rejected come back to their places: the blank
// lines above them count.
func TestListBelowTitles(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ text, header string }{
		"titles":          {"Sperrliste Newsletter\n\nStand 01.10.2026\n\na@example.com;Abmeldung\nb example;Bounce\nc@example.com;Abmeldung\n", "header: { none: true, first: 5 }"},
		"no titles":       {"a@example.com;Abmeldung\nb example;Bounce\nc@example.com;Abmeldung\n", "header: { none: true }"},
		"a header":        {"Sperrliste Newsletter\n\nStand 01.10.2026;\n\nE-Mail;Grund\na@example.com;Abmeldung\nb example;Bounce\nc@example.com;Abmeldung\n", "header: { row: 5 }"},
		"a state and day": {"Sperrliste;;\n;;\na@example.com;unsubscribed;14.03.2024\nb example;bounced;14.03.2024\nc@example.com;unsubscribed;14.03.2024\n", "header: { none: true, first: 3 }"},
	} {
		t.Run(name, func(t *testing.T) {
			h := drafted(t, map[string]string{"sperrliste.csv": tc.text})
			mapping, err := os.ReadFile(filepath.Join(h.dir, "mappings", "sperrliste.yaml"))
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(mapping), tc.header+"\n") {
				t.Fatalf("%s", mapping)
			}
			h.write("batch.yaml", strings.Replace(h.text("batch.yaml"), "tolerance: { rows: 0 }", "tolerance: { rows: 1, reason: to be mended, owner: DPO }", 1))
			first := h.mustRun(pipeline.Reconcile)["dryrun"].(*pipeline.DryRunResult)
			if first.Rows.Read != 3 || first.Rows.Accepted != 2 || first.Rows.Rejected != 1 {
				t.Errorf("%+v", first.Rows)
			}
			h.rejects("mend.csv")
			data, err := os.ReadFile(filepath.Join(h.dir, "mend.csv"))
			if err != nil {
				t.Fatal(err)
			}
			h.write("mend-sperrliste.csv", strings.Replace(string(data), "b example", "b@example.com", 1))
			h.snapshot(pipeline.Mended, "mend-sperrliste.csv")
			again := h.mustRun(pipeline.Reconcile)["dryrun"].(*pipeline.DryRunResult)
			if again.Rows.Read != 1 || again.Rows.Accepted != 1 || h.counts()["suppressions"] != 3 {
				t.Errorf("%+v, register %v\n%s", again.Rows, h.counts(), data)
			}
			h.mustVerify()
		})
	}
}
