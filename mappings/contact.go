package mappings

import (
	"bytes"
	"net/mail"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/nyaruka/phonenumbers"

	"sheetlift/importers/source"
)

func (r *fieldReader) parseEmail(c source.Cell, text []byte, k int) {
	if c.Kind == source.Number {
		r.reject("value.kind", k)
		return
	}
	if !r.contactText(text, k) {
		return
	}
	if !plainAddress(text) {
		raw := string(text)
		addr, err := mail.ParseAddress(raw)
		if err != nil || addr.Name != "" || addr.Address != raw {
			r.reject("email.invalid", k)
			return
		}
	}
	r.out.v.Text = r.str(text)
	r.doubtLooks(text, k)
}

// plainAddress knows the addresses that nearly all are, dot-atoms on both sides of one @, and that net/mail accepts as they
// are; whatever else is left to net/mail.
func plainAddress(s []byte) bool {
	at := bytes.IndexByte(s, '@')
	return at > 0 && dotAtom(s[:at]) && dotAtom(s[at+1:])
}

// atomChar are the characters of the plain ones' atoms.
var atomChar = func() (atoms [256]bool) {
	for c := range 256 {
		atoms[c] = c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_' || c == '+'
	}
	return atoms
}()

func dotAtom(s []byte) bool {
	dot := true
	for _, c := range s {
		switch {
		case atomChar[c]:
			dot = false
		case c == '.' && !dot:
			dot = true
		default:
			return false
		}
	}
	return !dot
}

// phoneSigns may stand between the digits of a telephone number.
const phoneSigns = " ()-./"

var phoneSign = func() (signs [256]bool) {
	for _, c := range []byte(phoneSigns) {
		signs[c] = true
	}
	return signs
}()

// trunkOptional are regions whose national prefix begins with 0 but whose numbers are stored without it as a rule, so that a
// number without it has lost nothing.
var trunkOptional = map[string]bool{"IN": true}

// parsePhone gives E.164. The library reads much that is no telephone number, so only digits, the usual signs and a leading
// plus get to it.
func (r *fieldReader) parsePhone(c source.Cell, text []byte, k int) {
	number := c.Kind == source.Number
	if number && (c.Class == source.Date || c.Class == source.DateTime || c.Class == source.Time || c.Class == source.Percent) {
		r.reject("value.kind", k)
		return
	}
	if number && (c.Flags&source.ZeroPadded != 0 || !plainDigits(text, 15)) {
		r.reject("phone.zeros_lost", k)
		return
	}
	if !number {
		if !r.contactText(text, k) {
			return
		}
		if eNotation(text) {
			r.reject("phone.zeros_lost", k)
			return
		}
	}
	digits := 0
	for i, b := range text {
		switch {
		case b >= '0' && b <= '9':
			digits++
		case b == '+' && i == 0, phoneSign[b]:
		default:
			r.reject("phone.invalid", k)
			return
		}
	}
	if digits < 4 {
		r.reject("phone.invalid", k)
		return
	}
	if mayBeTwoNumbers(text) {
		r.rejectWith("phone.invalid", "The cell may hold two telephone numbers, or one with two endings. Give each in a cell of its own.", k)
		return
	}
	s, region := "", r.p.region
	switch abroad, is := afterPrefix(text, region); {
	case is:
		if e164, valid := r.phones.international(abroad); valid {
			r.out.v.Text = r.str(e164)
			return
		}
		s, region = "+"+string(abroad), ""
	case region == "" && number:
		r.reject("phone.zeros_lost", k)
		return
	case region == "":
		r.reject("phone.no_region", k)
		return
	default:
		if e164, valid := r.phones.national(text, region); valid {
			r.out.v.Text = r.str(e164)
			return
		}
		s = string(text)
	}
	n, err := phonenumbers.Parse(s, region)
	valid := err == nil && n.GetExtension() == "" && phonenumbers.IsValidNumber(n)
	if region != "" && strings.HasPrefix(s, "00") { // whoever wrote it may have thought of another country's prefix
		other, err := phonenumbers.Parse("+"+s[2:], "")
		switch otherValid := err == nil && other.GetExtension() == "" && phonenumbers.IsValidNumber(other); {
		case otherValid && !valid:
			n, valid, region = other, true, ""
		case otherValid && phonenumbers.Format(n, phonenumbers.E164) != phonenumbers.Format(other, phonenumbers.E164):
			r.rejectWith("phone.invalid", "The telephone number is one by the international prefix of the declared region, and another one if 00 is the prefix. Write it with a plus.", k)
			return
		}
	}
	if !valid {
		r.reject("phone.invalid", k)
		return
	}
	if region != "" && (lostTrunkZero(n, s, region) || lostPlus(n, s, region)) {
		if number {
			r.reject("phone.zeros_lost", k)
		} else {
			r.rejectWith("phone.zeros_lost", "The telephone number lacks its leading zero or its plus.", k)
		}
		return
	}
	r.out.v.Text = r.str([]byte(phonenumbers.Format(n, phonenumbers.E164)))
}

// afterPrefix gives what follows the prefix of an international number, a plus, or 00 where that is the prefix; is is false if text is none.
func afterPrefix(text []byte, region string) (number []byte, is bool) {
	if number, is = bytes.CutPrefix(text, []byte("+")); is {
		return number, true
	}
	if region != "" && abroadPrefixes()[region] != "00" {
		return nil, false
	}
	return bytes.CutPrefix(text, []byte("00"))
}

// abroadPrefixes gives what is dialled before a calling code, by region: an expression, as there may be several.
var abroadPrefixes = sync.OnceValue(func() map[string]string {
	prefixes := map[string]string{}
	if all, err := phonenumbers.MetadataCollection(); err == nil {
		for _, m := range all.GetMetadata() {
			prefixes[m.GetId()] = m.GetInternationalPrefix()
		}
	}
	return prefixes
})

// mayBeTwoNumbers reports whether a slash stands where it parts no area code, as in 0931 1234 / 1235.
func mayBeTwoNumbers(text []byte) bool {
	slash := bytes.LastIndexByte(text, '/')
	if slash < 0 {
		return false
	}
	before := bytes.FieldsFunc(text[:slash], func(c rune) bool { return c < '0' || c > '9' })
	before = slices.DeleteFunc(before, func(group []byte) bool { return len(group) == 1 && group[0] == '0' }) // of +49 (0) 931 / 1234
	most := 1
	if text[0] == '+' || bytes.HasPrefix(text, []byte("00")) {
		most = 2
	}
	return len(before) > most
}

// lostTrunkZero reports whether s is a national number that people of the region write with a leading zero, without it. It may
// as well be an international number without its plus: there is no telling.
func lostTrunkZero(n *phonenumbers.PhoneNumber, s, region string) bool {
	trunk := phonenumbers.GetNddPrefixForRegion(region, true)
	if !zeroGetsLost(trunk, region) {
		return false
	}
	national := phonenumbers.NormalizeDigitsOnly(phonenumbers.Format(n, phonenumbers.NATIONAL))
	return national == trunk+phonenumbers.NormalizeDigitsOnly(s)
}

// zeroGetsLost reports whether people of the region write national numbers with a leading zero, so that one without it has lost it.
func zeroGetsLost(trunk, region string) bool {
	return strings.HasPrefix(trunk, "0") && !trunkOptional[region]
}

// lostPlus reports whether s is an international number without its plus: the country's code was found in its digits. Where the code is
// what people dial within the country, as 1 is in North America, it is a national number and has lost nothing.
func lostPlus(n *phonenumbers.PhoneNumber, s, region string) bool {
	digits := phonenumbers.NormalizeDigitsOnly(s)
	return phonenumbers.Format(n, phonenumbers.E164) == "+"+digits && phonenumbers.GetNddPrefixForRegion(region, true) != strconv.Itoa(int(n.GetCountryCode()))
}
