package suggest

import (
	"slices"
	"strconv"

	"sheetlift/mappings"
)

// status drafts how an answer is read, and which rows answer.
func (s *suggestion) status(col int) (Field, []mappings.Condition) {
	f := Field{Name: "status", Confirm: true, Spec: mappings.FieldSpec{From: mappings.Columns{s.look.Name(col)}}}
	f.why(s.counts(col))
	s.enum(&f, col, answers)
	if s.look.optsOut(col) != mappings.NoOptOut {
		inForce(&f)
		s.denied(&f, col)
	}
	if _, yes := f.Spec.Enum["yes"]; yes || f.Spec.Enum["no"] != nil {
		switch {
		case s.look.optout(col):
			f.Spec.Polarity = "inverted"
			f.why("the header sounds like an opt-out, so yes means withdrawn and no says nothing")
		case s.look.optsOut(col) == mappings.MaybeOptOut:
			ask := "what does a yes in " + s.look.Say(col) + " mean? The header may ask for an opt-out: normal, if yes is consent; inverted, if yes is a refusal"
			if _, based := s.at["lawful_basis"]; based {
				ask += ": then remove lawful_basis from this record, for a refusal counts on whatever basis the row rests, and a row on another than consent is skipped"
			}
			f.ask("polarity", ask)
		case yes && s.confirms(col):
			said := slices.Concat(f.Spec.Enum["yes"], f.Spec.Enum["given"])
			enum := map[string]mappings.Strings{"given": said}
			for _, term := range []string{"refused", "withdrawn"} {
				if words := f.Spec.Enum[term]; len(words) > 0 {
					enum[term] = words
					said = append(slices.Clone(said), words...)
				}
			}
			f.Spec.Enum = enum
			f.why("the header speaks of a confirmation: a no means that nobody confirmed, which is no answer")
			return f, []mappings.Condition{{Column: s.look.Name(col), In: said}}
		default:
			f.Spec.Polarity = "normal"
			f.why("yes is taken for consent by the header")
		}
	}
	return f, nil
}

// denied takes a word that the header denies, such as Allow in Do not allow emails, for a no to the opt-out: it is what everybody has
// who never said anything.
func (s *suggestion) denied(f *Field, col int) {
	if !s.look.optout(col) {
		return
	}
	header := wordsOf(s.look.Columns[col].Header)
	for _, word := range noConsents(f, func(word string) bool { return slices.Contains(header, plain(word)) }) {
		f.Spec.NullTokens = append(f.Spec.NullTokens, word)
		f.why(strconv.Quote(word) + " is what the header denies, so it says only that nobody opted out")
	}
}

// inForce takes words such as active in a column of opt-outs for a yes to the opt-out, which they would else be consents by.
func inForce(f *Field) {
	if words := noConsents(f, func(word string) bool { return !holds(plain(word), standing) }); len(words) > 0 {
		f.Spec.Enum["yes"] = append(f.Spec.Enum["yes"], words...)
	}
}

// noConsents takes words from those that are drafted as consents, and gives them.
func noConsents(f *Field, are func(word string) bool) (words mappings.Strings) {
	var given mappings.Strings
	for _, word := range f.Spec.Enum["given"] {
		if are(word) {
			words = append(words, word)
		} else {
			given = append(given, word)
		}
	}
	if delete(f.Spec.Enum, "given"); given != nil {
		f.Spec.Enum["given"] = given
	}
	return words
}
