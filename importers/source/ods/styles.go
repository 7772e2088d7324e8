package ods

import (
	"context"
	"encoding/xml"
	"errors"
	"io"
	"strconv"
)

// styles are what the number formats of cells say beyond their types, and which sheets are hidden.
type styles struct {
	hidden map[string]bool   // table styles that are not displayed
	format map[string]string // cell style → number format
	parent map[string]string // cell style → the one it is derived from
	zeros  map[string]int    // number format → integer digits it shows at least, if it shows nothing else
	text   map[string]bool   // number formats that are text

	style  string // name of the style whose properties come next
	number string // name of the number format whose parts come next
}

func newStyles() *styles {
	return &styles{hidden: map[string]bool{}, format: map[string]string{}, parent: map[string]string{}, zeros: map[string]int{}, text: map[string]bool{}}
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
