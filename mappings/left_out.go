package mappings

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"sheetlift/importers"
	"sheetlift/importers/source"
	"sheetlift/pipeline/finding"
)

// dropping is a condition that leaves rows or records out, with what the words of its column say there.
type dropping struct {
	*condition
	col      int
	spec     int             // whose record it leaves out; -1 for a skip, which leaves out the row
	field    bool            // it is a condition of the status and not of the record
	beside   bool            // col is that of a status, and the condition on another one hides what it says
	skip     int             // which skip does so, from 1
	reading  []*fieldProgram // the statuses and reasons that read the column
	plain    bool            // a yes or no in the column is an answer
	wide     bool            // so is a word that elsewhere may speak of orders or cases
	inverted bool            // yes is the refusal
}

// asking are pieces of headers that ask whether somebody wants something, letters only.
var asking = []string{
	"consent", "optin", "optedin", "subscri", "permission", "newsletter", "marketing", "werbung", "einwillig", "zustimm", "toestemming", "consenso",
	"consentimi", "abonn", "suscri", "iscri", "inscri", "aangemeld", "accepts",
}

// droppings are the conditions by which a mapping may lose a refusal: its skips, and those of consents and suppressions.
func (p *program) droppings(column func(Column) int, header []string) (list []*dropping) {
	if !slices.ContainsFunc(p.specs, func(s specProgram) bool { return s.decides() }) {
		return nil
	}
	for i := range p.skips {
		list = append(list, p.dropping(&p.skips[i], -1, column, header))
	}
	for i := range p.specs {
		s := &p.specs[i]
		if !s.decides() {
			continue
		}
		for k := range s.when {
			list = append(list, p.dropping(&s.when[k], i, column, header))
		}
		list = append(list, p.hiding(i, column, header)...)
		if s.status >= 0 {
			for k := range s.fields[s.status].when {
				d := p.dropping(&s.fields[s.status].when[k], i, column, header)
				d.field = true
				list = append(list, d)
			}
		}
	}
	for k := range p.skips {
		list = append(list, p.skipHiding(k, column, header)...)
	}
	return list
}

// skipHiding is what a skip by an answer hides in the columns of other statuses.
func (p *program) skipHiding(k int, column func(Column) int, header []string) (list []*dropping) {
	c := &p.skips[k]
	at := column(c.column)
	if at < 0 || at >= len(header) || !c.asksAnswer() || !AsksConfirmed(header[at]) && !headerHolds(header[at], asking...) {
		return nil
	}
	seen := map[int]bool{at: true}
	for i := range p.specs {
		s := &p.specs[i]
		if !s.decides() || s.status < 0 {
			continue
		}
		for _, from := range s.fields[s.status].from {
			if col := column(from); col >= 0 && !seen[col] {
				seen[col] = true
				d := p.dropping(c, -1, column, header)
				d.hides(col, &s.fields[s.status], header)
				d.skip = k + 1
				list = append(list, d)
			}
		}
	}
	return list
}

// hides makes the condition one that hides what a status says in another column.
func (d *dropping) hides(col int, f *fieldProgram, header []string) {
	d.col, d.reading, d.beside = col, []*fieldProgram{f}, true
	d.plain, d.wide, d.inverted = col >= len(header) || !AsksConfirmed(header[col]), true, f.inverted
}

// hiding are the conditions of a record that tell yes from no in one column and hide what its status says in another: an answer that nobody
// confirmed is no consent, and a refusal needs no confirmation.
func (p *program) hiding(spec int, column func(Column) int, header []string) (list []*dropping) {
	s := &p.specs[spec]
	if s.status < 0 {
		return nil
	}
	f := &s.fields[s.status]
	own := func(conditions []condition, col int) bool {
		return slices.ContainsFunc(conditions, func(c condition) bool { return column(c.column) == col })
	}
	for _, from := range f.from {
		col := column(from)
		if col < 0 || own(s.when, col) || own(f.when, col) { // those say it
			continue
		}
		for k := range s.when {
			if c := &s.when[k]; c.asksAnswer() {
				d := p.dropping(c, spec, column, header)
				d.hides(col, f, header)
				list = append(list, d)
			}
		}
	}
	return list
}

// never reports a column on which the conditions of the record can't all hold, and the first of them there; nil if they can.
func (s *specProgram) never(column func(Column) int) (*condition, int) {
	for i := range s.when {
		first, col := &s.when[i], column(s.when[i].column)
		var on []*condition
		for k := range s.when {
			if column(s.when[k].column) == col {
				on = append(on, &s.when[k])
			}
		}
		if first.blank && slices.ContainsFunc(on, func(c *condition) bool { return c.blank && c.not != first.not }) {
			return first, col
		}
		if first.words == nil || first.not {
			continue
		}
		possible := false
		for w := range first.words {
			possible = possible || !slices.ContainsFunc(on, func(c *condition) bool { some, _ := c.holdsFor(w); return !some })
		}
		if !possible {
			return first, col
		}
	}
	return nil, -1
}

// name tells what the condition leaves out from what it hides in another column.
func (d *dropping) name() string {
	if d.beside {
		return d.path + " hides " + source.Letters(d.col)
	}
	return d.path
}

// decides reports whether records of the spec say what may be sent to somebody.
func (s *specProgram) decides() bool {
	return s.entity.Name == "consent" || s.entity.Name == "suppression"
}

// grants reports whether records of the spec can be given consents.
func (s *specProgram) grants() bool {
	return s.status >= 0 && (s.fields[s.status].constant == nil || s.fields[s.status].constant.Text == importers.StatusGiven)
}

func (p *program) dropping(c *condition, spec int, column func(Column) int, header []string) *dropping {
	d := &dropping{condition: c, col: column(c.column), spec: spec}
	stated, yesGiven := false, false
	for i := range p.specs {
		for j := range p.specs[i].fields {
			f := &p.specs[i].fields[j]
			status := f.path == "consent.status"
			if status && f.constant != nil && p.specs[i].grants() && (spec < 0 || spec == i) {
				stated = true
			}
			if !status && f.path != "suppression.reason" || !slices.ContainsFunc(f.from, func(c Column) bool { return column(c) == d.col }) {
				continue
			}
			d.reading = append(d.reading, f)
			if status {
				d.plain, d.inverted, yesGiven = true, d.inverted || f.inverted, yesGiven || f.yesGiven
			}
		}
	}
	name := ""
	if d.col < len(header) {
		name = header[d.col]
	}
	switch {
	case OptOutOf(name) == SureOptOut:
		d.plain, d.inverted = true, d.inverted || !yesGiven
	case headerHolds(name, asking...), stated && c.asksAnswer():
		d.plain = true
	}
	d.wide = d.plain || stated
	if AsksConfirmed(name) && (!stated || holdsOne(PlainHeader(name), doubleOptIn)) { // nobody confirmed, which is no answer
		d.plain = false
	}
	return d
}

// asksAnswer reports whether a condition tells yes from no.
func (c *condition) asksAnswer() bool {
	if c.expr == nil {
		for w := range c.words {
			if bareWord(w) {
				return true
			}
		}
		return false
	}
	for _, w := range []string{"y", "Y", "yes", "Yes", "YES", "j", "J", "ja", "Ja", "1", "n", "N", "no", "No", "NO", "nein", "Nein", "0"} {
		if c.expr.MatchString(w) {
			return !c.expr.MatchString("zz-zz")
		}
	}
	return false
}

// refused is what a cell says: no, and by which word of our own lists.
type refused struct {
	no   bool
	word string
}

func (d *dropping) says(text string) (out refused) {
	key := fold(text)
	if key == "" {
		return out
	}
	as := []string{"withdrawn", "opt_out", "objection"}
	if d.wide {
		as = append(as, "refused")
	}
	if d.plain && d.inverted {
		as = append(as, "yes")
	} else if d.plain {
		as = append(as, "no")
	}
	listed := saysOf(key, as...) && (d.wide || !ofOrders[SameWord(key)])
	known := false
	for _, f := range d.reading {
		w, mapped := f.words[key]
		known = known || mapped || f.nulls[key] // null tokens have a warning of their own
		out.no = out.no || f.against(w.term)
	}
	if !known {
		// In a column such as "Unsubscribed at" all that is no no says it.
		out.no = listed || d.blank && d.plain && d.inverted && !saysOf(key, "no")
	}
	if out.no && listed {
		out.word = key
	}
	return out
}

// against reports whether a term of the field speaks against a consent. A bounce is no withdrawal.
func (f *fieldProgram) against(term string) bool {
	if f.path == "suppression.reason" {
		return term != "" && term != "bounce" && term != "invalid"
	}
	return term != "" && term != importers.StatusGiven
}

// scope is what records of the spec are about, as far as the mapping states it for all rows.
func (s *specProgram) scope() (scope importers.Scope) {
	for i := range s.fields {
		f := &s.fields[i]
		if f.constant == nil {
			continue
		}
		switch f.field.Name {
		case "purpose":
			scope.Purpose = f.constant.Text
		case "channel":
			scope.Channel = f.constant.Text
		}
	}
	return scope
}

// dropStats counts what a condition leaves out.
type dropStats struct {
	*dropping
	LeftOut
	others []*boundCondition // of the record, on other columns
	self   *boundCondition
	memo   memo[refused]
}

func (p *Profiler) bindDrops(column func(Column) int) {
	for _, d := range p.m.program.droppings(column, p.p.Header) {
		s := &dropStats{dropping: d, LeftOut: LeftOut{Condition: d.name()}}
		if d.spec >= 0 {
			spec := p.specs[d.spec]
			own := spec.when
			if d.field {
				own = slices.Concat(own, spec.readers[spec.status].when)
			}
			for _, c := range own {
				switch {
				case c.condition == d.condition:
					s.self = c
				case !c.asksAnswer() && (d.beside || c.col != d.col): // one that tells yes from no hides no refusal of another
					s.others = append(s.others, c)
				}
			}
		}
		p.drops = append(p.drops, s)
	}
}

// skipped counts a row that skip k leaves out.
func (p *Profiler) skipped(k int, b *source.Block, i int) {
	if k < len(p.drops) { // the skips come first
		if said := p.drops[k].cell(b, i); said.no {
			p.drops[k].count(said, b.RowNum[i])
		}
	}
	for _, d := range p.drops {
		if d.skip == k+1 {
			if said := d.cell(b, i); said.no {
				d.count(said, b.RowNum[i])
			}
		}
	}
}

// leftOut counts the rows that conditions of records leave out.
func (p *Profiler) leftOut(b *source.Block, from int) {
	if len(p.drops) <= len(p.skips) {
		return
	}
	for i := from; i < b.Rows(); i++ {
		if p.skip[i] {
			continue
		}
		told := false
		for _, grants := range []bool{true, false} { // what other records leave out is said where no consent's condition says it
			for _, d := range p.drops[len(p.skips):] {
				if d.skip > 0 || p.specs[d.spec].grants() != grants || told && !grants || d.self.holds(b, i) {
					continue
				}
				if said := d.cell(b, i); said.no && allHold(d.others, b, i) && !p.opposed(p.specs[d.spec].about, b, i) {
					d.count(said, b.RowNum[i])
					told = true
				}
			}
		}
	}
}

// opposed reports whether some record of the row speaks against consents of the scope, or is so wrong that the row is rejected.
func (p *Profiler) opposed(scope importers.Scope, b *source.Block, i int) bool {
	return slices.ContainsFunc(p.specs, func(s *profiledSpec) bool { return s.opposes(scope, b, i) })
}

// opposedIn is the same of specs that are bound apart.
func opposedIn(specs []*boundSpec, scope importers.Scope, b *source.Block, i int) bool {
	return slices.ContainsFunc(specs, func(s *boundSpec) bool { return s.opposes(scope, b, i) })
}

// opposes reports whether the spec's record of the row speaks against consents of the scope, or is so wrong that the row is rejected.
func (s *boundSpec) opposes(scope importers.Scope, b *source.Block, i int) bool {
	if !s.decides() || !s.about.Opposes(scope) || !s.applies(b, i) {
		return false
	}
	if s.status < 0 {
		return true
	}
	if s.unanswered(b, i) {
		return false
	}
	out := s.readers[s.status].read(b, i)
	return out.bad.rule != "" || out.v.Set && out.v.Text != importers.StatusGiven
}

// cell is what the condition's cell in row i says.
func (d *dropStats) cell(b *source.Block, i int) refused {
	c := b.Cell(d.col, i)
	if c.Kind == source.Empty || c.Kind == source.ErrorValue {
		return refused{}
	}
	return d.memo.say(b, c, func(text []byte) refused { return d.says(string(text[:min(len(text), wordBytes)])) })
}

// wordBytes is more than any word has.
const wordBytes = 512

func (d *dropStats) count(said refused, row int) {
	if d.Rows++; d.FirstRow == 0 {
		d.FirstRow = row
	}
	d.LastRow = row
	if said.word != "" && !slices.Contains(d.Words, said.word) {
		d.Words = append(d.Words, said.word)
	}
}

// holdsFor reports whether a condition on the column holds for a word in some and in every way of writing it.
func (c *condition) holdsFor(word string) (some, every bool) {
	every = true
	_, first := utf8.DecodeRuneInString(word)
	for _, w := range []string{word, strings.ToUpper(word), strings.ToUpper(word[:first]) + word[first:]} {
		held := c.words[fold(w)] // and no word is blank
		if c.expr != nil {
			held = c.expr.MatchString(w)
		}
		held = held != c.not
		some, every = some || held, every && held
	}
	return some, every
}

// named are the words that the mapping itself names for the column of the condition.
func (d *dropping) named() (list []string) {
	for w := range d.words {
		list = append(list, w)
	}
	for _, f := range d.reading {
		for w := range f.words {
			list = append(list, w)
		}
	}
	if d.blank && d.plain && d.inverted {
		list = append(list, "yes")
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// takes reports whether a record of the spec may take the word's refusal. Conditions on other columns may hold; the profile
// has looked at the rows themselves.
func (s *boundSpec) takes(word string, col int, scope importers.Scope) bool {
	may := func(list []*boundCondition) bool {
		for _, c := range list {
			if some, _ := c.holdsFor(word); c.col == col && !some {
				return false
			}
		}
		return true
	}
	if !s.decides() || !s.about.Opposes(scope) || !may(s.when) {
		return false
	}
	if s.status < 0 {
		return true
	}
	f, r := &s.fields[s.status], s.readers[s.status]
	switch {
	case !may(r.when):
		return false
	case f.constant != nil:
		return f.against(f.constant.Text)
	case slices.Contains(r.cols, col):
		w, mapped := f.words[word]
		return f.against(w.term) || !mapped && !f.nulls[word] // an unknown word rejects the row
	}
	for _, w := range f.words {
		if f.against(w.term) {
			return true
		}
	}
	return false
}

// byMapping are the refusals that the condition leaves out whatever the sheet holds, and the words of ours among them.
func (pl *Plan) byMapping(d *dropping) (lost bool, words []string) {
	for _, w := range d.named() {
		said := d.says(w)
		some, every := d.holdsFor(w)
		switch {
		case !said.no || d.spec < 0 && !every || d.spec >= 0 && some:
			continue
		case d.spec >= 0 && slices.ContainsFunc(pl.specs, func(s *boundSpec) bool { return s.takes(w, d.col, pl.specs[d.spec].about) }):
			continue
		}
		lost = true
		if said.word != "" && !d.blank {
			words = append(words, said.word)
		}
	}
	return lost, words
}

// decideLeftOut warns of the conditions that leave refusals out.
func (pl *Plan) decideLeftOut() (list []finding.Finding) {
	column := func(c Column) int {
		for _, r := range pl.profile.Refs {
			if r.Column == c {
				return r.Index
			}
		}
		return -1
	}
	for i := range pl.m.program.specs {
		s := &pl.m.program.specs[i]
		if !s.decides() {
			continue
		}
		if c, col := s.never(column); c != nil {
			f := pl.at("consent.refusal_left_out", col, s.entity.Name)
			f.Message = fmt.Sprintf("The conditions on %s (line %d of the mapping) can never all hold, so no row gives this record of %s, whatever it refuses.", quoteName(pl.columnName(col)), c.line, s.entity.Name)
			list = append(list, f)
		}
	}
	for _, d := range pl.m.program.droppings(column, pl.profile.Header) {
		lost, words := false, []string(nil)
		if !d.beside {
			lost, words = pl.byMapping(d)
		}
		seen := LeftOut{}
		for _, l := range pl.profile.LeftOut {
			if l.Condition == d.name() {
				seen = l
			}
		}
		if !lost && seen.Rows == 0 {
			continue
		}
		field := ""
		if d.spec >= 0 && pl.specs[d.spec].status >= 0 {
			field = pl.specs[d.spec].fields[pl.specs[d.spec].status].path
		}
		f := pl.at("consent.refusal_left_out", d.col, field)
		f.Row, f.LastRow, f.Rows = seen.FirstRow, seen.LastRow, seen.Rows
		what := "skips rows"
		if d.spec >= 0 {
			what = "takes no record of " + pl.specs[d.spec].entity.Name + " from rows"
		}
		f.Message = fmt.Sprintf("The mapping (line %d) %s with a refusal in %s", d.line, what, quoteName(pl.columnName(d.col)))
		words = append(words, seen.Words...)
		slices.Sort(words)
		if words = slices.Compact(words); len(words) > 0 {
			var quoted []string
			for _, w := range words[:min(len(words), 10)] {
				quoted = append(quoted, strconv.Quote(w))
			}
			f.Message += " (" + strings.Join(quoted, ", ")
			if len(words) > 10 {
				f.Message += ", …"
			}
			f.Message += ")"
		}
		f.Message += ", and no other record takes the refusal"
		if seen.Rows > 0 {
			f.Message += ": " + finding.Count(seen.Rows, "row", "rows") + " of this sheet"
		}
		f.Message += "."
		list = append(list, f)
	}
	return list
}
