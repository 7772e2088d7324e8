package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
)

// run runs one command line and returns the exit code.
func run(ctx context.Context, args []string, std stdio) (code int) {
	defer func() {
		if fault := recover(); fault != nil {
			crash(std, fault)
			code = exitInternal
		}
	}()
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	// Without this, a reader that has seen enough kills the program before it has tidied up.
	pipes := make(chan os.Signal, 1)
	signal.Notify(pipes, syscall.SIGPIPE)
	defer signal.Stop(pipes)
	started := false
	out := &watched{Writer: std.out}
	std.out = out
	root := newRoot(std)
	root.PersistentPreRun = func(*cobra.Command, []string) { started = true }
	root.SetArgs(args)
	cmd, err := root.ExecuteContextC(ctx)
	if err != nil && !started && out.err == nil {
		err = usageError{err} // the command line itself: an unknown command, a wrong number of arguments
	}
	err = out.heard(err)
	if err != nil {
		err = named{err, hideArguments(args)}
	}
	if wantsFault(cmd, args, out, err) {
		err = join(err, out.fault(err))
	}
	complain(std.err, err)
	return exitCode(err)
}

// crash reports a fault of the program. The value of a panic may quote data, so only a runtime error's own words are shown.
func crash(std stdio, fault any) {
	what := fmt.Sprintf("%T", fault)
	if e, ok := fault.(runtime.Error); ok {
		what = e.Error()
	}
	fmt.Fprintf(std.err, "sheetlift: internal fault: %s\n  please report it with these places:\n", what)
	pc := make([]uintptr, 32)
	frames := runtime.CallersFrames(pc[:runtime.Callers(3, pc)])
	for {
		f, more := frames.Next()
		if strings.HasPrefix(f.Function, "sheetlift/") || strings.HasPrefix(f.Function, "main.") {
			fmt.Fprintf(std.err, "    %s:%d\n", f.Function, f.Line)
		}
		if !more {
			return
		}
	}
}

// version is the module version the program was built from, or the commit.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	v := info.Main.Version
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			v += " " + s.Value
		}
	}
	return v
}

func newRoot(std stdio) *cobra.Command {
	cobra.EnableCommandSorting = false // the order of the commands is that of the work
	root := &cobra.Command{
		Use:   "sheetlift",
		Short: "Move privacy registers from spreadsheets into a register database, with proof for every record",
		Long: `sheetlift moves privacy registers out of spreadsheets and custom portals into a control-plane database, with proof for
every record. A batch goes through inventory, freeze, map, dryrun, import and reconcile; run does them in order.

stdout is data, stderr is talk, the exit code is the verdict:
0 clean, 1 findings, 2 usage or configuration, 3 incomplete, 4 integrity, 5 refused by a gate, 6 outcome unknown,
70 internal fault, 130 interrupted.`,
		Version:       version(),
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.SetIn(std.in)
	root.SetOut(std.out)
	root.SetErr(std.err)
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err} })
	for _, g := range []struct {
		id, title string
		commands  []*cobra.Command
	}{
		{"batch", "A batch, from its files to the register:", batchCommands(std)},
		{"look", "Looking:", []*cobra.Command{newStatus(std), newFindings(std), newTrace(std), newVerify(std), newReport(std), newCells(std)}},
		{"help", "Help:", []*cobra.Command{newRules(std), newSchema(std)}},
	} {
		root.AddGroup(&cobra.Group{ID: g.id, Title: g.title})
		for _, c := range g.commands {
			c.GroupID = g.id
			root.AddCommand(c)
		}
	}
	plainArgs(root)
	root.SetHelpCommand(newHelp())
	root.SetHelpCommandGroupID("help")
	root.SetCompletionCommandGroupID("help")
	return root
}

// newHelp is cobra's own, but that a command there is not is a fault.
func newHelp() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Help about any command",
		RunE: func(c *cobra.Command, args []string) error {
			cmd, rest, err := c.Root().Find(args)
			if err != nil || cmd == nil || cmd == c.Root() && len(rest) > 0 {
				return usageError{fmt.Errorf("there is no command %q", strings.Join(args, " "))}
			}
			cmd.InitDefaultHelpFlag()
			return cmd.Help()
		},
	}
}

// batchCommands are in the order in which a batch meets them.
func batchCommands(std stdio) []*cobra.Command {
	commands := []*cobra.Command{newInit(std), newRun(std)}
	for _, s := range stages {
		commands = append(commands, newStage(std, s))
	}
	return append(commands, newUndo(std))
}

// oneOf reports a flag whose value is none of the words it may be.
func oneOf(flag, value string, words ...string) error {
	for _, w := range words {
		if value == w {
			return nil
		}
	}
	return usageError{fmt.Errorf("--%s takes %s, not %q", flag, strings.Join(words, ", "), value)}
}

// operator is who runs the command: --as, else SHEETLIFT_OPERATOR, else the system's user.
func operator(as string) string {
	if as != "" {
		return as
	}
	if env := os.Getenv("SHEETLIFT_OPERATOR"); env != "" {
		return env
	}
	return systemUser()
}
