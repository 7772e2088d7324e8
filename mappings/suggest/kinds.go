package suggest

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"sheetlift/mappings"
	"sheetlift/pipeline/finding"
)

// Kind is what the rows of a sheet may be, and what speaks for it.
type Kind struct {
	Entity string
	Why    []string
	score  int
}

func (k *Kind) say(n int, format string, args ...any) {
	k.score += n
	k.Why = append(k.Why, fmt.Sprintf(format, args...))
}

// Scores below faint are chance: one header or one word that fits. A second kind that is less than clear behind the first is named
// beside it.
const (
	faint = 3
	clear = 3
)

// signs are what a sheet shows, whatever its rows are.
type signs struct {
	name             string // of the file and the sheet, plain
	answers, optouts []int  // columns that answer about consent, and those of them that ask for an opt-out
	left             []int  // columns of days on which somebody left
	ended            []int  // columns of days on which something ended, which may be that
	contact, id      bool   // contact points; something else that says who is meant
}

func (l *Look) signs() signs {
	s := signs{name: plain(l.File + " " + l.Sheet)}
	r := l.read("suppression")
	_, email := r.at["email"]
	_, phone := r.at["phone"]
	s.contact = email || phone
	consent := l.read("consent")
	for _, f := range []string{"subject_id", "device_id"} {
		if _, ok := consent.at[f]; ok {
			s.id = true
		}
	}
	for col := range l.Columns {
		switch {
		case l.answers(col):
			s.answers = append(s.answers, col)
			if l.optout(col) {
				s.optouts = append(s.optouts, col)
			}
		case l.leaves(col):
			s.left = append(s.left, col)
		case l.mayLeave(col):
			s.ended = append(s.ended, col)
		}
	}
	return s
}

// named reports whether the name of the file or the sheet says an entity. A piece that begins with = is a word of it.
func (l *Look) named(entity string) bool { return l.called(sheetWords[entity]) }

func (l *Look) called(words []string) bool {
	name := plain(l.File + " " + l.Sheet)
	whole := parts(l.File + " " + l.Sheet)
	return slices.ContainsFunc(words, func(w string) bool {
		if word, ok := strings.CutPrefix(w, "="); ok {
			return slices.Contains(whole, word)
		}
		return strings.Contains(name, w)
	})
}

// Kinds lists what the rows of a sheet may be, the likeliest first: headers in seven languages and what the cells hold are weighed
// against each other, and neither decides alone.
func (l *Look) Kinds() []Kind {
	s := l.signs()
	var list []Kind
	for _, k := range []*Kind{l.activity(), l.cases(), l.retention(&s), l.notice(&s), l.suppressions(&s), l.consent(&s), l.purpose(&s)} {
		if k != nil && k.score >= faint {
			list = append(list, *k)
		}
	}
	slices.SortStableFunc(list, func(a, b Kind) int { return b.score - a.score })
	return list
}

// Rivals are the kinds that are too near to the first to be left out in silence.
func Rivals(kinds []Kind) []Kind {
	for i := range kinds {
		if i > 0 && kinds[0].score-kinds[i].score >= clear {
			return kinds[1:i]
		}
	}
	return kinds[min(1, len(kinds)):]
}

// Entity says what the rows of a sheet are, and what speaks for it; "" if nothing does.
func (l *Look) Entity() (entity, why string) {
	if kinds := l.Kinds(); len(kinds) > 0 {
		return kinds[0].Entity, strings.Join(kinds[0].Why, "; ")
	}
	return "", ""
}

func (r *reading) has(fields ...string) (n int) {
	for _, f := range fields {
		if _, ok := r.at[f]; ok {
			n++
		}
	}
	return n
}

func (l *Look) activity() *Kind {
	n := l.read("activity").has("subject_categories", "data_categories", "recipients", "transfers", "retention", "security")
	if n < 3 {
		return nil
	}
	k := &Kind{Entity: "activity"}
	k.say(2*n, "the headers are those of a record of processing (GDPR Article 30)")
	return k
}

func (l *Look) retention(s *signs) *Kind {
	if s.contact || l.read("retention_rule").has("months", "entity", "rule_id") < 3 {
		return nil
	}
	k := &Kind{Entity: "retention_rule"}
	k.say(6, "the headers name a rule, what it governs, and months")
	return k
}

func (l *Look) notice(s *signs) *Kind {
	r := l.read("notice")
	if s.contact || len(s.answers) > 0 || r.has("notice_version", "valid_from") < 2 {
		return nil
	}
	k := &Kind{Entity: "notice"}
	k.say(4, "the headers name a version and since when it is in force")
	if l.named("notice") {
		k.say(2, "the name says notices")
	}
	return k
}

func (l *Look) purpose(s *signs) *Kind {
	r := l.read("purpose")
	if s.contact || len(s.answers) > 0 || r.has("purpose_id") == 0 || len(l.Columns) > 8 {
		return nil
	}
	k := &Kind{Entity: "purpose"}
	if l.named("purpose") {
		k.say(4, "codes under a name that says purposes")
	} else if r.has("name") > 0 && l.read("notice").has("notice_version", "valid_from") < 2 {
		k.say(3, "codes and names without any contact point")
	}
	return k
}

// cases weighs requests of data subjects. What they have and consents have not: kinds of request, days by which they are to be
// answered, states of work.
func (l *Look) cases() *Kind {
	r := l.read("case")
	k := &Kind{Entity: "case"}
	typed := false
	if col, ok := r.at["request_type"]; ok {
		c := &l.Columns[col]
		known, own := c.share("request_type", "reason", answers, "case.status")
		switch {
		case own*2 > c.Filled && c.Filled > 0:
			typed = true
			k.say(4, "%s with rights of data subjects in %d of %s", l.Say(col), known, finding.Count(l.Rows, "row", "rows"))
		case known*2 > c.Filled && c.Filled > 0:
			typed = true
			k.say(1, "the words of %s, which may be rights of data subjects", l.Say(col))
		}
		if n := fits("request_type", plain(l.Columns[col].Header)); n > 0 {
			typed = true
			k.say(3, "the header of %s names a kind of request", l.Say(col))
		}
	}
	if l.named("case") && !typed {
		if right, ok := l.rightInName(); ok {
			typed = true
			k.say(3, "the name says requests for %s", strings.ReplaceAll(right, "_", " "))
		}
	}
	dates := r.has("received_at", "due_at")
	if col, ok := r.at["received_at"]; ok && fits("received_at", plain(l.Columns[col].Header)) > 0 {
		k.say(1, "%s says when it was received", l.Say(col))
	}
	if col, ok := r.at["due_at"]; ok {
		k.say(2, "%s says when it is due", l.Say(col))
	}
	if col, ok := r.at["status"]; ok {
		c := &l.Columns[col]
		if known, own := c.share("case.status", answers); own*2 > c.Filled && c.Filled > 0 {
			k.say(2, "%s with states of work in %d of %s", l.Say(col), known, finding.Count(l.Rows, "row", "rows"))
		}
	}
	for _, f := range []string{"closed_at", "identity_verified", "refusal_reason", "extended_to"} {
		if col, ok := r.at[f]; ok {
			k.say(1, "%s sounds like %s", l.Say(col), strings.ReplaceAll(f, "_", " "))
		}
	}
	if l.named("case") {
		k.say(2, "the name says requests")
	}
	if !typed && (r.has("due_at") == 0 || k.score < faint+2) || dates == 0 && (k.score < faint+1 || !typed) {
		return nil
	}
	return k
}

// rightInName finds the right that the name of the file or the sheet names.
func (l *Look) rightInName() (string, bool) {
	return meaning("request_type", strings.TrimSuffix(l.File, filepath.Ext(l.File))+" "+l.Sheet)
}

// suppressions weighs lists of contact points that must not be used.
func (l *Look) suppressions(s *signs) *Kind {
	register := l.called(registers)
	if !s.contact || len(s.answers) > len(s.optouts) && (!register || len(s.answers) > 1) || len(s.optouts) > 1 {
		return nil
	}
	r := l.read("suppression")
	k := &Kind{Entity: "suppression"}
	if register && len(s.answers) == 1 && len(s.optouts) == 0 {
		k.say(2, "whoever is entered in a list that is called so must not be contacted")
	}
	col, reason := r.at["reason"]
	if reason {
		c := &l.Columns[col]
		known, own := c.share("reason", "request_type")
		header := fits("reason", plain(c.Header)) > 0
		switch {
		case known > 0 && header:
			k.say(4, "%s with reasons not to use a contact point in %d of %s", l.Say(col), known, finding.Count(l.Rows, "row", "rows"))
		case own*2 > c.Filled && c.Filled > 0:
			k.say(3, "%s with reasons not to use a contact point in %d of %s", l.Say(col), known, finding.Count(l.Rows, "row", "rows"))
		case header:
			k.say(2, "the header of %s asks for a reason", l.Say(col))
		case known*2 > c.Filled && c.Filled > 0:
			k.say(3, "the words of %s, which may be reasons not to use a contact point", l.Say(col))
		}
	}
	if l.named("suppression") {
		k.say(4, "contact points under a name that says they must not be used")
	}
	barred := -1
	for _, f := range []string{"email", "phone"} {
		if col, ok := r.at[f]; ok && l.optout(col) && l.Columns[col].Filled > 0 {
			barred = col
		}
	}
	if barred >= 0 {
		k.say(4, "contact points under the header of %s, which says that they must not be used", l.Say(barred))
	}
	if len(s.left) > 0 && !l.joins() {
		k.say(3, "%s says since when a contact point must not be used", l.Say(s.left[0]))
	}
	if !l.named("suppression") && !reason && len(s.left) == 0 && barred < 0 {
		return nil
	}
	return k
}

// joins reports whether some column says when somebody joined: whoever is in the sheet was once in.
func (l *Look) joins() bool {
	for col := range l.Columns {
		if header := plain(l.Columns[col].Header); max(fits("joined", header), fits("agreed", header)) > 0 && l.optsOut(col) == mappings.NoOptOut && l.Columns[col].Dates.All() > 0 {
			return true
		}
	}
	return false
}

// consent weighs lists of what people answered.
func (l *Look) consent(s *signs) *Kind {
	k := &Kind{Entity: "consent"}
	r := l.read("consent")
	who := s.contact || s.id || r.has("external_id") > 0 && l.devices(s)
	if !who {
		return nil
	}
	best, channels := 0, 0
	for _, col := range s.answers {
		if channelOf(plain(l.Columns[col].Header)) != "" {
			channels++
		}
	}
	var say []string
	for _, col := range s.answers {
		n := 3
		if !l.plainly(col) {
			n = 2 // words that as many other things are called by, such as active
		}
		if header := plain(l.Columns[col].Header); fits("asks", header) > 0 || l.optsOut(col) != mappings.NoOptOut || fits("category", header) > 0 {
			n = 4
		} else if channelOf(header) != "" && (channels > 1 || holds(header, []string{"contact", "kontakt", "contatt", "contat"})) {
			n = max(n, 3) // whether and how somebody may be reached
		} else if confirming(l.Columns[col].Header) {
			n = max(n, 3)
		}
		best = max(best, n)
		say = append(say, l.Say(col))
	}
	switch {
	case best > 0:
		k.say(best, "%s beside an answer: %s", map[bool]string{true: "contact points", false: "ids"}[s.contact], strings.Join(say, ", "))
	case s.contact && l.basis(r):
		k.say(3, "contact points beside the lawful basis in %s", l.Say(r.at["lawful_basis"]))
	case s.contact && !l.named("suppression") && (l.joins() || l.named("subscribers")):
		k.say(3, "contact points of people who joined, and no column that answers")
	default:
		return nil
	}
	for _, f := range []string{"purpose", "notice_version"} {
		if col, ok := r.at[f]; ok {
			k.say(1, "%s sounds like %s", l.Say(col), strings.ReplaceAll(f, "_", " "))
		}
	}
	if (l.named("consent") || l.named("subscribers")) && !l.named("case") && !l.named("suppression") {
		k.say(1, "the name says consents")
	}
	return k
}

// loose are words of answers that are said as often of contracts, bookings and accounts.
var loose = strings.Split("active|inactive|aktiv|inaktiv|actif|inactif|activo|inactivo|alta|attivo|inattivo|ativo|inativo|actief|confirmed|accepted|cancelled|canceled|cancelado|cancellato|expired|abgelaufen|pending|ausstehend|pendiente|pendente|en attente|in attesa|unknown|true|false|yes|no|ja|nein|1|0|x", "|")

// plainly reports whether some word of a column can only speak of consent or a subscription.
func (l *Look) plainly(col int) bool {
	for word := range l.Columns[col].Words {
		if _, ok := term(answers, word); ok && !slices.Contains(loose, mappings.SameWord(word)) {
			return true
		}
	}
	return len(l.Columns[col].Words) == 0
}

// basis reports whether most rows name a lawful basis.
func (l *Look) basis(r *reading) bool {
	col, ok := r.at["lawful_basis"]
	if !ok {
		return false
	}
	known, _ := l.Columns[col].share("lawful_basis")
	c := &l.Columns[col]
	return known*2 > c.Filled && known > 0 || c.Filled > 0 && (len(c.Words) == 0 || c.Hidden > 0) && fits("lawful_basis", plain(c.Header)) >= len("baselegal") // then its words are asked for
}

// devices reports whether the sheet is a log of a web site, whose ids are those of devices.
func (l *Look) devices(s *signs) bool {
	return !s.contact && (strings.Contains(s.name, "cookie") || strings.Contains(s.name, "banner") || strings.Contains(s.name, "cmp") ||
		slices.ContainsFunc(l.Columns, func(c Column) bool {
			header := plain(c.Header)
			return fits("category", header) > 0 || fits("browser", header) > 0
		}))
}

// leaves reports whether a column holds the days on which people left.
func (l *Look) leaves(col int) bool {
	c := &l.Columns[col]
	header := plain(c.Header)
	return l.optout(col) && fits("due_at", header) == 0 && c.Emails == 0 && (c.Dates.All()*2 > c.Filled && c.Filled > 0 || c.Filled == 0 && fits("dayof", header) > 0)
}

// mayLeave reports whether a column holds days on which something was cancelled, ended or switched off: a subscription, or an order.
func (l *Look) mayLeave(col int) bool {
	c := &l.Columns[col]
	asks := mappings.OptOutOf(c.Header)
	return (asks == mappings.EndedOptOut || asks == mappings.MaybeOptOut || asks == mappings.NoOptOut && mappings.Leaving(c.Header) && flagOf(plain(c.Header)) == "") && c.Emails == 0 && c.Dates.All()*2 > c.Filled && c.Filled > 0 &&
		fits("expires_at", plain(c.Header)) == 0
}
