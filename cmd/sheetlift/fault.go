package main

import (
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"sheetlift/pipeline"
	"sheetlift/pipeline/finding"
	"sheetlift/reports"
)

// isList reports whether a command prints one object a line with --output json: of no lines, nothing is right.
func isList(cmd *cobra.Command, args []string) bool {
	return cmd.Name() == "cells" || cmd.Name() == "findings" && !slices.Contains(args, "--count")
}

// wantsFault reports whether stdout has to be given a document, since a command that was asked for one ended without.
func wantsFault(cmd *cobra.Command, args []string, out *watched, err error) bool {
	if err == nil || out.wrote || out.err != nil || cmd != nil && isList(cmd, args) {
		return false
	}
	if end := slices.Index(args, "--"); end >= 0 {
		args = args[:end]
	}
	for i, a := range args {
		if a == "--output="+asJSON || a == "--output" && i+1 < len(args) && args[i+1] == asJSON {
			return true
		}
	}
	return false
}

// faultOf is an error as a result.
func faultOf(err error) *pipeline.Fault {
	message, remedy := explain(err)
	return &pipeline.Fault{Schema: pipeline.FaultSchema, Code: exitCode(err), Message: message, Remedy: remedy}
}

func (w *watched) fault(err error) error { return written(reports.JSON(w, faultOf(err))) }

// plainArgs has every command say what it takes when it is given another number of arguments.
func plainArgs(root *cobra.Command) {
	for _, c := range root.Commands() {
		check := c.Args
		if check == nil {
			continue
		}
		c.Args = func(cmd *cobra.Command, args []string) error {
			if check(cmd, args) == nil {
				return nil
			}
			return usageError{&badArguments{cmd.Use, args, cmd.ValidArgs}}
		}
	}
}

// badArguments says how a command is used.
type badArguments struct {
	use   string
	given []string
	words []cobra.Completion // that the argument may be, if it is one of a few
}

func (e *badArguments) Error() string {
	forms := strings.Split(e.use, " | ")
	for i := range forms {
		forms[i] = "`sheetlift " + forms[i] + "`"
	}
	given := finding.Count(len(e.given), "argument was", "arguments were") + " given"
	if len(e.words) > 0 && len(e.given) == 1 {
		given = "there is no " + strconv.Quote(e.given[0])
	}
	return "say " + strings.Join(forms, " or ") + ": " + given
}
