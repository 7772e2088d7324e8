package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"sheetlift/pipeline"
	"sheetlift/pipeline/finding"
	"sheetlift/reports"
)

// stageCommand is a command that runs one stage.
type stageCommand struct {
	stage       string
	short, long string
}

var stages = []stageCommand{
	{pipeline.Inventory, "Say what the files hold: sheets, columns, owners, duplicates, hazards", `Reads every sheet of every file of the batch and says what is there: types, headers, distinct and blank counts, candidate keys,
duplicates, hidden sheets, formulas without value, numbers that lost digits. Nothing is changed.`},
	{pipeline.Freeze, "Copy the files into the vault as a signed bag", `Copies the files, byte for byte as the inventory saw them, into the vault as a BagIt bag, and signs its manifest with the
installation's key (SHEETLIFT_KEY names another than the default). Everything after works on the frozen bytes.

With --snapshot a batch that was imported takes further files in, and batch.yaml stays as it is: mended takes the workbook (or the
records) that dryrun --rejects wrote, corrected; delta takes fresh exports, each named as in batch.yaml or given with
--source NAME=FILE. Then run the batch again.`},
	{pipeline.Map, "Check the mappings against the data, and compile them", `Profiles the columns of the frozen files and compiles each mapping against its profile. A column in which both day-first and
month-first dates are possible, or a mapping that names an absent column, is an error here.`},
	{pipeline.DryRun, "Judge every row with the code that imports, and import nothing", `Runs every row of every source through the mapping and the rules, writes the complete list of findings and the staged files, and
changes nothing in the register. It may be run again at any time, also after the import, but not while an import is unfinished: that goes on
by the dry-run that it began with.`},
	{pipeline.Import, "Load exactly the staged bytes that were dry-run", `Loads the staged files of the last dry-run into the register: configurations, then suppressions and cases, then consent. It is
refused if anything changed since. An interrupted import goes on where it stopped; what is in is not imported twice.`},
	{pipeline.Reconcile, "Compare what was frozen, staged and imported", `Counts and hashes each source's rows and each entity's records as frozen, as staged and as read back from the register, and shows a
sample of cells and records for people to look at.`},
}

func newStage(std stdio, s stageCommand) *cobra.Command {
	var flags batchFlags
	var lists rejectedLists
	var snap snapshotFlags
	explained := false
	check := checkFlags{fail: string(finding.Error)}
	scratch := false
	propose := ""
	cmd := &cobra.Command{
		Use:   s.stage + " BATCH",
		Short: s.short,
		Long:  s.long,
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if propose != "" {
				return runSuggest(cmd.Context(), std, args[0], propose)
			}
			if s.stage == pipeline.Map && explained {
				return runExplain(cmd.Context(), std, args[0], &flags)
			}
			if s.stage == pipeline.Freeze {
				return runFreeze(cmd.Context(), std, args, &snap, &flags)
			}
			if scratch {
				return runScratch(cmd.Context(), std, args[0], &lists, &check, &flags)
			}
			return runStage(cmd.Context(), std, s.stage, args[0], &lists, &check, &flags)
		},
	}
	flags.register(cmd, true)
	if s.stage == pipeline.Freeze {
		snap.register(cmd)
	}
	if s.stage == pipeline.Map {
		cmd.Flags().BoolVar(&explained, "explain", false, "say of each column what becomes of it, with counts of its cells")
		cmd.Flags().StringVar(&propose, "suggest", "", "print a mapping for this `source`, suggested from its file, and do nothing else")
	}
	switch s.stage {
	case pipeline.DryRun:
		check.register(cmd)
		lists.register(cmd)
		cmd.Flags().BoolVar(&scratch, "scratch", false, "run the stages up to here in a temporary folder and keep nothing: no key and no register is needed")
	case pipeline.Inventory:
		check.register(cmd)
	}
	return cmd
}

// runSuggest prints a suggested mapping. It reads files only: neither vault nor database is touched.
func runSuggest(ctx context.Context, std stdio, path, name string) error {
	b, err := pipeline.LoadBatch(path)
	if err != nil {
		return err
	}
	data, err := pipeline.Suggest(ctx, b, name)
	if err != nil {
		return err
	}
	_, err = std.out.Write(data)
	return written(err)
}

// rejectedLists are files with personal data that a dry-run writes about rejected rows, if they are asked for.
type rejectedLists struct{ rejects, values string }

func (l *rejectedLists) register(cmd *cobra.Command) {
	cmd.Flags().Var((*fileFlag)(&l.rejects), "rejects", "write the rejected rows to `FILE`: .xlsx to be mended, .csv for the original records (they hold personal data)")
	cmd.Flags().Var((*fileFlag)(&l.values), "values", "write what is wrong with the rejected rows, and the original values of the cells, to `FILE`, one JSON object a line (it holds personal data)")
}

// fileFlag is the path of a file with personal data: never nothing, and never the standard output.
type fileFlag string

// Set takes the path.
func (f *fileFlag) Set(path string) error {
	if path == "" || path == "-" {
		return errors.New("name a file: what it holds is not for the screen")
	}
	*f = fileFlag(path)
	return nil
}

func (f *fileFlag) String() string { return string(*f) }

// Type is the word for it in the help.
func (f *fileFlag) Type() string { return "string" }

// check refuses places that can't be written to, before the work begins.
func (l *rejectedLists) check(ctx context.Context, p *pipeline.Pipeline) error {
	if l.values != "" && filepath.Clean(l.values) == filepath.Clean(l.rejects) {
		return usageError{errors.New("--rejects and --values name one file: name two")}
	}
	if l.rejects != "" {
		if err := p.CheckRejects(ctx, l.rejects); err != nil {
			return err
		}
	}
	if l.values != "" {
		return p.CheckValues(l.values)
	}
	return nil
}

func (l *rejectedLists) write(ctx context.Context, p *pipeline.Pipeline, dry *pipeline.DryRunResult) error {
	if l.rejects != "" {
		if err := p.WriteRejects(ctx, dry, l.rejects); err != nil {
			return err
		}
	}
	if l.values != "" {
		return p.WriteValues(ctx, dry, l.values)
	}
	return nil
}

func runStage(ctx context.Context, std stdio, stage, path string, lists *rejectedLists, check *checkFlags, flags *batchFlags) (err error) {
	if lists.rejects != "" {
		if err := pipeline.CheckRejectsPath(lists.rejects); err != nil {
			return err
		}
	}
	switch stage {
	case pipeline.DryRun:
		ample(100)
	case pipeline.Inventory, pipeline.Import, pipeline.Reconcile:
		ample(30)
	}
	k, err := check.open(std, []string{stage})
	if err != nil {
		return err
	}
	defer k.close(&err)
	s, err := openSession(ctx, std, path, flags)
	if err != nil {
		return err
	}
	defer s.close(&err)
	k.batch = s.batch
	if err := lists.check(ctx, s.pipeline); err != nil {
		return err
	}
	r, err := s.pipeline.Stage(ctx, stage)
	if dry, ok := r.(*pipeline.DryRunResult); ok && err == nil {
		err = lists.write(ctx, s.pipeline, dry)
	}
	s.progress.Stop()
	code := exitClean
	if err == nil {
		k.add(stage, r)
		code, err = k.judge(ctx)
	}
	if r != nil {
		s.pipeline.HideNames(r)
		if serr := show(std.out, flags.output, r, s.next(stage, r)); err == nil {
			err = serr
		}
	}
	if err != nil {
		return err
	}
	return ended(code)
}

// runExplain compiles the mappings and says what they do with each column.
func runExplain(ctx context.Context, std stdio, path string, flags *batchFlags) (err error) {
	s, err := openSession(ctx, std, path, flags)
	if err != nil {
		return err
	}
	defer s.close(&err)
	mapped, err := s.pipeline.Map(ctx)
	if err != nil {
		return err
	}
	r, err := s.pipeline.Explain(ctx, mapped)
	s.progress.Stop()
	if err != nil {
		return err
	}
	s.pipeline.HideNames(r)
	if err := show(std.out, flags.output, r, s.next(pipeline.Map, mapped)); err != nil {
		return err
	}
	return ended(verdict(mapped, string(finding.Error)))
}

// ended makes an error of a verdict that is not 0.
func ended(code int) error {
	if code == exitClean {
		return nil
	}
	return finished{code}
}

// verdict is the exit code that a stage's result asks for.
func verdict(result any, fail string) int {
	o := pipeline.Common(result)
	switch {
	case o == nil:
		return exitClean
	case !o.Complete:
		return exitIncomplete
	case !o.Passed:
		return exitFindings // whatever --fail-on says
	case fail != "never" && o.Findings.Error > 0, fail == string(finding.Warning) && o.Findings.Warning > 0:
		return exitFindings
	}
	return exitClean
}

// next says what follows a stage: the last line of its text.
func (s *session) next(stage string, result any) string {
	o := pipeline.Common(result)
	switch {
	case o == nil:
		return ""
	case !o.Complete:
		return "next: " + s.command(stage)
	case notBrought(result) != nil:
		return "next: " + s.commandOf(notBrought(result).Next)
	case o.Passed && stage == pipeline.Reconcile:
		return "done; " + s.command("status") + " shows all stages, " + s.command("trace") + " ENTITY EXTERNAL_ID one record"
	case o.Passed:
		return "next: " + s.command(pipeline.Stages[slices.Index(pipeline.Stages, stage)+1])
	}
	switch stage {
	case pipeline.Map:
		return "next: mend the mapping, then " + s.command(pipeline.Map)
	case pipeline.DryRun:
		return "next: mend what the findings say, or set a tolerance with its reason in batch.yaml, then " + s.command("run", "--until", pipeline.DryRun)
	case pipeline.Reconcile:
		return "next: " + s.command("verify")
	}
	return "next: mend what the findings say, then " + s.command(stage)
}

// notBrought is what a repeated import did not bring though its newest dry-run accepts it; nil of other results.
func notBrought(result any) *pipeline.NotBrought {
	if imp, ok := result.(*pipeline.ImportResult); ok {
		return imp.NotBrought
	}
	return nil
}

func newRun(std stdio) *cobra.Command {
	var flags batchFlags
	check := checkFlags{fail: string(finding.Error)}
	until := pipeline.Stages[len(pipeline.Stages)-1]
	cmd := &cobra.Command{
		Use:   "run BATCH",
		Short: "Go through the stages in order, as far as the gates allow",
		Long: `Runs inventory, freeze, map, dryrun, import and reconcile in order. What was done before with the same inputs is not done again.
It stops where a gate refuses, or after a dry-run that did not pass, and says what it waits for.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runRun(cmd.Context(), std, args[0], until, &check, &flags)
		},
	}
	flags.register(cmd, true)
	cmd.Flags().StringVar(&until, "until", until, "last `stage` to run: "+strings.Join(pipeline.Stages, ", "))
	check.register(cmd)
	return cmd
}

func runRun(ctx context.Context, std stdio, path, until string, check *checkFlags, flags *batchFlags) (err error) {
	ample(100) // as for a dry-run
	if err := oneOf("until", until, pipeline.Stages...); err != nil {
		return err
	}
	k, err := check.open(std, pipeline.Stages[:slices.Index(pipeline.Stages, until)+1])
	if err != nil {
		return err
	}
	defer k.close(&err)
	s, err := openSession(ctx, std, path, flags)
	if err != nil {
		return err
	}
	defer s.close(&err)
	k.batch = s.batch
	all := pipeline.RunResult{Schema: pipeline.RunSchema, Batch: s.batch.Name, Stages: []any{}}
	code := exitClean
	next := ""
	wanting := ""
	var shown error
	var awaited []pipeline.NotBack
	err = s.pipeline.Run(ctx, until, func(r any) {
		s.progress.Stop()
		stage := pipeline.StageOf(r)
		next = s.next(stage, r)
		if notBrought(r) != nil {
			wanting = next
		}
		s.pipeline.HideNames(r)
		if dry, ok := r.(*pipeline.DryRunResult); ok {
			awaited = dry.NotBack
		}
		k.add(stage, r)
		all.Stages = append(all.Stages, r)
		if flags.output == asText && shown == nil {
			shown = written(reports.Brief(std.out, r))
			if shown == nil {
				_, shown = fmt.Fprintln(std.out)
				shown = written(shown)
			}
		}
	})
	s.progress.Stop()
	if flags.output == asText && shown == nil {
		shown = written(reports.Awaited(std.out, awaited))
	}
	if wanting != "" { // the stages are done, and something is not in
		next = wanting
	}
	var gate *pipeline.GateError
	if errors.As(err, &gate) {
		all.Waiting = s.pipeline.Hide(gate.Error())
	}
	if err == nil {
		code, err = k.judge(ctx)
	}
	if err != nil && gate == nil {
		all.Fault = faultOf(s.about(err))
	}
	switch {
	case flags.output == asJSON:
		shown = written(reports.JSON(std.out, all))
	case shown == nil && err == nil && k.baseline != nil:
		shown = written(reports.Against(std.out, pipeline.Common(all.Stages[len(all.Stages)-1]).Baseline))
		if shown == nil && next != "" {
			_, shown = fmt.Fprintln(std.out, next)
		}
	case shown == nil && next != "" && err == nil:
		_, shown = fmt.Fprintln(std.out, next)
	}
	shown = written(shown)
	if err != nil || shown != nil {
		return join(err, shown)
	}
	return ended(code)
}
