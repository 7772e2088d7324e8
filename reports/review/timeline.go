package review

import (
	"fmt"
	"html/template"
	"math"
	"strings"
	"time"

	"sheetlift/pipeline"
	"sheetlift/reports"
)

// monthRow is one line of the timeline's table: a month, or some in a row without any consent.
type monthRow struct {
	Name string
	pipeline.MonthCount
	None  bool // a gap
	Stamp bool
}

// months lists the timeline with its gaps.
func months(t *pipeline.Timeline) []monthRow {
	var list []monthRow
	if t.Earlier != nil {
		list = append(list, monthRow{Name: "earlier", MonthCount: *t.Earlier})
	}
	stamped := stampedMonths(t)
	var before time.Time
	for _, m := range t.Months {
		at, err := time.Parse("2006-01", m.Month)
		if err != nil {
			continue
		}
		if first := before.AddDate(0, 1, 0); !before.IsZero() && first.Before(at) {
			name := first.Format("2006-01")
			if last := at.AddDate(0, -1, 0); last.After(first) {
				name += " to " + last.Format("2006-01")
			}
			list = append(list, monthRow{Name: name, None: true})
		}
		list = append(list, monthRow{Name: m.Month, MonthCount: m, Stamp: stamped[m.Month]})
		before = at
	}
	if t.Later != nil {
		list = append(list, monthRow{Name: "after the export", MonthCount: *t.Later})
	}
	return list
}

func stampedMonths(t *pipeline.Timeline) map[string]bool {
	m := map[string]bool{}
	for _, s := range t.Stamps {
		m[s.At[:min(len(s.At), 7)]] = true
	}
	return m
}

// timePicture draws a bar a month, stacked by status. Months without any are shaded; a month that holds a bulk stamp has a mark.
func timePicture(t *pipeline.Timeline, s size) template.HTML {
	if len(t.Months) == 0 {
		return ""
	}
	first, err := time.Parse("2006-01", t.Months[0].Month)
	if err != nil {
		return ""
	}
	index := func(month string) int {
		at, err := time.Parse("2006-01", month)
		if err != nil {
			return 0
		}
		return (at.Year()-first.Year())*12 + int(at.Month()) - int(first.Month())
	}
	n := index(t.Months[len(t.Months)-1].Month) + 1
	most, peak := 0, t.Months[0].Month
	for i := range t.Months {
		if all := t.Months[i].All(); all > most {
			most, peak = all, t.Months[i].Month
		}
	}
	const top, tall, bottom = 22.0, 180.0, 26.0
	left := 14 + 7*float64(len(reports.Number(most)))
	slot := (s.width - left - 6) / float64(n)
	base := top + tall
	d := open("time", s, base+bottom, "Consents by month", fmt.Sprintf("From %s to %s; the fullest month is %s with %s. %s dated times stand out as bulk stamps. The table below has every number.",
		t.Months[0].Month, t.Months[len(t.Months)-1].Month, peak, reports.Number(most), reports.Number(len(t.Stamps))))
	step := niceStep(most)
	for v := 0; v <= most; v += step {
		y := base - tall*float64(v)/float64(most)
		fmt.Fprintf(d, `<line class="grid" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/>`, left, y, s.width-6, y)
		d.text("tick", "end", left-6, y+4, reports.Number(v))
	}
	stamped := stampedMonths(t)
	before := -1
	for i := range t.Months {
		m := &t.Months[i]
		at := index(m.Month)
		if at > before+2 {
			d.rect("gap", left+slot*float64(before+1), top, slot*float64(at-before-1), tall)
		}
		before = at
		x, w := left+slot*float64(at), math.Max(slot-math.Min(2, slot*0.2), 0.8)
		y := base
		for _, part := range []struct {
			class string
			n     int
		}{{"given", m.Given}, {"refused", m.Refused}, {"withdrawn", m.Withdrawn}, {"expired", m.Expired}} {
			if part.n == 0 {
				continue
			}
			h := math.Max(1, tall*float64(part.n)/float64(most))
			y -= h
			d.rect(part.class, x, y, w, h)
		}
		if stamped[m.Month] {
			mid := x + w/2
			fmt.Fprintf(d, `<path class="stamp" d="M%.1f %.1fl5 -9h-10z"/>`, mid, math.Max(y-3, 10))
		}
	}
	// Years stand where they begin, as many as there is room for.
	every := 1
	for slot*12*float64(every) < 40 {
		every++
	}
	for i := range n {
		at := first.AddDate(0, i, 0)
		if at.Month() != time.January && (i != 0 || n > 12) {
			continue
		}
		x := left + slot*float64(i)
		fmt.Fprintf(d, `<line class="year" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/>`, x, base, x, base+6)
		name := at.Format("2006")
		if at.Month() != time.January {
			name = at.Format("2006-01")
		}
		if at.Year()%every == 0 || every == 1 {
			if x < s.width-28 { // a word needs room
				d.text("tick", "start", x+2, base+18, name)
			}
		}
	}
	return d.close()
}

// niceStep divides a scale into at most five steps of one, two or five times a power of ten.
func niceStep(most int) int {
	step := 1
	for _, f := range strings.Repeat("252", 12) { // 1, 2, 5 (×2.5), 10 (×2) …
		if most/step <= 5 {
			break
		}
		if f == '5' {
			step = step * 5 / 2
		} else {
			step *= 2
		}
	}
	return step
}
