package pipeline

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"sheetlift/importers"
	"sheetlift/importers/source"
	"sheetlift/mappings"
	"sheetlift/mappings/suggest"
	"sheetlift/pipeline/finding"
)

// role is what a column is for, by the mapping or else by its header.
type role struct {
	status, event, deadline bool
	consent                 bool // an event that is a consent
	id, phone               bool
	exact                   bool // mapped as a date or a whole number
	mapped                  bool
}

var (
	idTypes    = []string{"external_id", "subject_id", "purpose_id", "activity_id", "rule_id"}
	eventWords = []string{"occurred_at", "received_at", "closed_at", "notoccurred"}
	deadWords  = []string{"due_at", "extended_to", "valid_to", "valid_from"}
)

// roles works out what the columns are for.
func (r *readProfile) roles() []role {
	list := make([]role, len(r.columns))
	for _, o := range r.outline {
		e := importers.ByName(o.Entity)
		for name, cols := range o.Fields {
			at := e.Field(name)
			for _, col := range cols {
				if at < 0 || col >= len(list) {
					continue
				}
				f, x := &e.Fields[at], &list[col]
				x.mapped = true
				x.id = x.id || f.Type == importers.ID
				x.phone = x.phone || f.Type == importers.Phone
				x.exact = x.exact || f.Type == importers.Date || f.Type == importers.DateTime || f.Type == importers.Integer
				switch name {
				case "status":
					x.status = true
				case "occurred_at":
					x.event, x.consent = true, x.consent || o.Entity == "consent"
				case "received_at", "closed_at":
					x.event = true
				case "due_at", "extended_to", "valid_from", "valid_to", "expires_at":
					x.deadline = true
				}
			}
		}
	}
	for col := range list {
		x := &list[col]
		if x.mapped || col >= len(r.header) || mappings.LooksPersonal(r.header[col]) {
			continue
		}
		header := r.header[col]
		switch suggest.Sounds(header, append([]string{"status", "optout", "phone"}, append(eventWords, append(deadWords, idTypes...)...)...)...) {
		case "status", "optout":
			x.status = true
		case "phone":
			x.phone = true
		case "occurred_at", "received_at", "closed_at":
			x.event = true
		case "notoccurred":
			x.event = !strings.Contains(strings.ToLower(header), "birth") && !strings.Contains(strings.ToLower(header), "geb")
		case "due_at", "extended_to", "valid_to", "valid_from":
			x.deadline = true
		case "":
		default:
			x.id = true
		}
	}
	return list
}

// hazard is one finding about a sheet or a column (col, or -1).
type hazard struct {
	rule    string
	col     int
	at      source.Places
	message string
}

// sheetHazards lists what is doubtful about a sheet that was read to its end.
func (r *readProfile) sheetHazards(workbook bool) (list []hazard) {
	say := func(rule string, col int, at source.Places, format string, args ...any) {
		list = append(list, hazard{rule, col, at, fmt.Sprintf(format, args...)})
	}
	m := &r.marks
	switch {
	case m.Filtered:
		say("sheet.filter_active", -1, m.HiddenRows, "a filter is active; %d of the rows that are read are hidden", m.HiddenRows.N)
	case m.HiddenRows.N > 0:
		say("sheet.hidden_rows", -1, m.HiddenRows, "%s something; what is hidden is read as well", finding.Count(m.HiddenRows.N, "hidden row holds", "hidden rows hold"))
	}
	if letters, filled := r.hiddenColumns(); len(letters) > 0 {
		say("sheet.hidden_columns", letters[0], source.Places{N: filled}, "hidden columns that hold something: %s", lettersOf(letters))
	}
	var merged source.Places
	for _, at := range m.Merged {
		if at.FirstRow > r.headerRow && at.FirstRow <= r.facts.LastRow {
			merged.Add(at.FirstRow)
		}
	}
	if merged.N > 0 {
		say("sheet.merged_cells", -1, merged, "%s below the header; only the first cell holds the value", finding.Count(merged.N, "merged range", "merged ranges"))
	}
	if m.Comments.N > 0 {
		say("sheet.comments", -1, m.Comments, "%s, which no mapping reads", finding.Count(m.Comments.N, "cell has a comment", "cells have comments"))
	}
	h := &r.hazards
	if h.samples.N > 0 {
		say("row.sample", -1, h.samples, "%s words or addresses of samples and tests", finding.Count(h.samples.N, "row holds", "rows hold"))
	}
	if h.totals.N == 0 && h.total > 0 && h.total == h.row && r.rows > 1 {
		h.totals.Add(h.total)
	}
	if h.totals.N > 0 {
		say("row.totals", -1, h.totals, "%s like totals", finding.Count(h.totals.N, "row looks", "rows look"))
	}
	if h.tables.N > 0 {
		say("sheet.several_tables", -1, h.tables, "%s of further tables", finding.Count(h.tables.N, "row looks like the title or header", "rows look like titles or headers"))
	} else if col, ok := r.besides(); ok {
		say("sheet.several_tables", col, source.Places{}, "the header has a gap before column %s, with columns on both sides: there may be two tables beside each other", source.Letters(col))
	}
	for col, x := range r.roles() {
		r.columnHazards(col, x, workbook, say)
	}
	return list
}

func (r *readProfile) columnHazards(col int, x role, workbook bool, say func(rule string, col int, at source.Places, format string, args ...any)) {
	c := r.columns[col]
	h := &c.hazards
	name := fmt.Sprintf("column %s (%s)", source.Letters(col), r.name(col))
	numbers := c.counts[source.Number][source.General]
	if at := h.differing(); at.N > 0 {
		say("column.colours_vary", col, at, "%s: %d of %s from the others in fill or font colour", name, at.N, finding.Count(c.filled, "cell differs", "cells differ"))
	}
	if h.formulas.N > 0 && (x.status || x.event || x.deadline) {
		say("column.formula_decides", col, h.formulas, "%s: formulas give %d of its values", name, h.formulas.N)
	}
	if workbook && h.numerals.N > 0 && (numbers > 0 && !x.id && !x.phone || x.exact || !x.mapped && !x.id && !x.phone && h.numerals.N == c.filled) {
		say("column.numbers_as_text", col, h.numerals, "%s: %s stored as text, %d as numbers", name, finding.Count(h.numerals.N, "number is", "numbers are"), numbers)
	}
	if numbers > 0 && (x.phone || x.id && c.of(source.Text) > 0) {
		say("column.text_as_numbers", col, source.Places{N: numbers}, "%s: %s as numbers", name, finding.Count(numbers, "value that should be text is stored", "values that should be text are stored"))
	}
	if !x.event || h.dates == 0 {
		return
	}
	if h.dates == c.filled && h.dates >= constantMin && !c.over && c.count() == 1 {
		say("date.all_equal", col, source.Places{N: h.dates}, "%s: all of its %s the same", name, finding.Count(h.dates, "date is", "dates are"))
	}
	if h.clocks >= constantMin && h.midnight == h.clocks {
		say("date.all_midnight", col, source.Places{N: h.clocks}, "%s: all of its %s midnight", name, finding.Count(h.clocks, "time is", "times are"))
	}
	if h.future.N > 0 {
		say("date.future", col, h.future, "%s: %s after the time at which the export was obtained", name, finding.Count(h.future.N, "date lies", "dates lie"))
	}
	if x.consent || !x.mapped {
		switch {
		case h.minute.N > 0:
			say("consent.time_of_export", col, h.minute, "%s: %s of the minute in which the export was obtained", name, finding.Count(h.minute.N, "time is", "times are"))
		case h.day.N >= constantMin && h.day.N*2 > h.dates:
			say("consent.time_of_export", col, h.day, "%s: %d of %s the day on which the export was obtained", name, h.day.N, finding.Count(h.dates, "date is", "dates are"))
		}
	}
}

// hiddenColumns are those that hold something, and how many cells they have.
func (r *readProfile) hiddenColumns() (cols []int, filled int) {
	for col, c := range r.columns {
		for _, at := range r.marks.HiddenColumns {
			if c.filled > 0 && col >= at.FirstCol && col <= at.LastCol {
				cols, filled = append(cols, col), filled+c.filled
				break
			}
		}
	}
	return cols, filled
}

// lettersOf names some columns.
func lettersOf(cols []int) string {
	var list []string
	for _, col := range cols[:min(len(cols), 12)] {
		list = append(list, source.Letters(col))
	}
	if len(cols) > len(list) {
		list = append(list, fmt.Sprintf("and %d more", len(cols)-len(list)))
	}
	return strings.Join(list, ", ")
}

// reportHazards adds the hazards of a sheet. On a sheet that no source reads they are for information.
func reportHazards(rec finding.Sink, list []hazard, sheet string, src *Source, file string) error {
	for _, h := range list {
		err := add(rec, h.rule, src, file, sheet, func(f *finding.Finding) {
			if src == nil {
				f.Severity = finding.Info
			}
			f.Rows, f.Row, f.LastRow, f.Message = h.at.N, h.at.First, h.at.Last, h.message
			if h.col >= 0 {
				f.Column = source.Letters(h.col)
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// outsideLists reads a sheet once more and counts the cells whose value their data-validation list doesn't allow.
func (r *readProfile) outsideLists(ctx context.Context, lists *listReader, i int) (found []hazard, err error) {
	type check struct {
		ranges  []source.Range
		allowed map[string]bool
	}
	var checks []check
	for n := range r.marks.Lists {
		l := &r.marks.Lists[n]
		of := check{allowed: map[string]bool{}}
		for _, at := range l.Ranges {
			if at.LastRow > r.headerRow && at.FirstCol < len(r.columns) && at.FirstRow <= r.facts.LastRow && at.LastCol-at.FirstCol < 16 {
				of.ranges = append(of.ranges, at)
			}
		}
		if len(of.ranges) == 0 {
			continue
		}
		values, ok, err := lists.values(ctx, i, l)
		if err != nil {
			return nil, err
		}
		for _, v := range values {
			of.allowed[mappings.FoldWord(v)] = true
		}
		if ok {
			checks = append(checks, of)
		}
	}
	if len(checks) == 0 {
		return nil, nil
	}
	rd, err := lists.book.Read(ctx, i)
	if err != nil {
		return nil, err
	}
	defer rd.Close()
	outside := make([]source.Places, len(r.columns))
	for {
		b, err := rd.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, err
		}
		for _, of := range checks {
			for _, at := range of.ranges {
				for col := at.FirstCol; col <= min(at.LastCol, len(b.Cols)-1); col++ {
					for k, row := range b.RowNum {
						if row > r.headerRow && at.Has(col, row) {
							if v := cellText(b, col, k); v != "" && !of.allowed[mappings.FoldWord(v)] {
								outside[col].Add(row)
							}
						}
					}
				}
			}
		}
	}
	for col, at := range outside {
		if at.N > 0 {
			found = append(found, hazard{"value.outside_list", col, at, fmt.Sprintf("column %s (%s): %s none of those that the data-validation list allows", source.Letters(col), r.name(col), finding.Count(at.N, "value is", "values are"))})
		}
	}
	return found, nil
}

// extensions are the formats that names of files claim.
var extensions = map[string]string{
	".csv": "csv", ".tsv": "csv", ".txt": "csv", ".tab": "csv", ".xlsx": "xlsx", ".xlsm": "xlsx", ".xltx": "xlsx", ".xltm": "xlsx", ".xls": "xls", ".xlsb": "xlsb", ".ods": "ods",
}

// fileHazards lists what is doubtful about a file: dates is whether it has dates.
func fileHazards(file string, info source.Info, dates bool) (list []hazard) {
	if info.Date1904 {
		h := hazard{"file.old_date_system", -1, source.Places{}, "the workbook counts its days from 1904, which is taken into account"}
		if dates {
			h.message += "; dates pasted from other workbooks are four years off"
		}
		list = append(list, h)
	}
	claimed := extensions[strings.ToLower(filepath.Ext(file))]
	switch {
	case claimed != "" && claimed != info.Format:
		list = append(list, hazard{"file.other_program", -1, source.Places{}, "the name says " + strings.ToLower(filepath.Ext(file)) + ", but it is: " + info.Said})
	case info.NotBy != "":
		list = append(list, hazard{"file.other_program", -1, source.Places{}, "the workbook says it was saved by Excel, but " + info.NotBy})
	}
	return list
}
