package review

import (
	"cmp"
	"fmt"
	"html/template"
	"regexp"
	"slices"
	"strings"

	"sheetlift/pipeline"
	"sheetlift/pipeline/finding"
	"sheetlift/reports"
)

// danger is what is doubtful of one kind about a file or sheet.
type danger struct {
	pipeline.ReviewHazard
	Says []string
	of   []string // by sentence, what comes after the column
}

// aColumn is a message that begins with a column, as those of hazards do.
var aColumn = regexp.MustCompile(`^column ([A-Z]+ \([^()]*\)):? (.*)$`)

// dangers draws together what was found of one kind on one sheet, and the columns of which the same is said. What asks for something
// comes first.
func dangers(list []pipeline.ReviewHazard) (out []danger) {
	for _, h := range list {
		where := h.Place
		if i := strings.LastIndex(where, ", column "); i >= 0 {
			where = where[:i]
		}
		h.Place, h.Rows = where, 0
		message := h.Message
		h.Message = ""
		i := slices.IndexFunc(out, func(d danger) bool { return d.ReviewHazard == h })
		if i < 0 {
			i = len(out)
			out = append(out, danger{ReviewHazard: h})
		}
		d := &out[i]
		column, rest := "", message
		if m := aColumn.FindStringSubmatch(message); m != nil {
			column, rest = m[1], m[2]
		}
		k := slices.Index(d.of, rest)
		switch {
		case k >= 0 && column != "":
			head, tail, _ := strings.Cut(d.Says[k], ": ")
			d.Says[k] = strings.Replace(head, "column ", "columns ", 1) + ", " + column + ": " + tail
		case k < 0 && column != "":
			d.Says, d.of = append(d.Says, "column "+column+": "+rest), append(d.of, rest)
		case k < 0:
			d.Says, d.of = append(d.Says, message), append(d.of, rest)
		}
	}
	rank := func(d danger) int {
		return slices.Index([]finding.Severity{finding.Error, finding.Warning, finding.Info}, d.Severity)
	}
	slices.SortStableFunc(out, func(a, b danger) int { return cmp.Compare(rank(a), rank(b)) })
	return out
}

// looks lists what to look at about a sheet.
func looks(s pipeline.ReviewSheet) (list []string) {
	for _, x := range []struct {
		n         int
		one, many string
	}{
		{s.Hidden, "hidden row", "hidden rows"}, {s.Merged, "merged range", "merged ranges"}, {s.Formulas, "formula", "formulas"},
		{s.Errors, "error cell", "error cells"}, {s.Duplicates, "repeated row", "repeated rows"},
	} {
		switch {
		case x.n == 1:
			list = append(list, "1 "+x.one)
		case x.n > 1:
			list = append(list, reports.Number(x.n)+" "+x.many)
		}
	}
	return list
}

// when shows a time so that it may break between day and clock.
func when(at string) template.HTML {
	day, clock, timed := strings.Cut(at, "T")
	if !timed {
		return template.HTML(word(at))
	}
	return template.HTML(fmt.Sprintf(`<time class="at" datetime="%s"><span>%s</span> <span>%s</span></time>`, word(at), word(day), word(clock)))
}
