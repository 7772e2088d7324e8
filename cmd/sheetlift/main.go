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
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(30) // memory is promised in docs/performance.md; little is allocated for each row
	}
	if len(whereSignals) > 0 { // between two pieces of work nobody answers, and nobody dies of having asked
		signal.Notify(make(chan os.Signal, 1), whereSignals...)
	}
	os.Exit(run(context.Background(), os.Args[1:], stdio{os.Stdin, os.Stdout, os.Stderr}))
}

// stdio is what a command reads and writes; scripts test the real program in-process through it.
type stdio struct {
	in       io.Reader
	out, err io.Writer
}
