package mappings

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"sheetlift/importers"
	"sheetlift/importers/source"
)

// problem is why a value is rejected or doubtful. The zero problem is none.
type problem struct {
	rule    string
	message string // "" for the rule's own
	remedy  string // "" for the rule's own
	col     int    // sheet column, from 0
}

// outcome is what reading a field in one row gave.
type outcome struct {
	v        importers.Value
	kept     bool  // it stays as it is
	code     int   // of v among the values that the reader remembers, from 1; 0 if it is not among them
	null     bool  // no column, blank, or a null token: v is the zero Value
	noAnswer bool  // consent status: the word says nothing about consent
	used     []int // columns that v comes from
	bad      problem
	doubt    problem
}

// fieldReader reads one field from the columns it is bound to. It keeps what it has worked out, so it is not safe for
// concurrent use; what it gives depends on the cells alone. begin must be called before the cells of another block.
type fieldReader struct {
	p        *fieldProgram
	cols     []int
	orders   []order // per column: the order of day and month that the profile proved
	zone     *zone   // nil: no zone is declared
	date1904 bool
	when     []*boundCondition
	quotable map[string]bool    // folded words of the column that a finding may show
	constant *outcome           // of a field that comes from no column
	known    []*importers.Value // by code

	// printable says of the text that is parsed that it is; the checks of what can't be seen are then answered.
	printable bool

	memo   memo[*outcome]
	text   texts
	phones phonePlans
	out    outcome
	parts  []byte
	norm   []byte
	used   []int
}

func (r *fieldReader) begin() {
	r.memo.begin()
	for _, c := range r.when {
		c.memo.begin()
	}
}

// read reads the field in row i of b. The outcome is valid until the next call.
func (r *fieldReader) read(b *source.Block, i int) *outcome {
	switch {
	case len(r.when) > 0 && !allHold(r.when, b, i):
		r.out = outcome{null: true}
		return &r.out
	case r.p.constant != nil:
		return r.constant
	case len(r.cols) == 1:
		return r.cell(b, i, 0)
	case r.p.joins() && r.p.isDate():
		return r.joinedDate(b, i)
	case r.p.joins():
		return r.joinedText(b, i)
	}
	for k := range r.cols {
		if out := r.cell(b, i, k); !out.null {
			return out
		}
	}
	r.out = outcome{null: true}
	return &r.out
}

// cell reads the k-th column by itself, from the memo if the same cell was read before.
func (r *fieldReader) cell(b *source.Block, i, k int) *outcome {
	c := b.Cell(r.cols[k], i)
	if c.Kind == source.Empty {
		r.out = outcome{null: true}
		if c.Flags&source.NoCache != 0 {
			r.reject("value.no_cache", k)
		}
		return &r.out
	}
	raw := b.Bytes(c)
	if r.memo.off {
		r.out = outcome{}
		r.parse(c, raw, k)
		return &r.out
	}
	as := cellAs(c, k)
	if out, known := r.memo.get(c, raw, as); known {
		return out
	}
	r.out = outcome{}
	r.parse(c, raw, k)
	if !r.memo.room() {
		return &r.out
	}
	kept := new(outcome)
	*kept = r.out
	kept.kept = true
	r.memo.put(c, raw, as, kept)
	r.remember(kept)
	return kept
}

// knownMost is how many values a reader remembers.
const knownMost = 1 << 16

// remember gives the value of an outcome that stays as it is a code.
func (r *fieldReader) remember(out *outcome) {
	if out.v.Set && out.bad.rule == "" && len(r.known) < knownMost {
		r.known = append(r.known, &out.v)
		out.code = len(r.known)
	}
}

// str makes a string of p, which lasts as the plan's do: among many for values that hardly repeat, by itself if the memo keeps it.
func (r *fieldReader) str(p []byte) string {
	if r.memo.off {
		return r.text.of(p)
	}
	return string(p)
}

// firstCol is the column that a missing value is reported at; -1 if the field comes from none.
func (r *fieldReader) firstCol() int {
	if len(r.cols) == 0 {
		return -1
	}
	return r.cols[0]
}

func (r *fieldReader) reject(rule string, k int) { r.out.bad = problem{rule: rule, col: r.cols[k]} }

func (r *fieldReader) rejectWith(rule, message string, k int) {
	r.out.bad = problem{rule: rule, message: message, col: r.cols[k]}
}

// parse reads one cell that is not empty into r.out.
func (r *fieldReader) parse(c source.Cell, raw []byte, k int) {
	r.out.used = r.cols[k : k+1]
	if c.Kind == source.ErrorValue {
		r.reject("value.error_cell", k)
		return
	}
	text := raw
	r.printable = false
	if c.Kind == source.Text {
		r.printable = printable(raw)
		if !r.printable && (!utf8.Valid(raw) || bytes.IndexByte(raw, 0) >= 0) {
			r.reject("value.invisible", k)
			return
		}
		if r.p.norm.any() {
			text = r.normalize(raw)
			r.printable = printable(text)
		}
		if !inked(text) && len(bytes.TrimSpace(text)) == 0 {
			r.out = outcome{null: true}
			return
		}
	}
	if len(r.p.nulls) > 0 && r.p.nulls[r.folded(c, text)] {
		r.out = outcome{null: true}
		return
	}
	if c.Kind == source.Bool && r.p.typ != importers.Bool && r.p.typ != importers.Enum && r.p.typ != importers.Text {
		r.reject("value.kind", k)
		return
	}
	switch r.p.typ {
	case importers.Text:
		r.parseText(c, text, k)
	case importers.ID:
		r.parseID(c, text, k)
	case importers.Email:
		r.parseEmail(c, text, k)
	case importers.Phone:
		r.parsePhone(c, text, k)
	case importers.Date, importers.DateTime:
		r.parseDate(c, raw, text, k)
	case importers.Enum, importers.Bool:
		r.parseWord(c, text, k)
	case importers.Integer:
		r.parseInteger(c, text, k)
	case typeCountry, typeLanguage:
		r.parseCode(c, text, k)
	}
	if r.out.bad.rule == "" && !r.out.null {
		r.check(k)
	}
}

// check holds a value to the field's length and the mapping's rules.
func (r *fieldReader) check(k int) {
	v := &r.out.v
	v.Set = true
	if r.p.inferred {
		v.Origin = importers.Inferred
	}
	if limit := r.p.field.Max; limit > 0 && len(v.Text) > limit {
		if n := utf8.RuneCountInString(v.Text); n > limit {
			r.rejectWith("value.too_long", "The value has "+strconv.Itoa(n)+" characters; "+r.p.path+" takes at most "+strconv.Itoa(limit)+".", k)
			return
		}
	}
	if r.p.rules == nil || r.out.noAnswer {
		return
	}
	var subject any = v.Text
	if r.p.typ == importers.Integer {
		subject = v.Int
	} else if r.p.typ == importers.DateTime {
		subject = v.Raw
	}
	ok, err := r.p.rules.holds(subject)
	switch {
	case err != nil:
		r.rejectWith("value.rule", "The rules of "+r.p.path+" can't be evaluated for this value.", k)
	case !ok:
		r.rejectWith("value.rule", "The value breaks the rules of "+r.p.path+": "+r.p.rules.tag+".", k)
	}
}

// normalize applies what the mapping declares; the result is valid until the next call.
func (r *fieldReader) normalize(text []byte) []byte {
	n := r.p.norm
	if !n.any() {
		return text
	}
	if n.trim {
		text = bytes.TrimSpace(text)
	}
	if n.apostrophe {
		text = bytes.TrimPrefix(text, []byte("'"))
	}
	if n.plus && len(text) > 7 && plainDigits(text, 15) && text[0] != '0' {
		text = append([]byte("+"), text...)
	}
	if n.nfc && !norm.NFC.IsNormal(text) {
		text = norm.NFC.Bytes(text)
	}
	if n.collapse {
		r.norm = r.norm[:0]
		space := false
		for rest := text; len(rest) > 0; {
			c, size := utf8.DecodeRune(rest)
			if unicode.IsSpace(c) {
				if !space {
					r.norm = append(r.norm, ' ')
				}
				space = true
			} else {
				r.norm = append(r.norm, rest[:size]...)
				space = false
			}
			rest = rest[size:]
		}
		text = r.norm
	}
	if n.lower {
		text = bytes.ToLower(text)
	}
	if n.upper {
		text = bytes.ToUpper(text)
	}
	return text
}

// folded is the form in which the cell is compared with words.
func (r *fieldReader) folded(c source.Cell, text []byte) string {
	if c.Kind == source.Number {
		if p, ok := numberText(nil, text); ok {
			return string(p)
		}
	}
	return fold(string(text))
}

func (r *fieldReader) parseText(c source.Cell, text []byte, k int) {
	if c.Kind == source.Number {
		p, ok := numberText(r.parts[:0], text)
		if !ok {
			r.reject("id.precision_lost", k)
			return
		}
		r.parts = p
		switch c.Class {
		case source.Date, source.DateTime:
			if day, reading := readSerial(text, r.date1904, c.Class == source.DateTime); reading == serialRight {
				r.parts = day.appendDay(r.parts[:0])
				if day.prec != byDay {
					r.parts = append(r.parts, ' ')
					r.parts = day.appendClock(r.parts)
				}
			}
			r.out.doubt = problem{rule: "value.rendered", col: r.cols[k]}
		case source.Time, source.Duration, source.Percent:
			r.out.doubt = problem{rule: "value.rendered", col: r.cols[k]}
		}
		if c.Flags&source.ZeroPadded != 0 {
			r.out.doubt = problem{rule: "value.rendered", col: r.cols[k]}
		}
		r.out.v.Text = r.str(r.parts)
		return
	}
	if !r.printable && unseen(text) {
		r.out.doubt = problem{rule: "text.invisible", col: r.cols[k]}
	}
	r.out.v.Text = r.str(text)
}

func (r *fieldReader) parseID(c source.Cell, text []byte, k int) {
	if r.p.token && !signedToken(text) {
		r.out = outcome{null: true} // a word does not become a proof by its digest
		return
	}
	if r.p.digest {
		sum := sha256.Sum256(text)
		r.out.v.Text = hex.EncodeToString(sum[:])
		return
	}
	if c.Kind == source.Number {
		switch {
		case c.Class == source.Date || c.Class == source.DateTime || c.Class == source.Time || c.Class == source.Duration || c.Class == source.Percent:
			r.reject("id.reformatted", k)
		case c.Flags&source.ZeroPadded != 0:
			r.reject("id.zeros_lost", k)
		case plainDigits(text, 15):
			r.out.v.Text = r.str(text)
		case bytes.ContainsAny(text, "eE") || plainDigits(text, math.MaxInt):
			r.reject("id.precision_lost", k)
		default:
			r.reject("id.not_whole", k)
		}
		return
	}
	switch {
	case !r.contactText(text, k):
		return
	case c.Flags&source.ISODate != 0:
		r.reject("id.reformatted", k)
		return
	case eNotation(text):
		r.reject("id.precision_lost", k)
		return
	}
	if !r.printable && !norm.NFC.IsNormal(text) {
		text = norm.NFC.Bytes(text)
	}
	r.out.v.Text = r.str(text)
	r.doubtLooks(text, k)
}

// doubtLooks warns of an identifier that is not what it looks like.
func (r *fieldReader) doubtLooks(text []byte, k int) {
	if !r.printable && mixedScripts(text) {
		r.out.doubt = problem{rule: "value.lookalike", col: r.cols[k]}
	}
}

// contactText refuses what never belongs into an identifier or a contact point.
func (r *fieldReader) contactText(text []byte, k int) bool {
	switch {
	case r.printable && text[0] != ' ' && text[len(text)-1] != ' ':
		return true
	case len(bytes.TrimSpace(text)) != len(text):
		r.reject("value.padded", k)
	case hidden(text):
		r.reject("value.invisible", k)
	default:
		return true
	}
	return false
}

// bare reads an identifier that was refused for what surrounds it or can't be seen in it, without that. It is good for one thing: to know
// whom a row means that is rejected and speaks against consents.
func (r *fieldReader) bare(b *source.Block, i int) (v importers.Value, ok bool) {
	if len(r.cols) != 1 {
		return v, false
	}
	c := b.Cell(r.cols[0], i)
	raw := b.Bytes(c)
	if c.Kind != source.Text || !utf8.Valid(raw) {
		return v, false
	}
	text := bytes.TrimSpace(bytes.Map(func(x rune) rune {
		if x != ' ' && unicode.In(x, unicode.Cc, unicode.Cf, unicode.Z) {
			return -1
		}
		return x
	}, raw))
	if len(text) == 0 {
		return v, false
	}
	r.out = outcome{used: r.cols}
	r.printable = printable(text)
	switch r.p.typ {
	case importers.ID:
		r.parseID(c, text, 0)
	case importers.Email:
		r.parseEmail(c, text, 0)
	case importers.Phone:
		r.parsePhone(c, text, 0)
	default:
		return v, false
	}
	if r.out.bad.rule == "" && !r.out.null {
		r.check(0)
	}
	return r.out.v, r.out.bad.rule == "" && r.out.v.Set
}

func (r *fieldReader) parseWord(c source.Cell, text []byte, k int) {
	if r.p.filled != "" {
		if bareWord(string(text)) || r.p.filled == "signed_token" && !signedToken(text) { // nothing of that kind is in the cell
			r.out = outcome{null: true}
			return
		}
		r.out.v.Text = r.p.filled
		return
	}
	if r.p.split != "" {
		r.parseWords(text, k)
		return
	}
	key := r.folded(c, text)
	w, ok := r.p.words[key]
	if !ok {
		rule := "enum.unmapped"
		if r.p.typ == importers.Bool && len(r.p.words) == 2 && r.ownBool() {
			rule = "bool.invalid"
		}
		if r.looksKnown(text) {
			r.rejectWith(rule, "The value looks like one of the known words, but has characters that can't be seen or that only look like those of the word.", k)
			return
		}
		if r.quotable[key] {
			r.rejectWith(rule, "The value "+strconv.Quote(strings.TrimSpace(string(text)))+" is none of the words that the mapping or the field knows.", k)
			return
		}
		r.reject(rule, k)
		return
	}
	r.out.v.Text, r.out.v.Int, r.out.noAnswer = w.term, w.value, w.noAnswer
}

// looksKnown reports whether a word that is not known looks like one that is.
func (r *fieldReader) looksKnown(text []byte) bool {
	if len(text) > 256 {
		return false
	}
	visible := bytes.Map(func(c rune) rune {
		if unicode.In(c, unicode.Cc, unicode.Cf) {
			return -1
		}
		if unicode.IsSpace(c) {
			return ' '
		}
		return c
	}, text)
	seen := string(lookalike(nil, bytes.TrimSpace(visible)))
	for w := range r.p.words {
		if string(lookalike(nil, []byte(w))) == seen {
			return true
		}
	}
	return false
}

// parseWords reads a cell that holds several words. Every word must be known; null tokens don't count. The others must mean
// the same, except for a lawful basis: a row that rests on consent too is a consent row, else the first basis counts.
func (r *fieldReader) parseWords(text []byte, k int) {
	var found *word
	for part := range strings.SplitSeq(string(text), r.p.split) {
		key := fold(part)
		if key == "" || r.p.nulls[key] {
			continue
		}
		w, ok := r.p.words[key]
		switch {
		case !ok:
			r.reject("enum.unmapped", k)
			return
		case found == nil:
			found = &w
		case *found == w:
		case r.p.path != "consent.lawful_basis":
			r.reject("enum.several", k)
			return
		case w.term == "consent":
			found = &w
		}
	}
	if found == nil {
		r.out = outcome{null: true}
		return
	}
	r.out.v.Text, r.out.v.Int, r.out.noAnswer = found.term, found.value, found.noAnswer
}

// ownBool reports whether the words are the type's own, true and false.
func (r *fieldReader) ownBool() bool {
	_, t := r.p.words["true"]
	_, f := r.p.words["false"]
	return t && f
}

func (r *fieldReader) parseInteger(c source.Cell, text []byte, k int) {
	text = bytes.TrimSpace(text)
	if c.Kind == source.Number && (c.Class == source.Date || c.Class == source.DateTime || c.Class == source.Time || c.Class == source.Percent) {
		r.reject("value.kind", k)
		return
	}
	p := text
	if r.p.comma && c.Kind == source.Text {
		if number, ok := decimalComma(text); ok {
			p = bytes.TrimSuffix(bytes.TrimRight(number, "0"), []byte("."))
		}
	}
	if c.Kind == source.Number {
		var ok bool
		if p, ok = numberText(r.parts[:0], text); !ok {
			r.reject("integer.invalid", k)
			return
		}
	}
	if !plainDigits(bytes.TrimPrefix(p, []byte("-")), 15) {
		r.reject("integer.invalid", k)
		return
	}
	r.out.v.Int, _ = strconv.ParseInt(string(p), 10, 64) // 15 digits always fit
}
