// Command sheetlift moves privacy registers out of spreadsheets into a control-plane database, with proof for every record.
package main

import (
	"context"
	"io"
	"os"
	"runtime/debug"
)

func main() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(40) // memory is promised in docs/performance.md; little is allocated for each row
	}
	os.Exit(run(context.Background(), os.Args[1:], stdio{os.Stdin, os.Stdout, os.Stderr}))
}

// stdio is what a command reads and writes; scripts test the real program in-process through it.
type stdio struct {
	in       io.Reader
	out, err io.Writer
}
