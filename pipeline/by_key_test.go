package pipeline_test

import (
	"maps"
	"strings"
	"testing"

	"sheetlift/pipeline"
	"sheetlift/pipeline/store/storetest"
)

// A rejected row that says no and names its subject so that nobody can read it is heard of whom the record under its key names, and of what
// hangs on that subject, in every dry-run until it is mended.
func TestRuleARejectedNoIsAboutTheRecordOfItsKey(t *testing.T) {
	t.Parallel()
	given := receipt("G-1", "S-1,one@example.com", "Y", "2025-03-01T10:00:00Z") + "\n"
	other := receipt("G-2", "S-2,two@example.com", "Y", "2025-03-01T10:00:00Z") + "\n"
	const at = "2025-12-01T10:00:00Z"
	no := func(id, who string) string { return assertion(id, who, "N", at) + "\n" }
	history := map[string]string{"consents.yaml": strings.Replace(houseFiles["consents.yaml"], "    key: [external_id]\n", "    key: [external_id]\n    history: true\n", 1)}
	suppressions := map[string]string{"suppressions.yaml": strings.Replace(strings.Replace(houseFiles["suppressions.yaml"], "key: [email, channel]", "key: [external_id]", 1),
		"      email: Mail\n", "      external_id: Id\n      email: Mail\n", 1)}
	const named = "Id,Mail,Channel,Reason,At\n"
	for name, c := range map[string]struct {
		files map[string]string // beside the given consents
		delta map[string]string
		where string // of the finding about G-1; empty if there is none
	}{
		"an address that is none":       {nil, map[string]string{"consents.csv": consentHeader + no("G-1", ",one")}, "consents.csv F2"},
		"in a history":                  {history, map[string]string{"consents.csv": consentHeader + given + no("G-1", ",one")}, "consents.csv F3"},
		"no subject at all":             {nil, map[string]string{"consents.csv": consentHeader + no("G-1", ",")}, "consents.csv F2"},
		"none, and a date that is none": {nil, map[string]string{"consents.csv": consentHeader + assertion("G-1", ",", "N", "2025-13-01") + "\n"}, "consents.csv F2"},
		"the same person by another key": {map[string]string{"consents.csv": consentHeader + given + other + assertion("G-3", "S-1,", "Y", at) + "\n"},
			map[string]string{"consents.csv": consentHeader + assertion("G-3", ",one", "N", at) + "\n"}, "two"},
		"under a key of its own":    {nil, map[string]string{"consents.csv": consentHeader + no("W-1", ",one")}, ""},
		"another subject's key":     {nil, map[string]string{"consents.csv": consentHeader + no("G-2", ",two")}, "other"},
		"a yes":                     {nil, map[string]string{"consents.csv": consentHeader + assertion("G-1", ",one", "Y", at) + "\n"}, ""},
		"another channel":           {nil, map[string]string{"consents.csv": consentHeader + strings.Replace(no("G-1", ",one"), ",email,", ",sms,", 1)}, ""},
		"whose subject can be read": {nil, map[string]string{"consents.csv": consentHeader + assertion("G-1", "S-7,seven@example.com", "N", "2025-13-01") + "\n"}, ""},
		"half of which can be read": {nil, map[string]string{"consents.csv": consentHeader + assertion("G-1", "S-7,seven", "N", at) + "\n"}, "consents.csv F2"},
		"an address that is padded": {nil, map[string]string{"consents.csv": consentHeader + no("G-1", ",\" one@example.com\"")}, "consents.csv F2"},
		"a case that was about somebody": {map[string]string{"cases.csv": caseHeader + "E-1,erasure,open,,one@example.com,2026-09-01,\n"},
			map[string]string{"cases.csv": caseHeader + "E-1,erasure,done,,one,2026-09-01,2026-09-20\n"}, "cases.csv B2"},
		"a suppression of somebody": {with(suppressions, "suppressions.csv", named+"L-1,one@example.com,sms,objection,\n"),
			map[string]string{"suppressions.csv": named + "L-1,one,email,objection,\n"}, "suppressions.csv D2"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := rows([]string{strings.TrimSpace(given + other)}, nil, nil)
			maps.Copy(files, c.files)
			h := small(t, files)
			h.mustRun(pipeline.Reconcile)
			if h.wantState("G-1", "given receipt"); t.Failed() {
				t.FailNow()
			}
			for file, text := range c.delta {
				h.write(file, text)
				h.snapshot(pipeline.Delta, file)
			}
			dry := h.mustRun(pipeline.Reconcile)["dryrun"].(*pipeline.DryRunResult)
			switch c.where {
			case "two", "other":
				list := stillGiven(t, dry)
				if want := map[string]int{"two": 2, "other": 1}[c.where]; len(list) != 1 || dry.StillGiven != want || len(list[0].Records.List()) != want {
					t.Fatalf("%d still given, want %d: %+v", dry.StillGiven, want, list)
				}
				if c.where == "other" {
					return
				}
			default:
				wantByKey(t, h, dry, "delta-1", c.where)
			}
			// The next export has nothing of it.
			h.write("suppressions.csv", strings.Replace(named, "Id,", "", 1)+"else@example.com,email,objection,\n")
			if c.files["suppressions.yaml"] != "" {
				h.write("suppressions.csv", named+"L-9,else@example.com,email,objection,\n")
			}
			h.snapshot(pipeline.Delta, "suppressions.csv")
			dry = h.mustRun(pipeline.Reconcile)["dryrun"].(*pipeline.DryRunResult)
			if c.where == "two" {
				if dry.StillGiven != 2 {
					t.Errorf("%d still given", dry.StillGiven)
				}
			} else {
				wantByKey(t, h, dry, "delta-1", c.where)
			}
			h.mustVerify()
		})
	}
}

// wantByKey is wantStillGiven of a row that may name nobody.
func wantByKey(t *testing.T, h *house, dry *pipeline.DryRunResult, snapshot, where string) {
	t.Helper()
	n := 0
	if where != "" {
		n = 1
	}
	list := stillGiven(t, dry)
	tr, err := h.open().Trace(t.Context(), "consent", "G-1", false)
	if err != nil {
		t.Fatal(err)
	}
	st, err := h.open().Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	opposed := tr.Records[0].Opposed
	if len(list) != n || dry.StillGiven != n || st.StillGiven != n || len(opposed) != n {
		t.Fatalf("%+v; dryrun %d, status %d, trace %v; want %d", list, dry.StillGiven, st.StillGiven, opposed, n)
	}
	if n == 0 {
		return
	}
	f, o := list[0], opposed[0]
	if got := strings.TrimSpace(f.File + f.Sheet + " " + f.Cell); got != where || o.Snapshot != snapshot || o.Cell != f.Cell || o.Row != f.Row {
		t.Errorf("found at %q, trace %+v, want %q of %s", got, o, where, snapshot)
	}
	h.wantState("G-1", "given receipt")
}

// What comes in beside such a row is kept out by it, whatever their order.
func TestRuleARejectedNoKeepsTheRecordOfItsKeyOut(t *testing.T) {
	t.Parallel()
	given, no := receipt("G-1", "S-1,one@example.com", "Y", "2025-03-01T10:00:00Z"), assertion("G-1", ",one", "N", "2025-12-01T10:00:00Z")
	same := assertion("G-2", ",one@example.com", "Y", "2025-03-01T10:00:00Z")
	for name, list := range map[string][]string{"before": {no, given, same}, "after": {given, same, no}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t, storetest.SQLite(t), rows(list, nil, nil))
			got := found(t, h.imported(), "consents")
			for i, line := range list {
				want := []string{"consent.opposed_by_rejected"}
				if line == no {
					want = []string{"email.invalid"}
				}
				wantRules(t, line, got[i+2], want...)
			}
			h.mustVerify()
		})
	}
}

// Other batches hear such a row of the record that its key is of, whoever brings that record and when, until the row is mended or its batch undone.
func TestRuleARejectedNoIsAboutTheRecordOfItsKeyForOtherBatches(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, url string) {
		given, no := rows([]string{assertion("G-1", "S-1,one@example.com", "Y", "2025-03-01T10:00:00Z")}, nil, nil), assertion("G-1", ",one", "N", "2025-12-01T10:00:00Z")
		h := newHouse(t, url, given)
		h.imported()
		h.next("acme-2027", rows([]string{no}, nil, nil))
		h.imported()
		h.wantKinds(map[string]int{"rejected event": 1})
		for _, u := range h.unrecorded() {
			if u.Subject != "" || u.RecordID == "" {
				t.Errorf("%+v", u)
			}
		}
		h.mustVerify()
		opposed := func(batch string, want int) {
			t.Helper()
			h.next(batch, nil)
			tr, err := h.open().Trace(t.Context(), "consent", "G-1", false)
			if err != nil || len(tr.Records[0].Opposed) != want {
				t.Errorf("batch %s: %+v, %v; want %d rows against it", batch, tr, err, want)
			}
			st, err := h.open().Status(t.Context())
			if own := batch == "acme-2027"; err != nil || st.StillGiven != map[bool]int{true: want}[own] {
				t.Errorf("batch %s: %+v, %v; want %d", batch, st, err, want)
			}
		}
		opposed("acme-2026", 1)
		opposed("acme-2027", 1)
		h.wantState("G-1", "given assertion")
		h.next("acme-2028", rows([]string{assertion("B-1", "S-1,", "Y", "2025-03-02T10:00:00Z"), assertion("B-2", "S-2,", "Y", "2025-03-02T10:00:00Z")}, nil, nil))
		dry := h.imported()
		wantRules(t, "the same subject", found(t, dry, "consents")[2], "consent.opposed_by_rejected")
		wantRules(t, "another subject", found(t, dry, "consents")[3])
		for _, f := range findings(t, dry.FindingsFile) {
			if f.Row == 2 && f.Rule == "consent.opposed_by_rejected" && !strings.Contains(f.Message, "batch acme-2027, snapshot initial, source consents, row 2") {
				t.Error(f.Message)
			}
		}
		h.next("acme-2026", given)
		h.undo()
		wantRules(t, "the record itself", found(t, dryRun(h), "consents")[2], "consent.opposed_by_rejected")
		h.next("acme-2027", rows([]string{no}, nil, nil))
		h.undo()
		h.wantKinds(map[string]int{})
		h.next("acme-2026", given)
		wantRules(t, "once the other batch is undone", found(t, h.imported(), "consents")[2])
	})
}

// Mended, the row comes in as what it says, and nothing is heard of its key any more.
func TestRuleAMendedNoIsNoMoreAboutItsKey(t *testing.T) {
	t.Parallel()
	h := newHouse(t, storetest.SQLite(t), rows([]string{receipt("G-1", "S-1,one@example.com", "Y", "2025-03-01T10:00:00Z")}, nil, nil))
	h.mustRun(pipeline.Reconcile)
	h.write("consents.csv", consentHeader+assertion("G-1", ",one", "N", "2025-12-01T10:00:00Z")+"\n")
	h.snapshot(pipeline.Delta, "consents.csv")
	h.mustRun(pipeline.Reconcile)
	h.wantKinds(map[string]int{"rejected event": 1})
	h.edit("mend.xlsx", func(w *inHand) { w.set(2, map[string]string{"Mail": "one@example.com"}) })
	h.snapshot(pipeline.Mended, "mend.xlsx")
	dry := h.mustRun(pipeline.Reconcile)["dryrun"].(*pipeline.DryRunResult)
	if list := stillGiven(t, dry); len(list)+dry.StillGiven > 0 {
		t.Errorf("%+v", list)
	}
	h.wantKinds(map[string]int{"-rejected event": 1})
	h.wantState("G-1", "withdrawn withdrawal")
	h.mustVerify()
}

// Whom such a row means is not lost with the record that named them: when the batch that brought it is undone, other batches and the row's own
// hear it of them as before, also if the record comes back and names somebody else; until the row is mended, or its batch undone.
func TestRuleARejectedNoMeansWhomItsRecordNamed(t *testing.T) {
	t.Parallel()
	const named = "Id,Mail,Channel,Reason,At\n"
	suppressions := strings.NewReplacer("key: [email, channel]", "key: [external_id]", "      email: Mail\n", "      external_id: Id\n      email: Mail\n").Replace(houseFiles["suppressions.yaml"])
	given := func(id, who string) string { return assertion(id, who, "Y", "2025-03-01T10:00:00Z") }
	consent := rows([]string{strings.Replace(given("G-1", ",one@example.com"), ",email,", ",sms,", 1)}, nil, nil) // else the no would keep it out
	no := rows([]string{assertion("G-1", ",one", "N", "2025-12-01T10:00:00Z")}, nil, nil)
	suppressed := func(row string) map[string]string {
		return map[string]string{"suppressions.csv": named + row + "\n"}
	}
	for name, c := range map[string]struct {
		a, b   map[string]string // the batch whose record goes, and the one with the no
		bFirst bool
	}{
		"a consent, before the no":        {consent, no, false},
		"a consent, after the no":         {consent, no, true},
		"a consent that the no keeps out": {rows([]string{given("G-1", ",one@example.com")}, nil, nil), no, true},
		"a suppression, before the no":    {suppressed("L-1,one@example.com,sms,objection,"), suppressed("L-1,one,email,objection,"), false},
		"a suppression, after the no":     {suppressed("L-1,one@example.com,sms,objection,"), suppressed("L-1,one,email,objection,"), true},
		"a case, before the no":           {rows(nil, nil, []string{"E-1,access,open,,one@example.com,2025-09-01,"}), rows(nil, nil, []string{"E-1,objection,open,,one,2025-12-01,"}), false},
		"a case, after the no":            {rows(nil, nil, []string{"E-1,access,open,,one@example.com,2025-09-01,"}), rows(nil, nil, []string{"E-1,objection,open,,one,2025-12-01,"}), true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			storetest.Each(t, func(t *testing.T, url string) {
				h := newHouse(t, url, nil)
				batch := func(name string, files map[string]string) {
					h.next(name, rows(nil, nil, nil))
					h.write("suppressions.yaml", suppressions)
					h.write("suppressions.csv", named)
					for file, text := range files {
						if text != suppressionHeader {
							h.write(file, text)
						}
					}
					h.write("batch.yaml", tolerantBatch(name))
				}
				order := []string{"acme-a", "acme-b"}
				if c.bFirst {
					order = []string{"acme-b", "acme-a"}
				}
				files := map[string]map[string]string{"acme-a": c.a, "acme-b": c.b, "acme-c": rows([]string{given("C-1", ",one@example.com"), given("C-2", ",two@example.com")}, nil, nil)}
				for _, name := range append(order[:1:1], "acme-c") {
					batch(name, files[name])
					h.imported()
				}
				batch(order[1], files[order[1]])
				h.imported()
				opposed := func(when string, want int) {
					t.Helper()
					batch("acme-c", files["acme-c"])
					for id, want := range map[string]int{"C-1": want, "C-2": 0} {
						tr, err := h.open().Trace(t.Context(), "consent", id, false)
						if err != nil || len(tr.Records[0].Opposed) != want {
							t.Errorf("%s: %s: %+v, %v; want %d rows against it", when, id, tr, err, want)
						}
					}
					rec := h.mustRun(pipeline.Reconcile)["reconcile"].(*pipeline.ReconcileResult)
					if rec.StillGivenElsewhere != want {
						t.Errorf("%s: reconcile counts %d, want %d", when, rec.StillGivenElsewhere, want)
					}
					batch("acme-d", rows([]string{given("D-1", ",one@example.com"), given("D-2", ",three@example.com")}, nil, nil))
					got := found(t, dryRun(h), "consents")
					wantRules(t, when+": a new consent", got[2], []string{"consent.opposed_by_rejected"}[:want]...)
					wantRules(t, when+": of another subject", got[3])
				}
				opposed("before", 1)
				undo := func(name string) {
					t.Helper()
					batch(name, files[name])
					h.undo()
				}
				undo("acme-a")
				opposed("without the record", 1)
				batch("acme-b", files["acme-b"])
				h.mustVerify()
				h.mustRun(pipeline.Reconcile)
				kept := 0
				for _, u := range h.unrecorded() {
					if u.Kept {
						kept++
					}
					if strings.Contains(u.Subject, "one") || u.RecordID == "" {
						t.Errorf("%+v", u)
					}
				}
				if kept != 1 {
					t.Errorf("%d subjects kept, want 1: %+v", kept, h.unrecorded())
				}
				batch("acme-a", files["acme-a"])
				h.imported()
				undo("acme-a")
				if again := h.unrecorded(); len(again) != 2 {
					t.Errorf("undone twice: %+v", again)
				}
				undo("acme-b")
				h.wantKinds(map[string]int{})
				opposed("without the no", 0)
			})
		})
	}
}

// A fresh export that has such a row again still means whom its record named; mended, the row means whom it names.
func TestRuleARejectedNoThatComesBackMeansWhomItsRecordNamed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		who      string
		replaced int // once it is exported again
	}{"unreadable": {",one", 0}, "nobody": {",", 2}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			storetest.Each(t, func(t *testing.T, url string) {
				no := map[string]string{"consents.csv": consentHeader + assertion("G-1", c.who, "N", "2025-12-01T10:00:00Z") + "\n"}
				given := rows([]string{strings.Replace(receipt("G-1", ",one@example.com", "Y", "2025-03-01T10:00:00Z"), ",email,", ",sms,", 1)}, nil, nil)
				other := rows([]string{receipt("C-1", ",one@example.com", "Y", "2025-03-01T10:00:00Z")}, nil, nil)
				h := newHouse(t, url, given)
				h.imported()
				h.next("acme-2027", other)
				h.imported()
				h.next("acme-2028", no)
				h.imported()
				h.next("acme-2026", given)
				h.undo()
				want := func(when string, n int, kinds map[string]int) {
					t.Helper()
					h.mustVerify()
					h.loseWork()
					if _, err := h.open().Reconcile(t.Context()); err != nil {
						t.Errorf("%s: made anew: %v", when, err)
					}
					h.wantKinds(kinds)
					h.next("acme-2027", other)
					tr, err := h.open().Trace(t.Context(), "consent", "C-1", false)
					if err != nil || len(tr.Records[0].Opposed) != n {
						t.Errorf("%s: %+v, %v; want %d rows against it", when, tr, err, n)
					}
					h.wantState("C-1", "given receipt")
					h.next("acme-2028", no)
				}
				h.next("acme-2028", no)
				want("without the record", 1, map[string]int{"rejected event": 2})
				h.snapshot(pipeline.Delta, "consents.csv")
				if dry := h.mustRun(pipeline.Reconcile)["dryrun"].(*pipeline.DryRunResult); dry.StillGiven != 1 {
					t.Errorf("%+v", stillGiven(t, dry))
				}
				again := map[string]int{"rejected event": 4 - c.replaced, "-rejected event": c.replaced}
				maps.DeleteFunc(again, func(_ string, n int) bool { return n == 0 })
				want("exported again", 2-c.replaced/2, again)
				h.edit("mend.xlsx", func(w *inHand) { w.set(2, map[string]string{"Mail": "two@example.com"}) })
				h.snapshot(pipeline.Mended, "mend.xlsx")
				h.mustRun(pipeline.Reconcile)
				want("mended", 0, map[string]int{"-rejected event": 4})
			})
		})
	}
}
