package pipeline

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
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
	configs     map[string]map[string]bool // entity, key: held by the register or accepted in this batch
	pending     map[string]map[string]bool // entity, key: surveyed, its row not decided yet
	notices     map[string]*notice         // by id and version, and by wording digest
	retention   []importers.RetentionRule
	links       *importers.Links
	linked      bool                            // links are built: who is one subject is known
	against     []*against                      // all that speaks against some consent
	filed       map[int32][]*against            // by place (see importers.Links), once linked
	keys        map[uuid.UUID]*keyGroup         // by record id: keys that occur more than once
	left        map[uuid.UUID]bool              // record ids whose key rows hold that were rejected before and did not come back
	shared      map[[2]string]bool              // (system, entity) that several sources bring
	held        map[uuid.UUID][sha256.Size]byte // record or event id to content digest
	heldRecords map[uuid.UUID]bool              // record ids of held events
	imported    map[place]bool                  // rows that this batch has brought in before
}

// place is a row of a source.
type place struct {
	source string
	row    int
}

type notice struct{ key, from, to string }

// against is one thing that speaks against consents of its subject: a suppression, an event or an erasure.
type against struct {
	standing
	keys        []importers.Key
	several     bool // it matches several subjects, and applies to all of them
	suppression *importers.Suppression
	event       *importers.Event
	erasure     *importers.Erasure
}

// standing says whether something of this batch comes into the register.
type standing struct {
	rejected bool        // its row is rejected
	records  []uuid.UUID // record ids of the row whose key occurs more than once: the row is rejected if one of them conflicts
	consent  bool        // a consent event of this batch, which an erasure may reject
}

// rejects reports whether the row of something that speaks against consents is rejected; only right once all is linked.
func (f *facts) rejects(a *against) bool {
	if !a.rejected && a.event != nil && a.consent {
		a.consent = false // asked once
		a.rejected, _ = importers.Erased(*a.event, erasures(f.about(f.links.Subject(a.keys))))
	}
	return a.rejected || slices.ContainsFunc(a.records, func(id uuid.UUID) bool {
		g := f.keys[id]
		return g != nil && g.conflicts()
	})
}

// keyGroup is the contents that one key has in the batch.
type keyGroup struct {
	contents map[[sha256.Size]byte]bool // true once a row with this content was staged
	history  bool
}

func newFacts() *facts {
	return &facts{
		configs: map[string]map[string]bool{}, pending: map[string]map[string]bool{}, notices: map[string]*notice{},
		links: importers.NewLinks(), filed: map[int32][]*against{}, keys: map[uuid.UUID]*keyGroup{},
		held: map[uuid.UUID][sha256.Size]byte{}, left: map[uuid.UUID]bool{}, heldRecords: map[uuid.UUID]bool{}, imported: map[place]bool{},
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
		f.group(&x)
	}
	if x.Entity.Config {
		put(f.pending, x.Entity.Name, configKey(&x.Record))
	}
	f.know(&x.Record, x.id(), x.system, obtained, s)
}

// group takes in the content that a row has under its key.
func (f *facts) group(x *identified) {
	g := f.keys[x.recordUID]
	if g == nil {
		g = &keyGroup{contents: map[[sha256.Size]byte]bool{}, history: x.History}
		f.keys[x.recordUID] = g
	}
	g.contents[x.content] = false
	g.history = g.history && x.History
}

// know takes in a record of the survey or of the register.
func (f *facts) know(rec *importers.Record, id, system string, obtained int64, st standing) {
	say := func(a *against) {
		a.standing = st
		if a.keys = importers.OwnKeys(importers.SubjectKeys(rec, system)); len(a.keys) > 0 {
			f.against = append(f.against, a)
			f.links.Want(a.keys)
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
		x := importers.SuppressionOf(rec, id, obtained)
		say(&against{suppression: &x})
	case "case":
		if e, ok := importers.ErasureOf(rec, id, obtained); ok {
			say(&against{erasure: &e})
		}
		if ev, ok := importers.CaseEvent(rec, id, obtained); ok {
			say(&against{event: &ev})
		}
	case "consent":
		if opposes(rec) {
			ev := importers.EventOf(rec, id, importers.LegacyAssertion, obtained)
			say(&against{event: &ev})
		}
	}
}

// linkRow takes in who is one subject as far as a row says so: the keys of its records that name one. Records of one row speak of
// one subject unless they name two.
func (f *facts) linkRow(records [][]importers.Key) {
	if len(records) > 1 {
		if keys, one := importers.RowKeys(records...); one {
			f.links.Add(keys)
			return
		}
	}
	for _, keys := range records {
		f.links.Add(keys)
	}
}

// link works out who is one subject, once all rows are known, and files what speaks against each.
func (f *facts) link() {
	f.links.Build()
	f.linked = true
	for _, a := range f.against {
		s := f.links.Subject(a.keys)
		a.several = s.Several
		for _, p := range s.Places {
			f.filed[p] = append(f.filed[p], a)
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
	var n *notice
	if id != "" && version != "" {
		var buf [64]byte
		n = f.notices[string(append(append(append(buf[:0], id...), 0), version...))] // noticeKey, without making a string
	} else {
		n = f.notices[strings.ToLower(wording)]
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
	g := f.keys[x.recordUID]
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
	if g := f.keys[x.recordUID]; g != nil {
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

// about lists what speaks against a subject.
func (f *facts) about(s importers.Subject) []*against {
	places, several := f.links.Reach(s)
	if len(places) == 1 {
		return f.filed[places[0]]
	}
	var list []*against
	seen := map[*against]bool{}
	for i, p := range places {
		for _, a := range f.filed[p] {
			if (i < several || a.several) && !seen[a] {
				seen[a] = true
				list = append(list, a)
			}
		}
	}
	return list
}

func erasures(list []*against) (of []importers.Erasure) {
	for _, a := range list {
		if a.erasure != nil {
			of = append(of, *a.erasure)
		}
	}
	return of
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

// opposing lists, of what speaks against the subject of keys, what concerns a consent of that scope: what stands, and what
// stands or lies in rejected rows of this batch.
func (f *facts) opposing(list []*against, scope importers.Scope, keys []importers.Key) (stands, all opponents) {
	for _, a := range list {
		switch {
		case a.event != nil && a.event.Scope.Opposes(scope):
			all.events = append(all.events, *a.event)
			if !f.rejects(a) {
				stands.events = append(stands.events, *a.event)
			}
		case a.suppression != nil && a.suppression.Scope.Opposes(scope) && a.reaches(keys):
			all.suppressions = append(all.suppressions, *a.suppression)
			if !f.rejects(a) {
				stands.suppressions = append(stands.suppressions, *a.suppression)
			}
		}
	}
	return stands, all
}

// reaches reports whether a suppression about the subject of keys concerns a record with those keys.
func (a *against) reaches(keys []importers.Key) bool {
	shared := slices.ContainsFunc(keys, func(k importers.Key) bool { return slices.Contains(a.keys, k) })
	if shared {
		return importers.Reaches(a.suppression.Reason, a.keys, keys)
	}
	return importers.ReachesLinked(a.suppression.Reason, keys)
}

// opposingFilter selects what of an entity can speak against a consent.
var opposingFilter = map[string]string{
	"suppression": "",
	"case":        "request_type IN ('erasure', 'objection', 'withdraw_consent')",
	"consent":     "status <> 'given'",
}

// registerFacts reads what the register holds that rows of this batch are judged by.
func (p *Pipeline) registerFacts(ctx context.Context, f *facts) error {
	all, _, err := p.freezes(ctx)
	if err != nil {
		return err
	}
	origin := origins(all)
	return p.db.View(ctx, func(tx *store.Tx) error {
		err := register.EachProvenance(ctx, tx, p.id.Tenant, p.batch.Name, "", func(pr register.Provenance) error {
			// A row of another export is another row; one that came back mended is still the row that it was.
			if origin.of(pr.Snapshot, pr.Source) == origin.of(p.snap.name, pr.Source) {
				f.imported[place{pr.Source, int(pr.Row)}] = true
			}
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
			if err := linkRegister(ctx, tx, e, p.id.Tenant, f.links); err != nil {
				return err
			}
			for _, system := range p.systems() {
				err := register.EachHeld(ctx, tx, e, p.id.Tenant, system, func(h register.Held) error {
					id, err := uuid.Parse(h.ID)
					if err != nil {
						return err
					}
					content := f.held[id]
					if n, err := hex.Decode(content[:], []byte(h.ContentDigest)); err != nil || n != len(content) {
						return &IntegrityError{What: "register", Detail: "the content digest of " + e.Name + " " + h.ID + " is none", Remedy: "restore the database from a backup"}
					}
					f.held[id] = content
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

// linkRegister takes in who is one subject as far as the register's rows say so.
func linkRegister(ctx context.Context, tx *store.Tx, e *importers.Entity, tenant string, links *importers.Links) error {
	return register.EachSubject(ctx, tx, e, tenant, func(system string, rec *importers.Record) error {
		links.Add(importers.SubjectKeys(rec, system))
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

// derivation works out the derived columns of records. It keeps what hardly changes from one record to the next.
type derivation struct {
	cells   []staged.Cell
	stated  []importers.StatedAnswer // the last
	text    string                   // as a column holds them
	missing []string                 // the last
	joined  string
}

// of gives the derived columns of a record, in their order. They are valid until the next call.
func (d *derivation) of(j *judged) ([]staged.Cell, error) {
	text := func(s string) staged.Cell { return staged.Cell{Text: s, Null: s == ""} }
	d.cells = d.cells[:0]
	switch j.Entity.Name {
	case "case":
		d.cells = append(d.cells, staged.Cell{Text: "imported"}, text(importers.CaseDue(&j.Record)), staged.Cell{Null: true}, staged.Cell{Null: true})
	case "consent":
		if !slices.Equal(d.stated, j.verdict.Stated) {
			b, err := json.Marshal(j.verdict.Stated)
			if err != nil {
				return nil, err
			}
			d.stated, d.text = slices.Clone(j.verdict.Stated), string(b)
		}
		stated := d.text
		if len(j.verdict.Stated) == 0 {
			stated = ""
		}
		if !slices.Equal(d.missing, j.verdict.Missing) {
			d.missing, d.joined = j.verdict.Missing, strings.Join(j.verdict.Missing, ",")
		}
		d.cells = append(d.cells, staged.Cell{Text: string(j.verdict.Class)}, staged.Cell{Text: string(j.verdict.Confidence)}, staged.Cell{Text: d.joined},
			text(j.verdict.Remediation), text(stated))
	}
	return d.cells, nil
}
