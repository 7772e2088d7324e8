package pipeline_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sheetlift/pipeline"
	"sheetlift/pipeline/store/storetest"
)

// TestValuesOfRejectedRows: what is wrong with each rejected row, beside the value that stands there, in a file of its own.
func TestValuesOfRejectedRows(t *testing.T) {
	t.Parallel()
	h := small(t, map[string]string{"consents.csv": consentHeader +
		"C-1,S-1,one at example,news,email,Y,31.02.2024,,,,,,\n" +
		"C-2,S-2,two@example.com,news,email,Y,2025-03-01T10:00:00Z,,,,,,\n" +
		"C-3,S-3,\"<three>\nnone\",news,email,,2025-03-01T10:00:00Z,,,,,,\n" +
		",S-4,four@example.com,news,email,Y,2025-03-01T10:00:00Z,,,,,,\n"})
	h.mustRun(pipeline.Map)
	p := h.open()
	dry, err := p.DryRun(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(h.dir, "values.ndjson")
	if err := p.WriteValues(t.Context(), dry, path); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if st, err := file.Stat(); err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", st.Mode(), err)
	}
	got := map[string]pipeline.RejectedValue{}
	n := 0
	for lines := bufio.NewScanner(file); lines.Scan(); n++ {
		var v pipeline.RejectedValue
		if err := json.Unmarshal(lines.Bytes(), &v); err != nil {
			t.Fatal(err)
		}
		got[v.Cell+" "+v.Rule] = v
	}
	for at, want := range map[string]string{"C2 email.invalid": "one at example", "G2 date.format": "31.02.2024"} {
		if v := got[at]; v.Value != want || v.File != "consents.csv" || v.Row != 2 || v.Kind != "text" || v.Source != "consents" {
			t.Errorf("%s: %+v, want %q", at, v, want)
		}
	}
	if v := got["A5 key.incomplete"]; v.Kind != "empty" || v.Value != "" || v.Line != 6 {
		t.Errorf("%+v in %+v", v, got)
	}
	if n != len(got) || dry.Values == nil || dry.Values.Values != n || dry.Values.SHA256 == "" {
		t.Errorf("%d lines, %+v, result %+v", n, got, dry.Values)
	}
	again, err := p.DryRun(t.Context())
	if err != nil || again.Digest != dry.Digest || again.Values != nil {
		t.Errorf("again: %+v, %v", again.Values, err)
	}

	// Never over a file, and never among what is kept of the batch, by whatever way.
	link := filepath.Join(h.dir, "link")
	if err := os.Symlink(filepath.Join(h.dir, ".sheetlift", "work"), link); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"values.ndjson": "there is a file of this name already", ".sheetlift/values.ndjson": "lies among what sheetlift keeps",
		".sheetlift/vault/acme-2026/initial/data/values.ndjson": "lies among what sheetlift keeps", "link/values.ndjson": "lies among what sheetlift keeps", "none/values.ndjson": "can't be written",
	} {
		var cfg *pipeline.ConfigError
		if err := p.WriteValues(t.Context(), dry, filepath.Join(h.dir, name)); !errors.As(err, &cfg) || !strings.Contains(cfg.Message, want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
}

// Of mended rows it is what stands in them now.
func TestValuesOfMendedRows(t *testing.T) {
	t.Parallel()
	h := newHouse(t, storetest.SQLite(t), rows([]string{assertion("C-1", ",one", "Y", ""), assertion("C-2", "S-2,", "Y", "")}, nil, nil))
	h.mustRun(pipeline.Reconcile)
	h.edit("mend.xlsx", func(w *inHand) { w.set(2, map[string]string{"Mail": "still none"}) })
	h.snapshot(pipeline.Mended, "mend.xlsx")
	dry := h.mustRun(pipeline.DryRun)["dryrun"].(*pipeline.DryRunResult)
	path := filepath.Join(h.dir, "values.ndjson")
	if err := h.open().WriteValues(t.Context(), dry, path); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil || !strings.Contains(string(data), `"cell":"C2","rule":"email.invalid","kind":"text","value":"still none"`) {
		t.Errorf("%s, %v", data, err)
	}
}
