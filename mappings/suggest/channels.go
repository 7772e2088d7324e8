package suggest

import (
	"slices"
	"strings"

	"sheetlift/mappings"
)

// mail are words that one language has for e-mail and the next for letters.
var mail = strings.Fields("mail mails mailings correo correos correio correios")

func (s *suggestion) channel(r *Record, header string, several bool) {
	channel := channelOf(plain(header))
	letters := channel == "" && optsOut(header) == mappings.NoOptOut && slices.ContainsFunc(wordsOf(header), func(word string) bool { return slices.Contains(mail, word) })
	if _, mapped := s.at["channel"]; mapped || channel == "" && !several && !letters {
		return
	}
	f := Field{Name: "channel", Confirm: true}
	switch {
	case channel != "":
		s.ctx.State(&f, "consent", channel)
		f.why("the header names it")
	case letters:
		s.ctx.State(&f, "consent", "")
		f.Spec.Const = nil
		f.ask("const", "does the header speak of e-mail or of letters? email or post")
	default:
		s.ctx.State(&f, "consent", "any")
		f.why(noChannel)
	}
	r.Fields = append(r.Fields, f)
}

// noChannel is why an answer is drafted as one for any channel.
const noChannel = "the header names no channel, and several columns answer"

// whichChannels asks for the channel of consents whose header names none, beside answers that name theirs: one on any channel would be
// one too where the other says no or nothing. What speaks against consent may stay on any.
func (s *suggestion) whichChannels(list []Record) {
	for i := range list {
		r := &list[i]
		channel := slices.IndexFunc(r.Fields, func(f Field) bool { return f.Name == "channel" && slices.Contains(f.Why, noChannel) })
		if channel < 0 || !r.mayGive() || otherQuestion(r) {
			continue
		}
		var others []string
		for j := range list {
			of, status := list[j].stated("channel"), list[j].field("status")
			if j == i || of == "" || of == "any" || status == nil || len(status.Spec.From) != 1 || otherQuestion(&list[j]) {
				continue
			}
			if other := status.Spec.From[0].String() + " answers for " + of; !slices.Contains(others, other) {
				others = append(others, other)
			}
		}
		if len(others) == 0 {
			continue
		}
		f := &r.Fields[channel]
		f.Spec.Const, f.Why = nil, []string{"the header names no channel"}
		f.ask("const", "which channel is this a consent for? "+strings.Join(others, ", ")+". email, if it is the answer to e-mail; any, only if it is one for every channel, also where the others say no or nothing")
	}
}

// otherQuestion reports whether a consent is to something else than mailings by its header, or a purpose of its own.
func otherQuestion(r *Record) bool {
	status := r.field("status")
	return r.about != "" && !holds(plain(r.about), Marketing) || len(status.Spec.From) == 1 && asksElse(status.Spec.From[0].Header)
}
