package main

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/klauspost/compress/flate"
	"github.com/xuri/excelize/v2"
)

// sheet is one worksheet: rows of cells from row 1.
type sheet struct {
	name       string
	visibility string // "", "hidden" or "veryHidden"
	header     int    // row number of the header, for its looks
	rows       [][]any
	widths     map[string]float64 // column letters to width
	merge      []string           // ranges
	grey       []int              // rows with a grey background
	list       map[string]string  // range to a drop-down's comma-separated words
}

// The kinds of cells besides text (string) and whole numbers (int). An empty string or nil is no cell.
type (
	day    struct{ y, m, d int }               // a real date cell
	moment struct{ y, m, d, hour, minute int } // a real date and time cell
	padded struct{ value, digits int }         // a number whose leading zeros exist only in its format
	raw    struct{ style, attr, inner string } // the XML of a cell as excelize would not write it
)

// eNotation is a number as a spreadsheet program writes one with more digits than it can hold.
func eNotation(v string) raw { return raw{"", "", "<v>" + v + "</v>"} }

func (d day) serial() int {
	return int(time.Date(d.y, time.Month(d.m), d.d, 0, 0, 0, 0, time.UTC).Sub(time.Date(1899, 12, 30, 0, 0, 0, 0, time.UTC)).Hours() / 24)
}

func (m moment) serial() float64 {
	return float64(day{m.y, m.m, m.d}.serial()) + float64(m.hour*60+m.minute)/1440
}

// workbook writes the sheets as an xlsx file whose bytes depend on nothing else.
func workbook(sheets []*sheet) ([]byte, error) {
	f := excelize.NewFile()
	defer f.Close() // in memory only
	w := writer{f: f, styles: map[string]int{}, patches: map[string]map[string]raw{}}
	if err := w.prepare(); err != nil {
		return nil, err
	}
	for i, s := range sheets {
		if err := w.sheet(i, s); err != nil {
			return nil, fmt.Errorf("sheet %s: %w", s.name, err)
		}
	}
	f.SetActiveSheet(0)
	var buf bytes.Buffer
	if err := f.Write(&buf); err != nil {
		return nil, err
	}
	return repack(buf.Bytes(), w.patches)
}

type writer struct {
	f       *excelize.File
	styles  map[string]int
	patches map[string]map[string]raw // part name, cell
}

func (w *writer) prepare() error {
	const at = "2026-10-01T06:58:00Z"
	if err := w.f.SetDocProps(&excelize.DocProperties{Creator: "Harbour Retail", LastModifiedBy: "Harbour Retail", Created: at, Modified: at}); err != nil {
		return err
	}
	if err := w.f.SetAppProps(&excelize.AppProperties{Application: "Microsoft Excel", Company: "Harbour Retail (made up)"}); err != nil {
		return err
	}
	dateFormat, momentFormat, zeros := "dd.mm.yyyy", "dd.mm.yyyy hh:mm", "0000000000"
	for _, s := range []struct {
		name  string
		style excelize.Style
	}{
		{"title", excelize.Style{Font: &excelize.Font{Bold: true, Size: 14}}},
		{"header", excelize.Style{Font: &excelize.Font{Bold: true, Color: "FFFFFF"}, Fill: excelize.Fill{Type: "pattern", Pattern: 1, Color: []string{"1F4E78"}}}},
		{"grey", excelize.Style{Font: &excelize.Font{Italic: true}, Fill: excelize.Fill{Type: "pattern", Pattern: 1, Color: []string{"D9D9D9"}}}},
		{"day", excelize.Style{CustomNumFmt: &dateFormat}},
		{"moment", excelize.Style{CustomNumFmt: &momentFormat}},
		{"padded", excelize.Style{CustomNumFmt: &zeros}},
		{"whole", excelize.Style{NumFmt: 1}},
	} {
		id, err := w.f.NewStyle(&s.style)
		if err != nil {
			return err
		}
		w.styles[s.name] = id
	}
	return nil
}

func (w *writer) sheet(i int, s *sheet) error {
	if i == 0 {
		if err := w.f.SetSheetName("Sheet1", s.name); err != nil {
			return err
		}
	} else if _, err := w.f.NewSheet(s.name); err != nil {
		return err
	}
	for r, row := range s.rows {
		for c, v := range row {
			ref, err := excelize.CoordinatesToCellName(c+1, r+1)
			if err != nil {
				return err
			}
			if err := w.cell(i, s, r+1, ref, v); err != nil {
				return err
			}
		}
	}
	for col, width := range s.widths {
		if err := w.f.SetColWidth(s.name, col, col, width); err != nil {
			return err
		}
	}
	for _, m := range s.merge {
		from, to, _ := strings.Cut(m, ":")
		if err := w.f.MergeCell(s.name, from, to); err != nil {
			return err
		}
	}
	for at, words := range s.list {
		v := excelize.NewDataValidation(true)
		v.SetSqref(at)
		if err := v.SetDropList(strings.Split(words, ",")); err != nil {
			return err
		}
		if err := w.f.AddDataValidation(s.name, v); err != nil {
			return err
		}
	}
	if s.header > 0 {
		err := w.f.SetPanes(s.name, &excelize.Panes{Freeze: true, YSplit: s.header, TopLeftCell: fmt.Sprintf("A%d", s.header+1), ActivePane: "bottomLeft"})
		if err != nil {
			return err
		}
	}
	if s.visibility != "" {
		return w.f.SetSheetVisible(s.name, false, s.visibility == "veryHidden")
	}
	return nil
}

func (w *writer) cell(i int, s *sheet, row int, ref string, v any) error {
	style := ""
	switch {
	case row < s.header:
		style = "title"
	case row == s.header:
		style = "header"
	case slices.Contains(s.grey, row):
		style = "grey"
	}
	var err error
	switch v := v.(type) {
	case nil:
		return nil
	case string:
		if v == "" {
			return nil
		}
		err = w.f.SetCellStr(s.name, ref, v)
	case int:
		style = "whole"
		err = w.f.SetCellInt(s.name, ref, int64(v))
	case day:
		style = "day"
		err = w.f.SetCellInt(s.name, ref, int64(v.serial()))
	case moment:
		style = "moment"
		err = w.f.SetCellFloat(s.name, ref, v.serial(), -1, 64)
	case padded:
		style = "padded"
		err = w.f.SetCellInt(s.name, ref, int64(v.value))
	case raw:
		style = v.style
		part := fmt.Sprintf("xl/worksheets/sheet%d.xml", i+1)
		if w.patches[part] == nil {
			w.patches[part] = map[string]raw{}
		}
		w.patches[part][ref] = v
		err = w.f.SetCellInt(s.name, ref, 0)
	default:
		return fmt.Errorf("cell %s holds a %T", ref, v)
	}
	if err != nil || style == "" {
		return err
	}
	return w.f.SetCellStyle(s.name, ref, ref, w.styles[style])
}

var styleAttr = regexp.MustCompile(` s="\d+"`)

// repack puts the parts in a fixed order, with a fixed time and a compressor whose version go.mod pins, and patches the cells
// that excelize can't write.
func repack(data []byte, patches map[string]map[string]raw) ([]byte, error) {
	in, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, err
	}
	files := slices.Clone(in.File)
	slices.SortFunc(files, func(a, b *zip.File) int { return strings.Compare(a.Name, b.Name) })
	var out bytes.Buffer
	zw := zip.NewWriter(&out)
	zw.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, flate.BestCompression) })
	for _, f := range files {
		r, err := f.Open()
		if err != nil {
			return nil, err
		}
		part, err := io.ReadAll(r)
		if err != nil {
			return nil, err
		}
		if part, err = patch(part, patches[f.Name]); err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name, err)
		}
		w, err := zw.CreateHeader(&zip.FileHeader{Name: f.Name, Method: zip.Deflate, Modified: time.Date(2026, 10, 1, 6, 58, 0, 0, time.UTC)})
		if err != nil {
			return nil, err
		}
		if _, err := w.Write(part); err != nil {
			return nil, err
		}
	}
	if err := zw.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

func patch(part []byte, cells map[string]raw) ([]byte, error) {
	s := string(part)
	for ref, v := range cells {
		start := strings.Index(s, `<c r="`+ref+`"`)
		if start < 0 {
			return nil, fmt.Errorf("no cell %s to patch", ref)
		}
		end := start + strings.Index(s[start:], "</c>") + len("</c>")
		style := styleAttr.FindString(s[start : start+strings.Index(s[start:], ">")])
		s = s[:start] + `<c r="` + ref + `"` + style + v.attr + ">" + v.inner + "</c>" + s[end:]
	}
	return []byte(s), nil
}
