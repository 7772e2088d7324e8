package pipeline_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"sheetlift/pipeline"
	"sheetlift/pipeline/store/storetest"
)

func review(t *testing.T, h *house) *pipeline.ReviewResult {
	t.Helper()
	r, err := h.open().Review(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// What a review counts from the staged files is what the dry-run counted, and both databases give the same review.
func TestReviewAddsUpToTheDryRun(t *testing.T) {
	var seen []string
	storetest.Each(t, func(t *testing.T, url string) {
		h := newHouse(t, url, nil)
		dry := h.mustRun(pipeline.Reconcile)["dryrun"].(*pipeline.DryRunResult)
		r := review(t, h)
		j := r.Judged
		if j == nil || !j.Imported || !j.Passed || !j.Complete || j.Rows != dry.Rows || j.Cases != dry.Cases {
			t.Fatalf("judged %+v, the dry-run says %+v", j, dry.Rows)
		}
		want := dry.Entities["consent"]
		var got pipeline.EntityCount
		missing := map[string]int{}
		for _, e := range j.Evidence {
			got.Records += e.Records
			got.Receipts += e.Receipts
			got.LegacyAssertions += e.LegacyAssertions
			for k, n := range e.Missing {
				missing[k] += n
			}
		}
		if got.Records != want.Records || got.Receipts != want.Receipts || got.LegacyAssertions != want.LegacyAssertions || !sameCounts(missing, want.Missing) {
			t.Errorf("evidence adds up to %+v %v, want %+v", got, missing, want)
		}
		dated := 0
		for _, m := range j.Timeline.Months {
			dated += m.All()
		}
		if dated+j.Timeline.Undated != want.Records || j.Timeline.Earlier != nil || j.Timeline.Later != nil {
			t.Errorf("timeline %+v, want %d consents", j.Timeline, want.Records)
		}
		for _, f := range j.Gaps.Fields {
			switch {
			case f.Field == "event_state" && (f.State != pipeline.GapHeld || f.Held[0].Held != want.Records):
				t.Errorf("every consent has a status, the table says %+v", f)
			case f.Field == "privacy_notice" && (f.State != pipeline.GapPartly || f.Held[0].Held == 0 || f.Held[0].Held == want.Records):
				t.Errorf("some consents name a notice, the table says %+v", f)
			case f.Field == "record_id" && f.State != pipeline.GapAssigned, f.Field == "service" && f.State != pipeline.GapNoPlace, f.Field == "jurisdiction" && f.State != pipeline.GapMissing:
				t.Errorf("%s is %s", f.Field, f.State)
			}
		}
		for _, x := range r.Rules {
			if n := min(x.Count, 3); len(x.Places) != n {
				t.Errorf("%s of %s has %d places, want %d", x.Rule, x.Stage, len(x.Places), n)
			}
		}
		for i := range r.Stages {
			if r.Stages[i].Finished == "" || r.Stages[i].Operator != "tester" {
				t.Errorf("stage %+v", r.Stages[i])
			}
			r.Stages[i].Finished = ""
		}
		again := review(t, h)
		for i := range again.Stages {
			again.Stages[i].Finished = ""
		}
		a, b := marshal(t, r), marshal(t, again)
		if a != b {
			t.Error("the same batch gives two reviews")
		}
		r.Digests = slices.DeleteFunc(r.Digests, func(d pipeline.ReviewDigest) bool { return d.What == "findings" }) // each batch's tokens have a key of its own
		seen = append(seen, marshal(t, r))

		// A dry-run after the import accepts nothing; the review still shows what was imported.
		if _, err := h.open().DryRun(t.Context()); err != nil {
			t.Fatal(err)
		}
		if j := review(t, h).Judged; !j.Imported || j.Rows != dry.Rows {
			t.Errorf("after another dry-run: %+v", j.Rows)
		}
	})
	if len(seen) == 2 && seen[0] != seen[1] {
		t.Error("the databases give different reviews")
	}
}

func sameCounts(a, b map[string]int) bool {
	for k, n := range b {
		if a[k] != n {
			return false
		}
	}
	return len(a) == len(b)
}

func marshal(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestReviewGrowsWithTheStages(t *testing.T) {
	h := newHouse(t, storetest.SQLite(t), nil)
	if r := review(t, h); r.Judged != nil || len(r.Files) != 0 || len(r.Sources) == 0 || len(r.Decisions) == 0 {
		t.Errorf("before anything: %+v", r)
	}
	var gate *pipeline.GateError
	if _, err := h.open().Gaps(t.Context()); !errors.As(err, &gate) {
		t.Errorf("gaps before a dry-run: %v", err)
	}
	h.mustRun(pipeline.Inventory)
	if r := review(t, h); r.Judged != nil || len(r.Files) != 5 || len(r.Columns) == 0 {
		t.Errorf("after inventory: %d files, %d columns", len(r.Files), len(r.Columns))
	}
}

// A file or column whose name looks like a value about a person is shown by position, everywhere.
func TestReviewHidesPersonalNames(t *testing.T) {
	const file, header = "anna.schmidt@example.com.csv", "born 1985-04-12 0171 1234567"
	batch := strings.ReplaceAll(houseFiles["batch.yaml"], "consents.csv", file)
	h := newHouse(t, storetest.SQLite(t), map[string]string{
		"batch.yaml":    batch,
		"consents.yaml": strings.Replace(houseFiles["consents.yaml"], "actor_role: Role", `actor_role: "`+header+`"`, 1),
	})
	h.write(file, strings.Replace(houseFiles["consents.csv"], ",Role,", ","+header+",", 1))
	h.mustRun(pipeline.DryRun)
	r := review(t, h)
	text := marshal(t, r)
	for _, s := range []string{"anna", "schmidt", "1985", "1234567"} {
		if strings.Contains(text, s) {
			t.Errorf("the review says %q", s)
		}
	}
	if !slices.ContainsFunc(r.Files, func(f pipeline.ReviewFile) bool { return f.File == "file 5" }) {
		t.Errorf("files %+v", r.Files)
	}
	if !slices.ContainsFunc(r.Decisions, func(d pipeline.Decision) bool { return d.What == "actor_role" && d.How == "from column K" }) {
		t.Errorf("no decision names column K: %s", text)
	}
}

// Consents that carry one time are a bulk stamp; what lies outside ten years, or after the export, is in one sum.
func TestReviewTimeline(t *testing.T) {
	var b strings.Builder
	b.WriteString(consentHeader)
	line := func(n int, at string) {
		fmt.Fprintf(&b, "T-%d,U-%d,t%d@example.com,news,email,Y,%s,,,,,,\n", n, n, n, at)
	}
	for i := range 12 {
		line(i, "2021-05-25T02:00:00Z")
	}
	for i := range 5 {
		line(100+i, fmt.Sprintf("2024-0%d-01T10:00:00Z", i+1))
	}
	line(200, "1998-02-03T10:00:00Z")
	line(201, "")
	h := newHouse(t, storetest.SQLite(t), map[string]string{"consents.csv": b.String()})
	h.mustRun(pipeline.DryRun)
	tl := review(t, h).Judged.Timeline
	if len(tl.Months) != 6 || tl.Months[0] != (pipeline.MonthCount{Month: "2021-05", Given: 12}) || tl.Undated != 1 {
		t.Errorf("months %+v, %d undated", tl.Months, tl.Undated)
	}
	if tl.Earlier == nil || tl.Earlier.Given != 1 {
		t.Errorf("earlier %+v", tl.Earlier)
	}
	if want := (pipeline.Stamp{Source: "consents", At: "2021-05-25 02:00:00 UTC", Records: 12, Of: 18}); len(tl.Stamps) != 1 || tl.Stamps[0].Records != want.Records || tl.Stamps[0].Of != want.Of || !strings.HasPrefix(tl.Stamps[0].At, "2021-05-25 02:00:00") {
		t.Errorf("stamps %+v, want %+v", tl.Stamps, want)
	}
}

// A number of a review never rests on a file that was changed.
func TestReviewRefusesChangedFiles(t *testing.T) {
	h := newHouse(t, storetest.SQLite(t), nil)
	dry := h.mustRun(pipeline.DryRun)["dryrun"].(*pipeline.DryRunResult)
	for name, path := range map[string]string{"findings": dry.FindingsFile, "staged": dry.Staged[0].Path} {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		cut := data[:len(data)-1-strings.LastIndexAny(string(data[:len(data)-1]), "\n")]
		if err := os.WriteFile(path, cut, 0o600); err != nil {
			t.Fatal(err)
		}
		var integrity *pipeline.IntegrityError
		if _, err := h.open().Review(t.Context()); !errors.As(err, &integrity) {
			t.Errorf("%s cut: %v", name, err)
		}
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Remove(dry.FindingsFile); err != nil {
		t.Fatal(err)
	}
	var file *pipeline.FileError
	if _, err := h.open().Review(t.Context()); !errors.As(err, &file) {
		t.Errorf("findings gone: %v", err)
	}
}

// After a further snapshot the review is of that one, and names the manifests of all.
func TestReviewIsOfTheNewestSnapshot(t *testing.T) {
	h := newHouse(t, storetest.SQLite(t), nil)
	h.mustRun(pipeline.Reconcile)
	h.write("consents.csv", strings.Replace(houseFiles["consents.csv"], "C-2,", "C-99,", 1))
	fr := h.snapshot(pipeline.Delta, "consents.csv")
	if j := review(t, h).Judged; j != nil {
		t.Errorf("before the snapshot's dry-run: %+v", j)
	}
	dry := h.mustRun(pipeline.Reconcile)["dryrun"].(*pipeline.DryRunResult)
	r := review(t, h)
	if r.Snapshot != fr.Snapshot || r.Judged == nil || r.Judged.Rows != dry.Rows || !r.Judged.Imported {
		t.Fatalf("review of %s: %+v, want %+v of %s", r.Snapshot, r.Judged, dry.Rows, fr.Snapshot)
	}
	records := 0
	for _, e := range r.Judged.Evidence {
		records += e.Records
	}
	if records != dry.Entities["consent"].Records {
		t.Errorf("%d consents, the dry-run counts %d", records, dry.Entities["consent"].Records)
	}
	manifests := 0
	for _, d := range r.Digests {
		if d.What == "manifest" {
			manifests++
		}
		if d.What == "file" && d.Of == "consents.csv" && d.SHA256 != fr.Files[0].SHA256 {
			t.Error("the digest of consents.csv is not that of the newest export")
		}
	}
	if manifests != 2 {
		t.Errorf("%d manifests, want 2", manifests)
	}
}
