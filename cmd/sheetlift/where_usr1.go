//go:build linux || solaris || aix

package main

import (
	"os"
	"syscall"
)

// whereSignals ask where the work is.
var whereSignals = []os.Signal{syscall.SIGUSR1}
