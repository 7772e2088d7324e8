package source

import "testing"

func TestParseRange(t *testing.T) {
	for text, want := range map[string]Range{
		"B2": {1, 2, 1, 2}, "$A$1:$C$9": {0, 1, 2, 9}, "C9:A1": {0, 1, 2, 9}, "A:C": {0, 1, 2, lastRow}, "3:5": {0, 3, lastCol, 5},
	} {
		if got, ok := ParseRange(text); !ok || got != want {
			t.Errorf("%s is %+v (%v), want %+v", text, got, ok, want)
		}
	}
	for _, text := range []string{"", ":", "A", "7", "A1:", "A1:B", "A0", "A-1", "A1:B2:C3", "Stati", "ABCDE1", "INDIRECT(A1)", "XFE1"} {
		if got, ok := ParseRange(text); ok {
			t.Errorf("%q is taken for %+v", text, got)
		}
	}
}

func TestPlacesAndLooks(t *testing.T) {
	var p Places
	for _, row := range []int{7, 3, 9} {
		p.Add(row)
	}
	if p != (Places{3, 3, 9}) {
		t.Errorf("got %+v", p)
	}
	for n, want := range map[int]int{0: 0, 1: 1, 7: 7, 8: 1} {
		f := LookFlags(n) | Formula | Shared
		if f.Look() != want || f&Formula == 0 {
			t.Errorf("look %d is read back as %d", n, f.Look())
		}
	}
}

func TestMoves(t *testing.T) {
	for cells, want := range map[string]Moves{"$A$1": {}, "A1": {Rows: true, Cols: true}, "$A1:$A9": {Rows: true}, "A$1:$B$9": {Cols: true}, "$A:$B": {}, "$3:7": {Rows: true}, "AB$12": {Cols: true}} {
		if got := MovesOf(cells); got != want {
			t.Errorf("%s: %+v, want %+v", cells, got, want)
		}
	}
	column, cell := Range{FirstCol: 1, FirstRow: 2, LastCol: 1, LastRow: 9}, Range{FirstCol: 1, FirstRow: 2, LastCol: 1, LastRow: 2}
	if !(Moves{Rows: true}).FollowsMoving([]Range{column}) || (Moves{Cols: true}).FollowsMoving([]Range{column}) || (Moves{Rows: true, Cols: true}).FollowsMoving([]Range{cell}) ||
		!(Moves{Rows: true}).FollowsMoving([]Range{cell, {FirstCol: 1, FirstRow: 5, LastCol: 1, LastRow: 5}}) {
		t.Error("what moves is wrong")
	}
}
