package biff

import (
	"math"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"sheetlift/importers/source/biff/bifftest"
)

// TestNumber holds that no digit is lost and none is made up.
func TestNumber(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := math.Float64frombits(rapid.Uint64().Draw(t, "bits"))
		got, plain := AppendNumber(nil, v)
		if plain == (math.IsNaN(v) || math.IsInf(v, 0)) {
			t.Fatalf("%v is plain: %t", v, plain)
		}
		back, err := strconv.ParseFloat(string(got), 64)
		if plain && (err != nil || math.Float64bits(back) != math.Float64bits(v)) {
			t.Fatalf("%v became %s", v, got)
		}
	})
	for v, want := range map[float64]string{0: "0", 1e15: "1000000000000000", 0.0001: "0.0001", 0.00001: "1e-05", 1e20: "100000000000000000000", 1e21: "1e+21"} {
		if got, _ := AppendNumber(nil, v); string(got) != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestRK(t *testing.T) {
	for raw, want := range map[uint32]float64{2: 0, 1<<2 | 2: 1, 0xfffffffe: -1, 0xffffffff: -0.01, 0x80000002: -(1 << 29), 0x3ff00000: 1, 0x3ff00001: 0.01, 0x40590000: 100} {
		if got := RK(raw); got != want {
			t.Errorf("%#x: got %v, want %v", raw, got, want)
		}
	}
}

func TestUTF16(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "text")
		if got, ok := AppendUTF16(nil, bifftest.Wide(s)); !ok || string(got) != s {
			t.Fatalf("%q became %q, %t", s, got, ok)
		}
	})
	for _, raw := range []string{"\x00\xd8", "\x00\xd8a\x00", "\x00\xdc", "\x00\xdc\x00\xd8", "a"} {
		if _, ok := AppendUTF16(nil, []byte(raw)); ok {
			t.Errorf("%x was decoded", raw)
		}
	}
}
