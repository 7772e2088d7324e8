package suggest

import (
	"fmt"
	"slices"
	"strings"

	"sheetlift/mappings"
	"sheetlift/pipeline/finding"
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
// whole file, which a person states. about are words that a fitting purpose has; texts are what names the question, such as a header.
func (c *Context) PurposeField(l *Look, index int, about []string, texts ...string) Field {
	f := Field{Name: "purpose", Confirm: true}
	if index >= 0 {
		f.Spec.From = mappings.Columns{l.Name(index)}
		f.why(l.Say(index) + " names the purpose of each row")
		c.purposeWords(&f, l.Of(index))
		return f
	}
	f.Spec.StatedBy = &mappings.StatedBy{Name: c.By.Name, At: c.By.At}
	best, why := c.likely(about, texts)
	switch {
	case best >= 0:
		code := c.Purposes[best].Code
		f.Spec.Const = &code
		f.why("no column says what the consent was for; " + why + ". A stated purpose never counts as evidence")
	case len(c.Purposes) == 0:
		f.why("no column says what the consent was for, and no list of purposes is drafted beside this file")
		f.ask("const", "which purpose? a code of the list of purposes that is imported with this file")
	default:
		f.why("no column says what the consent was for, and nothing shows which of the " + fmt.Sprint(len(c.Purposes)) + " purposes of the list it is")
		f.ask("const", "which purpose? "+c.codes()+". If one file holds several, give it a column that says which")
	}
	return f
}

// codes lists the codes of the purposes that a person may choose from.
func (c *Context) codes() string {
	var codes []string
	for _, p := range c.Purposes[:min(len(c.Purposes), 12)] {
		codes = append(codes, p.Code)
	}
	if more := len(c.Purposes) - len(codes); more > 0 {
		codes = append(codes, fmt.Sprintf("or one of %d others", more))
	}
	return strings.Join(codes, ", ")
}

// purposesIn counts the rows of a column that hold a code or a name of the list of purposes.
func (c *Context) purposesIn(col *Column) (n int) {
	for word, rows := range col.Words {
		if slices.ContainsFunc(c.Purposes, func(p Purpose) bool { return word == mappings.FoldWord(p.Code) || word == mappings.FoldWord(p.Name) }) {
			n += rows
		}
	}
	return n
}

// purposeWords maps a column's words to codes where they are not the codes themselves, letter for letter: an enum takes a word in
// every spelling, and a code is looked up as it stands.
func (c *Context) purposeWords(f *Field, col *Column) {
	if col == nil || len(col.vocabulary()) == 0 || col.Hidden > 0 || len(c.Purposes) == 0 {
		return
	}
	enum, codes, unknown, respelt, twins := map[string]mappings.Strings{}, 0, 0, 0, 0
	words := col.vocabulary()
	for _, word := range words {
		switch code, several := c.purposeOf(word); {
		case several:
			twins++
		case code == "":
			unknown++
		default:
			if col.As(word) == code && !col.also[word] {
				codes++
			} else if mappings.FoldWord(code) == word {
				respelt++
			}
			enum[code] = append(enum[code], col.As(word))
		}
	}
	switch {
	case codes == len(words):
		f.why("each of its words is a code of the list of purposes")
	case unknown == len(words):
		f.why("none of its words is in the list of purposes: import the purposes, or map its words with enum")
	case twins > 0: // an enum would make one purpose of them
		f.why(finding.Count(twins, "word of it stands", "words of it stand") + " for more than one purpose of the list, which differ in case or have one name; only a word that is a code letter for letter is found, and others are rejected as ref.not_found")
	default:
		f.Spec.Enum = enum
		switch said := "its words are codes or names of the list of purposes"; {
		case unknown > 0:
			f.why(said + ", but for " + finding.Count(unknown, "word", "words") + " that the list lacks, whose rows are rejected: add the purpose to the list, or map the word")
		case respelt > 0:
			f.why(said)
		default:
			f.why("its words are names of the list of purposes")
		}
		if respelt > 0 {
			f.why(finding.Count(respelt, "code is", "codes are") + " spelled in more than one way, or otherwise than in the list; enum takes every spelling")
		}
	}
}

// purposeOf finds the purpose that a folded word is the code of, or else the name of; several if it is not the only one.
func (c *Context) purposeOf(word string) (code string, several bool) {
	for _, of := range []func(p *Purpose) string{func(p *Purpose) string { return p.Code }, func(p *Purpose) string { return p.Name }} {
		n := 0
		for i := range c.Purposes {
			if p := &c.Purposes[i]; of(p) != "" && mappings.FoldWord(of(p)) == word {
				if n++; n == 1 {
					code = p.Code
				}
			}
		}
		if n > 0 {
			return code, n > 1
		}
	}
	return "", false
}

// Marketing are pieces of what consents to mailings are called; the last is a purpose in a list of purposes, and a channel anywhere else.
var Marketing = []string{"newsletter", "marketing", "news", "mailing", "werbung", "promo", "publicid", "publicit", "pubblicit", "reclame", "boletin", "nieuwsbrief", "lettre", "email"}

// subscribing are pieces of what the people on a mailing list are called.
var subscribing = []string{"subscrib", "abonn", "suscri", "iscritt", "infolettre", "mailinglist"}

// categories are pieces of what the questions of a cookie banner are called, those of one kind together.
var categories = [][]string{
	{"statisti", "estadist", "analyt", "analis", "analys", "audience", "measur", "messung", "mesure", "performance"},
	{"marketing", "advertis", "werbung", "targeting", "publicid", "publicit", "pubblicit", "reclame"},
	{"preferenc", "praferenz", "preferenz", "functional", "funktional", "fonction", "funcional", "funzional", "functioneel", "personali"},
	{"social", "extern"},
}

// otherQuestions are pieces of headers that ask for something else than whether somebody wants mailings.
var otherQuestions = strings.Fields("track profil verfolg suivi seguim tracciam rastre volgen thirdpart dritte tiers tercer terzi terceir derden partner partenaire share weitergabe partage ceder comparti cession cookie geoloc standort photo foto bild image immagin imagen research forschung recherche biometr gesundheit health sante salud salute saude")

// asksElse reports whether a header asks for something else than whether somebody wants mailings.
func asksElse(header string) bool {
	header = plain(header)
	return holds(header, otherQuestions) && !holds(header, Marketing[:len(Marketing)-1])
}

// likely picks a purpose and says why: the only one, the one that the texts name, or the only one that has one of the words. -1 if none
// is likelier than another.
func (c *Context) likely(about, texts []string) (int, string) {
	switch len(c.Purposes) {
	case 0:
		return -1, ""
	case 1:
		only := plain(c.Purposes[0].Code + " " + c.Purposes[0].Name)
		if len(texts) > 0 && asksElse(texts[0]) && !holds(only, otherQuestions) {
			return -1, ""
		}
		for _, kind := range categories {
			if len(texts) > 0 && holds(plain(texts[0]), kind) && !holds(only, kind) && !(slices.Contains(kind, "marketing") && holds(only, Marketing)) {
				return -1, "" // the header names another
			}
		}
		return 0, "it is the only purpose of the list"
	}
	only := func(fits func(p *Purpose) bool) int {
		found := -1
		for i := range c.Purposes {
			if fits(&c.Purposes[i]) {
				if found >= 0 {
					return -1
				}
				found = i
			}
		}
		return found
	}
	for _, text := range texts {
		words := wordsOf(text)
		text = plain(text)
		if i := only(func(p *Purpose) bool {
			code, name := plain(p.Code), plain(p.Name)
			return slices.Contains(words, code) || len(code) > 3 && strings.Contains(text, code) || len(name) > 3 && strings.Contains(text, name) || len(text) > 3 && strings.Contains(code+" "+name, text)
		}); i >= 0 {
			return i, "its name stands in the header or the file's name"
		}
	}
	families := [][]string{about}
	if len(texts) > 0 && asksElse(texts[0]) {
		families = nil
	}
	if slices.ContainsFunc(texts, func(text string) bool {
		return holds(plain(text), Marketing[:len(Marketing)-1]) || holds(plain(text), subscribing)
	}) {
		families = append(families, Marketing)
	}
	for _, kind := range categories {
		if len(texts) > 0 && holds(plain(texts[0]), kind) {
			families = append(families, kind)
		}
	}
	for _, family := range families {
		if i := only(func(p *Purpose) bool { return holds(plain(p.Code+" "+p.Name), family) }); i >= 0 {
			return i, "nothing in the file names one; of the list (" + c.codes() + ") this one alone sounds like it"
		}
	}
	return -1, ""
}

func holds(text string, words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, w) })
}

// wordsOf are the words of a text as plain gives them: a short code is named by a word of its own only.
func wordsOf(text string) []string {
	return mappings.HeaderWords(text)
}

// State makes a field one value for the whole file. In a consent somebody answers for it.
func (c *Context) State(f *Field, entity, value string) {
	f.Spec.Const = &value
	if entity == "consent" {
		f.Spec.StatedBy = &mappings.StatedBy{Name: c.By.Name, At: c.By.At}
	}
}
