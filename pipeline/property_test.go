package pipeline_test

import (
	"context"
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"sheetlift/importers"
	"sheetlift/importers/register"
	"sheetlift/importers/staged"
	"sheetlift/pipeline"
	"sheetlift/pipeline/store"
	"sheetlift/pipeline/store/storetest"
)

// check is rapid.Check for properties whose every try runs whole batches.
func check(t *testing.T, tries int, property func(*rapid.T)) {
	t.Helper()
	f := flag.Lookup("rapid.checks")
	before := f.Value.String()
	if before == f.DefValue { // whoever asks for more gets more
		if err := f.Value.Set(fmt.Sprint(tries)); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = f.Value.Set(before) }()
	}
	rapid.Check(t, property)
}

// days are dates of rows: undated, two days, a moment of the second day, a later day, one that reads in no way.
var days = []string{"2025-06-01", "2025-06-01T12:00:00Z", "2025-01-01T10:00:00Z", "", "2026-01-01T10:00:00Z", "2026-01-02T10:00:00Z", "soon"}

// said is one consent row before it is written.
type said struct {
	id, who, status, at string
	proven              bool
}

func (s said) row() string {
	if s.proven {
		return receipt(s.id, s.who, s.status, s.at)
	}
	return assertion(s.id, s.who, s.status, s.at)
}

// people draws rows about a few people: numbers and addresses of one group meet in all ways, those of two groups never do.
func people(t *rapid.T, batch string, group int) (consents []said, suppressions, cases []string) {
	named := strings.NewReplacer("S", fmt.Sprintf("S-%d-", group), "m", fmt.Sprintf("m-%d-", group), "M", fmt.Sprintf("M-%d-", group), "@", "@example.com").Replace
	for i := range rapid.IntRange(1, 3).Draw(t, "consents") {
		consents = append(consents, said{
			id:     fmt.Sprintf("%s-%d-%d", batch, group, i),
			who:    named(rapid.SampledFrom([]string{"S1,m1@", "S1,", ",m1@", "S2,m1@", "S2,m2@", "S1,M2@", ","}).Draw(t, "who")),
			status: rapid.SampledFrom([]string{"Y", "N", "no", "Y", "Y", "", "grnated"}).Draw(t, "status"),
			at:     rapid.SampledFrom(days).Draw(t, "at"),
			proven: rapid.Bool().Draw(t, "proven"),
		})
	}
	switch rapid.IntRange(0, 5).Draw(t, "more") {
	case 1:
		suppressions = append(suppressions, fmt.Sprintf("%s,email,%s,%s", named("M1@"), rapid.SampledFrom([]string{"objection", "opt_out", "bounce", "legal"}).Draw(t, "reason"), rapid.SampledFrom(days[:5]).Draw(t, "at")))
	case 2:
		cases = append(cases, fmt.Sprintf("R-%s-%d,%s,%s,,%s,2025-01-02,2025-03-01", batch, group,
			rapid.SampledFrom([]string{"erasure", "objection", "withdraw_consent", "access"}).Draw(t, "type"), rapid.SampledFrom([]string{"done", "open"}).Draw(t, "state"), named("m1@")))
	}
	return consents, suppressions, cases
}

// groups is how many groups of people one try has: a pipeline is run for all of them at once.
const groups = 24

func drawBatch(t *rapid.T, name string) (files map[string]string, consents []said) {
	var list, supps, cases []string
	for g := range groups {
		c, s, k := people(t, name, g)
		for i := range c {
			list = append(list, c[i].row())
			if rapid.IntRange(0, 9).Draw(t, "again") == 0 {
				list = append(list, c[i].row())
			}
		}
		consents, supps, cases = append(consents, c...), append(supps, s...), append(cases, k...)
	}
	return rows(list, supps, cases), consents
}

// tolerantBatch rejects as many rows of any source as there are.
func tolerantBatch(name string) string {
	const tolerance = `tolerance: { rows: 1000, reason: drawn, owner: tests }`
	text := strings.Replace(batchYAML, "tolerance: { rows: TOLERANCE, reason: known, owner: CRM }", tolerance, 1)
	return strings.NewReplacer("acme-2026", name, `zone: UTC }`, `zone: UTC, `+tolerance+` }`).Replace(text)
}

func small(t *testing.T, files map[string]string) *house {
	h := newHouse(t, storetest.SQLite(t), files)
	h.write("batch.yaml", tolerantBatch("acme-2026"))
	return h
}

// Whatever the blocks, and whether rows are decided while they are read, the results are the same to the byte.
func TestPropertyBlockSizeDoesNotMatter(t *testing.T) {
	check(t, 3, func(rt *rapid.T) {
		files, _ := drawBatch(rt, "a")
		var want []string
		for i, size := range []int{0, 1, rapid.IntRange(2, 9).Draw(rt, "size"), 1, 0} {
			h := small(t, files)
			p := h.open()
			p.CutBlocks(size)
			if i >= 2 { // several blocks at once, whose results must come in order
				p.Spread()
				p.Together(rapid.IntRange(1, 9).Draw(rt, "together"))
			}
			if i == 4 {
				p.DecideLate()
			}
			var got []string
			err := p.Run(t.Context(), pipeline.Reconcile, func(r any) {
				if _, ok := r.(*pipeline.FreezeResult); !ok {
					got = append(got, pipeline.Common(r).Digest)
				}
			})
			if err != nil {
				rt.Fatal(err)
			}
			if i == 0 {
				want = got
			} else if !slices.Equal(got, want) {
				rt.Fatalf("blocks of %d rows: %v, want %v", size, got, want)
			}
		}
	})
}

// place is a record and the row it came from.
type place struct {
	source string
	row    int64
	id     string
}

func stagedPlaces(t *rapid.T, r *pipeline.DryRunResult) (list []place) {
	for _, f := range r.Staged {
		rd, err := staged.Open(f.Path, importers.ByName(f.Entity), f.SHA256)
		if err != nil {
			t.Fatal(err)
		}
		at := map[string]int{}
		for i, c := range rd.Columns() {
			at[c.Name] = i
		}
		for i := range rd.Chunks() {
			c, err := rd.Chunk(i)
			if err != nil {
				t.Fatal(err)
			}
			for row := range c.Rows() {
				list = append(list, place{f.Source, c.Cell(at["row"], row).Int, c.Cell(at["id"], row).Text})
			}
			c.Release()
		}
		if err := rd.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return list
}

func (h *house) registerPlaces(t *rapid.T, batch string) (list []place) {
	err := h.look().View(context.Background(), func(tx *store.Tx) error {
		return register.EachProvenance(context.Background(), tx, "acme", batch, "", func(p register.Provenance) error {
			if p.Vouched == 0 {
				list = append(list, place{p.Source, p.Row, p.ID})
			}
			return nil
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func sortPlaces(list []place) []place {
	slices.SortFunc(list, func(a, b place) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	return list
}

// imports runs the batch into the register and holds dry-run and import to agree on every row.
func (h *house) imports(t *rapid.T, batch string) *pipeline.DryRunResult {
	got := map[string]any{}
	if err := h.open().Run(context.Background(), pipeline.Reconcile, func(r any) { got[stageOf(r)] = r }); err != nil {
		t.Fatal(err)
	}
	dry := got["dryrun"].(*pipeline.DryRunResult)
	if !dry.Passed || got["reconcile"] == nil || !got["reconcile"].(*pipeline.ReconcileResult).Passed {
		t.Fatalf("passed %v, reconciled %+v", dry.Passed, got["reconcile"])
	}
	records := 0
	for _, s := range dry.Sources {
		if s.Rows.Read != s.Rows.Accepted+s.Rows.Rejected+s.Rows.Skipped {
			t.Fatalf("%s: %+v does not add up", s.Source, s.Rows)
		}
		records += s.Rows.Accepted // each row of these sources gives one record
	}
	want := sortPlaces(stagedPlaces(t, dry))
	if have := sortPlaces(h.registerPlaces(t, batch)); !slices.Equal(have, want) || len(want) != records {
		t.Fatalf("accepted %d, staged\n%v\nimported\n%v", records, want, have)
	}
	// Asked again, the dry-run knows exactly what was imported, and rejects what it rejected.
	again, err := h.open().DryRun(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range again.Sources {
		first := dry.Sources[i]
		if s.Rows.Accepted != 0 || s.Rows.Rejected > first.Rows.Rejected || s.Skipped["row.known"] < first.Rows.Accepted {
			t.Fatalf("%s: first %+v, again %+v %v", s.Source, first, s.Rows, s.Skipped)
		}
	}
	return dry
}

func (h *house) states(t *rapid.T, consents []said) map[string]string {
	p := h.open()
	got := map[string]string{}
	for _, c := range consents {
		r, err := p.Trace(context.Background(), "consent", c.id, false)
		if err == nil {
			got[c.id] = r.Records[0].State
		}
	}
	return got
}

// No import turns withdrawn, refused or suppressed into given, except by a receipt that is provably later.
func TestPropertyNoImportRaisesConsent(t *testing.T) {
	against, lifted := 0, 0
	check(t, 4, func(rt *rapid.T) {
		files, first := drawBatch(rt, "a")
		h := small(t, files)
		h.imports(rt, "acme-2026")
		before := h.states(rt, first)
		files, second := drawBatch(rt, "b")
		h.write("batch.yaml", tolerantBatch("acme-2027"))
		for name, text := range files {
			h.write(name, text)
		}
		h.imports(rt, "acme-2027")
		after := h.states(rt, first)
		for _, c := range first {
			was, is := before[c.id], after[c.id]
			if was == "" || was == importers.StatusGiven {
				continue
			}
			against++
			if is != importers.StatusGiven {
				continue
			}
			lifted++
			// Only a receipt can have done it, of somebody who may be the same, and later than what the row itself said. It may be
			// one of the first export, if a row of the second holds both an id and an address: by the design, subjects are linked
			// where one row holds both, and the state is that of the subject, whichever came first, the link or the receipt.
			lifts := func(r said) bool {
				return r.proven && r.status == "Y" && sameGroup(r.id, c.id) && laterThan(r.at, c)
			}
			links := func(r said) bool {
				id, address, _ := strings.Cut(r.who, ",")
				return id != "" && address != "" && sameGroup(r.id, c.id)
			}
			if !slices.ContainsFunc(second, lifts) && !(slices.ContainsFunc(first, lifts) && slices.ContainsFunc(second, links)) {
				of := func(r said) bool { return !sameGroup(r.id, c.id) }
				rt.Fatalf("%+v was %s and became given; the exports say\n%+v\n%+v", c, was,
					slices.DeleteFunc(slices.Clone(first), of), slices.DeleteFunc(slices.Clone(second), of))
			}
		}
	})
	if against == 0 {
		t.Error("nobody was against anything")
	}
	t.Logf("%d states against consent, %d lifted by a later receipt", against, lifted)
}

// sameGroup compares the groups of two ids such as a-3-0.
func sameGroup(a, b string) bool { return strings.Split(a, "-")[1] == strings.Split(b, "-")[1] }

// laterThan reports whether a receipt of that day is provably later than what c says, if c speaks against consent: an undated
// row counts as of the export, which none of the days is after.
func laterThan(at string, c said) bool {
	if c.status != "N" && c.status != "no" {
		return at != ""
	}
	order := map[string]int{days[2]: 1, days[0]: 2, days[1]: 2, days[4]: 3, days[5]: 4} // a moment of a day is not after the day
	return c.at != "" && order[at] > order[c.at]
}

// faulty puts faults into some consents of a batch: a purpose that nobody has defined, or another content under the key.
func faulty(t *rapid.T, files map[string]string) []string {
	lines := strings.Split(files["consents.csv"], "\n")
	for i := range lines {
		switch rapid.IntRange(0, 9).Draw(t, "fault") {
		case 0:
			lines[i] = strings.Replace(lines[i], ",news,", ",gone,", 1)
		case 1:
			lines = append(lines[:len(lines)-1], strings.Replace(lines[i], ",email,", ",sms,", 1), "")
		}
	}
	files["consents.csv"] = strings.Join(lines, "\n")
	return lines
}

// A consent that the dry-run calls overruled is not given in the register either: whatever overrules it is there, and so is what ties it to
// the subject, in whatever batch. The state is that of the subject, which another receipt of the same person, provably later, may have lifted.
func TestPropertyOverruledIsNotGiven(t *testing.T) {
	overruled := 0
	check(t, 4, func(rt *rapid.T) {
		files, consents := drawBatch(rt, "a")
		h := small(t, files)
		for _, batch := range []string{"acme-2026", "acme-2027"} {
			if batch == "acme-2027" {
				more, second := drawBatch(rt, "b")
				files, consents = more, append(consents, second...)
			}
			lines := faulty(rt, files)
			h.write("batch.yaml", tolerantBatch(batch))
			for name, text := range files {
				h.write(name, text)
			}
			dry := h.imports(rt, batch)
			states := h.states(rt, consents)
			for _, f := range findings(t, dry.FindingsFile) {
				if f.Source != "consents" || f.Rule != "consent.overruled" && f.Rule != "suppression.overrules" {
					continue
				}
				overruled++
				id, _, _ := strings.Cut(lines[f.Row-1], ",")
				lifts := func(c said) bool {
					return c.id != id && c.proven && c.status == "Y" && c.at != "" && sameGroup(c.id, id)
				}
				if states[id] == importers.StatusGiven && !slices.ContainsFunc(consents, lifts) {
					rt.Fatalf("%s, row %d: %s, and the register says given\n%s", id, f.Row, f.Rule, strings.Join(lines, "\n"))
				}
			}
		}
	})
	if overruled == 0 {
		t.Error("nothing was overruled")
	}
}

// A slip in a purpose gives nobody a consent: whoever is given beside rows whose purpose is in no list would be given had they named that of the list.
func TestPropertyASlipInAPurposeGivesNobody(t *testing.T) {
	given, slips := 0, 0
	check(t, 4, func(rt *rapid.T) {
		files, consents := drawBatch(rt, "a")
		right := small(t, files)
		right.imports(rt, "acme-2026")
		lines := strings.Split(files["consents.csv"], "\n")
		for i := range lines[1:] {
			if rapid.IntRange(0, 3).Draw(rt, "slip") == 0 {
				lines[i+1] = strings.Replace(lines[i+1], ",news,", rapid.SampledFrom([]string{",newz,", ",News,", ",n,"}).Draw(rt, "purpose"), 1)
				slips++
			}
		}
		files["consents.csv"] = strings.Join(lines, "\n")
		wrong := small(t, files)
		wrong.imports(rt, "acme-2026")
		want := right.states(rt, consents)
		for id, state := range wrong.states(rt, consents) {
			if state != importers.StatusGiven {
				continue
			}
			if given++; want[id] != state {
				rt.Fatalf("%s is given, and %q had its batch no slips:\n%s", id, want[id], strings.Join(slices.DeleteFunc(lines, func(line string) bool {
					return !strings.Contains(line, "-") || !sameGroup(line, id)
				}), "\n"))
			}
		}
	})
	if given == 0 || slips == 0 {
		t.Errorf("%d are given beside %d slips", given, slips)
	}
}

// What two batches bring one after the other is judged as carefully as if one had brought it all: a consent of the second that stands, though
// the first has rows that gave no record, would stand then too. Not so if a consent of the first, which would be rejected then because of a
// rejected row of the second, was in the register before that row was heard of (consent.still_given says so): its receipt lifts refusals.
func TestPropertyNoBatchForgetsRows(t *testing.T) {
	given := 0
	check(t, 4, func(rt *rapid.T) {
		first, before := drawBatch(rt, "a")
		faulty(rt, first)
		second, consents := drawBatch(rt, "b")
		faulty(rt, second)
		all := map[string]string{}
		for name, text := range first {
			_, more, _ := strings.Cut(second[name], "\n")
			all[name] = text + more
		}
		joined, split := small(t, all), small(t, first)
		joined.imports(rt, "acme-2026")
		split.imports(rt, "acme-2026")
		split.write("batch.yaml", tolerantBatch("acme-2027"))
		for name, text := range second {
			split.write(name, text)
		}
		split.imports(rt, "acme-2027")
		want, cameTogether := joined.states(rt, consents), joined.states(rt, before)
		var early []string // consents of the first that one batch would not bring
		for id := range split.states(rt, before) {
			if _, ok := cameTogether[id]; !ok {
				early = append(early, id)
			}
		}
		for id, state := range split.states(rt, consents) {
			if state != importers.StatusGiven || slices.ContainsFunc(early, func(e string) bool { return sameGroup(e, id) }) {
				continue
			}
			if given++; want[id] != state {
				var lines []string
				for _, files := range []map[string]string{first, second} {
					for _, text := range files {
						for _, line := range strings.Split(text, "\n") {
							if g := strings.Split(id, "-")[1]; strings.Contains(line, "-"+g+"-") || strings.Contains(line, "-"+g+",") {
								lines = append(lines, line)
							}
						}
					}
				}
				rt.Fatalf("%s is given, and %q if one batch brings all:\n%s", id, want[id], strings.Join(lines, "\n"))
			}
		}
	})
	if given == 0 {
		t.Error("nothing is given")
	}
}
