package main

import (
	"encoding/json"
	"fmt"

	"github.com/invopop/jsonschema"
	"github.com/spf13/cobra"

	"sheetlift/mappings"
	"sheetlift/pipeline"
)

func newSchema(std stdio) *cobra.Command {
	return &cobra.Command{
		Use:   "schema batch|mapping",
		Short: "Print the JSON Schema of a configuration file, for editors",
		Long: `Prints the JSON Schema (draft 2020-12) of batch.yaml or of a mapping. Editors use it to complete and check while one writes, for
example with a first line
  # yaml-language-server: $schema=mapping.schema.json
The commands check more than a schema can say.`,
		ValidArgs: []string{"batch", "mapping"},
		Args:      cobra.MatchAll(cobra.ExactArgs(1), cobra.OnlyValidArgs),
		RunE: func(_ *cobra.Command, args []string) error {
			schema := mappings.Schema
			if args[0] == "batch" {
				schema = batchSchema
			}
			data, err := schema()
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(std.out, "%s\n", data)
			return written(err)
		},
	}
}

// batchSchema is the JSON Schema of batch.yaml.
func batchSchema() ([]byte, error) {
	r := &jsonschema.Reflector{Anonymous: true, ExpandedStruct: true}
	s := r.Reflect(&pipeline.Batch{})
	s.Title = "sheetlift batch.yaml"
	return json.MarshalIndent(s, "", "  ")
}
