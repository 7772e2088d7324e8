package main

import (
	"context"
	"fmt"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

// run runs one command line and returns the exit code.
func run(ctx context.Context, args []string, std stdio) int {
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	root := newRoot(std)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err != nil {
		fmt.Fprintf(std.err, "sheetlift: %v\n", err)
	}
	return exitCode(err)
}

func newRoot(std stdio) *cobra.Command {
	root := &cobra.Command{
		Use:           "sheetlift",
		Short:         "Move privacy registers from spreadsheets into a register database, with proof for every record",
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.SetIn(std.in)
	root.SetOut(std.out)
	root.SetErr(std.err)
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err} })
	root.AddCommand(newCells(std))
	return root
}
