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
	for _, line := range t.lines() {
		p.line("%s", indent+line)
	}
}

// lines are the head, if there is one, and the rows.
func (t *table) lines() []string {
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
		default:
			row[i] = clean(fmt.Sprint(c))
		}
	}
	return row
}
