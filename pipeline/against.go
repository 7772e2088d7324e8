package pipeline

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/google/uuid"

	"sheetlift/importers"
	"sheetlift/importers/source"
	"sheetlift/mappings"
)

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
	linked   bool        // its keys are among those of linked rows
	row      int         // of a row of several records, see mixedRow; else 0
	aside    *setAside   // no consent event: it rests on another lawful basis, and opposes nothing
	foreign  *foreignRow // it stands in a rejected row of another batch
	meant    uuid.UUID   // the record whose subject it is about by its key, see meant
}

// foreignRow is where a rejected row of another batch stands.
type foreignRow struct {
	batch, snapshot, source, sheet, digest string
	row, line                              int64
}

// String says where that is, "" if there is no such row.
func (r *foreignRow) String() string {
	if r == nil {
		return ""
	}
	return fmt.Sprintf("batch %s, snapshot %s, source %s, row %d", r.batch, r.snapshot, r.source, r.row)
}

func (r *foreignRow) texts() []*string {
	return []*string{&r.batch, &r.snapshot, &r.source, &r.sheet, &r.digest}
}

// rejects reports whether the row of something that speaks against consents is rejected; only right once all is linked.
func (f *facts) rejects(a *against) bool {
	if !a.rejected && a.event != nil && a.consent {
		a.consent = false // asked once
		a.rejected, _ = importers.Erased(*a.event, erasures(f.about(f.links.Subject(a.keys))))
	}
	return a.rejected || slices.ContainsFunc(a.records, f.conflicts)
}

// judgeAgainst asks rejects of all, so that it need not be worked out any more: then it may be asked from many goroutines.
func (f *facts) judgeAgainst() {
	erased := slices.ContainsFunc(f.against, func(a *against) bool { return a.erasure != nil })
	for _, a := range f.against {
		a.consent = a.consent && erased // else there is nothing to ask
		a.rejected, a.records = f.rejects(a), nil
	}
}

// linkRow takes in who is one subject as far as a row says so: the keys of its records that name one, and of those that it does not give.
// Records of one row speak of one subject unless they name two.
func (f *facts) linkRow(records []identified, silent [][]importers.Key) {
	if len(records) == 1 && len(silent) == 0 {
		f.links.AddDigests(records[0].links)
		return
	}
	list := make([][]importers.Key, 0, len(records))
	for i := range records {
		list = append(list, records[i].keys)
	}
	f.links.AddRow(append(list, silent...)...)
}

// link works out who is one subject, once all rows are known, and files what speaks against each.
func (f *facts) link() error {
	err := f.heard.each(f.links.MayMeet(), func(a *against, links []importers.LinkKey) {
		if a.foreign == nil || f.links.MayConcern(links) {
			f.against = append(f.against, a.own(f.words))
		}
	})
	if err != nil {
		return err
	}
	var there []unsureLink
	err = f.unsureThere.each(f.links.MayMeet(), func(a *against, links []importers.LinkKey) {
		if f.links.MayConcern(links) {
			there = append(there, unsureLink{keys: f.links.Digests(a.keys), from: a.own(f.words).foreign})
		}
	})
	if err != nil {
		return err
	}
	f.unsure = append(there, f.unsure...)
	known := f.purposes()
	for _, a := range f.against {
		f.links.Want(a.keys)
		if !f.literal {
			f.slips = known.widen(a) || f.slips
		}
	}
	f.links.Build()
	f.linked = true
	f.placeUnsure()
	for _, a := range f.against {
		s := f.links.Subject(a.keys)
		a.several = s.Several
		for _, p := range s.Places {
			f.filed[p] = append(f.filed[p], a)
		}
	}
	return nil
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

// doubted adds to what speaks against the subject of a consent what speaks against whom it may be as well. Erasures are not
// among it: they take records away, refusals too, and only of the subject itself.
func (f *facts) doubted(list []*against, subject importers.Subject, keys []importers.Key) []*against {
	if !subject.Doubt {
		return list
	}
	perhaps := f.links.Perhaps(keys)
	if len(perhaps.Places) == 0 {
		return list
	}
	list = slices.Clip(list)
	seen := make(map[*against]bool, len(list))
	for _, a := range list {
		seen[a] = true
	}
	for _, p := range perhaps.Places {
		for _, a := range f.filed[p] {
			if a.erasure == nil && !seen[a] && f.links.Fits(perhaps, a.keys, a.several) {
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
		case a.aside != nil:
		case a.event != nil && a.event.Scope.Opposes(scope):
			all.events = append(all.events, *a.event)
			if !f.rejects(a) {
				stands.events = append(stands.events, *a.event)
			}
		case a.suppression != nil && a.suppression.Scope.Opposes(scope) && f.reaches(a, keys):
			all.suppressions = append(all.suppressions, *a.suppression)
			if !f.rejects(a) {
				stands.suppressions = append(stands.suppressions, *a.suppression)
			}
		}
	}
	return stands, all
}

// reaches reports whether a suppression about the subject of keys concerns a record with those keys.
func (f *facts) reaches(a *against, keys []importers.Key) bool {
	keys = f.links.As(a.keys, keys)
	shared := slices.ContainsFunc(keys, func(k importers.Key) bool { return slices.Contains(a.keys, k) })
	if shared {
		return importers.Reaches(a.suppression.Reason, a.keys, keys)
	}
	return importers.ReachesLinked(a.suppression.Reason, keys)
}

// againstStash keeps what speaks against consents until it is known whom it may concern: most withdrawals of a register stand alone.
type againstStash struct {
	stash source.Stash
	buf   []byte // of each: how many keys, their digests, the length of what append appends (uint32), and that
	err   error
}

const againstPiece = 64 << 10

// add keeps a copy of a; links are its keys, digested.
func (s *againstStash) add(a *against, links []importers.LinkKey) {
	s.buf = a.appendHeard(s.buf, links)
	s.flushFull()
}

// addHeard keeps what appendHeard appended.
func (s *againstStash) addHeard(p []byte) {
	s.buf = append(s.buf, p...)
	s.flushFull()
}

// appendHeard appends what a stash keeps of a.
func (a *against) appendHeard(p []byte, links []importers.LinkKey) []byte {
	p = binary.AppendUvarint(p, uint64(len(links)))
	for _, k := range links {
		p = k.AppendTo(p)
	}
	at := len(p)
	p = a.append(append(p, 0, 0, 0, 0))
	binary.LittleEndian.PutUint32(p[at:], uint32(len(p)-at-4))
	return p
}

func (s *againstStash) flushFull() {
	if len(s.buf) >= againstPiece {
		s.flush()
	}
}

func (s *againstStash) flush() {
	if s.err == nil {
		s.err = s.stash.Add(s.buf)
	}
	s.buf = s.buf[:0]
}

// each gives all that was added with a key that may tells of, of anything if may is nil, in its order, and forgets it. What it gives is valid until f
// returns.
func (s *againstStash) each(may func(keys []importers.LinkKey, so []bool), f func(*against, []importers.LinkKey)) error {
	defer s.close()
	if s.flush(); s.err != nil {
		return noRoomForRows(s.err)
	}
	replay := s.stash.Replay()
	var pieces [againstAtOnce]heardPiece
	for more := true; more; {
		var (
			n       int
			err     error
			reading sync.Mutex // of more, n and err too
			sifted  sync.WaitGroup
		)
		next := func() *heardPiece {
			reading.Lock()
			defer reading.Unlock()
			if !more || n == len(pieces) {
				return nil
			}
			p := &pieces[n]
			piece, failed := replay.Next(p.bytes)
			if more = failed == nil; !more {
				if !errors.Is(failed, io.EOF) {
					err = noRoomForRows(failed)
				}
				return nil
			}
			p.bytes = piece
			n++
			return p
		}
		for range min(runtime.GOMAXPROCS(0), len(pieces)) {
			sifted.Go(func() {
				for p := next(); p != nil; p = next() {
					p.sift(may)
				}
			})
		}
		if sifted.Wait(); err != nil {
			return err
		}
		for i := range pieces[:n] {
			p := &pieces[i]
			for k := range p.matter {
				x := &p.matter[k]
				f(x.against, p.links[x.from:x.to])
			}
		}
	}
	return nil
}

// heardPiece is a piece of an againstStash.
type heardPiece struct {
	bytes  []byte
	links  []importers.LinkKey // of all in it
	so     []bool              // of each link: see againstStash.each
	all    []heardAgainst
	matter []heardAgainst // those that may matter; their texts lie in the piece
}

// heardAgainst is one of a piece, and where its keys are among the links.
type heardAgainst struct {
	*against
	from, to int
	kept     []byte // what append appended
}

// againstAtOnce is how many pieces are gone over beside each other.
const againstAtOnce = 16

// sift finds what may matter. It asks of all keys at once: then one need not wait for the memory of the other.
func (p *heardPiece) sift(may func(keys []importers.LinkKey, so []bool)) {
	p.links, p.all, p.matter = p.links[:0], p.all[:0], p.matter[:0]
	for rest := p.bytes; len(rest) > 0; {
		links, n := binary.Uvarint(rest)
		rest = rest[n:]
		from := len(p.links)
		for range links {
			p.links = append(p.links, importers.ReadLinkKey(rest))
			rest = rest[importers.LinkKeyBytes:]
		}
		end := 4 + binary.LittleEndian.Uint32(rest)
		p.all = append(p.all, heardAgainst{from: from, to: len(p.links), kept: rest[4:end]})
		rest = rest[end:]
	}
	if may != nil {
		p.so = slices.Grow(p.so[:0], len(p.links))[:len(p.links)]
		may(p.links, p.so)
	}
	for _, x := range p.all {
		if may == nil || slices.Contains(p.so[x.from:x.to], true) {
			k := mappings.NewKept(x.kept)
			x.against = readAgainst(&k)
			p.matter = append(p.matter, x)
		}
	}
}

func (s *againstStash) close() {
	_ = s.stash.Close() // an unlinked file: nothing is lost with it
	*s = againstStash{}
}

// What an against is of, in a stash.
const (
	ofSuppression = iota
	ofEvent
	ofErasure
)

// append appends a to p: what it is of, flags, row, record ids, keys, then the fields of what it is of in their order.
func (a *against) append(p []byte) []byte {
	flag := func(set bool, bit int) int {
		if set {
			return bit
		}
		return 0
	}
	text := func(list ...string) {
		for _, s := range list {
			p = append(binary.AppendUvarint(p, uint64(len(s))), s...)
		}
	}
	number := func(list ...int64) {
		for _, n := range list {
			p = binary.AppendVarint(p, n)
		}
	}
	of, dated := ofSuppression, false
	switch {
	case a.event != nil:
		of, dated = ofEvent, a.event.Dated
	case a.erasure != nil:
		of, dated = ofErasure, a.erasure.Dated
	default:
		dated = a.suppression.Dated
	}
	p = append(p, byte(of), byte(flag(a.rejected, 1)|flag(a.consent, 2)|flag(a.linked, 4)|flag(dated, 8)|flag(a.aside != nil, 16)|flag(a.foreign != nil, 32)))
	p = binary.AppendUvarint(p, uint64(a.row))
	p = binary.AppendUvarint(p, uint64(len(a.records)))
	for _, id := range a.records {
		p = append(p, id[:]...)
	}
	p = binary.AppendUvarint(p, uint64(len(a.keys)))
	for _, k := range a.keys {
		text(k.Kind, k.System, k.Value)
	}
	if x := a.aside; x != nil {
		text(x.source, x.snapshot, x.file, x.sheet, x.field, x.basis)
		number(int64(x.number), int64(x.row), int64(x.line), int64(x.column))
	}
	if x := a.foreign; x != nil {
		for _, s := range x.texts() {
			text(*s)
		}
		number(x.row, x.line)
	}
	switch of {
	case ofSuppression:
		x := a.suppression
		text(x.ID, x.Reason, x.Scope.Purpose, x.Scope.Channel)
		number(x.Earliest, x.Latest, x.ObtainedAt)
	case ofEvent:
		x := a.event
		text(x.ID, x.Status, string(x.Class), x.Scope.Purpose, x.Scope.Channel)
		number(x.Earliest, x.Latest, x.ObtainedAt, x.ExpiresAt)
	case ofErasure:
		text(a.erasure.ID)
		number(a.erasure.Latest, a.erasure.ObtainedAt)
	}
	return p
}

// readAgainst reads what append wrote.
func readAgainst(k *mappings.Kept) *against {
	a := &against{}
	of, flags := k.Byte(), k.Byte()
	a.rejected, a.consent, a.linked = flags&1 != 0, flags&2 != 0, flags&4 != 0
	dated := flags&8 != 0
	a.row = int(k.Uvarint())
	for range k.Uvarint() {
		a.records = append(a.records, uuid.UUID([]byte(k.Bytes(len(uuid.UUID{})))))
	}
	a.keys = make([]importers.Key, k.Uvarint())
	for i := range a.keys {
		a.keys[i] = importers.Key{Kind: k.Text(), System: k.Text(), Value: k.Text()}
	}
	if flags&16 != 0 {
		a.aside = &setAside{spoken: spoken{source: k.Text(), snapshot: k.Text(), file: k.Text(), sheet: k.Text(), field: k.Text()}, basis: k.Text()}
		x := a.aside
		x.number, x.row, x.line, x.column = int(k.Varint()), int(k.Varint()), int(k.Varint()), int(k.Varint())
	}
	if flags&32 != 0 {
		a.foreign = &foreignRow{}
		for _, s := range a.foreign.texts() {
			*s = k.Text()
		}
		a.foreign.row, a.foreign.line = k.Varint(), k.Varint()
	}
	switch of {
	case ofSuppression:
		a.suppression = &importers.Suppression{ID: k.Text(), Reason: k.Text(), Scope: importers.Scope{Purpose: k.Text(), Channel: k.Text()}, Dated: dated,
			Earliest: k.Varint(), Latest: k.Varint(), ObtainedAt: k.Varint()}
	case ofEvent:
		a.event = &importers.Event{ID: k.Text(), Status: k.Text(), Class: importers.Class(k.Text()), Scope: importers.Scope{Purpose: k.Text(), Channel: k.Text()}, Dated: dated,
			Earliest: k.Varint(), Latest: k.Varint(), ObtainedAt: k.Varint(), ExpiresAt: k.Varint()}
	case ofErasure:
		a.erasure = &importers.Erasure{ID: k.Text(), Dated: dated, Latest: k.Varint(), ObtainedAt: k.Varint()}
	}
	return a
}

// words keeps one copy of each text that many have: kinds, systems, purposes.
type words map[string]string

func (w words) of(s string) string {
	if own, ok := w[s]; ok {
		return own
	}
	own := strings.Clone(s)
	w[own] = own
	return own
}

// own puts the texts of a into memory of their own.
func (a *against) own(w words) *against {
	for i := range a.keys {
		k := &a.keys[i]
		k.Kind, k.System, k.Value = w.of(k.Kind), w.of(k.System), strings.Clone(k.Value)
	}
	if x := a.aside; x != nil {
		for _, s := range []*string{&x.source, &x.snapshot, &x.file, &x.sheet, &x.field, &x.basis} {
			*s = w.of(*s)
		}
	}
	if x := a.foreign; x != nil {
		for _, s := range x.texts() {
			*s = w.of(*s)
		}
	}
	scope := func(s *importers.Scope) { s.Purpose, s.Channel = w.of(s.Purpose), w.of(s.Channel) }
	switch {
	case a.suppression != nil:
		x := a.suppression
		x.ID, x.Reason = strings.Clone(x.ID), w.of(x.Reason)
		scope(&x.Scope)
	case a.event != nil:
		x := a.event
		x.ID, x.Status, x.Class = strings.Clone(x.ID), w.of(x.Status), importers.Class(w.of(string(x.Class)))
		scope(&x.Scope)
	default:
		a.erasure.ID = strings.Clone(a.erasure.ID)
	}
	return a
}
