package pipeline

import (
	"slices"

	"sheetlift/importers"
)

// mixedRow is the consents of a row of several records, some of which speak against consents. The row is rejected as a whole if one of
// its consents is, and then what it says against others does not come into the register.
type mixedRow struct {
	consents []mixedConsent
	rejected bool
}

type mixedConsent struct {
	event importers.Event
	keys  []importers.Key
}

// mix takes in a row of several records that was accepted so far; it gives the row's number, from 1.
func (f *facts) mix(surveyed *decider, records []identified) int {
	var m mixedRow
	for i := range records {
		x := &records[i]
		if !x.Entity.Event {
			continue
		}
		class := importers.LegacyAssertion
		if v := surveyed.decided(x).verdict; v != nil {
			class = v.Class
		}
		m.consents = append(m.consents, mixedConsent{importers.EventOf(&x.Record, x.id(), class, surveyed.sh.src.obtained), importers.OwnKeys(x.keys)})
	}
	f.mixed = append(f.mixed, m)
	return len(f.mixed)
}

// settleMixed finds the mixed rows that will be rejected because of one of their consents, once who is one subject is known. A row
// that is rejected takes with it what stood against other consents; those are rejected in turn, and so on.
func (f *facts) settleMixed() {
	says := map[int][]*against{}
	for _, a := range f.against {
		if a.row > 0 {
			says[a.row] = append(says[a.row], a)
		}
	}
	for again := len(says) > 0; again; {
		again = false
		for i := range f.mixed {
			m, list := &f.mixed[i], says[i+1]
			if m.rejected || len(list) == 0 || !slices.ContainsFunc(m.consents, f.rejectedLate) {
				continue
			}
			m.rejected, again = true, true
			for _, a := range list {
				a.rejected = true
			}
		}
	}
	f.mixed = nil
}

// rejectedLate reports whether a consent is rejected because of what other rows say of its subject.
func (f *facts) rejectedLate(c mixedConsent) bool {
	if len(c.keys) == 0 {
		return false
	}
	subject := f.links.Subject(c.keys)
	about := f.about(subject)
	if erased, _ := importers.Erased(c.event, erasures(about)); erased {
		return true
	}
	if c.event.Status != importers.StatusGiven {
		return false
	}
	if subject.Several {
		return true
	}
	_, rejected := f.outcome(c.event, f.doubted(about, subject, c.keys), subject, c.keys)
	return rejected
}
