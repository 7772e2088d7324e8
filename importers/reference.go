package importers

import (
	"net/netip"
	"net/url"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// IsReference reports whether s can lead a person to a proof: a document number, a log id, a digest, a token, an address
// that names one thing. It is the published rule for proof_ref:
//
//   - one word, no white space inside, at least six characters, at least one digit;
//   - not a date or a time, not an e-mail address, not a phone number, not an IP address (they say when, who or
//     where from, and are no proof), not one digit repeated;
//   - of a web address, the digit must stand in its path, query or fragment: a site or a form is no proof.
//
// So "Y", "yes", "✓", "website", "form", "n/a", "form 2", "2019-05-01" never count; "DOC-2019-0042",
// "sha256:9f86d081…" and "https://sign.example/r/8841" do.
func IsReference(s string) bool {
	s = strings.TrimSpace(s)
	if utf8.RuneCountInString(s) < 6 || strings.ContainsFunc(s, unicode.IsSpace) {
		return false
	}
	if strings.Contains(s, "://") {
		u, err := url.Parse(s)
		if err != nil || u.Host == "" {
			return false
		}
		return strings.ContainsFunc(u.Path+u.RawQuery+u.Fragment, unicode.IsDigit)
	}
	return strings.ContainsFunc(s, unicode.IsDigit) &&
		!oneDigit(s) && !dateLike(s) && !phoneLike(s) && !mailLike(s) && !addrLike(s)
}

// addrLike looks at the characters first, because an error of ParseAddr costs an allocation.
func addrLike(s string) bool {
	if strings.Trim(s, "0123456789abcdefABCDEF:.") != "" {
		return false
	}
	_, err := netip.ParseAddr(s)
	return err == nil
}

// oneDigit reports whether s is one digit again and again, such as 000000.
func oneDigit(s string) bool {
	return s[0] >= '0' && s[0] <= '9' && strings.Trim(s, s[:1]) == ""
}

func phoneLike(s string) bool {
	return s[0] == '+' && strings.Trim(s[1:], "0123456789-./()") == ""
}

func mailLike(s string) bool {
	at := strings.LastIndexByte(s, '@')
	return at > 0 && strings.Contains(s[at:], ".")
}

// dateLike reports whether s is written as a day or a time. Only letters T and Z may stand in one, so that
// "2019-05-01-A" stays a reference.
func dateLike(s string) bool {
	if strings.Trim(s, "0123456789-./:+TZ") != "" {
		return false
	}
	for _, layout := range dateLayouts {
		if _, err := time.Parse(layout, s); err == nil {
			return true
		}
	}
	return false
}

var dateLayouts = []string{
	"2006-1-2", "2006/1/2", "2006.1.2", "20060102",
	"2-1-2006", "2/1/2006", "2.1.2006", "2-1-06", "2/1/06", "2.1.06",
	"1-2-2006", "1/2/2006", "1-2-06", "1/2/06",
	"15:04:05", "15:04:05.999999",
	"2006-01-02T15:04", "2006-01-02T15:04:05", "2006-01-02T15:04Z07:00", time.RFC3339Nano,
	"20060102T150405", "20060102T150405Z", "20060102150405",
}
