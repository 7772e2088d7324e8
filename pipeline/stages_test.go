package pipeline_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sheetlift/pipeline"
	"sheetlift/pipeline/store"
	"sheetlift/pipeline/store/storetest"
)

// wantDry are the counts of the batch in houseFiles.
func checkDryRun(t *testing.T, r *pipeline.DryRunResult) {
	t.Helper()
	if !r.Complete || !r.Passed {
		t.Errorf("complete %v, passed %v", r.Complete, r.Passed)
	}
	for _, s := range r.Sources {
		if s.Rows.Read != s.Rows.Accepted+s.Rows.Rejected+s.Rows.Skipped {
			t.Errorf("%s: %+v does not add up", s.Source, s.Rows)
		}
		if s.Source == "consents" {
			if want := (pipeline.Rows{Read: 18, Accepted: 11, Rejected: 5, Skipped: 2}); s.Rows != want {
				t.Errorf("consents: %+v, want %+v", s.Rows, want)
			}
			if want := map[string]int{"subject.erased": 1, "key.multiple_match": 2, "ref.not_found": 1, "enum.unmapped": 1}; !maps.Equal(s.Rejected, want) {
				t.Errorf("rejected by %v, want %v", s.Rejected, want)
			}
			if want := map[string]int{"consent.no_answer": 1, "row.repeat": 1}; !maps.Equal(s.Skipped, want) {
				t.Errorf("skipped by %v, want %v", s.Skipped, want)
			}
		}
	}
	c := r.Entities["consent"]
	if c.Records != 11 || c.Receipts != 5 || c.LegacyAssertions != 6 {
		t.Errorf("consent: %+v, want 5 receipts and 6 assertions", c)
	}
	n := 0
	for _, k := range r.ByRule {
		n += k.Count
	}
	lines := findings(t, r.FindingsFile)
	if sum := r.Findings.Error + r.Findings.Warning + r.Findings.Info; n != sum || len(lines) != sum {
		t.Errorf("the findings file has %d lines, by_rule counts %d, findings %d", len(lines), n, sum)
	}
}

var wantCounts = map[string]int{
	"purposes": 2, "notices": 2, "activities": 0, "retention_rules": 0, "suppressions": 1, "cases": 2,
	"receipts": 5, "legacy_assertions": 6, "id_map": 18, "provenance": 18, "events": 6,
}

func TestStagesOnBothDatabases(t *testing.T) {
	t.Parallel()
	var digests []map[string]string
	storetest.Each(t, func(t *testing.T, url string) {
		h := newHouse(t, url, nil)
		got := h.mustRun(pipeline.Reconcile)
		checkDryRun(t, got["dryrun"].(*pipeline.DryRunResult))
		if c := h.counts(); !maps.Equal(c, wantCounts) {
			t.Errorf("register: %v, want %v", c, wantCounts)
		}
		rec := got["reconcile"].(*pipeline.ReconcileResult)
		if !rec.Passed {
			t.Errorf("reconcile did not pass: %+v", rec)
		}
		for _, s := range rec.Sources {
			if !s.Agree || s.Frozen != s.Staged {
				t.Errorf("source %s: %+v", s.Source, s)
			}
		}
		d := map[string]string{}
		for stage, r := range got {
			d[stage] = pipeline.Common(r).Digest
		}
		digests = append(digests, d)

		// Again: nothing happens twice, and the dry-run knows the rows.
		again := h.mustRun(pipeline.Reconcile)
		if !pipeline.Common(again["import"]).AlreadyDone {
			t.Error("the second import did something")
		}
		if c := h.counts(); !maps.Equal(c, wantCounts) {
			t.Errorf("after a second run: %v, want %v", c, wantCounts)
		}
		if again["import"].(*pipeline.ImportResult).Digest != d["import"] || again["reconcile"].(*pipeline.ReconcileResult).Digest != d["reconcile"] {
			t.Error("the second run has other results than the first")
		}
		dry, err := h.open().DryRun(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if dry.Rows.Accepted != 0 || dry.Sources[4].Skipped["row.known"] != 12 {
			t.Errorf("a dry-run after the import: %+v %v", dry.Rows, dry.Sources[4].Skipped)
		}
		v, err := h.open().Verify(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range v.Checks {
			if !c.OK {
				t.Errorf("verify: %s: %s", c.What, c.Detail)
			}
		}
		st, err := h.open().Status(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range st.Stages {
			if s.State != "succeeded" {
				t.Errorf("status of %s: %s %s", s.Stage, s.State, s.Why)
			}
		}
	})
	if len(digests) == 2 && !maps.Equal(digests[0], digests[1]) {
		t.Errorf("the databases give different digests:\n%v\n%v", digests[0], digests[1])
	}
}

// TestConsentRule is must-show 3: what makes a receipt, and what wins.
func TestConsentRule(t *testing.T) {
	t.Parallel()
	h := newHouse(t, storetest.SQLite(t), nil)
	h.mustRun(pipeline.Import)
	for _, c := range []struct {
		name, id, class, missing, state, cause string
	}{
		{"all six answers make a receipt", "C-1", "receipt", "", "given", "receipt"},
		{"no notice", "C-2", "legacy_assertion", "notice", "given", "assertion"},
		{"Y under proof is no proof", "C-3", "legacy_assertion", "proof", "given", "assertion"},
		{"a notice not in force is none", "C-4", "legacy_assertion", "notice", "given", "assertion"},
		{"an undated opt-out beats an earlier receipt", "C-6", "receipt", "", "withdrawn", "withdrawal_undated"},
		{"a later receipt beats a dated withdrawal", "C-8", "receipt", "", "given", "receipt_later"},
		{"a tie does not", "C-10", "receipt", "", "withdrawn", "withdrawal"},
		{"a suppression covers a receipt, whatever the case of the address", "C-11", "receipt", "", "suppressed", "suppressed_objection"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := h.open().Trace(t.Context(), "consent", c.id, false)
			if err != nil {
				t.Fatal(err)
			}
			if len(r.Records) != 1 {
				t.Fatalf("%d records", len(r.Records))
			}
			x := r.Records[0]
			if x.Class != c.class || x.Values["missing"] != c.missing || x.State != c.state || x.StateCause != c.cause {
				t.Errorf("class %s missing %q state %s (%s)", x.Class, x.Values["missing"], x.State, x.StateCause)
			}
			if len(x.Places) != 1 || x.Places[0].File != "consents.csv" || x.Places[0].Row < 2 || x.Places[0].Cells["status"] == "" {
				t.Errorf("places %+v", x.Places)
			}
			for field, v := range x.Values {
				if strings.Contains(v, "example.com") {
					t.Errorf("%s shows a personal value", field)
				}
			}
		})
	}
}

// TestStatedNoticeChangesNothing: a notice that an operator states for the whole file makes no receipt.
func TestStatedNoticeChangesNothing(t *testing.T) {
	t.Parallel()
	m := strings.NewReplacer(
		"notice_id: Notice", `notice_id: { const: PN, stated_by: { name: Olga Operator, at: 2026-10-02 } }`,
		"notice_version: Version", `notice_version: { const: "2", stated_by: { name: Olga Operator, at: 2026-10-02 } }`,
	).Replace(houseFiles["consents.yaml"])
	h := newHouse(t, storetest.SQLite(t), map[string]string{"consents.yaml": m})
	r := h.mustRun(pipeline.DryRun)["dryrun"].(*pipeline.DryRunResult)
	if c := r.Entities["consent"]; c.Receipts != 0 || c.Missing["notice"] != c.Records {
		t.Errorf("%+v", c)
	}
}

func TestToleranceFailsTheDryRun(t *testing.T) {
	t.Parallel()
	h := newHouse(t, storetest.SQLite(t), map[string]string{"batch.yaml": strings.Replace(batchYAML, "TOLERANCE", "4", 1)})
	got := h.mustRun(pipeline.Reconcile)
	r := got["dryrun"].(*pipeline.DryRunResult)
	if r.Passed || !slices.ContainsFunc(r.ByRule, func(c pipeline.RuleCount) bool { return c.Rule == "source.over_tolerance" }) {
		t.Errorf("passed %v, rules %v", r.Passed, r.ByRule)
	}
	if got["import"] != nil {
		t.Error("run went on to the import")
	}
	_, err := h.open().Import(t.Context())
	wantGate(t, err, "did not pass")
}

// TestRevealIsAudited: only a reveal shows values, and it leaves who asked.
func TestRevealIsAudited(t *testing.T) {
	t.Parallel()
	h := newHouse(t, storetest.SQLite(t), nil)
	h.mustRun(pipeline.Import)
	before := h.counts()["events"]
	if r, err := h.open().Trace(t.Context(), "consent", "C-1", false); err != nil || strings.Contains(r.Records[0].Values["email"], "@") {
		t.Errorf("masked trace: %v %v", r, err)
	}
	if n := h.counts()["events"]; n != before {
		t.Errorf("a masked trace left %d events", n-before)
	}
	r, err := h.open().Trace(t.Context(), "consent", "C-1", true)
	if err != nil || r.Records[0].Values["email"] != "one@example.com" {
		t.Errorf("revealed trace: %v %v", r, err)
	}
	var operator string
	err = h.look().View(t.Context(), func(tx *store.Tx) error {
		return tx.QueryRow(t.Context(), `SELECT operator FROM events WHERE kind = 'reveal'`).Scan(&operator)
	})
	if err != nil || operator != "tester" {
		t.Errorf("reveal event: %q %v", operator, err)
	}
}

// TestRejectedWithdrawalIsNotLost: what speaks against a consent counts even if its own row is rejected, whatever for.
func TestRejectedWithdrawalIsNotLost(t *testing.T) {
	t.Parallel()
	given := "C-1,S-1,one@example.com,news,email,Y,2025-03-01T10:00:00Z,PN,2,Ada Agent,shop clerk,signed_document,DOC-2025-0001\n"
	for name, rows := range map[string]string{
		"a bad date":                            given + "C-2,S-1,one@example.com,news,email,N,2025-02-31T10:00:00Z,,,,,,\n",
		"an unknown purpose":                    given + "C-2,S-1,one@example.com,nosuch,email,N,2025-04-01T10:00:00Z,,,,,,\n", // it may be any
		"an unknown purpose on another channel": given + "C-2,S-1,one@example.com,nosuch,sms,N,2025-04-01T10:00:00Z,,,,,,\n",
		"an unknown purpose and a bad date":     given + "C-2,S-1,one@example.com,nosuch,email,N,2025-02-31T10:00:00Z,,,,,,\n",
		"an unknown purpose and status":         given + "C-2,S-1,one@example.com,nosuch,email,perhaps,2025-04-01T10:00:00Z,,,,,,\n",
		"an unknown notice":                     given + "C-2,S-1,one@example.com,news,email,N,2025-04-01T10:00:00Z,PN,9,,,,\n",
		"one key, two contents":                 given + "C-2,S-1,one@example.com,news,email,N,2025-04-01T10:00:00Z,,,,,,\nC-2,S-1,one@example.com,news,email,N,2025-04-02T10:00:00Z,,,,,,\n",
	} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t, storetest.SQLite(t), map[string]string{"consents.csv": consentHeader + rows})
			r := h.mustRun(pipeline.Import)["dryrun"].(*pipeline.DryRunResult)
			want := name != "an unknown purpose on another channel" && name != "an unknown purpose and status" // whatever the purpose, that is no no to this
			if got := r.Sources[4].Rejected["consent.opposed_by_rejected"] == 1; got != want {
				t.Errorf("rejected by %v", r.Sources[4].Rejected)
			}
			for _, k := range r.ByRule {
				if k.Rule == "consent.overruled" {
					t.Error("a rejected row is said to overrule")
				}
			}
			if n := h.counts(); n["receipts"] != map[bool]int{true: 0, false: 1}[want] {
				t.Errorf("register: %v", n)
			}
		})
	}
}

// TestRekeyedRowsAreRefused: another key for rows that are in already would double them.
func TestRekeyedRowsAreRefused(t *testing.T) {
	t.Parallel()
	h := newHouse(t, storetest.SQLite(t), nil)
	h.mustRun(pipeline.Import)
	before := h.counts()
	h.write("consents.yaml", strings.Replace(houseFiles["consents.yaml"], "key: [external_id]", "key: [external_id, email]", 1))
	r := h.mustRun(pipeline.Import)["dryrun"].(*pipeline.DryRunResult)
	if r.Passed || r.Sources[4].Rejected["row.rekeyed"] == 0 {
		t.Errorf("passed %v, rejected by %v", r.Passed, r.Sources[4].Rejected)
	}
	if after := h.counts(); !maps.Equal(before, after) {
		t.Errorf("register before %v, after %v", before, after)
	}
}

// TestDisagreementIsFound: a register that was changed behind our back fails reconcile and verify, and neither hides it.
func TestDisagreementIsFound(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, url string) {
		h := newHouse(t, url, nil)
		h.mustRun(pipeline.Reconcile)
		err := h.look().Update(t.Context(), func(tx *store.Tx) error {
			_, err := tx.Exec(t.Context(), `DELETE FROM receipts WHERE external_key = 'C-1'`)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		r, err := h.open().Reconcile(t.Context())
		if err == nil || r == nil || r.Passed || r.Findings.Error == 0 {
			t.Errorf("reconcile of a changed register: %+v, %v", r, err)
		}
		v, err := h.open().Verify(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if v.Passed {
			t.Error("verify of a changed register passed")
		}
	})
}

// TestMovedBatch: a batch that was moved or copied works with the files that lie with it.
func TestMovedBatch(t *testing.T) {
	t.Parallel()
	h := newHouse(t, "", nil)
	h.url = "sqlite:" + filepath.Join(h.dir, ".sheetlift", "register.db")
	h.mustRun(pipeline.DryRun)
	moved := filepath.Join(t.TempDir(), "moved")
	if err := os.Rename(h.dir, moved); err != nil {
		t.Fatal(err)
	}
	m := &house{t: t, dir: moved, url: "sqlite:" + filepath.Join(moved, ".sheetlift", "register.db")}
	if r, err := m.open().Import(t.Context()); err != nil || r.AlreadyDone {
		t.Fatalf("import after a move: %v", err)
	}
	if c := m.counts(); !maps.Equal(c, wantCounts) {
		t.Errorf("register: %v, want %v", c, wantCounts)
	}
}
