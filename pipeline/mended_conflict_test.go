package pipeline_test

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"

	"sheetlift/pipeline"
	"sheetlift/pipeline/finding"
	"sheetlift/pipeline/store/storetest"
)

// inHand is a rejects workbook in the hands of somebody.
type inHand struct {
	t      *testing.T
	path   string
	book   *excelize.File
	column map[string]string // letters by header
	rows   int               // below the header
}

// edit writes the rejects and opens them; f edits the sheet of the consents.
func (h *house) edit(name string, f func(w *inHand)) {
	h.t.Helper()
	h.rejects(name)
	h.editAgain(name, f)
}

// editAgain opens a workbook that was written before.
func (h *house) editAgain(name string, f func(w *inHand)) {
	h.t.Helper()
	w := &inHand{t: h.t, path: filepath.Join(h.dir, name), column: map[string]string{}}
	var err error
	if w.book, err = excelize.OpenFile(w.path); err != nil {
		h.t.Fatal(err)
	}
	defer w.book.Close()
	lines, err := w.book.GetRows("consents")
	if err != nil {
		h.t.Fatal(err)
	}
	for i, header := range lines[0] {
		w.column[header], _ = excelize.ColumnNumberToName(i + 1)
	}
	w.rows = len(lines) - 1
	f(w)
	if err := w.book.Save(); err != nil {
		h.t.Fatal(err)
	}
}

func (w *inHand) set(row int, values map[string]string) {
	w.t.Helper()
	for header, v := range values {
		if err := w.book.SetCellStr("consents", fmt.Sprint(w.column[header], row), v); err != nil {
			w.t.Fatal(err)
		}
	}
}

// copy puts a row below the last one, token and all, and gives its number.
func (w *inHand) copy(row int) int {
	w.t.Helper()
	lines, err := w.book.GetRows("consents")
	if err != nil {
		w.t.Fatal(err)
	}
	w.rows++
	for col, v := range lines[row-1] {
		to, _ := excelize.CoordinatesToCellName(col+1, w.rows+1)
		if err := w.book.SetCellStr("consents", to, v); err != nil {
			w.t.Fatal(err)
		}
	}
	return w.rows + 1
}

func (w *inHand) remove(row int) {
	w.t.Helper()
	w.rows--
	if err := w.book.RemoveRow("consents", row); err != nil {
		w.t.Fatal(err)
	}
}

// goodRow keeps the export from consisting of rejects only.
const goodRow = "G-1,S-G,good@example.com,news,email,Y" + dated + "9\n"

// again runs the batch to its end and gives what became of the consents.
func (h *house) again() pipeline.DryRunSource {
	h.t.Helper()
	got := h.mustRun(pipeline.Reconcile)
	if r, ok := got["reconcile"].(*pipeline.ReconcileResult); !ok || !r.Passed {
		h.t.Errorf("not reconciled: %+v", got["dryrun"].(*pipeline.DryRunResult).ByRule)
	}
	for _, s := range got["dryrun"].(*pipeline.DryRunResult).Sources {
		if s.Source == "consents" {
			return s
		}
	}
	h.t.Fatal("no consents")
	return pipeline.DryRunSource{}
}

// Two rows that bear one token and say different things are both refused: the first one is no better than the second.
func TestTokenConflict(t *testing.T) {
	t.Parallel()
	h := newHouse(t, storetest.SQLite(t), map[string]string{"consents.csv": consentHeader + goodRow +
		"K-1,S-1,k@example.com,news,email,perhaps" + dated + "1\n" + // row 3
		"K-2,S-2,l@example.com,news,email,perhaps" + dated + "2\n" + // row 4: copied as it is
		"K-3,S-1,k@example.com,news,email,perhaps" + dated + "3\n"}) // row 5: of the subject of row 3
	h.mustRun(pipeline.Reconcile)
	h.edit("mend.xlsx", func(w *inHand) {
		w.set(2, map[string]string{"Status": "Y"})
		w.set(w.copy(2), map[string]string{"Status": "N"})
		w.set(3, map[string]string{"Status": "Y"})
		w.copy(3)
		w.set(4, map[string]string{"Status": "Y"})
	})
	h.snapshot(pipeline.Mended, "mend.xlsx")
	s := h.again()
	if want := (pipeline.Rows{Read: 5, Accepted: 1, Rejected: 3, Skipped: 1}); s.Rows != want {
		t.Errorf("%+v, want %+v", s.Rows, want)
	}
	// What one of the two says against a consent is said, whichever of them is right.
	if want := map[string]int{"row.token_conflict": 2, "consent.opposed_by_rejected": 1}; !maps.Equal(s.Rejected, want) {
		t.Errorf("rejected by %v, want %v", s.Rejected, want)
	}
	for id, want := range map[string]string{"K-1": "not in the register", "K-2": "given", "K-3": "not in the register"} {
		if got := h.state(id); !strings.HasPrefix(got, want) {
			t.Errorf("%s is %s, want %s", id, got, want)
		}
	}
	dry, err := h.open().DryRun(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var rows []int
	for _, f := range findings(t, dry.FindingsFile) {
		if f.Rule == "row.token_conflict" {
			rows = append(rows, f.Row)
			if f.File != "mend.xlsx" || f.Sheet != "consents" || f.Remedy == "" {
				t.Errorf("%+v", f)
			}
		}
	}
	if !slices.Equal(rows, []int{2, 5}) {
		t.Errorf("conflicts at rows %v", rows)
	}
	// The row goes out again as the source has it, and says why.
	h.edit("again.xlsx", func(w *inHand) {
		why, err := w.book.GetCellValue("consents", "C2")
		if err != nil || !strings.Contains(why, "row.token_conflict") || !strings.Contains(why, "enum.unmapped") {
			t.Errorf("why: %q, %v", why, err)
		}
		w.set(2, map[string]string{"Status": "Y"})
	})
	h.snapshot(pipeline.Mended, "again.xlsx")
	h.again()
	if got := h.state("K-1"); !strings.HasPrefix(got, "given") {
		t.Errorf("K-1 is %s", got)
	}
	h.mustVerify()
}

// A refusal in a row of the workbook that nobody knows is heard all the same, now and by later snapshots.
func TestStrayRefusal(t *testing.T) {
	t.Parallel()
	for name, token := range map[string]string{"no token": "", "another batch's": "r-00000000000000000000000000000000"} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t, storetest.SQLite(t), map[string]string{"consents.csv": consentHeader + goodRow +
				"K-1,S-1,k@example.com,news,email,perhaps" + dated + "1\n" +
				"K-2,S-2,l@example.com,news,email,perhaps" + dated + "2\n"})
			h.mustRun(pipeline.Reconcile)
			h.edit("mend.xlsx", func(w *inHand) {
				w.set(2, map[string]string{"Status": "Y"})
				w.set(3, map[string]string{"Status": "Y"})
				w.set(w.copy(2), map[string]string{tokenColumn: token, "Id": "K-9", "Status": "N", "At": "2026-03-14T09:12:00Z"})
			})
			h.snapshot(pipeline.Mended, "mend.xlsx")
			s := h.again()
			if want := map[string]int{"row.unknown_token": 1, "consent.opposed_by_rejected": 1}; !maps.Equal(s.Rejected, want) || s.Rows.Accepted != 1 {
				t.Errorf("rejected by %v, want %v; %+v", s.Rejected, want, s.Rows)
			}
			if got := h.state("K-1"); got != "not in the register" {
				t.Errorf("K-1 is %s", got)
			}
			h.write("consents.csv", consentHeader+"K-1c,S-1,k@example.com,news,email,Y"+dated+"1\n"+"K-4,S-1,k@example.com,news,email,Y,2026-04-01T10:00:00Z,PN,2,Ada Agent,shop clerk,signed_document,DOC-2026-0004\n")
			h.snapshot(pipeline.Delta, "consents.csv")
			if s := h.again(); s.Rejected["consent.opposed_by_rejected"] != 1 || s.Rows.Accepted != 1 { // a later receipt may
				t.Errorf("a later export: %+v", s)
			}
		})
	}
}

const tokenColumn = "sheetlift row token"

// Rows of one key that say different things are mended when they all come back and agree, not when one of them is touched.
func TestMendedKeyConflict(t *testing.T) {
	t.Parallel()
	const no = "K-1,S-1,k@example.com,news,email,N,2025-01-14T09:12:00Z,,,,,,\n" // row 3
	const yes = "K-1,S-1,k@example.com,news,email,Y" + dated + "1\n"             // row 4, provably later
	both := map[string]int{"key.multiple_match": 1, "row.unmended": 1}
	for _, c := range []struct {
		name     string
		edit     func(w *inHand)
		accepted int
		rejected map[string]int
		state    string
	}{
		{"one touched", func(w *inHand) { w.set(3, map[string]string{"Actor": "Adah Agent"}) }, 0, both, "not in the register"},
		{"the other touched", func(w *inHand) { w.set(2, map[string]string{"Actor": "Adah Agent"}) }, 0, both, "not in the register"},
		{"both touched", func(w *inHand) {
			w.set(2, map[string]string{"Actor": "Adah Agent"})
			w.set(3, map[string]string{"Actor": "Adah Agent"})
		}, 0, map[string]int{"key.multiple_match": 2}, "not in the register"},
		{"one touched, the other left out", func(w *inHand) {
			w.set(3, map[string]string{"Actor": "Adah Agent"})
			w.remove(2)
		}, 0, map[string]int{"key.multiple_match": 1}, "not in the register"},
		{"one touched, the other can't be read any more", func(w *inHand) {
			w.set(2, map[string]string{"Status": "nope"})
			w.set(3, map[string]string{"Actor": "Adah Agent"})
		}, 0, map[string]int{"key.multiple_match": 1, "enum.unmapped": 1}, "not in the register"},
		{"the other can't be read any more", func(w *inHand) { w.set(2, map[string]string{"Status": "nope"}) }, 0, map[string]int{"row.unmended": 1, "enum.unmapped": 1}, "not in the register"},
		{"one touched, the other blanked", func(w *inHand) {
			w.set(2, map[string]string{"Status": ""})
			w.set(3, map[string]string{"Actor": "Adah Agent"})
		}, 0, map[string]int{"key.multiple_match": 1}, "not in the register"},
		{"a key of its own", func(w *inHand) { w.set(3, map[string]string{"Id": "K-2"}) }, 2, map[string]int{}, "given"},
		{"a key of its own, the other left out", func(w *inHand) {
			w.set(3, map[string]string{"Id": "K-2"})
			w.remove(2)
		}, 1, map[string]int{}, "not in the register"},
		{"made alike", func(w *inHand) {
			w.set(3, map[string]string{"Status": "N", "At": "2025-01-14T09:12:00Z", "Notice": "", "Version": "", "Actor": "", "Role": "", "Proof kind": "", "Proof": ""})
		}, 1, map[string]int{}, "withdrawn"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t, storetest.SQLite(t), map[string]string{"consents.csv": consentHeader + goodRow + no + yes})
			h.mustRun(pipeline.Reconcile)
			h.edit("mend.xlsx", c.edit)
			h.snapshot(pipeline.Mended, "mend.xlsx")
			s := h.again()
			if s.Rows.Accepted != c.accepted || !maps.Equal(s.Rejected, c.rejected) {
				t.Errorf("%+v rejected by %v, want %d accepted, %v", s.Rows, s.Rejected, c.accepted, c.rejected)
			}
			if got := h.state("K-1"); !strings.HasPrefix(got, c.state) {
				t.Errorf("K-1 is %s, want %s", got, c.state)
			}
			h.mustVerify()
			if c.accepted > 0 {
				return
			}
			// Whatever was tried, a workbook in which they agree brings them in.
			h.edit("again.xlsx", func(w *inHand) {
				for row := 2; row < w.rows+2; row++ {
					w.set(row, map[string]string{"Id": "K-1", "Status": "N", "At": "2025-01-15T09:12:00Z", "Notice": "", "Version": "", "Actor": "", "Role": "", "Proof kind": "", "Proof": ""})
				}
			})
			if strings.Contains(c.name, "left out") || strings.Contains(c.name, "blanked") {
				return // the row is not in this workbook; the first one brings it
			}
			h.snapshot(pipeline.Mended, "again.xlsx")
			if s := h.again(); s.Rows.Accepted != 1 || s.Skipped["row.repeat"] != 1 || !strings.HasPrefix(h.state("K-1"), "withdrawn") {
				t.Errorf("agreed: %+v, %s", s, h.state("K-1"))
			}
		})
	}
	t.Run("records", func(t *testing.T) {
		h := newHouse(t, storetest.SQLite(t), map[string]string{"consents.csv": consentHeader + goodRow + no + yes})
		h.mustRun(pipeline.Reconcile)
		yes := func(actor string) string { return strings.Replace(yes, "Ada", actor, 1) }
		for i, file := range []string{yes("Adah"), no + yes("Adeh"), strings.Replace(no, "N,", "nope,", 1) + yes("Adih")} {
			h.write("mended.csv", consentHeader+file)
			h.snapshotOf("consents", "mended.csv")
			if s := h.again(); s.Rows.Accepted != 0 || s.Rejected["key.multiple_match"] != 1 {
				t.Errorf("%d: %+v", i, s)
			}
		}
		changed := strings.Replace(no, "09:12", "09:13", 1)
		h.write("mended.csv", consentHeader+changed+changed)
		h.snapshotOf("consents", "mended.csv")
		if s := h.again(); s.Rows.Accepted != 1 || s.Skipped["row.repeat"] != 1 {
			t.Errorf("agreed: %+v", s)
		}
	})
}

// A refusal that came back as something nobody can read, or as nothing, stands against consents as before.
func TestGarbledRefusal(t *testing.T) {
	t.Parallel()
	for _, status := range []string{"nope", ""} {
		h := newHouse(t, storetest.SQLite(t), map[string]string{"consents.csv": consentHeader + goodRow +
			"K-1,S-1,broken,news,email,N,2026-03-14T09:12:00Z,,,,,,\n" +
			"K-2,S-1,k@example.com,nosuch,email,Y" + dated + "1\n"})
		h.mustRun(pipeline.Reconcile)
		h.edit("mend.xlsx", func(w *inHand) {
			w.set(2, map[string]string{"Status": status, "Mail": "k@example.com"})
			w.set(3, map[string]string{"Purpose": "news"})
		})
		h.snapshot(pipeline.Mended, "mend.xlsx")
		if s := h.again(); s.Rejected["consent.opposed_by_rejected"] != 1 || h.state("K-2") != "not in the register" {
			t.Errorf("%q: %+v, K-2 is %s", status, s, h.state("K-2"))
		}
	}
}

// A refusal whose record the register had before, from an earlier snapshot, did not come in with it.
func TestRefusalAfterGrant(t *testing.T) {
	t.Parallel()
	h := newHouse(t, storetest.SQLite(t), map[string]string{"consents.csv": consentHeader + goodRow + "K-1,S-1,k@example.com,news,email,Y" + dated + "1\n"})
	h.mustRun(pipeline.Reconcile)
	h.write("consents.csv", consentHeader+"K-1,S-1,broken,news,email,N,2026-03-14T09:12:00Z,,,,,,\n")
	h.snapshot(pipeline.Delta, "consents.csv")
	if s := h.again(); s.Rejected["email.invalid"] != 1 {
		t.Fatalf("%+v", s)
	}
	h.write("consents.csv", consentHeader+"K-2,S-1,k@example.com,news,email,Y"+dated+"2\n")
	h.snapshot(pipeline.Delta, "consents.csv")
	if s := h.again(); s.Rejected["consent.opposed_by_rejected"] != 1 {
		t.Errorf("%+v, K-2 is %s", s, h.state("K-2"))
	}
}

// A row that came back as it went out says why it went out.
func TestUnmendedSaysWhy(t *testing.T) {
	t.Parallel()
	h := newHouse(t, storetest.SQLite(t), map[string]string{"consents.csv": consentHeader + goodRow + "K-1,S-1,k@example.com,nosuch,email,Y" + dated + "1\n"})
	h.mustRun(pipeline.Reconcile)
	for i := range 2 { // and the second time too
		name := fmt.Sprintf("mend-%d.xlsx", i)
		h.edit(name, func(w *inHand) {
			if why, err := w.book.GetCellValue("consents", "C2"); err != nil || !strings.Contains(why, "ref.not_found") || i > 0 && !strings.Contains(why, "row.unmended") {
				t.Errorf("why: %q, %v", why, err)
			}
		})
		h.snapshot(pipeline.Mended, name)
		if s := h.again(); s.Rejected["row.unmended"] != 1 {
			t.Errorf("%+v", s)
		}
		dry, err := h.open().DryRun(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range findings(t, dry.FindingsFile) {
			if f.Rule == "row.unmended" && (!strings.Contains(f.Message, "ref.not_found") || !strings.Contains(f.Message, "column D") || !strings.Contains(f.Message, "came back")) {
				t.Errorf("%s", f.Message)
			}
		}
	}
	h.write("mended.csv", consentHeader+"K-1,S-1,k@example.com,nosuch,email,Y"+dated+"1\n")
	h.snapshotOf("consents", "mended.csv")
	h.again()
	dry, err := h.open().DryRun(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(findings(t, dry.FindingsFile), func(f finding.Finding) bool {
		return f.Rule == "row.unmended" && strings.Contains(f.Message, "ref.not_found")
	}) {
		t.Error("records that came back as they went out don't say why")
	}
}

// Sheets that were handed out are not passed over because their tokens are gone.
func TestLostTokens(t *testing.T) {
	t.Parallel()
	h := newHouse(t, storetest.SQLite(t), nil)
	h.mustRun(pipeline.Reconcile)
	for name, edit := range map[string]func(w *inHand){
		"cleared": func(w *inHand) {
			for row := 2; row < w.rows+2; row++ {
				w.set(row, map[string]string{tokenColumn: ""})
			}
		},
		"column removed": func(w *inHand) {
			if err := w.book.RemoveCol("consents", w.column[tokenColumn]); err != nil {
				t.Fatal(err)
			}
		},
	} {
		file := strings.ReplaceAll(name, " ", "-") + ".xlsx"
		h.edit(file, edit)
		_, err := h.open().FreezeSnapshot(t.Context(), pipeline.SnapshotSpec{Kind: pipeline.Mended, Files: []string{filepath.Join(h.dir, file)}})
		if err == nil || !strings.Contains(err.Error(), "token") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
