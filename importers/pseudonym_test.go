package importers

import (
	"slices"
	"strings"
	"testing"
)

// A pseudonym is the same wherever it is made of a key by the same secret, another of any other key, and holds nothing of it.
func TestPseudonyms(t *testing.T) {
	of := func(secret, row string) []Key { return NewPseudonyms([]byte(secret)).Of(keysOf(row)) }
	row := "C-1/crm a@x.example +491234 d:1/web"
	keys := of("one", row)
	if !slices.Equal(keys, of("one", row)) || !slices.Equal(keys, NewPseudonyms([]byte("one")).Of(keys)) {
		t.Error("two of one key differ")
	}
	for _, other := range [][]Key{of("two", row), of("one", "C-2/crm b@x.example +491235 d:2/web"), of("one", "C-1/shop A@x.example +49123 d:1/app")} {
		for i := range keys {
			if keys[i].Value == other[i].Value {
				t.Errorf("two keys have one pseudonym: %s", keys[i].Kind)
			}
		}
	}
	if a, b := of("one", "x"), of("one", "x@"); a[0].Value == b[0].Value {
		t.Error("two kinds have one pseudonym")
	}
	text := KeysText(keys)
	if strings.Contains(text, "C-1") || strings.Contains(text, "x.example") {
		t.Errorf("it shows the key: %s", text)
	}
	one := of("one", "C-1/crm a@x.example")
	if got, err := ReadKeys(KeysText(one), "crm"); err != nil || !slices.Equal(got, one) {
		t.Errorf("read back as %v, %v", got, err)
	}
	for _, bad := range []string{"email", "email:00", "mail:00112233445566778899aabbccddeeff", "email:zz112233445566778899aabbccddeeff"} {
		if _, err := ReadKeys(bad, "crm"); err == nil {
			t.Errorf("%q is read", bad)
		}
	}
}
