package count

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"strings"

	"sheetlift/importers/source/filepass"
)

// stretch is a stream of a compound file: the places of its sectors, one after the other.
type stretch struct {
	r     io.ReaderAt
	at    []int64
	width int64 // of each
	size  int64
}

func (s *stretch) ReadAt(p []byte, off int64) (n int, err error) {
	for n < len(p) && off < s.size {
		within := off % s.width
		k := min(int64(len(p)-n), s.width-within, s.size-off)
		got, err := s.r.ReadAt(p[n:n+int(k)], s.at[off/s.width]+within)
		if n += got; got < int(k) {
			return n, err
		}
		off += k
	}
	if n < len(p) {
		err = io.EOF
	}
	return n, err
}

var errContainer = errors.New("the container of the workbook is damaged")

// oldStream finds the workbook's stream in a compound file; a file that is none is that stream itself.
func oldStream(r io.ReaderAt, size int64) (*stretch, error) {
	head := make([]byte, 512)
	n, err := r.ReadAt(head, 0)
	if n >= 4 && string(head[:4]) != "\xd0\xcf\x11\xe0" {
		return &stretch{r: r, at: []int64{0}, width: size, size: size}, nil
	}
	if n < len(head) {
		return nil, err
	}
	width := int64(1) << (short(head, 30) & 15)
	var table []byte                  // the whole allocation table
	load := func(sector int) []byte { // what is not there holds no sectors
		p := bytes.Repeat([]byte{0xff}, int(width))
		_, _ = r.ReadAt(p, (int64(sector)+1)*width)
		return p
	}
	enough := size/width*4 + 128*width // entries for all sectors, and then some
	lists := head[76:]
	for more, next := true, long(head, 68); more; {
		for i := 0; i+4 <= len(lists) && int64(len(table)) < enough; i += 4 {
			table = append(table, load(long(lists, i))...)
		}
		if more = next < 0xfffffffa && int64(len(table)) < enough; more {
			p := load(next)
			lists, next = p[:width-4], long(p, int(width-4))
		}
	}
	// chain follows a table; one of no known length ends where it can't be followed.
	chain := func(table []byte, s int, most int64) (sectors []int64, err error) {
		seen := make([]bool, len(table)/4)
		for ; s < 0xfffffffa && (most < 0 || int64(len(sectors)) < most); s = long(table, 4*s) {
			if s >= len(seen) || seen[s] {
				if most >= 0 {
					err = errContainer
				}
				break
			}
			seen[s] = true
			sectors = append(sectors, int64(s))
		}
		return sectors, err
	}
	whole := func(s int, size int64) (*stretch, error) {
		most := int64(-1)
		if size >= 0 {
			most = (size + width - 1) / width
		}
		sectors, err := chain(table, s, most)
		for i := range sectors {
			sectors[i] = (sectors[i] + 1) * width
		}
		if size < 0 {
			size = int64(len(sectors)) * width
		}
		if err == nil && int64(len(sectors))*width < size {
			err = errContainer
		}
		return &stretch{r: r, at: sectors, width: width, size: size}, err
	}
	listing, err := whole(long(head, 48), -1)
	if err != nil {
		return nil, err
	}
	dir := make([]byte, listing.size)
	if _, err := listing.ReadAt(dir, 0); err != nil {
		return nil, err
	}
	entry := pickOld(dir)
	if entry == nil {
		return nil, errNotFound
	}
	length := int64(long(entry, 120))
	if length >= 4096 {
		return whole(long(entry, 116), length)
	}
	root, err := whole(long(dir, 116), int64(long(dir, 120)))
	if err != nil {
		return nil, err
	}
	listing, err = whole(long(head, 60), -1)
	if err != nil {
		return nil, err
	}
	table = bytes.Repeat([]byte{0xff}, int(listing.size))
	_, _ = listing.ReadAt(table, 0) // its end may be cut
	sectors, err := chain(table, long(entry, 116), (length+63)/64)
	for i := range sectors {
		sectors[i] *= 64
	}
	if err == nil && int64(len(sectors))*64 < length {
		err = errContainer
	}
	return &stretch{r: root, at: sectors, width: 64, size: length}, err
}

// pickOld finds the entry of the workbook's stream: among the streams that the root leads to, or all if it leads to none.
func pickOld(dir []byte) []byte {
	led := map[int]bool{}
	for todo := []int{long(dir, 76)}; len(todo) > 0; {
		i := todo[0]
		if todo = todo[1:]; (i+1)*128 > len(dir) || led[i] {
			continue
		}
		led[i] = true
		todo = append(todo, long(dir, i*128+68), long(dir, i*128+72))
	}
	var streams, all [][]byte
	for i := range len(dir) / 128 {
		if e := dir[i*128 : (i+1)*128]; e[66] == 2 {
			if all = append(all, e); led[i] {
				streams = append(streams, e)
			}
		}
	}
	if len(streams) == 0 {
		streams = all
	}
	for _, name := range []string{"workbook", "book"} {
		for _, e := range streams {
			if n := short(e, 64); n >= 2 && n <= 64 && strings.EqualFold(fromWide(e[:n-2]), name) {
				return e
			}
		}
	}
	return nil
}

// oldRecords calls f for the records from a place on, until it gives false. The body ends with the record.
func oldRecords(ctx context.Context, s *stretch, from int64, f func(id int, body []byte) bool) error {
	in := bufio.NewReaderSize(io.NewSectionReader(s, from, s.size-from), 128<<10)
	for n := 0; ; n++ {
		if n%4096 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		head, err := in.Peek(4)
		if err != nil {
			return err
		}
		id, length := short(head, 0), short(head, 2)
		all, err := in.Peek(4 + length)
		if err != nil {
			return err
		}
		if !f(id, all[4:]) {
			return nil
		}
		if _, err := in.Discard(4 + length); err != nil {
			return err
		}
	}
}

// begins tells a record that begins a sheet, a chart or the workbook.
func begins(id int) bool { return id == 0x809 || id == 0x409 || id == 0x209 || id == 0x09 }

// oldWorkbook counts the sheets of an .xls. Decryption is all that is shared with the reader.
func oldWorkbook(ctx context.Context, r io.ReaderAt, size int64, password string) ([]Sheet, error) {
	s, err := oldStream(r, size)
	if err != nil {
		return nil, err
	}
	protected, level := false, 0
	if err := oldRecords(ctx, s, 0, func(id int, _ []byte) bool {
		switch {
		case begins(id):
			level++
		case id == 0x0a:
			level--
		case id == 0x2f && level == 1:
			protected = true
		}
		return level > 0 && !protected
	}); err != nil {
		return nil, err
	}
	if protected {
		plain, err := filepass.Decrypt(s, s.size, password, filepass.Default)
		if err != nil {
			return nil, err
		}
		s = &stretch{r: bytes.NewReader(plain), at: []int64{0}, width: s.size, size: s.size}
	}
	c := &oldCounter{}
	var sheets []Sheet
	var starts []int64
	place, depth, strings := int64(0), 0, int64(-1)
	err = oldRecords(ctx, s, 0, func(id int, body []byte) bool {
		switch {
		case begins(id):
			if depth++; depth == 1 {
				c.version = map[int]int{0x09: 2, 0x209: 3, 0x409: 4, 0x809: short(body, 0) >> 8}[id]
				switch c.version {
				case 6:
					c.version = 8
				case 0:
					c.version = 5
				}
				if short(body, 2) != 5 {
					sheets, starts = []Sheet{{Name: "Sheet1"}}, []int64{0}
				}
			}
		case id == 0x0a:
			depth--
		case depth > 1:
		case id == 0xfc:
			strings = place
		case id == 0x85 && c.version >= 5:
			if len(body) < 8 {
				break
			}
			name := body[7:]
			if c.version == 8 {
				if name = body[8:]; body[7]&1 != 0 {
					name = []byte(fromWide(name))
				}
			}
			start := int64(long(body, 0))
			if body[5] == 6 {
				start = -1
			}
			sheets, starts = append(sheets, Sheet{Name: string(name)}), append(starts, start)
		}
		place += 4 + int64(len(body))
		return depth > 0
	})
	if err == nil && strings >= 0 {
		err = c.countStrings(ctx, s, strings)
	}
	for i := range sheets {
		if err == nil && starts[i] >= 0 {
			err = c.sheet(ctx, s, starts[i], &sheets[i])
		}
	}
	return sheets, err
}

// oldCounter knows which shared strings hold text.
type oldCounter struct {
	version int
	filled  []bool
}

// countStrings goes through the shared strings character by character.
func (c *oldCounter) countStrings(ctx context.Context, s *stretch, at int64) error {
	in := &oldText{}
	err := oldRecords(ctx, s, at, func(id int, body []byte) bool {
		if id != 0x3c && len(in.ends) > 0 {
			return false
		}
		in.body = append(in.body, body...)
		in.ends = append(in.ends, len(in.body))
		return true
	})
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return err
	}
	for in.at = 8; in.at < len(in.body); {
		n := in.number(2)
		flags := in.number(1)
		skip := 0
		if flags&8 != 0 {
			skip = 4 * in.number(2)
		}
		if flags&4 != 0 {
			skip += in.number(4)
		}
		c.filled = append(c.filled, n > 0)
		for range n {
			for len(in.ends) > 0 && in.at >= in.ends[0] {
				if in.ends = in.ends[1:]; in.at < len(in.body) && in.at < in.ends[0] {
					flags = in.number(1)
				}
			}
			in.at += 1 + flags&1
		}
		in.at += skip
		for len(in.ends) > 0 && in.at > in.ends[0] {
			in.ends = in.ends[1:]
		}
	}
	return nil
}

// oldText is the shared strings and where each record of them ends.
type oldText struct {
	body []byte
	ends []int
	at   int
}

func (t *oldText) number(width int) (v int) {
	for i := range width {
		if t.at < len(t.body) {
			v |= int(t.body[t.at]) << (8 * i)
		}
		t.at++
	}
	for len(t.ends) > 0 && t.at > t.ends[0] {
		t.ends = t.ends[1:]
	}
	return v
}

// sheet counts one sheet.
func (c *oldCounter) sheet(ctx context.Context, s *stretch, at int64, sheet *Sheet) error {
	rows := map[int]*columns{}
	depth, waits, row, col := 0, false, 0, 0
	hold := func(cell bool) {
		if rows[row] == nil {
			rows[row] = &columns{}
			sheet.Rows++
		}
		if rows[row].add(col) && cell {
			sheet.Cells++
		}
	}
	return oldRecords(ctx, s, at, func(id int, p []byte) bool {
		if waits { // for the text of a formula
			switch id {
			case 0x07, 0x207:
				waits = false
				if one(p, 0) > 0 || id == 0x207 && one(p, 1) > 0 {
					hold(true)
				}
				return true
			case 0x221, 0x21, 0x4bc, 0xbc, 0x236, 0x36, 0x37, 0x3c:
				return true
			default:
				waits = false
				hold(false)
			}
		}
		switch {
		case begins(id):
			if depth++; depth == 1 && short(p, 2) == 0x20 {
				return false
			}
			return true
		case id == 0x0a:
			depth--
			return depth > 0
		case depth > 1 || len(p) < 6:
			return true
		}
		row, col = short(p, 0), short(p, 2)
		switch id {
		case 0x02, 0x03, 0x05, 0x203, 0x205, 0x27e:
			hold(true)
		case 0xbd:
			for range (len(p) - 6) / 6 {
				hold(true)
				col++
			}
		case 0xfd:
			if i := long(p, 6); i < len(c.filled) && c.filled[i] {
				hold(true)
			}
		case 0x204, 0xd6:
			if short(p, 6) > 0 {
				hold(true)
			}
		case 0x04:
			if one(p, 7) > 0 {
				hold(true)
			}
		case 0x06, 0x206, 0x406:
			v := from(p, 6, 8)
			if id == 0x06 && c.version == 2 {
				v = from(p, 7, 8)
			}
			switch kind := one(v, 0); {
			case short(v, 6) != 0xffff || kind == 1 || kind == 2:
				hold(true)
			case kind == 0:
				waits = true
			}
		}
		return true
	})
}
