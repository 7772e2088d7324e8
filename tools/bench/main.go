// Command bench makes workbooks and measures whole processes that read them:
//
//	bench generate [-rows N] [-sheets N] -out DIR   write a consent register as workbooks and CSV, and a batch of it
//	bench inflate FILE                               inflate every sheet and the shared strings: the floor of reading
//	bench excelize FILE                              count cells with excelize's Rows, raw values, limits raised
//	bench csv FILE                                   count fields with encoding/csv, ReuseRecord
//	bench table [-rows N] [-runs N] -bin SHEETLIFT   measure all of it and print a table
//	bench import [-rows N] [-runs N] -bin SHEETLIFT  measure an import beside sqlite3's .import and psql's \copy
//
// It promises ratios that can be compared: all commands take turns in one run, each is a process of its own, time and peak
// memory are what the operating system says of the finished process, and a ratio is taken within a round before the median
// over the rounds. A command that fails ends the run: a figure of a command that did not do its work is none.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) == 0 {
		return errors.New("say generate, inflate, excelize, csv, table or import")
	}
	flags := flag.NewFlagSet(args[0], flag.ContinueOnError)
	switch args[0] {
	case "generate":
		var w workload
		out := flags.String("out", ".", "`folder` to write to")
		w.flags(flags)
		if err := flags.Parse(args[1:]); err != nil {
			return err
		}
		return w.write(*out)
	case "table":
		return table(flags, args[1:])
	case "import":
		return importTable(flags, args[1:])
	}
	peer, ok := peers[args[0]]
	if !ok {
		return fmt.Errorf("there is no %q: say generate, inflate, excelize, csv, table or import", args[0])
	}
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	if flags.NArg() != 1 {
		return fmt.Errorf("%s: name one file", args[0])
	}
	n, err := peer(flags.Arg(0))
	if err == nil {
		fmt.Println(n)
	}
	return err
}

// onInterrupt calls f when the process is told to stop, until the returned function is called.
func onInterrupt(f func()) (end func()) {
	c := make(chan os.Signal, 1)
	signal.Notify(c, os.Interrupt)
	done := make(chan struct{})
	go func() {
		select {
		case <-c:
			f()
			os.Exit(130)
		case <-done:
		}
	}()
	return func() { signal.Stop(c); close(done) }
}
