package pipeline_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"sheetlift/importers/register"
	"sheetlift/pipeline"
	"sheetlift/pipeline/store"
	"sheetlift/pipeline/store/storetest"
)

// unrecorded is what the register has of rows that gave no record.
func (h *house) unrecorded() (list []register.Unrecorded) {
	h.t.Helper()
	err := h.look().View(h.t.Context(), func(tx *store.Tx) error {
		return register.EachUnrecorded(h.t.Context(), tx, "acme", func(u *register.Unrecorded) error {
			list = append(list, *u)
			return nil
		})
	})
	if err != nil {
		h.t.Fatal(err)
	}
	return list
}

// kinds counts what the register has of such rows by what they say; replaced ones have a minus.
func (h *house) kinds() map[string]int {
	got := map[string]int{}
	for _, u := range h.unrecorded() {
		word := string(u.Kind)
		if u.Rejected {
			word = "rejected " + word
		}
		if u.ReplacedBy != "" {
			word = "-" + word
		}
		got[word]++
	}
	return got
}

func (h *house) wantKinds(want map[string]int) {
	h.t.Helper()
	if got := h.kinds(); !maps.Equal(got, want) {
		h.t.Errorf("the register has %v of rows that gave no record, want %v", got, want)
	}
}

// A row that is skipped for want of an answer, or because it rests on another basis than consent, says all the same who is one subject.
func TestRuleASkippedRowLinks(t *testing.T) {
	t.Parallel()
	for name, line := range map[string]string{
		"no answer":   assertion("A-1", "S-1,one@example.com", "", "2025-01-01T10:00:00Z"),
		"not consent": assertion("A-1", "S-1,one@example.com", "Y", "2025-01-01T10:00:00Z")[:0] + "A-1,S-1,one@example.com,news,email,Y,2025-01-01T10:00:00Z,,,,,,bill",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := rows([]string{line, assertion("B-1", "S-1,", "Y", "2025-03-01T10:00:00Z")}, []string{"one@example.com,email,objection,2025-02-01"}, nil)
			h := newHouse(t, storetest.SQLite(t), files)
			if name == "not consent" {
				h.write("consents.yaml", strings.Replace(houseFiles["consents.yaml"], "      notice_id:", "      lawful_basis: { from: Proof, enum: { contract: [bill] } }\n      notice_id:", 1))
			}
			dry := h.imported()
			if s := sourceOf(t, dry, "consents"); s.Rows.Skipped != 1 {
				t.Fatalf("%+v %v", s.Rows, s.Skipped)
			}
			wantRules(t, "the consent", found(t, dry, "consents")[3], "suppression.overrules")
			h.wantState("B-1", "suppressed suppressed_objection")
			h.wantKinds(map[string]int{"link": 1})
		})
	}
}

// Identifiers that stand beside each other in a row belong together though each of its records has but one of them, or one is not given.
func TestRuleARowLinksBeyondItsRecords(t *testing.T) {
	t.Parallel()
	for name, answers := range map[string]string{"both records": "Y,Y", "one is not given": ",Y"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := mixed("1,S-1,one@example.com," + answers + ",2025-01-01,news\n2,S-1,,,Y,2025-01-01,news\n3,,two@example.com,Y,,2025-01-01,news\n")
			files["consents.yaml"] = strings.NewReplacer("subject_id: Subject, email: Mail, purpose: Purpose, status: { from: Email", "email: Mail, purpose: Purpose, status: { from: Email",
				"subject_id: Subject, email: Mail, purpose: Purpose, status: { from: Sms", "subject_id: Subject, purpose: Purpose, status: { from: Sms",
				"    when: { column: Email, not_blank: true }\n", "").Replace(files["consents.yaml"])
			files["suppressions.csv"] = suppressionHeader + "one@example.com,sms,objection,2025-02-01\n"
			h := newHouse(t, storetest.SQLite(t), files)
			dry := h.imported()
			got := found(t, dry, "consents")
			wantRules(t, "row 2", got[2], "suppression.overrules")
			wantRules(t, "row 3", got[3], "suppression.overrules")
			wantRules(t, "row 4", got[4])
			h.wantKinds(map[string]int{"link": 1})
			for _, id := range []string{"1|sms", "2|sms"} {
				h.wantState(id, "suppressed suppressed_objection")
			}
			h.next("acme-2027", rows([]string{strings.Replace(assertion("B-1", "S-1,", "Y", "2025-01-01"), ",email,", ",sms,", 1)}, nil, nil))
			h.write("consents.yaml", houseFiles["consents.yaml"])
			wantRules(t, "another batch", found(t, h.imported(), "consents")[2], "suppression.overrules")
		})
	}
}

// What a skipped row of one batch says of who is one subject holds for all others, whichever comes first, until the batch is undone.
func TestRuleASkippedRowLinksForOtherBatches(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, url string) {
		link := []string{assertion("A-1", "S-1,One@example.com", "", ""), assertion("A-2", "S-1,one@example.com", "", ""), assertion("A-3", "S-1,", "", ""), assertion("A-4", ",one@example.com", "", "")}
		says := rows([]string{assertion("B-1", "S-1,", "Y", "2025-03-01T10:00:00Z")}, []string{"one@example.com,email,objection,2025-02-01"}, nil)
		h := newHouse(t, url, rows(link, nil, nil))
		h.imported()
		h.wantKinds(map[string]int{"link": 1})
		for _, u := range h.unrecorded() {
			if u.Batch != "acme-2026" || u.Row != 2 || u.Source != "consents" || strings.Contains(u.Subject, "one") || strings.Contains(u.Subject, "S-1") {
				t.Errorf("%+v", u)
			}
		}
		h.mustVerify()
		h.next("acme-2027", says)
		wantRules(t, "the consent", found(t, h.imported(), "consents")[2], "suppression.overrules")
		h.wantState("B-1", "suppressed suppressed_objection")
		h.next("acme-2026", rows(link, nil, nil))
		h.undo()
		h.wantKinds(map[string]int{})
		h.next("acme-2027", says)
		h.wantState("B-1", "given assertion")
		h.next("acme-2028", rows(link, nil, nil))
		h.imported()
		h.wantKinds(map[string]int{"link": 1})
		h.next("acme-2027", says)
		h.wantState("B-1", "suppressed suppressed_objection")
	})
}

// An erasure reaches the person's other identifier by a skipped row, whatever batch it stands in.
func TestRuleASkippedRowLinksErasures(t *testing.T) {
	t.Parallel()
	h := newHouse(t, storetest.SQLite(t), rows([]string{assertion("A-1", "S-1,one@example.com", "", "")}, nil, []string{"R-9,erasure,done,,one@example.com,2025-05-01,2025-05-20"}))
	h.imported()
	h.next("acme-2027", rows([]string{assertion("B-1", "S-1,", "Y", "2025-03-01T10:00:00Z")}, nil, nil))
	h.write("batch.yaml", tolerantBatch("acme-2027"))
	dry := h.mustRun(pipeline.DryRun)["dryrun"].(*pipeline.DryRunResult)
	wantRules(t, "the consent", found(t, dry, "consents")[2], "subject.erased")
}

// A delta knows what rows of earlier snapshots held beside each other that were skipped, and lists nothing twice.
func TestRuleASkippedRowLinksForLaterSnapshots(t *testing.T) {
	t.Parallel()
	h := newHouse(t, storetest.SQLite(t), rows([]string{assertion("A-1", "S-1,one@example.com", "", "")}, []string{"one@example.com,email,objection,2025-02-01"}, nil))
	h.imported()
	h.write("consents.csv", consentHeader+assertion("B-1", "S-1,", "Y", "2025-03-01T10:00:00Z")+"\n"+assertion("A-9", "S-1,one@example.com", "", "")+"\n")
	h.snapshot(pipeline.Delta, "consents.csv")
	dry := h.imported()
	if dry.Unrecorded != nil {
		t.Errorf("listed again: %+v", dry.Unrecorded)
	}
	wantRules(t, "the consent", found(t, dry, "consents")[2], "suppression.overrules")
	h.wantState("B-1", "suppressed suppressed_objection")
	h.survivesLoss()
}

// An import that is killed after it brought in what skipped rows say goes on, and brings nothing in twice.
func TestKilledImportOfSkippedRows(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, url string) {
		h := newHouse(t, url, nil)
		h.mustRun(pipeline.DryRun)
		h.kill(1)
		want := map[string]int{"link": 1, "rejected event": 1, "rejected link": 4}
		h.wantKinds(want)
		h.imported()
		h.wantKinds(want)
		h.mustVerify()
	})
}

// twoContents are two withdrawals of one key, which are both rejected.
func twoContents(who string) []string {
	return []string{assertion("W-1", who, "N", "2025-02-01T10:00:00Z"), assertion("W-1", who, "N", "2025-02-02T10:00:00Z")}
}

// What a rejected row of one batch says against consents keeps those of another out, unless they are receipts that are provably later, and
// changes nothing of those that are in. So it is until the row is mended, or its batch is undone.
func TestRuleARejectedWithdrawalIsHeardByOtherBatches(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, url string) {
		h := newHouse(t, url, rows([]string{assertion("A-1", "S-1,one@example.com", "Y", "2025-01-01T10:00:00Z")}, nil, nil))
		h.imported()
		first := rows(append(twoContents("S-1,one@example.com"), assertion("G-1", "S-9,", "Y", "")), nil, nil)
		h.next("acme-2027", first)
		h.imported()
		h.wantKinds(map[string]int{"rejected event": 2, "rejected link": 2})
		h.mustVerify()
		h.wantState("A-1", "given assertion")
		tr, err := h.open().Trace(t.Context(), "consent", "A-1", false)
		if err != nil || len(tr.Records[0].Opposed) != 2 || tr.Records[0].Opposed[0].Row != 2 || tr.Records[0].Opposed[0].Batch != "" {
			t.Errorf("trace of the batch that has the rows: %+v, %v", tr, err)
		}
		second := rows([]string{
			assertion("B-1", "S-1,", "Y", "2025-03-01T10:00:00Z"), receipt("B-2", ",one@example.com", "Y", "2025-01-15T10:00:00Z"),
			receipt("B-3", "S-1,", "Y", "2025-03-01T10:00:00Z"), assertion("B-4", "S-2,", "no", "2024-01-01"), assertion("B-5", "S-3,", "Y", ""),
		}, nil, nil)
		h.next("acme-2028", second)
		dry := h.imported()
		got := found(t, dry, "consents")
		for row, want := range map[int][]string{2: {"consent.opposed_by_rejected"}, 3: {"consent.opposed_by_rejected"}, 4: nil, 5: nil, 6: nil} {
			wantRules(t, "row "+string(rune('0'+row)), got[row], want...)
		}
		for _, f := range findings(t, dry.FindingsFile) {
			if f.Rule == "consent.opposed_by_rejected" && (!strings.Contains(f.Message, "batch acme-2027, snapshot initial, source consents, row 2; batch acme-2027") || strings.Contains(f.Message, "example.com")) {
				t.Errorf("row %d: %s", f.Row, f.Message)
			}
		}
		h.wantState("A-1", "given receipt")
		h.wantState("B-5", "given assertion")
		h.undo()
		h.wantState("A-1", "given assertion")
		tr, err = h.open().Trace(t.Context(), "consent", "A-1", false)
		if err != nil || len(tr.Records[0].Opposed) != 2 || tr.Records[0].Opposed[1].Row != 3 || tr.Records[0].Opposed[1].Batch != "acme-2027" || tr.Records[0].Opposed[1].SHA256 == "" {
			t.Errorf("trace of another batch: %+v, %v", tr, err)
		}
		h.next("acme-2027", first)
		h.undo()
		h.wantKinds(map[string]int{})
		h.next("acme-2028", second)
		dry = h.mustRun(pipeline.DryRun)["dryrun"].(*pipeline.DryRunResult)
		wantRules(t, "B-1 after the undo", found(t, dry, "consents")[2])
	})
}

// Once a rejected row came in, what it said before is replaced by what it says now, for other batches too; not before all of it is in.
func TestRuleAMendedRowReplacesWhatItSaid(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, url string) {
		h := newHouse(t, url, rows([]string{
			strings.Replace(assertion("W-1", "S-1,one@example.com", "N", "2025-02-01T10:00:00Z"), ",news,", ",gnews,", 1),
			assertion("W-2", "S-2,", "N", "soon"), assertion("G-1", "S-9,", "Y", ""),
		}, nil, nil))
		h.imported()
		h.wantKinds(map[string]int{"rejected event": 2, "rejected link": 1})
		h.edit("mend.xlsx", func(w *inHand) { w.set(2, map[string]string{"Purpose": "news"}) })
		h.snapshot(pipeline.Mended, "mend.xlsx")
		h.mustRun(pipeline.DryRun)
		h.killAfter(h.events(), 1)
		h.wantKinds(map[string]int{"rejected event": 3, "rejected link": 1})
		dry := h.imported()
		if dry.Unrecorded == nil || dry.Unrecorded.Replaced != 1 {
			t.Errorf("%+v", dry.Unrecorded)
		}
		h.wantKinds(map[string]int{"-rejected event": 1, "rejected event": 2, "-rejected link": 1})
		h.mustVerify()
		h.survivesLoss()
		h.next("acme-2027", rows([]string{assertion("B-1", ",one@example.com", "Y", "2025-03-01T10:00:00Z"), assertion("B-2", "S-2,", "Y", "")}, nil, nil))
		got := found(t, h.imported(), "consents")
		wantRules(t, "B-1", got[2], "consent.overruled")
		wantRules(t, "B-2", got[3], "consent.opposed_by_rejected")
		h.wantState("B-1", "withdrawn withdrawal")
	})
}

// A fresh export replaces what a rejected row said once it has the row, and not before.
func TestRuleAFreshExportReplacesWhatARejectedRowSaid(t *testing.T) {
	t.Parallel()
	h := newHouse(t, storetest.SQLite(t), rows([]string{assertion("W-1", "S-1,", "N", "soon"), assertion("W-2", "S-2,", "N", "soon"), assertion("G-1", "S-9,", "Y", "")}, nil, nil))
	h.imported()
	h.wantKinds(map[string]int{"rejected event": 2})
	h.write("consents.csv", consentHeader+assertion("W-1", "S-1,", "N", "2025-02-01")+"\n"+assertion("W-2", "S-2,", "N", "later")+"\n")
	h.snapshot(pipeline.Delta, "consents.csv")
	h.imported()
	h.wantKinds(map[string]int{"-rejected event": 1, "rejected event": 2})
	for _, u := range h.unrecorded() {
		if (u.ReplacedBy == "delta-1") != (u.Row == 2) {
			t.Errorf("%+v", u)
		}
	}
	h.mustVerify()
	h.survivesLoss()
	h.undo()
	h.wantKinds(map[string]int{})
}

// Identifiers that stand beside each other in a rejected row of another batch are a precaution. Those of a row that is wrong by itself are
// not even that.
func TestRuleARejectedRowOfAnotherBatchTiesNobody(t *testing.T) {
	t.Parallel()
	for name, want := range map[string][]string{"gone": {"consent.opposed_by_rejected"}, "news": nil} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			at := "2025-01-01T10:00:00Z"
			if name == "news" {
				at = "soon"
			}
			h := newHouse(t, storetest.SQLite(t), rows([]string{
				strings.Replace(assertion("A-1", "S-1,one@example.com", "Y", at), ",news,", ","+name+",", 1), assertion("G-1", "S-9,", "Y", ""),
			}, nil, nil))
			h.imported()
			h.next("acme-2027", rows([]string{assertion("B-1", "S-1,", "Y", "2025-03-01T10:00:00Z")}, []string{"one@example.com,email,objection,2025-02-01"}, nil))
			dry := h.imported()
			wantRules(t, "B-1", found(t, dry, "consents")[2], want...)
			for _, f := range findings(t, dry.FindingsFile) {
				if f.Source == "consents" && !strings.Contains(f.Message, "batch acme-2026, snapshot initial, source consents, row 2") {
					t.Error(f.Message)
				}
			}
		})
	}
}

// A row that was rejected because its subject was erased keeps the subject erased under its other identifier, in all batches. An erasure in a
// row that is itself rejected keeps consents out, and takes no refusal away.
func TestRuleARejectedErasureIsHeardByOtherBatches(t *testing.T) {
	t.Parallel()
	h := newHouse(t, storetest.SQLite(t), rows([]string{assertion("A-1", "S-1,one@example.com", "Y", "2025-01-01T10:00:00Z"), assertion("G-1", "S-9,", "Y", "")}, nil,
		[]string{"R-1,erasure,done,,one@example.com,2025-05-01,2025-05-20", "R-2,erasure,done,,two@example.com,soon,2025-05-20"}))
	h.write("batch.yaml", tolerantBatch("acme-2026"))
	h.imported()
	h.wantKinds(map[string]int{"rejected link": 1, "rejected erasure": 1})
	h.next("acme-2027", rows([]string{
		assertion("B-1", "S-1,", "Y", "2025-03-01T10:00:00Z"), assertion("B-2", ",two@example.com", "Y", "2025-03-01T10:00:00Z"), strings.Replace(assertion("B-3", ",two@example.com", "no", "2025-03-01T10:00:00Z"), ",email,", ",sms,", 1),
		receipt("B-4", ",two@example.com", "Y", "2025-06-01T10:00:00Z"),
	}, nil, nil))
	got := found(t, h.imported(), "consents")
	wantRules(t, "B-1", got[2], "subject.erased")
	wantRules(t, "B-2", got[3], "consent.opposed_by_rejected")
	wantRules(t, "B-3", got[4])
	wantRules(t, "B-4", got[5])
	h.wantState("B-4", "given receipt")
}

// What rejected rows of other batches alone speak against is counted where the consents are from, as long as nothing that stands overrules them.
func TestRuleWhatOthersOpposeIsCounted(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, url string) {
		first := rows([]string{
			assertion("G-1", "S-1,one@example.com", "Y", "2025-03-01T10:00:00Z"), assertion("G-2", "S-1,", "Y", "2025-03-01T10:00:00Z"),
			assertion("G-3", "S-2,two@example.com", "Y", "2025-03-01T10:00:00Z"), receipt("G-4", ",one@example.com", "Y", "2026-03-01T10:00:00Z"),
			assertion("G-5", ",five@example.com", "Y", "2025-03-01T10:00:00Z"),
		}, []string{"five@example.com,email,objection,2025-04-01"}, nil)
		h := newHouse(t, url, first)
		h.imported()
		h.next("acme-2027", rows(append(twoContents("S-1,one@example.com"), twoContents(",five@example.com")...), nil, nil))
		h.imported()
		count := func(want int) {
			t.Helper()
			h.next("acme-2026", first)
			got := h.mustRun(pipeline.Reconcile)["reconcile"].(*pipeline.ReconcileResult)
			st, err := h.open().Status(t.Context())
			if err != nil || got.StillGivenElsewhere != want || st.StillGiven+got.StillGiven > 0 {
				t.Errorf("status %+v, %v, reconcile %+v; want %d", st, err, got, want)
			}
			var by []string
			if want > 0 {
				by = []string{"acme-2027"}
			}
			if j := review(t, h).Judged; j.StillGivenElsewhere != want || !slices.Equal(j.StillGivenBatches, by) {
				t.Errorf("the review counts %d, of %v; want %d, of %v", j.StillGivenElsewhere, j.StillGivenBatches, want, by)
			}
			if want > 0 {
				h.wantState("G-1", "given receipt") // that of G-4
			}
		}
		count(2)
		h.next("acme-2027", nil)
		h.undo()
		count(0)
	})
}
