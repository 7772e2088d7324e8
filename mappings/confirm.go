package mappings

import (
	"regexp"
	"slices"
	"strings"

	"sheetlift/mappings/strictyaml"
	"sheetlift/pipeline/finding"
)

// presetName is what presets are called.
var presetName = regexp.MustCompile(`^[a-z][a-z0-9-]{0,39}$`)

// guess is one `confirm: true` of a mapping: something that was drafted and that a person has yet to look at.
type guess struct {
	fault   strictyaml.Fault
	refused bool   // map refuses it; else it is a warning
	field   string // entity.field, or entity, or ""
	what    string
}

// grave lists, by field, what a person has to check before anything is read by a drafted mapping: it decides what a record
// proves, and for whom. A guess on any other field is a warning.
var grave = map[string]string{
	"status":         "every word of the source against the term it stands for, and the polarity",
	"lawful_basis":   "that the words are lawful bases and that only consent is mapped as consent",
	"reason":         "why these contact points must not be used; a bounce is no withdrawal",
	"notice_id":      "that the column names the notice that was shown to this person",
	"notice_version": "that the version stands in the row and was not inferred from a date",
	"notice_digest":  "that the digest is that of the wording this person saw",
	"wording_digest": "that the digest is that of this version's wording",
	"valid_from":     "the first day on which this version was in force",
	"valid_to":       "the last day on which this version was in force",
	"purpose":        "that every row is about this purpose, and that its code is imported",
	"purpose_id":     "that the column holds the purposes' codes",
	"actor":          "that the column says who recorded the act",
	"actor_role":     "that the column says in what capacity",
	"proof_kind":     "that the rows really have a proof of this kind",
	"proof_ref":      "that the column leads to one proof for each row",
	"occurred_at":    "that the column is the time of the act, and not of an import, upload or change; and its layout and zone",
	"expires_at":     "that the column is the end of the consent",
	"received_at":    "that the column is the day of receipt, and its layout",
	"closed_at":      "that the column is the time of closing, and its layout",
}

// guess records a confirm: true. field is "" for a record or a skip as a whole.
func (c *checker) guess(path, entity, field, what string) {
	g := guess{field: strings.Trim(entity+"."+field, "."), what: what}
	check, refused := grave[field]
	if field == "" && entity != "" {
		check, refused = "which rows give such a record, and its key", slices.Contains([]string{"consent", "suppression", "case"}, entity)
	}
	if what == "" {
		g.what = g.field
	}
	g.refused = refused
	at := path + ".confirm"
	g.fault = c.doc.Place(at, g.what+" is drafted, and nobody has confirmed it", "check "+check+"; then remove confirm: true")
	c.guesses = append(c.guesses, g)
}

// Unconfirmed lists, as a *ParseErrors with line and column, the drafted parts of the mapping that nobody may read by before a
// person has confirmed them; nil if there is none.
func (m *Mapping) Unconfirmed() error {
	errs := &strictyaml.Errors{File: m.file}
	for _, g := range m.guesses {
		if g.refused {
			errs.Faults = append(errs.Faults, g.fault)
		}
	}
	if len(errs.Faults) == 0 {
		return nil
	}
	slices.SortStableFunc(errs.Faults, func(a, b strictyaml.Fault) int { return a.Line - b.Line })
	return errs
}

// unconfirmed warns of the guesses that are not refused.
func (pl *Plan) unconfirmed() (list []finding.Finding) {
	for _, g := range pl.m.guesses {
		f := pl.at("mapping.unconfirmed", -1, g.field)
		f.Message = "The mapping is drafted and not confirmed: " + g.what + "."
		list = append(list, f)
	}
	return list
}
