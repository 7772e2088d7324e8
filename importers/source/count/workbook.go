package count

import (
	"archive/zip"
	"bufio"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/url"
	"path"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/text/transform"

	"sheetlift/importers/source/inflate"
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
	head, _ := b.Peek(headBytes)
	var in io.Reader = b
	if t := decoder(head); t != nil {
		in = transform.NewReader(b, t)
	}
	return struct {
		io.Reader
		io.Closer
	}{in, r}, nil
}

// workbook is a package whose sheets are to be counted.
type workbook struct {
	sheets  []*part // in workbook order
	strings *part   // nil if there are none
	byName  map[string]*part
	filled  []bool // of the shared strings, once they are counted
}

// part is a sheet, or the shared strings.
type part struct {
	file  *zip.File // nil for sheets without cells
	shown bool      // somebody shows it, or has shown it
	done  bool      // it was counted to its end
	Sheet
}

// openWorkbook finds the sheets of a package.
func openWorkbook(r io.ReaderAt, size int64) (*workbook, error) {
	z, err := zip.NewReader(r, size)
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		return nil, err
	}
	z.RegisterDecompressor(zip.Deflate, func(r io.Reader) io.ReadCloser { return io.NopCloser(inflate.NewReader(r, 0)) })
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
	w := &workbook{byName: map[string]*part{}}
	if words != nil {
		w.strings = &part{file: words}
		w.byName[words.Name] = w.strings
	}
	for _, s := range doc.Sheets {
		var id string
		c := &part{}
		for _, a := range s.Attrs {
			switch a.Name.Local {
			case "id":
				id = a.Value
			case "name":
				c.Name = a.Value
			}
		}
		if kind := kinds[id]; kind != "chartsheet" && kind != "dialogsheet" {
			if c.file = parts[id]; c.file == nil {
				return nil, fmt.Errorf("sheet %q: %w", c.Name, errNotFound)
			}
			w.byName[c.file.Name] = c
		}
		w.sheets = append(w.sheets, c)
	}
	return w, nil
}

// counting is a part that is being counted.
type counting struct {
	decoded
	done func()
}

// Close ends the part: only now does what was counted of it hold.
func (c *counting) Close() error {
	if err := c.decoded.Close(); err != nil {
		return err
	}
	c.done()
	return nil
}

// behind counts what it is given on a goroutine of its own, so that who inflates the part goes on meanwhile. The goroutine
// ends whenever there is nothing to count: a part that is given up leaves nothing that runs.
type behind struct {
	to    io.WriteCloser
	batch []byte // being filled

	mu      sync.Mutex
	change  sync.Cond
	queue   [][]byte // to be counted
	free    [][]byte
	running bool
	failed  error
}

const (
	batchBytes = 64 << 10
	batches    = 8 // that may wait
)

func newBehind(to io.WriteCloser) *behind {
	b := &behind{to: to}
	b.change.L = &b.mu
	return b
}

// Write takes the next bytes of the part.
func (b *behind) Write(p []byte) (int, error) {
	if b.batch = append(b.batch, p...); len(b.batch) < batchBytes {
		return len(p), nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for len(b.queue) >= batches && b.failed == nil {
		b.change.Wait()
	}
	if b.failed != nil {
		return 0, b.failed
	}
	b.queue, b.batch = append(b.queue, b.batch), nil
	if n := len(b.free); n > 0 {
		b.batch, b.free = b.free[n-1][:0], b.free[:n-1]
	}
	if !b.running {
		b.running = true
		go b.run()
	}
	return len(p), nil
}

func (b *behind) run() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for len(b.queue) > 0 && b.failed == nil {
		batch := b.queue[0]
		b.queue = append(b.queue[:0], b.queue[1:]...)
		b.change.Signal()
		b.mu.Unlock()
		_, err := b.to.Write(batch)
		b.mu.Lock()
		b.free, b.failed = append(b.free, batch), err
	}
	b.running = false
	b.change.Signal()
}

// Close counts the rest and ends the part.
func (b *behind) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	for b.running {
		b.change.Wait()
	}
	if b.failed != nil {
		return b.failed
	}
	if _, err := b.to.Write(b.batch); err != nil {
		return err
	}
	return b.to.Close()
}

// begin counts a part that is to be written to what it returns.
func (w *workbook) begin(p *part) *counting {
	p.shown = true
	if p == w.strings {
		s := &stringCounter{}
		return &counting{decoded{to: &cutter{take: s.take}}, func() { w.filled, p.done = s.filled, true }}
	}
	s := &sheetCounter{filled: w.filled}
	return &counting{decoded{to: &cutter{take: s.take}}, func() { p.Rows, p.Cells, p.done = s.rows, s.cells, true }}
}

// finish counts a part from the file, unless it was shown to its end.
func (w *workbook) finish(ctx context.Context, p *part) error {
	if p.done || p.file == nil {
		return nil
	}
	r, err := p.file.Open()
	if err != nil {
		return err
	}
	defer r.Close()
	c := w.begin(p)
	buf := make([]byte, 128<<10)
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, err := r.Read(buf)
		if _, failed := c.Write(buf[:n]); failed != nil {
			return failed
		}
		if errors.Is(err, io.EOF) {
			return c.Close()
		}
		if err != nil {
			return err
		}
	}
}

// count counts what was not shown.
func (w *workbook) count(ctx context.Context) ([]Sheet, error) {
	if w.strings != nil {
		if err := w.finish(ctx, w.strings); err != nil {
			return nil, fmt.Errorf("count shared strings: %w", err)
		}
	}
	var out []Sheet
	for _, s := range w.sheets {
		if err := w.finish(ctx, s); err != nil {
			return nil, fmt.Errorf("count sheet %q: %w", s.Name, err)
		}
		out = append(out, s.Sheet)
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
