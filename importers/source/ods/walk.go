package ods

import (
	"archive/zip"
	"context"
	"encoding/xml"
	"errors"
	"io"
	"strconv"

	"sheetlift/importers/source"
	"sheetlift/importers/source/inflate"
)

// The name spaces of ODF 1.x.
const (
	nsOffice = "urn:oasis:names:tc:opendocument:xmlns:office:1.0"
	nsTable  = "urn:oasis:names:tc:opendocument:xmlns:table:1.0"
	nsText   = "urn:oasis:names:tc:opendocument:xmlns:text:1.0"
	nsStyle  = "urn:oasis:names:tc:opendocument:xmlns:style:1.0"
	nsNumber = "urn:oasis:names:tc:opendocument:xmlns:datastyle:1.0"
	nsFO     = "urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0"
	nsCalc   = "urn:org:documentfoundation:names:experimental:calc:xmlns:calcext:1.0"
)

// walker gives the tokens of a part and knows where they stand.
type walker struct {
	b      *Book
	ctx    context.Context
	part   string
	raw    io.ReadCloser
	dec    *xml.Decoder
	stack  []xml.Name
	budget int64 // bytes that may still be read until the next token
	tokens int
}

func (b *Book) walk(ctx context.Context, part string) (*walker, error) {
	f := b.parts[part]
	if f.Method != zip.Store && f.Method != zip.Deflate {
		return nil, b.fault(source.ErrUnsupported, part, "it is compressed by zip method "+strconv.Itoa(int(f.Method))+", which spreadsheets don't use", remedyResave)
	}
	r, err := f.Open()
	if err != nil {
		e := b.fault(source.ErrTruncated, part, "its data is not where the zip directory says", remedyDamaged)
		e.Err = err
		return nil, e
	}
	w := &walker{b: b, ctx: ctx, part: part, raw: r}
	w.dec = xml.NewDecoder(w)
	w.dec.CharsetReader = func(string, io.Reader) (io.Reader, error) { return nil, errCharset }
	return w, nil
}

var (
	errCharset = errors.New("not in UTF-8")
	errRecord  = errors.New("one element is too long")
)

// Read gives the part's bytes to the decoder, which takes one token into memory whatever its length: so there is a limit here.
func (w *walker) Read(p []byte) (int, error) {
	if w.budget <= 0 {
		return 0, errRecord
	}
	n, err := w.raw.Read(p[:min(len(p), 64<<10)])
	w.budget -= int64(n)
	return n, err
}

func (w *walker) close() { w.raw.Close() }

// next gives the next start or end of an element, or text; io.EOF after the last.
func (w *walker) next() (xml.Token, error) {
	if w.tokens++; w.tokens%4096 == 0 {
		if err := w.ctx.Err(); err != nil {
			return nil, err
		}
	}
	w.budget = int64(w.b.lim.RecordBytes)
	t, err := w.dec.Token()
	switch t := t.(type) {
	case xml.StartElement:
		if w.stack = append(w.stack, t.Name); len(w.stack) > w.b.lim.XMLDepth {
			return nil, w.b.fault(source.ErrLimit, w.part, "its elements are nested deeper than "+strconv.Itoa(w.b.lim.XMLDepth), remedyLimit+" (xml_depth)")
		}
	case xml.EndElement:
		w.stack = w.stack[:len(w.stack)-1]
	case xml.Directive:
		return nil, w.b.fault(source.ErrMalformed, w.part, "it has a document type declaration, which spreadsheets don't have", remedyResave)
	}
	if err == nil || errors.Is(err, io.EOF) { // an end inside an element is a syntax error
		return t, err
	}
	e := w.b.fault(source.ErrMalformed, w.part, "its XML is not well-formed", remedyDamaged)
	var syntax *xml.SyntaxError
	switch {
	case errors.Is(err, errRecord):
		e = w.b.fault(source.ErrLimit, w.part, "one element is longer than "+strconv.Itoa(w.b.lim.RecordBytes)+" bytes", remedyLimit+" (record_bytes)")
	case errors.Is(err, errCharset):
		e = w.b.fault(source.ErrCharset, w.part, "it is not in UTF-8", remedyResave)
	case errors.As(err, &syntax):
		e.Message += ": line " + strconv.Itoa(syntax.Line) // the rest could quote the file
	case errors.Is(err, zip.ErrChecksum), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, inflate.ErrCorrupt):
		e = w.b.fault(source.ErrTruncated, w.part, "its compressed data is damaged", remedyDamaged)
	}
	if syntax == nil {
		e.Err = err
	}
	return nil, e
}

// path reports whether the open elements are these, by local name.
func (w *walker) path(names ...string) bool {
	if len(w.stack) != len(names) {
		return false
	}
	for i, n := range names {
		if w.stack[i].Local != n {
			return false
		}
	}
	return w.stack[len(names)-1].Space == nsOffice || w.stack[len(names)-1].Space == nsTable
}

// inStyles reports whether the open element stands in a list of styles.
func (w *walker) inStyles() bool {
	return len(w.stack) > 2 && w.stack[1].Space == nsOffice && (w.stack[1].Local == "automatic-styles" || w.stack[1].Local == "styles")
}

// skip reads to the end of the element that has just begun.
func (w *walker) skip() error {
	for depth := len(w.stack); len(w.stack) >= depth; {
		if _, err := w.next(); err != nil {
			return unexpected(err)
		}
	}
	return nil
}

// unexpected turns an end in the middle of an element, which the decoder reports itself, into what it is.
func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

func attr(e *xml.StartElement, space, local string) string {
	for i := range e.Attr {
		if e.Attr[i].Name.Local == local && e.Attr[i].Name.Space == space {
			return e.Attr[i].Value
		}
	}
	return ""
}

// times is how often an element is repeated; less than once is once.
func times(e *xml.StartElement, local string) int {
	n, err := strconv.Atoi(attr(e, nsTable, local))
	if err != nil || n < 1 {
		return 1
	}
	return n
}
