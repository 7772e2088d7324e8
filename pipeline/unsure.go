package pipeline

import (
	"slices"

	"github.com/google/uuid"

	"sheetlift/importers"
	"sheetlift/mappings"
)

// unsureLink is the keys of a row that says who is one subject and may be rejected: then the register, which the import leaves without the
// row, can't follow the link, and a consent that was overruled by it alone would stand there as given.
type unsureLink struct {
	keys    []importers.LinkKey
	records []uuid.UUID // rejected if the key of one of them conflicts; if there are none, for sure
	from    *foreignRow // if it is a row of another batch
}

// linkUnsure notes a row whose links may not come into the register. Rows that are rejected for what others say of their subject are not
// among them: see sureLinks.
func (d *dryRunner) linkUnsure(surveyed *decider, row *mappings.Row, records []identified, silent [][]importers.Key) {
	keys := len(silent)
	for k := range records {
		keys += len(records[k].links)
	}
	if keys < 2 {
		return
	}
	var u unsureLink
	rejected := d.rekeyed(surveyed, row, records) || d.staysOut(surveyed.sh, row, records)
	for k := range records {
		x := &records[k]
		rejected = rejected || !comesIn(surveyed.decided(x).rule)
		if x.KeyDup || d.snap.kind == Mended { // which may meet the key of a row that was left out
			u.records = append(u.records, x.recordUID)
		}
	}
	if rejected {
		u.records = nil
	} else if len(u.records) == 0 { // as of nearly all
		return
	}
	for k := range records {
		u.keys = append(u.keys, records[k].links...)
	}
	for _, keys := range silent {
		by := d.facts.links.Linker(surveyed.sh.src.System)
		u.keys = by.Append(u.keys, keys)
	}
	d.facts.unsure = append(d.facts.unsure, u)
}

// comesIn reports whether a record that the survey decided by this rule is not rejected for it. Keys are judged when all are known.
func comesIn(rule string) bool {
	switch rule {
	case "", "row.known", "row.repeat", "key.multiple_match":
		return true
	}
	return false
}

// placeUnsure notes where links are unsure, once they are built.
func (f *facts) placeUnsure() {
	f.unsureAt = map[int32]*foreignRow{}
	for _, u := range f.unsure {
		if len(u.records) > 0 && !slices.ContainsFunc(u.records, f.conflicts) {
			continue
		}
		for _, p := range f.links.SubjectOf(u.keys).Places {
			f.unsureAt[p] = u.from
		}
	}
	f.unsure = nil
}

// conflicts reports whether rows say different things under a key.
func (f *facts) conflicts(record uuid.UUID) bool {
	g := f.keys[record]
	return g != nil && g.conflicts()
}

// outcome tells what becomes of a given consent because of what is said of its subject: whether it is overruled, and by which rule word;
// whether it is rejected, since what speaks against it lies in rejected rows, or reaches it by links only that the register may not have.
func (f *facts) outcome(given importers.Event, about []*against, subject importers.Subject, keys []importers.Key) (overruled string, rejected bool) {
	stands, all := f.opposing(about, given.Scope, keys)
	if over, why := stands.overrule(given); over {
		if f.sureLinks(about, subject, keys) || f.overrulesDirectly(given, about, keys) {
			return why, false
		}
		return "", true
	}
	over, _ := all.overrule(given)
	return "", over
}

// sureLinks reports whether no row that links the subject can be rejected: by itself, for its key, because its subject is erased, or because a
// rejected row speaks against it.
func (f *facts) sureLinks(about []*against, subject importers.Subject, keys []importers.Key) bool {
	places, _ := f.links.Reach(subject)
	if slices.ContainsFunc(places, f.isUnsure) || subject.Doubt && slices.ContainsFunc(f.links.Perhaps(keys).Places, f.isUnsure) {
		return false
	}
	return !slices.ContainsFunc(about, func(a *against) bool { return a.erasure != nil || f.rejects(a) })
}

func (f *facts) isUnsure(place int32) bool { _, unsure := f.unsureAt[place]; return unsure }

// overrulesDirectly reports whether what stands and has a key of the consent itself overrules it.
func (f *facts) overrulesDirectly(given importers.Event, about []*against, keys []importers.Key) bool {
	var direct []*against
	for _, a := range about {
		if slices.ContainsFunc(f.links.As(a.keys, keys), func(k importers.Key) bool { return slices.Contains(a.keys, k) }) {
			direct = append(direct, a)
		}
	}
	stands, _ := f.opposing(direct, given.Scope, keys)
	over, _ := stands.overrule(given)
	return over
}

// sure reports whether a row that is not looked at again cannot be an unsure link.
func (x *passedRow) sure() bool {
	return len(x.records[0].links) < 2 || x.records[0].decided != nil && comesIn(x.records[0].decided.rule)
}
