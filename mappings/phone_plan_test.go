package mappings

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/nyaruka/phonenumbers"
	"pgregory.net/rapid"
)

// Where the fast answer is yes, the library says yes and gives the same E.164.
func TestPhonePlansAgreeWithTheLibrary(t *testing.T) {
	var plans phonePlans
	yes := 0
	check := func(s string) {
		got, ok := plans.e164([]byte(s))
		if !ok {
			return
		}
		yes++
		n, err := phonenumbers.Parse(s, "")
		if err != nil || !phonenumbers.IsValidNumber(n) || n.GetExtension() != "" {
			t.Fatalf("%q: fast says %s, the library refuses it (%v)", s, got, err)
		}
		if want := phonenumbers.Format(n, phonenumbers.E164); want != string(got) {
			t.Fatalf("%q: fast says %s, the library %s", s, got, want)
		}
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	for code := range phonenumbers.GetSupportedCallingCodes() {
		for range 60 {
			check(fmt.Sprintf("+%d%0*d", code, 4+rnd.IntN(8), rnd.Int64N(1e11)))
		}
	}
	missed := 0
	for region := range phonenumbers.GetSupportedRegions() {
		for _, typ := range []phonenumbers.PhoneNumberType{phonenumbers.MOBILE, phonenumbers.FIXED_LINE, phonenumbers.TOLL_FREE} {
			if n := phonenumbers.GetExampleNumberForType(region, typ); n != nil {
				for _, format := range []phonenumbers.PhoneNumberFormat{phonenumbers.E164, phonenumbers.INTERNATIONAL} {
					s := phonenumbers.Format(n, format)
					before := yes
					if check(s); yes == before {
						missed++
					}
				}
			}
		}
	}
	if yes < 1000 || missed > yes {
		t.Errorf("%d fast answers, %d example numbers left to the library: the fast way is not in use", yes, missed)
	}
	digits := rapid.StringMatching(`\+[1-9][0-9]{0,2}[ ()\-./0-9]{2,16}`)
	rapid.Check(t, func(t *rapid.T) { check(digits.Draw(t, "number")) })
}
