package source

import (
	"context"
	"strconv"
	"strings"
)

// Marks are what a sheet shows beside its cells and their values. None of it changes what a cell holds, but a person may have
// meant something by it.
type Marks struct {
	HiddenRows    Places  // hidden rows that hold something
	HiddenColumns []Range // of which only the columns count
	Merged        []Range // at most MarksKept
	Filter        Range   // of the first filter that is active
	Filtered      bool    // a filter is active: rows that don't fit are hidden
	Comments      Places  // cells with a comment, threaded or not
	Lists         []List  // at most MarksKept
	Colours       bool    // the looks of cells are known
}

// MarksKept bounds the merged ranges and the lists that are kept of a sheet, ListKept the values of a list.
const (
	MarksKept = 10_000
	ListKept  = 1_000
)

// List is a data validation that allows the values of a list only. Values may be about people: they are never shown unasked.
type List struct {
	Ranges []Range  // the cells it is for
	Values []string // written out in the validation
	Refers bool     // the values are those of other cells
	Sheet  string   // whose sheet; "" is the same one
	Cells  Range
	Opaque bool // the values are what a formula gives: they aren't known
}

// ListValues takes the values of a list apart that is written out: they stand between commas, in .xls between NULs.
func ListValues(text string) (values []string) {
	between := ","
	if strings.Contains(text, "\x00") {
		between = "\x00"
	}
	for v := range strings.SplitSeq(text, between) {
		if v = strings.TrimSpace(v); v != "" && len(values) < ListKept {
			values = append(values, v)
		}
	}
	return values
}

// Moves says which parts of a reference are relative to the cell it stands in.
type Moves struct{ Rows, Cols bool }

// MovesOf reads which parts of A1, $A$1:$C$9, A:C or 3:5 have no $ before them.
func MovesOf(cells string) (m Moves) {
	fixed, part := false, 0 // 1 for letters, 2 for digits
	for _, c := range cells {
		now := 0
		switch {
		case c >= '0' && c <= '9':
			now = 2
		case c|0x20 >= 'a' && c|0x20 <= 'z':
			now = 1
		}
		if now != part && now > 0 && !fixed {
			m.Cols = m.Cols || now == 1
			m.Rows = m.Rows || now == 2
		}
		fixed, part = c == '$', now
	}
	return m
}

// FollowsMoving reports whether a reference gives the cells of the ranges different lists.
func (m Moves) FollowsMoving(ranges []Range) bool {
	for _, r := range ranges {
		if m.Rows && r.FirstRow != r.LastRow || m.Cols && r.FirstCol != r.LastCol {
			return true
		}
		if first := ranges[0]; m.Rows && r.FirstRow != first.FirstRow || m.Cols && r.FirstCol != first.FirstCol {
			return true
		}
	}
	return false
}

// Marked is a Reader that knows Marks of its sheet.
type Marked interface {
	// Marks is complete once Next has returned io.EOF. What is damaged in a part without cells is left out.
	Marks(ctx context.Context) Marks
}

// MarksOf gives the marks of a sheet that was read to its end; none for formats that have none.
func MarksOf(ctx context.Context, r Reader) Marks {
	if m, ok := r.(Marked); ok {
		return m.Marks(ctx)
	}
	return Marks{}
}

// Look is which of the looks (fill and font colour) of the workbook's cells a cell has: 0 is the ordinary one, 1 to 7 are others.
// Two cells of different looks look different; a workbook of more than seven looks has some that aren't told apart.
func (f Flags) Look() int { return int(f >> lookShift) }

const lookShift = 5

// LookFlags is the flags of the nth look that differs from the ordinary one, from 1.
func LookFlags(n int) Flags {
	if n <= 0 {
		return 0
	}
	return Flags(1+(n-1)%7) << lookShift
}

// Places counts rows, and keeps the first and the last of them.
type Places struct{ N, First, Last int }

// Add counts a row; rows may come in any order.
func (p *Places) Add(row int) {
	if p.N++; p.N == 1 || row < p.First {
		p.First = row
	}
	p.Last = max(p.Last, row)
}

// Range is a rectangle of cells, both corners included: columns from 0, rows from 1.
type Range struct{ FirstCol, FirstRow, LastCol, LastRow int }

// Has reports whether a cell lies in the range.
func (r Range) Has(col, row int) bool {
	return col >= r.FirstCol && col <= r.LastCol && row >= r.FirstRow && row <= r.LastRow
}

// The last row and column that a range may name.
const (
	lastRow = 1 << 20
	lastCol = 1<<14 - 1
)

// ParseRange reads A1, $A$1:$C$9, A:C or 3:5.
func ParseRange(s string) (Range, bool) {
	s = strings.ReplaceAll(strings.TrimSpace(s), "$", "")
	a, b, two := strings.Cut(s, ":")
	if !two {
		b = a
	}
	col1, row1, ok1 := corner(a)
	col2, row2, ok2 := corner(b)
	switch {
	case !ok1 || !ok2 || (col1 < 0) != (col2 < 0) || (row1 == 0) != (row2 == 0):
		return Range{}, false
	case !two && (col1 < 0 || row1 == 0):
		return Range{}, false
	case col1 < 0:
		col1, col2 = 0, lastCol
	case row1 == 0:
		row1, row2 = 1, lastRow
	}
	return Range{min(col1, col2), min(row1, row2), max(col1, col2), max(row1, row2)}, true
}

// corner reads letters, digits or both: the column is -1 and the row 0 where there is none.
func corner(s string) (col, row int, ok bool) {
	i := 0
	for ; i < len(s) && s[i]|0x20 >= 'a' && s[i]|0x20 <= 'z'; i++ {
		col = col*26 + int(s[i]|0x20-'a') + 1
		if i > 3 {
			return 0, 0, false
		}
	}
	if digits := s[i:]; digits != "" {
		n, err := strconv.Atoi(digits)
		if err != nil || n < 1 || n > 1<<30 || digits[0] == '+' {
			return 0, 0, false
		}
		row = n
	}
	return col - 1, row, s != "" && col-1 <= lastCol
}
