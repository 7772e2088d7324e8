package importers

import (
	"math"
	"strings"
)

// The statuses of a consent event, and two more that only an effective state can have.
const (
	StatusGiven      = "given"
	StatusRefused    = "refused"
	StatusWithdrawn  = "withdrawn"
	StatusExpired    = "expired"
	StatusSuppressed = "suppressed"
	StatusNone       = "none"
)

// Scope is what a consent or a suppression is about. In a given consent a blank purpose or channel covers nothing in
// particular; in what speaks against one it covers everything. Channel "any" covers every channel.
type Scope struct {
	Purpose string
	Channel string
}

// Grants reports whether a consent given for s is one for key.
func (s Scope) Grants(key Scope) bool {
	return s.Purpose == key.Purpose && (s.Channel == key.Channel || s.Channel == "any")
}

// Opposes reports whether a refusal, withdrawal, expiry or suppression of s stands against a consent for key. Where either
// of the two does not say, it does. A purpose that is written in other letters' case is taken for the same, as far as a no goes.
func (s Scope) Opposes(key Scope) bool {
	return (strings.EqualFold(s.Purpose, key.Purpose) || s.Purpose == "" || key.Purpose == "") &&
		(s.Channel == key.Channel || anyChannel(s.Channel) || anyChannel(key.Channel))
}

// FoldPurpose gives the same text for purposes that Opposes takes for the same.
func FoldPurpose(code string) string { return fold(code) }

func anyChannel(c string) bool { return c == "" || c == "any" }

// Event is one consent event of one subject. Times are microseconds since 1970 UTC.
type Event struct {
	ID         string
	Status     string // given, refused, withdrawn, expired
	Class      Class
	Scope      Scope
	Dated      bool
	Earliest   int64 // possible instants, if Dated (see Window)
	Latest     int64
	ObtainedAt int64 // when the export that holds it was obtained, 0 if not known; an undated event counts as of then
	ExpiresAt  int64 // when a given consent ends by itself; 0 if it does not
}

// Suppression is one entry of a suppression list that reaches the subject (see Reaches).
type Suppression struct {
	ID         string
	Reason     string // objection, opt_out, complaint, bounce, invalid, legal
	Scope      Scope
	Dated      bool
	Earliest   int64
	Latest     int64
	ObtainedAt int64
}

// EventOf makes the event of a consent record. class is that of its Verdict.
func EventOf(rec *Record, id string, class Class, obtainedAt int64) Event {
	x := Consent()
	e := Event{
		ID: id, Status: rec.Values[x.Status].Text, Class: class, ObtainedAt: obtainedAt,
		Scope: Scope{rec.Values[x.Purpose].Text, rec.Values[x.Channel].Text},
	}
	if at := rec.Values[x.OccurredAt]; at.Set {
		e.Dated = true
		e.Earliest, e.Latest = Window(*at)
	}
	if end := rec.Values[x.ExpiresAt]; end.Set {
		e.ExpiresAt, _ = Window(*end) // the earliest it can mean: a consent is not used past its end
	}
	return e
}

// SuppressionOf makes the suppression of a suppression record.
func SuppressionOf(rec *Record, id string, obtainedAt int64) Suppression {
	s := Suppression{ID: id, Reason: rec.Get("reason").Text, Scope: Scope{Channel: rec.Get("channel").Text}, ObtainedAt: obtainedAt}
	if at := rec.Get("occurred_at"); at.Set {
		s.Dated = true
		s.Earliest, s.Latest = Window(*at)
	}
	return s
}

// earliest and latest bound the instants an event can stand for: an undated one can be any time up to its export.
func (e *Event) earliest() int64 {
	if e.Dated {
		return e.Earliest
	}
	return never
}

func (e *Event) latest() int64 {
	return latestOf(e.Dated, e.Latest, e.ObtainedAt)
}

func (s *Suppression) latest() int64 {
	return latestOf(s.Dated, s.Latest, s.ObtainedAt)
}

// latestOf is the latest possible instant: of something undated, when its export was obtained; if that is not known
// either, nothing can be shown to be later.
func latestOf(dated bool, latest, obtainedAt int64) int64 {
	switch {
	case dated:
		return latest
	case obtainedAt == 0:
		return math.MaxInt64
	}
	return obtainedAt
}

// against reports whether the event is a decision against: only a provably later receipt overrides it.
func (e *Event) against() bool { return e.Status == StatusWithdrawn || e.Status == StatusRefused }

func (e *Event) lapsed(at int64) bool {
	return e.Status == StatusGiven && e.ExpiresAt != 0 && e.ExpiresAt <= at
}

// deliveryOnly reports whether the reason is about the contact point and no act of the person.
func deliveryOnly(reason string) bool { return reason == "bounce" || reason == "invalid" }

// Lifts reports whether a provably later receipt lifts a suppression of this reason. It does where the person spoke
// (objection, opt_out, complaint). It does not mend an address (bounce, invalid) nor undo a legal block.
func Lifts(reason string) bool {
	return reason == "objection" || reason == "opt_out" || reason == "complaint"
}

// overrides reports whether e is a given receipt that is provably later than latest: its own earliest possible instant
// comes after. A tie is no proof.
func (e *Event) overrides(latest int64) bool {
	return e.Status == StatusGiven && e.Class == Receipt && e.Dated && e.Earliest > latest
}

// ends reports whether o ends the given consent g, as an expiry does: o says expired or has lapsed itself, and g is not
// provably later. The lapse of an assertion does not end a receipt.
func (o *Event) ends(g *Event, at int64) bool {
	switch {
	case o.Status == StatusExpired:
	case o.lapsed(at) && (o.Class == Receipt || g.Class != Receipt):
	default:
		return false
	}
	return g.earliest() <= o.latest()
}

// Effective is the state of one (subject, purpose, channel).
type Effective struct {
	Status  string // given, refused, withdrawn, expired, suppressed, none
	Because string // rule word, see Because
	By      string // id of the event or suppression that decides; empty for none
	Consent string // the state of the events alone, which a suppression covers but does not change
}

// Because explains the rule words of Effective and Overruled.
var Because = []struct{ Word, Meaning string }{
	{"receipt", "a receipt says given, and nothing speaks against it"},
	{"receipt_later", "a receipt says given, and it is provably later than all that speaks against it"},
	{"assertion", "a legacy assertion says given, and nothing speaks against it"},
	{"withdrawal", "a dated withdrawal, and no receipt is provably later"},
	{"withdrawal_undated", "an undated withdrawal counts as of its export, and no receipt is provably later"},
	{"refusal", "a dated refusal, and no receipt is provably later"},
	{"refusal_undated", "an undated refusal counts as of its export, and no receipt is provably later"},
	{"expiry", "the source says the consent expired, and none is provably later"},
	{"lapse", "the consent's own end has passed, and none is provably later"},
	{"suppressed_legal", "a legal block, which no consent lifts"},
	{"suppressed_objection", "an objection, and no receipt is provably later"},
	{"suppressed_opt_out", "an opt-out, and no receipt is provably later"},
	{"suppressed_complaint", "a complaint, and no receipt is provably later"},
	{"suppressed_invalid", "the contact point is invalid; no withdrawal, but it must not be used on this channel"},
	{"suppressed_bounce", "the contact point bounced; no withdrawal, but it must not be used on this channel"},
	{"not_begun", "what is given only begins later"},
	{"erased", "the subject's erasure is fulfilled, and no receipt is provably later"},
	{"no_event", "nobody has said anything"},
}

// suppressionRank orders suppressions when several stand: the first is named.
var suppressionRank = map[string]int{"legal": 0, "objection": 1, "opt_out": 2, "complaint": 3, "invalid": 4, "bounce": 5}

// StateFor is State over the events and suppressions that concern key.
func StateFor(key Scope, events []Event, suppressions []Suppression, at int64) Effective {
	var es []Event
	for i := range events {
		e := &events[i]
		if e.Status == StatusGiven && e.Scope.Grants(key) || e.Status != StatusGiven && e.Scope.Opposes(key) {
			es = append(es, *e)
		}
	}
	var ss []Suppression
	for i := range suppressions {
		if suppressions[i].Scope.Opposes(key) {
			ss = append(ss, suppressions[i])
		}
	}
	return State(es, ss, at)
}

// StateAfter is StateFor of a subject of whom erasures were fulfilled: a consent that none of them leaves (see Erased) is good for
// nothing, wherever it is still held.
func StateAfter(erasures []Erasure, key Scope, events []Event, suppressions []Suppression, at int64) Effective {
	var left []Event
	erased := ""
	for _, e := range events {
		gone, by := Erased(e, erasures)
		if !gone || e.Status != StatusGiven {
			left = append(left, e)
		} else if e.Scope.Grants(key) {
			erased = by
		}
	}
	out := StateFor(key, left, suppressions, at)
	if erased != "" && out.Because == "no_event" {
		out.Because, out.By = "erased", erased
	}
	return out
}

// State works out the effective state at an instant from the events of one (subject, purpose, channel) and the suppressions
// that reach it. The order of either list does not matter, and a repeated event changes nothing.
//
// A consent stands if it has begun and not lapsed, no expiry ends it, and either nothing speaks against it or it is itself
// a receipt provably later than every withdrawal and refusal. Decisions against count whatever their date, after at too.
func State(events []Event, suppressions []Suppression, at int64) Effective {
	out := stateOfEvents(events, at)
	out.Consent = out.Status
	var stands *Suppression
	for i := range suppressions {
		s := &suppressions[i]
		if lifted(s, events, at) {
			continue
		}
		if stands == nil || betterSuppression(s, stands) {
			stands = s
		}
	}
	if stands != nil {
		out.Status, out.Because, out.By = StatusSuppressed, "suppressed_"+stands.Reason, stands.ID
	}
	return out
}

func lifted(s *Suppression, events []Event, at int64) bool {
	if !Lifts(s.Reason) {
		return false
	}
	for i := range events {
		if e := &events[i]; e.overrides(s.latest()) && standing(e, events, at) {
			return true
		}
	}
	return false
}

func betterSuppression(a, b *Suppression) bool {
	ra, rb := suppressionRank[a.Reason], suppressionRank[b.Reason]
	switch {
	case ra != rb:
		return ra < rb
	case a.latest() != b.latest():
		return a.latest() > b.latest()
	}
	return a.ID < b.ID
}

// standing reports whether g is a given consent that holds at that time, on its own merit, against all events.
func standing(g *Event, events []Event, at int64) bool {
	if g.Status != StatusGiven || g.lapsed(at) || !begun(g, at) {
		return false
	}
	for i := range events {
		o := &events[i]
		if o.against() && !g.overrides(o.latest()) || o.ends(g, at) {
			return false
		}
	}
	return true
}

func begun(e *Event, at int64) bool { return !e.Dated || e.Earliest <= at }

func stateOfEvents(events []Event, at int64) Effective {
	var given, against, ended *Event
	opposed := false
	for i := range events {
		e := &events[i]
		switch {
		case e.against():
			opposed = true
			if !answered(e, events, at) && (against == nil || betterAgainst(e, against)) {
				against = e
			}
		case e.Status == StatusExpired || e.lapsed(at):
			if ended == nil || betterEnded(e, ended) {
				ended = e
			}
		case standing(e, events, at):
			if given == nil || betterGiven(e, given) {
				given = e
			}
		}
	}
	switch {
	case given != nil && given.Class == Receipt && opposed:
		return Effective{Status: StatusGiven, Because: "receipt_later", By: given.ID}
	case given != nil && given.Class == Receipt:
		return Effective{Status: StatusGiven, Because: "receipt", By: given.ID}
	case given != nil:
		return Effective{Status: StatusGiven, Because: "assertion", By: given.ID}
	case against != nil:
		return Effective{Status: against.Status, Because: againstWord(against), By: against.ID}
	case ended != nil && ended.Status == StatusExpired:
		return Effective{Status: StatusExpired, Because: "expiry", By: ended.ID}
	case ended != nil:
		return Effective{Status: StatusExpired, Because: "lapse", By: ended.ID}
	case len(events) > 0:
		return Effective{Status: StatusNone, Because: "not_begun"}
	}
	return Effective{Status: StatusNone, Because: "no_event"}
}

// answered reports whether a receipt that has begun is provably later than the decision against.
func answered(a *Event, events []Event, at int64) bool {
	for i := range events {
		if e := &events[i]; e.overrides(a.latest()) && begun(e, at) {
			return true
		}
	}
	return false
}

func againstWord(e *Event) string {
	word := "withdrawal"
	if e.Status == StatusRefused {
		word = "refusal"
	}
	if !e.Dated {
		word += "_undated"
	}
	return word
}

// The better functions pick the event that a state names, by content alone, so that order never matters.

func betterAgainst(a, b *Event) bool {
	switch {
	case a.latest() != b.latest():
		return a.latest() > b.latest()
	case a.Status != b.Status:
		return a.Status == StatusWithdrawn
	case a.Dated != b.Dated:
		return a.Dated
	}
	return a.ID < b.ID
}

func betterEnded(a, b *Event) bool {
	switch {
	case (a.Status == StatusExpired) != (b.Status == StatusExpired):
		return a.Status == StatusExpired
	case a.latest() != b.latest():
		return a.latest() > b.latest()
	}
	return a.ID < b.ID
}

func betterGiven(a, b *Event) bool {
	switch {
	case a.Class != b.Class:
		return a.Class == Receipt
	case a.earliest() != b.earliest():
		return a.earliest() > b.earliest()
	}
	return a.ID < b.ID
}

// Overruled reports whether a given consent does not stand because of what speaks against it, and the rule word that says
// why. Callers pass what concerns the consent (see Scope.Opposes and Reaches).
func Overruled(given Event, against []Event, suppressions []Suppression) (bool, string) {
	events := make([]Event, 0, len(against)+1)
	for i := range against {
		if against[i].Status != StatusGiven {
			events = append(events, against[i])
		}
	}
	given.ExpiresAt = 0 // an end of its own does not overrule it
	s := State(append(events, given), suppressions, math.MaxInt64)
	if s.Status == StatusGiven {
		return false, ""
	}
	return true, s.Because
}

// AsStrong reports whether a suppression of reason b takes nothing back of one of reason a: what the person said outranks a bounce,
// and only a receipt that is provably later can lift it.
func AsStrong(a, b string) bool {
	return suppressionRank[b] <= suppressionRank[a] || Lifts(a) && Lifts(b) || deliveryOnly(a) && deliveryOnly(b)
}
