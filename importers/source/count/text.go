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

// text counts the records and fields of a text file, one character after the other.
func text(ctx context.Context, in io.Reader, info source.Info) (Sheet, error) {
	switch info.Charset {
	case "utf-16le":
		in = transform.NewReader(in, unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewDecoder())
	case "utf-16be":
		in = transform.NewReader(in, unicode.UTF16(unicode.BigEndian, unicode.UseBOM).NewDecoder())
	case "windows-1252":
		in = transform.NewReader(in, charmap.Windows1252.NewDecoder())
	default:
		in = transform.NewReader(in, unicode.UTF8BOM.NewDecoder())
	}
	r := bufio.NewReaderSize(in, 256<<10)
	if info.SepLine {
		if err := skipLine(r); err != nil {
			return Sheet{}, err
		}
	}
	var (
		s               Sheet
		quoted, started bool // in quotes; the field has begun with something
		full, seen      bool // the field has text; the record has a character
		wasQuote        bool // the last character closed a quote, or doubled it
		wasCR           bool
	)
	endField := func() {
		if full {
			s.Cells++
		}
		full, started, wasQuote = false, false, false
	}
	endRecord := func() {
		endField()
		if seen {
			s.Rows++
		}
		seen = false
	}
	for n := 0; ; n++ {
		if n%(1<<20) == 0 && ctx.Err() != nil {
			return s, ctx.Err()
		}
		c, err := r.ReadByte()
		if errors.Is(err, io.EOF) {
			if seen {
				endRecord()
			}
			return s, nil
		}
		if err != nil {
			return s, err
		}
		if c == '\n' && wasCR {
			wasCR = false
			continue
		}
		wasCR = false
		if quoted {
			if c == '"' {
				quoted, wasQuote = false, true
			} else {
				full = true
			}
			continue
		}
		switch {
		case c == '"' && wasQuote:
			quoted, full, wasQuote = true, true, false
		case c == '"' && !started:
			quoted, started, seen = true, true, true
		case c == '\n' || c == '\r':
			wasCR = c == '\r'
			endRecord()
		case c == info.Delimiter[0]:
			seen = true
			endField()
		default:
			started, full, seen, wasQuote = true, true, true, false
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
