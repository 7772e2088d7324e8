package mappings

import (
	"strings"
	"testing"
)

// Headers that deny, decline or end something are none to which a yes is a consent; those that ask for one are told apart.
func TestHeadersThatDecline(t *testing.T) {
	for header := range strings.SplitSeq("Doesn't want newsletter|Doesn’t want newsletter|Doesnt want newsletter|Won't receive mail|Isn't subscribed|Hasn't consented|No longer wants newsletter|Hates newsletter|Ne veut plus la newsletter|"+
		"Ne souhaite plus recevoir|Nega consenso|Verzichtet auf Newsletter|Newsletter ungewollt|Newsletter unterbinden|Renonce à la newsletter|Renuncia a publicidad|Rinuncia alla newsletter|Prescinde de publicidad|Evitar newsletter|Dispensa newsletter", "|") {
		if asks := OptOutOf(header); asks != SureOptOut {
			t.Errorf("%q: %d", header, asks)
		}
	}
	for header := range strings.SplitSeq("Newsletter-Ende|Arrêt newsletter|Newsletter stoppen|Newsletter anulado|Nieuwsbrief uit|Consent asked|Newsletter invited|Needs newsletter consent|Einwilligung gefragt", "|") {
		if asks := OptOutOf(header); asks != MaybeOptOut && asks != SureOptOut {
			t.Errorf("%q: %d", header, asks)
		}
	}
	for header := range strings.SplitSeq("Newsletter|Wants newsletter|Newsletter plus|Consent|Uit Nederland|Wonnummer|Event attended|Cantonal newsletter", "|") {
		if asks := OptOutOf(header); asks != NoOptOut {
			t.Errorf("%q: %d", header, asks)
		}
	}
}
