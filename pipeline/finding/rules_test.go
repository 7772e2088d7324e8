package finding

import (
	"regexp"
	"strings"
	"testing"
)

// Every rule is complete and reads as sentences, because reports and docs show it as it stands.
func TestRulesAreComplete(t *testing.T) {
	id := regexp.MustCompile(`^[a-z]+\.[a-z_]+$`)
	classes := map[Class]bool{
		Auth: true, Authz: true, RateLimit: true, TransientNetwork: true, SourceUnavailable: true, SchemaChanged: true, NotFound: true,
		MultipleMatch: true, VersionConflict: true, PolicyBlock: true, Validation: true, PartialSource: true, AmbiguousResult: true,
		PermanentUnsupported: true,
	}
	for _, r := range Rules {
		if !id.MatchString(r.ID) {
			t.Errorf("%s: id is not topic.name", r.ID)
		}
		if !classes[r.Class] {
			t.Errorf("%s: class %q", r.ID, r.Class)
		}
		if r.Severity != Error && r.Severity != Warning && r.Severity != Info {
			t.Errorf("%s: severity %q", r.ID, r.Severity)
		}
		if r.Scope != Row && r.Scope != Column && r.Scope != Batch {
			t.Errorf("%s: scope %q", r.ID, r.Scope)
		}
		if !strings.HasSuffix(r.Meaning, ".") || !strings.HasSuffix(r.Remedy, ".") || r.Example == "" {
			t.Errorf("%s: meaning and remedy are sentences, example is not empty", r.ID)
		}
	}
}

func TestNewTakesTheRule(t *testing.T) {
	f := New("enum.unmapped")
	r, ok := ByID("enum.unmapped")
	if !ok || f.Rule != r.ID || f.Class != r.Class || f.Severity != r.Severity || f.Message != r.Meaning || f.Remedy != r.Remedy {
		t.Fatalf("got %+v for %+v", f, r)
	}
	defer func() {
		if recover() == nil {
			t.Error("an undeclared rule is accepted")
		}
	}()
	New("no.such_rule")
}

func TestQuote(t *testing.T) {
	for value, want := range map[string]bool{
		"grnated":               true,
		"opted out":             true,
		"Not sure":              true,
		"✓":                     true,
		"v2.1":                  true,
		"":                      false,
		"a@b.example":           false,
		"+49 170 1234567":       false,
		"310101195608231":       false,
		"Erika Mustermann":      false,
		"Mustermann, Erika":     false,
		"a\u0000b":              false,
		"zero\u200bwidth":       false,
		strings.Repeat("x", 65): false,
		strings.Repeat("x", 64): true,
	} {
		if got := Quote(value); got != want {
			t.Errorf("Quote(%q) = %v, want %v", value, got, want)
		}
	}
}
