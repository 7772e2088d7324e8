package importers

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestSubjectKeys(t *testing.T) {
	rec := newRecord("consent", map[string]Value{
		"subject_id": text("C-1001"),
		"email":      text("Zoe\u0308@Shop.Example"), // e and a combining diaeresis
		"phone":      text("+4915112345678"),
		"device_id":  text("Dev-81"),
	})
	want := []Key{
		{"subject_id", "crm", "C-1001"},
		{"email", "", "zo\u00eb@shop.example"},
		{"phone", "", "+4915112345678"},
		{"device_id", "crm", "Dev-81"},
	}
	if got := SubjectKeys(rec, "crm"); !slices.Equal(got, want) {
		t.Errorf("SubjectKeys = %q, want %q", got, want)
	}
	if got := SubjectKeys(newRecord("consent", map[string]Value{"email": {Set: true, Origin: Stated, Text: "list@shop.example"}}), "crm"); len(got) != 0 {
		t.Errorf("an address stated for a file identifies nobody, got %q", got)
	}
	if got := SubjectKeys(newRecord("purpose", nil), "crm"); len(got) != 0 {
		t.Errorf("a purpose has no subject, got %q", got)
	}
}

func TestEmailCaseInSuppression(t *testing.T) {
	list := SubjectKeys(newRecord("suppression", map[string]Value{"email": text("MIA@Shop.EXAMPLE")}), "mail tool")
	consent := SubjectKeys(newRecord("consent", map[string]Value{"email": text("mia@shop.example")}), "crm")
	if !Reaches("opt_out", list, consent) {
		t.Error("two addresses that differ only in case must match")
	}
}

// An internationalised domain is one domain in both of its forms (RFC 5891).
func TestDomainInBothForms(t *testing.T) {
	key := func(s string) string {
		return SubjectKeys(newRecord("consent", map[string]Value{"email": text(s)}), "crm")[0].Value
	}
	for _, tt := range []struct {
		a, b string
		same bool
	}{
		{"jürgen@MÜNCHEN.example", "jürgen@xn--mnchen-3ya.example", true},
		{"jürgen@mu\u0308nchen.example", "JÜRGEN@XN--MNCHEN-3YA.Example", true},
		{"a@例え.example", "a@xn--r8jz45g.example", true},
		{"a@straße.example", "a@strasse.example", false},
		{"a@under_score.münchen.example", "a@under_score.xn--mnchen-3ya.example", true},
		{"jürgen@shop.example", "jurgen@shop.example", false},
		{"a@xn--.example", "a@XN--.example", true}, // no domain, but the same text
		{"xn--mnchen-3ya@shop.example", "münchen@shop.example", false},
	} {
		if got := key(tt.a) == key(tt.b); got != tt.same {
			t.Errorf("%s and %s: same = %v (%s, %s)", tt.a, tt.b, got, key(tt.a), key(tt.b))
		}
	}
	rec := newRecord("consent", map[string]Value{"email": text("jürgen@MÜNCHEN.example")})
	if SubjectKeys(rec, "crm"); rec.Get("email").Text != "jürgen@MÜNCHEN.example" {
		t.Error("the stored value changes")
	}
}

func TestSubjectIDMeansSomethingOnlyInItsSystem(t *testing.T) {
	a := SubjectKeys(newRecord("consent", map[string]Value{"subject_id": text("17")}), "crm")
	b := SubjectKeys(newRecord("suppression", map[string]Value{"subject_id": text("17")}), "shop")
	if Reaches("objection", b, a) {
		t.Error("17 of the shop is not 17 of the CRM")
	}
}

func TestReaches(t *testing.T) {
	id, mail, other, phone := Key{"subject_id", "crm", "1"}, Key{"email", "", "a@x.example"}, Key{"email", "", "b@x.example"}, Key{"phone", "", "+4915112345678"}
	tests := []struct {
		name         string
		reason       string
		suppr, conse []Key
		want         bool
	}{
		{"an objection by address", "objection", []Key{mail}, []Key{id, mail}, true},
		{"an objection by id", "objection", []Key{id, mail}, []Key{id, other}, true},
		{"a bounce of that address", "bounce", []Key{mail}, []Key{id, mail}, true},
		{"a bounce of another address of the subject", "bounce", []Key{id, mail}, []Key{id, other}, false},
		{"a bounce against a record that names no contact point", "bounce", []Key{id, mail}, []Key{id}, true},
		{"a bounce of an address against a record with a phone only", "invalid", []Key{id, mail}, []Key{id, phone}, false},
		{"nobody in common", "objection", []Key{mail}, []Key{other}, false},
		{"nothing", "objection", nil, nil, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := Reaches(tt.reason, tt.suppr, tt.conse); got != tt.want {
				t.Errorf("Reaches = %v, want %v", got, tt.want)
			}
		})
	}
}

func TestFoldIsEqualFold(t *testing.T) {
	for _, pair := range [][2]string{{"STRASSE", "strasse"}, {"K", "\u212a"}, {"ΣΟΦΙΑ", "σοφια"}, {"ς", "Σ"}, {"ſ", "S"}} {
		if fold(pair[0]) != fold(pair[1]) {
			t.Errorf("%q and %q differ", pair[0], pair[1])
		}
	}
	if got := fold("Mia.42@Shop.EXAMPLE"); got != "mia.42@shop.example" {
		t.Errorf("fold gives %q", got)
	}
	rapid.Check(t, func(t *rapid.T) {
		a := rapid.StringMatching(`[a-zA-ZßẞςΣσſsKk\x{212a}İıäÄ]{0,4}`).Draw(t, "a")
		b := rapid.StringMatching(`[a-zA-ZßẞςΣσſsKk\x{212a}İıäÄ]{0,4}`).Draw(t, "b")
		if (fold(a) == fold(b)) != strings.EqualFold(a, b) {
			t.Fatalf("fold and EqualFold differ on %q and %q", a, b)
		}
		if fold(strings.ToUpper(a)) != fold(a) && strings.EqualFold(strings.ToUpper(a), a) {
			t.Fatalf("case matters in %q", a)
		}
	})
}

func TestKeyTextIsUnambiguous(t *testing.T) {
	a, b := Key{"subject_id", "a:b", "c"}, Key{"subject_id", "a", "b:c"}
	if a.String() == b.String() {
		t.Errorf("two keys, one text %q", a)
	}
}
