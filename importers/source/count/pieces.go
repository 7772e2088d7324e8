package count

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"io"
	"strconv"
)

// piece is what stands between two "<": a tag and the text after it. In comments and CDATA only text may be set.
type piece struct {
	name  []byte // without prefix; "/" in front of an end tag's
	attrs []byte
	empty bool // <name/>
	text  []byte
}

// eachPiece inflates a part on a goroutine of its own and calls f for each piece. The piece is valid during the call.
func eachPiece(ctx context.Context, file *zip.File, f func(p *piece)) error {
	part, err := openPart(file)
	if err != nil {
		return err
	}
	defer part.Close()
	full, free, stop := make(chan []byte, 4), make(chan []byte, 4), make(chan struct{})
	var failed error // set before full is closed
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer close(full)
		for range cap(free) {
			free <- make([]byte, 128<<10)
		}
		for {
			select {
			case <-stop:
				return
			case buf := <-free:
				n, err := io.ReadFull(part, buf[:cap(buf)])
				full <- buf[:n] // never blocks: there are no more buffers than places
				if err != nil {
					if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
						failed = err
					}
					return
				}
			}
		}
	}()
	defer func() { close(stop); <-done }()
	var (
		p      piece
		carry  []byte // begin of a piece that the last buffer cut
		first  = true // what stands before the first "<"
		within = ""   // what ends the comment or CDATA section that the pieces are in
	)
	take := func(raw []byte) {
		if first {
			first = false
			return
		}
		if within == "" && (len(raw) == 0 || raw[0] != '!') {
			p.tag(raw)
		} else {
			within = p.cut(raw, within)
		}
		f(&p)
	}
	for buf := range full {
		if err := ctx.Err(); err != nil {
			return err
		}
		rest := buf
		for {
			i := bytes.IndexByte(rest, '<')
			if i < 0 {
				carry = append(carry, rest...)
				break
			}
			raw := rest[:i]
			if len(carry) > 0 {
				carry = append(carry, raw...)
				raw = carry
			}
			take(raw)
			carry, rest = carry[:0], rest[i+1:]
		}
		free <- buf
	}
	take(carry)
	return failed
}

// cut fills the piece and gives what the following ones are within.
func (p *piece) cut(raw []byte, within string) string {
	*p = piece{}
	if within == "" {
		switch {
		case bytes.HasPrefix(raw, []byte("!--")):
			raw, within = raw[3:], "-->"
		case bytes.HasPrefix(raw, []byte("![CDATA[")):
			raw, within = raw[8:], "]]>"
		default:
			p.tag(raw)
			return ""
		}
	}
	inside, after, ended := bytes.Cut(raw, []byte(within))
	p.text = after
	if within == "]]>" && len(inside) > 0 {
		p.text = inside
	}
	if ended {
		return ""
	}
	return within
}

// tag cuts a tag at the first ">". One inside an attribute's value would cut it short, but the elements that count have no
// such attributes.
func (p *piece) tag(raw []byte) {
	*p = piece{}
	from, i := 0, 0
	for i < len(raw) && raw[i] > ' ' && raw[i] != '>' {
		if raw[i] == ':' {
			from = i + 1
		}
		i++
	}
	end := bytes.IndexByte(raw[i:], '>')
	if end < 0 {
		return
	}
	p.text = raw[i+end+1:]
	p.attrs = raw[i : i+end]
	if end := i + end; end > 0 && raw[end-1] == '/' {
		p.empty = true
		if i == end {
			i--
		} else {
			p.attrs = p.attrs[:len(p.attrs)-1]
		}
	}
	if p.name = raw[from:max(i, from)]; from > 0 && raw[0] == '/' {
		p.name = append([]byte{'/'}, p.name...)
	}
}

// attrT gives the value of the attribute t, the only one that matters to what a cell holds.
func (p *piece) attrT() string {
	a := p.attrs
	for i := 0; i < len(a); i++ {
		if a[i] != '"' && a[i] != '\'' {
			continue
		}
		end := bytes.IndexByte(a[i+1:], a[i])
		if end < 0 {
			return ""
		}
		// The name stands before the equals sign before the quote.
		k := i - 1
		for k > 0 && (a[k] == '=' || a[k] <= ' ') {
			k--
		}
		if k > 0 && a[k] == 't' && a[k-1] <= ' ' {
			return string(bytes.TrimSpace(a[i+1 : i+1+end]))
		}
		i += end + 1
	}
	return ""
}

// countStrings tells of each shared string whether it has text.
func countStrings(ctx context.Context, f *zip.File) ([]bool, error) {
	var out []bool
	phonetic, inText := 0, false
	err := eachPiece(ctx, f, func(p *piece) {
		switch string(p.name) {
		case "si":
			out = append(out, false)
		case "rPh":
			if !p.empty {
				phonetic++
			}
		case "/rPh":
			phonetic--
		case "t":
			inText = !p.empty && phonetic == 0
		case "/t":
			inText = false
		}
		if inText && len(p.text) > 0 && len(out) > 0 {
			out[len(out)-1] = true
		}
	})
	return out, err
}

// countSheet counts the rows and cells of a sheet.
func countSheet(ctx context.Context, f *zip.File, strings []bool, s *Sheet) error {
	var (
		inData, inRow, inCell    bool
		inValue, inline, inText  bool
		formula, hasValue, holds bool
		phonetic                 int
		kind                     string
		value                    []byte
	)
	endCell := func() {
		inCell = false
		full := inline
		if hasValue {
			switch kind {
			case "s":
				i, err := strconv.Atoi(string(bytes.TrimSpace(value)))
				full = err == nil && i >= 0 && i < len(strings) && strings[i]
			case "inlineStr":
				full = full || len(value) > 0
			case "str", "d":
				full = len(value) > 0
			default:
				full = len(bytes.TrimSpace(value)) > 0
			}
		}
		if full {
			s.Cells++
			holds = true
		} else if formula && !(kind == "str" && hasValue) {
			holds = true
		}
	}
	return eachPiece(ctx, f, func(p *piece) {
		switch string(p.name) {
		case "sheetData":
			inData = !p.empty
		case "/sheetData":
			inData = false
		case "row":
			inRow, holds = inData && !p.empty, false
		case "/row":
			if inRow && holds {
				s.Rows++
			}
			inRow = false
		case "c":
			if inRow && !inCell {
				inCell, kind, value = !p.empty, p.attrT(), value[:0]
				formula, hasValue, inline = false, false, false
			}
		case "/c":
			if inCell {
				endCell()
			}
		case "f":
			formula = true
		case "v":
			hasValue, inValue = true, !p.empty
		case "/v":
			inValue = false
		case "rPh":
			if !p.empty {
				phonetic++
			}
		case "/rPh":
			phonetic--
		case "t":
			inText = inCell && !p.empty && phonetic == 0
		case "/t":
			inText = false
		}
		if inCell && inValue && len(p.text) > 0 {
			value = append(value, p.text...)
		}
		if inText && len(p.text) > 0 {
			inline = true
		}
	})
}
