// Package compound reads compound files (MS-CFB, also called OLE2 structured storage): the containers of the old Office
// formats and of encrypted workbooks.
//
// It promises that a stream is whole or refused: all its sectors lie in the file, and none comes twice. Nothing that the file
// declares decides how much memory is taken or how long is read; the size of the file does.
package compound

import (
	"encoding/binary"
	"errors"
	"io"
	"slices"
	"strings"
	"unicode/utf16"
)

// Faults of a file.
var (
	ErrDamaged  = errors.New("the compound file is cut off or damaged")
	ErrNoStream = errors.New("the compound file has no such stream")
)

const (
	headerLen    = 512
	entryLen     = 128
	noSector     = 0xfffffffa // from here on sector numbers are marks: end of chain, free, and so on
	noEntry      = 0xffffffff
	maxDirectory = 1 << 20 // bytes of the directory: 8,192 entries
	typeStream   = 2
	cutoff       = 4096 // shorter streams share sectors
	miniShift    = 6
)

// File is a compound file.
type File struct {
	r      io.ReaderAt
	size   int64
	shift  uint     // a sector is 1<<shift bytes
	tables []uint32 // sectors of the allocation table
	mini   uint32   // first sector of the allocation table of short streams

	cached  int // which sector of the allocation table is in buf, from 1
	buf     []byte
	entries []entry
	shown   []int // the entries that count, by index
}

// entry is one object of the directory (MS-CFB 2.6.1).
type entry struct {
	name              string
	kind              byte
	left, right, down uint32
	start             uint32
	size              int64
}

// signature begins every compound file (MS-CFB 2.2).
const signature = "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"

// Open reads the tables and the directory of a compound file of size bytes.
func Open(r io.ReaderAt, size int64) (*File, error) {
	head := make([]byte, headerLen)
	if err := readAt(r, head, 0, size); err != nil {
		return nil, err
	}
	if string(head[:len(signature)]) != signature {
		return nil, ErrDamaged
	}
	f := &File{r: r, size: size, shift: uint(binary.LittleEndian.Uint16(head[30:]))}
	if f.shift != 9 && f.shift != 12 {
		return nil, ErrDamaged
	}
	f.buf = make([]byte, 1<<f.shift)
	for i := 76; i < headerLen; i += 4 {
		f.tables = append(f.tables, binary.LittleEndian.Uint32(head[i:]))
	}
	// Where the header has no room, further sectors list the rest, each naming the next (MS-CFB 2.5).
	seen := f.newVisits()
	sector := make([]byte, 1<<f.shift)
	most := int(size>>f.shift>>(f.shift-2)) + headerLen
	for next := binary.LittleEndian.Uint32(head[68:]); next < noSector; {
		if err := f.readSector(sector, next, seen); err != nil {
			return nil, err
		}
		if len(f.tables) > most { // more than the file can have sectors for
			return nil, ErrDamaged
		}
		for i := 0; i < len(sector)-4; i += 4 {
			f.tables = append(f.tables, binary.LittleEndian.Uint32(sector[i:]))
		}
		next = binary.LittleEndian.Uint32(sector[len(sector)-4:])
	}
	if err := f.readDirectory(binary.LittleEndian.Uint32(head[48:])); err != nil {
		return nil, err
	}
	f.mini = binary.LittleEndian.Uint32(head[60:])
	f.readTree()
	return f, nil
}

// readAt fills p; what lies beyond the end is damage, everything else a failure to read.
func readAt(r io.ReaderAt, p []byte, off, size int64) error {
	if off < 0 || off > size-int64(len(p)) {
		return ErrDamaged
	}
	if n, err := r.ReadAt(p, off); n < len(p) {
		return err
	}
	return nil
}

// visits has a bit for each sector of the file.
type visits []uint64

func (f *File) newVisits() visits { return make(visits, f.size>>f.shift/64+1) }

// mark reports false for a sector that was marked before or is none of the file.
func (v visits) mark(sector uint32) bool {
	word, bit := sector/64, uint64(1)<<(sector%64)
	if uint64(word) >= uint64(len(v)) || v[word]&bit != 0 {
		return false
	}
	v[word] |= bit
	return true
}

func (f *File) offset(sector uint32) int64 { return (int64(sector) + 1) << f.shift }

// readSector reads a sector of a table or of the directory.
func (f *File) readSector(p []byte, sector uint32, seen visits) error {
	if !seen.mark(sector) {
		return ErrDamaged
	}
	return readAt(f.r, p, f.offset(sector), f.size)
}

// next follows the allocation table.
func (f *File) next(sector uint32) (uint32, error) {
	per := uint32(1) << (f.shift - 2)
	i := int(sector / per)
	if i >= len(f.tables) || f.tables[i] >= noSector {
		return 0, ErrDamaged
	}
	if f.cached != i+1 {
		f.cached = 0
		off := f.offset(f.tables[i])
		f.buf = f.buf[:min(int64(cap(f.buf)), max(f.size-off, 0))] // the last sector of a file may be short
		if err := readAt(f.r, f.buf, off, f.size); err != nil {
			return 0, err
		}
		f.cached = i + 1
	}
	at := int(4 * (sector % per))
	if at+4 > len(f.buf) {
		return 0, ErrDamaged
	}
	return binary.LittleEndian.Uint32(f.buf[at:]), nil
}

func (f *File) readDirectory(sector uint32) error {
	seen := f.newVisits()
	p := make([]byte, 1<<f.shift)
	for sector < noSector {
		if len(f.entries)*entryLen >= maxDirectory {
			return ErrDamaged
		}
		if err := f.readSector(p, sector, seen); err != nil {
			return err
		}
		for e := p; len(e) >= entryLen; e = e[entryLen:] {
			f.entries = append(f.entries, f.parseEntry(e))
		}
		var err error
		if sector, err = f.next(sector); err != nil {
			return err
		}
	}
	return nil
}

func (f *File) parseEntry(e []byte) entry {
	n := entry{
		kind: e[66], left: binary.LittleEndian.Uint32(e[68:]), right: binary.LittleEndian.Uint32(e[72:]), down: binary.LittleEndian.Uint32(e[76:]),
		start: binary.LittleEndian.Uint32(e[116:]), size: int64(binary.LittleEndian.Uint32(e[120:])),
	}
	if f.shift > 9 { // else the upper half may hold anything (MS-CFB 2.6.3)
		n.size |= int64(binary.LittleEndian.Uint32(e[124:])&0x7fffffff) << 32
	}
	if length := int(binary.LittleEndian.Uint16(e[64:])); length >= 2 && length <= 64 {
		u := make([]uint16, length/2-1)
		for i := range u {
			u[i] = binary.LittleEndian.Uint16(e[2*i:])
		}
		n.name = string(utf16.Decode(u))
	}
	return n
}

// readTree finds the streams that stand in the root itself: embedded documents have streams of the same names below it. Where
// a producer did not link them, all streams count.
func (f *File) readTree() {
	if len(f.entries) > 0 {
		seen := make([]bool, len(f.entries))
		for todo := []uint32{f.entries[0].down}; len(todo) > 0; { // the first entry is the root
			i := todo[len(todo)-1]
			todo = todo[:len(todo)-1]
			if i == noEntry || int64(i) >= int64(len(seen)) || seen[i] {
				continue
			}
			seen[i] = true
			todo = append(todo, f.entries[i].left, f.entries[i].right)
			if f.entries[i].kind == typeStream {
				f.shown = append(f.shown, int(i))
			}
		}
	}
	if len(f.shown) > 0 {
		slices.Sort(f.shown)
		return
	}
	for i, e := range f.entries {
		if e.kind == typeStream {
			f.shown = append(f.shown, i)
		}
	}
}

// find gives the entry of a stream.
func (f *File) find(name string) (*entry, bool) {
	for _, i := range f.shown {
		if strings.EqualFold(f.entries[i].name, name) {
			return &f.entries[i], true
		}
	}
	return nil, false
}

// Has reports whether there is a stream of this name, in upper or lower case.
func (f *File) Has(name string) bool {
	_, ok := f.find(name)
	return ok
}

// extent is a run of sectors that follow each other.
type extent struct{ pos, off, n int64 }

// Stream is the content of a stream. It keeps where its runs of sectors lie, not what they hold.
type Stream struct {
	r       io.ReaderAt
	size    int64
	extents []extent
}

// Stream finds all sectors of the stream of this name.
func (f *File) Stream(name string) (*Stream, error) {
	e, ok := f.find(name)
	if !ok {
		return nil, ErrNoStream
	}
	if e.size >= cutoff {
		return f.long(e)
	}
	if e.size == 0 {
		return &Stream{r: f.r}, nil
	}
	root, err := f.long(&f.entries[0])
	if err != nil {
		return nil, err
	}
	table := f.miniTable()
	per := uint32(1) << (f.shift - 2)
	return chain(root, root.size, e, 0, miniShift, func(sector uint32) (uint32, error) {
		i := sector / per
		if int64(i) >= int64(len(table)) {
			return 0, ErrDamaged
		}
		var b [4]byte
		err := readAt(f.r, b[:], f.offset(table[i])+int64(sector%per)*4, f.size)
		return binary.LittleEndian.Uint32(b[:]), err
	})
}

// miniTable gives the sectors of the allocation table of short streams, as far as it can be followed.
func (f *File) miniTable() (table []uint32) {
	seen := f.newVisits()
	for next := f.mini; next < noSector && seen.mark(next); {
		table = append(table, next)
		var err error
		if next, err = f.next(next); err != nil {
			break
		}
	}
	return table
}

func (f *File) long(e *entry) (*Stream, error) {
	return chain(f.r, f.size, e, 1<<f.shift, f.shift, f.next)
}

// chain follows a stream through a container of size bytes, whose sectors begin at offset first.
func chain(r io.ReaderAt, size int64, e *entry, first int64, shift uint, next func(uint32) (uint32, error)) (*Stream, error) {
	if e.size > size {
		return nil, ErrDamaged
	}
	s := &Stream{r: r, size: e.size}
	seen := make(visits, size>>shift/64+1)
	sector := e.start
	for pos := int64(0); pos < e.size; {
		n := min(e.size-pos, 1<<shift)
		off := first + int64(sector)<<shift
		if sector >= noSector || off > size-n || !seen.mark(sector) {
			return nil, ErrDamaged
		}
		if k := len(s.extents) - 1; k >= 0 && s.extents[k].off+s.extents[k].n == off {
			s.extents[k].n += n
		} else {
			s.extents = append(s.extents, extent{pos, off, n})
		}
		if pos += n; pos < e.size {
			var err error
			if sector, err = next(sector); err != nil {
				return nil, err
			}
		}
	}
	return s, nil
}

// Size is the length of the stream.
func (s *Stream) Size() int64 { return s.size }

// ReadAt reads from offset off of the stream.
func (s *Stream) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 || off >= s.size {
		return 0, io.EOF
	}
	i, found := slices.BinarySearchFunc(s.extents, off, func(e extent, off int64) int {
		switch {
		case e.pos < off:
			return -1
		case e.pos > off:
			return 1
		}
		return 0
	})
	if !found {
		i--
	}
	n := 0
	for ; n < len(p) && i < len(s.extents); i++ {
		e := s.extents[i]
		skip := off + int64(n) - e.pos
		part := p[n:min(int64(len(p)), int64(n)+e.n-skip)]
		got, err := s.r.ReadAt(part, e.off+skip)
		if n += got; got < len(part) {
			return n, err
		}
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}
