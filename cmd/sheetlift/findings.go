package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"sheetlift/pipeline"
	"sheetlift/pipeline/finding"
	"sheetlift/reports"
)

// findingsOptions are the flags of findings.
type findingsOptions struct {
	stage, rows string
	count       bool
	reports.Filter
}

func newFindings(std stdio) *cobra.Command {
	var flags batchFlags
	var o findingsOptions
	cmd := &cobra.Command{
		Use:   "findings BATCH",
		Short: "List, filter and count what the last run found, without running again",
		Long: `Lists the findings of the last dry-run (or of the stage that came farthest, as long as there is none), in source order: severity,
rule, place and what happened; with --output json one object a line, as in the findings file. Filters may be combined, and given
more than once. --count counts by rule and source instead. ` + "`sheetlift rules RULE`" + ` explains a rule and its remedy.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runFindings(cmd.Context(), std, args[0], &o, &flags)
		},
	}
	flags.register(cmd, false)
	f := cmd.Flags()
	f.StringVar(&o.stage, "stage", "", "of this `stage`: inventory, map, dryrun, reconcile (default: the last of them that found things)")
	f.StringSliceVar(&o.Rules, "rule", nil, "only of this `rule`")
	f.StringSliceVar(&o.Sources, "source", nil, "only of this `source`")
	f.StringSliceVar(&o.Fields, "field", nil, "only of this `field`, as status or consent.status")
	f.StringSliceVar(&o.Severities, "severity", nil, "only of this severity: `error|warning|info`")
	f.StringVar(&o.rows, "rows", "", "only of these rows, as `A-B`, A- or A")
	f.BoolVar(&o.count, "count", false, "count by rule and source")
	return cmd
}

func (o *findingsOptions) check() (err error) {
	if o.stage != "" {
		err = oneOf("stage", o.stage, pipeline.Inventory, pipeline.Map, pipeline.DryRun, pipeline.Reconcile)
	}
	for _, s := range o.Severities {
		err = errors.Join(err, oneOf("severity", s, string(finding.Error), string(finding.Warning), string(finding.Info)))
	}
	for _, id := range o.Rules {
		if _, ok := finding.ByID(id); !ok {
			err = errors.Join(err, noRule(id))
		}
	}
	if o.rows != "" {
		from, to, span := strings.Cut(o.rows, "-")
		a, aerr := strconv.Atoi(from)
		b, berr := a, error(nil)
		if span {
			if b = 0; to != "" {
				b, berr = strconv.Atoi(to)
			}
		}
		if aerr != nil || berr != nil || a < 1 || b < 0 || b > 0 && b < a {
			return errors.Join(err, usageError{fmt.Errorf("--rows takes A-B, A- or A, rows counted from 1, not %q", o.rows)})
		}
		o.From, o.To = a, b
	}
	return err
}

func runFindings(ctx context.Context, std stdio, path string, o *findingsOptions, flags *batchFlags) error {
	if err := o.check(); err != nil {
		return err
	}
	return looking(ctx, std, path, flags, func(s *session) error {
		for _, name := range o.Sources {
			if !hasSource(s.batch, name) {
				return usageError{fmt.Errorf("--source %s: the batch has no such source", name)}
			}
		}
		stage, outcome, err := s.pipeline.Found(ctx, o.stage)
		if err != nil {
			return err
		}
		if outcome == nil {
			return &pipeline.ConfigError{File: s.path, Message: "no such stage has run yet, so there is no list of findings", Remedy: "run `" + s.command(stage) + "` first"}
		}
		if _, err := os.Stat(outcome.FindingsFile); outcome.FindingsFile != "" && errors.Is(err, fs.ErrNotExist) {
			return &pipeline.FileError{Path: outcome.FindingsFile, Message: "the findings file is gone", Remedy: "run `" + s.command(stage) + "` again, which makes it anew"}
		}
		if o.count {
			return countFindings(ctx, std, stage, outcome, o, flags)
		}
		return listFindings(ctx, std, stage, outcome, o, flags)
	})
}

func hasSource(b *pipeline.Batch, name string) bool {
	for i := range b.Sources {
		if b.Sources[i].Name == name {
			return true
		}
	}
	return false
}

func countFindings(ctx context.Context, std stdio, stage string, outcome *pipeline.Outcome, o *findingsOptions, flags *batchFlags) error {
	var t reports.Tally
	err := eachFinding(ctx, stage, outcome, func(f finding.Finding) error {
		if o.Takes(&f) {
			t.Add(f, true)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return show(std.out, flags.output, &reports.FindingCounts{Schema: reports.CountsSchema, Batch: outcome.Batch, Stage: stage,
		Complete: outcome.Complete, Findings: t.New, Counts: t.Count()}, "")
}

// listFindings prints findings as it reads them: a list may be longer than memory.
func listFindings(ctx context.Context, std stdio, stage string, outcome *pipeline.Outcome, o *findingsOptions, flags *batchFlags) error {
	w := bufio.NewWriterSize(std.out, 1<<16)
	all, taken := 0, 0
	err := eachFinding(ctx, stage, outcome, func(f finding.Finding) error {
		if all++; !o.Takes(&f) {
			return nil
		}
		taken++
		if flags.output == asJSON {
			return written(reports.Finding(w, f))
		}
		return written(reports.FindingLine(w, &f))
	})
	if err == nil && flags.output == asText {
		_, err = fmt.Fprintf(w, "%d of %s of %s\n", taken, finding.Count(all, "finding", "findings"), stage)
	}
	// What was read before a fault is printed; the exit code says that it is not all.
	return flushed(w, err)
}

func noRule(id string) error {
	return usageError{fmt.Errorf("there is no rule %q; `sheetlift rules` lists them", id)}
}

// rulesSchema names the JSON of rules.
const rulesSchema = "sheetlift/rules/v1"

type ruleJSON struct {
	Rule     string           `json:"rule"`
	Class    finding.Class    `json:"class"`
	Severity finding.Severity `json:"severity"`
	Scope    finding.Scope    `json:"scope"`
	Meaning  string           `json:"meaning"`
	Example  string           `json:"example"`
	Remedy   string           `json:"remedy"`
}

func newRules(std stdio) *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "rules [RULE…]",
		Short: "List the rules that findings name, or explain some",
		RunE: func(_ *cobra.Command, args []string) error {
			if err := oneOf("output", output, asText, asJSON); err != nil {
				return err
			}
			rules := finding.Rules
			if len(args) > 0 {
				rules = nil
			}
			for _, id := range args {
				r, ok := finding.ByID(id)
				if !ok {
					return noRule(id)
				}
				rules = append(rules, r)
			}
			return written(showRules(std, output, rules, len(args) > 0))
		},
	}
	cmd.Flags().StringVar(&output, "output", asText, "form of the result: `text|json`")
	return cmd
}

func showRules(std stdio, output string, rules []finding.Rule, explained bool) error {
	if output == asJSON {
		list := []ruleJSON{}
		for _, r := range rules {
			list = append(list, ruleJSON{r.ID, r.Class, r.Severity, r.Scope, r.Meaning, r.Example, r.Remedy})
		}
		return reports.JSON(std.out, struct {
			Schema string     `json:"schema"`
			Rules  []ruleJSON `json:"rules"`
		}{rulesSchema, list})
	}
	if !explained {
		return reports.Rules(std.out, rules)
	}
	for i, r := range rules {
		if i > 0 {
			if _, err := fmt.Fprintln(std.out); err != nil {
				return err
			}
		}
		if err := reports.Rule(std.out, r); err != nil {
			return err
		}
	}
	return nil
}
