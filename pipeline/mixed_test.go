package pipeline_test

import (
	"maps"
	"strings"
	"testing"

	"sheetlift/pipeline"
	"sheetlift/pipeline/store/storetest"
)

// mixed are the files of a batch whose rows say two things: on e-mail and on text messages.
func mixed(consents string, more ...map[string]string) map[string]string {
	files := rows(nil, nil, nil)
	files["consents.csv"] = "Id,Subject,Mail,Email,Sms,At,Purpose\n" + consents
	files["consents.yaml"] = `version: 1
mapping: consents
records:
  - entity: consent
    key: [external_id, channel]
    when: { column: Email, not_blank: true }
    fields: { external_id: Id, subject_id: Subject, email: Mail, purpose: Purpose, status: { from: Email, enum: { given: Y, withdrawn: N } }, occurred_at: { from: At, format: iso8601 }, channel: { const: email, stated_by: { name: CRM, at: 2026-01-01 } } }
  - entity: consent
    key: [external_id, channel]
    when: { column: Sms, not_blank: true }
    fields: { external_id: Id, subject_id: Subject, email: Mail, purpose: Purpose, status: { from: Sms, enum: { given: Y, withdrawn: N } }, occurred_at: { from: At, format: iso8601 }, channel: { const: sms, stated_by: { name: CRM, at: 2026-01-01 } } }
`
	for _, m := range more {
		maps.Copy(files, m)
	}
	return files
}

// TestRuleARejectedRowOpposes: a row that is rejected because of one of its consents takes the withdrawal that stands beside it along. The
// consent that the withdrawal stood against is rejected too: the register would show it as given.
func TestRuleARejectedRowOpposes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		files map[string]string
		want  map[int][]string
	}{
		"opposed by another": {
			mixed("1,S-1,,,Y,2022-03-10,news\n2,S-1,,Y,N,2023-07-11,news\n3,S-1,,N,,2024-13-01,news\n"),
			map[int][]string{2: {"consent.opposed_by_rejected"}, 3: {"consent.opposed_by_rejected"}, 4: {"date.invalid"}},
		},
		"whatever the order": {
			mixed("3,S-1,,N,,2024-13-01,news\n2,S-1,,Y,N,2023-07-11,news\n1,S-1,,,Y,2022-03-10,news\n"),
			map[int][]string{2: {"date.invalid"}, 3: {"consent.opposed_by_rejected"}, 4: {"consent.opposed_by_rejected"}},
		},
		"of several subjects": {
			mixed("1,S-1,info@example.com,,Y,2022-03-10,news\n2,S-2,info@example.com,Y,,2022-03-10,news\n3,,info@example.com,Y,N,2023-07-11,news\n"),
			map[int][]string{2: {"consent.opposed_by_rejected"}, 4: {"subject.multiple_match"}},
		},
		"erased": {
			mixed("1,,gone@example.com,,Y,2026-03-10,news\n2,,gone@example.com,Y,N,2026-07-11,news\n",
				map[string]string{"cases.csv": caseHeader + "R-1,erasure,done,,gone@example.com,2025-01-02,2025-01-20\n"}),
			map[int][]string{2: {"subject.erased"}, 3: {"subject.erased"}},
		},
		"what does not come in is not overruled": {
			mixed("1,S-1,a@example.com,N,,2023-07-11,news\n2,S-1,a@example.com,Y,N,2022-03-10,news\n3,S-1,a@example.com,,Y,2022-03-10,news\n4,S-1,a@example.com,,N,2024-13-01,news\n"),
			map[int][]string{3: {"consent.overruled"}, 4: {"consent.overruled"}, 5: {"date.invalid"}},
		},
		"the other consent of a row overruled": {
			mixed("1,S-1,a@example.com,N,,2023-07-11,news\n2,S-1,a@example.com,Y,Y,2022-03-10,news\n3,S-1,a@example.com,,N,2024-13-01,news\n"),
			map[int][]string{3: {"consent.opposed_by_rejected"}, 4: {"date.invalid"}},
		},
		"by a suppression": {
			mixed("1,S-1,a@example.com,Y,Y,2022-03-10,news\n2,S-1,a@example.com,,N,2024-13-01,news\n",
				map[string]string{"suppressions.csv": suppressionHeader + "a@example.com,email,objection,\n"}),
			map[int][]string{2: {"consent.opposed_by_rejected"}, 3: {"date.invalid"}},
		},
		"a row that comes in overrules": {
			mixed("1,S-1,,,Y,2022-03-10,news\n2,S-1,,Y,N,2023-07-11,news\n"),
			map[int][]string{2: {"consent.overruled"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := found(t, dryRun(newHouse(t, storetest.SQLite(t), c.files)), "consents")
			for row := range 6 {
				if row > 0 {
					wantRules(t, name, got[row], c.want[row]...)
				}
			}
		})
	}
}

// TestRuleAnOpposedConsentComesInWithItsWithdrawal: the consent itself needs no mending, only the rejected row that it was opposed by.
func TestRuleAnOpposedConsentComesInWithItsWithdrawal(t *testing.T) {
	t.Parallel()
	given := assertion("C-1", "S-1,one@example.com", "Y", "2025-03-01T10:00:00Z") + "\n"
	withdrawn := assertion("C-2", "S-1,one@example.com", "N", "2025-13-01T10:00:00Z") + "\n"
	h := newHouse(t, storetest.SQLite(t), rows([]string{given + withdrawn}, nil, nil))
	h.mustRun(pipeline.Reconcile)
	h.write("mended.csv", consentHeader+given+withdrawn)
	h.snapshotOf("consents", "mended.csv") // as they were: neither comes in
	if s := sourceOf(t, dryRun(h), "consents"); s.Rows.Accepted != 0 || s.Rejected["consent.opposed_by_rejected"] != 1 || s.Rejected["date.invalid"] != 1 {
		t.Errorf("unmended: %+v", s)
	}
	h.mustRun(pipeline.Reconcile)
	h.write("mended2.csv", consentHeader+given+strings.Replace(withdrawn, "2025-13-01", "2025-12-01", 1))
	h.snapshotOf("consents", "mended2.csv")
	if s := sourceOf(t, dryRun(h), "consents"); s.Rows.Accepted != 2 {
		t.Errorf("mended: %+v", s)
	}
	h.mustRun(pipeline.Reconcile)
	h.wantState("C-1", "withdrawn withdrawal")
}

// TestRuleTwoSourcesOfOneSheetAreJudgedApart is what docs/mapping.md advises: records of one row stand and fall together, those of two sources
// that read one sheet do not.
func TestRuleTwoSourcesOfOneSheetAreJudgedApart(t *testing.T) {
	t.Parallel()
	files := mixed("1,S-1,a@example.com,maybe,N,2023-07-11,news\n2,S-2,b@example.com,Y,Y,2023-07-11,news\n")
	whole := dryRun(newHouse(t, storetest.SQLite(t), files))
	if s := sourceOf(t, whole, "consents"); s.Rows.Accepted != 1 || s.Rejected["enum.unmapped"] != 1 {
		t.Errorf("one source: %+v", s)
	}
	text := files["consents.yaml"]
	second := strings.LastIndex(text, "  - entity: consent")
	files["consents.yaml"] = text[:second]
	head := text[:strings.Index(text, "  - entity: consent")]
	files["batch.yaml"] = houseFiles["batch.yaml"] + `  - { name: texts, file: consents.csv, system: crm, owner: CRM, definition: register, mapping: texts.yaml, obtained_at: "2026-10-01T00:00:00Z", zone: UTC }
`
	h := newHouse(t, storetest.SQLite(t), files)
	h.write("texts.yaml", strings.Replace(head, "mapping: consents", "mapping: texts", 1)+text[second:])
	apart := h.imported()
	if s := sourceOf(t, apart, "consents"); s.Rows.Accepted != 1 || s.Rejected["enum.unmapped"] != 1 {
		t.Errorf("e-mail: %+v", s)
	}
	if s := sourceOf(t, apart, "texts"); s.Rows.Accepted != 2 {
		t.Errorf("text messages: %+v", s)
	}
	h.wantState("1|sms", "withdrawn withdrawal")
	h.snapshot(pipeline.Delta, "consents.csv")
	if s := sourceOf(t, dryRun(h), "texts"); s.Skipped["row.known"] != 2 {
		t.Errorf("again: %+v", s)
	}
}
