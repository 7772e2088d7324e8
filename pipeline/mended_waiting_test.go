package pipeline_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"sheetlift/pipeline"
	"sheetlift/pipeline/store/storetest"
)

// The rejects of a snapshot that has more than are tolerated can't come back before it is imported: they would take its place. The refusal says what
// to write into batch.yaml, which brings in what is right, and then them; of a delta and of mended rows, that a better one may take the place.
func TestMendedBeforeWhatIsOverToleranceIsImported(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, url string) {
		good, bad := receipt("C-1", "S-1,one@example.com", "Y", "2025-03-01T10:00:00Z"), assertion("C-2", "S-2,two@example.com", "maybe", "2025-03-01")
		worse := assertion("C-3", "S-3,three@example.com", "maybe", "2025-03-01")
		h := newHouse(t, url, rows([]string{good}, nil, nil))
		h.write("batch.yaml", strings.Replace(h.text("batch.yaml"), "tolerance: { rows: 5, reason: known, owner: CRM }", "tolerance: { rows: 0 }", 1))
		h.imported()
		frozen := func(kind, file string) error {
			_, err := h.open().FreezeSnapshot(t.Context(), pipeline.SnapshotSpec{Kind: kind, Files: []string{filepath.Join(h.dir, file)}, ObtainedAt: map[string]string{pipeline.Delta: "2026-11-01T00:00:00Z"}[kind]})
			return err
		}
		refused := func(kind, file string, words ...string) {
			t.Helper()
			err := frozen(kind, file)
			wantGate(t, err, "because its dry-run did not pass")
			var gate *pipeline.GateError
			if !errors.As(err, &gate) {
				return
			}
			for _, w := range append(words, "then `sheetlift map`, `sheetlift dryrun` and `sheetlift import`") {
				if !strings.Contains(gate.Remedy, w) {
					t.Errorf("%s %s: no %q in %q", kind, file, w, gate.Remedy)
				}
			}
		}
		tolerate := func(before, rows string) {
			t.Helper()
			h.write("batch.yaml", strings.Replace(h.text("batch.yaml"), "tolerance: "+before, "tolerance: { rows: "+rows+", reason: to be mended, owner: CRM }", 1))
			if _, err := h.open().Map(t.Context()); err != nil {
				t.Fatal(err)
			}
			if dry, err := h.open().DryRun(t.Context()); err != nil || !dry.Passed {
				t.Fatal(dry, err)
			}
			if _, err := h.open().Import(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		h.write("consents.csv", consentHeader+strings.Join([]string{good, bad, worse, receipt("C-4", "S-4,four@example.com", "Y", "2025-03-01T10:00:00Z")}, "\n")+"\n")
		h.snapshot(pipeline.Delta, "consents.csv")
		if _, err := h.run(pipeline.DryRun); err != nil {
			t.Fatal(err)
		}
		h.edit("mend.xlsx", func(w *inHand) { w.set(2, map[string]string{"Status": "Y"}) })
		refused(pipeline.Mended, "mend.xlsx", "`tolerance: { rows: 2, reason: …, owner: … }` of source consents (2 rows are rejected, 0 tolerated)", "takes the place of delta-1")
		tolerate("{ rows: 0 }", "2")
		h.wantState("C-4", "given receipt")
		if err := frozen(pipeline.Mended, "mend.xlsx"); err != nil {
			t.Fatal(err)
		}
		h.imported()
		h.wantState("C-2", "given assertion")

		// Mended rows that are over the tolerance themselves: it is lowered again.
		h.edit("more.xlsx", func(w *inHand) { w.set(2, map[string]string{"Status": "perhaps"}) })
		h.write("batch.yaml", strings.Replace(h.text("batch.yaml"), "rows: 2, reason", "rows: 0, reason", 1))
		if err := frozen(pipeline.Mended, "more.xlsx"); err != nil {
			t.Fatal(err)
		}
		if _, err := h.run(pipeline.DryRun); err != nil {
			t.Fatal(err)
		}
		h.edit("again.xlsx", func(w *inHand) { w.set(2, map[string]string{"Status": "N"}) })
		refused(pipeline.Delta, "consents.csv", "`tolerance: { rows: 1,", "correct more rows in the file that was frozen as mended-3")
		refused(pipeline.Mended, "again.xlsx", "`tolerance: { rows: 1,")
		tolerate("{ rows: 0, reason: to be mended, owner: CRM }", "1")
		if err := frozen(pipeline.Mended, "again.xlsx"); err != nil {
			t.Fatal(err)
		}
		h.imported()
		if got := h.state("C-3"); strings.HasPrefix(got, "given") {
			t.Error(got)
		}
		h.mustVerify()
	})
}
