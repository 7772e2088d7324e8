package importers

import (
	"slices"
	"strings"
	"unicode"

	"golang.org/x/net/idna"
	"golang.org/x/text/unicode/norm"
)

// Key is one normalised identifier of a subject. Keys are comparable: two records speak of one subject if they share
// a key. Value is personal data; a Key is for matching, never for a report.
type Key struct {
	Kind   string // "subject_id", "email", "phone" or "device_id"
	System string // source system, for subject_id and device_id, whose values mean something only there
	Value  string
}

// Contact reports whether the key is a contact point rather than an identifier.
func (k Key) Contact() bool { return k.Kind == "email" || k.Kind == "phone" }

// String gives one unambiguous text for the key, such as a column can hold. It is personal data.
func (k Key) String() string {
	return k.Kind + ":" + strings.NewReplacer(`\`, `\\`, `:`, `\:`).Replace(k.System) + ":" + k.Value
}

// SubjectKeys returns the normalised keys of a suppression, case or consent record, in the order subject_id, email, phone,
// device_id. E-mail addresses are NFC and case-folded (two addresses that differ only in case match) with the domain in its ASCII
// form (münchen.example and xn--mnchen-3ya.example are one), phones are E.164, ids are NFC and keep their case. Only values from the row count: one that an operator states for a file would make all
// its rows one subject.
func SubjectKeys(rec *Record, system string) []Key {
	return AppendSubjectKeys(make([]Key, 0, len(kinds)), rec, system)
}

// AppendSubjectKeys appends what SubjectKeys returns.
func AppendSubjectKeys(keys []Key, rec *Record, system string) []Key {
	for n, i := range rec.Entity.subject {
		if i < 0 {
			continue
		}
		v := rec.Values[i]
		if !v.Set || v.Origin != FromRow || v.Text == "" {
			continue
		}
		k := Key{Kind: kinds[n], Value: v.Text}
		mail := k.Kind == "email"
		if mail && plainMail(k.Value) {
			keys = append(keys, k)
			continue
		}
		if !ASCII(k.Value) {
			k.Value = norm.NFC.String(k.Value)
		}
		switch {
		case mail:
			k.Value = foldMail(k.Value)
		case !k.Contact():
			k.System = system
		}
		keys = append(keys, k)
	}
	return keys
}

// OwnKeys gives the keys in memory of their own, to be kept longer than what they were made from.
func OwnKeys(keys []Key) []Key {
	size := 0
	for i := range keys {
		size += len(keys[i].Value)
	}
	var text strings.Builder
	text.Grow(size)
	for i := range keys {
		text.WriteString(keys[i].Value)
	}
	values := text.String()
	own := make([]Key, len(keys))
	for i, k := range keys {
		own[i] = k
		own[i].Value, values = values[:len(k.Value)], values[len(k.Value):]
	}
	return own
}

// foldMail puts an address into the form in which addresses are compared.
func foldMail(s string) string {
	if plainMail(s) {
		return s
	}
	s = fold(s)
	at := strings.LastIndexByte(s, '@')
	domain := s[at+1:]
	if at < 0 || ASCII(domain) && !strings.Contains(domain, "xn--") {
		return s
	}
	if ascii, err := domains.ToASCII(domain); err == nil {
		return s[:at+1] + ascii
	}
	return s // no domain that exists; it only matches itself
}

// domains maps as RFC 5895 and UTS 46 say, without the transitional forms: straße.example is not strasse.example.
var domains = idna.New(idna.MapForLookup(), idna.Transitional(false), idna.StrictDomainName(false))

// ASCII reports whether a text is in ASCII. It looks at eight bytes at once, which the compiler loads as one: it is asked of every text
// of every record.
func ASCII(s string) bool {
	for len(s) >= 8 {
		word := uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 | uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
		if word&0x8080808080808080 != 0 {
			return false
		}
		s = s[8:]
	}
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

// plainMail reports whether an address is surely in the form that foldMail gives: no capital, no other character than ASCII, no
// domain that could be written in another way.
func plainMail(s string) bool {
	for i := range len(s) {
		if c := s[i]; c > unicode.MaxASCII || 'A' <= c && c <= 'Z' {
			return false
		}
	}
	return !strings.Contains(s, "xn--")
}

// Reaches reports whether a suppression with these keys and this reason concerns a record with those keys. An objection,
// opt-out, complaint or legal block concerns the subject, so any shared key will do. A bounce or an invalid address concerns
// the contact point alone: a record that names other contact points, and not that one, is not reached.
func Reaches(reason string, suppression, record []Key) bool {
	contact := false
	shared := false
	for _, r := range record {
		contact = contact || r.Contact()
		for _, s := range suppression {
			if r != s {
				continue
			}
			if r.Contact() || !deliveryOnly(reason) {
				return true
			}
			shared = true
		}
	}
	return shared && !contact
}

// ReachesLinked is Reaches for a suppression that has no key in common with the record but is known to be about its subject
// (see Links).
func ReachesLinked(reason string, record []Key) bool {
	return !deliveryOnly(reason) || !slices.ContainsFunc(record, Key.Contact)
}

// fold maps each character to one member of its simple case-folding orbit, so that fold(a) == fold(b) exactly when
// strings.EqualFold(a, b).
func fold(s string) string { return strings.Map(foldRune, s) }

func foldRune(r rune) rune {
	if r < unicode.MaxASCII {
		if 'A' <= r && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r
	}
	least := r
	for c := unicode.SimpleFold(r); c != r; c = unicode.SimpleFold(c) {
		least = min(least, c)
	}
	lower := unicode.ToLower(least)
	for c := unicode.SimpleFold(least); c != least; c = unicode.SimpleFold(c) {
		if c == lower { // not so for U+0130, whose lower case is the i of another orbit
			return lower
		}
	}
	return least
}
