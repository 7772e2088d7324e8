package pipeline

import (
	"fmt"
	"path"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"sheetlift/importers/source"
	"sheetlift/manifests"
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

// exportDate is a date as exports have it in their names, maybe with a time; it is no number of a person.
var exportDate = regexp.MustCompile(`(?:19|20)\d\d[-_. ]?(?:0[1-9]|1[0-2])[-_. ]?(?:0[1-9]|[12]\d|3[01])(?:[-_. T]?[0-2]\d[-_.:]?[0-5]\d(?:[-_.:]?[0-5]\d)?)?`)

// personalName reports whether a file or sheet name looks like an e-mail address, a telephone number or an id.
func personalName(name string) bool {
	return mappings.LooksPersonal(exportDate.ReplaceAllString(name, ""))
}

// PersonalPath reports whether a part of a path has such a name.
func PersonalPath(path string) bool {
	for part := range strings.SplitSeq(filepath.ToSlash(path), "/") {
		if personalName(strings.TrimSuffix(part, filepath.Ext(part))) || strings.ContainsAny(part, "@＠") {
			return true
		}
	}
	return false
}

// ShownFile is a file as reports name it: as batch.yaml does, or by its position there if its name looks like a value about a person.
func (b *Batch) ShownFile(file string) string {
	if !PersonalPath(file) {
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
	p.hide(reflect.ValueOf(r), "", p.hidden())
}

// Hide puts positions in the place of the file and sheet names that may not be shown, wherever a text has them.
func (p *Pipeline) Hide(text string) string { return p.hidden().Replace(text) }

// Hide does so for the files that batch.yaml names.
func (b *Batch) Hide(text string) string { return strings.NewReplacer(b.hidden()...).Replace(text) }

// hidden are the names of files, in whatever form a text may have them, and what is shown instead.
func (b *Batch) hidden() (pairs []string) {
	for i := range b.Sources {
		f := b.Sources[i].File
		named := b.abs(f)
		if !PersonalPath(f) && !PersonalPath(filepath.Base(named)) {
			continue
		}
		instead := b.ShownFile(f)
		payload := manifests.PayloadName(f)
		for _, name := range []string{named, filepath.ToSlash(f), filepath.FromSlash(f), payload, path.Base(payload), filepath.Base(named), filepath.Base(f)} {
			if PersonalPath(name) {
				pairs = append(pairs, inQuotes(name), instead, name, instead)
			}
		}
	}
	return pairs
}

// inQuotes is how a name stands in a text that quotes it.
func inQuotes(name string) string {
	q := strconv.Quote(name)
	return q[1 : len(q)-1]
}

func (p *Pipeline) hidden() *strings.Replacer {
	pairs := p.batch.hidden()
	p.sheets.mu.Lock()
	defer p.sheets.mu.Unlock()
	for at, n := range p.sheets.at {
		if personalName(at[1]) {
			pairs = append(pairs, inQuotes(at[1]), sheetNumber(n), at[1], sheetNumber(n))
		}
	}
	return strings.NewReplacer(pairs...)
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
