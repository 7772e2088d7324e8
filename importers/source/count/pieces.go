package count

import (
	"bytes"

	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// cutter cuts the text of a part, in whatever lengths it comes, at each "<" and gives what follows up to the next one: a tag
// and the text after it.
type cutter struct {
	take  func(raw []byte) // raw is valid during the call
	carry []byte           // begin of a piece whose end has not come yet
	begun bool             // the first "<" has come; what stands before it is no piece
}

// Write takes the next text. It never fails.
func (c *cutter) Write(text []byte) (int, error) {
	rest := text
	for {
		i := 3 // /v> /c> /t> si>
		if len(rest) < 4 || rest[3] != '<' || rest[2] != '>' || rest[1] == '<' || rest[0] == '<' {
			i = bytes.IndexByte(rest, '<')
		}
		if i < 0 {
			c.carry = append(c.carry, rest...)
			return len(text), nil
		}
		raw := rest[:i]
		if len(c.carry) > 0 {
			c.carry = append(c.carry, raw...)
			raw = c.carry
		}
		if c.begun {
			c.take(raw)
		}
		c.begun = true
		c.carry, rest = c.carry[:0], rest[i+1:]
	}
}

// Close takes the last piece.
func (c *cutter) Close() error {
	if c.begun {
		c.take(c.carry)
	}
	c.carry, c.begun = c.carry[:0], false
	return nil
}

// piece is a tag and the text after it. In comments and CDATA only text may be set.
type piece struct {
	name   []byte // without prefix
	end    bool   // </name>
	empty  bool   // <name/>
	attrs  []byte
	text   []byte
	within string // what ends the comment or CDATA section that this piece and those after it are in
}

// read fills p with a piece, given what the one before it was within.
func (p *piece) read(raw []byte) {
	if p.within == "" && (len(raw) == 0 || raw[0] != '!') {
		p.tag(raw)
		return
	}
	within := p.within
	*p = piece{}
	if within == "" {
		switch {
		case bytes.HasPrefix(raw, []byte("!--")):
			raw, within = raw[3:], "-->"
		case bytes.HasPrefix(raw, []byte("![CDATA[")):
			raw, within = raw[8:], "]]>"
		default:
			p.tag(raw)
			return
		}
	}
	inside, after, ended := bytes.Cut(raw, []byte(within))
	p.text = after
	if within == "]]>" && len(inside) > 0 {
		p.text = inside
	}
	if !ended {
		p.within = within
	}
}

// tag reads a tag up to the first ">" that is not in quotes.
func (p *piece) tag(raw []byte) {
	*p = piece{}
	i := 0
	if p.end = len(raw) > 0 && raw[0] == '/'; p.end {
		i = 1
	}
	from := i
	for i < len(raw) && raw[i] > ' ' && raw[i] != '>' && raw[i] != '/' {
		if raw[i] == ':' {
			from = i + 1
		}
		i++
	}
	p.name = raw[from:i]
	end := tagEnd(raw, i)
	if end < 0 {
		p.name = nil
		return
	}
	p.attrs, p.text = raw[i:end], raw[end+1:]
	if n := len(p.attrs); n > 0 && p.attrs[n-1] == '/' {
		p.empty, p.attrs = true, p.attrs[:n-1]
	}
}

// tagEnd finds the ">" that ends a tag: one in quotes is part of an attribute.
func tagEnd(raw []byte, from int) int {
	end := bytes.IndexByte(raw[from:], '>')
	if end < 0 {
		return -1
	}
	attrs := raw[from : from+end]
	if bytes.IndexByte(attrs, '\'') < 0 && bytes.Count(attrs, []byte{'"'})%2 == 0 {
		return from + end
	}
	quote := byte(0)
	for k := from; k < len(raw); k++ {
		switch c := raw[k]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '>':
			return k
		}
	}
	return -1
}

// attribute gives the next attribute of a tag and what follows it; an empty name is the end.
func attribute(attrs []byte) (name, value, rest []byte) {
	i := 0
	for i < len(attrs) && attrs[i] <= ' ' {
		i++
	}
	from := i
	for i < len(attrs) && attrs[i] > ' ' && attrs[i] != '=' && attrs[i] != '>' {
		i++
	}
	name = attrs[from:i]
	for i < len(attrs) && (attrs[i] <= ' ' || attrs[i] == '=') {
		i++
	}
	if i == len(attrs) || attrs[i] != '"' && attrs[i] != '\'' {
		return nil, nil, attrs[from:] // the end of the tag, or no attribute
	}
	quote := attrs[i]
	i++
	for from = i; i < len(attrs); i++ {
		if attrs[i] == quote {
			return name, attrs[from:i], attrs[i+1:]
		}
	}
	return nil, nil, nil
}

// headBytes is what the encoding of a part is told from.
const headBytes = 100

// decoder gives what turns a part that begins with head into UTF-8, or nil where it is that.
func decoder(head []byte) transform.Transformer {
	switch {
	case bytes.HasPrefix(head, []byte{0xff, 0xfe}), bytes.HasPrefix(head, []byte("<\x00")):
		return unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewDecoder()
	case bytes.HasPrefix(head, []byte{0xfe, 0xff}), bytes.HasPrefix(head, []byte("\x00<")):
		return unicode.UTF16(unicode.BigEndian, unicode.UseBOM).NewDecoder()
	case !bytes.HasPrefix(bytes.TrimPrefix(head, []byte("\ufeff")), []byte("<?xml")):
		return nil
	}
	_, after, ok := bytes.Cut(head, []byte("encoding="))
	if !ok || len(after) == 0 {
		return nil
	}
	name, _, _ := bytes.Cut(after[1:], after[:1])
	enc, err := htmlindex.Get(string(name))
	if err != nil || bytes.HasPrefix(bytes.ToLower(name), []byte("utf")) {
		return nil
	}
	return enc.NewDecoder()
}

// decoded passes the text of a part on as UTF-8.
type decoded struct {
	to   *cutter
	head []byte
	out  interface { // nil until the encoding is known
		Write([]byte) (int, error)
		Close() error
	}
}

// Write takes the next bytes of the part.
func (d *decoded) Write(b []byte) (int, error) {
	if d.out != nil {
		return d.out.Write(b)
	}
	if d.head = append(d.head, b...); len(d.head) < headBytes {
		return len(b), nil
	}
	return len(b), d.start()
}

func (d *decoded) start() error {
	d.out = d.to
	if t := decoder(d.head); t != nil {
		d.out = transform.NewWriter(d.to, t)
	}
	_, err := d.out.Write(d.head)
	d.head = nil
	return err
}

// Close ends the part.
func (d *decoded) Close() error {
	if d.out == nil {
		if err := d.start(); err != nil {
			return err
		}
	}
	if err := d.out.Close(); err != nil || d.out == d.to {
		return err
	}
	return d.to.Close()
}
