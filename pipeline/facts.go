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
	words       words                           // of the list against
	heard       againstStash                    // all that speaks against some consent
	byKey       againstStash                    // of it, what is about whom a record names; records has its id
	named       againstStash                    // by record id, which records has: keys of subjects of this batch
	meant       map[uuid.UUID][][]importers.Key // by record id that byKey has: the subjects, see followKeys
	kept        map[uuid.UUID][][]importers.Key // by record id: the subjects, as pseudonyms, of records that an undo took out while rows of this batch meant them
	asked       map[uuid.UUID]bool              // record ids that rows of other batches mean; nothing is added once sources are read
	keepAll     bool                            // nothing of it is dropped, but rows of other batches
	against     []*against                      // of it, once linked, what may speak against a consent of another record
	mixed       []mixedRow                      // until they are settled
	unsure      []unsureLink                    // until links are built
	unsureThere againstStash                    // of rows of other batches
	unsureAt    map[int32]*foreignRow           // by place: some link there may not come into the register, and where it stands in another batch
	filed       map[int32][]*against            // by place (see importers.Links), once linked
	keys        map[uuid.UUID]*keyGroup         // by record id: keys that occur more than once
	left        map[uuid.UUID]bool              // record ids whose key rows hold that were rejected before and did not come back
	shared      map[[2]string]bool              // (system, entity) that several sources bring
	held        map[uuid.UUID]heldRecord        // by record or event id
	heldRecords map[uuid.UUID]bool              // record ids of held events
	imported    map[place]bool                  // rows that this batch has brought in before
	unrecorded  map[uuid.UUID]bool              // what this batch's rows said that gave no record, as the register has it

	standsUnrecorded map[register.RowOf]bool // rejected rows of this batch that the register knows of

	literal   bool // see Pipeline
	slips     bool // once linked: some purposes are in no list
	elsewhere bool // rows of other batches said something and gave no record

	edition int // of configs, notices and what is pending: it changes with them
}

// heldRecord is what the register has under an id.
type heldRecord struct {
	content [sha256.Size]byte
	version uint32
	open    answers // of a consent: the questions that it leaves open
	own     bool    // this batch brought it, or has vouched for it before
}

// place is a row of a source.
type place struct {
	source string
	row    int
}

type notice struct {
	key    string
	period importers.Period
}

// keyGroup is the contents that one key has in the batch.
type keyGroup struct {
	contents []keyContent
	at       map[[sha256.Size]byte]int // of contents, once there are many
	history  bool
	named    bool // some content names a subject
}

func newFacts() *facts {
	return &facts{
		configs: map[string]map[string]bool{}, pending: map[string]map[string]bool{}, notices: map[string]*notice{},
		words: words{}, links: importers.NewLinks(), filed: map[int32][]*against{}, keys: map[uuid.UUID]*keyGroup{},
		held: map[uuid.UUID]heldRecord{}, left: map[uuid.UUID]bool{}, heldRecords: map[uuid.UUID]bool{}, imported: map[place]bool{},
		unrecorded: map[uuid.UUID]bool{}, standsUnrecorded: map[register.RowOf]bool{}, meant: map[uuid.UUID][][]importers.Key{}, kept: map[uuid.UUID][][]importers.Key{}, asked: map[uuid.UUID]bool{},
	}
}

func put(m map[string]map[string]bool, entity, key string) {
	if m[entity] == nil {
		m[entity] = map[string]bool{}
	}
	if !m[entity][key] {
		m[entity][strings.Clone(key)] = true // it may lie in a block of rows
	}
}

// configKey is what other records name a config by: its first field, of a notice with the version.
func configKey(rec *importers.Record) string {
	if rec.Entity.Name == "notice" {
		return noticeKey(rec.Get("notice_id").Text, rec.Get("notice_version").Text)
	}
	return rec.Values[0].Text
}

func noticeKey(id, version string) string { return id + "\x00" + version }

// keyContent is one content; taken once a row with it was staged.
type keyContent struct {
	sum   [sha256.Size]byte
	taken bool
}

// manyContents is how many contents of a key are looked through one by one.
const manyContents = 16

// content finds a content; nil if the key does not have it.
func (g *keyGroup) content(sum *[sha256.Size]byte) *keyContent {
	if g.at != nil {
		if i, ok := g.at[*sum]; ok {
			return &g.contents[i]
		}
		return nil
	}
	for i := range g.contents {
		if g.contents[i].sum == *sum {
			return &g.contents[i]
		}
	}
	return nil
}

// add takes in a content.
func (g *keyGroup) add(sum *[sha256.Size]byte) {
	if g.content(sum) != nil {
		return
	}
	g.contents = append(g.contents, keyContent{sum: *sum})
	if g.at != nil {
		g.at[*sum] = len(g.contents) - 1
	} else if len(g.contents) > manyContents {
		g.at = make(map[[sha256.Size]byte]int, 2*manyContents)
		for i := range g.contents {
			g.at[g.contents[i].sum] = i
		}
	}
}

func (g *keyGroup) conflicts() bool { return len(g.contents) > 1 && !g.history }

// opposes reports whether a record can speak against a consent.
func opposes(rec *importers.Record) bool {
	switch rec.Entity.Name {
	case "suppression":
		return true
	case "case":
		return importers.CaseOpposes(rec.Get("request_type").Text, rec.Get("status").Text)
	case "consent":
		s := rec.Values[importers.Consent().Status]
		return s.Set && s.Text != importers.StatusGiven
	}
	return false
}

// learn takes in a record of an accepted row of the survey.
func (f *facts) learn(x identified, obtained int64, s standing) {
	if x.KeyDup {
		f.group(&x)
	}
	if x.KeyDup || f.asked[x.recordUID] {
		f.name(&x)
	}
	if x.Entity.Config {
		put(f.pending, x.Entity.Name, configKey(&x.Record))
		f.edition++
	}
	if !x.Entity.Event || opposes(&x.Record) {
		f.knowOf(&x.Record, x.keys, x.links, x.id(), obtained, s)
	}
}

// group takes in the content that a row has under its key.
func (f *facts) group(x *identified) {
	g := f.keys[x.recordUID]
	if g == nil {
		g = &keyGroup{history: x.History}
		f.keys[x.recordUID] = g
	}
	g.add(&x.content)
	g.history = g.history && x.History
	g.named = g.named || len(x.keys) > 0
}

// know takes in a record of the survey or of the register.
func (f *facts) know(rec *importers.Record, id, system string, obtained int64, st standing) {
	keys := importers.SubjectKeys(rec, system)
	by := f.links.Linker(system)
	f.knowOf(rec, keys, by.Append(nil, keys), id, obtained, st)
}

// knowOf is know of a record whose subject's keys are known.
func (f *facts) knowOf(rec *importers.Record, keys []importers.Key, links []importers.LinkKey, id string, obtained int64, st standing) {
	say := func(a *against) {
		a.standing = st
		f.say(a, keys, links)
	}
	switch rec.Entity.Name {
	case "notice":
		n := &notice{configKey(rec), importers.NewPeriod(rec.Get("valid_from").Text, rec.Get("valid_to").Text)}
		f.edition++
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

// close gives back what is stashed.
func (f *facts) close() {
	for _, s := range []*againstStash{&f.heard, &f.byKey, &f.named, &f.unsureThere} {
		s.close()
	}
}

// say takes in what is said against consents of the subject of keys.
func (f *facts) say(a *against, keys []importers.Key, links []importers.LinkKey) {
	if a.meant != uuid.Nil {
		f.sayByKey(*a)
	}
	if a.keys = keys; len(a.keys) > 0 {
		if f.keepAll && a.foreign == nil {
			a.keys = slices.Clone(keys)
			f.against = append(f.against, a.own(f.words))
		} else {
			f.heard.add(a, links)
		}
		if !a.linked {
			f.links.CountDigests(links)
		}
	}
}

// accept takes in a config whose row was accepted.
func (f *facts) accept(rec *importers.Record) {
	put(f.configs, rec.Entity.Name, configKey(rec))
	f.edition++
}

// settled forgets what the survey saw of an entity whose rows are all decided: from now on only the accepted ones count.
func (f *facts) settled(entity string) {
	delete(f.pending, entity)
	f.edition++
}

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
	}
	if c := g.content(&x.content); c != nil && c.taken {
		return keyRepeat
	}
	return keyAlone
}

// taken notes that a record was staged.
func (f *facts) taken(x *identified) {
	if g := f.keys[x.recordUID]; g != nil {
		g.add(&x.content)
		g.content(&x.content).taken = true
	}
}

// holds reports whether the register holds all that a row gives: then it did not stay rejected.
func (f *facts) holds(records []identified) bool {
	for i := range records {
		if f.heldState(&records[i]) != heldSame {
			return false
		}
	}
	return len(records) > 0
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
	held, ok := f.held[x.uid]
	switch {
	case ok && (x.Entity.Event || held.content == x.content):
		return heldSame
	case ok:
		return heldOther
	case x.Entity.Event && !x.History && f.heldRecords[x.recordUID] && !opposes(&x.Record):
		return heldOther // but a withdrawal is never lost to a key: it is a further event of the record
	}
	return heldNot
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
		if err := p.unrecordedFacts(ctx, tx, f); err != nil { // before any key is digested
			return err
		}
		read := answersRead{}
		for i := range importers.Entities {
			e := &importers.Entities[i]
			filter, opposes := opposingFilter[e.Name]
			if e.Config || opposes {
				obtained, err := register.UndatedObtained(ctx, tx, e, p.id.Tenant, register.Filter{Cond: filter})
				if err != nil {
					return err
				}
				err = register.Each(ctx, tx, e, p.id.Tenant, register.Filter{Cond: filter}, func(st *register.Stored) error {
					if out, err := p.leftAside(st.ID); err != nil || out {
						return err
					}
					if e.Config {
						f.accept(&st.Record)
					}
					f.know(&st.Record, st.ID, st.System, obtained[st.ID], standing{linked: true})
					return nil
				})
				if err != nil {
					return err
				}
			}
			if err := p.linkRegister(ctx, tx, e, f.links); err != nil {
				return err
			}
			for _, system := range p.systems() {
				err := register.EachHeld(ctx, tx, e, p.id.Tenant, system, func(h register.Held) error {
					id, err := uuid.Parse(h.ID)
					if err != nil || p.without[id] {
						return err
					}
					held := heldRecord{version: uint32(h.Version), open: read.of(h.Missing)}
					if n, err := hex.Decode(held.content[:], []byte(h.ContentDigest)); err != nil || n != len(held.content) {
						return &IntegrityError{What: "register", Detail: "the content digest of " + e.Name + " " + h.ID + " is none", Remedy: "restore the database from a backup"}
					}
					f.held[id] = held
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
		return register.EachProvenance(ctx, tx, p.id.Tenant, p.batch.Name, "", func(pr register.Provenance) error {
			if slices.Contains(p.asBefore, pr.Snapshot) {
				return nil
			}
			// A row of another export is another row; one that came back mended is still the row that it was.
			if origin.of(pr.Snapshot, pr.Source) == origin.of(p.snap.name, pr.Source) {
				f.imported[place{pr.Source, int(pr.Row)}] = true
			}
			if !pr.Live() {
				return nil
			}
			id, err := uuid.Parse(pr.ID)
			if held, ok := f.held[id]; ok {
				held.own = true
				f.held[id] = held
			}
			return err
		})
	})
}

// leftAside reports whether a dry-run takes a record for not being in the register.
func (p *Pipeline) leftAside(id string) (bool, error) {
	if p.without == nil {
		return false, nil
	}
	u, err := uuid.Parse(id)
	return p.without[u], err
}

// linkRegister takes in who is one subject as far as the register's rows say so.
func (p *Pipeline) linkRegister(ctx context.Context, tx *store.Tx, e *importers.Entity, links *importers.Links) error {
	return register.EachSubject(ctx, tx, e, p.id.Tenant, func(id, system string, rec *importers.Record) error {
		if out, err := p.leftAside(id); err != nil || out {
			return err
		}
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

// derivation works out the derived columns of records. It keeps those of the last verdict, which hardly changes from one record to
// the next.
type derivation struct {
	cells   []staged.Cell
	verdict *importers.Verdict
}

// of gives the derived columns of a record, in their order. They are valid until the next call.
func (d *derivation) of(rec *importers.Record, verdict *importers.Verdict) ([]staged.Cell, error) {
	if verdict != nil && verdict == d.verdict {
		return d.cells, nil
	}
	d.verdict = verdict
	text := func(s string) staged.Cell { return staged.Cell{Text: s, Null: s == ""} }
	d.cells = d.cells[:0]
	switch rec.Entity.Name {
	case "case":
		d.cells = append(d.cells, staged.Cell{Text: "imported"}, text(importers.CaseDue(rec)), staged.Cell{Null: true}, staged.Cell{Null: true})
	case "consent":
		stated := ""
		if len(verdict.Stated) > 0 {
			b, err := json.Marshal(verdict.Stated)
			if err != nil {
				return nil, err
			}
			stated = string(b)
		}
		d.cells = append(d.cells, staged.Cell{Text: string(verdict.Class)}, staged.Cell{Text: string(verdict.Confidence)}, staged.Cell{Text: strings.Join(verdict.Missing, ",")},
			text(verdict.Remediation), text(stated))
	}
	return d.cells, nil
}
