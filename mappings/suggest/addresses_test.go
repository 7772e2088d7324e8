package suggest

import (
	"strings"
	"testing"
)

// An address that was cleaned bounced: beside the words of a state it is a suppression, and elsewhere the word may be said of anything.
func TestCleanedAddressesBounced(t *testing.T) {
	for _, word := range []string{"Cleaned", "cleaned", "Bereinigt", "Nettoyé", "Limpiado", "Limpo", "Opgeschoond"} {
		for _, lines := range [][]string{
			{"Email|Status", "a@x.example|subscribed", "b@x.example|unsubscribed", "c@x.example|" + word},
			{"Email|Consent", "a@x.example|yes", "b@x.example|no", "c@x.example|" + word},
			{"Email|Consent|Status", "a@x.example|yes|Subscribed", "b@x.example|no|Unsubscribed", "c@x.example|yes|" + word},
		} {
			if _, text, _ := suggested(t, lookAt("contacts.csv", lines...)); !strings.Contains(text, "- entity: suppression") || !strings.Contains(text, "const: bounce") || !strings.Contains(text, "in: ["+word+"]") && !strings.Contains(text, `in: ["`+word+`"]`) {
				t.Errorf("%q: no suppression\n%s", lines, text)
			}
		}
		lines := []string{"Email|Newsletter|Address data", "a@x.example|yes|" + word, "b@x.example|no|"}
		if _, text, _ := suggested(t, lookAt("contacts.csv", lines...)); strings.Contains(text, "entity: suppression") {
			t.Errorf("%q: a suppression\n%s", lines, text)
		}
	}
}
