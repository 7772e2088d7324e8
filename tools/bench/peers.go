package main

import (
	"archive/zip"
	"bufio"
	"encoding/csv"
	"errors"
	"io"
	"os"
	"strings"

	"github.com/klauspost/compress/flate"
	"github.com/xuri/excelize/v2"
)

// peers are what reading is held against, each as a whole process. They give the number that they counted.
var peers = map[string]func(file string) (int64, error){
	"inflate":  inflate,
	"excelize": excelizeRows,
	"csv":      encodingCSV,
}

// inflate decompresses the sheets and shared strings of a workbook one after the other and looks at nothing, not even the
// checksums. It gives the number of bytes.
func inflate(file string) (n int64, err error) {
	z, err := zip.OpenReader(file)
	if err != nil {
		return 0, err
	}
	defer z.Close()
	for _, f := range z.File {
		if !strings.HasPrefix(f.Name, "xl/worksheets/sheet") && f.Name != "xl/sharedStrings.xml" {
			continue
		}
		raw, err := f.OpenRaw()
		if err != nil {
			return n, err
		}
		r := flate.NewReader(bufio.NewReaderSize(raw, 64<<10))
		k, err := io.Copy(io.Discard, r)
		if n += k; err != nil {
			return n, err
		}
	}
	return n, nil
}

// excelizeRows gives the number of non-empty cells of all sheets, by the fastest way excelize has: raw values, and limits so
// high that it keeps parts in memory.
func excelizeRows(file string) (n int64, err error) {
	const limit = 16 << 30
	f, err := excelize.OpenFile(file, excelize.Options{RawCellValue: true, UnzipSizeLimit: limit, UnzipXMLSizeLimit: limit})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	for _, sheet := range f.GetSheetList() {
		rows, err := f.Rows(sheet)
		if err != nil {
			return n, err
		}
		for rows.Next() {
			cells, err := rows.Columns()
			if err != nil {
				return n, err
			}
			n += filled(cells)
		}
		if err := errors.Join(rows.Error(), rows.Close()); err != nil {
			return n, err
		}
	}
	return n, nil
}

// encodingCSV gives the number of non-empty fields of a CSV file.
func encodingCSV(file string) (n int64, err error) {
	f, err := os.Open(file)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	r := csv.NewReader(bufio.NewReaderSize(f, 1<<20))
	r.ReuseRecord = true
	r.FieldsPerRecord = -1
	for {
		record, err := r.Read()
		if errors.Is(err, io.EOF) {
			return n, nil
		}
		if err != nil {
			return n, err
		}
		n += filled(record)
	}
}

func filled(fields []string) (n int64) {
	for _, f := range fields {
		if f != "" {
			n++
		}
	}
	return n
}
