package manifests

import (
	"strings"
	"testing"
)

func TestPayloadName(t *testing.T) {
	tests := []struct{ in, want string }{
		{"exports/consents.xlsx", "exports/consents.xlsx"},
		{"../../etc/passwd", "etc/passwd"},
		{"/abs/./x.csv", "abs/x.csv"},
		{`C:\Users\x.csv`, "C=3A/Users/x.csv"},
		{"50% off.xlsx", "50=25 off.xlsx"},
		{"a=b", "a=3Db"},
		{"line\nfeed.csv", "line=0Afeed.csv"},
		{"NUL.txt", "=4EUL.txt"},
		{"com1", "=63om1"},
		{"COM10.csv", "COM10.csv"},
		{"dot.", "dot=2E"},
		{" lead", "=20lead"},
		{"bad\xffbyte", "bad=FFbyte"},
		{"Einwilligungen März.xlsx", "Einwilligungen März.xlsx"},
		{"Ma\u0308rz", "März"},
		{"..", "unnamed"},
		{"", "unnamed"},
	}
	for _, tt := range tests {
		if got := PayloadName(tt.in); got != tt.want {
			t.Errorf("PayloadName(%q) = %q, want %q", tt.in, got, tt.want)
		}
	}
	long := strings.Repeat("ä", 200)
	a, b := PayloadName(long+"1.csv"), PayloadName(long+"2.csv")
	if a == b || len(a) > maxSegment || checkName(a) != "" {
		t.Errorf("two long names: %q, %q", a, b)
	}
}

func TestCheckName(t *testing.T) {
	for _, bad := range []string{"", "/a", "../a", "a/../b", "a//b", "a/.", "a\\b", "C:x", "a\nb", "a\x00", "nul", "Lpt³.txt", "aux.csv",
		"x.", "x ", " x", "a\u202eb", "\xff", strings.Repeat("a", 256), "what?", "a/"} {
		if checkName(bad) == "" {
			t.Errorf("checkName(%q) accepts it", bad)
		}
	}
	for _, good := range []string{"a", "a/b.c", "data/100%.csv", "é", "null", "-x", "~x", "a b", ".hidden"} {
		if why := checkName(good); why != "" {
			t.Errorf("checkName(%q) = %s", good, why)
		}
	}
}

func TestNameSet(t *testing.T) {
	tests := []struct {
		name  string
		paths []string
		ok    bool
	}{
		{"apart", []string{"a", "b/a", "b/c"}, true},
		{"twice", []string{"a", "a"}, false},
		{"case", []string{"Consents.xlsx", "consents.xlsx"}, false},
		{"case by folding", []string{"straße", "STRASSE"}, false},
		{"accents' form", []string{"M\u00e4rz", "Ma\u0308rz"}, false},
		{"folders in another case", []string{"A/x", "a/y"}, false},
		{"file and folder", []string{"a", "a/b"}, false},
		{"folder and file", []string{"a/b", "A"}, false},
	}
	for _, tt := range tests {
		set, ok := make(nameSet), true
		for _, p := range tt.paths {
			ok = ok && set.add(p) == ""
		}
		if ok != tt.ok {
			t.Errorf("%s: accepted = %v, want %v", tt.name, ok, tt.ok)
		}
	}
}

func FuzzPayloadName(f *testing.F) {
	for _, s := range []string{"a/b", "..", "CON", "a\x00b", "%", "=", "a. .", "\u0344", strings.Repeat("x/", 300), "con.\u0301"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		n := PayloadName(s)
		if why := checkName(n); why != "" {
			t.Fatalf("PayloadName(%q) = %q: %s", s, n, why)
		}
		if strings.Contains(n, "%") {
			t.Fatalf("PayloadName(%q) = %q holds a percent sign", s, n)
		}
	})
}
