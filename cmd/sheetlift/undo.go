package main

import (
	"context"

	"github.com/spf13/cobra"
)

func newUndo(std stdio) *cobra.Command {
	var flags batchFlags
	cmd := &cobra.Command{
		Use:   "undo BATCH",
		Short: "Take back what the batch imported, before it is signed off",
		Long: `Takes the batch's records out of the register, those of all its snapshots. Records that were corrected since, or that another batch
has as well, are kept and named in the findings; what a row of another batch was skipped for as known (row.known) is that batch's from then on.
Some such rows vouch for nothing (an earlier version skipped them, or they prove less): their records go too, and undo names the batches. Where
everything came from stays known, and the register's events say what was taken back. An interrupted undo is finished by the same command. After it, dryrun and import take the initial snapshot in anew.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runUndo(cmd.Context(), std, args[0], &flags)
		},
	}
	flags.register(cmd, true)
	return cmd
}

func runUndo(ctx context.Context, std stdio, path string, flags *batchFlags) error {
	return looking(ctx, std, path, flags, func(s *session) error {
		r, err := s.pipeline.Undo(ctx)
		s.progress.Stop()
		if err != nil {
			return err
		}
		if err := show(std.out, flags.output, r, "next: "+s.command(r.Next())); err != nil {
			return err
		}
		return ended(verdict(r, "error"))
	})
}
