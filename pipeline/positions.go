package pipeline

import (
	"errors"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"sheetlift/importers/source"
)

// A file whose name looks like a value about a person is drafted by its position: "#3" is the third export of its folder by name.

var (
	fileNumber = regexp.MustCompile(`^#[0-9]+$`)
	phoneLike  = regexp.MustCompile(`\+?[0-9][0-9 ().-]{5,}[0-9]`)
	dateLike   = regexp.MustCompile(`^(?:19|20)[0-9]{2}[-. ]?(?:0[1-9]|1[0-2])[-. ]?(?:0[1-9]|[12][0-9]|3[01])(?:[-. ]?[0-9]{2}){0,3}$`)
)

// personalFile reports whether the name of a file looks like an e-mail address, a telephone number or an id. A date is none.
func personalFile(file string) bool {
	base := path.Base(filepath.ToSlash(file))
	if strings.ContainsAny(base, "@＠") {
		return true
	}
	for _, m := range phoneLike.FindAllString(strings.TrimSuffix(base, path.Ext(base)), -1) {
		digits := 0
		for _, c := range m {
			if c >= '0' && c <= '9' {
				digits++
			}
		}
		if digits >= 7 && !dateLike.MatchString(m) {
			return true
		}
	}
	return false
}

// exportsIn lists the exports of a folder by name, so that they have positions.
func exportsIn(dir string) []string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var names []string
	for _, e := range entries {
		if !e.IsDir() && extensions[strings.ToLower(filepath.Ext(e.Name()))] != "" {
			names = append(names, e.Name())
		}
	}
	return names // ReadDir sorts
}

// fileByNumber is how the file at a path relative to dir is named. A file that isn't there is named #0.
func fileByNumber(dir, file string) string {
	if !personalFile(file) {
		return file
	}
	folder := path.Dir(file)
	n := slices.Index(exportsIn(filepath.Join(dir, filepath.FromSlash(folder))), path.Base(file)) + 1
	return path.Join(folder, sheetNumber(n))
}

// namedFile is the file that fileByNumber named.
func namedFile(dir, file string) string {
	folder, base := path.Split(file)
	if !fileNumber.MatchString(base) {
		return file
	}
	n, err := strconv.Atoi(base[1:])
	list := exportsIn(filepath.Join(dir, filepath.FromSlash(folder)))
	if err != nil || n < 1 || n > len(list) {
		return file
	}
	return path.Join(folder, list[n-1])
}

// unnamed takes the name of a file out of a fault, if it is one that is not shown.
func unnamed(err error, file, shown string) error {
	var f *source.Error
	if personalFile(file) && errors.As(err, &f) {
		f.File = shown
	}
	return err
}
