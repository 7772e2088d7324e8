package mappings

import (
	"bytes"
	"strings"

	"golang.org/x/text/language"

	"sheetlift/importers/source"
)

// Types that a mapping may read a cell as, beside those of the entities' fields.
const (
	typeCountry  = "country"
	typeLanguage = "language"
)

// notAssigned are regions that golang.org/x/text knows and ISO 3166-1 does not assign, or no more: transitional and
// exceptional reservations. XK, which the EU uses for Kosovo, is taken.
var notAssigned = " AC AN BU CP CQ CS CT DD DG DY EA EZ FQ FX HV IC JT MI NH NQ NT PC PU PZ RH SU TA TP UK UN VD WK YD YU ZR "

// countryCode is the ISO 3166-1 alpha-2 code of a two- or three-letter code, whatever its case. A name is no code.
func countryCode(s string) (code string, ok bool) {
	if len(s) != 2 && len(s) != 3 {
		return "", false
	}
	r, err := language.ParseRegion(s)
	if err != nil || !r.IsCountry() {
		return "", false
	}
	code = r.String()
	if len(code) != 2 || strings.Contains(notAssigned, " "+code+" ") {
		return "", false
	}
	return code, strings.EqualFold(s, code) || strings.EqualFold(s, r.ISO3())
}

// languageTag is a BCP 47 tag in its usual case. Its language is registered, and its region, if it has one, assigned.
func languageTag(s string) (tag string, ok bool) {
	t, err := language.Raw.Parse(s)
	if err != nil {
		return "", false
	}
	tag = t.String()
	base, _, region := t.Raw()
	if base.String() == "und" || !strings.EqualFold(tag, s) { // en_US, or deu instead of de
		return "", false
	}
	if r := region.String(); len(r) == 2 && r != "ZZ" {
		if _, ok := countryCode(r); !ok {
			return "", false
		}
	}
	return tag, true
}

func (r *fieldReader) parseCode(c source.Cell, text []byte, k int) {
	read, rule := countryCode, "country.invalid"
	if r.p.typ == typeLanguage {
		read, rule = languageTag, "language.invalid"
	}
	if c.Kind == source.Number {
		r.reject("value.kind", k)
		return
	}
	if !r.contactText(text, k) {
		return
	}
	code, ok := read(string(text))
	if !ok {
		r.reject(rule, k)
		return
	}
	r.out.v.Text = code
}

// decimalComma reports whether text is a number with a comma, and gives it with a point.
func decimalComma(text []byte) ([]byte, bool) {
	whole, part, comma := bytes.Cut(text, []byte(","))
	if !comma || !plainDigits(bytes.TrimPrefix(whole, []byte("-")), 15) || !plainDigits(part, 15) {
		return text, false
	}
	return bytes.Replace(text, []byte(","), []byte("."), 1), true
}
