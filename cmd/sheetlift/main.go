// Command sheetlift moves privacy registers out of spreadsheets into a control-plane database, with proof for every record.
package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
)

func main() {
	gather(30)
	if len(whereSignals) > 0 { // between two pieces of work nobody answers, and nobody dies of having asked
		signal.Notify(make(chan os.Signal, 1), whereSignals...)
	}
	os.Exit(run(context.Background(), os.Args[1:], stdio{os.Stdin, os.Stdout, os.Stderr}))
}

// gather lets garbage gather up to so many percent of what is in use, unless GOGC says another thing. docs/performance.md promises how much
// memory each command takes; little is allocated for each row.
func gather(percent int) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(percent)
	}
}

// stdio is what a command reads and writes; scripts test the real program in-process through it.
type stdio struct {
	in       io.Reader
	out, err io.Writer
}
