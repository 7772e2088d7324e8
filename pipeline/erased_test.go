package pipeline_test

import (
	"strings"
	"testing"

	"sheetlift/pipeline"
	"sheetlift/pipeline/store/storetest"
)

// An erased subject does not come back in a later export under an identifier that only the row which was not imported held beside the
// one that the erasure names.
func TestErasedUnderOtherIdentifier(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, url string) {
		h := newHouse(t, url, map[string]string{
			"consents.csv": consentHeader + goodRow + "C-12,S-12,gone@example.com,news,email,Y,2024-03-01T10:00:00Z,,,,,,\n", // erased 2025-01-20
		})
		h.mustRun(pipeline.Reconcile)
		if got := h.state("C-12"); got != "not in the register" {
			t.Fatal(got)
		}
		for i, c := range []struct {
			name, row, id, want string
		}{
			{"the same row without the address", "C-12,S-12,,news,email,Y,2024-03-01T10:00:00Z,,,,,,\n", "C-12", "not in the register"},
			{"a new address beside the number", "C-13,S-12,new@example.com,news,email,Y,2024-03-01T10:00:00Z,,,,,,\n", "C-13", "not in the register"},
			{"only that new address", "C-14,,new@example.com,news,email,Y,2024-03-01T10:00:00Z,,,,,,\n", "C-14", "not in the register"},
			{"a receipt that is provably later", "C-15,S-12,,news,email,Y" + dated + "5\n", "C-15", "given"},
			{"somebody else", "C-16,S-16,else@example.com,news,email,Y,2024-03-01T10:00:00Z,,,,,,\n", "C-16", "given"},
		} {
			h.write("consents.csv", consentHeader+c.row)
			h.snapshot(pipeline.Delta, "consents.csv")
			s := h.again()
			if got := h.state(c.id); !strings.HasPrefix(got, c.want) || (c.want == "given") != (s.Rejected["subject.erased"] == 0) {
				t.Errorf("%d %s: %s is %s, want %s; %v", i, c.name, c.id, got, c.want, s.Rejected)
			}
		}
		h.mustVerify()
	})
}

// A fulfilled erasure in a row that was rejected for another reason erases all the same.
func TestErasureInRejectedRow(t *testing.T) {
	t.Parallel()
	h := newHouse(t, storetest.SQLite(t), map[string]string{
		"batch.yaml":   strings.Replace(houseFiles["batch.yaml"], "mapping: cases.yaml,", "mapping: cases.yaml, tolerance: { rows: 1, reason: known, owner: DPO },", 1),
		"cases.csv":    "Case,Type,Status,Subject,Mail,Received,Closed\nR-1,erasure,done,,gone@example.com,soon,2025-01-20\n",
		"consents.csv": consentHeader + goodRow + "C-12,S-12,gone@example.com,news,email,Y,2024-03-01T10:00:00Z,,,,,,\n",
	})
	h.mustRun(pipeline.Reconcile)
	if got := h.state("C-12"); got != "not in the register" {
		t.Errorf("C-12 is %s", got)
	}
	h.write("consents.csv", consentHeader+"C-13,S-13,gone@example.com,news,email,Y,2024-03-01T10:00:00Z,,,,,,\n")
	h.snapshot(pipeline.Delta, "consents.csv")
	h.again()
	if got := h.state("C-13"); got != "not in the register" {
		t.Errorf("C-13 is %s", got)
	}
}
