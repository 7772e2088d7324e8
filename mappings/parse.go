package mappings

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"sheetlift/importers"
	"sheetlift/mappings/strictyaml"
)

// ParseErrors is every fault of a mapping file, each a Fault with line, column, excerpt and remedy.
type (
	ParseErrors = strictyaml.Errors
	Fault       = strictyaml.Fault
)

// Parse reads and checks a mapping file. The error is a *ParseErrors that lists every fault.
func Parse(name string, data []byte) (*Mapping, error) {
	doc, err := strictyaml.Parse(name, data)
	if err != nil {
		return nil, err
	}
	m := &Mapping{}
	doc.Decode(m)
	c := &checker{doc: doc, m: m}
	c.mapping()
	if err := doc.Err(); err != nil {
		return nil, err
	}
	m.program, m.guesses, m.file = &c.program, c.guesses, name
	return m, nil
}

// checker holds a decoded mapping to the rules of the language and builds its program.
type checker struct {
	doc     *strictyaml.Document
	m       *Mapping
	program program
	guesses []guess
}

func (c *checker) fault(path, remedy, format string, args ...any) {
	c.doc.Fault(path, fmt.Sprintf(format, args...), remedy)
}

func (c *checker) mapping() {
	m := c.m
	switch {
	case !c.doc.Has("version"):
		c.fault("", "write version: 1 as the first line", "version is missing")
	case m.Version != 1:
		c.fault("version", "write version: 1", "version %d of the mapping language is not known", m.Version)
	}
	if strings.TrimSpace(m.Name) == "" {
		c.fault("mapping", "write mapping: and a short name, such as shop-consents", "the mapping has no name")
	}
	if c.doc.Has("preset") && !presetName.MatchString(m.Preset) {
		c.fault("preset", "write the name of the preset that the mapping was drafted from, such as mailchimp, or remove the key", "%q is no name of a preset", m.Preset)
	}
	c.header()
	c.zone("zone", m.Zone)
	for i := range m.Skip {
		path := index("skip", i)
		s := &m.Skip[i]
		cond := c.condition(path, &s.Condition)
		cond.reason = strings.TrimSpace(s.Reason)
		if cond.reason == "" {
			c.fault(path, "add reason: and why such rows are left out", "the skip has no reason")
		}
		c.program.skips = append(c.program.skips, cond)
		if s.Confirm {
			c.guess(path, "", "", "which rows are left out")
		}
	}
	if len(m.Records) == 0 {
		c.fault("records", "list at least one record with entity, key and fields", "records is missing or empty")
	}
	for i := range m.Records {
		if spec, ok := c.record(index("records", i), &m.Records[i]); ok {
			c.program.specs = append(c.program.specs, spec)
		}
	}
}

func index(path string, i int) string { return path + "[" + strconv.Itoa(i) + "]" }

func (c *checker) header() {
	h := &c.m.Header
	set := 0
	if c.doc.Has("header.row") {
		set++
		if h.Row < 1 {
			c.fault("header.row", "give the row number as the spreadsheet program shows it", "the header row must be 1 or more")
		}
	}
	if c.doc.Has("header.match") {
		set++
		if len(h.Match) == 0 {
			c.fault("header.match", "list some header texts", "there is nothing to match")
		}
		for i, text := range h.Match {
			if headerFold(text) == "" {
				c.fault(index("header.match", i), "remove it", "a blank header text matches nothing")
			}
		}
	}
	if h.None {
		set++
	}
	if c.doc.Has("header.first") {
		switch {
		case !h.None:
			c.fault("header.first", "write { none: true, first: N }, or the row of the header as row: N", "first says where a list without a header begins")
		case h.First < 2 || h.First > headerWithin:
			c.fault("header.first", "give the row number as the spreadsheet program shows it; a list that begins in row 1 needs no first", "the list must begin in one of the rows 2 to %d", headerWithin)
		}
	}
	if set > 1 || (set == 0 && c.doc.Has("header")) {
		c.fault("header", "write one of row: N, match: [...], none: true", "header says %s", map[bool]string{true: "more than one thing", false: "nothing"}[set > 1])
	}
}

func (c *checker) zone(path, name string) string {
	if name == "" {
		return ""
	}
	if _, err := loadZone(name); err != nil {
		c.fault(path, "give an IANA name, such as Europe/Berlin, or an offset, such as +02:00", "%s", err)
		return ""
	}
	return name
}

// column checks how a column is named. Without a header a plain name is a letter.
func (c *checker) column(path string, col *Column) {
	if c.m.Header.None && col.Header != "" && col.Nth == 0 && col.Letter == "" && col.Index == 0 && columnIndex(col.Header) >= 0 {
		col.Letter, col.Header = col.Header, ""
	}
	set := 0
	for _, is := range []bool{headerFold(col.Header) != "", col.Letter != "", col.Index != 0} {
		if is {
			set++
		}
	}
	switch {
	case set != 1:
		c.fault(path, "write a header text, { letter: C } or { index: 3 }", "the column is not named, or named in more than one way")
	case col.Letter != "" && columnIndex(col.Letter) < 0:
		c.fault(path, "letters go from A to XFD", "%q are no column letters", col.Letter)
	case col.Index < 0 || col.Index > maxColumns:
		c.fault(path, "columns are counted from 1", "there is no column number %d", col.Index)
	case col.Nth != 0 && (col.Header == "" || col.Nth < 0):
		c.fault(path, "write { header: TEXT, nth: 2 }", "nth counts columns with the same header, from 1")
	case c.m.Header.None && col.Header != "":
		c.fault(path, "write { letter: C }", "the sheet has no header, so %q names no column", col.Header)
	}
	if col.Letter != "" {
		col.Letter = strings.ToUpper(col.Letter)
	}
}

func (c *checker) condition(path string, cond *Condition) condition {
	c.column(path+".column", &cond.Column)
	out := condition{column: cond.Column, path: path, line: c.doc.Place(path, "", "").Line}
	set := 0
	if cond.Equals != nil {
		set++
		out.words = map[string]bool{fold(*cond.Equals): true}
	}
	if c.doc.Has(path + ".in") {
		set++
		out.words = map[string]bool{}
		for _, w := range cond.In {
			out.words[fold(w)] = true
		}
		if len(cond.In) == 0 {
			c.fault(path+".in", "list the words; where a draft left it empty, first do what the comment above it says (rows of another table into a sheet or file of their own), then remove the condition", "the list is empty, so that no row goes through before somebody has decided")
		}
	}
	if c.doc.Has(path + ".not_in") {
		set++
		out.words, out.not = map[string]bool{}, true
		for _, w := range cond.NotIn {
			out.words[fold(w)] = true
		}
		if len(cond.NotIn) == 0 {
			c.fault(path+".not_in", "list the words", "the list is empty")
		}
	}
	for _, key := range []string{"matches", "not_matches"} {
		at := path + "." + key
		if !c.doc.Has(at) {
			continue
		}
		set++
		text := cond.Matches
		if key == "not_matches" {
			text, out.not = cond.NotMatches, true
		}
		expr, err := regexp.Compile(text)
		if err != nil || text == "" {
			c.fault(at, "write an RE2 expression, such as \"^TEST\"", "the expression can't be read")
		}
		out.expr = expr
	}
	if cond.Blank {
		set++
		out.blank = true
	}
	if cond.NotBlank {
		set++
		out.blank, out.not = true, true
	}
	if set != 1 {
		c.fault(path, "write one of equals, in, not_in, matches, not_matches, blank: true, not_blank: true", "the condition tests %s", map[bool]string{true: "more than one thing", false: "nothing"}[set > 1])
	}
	if out.words[""] {
		c.fault(path, "write blank: true", "a blank word never matches")
	}
	return out
}

// conditions checks a list of conditions, or one that stands for it.
func (c *checker) conditions(path string, list Conditions) (out []condition) {
	if list == nil {
		return nil
	}
	if len(list) == 0 {
		c.fault(path, "write a condition, or remove the key", "there is no condition")
	}
	for i := range list {
		at := path
		if c.doc.Has(index(path, i)) {
			at = index(path, i)
		}
		out = append(out, c.condition(at, &list[i]))
	}
	return out
}

func (c *checker) record(path string, r *RecordSpec) (specProgram, bool) {
	spec := specProgram{history: r.History, status: -1, basis: -1}
	names := entityNames()
	if spec.entity = importers.ByName(r.Entity); spec.entity == nil {
		remedy := "entities: " + strings.Join(names, ", ")
		switch near := strictyaml.Nearest(r.Entity, names); {
		case r.Entity == "" || r.Entity == todo:
			c.fault(path+".entity", remedy, "entity is still to be filled in")
		case near != "":
			c.fault(path+".entity", fmt.Sprintf("did you mean %q? %s", near, remedy), "there is no entity %q", r.Entity)
		default:
			c.fault(path+".entity", remedy, "there is no entity %q", r.Entity)
		}
		return spec, false
	}
	if r.History && !spec.entity.Event {
		c.fault(path+".history", "remove history", "records of %s have no history; only events do", r.Entity)
	}
	spec.when = c.conditions(path+".when", r.When)
	if r.Confirm {
		c.guess(path, r.Entity, "", "that such rows are records of "+r.Entity)
	}
	c.fields(path, r, &spec)
	c.sameProof(path, r)
	c.key(path, r, &spec)
	return spec, true
}

func (c *checker) fields(path string, r *RecordSpec, spec *specProgram) {
	e := spec.entity
	known := make([]string, len(e.Fields))
	for i := range e.Fields {
		known[i] = e.Fields[i].Name
	}
	if len(r.Fields) == 0 {
		c.fault(path+".fields", "fields of "+e.Name+": "+strings.Join(known, ", "), "fields is missing or empty")
		return
	}
	for _, name := range sortedKeys(r.Fields) {
		if e.Field(name) < 0 {
			remedy := "fields of " + e.Name + ": " + strings.Join(known, ", ")
			if near := strictyaml.Nearest(name, known); near != "" {
				remedy = fmt.Sprintf("did you mean %q? %s", near, remedy)
			}
			c.fault(path+".fields."+name, remedy, "%s has no field %q", e.Name, name)
		}
	}
	for i := range e.Fields {
		f := &e.Fields[i]
		fs, mapped := r.Fields[f.Name]
		if !mapped {
			if f.Required {
				c.fault(path+".fields", "map it from a column, or give const", "%s needs the field %s (%s)", e.Name, f.Name, f.Doc)
			}
			continue
		}
		switch {
		case e.Name == "consent" && f.Name == "status":
			spec.status = len(spec.fields)
		case e.Name == "consent" && f.Name == "lawful_basis":
			spec.basis = len(spec.fields)
		}
		spec.fields = append(spec.fields, c.field(path+".fields."+f.Name, e, i, &fs))
		c.forms(path+".fields."+f.Name, e, &fs, &spec.fields[len(spec.fields)-1])
		r.Fields[f.Name] = fs // column letters are put into one form
	}
}

func (c *checker) key(path string, r *RecordSpec, spec *specProgram) {
	if len(r.Key) == 0 || r.Key[0] == todo {
		c.fault(path+".key", "write key: and the fields whose values tell records apart, such as [external_id]", "the record has no key")
		return
	}
	for i, name := range r.Key {
		at := path + ".key"
		if c.doc.Has(index(at, i)) {
			at = index(at, i)
		}
		k := spec.entity.Field(name)
		j := slices.IndexFunc(spec.fields, func(f fieldProgram) bool { return f.index == k })
		switch {
		case k < 0 || j < 0:
			c.fault(at, "a key names fields, not columns; map the field under fields", "%q is no mapped field of %s", name, spec.entity.Name)
			continue
		case slices.Contains(spec.key, k):
			c.fault(at, "remove one", "%s stands in the key twice", name)
			continue
		case spec.fields[j].isDate() && !spec.fields[j].declared && spec.fields[j].constant == nil && !c.doc.Has(path+".fields."+name+".format"): // one that is still empty is a fault of its own
			c.fault(at, "declare format for "+name+", for example format: iso8601, or format: serial for date cells", "a date in a key must not depend on other rows")
		}
		spec.key = append(spec.key, k)
	}
}

func entityNames() []string {
	names := make([]string, len(importers.Entities))
	for i := range importers.Entities {
		names[i] = importers.Entities[i].Name
	}
	return names
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// fold is the form in which words are compared: NFC, trimmed, without case.
func fold(s string) string {
	return norm.NFC.String(cases.Fold().String(norm.NFC.String(strings.TrimSpace(s))))
}

// statedTime knows a day and an RFC 3339 time.
func statedTime(s string) bool {
	if _, err := time.Parse("2006-01-02", s); err == nil {
		return true
	}
	_, err := time.Parse(time.RFC3339, s)
	return err == nil
}
