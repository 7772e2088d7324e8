package xlsx

import (
	"bytes"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// What appendPlain takes is what appendText makes of the text before the first tag; nearly all texts are taken.
func TestPlainTextIsText(t *testing.T) {
	pieces := []string{"a", "Z", "9", " ", "_", "x", "_x0041_", "é", "日", "\xc3", "\xff", "&amp;", "&", "\r", "\n", "\x00", ">", ";", "=", "%", "plain words of some length", "\x0c", "\x8c", "\xbc"}
	taken := 0
	rapid.Check(t, func(t *rapid.T) {
		raw := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 12).Draw(t, "pieces"), "")
		before := rapid.SampledFrom([]string{"", "x", "something"}).Draw(t, "before")
		dst := append(make([]byte, 0, len(before)+len(raw)+rapid.IntRange(0, 30).Draw(t, "room")), before...)
		b := []byte(raw + "</t></si>" + strings.Repeat("<", rapid.IntRange(0, 8).Draw(t, "after")))
		got, n, ok := appendPlain(dst, b)
		if !ok {
			return
		}
		taken++
		want, err := appendText([]byte(before), []byte(raw))
		if err != nil || n != len(raw) || !bytes.Equal(got, want) {
			t.Fatalf("%q gives %q of %d bytes, want %q, %v", raw, got, n, want, err)
		}
	})
	for _, plain := range []string{"", "a", "1234567", "12345678", "person70000013.x@example.org", "call_centre", "Zdeněk Ćosić", "a_", "_"} {
		if got, n, ok := appendPlain(make([]byte, 0, 64), []byte(plain+"</t></si><si><t>")); !ok || n != len(plain) || string(got) != plain {
			t.Errorf("%q is not taken", plain)
		}
	}
	if taken == 0 {
		t.Error("nothing was taken")
	}
}
