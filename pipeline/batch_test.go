package pipeline_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sheetlift/pipeline"
	"sheetlift/pipeline/finding"
	"sheetlift/pipeline/ledger"
	"sheetlift/pipeline/store"
	"sheetlift/pipeline/store/storetest"
)

func TestMain(m *testing.M) { storetest.Main(m) }

// house is a batch in a folder of its own, run against one database.
type house struct {
	t   *testing.T
	dir string
	url string

	said     []string  // remarks
	unmarked bool      // as a version did that left no marks of known rows
	stubborn bool      // as a version did that judged no untouched row anew
	opened   *store.DB // what the test itself looks with
	progress func(stage, source string, done, all int64)
}

const batchYAML = `version: 1
batch: acme-2026
tenant: { name: acme, namespace: 5b0f6d0e-3f5d-4a2e-9a53-0c6f4d9a7e11 }
sources:
  - { name: purposes, file: purposes.csv, system: cfg, owner: DPO, definition: purposes, mapping: purposes.yaml, obtained_at: "2026-10-01T00:00:00Z", zone: UTC }
  - { name: notices, file: notices.csv, system: cfg, owner: DPO, definition: notices, mapping: notices.yaml, obtained_at: "2026-10-01T00:00:00Z", zone: UTC }
  - { name: suppressions, file: suppressions.csv, system: crm, owner: CRM, definition: list, mapping: suppressions.yaml, obtained_at: "2026-10-01T00:00:00Z", zone: UTC }
  - { name: cases, file: cases.csv, system: desk, owner: DPO, definition: requests, mapping: cases.yaml, obtained_at: "2026-10-01T00:00:00Z", zone: UTC }
  - name: consents
    file: consents.csv
    system: crm
    owner: CRM
    definition: register
    mapping: consents.yaml
    obtained_at: "2026-10-01T00:00:00Z"
    zone: UTC
    tolerance: { rows: TOLERANCE, reason: known, owner: CRM }
`

var houseFiles = map[string]string{
	"batch.yaml": strings.Replace(batchYAML, "TOLERANCE", "5", 1),
	"purposes.yaml": `version: 1
mapping: purposes
records:
  - { entity: purpose, key: [purpose_id], fields: { purpose_id: Code, name: Name } }
`,
	"purposes.csv": "Code,Name\nnews,Newsletter\nads,Advertising\n",
	"notices.yaml": `version: 1
mapping: notices
records:
  - { entity: notice, key: [notice_id, notice_version], fields: { notice_id: Code, notice_version: Version, valid_from: { from: From, format: iso8601 }, valid_to: { from: To, format: iso8601 } } }
`,
	"notices.csv": "Code,Version,From,To\nPN,1,2020-01-01,2023-12-31\nPN,2,2024-01-01,\n",
	"suppressions.yaml": `version: 1
mapping: suppressions
records:
  - entity: suppression
    key: [email, channel]
    fields:
      email: Mail
      channel: { from: Channel }
      reason: { from: Reason }
      occurred_at: { from: At, format: iso8601 }
`,
	"suppressions.csv": "Mail,Channel,Reason,At\nSUPP@example.com,email,objection,\n",
	"cases.yaml": `version: 1
mapping: cases
records:
  - entity: case
    key: [external_id]
    fields:
      external_id: Case
      request_type: { from: Type }
      status: { from: Status, enum: { open: [open], closed_fulfilled: [done] } }
      subject_id: Subject
      email: Mail
      received_at: { from: Received, format: iso8601 }
      closed_at: { from: Closed, format: iso8601 }
`,
	"cases.csv": "Case,Type,Status,Subject,Mail,Received,Closed\nR-1,erasure,done,,gone@example.com,2025-01-02,2025-01-20\nR-2,access,open,,asks@example.com,2026-09-20,\n",
	"consents.yaml": `version: 1
mapping: consents
records:
  - entity: consent
    key: [external_id]
    fields:
      external_id: Id
      subject_id: Subject
      email: Mail
      purpose: Purpose
      channel: { from: Channel }
      status: { from: Status, enum: { given: [Y, yes], withdrawn: [N], refused: [no] } }
      occurred_at: { from: At, format: iso8601 }
      notice_id: Notice
      notice_version: Version
      actor: Actor
      actor_role: Role
      proof_kind: { from: Proof kind, null_tokens: [Y] }
      proof_ref: Proof
`,
	"consents.csv": consentHeader + strings.Join([]string{
		"C-1,S-1,one@example.com,news,email,Y,2025-03-01T10:00:00Z,PN,2,Ada Agent,shop clerk,signed_document,DOC-2025-0001",   // all six
		"C-2,S-2,two@example.com,news,email,Y,2025-03-01T10:00:00Z,,,Ada Agent,shop clerk,signed_document,DOC-2025-0002",      // no notice
		"C-3,S-3,three@example.com,news,email,Y,2025-03-01T10:00:00Z,PN,2,Ada Agent,shop clerk,Y,Y",                           // "Y" under proof
		"C-4,S-4,four@example.com,news,email,Y,2025-03-01T10:00:00Z,PN,1,Ada Agent,shop clerk,signed_document,DOC-2025-0004",  // notice no more in force
		"C-5,S-5,five@example.com,news,email,N,,,,,,,",                                                                        // undated opt-out
		"C-6,S-5,five@example.com,news,email,Y,2025-03-01T10:00:00Z,PN,2,Ada Agent,shop clerk,signed_document,DOC-2025-0006",  // receipt before it
		"C-7,S-7,seven@example.com,news,email,N,2025-03-01T10:00:00Z,,,,,,",                                                   // dated withdrawal
		"C-8,S-7,seven@example.com,news,email,Y,2025-03-02T10:00:00Z,PN,2,Ada Agent,shop clerk,signed_document,DOC-2025-0008", // later receipt
		"C-9,S-9,nine@example.com,news,email,N,2025-03-01T10:00:00Z,,,,,,",
		"C-10,S-9,nine@example.com,news,email,Y,2025-03-01T10:00:00Z,PN,2,Ada Agent,shop clerk,signed_document,DOC-2025-0010",  // a tie
		"C-11,S-11,supp@example.com,news,email,Y,2025-03-01T10:00:00Z,PN,2,Ada Agent,shop clerk,signed_document,DOC-2025-0011", // suppressed
		"C-12,S-12,gone@example.com,news,email,Y,2024-03-01T10:00:00Z,,,,,,",                                                   // erased
		"C-13,S-13,thirteen@example.com,news,email,,2025-03-01T10:00:00Z,,,,,,",                                                // no answer
		"C-1,S-1,one@example.com,news,email,Y,2025-03-01T10:00:00Z,PN,2,Ada Agent,shop clerk,signed_document,DOC-2025-0001",    // repeat
		"C-14,S-14,a@example.com,news,email,Y,,,,,,,",                                                                          // same key,
		"C-14,S-14,a@example.com,news,email,N,,,,,,,",                                                                          // other content
		"C-15,S-15,b@example.com,nosuch,email,Y,,,,,,,",                                                                        // unknown purpose
		"C-16,S-16,c@example.com,news,email,perhaps,,,,,,,",                                                                    // unmapped word
	}, "\n") + "\n",
}

const consentHeader = "Id,Subject,Mail,Purpose,Channel,Status,At,Notice,Version,Actor,Role,Proof kind,Proof\n"

// newHouse writes the files of the batch, with some of them replaced.
func newHouse(t *testing.T, url string, replace map[string]string) *house {
	t.Helper()
	h := &house{t: t, dir: t.TempDir(), url: url}
	for name, text := range houseFiles {
		if r, ok := replace[name]; ok {
			text = r
		}
		h.write(name, text)
	}
	return h
}

func (h *house) write(name, text string) {
	h.t.Helper()
	if err := os.WriteFile(filepath.Join(h.dir, name), []byte(text), 0o600); err != nil {
		h.t.Fatal(err)
	}
}

// open gives a pipeline as a new process would have it.
func (h *house) open() *pipeline.Pipeline {
	h.t.Helper()
	p, err := h.try()
	if err != nil {
		h.t.Fatal(err)
	}
	return p
}

func (h *house) try() (*pipeline.Pipeline, error) {
	b, err := pipeline.LoadBatch(filepath.Join(h.dir, "batch.yaml"))
	if err != nil {
		return nil, err
	}
	db := h.db()
	p, err := pipeline.New(pipeline.Options{
		Batch: b, DB: db, Operator: "tester", KeyPath: filepath.Join(h.dir, "key", "id_ed25519"),
		Findings: func(path string) (io.WriteCloser, error) {
			return os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
		},
		Encode: func(w io.Writer, f finding.Finding) error { return json.NewEncoder(w).Encode(f) },
		Notify: func(n ledger.Notice) {
			if n.Event == ledger.NoticeRemark {
				h.said = append(h.said, n.Message)
			}
		}, Progress: h.progress,
	})
	if err == nil && h.unmarked {
		p.Unmarked()
	}
	if err == nil && h.stubborn {
		p.Stubborn()
	}
	return p, err
}

// look is the test's own connection.
func (h *house) look() *store.DB {
	if h.opened == nil {
		h.opened = h.db()
	}
	return h.opened
}

func (h *house) db() *store.DB {
	h.t.Helper()
	db, err := store.Open(context.Background(), h.url)
	if err == nil {
		err = db.Migrate(context.Background())
	}
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { db.Close() })
	return db
}

// run goes until a stage and returns the results by stage.
func (h *house) run(until string) (map[string]any, error) {
	h.t.Helper()
	got := map[string]any{}
	err := h.open().Run(h.t.Context(), until, func(r any) { got[stageOf(r)] = r })
	return got, err
}

func (h *house) mustRun(until string) map[string]any {
	h.t.Helper()
	got, err := h.run(until)
	if err != nil {
		h.t.Fatalf("run until %s: %v", until, err)
	}
	return got
}

func stageOf(r any) string {
	return strings.Split(pipeline.Common(r).Schema, "/")[1]
}

func findings(t *testing.T, path string) []finding.Finding {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var list []finding.Finding
	s := bufio.NewScanner(f)
	for s.Scan() {
		var x finding.Finding
		if err := json.Unmarshal(s.Bytes(), &x); err != nil {
			t.Fatal(err)
		}
		list = append(list, x)
	}
	return list
}

// counts are the rows of the register's tables.
func (h *house) counts() map[string]int {
	h.t.Helper()
	got := map[string]int{}
	err := h.look().View(h.t.Context(), func(tx *store.Tx) error {
		for _, table := range []string{"purposes", "notices", "activities", "retention_rules", "suppressions", "cases", "receipts", "legacy_assertions", "id_map", "provenance", "events"} {
			var n int
			if err := tx.QueryRow(h.t.Context(), `SELECT COUNT(*) FROM `+table).Scan(&n); err != nil {
				return err
			}
			got[table] = n
		}
		return nil
	})
	if err != nil {
		h.t.Fatal(err)
	}
	return got
}

func wantGate(t *testing.T, err error, word string) {
	t.Helper()
	var g *pipeline.GateError
	if !errors.As(err, &g) {
		t.Fatalf("got %v, want a gate refusal", err)
	}
	if !strings.Contains(g.Why, word) {
		t.Errorf("the refusal says %q, want it to name %q", g.Why, word)
	}
}
