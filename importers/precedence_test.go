package importers

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// day gives the window of a UTC day.
func day(s string) (earliest, latest int64) { return Window(when(s+"T00:00:00Z", "UTC", "day")) }

func event(id, status string, class Class, date string) Event {
	e := Event{ID: id, Status: status, Class: class, ObtainedAt: at("2024-09-01T00:00:00Z")}
	if date != "" {
		e.Dated = true
		e.Earliest, e.Latest = day(date)
	}
	return e
}

func ending(e Event, date string) Event {
	e.ExpiresAt, _ = day(date)
	return e
}

func obtained(e Event, date string) Event {
	e.ObtainedAt, _ = day(date)
	return e
}

func suppression(id, reason, date string) Suppression {
	s := Suppression{ID: id, Reason: reason, ObtainedAt: at("2024-09-01T00:00:00Z")}
	if date != "" {
		s.Dated = true
		s.Earliest, s.Latest = day(date)
	}
	return s
}

// precedenceCases is the table of precedence; docs/consent.md shows it with what State says.
var precedenceCases = []struct {
	name         string
	events       []Event
	suppressions []Suppression
	status       string
	because      string
	by           string
}{
	{"nothing at all: a blank never becomes consent", nil, nil, "none", "no_event", ""},
	{"a receipt", []Event{event("r", "given", Receipt, "2024-03-01")}, nil, "given", "receipt", "r"},
	{"a dated assertion", []Event{event("a", "given", LegacyAssertion, "2024-03-01")}, nil, "given", "assertion", "a"},
	{"an undated assertion", []Event{event("a", "given", LegacyAssertion, "")}, nil, "given", "assertion", "a"},
	{"a receipt and an assertion", []Event{event("a", "given", LegacyAssertion, "2024-05-01"), event("r", "given", Receipt, "2024-03-01")}, nil, "given", "receipt", "r"},

	{"a withdrawal after a receipt", []Event{event("r", "given", Receipt, "2024-03-01"), event("w", "withdrawn", LegacyAssertion, "2024-04-01")}, nil, "withdrawn", "withdrawal", "w"},
	{"a receipt provably later than a withdrawal", []Event{event("w", "withdrawn", Receipt, "2024-03-01"), event("r", "given", Receipt, "2024-04-01")}, nil, "given", "receipt_later", "r"},
	{"a receipt on the day of the withdrawal: ties go to withdrawal", []Event{event("w", "withdrawn", Receipt, "2024-04-01"), event("r", "given", Receipt, "2024-04-01")}, nil, "withdrawn", "withdrawal", "w"},
	{"an assertion later than a withdrawal", []Event{event("w", "withdrawn", LegacyAssertion, "2024-03-01"), event("a", "given", LegacyAssertion, "2024-04-01")}, nil, "withdrawn", "withdrawal", "w"},
	{"an undated withdrawal against a dated assertion", []Event{event("w", "withdrawn", LegacyAssertion, ""), event("a", "given", LegacyAssertion, "2024-08-01")}, nil, "withdrawn", "withdrawal_undated", "w"},
	{"an undated withdrawal against a receipt from before its export", []Event{event("w", "withdrawn", LegacyAssertion, ""), event("r", "given", Receipt, "2024-08-01")}, nil, "withdrawn", "withdrawal_undated", "w"},
	{"an undated withdrawal against a receipt from after its export", []Event{obtained(event("w", "withdrawn", LegacyAssertion, ""), "2024-06-01"), event("r", "given", Receipt, "2024-08-01")}, nil, "given", "receipt_later", "r"},
	{"two withdrawals, a receipt later than only one", []Event{event("w1", "withdrawn", Receipt, "2024-03-01"), event("w2", "withdrawn", LegacyAssertion, "2024-05-01"), event("r", "given", Receipt, "2024-04-01")}, nil, "withdrawn", "withdrawal", "w2"},
	{"a refusal after a receipt", []Event{event("r", "given", Receipt, "2024-03-01"), event("n", "refused", LegacyAssertion, "2024-04-01")}, nil, "refused", "refusal", "n"},
	{"an assertion later than a refusal", []Event{event("n", "refused", LegacyAssertion, "2024-03-01"), event("a", "given", LegacyAssertion, "2024-04-01")}, nil, "refused", "refusal", "n"},
	{"an undated refusal", []Event{event("n", "refused", LegacyAssertion, ""), event("a", "given", LegacyAssertion, "2024-04-01")}, nil, "refused", "refusal_undated", "n"},
	{"a repeated answer restamps nothing", []Event{event("a", "given", LegacyAssertion, "2024-04-01"), event("a", "given", LegacyAssertion, "2024-04-01"), event("w", "withdrawn", LegacyAssertion, "2024-03-01")}, nil, "withdrawn", "withdrawal", "w"},

	{"the source says expired", []Event{event("a", "given", LegacyAssertion, "2022-03-01"), event("x", "expired", LegacyAssertion, "2024-03-01")}, nil, "expired", "expiry", "x"},
	{"an undated expiry", []Event{event("a", "given", LegacyAssertion, "2024-03-01"), event("x", "expired", LegacyAssertion, "")}, nil, "expired", "expiry", "x"},
	{"a consent provably later than an expiry", []Event{event("x", "expired", LegacyAssertion, "2024-03-01"), event("a", "given", LegacyAssertion, "2024-04-01")}, nil, "given", "assertion", "a"},
	{"a consent past its own end", []Event{ending(event("r", "given", Receipt, "2022-03-01"), "2024-03-01")}, nil, "expired", "lapse", "r"},
	{"a consent not yet past its end", []Event{ending(event("r", "given", Receipt, "2022-03-01"), "2025-03-01")}, nil, "given", "receipt", "r"},
	{"a renewal after a consent that lapsed", []Event{ending(event("a1", "given", LegacyAssertion, "2022-03-01"), "2023-03-01"), event("a2", "given", LegacyAssertion, "2023-02-01")}, nil, "given", "assertion", "a2"},
	{"an undated assertion beside a consent that lapsed", []Event{ending(event("r", "given", Receipt, "2022-03-01"), "2023-03-01"), event("a", "given", LegacyAssertion, "")}, nil, "expired", "lapse", "r"},
	{"the lapse of an assertion does not end a receipt", []Event{event("r", "given", Receipt, "2022-03-01"), ending(event("a", "given", LegacyAssertion, ""), "2023-03-01")}, nil, "given", "receipt", "r"},
	{"a later receipt that has lapsed since", []Event{event("w", "withdrawn", LegacyAssertion, "2022-03-01"), ending(event("r", "given", Receipt, "2022-05-01"), "2023-05-01")}, nil, "expired", "lapse", "r"},
	{"an assertion after such a receipt revives nothing", []Event{event("w", "withdrawn", LegacyAssertion, "2022-03-01"), ending(event("r", "given", Receipt, "2022-05-01"), "2023-05-01"), event("a", "given", LegacyAssertion, "2024-03-01")}, nil, "expired", "lapse", "r"},
	{"a consent that only begins later", []Event{event("r", "given", Receipt, "2031-03-01")}, nil, "none", "not_begun", ""},
	{"a withdrawal counts whatever its date", []Event{event("r", "given", Receipt, "2024-03-01"), event("w", "withdrawn", LegacyAssertion, "2031-03-01")}, nil, "withdrawn", "withdrawal", "w"},

	{"suppressed but subscribed", []Event{event("a", "given", LegacyAssertion, "2024-03-01")}, []Suppression{suppression("s", "opt_out", "2024-02-01")}, "suppressed", "suppressed_opt_out", "s"},
	{"an objection after a receipt", []Event{event("r", "given", Receipt, "2024-03-01")}, []Suppression{suppression("s", "objection", "2024-04-01")}, "suppressed", "suppressed_objection", "s"},
	{"a receipt provably later than an objection", []Event{event("r", "given", Receipt, "2024-05-01")}, []Suppression{suppression("s", "objection", "2024-04-01")}, "given", "receipt", "r"},
	{"a receipt on the day of the objection", []Event{event("r", "given", Receipt, "2024-04-01")}, []Suppression{suppression("s", "objection", "2024-04-01")}, "suppressed", "suppressed_objection", "s"},
	{"undated opt-out beats dated assertion", []Event{event("a", "given", LegacyAssertion, "2024-08-01")}, []Suppression{suppression("s", "opt_out", "")}, "suppressed", "suppressed_opt_out", "s"},
	{"a complaint", []Event{event("a", "given", LegacyAssertion, "2024-03-01")}, []Suppression{suppression("s", "complaint", "2024-02-01")}, "suppressed", "suppressed_complaint", "s"},
	{"a legal block is lifted by no consent", []Event{event("r", "given", Receipt, "2024-05-01")}, []Suppression{suppression("s", "legal", "2024-02-01")}, "suppressed", "suppressed_legal", "s"},
	{"a bounce blocks the contact point, and no consent mends it", []Event{event("r", "given", Receipt, "2024-05-01")}, []Suppression{suppression("s", "bounce", "2024-02-01")}, "suppressed", "suppressed_bounce", "s"},
	{"an invalid contact point", []Event{event("a", "given", LegacyAssertion, "2024-05-01")}, []Suppression{suppression("s", "invalid", "")}, "suppressed", "suppressed_invalid", "s"},
	{"several suppressions: the gravest is named", []Event{event("a", "given", LegacyAssertion, "2024-05-01")}, []Suppression{suppression("s1", "bounce", ""), suppression("s2", "opt_out", "2024-02-01"), suppression("s3", "objection", "2024-02-01")}, "suppressed", "suppressed_objection", "s3"},
	{"several of one reason: the latest is named", nil, []Suppression{suppression("s1", "opt_out", "2024-02-01"), suppression("s2", "opt_out", "2024-03-01"), suppression("s3", "opt_out", "2024-03-01")}, "suppressed", "suppressed_opt_out", "s2"},
	{"a suppression without any consent", nil, []Suppression{suppression("s", "opt_out", "2024-02-01")}, "suppressed", "suppressed_opt_out", "s"},
}

var stateAt = at("2024-10-01T00:00:00Z")

func TestState(t *testing.T) {
	for _, tt := range precedenceCases {
		t.Run(tt.name, func(t *testing.T) {
			got := State(tt.events, tt.suppressions, stateAt)
			if got.Status != tt.status || got.Because != tt.because || got.By != tt.by {
				t.Errorf("State = %s because %s by %q, want %s because %s by %q", got.Status, got.Because, got.By, tt.status, tt.because, tt.by)
			}
			if want := State(tt.events, nil, stateAt).Status; got.Consent != want {
				t.Errorf("Consent = %s, but the events alone say %s", got.Consent, want)
			}
			if !slices.ContainsFunc(Because, func(b struct{ Word, Meaning string }) bool { return b.Word == got.Because }) {
				t.Errorf("%s is not explained", got.Because)
			}
		})
	}
}

func TestBounceIsNoWithdrawal(t *testing.T) {
	got := State([]Event{event("a", "given", LegacyAssertion, "2024-03-01")}, []Suppression{suppression("s", "bounce", "")}, stateAt)
	if got.Status != StatusSuppressed || got.Consent != StatusGiven {
		t.Errorf("State = %+v: the point is blocked, the consent stays given", got)
	}
}

func TestWithoutTheExportsTimeNothingIsLaterThanSomethingUndated(t *testing.T) {
	w := event("w", "withdrawn", LegacyAssertion, "")
	w.ObtainedAt = 0
	got := State([]Event{w, event("r", "given", Receipt, "2024-03-01")}, nil, stateAt)
	if got.Status != StatusWithdrawn {
		t.Errorf("State = %+v", got)
	}
}

// A wall clock without a zone is not provably later than a withdrawal of the same or the next day.
func TestProvablyLaterNeedsTheZone(t *testing.T) {
	w := event("w", "withdrawn", LegacyAssertion, "2024-04-01")
	r := Event{ID: "r", Status: StatusGiven, Class: Receipt, Dated: true}
	r.Earliest, r.Latest = Window(when("2024-04-02T10:00:00Z", "", "second"))
	if got := State([]Event{w, r}, nil, stateAt); got.Status != StatusWithdrawn {
		t.Errorf("State = %+v", got)
	}
	r.Earliest, r.Latest = Window(when("2024-04-02T10:00:00Z", "UTC", "second"))
	if got := State([]Event{w, r}, nil, stateAt); got.Status != StatusGiven {
		t.Errorf("State = %+v", got)
	}
}

func TestScope(t *testing.T) {
	tests := []struct {
		name            string
		scope, key      Scope
		grants, opposes bool
	}{
		{"the same", Scope{"news", "email"}, Scope{"news", "email"}, true, true},
		{"another purpose", Scope{"news", "email"}, Scope{"offers", "email"}, false, false},
		{"the purpose in other case", Scope{"News", "email"}, Scope{"news", "email"}, false, true},
		{"another channel", Scope{"news", "sms"}, Scope{"news", "email"}, false, false},
		{"channel any", Scope{"news", "any"}, Scope{"news", "email"}, true, true},
		{"blank channel", Scope{"news", ""}, Scope{"news", "email"}, false, true},
		{"blank purpose", Scope{"", "email"}, Scope{"news", "email"}, false, true},
		{"a key without channel", Scope{"news", "email"}, Scope{"news", ""}, false, true},
		{"a key for any channel", Scope{"news", "email"}, Scope{"news", "any"}, false, true},
		{"all blank", Scope{}, Scope{}, true, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.scope.Grants(tt.key); got != tt.grants {
				t.Errorf("Grants = %v, want %v", got, tt.grants)
			}
			if got := tt.scope.Opposes(tt.key); got != tt.opposes {
				t.Errorf("Opposes = %v, want %v", got, tt.opposes)
			}
		})
	}
}

func TestStateFor(t *testing.T) {
	scoped := func(e Event, purpose, channel string) Event { e.Scope = Scope{purpose, channel}; return e }
	events := []Event{
		scoped(event("a", "given", LegacyAssertion, "2024-03-01"), "news", "any"),
		scoped(event("w", "withdrawn", LegacyAssertion, ""), "news", "sms"),
	}
	suppressions := []Suppression{suppression("s", "opt_out", "")}
	suppressions[0].Scope.Channel = "post"
	for channel, want := range map[string]string{"email": "given", "sms": "withdrawn", "post": "suppressed", "any": "suppressed"} {
		if got := StateFor(Scope{"news", channel}, events, suppressions, stateAt); got.Status != want {
			t.Errorf("%s: %+v, want %s", channel, got, want)
		}
	}
	if got := StateFor(Scope{"offers", "email"}, events, suppressions, stateAt); got.Status != StatusNone {
		t.Errorf("another purpose: %+v", got)
	}
}

func TestOverruled(t *testing.T) {
	w := event("w", "withdrawn", LegacyAssertion, "2024-04-01")
	a := event("a", "given", LegacyAssertion, "2024-05-01")
	r := event("r", "given", Receipt, "2024-05-01")
	tests := []struct {
		name    string
		given   Event
		against []Event
		supp    []Suppression
		want    bool
		why     string
	}{
		{"nothing against", a, nil, nil, false, ""},
		{"a withdrawal", a, []Event{w}, nil, true, "withdrawal"},
		{"an earlier withdrawal against a receipt", r, []Event{w}, nil, false, ""},
		{"another consent never overrules", a, []Event{r}, nil, false, ""},
		{"a receipt beside it does not save an assertion", a, []Event{w, r}, nil, true, "withdrawal"},
		{"an end of its own does not overrule", ending(a, "2024-06-01"), nil, nil, false, ""},
		{"an expiry", a, []Event{event("x", "expired", LegacyAssertion, "2024-06-01")}, nil, true, "expiry"},
		{"a suppression", a, nil, []Suppression{suppression("s", "complaint", "")}, true, "suppressed_complaint"},
		{"a bounce", r, nil, []Suppression{suppression("s", "bounce", "")}, true, "suppressed_bounce"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, why := Overruled(tt.given, tt.against, tt.supp)
			if got != tt.want || why != tt.why {
				t.Errorf("Overruled = %v, %q, want %v, %q", got, why, tt.want, tt.why)
			}
		})
	}
}

func TestEventOf(t *testing.T) {
	rec := newRecord("consent", map[string]Value{
		"status": text("given"), "purpose": text("news"), "channel": text("email"),
		"occurred_at": when("2024-03-13T23:00:00Z", "Europe/Berlin", "day"),
		"expires_at":  when("2025-03-13T23:00:00Z", "Europe/Berlin", "day"),
	})
	got := EventOf(rec, "e1", Receipt, 7)
	want := Event{ID: "e1", Status: "given", Class: Receipt, Scope: Scope{"news", "email"}, Dated: true,
		Earliest: at("2024-03-13T23:00:00Z"), Latest: at("2024-03-14T22:59:59.999999Z"), ObtainedAt: 7, ExpiresAt: at("2025-03-13T23:00:00Z")}
	if got != want {
		t.Errorf("EventOf = %+v, want %+v", got, want)
	}
	s := SuppressionOf(newRecord("suppression", map[string]Value{"channel": text("any"), "reason": text("bounce")}), "s1", 7)
	if s != (Suppression{ID: "s1", Reason: "bounce", Scope: Scope{Channel: "any"}, ObtainedAt: 7}) {
		t.Errorf("SuppressionOf = %+v", s)
	}
}

func TestEverySuppressionReasonHasARank(t *testing.T) {
	for _, reason := range suppressionReason {
		if _, ok := suppressionRank[reason.Name]; !ok {
			t.Errorf("%s has no rank", reason.Name)
		}
		if deliveryOnly(reason.Name) && Lifts(reason.Name) {
			t.Errorf("%s is about delivery, and a consent lifts it", reason.Name)
		}
	}
}

func drawEvents(t *rapid.T, label string, statuses []string, classes []Class) []Event {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Event {
		e := Event{
			ID:         rapid.StringMatching(`[a-z0-9]{6}`).Draw(t, "id"),
			Status:     rapid.SampledFrom(statuses).Draw(t, "status"),
			Class:      rapid.SampledFrom(classes).Draw(t, "class"),
			ObtainedAt: rapid.Int64Range(0, 40).Draw(t, "obtained"),
			ExpiresAt:  rapid.SampledFrom([]int64{0, 0, 10, 20, 30}).Draw(t, "expires"),
		}
		if e.Class == Receipt || rapid.Bool().Draw(t, "dated") {
			e.Dated = true
			e.Earliest = rapid.Int64Range(1, 40).Draw(t, "earliest")
			e.Latest = e.Earliest + rapid.Int64Range(0, 5).Draw(t, "width")
		}
		return e
	}), 0, 6).Draw(t, label)
}

func drawSuppressions(t *rapid.T) []Suppression {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Suppression {
		s := Suppression{
			ID:         rapid.StringMatching(`[a-z0-9]{6}`).Draw(t, "id"),
			Reason:     rapid.SampledFrom(suppressionReason).Draw(t, "reason").Name,
			ObtainedAt: rapid.Int64Range(0, 40).Draw(t, "obtained"),
		}
		if rapid.Bool().Draw(t, "dated") {
			s.Dated = true
			s.Earliest = rapid.Int64Range(1, 40).Draw(t, "earliest")
			s.Latest = s.Earliest + rapid.Int64Range(0, 5).Draw(t, "width")
		}
		return s
	}), 0, 3).Draw(t, "suppressions")
}

var (
	allStatuses = []string{StatusGiven, StatusRefused, StatusWithdrawn, StatusExpired}
	allClasses  = []Class{Receipt, LegacyAssertion}
)

// No sequence of assertions turns withdrawn, refused or suppressed into given.
func TestAssertionsNeverRaiseConsent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		events := drawEvents(t, "events", allStatuses, allClasses)
		suppressions := drawSuppressions(t)
		at := rapid.Int64Range(1, 50).Draw(t, "at")
		before := State(events, suppressions, at)
		more := drawEvents(t, "assertions", allStatuses, []Class{LegacyAssertion})
		after := State(slices.Concat(events, more), suppressions, at)
		switch before.Status {
		case StatusWithdrawn, StatusRefused, StatusSuppressed:
			if after.Status == StatusGiven {
				t.Fatalf("%+v became %+v by assertions", before, after)
			}
		}
	})
}

// Withdrawn, refused or suppressed becomes given only by a receipt provably later than all of it.
func TestOnlyAProvablyLaterReceiptRaisesConsent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		events := drawEvents(t, "events", allStatuses, allClasses)
		suppressions := drawSuppressions(t)
		at := rapid.Int64Range(1, 50).Draw(t, "at")
		got := State(events, suppressions, at)
		if got.Status != StatusGiven {
			return
		}
		receipt := func(latest int64) bool {
			return slices.ContainsFunc(events, func(e Event) bool {
				return e.Status == StatusGiven && e.Class == Receipt && e.Dated && e.Earliest > latest && e.Earliest <= at
			})
		}
		for i := range events {
			if e := &events[i]; e.against() && !receipt(e.latest()) {
				t.Fatalf("%+v stands against %+v", *e, got)
			}
		}
		for i := range suppressions {
			if s := &suppressions[i]; !receipt(s.latest()) || !Lifts(s.Reason) {
				t.Fatalf("%+v stands against %+v", *s, got)
			}
		}
	})
}

// The order of events and suppressions never matters, and a repeat changes nothing.
func TestOrderNeverMatters(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		events := drawEvents(t, "events", allStatuses, allClasses)
		suppressions := drawSuppressions(t)
		// An id names one event, and one suppression.
		slices.SortFunc(events, func(a, b Event) int { return strings.Compare(a.ID, b.ID) })
		events = slices.CompactFunc(events, func(a, b Event) bool { return a.ID == b.ID })
		slices.SortFunc(suppressions, func(a, b Suppression) int { return strings.Compare(a.ID, b.ID) })
		suppressions = slices.CompactFunc(suppressions, func(a, b Suppression) bool { return a.ID == b.ID })
		at := rapid.Int64Range(1, 50).Draw(t, "at")
		want := State(events, suppressions, at)
		shuffled := slices.Clone(rapid.Permutation(events).Draw(t, "order"))
		if len(shuffled) > 0 {
			shuffled = append(shuffled, rapid.SampledFrom(events).Draw(t, "repeat"))
		}
		if got := State(shuffled, rapid.Permutation(suppressions).Draw(t, "list"), at); got != want {
			t.Fatalf("State = %+v, in another order %+v", want, got)
		}
	})
}
