package suggest

import (
	"slices"
	"strings"

	"sheetlift/mappings"
)

// Context is what a draft may rest on besides its own sheet.
type Context struct {
	Name     string            // of the source
	Purposes []Purpose         // the codes in the list of purposes that is imported with the sheet
	Notices  bool              // a list of notices is imported with the sheet
	By       mappings.StatedBy // who states constants; without a name, the draft asks for it
}

// Purpose is one line of a list of purposes. Neither part is a personal value.
type Purpose struct{ Code, Name string }

// PurposeField drafts consent's purpose: from a column whose words are codes or names of the list, or else as one code for the
// whole file, which a person states.
func (c *Context) PurposeField(l *Look, index int, about ...string) Field {
	f := Field{Name: "purpose", Confirm: true}
	if index >= 0 {
		f.Spec.From = mappings.Columns{l.Name(index)}
		f.why(l.Say(index) + " names the purpose of each row")
		c.purposeWords(&f, l.Of(index))
		return f
	}
	f.Spec.StatedBy = &mappings.StatedBy{Name: c.By.Name, At: c.By.At}
	best := c.likely(about)
	if best < 0 {
		f.why("no column says what the consent was for, and no list of purposes is drafted beside this file")
		f.ask("const", "which purpose? a code of the list of purposes that is imported with this file")
		return f
	}
	code := c.Purposes[best].Code
	f.Spec.Const = &code
	if len(c.Purposes) == 1 {
		f.why("no column says what the consent was for; it is the only purpose of the list. A stated purpose never counts as evidence")
	} else {
		f.why("no column says what the consent was for; the list of purposes has several, and this one's words are the nearest. A stated purpose never counts as evidence")
	}
	return f
}

// purposeWords maps a column's words to codes where the list knows them by name only.
func (c *Context) purposeWords(f *Field, col *Column) {
	if col == nil || len(col.vocabulary()) == 0 || len(c.Purposes) == 0 {
		return
	}
	enum, codes, known := map[string]mappings.Strings{}, 0, 0
	for _, word := range col.vocabulary() {
		for _, p := range c.Purposes {
			if code := mappings.FoldWord(p.Code); word == code || word == mappings.FoldWord(p.Name) {
				if col.As(word) == p.Code {
					codes++
				}
				known++
				enum[p.Code] = append(enum[p.Code], col.As(word))
				break
			}
		}
	}
	switch {
	case codes == len(col.vocabulary()):
		f.why("each of its words is a code of the list of purposes")
	case known == 0:
		f.why("none of its words is in the list of purposes: import the purposes, or map its words with enum")
	default:
		f.Spec.Enum = enum
		f.why("its words are names of the list of purposes")
	}
}

var marketing = []string{"newsletter", "marketing", "news", "mailing", "werbung", "promo", "publicid", "pubblicit", "reclame", "boletin", "lettre", "email"}

// likely picks a purpose: the only one, or the first whose code or name has one of the words.
func (c *Context) likely(about []string) int {
	if len(c.Purposes) == 0 {
		return -1
	}
	for _, word := range append(about, marketing...) {
		if i := slices.IndexFunc(c.Purposes, func(p Purpose) bool {
			return strings.Contains(mappings.FoldWord(p.Code+" "+p.Name), word)
		}); i >= 0 {
			return i
		}
	}
	return 0
}

// State makes a field one value for the whole file. In a consent somebody answers for it.
func (c *Context) State(f *Field, entity, value string) {
	f.Spec.Const = &value
	if entity == "consent" {
		f.Spec.StatedBy = &mappings.StatedBy{Name: c.By.Name, At: c.By.At}
	}
}
