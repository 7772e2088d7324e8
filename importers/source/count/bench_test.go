package count

import (
	"fmt"
	"strings"
	"testing"
)

func BenchmarkSheet(b *testing.B) {
	var text strings.Builder
	text.WriteString("<worksheet><sheetData>")
	filled := make([]bool, 12_000)
	for row := range 1000 {
		fmt.Fprintf(&text, `<row r="%d" spans="1:12" x14ac:dyDescent="0.25">`, row+1)
		for col := range 11 {
			fmt.Fprintf(&text, `<c r="%c%d" t="s"><v>%d</v></c>`, 'A'+col, row+1, row*11+col)
			filled[row*11+col] = true
		}
		fmt.Fprintf(&text, `<c r="L%d" s="1"><v>44561.52083333334</v></c></row>`, row+1)
	}
	text.WriteString("</sheetData></worksheet>")
	in := []byte(text.String())
	b.SetBytes(int64(len(in)))
	for b.Loop() {
		s := &sheetCounter{filled: filled}
		c := &cutter{take: s.take}
		for rest := in; len(rest) > 0; rest = rest[min(32<<10, len(rest)):] {
			c.Write(rest[:min(32<<10, len(rest))])
		}
		c.Close()
		if s.rows != 1000 || s.cells != 12_000 {
			b.Fatal(s.rows, s.cells)
		}
	}
}
