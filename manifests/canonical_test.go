package manifests

import (
	"encoding/json"
	"errors"
	"math"
	"testing"
)

func TestCanonical(t *testing.T) {
	type inner struct {
		B string `json:"b"`
		A int    `json:"a"`
	}
	tests := []struct {
		name string
		in   any
		want string
	}{
		{"keys are sorted by UTF-16", map[string]int{"\ufb33": 1, "\U0001f600": 2, "a": 3}, "{\"a\":3,\"\U0001f600\":2,\"\ufb33\":1}"},
		{"struct tags", inner{B: "x", A: 1}, `{"a":1,"b":"x"}`},
		{"no HTML escapes", []string{"<&>", "é"}, `["<&>","é"]`},
		{"largest exact integer", int64(1<<53 - 1), `9007199254740991`},
		{"smallest exact integer", int64(-(1<<53 - 1)), `-9007199254740991`},
		{"fraction", 0.1, `0.1`},
		{"large digits inside a string are text", "90071992547409930", `"90071992547409930"`},
		{"a real replacement character stays", "\ufffd", "\"\ufffd\""},
		{"a backslash before ufffd stays", `\ufffd`, `"\\ufffd"`},
		{"nil", nil, `null`},
		{"control characters", "\x01\n", `"\u0001\n"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Canonical(tt.in)
			if err != nil || string(got) != tt.want {
				t.Fatalf("Canonical = %s, %v; want %s", got, err, tt.want)
			}
		})
	}
}

func TestCanonicalRefuses(t *testing.T) {
	tests := []struct {
		name string
		in   any
	}{
		{"2^53", int64(1 << 53)},
		{"2^53+1", int64(1<<53 + 1)},
		{"-2^53", int64(-1 << 53)},
		{"largest unsigned", uint64(math.MaxUint64)},
		{"large integer in a map", map[string]any{"n": []any{int64(1 << 60)}}},
		{"large float", 1e300},
		{"integer of a raw message", json.RawMessage(`{"n":9007199254740993}`)},
		{"over the range", json.RawMessage(`1e999`)},
		{"NaN", math.NaN()},
		{"infinity", math.Inf(1)},
		{"duplicate key", json.RawMessage(`{"a":1,"a":2}`)},
		{"bad UTF-8", "a\xffb"},
		{"bad UTF-8 in a key", map[string]int{"a\xff": 1}},
		{"bad UTF-8 in a raw message", json.RawMessage("\"\xff\"")},
		{"lone surrogate", json.RawMessage(`"\ud800"`)},
		{"a channel", make(chan int)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Canonical(tt.in)
			if !errors.Is(err, ErrSpec) {
				t.Fatalf("Canonical = %s, %v; want a refusal", got, err)
			}
			if d, err := Digest(tt.in); err == nil || d != "" {
				t.Fatalf("Digest = %s, %v; want a refusal", d, err)
			}
		})
	}
}

func TestDigest(t *testing.T) {
	// printf '{}' | sha256sum
	const want = "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"
	if got, err := Digest(struct{}{}); err != nil || got != want {
		t.Fatalf("Digest = %s, %v; want %s", got, err, want)
	}
}
