package xlsx

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"math"
	"strconv"
	"unicode/utf8"

	"sheetlift/importers/hugepage"
	"sheetlift/importers/source"
)

// arena holds the shared strings: all texts one after the other, and where each ends. String i is
// text[ends[i-1]:ends[i]].
type arena struct {
	text []byte
	ends []uint32
}

func (s *arena) span(i int) (off, length uint32) {
	if i > 0 {
		off = s.ends[i-1]
	}
	return off, s.ends[i] - off
}

// minItem is the shortest shared string in XML: <si/>.
const minItem = 5

// readStrings reads the shared strings part into one arena. The text is never longer than its XML, so room for the declared
// size is reserved at once: pages that are not written to cost nothing, and the arena is never copied to grow.
func (a *archive) readStrings(ctx context.Context, part int) (*arena, error) {
	w, err := a.walker(ctx, part)
	if err != nil {
		return nil, err
	}
	defer w.close()
	limit := min(a.lim.StringBytes, math.MaxUint32)
	s := &arena{text: hugepage.Room(int(min(a.entries[part].size, limit)))}
	root := false
	for !root {
		t, err := w.next()
		if err != nil {
			return nil, err
		}
		switch t.kind {
		case tokEOF:
			return s, nil
		case tokStart:
			if root = true; t.empty {
				return s, nil
			}
			n, err := strconv.Atoi(attrOr(t, "uniqueCount"))
			if err == nil && n > 0 {
				s.ends = make([]uint32, 0, min(int64(n), a.entries[part].size/minItem+1, int64(a.lim.Strings)))
				hugepage.Advise(s.ends)
			}
		}
	}
	for {
		w.fastStrings(s)
		done, err := w.oneString(s)
		if err != nil {
			return nil, err
		}
		if int64(len(s.text)) > limit {
			return nil, a.fault(source.ErrLimit, w.part, "the shared strings are longer than "+strconv.FormatInt(limit, 10)+" bytes", remedyLimit+" (string_bytes)")
		}
		if len(s.ends) > a.lim.Strings {
			return nil, a.fault(source.ErrLimit, w.part, "there are more than "+strconv.Itoa(a.lim.Strings)+" shared strings", remedyLimit+" (strings)")
		}
		if done {
			return s, nil
		}
	}
}

var (
	plainItem     = eight("<si><t>\x00") // its last byte is not looked at
	preservedItem = []byte(`<si><t xml:space="preserve">`)
	endItem       = eight("</t></si") // and >
	endItemLen    = len("</t></si>")
)

// fastStrings takes plain strings as spreadsheet programs write them, until the next one is something else, or cut.
func (w *walker) fastStrings(s *arena) {
	b, p := w.buf, w.pos
	// The limits are checked now and then; an arena of one window more than the limit is no harm.
	for range 4096 {
		switch {
		case len(b)-p < 8:
			return
		case binary.LittleEndian.Uint64(b[p:])<<8 == plainItem<<8:
			p += len("<si><t>")
		case bytes.HasPrefix(b[p:], preservedItem):
			p += len(preservedItem)
		default:
			return
		}
		text, n, ok := appendPlain(s.text, b[p:])
		if !ok {
			if n = bytes.IndexByte(b[p:], '<'); n < 0 {
				return
			}
			var err error
			if text, err = appendText(s.text, b[p:p+n]); err != nil {
				return // the slow path says where
			}
		}
		end := p + n
		if len(b)-end < endItemLen || binary.LittleEndian.Uint64(b[end:]) != endItem || b[end+8] != '>' || n > w.a.lim.CellBytes {
			return
		}
		s.text = text
		s.ends = append(s.ends, uint32(len(text)))
		p = end + endItemLen
		w.pos = p
	}
}

// oneString takes one element of any shape; done says that the part has ended.
func (w *walker) oneString(s *arena) (done bool, err error) {
	for {
		t, err := scanToken(w.buf, w.pos, w.eof)
		if err == nil && t.kind == tokStart && t.is("si") {
			text, end, err := s.text, t.end, error(nil)
			if !t.empty {
				text, end, err = appendItem(s.text, w.buf, t.end, w.eof, w.a.lim.XMLDepth)
			}
			switch {
			case errors.Is(err, errMore):
				if err := w.more(); err != nil {
					return false, w.bad(err)
				}
				continue
			case errors.Is(err, errText):
				return false, w.a.fault(source.ErrMalformed, w.part, "shared string "+strconv.Itoa(len(s.ends))+" has undecodable characters", remedyResave)
			case errors.Is(err, errDepth):
				return false, w.tooDeep()
			case err != nil:
				return false, w.bad(err)
			case len(text)-len(s.text) > w.a.lim.CellBytes:
				return false, w.a.fault(source.ErrLimit, w.part, "shared string "+strconv.Itoa(len(s.ends))+" is longer than "+strconv.Itoa(w.a.lim.CellBytes)+" bytes", remedyLimit+" (cell_bytes)")
			}
			s.text = text
			s.ends = append(s.ends, uint32(len(text)))
			w.pos = end
			return false, nil
		}
		if errors.Is(err, errMore) {
			if err := w.more(); err != nil {
				return false, w.bad(err)
			}
			continue
		}
		// Anything else is read in the ordinary way; the token is whole, so the window doesn't move.
		t, err = w.next()
		if err != nil || t.kind == tokEOF {
			return true, err
		}
		if t.kind == tokStart {
			return false, w.skip(t)
		}
		return false, nil
	}
}

// errDepth says that elements are nested too deep.
var errDepth = errors.New("nested too deep")

// appendItem appends the text of a string item (CT_Rst, ECMA-376 part 1, 18.4.8): all its t and those of its runs, but not
// of phonetic runs. p is the offset after the item's start tag; end that after its end tag.
func appendItem(dst, b []byte, p int, eof bool, maxDepth int) (text []byte, end int, err error) {
	depth, phonetic, inText := 1, 0, 0
	for {
		t, err := scanToken(b, p, eof)
		if err != nil {
			return dst, p, err
		}
		p = t.end
		switch t.kind {
		case tokStart:
			if t.empty {
				continue
			}
			if depth++; depth > maxDepth {
				return dst, p, errDepth
			}
			if t.is("rPh") && phonetic == 0 {
				phonetic = depth
			}
			if t.is("t") && phonetic == 0 && inText == 0 {
				inText = depth
			}
		case tokEnd:
			if depth == phonetic {
				phonetic = 0
			}
			if depth == inText {
				inText = 0
			}
			if depth--; depth == 0 {
				return dst, p, nil
			}
		case tokText, tokCDATA:
			if inText == 0 {
				continue
			}
			if dst, err = appendToken(dst, t); err != nil {
				return dst, p, err
			}
		case tokEOF:
			return dst, p, errBadXML
		}
	}
}

// appendToken appends the characters of a text or CDATA token.
func appendToken(dst []byte, t token) ([]byte, error) {
	if t.kind == tokText {
		return appendText(dst, t.text)
	}
	from := len(dst)
	for rest := t.text; ; {
		i := bytes.IndexByte(rest, '\r')
		if i < 0 {
			dst = append(dst, rest...)
			break
		}
		dst = append(append(dst, rest[:i]...), '\n')
		if rest = rest[i+1:]; len(rest) > 0 && rest[0] == '\n' {
			rest = rest[1:]
		}
	}
	if !utf8.Valid(dst[from:]) {
		return dst, errText
	}
	return dst[:from+len(unescape(dst[from:]))], nil
}
