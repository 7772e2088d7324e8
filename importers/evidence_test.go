package importers

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// complete is a consent row that answers all six questions, each field from a column of its own.
func complete() (*Record, [][]int, Facts) {
	rec := newRecord("consent", map[string]Value{
		"subject_id":     text("C-1001"),
		"email":          text("mia@shop.example"),
		"purpose":        text("newsletter"),
		"channel":        text("email"),
		"status":         text("given"),
		"occurred_at":    when("2024-03-14T09:12:31Z", "Europe/Berlin", "second"),
		"notice_id":      text("PN"),
		"notice_version": text("3"),
		"actor":          text("Web form 12"),
		"actor_role":     text("processor"),
		"proof_kind":     text("double_opt_in_log"),
		"proof_ref":      text("DOI-2024-88412"),
	})
	cols := make([][]int, len(rec.Values))
	for i := range rec.Values {
		if rec.Values[i].Set {
			cols[i] = []int{i}
		}
	}
	return rec, cols, Facts{PurposeKnown: true, NoticeFound: true, NoticeInForce: true, ObtainedAt: at("2024-09-01T00:00:00Z")}
}

func TestEvaluate(t *testing.T) {
	type row struct {
		rec   *Record
		cols  [][]int
		facts *Facts
	}
	set := func(r row, field string, v Value) {
		i := r.rec.Entity.Field(field)
		r.rec.Values[i] = &v
		r.cols[i] = nil
		if v.Set && v.Origin == FromRow {
			r.cols[i] = []int{i}
		}
	}
	from := func(r row, field, column string) {
		r.cols[r.rec.Entity.Field(field)] = []int{r.rec.Entity.Field(column)}
	}
	stated := func(s string) Value { return Value{Set: true, Origin: Stated, Text: s} }
	const digest = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"

	tests := []struct {
		name    string
		change  func(row)
		missing string // comma-separated; "" means receipt
		why     Reason // of the first missing question
		conf    Confidence
	}{
		{"a receipt needs all six, from the row or configuration it points to", func(row) {}, "", Answered, Strong},

		{"no subject", func(r row) { set(r, "subject_id", Value{}); set(r, "email", Value{}) }, "subject", Absent, NoConfidence},
		{"an e-mail address alone is a subject", func(r row) { set(r, "subject_id", Value{}) }, "", Answered, Strong},
		{"a phone number alone is a subject", func(r row) {
			set(r, "subject_id", Value{})
			set(r, "email", Value{})
			set(r, "phone", text("+4915112345678"))
		}, "", Answered, Strong},
		{"a device is a subject, never a person", func(r row) {
			set(r, "subject_id", Value{})
			set(r, "email", Value{})
			set(r, "device_id", text("dev-81"))
		}, "", Answered, Strong},
		{"a subject stated for the file", func(r row) { set(r, "subject_id", Value{}); set(r, "email", stated("mia@shop.example")) }, "subject", ByStatement, NoConfidence},
		{"a subject from the row beside a stated one", func(r row) { set(r, "subject_id", stated("C-1")) }, "", Answered, Strong},

		{"no purpose", func(r row) { set(r, "purpose", Value{}) }, "purpose", Absent, Weak},
		{"a purpose that is not imported", func(r row) { r.facts.PurposeKnown = false }, "purpose", NotImported, Weak},
		{"a purpose stated for the file", func(r row) { set(r, "purpose", stated("newsletter")) }, "purpose", ByStatement, Weak},

		{"a row without notice", func(r row) { set(r, "notice_id", Value{}); set(r, "notice_version", Value{}) }, "notice", Absent, Strong},
		{"a notice id without version", func(r row) { set(r, "notice_version", Value{}) }, "notice", Incomplete, Strong},
		{"a version stated for the file", func(r row) { set(r, "notice_version", stated("3")) }, "notice", ByStatement, Strong},
		{"a version inferred from the date", func(r row) { set(r, "notice_version", Value{Set: true, Origin: Inferred, Text: "3"}) }, "notice", ByInference, Strong},
		{"a notice stated for the whole file", func(r row) {
			set(r, "notice_id", stated("PN"))
			set(r, "notice_version", stated("3"))
		}, "notice", ByStatement, Strong},
		{"the wording's digest instead", func(r row) {
			set(r, "notice_id", Value{})
			set(r, "notice_version", Value{})
			set(r, "notice_digest", text(digest))
		}, "", Answered, Strong},
		{"the wording's digest beside an incomplete id", func(r row) {
			set(r, "notice_version", Value{})
			set(r, "notice_digest", text(digest))
		}, "", Answered, Strong},
		{"a notice that is not imported", func(r row) { r.facts.NoticeFound = false }, "notice", NotImported, Strong},
		{"a notice not in force at that time", func(r row) { r.facts.NoticeInForce = false }, "notice", NotInForce, Strong},

		{"no actor", func(r row) { set(r, "actor", Value{}); set(r, "actor_role", Value{}) }, "actor", Absent, Strong},
		{"an actor without capacity", func(r row) { set(r, "actor_role", Value{}) }, "actor", Incomplete, Strong},
		{"a capacity that only repeats the actor", func(r row) { set(r, "actor_role", text(" web FORM 12 ")) }, "actor", Incomplete, Strong},
		{"an actor stated for the file", func(r row) { set(r, "actor", stated("Web form")) }, "actor", ByStatement, Strong},

		{"no proof", func(r row) { set(r, "proof_kind", Value{}); set(r, "proof_ref", Value{}) }, "proof", Absent, Partial},
		{"Y under proof", func(r row) { set(r, "proof_ref", text("Y")) }, "proof", BareWord, Partial},
		{"website under proof", func(r row) { set(r, "proof_ref", text("website")) }, "proof", BareWord, Partial},
		{"a proof without kind", func(r row) { set(r, "proof_kind", Value{}) }, "proof", Incomplete, Partial},
		{"a kind outside the closed list", func(r row) { set(r, "proof_kind", text("screenshot")) }, "proof", Incomplete, Partial},
		{"a kind stated for the file", func(r row) { set(r, "proof_kind", stated("signed_document")) }, "proof", ByStatement, Partial},

		{"no time", func(r row) { set(r, "occurred_at", Value{}) }, "time", Absent, Partial},
		{"a time without zone", func(r row) { set(r, "occurred_at", when("2024-03-14T09:12:31Z", "", "second")) }, "time", NoZone, Partial},
		{"a day in a declared zone", func(r row) { set(r, "occurred_at", when("2024-03-13T23:00:00Z", "Europe/Berlin", "day")) }, "", Answered, Strong},
		{"a time after the export", func(r row) { set(r, "occurred_at", when("2042-03-14T09:12:31Z", "UTC", "second")) }, "time", AfterExport, Partial},
		{"import time is never evidence time", func(r row) {
			set(r, "occurred_at", Value{Set: true, Origin: Inferred, Int: at("2024-09-01T00:00:00Z"), Zone: "UTC", Precision: "second"})
		}, "time", ByInference, Partial},

		{"one cell never answers notice and proof", func(r row) {
			set(r, "notice_id", Value{})
			set(r, "notice_version", Value{})
			set(r, "notice_digest", text(digest))
			set(r, "proof_ref", text(digest))
			from(r, "proof_ref", "notice_digest")
		}, "proof", CellUsed, Partial},
		{"one cell never answers subject and proof", func(r row) { from(r, "proof_ref", "email") }, "proof", CellUsed, Partial},
		{"one cell never answers purpose and notice", func(r row) { from(r, "notice_id", "purpose") }, "notice", CellUsed, Strong},
		{"a cell that answered nothing is still free", func(r row) {
			set(r, "actor_role", Value{})
			from(r, "proof_ref", "actor")
		}, "actor", Incomplete, Strong},
		{"a value without a cell is no answer", func(r row) { r.cols[r.rec.Entity.Field("proof_ref")] = nil }, "proof", NoCell, Partial},

		{"a status stated for the file", func(r row) { set(r, "status", stated("given")) }, "status", Answered, Partial},
		{"a status inferred", func(r row) { set(r, "status", Value{Set: true, Origin: Inferred, Text: "given"}) }, "status", Answered, Partial},
		{"a status without a cell", func(r row) { r.cols[r.rec.Entity.Field("status")] = nil }, "status", Answered, Partial},
		{"a stated status beside other gaps", func(r row) {
			set(r, "status", stated("given"))
			set(r, "proof_ref", Value{})
			set(r, "occurred_at", Value{})
		}, "proof,time,status", Incomplete, Weak},
		{"a stated withdrawal is no receipt either", func(r row) { set(r, "status", stated("withdrawn")) }, "status", Answered, Partial},

		{"a bare Y", func(r row) {
			for _, f := range []string{"purpose", "notice_id", "notice_version", "actor", "actor_role", "proof_kind", "proof_ref", "occurred_at"} {
				set(r, f, Value{})
			}
		}, "purpose,notice,actor,proof,time", Absent, NoConfidence},
		{"a withdrawal is judged by the same rule", func(r row) { set(r, "status", text("withdrawn")) }, "", Answered, Strong},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			rec, cols, facts := complete()
			r := row{rec, cols, &facts}
			tt.change(r)
			v := Evaluate(EvidenceOf(rec, cols, facts))
			if got := strings.Join(v.Missing, ","); got != tt.missing {
				t.Fatalf("missing = %q, want %q (%v)", got, tt.missing, v.Why)
			}
			wantClass := LegacyAssertion
			if tt.missing == "" {
				wantClass = Receipt
			}
			if v.Class != wantClass {
				t.Errorf("class = %s, want %s", v.Class, wantClass)
			}
			if (v.Remediation == "") != (v.Class == Receipt) {
				t.Errorf("a %s has remediation %q", v.Class, v.Remediation)
			}
			first := Answered
			for q, why := range v.Why {
				if why != Answered {
					first = why
					if !strings.Contains(v.Remediation, Questions[q].Remedy) || !strings.Contains(v.Remediation, why.String()) {
						t.Errorf("remediation %q does not say what to obtain for %s", v.Remediation, Question(q))
					}
					break
				}
			}
			if first != tt.why {
				t.Errorf("why = %s, want %s", first, tt.why)
			}
			if v.Confidence != tt.conf {
				t.Errorf("confidence = %s, want %s", v.Confidence, tt.conf)
			}
			for i := range rec.Values {
				if s := rec.Values[i].Text; len(s) > 3 && rec.Entity.Fields[i].Data != None && strings.Contains(v.Remediation, s) {
					t.Errorf("remediation holds the value of %s", rec.Entity.Fields[i].Name)
				}
			}
		})
	}
}

func TestStatedAnswersAreRecordedWithNameAndTime(t *testing.T) {
	rec, cols, facts := complete()
	*rec.Get("notice_id") = Value{Set: true, Origin: Stated, Text: "PN"}
	*rec.Get("notice_version") = Value{Set: true, Origin: Inferred, Text: "3"}
	*rec.Get("actor") = Value{Set: true, Origin: Stated, Text: "Web form"}
	*rec.Get("channel") = Value{Set: true, Origin: Stated, Text: "email"} // answers none of the six, but is recorded too
	facts.Statements = map[string]Statement{
		"notice_id": {"R. Okafor", "2024-09-01"},
		"actor":     {"R. Okafor", "2024-09-02"},
		"channel":   {"R. Okafor", "2024-09-02"},
	}
	*rec.Get("status") = Value{Set: true, Origin: Stated, Text: "given"}
	facts.Statements["status"] = Statement{"M. Ito", "2024-09-03"}
	got := Evaluate(EvidenceOf(rec, cols, facts)).Stated
	want := []StatedAnswer{
		{"channel", "R. Okafor", "2024-09-02"}, {"status", "M. Ito", "2024-09-03"},
		{"notice_id", "R. Okafor", "2024-09-01"}, {"notice_version", "inferred", ""}, {"actor", "R. Okafor", "2024-09-02"},
	}
	if !slices.Equal(got, want) {
		t.Errorf("stated = %v, want %v", got, want)
	}
}

func evidenceFields() (names []string) {
	for _, q := range Questions {
		names = append(names, q.Fields...)
	}
	return names
}

// What was decided is not read off a cell that says something else. Only the consent's time may say it: that there is one.
func TestStatusFromTheCellOfAnAnswer(t *testing.T) {
	for field, why := range map[string]Reason{
		"email": CellUsed, "purpose": CellUsed, "notice_version": CellUsed, "actor_role": CellUsed, "proof_ref": CellUsed,
		"occurred_at": Answered, "status": Answered,
	} {
		rec, cols, facts := complete()
		cols[rec.Entity.Field("status")] = cols[rec.Entity.Field(field)]
		v := Evaluate(EvidenceOf(rec, cols, facts))
		if v.WhyStatus != why {
			t.Errorf("status from the cell of %s: %s, want %s", field, v.WhyStatus, why)
		}
		if want := why != Answered; slices.Contains(v.Missing, StatusMissing) != want || (v.Class == LegacyAssertion) != want {
			t.Errorf("status from the cell of %s: %s, missing %v", field, v.Class, v.Missing)
		}
	}
}

// state makes an operator state a field.
func state(rec *Record, field int) {
	v := *rec.Values[field]
	v.Origin = Stated
	rec.Values[field] = &v
}

// Taking any answer away, or moving it from the row to a statement, never makes a better class or confidence.
func TestLessEvidenceIsNeverMore(t *testing.T) {
	grade := map[Confidence]int{NoConfidence: 0, Weak: 1, Partial: 2, Strong: 3}
	rapid.Check(t, func(t *rapid.T) {
		rec, cols, facts := complete()
		for _, f := range append(evidenceFields(), "status") {
			i := rec.Entity.Field(f)
			switch rapid.IntRange(0, 4).Draw(t, f) {
			case 0:
				rec.Values[i] = NoValue()
			case 1:
				state(rec, i)
			case 2:
				cols[i] = []int{rapid.IntRange(0, 8).Draw(t, f+" column")}
			}
		}
		before := Evaluate(EvidenceOf(rec, cols, facts))
		if (len(before.Missing) == 0) != (before.Class == Receipt) {
			t.Fatalf("%s with missing %v", before.Class, before.Missing)
		}
		// A question is weakened as a whole, so that no cell is freed for a later one.
		q := rapid.IntRange(0, questions-1).Draw(t, "question")
		for _, f := range Questions[q].Fields {
			state(rec, rec.Entity.Field(f))
		}
		if rapid.Bool().Draw(t, "status stated too") {
			state(rec, rec.Entity.Field("status"))
		}
		after := Evaluate(EvidenceOf(rec, cols, facts))
		if after.Why[q] == Answered {
			t.Fatalf("a stated %s is answered", Question(q))
		}
		if after.Class == Receipt {
			t.Fatalf("a receipt with a stated %s", Question(q))
		}
		if before.WhyStatus != CellUsed && !slices.ContainsFunc(before.Why[:], func(r Reason) bool { return r == CellUsed }) && grade[after.Confidence] > grade[before.Confidence] {
			t.Fatalf("confidence rose from %s to %s", before.Confidence, after.Confidence)
		}
	})
}

func TestEvaluateIsSafeForManyGoroutines(t *testing.T) {
	rec, cols, facts := complete()
	want := Evaluate(EvidenceOf(rec, cols, facts)).Class
	done := make(chan Class, 8)
	for range cap(done) {
		go func() {
			var c Class
			for range 200 {
				c = Evaluate(EvidenceOf(rec, cols, facts)).Class
			}
			done <- c
		}()
	}
	for range cap(done) {
		if got := <-done; got != want {
			t.Errorf("class = %s, want %s", got, want)
		}
	}
}

func TestEvaluateAllocatesNothingPerRow(t *testing.T) {
	rec, cols, facts := complete()
	*rec.Get("proof_ref") = text("Y")
	if n := testing.AllocsPerRun(100, func() { Evaluate(EvidenceOf(rec, cols, facts)) }); n != 0 {
		t.Errorf("%v allocations for one row", n)
	}
}

func BenchmarkEvaluate(b *testing.B) {
	rec, cols, facts := complete()
	for b.Loop() {
		Evaluate(EvidenceOf(rec, cols, facts))
	}
}
