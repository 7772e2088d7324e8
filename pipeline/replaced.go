package pipeline

import (
	"fmt"

	"sheetlift/importers"
	"sheetlift/mappings"
)

// A rejected row is heard until it comes back. What comes back under its key may say something else: then what it said against consents
// is gone without ever having come in, and that is shown.

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

// cameAgainst notes what a record that came says against consents. Of a history, an event that the register holds stands for itself alone.
func (d *dryRunner) cameAgainst(c *came, num int, x *identified) {
	says := opposition(&x.Record)
	if says == "" || x.History && d.facts.heldState(x) == heldSame {
		return
	}
	key := x.Entity.Name + "\x00" + x.Key
	if k := c.keys[key]; takesBack(x.Entity, says, k.against) {
		k.against = says
		c.keys[key] = k
	}
	if row := c.rows[num]; row != nil && takesBack(x.Entity, says, row[x.Entity.Name]) {
		row[x.Entity.Name] = says
	}
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
		was, in := opposition(&rec.Record), now.keys[rec.Entity.Name+"\x00"+key]
		says, num := in.against, in.first
		if back, ok := now.rows[row.Num]; ok && l.from.of(fr.Snapshot, s.Name) == l.from.of(l.snap.name, s.Name) {
			says, num = back[rec.Entity.Name], row.Num
		}
		if num == 0 || !takesBack(rec.Entity, was, says) {
			return // not this record came back
		}
		told = true
		at.snapshot, at.number = fr.Snapshot, fr.Number
		x := newSpoken("", s, rec, at)
		f := x.finding(refusalReplaced)
		if x.first.Value != "" {
			f.SubjectToken = l.token(x.first.Kind, x.first.Value)
		}
		f.Message = fmt.Sprintf("The rejected row of snapshot %s speaks against consents (%s) and never came in; row %d of source %s in this snapshot stands in its place and says otherwise, so it opposes nothing any more.", fr.Snapshot, was, num, s.Name)
		l.tookBack = append(l.tookBack, f)
	})
}
