package mappings

import (
	"regexp"

	"sheetlift/importers"
)

// program is a mapping that has been checked: every name resolved, every format, expression and word list compiled. Only
// the sheet's columns and the evidence of its values are still open.
type program struct {
	skips []condition
	specs []specProgram
}

// condition is a compiled Condition.
type condition struct {
	column Column
	words  map[string]bool // folded; nil if the test is another
	expr   *regexp.Regexp
	blank  bool
	not    bool // not_blank, not_in, not_matches
	reason string
	path   string // in the mapping
	line   int
}

// specProgram is a compiled RecordSpec.
type specProgram struct {
	entity  *importers.Entity
	when    []condition // all must hold
	history bool
	fields  []fieldProgram // in the order of the entity's fields
	key     []int          // entity field indexes, in the order of the mapping
	status  int            // consent: index into fields of status and of lawful_basis, else -1
	basis   int
}

// fieldProgram is a compiled FieldSpec.
type fieldProgram struct {
	index    int // of the entity's field
	field    *importers.Field
	path     string // entity.field
	typ      importers.Type
	from     []Column
	join     string
	layouts  []*layout
	iso      bool // iso8601 is among the declared formats
	serial   bool // serial is
	declared bool // some format is declared
	zone     string
	region   string
	comma    bool            // a number in text has a decimal comma
	words    map[string]word // enum: folded word of the source
	nulls    map[string]bool // folded
	lost     []lostRefusal
	when     []condition // the cell counts only if all hold
	first    bool        // of several columns the first that is not blank counts
	split    string      // between several words in one cell
	filled   string      // the term that any filled cell stands for
	digest   bool        // the value is the SHA-256 of the text, hex
	token    bool        // the digest is taken of signed tokens only
	inferred bool        // the source inferred the value
	norm     normalization
	rules    *rules
	constant *importers.Value
	yesGiven bool // consent status: some word means yes and yes means given
	inverted bool // polarity
}

// word is what a word of the source means.
type word struct {
	term     string // enum, text, id
	value    int64  // bool
	noAnswer bool   // consent status: the word says nothing about consent
}

// normalization is what the mapping allows to change in a text.
type normalization struct {
	trim, nfc, lower, upper, collapse, apostrophe, plus bool
}

func (n normalization) any() bool {
	return n.trim || n.nfc || n.lower || n.upper || n.collapse || n.apostrophe || n.plus
}

// joins reports whether the columns of the field are joined; otherwise the first that is not blank counts.
func (f *fieldProgram) joins() bool {
	return len(f.from) > 1 && !f.first && (f.typ == importers.Text || f.typ == importers.Date || f.typ == importers.DateTime)
}

func (f *fieldProgram) isDate() bool { return f.typ == importers.Date || f.typ == importers.DateTime }
