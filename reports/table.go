package reports

import (
	"fmt"
	"strings"

	pretty "github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// table is rows under a head. Numbers stand on the right.
type table struct {
	head []string
	rows [][]any // strings, ints, int64s
	foot []any
}

func (t *table) add(cells ...any) { t.rows = append(t.rows, cells) }

// table writes t aligned by display width, without frames, so that lines can be cut and grepped.
func (p *page) table(indent string, t table) {
	for _, line := range t.lines(max(p.width-len(indent), 0)) {
		p.line("%s", indent+line)
	}
}

// tooWide reports whether a table is wider than the screen.
func (p *page) tooWide(indent string, t *table) bool {
	if p.width == 0 {
		return false
	}
	for _, line := range t.lines(0) {
		if len(indent)+text.StringWidthWithoutEscSequences(line) > p.width {
			return true
		}
	}
	return false
}

// lastLeast is how narrow the last column of a table may become.
const lastLeast = 16

// lines are the head, if there is one, and the rows. The last column is wrapped where a line would be wider than width, which is 0
// where lines may be as long as they are.
func (t *table) lines(width int) []string {
	if len(t.rows) == 0 {
		return nil
	}
	w := pretty.NewWriter()
	w.SetStyle(pretty.Style{
		Box:    pretty.BoxStyle{PaddingRight: "  "},
		Format: pretty.FormatOptions{Header: text.FormatDefault, Row: text.FormatDefault, Footer: text.FormatDefault},
	})
	configs := make([]pretty.ColumnConfig, len(t.rows[0]))
	head := make(pretty.Row, len(t.head))
	for i := range t.rows[0] {
		if len(t.head) > 0 {
			head[i] = t.head[i]
		}
		align := text.AlignLeft
		switch t.rows[0][i].(type) {
		case int, int64:
			align = text.AlignRight
		}
		configs[i] = pretty.ColumnConfig{Number: i + 1, Align: align, AlignHeader: align, AlignFooter: align}
	}
	if last := len(configs) - 1; width > 0 {
		before := 0
		for i := range last {
			widest := 0
			for _, r := range append(append([][]any{toAny(t.head)}, t.rows...), t.foot) {
				if i < len(r) {
					widest = max(widest, text.StringWidthWithoutEscSequences(fmt.Sprint(shown(r[i : i+1])[0])))
				}
			}
			before += widest + 2
		}
		if room := width - before; room >= lastLeast {
			configs[last].WidthMax, configs[last].WidthMaxEnforcer = room, text.WrapSoft
		}
	}
	w.SetColumnConfigs(configs)
	if len(head) > 0 {
		w.AppendHeader(head)
	}
	for _, r := range t.rows {
		w.AppendRow(shown(r))
	}
	if t.foot != nil {
		w.AppendRow(shown(t.foot))
	}
	lines := strings.Split(w.Render(), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return lines
}

func toAny(words []string) (cells []any) {
	for _, w := range words {
		cells = append(cells, w)
	}
	return cells
}

func shown(cells []any) pretty.Row {
	row := make(pretty.Row, len(cells))
	for i, c := range cells {
		switch c := c.(type) {
		case int:
			row[i] = number(c)
		case int64:
			row[i] = number(c)
		case string:
			row[i] = clean(c)
		case nil:
			row[i] = ""
		default:
			row[i] = clean(fmt.Sprint(c))
		}
	}
	return row
}
