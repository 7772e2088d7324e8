package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"sheetlift/pipeline"
	"sheetlift/reports/review"
)

// reportFiles are the forms in which a review is written, and how.
type reportFiles struct {
	html, xlsx string
}

func newReport(std stdio) *cobra.Command {
	var flags batchFlags
	var files reportFiles
	cmd := &cobra.Command{
		Use:   "report BATCH",
		Short: "Draw together what a reviewer has to see, as a web page or a workbook",
		Long: `Draws together what the stages recorded: what came in, what became of each row, which evidence is missing, when consents were
decided, findings, hazards, open cases, ISO/IEC TS 27560, decisions, digests. --html writes one page that needs nothing else, --xlsx the
same as a workbook. Neither holds a personal value. report gaps prints the table of ISO/IEC TS 27560 by itself. Nothing is changed.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runReport(cmd.Context(), std, args[0], files, &flags)
		},
	}
	flags.register(cmd, false)
	cmd.Flags().StringVar(&files.html, "html", "", "write the review to this `file` as a web page")
	cmd.Flags().StringVar(&files.xlsx, "xlsx", "", "write the review to this `file` as a workbook")
	cmd.AddCommand(newGaps(std))
	return cmd
}

func runReport(ctx context.Context, std stdio, path string, files reportFiles, flags *batchFlags) error {
	for _, f := range [...]struct{ kind, path string }{{"html", files.html}, {"xlsx", files.xlsx}} {
		if f.path == "" {
			continue
		}
		if err := replaceable(f.kind, f.path); err != nil {
			return err
		}
	}
	if files.html != "" && filepath.Clean(files.html) == filepath.Clean(files.xlsx) {
		return usageError{fmt.Errorf("--xlsx %s: the web page goes to the same file", files.xlsx)}
	}
	return looking(ctx, std, path, flags, func(s *session) error {
		r, err := s.pipeline.Review(ctx)
		s.progress.Stop()
		if err != nil {
			return err
		}
		var wrote []string
		for _, f := range []struct {
			path  string
			write func(io.Writer, *pipeline.ReviewResult) error
		}{{files.html, review.HTML}, {files.xlsx, review.XLSX}} {
			if f.path == "" {
				continue
			}
			if err := writeWhole(f.path, func(w io.Writer) error { return f.write(w, r) }); err != nil {
				return err
			}
			wrote = append(wrote, "wrote "+f.path)
		}
		last := strings.Join(wrote, "\n")
		if last == "" {
			last = "next: " + s.command("report", "--html", "review.html") + " writes the whole review"
		}
		return show(std.out, flags.output, r, last)
	})
}

func newGaps(std stdio) *cobra.Command {
	var flags batchFlags
	cmd := &cobra.Command{
		Use:   "gaps BATCH",
		Short: "Hold the batch against the fields of a consent record of ISO/IEC TS 27560",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runGaps(cmd.Context(), std, args[0], &flags)
		},
	}
	flags.register(cmd, false)
	return cmd
}

func runGaps(ctx context.Context, std stdio, path string, flags *batchFlags) error {
	return looking(ctx, std, path, flags, func(s *session) error {
		r, err := s.pipeline.Gaps(ctx)
		s.progress.Stop()
		if err != nil {
			return err
		}
		return show(std.out, flags.output, r, "")
	})
}

// writeWhole writes a file that appears whole or not at all, for everybody to read.
func writeWhole(path string, write func(io.Writer) error) error {
	f, err := beginOut(path, 0o644)
	if err == nil {
		if err = f.f.Chmod(0o644); err == nil {
			err = f.finish(write)
		} else {
			f.abandon()
		}
	}
	if err != nil {
		return &pipeline.FileError{Path: path, Message: "can't be written: " + withoutPath(err).Error(), Remedy: "name a file in a folder that you may write to, with room for it", Err: err}
	}
	return nil
}
