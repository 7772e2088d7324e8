package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"sheetlift/pipeline"
	"sheetlift/pipeline/finding"
)

// snapshotFlags are what freeze takes a further snapshot in with.
type snapshotFlags struct {
	kind, obtained string
	sources        []string
}

func (f *snapshotFlags) register(cmd *cobra.Command) {
	cmd.Use = "freeze BATCH [--snapshot mended|delta FILE…]"
	cmd.Args = cobra.MinimumNArgs(1)
	cmd.Flags().StringVar(&f.kind, "snapshot", "", "take further files in, as a snapshot of this kind: `mended|delta`")
	cmd.Flags().StringArrayVar(&f.sources, "source", nil, "`NAME=FILE`: the file is of that source, whatever it is called")
	cmd.Flags().StringVar(&f.obtained, "obtained-at", "", "`TIME` at which the fresh exports were made, like 2026-10-01T09:00:00+02:00 (default: their modification time, or that of the first export if it is later)")
}

// runFreeze freezes the batch's own files, or a further snapshot.
func runFreeze(ctx context.Context, std stdio, args []string, f *snapshotFlags, flags *batchFlags) (err error) {
	if f.kind == "" {
		if len(args) > 1 || len(f.sources) > 0 || f.obtained != "" {
			return usageError{fmt.Errorf("files are frozen with --snapshot mended or --snapshot delta; without it, freeze takes those of batch.yaml")}
		}
		return runStage(ctx, std, pipeline.Freeze, args[0], new(rejectedLists), &checkFlags{fail: string(finding.Error)}, flags)
	}
	if err := oneOf("snapshot", f.kind, pipeline.Mended, pipeline.Delta); err != nil {
		return err
	}
	spec := pipeline.SnapshotSpec{Kind: f.kind, Files: args[1:], Sources: map[string]string{}, ObtainedAt: f.obtained}
	for _, s := range f.sources {
		name, file, ok := strings.Cut(s, "=")
		if !ok || name == "" || file == "" || spec.Sources[name] != "" {
			return usageError{fmt.Errorf("--source takes NAME=FILE, each source once, not %q", s)}
		}
		spec.Sources[name] = file
	}
	s, err := openSession(ctx, std, args[0], flags)
	if err != nil {
		return err
	}
	defer s.close(&err)
	r, err := s.pipeline.FreezeSnapshot(ctx, spec)
	s.progress.Stop()
	if r != nil {
		s.pipeline.HideNames(r)
		if serr := show(std.out, flags.output, r, "next: "+s.command("run")); err == nil {
			err = serr
		}
	}
	if err != nil {
		return err
	}
	return ended(verdict(r, "error"))
}
