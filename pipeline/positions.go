package pipeline

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"sheetlift/importers/source"
	"sheetlift/manifests"
)

// A file whose name looks like a value about a person is drafted by its position: "#3" is the third export of its folder by name. What
// sheetlift wrote there is no export. A file that was looked at before is known by its bytes, wherever it stands by now.

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
		passing := strings.HasPrefix(e.Name(), ".") || strings.HasPrefix(e.Name(), "~$") // locks of spreadsheet programs, files under way
		if !e.IsDir() && !passing && extensions[strings.ToLower(filepath.Ext(e.Name()))] != "" && !ownWorkbook(filepath.Join(dir, e.Name())) {
			names = append(names, e.Name())
		}
	}
	return names // ReadDir sorts
}

// madeBy is the creator that workbooks of sheetlift name.
const madeBy = "sheetlift"

func ownWorkbook(path string) bool {
	if !strings.EqualFold(filepath.Ext(path), ".xlsx") {
		return false
	}
	f, err := manifests.OpenRegular(path)
	if err != nil {
		return false
	}
	defer f.Close()
	st, err := f.Stat()
	return err == nil && OwnWorkbook(f, st.Size(), "")
}

// OwnWorkbook reports whether a workbook says that sheetlift made it, with a title that begins so.
func OwnWorkbook(f io.ReaderAt, size int64, title string) bool {
	z, err := zip.NewReader(f, size)
	if err != nil {
		return false
	}
	core, err := z.Open("docProps/core.xml")
	if err != nil {
		return false
	}
	defer core.Close()
	text, err := io.ReadAll(io.LimitReader(core, 1<<16))
	return err == nil && bytes.Contains(text, []byte("creator>"+madeBy+"<")) && (title == "" || bytes.Contains(text, []byte("title>"+title)))
}

// holdFiles finds the files that batch.yaml names by position by the bytes that were frozen or, before that, seen by the inventory: a
// file that came into the folder since has moved the positions of others.
func (p *Pipeline) holdFiles(ctx context.Context) error {
	files := slices.DeleteFunc(p.batch.Files(), func(file string) bool { return !fileNumber.MatchString(path.Base(file)) })
	if len(files) == 0 {
		return nil
	}
	type seen struct {
		sum  string
		size int64
	}
	before := map[string]seen{}
	inv, _, err := last[InventoryResult](ctx, p.initial(), Inventory)
	if err != nil {
		return err
	}
	if inv != nil {
		for _, f := range inv.Files {
			before[f.File] = seen{f.SHA256, f.Size}
		}
	}
	fr, _, err := last[FreezeResult](ctx, p.initial(), Freeze)
	if err != nil {
		return err
	}
	if fr != nil {
		for _, f := range fr.Files {
			before[f.File] = seen{f.SHA256, f.Size}
		}
	}
	p.batch.held = map[string]string{}
	for _, file := range files {
		want, ok := before[file]
		if !ok {
			continue
		}
		folder := path.Dir(file)
		dir := filepath.Join(p.batch.dir, filepath.FromSlash(folder))
		for _, name := range exportsIn(dir) {
			at := filepath.Join(dir, name)
			if st, err := os.Stat(at); err != nil || st.Size() != want.size {
				continue
			}
			if sum, _, err := manifests.FileDigest(at); err == nil && sum == want.sum {
				p.batch.held[file] = path.Join(folder, name)
				break
			}
		}
	}
	return nil
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
