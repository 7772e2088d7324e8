package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"
)

// measured is what one process took, as the operating system says.
type measured struct {
	wall, cpu time.Duration
	peak      int64 // KiB
}

// eachMany is how many rows a person has in the second register.
const eachMany = 3

// contender is a command of the table.
type contender struct {
	name  string
	args  []string
	base  string                  // the contender it is held against
	byCPU bool                    // by processor time instead of wall time
	prep  func() error            // before each run
	check func(said []byte) error // of its output
	runs  []measured
}

func table(flags *flag.FlagSet, args []string) error {
	var w workload
	w.flags(flags)
	runs := flags.Int("runs", 5, "measured rounds; one more goes before, uncounted")
	bin := flags.String("bin", "bin/sheetlift", "the `program` to measure")
	dir := flags.String("dir", "", "`folder` with the files of bench generate (default: made, and removed again)")
	without := flags.String("without", "", "leave out the commands whose names hold one of these `words`, separated by commas; excelize and dryrun take most of the time")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *runs < 1 || flags.NArg() > 0 {
		return errors.New("table: -runs is at least 1, and there are no arguments")
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	program, err := filepath.Abs(*bin)
	if err != nil {
		return err
	}
	if *dir == "" {
		if *dir, err = os.MkdirTemp("", "bench-"); err != nil {
			return err
		}
		remove := func() { os.RemoveAll(*dir) }
		defer remove()
		defer onInterrupt(remove)()
		fmt.Printf("writing %d sheet(s) of %d rows\n", w.sheets, w.rows)
		// A process's peak begins with that of the one it was started from, so this one must stay small.
		for out, each := range map[string]int{*dir: w.each, filepath.Join(*dir, eachFolder): eachMany} {
			if err := quietly(self, "generate", "-rows", fmt.Sprint(w.rows), "-sheets", fmt.Sprint(w.sheets), "-every", fmt.Sprint(w.every),
				"-each", fmt.Sprint(each), "-samples", w.samples, "-out", out); err != nil {
				return err
			}
		}
	}
	several := w
	several.each = eachMany
	in := func(names ...string) string { return filepath.Join(append([]string{*dir}, names...)...) }
	const floor, inlineFloor, goCSV = "inflate shared.xlsx (klauspost/compress)", "inflate inline.xlsx (klauspost/compress)", "encoding/csv, ReuseRecord"
	const dryRun, severalRows = "dryrun of shared.xlsx", "dryrun, three rows a person"
	all := []*contender{
		{name: floor, args: []string{self, "inflate", in(sharedFile)}},
		{name: "cells --count shared.xlsx", args: []string{program, "cells", "--count", in(sharedFile)}, base: floor},
		{name: "inventory of shared.xlsx", args: []string{program, "inventory", in(batchFile)}, base: floor, prep: func() error { return os.RemoveAll(in(".sheetlift")) }},
		{name: dryRun, args: []string{program, "dryrun", in(batchFile), "--output", "json"}, base: floor, prep: func() error {
			return errors.Join(os.RemoveAll(in(".sheetlift")), quietly(program, "run", in(batchFile), "--until", "map"))
		}, check: w.checkDryRun},
		{name: "report --html --xlsx, processor time", args: []string{program, "report", in(batchFile), "--html", in(".sheetlift/review.html"), "--xlsx", in(".sheetlift/review.xlsx")},
			base: dryRun, byCPU: true, prep: func() error { return dryRunOnce(program, in(batchFile), in(".sheetlift")) }},
		{name: severalRows, args: []string{program, "dryrun", in(eachFolder, batchFile), "--output", "json"}, base: dryRun, prep: func() error {
			return errors.Join(os.RemoveAll(in(eachFolder, ".sheetlift")), quietly(program, "run", in(eachFolder, batchFile), "--until", "map"))
		}, check: several.checkDryRun},
		{name: inlineFloor, args: []string{self, "inflate", in(inlineFile)}},
		{name: "cells --count inline.xlsx", args: []string{program, "cells", "--count", in(inlineFile)}, base: inlineFloor},
		{name: "excelize Rows shared.xlsx, raw", args: []string{self, "excelize", in(sharedFile)}, base: floor},
		{name: goCSV, args: []string{self, "csv", in(csvFile)}},
		{name: "cells --count register.csv", args: []string{program, "cells", "--count", in(csvFile)}, base: goCSV},
	}
	if _, err := os.Stat(in(eachFolder, batchFile)); err != nil {
		fmt.Printf("not measured: %s, for want of %s (generate -each %d)\n", severalRows, in(eachFolder, batchFile), eachMany)
		all = slices.DeleteFunc(all, func(c *contender) bool { return c.name == severalRows })
	}
	if *without != "" {
		words := strings.Split(*without, ",")
		all = slices.DeleteFunc(all, func(c *contender) bool {
			return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(c.name, w) })
		})
	}
	defer os.RemoveAll(in(".sheetlift"))
	defer os.RemoveAll(in(eachFolder, ".sheetlift"))
	return measure(all, *runs)
}

// measure lets all take turns, one round more than is counted, and prints the table.
func measure(all []*contender, runs int) error {
	for round := range runs + 1 {
		for _, c := range all {
			m, err := c.run()
			if err != nil {
				return err
			}
			if round > 0 {
				c.runs = append(c.runs, m)
			}
		}
	}
	fmt.Printf("%d rounds, %d of %d processors, load %s\n\n", runs, runtime.GOMAXPROCS(0), runtime.NumCPU(), load())
	return printTable(os.Stdout, all)
}

// run runs the command once. What it prints is thrown away, but for the words of a failure.
func (c *contender) run() (m measured, err error) {
	if c.prep != nil {
		if err := c.prep(); err != nil {
			return m, err
		}
	}
	cmd := exec.Command(c.args[0], c.args[1:]...)
	var said strings.Builder
	cmd.Stderr = &said
	var out bytes.Buffer
	if c.check != nil {
		cmd.Stdout = &out
	}
	begin := time.Now()
	err = cmd.Run()
	m.wall = time.Since(begin)
	// Findings are no failure.
	var exit *exec.ExitError
	if err != nil && !(errors.As(err, &exit) && exit.ExitCode() == 1 && c.prep != nil) {
		return m, fmt.Errorf("%s: %w\n%s", c.name, err, said.String())
	}
	if c.check != nil {
		if err := c.check(out.Bytes()); err != nil {
			return m, fmt.Errorf("%s: %w", c.name, err)
		}
	}
	m.cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	if use, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		m.peak = use.Maxrss
	}
	return m, nil
}

// quietly runs a command that is not measured.
func quietly(program string, args ...string) error {
	out, err := exec.Command(program, args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return nil
}

// dryRunOnce takes a batch as far as the dry-run, unless the command before has.
func dryRunOnce(program, batch, state string) error {
	if found, err := filepath.Glob(filepath.Join(state, "work", "*", "dryrun-*")); err != nil || len(found) > 0 {
		return err
	}
	return (&importBench{program: program}).dryRun(batch)
}

// checkDryRun holds a dry-run to the rows that are planted to be wrong: a figure of one that misses some is none.
func (w *workload) checkDryRun(said []byte) error {
	var r struct {
		Complete bool
		Sources  []struct {
			Source     string
			RejectedBy map[string]int `json:"rejected_by"`
		}
	}
	if err := json.Unmarshal(said, &r); err != nil {
		return err
	}
	for _, s := range r.Sources {
		if s.Source == "register" {
			if w.each > 1 { // a no in a row that is wrong rejects consents of the same person
				delete(s.RejectedBy, "consent.opposed_by_rejected")
			}
			if want := w.rejected(); !r.Complete || !maps.Equal(s.RejectedBy, want) {
				return fmt.Errorf("it rejects %v, planted are %v", s.RejectedBy, want)
			}
			return nil
		}
	}
	return errors.New("its result has no source register")
}

// load gives the load averages, or a question mark where the system does not tell.
func load() string {
	raw, err := os.ReadFile("/proc/loadavg")
	if f := strings.Fields(string(raw)); err == nil && len(f) >= 3 {
		return strings.Join(f[:3], " ")
	}
	return "?"
}

func printTable(out io.Writer, all []*contender) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "\twall s\tmin\tmax\tCPU s\tpeak MiB\tratio\tmin\tmax\t")
	for _, c := range all {
		walls := column(c.runs, func(m measured) float64 { return m.wall.Seconds() })
		cpu := column(c.runs, func(m measured) float64 { return m.cpu.Seconds() })
		peak := column(c.runs, func(m measured) float64 { return float64(m.peak) / 1024 })
		fmt.Fprintf(w, "%s\t%.3f\t%.3f\t%.3f\t%.3f\t%.1f\t", c.name, median(walls), walls[0], walls[len(walls)-1], median(cpu), median(peak))
		if base := slices.IndexFunc(all, func(o *contender) bool { return o.name == c.base }); base >= 0 {
			ratios := ratiosOf(c.runs, all[base].runs, c.byCPU)
			fmt.Fprintf(w, "%.2f\t%.2f\t%.2f\t\n", median(ratios), ratios[0], ratios[len(ratios)-1])
		} else {
			fmt.Fprintln(w, "1\t\t\t")
		}
	}
	return w.Flush()
}

// column gives a figure of all runs in ascending order.
func column(runs []measured, figure func(measured) float64) []float64 {
	var out []float64
	for _, m := range runs {
		out = append(out, figure(m))
	}
	slices.Sort(out)
	return out
}

// ratiosOf gives the wall or processor time of each run to that of the base in the same round, in ascending order.
func ratiosOf(runs, base []measured, byCPU bool) []float64 {
	var out []float64
	for i := range runs {
		if byCPU {
			out = append(out, float64(runs[i].cpu)/float64(base[i].cpu))
			continue
		}
		out = append(out, float64(runs[i].wall)/float64(base[i].wall))
	}
	slices.Sort(out)
	return out
}

// median of values in ascending order.
func median(sorted []float64) float64 {
	n := len(sorted)
	if n%2 == 1 {
		return sorted[n/2]
	}
	return (sorted[n/2-1] + sorted[n/2]) / 2
}
