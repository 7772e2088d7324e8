package pipeline_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"

	"sheetlift/pipeline"
	"sheetlift/pipeline/store/storetest"
)

// noRecord is what a trace of a cell says that leads to no record: message and remedy, and by what the row was rejected.
func (h *house) noRecord(cell, snapshot string) (string, []string) {
	h.t.Helper()
	r, err := h.open().TraceCell(h.t.Context(), cell, snapshot, false)
	var none *pipeline.ErrNoSuchRecord
	var config *pipeline.ConfigError
	switch {
	case errors.As(err, &none):
		var by []string
		for _, x := range none.Rejected {
			if x.Message == "" || x.Remedy == "" {
				h.t.Errorf("%s: %+v", cell, x)
			}
			by = append(by, strings.TrimSpace(x.Rule+" "+x.Cell))
		}
		return none.Error() + "\n" + none.Remedy, by
	case errors.As(err, &config):
		return config.Message + "\n" + config.Remedy, nil
	}
	h.t.Fatalf("%s: %+v, %v", cell, r, err)
	return "", nil
}

// wants holds a text to words that it must have.
func wants(t *testing.T, of, text string, words ...string) {
	t.Helper()
	for _, w := range words {
		if !strings.Contains(text, w) {
			t.Errorf("%s: %q is not in %q", of, w, text)
		}
	}
	if strings.Contains(text, "@") || strings.Contains(text, "perhaps") {
		t.Errorf("%s: a value in %q", of, text)
	}
}

// A cell of a row that was rejected or skipped names the rule, the cell at fault and what to do, before the import and after it.
func TestTraceOfARejectedRow(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, url string) {
		yes := receipt("C-1", "S-1,one@example.com", "Y", "2025-03-01T10:00:00Z")
		h := newHouse(t, url, rows([]string{
			yes,
			receipt("C-2", "S-2,two@example.com", "perhaps", "2025-31-31T10:00:00Z"),
			receipt("C-3", "S-3,three@example.com", "", "2025-03-01T10:00:00Z"),
			receipt("C-4", "S-4,four@example.com", "Y", "2025-03-01T10:00:00Z"),
			receipt("C-4", "S-4,four@example.com", "N", "2025-03-01T10:00:00Z"),
			"",
			yes,
		}, nil, nil))
		h.mustRun(pipeline.DryRun)
		for _, until := range []string{"the dry-run", "the import"} {
			if until == "the import" {
				h.mustRun(pipeline.Import)
			}
			text, by := h.noRecord("consents.csv!A3", "")
			wants(t, until, text, "row 3", "the dry-run rejected it", "enum.unmapped at F3", "date.invalid at G3")
			if got := strings.Join(by, ", "); got != "enum.unmapped F3, date.invalid G3" {
				t.Errorf("after %s: rejected by %s", until, got)
			}
			text, by = h.noRecord("consents.csv!A6", "initial")
			wants(t, until, text, "key.multiple_match")
			if len(by) != 1 {
				t.Errorf("after %s: %v", until, by)
			}
			text, _ = h.noRecord("consents.csv!B4", "")
			wants(t, until, text, "row 4", "the dry-run skipped it", "consent.no_answer")
			text, _ = h.noRecord("consents.csv!B1", "")
			wants(t, until, text, "it is the header", "as far as row 8")
			text, _ = h.noRecord("consents.csv!B7", "")
			wants(t, until, text, "the row is blank")
			text, _ = h.noRecord("consents.csv!B9", "")
			wants(t, until, text, "it has no such row", "row 8")
		}
		h.mustRun(pipeline.Reconcile)
		h.write("consents.csv", consentHeader+yes+"\n"+receipt("C-2", "S-2,two@example.com", "maybe", "2025-03-01T10:00:00Z")+"\n")
		h.snapshot(pipeline.Delta, "consents.csv")
		h.mustRun(pipeline.DryRun)
		text, by := h.noRecord("consents.csv!A3", "")
		wants(t, "a delta", text, "the dry-run of snapshot delta-1 rejected it", "enum.unmapped at F3")
		if len(by) != 1 {
			t.Errorf("a delta: %v", by)
		}
		text, by = h.noRecord("consents.csv!A3", "initial")
		wants(t, "before the delta", text, "the dry-run rejected it", "date.invalid at G3")
		if len(by) != 2 {
			t.Errorf("before the delta: %v", by)
		}
		text, _ = h.noRecord("purposes.csv!A2", "delta-1")
		wants(t, "a snapshot", text, "snapshot delta-1 does not hold that file", "initial")
		text, _ = h.noRecord("consents.csv!A3", "delta-7")
		wants(t, "no snapshot", text, `the batch has no snapshot "delta-7"`)
	})
}

// noRecordOf is what a trace of a key says that leads to no record: message and remedy, and by what its rows were rejected.
func (h *house) noRecordOf(entity, key string) (string, []string) {
	h.t.Helper()
	r, err := h.open().Trace(h.t.Context(), entity, key, false)
	var none *pipeline.ErrNoSuchRecord
	if !errors.As(err, &none) {
		h.t.Fatalf("%s: %+v, %v", key, r, err)
	}
	var by []string
	for _, x := range none.Rejected {
		if x.Message == "" || x.Remedy == "" || x.Row == 0 {
			h.t.Errorf("%s: %+v", key, x)
		}
		by = append(by, strings.TrimSpace(x.Rule+" "+x.Cell))
	}
	return none.Error() + "\n" + none.Remedy, by
}

// The key of a row that was rejected or skipped names row, rule, cell and remedy, as a cell of that row does, before the import and after it.
func TestTraceOfARejectedKey(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, url string) {
		yes := receipt("C-1", "S-1,one@example.com", "Y", "2025-03-01T10:00:00Z")
		bad := receipt("C-2", "S-2,two@example.com", "perhaps", "2025-31-31T10:00:00Z")
		h := newHouse(t, url, rows([]string{
			yes,
			bad,
			receipt("C-3", "S-3,three@example.com", "", "2025-03-01T10:00:00Z"),
			receipt("C-4", "S-4,four@example.com", "Y", "2025-03-01T10:00:00Z"),
			receipt("C-4", "S-4,four@example.com", "N", "2025-03-01T10:00:00Z"),
		}, nil, nil))
		if text, by := h.noRecordOf("consent", "C-2"); len(by) > 0 || strings.Contains(text, "rejected") {
			t.Errorf("before any dry-run: %s", text)
		}
		h.mustRun(pipeline.DryRun)
		for _, until := range []string{"the dry-run", "the import"} {
			if until == "the import" {
				h.mustRun(pipeline.Import)
			}
			text, by := h.noRecordOf("consent", "C-2")
			wants(t, until, text, "holds no consent", "row 3 of source consents has that key, and the dry-run rejected it, by enum.unmapped at F3, date.invalid at G3", "\nenum.unmapped at F3: ", "\ndate.invalid at G3: ")
			if got := strings.Join(by, ", "); got != "enum.unmapped F3, date.invalid G3" {
				t.Errorf("after %s: rejected by %s", until, got)
			}
			text, by = h.noRecordOf("consent", "C-4")
			wants(t, until, text, "row 5 of source consents has that key", "row 6 of source consents has that key", "key.multiple_match")
			if len(by) != 2 || strings.Count(text, "\nkey.multiple_match: ") != 1 {
				t.Errorf("after %s: %v\n%s", until, by, text)
			}
			text, _ = h.noRecordOf("consent", "C-3")
			wants(t, until, text, "row 4 of source consents has that key, and the dry-run skipped it, by consent.no_answer")
			for _, other := range [][2]string{{"consent", "C-9"}, {"purpose", "C-2"}} {
				text, by = h.noRecordOf(other[0], other[1])
				if wants(t, until, text, "give the key as the source has it"); len(by) > 0 || strings.Contains(text, "rejected") {
					t.Errorf("after %s: %s", until, text)
				}
			}
		}
		h.mustRun(pipeline.Reconcile)
		h.write("consents.csv", consentHeader+yes+"\n"+receipt("C-2", "S-2,two@example.com", "maybe", "2025-03-01T10:00:00Z")+"\n")
		h.snapshot(pipeline.Delta, "consents.csv")
		h.mustRun(pipeline.DryRun)
		text, by := h.noRecordOf("consent", "C-2")
		wants(t, "a delta", text, "the dry-run of snapshot delta-1 rejected it, by enum.unmapped at F3")
		if len(by) != 1 {
			t.Errorf("a delta: %v", by)
		}
		text, _ = h.noRecordOf("consent", "C-3") // not in the fresh export
		wants(t, "a delta", text, "the dry-run skipped it")
	})
}

// What is said of a row rests on the lists as they were recorded.
func TestTraceOfARejectedRowByAChangedList(t *testing.T) {
	t.Parallel()
	h := newHouse(t, storetest.SQLite(t), nil)
	dry := h.imported()
	for _, name := range []string{"rejected.ndjson", "findings.ndjson"} {
		path := filepath.Join(filepath.Dir(dry.FindingsFile), name)
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, data[:len(data)-1], 0o600); err != nil {
			t.Fatal(err)
		}
		_, err = h.open().TraceCell(t.Context(), "consents.csv!A14", "", false) // no answer
		wantIntegrity(t, err, name)
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// Mended rows of a workbook are in the file that they went out of, records that were mended in a text file in that one.
func TestTraceOfARejectedRowThatCameBack(t *testing.T) {
	t.Parallel()
	bad := func(id, status string) string {
		return assertion(id, "S-"+id+","+id+"@example.com", status, "2025-03-01")
	}
	h := newHouse(t, storetest.SQLite(t), rows([]string{receipt("C-1", "S-1,one@example.com", "Y", "2025-03-01T10:00:00Z"), bad("C-2", "maybe"), bad("C-3", "maybe"), bad("C-4", "maybe")}, nil, nil))
	h.imported()
	h.edit("mend.xlsx", func(w *inHand) {
		w.set(2, map[string]string{"Status": "Y"})
		w.set(3, map[string]string{"Status": "Y", "At": "2025-13-13"})
	})
	h.snapshot(pipeline.Mended, "mend.xlsx")
	h.imported()
	if r, err := h.open().TraceCell(t.Context(), "consents.csv!F3", "", false); err != nil || len(r.Records) != 1 {
		t.Errorf("%+v, %v", r, err)
	}
	text, _ := h.noRecord("consents.csv!F4", "")
	wants(t, "mended, and wrong again", text, "the dry-run of snapshot mended-1 rejected it, by date.invalid at G4")
	text, _ = h.noRecord("consents.csv!F4", "mended-1")
	wants(t, "that snapshot", text, "date.invalid at G4")
	text, _ = h.noRecord("consents.csv!F5", "")
	wants(t, "not mended", text, "rejected it, by")

	h.write("mended.csv", consentHeader+bad("C-3", "Y")+"\n"+bad("C-4", "perhaps not")+"\n")
	h.snapshotOf("consents", "mended.csv")
	h.imported()
	if r, err := h.open().TraceCell(t.Context(), "mended.csv!F2", "", false); err != nil || len(r.Records) != 1 {
		t.Errorf("%+v, %v", r, err)
	}
	text, by := h.noRecord("mended.csv!A3", "")
	wants(t, "a mended record", text, "the dry-run of snapshot mended-2 rejected it, by enum.unmapped at F3")
	if len(by) != 1 {
		t.Error(by)
	}
	text, _ = h.noRecord("mended.csv!A1", "")
	wants(t, "a mended header", text, "it is the header")
	text, _ = h.noRecord("mended.csv!A9", "")
	wants(t, "beyond", text, "it has no such row", "row 3")

	// A batch.yaml that has the source no more, or a mapping that can't be read, leaves what can be said.
	h.write("consents.yaml", "version: 1\n")
	text, _ = h.noRecord("consents.csv!F5", "")
	wants(t, "no mapping", text, "no record from row 5")
}

// A findings file that can't be read, or whose lines have no end, is no fault of the program.
func TestFindingsThatCannotBeRead(t *testing.T) {
	t.Parallel()
	h := newHouse(t, storetest.SQLite(t), nil)
	path := h.imported().FindingsFile
	look := map[string]func() error{
		"review":          func() error { _, err := h.open().Review(t.Context()); return err },
		"trace of a cell": func() error { _, err := h.open().TraceCell(t.Context(), "consents.csv!A14", "", false); return err },
	}
	for _, data := range []string{strings.Repeat("\x00", 2<<20), `{"rule":"no_object","row":14` + "\n"} {
		if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
		for name, f := range look {
			err := f()
			t.Log(name)
			wantIntegrity(t, err, path)
		}
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, f := range look {
		var file *pipeline.FileError
		if err := f(); !errors.As(err, &file) || file.Remedy == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A file or sheet that is not there is told from one that is; sheets whose names may be personal are named, and may be meant, by position.
func TestTraceOfAPlaceThatIsNotThere(t *testing.T) {
	t.Parallel()
	f := excelize.NewFile()
	for sheet, list := range map[string][][]any{
		"Consents":         {{"Id", "Subject", "Mail", "Purpose", "Channel", "Status"}, {"C-1", "S-1", "one@example.com", "news", "email", "Y"}, {"C-2", "S-2", "two@example.com", "news", "email", "perhaps"}},
		"eve@shop.example": {{"Id", "Subject", "Mail", "Purpose", "Channel", "Status"}, {"D-1", "S-7", "seven@example.com", "news", "email", "Y"}, {"D-2", "S-8", "eight@example.com", "news", "email", "perhaps"}, {"D-3", "S-9", "nine@example.com", "news", "email", "perhaps"}},
		"Notes":            {{"see below"}},
	} {
		if _, err := f.NewSheet(sheet); err != nil {
			t.Fatal(err)
		}
		for i, row := range list {
			cell, err := excelize.CoordinatesToCellName(1, i+1)
			if err == nil {
				err = f.SetSheetRow(sheet, cell, &row)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := f.DeleteSheet("Sheet1"); err != nil {
		t.Fatal(err)
	}
	book, err := f.WriteToBuffer()
	if err != nil {
		t.Fatal(err)
	}
	source := func(name, sheet string) string {
		return "  - { name: " + name + ", file: consents.xlsx, sheet: \"" + sheet + "\", system: " + name + ", mapping: consents.yaml, obtained_at: 2026-10-01T09:00:00+02:00, tolerance: { rows: 9, reason: r, owner: o } }\n"
	}
	h := newHouse(t, storetest.SQLite(t), map[string]string{"consents.yaml": `version: 1
mapping: consents
records:
  - entity: consent
    key: [external_id]
    fields: { external_id: Id, subject_id: Subject, email: Mail, purpose: Purpose, channel: { from: Channel }, status: { from: Status, enum: { given: [Y], refused: [N] } } }
`})
	at := fmt.Sprintf("#%d", 1+slices.Index(f.GetSheetList(), "eve@shop.example"))
	h.write("consents.xlsx", book.String())
	h.write("batch.yaml", h.text("batch.yaml")+source("crm-list", "Consents")+source("web-list", at))
	h.imported()
	for cell, words := range map[string][]string{
		"consents.xlsx!Consents!A3":   {"enum.unmapped at F3"},
		"consents.xlsx!Consents!A4":   {"it has no such row", "row 3"},
		"consents.xlsx!" + at + "!A4": {"enum.unmapped at F4"},
		"consents.xlsx!A4":            {"enum.unmapped at F4"},
		"consents.xlsx!A3":            {"several sheets of that file have that row", `"Consents"`, at},
		"consents.xlsx!A9":            {"it has no such row"},
		"consents.xlsx!Nothing!A3":    {"that file has no sheet of that name", `"Consents"`, at, `"Notes"`},
		"consents.xlsx!#9!A3":         {"that file has no sheet of that name", at},
		"consents.xlsx!Notes!A1":      {"no source of the batch reads that sheet", `"Consents"`, at},
		"consents.csv!Sheet1!A3":      {"text file, which has no sheets", "FILE!A3"},
		"nothing.csv!A3":              {"no source of the batch has that file", "consents.csv, consents.xlsx"},
	} {
		text, _ := h.noRecord(cell, "")
		wants(t, cell, text, words...)
	}
	for _, cell := range []string{"consents.xlsx!" + at + "!A2", "consents.xlsx!eve@shop.example!A2", "consents.xlsx!Consents!A2"} {
		if r, err := h.open().TraceCell(t.Context(), cell, "", false); err != nil || len(r.Records) != 1 {
			t.Errorf("%s: %+v, %v", cell, r, err)
		}
	}
}

// While an import is unfinished a rejected row is rejected all the same, and a row that is accepted may not be in yet.
func TestTraceOfARejectedRowDuringAnImport(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, url string) {
		h := newHouse(t, url, nil)
		h.mustRun(pipeline.DryRun)
		h.kill(1)
		for cell, notYet := range map[string]bool{"consents.csv!A14": false, "consents.csv!A19": false, "consents.csv!A2": true} {
			var none *pipeline.ErrNoSuchRecord
			_, err := h.open().TraceCell(t.Context(), cell, "", false)
			if !errors.As(err, &none) || none.NotYet != notYet {
				t.Errorf("%s: %v", cell, err)
				continue
			}
			wants(t, cell, none.Error()+none.Remedy, map[bool]string{true: "the import of batch acme-2026 is not finished", false: "the dry-run "}[notYet])
		}
	})
}
