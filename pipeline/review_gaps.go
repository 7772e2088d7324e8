package pipeline

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"sheetlift/importers"
	"sheetlift/importers/register"
	"sheetlift/importers/staged"
	"sheetlift/pipeline/store"
)

// gaps holds consents against the fields of importers.RecordFields. A set of fields is a bit mask by their index, and all that a
// purpose, a notice or a statement answers is worked out once for each.
type gaps struct {
	purposes   map[string]uint64 // by code
	activities map[string]uint64 // by code of their purpose
	notices    map[[2]string]uint64
	wordings   map[string]uint64
	retention  map[string]bool // by purpose; "" for rules of all purposes

	fields []gapColumn       // the staged columns of fields of the consent itself
	known  map[string]uint64 // by purpose: what its configuration answers
	given  uint64            // by the register to every record
	of     []*gapSource
}

type gapColumn struct {
	name string
	col  int
	mask uint64
}

type gapSource struct {
	name     string
	consents int
	held     [64]int
	said     [64]int // of them by nothing but a statement
}

func mask(has func(f *importers.RecordField) bool) (m uint64) {
	for i := range importers.RecordFields {
		if has(&importers.RecordFields[i]) {
			m |= 1 << i
		}
	}
	return m
}

// newGaps takes in the configuration that the register has, from whatever batch.
func (rv *reviewer) newGaps(ctx context.Context) (*gaps, error) {
	g := &gaps{purposes: map[string]uint64{}, activities: map[string]uint64{}, notices: map[[2]string]uint64{}, wordings: map[string]uint64{},
		retention: map[string]bool{}, known: map[string]uint64{}}
	err := rv.db.View(ctx, func(tx *store.Tx) error {
		for i := range importers.Entities {
			e := &importers.Entities[i]
			if !e.Config {
				continue
			}
			err := register.Each(ctx, tx, e, rv.id.Tenant, register.Filter{}, func(st *register.Stored) error {
				g.config(e, func(name string) string {
					if v := st.Get(name); v.Set {
						return v.Text
					}
					return ""
				})
				return nil
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	return g, err
}

// configs takes in the configuration that the batch brings.
func (g *gaps) configs(e *importers.Entity, at map[string]int, c *staged.Chunk) {
	for row := range c.Rows() {
		g.config(e, func(name string) string { return strings.Clone(c.Cell(at[name], row).Text) })
	}
}

// config takes in one record; get gives the text of a field, "" if it has none.
func (g *gaps) config(e *importers.Entity, get func(string) string) {
	fields := func(of func(*importers.RecordField) []string) uint64 {
		return mask(func(f *importers.RecordField) bool {
			return slices.ContainsFunc(of(f), func(name string) bool { return get(name) != "" })
		})
	}
	switch e.Name {
	case "purpose":
		g.purposes[get("purpose_id")] |= fields(func(f *importers.RecordField) []string { return f.Purpose })
	case "activity":
		if p := get("purpose"); p != "" {
			g.activities[p] |= fields(func(f *importers.RecordField) []string { return f.Activity })
		}
	case "notice":
		m := fields(func(f *importers.RecordField) []string { return f.Notice })
		g.notices[[2]string{get("notice_id"), get("notice_version")}] |= m
		if d := get("wording_digest"); d != "" {
			g.wordings[strings.ToLower(d)] |= m
		}
	case "retention_rule":
		if get("entity") == "consent" {
			g.retention[get("purpose")] = true
		}
	}
}

func (g *gaps) source(name string) {
	if len(g.of) == 0 || g.of[len(g.of)-1].name != name {
		g.of = append(g.of, &gapSource{name: name})
	}
}

// columns finds the columns of a staged file.
func (g *gaps) columns(at map[string]int) {
	if g.fields != nil {
		return
	}
	e := importers.ByName("consent")
	for i := range e.Fields {
		name := e.Fields[i].Name
		if m := mask(func(f *importers.RecordField) bool { return slices.Contains(f.Consent, name) }); m != 0 {
			g.fields = append(g.fields, gapColumn{name, at[name], m})
		}
	}
	g.given = mask(func(f *importers.RecordField) bool { return f.Assigned })
}

// consents counts the records of one kind.
func (g *gaps) consents(k *consentKind) {
	s := g.of[len(g.of)-1]
	s.consents += k.n
	var stated map[string]bool
	if text := k.texts[kindStated]; text != "" {
		stated = statements(text)
	}
	held, said := g.given, uint64(0)
	for i := range g.fields {
		f := &g.fields[i]
		switch {
		case k.held&(1<<i) == 0:
		case stated[f.name]:
			said |= f.mask
		default:
			held |= f.mask
		}
	}
	config := g.ofPurpose(k.texts[kindPurpose])
	if id, version := k.texts[kindNotice], k.texts[kindVersion]; id != "" && version != "" {
		m := g.notices[[2]string{id, version}]
		if stated["notice_id"] || stated["notice_version"] {
			said |= m
		} else {
			config |= m
		}
	} else if d := k.texts[kindWording]; d != "" {
		config |= g.wordings[d]
	}
	if stated["purpose"] { // what an operator's word leads to is an operator's word
		said |= config &^ held
	} else {
		held |= config
	}
	said &^= held
	for i := range importers.RecordFields {
		switch bit := uint64(1) << i; {
		case held&bit != 0:
			s.held[i] += k.n
		case said&bit != 0:
			s.held[i] += k.n
			s.said[i] += k.n
		}
	}
}

// ofPurpose is what the configuration of a purpose answers.
func (g *gaps) ofPurpose(purpose string) uint64 {
	if m, ok := g.known[purpose]; ok {
		return m
	}
	m := g.purposes[purpose] | g.activities[purpose]
	if g.retention[""] || purpose != "" && g.retention[purpose] {
		m |= mask(func(f *importers.RecordField) bool { return f.Retention })
	}
	if len(g.known) < maxPurposes {
		g.known[strings.Clone(purpose)] = m
	}
	return m
}

// statements are the fields of a consent that did not come from its row.
func statements(text string) map[string]bool {
	var list []importers.StatedAnswer
	s := map[string]bool{}
	if json.Unmarshal([]byte(text), &list) == nil {
		for _, a := range list {
			s[a.Field] = true
		}
	}
	return s
}

// table gives the counts as a table.
func (g *gaps) table() GapTable {
	t := GapTable{Sources: []GapSource{}, Fields: []GapField{}}
	all := 0
	for _, s := range g.of {
		t.Sources = append(t.Sources, GapSource{s.name, s.consents})
		all += s.consents
	}
	for i := range importers.RecordFields {
		f := &importers.RecordFields[i]
		out := GapField{Section: f.Section, Field: f.Name, Required: f.Required, GDPR: f.GDPR, DPV: f.DPV, Where: f.Where(), Held: []GapCount{}}
		held, said := 0, 0
		for _, s := range g.of {
			out.Held = append(out.Held, GapCount{s.held[i], s.said[i]})
			held += s.held[i]
			said += s.said[i]
		}
		switch {
		case f.Assigned:
			out.State = GapAssigned
		case !f.HasPlace():
			out.State = GapNoPlace
		case held == 0:
			out.State = GapMissing
		case held < all:
			out.State = GapPartly
		case said > 0:
			out.State = GapStated
		default:
			out.State = GapHeld
		}
		t.Fields = append(t.Fields, out)
	}
	return t
}
