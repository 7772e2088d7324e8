package pipeline_test

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"

	"sheetlift/pipeline"
	"sheetlift/pipeline/store"
	"sheetlift/pipeline/store/storetest"
)

// snapshot freezes a further snapshot of the house's batch.
func (h *house) snapshot(kind string, names ...string) *pipeline.FreezeResult {
	h.t.Helper()
	spec := pipeline.SnapshotSpec{Kind: kind, ObtainedAt: "2026-11-01T00:00:00Z"}
	for _, n := range names {
		spec.Files = append(spec.Files, filepath.Join(h.dir, n))
	}
	fr, err := h.open().FreezeSnapshot(h.t.Context(), spec)
	if err != nil {
		h.t.Fatalf("freeze %s %v: %v", kind, names, err)
	}
	return fr
}

func (h *house) mustVerify() {
	h.t.Helper()
	v, err := h.open().Verify(h.t.Context())
	if err != nil {
		h.t.Fatal(err)
	}
	for _, c := range v.Checks {
		if !c.OK {
			h.t.Errorf("verify: %s: %s", c.What, c.Detail)
		}
	}
}

func (h *house) lastState(id string) (state, cause string, events int) {
	h.t.Helper()
	r, err := h.open().Trace(h.t.Context(), "consent", id, false)
	if err != nil {
		h.t.Fatalf("trace %s: %v", id, err)
	}
	last := r.Records[len(r.Records)-1]
	return last.State, last.StateCause, len(r.Records)
}

const dated = ",2025-03-01T10:00:00Z,PN,2,Ada Agent,shop clerk,signed_document,DOC-2025-000"

// liveFiles are a register to which a delta comes.
var liveFiles = map[string]string{
	"batch.yaml": strings.Replace(houseFiles["batch.yaml"], "mapping: suppressions.yaml,", "mapping: suppressions.yaml, tolerance: { rows: 1, reason: known, owner: CRM },", 1),
	"consents.csv": consentHeader +
		"L-1,S-1,one@example.com,news,email,Y" + dated + "1\n" + // unchanged
		"L-2,S-2,two@example.com,news,email,Y" + dated + "2\n" + // withdrawn in the delta
		"L-3,S-3,three@example.com,news,email,Y" + dated + "3\n" + // vanished
		"L-4,S-4,four@example.com,news,email,N,,,,,,,\n" + // said yes since, without proof
		"L-5,S-5,five@example.com,news,email,Y" + dated + "5\n" + // suppressed since
		"L-6,S-6,six@example.com,news,email,N,2025-01-01T00:00:00Z,,,,,,\n", // a signed yes since
	"suppressions.csv": "Mail,Channel,Reason,At\nsupp@example.com,email,objection,\nweak@example.com,email,bounce,\n",
}

var freshFiles = map[string]string{
	"purposes.csv": "Code,Name\nnews,News and letters\nads,Advertising\nmore,More\n", // one renamed, one new
	"consents.csv": consentHeader +
		"L-1,S-1,one@example.com,news,email,Y" + dated + "1\n" +
		"L-2,S-2,two@example.com,news,email,N,,,,,,,\n" +
		"L-4,S-4,four@example.com,news,email,Y,,,,,,,\n" +
		"L-5,S-5,five@example.com,news,email,Y" + dated + "5\n" +
		"L-6,S-6,six@example.com,news,email,Y" + dated + "6\n" +
		"L-7,S-7,seven@example.com,more,email,Y" + dated + "7\n" + // new, of a new purpose
		"L-8,S-8,eight,news,email,Y,,,,,,,\n", // new and bad
	"suppressions.csv": "Mail,Channel,Reason,At\nsupp@example.com,email,bounce,\nweak@example.com,email,objection,\nfive@example.com,email,objection,\n",
}

// TestDelta is must-show 4: a fresh export of a live register, on both databases.
func TestDelta(t *testing.T) {
	t.Parallel()
	var digests []string
	storetest.Each(t, func(t *testing.T, url string) {
		h := newHouse(t, url, liveFiles)
		first := h.mustRun(pipeline.Reconcile)
		if n := h.counts(); n["receipts"] != 4 || n["legacy_assertions"] != 2 || n["suppressions"] != 2 {
			t.Fatalf("register: %v", n)
		}
		for name, text := range freshFiles {
			h.write(name, text) // in place: the initial bytes are in the vault
		}
		fr := h.snapshot(pipeline.Delta, "consents.csv", "suppressions.csv", "purposes.csv")
		if fr.Snapshot != "delta-1" || fr.Previous != first["freeze"].(*pipeline.FreezeResult).Manifest || fr.Manifest == fr.Previous || len(fr.Parts) != 3 {
			t.Errorf("freeze: %+v", fr)
		}
		if again := h.snapshot(pipeline.Delta, "consents.csv", "suppressions.csv", "purposes.csv"); !again.AlreadyDone || again.Digest != fr.Digest {
			t.Errorf("frozen again: %+v", again)
		}
		got := h.mustRun(pipeline.Reconcile)
		dry := got["dryrun"].(*pipeline.DryRunResult)
		by := map[string]pipeline.DryRunSource{}
		for _, s := range dry.Sources {
			by[s.Source] = s
		}
		if s := by["consents"]; s.Rows != (pipeline.Rows{Read: 7, Accepted: 4, Rejected: 1, Skipped: 2}) || s.Vanished != 1 || s.Skipped["row.known"] != 2 {
			t.Errorf("consents: %+v", s)
		}
		if s := by["purposes"]; s.Corrected != 1 || s.Rows.Accepted != 2 || s.Rows.Skipped != 1 {
			t.Errorf("purposes: %+v", s)
		}
		// An objection does not become a bounce; a bounce becomes an objection.
		if s := by["suppressions"]; s.Corrected != 1 || s.Rejected["register.conflict"] != 1 || s.Rows.Accepted != 2 {
			t.Errorf("suppressions: %+v", s)
		}
		if dry.Manifest != fr.Manifest || dry.Snapshot != "delta-1" {
			t.Errorf("dry-run of %s %s", dry.Snapshot, dry.Manifest)
		}
		if got["import"] == nil {
			t.Fatalf("not imported: %v", dry.ByRule)
		}
		if !got["reconcile"].(*pipeline.ReconcileResult).Passed {
			t.Errorf("reconcile: %+v", got["reconcile"])
		}
		if n := h.counts(); n["receipts"] != 6 || n["legacy_assertions"] != 4 || n["suppressions"] != 3 || n["purposes"] != 3 {
			t.Errorf("register: %v", n)
		}
		for id, want := range map[string]string{
			"L-1": "given receipt 1",
			"L-3": "given receipt 1", // vanished: nothing changed
			"L-4": "withdrawn withdrawal_undated 2",
			"L-5": "suppressed suppressed_objection 1",
			"L-6": "given receipt_later 2",
			"L-7": "given receipt 1",
			"L-2": "withdrawn withdrawal_undated 2",
		} {
			state, cause, n := h.lastState(id)
			if s := fmt.Sprint(state, " ", cause, " ", n); s != want {
				t.Errorf("%s: %s, want %s", id, s, want)
			}
		}
		var name string
		var version, corrections, withValues int
		err := h.look().View(t.Context(), func(tx *store.Tx) error {
			if err := tx.QueryRow(t.Context(), `SELECT name, version FROM purposes WHERE purpose_id = 'news'`).Scan(&name, &version); err != nil {
				return err
			}
			if err := tx.QueryRow(t.Context(), `SELECT COUNT(*) FROM events WHERE kind = 'correct' AND id IS NOT NULL AND snapshot = 'delta-1'`).Scan(&corrections); err != nil {
				return err
			}
			return tx.QueryRow(t.Context(), `SELECT COUNT(*) FROM provenance p JOIN purposes r ON r.id = p.id WHERE r.purpose_id = 'news'`).Scan(&withValues)
		})
		if err != nil || name != "News and letters" || version != 2 || corrections != 2 || withValues != 2 {
			t.Errorf("name %q version %d, %d corrections, %d places, %v", name, version, corrections, withValues, err)
		}
		h.mustVerify()
		before := h.counts()
		again := h.mustRun(pipeline.Reconcile)
		if !pipeline.Common(again["import"]).AlreadyDone || !maps.Equal(before, h.counts()) {
			t.Error("a second run did something")
		}
		st, err := h.open().Status(t.Context())
		if err != nil || st.Snapshot != "delta-1" {
			t.Fatalf("status: %+v %v", st, err)
		}
		for _, s := range st.Stages {
			if s.State != "succeeded" {
				t.Errorf("status of %s: %s %s", s.Stage, s.State, s.Why)
			}
		}
		digests = append(digests, fr.Digest+dry.Digest+pipeline.Common(got["import"]).Digest+pipeline.Common(got["reconcile"]).Digest)

		// The same files again are no new snapshot, and another delta with them changes nothing.
		h.write("consents.csv", freshFiles["consents.csv"]+"\n")
		h.snapshot(pipeline.Delta, "consents.csv")
		third := h.mustRun(pipeline.Reconcile)
		if r := third["dryrun"].(*pipeline.DryRunResult); r.Snapshot != "delta-2" || r.Rows.Accepted != 0 || r.Rows.Skipped != 6 {
			t.Errorf("delta-2: %+v", r.Rows)
		}
		after := h.counts()
		if after["receipts"] != before["receipts"] || after["provenance"] != before["provenance"] {
			t.Errorf("delta-2 changed the register: %v, %v before", after, before)
		}
		h.mustVerify()

		// What an earlier snapshot brought is looked at as well, but for what was corrected since.
		for _, sql := range []string{
			`UPDATE receipts SET actor = 'Somebody' WHERE external_key = 'L-3'`,
			`UPDATE purposes SET name = 'Newsletter' WHERE purpose_id = 'news'`,
		} {
			err := h.look().Update(t.Context(), func(tx *store.Tx) error {
				_, err := tx.Exec(t.Context(), sql)
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		v, err := h.open().Verify(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var bad []string
		for _, c := range v.Checks {
			if !c.OK {
				bad = append(bad, c.What)
			}
		}
		if want := []string{"register records of consents.consent.arrow", "register records of purposes.purpose.correct.arrow of snapshot delta-1"}; !slices.Equal(bad, want) {
			t.Errorf("tampering: verify says %v, want %v", bad, want)
		}
	})
	if len(digests) == 2 && digests[0] != digests[1] {
		t.Error("the databases give different digests")
	}
}

// TestReturnedWithdrawal: an undated no that the register has from before a signed yes is not passed over as known.
func TestReturnedWithdrawal(t *testing.T) {
	t.Parallel()
	h := newHouse(t, storetest.SQLite(t), map[string]string{
		"consents.csv": consentHeader + "L-6,S-6,six@example.com,news,email,N,,,,,,,\n",
		"batch.yaml":   strings.ReplaceAll(houseFiles["batch.yaml"], "2026-10-01T00", "2025-01-01T00"),
	})
	h.mustRun(pipeline.Reconcile)
	for i, row := range []string{"Y" + dated + "6", "N,,,,,,,"} {
		h.write("consents.csv", consentHeader+"L-6,S-6,six@example.com,news,email,"+row+"\n")
		h.snapshot(pipeline.Delta, "consents.csv")
		got := h.mustRun(pipeline.Reconcile)
		r := got["dryrun"].(*pipeline.DryRunResult)
		if i == 0 {
			if state, cause, _ := h.lastState("L-6"); state != "given" || cause != "receipt_later" {
				t.Fatalf("%s %s: %+v", state, cause, r.Sources)
			}
		} else if r.Sources[0].Rejected["consent.returned"] != 1 {
			t.Errorf("%+v", r.Sources[0])
		}
	}
}

func TestSnapshotGates(t *testing.T) {
	t.Parallel()
	h := newHouse(t, storetest.SQLite(t), nil)
	spec := pipeline.SnapshotSpec{Kind: pipeline.Delta, Files: []string{filepath.Join(h.dir, "consents.csv")}}
	_, err := h.open().FreezeSnapshot(t.Context(), spec)
	wantGate(t, err, "no initial snapshot")
	h.mustRun(pipeline.DryRun)
	_, err = h.open().FreezeSnapshot(t.Context(), spec)
	wantGate(t, err, "not imported")
	h.mustRun(pipeline.Import)
	for _, bad := range []pipeline.SnapshotSpec{
		{Kind: "odd", Files: spec.Files},
		{Kind: pipeline.Delta},
		{Kind: pipeline.Delta, Files: []string{filepath.Join(h.dir, "other.csv")}},
		{Kind: pipeline.Delta, Sources: map[string]string{"nobody": spec.Files[0]}},
		{Kind: pipeline.Delta, Files: spec.Files, ObtainedAt: "yesterday"},
		{Kind: pipeline.Mended, Files: []string{filepath.Join(h.dir, "purposes.yaml")}},
	} {
		if _, err := h.open().FreezeSnapshot(t.Context(), bad); err == nil {
			t.Errorf("%+v was frozen", bad)
		}
	}
	if all, _ := filepath.Glob(filepath.Join(h.dir, ".sheetlift", "vault", "acme-2026", "*")); len(all) != 1 {
		t.Errorf("refusals left %v", all)
	}
}

// TestFreezeThatDied: a bag that no operation knows of is taken if it is the one to be written, and left alone if it is not.
func TestFreezeThatDied(t *testing.T) {
	t.Parallel()
	first := newHouse(t, storetest.SQLite(t), nil)
	freeze := func(at string) (*house, *pipeline.FreezeResult) {
		t.Helper()
		h := &house{t: t, dir: first.dir, url: storetest.SQLite(t)} // a register of its own, which knows nothing of the freezes before
		h.mustRun(pipeline.Import)
		fr, err := h.open().FreezeSnapshot(t.Context(), pipeline.SnapshotSpec{Kind: pipeline.Delta, Files: []string{filepath.Join(h.dir, "consents.csv")}, ObtainedAt: at})
		if err != nil {
			t.Fatal(err)
		}
		return h, fr
	}
	_, died := freeze("2026-11-01T00:00:00Z")
	if _, again := freeze("2026-11-01T00:00:00Z"); again.AlreadyDone || again.Snapshot != "delta-1" || again.Manifest != died.Manifest {
		t.Errorf("the same: %+v", again)
	}
	h, other := freeze("2026-11-02T00:00:00Z")
	if other.Snapshot != "delta-2" || other.Manifest == died.Manifest {
		t.Errorf("of another time: %+v", other)
	}
	h.mustRun(pipeline.Reconcile)
	h.mustVerify()
}

// badKinds are twenty ways in which a row can be wrong, each with the column and what mends it. %d is the row's number.
var badKinds = []struct{ column, bad, good string }{
	{"Id", "", "B-%d"},
	{"Id", " B-%d", "B-%d"},
	{"Id", "B-%d\u200b", "B-%d"},
	{"Mail", "no address %d", "m%d@example.com"},
	{"Mail", "a%d@example.com; b@example.com", "m%d@example.com"},
	{"Mail", "=HYPERLINK(\"x\")%d", "m%d@example.com"},
	{"Purpose", "nosuch", "news"},
	{"Channel", "pigeon", "email"},
	{"Status", "perhaps", "Y"},
	{"Status", "grnated", "yes"},
	{"At", "31.02.2025", "2025-02-28T10:00:00Z"},
	{"At", "2025-02-30", "2025-02-28T10:00:00Z"},
	{"At", "soon", "2025-02-28T10:00:00Z"},
	{"At", "10:00", "2025-02-28T10:00:00Z"},
	{"Version", "99", "2"},
	{"Notice", "XX", "PN"},
	{"Proof kind", "handshake", "signed_document"},
	{"Purpose", "NEWS", "news"},
	{"Role", strings.Repeat("r", 300), "shop clerk"},
	{"Subject", strings.Repeat("s", 300), "S-%d"},
}

// TestMendedRoundTrip is must-show 4: 1,000 bad rows of 20 kinds, mended by a script in the workbook, come back and are imported;
// the untouched ones don't.
func TestMendedRoundTrip(t *testing.T) {
	t.Parallel()
	const rows, untouched = 1000, 100
	columns := strings.Split(strings.TrimSpace(consentHeader), ",")
	at := map[string]int{}
	for i, c := range columns {
		at[c] = i
	}
	var text strings.Builder
	text.WriteString(consentHeader + "G-1,S-G,good@example.com,news,email,Y" + dated + "9\n")
	for n := range rows {
		row := []string{fmt.Sprintf("B-%d", n), fmt.Sprintf("S-%d", n), fmt.Sprintf("m%d@example.com", n), "news", "email", "Y", "2025-03-01T10:00:00Z", "PN", "2", "Ada Agent", "shop clerk", "signed_document", fmt.Sprintf("DOC-2025-%04d7", n)}
		k := badKinds[n%len(badKinds)]
		row[at[k.column]] = fill(k.bad, n)
		for i := range row {
			row[i] = `"` + strings.ReplaceAll(row[i], `"`, `""`) + `"`
		}
		text.WriteString(strings.Join(row, ",") + "\n")
	}
	storetest.Each(t, func(t *testing.T, url string) {
		h := newHouse(t, url, map[string]string{"consents.csv": text.String(), "batch.yaml": strings.Replace(batchYAML, "TOLERANCE", "1000", 1)})
		first := h.mustRun(pipeline.Reconcile)
		if r := first["dryrun"].(*pipeline.DryRunResult); r.Rows.Rejected != rows || first["import"] == nil {
			t.Fatalf("%d rejected, %v", r.Rows.Rejected, r.ByRule)
		}
		if n := h.counts(); n["receipts"] != 1 {
			t.Fatalf("register: %v", n)
		}
		h.rejects("mend.xlsx")
		mend(t, filepath.Join(h.dir, "mend.xlsx"), func(book *excelize.File, header map[string]string, row, n int) {
			if n%10 == 3 { // 100 rows are left as they are
				return
			}
			k := badKinds[n%len(badKinds)]
			if err := book.SetCellStr("consents", fmt.Sprintf("%s%d", header[k.column], row), fill(k.good, n)); err != nil {
				t.Fatal(err)
			}
		})
		fr := h.snapshot(pipeline.Mended, "mend.xlsx")
		if len(fr.Parts) != 1 || fr.Parts[0].Base != pipeline.Initial || fr.Previous != first["freeze"].(*pipeline.FreezeResult).Manifest {
			t.Errorf("freeze: %+v", fr.Parts)
		}
		got := h.mustRun(pipeline.Reconcile)
		r := got["dryrun"].(*pipeline.DryRunResult)
		if want := (pipeline.Rows{Read: rows, Accepted: rows - untouched, Rejected: untouched}); r.Rows != want {
			t.Errorf("%+v, want %+v: %v", r.Rows, want, r.Sources)
		}
		if got["import"] == nil || !got["reconcile"].(*pipeline.ReconcileResult).Passed {
			t.Fatalf("not imported, or not reconciled: %v", r.ByRule)
		}
		if n := h.counts(); n["receipts"] != 1+rows-untouched || n["legacy_assertions"] != 0 {
			t.Errorf("register: %v", n)
		}
		h.mustVerify()
		// The rows that were left go out again, under tokens of the new snapshot, and can be mended then.
		h.rejects("again.xlsx")
		mend(t, filepath.Join(h.dir, "again.xlsx"), func(book *excelize.File, header map[string]string, row, n int) {
			k := badKinds[n%len(badKinds)]
			if err := book.SetCellStr("consents", fmt.Sprintf("%s%d", header[k.column], row), fill(k.good, n)); err != nil {
				t.Fatal(err)
			}
		})
		if fr := h.snapshot(pipeline.Mended, "again.xlsx"); fr.Parts[0].Base != "mended-1" {
			t.Errorf("freeze: %+v", fr.Parts)
		}
		h.mustRun(pipeline.Reconcile)
		if n := h.counts(); n["receipts"] != 1+rows {
			t.Errorf("register: %v", n)
		}
		h.mustVerify()
		h.survivesLoss()
	})
}

func fill(s string, n int) string {
	if strings.Contains(s, "%d") {
		return fmt.Sprintf(s, n)
	}
	return s
}

// mend opens a rejects workbook as its owner would and calls f for each row of the consents with the number it was made from.
func mend(t *testing.T, path string, f func(book *excelize.File, header map[string]string, row, n int)) {
	t.Helper()
	book, err := excelize.OpenFile(path)
	if err != nil {
		t.Fatal(err)
	}
	defer book.Close()
	lines, err := book.GetRows("consents")
	if err != nil {
		t.Fatal(err)
	}
	header := map[string]string{}
	for i, name := range lines[0] {
		header[name], _ = excelize.ColumnNumberToName(i + 1)
	}
	for i, line := range lines[1:] {
		var n int
		fmt.Sscan(line[1], &n)
		f(book, header, i+2, n-3) // the header and one good row stand before
	}
	if err := book.Save(); err != nil {
		t.Fatal(err)
	}
}
