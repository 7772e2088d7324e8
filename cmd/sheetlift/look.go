package main

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"sheetlift/pipeline"
)

func newStatus(std stdio) *cobra.Command {
	var flags batchFlags
	cmd := &cobra.Command{
		Use:   "status BATCH",
		Short: "Say how far a batch is, and what comes next",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runStatus(cmd.Context(), std, args[0], &flags)
		},
	}
	flags.register(cmd, false)
	return cmd
}

func runStatus(ctx context.Context, std stdio, path string, flags *batchFlags) (err error) {
	s, ok, err := lookSession(ctx, std, path, flags)
	if err != nil {
		return err
	}
	defer s.close(&err)
	var r *pipeline.StatusResult
	if ok {
		if r, err = s.pipeline.Status(ctx); err != nil {
			return err
		}
	} else {
		r = &pipeline.StatusResult{Schema: pipeline.StatusSchema, Batch: s.batch.Name, Next: "sheetlift run --until " + pipeline.Inventory}
		for _, stage := range pipeline.Stages {
			r.Stages = append(r.Stages, pipeline.StageStatus{Stage: stage, State: "not started"})
		}
	}
	for i := range r.Retracted {
		if x := &r.Retracted[i]; flags.output == asText {
			x.Next = strings.Replace(x.Next, "sheetlift "+pipeline.Freeze, s.command(pipeline.Freeze), 1)
		}
	}
	next := r.Next
	if strings.HasPrefix(next, "sheetlift ") {
		next = "next: " + s.commandOf(next)
	}
	return show(std.out, flags.output, r, next)
}

// noRegister is the fault of a command that needs a register where there is none.
func (s *session) noRegister() error {
	return &pipeline.ConfigError{File: s.path, Message: "there is no register for this batch yet", Remedy: "run `" + s.command("run") + "` first, or name the register with --db"}
}

func newTrace(std stdio) *cobra.Command {
	var flags batchFlags
	var reveal bool
	var snapshot string
	cmd := &cobra.Command{
		Use:   "trace BATCH ENTITY EXTERNAL_ID | trace BATCH CELL",
		Short: "Lead from a record's key in the source to the record and the cells it came from, or from a cell to its records",
		Long: `A cell is FILE!SHEET!B17, or FILE!B17 for a text file, the file as batch.yaml names it. Shows the records that the register holds under a
key of the source, the cells each came from, and for consent the state that is in force now, with its reason. Of a cell whose row gave no
record it says why: by which rules the row was rejected or skipped, or what there is not; of a key without a record, by which a row with that
key was. While an import or an undo is unfinished, that is the state so far, and a record that is not found may not be in yet; the exit code
is 3 then, and 2 where no record has the key. Personal values are masked; --reveal shows them, and leaves an event with your name in the register. A key of several fields is
their values joined by |.`,
		Args: cobra.RangeArgs(2, 3),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runTrace(cmd.Context(), std, args, snapshot, reveal, &flags)
		},
	}
	flags.register(cmd, true)
	cmd.Flags().StringVar(&snapshot, "snapshot", "", "of a cell: the snapshot whose file is meant, like `initial` or delta-1")
	cmd.Flags().BoolVar(&reveal, "reveal", false, "show personal values; who asked is recorded in the register")
	return cmd
}

func runTrace(ctx context.Context, std stdio, args []string, snapshot string, reveal bool, flags *batchFlags) error {
	if snapshot != "" && len(args) != 2 {
		return usageError{errors.New("--snapshot goes with a cell: trace BATCH FILE!SHEET!B17")}
	}
	return looking(ctx, std, args[0], flags, func(s *session) error {
		var r *pipeline.TraceResult
		var err error
		if len(args) == 2 {
			r, err = s.pipeline.TraceCell(ctx, args[1], snapshot, reveal)
		} else {
			r, err = s.pipeline.Trace(ctx, args[1], args[2], reveal)
		}
		if err != nil {
			return err
		}
		s.pipeline.HideNames(r)
		next := ""
		for _, u := range r.Unfinished {
			switch {
			case next != "" || u.Next == "":
			case u.Batch == s.batch.Name:
				next = "next: " + s.command(u.Stage)
			default:
				next = "next: " + u.Next + " on batch " + u.Batch
			}
		}
		if err := show(std.out, flags.output, r, next); err != nil || r.Final() {
			return err
		}
		return finished{exitIncomplete}
	})
}

func newVerify(std stdio) *cobra.Command {
	var flags batchFlags
	cmd := &cobra.Command{
		Use:   "verify BATCH",
		Short: "Recompute what can be recomputed of a batch",
		Long: `Checks the bag and its signature, the checkpoint chains, the digests of recorded results, staged files, findings files and lists of
rejected rows, and the register's provenance. Nothing is changed. The exit code is 4 when anything is not what was recorded.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runVerify(cmd.Context(), std, args[0], &flags)
		},
	}
	flags.register(cmd, false)
	return cmd
}

// afterVerify says what to do about what verify found: what is only gone is made anew.
func (s *session) afterVerify(r *pipeline.VerifyResult) string {
	var commands []string
	for _, stage := range pipeline.Stages {
		if slices.ContainsFunc(r.Checks, func(c pipeline.VerifyCheck) bool { return c.Stage == stage }) {
			commands = append(commands, s.command(stage))
		}
	}
	if slices.ContainsFunc(r.Checks, func(c pipeline.VerifyCheck) bool { return !c.OK && c.Stage == "" }) {
		return "next: find out what changed the places above; nothing was repaired"
	}
	return "next: files of the work folder are gone, and nothing else is wrong; what makes them anew: " + strings.Join(commands, "; ")
}

func runVerify(ctx context.Context, std stdio, path string, flags *batchFlags) error {
	return looking(ctx, std, path, flags, func(s *session) error {
		r, err := s.pipeline.Verify(ctx)
		s.progress.Stop()
		if err != nil {
			return err
		}
		s.pipeline.HideNames(r)
		next := ""
		if !r.Passed {
			next = s.afterVerify(r)
		}
		if err := show(std.out, flags.output, r, next); err != nil {
			return err
		}
		if !r.Passed {
			return finished{exitIntegrity}
		}
		return nil
	})
}
