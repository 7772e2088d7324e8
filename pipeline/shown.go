package pipeline

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"sheetlift/importers/source"
	"sheetlift/mappings"
	"sheetlift/pipeline/finding"
)

// sheetPositions remembers where the sheets of a batch's files stand, for those whose name may not be shown.
type sheetPositions struct {
	mu sync.Mutex
	at map[[2]string]int // file and sheet to position, from 1
}

// remember notes the sheets of a file.
func (s *sheetPositions) remember(file string, sheets []source.SheetInfo) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, sheet := range sheets {
		s.at[[2]string{file, sheet.Name}] = i + 1
	}
}

func (s *sheetPositions) of(file, sheet string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.at[[2]string{file, sheet}]
}

// exportDate is a date as exports have it in their names; it is no number of a person.
var exportDate = regexp.MustCompile(`(?:19|20)\d\d[-_.]?(?:0[1-9]|1[0-2])[-_.]?(?:0[1-9]|[12]\d|3[01])`)

// personalName reports whether a file or sheet name looks like an e-mail address, a telephone number or an id.
func personalName(name string) bool {
	return mappings.LooksPersonal(exportDate.ReplaceAllString(name, ""))
}

// ShownFile is a file as reports name it: as batch.yaml does, or by its position there if its name looks like a value about a person.
func (b *Batch) ShownFile(file string) string {
	if file == "" {
		return ""
	}
	personal := false
	for part := range strings.SplitSeq(filepath.ToSlash(file), "/") {
		personal = personal || personalName(strings.TrimSuffix(part, filepath.Ext(part)))
	}
	if !personal {
		return file
	}
	n, seen := 0, map[string]bool{}
	for i := range b.Sources {
		if f := b.Sources[i].File; !seen[f] {
			seen[f] = true
			if n++; f == file {
				return fmt.Sprintf("file %d", n)
			}
		}
	}
	return "a file"
}

// hideNames puts positions in the place of a finding's file and sheet names that may not be shown.
func (p *Pipeline) hideNames(f *finding.Finding) {
	sheet := f.Sheet
	if sheet != "" && personalName(sheet) {
		f.Sheet = sheetNumber(p.sheets.of(f.File, sheet))
	}
	f.File = p.batch.ShownFile(f.File)
}
