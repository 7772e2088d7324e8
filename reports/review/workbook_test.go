package review

import (
	"archive/zip"
	"bytes"
	"io"
	"strconv"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"

	"sheetlift/pipeline"
)

func workbook(t *testing.T, r *pipeline.ReviewResult) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := XLSX(&b, r); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestWorkbookHoldsTheSameAndNoFormula(t *testing.T) {
	for name, r := range states() {
		data := workbook(t, r)
		if !bytes.Equal(data, workbook(t, r)) {
			t.Errorf("%s: two workbooks of one review differ", name)
		}
		z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range z.File {
			in, err := f.Open()
			if err != nil {
				t.Fatal(err)
			}
			part, err := io.ReadAll(in)
			in.Close()
			if err != nil {
				t.Fatal(err)
			}
			if strings.HasPrefix(f.Name, "xl/worksheets/") && (bytes.Contains(part, []byte("<f>")) || bytes.Contains(part, []byte("<f ")) || bytes.Contains(part, []byte("hyperlink>"))) {
				t.Errorf("%s: %s has a formula or a link", name, f.Name)
			}
			if f.Modified.Year() > 1980 {
				t.Errorf("%s: %s says when it was written", name, f.Name)
			}
		}
		b, err := excelize.OpenReader(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		numbers, texts := map[string]bool{}, ""
		for _, sheet := range b.GetSheetList() {
			rows, err := b.GetRows(sheet)
			if err != nil {
				t.Fatal(err)
			}
			panes, err := b.GetPanes(sheet)
			if err != nil || !panes.Freeze || panes.YSplit != 1 {
				t.Errorf("%s: the head of %s is not frozen: %+v, %v", name, sheet, panes, err)
			}
			for _, row := range rows {
				for _, c := range row {
					numbers[c] = true
					texts += c + "\n"
				}
			}
		}
		b.Close()
		if name != "all" {
			continue
		}
		if !strings.Contains(texts, "=HYPERLINK(") {
			t.Error("the hostile text is not there as it was")
		}
		for _, n := range wanted(r) {
			if !numbers[strconv.Itoa(n)] && !strings.Contains(texts, strconv.Itoa(n)) && !strings.Contains(texts, strconv.Itoa(n)[:1]+","+strconv.Itoa(n)[1:]) {
				t.Errorf("the workbook does not show %d", n)
			}
		}
	}
}
