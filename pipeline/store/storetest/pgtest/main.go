// Command pgtest runs a command with a PostgreSQL server of its own, so that the tests of many packages share one:
//
//	go run ./pipeline/store/storetest/pgtest -- go test ./...
//
// Settings of the server (-c NAME=VALUE, any number of them) may stand before the two dashes. The server is named to the command in SHEETLIFT_TEST_POSTGRES and ends with it. The exit code is the command's, or 125
// when the server or the command could not be started. If the variable is set already, that server is used.
package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"sheetlift/pipeline/store/storetest"
)

func main() {
	os.Exit(run(os.Args[1:]))
}

const notStarted = 125

func run(args []string) int {
	var settings []string
	for len(args) > 1 && args[0] == "-c" {
		settings, args = append(settings, args[1]), args[2:]
	}
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	}
	if len(args) == 0 {
		fmt.Fprintln(os.Stderr, "usage: pgtest [-c NAME=VALUE]… -- COMMAND [ARGUMENT…]")
		return notStarted
	}
	env := os.Environ()
	if os.Getenv(storetest.URLVariable) == "" {
		cluster, err := storetest.Start(settings...)
		if err != nil {
			fmt.Fprintf(os.Stderr, "pgtest: %v\n", err)
			return notStarted
		}
		defer cluster.Stop()
		env = append(env, storetest.URLVariable+"="+cluster.URL)
	}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = env, os.Stdin, os.Stdout, os.Stderr
	// A Ctrl-C reaches the command too; wait for what it makes of it.
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt)
	defer signal.Stop(signals)
	err := cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
			return 128 + int(status.Signal())
		}
		return exit.ExitCode()
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "pgtest: %v\n", err)
		return notStarted
	}
	return 0
}
