package count

import (
	"archive/zip"
	"bufio"
	"context"
	"errors"
	"io"
	"path"
	"strings"
	"unicode/utf16"
)

// Binary workbooks are counted by walking from record to record and looking at no more of each than tells whether it is a cell
// with a value, and where.

// columns is a bit for each column of a row.
type columns []uint64

// add reports whether the column was not there before.
func (c *columns) add(col int) bool {
	for len(*c) <= col/64 {
		*c = append(*c, 0)
	}
	word, bit := &(*c)[col/64], uint64(1)<<(col%64)
	was := *word
	*word |= bit
	return was&bit == 0
}

// one, short and long give the number of one, two or four bytes at i, 0 where there is none.
func one(p []byte, i int) int {
	if i >= len(p) {
		return 0
	}
	return int(p[i])
}

func short(p []byte, i int) int { return one(p, i) | one(p, i+1)<<8 }
func long(p []byte, i int) int  { return short(p, i) | short(p, i+2)<<16 }

// from gives n bytes of p from i on, fewer if there are fewer.
func from(p []byte, i, n int) []byte {
	i = min(i, len(p))
	return p[i:min(i+n, len(p))]
}

func fromWide(p []byte) string {
	u := make([]uint16, len(p)/2)
	for i := range u {
		u[i] = uint16(short(p, 2*i))
	}
	return string(utf16.Decode(u))
}

// binaries counts the sheets of an .xlsb.
func binaries(ctx context.Context, r io.ReaderAt, size int64) ([]Sheet, error) {
	z, err := zip.NewReader(r, size)
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		return nil, err
	}
	p := pkg{}
	for _, f := range z.File {
		p[key(f.Name)] = f
	}
	book := p.part("xl/workbook.bin")
	roots, err := p.relationships("")
	if err != nil {
		return nil, err
	}
	for _, rel := range roots {
		if f := p.follow("", rel); f != nil && strings.HasSuffix(rel.Type, "/officeDocument") {
			book = f
			break
		}
	}
	if book == nil {
		return nil, errNotFound
	}
	rels, err := p.relationships(book.Name)
	if err != nil {
		return nil, err
	}
	var filled []bool
	byID := map[string]relationship{}
	for _, rel := range rels {
		byID[rel.ID] = rel
		if f := p.follow(book.Name, rel); f != nil && path.Base(rel.Type) == "sharedStrings" {
			err = binaryPart(ctx, f, func(kind int, body []byte) {
				if kind == 19 && len(body) >= 5 {
					filled = append(filled, long(body, 1) > 0)
				}
			})
			if err != nil {
				return nil, err
			}
		}
	}
	var sheets []Sheet
	var files []*zip.File
	err = binaryPart(ctx, book, func(kind int, body []byte) {
		if kind != 156 {
			return
		}
		id := from(body, 12, 2*long(body, 8))
		sheets = append(sheets, Sheet{Name: fromWide(from(body, 16+len(id), 2*long(body, 12+len(id))))})
		rel := byID[fromWide(id)]
		f := p.follow(book.Name, rel)
		if kind := strings.ToLower(path.Base(rel.Type)); kind == "chartsheet" || kind == "dialogsheet" {
			f = nil
		}
		files = append(files, f)
	})
	for i, f := range files {
		if err == nil && f != nil {
			err = binarySheet(ctx, f, filled, &sheets[i])
		}
	}
	return sheets, err
}

// binarySheet counts one sheet.
func binarySheet(ctx context.Context, f *zip.File, filled []bool, s *Sheet) error {
	var row columns
	col, inside, counted := -1, false, false
	return binaryPart(ctx, f, func(kind int, body []byte) {
		if kind == 145 || kind == 146 {
			inside = kind == 145
		}
		if kind == 0 {
			clear(row)
			col, counted = -1, false
		}
		if !inside || kind == 0 || kind > 18 && kind != 62 {
			return
		}
		value := 8
		if kind >= 12 && kind <= 18 {
			value, col = 4, col+1
		} else {
			col = long(body, 0)
		}
		holds := kind != 1 && kind != 12
		switch kind {
		case 7, 18:
			i := long(body, value)
			holds = i < len(filled) && filled[i]
		case 6, 8, 17:
			holds = long(body, value) > 0
		case 62:
			holds = long(body, value+1) > 0
		}
		if holds && row.add(col) {
			s.Cells++
			if !counted {
				counted = true
				s.Rows++
			}
		}
	})
}

// binaryPart calls f for each record of a part of an .xlsb, with the first bytes of those that are larger than a cell can be.
func binaryPart(ctx context.Context, part *zip.File, f func(kind int, body []byte)) error {
	r, err := part.Open()
	if err != nil {
		return err
	}
	defer r.Close()
	in := bufio.NewReaderSize(r, 256<<10)
	for n := 0; ; n++ {
		if n%4096 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		kind, err := varint(in, 2)
		if errors.Is(err, io.EOF) {
			return nil
		}
		length, lerr := varint(in, 4)
		if err := errors.Join(err, lerr); err != nil {
			return err
		}
		body, err := in.Peek(min(length, 256<<10))
		if err != nil {
			return err
		}
		f(kind, body)
		if _, err := in.Discard(length); err != nil {
			return err
		}
	}
}

func varint(in *bufio.Reader, most int) (v int, err error) {
	for shift := 0; shift < 7*most; shift += 7 {
		c, err := in.ReadByte()
		if err != nil {
			return 0, err
		}
		if v |= int(c&0x7f) << shift; c < 0x80 {
			break
		}
	}
	return v, nil
}
