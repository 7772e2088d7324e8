package review

import (
	"archive/zip"
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/xuri/excelize/v2"

	"sheetlift/pipeline"
	"sheetlift/reports"
)

// cellMost is how many characters a cell of a workbook may hold.
const cellMost = 32767

// XLSX writes the parts of the page as sheets of a workbook, each with its head frozen and a filter.
func XLSX(w io.Writer, r *pipeline.ReviewResult) (err error) {
	b := &book{file: excelize.NewFile()}
	defer func() {
		if cerr := b.file.Close(); err == nil {
			err = cerr
		}
	}()
	if err := b.start(r); err != nil {
		return err
	}
	overview(b, r)
	cameIn(b, r)
	if r.Judged != nil {
		judgedSheets(b, r)
	}
	b.sheet("Findings", []string{"stage", "rule", "class", "severity", "findings", "meaning", "remedy", "first places"}, func(add func(...any)) {
		for _, x := range broken(r) {
			var places []string
			for _, p := range x.Places {
				places = append(places, strings.TrimSpace(p.Place+": "+p.Message))
			}
			add(x.Stages, x.Rule, string(x.Class), string(x.Severity), x.Count, x.Meaning, x.Remedy, strings.Join(places, "\n"))
		}
	})
	b.sheet("Hazards", []string{"place", "source", "rule", "severity", "rows", "found", "remedy"}, func(add func(...any)) {
		for _, h := range r.Hazards {
			add(h.Place, h.Source, h.Rule, string(h.Severity), h.Rows, h.Message, h.Remedy)
		}
		if r.HazardsLeft > 0 {
			add(fmt.Sprintf("%s more are in the findings files", reports.Number(r.HazardsLeft)))
		}
	})
	b.sheet("Decisions", []string{"source", "record", "decision", "how", "kind", "stated by", "stated at", "unconfirmed"}, func(add func(...any)) {
		for _, d := range r.Decisions {
			draft := ""
			if d.Draft {
				draft = "yes"
			}
			add(d.Source, d.Record, d.What, d.How, d.Kind, d.By, d.At, draft)
		}
	})
	b.sheet("Columns", []string{"file", "sheet", "column", "header", "taken as", "holds", "filled", "blank", "distinct", "at least", "candidate key", "to look at"}, func(add func(...any)) {
		for _, c := range r.Columns {
			add(c.File, c.Sheet, c.Column, c.Name, strings.Join(c.Fields, ", "), kinds(c.Kinds), c.Filled, c.Blank, c.Count, mark(c.AtLeast), mark(c.Key), strings.Join(c.Doubts, ", "))
		}
		if r.ColumnsLeft > 0 {
			add(fmt.Sprintf("%s more are not listed", reports.Number(r.ColumnsLeft)))
		}
	})
	b.sheet("Digests", []string{"what", "of", "SHA-256"}, func(add func(...any)) {
		for _, d := range r.Digests {
			add(d.What, d.Of, d.SHA256)
		}
	})
	b.sheet("Stages", []string{"stage", "state", "by", "finished", "remark"}, func(add func(...any)) {
		for _, s := range r.Stages {
			add(s.Stage, s.State, s.Operator, s.Finished, s.Why)
		}
	})
	if b.err != nil {
		return fmt.Errorf("make the workbook: %w", b.err)
	}
	var raw bytes.Buffer
	if err := b.file.Write(&raw); err != nil {
		return fmt.Errorf("write the workbook: %w", err)
	}
	if err := inOrder(w, raw.Bytes()); err != nil {
		return fmt.Errorf("write the workbook: %w", err)
	}
	return nil
}

// inOrder writes the parts of a workbook in an order and without times of their own, so that the same review gives the same bytes.
// The content types go first, where readers that sniff look for them.
func inOrder(w io.Writer, workbook []byte) error {
	in, err := zip.NewReader(bytes.NewReader(workbook), int64(len(workbook)))
	if err != nil {
		return err
	}
	const types = "[Content_Types].xml"
	slices.SortFunc(in.File, func(a, b *zip.File) int {
		return cmp.Or(cmp.Compare(first(b.Name == types), first(a.Name == types)), cmp.Compare(a.Name, b.Name))
	})
	out := zip.NewWriter(w)
	for _, f := range in.File {
		part, err := out.CreateHeader(&zip.FileHeader{Name: f.Name, Method: zip.Deflate})
		if err != nil {
			return err
		}
		if err := copyPart(part, f); err != nil {
			return err
		}
	}
	return out.Close()
}

func first(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

func copyPart(w io.Writer, f *zip.File) error {
	r, err := f.Open()
	if err != nil {
		return err
	}
	defer r.Close()
	_, err = io.Copy(w, r)
	return err
}

func mark(yes bool) string {
	if yes {
		return "yes"
	}
	return ""
}

func overview(b *book, r *pipeline.ReviewResult) {
	v := judge(r)
	b.sheet("Overview", []string{"what", "value"}, func(add func(...any)) {
		add("batch", r.Batch)
		add("tenant", r.Tenant)
		add("snapshot", r.Snapshot)
		add("exports as of", r.AsOf)
		add("verdict", v.Word)
		add("in words", v.Sentence)
		if r.Judged == nil {
			return
		}
		for _, x := range flowRows(r.Judged) {
			add(fmt.Sprintf("%s %s (%s)", x.From, x.To, x.What), x.Count)
		}
		if n := r.Judged.StillGiven; n > 0 {
			add("consents given in the register though a rejected row speaks against them", n)
		}
		for _, n := range r.Judged.NotBack {
			add("rows of source "+n.Source+" that snapshot "+n.Snapshot+" rejected and that have not come back", n.Rows)
		}
		if r.Judged.RegisterChanged {
			add("since that number was found", pipeline.RegisterChanged)
		}
		if n := r.Judged.StillGivenElsewhere; n > 0 {
			add("consents of this batch given in the register though a rejected row of another batch speaks against them: "+strings.Join(r.Judged.StillGivenBatches, ", "), n)
		}
		add("cases counted as of", r.AsOf)
		add("cases open", r.Judged.Cases.Open)
		add("cases overdue", r.Judged.Cases.Overdue)
		add("cases due soon", r.Judged.Cases.DueSoon)
	})
}

func cameIn(b *book, r *pipeline.ReviewResult) {
	b.sheet("Files", []string{"file", "type", "bytes", "obtained", "SHA-256"}, func(add func(...any)) {
		for _, f := range r.Files {
			add(f.File, f.Type, f.Size, f.ObtainedAt, f.SHA256)
		}
	})
	b.sheet("Sheets", []string{"file", "sheet", "source", "visible", "rows", "cells", "columns", "hidden rows", "merged ranges", "formulas", "error cells", "rows repeated"}, func(add func(...any)) {
		for _, f := range r.Files {
			for _, s := range f.Sheets {
				add(f.File, s.Sheet, s.Source, s.Visibility, s.Rows, s.Cells, s.Columns, s.Hidden, s.Merged, s.Formulas, s.Errors, s.Duplicates)
			}
		}
	})
	b.sheet("Sources", []string{"source", "file", "sheet", "system", "owner", "gives", "obtained", "zone", "read", "accepted", "rejected", "skipped", "tolerated", "why tolerated", "who tolerates", "why rejected", "why skipped", "definition"}, func(add func(...any)) {
		for _, s := range r.Sources {
			add(s.Source, s.File, s.Sheet, s.System, s.Owner, strings.Join(s.Entities, ", "), s.ObtainedAt, s.Zone, s.Rows.Read, s.Rows.Accepted, s.Rows.Rejected, s.Rows.Skipped,
				s.Tolerance, s.Reason, s.By, kinds(s.Rejected), kinds(s.Skipped), s.Definition)
		}
	})
}

func judgedSheets(b *book, r *pipeline.ReviewResult) {
	j := r.Judged
	head := []string{"source", "purpose", "consents", "receipts", "legacy assertions", "strong", "partial", "weak", "none"}
	for _, q := range questionNames() {
		head = append(head, "no "+q)
	}
	b.sheet("Evidence", head, func(add func(...any)) {
		for _, s := range evidence(r) {
			for _, e := range s.Rows {
				if e.Total {
					continue // a filter and a sum would count it twice
				}
				row := []any{s.Source, e.Purpose, e.Records, e.Receipts, e.Assertions}
				for _, n := range e.Confidence {
					row = append(row, n)
				}
				for _, n := range e.Missing {
					row = append(row, n)
				}
				add(row...)
			}
		}
	})
	b.sheet("Months", []string{"month", "given", "refused", "withdrawn", "expired", "all", "bulk stamp"}, func(add func(...any)) {
		for _, m := range months(&j.Timeline) {
			add(m.Name, m.Given, m.Refused, m.Withdrawn, m.Expired, m.All(), mark(m.Stamp))
		}
		add("no time", "", "", "", "", j.Timeline.Undated, "")
	})
	b.sheet("Bulk stamps", []string{"time", "source", "consents", "of dated ones", "at least"}, func(add func(...any)) {
		for _, s := range j.Timeline.Stamps {
			add(s.At, s.Source, s.Records, s.Of, mark(s.AtLeast))
		}
	})
	b.sheet("Waiting cases", []string{"place", "source", "request", "received", "due", "state"}, func(add func(...any)) {
		for _, c := range j.CaseList {
			add(c.Place, c.Source, c.Type, c.Received, c.Due, c.State)
		}
		if j.CaseLeft > 0 {
			add(fmt.Sprintf("%s more are not listed", reports.Number(j.CaseLeft)))
		}
	})
	b.sheet("Cases", []string{"source", "request", "open", "overdue", "due soon", "fulfilled", "refused", "withdrawn"}, func(add func(...any)) {
		for _, k := range j.Kinds {
			add(k.Source, k.Type, k.Open, k.Overdue, k.DueSoon, k.Fulfilled, k.Refused, k.Withdrawn)
		}
	})
	head = []string{"section", "field", "required", "state"}
	for _, s := range j.Gaps.Sources {
		head = append(head, fmt.Sprintf("%s (of %d)", s.Source, s.Consents), s.Source+" stated")
	}
	b.sheet("ISO-IEC TS 27560", append(head, "answered by", "DPV", "GDPR"), func(add func(...any)) {
		for _, f := range j.Gaps.Fields {
			row := []any{f.Section, f.Field, mark(f.Required), stateWord(f.State)}
			for _, h := range f.Held {
				row = append(row, h.Held, h.Stated)
			}
			add(append(row, f.Where, f.DPV, f.GDPR)...)
		}
	})
}

// book writes sheets, and keeps the first error.
type book struct {
	file *excelize.File
	head int // style of head cells
	wrap int // style of texts
	n    int
	err  error
}

// start sets what must not change from one run to the next: a workbook says when it was made, which here is the day of the newest
// export.
func (b *book) start(r *pipeline.ReviewResult) error {
	at, err := time.Parse(time.DateOnly, r.AsOf)
	if err != nil {
		at = time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	stamp := at.UTC().Format(time.RFC3339)
	if err := b.file.SetDocProps(&excelize.DocProperties{Creator: "sheetlift", LastModifiedBy: "sheetlift", Created: stamp, Modified: stamp, Title: "Review of " + reports.Clean(r.Batch)}); err != nil {
		return fmt.Errorf("make the workbook: %w", err)
	}
	if b.head, err = b.file.NewStyle(&excelize.Style{Font: &excelize.Font{Bold: true}, Alignment: &excelize.Alignment{Vertical: "top", WrapText: true},
		Fill: excelize.Fill{Type: "pattern", Pattern: 1, Color: []string{"E8EDF3"}}}); err != nil {
		return fmt.Errorf("make the workbook: %w", err)
	}
	if b.wrap, err = b.file.NewStyle(&excelize.Style{Alignment: &excelize.Alignment{Vertical: "top", WrapText: true}}); err != nil {
		return fmt.Errorf("make the workbook: %w", err)
	}
	return nil
}

// sheet writes one sheet. Text is written as inline text and never as a formula, whatever it begins with.
func (b *book) sheet(name string, head []string, fill func(add func(...any))) {
	if b.err != nil {
		return
	}
	if b.n++; b.n == 1 {
		b.err = b.file.SetSheetName("Sheet1", name)
	} else {
		_, b.err = b.file.NewSheet(name)
	}
	if b.err != nil {
		return
	}
	// The widths stand before the rows in a stream, so the rows are looked at first. A review is bounded.
	rows := [][]any{}
	fill(func(cells ...any) { rows = append(rows, cells) })
	widths := make([]int, len(head))
	measure := func(i int, s string) {
		for line := range strings.SplitSeq(s, "\n") {
			if i < len(widths) {
				widths[i] = min(max(widths[i], utf8.RuneCountInString(line)+2, 8), 60)
			}
		}
	}
	for i, h := range head {
		measure(i, h)
	}
	for _, row := range rows {
		for i, c := range row {
			measure(i, fmt.Sprint(c))
		}
	}
	if len(rows) > 0 { // before the stream begins, which takes over what the sheet has
		corner, err := excelize.CoordinatesToCellName(len(head), len(rows)+1)
		if err == nil {
			err = b.file.AutoFilter(name, "A1:"+corner, nil)
		}
		if err != nil {
			b.err = err
			return
		}
	}
	s, err := b.file.NewStreamWriter(name)
	if err != nil {
		b.err = err
		return
	}
	for i, w := range widths {
		if b.err = s.SetColWidth(i+1, i+1, float64(w)); b.err != nil {
			return
		}
	}
	if b.err = s.SetPanes(&excelize.Panes{Freeze: true, YSplit: 1, TopLeftCell: "A2", ActivePane: "bottomLeft"}); b.err != nil {
		return
	}
	cells := make([]any, len(head))
	for i, h := range head {
		cells[i] = excelize.Cell{StyleID: b.head, Value: text(h)}
	}
	for n := 0; b.err == nil; n++ {
		at, err := excelize.CoordinatesToCellName(1, n+1)
		if err != nil {
			b.err = err
			return
		}
		if b.err = s.SetRow(at, cells); b.err != nil || n == len(rows) {
			break
		}
		cells = make([]any, len(rows[n]))
		for i, c := range rows[n] {
			if str, ok := c.(string); ok {
				c = text(str)
			}
			cells[i] = excelize.Cell{StyleID: b.wrap, Value: c}
		}
	}
	if b.err == nil {
		b.err = s.Flush()
	}
}

// text makes a text safe for a cell: characters that show as nothing are shown escaped, line breaks stay, and what is too long for a
// cell says that it is cut.
func text(s string) string {
	lines := strings.Split(s, "\n")
	for i := range lines {
		lines[i] = reports.Clean(lines[i])
	}
	s = strings.Join(lines, "\n")
	if utf8.RuneCountInString(s) > cellMost {
		s = string([]rune(s)[:cellMost-12]) + "… (cut)"
	}
	return s
}
