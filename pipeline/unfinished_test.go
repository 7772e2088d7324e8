package pipeline_test

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"sheetlift/pipeline"
	"sheetlift/pipeline/store/storetest"
)

// TestDryRunWithinAnImport: whoever asks for a dry-run while an import is unfinished is shown the way on, and what import, reconcile
// and report say at the end is what they would have said without the interruption. Wherever it was killed, on both databases.
func TestDryRunWithinAnImport(t *testing.T) {
	t.Parallel()
	whole := newHouse(t, storetest.SQLite(t), nil)
	want := whole.mustRun(pipeline.Reconcile)
	review, err := whole.open().Review(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for chunks := 1; chunks <= 4; chunks++ {
		storetest.Each(t, func(t *testing.T, url string) {
			if strings.HasPrefix(url, "postgres") {
				url = storetest.Postgres(t)
			} else {
				url = storetest.SQLite(t)
			}
			h := newHouse(t, url, nil)
			h.mustRun(pipeline.DryRun)
			h.kill(chunks)

			_, err := h.open().DryRun(t.Context())
			wantGate(t, err, "of 18 records are in the register")
			_, err = h.open().Reconcile(t.Context())
			wantGate(t, err, "not finished")
			if r, err := h.open().Review(t.Context()); err != nil || r.Judged.Rows != review.Judged.Rows || r.Judged.Imported {
				t.Errorf("report of the interrupted import: %v %+v", err, r)
			}
			if chunks%2 == 0 {
				if got := h.mustRun(pipeline.DryRun)["dryrun"]; pipeline.Common(got).Digest != pipeline.Common(want["dryrun"]).Digest {
					t.Error("run shows another dry-run than the one that is being imported")
				}
			}
			imp, err := h.open().Import(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			rec, err := h.open().Reconcile(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if imp.Digest != pipeline.Common(want["import"]).Digest || rec.Digest != pipeline.Common(want["reconcile"]).Digest || !rec.Passed {
				t.Errorf("import %s and reconcile %s are not those of an import that was not interrupted: %+v %+v", imp.Digest, rec.Digest, imp.Entities, rec.Sources)
			}
			if c := h.counts(); !maps.Equal(c, wantCounts) {
				t.Errorf("register: %v, want %v", c, wantCounts)
			}
			r, err := h.open().Review(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if r.Judged.Rows != review.Judged.Rows || !r.Judged.Imported || !maps.Equal(reviewDigests(r), reviewDigests(review)) {
				t.Errorf("report: %+v %v, want %v", r.Judged.Rows, reviewDigests(r), reviewDigests(review))
			}
		})
	}
}

// reviewDigests are the digests of a review but for those that each batch has of its own: lists hold tokens, bags a signature.
func reviewDigests(r *pipeline.ReviewResult) map[string]string {
	m := map[string]string{}
	for _, d := range r.Digests {
		if d.What != "findings" && d.What != "manifest" && d.Of != "freeze" {
			m[d.What+" "+d.Of] = d.SHA256
		}
	}
	return m
}

// TestChangedWithinAnImport: an import that has begun goes on by the dry-run that it began with or not at all, and what refuses it
// names a way that is open.
func TestChangedWithinAnImport(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ change, back func(h *house) }{
		"batch.yaml": {
			func(h *house) { h.write("batch.yaml", strings.Replace(batchYAML, "TOLERANCE", "50", 1)) },
			func(h *house) { h.write("batch.yaml", houseFiles["batch.yaml"]) },
		},
		"mapping": {
			func(h *house) {
				h.write("consents.yaml", strings.Replace(houseFiles["consents.yaml"], "given: [Y, yes]", "given: [Y, yes, perhaps]", 1))
				if _, err := h.open().Map(h.t.Context()); err != nil {
					h.t.Fatal(err)
				}
			},
			func(h *house) {
				h.write("consents.yaml", houseFiles["consents.yaml"])
				if _, err := h.open().Map(h.t.Context()); err != nil {
					h.t.Fatal(err)
				}
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t, storetest.SQLite(t), nil)
			want := h.mustRun(pipeline.DryRun)["dryrun"]
			h.kill(3)
			c.change(h)
			_, err := h.open().Import(t.Context())
			wantGate(t, err, "since the dry-run")
			if !strings.Contains(err.(*pipeline.GateError).Remedy, "sheetlift undo") {
				t.Errorf("the refusal leads on by %q", err.(*pipeline.GateError).Remedy)
			}
			_, err = h.open().DryRun(t.Context())
			wantGate(t, err, "not finished")
			_, err = h.run(pipeline.Reconcile)
			wantGate(t, err, "since the dry-run")
			c.back(h)
			if got, err := h.open().Import(t.Context()); err != nil || got.DryRun != pipeline.Common(want).Digest {
				t.Fatalf("with all put back: %v", err)
			}
			if c := h.counts(); !maps.Equal(c, wantCounts) {
				t.Errorf("register: %v, want %v", c, wantCounts)
			}
		})
		t.Run(name+", undone", func(t *testing.T) {
			h := newHouse(t, storetest.SQLite(t), nil)
			h.mustRun(pipeline.DryRun)
			h.kill(3)
			c.change(h)
			if _, err := h.open().Undo(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got := h.mustRun(pipeline.Reconcile); !pipeline.Common(got["reconcile"]).Passed || got["dryrun"].(*pipeline.DryRunResult).Rows.Read != 25 {
				t.Errorf("after an undo: %+v", got["dryrun"])
			}
		})
	}
}

// TestOtherBatchWithinAnImport: what another batch has brought in meanwhile may bear on the rows that are left, so the import is refused,
// and an undo leads on.
func TestOtherBatchWithinAnImport(t *testing.T) {
	t.Parallel()
	h := newHouse(t, storetest.SQLite(t), nil)
	h.mustRun(pipeline.DryRun)
	h.kill(4)
	h.write("batch.yaml", strings.Replace(houseFiles["batch.yaml"], "acme-2026", "acme-2027", 1))
	h.write("suppressions.csv", "Mail,Channel,Reason,At\none@example.com,email,objection,\n")
	h.mustRun(pipeline.Reconcile)
	tr, err := h.open().Trace(t.Context(), "consent", "C-1", false)
	if err != nil || len(tr.Unfinished) != 1 || tr.Unfinished[0].Batch != "acme-2026" || tr.Final() {
		t.Errorf("a trace by the other batch: %+v, %v", tr, err)
	}
	h.write("batch.yaml", houseFiles["batch.yaml"])
	h.write("suppressions.csv", houseFiles["suppressions.csv"])
	_, err = h.open().Import(t.Context())
	wantGate(t, err, "another batch imported")
	if !strings.Contains(err.(*pipeline.GateError).Remedy, "sheetlift undo") {
		t.Errorf("the refusal leads on by %q", err.(*pipeline.GateError).Remedy)
	}
	if _, err := h.open().Undo(t.Context()); err != nil {
		t.Fatal(err)
	}
	got := h.mustRun(pipeline.Reconcile)
	if !pipeline.Common(got["reconcile"]).Passed {
		t.Errorf("after an undo: %+v", got["reconcile"])
	}
	if tr, err := h.open().Trace(t.Context(), "consent", "C-1", false); err != nil || !tr.Final() || tr.Records[0].State != "suppressed" {
		t.Errorf("after an undo: %+v, %v", tr, err)
	}
}

// TestTraceWithinAnImport: what an unfinished import may change is not shown as final, from an id and from a cell.
func TestTraceWithinAnImport(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, url string) {
		h := newHouse(t, url, nil)
		h.mustRun(pipeline.DryRun)
		h.kill(2)
		_, err := h.open().Trace(t.Context(), "consent", "C-1", false)
		var none *pipeline.ErrNoSuchRecord
		if !errors.As(err, &none) || !strings.Contains(none.Remedy, "4 of 18 records are in the register") {
			t.Errorf("a record that is not in yet: %v", err)
		}
		if _, err = h.open().TraceCell(t.Context(), "consents.csv!A2", "", false); !errors.As(err, &none) || !strings.Contains(none.Remedy, "4 of 18") {
			t.Errorf("a row that is not in yet: %v", err)
		}
		h.kill(5)
		want := pipeline.Unfinished{Stage: "import", Batch: "acme-2026", Snapshot: "initial", Records: 18, Of: 18, Next: "sheetlift import"}
		byID, err := h.open().Trace(t.Context(), "consent", "C-1", false)
		if err != nil {
			t.Fatal(err)
		}
		byCell, err := h.open().TraceCell(t.Context(), "consents.csv!A2", "", false)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range []*pipeline.TraceResult{byID, byCell} {
			if x := r.Records[0]; r.Final() || x.State != "" || x.StateCause != "" || x.StateSoFar != "given" || x.StateSoFarCause != "receipt" {
				t.Errorf("state %q (%s), so far %q (%s)", x.State, x.StateCause, x.StateSoFar, x.StateSoFarCause)
			}
			if !slices.Equal(r.Unfinished, []pipeline.Unfinished{want}) {
				t.Errorf("unfinished %+v", r.Unfinished)
			}
		}
		h.mustRun(pipeline.Import)
		if r, err := h.open().Trace(t.Context(), "consent", "C-1", false); err != nil || !r.Final() || r.Records[0].State != "given" || r.Unfinished != nil {
			t.Errorf("after the import: %+v, %v", r, err)
		}
	})
}
