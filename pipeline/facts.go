package pipeline

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/google/uuid"

	"sheetlift/importers"
	"sheetlift/importers/register"
	"sheetlift/importers/staged"
	"sheetlift/pipeline/store"
)

// facts are what a row is judged by besides itself: what the batch's other rows say, and what the register holds.
type facts struct {
	configs      map[string]map[string]bool // entity, key: held by the register or accepted in this batch
	pending      map[string]map[string]bool // entity, key: surveyed, its row not decided yet
	notices      map[string]*notice         // by id and version, and by wording digest
	retention    []importers.RetentionRule
	suppressions map[importers.Key][]*suppression
	opposing     map[importers.Key][]*opposition
	erasures     map[importers.Key][]importers.Erasure
	keys         map[string]*keyGroup // by record id: keys that occur more than once
	shared       map[[2]string]bool   // (system, entity) that several sources bring
	held         map[uuid.UUID]string // record or event id to content digest
	heldRecords  map[uuid.UUID]bool   // record ids of held events
	imported     map[place]bool       // rows that this batch has brought in before
}

// place is a row of a source.
type place struct {
	source string
	row    int
}

type notice struct{ key, from, to string }

type suppression struct {
	importers.Suppression
	standing
	keys []importers.Key
}

// opposition is an event that speaks against consents.
type opposition struct {
	importers.Event
	standing
}

// standing says whether something of this batch comes into the register.
type standing struct {
	rejected bool     // its row is rejected
	records  []string // record ids of the row whose key occurs more than once: the row is rejected if one of them conflicts
}

// rejects reports whether the row is rejected; only right once the survey is complete.
func (f *facts) rejects(s *standing) bool {
	return s.rejected || slices.ContainsFunc(s.records, func(id string) bool {
		g := f.keys[id]
		return g != nil && g.conflicts()
	})
}

// keyGroup is the contents that one key has in the batch.
type keyGroup struct {
	contents map[string]bool // true once a row with this content was staged
	history  bool
}

func newFacts() *facts {
	return &facts{
		configs: map[string]map[string]bool{}, pending: map[string]map[string]bool{}, notices: map[string]*notice{},
		suppressions: map[importers.Key][]*suppression{}, opposing: map[importers.Key][]*opposition{},
		erasures: map[importers.Key][]importers.Erasure{}, keys: map[string]*keyGroup{},
		held: map[uuid.UUID]string{}, heldRecords: map[uuid.UUID]bool{}, imported: map[place]bool{},
	}
}

func put(m map[string]map[string]bool, entity, key string) {
	if m[entity] == nil {
		m[entity] = map[string]bool{}
	}
	m[entity][key] = true
}

// configKey is what other records name a config by: its first field, of a notice with the version.
func configKey(rec *importers.Record) string {
	if rec.Entity.Name == "notice" {
		return noticeKey(rec.Get("notice_id").Text, rec.Get("notice_version").Text)
	}
	return rec.Values[0].Text
}

func noticeKey(id, version string) string { return id + "\x00" + version }

func (g *keyGroup) conflicts() bool { return len(g.contents) > 1 && !g.history }

// opposes reports whether a record can speak against a consent.
func opposes(rec *importers.Record) bool {
	switch rec.Entity.Name {
	case "suppression":
		return true
	case "case":
		return importers.CaseOpposes(rec.Get("request_type").Text, rec.Get("status").Text)
	case "consent":
		s := rec.Get("status")
		return s.Set && s.Text != importers.StatusGiven
	}
	return false
}

// learn takes in a record of an accepted row of the survey.
func (f *facts) learn(x identified, obtained int64, s standing) {
	if x.KeyDup {
		g := f.keys[x.recordID]
		if g == nil {
			g = &keyGroup{contents: map[string]bool{}, history: x.History}
			f.keys[x.recordID] = g
		}
		g.contents[x.content] = false
		g.history = g.history && x.History
	}
	if x.Entity.Config {
		put(f.pending, x.Entity.Name, configKey(&x.Record))
	}
	f.know(&x.Record, x.id, x.system, obtained, s)
}

// know takes in a record of the survey or of the register.
func (f *facts) know(rec *importers.Record, id, system string, obtained int64, st standing) {
	keys := func() []importers.Key { return importers.SubjectKeys(rec, system) }
	oppose := func(ev importers.Event) {
		o := &opposition{ev, st}
		for _, k := range keys() {
			f.opposing[k] = append(f.opposing[k], o)
		}
	}
	switch rec.Entity.Name {
	case "notice":
		n := &notice{configKey(rec), rec.Get("valid_from").Text, rec.Get("valid_to").Text}
		f.notices[n.key] = n
		if d := rec.Get("wording_digest"); d.Set {
			f.notices[strings.ToLower(d.Text)] = n
		}
	case "retention_rule":
		f.retention = append(f.retention, importers.RetentionRuleOf(rec))
	case "suppression":
		s := &suppression{importers.SuppressionOf(rec, id, obtained), st, keys()}
		for _, k := range s.keys {
			f.suppressions[k] = append(f.suppressions[k], s)
		}
	case "case":
		if e, ok := importers.ErasureOf(rec, id, obtained); ok {
			for _, k := range keys() {
				f.erasures[k] = append(f.erasures[k], e)
			}
		}
		if ev, ok := importers.CaseEvent(rec, id, obtained); ok {
			oppose(ev)
		}
	case "consent":
		if rec.Get("status").Text != importers.StatusGiven {
			oppose(importers.EventOf(rec, id, importers.LegacyAssertion, obtained))
		}
	}
}

// accept takes in a config whose row was accepted.
func (f *facts) accept(rec *importers.Record) { put(f.configs, rec.Entity.Name, configKey(rec)) }

// settled forgets what the survey saw of an entity whose rows are all decided: from now on only the accepted ones count.
func (f *facts) settled(entity string) { delete(f.pending, entity) }

func (f *facts) config(entity, key string) bool {
	return f.configs[entity][key] || f.pending[entity][key]
}

// notice finds an imported notice by id and version, else by the digest of its wording.
func (f *facts) notice(id, version, wording string) *notice {
	n := f.notices[strings.ToLower(wording)]
	if id != "" && version != "" {
		n = f.notices[noticeKey(id, version)]
	}
	if n == nil || !f.config("notice", n.key) {
		return nil
	}
	return n
}

type keyVerdict uint8

const (
	keyAlone keyVerdict = iota
	keyRepeat
	keyConflict
)

// keyState says what a key that occurs more than once means for this record.
func (f *facts) keyState(x *identified) keyVerdict {
	g := f.keys[x.recordID]
	switch {
	case g == nil:
		return keyAlone
	case g.conflicts():
		return keyConflict
	case g.contents[x.content]:
		return keyRepeat
	}
	return keyAlone
}

// taken notes that a record was staged.
func (f *facts) taken(x *identified) {
	if g := f.keys[x.recordID]; g != nil {
		g.contents[x.content] = true
	}
}

type heldVerdict uint8

const (
	heldNot heldVerdict = iota
	heldSame
	heldOther
)

// heldState says what the register holds of this record.
func (f *facts) heldState(x *identified) heldVerdict {
	if len(f.held) == 0 {
		return heldNot
	}
	content, ok := f.held[x.uid]
	switch {
	case ok && (x.Entity.Event || content == x.content):
		return heldSame
	case ok:
		return heldOther
	case x.Entity.Event && !x.History && f.heldRecords[x.recordUID] && !opposes(&x.Record):
		return heldOther // but a withdrawal is never lost to a key: it is a further event of the record
	}
	return heldNot
}

func (f *facts) erasuresOf(keys []importers.Key) []importers.Erasure {
	var list []importers.Erasure
	for _, k := range keys {
		list = append(list, f.erasures[k]...)
	}
	return list
}

// opponents are what speaks against a consent.
type opponents struct {
	events       []importers.Event
	suppressions []importers.Suppression
}

// overrule reports whether a given consent falls to them, and the rule word.
func (o *opponents) overrule(given importers.Event) (bool, string) {
	return importers.Overruled(given, o.events, o.suppressions)
}

// against lists what speaks against a consent of that scope by a subject with these keys: what stands, and what stands or lies
// in rejected rows of this batch.
func (f *facts) against(scope importers.Scope, keys []importers.Key) (stands, all opponents) {
	seen := map[string]bool{}
	for _, k := range keys {
		for _, e := range f.opposing[k] {
			if !e.Scope.Opposes(scope) || seen[e.ID] {
				continue
			}
			seen[e.ID] = true
			all.events = append(all.events, e.Event)
			if !f.rejects(&e.standing) {
				stands.events = append(stands.events, e.Event)
			}
		}
		for _, s := range f.suppressions[k] {
			if !s.Scope.Opposes(scope) || seen[s.ID] || !importers.Reaches(s.Reason, s.keys, keys) {
				continue
			}
			seen[s.ID] = true
			all.suppressions = append(all.suppressions, s.Suppression)
			if !f.rejects(&s.standing) {
				stands.suppressions = append(stands.suppressions, s.Suppression)
			}
		}
	}
	return stands, all
}

// opposingFilter selects what of an entity can speak against a consent.
var opposingFilter = map[string]string{
	"suppression": "",
	"case":        "request_type IN ('erasure', 'objection', 'withdraw_consent')",
	"consent":     "status <> 'given'",
}

// registerFacts reads what the register holds that rows of this batch are judged by.
func (p *Pipeline) registerFacts(ctx context.Context, f *facts) error {
	return p.db.View(ctx, func(tx *store.Tx) error {
		err := register.EachProvenance(ctx, tx, p.id.Tenant, p.batch.Name, "", func(pr register.Provenance) error {
			f.imported[place{pr.Source, int(pr.Row)}] = true
			return nil
		})
		if err != nil {
			return err
		}
		for i := range importers.Entities {
			e := &importers.Entities[i]
			filter, opposes := opposingFilter[e.Name]
			if e.Config || opposes {
				obtained, err := register.UndatedObtained(ctx, tx, e, p.id.Tenant, filter)
				if err != nil {
					return err
				}
				err = register.Each(ctx, tx, e, p.id.Tenant, register.Filter{Cond: filter}, func(st *register.Stored) error {
					if e.Config {
						f.accept(&st.Record)
					}
					f.know(&st.Record, st.ID, st.System, obtained[st.ID], standing{})
					return nil
				})
				if err != nil {
					return err
				}
			}
			for _, system := range p.systems() {
				err := register.EachHeld(ctx, tx, e, p.id.Tenant, system, func(h register.Held) error {
					id, err := uuid.Parse(h.ID)
					if err != nil {
						return err
					}
					f.held[id] = h.ContentDigest
					if e.Event {
						rid, err := uuid.Parse(h.RecordID)
						if err != nil {
							return err
						}
						f.heldRecords[rid] = true
					}
					return nil
				})
				if err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// systems are the batch's source systems, each once.
func (p *Pipeline) systems() []string {
	var list []string
	for _, s := range p.batch.Sources {
		if !slices.Contains(list, s.System) {
			list = append(list, s.System)
		}
	}
	return list
}

// derive works out the derived columns of a record, in their order.
func derive(j *judged) ([]staged.Cell, error) {
	text := func(s string) staged.Cell { return staged.Cell{Text: s, Null: s == ""} }
	switch j.Entity.Name {
	case "case":
		return []staged.Cell{{Text: "imported"}, text(importers.CaseDue(&j.Record)), {Null: true}, {Null: true}}, nil
	case "consent":
		stated := ""
		if len(j.verdict.Stated) > 0 {
			b, err := json.Marshal(j.verdict.Stated)
			if err != nil {
				return nil, err
			}
			stated = string(b)
		}
		return []staged.Cell{
			{Text: string(j.verdict.Class)}, {Text: string(j.verdict.Confidence)}, {Text: strings.Join(j.verdict.Missing, ",")},
			text(j.verdict.Remediation), text(stated),
		}, nil
	}
	return nil, nil
}
