package pipeline

import (
	"fmt"
	"slices"
	"strings"
	"unsafe"

	"sheetlift/importers"
	"sheetlift/pipeline/finding"
)

// decision is what the rules that look beyond the row say of one record.
type decision struct {
	rule    string             // why it is rejected, repeats, or is known; "" if it may be staged
	field   string             // the field concerned, if one is
	message string             // instead of the rule's own
	notes   []note             // findings beside the verdict
	verdict *importers.Verdict // consent only
	part    string             // of the staged file
	version int64              // correction: the version it is made against
	err     error              // the register can't be asked
	subject importers.Subject
	about   []*against  // what speaks against the subject
	weighed bool        // what speaks against it was looked at
	beside  []*setAside // noes on other lawful bases, of a given consent that nothing overrules
}

type note struct{ rule, field, message string }

// decider decides records of one source. It remembers what it has worked out and is not safe for concurrent use.
type decider struct {
	*dryRunner
	sh     *sheet
	judges []*importers.Judge // by record of the mapping

	named []namedNotice // that were asked for, until the edition of the facts changes
	turn  int           // the one that makes way next
	there [32]thereConfig
}

// thereConfig is a config that a value points to which stays as it is, and that is there, until the edition of the facts changes.
type thereConfig struct {
	v       *importers.Value
	field   int
	edition int
}

// namedNotice is what came of a question for a notice.
type namedNotice struct {
	id, version, wording string
	edition              int
	notice               *notice
}

// namedMost is how many notices a decider remembers: rows name few, in turn.
const namedMost = 8

func (d *dryRunner) newDecider(sh *sheet) *decider {
	out := &decider{dryRunner: d, sh: sh}
	for _, statements := range sh.statements {
		out.judges = append(out.judges, importers.NewJudge(statements))
	}
	return out
}

// points reports whether the config is there that a field of a record points to.
func (d *decider) points(x *identified, field int) bool {
	v, ref := x.Values[field], x.Entity.Fields[field].Ref
	if !stays(x, field) {
		return d.facts.config(ref, v.Text)
	}
	c := &d.there[uint64(uintptr(unsafe.Pointer(v)))*0x9E3779B97F4A7C15>>(64-5)]
	if c.v == v && c.field == field && c.edition == d.facts.edition {
		return true
	}
	if !d.facts.config(ref, v.Text) {
		return false
	}
	*c = thereConfig{v, field, d.facts.edition}
	return true
}

// pointless gives the first field of a record that points to a config which is not there; -1 if there is none.
func (d *decider) pointless(x *identified) int {
	for _, i := range x.Entity.Refs() {
		if x.Values[i].Set && !d.points(x, i) {
			return i
		}
	}
	return -1
}

// stays reports whether the value of a field stays as it is as long as its pointer is in use.
func stays(x *identified, field int) bool { return x.Stays()>>field&1 == 1 }

// lasting is the text of a field's value, to be kept.
func lasting(x *identified, field int) string {
	if stays(x, field) {
		return x.Values[field].Text
	}
	return strings.Clone(x.Values[field].Text)
}

// notice finds the notice for a record.
func (d *decider) notice(x *identified) *notice {
	at := importers.Consent()
	id, version, wording := x.Values[at.NoticeID].Text, x.Values[at.NoticeVersion].Text, x.Values[at.NoticeDigest].Text
	for i := range d.named {
		n := &d.named[i]
		if n.version == version && n.id == id && n.wording == wording && n.edition == d.facts.edition {
			return n.notice
		}
	}
	n := namedNotice{lasting(x, at.NoticeID), lasting(x, at.NoticeVersion), lasting(x, at.NoticeDigest), d.facts.edition, d.facts.notice(id, version, wording)}
	if len(d.named) < namedMost {
		d.named = append(d.named, n)
	} else {
		d.named[d.turn] = n
		d.turn = (d.turn + 1) % namedMost
	}
	return n.notice
}

// decide applies the rules to one record, whatever speaks against it. It changes nothing.
func (d *decider) decide(x *identified) (out decision) {
	src := d.sh.src
	if x.KeyDup || d.facts.left[x.recordUID] {
		switch d.facts.keyState(x) {
		case keyConflict:
			out.rule = "key.multiple_match"
			return out
		case keyRepeat:
			out.rule = "row.repeat"
			return out
		}
	}
	held := d.facts.heldState(x)
	if held == heldSame {
		out.rule, out.err = d.repeated(x)
		return out
	}
	if d.nameless(x, &out); out.err != nil || out.rule != "" {
		return out
	}
	if held == heldOther {
		if d.corrects(src, x, &out); out.err != nil || out.rule != "" {
			return out
		}
	}
	if (d.snap.kind == Delta || d.snap.kind == Mended && !d.stubborn) && x.Entity.Event && x.Get("status").Text != importers.StatusGiven {
		out.part = partAgainst
	}
	d.decideAlone(x, &out)
	return out
}

// decideAlone applies the rules for which it does not matter what the register or other rows have under the record's key.
func (d *decider) decideAlone(x *identified, out *decision) {
	src := d.sh.src
	if i := d.pointless(x); i >= 0 {
		f := &x.Entity.Fields[i]
		out.rule, out.field = "ref.not_found", f.Name
		out.message = fmt.Sprintf("The %s that %s.%s points to is neither in this batch nor in the register.", f.Ref, x.Entity.Name, f.Name)
		if x.Values[i].Origin == importers.Stated {
			out.message += " The mapping states it for all rows, so it is the mapping that needs another code, or the batch that record."
		}
		return
	}
	if src.RetentionApproved == nil && len(d.facts.retention) > 0 {
		if at, _, ok := importers.RetentionExpiry(&x.Record, d.facts.retention, src.obtained); ok && at <= src.obtained {
			out.rule = "retention.expired"
			return
		}
	}
	if x.Entity.Event {
		d.decideConsent(x, out)
	}
}

// decided is what decide says of a record, worked out once.
func (d *decider) decided(x *identified) *decision {
	if x.decided == nil {
		made := d.decide(x)
		x.decided = &made
	}
	return x.decided
}

// decideConsent applies the consent rule and the erasures.
func (d *decider) decideConsent(x *identified, out *decision) {
	src := d.sh.src
	at := importers.Consent()
	facts := importers.Facts{PurposeKnown: x.Values[at.Purpose].Set, ObtainedAt: src.obtained}
	id, ver, wording := x.Values[at.NoticeID], x.Values[at.NoticeVersion], x.Values[at.NoticeDigest]
	if id.Set && ver.Set || wording.Set {
		n := d.notice(x)
		if n == nil { // see dangles
			out.rule, out.field = "ref.not_found", "notice_id"
			if !id.Set || !ver.Set {
				out.field = "notice_digest"
			}
			out.message = "The notice version that the row names is neither in this batch nor in the register."
			return
		}
		facts.NoticeFound = true
		if when := x.Values[at.OccurredAt]; when.Set {
			facts.NoticeInForce = n.period.InForce(when)
			if !facts.NoticeInForce && id.Origin == importers.FromRow {
				out.notes = append(out.notes, note{rule: "notice.not_in_force", field: "notice_version"})
			}
		}
	}
	out.verdict = d.judges[x.Spec].Evaluate(&x.Record, x.Columns, x.Alike, facts)
	if d.facts.linked { // the survey does not know yet who is one subject
		subject := d.facts.links.SubjectOf(x.links)
		d.heed(x, out, subject, d.facts.about(subject))
	}
}

// heed rejects a consent whose subject is erased, and notes what speaks against it.
func (d *decider) heed(x *identified, out *decision, subject importers.Subject, about []*against) {
	out.subject, out.about = subject, about
	list := erasures(about)
	if len(list) == 0 {
		return
	}
	if erased, _ := importers.Erased(importers.EventOf(&x.Record, x.id(), out.verdict.Class, d.sh.src.obtained), list); erased {
		out.rule, out.notes = "subject.erased", nil
	}
}

// unconcerned reports whether nothing of what is said about the subject of a consent concerns a consent of that status and scope.
func unconcerned(subject importers.Subject, about []*against, status string, scope importers.Scope) bool {
	return !subject.Several && !subject.Doubt && !slices.ContainsFunc(about, func(a *against) bool {
		switch {
		case a.erasure != nil:
			return true
		case status != importers.StatusGiven:
			return false
		case a.event != nil:
			return a.event.Scope.Opposes(scope)
		}
		return a.suppression.Scope.Opposes(scope)
	})
}

// weigh looks at what speaks against a given consent of a row. What stands overrules it: it is kept as history. What lies in rejected
// rows rejects it: otherwise the register would show it as given while the source says otherwise. A consent that matches
// several subjects is rejected; what speaks against consents applies to all of them, which is said.
func (d *decider) weigh(x *identified, out *decision, row []identified) {
	keys := x.keys
	if len(keys) == 0 {
		d.namelessHere(x, out, row)
		return
	}
	if !x.Entity.Event { // of a consent it is worked out already
		out.subject = d.facts.links.SubjectOf(x.links)
	}
	subject := out.subject
	if !x.Entity.Event || x.Get("status").Text != importers.StatusGiven {
		if subject.Several && speaks(&x.Record) {
			out.notes = append(out.notes, note{rule: "subject.applies_to_all", field: keys[0].Kind})
		}
		return
	}
	if subject.Several {
		out.rule, out.field = "subject.multiple_match", keys[0].Kind
		return
	}
	if out.about = d.facts.doubted(out.about, subject, keys); len(out.about) == 0 {
		return
	}
	ev := importers.EventOf(&x.Record, x.id(), out.verdict.Class, d.sh.src.obtained)
	why, rejected := d.facts.outcome(ev, out.about, subject, keys)
	switch {
	case rejected:
		out.rule, out.field = "consent.opposed_by_rejected", "status"
		out.message = d.elsewhereMessage(out.rule, ev, out.about, subject, keys)
	case why != "":
		n := note{rule: "consent.overruled", field: "status"}
		if strings.HasPrefix(why, "suppressed_") {
			n.rule = "suppression.overrules"
		}
		if rule, ok := finding.ByID(n.rule); ok {
			n.message = strings.TrimSuffix(rule.Meaning, ".") + " (" + why + ")."
		}
		out.notes = append(out.notes, n)
	default:
		out.beside = d.facts.besides(out.about, ev, keys)
	}
}
