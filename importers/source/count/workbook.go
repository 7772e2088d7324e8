package count

import (
	"archive/zip"
	"bufio"
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/url"
	"path"
	"strconv"
	"strings"

	"github.com/klauspost/compress/flate"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

func quote(s string) string { return strconv.Quote(s) }
func number(n int) string   { return strconv.Itoa(n) }

// relationship is one of a .rels part.
type relationship struct {
	ID     string `xml:"Id,attr"`
	Type   string `xml:"Type,attr"`
	Target string `xml:"Target,attr"`
	Mode   string `xml:"TargetMode,attr"`
}

// pkg is a package whose parts are looked up by name, whatever their case and slashes.
type pkg map[string]*zip.File

func key(name string) string {
	return strings.Trim(strings.ToLower(strings.ReplaceAll(name, `\`, "/")), "/")
}

func (p pkg) part(name string) *zip.File {
	if f := p[key(name)]; f != nil {
		return f
	}
	plain, err := url.PathUnescape(name)
	if err != nil {
		return nil
	}
	return p[key(plain)]
}

// follow finds the target of a relationship of a part.
func (p pkg) follow(from string, r relationship) *zip.File {
	target := strings.ReplaceAll(r.Target, `\`, "/")
	if !strings.HasPrefix(target, "/") {
		if f := p.part(path.Join(path.Dir(key(from)), target)); f != nil {
			return f
		}
	}
	return p.part(path.Clean(target))
}

func (p pkg) relationships(of string) ([]relationship, error) {
	dir, file := path.Split(key(of))
	f := p.part(dir + "_rels/" + file + ".rels")
	if f == nil {
		return nil, nil
	}
	var doc struct {
		Relationship []relationship
	}
	return doc.Relationship, p.decode(f, &doc)
}

func (p pkg) decode(f *zip.File, v any) error {
	r, err := openPart(f)
	if err != nil {
		return err
	}
	defer r.Close()
	d := xml.NewDecoder(r)
	d.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil } // decoded already
	return d.Decode(v)
}

// openPart gives the text of a part as UTF-8.
func openPart(f *zip.File) (io.ReadCloser, error) {
	r, err := f.Open()
	if err != nil {
		return nil, err
	}
	b := bufio.NewReader(r)
	head, _ := b.Peek(100)
	var in io.Reader = b
	switch {
	case bytes.HasPrefix(head, []byte{0xff, 0xfe}), bytes.HasPrefix(head, []byte("<\x00")):
		in = transform.NewReader(b, unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewDecoder())
	case bytes.HasPrefix(head, []byte{0xfe, 0xff}), bytes.HasPrefix(head, []byte("\x00<")):
		in = transform.NewReader(b, unicode.UTF16(unicode.BigEndian, unicode.UseBOM).NewDecoder())
	default:
		if _, after, ok := bytes.Cut(head, []byte("encoding=")); ok && len(after) > 0 && bytes.HasPrefix(bytes.TrimPrefix(head, []byte("\ufeff")), []byte("<?xml")) {
			name, _, _ := strings.Cut(string(after[1:]), string(after[:1]))
			if enc, err := htmlindex.Get(name); err == nil && !strings.HasPrefix(strings.ToLower(name), "utf") {
				in = transform.NewReader(b, enc.NewDecoder())
			}
		}
	}
	return struct {
		io.Reader
		io.Closer
	}{in, r}, nil
}

// workbook counts every sheet of a package.
func workbook(ctx context.Context, r io.ReaderAt, size int64) ([]Sheet, error) {
	z, err := zip.NewReader(r, size)
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		return nil, err
	}
	z.RegisterDecompressor(zip.Deflate, func(r io.Reader) io.ReadCloser { return flate.NewReader(r) })
	p := pkg{}
	for _, f := range z.File {
		p[key(f.Name)] = f
	}
	book, err := p.workbookPart()
	if err != nil {
		return nil, err
	}
	rels, err := p.relationships(book.Name)
	if err != nil {
		return nil, err
	}
	parts := map[string]*zip.File{}
	kinds := map[string]string{}
	var words *zip.File
	for _, rel := range rels {
		f := p.follow(book.Name, rel)
		parts[rel.ID], kinds[rel.ID] = f, strings.ToLower(path.Base(rel.Type))
		if kinds[rel.ID] == "sharedstrings" && f != nil {
			words = f
		}
	}
	if words == nil {
		words = p.typed("spreadsheetml.sharedStrings+xml")
	}
	var doc struct {
		Sheets []struct {
			Attrs []xml.Attr `xml:",any,attr"`
		} `xml:"sheets>sheet"`
	}
	if err := p.decode(book, &doc); err != nil {
		return nil, err
	}
	var strings []bool
	if words != nil {
		if strings, err = countStrings(ctx, words); err != nil {
			return nil, err
		}
	}
	var out []Sheet
	for _, s := range doc.Sheets {
		var id string
		var c Sheet
		for _, a := range s.Attrs {
			switch a.Name.Local {
			case "id":
				id = a.Value
			case "name":
				c.Name = a.Value
			}
		}
		if kind := kinds[id]; kind != "chartsheet" && kind != "dialogsheet" {
			if parts[id] == nil {
				return nil, fmt.Errorf("sheet %q: %w", c.Name, errNotFound)
			}
			if err := countSheet(ctx, parts[id], strings, &c); err != nil {
				return nil, fmt.Errorf("count sheet %q: %w", c.Name, err)
			}
		}
		out = append(out, c)
	}
	return out, nil
}

func (p pkg) workbookPart() (*zip.File, error) {
	rels, err := p.relationships("")
	if err != nil {
		return nil, err
	}
	for _, r := range rels {
		if path.Base(r.Type) == "officeDocument" {
			if f := p.follow("", r); f != nil {
				return f, nil
			}
		}
	}
	if f := p.typed("main+xml"); f != nil {
		return f, nil
	}
	return nil, errNotFound
}

// typed finds a part by the end of its content type.
func (p pkg) typed(suffix string) *zip.File {
	var doc struct {
		Override []struct {
			PartName, ContentType string `xml:",attr"`
		}
	}
	if f := p.part("[Content_Types].xml"); f == nil || p.decode(f, &doc) != nil {
		return nil
	}
	for _, o := range doc.Override {
		if strings.HasSuffix(o.ContentType, suffix) {
			return p.part(o.PartName)
		}
	}
	return nil
}
