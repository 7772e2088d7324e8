// Package inflate decompresses DEFLATE data (RFC 1951), the body of nearly all parts of a workbook. Inflating is the floor of
// reading a large sheet: decoders that look at the input byte by byte spend most of the read here.
//
// It promises: the same bytes as compress/flate, and an error wherever that gives one; about 400 KiB of memory whatever the
// input; no panic and no hang on any input. Input after the last block is not looked at. It says nothing of checksums and
// lengths: who reads the zip directory holds the bytes against it.
package inflate

import (
	"encoding/binary"
	"errors"
	"io"
)

// ErrCorrupt is the error for input that is not DEFLATE data. Input that ends too early is io.ErrUnexpectedEOF.
var ErrCorrupt = errors.New("corrupt deflate data")

const (
	history  = 32 << 10         // how far back a match may reach
	room     = 256 << 10        // produced before it must be handed out
	longest  = 258              // of a match
	slack    = longest + 3 + 16 // written past the limit by one step of codes: literals, a match, whole words
	inBytes  = 64 << 10
	lookBack = 8  // bytes before ip that stay in the buffer, for the bits that were taken from it in advance
	padding  = 64 // zeros after the end of the input, so that reading ahead needs no check
	ahead    = 24 // bytes that one step of codes may read ahead of ip
)

// Reader decompresses a stream.
type Reader struct {
	src   io.Reader
	in    []byte // buffer; in[ip:filled] is unread
	ip    int
	limit int // a step may begin while ip is below it
	ended bool
	end   int    // where the input ends in the buffer, once ended
	bits  uint64 // next bits, the first one lowest; those above n are right too or zero
	n     uint   // bits in bits

	win    []byte
	rp, wp int // handed out, produced
	err    error

	state  state
	final  bool // the block is the last one
	stored int  // bytes left of a stored block
	fixed  bool // the tables are those of fixed blocks
	lit    literals
	dist   distances
	lens   [maxLiterals + maxDistances]uint8
}

type state uint8

const (
	header  state = iota // before a block
	copying              // in a stored block
	coded                // in a block of codes
)

// NewReader reads what r holds; size is about how many bytes come out, for the memory to spend, and 0 if nobody knows.
func NewReader(r io.Reader, size int64) *Reader {
	if size <= 0 || size > room {
		size = room
	}
	size = max(size, 4<<10)
	return &Reader{src: r, in: make([]byte, 0, min(size, inBytes)+padding), win: make([]byte, history+size+slack)}
}

// Read gives decompressed bytes.
func (d *Reader) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	for d.rp == d.wp {
		if d.err != nil {
			return 0, d.err
		}
		d.err = d.produce()
	}
	n := copy(p, d.win[d.rp:d.wp])
	d.rp += n
	return n, nil
}

// produce makes some output, all of which has been handed out before, or ends with an error. What it made before the error
// is right.
func (d *Reader) produce() error {
	if d.wp >= len(d.win)-slack {
		copy(d.win, d.win[d.wp-history:d.wp])
		d.wp, d.rp = history, history
	}
	for begin := d.wp; d.wp == begin; {
		var err error
		switch d.state {
		case header:
			err = d.header()
		case copying:
			err = d.copyStored()
		case coded:
			err = d.codes()
		}
		if errors.Is(err, ErrCorrupt) && d.over() {
			return io.ErrUnexpectedEOF // the padding is no code
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// need makes sure that a step may begin.
func (d *Reader) need() error {
	if d.ip < d.limit {
		return nil
	}
	if d.ended {
		return io.ErrUnexpectedEOF
	}
	from := max(d.ip-lookBack, 0)
	d.in = d.in[:copy(d.in, d.in[from:])]
	d.ip -= from
	for empty := 0; !d.ended && len(d.in) < d.ip+ahead+1; {
		n, err := d.src.Read(d.in[len(d.in) : cap(d.in)-padding])
		d.in = d.in[:len(d.in)+n]
		if empty++; n > 0 {
			empty = 0
		}
		switch {
		case err == nil && empty == 100:
			return io.ErrNoProgress
		case errors.Is(err, io.EOF):
			d.ended, d.end = true, len(d.in)
			d.in = append(d.in, make([]byte, padding)...)
		case err != nil:
			return err
		}
	}
	if d.limit = len(d.in) - ahead; d.ip >= d.limit {
		return io.ErrUnexpectedEOF
	}
	return nil
}

// over reports whether bits were used that the input does not have.
func (d *Reader) over() bool { return d.ended && d.ip-int(d.n>>3) > d.end }

// fill has at least 56 bits ready.
func (d *Reader) fill() error {
	if err := d.need(); err != nil {
		return err
	}
	d.bits |= binary.LittleEndian.Uint64(d.in[d.ip:]) << (d.n & 63)
	d.ip += int(63-d.n) >> 3
	d.n |= 56
	return nil
}

// take takes k bits, at most 16.
func (d *Reader) take(k uint) (int, error) {
	if d.n < k {
		if err := d.fill(); err != nil {
			return 0, err
		}
	}
	v := d.bits & (1<<k - 1)
	d.bits >>= k
	d.n -= k
	return int(v), nil
}

// header begins the next block, or ends the data.
func (d *Reader) header() error {
	if d.final {
		if d.over() {
			return io.ErrUnexpectedEOF
		}
		return io.EOF
	}
	h, err := d.take(3)
	if err != nil {
		return err
	}
	d.final = h&1 != 0
	switch h >> 1 {
	case 0:
		return d.beginStored()
	case 1:
		d.useFixed()
	case 2:
		if err := d.readTables(); err != nil {
			return err
		}
	default:
		return ErrCorrupt
	}
	if d.over() {
		return io.ErrUnexpectedEOF
	}
	d.state = coded
	return nil
}

// beginStored reads the length of a stored block, which begins at a byte.
func (d *Reader) beginStored() error {
	d.bits >>= d.n & 7
	d.n &^= 7
	size, err := d.take(16)
	if err != nil {
		return err
	}
	check, err := d.take(16)
	if err != nil {
		return err
	}
	if d.over() {
		return io.ErrUnexpectedEOF
	}
	if size^check != 0xffff {
		return ErrCorrupt
	}
	d.ip -= int(d.n >> 3)
	d.bits, d.n = 0, 0
	d.stored, d.state = size, copying
	return nil
}

func (d *Reader) copyStored() error {
	if d.stored == 0 {
		d.state = header
		return nil
	}
	have := len(d.in)
	if d.ended {
		have = d.end
	}
	if d.ip >= have {
		d.limit = 0 // what is left would do for a step, but holds no byte
		if err := d.need(); err != nil {
			return err
		}
		if have = len(d.in); d.ended {
			have = d.end
		}
	}
	n := copy(d.win[d.wp:len(d.win)-slack], d.in[d.ip:min(have, d.ip+d.stored)])
	if n == 0 {
		return io.ErrUnexpectedEOF
	}
	d.ip += n
	d.wp += n
	d.stored -= n
	return nil
}

// codes decodes a block of codes until it ends, the window is full, or more input is needed.
func (d *Reader) codes() error {
	if err := d.need(); err != nil {
		return err
	}
	in, win := d.in, d.win
	ip, wp, bits, n := d.ip, d.wp, d.bits, d.n
	lit, dist := &d.lit, &d.dist
	inLimit, outLimit := d.limit, len(win)-slack
	ended := false
	err := error(nil)
	bits |= binary.LittleEndian.Uint64(in[ip:]) << (n & 63)
	ip += int(63-n) >> 3
	n |= 56
	e := lit[bits&litMask]
	// At the begin of each round 56 bits are ready and e is what the first of them mean.
	for ip < inLimit && wp < outLimit {
		if e&isLiteral != 0 {
			// Three literals of the first table are at most 33 of the 56 bits.
			win[wp] = byte(e >> baseAt)
			wp++
			bits >>= e & 63
			n -= uint(e & 63)
			if e = lit[bits&litMask]; e&isLiteral != 0 {
				win[wp] = byte(e >> baseAt)
				wp++
				bits >>= e & 63
				n -= uint(e & 63)
				if e = lit[bits&litMask]; e&isLiteral != 0 {
					win[wp] = byte(e >> baseAt)
					wp++
					bits >>= e & 63
					n -= uint(e & 63)

					bits |= binary.LittleEndian.Uint64(in[ip:]) << (n & 63)
					ip += int(63-n) >> 3
					n |= 56
					e = lit[bits&litMask]
					continue
				}
			}
		}
		if e&isRare != 0 {
			if e&isSub != 0 {
				bits >>= litBits
				n -= litBits
				e = lit[uint64(e>>baseAt)+bits&(1<<(e>>codeAt&15)-1)]
				if e&isLiteral != 0 {
					win[wp] = byte(e >> baseAt)
					wp++
					bits >>= e & 63
					n -= uint(e & 63)

					bits |= binary.LittleEndian.Uint64(in[ip:]) << (n & 63)
					ip += int(63-n) >> 3
					n |= 56
					e = lit[bits&litMask]
					continue
				}
			}
			if e&isRare != 0 {
				if e&isEnd == 0 {
					err = ErrCorrupt
					break
				}
				bits >>= e & 63
				n -= uint(e & 63)
				ended = true
				break
			}
		}
		length := int(e>>baseAt) + int(bits&(1<<(e&63)-1)>>(e>>codeAt&15))
		bits >>= e & 63
		n -= uint(e & 63)

		bits |= binary.LittleEndian.Uint64(in[ip:]) << (n & 63)
		ip += int(63-n) >> 3
		n |= 56
		e = dist[bits&distMask]
		if e&isRare != 0 {
			if e&isSub != 0 {
				bits >>= distBits
				n -= distBits
				e = dist[uint64(e>>baseAt)+bits&(1<<(e>>codeAt&15)-1)]
			}
			if e&isRare != 0 {
				err = ErrCorrupt
				break
			}
		}
		back := int(e>>baseAt) + int(bits&(1<<(e&63)-1)>>(e>>codeAt&15))
		bits >>= e & 63
		n -= uint(e & 63)
		from := wp - back
		if from < 0 {
			err = ErrCorrupt
			break
		}
		// The next code is looked up while the match is being copied.
		bits |= binary.LittleEndian.Uint64(in[ip:]) << (n & 63)
		ip += int(63-n) >> 3
		n |= 56
		e = lit[bits&litMask]
		if back >= 8 {
			// Whole words, which may write past the end of the match: slack is there for it. Most matches are short.
			to, src := (*[longest + 8]byte)(win[wp:]), (*[longest + 8]byte)(win[from:])
			binary.LittleEndian.PutUint64(to[0:], binary.LittleEndian.Uint64(src[0:]))
			binary.LittleEndian.PutUint64(to[8:], binary.LittleEndian.Uint64(src[8:]))
			if length > 16 {
				binary.LittleEndian.PutUint64(to[16:], binary.LittleEndian.Uint64(src[16:]))
				binary.LittleEndian.PutUint64(to[24:], binary.LittleEndian.Uint64(src[24:]))
				for i := 32; i < length && i <= longest; i += 8 {
					binary.LittleEndian.PutUint64(to[i:], binary.LittleEndian.Uint64(src[i:]))
				}
			}
		} else if back == 1 {
			c := win[from]
			to := win[wp : wp+length]
			for i := range to {
				to[i] = c
			}
		} else {
			for i := range length {
				win[wp+i] = win[from+i]
			}
		}
		wp += length
	}
	d.ip, d.bits, d.n = ip, bits, n
	if d.over() {
		return io.ErrUnexpectedEOF // what was decoded from the padding is not handed out
	}
	d.wp = wp
	if ended {
		d.state = header
	}
	return err
}
