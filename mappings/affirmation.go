package mappings

import (
	"slices"
	"strings"
	"unicode"

	"sheetlift/importers"
)

// answerFields are fields of records about people that only the source can fill: who, proof, when. Words of a mapping in their
// place would be answers that no row gave.
var answerFields = []string{"subject_id", "email", "phone", "device_id", "occurred_at", "notice_digest", "actor", "proof_ref"}

// translatedFields are fields of a consent whose words may be translated, but not out of a bare yes or no.
var translatedFields = []string{"purpose", "notice_id", "notice_version", "actor_role", "proof_kind"}

// bareWords say yes or no and nothing else. docs/mapping.md lists them.
var bareWords = slices.Concat(bareYes, bareNo)

var bareYes = []string{
	"y", "yes", "yep", "yeah", "j", "ja", "oui", "si", "sí", "sì", "sim", "da", "tak", "ano", "áno", "igen", "evet", "kyllä", "joo", "jah", "jā", "taip", "ναι", "да", "はい", "是",
	"x", "xx", "✓", "✔", "☑", "✅", "√", "●", "•", "*", "+", "1", "true", "wahr", "vrai", "vero", "verdadero", "verdadeiro", "waar", "on", "ok", "okay",
	"given", "granted", "agreed", "accepted", "confirmed", "checked", "active", "aktiv", "opt-in", "optin", "opt in", "opted in", "subscribed", "consent", "consented",
	"erteilt", "zugestimmt", "bestätigt", "vorhanden", "liegt vor", "einwilligung",
}

var bareNo = []string{
	"n", "no", "nope", "nein", "non", "nee", "não", "nie", "ne", "nem", "нет", "いいえ", "否", "✗", "✘", "☐", "-", "0", "false", "falsch", "faux", "falso", "onwaar", "off", "none", "n/a",
}

var bareWordSet = func() map[string]bool {
	set := make(map[string]bool, len(bareWords))
	for _, w := range bareWords {
		set[fold(w)] = true
	}
	return set
}()

// bareWord reports whether text says yes or no and nothing else, whatever marks stand around it. A variation selector after a tick
// (U+FE0E, U+FE0F) only says how it is drawn.
func bareWord(text string) bool {
	text = strings.NewReplacer("\ufe0e", "", "\ufe0f", "").Replace(text)
	return bareWordSet[fold(text)] || bareWordSet[fold(strings.TrimFunc(text, func(r rune) bool { return unicode.IsPunct(r) || unicode.IsSpace(r) }))]
}

// answers refuses an enum that would answer in the row's place.
func (c *checker) answers(path string, e *importers.Entity, fs *FieldSpec, p *fieldProgram) {
	if e.Config || len(fs.Enum) == 0 {
		return
	}
	if slices.Contains(answerFields, p.field.Name) {
		c.fault(path+".enum", "map the column that holds the value itself, or leave the field out; what an operator knows is const with stated_by, which is recorded and never counts",
			"words can't stand for %s: only the source says it", p.path)
		return
	}
	if !e.Event || !slices.Contains(translatedFields, p.field.Name) {
		return
	}
	for _, term := range sortedKeys(fs.Enum) {
		for i, text := range fs.Enum[term] {
			if !bareWord(text) {
				continue
			}
			at := path + ".enum." + term
			if c.doc.Has(index(at, i)) {
				at = index(at, i)
			}
			c.fault(at, "use const with stated_by: it is recorded and never counts", "the word %q says yes or no, and nothing about %s", strings.TrimSpace(text), p.path)
		}
	}
}
