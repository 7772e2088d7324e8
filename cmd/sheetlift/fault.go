package main

import (
	"errors"
	"slices"

	"github.com/spf13/cobra"

	"sheetlift/pipeline"
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
	fault := &pipeline.Fault{Schema: pipeline.FaultSchema, Code: exitCode(err), Message: message, Remedy: remedy}
	if record := (*pipeline.ErrNoSuchRecord)(nil); errors.As(err, &record) {
		fault.RejectedBy = record.Rejected
	}
	return fault
}

func (w *watched) fault(err error) error { return written(reports.JSON(w, faultOf(err))) }
