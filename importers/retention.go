package importers

import (
	"slices"
	"time"
)

// RetentionRule is an imported retention rule: records of an entity (of one purpose, or of any) are kept that many months
// from their start.
type RetentionRule struct {
	ID      string
	Entity  string
	Purpose string // "" for every purpose
	Months  int
	Starts  string // occurred, closed, withdrawn, obtained
}

// RetentionRuleOf makes the rule of a retention_rule record.
func RetentionRuleOf(rec *Record) RetentionRule {
	return RetentionRule{
		ID: rec.Get("rule_id").Text, Entity: rec.Get("entity").Text, Purpose: rec.Get("purpose").Text,
		Months: int(rec.Get("months").Int), Starts: rec.Get("starts").Text,
	}
}

// Expiry returns the instant (microseconds since 1970 UTC) at which the rule says the record's time is over; ok is false
// when the rule does not govern the record or its months have not begun to count (an open case, a consent not withdrawn).
//
// The months count from the latest instant the start can mean, on the calendar of its zone, clamped to the month's end: a
// record is never called expired too early. What must have happened but bears no date counts from obtainedAt, the latest
// it can have happened.
func (r RetentionRule) Expiry(rec *Record, obtainedAt int64) (at int64, ok bool) {
	if r.Entity != rec.Entity.Name || r.Purpose != "" && r.Purpose != rec.Get("purpose").Text {
		return 0, false
	}
	start := &Value{}
	switch r.Starts {
	case "occurred":
		start = rec.Get("occurred_at")
		if rec.Entity.Name == "case" {
			start = rec.Get("received_at")
		}
	case "closed":
		if rec.Entity.Name != "case" || rec.Get("status").Text == "open" {
			return 0, false
		}
		start = rec.Get("closed_at")
	case "withdrawn":
		if rec.Entity.Name != "consent" || rec.Get("status").Text != StatusWithdrawn {
			return 0, false
		}
		start = rec.Get("occurred_at")
	case "obtained":
	default:
		return 0, false
	}
	from, loc := obtainedAt, time.UTC
	if start.Set {
		_, from = Window(*start)
		if l := Location(start.Zone); l != nil {
			loc = l
		}
	} else if obtainedAt == 0 {
		return 0, false
	}
	return plusMonths(time.UnixMicro(from).In(loc), r.Months).UnixMicro(), true
}

// RetentionExpiry returns when the record's time is over under these rules, and the rule that says so. A rule of the
// record's purpose goes before rules for every purpose; of several the earliest end counts.
func RetentionExpiry(rec *Record, rules []RetentionRule, obtainedAt int64) (at int64, rule string, ok bool) {
	special := slices.ContainsFunc(rules, func(r RetentionRule) bool {
		return r.Purpose != "" && r.Entity == rec.Entity.Name && r.Purpose == rec.Get("purpose").Text
	})
	for _, r := range rules {
		if special && r.Purpose == "" {
			continue
		}
		end, governs := r.Expiry(rec, obtainedAt)
		if governs && (!ok || end < at || end == at && r.ID < rule) {
			at, rule, ok = end, r.ID, true
		}
	}
	return at, rule, ok
}
