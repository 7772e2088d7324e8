package pipeline

import (
	"fmt"
	"path/filepath"
	"reflect"
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

// HideNames puts positions in the place of file and sheet names of a result that may not be shown. It is for a result that is to be
// printed and nothing else: what is recorded keeps the names, because later stages look for them.
func (p *Pipeline) HideNames(r any) {
	if inv, ok := r.(*InventoryResult); ok {
		for _, f := range inv.Files {
			var sheets []source.SheetInfo
			for _, s := range f.Sheets {
				sheets = append(sheets, source.SheetInfo{Name: s.Sheet})
			}
			p.sheets.remember(f.File, sheets)
		}
	}
	var pairs []string
	for i := range p.batch.Sources {
		if f := p.batch.Sources[i].File; p.batch.ShownFile(f) != f {
			pairs = append(pairs, filepath.ToSlash(f), p.batch.ShownFile(f))
		}
	}
	p.sheets.mu.Lock()
	for at, n := range p.sheets.at {
		if personalName(at[1]) {
			pairs = append(pairs, at[1], sheetNumber(n))
		}
	}
	p.sheets.mu.Unlock()
	p.hide(reflect.ValueOf(r), "", strings.NewReplacer(pairs...))
}

// hide goes through a value. file is the raw name of the file that what is below belongs to.
func (p *Pipeline) hide(v reflect.Value, file string, names *strings.Replacer) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			p.hide(v.Elem(), file, names)
		}
	case reflect.Slice:
		for i := range v.Len() {
			p.hide(v.Index(i), file, names)
		}
	case reflect.Map:
		for _, k := range v.MapKeys() { // counts and pointers to counts: keys are rules, entities, kinds
			if e := v.MapIndex(k); e.Kind() == reflect.Pointer {
				p.hide(e, file, names)
			}
		}
	case reflect.String:
		if s := v.String(); v.CanSet() {
			v.SetString(names.Replace(s))
		}
	case reflect.Struct:
		if f := v.FieldByName("File"); f.IsValid() && f.Kind() == reflect.String {
			file = f.String()
		}
		for i := range v.NumField() {
			f := v.Field(i)
			switch {
			case !f.CanSet():
			case f.Kind() == reflect.String && v.Type().Field(i).Name == "Sheet" && personalName(f.String()):
				if n := p.sheets.of(file, f.String()); n > 0 {
					f.SetString(sheetNumber(n))
				} else {
					f.SetString("a sheet")
				}
			case f.Kind() == reflect.String && v.Type().Field(i).Name == "File":
				f.SetString(p.batch.ShownFile(f.String()))
			default:
				p.hide(f, file, names)
			}
		}
	}
}
