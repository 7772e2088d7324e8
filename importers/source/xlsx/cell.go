package xlsx

import (
	"bytes"
	"errors"
	"strconv"

	"sheetlift/importers/source"
)

// cell is one c element, as spans of the window.
type cell struct {
	ref, style, kind []byte // attributes r, s, t
	value            []byte // decoded content of v
	inline           []byte // decoded text of is
	hasValue         bool
	hasInline        bool
	formula          bool
}

// slowCell takes a cell of any shape; t is its start tag, which is still to be consumed.
func (r *sheetReader) slowCell(t token) error {
	w := r.w
	for {
		c, end, err := r.parseCell(t)
		if err == nil {
			w.pos = end
			return r.putCell(&c)
		}
		if !errors.Is(err, errMore) {
			return r.cellFault(&c, err)
		}
		if err := w.more(); err != nil {
			return w.bad(err)
		}
		if t, err = scanToken(w.buf, w.pos, w.eof); err != nil {
			return w.bad(err)
		}
	}
}

// parseCell reads a whole c element.
func (r *sheetReader) parseCell(t token) (c cell, end int, err error) {
	c.value, c.inline = r.value[:0], r.inline[:0]
	defer func() { r.value, r.inline = c.value, c.inline }()
	for a := t.attrs; ; {
		name, value, rest, ok := nextAttr(a)
		if !ok {
			break
		}
		switch string(name) {
		case "r":
			c.ref = bytes.TrimSpace(value)
		case "s":
			c.style = bytes.TrimSpace(value)
		case "t":
			c.kind = bytes.TrimSpace(value)
		}
		a = rest
	}
	if t.empty {
		return c, t.end, nil
	}
	b, p, eof := r.w.buf, t.end, r.w.eof
	depth, inValue, foreign := 1, false, 0
	for {
		t, err := scanToken(b, p, eof)
		if err != nil {
			return c, p, err
		}
		p = t.end
		switch t.kind {
		case tokStart:
			if depth == 1 && foreign == 0 {
				switch {
				case t.is("f"):
					c.formula = true
				case t.is("v"):
					c.hasValue, inValue = true, !t.empty
				case t.is("is") && !t.empty:
					c.hasInline = true
					if c.inline, p, err = appendItem(c.inline, b, p, eof, r.w.a.lim.XMLDepth); err != nil {
						return c, p, err
					}
					continue
				}
			}
			if !t.empty {
				if depth++; depth > r.w.a.lim.XMLDepth {
					return c, p, errDepth
				}
			}
		case tokEnd:
			if depth == 2 {
				inValue = false
			}
			if depth--; depth == 0 {
				if !t.is("c") {
					return c, p, errBadXML
				}
				return c, p, nil
			}
		case tokText, tokCDATA:
			if inValue && depth == 2 {
				if c.value, err = appendToken(c.value, t); err != nil {
					return c, p, err
				}
			}
		case tokEOF:
			return c, p, errBadXML
		}
	}
}

func (r *sheetReader) cellFault(c *cell, err error) error {
	switch {
	case errors.Is(err, errText):
		return r.fault(source.ErrMalformed, c, "has undecodable characters", remedyResave)
	case errors.Is(err, errDepth):
		return r.w.tooDeep()
	}
	return r.w.bad(err)
}

// fault names a cell.
func (r *sheetReader) fault(kind error, c *cell, what, remedy string) error {
	name := "a cell"
	if col, row, ok := parseRef(c.ref); ok {
		name = "cell " + source.Ref(col, max(row, r.row))
	}
	return r.w.a.fault(kind, r.w.part, name+" "+what, remedy)
}

// parseRef reads an A1 reference of either case: column from 0, row from 1.
func parseRef(ref []byte) (col, row int, ok bool) {
	i := 0
	for ; i < len(ref) && ref[i]|0x20 >= 'a' && ref[i]|0x20 <= 'z'; i++ {
		if i == 3 {
			return 0, 0, false
		}
		col = col*26 + int(ref[i]|0x20-'a') + 1
	}
	digits := ref[i:]
	if i == 0 || len(digits) == 0 || len(digits) > 9 {
		return 0, 0, false
	}
	for _, c := range digits {
		if c-'0' > 9 {
			return 0, 0, false
		}
		row = row*10 + int(c-'0')
	}
	return col - 1, row, row > 0
}

// place works out the column of a cell, and the row's number where only cells tell it.
func (r *sheetReader) place(c *cell) (int, error) {
	col := r.col
	if len(c.ref) > 0 {
		var row int
		var ok bool
		if col, row, ok = parseRef(c.ref); !ok {
			return 0, r.fault(source.ErrMalformed, c, "has a reference that is none", remedyResave)
		}
		if row != r.row {
			if r.rowSaid || r.b.Filled() {
				return 0, r.w.a.fault(source.ErrMalformed, r.w.part, "cell "+source.Ref(col, row)+" stands in row "+strconv.Itoa(r.row), remedyResave)
			}
			if err := r.setRow(row); err != nil {
				return 0, err
			}
		}
		r.rowSaid = true
	}
	if col >= r.w.a.lim.Columns {
		return 0, r.fault(source.ErrLimit, c, "lies beyond the last column that a sheet can have", remedyResave)
	}
	r.col = col + 1
	return col, nil
}

// putCell interprets a cell by its type (ST_CellType, ECMA-376 part 1, 18.18.11).
func (r *sheetReader) putCell(c *cell) error {
	col, err := r.place(c)
	if err != nil {
		return err
	}
	var style format
	if n, ok := parseIndex(c.style); (ok || len(c.style) == 0) && n < len(r.book.styles) {
		style = r.book.styles[n]
	}
	out := source.Cell{Class: style.Class, Flags: style.look, Off: uint32(len(r.b.Data))}
	if c.formula {
		out.Flags |= source.Formula
		r.facts.Formulas++
	}
	value := c.value
	if c.hasInline && (!c.hasValue || string(c.kind) == "inlineStr") {
		value = c.inline
	}
	switch string(c.kind) {
	case "s":
		if c.hasInline && !c.hasValue {
			out.Kind = source.Text
			break
		}
		if value = bytes.TrimSpace(value); len(value) == 0 {
			break
		}
		i, ok := parseIndex(value)
		if !ok || i >= len(r.book.strings.ends) {
			return r.fault(source.ErrMalformed, c, "points to a shared string that the workbook doesn't have", remedyResave)
		}
		out.Off, out.Len = r.book.strings.span(i)
		out.Kind, out.Flags = source.Text, out.Flags|source.Shared
	case "str", "inlineStr":
		out.Kind = source.Text
	case "d":
		out.Kind, out.Flags, out.Class = source.Text, out.Flags|source.ISODate, source.DateTime
	case "e":
		out.Kind, value = source.ErrorValue, bytes.TrimSpace(value)
	case "b":
		value = bytes.TrimSpace(value)
		switch string(value) {
		case "1", "true", "TRUE":
			out.Kind, value = source.Bool, trueText
		case "0", "false", "FALSE":
			out.Kind, value = source.Bool, falseText
		case "":
		default:
			return r.fault(source.ErrMalformed, c, "is a boolean that is neither true nor false", remedyResave)
		}
	default:
		if kind := string(c.kind); kind != "" && kind != "n" && (c.hasValue || c.hasInline) { // nobody can say what it holds
			return r.fault(source.ErrMalformed, c, "has a type that no cell of a workbook has", remedyResave)
		}
		if c.hasInline && !c.hasValue {
			out.Kind = source.Text
			break
		}
		if value = bytes.TrimSpace(value); isNumber(value) {
			out.Kind = source.Number
			if style.Padded(value) {
				out.Flags |= source.ZeroPadded
			}
		} else if len(value) > 0 {
			// Not what the type says, but what the file holds.
			out.Kind, value = source.Text, c.value
		}
	}
	return r.finish(c, col, out, value)
}

// finish puts the cell into the block, unless it is empty.
func (r *sheetReader) finish(c *cell, col int, out source.Cell, value []byte) error {
	if out.Flags&source.Shared == 0 {
		out.Len = uint32(len(value))
	}
	if len(value) > r.w.a.lim.CellBytes {
		return r.fault(source.ErrLimit, c, "is longer than "+strconv.Itoa(r.w.a.lim.CellBytes)+" bytes", remedyLimit+" (cell_bytes)")
	}
	if len(r.b.Data)+len(value) > maxRowData {
		return r.w.a.fault(source.ErrLimit, r.w.part, "the row holds more than a gigabyte", remedyResave)
	}
	if out.Len == 0 {
		if !c.formula || c.hasValue && string(c.kind) == "str" {
			return nil
		}
		out = source.Cell{Class: out.Class, Flags: source.Formula | source.NoCache}
	}
	if !r.b.Put(col, out) {
		if before := r.b.At(col); before.Kind == out.Kind && bytes.Equal(r.bytes(before), r.valueOf(out, value)) {
			return nil // written twice with the same content
		}
		return r.fault(source.ErrMalformed, c, "is there twice with different content", remedyResave)
	}
	switch out.Kind {
	case source.Empty:
		r.facts.FormulasNoCache++
		return nil
	case source.ErrorValue:
		r.facts.ErrorCells++
	}
	r.cells++
	if out.Flags&source.Shared == 0 {
		r.b.Data = append(r.b.Data, value...)
	}
	return nil
}

// bytes gives the value of a cell that was put.
func (r *sheetReader) bytes(c source.Cell) []byte {
	if c.Flags&source.Shared != 0 {
		return r.book.strings.text[c.Off : c.Off+c.Len]
	}
	return r.b.Data[c.Off : c.Off+c.Len]
}

// valueOf gives the value of a cell that is about to be put.
func (r *sheetReader) valueOf(c source.Cell, value []byte) []byte {
	switch {
	case c.Kind == source.Empty:
		return nil
	case c.Flags&source.Shared != 0:
		return r.bytes(c)
	}
	return value
}

var trueText, falseText = []byte("TRUE"), []byte("FALSE")

// parseIndex reads a plain number of at most nine digits; strconv would allocate an error for each empty one.
func parseIndex(b []byte) (n int, ok bool) {
	for _, c := range b {
		if c-'0' > 9 {
			return 0, false
		}
		n = n*10 + int(c-'0')
	}
	return n, len(b) > 0 && len(b) <= 9
}
