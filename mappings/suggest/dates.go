package suggest

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"sheetlift/mappings"
	"sheetlift/pipeline/finding"
)

var (
	isoDate     = regexp.MustCompile(`^\d{4}-\d\d-\d\d(?:[T ](\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?) ?(Z|z|UTC|GMT|[+-]\d\d:?\d\d)?)?$`)
	numericDate = regexp.MustCompile(`^(\d{1,2})([./-])(\d{1,2})([./-])(\d{4}|\d\d)(?:(,? )(\d{1,2}):(\d\d)(:\d\d)?( ?[AaPp][Mm])?)?$`)
)

// add looks at one text.
func (d *Dates) add(raw []byte, row int) {
	if len(raw) < 6 || len(raw) > 40 || d.tried > 1000 && d.All() == 0 {
		return // a column of a thousand texts without any date is none of dates
	}
	if d.tried++; d.named(string(raw)) || raw[0] < '0' || raw[0] > '9' {
		return
	}
	if m := isoDate.FindSubmatch(raw); m != nil {
		d.ISO++
		if len(m[1]) > 0 {
			d.Clock++
		}
		if len(m[2]) > 0 {
			d.Zoned++
		}
		return
	}
	m := numericDate.FindStringSubmatch(string(raw))
	if m == nil || m[2] != m[4] {
		return
	}
	first, _ := strconv.Atoi(m[1])
	second, _ := strconv.Atoi(m[3])
	switch {
	case first > 12 && second > 12 || first == 0 || second == 0:
		return
	case first > 12:
		d.prove(&d.DayFirst, row)
	case second > 12:
		d.prove(&d.MonthFirst, row)
	default:
		d.Either++
	}
	layout := "D" + m[2] + "M" + m[2] + strings.Repeat("Y", len(m[5]))
	if m[7] != "" {
		d.Clock++
		switch {
		case m[10] != "":
			layout += m[6] + "h:mm"
		case len(m[7]) == 1:
			layout += m[6] + "H:mm"
		default:
			layout += m[6] + "HH:mm"
		}
		if m[9] != "" {
			layout += ":ss"
		}
		if m[10] != "" {
			layout += strings.Repeat(" ", len(m[10])-2) + "A"
		}
	}
	if len(m[1]) == 2 && len(m[3]) == 2 {
		layout = strings.Replace(strings.Replace(layout, "D", "DD", 1), "M", "MM", 1)
	}
	switch {
	case d.Layout == "" && !d.mixed:
		d.Layout = layout
	case d.Layout != layout && strings.NewReplacer("DD", "D", "MM", "M").Replace(d.Layout) == strings.NewReplacer("DD", "D", "MM", "M").Replace(layout):
		d.Layout = strings.NewReplacer("DD", "D", "MM", "M").Replace(layout) // 3.4.2024 beside 13.04.2024
	case d.Layout != layout:
		d.Layout, d.mixed = "", true
	}
}

var namedDate = regexp.MustCompile(`^(?:(\d{1,2})(\.?)|(\pL{3,})\.?)([ /.-]{1,2}|,? de | of )(?:(\pL{3,})\.?|(\d{1,2}))(,? |[/.-]| del? )(\d{4}|\d\d)(?:(,? | à | um | at )(\d{1,2}):(\d\d)(:\d\d)?( ?(?:[AaPp]\.?[Mm]\.?))?( ?(?:Z|UTC|GMT|[+-]\d\d:?\d\d))?)?$`)

var letters = regexp.MustCompile(`\pL+`)

// named takes a date that names its month, such as 14/Mär/24 9:12 AM or March 14, 2024: nobody has to say what comes first.
func (d *Dates) named(text string) bool {
	m := namedDate.FindStringSubmatch(text)
	if m == nil {
		return false
	}
	month, layout := m[3], ""
	if m[1] != "" {
		month = m[5]
	}
	whole, short := mappings.IsMonth(month)
	if !whole && !short || (m[1] != "") == (m[6] != "") {
		return false
	}
	d.Named++
	literal := func(s string) string { return letters.ReplaceAllString(s, "'$0'") }
	if m[1] != "" {
		layout = "D" + m[2] + literal(m[4]) + "MMM"
	} else {
		layout = "MMM" + literal(m[4]) + "D"
	}
	layout += literal(m[7]) + strings.Repeat("Y", len(m[8]))
	if m[10] != "" {
		d.Clock++
		hour := "H"
		if m[13] != "" {
			hour = "h"
		}
		layout += literal(m[9]) + hour + ":mm"
		if m[12] != "" {
			layout += ":ss"
		}
		if m[13] != "" {
			layout += strings.Repeat(" ", len(m[13])-len(strings.TrimPrefix(m[13], " "))) + "A"
		}
		if m[14] != "" {
			d.Zoned++
			layout += strings.Repeat(" ", len(m[14])-len(strings.TrimPrefix(m[14], " "))) + "Z"
		}
	}
	d.wholeMonths = d.wholeMonths || !short
	d.shortMonths = d.shortMonths || !whole
	if d.namedLayout == "" {
		d.namedLayout = layout
	}
	d.namedMixed = d.namedMixed || d.namedLayout != layout
	return true
}

// months is the layout of the dates that name their month; "" if they have several.
func (d *Dates) months() string {
	switch {
	case d.namedMixed || d.wholeMonths && d.shortMonths:
		return ""
	case d.wholeMonths:
		return strings.Replace(d.namedLayout, "MMM", "MMMM", 1)
	}
	return d.namedLayout
}

// layout reports whether all dates of the column are read by one layout, which its cells show or which is asked for.
func (d *Dates) layout() bool {
	numeric := d.DayFirst + d.MonthFirst + d.Either
	if d.Cells > 0 {
		return numeric == 0 && d.ISO == 0 && d.Named == 0 // real dates, which format: serial declares
	}
	if d.Named > 0 {
		return numeric == 0 && d.ISO == 0 && d.months() != ""
	}
	return numeric == 0 && d.ISO > 0 || numeric > 0 && d.Layout != "" && (d.DayFirst == 0 || d.MonthFirst == 0)
}

func (d *Dates) prove(n *int, row int) {
	if *n++; d.ProofRow == 0 {
		d.ProofRow = row
	}
}

// Date fills in how a date column is read, from its evidence. Where nothing proves the order of day and month, format is left
// to be asked.
func (l *Look) Date(f *Field, index int) {
	d := &l.Columns[index].Dates
	numeric := d.DayFirst + d.MonthFirst + d.Either
	var formats mappings.Strings
	if d.ISO > 0 {
		formats = append(formats, "iso8601")
	}
	switch {
	case d.All() == 0:
		f.why("no cell of the column shows a date that can be read without a layout")
		if l.Columns[index].Filled > 0 {
			f.ask("format", "how are these dates written? for example DD.MM.YYYY HH:mm, or serial for bare numbers")
		}
		return
	case d.Named > 0 && numeric == 0 && d.Cells == 0:
		f.why(fmt.Sprintf("%d of %s the month", d.Named, finding.Count(l.Columns[index].Filled, "cell names", "cells name")))
		if layout := d.months(); layout != "" {
			f.Spec.Format = append(formats, layout)
		} else {
			f.ask("format", "these dates name their month, and are written in more than one way: for example [\"D MMM YYYY\", \"D MMMM YYYY HH:mm\"]")
		}
	case numeric == 0:
		if d.ISO > 0 && d.Cells == 0 {
			f.Spec.Format = formats
			f.why(fmt.Sprintf("%d of %s ISO 8601", d.ISO, finding.Count(l.Columns[index].Filled, "cell is", "cells are")))
		} else {
			f.why(fmt.Sprintf("%d of %s", d.Cells, finding.Count(l.Columns[index].Filled, "cell is a real date", "cells are real dates")))
		}
	case d.DayFirst > 0 && d.MonthFirst > 0:
		f.why("some dates can only be day first and others only month first: the column mixes two orders, which map refuses; ask its owner")
	case d.DayFirst == 0 && d.MonthFirst == 0:
		dayFirst, monthFirst := "DD/MM/YYYY", "MM/DD/YYYY"
		if d.Layout != "" {
			dayFirst, monthFirst = d.Layout, swap(d.Layout)
		}
		f.why("nothing in the column shows whether the day or the month comes first")
		if other := l.alike(index); other >= 0 {
			f.why(fmt.Sprintf("%s is written like it, and row %d there can only be %s first; another column proves nothing of this one", l.Say(other), l.Columns[other].Dates.ProofRow,
				map[bool]string{true: "day", false: "month"}[l.Columns[other].Dates.DayFirst > 0]))
		}
		f.ask("format", dayFirst+" or "+monthFirst+"? ask whoever made the export")
	default:
		order, layout := "the day", d.Layout
		if d.MonthFirst > 0 {
			order, layout = "the month", swap(d.Layout)
		}
		f.why(fmt.Sprintf("%s comes first: row %d can be read in no other way, and no row contradicts it", order, d.ProofRow))
		if d.Layout != "" {
			f.Spec.Format = append(formats, layout)
		}
	}
	if d.Clock > 0 && d.Zoned < d.Clock {
		f.why("the times name no zone: declare zone: in the mapping or in batch.yaml, or they don't count")
	}
}

// alike finds a column of dates in the same layout that proves the order of day and month; -1 if there is none, or if columns of the
// sheet prove two orders.
func (l *Look) alike(index int) int {
	found, proven, dayFirst := -1, false, false
	for col := range l.Columns {
		d := &l.Columns[col].Dates
		if d.DayFirst+d.MonthFirst == 0 {
			continue
		}
		first := d.DayFirst > 0
		if first && d.MonthFirst > 0 || proven && first != dayFirst {
			return -1
		}
		if proven, dayFirst = true, first; d.Layout != "" && d.Layout == l.Columns[index].Dates.Layout {
			found = col
		}
	}
	return found
}

// swap exchanges day and month of a layout.
func swap(layout string) string {
	return strings.NewReplacer("DD", "MM", "MM", "DD", "D", "M", "M", "D").Replace(layout)
}
