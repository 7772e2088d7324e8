package importers

import (
	"testing"

	"pgregory.net/rapid"
)

func erasure(id, date string) Erasure {
	e := Erasure{ID: id, ObtainedAt: at("2024-09-01T00:00:00Z")}
	if date != "" {
		e.Dated = true
		_, e.Latest = day(date)
	}
	return e
}

func TestErased(t *testing.T) {
	tests := []struct {
		name     string
		event    Event
		erasures []Erasure
		want     string // id of the erasure; "" if the row is taken
	}{
		{"no erasure", event("a", "given", LegacyAssertion, "2024-03-01"), nil, ""},
		{"erased subject isn't brought back", event("a", "given", LegacyAssertion, "2024-03-01"), []Erasure{erasure("x", "2024-05-01")}, "x"},
		{"an undated consent", event("a", "given", LegacyAssertion, ""), []Erasure{erasure("x", "2024-05-01")}, "x"},
		{"a later assertion is no later evidence", event("a", "given", LegacyAssertion, "2024-06-01"), []Erasure{erasure("x", "2024-05-01")}, "x"},
		{"a receipt provably later", event("r", "given", Receipt, "2024-06-01"), []Erasure{erasure("x", "2024-05-01")}, ""},
		{"a receipt on the day of the erasure", event("r", "given", Receipt, "2024-05-01"), []Erasure{erasure("x", "2024-05-01")}, "x"},
		{"an undated erasure counts as of its export", event("r", "given", Receipt, "2024-08-01"), []Erasure{erasure("x", "")}, "x"},
		{"a receipt after an undated erasure's export", event("r", "given", Receipt, "2024-10-01"), []Erasure{erasure("x", "")}, ""},
		{"two erasures, a receipt between them", event("r", "given", Receipt, "2024-06-01"), []Erasure{erasure("x", "2024-05-01"), erasure("y", "2024-07-01")}, "y"},
		{"an old withdrawal", event("w", "withdrawn", LegacyAssertion, "2024-03-01"), []Erasure{erasure("x", "2024-05-01")}, "x"},
		{"a later withdrawal grants nothing and is taken", event("w", "withdrawn", LegacyAssertion, "2024-06-01"), []Erasure{erasure("x", "2024-05-01")}, ""},
		{"of several the latest is named", event("a", "given", LegacyAssertion, "2024-03-01"), []Erasure{erasure("x", "2024-05-01"), erasure("z", ""), erasure("y", "2024-07-01")}, "z"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			rejected, by := Erased(tt.event, tt.erasures)
			if by != tt.want || rejected != (tt.want != "") {
				t.Errorf("Erased = %v by %q, want by %q", rejected, by, tt.want)
			}
		})
	}
}

func TestErasedDoesNotDependOnOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := drawEvents(t, "events", allStatuses, allClasses)
		if len(e) == 0 {
			return
		}
		erasures := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Erasure {
			return Erasure{
				ID:    rapid.StringMatching(`[a-z]{4}`).Draw(t, "id"),
				Dated: rapid.Bool().Draw(t, "dated"), Latest: rapid.Int64Range(1, 9).Draw(t, "latest"), ObtainedAt: rapid.Int64Range(0, 9).Draw(t, "obtained"),
			}
		}), 0, 4).Draw(t, "erasures")
		rejected, by := Erased(e[0], erasures)
		again, byAgain := Erased(e[0], rapid.Permutation(erasures).Draw(t, "order"))
		if rejected != again || by != byAgain {
			t.Fatalf("%v by %q, then %v by %q", rejected, by, again, byAgain)
		}
	})
}

func TestErasureOf(t *testing.T) {
	fields := func(kind, status string) map[string]Value {
		return map[string]Value{"request_type": text(kind), "status": text(status), "received_at": when("2024-03-01T00:00:00Z", "UTC", "day"), "closed_at": when("2024-05-01T00:00:00Z", "UTC", "day")}
	}
	if _, ok := ErasureOf(newRecord("case", fields("erasure", "open")), "x", 1); ok {
		t.Error("an open case erased nobody")
	}
	if _, ok := ErasureOf(newRecord("case", fields("access", "closed_fulfilled")), "x", 1); ok {
		t.Error("an access request erased nobody")
	}
	e, ok := ErasureOf(newRecord("case", fields("erasure", "closed_fulfilled")), "x", 1)
	if !ok || !e.Dated || e.Latest != at("2024-05-01T23:59:59.999999Z") {
		t.Errorf("ErasureOf = %+v, %v: the closing counts", e, ok)
	}
	open := newRecord("case", map[string]Value{"request_type": text("erasure"), "status": text("closed_fulfilled")})
	if e, ok := ErasureOf(open, "x", 7); !ok || e.Dated || e.ObtainedAt != 7 {
		t.Errorf("ErasureOf = %+v, %v: without a closing date it is undated", e, ok)
	}
}

func TestCaseEvent(t *testing.T) {
	rec := func(kind, status string) *Record {
		return newRecord("case", map[string]Value{"request_type": text(kind), "status": text(status), "purpose": text("news"),
			"channel": text("phone"), "received_at": when("2024-03-01T00:00:00Z", "UTC", "day")})
	}
	for _, tt := range []struct {
		kind, status string
		want         bool
	}{
		{"objection", "open", true}, {"objection", "closed_refused", true}, {"withdraw_consent", "closed_fulfilled", true},
		{"withdraw_consent", "withdrawn", false}, {"access", "open", false}, {"erasure", "closed_fulfilled", false},
	} {
		e, ok := CaseEvent(rec(tt.kind, tt.status), "c", 7)
		if ok != tt.want {
			t.Errorf("%s, %s: CaseEvent = %v", tt.kind, tt.status, ok)
		}
		if ok && (e.Status != StatusWithdrawn || e.Scope != (Scope{Purpose: "news"}) || e.Latest != at("2024-03-01T23:59:59.999999Z")) {
			t.Errorf("CaseEvent = %+v", e)
		}
	}
}
