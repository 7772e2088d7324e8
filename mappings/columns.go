package mappings

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"sheetlift/importers/source"
	"sheetlift/mappings/strictyaml"
)

// maxColumns is the last column of a worksheet, XFD.
const maxColumns = 16384

// headerWithin is how far down a header is looked for.
const headerWithin = 50

// SheetError says why a mapping doesn't fit a sheet. It names headers, never values.
type SheetError struct {
	File    string
	Sheet   string
	Row     int
	Message string
	Remedy  string
	Have    []string // the columns the sheet does have, as messages may show them
}

// Error gives place and message; the remedy is separate.
func (e *SheetError) Error() string {
	s := e.File
	if e.Sheet != "" {
		s += ", sheet " + fmt.Sprintf("%q", e.Sheet)
	}
	if e.Row > 0 {
		s += fmt.Sprintf(", row %d", e.Row)
	}
	s += ": " + e.Message
	if len(e.Have) > 0 {
		s += "; the sheet has " + strings.Join(e.Have, ", ")
	}
	return strings.TrimPrefix(s, ": ")
}

// headerFold is the form in which header texts are compared: NFC, spaces and line ends as one space, without case or a byte
// order mark.
func headerFold(s string) string {
	s = strings.TrimPrefix(s, "\ufeff")
	return fold(strings.Join(strings.Fields(norm.NFC.String(s)), " "))
}

// headerText is the text of a header cell.
func headerText(b *source.Block, col, i int) string {
	c := b.Cell(col, i)
	text := string(b.Bytes(c))
	if c.Kind == source.Number {
		if p, ok := numberText(nil, b.Bytes(c)); ok {
			text = string(p)
		}
	}
	return strings.Join(strings.Fields(strings.TrimPrefix(strings.ToValidUTF8(text, "\uFFFD"), "\ufeff")), " ")
}

// columnIndex is the index from 0 of column letters, or -1.
func columnIndex(letters string) int {
	n := 0
	for _, r := range strings.ToUpper(letters) {
		if r < 'A' || r > 'Z' || n > maxColumns {
			return -1
		}
		n = n*26 + int(r-'A') + 1
	}
	if n < 1 || n > maxColumns {
		return -1
	}
	return n - 1
}

// headerMatches reports whether row i of b holds every wanted header text.
func headerMatches(b *source.Block, i int, wanted []string) bool {
	have := map[string]bool{}
	for col := range b.Cols {
		if b.Cols[col][i].Kind != source.Empty {
			have[headerFold(headerText(b, col, i))] = true
		}
	}
	for _, w := range wanted {
		if !have[headerFold(w)] {
			return false
		}
	}
	return true
}

// namedHeader is the header cells that have a name, to know a repeated header by.
type namedHeader []headerCell

type headerCell struct {
	col    int
	folded string
}

func newNamedHeader(shown []string) namedHeader {
	var list namedHeader
	for col, name := range shown {
		if name != "column "+source.Letters(col) {
			list = append(list, headerCell{col, headerFold(name)})
		}
	}
	return list
}

// repeats reports whether row i holds the header again. A single name may well be a value, so it takes two.
func (h namedHeader) repeats(b *source.Block, i int) bool {
	if len(h) < 2 {
		return false
	}
	for _, h := range h {
		c := b.Cell(h.col, i)
		if c.Kind == source.Empty || c.Kind == source.ErrorValue || !mayFold(b.Bytes(c), h.folded) || headerFold(headerText(b, h.col, i)) != h.folded {
			return false
		}
	}
	return true
}

// mayFold rules out what is no repeated header without folding it, because folding costs. Plain characters fold one by one, so the
// first that differs decides, unless the header has a letter there that marks are part of.
func mayFold(raw []byte, folded string) bool {
	if !inked(raw) {
		raw = bytes.TrimSpace(raw)
	}
	for i, c := range raw {
		if c >= 0x80 || c < ' ' || c == ' ' && (i == 0 || raw[i-1] == ' ') {
			return true
		}
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		switch {
		case i < len(folded) && folded[i] == c:
		case i < len(folded) && folded[i] >= 0x80:
			return true
		case i < len(folded) || c != ' ':
			return false
		}
	}
	return len(raw) >= len(folded)
}

// resolve finds the column in the header; message and remedy say why it can't.
func (c Column) resolve(folded, shown []string) (col int, message, remedy string) {
	switch {
	case c.Letter != "":
		return columnIndex(c.Letter), "", ""
	case c.Index > 0:
		return c.Index - 1, "", ""
	}
	var at []int
	want := headerFold(c.Header)
	for i, h := range folded {
		if h == want {
			at = append(at, i)
		}
	}
	switch {
	case len(at) == 0:
		var names []string
		for _, name := range shown {
			if name != "" && !strings.HasPrefix(name, "column ") {
				names = append(names, name)
			}
		}
		remedy = "name a column that the sheet has"
		if near := strictyaml.Nearest(c.Header, names); near != "" {
			remedy = fmt.Sprintf("did you mean %q?", near)
		}
		return -1, "there is no column " + c.String(), remedy
	case c.Nth > len(at):
		return -1, fmt.Sprintf("column %q occurs %d times, so there is no nth: %d", c.Header, len(at), c.Nth), "count from the left"
	case c.Nth > 0:
		return at[c.Nth-1], "", ""
	case len(at) > 1:
		letters := make([]string, len(at))
		for i, col := range at {
			letters[i] = source.Letters(col)
		}
		return -1, fmt.Sprintf("column %q occurs %d times (%s)", c.Header, len(at), strings.Join(letters, ", ")),
			fmt.Sprintf("write { header: %q, nth: 1 } or { letter: %s }", c.Header, letters[0])
	}
	return at[0], "", ""
}

// columnsOf lists every column a program names, each once.
func (p *program) columnsOf() []Column { return p.columnsBut("") }

// columnsBut is columnsOf without those that only a field of this name is read from.
func (p *program) columnsBut(field string) []Column {
	var list []Column
	add := func(c Column) {
		if !slices.Contains(list, c) {
			list = append(list, c)
		}
	}
	for i := range p.skips {
		add(p.skips[i].column)
	}
	for i := range p.specs {
		s := &p.specs[i]
		for j := range s.when {
			add(s.when[j].column)
		}
		for j := range s.fields {
			for _, c := range s.fields[j].from {
				if field == "" || s.fields[j].field.Name != field {
					add(c)
				}
			}
			for k := range s.fields[j].when {
				add(s.fields[j].when[k].column)
			}
		}
	}
	return list
}

// FoldHeader is the form in which header texts are compared: NFC, spaces and line ends as one space, without case or a byte
// order mark.
func FoldHeader(s string) string { return headerFold(s) }

// FoldWord is the form in which words of closed lists are compared: NFC, trimmed, without case.
func FoldWord(s string) string { return fold(s) }
