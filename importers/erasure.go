package importers

// Erasure is one fulfilled erasure request of a subject. Times are microseconds since 1970 UTC.
type Erasure struct {
	ID         string
	Dated      bool
	Latest     int64 // the latest possible instant of its closing, if Dated
	ObtainedAt int64 // when the tracker's export was obtained, 0 if not known; an undated closing counts as of then
}

// ErasureOf makes the erasure of a case record; ok is false for any other case. The closing counts, not the receipt: what
// was recorded in between was erased too.
func ErasureOf(rec *Record, id string, obtainedAt int64) (e Erasure, ok bool) {
	if rec.Get("request_type").Text != "erasure" || rec.Get("status").Text != "closed_fulfilled" {
		return e, false
	}
	e = Erasure{ID: id, ObtainedAt: obtainedAt}
	if at := rec.Get("closed_at"); at.Set {
		e.Dated = true
		_, e.Latest = Window(*at)
	}
	return e, true
}

// Erased reports whether a consent event must be rejected (rule subject.erased, class POLICY_BLOCK) because its subject was
// erased, and by which erasure. Only later evidence brings the subject back: for a given consent a receipt that is provably
// later than every erasure; for a refusal, withdrawal or expiry, which grant nothing, its provably later date is enough.
// The order of erasures does not matter: of several the latest is named.
func Erased(e Event, erasures []Erasure) (rejected bool, by string) {
	var worst *Erasure
	for i := range erasures {
		x := &erasures[i]
		latest := latestOf(x.Dated, x.Latest, x.ObtainedAt)
		if e.overrides(latest) || e.Status != StatusGiven && e.earliest() > latest {
			continue
		}
		if worst == nil {
			worst = x
			continue
		}
		if w := latestOf(worst.Dated, worst.Latest, worst.ObtainedAt); latest > w || latest == w && x.ID < worst.ID {
			worst = x
		}
	}
	if worst == nil {
		return false, ""
	}
	return true, worst.ID
}

// CaseOpposes reports whether a case is itself an act against consent: an objection, or a request to withdraw consent, counts
// as of its receipt, whatever became of the case, unless the requester took it back.
func CaseOpposes(requestType, status string) bool {
	return (requestType == "objection" || requestType == "withdraw_consent") && status != "withdrawn"
}

// CaseEvent makes the withdrawal event of such a case; ok is false for any other case.
func CaseEvent(rec *Record, id string, obtainedAt int64) (e Event, ok bool) {
	if !CaseOpposes(rec.Get("request_type").Text, rec.Get("status").Text) {
		return e, false
	}
	// The case's channel says how the request came in, not what it is about: the withdrawal covers every channel.
	e = Event{
		ID: id, Status: StatusWithdrawn, Class: LegacyAssertion, ObtainedAt: obtainedAt,
		Scope: Scope{Purpose: rec.Get("purpose").Text},
	}
	if at := rec.Get("received_at"); at.Set {
		e.Dated = true
		e.Earliest, e.Latest = Window(*at)
	}
	return e, true
}
