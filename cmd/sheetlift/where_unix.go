//go:build unix && !linux && !solaris && !aix

package main

import (
	"os"
	"syscall"
)

// whereSignals ask where the work is; SIGINFO is Ctrl-T.
var whereSignals = []os.Signal{syscall.SIGUSR1, syscall.SIGINFO}
