package pipeline

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf16"

	"github.com/xuri/excelize/v2"

	"sheetlift/importers/source"
	"sheetlift/pipeline/finding"
)

// The columns of a rejects sheet before the source's own. tokenHeader tells a rejects sheet from any other.
const (
	tokenHeader = "sheetlift row token"
	rowHeader   = "row in the source"
	whyHeader   = "what is wrong"
	ownColumns  = 3

	explainSheet = "read me first"
)

const (
	maxSheetRows    = 1 << 20 // ECMA-376: rows of a sheet
	maxSheetColumns = 1 << 14
	maxCellText     = 32767 // characters of a cell, in UTF-16 units
	maxComments     = 5000  // of a sheet; programs grow slow with more, and the third column says the same
)

// workbook writes a sheet a source and a first one that explains them.
func (w *rejectsWriter) workbook(ctx context.Context, dry *DryRunResult, path string) (err error) {
	book := excelize.NewFile()
	defer func() {
		if cerr := book.Close(); err == nil {
			err = cerr
		}
	}()
	out := &rejectsBook{book: book, names: map[string]bool{}}
	if err := out.styles(); err != nil {
		return err
	}
	out.names[explainSheet] = true
	if err := book.SetSheetName("Sheet1", explainSheet); err != nil {
		return err
	}
	all := 0
	var lines [][2]string
	for i := range w.batch.Sources {
		if n := rejectedOf(dry, w.batch.Sources[i].Name); n == 0 {
			continue
		} else if n >= maxSheetRows {
			return &ConfigError{File: path, Message: fmt.Sprintf("source %s has more rejected rows than a sheet holds: %d", w.batch.Sources[i].Name, n), Remedy: "write the original records with --rejects FILE.csv, or mend the export and freeze it as a delta"}
		}
		s := &rejectsSheet{rejectsBook: out, key: w.key, snapshot: w.snap.name, source: w.batch.Sources[i].Name}
		if err := w.rows(ctx, i, s.begin, s.row); err != nil {
			return err
		}
		if err := s.end(); err != nil {
			return err
		}
		if s.rows == 0 {
			continue // rows of a mended workbook that no snapshot knows: they have no source to be written from
		}
		all += s.rows
		lines = append(lines, [2]string{s.name, fmt.Sprintf("%s of source %s (%s)", finding.Count(s.rows, "rejected row", "rejected rows"), s.source, w.batch.Sources[i].File)})
	}
	if err := out.explain(w.batch.Name, w.snap.name, lines); err != nil {
		return err
	}
	if err := book.SetDocProps(&excelize.DocProperties{Creator: madeBy, LastModifiedBy: madeBy}); err != nil {
		return err
	}
	f, err := partialOf(path)
	if err != nil {
		return err
	}
	_, err = book.WriteTo(f)
	if err = ended(f, err); err != nil {
		return &FileError{Path: path, Message: "can't be written: " + pathless(err), Remedy: "make room on the disk, or give another folder", Err: err}
	}
	return w.keep(ctx, f.Name(), path, RejectsFile{Rows: all})
}

// rejectsBook is the workbook under way.
type rejectsBook struct {
	book                *excelize.File
	names               map[string]bool // of sheets, in lower case
	text, faulty, title int             // styles
}

func (b *rejectsBook) styles() (err error) {
	const textFormat = 49 // "@": what is typed stays as it is typed
	if b.text, err = b.book.NewStyle(&excelize.Style{NumFmt: textFormat}); err != nil {
		return err
	}
	if b.faulty, err = b.book.NewStyle(&excelize.Style{NumFmt: textFormat, Fill: excelize.Fill{Type: "pattern", Pattern: 1, Color: []string{"FFD9A0"}}}); err != nil {
		return err
	}
	b.title, err = b.book.NewStyle(&excelize.Style{NumFmt: textFormat, Font: &excelize.Font{Bold: true}})
	return err
}

// sheetName is the source's name, cut to what a sheet may be called.
func (b *rejectsBook) sheetName(source string) string {
	if source == "history" { // Excel keeps that name for itself
		source = "history-rows"
	}
	name := source[:min(len(source), 31)]
	for n := 2; b.names[name]; n++ {
		end := fmt.Sprintf("-%d", n)
		name = source[:min(len(source), 31-len(end))] + end
	}
	b.names[name] = true
	return name
}

// explain fills the first sheet.
func (b *rejectsBook) explain(batch, snapshot string, sheets [][2]string) error {
	out, err := b.book.NewStreamWriter(explainSheet)
	if err != nil {
		return err
	}
	if err := out.SetColWidth(1, 1, 34); err != nil {
		return err
	}
	if err := out.SetColWidth(2, 2, 110); err != nil {
		return err
	}
	lines := [][2]string{
		{"Rows to mend", "batch " + batch + ", snapshot " + snapshot},
		{"What this is", "The rows that could not be taken over, one sheet a source, with all their columns as they stand in the source. This file holds personal data."},
		{"What to do", "Correct the marked cells; their comments, and the column \"" + whyHeader + "\", say what is wrong and what would be right. Save the file and give it back."},
		{"What comes in", "Only rows in which you changed something, and rows that were rejected only for what other rows say (key.multiple_match, consent.opposed_by_rejected): leave such a row in its sheet, and it is judged anew beside those that you corrected. Any other row that you leave as it is stays rejected. Nothing is guessed."},
		{"Rows of one key", "Rows that bear one key and say different things come in only if all of them come back, and each has its own key or all say the same."},
		{"Leave as they are", "The column \"" + tokenHeader + "\" (it names the row, and says nothing about its content) and the headers. Columns and sheets may be moved. Add no rows."},
		{"All cells are text", "No digit is changed and no formula runs. A date or number that stands here as a bare number stands so in the source file; leave it, or write the date as text in the way that the source's mapping declares."},
		{"Comments", fmt.Sprintf("At most %d cells of a sheet bear a comment; every faulty cell is coloured, and every row says what is wrong.", maxComments)},
	}
	lines = append(lines, sheets...)
	for i, l := range lines {
		style := b.text
		if i == 0 {
			style = b.title
		}
		if err := out.SetRow(fmt.Sprintf("A%d", i+1), []any{excelize.Cell{StyleID: b.title, Value: l[0]}, excelize.Cell{StyleID: style, Value: l[1]}}); err != nil {
			return err
		}
	}
	return out.Flush()
}

// rejectsSheet is the sheet of one source under way.
type rejectsSheet struct {
	*rejectsBook
	key              []byte
	snapshot, source string
	name             string
	out              *excelize.StreamWriter
	width            int // columns of the source
	rows, comments   int
	cells            []any
}

// sourceHeaders are the headers of a rejects sheet for the source's columns: the source's own, or the place where there is none.
func sourceHeaders(header []string, width int) []string {
	out := make([]string, width)
	for col := range out {
		if col < len(header) {
			out[col] = cellForm(header[col])
		}
		if strings.TrimSpace(out[col]) == "" {
			out[col] = "(column " + source.Letters(col) + ")"
		}
	}
	return out
}

func (s *rejectsSheet) begin(_ *sheet, _ *source.Block, header []string, _ int) error {
	s.name = s.sheetName(s.source)
	if _, err := s.book.NewSheet(s.name); err != nil {
		return err
	}
	var err error
	if s.out, err = s.book.NewStreamWriter(s.name); err != nil {
		return err
	}
	s.width = len(header)
	if s.width+ownColumns > maxSheetColumns {
		return &ConfigError{File: s.source, Message: "its sheet uses all the columns that a workbook has, so there is no room for the token", Remedy: "mend the export and freeze it as a delta"}
	}
	for _, err := range []error{
		s.out.SetColWidth(1, 1, 12), s.out.SetColWidth(2, 2, 8), s.out.SetColWidth(3, 3, 60),
		s.out.SetColWidth(ownColumns+1, ownColumns+max(s.width, 1), 18),
		s.out.SetPanes(&excelize.Panes{Freeze: true, YSplit: 1, TopLeftCell: "A2", ActivePane: "bottomLeft"}),
	} {
		if err != nil {
			return err
		}
	}
	line := []any{}
	for _, h := range append([]string{tokenHeader, rowHeader, whyHeader}, sourceHeaders(header, s.width)...) {
		line = append(line, excelize.Cell{StyleID: s.title, Value: h})
	}
	return s.out.SetRow("A1", line)
}

func (s *rejectsSheet) row(_ *sheet, b *source.Block, k int, r *rejectedRow) error {
	s.rows++
	at := s.rows + 1
	token := rowToken(s.key, s.snapshot, s.source, r.Row, b.RowDigest(k))
	width := s.width
	for col := len(b.Cols) - 1; col >= width; col-- { // cells beyond the header: they are why the row is here
		if b.Cols[col][k].Kind != source.Empty {
			width = min(col+1, maxSheetColumns-ownColumns)
		}
	}
	var why []string
	marks := map[int][]string{}
	for _, f := range r.Faults {
		text := f.Rule + ": " + f.Message + " " + f.Remedy
		where := ""
		if f.Column != "" {
			col := columnNumber(f.Column)
			where = fmt.Sprintf("%s (%s in the source): ", source.Letters(ownColumns+col), f.Column)
			marks[col] = append(marks[col], text)
			width = max(width, col+1)
		}
		why = append(why, where+text)
	}
	if len(why) == 0 {
		why = append(why, r.Rule)
	}
	reason := cellForm(strings.Join(why, "\n"))
	s.cells = append(s.cells[:0], excelize.Cell{StyleID: s.text, Value: token}, excelize.Cell{StyleID: s.text, Value: fmt.Sprint(r.Row)}, excelize.Cell{StyleID: s.text, Value: reason})
	for col := range width {
		text := cellForm(string(b.Bytes(b.Cell(col, k))))
		cell := excelize.Cell{StyleID: s.text, Value: text}
		if marks[col] != nil {
			cell.StyleID = s.faulty
		}
		if text == "" && cell.StyleID == s.text {
			cell.Value = nil
		}
		s.cells = append(s.cells, cell)
	}
	if err := s.out.SetRow(fmt.Sprintf("A%d", at), s.cells); err != nil {
		return err
	}
	for col := range width {
		if marks[col] == nil || s.comments == maxComments {
			continue
		}
		s.comments++
		err := s.book.AddComment(s.name, excelize.Comment{
			Cell: source.Ref(ownColumns+col, at), Author: "sheetlift",
			Paragraph: []excelize.RichTextRun{{Text: strings.Join(slices.Compact(marks[col]), "\n")}}, Width: 300, Height: 120,
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *rejectsSheet) end() error {
	if s.out == nil {
		return nil
	}
	return s.out.Flush()
}

// columnNumber is the index of column letters, from 0.
func columnNumber(letters string) int {
	n := 0
	for _, c := range letters {
		n = n*26 + int(c-'A') + 1
	}
	return n - 1
}

// unshowable stands in a rejects workbook for a value that a workbook cannot hold unchanged.
const unshowable = "(sheetlift: this value is too long for a workbook, or holds characters that it can't; leave this text to keep the value)"

// cellForm is a value as a rejects workbook shows it: itself, or unshowable.
func cellForm(v string) string {
	units := 0
	for _, r := range v {
		units += utf16.RuneLen(r)
		if r < 0x20 && r != '\t' && r != '\n' || r == 0xfffd || r == 0xfffe || r == 0xffff || units > maxCellText {
			return unshowable
		}
	}
	return v
}
