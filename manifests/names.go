package manifests

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// maxSegment is the longest file name, in bytes, that every common file system takes.
const maxSegment = 255

// PayloadName makes any source path usable as the name of a payload file, on every system and for `sha256sum -c`.
//
// Separators become "/". A leading "/" or drive and every "." or ".." segment go, so that the name stays inside the bag.
// Characters that a system forbids, that sha256sum or BagIt would have to escape, and "=" itself become "=XX" (bytes in hex), so
// names that differ in more than the form of their accents stay different; a segment that would become too long ends in a digest instead. The original name is
// evidence of its own: keep it in a tag file.
func PayloadName(source string) string {
	source = strings.ReplaceAll(source, `\`, "/")
	var out []string
	for seg := range strings.SplitSeq(source, "/") {
		if seg == "" || seg == "." || seg == ".." {
			continue
		}
		out = append(out, portableSegment(seg))
	}
	if len(out) == 0 {
		return "unnamed"
	}
	return strings.Join(out, "/")
}

func portableSegment(seg string) string {
	var b strings.Builder
	for i := 0; i < len(seg); {
		r, n := utf8.DecodeRuneInString(seg[i:])
		bad := r == utf8.RuneError && n == 1 || r == '=' || r == '%' || forbidden(r) ||
			i == 0 && (r == ' ' || reservedOnWindows(seg)) ||
			i+n == len(seg) && (r == '.' || r == ' ')
		if !bad {
			b.WriteString(seg[i : i+n])
		} else {
			for _, c := range []byte(seg[i : i+n]) {
				fmt.Fprintf(&b, "=%02X", c)
			}
		}
		i += n
	}
	s := norm.NFC.String(b.String())
	if len(s) > maxSegment {
		cut := maxSegment - 17
		for !utf8.RuneStart(s[cut]) {
			cut--
		}
		s = s[:cut] + "~" + hexSum([]byte(seg))[:16]
	}
	return s
}

// checkName says why a slash-separated path may not stand in a bag, or "".
func checkName(p string) string {
	switch {
	case p == "":
		return "the name is empty"
	case !utf8.ValidString(p):
		return "the name is not valid UTF-8"
	case strings.HasPrefix(p, "/"):
		return "the path is absolute"
	}
	for seg := range strings.SplitSeq(p, "/") {
		switch {
		case seg == "" || seg == ".":
			return "the path has an empty part"
		case seg == "..":
			return `the path leads out of the bag ("..")`
		case len(seg) > maxSegment:
			return fmt.Sprintf("a part of the path is longer than %d bytes", maxSegment)
		case strings.HasPrefix(seg, " ") || strings.HasSuffix(seg, " ") || strings.HasSuffix(seg, "."):
			return "a part of the path begins with a space, or ends with a space or a dot, which other systems drop"
		case reservedOnWindows(seg):
			return "a part of the path is a device's name on Windows"
		}
		for _, r := range seg {
			if forbidden(r) {
				return "the path holds a control character or one of \\ < > : \" | ? *"
			}
		}
	}
	return ""
}

func forbidden(r rune) bool {
	return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == '\u2028' || r == '\u2029' || strings.ContainsRune(`\<>:"|?*`, r)
}

// reservedOnWindows knows the device names of "Naming Files, Paths, and Namespaces" (Win32), with any extension.
func reservedOnWindows(seg string) bool {
	base, _, _ := strings.Cut(seg, ".")
	base = strings.ToUpper(strings.TrimRight(base, " "))
	switch base {
	case "CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$":
		return true
	}
	port, ok := strings.CutPrefix(base, "COM")
	if !ok {
		port, ok = strings.CutPrefix(base, "LPT")
	}
	if !ok {
		return false
	}
	switch port {
	case "0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "¹", "²", "³":
		return true
	}
	return false
}

// nameSet holds paths that must stay apart on every file system.
type nameSet map[string]string

// add says why p can't stand beside the paths already there, or "". Its folders count too: "A/x" and "a/y" are one folder on one
// system and two on another.
func (s nameSet) add(p string) string {
	for i, c := range p {
		if c != '/' {
			continue
		}
		dir := p[:i+1]
		if had, ok := s[collisionKey(dir)]; ok && had != dir {
			return "a folder of the path differs from another only in case or in the form of its accents"
		}
		if _, ok := s[collisionKey(p[:i])]; ok {
			return "a folder of the path is also the name of a file"
		}
		s[collisionKey(dir)] = dir
	}
	key := collisionKey(p)
	if had, ok := s[key]; ok {
		if had == p {
			return "the path is there twice"
		}
		return "the path differs from another only in case or in the form of its accents"
	}
	if _, ok := s[key+"/"]; ok {
		return "the path is also the name of a folder"
	}
	s[key] = p
	return ""
}

// collisionKey is equal for two paths that one file system or another takes for the same.
func collisionKey(p string) string {
	return norm.NFC.String(cases.Fold().String(norm.NFC.String(p)))
}
