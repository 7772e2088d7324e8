package xlsx

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// A cell is read by the shape of the one above it as if there was none above it.
func TestPropertyShapes(t *testing.T) {
	tails := []string{
		`"><v>%d</v></c>`, `" s="1"><v>%d</v></c>`, `" s="2"><v>%d.5</v></c>`, `" t="s"><v>%d</v></c>`, `" s="3" t="s"><v>%d</v></c>`, `" t="s" s="3"><v>%d</v></c>`,
		`" t="n"><v>-%de1</v></c>`, `" t="inlineStr"><is><t>x%d</t></is></c>`, `" s="3" t="inlineStr"><is><t xml:space="preserve"> %d </t></is></c>`,
		`"  s="2" ><v>%d</v></c>`, `" s="1"/>`, `" t="b"><v>1</v></c>`, `" t="str"><f>A1</f><v>%d</v></c>`, `" cm="1"><v>%d</v></c>`, `" s="123456789" t="inlineStr"><is><t>%d</t></is></c>`,
		`" t="s"><v>%d</v> </c>`, `" t="s"><v></v></c>`,
	}
	rapid.Check(t, func(rt *rapid.T) {
		var rows strings.Builder
		num := rapid.SampledFrom([]int{1, 8, 98, 9_998, 99_997, 1_048_570}).Draw(rt, "first")
		lines := make([]string, 3)
		for i := range lines {
			for _, col := range []string{"A", "B", "z", "AA", "bc", "XFD"} {
				if rapid.IntRange(0, 9).Draw(rt, "there") == 0 {
					continue
				}
				tail := rapid.SampledFrom(tails).Draw(rt, "tail")
				if rapid.IntRange(0, 3).Draw(rt, "plain") > 0 {
					tail = tails[3]
				}
				lines[i] += rapid.SampledFrom([]string{`<c r="`, `<c r="`, `<c r="`, `<c  r="`}).Draw(rt, "head") + col + "#" + tail
			}
		}
		for range rapid.IntRange(2, 6).Draw(rt, "rows") {
			fmt.Fprintf(&rows, `<row r="%d">`, num)
			of := num
			if rapid.IntRange(0, 30).Draw(rt, "elsewhere") == 0 {
				of++
			}
			line := strings.ReplaceAll(rapid.SampledFrom(lines).Draw(rt, "line"), "#", fmt.Sprint(of))
			for strings.Contains(line, "%d") {
				line = strings.Replace(line, "%d", fmt.Sprint(rapid.IntRange(0, 5).Draw(rt, "value")), 1)
			}
			rows.WriteString(line + "</row>")
			num++
		}
		parts := workbookParts(rows.String(), testStyles, testStrings)
		got, facts, err := answered(t, zipped(t, parts))
		slow, slowFacts, slowErr := answered(t, zipped(t, replace(parts, "xl/worksheets/sheet1.xml", spoil)))
		if got != slow || (err == nil) != (slowErr == nil) || err == nil && facts != slowFacts {
			rt.Fatalf("%s\nfast\n%s%+v %v\nslow\n%s%+v %v", rows.String(), got, facts, err, slow, slowFacts, slowErr)
		}
	})
}
