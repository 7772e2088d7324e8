package review

import (
	"fmt"
	"html"
	"html/template"
	"math"
	"strings"

	"sheetlift/importers"
	"sheetlift/pipeline"
	"sheetlift/reports"
)

// size is the form of a picture: one for pages, one for phones, so that words in it stay as large as those around it.
type size struct {
	name  string
	width float64
}

var (
	wide   = size{"wide", 760}
	narrow = size{"narrow", 340}
)

// drawing builds an SVG. Everything that is not a number goes through word, which escapes it.
type drawing struct {
	strings.Builder
}

func word(s string) string { return html.EscapeString(reports.Clean(s)) }

func open(id string, s size, height float64, title, desc string) *drawing {
	d := &drawing{}
	fmt.Fprintf(d, `<svg class="picture %s" viewBox="0 0 %.0f %.0f" role="img" aria-labelledby="%s-%s-t %s-%s-d">`, s.name, s.width, height, id, s.name, id, s.name)
	fmt.Fprintf(d, `<title id="%s-%s-t">%s</title><desc id="%s-%s-d">%s</desc>`, id, s.name, word(title), id, s.name, word(desc))
	return d
}

func (d *drawing) close() template.HTML {
	d.WriteString(`</svg>`)
	return template.HTML(d.String())
}

func (d *drawing) rect(class string, x, y, w, h float64) {
	fmt.Fprintf(d, `<rect class="%s" x="%.1f" y="%.1f" width="%.1f" height="%.1f"/>`, class, x, y, w, h)
}

func (d *drawing) text(class, anchor string, x, y float64, s string) {
	fmt.Fprintf(d, `<text class="%s" text-anchor="%s" x="%.1f" y="%.1f">%s</text>`, class, anchor, x, y, word(s))
}

// ribbon is a band from one height on the left to another on the right.
func (d *drawing) ribbon(class string, x0, top0, h0, x1, top1, h1 float64) {
	mid := (x0 + x1) / 2
	fmt.Fprintf(d, `<path class="ribbon %s" d="M%.1f %.1fC%.1f %.1f %.1f %.1f %.1f %.1fV%.1fC%.1f %.1f %.1f %.1f %.1f %.1fZ"/>`, class,
		x0, top0, mid, top0, mid, top1, x1, top1, top1+h1, mid, top1+h1, mid, top0+h0, x0, top0+h0)
}

// flowRow is one arrow of the flow, for its table.
type flowRow struct {
	From, To, What, Class string
	Count                 int
}

// flowRows are all arrows: rows to what became of them, accepted rows to the records they gave.
func flowRows(j *pipeline.ReviewJudged) []flowRow {
	rows := []flowRow{
		{"read", "accepted", "rows", "accepted", j.Rows.Accepted},
		{"read", "rejected", "rows", "rejected", j.Rows.Rejected},
		{"read", "skipped", "rows", "skipped", j.Rows.Skipped},
	}
	configs, consent := 0, &pipeline.EntityCount{}
	for i := range importers.Entities {
		e := &importers.Entities[i]
		n := j.Entities[e.Name]
		switch {
		case n == nil:
		case e.Config:
			configs += n.Records
		case e.Event:
			consent = n
		}
	}
	records := func(name string) int {
		if n := j.Entities[name]; n != nil {
			return n.Records
		}
		return 0
	}
	return append(rows,
		flowRow{"accepted", "receipts", "records", "receipts", consent.Receipts},
		flowRow{"accepted", "legacy assertions", "records", "assertions", consent.LegacyAssertions},
		flowRow{"accepted", "suppressions", "records", "suppressions", records("suppression")},
		flowRow{"accepted", "cases", "records", "cases", records("case")},
		flowRow{"accepted", "configurations", "records", "configs", configs},
	)
}

// flowPicture draws the rows' way from left to right. Heights are in proportion; what is there at all is at least a line.
func flowPicture(j *pipeline.ReviewJudged, s size) template.HTML {
	all := flowRows(j)
	verdicts, kinds := all[:3], all[3:]
	records := 0
	for _, k := range kinds {
		records += k.Count
	}
	const tall, gap, node, top = 210.0, 34.0, 12.0, 40.0
	scale := tall / float64(max(j.Rows.Read, records, 1))
	height := func(n int) float64 {
		if n == 0 {
			return 0
		}
		return math.Max(2, float64(n)*scale)
	}
	x0, x1, x2 := 0.0, s.width*0.40, s.width*0.76
	if s.name == narrow.name {
		x1, x2 = s.width*0.3, s.width*0.6
	}
	// The picture ends where the longer of the two stacks does.
	left, right := top, top-24
	for _, v := range verdicts {
		left += height(v.Count) + gap + 10
	}
	for _, k := range kinds {
		right += math.Max(height(k.Count), 8) + gap
	}
	d := open("flow", s, math.Max(math.Max(left-gap-10, right-gap)+12, top+height(j.Rows.Read)+4), "What became of each row", fmt.Sprintf("Rows read: %s; accepted: %s, rejected: %s, skipped: %s. Records that the accepted ones gave: %s. The table below has every number.",
		reports.Number(j.Rows.Read), reports.Number(j.Rows.Accepted), reports.Number(j.Rows.Rejected), reports.Number(j.Rows.Skipped), reports.Number(records)))
	label := func(x, y float64, name string, n int) {
		d.text("label", "start", x, y-20, name)
		d.text("figure", "start", x, y-5, reports.Number(n))
	}
	d.rect("node read", x0, top, node, height(j.Rows.Read))
	label(x0, top, "rows read", j.Rows.Read)
	y, from := top, top
	accepted := top
	for i, v := range verdicts {
		h := height(v.Count)
		if v.Count > 0 {
			d.ribbon(v.Class, x0+node, from, h, x1, y, h)
		}
		d.rect("node "+v.Class, x1, y, node, h)
		label(x1, y, v.To, v.Count)
		if i == 0 {
			accepted = y
		}
		from += h
		y += h + gap + 10
	}
	y, from = top-24, accepted
	for _, k := range kinds {
		h := height(k.Count)
		share := 0.0
		if records > 0 {
			share = height(j.Rows.Accepted) * float64(k.Count) / float64(records)
		}
		if k.Count > 0 {
			d.ribbon(k.Class, x1+node, from, share, x2, y, h)
		}
		d.rect("node "+k.Class, x2, y, node, h)
		at := y + h/2
		d.text("label", "start", x2+node+8, at-1, k.To)
		d.text("figure", "start", x2+node+8, at+14, reports.Number(k.Count))
		from += share
		y += math.Max(h, 8) + gap
	}
	return d.close()
}
