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
	if p.err != nil || len(t.rows) == 0 {
		return
	}
	w := pretty.NewWriter()
	w.SetStyle(pretty.Style{
		Box:    pretty.BoxStyle{PaddingRight: "  "},
		Format: pretty.FormatOptions{Header: text.FormatDefault, Row: text.FormatDefault, Footer: text.FormatDefault},
	})
	configs := make([]pretty.ColumnConfig, len(t.head))
	head := make(pretty.Row, len(t.head))
	for i, h := range t.head {
		head[i] = h
		align := text.AlignLeft
		switch t.rows[0][i].(type) {
		case int, int64:
			align = text.AlignRight
		}
		configs[i] = pretty.ColumnConfig{Number: i + 1, Align: align, AlignHeader: align, AlignFooter: align}
	}
	w.SetColumnConfigs(configs)
	w.AppendHeader(head)
	for _, r := range t.rows {
		w.AppendRow(shown(r))
	}
	if t.foot != nil {
		w.AppendRow(shown(t.foot))
	}
	for line := range strings.SplitSeq(w.Render(), "\n") {
		p.line("%s", indent+strings.TrimRight(line, " "))
	}
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
