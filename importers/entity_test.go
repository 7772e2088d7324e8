package importers

import (
	"regexp"
	"slices"
	"testing"
)

func TestEntitiesStandInTheOrderOfImport(t *testing.T) {
	want := []string{"purpose", "notice", "activity", "retention_rule", "suppression", "case", "consent"}
	var got []string
	for i := range Entities {
		got = append(got, Entities[i].Name)
	}
	if !slices.Equal(got, want) {
		t.Fatalf("entities = %v, want %v", got, want)
	}
	configs := true
	for i := range Entities {
		e := &Entities[i]
		if e.Config && !configs {
			t.Errorf("%s is a configuration and comes after a record", e.Name)
		}
		configs = e.Config
		if e.Event != (e.Name == "consent") {
			t.Errorf("%s: Event = %v", e.Name, e.Event)
		}
	}
}

func TestEveryFieldIsDescribed(t *testing.T) {
	name := regexp.MustCompile(`^[a-z][a-z0-9_]*$`)
	classes := []Data{None, Identifier, Contact, FreeText, Special}
	for i := range Entities {
		e := &Entities[i]
		if e.Doc == "" || len(e.Tables) == 0 {
			t.Errorf("%s has no doc or no table", e.Name)
		}
		for j := range e.Fields {
			f := &e.Fields[j]
			at := e.Name + "." + f.Name
			if !name.MatchString(f.Name) {
				t.Errorf("%s is no name for a column", at)
			}
			if f.Std == "" || f.Doc == "" {
				t.Errorf("%s names no standard or says nothing", at)
			}
			if !slices.Contains(classes, f.Data) {
				t.Errorf("%s has personal-data class %q", at, f.Data)
			}
			if (f.Type == Enum) != (len(f.Terms) > 0) {
				t.Errorf("%s: an enum needs terms, and nothing else has any", at)
			}
			sized := f.Type != Date && f.Type != DateTime && f.Type != Bool && f.Type != Integer
			if sized != (f.Max > 0) {
				t.Errorf("%s: Max = %d for type %s", at, f.Max, f.Type)
			}
			for _, term := range f.Terms {
				if len(term.Name) > f.Max {
					t.Errorf("%s: term %s is longer than the field", at, term.Name)
				}
				if !f.Has(term.Name) {
					t.Errorf("%s: Has(%q) = false", at, term.Name)
				}
			}
			if f.Has("no such term") {
				t.Errorf("%s has a term it does not have", at)
			}
			if f.Ref != "" && (ByName(f.Ref) == nil || !ByName(f.Ref).Config) {
				t.Errorf("%s points to %q, which is no configuration", at, f.Ref)
			}
			if (f.Type == Email || f.Type == Phone) && f.Data != Contact {
				t.Errorf("%s is a contact point of class %s", at, f.Data)
			}
			if e.Field(f.Name) != j {
				t.Errorf("Field(%q) = %d, want %d", f.Name, e.Field(f.Name), j)
			}
		}
		if e.Field("no_such_field") != -1 {
			t.Errorf("%s has a field it does not have", e.Name)
		}
	}
}

func TestColumnsAreUniqueWithTheEnvelope(t *testing.T) {
	for i := range Entities {
		e := &Entities[i]
		seen := map[string]bool{}
		for _, c := range slices.Concat(Envelope(), e.Columns()) {
			if seen[c.Name] {
				t.Errorf("%s: column %s twice", e.Name, c.Name)
			}
			seen[c.Name] = true
			if c.Field >= len(e.Fields) {
				t.Errorf("%s: column %s belongs to field %d", e.Name, c.Name, c.Field)
			}
		}
		for j := range e.Fields {
			f := &e.Fields[j]
			want := map[Type][]string{
				Date:     {f.Name, f.Name + "_text"},
				DateTime: {f.Name, f.Name + "_text", f.Name + "_zone", f.Name + "_precision"},
			}[f.Type]
			if want == nil {
				want = []string{f.Name}
			}
			for _, c := range want {
				if !seen[c] {
					t.Errorf("%s: no column %s", e.Name, c)
				}
			}
		}
	}
}

func TestByName(t *testing.T) {
	if ByName("consent") == nil || ByName("consents") != nil {
		t.Error("ByName must know consent and not consents")
	}
	rec := newRecord("consent", nil)
	if v := rec.Get("status"); v != rec.Values[rec.Entity.Field("status")] {
		t.Error("Get must give the field itself")
	}
	if v := rec.Get("no_such_field"); v.Set {
		t.Error("a field that does not exist is absent")
	}
}

// newRecord makes a record whose given fields come from the row.
func newRecord(entity string, values map[string]Value) *Record {
	e := ByName(entity)
	made := NewRecord(e)
	rec := &made
	for name, v := range values {
		i := e.Field(name)
		if i < 0 {
			panic("no field " + entity + "." + name)
		}
		rec.Values[i] = &v
	}
	return rec
}

func text(s string) Value { return Value{Set: true, Text: s} }
