package suggest

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"sheetlift/importers/source"
	"sheetlift/mappings"
	"sheetlift/pipeline/finding"
)

// table is a further table below the first, or what looks like the beginning of one.
type table struct {
	row    int // of its header, or of its title
	header int // below the title, if there is one
	col    int // of the title
	asks   mappings.OptOut
	after  bool // blank rows
	called bool // as a list of opt-outs is
	erased bool // the word may stand where a person stood, or be of a firm's name
	again  bool // the header of the first
	title  bool
}

// Bounds of the rows that may be titles: where there are more, they are cells of a list.
const (
	titlesKept   = 200 // that sound like none of opt-outs
	titlesJudged = 10_000
)

// watch notes rows below the first that are the header of another table, or may be its title.
func (l *Look) watch(b *source.Block, i int) {
	row, last := b.RowNum[i], l.last
	l.last = row
	above := l.above
	if l.above = l.titleAt(b, i, last > 0 && row > last+1); l.above != nil {
		return
	}
	t := table{row: row, after: last > 0 && row > last+1}
	cells, known, clash := 0, 0, 0
	words, same := l.mayBeHeader(b, i, t.after)
	for col := 0; col < len(b.Cols) && words; col++ {
		text := strings.TrimSpace(string(b.Bytes(b.Cols[col][i])))
		if b.Cols[col][i].Kind == source.Empty || text == "" {
			continue
		}
		cells++
		asks, says, c := mappings.OptOutOf(text), !same && valueWord(text), l.Of(col)
		if says && asks == mappings.NoOptOut {
			words = false
		}
		if asks != mappings.NoOptOut || soundsLikeHeader(text) || strings.EqualFold(text, c.header()) {
			known++
		}
		if c.codes(1) && !strings.ContainsAny(text, digits) || !says && c.answers() {
			clash++
		}
		t.asks = max(t.asks, asks)
	}
	switch {
	case !words || cells < 2:
		l.record(b, i)
	case last == 0:
	case same:
		t.again = true
		l.begins(t, above)
	case t.after && known > 1, clash > 0 && (known > 1 || known > 0 && clash > 1):
		l.begins(t, above)
	default:
		l.record(b, i)
	}
}

// mayBeHeader reports whether the cells of row i are short texts that a header may hold, or are those of the header once more: but after blank rows, one at
// least stands in a column of codes or answers, and none is a code. It is asked of every row.
func (l *Look) mayBeHeader(b *source.Block, i int, after bool) (may, same bool) {
	may, same = after, true
	for col := range b.Cols {
		cell := b.Cols[col][i]
		raw := bytes.TrimSpace(b.Bytes(cell))
		if cell.Kind == source.Empty || len(raw) == 0 {
			continue
		}
		c := l.Of(col)
		codes, figures := c.codes(1), bytes.ContainsAny(raw, digits)
		if cell.Kind != source.Text || len(raw) > 60 || bytes.IndexByte(raw, '@') >= 0 || figures && (codes && !after || mappings.NumberOrDate(string(raw))) {
			return false, false
		}
		may = may || codes || c.answers()
		same = same && strings.EqualFold(string(raw), strings.TrimSpace(c.header()))
	}
	return may || same, same
}

// record notes that row i is a record, and no note: it names a contact point, begins with a number or a code, or fills three cells.
func (l *Look) record(b *source.Block, i int) {
	cells := 0
	for col := range b.Cols {
		raw := bytes.TrimSpace(b.Bytes(b.Cols[col][i]))
		if b.Cols[col][i].Kind == source.Empty || len(raw) == 0 {
			continue
		}
		text := string(raw)
		if cells++; cells == 1 && saysTotals(text) {
			return
		}
		code := cells == 1 && bytes.ContainsAny(raw, digits) && (!strings.ContainsFunc(text, unicode.IsSpace) || mappings.NumberOrDate(text))
		if code || cells > 2 || bytes.IndexByte(raw, '@') >= 0 || looksPhone(raw) {
			l.lastRecord = b.RowNum[i]
			return
		}
	}
}

// saysTotals reports whether a text is what stands before totals.
func saysTotals(text string) bool {
	return slices.Contains(TotalsWords, mappings.FoldWord(strings.TrimSpace(strings.TrimSuffix(text, ":"))))
}

// begins notes the header of another table, and with it the title above.
func (l *Look) begins(t table, title *table) {
	switch {
	case title != nil:
		title.header, title.again = t.row, t.again
		title.asks = max(title.asks, t.asks)
	case len(l.after) < titlesJudged:
		l.after = append(l.after, &t)
	}
}

const digits = "0123456789"

// codes reports whether most cells of a column, without the last ones read, hold addresses, numbers, dates or codes, and no words.
func (c *Column) codes(without int) bool {
	return c != nil && c.figures*2 > c.Filled-without && c.figures > 0
}

// answers reports whether most cells of a column are answers: they are counted anew when there are twice as many.
func (c *Column) answers() bool {
	if c == nil {
		return false
	}
	if c.Filled < 2*c.counted && c.Filled > c.counted {
		return c.answered
	}
	rows := 0
	for word, n := range c.Words {
		if valueWord(word) {
			rows += n
		}
	}
	c.counted, c.answered = c.Filled, rows*2 > c.Filled-1 && rows > 0
	return c.answered
}

// ofErased are pieces of what stands where a person was erased, or of the names of firms, and say of other lists that they are ended.
var ofErased = strings.Fields("delet gelosch geloesch gewist borrad apagad elimin supprim remov entfern verwijder rimoss limitad")

// ofOptOuts are pieces of titles of lists of opt-outs, besides those that headers ask for one by.
var ofOptOuts = strings.Fields("bounce exclusion suppress complaint einspruch retraits uitschrijving anulacion anulados oposiciones beschwerde plaintes quejas reclami reclamac klachten spamreport")

// titleAt gives what row i may be the title of: nothing but words in one cell, or beside numbers and days words that sound like a list of opt-outs.
func (l *Look) titleAt(b *source.Block, i int, after bool) *table {
	t, text, others := table{row: b.RowNum[i], col: -1, after: after, title: true}, "", 0
	for col := range b.Cols {
		cell := b.Cols[col][i]
		raw := bytes.TrimSpace(b.Bytes(cell))
		switch {
		case cell.Kind == source.Empty || len(raw) == 0:
		case t.col < 0:
			if cell.Kind != source.Text || len(raw) > 100 || bytes.IndexByte(raw, '@') >= 0 || looksPhone(raw) {
				return nil
			}
			t.col, text = col, string(raw)
		case cell.Kind == source.Text && (!bytes.ContainsAny(raw, digits) || !mappings.NumberOrDate(string(raw))):
			return nil
		default:
			others++
		}
	}
	words := !l.Of(t.col).codes(0) && !slices.ContainsFunc(l.Columns, func(c Column) bool { return c.Index != t.col && c.Filled > 0 }) // a list of one column
	if t.col < 0 || l.judged >= titlesJudged || words && l.Rows > 0 {
		return nil
	}
	if l.judged++; !t.says(text, others > 0) || len(l.after) >= titlesKept && t.asks == mappings.NoOptOut {
		return nil
	}
	l.after = append(l.after, &t)
	return &t
}

// says reads the text of what may be a title, and whether it stands beside numbers; it reports false for answers, codes and totals.
func (t *table) says(text string, counted bool) bool {
	if !strings.ContainsFunc(text, unicode.IsLetter) || mappings.NumberOrDate(text) || strings.ContainsAny(text, digits) && !strings.ContainsFunc(text, unicode.IsSpace) {
		return false
	}
	says, answer := term(answers, text)
	if answer && says != "refused" && says != "withdrawn" {
		return false
	}
	named := Look{File: text}
	t.asks = mappings.OptOutOf(text)
	t.called = answer || t.asks != mappings.NoOptOut && named.called(sheetWords["suppression"]) && !strings.Contains(plain(text), "robinson")
	t.erased = t.asks == mappings.EndedOptOut && holds(plain(text), ofErased)
	if answer || named.called(ofOptOuts) {
		t.asks = mappings.SureOptOut
	}
	totals := slices.ContainsFunc(mappings.HeaderWords(text), func(word string) bool { return slices.Contains(TotalsWords, word) })
	return !saysTotals(text) && !(totals && (counted || strings.ContainsAny(text, digits))) && !(counted && t.asks == mappings.NoOptOut)
}

// OptOutTitle reports whether a text that stands alone in its row sounds like the title of a list of opt-outs.
func OptOutTitle(text string) bool {
	var t table
	return t.says(text, false) && t.asks != mappings.NoOptOut && !t.erased
}

// tables sorts what was noted: further is the first table that must not be read as the first is, and doubtful are rows that may be titles of parts of one
// table, or its header once more.
func (l *Look) tables(entity string) (further *table, titles, again []int) {
	first := slices.IndexFunc(l.Columns, func(c Column) bool { return c.Filled > 0 })
	register := entity == "consent" || entity == "suppression"
	for _, t := range l.after {
		if t.row > l.lastRecord {
			continue // a note at the end
		}
		c := l.Of(t.col)
		switch {
		case !t.title && t.again:
			again = append(again, t.row)
			continue
		case !t.title, t.header > 0 && !t.again, t.header > 0 && register:
			if further == nil {
				further = t
			}
			continue
		}
		clash := c.codes(0) || c.Header == "" || c.answers() && !t.called
		sure := t.asks != mappings.NoOptOut && (t.after || !t.erased)
		switch {
		case !register && entity != "case":
		case entity == "consent" && sure && (clash || t.col == first && (t.called || t.after)):
			if further == nil {
				further = t
			}
		case clash, t.asks != mappings.NoOptOut && t.col == first:
			titles = append(titles, t.row)
		}
	}
	return further, titles, again
}

func (c *Column) header() string {
	if c == nil {
		return ""
	}
	return c.Header
}

// below says that another table begins below the first, and keeps the draft from being a mapping: its rows would be read as those of the first, a yes to an
// opt-out as one to a consent. What may be a title of a part of the table is named. why is what the condition that keeps it so is for, "" if there is none.
func (d *Draft) below(l *Look, entity string) (why string) {
	t, titles, again := l.tables(entity)
	if len(titles) > 0 {
		d.Head = append(d.Head, "Attention: "+rowsLook(titles, "looks like a title", "look like titles")+" among the records. If what stands below is a list of another kind, such as one of opt-outs, its rows would be read as those above: give it a sheet or file of its own before the export is frozen.")
	}
	if len(again) > 0 {
		d.Head = append(d.Head, "Attention: "+rowsLook(again, "repeats the header", "repeat the header")+", and would be rejected: remove "+finding.Word(len(again), "it", "them")+" before the export is frozen. If what stands below is another list, give it a sheet or file of its own.")
	}
	if t == nil {
		return ""
	}
	sounds, what := "", fmt.Sprintf("row %d looks like the header of a second table", t.row)
	if t.after {
		what = fmt.Sprintf("row %d, after blank ones, looks like the header of a second table", t.row)
	}
	if t.title {
		what = fmt.Sprintf("row %d looks like the title of a second table", t.row)
		if t.header > 0 {
			what += fmt.Sprintf(", whose header is row %d", t.header)
		}
	}
	if t.asks != mappings.NoOptOut {
		sounds = ", and sounds like that of a list of opt-outs"
	}
	what += sounds
	d.Head = append(d.Head, "Attention: "+what+". Its rows would be read as those of the first, and a yes to an opt-out as one to a consent: put the rows from there on into a sheet or file of their own before the export is frozen, and draft anew.")
	why = what + ": put its rows into a sheet or file of their own, and draft anew; or remove the condition in: [] if they belong to this table"
	for i := range d.Records {
		r := &d.Records[i]
		r.Why = append(r.Why, why)
		r.When = append(r.When, mappings.Condition{Column: l.Name(0), In: mappings.Strings{}})
	}
	return why
}

// rowsLook names rows, the first few by their numbers.
func rowsLook(rows []int, one, several string) string {
	return rowsNamed(rows, len(rows)) + " " + finding.Word(len(rows), one, several)
}

// rowsNamed names the first few of n rows.
func rowsNamed(rows []int, n int) string {
	var list []string
	for _, row := range rows[:min(len(rows), 5)] {
		list = append(list, fmt.Sprint(row))
	}
	text := finding.Word(n, "row ", "rows ") + strings.Join(list, ", ")
	if more := n - len(list); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
