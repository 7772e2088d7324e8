package ods

import (
	"encoding/xml"
	"regexp"
	"strconv"
	"strings"

	"sheetlift/importers/source"
)

// value is what the attributes of a cell say (ODF 1.2 part 1, 19.385).
type value struct {
	kind    string // office:value-type
	held    string // the attribute that belongs to it
	isError bool
	formula bool
}

func valueOf(e *xml.StartElement) value {
	v := value{kind: attr(e, nsOffice, "value-type"), isError: attr(e, nsCalc, "value-type") == "error"}
	want := map[string]string{
		"float": "value", "percentage": "value", "currency": "value", "date": "date-value", "time": "time-value",
		"boolean": "boolean-value", "string": "string-value",
	}[v.kind]
	for i := range e.Attr {
		a := &e.Attr[i]
		switch {
		case a.Name.Space == nsOffice && a.Name.Local == want:
			v.held = a.Value
		case a.Name.Space == nsTable && a.Name.Local == "formula":
			v.formula = true
		}
	}
	return v
}

// Errors as programs show them; the file holds nothing else of them but, in some, the mark that it is one.
var errorText = regexp.MustCompile(`^(#N/A|#DIV/0!|#VALUE!|#REF!|#NAME\?|#NUM!|#NULL!|Err:\d{3})$`)

// ISO 8601 as ODF 1.2 part 1, 18.2 and 18.3.14 write dates and durations. A year may have more digits than four.
var (
	isoDate     = regexp.MustCompile(`^-?\d{4,}-\d\d-\d\d(T\d\d:\d\d(:\d\d([.,]\d+)?)?(Z|[+-]\d\d:\d\d)?)?$`)
	isoDuration = regexp.MustCompile(`^-?P(\d+Y)?(\d+M)?(\d+D)?(T(\d+H)?(\d+M)?(\d+([.,]\d+)?S)?)?$`)
)

// cell makes a cell of the attributes and the shown text; ok is false where a value is not what its type says.
func (v *value) cell(shown []byte, paragraphs bool) (cell source.Cell, text []byte, ok bool) {
	if v.formula {
		cell.Flags = source.Formula
	}
	switch v.kind {
	case "float", "percentage", "currency":
		held := strings.TrimSpace(v.held)
		if _, err := strconv.ParseFloat(held, 64); err != nil || strings.ContainsAny(held, "xXpP_iInN") {
			return cell, nil, false
		}
		cell.Kind = source.Number
		switch v.kind {
		case "percentage":
			cell.Class = source.Percent
		case "currency":
			cell.Class = source.Currency
		}
		return cell, []byte(held), true
	case "date":
		held := strings.TrimSpace(v.held)
		cell.Kind, cell.Class, cell.Flags = source.Text, source.Date, cell.Flags|source.ISODate
		if strings.Contains(held, "T") {
			cell.Class = source.DateTime
		}
		return cell, []byte(held), isoDate.MatchString(held)
	case "time":
		held := strings.TrimSpace(v.held)
		cell.Kind, cell.Class, cell.Flags = source.Text, source.Duration, cell.Flags|source.ISODate
		return cell, []byte(held), isoDuration.MatchString(held)
	case "boolean":
		cell.Kind = source.Bool
		switch strings.TrimSpace(v.held) {
		case "true":
			return cell, []byte("TRUE"), true
		case "false":
			return cell, []byte("FALSE"), true
		}
		return cell, nil, false
	}
	cell.Kind = source.Text
	if v.isError || v.formula && paragraphs && v.held == "" && errorText.Match(shown) {
		cell.Kind = source.ErrorValue
		return cell, shown, true
	}
	if v.held != "" {
		return cell, []byte(v.held), true
	}
	return cell, shown, true
}
