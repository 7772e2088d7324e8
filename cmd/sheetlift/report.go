package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
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

func runReport(ctx context.Context, std stdio, path string, files reportFiles, flags *batchFlags) (err error) {
	for kind, path := range map[string]string{"html": files.html, "xlsx": files.xlsx} {
		if path == "" {
			continue
		}
		if err := replaceable(kind, path); err != nil {
			return err
		}
	}
	if files.html != "" && filepath.Clean(files.html) == filepath.Clean(files.xlsx) {
		return usageError{fmt.Errorf("--xlsx %s: the web page goes to the same file", files.xlsx)}
	}
	s, ok, err := lookSession(ctx, std, path, flags)
	if err != nil {
		return err
	}
	defer s.close(&err)
	if !ok {
		return s.noRegister()
	}
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

func runGaps(ctx context.Context, std stdio, path string, flags *batchFlags) (err error) {
	s, ok, err := lookSession(ctx, std, path, flags)
	if err != nil {
		return err
	}
	defer s.close(&err)
	if !ok {
		return s.noRegister()
	}
	r, err := s.pipeline.Gaps(ctx)
	s.progress.Stop()
	if err != nil {
		return err
	}
	return show(std.out, flags.output, r, "")
}

// writeWhole writes a file that appears whole or not at all: under another name beside it, made durable, then renamed.
func writeWhole(path string, write func(io.Writer) error) (err error) {
	fault := func(err error) error {
		return &pipeline.FileError{Path: path, Message: "can't be written: " + reasonOf(err), Remedy: "name a file in a folder that you may write to, with room for it", Err: err}
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return fault(err)
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
		}
	}()
	if err := write(f); err != nil {
		return fault(err)
	}
	if err := errors.Join(f.Chmod(0o644), f.Sync()); err != nil {
		return fault(err)
	}
	if err := f.Close(); err != nil {
		return fault(err)
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return fault(err)
	}
	return nil
}

// reasonOf is the reason of a file error without paths, which the caller names.
func reasonOf(err error) string {
	var at *os.PathError
	if errors.As(err, &at) {
		return at.Err.Error()
	}
	var link *os.LinkError
	if errors.As(err, &link) {
		return link.Err.Error()
	}
	return fmt.Sprint(err)
}
