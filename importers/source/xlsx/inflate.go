package xlsx

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"strings"
	"sync"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/transform"

	"sheetlift/importers/source"
	"sheetlift/importers/source/inflate"
)

const (
	chunkSize = 64 << 10 // one recycled buffer
	chunkHead = 16 << 10 // room in front of a chunk for the element that the last one cut
	chunks    = 16
)

// checked reads the decompressed bytes of an entry and holds it to its declared size and checksum.
type checked struct {
	r    io.Reader
	a    *archive
	e    *entry
	n    int64
	hash uint32
	also io.WriteCloser // source.Options.Parts; nil if nobody else wants the bytes
}

func (c *checked) Read(p []byte) (int, error) {
	n, err := c.read(p)
	if c.also == nil {
		return n, err
	}
	if n > 0 {
		if _, failed := c.also.Write(p[:n]); failed != nil {
			return 0, failed
		}
	}
	if err != nil {
		also := c.also
		c.also = nil
		if errors.Is(err, io.EOF) {
			if failed := also.Close(); failed != nil {
				return n, failed
			}
		}
	}
	return n, err
}

func (c *checked) read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.hash = crc32.Update(c.hash, crc32.IEEETable, p[:n])
	if c.n += int64(n); c.n > c.e.size {
		return 0, c.a.fault(source.ErrMalformed, c.e.name, "it holds more bytes than the zip directory declares", remedyDamaged)
	}
	if err == nil {
		return n, nil
	}
	if !errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		f := c.a.fault(source.ErrMalformed, c.e.name, "its compressed data is damaged", remedyDamaged)
		f.Err = err
		return n, f
	}
	if c.n != c.e.size {
		return n, c.a.fault(source.ErrTruncated, c.e.name, "it holds fewer bytes than the zip directory declares", remedyDamaged)
	}
	if c.hash != c.e.crc {
		return n, c.a.fault(source.ErrMalformed, c.e.name, "its checksum is wrong: the bytes were changed after the zip was made", remedyDamaged)
	}
	return n, io.EOF
}

// open gives the decompressed bytes of entry i as UTF-8 XML text.
func (a *archive) open(i int) (io.Reader, error) {
	r, err := a.raw(i)
	if err != nil {
		return nil, err
	}
	return a.decodeXML(a.entries[i].name, r)
}

// raw gives the decompressed bytes of entry i.
func (a *archive) raw(i int) (io.Reader, error) {
	sec, err := a.section(i)
	if err != nil {
		return nil, err
	}
	e := &a.entries[i]
	var r io.Reader = sec
	if e.method == methodFlate {
		r = inflate.NewReader(sec, e.size)
	}
	c := &checked{r: r, a: a, e: e}
	if a.parts != nil {
		c.also = a.parts(e.name)
	}
	return c, nil
}

// decodeXML turns a part into UTF-8 (XML 1.0 appendix F): a byte order mark, the NULs of UTF-16, or the declaration decide.
func (a *archive) decodeXML(part string, r io.Reader) (io.Reader, error) {
	head := make([]byte, 256)
	n, err := io.ReadFull(r, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, err
	}
	head = head[:n]
	var rest io.Reader = r
	if err != nil {
		rest = bytes.NewReader(nil) // the end, already checked
	}
	whole := func(skip int) io.Reader { return io.MultiReader(bytes.NewReader(head[skip:]), rest) }
	switch {
	case bytes.HasPrefix(head, []byte{0xef, 0xbb, 0xbf}):
		return whole(3), nil
	case bytes.HasPrefix(head, []byte{0, 0, 0xfe, 0xff}), bytes.HasPrefix(head, []byte{0xff, 0xfe, 0, 0}),
		bytes.HasPrefix(head, []byte{0, 0, 0, '<'}), bytes.HasPrefix(head, []byte{'<', 0, 0, 0}):
		return nil, a.fault(source.ErrUnsupported, part, "it is encoded as UTF-32", remedyResave)
	case bytes.HasPrefix(head, []byte{0xff, 0xfe}):
		return &utf16Reader{r: whole(2), order: binary.LittleEndian}, nil
	case bytes.HasPrefix(head, []byte{0xfe, 0xff}):
		return &utf16Reader{r: whole(2), order: binary.BigEndian}, nil
	case bytes.HasPrefix(head, []byte{'<', 0}):
		return &utf16Reader{r: whole(0), order: binary.LittleEndian}, nil
	case bytes.HasPrefix(head, []byte{0, '<'}):
		return &utf16Reader{r: whole(0), order: binary.BigEndian}, nil
	}
	switch name := declaredEncoding(head); name {
	case "", "utf-8", "utf8", "us-ascii", "ascii":
		return whole(0), nil
	case "utf-16", "utf-16le", "utf-16be":
		return whole(0), nil // what it says is untrue: the declaration itself was readable as single bytes
	default:
		enc, err := htmlindex.Get(name)
		if err != nil {
			return nil, a.fault(source.ErrUnsupported, part, "its XML encoding is not known", remedyResave)
		}
		return transform.NewReader(whole(0), enc.NewDecoder()), nil
	}
}

// declaredEncoding gives the encoding of an XML declaration in lower case, or "".
func declaredEncoding(head []byte) string {
	if !bytes.HasPrefix(head, []byte("<?xml")) {
		return ""
	}
	end := bytes.Index(head, []byte("?>"))
	if end < 0 {
		return ""
	}
	for a := head[5:end]; ; {
		name, value, rest, ok := nextAttr(a)
		if !ok {
			return ""
		}
		if string(name) == "encoding" {
			return strings.ToLower(string(value))
		}
		a = rest
	}
}

// utf16Reader transcodes UTF-16 to UTF-8. Parts in UTF-16 are rare, so it is simple rather than fast.
type utf16Reader struct {
	r     io.Reader
	order binary.ByteOrder
	in    [4096]byte
	held  int    // bytes in in
	out   []byte // decoded, not handed out yet
	err   error
}

func (u *utf16Reader) Read(p []byte) (int, error) {
	for len(u.out) == 0 {
		if u.err != nil {
			return 0, u.err
		}
		n, err := u.r.Read(u.in[u.held:])
		u.held += n
		u.err = err
		at := 0
		for at+2 <= u.held {
			c := rune(u.order.Uint16(u.in[at:]))
			if utf16.IsSurrogate(c) {
				if at+4 > u.held && u.err == nil {
					break
				}
				second := rune(0)
				if at+4 <= u.held {
					second = rune(u.order.Uint16(u.in[at+2:]))
				}
				if c = utf16.DecodeRune(c, second); c != utf8.RuneError {
					at += 2
				} else {
					// An unpaired surrogate is no character: an invalid byte makes the text check refuse it.
					u.out = append(u.out, 0xff)
					at += 2
					continue
				}
			}
			u.out = utf8.AppendRune(u.out, c)
			at += 2
		}
		if u.err != nil && at < u.held {
			u.out, at = append(u.out, 0xff), u.held
		}
		u.held = copy(u.in[:], u.in[at:u.held])
	}
	n := copy(p, u.out)
	u.out = u.out[:copy(u.out, u.out[n:])]
	return n, nil
}

// chunk is one recycled buffer: n bytes of text from chunkHead on.
type chunk struct {
	buf []byte
	n   int
	err error // after these bytes; io.EOF at the end
}

// pipe inflates a part on its own goroutine into recycled buffers.
type pipe struct {
	full chan *chunk
	free chan *chunk
	stop chan struct{}
	once sync.Once
	done sync.WaitGroup
	size int // of a chunk
}

// newPipe begins to inflate; a part of a size below a chunk's gets chunks no larger than it.
func newPipe(r io.Reader, size int64) *pipe {
	p := &pipe{size: int(min(max(size, 1<<10), chunkSize)), full: make(chan *chunk, chunks), free: make(chan *chunk, chunks), stop: make(chan struct{})}
	for range chunks {
		p.free <- &chunk{}
	}
	p.done.Add(1)
	go p.run(r)
	return p
}

func (p *pipe) run(r io.Reader) {
	defer p.done.Done()
	for {
		var c *chunk
		select {
		case c = <-p.free:
		case <-p.stop:
			return
		}
		if c.buf == nil {
			c.buf = make([]byte, chunkHead+p.size)
		}
		c.n, c.err = readFull(r, c.buf[chunkHead:])
		end := c.err != nil
		select {
		case p.full <- c:
		case <-p.stop:
			return
		}
		if end {
			return
		}
	}
}

// readFull fills p; a short read comes with the error that ended it, io.EOF at the plain end. A decoder that panics on
// damaged input is a damaged part, not a crash.
func readFull(r io.Reader, p []byte) (n int, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = errors.New("the decoder gave up on damaged data")
		}
	}()
	for n < len(p) && err == nil {
		var k int
		k, err = r.Read(p[n:])
		n += k
	}
	return n, err
}

// close stops the goroutine and waits for it.
func (p *pipe) close() {
	p.once.Do(func() { close(p.stop) })
	p.done.Wait()
}

// stream is a window onto a part: buf[pos:] is what has been inflated and not consumed. An element is parsed in place; when
// it is cut by the window's end, more moves what there is of it in front of the next chunk.
type stream struct {
	ctx  context.Context
	p    *pipe
	cur  *chunk // chunk that buf lies in; nil when buf is a buffer of our own
	buf  []byte
	pos  int
	eof  bool
	max  int // longest element
	over func() error
	came int64 // bytes so far
}

func newStream(ctx context.Context, r io.Reader, size int64, longest int, over func() error) *stream {
	return &stream{ctx: ctx, p: newPipe(r, size), max: longest, over: over}
}

// more adds bytes to the window and moves pos to 0. It returns io.ErrUnexpectedEOF when there are none.
func (s *stream) more() error {
	if s.eof {
		return io.ErrUnexpectedEOF
	}
	tail := len(s.buf) - s.pos
	if tail > s.max {
		return s.over()
	}
	// A long element is read in doubling steps, so that parsing it again each time stays linear.
	for want := len(s.buf) - s.pos; ; {
		if err := s.next(); err != nil {
			return err
		}
		if s.eof || len(s.buf)-s.pos >= 2*want || len(s.buf)-s.pos > s.max {
			return nil
		}
	}
}

func (s *stream) next() error {
	if err := s.ctx.Err(); err != nil {
		return err
	}
	c := <-s.p.full
	if c.err != nil && !errors.Is(c.err, io.EOF) {
		return c.err
	}
	s.eof = c.err != nil
	s.came += int64(c.n)
	tail := s.buf[s.pos:]
	if len(tail) <= chunkHead {
		at := chunkHead - len(tail)
		copy(c.buf[at:], tail)
		s.recycle()
		s.cur, s.buf, s.pos = c, c.buf[at:chunkHead+c.n], 0
		return nil
	}
	if s.cur == nil {
		if s.pos > 0 {
			s.buf = s.buf[:copy(s.buf, tail)]
		}
		s.buf = append(s.buf, c.buf[chunkHead:chunkHead+c.n]...)
	} else {
		own := make([]byte, 0, 2*(len(tail)+c.n))
		s.buf = append(append(own, tail...), c.buf[chunkHead:chunkHead+c.n]...)
		s.recycle()
	}
	s.pos, s.cur = 0, nil
	s.p.free <- c
	return nil
}

func (s *stream) recycle() {
	if s.cur != nil {
		s.p.free <- s.cur
		s.cur = nil
	}
}

func (s *stream) close() { s.p.close() }
