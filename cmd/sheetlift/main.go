// Command sheetlift moves privacy registers out of spreadsheets into a control-plane database, with proof for every record.
package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"runtime/debug"

	_ "early" // first of all

	"sheetlift/importers/hugepage"
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

// ample prepares for a command that has up to hundreds of megabytes in use, and lets garbage gather as gather does.
func ample(percent int) {
	gather(percent)
	hugepage.Heap(512 << 20)
}

// stdio is what a command reads and writes; scripts test the real program in-process through it.
type stdio struct {
	in       io.Reader
	out, err io.Writer
}
