package xls

import (
	"encoding/binary"
	"errors"
	"io"
	"strconv"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"

	"sheetlift/importers/source"
	"sheetlift/importers/source/biff"
)

// text reads the content of a record that goes on in CONTINUE records.
type text struct {
	r     *records
	body  []byte
	small [8]byte
	units []byte // UTF-16 of the string being read
}

// more goes on to the CONTINUE record; io.ErrUnexpectedEOF if there is none.
func (t *text) more() error {
	rec, ok, err := t.r.follows(recContinue)
	if err == nil && !ok {
		err = io.ErrUnexpectedEOF
	}
	t.body = rec.body
	return err
}

// take gives n bytes, at most 8, that may be split between records.
func (t *text) take(n int) ([]byte, error) {
	if len(t.body) >= n {
		p := t.body[:n]
		t.body = t.body[n:]
		return p, nil
	}
	return t.fill(t.small[:0], n)
}

// bytes gives n bytes, at most 65,535, wherever the records are split.
func (t *text) bytes(n int) ([]byte, error) {
	return t.fill(make([]byte, 0, min(n, len(t.body))), n)
}

// fill makes p n bytes long with those that follow.
func (t *text) fill(p []byte, n int) ([]byte, error) {
	for len(p) < n {
		if len(t.body) == 0 {
			if err := t.more(); err != nil {
				return nil, err
			}
			continue
		}
		k := min(n-len(p), len(t.body))
		p = append(p, t.body[:k]...)
		t.body = t.body[k:]
	}
	return p, nil
}

// skip passes n bytes over.
func (t *text) skip(n int64) error {
	for n > int64(len(t.body)) {
		n -= int64(len(t.body))
		if err := t.more(); err != nil {
			return err
		}
	}
	t.body = t.body[n:]
	return nil
}

const (
	flagWide     = 1 << 0
	flagPhonetic = 1 << 2
	flagRich     = 1 << 3
)

// unicode appends a string of BIFF8 (MS-XLS 2.5.293) whose count of characters has been read, and passes over its formatting
// runs and phonetic text.
func (t *text) unicode(dst []byte, n int) ([]byte, error) {
	p, err := t.take(1)
	if err != nil {
		return dst, err
	}
	flags := p[0]
	var after int64
	if flags&flagRich != 0 {
		if p, err = t.take(2); err != nil {
			return dst, err
		}
		after = 4 * int64(binary.LittleEndian.Uint16(p))
	}
	if flags&flagPhonetic != 0 {
		if p, err = t.take(4); err != nil {
			return dst, err
		}
		after += int64(binary.LittleEndian.Uint32(p))
	}
	if dst, err = t.chars(dst, n, flags&flagWide != 0); err != nil {
		return dst, err
	}
	return dst, t.skip(after)
}

// chars appends n characters. Each record that they go on in begins with a byte that says whether they are of one byte or two
// from there on.
func (t *text) chars(dst []byte, n int, wide bool) ([]byte, error) {
	if n > 0 && !wide && n <= len(t.body) { // all of it here, one byte each
		for _, c := range t.body[:n] {
			dst = utf8.AppendRune(dst, rune(c))
		}
		t.body = t.body[n:]
		return dst, nil
	}
	t.units = t.units[:0]
	for n > 0 {
		if len(t.body) == 0 {
			if err := t.more(); err != nil {
				return dst, err
			}
			if len(t.body) == 0 {
				continue
			}
			wide = t.body[0]&flagWide != 0
			t.body = t.body[1:]
			continue
		}
		if wide {
			k := min(n, len(t.body)/2)
			if k == 0 {
				return dst, errText // half a character
			}
			t.units = append(t.units, t.body[:2*k]...)
			t.body, n = t.body[2*k:], n-k
			continue
		}
		k := min(n, len(t.body))
		for _, c := range t.body[:k] {
			t.units = append(t.units, c, 0)
		}
		t.body, n = t.body[k:], n-k
	}
	dst, ok := biff.AppendUTF16(dst, t.units)
	if !ok {
		return dst, errText
	}
	return dst, nil
}

var (
	errText    = errors.New("characters that can't be decoded")
	errCharset = errors.New("letters of an unnamed code page")
)

// textFault says what is wrong with a text; what names the text.
func (b *Book) textFault(err error, what string) error {
	switch {
	case errors.Is(err, errCharset):
		return b.fault(source.ErrCharset, what+" has letters beyond ASCII, and the file does not name its code page", "find out what it was written in and say so (charset in batch.yaml, --charset of cells)")
	case errors.Is(err, errText):
		return b.fault(source.ErrCharset, what+" has undecodable characters", biff.RemedyResave)
	}
	return b.cut(err)
}

// codePages are the code pages of byte strings by their numbers (MS-XLS 2.4.52).
var codePages = map[uint16]encoding.Encoding{
	437: charmap.CodePage437, 850: charmap.CodePage850, 852: charmap.CodePage852, 855: charmap.CodePage855, 858: charmap.CodePage858,
	860: charmap.CodePage860, 862: charmap.CodePage862, 863: charmap.CodePage863, 865: charmap.CodePage865, 866: charmap.CodePage866,
	874: charmap.Windows874, 1250: charmap.Windows1250, 1251: charmap.Windows1251, 1252: charmap.Windows1252, 1253: charmap.Windows1253,
	1254: charmap.Windows1254, 1255: charmap.Windows1255, 1256: charmap.Windows1256, 1257: charmap.Windows1257, 1258: charmap.Windows1258,
	932: japanese.ShiftJIS, 936: simplifiedchinese.GBK, 949: korean.EUCKR, 950: traditionalchinese.Big5,
	10000: charmap.Macintosh, 10007: charmap.MacintoshCyrillic, 0x8000: charmap.Macintosh, 0x8001: charmap.Windows1252,
	65001: encoding.Nop,
}

// setCodePage takes a CODEPAGE record.
func (b *Book) setCodePage(page uint16) error {
	if page == 367 || page == 1200 { // ASCII; UTF-16, which has no byte strings
		return nil
	}
	e, ok := codePages[page]
	if !ok {
		return b.fault(source.ErrUnsupported, "its text is encoded in code page "+strconv.Itoa(int(page))+", which isn't known", biff.RemedyResave)
	}
	b.charset = e
	return nil
}

// declared takes the operator's word for the code page of a file that does not name one.
func (b *Book) declared(charset string) error {
	if b.charset != nil || charset == "" {
		return nil
	}
	e, err := htmlindex.Get(charset)
	if err != nil {
		return b.fault(source.ErrCharset, "the charset "+strconv.Quote(charset)+" isn't known", "name one as web pages do, such as windows-1252")
	}
	b.charset, b.info.Charset = e, charset
	return nil
}

// appendBytes appends a byte string as UTF-8.
func (b *Book) appendBytes(dst, raw []byte) ([]byte, error) {
	ascii := true
	for _, c := range raw {
		ascii = ascii && c < utf8.RuneSelf
	}
	if ascii {
		return append(dst, raw...), nil
	}
	if b.charset == nil {
		return dst, errCharset
	}
	from := len(dst)
	decoded, err := b.charset.NewDecoder().Bytes(raw)
	if err != nil {
		return dst, errText
	}
	dst = append(dst, decoded...)
	// Decoders give U+FFFD for what they can't decode.
	for rest := dst[from:]; len(rest) > 0; {
		c, n := utf8.DecodeRune(rest)
		if c == utf8.RuneError {
			return dst, errText
		}
		rest = rest[n:]
	}
	return dst, nil
}
