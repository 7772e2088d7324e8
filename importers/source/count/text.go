package count

import (
	"bufio"
	"context"
	"errors"
	"io"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"

	"sheetlift/importers/source"
)

// text counts the records and fields of a text file, one byte of UTF-8 after the other.
func text(ctx context.Context, in io.Reader, info source.Info) (Sheet, error) {
	switch info.Charset {
	case "utf-16le":
		in = transform.NewReader(in, unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewDecoder())
	case "utf-16be":
		in = transform.NewReader(in, unicode.UTF16(unicode.BigEndian, unicode.UseBOM).NewDecoder())
	case "windows-1252":
		in = transform.NewReader(in, charmap.Windows1252.NewDecoder())
	}
	r := bufio.NewReaderSize(in, 64<<10)
	if mark, err := r.Peek(3); err == nil && string(mark) == "\ufeff" {
		if _, err := r.Discard(3); err != nil {
			return Sheet{}, err
		}
	}
	if info.SepLine {
		if err := skipLine(r); err != nil {
			return Sheet{}, err
		}
	}
	c := counter{delimiter: info.Delimiter[0]}
	buf := make([]byte, 256<<10)
	for {
		if err := ctx.Err(); err != nil {
			return c.Sheet, err
		}
		n, err := r.Read(buf)
		c.count(buf[:n])
		if errors.Is(err, io.EOF) {
			if c.seen {
				c.endRecord()
			}
			return c.Sheet, nil
		}
		if err != nil {
			return c.Sheet, err
		}
	}
}

// counter is where counting has got to.
type counter struct {
	Sheet
	delimiter byte
	quoted    bool // in quotes
	started   bool // the field has begun with something
	full      bool // the field has text
	seen      bool // the record has a character
	wasQuote  bool // the last character closed a quote, or is the first of a doubled one
	wasCR     bool // the last character was a CR, whose LF belongs to it
}

func (s *counter) endField() {
	if s.full {
		s.Cells++
	}
	s.full, s.started, s.wasQuote = false, false, false
}

func (s *counter) endRecord() {
	s.endField()
	if s.seen {
		s.Rows++
	}
	s.seen = false
}

func (s *counter) count(b []byte) {
	for _, c := range b {
		if s.quoted {
			if c == '"' {
				s.quoted, s.wasQuote = false, true
			} else {
				s.full = true
			}
			continue
		}
		lf := s.wasCR && c == '\n'
		s.wasCR = false
		switch {
		case lf:
		case c == '"' && s.wasQuote:
			s.quoted, s.full, s.wasQuote = true, true, false
		case c == '"' && !s.started:
			s.quoted, s.started, s.seen = true, true, true
		case c == '\n' || c == '\r':
			s.wasCR = c == '\r'
			s.endRecord()
		case c == s.delimiter:
			s.seen = true
			s.endField()
		default:
			s.started, s.full, s.seen, s.wasQuote = true, true, true, false
		}
	}
}

// skipLine passes over the sep= line.
func skipLine(r *bufio.Reader) error {
	for {
		c, err := r.ReadByte()
		if err != nil || c == '\n' {
			return ignoreEOF(err)
		}
		if c == '\r' {
			if next, err := r.Peek(1); err == nil && next[0] == '\n' {
				_, err = r.Discard(1)
				return err
			}
			return nil
		}
	}
}

func ignoreEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}
