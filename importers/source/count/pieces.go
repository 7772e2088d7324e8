package count

import (
	"archive/zip"
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
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
	ahead, w := io.Pipe()
	defer ahead.Close()
	go func() {
		_, err := io.CopyBuffer(struct{ io.Writer }{w}, struct{ io.Reader }{part}, make([]byte, 256<<10))
		w.CloseWithError(err)
	}()
	r := bufio.NewReaderSize(ahead, 256<<10)
	var long []byte
	var p piece
	within := "" // what ends the comment or CDATA section that the pieces are in
	for n := 0; ; n++ {
		if n%(1<<16) == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		raw, err := r.ReadSlice('<')
		for long = long[:0]; errors.Is(err, bufio.ErrBufferFull); raw = long {
			long = append(long, raw...)
			raw, err = r.ReadSlice('<')
			long = append(long, raw...)
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if err == nil {
			raw = raw[:len(raw)-1]
		}
		if n > 0 {
			within = p.cut(raw, within)
			f(&p)
		}
		if err != nil {
			return nil
		}
	}
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

func (p *piece) tag(raw []byte) {
	end := bytes.IndexByte(raw, '>')
	for end >= 0 && bytes.Count(raw[:end], []byte{'"'})%2 == 1 {
		next := bytes.IndexByte(raw[end+1:], '>')
		if next < 0 {
			break
		}
		end += 1 + next
	}
	if end < 0 {
		return
	}
	p.text = raw[end+1:]
	tag := raw[:end]
	if n := len(tag); n > 0 && tag[n-1] == '/' {
		tag, p.empty = tag[:n-1], true
	}
	p.name = tag
	if i := bytes.IndexAny(tag, " \t\r\n"); i >= 0 {
		p.name, p.attrs = tag[:i], tag[i:]
	}
	if i := bytes.IndexByte(p.name, ':'); i >= 0 {
		if p.name[0] == '/' {
			p.name = append([]byte{'/'}, p.name[i+1:]...)
		} else {
			p.name = p.name[i+1:]
		}
	}
}

// attrT gives the value of the attribute t, the only one that matters to what a cell holds.
func (p *piece) attrT() string {
	a := p.attrs
	for {
		i := bytes.IndexByte(a, '=')
		if i < 0 {
			return ""
		}
		name := bytes.TrimSpace(a[:i])
		a = bytes.TrimLeft(a[i+1:], " \t\r\n")
		if len(a) == 0 {
			return ""
		}
		end := bytes.IndexByte(a[1:], a[0])
		if end < 0 {
			return ""
		}
		if string(name) == "t" {
			return string(bytes.TrimSpace(a[1 : 1+end]))
		}
		a = a[end+2:]
	}
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
				i := 0
				for _, c := range bytes.TrimSpace(value) {
					i = i*10 + int(c-'0')
				}
				full = len(bytes.TrimSpace(value)) > 0 && i < len(strings) && strings[i]
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
