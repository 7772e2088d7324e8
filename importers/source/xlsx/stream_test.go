package xlsx

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"sheetlift/importers/source"
)

// TestWindows reads sheets of many windows whose cells lie across every kind of window end, some longer than a window.
func TestWindows(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	lengths := []int{0, 1, 7, 50, 300, 5_000, chunkHead - 20, chunkHead + 5, chunkSize - 3, chunkSize + 9, 3 * chunkSize}
	var rows, items, want strings.Builder
	shared := 0
	for row := 1; row <= 120; row++ {
		fmt.Fprintf(&rows, `<row r="%d" spans="1:4">`, row)
		for col := range 4 {
			n := lengths[rng.IntN(7)]
			if rng.IntN(30) == 0 {
				n = lengths[rng.IntN(len(lengths))]
			}
			text := strings.Repeat(string(rune('a'+rng.IntN(26))), n)
			ref := source.Ref(col, row)
			if n > 0 {
				fmt.Fprintf(&want, "S!%s text %q general\n", ref, text)
			}
			switch rng.IntN(3) {
			case 0:
				fmt.Fprintf(&rows, `<c r="%s" t="inlineStr"><is><t>%s</t></is></c>`, ref, text)
			case 1:
				fmt.Fprintf(&rows, `<c r="%s" t="str"><f>%s</f><v>%s</v></c>`, ref, text, text)
			default:
				fmt.Fprintf(&items, `<si><t>%s</t></si>`, text)
				fmt.Fprintf(&rows, `<c r="%s" t="s"><v>%d</v></c>`, ref, shared)
				shared++
			}
		}
		rows.WriteString("</row>\n")
	}
	raw := zipped(t, workbookParts(rows.String(), "", items.String()))
	got, facts, err := read(raw, source.Options{Limits: source.Limits{Ratio: 5000}})
	if err != nil {
		t.Fatal(err)
	}
	got = strings.ReplaceAll(got, " formula", "")
	if got != want.String() {
		t.Errorf("the cells differ: %d bytes, want %d", len(got), want.Len())
	}
	if facts.Rows == 0 || facts.Cells != strings.Count(want.String(), "\n") {
		t.Errorf("facts %+v", facts)
	}
	_, _, err = read(raw, source.Options{Limits: source.Limits{Ratio: 5000, RecordBytes: chunkSize}})
	if !errors.Is(err, source.ErrLimit) {
		t.Errorf("an element longer than the limit: got %v", err)
	}
}

// TestWideSheets reads cells in the last column, a diagonal, and blocks that alternate between narrow and wide.
func TestWideSheets(t *testing.T) {
	var rows, want strings.Builder
	put := func(row int, cols ...int) {
		fmt.Fprintf(&rows, `<row r="%d">`, row)
		for _, col := range cols {
			fmt.Fprintf(&rows, `<c r="%s"><v>%d</v></c>`, source.Ref(col, row), row+col)
			fmt.Fprintf(&want, "S!%s number \"%d\" general\n", source.Ref(col, row), row+col)
		}
		rows.WriteString("</row>")
	}
	row := 0
	for range 3000 {
		row++
		put(row, 0, 16383)
	}
	for i := range 500 {
		row++
		put(row, i*30)
	}
	all := make([]int, 16384)
	for i := range all {
		all[i] = i
	}
	row++
	put(row, all...)
	row++
	put(row, 3)
	got, _, err := read(zipped(t, workbookParts(rows.String(), "", "")), source.Options{})
	if err != nil || got != want.String() {
		t.Errorf("the cells differ: %v, %d bytes, want %d", err, len(got), want.Len())
	}
}

// TestNoAllocationPerCell reads twice as many rows and expects no more allocations.
func TestNoAllocationPerCell(t *testing.T) {
	allocations := func(n int) uint64 {
		row := `<row><c t="s"><v>0</v></c><c><v>1.5</v></c><c t="inlineStr"><is><t>a&amp;b</t></is></c><c t="str"><f>A1</f><v>x</v></c><c t="b"><v>1</v></c></row>`
		raw := zipped(t, workbookParts(strings.Repeat(row, n), "", `<si><t>a</t></si>`))
		b, err := Open(context.Background(), "f.xlsx", bytes.NewReader(raw), int64(len(raw)), source.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		r, err := b.Read(context.Background(), 0)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		rows := 0
		for {
			k, err := r.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			rows += k.Rows()
		}
		if rows != n {
			t.Fatalf("%d rows, want %d", rows, n)
		}
		runtime.ReadMemStats(&after)
		return after.Mallocs - before.Mallocs
	}
	few, many := allocations(10_000), allocations(40_000)
	if many > few+2000 {
		t.Errorf("%d allocations for 50,000 cells, %d for 200,000", few, many)
	}
}
