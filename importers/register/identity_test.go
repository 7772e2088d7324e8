package register

import (
	"testing"

	"sheetlift/manifests"
)

// TestNameIsCanonical holds the hand-written form of names to the library's RFC 8785.
func TestNameIsCanonical(t *testing.T) {
	for _, parts := range [][]string{
		{"acme", "crm", "consent", "C-1"},
		{"a\"b\\c", "<&>", "\u2028\u2029", "Zoë ✓ 😀"},
		{"\x00\x01\b\t\n\v\f\r\x1f\x7f"},
		{""},
	} {
		want, err := manifests.Canonical(parts)
		if err != nil {
			t.Fatal(err)
		}
		if got := appendName(nil, parts...); string(got) != string(want) {
			t.Errorf("name(%q) = %s, want %s", parts, got, want)
		}
	}
}
