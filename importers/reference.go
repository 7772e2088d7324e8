package importers

import (
	"net/netip"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"
)

// IsReference reports whether s can lead a person to a proof: a document number, a log id, a digest, a token, an address
// that names one thing. It is the published rule for proof_ref:
//
//   - one word, no white space inside, at least six characters;
//   - years, dates and times are taken away first, and IP addresses; what is left must hold three digits in a row that
//     are not all zero, or be a digest, a UUID or a token: sixteen letters and digits in a row, well mixed;
//   - a number by itself must have seven to nine digits and not look like a telephone number, or more than fifteen and
//     not look like a time stamp: shorter ones may be days or postal codes, those between telephone numbers or time stamps;
//   - e-mail addresses, telephone numbers, IP addresses and streets say who or where from, and are none;
//   - of a web address only what stands after the host is looked at: a site or a form is no proof.
//
// So "Y", "yes", "✓", "website2019", "form", "n/a", "form 2", "2019-05-01", "01512345678" never count; "DOC-2019-0042",
// "sha256:9f86d081…" and "https://sign.example/r/8841" do. Only the digits 0 to 9 are digits here.
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
		rest := strings.Trim(u.Path+"?"+u.RawQuery+"#"+u.Fragment, "/?#")
		return !whoOrWhere(rest) && (names(rest) || tokenLike(rest))
	}
	if countDigits(s) == 0 && len(s) < 16 || mailLike(s) || whoOrWhere(s) || whoOrWhere(announced(s)) {
		return false
	}
	if plainNumber(s) {
		return numberNames(s)
	}
	return (names(afterHost(s)) || tokenLike(s)) && !StreetLike(s)
}

// names reports whether what is left of s without years, dates, times and IP addresses holds three digits in a row.
func names(s string) bool {
	var room [referenceMax]byte
	p := append(room[:0], s[:min(len(s), len(room))]...)
	maskTimes(p)
	run, zeros := 0, true
	for _, c := range p {
		if c < '0' || c > '9' {
			run, zeros = 0, true
			continue
		}
		run++
		if zeros = zeros && c == '0'; run >= 3 && !zeros {
			return true
		}
	}
	return false
}

// tokenLike reports whether s without years, dates, times and IP addresses holds a UUID or a token.
func tokenLike(s string) bool {
	var room [referenceMax]byte
	p := append(room[:0], s[:min(len(s), len(room))]...)
	maskTimes(p)
	return uuidLike(p) || holdsToken(p)
}

// referenceMax is how much of a reference is looked at, so that no row costs an allocation.
const referenceMax = 512

// masked stands for a digit that says when or where from; it is neither a letter nor a digit.
const masked = '.'

// maskTimes takes the digits of years, written-together dates and times, fractions and offsets of times, and IP addresses out
// of p. Days, months, hours and minutes have two digits at most and count for nothing anyway.
func maskTimes(p []byte) {
	clock := false // a time such as 10:15 has just ended
	for i := 0; i < len(p); {
		if p[i] < '0' || p[i] > '9' {
			i++
			continue
		}
		end := i
		for end < len(p) && p[end] >= '0' && p[end] <= '9' {
			end++
		}
		run := p[i:end]
		before, connected := byte(0), false
		if i > 0 {
			before = p[i-1]
			connected = clock && i > 1 && (p[i-2] == masked || p[i-2] >= '0' && p[i-2] <= '9' || p[i-2] == 'Z')
		}
		switch {
		case year(run):
			mask(run)
			clock = false
		case dateRun(run), before == 'T' && i > 1 && p[i-2] == masked && (len(run) == 4 || len(run) == 6):
			mask(run)
			clock = len(run) != 8
		case connected && (before == '.' || before == ','), connected && (before == '+' || before == '-') && len(run) == 4:
			mask(run)
		case len(run) <= 3:
			if n := ipv4At(p[i:]); n > 0 {
				mask(p[i : i+n])
				end = i + n
			}
			clock = before == ':' && len(run) <= 2
		default:
			clock = false
		}
		i = end
	}
}

func mask(p []byte) {
	for i := range p {
		p[i] = masked
	}
}

func number(p []byte) (n int) {
	for _, c := range p {
		n = n*10 + int(c-'0')
	}
	return n
}

func year(p []byte) bool { return len(p) == 4 && number(p) >= 1900 && number(p) < 2100 }

// dateRun knows a date, perhaps with a time of day, written without separators: 20190501, 01052019, 20190501101500.
func dateRun(p []byte) bool {
	day := func(y, m, d []byte) bool {
		return year(y) && number(m) >= 1 && number(m) <= 12 && number(d) >= 1 && number(d) <= 31
	}
	switch len(p) {
	case 8:
		return day(p[:4], p[4:6], p[6:]) || day(p[4:], p[2:4], p[:2]) || day(p[4:], p[:2], p[2:4])
	case 10, 12, 14, 17:
		return day(p[:4], p[4:6], p[6:8]) && number(p[8:10]) < 24 && (len(p) < 12 || number(p[10:12]) < 60) && (len(p) < 14 || number(p[12:14]) < 60)
	}
	return false
}

// ipv4At gives the length of the IPv4 address that p begins with, port or prefix length included, or 0.
func ipv4At(p []byte) int {
	i := 0
	for part := range 4 {
		if part > 0 {
			if i >= len(p) || p[i] != '.' {
				return 0
			}
			i++
		}
		from := i
		for i < len(p) && p[i] >= '0' && p[i] <= '9' && i-from < 4 {
			i++
		}
		if i == from || i-from > 3 || number(p[from:i]) > 255 {
			return 0
		}
	}
	if i+1 < len(p) && (p[i] == ':' || p[i] == '/') && p[i+1] >= '0' && p[i+1] <= '9' {
		limit := 5
		if p[i] == '/' {
			limit = 2
		}
		end := i + 1
		for end < len(p) && p[end] >= '0' && p[end] <= '9' {
			end++
		}
		if end-i-1 <= limit {
			i = end
		}
	}
	return i
}

// plainNumber reports whether s holds digits and number signs only.
func plainNumber(s string) bool { return strings.Trim(s, "0123456789-./(),") == "" }

// numberNames judges a number by itself.
func numberNames(s string) bool {
	if oneDigit(s) {
		return false
	}
	digits := countDigits(s)
	if digits == len(s) {
		return !dateRun([]byte(s)) && (digits >= 7 && digits <= 9 || digits > 15 && !epoch(s))
	}
	// With separators it may be a telephone number in groups, unless a year stands in it as in 2019/004711.
	var room [64]byte
	p := append(room[:0], s[:min(len(s), len(room))]...)
	maskTimes(p)
	dated := countDigits(string(p)) < digits
	if sign := strings.IndexAny(s, ".,"); sign >= 0 && countDigits(s[:sign])+countDigits(s[sign+1:]) == len(s)-1 {
		return false // a decimal number
	}
	return (dated || digits > 15) && names(s)
}

// epoch knows a time stamp in micro- or nanoseconds since 1970, up to the year 2100; shorter ones have at most 15 digits.
func epoch(s string) bool { return (len(s) == 16 || len(s) == 19) && s[0] >= '1' && s[0] <= '4' }

func countDigits(s string) (n int) {
	for i := range len(s) {
		if s[i] >= '0' && s[i] <= '9' {
			n++
		}
	}
	return n
}

// whoOrWhere reports whether s is a telephone number, or a number that may be one, or an IP address.
func whoOrWhere(s string) bool {
	return s != "" && (phoneLike(s) || addrLike(s) || countDigits(s) > 9 && plainNumber(s) && !numberNames(s))
}

// announcing are words that announce a telephone number or an address.
var announcing = [...]string{"tel", "telefon", "telephone", "phone", "mobil", "mobile", "handy", "cell", "fax", "sms", "whatsapp", "ip", "ipv4", "ipv6"}

// announced gives what follows such a word and a sign, or "".
func announced(s string) string {
	i := strings.IndexAny(s, ":=-./_")
	if i < 2 {
		return ""
	}
	for _, w := range announcing {
		if len(w) == i && strings.EqualFold(s[:i], w) {
			return s[i+1:]
		}
	}
	return ""
}

// afterHost takes the host off an address without scheme, such as shop24.example/form: a first part that ends in a domain.
// A name by itself may be a file's.
func afterHost(s string) string {
	host, rest, path := strings.Cut(s, "/")
	dot := strings.LastIndexByte(host, '.')
	if dot < 1 || strings.IndexFunc(host[dot+1:], func(r rune) bool { return !unicode.IsLetter(r) }) >= 0 || len(host)-dot < 3 {
		return s
	}
	if path {
		return rest
	}
	for _, ext := range files {
		if strings.EqualFold(host[dot+1:], ext) {
			return host[:dot]
		}
	}
	return ""
}

// files are endings of files that may be a proof.
var files = [...]string{"pdf", "eml", "msg", "txt", "htm", "html", "xml", "json", "csv", "log", "doc", "docx", "odt", "rtf", "xls", "xlsx", "ods", "tif", "tiff",
	"png", "jpg", "jpeg", "heic", "wav", "ogg", "flac", "asc", "sig", "pem", "asice", "zip"}

// addrLike reports whether s is an IPv6 address, perhaps in brackets, with a port or a zone; IPv4 addresses are masked. It looks
// at the characters first, because an error of ParseAddr costs an allocation.
func addrLike(s string) bool {
	if strings.Count(s, ":") < 2 {
		return false
	}
	if s[0] == '[' {
		s, _, _ = strings.Cut(s[1:], "]")
	}
	s, _, _ = strings.Cut(s, "%")
	s, _, _ = strings.Cut(s, "/")
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

// phoneLike knows an international number by its plus or 00, and a national one by its leading zero.
func phoneLike(s string) bool {
	if i := strings.IndexByte(s, '+'); i >= 0 && countDigits(s[i:]) >= 7 && (i == 0 || strings.Trim(s[i+1:], "0123456789-./()") == "") {
		return true
	}
	if strings.Trim(s, "0123456789-./()") != "" {
		return false
	}
	number, digits := strings.TrimLeft(s, "("), countDigits(s)
	switch {
	case strings.HasPrefix(number, "00"):
		return digits >= 10 && digits <= 17 && strings.Trim(number[2:], "0") == number[2:]
	case strings.HasPrefix(number, "0"):
		return digits >= 7 && digits <= 15
	}
	return false
}

func mailLike(s string) bool {
	at := strings.LastIndexByte(s, '@')
	return at > 0 && strings.Contains(s[at:], ".")
}

// uuidLike reports whether p is a UUID, perhaps with a prefix such as urn:uuid: or in braces.
func uuidLike(p []byte) bool {
	for from := 0; from+36 <= len(p); from++ {
		match := true
		for i := range 36 {
			dash := i == 8 || i == 13 || i == 18 || i == 23
			if c := p[from+i]; dash != (c == '-') || !dash && !hexDigit(c) && c != masked {
				match = false
				break
			}
		}
		if match {
			return true
		}
	}
	return false
}

func hexDigit(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

// holdsToken looks for sixteen or more letters and digits in a row that no one would say as words: three digits in two places, or
// capitals, small letters and digits that change seven times within sixteen characters.
func holdsToken(p []byte) bool {
	kind := func(c byte) int {
		switch {
		case c >= '0' && c <= '9':
			return 1
		case c >= 'a' && c <= 'z':
			return 2
		case c >= 'A' && c <= 'Z':
			return 3
		}
		return 0
	}
	const window, changes = 16, 7
	from, digits, places := 0, 0, 0
	for i := range p {
		k := kind(p[i])
		if k == 0 {
			from, digits, places = i+1, 0, 0
			continue
		}
		if k == 1 {
			if digits++; i == from || kind(p[i-1]) != 1 {
				places++
			}
		}
		if i-from+1 < window {
			continue
		}
		if digits >= 3 && places >= 2 {
			return true
		}
		n := 0
		for j := i - window + 2; j <= i; j++ {
			if kind(p[j]) != kind(p[j-1]) {
				n++
			}
		}
		if n >= changes {
			return true
		}
	}
	return false
}
