package pipeline_test

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"sheetlift/importers/source"
	"sheetlift/pipeline"
	"sheetlift/pipeline/finding"
	"sheetlift/pipeline/store/storetest"
)

// What people complain of in other importers comes in twelve kinds. Each has a test here, named after the rule that prevents it.

// withMapping changes the mapping of the consents and gives their file.
func withMapping(old, new string, consents string) map[string]string {
	if !strings.Contains(houseFiles["consents.yaml"], old) {
		panic("the mapping has no " + old)
	}
	return map[string]string{"consents.yaml": strings.Replace(houseFiles["consents.yaml"], old, new, 1), "consents.csv": consents}
}

func dryRun(h *house) *pipeline.DryRunResult {
	h.t.Helper()
	return h.mustRun(pipeline.DryRun)["dryrun"].(*pipeline.DryRunResult)
}

// value is what the register holds of a field, as trace shows it to somebody who may see it.
func (h *house) value(id, field string) string {
	h.t.Helper()
	r, err := h.open().Trace(h.t.Context(), "consent", id, true)
	if err != nil || len(r.Records) != 1 {
		h.t.Fatalf("%s: %v %v", id, r, err)
	}
	return r.Records[0].Values[field]
}

// 1. Dates and zones.
func TestComplaintDatesAreAskedOnceAColumnAndNeverGuessed(t *testing.T) {
	t.Parallel()
	const declared = "occurred_at: { from: At, format: iso8601 }"
	h := newHouse(t, storetest.SQLite(t), withMapping(declared, "occurred_at: { from: At }", consentHeader+assertion("C-1", "S-1,a@example.com", "Y", "03/04/2025")+"\n"))
	r := dryRun(h)
	if _, err := h.open().Import(t.Context()); r.Passed || err == nil {
		t.Error("a guess was imported")
	}
	wantRules(t, "column", found(t, r, "consents")[2], "date.ambiguous")

	h = newHouse(t, storetest.SQLite(t), withMapping(declared, "occurred_at: { from: At, format: [DD/MM/YYYY, 'DD/MM/YYYY HH:mm'], zone: Europe/Berlin }", consentHeader+strings.Join([]string{
		assertion("day", "S-1,a@example.com", "Y", "03/04/2025"),
		assertion("time", "S-2,b@example.com", "Y", "03/04/2025 10:30"),
		assertion("gap", "S-3,c@example.com", "Y", "30/03/2025 02:30"),
		assertion("clock", "S-4,d@example.com", "Y", "09:46"),
		assertion("none", "S-5,e@example.com", "Y", "31/02/2025"),
	}, "\n")+"\n"))
	got := found(t, h.imported(), "consents")
	wantRules(t, "gap", got[4], "date.dst_gap")
	wantRules(t, "clock", got[5], "date.time_only")
	wantRules(t, "none", got[6], "date.invalid")
	for id, want := range map[string]string{"day": "2025-04-03 (day)", "time": "2025-04-03T10:30:00+02:00 (minute)"} {
		if got := h.value(id, "occurred_at"); got != want {
			t.Errorf("%s: %s, want %s", id, got, want)
		}
	}
}

// 2. Identifiers: zeros and precision.
func TestComplaintIdentifiersKeepEveryDigitOrRejectTheRow(t *testing.T) {
	t.Parallel()
	h := newHouse(t, storetest.SQLite(t), rows([]string{
		assertion("C-1", "00042,a@example.com", "Y", ""),
		assertion("C-2", "12345678901234567890,b@example.com", "Y", ""),
		assertion("C-3", "3.1010119560823E+17,c@example.com", "Y", ""),
		assertion("C-4", ",d@example.com", "Y", ""), // a blank beside them changes nothing
	}, nil, nil))
	got := found(t, h.imported(), "consents")
	wantRules(t, "E-notation", got[4], "id.precision_lost")
	for id, want := range map[string]string{"C-1": "00042", "C-2": "12345678901234567890", "C-4": ""} {
		if got := h.value(id, "subject_id"); got != want {
			t.Errorf("%s: %s, want %s", id, got, want)
		}
	}
}

// 3. Encoding.
func TestComplaintEncodingIsDeclaredAndNotTried(t *testing.T) {
	t.Parallel()
	latin := consentHeader + "C-1,S-1,a@example.com,news,email,Y,,,,Ad\xe4 Agent,clerk,,\n"
	h := newHouse(t, storetest.SQLite(t), map[string]string{"consents.csv": latin})
	_, err := h.run(pipeline.DryRun)
	var e *source.Error
	if !errors.As(err, &e) || !strings.Contains(e.Remedy, "charset") {
		t.Errorf("an undeclared encoding: %v", err)
	}
	h = newHouse(t, storetest.SQLite(t), map[string]string{"consents.csv": latin, "batch.yaml": strings.Replace(houseFiles["batch.yaml"], "file: consents.csv", "file: consents.csv\n    charset: windows-1252", 1)})
	h.imported()
	if got := h.value("C-1", "actor"); got != "Adä Agent" {
		t.Errorf("got %q", got)
	}
	h = newHouse(t, storetest.SQLite(t), map[string]string{"consents.csv": "\ufeff" + consentHeader + assertion("C-1", "S-1,a@example.com", "Y", "") + "\n"})
	h.imported()
	h.wantState("C-1", "given assertion") // the mark is no part of the first header
}

// 4. Structure and headers.
func TestComplaintStructureNothingIsDroppedWithoutBeingListed(t *testing.T) {
	t.Parallel()
	h := newHouse(t, storetest.SQLite(t), map[string]string{"consents.csv": consentHeader +
		assertion("C-1", "S-1,a@example.com", "Y", "") + "\n" +
		"C-2,S-2,b@example.com,news,email,Y\n" + // short
		assertion("C-3", "S-3,c@example.com", "Y", "") + ",surplus\n" +
		consentHeader})
	r := h.imported()
	got := found(t, r, "consents")
	wantRules(t, "short", got[3], "row.short")
	wantRules(t, "ragged", got[4], "row.ragged")
	wantRules(t, "header", got[5], "row.repeated_header")
	if s := sourceOf(t, r, "consents"); s.Rows != (pipeline.Rows{Read: 4, Accepted: 2, Rejected: 2}) {
		t.Errorf("%+v", s.Rows)
	}
	h = newHouse(t, storetest.SQLite(t), map[string]string{"consents.csv": strings.Replace(consentHeader, "Purpose", "Mail", 1) + assertion("C-1", "S-1,a@example.com", "Y", "") + "\n"})
	if _, err := h.run(pipeline.Map); err == nil || !strings.Contains(err.Error(), "occurs 2 times") {
		t.Errorf("a header that stands twice: %v", err)
	}
}

// 5. Enums and booleans.
func TestComplaintWordsHaveAPolarityAndNoDefault(t *testing.T) {
	t.Parallel()
	h := newHouse(t, storetest.SQLite(t), withMapping("enum: { given: [Y, yes], withdrawn: [N], refused: [no] }", "polarity: inverted, enum: { yes: [TRUE, x], no: [false] }", consentHeader+strings.Join([]string{
		assertion("C-1", "S-1,a@example.com", "True", ""), assertion("C-2", "S-2,b@example.com", "X", ""),
		assertion("C-3", "S-3,c@example.com", "FALSE", ""), assertion("C-4", "S-4,d@example.com", "1", ""),
	}, "\n")+"\n"))
	r := h.imported()
	s := sourceOf(t, r, "consents")
	if !maps.Equal(s.Skipped, map[string]int{"consent.no_answer": 1}) || !maps.Equal(s.Rejected, map[string]int{"enum.unmapped": 1}) {
		t.Errorf("skipped %v, rejected %v", s.Skipped, s.Rejected)
	}
	h.wantState("C-1", "withdrawn withdrawal_undated")
	h.wantState("C-2", "withdrawn withdrawal_undated")
}

// 6. Empty and null.
func TestComplaintBlankNullTokenAndValueAreThreeThings(t *testing.T) {
	t.Parallel()
	h := newHouse(t, storetest.SQLite(t), withMapping("status: { from: Status, enum: { given: [Y, yes], withdrawn: [N], refused: [no] } }",
		"status: { from: Status, null_tokens: ['n/a'], enum: { given: [Y], refused: [NA] } }", consentHeader+strings.Join([]string{
			assertion("blank", "S-1,a@example.com", "", ""), assertion("token", "S-2,b@example.com", "N/A", ""),
			assertion("value", "NA,c@example.com", "na", ""), assertion("unknown", "S-4,d@example.com", "null", ""),
		}, "\n")+"\n"))
	r := h.imported()
	if s := sourceOf(t, r, "consents"); s.Skipped["consent.no_answer"] != 2 || s.Rejected["enum.unmapped"] != 1 || s.Rows.Accepted != 1 {
		t.Errorf("%+v", s)
	}
	h.wantState("value", "refused refusal_undated")
	if got := h.value("value", "subject_id"); got != "NA" {
		t.Errorf("NA became %q", got)
	}
}

// 7. Consent lost, or won: see also TestRuleReimportNeverResubscribes.
func TestComplaintImportTimeIsNeverEvidenceTime(t *testing.T) {
	t.Parallel()
	h := newHouse(t, storetest.SQLite(t), rows([]string{
		assertion("C-1", "S-1,a@example.com", "N", "2025-03-01T10:00:00Z"), assertion("C-2", "S-1,a@example.com", "Y", ""),
		receipt("C-3", "S-3,c@example.com", "Y", ""),
	}, nil, nil))
	h.imported()
	h.wantState("C-2", "withdrawn withdrawal") // undated is not "today"
	if got := h.value("C-2", "occurred_at"); got != "" {
		t.Errorf("a time was made up: %s", got)
	}
	if got := h.value("C-3", "missing"); !strings.Contains(got, "time") {
		t.Errorf("missing %q", got)
	}
}

// 8. Duplicates and double effects.
func TestComplaintTheSameExportAgainChangesNothing(t *testing.T) {
	t.Parallel()
	list := []string{assertion("C-1", "S-1,a@example.com", "Y", ""), assertion("C-2", "S-2,b@example.com", "N", ""), assertion("C-2", "S-2,b@example.com", "Y", "")}
	h := newHouse(t, storetest.SQLite(t), rows(list, nil, nil))
	wantRules(t, "two answers under one key", found(t, h.imported(), "consents")[4], "key.multiple_match")
	before := h.counts()
	h.imported() // a retry
	slices.Reverse(list)
	h.next("acme-2027", map[string]string{"consents.csv": consentHeader + strings.Join(list, "\n") + "\n"}) // and the same rows in another file
	h.imported()
	after := h.counts()
	for _, table := range []string{"receipts", "legacy_assertions", "id_map", "purposes"} {
		if before[table] != after[table] {
			t.Errorf("%s: %d before, %d after", table, before[table], after[table])
		}
	}
}

// 9. Truncation.
func TestComplaintNothingIsEverCut(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ä", 201)
	h := newHouse(t, storetest.SQLite(t), rows([]string{
		"C-1,S-1,a@example.com,news,email,Y,,,," + long + ",clerk,,",
		"C-2,S-2,b@example.com,news,email,Y,,,," + long[:400] + ",clerk,,",
	}, nil, nil))
	r := h.imported()
	for _, f := range findings(t, r.FindingsFile) {
		if f.Rule == "value.too_long" && (f.Row != 2 || !strings.Contains(f.Message, "201") || !strings.Contains(f.Message, "200")) {
			t.Errorf("%+v", f)
		}
	}
	if got := sourceOf(t, r, "consents").Rejected["value.too_long"]; got != 1 {
		t.Errorf("%d rows are too long", got)
	}
	if got := h.value("C-2", "actor"); got != long[:400] {
		t.Errorf("%d bytes of 400", len(got))
	}
}

// 10. Size and memory.
func TestComplaintMemoryDoesNotGrowWithTheFile(t *testing.T) {
	peak := func(n int) (grown int64) {
		var text strings.Builder
		text.WriteString(consentHeader)
		for i := range n {
			text.WriteString(receipt(fmt.Sprintf("C-%d", i), fmt.Sprintf("S-%d,mail%d@example.com", i, i), "Y", "2025-03-01T10:00:00Z") + "\n")
		}
		h := newHouse(t, storetest.SQLite(t), map[string]string{"consents.csv": text.String(), "suppressions.csv": suppressionHeader, "cases.csv": caseHeader})
		text.Reset()
		h.mustRun(pipeline.Map)
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		before := int64(m.HeapAlloc)
		p := h.open()
		r, err := p.DryRun(t.Context())
		if err != nil || r.Rows.Read < n {
			t.Fatal(r, err)
		}
		runtime.GC()
		runtime.ReadMemStats(&m)
		runtime.KeepAlive(r)
		return int64(m.HeapAlloc) - before
	}
	small, big := peak(500), peak(10_000)
	if big-small > 2<<20 {
		t.Errorf("%d bytes kept for 500 rows, %d for 10,000", small, big)
	}
	h := newHouse(t, storetest.SQLite(t), map[string]string{"batch.yaml": houseFiles["batch.yaml"] + "limits: { columns: 5 }\n"})
	var e *source.Error
	if _, err := h.run(pipeline.DryRun); !errors.As(err, &e) || e.Kind != source.ErrLimit {
		t.Errorf("a file over a limit: %v", err)
	}
}

// 11. Comparison false alarms.
func TestComplaintTheSameContentNeverShowsAsADifference(t *testing.T) {
	t.Parallel()
	const nfc, nfd = "zo\u00eb@example.com", "zoe\u0308@example.com"
	a := receipt("C-1", "S-1,"+nfc, "Y", "2025-03-01T10:00:00Z")
	b := receipt("C-2", "S-2,b@example.com", "Y", "2025-03-01T10:00:00Z")
	sums := func(list ...string) (sums []string) {
		h := newHouse(t, storetest.SQLite(t), rows(list, nil, nil))
		for _, s := range h.mustRun(pipeline.Reconcile)["reconcile"].(*pipeline.ReconcileResult).Sources {
			if !s.Agree || s.Frozen != s.Staged {
				t.Errorf("%s does not agree: %+v", s.Source, s)
			}
			sums = append(sums, fmt.Sprint(s))
		}
		// The same content in another spelling, as a later export: nothing differs from the register.
		h.next("acme-2027", rows([]string{
			receipt("C-2", "S-2,b@example.com", "Y", "2025-03-01T11:00:00+01:00"), receipt("C-1", "S-1,"+nfd, "Y", "2025-03-01 10:00:00Z"),
		}, nil, nil))
		if s := sourceOf(t, h.imported(), "consents"); s.Skipped["row.known"] != 2 {
			t.Errorf("rejected %v, skipped %v", s.Rejected, s.Skipped)
		}
		return sums
	}
	if x, y := sums(a, b), sums(b, a); !slices.Equal(x, y) {
		t.Errorf("the order of rows shows:\n%v\n%v", x, y)
	}
}

// 12. Rejects, approval, audit, undo.
func TestComplaintWhatWasLookedAtIsWhatIsImported(t *testing.T) {
	t.Parallel()
	h := newHouse(t, storetest.SQLite(t), rows([]string{assertion("C-1", "S-1,a@example.com", "Y", ""), assertion("C-2", "S-2,b@example.com", "grnated", "")}, nil, nil))
	r := dryRun(h)
	i := slices.IndexFunc(findings(t, r.FindingsFile), func(f finding.Finding) bool { return f.Rule == "enum.unmapped" && f.Row == 3 })
	if i < 0 {
		t.Fatal("the reject is not told")
	}
	// A reject names the row, line and cell of the original, and what to do.
	if f := findings(t, r.FindingsFile)[i]; f.File != "consents.csv" || f.Line != 3 || f.Cell != "F3" || f.Field != "consent.status" || f.Remedy == "" {
		t.Errorf("%+v", f)
	}
	// A staged byte that differs from the dry-run's is refused, and nothing gets in.
	j := slices.IndexFunc(r.Staged, func(f pipeline.StagedFile) bool { return f.Entity == "consent" })
	path := r.Staged[j].Path
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	changed := slices.Clone(data)
	changed[len(changed)/2] ^= 1
	if err := os.WriteFile(path, changed, 0o600); err != nil {
		t.Fatal(err)
	}
	var bad *pipeline.IntegrityError
	if _, err := h.open().Import(t.Context()); !errors.As(err, &bad) {
		t.Errorf("got %v, want an integrity error", err)
	}
	if n := h.counts(); n["legacy_assertions"]+n["purposes"]+n["id_map"] != 0 {
		t.Errorf("the register got %v", n)
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	// So is a mapping that changed after the look.
	h.write("consents.yaml", strings.Replace(houseFiles["consents.yaml"], "withdrawn: [N]", "withdrawn: [N, grnated]", 1))
	_, err = h.open().Import(t.Context())
	wantGate(t, err, "changed")
	h.write("consents.yaml", houseFiles["consents.yaml"])
	if _, err := h.open().Import(t.Context()); err != nil {
		t.Errorf("unchanged: %v", err)
	}
}
