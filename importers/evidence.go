package importers

import (
	"slices"
	"strings"
	"sync"
)

// Class says what a consent row can prove.
type Class string

// A receipt answers all six questions by itself. Anything less is a legacy assertion: somebody says there was consent.
const (
	Receipt         Class = "receipt"
	LegacyAssertion Class = "legacy_assertion"
)

// Question is one of the six that a receipt must answer. The order is the order in which cells are used up.
type Question int

// The six questions.
const (
	QuestionSubject Question = iota
	QuestionPurpose
	QuestionNotice
	QuestionActor
	QuestionProof
	QuestionTime
	questions = 6
)

// String gives the name that missing[] uses.
func (q Question) String() string { return Questions[q].Name }

// Questions describes the six questions for people.
var Questions = [questions]struct {
	Name   string
	Asks   string
	Counts string
	Fields []string
	Remedy string
}{
	QuestionSubject: {
		Name: "subject", Asks: "Who consented?",
		Counts: "a subject id, an e-mail address, a phone number or a device id in the row; a device is never a person",
		Fields: []string{"subject_id", "email", "phone", "device_id"},
		Remedy: "obtain an export that identifies the subject in each row",
	},
	QuestionPurpose: {
		Name: "purpose", Asks: "To what?",
		Counts: "the code of an imported purpose in the row",
		Fields: []string{"purpose"},
		Remedy: "obtain the purpose recorded with each consent, and import that purpose",
	},
	QuestionNotice: {
		Name: "notice", Asks: "What were they told?",
		Counts: "notice id and version, or the digest of the wording, in the row; that notice is imported and was in force at the consent's time",
		Fields: []string{"notice_id", "notice_version", "notice_digest"},
		Remedy: "obtain the notice id and version (or the wording's SHA-256) shown for each consent, and import that notice with its days in force",
	},
	QuestionActor: {
		Name: "actor", Asks: "Who recorded it, in what capacity?",
		Counts: "actor and actor_role in the row, and the role says more than the actor",
		Fields: []string{"actor", "actor_role"},
		Remedy: "obtain who or what recorded each consent, and in what capacity",
	},
	QuestionProof: {
		Name: "proof", Asks: "What shows it?",
		Counts: "a proof kind of the closed list and a reference or digest in the row; never a bare word",
		Fields: []string{"proof_kind", "proof_ref"},
		Remedy: "obtain for each consent a signed token, double opt-in log entry, signed document, recorded call or served-notice history, and its reference or digest",
	},
	QuestionTime: {
		Name: "time", Asks: "When?",
		Counts: "the time of the consent in the row, with a zone of its own or a declared one, and no later than the export; never the time of an import",
		Fields: []string{"occurred_at"},
		Remedy: "obtain the time of each consent, and declare the zone it was written in",
	},
}

// StatusMissing stands after the six questions in Missing when the row itself does not say what was decided: a status that is
// stated for a whole file, or inferred, makes no receipt of any row. StatusRemedy says what would complete it.
const (
	StatusMissing = "status"
	StatusRemedy  = "obtain an export that says in each row what was decided"
)

// Reason says why a question is answered or not.
type Reason uint8

// The reasons.
const (
	Answered    Reason = iota
	Absent             // no column, a blank cell or a null token
	Incomplete         // one part is there, another is not
	ByStatement        // an operator states it for the file
	ByInference        // it was inferred
	NoCell             // no source cell is behind it, so the row can't have said it
	CellUsed           // its cell already answered an earlier question
	NotImported        // it points to a purpose or notice that is not imported
	NotInForce         // the notice was not in force at the consent's time, or that can't be shown
	BareWord           // the proof is a word, no reference
	NoZone             // the time has no zone
	AfterExport        // the time is later than the export itself
)

// String gives one sentence part for people.
func (r Reason) String() string { return reasons[r] }

var reasons = [...]string{
	Answered:    "answered",
	Absent:      "the row does not say",
	Incomplete:  "the row says only part of it",
	ByStatement: "stated by an operator, not by the row",
	ByInference: "inferred, not in the row",
	NoCell:      "no cell of the row is behind it",
	CellUsed:    "its cell already answers an earlier question",
	NotImported: "what it points to is not imported",
	NotInForce:  "not shown to have been in force at that time",
	BareWord:    "a bare word, no reference",
	NoZone:      "no zone, and none is declared",
	AfterExport: "later than the export itself",
}

// Confidence grades what a consent row can show. See ConfidenceRules.
type Confidence string

// The four grades.
const (
	Strong       Confidence = "strong"
	Partial      Confidence = "partial"
	Weak         Confidence = "weak"
	NoConfidence Confidence = "none"
)

// answers says which of the six questions are answered, and last whether the row itself says the status.
type answers [questions + 1]bool

const statusAnswer = questions

// ConfidenceRules is the published rule, first match wins. Only answers that count are counted.
var ConfidenceRules = []struct {
	Confidence Confidence
	When       string
	holds      func(a answers) bool
}{
	{NoConfidence, "the subject is not answered, or nothing but the subject is",
		func(a answers) bool {
			return !a[QuestionSubject] || !slices.Contains(a[QuestionSubject+1:questions], true)
		}},
	{Strong, "subject, purpose, proof and time are answered, and the row itself says the status (every receipt, and what lacks only notice or actor)",
		func(a answers) bool {
			return a[QuestionPurpose] && a[QuestionProof] && a[QuestionTime] && a[statusAnswer]
		}},
	{Partial, "subject and purpose are answered, and proof or time",
		func(a answers) bool { return a[QuestionPurpose] && (a[QuestionProof] || a[QuestionTime]) }},
	{Weak, "the subject and anything else is answered",
		func(answers) bool { return true }},
}

// Answer is one field's value and the source columns behind it. A nil Value is absent.
type Answer struct {
	Value   *Value
	Columns []int
}

// Statement says who stated an answer for a whole file, and when, as the mapping has it.
type Statement struct {
	By string
	At string
}

// Facts are what the configuration says about a row's answers.
type Facts struct {
	PurposeKnown  bool                 // the purpose's code is that of an imported purpose
	NoticeFound   bool                 // an imported notice matches by id and version, or by the wording's digest
	NoticeInForce bool                 // and it was in force at the consent's time (see InForce)
	ObtainedAt    int64                // when the export was obtained, µs; its latest possible instant; 0 if not known
	Statements    map[string]Statement // by field name, for values whose Origin is Stated
}

// Evidence is what one consent row offers as answers.
type Evidence struct {
	SubjectID, Email, Phone, DeviceID     Answer
	Purpose                               Answer
	NoticeID, NoticeVersion, NoticeDigest Answer
	Actor, ActorRole                      Answer
	ProofKind, ProofRef                   Answer
	Time                                  Answer
	Status                                Answer
	Values                                []*Value // of all fields, by index in the entity, for what did not come from the row
	Facts                                 Facts
}

// StatedAnswer is a field of a consent that did not come from the row. It is recorded and never counts.
type StatedAnswer struct {
	Field string `json:"field"`
	By    string `json:"by"` // the operator's name, or "inferred"
	At    string `json:"at,omitempty"`
}

// Verdict is what the rule says about one consent row. Missing and Remediation are shared between verdicts: don't change
// them. Neither holds a value of the row.
type Verdict struct {
	Class       Class
	Missing     []string // names of the questions without an answer that counts, in the order of the rule, then StatusMissing; nil for a receipt
	Why         [questions]Reason
	WhyStatus   Reason         // Answered if the row itself says the status
	Stated      []StatedAnswer // in the order of the entity's fields
	Confidence  Confidence
	Remediation string // what would complete the evidence; empty for a receipt
}

// EvidenceOf collects the evidence of a consent record. cols gives, by field index, the source columns behind the field's
// value; a value without any can't answer a question.
func EvidenceOf(rec *Record, cols [][]int, facts Facts) Evidence {
	x := Consent()
	part := func(field int) Answer {
		p := Answer{}
		if v := rec.Values[field]; v.Set {
			p.Value = v
			if field < len(cols) {
				p.Columns = cols[field]
			}
		}
		return p
	}
	return Evidence{
		SubjectID: part(x.SubjectID), Email: part(x.Email), Phone: part(x.Phone), DeviceID: part(x.DeviceID),
		Purpose:  part(x.Purpose),
		NoticeID: part(x.NoticeID), NoticeVersion: part(x.NoticeVersion), NoticeDigest: part(x.NoticeDigest),
		Actor: part(x.Actor), ActorRole: part(x.ActorRole),
		ProofKind: part(x.ProofKind), ProofRef: part(x.ProofRef),
		Time:   part(x.OccurredAt),
		Status: part(x.Status),
		Values: rec.Values,
		Facts:  facts,
	}
}

// ConsentFields are the field indexes of the consent entity, so that no row pays for a look-up by name.
type ConsentFields struct {
	SubjectID, Email, Phone, DeviceID, Purpose, Channel, NoticeID, NoticeVersion, NoticeDigest int
	Actor, ActorRole, ProofKind, ProofRef, OccurredAt, ExpiresAt, Status                       int

	fields []Field
}

// Consent gives the field indexes of the consent entity.
var Consent = sync.OnceValue(func() *ConsentFields {
	e := ByName("consent")
	return &ConsentFields{
		SubjectID: e.Field("subject_id"), Email: e.Field("email"), Phone: e.Field("phone"), DeviceID: e.Field("device_id"),
		Purpose: e.Field("purpose"), Channel: e.Field("channel"),
		NoticeID: e.Field("notice_id"), NoticeVersion: e.Field("notice_version"), NoticeDigest: e.Field("notice_digest"),
		Actor: e.Field("actor"), ActorRole: e.Field("actor_role"),
		ProofKind: e.Field("proof_kind"), ProofRef: e.Field("proof_ref"),
		OccurredAt: e.Field("occurred_at"), ExpiresAt: e.Field("expires_at"), Status: e.Field("status"),
		fields: e.Fields,
	}
})

// Evaluate applies the consent rule: six questions, in order, each answered only by the row itself or by imported
// configuration it points to, completely, and from cells that no earlier question has used. What was decided is no question, but a
// row that does not say it itself, in a cell that answers no question but that for the time, is no receipt either.
func Evaluate(in Evidence) Verdict { return evaluate(&in, contentOf(&in)) }

// content is what the rule asks of the values themselves, beyond which are set, where from, and the facts.
type content struct {
	sameActor   bool // actor and role are the same words
	proofKind   bool // of the closed list
	reference   bool // the proof is referred to
	noZone      bool
	afterExport bool
}

func contentOf(in *Evidence) (c content) {
	if a, r := in.Actor.Value, in.ActorRole.Value; a != nil && r != nil {
		c.sameActor = strings.EqualFold(strings.TrimSpace(a.Text), strings.TrimSpace(r.Text))
	}
	if k, r := in.ProofKind.Value, in.ProofRef.Value; k != nil && r != nil {
		c.proofKind, c.reference = knownProofKind(k.Text), IsReference(r.Text)
	}
	if at := in.Time.Value; at != nil {
		c.noZone = Location(at.Zone) == nil
		if in.Facts.ObtainedAt != 0 && (at.Precision == "" || at.Int > in.Facts.ObtainedAt) { // what begins no later is not in doubt
			earliest, _ := Window(*at)
			c.afterExport = earliest > in.Facts.ObtainedAt
		}
	}
	return c
}

func evaluate(in *Evidence, has content) Verdict {
	var v Verdict
	var room [24]int
	used := room[:0]
	judge := func(q Question, why Reason, parts ...*Answer) {
		if why == Answered {
			for _, p := range parts {
				if slices.ContainsFunc(p.Columns, func(c int) bool { return slices.Contains(used, c) }) {
					why = CellUsed
				}
			}
		}
		if why == Answered {
			for _, p := range parts {
				used = append(used, p.Columns...)
			}
		}
		v.Why[q] = why
	}

	judge(QuestionSubject, anyOf(&in.SubjectID, &in.Email, &in.Phone, &in.DeviceID), &in.SubjectID, &in.Email, &in.Phone, &in.DeviceID)

	why := allOf(&in.Purpose)
	if why == Answered && !in.Facts.PurposeKnown {
		why = NotImported
	}
	judge(QuestionPurpose, why, &in.Purpose)

	why = noticeAnswer(in)
	judge(QuestionNotice, why, &in.NoticeID, &in.NoticeVersion, &in.NoticeDigest)

	why = allOf(&in.Actor, &in.ActorRole)
	if why == Answered && has.sameActor {
		why = Incomplete // the same words twice do not say in what capacity
	}
	judge(QuestionActor, why, &in.Actor, &in.ActorRole)

	why = allOf(&in.ProofKind, &in.ProofRef)
	switch {
	case why == Answered && !has.proofKind:
		why = Incomplete
	case why == Answered && !has.reference:
		why = BareWord
	}
	judge(QuestionProof, why, &in.ProofKind, &in.ProofRef)

	said := used // the time is not among them: that it is there may be how a row says that consent was given
	why = allOf(&in.Time)
	if why == Answered {
		switch {
		case has.noZone:
			why = NoZone
		case has.afterExport:
			why = AfterExport
		}
	}
	judge(QuestionTime, why, &in.Time)

	if v.WhyStatus = allOf(&in.Status); v.WhyStatus == Answered && slices.ContainsFunc(in.Status.Columns, func(c int) bool { return slices.Contains(said, c) }) {
		v.WhyStatus = CellUsed
	}
	v.Stated = statements(in)
	s := summaryOf(reasonsFor{v.Why, v.WhyStatus})
	v.Class, v.Missing, v.Confidence, v.Remediation = s.class, s.missing, s.confidence, s.remediation
	return v
}

// Judge applies the consent rule to the records of one rule of a mapping. It remembers its verdicts, of which a file has few: a verdict
// depends on which fields are set and from where, on the facts, and on little else. It is not safe for concurrent use.
type Judge struct {
	statements map[string]Statement
	verdicts   map[judged]*Verdict
	last       judged
	verdict    *Verdict
}

// judged is what a verdict depends on.
type judged struct {
	columns     *[]int // which fields are set: records with the same have the same columns behind them
	has         content
	purpose     bool
	notice      bool
	noticeForce bool
	obtainedAt  int64
}

// NewJudge judges records whose mapping states those answers.
func NewJudge(statements map[string]Statement) *Judge {
	return &Judge{statements: statements, verdicts: map[judged]*Verdict{}}
}

// Evaluate is Evaluate of EvidenceOf. If alike, all records with this very list of columns have the same fields set, from the same
// origins.
func (j *Judge) Evaluate(rec *Record, cols [][]int, alike bool, facts Facts) *Verdict {
	facts.Statements = j.statements
	if !alike || len(cols) == 0 {
		v := Evaluate(EvidenceOf(rec, cols, facts))
		return &v
	}
	x := Consent()
	var in Evidence // as far as contentOf looks
	for _, p := range [...]struct {
		to    *Answer
		field int
	}{{&in.Actor, x.Actor}, {&in.ActorRole, x.ActorRole}, {&in.ProofKind, x.ProofKind}, {&in.ProofRef, x.ProofRef}, {&in.Time, x.OccurredAt}} {
		if v := rec.Values[p.field]; v.Set {
			p.to.Value = v
		}
	}
	in.Facts.ObtainedAt = facts.ObtainedAt
	key := judged{&cols[0], contentOf(&in), facts.PurposeKnown, facts.NoticeFound, facts.NoticeInForce, facts.ObtainedAt}
	if j.verdict != nil && key == j.last {
		return j.verdict
	}
	v := j.verdicts[key]
	if v == nil {
		in = EvidenceOf(rec, cols, facts)
		made := evaluate(&in, key.has)
		v = &made
		j.verdicts[key] = v
	}
	j.last, j.verdict = key, v
	return v
}

// allOf answers a question that needs every part.
func allOf(parts ...*Answer) Reason {
	set := 0
	for _, p := range parts {
		if p.Value != nil && p.Value.Set {
			set++
		}
	}
	switch {
	case set == 0:
		return Absent
	case set < len(parts):
		return Incomplete
	}
	for _, p := range parts {
		if why := fromRow(p); why != Answered {
			return why
		}
	}
	return Answered
}

// anyOf answers a question that one part from the row suffices for.
func anyOf(parts ...*Answer) Reason {
	why := Absent
	for _, p := range parts {
		if p.Value == nil || !p.Value.Set {
			continue
		}
		if why = fromRow(p); why == Answered {
			return why
		}
	}
	return why
}

func fromRow(p *Answer) Reason {
	switch {
	case p.Value.Origin == Stated:
		return ByStatement
	case p.Value.Origin != FromRow:
		return ByInference
	case len(p.Columns) == 0:
		return NoCell
	}
	return Answered
}

// noticeAnswer takes id and version together, or the wording's digest alone.
func noticeAnswer(in *Evidence) Reason {
	why := allOf(&in.NoticeID, &in.NoticeVersion)
	if why != Answered {
		if byDigest := allOf(&in.NoticeDigest); byDigest == Answered || why == Absent {
			why = byDigest
		}
	}
	switch {
	case why != Answered:
		return why
	case !in.Facts.NoticeFound:
		return NotImported
	case !in.Facts.NoticeInForce:
		return NotInForce
	}
	return Answered
}

func knownProofKind(kind string) bool {
	return slices.ContainsFunc(proofKind, func(t Term) bool { return t.Name == kind })
}

// statements lists the fields that did not come from the row, in the order of the entity's fields.
func statements(in *Evidence) []StatedAnswer {
	var out []StatedAnswer
	fields := Consent().fields
	for i := range in.Values {
		v := in.Values[i]
		if !v.Set || v.Origin == FromRow {
			continue
		}
		a := StatedAnswer{Field: fields[i].Name, By: "inferred"}
		if v.Origin == Stated {
			st := in.Facts.Statements[a.Field]
			a.By, a.At = st.By, st.At
		}
		out = append(out, a)
	}
	return out
}

// summary is what follows from the reasons alone. Few combinations occur in a file, so each is worked out once.
type summary struct {
	class       Class
	missing     []string
	confidence  Confidence
	remediation string
}

type reasonsFor struct {
	questions [questions]Reason
	status    Reason
}

var summaries = struct {
	sync.RWMutex
	m map[reasonsFor]summary
}{m: map[reasonsFor]summary{}}

func summaryOf(why reasonsFor) summary {
	summaries.RLock()
	s, ok := summaries.m[why]
	summaries.RUnlock()
	if ok {
		return s
	}
	s.class = Receipt
	var answered answers
	var remedies []string
	for q, r := range why.questions {
		if r == Answered {
			answered[q] = true
			continue
		}
		s.class = LegacyAssertion
		s.missing = append(s.missing, Question(q).String())
		remedies = append(remedies, Question(q).String()+" ("+r.String()+"): "+Questions[q].Remedy)
	}
	if answered[statusAnswer] = why.status == Answered; !answered[statusAnswer] {
		s.class = LegacyAssertion
		s.missing = append(s.missing, StatusMissing)
		remedies = append(remedies, StatusMissing+" ("+why.status.String()+"): "+StatusRemedy)
	}
	for _, rule := range ConfidenceRules {
		if rule.holds(answered) {
			s.confidence = rule.Confidence
			break
		}
	}
	s.remediation = strings.Join(remedies, "; ")
	summaries.Lock()
	summaries.m[why] = s
	summaries.Unlock()
	return s
}
