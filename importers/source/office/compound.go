package office

import (
	"encoding/binary"
	"errors"
	"io"
	"strings"
	"unicode/utf16"
)

// compound is as much of a compound file (MS-CFB) as tells whether the workbook in it is whole and whether it is protected.
type compound struct {
	r      io.ReaderAt
	size   int64
	shift  uint16   // a sector is 1<<shift bytes
	tables []uint32 // sectors of the allocation table
}

const lastSector = 0xfffffffa // above it are marks: end of chain, free, and so on

var errCut = errors.New("the compound file is cut off or damaged")

func openCompound(r io.ReaderAt, size int64) (*compound, error) {
	head := make([]byte, 512)
	if _, err := r.ReadAt(head, 0); err != nil {
		return nil, errCut
	}
	c := &compound{r: r, size: size, shift: binary.LittleEndian.Uint16(head[30:])}
	if c.shift != 9 && c.shift != 12 {
		return nil, errCut
	}
	for i := 76; i < 512; i += 4 {
		c.tables = append(c.tables, binary.LittleEndian.Uint32(head[i:]))
	}
	// Where the header has no room, further sectors list the rest, each naming the next (MS-CFB 2.5).
	sector := make([]byte, 1<<c.shift)
	for next := binary.LittleEndian.Uint32(head[68:]); next < lastSector; {
		if err := c.read(sector, next); err != nil || int64(len(c.tables)) > size>>c.shift+109 {
			return nil, errCut
		}
		for i := 0; i < len(sector)-4; i += 4 {
			c.tables = append(c.tables, binary.LittleEndian.Uint32(sector[i:]))
		}
		next = binary.LittleEndian.Uint32(sector[len(sector)-4:])
	}
	return c, nil
}

// read fills p from the beginning of a sector. The last sector of a file may be short.
func (c *compound) read(p []byte, sector uint32) error {
	off := (int64(sector) + 1) << c.shift
	if off >= c.size {
		return errCut
	}
	n, err := c.r.ReadAt(p, off)
	clear(p[n:])
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}

// next follows the allocation table.
func (c *compound) next(sector uint32) (uint32, error) {
	per := uint32(1) << (c.shift - 2)
	if i := sector / per; uint64(i) < uint64(len(c.tables)) && c.tables[i] < lastSector {
		var b [4]byte
		_, err := c.r.ReadAt(b[:], (int64(c.tables[i])+1)<<c.shift+int64(sector%per)*4)
		if err != nil {
			return 0, errCut
		}
		return binary.LittleEndian.Uint32(b[:]), nil
	}
	return 0, errCut
}

// workbook finds the first sector and the length of the workbook's stream.
func (c *compound) workbook() (start uint32, length int64, err error) {
	head := make([]byte, 4)
	if _, err := c.r.ReadAt(head, 48); err != nil {
		return 0, 0, errCut
	}
	sector := make([]byte, 1<<c.shift)
	dir := binary.LittleEndian.Uint32(head)
	for n := int64(0); dir < lastSector; n++ {
		if n > c.size>>c.shift {
			return 0, 0, errCut
		}
		if err := c.read(sector, dir); err != nil {
			return 0, 0, err
		}
		for e := sector; len(e) >= 128; e = e[128:] {
			n := int(binary.LittleEndian.Uint16(e[64:]))
			if n < 2 || n > 64 || e[66] != 2 {
				continue
			}
			name := make([]uint16, n/2-1)
			for i := range name {
				name[i] = binary.LittleEndian.Uint16(e[2*i:])
			}
			if s := strings.ToLower(string(utf16.Decode(name))); s == "workbook" || s == "book" {
				return binary.LittleEndian.Uint32(e[116:]), int64(binary.LittleEndian.Uint32(e[120:])), nil
			}
		}
		if dir, err = c.next(dir); err != nil {
			return 0, 0, err
		}
	}
	return 0, 0, errCut
}

// short is the length below which a stream shares sectors with others; those are not followed.
const short = 4096

// whole gives an error unless all of the workbook's stream is there. LibreOffice takes what it gets of a cut one.
func whole(r io.ReaderAt, size int64) error {
	c, err := openCompound(r, size)
	if err != nil {
		return err
	}
	start, length, err := c.workbook()
	if err != nil || length < short {
		return err
	}
	if length > size {
		return errCut
	}
	for at := start; length > 0; length -= 1 << c.shift {
		off := (int64(at) + 1) << c.shift
		if at >= lastSector || off+min(length, 1<<c.shift) > size {
			return errCut
		}
		if at, err = c.next(at); err != nil {
			return err
		}
	}
	return nil
}

// protectedXLS looks for a FILEPASS record (MS-XLS 2.4.117), which stands near the beginning of the workbook's stream.
func protectedXLS(r io.ReaderAt, size int64) bool {
	c, err := openCompound(r, size)
	if err != nil {
		return false
	}
	start, _, err := c.workbook()
	b := make([]byte, 512)
	if err != nil || c.read(b, start) != nil {
		return false
	}
	for len(b) >= 4 {
		id, length := binary.LittleEndian.Uint16(b), int(binary.LittleEndian.Uint16(b[2:]))
		if id == 0x2f {
			return true
		}
		b = b[min(4+length, len(b)):]
	}
	return false
}
