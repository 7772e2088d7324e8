package pipeline

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unicode"

	"github.com/google/uuid"

	"sheetlift/importers/source"
	"sheetlift/importers/source/open"
	"sheetlift/mappings"
)

// DraftOptions for Draft.
type DraftOptions struct {
	Dir                string // where batch.yaml is to lie
	Name               string // batch name; default the folder's name
	Charset, Delimiter string // declared for text files
	Namespace          uuid.UUID
}

// Drafted is a file that Draft wrote, relative to the folder.
type Drafted struct {
	Path string `json:"path"`
	What string `json:"what"`
}

// Draft writes batch.yaml and one bare mapping per sheet, from the headers alone: what only people know is left to be filled in.
// It refuses to overwrite; nothing is written unless all of it can be.
func Draft(ctx context.Context, files []string, opt DraftOptions) ([]Drafted, error) {
	dir, err := filepath.Abs(opt.Dir)
	if err != nil {
		return nil, err
	}
	if opt.Name == "" {
		opt.Name = slug(filepath.Base(dir))
	}
	var batch strings.Builder
	fmt.Fprintf(&batch, "# Drafted by sheetlift init. Fill in what is empty; `sheetlift inventory batch.yaml` says what is still missing.\nversion: 1\nbatch: %s\n", opt.Name)
	fmt.Fprintf(&batch, "tenant:\n  name: # whose registers are these?\n  namespace: %s # made once; every id depends on it, never change it\nsources:\n", opt.Namespace)
	writes := map[string][]byte{}
	order := []Drafted{}
	names := map[string]bool{}
	for _, file := range files {
		abs, err := filepath.Abs(file)
		if err != nil {
			return nil, err
		}
		rel, err := filepath.Rel(dir, abs)
		if err != nil || !filepath.IsLocal(rel) {
			return nil, &ConfigError{File: file, Message: "lies outside the folder that batch.yaml would lie in", Remedy: "copy the exports into this folder, or run init in the folder above them"}
		}
		rel = filepath.ToSlash(rel)
		drafts, err := draftFile(ctx, abs, rel, opt)
		if err != nil {
			return nil, err
		}
		for _, d := range drafts {
			name := slug(strings.TrimSuffix(filepath.Base(rel), filepath.Ext(rel)))
			if d.sheet != "" && len(drafts) > 1 {
				name = slug(name + "-" + d.label)
			}
			for base, n := name, 2; names[name]; n++ {
				name = base + "-" + strconv.Itoa(n)
			}
			names[name] = true
			mapping := "mappings/" + name + ".yaml"
			fmt.Fprintf(&batch, "  - name: %s\n    file: %s\n", name, strconv.Quote(rel))
			if d.sheet != "" {
				fmt.Fprintf(&batch, "    sheet: %s\n", strconv.Quote(d.sheet))
			}
			if d.text && opt.Charset != "" {
				fmt.Fprintf(&batch, "    charset: %s\n", opt.Charset)
			}
			if d.text && opt.Delimiter != "" {
				fmt.Fprintf(&batch, "    delimiter: %s\n", strconv.Quote(opt.Delimiter))
			}
			fmt.Fprintf(&batch, "    system: # which system is it from? ids depend on it\n    # owner: who answers for it\n    # definition: what it holds\n    mapping: %s\n", mapping)
			fmt.Fprintf(&batch, "    obtained_at: # when was the export made? like 2026-10-01T09:00:00+02:00\n    # zone: Europe/Berlin    # IANA zone of its times, where they name none\n    tolerance: { rows: 0 }\n")
			writes[mapping] = mappings.Draft(name, d.header, d.sheet, d.headerRow)
			order = append(order, Drafted{mapping, "mapping of " + d.described})
		}
	}
	if len(order) == 0 {
		return nil, &ConfigError{File: strings.Join(files, ", "), Message: "none of the sheets holds anything", Remedy: "check that these are the right exports"}
	}
	writes["batch.yaml"] = []byte(batch.String())
	order = append([]Drafted{{"batch.yaml", "the batch: tenant, sources, owners, times"}}, order...)
	return order, writeDrafts(dir, order, writes)
}

// writeDrafts writes all files or, when one exists or fails, none.
func writeDrafts(dir string, order []Drafted, writes map[string][]byte) (err error) {
	for _, d := range order {
		if _, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(d.Path))); err == nil {
			return &ConfigError{File: d.Path, Message: "is there already", Remedy: "init never overwrites: remove it, or run init in another folder"}
		}
	}
	var written []string
	defer func() {
		if err != nil {
			for _, p := range written {
				os.Remove(p)
			}
		}
	}()
	for _, d := range order {
		path := filepath.Join(dir, filepath.FromSlash(d.Path))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return &FileError{Path: filepath.Dir(path), Message: "can't be made: " + pathless(err), Remedy: "run init in a folder that you may write to", Err: err}
		}
		f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
		if err == nil {
			written = append(written, path)
			_, err = f.Write(writes[d.Path])
			if cerr := f.Close(); err == nil {
				err = cerr
			}
		}
		if err != nil {
			return &FileError{Path: path, Message: "can't be written: " + pathless(err), Remedy: "run init in a folder that you may write to", Err: err}
		}
	}
	return nil
}

// draft is what init found out about one sheet.
type draft struct {
	sheet, label, described string
	header                  []string
	headerRow               int
	text                    bool
}

func draftFile(ctx context.Context, path, rel string, opt DraftOptions) ([]draft, error) {
	book, err := open.File(ctx, path, source.Options{Charset: opt.Charset, Delimiter: opt.Delimiter, Password: password()})
	if err != nil {
		return nil, err
	}
	defer book.Close()
	var list []draft
	for i, sheet := range book.Sheets() {
		rd, err := book.Read(ctx, i)
		if err != nil {
			return nil, err
		}
		b, err := rd.Next()
		if errors.Is(err, io.EOF) {
			rd.Close()
			continue // an empty sheet has nothing to map
		}
		if err != nil {
			rd.Close()
			return nil, err
		}
		prof := newSheetProfile()
		prof.start(b, nil)
		rd.Close()
		d := draft{header: prof.header, headerRow: prof.headerRow, described: rel}
		if d.text = book.Info().Format == "csv"; !d.text {
			d.sheet, d.label = sheet.Name, sheet.Name
			d.described = fmt.Sprintf("%s, sheet %q", rel, sheet.Name)
			if mappings.LooksPersonal(sheet.Name) {
				d.label = "sheet-" + strconv.Itoa(i+1)
				d.described = fmt.Sprintf("%s, sheet %d", rel, i+1)
			}
		}
		list = append(list, d)
	}
	return list, nil
}

// slug makes a source name of any text.
func slug(s string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(s) {
		switch {
		case r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r)):
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
	}
	out := strings.Trim(b.String(), "-")
	if out == "" {
		return "source"
	}
	return out[:min(len(out), 50)]
}
