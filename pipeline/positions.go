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

var fileNumber = regexp.MustCompile(`^#[0-9]+$`)

// personalFile reports whether the name of a file looks like an e-mail address, a telephone number or an id. A date is none.
func personalFile(file string) bool { return PersonalPath(path.Base(filepath.ToSlash(file))) }

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
