package pipeline

import (
	"fmt"
	"hash/maphash"
	"slices"
	"strings"

	"sheetlift/importers"
	"sheetlift/mappings"
)

// A rejected row is heard until it comes back. What comes back under its key may say something else, or of somebody else: then what it said
// against consents is gone without ever having come in, and that is shown.

const refusalReplaced = "consent.refusal_replaced"

// opposition is what a record says against consents or of an erased subject; empty if nothing.
func opposition(rec *importers.Record) string {
	switch {
	case !speaks(rec):
		return ""
	case rec.Entity.Name == "suppression":
		return rec.Get("reason").Text
	case rec.Entity.Name == "case":
		return rec.Get("request_type").Text
	}
	return rec.Get("status").Text
}

// takesBack reports whether now says less against consents than was, in a record of the entity.
func takesBack(e *importers.Entity, was, now string) bool {
	return now == "" || e.Name == "suppression" && !importers.AsStrong(was, now)
}

// refusal is what a record says against consents, as far as it is compared with what came in its place.
type refusal struct {
	says  string // see opposition
	scope importers.Scope
	who   [4]uint64 // hashes of the subject's identifiers, by kind as in importers.SubjectFields; 0 if it has none
}

// refusalOf gives what a record says against consents; nil if nothing.
func (c *came) refusalOf(rec *importers.Record, keys []importers.Key) *refusal {
	r := &refusal{says: opposition(rec)}
	switch {
	case r.says == "":
		return nil
	case rec.Entity.Name == "suppression":
		r.scope = importers.SuppressionOf(rec, "", 0).Scope
	case rec.Entity.Name == "case":
		ev, _ := importers.CaseEvent(rec, "", 0) // an erasure is of everything
		r.scope = ev.Scope
	default:
		r.scope = importers.EventOf(rec, "", importers.LegacyAssertion, 0).Scope
	}
	for _, k := range keys {
		if i := slices.Index(importers.SubjectFields(), k.Kind); i >= 0 {
			r.who[i] = max(1, maphash.String(c.seed, k.Value))
		}
	}
	return r
}

// about reports whether now speaks of the subject that r speaks of: the subject id decides if both have one. Who could not be read is nobody.
func (r *refusal) about(now *refusal) bool {
	shared, some := false, false
	for i, who := range r.who {
		some = some || who != 0
		if who == 0 || now.who[i] == 0 {
			continue
		}
		if shared = shared || who == now.who[i]; i == 0 {
			return shared
		}
	}
	return shared || !some
}

// cameAgainst notes what a record that came says against consents. Of a history, an event that the register holds stands for itself alone.
func (d *dryRunner) cameAgainst(c *came, num int, x *identified) {
	r := c.refusalOf(&x.Record, x.keys)
	if r == nil || x.History && d.facts.heldState(x) == heldSame {
		return
	}
	for _, s := range []*string{&r.says, &r.scope.Purpose, &r.scope.Channel} { // they may lie in a block of rows
		if _, ok := c.words[*s]; !ok {
			own := strings.Clone(*s)
			c.words[own] = own
		}
		*s = c.words[*s]
	}
	key := x.Entity.Name + "\x00" + x.Key
	k := c.keys[key]
	if !slices.Contains(k.against, *r) {
		k.against = append(k.against, *r)
		c.keys[key] = k
	}
	if row := c.rows[num]; row != nil {
		row[x.Entity.Name] = append(row[x.Entity.Name], *r)
	}
}

// lost says how what stands in the place of a refusal says less than it did; empty if one of it says as much. A purpose that nobody has, or
// that could not be read, and so a channel, is taken to be what was wrong with the row.
func (l *leavings) lost(e *importers.Entity, was *refusal, now []refusal) string {
	if !l.facts.config("purpose", was.scope.Purpose) {
		was.scope.Purpose = ""
	}
	how := "says otherwise"
	for i := range now {
		n := &now[i]
		switch {
		case takesBack(e, was.says, n.says):
		case !was.about(n):
			how = "says no of somebody else, or of nobody"
		case was.scope.Purpose != "" && n.scope.Purpose != "" && was.scope.Purpose != n.scope.Purpose,
			was.scope.Channel != "" && n.scope.Channel != "" && n.scope.Channel != "any" && was.scope.Channel != n.scope.Channel:
			how = "says no to another purpose or on another channel"
		default:
			return ""
		}
	}
	return how
}

// tookPlace notes of a rejected row of an earlier snapshot that came back with this one whether it says less against consents than it did.
func (l *leavings) tookPlace(fr *FreezeResult, s *Source, plan *mappings.Plan, row *mappings.Row, now *came, at spoken) {
	told := false
	said(row, func(_ int, rec *mappings.RecordOut) {
		if told || now == nil {
			return
		}
		key := rec.Key
		for _, n := range plan.Named(row) {
			if n.Spec == rec.Spec {
				key = n.Key
			}
		}
		was, in := now.refusalOf(&rec.Record, importers.SubjectKeys(&rec.Record, s.System)), now.keys[rec.Entity.Name+"\x00"+key]
		says, num := in.against, in.first
		if back, ok := now.rows[row.Num]; ok && l.from.of(fr.Snapshot, s.Name) == l.from.of(l.snap.name, s.Name) {
			says, num = back[rec.Entity.Name], row.Num
		}
		if num == 0 {
			return // not this record came back
		}
		how := l.lost(rec.Entity, was, says)
		if how == "" {
			return
		}
		told = true
		at.snapshot, at.number = fr.Snapshot, fr.Number
		x := newSpoken("", s, rec, at)
		f := x.finding(refusalReplaced)
		if x.first.Value != "" {
			f.SubjectToken = l.token(x.first.Kind, x.first.Value)
		}
		f.Message = fmt.Sprintf("The rejected row of snapshot %s speaks against consents (%s) and never came in; row %d of source %s in this snapshot stands in its place and %s, so nothing says any more what it said.", fr.Snapshot, was.says, num, s.Name, how)
		l.tookBack = append(l.tookBack, f)
	})
}
