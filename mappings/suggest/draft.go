package suggest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"sheetlift/mappings"
)

// Draft is a mapping that is still to be confirmed, with the evidence of each guess.
type Draft struct {
	Name      string
	Preset    string   // "" if none
	Head      []string // comment at the top
	Sheet     string
	HeaderRow int
	FirstRow  int // of a list without a header below its titles
	Skips     []Skip
	Records   []Record
	Others    [][]Record // what the rows may be as well, written as comments
	Left      []string   // columns that the draft does not name, as comments show them
}

// Skip is a drafted skip.
type Skip struct {
	mappings.Skip
	Why []string
}

// Record is a drafted record.
type Record struct {
	Entity  string
	Why     []string
	Key     []string
	When    []mappings.Condition
	History bool
	Confirm bool
	Fields  []Field

	about string // what tells its purpose from others' while it is asked for
}

// Field is a drafted field.
type Field struct {
	Name    string
	Spec    mappings.FieldSpec
	Why     []string
	Confirm bool
	Asks    []Ask
}

// Ask is a key that only a person can fill in: it is drafted without a value, which Parse refuses with its line.
type Ask struct{ Key, Text string }

func (f *Field) why(s string)         { f.Why = append(f.Why, s) }
func (f *Field) ask(key, text string) { f.Asks = append(f.Asks, Ask{key, text}) }

// Entity is what the rows of the draft are above all: those of a register of consents, wherever it has such a record.
func (d *Draft) Entity() string {
	for _, entity := range []string{"consent", "suppression"} {
		if slices.ContainsFunc(d.Records, func(r Record) bool { return r.Entity == entity }) {
			return entity
		}
	}
	return d.Records[0].Entity
}

// YAML writes the draft as a mapping file. Every guess is followed by confirm: true on a line of its own.
func (d *Draft) YAML() []byte {
	w := &writer{}
	for _, h := range d.Head {
		w.comment(0, h)
	}
	w.comment(0, "Check each evidence comment, mend what is wrong, and remove its line confirm: true. docs/mapping.md explains every key.")
	w.line(0, "version: 1")
	w.line(0, "mapping: "+Scalar(d.Name))
	if d.Preset != "" {
		w.line(0, "preset: "+d.Preset)
	}
	if d.Sheet != "" {
		w.line(0, "sheet: "+Scalar(d.Sheet))
	}
	if d.HeaderRow > 0 {
		w.line(0, fmt.Sprintf("header: { row: %d }", d.HeaderRow))
	} else {
		w.line(0, headless(d.FirstRow))
	}
	if len(d.Skips) > 0 {
		w.line(0, "skip:")
	}
	for i := range d.Skips {
		s := &d.Skips[i]
		w.evidence(2, s.Why)
		w.line(2, "- column: "+column(s.Column))
		w.test(4, &s.Condition)
		w.line(4, "reason: "+Scalar(s.Reason))
		if s.Confirm {
			w.line(4, "confirm: true")
		}
	}
	w.line(0, "records:")
	for i := range d.Records {
		w.record(&d.Records[i])
	}
	for _, other := range d.Others {
		o := &writer{}
		for i := range other {
			o.record(&other[i])
		}
		w.comment(0, "Instead of the records above: remove them, and the # before each of these lines.")
		for line := range strings.Lines(o.String()) {
			w.WriteString("#" + line)
		}
	}
	if len(d.Left) > 0 {
		w.comment(0, "Columns that this draft does not name: "+strings.Join(d.Left, ", ")+".")
	}
	return []byte(w.String())
}

// headless is how a mapping says that there is no header.
func headless(first int) string {
	if first > 0 {
		return fmt.Sprintf("header: { none: true, first: %d }", first)
	}
	return "header: { none: true }"
}

type writer struct{ strings.Builder }

func (w *writer) line(indent int, s string) {
	w.WriteString(strings.Repeat(" ", indent) + s + "\n")
}

// comment breaks a text into comment lines of a readable width.
func (w *writer) comment(indent int, text string) {
	line := "#"
	for word := range strings.FieldsSeq(text) {
		if len(line)+1+len(word) > 116-indent && line != "#" {
			w.line(indent, line)
			line = "#  "
		}
		line += " " + word
	}
	w.line(indent, line)
}

func (w *writer) evidence(indent int, why []string) {
	if len(why) > 0 {
		w.comment(indent, "evidence: "+strings.Join(why, "; "))
	}
}

func (w *writer) test(indent int, c *mappings.Condition) {
	for _, kv := range condition(c)[1:] {
		w.line(indent, kv)
	}
}

func (w *writer) record(r *Record) {
	w.evidence(2, r.Why)
	w.line(2, "- entity: "+r.Entity)
	if r.Confirm {
		w.line(4, "confirm: true")
	}
	w.line(4, "key: "+flow(r.Key))
	switch len(r.When) {
	case 0:
	case 1:
		w.line(4, "when: { "+strings.Join(condition(&r.When[0]), ", ")+" }")
	default:
		w.line(4, "when:")
		for i := range r.When {
			w.line(6, "- { "+strings.Join(condition(&r.When[i]), ", ")+" }")
		}
	}
	if r.History {
		w.line(4, "history: true")
	}
	w.line(4, "fields:")
	for i := range r.Fields {
		w.field(&r.Fields[i])
	}
}

func (w *writer) field(f *Field) {
	w.evidence(6, f.Why)
	w.line(6, f.Name+":")
	for _, a := range f.Asks {
		w.comment(8, a.Text)
		w.line(8, a.Key+":")
	}
	asked := func(key string) bool {
		return slices.ContainsFunc(f.Asks, func(a Ask) bool { return a.Key == key })
	}
	s := &f.Spec
	put := func(key, value string) {
		if value != "" && !asked(key) {
			w.line(8, key+": "+value)
		}
	}
	scalar := func(key, value string) {
		if value != "" {
			put(key, Scalar(value))
		}
	}
	if len(s.From) == 1 {
		put("from", column(s.From[0]))
	} else if len(s.From) > 1 {
		var list []string
		for _, c := range s.From {
			list = append(list, column(c))
		}
		put("from", "["+strings.Join(list, ", ")+"]")
	}
	if s.First {
		put("first", "true")
	}
	if len(s.When) == 1 {
		put("when", "{ "+strings.Join(condition(&s.When[0]), ", ")+" }")
	} else if len(s.When) > 1 {
		w.line(8, "when:")
		for i := range s.When {
			w.line(10, "- { "+strings.Join(condition(&s.When[i]), ", ")+" }")
		}
	}
	if s.Const != nil {
		put("const", Scalar(*s.Const))
	}
	if s.StatedBy != nil {
		if s.StatedBy.Name == "" {
			w.comment(8, "who states it? a name or a role; it is recorded and never counts as evidence")
		}
		put("stated_by", "{ name: "+Scalar(s.StatedBy.Name)+", at: "+s.StatedBy.At+" }")
	}
	scalar("type", string(s.Type))
	if len(s.Format) == 1 {
		scalar("format", s.Format[0])
	} else if len(s.Format) > 1 {
		put("format", flow(s.Format))
	}
	scalar("zone", s.Zone)
	scalar("region", s.Region)
	if len(s.Enum) > 0 {
		w.line(8, "enum:")
		var terms []string
		for term := range s.Enum {
			terms = append(terms, term)
		}
		slices.Sort(terms)
		for _, term := range terms {
			w.line(10, Scalar(term)+": "+flow(s.Enum[term]))
		}
	}
	scalar("polarity", s.Polarity)
	if len(s.NullTokens) > 0 {
		put("null_tokens", flow(s.NullTokens))
	}
	if s.Split != "" {
		put("split", quoted(s.Split))
	}
	scalar("filled", s.Filled)
	scalar("digest", s.Digest)
	scalar("inferred", s.Inferred)
	if len(s.Normalize) > 0 {
		put("normalize", flow(s.Normalize))
	}
	scalar("rules", s.Rules)
	if f.Confirm {
		w.line(8, "confirm: true")
	}
}

func flow(list []string) string {
	var out []string
	for _, s := range list {
		out = append(out, Scalar(s))
	}
	return "[" + strings.Join(out, ", ") + "]"
}

// column writes a column in its short form where it has one.
func column(c mappings.Column) string {
	switch {
	case c.Letter != "":
		return "{ letter: " + c.Letter + " }"
	case c.Nth > 0:
		return fmt.Sprintf("{ header: %s, nth: %d }", Scalar(c.Header), c.Nth)
	}
	return Scalar(c.Header)
}

// condition gives the keys of a condition, the column first.
func condition(c *mappings.Condition) []string {
	list := []string{"column: " + column(c.Column)}
	switch {
	case c.Equals != nil:
		list = append(list, "equals: "+Scalar(*c.Equals))
	case c.In != nil:
		list = append(list, "in: "+flow(c.In))
	case c.NotIn != nil:
		list = append(list, "not_in: "+flow(c.NotIn))
	case c.Matches != "":
		list = append(list, "matches: "+quoted(c.Matches))
	case c.NotMatches != "":
		list = append(list, "not_matches: "+quoted(c.NotMatches))
	case c.Blank:
		list = append(list, "blank: true")
	default:
		list = append(list, "not_blank: true")
	}
	return list
}

// Scalar writes s as a plain scalar where that is safe, else as a double-quoted one.
func Scalar(s string) string {
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "\uFFFD")), " ")
	plain := s != ""
	for i, r := range s {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		if !letter && (i == 0 || r != ' ' && r != '-' && r != '_' && (r < '0' || r > '9')) {
			plain = false
		}
	}
	switch strings.ToLower(s) {
	case "true", "false", "null", "yes", "no", "on", "off", "y", "n":
		plain = false
	}
	if plain {
		return s
	}
	return quoted(s)
}

// quoted writes s double-quoted; a JSON string is YAML.
func quoted(s string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		panic("suggest: " + err.Error()) // a string always encodes
	}
	return strings.TrimSuffix(b.String(), "\n")
}
