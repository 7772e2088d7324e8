//go:build !unix

package main

import "os"

// whereSignals ask where the work is; here there is none.
var whereSignals []os.Signal
