package count

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"io"
	"strconv"
)

// spreadsheets counts the sheets of an OpenDocument spreadsheet, which all lie in one part.
func spreadsheets(ctx context.Context, r io.ReaderAt, size int64) ([]Sheet, error) {
	z, err := zip.NewReader(r, size)
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		return nil, err
	}
	f, err := z.Open("content.xml")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	c := spreadsheetCounter{}
	to := &cutter{take: c.take}
	buf := make([]byte, 256<<10)
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		n, err := f.Read(buf)
		_, _ = to.Write(buf[:n])
		if errors.Is(err, io.EOF) {
			return c.sheets, to.Close()
		}
		if err != nil {
			return nil, err
		}
	}
}

// spreadsheetCounter knows only how deep it is, and where the cell began that it is in.
type spreadsheetCounter struct {
	sheets []Sheet
	p      piece
	depth  int
	apart  int // depth of the shapes, comment or the like that it is in, whose text is no cell's

	table, row, cell int // their depths; 0 outside
	rows, columns    int // how often they are repeated
	cells            int // of the row
	rowHolds         bool
	paragraphs       int
	kind             string
	formula, filled  bool
}

func (c *spreadsheetCounter) take(raw []byte) {
	c.p.read(raw)
	p := &c.p
	name := string(p.name)
	if p.end {
		c.end()
		c.depth--
	} else if name != "" && name[0] != '?' && name[0] != '!' {
		c.depth++
		c.begin(name)
		if p.empty {
			c.end()
			c.depth--
		}
	}
	if len(p.text) > 0 && c.paragraphs > 0 && c.apart == 0 && c.cell > 0 && c.depth > c.cell {
		c.filled = true
	}
}

func (c *spreadsheetCounter) begin(name string) {
	if c.apart > 0 {
		return
	}
	switch {
	case name == "table" && c.depth == 4 && len(c.p.attrs) > 0:
		s := Sheet{}
		for name, value, rest := attribute(c.p.attrs); len(name) > 0; name, value, rest = attribute(rest) {
			if local(name) == "name" {
				s.Name = string(value)
			}
		}
		c.sheets, c.table = append(c.sheets, s), c.depth
	case c.table > 0 && c.row == 0 && name == "table-row":
		c.row, c.cells, c.rowHolds = c.depth, 0, false
		c.rows = c.repeated("number-rows-repeated")
	case c.table > 0 && c.row == 0 && (name == "shapes" || name == "forms" || name == "named-expressions"):
		c.apart = c.depth
	case c.row > 0 && c.cell == 0 && c.depth == c.row+1 && (name == "table-cell" || name == "covered-table-cell"):
		c.beginCell()
	case c.cell > 0 && c.depth == c.cell+1:
		if name == "p" || name == "h" {
			if c.paragraphs++; c.paragraphs > 1 {
				c.filled = true // the line end between them
			}
		} else {
			c.apart = c.depth
		}
	case c.cell > 0 && (name == "s" || name == "tab" || name == "line-break"):
		c.filled = true
	case c.cell > 0 && (name == "note" || name == "ruby-text" || name == "annotation" || name == "frame"):
		c.apart = c.depth
	}
}

// beginCell takes what the attributes of a cell say; its text decides where they say nothing.
func (c *spreadsheetCounter) beginCell() {
	c.cell, c.paragraphs, c.filled, c.formula, c.kind = c.depth, 0, false, false, ""
	c.columns = c.repeated("number-columns-repeated")
	for name, value, rest := attribute(c.p.attrs); len(name) > 0; name, value, rest = attribute(rest) {
		switch local(name) {
		case "value-type":
			if !bytes.HasPrefix(name, []byte("calcext:")) { // LibreOffice says it twice, in a name space of its own
				c.kind = string(value)
			}
		case "formula":
			c.formula = true
		case "string-value":
			c.filled = c.filled || len(value) > 0
		}
	}
}

func (c *spreadsheetCounter) end() {
	switch c.depth {
	case c.apart:
		c.apart = 0
	case c.cell:
		switch {
		case c.kind != "" && c.kind != "string" || c.filled: // every other type has a value
			c.cells += c.columns
			c.rowHolds = true
		case c.formula && c.kind == "":
			c.rowHolds = true
		}
		c.cell, c.paragraphs = 0, 0
	case c.row:
		if s := &c.sheets[len(c.sheets)-1]; c.rowHolds {
			s.Rows += c.rows
			s.Cells += c.rows * c.cells
		}
		c.row = 0
	case c.table:
		c.table = 0
	}
}

// repeated gives the number in an attribute of the tag, 1 if there is none.
func (c *spreadsheetCounter) repeated(attr string) int {
	for name, value, rest := attribute(c.p.attrs); len(name) > 0; name, value, rest = attribute(rest) {
		if local(name) == attr {
			if n, err := strconv.Atoi(string(value)); err == nil && n > 1 {
				return n
			}
		}
	}
	return 1
}

// local is a name without its prefix.
func local(name []byte) string {
	return string(name[bytes.IndexByte(name, ':')+1:])
}
