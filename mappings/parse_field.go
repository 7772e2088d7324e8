package mappings

import (
	"slices"
	"strings"

	"github.com/nyaruka/phonenumbers"

	"sheetlift/importers"
	"sheetlift/mappings/strictyaml"
)

// readAs lists, for each type of an entity's field, the types a mapping may read its cells as.
var readAs = map[importers.Type][]importers.Type{
	importers.Text:     {importers.Text, importers.ID, importers.Email, importers.Phone, importers.Enum, importers.Date, typeCountry, typeLanguage},
	importers.ID:       {importers.ID, importers.Email, importers.Phone, importers.Enum, typeCountry, typeLanguage},
	importers.Email:    {importers.Email},
	importers.Phone:    {importers.Phone},
	importers.Date:     {importers.Date},
	importers.DateTime: {importers.DateTime, importers.Date},
	importers.Enum:     {importers.Enum},
	importers.Bool:     {importers.Bool},
	importers.Integer:  {importers.Integer},
}

var normalizations = []string{"trim", "nfc", "lower", "upper", "collapse", "apostrophe", "plus"}

// field checks one field of a record and compiles it. What is wrong is recorded; the program is then never used.
func (c *checker) field(path string, e *importers.Entity, i int, fs *FieldSpec) fieldProgram {
	f := &e.Fields[i]
	p := fieldProgram{index: i, field: f, path: e.Name + "." + f.Name, typ: f.Type, join: " ", region: fs.Region, nulls: map[string]bool{}}
	if fs.Type != "" {
		p.typ = fs.Type
		if allowed := readAs[f.Type]; !slices.Contains(allowed, fs.Type) {
			c.fault(path+".type", "remove type, or write one of: "+joinTypes(allowed), "%s is a field of type %s and can't be read as %q", p.path, f.Type, fs.Type)
			p.typ = f.Type
		}
	}
	if len(fs.Enum) > 0 && fs.Type == "" && (f.Type == importers.Text || f.Type == importers.ID) {
		p.typ = importers.Enum
	}
	p.from = fs.From
	for j := range fs.From {
		at := path + ".from"
		if len(fs.From) > 1 {
			at = index(at, j)
		}
		if !c.doc.Has(at) {
			at = path // the short form
		}
		c.column(at, &fs.From[j])
	}
	p.first = fs.First
	if fs.Join != nil {
		p.join = *fs.Join
		if !p.joins() {
			c.fault(path+".join", "remove join", "join is for several columns of a text or date")
		}
	}
	p.zone = c.zone(path+".zone", fs.Zone)
	c.formats(path, fs, &p)
	c.words(path, e, fs, &p)
	for _, w := range fs.NullTokens {
		if fold(w) == "" {
			c.fault(path+".null_tokens", "remove the blank word; a blank cell is no value anyway", "a null token is blank")
		}
		p.nulls[fold(w)] = true
	}
	c.refusals(path, e, fs, &p)
	for j, n := range fs.Normalize {
		at := path + ".normalize"
		if len(fs.Normalize) > 1 {
			at = index(at, j)
		}
		switch n {
		case "trim":
			p.norm.trim = true
		case "apostrophe":
			p.norm.apostrophe = true
		case "nfc":
			p.norm.nfc = true
		case "lower":
			p.norm.lower = true
		case "upper":
			p.norm.upper = true
		case "collapse":
			p.norm.collapse = true
		case "plus":
			p.norm.plus = true
			if p.typ != importers.Phone {
				c.fault(at, "remove it", "plus is for telephone numbers")
			}
		default:
			c.fault(at, "known: "+strings.Join(normalizations, ", "), "there is no normalization %q", n)
		}
	}
	if p.norm.lower && p.norm.upper {
		c.fault(path+".normalize", "keep one of them", "lower and upper contradict each other")
	}
	if fs.Region != "" {
		switch {
		case p.typ != importers.Phone:
			c.fault(path+".region", "remove region", "region is for telephone numbers")
		case !phonenumbers.GetSupportedRegions()[fs.Region]:
			c.fault(path+".region", "write the ISO 3166 code in capitals, such as DE", "%q is no region", fs.Region)
		}
	}
	switch {
	case fs.Decimal == "":
	case fs.Decimal != "comma" && fs.Decimal != "point":
		c.fault(path+".decimal", "write comma or point", "there is no decimal %q", fs.Decimal)
	case p.typ != importers.Integer && !p.serial:
		c.fault(path+".decimal", "remove decimal", "decimal is for integers and for dates with format: serial")
	default:
		p.comma = fs.Decimal == "comma"
	}
	if fs.Zone != "" && p.typ != importers.DateTime {
		c.fault(path+".zone", "remove zone", "zone is for times; %s is a field of type %s", p.path, p.typ)
	}
	if fs.Rules != "" {
		r, err := compileRules(fs.Rules, p.typ)
		if err != nil {
			c.fault(path+".rules", "the tags are listed in docs/mapping.md", "%s", err)
		}
		p.rules = r
	}
	c.source(path, e, fs, &p)
	c.answers(path, e, fs, &p)
	return p
}

func joinTypes(list []importers.Type) string {
	names := make([]string, len(list))
	for i, t := range list {
		names[i] = string(t)
	}
	return strings.Join(names, ", ")
}

func (c *checker) formats(path string, fs *FieldSpec, p *fieldProgram) {
	if len(fs.Format) == 0 {
		return
	}
	if !p.isDate() {
		c.fault(path+".format", "remove format", "format is for dates; %s is read as %s", p.path, p.typ)
		return
	}
	p.declared = true
	for i, text := range fs.Format {
		at := path + ".format"
		if len(fs.Format) > 1 {
			at = index(at, i)
		}
		switch text {
		case "iso8601":
			p.iso = true
		case "serial":
			p.serial = true
		default:
			l, err := compileLayout(text)
			if err != nil {
				c.fault(at, "examples: YYYY-MM-DD HH:mm, DD.MM.YYYY, MM/DD/YYYY, iso8601, serial", "%s", err)
				continue
			}
			p.layouts = append(p.layouts, l)
		}
	}
}

// words compiles the enum map together with polarity.
func (c *checker) words(path string, e *importers.Entity, fs *FieldSpec, p *fieldProgram) {
	status := e.Name == "consent" && p.field.Name == "status"
	yesNo := status || p.typ == importers.Bool
	usesYesNo := false
	switch {
	case p.typ == importers.Enum, p.typ == importers.Bool:
	case len(fs.Enum) > 0 && !e.Config && slices.Contains(answerFields, p.field.Name):
		return // answers says why
	case len(fs.Enum) > 0:
		c.fault(path+".enum", "remove enum, or remove type", "enum does not go with type %s", p.typ)
		return
	default:
		if fs.Polarity != "" {
			c.fault(path+".polarity", "remove polarity", "polarity is for yes and no")
		}
		return
	}
	if fs.Polarity != "" && fs.Polarity != "normal" && fs.Polarity != "inverted" {
		c.fault(path+".polarity", "write normal or inverted", "there is no polarity %q", fs.Polarity)
	}
	inverted := fs.Polarity == "inverted"
	p.inverted = inverted
	p.words = map[string]word{}
	add := func(at, text string, w word) {
		key := fold(text)
		if key == "" {
			c.fault(at, "remove it; a blank cell is no value", "a word is blank")
			return
		}
		if before, twice := p.words[key]; twice && before != w {
			c.fault(at, "words match without regard to case and outer spaces", "the word %q stands for two things", strings.TrimSpace(text))
			return
		}
		p.words[key] = w
	}
	var terms []string
	for _, t := range p.field.Terms {
		terms = append(terms, t.Name)
	}
	if yesNo {
		terms = append(terms, "yes", "no")
	}
	for _, term := range sortedKeys(fs.Enum) {
		at := path + ".enum." + term
		var w word
		switch {
		case yesNo && (term == "yes" || term == "no" || (!status && (term == "true" || term == "false"))):
			usesYesNo = true
			w = yesOrNo(status, term == "yes" || term == "true", inverted)
			p.yesGiven = p.yesGiven || w.term == "given"
		case len(p.field.Terms) == 0 && !yesNo:
			w = word{term: term} // a field without a closed list takes any term, such as a purpose code
			if strings.TrimSpace(term) != term || term == "" {
				c.fault(at, "write the value as it should be stored", "the term is blank or begins or ends with a space")
			}
		case p.field.Has(term):
			w = word{term: term}
		default:
			remedy := "terms: " + strings.Join(terms, ", ")
			if near := strictyaml.Nearest(term, terms); near != "" {
				remedy = "did you mean " + near + "? " + remedy
			}
			if len(fs.Enum[term]) == 1 && slices.Contains(terms, fs.Enum[term][0]) {
				remedy = "the term comes first: " + fs.Enum[term][0] + ": [" + term + "]"
			}
			c.fault(at, remedy, "%q is no term of %s", term, p.path)
			continue
		}
		if len(fs.Enum[term]) == 0 {
			c.fault(at, "list the words of the source, or remove the term", "the term has no words")
		}
		for i, text := range fs.Enum[term] {
			if c.doc.Has(index(at, i)) {
				add(index(at, i), text, w)
			} else {
				add(at, text, w)
			}
		}
	}
	if len(fs.Enum) == 0 { // the field's own terms
		for _, t := range p.field.Terms {
			p.words[fold(t.Name)] = word{term: t.Name}
		}
		if p.typ == importers.Bool {
			p.words["true"], p.words["false"] = yesOrNo(false, true, inverted), yesOrNo(false, false, inverted)
			usesYesNo = true
		}
	}
	switch {
	case len(p.words) == 0 && len(fs.Enum) == 0:
		c.fault(path, "add enum: and the words of each value", "%s has no closed list of its own", p.path)
	case fs.Polarity != "" && !usesYesNo:
		c.fault(path+".polarity", "remove polarity, or map words to yes and no", "polarity has nothing to act on")
	case fs.Polarity == "" && usesYesNo && status:
		c.fault(path+".enum", "add polarity: normal if yes means consent, polarity: inverted if yes means that the person opted out", "yes and no of a consent status need a polarity")
	}
}

// yesOrNo is what a word for yes or no means. A no to "opted out?" is no consent: it says nothing.
func yesOrNo(status, yes, inverted bool) word {
	switch {
	case status && !inverted && yes:
		return word{term: "given"}
	case status && !inverted:
		return word{term: "refused"}
	case status && yes:
		return word{term: "withdrawn"}
	case status:
		return word{noAnswer: true}
	case yes != inverted:
		return word{value: 1}
	}
	return word{value: 0}
}

// source checks from, const and stated_by.
func (c *checker) source(path string, e *importers.Entity, fs *FieldSpec, p *fieldProgram) {
	if fs.StatedBy != nil {
		if fs.Const == nil && !c.doc.Has(path+".const") { // one that is still empty is a fault of its own
			c.fault(path+".stated_by", "remove stated_by", "stated_by goes with const")
		}
		if strings.TrimSpace(fs.StatedBy.Name) == "" {
			c.fault(path+".stated_by", "add name: and who states the value", "stated_by has no name")
		}
		if !statedTime(fs.StatedBy.At) {
			c.fault(path+".stated_by", "write at: YYYY-MM-DD or an RFC 3339 time", "stated_by does not say when")
		}
	}
	switch {
	case fs.Const == nil && len(fs.From) == 0 && (c.doc.Has(path+".const") || c.doc.Has(path+".from")): // still empty, which is a fault of its own
	case fs.Const == nil && len(fs.From) == 0:
		c.fault(path, "write from: and a column, or const: and a value", "%s comes from nowhere", p.path)
	case fs.Const != nil && len(fs.From) > 0:
		c.fault(path, "keep one of them", "%s has both from and const", p.path)
	case fs.Const != nil && e.Name == "consent" && fs.StatedBy == nil:
		c.fault(path+".const", "add stated_by: { name: WHO, at: YYYY-MM-DD }", "a value for every consent needs somebody who states it")
	case fs.Const != nil && strings.TrimSpace(*fs.Const) == "":
		c.fault(path+".const", "give a value, or remove the field", "const is blank")
	case fs.Const != nil && fs.Polarity != "":
		c.fault(path+".polarity", "remove polarity", "polarity does not go with const")
	case fs.Const != nil:
		v, err := constValue(p, *fs.Const, c.m.Zone)
		if err != nil {
			c.fault(path+".const", err.remedy, "%s", err.message)
		}
		p.constant = v
	}
}
