package mappings

import (
	"encoding/json"

	"github.com/invopop/jsonschema"

	"sheetlift/importers"
)

// Schema is the JSON Schema (draft 2020-12) of a mapping file, for editors. Parse checks more than a schema can say.
func Schema() ([]byte, error) {
	r := &jsonschema.Reflector{Anonymous: true, ExpandedStruct: true, RequiredFromJSONSchemaTags: true}
	s := r.Reflect(&Mapping{})
	// Conditions name Condition by reference only, so the reflector does not come across it.
	r = &jsonschema.Reflector{Anonymous: true, RequiredFromJSONSchemaTags: true}
	s.Definitions["Condition"] = r.Reflect(&Condition{}).Definitions["Condition"]
	s.Title = "sheetlift mapping"
	s.Required = []string{"version", "mapping", "records"}
	return json.MarshalIndent(s, "", "  ")
}

// anyScalar is any scalar that is taken as text, as the file has it.
func anyScalar() *jsonschema.Schema {
	return &jsonschema.Schema{OneOf: []*jsonschema.Schema{{Type: "string"}, {Type: "number"}, {Type: "boolean"}}}
}

func oneOrMore(item *jsonschema.Schema) *jsonschema.Schema {
	least := uint64(1)
	return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{item, {Type: "array", Items: item, MinItems: &least}}}
}

// JSONSchema allows one text or a list.
func (Strings) JSONSchema() *jsonschema.Schema { return oneOrMore(anyScalar()) }

// JSONSchema allows one column or a list.
func (Columns) JSONSchema() *jsonschema.Schema {
	return oneOrMore(&jsonschema.Schema{Ref: "#/$defs/Column"})
}

// JSONSchema allows one condition or a list.
func (Conditions) JSONSchema() *jsonschema.Schema {
	return oneOrMore(&jsonschema.Schema{Ref: "#/$defs/Condition"})
}

// JSONSchemaExtend allows the header text alone.
func (Column) JSONSchemaExtend(s *jsonschema.Schema) { orScalar(s, "header text") }

// JSONSchemaExtend allows the column alone, and any scalar as const.
func (FieldSpec) JSONSchemaExtend(s *jsonschema.Schema) {
	scalarProperty(s, "const")
	orScalar(s, "header text of the column")
}

// scalarProperty lets a text of ours be written as a number or as true, too.
func scalarProperty(s *jsonschema.Schema, name string) {
	if p, ok := s.Properties.Get(name); ok {
		description := p.Description
		*p = *anyScalar()
		p.Description = description
	}
}

func orScalar(s *jsonschema.Schema, what string) {
	long := *s
	short := anyScalar()
	short.Description = what
	*s = jsonschema.Schema{AnyOf: []*jsonschema.Schema{short, &long}}
}

// JSONSchemaExtend requires name and time.
func (StatedBy) JSONSchemaExtend(s *jsonschema.Schema) { s.Required = []string{"name", "at"} }

// JSONSchemaExtend requires a column.
func (Condition) JSONSchemaExtend(s *jsonschema.Schema) {
	scalarProperty(s, "equals")
	s.Required = []string{"column"}
}

// JSONSchemaExtend requires a column and a reason.
func (Skip) JSONSchemaExtend(s *jsonschema.Schema) {
	scalarProperty(s, "equals")
	s.Required = []string{"column", "reason"}
}

// JSONSchemaExtend lists the entities and, for each, its fields.
func (RecordSpec) JSONSchemaExtend(s *jsonschema.Schema) {
	s.Required = []string{"entity", "key", "fields"}
	if entity, ok := s.Properties.Get("entity"); ok {
		entity.Description = "what the record is"
		for _, name := range entityNames() {
			entity.Enum = append(entity.Enum, name)
		}
	}
	for i := range importers.Entities {
		e := &importers.Entities[i]
		fields := &jsonschema.Schema{Type: "object", Properties: jsonschema.NewProperties(), AdditionalProperties: jsonschema.FalseSchema}
		for j := range e.Fields {
			f := &e.Fields[j]
			fields.Properties.Set(f.Name, &jsonschema.Schema{Ref: "#/$defs/FieldSpec", Description: f.Doc})
			if f.Required {
				fields.Required = append(fields.Required, f.Name)
			}
		}
		is := jsonschema.NewProperties()
		is.Set("entity", &jsonschema.Schema{Const: e.Name})
		then := jsonschema.NewProperties()
		then.Set("fields", fields)
		s.AllOf = append(s.AllOf, &jsonschema.Schema{If: &jsonschema.Schema{Properties: is}, Then: &jsonschema.Schema{Properties: then}})
	}
}
