package mappings

import (
	"encoding/json"
	"regexp"
	"testing"

	"sheetlift/importers"
)

// Every reference of the schema leads somewhere.
func TestSchemaReferences(t *testing.T) {
	data, err := Schema()
	if err != nil {
		t.Fatal(err)
	}
	var s struct {
		Defs map[string]json.RawMessage `json:"$defs"`
	}
	if err := json.Unmarshal(data, &s); err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`"#/\$defs/(\w+)"`).FindAllStringSubmatch(string(data), -1) {
		if len(s.Defs[m[1]]) < 10 {
			t.Errorf("%s is referred to and not defined", m[1])
		}
	}
}

// The schema knows every entity and field of the entity table, and only those.
func TestSchemaFollowsTheEntities(t *testing.T) {
	data, err := Schema()
	if err != nil {
		t.Fatal(err)
	}
	type object struct {
		Properties map[string]json.RawMessage `json:"properties"`
		Required   []string                   `json:"required"`
	}
	var s struct {
		Object object `json:"-"`
		Defs   map[string]struct {
			Properties map[string]struct {
				Enum []string `json:"enum"`
			} `json:"properties"`
			AllOf []struct {
				If struct {
					Properties struct {
						Entity struct {
							Const string `json:"const"`
						} `json:"entity"`
					} `json:"properties"`
				} `json:"if"`
				Then struct {
					Properties struct {
						Fields object `json:"fields"`
					} `json:"properties"`
				} `json:"then"`
			} `json:"allOf"`
		} `json:"$defs"`
		Required []string `json:"required"`
	}
	if err := json.Unmarshal(data, &s); err != nil {
		t.Fatal(err)
	}
	if len(s.Required) != 3 {
		t.Errorf("required %v", s.Required)
	}
	record := s.Defs["RecordSpec"]
	if len(record.AllOf) != len(importers.Entities) || len(record.Properties["entity"].Enum) != len(importers.Entities) {
		t.Fatalf("%d entities in the schema, %d in the table", len(record.AllOf), len(importers.Entities))
	}
	for i, e := range importers.Entities {
		got := record.AllOf[i]
		if got.If.Properties.Entity.Const != e.Name || len(got.Then.Properties.Fields.Properties) != len(e.Fields) {
			t.Errorf("%s: %q with %d fields", e.Name, got.If.Properties.Entity.Const, len(got.Then.Properties.Fields.Properties))
		}
		for _, f := range e.Fields {
			if _, ok := got.Then.Properties.Fields.Properties[f.Name]; !ok {
				t.Errorf("%s.%s is not in the schema", e.Name, f.Name)
			}
		}
	}
}
