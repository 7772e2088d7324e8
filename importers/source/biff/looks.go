package biff

import (
	"fmt"

	"sheetlift/importers/source"
)

// Looks tells which cells of a workbook look different, by the colour of their font and of their fill. The ways in which programs
// write black on white, and the colours of links, are the ordinary look.
type Looks struct {
	fonts, fills []string
	known        map[[2]string]int
}

// Colour is one as the formats hold it.
type Colour struct {
	Kind  ColourKind
	Index int // into the palette or the theme
	RGB   [3]byte
	Tint  int
}

// ColourKind is what a Colour is given by (MS-XLSB 2.5.9).
type ColourKind uint8

// The kinds.
const (
	Automatic ColourKind = iota
	Indexed
	RGB
	Theme
)

// Font adds the next font of the list. Underlined ones are ordinary: programs colour the links that they make of addresses.
func (l *Looks) Font(c Colour, underlined bool) {
	name := c.name(map[string]bool{"2:000000": true, "1:0": true, "1:8": true, "1:64": true, "1:32767": true, "3:1": true, "3:10": true, "3:11": true})
	if underlined {
		name = ""
	}
	l.fonts = append(l.fonts, name)
}

// Fill adds the next fill of the list. Pattern 0 is none and 1 is solid (MS-XLS 2.5.155).
func (l *Looks) Fill(pattern int, fore Colour) { l.fills = append(l.fills, fill(pattern, fore)) }

func fill(pattern int, fore Colour) string {
	if pattern == 0 {
		return ""
	}
	name := fore.name(map[string]bool{"2:ffffff": true, "1:1": true, "1:9": true, "1:64": true, "1:65": true, "3:0": true})
	if pattern != 1 {
		return fmt.Sprintf("pattern %d %s", pattern, name)
	}
	return name
}

func (c Colour) name(ordinary map[string]bool) string {
	name := ""
	switch c.Kind {
	case Automatic:
		return ""
	case RGB:
		name = fmt.Sprintf("%d:%x", c.Kind, c.RGB)
	default:
		name = fmt.Sprintf("%d:%d", c.Kind, c.Index)
	}
	switch {
	case c.Tint != 0:
		return fmt.Sprintf("%s/%d", name, c.Tint)
	case ordinary[name]:
		return ""
	}
	return name
}

// Of is the look of a cell with a font and a fill of the lists.
func (l *Looks) Of(font, fill int) source.Flags { return l.flags(at(l.fonts, font), at(l.fills, fill)) }

// OfFill is the look of a cell with a font of the list and a fill of its own.
func (l *Looks) OfFill(font, pattern int, fore Colour) source.Flags {
	return l.flags(at(l.fonts, font), fill(pattern, fore))
}

func (l *Looks) flags(font, fill string) source.Flags {
	if l.known == nil {
		l.known = map[[2]string]int{{}: 0}
	}
	look := [2]string{font, fill}
	n, ok := l.known[look]
	if !ok {
		n = len(l.known)
		l.known[look] = n
	}
	return source.LookFlags(n)
}

func at(list []string, i int) string {
	if i < 0 || i >= len(list) {
		return ""
	}
	return list[i]
}
