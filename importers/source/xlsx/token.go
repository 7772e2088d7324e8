package xlsx

import (
	"bytes"
	"errors"
	"io"
	"strconv"

	"sheetlift/importers/source"
)

// A small XML reader on bytes: enough of XML 1.0 for what OPC allows, which excludes document type declarations (ECMA-376
// part 2, 9.1.2), so no entity is ever expanded. Names are compared without their prefix; prefix tells which one it was.

type tokenKind uint8

const (
	tokEnd   tokenKind = iota // </name>
	tokStart                  // <name …> or <name …/>
	tokText                   // character data
	tokCDATA
	tokOther // comment, processing instruction, XML declaration
	tokEOF   // nothing but white space followed
)

// token points into the window it was scanned from and is valid until the window moves.
type token struct {
	kind   tokenKind
	empty  bool   // <name …/>
	prefix []byte // without colon
	name   []byte // without prefix
	attrs  []byte // raw attributes
	text   []byte
	end    int // offset after the token
}

var (
	errMore    = errors.New("the element is cut by the window's end")
	errBadXML  = errors.New("not well-formed XML")
	errDoctype = errors.New("document type declaration")
)

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\r' || c == '\t' }

// scanToken reads the token at b[p:]. eof says that nothing follows b.
func scanToken(b []byte, p int, eof bool) (token, error) {
	if p >= len(b) {
		if eof {
			return token{kind: tokEOF, end: p}, nil
		}
		return token{}, errMore
	}
	if b[p] != '<' {
		n := bytes.IndexByte(b[p:], '<')
		if n < 0 {
			if !eof {
				return token{}, errMore
			}
			n = len(b) - p
		}
		return token{kind: tokText, text: b[p : p+n], end: p + n}, nil
	}
	if p+1 >= len(b) {
		return token{}, cut(eof)
	}
	switch b[p+1] {
	case '/':
		n := bytes.IndexByte(b[p:], '>')
		if n < 0 {
			return token{}, cut(eof)
		}
		t := token{kind: tokEnd, end: p + n + 1}
		t.prefix, t.name = splitName(bytes.TrimRight(b[p+2:p+n], " \t\r\n"))
		if len(t.name) == 0 {
			return token{}, errBadXML
		}
		return t, nil
	case '?':
		n := bytes.Index(b[p:], []byte("?>"))
		if n < 0 {
			return token{}, cut(eof)
		}
		return token{kind: tokOther, end: p + n + 2}, nil
	case '!':
		return scanDeclaration(b, p, eof)
	}
	return scanStart(b, p, eof)
}

func cut(eof bool) error {
	if eof {
		return errBadXML
	}
	return errMore
}

func scanDeclaration(b []byte, p int, eof bool) (token, error) {
	rest := b[p:]
	for _, d := range []struct {
		open, close string
		kind        tokenKind
	}{{"<!--", "-->", tokOther}, {"<![CDATA[", "]]>", tokCDATA}} {
		if bytes.HasPrefix(rest, []byte(d.open)) {
			n := bytes.Index(rest[len(d.open):], []byte(d.close))
			if n < 0 {
				return token{}, cut(eof)
			}
			start := p + len(d.open)
			return token{kind: d.kind, text: b[start : start+n], end: start + n + len(d.close)}, nil
		}
	}
	if len(rest) < len("<![CDATA[") && !eof {
		return token{}, errMore
	}
	if bytes.HasPrefix(rest, []byte("<!DOCTYPE")) || bytes.HasPrefix(rest, []byte("<!ENTITY")) {
		return token{}, errDoctype
	}
	return token{}, errBadXML
}

func scanStart(b []byte, p int, eof bool) (token, error) {
	i := p + 1
	for i < len(b) && b[i] != '>' && b[i] != '/' && !isSpace(b[i]) {
		if b[i] == '<' {
			return token{}, errBadXML
		}
		i++
	}
	t := token{kind: tokStart}
	t.prefix, t.name = splitName(b[p+1 : i])
	from := i
	for i < len(b) {
		switch c := b[i]; c {
		case '>':
			to := i
			if b[i-1] == '/' && i-1 >= from {
				t.empty = true
				to = i - 1
			}
			if len(t.name) == 0 {
				return token{}, errBadXML
			}
			t.attrs, t.end = b[from:to], i+1
			return t, nil
		case '"', '\'':
			n := bytes.IndexByte(b[i+1:], c)
			if n < 0 {
				return token{}, cut(eof)
			}
			i += n + 2
		case '<':
			return token{}, errBadXML
		default:
			i++
		}
	}
	return token{}, cut(eof)
}

func splitName(q []byte) (prefix, name []byte) {
	if i := bytes.IndexByte(q, ':'); i >= 0 {
		return q[:i], q[i+1:]
	}
	return nil, q
}

// nextAttr gives the first attribute of a raw attribute list. The value is raw: entities stand as written.
func nextAttr(a []byte) (name, value, rest []byte, ok bool) {
	i := 0
	for i < len(a) && isSpace(a[i]) {
		i++
	}
	from := i
	for i < len(a) && a[i] != '=' && !isSpace(a[i]) {
		i++
	}
	name = a[from:i]
	for i < len(a) && isSpace(a[i]) {
		i++
	}
	if len(name) == 0 || i >= len(a) || a[i] != '=' {
		return nil, nil, nil, false
	}
	for i++; i < len(a) && isSpace(a[i]); i++ {
	}
	if i >= len(a) || a[i] != '"' && a[i] != '\'' {
		return nil, nil, nil, false
	}
	n := bytes.IndexByte(a[i+1:], a[i])
	if n < 0 {
		return nil, nil, nil, false
	}
	return name, a[i+1 : i+1+n], a[i+2+n:], true
}

// attr gives the decoded value of the attribute with this local name, any prefix.
func (t *token) attr(local string) (string, bool) {
	for a := t.attrs; ; {
		name, value, rest, ok := nextAttr(a)
		if !ok {
			return "", false
		}
		if _, n := splitName(name); string(n) == local {
			return string(attrText(value)), true
		}
		a = rest
	}
}

// plainAttr is attr for an attribute without prefix.
func (t *token) plainAttr(name string) (string, bool) {
	for a := t.attrs; ; {
		n, value, rest, ok := nextAttr(a)
		if !ok {
			return "", false
		}
		if string(n) == name {
			return string(attrText(value)), true
		}
		a = rest
	}
}

func (t *token) is(name string) bool { return string(t.name) == name }

func xmlTrue(s string) bool { return s == "1" || s == "true" || s == "on" }

// walker reads the tokens of a stream in order and checks that tags are balanced and not too deep.
type walker struct {
	*stream
	a     *archive
	part  string
	names []byte // open names, one after the other
	ends  []int
	root  bool // a root element was seen
}

// next gives the next token that is no comment. Start and end tags come in balanced pairs; an empty element gives one
// token. After the root element it gives tokEOF.
func (w *walker) next() (token, error) {
	for {
		t, err := scanToken(w.buf, w.pos, w.eof)
		if errors.Is(err, errMore) {
			if err = w.more(); err == nil {
				continue
			}
		}
		if err != nil {
			return token{}, w.bad(err)
		}
		w.pos = t.end
		switch t.kind {
		case tokOther:
			continue
		case tokStart:
			w.root = true
			if !t.empty {
				err = w.push(t.name)
			}
		case tokEnd:
			err = w.pop(t.name)
		case tokText:
			if len(w.ends) == 0 {
				if len(bytes.TrimSpace(t.text)) > 0 {
					err = errBadXML
				} else {
					continue
				}
			}
		case tokEOF:
			if len(w.ends) > 0 || !w.root {
				err = io.ErrUnexpectedEOF
			}
		}
		if err != nil {
			return token{}, w.bad(err)
		}
		return t, nil
	}
}

func (w *walker) push(name []byte) error {
	if len(w.ends) >= w.a.lim.XMLDepth {
		return w.tooDeep()
	}
	w.names = append(w.names, name...)
	w.ends = append(w.ends, len(w.names))
	return nil
}

func (w *walker) tooDeep() error {
	return w.a.fault(source.ErrLimit, w.part, "its elements are nested deeper than "+strconv.Itoa(w.a.lim.XMLDepth), remedyLimit+" (xml_depth)")
}

func (w *walker) pop(name []byte) error {
	n := len(w.ends)
	if n == 0 {
		return errBadXML
	}
	from := 0
	if n > 1 {
		from = w.ends[n-2]
	}
	if !bytes.Equal(w.names[from:], name) {
		return errBadXML
	}
	w.names, w.ends = w.names[:from], w.ends[:n-1]
	return nil
}

// skip passes over the content of the element just begun.
func (w *walker) skip(t token) error {
	if t.empty {
		return nil
	}
	for depth := len(w.ends); len(w.ends) >= depth; {
		if _, err := w.next(); err != nil {
			return err
		}
	}
	return nil
}

// bad turns what scanning says into a fault with place and remedy.
func (w *walker) bad(err error) error {
	var known *source.Error
	switch {
	case errors.As(err, &known):
		return err
	case errors.Is(err, errDoctype):
		return w.a.fault(source.ErrMalformed, w.part, "it has a document type declaration, which workbooks never have: entity bombs do", "don't use this file; ask its sender for an export saved by a spreadsheet program")
	case errors.Is(err, io.ErrUnexpectedEOF):
		return w.a.fault(source.ErrTruncated, w.part, "its XML ends too early", remedyDamaged)
	case errors.Is(err, errBadXML):
		return w.a.fault(source.ErrMalformed, w.part, "it is not well-formed XML", remedyDamaged)
	}
	return err
}
