// Package presets knows the exports of some source systems: one YAML file each, which says by which header an export is
// recognised, what its words mean, and what its rows can prove.
//
// It promises: recognition looks at the set of headers without regard to case, spaces, signs, order, a byte order mark and
// further columns, and at the file's name where that is the only place that says something; what comes of it is a draft, whose
// evidence stands beside each guess and which nobody reads by before a person has confirmed it. It refuses to know layouts
// that are not documented: an export that no preset fits is left to package suggest.
package presets

import (
	"cmp"
	"embed"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"sheetlift/importers"
	"sheetlift/mappings"
	"sheetlift/mappings/strictyaml"
	"sheetlift/mappings/suggest"
)

//go:embed *.yaml
var files embed.FS

// Preset is one known source system.
type Preset struct {
	Version int              `yaml:"version"`
	Name    string           `yaml:"preset"`
	Title   string           `yaml:"title"`
	Proves  string           `yaml:"proves"` // what its rows can prove
	Match   []match          `yaml:"match"`
	Without names            `yaml:"without"` // headers with which it is another export
	Files   []fileClass      `yaml:"files"`
	Columns map[string]names `yaml:"columns"` // role to headers by which it is known
	Values  map[string]names `yaml:"values"`  // role to the words it has, or @ and a list of words; where most cells hold others, it is another export
	Zone    string           `yaml:"zone"`
	ZoneWhy string           `yaml:"zone_evidence"`
	About   names            `yaml:"purpose_words"` // words that a fitting purpose has
	Skip    []skip           `yaml:"skip"`
	Records []record         `yaml:"records"`
}

// match is a set of roles and header texts that together tell the export apart.
type match []string

type names []string

func (match) OneOrMore() {}
func (names) OneOrMore() {}

// fileClass is what a file's name says.
type fileClass struct {
	Class   string `yaml:"class"`
	Matches string `yaml:"matches"`
	expr    *regexp.Regexp
}

type skip struct {
	mappings.Condition
	Reason   string `yaml:"reason"`
	Evidence string `yaml:"evidence"`
	Class    string `yaml:"class"` // only for files of this class
	Seen     bool   `yaml:"seen"`  // only where a cell holds one of the words
}

type record struct {
	Entity   string               `yaml:"entity"`
	Evidence string               `yaml:"evidence"`
	Needs    names                `yaml:"needs"`   // columns without which there is no such record
	Without  names                `yaml:"without"` // columns with which there is no such record
	Classes  names                `yaml:"classes"` // only for files of these classes; none: any
	Keys     []names              `yaml:"keys"`    // the first whose fields are all there counts
	When     mappings.Conditions  `yaml:"when"`
	History  bool                 `yaml:"history"`
	Fields   map[string]fieldSpec `yaml:"fields"`
}

type fieldSpec struct {
	mappings.FieldSpec
	Evidence string `yaml:"evidence"`
	Ask      string `yaml:"ask"`     // left to a person, with these words
	Purpose  bool   `yaml:"purpose"` // from the list of purposes beside the file
	Notice   bool   `yaml:"notice"`  // only when notices are imported beside the file
	Absent   string `yaml:"absent"`  // the value when no column says
	Else     names  `yaml:"else"`    // the roles of which the first that is there stands in when none of from is
}

// All is every preset, by name.
var All = sync.OnceValue(func() []*Preset {
	entries, err := files.ReadDir(".")
	if err != nil {
		panic("presets: " + err.Error()) // embedded
	}
	var list []*Preset
	for _, e := range entries {
		data, err := files.ReadFile(e.Name())
		if err != nil {
			panic("presets: " + err.Error())
		}
		p, err := parse(e.Name(), data)
		if err != nil {
			panic("presets: " + err.Error()) // a test parses every preset
		}
		list = append(list, p)
	}
	slices.SortFunc(list, func(a, b *Preset) int { return cmp.Compare(a.Name, b.Name) })
	return list
})

func parse(name string, data []byte) (*Preset, error) {
	doc, err := strictyaml.Parse(name, data)
	if err != nil {
		return nil, err
	}
	p := &Preset{}
	doc.Decode(p)
	if p.Name != strings.TrimSuffix(path.Base(name), ".yaml") || p.Title == "" || p.Proves == "" || len(p.Match) == 0 || len(p.Records) == 0 {
		doc.Fault("", "a preset has its file's name, a title, what it proves, a match and records", "")
	}
	for i := range p.Files {
		f := &p.Files[i]
		if f.expr, err = regexp.Compile(f.Matches); err != nil {
			doc.Fault(fmt.Sprintf("files[%d].matches", i), err.Error(), "")
		}
	}
	for i := range p.Records {
		e := importers.ByName(p.Records[i].Entity)
		for field := range p.Records[i].Fields {
			if e == nil || e.Field(field) < 0 {
				doc.Fault(fmt.Sprintf("records[%d].fields.%s", i, field), "no such field", "")
			}
		}
	}
	return p, doc.Err()
}

// loose is the form in which headers are compared here: letters and digits only, without case, so that receiptId, Receipt ID
// and receipt_id are one.
func loose(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) {
			return r
		}
		return -1
	}, norm.NFC.String(mappings.FoldHeader(s)))
}

// Found is a preset that fits a sheet.
type Found struct {
	Preset   *Preset
	Evidence string         // why it fits
	roles    map[string]int // role to column
	class    string
	look     *suggest.Look
	skipped  map[int][]string // column to words with which its rows are left out

	second *suggest.Look // another table beside it, nil if there is none
	beside string        // that there is one
}

// Find returns the preset that fits the sheet best, or nil.
func Find(l *suggest.Look) *Found {
	l, second, beside := l.FirstTable()
	var best *Found
	score := 0
	at := map[string]int{}
	for i := range l.Columns {
		h := loose(l.Columns[i].Header)
		if _, twice := at[h]; !twice && h != "" {
			at[h] = i
		}
	}
	for _, p := range All() {
		if f, n := p.find(l, at); f != nil && n > score {
			best, score = f, n
		}
	}
	if best != nil && (!best.readable() || best.overlooks()) && len(l.Kinds()) > 0 {
		return nil // the preset has nothing to read in it, or reads less than stands there, and something else has
	}
	if best != nil {
		best.second, best.beside = second, beside
	}
	return best
}

// readable reports whether the sheet has the columns of some record of the preset.
func (f *Found) readable() bool {
	return slices.ContainsFunc(f.Preset.Records, func(r record) bool { return f.gives(&r) })
}

// overlooks reports whether the preset would state a field in place of a column that it does not know, and that holds it, or ask for a status that a column
// gives for each row.
func (f *Found) overlooks() bool {
	if slices.ContainsFunc(f.Preset.Records, func(r record) bool {
		status, ok := r.Fields["status"]
		return ok && r.Entity == "consent" && status.Ask != "" && len(status.From) == 0 && f.gives(&r)
	}) {
		used := map[int]bool{}
		for _, col := range f.roles {
			used[col] = true
		}
		for col := range f.look.Columns {
			if !used[col] && f.look.Answers(col) && f.look.Rows > 0 {
				return true
			}
		}
	}
	return slices.ContainsFunc(f.Preset.Records, func(r record) bool {
		for name, spec := range r.Fields {
			if spec.Absent != "" && f.gives(&r) && !slices.ContainsFunc(spec.From, func(c mappings.Column) bool { return f.has(c.Header) }) && f.look.Rows > 0 && f.look.Reads(r.Entity, name) {
				return true
			}
		}
		return false
	})
}

// find tries one preset; the score is the number of headers it knows by name.
func (p *Preset) find(l *suggest.Look, at map[string]int) (*Found, int) {
	roles := map[string]int{}
	known := func(role string) bool {
		if _, ok := roles[role]; ok {
			return true
		}
		headers, ok := p.Columns[role]
		if !ok {
			headers = names{role}
		}
		for _, h := range headers {
			if i, ok := at[loose(h)]; ok {
				roles[role] = i
				return true
			}
		}
		return false
	}
	for role := range p.Columns {
		known(role)
	}
	var fits match
	for _, m := range p.Match {
		if len(m) > len(fits) && !slices.ContainsFunc(m, func(role string) bool { return !known(role) }) {
			fits = m
		}
	}
	if fits == nil || slices.ContainsFunc(p.Without, func(h string) bool { _, there := at[loose(h)]; return there }) {
		return nil, 0
	}
	for role, words := range p.Values {
		if i, ok := roles[role]; ok && l.Strange(i, words) {
			return nil, 0
		}
	}
	// A translated header: the address is known by its values where no name fits.
	if _, declared := p.Columns["email"]; declared && !known("email") {
		for i := range l.Columns {
			if c := &l.Columns[i]; c.Emails > 0 && c.Emails*2 > c.Filled {
				roles["email"] = i
				break
			}
		}
	}
	f := &Found{Preset: p, roles: roles, look: l, skipped: map[int][]string{}}
	var cols []string
	for _, role := range fits {
		cols = append(cols, l.Say(roles[role]))
	}
	f.Evidence = "recognised by " + strings.Join(cols, ", ")
	for _, c := range p.Files {
		if c.expr.MatchString(path.Base(l.File)) {
			f.class = c.Class
			f.Evidence += fmt.Sprintf("; the file's name says %s", c.Class)
			break
		}
	}
	return f, len(roles)
}
