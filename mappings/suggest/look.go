package suggest

import (
	"bytes"
	"hash/maphash"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"sheetlift/importers/source"
	"sheetlift/mappings"
	"sheetlift/pipeline/finding"
)

// Look is what one pass over a sheet shows: its header and, for each column, counts of what its cells look like. It holds no
// cell, only counts, and the words of columns that have few and harmless ones.
type Look struct {
	File      string // base name of the file
	Sheet     string // worksheet; "" for text files
	SheetNum  int    // from 1
	HeaderRow int    // 0: the sheet has no header
	FirstRow  int    // of a list without a header, where titles stand above it; else 0
	Rows      int    // below the header
	Columns   []Column

	beyond []Column // of another table beside it; their headers count where one repeats
	after  []*table // below the first
	above  *table   // the title that the last row may be
	last   int      // the last row that held something

	lastRecord int     // the last row that is no title or header
	over       []table // titles above the header that sound like a list of opt-outs
	judged     int     // rows of one cell that were looked at as titles

	seed  maphash.Seed
	shown []string // headers as they may be shown
	kept  int      // cells whose digests are kept
	told  int      // rows whose digests are kept
}

// Bounds of what a look keeps.
const (
	wordsKept = 40        // words of a column
	cellsKept = 8_000_000 // digests of cells, by which rows are told apart

	hiddenAtMost = 1000 // words of a column that are not shown, before none is looked for any more

	endsLooked = 20_000 // states of a column that are not kept and are looked at; more are texts
)

// Column is the evidence of one column.
type Column struct {
	Index   int
	Header  string // as it stands there
	Filled  int
	Emails  int
	within  int // texts that hold an address among other words
	Phones  int // numbers written internationally
	Numbers int // number cells without a date format
	Epochs  int // bare counts of seconds or milliseconds since 1970, by their size
	Dates   Dates
	Words   map[string]int // folded word to rows; nil when there are too many
	Hidden  int            // rows whose words are not kept: one that must not be shown was among them, and they are none of our lists

	as       map[string]string // folded word to the word as the file first has it
	also     map[string]bool   // folded words that some cell spells otherwise, or with blanks around
	list     []string          // folded words of the data-validation list of its cells that no row holds
	had      int               // words of that list
	sums     map[string]int    // words of the rows of totals to rows
	totals   map[string]int    // words for totals with which a row begins to rows; -1 where one names a contact point
	counted  int               // cells when answers were last counted
	answered bool              // most of them were
	figures  int               // cells that hold a digit or an address, or are no text
	objects  int               // cells that hold a list or an object of JSON
	links    int               // cells that are an address on the web
	marked   int               // cells with one apostrophe in front
	remarks  bool              // by its header, it holds remarks
	saying   mappings.Remarks  // what the words of its remarks say
	states   bool              // by its header, it holds states
	ended    int               // rows whose states are not kept and say that something ended
	looked   int               // states that were looked at for that
	stops    [2]int            // remarks that may say that somebody wants no more: those that are no word of our lists by themselves, and those that are
	stopRows [2][]int          // the first of them

	rows []uint64 // a digest of each cell, 0 for a blank one
}

// Dates is what the cells of a column show about dates.
type Dates struct {
	Cells      int // real date cells
	ISO        int
	DayFirst   int // can only be day first
	MonthFirst int // can only be month first
	Either     int // both are possible
	Named      int // name their month
	Zoned      int // carry an offset
	Clock      int // carry a time of day

	ProofRow int    // of the first row that proves the order
	Layout   string // of the numeric dates, with the day as D and the month as M; "" if they have several
	mixed    bool
	tried    int

	namedLayout              string // of the first date that names its month, with the month as MMM
	namedMixed               bool   // others are written otherwise
	wholeMonths, shortMonths bool   // months that have no short form like it, or no whole one
}

// All counts the cells that are dates of any form.
func (d *Dates) All() int { return d.Cells + d.ISO + d.DayFirst + d.MonthFirst + d.Either + d.Named }

// NewLook begins with a header, one text a column.
func NewLook(file, sheet string, sheetNum, headerRow int, header []string) *Look {
	l := &Look{File: file, Sheet: sheet, SheetNum: sheetNum, HeaderRow: headerRow, seed: maphash.MakeSeed()}
	for i, h := range header {
		c := l.column(i)
		c.Header = h
		c.remarks = mappings.HoldsRemarks(h)
		c.states = mappings.HoldsStates(h)
	}
	return l
}

func (l *Look) column(i int) *Column {
	for len(l.Columns) <= i {
		l.Columns = append(l.Columns, Column{Index: len(l.Columns), Words: map[string]int{}, as: map[string]string{}})
	}
	return &l.Columns[i]
}

// Add takes the next block of the sheet; rows up to the header are passed over.
func (l *Look) Add(b *source.Block) {
	for i := range b.Rows() {
		if b.RowNum[i] <= l.HeaderRow || b.RowNum[i] < l.FirstRow {
			l.overhead(b, i)
			continue
		}
		holds, first, word, reached := false, -1, "", false
		for col := range b.Cols {
			cell := b.Cols[col][i]
			raw := b.Bytes(cell)
			if cell.Kind == source.Empty || len(bytes.TrimSpace(raw)) == 0 {
				continue
			}
			padded := len(raw)
			raw = bytes.TrimSpace(raw)
			if !holds && cell.Kind == source.Text && len(raw) <= 32 {
				if saysTotals(string(raw)) {
					first, word = col, string(raw)
				}
			}
			holds = true
			reached = reached || bytes.IndexByte(raw, '@') >= 0 || looksPhone(raw)
			l.column(col).add(cell, raw, b.RowNum[i], padded > len(raw))
			l.keep(col, raw)
		}
		if first >= 0 {
			l.column(first).total(word, reached)
			for col := range b.Cols {
				if raw := bytes.TrimSpace(b.Bytes(b.Cols[col][i])); !reached && len(raw) > 0 && len(raw) <= 32 {
					l.column(col).summed(mappings.FoldWord(string(raw)))
				}
			}
		}
		if holds {
			l.watch(b, i)
			if l.Rows++; l.kept < cellsKept {
				l.told = l.Rows
			}
		}
	}
}

// keep notes a digest of a cell, while there is room.
func (l *Look) keep(col int, raw []byte) {
	if l.kept >= cellsKept {
		return
	}
	c := &l.Columns[col]
	for len(c.rows) < l.Rows {
		c.rows = append(c.rows, 0)
	}
	c.rows = append(c.rows, max(maphash.Bytes(l.seed, raw), 1))
	l.kept++
}

func (c *Column) add(cell source.Cell, raw []byte, row int, padded bool) {
	c.Filled++
	if cell.Kind != source.Text || bytes.ContainsAny(raw, "0123456789@") {
		c.figures++
	}
	switch {
	case cell.Kind == source.Number && (cell.Class == source.Date || cell.Class == source.DateTime):
		c.Dates.Cells++
		if cell.Class == source.DateTime {
			c.Dates.Clock++
		}
		c.Words = nil
		return
	case cell.Kind == source.Number:
		c.Numbers++
	case cell.Kind == source.Text && bytes.IndexByte(raw, '@') > 0:
		if looksEmail(raw) {
			c.Emails++
		} else if holdsAddress(raw) {
			c.within++
		}
		c.Words = nil
		return
	}
	if len(raw) > 2 && (raw[0] == '{' && raw[len(raw)-1] == '}' || raw[0] == '[' && raw[1] == '{') {
		c.objects++
	}
	if bytes.HasPrefix(raw, []byte("http://")) || bytes.HasPrefix(raw, []byte("https://")) || bytes.HasPrefix(raw, []byte("www.")) {
		c.links++
	}
	if raw[0] == '\'' {
		c.marked++
	}
	if looksEpoch(raw) {
		c.Epochs++
	}
	if looksPhone(raw) {
		c.Phones++
	}
	if cell.Kind == source.Text {
		c.Dates.add(raw, row)
		if c.remarks && c.saying.Stop(raw) {
			c.stop(row, bytes.IndexByte(raw, ' ') < 0 && opposes(string(raw)))
		}
	}
	if c.Words != nil {
		text := string(raw)
		word := mappings.FoldWord(text)
		if _, known := c.Words[word]; !known {
			switch ours := listed(word); {
			case !ours && (c.Hidden > 0 || !finding.Quote(text)):
				c.ends(word, 1)
				c.hide()
				return
			case len(c.Words) >= wordsKept:
				c.ends(word, 1)
				for kept, rows := range c.Words {
					c.ends(kept, rows)
				}
				c.Words, c.Hidden = nil, 0
				return
			}
		}
		if c.Words[word]++; c.as[word] == "" {
			c.as[word] = text
		}
		if padded || c.as[word] != text {
			if c.also == nil {
				c.also = map[string]bool{}
			}
			c.also[word] = true
		}
	}
}

// stop counts a remark by which somebody may want no more; word is whether it is one that speaks against consent by itself.
func (c *Column) stop(row int, word bool) {
	k := 0
	if word {
		k = 1
	}
	if c.stops[k]++; len(c.stopRows[k]) < 5 {
		c.stopRows[k] = append(c.stopRows[k], row)
	}
}

// hide counts a word that may be a value about a person. Its neighbours may be too, even where they don't look like it: from then on the
// column keeps the words of our lists alone.
func (c *Column) hide() {
	if c.Hidden++; c.Hidden > 1 {
		if c.Hidden > hiddenAtMost && len(c.Words) == 0 {
			c.Words, c.Hidden = nil, 0 // names, or texts
			if fits("state", plain(c.Header)) == 0 {
				c.states, c.ended = false, 0
			}
		}
		return
	}
	for word, rows := range c.Words {
		if !listed(word) {
			c.ends(word, rows)
			c.Hidden += rows
			delete(c.Words, word)
		}
	}
}

// ends counts rows with a state that is not kept, if it says that something ended.
func (c *Column) ends(state string, rows int) {
	if !c.states {
		return
	}
	if c.looked++; c.looked <= endsLooked && mappings.EndedState(state) {
		c.ended += rows
	}
}

// total counts a row that begins with a word for totals; where such a row names a contact point, the word is one like others.
func (c *Column) total(word string, reached bool) {
	if c.totals == nil {
		c.totals = map[string]int{}
	}
	switch n := c.totals[word]; {
	case reached || n < 0:
		c.totals[word] = -1
	case len(c.totals) <= wordsKept:
		c.totals[word]++
	}
}

// summed counts a word of a row of totals.
func (c *Column) summed(word string) {
	if c.sums == nil {
		c.sums = map[string]int{}
	}
	if len(c.sums) <= wordsKept {
		c.sums[word]++
	}
}

// skipped reports whether a word stands in rows of totals alone, which a draft leaves out.
func (l *Look) skipped(c *Column, word string) bool {
	return c.sums[word] > 0 && c.sums[word] == c.Words[word] && len(l.Totals()) > 0
}

// Strange reports whether more than a quarter of the cells of a column hold none of these words. A word that begins with @ names a list of ours instead, of
// which a quarter is enough.
func (l *Look) Strange(index int, words []string) bool {
	c := l.Of(index)
	if list, ok := strings.CutPrefix(words[0], "@"); ok {
		known, _ := c.share(list)
		return len(c.Words) > 0 && c.Hidden == 0 && known*4 < c.Filled
	}
	known, total := 0, c.Hidden
	for word, rows := range c.Words {
		total += rows
		if slices.ContainsFunc(words, func(w string) bool { return mappings.SameWord(w) == mappings.SameWord(word) }) {
			known += rows
		}
	}
	return total > 0 && known*4 < total*3 || total == 0 && c.Filled > 0 && c.Words == nil
}

// As gives a word of the column as the file first has it.
func (c *Column) As(folded string) string { return c.as[folded] }

// Allow takes the values of a data-validation list of the column's cells. Those that may be values about people are left out.
// It is called after the last Add.
func (l *Look) Allow(index int, values []string) {
	c := l.column(index)
	for _, v := range values {
		word := mappings.FoldWord(v)
		if _, known := c.Words[word]; word == "" || slices.Contains(c.list, word) || !finding.Quote(v) {
			continue
		} else if c.had++; !known && len(c.list) < wordsKept {
			c.list = append(c.list, word)
			if c.as == nil {
				c.as = map[string]string{}
			}
			if c.as[word] == "" {
				c.as[word] = strings.TrimSpace(v)
			}
		}
	}
}

// vocabulary lists the words of the column's cells, then those that only its data-validation list has.
func (c *Column) vocabulary() []string { return append(c.sortedWords(), c.list...) }

// Holding counts the rows whose cell in the column is one of the words; 0 if the column holds too many to be known.
func (l *Look) Holding(col int, words []string) (rows int) {
	for _, w := range words {
		rows += l.Columns[col].Words[mappings.FoldWord(w)]
	}
	return rows
}

// sortedWords lists the folded words, the most frequent first.
func (c *Column) sortedWords() []string {
	var list []string
	for w := range c.Words {
		list = append(list, w)
	}
	slices.SortFunc(list, func(a, b string) int {
		if n := c.Words[b] - c.Words[a]; n != 0 {
			return n
		}
		return strings.Compare(a, b)
	})
	return list
}

// Of finds a column by its position in the sheet.
func (l *Look) Of(index int) *Column {
	if index < 0 || index >= len(l.Columns) {
		return nil
	}
	return &l.Columns[index]
}

// Name is how a draft names a column: by its header, with nth where that repeats, and by its letter where the header is blank
// or looks like a value about a person.
func (l *Look) Name(index int) mappings.Column {
	c := l.Of(index)
	folded := ""
	if c != nil {
		folded = mappings.FoldHeader(c.Header)
	}
	if len(l.shown) != len(l.Columns) {
		headers := make([]string, len(l.Columns))
		for i := range l.Columns {
			headers[i] = l.Columns[i].Header
		}
		l.shown = mappings.ShownHeaders(headers)
	}
	if folded == "" || l.HeaderRow == 0 || mappings.LooksPersonal(c.Header) || l.shown[index] != c.Header {
		return mappings.Column{Letter: source.Letters(index)}
	}
	nth, total := 0, 0
	for i := range l.Columns {
		if mappings.FoldHeader(l.Columns[i].Header) == folded {
			if total++; i <= index {
				nth++
			}
		}
	}
	for i := range l.beyond {
		if mappings.FoldHeader(l.beyond[i].Header) == folded {
			total++
		}
	}
	name := mappings.Column{Header: strings.Join(strings.Fields(c.Header), " ")}
	if total > 1 {
		name.Nth = nth
	}
	return name
}

// Say names a column in a comment: its letter, and its header where that may be shown.
func (l *Look) Say(index int) string {
	s := "column " + source.Letters(index)
	if name := l.Name(index); name.Header != "" {
		s += " " + strconv.Quote(name.Header)
	}
	return s
}

func looksEmail(raw []byte) bool {
	raw = bytes.TrimPrefix(raw, []byte("'"))
	at := bytes.IndexByte(raw, '@')
	return at > 0 && at == bytes.LastIndexByte(raw, '@') && bytes.IndexByte(raw[at:], '.') > 1 && !bytes.ContainsAny(raw, " \t<>,;")
}

// holdsAddress reports whether an address stands among other words.
func holdsAddress(raw []byte) bool {
	for word := range bytes.FieldsFuncSeq(raw, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("<>(),;:", r) }) {
		if looksEmail(word) {
			return true
		}
	}
	return false
}

// AddressesWithin counts the texts of a sheet that hold an address among other words: a list in prose is none that can be mapped.
func (l *Look) AddressesWithin() (n int) {
	for i := range l.Columns {
		n += l.Columns[i].within
	}
	return n
}

// looksEpoch knows whole seconds and milliseconds from 2001 to 2033.
func looksEpoch(raw []byte) bool {
	return (len(raw) == 10 || len(raw) == 13) && raw[0] == '1' && len(bytes.TrimLeft(raw, "0123456789")) == 0
}

// looksPhone knows numbers that are written internationally; national ones look like any other digits.
func looksPhone(raw []byte) bool {
	raw = bytes.TrimPrefix(raw, []byte("'"))
	if !bytes.HasPrefix(raw, []byte("+")) && !bytes.HasPrefix(raw, []byte("00")) {
		return false
	}
	digits := 0
	for _, c := range raw {
		switch {
		case c >= '0' && c <= '9':
			digits++
		case !bytes.ContainsRune([]byte("+ -/()."), rune(c)):
			return false
		}
	}
	return digits >= 8 && digits <= 17
}
