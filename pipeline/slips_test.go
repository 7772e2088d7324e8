package pipeline_test

import (
	"maps"
	"strings"
	"testing"

	"sheetlift/pipeline"
)

// A no stays said until its row comes back and says what it means: one that comes back with a purpose or a notice that is in no list, or a yes
// to such a purpose, is rejected again, and takes no place.
func TestRuleANoIsNotReplacedByWhatPointsNowhere(t *testing.T) {
	t.Parallel()
	yes := assertion("K-1", "S-1,one@example.com", "Y", "2025-03-01T10:00:00Z")
	no := assertion("W-1", "S-1,one@example.com", "N", "2025-13-01T10:00:00Z")
	for name, as := range map[string]string{
		"a purpose":           strings.Replace(assertion("W-1", "S-1,one@example.com", "N", "2025-04-01T10:00:00Z"), ",news,", ",newz,", 1),
		"a yes to a purpose":  strings.Replace(assertion("W-1", "S-1,one@example.com", "Y", "2025-04-01T10:00:00Z"), ",news,", ",newz,", 1),
		"a notice":            strings.Replace(assertion("W-1", "S-1,one@example.com", "N", "2025-04-01T10:00:00Z"), ",,,,,,", ",PN,9,,,,", 1),
		"a yes with a notice": strings.Replace(assertion("W-1", "S-1,one@example.com", "Y", "2025-04-01T10:00:00Z"), ",,,,,,", ",PN,9,,,,", 1),
	} {
		for _, kind := range []string{pipeline.Mended, pipeline.Delta} {
			t.Run(name+", "+kind, func(t *testing.T) {
				t.Parallel()
				h := small(t, rows([]string{yes, no}, nil, nil))
				h.imported()
				h.wantState("K-1", notIn)
				bring := func(list ...string) {
					h.write("consents.csv", consentHeader+strings.Join(list, "\n")+"\n")
					if kind == pipeline.Mended {
						h.snapshotOf("consents", "consents.csv")
					} else {
						h.snapshot(kind, "consents.csv")
					}
				}
				for _, turn := range [][]string{{yes, as}, {as, yes}}[:map[string]int{pipeline.Mended: 1, pipeline.Delta: 2}[kind]] {
					bring(turn...)
					dry := h.imported()
					if s := sourceOf(t, dry, "consents"); !maps.Equal(s.Rejected, map[string]int{"ref.not_found": 1, "consent.opposed_by_rejected": 1}) {
						t.Errorf("%v: rejected by %v", turn, s.Rejected)
					}
					for _, f := range findings(t, dry.FindingsFile) {
						if f.Rule == "consent.refusal_replaced" {
							t.Errorf("%v: %s", turn, f.Message)
						}
					}
					h.wantState("K-1", notIn)
				}
				h.mustVerify()
				bring(yes, assertion("W-1", "S-1,one@example.com", "Y", "2025-04-01T10:00:00Z"))
				if s := sourceOf(t, h.imported(), "consents"); len(s.Rejected) > 0 {
					t.Errorf("rejected by %v", s.Rejected)
				}
				h.wantState("K-1", "given assertion")
				h.mustVerify()
				h.survivesLoss()
			})
		}
	}
}

// A no whose purpose is in no list is heard by other batches as one to any, in dry-run and trace, until somebody imports that purpose.
func TestRuleANoToAnUnknownPurposeIsHeardByOtherBatches(t *testing.T) {
	t.Parallel()
	no := strings.Replace(assertion("W-1", "S-1,one@example.com", "N", "2025-04-01T10:00:00Z"), ",news,", ",weekly,", 1)
	yes := receipt("K-1", "S-1,one@example.com", "Y", "2025-03-01T10:00:00Z")
	h := small(t, rows([]string{yes}, nil, nil))
	h.imported()
	h.next("acme-2027", rows([]string{no}, nil, nil))
	h.write("batch.yaml", tolerantBatch("acme-2027"))
	if dry := h.imported(); dry.StillGiven != 1 {
		t.Errorf("%d consents are said to be still given", dry.StillGiven)
	}
	opposed := func(n int) {
		t.Helper()
		h.next("acme-2026", rows([]string{yes}, nil, nil))
		h.write("purposes.csv", houseFiles["purposes.csv"])
		h.write("batch.yaml", tolerantBatch("acme-2026"))
		r, err := h.open().Trace(t.Context(), "consent", "K-1", false)
		if err != nil || len(r.Records[0].Opposed) != n {
			t.Errorf("%+v, %v; want %d that oppose it", r.Records, err, n)
		}
		if r := h.mustRun(pipeline.Reconcile)["reconcile"].(*pipeline.ReconcileResult); r.StillGivenElsewhere != n {
			t.Errorf("reconcile says %d are still given", r.StillGivenElsewhere)
		}
	}
	opposed(1)
	h.next("acme-2028", rows([]string{assertion("K-2", ",one@example.com", "Y", "2025-03-01T10:00:00Z")}, nil, nil))
	h.write("batch.yaml", tolerantBatch("acme-2028"))
	wantRules(t, "K-2", found(t, h.imported(), "consents")[2], "consent.opposed_by_rejected")
	h.next("acme-2029", map[string]string{"purposes.csv": houseFiles["purposes.csv"] + "weekly,Weekly letter\n", "consents.csv": consentHeader + assertion("K-3", ",one@example.com", "Y", "2025-03-01T10:00:00Z") + "\n"})
	h.write("batch.yaml", tolerantBatch("acme-2029"))
	wantRules(t, "K-3", found(t, h.imported(), "consents")[2])
	opposed(0)
}
