package xlsx

import (
	"context"
	"strconv"
	"strings"

	"sheetlift/importers/source"
	"sheetlift/importers/source/numfmt"
)

// format is what a style says about the cells that carry it.
type format struct {
	numfmt.Format
	look source.Flags // of its colours
}

// readStyles gives what each cell style says, in the order that the s attribute of cells counts.
func (a *archive) readStyles(ctx context.Context, part int) ([]format, error) {
	codes := map[int]numfmt.Format{}
	looks := map[[2]string]int{{}: 0}
	var fonts, fills []string
	var styles []format
	var numbers []int
	err := a.walk(ctx, part, func(w *walker, t token) (err error) {
		switch {
		case t.is("numFmts"):
			return w.children(t, "numFmt", func(t token) {
				id, err := strconv.Atoi(attrOr(t, "numFmtId"))
				code, ok := t.plainAttr("formatCode")
				if err == nil && ok {
					codes[id] = numfmt.Parse(code)
				}
			})
		case t.is("fonts"):
			fonts, err = w.colours(t, "font")
			return err
		case t.is("fills"):
			fills, err = w.colours(t, "fill")
			return err
		case t.is("cellXfs"):
			return w.children(t, "xf", func(t token) {
				number := func(name string) int {
					id, err := strconv.Atoi(attrOr(t, name))
					if err != nil {
						return 0
					}
					return id
				}
				look := [2]string{at(fonts, number("fontId")), at(fills, number("fillId"))}
				n, known := looks[look]
				if !known {
					n = len(looks)
					looks[look] = n
				}
				styles = append(styles, format{look: source.LookFlags(n)})
				numbers = append(numbers, number("numFmtId"))
			})
		case len(w.ends) == 2 || len(w.ends) == 1 && t.empty:
			return w.skip(t)
		}
		return nil
	})
	for i, id := range numbers {
		f, ok := codes[id]
		if !ok {
			f = numfmt.Builtin(id)
		}
		styles[i].Format = f
	}
	return styles, err
}

func at(list []string, i int) string {
	if i < 0 || i >= len(list) {
		return ""
	}
	return list[i]
}

// colours gives the colour of each font or fill of a list; "" is the ordinary one. Underlined fonts are ordinary: programs
// colour the links that they make of addresses.
func (w *walker) colours(t token, item string) ([]string, error) {
	if t.empty {
		return nil, nil
	}
	var list []string
	underlined, solid := false, false
	for depth := len(w.ends); len(w.ends) >= depth; {
		t, err := w.next()
		if err != nil {
			return nil, err
		}
		level := len(w.ends)
		if t.empty {
			level++
		}
		switch {
		case t.kind != tokStart:
		case level == depth+1:
			if t.is(item) {
				list = append(list, "")
				underlined, solid = false, false
			}
		case len(list) == 0:
		case t.is("u"):
			underlined = true
			list[len(list)-1] = ""
		case t.is("patternFill"):
			kind := attrOr(t, "patternType")
			solid = kind != "" && kind != "none"
			if solid && kind != "solid" {
				list[len(list)-1] = kind
			}
		case t.is("gradientFill"):
			list[len(list)-1] = "gradient"
		case item == "font" && t.is("color") && !underlined, t.is("fgColor") && solid:
			list[len(list)-1] += colour(t, item == "font")
		}
	}
	return list, nil
}

// colour names a colour; "" is black for a font and white for a fill, in the ways that programs write them.
func colour(t token, font bool) string {
	ordinary := map[string]bool{"rgb:FFFFFFFF": true, "rgb:00FFFFFF": true, "theme:0": true, "indexed:9": true, "indexed:65": true, "indexed:64": true, "indexed:1": true, "auto:": true}
	if font {
		ordinary = map[string]bool{"rgb:FF000000": true, "rgb:00000000": true, "theme:1": true, "indexed:8": true, "indexed:64": true, "indexed:0": true, "auto:": true,
			"theme:10": true, "theme:11": true} // links
	}
	for _, kind := range [...]string{"rgb", "theme", "indexed"} {
		v := strings.ToUpper(attrOr(t, kind))
		if v == "" {
			continue
		}
		name := kind + ":" + v
		if tint := attrOr(t, "tint"); tint != "" && tint != "0" {
			return name + "/" + tint
		}
		if ordinary[name] {
			return ""
		}
		return name
	}
	return ""
}
