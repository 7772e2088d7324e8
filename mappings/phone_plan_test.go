package mappings

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/nyaruka/phonenumbers"
	"pgregory.net/rapid"
)

// byLibrary is what parsePhone makes of a number that the plans leave to the library; "" if it is rejected.
func byLibrary(s, region string) string {
	if s[0] == '+' {
		region = ""
	}
	n, err := phonenumbers.Parse(s, region)
	if err != nil || !phonenumbers.IsValidNumber(n) || n.GetExtension() != "" || region != "" && (lostTrunkZero(n, s, region) || lostPlus(n, s, region)) {
		return ""
	}
	return phonenumbers.Format(n, phonenumbers.E164)
}

var phoneTypes = []phonenumbers.PhoneNumberType{
	phonenumbers.MOBILE, phonenumbers.FIXED_LINE, phonenumbers.TOLL_FREE, phonenumbers.PREMIUM_RATE, phonenumbers.SHARED_COST,
	phonenumbers.VOIP, phonenumbers.PERSONAL_NUMBER, phonenumbers.PAGER, phonenumbers.UAN, phonenumbers.VOICEMAIL,
}

// Where the fast answer is yes, the library says yes and gives the same E.164.
func TestPhonePlansAgreeWithTheLibrary(t *testing.T) {
	var plans phonePlans
	yes := 0
	check := func(t interface{ Fatalf(string, ...any) }, s, region string) {
		var got []byte
		var ok bool
		if s[0] == '+' {
			got, ok = plans.international([]byte(s[1:]))
		} else {
			got, ok = plans.national([]byte(s), region)
		}
		if !ok {
			return
		}
		yes++
		if want := byLibrary(s, region); want != string(got) {
			t.Fatalf("%q in %q: fast says %s, the library %q", s, region, got, want)
		}
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	for code := range phonenumbers.GetSupportedCallingCodes() {
		for range 60 {
			check(t, fmt.Sprintf("+%d%0*d", code, 4+rnd.IntN(8), rnd.Int64N(1e11)), "")
		}
	}
	var regions []string
	for region := range phonenumbers.GetSupportedRegions() {
		regions = append(regions, region)
		code := phonenumbers.GetCountryCodeForRegion(region)
		for range 60 {
			check(t, fmt.Sprintf("%0*d", 5+rnd.IntN(8), rnd.Int64N(1e11)), region)
		}
		for _, typ := range phoneTypes {
			n := phonenumbers.GetExampleNumberForType(region, typ)
			if n == nil {
				continue
			}
			own := phonenumbers.GetNationalSignificantNumber(n)
			for _, s := range []string{
				phonenumbers.Format(n, phonenumbers.E164), phonenumbers.Format(n, phonenumbers.INTERNATIONAL), phonenumbers.Format(n, phonenumbers.NATIONAL),
				own, "0" + own, "1" + own, "8" + own, fmt.Sprintf("%d%s", code, own), fmt.Sprintf("+%d (0) %s", code, own), fmt.Sprintf("00%d%s", code, own),
			} {
				if !onlyPhoneSigns(s) {
					continue
				}
				for range 20 {
					check(t, s, region)
					digits := []byte(s)
					if at := rnd.IntN(len(digits)); digits[at] >= '0' && digits[at] <= '9' {
						digits[at] = byte('0' + rnd.IntN(10))
					}
					s = string(digits)
				}
			}
		}
	}
	if yes < 10_000 {
		t.Fatalf("%d fast answers: the fast way is not in use", yes)
	}
	slices.Sort(regions)
	digits := rapid.StringMatching(`(\+[1-9][0-9]{0,2}|[0-9(])[ ()\-./0-9]{2,16}`)
	rapid.Check(t, func(t *rapid.T) { check(t, digits.Draw(t, "number"), rapid.SampledFrom(regions).Draw(t, "region")) })
}

// onlyPhoneSigns reports whether parsePhone lets a number get to the plans.
func onlyPhoneSigns(s string) bool {
	for i := range len(s) {
		if c := s[i]; (c < '0' || c > '9') && !phoneSign[c] && (c != '+' || i > 0) {
			return false
		}
	}
	return true
}

// Numbers as they are written at home are known without the library where most exports come from.
func TestPhonePlansKnowNationalNumbers(t *testing.T) {
	var plans phonePlans
	for _, region := range []string{"AT", "AU", "BE", "BR", "CA", "CH", "CZ", "DE", "DK", "ES", "FR", "GB", "IE", "IN", "IT", "JP", "NL", "NO", "PL", "PT", "SE", "US", "ZA"} {
		n := phonenumbers.GetExampleNumberForType(region, phonenumbers.MOBILE)
		s := phonenumbers.Format(n, phonenumbers.NATIONAL)
		if got, ok := plans.national([]byte(s), region); !ok || string(got) != phonenumbers.Format(n, phonenumbers.E164) {
			t.Errorf("%s: %q is left to the library", region, s)
		}
	}
}

func BenchmarkNationalPhone(b *testing.B) {
	var plans phonePlans
	for b.Loop() {
		plans.national([]byte("07400 123456"), "GB")
	}
}
