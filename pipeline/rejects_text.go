package pipeline

import (
	"bufio"
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"sheetlift/importers/source"
	"sheetlift/pipeline/ledger"
)

// records writes the original bytes of each rejected record of the text sources, what stands above the data first, so that the
// same mapping reads the file.
func (w *rejectsWriter) records(ctx context.Context, dry *DryRunResult, path string) error {
	var text []int
	other := ""
	for i := range w.batch.Sources {
		s := &w.batch.Sources[i]
		if rejectedOf(dry, s.Name) == 0 {
			continue
		}
		sh, err := w.openSheet(ctx, w.fr, s, w.maps[i], nil)
		if err != nil {
			return err
		}
		if sh.records() {
			text = append(text, i)
		} else {
			other = s.Name
			w.opt.Notify(ledger.Remark(fmt.Sprintf("source %s is no text file, so its rejected rows have no original records and are not in %s; --rejects FILE.xlsx writes them", s.Name, filepath.Base(path))))
		}
		sh.close()
	}
	if len(text) == 0 && other != "" {
		return noRecords(path, "all rejected rows are of sources that are no text files, so none has an original record")
	}
	ext := filepath.Ext(path)
	targets := map[int]string{}
	for _, i := range text {
		targets[i] = path
		if len(text) > 1 {
			targets[i] = strings.TrimSuffix(path, ext) + "-" + w.batch.Sources[i].Name + ext
		}
		if err := unoccupied(targets[i]); err != nil { // before any is written
			return err
		}
	}
	for _, i := range text {
		if err := w.recordsOf(ctx, i, targets[i]); err != nil {
			return err
		}
	}
	return nil
}

func rejectedOf(dry *DryRunResult, name string) int {
	for _, s := range dry.Sources {
		if s.Source == name {
			return s.Rows.Rejected
		}
	}
	return 0
}

func (w *rejectsWriter) recordsOf(ctx context.Context, i int, path string) error {
	f, err := partialOf(path)
	if err != nil {
		return err
	}
	buf := bufio.NewWriter(f)
	out := RejectsFile{Source: w.batch.Sources[i].Name}
	var end []byte
	write := func(b *source.Block, k int) error {
		if _, err := buf.Write(b.Record(k)); err != nil {
			return err
		}
		_, err := buf.Write(end)
		return err
	}
	err = w.rows(ctx, i, func(sh *sheet, _ *source.Block, _ []string, row int) error {
		var mark []byte
		mark, end = textMarks(sh.book.Info())
		if _, err := buf.Write(mark); err != nil {
			return err
		}
		// What stands above the records keeps its place: blank lines among it are no rows, and the mapping counts them.
		last := 0
		blanks := func(until int) error {
			for ; last+1 < until; last++ {
				if _, err := buf.Write(end); err != nil {
					return err
				}
			}
			return nil
		}
		if err := sh.whole(ctx, func(b *source.Block) error {
			for k, n := range b.RowNum {
				if n > row {
					continue
				}
				if err := blanks(n); err != nil {
					return err
				}
				if err := write(b, k); err != nil {
					return err
				}
				last = n
			}
			return nil
		}); err != nil {
			return err
		}
		return blanks(w.maps[i].Header.First)
	}, func(_ *sheet, b *source.Block, k int, _ *rejectedRow) error {
		out.Rows++
		return write(b, k)
	})
	if err == nil {
		err = buf.Flush()
	}
	if err = ended(f, err); err != nil {
		return err
	}
	return w.keep(ctx, f.Name(), path, out)
}

// textMarks are the byte order mark of a text file and its line end, as its charset writes them.
func textMarks(info source.Info) (mark, end []byte) {
	end = []byte("\n")
	switch info.LineEnds {
	case "CRLF":
		end = []byte("\r\n")
	case "CR":
		end = []byte("\r")
	}
	switch info.Charset {
	case "utf-16le":
		mark, end = []byte{0xff, 0xfe}, wide16(end, 0)
	case "utf-16be":
		mark, end = []byte{0xfe, 0xff}, wide16(end, 1)
	case "utf-8":
		mark = []byte{0xef, 0xbb, 0xbf}
	}
	if !info.BOM {
		mark = nil
	}
	return mark, end
}

func wide16(ascii []byte, at int) []byte {
	out := make([]byte, 2*len(ascii))
	for i, c := range ascii {
		out[2*i+at] = c
	}
	return out
}
