package pipeline_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"

	"sheetlift/importers/source"
	"sheetlift/importers/source/open"
	"sheetlift/pipeline"
	"sheetlift/pipeline/store"
	"sheetlift/pipeline/store/storetest"
)

// rejects runs a dry-run and writes its rejects under that name.
func (h *house) rejects(name string) *pipeline.DryRunResult {
	h.t.Helper()
	p := h.open()
	dry, err := p.DryRun(h.t.Context())
	if err == nil {
		err = p.WriteRejects(h.t.Context(), dry, filepath.Join(h.dir, name))
	}
	if err != nil {
		h.t.Fatal(err)
	}
	return dry
}

// cells reads a sheet through our own reader: text by reference.
func readCells(t *testing.T, path, sheet string) map[string]string {
	t.Helper()
	book, err := open.File(context.Background(), path, source.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer book.Close()
	got := map[string]string{}
	for i, info := range book.Sheets() {
		if info.Name != sheet {
			continue
		}
		rd, err := book.Read(context.Background(), i)
		if err != nil {
			t.Fatal(err)
		}
		defer rd.Close()
		for {
			b, err := rd.Next()
			if err != nil {
				return got
			}
			for col := range b.Cols {
				for k, n := range b.RowNum {
					c := b.Cols[col][k]
					if c.Kind == source.Empty {
						continue
					}
					if c.Kind != source.Text || c.Flags&source.Formula != 0 {
						t.Errorf("%s!%s is %v, flags %v: rejects hold text only", sheet, source.Ref(col, n), c.Kind, c.Flags)
					}
					got[source.Ref(col, n)] = string(b.Bytes(c))
				}
			}
		}
	}
	t.Fatalf("no sheet %s in %s", sheet, path)
	return nil
}

func TestRejectsWorkbook(t *testing.T) {
	t.Parallel()
	h := newHouse(t, storetest.SQLite(t), map[string]string{"consents.csv": houseFiles["consents.csv"] +
		"C-17,=1+1,+49 170 1234567,news,email,00042,1E5,  x ,_x0041_,\"two\nlines\",,,\n"})
	h.write("batch.yaml", strings.Replace(houseFiles["batch.yaml"], "rows: 5", "rows: 50", 1))
	h.mustRun(pipeline.Map)
	dry := h.rejects("mend.xlsx")
	path := filepath.Join(h.dir, "mend.xlsx")
	if len(dry.Rejects) != 1 || dry.Rejects[0].Rows != 6 || dry.Rejects[0].File != path {
		t.Fatalf("rejects: %+v", dry.Rejects)
	}
	st, err := os.Stat(path)
	if err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", st.Mode(), err)
	}
	cells := readCells(t, path, "consents")
	if cells["A1"] != "sheetlift row token" || cells["D1"] != "Id" || cells["P1"] != "Proof" {
		t.Errorf("header: %v", cells)
	}
	for ref, want := range map[string]string{"E7": "=1+1", "F7": "+49 170 1234567", "I7": "00042", "J7": "1E5", "K7": "  x ", "L7": "_x0041_", "M7": "two\nlines", "B7": "20"} {
		if cells[ref] != want {
			t.Errorf("%s holds %q, want %q", ref, cells[ref], want)
		}
	}
	if !strings.HasPrefix(cells["A2"], "r-") || len(cells["A2"]) != 34 || cells["A2"] == cells["A3"] {
		t.Errorf("tokens %q, %q", cells["A2"], cells["A3"])
	}
	if !strings.Contains(cells["C7"], "F (C in the source): email.invalid") {
		t.Errorf("what is wrong with row 7: %q", cells["C7"])
	}
	if first := readCells(t, path, "read me first"); !strings.Contains(first["B1"], "acme-2026") {
		t.Errorf("first sheet: %v", first)
	}
	book, err := excelize.OpenFile(path)
	if err != nil {
		t.Fatal(err)
	}
	defer book.Close()
	comments, err := book.GetComments("consents")
	if err != nil {
		t.Fatal(err)
	}
	said := map[string]string{}
	for _, c := range comments {
		for _, run := range c.Paragraph {
			said[c.Cell] += run.Text
		}
	}
	if !strings.Contains(said["F7"], "email.invalid") || !strings.Contains(said["F7"], "Correct the cell") || !strings.Contains(said["I7"], "enum.unmapped") {
		t.Errorf("comments: %v", said)
	}
	if style, err := book.GetCellStyle("consents", "F7"); err != nil || style == 0 {
		t.Errorf("style %d, %v", style, err)
	}
	plain, _ := book.GetCellStyle("consents", "E7")
	marked, _ := book.GetCellStyle("consents", "F7")
	if plain == marked {
		t.Error("the faulty cell looks like the others")
	}
	var place, digest string
	err = h.look().View(t.Context(), func(tx *store.Tx) error {
		return tx.QueryRow(t.Context(), `SELECT place, digest FROM copies WHERE kind = 'rejects'`).Scan(&place, &digest)
	})
	if err != nil || place != path || digest != dry.Rejects[0].SHA256 {
		t.Errorf("copy %q %q, %v", place, digest, err)
	}
	// Once more under the same name: it may be somebody's work by now.
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := h.open().WriteRejects(t.Context(), dry, path); err == nil {
		t.Error("the rejects were written over")
	}
	if after, err := os.ReadFile(path); err != nil || string(after) != string(before) {
		t.Error("the file changed")
	}
	left, err := filepath.Glob(filepath.Join(h.dir, ".*partial*"))
	if err != nil || len(left) != 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

func TestRejectsRecords(t *testing.T) {
	t.Parallel()
	odd := "\xef\xbb\xbf" + strings.ReplaceAll(consentHeader, "\n", "\r\n") +
		"C-1,S-1,\"one, the first\",news,email,Y,,,,,,,\r\n" +
		"C-2,S-2,two@example.com,news,email,Y,,,,,,,\r\n" +
		"C-3,S-3,\"x \"\"quoted\"\"\r\nname\",news,email,N,,,,,,,\r\n"
	h := newHouse(t, storetest.SQLite(t), map[string]string{"consents.csv": odd, "purposes.csv": "Code,Name\nnews,Newsletter\n,Nothing\n"})
	h.mustRun(pipeline.Map)
	dry := h.rejects("mend.csv")
	if len(dry.Rejects) != 2 {
		t.Fatalf("rejects: %+v", dry.Rejects)
	}
	lines := strings.SplitAfter(odd, "\r\n")
	want := lines[0] + lines[1] + lines[3] + lines[4]
	if got, err := os.ReadFile(filepath.Join(h.dir, "mend-consents.csv")); err != nil || string(got) != want {
		t.Errorf("%v\ngot  %q\nwant %q", err, got, want)
	}
	if got, err := os.ReadFile(filepath.Join(h.dir, "mend-purposes.csv")); err != nil || string(got) != "Code,Name\n,Nothing\n" {
		t.Errorf("%v %q", err, got)
	}
}

// TestRejectsWithoutRecords: original records are refused where no row has one, before the work if that is known, and nothing is written.
func TestRejectsWithoutRecords(t *testing.T) {
	t.Parallel()
	book := excelize.NewFile()
	defer book.Close()
	for i, row := range [][]string{{"Code", "Name"}, {"news", "Newsletter"}, {"ads", ""}} {
		if err := book.SetSheetRow("Sheet1", fmt.Sprintf("A%d", i+1), &row); err != nil {
			t.Fatal(err)
		}
	}
	source := func(batch string) string {
		return strings.Replace(strings.Replace(batch, "file: purposes.csv", "file: purposes.xlsx", 1), "mapping: purposes.yaml", "mapping: purposes.yaml, tolerance: { rows: 1, reason: known, owner: CRM }", 1)
	}
	refused := func(h *house, err error) {
		t.Helper()
		var config *pipeline.ConfigError
		if !errors.As(err, &config) || !strings.Contains(config.Message, "original record") || !strings.Contains(config.Remedy, ".xlsx") {
			t.Errorf("got %v", err)
		}
		if _, err := os.Stat(filepath.Join(h.dir, "mend.csv")); err == nil {
			t.Error("something was written")
		}
	}
	for _, all := range []bool{false, true} {
		h := newHouse(t, storetest.SQLite(t), map[string]string{"consents.csv": consentHeader + goodRow, "batch.yaml": source(houseFiles["batch.yaml"])})
		if all {
			head, rest, _ := strings.Cut(source(houseFiles["batch.yaml"]), "sources:\n")
			for line := range strings.Lines(rest) {
				if strings.Contains(line, "purposes.xlsx") {
					h.write("batch.yaml", head+"sources:\n"+line)
				}
			}
		}
		if err := book.SaveAs(filepath.Join(h.dir, "purposes.xlsx")); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(h.dir, "mend.csv")
		if err := h.open().CheckRejects(t.Context(), path); err != nil {
			t.Errorf("nothing is known yet: %v", err)
		}
		dry := h.mustRun(pipeline.DryRun)["dryrun"].(*pipeline.DryRunResult)
		if dry.Rows.Rejected != 1 {
			t.Fatalf("%+v", dry.Sources)
		}
		if err := h.open().CheckRejects(t.Context(), path); all {
			refused(h, err)
		} else if err != nil {
			t.Error(err)
		}
		refused(h, h.open().WriteRejects(t.Context(), dry, path))
		if err := h.open().CheckRejects(t.Context(), filepath.Join(h.dir, "mend.xlsx")); err != nil {
			t.Error(err)
		}
	}
}
