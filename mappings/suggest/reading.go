package suggest

import (
	"slices"
	"strings"

	"sheetlift/mappings"
)

// reading is how the headers of a sheet are understood for one entity.
type reading struct {
	entity string
	at     map[string]int // field to column
	used   map[int]bool
}

// fieldsOf lists the fields that are looked for, by entity.
var fieldsOf = map[string][]string{
	"purpose":        {"purpose_id", "name", "description", "lawful_basis", "owner"},
	"notice":         {"notice_id", "notice_version", "valid_from", "valid_to", "title", "language", "wording", "wording_digest", "url"},
	"activity":       {"activity_id", "name", "controller", "subject_categories", "data_categories", "recipients", "transfers", "retention", "security", "lawful_basis", "owner"},
	"retention_rule": {"rule_id", "entity", "months", "starts", "action", "authority"},
	"suppression":    {"email", "phone", "channel", "reason", "occurred_at", "external_id", "subject_id", "note"},
	"case":           {"request_type", "status", "received_at", "due_at", "extended_to", "closed_at", "identity_verified", "refusal_reason", "email", "phone", "handler", "requester_name", "external_id", "subject_id", "details"},
	"consent":        {"email", "phone", "purpose", "notice_version", "notice_id", "proof_kind", "proof_ref", "actor", "actor_role", "method", "collected_via", "language", "lawful_basis", "note", "occurred_at", "expires_at", "channel", "subject_id", "device_id", "external_id"},
}

// read assigns columns to the fields of an entity: the best fit first, a column to one field only.
func (l *Look) read(entity string) *reading {
	r := &reading{entity: entity, at: map[string]int{}, used: map[int]bool{}}
	type fit struct{ field, col, score int }
	var list []fit
	fields := fieldsOf[entity]
	for col := range l.Columns {
		header := plain(l.Columns[col].Header)
		if header == "" && l.HeaderRow > 0 {
			continue
		}
		if entity == "consent" && (l.optsOut(col) != mappings.NoOptOut || l.answers(col)) {
			continue
		}
		told := entity == "consent" && l.HeaderRow > 0 && l.yesAndNo(col)
		for n, field := range fields {
			if told && !slices.Contains([]string{"subject_id", "external_id", "device_id"}, field) {
				continue // it answers or confirms, and is neither a role nor a note
			}
			named, held := l.fits(entity, field, col, header), l.holds(entity, field, col)
			if held >= 200 { // cells as the field has them; of two such columns the one whose header says so
				held += min(named, 99) / 2
			}
			if score := max(named, held); score > 0 {
				list = append(list, fit{n, col, score})
			}
		}
	}
	slices.SortStableFunc(list, func(a, b fit) int {
		if a.score != b.score {
			return b.score - a.score
		}
		return a.field - b.field
	})
	for _, f := range list {
		if _, taken := r.at[fields[f.field]]; !taken && !r.used[f.col] {
			r.at[fields[f.field]] = f.col
			r.used[f.col] = true
		}
	}
	return r
}

// fits says how well the header of a column fits a field, as far as its cells don't belie it.
func (l *Look) fits(entity, field string, col int, header string) int {
	c := &l.Columns[col]
	score := fits(field, header)
	dated := c.Dates.All() > 0
	switch entity + "." + field {
	case "case.status":
		score = max(fits("state", header), fits("progress", header))
	case "consent.occurred_at", "suppression.occurred_at":
		if not := fits("notoccurred", header); not > 0 && score > 0 && score < not+100 {
			score = 0
		}
		if c.Dates.All()*2 > c.Filled && c.Filled > 0 && fits("notoccurred", header) == 0 {
			switch only, consent := dayOf(c.Header); {
			case consent && l.optsOut(col) == mappings.NoOptOut:
				score = max(score, 120)
			case only && score == 0 && fits("dayof", header) > 0:
				score = 1 // nothing but dates, under a header that says no more than that
			}
		}
		if entity == "suppression" && score > 0 && fits("consented", header) > 0 && l.optsOut(col) == mappings.NoOptOut {
			score = 0 // the day of a consent, which is not that of an opt-out
		}
		if entity == "suppression" && flagOf(header) != "" && c.Dates.All()*2 > c.Filled && c.Filled > 0 {
			score = 150 // the day of a bounce
		}
		if entity == "suppression" && l.leaves(col) {
			score = 200
		}
	case "case.received_at":
		if score == 0 && c.Dates.All()*2 > c.Filled && c.Filled > 0 && (fits("occurred_at", header) >= 100 || fits("created", header) > 0) {
			score = 1 // a day that says no more than that it is one, or when the case was opened
		}
	case "suppression.external_id", "case.external_id", "consent.external_id":
		if dated {
			score = 0
		}
	}
	switch field {
	case "occurred_at", "received_at", "due_at", "closed_at", "extended_to", "valid_from", "valid_to":
		if c.Epochs*2 > c.Filled {
			return 0
		}
	}
	if field == "expires_at" && c.Dates.All()*2 <= c.Filled {
		return 0
	}
	switch field {
	case "received_at", "due_at", "closed_at", "extended_to", "valid_from", "valid_to":
		// A number of days is no day.
		if !dated && c.Filled > 0 && holds(header, []string{"dias", "tage", "days", "jours", "giorni", "dagen"}) {
			return 0
		}
		// Words of other lists are no days.
		if !dated && c.Filled > 0 && c.knownWords()*2 > c.Filled {
			return 0
		}
	case "actor": // a user agent recorded nothing
		if fits("browser", header) > 0 {
			return 0
		}
	case "email", "phone":
		if l.yesOrNo(col) {
			return 0
		}
	}
	if field == "channel" && holds(header, preferred) {
		return 0
	}
	switch field {
	case "request_type", "reason", "handler", "requester_name", "purpose", "channel", "method",
		"email", "phone", "subject_id", "device_id", "language", "jurisdiction", "lawful_basis", "actor", "actor_role": // the day of a call is no number
		if c.Dates.All()*2 > c.Filled && c.Filled > 0 {
			return 0
		}
	}
	return score
}

// holds says how well the cells of a column fit a field, whatever its header is.
func (l *Look) holds(entity, field string, col int) int {
	c := &l.Columns[col]
	if c.Filled == 0 {
		return 0
	}
	most := func(known int) bool { return known*2 > c.Filled }
	switch {
	case field == "email" && most(c.Emails):
		return 500
	case field == "phone" && most(c.Phones):
		return 400
	case entity == "case" && field == "request_type":
		if known, own := c.share(field, answers, "case.status", "reason"); most(own) {
			if most(c.exactly(field)) {
				return 350 // kinds by their names, and not texts in which one is named
			}
			return 300
		} else if most(known) {
			return 50
		}
	case entity == "case" && field == "status":
		if known, own := c.share("case.status", answers); most(own) {
			return 250
		} else if most(known) && fits("asks", plain(c.Header)) == 0 {
			return 40
		}
	case entity == "suppression" && field == "reason":
		if known, own := c.share(field, "request_type"); most(own) {
			return 250
		} else if most(known) {
			return 50
		}
	case field == "channel" && holds(plain(c.Header), preferred): // that of no answer
	case field == "channel" && (entity == "consent" || entity == "suppression"):
		if known, own := c.share(field, answers, "proof_kind"); own > 0 && known*10 >= c.Filled*8 {
			return 90
		}
	}
	return 0
}

// preferred are pieces of headers that say by what somebody likes to be reached.
var preferred = strings.Fields("prefer prefier bevorzug lieblings gewunscht voorkeur desired")

// exactly counts the rows whose words a list has as they stand.
func (c *Column) exactly(list string) (n int) {
	for word, rows := range c.Words {
		if _, ok := term(list, word); ok {
			n += rows
		}
	}
	return n
}

// knownWords counts the rows whose words some list knows.
func (c *Column) knownWords() (n int) {
	for word, rows := range c.Words {
		known := false
		for _, list := range []string{answers, "request_type", "case.status", "reason"} {
			if _, ok := term(list, word); ok {
				known = true
			}
		}
		if known {
			n += rows
		}
	}
	return n
}

// dayOf reports whether a header says no more than that it is the day or time of an answer, and whether it says that the answer is a consent.
func dayOf(header string) (only, consent bool) {
	words := wordsOf(header)
	for _, word := range words {
		agreed := holds(word, consenting)
		consent = consent || agreed
		if !agreed && !slices.Contains(dayWords, word) && fits("asks", word) == 0 && fits("state", word) == 0 && fits("joined", word) == 0 && channelOf(word) == "" && strings.Trim(word, "0123456789") != "" {
			return false, false
		}
	}
	return len(words) > 0, consent
}

// consenting are pieces of words for a consent.
var consenting = strings.Fields("consent consens einwillig zustimm toestemming optin optedin permission")

// dayWords are words of headers of days and times, and those that join them to what it is the day of.
var dayWords = strings.Fields("date dates datum fecha data day tag jour dia giorno dag timestamp time times zeit zeitstempel zeitpunkt uhrzeit horodatage heure hora ora tijd tijdstip tijdstempel datetime fechahora dataora datahora marca temporal temporale tiempo carimbo am le on at since seit depuis desde dal sinds when utc gmt cet mez stamp " +
	"given granted erteilt gegeben gegeven donne donnee recueilli recueillie otorgado otorgada dado dada recogido recogida prestato prestata concesso raccolto obtained recorded collected received eingeholt erfasst verkregen " +
	"signed signature unterschrift unterschrieben unterzeichnet signe firma firmado assinatura ondertekend handtekening answer answered antwort reponse respuesta risposta resposta antwoord " +
	"of the for to by and der die das des den dem del de do da di du della dello delle la el los las il lo l d zur zum zu von fur und y e et en au aux al para per por pour via van voor het een op ein mail opt in double")

// Reads reports whether a column of the sheet is known to hold a field of an entity.
func (l *Look) Reads(entity, field string) bool { return l.read(entity).has(field) > 0 }
