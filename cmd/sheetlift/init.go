package main

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"sheetlift/pipeline"
	"sheetlift/reports"
)

// InitSchema names the JSON of init's result.
const initSchema = "sheetlift/init/v1"

// initResult is what init wrote.
type initResult struct {
	Schema string `json:"schema"`
	*pipeline.Drafts
}

func newInit(std stdio) *cobra.Command {
	var output, name, charset, delimiter string
	cmd := &cobra.Command{
		Use:   "init FILE…",
		Short: "Draft batch.yaml and a mapping per sheet, from what the exports show",
		Long: `Drafts batch.yaml and one mapping per sheet into the current folder, from the files, which must lie in it or below it. The export
of a known system gets the mapping of its preset; for any other the mapping is suggested from headers and values. Each guess has
its evidence beside it and confirm: true below it, which a person removes. No value is copied, and what is there already is never
overwritten.`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := oneOf("output", output, asText, asJSON); err != nil {
				return err
			}
			return runInit(cmd.Context(), std, args, output, pipeline.DraftOptions{Dir: ".", Name: name, Charset: charset, Delimiter: delimiter})
		},
	}
	f := cmd.Flags()
	f.StringVar(&output, "output", asText, "form of the result: `text|json`")
	f.StringVar(&name, "name", "", "`name` of the batch (default: the folder's)")
	f.StringVar(&charset, "charset", "", "charset of text files: utf-8, utf-16le, utf-16be, windows-1252 (default: utf-8, or what a byte order mark says)")
	f.StringVar(&delimiter, "delimiter", "", "delimiter of text files: one of , ; | tab (default: found by evidence)")
	return cmd
}

func runInit(ctx context.Context, std stdio, files []string, output string, opt pipeline.DraftOptions) error {
	var err error
	if opt.Namespace, err = uuid.NewRandom(); err != nil {
		return err
	}
	drafted, err := pipeline.Draft(ctx, files, opt)
	if err != nil {
		return err
	}
	if output == asJSON {
		return written(reports.JSON(std.out, initResult{initSchema, drafted}))
	}
	for _, d := range drafted.Files {
		if _, err = fmt.Fprintf(std.out, "wrote %s: %s\n", d.Path, d.What); err != nil {
			return written(err)
		}
	}
	for _, sheet := range drafted.LeftOut {
		if _, err = fmt.Fprintf(std.out, "left out %s: nothing in its headers says what its rows are, and no column of it holds contact points; add it to batch.yaml if it holds records\n", sheet); err != nil {
			return written(err)
		}
	}
	_, err = fmt.Fprintln(std.out, "next: check each guess in batch.yaml and the mappings, fill in what is empty, remove confirm: true; then sheetlift inventory batch.yaml")
	return written(err)
}
