package pipeline_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"

	"sheetlift/pipeline"
	"sheetlift/pipeline/store/storetest"
)

// row finds the row of the workbook that has those values.
func (w *inHand) row(values map[string]string) int {
	w.t.Helper()
	lines, err := w.book.GetRows("consents")
	if err != nil {
		w.t.Fatal(err)
	}
	for i, line := range lines[1:] {
		if !slices.ContainsFunc(slices.Sorted(maps.Keys(values)), func(header string) bool {
			col := slices.Index(lines[0], header)
			return col >= len(line) || line[col] != values[header]
		}) {
			return i + 2
		}
	}
	w.t.Fatalf("no row of the workbook has %v", values)
	return 0
}

// mend changes the row that has the values was.
func (w *inHand) mend(was, to map[string]string) {
	w.t.Helper()
	w.set(w.row(was), to)
}

type cells = map[string]string

const notIn = "not in the register"

// A row that was rejected only for what other rows say is judged anew when they come back mended, though nobody changed it: it comes in if
// nothing stands against it any more, and then what it says against consents is as good as what a mended row says. Any other
// untouched row stays rejected, and opposes. The order of the rows is of no matter.
func TestRuleAnUntouchedRowIsJudgedAnew(t *testing.T) {
	t.Parallel()
	no := func(id, who string) string { return assertion(id, who, "N", "2026-03-14T09:12:00Z") }
	yes := func(id, who string) string { return receipt(id, who, "Y", "2025-03-01T10:00:00Z") }
	const one, two = "S-1,one@example.com", "S-2,two@example.com"
	opposed := func(n int) map[string]int { return map[string]int{"consent.opposed_by_rejected": n} }
	for _, c := range []struct {
		name     string
		files    map[string]string
		edit     func(w *inHand)
		rejected map[string]int
		anew     pipeline.AnewRows
		states   map[string]string
	}{
		{
			"a no comes in, and the mended yes is history", rows([]string{no("K-1", one), yes("K-1", one)}, nil, nil),
			func(w *inHand) { w.mend(cells{"Id": "K-1", "Status": "Y"}, cells{"Id": "K-2"}) },
			nil, pipeline.AnewRows{Rows: 1, Accepted: 1}, cells{"K-1": "withdrawn", "K-2": "withdrawn"},
		},
		{
			"so is a yes that nobody touched", rows([]string{no("K-1", one), yes("K-1", two), yes("K-3", one)}, nil, nil),
			func(w *inHand) { w.mend(cells{"Id": "K-1", "Status": "Y"}, cells{"Id": "K-2"}) },
			nil, pipeline.AnewRows{Rows: 2, Accepted: 2}, cells{"K-1": "withdrawn", "K-2": "given", "K-3": "withdrawn"},
		},
		{
			"a later receipt stands", rows([]string{assertion("K-1", one, "N", "2025-01-14"), yes("K-1", one)}, nil, nil),
			func(w *inHand) { w.mend(cells{"Id": "K-1", "Status": "Y"}, cells{"Id": "K-2"}) },
			nil, pipeline.AnewRows{Rows: 1, Accepted: 1}, cells{"K-2": "given"},
		},
		{
			"a yes comes in once the no says yes", rows([]string{yes("K-1", one), no("K-2", "S-1,broken")}, nil, nil),
			func(w *inHand) { w.mend(cells{"Id": "K-2"}, cells{"Status": "Y", "Mail": "one@example.com"}) },
			nil, pipeline.AnewRows{Rows: 1, Accepted: 1}, cells{"K-1": "given", "K-2": "given"},
		},
		{
			"or is about somebody else", rows([]string{yes("K-1", one), no("K-2", "S-1,broken")}, nil, nil),
			func(w *inHand) { w.mend(cells{"Id": "K-2"}, cells{"Subject": "S-2", "Mail": "two@example.com"}) },
			nil, pipeline.AnewRows{Rows: 1, Accepted: 1}, cells{"K-1": "given", "K-2": "withdrawn"},
		},
		{
			"and is history if it says no of the same person", rows([]string{yes("K-1", one), no("K-2", "S-1,broken")}, nil, nil),
			func(w *inHand) { w.mend(cells{"Id": "K-2"}, cells{"Mail": "other@example.com"}) },
			nil, pipeline.AnewRows{Rows: 1, Accepted: 1}, cells{"K-1": "withdrawn", "K-2": "withdrawn"},
		},
		{
			"a no that is wrong by itself stays out, and opposes", rows([]string{no("K-1", "S-1,broken"), yes("K-2", one), assertion("K-3", one, "maybe", "2025-03-01")}, nil, nil),
			func(w *inHand) { w.mend(cells{"Id": "K-3"}, cells{"Status": "Y"}) },
			map[string]int{"email.invalid": 1, "consent.opposed_by_rejected": 2}, pipeline.AnewRows{Rows: 1}, cells{"K-1": notIn, "K-2": notIn, "K-3": notIn},
		},
		{
			"so does one that was wrong by itself, though it would pass", rows([]string{strings.Replace(no("K-1", one), ",news,", ",nosuch,", 1), strings.Replace(no("K-1", one), ",news,", ",nosuch,", 1) + " "}, nil, nil),
			func(w *inHand) { w.set(2, cells{"Id": "K-2"}) },
			map[string]int{"ref.not_found": 1, "row.unmended": 1}, pipeline.AnewRows{}, cells{"K-1": notIn, "K-2": notIn},
		},
		{
			"a conflict that is left", rows([]string{no("K-1", one), assertion("K-1", one, "N", "2026-03-15"), yes("K-1", one)}, nil, nil),
			func(w *inHand) { w.mend(cells{"Id": "K-1", "Status": "Y"}, cells{"Id": "K-2"}) },
			map[string]int{"row.unmended": 2, "consent.opposed_by_rejected": 1}, pipeline.AnewRows{Rows: 2}, cells{"K-1": notIn, "K-2": notIn},
		},
		{
			"a row of which the workbook says two things", rows([]string{no("K-1", one), yes("K-1", one)}, nil, nil),
			func(w *inHand) {
				w.mend(cells{"Id": "K-1", "Status": "Y"}, cells{"Id": "K-2"})
				w.set(w.copy(w.row(cells{"Id": "K-1", "Status": "N"})), cells{"Status": "Y"})
			},
			map[string]int{"row.token_conflict": 2, "consent.opposed_by_rejected": 1}, pipeline.AnewRows{}, cells{"K-1": notIn, "K-2": notIn},
		},
		{
			"a row that left the workbook stays out, and opposes", rows([]string{no("K-1", one), yes("K-1", one)}, nil, nil),
			func(w *inHand) {
				w.mend(cells{"Id": "K-1", "Status": "Y"}, cells{"Id": "K-2"})
				w.remove(w.row(cells{"Id": "K-1", "Status": "N"}))
			},
			opposed(1), pipeline.AnewRows{}, cells{"K-1": notIn, "K-2": notIn},
		},
		{
			"so does one whose key another row is given", rows([]string{assertion("K-1", one, "N", "soon"), yes("K-2", one), yes("K-3", one)}, nil, nil),
			func(w *inHand) {
				w.mend(cells{"Id": "K-3"}, cells{"Id": "K-1"})
				w.remove(w.row(cells{"Id": "K-1", "Status": "N"}))
			},
			opposed(2), pipeline.AnewRows{Rows: 1}, cells{"K-1": notIn, "K-2": notIn, "K-3": notIn},
		},
		{
			"an erasure", rows([]string{no("K-1", one), yes("K-1", two)}, nil, []string{"R-1,erasure,done,,one@example.com,2026-05-02,2026-06-01"}),
			func(w *inHand) { w.mend(cells{"Id": "K-1", "Status": "Y"}, cells{"Id": "K-2", "Subject": "S-1"}) },
			map[string]int{"subject.erased": 2}, pipeline.AnewRows{Rows: 1}, cells{"K-1": notIn, "K-2": notIn},
		},
		{
			"a row of two consents", mixed("1,S-1,,,Y,2022-03-10,news\n2,S-1,,Y,N,2023-07-11,news\n3,S-1,,N,,2024-13-01,news\n"),
			func(w *inHand) { w.mend(cells{"Id": "3"}, cells{"Email": "Y", "At": "2024-12-01"}) },
			nil, pipeline.AnewRows{Rows: 2, Accepted: 2}, cells{"1|sms": "withdrawn", "2|sms": "withdrawn", "3|email": "given"},
		},
	} {
		for _, reversed := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/reversed %v", c.name, reversed), func(t *testing.T) {
				t.Parallel()
				files := maps.Clone(c.files)
				header, body, _ := strings.Cut(files["consents.csv"], "\n")
				lines := strings.Split(strings.TrimSuffix(body, "\n"), "\n")
				if reversed {
					slices.Reverse(lines)
				}
				files["consents.csv"] = header + "\n" + strings.Join(lines, "\n") + "\n"
				h := newHouse(t, storetest.SQLite(t), files)
				h.imported()
				h.edit("mend.xlsx", c.edit)
				h.write("again.xlsx", h.text("mend.xlsx"))
				h.snapshot(pipeline.Mended, "mend.xlsx")
				dry := h.imported()
				s := sourceOf(t, dry, "consents")
				if len(s.Rejected)+len(c.rejected) > 0 && !maps.Equal(s.Rejected, c.rejected) {
					t.Errorf("rejected by %v, want %v", s.Rejected, c.rejected)
				}
				if *dry.Anew != c.anew {
					t.Errorf("judged anew: %+v, want %+v", *dry.Anew, c.anew)
				}
				for id, want := range c.states {
					if got := h.state(id); !strings.HasPrefix(got, want) {
						t.Errorf("%s is %s, want %s", id, got, want)
					}
				}
				h.survivesLoss()

				// The same workbook again, in other bytes, brings nothing twice and raises nothing.
				h.editAgain("again.xlsx", func(*inHand) {})
				h.snapshot(pipeline.Mended, "again.xlsx")
				if again := sourceOf(t, h.imported(), "consents"); again.Rows.Accepted != 0 || again.Skipped["row.known"] != s.Rows.Accepted {
					t.Errorf("again: %+v %v %v, first %+v", again.Rows, again.Rejected, again.Skipped, s.Rows)
				}
				for id, want := range c.states {
					if got := h.state(id); !strings.HasPrefix(got, want) {
						t.Errorf("%s is %s after the same workbook, want %s", id, got, want)
					}
				}
				h.mustVerify()
			})
		}
	}
}

// Records of a text file that came back as they went out are judged anew as rows of a workbook are.
func TestRuleAnUntouchedRecordIsJudgedAnew(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, url string) {
		no, yes := assertion("K-1", "S-1,one@example.com", "N", "2026-03-14T09:12:00Z"), receipt("K-1", "S-1,one@example.com", "Y", "2025-03-01T10:00:00Z")
		third := receipt("K-3", "S-1,one@example.com", "Y", "2025-03-01T10:00:00Z")
		h := newHouse(t, url, rows([]string{yes, no, third}, nil, nil))
		h.imported()
		mended := strings.Replace(yes, "Y", "N", 1) // both say no now, with other words
		h.write("mended.csv", rows([]string{third, mended, no}, nil, nil)["consents.csv"])
		h.snapshotOf("consents", "mended.csv")
		if s := sourceOf(t, h.imported(), "consents"); s.Rows.Accepted != 0 || !maps.Equal(s.Rejected, map[string]int{"key.multiple_match": 1, "row.unmended": 1, "consent.opposed_by_rejected": 1}) {
			t.Errorf("%+v %v", s.Rows, s.Rejected)
		}
		h.write("mended.csv", rows([]string{third, no, no}, nil, nil)["consents.csv"])
		h.snapshotOf("consents", "mended.csv")
		dry := h.imported()
		if s := sourceOf(t, dry, "consents"); s.Rows.Accepted != 2 || s.Skipped["row.repeat"] != 1 || *dry.Anew != (pipeline.AnewRows{Rows: 3, Accepted: 2}) {
			t.Errorf("%+v %v %v, %+v", s.Rows, s.Rejected, s.Skipped, dry.Anew)
		}
		h.wantState("K-1", "withdrawn withdrawal")
		h.wantState("K-3", "withdrawn withdrawal")
		h.mustVerify()
	})
}

// A row that stayed out of a mended file because it had left it comes in when it is sent back as it was, without those that are in by now.
func TestRuleARowThatLeftTheWorkbookComesBackAsItWas(t *testing.T) {
	t.Parallel()
	for name, keep := range map[string]bool{"alone": false, "beside the mended row": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t, storetest.SQLite(t), rows([]string{receipt("K-1", "S-1,one@example.com", "Y", "2025-03-01T10:00:00Z"), assertion("K-2", "S-1,broken", "N", "2026-03-14T09:12:00Z")}, nil, nil))
			h.imported()
			mend := func(w *inHand) { w.mend(cells{"Id": "K-2"}, cells{"Status": "Y", "Mail": "one@example.com"}) }
			h.edit("mend.xlsx", func(w *inHand) {})
			h.write("rest.xlsx", h.text("mend.xlsx"))
			h.editAgain("mend.xlsx", func(w *inHand) {
				mend(w)
				w.remove(w.row(cells{"Id": "K-1"}))
			})
			h.snapshot(pipeline.Mended, "mend.xlsx")
			if dry := h.imported(); len(dry.NotBack) != 1 {
				t.Errorf("%+v", dry.NotBack)
			}
			h.wantState("K-1", notIn)
			h.editAgain("rest.xlsx", func(w *inHand) {
				if mend(w); !keep {
					w.remove(w.row(cells{"Id": "K-2"}))
				}
			})
			h.snapshot(pipeline.Mended, "rest.xlsx")
			if dry := h.imported(); len(dry.NotBack) != 0 || *dry.Anew != (pipeline.AnewRows{Rows: 1, Accepted: 1}) {
				t.Errorf("%+v %+v", dry.NotBack, dry.Anew)
			}
			h.wantState("K-1", "given receipt")
			h.mustVerify()
		})
	}
}

// The rows of a mended file may lie in several sources, and what nobody touched in one speak against consents of another.
func TestRuleAnUntouchedSuppressionIsJudgedAnew(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, url string) {
		h := newHouse(t, url, rows([]string{assertion("K-1", "S-1,one@example.com", "maybe", "2025-03-01"), receipt("K-2", ",one@example.com", "Y", "2025-03-01T10:00:00Z")},
			[]string{"one@example.com,email,objection,2026-01-01", "one@example.com,email,objection,2026-01-02"}, nil))
		h.write("batch.yaml", tolerantBatch("acme-2026"))
		dry := h.imported()
		if n, opposed := sourceOf(t, dry, "suppressions").Rejected["key.multiple_match"], sourceOf(t, dry, "consents").Rejected["consent.opposed_by_rejected"]; n != 2 || opposed != 1 {
			t.Fatalf("%d suppressions under one key, %d opposed", n, opposed)
		}
		h.edit("mend.xlsx", func(w *inHand) {
			w.mend(cells{"Id": "K-1"}, cells{"Status": "Y"})
			lines, err := w.book.GetRows("suppressions")
			if err != nil {
				t.Fatal(err)
			}
			at, err := excelize.CoordinatesToCellName(slices.Index(lines[0], "Mail")+1, 2)
			if err == nil {
				err = w.book.SetCellStr("suppressions", at, "two@example.com")
			}
			if err != nil {
				t.Fatal(err)
			}
		})
		h.snapshot(pipeline.Mended, "mend.xlsx")
		dry = h.imported()
		if dry.Rows.Rejected != 0 || *dry.Anew != (pipeline.AnewRows{Rows: 2, Accepted: 2}) {
			t.Errorf("%+v, %+v", dry.Rows, dry.Anew)
		}
		for _, id := range []string{"K-1", "K-2"} {
			if got := h.state(id); strings.HasPrefix(got, "given") || got == notIn {
				t.Errorf("%s is %s", id, got)
			}
		}
		h.mustVerify()
	})
}

// A row that came in once and comes again under another key is rejected, and what it says against consents opposes them: it does not overrule
// what comes in beside it.
func TestRuleARekeyedNoOpposes(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, url string) {
		h := newHouse(t, url, rows([]string{receipt("K-1", "S-1,broken", "Y", "2025-03-01T10:00:00Z"), receipt("K-2", "S-2,broken", "Y", "2025-03-01T10:00:00Z")}, nil, nil))
		h.imported()
		h.edit("mend.xlsx", func(w *inHand) {})
		h.write("more.xlsx", h.text("mend.xlsx"))
		h.editAgain("mend.xlsx", func(w *inHand) { w.mend(cells{"Id": "K-1"}, cells{"Mail": "one@example.com"}) })
		h.snapshot(pipeline.Mended, "mend.xlsx")
		h.imported()
		h.editAgain("more.xlsx", func(w *inHand) {
			w.mend(cells{"Id": "K-1"}, cells{"Id": "K-3", "Subject": "S-2", "Mail": "two@example.com", "Status": "N", "At": "2026-03-14T09:12:00Z"})
			w.mend(cells{"Id": "K-2"}, cells{"Mail": "two@example.com"})
		})
		h.snapshot(pipeline.Mended, "more.xlsx")
		if s := sourceOf(t, h.imported(), "consents"); !maps.Equal(s.Rejected, map[string]int{"row.rekeyed": 1, "consent.opposed_by_rejected": 1}) {
			t.Errorf("rejected by %v", s.Rejected)
		}
		h.wantState("K-2", notIn)
		h.wantState("K-1", "given receipt")
		h.mustVerify()
	})
}

// So it is where another mapping gives a row that came in another key and another subject.
func TestRuleANoThatAnotherMappingRekeysOpposes(t *testing.T) {
	t.Parallel()
	for _, filler := range []int{0, 700} { // rows of others
		h := newHouse(t, storetest.SQLite(t), nil)
		list := []string{"K-1,S-1,one@example.com,news,email,N,2026-03-14T09:12:00Z,,,S-9,nine@example.com,,E-1", "K-2,S-2,two@example.com,news,email,maybe,2025-03-01,,,S-9,nine@example.com,,E-2"}
		for i := range filler {
			list = append(list, fmt.Sprintf("F-%d,F-%d,,news,email,N,2025-03-01,,,S-8%d,,,E-8%d", i, i, i, i))
		}
		for name, text := range rows(list, nil, nil) {
			h.write(name, text)
		}
		h.write("batch.yaml", tolerantBatch("acme-2026"))
		h.imported()
		h.write("consents.yaml", strings.NewReplacer("external_id: Id", "external_id: Proof", "subject_id: Subject", "subject_id: Actor", "email: Mail", "email: Role", "[Y, yes]", "[Y, yes, maybe]",
			"      actor: Actor\n", "", "      actor_role: Role\n", "", "      proof_ref: Proof\n", "").Replace(h.text("consents.yaml")))
		if _, err := h.open().Map(t.Context()); err != nil {
			t.Fatal(err)
		}
		if s := sourceOf(t, h.dry(), "consents"); s.Rejected["row.rekeyed"] != 1+filler || s.Rejected["consent.opposed_by_rejected"] != 1 {
			t.Errorf("%d rows more: rejected by %v", filler, s.Rejected)
		}
		if _, err := h.open().Import(t.Context()); err != nil {
			t.Fatal(err)
		}
		h.wantState("E-2", notIn)
	}
}

// A row that stays out because nobody changed it ties nobody: a no that reaches a consent through it alone does not overrule it, which the
// register could not follow, but rejects it.
func TestRuleAnUntouchedRowTiesNobody(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, url string) {
		h := newHouse(t, url, rows([]string{
			strings.Replace(assertion("K-1", "S-1,one@example.com", "Y", "2025-03-01"), ",news,", ",later,", 1),
			assertion("K-2", "S-1,broken", "N", "2026-03-14T09:12:00Z"), receipt("K-3", ",one@example.com", "maybe", "2025-03-01T10:00:00Z"),
		}, nil, nil))
		h.imported()
		h.edit("mend.xlsx", func(w *inHand) {
			w.mend(cells{"Id": "K-2"}, cells{"Mail": ""})
			w.mend(cells{"Id": "K-3"}, cells{"Status": "Y"})
		})
		h.write("purposes.csv", h.text("purposes.csv")+strings.Replace(strings.Split(h.text("purposes.csv"), "\n")[1], "news", "later", 1)+"\n")
		h.snapshot(pipeline.Delta, "purposes.csv")
		h.imported()
		h.snapshot(pipeline.Mended, "mend.xlsx")
		if s := sourceOf(t, h.imported(), "consents"); !maps.Equal(s.Rejected, map[string]int{"row.unmended": 1, "consent.opposed_by_rejected": 1}) {
			t.Errorf("rejected by %v", s.Rejected)
		}
		h.wantState("K-3", notIn)
		h.mustVerify()
	})
}

// What a mended file says against consents comes in before what it grants, whichever row comes first: an import that dies under way leaves
// nobody given who said no.
func TestKilledImportOfMendedRows(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, url string) {
		h := newHouse(t, url, rows([]string{receipt("K-1", "S-1,one@example.com", "Y", "2025-03-01T10:00:00Z"), assertion("K-1", "S-1,one@example.com", "N", "2026-03-14T09:12:00Z")}, nil, nil))
		h.imported()
		h.edit("mend.xlsx", func(w *inHand) { w.mend(cells{"Status": "Y"}, cells{"Id": "K-2"}) })
		h.snapshot(pipeline.Mended, "mend.xlsx")
		h.wantState("K-1", notIn) // a process that dies after freeze leaves it so
		if dry := h.mustRun(pipeline.DryRun)["dryrun"].(*pipeline.DryRunResult); dry.Anew.Accepted != 1 {
			t.Fatalf("%+v", dry.Anew)
		}
		h.killAfter(h.events(), 1)
		h.wantState("K-2", notIn)
		if h.state("K-1") == notIn {
			t.Error("what grants came in first")
		}
		dry := h.imported()
		if len(dry.NotBack) != 0 {
			t.Errorf("%+v", dry.NotBack)
		}
		h.wantState("K-1", "withdrawn withdrawal")
		h.wantState("K-2", "withdrawn withdrawal")
		h.mustVerify()
		h.survivesLoss()
		if s := sourceOf(t, h.dry(), "consents"); s.Rows.Accepted != 0 || s.Skipped["row.known"] != 2 {
			t.Errorf("again: %+v %v %v", s.Rows, s.Rejected, s.Skipped)
		}
	})
}

// A dry-run that an earlier version made, which left untouched rows out, is not done: this one is made, and accepts more. One that was imported
// stays as it is, its files come out as they were, and the workbook brings the rest when it is frozen once more.
func TestDryRunOfMendedRowsByAnEarlierVersion(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, url string) {
		for _, imported := range []bool{false, true} {
			h := newHouse(t, url, rows([]string{receipt("K-1", "S-1,one@example.com", "Y", "2025-03-01T10:00:00Z"), assertion("K-1", "S-1,one@example.com", "N", "2026-03-14T09:12:00Z")}, nil, nil))
			h.write("batch.yaml", strings.Replace(h.text("batch.yaml"), "acme-2026", fmt.Sprintf("acme-%v", imported), 1))
			if imported { // in the register of the other
				h.write("consents.csv", strings.NewReplacer("K-1", "K-4", "S-1", "S-4", "one@", "four@").Replace(h.text("consents.csv")))
			}
			h.imported()
			h.edit("mend.xlsx", func(w *inHand) { w.mend(cells{"Status": "Y"}, cells{"Id": "K-9" + fmt.Sprint(imported)}) })
			h.write("again.xlsx", h.text("mend.xlsx"))
			h.snapshot(pipeline.Mended, "mend.xlsx")
			h.stubborn = true
			if _, err := h.open().Map(t.Context()); err != nil {
				t.Fatal(err)
			}
			dry := h.dry()
			if dry.Rows.Accepted != 1 || dry.Anew != nil {
				t.Errorf("%+v, %+v", dry.Rows, dry.Anew)
			}
			if imported {
				h.imported()
			}
			h.stubborn = false
			if imported {
				h.survivesLoss()
				h.editAgain("again.xlsx", func(*inHand) {})
				h.snapshot(pipeline.Mended, "again.xlsx")
				h.imported()
			} else {
				if dry = h.dry(); dry.AlreadyDone || dry.Rows.Accepted != 2 || *dry.Anew != (pipeline.AnewRows{Rows: 1, Accepted: 1}) {
					t.Errorf("done already %v, %+v, %+v", dry.AlreadyDone, dry.Rows, dry.Anew)
				}
				if again := h.dry(); !again.AlreadyDone {
					t.Error("it is done twice")
				}
				h.imported()
			}
			h.wantState("K-9"+fmt.Sprint(imported), "withdrawn withdrawal")
			h.mustVerify()
		}
	})
}
