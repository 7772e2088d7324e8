package manifests

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// formatInfo writes bag-info.txt: one "Label: Value" a line, in the given order.
func formatInfo(pairs []Pair) []byte {
	var b bytes.Buffer
	for _, p := range pairs {
		fmt.Fprintf(&b, "%s: %s\n", p.Label, p.Value)
	}
	return b.Bytes()
}

// parseInfo reads what formatInfo writes. Folded lines are not ours and are a fault.
func parseInfo(data []byte) (pairs []Pair, faults []Fault) {
	for n := 1; len(data) > 0; n++ {
		line, rest, ended := bytes.Cut(data, []byte{'\n'})
		data = rest
		label, value, ok := strings.Cut(string(line), ": ")
		p := Pair{label, value}
		switch why := checkPair(p); {
		case !ended:
			faults = append(faults, Fault{Malformed, infoFile, fmt.Sprintf("line %d does not end in a line feed: the file may have been cut off", n)})
		case !ok:
			faults = append(faults, Fault{Malformed, infoFile, fmt.Sprintf("line %d is not a label, a colon, a space and a value", n)})
		case why != "":
			faults = append(faults, Fault{Malformed, infoFile, fmt.Sprintf("line %d: %s", n, why)})
		default:
			pairs = append(pairs, p)
		}
	}
	return pairs, faults
}

func checkPair(p Pair) string {
	switch {
	case p.Label == "" || strings.ContainsFunc(p.Label, func(r rune) bool { return r == ':' || unicode.IsSpace(r) || unicode.IsControl(r) }):
		return "the label is empty or holds a colon, a space or a control character"
	case !utf8.ValidString(p.Label) || !utf8.ValidString(p.Value):
		return "it is not valid UTF-8"
	case strings.ContainsFunc(p.Value, unicode.IsControl):
		return "the value holds a line end or another control character"
	case p.Value == "" || strings.TrimSpace(p.Value) != p.Value:
		return "the value is empty or has spaces around it"
	}
	return ""
}
