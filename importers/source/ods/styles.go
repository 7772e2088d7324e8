package ods

import (
	"context"
	"encoding/xml"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"

	"sheetlift/importers/source"
)

// styles are what the number formats of cells say beyond their types, and which sheets are hidden.
type styles struct {
	hidden map[string]bool   // table styles that are not displayed
	format map[string]string // cell style → number format
	parent map[string]string // cell style → the one it is derived from
	zeros  map[string]int    // number format → integer digits it shows at least, if it shows nothing else
	text   map[string]bool   // number formats that are text
	fill   map[string]string // cell style → colour of the cell, "" if it says none
	font   map[string]string // cell style → colour of the text
	looks  map[[2]string]int // fill and font colour → number of the look

	style  string // name of the style whose properties come next
	number string // name of the number format whose parts come next
}

func newStyles() *styles {
	return &styles{hidden: map[string]bool{}, format: map[string]string{}, parent: map[string]string{}, zeros: map[string]int{}, text: map[string]bool{},
		fill: map[string]string{}, font: map[string]string{}, looks: map[[2]string]int{{}: 0}}
}

// take takes the next element of a list of styles.
func (s *styles) take(e *xml.StartElement) {
	switch e.Name {
	case xml.Name{Space: nsStyle, Local: "style"}:
		s.style = attr(e, nsStyle, "name")
		if attr(e, nsStyle, "family") == "table-cell" {
			s.format[s.style] = attr(e, nsStyle, "data-style-name")
			s.parent[s.style] = attr(e, nsStyle, "parent-style-name")
		}
	case xml.Name{Space: nsTable, Local: "table-properties"}, xml.Name{Space: nsStyle, Local: "table-properties"}:
		s.hidden[s.style] = attr(e, nsTable, "display") == "false"
	case xml.Name{Space: nsStyle, Local: "table-cell-properties"}:
		s.fill[s.style] = attr(e, nsFO, "background-color")
	case xml.Name{Space: nsStyle, Local: "text-properties"}:
		if line := attr(e, nsStyle, "text-underline-style"); line == "" || line == "none" { // links are underlined
			s.font[s.style] = attr(e, nsFO, "color")
		}
	case xml.Name{Space: nsNumber, Local: "number-style"}:
		s.number = attr(e, nsStyle, "name")
		delete(s.zeros, s.number) // names of styles.xml may come again
		delete(s.text, s.number)
	case xml.Name{Space: nsNumber, Local: "text-style"}:
		s.number = ""
		s.text[attr(e, nsStyle, "name")] = true
	case xml.Name{Space: nsNumber, Local: "number"}:
		n, err := strconv.Atoi(attr(e, nsNumber, "min-integer-digits"))
		decimals := attr(e, nsNumber, "decimal-places")
		if err == nil && n > 1 && s.number != "" && (decimals == "" || decimals == "0") {
			s.zeros[s.number] = n
		}
	default:
		if e.Name.Space == nsNumber {
			// Another kind of format, or a part that makes it one.
			delete(s.zeros, s.number)
			s.number = ""
		}
	}
}

// of gives what a cell style shows.
func (s *styles) of(name string) (zeros int, text bool) {
	for range 16 { // styles may be derived from each other, but not in a circle
		if f := s.format[name]; f != "" {
			return s.zeros[f], s.text[f]
		}
		if name = s.parent[name]; name == "" {
			break
		}
	}
	return 0, false
}

// look gives the flags of a cell style's colours.
func (s *styles) look(name string) source.Flags {
	colour := func(of map[string]string, ordinary ...string) string {
		style := name
		for range 16 {
			if c := strings.ToLower(of[style]); c != "" {
				if slices.Contains(ordinary, c) {
					return ""
				}
				return c
			}
			if style = s.parent[style]; style == "" {
				break
			}
		}
		return ""
	}
	key := [2]string{colour(s.fill, "transparent", "#ffffff"), colour(s.font, "#000000")}
	n, known := s.looks[key]
	if !known {
		n = len(s.looks)
		s.looks[key] = n
	}
	return source.LookFlags(n)
}

// scanStyles reads the styles that all sheets share.
func (b *Book) scanStyles(ctx context.Context) error {
	w, err := b.walk(ctx, "styles.xml")
	if err != nil {
		return err
	}
	defer w.close()
	for {
		t, err := w.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if e, ok := t.(xml.StartElement); ok && w.inStyles() {
			b.styles.take(&e)
		}
	}
}
